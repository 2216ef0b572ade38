#!/usr/bin/env python3
"""tacit audit as a user meets it: figures, verdicts, exit codes. Seeds are fixed, so nothing here fails by chance.

    TACIT=build/src/cli/tacit tests/cli/test_audit.py
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest


class Audit(ProgramTest):
    def audit(self, *words):
        return json.loads(self.succeed("audit", *words, "--seed", "1", "--json").stdout)

    def test_the_document_follows_the_contract(self):
        told = self.audit("laplace", "--epsilon", "1", "--runs", "20000")
        self.assertTrue({"method", "epsilon", "epsilon_lower", "confidence", "runs", "verdict"} <= set(told))
        self.assertEqual((told["method"], told["epsilon"], told["confidence"], told["runs"], told["verdict"]),
                         ("laplace", 1, 0.999, 20000, "holds"))
        self.assertEqual((told["delta"], told["unit"], told["seed"], told["reach"]), (0, "record", 1, 1))
        self.assertTrue(0.5 < told["epsilon_lower"] <= 1)

    def test_methods_and_settings_reach_the_pair(self):
        told = self.audit("avg", "--epsilon", "3", "--runs", "5000", "--set", "unit=party", "--set", "noise=party",
                          "--lambda", "0.2")
        self.assertEqual((told["unit"], told["verdict"]), ("party", "holds"))
        self.assertIn("the only party", told["pair"])
        self.assertIn("lambda 0.2", told["pair"])

    def test_the_seed_decides_on_any_number_of_threads(self):
        words = ["gamma-norm", "--epsilon", "1", "--runs", "3000"]
        one = self.audit(*words, "--threads", "1")
        self.assertEqual(one, self.audit(*words, "--threads", "3"))
        drawn = json.loads(self.succeed("audit", *words, "--json").stdout)
        again = json.loads(self.succeed("audit", *words, "--json", "--seed", str(drawn["seed"])).stdout)
        self.assertEqual(drawn, again)

    def test_exact_noise_and_a_search_are_told(self):
        told = self.audit("output", "--epsilon", "1", "--runs", "2000", "--exact", "--search", "5")
        self.assertEqual((told["exact"], told["searched"], told["aborted"], told["verdict"]), (True, 5, [0, 0], "holds"))
        self.assertIn("the worst of 5 tried", told["pair"])
        self.assertFalse(self.audit("laplace", "--epsilon", "1", "--runs", "200")["exact"])

    def test_the_table_says_pair_bound_and_verdict(self):
        text = self.succeed("audit", "avg", "--epsilon", "2", "--runs", "2000", "--seed", "4").stdout
        for part in ("seed 4", "pair: one of the", "of the declared sensitivity", "at least", "99.9%", "2 x 2000",
                     "epsilon 2, delta 0, per record", "holds"):
            self.assertIn(part, text)

    def test_a_broken_promise_is_a_failure_with_its_figures(self):
        words = ["audit", "laplace-halved", "--epsilon", "1", "--runs", "20000", "--seed", "1"]
        done = self.tacit(*words)
        self.assertEqual(done.returncode, 1)
        self.assertIn("broken", done.stdout)
        self.assertIn("tacit: laplace-halved is charged epsilon 1 and loses at least 1.", done.stderr)
        done = self.tacit(*words, "--json")
        self.assertEqual(done.returncode, 1)
        told = json.loads(done.stdout)
        self.assertEqual((told["verdict"], told["epsilon"]), ("broken", 1))
        self.assertGreater(told["epsilon_lower"], 1)
        self.assertIn("promise", told["error"]["message"])

    def test_wrong_flags_are_usage_errors(self):
        def refuse(*words, says):
            self.fail_with(2, "audit", *words, says=says)
        known = self.tacit("audit", "average", "--epsilon", "1").stderr.split("there are: ")[1].strip().split(", ")
        told = json.loads(self.succeed("help", "audit", "--json").stdout)["arguments"][0]["help"]
        for name in known:
            self.assertRegex(told, rf"[ (]{name}[,)]")
        refuse("average", "--epsilon", "1", says=["average", "laplace, gamma-norm, gaussian, avg, output, plr, gop"])
        refuse("batch", "--epsilon", "1", says=["batch", "no noise"])
        refuse("avg", says=["--epsilon"])
        refuse("avg", "--epsilon", "0", says=["--epsilon"])
        refuse("avg", "--epsilon", "inf", says=["--epsilon"])
        refuse("avg", "--epsilon", "1", "--runs", "99", says=["--runs"])
        refuse("avg", "--epsilon", "1", "--confidence", "1", says=["--confidence"])
        refuse("avg", "--epsilon", "1", "--lambda", "0", says=["--lambda"])
        refuse("avg", "--epsilon", "1", "--set", "unit=row", says=["unit"])
        refuse("laplace", "--epsilon", "1", "--delta", "0.1", says=["delta = 0"])
        refuse("laplace", "--epsilon", "1", "--set", "dimension=0", says=["dimension"])


if __name__ == "__main__":
    unittest.main()
