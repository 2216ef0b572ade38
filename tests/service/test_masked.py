#!/usr/bin/env python3
"""Masked sums between processes: right or cleanly refused whoever is killed, and closed to a coordinator that lies.

    TACIT=build/src/cli/tacit tests/service/test_masked.py [--many]
"""
import itertools
import json
import os
import random
import re
import sqlite3
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest, Relay

STEPS = ["advertise", "share", "mask", "consent", "unmask"]


class MaskedTest(DeployedTest):
    def local_weights(self, party):
        out = self.path / f"local{party}.json"
        self.succeed("simulate", "--method", "batch", "--train", self.rows(party), "--test", self.rows(party), "--schema",
                     self.path / "schema.yaml", "--parties", "1", "--epsilon", "inf", "--lambda", "0.05", "--out", out,
                     "--seed", "1")
        return json.loads(out.read_text())["weights"]

    def check_mean(self, model, candidates):
        """The weights are the mean over as many of the candidates as the model says."""
        count = model["guarantee"]["parties"]
        local = {party: self.local_weights(party) for party in candidates}
        for chosen in itertools.combinations(sorted(candidates), count):
            means = [sum(column) / count for column in zip(*(local[party] for party in chosen))]
            if all(abs(mean - weight) < 1e-4 for mean, weight in zip(means, model["weights"])):
                return
        self.fail(f"the model is no mean over {count} of {sorted(candidates)}")


class Steps(MaskedTest):
    def test_every_step_is_told_and_all_see_one_roster(self):
        self.study()
        coordinator = self.coordinator()
        parties = {party: self.join(party) for party in range(3)}
        self.check_done(parties)
        roster = coordinator.wait_line(r"roster (\S+) of 3 parties").group(1)
        self.assertEqual(re.findall(r"step (\w+) of a masked sum", coordinator.text()), STEPS)
        for process in parties.values():
            self.assertEqual(re.findall(r"answering 'weights', step (\w+)", process.text()), STEPS)
            self.assertEqual(process.wait_line(r"^roster (\S+) of 3 parties").group(1), roster)
        files = {file.name: file for file in next(self.home(0).glob("studies/*")).iterdir()}
        for name in ("sum.key", "sum.state", "sum.masked"):
            self.assertEqual(files[name].stat().st_mode & 0o777, 0o600)

    def test_a_party_killed_at_every_step(self):
        self.study()
        self.coordinator()
        others = {party: self.join(party) for party in (1, 2)}
        victim = self.join(0)
        for at in range(len(STEPS)):  # a party may have gone further, and to the end, before the kill reaches it
            if victim.wait_line(f"step ({'|'.join(STEPS[at:])}) ", or_end=True) is None:
                break
            victim.kill()
            victim = self.resume(0)
        self.check_done({0: victim, **others})

    def test_a_coordinator_killed_at_every_step(self):
        self.study()
        coordinator = self.coordinator()
        parties = {party: self.join(party) for party in range(3)}
        for step in STEPS:
            coordinator.wait_line(f"step {step} |study trial is done")
            coordinator.kill()
            coordinator = self.coordinator()
            if self.status()["state"] == "done":  # it came to the end before the kill reached it
                break
        model = self.check_done(parties)
        self.assertEqual(model["guarantee"]["parties"], 3)


class Liars(MaskedTest):
    def test_a_roster_with_another_key_leads_nowhere(self):
        """Party 0 is shown a roster in which somebody else's key is another: nobody gets a contribution of it."""
        self.study()
        self.coordinator()
        keys = {}

        def change(data):
            for key in keys:
                data = data.replace(key, keys[key])
            return data
        relay = Relay(self.folder, self.home(0), self.port, change)
        cheated = self.join(0, invitation=self.invite("--url", relay.address))
        others = {party: self.join(party) for party in (1,)}
        # The roster is made of what the parties gave when joining; one byte of party 1's is changed.
        database = sqlite3.connect(self.folder / "coordinator.db")
        [[key]] = database.execute("SELECT key FROM signer JOIN party ON name = party ORDER BY number DESC LIMIT 1")
        database.close()
        keys[bytes(key)] = bytes(key[:-1]) + bytes([key[-1] ^ 1])
        others[2] = self.join(2)
        self.assertNotEqual(cheated.finish(), 0, cheated.text())
        self.assertEqual(self.charges(0), [])
        seen = cheated.wait_line(r"^roster (\S+) of 3 parties").group(1)
        self.assertNotEqual(seen, others[1].wait_line(r"^roster (\S+) of 3 parties").group(1))
        relay.listener.close()

    def test_a_roster_that_changes_is_refused_and_logged(self):
        self.study(parties="{expected: 4, minimum: 3}")
        coordinator = self.coordinator()
        for absent in (0, 3):
            self.join(absent).kill()
        parties = {party: self.join(party) for party in (1, 2)}
        for process in parties.values():
            process.wait_line("step advertise")
        coordinator.kill()
        with sqlite3.connect(self.folder / "coordinator.db") as database:
            database.execute("UPDATE roster SET key = randomblob(32) WHERE place = 0")
        database.close()
        self.coordinator()
        for party, process in parties.items():
            self.assertEqual(process.finish(), 3, process.text())
            self.assertIn("changed the roster", process.lines[-1])
            shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(party)).stdout)
            kinds = [entry["entry"] for source in shown["sources"] for entry in source["entries"]]
            self.assertEqual((kinds.count("refusal"), kinds.count("charge")), (1, 0))


