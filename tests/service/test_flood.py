#!/usr/bin/env python3
"""A thousand joins a second, and every other nuisance, beside a study that must not notice: its model is the one it has in peace.

    TACIT=build/src/cli/tacit tests/service/test_flood.py

Attackers are processes of their own, this file called with --attack: they go on until their standard input ends, and then print how
often they tried.
"""
import contextlib
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, PROTOCOL, DeployedTest, answer_to, announce, fields_of, packed, post, tls

EXACT = ("--allow-entrusted", "--allow-exact")
PARTIES = range(3)
BATCH = 64
GIBIBYTE = 1 << 30


# ---- attackers ----

def over():
    return bool(select.select([sys.stdin], (), (), 0)[0])


def dial(port, context):
    plain = socket.create_connection(("127.0.0.1", port), timeout=5)
    return context.wrap_socket(plain, server_hostname="127.0.0.1")


def joins(port, stranger, hostile, draw):
    """Requests to join with made-up tokens, many to a connection, and none waited for before the next is sent."""
    rest = packed(3, b"request") + packed(4, bytes(32)) + packed(5, bytes(32))
    with dial(port, stranger) as connection:
        for _ in range(8):
            bodies = [packed(1, PROTOCOL) + packed(2, draw.randbytes(32)) + rest for _ in range(BATCH)]
            connection.sendall(b"".join(b"POST /v1/join HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body
                                        for body in bodies))
            answered, got = 0, b""
            while answered < BATCH:
                piece = connection.recv(1 << 16)
                if not piece:
                    return
                got = got[-16:] + piece
                answered += piece.count(b"HTTP/1.1 ")
            yield BATCH


