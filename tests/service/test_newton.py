#!/usr/bin/env python3
"""Deployed dpnewton studies in a row: what the second costs, what it may reuse, and persons with several rows.

    TACIT=build/src/cli/tacit tests/service/test_newton.py
"""
import json
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest, SCHEMA

NEWTON = {"method": "dpnewton", "epsilon": 1, "delta": "1e-5", "lambda": None}
OTHER = """label: {name: old, classes: ["no", "yes"]}
columns:
  - {name: dose, kind: number, low: 0, high: 1}
"""


class InARow(DeployedTest):
    def account(self, party):
        shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(party)).stdout)["sources"][0]
        return shown, next(one for one in shown["accounts"] if one["study"] is None and one["unit"] == "record")

    def limit(self, party, epsilon=10, home=None):
        self.succeed("ledger", "limit", "--source", self.rows(party), "--epsilon", epsilon, "--delta", "1e-5",
                     home=home or self.home(party))

    def run_study(self, name, parties=3, epsilon=1.6, **changed):
        self.study(name, **{**NEWTON, "set": "{rounds: 4}", **changed})
        processes = {party: self.join(party, study=name, epsilon=epsilon) for party in range(parties)}
        return self.check_done(processes, name, charged=[])

    def reuse(self, name, **changed):
        return {**NEWTON, "set": "{rounds: 4, moments: reused}", "model": self.folder / "one.model.json", **changed}

    def test_two_studies_of_epsilon_1_cost_less_than_1_6(self):
        self.study("one", **NEWTON, set="{rounds: 4}")
        self.coordinator()
        processes = {party: self.join(party, study="one", epsilon=1.6) for party in range(3)}
        self.check_done(processes, "one", charged=[])
        alone = self.account(0)[1]
        self.assertAlmostEqual(alone["spent"]["epsilon"], 1, delta=0.002)
        self.run_study("two")  # within the limit of 1.6, which a sum of prices exceeds
        both = self.account(0)[1]
        self.assertGreater(both["spent"]["epsilon"], 1.4)
        self.assertLess(both["spent"]["epsilon"], 1.6)
        self.assertGreater(both["sum"]["epsilon"], 1.6)
        self.limit(0)
        self.succeed("ledger", "verify", home=self.home(0))

    def test_a_second_model_reuses_the_moments_at_no_price(self):
        self.study("one", **NEWTON, set="{rounds: 4}")
        self.coordinator()
        self.check_done({party: self.join(party, study="one") for party in range(3)}, "one", charged=[])
        model = json.loads((self.folder / "one.model.json").read_text())
        self.assertEqual((model["moments"]["columns"], model["moments"]["parties"]), (3, 3))
        self.study("two", **self.reuse("two"))
        processes = {party: self.join(party, study="two") for party in range(3)}
        self.assertNotIn("moments", self.check_done(processes, "two", charged=[]))  # it released none of its own
        asked = [(charge["study"].split("@")[0], charge["question"]) for charge in self.charges(0)]
        self.assertEqual(asked, [("one", "moments")] + [("one", "gradient")] * 4 + [("two", "gradient")] * 4)
        runs = [charge["event"]["count"] for charge in self.charges(0)]
        self.assertEqual((sum(runs[1:5]), sum(runs[5:])), (940, 1000))  # of a thousand: what was the moments' is the steps'
        shown = self.succeed("ledger", "show", home=self.home(0)).stdout
        self.assertIn("builds on the second moments that study one released; reused: costs nothing", shown)
        reused = self.account(0)[0]["reused"]
        self.assertEqual([(one["study"].split("@")[0], one["of"]) for one in reused], [("two", "one")])

    def test_cross_validation_is_within_the_price_and_comes_with_the_model(self):
        self.study("one", **NEWTON, set="{rounds: 4, folds: 3}")
        self.coordinator()
        model = self.check_done({party: self.join(party, study="one") for party in range(3)}, "one", charged=[])
        asked = [charge["question"] for charge in self.charges(0)]
        self.assertEqual(asked, ["moments"] + ["gradient"] * 4 + ["held-out"])
        self.assertEqual(sum(charge["event"]["count"] for charge in self.charges(0)), 1000)
        self.assertAlmostEqual(self.account(0)[1]["spent"]["epsilon"], 1, delta=0.002)
        facts = {fact["name"]: fact for fact in model["validation"]["facts"]}
        self.assertEqual(facts["cross-validation"]["number"], 3)
        self.assertEqual(model["validation"]["mode"], "private")
        self.assertIn("Cross-validation", self.succeed("summary", self.folder / "one.model.json").stdout)

    def test_moments_of_others_and_changed_ones_are_refused(self):
        self.study("one", **NEWTON, set="{rounds: 4}")
        self.coordinator()
        self.check_done({party: self.join(party, study="one") for party in range(3)}, "one", charged=[])
        model = json.loads((self.folder / "one.model.json").read_text())
        self.study("two", **self.reuse("two"))
        self.limit(7)
        self.refuse(3, *self.join_words(7, self.invite(study="two")), home=self.home(7),
                    says=["builds on the moments of study 'one', in which these rows had no part"])
        model["moments"]["numbers"][0] += 1
        (self.path / "changed.json").write_text(json.dumps(model))
        self.study("three", **self.reuse("three", model="changed.json"))
        self.refuse(3, *self.join_words(0, self.invite(study="three")), home=self.home(0),
                    says=["builds on moments that it says are those of study 'one', and that study released others"])
        model["moments"]["numbers"].pop()
        (self.path / "damaged.json").write_text(json.dumps(model))
        self.refuse(1, "study", "new", self.folder, self.definition("four", **self.reuse("four", model="damaged.json")), "--force",
                    says=["the moments are damaged"])
        (self.path / "wider.yaml").write_text(SCHEMA.replace("high: 1}", "high: 2}", 1))
        self.refuse(2, "study", "new", self.folder, self.definition("four", **self.reuse("four", schema="wider.yaml")), "--force",
                    says=["not of column 'age' as this schema declares it"])
        del model["moments"]
        (self.path / "none.json").write_text(json.dumps(model))
        self.refuse(2, "study", "new", self.folder, self.definition("four", **self.reuse("four", model="none.json")), "--force",
                    says=["this one has none"])
        self.refuse(2, "study", "new", self.folder, self.definition("four", **self.reuse("four", model=None)), "--force",
                    says=["needs the model that it is about"])


