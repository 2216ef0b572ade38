#!/usr/bin/env python3
"""The story of section 1.2 of Wang's dissertation, from end to end: a group makes a study in the browser, has it approved and publishes it; people find it, answer its questionnaire at home, opt in
and out; it looks, recruits again, stops at its power, and later people validate what was found; it is archived. A second group derives its study from the archive, adds an arm and asks the earlier
participants again; most let it use their old answers, and are paid by receipts. Every byte that reaches the coordinator is kept in plain and searched, like every file, for what people answered.

    TACIT=build/src/cli/tacit TACIT_PEOPLE=20 TACIT_LIGHT_STORE=build/tests/service/light_store tests/service/test_story.py

TACIT_PEOPLE is how many people there are: each has a home, a store, and processes of their own. TACIT_LIGHT_STORE makes stores whose passphrases take no tenth of a second and 64 MiB to try. Skipped where Chromium, its driver or Selenium are missing (script/setup --full).
"""
import concurrent.futures
import contextlib
import copy
import json
import os
import random
import re
import socket
import sqlite3
import ssl
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_browser
from deployed import PATIENCE, Relay, tls
from test_browser import LINK
from test_canary import traces
from test_create_page import PagesTest
from test_people import PASSPHRASE

PEOPLE = int(os.environ.get("TACIT_PEOPLE", "20"))
LIGHT_STORE = os.environ.get("TACIT_LIGHT_STORE")
AT_ONCE = 6  # processes of people that are begun at a time
EXACT = ("--allow-exact", "--allow-entrusted")
TITLE = "Does coffee tire people?"
WORD, DIGITS = "canary-in-a-coal-mine", "718293645"  # in every answer of everybody
DAYS = ("2026-02-01", "2026-02-15")

INSTRUMENT = """instrument: sleep
version: 1
licence: CC0-1.0
languages: [en]
title: The last two weeks
prompt: every 14 days
items:
  - {name: coffee, kind: scale, from: 0, to: 9, ask: Cups of coffee a day?, required: yes}
  - {name: hours, kind: number, low: 0, high: 24, ask: Hours of sleep?, required: yes}
  - {name: tired, kind: number, low: 0, high: 10, ask: How tired are you?, required: yes}
  - {name: note, kind: text, ask: Anything else?}
"""
SCHEMA = """label: {name: tired, kind: number, low: 0, high: 10}
columns:
  - {name: coffee, kind: number, low: 0, high: 9}
  - {name: hours, kind: number, low: 0, high: 24}
"""
ARM = "  - {name: arm, kind: category, levels: [usual, decaf]}\n"


