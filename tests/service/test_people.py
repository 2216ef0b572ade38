#!/usr/bin/env python3
"""People with a store of their own: a study asks about it where it is, if their rules or they themselves allow it; the page opens it, shows what is due and keeps answers.

    TACIT=build/src/cli/tacit tests/service/test_people.py
"""
import datetime
import json
import os
import random
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, TACIT, DeployedTest, Running, environment, told
from pages import Page

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PASSPHRASE = "three quiet rivers"
MAPPING = """import: daily
format: csv
time: {column: day}
per: day
values:
  - {column: age, name: age, take: mean}
  - {column: dose, name: dose, take: mean}
  - {column: sick, name: sick, take: max}
"""
SCHEMA = """label: {name: sick, classes: ["0", "1"]}
columns:
  - {name: age, kind: number, low: 0, high: 1}
  - {name: dose, kind: number, low: 0, high: 1}
"""
CANARY = "0.123456789"  # a value of a person that nobody else may have


class PeopleTest(DeployedTest):
    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text(SCHEMA)
        (self.path / "daily.import.yaml").write_text(MAPPING)
        secret = self.path / "passphrase"
        secret.touch(0o600)
        secret.write_text(PASSPHRASE + "\n")
        self.secret = {"TACIT_STORE_PASSPHRASE_FILE": str(secret)}

    def tacit(self, *words, home=None):
        return subprocess.run([TACIT, *told(words, self.path)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env={**environment(home), **self.secret}, cwd=self.path, timeout=PATIENCE)

    def start(self, *words, home=None):
        process = Running(words, home, self.path, self.secret)
        self.addCleanup(process.clean)
        return process

    def source(self, person):
        return f"store:{self.home(person)}/personal.store?daily"

    def month(self, person, days=28):
        """What a device exports."""
        draw = random.Random(person)
        lines = ["day,age,dose,sick", f"2026-02-01,{CANARY},0.5,1"]
        for day in range(2, days + 1):
            age, dose = draw.random(), draw.random()
            lines.append(f"2026-02-{day:02},{age:.6f},{dose:.6f},{int(age > dose)}")
        (self.path / f"export{person}.csv").write_text("\n".join(lines) + "\n")
        return f"export{person}.csv"

    def person(self, person, days=28):
        """A home with a store, and a month of measurements in it."""
        self.succeed("store", "new", home=self.home(person))
        self.succeed("store", "import", self.month(person, days), "--mapping", "daily.import.yaml", home=self.home(person))

    def words(self, person, *more):
        return ["join", self.invite(), "--data", self.source(person), "--schema", self.path / "schema.yaml", "--yes", *more]


class Reuse(PeopleTest):
    def rule(self, person, reuse, *words):
        self.succeed("store", "rule", reuse, *words, home=self.home(person))

    def test_a_study_gets_what_is_in_stores_if_rules_or_persons_allow_it_and_no_row_leaves(self):
        for person in range(3):
            self.person(person)
            self.succeed("ledger", "limit", "--source", self.source(person), "--epsilon", 10, "--delta", "0.01", home=self.home(person))
        self.study(minimum_rows=20)
        self.coordinator()
        self.refuse(3, *self.words(0), home=self.home(0), says=["asks for 'daily', which is in your store", "--allow-reuse"])
        self.rule(0, "refuse", "--who", "trial")
        self.refuse(3, *self.words(0, "--allow-reuse"), home=self.home(0), says=["your rules refuse 'daily' to study 'trial'"])
        self.rule(0, "allow", "--who", "trial", "--source", "daily")
        parties = {0: self.start(*self.words(0), home=self.home(0)), 1: self.start(*self.words(1, "--allow-reuse"), home=self.home(1))}
        self.rule(2, "allow", "--source", "daily")
        parties[2] = self.start(*self.words(2), home=self.home(2))
        self.check_done(parties)
        page = Page(self.start("page", home=self.home(1)))
        page.log_in()
        self.assertEqual([(offer["study"], offer["you"]) for offer in page.get("/v1/party/catalogue")["offers"]], [("trial", "consented")])
        # One budget for the store, whatever was asked of it; and the passphrase is written down nowhere.
        shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(0)).stdout)
        self.assertEqual([source["source"] for source in shown["sources"]], [f"store:{self.home(0)}/personal.store"])
        for root, words in [(self.folder, (CANARY, "daily")), *((self.home(person), (CANARY, PASSPHRASE)) for person in range(3))]:
            for path in root.rglob("*"):
                for word in words if path.is_file() else ():
                    self.assertNotIn(word.encode(), path.read_bytes(), path)

    def test_days_bring_sources_together_and_the_last_known_value_counts(self):
        self.person(0, days=3)
        home = self.home(0)
        (self.path / "steps.csv").write_text("start,steps\n2026-02-02T10:00,5\n2026-02-02T11:00,6\n2026-02-09,9\n")
        self.succeed("store", "import", "steps.csv", "--mapping", EXAMPLES / "steps.import.yaml", home=home)
        self.succeed("data", "convert", f"store:{home}/personal.store?daily,steps", "--csv", "--out", "linked.csv", home=home)
        lines = [line.split(",") for line in (self.path / "linked.csv").read_text().splitlines()]
        self.assertEqual(lines[0], ["day", "age", "dose", "sick", "steps", "walks"])
        self.assertEqual([[line[0], *line[4:]] for line in lines[1:]], [["2026-02-01", "", ""], ["2026-02-02", "11", "2"], ["2026-02-03", "11", "2"]])
        self.refuse(1, "data", "info", f"store:{home}/personal.store?daily,sleep", home=home, says=["no 'sleep'; there is daily, steps"])

    def test_another_passphrase_takes_the_place_of_the_first(self):
        home = self.home(0)
        self.succeed("store", "new", home=home)
        other = self.path / "other"
        other.touch(0o600)
        other.write_text("another passphrase\n")
        self.succeed("store", "passphrase", "--new-passphrase-file", other, home=home)
        self.refuse(3, "store", "show", home=home, says=["wrong passphrase"])
        self.succeed("store", "show", "--passphrase-file", other, home=home)
        self.refuse(2, "store", "new", home=home, says=["there already"])
        other.chmod(0o644)
        self.refuse(3, "store", "show", "--passphrase-file", other, home=home, says=["chmod 600"])


