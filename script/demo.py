"""Twenty hospitals and a coordinator as real processes on loopback: the demonstration behind script/demo."""

import argparse
import collections
import contextlib
import csv
import json
import math
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import webbrowser

HOSPITALS = 20
EPSILON_LIMIT, DELTA_LIMIT = 4, 1e-5
LEAVER, LEAVES_AFTER = 7, 2  # the hospital that withdraws, once this many rounds are over
REFUSED = 3  # tacit's exit code
DEADLINE = 120
LOOK_EVERY = 0.1  # seconds, whether a signal came
EXACT = ("--allow-entrusted", "--allow-exact")


class Failed(Exception):
    pass


class Interrupted(Exception):
    pass


class Demo:
    def __init__(self, tacit, examples, folder):
        self.tacit, self.examples, self.folder = tacit, examples, folder
        self.coordinator = os.path.join(folder, "coordinator")
        self.schema = os.path.join(examples, "wilms.schema.yaml")
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

    def look(self, name):
        """A study as its registry has it: state, parties, rounds."""
        return json.loads(self.run("study", "status", self.coordinator, name, "--json"))["studies"][0]

    def wait_until(self, name, process, reached, what):
        """Look until the study is where `reached` says; a round on loopback takes a tenth of a second or so."""
        end = time.monotonic() + DEADLINE
        while True:
            study = self.look(name)
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

    def wait_for_rounds(self, name, process, count):
        """Rounds come fast: the file of them says so sooner than another program."""
        rounds, end = os.path.join(self.coordinator, f"{name}.rounds.jsonl"), time.monotonic() + DEADLINE
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
        """Deal the rows out: a quarter to nobody, for testing, the rest to the hospitals."""
        with open(os.path.join(self.examples, "wilms.csv"), encoding="utf-8", newline="") as stream:
            header, *rows = list(csv.reader(stream))
        random.Random(1).shuffle(rows)
        tests = len(rows) // 4
        self.write_rows("test.csv", header, rows[:tests])
        self.write_rows("pooled.csv", header, rows[tests:])
        for hospital in range(HOSPITALS):
            self.write_rows(f"hospital{hospital + 1}.csv", header, rows[tests + hospital::HOSPITALS])
        return len(rows), tests

    def write_rows(self, name, header, rows):
        with open(self.path(name), "w", encoding="utf-8", newline="") as stream:
            csv.writer(stream, lineterminator="\n").writerows([header, *rows])

    def define(self, file, name, **changed):
        """A study of the examples under another name, with some keys changed; the file stays where its schema is named from."""
        with open(os.path.join(self.examples, file), encoding="utf-8") as stream:
            lines = stream.read().splitlines()
        for key, value in {"name": name, "schema": self.schema, **changed}.items():
            lines = [f"{key}: {value}" if line.startswith(key + ":") else line for line in lines]
        with open(self.path(f"{name}.study.yaml"), "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines) + "\n")
        return self.run("study", "new", self.coordinator, self.path(f"{name}.study.yaml"), "--coordinator", "Demo consortium")

    # ---- figures ----

    def alone(self, name):
        """How well rows in one place do without anybody's help, and without noise; lambda by cross-validation."""
        text = self.run("simulate", "--json", "--method", "batch", "--train", self.path(name), "--test",
                        self.path("test.csv"), "--schema", self.schema, "--parties", "1")
        run = json.loads(text)["runs"][0]
        return run["auc"]["mean"], run["logloss"]["mean"]

    def model(self, name):
        figures = json.loads(self.run("evaluate", "--json", self.model_path(name), self.path("test.csv")))
        return figures["auc"], figures["logloss"]

    def model_path(self, name):
        return os.path.join(self.coordinator, f"{name}.model.json")

    def ledger(self, hospital):
        return json.loads(self.run("ledger", "show", "--json", "--source", self.path(f"hospital{hospital}.csv"),
                                   home=self.path(f"home{hospital}")))["sources"][0]


def say(text=""):
    print(text, flush=True)


def line(what, figures):
    say(f"  {what:<42} AUC {figures[0]:.3f}   log-loss {figures[1]:.3f}")


def names(hospitals):
    """1-6, 8-20"""
    parts = []
    for hospital in sorted(hospitals):
        if parts and parts[-1][1] == hospital - 1:
            parts[-1][1] = hospital
        else:
            parts.append([hospital, hospital])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def show_ledgers(demo):
    """What hospitals paid, those that paid the same in one line."""
    alike = collections.defaultdict(list)
    for hospital in range(1, HOSPITALS + 1):
        ledger = demo.ledger(hospital)
        account = next(each for each in ledger["accounts"] if each["study"] is None and each["limit"] is not None)
        charges = [entry for entry in ledger["entries"] if entry["entry"] == "charge"]
        alike[len(charges), f"{account['spent']['epsilon']:.2f}", f"{account['limit']['epsilon']:g}"].append((hospital, charges[0]["rows"]))
    say()
    say("What left each hospital, and what it cost (delta 1e-5):")
    for (answers, spent, limit), those in alike.items():
        rows = [count for _, count in those]
        span = f"{min(rows)} to {max(rows)}" if min(rows) < max(rows) else f"{rows[0]}"
        say(f"  hospital{'s' if len(those) > 1 else ''} {names([each for each, _ in those])}: {answers} answers, sealed; epsilon {spent} of {limit} "
            f"spent; the rows of {span} children stayed")


def start_hospitals(demo, study, hospitals, *more):
    """Each reads what is asked, consents and joins."""
    invitations = demo.run("study", "invite", demo.coordinator, study, "--count", str(len(hospitals))).split()
    processes = {}
    for hospital, invitation in zip(hospitals, invitations):
        home, source = demo.path(f"home{hospital}"), demo.path(f"hospital{hospital}.csv")
        if not os.path.exists(home):
            demo.run("ledger", "limit", "--source", source, "--epsilon", str(EPSILON_LIMIT), "--delta", str(DELTA_LIMIT), home=home)
        letter = demo.path(f"invitation-{study}-{hospital}.txt")
        with open(letter, "w", encoding="utf-8", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write(invitation)
        processes[hospital] = demo.start("join", letter, "--data", source, "--schema", demo.schema, "--yes", "--out",
                                         demo.path(f"model-{study}-{hospital}.json"), *more, log=f"{study}-{hospital}.txt", home=home)
    return processes


def finish(demo, study, processes, left=()):
    for hospital, process in processes.items():
        demo.wait(process, f"{study}-{hospital}.txt", REFUSED if hospital in left else 0)
    one = next(iter(processes.values()))
    return demo.wait_until(study, one, lambda it: it["state"] == "done", "ending")


def play_first(demo, coordinator):
    """Epsilon 1, all twenty; in the middle of a round one withdraws: the round ends without it, and the study goes on."""
    processes = start_hospitals(demo, "relapse", range(1, HOSPITALS + 1))
    rounds = demo.wait_for_rounds("relapse", coordinator, LEAVES_AFTER)
    demo.run("withdraw", "relapse", home=demo.path(f"home{LEAVER}"))
    say(f"  epsilon 1: running; after {rounds} rounds hospital {LEAVER} withdraws (tacit withdraw relapse)")
    study = finish(demo, "relapse", processes, left=(LEAVER,))
    say(f"  epsilon 1: done after {study['rounds']} rounds, the last ones without hospital {LEAVER}")


def play_second(demo, others):
    study = finish(demo, "relapse-2", start_hospitals(demo, "relapse-2", others))
    say(f"  epsilon 2: done after {study['rounds']} rounds, {len(others)} hospitals")


def show_results(demo):
    alone = [demo.alone(f"hospital{hospital}.csv") for hospital in range(1, HOSPITALS + 1)]
    say()
    say("How good is it? On the children nobody trained on:")
    for what, pick in (("best", max), ("average", statistics.mean), ("worst", min)):
        opposite = {max: min, min: max}.get(pick, pick)
        line(f"a hospital alone, {what}, no privacy", (pick(auc for auc, _ in alone), opposite([loss for _, loss in alone])))
    line("together, private, epsilon 1", demo.model("relapse"))
    line("together, private, epsilon 2", demo.model("relapse-2"))
    line("all rows pooled, no privacy", demo.alone("pooled.csv"))


def show_coefficients(demo, others):
    """Exact sums end every promise of differential privacy about these rows, so they come last."""
    study = finish(demo, "coefficients", start_hospitals(demo, "coefficients", others, *EXACT))
    summary = json.loads(demo.run("summary", "--json", demo.model_path("coefficients")))
    say()
    say(f"What predicts relapse? The exact table, as of all rows in one place, from masked sums ({study['rounds']} rounds):")
    say(f"  {'':<26} {'odds ratio':>10} {'95% interval':>18} {'p':>9}")
    for one in summary["coefficients"]:
        ratio, low, high = (f"{math.exp(one[key]):.2f}" for key in ("estimate", "low", "high"))
        say(f"  {one['name']:<26} {ratio:>10} {low + ' to ' + high:>18} {one['p']:>9.2g}")
    say("Exact sums have no differential privacy: only hospitals that said --allow-exact took part, and their ledgers")
    say("now refuse every study that promises it.")


def open_dashboard(demo, watched):
    address = demo.dashboard()
    say(f"Dashboard: {address}")
    if watched and (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        webbrowser.open(address)
    if watched:
        demo.ask("Look at it in a browser, then press Enter: ")


def play(demo, watched):
    started = time.monotonic()
    rows, tests = demo.deal()
    others = [hospital for hospital in range(1, HOSPITALS + 1) if hospital != LEAVER]
    added = demo.define("wilms.study.yaml", "relapse")
    demo.define("wilms.study.yaml", "relapse-2", epsilon=2, parties=f"{{expected: {len(others)}, minimum: 15}}")
    demo.define("wilms_exact.study.yaml", "coefficients")
    coordinator = demo.start("coordinator", demo.coordinator, "--dashboard", "0", *([] if watched else ["--until-done"]),
                             log="coordinator.txt")
    address = demo.wait_for_address(coordinator)
    demo.wait_until("relapse", coordinator, lambda _: demo.dashboard(), "the dashboard")
    open_dashboard(demo, watched)
    say(f"{rows} children with Wilms tumour, {HOSPITALS} hospitals; {tests} children held back for testing.")
    say(f"A coordinator serves at {address} over mutual TLS.")
    say(added.rstrip())
    play_first(demo, coordinator)
    play_second(demo, others)
    show_results(demo)
    show_ledgers(demo)
    show_coefficients(demo, others)
    say()
    say(f"Models:  {demo.model_path('relapse')}, and so on")
    say(f"Ledgers: {demo.path('home1')}/ledger.db, and so on (TACIT_HOME={demo.path('home1')} tacit ledger show)")
    say(f"Log:     {os.path.join(demo.coordinator, 'coordinator.log')}")
    if watched:
        demo.ask("The dashboard shows the results; press Enter to end: ")
    else:
        demo.wait(coordinator, "coordinator.txt")
    demo.check()
    demo.stop()
    say(f"Done in {time.monotonic() - started:.1f} s; no process is left running.")


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
    demo = Demo(arguments.tacit, os.path.abspath(arguments.examples), folder)
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
