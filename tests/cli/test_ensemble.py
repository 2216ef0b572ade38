#!/usr/bin/env python3
"""Ensembles over public points as a user meets them: simulate with --aux and --aux-fraction, explain, audit.

    TACIT=build/src/cli/tacit tests/cli/test_ensemble.py
"""
import csv
import json
import os
import random
import stat
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS = str(EXAMPLES / "breast_cancer.csv")
SCHEMA = str(EXAMPLES / "breast_cancer.schema.yaml")
ENSEMBLE = "vote,soft,soft-stat,pate"

# The class that most training rows have, for every point: all that the protocol asks of a program.
MAJORITY = """#!/usr/bin/env python3
import collections, sys
rows, points = sys.stdin.read().split("\\n\\n")
labels = collections.Counter(line.rsplit(",", 1)[1] for line in rows.splitlines()[1:])
answer = min(labels, key=lambda label: (-labels[label], label))
for line in points.splitlines()[1:]:
    print(answer)
"""


class EnsembleTest(ProgramTest):
    def setUp(self):
        super().setUp()
        with open(ROWS, newline="") as file:
            self.header, *self.rows = list(csv.reader(file))

    def table(self, name, rows, columns=None):
        """A CSV file of some rows, with some of the columns (all by default)."""
        chosen = [self.header.index(column) for column in columns or self.header]
        with open(self.path / name, "w", newline="") as file:
            writer = csv.writer(file)
            for row in [self.header, *rows]:
                writer.writerow([row[j] for j in chosen])
        return name

    def simulate(self, *words, train=ROWS, method=ENSEMBLE):
        done = self.succeed("simulate", "--method", method, "--train", train, "--schema", SCHEMA, *words, "--json")
        return json.loads(done.stdout)

    def figures(self, *words, **more):
        told = self.simulate(*words, **more)
        for run in told["runs"]:
            del run["seconds"]
        return told

    def refuse(self, *words, says, method="soft", code=2):
        self.fail_with(code, "simulate", "--method", method, "--train", ROWS, "--schema", SCHEMA, "--parties", "9",
                       "--epsilon", "1", *words, says=says)


