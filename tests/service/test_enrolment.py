#!/usr/bin/env python3
"""A public catalogue that anybody may read, people who enrol by its address, rules about who is eligible, and the archive from which the next study is derived and offered
to earlier participants.

    TACIT=build/src/cli/tacit tests/service/test_enrolment.py
"""
import contextlib
import hashlib
import http.client
import http.server
import json
import os
import pathlib
import socket
import sqlite3
import ssl
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, DeployedTest, poll


class EnrolmentTest(DeployedTest):
    def open_catalogue(self):
        process = self.coordinator("--catalogue", "127.0.0.1")
        self.address = process.wait_line(r"the public catalogue is at (https://\S+)").group(1)
        return process

    def ask(self, path="/", method="GET", **headers):
        """Status, headers and body, as a browser sees them that trusts anybody."""
        host = self.address.split("#")[0].removeprefix("https://").rstrip("/")
        connection = http.client.HTTPSConnection(host, context=ssl._create_unverified_context(), timeout=PATIENCE)
        try:
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            reply = connection.getresponse()
            return reply.status, reply.headers, reply.read()
        finally:
            connection.close()

    def enrol(self, party, *more, study="trial"):
        """The state that the coordinator tells, and the invitation's file."""
        done = self.succeed("enrol", self.address, study, "--out", self.path / f"{study}-{party}.txt", "--json", *more, home=self.home(party))
        return json.loads(done.stdout)["state"], self.path / f"{study}-{party}.txt"

    def wait_open(self, study):
        """The coordinator looks twice a second what its catalogue is to show."""
        def listed():
            status, _, body = self.ask("/catalogue.json")
            self.assertIn(status, (200, 429), body)  # 429: too many have asked in this second, ourselves included
            return status == 200 and study in (one["name"] for one in json.loads(body)["studies"])
        poll(listed, f"{study} is not in the catalogue")

    def wait_archived(self, number):
        """The catalogue's document; the coordinator looks twice a second whether there is a new one."""
        def kept():
            status, _, body = self.ask(f"/archive/{number}.json")
            self.assertIn(status, (200, 404, 429), body)
            return body if status == 200 else None
        return poll(kept, "it is not in the catalogue")

    def wait_offer(self, party):
        def offered():
            shown = self.succeed("catalogue", home=self.home(party)).stdout
            return shown if "offered to you" in shown else None
        return poll(offered, "it is not offered")

    def joined(self, party, invitation, *more):
        self.limit(party)
        process = self.start("join", invitation, "--data", self.rows(party), "--schema", self.path / "schema.yaml", "--yes", *more, home=self.home(party))
        process.wait_line("^joined; waiting")
        return process

    def statements(self, party):
        shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(party)).stdout)
        return [(entry["question"], entry["asked_by"]) for source in shown["sources"] for entry in source["entries"] if entry["entry"] == "statement"]


