#!/usr/bin/env python3
"""Two center servers, a coordinator and three nodes as real processes: the figures of all rows pooled, also when a server was
killed; nothing readable on any wire; and only the server that the study names gets to decrypt.

    TACIT=build/src/cli/tacit tests/service/test_center.py
"""
import contextlib
import json
import os
import random
import re
import shutil
import socket
import sqlite3
import ssl
import struct
import sys
import unittest
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, DeployedTest, Relay, tls

if os.geteuid() != 0:
    os.environ["TACIT_HARDENING"] = "off"  # these tests look into the memory of processes
from test_metrics import parse

EXACT = ("--allow-exact",)
LAMBDA = 0.002


class Centers(DeployedTest):
    def server_b(self, name="b", *more):
        """Server B, and what it says of its address."""
        first = not (self.path / name).exists()
        words = ["--coordinator", self.folder / "ca.crt"] if first else []
        process = self.start("center", "--role", "b", self.path / name, *words, *more)
        process.wait_line(r"serving at ")
        return process

    def prepare(self, *words):
        """A coordinator's folder before there is a study of ours: its authority is what B needs."""
        self.study("first")
        return self.server_b("b", *words)

    def check_metrics(self, port):
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=PATIENCE) as reply:
            samples, _ = parse(reply.read().decode())
        self.assertGreaterEqual(samples["tacit_center_calls_total", (("result", "done"),)], 1)
        self.assertEqual(samples["tacit_center_calls_total", (("result", "failed"),)], 0)
        for name in ("tacit_sent_bytes_total", "tacit_received_bytes_total", "tacit_center_seconds_total"):
            self.assertGreater(samples[name, ()], 0)
        self.assertEqual(samples["tacit_center_calls", ()], 0)

    def define(self, method="newton", settings="{engine: shares}", name="trial", **changed):
        self.study(name, method=method, set=settings, epsilon=None, center="b/center.card", **{"lambda": LAMBDA}, **changed)

    def test_a_new_study_says_that_its_lambda_is_beside_the_mean(self):
        self.prepare()
        self.define()
        with contextlib.closing(sqlite3.connect(self.folder / "coordinator.db")) as registry:
            text = registry.execute("SELECT definition FROM study WHERE name = 'trial'").fetchone()[0]
        self.assertIn('  penalty: "mean"', text if isinstance(text, str) else text.decode())

    def pooled(self, method, settings=()):
        lines = [self.rows(party).read_text().splitlines() for party in range(3)]
        (self.path / "all.csv").write_text("\n".join(lines[0] + lines[1][1:] + lines[2][1:]) + "\n")
        done = self.succeed("simulate", "--method", method, "--train", "all.csv", "--test", "all.csv", "--schema",
                            "schema.yaml", "--parties", "1", "--lambda", LAMBDA, "--set", "engine=shares", "--json")
        return json.loads(done.stdout)["summary"]

    def check_figures(self, method):
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        pooled = self.pooled(method)
        self.assertEqual((summary["parties"], summary["rows"], summary["private"]), (3, 120, False))
        self.assertEqual(summary["iterations"], pooled["iterations"])
        for mine, theirs in zip(summary["coefficients"], pooled["coefficients"]):
            self.assertEqual(mine["name"], theirs["name"])
            for key in ("estimate", "error"):
                self.assertAlmostEqual(mine[key], theirs[key], delta=1e-5 * (1 + abs(theirs[key])))
        self.assertAlmostEqual(summary["deviance"], pooled["deviance"], delta=1e-3)

    def test_three_nodes_and_two_servers_get_the_figures_of_all_rows(self):
        b = self.prepare("--metrics", "0")
        port = int(b.wait_line(r"metrics at http://127.0.0.1:(\d+)/metrics").group(1))
        self.define("privlogit-local")
        self.start_a()
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        self.check_done(parties, charged=[])
        self.check_figures("privlogit-local")
        b.wait_line("study trial is done")
        self.check_metrics(port)
        key = re.search(r'key: "(\w+)"', (self.path / "b" / "center.card").read_text()).group(1)
        for text in (f"key        {key}: compare it", "sums       encrypted: "):  # what an owner consents to
            self.assertIn(text, parties[0].text())
        self.assertIn("encrypted of 3 or more", self.succeed("study", "status", self.folder).stdout)
        for charge in self.charges(0):
            self.assertEqual((charge["price"]["epsilon"], charge["kind"]), ("inf", "sealed"))
        self.assertEqual(b.process.poll(), None)

    def start_a(self):
        process = self.start("center", "--role", "a", self.folder)
        self.url = process.wait_line(r"serving at (https://\S+)").group(1)
        self.port = int(self.url.rsplit(":", 1)[1])
        return process

    def test_server_b_follows_a_planned_rotation_and_no_stolen_key(self):
        b = self.prepare()
        self.define("newton")
        new = json.loads(self.succeed("rotate", self.folder, "--json").stdout)["new"]
        a = self.start_a()
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        self.check_done(parties, charged=[])
        b.wait_line(f"the coordinator's authority was replaced as planned; the present one is {new}")
        before = {party: {path.name for path in (self.home(party) / "studies").iterdir()} for party in range(3)}
        self.succeed("rotate", self.folder, "--stolen")
        self.define("newton", name="second")
        a.wait_line("key was stolen")
        parties = {party: self.join(party, *EXACT, study="second") for party in range(3)}
        b.wait_line("give its new ca.crt with --coordinator")
        b.kill()
        b = self.start("center", "--role", "b", self.path / "b", "--coordinator", self.folder / "ca.crt")
        b.wait_line("study second is done")
        self.check_done(parties, study="second", charged=[])
        for party in range(3):  # the consortium is the same, whatever its authority: ledger and past sums go on
            after = {path.name for path in (self.home(party) / "studies").iterdir()}
            self.assertEqual({name.split("@")[1] for name in after}, {name.split("@")[1] for name in before[party]})

    def test_a_killed_server_is_waited_for_and_nothing_is_lost(self):
        b = self.prepare()
        self.define("newton")
        b.kill()
        a = self.coordinator()
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        a.wait_line("waits for center server B")
        self.succeed("study", "pause", self.folder, "trial")
        a.wait_line("study trial is paused")
        self.succeed("study", "resume", self.folder, "trial")
        a.wait_line("waits for center server B", 2)
        a.kill()
        self.server_b()
        self.coordinator()
        self.check_done(parties, charged=[])
        self.check_figures("newton")

    def test_no_row_and_no_sum_is_on_a_wire_in_memory_or_in_a_file_of_a_server(self):
        """Canaries: a row's numbers as text and as doubles, and each column's sum, in what node 0 sends, in what the two
        servers have in memory while they run, and in what they have stored."""
        b = self.prepare()
        self.rows(0).write_text(self.rows(0).read_text().replace(self.rows(0).read_text().split("\n")[1], "0.123454,0.765431,yes"))
        self.define("privlogit-hessian")
        a = self.coordinator()
        relay = Relay(self.folder, self.home(0), self.port)
        self.limit(0)
        invitation = self.invite("--url", relay.address)
        first = self.start(*self.join_words(0, invitation, *EXACT), home=self.home(0))
        first.wait_line("^joined; waiting")
        parties = {0: first, **{party: self.join(party, *EXACT) for party in (1, 2)}}
        self.check_done(parties, charged=[])
        self.assertEqual(relay.failed, [])
        lines = [line.split(",") for line in self.rows(0).read_text().split()[1:]]
        columns = [[float(line[k]) for line in lines] for k in (0, 1)]
        values = [number for column in columns for number in column] + [sum(column) for column in columns]
        values += [2 * number - 1 for column in columns for number in column]
        self.assertGreater(len(relay.sent), 10000)
        b.wait_line("study trial is done")
        stored = b"".join(path.read_bytes() for folder in (self.folder, self.path / "b")
                          for path in sorted(folder.rglob("*")) if path.is_file())
        self.assertIn(b"trial", stored)
        places = [relay.sent, stored] + [server.memory() for server in (a, b) if server.process.poll() is None]
        self.assertGreaterEqual(len(places), 3)
        for place in places:
            for number in values:
                self.assertNotIn(struct.pack("<d", number), place)
            for text in (b"0.123454", b"0.765431"):
                self.assertNotIn(text, place)

    def test_a_node_encrypts_with_no_other_key(self):
        """A study whose card has another key than server B: B says no, and nodes are asked nothing."""
        self.prepare()
        card = (self.path / "b" / "center.card").read_text()
        key = re.search(r'key: "(\w+)"', card).group(1)
        (self.path / "b" / "center.card").write_text(card.replace(key, key[::-1]))
        self.define("newton")
        a = self.coordinator()
        parties = [self.join(party, *EXACT) for party in range(3)]
        a.wait_line("study trial failed: .*names another center server's key")
        for party in parties:
            self.assertEqual(party.finish(), 1)
        self.assertEqual(self.charges(0), [])

    @staticmethod
    def hangs_up(port, context, words):
        """What server B says to these bytes until it hangs up."""
        got = b""
        try:
            with context.wrap_socket(socket.create_connection(("127.0.0.1", port), 60),
                                     server_hostname="127.0.0.1") as call:
                call.sendall(words)
                while piece := call.recv(4096):
                    got += piece
        except ConnectionError:
            pass
        except ssl.SSLError:
            pass
        return got

    def test_server_b_serves_nobody_but_server_a(self):
        b = self.prepare()
        self.define("newton")
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        port, authority = int((self.path / "b" / "port").read_text()), self.path / "b" / "ca.crt"
        party = next((self.home(0) / "studies").glob("trial@*")) / "party.crt"
        self.assertLess(len(self.hangs_up(port, tls(authority, party, party.with_name("party.key")), b"tacit-c4")), 8)
        b.wait_line("not for center server A")
        self.assertLess(len(self.hangs_up(port, tls(authority), b"tacit-c4")), 8)
        a = tls(authority, self.folder / "center.crt", self.folder / "center.key")
        for garbage in (b"x" * 12, b"tacit-c4" + struct.pack("<I", 1 << 31), b"tacit-c4" + struct.pack("<I", 4) + b"a: [" + struct.pack("<III", 0, 0, 0)):
            self.hangs_up(port, a, b"\0" + garbage)  # one byte says that the certificate was accepted
        b.wait_line("no center server of this version", 2)
        b.wait_line("a call ended: the definition")  # nobody has signed it
        self.assertEqual(b.process.poll(), None)
        # A's identity was stolen: it makes another, and B hears of it with the next study.
        old = self.path / "old"
        old.mkdir()
        for name in ("center.crt", "center.key"):
            shutil.copy(self.folder / name, old / name)
        self.succeed("revoke", self.folder, "center-a")
        self.define("newton", name="again")
        parties = {party: self.join(party, *EXACT, study="again") for party in range(3)}
        self.check_done(parties, study="again", charged=[])
        self.assertTrue((self.path / "b" / "revoked.txt").exists())
        self.hangs_up(port, tls(authority, old / "center.crt", old / "center.key"), b"\0tacit-c4")
        b.wait_line("certificate has been revoked")

    def test_noise_between_the_servers_is_charged_for_once(self):
        self.prepare()
        self.define("privlogit-hessian", "{engine: shares, dp: 5, dp-iterations: 2}")
        self.define("privlogit-local", "{engine: shares, dp: 3, dp-iterations: 2}", name="local")
        self.coordinator()
        for study, epsilon in (({}, 5.0), ({"study": "local"}, 3.0)):
            parties = {party: self.join(party, **study) for party in range(3)}
            model = self.check_done(parties, charged=[], **study)
            self.assertEqual(model["guarantee"]["charged"], {"unit": "record", "epsilon": epsilon, "delta": 1e-06})
            self.assertEqual(model["guarantee"]["noise"], "exact")
        prices = [charge["price"]["epsilon"] for charge in self.charges(0) if charge["price"]["epsilon"] != 0]
        self.assertEqual(prices, [5, 3])

    def test_wrong_use_is_said_in_one_sentence(self):
        self.study("first")
        self.refuse(2, "center", "--role", "c", self.path / "x", says=["--role takes a or b"])
        self.refuse(2, "center", "--role", "b", self.path / "x", says=["--coordinator"])
        self.refuse(2, "study", "new", self.folder, self.definition("lone", method="newton", set=None, epsilon=None),
                    says=["second center server", "center: FILE"])
        self.refuse(1, "study", "new", self.folder, self.definition("many", center="b/center.card"),
                    says=["has no center servers"])


