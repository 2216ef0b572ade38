#!/usr/bin/env python3
"""kill -9 of coordinator and parties, at random moments and at every durable step: the study ends as if nothing had happened.

    TACIT=build/src/cli/tacit TACIT_DIES=build/tests/service/libdies.so tests/service/test_kills.py [--seed N]

Without noise the model is that of the undisturbed run, byte for byte. With noise the sums are those of the answers that the
parties have stored, each of which is paid for once.
"""
import os
import random
import shutil
import signal
import socket
import sqlite3
import struct
import sys
import threading
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, DeployedTest, Running, fields_of

PARTIES = range(3)
COLUMNS = 10
EXACT = ("--allow-entrusted", "--allow-exact")
SEED = random.SystemRandom().randrange(10 ** 6)


class Heard(Running):
    """Also tells a listener of every line."""

    def __init__(self, words, home, cwd, listener, **more):
        self.listener = listener
        super().__init__(words, home, cwd, **more)

    def read(self):
        for line in self.process.stderr:
            with self.moved:
                self.lines.append(line.rstrip("\n"))
                self.moved.notify_all()
            self.listener(line)
        with self.moved:
            self.ended = True
            self.moved.notify_all()


class KillTest(DeployedTest):
    """The same study again and again: its parts live in folders named after the run."""

    def setUp(self):
        super().setUp()
        columns = "".join(f"  - {{name: c{at}, kind: number, low: 0, high: 1}}\n" for at in range(COLUMNS))
        (self.path / "schema.yaml").write_text('label: {name: sick, classes: ["no", "yes"]}\ncolumns:\n' + columns)
        self.moved, self.fixed = threading.Condition(), self.free_port()

    def rows(self, party):
        """Columns that say almost the same, so that a minimum takes many rounds to find."""
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            draw = random.Random(party)
            lines = [",".join(f"c{at}" for at in range(COLUMNS)) + ",sick"]
            for _ in range(60):
                middle = draw.random()
                row = [min(1, max(0, middle + draw.gauss(0, 0.02 * (at + 1)))) for at in range(COLUMNS)]
                sick = row[0] - row[-1] + draw.gauss(0, 0.3) > 0
                lines.append(",".join(f"{value:.6f}" for value in row) + (",yes" if sick else ",no"))
            path.write_text("\n".join(lines) + "\n")
        return path

    def free_port(self):
        """Below those that the system hands out, so that nobody else gets it while a coordinator is dead."""
        draw = random.SystemRandom()
        while True:
            with socket.socket() as trial:
                port = draw.randrange(20000, 32000)
                try:
                    trial.bind(("127.0.0.1", port))
                    return port
                except OSError:
                    pass

    def coordinator(self, *words):
        return super().coordinator("--listen", f"127.0.0.1:{self.fixed}", *words)

    def enter(self, run):
        self.run_name, self.round, self.journal = run, 0, {}
        self.folder = self.path / f"consortium-{run}"

    def home(self, party):
        return self.path / f"home{party}-{self.run_name}"

    def heard(self, line):
        """Which round the parties have come to."""
        if line.startswith("round ") and ": answering" in line:
            with self.moved:
                self.round = max(self.round, int(line.split()[1].rstrip(":")))
                self.moved.notify_all()

    def start(self, *words, home=None, dies=None):
        more = {"LD_PRELOAD": os.path.abspath(os.environ["TACIT_DIES"]), "TACIT_DIES": dies} if dies else {}
        process = Heard(words, home, self.path, self.heard, more=more)
        self.addCleanup(process.clean)
        return process

    def prepare(self, run, *allowed, **definition):
        """All have joined; the first question waits for those who answer."""
        self.enter(run)
        self.study(**definition)
        coordinator = self.coordinator()
        for party in PARTIES:
            self.limit(party, 1e6)
            self.succeed(*self.join_words(party, self.invite(), "--no-wait", *allowed), home=self.home(party))
        coordinator.wait_line("runs with 3 parties")
        coordinator.kill()

    def copy(self, source, run):
        """Another run from where the prepared one stands."""
        self.enter(source)
        folders = {"folder": self.folder, **{party: self.home(party) for party in PARTIES}}
        self.enter(run)
        for which, before in folders.items():
            shutil.copytree(before, self.folder if which == "folder" else self.home(which))

    def serve(self):
        """Everything again: {0, 1, 2: the parties, "coordinator": it}."""
        return {who: self.begin(who) for who in ("coordinator", *PARTIES)}

    def begin(self, who, dies=None, options=("--until-done",)):
        if who == "coordinator":
            return self.start("coordinator", self.folder, "--listen", f"127.0.0.1:{self.fixed}", *options, dies=dies)
        return self.start("party", "trial", "--retry", "0.02", home=self.home(who), dies=dies)

    def finish(self, running):
        for who, process in running.items():
            code = process.finish()
            self.assertEqual(code, 0, process.text())
        self.assertEqual(self.status()["state"], "done")
        for party in PARTIES:
            self.assertEqual(self.model(party).read_bytes(), self.result())
            self.succeed("ledger", "verify", home=self.home(party))

    def result(self):
        return (self.folder / "trial.model.json").read_bytes()

    def bill(self, party):
        """What the party has paid for, in order, without what names this run alone."""
        return [{key: value for key, value in charge.items() if key not in ("when", "study", "number")}
                for charge in self.charges(party)]

    def bills(self):
        return [self.bill(party) for party in PARTIES]


