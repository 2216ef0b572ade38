#!/usr/bin/env python3
"""The pages on loopback: what they tell, and whom they let in.

    TACIT=build/src/cli/tacit tests/service/test_dashboard.py
"""
import json
import os
import re
import signal
import socket
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, DeployedTest
from pages import OPENAPI, Page, documented

EXACT = ("--allow-entrusted", "--allow-exact")


class PageTest(DeployedTest):
    def dashboard(self, *words):
        self.process = self.coordinator("--dashboard", "0", *words)
        return Page(self.process)

    def logged_in(self):
        page = self.dashboard()
        self.assertEqual(page.log_in(), 200)
        return page

    def party_page(self, party):
        page = Page(self.start("page", home=self.home(party)))
        self.assertEqual(page.log_in(), 200)
        return page

    def check_paths(self, page, tag, study):
        """Served and documented are the same, and each answers."""
        served = {(one["method"], one["path"]): one["summary"] for one in page.get("/v1")["paths"]}
        self.assertEqual(served, documented(tag))
        for method, path in sorted(served, key=lambda one: one == ("DELETE", "/v1/session")):
            status, _, body = page.ask(method, path.replace("{study}", study), {"link": "0"} if path == "/v1/session" else None)
            last = path.rsplit("/", 1)[1]
            expected = 401 if (method, path) == ("POST", "/v1/session") else \
                409 if last in ("open", "pause", "resume", "close", "invite", "evaluation", "unlock", "rules", "shown", "answers", "accept", "decline", "enrol", "joining", "join", "limit", "questionnaires") or \
                (method, path) == ("POST", "/v1/party/catalogue") else \
                403 if last == "{name}" else \
                422 if method == "POST" and last in ("definitions", "schemas", "studies", "amend") else 200  # it has ended; nothing was sent
            self.assertEqual(status, expected, (method, path, body))
        self.assertEqual(page.ask("GET", "/v1/session")[0], 401)  # logged out by the last


