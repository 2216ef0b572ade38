#!/usr/bin/env python3
"""Tokens of programs at the coordinator's interface: what each may do, and what a stolen one may not.

    TACIT=build/src/cli/tacit tests/service/test_tokens.py
"""
import json
import os
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import SCHEMA, DeployedTest
from pages import Page, documented

EXACT = ("--allow-entrusted", "--allow-exact")


def definition(name="second", **changes):
    lines = {"name": name, "title": "A second study", "method": "estimate", "parties": "{expected: 3, minimum: 3}", "minimum_rows": 20,
             "schema": "|\n" + "".join(f"  {line}\n" for line in SCHEMA.splitlines()), **changes}
    return "".join(f"{key}: {value}\n" for key, value in lines.items())


class TokenTest(DeployedTest):
    def setUp(self):
        super().setUp()
        self.study(method="estimate", set="{optimiser: newton}", epsilon=None, **{"lambda": 0})
        self.page = Page(self.coordinator("--dashboard", "0"))

    def made(self, *words):
        return json.loads(self.succeed("study", "token", self.folder, *words, "--json").stdout)

    def token(self, *words):
        self.page.token = self.made(*words)["token"]
        return self.page.token

    def ask(self, method, path, body=None, expect=200, **headers):
        """The document, or the sentence of a refusal."""
        status, _, answer = self.page.ask(method, path, body, **headers)
        self.assertEqual(status, expect, (method, path, answer))
        if status != 200:
            return json.loads(answer)["error"]
        return json.loads(answer)


class Managing(TokenTest):
    def test_a_study_from_its_definition_to_the_archive(self):
        self.token("--scope", "manage", "--for", "Ana")
        text = definition(set="{optimiser: newton}", **{"lambda": 0})
        checked = self.ask("POST", "/v1/definitions", {"definition": text})
        self.assertEqual((checked["study"], checked["parties"], checked["price"]["epsilon"]), ("second", 3, "inf"))
        self.assertEqual(self.page.ask("GET", "/v1/studies/second")[0], 404)  # nothing was added
        added = self.ask("POST", "/v1/studies", {"definition": text, "draft": True})
        self.assertEqual((added["study"], added["state"], added["remarks"]), ("second", "draft", []))
        self.assertIn("takes no new parties", self.ask("POST", "/v1/studies/second/invite", {"for": "Graz"}, 409))
        self.assertEqual(self.ask("POST", "/v1/studies/second/open")["state"], "recruiting")
        changed = self.ask("POST", "/v1/studies/second/amend", {"definition": definition(title="Better", set="{optimiser: newton}", **{"lambda": 0})})
        self.assertEqual((changed["version"], changed["state"]), (2, "recruiting"))
        invited = [self.ask("POST", "/v1/studies/second/invite", {"for": name})["invitations"][0] for name in ("Vienna", "Graz", "Linz")]
        self.assertIn("has an invitation", self.ask("POST", "/v1/studies/second/invite", {"for": "graz"}, 409))
        self.assertEqual(self.ask("POST", "/v1/studies/second/pause")["state"], "paused")
        self.assertEqual(self.ask("POST", "/v1/studies/second/resume")["state"], "recruiting")
        parties = [self.join(party, *EXACT, invitation=line) for party, line in enumerate(invited)]
        for process in parties:
            self.assertEqual(process.finish(), 0, process.text())
        number, state = self.page.event()
        while [one["state"] for one in state["studies"] if one["name"] == "second"] != ["done"]:
            number, state = self.page.event(number)
        self.assertEqual(len(self.ask("GET", "/v1/studies/second/table")["coefficients"]), 3)
        card = self.page.ask("GET", "/v1/studies/second/card")[2].decode()
        self.assertIn("Vienna", card)
        self.assertIn(b"<html", self.page.ask("GET", "/v1/studies/second/card.html")[2])
        self.assertIn('name: "second"', self.page.ask("GET", "/v1/studies/second/definition")[2].decode())
        archive = self.path / "second.audit"
        archive.write_bytes(self.page.ask("GET", "/v1/studies/second/audit")[2])
        self.assertIn("all sound", self.succeed("export-audit", "--verify", archive).stdout)
        self.assertIn("evaluates nothing", self.ask("GET", "/v1/studies/second/evaluation", expect=409))
        self.assertIn("already done", self.ask("POST", "/v1/studies/second/close", expect=409))
        self.assertEqual(self.ask("POST", "/v1/studies/trial/close")["state"], "closed")

    def test_what_is_wrong_with_a_definition_is_said_as_the_command_says_it(self):
        self.token("--scope", "manage")
        file = self.path / "wrong.yaml"
        for text in (definition(method="nonsense"), definition(minimum_rows="many"), definition(parties="{expected: 1}"), "name: x\n", ":"):
            file.write_text(text)
            told = self.tacit("study", "new", self.folder, file)
            for path in ("/v1/definitions", "/v1/studies"):
                status, _, answer = self.page.ask("POST", path, {"definition": text})
                self.assertIn(status, (403, 409, 422), answer)
                sentence = re.sub(r"^the definition(:\d+)?: ", "", json.loads(answer)["error"])
                self.assertIn(sentence.split("(")[0].strip(), told.stderr)
        self.assertIn("needs the study's definition", self.ask("POST", "/v1/studies", {}, 422))
        self.assertIn("not a JSON object", self.ask("POST", "/v1/studies", [1], 422))
        self.assertIn("may not name a file", self.ask("POST", "/v1/studies", {"definition": definition(schema="/etc/passwd")}, 422))
        self.ask("POST", "/v1/studies", {"definition": definition()})
        self.assertIn("second", self.ask("POST", "/v1/studies", {"definition": definition()}, 409))  # the same again

    def test_a_long_definition_fits_and_a_longer_one_is_refused(self):
        self.token("--scope", "manage")
        self.ask("POST", "/v1/definitions", {"definition": definition(), "note": "x" * 100000})
        try:
            status = self.page.ask("POST", "/v1/definitions", {"definition": "x" * (17 << 20)})[0]
        except OSError:
            status = 413  # it may hang up before all was sent
        self.assertEqual(status, 413)
        status = self.page.ask("POST", "/v1/studies/trial/pause", {"note": "x" * 5000})[0]
        self.assertEqual(status, 413)


