#!/usr/bin/env python3
"""script/copies finds a function that was written again with other names, and nothing where there is none."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COPIES = ROOT / "script" / "copies"

FIRST = """#include <stddef.h>

/* The largest of some numbers. */
double largest(const double *values, size_t count, const double *weights, double limit) {
    double most = values[0] * weights[0] + limit;
    for (size_t i = 1; i < count && values[i] < limit; i++) {
        double product = values[i] * weights[i];
        if (product > most && weights[i] != 0) most = product;
        if (most > limit) return limit * 2 + weights[i];
        most = most * 0.5 + product * 0.25 - limit / (double)count;
        while (most < 0 && weights[i] > limit) most += weights[i] * values[i];
    }
    return most;
}
"""
NAMES = {"largest": "longest", "values": "lengths", "weights": "prices", "most": "best", "product": "cost", "0.25": "0.125", "limit": "end"}


def renamed(text):
    for name, other in NAMES.items():
        text = text.replace(name, other)
    return text.replace("/* The longest of some numbers. */", "// another\n// comment")


class Copies(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tacit-test-")
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def run_on(self, *words, **files):
        for name, text in files.items():
            (self.path / f"{name}.c").write_text(text)
        done = subprocess.run([sys.executable, COPIES, *words, "."], cwd=self.path, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_a_function_with_other_names_is_found_with_its_lines(self):
        found = self.run_on(first=FIRST, second=renamed(FIRST))
        self.assertEqual(found, ["9 lines  first.c:4-13 ~ second.c:5-14", "1 pairs, 20 lines, in 2 files"])

    def test_only_the_total_is_printed_on_demand(self):
        self.assertEqual(self.run_on("--count", first=FIRST, second=renamed(FIRST)), ["1 pairs, 20 lines, in 2 files"])

    def test_another_operator_is_another_shape(self):
        other = FIRST.replace("product > most", "product >= most").replace("* 0.5 +", "/ 0.5 -")
        self.assertEqual(self.run_on("--count", first=FIRST, second=other), ["0 pairs, 0 lines, in 2 files"])
        self.assertEqual(self.run_on("--count", "--lines", "3", first=FIRST, second=other)[0].split()[0], "1")

    def test_rows_of_a_table_are_no_copies(self):
        table = "static const row rows[] = {\n" + "".join(f'    {{ "{i}", {i}, {i + 1}, read_{i}, print_{i} }},\n' for i in range(30)) + "};\n"
        self.assertEqual(self.run_on("--count", first=table, second=table), ["0 pairs, 0 lines, in 2 files"])

    def test_a_run_that_stands_everywhere_is_an_idiom(self):
        many = {f"file{i}": FIRST for i in range(9)}
        self.assertEqual(self.run_on("--count", **many), ["0 pairs, 0 lines, in 9 files"])

    def test_a_place_that_is_not_there_is_named(self):
        done = subprocess.run([sys.executable, COPIES, "nowhere"], cwd=self.path, capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stderr), (1, "script/copies: nowhere is not there\n"))


if __name__ == "__main__":
    unittest.main()
