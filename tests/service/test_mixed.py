#!/usr/bin/env python3
"""Method mixed between real processes: random effects of all persons, from masked sums of likelihoods, and only with the owner's word.

    TACIT=build/src/cli/tacit tests/service/test_mixed.py
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


class Mixed(DeployedTest):
    definition_of = {"method": "mixed", "set": "{}", "epsilon": None, "lambda": 0, "parties": "{expected: 4, minimum: 4}", "minimum_rows": 50}

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text("label: {name: ill, classes: ['no', 'yes']}\nperson: who\ncolumns:\n  - {name: dose, kind: number, low: 0, high: 1}\n")

    def rows(self, party):
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            draw = random.Random(party)
            lines = ["who,dose,ill"]
            for who in range(15):
                level = draw.gauss(0, 1)
                for _ in range(6):
                    dose = draw.random()
                    lines.append(f"{party}-{who},{dose:.5f},{'yes' if draw.gauss(level + dose, 1.7) > 0.5 else 'no'}")
            path.write_text("\n".join(lines) + "\n")
        return path

    def simulated(self):
        texts = [self.rows(party).read_text().splitlines() for party in PARTIES]
        (self.path / "all.csv").write_text("\n".join([texts[0][0], *(line for text in texts for line in text[1:])]) + "\n")
        self.succeed("simulate", "--method", "mixed", "--train", "all.csv", "--test", "all.csv", "--schema", "schema.yaml", "--parties", "1", "--out", "all.json")
        return json.loads((self.path / "all.json").read_text())["report"]

    def test_four_parties_get_the_random_effects_of_all_persons(self):
        self.study(**self.definition_of)
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in PARTIES}, charged=[])
        report = json.loads((self.folder / "trial.model.json").read_text())["report"]
        self.assertEqual(report["rows"], 360)
        for ours, theirs in zip(report["tables"], self.simulated()["tables"]):
            for mine, its in zip(ours["rows"], theirs["rows"]):
                self.assertEqual(mine["label"], its["label"])
                for a, b in zip(mine["values"], its["values"]):
                    if b is not None:
                        self.assertAlmostEqual(a, b, delta=1e-6 * (1 + abs(b)))

    def test_it_says_how_many_rows_were_left_out_unless_a_party_has_few(self):
        schema = self.path / "schema.yaml"
        schema.write_text(schema.read_text() + "missing: complete-case\n")
        self.lack("dose", (12, 3, 0, 15))
        self.study(**self.definition_of)
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in PARTIES}, charged=[])
        report = json.loads((self.folder / "trial.model.json").read_text())["report"]
        self.assertEqual(report["rows"], 330)
        table = next(each for each in report["tables"] if each["name"] == "missing")
        found = {row["label"]: row["values"] for row in table["rows"]}
        self.assertEqual(found, {"dose: complete-case": [27, 1], "ill: complete-case": [0, 0], "rows left out": [27, 1]})

    def test_a_study_of_too_few_parties_as_groups_is_refused_before_anything_is_opened(self):
        few = {**self.definition_of, "set": "{group: party}"}
        with self.assertRaisesRegex(AssertionError, "opens at least 6 numbers of each kind"):
            self.study(**few)
        self.study(**{**few, "parties": "{expected: 12, minimum: 12}"})

    def test_a_party_with_few_persons_refuses(self):
        self.study(**self.definition_of)
        self.coordinator()
        self.succeed("rules", "set", "--minimum-rows", 16, home=self.home(0))
        parties = {party: self.join(party, *EXACT) for party in PARTIES}
        for process in parties.values():
            self.assertNotEqual(process.finish(), 0)
        self.assertIn("fewer persons than its owner's minimum of 16", parties[0].text())


if __name__ == "__main__":
    unittest.main()