class CoxOfServers(DeployedTest):
    """Times until an event between two center servers: hazard ratios of all rows pooled, and nothing of any cell of time."""

    server_b, prepare, start_a = Centers.server_b, Centers.prepare, Centers.start_a

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text("label: {name: [weeks, ill], kind: time, low: 0, high: 60}\ncolumns:\n  - {name: age, kind: number, low: 0, high: 1}\n"
                                               "  - {name: arm, kind: category, levels: [a, b]}\n")

    def rows(self, party):
        path = self.path / f"rows{party}.csv"
        if not path.exists():
            draw, lines = random.Random(party), ["age,arm,weeks,ill"]
            for _ in range(60):
                age, arm = draw.random(), draw.choice("ab")
                time, seen = draw.expovariate(0.03 * 2.7 ** (age + (arm == "b"))), draw.uniform(5, 60)
                lines.append(f"{age:.5f},{arm},{min(time, seen):.3f},{int(time <= seen)}")
            path.write_text("\n".join(lines) + "\n")
        return path

    def pooled(self):
        texts = [self.rows(party).read_text().splitlines() for party in range(3)]
        (self.path / "all.csv").write_text("\n".join([texts[0][0], *(line for text in texts for line in text[1:])]) + "\n")
        done = self.succeed("simulate", "--method", "cox", "--train", "all.csv", "--test", "all.csv", "--schema", "schema.yaml", "--parties", "1", "--set", "ties=breslow", "--set", "least=1",
                            "--set", "width=6", "--json")
        return json.loads(done.stdout)["summary"]

    def test_two_servers_get_the_hazard_ratios_of_all_rows_and_see_no_sum_also_after_one_was_killed(self):
        self.study("first", method="cox", set="{}", epsilon=None, **{"lambda": 0})  # B needs the coordinator's authority
        b = self.server_b()
        self.study("trial", method="cox-servers", set="{width: 6}", epsilon=None, center="b/center.card", **{"lambda": 0})
        a = self.start_a()
        parties = {party: self.join(party, *EXACT) for party in range(2)}
        b.kill()  # while A waits for the third
        parties[2] = self.join(2, *EXACT)
        a.wait_line("waits for center server B")
        self.server_b()
        self.check_done(parties, charged=[])
        summary, pooled = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout), self.pooled()
        self.assertEqual((summary["parties"], summary["rows"], summary["private"]), (3, 180, False))
        for mine, theirs in zip(summary["coefficients"], pooled["coefficients"], strict=True):
            self.assertEqual(mine["name"], theirs["name"])
            for key in ("estimate", "error"):
                self.assertAlmostEqual(mine[key], theirs[key], delta=1e-8 * (1 + abs(theirs[key])))
        for key in ("deviance", "null_deviance"):
            self.assertAlmostEqual(summary[key], pooled[key], delta=1e-7)
        self.assertNotIn("baseline", summary)
        for charge in self.charges(0):
            self.assertEqual((charge["price"]["epsilon"], charge["kind"]), ("inf", "sealed"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