def hellos(port, stranger, hostile, draw):
    """Handshakes: whole ones, half ones, and what is none."""
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(draw.choice((b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", draw.randbytes(300), b"GET / HTTP/1.1\r\n\r\n")))
    yield 1
    with dial(port, stranger) as connection:
        connection.sendall(draw.choice((b"", draw.randbytes(200) + b"\r\n\r\n", b"POST /v1/join HTTP/1.1\r\nContent-Le")))
    yield 1


def stalls(port, stranger, hostile, draw):
    """Connections that stop in the middle of a word, or ask much and never read, a hundred at a time."""
    with contextlib.ExitStack() as held:
        for _ in range(100):
            connection = held.enter_context(dial(port, stranger))
            connection.setblocking(False)
            with contextlib.suppress(OSError):
                connection.send(draw.choice((b"POST /v1/look HTTP/1.1\r\nHost: x\r\nContent-Length: 34\r\n\r\n\x08",
                                             b"GET /v1/points HTTP/1.1\r\nHost: x\r\n\r\n" * 50, b"POST /v1/jo")))
            yield 1
            if over():
                return


REFUSAL = 7 << 3 | 2  # a field's tag: with it an answer is a well-formed refusal, which is no lie


def fuzzed(draw, frame):
    frame = bytearray(frame)
    for _ in range(draw.randrange(1, 8)):
        frame[draw.randrange(len(frame))] = draw.choice([byte for byte in range(256) if byte != REFUSAL])
    return bytes(draw.choice((frame, frame[:draw.randrange(len(frame) + 1)], frame + frame)))


def lies(port, stranger, hostile, draw):
    """A party of the study that answers with wrong lengths, numbers that are none, fuzzed frames and a gibibyte."""
    status, body = post(port, "/v1/poll", packed(1, PROTOCOL) + packed(2, b"trial"), hostile)
    question = fields_of(body).get(2) if status == 200 else None
    if question is None:
        yield 1
        return
    question = fields_of(question)
    length = fields_of(question[9])[1] if 9 in question else 3
    head = packed(1, PROTOCOL) + packed(2, question[2]) + packed(3, question.get(5, 0)) + packed(4, question[7])
    not_a_number = packed(5, packed(1, b"sum") + packed(2, packed(1, struct.pack("<2d", float("nan"), float("inf")))))
    short, long, large = answer_to(question, [0] * (length - 1)), answer_to(question, [0] * (length + 1)), \
        answer_to(question, [2 ** 62 + 1] * length)
    for body in (head + not_a_number, head, short, long, large, fuzzed(draw, head), fuzzed(draw, head + not_a_number)):
        status = post(port, "/v1/answer", body, hostile)[0]
        if status == 200:
            raise SystemExit(f"a lie was taken: {body!r}")
        yield 1
    if announce(port, "/v1/answer", GIBIBYTE, hostile) != 413:
        raise SystemExit("a gibibyte was welcome")
    yield 1


ATTACKS = {"joins": joins, "hellos": hellos, "stalls": stalls, "lies": lies}


def attack(kind, port, authority, site, seed):
    stranger, hostile = tls(authority), tls(authority, os.path.join(site, "party.crt"), os.path.join(site, "party.key"))
    draw, tried, begun = random.Random(int(seed)), 0, time.monotonic()
    print("begun", flush=True)
    while tried == 0 or not over():  # a machine that is busy enough may not let it try before the study is over
        with contextlib.suppress(OSError):  # turned away, or hung up on
            for number in ATTACKS[kind](int(port), stranger, hostile, draw):
                tried += number
                if over():
                    break
    print(json.dumps({"tried": tried, "seconds": time.monotonic() - begun}), flush=True)


# ---- the study ----

class Flood(DeployedTest):
    def site(self, party):
        return next((self.home(party) / "studies").iterdir())

    def run_study(self, disturb):
        """Three honest parties, and a fourth that has joined and gives nothing that counts; the model."""
        self.study(method="estimate", set=None, epsilon=None, sum="clear", patience=0.5, parties="{expected: 4, minimum: 3}",
                   **{"lambda": 0})
        coordinator = self.coordinator()
        self.join(3, *EXACT).kill()
        attackers = self.attackers() if disturb else {}
        honest = [self.join(party, *EXACT) for party in PARTIES]
        for process in honest:
            self.assertEqual(process.finish(), 0, process.text())
        self.tried = {kind: self.stop(process) for kind, process in attackers.items()}
        self.assertIsNone(coordinator.process.poll(), coordinator.text())
        self.assertNotIn(" 500: ", self.log())
        self.assertEqual(self.status()["state"], "done")
        coordinator.kill()
        return json.loads((self.folder / "trial.model.json").read_text())

    def attackers(self):
        found = {}
        for number, kind in enumerate(("joins", "joins", "hellos", "stalls", "lies")):
            words = [sys.executable, os.path.abspath(__file__), "--attack", kind, str(self.port), str(self.folder / "ca.crt"),
                     str(self.site(3)), str(self.seed + number)]
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.addCleanup(process.communicate)
            self.assertEqual(process.stdout.readline(), "begun\n")
            found[f"{kind} {number}"] = process
        return found

    def stop(self, process):
        out, _ = process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, f"seed {self.seed}: {out}")
        return json.loads(out)

    def test_a_thousand_joins_a_second_stop_no_round_of_the_others(self):
        self.seed = random.SystemRandom().randrange(10 ** 6)
        model = self.run_study(disturb=True)
        for kind, told in self.tried.items():
            print(f"# seed {self.seed}, {kind}: {told['tried']} attempts, {told['tried'] / told['seconds']:.0f} a second", file=sys.stderr)
            self.assertGreater(told["tried"], 0, kind)
        self.folder = self.path / "in peace"
        for party in (*PARTIES, 3):
            os.rename(self.home(party), self.path / f"disturbed{party}")
        self.assertEqual(model, self.run_study(disturb=False), f"seed {self.seed}")
        self.assertEqual(model["guarantee"]["parties"], 3)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--attack"]:
        attack(*sys.argv[2:])
    else:
        unittest.main()
