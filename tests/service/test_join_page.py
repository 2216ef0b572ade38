#!/usr/bin/env python3
"""A person finds a study on the own page and joins it there: reads what it asks, chooses data, sets a budget, consents; the page answers for it while the store is open, and goes on after a restart;
and the person leaves another one. What is shown is what `tacit join` shows, and nothing is past its checks. Each view is looked at by axe-core, at a desk's width and a phone's.

    TACIT=build/src/cli/tacit TACIT_AXE=build-axe tests/service/test_join_page.py

Skipped where Chromium, its driver or Selenium are missing, and counted as skipped where axe-core is (script/setup --full installs all of them).
"""
import json
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import Running, poll
from test_browser import LINK
from test_create_page import PagesTest
from test_people import CANARY, EXAMPLES, PASSPHRASE

ASK = """
const done = arguments[arguments.length - 1];
request("POST", arguments[0], arguments[1]).then(got => done([200, got]), problem => done([problem.status, problem.message]));
"""


class JoinPage(PagesTest):
    def open_page(self):
        """Nobody has named a file with the passphrase: it is typed into the page."""
        process = Running(["page"], self.home(0), self.path)
        self.addCleanup(process.clean)
        self.browser.get(process.wait_line(LINK).group(1))
        self.one("#passphrase").send_keys(PASSPHRASE)
        self.press("button.unlock")
        self.wait_text("Nothing is due.")
        return process

    def post(self, path, **body):
        return self.browser.execute_async_script(ASK, path, body)

    def find(self, study):
        self.fill(catalogue_address=self.address)
        self.press("form.catalogue button")
        self.press(f"button.enrol[data-study={study}]")
        self.wait_text("You may join.")
        self.press(f"button.open-joining[data-study={study}]")
        self.wait_text(f"Join {study}: ")

    def tick(self, *boxes):
        for box in boxes:
            self.one("#" + box).send_keys(" ")

    def again(self, says):
        self.press("button.again")
        self.wait_text(says)

    def section(self, study):
        return next(text for text in self.texts("section[aria-label]") if f"{study}@" in text)

    def test_a_person_joins_on_the_own_page_which_answers_and_leaves_another_study(self):
        for person in range(3):
            self.person(person)
            if person > 0:
                self.succeed("ledger", "limit", "--source", self.source(person), "--epsilon", 10, "--delta", "0.01", home=self.home(person))
        common = {"minimum_rows": 20, "enrolment": "open", "ask_again": "yes", "eligible": "\"age > 0\""}
        (self.path / "consent.txt").write_text("You may leave at any time.\n")
        self.study(consent="consent.txt", **common)
        self.succeed("instrument", "sign", EXAMPLES / "wellbeing.instrument.yaml", "--key", "key", "--out", "signed.yaml")
        self.study("other", instruments="[signed.yaml]", **common)
        coordinator = self.open_catalogue()
        self.wait_open("other")
        page = self.open_page()
        self.find("trial")
        # What is read is what `tacit join` prints before it asks.
        shown = self.texts("#join-terms dd")
        refused = self.refuse(3, "join", self.home(0) / "invitations/trial.txt", "--data", self.source(0), "--schema", self.path / "schema.yaml", home=self.home(0), says=["--allow-reuse"])
        for line in refused.splitlines():
            if not line.startswith(("tacit: ", "joining", "hardened")) and re.match(r"^.{10} \S", line) and not line.startswith("expected"):
                self.assertTrue(any(line[11:] in text for text in shown), line)
        self.assertIn("You may leave at any time.", self.text())
        self.assertIn("only where age > 0 holds for one of your rows", self.text())
        self.assertIn("your rules say that you are asked", self.text())
        self.wait_text("Not yet: study 'trial' of")
        self.look("join")
        version = self.browser.execute_script("return joining.found.version")
        # Nothing is past the checks, whatever a page sends.
        asked = {"study": "trial", "sources": ["daily"], "version": version}
        self.assertEqual(self.post("/v1/party/join", **asked)[0], 403)
        self.assertIn("no limit is set", self.post("/v1/party/join", **asked, allow=["allow-reuse"])[1])
        self.assertIn("another version", self.post("/v1/party/join", **{**asked, "version": "00" * 32}, allow=["allow-reuse"])[1])
        self.assertEqual(self.post("/v1/party/join", **{**asked, "study": "../trial"})[0], 409)
        self.assertEqual(self.post("/v1/party/join", **{**asked, "sources": ["daily?x"]})[0], 409)
        self.assertEqual(self.status()["joined"], 0)
        self.tick("join-allow-reuse", "join-may-ask-again")
        self.again("Not yet: no limit is set")
        self.fill(limit_epsilon="8", limit_delta="0")
        self.press("form.limit button")
        self.wait_text("With these data, and what you allow, you can join.")
        self.look("can join")
        self.press("button.consent-join")
        self.wait_text("This page answers for it: waiting for questions.")
        self.look("joined")
        # Another process cannot serve it meanwhile; locked, nothing is answered; after a restart it goes on.
        self.refuse(2, "party", "trial", home=self.home(0), says=["another process serves study 'trial' of this home already"])
        self.press("button.lock")
        self.wait_text("which answers for it while your data are open")
        self.assertEqual(self.post("/v1/party/joining", study="trial")[0], 403)
        identity = self.browser.execute_async_script("const done = arguments[0]; request('GET', '/v1/party/studies').then(got => done(got.studies[0].id));")
        self.assertIn("which is locked: give its passphrase", self.post(f"/v1/party/studies/{identity}/consent", version="00" * 32)[1])
        page.kill()
        self.open_page()
        self.wait_text("This page answers for it: waiting for questions.")
        # Another study: in, and out again.
        self.find("other")
        self.press("button.take-up[data-name=wellbeing]")
        self.wait_text("It is in your store: answer it on your page.")
        self.tick("join-allow-reuse")
        self.again("With these data, and what you allow, you can join.")
        self.press("button.consent-join")
        self.wait(lambda: "waiting for questions" in self.section("other"), "the other study is not answered")
        self.press("section[aria-label=other] button.withdraw")
        self.wait(lambda: "withdrawn" in self.section("other"), "still in the other study")
        # The rest join on the command line, and the study ends.
        parties = {person: self.start(*self.words(person, "--allow-reuse"), home=self.home(person)) for person in (1, 2)}
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        poll(lambda: self.status()["state"] == "done", "the study does not end")
        self.wait(lambda: "ended" in self.section("trial"), "the page does not hear of the end")
        self.wait_text("Of your privacy budget of 8, studies have used 2.")
        self.look("ended")
        kinds = [entry["entry"] for source in json.loads(self.succeed("ledger", "show", "--json", home=self.home(0)).stdout)["sources"] for entry in source["entries"]]
        self.assertEqual((kinds.count("charge"), kinds.count("statement")), (1, 2))  # one answer; and twice that the person is eligible
        self.assertNotIn("other@", "".join(entry.get("study", "") for entry in self.charges(0)))
        for folder in (self.home(0), self.folder):
            for path in folder.rglob("*"):
                for word in (CANARY, PASSPHRASE) if path.is_file() else ():
                    self.assertNotIn(word.encode(), path.read_bytes(), path)
        self.assertIsNone(coordinator.process.poll())
        self.skip_without_axe()


if __name__ == "__main__":
    unittest.main()
