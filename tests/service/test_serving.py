#!/usr/bin/env python3
"""A coordinator among other programs: what it prints is not read, and its port is taken.

    TACIT=build/src/cli/tacit tests/service/test_serving.py
"""
import fcntl
import os
import re
import socket
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import TACIT, DeployedTest, environment, post, tls


F_SETPIPE_SZ = 1031  # Python has no name for it before 3.10


class Unread(DeployedTest):
    def test_a_study_ends_though_nobody_reads_what_is_printed(self):
        self.study()
        process = subprocess.Popen([TACIT, "coordinator", self.folder], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE, env=environment(), cwd=self.path)
        for last in (process.stderr.close, process.wait, process.kill):
            self.addCleanup(last)
        self.port = int(re.search(rb"serving at https://\S+:(\d+)", process.stderr.readline()).group(1))
        nobody, path = tls(self.folder / "ca.crt"), "/" + "x" * 500
        fcntl.fcntl(process.stderr, F_SETPIPE_SZ, 4096)
        for _ in range(25):  # what is told of them is more than such a pipe holds
            self.assertEqual(post(self.port, path, b"", nobody)[0], 403)
        self.check_done({party: self.join(party) for party in range(3)})
        os.set_blocking(process.stderr.fileno(), False)
        printed = os.read(process.stderr.fileno(), 1 << 20)
        self.assertGreater(self.log().count(" refused POST "), printed.count(b"refused POST "))
        os.set_blocking(process.stderr.fileno(), True)
        self.study("again")  # which the coordinator tells of
        self.assertRegex(os.read(process.stderr.fileno(), 1 << 20), rb"warning: \d+ lines were dropped here")


class Port(DeployedTest):
    def test_a_port_that_was_taken_is_not_exchanged_for_another(self):
        self.study()
        coordinator = self.coordinator()
        port, party = self.port, self.join(0)
        coordinator.kill()
        party.kill()
        with socket.create_server(("127.0.0.1", port), reuse_port=False):
            line = self.refuse(1, "coordinator", self.folder, "--quiet", says=[f"port {port}", "--listen ADDRESS:PORT"])
            self.assertIn("parties look for this coordinator there", line)
        self.coordinator()
        self.assertEqual(self.port, port)

    def test_a_port_that_is_free_again_is_waited_for(self):
        self.study()
        coordinator = self.coordinator()
        port = self.port
        coordinator.kill()
        with socket.create_server(("127.0.0.1", port)):
            waiting = self.start("coordinator", self.folder)
            waiting.wait_line(f"waiting for the port of last time: .*{port}")
        found = waiting.wait_line(r"serving at (https://\S+)").group(1)
        self.assertTrue(re.search(f":{port}$", found), found)


if __name__ == "__main__":
    unittest.main()
