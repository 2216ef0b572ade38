#!/usr/bin/env python3
"""bias=firth of method estimate against brglm2, for 1, 5 and 20 parties, and the sentences where there is no estimate. The rows of breast cancer, tumours,
lungs and absent children are real; those of claims.csv are made up.

Figures of brglm2 are those in estimate/firth.csv, or fresh ones where R has the package (estimate/firth.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_firth.py
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
from test_regression import CASES as REGRESSIONS

HERE = Path(__file__).resolve().parent / "estimate"
EXAMPLES = HERE.parents[2] / "examples"
FILES = [EXAMPLES / "breast_cancer.csv", EXAMPLES / "wilms.csv", HERE / "claims.csv", EXAMPLES / "lung.csv",
         HERE.parent / "regression" / "quine.csv"]
CELLS = """label: {name: diagnosis, classes: [benign, malignant]}
columns:
  - {name: mean_radius, kind: number, low: 5, high: 30}
  - {name: worst_texture, kind: number, low: 5, high: 60}
  - {name: worst_concavity, kind: number, low: 0, high: 2}
"""
WILMS = """label: {name: relapse, classes: ["no", "yes"]}
columns:
  - {name: unfavourable, kind: number, low: 0, high: 1}
  - {name: stage, kind: category, levels: ["1", "2", "3", "4"]}
  - {name: late_unfavourable, kind: %s}
  - {name: age, kind: number, low: 0, high: 200}
  - {name: study, kind: %s}
"""
WILMS_ALL = WILMS % ("number, low: 0, high: 1", "number, low: 3, high: 4")
WILMS_FEW = WILMS % ("skip", "skip")
CLAIMS = """label: {name: visits, kind: count, low: 0, high: 30}
columns:
  - {name: age, kind: number, low: 0, high: 100}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: region, kind: category, levels: [north, south, west]}
missing: error
strict: yes
"""


def quiet(line):
    return ",west," not in line or line.split(",")[3] == "0"


# a name: the schema, a file, and which of its lines
CASES = {
    "cells": (CELLS, FILES[0], lambda lines: lines[:40]),  # told apart without error
    "wilms": (WILMS_ALL, FILES[1], lambda lines: lines),
    "wilms-few": (WILMS_FEW, FILES[1], lambda lines: lines[100:180]),  # no relapse at stage 2
    "claims": (CLAIMS, FILES[2], lambda lines: lines),
    "claims-quiet": (CLAIMS, FILES[2], lambda lines: [line for line in lines if quiet(line)]),  # counts of 0 in the west
    "lung": (REGRESSIONS["lung"][1], FILES[3], lambda lines: lines),
    "absent": (REGRESSIONS["absent"][1], FILES[4], lambda lines: lines),
}


def figures_of_r():
    has = shutil.which("Rscript") and subprocess.run(
        ["Rscript", "-e", 'quit(status = !requireNamespace("brglm2", quietly = TRUE))'], capture_output=True,
        timeout=600).returncode == 0
    if has:
        text = subprocess.run(["Rscript", HERE / "firth.R", *FILES], capture_output=True, text=True, check=True,
                              timeout=600).stdout
    else:
        text = (HERE / "firth.csv").read_text()
    return list(csv.reader(text.splitlines()))[1:]


class FirthTest(ProgramTest):
    def rows_of(self, case):
        schema, file, choose = CASES[case]
        head, *lines = file.read_text().splitlines()
        return self.write(f"{case}.csv", "\n".join([head, *choose(lines)]) + "\n"), schema

    def command(self, rows, schema, *words, parties=3):
        return ["simulate", "--method", "estimate", "--train", rows, "--test", rows, "--schema",
                self.write("schema.yaml", schema), "--parties", str(parties), "--seed", "1", *words]

    def firth(self, rows, schema, **more):
        done = self.succeed(*self.command(rows, schema, "--set", "bias=firth", **more), "--json")
        return json.loads(done.stdout)["summary"]


class AgainstBrglm2(FirthTest):
    def near(self, ours, theirs, what):
        self.assertEqual(len(ours), len(theirs), what)
        for mine, other in zip(ours, theirs):
            self.assertLessEqual(abs(mine - other), 1e-6 * (abs(other) + 1e-3), (what, ours, theirs))

    def test_any_number_of_parties_gives_the_figures_of_brglm2(self):
        figures = figures_of_r()
        self.assertEqual(len(figures), 2 * (4 + 8 + 6 + 5 + 5 + 6 + 7 + len(CASES)))
        for case in CASES:
            rows, schema = self.rows_of(case)
            for parties in (1, 5, 20):
                table = self.firth(rows, schema, parties=parties)
                self.assertEqual(table["bias"], "firth")
                named = {one["name"].replace("=", "").strip("()"): one for one in table["coefficients"]}
                for at, _, name, *theirs in figures:
                    theirs = [float(figure) for figure in theirs]
                    if at != case:
                        continue
                    if name == "fit":  # brglm2's null model is another one than glm's
                        ours = [table[key] for key in ("deviance", "aic", "penalised_log_likelihood")]
                        theirs = [theirs[0], theirs[2], theirs[3]]
                    else:
                        ours = [named[name][key] for key in ("estimate", "error", "statistic", "p", "low", "high")]
                    self.near(ours, theirs, (case, parties, name))

    def test_the_summary_names_the_penalty(self):
        rows, schema = self.rows_of("wilms-few")
        self.succeed(*self.command(rows, schema, "--set", "bias=firth", "--out", "model.json"))
        self.assertIn("Firth's penalty; penalised log-likelihood: -26.329", self.succeed("summary", "model.json").stdout)

    def test_what_does_not_go_with_the_penalty_is_refused(self):
        rows, schema = self.rows_of("wilms-few")
        for words, says in ((("--lambda", "0.1"), "leave lambda out"), (("--set", "optimiser=lbfgs"), "optimiser=newton"),
                            (("--set", "family=huber"), "families logistic and poisson")):
            self.fail_with(2, *self.command(rows, schema, "--set", "bias=firth", *words), says=[says])


class Sentences(FirthTest):
    """Where there is no estimate: what does it, and what to do."""

    def refuse(self, rows, schema, *says):
        for parties in (1, 5, 20):
            self.fail_with(1, *self.command(rows, schema, parties=parties), says=says)

    def test_a_level_without_a_positive_outcome_is_named_with_its_rows(self):
        self.refuse(*self.rows_of("wilms-few"), "stage=2 has no positive outcome (yes) at any party: 17 rows in all",
                    "Set bias: firth", "lambda above 0", "merge the level")

    def test_levels_and_cells_of_terms_are_named_too(self):
        rows, schema = self.rows_of("wilms-few")
        for terms, says in (("relapse ~ stage + log(age + 1)", "stage2 has no positive outcome (yes) at any party: 17 rows in all"),
                            ("relapse ~ age*stage", "stage2 has no positive outcome (yes) at any party: 17 rows in all"),
                            ("relapse ~ factor(unfavourable)*stage", "stage2 has no positive outcome (yes) at any party: 17 rows in all")):
            with self.subTest(terms):
                done = self.tacit(*self.command(rows, schema), "--terms", terms)
                self.assertEqual(done.returncode, 1)
                self.assertIn(says, done.stderr)

    def test_a_first_level_and_a_value_of_a_column_are_named_too(self):
        draw = random.Random(3)
        lines = [f"{level},{flag},{draw.choice('01') if level == 'b' and flag == '0' else 1}"
                 for level in "ab" for flag in ("0", "0", "0", "1") for _ in range(8)]
        rows = self.write("rows.csv", "g,f,y\n" + "\n".join(lines) + "\n")
        schema = """label: {name: y, classes: ["0", "1"]}
