#!/usr/bin/env python3
"""Deployed studies in which parties take turns: dpstgd over TLS, with coordinator and party killed on the way.

    TACIT=build/src/cli/tacit tests/service/test_ternary.py
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

PARTIES = range(3)


class Turns(DeployedTest):
    def study(self, name="trial", rounds=4, **changed):
        settings = f'{{hidden: "4", rounds: {rounds}, sampling: 0.5, keep: 0.3}}'
        return super().study(name, **{"method": "dpstgd", "set": settings, "epsilon": 2, "delta": "1e-5", "lambda": None,
                                      "sum": "clear", **changed})

    def composed(self, party):
        shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(party)).stdout)
        return next(account["spent"]["epsilon"] for account in shown["sources"][0]["accounts"]
                    if account["unit"] == "record")

    def finish(self, parties, coordinator):
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())

    def test_each_is_asked_in_its_turn_and_all_turns_cost_what_was_consented_to(self):
        self.study()
        coordinator = self.coordinator("--until-done")
        parties = {party: self.join(party, epsilon=3) for party in PARTIES}
        self.finish(parties, coordinator)
        self.assertEqual(self.status()["rounds"], 12)
        model = json.loads((self.folder / "trial.model.json").read_text())
        self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": 2.0, "delta": 1e-5})
        self.assertLess(model["guarantee"]["claimed"]["epsilon"], 2)
        turns = []
        for party in PARTIES:
            charges = self.charges(party)
            self.assertEqual(len(charges), 4)
            self.assertEqual({charge["noise"] for charge in charges}, {"exact"})
            self.assertLessEqual(self.composed(party), 2.0)
            turns += [charge["round"] for charge in charges] if "round" in charges[0] else []
        self.assertIn(sorted(turns), ([], list(range(12))))

    def test_turns_keep_their_places_when_an_amended_study_is_resumed(self):
        """Owners consent to the amendment in another order than they joined; a coordinator that is killed finds the same turns."""
        self.study(rounds=5)
        coordinator = self.coordinator()
        first = {party: self.join(party, epsilon=5) for party in (0, 1)}
        settings = '{hidden: "4", rounds: 6, sampling: 0.5, keep: 0.3}'
        self.succeed("study", "amend", self.folder, self.definition(method="dpstgd", set=settings, epsilon=2, delta="1e-5",
                                                                    sum="clear", **{"lambda": None}))
        for process in first.values():
            self.assertEqual(process.finish(), 3, process.text())
        parties = {}
        for count, party in enumerate((1, 0), start=1):
            self.succeed("consent", "trial", "--yes", home=self.home(party))
            parties[party] = self.resume(party)
            coordinator.wait_line("takes part in study trial as amended", count)
        parties[2] = self.join(2, epsilon=5)
        parties[2].wait_line("round [5-9]: answering")
        coordinator.kill()
        coordinator = self.coordinator("--until-done")
        self.finish(parties, coordinator)
        for party in PARTIES:
            self.assertEqual(len(self.charges(party)), 6, party)

    def test_a_killed_coordinator_goes_on_with_the_turn_that_was_open(self):
        self.study(rounds=6)
        coordinator = self.coordinator("--until-done")
        parties = {party: self.join(party, epsilon=3) for party in PARTIES}
        parties[0].wait_line("round (3|4|5|6|7|8): answering")
        coordinator.kill()
        coordinator = self.coordinator("--until-done")  # at the port of before
        self.finish(parties, coordinator)
        self.assertEqual(self.status()["rounds"], 18)
        for party in PARTIES:
            self.assertEqual(len(self.charges(party)), 6)
            self.assertLessEqual(self.composed(party), 2.0)

    def test_a_party_that_vanishes_is_passed_over_and_comes_back(self):
        self.study(rounds=8, parties="{expected: 3, minimum: 2}", patience=5)
        coordinator = self.coordinator("--until-done")
        parties = {party: self.join(party, epsilon=3) for party in PARTIES}
        parties[2].wait_line("round [0-9]+: answering")
        parties[2].kill()
        before = len(self.charges(2))
        # Somebody is asked again after a turn of the one that is gone.
        parties[0].wait_line("round [0-9]+: answering", count=before + 2)
        parties[2] = self.resume(2)
        self.finish(parties, coordinator)
        self.assertEqual(self.status()["rounds"], 24)
        for party in (0, 1):
            self.assertEqual(len(self.charges(party)), len(self.answered(parties[party])))
            self.assertLessEqual(len(self.charges(party)), 8)
        self.assertLess(len(self.charges(2)), 8)

    def test_a_study_beyond_the_budget_is_refused_before_it_starts(self):
        settings = '{hidden: "4", rounds: 100, sampling: 0.01, keep: 0.3, calibration: paper}'
        self.study(set=settings, epsilon=0.5, delta=None)
        self.coordinator()
        self.limit(0, 20)  # the paper would print less than 8 for it
        self.refuse(3, *self.join_words(0, self.invite()), home=self.home(0), says=["epsilon"])
        self.assertEqual(self.charges(0), [])


if __name__ == "__main__":
    unittest.main()
