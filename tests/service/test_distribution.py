#!/usr/bin/env python3
"""What is simulated is what is deployed: for each method the models of real processes, noise and all, have the same distribution of weights,
accuracy and log-loss as the simulation of the same plan. noise=shares where the method has it; avg has none, and each party adds its own there.

Real noise has no seed, so the two are compared as samples, by Wilcoxon's rank sum test of three figures: how far the weights lie from their mean, by
the covariance that other simulated models of the plan have, the accuracy, and the log-loss. Four methods and three figures at 1e-5/12 each: this test fails by chance less than once in a hundred thousand runs.
The control is a simulation at the price whose noise is twice as large, with as many models as are deployed: the same test must
tell it from the plan's. Both have seeds, so that the control never fails by chance.

    TACIT=build/src/cli/tacit tests/service/test_distribution.py
"""
import json
import math
import os
import random
import statistics
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

PARTIES, ROWS, DEPLOYED, SIMULATED, EPSILON, DELTA, LEAST = range(4), 40, 24, 200, 8, 1e-5, 1e-5 / 12


def p_value(first, second):
    """Two-sided, of the rank sum, by the normal law with the variance that ties leave: where it is small it is too large, for the sum's law has
    lighter tails (TwoSamples below counts)."""
    m, n = len(first), len(second)
    ranks, at = {}, 0
    counts = {}
    for value in [*first, *second]:
        counts[value] = counts.get(value, 0) + 1
    for value in sorted(counts):
        ranks[value] = at + (counts[value] + 1) / 2
        at += counts[value]
    ties = sum(count ** 3 - count for count in counts.values())
    variance = m * n / 12 * (m + n + 1 - ties / ((m + n) * (m + n - 1)))
    if variance <= 0:
        return 1.0
    apart = abs(sum(ranks[value] for value in first) - m * (m + n + 1) / 2)
    return math.erfc(apart / math.sqrt(2 * variance))


def with_twice_the_noise(epsilon):
    """The epsilon that a Gaussian of twice the noise costs at DELTA, by its exact price (Balle and Wang 2018)."""
    def below(x):
        return math.erfc(-x / math.sqrt(2)) / 2

    def solve(rises):
        low, high = 1e-6, 100.0
        for _ in range(200):
            low, high = ((low + high) / 2, high) if rises((low + high) / 2) else (low, (low + high) / 2)
        return low

    def delta(epsilon, mu):
        return below(mu / 2 - epsilon / mu) - math.exp(epsilon) * below(-mu / 2 - epsilon / mu)
    mu = solve(lambda mu: delta(epsilon, mu) < DELTA)
    return solve(lambda other: delta(other, mu / 2) > DELTA)


def spread_of(models):
    """The mean of the models' weights, and a matrix that makes their covariance the unit one."""
    mean = [statistics.fmean(each) for each in zip(*models)]
    size = len(mean)
    covariance = [[sum((model[a] - mean[a]) * (model[b] - mean[b]) for model in models) / (len(models) - 1) for b in range(size)] for a in range(size)]
    root = [[0.0] * size for _ in range(size)]  # Cholesky's
    for a in range(size):
        for b in range(a + 1):
            left = covariance[a][b] - sum(root[a][k] * root[b][k] for k in range(b))
            root[a][b] = math.sqrt(left) if a == b else left / root[b][b]
    return mean, root


def distance(model, mean, root):
    solved = []
    for a in range(len(mean)):
        solved.append((model[a] - mean[a] - sum(root[a][k] * solved[k] for k in range(a))) / root[a][a])
    return math.hypot(*solved)


