#!/usr/bin/env python3
"""Deployed studies as their people meet them: what works, what is refused, and that nothing leaves that should not.

    TACIT=build/src/cli/tacit tests/service/test_deployed.py
"""
import json
import os
import re
import signal
import socket
import stat
import struct
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest, Relay, SCHEMA


class Studies(DeployedTest):
    def test_five_parties_and_a_coordinator_make_one_model(self):
        self.study(parties="{expected: 5, minimum: 4}")
        coordinator = self.coordinator("--until-done")
        parties = {party: self.join(party) for party in range(5)}
        model = self.check_done(parties)
        self.assertEqual(coordinator.finish(), 0, coordinator.text())
        self.assertEqual(model["guarantee"]["parties"], 5)
        self.assertEqual(model["guarantee"]["study"], "trial")
        self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": 2.0, "delta": 0.0})
        self.assertFalse((self.folder / "address").exists())
        status = self.status()
        self.assertEqual((status["joined"], status["invited"], status["rounds"]), (5, 0, 1))
        charge = self.charges(0)[0]
        self.assertEqual(charge["price"], {"unit": "record", "epsilon": 2, "delta": 0})
        self.assertEqual((charge["kind"], charge["noise"], charge["rows"]), ("charged", "exact", 40))
        self.succeed("evaluate", self.folder / "trial.model.json", self.rows(0))

    def test_the_deployed_model_is_the_mean_of_the_local_ones(self):
        self.study(set="{noise: coordinator}", epsilon="1e6")
        self.coordinator()
        parties = {party: self.join(party, "--allow-entrusted", epsilon="2e6") for party in range(3)}
        joint = self.check_done(parties)["weights"]
        local = []
        for party in range(3):
            self.succeed("simulate", "--method", "batch", "--train", self.rows(party), "--test", self.rows(party),
                         "--schema", self.path / "schema.yaml", "--parties", "1", "--epsilon", "inf", "--lambda",
                         "0.05", "--out", self.path / "local.json", "--seed", "1")
            local.append(json.loads((self.path / "local.json").read_text())["weights"])
        self.assertGreater(max(abs(weight) for weight in joint), 0.1)
        for weight, alone in zip(joint, zip(*local)):
            self.assertAlmostEqual(weight, sum(alone) / 3, delta=1e-4)

    def test_a_schema_read_off_rows_makes_no_study_and_joins_none(self):
        drafted = self.path / "draft.yaml"
        self.succeed("data", "draft-schema", self.rows(0), "--label", "sick", "--out", drafted)
        told = ["read off the rows, so not private: the classes of 'sick'; the columns 'age', 'dose'", "remove 'from: rows'"]
        self.refuse(3, "study", "new", self.folder, self.definition(schema="draft.yaml"), says=["draft.yaml", *told])
        self.study()
        self.coordinator()
        self.limit(0)
        words = self.join_words(0, self.invite())
        self.refuse(3, *(drafted if word == self.path / "schema.yaml" else word for word in words), home=self.home(0),
                    says=["draft.yaml", *told])
        self.assertEqual(self.status()["joined"], 0)

    def test_two_studies_run_at_once_and_a_budget_adds_up_over_them(self):
        self.study("one")
        self.study("two", epsilon=1)
        self.coordinator()
        first = {party: self.join(party, study="one") for party in range(3)}
        second = {party: self.join(party, study="two") for party in range(3)}
        self.check_done(first, "one", charged=[])
        self.check_done(second, "two", charged=[])
        self.assertEqual(sorted(charge["price"]["epsilon"] for charge in self.charges(0)), [1, 2])

    def test_a_study_closed_by_its_coordinator_ends_for_everybody(self):
        self.study()
        coordinator = self.coordinator("--until-done")
        parties = [self.join(party) for party in range(2)]
        self.succeed("study", "close", self.folder, "trial")
        for process in parties:
            self.assertEqual(process.finish(), 1)
            self.assertIn("closed", process.lines[-1])
        self.assertEqual(coordinator.finish(), 0)
        self.assertEqual(self.charges(0) + self.charges(1), [])
        self.assertFalse((self.folder / "trial.model.json").exists())
        self.refuse(2, "study", "close", self.folder, "trial", says=["already closed"])

    def test_a_study_closed_while_it_runs_leaves_no_model(self):
        self.study()
        self.coordinator()
        self.join(0).kill()
        parties = [self.join(party) for party in (1, 2)]
        for process in parties:
            process.wait_line("answering")
        self.succeed("study", "close", self.folder, "trial")
        for process in parties:
            self.assertEqual(process.finish(), 1, process.text())
            self.assertIn("closed by the coordinator", process.lines[-1])
        late = self.resume(0)
        self.assertEqual(late.finish(), 1)
        self.assertIn("closed", late.lines[-1])
        self.assertEqual(self.charges(0), [])
        self.assertFalse((self.folder / "trial.model.json").exists())

    def test_what_is_private_is_readable_by_its_owner_only(self):
        self.study()
        self.coordinator()
        self.join(0)
        site = next((self.home(0) / "studies").iterdir())
        for folder in (self.folder, self.home(0), site):
            self.assertEqual(stat.S_IMODE(folder.stat().st_mode), 0o700, folder)
        secret = [self.folder / name for name in ("ca.key", "server.key", "coordinator.db", "coordinator.log")]
        secret += [site / name for name in ("party.key", "party.crt", "settings.json", "study.yaml")]
        for file in secret + [self.home(0) / "ledger.db"]:
            self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600, file)

    def test_one_coordinator_serves_a_folder(self):
        self.study()
        self.coordinator()
        self.refuse(2, "coordinator", self.folder, says=["another coordinator"])
        self.assertTrue((self.folder / "address").exists())

    def test_one_home_is_one_party_of_a_study(self):
        self.study()
        self.coordinator()
        self.join(0)
        self.limit(1, home=self.home(0))
        self.refuse(2, *self.join_words(1, self.invite()), home=self.home(0), says=["was joined with", "TACIT_HOME"])