class MyPage(PeopleTest):
    def setUp(self):
        super().setUp()
        self.succeed("instrument", "sign", EXAMPLES / "wellbeing.instrument.yaml", "--key", "key", "--out", "signed.yaml")
        self.person(0, days=3)
        self.succeed("store", "take", "signed.yaml", home=self.home(0))
        self.page = Page(self.start("page", home=self.home(0)))
        self.assertEqual(self.page.ask("GET", "/v1/party/store")[0], 401)
        self.page.log_in()

    def post(self, path, body, status=200):
        got, _, text = self.page.ask("POST", path, body)
        self.assertEqual(got, status, text)
        return json.loads(text)

    def test_the_store_is_opened_by_its_passphrase_answered_and_locked_again(self):
        ask = "/v1/party/questionnaires/wellbeing"
        locked = self.page.get("/v1/party/store")
        self.assertEqual((locked["exists"], locked["open"], locked["sources"]), (True, False, []))
        self.assertIn("wrong passphrase", self.post("/v1/party/store/unlock", {"passphrase": "not this one"}, 403)["error"])
        self.assertIn("locked", self.post(ask + "/answers", {"answers": {}}, 403)["error"])
        self.post("/v1/party/store/unlock", {"passphrase": PASSPHRASE})
        sources = {source["name"]: source for source in self.page.get("/v1/party/store")["sources"]}
        self.assertEqual((sources["daily"]["rows"], sources["daily"]["first"], sources["daily"]["origins"][0]["from"]), (3, "2026-02-01", "export0.csv"))
        self.assertTrue(sources["wellbeing"]["prompt"]["due"])
        form = self.page.get(ask)
        self.assertEqual((form["signed"], form["languages"], form["title"]["de"]), (True, ["en", "de"], "Die letzten zwei Wochen"))
        self.assertEqual([item["name"] for item in form["items"] if not item["shown"]], ["coped", "days_lost", "since"])
        self.assertIn("coped", self.post(ask + "/shown", {"answers": {"flat": "2"}})["shown"])
        self.assertNotIn("coped", self.post(ask + "/shown", {"answers": {"flat": "1"}})["shown"])
        self.assertIn("from 0 to 3", self.post(ask + "/answers", {"answers": {"flat": "9"}}, 409)["error"])
        answers = {item["name"]: "1" for item in form["items"][:9]}
        self.assertEqual(self.post(ask + "/answers", {"answers": answers})["scores"], {"burden": "10"})
        after = {source["name"]: source for source in self.page.get("/v1/party/store")["sources"]}["wellbeing"]
        self.assertEqual((after["rows"], after["prompt"]["due"]), (1, False))
        self.post("/v1/party/store/rules", {"who": "*", "source": "*", "reuse": "refuse", "purpose": "no more"})
        self.post("/v1/party/store/rules", {"who": "*", "source": "*", "reuse": "perhaps"}, 409)
        self.assertEqual([rule["reuse"] for rule in self.page.get("/v1/party/store")["rules"]], ["refuse"])
        self.post("/v1/party/store/lock", {})
        self.assertEqual(self.page.ask("GET", ask)[0], 403)

    def test_a_questionnaire_is_due_again_after_its_fortnight_and_not_before(self):
        self.post("/v1/party/store/unlock", {"passphrase": PASSPHRASE})
        items = [item["name"] for item in self.page.get("/v1/party/questionnaires/wellbeing")["items"][:9]]
        today = datetime.datetime.now(datetime.timezone.utc).date()
        for before, due in ((20, True), (16, True), (12, False)):  # two days on either side: a day may begin while the test runs, or have begun elsewhere
            day = today - datetime.timedelta(days=before)
            self.succeed("store", "answer", "wellbeing", "--day", day.isoformat(), *(f"{name}=1" for name in items), home=self.home(0))
            prompt = {source["name"]: source for source in self.page.get("/v1/party/store")["sources"]}["wellbeing"]["prompt"]
            self.assertEqual(prompt["due"], due, before)
        self.assertEqual(prompt["next"], (day + datetime.timedelta(days=14)).isoformat())


