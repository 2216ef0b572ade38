#!/usr/bin/env python3
"""A consortium whose authority is replaced, as real processes over mutual TLS: parties follow, a study goes on, forged and replayed
statements are refused, and a stolen key needs the owners' word.

    TACIT=build/src/cli/tacit TACIT_DIES=build/tests/service/libdies.so tests/service/test_rotation.py
"""
import base64
import http.server
import json
import os
import re
import shutil
import sqlite3
import ssl
import subprocess
import sys
import threading
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import POLL, DeployedTest, Running, post, tls

DAY = 86400


def fingerprint(certificate):
    shown = subprocess.run(["openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", certificate], capture_output=True,
                           text=True, check=True).stdout
    return shown.split("=")[1].strip().replace(":", "").lower()


def is_from(certificate, authority):
    done = subprocess.run(["openssl", "verify", "-no_check_time", "-CAfile", authority, certificate], capture_output=True)
    return done.returncode == 0


def der(certificate):
    return base64.b64encode(ssl.PEM_cert_to_DER_cert(certificate.read_text())).decode()


def signed(key, purpose, text):
    made = subprocess.run(["openssl", "dgst", "-sha256", "-sign", key], input=f"{purpose}\n{text}".encode(), capture_output=True,
                          check=True).stdout
    return made.hex()


class Authority:
    """Key and certificate of an authority, as files."""

    def __init__(self, folder):
        self.key, self.certificate = folder / "ca.key", folder / "ca.crt"

    @staticmethod
    def copy(folder, to):
        to.mkdir()
        for name in ("ca.key", "ca.crt"):
            shutil.copy(folder / name, to / name)
        return Authority(to)


def statement(old, new, sequence, begins, until, reason="planned", signer=None):
    """A hand-over statement, written without the program; `signer` in place of the old authority."""
    text = (f"tacit handover 1\nsequence {sequence}\nfrom {begins}\nuntil {until}\nreason {reason}\n"
            f"old {der(old.certificate)}\nnew {der(new.certificate)}\n")
    text += f"old-signature {signed((signer or old).key, 'tacit handover', text)}\n"
    return text + f"new-signature {signed(new.key, 'tacit handover accepted', text)}\n"


class RotationTest(DeployedTest):
    def site(self, party):
        return next((self.home(party) / "studies").glob("trial@*"))

    def join_only(self, party, *more, invitation=None):
        self.limit(party)
        self.succeed(*self.join_words(party, invitation or self.invite(), "--no-wait", *more), home=self.home(party))

    def rotate(self, *words):
        """The new authority's fingerprint."""
        made = json.loads(self.succeed("rotate", self.folder, "--json", *words).stdout)
        self.assertEqual(made["new"], fingerprint(self.folder / "ca.crt"))
        return made["new"]

    def context(self, folder, authority=None):
        return tls(authority or self.folder / "ca.crt", folder / "party.crt", folder / "party.key")

    def renewed(self, party):
        return is_from(self.site(party) / "party.crt", self.folder / "ca.crt")

    def backdate(self, days):
        """Write the coordinator's chain again, as if everything had happened some days ago."""
        text = (self.folder / "handover.txt").read_text()
        self.assertEqual(text.count("tacit handover 1"), 1)
        new, folder = Authority.copy(self.folder, self.path / "new"), self.path / "old"
        folder.mkdir()
        shutil.copy(self.folder / "ca.0.key", folder / "ca.key")
        (folder / "ca.crt").write_text(ssl.DER_cert_to_PEM_cert(base64.b64decode(re.search(r"^old (.*)$", text, re.M).group(1))))
        begins, until = (int(re.search(rf"^{key} (\d+)$", text, re.M).group(1)) - days * DAY for key in ("from", "until"))
        (self.folder / "handover.txt").write_text(statement(Authority(folder), new, 1, begins, until))
        return folder


