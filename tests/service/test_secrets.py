#!/usr/bin/env python3
"""Secrets stay where they belong: passwords of databases, invitations, and a home that others could write.

    TACIT=build/src/cli/tacit tests/service/test_secrets.py
"""
import os
import re
import select
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, TACIT, DeployedTest, Running, environment

PASSWORD = "open-sesame-7"
SOURCES = (f"postgres:host=db user=u password={PASSWORD}?SELECT 1", f"postgres:host=db PASSWORD = '{PASSWORD}'?SELECT 1",
           f"postgres:postgresql://u:{PASSWORD}@db/clinic?SELECT 1", f"postgres:service=x sslpassword={PASSWORD}?SELECT 1")


def wait_for_status(pid, filtered):
    """What the kernel says of a process, once it has hardened itself; the filter of system calls comes last."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        status = Path(f"/proc/{pid}/status").read_text()
        if re.search(r"NoNewPrivs:\s+1", status) and (not filtered or "Seccomp:\t0" not in status):
            return status
        select.select((), (), (), 0.02)
    return status


class Secrets(DeployedTest):
    def test_a_password_in_a_data_source_is_refused_and_kept_nowhere(self):
        self.study()
        self.coordinator()
        home, says = self.home(0), ["password", "pgpass", "postgres:service=NAME"]
        self.succeed("ledger", "limit", "--source", "clinic", "--epsilon", 1, home=home)
        for source in SOURCES:
            self.refuse(2, "ledger", "limit", "--source", source, "--epsilon", 1, home=home, says=says)
            for more in ((), ("--source", "clinic")):
                line = self.refuse(2, "join", self.invite(), "--data", source, "--schema", "schema.yaml", "--yes", *more,
                                   home=home, says=says)
                self.assertNotIn(PASSWORD, line)
        for path in home.rglob("*"):
            self.assertNotIn(PASSWORD.encode(), path.read_bytes() if path.is_file() else b"", path)
        # A query may speak of a column of that name.
        self.succeed("ledger", "limit", "--source", "postgres:service=x?SELECT password = 'x' FROM t", "--epsilon", 1, home=home)

    def test_an_invitation_is_taken_from_a_file_or_standard_input_and_not_from_the_arguments(self):
        self.study()
        self.coordinator()
        self.limit(0)
        invitation, home = self.invite(), self.home(0)
        words = ["--data", str(self.rows(0)), "--schema", "schema.yaml", "--yes", "--no-wait"]
        for command in (["join", invitation, *words], ["catalogue", invitation]):
            done = subprocess.run([TACIT, *command], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment(home),
                                  cwd=self.path, timeout=PATIENCE)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("put it in a file", done.stderr)
            self.assertNotIn(invitation, done.stderr)
        done = subprocess.run([TACIT, "join", "-", *words], input=invitation, capture_output=True, text=True, env=environment(home),
                              cwd=self.path, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_serves_is_hardened(self):
        self.study()
        filtered = "system calls filtered" in self.tacit("doctor", self.folder).stdout
        coordinator = self.coordinator()
        for process in (coordinator, self.join(0), self.start("party", home=self.path / "new home")):
            status = wait_for_status(process.process.pid, filtered)
            limits = Path(f"/proc/{process.process.pid}/limits").read_text()
            self.assertRegex(status, r"NoNewPrivs:\s+1")
            self.assertRegex(status, rf"Seccomp:\s+{2 if filtered else 0}")
            self.assertRegex(limits, r"Max core file size\s+0\s+0")
        process = Running(["coordinator", self.folder / "nothing"], more={"TACIT_HARDENING": "off"})
        self.addCleanup(process.clean)
        self.assertEqual(process.finish(), 1)
        self.assertIn("not hardened", process.text())

    def test_a_home_that_others_can_write_is_refused(self):
        home = self.home(0)
        self.limit(0)
        for mode in (0o770, 0o702, 0o777):
            home.chmod(mode)
            self.refuse(3, "ledger", "show", home=home, says=["can be written by others", f"chmod 700 {home}"])
            self.refuse(3, "party", home=home, says=["chmod 700"])
        home.chmod(0o755)
        self.succeed("ledger", "show", home=home)
        if os.geteuid() == 0:
            os.chown(home, 12345, -1)
            self.refuse(3, "ledger", "show", home=home, says=["belongs to another user"])
        self.study()
        self.folder.chmod(0o777)
        self.refuse(3, "coordinator", self.folder, says=["can be written by others"])
        open_folder = self.path / "b"
        open_folder.mkdir()
        open_folder.chmod(0o777)
        self.refuse(3, "center", open_folder, "--role", "b", "--coordinator", self.folder / "ca.crt",
                    says=["can be written by others"])


if __name__ == "__main__":
    unittest.main()
