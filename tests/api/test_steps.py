"""A device that takes part by steps, when its own scheduler says so: examples/stepping_party.c against a real coordinator."""
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "service"))
import deployed  # noqa: E402
from deployed import DeployedTest, Running, environment, told  # noqa: E402

DEVICE = os.environ["STEPPING_PARTY"]
EXACT = {"method": "estimate", "set": None, "epsilon": None, "lambda": None, "minimum_rows": 10}
ROUNDS = {"method": "dpgd", "set": "{rounds: 6, noise: party}", "epsilon": 1, "delta": 1e-5}


class Device(Running):
    """Like a tacit process, but another program."""

    def __init__(self, words, cwd):
        program, deployed.TACIT = deployed.TACIT, DEVICE
        try:
            super().__init__(words, cwd=cwd)
        finally:
            deployed.TACIT = program


class Steps(DeployedTest):
    def begin(self, **keys):
        self.study(**keys)
        self.serving = self.coordinator()

    def call(self, party, *words):
        done = subprocess.run([DEVICE, *told([self.home(party), *words], self.path)], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, env=environment(), cwd=self.path, timeout=deployed.PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def join_device(self, party, *options):
        self.home(party).mkdir()
        self.call(party, "join", self.invite(), f"data={self.rows(party)}", f"schema={self.path / 'schema.yaml'}", *options)

    def device(self, party):
        process = Device([self.home(party), "run", "trial"], self.path)
        self.addCleanup(process.clean)
        return process

    def step(self, party):
        """A process for one step, as a scheduler starts it: its state, and when to call again."""
        state, after = self.call(party, "step", "trial").stdout.split()
        return state, int(after)

    def pause(self, party):
        (self.home(party) / "paused").touch()

    def resume_device(self, party):
        (self.home(party) / "paused").unlink()

    def finished(self, process):
        self.assertEqual(process.finish(), 0, process.text())
        lines = process.process.stdout.read().splitlines()
        self.assertEqual(lines[-1], "ended 0")
        return lines

    def weights(self, path):
        return json.loads(path.read_text())["weights"]

    def test_parties_that_take_steps_end_with_the_model_of_parties_that_wait(self):
        self.begin(**EXACT)
        for party in range(3):
            self.join_device(party, "allow-exact=yes", "allow-entrusted=yes")
        for process in [self.device(party) for party in range(3)]:
            self.finished(process)
        by_steps = self.weights(self.home(0) / "model.json")
        self.assertEqual(by_steps, self.weights(self.folder / "trial.model.json"))
        self.serving.kill(signal.SIGTERM)
        self.folder = self.path / "again"
        self.begin(**EXACT)
        waiting = {}
        for party in range(3):
            self.limit(party, home=self.home(f"again{party}"))
            waiting[party] = self.start(*self.join_words(party, self.invite(), "--allow-exact", "--allow-entrusted"), home=self.home(f"again{party}"))
        for process in waiting.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(by_steps, self.weights(self.folder / "trial.model.json"))

    def test_a_process_for_every_step_is_charged_as_one_that_stays(self):
        """Between any two steps the process is gone, with whatever it had in memory."""
        self.begin(**ROUNDS)
        for party in range(3):
            self.join_device(party)
        others = [self.device(party) for party in (1, 2)]
        states = []
        while not states or states[-1] != "ended":
            state, after = self.step(0)
            self.assertIn(state, ("waiting", "answered", "ended"))
            self.assertLess(after, 60000 / 2)  # a round waits a minute for stragglers
            states.append(state)
        for process in others:
            self.finished(process)
        self.assertGreaterEqual(states.count("answered"), 6)
        self.assert_charged_alike()

    def test_a_device_that_is_killed_while_it_answers_is_charged_once(self):
        self.begin(**ROUNDS)
        for party in range(3):
            self.join_device(party)
        others = [self.device(party) for party in (1, 2)]
        for number in (1, 3, 5):
            process = self.device(0)
            process.wait_line(f"round {number}: answering")
            process.kill(signal.SIGKILL)
        for process in [self.device(0), *others]:
            self.finished(process)
        self.assert_charged_alike()

    def assert_charged_alike(self):
        prices = [[charge["price"] for charge in self.charges(party)] for party in range(3)]
        self.assertTrue(prices[1])
        self.assertEqual(prices[0], prices[1])
        for party in range(3):
            self.succeed("ledger", "verify", home=self.home(party))

    def test_a_paused_device_sends_nothing_and_comes_back(self):
        self.begin(**ROUNDS)
        for party in range(3):
            self.join_device(party)
        self.serving.kill(signal.SIGTERM)
        seen = []
        with socket.create_server(("127.0.0.1", self.port)) as listener:
            def hang_up():
                while True:
                    try:
                        connection, _ = listener.accept()
                    except OSError:
                        return
                    seen.append(1)
                    connection.close()
            thread = threading.Thread(target=hang_up)
            thread.start()
            self.pause(0)
            for _ in range(2):
                self.assertEqual(self.step(0), ("paused", 900000))
            self.assertEqual(seen, [])
            self.resume_device(0)
            self.assertEqual(self.step(0)[0], "away")  # it does dial: the silence was the pause's
            self.assertNotEqual(seen, [])
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()
        self.serving = self.coordinator("--listen", f"127.0.0.1:{self.port}")
        self.pause(0)
        devices = [self.device(party) for party in range(3)]
        devices[0].wait_line("^paused: nothing is sent")
        devices[1].wait_line("round 1: answering")
        self.assertEqual(self.charges(0), [])
        self.resume_device(0)
        for process in devices:
            self.finished(process)
        self.assert_charged_alike()


if __name__ == "__main__":
    unittest.main(verbosity=2)
