#!/usr/bin/env python3
"""Method meta against R: glm at each site, metafor over sites.

Figures of R are those in meta/meta.csv, or fresh ones where Rscript with package metafor is installed (meta/meta.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_meta.py
"""
import csv
import json
import math
import os
import random
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

HERE = Path(__file__).resolve().parent / "meta"
COLUMNS = "columns:\n  - {name: site, kind: skip}\n  - {name: age, kind: number, low: 0, high: 2}\n  - {name: arm, kind: category, levels: [a, b]}\n"


def rows_of_sites():
    """20 sites of 60 rows, with slopes and intercepts of their own."""
    draw = random.Random(3)
    lines = ["site,age,arm,pressure,ill"]
    for site in range(1, 21):
        level, slope = draw.gauss(0, 0.5), draw.gauss(1, 0.6)
        for _ in range(60):
            age, arm = 2 * draw.random(), draw.choice("ab")
            score = level + slope * (age - 1) + 0.4 * (arm == "b")
            lines.append(f"{site},{age:.4f},{arm},{100 + 5 * score + draw.gauss(0, 4):.3f},{int(draw.random() < 1 / (1 + math.exp(-score)))}")
    return "\n".join(lines) + "\n"


def figures_of_r(sites):
    if shutil.which("Rscript"):
        done = subprocess.run(["Rscript", HERE / "meta.R", HERE / "bcg.csv", sites], capture_output=True, text=True, check=False, timeout=600)
        if done.returncode == 0:
            return list(csv.DictReader(done.stdout.splitlines()))
        if "no package called" not in done.stderr:
            raise RuntimeError(done.stderr)
    return list(csv.DictReader((HERE / "meta.csv").read_text().splitlines()))


class MetaTest(ProgramTest):
    def setUp(self):
        super().setUp()
        text = rows_of_sites()
        self.write("sites.csv", text)
        for count in (1, 3, 4, 5, 20):
            head, *lines = text.splitlines()
            lines = [line for line in lines if int(line.split(",")[0]) <= count]
            for label, other in ((3, 4), (4, 3)):
                cells = [line.split(",") for line in [head, *lines]]
                self.write(f"{cells[0][label]}{count}.csv", "\n".join(",".join(row[:3] + [row[label]]) for row in cells) + "\n")
        self.write("pressure.yaml", "label: {name: pressure, kind: number, low: 60, high: 140}\n" + COLUMNS)
        self.write("ill.yaml", "label: {name: ill, classes: ['0', '1']}\n" + COLUMNS)
        self.write("bcg.yaml", "label: {name: tb, classes: ['0', '1']}\ncolumns:\n  - {name: trial, kind: skip}\n  - {name: vaccine, kind: number, low: 0, high: 1}\n"
                   "  - {name: count, kind: number, low: 1, high: 100000}\n")

    def words(self, train, schema, by, *more):
        return ["simulate", "--method", "meta", "--train", str(train), "--test", str(train), "--schema", schema, "--split", f"by:{by}", "--seed", "1", *more]

    def meta(self, train, schema, by, *more):
        """{table: {row: {column: value}}} of the report."""
        self.succeed(*self.words(train, schema, by, "--out", "report.json", *more))
        report = json.loads((self.path / "report.json").read_text())["report"]
        self.assertEqual(report["kind"], "meta")
        found = {"facts": {fact["name"]: fact.get("number") for fact in report["facts"]}}
        for table in report["tables"]:
            names = [column if isinstance(column, str) else column["name"] for column in table["columns"]]
            found[table["name"]] = {row["label"]: dict(zip(names, row["values"])) for row in table["rows"]}
        return found


