#!/usr/bin/env python3
"""Deployed studies that train a network: dpsgd over TLS, its noise from each party or in shares under masks; a coordinator that is
killed, a party that vanishes, budgets that do not suffice.

    TACIT=build/src/cli/tacit tests/service/test_network.py
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

PARTIES = range(3)


class NetworkTest(DeployedTest):
    def study(self, name="trial", noise="party", steps=4, more="", **changed):
        settings = f"{{noise: {noise}, hidden: '4,3', sampling: 1, epochs: {steps}{more}}}"
        return super().study(name, **{"method": "dpsgd", "set": settings, "epsilon": 2, "delta": "1e-5", **changed})

    def composed(self, party):
        shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(party)).stdout)
        return next(account["spent"]["epsilon"] for account in shown["sources"][0]["accounts"]
                    if account["unit"] == "record")

    def model_file(self):
        return self.folder / "trial.model.json"

    def test_shares_of_noise_under_masks(self):
        """Sampled rows, masked sums, exact noise; the model is saved, can be used, and says what it promises."""
        self.study(sum="masked", set="{noise: shares, hidden: '4,3', sampling: 0.5, epochs: 2}")
        coordinator = self.coordinator("--until-done")
        parties = [self.join(party, epsilon=3) for party in PARTIES]
        for process in parties:
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        model = json.loads(self.model_file().read_text())
        self.assertEqual(model["network"], {"hidden": [4, 3], "activation": "tanh"})
        self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": 2.0, "delta": 1e-5})
        for party in PARTIES:
            charges = self.charges(party)
            self.assertEqual([charge["kind"] for charge in charges], ["sealed"] * 5)  # the number of rows, and 4 steps
            self.assertEqual({charge["noise"] for charge in charges[1:]}, {"exact"})
            self.assertLess(self.composed(party), 2.0)
        shown = json.loads(self.succeed("evaluate", self.model_file(), self.rows(0), "--json").stdout)
        self.assertIn("accuracy", json.dumps(shown))

    def test_shares_in_clear_are_refused(self):
        refused = self.tacit("study", "new", self.folder, self.definition("trial", method="dpsgd", set="{noise: shares}",
                                                                        epsilon=2, delta="1e-5", sum="clear"))
        self.assertNotEqual(refused.returncode, 0)
        self.assertIn("choose sum: masked", refused.stderr)

    def test_a_killed_coordinator_goes_on_where_it_was(self):
        self.study(steps=6)
        coordinator = self.coordinator("--until-done")
        parties = [self.join(party, epsilon=3) for party in PARTIES]
        parties[0].wait_line("round 3: answering")
        coordinator.kill()
        coordinator = self.coordinator("--until-done")
        for process in parties:
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        for party in PARTIES:
            self.assertEqual(len(self.charges(party)), 7)  # no step was paid for twice
            self.assertLess(self.composed(party), 2.0)

    def test_a_party_vanishes_and_comes_back(self):
        self.study(steps=12, parties="{expected: 4, minimum: 3}", patience=5)
        coordinator = self.coordinator("--until-done")
        parties = {party: self.join(party, epsilon=3) for party in range(4)}
        parties[2].wait_line("round 2: answering")
        parties[2].kill()
        parties[0].wait_line("round 4: answering")
        parties[2] = self.resume(2)
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        self.assertEqual(len(self.charges(0)), len(self.answered(parties[0])))
        self.assertLessEqual(len(self.charges(0)), 13)
        self.assertLess(len(self.charges(2)), 13)

    def test_signs_are_uploaded(self):
        self.study(more=", upload: ternary, keep: 0.5")
        coordinator = self.coordinator("--until-done")
        for process in [self.join(party, epsilon=3) for party in PARTIES]:
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        self.assertEqual(len(self.charges(0)), 5)

    def test_what_passes_the_budget_is_refused_before_it_starts(self):
        self.study(epsilon=20)
        self.coordinator()
        self.limit(0, 1)
        self.refuse(3, *self.join_words(0, self.invite()), home=self.home(0), says=["epsilon"])
        self.assertEqual(self.charges(0), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
