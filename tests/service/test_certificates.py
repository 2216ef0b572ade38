#!/usr/bin/env python3
"""Certificates of a deployed study: renewed before they end, also by a process that is killed; revoked for good, with neighbours
and center servers too; and invitations that work once, for a while.

    TACIT=build/src/cli/tacit tests/service/test_certificates.py
"""
import os
import re
import shutil
import sqlite3
import ssl
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import POLL, PROTOCOL, DeployedTest, fields_of, packed, post, tls

# A certificate is valid from an hour before it is issued. One for a quarter of an hour has less than a third of its time left from
# the start, and is renewed at once: no test need wait for it.
SHORT = ("--certificate-days", "0.01")


class CertificatesTest(DeployedTest):
    def site(self, party):
        return next((self.home(party) / "studies").glob("trial@*"))

    def context(self, folder):
        return tls(self.folder / "ca.crt", folder / "party.crt", folder / "party.key")

    def name(self, party):
        """As the certificate says."""
        shown = subprocess.run(["openssl", "x509", "-noout", "-subject", "-in", self.site(party) / "party.crt"],
                               capture_output=True, text=True, check=True).stdout
        return re.search(r"party-\w+", shown).group()

    def join_only(self, party, *more, study="trial"):
        self.limit(party)
        self.succeed(*self.join_words(party, self.invite(study=study), "--no-wait", *more), home=self.home(party))


class Renewal(CertificatesTest):
    def test_certificates_are_renewed_and_the_study_goes_on(self):
        self.study()
        coordinator = self.coordinator(*SHORT)
        coordinator.wait_line("the server's certificate was renewed")
        served = ssl.get_server_certificate(("127.0.0.1", self.port))  # the file was replaced, and the server shows the new one
        self.assertEqual(served.split(), (self.folder / "server.crt").read_text().split())
        for party in range(3):
            self.join_only(party)
        before = {party: (self.site(party) / "party.crt").read_text() for party in range(3)}
        names = {party: self.name(party) for party in range(3)}
        old = self.path / "old"
        shutil.copytree(self.site(0), old)
        parties = {party: self.resume(party) for party in range(3)}
        for party, process in parties.items():
            process.wait_line("^the certificate was renewed")
        self.check_done(parties)
        for party in range(3):
            self.assertNotEqual((self.site(party) / "party.crt").read_text(), before[party])
            self.assertEqual(self.name(party), names[party])
            self.context(self.site(party))  # key and certificate fit
            self.assertEqual(list(self.site(party).glob("next.*")), [])
            coordinator.wait_line(f"the certificate of {names[party]} was renewed")
        # The old pair is good until it ends: a party that was restored from yesterday's backup is let in.
        self.assertEqual(post(self.port, "/v1/poll", POLL, self.context(old))[0], 200)

    def next_pair(self, party):
        """What a killed process may have got: a key, a request, and the coordinator's answer to it."""
        made = self.path / "next"
        made.mkdir(exist_ok=True)
        subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                        "/CN=party", "-keyout", made / "next.key", "-out", made / "next.csr"], check=True, capture_output=True)
        (made / "next.key").chmod(0o600)
        body = packed(1, PROTOCOL) + packed(2, (made / "next.csr").read_bytes())
        status, reply = post(self.port, "/v1/renew", body, self.context(self.site(party)))
        self.assertEqual(status, 200, reply)
        (made / "next.crt").write_bytes(fields_of(reply)[2])
        # Asked again, it gives the same.
        self.assertEqual(post(self.port, "/v1/renew", body, self.context(self.site(party)))[1], reply)
        return made

    def test_a_process_killed_at_any_step_leaves_an_identity_that_works(self):
        self.study()
        self.coordinator()
        self.join_only(0)
        made, first = self.next_pair(0), self.path / "first"
        shutil.copytree(self.site(0), first)
        moved = {"key": "party.key", "crt": "party.crt"}
        states = [  # which of the next pair's files are there, and which have been moved
            (["next.key"], []), (["next.key", "next.csr"], []), (["next.key", "next.csr", "next.crt"], []),
            (["next.csr", "next.crt"], ["key"]), (["next.csr"], ["key", "crt"]),
        ]
        for present, gone in states:
            shutil.rmtree(self.site(0))
            shutil.copytree(first, self.home(0) / "studies" / f"trial@{self.authority()}")
            for name in present:
                shutil.copy(made / name, self.site(0) / name)
            for kind in gone:
                shutil.copy(made / f"next.{kind}", self.site(0) / moved[kind])
            self.assertIn("trial", self.succeed("catalogue", home=self.home(0)).stdout)
            self.assertEqual(post(self.port, "/v1/renew", b"", self.context(self.site(0)))[0], 400)  # the pair fits, and is let in
            whole = "next.crt" in present or gone
            self.assertEqual((self.site(0) / "party.key").read_bytes() == (made / "next.key").read_bytes(), bool(whole))

    def authority(self):
        shown = subprocess.run(["openssl", "x509", "-noout", "-fingerprint", "-sha256", "-in", self.folder / "ca.crt"],
                               capture_output=True, text=True, check=True).stdout
        return shown.split("=")[1].strip().replace(":", "").lower()[:12]

    def test_a_renewal_needs_a_certificate_and_a_request_for_a_key_of_ones_own(self):
        self.study()
        self.coordinator()
        self.join_only(0)
        made = self.next_pair(0)
        body = packed(1, PROTOCOL) + packed(2, (made / "next.csr").read_bytes())
        self.assertEqual(post(self.port, "/v1/renew", body, tls(self.folder / "ca.crt"))[0], 403)
        damaged = (made / "next.csr").read_bytes().replace(b"M", b"N", 3)
        self.assertEqual(post(self.port, "/v1/renew", packed(1, PROTOCOL) + packed(2, damaged), self.context(self.site(0)))[0], 400)
        self.refuse(2, "coordinator", self.folder, "--certificate-days", "0", says=["--certificate-days"])


