#!/usr/bin/env python3
"""The pages in a real browser, headless: log in, watch a study finish, withdraw, see the study go on without that party.

    TACIT=build/src/cli/tacit tests/service/test_browser.py

TACIT_SCREENSHOTS=docs/images keeps the pictures. Skipped where Chromium, its driver or Selenium are missing
(script/setup --full installs them).
"""
import json
import os
import shutil
import sys
import unittest
from urllib.parse import urlparse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, DeployedTest

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait
    MISSING = [name for name in ("chromium", "chromedriver") if not shutil.which(name)]
except ImportError:
    MISSING = ["python3-selenium"]

EXACT = ("--allow-entrusted", "--allow-exact")
LINK = r"log in once, within ten minutes: (http://\S+)"


class BrowserTest(DeployedTest):
    def setUp(self):
        super().setUp()
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1000,1200",
                     f"--user-data-dir={self.path / 'browser'}"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.browser = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
        self.addCleanup(self.browser.quit)

    def wait(self, condition, what):
        return WebDriverWait(self.browser, PATIENCE, ignored_exceptions=[Exception]).until(lambda _: condition(), what)

    def wait_text(self, text):
        self.wait(lambda: text in self.text(), f"the page never says '{text}':\n{self.text()}")

    def text(self):
        return self.browser.find_element(By.TAG_NAME, "body").text

    def one(self, selector):
        return self.wait(lambda: self.browser.find_element(By.CSS_SELECTOR, selector), selector)

    def press(self, selector):
        """By keyboard; again when the element was drawn anew meanwhile."""
        def pressed():
            self.browser.find_element(By.CSS_SELECTOR, selector).send_keys(Keys.ENTER)
            return True
        self.wait(pressed, selector)

    def keep(self, name):
        folder = os.environ.get("TACIT_SCREENSHOTS")
        if folder:
            self.browser.save_screenshot(os.path.join(folder, name + ".png"))

    def check_quiet(self):
        """No error on the console, a broken policy included, and no request to anybody else."""
        self.assertEqual([line for line in self.browser.get_log("browser")
                          if line["level"] == "SEVERE" and "favicon" not in line["message"]], [])
        asked = 0
        for line in self.browser.get_log("performance"):
            message = json.loads(line["message"])["message"]
            # The browser's own first tab is not ours to judge.
            if message["method"] == "Network.requestWillBeSent" and message["params"]["documentURL"].startswith("http"):
                address = urlparse(message["params"]["request"]["url"])
                self.assertEqual((address.scheme, address.hostname), ("http", "127.0.0.1"), line)
                asked += 1
        self.assertGreater(asked, 5)

    def check_narrow(self):
        """On a phone nothing sticks out but tables, which scroll by themselves."""
        self.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                     {"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": True})
        self.wait(lambda: self.browser.execute_script("return document.documentElement.scrollWidth") <= 360, "wider than a phone")

    def dark(self):
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                     {"features": [{"name": "prefers-color-scheme", "value": "dark"}]})
        self.wait(lambda: self.browser.execute_script("return getComputedStyle(document.body).backgroundColor") ==
                  "rgb(20, 23, 27)", "not dark")


