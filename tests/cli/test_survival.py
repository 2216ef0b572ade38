#!/usr/bin/env python3
"""Method survival-exact against R's survfit and survdiff on the same grid of times.

Figures of R are those in cox/survival.csv, or fresh ones where Rscript with package survival is installed (cox/survival.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_survival.py
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
from test_program import ProgramTest

HERE = Path(__file__).resolve().parent / "cox"
EXAMPLES = HERE.parents[2] / "examples"
WILMS, SCHEMA, AML = str(EXAMPLES / "wilms_times.csv"), str(EXAMPLES / "wilms_times.schema.yaml"), str(HERE / "aml.csv")
SHOWN = ("at risk", "events", "survival", "error", "low", "high", "hazard", "hazard error")


def figures_of_r():
    if shutil.which("Rscript"):
        done = subprocess.run(["Rscript", HERE / "survival.R", WILMS, AML], capture_output=True, text=True, check=False, timeout=120)
        if done.returncode == 0:
            return list(csv.reader(done.stdout.splitlines()))[1:]
        if "no package called" not in done.stderr:
            raise RuntimeError(done.stderr)
    return list(csv.reader((HERE / "survival.csv").read_text().splitlines()))[1:]


class SurvivalTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("aml.yaml", "label: {name: [weeks, relapse], kind: time, low: 0, high: 200}\ncolumns:\n  - {name: arm, kind: category, levels: [maintained, not]}\n")

    def survival(self, train, schema, *words, parties=5):
        """{table: {row: {column: value}}} of the report."""
        self.succeed("simulate", "--method", "survival-exact", "--train", train, "--test", train, "--schema", schema, "--parties", str(parties), "--seed", "1",
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
        self.assertEqual(len(figures), 185)
        for parties in (1, 5, 20):
            small = min(parties, 5)  # 23 rows
            aml = ("--set", "width=1", "--set", "least=1", "--set", "by=arm", "--set", "until=100")
            told = {"wilms": self.survival(WILMS, SCHEMA, "--set", "width=30", "--set", "least=1", "--set", "by=stage", "--set", "until=5400", parties=parties),
                    "aml": self.survival(AML, "aml.yaml", *aml, parties=small),
                    "aml log-log": self.survival(AML, "aml.yaml", *aml, "--set", "interval=log-log", parties=small)}
            for case, table, row, *theirs in figures:
                ours = told[case][table][row]
                names = SHOWN if table.startswith("curve") else list(ours)
                self.assertEqual(len(names), len(theirs))
                for name, other in zip(names, theirs):
                    self.check(ours[name], other, (parties, case, table, row, name, ours, theirs))


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

    def test_fewer_rows_than_asked_for_are_refused(self):
        self.fail_with(1, "simulate", "--method", "survival-exact", "--train", AML, "--test", AML, "--schema", "aml.yaml", "--parties", "2", "--set", "by=arm",
                       "--set", "least=12", says=["fewer than 12 rows"])


if __name__ == "__main__":
    unittest.main()
