#!/usr/bin/env python3
"""The services of systemd: systemd itself has no complaint, they are hardened, and the programs say when they are ready.

    TACIT=build/src/cli/tacit tests/service/test_systemd.py
"""
import os
import re
import shutil
import socket
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, TACIT, DeployedTest, environment

UNITS = Path(__file__).resolve().parents[2] / "systemd"
ANALYZE = shutil.which("systemd-analyze")


class Services(DeployedTest):
    def units(self):
        """As installed, except for the program of this build."""
        made = []
        for template in sorted(UNITS.glob("*.service.in")):
            unit = self.path / template.name.removesuffix(".in").replace("@.", "@trial.")
            unit.write_text(template.read_text().replace("@bindir@", os.path.dirname(TACIT)))
            made.append(unit)
        self.assertEqual(len(made), 3)
        return made

    @unittest.skipUnless(ANALYZE, "systemd-analyze is not here")
    def test_systemd_has_no_complaint(self):
        for unit in self.units():
            done = subprocess.run([ANALYZE, "verify", "--man=no", unit], capture_output=True, text=True, timeout=PATIENCE)
            said = [line for line in (done.stdout + done.stderr).splitlines() if "tacit" in line]
            self.assertEqual(said, [], unit.name)
            self.assertEqual(done.returncode, 0, done.stderr)
        # The control: a misspelt line is found.
        bad = self.path / "bad.service"
        bad.write_text(unit.read_text().replace("NoNewPrivileges=yes", "NoNewPrivilege=yes"))
        done = subprocess.run([ANALYZE, "verify", "--man=no", bad], capture_output=True, text=True, timeout=PATIENCE)
        self.assertIn("NoNewPrivilege", done.stderr)

    @unittest.skipUnless(ANALYZE, "systemd-analyze is not here")
    def test_they_are_hardened(self):
        for unit in self.units():
            done = subprocess.run([ANALYZE, "security", "--offline=true", "--no-pager", unit], capture_output=True, text=True,
                                  timeout=PATIENCE)
            if "unrecognized option" in done.stderr:
                self.skipTest("this systemd does not examine files")
            level = re.search(r"exposure level for \S+: ([\d.]+)", done.stdout)
            self.assertLess(float(level.group(1)), 2.5, done.stdout)

    def ready(self, words, home=None):
        """What the program tells the service manager."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            path = self.path / "notify"
            path.unlink(missing_ok=True)
            manager.bind(str(path))
            manager.settimeout(PATIENCE)
            process = subprocess.Popen([TACIT, *map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL, env={**environment(home), "NOTIFY_SOCKET": str(path)})
            try:
                said = manager.recv(256)
                if words[0] == "coordinator":
                    self.assertTrue((self.folder / "address").exists())
            finally:
                process.terminate()
                self.assertEqual(process.wait(PATIENCE), 0)
            return said

    def test_programs_say_when_they_are_ready(self):
        self.study()
        self.assertEqual(self.ready(["coordinator", self.folder, "--log-format", "json"]), b"READY=1")
        self.home(0).mkdir()
        self.assertEqual(self.ready(["party"], self.home(0)), b"READY=1")


if __name__ == "__main__":
    unittest.main(verbosity=2)
