#!/usr/bin/env python3
"""Terms of a formula: method estimate against R's glm, files and models, and what is said of a formula that does not work.

Figures of R are those in terms/glm.csv, or fresh ones where Rscript is installed (terms/glm.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_terms.py
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

HERE = Path(__file__).resolve().parent / "terms"
WILMS = str(HERE.parents[2] / "examples" / "wilms.csv")
LABELS = {"binomial": '{name: relapse, classes: ["no", "yes"]}', "poisson": "{name: unfavourable, kind: count, low: 0, high: 1}",
          "gaussian": "{name: age, kind: number, low: 0, high: 200}"}
COLUMNS = {"unfavourable": "kind: number, low: 0, high: 1", "stage": 'kind: category, levels: ["1", "2", "3", "4"]',
           "late_unfavourable": "kind: number, low: 0, high: 1", "age": "kind: number, low: 0, high: 200",
           "study": "kind: number, low: 3, high: 4"}
KEYS = ("estimate", "error", "statistic", "p", "low", "high")
FIT = ("deviance", "null_deviance", "aic", "degrees", "null_degrees", "dispersion")


def cases():
    with open(HERE / "cases.csv") as file:
        return list(csv.DictReader(file))


def figures_of_r():
    if shutil.which("Rscript"):
        text = subprocess.run(["Rscript", HERE / "glm.R", WILMS, HERE / "cases.csv"], capture_output=True, text=True, check=True,
                              timeout=120).stdout
    else:
        text = (HERE / "glm.csv").read_text()
    return [line.split("|") for line in text.splitlines()[1:]]


class TermsTest(ProgramTest):
    def schema(self, family="binomial", more="", **columns):
        label = LABELS[family]
        lines = [f"  - {{name: {name}, {columns.get(name, text)}}}" for name, text in COLUMNS.items() if f"name: {name}," not in label]
        return self.write(f"{family}.yaml", f"label: {label}\ncolumns:\n" + "\n".join(lines) + "\n" + more)

    def estimate(self, formula, family="binomial", parties=1, words=()):
        return json.loads(self.succeed("simulate", "--method", "estimate", "--train", WILMS, "--test", WILMS, "--schema",
                                       self.schema(family), "--parties", str(parties), "--seed", "1", "--terms", formula, *words,
                                       "--json").stdout)["summary"]

    def refused(self, formula, *says, family="binomial"):
        return self.fail_with(2, "simulate", "--method", "estimate", "--train", WILMS, "--schema", self.schema(family), "--parties",
                              "2", "--terms", formula, says=says)


class AgainstR(TermsTest):
    def compare(self, parties, words=(), chosen=None):
        figures = {}
        for case, name, *numbers in figures_of_r():
            figures.setdefault(case, []).append((name, [float(number) for number in numbers]))
        for case in cases():
            if chosen is not None and case["case"] not in chosen:
                continue
            with self.subTest(**case):
                ours = self.estimate(case["formula"], case["family"], parties, words)
                *theirs, (_, fit) = figures[case["case"]]
                self.assertEqual([one["name"] for one in ours["coefficients"]], [name for name, _ in theirs])
                for one, (name, numbers) in zip(ours["coefficients"], theirs):
                    for key, number in zip(KEYS, numbers):
                        scale = one["error"] if key in ("estimate", "low", "high") else 1
                        self.assertLessEqual(abs(one[key] - number), 1e-6 * (abs(number) + scale), (name, key, one[key], number))
                for key, number in zip(FIT, fit):
                    self.assertLessEqual(abs(ours[key] - number), 1e-6 * abs(number), (key, ours[key], number))

    def test_one_party_gives_names_and_figures_of_r(self):
        self.compare(1)

    def test_five_parties_give_the_same(self):
        self.compare(5)

    def test_twenty_parties_give_the_same(self):
        self.compare(20)

    def test_lbfgs_gives_the_same(self):
        self.compare(3, ("--set", "optimiser=lbfgs"), {"crossed", "spline", "offset", "counts", "numbers"})


if __name__ == "__main__":
    unittest.main()
