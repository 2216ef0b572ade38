#!/usr/bin/env python3
"""methods, simulate, evaluate, predict and ledger as a user meets them, on the example data.

    TACIT=build/src/cli/tacit tests/cli/test_learning.py
"""
import csv
import io
import json
import math
import os
import random
import sqlite3
import stat
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import GOOD, TACIT, ProgramTest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS = str(EXAMPLES / "breast_cancer.csv")
SCHEMA = str(EXAMPLES / "breast_cancer.schema.yaml")
SPECIES = "".join(f"{3 * k + i % 7 / 10},{k * k - i % 5 / 10},{'abc'[k]}\n" for i in range(40) for k in range(3))


class LearningTest(ProgramTest):
    def simulate(self, *words, train=ROWS, schema=SCHEMA):
        more = ["--schema", schema] if schema else []
        done = self.succeed("simulate", "--train", train, *more, *words, "--json")
        return json.loads(done.stdout)

    def model(self, *words, name="model.json"):
        self.succeed("simulate", "--method", "avg", "--train", ROWS, "--schema", SCHEMA, "--parties", "5",
                     "--epsilon", "10", "--seed", "7", "--out", name, *words)
        return name

    def refuse(self, code, *words, says=()):
        return self.fail_with(code, "simulate", *words, says=says)


class Methods(LearningTest):
    def test_every_method_says_what_it_is(self):
        methods = json.loads(self.succeed("methods", "--json").stdout)
        self.assertIsInstance(methods, list)
        by_name = {method["name"]: method for method in methods}
        self.assertTrue({"batch", "indiv", "avg"} <= set(by_name))
        for method in methods:
            self.assertEqual(sorted(method), ["fewest_rounds", "name", "parameters", "reference", "roles", "rounds", "terms", "title", "unit"])
        self.assertEqual(by_name["avg"]["roles"], ["coordinator", "party"])
        self.assertEqual(by_name["avg"]["unit"], "record|party")
        for name in ("batch", "indiv", "consensus", "newton", "estimate"):
            self.assertEqual(by_name[name]["unit"], "none")
        for parameter in by_name["avg"]["parameters"]:
            if parameter["type"] == "choice":
                self.assertIn(parameter["default"], parameter["choices"])
            self.assertTrue(parameter["help"])

    def test_every_method_is_explained_without_a_flag(self):
        for method in json.loads(self.succeed("methods", "--json").stdout):
            with self.subTest(method=method["name"]):
                self.assertIn(method["name"], self.succeed("explain", method["name"]).stdout)
        for words in (["gop"], ["dpgd"], ["soft-stat", "--set", "law=gaussian"]):
            self.assertIn(", delta 1e-05", " ".join(self.succeed("explain", *words).stdout.split()))
            self.assertEqual(json.loads(self.succeed("explain", *words, "--json").stdout)["charged"]["delta"], 1e-5)
        self.assertNotIn("delta", self.succeed("explain", "avg").stdout.split("leaves")[0])
        self.fail_with(2, "explain", "gop", "--delta", "0", says=["--delta 1e-5"])
        self.fail_with(2, "explain", "gop", "--lambda", "0", says=["lambda must be above 0"])

    def test_a_yardstick_claims_no_release(self):
        for name in ("batch", "indiv"):
            told = json.loads(self.succeed("explain", name, "--json").stdout)
            self.assertEqual((told["release"], told["sums"]), (None, None))
            self.assertNotRegex(self.succeed("explain", name).stdout, "(?m)^how ")
        told = json.loads(self.succeed("explain", "avg", "--json").stdout)
        self.assertIn("masked", told["sums"])
        self.assertEqual(told["release"], "entrusted")
        self.assertRegex(self.succeed("explain", "avg").stdout, "(?m)^how +entrusted")

    def test_the_table_names_every_method(self):
        text = self.succeed("methods").stdout
        for method in json.loads(self.succeed("methods", "--json").stdout):
            self.assertIn(f"\n{method['name']} ", text)
            self.assertIn(method["reference"], text)


class Persons(LearningTest):
    """Rows of patients, one to five each; the schema says whose they are."""

    def setUp(self):
        super().setUp()
        dice = random.Random(3)
        lines = ["patient,u,v,y"]
        for patient in range(400):
            u = dice.uniform(-1, 1)
            for _ in range(dice.randint(1, 5)):
                v = dice.uniform(-1, 1)
                lines.append(f"p{patient},{u:.3f},{v:.3f},{'b' if 4 * u + 2 * v + dice.gauss(0, 1) > 0 else 'a'}")
        self.rows, self.schema = self.path / "visits.csv", self.path / "visits.yaml"
        self.rows.write_text("\n".join(lines) + "\n")
        self.schema.write_text("label: {name: y, classes: [a, b]}\ncolumns:\n  - {name: u, kind: number, low: -1, high: 1}\n"
                               "  - {name: v, kind: number, low: -1, high: 1}\nperson: patient\nintercept: yes\n")

    def words(self, *more):
        return ("simulate", "--method", "dpnewton", "--train", str(self.rows), "--schema", str(self.schema), "--parties", "4", "--epsilon", "3",
                "--delta", "1e-5", "--trials", "5", "--seed", "1", *more)

    def test_a_person_is_protected_with_all_rows(self):
        done = json.loads(self.succeed(*self.words("--together", "patient", "--set", "unit=person", "--set", "noise=coordinator", "--json")).stdout)
        self.assertGreater(done["runs"][0]["accuracy"]["mean"], 0.8)

    def test_who_is_who_must_be_known(self):
        self.schema.write_text(self.schema.read_text().replace("person: patient\n", ""))
        self.fail_with(2, *self.words("--set", "unit=person"), says=["(person: COLUMN)"])


