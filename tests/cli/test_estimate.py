#!/usr/bin/env python3
"""Method estimate against R's glm, and what it says where there is no estimate.

Figures of R are those in estimate/glm.csv, or fresh ones where Rscript is installed (estimate/glm.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_estimate.py
"""
import csv
import json
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

HERE = Path(__file__).resolve().parent / "estimate"
CELLS = str(HERE.parents[2] / "examples" / "breast_cancer.csv")
CLAIMS = str(HERE / "claims.csv")
PEOPLE = """columns:
  - {name: age, kind: number, low: 0, high: 100}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: region, kind: category, levels: [north, south, west]}
missing: error
strict: yes
"""
CASES = {
    "cells-logistic": (CELLS, """label: {name: diagnosis, classes: [benign, malignant]}
columns:
  - {name: mean_radius, kind: number, low: 5, high: 30}
  - {name: mean_texture, kind: number, low: 5, high: 45}
  - {name: mean_smoothness, kind: number, low: 0, high: 0.3}
"""),
    "cells-linear": (CELLS, """label: {name: mean_perimeter, kind: number, low: 20, high: 250}
columns:
  - {name: mean_texture, kind: number, low: 5, high: 45}
  - {name: mean_smoothness, kind: number, low: 0, high: 0.3}
  - {name: worst_concavity, kind: number, low: 0, high: 2}
"""),
    "claims-poisson": (CLAIMS, "label: {name: visits, kind: count, low: 0, high: 30}\n" + PEOPLE),
    "claims-logistic": (CLAIMS, 'label: {name: ill, classes: ["no", "yes"]}\n' + PEOPLE),
    "claims-linear": (CLAIMS, "label: {name: cost, kind: number, low: 0, high: 10000}\n" + PEOPLE),
}


def figures_of_r():
    if shutil.which("Rscript"):
        text = subprocess.run(["Rscript", HERE / "glm.R", CELLS, CLAIMS], capture_output=True, text=True, check=True,
                              timeout=600).stdout
    else:
        text = (HERE / "glm.csv").read_text()
    return list(csv.reader(text.splitlines()))[1:]


class EstimateTest(ProgramTest):
    def estimate(self, case, *words, parties=3, code=None, says=()):
        train, schema = CASES[case] if isinstance(case, str) else case
        self.write("schema.yaml", schema)
        command = ["simulate", "--method", "estimate", "--train", train, "--test", train, "--schema", "schema.yaml",
                   "--parties", str(parties), "--seed", "1", *words]
        if code is not None:
            return self.fail_with(code, *command, says=says)
        return json.loads(self.succeed(*command, "--json").stdout)["summary"]

    def close(self, ours, theirs, relative, what):
        self.assertLessEqual(abs(ours - theirs), relative * (abs(theirs) + 1e-300), what)


class AgainstR(EstimateTest):
    def check_cases(self, *words):
        tables = {case: self.estimate(case, *words) for case in CASES}
        rows = figures_of_r()
        self.assertEqual(len(rows), 4 + 4 + 5 + 5 + 5 + len(CASES))
        for case, name, *figures in rows:
            figures = [float(figure) for figure in figures]
            table = tables[case]
            if name == "fit":
                ours = [table[key] for key in
                        ("deviance", "null_deviance", "aic", "degrees", "null_degrees", "dispersion")]
            else:
                one = {entry["name"].replace("=", "").strip("()"): entry for entry in table["coefficients"]}[name]
                ours = [one[key] for key in ("estimate", "error", "statistic", "p", "low", "high")]
            for mine, theirs in zip(ours, figures):
                self.close(mine, theirs, 1e-6, (case, name, ours, figures))

    def test_newton_gives_the_figures_of_r(self):
        self.check_cases()

    def test_lbfgs_gives_the_figures_of_r(self):
        self.check_cases("--set", "optimiser=lbfgs")


