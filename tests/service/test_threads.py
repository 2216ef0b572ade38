#!/usr/bin/env python3
"""Every thread of the programs that serve is confined, those of libraries and those that start late too: each is asked, in the running
process, to read and to write what the process has no use for.

    TACIT=build/src/cli/tacit TACIT_PROBE=build/tests/service/libprobe.so tests/service/test_threads.py
"""
import ctypes
import errno
import json
import os
import signal
import sys
import tempfile
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, DeployedTest, Running
from pages import Page

PROBE = os.environ.pop("TACIT_PROBE", None)
os.environ.pop("TACIT_HARDENING", None)
SIGNAL = signal.SIGRTMIN + 7
C = ctypes.CDLL(None, use_errno=True)
LANDLOCK = C.syscall(444, None, 0, 1) > 0


def threads(process):
    """{thread: {NoNewPrivs, Seccomp}} of those that are there now."""
    found = {}
    for folder in Path(f"/proc/{process.process.pid}/task").iterdir():
        try:
            lines = dict(line.split(":\t") for line in (folder / "status").read_text().splitlines())
        except (OSError, ValueError):
            continue  # gone meanwhile
        found[int(folder.name)] = int(lines["NoNewPrivs"]), int(lines["Seccomp"])
    return found


@unittest.skipIf(PROBE is None, "a preloaded library and a sanitizer's runtime do not go together")
class Threads(DeployedTest):
    landlock = LANDLOCK
    more = {}

    def setUp(self):
        super().setUp()
        self.probes = {}
        self.limit(0)
        self.filtered = "system calls filtered" in self.hardening()["text"]  # the build has libseccomp

    def start(self, *words, home=None):
        """With the probe, and with OpenBLAS wanting threads, which it starts before the program begins."""
        away = tempfile.TemporaryDirectory(prefix="tacit-elsewhere-")  # the folder that a party's rows are in, it may read
        self.addCleanup(away.cleanup)
        folder = Path(away.name)
        (folder / "forbidden").write_text("rows of somebody else\n")
        probe = folder / "probe.so"  # a blank in a path would end it for the loader
        probe.symlink_to(PROBE)
        process = Running(words, home, self.path, {"LD_PRELOAD": str(probe), "TACIT_PROBE": str(folder), "OPENBLAS_NUM_THREADS": "4",
                                                   **self.more})
        self.addCleanup(process.clean)
        self.probes[process] = folder
        return process

    def answers(self, process):
        lines = (self.probes[process] / "answers").read_text().split("\n")[:-1]
        return {int(thread): (int(read), int(write)) for thread, read, write in map(str.split, lines)}

    def ask(self, process):
        """What each thread that is there could do. One that ends before it answers has nothing to answer for."""
        os.truncate(self.probes[process] / "answers", 0)
        asked = {thread for thread in threads(process) if C.tgkill(process.process.pid, thread, SIGNAL) == 0}
        deadline = time.monotonic() + PATIENCE
        while waiting := (asked & threads(process).keys()) - self.answers(process).keys():
            self.assertLess(time.monotonic(), deadline, f"threads {waiting} of {process.words[0]} do not answer")
            os.sched_yield()
        return self.answers(process)

    def check(self, process, least):
        """Every thread has no new privileges, a filter of its calls, and reaches no file that it was not given."""
        name = process.words[0]
        any_study = name == "page" or (name == "party" and process.words[1].startswith("--"))
        for thread, (privileges, mode) in threads(process).items():
            self.assertEqual((privileges, mode), (1, 2 if self.filtered else mode), f"{name}, thread {thread}")
        found = self.ask(process)
        self.assertGreaterEqual(len(found), least, name)
        # Who serves studies that are joined meanwhile may read everywhere.
        read, written = (errno.EACCES, errno.EACCES) if self.landlock else (0, 0)
        for thread, result in found.items():
            self.assertEqual(result, (0 if any_study else read, written), f"{name}, thread {thread} of {found}")

    def hardening(self):
        """What `tacit doctor` says."""
        process = self.start("doctor", "--json", home=self.home(0))
        process.finish()
        findings = json.loads(process.process.stdout.read())["findings"]
        return next(one for one in findings if one["check"] == "hardening")

    def check_study(self):
        self.study()
        coordinator = self.coordinator("--dashboard", "0", "--metrics", "0")
        self.check(coordinator, 4)
        parties = {party: self.join(party) for party in (0, 1)}
        self.check(parties[0], 2)  # the pool's
        parties[0].kill()
        parties[0] = self.resume(0)
        page = self.start("page", "--metrics", "0", home=self.home(0))
        Page(page).log_in()
        self.check(page, 2)
        self.check(coordinator, 5)  # the study's own thread, too, which starts late
        daemon = self.start("party", "--until-done", home=self.home(1)) if parties[1].kill() else None
        daemon.wait_line("trial")
        self.check(daemon, 2)
        self.check(parties[0], 2)
        parties[2] = self.join(2)
        for process in (parties[0], parties[2], daemon):
            self.assertEqual(process.finish(), 0, process.text())
        self.check(coordinator, 4)
        self.check(page, 2)

    def test_every_thread_of_coordinator_party_and_page_is_confined(self):
        self.check_study()

    def test_every_thread_of_both_center_servers_is_confined(self):
        self.study("first")
        b = self.start("center", "--role", "b", self.path / "b", "--coordinator", self.folder / "ca.crt", "--metrics", "0")
        b.wait_line("serving at ")
        self.check(b, 2)
        self.study(method="newton", set="{engine: shares}", epsilon=None, center="b/center.card", **{"lambda": 1})
        a = self.start("center", "--role", "a", self.folder)
        a.wait_line("serving at ")
        parties = [self.join(party, "--allow-exact") for party in range(3)]
        while all(party.process.poll() is None for party in parties):  # in the midst of it
            self.check(b, 2)
            self.check(a, 3)
        for party in parties:
            self.assertEqual(party.finish(), 0, party.text())

    def test_where_hardening_is_off_the_probe_reads_and_writes(self):
        """What shows that the probe can tell."""
        self.more = {"TACIT_HARDENING": "off"}
        page = self.start("page", home=self.home(0))
        Page(page)
        self.assertEqual({privileges for privileges, _ in threads(page).values()}, {0})
        self.assertEqual(set(self.ask(page).values()), {(0, 0)})

    def test_a_kernel_without_landlock_serves_and_doctor_says_what_is_missing(self):
        self.more, self.landlock = {"TACIT_PROBE_LANDLOCK": "none"}, False
        found = self.hardening()
        self.assertEqual(found["level"], "warn")
        self.assertIn("files not confined", found["text"])
        self.assertIn("Landlock", found["remedy"])
        self.check_study()


if __name__ == "__main__":
    unittest.main()
