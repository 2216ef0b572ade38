#!/usr/bin/env python3
"""Archives of a study and of a ledger: complete, and no byte can be changed, no line removed, without --verify saying so.

    TACIT=build/src/cli/tacit tests/service/test_audit_export.py
"""
import hashlib
import json
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

PARTIES = range(3)


class Archive(DeployedTest):
    def verify(self, content):
        file = self.path / "checked.audit"
        file.write_bytes(content)
        return self.tacit("export-audit", "--verify", file)

    def check_tampering(self, archive, seed):
        """Every line removed, doubled or moved; bytes of every line changed; the end cut off."""
        content = archive.read_bytes()
        self.assertEqual(self.verify(content).returncode, 0)
        draw, lines = random.Random(seed), content.splitlines(keepends=True)
        damaged = [b"".join(lines[:at] + lines[at + 1:]) for at in range(len(lines))]
        damaged += [b"".join(lines[:at] + [lines[at]] + lines[at:]) for at in range(len(lines))]
        damaged += [b"".join(lines[:at] + [lines[at + 1], lines[at]] + lines[at + 2:]) for at in range(len(lines) - 1)]
        damaged += [content[:-1], content[:len(content) // 2], content + b"x", content + lines[-1], b""]
        start = 0
        for line in lines:
            for at in (start, start + 9, start + len(line) - 2, *(start + draw.randrange(len(line)) for _ in range(3))):
                damaged.append(content[:at] + bytes([content[at] ^ 1 << draw.randrange(7)]) + content[at + 1:])
            start += len(line)
        for case in damaged:
            done = self.verify(case)
            self.assertEqual(done.returncode, 1, (seed, done.stdout))
            self.assertIn("line ", done.stderr)

    def test_of_a_study(self):
        self.study()
        self.succeed("study", "amend", self.folder, self.definition(title="Another title"))
        coordinator = self.coordinator()
        early = self.path / "early.audit"
        parties = {0: self.join(0)}
        self.succeed("export-audit", self.folder, "trial", "--out", early)  # while it serves
        parties.update({party: self.join(party) for party in PARTIES if party > 0})
        self.check_done(parties)
        archive = self.path / "trial.audit"
        shown = json.loads(self.succeed("export-audit", self.folder, "trial", "--out", archive, "--json").stdout)
        self.assertEqual((shown["kind"], shown["study"]), ("study", "trial"))
        self.assertEqual(archive.stat().st_mode & 0o777, 0o600)
        records = [json.loads(line)["record"] for line in archive.read_text().splitlines()]
        of = {kind: [each for each in records if each["kind"] == kind] for kind in {each["kind"] for each in records}}
        self.assertEqual([each["version"] for each in of["definition"]], [1, 2])
        self.assertEqual(of["definition"][1]["charged"], {"unit": "record", "epsilon": 2.0, "delta": 0.0})
        names = {each["party"] for each in of["consent"]}
        self.assertEqual((len(names), {each["version"] for each in of["consent"]}), (3, {2}))
        self.assertEqual([set(each["answered"]) for each in of["round"]], [names])
        self.assertEqual(of["model"][0]["text"], (self.folder / "trial.model.json").read_text())
        self.assertEqual(of["state"][0]["state"], "done")
        # The chain, computed by somebody else.
        before = bytes(32)
        for line in archive.read_bytes().splitlines():
            hex, record = line[9:73], line[84:-1]
            before = hashlib.blake2b(before + record, digest_size=32).digest()
            self.assertEqual(before.hex().encode(), hex)
        self.succeed("export-audit", "--verify", archive, "--authority", self.folder / "ca.crt")
        self.succeed("study", "new", self.path / "other", self.definition("elsewhere"))
        self.refuse(3, "export-audit", "--verify", archive, "--authority", self.path / "other" / "ca.crt", says=["not signed"])
        self.check_tampering(archive, 1)
        self.assertEqual(json.loads(early.read_text().splitlines()[-2])["record"]["state"], "recruiting")
        self.assertEqual(coordinator.process.poll(), None)

    def test_of_a_ledger(self):
        self.study()
        self.coordinator("--until-done")
        self.check_done({party: self.join(party) for party in PARTIES})
        archive = self.path / "ledger.audit"
        shown = json.loads(self.succeed("export-audit", "--out", archive, "--json", home=self.home(0)).stdout)
        head = json.loads(self.succeed("ledger", "verify", "--json", home=self.home(0)).stdout)["head"]
        self.assertEqual((shown["kind"], shown["head"]), ("ledger", head))
        entries = [json.loads(line)["record"] for line in archive.read_text().splitlines()][1:-1]
        self.assertEqual([each["number"] for each in entries], list(range(1, len(entries) + 1)))
        charge = next(each for each in entries if each["entry"] == "charge")
        self.assertEqual((charge["method"], charge["price"]["epsilon"], charge["rows"]), ("avg", 2.0, 40))
        self.check_tampering(archive, 2)
        # The words of an entry and both chains belong together: a new outer chain does not hide changed words.
        before, lines = bytes(32), []
        for line in archive.read_text().splitlines():
            record = line[84:-1].replace('"rows":40', '"rows":41').encode()
            before = hashlib.blake2b(before + record, digest_size=32).digest()
            lines.append(b'{"hash":"%s","record":%s}\n' % (before.hex().encode(), record))
        self.assertIn("not an entry", self.verify(b"".join(lines)).stderr)

    def test_usage(self):
        self.study()
        self.refuse(2, "export-audit", self.folder, "--out", "x", says=["name the study"])
        self.refuse(2, "export-audit", self.folder, "trial", says=["--out"])
        self.refuse(1, "export-audit", self.folder, "nothing", "--out", "x", says=["nothing"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
