#!/usr/bin/env python3
"""A study that an earlier version of the program began goes on under this one: nothing is lost, nothing is paid twice. What stopped
in the middle is in the folder stopped (stopped.py made it, with that version).

    TACIT=build/src/cli/tacit tests/service/test_resumed.py
"""
import json
import os
import sqlite3
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest
from stopped import PARTIES, unpack

EXPECTED = Path(__file__).parent / "stopped" / "expected.json"


class Resumed(DeployedTest):
    def serve_again(self):
        """At a port that is free here: the one of then is in the registry and in the parties' settings."""
        database = sqlite3.connect(self.folder / "coordinator.db")
        with database:
            database.execute("DELETE FROM setting WHERE key = 'port'")
        database.close()
        self.coordinator()
        for path in self.path.glob("home*/studies/*/settings.json"):
            path.write_text(json.dumps({**json.loads(path.read_text()), "url": self.url}))

    def go_on(self, kind):
        unpack(kind, self.path)
        before = {party: self.charges(party) for party in PARTIES}
        rounds = self.status()["rounds"]
        self.assertGreater(rounds, 0)
        self.serve_again()
        parties = {party: self.resume(party) for party in PARTIES}
        model = self.check_done(parties, charged=())
        self.assertIn("resumed from its journal", self.log())
        self.assertGreater(self.status()["rounds"], rounds)
        for party in PARTIES:
            after = self.charges(party)
            self.assertEqual(after[:len(before[party])], before[party])
            self.assertEqual(len(after), self.status()["rounds"])  # each was paid once
            self.succeed("ledger", "verify", home=self.home(party))
        return model["weights"]

    def check_same(self, kind):
        """Without noise the model is the one that the earlier version came to; processors differ in the last bits."""
        weights, expected = self.go_on(kind), json.loads(EXPECTED.read_text())[kind]
        self.assertEqual(len(weights), len(expected))
        for one, other in zip(weights, expected):
            self.assertAlmostEqual(one, other, delta=1e-9)

    def test_rounds_in_clear_go_on_from_an_earlier_checkpoint(self):
        self.go_on("plain")

    def test_a_masked_sum_that_was_open_goes_on(self):
        self.check_same("masked")

    def test_an_encrypted_sum_that_was_open_goes_on(self):
        self.check_same("paillier")

    def test_words_between_neighbours_go_on(self):
        self.check_same("mail")


if __name__ == "__main__":
    unittest.main()
