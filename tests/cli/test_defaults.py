#!/usr/bin/env python3
"""Defaults that learn: on many rows with factors no method ends with the majority class because of its lambda, and where one does, or where only
noise can come of a study, a sentence says why before anybody consents.

    TACIT=build/src/cli/tacit tests/cli/test_defaults.py
"""
import csv
import json
import math
import os
import random
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_fit
from test_program import ProgramTest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FACTORS, LEVELS, NUMBERS = 6, 12, 4


def census(path, rows, seed):
    """Factors of a dozen levels and some numbers; a quarter of the rows are positive. Whoever knows the scores is right in some 82%."""
    draw = random.Random(seed)
    effects = [[random.Random(100 * f + k).gauss(0, 0.8) for k in range(LEVELS)] for f in range(FACTORS)]
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"f{i}" for i in range(FACTORS)] + [f"n{i}" for i in range(NUMBERS)] + ["rich"])
        for _ in range(rows):
            levels = [draw.randrange(LEVELS) for _ in range(FACTORS)]
            numbers = [draw.uniform(-1, 1) for _ in range(NUMBERS)]
            score = sum(effects[f][k] for f, k in enumerate(levels)) + 1.2 * sum(numbers) - 2.2
            out.writerow([f"l{k}" for k in levels] + [f"{x:.4f}" for x in numbers] + ["yes" if draw.gauss(0, 1.2) < score else "no"])


def schema(path):
    levels = ", ".join(f"l{k}" for k in range(LEVELS))
    lines = ['label: {name: rich, classes: ["no", "yes"]}', "columns:"]
    lines += [f"  - {{name: f{i}, kind: category, levels: [{levels}]}}" for i in range(FACTORS)]
    lines += [f"  - {{name: n{i}, kind: number, low: -1, high: 1}}" for i in range(NUMBERS)]
    Path(path).write_text("\n".join([*lines, "intercept: yes", ""]))


