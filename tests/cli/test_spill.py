#!/usr/bin/env python3
"""Rows that exceed the memory a process may have are fitted in a file without a name, to the same digits; without one they end in a sentence. And how many
questions `tacit explain` says a party is asked is how many it is asked.

    TACIT=build/src/cli/tacit tests/cli/test_spill.py
"""
import json
import os
import resource
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

COLUMNS, BLOCK, BLOCKS = 60, 500, 300  # encoded: 150,000 x 61 x 8 bytes, 73 MB
SPARE = 40 << 20  # what rows may take beside what the program takes for few of them: labels and indices take less, 73 MB are more


class Spill(ProgramTest):
    def rows(self, name, blocks):
        """The same rows again and again: what they are does not matter here."""
        lines = [",".join(f"x{j}" for j in range(COLUMNS)) + ",y"]
        block = [",".join(str((i * (j + 3) + j * j) % 10) for j in range(COLUMNS)) + f",{(i * i + i // 7) % 9}" for i in range(BLOCK)]
        (self.path / name).write_text("\n".join(lines + block * blocks) + "\n")

    def setUp(self):
        super().setUp()
        self.rows("few.csv", 1)
        self.rows("many.csv", BLOCKS)
        (self.path / "schema.yaml").write_text("label: {name: y, kind: number, low: 0, high: 9}\ncolumns:\n" + "".join(
            f"  - {{name: x{j}, kind: number, low: 0, high: 9}}\n" for j in range(COLUMNS)) + "intercept: yes\n")
        (self.path / "scratch").mkdir()

    def describe(self, rows, limit, **variables):
        words = [os.environ["TACIT"], "simulate", "--method", "estimate", "--train", rows, "--schema", "schema.yaml", "--parties", "2", "--lambda", "1e-4",
                 "--threads", "1", "--seed", "1", "--json"]
        before = (lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))) if limit else None
        return subprocess.run(words, cwd=self.path, capture_output=True, text=True, preexec_fn=before,
                              env=dict(os.environ, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1", **variables))

    def least(self):
        """Bytes of data that few rows need, to 8 MB."""
        for limit in range(16 << 20, 1 << 30, 8 << 20):
            if self.describe("few.csv", limit).returncode == 0:
                return limit
        self.skipTest("the program does not run under a limit of data")

    def test_rows_that_exceed_memory_are_fitted_on_a_disk(self):
        if "-fsanitize" in os.environ.get("CFLAGS", "") or os.environ.get("ASAN_OPTIONS"):
            self.skipTest("sanitizers take memory of their own")
        limit = self.least() + SPARE
        refused = self.describe("many.csv", limit)
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("memory", refused.stderr)
        spilled = self.describe("many.csv", limit, TACIT_SPILL=str(self.path / "scratch"), TACIT_MEMORY="8M")
        self.assertEqual(spilled.returncode, 0, spilled.stderr)
        self.assertEqual(list((self.path / "scratch").iterdir()), [])
        whole = self.describe("many.csv", None)
        self.assertEqual(whole.returncode, 0, whole.stderr)
        first, second = (json.loads(one.stdout)["runs"][0] for one in (spilled, whole))
        for run in (first, second):
            for key in [key for key in run if "seconds" in key]:
                del run[key]
        self.assertEqual(first, second)


class Exchanges(ProgramTest):
    def exchanges(self, *words):
        return json.loads(self.succeed("explain", *words, "--json").stdout)["exchanges"]

    def test_methods_that_ask_once_say_so(self):
        for method in ("histogram", "describe", "evaluate", "survival"):
            self.assertEqual(self.exchanges(method, "--delta", "1e-6", "--features", "2", "--classes", "2"), 1, method)
        self.assertIsNone(self.exchanges("estimate"))
        said = self.succeed("explain", "histogram", "--features", "2").stdout
        self.assertIn("one question to each party, and its answer", " ".join(said.split()))
        self.assertIn("as many questions to each party as it takes", " ".join(self.succeed("explain", "estimate").stdout.split()))

    def test_what_is_said_is_what_is_asked(self):
        (self.path / "rows.csv").write_text("a,b,y\n" + "".join(f"{i % 10},{i % 7},{'yes' if i % 3 else 'no'}\n" for i in range(2000)))
        (self.path / "schema.yaml").write_text('label: {name: y, classes: ["no", "yes"]}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 9}\n'
                                               "  - {name: b, kind: number, low: 0, high: 6}\nintercept: yes\n")
        for method, delta in (("histogram", "0"), ("dpnewton", "1e-6")):
            told = json.loads(self.succeed("simulate", "--method", method, "--train", "rows.csv", "--schema", "schema.yaml", "--parties", "4", "--epsilon", "1",
                                           "--delta", delta, "--seed", "1", "--set", *(["cells=4"] if method == "histogram" else ["rounds=3"]), "--json").stdout)
            said = self.exchanges(method, "--delta", delta, "--features", "3", "--classes", "2", "--parties", "4",
                                  *([] if method == "histogram" else ["--set", "rounds=3"]))
            self.assertEqual(told["runs"][0]["rounds"], said, method)


if __name__ == "__main__":
    unittest.main(verbosity=2)