class Planned(RotationTest):
    def test_parties_follow_and_a_running_study_goes_on(self):
        self.study()
        coordinator = self.coordinator()
        parties = {party: self.join(party) for party in range(2)}
        self.join_only(2, invitation=self.invite("--for", "St. Anna, Vienna"))
        coordinator.wait_line("study trial runs with 3 parties")  # and waits for the third one's answer
        ids = {party: self.site(party).name for party in range(3)}
        first = fingerprint(self.folder / "ca.crt")
        new = self.rotate()
        self.assertNotEqual(new, first)
        coordinator.wait_line(f"the authority was replaced: parties follow to {new}")
        for party in parties:
            parties[party].wait_line(f"replaced as planned, and we follow: the present authority is {new}")
            parties[party].wait_line("^the certificate was renewed")
            self.assertTrue(self.renewed(party))
        self.assertFalse(self.renewed(2))
        self.assertEqual(self.status()["followed"], 2)
        shown = self.tacit("doctor", self.folder)
        self.assertEqual(shown.returncode, 0, shown.stdout)
        self.assertRegex(shown.stdout, f"WARN  hand-over: 1 of 3 parties have not followed to authority {new}.*: St. Anna, Vienna")
        self.assertIn("WARN  authority of trial", self.tacit("doctor", home=self.home(2)).stdout)
        parties[2] = self.resume(2)  # was away, and comes within the overlap
        parties[2].wait_line("^the certificate was renewed")
        self.check_done(parties)
        for party in range(3):
            self.assertEqual(self.site(party).name, ids[party])
            self.assertEqual((self.site(party) / "handover.txt").read_bytes(), (self.folder / "handover.txt").read_bytes())
        # Definitions, consents and the like are those of before: the home is in order.
        self.assertEqual(self.tacit("doctor", home=self.home(0)).returncode, 0)

    def test_audits_and_backups_span_a_rotation(self):
        self.study()
        coordinator = self.coordinator()
        self.join_only(0)
        first = self.path / "first.crt"
        shutil.copy(self.folder / "ca.crt", first)
        self.succeed("export-audit", self.folder, "trial", "--out", "early.jsonl")
        self.rotate()
        coordinator.wait_line("the authority was replaced")
        self.succeed("export-audit", self.folder, "trial", "--out", "late.jsonl")
        for archive, authority in (("early.jsonl", first), ("late.jsonl", first), ("late.jsonl", self.folder / "ca.crt")):
            self.succeed("export-audit", "--verify", archive, "--authority", authority)
        self.refuse(3, "export-audit", "--verify", "early.jsonl", "--authority", self.folder / "ca.crt", says=["not signed"])
        self.succeed("backup", self.folder, "--out", "all.backup")
        coordinator.kill()
        shutil.rmtree(self.folder)
        self.succeed("restore", "all.backup", self.folder, "--authority", first)
        coordinator = self.coordinator()  # both keys are back: who has not followed finds its authority
        party = self.resume(0)
        party.wait_line("^the certificate was renewed")
        party.kill()
        self.rotate("--stolen")
        coordinator.wait_line("key was stolen")
        self.succeed("export-audit", self.folder, "trial", "--out", "stolen.jsonl")
        self.succeed("export-audit", "--verify", "stolen.jsonl", "--authority", self.folder / "ca.crt")
        self.refuse(3, "export-audit", "--verify", "stolen.jsonl", "--authority", first, says=["not signed"])

    def test_a_party_that_was_away_over_two_rotations_follows_both(self):
        self.study()
        coordinator = self.coordinator()
        self.join_only(0)
        coordinator.kill()
        second = self.rotate()
        third = self.rotate()
        self.coordinator()
        party = self.resume(0)
        party.wait_line(f"replaced as planned, and we follow: the present authority is {third}")
        party.wait_line("^the certificate was renewed")
        self.assertTrue(self.renewed(0))
        chain = (self.site(0) / "handover.txt").read_text()
        self.assertEqual(re.findall(r"^sequence (\d+)$", chain, re.M), ["1", "2"])
        party.kill()
        self.assertNotEqual(second, third)
        self.refuse(2, "rotate", self.folder, "--overlap-days", "1", says=["overlap"])

    def test_invitations_of_both_authorities_serve_in_the_overlap(self):
        self.study()
        serving = self.coordinator()
        before = self.invite()
        self.rotate()
        serving.wait_line("^serving with the authorities that are trusted now")
        after = self.invite()
        for party, invitation in ((0, before), (1, after)):
            self.join_only(party, invitation=invitation)
            self.assertTrue(self.renewed(party))
        self.assertEqual(self.site(0).name, self.site(1).name)  # after the first authority: the study is the same
        parties = {party: self.resume(party) for party in range(2)}
        parties[2] = self.join(2)
        self.check_done(parties)

    def test_after_the_overlap_the_old_authority_counts_for_nothing(self):
        self.study()
        coordinator = self.coordinator()
        self.join_only(0)
        old = self.invite()
        coordinator.kill()
        self.rotate()
        first = self.backdate(31)
        coordinator = self.coordinator()
        self.assertFalse((self.folder / "ca.0.key").exists())
        with self.assertRaises(ssl.SSLError):
            post(self.port, "/v1/poll", POLL, self.context(self.site(0), first / "ca.crt"))
        status, said = post(self.port, "/v1/poll", POLL, self.context(self.site(0)))
        self.assertEqual((status, b"has been replaced" in said), (403, True))
        self.refuse(3, "party", "trial", home=self.home(0), says=["was replaced", "tacit follow FINGERPRINT"])
        self.refuse(3, *self.join_words(1, old), home=self.home(1), says=["ask the coordinator for a new one"])
        doctor = self.tacit("doctor", home=self.home(0))
        self.assertEqual(doctor.returncode, 1)
        self.assertIn("tacit follow", doctor.stdout)
        self.refuse(3, "follow", "ab" * 32, home=self.home(0), says=["nothing was changed"])
        self.refuse(2, "follow", "abcd", home=self.home(0), says=["64 hexadecimal digits"])
        self.succeed("follow", fingerprint(self.folder / "ca.crt").upper(), home=self.home(0))
        parties = {0: self.resume(0)}
        parties[0].wait_line("^the certificate was renewed")
        self.assertTrue(self.renewed(0))
        parties.update({party: self.join(party) for party in (1, 2)})
        self.check_done(parties)

    def test_the_overlap_ends_while_the_coordinator_serves(self):
        self.study()
        coordinator = self.coordinator()
        self.join_only(0)
        self.rotate("--overlap-days", "0.00002")
        coordinator.wait_line("is trusted no longer, and its key was removed")
        coordinator.wait_line("serving with the authorities that are trusted now", count=2)
        status, said = post(self.port, "/v1/poll", POLL, self.context(self.site(0)))
        self.assertEqual((status, b"has been replaced" in said), (403, True))