columns:
  - {name: g, kind: category, levels: [a, b]}
  - {name: f, kind: number, low: 0, high: 1}
"""
        self.refuse(rows, schema, "f=1 has positive outcomes only (1) at any party: 16 rows in all",
                    "g=a has positive outcomes only (1) at any party: 32 rows in all")
        self.assertTrue(all(abs(one["estimate"]) < 10 for one in self.firth(rows, schema)["coefficients"]))

    def test_counts_of_zero_only_are_named(self):
        self.refuse(*self.rows_of("claims-quiet"), "region=west has counts of 0 only at any party")

    def test_columns_that_tell_classes_apart_together_are_named_by_their_direction(self):
        draw = random.Random(5)
        lines = []
        for _ in range(80):
            a, b, c = draw.random(), draw.random(), draw.random()
            lines.append(f"{a:.6f},{b:.6f},{c:.6f},{int(a - b > 0.1)}")
        rows = self.write("rows.csv", "a,b,c,y\n" + "\n".join(lines) + "\n")
        schema = 'label: {name: y, classes: ["0", "1"]}\ncolumns:\n' + "".join(
            f"  - {{name: {name}, kind: number, low: 0, high: 1}}\n" for name in "abc")
        self.refuse(rows, schema, "no finite estimate", "a (upwards)", "b (downwards)", "set bias: firth")

    def test_columns_that_follow_from_others_are_named_with_those(self):
        draw = random.Random(8)
        lines = []
        for _ in range(60):
            a, b = draw.randrange(50), draw.randrange(50)
            lines.append(f"{a},{b},{2 * a - b},7,{draw.randrange(2)}")
        rows = self.write("rows.csv", "a,b,c,k,y\n" + "\n".join(lines) + "\n")
        schema = """label: {name: y, classes: ["0", "1"]}
columns:
  - {name: a, kind: number, low: 0, high: 50}
  - {name: b, kind: number, low: 0, high: 50}
  - {name: c, kind: number, low: -50, high: 100}
"""
        self.refuse(rows, schema, "c follows from a and b;")
        self.refuse(rows, schema.replace("low: -50", "low: -60"), "a combination of a, b and c never varies")
        constant = schema.replace("{name: c,", "{name: d, kind: skip}\n  - {name: k,").replace("-50, high: 100", "0, high: 10")
        self.refuse(self.write("rows.csv", "a,b,d,k,y\n" + "\n".join(lines) + "\n"), constant, "k never varies")

    def test_levels_without_rows_are_named(self):
        rows, schema = self.rows_of("wilms-few")
        self.refuse(rows, schema.replace('"4"]', '"4", "5"]'), "stage=5 has no rows at any party")
        self.refuse(rows, schema.replace('["1", ', '["0", "1", '),
                    "stage=0, with which the column's levels are compared, has no rows at any party")


if __name__ == "__main__":
    unittest.main(verbosity=2)
