"""A coordinator and its parties as real processes on loopback, for the tests beside this file.

Nothing here sleeps for a fixed time: a test waits for a line that a process prints, for its end, for a connection, or (`poll`) asks again, each with a
deadline that only a fault reaches.
"""
import hashlib
import http.client
import json
import os
import random
import re
import select
import signal
import socket
import sqlite3
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

TACIT = os.path.abspath(os.environ.get("TACIT", "build/src/cli/tacit"))
PATIENCE = 240  # seconds until a test gives up; a sanitised build on a busy machine is slow

SCHEMA = """label: {name: sick, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 0, high: 1}
  - {name: dose, kind: number, low: 0, high: 1}
"""
ROWS = 40


def environment(home=None):
    kept = {name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS") or name in ("TACIT_HARDENING", "TACIT_DUCKDB")}
    return {"PATH": os.environ.get("PATH", ""), "TERM": "dumb", "COLUMNS": "80", **kept,
            **({"TACIT_HOME": str(home)} if home else {})}


def told(words, folder):
    """The words of a command line: an invitation among them is put in a file, for it is refused as an argument."""
    said = []
    for word in map(str, words):
        if re.match(r"tacit\d+-", word):
            path = Path(folder or tempfile.gettempdir()) / f"invitation-{hashlib.sha256(word.encode()).hexdigest()[:16]}.txt"
            path.write_text(word + "\n")
            word = str(path)
        said.append(word)
    return said


# What the leak sanitizer says of a process that is confined: it may not stop threads that were there before.
NOT_OURS = re.compile(r"==\d+==Running thread \d+ was not suspended")


def poll(look, what, every=0.1):
    """What `look` finds, once that is true: it is asked again every tenth of a second, until patience is over."""
    deadline = time.monotonic() + PATIENCE
    while not (found := look()):
        if time.monotonic() > deadline:
            raise AssertionError(what)
        time.sleep(every)
    return found


class Running:
    """A tacit process; its lines on standard error are collected as they come."""

    def __init__(self, words, home=None, cwd=None, more=None, within=()):
        self.words = words
        self.process = subprocess.Popen([*within, TACIT, *told(words, cwd)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**environment(home), **(more or {})}, cwd=cwd)
        self.lines, self.ended, self.moved = [], False, threading.Condition()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        for line in self.process.stderr:
            if NOT_OURS.match(line):
                continue
            with self.moved:
                self.lines.append(line.rstrip("\n"))
                self.moved.notify_all()
        with self.moved:
            self.ended = True
            self.moved.notify_all()

    def wait_line(self, pattern, count=1, or_end=False):
        """The match of the count-th line that fits; with `or_end` None when the process ends without."""
        deadline = time.monotonic() + PATIENCE
        with self.moved:
            while True:
                found = [match for match in (re.search(pattern, line) for line in self.lines) if match]
                if len(found) >= count:
                    return found[count - 1]
                if self.ended and or_end:
                    return None
                if self.ended or not self.moved.wait(max(0, deadline - time.monotonic())):
                    raise AssertionError(f"{self.words[0]} never said '{pattern}':\n" + "\n".join(self.lines))

    def finish(self, seconds=PATIENCE):
        """Wait for the end; the exit code. What is printed fits a pipe, so nobody need read it meanwhile."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.words[0]} does not end:\n" + self.text()) from None
        self.reader.join(seconds)
        return code

    def kill(self, number=signal.SIGKILL, seconds=PATIENCE):
        self.process.send_signal(number)
        return self.finish(seconds)

    def memory(self):
        """All that the process can write to, heap, stacks, data, without what is only zeros. A hardened process shows it to root
        only: a test that looks for itself says TACIT_HARDENING=off where it is run by somebody else."""
        found, piece = [], 1 << 16
        with open(f"/proc/{self.process.pid}/maps") as maps, open(f"/proc/{self.process.pid}/mem", "rb", 0) as memory:
            for line in maps:
                first, last = (int(at, 16) for at in line.split()[0].split("-"))
                if line.split()[1].startswith("rw") and last - first < 1 << 30:  # more is a sanitiser's shadow
                    try:
                        memory.seek(first)
                        content = memory.read(last - first)
                    except OSError:
                        continue  # gone meanwhile, or not to be read
                    pieces = (content[at:at + piece] for at in range(0, len(content), piece))
                    found += [each for each in pieces if each.count(0) < len(each)]
        return b"".join(found)

    def clean(self):
        if self.process.poll() is None:
            self.process.kill()
        self.finish()
        self.process.stdout.close()
        self.process.stderr.close()

    def text(self):
        return "\n".join(self.lines)


class DeployedTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tacit-deployed-")
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name)
        self.folder = self.path / "consortium"
        (self.path / "schema.yaml").write_text(SCHEMA)

    # ---- files ----

    def rows(self, party, rows=ROWS):
        """The party's file, with a relation to learn."""
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            draw = random.Random(party)
            lines = ["age,dose,sick"]
            for _ in range(rows):
                age, dose = draw.random(), draw.random()
                lines.append(f"{age:.6f},{dose:.6f},{'yes' if age - dose + draw.gauss(0, 0.2) > 0 else 'no'}")
            path.write_text("\n".join(lines) + "\n")
        return path

    def make_model(self):
        """model.json, of rows that no party has."""
        self.succeed("simulate", "--method", "batch", "--train", self.rows("model"), "--test", self.rows("model"), "--schema",
                     "schema.yaml", "--parties", "1", "--lambda", "0.01", "--seed", "1", "--out", "model.json")

    def lack(self, column, gaps):
        """Take the value of a column from the first rows of parties, this many of each."""
        for party, count in enumerate(gaps):
            lines = [line.split(",") for line in self.rows(party).read_text().splitlines()]
            for at in range(1, count + 1):
                lines[at][lines[0].index(column)] = ""
            self.rows(party).write_text("\n".join(map(",".join, lines)) + "\n")

    def definition(self, name="trial", **changed):
        keys = {"name": name, "title": "A trial", "method": "avg", "set": "{noise: party}", "epsilon": 2,
                "lambda": 0.05, "parties": "{expected: 3, minimum: 3}", "minimum_rows": 20, "patience": 60,
                "schema": "schema.yaml", **changed}
        path = self.path / f"{name}.study.yaml"
        path.write_text("".join(f"{key}: {value}\n" for key, value in keys.items() if value is not None))
        return path

    def home(self, party):
        return self.path / f"home{party}"

    # ---- processes ----

    def tacit(self, *words, home=None):
        return subprocess.run([TACIT, *told(words, self.path)], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              env=environment(home), cwd=self.path, timeout=PATIENCE)

    def succeed(self, *words, home=None):
        done = self.tacit(*words, home=home)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def refuse(self, code, *words, home=None, says=()):
        """The exit code and one clear sentence."""
        done = self.tacit(*words, home=home)
        self.assertEqual(done.returncode, code, done.stderr)
        lines = [line for line in done.stderr.splitlines() if line.startswith("tacit: ")]
        self.assertEqual(len(lines), 1, done.stderr)
        for text in says:
            self.assertIn(text, lines[0])
        return lines[0]

    def start(self, *words, home=None):
        process = Running(words, home, self.path)
        self.addCleanup(process.clean)
        return process

    def study(self, name="trial", **changed):
        return self.succeed("study", "new", self.folder, self.definition(name, **changed), "--force")  # tiny studies are mostly noise

    def coordinator(self, *words):
        process = self.start("coordinator", self.folder, *words)
        self.url = process.wait_line(r"serving at (https://\S+)").group(1)
        self.port = int(self.url.rsplit(":", 1)[1])
        return process

    def invite(self, *words, study="trial"):
        return self.succeed("study", "invite", self.folder, study, *words).stdout.split()[0]

    def limit(self, party, epsilon=10, home=None):
        self.succeed("ledger", "limit", "--source", self.rows(party), "--epsilon", epsilon, "--delta", "0.01",
                     home=home or self.home(party))

    def join_words(self, party, invitation, *more):
        return ["join", invitation, "--data", self.rows(party), "--schema", self.path / "schema.yaml", "--yes", *more]

    def join(self, party, *more, invitation=None, epsilon=10, study="trial"):
        """Join, and return once the party waits for questions."""
        self.limit(party, epsilon)
        process = self.start(*self.join_words(party, invitation or self.invite(study=study), *more),
                             home=self.home(party))
        process.wait_line("^joined; waiting")
        return process

    def resume(self, party, study="trial"):
        return self.start("party", study, home=self.home(party))

    # ---- what came of it ----

    def status(self, study="trial"):
        return json.loads(self.succeed("study", "status", self.folder, study, "--json").stdout)["studies"][0]

    def charges(self, party):
        shown = json.loads(self.succeed("ledger", "show", "--json", home=self.home(party)).stdout)
        return [entry for source in shown["sources"] for entry in source["entries"] if entry["entry"] == "charge"]

    def answered(self, process):
        """The rounds that a party has answered in, as it said. On a busy machine one may come too late for a round of short patience."""
        return set(re.findall(r"round (\d+): answering", process.text()))

    def model(self, party, study="trial"):
        return next((self.home(party) / "studies").glob(study + "@*")) / "model.json"

    def check_done(self, processes, study="trial", charged=None):
        """Every party ended well, was charged once, and holds the coordinator's model, byte for byte."""
        for party, process in processes.items():
            self.assertEqual(process.finish(), 0, process.text())
        model = (self.folder / f"{study}.model.json").read_bytes()
        for party in processes:
            self.assertEqual(self.model(party, study).read_bytes(), model)
        for party in charged if charged is not None else processes:
            self.assertEqual(len(self.charges(party)), 1)
            self.succeed("ledger", "verify", home=self.home(party))
        self.assertEqual(self.status(study)["state"], "done")
        return json.loads(model)

    def log(self):
        return (self.folder / "coordinator.log").read_text()


# ---- talking to a coordinator without the program ----

def varint(number):
    out = b""
    while number > 0x7f:
        out, number = out + bytes([number & 0x7f | 0x80]), number >> 7
    return out + bytes([number])


def packed(field, value):
    """One protobuf field: a number or bytes."""
    if isinstance(value, int):
        return varint(field << 3) + varint(value)
    return varint(field << 3 | 2) + varint(len(value)) + value


def fields_of(message):
    """{field: value} of a protobuf message; the last value of a field counts."""
    found, at = {}, 0

    def read():
        nonlocal at
        number = shift = 0
        while True:
            byte = message[at]
            at, number, shift = at + 1, number | (byte & 0x7f) << shift, shift + 7
            if byte < 0x80:
                return number
    while at < len(message):
        key = read()
        if key & 7 == 0:
            found[key >> 3] = read()
        else:
            length = 8 if key & 7 == 1 else read()
            found[key >> 3], at = message[at:at + length], at + length
    return found


PROTOCOL = 2
POLL = packed(1, PROTOCOL) + packed(2, b"trial")


def answer_to(question, values):
    """The answer to a decoded question, with a contribution of the given integers."""
    numbers = b"".join(struct.pack("<q", value) for value in values)
    return (packed(1, PROTOCOL) + packed(2, question[2]) + packed(3, question.get(5, 0)) + packed(4, question[7]) +
            packed(6, packed(1, numbers)))


def tls(authority, certificate=None, key=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(authority)
    if certificate:
        context.load_cert_chain(certificate, key)
    return context


def announce(port, path, length, context):
    """The answer to a request that announces a body of this many bytes and sends none: a body that is refused early would meet
    a closed connection, and the answer might be lost with it."""
    with context.wrap_socket(socket.create_connection(("127.0.0.1", port)), server_hostname="127.0.0.1") as connection:
        connection.sendall(b"POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (path.encode(), length))
        return int(connection.recv(4096).split()[1])


def post(port, path, body, context, method="POST"):
    """Status and body of one request."""
    connection = http.client.HTTPSConnection("127.0.0.1", port, context=context, timeout=PATIENCE)
    try:
        connection.request(method, path, body=body)
        reply = connection.getresponse()
        return reply.status, reply.read()
    finally:
        connection.close()


class Relay:
    """Stands between a party and its coordinator with the keys of both, and keeps in plain what the party sends and what it
    gets. What comes back passes through `change`, piece by piece."""

    def __init__(self, folder, home, port, change=None):
        self.folder, self.home, self.port, self.change = folder, home, port, change
        self.sent, self.got, self.failed = bytearray(), bytearray(), []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"https://127.0.0.1:{self.listener.getsockname()[1]}"
        threading.Thread(target=self.accept, daemon=True).start()

    def as_coordinator(self):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.folder / "server.crt", self.folder / "server.key")
        context.load_verify_locations(self.folder / "ca.crt")
        context.verify_mode = ssl.CERT_OPTIONAL
        return context

    def accept(self):
        context = None
        while True:
            try:
                plain, _ = self.listener.accept()
            except OSError:
                return
            context = context or self.as_coordinator()  # a coordinator has its keys once it has served
            threading.Thread(target=self.serve, args=(context, plain), daemon=True).start()

    def serve(self, context, plain):
        try:
            certificate = next(self.home.glob("studies/*/party.crt"), None)
            ours = tls(self.folder / "ca.crt", certificate, certificate and certificate.with_name("party.key"))
            with context.wrap_socket(plain, server_side=True) as party, ours.wrap_socket(
                    socket.create_connection(("127.0.0.1", self.port)), server_hostname="127.0.0.1") as upstream:
                self.pump(party, upstream)
        except OSError as problem:
            self.failed.append(problem)

    def pump(self, party, upstream):
        """Both directions in one thread: two threads may not use one TLS connection at once."""
        ways = {party: (upstream, self.sent, None), upstream: (party, self.got, self.change)}
        try:
            while True:
                for source in select.select(ways, (), ())[0]:
                    target, copy, change = ways[source]
                    while data := self.receive(source):
                        data = change(data) if change else data
                        copy += data
                        target.sendall(data)
                    if data is not None:
                        return
        except OSError:
            pass  # one side has hung up

    @staticmethod
    def receive(source):
        """What has arrived; None when it is not yet a whole record, nothing at the end."""
        source.setblocking(False)
        try:
            return source.recv(65536)
        except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return None
        finally:
            source.setblocking(True)
