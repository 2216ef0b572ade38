#!/usr/bin/env python3
"""Deployed stacks: pst-f and pst-s with trees between parties, and pst-h from a source to a target, over TLS.

    TACIT=build/src/cli/tacit tests/service/test_stacking.py
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

ROLES = {0: "source", 1: "source", 2: "target"}


class Stacks(DeployedTest):
    def study(self, name="trial", **changed):
        return super().study(name, **{"method": "pst-h", "set": "{groups: 2}", "epsilon": 2, **changed})

    def use(self, model):
        """The model names its members and says what it cost, and predicts."""
        told = json.loads(self.succeed("evaluate", self.folder / "trial.model.json", self.rows(2), "--json").stdout)
        self.assertTrue(0 <= told["auc_interval"][0] <= told["auc"] <= told["auc_interval"][1] <= 1)
        self.assertEqual(told["guarantee"]["charged"], {"unit": "record", "epsilon": 2.0, "delta": 0.0})
        self.assertEqual(len(model["stack"]["members"]), 2)
        self.assertEqual(len(model["stack"]["high"]), 2)

    def test_a_source_answers_once_and_a_target_once(self):
        self.study()
        coordinator = self.coordinator("--until-done")
        parties = {party: self.join(party, "--role", role) for party, role in ROLES.items()}
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        self.assertEqual(self.status()["rounds"], 2)
        for party, role in ROLES.items():
            prices = [charge["price"]["epsilon"] for charge in self.charges(party)]
            self.assertEqual(prices, [2, 0] if role == "source" else [0, 2])
            paid = [charge["noise"] for charge in self.charges(party) if charge["price"]["epsilon"] > 0]
            self.assertEqual(paid, ["exact"])
            self.succeed("ledger", "verify", home=self.home(party))
        self.use(json.loads((self.folder / "trial.model.json").read_text()))

    def test_an_owner_must_say_the_role(self):
        self.study()
        self.coordinator()
        self.limit(0)
        invitation = self.invite()
        for words in ((), ("--role", "ward")):
            self.refuse(2, *self.join_words(0, invitation, *words), home=self.home(0), says=["source|target", "--role"])

    def test_an_amendment_gives_no_party_a_role(self):
        self.study(method="pst-f")
        self.coordinator()
        party = self.join(0)
        self.succeed("study", "amend", self.folder, self.definition(method="pst-h", set="{groups: 2}", epsilon=2))
        self.assertEqual(party.finish(), 3, party.text())
        self.refuse(3, "consent", "trial", "--yes", home=self.home(0), says=["pst-h", "no role", "--role"])
        self.refuse(2, "consent", "trial", "--yes", "--role", "ward", home=self.home(0), says=["source|target"])
        self.succeed("consent", "trial", "--yes", "--role", "source", home=self.home(0))
        parties = {0: self.resume(0), 1: self.join(1, "--role", "source"), 2: self.join(2, "--role", "target")}
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(self.status()["state"], "done")

    def test_feature_groups_between_parties_cost_one_answer_each(self):
        self.study(method="pst-f")
        self.coordinator("--until-done")
        self.use(self.check_done({party: self.join(party) for party in ROLES}))
        self.limit(0)
        self.study("other", method="pst-f")
        self.coordinator()
        self.refuse(2, *self.join_words(0, self.invite(study="other"), "--role", "source"), home=self.home(0),
                    says=["no roles"])

    def test_trees_of_all_parties_are_members_of_one_stack(self):
        self.study(method="pst-s", set="{blocks: 2, members: mixed, depth: 2}", delta="1e-5")
        self.coordinator("--until-done")
        model = self.check_done({party: self.join(party) for party in ROLES})
        self.assertEqual(["tree" in member for member in model["stack"]["members"]], [False, True] * len(ROLES))
        told = json.loads(self.succeed("evaluate", self.folder / "trial.model.json", self.rows(2), "--json").stdout)
        self.assertEqual(told["guarantee"]["charged"], {"unit": "record", "epsilon": 2.0, "delta": 1e-5})
        for party in ROLES:
            prices = [(charge["price"]["epsilon"], charge["price"]["delta"]) for charge in self.charges(party)]
            self.assertEqual(prices, [(2, 1e-5)])


if __name__ == "__main__":
    unittest.main(verbosity=2)