class Instruments(PeopleTest):
    def test_a_signed_questionnaire_that_was_changed_is_refused(self):
        self.succeed("instrument", "sign", EXAMPLES / "wellbeing.instrument.yaml", "--key", "key", "--out", "signed.yaml")
        shown = json.loads(self.succeed("instrument", "check", "signed.yaml", "--json").stdout)
        self.assertRegex(shown["signed_by"], "^[0-9a-f]{64}$")
        text = (self.path / "signed.yaml").read_text()
        (self.path / "changed.yaml").write_text(text.replace("sad.", "glad.", 1))
        self.refuse(3, "instrument", "check", "changed.yaml", says=["was changed after it was signed"])
        self.succeed("instrument", "show", "signed.yaml", "--language", "de")
        (self.path / "made.yaml").write_text(self.succeed("instrument", "show", "signed.yaml", "--schema", "burden").stdout)
        self.succeed("store", "new", home=self.home(0))
        self.succeed("store", "take", "signed.yaml", home=self.home(0))
        self.succeed("store", "answer", "wellbeing", *(f"{name}=1" for name in ("flat", "joyless", "weary", "eating", "harsh", "slowed", "confident")),
                     home=self.home(0))
        checked = self.succeed("data", "check", f"store:{self.home(0)}/personal.store?wellbeing", "--schema", "made.yaml", home=self.home(0))
        self.assertIn("1 row: 0 outside bounds", checked.stdout)


if __name__ == "__main__":
    unittest.main()
