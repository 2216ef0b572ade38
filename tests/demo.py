"""The demonstration ends well, one hospital having withdrawn, and leaves no process behind when it is interrupted at any moment."""

import os
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def start(folder):
    return subprocess.Popen(
        [sys.executable, os.path.join(ROOT, "script", "demo.py"), "--tacit", os.environ["TACIT"], "--examples",
         os.path.join(ROOT, "examples"), "--keep", folder],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def processes_of(folder):
    """Ids of running processes whose command line or environment names the folder."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as stream:
                    if folder.encode() in stream.read():
                        found.append(int(entry))
            except OSError:
                pass
    return found


class Demo(unittest.TestCase):
    def test_twenty_hospitals_train_models(self):
        with tempfile.TemporaryDirectory(prefix="tacit-demo-test-") as folder:
            demo = start(folder)
            output, _ = demo.communicate(timeout=600)
            self.assertEqual(demo.returncode, 0, output)
            self.assertRegex(output, r"\ADashboard: http://127\.0\.0\.1:\d+/#link=[0-9a-f]{64}\n")
            for step in ("4028 children", "hospital 7 withdraws", "epsilon 1: done", "epsilon 2: done", "a hospital alone, average",
                         "together, private, epsilon 2", "all rows pooled", "late_unfavourable", "now refuse every study"):
                self.assertIn(step, output)
            self.assertRegex(output, r"hospitals 1-6, 8-20: \d+ answers, sealed; epsilon 2\.\d\d of 4 spent")
            self.assertRegex(output, r"hospital 7: \d answers?, sealed; epsilon 0\.\d\d of 4 spent")
            with open(os.path.join(folder, "coordinator", "relapse.model.json"), "rb") as shared:
                expected = shared.read()
            self.assertFalse(os.path.exists(os.path.join(folder, "model-relapse-7.json")))  # withdrew
            for hospital in (1, 6, 8, 20):
                with open(os.path.join(folder, f"model-relapse-{hospital}.json"), "rb") as own:
                    self.assertEqual(own.read(), expected)
            self.assertEqual(processes_of(folder), [])

    def test_an_interruption_leaves_nothing_running(self):
        # At the first, eighth, ... line that the demonstration prints: while it deals out rows, while hospitals join, while it evaluates.
        for number, at_line in ((signal.SIGINT, 1), (signal.SIGTERM, 8), (signal.SIGINT, 13)):
            with self.subTest(signal=number, line=at_line), \
                    tempfile.TemporaryDirectory(prefix="tacit-demo-test-") as folder:
                demo = start(folder)
                for _ in range(at_line):
                    demo.stdout.readline()
                demo.send_signal(number)
                output, _ = demo.communicate(timeout=600)
                self.assertEqual(demo.returncode, 1, output)
                self.assertEqual(processes_of(folder), [], output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
