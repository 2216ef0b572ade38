#!/usr/bin/env python3
"""Making a study in a browser, headless, from the form to the archive; the public catalogue, and a person who enrols from the own page. Each page is looked at by axe-core, at a desk's width
and a phone's.

    TACIT=build/src/cli/tacit TACIT_AXE=build-axe tests/service/test_create_page.py

Skipped where Chromium, its driver or Selenium are missing, and counted as skipped where axe-core is (script/setup --full installs all of them).
"""
import json
import os
import re
import sqlite3
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_browser
from deployed import SCHEMA
from test_browser import LINK
from test_enrolment import EnrolmentTest
from test_people import PASSPHRASE, PeopleTest
from test_person_page import LookedAt


@unittest.skipIf(test_browser.MISSING, f"without {', '.join(test_browser.MISSING)} (script/setup --full)")
class PagesTest(EnrolmentTest, PeopleTest, LookedAt):
    def fill(self, **fields):
        for name, value in fields.items():
            one = self.one("#" + name.replace("_", "-"))
            if one.tag_name != "select":
                one.clear()
            one.send_keys(value)


MANY = """label: {name: sick, classes: ["no", "yes"], missing: complete-case}
columns:
  - {name: age, kind: number, low: 0, high: 110}
  - {name: visits, kind: number, low: 0, high: 50}
  - {name: days, kind: number, low: 0, high: 3650}
  - {name: died, kind: number, low: 0, high: 1}
  - {name: sex, kind: category, levels: [f, m, other]}
  - {name: body mass, kind: number, low: 10.5, high: 60, missing: complete-case}
"""


class Outcome(PagesTest):
    """Whoever drafts a study in the form may take any column as its outcome; what the form makes is what `study new` takes."""

    def take(self, column, kind, event=""):
        self.browser.execute_script("document.getElementById('other-outcome').open = true")
        self.browser.execute_script("document.getElementById('outcome-column').value = arguments[0]", json.dumps([column, kind], separators=(",", ":")))
        self.browser.execute_script("document.getElementById('outcome-event').value = arguments[0]", event)
        self.press("#take-outcome")

    def checked(self, *expected):
        """The definition as YAML, and what the study is once `study new` has read it from a file."""
        self.press("#check")
        self.wait_text("The definition is right. Nothing is saved yet.")
        text = self.texts("#yaml")[0]
        for words in expected:
            self.assertIn(words, text)
        self.count = getattr(self, "count", 0) + 1
        (self.path / "other.yaml").write_text(text)
        self.succeed("study", "new", self.path / f"other{self.count}", self.path / "other.yaml", "--force", "--draft")
        return text

    def test_a_researcher_takes_another_column_as_the_outcome(self):
        self.study("first")
        coordinator = self.start("coordinator", self.folder, "--dashboard", "0")
        self.browser.get(coordinator.wait_line(LINK).group(1))
        self.press("#new-study")
        self.fill(schema=MANY)
        self.press("#read-schema")
        self.wait_text("Outcome: sick")
        self.fill(study_name="sleep", study_title="What becomes of whom?", method="estimate", expected_parties="3", minimum_rows="20")
        self.take("body mass", "number")
        self.wait_text("Outcome: body mass (a number from 10.5 to 60")
        self.one("#term-2").send_keys(" ")  # days, which is not among the terms any more
        self.checked('name: "body mass"', "kind: number", 'terms: "`body mass` ~ age + visits + died + sex + sick"')
        self.take("visits", "count")
        self.wait_text("Outcome: visits (a whole number from 0 to 50")
        self.assertNotIn("terms:", self.checked("kind: count"))
        self.take("sex", "class")
        self.wait_text("Outcome: sex (f, m or other)")
        self.fill(method="avg", epsilon="2")
        self.checked("classes: [f, m, other]")
        # What a column cannot be is said in a sentence, and changes nothing.
        self.take("days", "time")
        self.wait_text("a time needs the column that is 1 where the event was seen")
        self.wait_text("Outcome: sex (f, m or other)")
        self.take("days", "time", "died")
        self.wait_text("Outcome: days, died (a time from 0 to 3650")
        self.look("outcome")
        self.one("#method option[value=cox]").click()
        self.fill(epsilon="")
        text = self.checked("name: [days, died]", "kind: time")
        self.assertIn('{name: sick, kind: category, levels: ["no", "yes"], missing: complete-case}', text)
        self.press("#save")
        self.wait_text("Open to parties")
        stored = [sqlite3.connect(folder / "coordinator.db").execute("SELECT definition FROM study WHERE name = 'sleep'").fetchone() for folder in (self.folder, self.path / f"other{self.count}")]
        self.assertEqual(*stored)
        self.skip_without_axe()


