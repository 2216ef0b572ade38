"""Texts that people rely on, kept word for word in golden/: one file a screen.

A test compares what the program says with the file, after masking what differs between runs (ids, hashes, times, ports, folders).
Where a text has changed on purpose, write the files again and read the difference before you commit it:

    TACIT=build/src/cli/tacit tests/service/test_messages.py --update
    TACIT=build/src/cli/tacit tests/service/test_browser.py --update Screens     # the party page, in Chromium
    git diff tests/service/golden
"""
import os
import re
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "golden"
UPDATE = "--update" in sys.argv
if UPDATE:
    sys.argv.remove("--update")

MASKS = (
    (r"tacit-deployed-\w+", "FOLDER"),
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?Z?", "TIME"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:PORT"),
    (r"@[0-9a-f]{8,}(\+[0-9a-f]+)?", lambda match: "@ID" + ("+VERSION" if match.group(1) else "")),
    (r"(?<= )\+[0-9a-f]{8}\b", "+VERSION"),
    (r"(?<=\(version )[0-9a-f]{8}\b", "VERSION"),
    (r"\b[0-9a-f]{12,}…?", "HASH"),
)


# Said or not by what the drawn noise made of few rows; tests/cli/test_defaults.py holds when it must be said.
BY_CHANCE = re.compile(r"^.*(rows spread evenly over the schema's ranges would nearly all be called|noise makes about \d+% of what the model says).*\n?", re.M)


def masked(text, folder=None):
    """Without what differs from run to run. A table's columns are as wide as what was masked, so runs of blanks become two."""
    text = BY_CHANCE.sub("", text)
    if folder is not None:
        text = text.replace(str(folder), "FOLDER")
    for pattern, word in MASKS:
        text = re.sub(pattern, word, text)
    lines = [re.sub(r"(?<=\S) {3,}", "  ", re.sub(r"-{3,}", "---", line)).rstrip() for line in text.splitlines()]
    return "\n".join(lines).strip("\n") + "\n"


def difference(name, text):
    """None when golden/NAME.txt says the same; else what to show. With --update the file is written."""
    path = FOLDER / f"{name}.txt"
    if UPDATE:
        path.write_text(text)
        return None
    kept = path.read_text() if path.exists() else "(there is no such file)\n"
    if kept == text:
        return None
    return f"{path.relative_to(FOLDER.parents[2])} differs; if that is intended, see tests/service/golden.py.\nkept:\n{kept}\nnow:\n{text}"