class Many(MaskedTest):
    """Twenty parties, some killed at a random step and some of those for good."""
    PARTIES, MINIMUM = 20, 14

    def test_always_the_right_sum_or_none(self):
        for seed in range(2):
            with self.subTest(seed=seed):
                self.round(random.Random(seed), seed)

    def home(self, party):
        return self.path / f"home{party}-{self.seed}"

    def round(self, draw, seed):
        self.seed = seed
        self.folder = self.path / f"consortium{seed}"
        self.study(set="{noise: coordinator}", epsilon="1e6", patience=4,
                   parties=f"{{expected: {self.PARTIES}, minimum: {self.MINIMUM}}}")
        self.coordinator()
        victims = draw.sample(range(self.PARTIES), 8)
        lost = set(victims[:draw.randrange(3, 7)])
        moments = {party: draw.choice(["^joined; waiting"] + [f"step {step} " for step in STEPS]) for party in victims}
        running = {}
        for party in range(self.PARTIES):
            running[party] = self.join(party, "--allow-entrusted", epsilon="2e6")
            if moments.get(party) == "^joined; waiting":
                running[party].kill()
        for party in sorted(victims, key=lambda party: STEPS.index((moments[party].split() + ["advertise"])[1])
                            if moments[party].startswith("step") else -1):
            if moments[party].startswith("step"):
                try:
                    running[party].wait_line(moments[party] + "|study .* (done|failed)")
                except AssertionError:
                    pass  # it came to its end before
                running[party].kill()
            if party not in lost:
                running[party] = self.resume(party)
        for party in set(range(self.PARTIES)) - lost:
            self.assertIn(running[party].finish(), (0, 1), running[party].text())
        status = self.status()
        self.assertIn(status["state"], ("done", "failed"))
        charged = {party for party in range(self.PARTIES) if self.charges(party)}
        if status["state"] == "done":
            model = json.loads((self.folder / "trial.model.json").read_text())
            self.assertGreaterEqual(model["guarantee"]["parties"], self.MINIMUM)
            self.check_mean(model, charged)
        else:
            self.assertIn("secure sum", status["reason"])
            self.assertFalse((self.folder / "trial.model.json").exists())


class Drawn(MaskedTest):
    """More than fifty parties draw who masks with whom, before their first sum."""

    def test_parties_and_coordinator_are_killed_while_the_graph_is_drawn(self):
        parties = 51
        self.study(parties="{expected: %d, minimum: %d}" % (parties, parties))
        coordinator = self.coordinator()
        processes = {}
        for party in range(parties):
            self.limit(party)
            processes[party] = self.start(*self.join_words(party, self.invite()), home=self.home(party))
        coordinator.wait_line("step draw of a masked sum")
        for party in (7, 8):
            processes[party].wait_line("^joined; waiting")
        processes[7].kill()  # before it has answered, or after
        processes[7] = self.resume(7)
        coordinator.wait_line("step reveal of a masked sum")
        coordinator.kill()
        processes[8].kill()
        processes[8] = self.resume(8)
        self.coordinator()
        model = self.check_done(processes)
        self.assertEqual(model["guarantee"]["parties"], parties)
        answered = re.findall(r"answering 'weights', step (\w+)", processes[0].text())
        self.assertEqual(list(dict.fromkeys(answered)), ["draw", "reveal", *STEPS])


if __name__ == "__main__":
    many = "--many" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--many"]
    if not many:
        del Many, Drawn
    else:
        del Steps, Liars
    unittest.main()