def numbers_of(thing):
    """All numbers of a model's weights, whatever lists they are in."""
    return [thing] if isinstance(thing, (int, float)) else [number for part in thing for number in numbers_of(part)]


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

    def weights(self, model):
        model = json.loads((self.path / model).read_text())
        return numbers_of(model["weights"] if "weights" in model else [layer["weights"] for layer in model["layers"]])

    def deployed(self, keys, count):
        """One model after the other, by real processes."""
        found, names = [], [f"trial{k}" for k in range(count)]
        for name in names:
            self.study(name, **keys)
        for party in PARTIES:
            self.limit(party, 100000)
        self.coordinator()
        for name in names:
            parties = [self.start(*self.join_words(party, self.invite(study=name)), home=self.home(party)) for party in PARTIES]
            for process in parties:
                self.assertEqual(process.finish(), 0, process.text())
            told = json.loads(self.succeed("evaluate", self.folder / f"{name}.model.json", "test.csv", "--json").stdout)
            found.append((self.weights(self.folder / f"{name}.model.json"), told["accuracy"], told["logloss"]))
        return found

    def simulated(self, keys, epsilon, count, first=1):
        settings = [word for one in keys["set"].strip("{}").split(", ") for word in ("--set", one.replace(": ", "="))]
        words = ["simulate", "--method", keys["method"], "--train", "all.csv", "--test", "test.csv", "--schema", "schema.yaml", "--split", "by:site",
                 "--epsilon", str(epsilon), "--delta", keys["delta"], "--lambda", str(keys["lambda"]), "--minimum-rows", str(ROWS), "--expected-rows",
                 str(ROWS * len(PARTIES)), "--dropouts", str(keys["dropouts"]), "--colluders", str(keys["colluders"]), *settings, "--out", "played.json",
                 "--json"]
        found = []
        for seed in range(first, first + count):
            run = json.loads(self.succeed(*words, "--seed", seed).stdout)["runs"][0]
            self.assertEqual(run["noise"], "shares" if "shares" in keys["set"] else "party")
            found.append((self.weights("played.json"), run["accuracy"]["mean"], run["logloss"]["mean"]))
        return found

    def check(self, method, settings, epsilon, twice=None, count=DEPLOYED, **more):
        keys = {"method": method, "set": settings, "epsilon": epsilon, "delta": str(DELTA), "lambda": 0.001, "parties": "{expected: 4, minimum: 4}",
                "minimum_rows": ROWS, "expected_rows": ROWS * len(PARTIES), "dropouts": 0, "colluders": 0.25, **more}
        reference = spread_of([weights for weights, _, _ in self.simulated(keys, epsilon, SIMULATED // 2, first=2001)])

        def told_apart(first, second):
            """The p-values of the three figures."""
            def measured(models):
                return zip(*((distance(weights, *reference), accuracy, loss) for weights, accuracy, loss in models))
            return [p_value(one, other) for one, other in zip(measured(first), measured(second))]

        played = self.simulated(keys, epsilon, SIMULATED)
        control = told_apart(self.simulated(keys, twice or with_twice_the_noise(epsilon), count, first=1001), played)
        self.assertLess(min(control), LEAST, (method, "twice the noise is not noticed"))
        found = told_apart(self.deployed(keys, count), played)
        print(f"{method}: p {', '.join(f'{p:.2g}' for p in found)}; with twice the noise {', '.join(f'{p:.2g}' for p in control)}", file=sys.stderr)
        self.assertGreater(min(found), LEAST, method)

    def test_dpnewton(self):
        self.check("dpnewton", "{noise: shares, rounds: 6}", EPSILON, count=36)

    def test_dpgd(self):
        self.check("dpgd", "{noise: shares, rounds: 10}", EPSILON)

    def test_dpsgd(self):
        self.check("dpsgd", "{noise: shares, hidden: none, epochs: 4, sampling: 1}", EPSILON)

    def test_avg(self):
        self.check("avg", "{noise: party}", EPSILON, twice=EPSILON / 2, **{"lambda": 0.01})


class TwoSamples(unittest.TestCase):
    def test_a_small_p_value_is_never_below_that_of_all_orders(self):
        m, n = 6, 25
        ways = [[0] * (m * n + 1) for _ in range(m + 1)]  # of rank sums, by how many of the first sample are placed
        ways[0][0] = 1
        for last in range(n + m):
            for k in range(min(m, last + 1), 0, -1):
                for u in range(m * n, -1, -1):
                    at = u - (last - (k - 1))
                    if at >= 0:
                        ways[k][u] += ways[k - 1][at]
        orders = math.comb(m + n, m)
        self.assertEqual(sum(ways[m]), orders)
        below = 0
        for u in range(20):
            below += ways[m][u]
            exact = 2 * below / orders
            deviation = math.sqrt(m * n * (m + n + 1) / 12)
            normal = math.erfc((m * n / 2 - u) / deviation / math.sqrt(2))
            if exact < 1e-3:
                self.assertGreater(normal, exact)

    def test_ranks_and_ties_are_counted(self):
        self.assertAlmostEqual(p_value([1, 2], [3, 4]), math.erfc(2 / math.sqrt(2 * 4 * 5 / 12)))
        self.assertEqual(p_value([1, 1], [1, 1]), 1)
        self.assertEqual(p_value([1, 4], [2, 3]), 1)

    def test_samples_of_one_distribution_are_rarely_told_apart(self):
        draw = random.Random(1)
        low = sum(p_value([draw.random() for _ in range(DEPLOYED)], [draw.random() for _ in range(SIMULATED)]) < 0.1 for _ in range(200))
        self.assertLess(low, 45)  # about 20 expected: fails by chance below 1e-6, and the seed is fixed


if __name__ == "__main__":
    unittest.main()
