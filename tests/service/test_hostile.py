#!/usr/bin/env python3
"""Processes killed at any moment, and strangers, liars and floods at the coordinator's door.

    TACIT=build/src/cli/tacit tests/service/test_hostile.py
"""
import base64
import contextlib
import hashlib
import http.client
import http.server
import json
import os
import random
import re
import shutil
import socket
import sqlite3
import ssl
import subprocess
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, POLL, PROTOCOL, SCHEMA, DeployedTest, announce, answer_to, fields_of, packed, post, tls


class KilledParty(DeployedTest):
    def test_before_it_answered(self):
        self.study()
        self.coordinator()
        victim = self.join(0)
        victim.kill()
        others = {party: self.join(party) for party in (1, 2)}
        self.check_done({0: self.resume(0), **others})

    def test_right_after_its_answer_was_charged(self):
        self.study()
        coordinator = self.coordinator()
        victim = self.join(0)
        others = {party: self.join(party) for party in (1, 2)}
        victim.wait_line("answering")
        victim.kill()
        again = self.resume(0)
        self.check_done({0: again, **others})
        self.assertNotIn("the round had closed", again.text())
        self.assertNotRegex(coordinator.text(), r"\b409\b")  # as a status, not inside a port number

    def test_with_its_answer_charged_and_lost(self):
        """The coordinator dies with the round open, and the answer with it: the stored bytes go to its successor."""
        self.study(parties="{expected: 3, minimum: 3}")
        coordinator = self.coordinator()
        absent = self.join(0)
        absent.kill()
        other = self.join(2)
        present = self.join(1)
        present.wait_line("answering")
        coordinator.kill()
        present.wait_line("trying again until")
        present.kill()
        self.coordinator()
        self.check_done({0: self.resume(0), 1: self.resume(1), 2: other})

    def test_at_random_moments(self):
        self.study()
        self.coordinator()
        draw = random.Random(1)
        others = {party: self.join(party) for party in (1, 2)}
        self.limit(0)
        invitation = self.invite()
        for _ in range(8):
            # The same words again and again: joining goes on where it was interrupted.
            victim = self.start(*self.join_words(0, invitation), home=self.home(0))
            moment = draw.choice(["^study ", "^noise ", "^joined", "answering", "."])
            if moment == "answering" and all(other.process.poll() is None for other in others.values()):
                moment = "^joined|answering"
            try:
                victim.wait_line(moment)
            except AssertionError:
                break  # it came to its end before that moment
            victim.kill()
        last = self.start(*self.join_words(0, invitation), home=self.home(0))
        if last.finish() != 0:  # the study had ended before, so the invitation is void
            self.assertIn("has ended", last.text())
            last = self.resume(0)
        self.check_done({0: last, **others})
        self.assertEqual(self.status()["joined"], 3)


class KilledCoordinator(DeployedTest):
    def test_while_parties_join(self):
        self.study()
        coordinator = self.coordinator()
        parties = {0: self.join(0), 1: self.join(1)}
        coordinator.kill()
        self.assertTrue((self.folder / "address").exists())
        for process in parties.values():
            process.wait_line("trying again until")
        self.coordinator()
        self.check_done({**parties, 2: self.join(2)})

    def test_in_the_middle_of_the_round(self):
        self.study()
        coordinator = self.coordinator()
        absent = self.join(0)
        absent.kill()
        parties = {1: self.join(1), 2: self.join(2)}
        for process in parties.values():
            process.wait_line("answering")
        coordinator.kill()
        coordinator = self.coordinator()
        coordinator.wait_line("study trial runs with 3 parties")
        for process in parties.values():
            process.wait_line("answering", count=2)
        model = self.check_done({0: self.resume(0), **parties})
        self.assertEqual(model["guarantee"]["parties"], 3)

    def test_when_the_answers_are_in(self):
        for moment in ("^study trial runs", "^study trial is done"):
            with self.subTest(moment=moment):
                shutil.rmtree(self.folder, ignore_errors=True)
                for party in range(3):
                    shutil.rmtree(self.home(party), ignore_errors=True)
                self.study()
                coordinator = self.coordinator()
                parties = {party: self.join(party) for party in range(3)}
                coordinator.wait_line(moment)
                coordinator.kill()
                self.coordinator()
                self.check_done(parties)

    def test_again_and_again(self):
        self.study()
        coordinator = self.coordinator()
        parties = {}
        for party in range(3):
            parties[party] = self.join(party)
            coordinator.kill()
            coordinator = self.coordinator()
        self.check_done(parties)

    def test_a_study_with_a_seat_lost_goes_on(self):
        """Running by the registry, with fewer parties than declared: it must neither hang nor take strangers in."""
        self.study(parties="{expected: 4, minimum: 3}")
        coordinator = self.coordinator()
        gone = self.join(0)
        gone.kill()
        parties = {party: self.join(party) for party in (1, 2, 3)}
        for process in parties.values():
            process.wait_line("answering")
        coordinator.kill()
        with sqlite3.connect(self.folder / "coordinator.db") as database:
            database.execute("UPDATE party SET revoked = 1 WHERE number = 1")
        database.close()
        self.coordinator()
        model = self.check_done(parties)
        self.assertEqual(model["guarantee"]["parties"], 3)
        refused = self.resume(0)
        self.assertEqual(refused.finish(), 1)
        self.assertIn("revoked", refused.lines[-1])


