#!/usr/bin/env python3
"""Count what passed and failed in Meson's testlog.json: each TAP line is a test, and so is each program without.

Prints "PASSED FAILED SKIPPED". A program that dies, times out or leaves tests of its plan unrun has failed, even
when every line that it printed says ok.
"""
import json
import re
import sys

LINE = re.compile(r"^(not )?ok\b(?:[^#]*)(#\s*(skip|todo)\b)?", re.IGNORECASE)
PLAN = re.compile(r"^1\.\.\d+", re.MULTILINE)
GOOD = {"OK", "EXPECTEDFAIL"}


def count(record):
    passed = failed = skipped = 0
    stdout = record.get("stdout") or ""
    if PLAN.search(stdout):
        for line in stdout.splitlines():
            match = LINE.match(line)
            if match is None:
                continue
            if match.group(2):
                skipped += 1
            elif match.group(1):
                failed += 1
            else:
                passed += 1
    elif record["result"] in GOOD:
        passed = 1
    if record["result"] == "SKIP":
        skipped = max(skipped, 1)
    elif record["result"] not in GOOD:
        failed = max(failed, 1)
    return passed, failed, skipped


def main(path):
    try:
        with open(path, encoding="utf-8") as log:
            counts = [count(json.loads(line)) for line in log if line.strip()]
    except FileNotFoundError:
        counts = []
    print(*(sum(column) for column in zip(*counts)) if counts else (0, 0, 0))


if __name__ == "__main__":
    main(sys.argv[1])
