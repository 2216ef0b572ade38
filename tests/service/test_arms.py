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
        self.check_derived()

    def check_derived(self):
        """Arms and compensation come along to a study that is derived, its keys do not."""
        self.succeed("study", "archive", self.folder, "trial", "--out", "archive.json")
        self.succeed("study", "derive", "archive.json", "--name", "second", "--out", "second.study.yaml")
        text = (self.path / "second.study.yaml").read_text()
        self.assertIn('arms: {column: "arm", weights: [1, 2]}\n', text)
        self.assertNotIn("receipts:", text)
        self.succeed("study", "new", self.folder, "second.study.yaml")

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
        (self.path / "wrong.json").write_text(json.dumps({**published, "study": "\x1b[2J"}))
        self.refuse(1, "arm", "verify", "wrong.json", says=["no record of arms"])
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
        # With another secret nothing is given, redeemed, or said to be forged.
        path.write_text(receipts[2])
        secret = (self.folder / "people.key").read_bytes()
        (self.folder / "people.key").write_bytes(bytes(32))
        self.refuse(1, "receipt", "redeem", self.folder, path, says=["restore it from a backup"])
        self.refuse(1, "arm", "record", self.folder, "trial", says=["restore it from a backup"])
        (self.folder / "people.key").write_bytes(secret)
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
        # What somebody sends steers no terminal, and does not look like what another one sent.
        (self.path / "me.txt").write_text("\x1b[2JAna\n2026-01-01 00:00\nEve\n")
        self.succeed("contact", "send", "trial", "me.txt", "--yes", home=self.home(0))
        shown = self.succeed("contact", "list", self.folder, "trial", "--key", "contact.key").stdout.splitlines()
        self.assertEqual(shown[1:], ["  ?[2JAna", "  2026-01-01 00:00", "  Eve"])
        self.succeed("withdraw", "trial", home=self.home(0))
        self.refuse(3, "contact", "send", "trial", "me.txt", "--yes", home=self.home(0), says=["withdrawn"])


class Refusals(PeopleStudy):
    def test_definitions_with_impossible_arms_and_keys_are_refused(self):
        for changed, says in (({"arms": "{column: age}"}, "of kind category"), ({"arms": "{column: arm, weights: [1]}"}, "a list of 2"),
                              ({"arms": "{column: arm, weights: [0, 1]}"}, "from 1 to 1000"), ({"arms": f'{{column: arm, key: "{"0" * 64}"}}'}, "the coordinator writes the key"),
                              ({"arms": "{weights: [1, 1]}"}, "arms need 'column'"), ({"receipts": f'"{"0" * 64}"'}, "the coordinator writes 'receipts'"),
                              ({"contact": "me"}, "64 hexadecimal digits"),
                              ({"method": "dpstgd", "set": None, "lambda": None, "compensation": "20 EUR"}, "asks parties in turn"),
                              ({"transport": "files", "compensation": "20 EUR"}, "receipts are given over a network"),
                              ({"transport": "files", "contact": f'"{"1" * 64}"'}, "contact details are sent over a network"),
                              ({"arms": "{column: arm}", "eligible": "'arm == \"drug\"'"}, "'eligible' may not look at column 'arm'"),
                              ({"arms": "{column: arm}", "subset": "'arm == \"drug\"'"}, "'subset' may not look at column 'arm'")):
            self.refuse(1, "study", "new", self.folder, self.definition(**changed), "--force", says=[says])

    def test_a_lost_device_is_left_out_of_its_list_and_comes_back_to_a_later_one(self):
        self.study(arms="{column: arm}", compensation="20 EUR")
        coordinator = self.coordinator()
        self.limit(0)
        self.succeed(*self.join_words(0, self.invite(), "--no-wait"), home=self.home(0))  # its key is registered
        self.refuse(3, "receipt", "get", "trial", home=self.home(0), says=["goes on"])
        self.refuse(2, "contact", "send", "trial", "schema.yaml", "--yes", home=self.home(0), says=["no contact key"])
        self.assertIsNone(self.shown("arm", "show", "trial", party=0)["arm"])
        parties = {party: self.join(party) for party in (1, 2)}
        coordinator.wait_line("2 of 3 shares in the arms of group 1")
        self.refuse(1, "arm", "record", self.folder, "trial", says=["2 of 3 parties have given a share"])
        self.refuse(2, "arm", "close", self.folder, "trial", says=["waits for shares"])
        closed = json.loads(self.succeed("arm", "close", self.folder, "trial", "--again", "--json").stdout)
        self.assertEqual((closed["group"], closed["draw"], closed["parties"]), (1, 2, 2))
        for process in parties.values():
            process.wait_line("our arm was drawn")
        parties[0] = self.resume(0)
        self.check_done(parties)
        for party, (group, draw, count) in {0: (2, 1, 1), 1: (1, 2, 2), 2: (1, 2, 2)}.items():
            verified = self.shown("arm", "verify", self.folder_of(party) / "arm.json", party=party)
            self.assertEqual((verified["group"], verified["draw"], verified["parties"]), (group, draw, count))
        # A device gives its share to one list of a drawing, and it has written down to which.
        self.assertEqual([line.split()[:2] for line in (self.folder_of(1) / "arm.given").read_text().splitlines()], [["1", "1"], ["1", "2"]])

    def test_rows_may_not_bring_an_arm_of_their_own(self):
        self.study(arms="{column: arm}")
        self.coordinator()
        self.limit(0)
        rows = self.rows(0).read_text().splitlines()
        self.rows(0).write_text("\n".join([rows[0] + ",arm", *(row + ",drug" for row in rows[1:])]) + "\n")
        self.refuse(1, *self.join_words(0, self.invite()), home=self.home(0), says=["drawn and not read"])


class Laboratory(DeployedTest):
    def test_a_signed_file_is_imported_with_its_origin_and_a_changed_one_is_refused(self):
        (self.path / "lab.import.yaml").write_text("import: night\nformat: csv\ntime: {column: day}\nper: day\nvalues:\n  - {column: apnea, name: apnea, take: mean}\n")
        rows = self.path / "ana.csv"
        rows.write_text("day,apnea\n2026-02-01,4\n2026-02-02,6\n")
        made = json.loads(self.succeed("data", "sign", rows, "--key", "lab.key", "--name", "Sleep Lab, Vienna", "--json").stdout)
        secret = self.path / "passphrase"
        secret.touch(0o600)
        secret.write_text("three quiet rivers\n")
        home, words = self.home(0), ["--mapping", "lab.import.yaml", "--passphrase-file", secret]
        self.succeed("store", "new", "--passphrase-file", secret, home=home)
        got = json.loads(self.succeed("store", "import", rows, *words, "--signed-by", made["key"], "--json", home=home).stdout)
        self.assertEqual((got["rows"], got["signed_by"]), (2, "Sleep Lab, Vienna"))
        self.assertIn(f"ana.csv, signed by Sleep Lab, Vienna (key {made['key'][:16]})", self.succeed("store", "show", "--passphrase-file", secret, home=home).stdout)
        self.refuse(3, "store", "import", rows, *words, "--signed-by", "0" * 64, home=home, says=["signed with another key"])
        rows.write_text(rows.read_text().replace("6", "5"))
        self.refuse(3, "store", "import", rows, *words, home=home, says=["not what", "was signed as"])
        (self.path / "ana.csv.sig").unlink()
        self.refuse(3, "store", "import", rows, *words, "--signed-by", made["key"], home=home, says=["no signature beside it"])
        self.succeed("store", "import", rows, *words, home=home)


if __name__ == "__main__":
    unittest.main()