class Stolen(RotationTest):
    def test_nobody_follows_a_stolen_key_without_the_owners_word(self):
        self.study()
        coordinator = self.coordinator()
        party = self.join(0)
        Authority.copy(self.folder, self.path / "thief")
        new = self.rotate("--stolen")
        coordinator.wait_line(f"key was stolen: parties wait until their owners confirm the fingerprint {new}")
        self.assertEqual(list(self.folder.glob("ca.*.key")), [])
        self.assertNotEqual(party.finish(), 0)
        self.assertIn("key was stolen", party.text())
        self.assertTrue((self.site(0) / "stolen.txt").exists())
        self.refuse(3, "party", "trial", home=self.home(0), says=["was stolen", "tacit follow FINGERPRINT"])
        # The thief serves in the coordinator's place with the old key: the party does not even talk to it.
        coordinator.kill()
        genuine = self.path / "genuine"
        shutil.copytree(self.folder, genuine)
        for name in ("ca.key", "ca.crt"):
            shutil.copy(self.path / "thief" / name, self.folder / name)
        (self.folder / "handover.txt").unlink()
        impostor = self.coordinator()
        self.refuse(3, "party", "trial", home=self.home(0), says=["was stolen"])
        self.refuse(3, "follow", new, home=self.home(0), says=["nothing was changed"])
        impostor.kill()
        shutil.rmtree(self.folder)
        shutil.copytree(genuine, self.folder)
        self.coordinator()
        self.succeed("follow", new, home=self.home(0))
        parties = {0: self.resume(0)}
        parties[0].wait_line("^the certificate was renewed")
        parties.update({party: self.join(party) for party in (1, 2)})
        self.check_done(parties)

    def test_a_thief_that_was_faster_is_left_by_the_owners_word(self):
        """The thief hands over to an authority of its own before the theft is known; the party follows, and then refuses the
        coordinator, until its owner says who that is."""
        self.study()
        coordinator = self.coordinator()
        self.join_only(0)
        coordinator.kill()
        genuine = self.path / "genuine"
        shutil.copytree(self.folder, genuine)
        captured = self.rotate()
        impostor = self.coordinator()
        party = self.resume(0)
        party.wait_line(f"we follow: the present authority is {captured}")
        party.kill()
        impostor.kill()
        shutil.rmtree(self.folder)
        shutil.copytree(genuine, self.folder)
        new = self.rotate("--stolen")
        self.coordinator()
        self.refuse(3, "party", "trial", home=self.home(0), says=["two hand-over statements with number 1"])
        self.refuse(3, "follow", captured, home=self.home(0), says=["nothing was changed", new])
        self.succeed("follow", new, "trial", home=self.home(0))
        party = self.resume(0)
        party.wait_line("^the certificate was renewed")
        self.assertTrue(self.renewed(0))