SOON = 25  # seconds, less than a poll lasts; far less on an idle machine


class OneClass(DeployedTest):
    def rows(self, party, rows=40):
        """Nearly everybody is sick."""
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            lines = [f"0.{k:02},0.{99 - k:02},{'no' if k % 20 == 0 else 'yes'}" for k in range(10, 10 + rows)]
            path.write_text("\n".join(["age,dose,sick", *lines]) + "\n")
        return path

    def test_a_model_that_says_the_same_of_everybody_is_called_so_at_both_ends(self):
        self.study(epsilon=1000, **{"lambda": 0.5})
        self.coordinator("--until-done")
        parties = {party: self.join(party, epsilon=2000) for party in range(3)}
        self.check_done(parties)
        self.assertIn("would nearly all be called 'yes'", parties[0].text())
        self.assertIn("would nearly all be called 'yes'", self.log())


class Interrupted(DeployedTest):
    def test_the_owners_local_classifier_is_kept_for_a_restart(self):
        """Its program is named so that it is found from any folder; what the owner says last holds."""
        self.study()
        self.coordinator("--until-done")
        (self.path / "m.sh").write_text("#!/bin/sh\n")
        invitation = self.invite()
        process = self.join(0, "--local", "tree,exec:sh ./m.sh", invitation=invitation)
        kept = f"tree,exec:sh {(self.path / 'm.sh').resolve()}"
        process.wait_line("^local +" + re.escape(kept))
        self.assertEqual(self.local(0), kept)
        process.kill()
        self.join(0, "--local", "svm", invitation=invitation).kill()
        self.assertEqual(self.local(0), "svm")
        self.check_done({0: self.resume(0), 1: self.join(1), 2: self.join(2)})

    def local(self, party):
        return json.loads((self.model(party).parent / "settings.json").read_text()).get("local")

    def test_interrupting_ends_everything_soon_and_leaves_nothing_half_done(self):
        self.study()
        coordinator = self.coordinator()
        party = self.join(0)
        before = sorted(os.listdir(next((self.home(0) / "studies").iterdir())))
        self.assertEqual(party.kill(signal.SIGINT, SOON), 1)
        self.assertEqual(party.lines[-1], "tacit: interrupted")
        self.assertEqual(sorted(os.listdir(next((self.home(0) / "studies").iterdir()))), before)
        left = [name for name in sorted(os.listdir(self.home(0))) if not name.startswith("sums-")]  # the key for sums
        self.assertEqual(left, ["ledger.db", "sketches.db", "studies"])
        other = self.join(1)
        self.assertEqual(coordinator.kill(signal.SIGINT, SOON), 0, coordinator.text())
        self.assertFalse((self.folder / "address").exists())
        other.wait_line("trying again until")
        self.assertEqual(other.kill(signal.SIGTERM, SOON), 1)
        self.assertEqual(self.status()["state"], "recruiting")
        self.coordinator()
        self.check_done({0: self.resume(0), 1: self.resume(1), 2: self.join(2)})


