"""Every key that a schema or a study's definition may have is on its reference page, and every key on the page is accepted:
keys.py FOLDER, where FOLDER is docs/reference.

What the parsers accept is asked of the parsers: an unknown key is refused with the list of those that are known. Where they are too many
for one sentence, each key that the program lists is tried.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TACIT = os.path.abspath(os.environ.get("TACIT", "build/src/cli/tacit"))
SCHEMA = "label: {name: y, classes: [a, b]}\ncolumns: [{name: x, kind: number, low: 0, high: 1}]\n"
STUDY = "name: trial\ntitle: A trial\nmethod: METHOD\nepsilon: 1\nlambda: 0.1\nparties: {expected: 5}\nminimum_rows: 10\nschema: schema.yaml\n"

# Heading of the page: a text with an unknown key where that heading's keys belong.
SCHEMAS = {
    "The file": "unknown: 1\n" + SCHEMA,
    "Label": SCHEMA.replace("name: y", "name: y, unknown: 1"),
    "Columns": SCHEMA.replace("name: x", "name: x, unknown: 1"),
    "Missing values": SCHEMA.replace("high: 1", "high: 1, missing: {fill: 0, unknown: 1}"),
    "Sparse": "label: {name: y, classes: [a, b]}\nsparse: {features: 3, unknown: 1}\nrows: unit\n",
    "Rows": SCHEMA + "rows: {clip: 1, unknown: 1}\n",
}
STUDIES = {
    "Schedule": [STUDY + "schedule: {unknown: 1}\n"],
    "Parties": [STUDY.replace("expected: 5", "expected: 5, unknown: 1")],
    "Stop": [STUDY + "stop: {unknown: 1}\n"],
    "A target": [STUDY + f"stop: {{{kind}: {{unknown: 1}}}}\n" for kind in ("se", "width", "power")],
    "Center": [STUDY.replace("METHOD", "newton").replace("epsilon: 1\n", "") + "center: card.yaml\n"],
}
NOT_IN_FILES = {"Auxiliary"}  # the coordinator writes it; no file may


def run(words, folder):
    return subprocess.run([TACIT, *words], cwd=folder, capture_output=True, text=True, check=False,
                          env={**os.environ, "TACIT_HOME": str(folder / "home")})


def settings_of_a_study(folder):
    """Those of `tacit help study-settings` that the parser does not call unknown."""
    listed = re.findall(r"^  (\w+)\b", run(["help", "study-settings"], folder).stdout, re.MULTILINE)
    known = set()
    for key in [*listed, "unknown"]:
        (folder / "bad.yaml").write_text(re.sub(rf"(?m)^{key}: .*\n", "", STUDY.replace("METHOD", "dpgd")) + f"{key}: {{unknown: [1]}}\n")
        if f"unknown key '{key}' in " not in run(["study", "new", "consortium", "bad.yaml"], folder).stderr:
            known.add(key)
    assert "unknown" not in known, "an unknown key is accepted"
    return known


def refused(words, folder):
    """The keys that the parser says it knows."""
    done = run(words, folder)
    found = re.search(r"unknown key 'unknown' in .*?; the keys are (.+)", done.stderr)
    if found is None:
        raise AssertionError(f"{' '.join(map(str, words))}: the unknown key was not named:\n{done.stderr}")
    return set(found.group(1).strip().split(", "))


def accepted():
    """{page: {heading: keys}} as the parsers have them."""
    known = {"schema.md": {}, "study.md": {}}
    with tempfile.TemporaryDirectory(prefix="tacit-keys-") as name:
        folder = Path(name)
        (folder / "rows.csv").write_text("x,y\n0.5,a\n0.7,b\n")
        (folder / "card.yaml").write_text("unknown: 1\n")
        for heading, text in SCHEMAS.items():
            (folder / "bad.yaml").write_text(text)
            known["schema.md"][heading] = refused(["data", "check", "rows.csv", "--schema", "bad.yaml"], folder)
        (folder / "schema.yaml").write_text(SCHEMA)
        known["study.md"]["A study"] = settings_of_a_study(folder)
        for heading, texts in STUDIES.items():
            keys = set()
            for text in texts:
                (folder / "bad.yaml").write_text(text.replace("METHOD", "dpgd"))
                keys |= refused(["study", "new", "consortium", "bad.yaml"], folder)
            known["study.md"][heading] = keys
    return known


def described(text):
    """{heading: keys} of a page: the first column of the tables whose first column is called key."""
    found = {}
    for heading, body in re.findall(r"^#{2,3} (.+?)\n(.*?)(?=^#{2,3} |\Z)", text, re.MULTILINE | re.DOTALL):
        for table in re.findall(r"^\| key \|.*\n\|[-|]+\|\n((?:\|.*\n?)*)", body, re.MULTILINE):
            cells = [line.split("|")[1] for line in table.splitlines()]
            found.setdefault(heading, set()).update(key for cell in cells for key in re.findall(r"`(\w+)`", cell))
    return found


def differences(page, known, shown):
    for heading in sorted(set(known) | set(shown)):
        for key in sorted(known.get(heading, set()) - shown.get(heading, set())):
            yield f"{page}, {heading}: '{key}' is accepted and not described"
        for key in sorted(shown.get(heading, set()) - known.get(heading, set())):
            yield f"{page}, {heading}: '{key}' is described and not accepted"


def control():
    """The check itself: a key that only one side has is found."""
    shown = described("## A\n\n| key | meaning |\n|---|---|\n| `x`, `y` | it |\n\n| other | b |\n|---|---|\n| `z` | it |\n")
    assert shown == {"A": {"x", "y"}}, shown
    assert len(list(differences("p", {"A": {"x", "w"}}, shown))) == 2
    assert not list(differences("p", {"A": {"x", "y"}}, shown))


def main(folder):
    control()
    found = []
    for page, known in accepted().items():
        shown = described((Path(folder) / page).read_text(encoding="utf-8"))
        found += differences(page, known, {heading: keys for heading, keys in shown.items() if heading not in NOT_IN_FILES})
    print("\n".join(found) if found else "every key is described, and every key described is accepted")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
