#!/usr/bin/env python3
"""What is simulated is what is deployed: for each method the log-loss of models from real processes, noise and all, lies as far from that of a model
without noise as the simulation of the same plan has it, in distribution.

Real noise has no seed, so the two are compared as samples, by the two-sided test of Kolmogorov and Smirnov with its exact p-value, which is never
too small where there are ties. Four methods at 2.5e-7 each: this test fails by chance once in a million runs. The control is a simulation without noise to speak of,
which the same test must tell apart from as many simulated models with it: both have seeds, so that the control never fails by chance.

    TACIT=build/src/cli/tacit tests/service/test_distribution.py
"""
import json
import os
import random
import statistics
import sys
import unittest
from fractions import Fraction

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

PARTIES, ROWS, DEPLOYED, SIMULATED, LEAST = range(4), 40, 10, 40, 2.5e-7


def distance(first, second):
    """The largest difference between the two distribution functions, times both counts."""
    at = sorted(set(first) | set(second))
    return max(abs(sum(v <= t for v in first) * len(second) - sum(v <= t for v in second) * len(first)) for t in at)


def p_value(first, second):
    """The part of all orders of the two samples whose distance is no less: paths on a grid that leave the band."""
    m, n, reached = len(first), len(second), distance(first, second)
    inside = [1] + [0] * n
    for i in range(m + 1):
        for j in range(n + 1):
            if (i, j) == (0, 0):
                continue
            before = (inside[j] if i > 0 else 0) + (inside[j - 1] if j > 0 else 0)
            inside[j] = before if abs(i * n - j * m) < reached else 0
    orders = 1
    for k in range(1, m + 1):
        orders = orders * (n + k) // k
    return float(1 - Fraction(inside[n], orders)) if reached > 0 else 1.0


class Distribution(DeployedTest):
    def setUp(self):
        super().setUp()
        draw, lines = random.Random(77), ["age,dose,sick"]
        for _ in range(1000):
            age, dose = draw.random(), draw.random()
            lines.append(f"{age:.6f},{dose:.6f},{'yes' if age - dose + draw.gauss(0, 0.2) > 0 else 'no'}")
        (self.path / "test.csv").write_text("\n".join(lines) + "\n")
        (self.path / "all.csv").write_text("age,dose,sick,site\n" + "".join(
            f"{line},{party}\n" for party in PARTIES for line in self.rows(party).read_text().split()[1:]))

    def deployed(self, keys):
        """One model after the other, by real processes."""
        found, names = [], [f"trial{k}" for k in range(DEPLOYED)]
        for name in names:
            self.study(name, **keys)
        self.coordinator()
        for name in names:
            parties = [self.join(party, study=name, epsilon=1000) for party in PARTIES]
            for process in parties:
                self.assertEqual(process.finish(), 0, process.text())
            told = self.succeed("evaluate", self.folder / f"{name}.model.json", "test.csv", "--json").stdout
            found.append(json.loads(told)["logloss"])
        return found

    def simulated(self, keys, epsilon):
        settings = [word for one in keys["set"].strip("{}").split(", ") for word in ("--set", one.replace(": ", "="))]
        words = ["simulate", "--method", keys["method"], "--train", "all.csv", "--test", "test.csv", "--schema", "schema.yaml", "--split", "by:site",
                 "--epsilon", str(epsilon), "--delta", keys["delta"], "--lambda", str(keys["lambda"]), "--minimum-rows", str(ROWS), "--dropouts",
                 str(keys["dropouts"]), "--colluders", str(keys["colluders"]), *settings, "--json"]
        return [json.loads(self.succeed(*words, "--seed", seed + 1).stdout)["runs"][0]["logloss"]["mean"] for seed in range(SIMULATED)]

    def check(self, method, settings, epsilon, **more):
        keys = {"method": method, "set": settings, "epsilon": epsilon, "delta": "1e-5", "lambda": 0.001, "parties": "{expected: 4, minimum: 4}",
                "minimum_rows": ROWS, "dropouts": 0, "colluders": 0.25, **more}
        quiet = self.simulated(keys, 1000 * epsilon)
        exact = statistics.median(quiet)
        real, noisy, control = ([abs(loss - exact) for loss in losses] for losses in (self.deployed(keys), self.simulated(keys, epsilon), quiet))
        self.assertGreater(p_value(real, noisy), LEAST, (method, real, noisy))
        self.assertLess(p_value(noisy[:DEPLOYED], control), LEAST, (method, "the control", noisy, control))

    def test_dpnewton(self):
        self.check("dpnewton", "{noise: shares, rounds: 6}", 0.1)

    def test_dpgd(self):
        self.check("dpgd", "{noise: shares, rounds: 10}", 0.1)

    def test_dpsgd(self):
        self.check("dpsgd", "{noise: shares, hidden: none, epochs: 4, sampling: 1}", 0.1)

    def test_avg(self):
        self.check("avg", "{noise: party}", 0.1, **{"lambda": 0.01})


class TwoSamples(unittest.TestCase):
    def test_the_p_value_counts_orders(self):
        self.assertAlmostEqual(p_value([1, 2], [3, 4]), 2 / 6)
        self.assertAlmostEqual(p_value([1, 2, 3], [4, 5, 6]), 2 / 20)
        self.assertEqual(p_value([1, 4], [2, 3]), 1)

    def test_samples_of_one_distribution_are_rarely_told_apart(self):
        draw = random.Random(1)
        low = sum(p_value([draw.random() for _ in range(DEPLOYED)], [draw.random() for _ in range(SIMULATED)]) < 0.1 for _ in range(200))
        self.assertLess(low, 45)  # at most 20 expected: fails by chance below 1e-6, and the seed is fixed


if __name__ == "__main__":
    unittest.main()
