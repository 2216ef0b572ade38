#!/usr/bin/env python3
"""Methods survival-exact, against R's survfit and survdiff on the same grid of times, and survival.

Figures of R are those in cox/survival.csv, or fresh ones where Rscript with package survival is installed (cox/survival.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_survival.py
"""
import csv
import json
import math
import os
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

HERE = Path(__file__).resolve().parent / "cox"
EXAMPLES = HERE.parents[2] / "examples"
WILMS, SCHEMA, AML, MGUS = str(EXAMPLES / "wilms_times.csv"), str(EXAMPLES / "wilms_times.schema.yaml"), str(HERE / "aml.csv"), str(HERE / "mgus.csv")
SHOWN = ("at risk", "events", "survival", "error", "low", "high", "hazard", "hazard error", "hazard low", "hazard high")


def figures_of_r():
    if shutil.which("Rscript"):
        done = subprocess.run(["Rscript", HERE / "survival.R", WILMS, AML, MGUS], capture_output=True, text=True, check=False, timeout=600)
        if done.returncode == 0:
            return list(csv.reader(done.stdout.splitlines()))[1:]
        if "no package called" not in done.stderr:
            raise RuntimeError(done.stderr)
    return list(csv.reader((HERE / "survival.csv").read_text().splitlines()))[1:]


class SurvivalTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("aml.yaml", "label: {name: [weeks, relapse], kind: time, low: 0, high: 200}\ncolumns:\n  - {name: arm, kind: category, levels: [maintained, not]}\n")
        self.write("mgus.yaml", "label: {name: [months, status], kind: time, low: 0, high: 430, causes: [malignancy, death]}\ncolumns:\n"
                                "  - {name: sex, kind: category, levels: [F, M]}\n")

    def survival(self, train, schema, *words, parties=5, method="survival-exact"):
        """{table: {row: {column: value}}} of the report."""
        self.succeed("simulate", "--method", method, "--train", train, "--test", train, "--schema", schema, "--parties", str(parties), "--seed", "1",
                     "--out", "report.json", *words)
        report = json.loads((self.path / "report.json").read_text())["report"]
        found = {}
        for table in report["tables"]:
            names = [column if isinstance(column, str) else column["name"] for column in table["columns"]]
            found[table["name"]] = {row["label"]: dict(zip(names, row["values"])) for row in table["rows"]}
        return found


class AgainstR(SurvivalTest):
    def check(self, ours, theirs, what):
        if theirs in ("NA", "NaN", "Inf"):
            self.assertIsNone(ours, what)
        else:
            self.assertLessEqual(abs(ours - float(theirs)), 1e-8 * (abs(float(theirs)) + 1e-300), what)

    def test_every_figure_is_that_of_survfit_and_survdiff_for_any_number_of_parties(self):
        figures = figures_of_r()
        self.assertEqual(len(figures), 361)
        for parties in (1, 5, 20):
            small = min(parties, 5)  # 23 rows
            aml = ("--set", "width=1", "--set", "least=1", "--set", "by=arm", "--set", "until=100")
            told = {"wilms": self.survival(WILMS, SCHEMA, "--set", "width=30", "--set", "least=1", "--set", "by=stage", "--set", "until=5400", parties=parties),
                    "aml": self.survival(AML, "aml.yaml", *aml, parties=small),
                    **{f"aml {interval}": self.survival(AML, "aml.yaml", *aml, "--set", f"interval={interval}", parties=small) for interval in ("log-log", "plain")}}
            mgus = ("--set", "width=6", "--set", "least=1", "--set", "by=sex")
            told["mgus"] = self.survival(MGUS, "mgus.yaml", *mgus, parties=parties)
            told["mgus log-log"] = self.survival(MGUS, "mgus.yaml", *mgus, "--set", "interval=log-log", parties=parties)
            for case, table, row, *theirs in figures:
                ours = told[case][table][row]
                names = SHOWN if table.startswith("curve") else list(ours)
                self.assertEqual(len(names), len(theirs))
                for name, other in zip(names, theirs):
                    self.check(ours[name], other, (parties, case, table, row, name, ours, theirs))


