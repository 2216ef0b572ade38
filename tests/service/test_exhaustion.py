#!/usr/bin/env python3
"""What somebody can use up at a coordinator: memory by bodies that never end, the disk by refusals. Bounded in count and time, on loopback only.

    TACIT=build/src/cli/tacit tests/service/test_exhaustion.py
"""
import contextlib
import os
import re
import select
import signal
import socket
import ssl
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, POLL, DeployedTest, announce, fields_of, post, tls

EXACT = ("--allow-entrusted", "--allow-exact")
MEBIBYTE = 1 << 20


def resident(pid):
    """Bytes of memory that a process holds now."""
    with open(f"/proc/{pid}/status") as status:
        return 1024 * int(re.search(r"VmRSS:\s+(\d+) kB", status.read()).group(1))


class Exhaustion(DeployedTest):
    def clear_study(self):
        self.study(method="estimate", set=None, epsilon=None, sum="clear", patience=60, parties="{expected: 2, minimum: 2}",
                   **{"lambda": 0})
        coordinator = self.coordinator()
        self.join(0, *EXACT).kill()
        site = next((self.home(0) / "studies").iterdir())
        return coordinator, tls(self.folder / "ca.crt", site / "party.crt", site / "party.key")

    def dial(self, context, held):
        plain = held.enter_context(socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE))
        return held.enter_context(context.wrap_socket(plain, server_hostname="127.0.0.1"))

    def ask(self, connection, request, times):
        """Send a request so often without waiting, then wait until each was refused."""
        connection.sendall(times * request)
        answered, got = 0, b""
        while answered < times:
            piece = connection.recv(1 << 16)
            self.assertTrue(piece)
            got = got[-9:] + piece  # an answer's beginning may be cut in two
            answered += got.count(b"HTTP/1.1 4")

    def push(self, connection, length, sent):
        """Announce a body and send a part of it; how much was taken before the coordinator had enough."""
        taken = 0
        with contextlib.suppress(OSError):
            connection.sendall(b"POST /v1/answer HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % length)
            while taken < sent:
                connection.sendall(bytes(MEBIBYTE))
                taken += MEBIBYTE
        return taken

    def test_answers_that_never_end_do_not_fill_the_memory(self):
        coordinator, hostile = self.clear_study()
        before = resident(coordinator.process.pid)
        with contextlib.ExitStack() as held:
            for _ in range(8):
                self.push(self.dial(hostile, held), 64 * MEBIBYTE, 24 * MEBIBYTE)
            self.assertEqual(post(self.port, "/v1/look", b"", hostile)[0], 400)  # and it still listens
            grown = resident(coordinator.process.pid) - before
        self.assertLess(grown, 48 * MEBIBYTE)

    def test_an_answer_is_bounded_by_the_open_question(self):
        _, hostile = self.clear_study()
        # Nothing is asked yet: what is longer than a refusal comes too late or too early, and ends nobody's part.
        self.assertEqual(announce(self.port, "/v1/answer", 200000, hostile), 409)
        self.assertEqual(announce(self.port, "/v1/answer", 1 << 30, hostile), 413)
        honest = self.join(1, *EXACT)
        honest.wait_line("answering")
        status, body = post(self.port, "/v1/poll", POLL, hostile)
        self.assertEqual(status, 200)
        self.assertIn(2, fields_of(body))
        self.assertEqual(announce(self.port, "/v1/answer", MEBIBYTE, hostile), 409)  # a sum of a few numbers is open

    def test_a_second_answer_of_a_party_ends_the_first(self):
        _, hostile = self.clear_study()
        with contextlib.ExitStack() as held:
            first, second = self.dial(hostile, held), self.dial(hostile, held)
            for connection in (first, second):
                connection.sendall(b"POST /v1/answer HTTP/1.1\r\nHost: x\r\nContent-Length: 30000\r\n\r\n" + bytes(100))
            ended = self.first_to_end((first, second))  # the coordinator may hear of either first
            other = second if ended is first else first
            other.sendall(bytes(29900))
            self.assertIn(b"HTTP/1.1 4", other.recv(100))

    def first_to_end(self, connections):
        """What is readable may be a session ticket, and no end."""
        for connection in connections:
            connection.settimeout(0)
        while True:
            ready = select.select(connections, [], [], 60)[0]
            self.assertTrue(ready)
            for connection in ready:
                with contextlib.suppress(ssl.SSLWantReadError):
                    try:
                        self.assertEqual(connection.recv(100), b"")
                    except ConnectionResetError:
                        pass
                    for each in connections:
                        each.settimeout(60)
                    return connection

    def test_refusals_do_not_fill_the_disk(self):
        """A client without a certificate wrote 130 MB of log in ten seconds."""
        coordinator, hostile = self.clear_study()
        stranger, tried = tls(self.folder / "ca.crt"), 0
        before = (self.folder / "coordinator.log").stat().st_size
        for path in (b"/v1/poll", b"/" + 2000 * b"x", b"/v1/join"):
            request = b"POST " + path + b" HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
            with contextlib.ExitStack() as held:
                connection = self.dial(stranger, held)
                for _ in range(20):
                    self.ask(connection, request, 50)
                    tried += 50
        with contextlib.ExitStack() as held:
            self.ask(self.dial(hostile, held), b"POST /v1/answer HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n", 200)
        self.assertEqual(coordinator.kill(signal.SIGTERM), 0)
        log = self.log()
        self.assertLess(len(log) - before, 100000)
        self.assertLess(max(map(len, log.splitlines())), 500)
        written = len(re.findall("^\\S+ (?:refused POST|/v1/)", log, re.M))
        self.assertGreater(written, 20)
        held_back = sum(map(int, re.findall(r"(\d+) more like this were not written", log)))
        self.assertEqual(written + held_back, tried + 200)

    def test_what_a_stranger_may_send_is_small(self):
        self.clear_study()
        stranger = tls(self.folder / "ca.crt")
        self.assertEqual(post(self.port, "/v1/join", bytes(60000), stranger)[0], 413)


if __name__ == "__main__":
    unittest.main()