class Stuck(DeployedTest):
    """A file that another process holds for longer than anybody waits: what fails can be done again."""

    def hold(self, file):
        database = sqlite3.connect(file, isolation_level=None)
        database.execute("BEGIN IMMEDIATE")
        self.addCleanup(database.close)
        return database

    def test_a_registry_that_cannot_be_written_stops_the_coordinator_and_not_the_study(self):
        self.study()
        coordinator = self.coordinator()
        self.join(0).kill()
        parties = {party: self.join(party) for party in (1, 2)}
        coordinator.wait_line("study trial runs")
        lock = self.hold(self.folder / "coordinator.db")
        parties[0] = self.resume(0)
        self.assertEqual(coordinator.finish(), 1, coordinator.text())
        self.assertIn("in use by another process", coordinator.lines[-1])
        lock.execute("ROLLBACK")
        self.assertEqual(self.status()["state"], "running")
        self.coordinator()
        self.check_done(parties)

    def test_a_ledger_that_cannot_be_written_stops_the_party_and_refuses_nothing(self):
        self.study()
        coordinator = self.coordinator()
        stuck = self.join(0)
        lock = self.hold(self.home(0) / "ledger.db")
        parties = {party: self.join(party) for party in (1, 2)}
        self.assertEqual(stuck.finish(), 1, stuck.text())
        self.assertIn("in use by another process", stuck.lines[-1])
        lock.execute("ROLLBACK")
        self.assertEqual(self.charges(0), [])
        self.check_done({0: self.resume(0), **parties})
        self.assertNotIn("refused", coordinator.text())


class Greedy(DeployedTest):
    def test_a_coordinator_gets_what_was_consented_to_and_no_more(self):
        """With another secret the same question comes under another answer id, and would cost a second time."""
        self.study(parties="{expected: 2, minimum: 2}", sum="clear")
        coordinator = self.coordinator()
        self.join(0).kill()
        party = self.join(1)  # has epsilon 10 left, and consented to 2
        party.wait_line("answering")
        coordinator.kill()
        with sqlite3.connect(self.folder / "coordinator.db") as database:
            database.execute("UPDATE study SET secret = randomblob(32)")
        database.close()
        self.coordinator()
        self.assertEqual(party.finish(), 3, party.text())
        self.assertIn("for study trial@", party.lines[-1])
        self.assertEqual(len(self.charges(1)), 1)


class Impostor(http.server.BaseHTTPRequestHandler):
    """A coordinator that tells of another study than it was given."""

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        said = [PROTOCOL, b"trial", b"us", self.server.told, self.server.signature]
        body = b"".join(packed(field, value) for field, value in enumerate(said, 1))
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(OSError):  # it has read enough
            self.wfile.write(body)

    def log_message(self, *_):
        pass