class Causes(SurvivalTest):
    def test_shares_of_all_causes_and_of_survival_are_one(self):
        found = self.survival(MGUS, "mgus.yaml")
        for time, row in found["incidence all"].items():
            self.assertAlmostEqual(row["malignancy"] + row["death"] + found["curve all"][time]["survival"], 1, places=12)

    def test_private_incidences_add_up_and_are_near(self):
        exact, noisy = self.survival(MGUS, "mgus.yaml", "--set", "least=1"), self.survival(
            MGUS, "mgus.yaml", "--epsilon", "20", "--delta", "1e-5", method="survival")  # the noise is seeded
        rows = list(noisy["incidence all"].items())
        self.assertGreater(len(rows), 20)
        for time, row in rows:
            self.assertAlmostEqual(row["malignancy"] + row["death"] + noisy["curve all"][time]["survival"], 1, places=9)
            for cause in ("malignancy", "death"):
                self.assertLess(abs(row[cause] - exact["incidence all"][time][cause]), 0.06)

    def test_private_intervals_of_hazards_are_on_the_scale_that_is_named_and_wider_with_noise(self):
        words = ("--set", "by=stage", "--delta", "1e-5")
        wide = {}
        for epsilon in ("1", "20"):
            for interval in ("log", "log-log", "plain"):
                for row in self.survival(WILMS, SCHEMA, *words, "--epsilon", epsilon, "--set", f"interval={interval}", method="survival")["curve 1"].values():
                    low, middle, high, reach = row["hazard low"], row["hazard"], row["hazard high"], 1.959963984540054 * row["hazard error"]
                    if interval == "log" or middle == 0:
                        expected = max(0, middle - reach), middle + reach
                    elif interval == "log-log":
                        expected = middle * math.exp(-reach / middle), middle * math.exp(reach / middle)
                    else:
                        expected = max(0, middle - math.log1p(reach)), middle - math.log1p(-reach)
                    for ours, other in zip((low, high), expected):
                        self.assertAlmostEqual(ours, other, places=9)
                wide[epsilon] = high - low
        self.assertGreater(wide["1"], 1.2 * wide["20"])

    def test_incidences_are_drawn_below_survival_from_0_up(self):
        found = self.survival(MGUS, "mgus.yaml")["incidence all"]
        self.succeed("summary", "report.json", "--plot", "causes.svg")
        drawn = ElementTree.parse(self.path / "causes.svg").getroot()
        curves = [one.get("d") for one in drawn.iter() if one.get("class") == "curve"]
        self.assertEqual((len(curves), sum(one.get("class") == "band" for one in drawn.iter())), (3, 3))
        texts = [one.text for one in drawn.iter() if one.tag.endswith("text")]
        for text in ("Cumulative incidence of all", "malignancy", "death"):
            self.assertIn(text, texts)
        ends = [[float(one) for one in re.findall(r"[-\d.]+", curve)] for curve in curves]
        bottom, last = ends[1][1], list(found.values())[-1]
        self.assertEqual(ends[2][1], bottom)  # both begin at 0
        shares = [(bottom - one[-1]) / 320 for one in ends[1:]]
        for share, cause in zip(shares, ("malignancy", "death")):
            self.assertAlmostEqual(share, last[cause], places=4)
        self.assertLess(bottom, float(drawn.get("height")))

    def test_other_numbers_of_events_and_methods_about_one_event_are_refused(self):
        self.write("three.csv", "sex,months,status\nF,3,3\nM,2,1\n")
        self.fail_with(1, "simulate", "--method", "survival-exact", "--train", "three.csv", "--test", "three.csv", "--schema", "mgus.yaml", "--parties", "1",
                       says=["one of 2 causes"])
        self.fail_with(2, "simulate", "--method", "cox", "--train", MGUS, "--test", MGUS, "--schema", "mgus.yaml", "--parties", "2",
                       says=["about one kind of event"])


class Report(SurvivalTest):
    def test_cells_are_put_together_until_enough_rows_leave(self):
        found = self.survival(WILMS, SCHEMA, "--set", "width=30", "--set", "by=stage")
        for stage in "1234":
            for row in found[f"curve {stage}"].values():
                leaving = row["events"] + row["censored"]
                self.assertTrue(leaving == 0 or leaving >= 10, row)

    def test_one_curve_without_groups_and_no_test(self):
        found = self.survival(WILMS, SCHEMA)
        self.assertEqual(set(found), {"groups", "curve all"})
        last = list(found["curve all"].values())[-1]
        self.assertTrue(0.8 < last["survival"] < 0.9 and last["low"] < last["survival"] < last["high"])

    def test_a_report_is_shown_and_predicts_nothing(self):
        self.survival(WILMS, SCHEMA, "--set", "by=stage")
        shown = self.succeed("summary", "report.json").stdout
        for text in ("Survival of 4", "log-rank", "mean until"):
            self.assertIn(text, shown)
        self.assertNotEqual(self.tacit("predict", "report.json", WILMS).returncode, 0)

    def test_curves_are_drawn_with_numbers_at_risk(self):
        found = self.survival(WILMS, SCHEMA, "--set", "by=stage", "--set", "width=30")
        self.succeed("summary", "report.json", "--plot", "curves.svg")
        drawn = ElementTree.parse(self.path / "curves.svg").getroot()
        paths = [one for one in drawn.iter() if one.tag.endswith("path")]
        self.assertEqual(sum(one.get("class") == "curve" for one in paths), 4)
        self.assertEqual(sum(one.get("class") == "band" for one in paths), 4)
        texts = [one.text for one in drawn.iter() if one.tag.endswith("text")]
        for stage in "1234":
            first = next(iter(found[f"curve {stage}"].values()))
            self.assertIn(f"{first['at risk']:.0f}", texts)
        self.succeed("describe", "--data", WILMS, "--schema", SCHEMA, "--out", "table.json")
        self.fail_with(2, "summary", "table.json", "--plot", "none.svg", says=["no curves of survival"])

    def test_fewer_rows_than_asked_for_are_refused(self):
        self.fail_with(1, "simulate", "--method", "survival-exact", "--train", AML, "--test", AML, "--schema", "aml.yaml", "--parties", "2", "--set", "by=arm",
                       "--set", "least=12", says=["fewer than 12 rows"])


if __name__ == "__main__":
    unittest.main()