class Numbers:
    """Who does what, of so many people. The effect is between what would be found with the rows of the first look and with those of the second: these follow from the seeds, since sums are exact."""

    def __init__(self, people):
        few = people < 50
        self.seed = 22000 if few else 0
        self.first = 6 if few else 2 * people // 5  # in the first look
        self.more = max(3, people // 10)  # more of them in the second
        self.leave = 3 if few else 5  # after the first look; a sum without one or two people would show them
        self.unfit = 1 if few else 3  # whose own device says that they cannot take part
        self.effect = 1.0 if few else 0.13
        after = self.first + self.more + self.leave
        self.lookers = range(0, self.first)
        self.leavers = range(0, self.leave)
        self.second = range(self.first, after)
        self.unfit_ones = range(after, after + self.unfit)
        self.by_page = self.first - 1  # who answers on the own page the second time, and stays to the end
        self.validators = range(after + self.unfit, people)


class Wiretap(Relay):
    """Between all people and their coordinator, with the keys of everybody: what each connection carries is kept in plain. Whoever shows a certificate is connected on with it and its key."""

    def __init__(self, folder, homes):
        self.lines, self.homes, self.known = [], homes, {}
        super().__init__(folder, None, None)

    def serve(self, context, plain):
        line = copy.copy(self)
        line.sent, line.got = bytearray(), bytearray()
        self.lines.append(line)
        try:
            with context.wrap_socket(plain, server_side=True) as party:
                ours = tls(self.folder / "ca.crt", *self.own(party.getpeercert(binary_form=True)))
                with ours.wrap_socket(socket.create_connection(("127.0.0.1", self.port)), server_hostname="127.0.0.1") as upstream:
                    line.pump(party, upstream)
        except OSError as problem:
            self.failed.append(problem)

    def own(self, shown):
        """The file of a certificate, and of its key; nothing of whoever showed none."""
        if shown is None:
            return ()
        pem = "".join(ssl.DER_cert_to_PEM_cert(shown).split())
        if pem in self.known:
            return self.known[pem]
        for path in self.homes.glob("home*/studies/*/party.crt"):
            if pem in "".join(path.read_text().split()):
                self.known[pem] = path, path.with_name("party.key")
                return self.known[pem]
        raise OSError("nobody here has the certificate that was shown")


class Traces:
    """Many of them, found in one pass over what is searched: a place that has none of their first eight bytes has none of them."""

    def __init__(self, traces):
        self.traces = traces
        self.first = {int.from_bytes(trace[:8], sys.byteorder) for trace in traces if len(trace) >= 8}

    def find(self, content):
        """What is there; None for nothing."""
        short = [trace for trace in self.traces if len(trace) < 8]
        windows = (memoryview(content)[at:at + (len(content) - at) // 8 * 8].cast("Q") for at in range(min(8, len(content))))
        likely = any(not self.first.isdisjoint(window) for window in windows)
        return next((self.traces[trace] for trace in (self.traces if likely else short) if trace in content), None)


@unittest.skipIf(test_browser.MISSING, f"without {', '.join(test_browser.MISSING)} (script/setup --full)")
class Story(PagesTest):
    def setUp(self):
        super().setUp()
        self.numbers = Numbers(PEOPLE)
        (self.path / "sleep.instrument.yaml").write_text(INSTRUMENT)
        (self.path / "schema.yaml").write_text(SCHEMA)
        self.succeed("instrument", "sign", "sleep.instrument.yaml", "--key", "key", "--out", "signed.yaml")

    # ---- people ----

    def together(self, act, people, *more):
        """What each of them does, some at a time; {person: what came of it}."""
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            begun = {person: pool.submit(act, person, *more) for person in people}
            return {person: one.result() for person, one in begun.items()}

    def source(self, person):
        return f"store:{self.home(person)}/personal.store?sleep"

    def answers(self, person):
        """Two weeks apart."""
        draw = random.Random(self.numbers.seed + person)
        habit = draw.randint(0, 8)
        for _ in DAYS:
            coffee = min(9, habit + draw.randint(0, 2))
            hours = f"{draw.randint(1, 2) if person in self.numbers.unfit_ones else draw.randint(5, 9)}.{DIGITS}"
            yield coffee, hours, min(10, max(0, 3 + 0.4 * coffee + draw.gauss(0, 1.5)))

    def live(self, person):
        """A home, a store, the questionnaire twice; the least that leaves is about two rows and two others."""
        home = self.home(person)
        if LIGHT_STORE:
            subprocess.run([LIGHT_STORE, home, self.secret["TACIT_STORE_PASSPHRASE_FILE"]], check=True, timeout=PATIENCE)
        else:
            self.succeed("store", "new", home=home)
        self.succeed("store", "take", "signed.yaml", home=home)
        for day, (coffee, hours, tired) in zip(DAYS, self.answers(person)):
            if (person, day) == (self.numbers.by_page, DAYS[1]):
                continue
            self.succeed("store", "answer", "sleep", "--day", day, f"coffee={coffee}", f"hours={hours}", f"tired={tired:.6f}", f"note={WORD}-{person}", home=home)
        self.succeed("rules", "set", "--minimum-rows", 2, home=home)
        self.succeed("ledger", "limit", "--source", self.source(person), "--epsilon", 10, "--delta", "0.01", home=home)

    def answer_on_the_page(self, person):
        """The second time, at home in a browser: the fortnight is over, and the page says that the questionnaire is due again."""
        _, (coffee, hours, tired) = self.answers(person)
        process = self.start("page", home=self.home(person))
        self.browser.get(process.wait_line(LINK).group(1))
        self.fill(passphrase=PASSPHRASE)
        self.press("button.unlock")
        self.wait_text("One questionnaire is due.")
        self.press("button.answer[data-name=sleep]")
        self.wait_text("Your answers stay on this device.")
        self.wait(lambda: self.one(f"input[name=coffee][value='{coffee}']").send_keys(" ") or True, "no cups of coffee")
        self.fill(item_hours=hours, item_tired=f"{tired:.6f}", item_note=f"{WORD}-{person}")
        self.press("button.keep")
        self.wait_text("Your answers are kept")
        self.press("button.back")
        self.wait_text("Nothing is due.")
        self.wait_text("sleep: 2 rows")
        process.kill()

    def ask_to_join(self, person, study="coffee"):
        state, invitation = self.enrol(person, study=study)
        self.assertEqual(state, "accepted")
        return invitation

    def words(self, invitation, person, *more):
        return ["join", invitation, "--data", self.source(person), "--schema", self.path / "schema.yaml", "--yes", "--allow-reuse", *EXACT, *more]

    def opt_in(self, person, invitation, *more):
        process = self.start(*self.words(invitation, person, *more), home=self.home(person))
        process.wait_line("^joined; waiting")
        return process

    def come(self, person):
        """Find it in the catalogue, and opt in; four of five may be asked again."""
        return self.opt_in(person, self.ask_to_join(person), *(["--may-ask-again"] if person % 5 else []))

    def all_end(self, processes, code=0):
        for person, process in processes.items():
            self.assertEqual(process.finish(), code, process.text())

    # ---- the story ----

    def test_two_groups_and_their_participants(self):
        began = time.monotonic()
        for part in (self.open_laboratory, self.make_in_the_browser, self.live_at_home, self.turn_away, self.first_look, self.second_look, self.validate, self.archive, self.derive,
                     self.take_part_again, self.redeem, self.nothing_left_home):
            part()
            print(f"{time.monotonic() - began:7.1f} s: {part.__name__.replace('_', ' ')}", file=sys.stderr, flush=True)

    def live_at_home(self):
        self.together(self.live, range(PEOPLE))
        self.answer_on_the_page(self.numbers.by_page)
        self.wait_open("coffee")

    def open_laboratory(self):
        self.study("pilot", schema="pilot.yaml", **self.pilot())
        self.wiretap = Wiretap(self.folder, self.path)
        self.addCleanup(self.wiretap.listener.close)
        self.laboratory = self.start("coordinator", self.folder, "--dashboard", "0", "--catalogue", "127.0.0.1", "--url", self.wiretap.address)
        self.laboratory.wait_line("serving at")  # as it is told to people: the tap
        with contextlib.closing(sqlite3.connect(self.folder / "coordinator.db")) as registry:
            self.wiretap.port = int(registry.execute("SELECT value FROM setting WHERE key = 'port'").fetchone()[0])
        self.address = self.laboratory.wait_line(r"the public catalogue is at (https://\S+)").group(1)

    def pilot(self):
        """A study by invitation that is there already: a laboratory has more than one."""
        (self.path / "pilot.yaml").write_text("label: {name: sick, classes: ['no', 'yes']}\ncolumns:\n  - {name: age, kind: number, low: 0, high: 1}\n")
        return {}

    def make_in_the_browser(self):
        """From the form to a draft; the board approves it, and it is opened."""
        numbers = self.numbers
        self.browser.get(self.laboratory.wait_line(LINK).group(1))
        self.press("#new-study")
        self.fill(schema=SCHEMA)
        self.press("#read-schema")
        self.wait_text("Outcome: tired")
        self.fill(study_name="coffee", study_title=TITLE, question="We ask twice, two weeks apart.", method="estimate", eligible="hours > 3",
                  expected_parties=str(numbers.first), minimum=str(numbers.more), minimum_rows="2", consent_text="You may leave at any time.", stop_column="coffee", stop_effect=str(numbers.effect), stop_looks="3",
                  stop_more=str(numbers.more))
        self.one("#enrolment option[value=open]").click()
        for box in ("#stop-validate", "#ask-again"):
            self.one(box).send_keys(" ")
        self.press("#check")
        self.wait_text("The definition is right. Nothing is saved yet.")
        self.press("#save")
        self.wait_text("Open to parties")
        self.press("#manage summary")
        self.press("#manage a")
        self.wait_text("Amend coffee")
        text = self.one("#definition").get_attribute("value")
        self.assertNotIn("approval", text)
        self.browser.execute_script("document.getElementById('definition').value = arguments[0]", text.replace("title:", "approval: \"The board of Graz, 17/2026\"\nenrolments_per_minute: 10000\ntitle:", 1))
        self.press("#amend")
        self.wait_text("The board of Graz, 17/2026")
        self.press("button.open")
        self.wait_text("recruiting")

    def turn_away(self):
        """Some are not eligible, and nobody is told."""
        for person in self.numbers.unfit_ones:
            self.refuse(3, *self.words(self.ask_to_join(person), person), home=self.home(person), says=["you cannot take part; nobody was told"])

    def first_look(self):
        processes = self.together(self.come, self.numbers.lookers)
        self.laboratory.wait_line(f"study coffee recruits again, for {self.numbers.first + self.numbers.more} parties: look 1 of at most 3")
        self.all_end(processes, 3)

    def consent_again(self, person):
        self.succeed("consent", "coffee", "--yes", home=self.home(person))
        return self.start("party", "coffee", home=self.home(person))

    def second_look(self):
        numbers = self.numbers
        for person in numbers.leavers:
            self.succeed("withdraw", "coffee", home=self.home(person))
        self.later = self.together(self.ask_to_join, numbers.validators)  # they have asked, and come too late
        processes = self.together(self.consent_again, [person for person in numbers.lookers if person not in numbers.leavers])
        processes.update(self.together(self.come, numbers.second))
        self.all_end(processes)
        self.laboratory.wait_line("study coffee has met its target: later parties evaluate its model, in study coffee-validation")
        self.succeed("withdraw", "coffee", home=self.home(self.numbers.second[-1]))  # what has left stays where it is, and nothing more leaves
        self.took_part = list(processes)
        self.assertRegex(self.status("coffee")["reason"], "look 2 of at most 3: .* at least 0.8 is asked for")

    def validate(self):
        with contextlib.closing(sqlite3.connect(self.folder / "coordinator.db")) as registry:
            definition = registry.execute("SELECT definition FROM study WHERE name = 'coffee-validation'").fetchone()[0]
        expected = int(re.search(r"expected: (\d+)", definition).group(1))
        self.assertLessEqual(expected, len(self.later))
        people = list(self.later)[:expected]
        processes = self.together(lambda person: self.opt_in(person, self.later[person]), people)
        self.all_end(processes)
        self.assertEqual((self.status("coffee")["state"], self.status("coffee-validation")["state"]), ("done", "done"))

    def archive(self):
        """What was found, with the questionnaire, for everybody to read."""
        made = json.loads(self.succeed("study", "archive", self.folder, "coffee", "--instrument", "signed.yaml", "--json").stdout)
        self.archived = made["id"]
        document = json.loads(self.wait_archived(self.archived))
        self.assertEqual((document["approval"], document["state"], len(document["instruments"])), ("The board of Graz, 17/2026", "done", 1))
        self.assertIn("r_squared", json.dumps(document["evaluation"]))
        self.assertTrue(document["card"] and document["table"])

    def derive(self):
        """The second group takes the first one's definition from the archive, and adds an arm and a compensation."""
        draft = json.loads(self.succeed("study", "derive", self.archived, "--from", self.address, "--name", "decaf", "--offer-earlier", "--json", home=self.home("-of-group-two")).stdout)["definition"]
        self.again = [person for person in self.took_part if person % 5 and person != self.numbers.second[-1]]
        self.refusing = self.again[-1:]  # who says that old answers are for nobody
        count = len(self.again) - len(self.refusing)
        text = re.sub(r"^(stop|eligible|ask_again|parties|lambda): .*\n", "", draft, flags=re.M)
        text = re.sub(r'^    - {name: "hours".*\n', lambda found: found.group(0) + "  " + ARM, text, flags=re.M).replace("enrolment: open\n", "")
        text += f"parties: {{expected: {count}, minimum: {min(count, self.numbers.more)}}}\narms: {{column: arm}}\ncompensation: 20 EUR\nenrolments_per_minute: 10000\n"
        text += "lambda: 0.1\n"  # arms are drawn: few people may all get the same, and an arm without rows has no coefficient without a penalty
        (self.path / "decaf.study.yaml").write_text(text)
        self.succeed("study", "new", self.folder, "decaf.study.yaml", "--force")
        self.wait_offer(self.again[0])

    def join_again(self, person):
        invitation = self.path / f"decaf-{person}.txt"
        self.succeed("enrol", "decaf", "--out", invitation, home=self.home(person))
        return self.opt_in(person, invitation, *(["--allow-difference"] if PEOPLE < 50 else []))  # of few people, two sums differ by fewer

    def take_part_again(self):
        """With the answers that are in the store already; who did not want to be asked is not, and who refuses brings nothing."""
        (self.path / "schema.yaml").write_text(SCHEMA + ARM)
        unasked = next(person for person in self.took_part if person % 5 == 0)
        self.refuse(3, "enrol", "decaf", "--out", "no.txt", home=self.home(unasked), says=["is not offered to you"])
        for person in self.refusing:
            self.succeed("store", "rule", "refuse", home=self.home(person))
            self.succeed("enrol", "decaf", "--out", f"decaf-{person}.txt", home=self.home(person))
            self.refuse(3, *self.words(self.path / f"decaf-{person}.txt", person), home=self.home(person), says=["your rules refuse 'sleep' to study 'decaf'"])
        self.paid = [person for person in self.again if person not in self.refusing]
        processes = self.together(self.join_again, self.paid)
        self.all_end(processes)
        self.assertEqual(self.status("decaf")["state"], "done")
        self.succeed("arm", "record", self.folder, "decaf", "--out", "arms.json")
        self.assertEqual(len(json.loads((self.path / "arms.json").read_text())["keys"]), len(self.paid))
        arms = self.together(lambda person: json.loads(self.succeed("arm", "show", "decaf", "--json", home=self.home(person)).stdout), self.paid)
        self.assertLessEqual({one["arm"] for one in arms.values()}, {"usual", "decaf"})
        self.succeed("arm", "verify", arms[self.paid[0]]["proof"])

    def redeem(self):
        """One receipt for each, each good once."""
        got = self.together(lambda person: json.loads(self.succeed("receipt", "get", "decaf", "--json", home=self.home(person)).stdout)["receipt"], self.paid)
        self.assertEqual(len(set(got.values())), len(self.paid))
        for person, receipt in got.items():
            path = self.path / f"receipt-{person}.txt"
            path.write_text(receipt + "\n")
            self.succeed("receipt", "redeem", self.folder, path)
            self.refuse(3, "receipt", "redeem", self.folder, path, says=["was redeemed on"])

    # ---- what is where ----

    def places(self):
        """(name, bytes) of all that others have, and of all that homes have outside of the encrypted store."""
        for number, line in enumerate(self.wiretap.lines):
            yield f"what was sent on connection {number}", bytes(line.sent)
            yield f"what was got on connection {number}", bytes(line.got)
        for path in ("/", "/catalogue.json", f"/archive/{self.archived}.json"):
            yield "catalogue " + path, self.ask(path)[2]
        yield "what the coordinator printed", self.laboratory.text().encode()
        for folder in (self.folder, *(self.home(person) for person in range(PEOPLE))):
            for file in folder.rglob("*"):
                if file.is_file():
                    yield str(file.relative_to(self.path)), file.read_bytes()

    def nothing_left_home(self):
        """Everybody's answers as texts, and those of three people in every form that they could take, are nowhere; the search finds what is there."""
        shown = {person: [hours for _, hours, _ in self.answers(person)] for person in (self.took_part[0], self.took_part[-1], next(iter(self.later)))}
        many = {}
        for person, hours in shown.items():
            many.update(traces(tuple(hours), (f"{WORD}-{person}", PASSPHRASE)))
        many.update((word.encode(), f"'{word}'") for word in (WORD, DIGITS, PASSPHRASE))
        search, titled = Traces(many), 0
        for trace in many:  # it would be found wherever it stood
            self.assertIsNotNone(search.find(b"x" * (len(trace) % 11) + trace + b"yz"))
        for place, content in self.places():
            titled += TITLE.encode() in content
            self.assertIsNone(search.find(content), place)
        self.assertGreater(titled, PEOPLE)
        person = self.took_part[0]
        self.succeed("data", "convert", self.source(person), "--csv", "--out", "own.csv", home=self.home(person))
        self.assertIn(DIGITS, (self.path / "own.csv").read_text())
        self.assertGreater(len(self.wiretap.lines), PEOPLE)


if __name__ == "__main__":
    unittest.main()
