#!/usr/bin/env python3
"""tacit doctor: a healthy consortium has no findings, and each fault is found, with its remedy.

    TACIT=build/src/cli/tacit tests/service/test_doctor.py
"""
import json
import os
import re
import shutil
import sqlite3
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest, Relay


class Doctor(DeployedTest):
    def joined(self, *words, invitation=None):
        self.study()
        process = self.coordinator(*words)
        if words:
            process.wait_line("the server's certificate was renewed")  # it starts again for that
        self.limit(0)
        self.succeed(*self.join_words(0, invitation or self.invite(), "--no-wait"), home=self.home(0))
        return process

    def site(self):
        return next((self.home(0) / "studies").glob("trial@*"))

    def examine(self, folder=None, code=0):
        """The findings that are not ok, by what was checked."""
        done = self.tacit("doctor", *([folder] if folder else []), "--json", home=self.home(0))
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        document = json.loads(done.stdout)
        self.kind = document["kind"]
        for level in ("ok", "warn", "fail"):
            self.assertEqual(document[level], sum(each["level"] == level for each in document["findings"]))
        self.checks = [each["check"] for each in document["findings"]]
        self.assertGreater(document["ok"], 3)
        # How full this machine's disk is, and what its user may open, is not the test's matter.
        return {each["check"]: each for each in document["findings"]
                if each["level"] != "ok" and each["check"] not in ("disk space", "open files")}

    def find(self, check, level, says, remedy="", folder=None):
        found = self.examine(folder, 1 if level == "fail" else 0)
        match = [each for name, each in found.items() if re.search(check, name)]
        self.assertEqual([each["level"] for each in match], [level], found)
        self.assertIn(says, match[0]["text"])
        self.assertIn(remedy, match[0]["remedy"])
        return found

    def test_a_healthy_consortium(self):
        self.joined()
        self.assertEqual(self.examine(), {})
        self.assertEqual(self.kind, "party")
        for check in ("ledger", "rules", "key party.key", "certificate party.crt", "data of trial", "coordinator of trial", "clock"):
            self.assertTrue(any(check in each for each in self.checks), (check, self.checks))
        self.assertEqual(self.examine(self.folder), {})
        self.assertEqual(self.kind, "coordinator")
        for check in ("authority", "registry", "study trial", "server", "certificate ca.crt", "key ca.key"):
            self.assertIn(check, self.checks)
        shown = self.succeed("doctor", self.folder).stdout
        self.assertRegex(shown, r"(?m)^OK    registry: ")
        self.refuse(1, "doctor", self.path, says=["coordinator.db", "tacit ledger limit", "tacit study new"])

    def test_a_new_home(self):
        empty = self.path / "empty"
        empty.mkdir()
        for home in (empty, self.path / "not-even-there"):
            told = json.loads(self.succeed("doctor", "--json", home=home).stdout)
            self.assertEqual((told["kind"], told["ok"], told["warn"], told["fail"]), ("party", 0, 1, 0))
            self.assertEqual(told["findings"][0]["check"], "ledger")
            self.assertIn("tacit ledger limit", told["findings"][0]["remedy"])
            self.assertRegex(self.succeed("doctor", home=home).stdout, "(?m)^WARN  ledger: there is none yet")
        self.refuse(1, "study", "status", "nocons", says=["nocons/coordinator.db", "tacit study new nocons FILE makes one"])

    def test_faults_of_a_party(self):
        coordinator = self.joined()
        key = self.site() / "party.key"
        key.chmod(0o644)
        self.find("key party.key", "fail", "can be read by others", "")
        key.chmod(0o600)
        shutil.move(self.rows(0), self.path / "gone")
        self.find("data of", "fail", "rows0.csv", "readable")
        shutil.move(self.path / "gone", self.rows(0))
        settings = self.site() / "settings.json"
        before = settings.read_text()
        settings.write_text(before.replace("https://127.0.0.1", "https://no-such-host.invalid"))
        self.find("coordinator of", "fail", "no-such-host.invalid is not found")
        settings.write_text(before)
        authority = self.site() / "ca.crt"
        kept = authority.read_text()
        self.succeed("study", "new", self.path / "other", self.definition("elsewhere"))
        authority.write_text((self.path / "other" / "ca.crt").read_text())
        found = self.find("coordinator of", "fail", "certificate")
        self.assertIn("fail", [each["level"] for name, each in found.items() if name.startswith("study ")])  # the signature
        authority.write_text(kept)
        os.chmod(self.home(0), 0o755)
        self.find("^folder", "warn", "others", "chmod 700")
        os.chmod(self.home(0), 0o700)
        coordinator.kill()
        self.find("coordinator of", "fail", "127.0.0.1", "running")
        database = sqlite3.connect(self.home(0) / "ledger.db")
        with database:
            database.execute("UPDATE log SET hash = zeroblob(32) WHERE entry = 1")
        database.close()
        self.find("^ledger", "fail", "entry 1", "")

    def test_faults_of_a_coordinator(self):
        self.joined("--certificate-days", "0.01").kill()
        found = self.find("^server", "warn", "no coordinator serves", "tacit coordinator", folder=self.folder)
        self.assertEqual(found["certificate server.crt"]["level"], "warn")
        (self.folder / "ca.key").chmod(0o640)
        self.find("key ca.key", "fail", "chmod 600", folder=self.folder)
        (self.folder / "ca.key").chmod(0o600)
        file = self.folder / "coordinator.db"
        database = sqlite3.connect(file)
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        content = bytearray(file.read_bytes())
        content[4096 * 3:4096 * 4] = b"\xff" * 4096
        file.write_bytes(content)
        self.find("^registry", "fail", "coordinator.db", "tacit restore", folder=self.folder)

    def test_a_clock_that_is_wrong(self):
        self.study()
        self.coordinator()
        year = 2000

        def another_day(data):
            return re.sub(rb"(Date: \w+, \d\d \w+ )\d{4}", rb"\g<1>%d" % year, data)
        relay = Relay(self.folder, self.home(0), self.port, another_day)
        self.addCleanup(relay.listener.close)
        self.limit(0)
        self.succeed(*self.join_words(0, self.invite("--url", relay.address), "--no-wait"), home=self.home(0))
        self.find("clock", "fail", "ahead of", "NTP")


if __name__ == "__main__":
    unittest.main(verbosity=2)
