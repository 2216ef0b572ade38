#!/usr/bin/env python3
"""Tests of terms by Wald's statistic and by likelihood ratios inside one fit, and robust errors and Firth's penalty beside an offset or weights,
against R.

Figures of R are those in anova/anova.csv, or fresh ones where Rscript and its packages are installed (anova/anova.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_anova.py
"""
import csv
import functools
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

HERE = Path(__file__).resolve().parent / "anova"
WILMS = str(HERE.parents[2] / "examples" / "wilms.csv")
PACKAGES = "for (p in c('MASS', 'nnet', 'sandwich', 'brglm2')) if (!requireNamespace(p, quietly = TRUE)) quit(status = 1)"
LABELS = {"binomial": ("relapse", 'classes: ["no", "yes"]'), "poisson": ("unfavourable", "kind: count, low: 0, high: 1"),
          "gaussian": ("age", "kind: number, low: 0, high: 200"), "ordinal": ("stage", 'classes: ["1", "2", "3", "4"]'),
          "multinomial": ("stage", 'classes: ["1", "2", "3", "4"]')}
EXAMPLES = HERE.parents[2] / "examples"
# Two more sets; rows that lack something that the formula asks are left out, as in R.
SETS = {"lung": ("died ~ sex * age + factor(ecog)", """label: {name: died, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 0, high: 100}
  - {name: sex, kind: category, levels: [female, male]}
  - {name: ecog, kind: category, levels: ["0", "1", "2"], others: "2", missing: complete-case}
"""), "pbc": ("death ~ sex * age + log(bili) + factor(stage)", """label: {name: death, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 0, high: 100}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: bili, kind: number, low: 0.1, high: 50}
  - {name: stage, kind: category, levels: ["1", "2", "3", "4"], missing: complete-case}
""")}
COLUMNS = {"unfavourable": "kind: number, low: 0, high: 1", "stage": 'kind: category, levels: ["1", "2", "3", "4"]',
           "age": "kind: number, low: 0, high: 200", "study": "kind: number, low: 3, high: 4"}


@functools.lru_cache
def figures_of_r():
    if shutil.which("Rscript") and subprocess.run(["Rscript", "-e", PACKAGES], capture_output=True, timeout=600).returncode == 0:
        text = subprocess.run(["Rscript", HERE / "anova.R", WILMS, HERE / "cases.csv"], capture_output=True, text=True, check=True,
                              timeout=600).stdout
        sets = subprocess.run(["Rscript", HERE / "sets.R", EXAMPLES / "lung.csv", EXAMPLES / "pbc.csv"], capture_output=True, text=True, check=True,
                              timeout=600).stdout
    else:
        text, sets = (HERE / "anova.csv").read_text(), (HERE / "sets.csv").read_text()
    figures = {}
    for line in text.splitlines()[1:] + sets.splitlines()[1:]:
        case, what, name, *numbers = line.split("|")
        figures.setdefault((case, what), []).append((name, [float(number) for number in numbers]))
    return figures


