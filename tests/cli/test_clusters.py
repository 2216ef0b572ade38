#!/usr/bin/env python3
"""Several rows a person: standard errors clustered by person (method estimate, errors=cluster) against generalised estimating equations, R's geepack.

Figures of R are those in clusters/clusters.csv, or fresh ones where Rscript with package geepack is installed (clusters/clusters.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_clusters.py
"""
import csv
import json
import math
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_mixed import MixedTest, PERSONS
from test_mixed import HERE as MIXED

HERE = Path(__file__).resolve().parent / "clusters"


def figures_of_r(visits):
    if shutil.which("Rscript"):
        done = subprocess.run(["Rscript", HERE / "clusters.R", MIXED / "sleepstudy.csv", visits], capture_output=True, text=True, check=False, timeout=600)
        if done.returncode == 0:
            return list(csv.DictReader(done.stdout.splitlines()))
        if "no package called" not in done.stderr:
            raise RuntimeError(done.stderr)
    return list(csv.DictReader((HERE / "clusters.csv").read_text().splitlines()))


class AgainstGee(MixedTest):
    def test_clustered_errors_are_those_of_geepack_with_and_without_a_correction_for_few_persons(self):
        lines = figures_of_r(self.path / "visits.csv")
        for which in ("sleep", "visits"):
            for parties in (1, 5, 15 if which == "sleep" else 20):  # 18 drivers are in the first
                train = str(MIXED / "sleepstudy.csv") if which == "sleep" else "visits.csv"
                for errors in ("cluster", "gee"):
                    self.check(which, train, parties, errors, [one for one in lines if one["case"] == which])

    def check(self, which, train, parties, errors, lines):
        self.succeed("simulate", "--method", "estimate", "--train", train, "--test", train, "--schema", f"{which}.yaml", "--parties", str(parties), "--together",
                     PERSONS[which], "--seed", "1", "--set", f"errors={errors}", "--out", "model.json")
        table = {row["name"]: row for row in json.loads((self.path / "model.json").read_text())["estimates"]["coefficients"]}
        self.assertTrue(lines)
        for one in lines:
            persons, rows = float(one["groups"]), float(one["rows"])
            correction = persons / (persons - 1) * ((rows - 1) / (rows - 2) if which == "sleep" else 1) if errors == "cluster" else 1
            for key, theirs in (("estimate", float(one["estimate"])), ("error", float(one["error"]) * math.sqrt(correction))):
                self.assertLessEqual(abs(table[one["name"]][key] - theirs), 1e-7 * abs(theirs), f"{which}, {parties} parties, {errors}: {one['name']} {key}")


del MixedTest

if __name__ == "__main__":
    unittest.main()
