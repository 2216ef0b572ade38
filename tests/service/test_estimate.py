#!/usr/bin/env python3
"""Method estimate between real processes: the figures of all rows pooled, also after crashes, and only with the owner's word.

    TACIT=build/src/cli/tacit tests/service/test_estimate.py
"""
import contextlib
import json
import os
import random
import re
import sqlite3
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

EXACT = ("--allow-entrusted", "--allow-exact")


class Estimates(DeployedTest):
    def define(self, optimiser, more=""):
        self.study(method="estimate", set="{optimiser: %s%s}" % (optimiser, more), epsilon=None, **{"lambda": 0})

    def pooled(self, *words):
        """The same from one simulated party that has everybody's rows."""
        lines = [self.rows(party).read_text().splitlines() for party in range(3)]
        (self.path / "all.csv").write_text("\n".join(lines[0] + lines[1][1:] + lines[2][1:]) + "\n")
        done = self.succeed("simulate", "--method", "estimate", "--train", "all.csv", "--test", "all.csv", "--schema",
                            "schema.yaml", "--parties", "1", *words, "--json")
        return json.loads(done.stdout)["summary"]

    def check_figures(self, *words, rows=120):
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual((summary["parties"], summary["rows"], summary["private"]), (3, rows, False))
        for mine, theirs in zip(summary["coefficients"], self.pooled(*words)["coefficients"]):
            self.assertEqual(mine["name"], theirs["name"])
            for key in ("estimate", "error"):
                self.assertAlmostEqual(mine[key], theirs[key], delta=1e-9 * abs(theirs[key]))
        return summary

    def test_three_parties_get_the_figures_of_all_rows(self):
        self.define("newton")
        self.coordinator()
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        model = self.check_done(parties, charged=[])
        self.assertNotIn("charged", model["guarantee"])
        summary = self.check_figures()
        charges = self.charges(0)
        self.assertEqual(len(charges), summary["rounds"])
        for charge in charges:
            self.assertEqual((charge["price"]["epsilon"], charge["kind"], charge["noise"]), ("inf", "entrusted", "none"))
        self.succeed("ledger", "verify", home=self.home(0))

    def test_robust_errors_and_influence_are_those_of_all_rows(self):
        for party in range(3):
            self.rows(party, 300)  # squares of few rows would be refused
        self.define("newton", ", errors: HC3, influence: yes")
        self.coordinator()
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        self.check_done(parties, charged=[])
        words = ("--set", "errors=HC3", "--set", "influence=yes")
        summary, pooled = self.check_figures(*words, rows=900), self.pooled(*words)
        self.assertEqual((summary["errors"], summary["terms"][0]["name"]), ("HC3", pooled["terms"][0]["name"]))
        self.assertEqual(len(self.charges(0)), summary["rounds"])
        for key in ("pearson", "leverage", "tjur"):  # unless few rows of a party make them up, at which it says none
            if summary["influence"][key] is not None:
                self.assertAlmostEqual(summary["influence"][key], pooled["influence"][key], delta=1e-6 * pooled["influence"][key])
        self.assertLessEqual(summary["influence"]["cook_rows"], pooled["influence"]["cook_rows"])

    def three_classes(self):
        text = (self.path / "schema.yaml").read_text().replace('classes: ["no", "yes"]', 'classes: ["no", "some", "yes"]')
        (self.path / "schema.yaml").write_text(text)
        draw = random.Random(8)
        for party in range(3):
            lines = self.rows(party, 200).read_text().splitlines()
            self.rows(party).write_text("\n".join([lines[0]] + [line[:line.rindex(",") + 1] + draw.choice(("no", "some", "yes"))
                                                                if draw.random() < 0.5 else line for line in lines[1:]]) + "\n")

    def check_classes(self, family):
        self.three_classes()
        settings = f"family: {family}, anova: drop1"
        self.study(method="estimate", set="{%s}" % settings, epsilon=None, terms="sick ~ age * dose", **{"lambda": 0})
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        words = ("--terms", "sick ~ age * dose", "--set", f"family={family}", "--set", "anova=drop1")
        summary = self.check_figures(*words, rows=600)
        for mine, theirs in zip(summary["anova"]["terms"], self.pooled(*words)["anova"]["terms"]):
            self.assertEqual(mine["name"], "age:dose")
            self.assertAlmostEqual(mine["statistic"], theirs["statistic"], delta=1e-6)

    def test_a_multinomial_study_has_the_figures_of_all_rows(self):
        self.check_classes("multinomial")

    def test_an_ordinal_study_has_the_figures_of_all_rows(self):
        self.check_classes("ordinal")

    def test_parties_have_intercepts_of_their_own_that_nobody_sees(self):
        for party in range(3):
            self.rows(party, 120)
        self.define("newton", ", intercepts: party")
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual(summary["sites"]["intercepts"], 3)
        texts = [self.rows(party).read_text().splitlines() for party in range(3)]
        lines = [texts[0][0] + ",site", *(f"{line},{party}" for party, text in enumerate(texts) for line in text[1:])]
        (self.path / "all.csv").write_text("\n".join(lines) + "\n")
        (self.path / "all.yaml").write_text((self.path / "schema.yaml").read_text().rstrip("\n") + "\n  - {name: site, kind: skip}\n")
        done = self.succeed("simulate", "--method", "estimate", "--train", "all.csv", "--test", "all.csv", "--schema", "all.yaml", "--split", "by:site", "--set",
                            "intercepts=party", "--json")
        simulated = json.loads(done.stdout)["summary"]
        self.assertEqual(len(summary["coefficients"]), len(simulated["coefficients"]))
        for mine, theirs in zip(summary["coefficients"], simulated["coefficients"]):
            for key in ("estimate", "error"):
                self.assertAlmostEqual(mine[key], theirs[key], delta=1e-8 * abs(theirs[key]))
        self.assertAlmostEqual(summary["sites"]["statistic"], simulated["sites"]["statistic"], delta=1e-6)

    def test_a_cross_validated_study_has_the_figures_of_a_simulation(self):
        for party in range(3):
            self.rows(party, 150)
        self.define("newton", ", folds: 5")
        self.coordinator()
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        self.check_done(parties, charged=[])
        self.assertIn("outside each fold", parties[0].text())
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual(len(self.charges(0)), summary["rounds"])
        files = [word for party in range(3) for word in ("--party", self.rows(party))]
        simulated = json.loads(self.succeed("simulate", "--method", "estimate", *files, "--test", self.rows(0), "--schema",
                                            "schema.yaml", "--set", "folds=5", "--json").stdout)["summary"]
        self.assertEqual(summary["validation"]["facts"], simulated["validation"]["facts"])
        for mine, theirs in zip(summary["validation"]["tables"], simulated["validation"]["tables"]):
            self.assertEqual(mine, theirs)
        # The rows outside each fold are sets that exact sums are known of, under names of their own.
        with contextlib.closing(sqlite3.connect(self.home(0) / "past.db")) as past:
            self.assertEqual(past.execute("SELECT count(*), count(DISTINCT identity) FROM used").fetchone(), (6, 6))
        card = self.succeed("card", self.folder / "trial.model.json").stdout
        self.assertIn("## Cross-validation", card)
        # Another model of the same rows has the same folds, of which nothing new is learnt; other folds of them are large, too.
        for study, more in (("other", ""), ("dealt-again", ", fold_seed: 2")):
            self.study(study, method="estimate", set="{folds: 5%s}" % more, epsilon=None, terms="sick ~ age", **{"lambda": 0})
            self.check_done({party: self.join(party, *EXACT, study=study) for party in range(3)}, study=study, charged=[])
        with contextlib.closing(sqlite3.connect(self.home(0) / "past.db")) as past:
            self.assertEqual(past.execute("SELECT count(*), count(DISTINCT identity) FROM used").fetchone(), (18, 11))

    def test_folds_below_the_owners_minimum_are_refused(self):
        self.define("newton", ", folds: 5")  # 40 rows: 8 in a fold
        self.coordinator()
        done = self.tacit(*self.join_words(0, self.invite(), *EXACT), home=self.home(0))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("smallest of 5 folds of this party's rows has 8, fewer than the owner's minimum of 10", done.stderr)
        self.assertNotIn("joined; waiting", done.stderr)
        self.assertEqual(self.status()["state"], "recruiting")  # nobody else's study fails for it

    def test_folds_that_parties_would_refuse_are_warned_of(self):
        warned = self.succeed("study", "new", self.folder, self.definition(
            method="estimate", set="{folds: 5}", epsilon=None, minimum_rows=40, **{"lambda": 0})).stderr
        self.assertIn("a party of 40 rows, the fewest that minimum_rows takes, has 8 in a fold of 5", warned)
        self.assertIn("set minimum_rows: 50, or folds: 4", warned)
        fits = self.succeed("study", "new", self.folder, self.definition(
            "fits", method="estimate", set="{folds: 4}", epsilon=None, minimum_rows=40, **{"lambda": 0})).stderr
        self.assertNotIn("fold", fits)

    def test_terms_are_shown_to_owners_and_give_the_figures_of_all_rows(self):
        formula = "sick ~ age*dose + log(dose + 1) + offset(age/2)"
        self.study(method="estimate", set=None, epsilon=None, terms=formula, **{"lambda": 0})
        self.coordinator()
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        self.check_done(parties, charged=[])
        shown = "sick ~ age * dose + log(dose + 1) + offset(age/2)"
        self.assertEqual(self.check_figures("--terms", formula)["formula"], shown)
        parties[0].wait_line(re.escape("terms      the model is made of these functions of the columns: " + shown))
        self.succeed("predict", self.folder / "trial.model.json", self.rows(0))

    def test_weights_of_rows_are_part_of_the_terms(self):
        text = (self.path / "schema.yaml").read_text().replace("name: dose, kind: number, low: 0", "name: dose, kind: number, low: 0.1")
        (self.path / "schema.yaml").write_text(text)
        self.study(method="estimate", set=None, epsilon=None, terms="sick ~ age", weights="dose", **{"lambda": 0})
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        summary = self.check_figures("--terms", "sick ~ age + weights(dose)")
        self.assertEqual(summary["formula"], "sick ~ age + weights(dose)")

    def test_terms_that_the_owners_columns_cannot_have_are_refused(self):
        self.study(method="estimate", set=None, epsilon=None, terms="sick ~ age + dose", **{"lambda": 0})
        self.coordinator()
        schema = self.path / "other.yaml"
        schema.write_text((self.path / "schema.yaml").read_text().replace("name: dose", "name: amount"))
        self.limit(0)
        self.rows(0).write_text(self.rows(0).read_text().replace("dose", "amount"))
        words = self.join_words(0, self.invite(), *EXACT)
        words[words.index("--schema") + 1] = schema
        self.refuse(2, *words, home=self.home(0), says=["'dose'", "the schema has no column 'dose'"])

    def test_killed_processes_take_up_where_they_were(self):
        self.define("lbfgs")
        coordinator = self.coordinator()
        self.join(0, *EXACT).kill()
        parties = {party: self.join(party, *EXACT) for party in (1, 2)}
        coordinator.wait_line("runs with 3 parties")
        coordinator.kill()
        parties[1].wait_line("trying again until")
        parties[1].kill()
        self.coordinator()
        parties[0], parties[1] = self.resume(0), self.resume(1)
        self.check_done(parties, charged=[])
        self.check_figures()

    def test_a_model_of_exact_sums_cannot_call_itself_private(self):
        self.define("newton")
        serving = self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        serving.kill()
        with contextlib.closing(sqlite3.connect(self.folder / "coordinator.db")) as registry, registry:
            model = json.loads(registry.execute("SELECT model FROM study WHERE name = 'trial'").fetchone()[0])
            price = {"unit": "record", "epsilon": 1.0, "delta": 0.0}
            model["guarantee"].pop("reason", None)
            model["guarantee"].update(private=True, noise="none", charged=price, claimed=price)
            registry.execute("UPDATE study SET model = ? WHERE name = 'trial'", (json.dumps(model).encode(),))
        self.coordinator()
        late = self.resume(0)
        self.assertEqual(late.finish(), 1, late.text())
        self.assertIn("it claims another guarantee", late.text())

    def test_exact_sums_need_the_owners_word(self):
        self.define("newton")
        self.coordinator()
        invitation = self.invite()
        self.refuse(3, *self.join_words(0, invitation, "--allow-entrusted"), home=self.home(0),
                    says=["exact sums", "--allow-exact"])
        self.assertFalse((self.home(0) / "ledger.db").exists())

    def test_after_exact_sums_no_private_study_gets_an_answer(self):
        self.define("newton")
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        self.study("private")
        self.refuse(3, *self.join_words(0, self.invite(study="private")), home=self.home(0), says=["costs epsilon 2"])

    def test_a_study_without_noise_states_no_epsilon(self):
        self.refuse(1, "study", "new", self.folder, self.definition(method="estimate", set=None, **{"lambda": 0}),
                    says=["adds no noise", "leave epsilon"])


