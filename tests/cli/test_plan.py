#!/usr/bin/env python3
"""plan as a consortium and an owner meet it, and studies that are tried out before they are added.

    TACIT=build/src/cli/tacit tests/cli/test_plan.py
"""
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import TACIT, ProgramTest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SCHEMA = """label: {name: sick, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 0, high: 100}
  - {name: dose, kind: number, low: 0, high: 1}
  - {name: sex, kind: category, levels: [f, m]}
"""


class Planning(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("schema.yaml", SCHEMA)
        self.numbers = ("plan", "--schema", "schema.yaml", "--parties", "8", "--rows", "2000", "--epsilon", "1", "--brief")

    def plan(self, *more, numbers=None):
        return json.loads(self.succeed(*(numbers or self.numbers), *more, "--json", "--quiet").stdout)

    def rows(self, name, count):
        draw = random.Random(1)
        lines = ["age,dose,sex,sick"]
        for _ in range(count):
            age, dose, sex = draw.uniform(0, 100), draw.random(), draw.choice("fm")
            sick = draw.random() < 1 / (1 + 2.718281828 ** -((age - 50) / 12 + (sex == "m") - .5))
            lines.append(f"{age:.2f},{dose:.3f},{sex},{'yes' if sick else 'no'}")
        return self.write(name, "\n".join(lines) + "\n")

    def study(self, name="s.yaml", **changed):
        keys = {"name": "trial", "title": "A trial", "method": "dpnewton", "set": "{noise: shares}", "epsilon": 1, "delta": "1e-5",
                "parties": "{expected: 8, minimum: 7}", "minimum_rows": 20, "expected_rows": 2000, "schema": "schema.yaml", **changed}
        return self.write(name, "".join(f"{key}: {value}\n" for key, value in keys.items() if value is not None))


class Plan(Planning):
    def test_every_figure_is_there_beside_pooled_and_alone(self):
        told = self.plan("--methods", "dpnewton,dpgd")
        self.assertEqual([told[key] for key in ("rows", "parties", "features", "epsilon", "delta")], [2000, 8, 5, 1.0, 1e-5])
        self.assertEqual(sorted(one["method"] for one in told["methods"]), ["dpgd", "dpnewton"])
        self.assertIn(told["recommended"], ("dpgd", "dpnewton"))
        for one in told["methods"]:
            self.assertEqual(sorted(one), ["alone", "bytes_per_party", "charged", "expected", "handovers", "method", "not_estimable", "pays_from_epsilon", "pooled",
                                           "rounds", "settings", "verdict", "warning"])
            self.assertEqual(one["charged"]["unit"], "record")
            self.assertAlmostEqual(one["charged"]["epsilon"], 1)
            self.assertEqual(one["settings"]["expected_rows"], 2000)
            self.assertEqual(one["settings"]["set"]["noise"], "shares")
            self.assertGreater(one["settings"]["lambda"], 0)
            self.assertEqual(one["handovers"], 5 * one["rounds"])
            for who in ("expected", "alone", "pooled"):
                for figure in ("accuracy", "auc", "logloss"):
                    self.assertLessEqual(one[who][figure]["low"], one[who][figure]["mean"])
                    self.assertLessEqual(one[who][figure]["mean"], one[who][figure]["high"])
            self.assertAlmostEqual(one["pooled"]["auc"]["mean"], 0.75, delta=0.03)
            pays = one["expected"]["auc"]["mean"] > one["alone"]["auc"]["mean"]
            self.assertEqual(one["verdict"], "joining pays" if pays else "joining does not pay")
        text = self.succeed(*self.numbers, "--methods", "dpnewton").stdout
        for word in ("a site alone", "all rows pooled", "dpnewton", "expected_rows: 2000", "signal of AUC 0.750"):
            self.assertIn(word, text)

    def test_methods_that_suit_are_found_by_themselves_and_the_others_are_named(self):
        told = self.plan()
        names = {one["method"] for one in told["methods"]}
        self.assertLessEqual({"dpnewton", "dpgd", "gop", "avg", "output"}, names)
        left_out = {one["method"]: one["why"] for one in told["unsuitable"]}
        self.assertIn("public points", left_out["vote"])
        self.assertFalse(names & set(left_out))

    def test_the_price_from_which_it_pays_and_what_more_would_buy(self):
        told = self.plan("--methods", "dpnewton", numbers=("plan", "--schema", "schema.yaml", "--parties", "40", "--rows", "2000", "--epsilon", "1"))
        self.assertLess(told["methods"][0]["pays_from_epsilon"], 20)
        self.assertEqual((told["more_parties"]["parties"], told["more_parties"]["rows"]), (80, 4000))
        self.assertEqual((told["more_rows"]["parties"], told["more_rows"]["rows"]), (40, 4000))
        self.assertGreater(told["more_rows"]["alone"]["auc"]["mean"], 0.5)

    def test_no_verdict_where_pooled_rows_score_too_high(self):
        told = self.plan("--methods", "dpnewton", "--signal", "0.98")
        self.assertEqual(told["methods"][0]["verdict"], "no verdict")

    def test_own_rows_are_looked_at_and_nothing_is_kept(self):
        own, home = self.rows("own.csv", 300), self.path / "home"
        before = sorted(os.listdir(self.path))
        done = subprocess.run([TACIT, *self.numbers, "--methods", "dpnewton", "--own", own, "--json"], capture_output=True, text=True, cwd=self.path,
                              env={**os.environ, "TACIT_HOME": str(home)}, timeout=600, check=True)
        self.assertIn("nothing is released", done.stderr)
        self.assertEqual(sorted(os.listdir(self.path)), before)
        told = json.loads(done.stdout)
        self.assertGreater(told["signal"], 0.82)
        self.assertAlmostEqual(self.plan("--methods", "dpnewton", "--like", own)["signal"], told["signal"])

    def test_numbers_and_counts_are_planned_by_what_is_explained(self):
        for kind, high in (("number", 300), ("count", 30)):
            with self.subTest(kind=kind):
                self.write("schema.yaml", SCHEMA.replace('classes: ["no", "yes"]', f"kind: {kind}, low: 0, high: {high}"))
                told = self.plan("--signal", "0.4")
                self.assertEqual([told["response"], told["signal"], told["positives"]], [kind, 0.4, None])
                self.assertAlmostEqual(told["pooled"]["explained"]["mean"], 0.4, delta=0.05)
                one = next(one for one in told["methods"] if one["method"] == "dpnewton")
                self.assertLessEqual(one["expected"]["explained"]["mean"], told["pooled"]["explained"]["mean"] + 0.02)
                self.assertIsNone(one["expected"]["auc"])
                self.assertGreater(one["expected"]["deviance"]["mean"], 0)
                shown = self.succeed(*self.numbers, "--quiet").stdout
                self.assertIn({"number": "R^2", "count": "share of the deviance"}[kind], shown)
                self.assertIn("30% of the " + {"number": "variance", "count": "deviance"}[kind], shown)

    def test_a_plan_a_simulation_and_a_definition_are_set_alike(self):
        self.rows("rows.csv", 2000)
        self.study()
        told = self.plan("--methods", "dpnewton", numbers=("plan", "s.yaml", "--brief"))["methods"][0]
        rounds = {}
        for expected in (2000, 2000000):
            done = self.succeed("simulate", "--method", "dpnewton", "--set", "noise=shares", "--train", "rows.csv", "--schema", "schema.yaml",
                                "--parties", "8", "--epsilon", "1", "--delta", "1e-5", "--expected-rows", str(expected), "--minimum-rows", "20",
                                "--seed", "1", "--json")
            rounds[expected] = json.loads(done.stdout)["runs"][0]["rounds"]
        self.assertEqual(told["rounds"], rounds[2000])
        self.assertNotEqual(rounds[2000000], rounds[2000])  # so that the above says something

    def test_the_demonstrations_settings_are_those_of_its_plan(self):
        # what docs/demo.md says: of the study that script/demo plays, and of the simulation by which bench/run_demo counts how often joining pays
        told = self.plan(numbers=("plan", str(EXAMPLES / "wilms.study.yaml"), "--methods", "dpnewton", "--brief"))["methods"][0]
        words = ("simulate", "--method", "dpnewton", "--train", str(EXAMPLES / "wilms.csv"), "--schema", str(EXAMPLES / "wilms.schema.yaml"), "--test-fraction", "0.25",
                 "--parties", "20", "--epsilon", "1", "--delta", "1e-5", "--dropouts", "0.1", "--colluders", "0.1", "--seed", "1", "--set", "noise=shares", "--json")
        there, expected, other = (json.loads(self.succeed(*words, *more).stdout)["runs"][0]
                                  for more in ((), ("--expected-rows", "3000"), ("--expected-rows", "300000")))
        self.assertEqual([there["rounds"], expected["rounds"]], [told["rounds"]] * 2)
        self.assertAlmostEqual(expected["lambda"] / told["settings"]["lambda"], 1, places=9)
        self.assertAlmostEqual(there["lambda"] / told["settings"]["lambda"], 1, delta=0.02)  # 3,021 rows
        self.assertNotEqual(other["rounds"], told["rounds"])  # so that the above says something
        self.assertLess(other["lambda"], told["settings"]["lambda"] / 2)

    def test_a_model_that_only_ranks_better_than_chance_is_not_recommended(self):
        # so few rows for 31 columns that probabilities are worse than each class's share
        told = self.plan("--methods", "dptree,dpgd", numbers=("plan", "--schema", str(EXAMPLES / "breast_cancer.schema.yaml"), "--parties", "20", "--rows", "426",
                                                                "--epsilon", "1", "--brief"))
        loss, auc = ({one["method"]: one["expected"][figure]["mean"] for one in told["methods"]} for figure in ("logloss", "auc"))
        self.assertEqual(told["recommended"], min(loss, key=loss.get))
        self.assertNotEqual(told["recommended"], max(auc, key=auc.get))  # so that the above says something
        self.assertIn("expect no gain over the base rate", next(one["warning"] for one in told["methods"] if one["method"] == told["recommended"]))
        text = self.succeed("plan", "--schema", str(EXAMPLES / "breast_cancer.schema.yaml"), "--parties", "20", "--rows", "426", "--epsilon", "1", "--brief",
                            "--methods", "dptree,dpgd", "--quiet").stdout
        self.assertRegex(text, r"(?m)^In the study's definition:\n  # at this price expect no gain over the base rate: .*\n  method: ")
        paying = self.succeed(*self.numbers, "--methods", "dpnewton", "--quiet").stdout
        self.assertRegex(paying, r"(?m)^In the study's definition:\n  method: dpnewton$")

    def test_what_is_missing_or_said_twice_is_a_mistake(self):
        self.study()
        own = self.rows("own.csv", 15)
        for words, says in [
                (("plan",), "--schema is missing"),
                (("plan", "--schema", "schema.yaml", "--parties", "3", "--epsilon", "1"), "--rows is missing"),
                (("plan", "s.yaml", "--rows", "30"), "either the study or the numbers"),
                (("plan", "none.yaml"), "none.yaml"),
                ((*self.numbers, "--methods", "magic"), "no method is called 'magic'"),
                ((*self.numbers, "--signal", "0.4"), "--signal"),
                ((*self.numbers, "--own", own, "--like", own), "either --like or --own"),
                ((*self.numbers, "--own", own), "too few"),
                (("plan", "--schema", "schema.yaml", "--parties", "30", "--rows", "3", "--epsilon", "1"), "too few")]:
            with self.subTest(words=words):
                of_a_file = "none.yaml" in words or ("--own" in words and "--like" not in words)
                self.fail_with(1 if of_a_file else 2, *words, says=[says])
        self.study("exact.yaml", method="estimate", set=None, epsilon=None, delta=None, expected_rows=None)
        self.succeed("plan", "exact.yaml", "--quiet")

    def test_ctrl_c_ends_it_at_once(self):
        process = subprocess.Popen([TACIT, "plan", "--schema", "schema.yaml", "--parties", "50", "--rows", "900000", "--epsilon", "1"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.path)
        process.stderr.readline()  # it is under way
        process.send_signal(signal.SIGINT)
        out, said = process.communicate(timeout=600)
        self.assertNotEqual(process.returncode, 0)
        self.assertEqual(out, "")
        self.assertIn("interrupted", said)


class NewStudies(Planning):
    def new(self, file, *more):
        return self.tacit("study", "new", "consortium", file, *more)

    def test_what_to_expect_is_said_when_a_study_is_added(self):
        done = self.new(self.study())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"expected AUC 0\.\d+ .* a site alone 0\.\d+, all rows pooled 0\.\d+")

    def test_what_is_hopeless_is_refused_before_anything_is_made(self):
        file = self.study(epsilon="0.01", expected_rows=200)
        done = self.new(file)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("is hopeless: method dpnewton at epsilon 0.01 with 200 rows", done.stderr)
        self.assertIn("--force", done.stderr)
        self.assertFalse((self.path / "consortium").exists())
        done = self.new(file, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("hopeless", done.stderr)

    def test_an_empty_table_of_coefficients_is_foreseen(self):
        file = self.study(set="{noise: shares, purpose: inference}", expected_rows=300)
        done = self.new(file)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertRegex(done.stderr, r"not to be estimable, which needs about \d+ rows, or epsilon \d")
        self.assertFalse((self.path / "consortium").exists())
        told = self.plan(numbers=("plan", file, "--methods", "dpnewton"))["methods"][0]
        self.assertGreater(told["not_estimable"]["share"], 0.9)
        self.assertGreater(told["not_estimable"]["rows"], 300)
        self.assertIn("not estimable at this price", told["warning"])
        done = self.new(file, "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("expect no table of coefficients", done.stderr)
        many = self.study(name="many.yaml", set="{noise: shares, purpose: inference}", expected_rows=200000)
        told = self.plan(numbers=("plan", many, "--methods", "dpnewton", "--brief"))["methods"][0]["not_estimable"]
        self.assertLess(told["share"] if told else 0, 0.5)

    def test_where_no_rows_are_expected_the_fewest_are_foreseen_and_nothing_is_refused(self):
        done = self.new(self.study(epsilon="0.01", expected_rows=None))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"expected AUC 0\.\d+ ")
        self.assertIn("8 parties times minimum_rows, 160 rows", done.stderr)
        self.assertIn("with no more than 160 rows the study is hopeless", done.stderr)
        done = self.new(self.study(name="t.yaml", **{"title": "Another", "epsilon": "0.01", "expected_rows": None}), "--force")
        self.assertNotIn("expected AUC", done.stdout)
        self.assertIn("160 rows", done.stderr)

    def definition(self):
        """The text that parties agree on."""
        store = sqlite3.connect(f"file:{self.path / 'consortium' / 'coordinator.db'}?mode=ro", uri=True)
        texts = [value for table, in store.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
                 for row in store.execute(f"SELECT * FROM \"{table}\"") for value in row]
        store.close()
        texts = [text.decode(errors="replace") if isinstance(text, bytes) else str(text) for text in texts]
        return next(text for text in texts if "minimum_rows:" in text)

    def test_rounds_and_rates_that_are_left_open_become_part_of_the_definition(self):
        self.rows("rows.csv", 2000)
        for method, names, more in (("dpnewton", ["rounds"], {}), ("dpgd", ["rounds"], {}), ("dpsgd", ["rate", "clip"], {"hidden": "none", "sampling": "1", "epochs": "20"})):
            with self.subTest(method=method):
                shutil.rmtree(self.path / "consortium", ignore_errors=True)
                said = {"noise": "shares", **more}
                file = self.study(method=method, set="{" + ", ".join(f"{key}: {value}" for key, value in said.items()) + "}", epsilon=3)
                planned = self.plan("--methods", method, numbers=("plan", file, "--brief"))["methods"][0]
                self.assertEqual(self.new(file).returncode, 0)
                written = dict(re.findall(r'^ *(\w+): "?([^"\n]*)"?$', self.definition(), re.M))
                for name in names:
                    self.assertGreater(float(written[name]), 0)
                    self.assertEqual(float(written[name]), float(planned["settings"]["set"][name]))
                words = ("simulate", "--method", method, "--train", "rows.csv", "--schema", "schema.yaml", "--parties", "8", "--epsilon", "3", "--delta", "1e-5",
                         "--expected-rows", "2000", "--minimum-rows", "20", "--lambda", written["lambda"], "--seed", "1", "--json",
                         *(word for key, value in said.items() for word in ("--set", f"{key}={value}")))
                left, given = (json.loads(self.succeed(*words, *(word for name in names[:k] for word in ("--set", f"{name}={written[name]}"))).stdout)["runs"][0]
                               for k in (0, len(names)))
                for key in ("accuracy", "logloss", "rounds", "noise"):
                    self.assertEqual(left[key], given[key])
                if "rounds" in names:
                    self.assertEqual(planned["rounds"], given["rounds"])


if __name__ == "__main__":
    unittest.main()
