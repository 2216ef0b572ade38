#!/usr/bin/env python3
"""What a plan and a simulation say of a study is what the deployed study does, and owners are told what to expect.

    TACIT=build/src/cli/tacit tests/service/test_expected.py
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

PARTIES = 4


class Expected(DeployedTest):
    newton = {"method": "dpnewton", "set": "{noise: shares}", "epsilon": 4, "delta": "1e-5", "lambda": None,
              "parties": f"{{expected: {PARTIES}, minimum: {PARTIES}}}", "minimum_rows": 20, "expected_rows": 200000}

    def simulated(self, expected):
        """Rounds and lambda of a simulation on the parties' own rows."""
        texts = [self.rows(party).read_text().splitlines() for party in range(PARTIES)]
        together = self.path / "together.csv"
        together.write_text("\n".join([texts[0][0], *(line for text in texts for line in text[1:])]) + "\n")
        done = self.succeed("simulate", "--method", "dpnewton", "--set", "noise=shares", "--train", together, "--test", together, "--schema",
                            self.path / "schema.yaml", "--parties", PARTIES, "--epsilon", 4, "--delta", "1e-5", "--expected-rows", expected,
                            "--seed", 1, "--json")
        return json.loads(done.stdout)["runs"][0]["rounds"]

    def test_rounds_are_those_of_plan_and_simulation_and_the_threshold_decides_nothing(self):
        file = self.definition(**self.newton)
        planned = json.loads(self.succeed("plan", file, "--methods", "dpnewton", "--brief", "--json").stdout)["methods"][0]
        self.succeed("study", "new", self.folder, file, "--force")
        self.coordinator("--until-done")
        parties = {party: self.join(party) for party in range(PARTIES)}
        self.check_done(parties, charged=[])
        self.assertEqual(self.status()["rounds"], planned["rounds"])
        self.assertEqual(self.simulated(200000), planned["rounds"])
        self.assertNotEqual(self.simulated(PARTIES * 20), planned["rounds"])  # so that the above says something

    def test_an_owner_sees_alone_and_together_and_a_log_does_not(self):
        self.succeed("study", "new", self.folder, self.definition(**self.newton), "--force")
        self.coordinator()
        process = self.join(0)
        told = [line for line in process.lines if " alone AUC " in line]
        self.assertEqual(len(told), 2, process.text())
        self.assertRegex(told[0], r"^expected +a site alone AUC 0\.\d+, together 0\.\d+")
        self.assertRegex(told[1], r"^ +you alone AUC 0\.\d+, together 0\.\d+ .*for your eyes only")
        self.assertEqual(self.charges(0), [])
        self.assertNotIn("alone", self.log())

    def test_a_model_of_little_but_noise_is_said_to_be_one(self):
        """By what is released with it, wherever people look; more often than not here, and never of another."""
        few = {**self.newton, "epsilon": 0.05, "expected_rows": 160}
        told = self.succeed("study", "new", self.folder, self.definition(**few), "--force")
        self.assertRegex(told.stdout + told.stderr, "expect no gain over the base rate")
        self.coordinator("--until-done")
        parties = {party: self.join(party) for party in range(PARTIES)}
        self.check_done(parties, charged=[])
        said = "of what the model says"
        noisy = json.loads(self.model(0).read_text())["noise_share"] > 0.5
        self.assertEqual(said in self.status()["reason"], noisy)
        self.assertEqual(said in self.log(), noisy)
        for process in parties.values():
            self.assertEqual(said in process.text(), noisy)


if __name__ == "__main__":
    unittest.main()
