#!/usr/bin/env python3
"""Canary rows: planted at a party, they are nowhere else, whatever the method. One table has every method that can be
deployed; each is run with a distinctive row at a party, and then all that the party sent, the coordinator's memory, its
files, its log and every answer of its dashboard are searched for that row in every form it might take.

    TACIT=build/src/cli/tacit tests/service/test_canary.py [METHOD ...]
"""
import base64
import json
import math
import os
import random
import struct
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest, Relay
from pages import Page, documented

if os.geteuid() != 0:
    os.environ["TACIT_HARDENING"] = "off"  # these tests look into the memory of processes

AGE, DOSE, NOTE = "0.123456789012", "0.765432109876", "canary-in-a-coal-mine"
TITLE = "This title is public and found everywhere"  # the control of every place that is searched
POINTS = 40

ENTRUSTED, EXACT = ("--allow-entrusted",), ("--allow-entrusted", "--allow-exact")
CENTERED = {"epsilon": None, "center": "b/center.card", "lambda": 1}
LABELLED = {"epsilon": 2, "auxiliary": "points.csv"}

# What differs from DeployedTest.definition, and what owners allow.
METHODS = {
    "avg": ({"set": "{noise: party}"}, ()),
    "avg, clear": ({"set": "{noise: party}", "sum": "clear"}, ()),
    "avg, entrusted": ({"set": "{noise: coordinator}"}, ENTRUSTED),
    "avg, paillier": ({"set": "{noise: coordinator}", "sum": "paillier"}, ENTRUSTED),
    "output": ({"set": "{}"}, ()),
    "plr": ({"set": "{loss: huber}"}, ()),
    "gop": ({"set": "{}", "delta": "1e-5"}, ()),
    "pst-s": ({"set": "{blocks: 2}"}, ()),
    "pst-s, trees": ({"set": "{blocks: 2, members: mixed}", "delta": "1e-5"}, ()),
    "pst-f": ({"set": "{groups: 2}"}, ()),
    "pst-h": ({"set": "{groups: 2}"}, ()),
    "vote": ({"set": "{local: logistic}", **LABELLED}, ENTRUSTED),
    "soft": ({"set": '{local: "knn:1"}', **LABELLED}, ENTRUSTED),
    "soft-stat": ({"set": "{local: tree}", **LABELLED}, ENTRUSTED),
    "soft-stat, paillier": ({"set": "{local: logistic}", "sum": "paillier", **LABELLED}, ENTRUSTED),
    "pate": ({"set": "{queries: 20}", "delta": "1e-5", **LABELLED}, ENTRUSTED),
    "dpgd": ({"set": "{noise: shares, rounds: 2}", "delta": "1e-5", "dropouts": 0, "colluders": 0}, ()),
    "dpgd, adaptive": ({"set": "{noise: shares, rounds: 2, schedule: adaptive}", "delta": "1e-5", "dropouts": 0, "colluders": 0}, ()),
    "dpgd, entrusted": ({"set": "{rounds: 2}", "delta": "1e-5"}, ENTRUSTED),
    "dpgd, clear": ({"set": "{rounds: 2, noise: party}", "delta": "1e-5", "sum": "clear"}, ()),
    "dpnewton": ({"set": "{rounds: 2}", "delta": "1e-5", "lambda": None, "dropouts": 0, "colluders": 0}, ()),
    "dpnewton, folds": ({"set": "{rounds: 2, folds: 2}", "delta": "1e-5", "lambda": None, "dropouts": 0, "colluders": 0}, ()),
    "dpnewton, entrusted": ({"set": "{rounds: 2, noise: coordinator}", "delta": "1e-5"}, ENTRUSTED),
    "dpnewton, inference": ({"set": "{purpose: inference}", "delta": "1e-5", "lambda": None, "dropouts": 0, "colluders": 0}, ()),
    "dpnewton, clear": ({"set": "{rounds: 2, noise: party}", "delta": "1e-5", "sum": "clear"}, ()),
    "dptree": ({"set": "{depth: 2}", "delta": "1e-5", "lambda": None, "dropouts": 0, "colluders": 0}, ()),
    "dptree, entrusted": ({"set": "{depth: 2, noise: coordinator}", "delta": "1e-5", "lambda": None}, ENTRUSTED),
    "psgd": ({"set": "{rounds: 2, noise: fresh}", "delta": "1e-5"}, ()),
    "dpiw": ({"set": "{}", **LABELLED}, ()),
    "dphtl": ({"set": "{labelled: 0.5, target_labels: 0.5}", **LABELLED}, ()),
    "dpsgd": ({"set": '{hidden: "3", epochs: 1, sampling: 0.5}', "delta": "1e-5", "lambda": None}, ENTRUSTED),
    "dpstgd": ({"set": '{hidden: "3", rounds: 2, sampling: 0.5, keep: 0.3}', "delta": "1e-5", "lambda": None, "sum": "clear"}, ()),
    "estimate": ({"set": "{}", "epsilon": None, "lambda": 0.01}, EXACT),
    "estimate, clear": ({"set": "{optimiser: lbfgs}", "epsilon": None, "lambda": 0.01, "sum": "clear"}, EXACT),
    "survival-exact": ({"set": "{}", "epsilon": None, "lambda": None}, EXACT),
    "survival": ({"set": "{}", "delta": "1e-5", "lambda": None, "dropouts": 0, "colluders": 0}, ()),
    "survival, clear": ({"set": "{noise: party}", "delta": "1e-5", "lambda": None, "sum": "clear"}, ()),
    "dpcox": ({"set": "{}", "delta": "1e-5", "lambda": None, "dropouts": 0, "colluders": 0}, ()),
    "dpcox, entrusted": ({"set": "{noise: coordinator}", "delta": "1e-5", "lambda": None}, ENTRUSTED),
    "cox": ({"set": "{}", "epsilon": None, "lambda": 0}, EXACT),
    "mixed": ({"set": "{}", "epsilon": None, "lambda": 0}, EXACT),
    "meta": ({"set": "{forest: yes}", "epsilon": None, "lambda": 0.01}, EXACT),
    "evaluate": ({"set": "{}", "model": "model.json", "lambda": None, "delta": "1e-5", "dropouts": 0, "colluders": 0}, ()),
    "evaluate-exact": ({"set": "{}", "model": "model.json", "lambda": None, "epsilon": None}, EXACT),
    "describe": ({"set": "{}", "delta": "1e-5", "lambda": None, "dropouts": 0, "colluders": 0}, ()),
    "describe, clear": ({"set": "{noise: party}", "delta": "1e-5", "lambda": None, "sum": "clear"}, ()),
    "describe-exact": ({"set": "{}", "epsilon": None, "lambda": None}, EXACT),
    "histogram": ({"set": "{noise: shares}", "dropouts": 0, "colluders": 0}, ()),
    "consensus": ({"set": "{graph: ring, rounds: 3}", "epsilon": None}, ("--allow-neighbours",)),
    "gossip": ({"set": "{graph: complete, rounds: 3}", "epsilon": None}, ("--allow-neighbours",)),
    "extra": ({"set": "{graph: ring, rounds: 3}", "epsilon": None}, ("--allow-neighbours",)),
    "newton": ({"set": "{engine: shares}", **CENTERED}, EXACT),
    "privlogit-hessian": ({"set": "{engine: shares}", **CENTERED}, EXACT),
    "privlogit-local": ({"set": "{engine: yao, inference: no}", **CENTERED}, EXACT),
    "cox-servers": ({"set": "{width: 0.1}", **CENTERED}, EXACT),
}