class Defaults(ProgramTest):
    def setUp(self):
        super().setUp()
        schema(self.path / "schema.yaml")
        census(self.path / "train.csv", 12000, 1)
        census(self.path / "test.csv", 4000, 2)
        test = (self.path / "test.csv").read_text().split()
        self.majority = sum(row.endswith("no") for row in test[1:]) / (len(test) - 1)

    def simulate(self, method, *words):
        done = self.succeed("simulate", "--method", method, "--train", "train.csv", "--test", "test.csv", "--schema", "schema.yaml",
                            "--parties", "4", "--epsilon", "1", "--delta", "1e-5", "--seed", "1", "--json", *words)
        return {run["method"]: run for run in json.loads(done.stdout)["runs"]}, done.stderr

    def test_no_default_gives_the_majority_class(self):
        runs, said = self.simulate("batch,indiv,dpgd,gop,plr")
        for name, least in (("batch", 0.06), ("indiv", 0.05), ("dpgd", 0.02), ("gop", 0.01), ("plr", 0.01)):
            with self.subTest(name):
                self.assertGreater(runs[name]["accuracy"]["mean"], self.majority + least)
                self.assertRegex(runs[name]["warning"] or "parties alone do better", "^parties alone do better")
        self.assertNotIn("same class", said)

    def test_a_lambda_that_gives_the_majority_class_is_named_as_the_cause(self):
        runs, said = self.simulate("batch,dpgd", "--lambda", "0.03")
        for run in runs.values():
            self.assertEqual(run["accuracy"]["mean"], self.majority)
            self.assertEqual((run["lambda"], run["lambda_from"]), (0.03, "given"))
            self.assertIn("every test row gets the same class: lambda 0.03", run["warning"])
        self.assertIn("leave it out", said)

    def test_no_method_is_silent_about_a_model_that_learnt_nothing(self):
        """Whatever the noise: a run that is no better than looking at no column has a warning, and one that is better has none."""
        header, *rows = (EXAMPLES / "wilms.csv").read_text().splitlines()
        held = rows[::5]
        (self.path / "rows.csv").write_text("\n".join([header, *(row for i, row in enumerate(rows) if i % 5 > 0), ""]))
        (self.path / "held.csv").write_text("\n".join([header, *held, ""]))
        with open(self.path / "held.csv") as file:
            majority = sum(row["relapse"] == "no" for row in csv.DictReader(file)) / len(held)
        share = -majority * math.log(majority) - (1 - majority) * math.log(1 - majority)
        silent, warned = 0, 0
        for methods in ("dpnewton,dpgd,gop,avg,pst-s,dpstgd,pate", "plr,output,soft"):
            done = self.succeed("simulate", "--method", methods, "--train", "rows.csv", "--test", "held.csv", "--schema", EXAMPLES / "wilms.schema.yaml",
                                "--parties", "20", "--aux-fraction", "0.2", "--epsilon", "0.3,3", "--delta", "1e-5" if "dpgd" in methods else "0", "--seed",
                                "1", "--json")
            for run in json.loads(done.stdout)["runs"]:
                with self.subTest(run["method"], epsilon=run["epsilon"]):
                    accuracy, auc, loss = (run[key]["mean"] for key in ("accuracy", "auc", "logloss"))
                    if accuracy <= majority and loss >= share and auc < 0.6:
                        self.assertRegex(run["warning"], "no better than the commonest class|every test row gets the same class|nothing but noise")
                        self.assertRegex(run["warning"], "more rows|parties|epsilon")
                        warned += 1
                    elif loss > share:
                        self.assertIsNotNone(run["warning"])
                    elif accuracy > majority:  # parties alone may do better still
                        self.assertRegex(run["warning"] or "parties alone do better", "^parties alone do better")
                        silent += 1
        self.assertTrue(warned > 0 and silent > 0, (warned, silent))

    def test_yardsticks_tune_lambda_and_are_near_the_best_of_a_grid(self):
        runs, _ = self.simulate("batch,indiv")
        for name, run in runs.items():
            self.assertEqual(run["lambda_from"], "cross-validation")
            grid = [self.simulate(name, "--lambda", value)[0][name]["logloss"]["mean"] for value in ("1e-6", "1e-5", "1e-4", "1e-3", "1e-2")]
            self.assertLess(run["logloss"]["mean"], min(grid) + 0.005)
        self.assertEqual(self.simulate("batch")[0]["batch"]["lambda"], runs["batch"]["lambda"])

    def test_a_choice_by_cross_validation_does_not_depend_on_the_order_of_rows(self):
        header, *rows = (self.path / "train.csv").read_text().splitlines()
        before = self.simulate("batch")[0]["batch"]
        random.Random(5).shuffle(rows)
        (self.path / "train.csv").write_text("\n".join([header, *rows, ""]))
        after = self.simulate("batch")[0]["batch"]
        self.assertEqual(after["lambda"], before["lambda"])

    def test_more_rows_parties_or_epsilon_never_raise_lambda(self):
        for method in ("dpgd", "gop", "plr", "output", "avg"):
            for flag, less, more in (("--rows", "50", "5000"), ("--parties", "4", "400"), ("--epsilon", "0.1", "10")):
                with self.subTest(method, flag=flag):
                    explain = [json.loads(self.succeed("explain", method, "--delta", "1e-5", flag, value, "--json").stdout) for value in (less, more)]
                    self.assertEqual({each["lambda_from"] for each in explain}, {"public numbers"})
                    self.assertGreaterEqual(explain[0]["lambda"], explain[1]["lambda"])

    def test_dpsgd_without_layers_chooses_lambda_and_few_rows_do_not_drown(self):
        linear = ("--set", "hidden=none", "--trials", "3")
        chosen = self.simulate("dpsgd", *linear)[0]["dpsgd"]
        self.assertEqual(chosen["lambda_from"], "public numbers")
        self.assertGreater(chosen["accuracy"]["mean"], self.majority + 0.02)
        lines = (self.path / "train.csv").read_text().splitlines()
        (self.path / "train.csv").write_text("\n".join(lines[:1001]) + "\n")
        few, none = (self.simulate("dpsgd", *linear, *more)[0]["dpsgd"] for more in ((), ("--lambda", "0")))
        self.assertGreater(few["lambda"], chosen["lambda"])
        self.assertEqual((none["lambda"], none["lambda_from"]), (0, "given"))
        self.assertLess(few["logloss"]["mean"], none["logloss"]["mean"])

    def test_dpsgd_with_layers_has_no_lambda_by_default(self):
        explained = json.loads(self.succeed("explain", "dpsgd", "--delta", "1e-5", "--json").stdout)
        self.assertEqual(explained["lambda"], 0)

    def test_explain_says_where_lambda_is_from(self):
        self.assertRegex(self.succeed("explain", "gop").stdout.replace("\n            ", " "), r"lambda 0\.0\d+ \(from public numbers: 1/\(n mu")
        self.assertIn("lambda by cross-validation", self.succeed("explain", "batch").stdout.replace("\n            ", " "))
        self.assertIn("lambda 0.5,", self.succeed("explain", "gop", "--lambda", "0.5").stdout.replace("\n            ", " "))