class BetweenTwoServers(EstimateTest):
    def test_numbers_and_counts_have_the_figures_of_r(self):
        rows = figures_of_r()
        for case, method in (("cells-linear", "newton"), ("claims-linear", "privlogit-hessian"), ("claims-poisson", "newton")):
            train, schema = CASES[case]
            self.write("schema.yaml", schema)
            table = json.loads(self.succeed("simulate", "--method", method, "--train", train, "--test", train, "--schema", "schema.yaml", "--parties",
                                            "3", "--seed", "1", "--set", "engine=shares", "--set", "stop=converged", "--json").stdout)["summary"]
            for name, *figures in (row[1:] for row in rows if row[0] == case):
                if name == "fit":
                    ours = [table[key] for key in ("deviance", "null_deviance", "aic", "degrees", "null_degrees", "dispersion")]
                else:
                    one = {entry["name"].replace("=", "").strip("()"): entry for entry in table["coefficients"]}[name]
                    ours = [one[key] for key in ("estimate", "error", "statistic", "p", "low", "high")]
                for mine, theirs in zip(ours, map(float, figures)):
                    self.close(mine, theirs, 1e-5, (case, method, name, ours, figures))

    def test_counts_need_newton(self):
        train, schema = CASES["claims-poisson"]
        self.write("schema.yaml", schema)
        for method in ("privlogit-hessian", "privlogit-local"):
            self.fail_with(2, "simulate", "--method", method, "--train", train, "--schema", "schema.yaml", "--parties", "3",
                           says=["no constant matrix", "privlogit-local (no counts)"])


class Sums(EstimateTest):
    def test_any_number_of_parties_gives_the_same(self):
        for case, words in [(name, ()) for name in CASES] + [("claims-logistic", ("--set", "family=huber"))]:
            one = self.estimate(case, *words, parties=1)
            for parties in (2, 7):
                other = self.estimate(case, *words, parties=parties)
                for mine, theirs in zip(one["coefficients"], other["coefficients"]):
                    for key in ("estimate", "error", "low", "high"):
                        self.close(mine[key], theirs[key], 1e-9, (case, parties, key))

    def test_huber_has_robust_errors_and_no_deviance(self):
        table = self.estimate("cells-logistic", "--set", "family=huber")
        self.assertTrue(table["sandwich"])
        self.assertIsNone(table["deviance"])
        self.assertTrue(all(entry["error"] > 0 for entry in table["coefficients"]))

    def test_a_wider_level_gives_wider_intervals(self):
        usual, wide = self.estimate("claims-poisson"), self.estimate("claims-poisson", "--set", "level=0.99")
        for narrow, broad in zip(usual["coefficients"], wide["coefficients"]):
            ratio = (broad["high"] - broad["low"]) / (narrow["high"] - narrow["low"])
            self.assertAlmostEqual(ratio, 2.5758293035489 / 1.9599639845401, places=9)