class Programs(DeployedTest):
    def signed(self, told):
        """The signature of a coordinator that lies."""
        return subprocess.run(["openssl", "dgst", "-sha256", "-sign", self.folder / "ca.key"], check=True, capture_output=True,
                              input=b"tacit study definition 1\n" + told.encode()).stdout

    def test_a_definition_is_parsed_only_when_it_is_signed_and_never_when_it_is_deep_or_long(self):
        """60,000 nested lists took 42 seconds, without a look at the signature or at SIGTERM."""
        self.study()
        self.coordinator().kill()
        self.limit(0)
        deep = "name: trial\nset: " + "[" * 60000 + "]" * 60000 + "\n"
        self.assertIn("not signed", self.look(deep))
        self.assertIn("nested more than 64 deep", self.look(deep, self.signed(deep), code=1))
        blocks = "name: trial\nset:\n" + "- " * 60000 + "x\n"
        self.assertIn("nested more than 64 deep", self.look(blocks, self.signed(blocks), code=1))
        long = "name: trial\n" + "# \n" * (3 << 18)
        self.assertIn("larger than the allowed", self.look(long, self.signed(long), code=1))

    def look(self, told, signature=b"", code=3):
        """Join at a coordinator that tells this definition."""
        server = http.server.HTTPServer(("127.0.0.1", 0), Impostor)
        server.told, server.signature = told.encode(), signature
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.crt", self.folder / "server.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(lambda: (server.shutdown(), thread.join(), server.server_close()))
        invitation = self.invite("--url", f"https://127.0.0.1:{server.server_address[1]}")
        return self.refuse(code, *self.join_words(0, invitation), home=self.home(0))

    def test_a_study_from_the_network_cannot_make_a_party_run_one(self):
        mark = self.path / "mark"
        self.study(set="{noise: coordinator}")
        coordinator = self.coordinator()
        self.join(1, "--allow-entrusted").kill()
        coordinator.kill()
        self.limit(0)
        # The negative control: without the program the study itself is fine, and only the owner's rules refuse.
        signed = next((self.home(1) / "studies").iterdir())
        told = (signed / "study.yaml").read_text()
        self.assertIn("--allow-entrusted", self.look(told, (signed / "study.sig").read_bytes()))
        self.assertIn("not signed", self.look(told.replace("epsilon: 2", "epsilon: 3"),
                                              (signed / "study.sig").read_bytes()))
        definition = self.definition(schema="|\n  " + SCHEMA.replace("\n", "\n  ")).read_text()
        told = definition.replace("{noise: party}", f"{{noise: party, local: 'exec:touch {mark}'}}")
        self.assertIn("not signed", self.look(told))
        self.assertIn("setting 'local' names a program to run; only a party's owner may", self.look(told, self.signed(told)))
        self.assertFalse(mark.exists())
        self.assertFalse((self.home(0) / "studies").exists())
        self.assertEqual(self.charges(0), [])