class NoEstimate(DeployedTest):
    """Nobody of ward c is sick: the study fails with a sentence, is amended, and the same parties finish it."""

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text("""label: {name: sick, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 0, high: 1}
  - {name: ward, kind: category, levels: [a, b, c]}
""")
        for party in range(3):
            draw = random.Random(party)
            lines = [f"{draw.random():.6f},{'abc'[k % 16 // 6]},{'yes' if k % 16 < 12 and draw.random() < 0.4 else 'no'}"
                     for k in range(96)]
            (self.path / f"rows{party}.csv").write_text("age,ward,sick\n" + "\n".join(lines) + "\n")

    def define(self, words=None):
        return {"method": "estimate", "set": words, "epsilon": None, "lambda": 0}

    def test_the_level_is_merged_by_an_amendment_and_the_same_parties_finish_it(self):
        self.study(**self.define())
        self.coordinator()
        for party in [self.join(party, *EXACT) for party in range(3)]:
            self.assertEqual(party.finish(), 1, party.text())
        self.assertIn("merge the level with another: take it out of the column's levels in the schema and write others: LEVEL there",
                      self.status()["reason"])
        text = (self.path / "schema.yaml").read_text().replace("[a, b, c]", "[a, b], others: b")
        (self.path / "merged.yaml").write_text(text)
        self.succeed("study", "amend", self.folder, self.definition(schema="merged.yaml", **self.define()))
        again = {}
        self.refuse(3, "consent", "trial", "--yes", home=self.home(0), says=["is not the study's schema", "--schema", "is written"])
        for party in range(3):  # the first has it written, and the others have the file
            self.succeed("consent", "trial", "--yes", "--schema", self.path / ("own.yaml" if party == 0 else "merged.yaml"),
                         home=self.home(party))
            again[party] = self.resume(party)
        self.assertIn("others: b", (self.path / "own.yaml").read_text())
        self.check_done(again, charged=[])
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual([one["name"] for one in summary["coefficients"]], ["(Intercept)", "age", "ward=b"])
        lines = [self.rows(party).read_text().splitlines() for party in range(3)]
        (self.path / "all.csv").write_text("\n".join(lines[0] + lines[1][1:] + lines[2][1:]) + "\n")
        pooled = json.loads(self.succeed("simulate", "--method", "estimate", "--train", "all.csv", "--test", "all.csv", "--schema",
                                         "merged.yaml", "--parties", "1", "--json").stdout)["summary"]
        for mine, theirs in zip(summary["coefficients"], pooled["coefficients"]):
            self.assertAlmostEqual(mine["estimate"], theirs["estimate"], delta=1e-9 * (1 + abs(theirs["estimate"])))

    def test_a_study_that_failed_is_amended_and_the_same_parties_finish_it(self):
        self.study(**self.define())
        self.coordinator()
        invited = [self.join(party, *EXACT) for party in range(3)]
        for party in invited:
            self.assertEqual(party.finish(), 1, party.text())
        status = self.status()
        self.assertEqual((status["state"], status["joined"]), ("failed", 3))
        self.assertIn("ward=c has no positive outcome (yes) at any party: 72 rows in all. Set bias: firth", status["reason"])
        said = self.succeed("study", "amend", self.folder, self.definition(**self.define("{bias: firth}")))
        self.assertIn("version 2", said.stdout)
        again = {}
        for party in range(3):
            self.succeed("consent", "trial", "--yes", home=self.home(party))
            again[party] = self.resume(party)
        self.check_done(again, charged=[])
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual((summary["bias"], summary["parties"], summary["rows"]), ("firth", 3, 288))
        ward = {one["name"]: one for one in summary["coefficients"]}["ward=c"]
        self.assertTrue(-10 < ward["estimate"] < -2 and 0 < ward["error"] < 3, ward)