class Moments(LearningTest):
    """What a dpnewton study released of its columns, used again by another one. Seeds are fixed."""

    WORDS = ("--method", "dpnewton", "--parties", "5", "--delta", "1e-5")

    def first(self, epsilon="3"):
        self.simulate(*self.WORDS, "--epsilon", epsilon, "--seed", "7", "--out", "first.json")

    def test_reused_moments_cost_nothing_and_make_a_better_model(self):
        self.first()
        words = (*self.WORDS, "--epsilon", "0.3", "--trials", "40", "--seed", "1")
        new = self.simulate(*words)["runs"][0]
        reused = self.simulate(*words, "--set", "moments=reused", "--model", "first.json")["runs"][0]
        self.assertEqual(new["rounds"], reused["rounds"] + 1)  # nobody is asked for them
        self.assertLess(abs(reused["charged"]["epsilon"] - 0.3), 1e-3)
        self.assertLess(reused["logloss"]["mean"], 0.97 * new["logloss"]["mean"])

    def test_a_model_of_some_of_the_columns_reuses_them_too(self):
        all, fewer = self.path / "all.yaml", self.path / "fewer.yaml"
        all.write_text("".join(line for line in Path(SCHEMA).read_text().splitlines(True) if not line.startswith("rows:")))
        fewer.write_text("".join(line for line in all.read_text().splitlines(True) if "_error" not in line))
        self.simulate(*self.WORDS, "--epsilon", "3", "--seed", "7", "--out", "first.json", schema=str(all))
        words = (*self.WORDS, "--epsilon", "1", "--trials", "20", "--seed", "1")
        new = self.simulate(*words, schema=str(fewer))["runs"][0]
        reused = self.simulate(*words, "--set", "moments=reused", "--model", "first.json", schema=str(fewer))["runs"][0]
        self.assertLess(reused["logloss"]["mean"], 1.02 * new["logloss"]["mean"])
        self.assertLess(reused["logloss"]["mean"], 0.2)

    def test_a_model_of_other_terms_reuses_them_where_its_columns_were_there(self):
        plain = self.path / "plain.yaml"
        plain.write_text("".join(line for line in Path(SCHEMA).read_text().splitlines(True) if not line.startswith("rows:")))
        self.simulate(*self.WORDS, "--epsilon", "3", "--seed", "7", "--out", "first.json", "--terms", "mean_radius + mean_texture + worst_area + mean_area",
                      schema=str(plain))
        words = (*self.WORDS, "--epsilon", "1", "--trials", "20", "--seed", "1", "--terms", "mean_radius + mean_texture + worst_area")
        new = self.simulate(*words, schema=str(plain))["runs"][0]
        reused = self.simulate(*words, "--set", "moments=reused", "--model", "first.json", schema=str(plain))["runs"][0]
        self.assertEqual(new["rounds"], reused["rounds"] + 1)
        self.assertLess(reused["logloss"]["mean"], 1.05 * new["logloss"]["mean"])
        self.assertLess(reused["logloss"]["mean"], 0.35)
        self.refuse(2, "--train", ROWS, "--schema", str(plain), *self.WORDS, "--epsilon", "1", "--set", "moments=reused", "--model", "first.json", "--terms",
                    "mean_radius * mean_texture", says=["mean_radius:mean_texture"])  # products of pairs were not released

    def test_without_noise_there_is_nothing_to_reuse(self):
        self.first("inf")
        self.assertNotIn("moments", json.loads((self.path / "first.json").read_text()))
        self.refuse(2, "--train", ROWS, "--schema", SCHEMA, *self.WORDS, "--epsilon", "1", "--set", "moments=reused", "--model",
                    "first.json", says=["needs the model of an earlier dpnewton study", "this one has none"])

    def test_moments_of_other_columns_are_refused(self):
        self.first()
        other = self.path / "other.yaml"
        other.write_text(Path(SCHEMA).read_text().replace("low: 5, high: 20}", "low: 5, high: 21}", 1))
        words = ("--train", ROWS, *self.WORDS, "--epsilon", "1", "--set", "moments=reused")
        self.refuse(2, *words, "--schema", str(other), "--model", "first.json", says=["not of column 'mean_radius'"])
        self.refuse(2, *words, "--schema", SCHEMA, says=["needs a model"])
        self.refuse(2, *words, "--schema", SCHEMA, "--model", "first.json", "--set", "purpose=inference",
                    says=["moments=reused is for purpose=prediction"])
        model = json.loads((self.path / "first.json").read_text())
        for damage in ({"step": 0}, {"numbers": model["moments"]["numbers"][1:]}, {"columns": 30}, {"noise": -1}, {"rows": "many"}):
            (self.path / "damaged.json").write_text(json.dumps({**model, "moments": {**model["moments"], **damage}}))
            self.refuse(1, *words, "--schema", SCHEMA, "--model", "damaged.json", says=["the moments are damaged"])