class Scaled(ProgramTest):
    """`rows: scaled` on rows whose schema bounds every number by hand. Seeds are fixed."""

    METHODS = "output,plr,gop,avg,dpgd"

    def losses(self, name, rows):
        text = (EXAMPLES / f"{name}.schema.yaml").read_text().splitlines()
        (self.path / "schema.yaml").write_text("\n".join([line for line in text if not line.startswith("rows:")] + [f"rows: {rows}", ""]))
        done = self.succeed("simulate", "--method", self.METHODS, "--train", EXAMPLES / f"{name}.csv", "--schema", "schema.yaml", "--parties", "5",
                            "--epsilon", "1", "--delta", "1e-5", "--trials", "4", "--seed", "1", "--json")
        return {run["method"]: run["logloss"]["mean"] for run in json.loads(done.stdout)["runs"]}

    def test_many_numbers_gain_and_categories_do_not_lose(self):
        for name, most in (("breast_cancer", 0.95), ("wilms", 1.02)):
            bound, scaled = self.losses(name, "bound"), self.losses(name, "scaled")
            for method in self.METHODS.split(","):
                with self.subTest(f"{name}, {method}"):
                    self.assertLess(scaled[method], most * bound[method])


class Hopeless(ProgramTest):
    """vote with four parties, of which only noise can come."""

    def definition(self, **changed):
        lines = {"name": "trial", "title": "A trial", "method": "vote", "epsilon": "1", "parties": "{expected: 4, minimum: 4}", "minimum_rows": "50",
                 "auxiliary": str(EXAMPLES / "breast_cancer.public.csv"), "schema": str(EXAMPLES / "breast_cancer.schema.yaml"), **changed}
        (self.path / "study.yaml").write_text("".join(f"{key}: {value}\n" for key, value in lines.items()))
        return "study.yaml"

    def test_a_study_is_refused_before_anybody_can_consent(self):
        done = self.tacit("study", "new", "consortium", self.definition())
        self.assertEqual(done.returncode, 3, done.stderr)
        for words in ("nothing but noise", "4 parties", "epsilon 1", "soft-stat", "--force"):
            self.assertIn(words, done.stderr)
        self.assertFalse((self.path / "consortium").exists())

    def test_force_adds_it_and_says_so(self):
        done = self.succeed("study", "new", "consortium", self.definition(), "--force")
        self.assertIn("warning: method vote: nothing but noise", done.stderr)

    def test_enough_epsilon_is_not_refused(self):
        self.succeed("study", "new", "consortium", self.definition(epsilon="1000"))

    def test_a_simulation_warns(self):
        done = self.succeed("simulate", "--method", "vote", "--train", str(EXAMPLES / "breast_cancer.csv"), "--schema",
                            str(EXAMPLES / "breast_cancer.schema.yaml"), "--aux-fraction", "0.2", "--parties", "4", "--epsilon", "1", "--seed", "1")
        self.assertIn("warning: vote at epsilon 1: nothing but noise", done.stderr)