class AtRandom(KillTest):
    def disturb(self, draw, kills, rounds):
        """Kill whoever is drawn, as often as told, in every part of the study; start it again at once. Where a study gets ahead
        of the kills, these follow each other faster, and it stands still: it goes on only while all are alive."""
        running, killed = self.serve(), {who: 0 for who in ("coordinator", *PARTIES)}
        for number in range(kills):
            due = 1 + number * (rounds - 8) // kills  # the last ones need some rounds to happen in
            self.wait_for(due)
            who = draw.choice(("coordinator", "coordinator", *PARTIES))
            with self.moved:  # some moment of the round
                self.moved.wait_for(lambda: self.round > due, draw.choice((0.001, 0.05, 0.2)) * draw.random())
            if running[who].process.poll() is None:
                running[who].kill()
                killed[who] += 1
                if who == "coordinator":
                    self.read_journal()
                running[who] = self.begin(who)
        self.finish(running)
        return killed

    def read_journal(self):
        """What is in it stays as it is, until the study ends and it is erased."""
        database = sqlite3.connect(self.folder / "coordinator.db")
        for number, record in database.execute("SELECT round, record FROM journal WHERE round < 1000 AND record <> x''"):
            self.assertEqual(self.journal.setdefault(number, record), record)
        database.close()

    def wait_for(self, number):
        with self.moved:
            self.assertTrue(self.moved.wait_for(lambda: self.round >= number, PATIENCE),
                            f"round {number} never came: seed {SEED}")

    def test_two_hundred_kills_leave_no_trace_in_a_model_without_noise(self):
        """Some seventy rounds of masked sums, five steps each."""
        self.prepare("joined", *EXACT, method="estimate", set="{optimiser: lbfgs}", epsilon=None, **{"lambda": 0})
        self.copy("joined", "calm")
        self.finish(self.serve())
        calm, bills, rounds = self.result(), self.bills(), self.status()["rounds"]
        self.assertGreaterEqual(rounds, 50)
        self.assertEqual([len(bill) for bill in bills], [rounds] * 3)
        self.copy("joined", "killed")
        killed = self.disturb(random.Random(SEED), 200, rounds)
        print(f"seed {SEED}: {rounds} rounds, killed {killed}", file=sys.stderr)
        self.assertEqual(sum(killed.values()), 200)
        self.assertEqual(self.result(), calm)
        self.assertEqual(self.bills(), bills)

    def test_killed_around_a_pause_and_an_amendment(self):
        """Before and after the coordinator has noticed; the owners consent to the second version, and are killed over that too."""
        some = dict(method="estimate", set="{optimiser: lbfgs}", epsilon=None, sum="clear")
        self.prepare("joined", *EXACT, **some, **{"lambda": 1})
        self.copy("joined", "killed")
        self.succeed("study", "pause", self.folder, "trial")
        running = self.serve()
        running["coordinator"].wait_line("serving at")
        self.succeed("study", "amend", self.folder, self.definition(**some, **{"lambda": 0}))
        running["coordinator"].kill()
        running["coordinator"] = self.begin("coordinator")
        self.succeed("study", "resume", self.folder, "trial")
        for party in PARTIES:
            self.assertEqual(running[party].finish(), 3, running[party].text())
            self.succeed("consent", "trial", "--yes", home=self.home(party))
            running[party] = self.begin(party)
            if party != 2:
                running[party].kill()
                running[party] = self.begin(party)
            else:
                running["coordinator"].kill()
                running["coordinator"] = self.begin("coordinator")
        for number in (2, 4, 6):
            self.wait_for(number)
            running[0].kill()  # nothing goes on without it
            self.succeed("study", "pause", self.folder, "trial")
            running["coordinator"].kill()
            for who in ("coordinator", 0):
                running[who] = self.begin(who)
            self.succeed("study", "resume", self.folder, "trial")
        self.finish(running)
        disturbed, bills = self.result(), self.bills()
        self.prepare("calm", *EXACT, **some, **{"lambda": 0})
        self.finish(self.serve())
        self.assertEqual(disturbed, self.result())
        self.assertEqual(bills, self.bills())

    def test_with_noise_stored_answers_are_sent_again_and_paid_for_once(self):
        """Fifty rounds in clear: the journal's sums can be compared with what the parties have stored."""
        self.prepare("joined", method="dpgd", sum="clear", set="{noise: party, rounds: 50}", epsilon=2, delta="1e-5")
        self.copy("joined", "calm")
        self.finish(self.serve())
        bills = self.bills()
        self.assertEqual([len(bill) for bill in bills], [50] * 3)
        self.copy("joined", "killed")
        killed = self.disturb(random.Random(SEED + 1), 100, 50)
        print(f"seed {SEED + 1}: killed {killed}", file=sys.stderr)
        self.assertEqual(sum(killed.values()), 100)
        self.assertEqual(self.bills(), bills)
        self.check_sums(50)

    def check_sums(self, rounds):
        """Every sum that was found in the journal is that of the answers in the ledgers."""
        stored = {}
        for party in PARTIES:
            database = sqlite3.connect(self.home(party) / "ledger.db")
            for [payload] in database.execute("SELECT payload FROM answer ORDER BY entry"):
                answer = fields_of(payload)
                numbers = fields_of(answer[6])[1]
                stored.setdefault(answer.get(3, 0), []).append(struct.unpack(f"<{len(numbers) // 8}q", numbers))
            database.close()
        self.assertEqual(sorted(stored), list(range(rounds)))
        self.assertGreater(len(self.journal), rounds // 2)
        for number, record in self.journal.items():
            count, *total = struct.unpack(f"<{len(record) // 8 - 4}q", record[32:])
            self.assertEqual((len(stored[number]), count), (3, 3))
            self.assertEqual(total, [sum(values) for values in zip(*stored[number])])


@unittest.skipUnless(os.environ.get("TACIT_DIES"), "TACIT_DIES names no library to preload (a sanitised build)")
class AtEveryStep(KillTest):
    """Processes that die by themselves at a durable step, one further in each trial, until they live to the end."""

    def trials(self):
        """Before and after each step; the trial says with died() that there are more."""
        number, self.died = 0, True
        while self.died:
            self.died, number = False, number + 1
            for when in ("before", "after"):
                yield f"{when} {number}"
        print(f"{number - 1} durable steps", file=sys.stderr)
        self.assertGreater(number, 5, "nobody died: is the library preloaded?")

    def live(self, who, dies, codes):
        """One process to its end, started again when it has died."""
        process = self.begin(who, dies)
        try:
            code = process.finish()
            if code == -signal.SIGKILL:
                self.died = True
                process = self.begin(who)
                code = process.finish()
        except AssertionError as problem:
            code = str(problem)
        codes[who] = code, process.text()

    def disturb(self, victims, *options):
        """The study with victims that die once, at each step in turn."""
        self.prepare("joined", *EXACT, method="estimate", sum="clear", epsilon=None, set=None, **{"lambda": 10})
        self.copy("joined", "calm")
        self.finish(self.serve())
        calm, bills = self.result(), self.bills()
        for dies in self.trials():
            self.copy("joined", dies.replace(" ", "-"))
            codes, others = {}, [who for who in ("coordinator", *PARTIES) if who not in victims]
            running = {who: self.begin(who, options=options) for who in others}
            lives = [threading.Thread(target=self.live, args=(who, dies, codes)) for who in victims]
            for each in lives:
                each.start()
            for each in lives:
                each.join()
            self.assertEqual([codes[who][0] for who in victims], [0] * len(victims), (dies, codes))
            if "coordinator" in running:
                running.pop("coordinator").kill()
            self.finish(running)
            self.assertEqual((self.result(), self.bills()), (calm, bills), dies)
            shutil.rmtree(self.folder)

    def test_the_coordinator_from_its_start_to_the_last_end_notice(self):
        self.disturb(["coordinator"])

    def test_parties_from_their_start_to_the_model(self):
        """The coordinator stays: one that is gone cannot tell the end to a party that has died over it."""
        self.disturb([0, 1, 2])

    def test_from_the_invitation_to_the_seat(self):
        """The same invitation lets the party in after all, once."""
        self.enter("invited")
        self.study(method="estimate", epsilon=None, set=None, **{"lambda": 10})
        self.coordinator().kill()
        invitation = self.invite()
        self.limit(0)
        for dies in self.trials():
            self.enter("invited")
            before = self.folder, self.home(0)
            self.enter(dies.replace(" ", "-"))
            shutil.copytree(before[0], self.folder)
            shutil.copytree(before[1], self.home(0))
            self.join_once(invitation, dies)
            self.assertEqual((self.status()["joined"], self.status()["state"]), (1, "recruiting"), dies)

    def join_once(self, invitation, dies):
        listen = "coordinator", self.folder, "--listen", f"127.0.0.1:{self.fixed}"
        coordinator, join = self.start(*listen, dies=dies), self.join_words(0, invitation, "--no-wait", *EXACT)
        for attempt in range(4):  # it, or the coordinator, or both die, each once
            try:
                coordinator.wait_line("serving at")
            except AssertionError:
                pass
            if coordinator.ended:
                self.died, coordinator = True, self.start(*listen)
                coordinator.wait_line("serving at")
            joining = self.start(*join, home=self.home(0), dies=dies if attempt == 0 else None)
            code = joining.finish()
            self.died = self.died or code == -signal.SIGKILL
            if code == 0:
                break
        self.assertEqual(code, 0, dies + joining.text())
        coordinator.kill()


if __name__ == "__main__":
    if "--seed" in sys.argv:
        at = sys.argv.index("--seed")
        SEED = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    unittest.main(verbosity=2)