class Forged(RotationTest):
    def test_forged_replayed_and_forked_statements_are_refused(self):
        self.study()
        coordinator = self.coordinator()
        self.join_only(0)
        coordinator.kill()
        self.rotate()
        coordinator = self.coordinator()
        party = self.resume(0)
        party.wait_line("^the certificate was renewed")
        party.kill()
        coordinator.kill()
        kept = (self.site(0) / "handover.txt").read_bytes()
        folder = self.path / "first"
        folder.mkdir()
        shutil.copy(self.folder / "ca.0.key", folder / "ca.key")
        shutil.copy(self.site(0) / "ca.crt", folder / "ca.crt")
        first, present = Authority(folder), Authority(self.folder)
        self.succeed("study", "new", self.path / "elsewhere", self.definition("other"))
        other = Authority(self.path / "elsewhere")
        now = int(time.time())
        chain = (self.folder / "handover.txt").read_text()
        cases = [  # what the server at the coordinator's address shows, and what the party says
            ("", "an earlier state"),
            (statement(first, present, 1, now, now + 99 * DAY), "two hand-over statements with number 1"),
            (chain + statement(present, other, 2, now, now + 99 * DAY, signer=other), "not signed by the old authority"),
            (chain + statement(present, other, 1, now, now + 99 * DAY), "its number is not the next"),
            (chain.replace("reason planned", "reason stolen"), "not signed by the old authority"),
        ]
        for text, said in cases:
            self.refuse_shown(text, said)
            self.assertEqual((self.site(0) / "handover.txt").read_bytes(), kept)
        self.assertFalse((self.site(0) / "stolen.txt").exists())

    def refuse_shown(self, text, said):
        """Refuse what somebody says who has the key of a server that is trusted, and nothing else."""
        text = text.encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *words):
                pass
        server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.crt", self.folder / "server.key")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            done = self.tacit("party", "trial", home=self.home(0))
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(said, done.stderr)
        finally:
            server.shutdown()
            server.server_close()


