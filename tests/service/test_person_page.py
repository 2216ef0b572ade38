#!/usr/bin/env python3
"""A person's page in a real browser, headless: open the store, answer a questionnaire by keyboard with skips and in another language, set a rule, lock it again.

    TACIT=build/src/cli/tacit TACIT_AXE=build-axe tests/service/test_person_page.py

Skipped where Chromium, its driver or Selenium are missing, and counted as skipped where axe-core is (script/setup --full installs all of them).
"""
import os
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_browser
from test_browser import LINK, BrowserTest
from test_people import EXAMPLES, PASSPHRASE, PeopleTest

# What a screen reader and a keyboard need, looked for in the page as it is: names of fields, groups and buttons, one level of headings after the other, no trap for the focus.
UNNAMED = """
const named = one => (one.labels && Array.from(one.labels).some(label => label.textContent.trim())) || one.getAttribute("aria-label");
const fields = Array.from(document.querySelectorAll("input, select, textarea")).filter(one => !named(one)).map(one => one.outerHTML);
const buttons = Array.from(document.querySelectorAll("button")).filter(one => !one.textContent.trim()).map(one => one.outerHTML);
const groups = Array.from(document.querySelectorAll("fieldset")).filter(one => !one.querySelector("legend")?.textContent.trim()).map(one => one.outerHTML);
const ids = Array.from(document.querySelectorAll("[id]"), one => one.id), twice = ids.filter((id, at) => ids.indexOf(id) !== at);
const levels = Array.from(document.querySelectorAll("h1, h2, h3, h4"), one => Number(one.tagName[1]));
const jumps = levels.filter((level, at) => at > 0 && level > levels[at - 1] + 1);
const caught = Array.from(document.querySelectorAll("[tabindex]")).filter(one => Number(one.getAttribute("tabindex")) > 0).map(one => one.outerHTML);
return [...fields, ...buttons, ...groups, ...twice, ...jumps, ...caught];
"""

AXE_FOLDER = Path(os.environ.get("TACIT_AXE", "build-axe"))
AXE = AXE_FOLDER / "node_modules" / "axe-core" / "axe.min.js"
LOOK = """
const done = arguments[arguments.length - 1];
axe.run(document, { resultTypes: ["violations"] }).then(found => done(found.violations.map(one => [one.id, one.impact, one.nodes.map(node => node.html)])), problem => done([String(problem)]));
"""


class LookedAt(BrowserTest):
    """Pages that are looked at by axe-core, at a desk's width and a phone's."""

    def look(self, name):
        """Nothing that axe-core or our own list finds wrong, and nothing wider than a phone."""
        self.assertEqual(AXE.exists(), (AXE_FOLDER / "installed").exists(), "axe-core was installed, and is not there")
        for width in (1000, 400):
            self.browser.set_window_size(width, 1200)
            self.assertEqual(self.browser.execute_script(UNNAMED), [], name)
            if AXE.exists():
                self.browser.execute_cdp_cmd("Runtime.evaluate", {"expression": AXE.read_text()})  # a page's policy lets no script in
                self.assertEqual(self.browser.execute_async_script(LOOK), [], name)
            self.keep(f"{name}-{width}")
        self.assertLessEqual(self.browser.execute_script("return document.documentElement.scrollWidth"), 500, name)
        self.browser.set_window_size(1000, 1200)

    def skip_without_axe(self):
        """At the end of a test: all else has passed, and the count of skipped tests says what was not looked at."""
        if not AXE.exists():
            self.skipTest("pages were looked at without axe-core (script/setup --full)")


@unittest.skipIf(test_browser.MISSING, f"without {', '.join(test_browser.MISSING)} (script/setup --full)")
class PersonPage(PeopleTest, LookedAt):
    def setUp(self):
        super().setUp()
        self.succeed("instrument", "sign", EXAMPLES / "wellbeing.instrument.yaml", "--key", "key", "--out", "signed.yaml")
        self.person(0, days=3)
        self.succeed("store", "take", "signed.yaml", home=self.home(0))
        self.browser.get(self.start("page", home=self.home(0)).wait_line(LINK).group(1))

    def unlock(self, passphrase):
        self.one("#passphrase").clear()
        self.one("#passphrase").send_keys(passphrase)
        self.press("button.unlock")

    def choose(self, name, value):
        """A radio button, by keyboard: the space bar takes it."""
        self.wait(lambda: self.browser.find_element("css selector", f"input[name={name}][value='{value}']").send_keys(" ") or True, name)

    def shown(self, name):
        return self.browser.execute_script("return !document.querySelector(`[data-item=${arguments[0]}]`).hidden", name)

    def test_a_person_opens_the_store_answers_sets_a_rule_and_locks_it(self):
        self.wait_text("What you keep at home is locked")
        self.look("locked")
        self.unlock("not this one")
        self.wait_text("wrong passphrase")
        self.unlock(PASSPHRASE)
        self.wait_text("One questionnaire is due.")
        self.wait_text("daily: 3 rows, 2026-02-01 to 2026-02-03")
        self.wait_text("No study has asked about your data yet.")
        self.look("store")
        self.press("button.answer[data-name=wellbeing]")
        self.wait_text("The last two weeks")
        self.look("questionnaire")
        self.assertFalse(self.shown("coped"))
        self.choose("flat", 2)
        self.wait(lambda: self.shown("coped"), "'coped' stays hidden")
        self.choose("flat", 1)
        self.wait(lambda: not self.shown("coped"), "'coped' stays shown")
        for name in ("joyless", "restless_nights", "weary", "eating", "harsh", "scattered", "slowed", "confident"):
            self.choose(name, 1)
        self.press("button.keep")
        self.wait_text("burden: 10")
        self.press("button.back")
        self.wait_text("Nothing is due.")
        self.press("button.answer[data-name=wellbeing]")
        self.one("#language").send_keys("de")
        self.wait_text("Die letzten zwei Wochen")
        self.press("button.back")
        self.one("#rule-reuse").send_keys("may not")
        self.press("form.rule button")
        self.wait_text("Every study may not use everything.")
        self.look("rules")
        self.press("button.look")
        self.wait_text("no study has been joined yet")
        self.press("button.lock")
        self.wait_text("What you keep at home is locked")
        self.assertNotIn("burden", self.text())
        self.skip_without_axe()

    def test_the_budget_is_told_in_plain_words(self):
        for person in range(3):
            if person > 0:
                self.person(person)
            else:
                self.succeed("store", "import", self.month(0), "--mapping", "daily.import.yaml", home=self.home(0))
            self.succeed("ledger", "limit", "--source", self.source(person), "--epsilon", 8, home=self.home(person))
        self.study(minimum_rows=20)
        self.coordinator()
        self.check_done({person: self.start(*self.words(person, "--allow-reuse"), home=self.home(person)) for person in range(3)})
        self.unlock(PASSPHRASE)
        self.wait_text("Of your privacy budget of 8, studies have used 2.")
        self.assertEqual(self.texts("p.budget"), ["Of your privacy budget of 8, studies have used 2."])
        self.look("budget")
        self.skip_without_axe()


if __name__ == "__main__":
    unittest.main()