class Open(EnrolmentTest):
    def test_strangers_find_a_study_enrol_and_only_the_yes_of_the_eligible_leaves(self):
        self.study(enrolment="open", eligible="age > 0.5 & dose < 0.9")
        self.study("closed")
        self.open_catalogue()
        status, headers, body = self.ask("/catalogue.json")
        catalogue = json.loads(body)
        self.assertEqual((status, [study["name"] for study in catalogue["studies"]]), (200, ["trial"]))
        self.assertEqual(catalogue["studies"][0]["settings"]["eligible"], "age > 0.5 & dose < 0.9")
        self.assertIn("max-age", headers["Cache-Control"])
        self.assertEqual(self.ask("/catalogue.json", If_None_Match=headers["ETag"])[0], 304)
        status, headers, page = self.ask()
        self.assertEqual(status, 200)
        self.assertIn(b"A trial", page)
        self.assertNotIn(b"closed", page)
        self.assertEqual([self.ask(path)[0] for path in ("/coordinator.db", "/../ca.key", "/v1/studies")], [404] * 3)
        self.assertEqual(self.ask(method="POST")[0], 403)
        shown = self.succeed("catalogue", self.address, home=self.home(0)).stdout
        self.assertIn("trial  A trial\n  state      recruiting; enrolment: open\n", shown)
        # Another coordinator at this address is none.
        wrong = self.address.split("#")[0] + "#" + "0" * 64
        self.refuse(3, "enrol", wrong, "trial", home=self.home(0), says=["is not the coordinator that the address names"])
        self.refuse(2, "enrol", self.address.split("#")[0], "trial", home=self.home(0), says=["not the address of a catalogue"])
        self.refuse(1, "enrol", self.address, "closed", home=self.home(0), says=["no study 'closed' that takes whoever asks; there is trial"])
        # Somebody whose rows do not fit is told so at home, and nobody else is.
        self.rows(9).write_text("age,dose,sick\n" + "0.2,0.5,no\n0.3,0.5,yes\n" * 20)
        state, invitation = self.enrol(9)
        self.limit(9)
        self.refuse(3, "join", invitation, "--data", self.rows(9), "--schema", "schema.yaml", "--yes", home=self.home(9), says=["you cannot take part; nobody was told"])
        self.assertEqual(self.statements(9), [])
        self.assertEqual(self.status()["joined"], 0)
        parties = {}
        for party in range(3):
            state, invitation = self.enrol(party)
            self.assertEqual(state, "accepted")
            self.assertEqual(invitation.stat().st_mode & 0o777, 0o600)
            parties[party] = self.joined(party, invitation)
        self.assertIn("this device looks", parties[0].text())
        self.check_done(parties)
        self.assertEqual([len(self.statements(party)) for party in range(3)], [1] * 3)
        self.assertEqual(self.statements(0)[0][0], "eligible")
        self.assertNotEqual(self.tacit("enrol", self.address, "trial", "--out", self.path / "late.txt", home=self.home(8)).returncode, 0)

    def test_whoever_shows_the_authority_beside_one_of_their_own_is_not_the_coordinator(self):
        self.study(enrolment="open")
        self.open_catalogue()
        self.succeed("study", "new", self.path / "impostor", self.path / "trial.study.yaml", "--force")
        self.start("coordinator", self.path / "impostor").wait_line("serving at")
        shown = (self.folder / "ca.crt").read_bytes() + (self.path / "impostor" / "ca.crt").read_bytes()
        asked = []

        class Impostor(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                asked.append(self.path)
                body = shown if self.path == "/authority.crt" else b'{"address": "https://127.0.0.1:1", "studies": []}'
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *words):
                pass

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.path / "impostor" / "server.crt", self.path / "impostor" / "server.key")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Impostor)
        self.addCleanup(server.server_close)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.shutdown)
        address = f"https://127.0.0.1:{server.server_address[1]}/#{self.address.split('#')[1]}"
        self.assertNotEqual(self.tacit("catalogue", address, home=self.home(0)).returncode, 0)
        self.assertEqual(asked, ["/authority.crt"])

    def test_whoever_consents_to_an_amended_condition_has_told_that_it_holds(self):
        self.study(enrolment="open", eligible="age > 0.5")
        self.open_catalogue()
        process = self.joined(0, self.enrol(0)[1])
        self.assertEqual(len(self.statements(0)), 1)
        self.succeed("study", "amend", self.folder, self.definition(enrolment="open", eligible="age > 0.6"))
        self.assertNotEqual(process.finish(), 0)
        self.succeed("consent", "trial", "--yes", home=self.home(0))
        self.assertEqual(len(self.statements(0)), 2)

    def test_enrolments_are_bounded_and_a_restart_buys_no_more(self):
        self.study(enrolment="open", enrolments_per_minute=2)
        process = self.open_catalogue()
        self.assertEqual([self.enrol(party)[0] for party in range(2)], ["accepted"] * 2)
        self.assertEqual(self.enrol(0)[0], "accepted", "the same application again is no new one")
        with contextlib.closing(sqlite3.connect(self.folder / "coordinator.db")) as registry, registry:
            registry.execute("UPDATE invitation SET expires = 1")
        self.refuse(3, "enrol", self.address, "trial", "--out", self.path / "trial-0.txt", home=self.home(0), says=["the seven days to join have passed"])
        says = ["2 people have asked to join study 'trial' in the last minute", "try again in a minute"]
        self.refuse(3, "enrol", self.address, "trial", "--out", "x.txt", home=self.home(2), says=says)
        process.kill()
        self.open_catalogue()
        self.refuse(3, "enrol", self.address, "trial", "--out", "x.txt", home=self.home(2), says=says)


