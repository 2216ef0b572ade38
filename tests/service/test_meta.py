#!/usr/bin/env python3
"""Method meta between real processes: pooled estimates from masked sums over sites, and only with the owner's word.

    TACIT=build/src/cli/tacit tests/service/test_meta.py
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
PARTIES = range(5)


class Meta(DeployedTest):
    definition_of = {"method": "meta", "set": "{}", "epsilon": None, "lambda": 0, "parties": "{expected: 5, minimum: 5}", "minimum_rows": 50}

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text("label: {name: pressure, kind: number, low: 60, high: 140}\ncolumns:\n  - {name: age, kind: number, low: 0, high: 1}\n"
                                               "  - {name: arm, kind: category, levels: [a, b]}\n  - {name: site, kind: skip}\n")

    def rows(self, party):
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            draw = random.Random(party)
            slope = draw.gauss(10, 4)
            lines = ["age,arm,site,pressure"]
            for _ in range(60):
                age, arm = draw.random(), draw.choice("ab")
                lines.append(f"{age:.5f},{arm},{party},{95 + slope * age + 2 * (arm == 'b') + draw.gauss(0, 3):.3f}")
            path.write_text("\n".join(lines) + "\n")
        return path

    def simulated(self, *more):
        texts = [self.rows(party).read_text().splitlines() for party in PARTIES]
        (self.path / "all.csv").write_text("\n".join([texts[0][0], *(line for text in texts for line in text[1:])]) + "\n")
        self.succeed("simulate", "--method", "meta", "--train", "all.csv", "--test", "all.csv", "--schema", "schema.yaml", "--split", "by:site", "--out", "all.json", *more)
        return json.loads((self.path / "all.json").read_text())["report"]

    def check_same(self, report, other):
        for name in ("fixed", "random", "heterogeneity"):
            ours, theirs = (next(table for table in one["tables"] if table["name"] == name)["rows"] for one in (report, other))
            for mine, its in zip(ours, theirs):
                self.assertEqual(mine["label"], its["label"])
                for a, b in zip(mine["values"], its["values"]):
                    self.assertAlmostEqual(a, b, delta=1e-8 * (1 + abs(b)))

    def run_all(self, **changed):
        self.study(**{**self.definition_of, **changed})
        self.coordinator()
        return {party: self.join(party, *EXACT) for party in PARTIES}

    def test_five_sites_get_the_pooled_estimates_and_no_site_is_shown(self):
        self.check_done(self.run_all(), charged=[])
        report = json.loads((self.folder / "trial.model.json").read_text())["report"]
        self.assertEqual(report["rows"], 300)
        self.check_same(report, self.simulated())
        self.assertEqual([table["name"] for table in report["tables"]], ["fixed", "random", "heterogeneity"])
        shown = self.succeed("summary", self.folder / "trial.model.json").stdout
        self.assertIn("Whether sites differ", shown)

    def test_with_the_owners_leave_every_site_is_shown(self):
        self.check_done(self.run_all(set="{forest: yes, tau: PM}"), charged=[])
        report = json.loads((self.folder / "trial.model.json").read_text())["report"]
        self.check_same(report, self.simulated("--set", "forest=yes", "--set", "tau=PM"))
        self.assertIn("forest age", [table["name"] for table in report["tables"]])
        plot = self.path / "forest.svg"
        self.succeed("summary", self.folder / "trial.model.json", "--plot", plot)
        self.assertIn("site 5", plot.read_text())

    def test_a_study_of_too_few_sites_cannot_be_made(self):
        self.refuse(2, "study", "new", self.folder, self.definition(**{**self.definition_of, "parties": "{expected: 4, minimum: 4}"}), says=["at least 5 parties"])


if __name__ == "__main__":
    unittest.main()
