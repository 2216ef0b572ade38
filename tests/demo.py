"""The demonstration ends well, one clinic having withdrawn, and leaves no process behind when it is interrupted at any moment."""

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
    def test_five_clinics_train_a_model(self):
        with tempfile.TemporaryDirectory(prefix="tacit-demo-test-") as folder:
            demo = start(folder)
            output, _ = demo.communicate(timeout=240)
            self.assertEqual(demo.returncode, 0, output)
            self.assertRegex(output, r"\ADashboard: http://127\.0\.0\.1:\d+/#link=[0-9a-f]{64}\n")
            for step in ("recruiting: 3 of 5", "clinic 3 withdraws", "done: 10 rounds", "together, private"):
                self.assertIn(step, output)
            self.assertEqual(output.count("10 answers of 32 numbers, sealed; epsilon 1.00 of 2 spent"), 4, output)
            model = os.path.join(folder, "coordinator", "breast-cancer.model.json")
            with open(model, "rb") as shared:
                expected = shared.read()
            self.assertFalse(os.path.exists(os.path.join(folder, "model3.json")))  # withdrew
            for clinic in (1, 2, 4, 5):
                with open(os.path.join(folder, f"model{clinic}.json"), "rb") as own:
                    self.assertEqual(own.read(), expected)
            self.assertEqual(processes_of(folder), [])

    def test_an_interruption_leaves_nothing_running(self):
        # At the first, second, ... line that the demonstration prints: while it deals, serves, joins, evaluates.
        for number, at_line in ((signal.SIGINT, 1), (signal.SIGTERM, 2), (signal.SIGINT, 9), (signal.SIGTERM, 10), (signal.SIGINT, 14)):
            with self.subTest(signal=number, line=at_line), \
                    tempfile.TemporaryDirectory(prefix="tacit-demo-test-") as folder:
                demo = start(folder)
                for _ in range(at_line):
                    demo.stdout.readline()
                demo.send_signal(number)
                output, _ = demo.communicate(timeout=240)
                self.assertEqual(demo.returncode, 1, output)
                self.assertEqual(processes_of(folder), [], output)


if __name__ == "__main__":
    unittest.main(verbosity=2)