class MissingValues(DeployedTest):
    """Every third age is missing and filled, every fourth dose, whose row is left out."""

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text(SCHEMA.replace("name: age, kind: number, low: 0, high: 1", "name: age, kind: number, low: 0, high: 1, "
                                               "missing: indicator") + "missing: complete-case\n")

    def rows(self, party):
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            header, *lines = super().rows(party, 240).read_text().splitlines()
            cells = [line.split(",") for line in lines]
            path.write_text("\n".join([header, *(",".join(["" if at % 3 == 0 else age, "NA" if at % 4 == 1 else dose, sick])
                                                 for at, (age, dose, sick) in enumerate(cells)), ""]))
        return path

    TRUTH = {"age: indicator": 240, "dose: complete-case": 180, "sick: complete-case": 0, "rows left out": 180}

    def counts(self, model):
        return {row["label"]: (row["values"][0], row["noise_errors"][0]) for row in model["missing_counts"]["tables"][0]["rows"]}

    def check_counts(self, found, errors=6):
        """Wrong once in 500 million counts; those below 10 are left out."""
        self.assertEqual(found.keys(), self.TRUTH.keys())
        for label, (count, error) in found.items():
            self.assertLess(abs((count or 0) - self.TRUTH[label]), errors * error + (10 if count is None else 0))

    def deployed(self, name, *allowed, settings):
        self.study(name, **{**NEWTON, "epsilon": 8, "set": settings})
        processes = {party: self.join(party, *allowed, study=name, epsilon=100) for party in range(3)}
        return self.check_done(processes, name, charged=[])

    def test_what_is_deployed_is_what_is_simulated_and_within_the_price(self):
        self.study("first", **NEWTON)
        self.coordinator()
        files = [word for party in range(3) for word in ("--party", self.rows(party))]
        for purpose, before in (("prediction", 5), ("inference", 7)):
            rounds = "rounds: 4, " if purpose == "prediction" else ""
            model = self.deployed(purpose, "--allow-entrusted", settings="{%spurpose: %s, noise: coordinator}" % (rounds, purpose))
            asked = [charge for charge in self.charges(0) if charge["study"].startswith(purpose + "@")]
            self.assertEqual(len(asked), before + 1)
            self.assertEqual((asked[-1]["question"], asked[-1]["event"]["count"]), ("missing", 20))
            self.assertEqual(sum(charge["event"]["count"] for charge in asked), 1000)
            words = ["--set", "rounds=4"] if rounds else []
            self.succeed("simulate", "--method", "dpnewton", *files, "--test", self.rows(0), "--schema", "schema.yaml", "--epsilon", "8", "--delta",
                         "1e-5", "--seed", "1", "--set", f"purpose={purpose}", "--set", "noise=coordinator", *words, "--out", "simulated.json")
            simulated = json.loads((self.path / "simulated.json").read_text())
            ours, theirs = self.counts(model), self.counts(simulated)
            self.check_counts(ours)
            self.check_counts(theirs)
            for label in self.TRUTH:  # the same public numbers make the same noise
                self.assertAlmostEqual(ours[label][1], theirs[label][1], places=9)
            self.assertEqual(model["missing_counts"]["facts"], simulated["missing_counts"]["facts"])

    def test_shares_of_noise_and_none_where_it_is_not_asked_for(self):
        self.study("first", **NEWTON)
        self.coordinator()
        self.check_counts(self.counts(self.deployed("shares", settings="{rounds: 4}")))
        self.assertNotIn("missing_counts", self.deployed("without", settings="{rounds: 4, missing_counts: 0}"))
        self.assertEqual([charge["question"] for charge in self.charges(0) if charge["study"].startswith("without@")], ["moments"] + ["gradient"] * 4)
        self.assertIn("Missing values by what becomes of them", self.succeed("summary", self.folder / "shares.model.json").stdout)