class Killed(RotationTest):
    def test_a_rotation_that_was_killed_changed_nothing_or_all(self):
        self.study()
        coordinator = self.coordinator()
        self.join_only(0)
        coordinator.kill()
        before = self.path / "before"
        shutil.copytree(self.folder, before)
        new = self.rotate()
        after = self.path / "after"
        shutil.copytree(self.folder, after)

        def state(*copies):
            """The folder of before, with some files of after under the names that they have on their way."""
            shutil.rmtree(self.folder)
            shutil.copytree(before, self.folder)
            (self.folder / "next").mkdir()
            for name, to in copies:
                shutil.copy(after / name, self.folder / to)
        key, certificate, chain = ("ca.key", "next/ca.key"), ("ca.crt", "next/ca.crt"), ("handover.txt", "handover.txt")
        kept = ("ca.0.key", "ca.0.key")
        steps = [([key], False), ([key, certificate], False), ([key, certificate, kept], False),
                 ([key, certificate, kept, chain], True), ([certificate, kept, chain, ("ca.key", "ca.key")], True),
                 ([kept, chain, ("ca.key", "ca.key"), ("ca.crt", "ca.crt")], True)]
        for copies, counts in steps:
            state(*copies)
            coordinator = self.coordinator()
            self.assertEqual(fingerprint(self.folder / "ca.crt") == new, counts)
            self.assertIn("trial", self.succeed("catalogue", home=self.home(0)).stdout)
            coordinator.kill()
            self.rotate("--overlap-days", "60")  # and the next one is not disturbed by what was left

    def dying(self, step):
        library = self.path / "dies.so"  # a blank in a path would end it for the loader
        if not library.is_symlink():
            library.symlink_to(os.path.abspath(os.environ["TACIT_DIES"]))
        return {"LD_PRELOAD": str(library), "TACIT_DIES": f"after {step}"}

    @unittest.skipUnless(os.environ.get("TACIT_DIES"), "TACIT_DIES names no library to preload (a sanitised build)")
    def test_killed_at_every_durable_step_a_rotation_changed_nothing_or_all(self):
        self.study()
        before, old = self.path / "before", fingerprint(self.folder / "ca.crt")
        shutil.copytree(self.folder, before)
        seen = set()
        for words in ((), ("--stolen",)):
            for step in range(1, 1000):
                shutil.rmtree(self.folder)
                shutil.copytree(before, self.folder)
                process = Running(["rotate", self.folder, *words], cwd=self.path, more=self.dying(step))
                self.addCleanup(process.clean)
                code = process.finish()
                self.succeed("study", "invite", self.folder, "trial", "--url", "https://127.0.0.1:1")  # whoever comes next moves the files
                new = fingerprint(self.folder / "ca.crt")
                chain = self.folder / "handover.txt"
                self.assertEqual(new != old, chain.exists())
                seen.add(new != old)
                self.rotate("--overlap-days", "60")
                self.assertEqual(chain.read_text().count("tacit handover 1"), 2 if new != old else 1)
                if code == 0:
                    break
            self.assertGreater(step, 5)
        self.assertEqual(seen, {False, True})

    @unittest.skipUnless(os.environ.get("TACIT_DIES"), "TACIT_DIES names no library to preload (a sanitised build)")
    def test_killed_at_every_durable_step_of_following_a_party_goes_on(self):
        self.study()
        coordinator = self.coordinator()
        self.join_only(0)
        self.rotate()
        coordinator.wait_line("the authority was replaced")
        first, folder = self.path / "first", self.site(0)
        shutil.copytree(folder, first)
        for step in range(1, 1000):
            shutil.rmtree(folder)
            shutil.copytree(first, folder)
            database = sqlite3.connect(self.folder / "coordinator.db")
            with database:  # a party may have 16 certificates at once, and this one begins again each time
                database.execute("DELETE FROM renewal")
            database.close()
            process = Running(["party", "trial"], self.home(0), self.path, more=self.dying(step))
            self.addCleanup(process.clean)
            through = process.wait_line("^the certificate was renewed", or_end=True)
            process.clean()
            if through:
                break
            self.assertIn("trial", self.succeed("catalogue", home=self.home(0)).stdout)  # ends what was begun
            if not self.renewed(0):
                party = self.resume(0)
                party.wait_line("^the certificate was renewed")
                party.kill()
            self.assertTrue(self.renewed(0))
        self.assertGreater(step, 5)

    def test_a_party_killed_at_any_step_of_following_goes_on(self):
        self.study()
        coordinator = self.coordinator()
        self.join_only(0)
        self.rotate()
        coordinator.wait_line("the authority was replaced")
        first = self.path / "first"
        shutil.copytree(self.site(0), first)
        party = self.resume(0)
        party.wait_line("^the certificate was renewed")
        party.kill()
        done = self.path / "done"
        shutil.copytree(self.site(0), done)
        for present in (["handover.txt"], ["handover.txt", "trust.crt"], ["trust.crt"]):
            folder = self.site(0)
            shutil.rmtree(folder)
            shutil.copytree(first, folder)
            for name in present:
                shutil.copy(done / name, folder / name)
            party = self.resume(0)
            party.wait_line("^the certificate was renewed")
            party.kill()
            self.assertTrue(self.renewed(0))


if __name__ == "__main__":
    unittest.main(verbosity=2)