def encodings(number):
    """As it is, and as a schema may bring it into the unit ball: about 0, and scaled for the columns and an intercept."""
    for centered in (number, 2 * number - 1, number - 0.5):
        for columns in (1, 2, 3):
            yield centered / math.sqrt(columns)
            yield centered * (1 / math.sqrt(columns))


def on_grids(number, least=34, most=62):
    """As a contribution to a sum: a whole number on a grid of powers of two, eight bytes."""
    for bits in range(least, most + 1):
        scaled = round(number * 2.0 ** bits)
        if abs(scaled) < 1 << 63:
            yield struct.pack("<q", scaled)


def disguises(plain):
    """The bytes, and the same in base64 whatever comes before them, and in hexadecimal."""
    yield plain
    yield plain.hex().encode()
    for before in range(3):
        first, last = -(-before // 3), (before + len(plain)) // 3  # whole groups of three that hold nothing but these bytes
        yield base64.b64encode(bytes(before) + plain)[4 * first:4 * last]


def traces(texts=(AGE, DOSE), words=(NOTE,)):
    """{bytes: what they are} of everything that gives the row away."""
    found = {}
    for text in texts:
        for plain in (text.encode(), text[2:12].encode()):
            found.update((each, f"the text {text}") for each in disguises(plain))
        for value in dict.fromkeys(encodings(float(text))):
            for order in "<>":
                found.update((each, f"{value} as a double") for each in disguises(struct.pack(order + "d", value)))
            found.update((each, f"{value} on a grid") for each in on_grids(value))
    for word in words:
        found.update((each, f"the word {word}") for each in disguises(word.encode()))
    return {each: what for each, what in found.items() if len(each) >= 7}


def short_traces(texts=(AGE, DOSE), words=(NOTE,)):
    """Fewer, for a whole memory: no disguises, and of doubles the six bytes that rounding leaves alone. By chance one of them is
    in 100 MB with probability 2e-5."""
    found = {word.encode(): f"the word {word}" for word in words}
    for text in texts:
        found.update({text.encode(): f"the text {text}", text[2:12].encode(): f"the text {text}"})
        for value in encodings(float(text)):
            found.update({struct.pack("<d", value)[2:]: f"{value} as a double", struct.pack(">d", value)[:6]: f"{value} as a double"})
    return found


class CanaryTest(DeployedTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(99)
        (self.path / "points.csv").write_text(
            "age,dose\n" + "".join(f"{draw.random():.6f},{draw.random():.6f}\n" for _ in range(POINTS)))
        self.make_model()

    def plant(self, party):
        """Distinctive values in the columns that are used, and in one that is not."""
        lines = self.rows(party).read_text().splitlines()
        lines = [lines[0] + ",note"] + [line + "," + NOTE for line in lines[1:]]
        lines[5] = f"{AGE},{DOSE},yes,{NOTE}"
        self.rows(party).write_text("\n".join(lines) + "\n")

    def ask_about_times(self):
        """The dose becomes a time, at which somebody fell ill or was last seen well."""
        (self.path / "schema.yaml").write_text("label: {name: [dose, sick], kind: time, low: 0, high: 1}\ncolumns:\n  - {name: age, kind: number, low: 0, high: 1}\n")
        for who in (0, 1, 2, "target", "test"):
            self.rows(who).write_text(self.rows(who).read_text().replace(",yes", ",1").replace(",no\n", ",0\n").replace(",no,", ",0,"))

    def ask_about_persons(self):
        """Three rows each."""
        (self.path / "schema.yaml").write_text("label: {name: sick, classes: ['no', 'yes']}\nperson: who\ncolumns:\n  - {name: age, kind: number, low: 0, high: 1}\n"
                                               "  - {name: dose, kind: number, low: 0, high: 1}\n")
        for who in (0, 1, 2, "target", "test"):
            head, *lines = self.rows(who).read_text().splitlines()
            self.rows(who).write_text("\n".join(["who," + head, *(f"p{k // 3},{line}" for k, line in enumerate(lines))]) + "\n")

    def run_study(self, method, changed, allowed, watched_words=(), epsilon=None):
        """What could be seen: {place: bytes}."""
        self.servers = []
        if "center" in changed:
            times = method == "cox-servers"
            super().study("first", **({"method": "cox", "set": "{}", "epsilon": None, "lambda": 0} if times else {}))
            self.servers.append(self.start("center", "--role", "b", self.path / "b", "--coordinator", self.folder / "ca.crt"))
            self.servers[0].wait_line("serving at ")
        self.study(title=TITLE, method=method, **changed)
        coordinator = self.coordinator("--dashboard", "0", "--target", self.rows("target"), "--test", self.rows("test"))
        self.servers.append(coordinator)
        page = Page(coordinator)
        self.assertEqual(page.log_in(), 200)
        relay = Relay(self.folder, self.home(0), self.port)
        role = lambda party: ("--role", "target" if party == 2 else "source") if method == "pst-h" else ()
        more = lambda party: (*allowed, *role(party))
        processes = {0: self.join(0, *more(0), *watched_words, invitation=self.invite("--url", relay.address))}
        seen = {"an event": self.event(page)}
        processes.update({party: self.join(party, *more(party)) for party in (1, 2)})
        for process in processes.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(self.status()["state"], "done")
        self.assertEqual(relay.failed, [])
        seen.update(self.everything(coordinator, page, relay))
        relay.listener.close()
        return seen

    @staticmethod
    def event(page):
        return json.dumps(page.event()[1]).encode()

    def everything(self, coordinator, page, relay):
        seen = {"what the party sent": bytes(relay.sent), "what the coordinator printed": coordinator.text().encode(),
                "a late event": self.event(page)}
        for number, server in enumerate(self.servers):
            seen[f"the memory of server {number}"] = server.memory()
        for method, path in sorted(documented("dashboard")):
            if method == "GET" and path != "/v1/events":
                seen["GET " + path] = page.ask(method, path.replace("{study}", "trial"))[2]
        for path in ("/", "/dashboard.js"):
            seen["GET " + path] = page.ask("GET", path)[2]
        for folder in {self.folder, *self.path.glob("b")}:
            seen.update({str(file.relative_to(self.path)): file.read_bytes() for file in folder.rglob("*") if file.is_file()})
        return seen

    def check_controls(self, seen):
        """The search finds what is there to be found, in every kind of place."""
        for place in ("an event", "a late event", "GET /v1/studies", "GET /v1/studies/{study}", "consortium/coordinator.db",
                      f"the memory of server {len(self.servers) - 1}"):
            self.assertIn(TITLE.encode(), seen[place], place)
        self.assertIn(b"/v1/answer", seen["what the party sent"])
        self.assertIn(b"study trial", seen["consortium/coordinator.log"])
        self.assertIn(b"estimates", seen["GET /v1/studies/{study}/result"])
        self.assertIn(b"points", seen["GET /v1/studies/{study}/curve"])


class Canaries(CanaryTest):
    def test_every_method_that_can_be_deployed_is_in_the_table(self):
        names = {one["name"] for one in json.loads(self.succeed("methods", "--json").stdout)}
        missing = names - {name.split(",")[0] for name in METHODS}
        for method in missing:
            self.refuse(3, "study", "new", self.folder, self.definition(method=method, epsilon=None, set=None),
                        says=["cannot be deployed"])
        self.assertEqual(len(missing), 2)


def check(name):
    def test(self):
        changed, allowed = METHODS[name]
        self.plant(0)
        times = name.split(",")[0] in ("cox", "cox-servers", "dpcox", "survival", "survival-exact")
        if times:
            self.ask_about_times()
        if name == "mixed":
            self.ask_about_persons()
        seen = self.run_study(name.split(",")[0], changed, allowed, () if times else ("--label", "sick"))
        self.check_controls(seen)
        many, few = traces(), short_traces()
        for place, content in seen.items():
            for trace, what in (few if place.startswith("the memory") else many).items():
                self.assertFalse(trace in content, f"{name}: {what} is in {place}")
    return test


for name in METHODS:
    setattr(Canaries, "test_" + name.replace(", ", "_").replace("-", "_"), check(name))


class Control(CanaryTest):
    """A party with a single row, which its owner allows to be summed up: then the sum is the row. In clear it is found where it
    goes; under masks it is not."""

    def one_row(self, sums):
        (self.path / "schema.yaml").write_text(
            "label: {name: weight, kind: number, low: 0, high: 1}\ncolumns:\n  - {name: dose, kind: number, low: 0, high: 1}\n")
        for party in (0, 1, 2):
            rows = [(DOSE, AGE)] if party == 0 else [(f"0.{k}1", f"0.{(k * 7 + party) % 10}3") for k in range(10)]
            self.path.joinpath(f"rows{party}.csv").write_text("dose,weight\n" + "".join(f"{d},{w}\n" for d, w in rows))
        self.succeed("rules", "set", "--minimum-rows", 1, home=self.home(0))
        for name in ("target", "test"):
            self.path.joinpath(f"rows{name}.csv").write_text("dose,weight\n0.5,0.5\n0.25,0.75\n")
        return self.run_study("estimate", {"set": "{}", "epsilon": None, "lambda": 0.01, "minimum_rows": 1, "sum": sums}, EXACT)

    def places(self, seen):
        return {place for place, content in seen.items() for value in (2 * float(AGE) - 1,)
                if any(trace in content for trace in on_grids(value, 20))}

    def test_a_row_that_is_its_own_sum_is_found_in_clear(self):
        found = self.places(self.one_row("clear"))
        self.assertIn("what the party sent", found)

    def test_and_not_under_masks(self):
        self.assertEqual(self.places(self.one_row("masked")), set())

    def test_disguises_are_seen_through(self):
        for plain in (b"0.123456789012", struct.pack("<d", float(AGE)), NOTE.encode()):
            for before in range(7):
                text = base64.b64encode(os.urandom(before) + plain + os.urandom(5))
                self.assertTrue(any(trace in text for trace in traces()), (plain, before))
            self.assertTrue(any(trace in plain.hex().encode() for trace in traces()))
        self.assertFalse(any(trace in os.urandom(1 << 16) for trace in traces()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
