#!/usr/bin/env python3
"""Backups of a coordinator: taken while it serves, whole or refused, and restored so that a study goes on bit for bit, at no
further cost to any party.

    TACIT=build/src/cli/tacit tests/service/test_backup.py
"""
import json
import os
import shutil
import sqlite3
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

PARTIES = range(3)
ROUNDS = 30  # many more than pass before a kill arrives


class Backup(DeployedTest):
    def begin(self, **changed):
        self.study(method="dpgd", set=f"{{noise: party, rounds: {ROUNDS}}}", delta="1e-5", **changed)
        return self.coordinator()

    def run_with_backup(self, **changed):
        """A study to its end, with a backup from its middle."""
        coordinator = self.begin(**changed)
        self.backup = self.path / "night.backup"
        parties = {party: self.join(party, epsilon=3) for party in PARTIES}
        parties[0].wait_line("round 3: answering")
        parties[2].kill()  # the round waits, and the study cannot end meanwhile
        done = json.loads(self.succeed("backup", self.folder, "--out", self.backup, "--json").stdout)
        parties[2] = self.resume(2)
        self.assertEqual(os.stat(self.backup).st_mode & 0o777, 0o600)
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertIn(done["rounds"], range(2, ROUNDS))
        coordinator.kill()
        self.first = (self.folder / "trial.model.json").read_bytes()
        self.before = {party: self.charges(party) for party in PARTIES}
        return done

    def restore(self, name):
        """The old moment on a new machine, at the address of before; the parties' ledgers are of today."""
        self.folder = self.path / name
        self.succeed("restore", self.backup, self.folder)
        return self.coordinator()

    def check_again(self, sums):
        self.run_with_backup(sum=sums)
        self.restore("restored")
        parties = {party: self.resume(party) for party in PARTIES}
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual((self.folder / "trial.model.json").read_bytes(), self.first)
        for party in PARTIES:
            self.assertEqual(self.charges(party), self.before[party])
            self.assertEqual(self.model(party).read_bytes(), self.first)
            self.succeed("ledger", "verify", home=self.home(party))

    def test_an_old_backup_goes_on_to_the_same_model_without_a_second_charge(self):
        self.check_again("clear")

    def test_a_study_that_goes_on_otherwise_is_refused(self):
        """The restored state tells of other weights: the next question is not the one that was answered."""
        self.run_with_backup(sum="clear")
        self.folder = self.path / "liar"
        self.succeed("restore", self.backup, self.folder)
        database = sqlite3.connect(self.folder / "coordinator.db")
        with database:
            for table, key in (("journal", "record"), ("checkpoint", "state")):
                for round, bytes_then in database.execute(f"SELECT round, {key} FROM {table}").fetchall():
                    changed = bytearray(bytes_then)
                    changed[bytes_then.index(b"weights") + 12 if table == "checkpoint" else 43] ^= 0x10
                    database.execute(f"UPDATE {table} SET {key} = ? WHERE round = ?", (bytes(changed), round))
        database.close()
        self.coordinator()
        ended = {process: process.finish() for process in [self.resume(party) for party in PARTIES]}
        # The first refusal leaves too few, and may be the last word that the others hear. Where the changed byte makes a number
        # that no sum can have, the coordinator finds it itself, and ends the study.
        texts = "\n".join(process.text() for process in ended)
        self.assertTrue(3 in ended.values() or "failed" in texts, texts)
        self.assertNotIn(0, ended.values())
        for process in (each for each, code in ended.items() if code == 3):
            self.assertIn("used for another question", process.text())
        for party in PARTIES:
            self.assertEqual(self.charges(party), self.before[party])

    def test_a_masked_sum_is_opened_once(self):
        """Parties give no second answer under other masks. An old backup ends the study at no cost; one of its last state goes on."""
        self.run_with_backup(sum="masked")
        self.restore("restored")
        for process in [self.resume(party) for party in PARTIES]:
            self.assertNotEqual(process.finish(), 0)
        self.assertEqual(self.status()["state"], "failed")
        for party in PARTIES:
            self.assertEqual(self.charges(party), self.before[party])

    def test_a_paused_study_with_masked_sums_moves_to_another_machine(self):
        coordinator = self.begin(sum="masked")
        parties = {party: self.join(party, epsilon=3) for party in PARTIES}
        parties[0].wait_line("round 3: answering")
        self.succeed("study", "pause", self.folder, "trial")
        coordinator.wait_line("study trial is paused")
        self.backup = self.path / "moving.backup"
        self.succeed("backup", self.folder, "--out", self.backup)
        coordinator.kill()
        self.restore("moved")
        self.succeed("study", "resume", self.folder, "trial")
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        for party in PARTIES:
            self.assertEqual(len(self.charges(party)), ROUNDS)

    def test_any_damage_is_found_before_anything_is_written(self):
        self.begin().kill()
        backup = self.path / "whole.backup"
        self.succeed("backup", self.folder, "trial", "--out", backup)
        self.succeed("restore", backup)
        whole, bad = backup.read_bytes(), self.path / "bad.backup"
        places = [0, 20, whole.index(b"signature ") + 12, *range(40, len(whole), max(1, len(whole) // 25)), len(whole) - 1]
        damaged = [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1:] for at in places]
        damaged += [whole[:-1], whole[:len(whole) // 2], whole + b"x", b""]
        for content in damaged:
            bad.write_bytes(content)
            self.refuse(1, "restore", bad, self.path / "new", says=["whole backup"])
        self.assertFalse((self.path / "new").exists())
        self.succeed("restore", backup, self.path / "new", "--authority", self.folder / "ca.crt")
        self.refuse(2, "restore", backup, self.path / "new", says=["already"])
        self.succeed("study", "new", self.path / "other", self.definition("elsewhere"))
        self.refuse(3, "restore", backup, self.path / "third", "--authority", self.path / "other" / "ca.crt", says=["another"])
        self.refuse(1, "backup", self.folder, "nothing", "--out", bad, says=["nothing"])

    def test_a_backup_of_one_study_has_no_other_s_secrets(self):
        self.study()
        self.study("second")
        database = sqlite3.connect(self.folder / "coordinator.db")
        secrets = dict(database.execute("SELECT name, secret FROM study"))
        database.close()
        backup = self.path / "one.backup"
        self.succeed("backup", self.folder, "trial", "--out", backup)
        content = backup.read_bytes()
        self.assertIn(secrets["trial"], content)
        self.assertNotIn(secrets["second"], content)
        shutil.rmtree(self.folder)
        self.succeed("restore", backup, self.folder)
        shown = json.loads(self.succeed("study", "status", self.folder, "--json").stdout)["studies"]
        self.assertEqual([each["study"] for each in shown], ["trial"])
        self.coordinator("--until-done")  # and it works
        self.check_done({party: self.join(party) for party in PARTIES})


if __name__ == "__main__":
    unittest.main(verbosity=2)