class NoiseShares(ProgramTest):
    def shares(self, methods, *words):
        draw = random.Random(5)
        rows = [(draw.random(), draw.random()) for _ in range(4000)]
        (self.path / "rows.csv").write_text("a,b,y\n" + "".join(f"{a:.3f},{b:.3f},{'no yes'.split()[draw.random() < 1 / (1 + math.exp(6 * (b - a)))]}\n"
                                                                for a, b in rows))
        (self.path / "schema.yaml").write_text("label: {name: y, classes: [no, yes]}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 1}\n"
                                               "  - {name: b, kind: number, low: 0, high: 1}\nintercept: yes\n")
        done = self.succeed("simulate", "--method", methods, "--train", "rows.csv", "--schema", "schema.yaml", "--parties", "2", "--epsilon", "5",
                            "--seed", "1", "--json", *words)
        return {run["method"]: run["noise_share"] for run in json.loads(done.stdout)["runs"]}

    def test_noise_in_counts_is_not_taken_for_noise_in_weights(self):
        """A model of cells is made from counts: noise that is large beside its weights may be nothing beside those."""
        shares = self.shares("histogram,avg")
        self.assertIsNone(shares["histogram"])
        self.assertTrue(0 < shares["avg"] < 0.5, shares)

    def test_noise_is_that_of_the_rows_expected_where_parties_have_more_than_they_must(self):
        """The noise of avg is that of the fewest rows, whatever there are."""
        shares = self.shares("output,avg", "--minimum-rows", "20", "--lambda", "0.01")
        self.assertTrue(0 < shares["output"] < 0.5 < shares["avg"], shares)
        self.assertTrue(0 < self.shares("dpgd", "--minimum-rows", "20", "--delta", "1e-6")["dpgd"] < 0.01)


class Releases(ProgramTest):
    home, environment, tacit, fit = "home", test_fit.Fit.environment, test_fit.Fit.tacit, test_fit.Fit.fit

    def words(self, method, epsilon, *more):
        return ("fit", "--method", method, "--train", str(EXAMPLES / "wilms.csv"), "--schema", str(EXAMPLES / "wilms.schema.yaml"), "--epsilon",
                epsilon, *more)

    def limit(self, epsilon):
        self.succeed("ledger", "limit", "--source", str(EXAMPLES / "wilms.csv"), "--epsilon", epsilon, "--delta", "0")

    def test_a_release_says_which_lambda_and_why(self):
        self.limit("9")
        chosen, given = self.fit("plr", "1", "--out", "a.json"), self.fit("plr", "1", "--lambda", "0.5", "--out", "b.json")
        self.assertEqual((chosen["lambda_from"], given["lambda_from"], given["lambda"]), ("public numbers", "given", 0.5))
        self.assertLess(chosen["lambda"], 0.01)
        guarantee = json.loads((self.path / "a.json").read_text())["guarantee"]
        self.assertEqual((guarantee["lambda"], guarantee["lambda_from"]), (chosen["lambda"], "public numbers"))

    def test_a_model_that_says_the_same_of_everybody_is_called_so_from_its_weights(self):
        self.limit("2000")
        done = self.succeed(*self.words("plr", "1000", "--lambda", "0.3"))
        self.assertIn("would nearly all be called 'no'", done.stderr)
        done = self.succeed(*self.words("plr", "900", "--out", "b.json"))
        self.assertNotIn("nearly all", done.stderr)


if __name__ == "__main__":
    unittest.main()