class Dashboard(PageTest):
    def finish_study(self):
        self.study(method="estimate", set="{optimiser: newton}", epsilon=None, **{"lambda": 0})
        page = self.logged_in()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        return page

    def test_a_study_from_the_first_party_to_the_result(self):
        page = self.finish_study()
        number, state = page.event()
        while state["studies"][0]["state"] != "done":
            number, state = page.event(number)
        study = page.get("/v1/studies/trial")
        self.assertEqual(study, state["studies"][0])
        self.assertEqual(study["parties"], {"expected": 3, "minimum": 3, "joined": 3, "invited": 0, "outdated": 0})
        told = page.get("/v1/studies/trial/rounds")
        self.assertEqual([one["round"] for one in told["rounds"]], list(range(study["rounds"])))
        self.assertEqual({one["parties"] for one in told["rounds"]}, {3})
        changes = [one["change"] for one in told["rounds"] if one["change"] is not None]
        self.assertGreater(len(changes), 1)
        self.assertLess(changes[-1], changes[0])  # it converges
        result = page.get("/v1/studies/trial/result")
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual((result["ratio"], result["report"], study["progress"]), ("odds ratio", None, None))
        self.assertEqual([one["name"] for one in result["estimates"]["coefficients"]],
                         [one["name"] for one in summary["coefficients"]])
        status, headers, body = page.ask("GET", "/v1/studies/trial/model")
        self.assertEqual((status, headers["Content-Disposition"]), (200, 'attachment; filename="trial.model.json"'))
        self.assertEqual(body, (self.folder / "trial.model.json").read_bytes())
        self.check_paths(page, "dashboard", "trial")

    def test_what_is_told_while_it_recruits_and_runs(self):
        self.study()
        page = self.logged_in()
        number, state = page.event()
        self.assertEqual(state["studies"][0]["state"], "recruiting")
        self.join(0)
        while (parties := state["studies"][0]["parties"]).get("seen") != 1:
            number, state = page.event(number)
        self.assertEqual((parties["joined"], parties["silent"]), (1, 0))
        self.assertEqual(page.ask("GET", "/v1/studies/trial/result")[0], 404)
        self.assertEqual(page.ask("GET", "/v1/studies/other")[0], 404)
        told = page.get("/v1/studies/trial/explanation")
        plain = json.loads(self.succeed("explain", "avg", "--set", "noise=party", "--epsilon", "2", "--parties", "3", "--rows",
                                        "20", "--features", "3", "--lambda", "0.05", "--json").stdout)
        for key in ("leaves", "seen_by", "guarantee", "theorem", "caveats", "charged"):
            self.assertEqual(told[key], plain[key])
        # Nothing but the list of parties names one.
        names = re.findall(r"(\S+) joined study", self.log())
        self.assertEqual(len(names), 1)
        for path in ("/v1/studies", "/v1/studies/trial", "/v1/studies/trial/rounds"):
            self.assertNotIn(names[0], json.dumps(page.get(path)))
        self.invite("--for", "St. Anna, Vienna")
        first, second = page.get("/v1/studies/trial/parties")["parties"]
        self.assertEqual((first["party"], first["called"], first["state"], first["awaited"]), (names[0], None, "joined", None))
        self.assertLess(first["seen_seconds"], 2 * PATIENCE)
        self.assertEqual((second["party"], second["called"], second["state"], second["seen_seconds"]), (None, "St. Anna, Vienna", "invited", None))
        self.assertEqual(page.ask("GET", "/v1/studies/other/parties")[0], 404)

    def test_what_people_wrote_is_shown_and_a_study_is_opened_and_paused(self):
        (self.path / "consent.txt").write_text("Consent\n")
        self.succeed("study", "new", self.folder, self.definition(
            description="Why we ask.", approval="Board 7", consent="consent.txt", schedule="{until: 2999-01-01}"), "--draft")
        page = self.logged_in()
        study = page.get("/v1/studies/trial")
        self.assertEqual((study["state"], study["description"], study["approval"], study["schedule"], study["target"]),
                         ("draft", "Why we ask.\n", "Board 7", {"from": None, "until": "2999-01-01T00:00:00Z"}, None))
        self.assertRegex(study["consent_document"], r"^[0-9a-f]{64}$")
        self.assertEqual(page.ask("POST", "/v1/studies/trial/open", Authorization=None)[0], 401)
        for word, state in (("open", "recruiting"), ("pause", "paused"), ("resume", "recruiting")):
            status, _, body = page.ask("POST", "/v1/studies/trial/" + word)
            self.assertEqual((status, json.loads(body)["state"]), (200, state), word)
            self.assertEqual(page.ask("POST", "/v1/studies/trial/" + word)[0], 409)
            self.assertEqual(self.status()["state"], state)
        self.assertEqual(page.ask("POST", "/v1/studies/other/pause")[0], 404)

    def test_the_curve_is_that_of_labelled_rows_of_the_coordinator(self):
        self.study()
        test = self.rows(9, 60)
        page = self.dashboard("--test", test)
        page.log_in()
        self.assertEqual(page.ask("GET", "/v1/studies/trial/curve")[0], 404)  # no model yet
        self.check_done({party: self.join(party) for party in range(3)})
        curve = page.get("/v1/studies/trial/curve")
        figures = json.loads(self.succeed("evaluate", self.folder / "trial.model.json", test, "--json").stdout)
        self.assertEqual((curve["rows"], curve["auc"], [curve["low"], curve["high"]]),
                         (60, figures["auc"], figures["auc_interval"]))
        points = curve["points"]
        self.assertEqual((points[0], points[-1]), ([0, 0], [1, 1]))
        self.assertEqual(points, sorted(points))
        area = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(points, points[1:]))
        self.assertAlmostEqual(area, curve["auc"], 12)

    def test_a_target_is_followed_look_by_look(self):
        self.study(method="estimate", set=None, epsilon=None, stop="{width: {column: age, at_most: 1e-3}, looks: 2}", **{"lambda": 0})
        page = self.logged_in()
        target = page.get("/v1/studies/trial")["target"]
        self.assertEqual((target["kind"], target["column"], target["look"], target["looks"], target["found"]),
                         ("width", "age", 1, 2, []))
        for process in [self.join(party, *EXACT) for party in range(3)]:
            process.finish()
        study = page.get("/v1/studies/trial")
        self.assertEqual((study["state"], study["parties"]["outdated"]), ("recruiting", 3))
        (found,) = study["target"]["found"]
        self.assertEqual((found["look"], found["parties"], found["rows"], found["met"]), (1, 3, 120, False))
        self.assertGreater(found["value"], 1)

    def curve(self, noise, *allowed):
        self.study(method="dpgd", set="{noise: %s, rounds: 5}" % noise, delta="1e-5", **{"lambda": 0.05})
        page = self.logged_in()
        for process in [self.join(party, *allowed) for party in range(3)]:
            self.assertEqual(process.finish(), 0, process.text())
        return page.get("/v1/studies/trial/rounds")

    def test_of_entrusted_sums_only_what_is_published_is_told(self):
        told = self.curve("coordinator", "--allow-entrusted")
        self.assertGreaterEqual(len(told["rounds"]), 5)
        self.assertEqual({one["change"] for one in told["rounds"]}, {None})
        self.assertGreater(len([one for one in told["published"] if one["change"] is not None]), 1)

    def test_of_sums_with_the_parties_noise_the_change_is_told(self):
        told = self.curve("party")
        self.assertGreater(len([one for one in told["rounds"] if one["change"] is not None]), 1)

    def test_the_program_carries_its_documents_and_asks_no_other_host(self):
        self.study()
        page = self.dashboard()
        self.assertEqual(page.ask("GET", "/v1/openapi.yaml")[2], OPENAPI.read_bytes())
        status, headers, body = page.ask("GET", "/")
        self.assertEqual(status, 200)
        policy = headers["Content-Security-Policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotIn("unsafe", policy)
        files = re.findall(rb'(?:src|href)="(/[^"]*)"', body)
        self.assertGreaterEqual(len(files), 5)
        for name in files:
            status, headers, content = page.ask("GET", name.decode())
            self.assertEqual((status, headers["X-Content-Type-Options"]), (200, "nosniff"), name)
            self.assertIsNone(re.search(rb"(fetch|import|src|href)\W{1,3}https?://", content), name)
        self.assertIsNone(re.search(rb"https?://|<script>|style=| on\w+=", body))


class Guarded(PageTest):
    def setUp(self):
        super().setUp()
        self.study()

    def test_nothing_without_a_session(self):
        page = self.dashboard()
        for method, path in documented("dashboard").keys() - {("GET", "/v1"), ("GET", "/v1/openapi.yaml"), ("POST", "/v1/session")}:
            self.assertEqual(page.ask(method, path.replace("{study}", "trial"))[0], 401, path)
        for wrong in ("0" * 64, "", "0" * 63, page.link):
            for header in (f"Bearer {wrong}", f"bearer {wrong}", f"Basic {wrong}", wrong):
                self.assertEqual(page.ask("GET", "/v1/studies", Authorization=header)[0], 401, header)

    def test_no_cookie_is_set_and_none_opens_anything(self):
        page = self.dashboard()
        status, headers, body = page.ask("POST", "/v1/session", {"link": page.link})
        self.assertEqual(status, 200)
        self.assertIsNone(headers["Set-Cookie"])
        token = json.loads(body)["token"]
        for name in (f"tacit_{page.port}", "token", "tacit.token", "Authorization"):
            for value in (token, f"Bearer {token}"):
                self.assertEqual(page.ask("GET", "/v1/session", Cookie=f"{name}={value}")[0], 401)
        self.assertEqual(page.ask("GET", f"/v1/studies?token={token}")[0], 401)  # nor an address
        for wrong in (token[:-1] + ("1" if token[-1] == "0" else "0"), token[:-1], token + "0", token[1:] + token[:1], ""):
            page.token = wrong  # all of it counts
            self.assertEqual(page.ask("GET", "/v1/studies")[0], 401, wrong)
        page.token = token
        for path in ("/", "/v1", "/v1/session", "/v1/studies", "/v1/events"):
            status, headers, body = page.ask("GET", path)
            self.assertEqual((status, headers["Set-Cookie"]), (200, None))
            self.assertNotIn(token.encode(), body)  # it is told once

    def test_a_log_in_says_how_long_it_lasts_and_ends_when_it_is_told_to(self):
        page = self.logged_in()
        left = page.get("/v1/session")["expires_in"]
        self.assertLessEqual(left, 12 * 3600)
        self.assertGreater(left, 11 * 3600)
        self.assertEqual(page.ask("DELETE", "/v1/session")[0], 200)
        self.assertEqual(page.ask("GET", "/v1/studies")[0], 401)

    def test_a_link_opens_once_and_is_not_in_the_log(self):
        page = self.dashboard()
        self.assertEqual(page.log_in(), 200)
        self.assertEqual(page.log_in(), 401)
        self.assertIn("dashboard at http://127.0.0.1:", self.log())
        self.assertNotIn(page.link, self.log())

    def test_the_credential_opens_later_and_only_its_hash_is_kept(self):
        page = self.dashboard()
        credential = self.process.wait_line(r"credential, shown this once: (\S+)").group(1)
        kept = (self.folder / "page.credential")
        self.assertTrue(kept.read_text().startswith("$argon2id$"))
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        self.assertNotIn(credential, self.log())
        self.process.kill()
        page = self.dashboard()
        self.assertEqual(page.log_in(credential=credential), 200)
        self.assertEqual(page.ask("GET", "/v1/studies")[0], 200)
        self.assertNotIn("shown this once", self.process.text())

    def test_guesses_run_out(self):
        page = self.dashboard()
        answers = [page.log_in(credential="guess") for _ in range(6)]
        while 429 not in answers and len(answers) < 40:  # a slow machine refills the budget meanwhile
            answers.append(page.log_in(credential="guess"))
        self.assertEqual(set(answers), {401, 429})
        self.assertEqual(page.log_in(), 200)  # the link still opens

    def test_whatever_needs_the_token_needs_the_pages_own_origin(self):
        page = self.logged_in()
        own = f"http://127.0.0.1:{page.port}"
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": f"http://127.0.0.1:{page.port + 1}"},
                        {"Origin": f"http://localhost:{page.port}"}, {"Sec_Fetch_Site": "cross-site"}, {"Sec_Fetch_Site": "same-site"}):
            for method, path in (("DELETE", "/v1/session"), ("GET", "/v1/studies"), ("GET", "/v1/events")):
                self.assertEqual(page.ask(method, path, **headers)[0], 403, headers)
        for kind in (None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"):
            self.assertEqual(page.ask("POST", "/v1/session", {"link": page.link}, Content_Type=kind)[0], 415, kind)
        self.assertEqual(page.ask("POST", "/v1/session", {"link": page.link}, Origin="http://evil.example")[0], 403)
        self.assertEqual(page.ask("DELETE", "/v1/session", Origin=own, Sec_Fetch_Site="same-origin")[0], 200)

    def test_another_host_name_is_refused(self):
        page = self.logged_in()
        for host in ("evil.example", f"evil.example:{page.port}", "127.0.0.1", f"127.0.0.1:{page.port}.evil.example",
                     f"localhost:{page.port}", f"[::1]:{page.port}"):
            for path in ("/", "/v1/studies"):
                self.assertEqual(page.ask("GET", path, Host=host)[0], 421, host)
        self.assertEqual(page.ask("GET", "/v1/studies")[0], 200)

    def test_odd_requests_are_answered_or_dropped(self):
        page = self.logged_in()
        self.assertEqual(page.ask("PUT", "/v1/studies")[0], 405)
        self.assertEqual(page.ask("GET", "/v1/nothing")[0], 404)
        self.assertEqual(page.ask("GET", "/../etc/passwd")[0], 404)
        self.assertEqual(page.ask("GET", "/v1/studies/" + 200 * "a")[0], 404)
        self.assertEqual(page.ask("GET", "/v1/studies/..%2f..%2fetc")[0], 404)
        self.assertEqual(page.ask("POST", "/v1/session", ["link"])[0], 400)
        self.assertEqual(page.ask("POST", "/v1/session", {"link": 5000 * "a"})[0], 413)
        with socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE) as slow:
            slow.sendall(b"GET / HTTP/1.1\r\n")  # and no more
            self.assertEqual(slow.recv(1), b"")  # dropped
        self.assertEqual(page.ask("GET", "/v1/studies")[0], 200)

    def test_a_taken_port_is_told(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.refuse(1, "coordinator", self.folder, "--dashboard", taken.getsockname()[1], says=["dashboard"])


class Stopped(PageTest):
    def check_stop(self, process, page):
        """Somebody listens; the program is asked to stop, does so, and lets the listener go."""
        number, _ = page.event()
        with socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE) as listener:
            listener.sendall(f"GET /v1/events HTTP/1.1\r\nHost: 127.0.0.1:{page.port}\r\nAuthorization: Bearer {page.token}\r\n"
                             f"Last-Event-ID: {number}\r\n\r\n".encode())
            self.assertEqual(page.ask("GET", "/v1/session")[0], 200)
            code = process.kill(signal.SIGTERM)
            self.assertIn(listener.recv(12), (b"HTTP/1.1 503", b""))
        self.assertEqual(code, 0, process.text())
        self.assertNotIn("Sanitizer", process.text())

    def test_a_dashboard_stops_with_its_coordinator(self):
        self.study()
        page = self.logged_in()
        self.check_stop(self.process, page)

    def test_a_party_page_stops(self):
        self.limit(0)
        process = self.start("page", home=self.home(0))
        page = Page(process)
        self.assertEqual(page.log_in(), 200)
        self.check_stop(process, page)


