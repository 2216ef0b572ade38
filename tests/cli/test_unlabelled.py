#!/usr/bin/env python3
"""Files in which some rows have no label: kept for methods that learn from such rows, refused or left out elsewhere.

    TACIT=build/src/cli/tacit tests/cli/test_unlabelled.py
"""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import TACIT

COLUMNS = "columns:\n  - {name: a, kind: number, low: -1, high: 1}\n  - {name: b, kind: number, low: -1, high: 1}\n"


def rows_of(count, labelled, seed):
    """Class 'yes' lies where a is above 0; every `labelled`-th row says so (0: none)."""
    draw = random.Random(seed)
    lines = ["a,b,y"]
    for i in range(count):
        a, b = draw.uniform(-1, 1), draw.uniform(-1, 1)
        known = labelled > 0 and i % labelled == 0
        lines.append(f"{a:.4f},{b:.4f},{('yes' if a > 0 else 'no') if known else ''}")
    return "\n".join(lines) + "\n"


class Unlabelled(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.write("sources.csv", rows_of(900, 3, 1))
        self.write("target.csv", rows_of(200, 0, 2))
        self.write("test.csv", rows_of(300, 1, 3))
        self.write("partly.csv", rows_of(300, 2, 4))
        self.write("public.csv", rows_of(100, 0, 5))
        for word in ("unlabelled", "complete-case", "error"):
            self.write(f"{word}.yaml", f"label: {{name: y, classes: ['no', 'yes'], missing: {word}}}\n" + COLUMNS)

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def tacit(self, *words, code=0):
        run = subprocess.run([TACIT, *words], cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual(run.returncode, code, run.stderr)
        return run

    def simulate(self, *words, code=0):
        return self.tacit("simulate", "--train", "sources.csv", "--aux", "public.csv", "--parties", "3", "--seed", "1", *words, code=code)

    def transfer(self, *words):
        run = self.simulate("--method", "dphtl", "--target", "target.csv", "--epsilon", "inf", "--json", *words)
        return json.loads(run.stdout)["runs"][0]["accuracy"]["mean"]

    def test_a_target_without_labels_learns_from_sources_with_some(self):
        accuracy = self.transfer("--schema", "unlabelled.yaml", "--test", "test.csv")
        self.assertGreater(accuracy, 0.9)
        self.assertEqual(self.transfer("--schema", "unlabelled.yaml", "--test", "test.csv"), accuracy)

    def test_a_draft_keeps_rows_without_a_label_where_they_are_of_use(self):
        self.assertGreater(self.transfer("--bounds-from-data", "--test", "test.csv"), 0.9)
        refused = self.simulate("--method", "plr", "--bounds-from-data", "--epsilon", "1", code=1).stderr
        self.assertIn("sources.csv:3:3 (y)", refused)
        self.assertIn("missing: complete-case", refused)

    def test_models_are_judged_by_rows_with_a_label(self):
        for words in (("--test", "partly.csv"), ("--test-fraction", "0.3")):
            self.assertGreater(self.transfer("--schema", "unlabelled.yaml", *words), 0.9)
        refused = self.simulate("--method", "dphtl", "--target", "target.csv", "--epsilon", "1", "--schema", "unlabelled.yaml", "--test", "target.csv", code=1)
        self.assertIn("target.csv has no complete row", refused.stderr)

    def test_other_methods_are_refused_with_the_remedy(self):
        refused = self.simulate("--method", "plr", "--epsilon", "1", "--schema", "unlabelled.yaml", code=2).stderr
        self.assertIn("needs a label in every row", refused)
        self.assertIn("missing: complete-case", refused)
        self.assertIn("dphtl", refused)
        self.simulate("--method", "plr", "--epsilon", "1", "--schema", "complete-case.yaml")

    def test_a_missing_label_is_an_error_by_default(self):
        self.assertIn("sources.csv", self.simulate("--method", "dphtl", "--target", "target.csv", "--epsilon", "1", "--schema", "error.yaml", code=1).stderr)

    def test_rows_without_a_label_are_predicted(self):
        self.transfer("--schema", "unlabelled.yaml", "--test", "test.csv", "--out", "model.json")
        lines = self.tacit("predict", "model.json", "target.csv").stdout.splitlines()
        self.assertEqual(len(lines), 201)
        whole = json.loads(self.tacit("evaluate", "model.json", "test.csv", "--json").stdout)
        self.assertEqual(whole["n"], 300)
        part = json.loads(self.tacit("evaluate", "model.json", "partly.csv", "--json").stdout)
        self.assertEqual(part["n"], 150)

    def test_importance_weights_need_no_label(self):
        run = json.loads(self.simulate("--method", "dpiw", "--epsilon", "1", "--schema", "unlabelled.yaml", "--test", "test.csv", "--json").stdout)
        self.assertEqual(run["runs"][0]["charged"]["epsilon"], 1)

    def test_a_word_that_is_none_is_named(self):
        self.write("wrong.yaml", "label: {name: y, classes: ['no', 'yes'], missing: fill}\n" + COLUMNS)
        self.assertIn("complete-case, error or unlabelled", self.tacit("data", "check", "sources.csv", "--schema", "wrong.yaml", code=1).stderr)
        self.write("wrong.yaml", "label: {name: y, kind: number, low: 0, high: 1, missing: unlabelled}\n" + COLUMNS)
        self.assertIn("label with classes", self.tacit("data", "check", "sources.csv", "--schema", "wrong.yaml", code=1).stderr)
        self.tacit("data", "check", "sources.csv", "--schema", "unlabelled.yaml")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
