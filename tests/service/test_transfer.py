#!/usr/bin/env python3
"""Transfer between processes: source hospitals answer once over TLS, and a target hospital, which runs the coordinator on
rows of its own, learns from them.

    TACIT=build/src/cli/tacit tests/service/test_transfer.py
"""
import json
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

PARTIES = range(3)


class TransferTest(DeployedTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(99)
        (self.path / "points.csv").write_text(
            "age,dose\n" + "".join(f"{draw.random():.6f},{draw.random():.6f}\n" for _ in range(50)))
        self.target = self.rows("target", rows=60)

    def definition(self, name="trial", **changed):
        return super().definition(name, **{"method": "dphtl", "epsilon": 1, "lambda": 0.05, "auxiliary": "points.csv",
                                      "set": "{labelled: 0.5, target_labels: 0.2}", **changed})

    def run_study(self, **changed):
        self.study(**changed)
        coordinator = self.coordinator("--until-done", "--target", self.target)
        for process in [self.join(party) for party in PARTIES]:
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        return json.loads((self.folder / "trial.model.json").read_text())

    def accuracy(self, model):
        path = self.rows("test", rows=300)
        return json.loads(self.succeed("evaluate", model, path, "--json").stdout)["accuracy"]


class Transfer(TransferTest):
    def test_each_source_answers_once_and_pays_epsilon_once(self):
        model = self.run_study()
        self.assertEqual(self.status()["rounds"], 1)
        self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": 1.0, "delta": 0.0})
        for party in PARTIES:
            charges = self.charges(party)
            self.assertEqual(len(charges), 1)
            self.assertEqual(charges[0]["noise"], "exact")
            self.assertEqual(charges[0]["price"]["epsilon"], 1.0)

    def test_rows_that_serve_both_cost_both(self):
        self.run_study(set="{labelled: 1, target_labels: 0.2}")
        for party in PARTIES:
            self.assertEqual([charge["price"]["epsilon"] for charge in self.charges(party)], [2.0])

    def test_without_noise_to_speak_of_the_target_learns_well(self):
        self.study(epsilon="1e6")
        coordinator = self.coordinator("--until-done", "--target", self.target)
        for process in [self.join(party, epsilon="2e6") for party in PARTIES]:
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        self.assertGreater(self.accuracy(self.folder / "trial.model.json"), 0.8)

    def test_a_study_has_one_model(self):
        self.refuse(3, "study", "new", self.folder, self.definition("many", set="{labelled: 0.5, model: sources}"),
                    says=["model=sources makes a model of each source"])

    def test_a_coordinator_without_a_target_says_what_is_missing(self):
        self.study()
        self.start("coordinator", self.folder).wait_line("trial cannot be served: method dphtl .*--target")


if __name__ == "__main__":
    unittest.main()