class PartyPage(PageTest):
    def test_the_owner_sees_what_left_and_withdraws(self):
        self.study()
        self.coordinator()
        self.check_done({party: self.join(party) for party in range(3)})
        page = self.party_page(0)
        (study,) = page.get("/v1/party/studies")["studies"]
        self.assertEqual((study["name"], study["consent"], study["has_model"]), ("trial", "given", True))
        self.assertEqual(study["explanation"]["method"], "avg")
        (source,) = page.get("/v1/party/ledger")["sources"]
        charges = [entry for entry in source["entries"] if entry["entry"] == "charge"]
        (account,) = [one for one in source["accounts"] if one["unit"] == "record"]
        self.assertEqual((account["delta"], account["limit"]), (0.01, 10))
        self.assertEqual([(one["price"]["epsilon"], one["spent"]["record"]) for one in charges], [(2, account["spent"])])
        number, before = page.event()
        self.assertEqual(page.ask("POST", f"/v1/party/studies/{study['id']}/withdraw", Authorization=None)[0], 401)
        self.assertEqual(page.ask("POST", f"/v1/party/studies/{study['id']}/withdraw")[0], 200)
        self.assertGreater(page.event(number)[1]["entries"], before["entries"])
        self.assertEqual(page.get("/v1/party/studies")["studies"][0]["consent"], "withdrawn")
        self.assertEqual(page.ask("POST", "/v1/party/studies/trial/consent")[0], 200)
        self.assertEqual(page.get("/v1/party/studies")["studies"][0]["consent"], "given")
        self.succeed("ledger", "verify", home=self.home(0))
        self.check_paths(page, "party", "trial")

    def test_a_copy_of_a_source_is_named_on_the_page(self):
        rows = self.rows(0)
        copy = self.path / "copy.csv"
        copy.write_text(rows.read_text())
        self.limit(0)
        self.limit(1, home=self.home(0))
        page = self.party_page(0)
        self.assertEqual([source["same_people"] for source in page.get("/v1/party/ledger")["sources"]], [[], []])
        self.succeed("ledger", "limit", "--source", copy, "--epsilon", 1, home=self.home(0))
        known = {source["source"]: source["same_people"] for source in page.get("/v1/party/ledger")["sources"]}
        (same,) = known[str(copy)]
        self.assertEqual(same["source"], str(rows))
        self.assertIn("holds the same rows", same["sentence"])
        self.assertIn("tacit ledger link", same["remedy"])
        self.assertEqual((len(known[str(rows)]), len(known[str(self.rows(1))])), (1, 0))

    def test_an_amended_study_is_not_consented_to_unseen(self):
        self.study()
        self.coordinator()
        party = self.join(0)
        self.succeed("study", "amend", self.folder, self.definition(epsilon=1))
        self.assertEqual(party.finish(), 3, party.text())
        page = self.party_page(0)
        (study,) = page.get("/v1/party/studies")["studies"]
        self.assertTrue(study["amended"])
        status, _, body = page.ask("POST", f"/v1/party/studies/{study['id']}/consent")
        self.assertEqual(status, 403)
        self.assertIn(b"tacit consent trial", body)
        self.assertEqual((study["explanation"]["charged"]["epsilon"], study["next"]["explanation"]["charged"]["epsilon"]), (2, 1))
        for wrong in ({"version": "00" * 32}, {"version": 1}, {"version": "ab" * 100}, {}, [1]):
            self.assertEqual(page.ask("POST", f"/v1/party/studies/{study['id']}/consent", wrong)[0], 409, wrong)
        read = study["next"]["hash"]
        self.assertEqual(page.ask("POST", f"/v1/party/studies/{study['id']}/consent", {"version": read}, Authorization=None)[0], 401)
        self.assertFalse(self.charges(0))
        status, _, body = page.ask("POST", f"/v1/party/studies/{study['id']}/consent", {"version": read})
        self.assertEqual((status, json.loads(body)["consent"]), (200, "given"), body)
        self.assertEqual(page.ask("POST", f"/v1/party/studies/{study['id']}/consent", {"version": "00" * 32})[0], 409)
        (study,) = page.get("/v1/party/studies")["studies"]
        self.assertEqual((study["amended"], study["consent"], study["next"]), (False, "given", None))
        self.assertIn("+", study["id"])  # the version has an account of its own
        status, _, body = page.ask("POST", f"/v1/party/studies/{study['id']}/withdraw")
        self.assertEqual((status, json.loads(body)), (200, {"study": study["id"], "consent": "withdrawn", "told": True}))

    def test_a_home_without_studies_is_an_empty_page(self):
        page = self.party_page(7)
        self.assertEqual(page.get("/v1/party/studies"), {"studies": []})
        self.assertEqual(page.get("/v1/party/ledger"), {"sources": []})
        self.assertEqual(page.ask("POST", "/v1/party/studies/trial/withdraw")[0], 404)


if __name__ == "__main__":
    unittest.main(verbosity=2)