class Stolen(TokenTest):
    """An attacker with a token that was lost."""

    def test_a_token_that_reads_changes_nothing(self):
        self.token()
        before = self.status()
        for method, path in documented("dashboard"):
            place = path.replace("{study}", "trial")
            if method == "GET":
                continue
            if path == "/v1/session" and method == "POST":
                continue  # needs no token, and a token opens no session
            sentence = self.ask(method, place, {"definition": definition()}, 403)
            self.assertRegex(sentence, "may only read|is no session")
        self.assertEqual(self.status(), before)
        self.assertEqual(len(self.ask("GET", "/v1/studies")["studies"]), 1)
        self.assertEqual(self.ask("GET", "/v1/session"), {"service": "coordinator", "scope": "read", "study": None})
        self.assertIn("comes from another site", self.ask("GET", "/v1/studies", expect=403, Origin="http://evil.example"))

    def test_a_token_of_one_study_opens_no_other(self):
        self.token("--scope", "manage")
        self.ask("POST", "/v1/studies", {"definition": definition()})
        self.token("trial", "--scope", "manage")
        for path in ("/v1/studies", "/v1/studies/second", "/v1/studies/second/definition", "/v1/studies/second/audit"):
            self.assertIn("for study 'trial' and nothing else", self.ask("GET", path, expect=403))
        for path in ("/v1/studies", "/v1/definitions", "/v1/studies/second/close", "/v1/studies/second/invite"):
            self.assertIn("for study 'trial' and nothing else", self.ask("POST", path, {"definition": definition("third")}, 403))
        self.assertEqual(self.ask("GET", "/v1/studies/trial")["name"], "trial")
        _, state = self.page.event()
        self.assertEqual([one["name"] for one in state["studies"]], ["trial"])
        self.assertEqual(self.ask("POST", "/v1/studies/trial/pause")["state"], "paused")

    def test_an_expired_or_revoked_token_opens_nothing_however_often_it_is_sent(self):
        self.token("--expires", "0", "--scope", "manage")
        for path in ("/v1/studies", "/v1/session", "/v1/events"):
            self.assertIn("expired at", self.ask("GET", path, expect=401))
        self.assertIn("expired at", self.ask("POST", "/v1/studies/trial/close", expect=401))
        made = self.made("--scope", "manage")
        self.page.token = made["token"]
        self.assertEqual(self.ask("POST", "/v1/studies/trial/pause")["state"], "paused")
        self.succeed("study", "token", self.folder, "--revoke", made["id"])
        for _ in range(3):  # the very request that was good
            self.assertIn("revoked", self.ask("POST", "/v1/studies/trial/pause", expect=401))
        self.assertEqual(self.tacit("study", "token", self.folder, "--revoke", made["id"]).returncode, 2)
        log = self.log()
        self.assertIn(f"POST /v1/studies/{{study}}/pause, study trial by token {made['id']}", log)
        self.assertIn("a program was refused at the dashboard's port: this token was revoked", log)
        self.assertNotIn(made["token"].rsplit(".", 1)[1], log)

    def test_a_token_with_one_digit_wrong_is_none_and_says_nothing_of_the_right_one(self):
        token = self.token("--scope", "manage")
        sentences = set()
        for at in (0, 6, 10, 22, 23, 40, len(token) - 1):
            self.page.token = token[:at] + ("1" if token[at] != "1" else "2") + token[at + 1:]
            sentences.add(self.ask("GET", "/v1/studies", expect=401))
        for wrong in (token[:-1], token + "0", token.upper(), "tacit.", "tacit." + "0" * 16 + "." + "0" * 64, token[:23] + "0" * 64):
            self.page.token = wrong
            sentences.add(self.ask("GET", "/v1/studies", expect=401))
        self.assertLessEqual(sentences, {"this token is not one of this coordinator's",
                                         "log in first, and send the token as 'Authorization: Bearer TOKEN'"})

    def test_the_folder_keeps_no_token_and_lists_do_not_tell_one(self):
        made = self.made("trial", "--scope", "manage", "--for", "Ana, notebook")
        secret = made["token"].rsplit(".", 1)[1]
        self.assertRegex(made["token"], r"^tacit\.[0-9a-f]{16}\.[0-9a-f]{64}$")
        for file in self.folder.rglob("*"):
            if file.is_file():
                self.assertNotIn(secret.encode(), file.read_bytes(), file)
        listed = self.succeed("study", "token", self.folder, "--list")
        self.assertNotIn(secret, listed.stdout)
        (one,) = json.loads(self.succeed("study", "token", self.folder, "--list", "--json").stdout)["tokens"]
        self.assertEqual((one["id"], one["scope"], one["study"], one["for"], one["state"]),
                         (made["id"], "manage", "trial", "Ana, notebook", "good"))
        self.assertEqual(self.tacit("study", "token", self.folder, "nowhere").returncode, 1)

    def test_a_party_has_no_use_for_a_token_at_its_own_page(self):
        token = self.token("--scope", "manage")
        page = Page(self.start("page", home=self.home(0)))
        page.token = token
        self.assertEqual(page.ask("GET", "/v1/party/ledger")[0], 401)


if __name__ == "__main__":
    unittest.main(verbosity=2)
