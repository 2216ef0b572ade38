#!/usr/bin/env python3
"""Methods without a centre between processes: the model of a simulation, whoever is killed, by mailbox or direct link; and
closed to a coordinator that reads or lies.

    TACIT=build/src/cli/tacit tests/service/test_neighbours.py
"""
import json
import os
import re
import sqlite3
import struct
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest, Relay

PARTIES = 5
SETTINGS = {"graph": "ring", "rounds": 6}


class NeighboursTest(DeployedTest):
    def begin(self, method, parties=PARTIES, **settings):
        self.settings = {**SETTINGS, **settings}
        text = "{" + ", ".join(f"{name}: {value}" for name, value in self.settings.items()) + "}"
        self.method = method
        self.study(method=method, set=text, epsilon=None, parties=f"{{expected: {parties}}}")
        return self.coordinator()

    def take_part(self, party, *more, **settings):
        return self.join(party, "--allow-neighbours", *more, **settings)

    def simulated(self, parties=PARTIES):
        """The weights of a simulation with the same parties."""
        lines = []
        for party in range(parties):
            head, *rows = self.rows(party).read_text().split()
            lines += [f"{row},{party}" for row in rows]
        pooled, out = self.path / "pooled.csv", self.path / "simulated.json"
        pooled.write_text("\n".join([head + ",site", *lines]) + "\n")
        words = [word for name, value in self.settings.items() for word in ("--set", f"{name}={value}")]
        self.succeed("simulate", "--method", self.method, "--train", pooled, "--test", pooled, "--schema",
                     self.path / "schema.yaml", "--split", "by:site", "--lambda", "0.05", "--out", out, "--seed", "1", *words)
        return json.loads(out.read_text())["weights"]

    def check_model(self, processes):
        model = self.check_done(processes, charged=[])
        expected = self.simulated(len(processes))
        self.assertEqual(len(model["weights"]), len(expected))
        for ours, theirs in zip(model["weights"], expected):
            self.assertAlmostEqual(ours, theirs, delta=1e-9)
        return model


class Rounds(NeighboursTest):
    def test_extra_with_a_party_killed_and_one_that_listens(self):
        self.begin("extra")
        parties = {party: self.take_part(party) for party in range(PARTIES - 1)}
        parties[PARTIES - 1] = self.take_part(PARTIES - 1, "--listen", "127.0.0.1:0")
        for round in (2, 5):
            parties[1].wait_line(f"^round {round}: answering")
            parties[1].kill()
            parties[1] = self.resume(1)
        self.check_model(parties)
        print(parties[4].text(), parties[0].text())


if __name__ == "__main__":
    unittest.main()