class Pages(BrowserTest):
    def test_a_study_is_watched_to_its_end(self):
        self.study(title="Who falls ill", method="estimate", set="{optimiser: lbfgs}", epsilon=None, approval="Ethics board 2026-114",
                   description="|\n  Does the dose matter?\n  And age?", stop="{se: {column: age, at_most: 3}}", **{"lambda": 0})
        coordinator = self.coordinator("--dashboard", "0", "--test", self.rows(9, 80))
        self.browser.get(coordinator.wait_line(LINK).group(1))
        self.wait_text("recruiting")
        self.assertNotIn("link=", self.browser.current_url)
        self.keep("dashboard-studies")
        self.press("a[href='#/study/trial']")  # by keyboard
        self.wait_text("Who learns what")
        for text in ("Does the dose matter?", "Ethics board 2026-114", "standard error of age is to be at most 3"):
            self.wait_text(text)
        self.press("button.pause")
        self.press("button.resume")
        self.one("button.pause")
        parties = {party: self.join(party, *EXACT) for party in range(2)}
        self.wait_text("seen in the last minute")
        parties[2] = self.join(2, *EXACT)
        self.one("#download")  # comes by itself when the study is done
        self.wait_text("Std. error")
        self.check_done(parties, charged=[])
        for title in ("Convergence", "Intervals", "Rounds", "ROC curve", "(DeLong)", "reached"):
            self.wait_text(title)
        self.wait(lambda: len(self.browser.find_elements(By.CSS_SELECTOR, ".chart canvas")) >= 4, "charts")
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        for one in summary["coefficients"]:
            self.assertIn(one["name"], self.text())
        self.keep("dashboard-result")
        self.browser.execute_script("document.getElementById('auc').scrollIntoView({block: 'end'})")
        self.keep("dashboard-roc")
        self.check_quiet()
        self.dark()
        self.wait(lambda: len(self.browser.find_elements(By.CSS_SELECTOR, ".chart canvas")) >= 3, "charts")
        self.keep("dashboard-dark")
        self.check_narrow()
        self.keep("dashboard-phone")
        self.press("#logout")
        self.wait_text("Log in")
        self.browser.refresh()
        self.one("#credential").send_keys(coordinator.wait_line(r"credential, shown this once: (\S+)").group(1), Keys.ENTER)
        self.wait_text("Download the model")

    def test_an_owner_withdraws_and_the_study_goes_on_without(self):
        self.study(title="Who falls ill", parties="{expected: 4, minimum: 3}")
        coordinator = self.coordinator("--dashboard", "0")
        self.join(0)
        page = self.start("page", home=self.home(0))
        self.browser.get(page.wait_line(LINK).group(1))
        self.wait_text("consent given")
        self.press("button.withdraw")
        self.wait_text("withdrawn")
        self.one("button.consent")
        self.wait_text("withdrawal")
        self.check_narrow()
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.check_quiet()
        parties = {party: self.join(party) for party in (1, 2, 3)}
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(self.charges(0), [])
        self.browser.get(coordinator.wait_line(LINK).group(1))
        self.one("a[href='#/study/trial']").click()
        self.one("#download")
        self.assertRegex(self.text(), r"3\s+parties in the model")
        self.check_quiet()

    def test_an_owner_reads_a_new_version_and_consents_to_it(self):
        self.study(title="Who falls ill")
        self.coordinator()
        party = self.join(0)
        (self.path / "consent.txt").write_text("What you consent to.\n")
        self.succeed("study", "amend", self.folder, self.definition(title="Who falls ill again", epsilon=1, consent="consent.txt"))
        self.assertEqual(party.finish(), 3, party.text())
        page = self.start("page", home=self.home(0))
        self.browser.get(page.wait_line(LINK).group(1))
        self.wait_text("A new version: Who falls ill again")
        self.wait_text("What you consent to.")
        self.check_narrow()
        self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.press("button.consent.next")
        self.wait(lambda: "A new version" not in self.text() and "consent given" in self.text(), "no consent")
        self.check_quiet()
        again = self.resume(0)
        self.check_done({0: again, 1: self.join(1), 2: self.join(2)})

    def test_the_next_round_is_without_who_withdraws(self):
        self.study(title="Who falls ill", method="dpgd", set="{noise: party, rounds: 20000}", delta="1e-5", sum="clear",
                   parties="{expected: 3, minimum: 2}", patience=1000)
        coordinator = self.coordinator("--dashboard", "0")
        for party in range(3):
            self.join(party)
        self.browser.get(coordinator.wait_line(LINK).group(1))
        self.press("a[href='#/study/trial']")
        self.wait(lambda: self.browser.find_element(By.CSS_SELECTOR, "#last-round b").text == "3", "no round of three")
        dashboard = self.browser.current_window_handle
        self.browser.switch_to.new_window("tab")
        self.browser.get(self.start("page", home=self.home(0)).wait_line(LINK).group(1))
        self.press("button.withdraw")
        self.wait_text("withdrawn")
        self.browser.switch_to.window(dashboard)
        self.wait(lambda: self.browser.find_element(By.CSS_SELECTOR, "#last-round b").text == "2", "no round of two")
        self.wait_text("running")
        self.keep("dashboard-running")
        self.check_quiet()
        self.succeed("study", "close", self.folder, "trial")
        self.wait_text("closed")

    def test_what_has_left_is_shown(self):
        self.study(title="Who falls ill")
        self.coordinator()
        self.succeed("ledger", "limit", "--source", "clinic", "--epsilon", 10, "--delta", "0.01", home=self.home(0))
        clinic = self.start(*self.join_words(0, self.invite(), "--source", "clinic"), home=self.home(0))
        self.check_done({0: clinic, 1: self.join(1), 2: self.join(2)})
        page = self.start("page", home=self.home(0))
        self.browser.get(page.wait_line(LINK).group(1))
        self.wait_text("charge (charged)")
        self.one("meter")
        self.one(".chart canvas")
        self.keep("party-page")
        self.check_quiet()


if __name__ == "__main__":
    if MISSING:
        print("skipped, no browser to test with: " + ", ".join(MISSING) + " missing (script/setup --full installs them)")
        sys.exit(77)  # meson's word for it
    unittest.main(verbosity=2)