class Persons(DeployedTest):
    """Patients with one to eight visits. Those who come often fall ill against the rule, and would decide if every visit counted."""

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text(SCHEMA + "person: patient\n")

    def rows(self, party):
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            draw, lines = random.Random(party), ["patient,age,dose,sick"]
            for patient in range(40):
                often = patient % 4 == 0
                for _ in range(8 if often else 1 + patient % 2):
                    age, dose = draw.random(), draw.random()
                    lines.append(f"p{party}-{patient},{age:.6f},{dose:.6f},{'yes' if (age > dose) != often else 'no'}")
            path.write_text("\n".join(lines) + "\n")
        return path

    WORDS = {"rounds": 12, "rows": 300, "noise": "coordinator", "person-rows": 2}

    def simulated(self, unit):
        """The same rows in one file: sums over persons do not depend on who holds them."""
        files = [self.rows(party).read_text().splitlines(True) for party in range(3)]
        (self.path / "all.csv").write_text(files[0][0] + "".join(line for lines in files for line in lines[1:]))
        words = [word for key, value in {**self.WORDS, "unit": unit}.items() for word in ("--set", f"{key}={value}")]
        self.succeed("simulate", "--method", "dpnewton", "--train", "all.csv", "--test", "all.csv", "--schema", "schema.yaml", "--parties", "3",
                     "--together", "patient", "--epsilon", "1e5", "--delta", "1e-5", "--lambda", "0.01", "--seed", "1", *words, "--out", "all.json")
        return json.loads((self.path / "all.json").read_text())["weights"]

    def test_a_person_counts_as_one_however_many_rows_it_has(self):
        settings = ", ".join(f"{key}: {value}" for key, value in {**self.WORDS, "unit": "person"}.items())
        self.study(**{**NEWTON, "epsilon": "1e5", "lambda": 0.01, "set": "{" + settings + "}", "minimum_rows": 40})
        self.coordinator()
        processes = {party: self.join(party, "--allow-entrusted", epsilon="2e5") for party in range(3)}
        deployed = self.check_done(processes, charged=[])["weights"]
        person, record = self.simulated("person"), self.simulated("record")
        size = max(map(abs, person))
        self.assertLess(max(abs(a - b) for a, b in zip(deployed, person)), 0.02 * size)
        self.assertGreater(max(abs(a - b) for a, b in zip(deployed, record)), 0.3 * size)

    def test_too_few_persons_are_too_few_however_many_rows(self):
        self.study(**{**NEWTON, "set": "{unit: person, rounds: 2, noise: party}", "minimum_rows": 41})  # of some 120 rows
        self.coordinator()
        self.limit(0)
        process = self.start(*self.join_words(0, self.invite()), home=self.home(0))
        process.wait_line("^joined; waiting")
        others = [self.start(*self.join_words(party, self.invite()), home=self.home(party)) for party in (1, 2) if self.limit(party) is None]
        process.wait_line("the study wants at least 41 persons of each party")
        self.assertEqual(self.charges(0), [])
        del others


if __name__ == "__main__":
    unittest.main()
