"""Run the commands beside the figures of the pages again, and show what moved.

A figure is a block of a page, fenced or indented, that follows a comment:

    <!-- figure -->
    ```
    $ tacit simulate --method batch ... --seed 1
    what it printed, line by line; a line "..." stands for any lines
    ```

The comment may say more, separated by commas: "needs data" (TACIT_DATA names the folder with the public data sets; the block sees it as
data/), "limit 600 s" (how long it may take; 120 s by default), "tolerance 0.02" (how far a number may move; 0 by default), and
"output NAME": what was printed is in docs/figures/NAME, because the page shows it as a table or in words. Commands run in an empty
folder with a copy of examples/ and the programs of bench/, the program on the PATH. How long a run took is not compared.

A run that is stopped goes on where it was: what is known for this program and this text is not run again, unless --again is given.
Figures that take hours, another program or a machine of their own are run by hand. A comment marks them, with the command:

    <!-- figure by hand: bench/run_cox --repeats 2 -->

--list names them after the others; nothing else here runs them. A program of bench/ that a page names must be in such a comment, or in a
figure, of that page.

The guides are tested as a whole (tests/docs/guides.py) and are not listed.
"""
import argparse
import difflib
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COMMENT = re.compile(r"^ *<!-- figure(?:: *(.*?))? *-->$")
BY_HAND = re.compile(r"^ *<!-- figure by hand: (.+?) -->$", re.MULTILINE)
BENCH = re.compile(r"\b(?:script/bench [a-z][\w-]*|bench/(?:run|check)_\w+)")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
TIMES = re.compile(r"(?:^|(?<=[\s;,(]))(?:about )?\d+(?:\.\d+)? (?:s|ms|minutes|min)(?=$|[\s.,;)])")
SAME, MOVED, FAILED, LATE, SKIPPED, UNKNOWN = "same", "moved", "failed", "took too long", "skipped", "not recorded"


class Figure:
    def __init__(self, page, line, told, text, first, last):
        self.page, self.line, self.text, self.first, self.last = page, line, text, first, last
        self.data, self.limit, self.tolerance, self.output = False, 120.0, 0.0, None
        for word in filter(None, (word.strip() for word in (told or "").split(","))):
            found = re.fullmatch(r"limit (\d+) s|tolerance ([\d.e-]+)|output ([\w.-]+)|(needs data)", word)
            if found is None:
                raise SystemExit(f"{page}:{line}: a figure's comment may not say '{word}'")
            self.limit = float(found.group(1) or self.limit)
            self.tolerance = float(found.group(2) or self.tolerance)
            self.output = found.group(3) or self.output
            self.data = self.data or found.group(4) is not None
        self.parts = parts(text)
        if not self.parts:
            raise SystemExit(f"{page}:{line}: the block has no line that begins with '$ '")

    def name(self):
        return f"{self.page}:{self.line}"

    def shown(self):
        if self.output is None:
            return "\n".join(output for _, output in self.parts)
        path = ROOT / "docs/figures" / self.output
        return path.read_text(encoding="utf-8").rstrip("\n") if path.exists() else None

    def key(self, program):
        return hashlib.sha256("\0".join([program, self.text, self.shown() or "", str(self.tolerance)]).encode()).hexdigest()


def parts(text):
    """[(command, what it printed)] of a block. A command goes on after a backslash, and to the end of a here-document."""
    found, going, until = [], False, None
    for line in text.split("\n"):
        if going or until is not None or line.startswith("$ "):
            if going or until is not None:
                found[-1][0].append(line)
            else:
                found.append(([line[2:]], []))
            if until is not None:
                until = None if line == until else until
                continue
            going = line.endswith("\\")
            document = re.search(r"<<'?(\w+)'?", line)
            until = document.group(1) if document else None
        elif found:
            found[-1][1].append(line)
    return [("\n".join(command), "\n".join(output).strip("\n")) for command, output in found]


