"""Five clinics and a coordinator as real processes on loopback: the demonstration behind script/demo."""

import argparse
import contextlib
import csv
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

CLINICS = 5
TEST_ROWS = 114
EPSILON_LIMIT, DELTA_LIMIT = 2, 1e-5
LEAVER, LEAVES_AFTER = 3, 2  # the clinic that withdraws, once so many rounds are over
REFUSED = 3  # tacit's exit code
DEADLINE = 60
LOOK_EVERY = 0.1  # seconds, whether a signal came


class Failed(Exception):
    pass


class Interrupted(Exception):
    pass


class Demo:
    def __init__(self, tacit, examples, folder):
        self.tacit, self.examples, self.folder = tacit, examples, folder
        self.coordinator = os.path.join(folder, "coordinator")
        self.schema = os.path.join(examples, "breast_cancer.schema.yaml")
        self.study = os.path.join(examples, "breast_cancer_shares.study.yaml")
        self.processes = []
        self.asking = self.interrupted = False

    def path(self, name):
        return os.path.join(self.folder, name)

    # ---- processes ----

    def interrupt(self, *_):
        """A signal came. Nothing is thrown while Python works on processes: one half started, or a lock held, would stay so."""
        self.interrupted = True
        if self.asking:
            raise Interrupted

    def check(self):
        if self.interrupted:
            raise Interrupted

    def ask(self, text):
        self.asking = True
        self.check()
        input(text)
        self.asking = False

    def spawn(self, arguments, home, **streams):
        self.processes.append(subprocess.Popen([self.tacit, *arguments], stdin=subprocess.DEVNULL, text=True,
                                               env=self.environment(home), **streams))
        self.check()
        return self.processes[-1]

    def run(self, *arguments, home=None):
        """Run tacit to its end and return what it printed."""
        process = self.spawn(arguments, home, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                output, messages = process.communicate(timeout=LOOK_EVERY)
                break
            self.check()
        if process.returncode != 0:
            raise Failed(f"tacit {' '.join(arguments[:2])}: {messages.strip()}")
        return output

    def start(self, *arguments, log, home=None):
        """Start tacit in the background, its messages going to a file."""
        with open(self.path(log), "w", encoding="utf-8") as stream:
            return self.spawn(arguments, home, stdout=stream, stderr=subprocess.STDOUT)

    def stop(self):
        """End what still runs: politely, then for sure."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=5)
            if process.poll() is None:
                process.kill()
                process.wait()

    def environment(self, home):
        environment = dict(os.environ)
        if home is not None:
            environment["TACIT_HOME"] = home
        return environment

    def wait(self, process, log, expected=0):
        end = time.monotonic() + DEADLINE
        while process.poll() is None:
            self.check()
            if time.monotonic() > end:
                raise Failed(f"no end after {DEADLINE} s; see {self.path(log)}")
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=LOOK_EVERY)
        code = process.returncode
        if code != expected:
            with open(self.path(log), encoding="utf-8") as stream:
                raise Failed(f"exit code {code}: {stream.read().strip().splitlines()[-1]}")

    def wait_for_address(self, process):
        """The coordinator writes its address to its folder once it listens."""
        address = os.path.join(self.coordinator, "address")
        end = time.monotonic() + DEADLINE
        while not os.path.exists(address):
            if process.poll() is not None:
                self.wait(process, "coordinator.txt")
            if time.monotonic() > end:
                raise Failed(f"the coordinator does not listen; see {self.path('coordinator.txt')}")
            self.check()
            time.sleep(0.02)
        with open(address, encoding="utf-8") as stream:
            return stream.read()

    def look(self):
        """The study as its registry has it: state, parties, rounds."""
        return json.loads(self.run("study", "status", self.coordinator, "breast-cancer", "--json"))["studies"][0]

    def wait_until(self, process, reached, what):
        """Look until the study is where `reached` says; a round on loopback takes a tenth of a second or so."""
        end = time.monotonic() + DEADLINE
        while True:
            study = self.look()
            if reached(study):
                return study
            if process.poll() is not None:
                self.wait(process, "coordinator.txt")
            if study["state"] in ("failed", "closed"):
                raise Failed(f"the study is {study['state']}: {study['reason']}")
            if time.monotonic() > end:
                raise Failed(f"{what}: not after {DEADLINE} s; see {self.path('coordinator.txt')}")
            self.check()
            time.sleep(0.02)

    def wait_for_rounds(self, process, count):
        """Rounds come fast: the file of them says so sooner than another program."""
        rounds, end = os.path.join(self.coordinator, "breast-cancer.rounds.jsonl"), time.monotonic() + DEADLINE
        while True:
            with contextlib.suppress(FileNotFoundError), open(rounds, encoding="utf-8") as stream:
                done = sum('"round"' in text for text in stream)
                if done >= count:
                    return done
            if process.poll() is not None:
                self.wait(process, "coordinator.txt")
            if time.monotonic() > end:
                raise Failed(f"no rounds after {DEADLINE} s; see {self.path('coordinator.txt')}")
            self.check()
            time.sleep(0.005)

    def dashboard(self):
        """Its address with a link that logs in once; both are printed before the coordinator says where it serves."""
        with open(self.path("coordinator.txt"), encoding="utf-8") as stream:
            for text in stream:
                if "log in once" in text:
                    return text.split()[-1]
        return None

    # ---- data ----

    def deal(self):
        """Deal the rows out: some to nobody, for testing, the rest to the clinics."""
        with open(os.path.join(self.examples, "breast_cancer.csv"), encoding="utf-8", newline="") as stream:
            header, *rows = list(csv.reader(stream))
        random.Random(1).shuffle(rows)
        self.write_rows("test.csv", header, rows[:TEST_ROWS])
        self.write_rows("pooled.csv", header, rows[TEST_ROWS:])
        for clinic in range(CLINICS):
            self.write_rows(f"clinic{clinic + 1}.csv", header, rows[TEST_ROWS + clinic::CLINICS])
        return len(rows)

    def write_rows(self, name, header, rows):
        with open(self.path(name), "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows([header, *rows])

    # ---- figures ----

    def alone(self, name):
        """How well rows in one place do without anybody's help, and without noise."""
        text = self.run("simulate", "--json", "--method", "batch", "--train", self.path(name), "--test",
                        self.path("test.csv"), "--schema", self.schema, "--parties", "1", "--lambda", self.study_number("lambda"))
        run = json.loads(text)["runs"][0]
        return run["accuracy"]["mean"], run["auc"]["mean"]

    def model(self, path):
        figures = json.loads(self.run("evaluate", "--json", path, self.path("test.csv")))
        return figures["accuracy"], figures["auc"]

    def ledger(self, home, source):
        return json.loads(self.run("ledger", "show", "--json", "--source", source, home=home))["sources"][0]

    def study_number(self, key):
        """A number of the study's definition, e.g. its lambda."""
        with open(self.study, encoding="utf-8") as stream:
            return next(text.split(":")[1].strip() for text in stream if text.startswith(key + ":"))


def say(text=""):
    print(text, flush=True)


def line(what, figures):
    say(f"  {what:<34} accuracy {figures[0]:.3f}   AUC {figures[1]:.3f}")


def show_ledgers(demo):
    say()
    say("What left each clinic, and what it cost:")
    for clinic in range(1, CLINICS + 1):
        ledger = demo.ledger(demo.path(f"home{clinic}"), demo.path(f"clinic{clinic}.csv"))
        account = next(each for each in ledger["accounts"] if each["study"] is None and each["limit"] is not None)
        charges = [entry for entry in ledger["entries"] if entry["entry"] == "charge"]
        say(f"  clinic {clinic}: {len(charges)} answers of {charges[0]['parameters']} numbers, {charges[0]['kind']}; epsilon "
            f"{account['spent']['epsilon']:.2f} of {account['limit']['epsilon']:g} spent; its {charges[0]['rows']} rows stayed")


def start_clinics(demo):
    """One after the other, so that recruiting can be seen."""
    invitations = demo.run("study", "invite", demo.coordinator, "breast-cancer", "--count", str(CLINICS)).split()
    clinics = []
    for clinic, invitation in enumerate(invitations, start=1):
        home, source = demo.path(f"home{clinic}"), demo.path(f"clinic{clinic}.csv")
        demo.run("ledger", "limit", "--source", source, "--epsilon", str(EPSILON_LIMIT), "--delta", str(DELTA_LIMIT), home=home)
        letter = demo.path(f"invitation{clinic}.txt")
        with open(letter, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(invitation)
        clinics.append(demo.start("join", letter, "--data", source, "--schema", demo.schema, "--yes", "--out",
                                  demo.path(f"model{clinic}.json"), log=f"clinic{clinic}.txt", home=home))
        if clinic == LEAVER:
            study = demo.wait_until(clinics[0], lambda one: one["joined"] == clinic, "joining")
            say(f"  {study['state']}: {study['joined']} of {CLINICS} clinics have read what is asked, consented and joined")
    return clinics


def withdraw(demo, coordinator):
    """In the middle of a round of all five: the round ends without it, and the study goes on."""
    rounds = demo.wait_for_rounds(coordinator, LEAVES_AFTER)
    demo.run("withdraw", "breast-cancer", home=demo.path(f"home{LEAVER}"))
    say(f"  running: after {rounds} rounds clinic {LEAVER} withdraws (tacit withdraw breast-cancer)")


def play(demo, watched):
    started = time.monotonic()
    rows = demo.deal()
    added = demo.run("study", "new", demo.coordinator, demo.study, "--coordinator", "Demo consortium")
    coordinator = demo.start("coordinator", demo.coordinator, "--dashboard", "0", *([] if watched else ["--until-done"]),
                             log="coordinator.txt")
    address = demo.wait_for_address(coordinator)
    demo.wait_until(coordinator, lambda _: demo.dashboard(), "the dashboard")
    say(f"Dashboard: {demo.dashboard()}")
    if watched:
        demo.ask("Open it in a browser, then press Enter: ")
    say(f"{rows} rows of the Wisconsin breast-cancer set: {CLINICS} clinics, {TEST_ROWS} rows held back for testing.")
    say(f"A coordinator serves at {address} over mutual TLS.")
    say(added.rstrip())
    clinics = start_clinics(demo)
    withdraw(demo, coordinator)
    demo.wait(clinics[LEAVER - 1], f"clinic{LEAVER}.txt", REFUSED)
    for clinic, process in enumerate(clinics, start=1):
        if clinic != LEAVER:
            demo.wait(process, f"clinic{clinic}.txt")
    study = demo.wait_until(clinics[0] if watched else coordinator, lambda one: one["state"] == "done", "ending")
    say(f"  {study['state']}: {study['rounds']} rounds, the last ones without clinic {LEAVER}")
    show_results(demo)
    say(f"Ledgers: {demo.path('home1')}/ledger.db, and so on (TACIT_HOME={demo.path('home1')} tacit ledger show)")
    say(f"Log:     {os.path.join(demo.coordinator, 'coordinator.log')}")
    if watched:
        demo.ask("The dashboard shows the result; press Enter to end: ")
    else:
        demo.wait(coordinator, "coordinator.txt")
    demo.check()
    demo.stop()
    say(f"Done in {time.monotonic() - started:.1f} s; no process is left running.")


def show_results(demo):
    say()
    say("How good is it? On the rows nobody trained on:")
    for clinic in range(1, CLINICS + 1):
        line(f"clinic {clinic} alone, no privacy", demo.alone(f"clinic{clinic}.csv"))
    model = os.path.join(demo.coordinator, "breast-cancer.model.json")
    line("together, private", demo.model(model))
    line("all rows pooled, no privacy", demo.alone("pooled.csv"))
    show_ledgers(demo)
    say()
    say(f"Model:   {model}")


def main():
    parser = argparse.ArgumentParser(prog="script/demo")
    parser.add_argument("--tacit", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--examples", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--keep", metavar="DIR", help="where models, ledgers and logs go")
    parser.add_argument("--quick", action="store_true", help="wait for nobody, also in a terminal")
    arguments = parser.parse_args()
    folder = os.path.abspath(arguments.keep) if arguments.keep else tempfile.mkdtemp(prefix="tacit-demo-")
    os.makedirs(folder, mode=0o700, exist_ok=True)
    if os.listdir(folder):
        print(f"script/demo: {folder} is not empty; name another folder", file=sys.stderr)
        return 2
    demo = Demo(arguments.tacit, arguments.examples, folder)
    try:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, demo.interrupt)
        play(demo, sys.stdin.isatty() and sys.stdout.isatty() and not arguments.quick)
    except Failed as problem:
        print(f"script/demo: {problem} (everything is in {folder})", file=sys.stderr)
        return 1
    except (Interrupted, KeyboardInterrupt):
        print("\nscript/demo: interrupted", file=sys.stderr)
        return 1
    finally:
        demo.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
