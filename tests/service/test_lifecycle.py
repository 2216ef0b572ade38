"""A study's life: drafts, pauses, amendments and consent to them, the catalogue, leaving, schedules."""
import json
import unittest

from deployed import DeployedTest

DOCUMENT = "  Consent\n\nYour rows stay with you.\tReally.  \n\n"


class Lifecycle(DeployedTest):
    def document(self, text=DOCUMENT):
        (self.path / "consent.txt").write_text(text)

    def about(self, **changed):
        return {"description": "Why we ask.", "approval": "Ethics board 2026-114", "consent": "consent.txt", **changed}

    def offers(self, *words, home):
        return json.loads(self.succeed("catalogue", *words, "--json", home=home).stdout)["studies"]

    def test_a_draft_is_nobodys_business_until_it_is_opened(self):
        self.succeed("study", "new", self.folder, self.definition(), "--draft")
        self.assertEqual(self.status()["state"], "draft")
        self.refuse(2, "study", "invite", self.folder, "trial", "--url", "https://localhost:1", says=["draft"])
        self.refuse(2, "study", "pause", self.folder, "trial", says=["is draft"])
        self.succeed("study", "amend", self.folder, self.definition(epsilon=1))
        self.assertEqual(self.status()["version"], 1)  # nobody had consented to the first text
        self.succeed("study", "open", self.folder, "trial")
        self.assertEqual(self.status()["state"], "recruiting")
        self.refuse(2, "study", "open", self.folder, "trial", says=["recruiting"])

    def test_an_amended_study_is_consented_to_again(self):
        self.document()
        self.study(**self.about())
        coordinator = self.coordinator()
        first = {party: self.join(party) for party in (0, 1)}
        first[0].wait_line("Ethics board 2026-114")
        first[0].wait_line("Your rows stay with you. Really.$")
        kept = next(self.home(0).glob("studies/*/consent.txt")).read_text()
        self.assertEqual(kept, "  Consent\n\nYour rows stay with you. Really.\n")
        before = self.offers(home=self.home(0))[0]
        self.assertEqual((before["state"], before["you"], before["approval"]),
                         ("recruiting", "consented", "Ethics board 2026-114"))

        self.document("Consent, second version\n")
        said = self.succeed("study", "amend", self.folder, self.definition(**self.about(epsilon=1)))
        self.assertIn("version 2", said.stdout)
        for party in first.values():
            self.assertEqual(party.finish(), 3, party.text())
            self.assertIn("tacit consent trial", party.text())
        self.assertEqual((self.status()["joined"], self.status()["outdated"]), (0, 2))
        after = self.offers(home=self.home(0))[0]
        self.assertEqual(after["you"], "amended: consent again")
        self.assertNotEqual(after["document"], before["document"])

        self.refuse(3, "consent", "trial", home=self.home(0), says=["--yes"])
        again = {}
        for party in (0, 1):
            done = self.succeed("consent", "trial", "--yes", home=self.home(party))
            self.assertIn("Consent, second version", done.stderr)
            again[party] = self.resume(party)
        again[2] = self.join(2)
        self.check_done(again)
        self.assertIn("takes part in study trial as amended", self.log())
        self.assertIn("is amended", coordinator.text())
        studies = {charge["study"] for charge in self.charges(0)}
        self.assertEqual(len(studies), 1)
        self.assertIn("+", studies.pop())  # the version that was consented to last

    def consent(self):
        done = self.succeed("consent", "trial", "--yes", "--json", home=self.home(0))
        return json.loads(done.stdout), done.stderr

    def test_consent_asks_for_a_newer_version_and_says_which_one_it_is_to(self):
        self.study()
        coordinator = self.coordinator()
        self.join(0).kill()
        self.succeed("withdraw", "trial", home=self.home(0))
        first, told = self.consent()
        self.assertEqual((first["amended"], first["coordinator_asked"]), (False, True))
        self.assertIn("offers no newer version", told)
        self.succeed("study", "amend", self.folder, self.definition(epsilon=1))
        second, told = self.consent()  # no party has been told of it
        self.assertEqual((second["amended"], second["coordinator_asked"]), (True, True))
        self.assertNotEqual(first["version"], second["version"])
        self.assertIn("epsilon 1", told)
        coordinator.kill()
        third, told = self.consent()
        self.assertEqual((third["amended"], third["coordinator_asked"], third["version"]), (False, False, second["version"]))
        self.assertIn("could not be asked", told)

    def test_an_amendment_may_ask_for_more_than_was_allowed(self):
        self.study()
        self.coordinator()
        first = {party: self.join(party) for party in range(2)}
        self.succeed("study", "amend", self.folder, self.definition(set="{noise: coordinator}"))
        for process in first.values():
            self.assertEqual(process.finish(), 3, process.text())
        self.refuse(3, "consent", "trial", "--yes", home=self.home(0), says=["--allow-entrusted"])
        again = {}
        for party in first:
            self.succeed("consent", "trial", "--yes", "--allow-entrusted", home=self.home(party))
            again[party] = self.resume(party)
        again[2] = self.join(2, "--allow-entrusted")
        self.check_done(again)

    def test_a_party_answers_only_a_definition_with_the_right_signature(self):
        self.study()
        self.coordinator()
        self.join(0).kill()
        signature = next(self.home(0).glob("studies/*/study.sig"))
        bytes_ = bytearray(signature.read_bytes())
        bytes_[-1] ^= 1
        signature.write_bytes(bytes_)
        others = {party: self.join(party) for party in (1, 2)}
        forged = self.resume(0)
        self.assertEqual(forged.finish(), 3, forged.text())
        self.assertIn("not signed", forged.text())
        self.assertEqual(self.charges(0), [])
        for each in others.values():
            each.finish()

    def test_a_paused_study_asks_nothing_and_goes_on(self):
        self.study()
        coordinator = self.coordinator()
        parties = {party: self.join(party) for party in (0, 1)}
        self.succeed("study", "pause", self.folder, "trial")
        coordinator.wait_line("study trial is paused")
        self.refuse(2, "study", "invite", self.folder, "trial", says=["paused"])
        self.assertEqual(self.status()["state"], "paused")
        self.succeed("study", "resume", self.folder, "trial")
        parties[2] = self.join(2)
        self.check_done(parties)
        self.refuse(2, "study", "resume", self.folder, "trial", says=["done"])

    def test_a_running_study_is_paused_between_answers(self):
        self.study(parties="{expected: 3, minimum: 3}")
        coordinator = self.coordinator()
        parties = {party: self.join(party) for party in (0, 1)}
        gone = self.join(2)
        gone.kill()
        coordinator.wait_line("study trial runs with 3 parties")
        self.refuse(2, "study", "amend", self.folder, self.definition(epsilon=1), says=["running", "paused"])
        self.succeed("study", "pause", self.folder, "trial")
        coordinator.wait_line("study trial is paused")
        self.succeed("study", "resume", self.folder, "trial")
        coordinator.wait_line("study trial runs with 3 parties", 2)
        parties[2] = self.resume(2)
        self.check_done(parties)
        for party in parties:
            self.assertEqual(len(self.charges(party)), 1)

    def test_rounds_do_not_wait_for_who_has_left(self):
        self.study(sum="clear", parties="{expected: 3, minimum: 2}", patience=80000)
        coordinator = self.coordinator()
        parties = {party: self.join(party) for party in (0, 1)}
        left = self.join(2)
        left.kill()
        coordinator.wait_line("study trial runs with 3 parties")
        said = self.succeed("withdraw", "trial", home=self.home(2))
        self.assertIn("cannot be called back", said.stdout)
        model = self.check_done(parties)  # long before the round's patience has run out
        self.assertEqual(model["guarantee"]["parties"], 2)
        self.assertEqual(self.charges(2), [])

    def test_the_catalogue_is_open_to_who_is_invited(self):
        self.document()
        self.study(**self.about())
        self.succeed("study", "new", self.folder, self.definition("hidden"), "--draft")
        self.succeed("study", "new", self.folder, self.definition("other"))
        self.coordinator()
        invitation = self.invite()
        offers = self.offers(invitation, home=self.home(0))
        self.assertEqual([(each["study"], each["you"]) for each in offers],
                         [("trial", "not joined"), ("other", "not joined")])
        self.assertIn("epsilon", offers[0]["price"])
        self.join(0, invitation=invitation)  # it was not used up
        self.refuse(1, "catalogue", home=self.home(1), says=["invitation"])

    def test_an_invitation_is_read_before_there_are_rows(self):
        self.document()
        self.study(**self.about())
        self.coordinator()
        invitation = self.invite()
        schema, template = self.path / "asked.yaml", self.path / "asked.csv"
        looked = self.succeed("look", invitation, "--json", "--write-schema", schema, "--write-template", template,
                              home=self.home(0))
        for line in ("Ethics board 2026-114", "leaves     ", "price      epsilon", "rows of yours are required"):
            self.assertIn(line, looked.stderr)
        said = json.loads(looked.stdout)
        columns = [each["name"] for each in said["columns"]]
        self.assertEqual([each["role"] for each in said["columns"]].count("label"), 1)
        self.assertEqual(template.read_text(), ",".join(columns) + "\n")
        with self.subTest("no row is needed to know what is asked; the files written fit each other"):
            shown = self.succeed("look", invitation, home=self.home(0)).stdout
            self.assertTrue(all(name in shown for name in columns), shown)
            self.succeed("data", "check", "--schema", schema, self.rows(0))
        with self.subTest("the schema that was written joins, and looking has used nothing up"):
            schema.replace(self.path / "schema.yaml")
            self.join(0, invitation=invitation)
        with self.subTest("an invitation that is none"):
            (self.path / "none.txt").write_text("tacit-invite-nothing\n")
            self.refuse(1, "look", self.path / "none.txt", home=self.home(1), says=["invitation"])

    def test_the_owners_rules_hold_for_every_study(self):
        self.study()
        self.coordinator()
        self.limit(0)
        for rule, says in ((("--methods", "batch"), "--methods"), (("--minimum-rows", 1000), "--minimum-rows"),
                           (("--minimum-parties", 4), "--minimum-parties"), (("--study-epsilon", 1), "--study-epsilon")):
            self.succeed("rules", "set", *rule, home=self.home(0))
            self.refuse(3, *self.join_words(0, self.invite()), home=self.home(0), says=["rules set " + says])
            self.succeed("rules", "set", "--methods", "all", "--minimum-rows", 10, "--minimum-parties", 2,
                         "--study-epsilon", 0, home=self.home(0))
        self.refuse(2, "rules", "set", "--methods", "magic", home=self.home(0), says=["magic"])
        late = self.join(0)
        self.succeed("rules", "set", "--study-epsilon", 1, home=self.home(0))  # counts for studies joined before
        rules = json.loads(self.succeed("rules", "show", "--json", home=self.home(0)).stdout)
        self.assertEqual(rules, {"minimum_rows": 10, "minimum_parties": 2, "study_epsilon": 1.0, "methods": []})
        others = [self.join(party) for party in (1, 2)]
        self.assertEqual(late.finish(), 3, late.text())
        self.assertIn("more than the owner's 1 for one study", late.text())
        self.assertEqual(self.charges(0), [])
        for each in others:
            each.kill()
        (self.home(1) / "rules.json").write_text("{")
        self.refuse(3, "party", "trial", home=self.home(1), says=["rules.json is damaged"])

    def test_one_process_serves_all_studies_of_a_home(self):
        for name in ("trial", "other"):
            self.study(name, parties="{expected: 3, minimum: 2}", patience=80000, sum="clear")
        coordinator = self.coordinator()
        self.limit(0)
        words = lambda study: self.join_words(0, self.invite(study=study), "--no-wait")
        self.succeed(*words("trial"), home=self.home(0))
        daemon = self.start("party", home=self.home(0))
        daemon.wait_line("trial@.*waiting for questions")
        self.refuse(2, "party", "trial", home=self.home(0), says=["another process serves"])
        self.succeed(*words("other"), home=self.home(0))
        daemon.wait_line("other@.*waiting for questions")
        with open(self.rows(0), "a") as rows:  # arrives while the studies recruit
            rows.write("0.5,0.25,yes\n")
        first = [self.join(party, study="trial") for party in (1, 2)]
        daemon.wait_line("the study begins with 41 rows")
        daemon.wait_line("trial@.*the study is done")
        self.succeed("withdraw", "other", home=self.home(0))
        second = [self.join(party, study="other") for party in (3, 4)]
        daemon.wait_line("other@.*withdrawn")
        self.succeed("consent", "other", home=self.home(0))  # it rests, and goes on
        daemon.wait_line("other@.*the study is done")
        for each in first + second:
            self.assertEqual(each.finish(), 0, each.text())
        models = list(self.home(0).glob("studies/*/model.json"))
        self.assertEqual(len(models), 2)
        again = self.start("party", "--until-done", home=self.home(0))
        self.assertEqual(again.finish(), 0, again.text())
        coordinator.kill()

    def test_a_party_that_joined_nothing_says_what_it_waits_for(self):
        self.study()
        self.coordinator()
        self.limit(0)
        party = self.start("party", "--retry", "0.05", home=self.home(0))
        party.wait_line("no study has been joined yet; waiting for one")
        self.succeed(*self.join_words(0, self.invite(), "--no-wait"), home=self.home(0))
        party.wait_line("waiting for questions")
        self.assertEqual(party.text().count("no study has been joined yet"), 1)

    def test_a_schedule_bounds_a_study(self):
        self.study(schedule="{from: 2999-01-01, until: 2999-02-01}")
        self.succeed("study", "new", self.folder, self.definition("past", schedule="{until: 2001-01-01}"))
        coordinator = self.coordinator()
        coordinator.wait_line("study past is closed: its schedule ended at 2001-01-01T00:00:00Z")
        parties = [self.join(party) for party in range(3)]
        parties[0].wait_line("not before 2999-01-01T00:00:00Z")
        self.assertEqual(self.status()["state"], "recruiting")
        said = self.tacit("study", "new", self.folder, self.definition("bad", schedule="{from: 2027-02-30}"))
        self.assertEqual(said.returncode, 1)
        self.assertRegex(said.stderr, r"bad.study.yaml:\d+: from must be a day")
        for party in parties:
            party.kill()


if __name__ == "__main__":
    unittest.main()
