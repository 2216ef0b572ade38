#!/usr/bin/env python3
"""Methods without a center between processes: the model of a simulation, whoever is killed, by mailbox or direct link; and
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

if os.geteuid() != 0:
    os.environ["TACIT_HARDENING"] = "off"  # these tests look into the memory of processes

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
    def test_extra_with_parties_and_coordinator_killed_and_one_that_listens(self):
        coordinator = self.begin("extra")
        last = PARTIES - 1
        parties = {party: self.take_part(party) for party in range(last)}
        parties[last] = self.take_part(last, "--listen", "127.0.0.1:0")
        address = parties[last].wait_line(r"^listening at (127.0.0.1:\d+) ").group(1)
        for victim, round in ((1, 3), (last, 5)):
            parties[victim].wait_line(f"^round {round}: answering")
            parties[victim].kill()
            if victim == 1:
                coordinator.kill()
                coordinator = self.coordinator()
            parties[victim] = self.resume(victim)
        self.check_model(parties)
        self.assertEqual(parties[last].wait_line(r"^listening at (\S+) ").group(1), address)
        for neighbour in (0, last - 1):
            parties[neighbour].wait_line(f"^a direct link to party {PARTIES} at {address}")
        for party in range(PARTIES):
            charges = self.charges(party)
            # Rows, the first word, one for each round, and the sum: once each, whoever was killed.
            self.assertEqual(len(charges), 3 + SETTINGS["rounds"])
            self.assertEqual({charge["kind"] for charge in charges}, {"entrusted"})
            self.succeed("ledger", "verify", home=self.home(party))
        folder = next(self.home(last).glob("studies/*"))
        self.assertEqual([file.name for file in folder.iterdir() if re.match(r"word\.|mail\.key", file.name)], [])

    def test_gossip_while_parties_leave_and_links_fail(self):
        self.begin("gossip", 4, graph="complete", rounds=8, leave=0.2, away=2, links=0.8, delay=3)
        self.check_model({party: self.take_part(party) for party in range(4)})


class Rules(NeighboursTest):
    def test_without_the_owners_word_nobody_joins(self):
        self.begin("extra", 3)
        for more in ((), ("--allow-exact", "--allow-entrusted")):
            self.refuse(3, *self.join_words(0, self.invite(), *more), home=self.home(0), says=["--allow-neighbours"])
        self.assertEqual(self.status()["joined"], 0)
        self.refuse(2, *self.join_words(0, self.invite(), "--allow-neighbours", "--listen", "here"), home=self.home(0),
                    says=["HOST:PORT"])

    def test_listening_is_for_neighbours(self):
        self.study()
        self.coordinator()
        self.limit(0)
        self.refuse(2, *self.join_words(0, self.invite(), "--listen", "127.0.0.1:0"), home=self.home(0), says=["--listen"])


class Liars(NeighboursTest):
    def test_a_word_is_nowhere_in_clear_but_with_neighbours(self):
        """A trigger in the watched party's ledger collects its states, and with them all that it has said."""
        (self.path / "edges.txt").write_text("# a line\n1 2\n2 3\n")
        coordinator = self.begin("consensus", 3, graph="file:edges.txt", schedule="fixed")
        self.limit(0)
        with sqlite3.connect(self.home(0) / "ledger.db") as database:
            database.execute("CREATE TABLE seen (state BLOB)")
            database.execute("CREATE TRIGGER see AFTER INSERT ON kept BEGIN INSERT INTO seen VALUES (new.state); END")
        database.close()
        relay = Relay(self.folder, self.home(0), self.port)
        watched = self.take_part(0, invitation=self.invite("--url", relay.address))
        self.settings["graph"] = "edges:1-2,2-3"  # as it travels
        self.check_model({0: watched, **{party: self.take_part(party) for party in (1, 2)}})
        database = sqlite3.connect(self.home(0) / "ledger.db")
        states = [state for state, in database.execute("SELECT state FROM seen")]
        words = [payload for payload, in database.execute("SELECT payload FROM answer ORDER BY entry")][1:-2]
        database.close()
        # The round, then the weights. The first word is of zeros and leaves no state.
        numbers = {state[at:at + 8] for state in states for at in range(8, len(state), 8)}
        self.assertEqual((len(states), len(words), len(numbers)), (7, 6, 18))
        memory, sent = coordinator.memory(), bytes(relay.sent)
        files = b"".join(file.read_bytes() for file in self.folder.iterdir() if file.is_file())
        for number in numbers:
            self.assertFalse(number in memory or number in sent or number in files)
        # The control: sealed, they did travel, and what the coordinator was started with is found in its memory.
        self.assertTrue(all(word[-40:] in sent for word in words))
        self.assertIn(str(self.folder).encode(), memory)
        relay.listener.close()

    def test_a_key_in_another_place_is_refused_before_a_word(self):
        """Party 0 is shown a roster in which its neighbour's key is another: the neighbour's card is then signed by nobody."""
        self.begin("extra", 3)
        keys = {}

        def change(data):
            for key in keys:
                data = data.replace(key, keys[key])
            return data
        relay = Relay(self.folder, self.home(0), self.port, change)
        cheated = self.take_part(0, invitation=self.invite("--url", relay.address))
        others = {1: self.take_part(1)}
        database = sqlite3.connect(self.folder / "coordinator.db")
        [[key]] = database.execute("SELECT key FROM signer JOIN party ON name = party ORDER BY number DESC LIMIT 1")
        database.close()
        keys[bytes(key)] = bytes(key[:-1]) + bytes([key[-1] ^ 1])
        others[2] = self.take_part(2)
        # Its neighbours find its own card signed for another roster; whoever looks first ends the study.
        ends = {process: process.finish() for process in (cheated, *others.values())}
        self.assertEqual(set(ends.values()) - {1}, {3})
        for process, code in ends.items():
            self.assertIn("not signed by it" if code == 3 else "count on its word", process.lines[-1])
        self.assertEqual([charge["question"] for charge in self.charges(0)], ["rows"])
        self.assertIn("count on its word", self.status()["reason"])
        relay.listener.close()


if __name__ == "__main__":
    unittest.main()