class Simulate(EnsembleTest):
    USUAL = ["--parties", "30", "--delta", "1e-5", "--seed", "1"]

    def test_runs_follow_the_contract(self):
        told = self.simulate("--aux-fraction", "0.2", "--epsilon", "1,inf", "--trials", "3", *self.USUAL)
        self.assertEqual([(run["method"], run["epsilon"]) for run in told["runs"]],
                         [(name, e) for name in ENSEMBLE.split(",") for e in (1, "inf")])
        delta = {"vote": 0, "soft": 0, "soft-stat": 1e-5, "pate": 1e-5}
        for run in told["runs"]:
            self.assertEqual((run["rounds"], run["charged"]["unit"]), (1, "party"))
            self.assertEqual(run["charged"]["epsilon"], run["epsilon"])
            if run["epsilon"] == 1:
                self.assertEqual(run["charged"]["delta"], delta[run["method"]])
                self.assertGreater(run["logloss"]["sd"], 0)
            else:
                self.assertEqual(run["logloss"]["sd"], 0)
                self.assertGreater(run["accuracy"]["mean"], 0.85)
            # The points travel to each party, and one count a point comes back.
            self.assertGreater(run["bytes_per_party"], 113 * (31 * 8 + 8))

    def test_the_same_seed_gives_the_same_figures_on_any_number_of_threads(self):
        words = ["--aux-fraction", "0.2", "--epsilon", "2", "--trials", "2", "--set", "local=tree,logistic,bayes",
                 "--parties", "70", "--delta", "1e-5"]
        one = self.figures(*words, "--seed", "5", "--threads", "1")
        self.assertEqual(one, self.figures(*words, "--seed", "5", "--threads", "2"))
        self.assertEqual(one, self.figures(*words, "--seed", "5", "--threads", "3"))
        self.assertNotEqual(one["runs"], self.figures(*words, "--seed", "6")["runs"])

    def test_points_need_no_label_and_a_label_is_not_read(self):
        train, points = self.table("train.csv", self.rows[:400]), self.rows[400:480]
        features = [name for name in self.header if name != "diagnosis"]
        words = ["--epsilon", "2", "--trials", "2", *self.USUAL]
        bare = self.figures("--aux", self.table("bare.csv", points, features), *words, train=train)
        labelled = self.figures("--aux", self.table("labelled.csv", points), *words, train=train)
        at = self.header.index("diagnosis")
        other = {"benign": "malignant", "malignant": "benign"}
        turned = [row[:at] + [other.get(row[at], row[at])] + row[at + 1:] for row in points]
        self.assertEqual(bare, labelled)
        self.assertEqual(bare, self.figures("--aux", self.table("turned.csv", turned), *words, train=train))

    def test_lambda_is_chosen_unless_it_is_given(self):
        words = ["--aux-fraction", "0.2", "--epsilon", "0.3,30", *self.USUAL]
        chosen = self.simulate(*words, method="soft,soft-stat")["runs"]
        for loud, quiet in (chosen[:2], chosen[2:]):
            self.assertGreater(loud["lambda"], quiet["lambda"])
        for run in self.simulate(*words, "--lambda", "0.05", method="soft,soft-stat")["runs"]:
            self.assertEqual(run["lambda"], 0.05)
        # Private points may not choose it.
        for run in self.simulate(*words, "--set", "aux_private=yes", method="soft")["runs"]:
            self.assertEqual(run["lambda"], 0.01)

    def test_the_table_says_points_and_lambda(self):
        text = self.succeed("simulate", "--method", "soft", "--train", ROWS, "--schema", SCHEMA, "--aux-fraction",
                            "0.2", "--epsilon", "1", *self.USUAL).stdout
        self.assertRegex(text.splitlines()[0], r"30 parties of .* 11[34] public points; .*lambda chosen for each run")
        self.assertRegex(text, r"\n *method .* lambda\n")
        text = self.succeed("simulate", "--method", "soft", "--train", ROWS, "--schema", SCHEMA, "--aux-fraction",
                            "0.2", "--epsilon", "1", "--lambda", "0.1", *self.USUAL).stdout
        self.assertIn("lambda 0.1", text.splitlines()[0])

    def test_more_parties_help_soft_and_not_vote(self):
        def noise(method, parties):
            told = json.loads(self.succeed("explain", method, "--parties", parties, "--json").stdout)
            return told["noise"]["scale"]
        self.assertAlmostEqual(noise("soft", "100") / noise("soft", "10"), 0.1, places=6)
        self.assertAlmostEqual(noise("soft-stat", "100") / noise("soft-stat", "10"), 0.1, places=6)
        self.assertEqual(noise("vote", "100"), noise("vote", "10"))

    def test_yardsticks_and_avg_do_not_care_about_points(self):
        train, points = self.table("train.csv", self.rows[:400]), self.table("points.csv", self.rows[400:])
        words = ["--parties", "10", "--epsilon", "2", "--trials", "2", "--seed", "3"]
        without = self.figures(*words, train=train, method="batch,indiv,avg")
        beside = self.figures(*words, "--aux", points, train=train, method="batch,indiv,avg,soft")
        self.assertEqual(without["runs"], beside["runs"][:3])

    def test_more_than_two_classes(self):
        random.seed(4)
        lines = [f"{random.gauss(3 * k, 1):.3f},{random.gauss(k * k, 1):.3f},{'abc'[k]}" for k in (0, 1, 2) * 150]
        self.write("three.csv", "x,y,species\n" + "\n".join(lines) + "\n")
        done = self.succeed("simulate", "--method", ENSEMBLE + ",batch", "--train", "three.csv", "--bounds-from-data",
                            "--parties", "30", "--aux-fraction", "0.3", "--epsilon", "10", "--delta", "1e-5",
                            "--trials", "3", "--seed", "2", "--set", "local=tree,logistic", "--json")
        runs = {run["method"]: run for run in json.loads(done.stdout)["runs"]}
        self.assertEqual(set(runs), set(ENSEMBLE.split(",")) | {"batch"})
        self.assertGreater(runs["soft-stat"]["accuracy"]["mean"], 0.6)
        self.assertIsNone(runs["soft-stat"]["auc"])

    def test_a_program_of_ones_own_is_a_classifier(self):
        self.write("majority.py", MAJORITY)
        os.chmod(self.path / "majority.py", stat.S_IRWXU)
        words = ["--aux-fraction", "0.1", "--parties", "6", "--epsilon", "inf", "--lambda", "0.1", "--seed", "1"]
        run = self.simulate(*words, "--set", "local=exec:./majority.py", method="soft")["runs"][0]
        self.assertGreater(run["accuracy"]["mean"], 0.5)
        mixed = self.simulate(*words, "--set", "local=tree,exec:./majority.py", method="soft")["runs"][0]
        self.assertNotEqual(mixed["logloss"], run["logloss"])

    def test_a_failing_program_names_its_party(self):
        self.write("broken.sh", "#!/bin/sh\nexit 3\n")
        os.chmod(self.path / "broken.sh", stat.S_IRWXU)
        done = self.tacit("simulate", "--method", "soft", "--train", ROWS, "--schema", SCHEMA, "--parties", "3",
                          "--aux-fraction", "0.1", "--epsilon", "1", "--set", "local=logistic,exec:./broken.sh",
                          "--threads", "1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("party 2", done.stderr)
        self.assertIn("broken.sh", done.stderr)

    def test_a_model_of_an_ensemble_is_a_model_like_others(self):
        self.succeed("simulate", "--method", "soft-stat", "--train", ROWS, "--schema", SCHEMA, "--aux-fraction", "0.2",
                     "--epsilon", "10", *self.USUAL, "--out", "model.json")
        told = json.loads(self.succeed("evaluate", "model.json", ROWS, "--json").stdout)
        self.assertGreater(told["accuracy"], 0.8)


class Usage(EnsembleTest):
    def test_a_method_that_needs_points_says_how_to_give_them(self):
        for method in ENSEMBLE.split(","):
            self.refuse("--delta", "1e-5", method=method, says=[method, "--aux", "--aux-fraction"])

    def test_points_come_from_one_place(self):
        self.refuse("--aux", ROWS, "--aux-fraction", "0.1", says=["either --aux or --aux-fraction"])

    def test_fractions_leave_rows_to_train_on(self):
        self.refuse("--aux-fraction", "0.8", says=["leave no rows"])
        self.refuse("--aux-fraction", "0.5", "--test-fraction", "0.5", says=["leave no rows"])
        for wrong in ("0", "1", "-0.1", "some"):
            self.refuse("--aux-fraction", wrong, says=["--aux-fraction"])

    def test_a_file_of_points_must_be_there_and_fit_the_schema(self):
        self.refuse("--aux", "missing.csv", says=["missing.csv"], code=1)
        self.refuse("--aux", self.write("other.csv", "a,b\n1,2\n"), says=["other.csv", "mean_radius"])

    def test_settings_are_checked(self):
        points = ["--aux-fraction", "0.2"]
        self.refuse(*points, "--set", "local=oracle", says=["oracle", "logistic"])
        self.refuse(*points, "--set", "calibration=loose", says=["calibration", "tight|paper"])
        self.refuse(*points, "--set", "law=pure", says=["law"])
        self.refuse(*points, method="pate", says=["pate", "delta"])
        self.refuse(*points, "--set", "law=gaussian", method="soft-stat", says=["delta"])
        self.refuse(*points, "--set", "queries=0", "--delta", "1e-5", method="pate", says=["queries"])


class Texts(EnsembleTest):
    def test_methods_describe_their_settings(self):
        by_name = {method["name"]: method for method in json.loads(self.succeed("methods", "--json").stdout)}
        for name in ENSEMBLE.split(","):
            parameters = {one["name"]: one for one in by_name[name]["parameters"]}
            self.assertEqual((by_name[name]["unit"], by_name[name]["roles"]), ("party", ["coordinator", "party"]))
            self.assertEqual(sorted(parameters["local"]), ["default", "help", "name", "type"])
            self.assertEqual(parameters["local_lambda"]["default"], 0.0001)
        self.assertIn("--set local=TEXT", self.succeed("methods").stdout)

    def test_explain_says_what_noise_and_where(self):
        for name, where in (("vote", "the published model"), ("soft", "the published model"),
                            ("soft-stat", "the statistic itself"), ("pate", "the counts")):
            text = " ".join(self.succeed("explain", name, "--epsilon", "1", "--delta", "1e-5").stdout.split())
            for part in ("the labels that the party's own classifier gives", "entrusted", "per party",
                         f"in {where} its norm is about"):
                self.assertIn(part, text)

    def test_audits_hold(self):
        for name, delta, least in (("vote", "0", 0.5), ("soft", "0", 0.5), ("soft-stat", "0", 0.5),
                                   ("pate", "0.2", 0.3)):
            told = json.loads(self.succeed("audit", name, "--epsilon", "1", "--delta", delta, "--runs", "4000",
                                           "--seed", "1", "--json").stdout)
            self.assertEqual((told["verdict"], told["unit"]), ("holds", "party"))
            self.assertTrue(least < told["epsilon_lower"] <= 1)
            self.assertGreater(told["reach"], 0.97)


if __name__ == "__main__":
    unittest.main()
