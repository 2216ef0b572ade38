#!/usr/bin/env python3
"""Deployed studies of many rounds: dpgd and psgd over TLS, with coordinator and party killed on the way.

    TACIT=build/src/cli/tacit tests/service/test_gradient.py
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

PARTIES = range(3)


class GradientTest(DeployedTest):
    def study(self, name="trial", **changed):
        return super().study(name, **{"method": "dpgd", "set": "{noise: party, rounds: 6}", "epsilon": 2, "delta": "1e-5",
                                      **changed})

    def composed(self, party):
        """What the party's ledger says is spent per record."""
        shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(party)).stdout)
        return next(account["spent"]["epsilon"] for account in shown["sources"][0]["accounts"]
                    if account["unit"] == "record")

    def weights(self):
        return json.loads((self.folder / "trial.model.json").read_text())["weights"]


class Descent(GradientTest):
    def test_all_rounds_together_cost_what_was_consented_to(self):
        self.study()
        coordinator = self.coordinator("--until-done")
        parties = {party: self.join(party, epsilon=3) for party in PARTIES}
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        self.assertEqual(self.status()["rounds"], 6)
        model = json.loads((self.folder / "trial.model.json").read_text())
        self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": 2.0, "delta": 1e-5})
        for party in PARTIES:
            charges = self.charges(party)
            self.assertEqual(len(charges), 6)
            self.assertEqual({charge["noise"] for charge in charges}, {"exact"})
            # The limit's delta is 0.01, where six rounds cost less than at 1e-5.
            self.assertLess(self.composed(party), 2.0)
            self.assertLess(self.composed(party), 0.9 * sum(charge["price"]["epsilon"] for charge in charges))

    def test_without_noise_to_speak_of_it_is_the_minimum_of_all_rows(self):
        self.study(set="{noise: coordinator, rounds: 60}", epsilon="1e5")
        self.coordinator("--until-done")
        for process in [self.join(party, "--allow-entrusted", epsilon="2e5") for party in PARTIES]:
            self.assertEqual(process.finish(), 0, process.text())
        together = self.path / "together.csv"
        lines = ["age,dose,sick"]
        for party in PARTIES:
            lines += self.rows(party).read_text().splitlines()[1:]
        together.write_text("\n".join(lines) + "\n")
        self.succeed("simulate", "--method", "batch", "--train", together, "--test", together, "--schema",
                     self.path / "schema.yaml", "--parties", "1", "--epsilon", "inf", "--lambda", "0.05", "--out",
                     self.path / "batch.json", "--seed", "1")
        minimum = json.loads((self.path / "batch.json").read_text())["weights"]
        self.assertGreater(max(abs(weight) for weight in minimum), 0.5)
        for ours, theirs in zip(self.weights(), minimum):
            self.assertAlmostEqual(ours, theirs, delta=0.02)

    def test_a_killed_coordinator_and_a_killed_party_go_on_where_they_were(self):
        self.study(set="{noise: party, rounds: 12}")
        coordinator = self.coordinator("--until-done")
        parties = {party: self.join(party, epsilon=3) for party in PARTIES}
        parties[0].wait_line("round 3: answering")
        coordinator.kill()
        parties[1].kill()
        coordinator = self.coordinator("--until-done")  # at the port of before
        parties[1] = self.resume(1)
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        self.assertEqual(self.status()["rounds"], 12)
        for party in PARTIES:
            self.assertEqual(len(self.charges(party)), 12)
            self.assertLess(self.composed(party), 2.0)


class AsPrinted(GradientTest):
    def noise(self, party):
        return next((self.home(party) / "studies").glob("trial@*")) / "lasting-noise"

    def study(self, **changed):
        return super().study(method="psgd", **{"set": "{rounds: 8}", "epsilon": 0.1, **changed})

    def test_a_party_keeps_its_persistent_noise_over_a_restart(self):
        self.study()
        coordinator = self.coordinator("--until-done")
        parties = {party: self.join(party) for party in PARTIES}
        parties[0].wait_line("round 3: answering")
        kept = self.noise(0).read_bytes()
        self.assertEqual(self.noise(0).stat().st_mode & 0o777, 0o600)
        parties[0].kill()
        parties[0] = self.resume(0)
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        self.assertEqual(self.noise(0).read_bytes(), kept)
        self.assertNotEqual(self.noise(1).read_bytes(), kept)
        # The number of rows, which costs nothing, and eight gradients.
        prices = [charge["price"]["epsilon"] for charge in self.charges(0)]
        self.assertEqual(prices, [0] + [0.1] * 8)

    def test_it_does_not_fit_a_budget_of_what_the_paper_claims(self):
        self.study(set="{rounds: 1000}")
        self.coordinator()
        self.limit(0, 1)
        self.refuse(3, *self.join_words(0, self.invite()), home=self.home(0), says=["epsilon"])

    def test_noise_that_only_lasts_never_leaves(self):
        self.study(set="{rounds: 2, noise: fixed}")
        self.coordinator()
        self.limit(0, 10)
        self.refuse(3, *self.join_words(0, self.invite()), home=self.home(0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
