#!/usr/bin/env python3
"""Keep the wording in order: options are named for every front end, and sentences are in present-day English.

    tests/wording.py ROOT         check the repository at ROOT
    tests/wording.py --self-test  plant each violation and expect it to be found

Prints TAP, one line a rule.
"""
import re
import sys
from pathlib import Path

# Strings that follow each other are one text.
LITERALS = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"(?:[\s\\]*"(?:\\.|[^"\\\n])*")*', re.DOTALL)
PIECE = re.compile(r'"((?:\\.|[^"\\\n])*)"')
FLAG = re.compile(r"--(?:%s|[a-z])")
# A whole command line that a person is asked to type is the same whatever showed the sentence.
COMMAND = re.compile(r"\btacit [a-z][a-z -]*(?: %s)?(?: --[a-z-]+(?: [A-Za-z%][\w%]*)?)+")
# Files below the front ends whose texts may name flags, and why.
FLAGS_ALLOWED = {
    "src/api/option/arguments.c": "parses command lines, and its sentences on them are for who typed one",
    "src/site/site.c": "writes the command `tacit ledger limit --source ...` in pieces",
    "src/site/history/sketch.c": "writes the command `tacit ledger link --source ...`",
}

TREES = ["src", "include", "web", "bindings", "examples", "proto", "completion", "script", "systemd"]
ENDINGS = {".c", ".h", ".py", ".R", ".Rd", ".js", ".html", ".proto", ".sh", ""}
IGNORED = {"vendor", "__pycache__", "LICENSE", "COPYRIGHTS"}
# What to write instead. In any sentence of a source, comments included.
PHRASES = {
    r"unless (told|said)": "by default; unless stated otherwise",
    r"parted by": "comma-separated, separated by",
    r"is meant|are meant": "is intended",
    r"to be bent|is bent|are bent": "adjusted",
    r"shall": "must, or the present tense",
    r"thereof|whence|nought|hitherto|henceforth|forthwith": "plain words",
    r"as it were|in earnest|in vain|for want of|but for": "plain words; except for",
    r"anew": "again",
    r"centre|centres": "center, as in the command",
    r"tidings|farewell": "event, notice",
}
PHRASE = re.compile(r"\b(" + "|".join(PHRASES) + r")\b", re.IGNORECASE)
# A stream of random numbers keeps its name: figures would change with it.
KEPT = re.compile(r'"centre [AB]"')


def texts_of(source):
    """(line, text) of every string literal."""
    for match in LITERALS.finditer(source):
        if match.group(0).startswith("/"):
            continue
        yield source.count("\n", 0, match.start()) + 1, "".join(PIECE.findall(match.group(0)))


def flags_of(name, source):
    if not name.startswith("src/") or name.startswith("src/cli/") or not name.endswith((".c", ".h")) or name in FLAGS_ALLOWED:
        return
    for number, text in texts_of(source):
        if FLAG.search(COMMAND.sub("", text)):
            yield f"{name}:{number}: names a flag of the command line; write the option 'NAME' (src/cli/help/option_spelling.h)"


def phrases_of(name, source):
    for number, line in enumerate(KEPT.sub("", source).splitlines(), 1):
        match = PHRASE.search(line)
        if match:
            found = match.group(1)
            wanted = next(better for worse, better in PHRASES.items() if re.fullmatch(worse, found, re.IGNORECASE))
            yield f"{name}:{number}: '{found}': {wanted}"


RULES = [("options_are_named_without_dashes", flags_of), ("sentences_are_in_plain_present_day_english", phrases_of)]

PLANTED = [
    ("a flag in an error", "src/data/a.c", 'f("give --rows N");\n', RULES[0]),
    ("a flag whose name is filled in", "src/api/a.c", 'f("--%s is given twice");\n', RULES[0]),
    ("a flag on its second line", "src/data/a.c", 'f("give more "\n  "--rows");\n', RULES[0]),
    ("an option", "src/data/a.c", "f(\"give the option 'rows'\"); x--; a--b; /* --rows */\n", None),
    ("a command to type", "src/data/a.c", 'f("let the owner lower it (tacit rules set "\n "--minimum-rows)");\n', None),
    ("a flag on the command line", "src/cli/a.c", 'f("give --rows N");\n', None),
    ("a phrase in a string", "src/cli/a.c", 'f("all unless told");\n', RULES[1]),
    ("a phrase in a comment", "bindings/python/a.py", "# numbers, parted by commas\n", RULES[1]),
    ("the name of a stream", "src/session/a.c", 'f("centre A");\n', None),
    ("words that only look alike", "src/cli/a.c", "/* a marshall meant it; the center bends */\n", None),
]


def files_of(root):
    paths = [path for tree in TREES for path in sorted((root / tree).rglob("*")) if path.suffix in ENDINGS]
    for path in paths + sorted(root.glob("*.md")) + sorted((root / "docs").rglob("*.md")):
        if path.is_file() and not IGNORED & set(path.parts):
            try:
                yield str(path.relative_to(root)), path.read_text(encoding="utf-8")
            except UnicodeDecodeError:
                continue


def report(number, name, problems):
    print(("not ok" if problems else "ok") + f" {number} - {name}")
    for problem in problems:
        print(f"# {problem}")
    return not problems


def check(root):
    print(f"1..{len(RULES)}")
    files = list(files_of(root))
    return all([report(number, name, [problem for file, text in files for problem in rule(file, text)])
                for number, (name, rule) in enumerate(RULES, 1)])


def self_test():
    print(f"1..{len(PLANTED)}")
    good = True
    for number, (name, file, text, expected) in enumerate(PLANTED, 1):
        objecting = [title for title, rule in RULES if list(rule(file, text))]
        wanted = [expected[0]] if expected else []
        good &= report(number, name, [] if objecting == wanted else [f"expected {wanted or 'no objection'}, got {objecting}"])
    return good


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(0 if (self_test() if sys.argv[1] == "--self-test" else check(Path(sys.argv[1]).resolve())) else 1)
