#!/usr/bin/env python3
"""Names for people: given with the invitation, shown to the party before it joins, and used by status, revoke, log and audit.

    TACIT=build/src/cli/tacit tests/service/test_names.py
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

ANNA = "St. Anna, Vienna"
HOSTILE = "<img src=x onerror=alert(1)> \"%s\" $(id) é 王"


class Names(DeployedTest):
    def people(self):
        return {one["called"]: one for one in self.status()["parties"]}

    def test_a_party_has_its_name_from_the_invitation_to_the_audit(self):
        self.study(parties="{expected: 3, minimum: 2}", patience=1000)
        coordinator = self.coordinator()
        shown = json.loads(self.succeed("study", "invite", self.folder, "trial", "--for", ANNA, "--json").stdout)
        self.assertEqual(shown["called"], ANNA)
        hostile = self.invite("--for", HOSTILE)
        self.assertEqual(self.people()[ANNA]["state"], "invited")
        self.assertIsNone(self.people()[ANNA]["party"])
        anna = self.join(0, invitation=shown["invitations"][0])
        self.assertIn(f"called     {ANNA}: so Tacit coordinator names you", anna.text())
        self.assertIn("do not join: ask for another invitation", anna.text().replace("\n          ", ""))
        other = self.join(1, invitation=hostile)
        self.assertIn(HOSTILE, other.text())
        party = self.people()[ANNA]["party"]
        self.assertRegex(party, "^party-[0-9a-f]{12}$")
        coordinator.wait_line(rf'"St. Anna, Vienna" \({party}\) joined study trial')
        printed = self.succeed("study", "status", self.folder, "trial").stdout
        self.assertRegex(printed, rf"St\. Anna, Vienna +joined +joined \S+Z +{party}")
        self.assertIn(HOSTILE, printed)
        self.assertNotIn(ANNA, self.succeed("study", "status", self.folder).stdout)
        third = self.join(2)  # without a name, as before names
        self.assertNotIn("called", third.text())
        self.check_done({0: anna, 1: other, 2: third})
        card = json.loads(self.succeed("card", self.folder / "trial.model.json", "--coordinator", self.folder, "--json").stdout)
        self.assertEqual(sorted(card["parties"])[:1] + [len(card["parties"])], sorted([ANNA, HOSTILE, self.people()[None]["party"]])[:1] + [3])
        self.assertIn(ANNA, self.succeed("card", self.folder / "trial.model.json", "--coordinator", self.folder).stdout)
        self.assertRegex(self.succeed("ledger", "show", home=self.home(0)).stdout, rf"in trial@\w+ the coordinator's people call you {ANNA}\n")
        self.assertNotIn("people call you", self.succeed("ledger", "show", home=self.home(2)).stdout)
        shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(1)).stdout)["sources"][0]["called"]
        self.assertEqual([one["called"] for one in shown], [HOSTILE])
        self.succeed("export-audit", self.folder, "trial", "--out", self.path / "audit.jsonl")
        self.succeed("export-audit", "--verify", self.path / "audit.jsonl")
        lines = [json.loads(line)["record"] for line in (self.path / "audit.jsonl").read_text().splitlines()]
        self.assertEqual({line["called"]: line["party"] for line in lines if line["kind"] == "consent"}[ANNA], party)
        self.assertIn(None, [line["called"] for line in lines if line["kind"] == "consent"])
        # Nobody but the coordinator's people and the party itself is told the name: it is in no model and in no other home.
        self.assertNotIn("Anna", (self.folder / "trial.model.json").read_text())
        for path in self.home(1).rglob("*"):
            self.assertFalse(path.is_file() and b"St. Anna" in path.read_bytes(), path)

    def test_a_name_is_unique_and_free_again_when_it_is_revoked(self):
        self.study()
        self.coordinator()
        line = self.refuse(2, "study", "invite", self.folder, "trial", "--for", ANNA, "--count", 2)
        self.assertIn("leave --count out", line)
        first = self.invite("--for", ANNA)
        self.refuse(2, "study", "invite", self.folder, "trial", "--for", ANNA.upper(), says=["take it back", "tacit revoke"])
        taken = json.loads(self.succeed("revoke", self.folder, ANNA, "--json").stdout)
        self.assertEqual((taken["called"], taken["party"], taken["study"]), (ANNA, None, "trial"))
        self.limit(0)
        refused = self.start(*self.join_words(0, first), home=self.home(0))
        self.assertEqual(refused.finish(), 3)
        self.assertIn("this invitation is not known here", refused.text())
        party = self.join(0, invitation=self.invite("--for", ANNA))
        self.refuse(2, "study", "invite", self.folder, "trial", "--for", ANNA, says=["has a party called"])
        name = self.people()[ANNA]["party"]
        revoked = json.loads(self.succeed("revoke", self.folder, ANNA, "--json").stdout)
        self.assertEqual((revoked["called"], revoked["party"]), (ANNA, name))
        self.assertEqual(self.people()[ANNA]["state"], "revoked")
        self.assertNotEqual(party.finish(), 0)
        self.assertIn(name, self.log())
        self.refuse(1, "revoke", self.folder, "St. Nobody", says=["no party is called", "tacit study status"])
        self.join(1, invitation=self.invite("--for", ANNA))
        self.assertEqual([one["state"] for one in self.status()["parties"]], ["revoked", "joined"])

    def test_names_that_are_none_are_refused_with_the_remedy(self):
        self.study()
        self.coordinator()
        for name, says in (("", "1 to 120 bytes"), ("x" * 121, "shorten"), ("a\nb", "printable text"), ("a\x1b[2Jb", "printable text"),
                           ("a\u202eb", "printable text"), (" a", "no space at its ends"), ("party-0123456789ab", "choose another one")):
            self.refuse(2, "study", "invite", self.folder, "trial", "--for", name, says=[says])
        self.assertEqual(self.status()["invited"], 0)

    def test_a_name_in_two_studies_needs_the_study_to_revoke_it(self):
        self.study()
        self.study("second")
        self.coordinator()
        for study in ("trial", "second"):
            self.invite("--for", ANNA, study=study)
        self.refuse(2, "revoke", self.folder, ANNA, says=["2 studies", "--study"])
        self.succeed("revoke", self.folder, ANNA, "--study", "second")
        self.assertEqual(len(self.status("second")["parties"]), 0)
        self.assertEqual(self.people()[ANNA]["state"], "invited")


if __name__ == "__main__":
    unittest.main(verbosity=2)
