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
from golden import difference, masked
from pages import Neighbour, Page, pieces

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
        options.add_experimental_option("prefs", {"download.default_directory": str(self.path / "kept")})
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
        """By keyboard; again when the element was drawn again meanwhile."""
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

    def check_token_kept_to_the_tab(self):
        """The session outlives a reload; its token is in no cookie and no address, and another tab has to log in itself."""
        token = self.browser.execute_script("return sessionStorage.getItem('tacit.token')")
        self.assertRegex(token, r"^[0-9a-f]{64}$")
        self.browser.refresh()
        self.wait_text("Download the model")
        self.assertEqual(self.browser.get_cookies(), [])
        self.assertNotIn(token, self.browser.execute_script(
            "return JSON.stringify([location.href, performance.getEntries().map(one => one.name), document.documentElement.outerHTML])"))
        here, address = self.browser.current_window_handle, self.browser.current_url
        self.browser.switch_to.new_window("tab")
        self.browser.get(address)
        self.one("#credential")
        self.browser.close()
        self.browser.switch_to.window(here)

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
        self.press("#download")
        kept = self.path / "kept" / "trial.model.json"
        self.wait(lambda: kept.read_bytes() == (self.folder / "trial.model.json").read_bytes(), "no model was kept")
        self.check_token_kept_to_the_tab()
        self.press("#logout")
        self.wait_text("Log in")
        self.assertEqual(self.browser.execute_script("return [sessionStorage.length, localStorage.length]"), [0, 0])
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


class Screens(BrowserTest):
    """The party page word for word, in each state that a study can be in (golden.py)."""

    def see(self, name, *expected):
        """Open the page again, wait for what it must say, and compare all of it, what is folded up included."""
        self.browser.get(self.start("page", home=self.home(0)).wait_line(LINK).group(1))
        for text in expected:
            self.wait_text(text)
        self.browser.execute_script("""
            document.querySelectorAll('details').forEach(one => { one.open = true; });
            document.querySelectorAll('.chart').forEach(one => { one.hidden = true; });""")
        wrong = difference("page-" + name, masked(self.one("#main").text, self.path))
        if wrong:
            self.fail(wrong)
        return {button.text for button in self.browser.find_elements(By.CSS_SELECTOR, "main button")}

    def badge(self):
        """The words of the badge, and whether it is green."""
        mark = self.one("main .state")
        return mark.text, mark.value_of_css_property("color") == "rgba(26, 127, 55, 1)"

    def test_of_a_study_with_noise(self):
        self.study(title="Who falls ill")
        self.coordinator()
        process = self.join(0)
        self.assertEqual(self.see("consent-given", "consent given"), {"Withdraw"})
        self.assertEqual(self.badge(), ("consent given", True))
        self.check_done({0: process, 1: self.join(1), 2: self.join(2)})
        self.assertEqual(self.see("ended", "charge (charged)"), set())  # nothing is left to withdraw from
        self.assertEqual(self.badge(), ("ended", False))

    def test_of_exact_sums(self):
        self.study(title="Who falls ill", method="estimate", set="{}", epsilon=None, **{"lambda": 0.01})
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        self.see("ended-exact", "Exact answers have left")

    def test_of_a_study_that_is_amended_and_one_withdrawn_from(self):
        self.study(title="Who falls ill")
        self.coordinator()
        party = self.join(0)
        self.succeed("study", "amend", self.folder, self.definition(title="Who falls ill again", epsilon=1))
        self.assertEqual(party.finish(), 3, party.text())
        self.assertEqual(self.see("amended", "A new version"), {"Withdraw", "Consent to this version"})
        self.assertEqual(self.badge(), ("amended: no consent to the new version", False))
        self.press("button.consent.next")
        self.wait(lambda: "A new version" not in self.text(), "no consent")
        self.press("button.withdraw")
        self.assertEqual(self.see("withdrawn", "withdrawal"), {"Consent again"})
        self.assertEqual(self.badge(), ("withdrawn", False))


