#!/usr/bin/env python3
"""A person's page in a real browser, headless: open the store, answer a questionnaire by keyboard with skips and in another language, set a rule, lock it again.

    TACIT=build/src/cli/tacit tests/service/test_person_page.py

Skipped where Chromium, its driver or Selenium are missing (script/setup --full installs them).
"""
import os
import sys
import unittest

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


@unittest.skipIf(test_browser.MISSING, f"without {', '.join(test_browser.MISSING)} (script/setup --full)")
class PersonPage(PeopleTest, BrowserTest):
    def setUp(self):
        super().setUp()
        self.succeed("instrument", "sign", EXAMPLES / "wellbeing.instrument.yaml", "--key", "key", "--out", "signed.yaml")
        self.person(0, days=3)
        self.succeed("store", "take", "signed.yaml", home=self.home(0))
        self.browser.get(self.start("page", home=self.home(0)).wait_line(LINK).group(1))

    def check_reachable(self):
        self.assertEqual(self.browser.execute_script(UNNAMED), [])
        self.check_narrow()

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
        self.check_reachable()
        self.unlock("not this one")
        self.wait_text("wrong passphrase")
        self.unlock(PASSPHRASE)
        self.wait_text("One questionnaire is due.")
        self.wait_text("daily: 3 rows, 2026-02-01 to 2026-02-03")
        self.wait_text("No study has asked about your data yet.")
        self.check_reachable()
        self.press("button.answer[data-name=wellbeing]")
        self.wait_text("The last two weeks")
        self.check_reachable()
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
        self.press("button.look")
        self.wait_text("no study has been joined yet")
        self.press("button.lock")
        self.wait_text("What you keep at home is locked")
        self.assertNotIn("burden", self.text())


if __name__ == "__main__":
    unittest.main()