class Refused(DeployedTest):
    """Each is told in one sentence, and nothing was sent, used or charged."""

    def unused(self, invitation, party=0, *more):
        """The invitation still works."""
        self.limit(party)
        process = self.start(*self.join_words(party, invitation, *more), home=self.home(party))
        process.wait_line("^joined; waiting")

    def test_a_study_that_cannot_be_deployed_is_not_added(self):
        for method in ("batch", "indiv"):
            self.refuse(3, "study", "new", self.folder, self.definition(method=method, set="{}"),
                        says=[f"method {method} cannot be deployed"])
        self.assertFalse(self.folder.exists())
        self.study()
        self.refuse(3, "study", "new", self.folder, self.definition("other", method="batch", set="{}"))
        told = json.loads(self.succeed("study", "status", self.folder, "--json").stdout)["studies"]
        self.assertEqual([study["study"] for study in told], ["trial"])
        self.refuse(2, "study", "new", self.folder, self.definition(), says=["already there"])

    def test_a_study_that_would_run_a_program_is_not_added(self):
        self.refuse(3, "study", "new", self.folder, self.definition(set="{local: 'tree,exec:./m.py'}"),
                    says=["setting 'local' names a program", "--local"])
        self.assertFalse(self.folder.exists())

    def test_an_unknown_local_classifier_is_told_before_anything_is_used_up(self):
        self.study()
        self.coordinator()
        invitation = self.invite()
        self.limit(0)
        for local, says in (("oak", "there are: logistic"), ("exec:", "is empty"), ("knn:many", "whole number")):
            self.refuse(2, *self.join_words(0, invitation, "--local", local), home=self.home(0), says=[says])
        self.unused(invitation, 0, "--local", "knn:3")

    def test_entrusting_needs_the_owners_word(self):
        self.study(set="{noise: coordinator}")
        self.coordinator()
        invitation = self.invite()
        self.limit(0)
        self.refuse(3, *self.join_words(0, invitation), home=self.home(0), says=["exact sum", "--allow-entrusted"])
        self.assertFalse((self.home(0) / "studies").exists())
        self.assertEqual(self.charges(0), [])
        self.unused(invitation, 0, "--allow-entrusted")

    def test_without_budget_nobody_is_asked_to_consent(self):
        self.study()
        self.coordinator()
        invitation = self.invite()
        self.refuse(3, *self.join_words(0, invitation), home=self.home(0), says=["no limit is set", "ledger limit"])
        self.limit(0, 1.5)
        self.refuse(3, *self.join_words(0, invitation), home=self.home(0), says=["costs epsilon 2", "is epsilon 1.5"])
        self.assertFalse((self.home(0) / "studies").exists())
        self.unused(invitation)

    def test_without_consent_nothing_is_sent(self):
        self.study()
        self.coordinator()
        invitation = self.invite()
        self.limit(0)
        self.refuse(3, *self.join_words(0, invitation)[:-1], home=self.home(0), says=["nobody is there to consent"])
        self.assertFalse((self.home(0) / "studies").exists())
        self.unused(invitation)

    def test_too_few_rows(self):
        self.study(minimum_rows=41)
        self.coordinator()
        self.limit(0)
        self.refuse(3, *self.join_words(0, self.invite()), home=self.home(0), says=["40 rows", "at least 41"])

    def test_another_schema_is_told_by_its_first_difference(self):
        self.study()
        self.coordinator()
        invitation = self.invite()
        self.limit(0)
        (self.path / "schema.yaml").write_text(SCHEMA.replace("dose, kind: number, low: 0, high: 1", "dose, kind: number, low: 0, high: 2"))
        line = self.refuse(3, *self.join_words(0, invitation), home=self.home(0), says=["is not the study's schema"])
        self.assertRegex(line, r"the study says '.*dose.*high: 1")
        (self.path / "schema.yaml").write_text("label: [")
        self.refuse(1, *self.join_words(0, invitation), home=self.home(0), says=["schema.yaml:"])
        (self.path / "schema.yaml").unlink()
        self.refuse(1, *self.join_words(0, invitation), home=self.home(0), says=["schema.yaml"])
        (self.path / "schema.yaml").write_text(SCHEMA)
        self.unused(invitation)

    def test_rows_that_do_not_fit_are_told_before_anything_is_sent(self):
        self.study()
        self.coordinator()
        self.limit(0)
        good = self.rows(0).read_text()
        for code, text, says in ((2, good.replace("sick", "ill", 1), "'sick'"), (1, good + "0.1,0.2\n", ":42"),
                                 (1, good + "0.1,much,no\n", ":42"), (1, "", "empty"),
                                 (1, good.replace("no", "perhaps"), "perhaps")):
            with self.subTest(says=says):
                self.rows(0).write_text(text)
                self.refuse(code, *self.join_words(0, self.invite()), home=self.home(0), says=[says])
        self.rows(0).unlink()
        self.refuse(1, "join", self.invite(), "--data", "gone.csv", "--schema", "schema.yaml", home=self.home(0))
        self.assertNotIn("/v1/", self.log())
        self.assertEqual(self.status()["joined"], 0)

    def test_a_budget_spent_after_joining_refuses_the_answer_and_keeps_the_reason(self):
        self.study(parties="{expected: 3, minimum: 3}")
        self.coordinator("--until-done")
        poor = self.join(0)
        self.limit(0, 0.25)
        others = [self.join(party) for party in (1, 2)]
        self.assertEqual(poor.finish(), 3, poor.text())
        self.assertRegex(poor.lines[-1], "^tacit: .*0.25")
        for process in others:
            self.assertEqual(process.finish(), 1, process.text())
            self.assertIn("failed", process.lines[-1])
        status = self.status()
        self.assertEqual(status["state"], "failed")
        self.assertNotIn("0.25", json.dumps(status) + self.log() + others[0].text())
        self.assertNotIn("limit", status["reason"])
        self.assertEqual(self.charges(0), [])

    def test_who_withdraws_sends_nothing_and_may_come_back(self):
        self.study(parties="{expected: 4, minimum: 3}", patience="0.5")
        self.coordinator()
        gone = self.join(0)
        said = self.succeed("withdraw", "trial", home=self.home(0))
        self.assertIn("nothing leaves for it from now on", said.stdout)
        others = {party: self.join(party) for party in (1, 2, 3)}
        self.assertEqual(gone.finish(), 3, gone.text())
        self.check_done(others)
        self.assertEqual(self.charges(0), [])
        self.assertNotIn("withdr", self.log())  # the reason is the party's own
        self.succeed("consent", "trial", home=self.home(0))
        back = self.resume(0)
        self.assertEqual(back.finish(), 0, back.text())  # too late to answer, in time for the model
        self.refuse(1, "withdraw", "another", home=self.home(0), says=["trial@"])

    def test_a_study_goes_on_with_the_minimum(self):
        self.study(parties="{expected: 4, minimum: 3}")
        self.coordinator()
        poor = self.join(0)
        self.limit(0, 0.25)
        model = self.check_done({party: self.join(party) for party in (1, 2, 3)})
        self.assertEqual(poor.finish(), 3)
        self.assertEqual(model["guarantee"]["parties"], 3)