def figures_of(page, text):
    lines, at = text.split("\n"), 0
    while at < len(lines):
        found = COMMENT.match(lines[at])
        at += 1
        if found is None:
            continue
        start = at
        while at < len(lines) and not lines[at].strip():
            at += 1
        if at < len(lines) and lines[at].startswith("```"):
            first = at + 1
            last = next(i for i in range(first, len(lines)) if lines[i].startswith("```"))
            block = lines[first:last]
        else:
            first = last = at
            while last < len(lines) and (lines[last].startswith("    ") or not lines[last].strip()):
                last += 1
            block = [line[4:] for line in lines[first:last]]
        yield Figure(page, start, found.group(1), "\n".join(block).rstrip("\n"), first, last)
        at = last


def pages():
    for path in [ROOT / "README.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def all_figures():
    for page, text in pages():
        yield from figures_of(page, text)


def by_hand(page, text):
    """(place, command) of each figure that is not run here."""
    for found in BY_HAND.finditer(text):
        for command in found.group(1).split("; "):
            yield f"{page}:{text.count(chr(10), 0, found.start()) + 1}", command


def unmarked(page, text):
    """The programs of bench/ that a page names, in neither a figure nor a comment."""
    known = " ".join([command for _, command in by_hand(page, text)] + [figure.text for figure in figures_of(page, text)])
    return sorted(set(BENCH.findall(BY_HAND.sub("", text))) - set(BENCH.findall(known)))


# ---- comparing ----

def plain(line):
    """A line without what may differ: how long it took, and blanks that follow from that."""
    return re.sub(r"\s+|-{3,}", " ", TIMES.sub("", line)).strip()


def same_line(shown, printed, tolerance):
    shown, printed = plain(shown), plain(printed)
    if shown == printed or shown.endswith("...") and printed.startswith(shown[:-3].rstrip()):
        return True
    if tolerance == 0 or NUMBER.sub("#", shown) != NUMBER.sub("#", printed):
        return False
    pairs = zip(NUMBER.findall(shown), NUMBER.findall(printed))
    return all(abs(float(a) - float(b)) <= tolerance * max(1.0, abs(float(a))) for a, b in pairs)


def same(shown, printed, tolerance):
    """Do the lines fit, "..." standing for any lines?"""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(same(shown[1:], printed[at:], tolerance) for at in range(len(printed) + 1))
    return bool(printed) and same_line(shown[0], printed[0], tolerance) and same(shown[1:], printed[1:], tolerance)


def filled(text):
    return [line for line in text.split("\n") if line.strip()]


# ---- running ----

def run(figure, program, data):
    """(verdict, what was printed, seconds)"""
    with tempfile.TemporaryDirectory(prefix="tacit-figure-") as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        os.symlink(ROOT / "bench", Path(folder) / "bench")
        if data:
            os.symlink(data, Path(folder) / "data")
        environment = {**os.environ, "PATH": f"{os.path.dirname(program)}:{os.environ['PATH']}", "HOME": folder, "COLUMNS": "80", "TACIT": program,
                       "TACIT_HOME": str(Path(folder) / "home"), "LC_ALL": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1"}
        if data:
            environment["TACIT_DATA"] = data
        script = "set -euo pipefail\n" + "\n".join(command for command, _ in figure.parts)
        start = time.monotonic()
        process = subprocess.Popen(["bash", "-c", script], cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        try:
            printed, said = process.communicate(timeout=figure.limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return LATE, "", time.monotonic() - start
    seconds = time.monotonic() - start
    if process.returncode != 0:
        return FAILED, said.rstrip("\n"), seconds
    printed = printed.rstrip("\n")
    if figure.shown() is None:
        return UNKNOWN, printed, seconds
    verdict = SAME if same(filled(figure.shown()), filled(printed), figure.tolerance) else MOVED
    return verdict, printed, seconds


def report(figure, verdict, printed, seconds):
    print(f"{verdict:<14} {figure.name()}  ({seconds:.0f} s)", flush=True)
    if verdict == FAILED:
        print("    " + printed.replace("\n", "\n    "))
    if verdict == MOVED:
        shown, now = ([plain(line) for line in filled(text)] for text in (figure.shown(), printed))
        for line in difflib.unified_diff(shown, now, "the page", "now", lineterm="", n=0):
            print("    " + line)


def write(figure, printed):
    """Put what was printed where the page shows it."""
    if figure.output is not None:
        (ROOT / "docs/figures").mkdir(exist_ok=True)
        (ROOT / "docs/figures" / figure.output).write_text(printed + "\n", encoding="utf-8")
        return
    if len(figure.parts) > 1 or any(line.strip() == "..." for line in figure.text.split("\n")):
        print(f"    {figure.name()}: change this block by hand: it has several commands, or leaves lines out")
        return
    path = ROOT / figure.page
    lines = path.read_text(encoding="utf-8").split("\n")
    indent = "" if lines[figure.first - 1].startswith("```") else "    "
    block = ["$ " + figure.parts[0][0], *printed.split("\n")]
    block = [line for piece in block for line in piece.split("\n")]
    lines[figure.first:figure.last] = [(indent + line).rstrip() for line in block] + ([""] if indent else [])
    path.write_text("\n".join(lines), encoding="utf-8")


def fingerprint(program):
    """Of the program, by its own bytes and those of the library beside it."""
    digest = hashlib.sha256()
    for path in [Path(program).resolve(), *sorted((Path(program).resolve().parent.parent / "api").glob("libtacit.so*"))]:
        if path.is_file():
            digest.update(path.read_bytes())
    return digest.hexdigest()


def chosen(words):
    return [figure for figure in all_figures() if not words or any(word in figure.page or word in figure.text for word in words)]


def main():
    parser = argparse.ArgumentParser(prog="script/docs --figures", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="WORD", help="only figures whose page or command has this in it")
    parser.add_argument("--tacit", default=str(ROOT / "build/tacit"), help=argparse.SUPPRESS)
    parser.add_argument("--list", action="store_true", help="say which figures there are, and run nothing")
    parser.add_argument("--again", action="store_true", help="run also what is known from a run before")
    parser.add_argument("--write", action="store_true", help="put what was printed into the pages")
    parser.add_argument("--state", default=str(ROOT / "build-figures.json"), help="where results are kept (default: build-figures.json)")
    given = parser.parse_args()
    figures = chosen(given.words)
    if given.list:
        for figure in figures:
            more = ", needs data" if figure.data else ""
            print(f"{figure.name()}  (at most {figure.limit:.0f} s{more})\n    " + "\n    ".join(
                command.replace("\n", "\n    ") for command, _ in figure.parts))
        hand = [(place, command) for page, text in pages() for place, command in by_hand(page, text)
                if not given.words or any(word in f"{place} {command}" for word in given.words)]
        for place, command in hand:
            print(f"{place}  (by hand)\n    {command}")
        print(f"{len(figures)} figures, and {len(hand)} by hand")
        return 0
    program, data, state = os.path.abspath(given.tacit), os.environ.get("TACIT_DATA"), Path(given.state)
    data = os.path.abspath(data) if data else None
    known = json.loads(state.read_text()) if state.exists() else {}
    mark, counts = fingerprint(program), {}
    for figure in reversed(figures) if given.write else figures:  # from the end, so that places before stay as they are
        key = figure.key(mark)
        if figure.data and not data:
            verdict, printed, seconds = SKIPPED, "", 0
            print(f"{SKIPPED:<14} {figure.name()}: needs the public data sets; set TACIT_DATA to their folder (docs/reproduce.md)")
        elif key in known and not given.again:
            verdict, printed, seconds = known[key]
            report(figure, verdict, printed, seconds)
        else:
            verdict, printed, seconds = run(figure, program, data)
            report(figure, verdict, printed, seconds)
            if verdict in (SAME, MOVED, UNKNOWN):
                known[key] = (verdict, printed, seconds)
                state.write_text(json.dumps(known))
        if given.write and verdict in (MOVED, UNKNOWN):
            write(figure, printed)
        counts[verdict] = counts.get(verdict, 0) + 1
    print(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())) or "no figure has these words")
    return 1 if any(verdict in counts for verdict in (MOVED, FAILED, LATE)) else 0


if __name__ == "__main__":
    sys.exit(main())
