#!/usr/bin/env python3
"""Several rows a person: standard errors clustered by person (method estimate, errors=cluster) against generalised estimating equations, R's geepack, of drivers,
herds and patients that are real, and visits that are made up.

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
from test_regression import CASES as REGRESSIONS

HERE = Path(__file__).resolve().parent / "clusters"


def figures_of_r(visits):
    if shutil.which("Rscript"):
        done = subprocess.run(["Rscript", HERE / "clusters.R", MIXED / "sleepstudy.csv", visits, MIXED / "cbpp.csv", REGRESSIONS["men"][0]], capture_output=True, text=True, check=False, timeout=600)
        if done.returncode == 0:
            return list(csv.DictReader(done.stdout.splitlines()))
        if "no package called" not in done.stderr:
            raise RuntimeError(done.stderr)
    return list(csv.DictReader((HERE / "clusters.csv").read_text().splitlines()))


class AgainstGee(MixedTest):
    def test_clustered_errors_are_those_of_geepack_with_and_without_a_correction_for_few_persons(self):
        lines = figures_of_r(self.path / "visits.csv")
        self.write("men.yaml", REGRESSIONS["men"][1])
        trains = {"sleep": MIXED / "sleepstudy.csv", "cbpp": MIXED / "cbpp.csv", "men": REGRESSIONS["men"][0], "visits": "visits.csv"}
        for which, train in trains.items():
            for parties in (1, 5, 15 if which in ("sleep", "cbpp") else 20):  # 18 drivers, 15 herds
                for errors in ("cluster", "gee"):
                    self.check(which, train, parties, errors, [one for one in lines if one["case"] == which])

    def check(self, which, train, parties, errors, lines):
        self.succeed("simulate", "--method", "estimate", "--train", str(train), "--test", str(train), "--schema", f"{which}.yaml", "--parties", str(parties), "--together",
                     PERSONS.get(which, "id"), "--seed", "1", "--set", f"errors={errors}", "--out", "model.json")
        table = {row["name"]: row for row in json.loads((self.path / "model.json").read_text())["estimates"]["coefficients"]}
        self.assertTrue(lines)
        for one in lines:
            persons, rows = float(one["groups"]), float(one["rows"])
            correction = persons / (persons - 1) * ((rows - 1) / (rows - 2) if which == "sleep" else 1) if errors == "cluster" else 1
            ours = table[one["name"].replace("period", "period=")]
            for key, theirs in (("estimate", float(one["estimate"])), ("error", float(one["error"]) * math.sqrt(correction))):
                self.assertLessEqual(abs(ours[key] - theirs), 1e-7 * abs(theirs), f"{which}, {parties} parties, {errors}: {one['name']} {key}")


del MixedTest

if __name__ == "__main__":
    unittest.main()