class AnovaTest(ProgramTest):
    def estimate(self, case, parties, *more):
        label, about = LABELS[case["family"]]
        lines = [f"  - {{name: {name}, {text}}}" for name, text in COLUMNS.items() if name != label]
        schema = self.write("schema.yaml", f"label: {{name: {label}, {about}}}\ncolumns:\n" + "\n".join(lines) + "\n")
        family = ("--set", "family=ordinal") if case["family"] == "ordinal" else ()
        return json.loads(self.succeed("simulate", "--method", "estimate", "--train", WILMS, "--test", WILMS, "--schema", schema, "--parties",
                                       str(parties), "--seed", "1", "--terms", case["formula"], "--set", case["settings"], *family, *more,
                                       "--json").stdout)["summary"]

    def near(self, ours, theirs, about):
        self.assertLessEqual(abs(ours - theirs), 1e-6 * (abs(theirs) + 1e-3), (about, ours, theirs))

    def check_terms(self, name_of_case, ours):
        """Those of an analysis of deviance; how many kinds were compared."""
        compared = 0
        for kind in ("drop1", "sequential"):
            theirs = figures_of_r().get((name_of_case, kind), [])
            if not theirs or ours.get("anova", {}).get("kind") != kind:
                continue
            self.assertEqual([one["name"] for one in ours["anova"]["terms"]], [name for name, _ in theirs])
            for one, (name, numbers) in zip(ours["anova"]["terms"], theirs):
                for key, number in zip(("degrees", "deviance", "statistic", "p"), numbers):
                    # a difference of deviances of some thousands is only as exact as they are
                    self.assertLessEqual(abs(one[key] - number), 1e-6 * (abs(number) + 1e-2 + (key == "statistic")), (name, key, one[key], number))
            compared += 1
        return compared

    def check(self, case, parties):
        ours, figures = self.estimate(case, parties), figures_of_r()
        for name, numbers in figures.get((case["case"], "wald"), []):
            one = next(term for term in ours["terms"] if term["name"] == name)
            for key, number in zip(("degrees", "statistic", "p"), numbers):
                self.near(one[key], number, (name, key))
        self.assertEqual(self.check_terms(case["case"], ours), sum((case["case"], kind) in figures for kind in ("drop1", "sequential")))
        for name, numbers in figures.get((case["case"], "coefficient"), []):
            one = next(row for row in ours["coefficients"] if row["name"].replace("|", "/") == name)
            for key, number in zip(("estimate", "error"), numbers):
                self.near(one[key], number, (name, key))

    def test_every_case_is_as_in_r(self):
        with open(HERE / "cases.csv") as file:
            for case in csv.DictReader(file):
                for parties in (1, 5, 20):
                    with self.subTest(**case, parties=parties):
                        self.check(case, parties)

    def test_two_more_sets_are_as_in_r(self):
        for name, (formula, text) in SETS.items():
            rows, schema = str(EXAMPLES / f"{name}.csv"), self.write("more.yaml", text)
            for parties, kind in ((1, "drop1"), (5, "drop1"), (20, "drop1"), (5, "sequential")):
                with self.subTest(name, parties=parties, kind=kind):
                    ours = json.loads(self.succeed("simulate", "--method", "estimate", "--train", rows, "--test", rows, "--schema", schema, "--parties",
                                                   str(parties), "--seed", "1", "--terms", formula, "--set", f"anova={kind}", "--json").stdout)["summary"]
                    self.assertEqual(self.check_terms(name, ours), 1)

    def test_robust_errors_of_completed_sets_are_pooled(self):
        """Rows that lack nothing are the same in all sets: the errors are those of one, and t has the degrees of freedom of Rubin's rules."""
        columns = '  - {name: stage, kind: category, levels: ["1", "2", "3", "4"]}\n  - {name: age, kind: number, low: 0, high: 200}\n'
        schema = 'label: {name: relapse, classes: ["no", "yes"]}\ncolumns:\n' + columns
        words = ("simulate", "--method", "estimate", "--train", WILMS, "--test", WILMS, "--parties", "3", "--seed", "1", "--set", "errors=HC1", "--json")
        plain = json.loads(self.succeed(*words, "--schema", self.write("a.yaml", schema)).stdout)["summary"]
        sets = json.loads(self.succeed(*words, "--set", "impute=3", "--schema",
                                       self.write("b.yaml", schema + "missing: impute\n")).stdout)["summary"]
        self.assertEqual(sets["errors"], "HC1")
        for mine, theirs in zip(sets["coefficients"], plain["coefficients"]):
            self.near(mine["estimate"], theirs["estimate"], mine["name"])
            self.near(mine["error"], theirs["error"], mine["name"])

    def test_terms_are_printed(self):
        case = {"family": "binomial", "formula": "relapse ~ unfavourable * stage + age", "settings": "anova=drop1"}
        self.estimate(case, 2, "--out", "model.json")
        printed = self.succeed("summary", "model.json").stdout
        self.assertIn("Terms (Wald's test", printed)
        self.assertRegex(printed, r"Single terms left out \(likelihood ratio\):\n +Df +Deviance +LRT +Pr\(>Chi\)\n<none> +2889.98\n")
        self.assertRegex(printed, r"unfavourable:stage +3 +2909.49 +19.5139 +0.00021 \*\*\*")

    def test_what_is_not_defined_is_refused_with_a_reason(self):
        rows = WILMS
        schema = self.write("s.yaml", 'label: {name: relapse, classes: ["no", "yes"]}\ncolumns:\n  - {name: age, kind: number, low: 0, high: 200}\n'
                            "  - {name: study, kind: number, low: 3, high: 4}\n")
        for words, says in ((("--set", "anova=drop1", "--set", "bias=firth"), "without a penalty"),
                            (("--set", "anova=drop1", "--lambda", "0.1"), "without a penalty"),
                            (("--set", "anova=drop1", "--set", "family=huber"), "no likelihood"),
                            (("--set", "errors=HC0", "--set", "bias=firth"), "without a penalty"),
                            (("--set", "influence=yes", "--terms", "~ age + weights(study)"), "rows that count once each")):
            self.fail_with(2, "simulate", "--method", "estimate", "--train", rows, "--schema", schema, "--parties", "2", *words, says=[says])


if __name__ == "__main__":
    unittest.main(verbosity=2)