class Difference(BrowserTest):
    """Sums of two groups that differ by few are allowed by a tick of their own, not by consenting."""

    def settings(self, party):
        return json.loads((next((self.home(party) / "studies").glob("trial@*")) / "settings.json").read_text())

    def look_again(self, party):
        self.browser.get(self.start("page", home=self.home(party)).wait_line(LINK).group(1))
        self.wait_text("sums of two groups will be known")
        self.wait_text("This party refuses such a sum unless you allow it")
        box = self.one("input.difference")
        self.assertFalse(box.is_selected())
        self.assertIn("Allow it: sums of two groups may become known that differ by one party", self.text())
        return box

    def consent(self):
        self.press("button.consent.next")
        self.wait(lambda: "Another look" not in self.text(), "no consent")

    def test_an_owner_allows_a_difference_by_a_tick_of_its_own(self):
        self.study(method="estimate", set=None, epsilon=None, stop="{se: {column: age, at_most: 1e-9}, looks: 2}", **{"lambda": 0})
        coordinator = self.coordinator()
        first = {party: self.join(party, *EXACT) for party in range(3)}
        coordinator.wait_line("study trial recruits again")
        for process in first.values():
            self.assertEqual(process.finish(), 3, process.text())
        self.look_again(0).click()
        self.consent()
        self.assertTrue(self.settings(0)["allow_difference"])
        self.look_again(1)
        self.consent()
        self.assertFalse(self.settings(1)["allow_difference"])
        self.check_quiet()


# What a hostile page on another port of this machine can do in the same browser: ask the victim's port with whatever the browser adds,
# open it, and tell its own server what came back.
HOSTILE = """<!doctype html><title>other</title><script>
const victim = "VICTIM";
const tell = body => fetch("/told", { method: "POST", body: JSON.stringify(body) });
const ask = (path, how) => fetch(victim + path, { credentials: "include", ...how }).then(reply => reply.text(), String);
(async () => {
  const told = [document.cookie, Object.entries(sessionStorage), Object.entries(localStorage)];
  for (const path of ["/v1/session", "/v1/studies", "/v1/events"]) told.push(await ask(path));
  for (const path of ["CHANGE", "/v1/session"]) {
    told.push(await ask(path, { method: "POST", mode: "no-cors" }));
    told.push(await ask(path, { method: "POST", headers: { Authorization: "Bearer " } }));
  }
  const opened = window.open(victim);
  try { told.push(Object.entries(opened.sessionStorage)); } catch (problem) { told.push(String(problem)); }
  await tell(told);
  await fetch("/done");
})();
</script>"""


class OtherPort(BrowserTest):
    """Cookies ignore ports, so the browser hands those of one port of a host to a listener on any other."""

    def heard_next_door(self, page, change):
        """What a program on another port gets of a browser that is logged in."""
        html = HOSTILE.replace("VICTIM", f"http://127.0.0.1:{page.port}").replace("CHANGE", change)
        neighbour = Neighbour(html)
        self.addCleanup(neighbour.close)
        self.browser.switch_to.new_window("tab")
        self.browser.get(neighbour.address)
        heard = neighbour.wait("/done")
        self.assertIn("/told", [one["path"] for one in heard])
        return heard

    def check_worthless(self, page, heard, path, change):
        """Nothing that was heard, however it is presented, opens or changes anything."""
        cookies = "; ".join(value for one in heard for name, value in one["headers"] if name.lower() == "cookie")
        self.assertEqual(page.ask("GET", path, Cookie=cookies)[0], 401, "the cookies that the other port was sent open the page")
        for piece in pieces(heard) | {""}:
            for headers in ({"Authorization": f"Bearer {piece}"}, {"Cookie": f"tacit_{page.port}={piece}"}):
                self.assertEqual(page.ask("GET", path, **headers)[0], 401, headers)
                self.assertIn(page.ask("POST", change, **headers)[0], (401, 403), headers)

    def test_a_listener_on_another_port_cannot_drive_the_dashboard(self):
        self.study(title="Who falls ill")
        coordinator = self.coordinator("--dashboard", "0")
        self.browser.get(coordinator.wait_line(LINK).group(1))
        self.wait_text("recruiting")
        page = Page(coordinator)
        heard = self.heard_next_door(page, "/v1/studies/trial/pause")
        self.check_worthless(page, heard, "/v1/studies", "/v1/studies/trial/pause")
        self.assertEqual(self.status()["state"], "recruiting")

    def test_a_listener_on_another_port_cannot_withdraw_or_consent(self):
        self.study(title="Who falls ill")
        self.coordinator()
        self.join(0)
        process = self.start("page", home=self.home(0))
        self.browser.get(process.wait_line(LINK).group(1))
        self.wait_text("consent given")
        page, change = Page(process), "/v1/party/studies/trial/withdraw"
        heard = self.heard_next_door(page, change)
        self.check_worthless(page, heard, "/v1/party/studies", change)
        self.browser.switch_to.window(self.browser.window_handles[0])
        self.browser.refresh()  # the session outlives a reload of its own tab
        self.wait_text("consent given")


if __name__ == "__main__":
    if MISSING:
        print("skipped, no browser to test with: " + ", ".join(MISSING) + " missing (script/setup --full installs them)")
        sys.exit(77)  # meson's word for it
    unittest.main(verbosity=2)
