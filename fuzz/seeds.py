#!/usr/bin/env python3
"""Write seeds of the corpora from real studies on loopback: what a coordinator and its parties have sent and kept.

    TACIT=build/src/cli/tacit fuzz/seeds.py FOLDER

Each target gets a folder in FOLDER. Bring new ones in with script/fuzz --merge: only what reaches something new stays.
"""
import signal
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "service"))
from deployed import PROTOCOL, DeployedTest, Relay, fields_of, packed  # noqa: E402

OUT = Path(sys.argv[1] if len(sys.argv) > 1 else "seeds").resolve()
WIRE = ["look_request", "look_reply", "catalogue_request", "catalogue_reply", "join_request", "join_reply", "renew_request",
        "renew_reply", "poll_request", "poll_reply", "enrol_request", "enrol_reply"]


def keep(target, name, content):
    folder = OUT / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def small(database):
    """The same file with pages of 512 bytes, so that it stays short."""
    copy = sqlite3.connect(database)
    copy.execute("PRAGMA journal_mode = DELETE")
    copy.execute("PRAGMA page_size = 512")
    copy.execute("VACUUM")
    copy.close()
    return Path(database).read_bytes()


class Seeds(DeployedTest):
    def requests(self, sent):
        """Bodies of HTTP messages in a stream, with their first lines."""
        at = 0
        while (end := sent.find(b"\r\n\r\n", at)) >= 0:
            head = bytes(sent[at:end])
            length = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")]
            at = end + 4 + (length[0] if length else 0)
            yield head, bytes(sent[end + 4:at])

    def test_a_study_to_its_end(self):
        self.study()
        coordinator = self.coordinator()
        relay = Relay(self.folder, self.home(0), self.port)
        invitation = self.invite("--url", relay.address)
        parties = {0: self.join(0, invitation=invitation), 1: self.join(1), 2: self.join(2)}
        self.check_done(parties)
        self.assertEqual(coordinator.kill(signal.SIGTERM), 0)
        self.wire(relay)
        self.kept_by_the_coordinator()
        self.kept_by_a_party()

    def wire(self, relay):
        paths = {b"/v1/look": 0, b"/v1/catalogue": 2, b"/v1/join": 4, b"/v1/renew": 6, b"/v1/poll": 8}
        asked = list(self.requests(relay.sent))
        for number, (head, body) in enumerate(asked):
            path = head.split()[1]
            if path in paths:
                keep("wire", f"{WIRE[paths[path]]}.{number}", bytes([paths[path]]) + body)
            if path == b"/v1/answer":
                keep("answer", f"masked.{number}", body)
            if number < 3:
                keep("http", f"request.{number}", b"\x80" + head + b"\r\n\r\n" + body)
        for number, ((head, _), (_, body)) in enumerate(zip(asked, self.requests(relay.got))):
            if head.split()[1] in paths:
                kind = paths[head.split()[1]] + 1
                keep("wire", f"{WIRE[kind]}.{number}", bytes([kind]) + body)
                if kind == 9 and 2 in fields_of(body):
                    keep("question", f"masked.{number}", fields_of(body)[2])

    def kept_by_the_coordinator(self):
        out = self.path / "out"
        self.succeed("export-audit", self.folder, "trial", "--out", out)
        keep("audit", "study", b"w" + out.read_bytes())
        records = [line.split(b'"record":', 1)[1][:-1] for line in out.read_bytes().splitlines()]
        keep("audit", "records", b"s" + b"\n".join(records[1:-1]))
        about = b'"coordinator":"c","study":"","taken":1,"rounds":2,"studies":1'
        keep("backup", "signed", b"s" + about + b"\xffa.txt\nsome text\xffserver.key\nkey")
        keep("backup", "restored", b"r" + about + b"\xffcoordinator.db\n" +
             small(self.folder / "coordinator.db").replace(b"\xff", b"\xfd"))
        keep("backup", "outside", b"r" + about + b"\xff../escaped\nsome text")
        keep("stores", "registry", b"r" + (self.folder / "coordinator.db").read_bytes())
        for kind in ("rounds", "answers"):
            keep("records", kind, kind[:1].encode() + (self.folder / f"trial.{kind}.jsonl").read_bytes())
        keep("records", "model", b"m" + (self.folder / "trial.model.json").read_bytes())
        certificate = (self.folder / "ca.crt").read_bytes()
        keep("certificate", "pem", b"c" + certificate)
        keep("certificate", "der", b"c" + subprocess.run(["openssl", "x509", "-outform", "der"], input=certificate,
                                                         stdout=subprocess.PIPE, check=True).stdout)
        keep("certificate", "key", "k-----BEGIN " + "EC PRIVATE KEY-----\nMHcCAQE=\n-----END " + "EC PRIVATE KEY-----\n")

    def kept_by_a_party(self):
        out, home = self.path / "out", self.home(0)
        self.succeed("export-audit", "--out", out, home=home)
        keep("audit", "ledger", b"w" + out.read_bytes())
        database = sqlite3.connect(home / "ledger.db")
        for number, (body,) in enumerate(database.execute("SELECT body FROM log")):
            keep("ledger", f"entry.{number}", body)
            keep("audit", f"entry.{number}", b"e" + body)
            keep("audit", f"not_utf_8.{number}", b"e" + body.replace(b"rows", b"r\xf6ws"))
        database.close()
        keep("stores", "ledger", b"l" + small(home / "ledger.db"))
        self.succeed("rules", "set", "--minimum-rows", 7, "--methods", "avg,dpgd", home=home)
        keep("home", "rules", b"r" + (home / "rules.json").read_bytes())
        site = next((home / "studies").iterdir())
        for letter, name in (("s", "settings.json"), ("d", "study.yaml"), ("a", "study.yaml"), ("g", "study.sig"),
                             ("c", "party.crt"), ("k", "sum.key")):
            keep("home", f"{letter}.{name}", letter.encode() + (site / name).read_bytes())
        keep("certificate", "request", b"r" + (site / "party.csr").read_bytes())
        keep("certificate", "signature", b"s" + (site / "study.sig").read_bytes())
        keep("journal", "roster", b"k" + (site / "roster").read_bytes())

    def test_neighbours_and_a_revoked_one(self):
        self.study(method="gossip", set=None, epsilon=None, parties="{expected: 4}")
        self.coordinator()
        parties = {party: self.join(party, "--allow-neighbours") for party in range(4)}
        site = next((self.home(0) / "studies").iterdir())
        for party, process in parties.items():
            self.assertEqual(process.finish(), 0, process.text())
        if (site / "mail.cards").exists():
            keep("journal", "cards", b"p" + (site / "mail.cards").read_bytes())

    def test_by_hand(self):
        """What no file holds: texts of command lines, and messages that are gone when they were heard."""
        keep("revocations", "signed", b"s" + b"tacit revocations 1\nstudy study\nserial 7\n" + b"ab" * 32 + b" party-1\n")
        keep("handover", "honest", b"c")
        keep("handover", "sequence", b"c\0\0\x1b\x012")
        keep("handover", "cut", b"c\xff\xff\xff\x80")
        keep("stop", "se", "s{se: {column: age, at_most: 0.01}, looks: 5, more: 10}")
        keep("stop", "power", "s{power: {column: age, effect: 0.02, at_least: 0.8}}")
        keep("stop", "rounds", "s{rounds: 50, converged: 1e-4, participants: 4}")
        keep("stop", "candidates", "c0.1,1e-3,5")
        keep("backup", "unsigned", b'wtacit backup 1\n{"files":[]}\nsignature 00ff\n')
        keep("labels", "labels", b"\x030\n2 \r\n1")
        keep("labels", "command", "cpython3 'a b.py' \"--x\" ./here")
        keep("center", "address", "k[::1]:9443")
        keep("center", "refused", b"g" + (1).to_bytes(4, "little") + (2).to_bytes(4, "little") + b"no")
        keep("center", "known", b"a" + bytes(64))
        keep("source", "cells", b"t" + b"\xfe".join((b"n\xff0.5\xffx", b"p\xff1\xffz", b"p\xff\xffx")))
        keep("source", "linked", b"l" + b"\xfe".join((b"n\xff0.5\xffx", b"n\xff1\xffz")))
        database = self.path / "cells.db"
        table = sqlite3.connect(database)
        table.execute("CREATE TABLE t (y, a, b)")
        table.executemany("INSERT INTO t VALUES (?, ?, ?)", [("n", 0.5, "x"), ("p", 1, "z"), ("p", None, "x")])
        table.commit()
        table.close()
        keep("source", "database", b"d" + small(database))
        keep("ring", "moves", bytes([0x00, 9, 0x80, 9, 0x08, 3, 0x18, 4, 0x90, 1]))
        keep("http", "chunked", b"\x10POST /v1/join?study=a%20b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n")
        keep("http", "length", b"\xffPOST /bodybodybody HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nCookie: a=b\r\n\r\nbody")
        for letter in "sao":
            keep("journal", f"numbers.{letter}", letter.encode() + (2).to_bytes(8, "little") + bytes(16))
        keep("journal", "checkpoint", b"c" + packed(1, PROTOCOL) + packed(2, b"study") + packed(4, bytes(16)))
        keep("journal", "step", b"m" + bytes(4) + (3).to_bytes(8, "little") + b"abc")
        keep("journal", "encrypted", b"n" + bytes(4) + (3).to_bytes(8, "little") + b"abc")
        word = (1).to_bytes(4, "little") + bytes(8) + (1).to_bytes(8, "little") + bytes(4) + (2).to_bytes(8, "little") + b"hi"
        keep("journal", "words", b"w" + bytes(24) + 3 * word)
        keep("journal", "shown", b"d" + bytes(24))
        keep("journal", "noise", b"l" + bytes.fromhex("000000000000f03f") + (20).to_bytes(8, "little") +
             (2).to_bytes(8, "little") + bytes(16))
        for letter in b"BKD\0\1\2":
            keep("paillier_sum", f"honest.{letter}", bytes([letter]))
            keep("paillier_sum", f"changed.{letter}", bytes([letter, 0, 0, 100, 2, 7, 7]))
            keep("paillier_sum", f"cut.{letter}", bytes([letter, 255, 255, 255, 128, 1]))
        for method in range(25):
            keep("method", f"heard.{method}", bytes([method, 0]))
            keep("method", f"asked.{method}", bytes([method, 1]))
        for role in range(4):
            keep("secure", f"honest.{role}", bytes([role]))
            keep("secure", f"changed.{role}", bytes([role, 0, 32, 0, 2, 7, 7, 0, 0, 1, 1, 0]))
            keep("secure", f"cut.{role}", bytes([role, 255, 255, 255, 128, 1, 2, 3]))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