class Strangers(DeployedTest):
    """Python in the place of a party, with the keys from its home."""

    def site(self, party):
        return next((self.home(party) / "studies").iterdir())

    def keys(self, party):
        return tls(self.folder / "ca.crt", self.site(party) / "party.crt", self.site(party) / "party.key")

    def question(self, party):
        status, body = post(self.port, "/v1/poll", POLL, self.keys(party))
        self.assertEqual(status, 200)
        return fields_of(fields_of(body)[2])

    def stop_after_joining(self, party):
        self.join(party).kill()

    def test_a_certificate_that_is_foreign_missing_or_revoked_is_refused_and_logged(self):
        ours = self.folder
        self.folder = self.path / "other"
        self.study()
        coordinator = self.coordinator()
        self.stop_after_joining(7)
        coordinator.kill()
        self.folder = ours
        self.study()
        self.coordinator()
        for party in range(3):
            self.stop_after_joining(party)
        foreign = tls(self.folder / "ca.crt", self.site(7) / "party.crt", self.site(7) / "party.key")
        for path in ("/v1/poll", "/v1/answer", "/", "/v1/nothing"):
            self.assertEqual(post(self.port, path, POLL, foreign)[0], 403)
            self.assertEqual(post(self.port, path, POLL, tls(self.folder / "ca.crt"))[0], 403)
        server = tls(self.folder / "ca.crt", self.folder / "server.crt", self.folder / "server.key")
        self.assertEqual(post(self.port, "/v1/poll", POLL, server)[0], 403)
        self.assertEqual(post(self.port, "/v1/poll", POLL, self.keys(0))[0], 200)
        with sqlite3.connect(self.folder / "coordinator.db") as database:
            database.execute("UPDATE party SET revoked = 1 WHERE number = 1")
        database.close()
        status, body = post(self.port, "/v1/poll", POLL, self.keys(0))
        self.assertEqual((status, b"revoked" in body), (403, True))
        refused = [line for line in self.log().splitlines() if " refused POST " in line]
        self.assertEqual(len(refused), 10)
        self.assertIn("revoked", refused[-1])

    def test_what_a_stranger_sends_stays_on_its_line_of_the_log(self):
        self.study()
        self.coordinator()
        nobody = tls(self.folder / "ca.crt")
        for path in ("/v1/poll%0a2026-01-01T00:00:00Z%20party-0%20joined", "/%1b[2J%c2%9b", "/%7f%00x"):
            self.assertEqual(post(self.port, path, b"", nobody)[0], 403)
        log = (self.folder / "coordinator.log").read_bytes()
        self.assertIsNone(re.search(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]", log))
        self.assertEqual(len(re.findall(rb"^\S+ refused POST ", log, re.M)), 3)
        self.assertNotIn(b"\n2026-01-01", log)

    def test_damaged_requests_to_the_open_door(self):
        self.study()
        self.coordinator()
        nobody = tls(self.folder / "ca.crt")
        unknown = packed(1, PROTOCOL) + packed(2, bytes(32))
        for body, expected in ((b"", 400), (b"\xff" * 50, 400), (packed(1, PROTOCOL + 1) + packed(2, bytes(32)), 400),
                               (packed(1, PROTOCOL) + packed(2, bytes(31)), 400), (unknown, 403)):
            for path in ("/v1/look", "/v1/join"):
                self.assertEqual(post(self.port, path, body, nobody)[0], expected, (path, body[:8]))
        for path in ("/v1/look", "/v1/join"):
            self.assertEqual(announce(self.port, path, 70000, nobody), 413, path)
        self.assertEqual(post(self.port, "/v1/look", None, nobody, method="GET")[0], 403)
        self.assertEqual(self.status()["joined"], 0)

    def test_a_request_without_a_usable_key_does_not_use_up_an_invitation(self):
        """The token is in the invitation, the rest is made up."""
        self.study()
        self.coordinator()
        invitation = self.invite()
        nobody = tls(self.folder / "ca.crt")
        token = self.token(invitation)
        status, body = post(self.port, "/v1/look", packed(1, PROTOCOL) + packed(2, token), nobody)
        self.assertEqual(status, 200)
        digest = self.digest(fields_of(body)[4])
        wish = packed(1, PROTOCOL) + packed(2, token) + packed(3, b"no request at all")
        self.assertEqual(post(self.port, "/v1/join", wish + packed(4, bytes(32)), nobody)[0], 403)
        self.assertEqual(post(self.port, "/v1/join", wish + packed(4, digest), nobody)[0], 400)
        self.join(0, invitation=invitation)

    @staticmethod
    def digest(text, key=b""):
        return hashlib.blake2b(text, digest_size=32, key=key).digest()

    def token(self, invitation):
        """Found by its hash, which the coordinator stores."""
        record = base64.urlsafe_b64decode(invitation[len("tacit1-"):] + "=" * (-len(invitation[7:]) % 4))
        database = sqlite3.connect(self.folder / "coordinator.db")
        known = {row[0] for row in database.execute("SELECT token_hash FROM invitation")}
        database.close()
        return next(record[at:at + 32] for at in range(len(record))
                    if self.digest(record[at:at + 32], b"tacit invitation token") in known)

    def test_answers_that_lie_count_for_nothing_and_the_others_go_on(self):
        self.study(sum="clear", set="{noise: coordinator}", epsilon="1e6")
        self.coordinator()
        self.join(0, "--allow-entrusted", epsilon="2e6").kill()
        self.join(1, "--allow-entrusted", epsilon="2e6").kill()
        honest = self.join(2, "--allow-entrusted", epsilon="2e6")
        mine, other = self.question(0), self.question(1)
        self.assertNotEqual(mine[7], other[7])
        length = fields_of(mine[9])[1]
        right = [0] * length

        def send(body, party=0):
            return post(self.port, "/v1/answer", body, self.keys(party))[0]
        self.assertEqual(send(b""), 400)
        self.assertEqual(send(os.urandom(1000)), 400)
        self.assertEqual(send(answer_to(mine, right[:-1])), 400)
        self.assertEqual(send(answer_to(mine, right + [0])), 400)
        self.assertEqual(send(answer_to(mine, [2 ** 62 + 1] + right[1:])), 400)
        self.assertEqual(send(answer_to(mine, [-2 ** 63] + right[1:])), 400)
        self.assertEqual(send(answer_to(mine, right), party=1), 409)  # another party's answer id
        self.assertEqual(send(answer_to(other, right)), 409)
        self.assertEqual(send(answer_to({**mine, 5: 1}, right)), 409)  # a round that is not open
        self.assertEqual(send(answer_to({**mine, 2: b"another"}, right)), 409)
        self.assertEqual(send(answer_to({**mine, 7: bytes(len(mine[7]))}, right)), 409)
        self.assertEqual(announce(self.port, "/v1/answer", 100 << 20, self.keys(0)), 413)
        self.assertEqual(send(answer_to(mine, right)), 200)
        self.assertEqual(send(answer_to(mine, [1] * length)), 200)  # handed in twice, taken once
        self.assertEqual(self.status()["state"], "running")
        self.assertEqual(send(answer_to(other, right), party=1), 200)
        self.assertEqual(honest.finish(), 0, honest.text())
        self.assertEqual(send(answer_to(mine, right)), 409)  # an old round
        self.check_mean()

    def check_mean(self):
        """Two parties said zero: the model is a third of the honest one's."""
        joint = json.loads((self.folder / "trial.model.json").read_text())
        self.assertEqual(joint["guarantee"]["parties"], 3)
        self.succeed("simulate", "--method", "batch", "--train", self.rows(2), "--test", self.rows(2), "--schema",
                     self.path / "schema.yaml", "--parties", "1", "--epsilon", "inf", "--lambda", "0.05", "--out",
                     self.path / "local.json", "--seed", "1")
        local = json.loads((self.path / "local.json").read_text())
        for weight, alone in zip(joint["weights"], local["weights"]):
            self.assertAlmostEqual(weight, alone / 3, delta=1e-4)

    def test_answers_of_other_rounds_and_in_another_order_are_refused(self):
        """The same bytes count once, in their round: not in the next, not in the one before, not from another party."""
        self.study(method="dpgd", sum="clear", set="{noise: party, rounds: 4}", delta="1e-5")
        self.coordinator()
        for party in range(3):
            self.stop_after_joining(party)
        sent = []
        for number in range(4):
            questions = [self.question(party) for party in range(3)]
            self.assertEqual([question.get(5, 0) for question in questions], [number] * 3)
            answers = [answer_to(question, [0] * fields_of(question[9])[1]) for question in questions]
            early = answer_to({**questions[0], 5: number + 1}, [0] * fields_of(questions[0][9])[1])
            for body in (*sent, early, answers[1]):  # all by party 0
                self.assertEqual(post(self.port, "/v1/answer", body, self.keys(0))[0], 409)
            for party in (2, 0, 0, 2, 1):  # in any order, and some twice
                self.assertEqual(post(self.port, "/v1/answer", answers[party], self.keys(party))[0], 200)
            sent += answers
        status, body = post(self.port, "/v1/poll", POLL, self.keys(0))
        self.assertEqual((status, fields_of(fields_of(body)[3])[1]), (200, b"done"))
        for body in sent:
            self.assertEqual(post(self.port, "/v1/answer", body, self.keys(0))[0], 409)

    def test_the_end_is_told_by_a_later_process(self):
        """All have answered, but one was not there to hear the end when the coordinator was killed."""
        self.study(method="dpgd", sum="clear", set="{noise: party, rounds: 1}", delta="1e-5")
        coordinator = self.coordinator("--until-done")
        self.stop_after_joining(0)
        others = [self.join(party) for party in (1, 2)]
        mine = self.question(0)
        answer = answer_to(mine, [0] * fields_of(mine[9])[1])
        self.assertEqual(post(self.port, "/v1/answer", answer, self.keys(0))[0], 200)
        for process in others:
            self.assertEqual(process.finish(), 0, process.text())
        coordinator.kill()
        self.coordinator("--until-done")
        late = self.resume(0)
        self.assertEqual(late.finish(), 0, late.text())
        self.assertTrue(self.model(0).exists())

    def flood(self, stopped, act):
        """Do it again and again until told; how often it was done is counted."""
        def run():
            while not stopped.is_set():
                try:
                    number = act()
                except (OSError, http.client.HTTPException):
                    continue  # turned away, or hung up on
                with self.moved:
                    self.done += number
                    self.moved.notify_all()
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        return thread

    def fuzzed(self, draw, frame):
        """A frame with some bytes changed, cut off, or doubled."""
        frame = bytearray(frame)
        for _ in range(draw.randrange(1, 8)):
            if frame:
                frame[draw.randrange(len(frame))] = draw.randrange(256)
        return bytes(draw.choice((frame, frame[:draw.randrange(len(frame) + 1)], frame + frame)))

    def test_rounds_go_on_in_a_storm(self):
        """Three honest parties; a fourth with a certificate that sends nonsense; strangers that join a thousand times a second, announce
        a gibibyte, stall in the middle of a word, and never read."""
        seed = random.SystemRandom().randrange(10 ** 6)
        draw, stopped = random.Random(seed), threading.Event()
        self.study(method="dpgd", sum="clear", set="{noise: party, rounds: 12}", delta="1e-5", patience=1,
                   parties="{expected: 4, minimum: 3}")
        coordinator = self.coordinator()
        self.stop_after_joining(3)
        nobody, hostile = tls(self.folder / "ca.crt"), self.keys(3)
        stalled = []
        for number in range(150):
            connection = socket.create_connection(("127.0.0.1", self.port))
            if number % 3:  # half a handshake, or half a request
                connection = nobody.wrap_socket(connection, server_hostname="127.0.0.1")
                connection.sendall(b"POST /v1/join HTTP/1.1\r\nContent-Le" if number % 3 == 1 else
                                   b"POST /v1/look HTTP/1.1\r\nHost: x\r\nContent-Length: 34\r\n\r\n\x08")
            stalled.append(connection)
        valid = packed(1, PROTOCOL) + packed(2, bytes(32)) + packed(3, b"request") + packed(4, bytes(32))

        def joins():
            connection = http.client.HTTPSConnection("127.0.0.1", self.port, context=nobody, timeout=5)
            with contextlib.closing(connection):
                for _ in range(50):
                    token = draw.randbytes(32)
                    connection.request("POST", "/v1/join", packed(1, PROTOCOL) + packed(2, token) + valid[36:])
                    self.assertEqual(connection.getresponse().read() != b"", True)
            return 50

        def frames():
            for path in ("/v1/look", "/v1/join", "/v1/catalogue"):
                self.assertIn(post(self.port, path, self.fuzzed(draw, valid), nobody)[0], (400, 403))
            for path in ("/v1/poll", "/v1/answer"):
                body = self.fuzzed(draw, packed(1, PROTOCOL) + packed(2, b"trial") + packed(3, 1) + packed(4, bytes(16)))
                if path == "/v1/answer":
                    self.assertIn(post(self.port, path, body, hostile)[0], (400, 403, 409))
            self.assertEqual(announce(self.port, "/v1/answer", 1 << 30, hostile), 413)
            return 5

        def garbage():
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as connection:
                connection.sendall(draw.randbytes(200))
            with nobody.wrap_socket(socket.create_connection(("127.0.0.1", self.port), timeout=5),
                                    server_hostname="127.0.0.1") as connection:
                connection.sendall(draw.randbytes(200) + b"\r\n\r\n")
            return 2
        self.done, self.moved = 0, threading.Condition()
        threads = [self.flood(stopped, act) for act in (joins, joins, frames, garbage)]
        honest = [self.join(party) for party in range(3)]
        try:
            for process in honest:
                self.assertEqual(process.finish(), 0, f"seed {seed}\n" + process.text())
            with self.moved:  # where the machine is busy, some of it may come later
                self.assertTrue(self.moved.wait_for(lambda: self.done > 20, PATIENCE))
        finally:
            stopped.set()
            for thread in threads:
                thread.join()
            for connection in stalled:
                connection.close()
        self.assertIsNone(coordinator.process.poll())
        model = json.loads((self.folder / "trial.model.json").read_text())
        self.assertEqual((model["guarantee"]["parties"], self.status()["rounds"]), (3, 12))
        self.assertNotIn(" 500: ", self.log())

    def test_more_than_a_thousand_connections_leave_room_to_join(self):
        self.study()
        self.coordinator()
        idle = [socket.create_connection(("127.0.0.1", self.port)) for _ in range(1200)]
        try:
            self.join(0)
        finally:
            for connection in idle:
                connection.close()

    def test_a_refusals_text_steers_no_terminal(self):
        self.study()
        self.coordinator()
        self.stop_after_joining(0)
        others = [self.join(party) for party in (1, 2)]
        mine = self.question(0)
        text = b"\x1b[2J\nstudy other is done\xec\xc2" + b"x" * 3000
        body = packed(1, PROTOCOL) + packed(2, mine[2]) + packed(3, mine.get(5, 0)) + packed(4, mine[7]) + packed(7, text)
        self.assertEqual(post(self.port, "/v1/answer", body, self.keys(0))[0], 200)
        for process in others:
            self.assertEqual(process.finish(), 1, process.text())
            self.assertNotIn("\x1b", process.text())
        self.assertEqual(self.status()["state"], "failed")
        shown = self.succeed("study", "status", self.folder).stdout
        self.assertNotIn("\x1b", shown + self.log())
        self.assertNotRegex(shown + self.log(), r"(?m)^study other")


if __name__ == "__main__":
    unittest.main()
