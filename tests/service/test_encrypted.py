#!/usr/bin/env python3
"""Sums under Paillier encryption between processes: right or cleanly refused whoever is killed, and no contribution
where it does not belong.

    TACIT=build/src/cli/tacit tests/service/test_encrypted.py
"""
import json
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_masked import MaskedTest

STEPS = ["key", "encrypt", "decrypt"]


class KeyedTest(MaskedTest):
    """A key takes seconds to make, so the first one is used by all tests of this process, as if each key holder had made it."""
    made = None

    def key_file(self):
        [folder] = self.home(0).glob("studies/*")
        return folder / "paillier.key"

    def hold_key(self):
        """Party 0 has joined and has not been asked yet."""
        if KeyedTest.made is not None:
            self.key_file().touch(0o600)
            self.key_file().write_bytes(KeyedTest.made)

    def keep_key(self):
        KeyedTest.made = KeyedTest.made or self.key_file().read_bytes()


class Encrypted(KeyedTest):
    def begin(self, **changed):
        """Five parties; the first to join holds the key."""
        self.study(set="{noise: coordinator}", epsilon="1e6", sum="paillier",
                   **{"patience": 1, "parties": "{expected: 5, minimum: 4}", **changed})
        return self.coordinator()

    def arrive(self, party):
        process = self.join(party, "--allow-entrusted", epsilon="2e6")
        process.wait_line("^joined; waiting")
        if party == 0:
            self.hold_key()
        return process

    def test_one_of_five_is_killed_and_the_sum_is_that_of_the_others(self):
        coordinator = self.begin()
        parties = {party: self.arrive(party) for party in range(4)}
        lost = self.join(4, "--allow-entrusted", epsilon="2e6")
        lost.wait_line("^joined; waiting")
        lost.kill()
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        model = json.loads((self.folder / "trial.model.json").read_text())
        self.assertIn(model["guarantee"]["parties"], (4, 5))
        self.check_mean(model, {party for party in range(5) if self.charges(party)})
        self.assertEqual(re.findall(r"step (\w+) of an encrypted sum", coordinator.text()), STEPS)
        self.assertEqual(re.findall(r"answering 'weights', step (\w+)", parties[0].text()), STEPS)
        self.assertEqual(re.findall(r"answering 'weights', step (\w+)", parties[1].text()), ["encrypt"])
        roster = coordinator.wait_line(r"roster (\S+) of 5 parties").group(1)
        self.assertEqual(parties[3].wait_line(r"^roster (\S+) of 5 parties").group(1), roster)
        files = {file.name: file for file in next(self.home(0).glob("studies/*")).iterdir()}
        self.assertEqual(files["paillier.key"].stat().st_mode & 0o777, 0o600)
        self.assertFalse(list(self.home(1).glob("studies/*/paillier.key")))
        self.keep_key()

    def test_the_key_holder_and_the_coordinator_killed_at_every_step(self):
        coordinator = self.begin(parties="{expected: 3, minimum: 3}")
        holder = self.arrive(0)
        others = {party: self.arrive(party) for party in (1, 2)}
        killed = []
        for step in STEPS:
            if any(f"step {step} " in process.text() for process in killed):
                continue  # taken before the kill at the step before came
            holder.wait_line(f"step {step} ")
            holder.kill()
            killed.append(holder)
            coordinator.kill()
            coordinator = self.coordinator()
            holder = self.resume(0)
        for process in (holder, *others.values()):
            self.assertEqual(process.finish(), 0, process.text())
        model = json.loads((self.folder / "trial.model.json").read_text())
        self.assertEqual(model["guarantee"]["parties"], 3)
        self.check_mean(model, {0, 1, 2})
        for party in range(3):
            self.assertEqual(len(self.charges(party)), 1)
        self.keep_key()

    def test_too_few_open_nothing(self):
        self.begin(parties="{expected: 3, minimum: 3}")
        parties = {0: self.arrive(0)}
        last = self.join(2, "--allow-entrusted", epsilon="2e6")
        last.wait_line("^joined; waiting")
        self.succeed("withdraw", "trial", home=self.home(2))  # before the study begins with the third to come
        parties[1] = self.arrive(1)
        self.assertEqual(last.finish(), 3, last.text())
        for process in parties.values():
            self.assertEqual(process.finish(), 1, process.text())
        self.assertEqual(self.status()["state"], "failed")
        self.assertIn("secure sum that needs 3", self.status()["reason"])
        self.assertFalse((self.folder / "trial.model.json").exists())

class Shares(KeyedTest):
    """Noise in shares: nobody is entrusted with anything, and the ledger is charged for what the sum carries."""

    def gradient(self, **changed):
        return {"method": "dpgd", "set": "{noise: shares, rounds: 2}", "delta": "1e-5", "colluders": "0.34", **changed}

    def check_shares(self, way, assumption):
        self.study(**self.gradient(sum=way))
        self.coordinator()
        parties = {0: self.join(0)}
        self.hold_key()
        parties.update({party: self.join(party) for party in (1, 2)})
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        status = self.status()
        self.assertEqual(status["state"], "done")
        self.assertEqual(status["sums"], {"way": way, "minimum": 3, "dropouts": 0.1, "colluders": 0.34})
        for party, process in parties.items():
            process.wait_line(r"^withstands 1 of the other parties telling ")
            process.wait_line(r"^shares     2 shares of the noise are worth the price")
            charges = self.charges(party)
            self.assertEqual([charge["kind"] for charge in charges], ["sealed"] * 2)
            self.assertIn(assumption, charges[0]["assumption"])
            self.assertIn("2 shares of the noise", charges[0]["assumption"])

    def test_masked_sums_carry_shares(self):
        self.check_shares("masked", "at most 1 of 3 parties collude with the coordinator")

    def test_encrypted_sums_carry_shares(self):
        self.check_shares("paillier", "and not the key holder")

    def test_shares_in_clear_are_refused_with_the_line(self):
        definition = self.definition(**self.gradient(sum="clear", colluders=None))
        line = definition.read_text().splitlines().index("sum: clear") + 1
        self.refuse(1, "study", "new", self.folder, definition, says=[f":{line}: sum: clear", "noise: shares"])


if __name__ == "__main__":
    unittest.main()
