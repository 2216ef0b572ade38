#!/usr/bin/env python3
"""Methods describe and describe-exact between real processes: the report of all rows, the owner's minimum held, and no other report taken.

    TACIT=build/src/cli/tacit tests/service/test_describe.py
"""
import contextlib
import json
import os
import random
import sqlite3
import statistics
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

EXACT = ("--allow-entrusted", "--allow-exact")
SCHEMA = """label: {name: sick, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 0, high: 100}
  - {name: ward, kind: category, levels: [a, b]}
  - {name: shift, kind: category, levels: [day, night]}
"""


class Described(DeployedTest):
    ROWS = 60

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text(SCHEMA)
        self.ages = []

    def rows(self, party, rows=0):
        """Ward b is rare at party 0; the first age of everybody is missing."""
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            draw = random.Random(party)
            lines = ["age,ward,shift,sick"]
            for row in range(self.ROWS):
                age = draw.randrange(20, 80)
                self.ages += [age] if row > 0 else []
                ward = "b" if row < (3 if party == 0 else 30) else "a"
                lines.append(f"{age if row > 0 else ''},{ward},{'day' if row % 2 else 'night'},{'yes' if row % 3 else 'no'}")
            path.write_text("\n".join(lines) + "\n")
        return path

    def values(self, name, column):
        report = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        table = next(table for table in report["tables"] if table["name"] == name)
        return report, {row["label"]: row["values"][table["columns"].index(column)] for row in table["rows"]}

    def test_exact_sums_are_those_of_all_rows_and_small_cells_of_the_sum_are_put_together(self):
        self.study(method="describe-exact", set=None, epsilon=None, **{"lambda": None})
        self.coordinator()
        model = self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        self.assertEqual((model["report"]["kind"], model["report"]["mode"], model["report"]["rows"]), ("describe", "exact", 180))
        _, means = self.values("numbers", "mean")
        self.assertAlmostEqual(means["age"], statistics.mean(self.ages), delta=1e-6)
        _, missing = self.values("numbers", "missing")
        self.assertIsNone(missing["age"])  # 3 in all
        _, counts = self.values("levels", "count")
        self.assertEqual((counts["shift=day"], counts["sick=yes"]), (90, 120))
        self.assertEqual(counts["ward=b"], 63)  # 3 rows at party 0, and enough with the others'
        _, medians = self.values("quantiles", "50%")
        self.assertLess(abs(medians["age"] - statistics.median(self.ages)), 5)  # no party has ten rows within ten years
        self.assertEqual(len(self.charges(0)), 2)
        self.assertIn("coarsened", [fact["name"] for fact in model["report"]["facts"]])

    def test_where_single_contributions_are_seen_each_owner_s_minimum_holds(self):
        self.study(method="describe-exact", set='{by: sick}', epsilon=None, sum="clear", **{"lambda": None})
        self.coordinator()
        model = self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        _, means = self.values("numbers", "mean")
        self.assertAlmostEqual(means["age"], statistics.mean(self.ages), delta=1e-6)
        _, counts = self.values("levels", "count")
        self.assertEqual(counts["shift=day"], 90)
        for level in ("a", "b", "(missing)"):  # closed as a whole: 3 rows at party 0, below the owner's 10
            self.assertIsNone(counts[f"ward={level}"])
        _, medians = self.values("quantiles", "50%")
        self.assertIsNone(medians["age [sick=no]"])  # 20 rows a party do not locate it; the middle of the bounds would be a guess
        self.assertIn("held back", [fact["name"] for fact in model["report"]["facts"]])

    def test_a_private_study_is_charged_once_and_everybody_has_the_report(self):
        self.study(method="describe", set=None, epsilon=2, delta="1e-5", **{"lambda": None})
        serving = self.coordinator()
        model = self.check_done({party: self.join(party) for party in range(3)})
        self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": 2.0, "delta": 1e-5})
        self.assertEqual((model["report"]["mode"], model["report"]["rows"]), ("private", 180))
        charge = self.charges(0)[0]
        self.assertEqual((charge["kind"], charge["noise"]), ("sealed", "exact"))
        serving.kill()
        self.check_another_is_refused()

    def test_sites_are_told_apart_by_name_where_their_owners_allow_it(self):
        self.study(method="describe-exact", set="{sites: apart}", epsilon=None, **{"lambda": None})
        self.coordinator()
        self.refuse(3, *self.join_words(0, self.invite(), *EXACT), home=self.home(0), says=["--allow-site", "each site by itself"])
        names = ["St. Anna, Vienna", "Graz", "Linz"]
        self.check_done({party: self.join(party, *EXACT, "--allow-site", invitation=self.invite("--for", names[party])) for party in range(3)},
                        charged=[])
        _, means = self.values("numbers", "mean")
        for party, name in enumerate(names):
            ages = self.ages[59 * party:59 * (party + 1)]
            self.assertAlmostEqual(means[f"age [site={name}]"], statistics.mean(ages), delta=1e-6)
        self.assertAlmostEqual(means["age"], statistics.mean(self.ages), delta=1e-6)
        _, counts = self.values("levels", "count")
        self.assertEqual(counts["shift=day [site=Graz]"], 30)
        self.assertIsNone(counts["ward=b [site=St. Anna, Vienna]"])  # 3 rows, below the owner's 10

    def test_noisy_figures_of_sites_are_charged_by_themselves(self):
        self.study(method="describe", set="{sites: apart, noise: party}", epsilon=2, delta="1e-5", **{"lambda": None})
        self.coordinator()
        self.refuse(3, *self.join_words(0, self.invite()), home=self.home(0), says=["--allow-site"])
        model = self.check_done({party: self.join(party, "--allow-site") for party in range(3)})
        self.assertTrue(model["guarantee"]["private"])
        _, counts = self.values("numbers", "missing")
        self.assertEqual(len([row for row in counts if row.startswith("age [site=")]), 3)
        self.assertEqual([(each["kind"], each["noise"], each["price"]["epsilon"]) for each in self.charges(0)], [("charged", "exact", 2.0)])

    def check_another_is_refused(self):
        with contextlib.closing(sqlite3.connect(self.folder / "coordinator.db")) as registry, registry:
            model = json.loads(registry.execute("SELECT model FROM study WHERE name = 'trial'").fetchone()[0])
            model["report"]["kind"] = "evaluate"
            registry.execute("UPDATE study SET model = ? WHERE name = 'trial'", (json.dumps(model).encode(),))
        self.coordinator()
        late = self.resume(0)
        self.assertEqual(late.finish(), 1, late.text())
        self.assertIn("it is not the report that the method makes", late.text())


if __name__ == "__main__":
    unittest.main(verbosity=2)