class AgainstR(MetaTest):
    def near(self, ours, theirs, what, scale=0.0):
        self.assertLessEqual(abs(ours - theirs), 1e-7 * abs(theirs) + 1e-8 * scale, f"{what}: {ours} beside {theirs}")

    def check(self, found, lines, method):
        for one in lines:
            if one["method"] not in ("FE", method):
                continue
            name = {"armb": "arm=b"}.get(one["coefficient"], one["coefficient"])
            figures = {key: float(value) for key, value in one.items() if key not in ("case", "coefficient", "method")}
            what = f"{one['case']} {name} {one['method']}"
            pooled = found["fixed" if one["method"] == "FE" else "random"][name]
            for key in ("estimate", "error", "z", "p", "low", "high"):
                self.near(pooled[key], figures[key], f"{what} {key}", figures["error"] if key in ("estimate", "low", "high") else 1)
            spread = found["heterogeneity"][name]
            self.near(spread["Q"], figures["Q"], what + " Q", 1)
            self.near(spread["p"], figures["Qp"], what + " p of Q", 1)
            if one["method"] != "FE":
                for key, ours in (("tau2", "tau^2"), ("I2", "I^2 %"), ("H2", "H^2")):
                    self.near(spread[ours], figures[key], f"{what} {ours}", 1)

    def test_pooled_estimates_and_heterogeneity_are_those_of_metafor(self):
        lines = figures_of_r(self.path / "sites.csv")
        cases = [("bcg", HERE / "bcg.csv", "bcg.yaml", "trial", ["--terms", "~ vaccine + weights(count)"])]
        for count in (5, 20):
            cases += [(f"linear {count}", f"pressure{count}.csv", "pressure.yaml", "site", []), (f"logistic {count}", f"ill{count}.csv", "ill.yaml", "site", [])]
        for case, train, schema, by, more in cases:
            its = [one for one in lines if one["case"] == case]
            self.assertTrue(its)
            self.check(self.meta(train, schema, by, *more), its, "DL")
            self.check(self.meta(train, schema, by, "--set", "forest=yes", *more), its, "DL")
            self.check(self.meta(train, schema, by, "--set", "tau=PM", "--set", "forest=yes", *more), its, "PM")
            if not case.endswith(" 5"):
                found = self.meta(train, schema, by, "--set", "tau=PM", *more)
                self.check(found, its, "PM")
                self.assertLessEqual(found["facts"]["sums opened of a coefficient"], 23)


class Count(MetaTest):
    """Sums that would give the sites away are not opened."""

    def refused(self, says, train, *more, code=2):
        done = self.tacit(*self.words(train, "ill.yaml", "site", *more))
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn(says, " ".join(done.stderr.split()))

    def test_as_many_sums_as_unknowns_are_refused(self):
        self.refused("at least 5 parties", "ill4.csv")
        self.assertEqual(self.meta("ill5.csv", "ill.yaml", "site")["facts"]["sums opened of a coefficient"], 7)
        self.refused("tau: DL", "ill5.csv", "--set", "tau=PM")

    def test_with_the_owners_leave_any_number_of_sites_is_enough_and_each_is_shown(self):
        for count in (1, 3):
            found = self.meta(f"ill{count}.csv", "ill.yaml", "site", "--set", "forest=yes")
            forest = found["forest age"]
            self.assertEqual(list(forest), [f"site {k + 1}" for k in range(count)])
            self.assertAlmostEqual(sum(row["random weight"] for row in forest.values()), 1, delta=1e-12)
        one = self.meta("ill1.csv", "ill.yaml", "site", "--set", "forest=yes")
        self.assertAlmostEqual(one["fixed"]["age"]["estimate"], one["forest age"]["site 1"]["estimate"], delta=1e-12)
        self.assertIsNone(one["heterogeneity"]["age"]["I^2 %"])

    def test_where_no_site_has_an_estimate_it_is_said_why(self):
        self.write("same.csv", "age,ill\n" + "".join(f"0.5,{k % 2}\n" for k in range(120)))
        self.write("same.yaml", "label: {name: ill, classes: ['0', '1']}\ncolumns:\n  - {name: age, kind: number, low: 0, high: 1}\n")
        done = self.tacit("simulate", "--method", "meta", "--train", "same.csv", "--test", "same.csv", "--schema", "same.yaml", "--parties", "6", "--seed", "1")
        self.assertEqual(done.returncode, 3)
        for text in ("0 parties answered", "the first that refused says: ", "age"):
            self.assertIn(text, done.stderr)

    def test_a_site_without_an_estimate_refuses_and_the_others_must_still_hide_each_other(self):
        lines = (self.path / "ill5.csv").read_text().splitlines()
        self.write("flat.csv", "\n".join(line[:-1] + "0" if line.startswith("2,") else line for line in lines) + "\n")
        self.refused("4 sites have answered", "flat.csv", code=3)
        done = self.tacit(*self.words("flat.csv", "ill.yaml", "site", "--set", "forest=yes"))
        self.assertIn("no finite estimate of every coefficient", done.stderr)
        self.assertIn("sites: 4", done.stdout)


if __name__ == "__main__":
    unittest.main()