class Invitations(DeployedTest):
    def test_joining_again_after_a_crash_gives_the_same_certificate(self):
        self.study()
        self.coordinator()
        invitation = self.invite()
        self.join(0, invitation=invitation).kill()
        certificate = next(self.home(0).glob("studies/*/party.crt"))
        before = certificate.read_bytes()
        certificate.unlink()  # as if the answer had never arrived
        self.refuse(1, "party", "trial", home=self.home(0), says=["tacit join again"])
        again = self.join(0, invitation=invitation)
        self.assertEqual(certificate.read_bytes(), before)
        self.assertEqual(self.status()["joined"], 1)
        self.check_done({0: again, 1: self.join(1), 2: self.join(2)})

    def test_what_is_not_an_invitation_is_told(self):
        self.study()
        self.coordinator()
        self.limit(0)
        good = self.invite()
        flipped = good[:-9] + ("A" if good[-9] != "A" else "B") + good[-8:]
        for text, says in (("garbage", "not an invitation"), (good[:40], "damaged"), (good[:-1], "damaged"),
                           (flipped, "damaged"), ("tacit9" + good[6:], "")):
            with self.subTest(text=text[:40]):
                self.refuse(1, *self.join_words(0, text), home=self.home(0), says=[says])
        self.refuse(1, *self.join_words(0, "no/such/file"), home=self.home(0), says=["no/such/file"])
        for missing in ("missing.txt", "tacit-invitation.txt"):
            self.refuse(1, *self.join_words(0, missing), home=self.home(0), says=[f"{missing}: no such file", "tacit1-"])
        file = self.path / "invitation.txt"
        file.write_text("  " + good[:70] + "\n" + good[70:] + "\n\n")
        process = self.start(*self.join_words(0, file), home=self.home(0))
        process.wait_line("^joined; waiting")

    def test_an_invitation_works_once_and_in_its_time(self):
        self.study()
        self.coordinator()
        self.limit(1)
        self.refuse(1, *self.join_words(1, self.invite("--days", "0.000001")), home=self.home(1), says=["expired"])
        used = self.invite()
        self.join(0, invitation=used)
        self.refuse(3, *self.join_words(1, used), home=self.home(1), says=["has been used"])
        late = self.invite()
        self.succeed("study", "close", self.folder, "trial")
        self.refuse(3, *self.join_words(1, late), home=self.home(1), says=["has ended"])
        self.refuse(2, "study", "invite", self.folder, "trial", says=["takes no new parties"])
        self.refuse(1, "study", "invite", self.folder, "none", says=["'none'"])

    def test_no_more_parties_join_than_declared(self):
        self.study(parties="{expected: 3, minimum: 3}")
        self.coordinator()
        extra = self.invite()
        gone = self.join(0)
        gone.kill()  # keeps the study running
        self.join(1)
        self.join(2)
        self.limit(3)
        self.refuse(3, *self.join_words(3, extra), home=self.home(3), says=["takes no new parties"])

    def test_another_coordinators_invitation_is_not_mistaken(self):
        self.study()
        self.coordinator()
        self.limit(0)
        ours, self.folder = self.folder, self.path / "other"
        self.study()
        foreign = self.invite("--url", self.url)  # theirs, pointing at our address
        line = self.refuse(1, *self.join_words(0, foreign), home=self.home(0), says=["authority"])
        self.assertNotIn("\n", line)
        self.folder = ours
        nowhere = socket.create_server(("127.0.0.1", 0))
        port = nowhere.getsockname()[1]
        nowhere.close()
        self.refuse(1, *self.join_words(0, self.invite("--url", f"https://127.0.0.1:{port}")), home=self.home(0))