class Histograms(DeployedTest):
    def test_counts_are_entrusted_and_the_model_is_charged_for(self):
        self.study(method="histogram", set="{cells: 4}", epsilon=5)
        self.coordinator()
        parties = {party: self.join(party, "--allow-entrusted") for party in range(3)}
        model = self.check_done(parties)
        self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": 5.0, "delta": 0.0})
        self.assertEqual(model["guarantee"]["noise"], "exact")
        charge = self.charges(0)[0]
        self.assertEqual((charge["kind"], charge["price"]["epsilon"]), ("entrusted", 5))
        figures = json.loads(self.succeed("evaluate", self.folder / "trial.model.json", self.rows(0), "--json").stdout)
        self.assertGreater(figures["auc"], 0.8)  # 120 rows in 16 cells: epsilon 5 hardly blurs them

SCHEMA = """label: {name: sick, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: -2, high: 3, missing: RULE}
  - {name: dose, kind: number, low: 0, high: 1}
"""


class MissingValues(DeployedTest):
    def rows(self, party):
        """Eighty, of which none leads."""
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            draw = random.Random(party)
            lines = ["age,dose,sick"]
            for _ in range(80):
                age, dose = draw.random(), draw.random()
                lines.append(f"{age:.6f},{dose:.6f},{'yes' if age - dose + draw.gauss(0, 0.8) > 0 else 'no'}")
            path.write_text("\n".join(lines) + "\n")
        return path

    def spoil(self, rule, gaps):
        """Rows without `age`: this many of each party's."""
        (self.path / "schema.yaml").write_text(SCHEMA.replace("RULE", rule))
        for party, count in enumerate(gaps):
            lines = self.rows(party).read_text().splitlines()
            for at in range(1, count + 1):
                lines[at] = "," + lines[at].split(",", 1)[1]
            self.rows(party).write_text("\n".join(lines) + "\n")
        self.study(method="estimate", set="{impute: 3}", epsilon=None, **{"lambda": 0})
        self.coordinator()

    def summary(self):
        return json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)

    def test_sets_are_imputed_and_small_numbers_withheld(self):
        self.spoil("impute", (12, 15, 0))
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        self.assertIn("age: 12 values missing (imputed)", parties[0].text())
        self.check_done(parties, charged=[])
        found = self.summary()
        self.assertEqual((found["rows"], found["imputed"]["sets"]), (240, 3))
        self.assertGreater(found["imputed"]["coefficients"][1]["between"], 0)
        self.assertEqual(found["missing"]["columns"][0], {"name": "age", "rule": "impute", "cells": 27, "withheld": 0})

    def test_rows_are_left_out_and_a_small_number_of_them_is_not_said(self):
        self.spoil("complete-case", (12, 3, 0))
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        found = self.summary()
        self.assertEqual(found["rows"], 225)
        self.assertEqual((found["missing"]["left_out"], found["missing"]["withheld"]), (12, 1))
        self.assertEqual(found["missing"]["columns"][0], {"name": "age", "rule": "complete-case", "cells": 12, "withheld": 1})

    def test_a_report_counts_what_was_left_out_and_a_private_one_with_noise(self):
        self.spoil("complete-case", (12, 3, 0))
        self.study("exact", method="describe-exact", set="{missing: counted}", epsilon=None, **{"lambda": None})
        self.study("noisy", method="describe", set="{missing: counted, threshold: 0}", epsilon=1, delta="1e-5", **{"lambda": None})
        parties = {party: self.join(party, study="noisy", epsilon=5) for party in range(3)}
        self.assertIn("how many values of each column are missing", parties[0].text())
        self.check_done(parties, study="noisy")
        noisy = self.counted("noisy")
        self.assertTrue(all(value is not None for value, *_ in noisy.values()))
        self.check_done({party: self.join(party, *EXACT, study="exact") for party in range(3)}, study="exact", charged=[])
        self.assertEqual(self.counted("exact")["rows left out"], [12, 1])  # the second has three, and says none
        self.assertEqual(self.counted("exact")["age: complete-case"], [12, 1])

    def counted(self, study):
        report = json.loads(self.succeed("summary", self.folder / f"{study}.model.json", "--json").stdout)
        table = next(each for each in report["tables"] if each["name"] == "missing")
        return {row["label"]: row["values"] for row in table["rows"]}

    def test_few_incomplete_rows_are_not_imputed(self):
        """The sums of two sets would differ in these rows alone."""
        self.spoil("impute", (12, 3, 0))
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        self.assertTrue(parties[1].wait_line("3 of this party's rows lack a value that is to be imputed"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
