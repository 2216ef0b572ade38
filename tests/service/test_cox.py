#!/usr/bin/env python3
"""Methods cox and survival between real processes: hazard ratios of all rows pooled, from masked sums, and only with the owner's word; curves and hazard ratios under noise.

    TACIT=build/src/cli/tacit tests/service/test_cox.py
"""
import json
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

EXACT = ("--allow-entrusted", "--allow-exact")
PARTIES = range(4)


class Cox(DeployedTest):
    definition_of = {"method": "cox", "set": "{ties: efron}", "epsilon": None, "lambda": 0, "parties": "{expected: 4, minimum: 4}", "minimum_rows": 50}

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text("label: {name: [weeks, ill], kind: time, low: 0, high: 60}\ncolumns:\n  - {name: age, kind: number, low: 0, high: 1}\n"
                                               "  - {name: arm, kind: category, levels: [a, b]}\n")

    def rows(self, party):
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            draw = random.Random(party)
            lines = ["age,arm,weeks,ill"]
            for _ in range(120):
                age, arm = draw.random(), draw.choice("ab")
                time, seen = draw.expovariate(0.03 * 2.7 ** (age + (arm == "b"))), draw.uniform(5, 60)
                lines.append(f"{age:.5f},{arm},{min(time, seen):.3f},{int(time <= seen)}")
            path.write_text("\n".join(lines) + "\n")
        return path

    def pooled(self, *words):
        texts = [self.rows(party).read_text().splitlines() for party in PARTIES]
        (self.path / "all.csv").write_text("\n".join([texts[0][0], *(line for text in texts for line in text[1:])]) + "\n")
        done = self.succeed("simulate", "--method", "cox", "--train", "all.csv", "--test", "all.csv", "--schema", "schema.yaml", "--parties", "1", "--json", *words)
        return json.loads(done.stdout)["summary"]

    def check_same(self, *words, **definition):
        self.study(**{**self.definition_of, **definition})
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in PARTIES}, charged=[])
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual((summary["parties"], summary["rows"], summary["private"]), (4, 480, False))
        pooled = self.pooled(*words)
        self.assertEqual([one["name"] for one in summary["coefficients"]], [one["name"] for one in pooled["coefficients"]])
        for mine, theirs in zip(summary["coefficients"], pooled["coefficients"]):
            for key in ("estimate", "error"):
                self.assertAlmostEqual(mine[key], theirs[key], delta=1e-9 * abs(theirs[key]))
        self.assertEqual([step[:4] for step in summary["baseline"]], [step[:4] for step in pooled["baseline"]])
        for mine, theirs in zip(summary.get("proportional", {}).get("tests", []), pooled.get("proportional", {}).get("tests", [])):
            self.assertAlmostEqual(mine["statistic"], theirs["statistic"], delta=1e-8 * theirs["statistic"])
        return summary

    def test_four_parties_get_the_hazard_ratios_of_all_rows(self):
        self.check_same()

    def test_a_study_with_terms_has_the_columns_of_its_formula(self):
        formula = "surv(weeks, ill) ~ age + I(age^2) + strata(arm)"
        summary = self.check_same("--terms", formula, terms=f"'{formula}'")
        self.assertEqual([one["name"] for one in summary["coefficients"]], ["age", "I(age^2)"])

    def test_late_entries_clustered_errors_and_tests_of_hazards_come_out_as_of_all_rows(self):
        schema = self.path / "schema.yaml"
        schema.write_text(schema.read_text().replace("[weeks, ill]", "[since, weeks, ill]") + "person: who\n")
        for party in PARTIES:
            path = self.rows(party)
            lines = path.read_text().splitlines()
            late = [f"{line},{float(line.split(',')[2]) / 2 if at % 3 == 0 and float(line.split(',')[2]) > 3 else 0:.3f},{party}-{at // 2}"
                    for at, line in enumerate(lines[1:])]
            late = [line.replace(f",{line.split(',')[2]},", f",{float(line.split(',')[2]) + 0.7:.3f},", 1) for line in late]
            path.write_text("\n".join([lines[0] + ",since,who", *late]) + "\n")
        settings = {"errors": "cluster", "proportional": "km"}
        summary = self.check_same(*(word for name, value in settings.items() for word in ("--set", f"{name}={value}")),
                                  set="{" + ", ".join(f"{name}: {value}" for name, value in settings.items()) + "}")
        self.assertEqual((summary["errors"], summary["clusters"]), ("cluster", 240))
        self.assertEqual([one["name"] for one in summary["proportional"]["tests"]], ["age", "arm", "GLOBAL"])

    def test_it_says_how_many_rows_were_left_out_unless_a_party_has_few(self):
        """Sums are masked: the coordinator adds up what parties say, of whom one has three and says none."""
        schema = self.path / "schema.yaml"
        schema.write_text(schema.read_text() + "missing: complete-case\n")
        self.lack("age", (12, 3, 0, 15))
        self.study(**self.definition_of)
        self.coordinator()
        parties = {party: self.join(party, *EXACT) for party in PARTIES}
        self.assertIn("how many values of each column are missing and how many rows were left out for it, unless few", parties[0].text())
        self.check_done(parties, charged=[])
        found = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual(found["rows"], 450)
        self.assertEqual((found["missing"]["left_out"], found["missing"]["withheld"]), (27, 1))
        self.assertEqual(found["missing"]["columns"][0], {"name": "age", "rule": "complete-case", "cells": 27, "withheld": 1})

    def test_private_curves_are_charged_once_and_everybody_has_them(self):
        schema = self.path / "schema.yaml"
        schema.write_text(schema.read_text() + "missing: complete-case\n")
        self.study(**{**self.definition_of, "method": "survival", "set": "{by: arm, width: 5}", "epsilon": 2, "delta": "1e-5", "lambda": None})
        self.coordinator()
        model = self.check_done({party: self.join(party) for party in PARTIES})
        self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": 2.0, "delta": 1e-5})
        self.assertEqual((model["report"]["kind"], model["report"]["mode"], model["report"]["rows"]), ("survival", "private", 480))
        self.assertTrue({"groups", "tests"} <= {table["name"] for table in model["report"]["tables"]})
        says = "was not counted; method describe with missing=counted counts both"
        for words in (("study", "status", self.folder), ("summary", self.folder / "trial.model.json")):
            self.assertIn(says, " ".join(self.succeed(*words).stdout.split()))
        charge = self.charges(0)[0]
        self.assertEqual((len(self.charges(0)), charge["kind"], charge["noise"]), (1, "sealed", "exact"))

    def test_private_hazard_ratios_are_charged_for_seven_questions_and_everybody_has_them(self):
        formula = "surv(weeks, ill) ~ age + arm"
        self.study(**{**self.definition_of, "method": "dpcox", "set": "{width: 5}", "terms": f"'{formula}'", "epsilon": 2, "delta": "1e-5", "lambda": None})
        self.coordinator()
        model = self.check_done({party: self.join(party) for party in PARTIES}, charged=[])
        charged = model["guarantee"]["charged"]
        self.assertEqual((charged["unit"], charged["delta"]), ("record", 1e-5))
        self.assertTrue(1.99 < charged["epsilon"] <= 2)
        self.succeed("ledger", "verify", home=self.home(0))
        self.assertEqual([(one["kind"], one["noise"]) for one in self.charges(0)], [("sealed", "exact")] * 7)
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual((summary["rows"], summary["private"], [one["name"] for one in summary["coefficients"]]), (480, True, ["age", "armb"]))
        for one in summary["coefficients"]:  # noise is drawn: only what always holds
            self.assertTrue(one["low"] < one["estimate"] < one["high"])
        self.assertTrue(all(0 < one <= 1 for one in summary["noise_share"]))
        text = self.succeed("summary", self.folder / "trial.model.json").stdout
        self.assertIn("Hazard ratios", text)
        self.assertNotIn("nan", text)

    def test_a_study_that_asks_about_fewer_rows_than_owners_allow_is_refused(self):
        self.study(**{**self.definition_of, "set": "{least: 2}"})
        self.coordinator()
        parties = {party: self.join(party, *EXACT) for party in PARTIES}
        for process in parties.values():
            self.assertNotEqual(process.finish(), 0)
        self.assertTrue(any("the owner's minimum is 10" in process.text() for process in parties.values()))


if __name__ == "__main__":
    unittest.main()