class Simulate(LearningTest):
    def test_dpnewton_is_worth_having_with_nothing_set(self):
        """Seeds are fixed. 426 rows of 31 columns; the base rate has log-loss .66, dpgd .27 at epsilon 1. Shares of the noise cost little."""
        words = ("--parties", "5", "--epsilon", "0.3,1", "--delta", "1e-5", "--trials", "20", "--seed", "1")
        shared = self.simulate("--method", "dpnewton", *words)["runs"]
        trusted = self.simulate("--method", "dpnewton", *words, "--set", "noise=coordinator")["runs"]
        for little, more in (shared, trusted):
            self.assertLess(little["logloss"]["mean"], 0.3)
            self.assertLess(more["logloss"]["mean"], 0.16)
            self.assertGreater(more["accuracy"]["mean"], 0.93)
            self.assertGreater(little["auc"]["mean"], 0.95)
        self.assertLess(shared[1]["logloss"]["mean"], 1.15 * trusted[1]["logloss"]["mean"])

    def test_what_dpnewton_has_learnt_can_be_used_and_exported(self):
        self.succeed("simulate", "--method", "dpnewton", "--train", ROWS, "--schema", SCHEMA, "--parties", "5", "--epsilon", "1",
                     "--delta", "1e-5", "--seed", "7", "--out", "model.json")
        told = json.loads(self.succeed("evaluate", "model.json", ROWS, "--json").stdout)
        self.assertGreater(told["auc"], 0.97)
        self.succeed("export", "model.json", "--format", "onnx", "--out", "model.onnx")

    def test_runs_follow_the_contract(self):
        told = self.simulate("--method", "batch,indiv,avg", "--parties", "5", "--epsilon", "1,inf", "--trials", "3",
                             "--seed", "1")
        self.assertEqual(sorted(told), ["runs", "seed"])
        self.assertEqual(told["seed"], 1)
        self.assertEqual([(run["method"], run["epsilon"], run["trials"]) for run in told["runs"]],
                         [("batch", "inf", 1), ("indiv", "inf", 1), ("avg", 1, 3), ("avg", "inf", 3)])
        for run in told["runs"]:
            self.assertEqual(sorted(run), ["accuracy", "auc", "bytes_per_party", "charged", "claimed", "delta",
                                           "epsilon", "lambda", "lambda_from", "logloss", "method", "noise", "noise_share", "rounds", "seconds", "trials", "warning"])
            for metric in ("accuracy", "auc", "logloss"):
                self.assertEqual(sorted(run[metric]), ["mean", "sd"])
                self.assertGreaterEqual(run[metric]["sd"], 0)
            self.assertEqual(sorted(run["charged"]), ["delta", "epsilon", "unit"])
            self.assertEqual(sorted(run["claimed"]), ["delta", "epsilon"])
            self.assertEqual(run["charged"]["epsilon"], run["epsilon"])
        batch, indiv, private, exact = told["runs"]
        self.assertEqual((batch["rounds"], indiv["rounds"], private["rounds"]), (0, 1, 1))
        self.assertGreater(private["bytes_per_party"], 31 * 8)
        self.assertGreater(private["accuracy"]["sd"], 0)
        self.assertEqual(exact["accuracy"]["sd"], 0)
        self.assertGreater(batch["auc"]["mean"], 0.98)
        self.assertGreater(exact["auc"]["mean"], 0.98)
        self.assertGreater(private["logloss"]["mean"], exact["logloss"]["mean"])

    def test_the_same_seed_gives_the_same_figures_on_any_number_of_threads(self):
        def figures(*more):
            told = self.simulate("--method", "batch,indiv,avg", "--parties", "40", "--split", "dirichlet:2",
                                 "--epsilon", "2,inf", "--trials", "3", *more)
            for run in told["runs"]:
                del run["seconds"]
            return told
        one = figures("--seed", "5", "--threads", "1")
        self.assertEqual(one, figures("--seed", "5", "--threads", "2"))
        self.assertEqual(one, figures("--seed", "5", "--threads", "3"))
        self.assertNotEqual(one["runs"], figures("--seed", "6")["runs"])

    def test_a_seed_is_drawn_and_printed_and_repeats_the_run(self):
        words = ["--method", "avg", "--parties", "5", "--epsilon", "1"]
        first = self.simulate(*words)
        again = self.simulate(*words, "--seed", str(first["seed"]))
        self.assertEqual(first["runs"][0]["accuracy"], again["runs"][0]["accuracy"])
        text = self.succeed("simulate", "--train", ROWS, "--schema", SCHEMA, *words).stdout
        self.assertRegex(text, r"seed \d+")

    def test_the_table_is_aligned_and_one_trial_is_said_to_be_one(self):
        done = self.succeed("simulate", "--method", "batch,avg", "--train", ROWS, "--schema", SCHEMA, "--parties", "5",
                            "--epsilon", "0.5,10", "--lambda", "0.05", "--seed", "1")
        lines = done.stdout.splitlines()
        self.assertIn("5 parties of 91 rows, 31 features; 114 test rows", lines[0])
        rule = next(i for i, line in enumerate(lines) if line.startswith("---"))
        self.assertEqual(lines[rule - 1].split(), ["method", "epsilon", "accuracy", "AUC", "log-loss", "charged", "time"])
        self.assertEqual(len(lines[rule + 1:]), 3)
        self.assertIn("0.5 per record", lines[rule + 2])
        self.assertEqual(done.stderr.count("\n"), 2)
        self.assertIn("noise of avg: added by a trusted coordinator\n", done.stderr)
        self.assertIn("one trial", done.stderr)
        spread = self.succeed("simulate", "--method", "avg", "--train", ROWS, "--schema", SCHEMA, "--parties", "5",
                              "--epsilon", "10", "--trials", "4")
        self.assertIn(" ± ", spread.stdout)
        self.assertEqual(spread.stderr, "noise of avg: added by a trusted coordinator\n")

    def test_it_says_whose_noise_it_plays(self):
        words = ("simulate", "--method", "batch,dpnewton,dpgd,avg", "--train", ROWS, "--schema", SCHEMA, "--parties", "5", "--epsilon", "1,3", "--delta", "1e-5",
                 "--lambda", "0.01", "--seed", "1")
        for more, noise in (((), ["shares", "coordinator", "coordinator"]), (("--set", "noise=party"), ["party"] * 3)):
            runs = json.loads(self.succeed(*words, *more, "--json").stdout)["runs"]
            self.assertEqual([run["noise"] for run in runs], [None] + [who for who in noise for _ in range(2)])
            said = [line for line in self.succeed(*words, *more).stderr.splitlines() if line.startswith("noise of ")]
            self.assertEqual(len(said), 3)  # once for a method
            self.assertEqual(["1 of them may collude" in line for line in said], [who == "shares" for who in noise])

    def test_without_a_schema_it_warns_unless_that_is_meant(self):
        words = ["simulate", "--method", "batch", "--train", ROWS]
        warned = self.succeed(*words, "--parties", "2")
        self.assertIn("warning: ", warned.stderr)
        self.assertIn("not private", warned.stderr)
        self.assertEqual(self.succeed(*words, "--parties", "2", "--bounds-from-data").stderr, "")

    def test_rows_are_dealt_out_as_asked(self):
        def first_line(*more):
            return self.succeed("simulate", "--method", "batch", "--train", ROWS, "--schema", SCHEMA, "--seed", "1",
                                *more).stdout.splitlines()[0]
        self.assertIn("3 parties of 45 to 228 rows", first_line("--split", "0.5,0.4,0.1"))
        self.assertIn("8 parties of 71 to 72 rows, 31 features; 569 test rows", first_line("--parties", "8", "--test", ROWS))
        self.assertIn("; 57 test rows", first_line("--parties", "8", "--test-fraction", "0.1"))
        self.write("wards.csv", "ward,x,y\n" + "".join(f"w{i % 3},{i},{i // 15}\n" for i in range(30)))
        told = self.succeed("simulate", "--method", "indiv", "--train", "wards.csv", "--bounds-from-data", "--split",
                            "by:ward", "--seed", "2").stdout
        self.assertIn("3 parties of ", told)

    def test_a_party_with_too_few_rows_refuses_and_is_mentioned(self):
        done = self.succeed("simulate", "--method", "avg", "--train", ROWS, "--schema", SCHEMA, "--split", "0.5,0.4,0.1",
                            "--minimum-rows", "100", "--epsilon", "5", "--trials", "2")
        self.assertIn("1 of 3 parties refused", done.stderr)
        self.assertIn("at least 100", done.stderr)

    def test_a_method_that_refuses_keeps_the_others_from_nothing(self):
        words = ["simulate", "--train", ROWS, "--schema", SCHEMA, "--parties", "5", "--epsilon", "1", "--seed", "1", "--quiet"]
        done = self.tacit(*words, "--method", "batch,vote,avg", "--json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("tacit: method vote needs public auxiliary points: give a file of them with --aux", done.stderr)
        found = json.loads(done.stdout)
        runs = {run["method"]: run for run in found["runs"]}
        self.assertEqual(found["error"]["code"], "USAGE")
        self.assertIsNone(runs["vote"]["accuracy"])
        self.assertIn("auxiliary points", runs["vote"]["failed"])
        alone = json.loads(self.succeed(*words, "--method", "batch,avg", "--json").stdout)
        for run in alone["runs"]:
            self.assertNotIn("failed", runs[run["method"]])
            self.assertEqual(run["accuracy"], runs[run["method"]]["accuracy"])
        table = self.tacit(*words, "--method", "vote,avg").stdout
        self.assertRegex(table, r"vote +1 +- +- +- +refused: see below +- +-\n")
        with self.subTest("where all refuse it is as with one"):
            self.fail_with(2, *words, "--method", "vote,soft", says=["method vote needs"])

    def test_parties_bring_files_of_their_own(self):
        rows = list(csv.reader(Path(ROWS).read_text().splitlines()))
        sites = [rows[1:120], rows[120:400], rows[400:]]
        with open(self.path / "whole.csv", "w") as whole:
            writer = csv.writer(whole)
            writer.writerow([*rows[0], "site"])
            for number, site in enumerate(sites):
                writer.writerows([*row, f"s{number}"] for row in site)
        files = []
        for number, site in enumerate(sites):
            files += ["--party", f"site{number}.csv"]
            with open(self.path / files[-1], "w") as out:
                order = list(range(len(rows[0])))[::1 if number else -1]  # as unlike as sites are
                csv.writer(out, delimiter=";,\t"[number]).writerows([row[k] for k in order] for row in [rows[0], *site])
        words = ["--method", "batch,indiv,avg", "--epsilon", "1", "--test", ROWS, "--seed", "1", "--schema", SCHEMA]
        apart = json.loads(self.succeed("simulate", *files, *words, "--json").stdout)
        split = json.loads(self.succeed("simulate", "--train", "whole.csv", "--split", "by:site", *words, "--json").stdout)
        for one, other in zip(apart["runs"], split["runs"]):
            self.assertEqual({key: one[key] for key in one if key != "seconds"}, {key: other[key] for key in other if key != "seconds"})
        self.assertIn("3 parties of 119 to 280 rows", self.succeed("simulate", *files, *words).stdout)
        with self.subTest("what makes no sense beside it"):
            self.refuse(2, *files, *words, "--parties", "3", says=["leave --parties out"])
            self.refuse(2, *files, *words, "--train", ROWS, says=["leave --train out"])
            self.refuse(2, *files, "--method", "batch", says=["--schema"])
            self.refuse(2, "--method", "batch", "--schema", SCHEMA, says=["--train", "--party"])
            self.refuse(1, *files, "--party", "nowhere.csv", *words, says=["nowhere.csv"])

    def test_settings_reach_the_method(self):
        told = self.simulate("--method", "batch,avg", "--parties", "5", "--epsilon", "8", "--set", "unit=party", "--set",
                             "noise=party")
        self.assertEqual(told["runs"][1]["charged"], {"unit": "party", "epsilon": 8, "delta": 0})

    def test_more_than_two_classes_have_no_auc(self):
        self.write("species.csv", "width,length,species\n" + SPECIES)
        told = self.simulate("--method", "batch,avg", "--parties", "2", "--epsilon", "inf", train="species.csv", schema=None)
        for run in told["runs"]:
            self.assertIsNone(run["auc"])
            self.assertGreater(run["accuracy"]["mean"], 0.6)

    def test_wrong_flags_are_usage_errors(self):
        base = ["--train", ROWS, "--schema", SCHEMA]
        self.refuse(2, "--method", "average", *base, "--parties", "5", says=["average", "batch, indiv, avg"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", says=["--epsilon"])
        self.refuse(2, "--method", "avg", *base, "--epsilon", "1", says=["--parties"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", "--epsilon", "0", says=["--epsilon", "above 0"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", "--epsilon", "-1", says=["--epsilon"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", "--epsilon", "1,x", says=["--epsilon", "x"])
        self.refuse(2, "--method", "avg", *base, "--parties", "0", "--epsilon", "1", says=["--parties"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", "--epsilon", "1", "--lambda", "0", says=["--lambda"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", "--epsilon", "1", "--trials", "0", says=["--trials"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", "--epsilon", "1", "--split", "odd", says=["--split", "odd"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", "--epsilon", "1", "--set", "mood=good", says=["mood"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", "--epsilon", "1", "--set", "unit=row",
                    says=["unit", "record|party"])
        self.refuse(2, "--method", "batch", *base, "--parties", "5", "--bounds-from-data", says=["--schema"])
        self.refuse(2, "--method", "batch", *base, "--parties", "5", "--test", ROWS, "--test-fraction", "0.5",
                    says=["--test-fraction"])
        self.refuse(2, "--method", "batch", *base, "--parties", "5", "--test-fraction", "1", says=["--test-fraction"])
        self.refuse(2, "--method", "batch", *base, "--split", "by:wing", says=["wing"])
        self.refuse(2, "--method", "avg", *base, "--parties", "5", "--epsilon", "1,2", "--out", "m.json", says=["--out", "2"])
        self.refuse(2, "--method", "batch,indiv", *base, "--parties", "5", "--out", "m.json", says=["--out"])
        self.refuse(2, "--method", "batch", "--parties", "5", says=["--train"])
        self.refuse(2, "--method", "batch", *base, "--parties", "5", "--label", "diagnose", says=["diagnose"])
        self.refuse(2, "--method", "batch", "--train", ROWS, "--bounds-from-data", "--parties", "5", "--label", "diagnosi",
                    says=["diagnosi", "did you mean"])

    def test_bad_files_are_failures(self):
        self.refuse(1, "--method", "batch", "--train", "none.csv", "--parties", "5", says=["none.csv"])
        self.refuse(1, "--method", "batch", "--train", ROWS, "--schema", "none.yaml", "--parties", "5", says=["none.yaml"])
        self.refuse(1, "--method", "batch", "--train", ROWS, "--schema", SCHEMA, "--parties", "1000",
                    says=["455 rows", "1000 parties"])
        self.write("empty.csv", "")
        self.refuse(1, "--method", "batch", "--train", "empty.csv", "--parties", "5", says=["empty.csv"])
        self.write("ragged.csv", "a,b,y\n1,2,0\n1,1\n")
        self.refuse(1, "--method", "batch", "--train", "ragged.csv", "--parties", "1", says=["ragged.csv:3"])
        self.write("other.csv", "a,b,y\n1,2,0\n1,1,1\n")
        self.refuse(2, "--method", "batch", "--train", ROWS, "--schema", SCHEMA, "--test", "other.csv", "--parties", "5",
                    says=["other.csv", "mean_radius"])

    def test_nobody_answering_is_a_refusal(self):
        self.refuse(3, "--method", "avg", "--train", ROWS, "--schema", SCHEMA, "--parties", "5", "--epsilon", "1",
                    "--minimum-rows", "500", says=["0 parties"])

    def test_figures_are_shown_even_when_the_model_cannot_be_written(self):
        done = self.tacit("simulate", "--method", "batch", "--train", ROWS, "--schema", SCHEMA, "--parties", "5", "--out",
                          "/dev/full", "--json")
        self.assertEqual(done.returncode, 1)
        told = json.loads(done.stdout)
        self.assertEqual(told["error"]["code"], "IO")
        self.assertEqual(len(told["runs"]), 1)
        self.assertIn("/dev/full", done.stderr)

    def test_a_method_with_many_models_has_none_to_write(self):
        done = self.tacit("simulate", "--method", "indiv", "--train", ROWS, "--schema", SCHEMA, "--parties", "5", "--out",
                          "m.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("indiv", done.stderr)
        self.assertEqual(os.listdir(self.path), [])


    def test_a_sweep_is_drawn_as_a_chart(self):
        words = ["simulate", "--method", "batch,indiv,avg", "--train", ROWS, "--schema", SCHEMA, "--parties", "5",
                 "--epsilon", "0.1,1,10,inf", "--trials", "4", "--seed", "1", "--plot"]
        done = self.succeed(*words, "a.svg")
        self.assertIn("wrote a.svg", done.stderr)
        root = ElementTree.parse(self.path / "a.svg").getroot()
        of_class = lambda name: [one for one in root.iter() if one.get("class") == name]
        self.assertEqual([one.text for one in of_class("label")], ["batch", "indiv", "avg"])
        self.assertEqual(len(of_class("reference")), 2)
        self.assertEqual(len(of_class("bar")), 3 * 3)  # without noise there is no spread
        self.assertIn("avg at epsilon 0.1: ", root[1].text)
        self.succeed(*words, "b.svg")
        self.assertEqual((self.path / "a.svg").read_bytes(), (self.path / "b.svg").read_bytes())

    def test_a_chart_that_cannot_be_written_is_said_before_the_work(self):
        self.fail_with(1, "simulate", "--method", "avg", "--train", "not-even-there.csv", "--parties", "5",
                       "--epsilon", "1", "--trials", "1000000", "--plot", "no/such/place.svg",
                       says=["no/such/place.svg"])
        self.assertEqual(os.listdir(self.path), [])

    def test_a_model_that_cannot_be_written_is_said_before_the_work(self):
        (self.path / "taken").mkdir()
        for place in ("no/such/place.json", "taken"):
            self.fail_with(1, "simulate", "--method", "avg", "--train", "not-even-there.csv", "--parties", "5",
                           "--epsilon", "1", "--trials", "1000000", "--out", place, says=[place])

    def test_a_chart_is_an_svg(self):
        for name in ("x.png", "x.PDF"):
            self.fail_with(2, "simulate", "--method", "avg", "--train", "not-even-there.csv", "--parties", "5",
                           "--epsilon", "1", "--plot", name, says=[name, "SVG", "x.svg"])

    def test_rounds_without_a_center_are_traced(self):
        words = ["simulate", "--method", "batch,consensus,extra", "--train", ROWS, "--schema", SCHEMA, "--parties", "10",
                 "--seed", "1", "--set", "rounds=300", "--lambda", "0.1", "--trace"]
        self.succeed(*words, "trace.csv")
        with open(self.path / "trace.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["curve"] for row in rows], ["consensus"] * 301 + ["extra"] * 301)
        self.assertLess(float(rows[-1]["distance"]), 1e-6)
        self.assertGreater(float(rows[300]["distance"]), 1e-6)

    def test_a_trace_wants_a_method_without_a_center_and_a_graph_that_is_one_piece(self):
        words = ["simulate", "--train", ROWS, "--schema", SCHEMA, "--parties", "4"]
        self.fail_with(2, *words, "--method", "batch", "--trace", "trace.csv", says=["--trace", "consensus"])
        self.write("edges", "1 2\n3 4\n")
        self.fail_with(2, *words, "--method", "extra", "--set", "graph=file:edges", says=["2 pieces", "edges"])
        self.write("edges", "1 2\n3 five\n")
        self.fail_with(1, *words, "--method", "extra", "--set", "graph=file:edges", says=["edges:2"])


class UseModel(LearningTest):
    def test_a_model_carries_schema_classes_and_guarantee(self):
        model = json.loads((self.path / self.model()).read_text(encoding="utf-8"))
        self.assertEqual(model["class_names"], ["benign", "malignant"])
        self.assertIn("mean_radius", model["schema"])
        self.assertEqual(model["guarantee"]["noise"], "simulated")
        self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": 10, "delta": 0})
        self.assertEqual((model["guarantee"]["method"], model["guarantee"]["parties"]), ("avg", 5))

    def test_evaluate_agrees_with_predict_and_with_counting(self):
        name = self.model()
        told = json.loads(self.succeed("evaluate", name, ROWS, "--json").stdout)
        self.assertEqual(told["n"], 569)
        rows = list(csv.reader(io.StringIO(self.succeed("predict", name, ROWS).stdout)))
        self.assertEqual(rows[0], ["row", "predicted", "p(benign)", "p(malignant)"])
        with open(ROWS, encoding="utf-8") as file:
            truth = [line["diagnosis"] for line in csv.DictReader(file)]
        guesses = rows[1:]
        self.assertEqual([int(row[0]) for row in guesses], list(range(1, 570)))
        right = sum(guess[1] == label for guess, label in zip(guesses, truth))
        self.assertAlmostEqual(told["accuracy"], right / 569, 12)
        loss = -sum(math.log(float(guess[3 if label == "malignant" else 2])) for guess, label in zip(guesses, truth)) / 569
        self.assertAlmostEqual(told["logloss"], loss, 9)
        high = [float(guess[3]) for guess, label in zip(guesses, truth) if label == "malignant"]
        low = [float(guess[3]) for guess, label in zip(guesses, truth) if label == "benign"]
        wins = sum((a > b) + (a == b) / 2 for a in high for b in low)
        self.assertAlmostEqual(told["auc"], wins / len(high) / len(low), 9)
        for guess in guesses:
            self.assertAlmostEqual(float(guess[2]) + float(guess[3]), 1, 12)
            self.assertEqual(guess[1], "malignant" if float(guess[3]) > 0.5 else "benign")

    def test_evaluate_shows_the_guarantee(self):
        text = self.succeed("evaluate", self.model(), ROWS).stdout
        self.assertIn("made by avg over 5 parties", text)
        self.assertIn("epsilon 10, delta 0, per record", text)
        self.assertIn("noise: simulated", text)
        self.succeed("simulate", "--method", "batch", "--train", ROWS, "--schema", SCHEMA, "--parties", "5", "--out", "b.json")
        told = json.loads(self.succeed("evaluate", "b.json", ROWS, "--json").stdout)
        self.assertEqual((told["guarantee"]["private"], told["guarantee"]["charged"]), (False, None))
        self.assertIn("not private", self.succeed("evaluate", "b.json", ROWS).stdout)

    def test_predict_needs_no_label_and_writes_for_the_owner_only(self):
        name = self.model()
        with open(ROWS, encoding="utf-8") as file:
            lines = [line.rsplit(",", 1)[0] for line in file.read().splitlines()]
        self.write("unlabelled.csv", "\n".join(lines) + "\n")
        self.succeed("predict", name, "unlabelled.csv", "--out", "p.csv")
        self.assertEqual((self.path / "p.csv").read_text(encoding="utf-8"), self.succeed("predict", name, ROWS).stdout)
        self.assertEqual(stat.S_IMODE(os.stat(self.path / "p.csv").st_mode), 0o600)
        told = json.loads(self.succeed("predict", name, "unlabelled.csv", "--json").stdout)
        self.assertEqual(told["classes"], ["benign", "malignant"])
        self.assertEqual((len(told["predictions"]), told["predictions"][0]["row"]), (569, 1))
        self.assertEqual(json.loads(self.succeed("predict", name, ROWS, "--out", "p.csv", "--json").stdout),
                         {"out": "p.csv", "rows": 569})
        self.fail_with(2, "evaluate", name, "unlabelled.csv", says=["unlabelled.csv", "diagnosis"])

    def test_many_classes_get_one_probability_each(self):
        self.write("species.csv", 'width,length,species\n' + SPECIES.replace(",b\n", ',"b, or ""B"""\n'))
        self.succeed("simulate", "--method", "batch", "--train", "species.csv", "--bounds-from-data", "--parties", "2",
                     "--out", "m.json")
        rows = list(csv.reader(io.StringIO(self.succeed("predict", "m.json", "species.csv").stdout)))
        self.assertEqual(rows[0], ["row", "predicted", "p(a)", 'p(b, or "B")', "p(c)"])
        for row in rows[1:]:
            self.assertAlmostEqual(sum(map(float, row[2:])), 1, 12)
        told = json.loads(self.succeed("evaluate", "m.json", "species.csv", "--json").stdout)
        self.assertIsNone(told["auc"])

    def test_damaged_models_are_refused(self):
        name = self.model()
        model = json.loads((self.path / name).read_text(encoding="utf-8"))
        text = json.dumps(model)
        self.write("cut.json", text[: len(text) // 2])
        self.write("weights.json", json.dumps({**model, "weights": model["weights"][:-1]}))
        self.write("bare.json", json.dumps({**model, "schema": ""}))
        self.write("classes.json", json.dumps({**model, "schema": model["schema"].replace(
            'classes: ["benign", "malignant"]', 'classes: ["benign", "malignant", "neither"]')}))
        self.write("text.json", "hello\n")
        for command in ("evaluate", "predict"):
            self.fail_with(1, command, "cut.json", ROWS, says=["cut.json"])
            self.fail_with(1, command, "weights.json", ROWS, says=["weights.json", "30 weights where 31 belong"])
            self.fail_with(1, command, "bare.json", ROWS, says=["bare.json", "without a schema"])
            self.fail_with(1, command, "classes.json", ROWS, says=["classes.json", "3", "2"])
            self.fail_with(1, command, "text.json", ROWS, says=["text.json"])
            self.fail_with(1, command, "none.json", ROWS, says=["none.json"])
            self.fail_with(1, command, name, "none.csv", says=["none.csv"])
            self.fail_with(2, command, name, says=["FILE"])


class Ledger(LearningTest):
    def tacit(self, *words, **more):
        environment = {**os.environ, "TACIT_HOME": str(self.path / "home"), "TERM": "dumb"}
        return subprocess.run([TACIT, *words], capture_output=True, text=True, cwd=self.path, env=environment,
                              timeout=600, **more)

    def test_a_ledger_begins_with_a_limit(self):
        self.fail_with(1, "ledger", "show", says=["no ledger", "tacit ledger limit"])
        self.fail_with(1, "ledger", "verify", says=["no ledger"])
        self.succeed("ledger", "limit", "--source", "ward-7", "--epsilon", "3")
        self.assertEqual(stat.S_IMODE(os.stat(self.path / "home").st_mode), 0o700)
        told = json.loads(self.succeed("ledger", "show", "--json").stdout)
        self.assertEqual(told["ledger"], str(self.path / "home" / "ledger.db"))
        source = told["sources"][0]
        self.assertEqual((source["source"], source["entries"][0]["entry"]), ("ward-7", "limit"))
        self.assertEqual(source["accounts"][0], {"study": None, "unit": "record", "sum": {"epsilon": 0, "delta": 0},
                                                 "spent": {"epsilon": 0, "delta": 0}, "accountant": "basic", "count": "sum",
                                                 "limit": {"epsilon": 3, "delta": 0},
                                                 "remaining": {"epsilon": 3, "delta": 0}, "otherwise": None})
        self.assertIsNone(source["accounts"][1]["limit"])

    def test_a_limit_for_what_is_no_file_is_noted(self):
        done = self.succeed("ledger", "limit", "--source", "TYPO.csv", "--epsilon", "0")
        self.assertIn("TYPO.csv is no file here: the limit is for a source of that name", done.stderr)
        self.write("rows.csv", GOOD)
        database = sqlite3.connect(self.path / "ward.db")
        database.execute("create table visits (age, relapsed)")
        database.execute("insert into visits values (61, 1)")
        database.commit()
        database.close()
        for source in ("rows.csv", f"sqlite:{self.path}/ward.db?select * from visits"):
            self.assertEqual(self.succeed("ledger", "limit", "--source", source, "--epsilon", "1").stderr, "")
        done = self.succeed("ledger", "limit", "--source", "sqlite:ward.db?select 1", "--epsilon", "1")
        self.assertIn("name the SQLite file by its full path", done.stderr)

    def test_a_file_has_one_ledger_however_it_is_spelled(self):
        self.write("rows.csv", GOOD)
        os.mkdir(self.path / "sub")
        os.symlink("../rows.csv", self.path / "sub" / "link.csv")
        self.succeed("ledger", "limit", "--source", "rows.csv", "--epsilon", "1")
        self.succeed("ledger", "limit", "--source", "sub/../rows.csv", "--epsilon", "2")
        self.succeed("ledger", "limit", "--source", "sub/link.csv", "--epsilon", "3", "--delta", "1e-6", "--unit", "party",
                     "--study", "heart")
        told = json.loads(self.succeed("ledger", "show", "--source", "rows.csv", "--json").stdout)
        self.assertEqual([source["source"] for source in told["sources"]], [str((self.path / "rows.csv").resolve())])
        self.assertEqual(len(told["sources"][0]["entries"]), 3)
        self.assertEqual(told["sources"][0]["accounts"][0]["limit"]["epsilon"], 2)
        self.assertEqual(told["sources"][0]["accounts"][2]["study"], "heart")
        text = self.succeed("ledger", "show").stdout
        self.assertIn("3, delta 1e-06 per party", text)

    def test_where_the_ledger_is_follows_the_environment(self):
        def ledger(**variables):
            done = subprocess.run([TACIT, "ledger", "show"], capture_output=True, text=True, cwd=self.path,
                                  env={"TERM": "dumb", **variables}, timeout=600)
            return done.returncode, done.stderr
        self.assertIn("/h/.local/share/tacit/ledger.db", ledger(HOME="/h")[1])
        self.assertIn("/x/tacit/ledger.db", ledger(HOME="/h", XDG_DATA_HOME="/x")[1])
        self.assertIn("/h/.local/share/tacit/ledger.db", ledger(HOME="/h", XDG_DATA_HOME="x")[1])
        self.assertIn(" /t/ledger.db", ledger(HOME="/h", XDG_DATA_HOME="/x", TACIT_HOME="/t")[1])
        code, said = ledger()
        self.assertEqual(code, 2)
        self.assertIn("TACIT_HOME", said)

    def test_wrong_limits_are_usage_errors_and_leave_nothing(self):
        for words in (["--source", "x"], ["--epsilon", "1"], ["--source", "x", "--epsilon", "inf"],
                      ["--source", "x", "--epsilon", "-1"], ["--source", "x", "--epsilon", "1", "--delta", "1"],
                      ["--source", "x", "--epsilon", "1", "--unit", "row"]):
            self.fail_with(2, "ledger", "limit", *words)
        self.fail_with(1, "ledger", "limit", "--source", "x" * 201, "--epsilon", "1", says=["200"])
        self.succeed("ledger", "limit", "--source", "ward-7", "--epsilon", "1")
        self.fail_with(2, "ledger", "show", "--source", "ward-8", says=["ward-8", "ward-7"])

    def test_verify_prints_the_head_and_notices_tampering(self):
        for epsilon in ("1", "2", "3"):
            self.succeed("ledger", "limit", "--source", "ward-7", "--epsilon", epsilon)
        told = json.loads(self.succeed("ledger", "verify", "--json").stdout)
        self.assertEqual((told["entries"], told["sound"], len(told["head"])), (3, True, 64))
        self.assertIn(told["head"], self.succeed("ledger", "verify").stdout)
        database = sqlite3.connect(self.path / "home" / "ledger.db")
        with database:
            database.execute("UPDATE limits SET epsilon = 100")
        database.close()
        done = self.tacit("ledger", "verify", "--json")
        self.assertEqual(done.returncode, 1)
        told = json.loads(done.stdout)
        self.assertEqual((told["sound"], told["error"]["code"]), (False, "CORRUPT"))
        self.assertEqual(len([line for line in done.stderr.splitlines() if line.startswith("tacit: ")]), 1)
        database = sqlite3.connect(self.path / "home" / "ledger.db")
        with database:
            database.execute("UPDATE log SET body = zeroblob(length(body)) WHERE entry = 2")
        database.close()
        told = json.loads(self.tacit("ledger", "verify", "--json").stdout)
        self.assertEqual((told["broken"], told["entries"]), (2, 1))


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[1:]])