class Shares(EnrolmentTest):
    """One address cannot use up what a study takes in a minute."""

    def relay(self):
        """Passes bytes on to the coordinator, from the address that `self.source` says at the moment."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def pump(one, other):
            with contextlib.suppress(OSError):
                while piece := one.recv(65536):
                    other.sendall(piece)
            with contextlib.suppress(OSError):
                other.shutdown(socket.SHUT_WR)

        def carry(near):
            with near, socket.create_connection(("127.0.0.1", self.port), source_address=(self.source, 0)) as far:
                back = threading.Thread(target=pump, args=(far, near), daemon=True)
                back.start()
                pump(near, far)
                back.join()

        def accept():
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=carry, args=(listener.accept()[0],), daemon=True).start()
        threading.Thread(target=accept, daemon=True).start()
        return f"https://127.0.0.1:{listener.getsockname()[1]}"

    def test_a_stranger_leaves_others_their_turn(self):
        self.study(enrolment="open", enrolments_per_minute=8)
        self.study("other", enrolment="open", enrolments_per_minute=8)
        process = self.start("coordinator", self.folder, "--catalogue", "127.0.0.1", "--url", self.relay())
        self.address = process.wait_line(r"the public catalogue is at (https://\S+)").group(1)
        with contextlib.closing(sqlite3.connect(self.folder / "coordinator.db")) as registry:
            self.port = int(registry.execute("SELECT value FROM setting WHERE key = 'port'").fetchone()[0])
        self.source = "127.0.0.2"
        self.assertEqual([self.enrol(party)[0] for party in range(5)], ["accepted"] * 5)
        self.refuse(3, "enrol", self.address, "trial", "--out", "x.txt", home=self.home(5),
                    says=["5 people have asked to join study 'trial' from your address in the last minute, and others are to have a turn"])
        self.assertEqual(self.enrol(0)[0], "accepted", "the same application again is no new one")
        self.assertEqual(self.enrol(5, study="other")[0], "accepted", "another study has turns of its own")
        self.source = "127.0.0.3"
        self.assertEqual([self.enrol(party)[0] for party in range(5, 8)], ["accepted"] * 3)
        self.refuse(3, "enrol", self.address, "trial", "--out", "y.txt", home=self.home(8), says=["8 people have asked to join study 'trial' in the last minute"])


class Apply(EnrolmentTest):
    def test_an_application_waits_for_the_researchers_yes(self):
        self.study(enrolment="apply")
        self.open_catalogue()
        state, invitation = self.enrol(0, "--message", "I sleep badly")
        self.assertEqual((state, self.enrol(1)[0]), ("waiting", "waiting"))
        self.limit(0)
        words = ["join", invitation, "--data", self.rows(0), "--schema", "schema.yaml", "--yes", "--no-wait"]
        self.refuse(3, *words, home=self.home(0), says=["have not answered this application yet"])
        asked = json.loads(self.succeed("study", "applicants", self.folder, "trial", "--json").stdout)["applicants"]
        first = next(one["applicant"] for one in asked if one["message"] == "I sleep badly")
        second = next(one["applicant"] for one in asked if one["message"] is None)
        shown = self.succeed("study", "applicants", self.folder, "trial").stdout
        self.assertRegex(shown, rf"{first}  \S+  waiting   I sleep badly\n")
        self.assertRegex(shown, rf"{second}  \S+  waiting")
        self.succeed("study", "accept", self.folder, "trial", first)
        self.succeed("study", "decline", self.folder, "trial", second)
        self.refuse(2, "study", "accept", self.folder, "trial", second, says=["was declined before"])
        self.refuse(1, "study", "accept", self.folder, "trial", "0" * 16, says=["nobody with the number"])
        self.assertEqual((self.enrol(0)[0], self.enrol(1)[0]), ("accepted", "declined"))
        self.succeed(*words, home=self.home(0))
        self.assertEqual(self.status()["joined"], 1)
        # Whoever has the hash, as the coordinator does, cannot take the applicant's place.
        self.assertNotIn(invitation.read_text().encode(), (self.folder / "coordinator.db").read_bytes())


class Archive(EnrolmentTest):
    def test_an_ended_study_is_archived_derived_and_offered_to_those_who_may_be_asked(self):
        self.study(ask_again="yes", approval="The board of Graz")
        self.open_catalogue()
        self.refuse(2, "study", "archive", self.folder, "trial", says=["one that has ended is archived"])
        parties = {party: self.join(party, *(["--may-ask-again"] if party != 2 else [])) for party in range(3)}
        self.check_done(parties)
        instrument = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "wellbeing.instrument.yaml")
        made = json.loads(self.succeed("study", "archive", self.folder, "trial", "--instrument", instrument, "--out", "archive.json", "--json").stdout)
        document = (self.path / "archive.json").read_bytes()
        self.assertEqual(made["id"], hashlib.blake2b(document, digest_size=32).hexdigest())
        archived = json.loads(document)
        self.assertEqual((archived["approval"], archived["state"], len(archived["instruments"])), ("The board of Graz", "done", 1))
        self.assertEqual(archived["model"], json.loads((self.folder / "trial.model.json").read_text()))
        for word in ("card", "definition", "program"):
            self.assertTrue(archived[word], word)
        self.assertEqual(self.wait_archived(made["id"]), document)
        again = json.loads(self.succeed("study", "archive", self.folder, "trial", "--instrument", instrument, "--json").stdout)
        self.assertEqual(again["id"], made["id"], "permanent")
        # The second group derives its study: from the file, from the catalogue; a changed file is another one.
        self.succeed("study", "derive", "archive.json", "--name", "second", "--offer-earlier", "--out", "second.study.yaml")
        by_id = json.loads(self.succeed("study", "derive", made["id"], "--from", self.address, "--name", "second", "--offer-earlier", "--json", home=self.home(8)).stdout)
        self.assertEqual(by_id["definition"], (self.path / "second.study.yaml").read_text())
        self.assertIn(f'derived_from: "{made["id"]}"', by_id["definition"])
        (self.path / "archive.json").write_bytes(document.replace(b"Graz", b"Wien"))
        changed = json.loads(self.succeed("study", "derive", "archive.json", "--name", "second", "--json").stdout)
        self.assertNotEqual(changed["derived_from"], made["id"])
        self.succeed("study", "new", self.folder, self.path / "second.study.yaml", "--force")
        # Whoever wrote a document, a file of this machine is in no draft.
        for hostile in ("consent: /etc/passwd\n", "consent: /etc/passwd\nauxiliary: {points: 3}\n", "auxiliary: /etc/passwd\n"):
            (self.path / "hostile.json").write_text(json.dumps({**archived, "definition": archived["definition"] + hostile}))
            self.assertNotEqual(self.tacit("study", "derive", "hostile.json", "--name", "third", "--out", "third.study.yaml").returncode, 0, hostile)
        # It is offered to exactly those who said that they may be asked.
        self.assertIn("offered to you", self.wait_offer(0))
        self.assertNotIn("offered to you", self.succeed("catalogue", home=self.home(2)).stdout)
        self.refuse(3, "enrol", "second", "--out", "no.txt", home=self.home(2), says=["is not offered to you"])
        self.refuse(3, "enrol", "second", "--out", "no.txt", home=self.home(7), says=["you have joined none yet"])
        for party in (0, 1):
            self.succeed("enrol", "second", "--out", self.path / f"again{party}.txt", home=self.home(party))
            self.succeed("join", self.path / f"again{party}.txt", "--data", self.rows(party), "--schema", "schema.yaml", "--yes", "--no-wait", home=self.home(party))
        self.assertEqual(self.status("second")["joined"], 2)

    def test_a_study_whose_definition_says_so_is_archived_by_itself_with_its_questionnaires(self):
        example = pathlib.Path(__file__).resolve().parents[2] / "examples" / "wellbeing.instrument.yaml"
        self.succeed("instrument", "sign", example, "--key", "key", "--out", "signed.yaml")
        self.study(archive="yes", instruments="[signed.yaml]")
        coordinator = self.open_catalogue()
        process = self.join(0)
        process.wait_line("^joined; waiting")
        self.assertIn("once it has ended, its definition, questionnaires and what was found are published for good", process.text())
        self.check_done({0: process, **{party: self.join(party) for party in (1, 2)}})
        number = coordinator.wait_line("study trial is archived as ([0-9a-f]{64})").group(1)
        body = self.wait_archived(number)
        archived = json.loads(body)
        self.assertEqual((hashlib.blake2b(body, digest_size=32).hexdigest(), archived["state"], archived["parties"]), (number, "done", 3))
        self.assertEqual(archived["instruments"], [(self.path / "signed.yaml").read_text()])
        # A coordinator that is started again publishes nothing twice, and what is derived has the questionnaire too.
        coordinator.kill()
        self.open_catalogue()
        self.assertEqual(len(json.loads(self.ask("/catalogue.json")[2])["archive"]), 1)
        draft = json.loads(self.succeed("study", "derive", number, "--from", self.address, "--name", "next", "--json", home=self.home(9)).stdout)["definition"]
        (self.path / "next.study.yaml").write_text(draft)
        self.succeed("study", "new", self.path / "elsewhere", self.path / "next.study.yaml", "--force")
        self.assertIn("archive: yes\n", draft)
        self.assertIn("instrument: wellbeing", draft)
        # A questionnaire that was changed after it was signed is refused where the study is made.
        (self.path / "changed.yaml").write_text((self.path / "signed.yaml").read_text().replace("version: 1", "version: 7"))
        self.refuse(3, "study", "new", self.path / "elsewhere", self.definition("other", instruments="[changed.yaml]"), "--force", says=["a questionnaire was changed after it was signed"])


class Validation(EnrolmentTest):
    def test_parties_that_come_after_the_target_is_met_only_evaluate_and_the_card_shows_both(self):
        stop = "{power: {column: age, effect: 8, at_least: 0.5}, looks: 3, then: validate}"
        self.study(method="estimate", set=None, epsilon=None, **{"lambda": None}, enrolment="open", stop=stop, sum="masked", archive="yes")
        coordinator = self.open_catalogue()
        early = {party: self.enrol(party)[1] for party in range(6)}  # all six have applied; three are there first
        words = ["--allow-exact", "--allow-entrusted"]
        parties = {party: self.joined(party, early[party], *words) for party in range(3)}
        for party, process in parties.items():
            self.assertEqual(process.finish(), 0, process.text())
        coordinator.wait_line("study trial has met its target: later parties evaluate its model, in study trial-validation")
        self.assertIn("and at least 0.5 is asked for", self.status()["reason"])
        # The invitations that were not used yet are to the validation now, and so is the catalogue.
        later = {party: self.joined(party, early[party], *words) for party in range(3, 6)}
        self.assertIn("whoever helped to make that does not take part", later[3].text())
        self.assertEqual(self.status()["state"], "done")
        self.assertNotIn("is archived", coordinator.text())  # its validation is awaited
        for party, process in later.items():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual((self.status()["state"], self.status("trial-validation")["state"]), ("done", "done"))
        report = json.loads((self.folder / "trial-validation.model.json").read_text())
        number = coordinator.wait_line("study trial is archived as ([0-9a-f]{64})").group(1)
        self.assertIn("auc", json.dumps(json.loads(self.wait_archived(number))["evaluation"]))
        made = json.loads(self.succeed("study", "archive", self.folder, "trial", "--out", "archive.json", "--json").stdout)
        archived = json.loads((self.path / "archive.json").read_text())
        self.assertTrue(report)
        self.assertEqual(made["id"], number)
        named = json.loads(self.succeed("study", "archive", self.folder, "trial", "--evaluation", "trial-validation", "--json").stdout)
        self.assertEqual(named["id"], made["id"])
        self.refuse(2, "study", "archive", self.folder, "trial-validation", "--evaluation", "trial-validation", says=["has not evaluated the model of study 'trial-validation'"])
        self.succeed("study", "archive", self.folder, "trial-validation")
        self.assertIn("auc", json.dumps(archived["evaluation"]))
        self.assertIn("| auc |", archived["card"])
        self.assertIsNotNone(archived["table"])

    def test_what_was_found_with_noise_is_validated_with_noise_at_the_same_price(self):
        stop = "{power: {column: age, effect: 40, at_least: 0.5}, then: validate}"
        self.study(method="dpnewton", set="{purpose: inference}", epsilon=4, delta="1e-5", **{"lambda": None}, dropouts=0, colluders=0, minimum_rows=100, enrolment="open", stop=stop)
        coordinator = self.open_catalogue()
        for party in range(6):
            self.rows(party, rows=3000)
        early = {party: self.enrol(party)[1] for party in range(6)}
        for process in [self.joined(party, early[party]) for party in range(3)]:
            self.assertEqual(process.finish(), 0, process.text())
        coordinator.wait_line("study trial has met its target: later parties evaluate its model, in study trial-validation")
        later = {party: self.joined(party, early[party]) for party in range(3, 6)}
        for process in later.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(self.status("trial-validation")["state"], "done")
        for party in range(6):
            charges = self.charges(party)
            self.assertTrue(charges, party)
            self.assertEqual({charge["kind"] for charge in charges}, {"sealed"})
            self.succeed("ledger", "verify", home=self.home(party))
        self.succeed("study", "archive", self.folder, "trial", "--out", "archive.json")
        archived = json.loads((self.path / "archive.json").read_text())
        self.assertIn("auc", json.dumps(archived["evaluation"]))
        self.assertIn("| auc |", archived["card"])
        validation = json.loads((self.folder / "trial-validation.model.json").read_text())
        self.assertEqual((validation["guarantee"]["charged"]["epsilon"], validation["guarantee"]["parties"]), (4, 3))

    def test_a_validation_has_keys_of_its_own_and_a_long_title_keeps_whole_characters(self):
        stop = "{power: {column: age, effect: 8, at_least: 0.5}, then: validate}"
        self.study(method="estimate", set=None, epsilon=None, **{"lambda": None}, enrolment="open", stop=stop, title="ä" + "-ä" * 60, compensation="10 EUR")
        coordinator = self.open_catalogue()
        parties = {party: self.joined(party, self.enrol(party)[1], "--allow-exact", "--allow-entrusted") for party in range(3)}
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        coordinator.wait_line("trial-validation: recruiting")
        self.wait_open("trial-validation")
        self.assertEqual(self.status()["state"], "done")

    def test_whoever_helped_to_make_a_model_does_not_validate_it(self):
        stop = "{power: {column: age, effect: 8, at_least: 0.5}, then: validate}"
        self.study(method="estimate", set=None, epsilon=None, **{"lambda": None}, enrolment="open", stop=stop, compensation="20 EUR")
        coordinator = self.open_catalogue()
        words = ["--allow-exact", "--allow-entrusted"]
        parties = {party: self.joined(party, self.enrol(party)[1], *words) for party in range(3)}
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        coordinator.wait_line("trial-validation: recruiting")
        self.wait_open("trial-validation")
        _, again = self.enrol(0, study="trial-validation")
        self.refuse(3, "join", again, "--data", self.rows(0), "--schema", "schema.yaml", "--yes", *words, home=self.home(0), says=["you took part in study 'trial'"])


if __name__ == "__main__":
    unittest.main()