class Revocation(CertificatesTest):
    def test_a_revoked_party_is_refused_for_good_and_can_be_invited_again(self):
        self.study()
        coordinator = self.coordinator()
        parties = {party: self.join(party) for party in range(2)}
        lost, context = self.name(0), self.context(self.site(0))
        self.refuse(1, "revoke", self.folder, "party-none", says=["party-none"])
        self.succeed("revoke", self.folder, lost)
        self.assertNotEqual(parties.pop(0).finish(), 0)  # its poll was waiting
        status, said = post(self.port, "/v1/poll", POLL, context)
        self.assertEqual((status, b"revoked" in said), (403, True))
        self.assertEqual(post(self.port, "/v1/renew", b"", context)[0], 403)
        coordinator.kill()
        self.coordinator()
        self.assertEqual(post(self.port, "/v1/poll", POLL, context)[0], 403)
        self.assertEqual(self.status()["joined"], 1)
        self.refuse(1, "party", "trial", home=self.home(0), says=["revoked"])
        done = self.tacit("doctor", home=self.home(0))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stdout, "FAIL  coordinator of .*certificate.*remedy: ask the coordinator for a new invitation")
        key = (self.site(0) / "party.key").read_bytes()
        parties.update({party: self.join(party) for party in (0, 2)})
        self.check_done(parties)
        self.assertNotEqual(self.name(0), lost)
        self.assertNotEqual((self.site(0) / "party.key").read_bytes(), key)

    def test_a_running_study_goes_on_without_a_revoked_party(self):
        self.study(parties="{expected: 3, minimum: 2}", sum="clear")
        coordinator = self.coordinator()
        self.join_only(0)
        parties = {party: self.join(party) for party in (1, 2)}
        coordinator.wait_line("study trial runs with 3 parties")
        self.succeed("revoke", self.folder, self.name(0))
        self.check_done(parties)

    def test_neighbours_that_listen_refuse_it_too(self):
        self.study(method="extra", set="{graph: ring, rounds: 3}", epsilon=None, parties="{expected: 3}")
        self.coordinator()
        self.join_only(0, "--allow-neighbours")
        self.succeed("revoke", self.folder, self.name(0))
        listens = self.join(1, "--allow-neighbours", "--listen", "127.0.0.1:0")
        port = int(listens.wait_line(r"^listening at 127.0.0.1:(\d+) ").group(1))
        other = self.join(2, "--allow-neighbours")
        self.join_only(3, "--allow-neighbours")  # the study begins, and waits for its answer
        listens.wait_line("^1 certificates of the study are no longer valid")

        def answer(party):
            context = self.context(self.site(party))
            context.check_hostname = False
            return post(port, "/v1/word", b"word", context)[0]
        self.assertEqual((answer(0), answer(2) in (400, 409, 413)), (403, True))
        self.assertTrue((self.site(1) / "revoked.txt").exists())
        listens.kill()
        listens = self.resume(1)
        listens.wait_line("^listening at ")
        self.assertEqual((answer(0), answer(2) in (400, 409, 413)), (403, True))
        self.check_done({1: listens, 2: other, 3: self.resume(3)}, charged=[])


class Invitations(CertificatesTest):
    def test_an_invitation_works_once_and_until_it_expires(self):
        self.study()
        self.coordinator()
        used = self.invite()
        self.limit(0)
        self.succeed(*self.join_words(0, used, "--no-wait"), home=self.home(0))
        self.limit(1)
        self.refuse(3, *self.join_words(1, used), home=self.home(1), says=["has been used"])
        late = self.invite()
        database = sqlite3.connect(self.folder / "coordinator.db")
        with database:  # the line says a week, and the coordinator's own word counts
            database.execute("UPDATE invitation SET expires = 1 WHERE party IS NULL")
        database.close()
        self.refuse(3, *self.join_words(1, late), home=self.home(1), says=["expired"])
        self.assertEqual(self.status()["joined"], 1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
