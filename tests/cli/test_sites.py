#!/usr/bin/env python3
"""Intercepts of each party's own (method estimate, intercepts=party) against R's factor(site), and the test of whether parties differ.

Figures of R are those in sites/sites.csv, or fresh ones where Rscript is installed (sites/sites.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_sites.py
"""
import csv
import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_meta import MetaTest

HERE = Path(__file__).resolve().parent / "sites"


def figures_of_r(sites):
    if shutil.which("Rscript"):
        done = subprocess.run(["Rscript", HERE / "sites.R", sites], capture_output=True, text=True, check=True, timeout=600)
        return list(csv.DictReader(done.stdout.splitlines()))
    return list(csv.DictReader((HERE / "sites.csv").read_text().splitlines()))


class Sites(MetaTest):
    def estimate(self, label, count, *more):
        train = f"{label}{count}.csv"
        return self.tacit("simulate", "--method", "estimate", "--train", train, "--test", train, "--schema", f"{label}.yaml", "--split", "by:site", "--seed", "1",
                          "--set", "intercepts=party", "--out", "model.json", *more)

    def near(self, ours, theirs, what):
        self.assertLessEqual(abs(ours - float(theirs)), 1e-7 * (1e-3 + abs(float(theirs))), f"{what}: {ours} beside {theirs}")

    def test_coefficients_and_the_test_of_parties_are_those_of_r(self):
        for one in figures_of_r(self.path / "sites.csv"):
            label, count = one["case"].split()
            if one["name"] == "age":
                done = self.estimate(label, count)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"Each of {count} parties has an intercept of its own", done.stdout)
                table = json.loads((self.path / "model.json").read_text())["estimates"]
                self.assertEqual([row["name"] for row in table["coefficients"]], ["age", "arm=b"])
            what = f"{one['case']}: {one['name']}"
            if one["name"] == "deviance":
                for key, theirs in (("deviance", "value"), ("degrees", "error"), ("aic", "p")):
                    self.near(table[key], one[theirs], f"{what} {key}")
            elif one["name"] == "sites":
                for key, theirs in (("statistic", "value"), ("degrees", "error"), ("p", "p")):
                    self.near(table["sites"][key], one[theirs], f"{what} {key}")
            else:
                row = next(row for row in table["coefficients"] if row["name"] == one["name"].replace("armb", "arm=b"))
                for key, theirs in (("estimate", "value"), ("error", "error"), ("p", "p")):
                    self.near(row[key], one[theirs], f"{what} {key}")
        self.assertEqual(self.succeed("summary", "model.json").returncode, 0)

    def test_what_does_not_go_together_is_told(self):
        for more, says in ((("--set", "bias=firth"), "intercepts=party goes with"), (("--lambda", "0.1"), "a lambda of 0"), (("--set", "errors=HC3"), "intercepts=party goes with")):
            done = self.estimate("ill", 5, *more)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(says, " ".join(done.stderr.split()))
        done = self.estimate("ill", 1)
        self.assertIn("at least two parties", done.stderr)

    def test_a_column_that_varies_inside_no_party_has_no_coefficient(self):
        lines = (self.path / "ill5.csv").read_text().splitlines()
        self.write("flat5.csv", "\n".join([lines[0], *(",".join([cells[0], str(int(cells[0]) / 4), *cells[2:]]) for cells in (line.split(",") for line in lines[1:]))]) + "\n")
        self.write("flat.yaml", (self.path / "ill.yaml").read_text())
        done = self.estimate("flat", 5)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("varies inside no party", " ".join(done.stderr.split()))


del MetaTest

if __name__ == "__main__":
    unittest.main()
