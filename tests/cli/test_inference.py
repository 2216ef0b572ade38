#!/usr/bin/env python3
"""dpnewton with purpose=inference: R's table with the noise in it, what it says where the price is too low, and targets to stop at.

    TACIT=build/src/cli/tacit tests/cli/test_inference.py
"""
import json
import math
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

COLUMNS = """columns:
  - {name: age, kind: number, low: 20, high: 90}
  - {name: dose, kind: number, low: 0, high: 10}
  - {name: sex, kind: category, levels: [f, m]}
"""
LABELS = {"ill": "label: {name: ill, classes: [no, yes]}\n", "pressure": "label: {name: pressure, kind: number, low: 60, high: 240}\n"}
TRUE = {"ill": (-3, 0.03, 0.15, 0.5), "pressure": (100, 0.4, 1.5, 5)}


class Inference(ProgramTest):
    def setUp(self):
        super().setUp()
        draw, lines = random.Random(3), ["age,dose,sex,ill,pressure"]
        for _ in range(8000):
            age, dose, male = min(90, max(20, draw.gauss(55, 12))), 10 * draw.random(), draw.random() < 0.5
            score = sum(b * x for b, x in zip(TRUE["ill"], (1, age, dose, male)))
            mean = sum(b * x for b, x in zip(TRUE["pressure"], (1, age, dose, male)))
            ill = draw.random() < 1 / (1 + math.exp(-score))
            lines.append(f"{age:.3f},{dose:.3f},{'fm'[male]},{'yes' if ill else 'no'},{draw.gauss(mean, 12):.3f}")
        self.write("rows.csv", "\n".join(lines) + "\n")
        for label, text in LABELS.items():
            self.write(label + ".yaml", text + COLUMNS)

    def words(self, label, method="dpnewton", epsilon=None, *more):
        private = ["--set", "purpose=inference", "--epsilon", str(epsilon), "--delta", "1e-5"] if epsilon else []
        return ["simulate", "--method", method, "--train", "rows.csv", "--test", "rows.csv", "--schema", label + ".yaml", "--parties", "5",
                "--seed", "1", *private, *more]

    def summary(self, *words):
        return json.loads(self.succeed(*self.words(*words), "--json").stdout)["summary"]

    def test_without_noise_it_is_the_table_of_estimate(self):
        for label in LABELS:
            exact, ours = self.summary(label, "estimate"), self.summary(label, "dpnewton", "inf")
            for mine, theirs in zip(ours["coefficients"], exact["coefficients"]):
                self.assertEqual(mine["name"], theirs["name"])
                self.assertLess(abs(mine["estimate"] - theirs["estimate"]), 1e-3 * theirs["error"], mine)
                # The sandwich's errors differ from the model's by chance.
                self.assertLess(abs(mine["error"] / theirs["error"] - 1), 0.05, mine)

    def test_with_noise_errors_are_larger_and_say_by_how_much(self):
        for label in LABELS:
            for noise in ("coordinator", "shares", "party"):
                exact = self.summary(label, "estimate")
                ours = self.summary(label, "dpnewton", 4, "--set", "noise=" + noise)
                self.assertEqual(len(ours["covariance"]), 4)
                for i, (mine, theirs, true) in enumerate(zip(ours["coefficients"], exact["coefficients"], TRUE[label])):
                    share = ours["noise_share"][i]
                    self.assertTrue(0 < share < 1)
                    self.assertGreater(mine["error"], 0.95 * theirs["error"])
                    self.assertAlmostEqual(mine["error"] ** 2, ours["covariance"][i][i], delta=1e-9 * mine["error"] ** 2)
                    # Six standard errors: by chance with probability below 2e-9, and the seed is fixed.
                    self.assertLess(abs(mine["estimate"] - true), 6 * mine["error"], (label, noise, mine))

    def test_a_model_keeps_its_table_and_the_summary_shows_the_noise(self):
        self.succeed(*self.words("ill", "dpnewton", 4, "--out", "model.json"))
        shown = self.succeed("summary", "model.json").stdout
        for text in ("Noise", "Std. Error", "z value", "sex=m", "include the noise", "Promised: epsilon 3.99"):
            self.assertIn(text, shown)
        self.assertNotIn("nan", shown)
        self.assertNotIn("lambda", shown)
        with open(os.path.join(self.path, "model.json")) as file:
            model = json.load(file)
        del model["estimates"]["covariance"][0]
        self.write("damaged.json", json.dumps(model))
        self.assertNotEqual(self.tacit("summary", "damaged.json").returncode, 0)

    def test_at_a_price_that_is_too_low_it_says_what_would_do(self):
        for label in LABELS:
            told = self.summary(label, "dpnewton", 0.02)
            needs = told["not_estimable"]
            self.assertGreater(needs["rows"], 8000)
            self.assertGreater(needs["epsilon"], 0.02)
            self.assertTrue(all(one["estimate"] is None for one in told["coefficients"]))
            shown = self.succeed(*self.words(label, "dpnewton", 0.02)).stdout
            self.assertIn("not estimable at this price: needs about", shown)
            self.assertIn("or epsilon", shown)
            self.assertNotIn("nan", shown)
            # What it asks for is enough.
            enough = self.summary(label, "dpnewton", needs["epsilon"])
            self.assertNotIn("not_estimable", enough)

    def test_targets_can_be_stopped_at(self):
        stop = "{width: {column: age, at_most: %g}}"
        for limit, met in ((0.05, True), (1e-4, False)):
            told = json.loads(self.succeed(*self.words("ill", "dpnewton", 4, "--stop", stop % limit, "--json")).stdout)
            self.assertEqual([look["met"] for look in told["looks"]][-1], met)

    def test_what_it_does_not_take_is_refused(self):
        self.write("clip.yaml", LABELS["ill"] + COLUMNS + "rows: {clip: 2}\n")
        self.fail_with(2, *self.words("clip", "dpnewton", 1), says=["rows: bound"])
        self.fail_with(2, *self.words("ill", "dpnewton", 1, "--set", "rounds=4"), says=["leave 'rounds' out"])


if __name__ == "__main__":
    unittest.main()