class NoEstimate(EstimateTest):
    def rows(self, line, count=60):
        draw = random.Random(5)
        return self.write("rows.csv", "x,z,y\n" + "".join(line(draw) for _ in range(count)))

    def schema(self, label):
        return f"""label: {label}
columns:
  - {{name: x, kind: number, low: 0, high: 1}}
  - {{name: z, kind: number, low: 0, high: 2}}
"""

    def test_separated_classes_have_no_estimate_without_a_regulariser(self):
        def line(draw):
            x = draw.random()
            return f"{x:.6f},{draw.random():.6f},{int(x > 0.5)}\n"
        case = self.rows(line), self.schema("{name: y, classes: [0, 1]}")
        for optimiser in ("newton", "lbfgs"):
            self.estimate(case, "--set", f"optimiser={optimiser}", code=1,
                          says=["no finite estimate", "tells the classes apart", "lambda"])
        table = self.estimate(case, "--lambda", "1e-6")
        self.assertGreater(table["coefficients"][1]["estimate"], 10)

    def test_counts_of_zero_only_have_no_estimate(self):
        rows = "".join(f"{g},{draw}\n" for g in "ab" for draw in ([0] * 20 if g == "a" else [1, 2, 3, 0] * 5))
        schema = """label: {name: y, kind: count, low: 0, high: 9}
columns:
  - {name: g, kind: category, levels: [b, a]}
"""
        self.estimate((self.write("rows.csv", "g,y\n" + rows), schema), code=1, says=["no finite estimate", "0 only"])

    def test_columns_that_follow_from_others_are_named(self):
        def line(draw):
            x = round(draw.random(), 6)
            return f"{x},{2 * x:.6f},{draw.randint(0, 1)}\n"
        case = self.rows(line), self.schema("{name: y, classes: [0, 1]}")
        self.estimate(case, code=1, says=["have no coefficient: z follows from x;", "lambda"])
        self.estimate(case, "--lambda", "0.001")

    def test_a_level_that_nobody_has_is_named(self):
        train, schema = CASES["claims-poisson"]
        self.estimate((train, schema.replace("south, west]", "south, west, moon]")), code=1,
                      says=["region=moon has no rows at any party;"])

    def test_rows_that_are_not_linear_in_the_columns_are_refused(self):
        train, schema = CASES["claims-poisson"]
        self.estimate((train, schema + "rows: unit\n"), code=2, says=["rows: unit", "clip"])
        self.estimate((train, schema + "intercept: no\n"), code=2, says=["intercept: yes"])

    def test_shortened_rows_are_refused_and_a_clip_that_shortens_none_changes_nothing(self):
        train, schema = CASES["cells-logistic"]
        self.estimate((train, schema + "rows: {clip: 0.9}\n"), code=1, says=["23 rows are longer than the 0.9", "rows: bound"])
        wide = self.estimate((train, schema + "rows: {clip: 1.7}\n"))
        for ours, theirs in zip(wide["coefficients"], self.estimate("cells-logistic")["coefficients"]):
            self.close(ours["estimate"], theirs["estimate"], 1e-6, ours["name"])
        self.write("schema.yaml", schema + "rows: {clip: 0.9}\n")
        words = ("simulate", "--method", "newton", "--train", train, "--test", train, "--schema", "schema.yaml", "--parties", "3",
                 "--lambda", "1", "--set", "engine=shares")
        self.fail_with(1, *words, says=["rows: bound"])
        self.succeed(*words, "--set", "dp=200")  # with noise shortening is the owner's choice

    def test_a_class_method_refuses_a_number_and_the_reverse(self):
        train, schema = CASES["claims-linear"]
        self.write("schema.yaml", schema)
        self.fail_with(2, "simulate", "--method", "plr", "--train", train, "--schema", "schema.yaml", "--parties", "3",
                       "--epsilon", "1", says=["plr", "'cost'", "number", "estimate"])
        self.estimate("claims-logistic", "--set", "family=poisson", code=2, says=["numeric label"])
        self.estimate("claims-linear", "--set", "family=logistic", code=2, says=["two classes"])
        self.estimate("claims-linear", "--set", "family=poisson", code=2, says=["kind count"])

    def test_a_count_is_a_whole_number(self):
        case = self.write("rows.csv", "x,z,y\n1,1,2\n0,1,2.5\n"), self.schema("{name: y, kind: count, low: 0, high: 9}")
        self.estimate(case, parties=1, code=1, says=["row 2", "y is 2.5", "whole numbers"])