class Canary(DeployedTest):
    NUMBER = "0.123456789012"
    TEXT = "canary-in-a-coal-mine"

    def plant(self, party):
        """Distinctive values in a column that is used and in one that is not."""
        lines = self.rows(party).read_text().splitlines()
        lines = [lines[0] + ",note"] + [line + "," + self.TEXT for line in lines[1:]]
        lines[5] = re.sub("^[^,]*", self.NUMBER, lines[5])
        self.rows(party).write_text("\n".join(lines) + "\n")

    def traces(self):
        """The row as it might appear: as text, as a double, and as encoded between -1 and 1 or 0 and 1."""
        number = float(self.NUMBER)
        found = [self.NUMBER.encode(), self.NUMBER[2:10].encode(), self.TEXT.encode()]
        for value in (number, 2 * number - 1, number - 0.5):
            found += [struct.pack("<d", value), struct.pack(">d", value)]
        return found

    VARIANTS = {"avg-party": ({"set": "{noise: party}"}, ()),
                "avg-coordinator": ({"set": "{noise: coordinator}"}, ("--allow-entrusted",)),
                "output": ({"method": "output", "set": "{}"}, ()),
                "plr": ({"method": "plr", "set": "{loss: huber}"}, ()),
                "gop": ({"method": "gop", "set": "{}", "delta": "1e-5"}, ())}

    def test_no_row_leaves_a_party(self):
        for variant, (changed, more) in self.VARIANTS.items():
            with self.subTest(variant=variant):
                self.folder = self.path / variant
                self.study(**changed)
                coordinator = self.coordinator("--until-done")
                self.plant_once()
                home = self.home(f"0-{variant}")
                relay = Relay(self.folder, home, self.port)
                self.limit(0, home=home)
                invitation = self.invite("--url", relay.address)
                watched = self.start(*self.join_words(0, invitation, "--label", "sick", *more), home=home)
                watched.wait_line("^joined; waiting")
                parties = {f"{party}-{variant}": self.join_as(party, f"{party}-{variant}", more) for party in (1, 2)}
                self.check_done({f"0-{variant}": watched, **parties})
                self.assertEqual(coordinator.finish(), 0)
                self.assertIn(b"/v1/answer", relay.sent)
                self.assertEqual(relay.failed, [])
                seen = {"the wire": bytes(relay.sent)}
                seen.update({str(file): file.read_bytes() for file in self.folder.iterdir() if file.is_file()})
                for place, content in seen.items():
                    for trace in self.traces():
                        self.assertNotIn(trace, content, place)
                relay.listener.close()

    def plant_once(self):
        if self.TEXT not in self.rows(0).read_text():
            self.plant(0)

    def join_as(self, party, home, more):
        self.limit(party, home=self.home(home))
        process = self.start(*self.join_words(party, self.invite(), *more), home=self.home(home))
        process.wait_line("^joined; waiting")
        return process


if __name__ == "__main__":
    unittest.main()
