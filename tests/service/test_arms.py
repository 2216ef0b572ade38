#!/usr/bin/env python3
"""Arms drawn on devices and checked by others; receipts that are good once and tell nothing; contact details that leave by an act of their own.

    TACIT=build/src/cli/tacit tests/service/test_arms.py
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import SCHEMA, DeployedTest

ARMS = SCHEMA + "  - {name: arm, kind: category, levels: [drug, placebo]}\n"


class PeopleStudy(DeployedTest):
    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text(ARMS)

    def folder_of(self, party):
        return next((self.home(party) / "studies").glob("trial@*"))

    def holds(self, text):
        """The files of the coordinator in which these bytes are."""
        return [path.name for path in self.folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes()]

    def shown(self, *words, party):
        return json.loads(self.succeed(*words, "--json", home=self.home(party)).stdout)


class Story(PeopleStudy):
    def test_arms_are_drawn_receipts_redeemed_and_contact_sealed(self):
        key = self.succeed("contact", "key", "contact.key").stdout.split('"')[1]
        self.study(arms="{column: arm, weights: [1, 2]}", compensation="20 EUR", contact=f'"{key}"')
        self.coordinator()
        parties = {party: self.join(party) for party in range(3)}
        self.assertIn("compensation", parties[0].text())
        self.assertIn("drawn on your own device", parties[0].text())
        self.check_done(parties)
        self.check_arms()
        self.check_receipts()
        self.check_contact()

    def check_arms(self):
        self.succeed("arm", "record", self.folder, "trial", "--out", "arms.json")
        published = json.loads((self.path / "arms.json").read_text())
        self.assertEqual(len(published["keys"]), 3)
        self.assertIsNone(self.shown("arm", "verify", "arms.json", party=0)["arm"])
        records = []
        for party in range(3):
            shown = self.shown("arm", "show", "trial", party=party)
            self.assertIn(shown["arm"], ("drug", "placebo"))
            verified = self.shown("arm", "verify", shown["proof"], party=0)
            self.assertEqual((verified["arm"], verified["parties"], verified["draw"]), (shown["arm"], 3, 1))
            record = json.loads((self.folder_of(party) / "arm.json").read_text())
            records.append(record)
            self.assertEqual({name: record[name] for name in published}, published)
            self.assertEqual(self.holds(record["proof"]), [])  # which arm it is, nobody else has heard
        # A proof of somebody else, an arm of one's own choice, a share left out, another coordinator's key.
        other = {**records[0], "proof": records[1]["proof"]}
        own = {**records[0], "arms": [{"name": "drug", "weight": 1000}, {"name": "placebo", "weight": 1}]}
        for wrong, says in ((other, "does not belong"), ({**records[0], "shares": published["shares"][:2]}, "share for each key"),
                            ({**records[0], "draw": 2}, "share"), ({**records[0], "coordinator": published["keys"][0]}, "coordinator"),
                            ({**records[0], "key": "00" * 32}, "not on the list")):
            (self.path / "wrong.json").write_text(json.dumps(wrong))
            self.refuse(3, "arm", "verify", "wrong.json", says=[says])
        # Other weights give another arm, perhaps: that they are not the study's shows when compared with the published record.
        (self.path / "own.json").write_text(json.dumps(own))
        self.succeed("arm", "verify", "own.json")
        self.assertNotEqual(own["arms"], published["arms"])
        self.refuse(1, "arm", "verify", "trial.study.yaml", says=["no record of arms"])
        self.refuse(1, "arm", "close", self.folder, "trial", says=["nobody in study 'trial' waits"])

    def check_receipts(self):
        receipts = {}
        for party in range(3):
            got = self.shown("receipt", "get", "trial", party=party)
            self.assertEqual(self.shown("receipt", "get", "trial", party=party)["receipt"], got["receipt"])
            receipts[party] = got["receipt"]
            self.assertEqual(self.holds(got["receipt"].split(".")[-1][:40]), [])
        self.assertEqual(len(set(receipts.values())), 3)
        path = self.path / "shown.txt"
        path.write_text("\n  " + receipts[0] + "\n")
        self.assertIn("Of 3 given, 1 are redeemed", self.succeed("receipt", "redeem", self.folder, path).stdout)
        self.refuse(3, "receipt", "redeem", self.folder, path, says=["was redeemed on"])
        changed = receipts[1][:-4] + ("AAAA" if receipts[1][-4:] != "AAAA" else "BBBB")
        for text, code, says in ((changed, 3, "not made by this coordinator"), (receipts[1][:-9], 1, "not whole"), ("20 EUR please", 1, "no receipt"),
                                 (receipts[1].replace("trial", "other"), 1, "no study is called")):
            path.write_text(text)
            self.refuse(code, "receipt", "redeem", self.folder, path, says=[says])
        # The desk is killed at any moment: what it has said to be redeemed is never redeemed again.
        path.write_text(receipts[1])
        said = 0
        for _ in range(6):
            desk = self.start("receipt", "redeem", self.folder, path)
            desk.kill()
            said += "Redeemed" in desk.process.stdout.read()
        after = self.tacit("receipt", "redeem", self.folder, path)
        self.assertIn(after.returncode, (0, 3) if said == 0 else (3,))
        self.assertLessEqual(said + (after.returncode == 0), 1)
        path.write_text(receipts[2])
        self.succeed("receipt", "redeem", self.folder, path)
        # One for each: who has lost what it was asked with gets no second one.
        (self.folder_of(2) / "receipt.txt").unlink()
        self.assertEqual(self.shown("receipt", "get", "trial", party=2)["receipt"], receipts[2])
        (self.folder_of(2) / "receipt.txt").unlink()
        (self.folder_of(2) / "receipt.asked").unlink()
        self.refuse(3, "receipt", "get", "trial", home=self.home(2), says=["there is one for each"])

    def check_contact(self):
        secret = "Ana Example, 555-0199"
        (self.path / "me.txt").write_text(secret + "\n")
        done = self.tacit("contact", "send", "trial", "me.txt", home=self.home(0))
        self.assertEqual(done.returncode, 3)
        self.assertIn(secret, done.stderr)
        self.assertEqual(json.loads(self.succeed("contact", "list", self.folder, "trial", "--key", "contact.key", "--json").stdout)["contacts"], [])
        self.succeed("contact", "send", "trial", "me.txt", "--yes", home=self.home(0))
        self.assertEqual(self.holds(secret), [])
        listed = json.loads(self.succeed("contact", "list", self.folder, "trial", "--key", "contact.key", "--json").stdout)
        self.assertEqual(([one["details"] for one in listed["contacts"]], listed["unopened"]), ([secret + "\n"], 0))
        self.succeed("contact", "key", "other.key")
        self.assertEqual(json.loads(self.succeed("contact", "list", self.folder, "trial", "--key", "other.key", "--json").stdout)["unopened"], 1)
        entries = [entry["entry"] for source in self.shown("ledger", "show", party=0)["sources"] for entry in source["entries"]]
        self.assertEqual(entries.count("contact"), 1)
        self.succeed("ledger", "verify", home=self.home(0))
        self.succeed("withdraw", "trial", home=self.home(0))
        self.refuse(3, "contact", "send", "trial", "me.txt", "--yes", home=self.home(0), says=["withdrawn"])


class Refusals(PeopleStudy):
    def test_definitions_with_impossible_arms_and_keys_are_refused(self):
        for changed, says in (({"arms": "{column: age}"}, "of kind category"), ({"arms": "{column: arm, weights: [1]}"}, "a list of 2"),
                              ({"arms": "{column: arm, weights: [0, 1]}"}, "from 1 to 1000"), ({"arms": f'{{column: arm, key: "{"0" * 64}"}}'}, "the coordinator writes the key"),
                              ({"arms": "{weights: [1, 1]}"}, "arms need 'column'"), ({"receipts": f'"{"0" * 64}"'}, "the coordinator writes 'receipts'"),
                              ({"contact": "me"}, "64 hexadecimal digits")):
            self.refuse(1, "study", "new", self.folder, self.definition(**changed), "--force", says=[says])

    def test_who_missed_a_round_or_comes_too_early_gets_no_receipt_and_a_lost_device_no_arm(self):
        self.study(arms="{column: arm}", compensation="20 EUR", parties="{expected: 3, minimum: 2}", patience=2)
        self.coordinator()
        lost = self.join(0)
        lost.kill()
        self.refuse(3, "receipt", "get", "trial", home=self.home(0), says=["goes on"])
        self.refuse(2, "contact", "send", "trial", "schema.yaml", "--yes", home=self.home(0), says=["no contact key"])
        self.assertIsNone(self.shown("arm", "show", "trial", party=0)["arm"])
        others = {party: self.join(party) for party in (1, 2)}
        # The list is closed with all three, and the first gives no share: it is closed again without it.
        self.refuse(1, "arm", "record", self.folder, "trial", says=["not"]) if not self.closed() else None
        others[1].wait_line("our arm was drawn") if self.close_again() else None
        lost = self.resume(0)
        self.finish_study({0: lost, **others})

    def closed(self):
        return "the list of group 1 is closed" in self.log()

    def close_again(self):
        """Wait until the list waits for the lost device only, then close it again."""
        while True:
            done = self.tacit("arm", "close", self.folder, "trial", "--again")
            if done.returncode == 0 and json.loads(self.succeed("study", "status", self.folder, "trial", "--json").stdout):
                return True

    def finish_study(self, processes):
        for process in processes.values():
            self.assertEqual(process.finish(), 0, process.text())


if __name__ == "__main__":
    unittest.main()