class Create(PagesTest):
    def test_a_group_makes_opens_and_publishes_a_study_and_a_person_finds_it(self):
        self.study("first")
        coordinator = self.start("coordinator", self.folder, "--dashboard", "0", "--catalogue", "127.0.0.1")
        self.address = coordinator.wait_line(r"the public catalogue is at (https://\S+)").group(1)
        self.browser.get(coordinator.wait_line(LINK).group(1))
        self.press("#new-study")
        self.wait_text("A new study")
        self.fill(schema="label: {name: sick")
        self.press("#read-schema")
        self.wait_text("the schema:")  # the same sentence as on the command line, with its line
        self.fill(schema=SCHEMA)
        self.press("#read-schema")
        self.wait_text("Outcome: sick")
        self.look("form")
        self.fill(study_name="sleep", study_title="Who sleeps badly?", question="We look for reasons.", approval="Board of Graz", method="avg", epsilon="2",
                  eligible="age > 2 &", expected_parties="3", enrolment="whoever asks and", consent_text="You may leave at any time.\nNobody sees your rows.")
        self.press("#check")
        self.wait_text("eligible, at its end")
        self.fill(eligible="age > 0.5", expected_rows="60", compensation="20 EUR")
        self.press("#check")
        self.wait_text("with 60 rows is expected to have an AUC of")  # what `tacit plan` says, before anybody is asked
        self.fill(expected_rows="1000000")
        self.press("#check")
        self.wait_text("The definition is right. Nothing is saved yet.")
        self.assertRegex(self.texts("#remarks")[0], r"AUC 0\.\d+")
        self.assertIn("20 EUR; for a receipt that nobody can link to your answers", self.text())
        self.assertIn("You may leave at any time.", self.text())
        self.assertIn("only where age > 0.5 holds for one of your rows", self.text())
        self.look("preview")
        definition = self.texts("#yaml")[0]
        self.press("#save")
        self.wait_text("Open to parties")
        # The same YAML in a file is the same study, to the last byte.
        (self.path / "same.yaml").write_text(definition)
        self.succeed("study", "new", self.path / "other", self.path / "same.yaml", "--force", "--draft")
        stored = [sqlite3.connect(folder / "coordinator.db").execute("SELECT definition, state FROM study WHERE name = 'sleep'").fetchone() for folder in (self.folder, self.path / "other")]
        own = re.compile(r"^receipts: .*\n", re.M)  # the key that each coordinator writes
        self.assertEqual(*((own.sub("", definition), state) for definition, state in stored))
        self.assertRegex(stored[0][0], own)
        self.press("button.open")
        self.wait_text("recruiting")
        self.press("#manage summary")
        self.fill(invite_name="Ana")
        self.press("#invite")
        self.wait_text("One invitation, good once")
        self.assertRegex(self.texts("#invitation")[0], r"^tacit1-")
        self.look("study")
        self.press("#manage a")
        self.wait_text("Amend sleep")
        self.assertIn("Who sleeps badly?", self.one("#definition").get_attribute("value"))
        self.look("amend")
        # Anybody may read of it.
        self.wait_open("sleep")
        self.person(0, days=28)
        self.browser.get(self.start("page", home=self.home(0)).wait_line(LINK).group(1))
        self.one("#passphrase").send_keys(PASSPHRASE)
        self.press("button.unlock")
        self.fill(catalogue_address=self.address)
        self.press("form.catalogue button")
        self.wait_text("Who sleeps badly?")
        self.press("button.enrol[data-study=sleep]")
        self.wait_text("The researchers decide; ask again later.")
        self.look("page")
        asked = json.loads(self.succeed("study", "applicants", self.folder, "sleep", "--json").stdout)["applicants"]
        self.assertEqual([one["state"] for one in asked], ["waiting"])
        self.succeed("study", "accept", self.folder, "sleep", asked[0]["applicant"])
        self.press("button.enrol[data-study=sleep]")
        self.wait_text("You may join.")
        self.browser.execute_cdp_cmd("Security.setIgnoreCertificateErrors", {"ignore": True})  # its authority is the coordinator's own
        self.browser.get(self.address)
        self.wait_text("Studies that take you if you ask")
        self.wait_text("Who sleeps badly?")
        self.look("catalogue")
        self.skip_without_axe()


if __name__ == "__main__":
    unittest.main()
