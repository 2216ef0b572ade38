#!/usr/bin/env python3
"""Count what passed and failed in Meson's testlog.json: each TAP line is a test, and so is each program without.

Prints "PASSED FAILED SKIPPED", and on stderr all that the failing programs printed. A program that dies, times out or leaves tests of its plan unrun has failed, even
when every line that it printed says ok. With --self-test it checks itself instead.
"""
import json
import re
import sys

LINE = re.compile(r"^(not )?ok\b(?:[^#]*)(#\s*(skip|todo)\b)?", re.IGNORECASE)
PLAN = re.compile(r"^1\.\.\d+", re.MULTILINE)
LONGEST_OUTPUT = 400
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


def show(record):
    print(f"\n--- {record['name']}: {record['result']} (exit code {record.get('returncode')})", file=sys.stderr)
    for line in ((record.get("stdout") or "") + (record.get("stderr") or "")).splitlines()[-LONGEST_OUTPUT:]:
        print(f"    {line}", file=sys.stderr)


def main(path):
    try:
        with open(path, encoding="utf-8") as log:
            records = [json.loads(line) for line in log if line.strip()]
    except FileNotFoundError:
        records = []
    counts = [count(record) for record in records]
    for record, (_, failed, _) in zip(records, counts):
        if failed:
            show(record)
    print(*(sum(column) for column in zip(*counts)) if counts else (0, 0, 0))


def self_test():
    examples = [
        ("a line is a test", "1..2\nok 1 - a\nok 2 - b\n# ok - tests\n", "OK", (2, 0, 0)),
        ("a line may fail", "1..2\nok 1 - a\nnot ok 2 - b\n", "FAIL", (1, 1, 0)),
        ("a skipped line is neither", "1..2\nok 1 - a\nok 2 - b # SKIP no network\n", "OK", (1, 0, 1)),
        ("a crash after the last line is a failure", "1..2\nok 1 - a\nok 2 - b\n", "ERROR", (2, 1, 0)),
        ("a crash before the first line is a failure", "", "ERROR", (0, 1, 0)),
        ("a timeout is a failure", "1..2\nok 1 - a\n", "TIMEOUT", (1, 1, 0)),
        ("a program without lines is a test", "all well\n", "OK", (1, 0, 0)),
        ("a program without lines may fail", "ok, not really\n", "FAIL", (0, 1, 0)),
        ("a skipped program is neither", None, "SKIP", (0, 0, 1)),
    ]
    print(f"1..{len(examples)}")
    good = True
    for number, (name, stdout, result, expected) in enumerate(examples, 1):
        right = count({"stdout": stdout, "result": result}) == expected
        print(f"{'ok' if right else 'not ok'} {number} - {name}")
        good &= right
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else main(sys.argv[1]))