class Summary(EstimateTest):
    def test_a_kept_model_is_summarised_evaluated_and_used(self):
        printed = None
        for case in ("claims-poisson", "claims-linear"):
            self.estimate(case, "--out", "model.json")
            kept = json.loads(self.succeed("summary", "model.json", "--json").stdout)
            self.assertEqual(kept["coefficients"], self.estimate(case)["coefficients"])
            self.assertEqual((kept["parties"], kept["rows"], kept["private"]), (3, 240, False))
            figures = json.loads(self.succeed("evaluate", "model.json", CLAIMS, "--json").stdout)
            self.assertAlmostEqual(figures["deviance"] * 240, kept["deviance"], delta=1e-6 * kept["deviance"])
            answers = json.loads(self.succeed("predict", "model.json", CLAIMS, "--json").stdout)["predictions"]
            with open(CLAIMS) as file:
                truth = [float(row["visits" if case == "claims-poisson" else "cost"]) for row in csv.DictReader(file)]
            self.assertAlmostEqual(sum(one["predicted"] for one in answers), sum(truth), delta=1e-6 * sum(truth))
            printed = self.succeed("summary", "model.json").stdout
        for text in ("Estimate   Std. Error  t value  Pr(>|t|)", "family = gaussian", "Residual deviance", "AIC: 3580.9",
                     "no differential privacy", "region=west", "Signif. codes"):
            self.assertIn(text, printed)

    def test_no_regulariser_can_be_said(self):
        train, schema = CASES["cells-logistic"]
        self.write("schema.yaml", schema)
        words = ["simulate", "--train", train, "--schema", "schema.yaml", "--parties", "2", "--seed", "1"]
        told = self.succeed(*words, "--method", "estimate", "--lambda", "0", "--out", "said.json")
        self.assertIn("; lambda 0; seed 1", told.stdout)
        self.succeed(*words, "--method", "estimate", "--out", "unsaid.json")
        self.assertEqual((self.path / "said.json").read_bytes(), (self.path / "unsaid.json").read_bytes())
        self.fail_with(2, *words, "--method", "estimate,batch", "--lambda", "0", says=["batch", "--lambda must be above 0"])
        self.fail_with(2, *words, "--method", "estimate", "--lambda", "-1", says=["--lambda"])

    def test_other_models_have_no_summary(self):
        train, schema = CASES["cells-logistic"]
        self.write("schema.yaml", schema)
        self.succeed("simulate", "--method", "batch", "--train", train, "--schema", "schema.yaml", "--parties", "2",
                     "--out", "model.json")
        self.fail_with(2, "summary", "model.json", says=["batch", "estimate"])

    def test_chances_of_too_many_columns_are_not_blamed_on_epsilon(self):
        """One of twelve columns says little about 80 rows: on others chances are worse than the share of the classes, without any noise."""
        draw = random.Random(4)
        for name, count in (("train.csv", 80), ("test.csv", 400)):
            rows = ([draw.random() for _ in range(12)] for _ in range(count))
            self.write(name, ",".join(f"x{k}" for k in range(12)) + ",y\n" + "".join(
                ",".join(f"{one:.4f}" for one in row) + f",{'yes' if draw.random() < 0.3 + 0.4 * row[0] else 'no'}\n" for row in rows))
        self.write("schema.yaml", 'label: {name: y, classes: ["no", "yes"]}\ncolumns:\n' +
                   "".join(f"  - {{name: x{k}, kind: number, low: 0, high: 1}}\n" for k in range(12)))
        done = self.succeed("simulate", "--method", "estimate", "--train", "train.csv", "--test", "test.csv", "--schema", "schema.yaml", "--parties", "2", "--seed", "1")
        said = " ".join((done.stdout + done.stderr).split())
        self.assertIn("worse than each class's share for every test row", said)
        self.assertIn("more rows, fewer columns or terms, or a lambda above 0 helps", said)
        self.assertNotIn("larger epsilon", said)

    def test_a_draft_can_be_of_a_number_or_a_count(self):
        for response, column, text in (("number", "cost", "kind: number"), ("count", "visits", "low: 0\n  high: 11")):
            done = self.tacit("data", "draft-schema", CLAIMS, "--label", column, "--response", response)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(text, done.stdout)
            self.write("draft.yaml", done.stdout)
            self.succeed("data", "check", CLAIMS, "--schema", "draft.yaml")


if __name__ == "__main__":
    unittest.main(verbosity=2)
