#!/usr/bin/env python3
"""What people read before they trust the program with their rows: `tacit explain`, `join`, `consent`, `ledger show` and what `fit` says,
for every method and every way of adding noise, word for word (golden.py says how to write the files again).

    TACIT=build/src/cli/tacit tests/service/test_messages.py
"""
import os
import random
import re
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest, SCHEMA
from golden import FOLDER, UPDATE, difference, masked

ENTRUSTED, EXACT, NEIGHBOURS = ("--allow-entrusted",), ("--allow-entrusted", "--allow-exact"), ("--allow-neighbours",)
SITE = ("--allow-site",)
CENTERED = {"epsilon": None, "center": "b/center.card", "lambda": 1}
LABELLED = {"auxiliary": "points.csv"}
GAUSSIAN = {"delta": "1e-5"}
ALL = {"parties": "{expected: 5}"}

# Every method that can be deployed, in every mode that changes who sees what: the screen's name, the method, what differs from
# DeployedTest.definition, and what the owner allows.
MODES = {
    "avg-coordinator": ("avg", {"set": "{noise: coordinator}"}, ENTRUSTED),
    "avg-coordinator-clear": ("avg", {"set": "{noise: coordinator}", "sum": "clear"}, ENTRUSTED),
    "avg-coordinator-paillier": ("avg", {"set": "{noise: coordinator}", "sum": "paillier"}, ENTRUSTED),
    "avg-coordinator-per-party": ("avg", {"set": "{noise: coordinator, unit: party}"}, ENTRUSTED),
    "avg-party": ("avg", {"set": "{noise: party}"}, ()),
    "avg-party-clear": ("avg", {"set": "{noise: party}", "sum": "clear"}, ()),
    "output": ("output", {"set": "{}"}, ()),
    "plr": ("plr", {"set": "{}"}, ()),
    "gop": ("gop", {"set": "{}", **GAUSSIAN}, ()),
    "pst-s": ("pst-s", {"set": "{blocks: 2}"}, ()),
    "pst-f": ("pst-f", {"set": "{groups: 2}"}, ()),
    "pst-h-source": ("pst-h", {"set": "{groups: 2}"}, ("--role", "source")),
    "pst-h-target": ("pst-h", {"set": "{groups: 2}"}, ("--role", "target")),
    "vote": ("vote", {"set": "{local: logistic}", **LABELLED}, ENTRUSTED),
    "vote-clear": ("vote", {"set": "{local: logistic}", "sum": "clear", **LABELLED}, ENTRUSTED),
    "soft": ("soft", {"set": "{local: logistic}", **LABELLED}, ENTRUSTED),
    "soft-stat-pure": ("soft-stat", {"set": "{local: logistic}", **LABELLED}, ENTRUSTED),
    "soft-stat-gaussian": ("soft-stat", {"set": "{local: logistic}", **GAUSSIAN, **LABELLED}, ENTRUSTED),
    "soft-stat-paillier": ("soft-stat", {"set": "{local: logistic}", "sum": "paillier", **LABELLED}, ENTRUSTED),
    "pate": ("pate", {"set": "{queries: 20}", **GAUSSIAN, **LABELLED}, ENTRUSTED),
    "dpgd-coordinator": ("dpgd", {"set": "{noise: coordinator, rounds: 5}", **GAUSSIAN}, ENTRUSTED),
    "dpgd-coordinator-clear": ("dpgd", {"set": "{noise: coordinator, rounds: 5}", "sum": "clear", **GAUSSIAN}, ENTRUSTED),
    "dpgd-party": ("dpgd", {"set": "{noise: party, rounds: 5}", **GAUSSIAN}, ()),
    "dpgd-party-clear": ("dpgd", {"set": "{noise: party, rounds: 5}", "sum": "clear", **GAUSSIAN}, ()),
    "dpgd-shares": ("dpgd", {"set": "{noise: shares, rounds: 5}", **GAUSSIAN}, ()),
    "dpgd-adaptive": ("dpgd", {"set": "{noise: shares, schedule: adaptive, rounds: 5}", **GAUSSIAN}, ()),
    "dpgd-party-per-party": ("dpgd", {"set": "{noise: party, rounds: 5, unit: party}", **GAUSSIAN}, ()),
    "dpnewton-coordinator": ("dpnewton", {"set": "{noise: coordinator, rounds: 5}", **GAUSSIAN}, ENTRUSTED),
    "dpnewton-party": ("dpnewton", {"set": "{noise: party, rounds: 5}", **GAUSSIAN}, ()),
    "dpnewton-party-clear": ("dpnewton", {"set": "{noise: party, rounds: 5}", "sum": "clear", **GAUSSIAN}, ()),
    "dpnewton-shares": ("dpnewton", {"set": "{rounds: 5}", **GAUSSIAN}, ()),
    "dpnewton-folds": ("dpnewton", {"set": "{rounds: 5, folds: 3}", **GAUSSIAN}, ()),
    "dpnewton-missing": ("dpnewton", {"set": "{rounds: 5}", "schema": "gaps.yaml", **GAUSSIAN}, ()),
    "dpnewton-person": ("dpnewton", {"set": "{unit: person, rounds: 5}", "schema": "persons.yaml", **GAUSSIAN}, ()),
    "dpnewton-person-coordinator": ("dpnewton", {"set": "{unit: person, noise: coordinator, rounds: 5}", "schema": "persons.yaml", **GAUSSIAN},
                                    ENTRUSTED),
    "dpnewton-inference": ("dpnewton", {"set": "{purpose: inference}", **GAUSSIAN}, ()),
    "dpnewton-inference-coordinator": ("dpnewton", {"set": "{purpose: inference, noise: coordinator}", **GAUSSIAN}, ENTRUSTED),
    "dpnewton-inference-party": ("dpnewton", {"set": "{purpose: inference, noise: party}", **GAUSSIAN}, ()),
    "pst-s-trees": ("pst-s", {"set": "{members: tree, blocks: 2}", **GAUSSIAN}, ()),
    "pst-s-mixed": ("pst-s", {"set": "{members: mixed, blocks: 2}", **GAUSSIAN}, ()),
    "dptree-shares": ("dptree", {"set": "{}", "lambda": None, **GAUSSIAN}, ()),
    "dptree-party-clear": ("dptree", {"set": "{noise: party}", "lambda": None, "sum": "clear", **GAUSSIAN}, ()),
    "dptree-coordinator": ("dptree", {"set": "{noise: coordinator}", "lambda": None, **GAUSSIAN}, ENTRUSTED),
    "psgd-both": ("psgd", {"set": "{rounds: 2, noise: both}", **GAUSSIAN}, ()),
    "psgd-fresh": ("psgd", {"set": "{rounds: 2, noise: fresh}", **GAUSSIAN}, ()),
    "dpiw-pure": ("dpiw", {"set": "{}", **LABELLED}, ()),
    "dpiw-gaussian": ("dpiw", {"set": "{}", **GAUSSIAN, **LABELLED}, ()),
    "dphtl-pure": ("dphtl", {"set": "{labelled: 0.5, target_labels: 0.5}", **LABELLED}, ()),
    "dphtl-gaussian-all": ("dphtl", {"set": "{labelled: 1, target_labels: 0.5}", **GAUSSIAN, **LABELLED}, ()),
    "dpsgd-coordinator": ("dpsgd", {"set": '{hidden: "3", epochs: 1, sampling: 0.5}', "lambda": None, **GAUSSIAN}, ENTRUSTED),
    "dpsgd-shares": ("dpsgd", {"set": '{hidden: "3", epochs: 1, sampling: 0.5, noise: shares}', "lambda": None, **GAUSSIAN}, ()),
    "dpsgd-party": ("dpsgd", {"set": '{hidden: "3", epochs: 1, sampling: 0.5, noise: party}', "lambda": None, **GAUSSIAN}, ()),
    "dpsgd-party-ternary": ("dpsgd", {"set": '{hidden: "3", epochs: 1, sampling: 0.5, noise: party, keep: 0.3, upload: ternary}',
                                      "lambda": None, "sum": "clear", **GAUSSIAN}, ()),
    "dpstgd": ("dpstgd", {"set": '{hidden: "3", rounds: 2, sampling: 0.5, keep: 0.3}', "lambda": None, "sum": "clear", **GAUSSIAN}, ()),
    "estimate": ("estimate", {"set": "{}", "epsilon": None, "lambda": 0.01}, EXACT),
    "estimate-robust": ("estimate", {"set": "{errors: HC3, influence: yes}", "epsilon": None, "lambda": 0.01}, EXACT),
    "estimate-firth": ("estimate", {"set": "{bias: firth}", "epsilon": None, "lambda": 0}, EXACT),
    "estimate-intercepts": ("estimate", {"set": "{intercepts: party}", "epsilon": None, "lambda": 0}, EXACT),
    "estimate-folds": ("estimate", {"set": "{folds: 2}", "epsilon": None, "lambda": 0.01}, EXACT),
    "estimate-clear": ("estimate", {"set": "{}", "epsilon": None, "lambda": 0.01, "sum": "clear"}, EXACT),
    "estimate-paillier": ("estimate", {"set": "{}", "epsilon": None, "lambda": 0.01, "sum": "paillier"}, EXACT),
    "dpcox-shares": ("dpcox", {"set": "{}", "lambda": None, "schema": "times.yaml", **GAUSSIAN}, ()),
    "dpcox-party-clear": ("dpcox", {"set": "{noise: party}", "lambda": None, "sum": "clear", "schema": "times.yaml", **GAUSSIAN}, ()),
    "dpcox-coordinator": ("dpcox", {"set": "{noise: coordinator}", "lambda": None, "schema": "times.yaml", **GAUSSIAN}, ENTRUSTED),
    "dpcox-persons": ("dpcox", {"set": "{}", "lambda": None, "schema": "visits.yaml", **GAUSSIAN}, ()),
    "dpgd-missing": ("dpgd", {"set": "{rounds: 5, noise: shares}", "schema": "gaps.yaml", **GAUSSIAN}, ()),
    "dpcox-missing": ("dpcox", {"set": "{}", "lambda": None, "schema": "late.yaml", **GAUSSIAN}, ()),
    "survival-exact": ("survival-exact", {"set": "{}", "epsilon": None, "lambda": None, "schema": "times.yaml"}, EXACT),
    "survival-shares": ("survival", {"set": "{}", "lambda": None, "schema": "times.yaml", **GAUSSIAN}, ()),
    "survival-party-clear": ("survival", {"set": "{noise: party}", "lambda": None, "sum": "clear", "schema": "times.yaml", **GAUSSIAN}, ()),
    "mixed": ("mixed", {"set": "{}", "epsilon": None, "lambda": 0, "schema": "persons.yaml"}, EXACT),
    "mixed-party": ("mixed", {"set": "{group: party}", "epsilon": None, "lambda": 0, "parties": "{expected: 20, minimum: 16}"}, EXACT),
    "meta": ("meta", {"set": "{}", "epsilon": None, "lambda": 0, **ALL}, EXACT),
    "meta-forest": ("meta", {"set": "{forest: yes}", "epsilon": None, "lambda": 0}, EXACT),
    "cox": ("cox", {"set": "{}", "epsilon": None, "lambda": 0, "schema": "times.yaml"}, EXACT),
    "cox-robust": ("cox", {"set": "{errors: robust, proportional: km}", "epsilon": None, "lambda": 0, "schema": "times.yaml"}, EXACT),
    "evaluate-shares": ("evaluate", {"set": "{}", "lambda": None, "model": "model.json", **GAUSSIAN}, ()),
    "evaluate-pure": ("evaluate", {"set": "{law: pure}", "lambda": None, "model": "model.json"}, ()),
    "evaluate-coordinator": ("evaluate", {"set": "{noise: coordinator}", "lambda": None, "model": "model.json", **GAUSSIAN}, ENTRUSTED),
    "evaluate-exact": ("evaluate-exact", {"set": "{}", "lambda": None, "model": "model.json", "epsilon": None}, EXACT),
    "evaluate-sites": ("evaluate", {"set": "{sites: apart, noise: party}", "lambda": None, "model": "model.json", **GAUSSIAN}, SITE),
    "evaluate-exact-sites": ("evaluate-exact", {"set": "{sites: apart}", "lambda": None, "model": "model.json", "epsilon": None}, EXACT + SITE),
    "describe-sites": ("describe", {"set": "{sites: apart, noise: party}", "lambda": None, **GAUSSIAN}, SITE),
    "describe-exact-sites": ("describe-exact", {"set": "{sites: apart}", "epsilon": None, "lambda": None}, EXACT + SITE),
    "describe-shares": ("describe", {"set": "{}", "lambda": None, **GAUSSIAN}, ()),
    "describe-missing": ("describe", {"set": "{missing: counted}", "lambda": None, **GAUSSIAN}, ()),
    "describe-party": ("describe", {"set": "{noise: party}", "lambda": None, **GAUSSIAN}, ()),
    "describe-party-clear": ("describe", {"set": "{noise: party}", "lambda": None, "sum": "clear", **GAUSSIAN}, ()),
    "describe-exact": ("describe-exact", {"set": "{}", "epsilon": None, "lambda": None}, EXACT),
    "histogram-coordinator": ("histogram", {"set": "{noise: coordinator}"}, ENTRUSTED),
    "histogram-shares": ("histogram", {"set": "{noise: shares}"}, ()),
    "consensus": ("consensus", {"set": "{graph: ring, rounds: 3}", "epsilon": None, **ALL}, NEIGHBOURS),
    "gossip": ("gossip", {"set": "{graph: complete, rounds: 3}", "epsilon": None, **ALL}, NEIGHBOURS),
    "extra": ("extra", {"set": "{graph: ring, rounds: 3}", "epsilon": None, **ALL}, NEIGHBOURS),
    "newton": ("newton", {"set": "{engine: shares}", **CENTERED}, EXACT),
    "newton-dp": ("newton", {"set": "{engine: shares, dp: 1, inference: no}", **CENTERED}, ()),
    "privlogit-hessian": ("privlogit-hessian", {"set": "{engine: shares}", **CENTERED}, EXACT),
    "privlogit-hessian-dp": ("privlogit-hessian", {"set": "{engine: shares, dp: 1, inference: no}", **CENTERED}, ()),
    "privlogit-local": ("privlogit-local", {"set": "{engine: yao, inference: no}", **CENTERED}, EXACT),
    "privlogit-local-dp": ("privlogit-local", {"set": "{engine: shares, dp: 1, inference: no}", **CENTERED}, ()),
    "cox-servers": ("cox-servers", {"set": "{}", "schema": "times.yaml", **CENTERED}, EXACT),
}
YARDSTICKS = ("batch", "indiv")


def settings(changed):
    """--set words for `tacit explain` of a study's `set:`."""
    for key, value in re.findall(r"(\w[\w-]*): (\"[^\"]*\"|[^,}]+)", changed["set"]):
        yield from ("--set", f"{key}={value.strip(chr(34))}")


class MessageTest(DeployedTest):
    def say(self, *words, home=0):
        """What a command that succeeds prints, results and notes."""
        done = self.succeed(*words, home=self.home(home))
        return done.stdout + done.stderr

    def check(self, name, text):
        wrong = difference(name, masked(text, self.path))
        if wrong:
            self.fail(wrong)


class Explained(MessageTest):
    def explain(self, method, *words):
        return self.succeed("explain", method, "--epsilon", "2", "--parties", "5", "--rows", "40", "--features", "3", *words).stdout

    def test_each_method_and_mode(self):
        for name, (method, changed, _) in MODES.items():
            if name.endswith("-target"):
                continue  # one screen for both roles
            name = name.removesuffix("-source")
            words = [*settings(changed), *(["--delta", changed["delta"]] if "delta" in changed else []),
                     *(["--sum", changed["sum"]] if "sum" in changed else [])]
            with self.subTest(name):
                self.check("explain-" + name, self.explain(method, *words))
        for method in YARDSTICKS:
            with self.subTest(method):
                self.check("explain-" + method, self.explain(method))

    def test_moments_that_are_reused(self):
        self.check("explain-dpnewton-reused", self.explain("dpnewton", "--set", "moments=reused", "--set", "rounds=5", "--delta", "1e-5"))

    def test_no_method_is_left_out(self):
        told = set(re.findall(r"^(\S+)  .*simulations", self.succeed("methods").stdout, re.M))
        self.assertEqual(told, {method for method, _, _ in MODES.values()} | set(YARDSTICKS))


class Joined(MessageTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(99)
        (self.path / "times.yaml").write_text("label: {name: [weeks, ill], kind: time, low: 0, high: 100}\n"
                                              "columns:\n  - {name: age, kind: number, low: 0, high: 1}\n  - {name: dose, kind: number, low: 0, high: 1}\n")
        (self.path / "visits.yaml").write_text((self.path / "times.yaml").read_text().replace("[weeks", "[since, weeks") + "person: patient\n")
        (self.path / "persons.yaml").write_text(SCHEMA + "person: patient\n")
        (self.path / "persons.yaml").write_text("label: {name: sick, classes: ['no', 'yes']}\nperson: weeks\n"
                                                "columns:\n  - {name: age, kind: number, low: 0, high: 1}\n  - {name: dose, kind: number, low: 0, high: 1}\n")
        for name, schema in (("gaps.yaml", SCHEMA), ("late.yaml", (self.path / "times.yaml").read_text())):
            (self.path / name).write_text(schema + "missing: complete-case\n")
        (self.path / "points.csv").write_text("age,dose\n" + "".join(f"{draw.random():.6f},{draw.random():.6f}\n" for _ in range(40)))
        self.make_model()

    def rows(self, party):
        """Also when somebody fell ill, for methods that ask about times, and who it is, for those that protect persons."""
        path = super().rows(party)
        header, *lines = path.read_text().splitlines()
        if "weeks" not in header:
            path.write_text("\n".join([header + ",weeks,ill,patient,since",
                                       *(f"{line},{number % 50 + 1},{number % 2},p{number // 2},{number % 50}" for number, line in enumerate(lines)), ""]))
        return path

    def center(self):
        self.study("first")
        center = self.start("center", "--role", "b", self.path / "b", "--coordinator", self.folder / "ca.crt")
        center.wait_line("serving at ")

    def check_consistent(self, screen):
        """Whatever the golden file says: no sentence of a screen contradicts another, or speaks of a mode that was not chosen."""
        said = {}
        for line in screen.splitlines():
            said.setdefault(line[:10].strip(), line[11:])
        self.assertNotRegex(screen, r"(noise|unit|law|inference|dp)=|\binf\b|at most 0")
        exact = said["noise"].startswith("none")
        self.assertEqual(exact, said["price"].startswith("epsilon infinite"))
        self.assertEqual(exact, said["guarantee"].startswith("no differential privacy"))
        if exact:
            self.assertNotRegex(screen, r"add(s|ed)? (the )?noise|noisy")
        if "trust" in said:
            self.assertEqual(exact, "adds the noise" not in said["trust"])
        if said["noise"].startswith("by the coordinator"):
            self.assertIn("trust", said)
            self.assertRegex(said["guarantee"], "no such guarantee towards the coordinator")
        least = re.search(r"sums of at least (\d+) parties", said.get("sums", ""))
        if least:  # one number for what is needed
            self.assertIn(f"nothing is computed from fewer than {least.group(1)};", said["parties"])

    def test_each_method_and_mode_before_consent(self):
        self.center()
        for name, (method, changed, _) in MODES.items():
            self.study(name, **{"title": "Who falls ill", "method": method, "parties": "{expected: 5, minimum: 3}", **changed})
        self.coordinator("--target", self.rows("target"))
        self.limit(0, 100)
        for name, (_, changed, allowed) in MODES.items():
            with self.subTest(name):
                words = self.join_words(0, self.invite(study=name), *allowed)
                words[words.index("--schema") + 1] = self.path / changed.get("schema", "schema.yaml")
                words.remove("--yes")
                shown = self.tacit(*words, home=self.home(0))
                self.assertEqual(shown.returncode, 3, shown.stderr)
                self.check_consistent(shown.stderr)
                self.check("join-" + name, shown.stderr)


class Kept(MessageTest):
    """What the owner's ledger says of a source, in each state it can be in."""

    def show(self, name, party=0):
        self.check("ledger-" + name, self.say("ledger", "show", home=party))

    def exact_study(self, name="trial"):
        self.study(name, title="Who falls ill", method="estimate", set="{}", epsilon=None, **{"lambda": 0.01})

    def join_without_limit(self, party, *more):
        process = self.start(*self.join_words(party, self.invite(), *EXACT, *more), home=self.home(party))
        process.wait_line("^joined; waiting")
        return process

    def consent_screen(self, name, *words):
        shown = self.tacit("consent", "trial", *words, home=self.home(0))
        self.assertEqual(shown.returncode, 3, shown.stderr)
        self.check("consent-" + name, shown.stderr)

    def test_before_and_after_an_answer_with_a_price(self):
        self.study()
        self.coordinator()
        refused = self.tacit(*self.join_words(0, self.invite()), home=self.home(0))
        self.check("join-refused-without-limit", refused.stderr.splitlines()[-1])
        self.succeed("ledger", "limit", "--source", self.rows(0), "--study", "another", "--epsilon", 1, home=self.home(0))
        self.show("no-limit")
        self.check("ledger-limit", self.say("ledger", "limit", "--source", self.rows(0), "--epsilon", 3, "--delta", "1e-4"))
        self.show("limit-set")
        self.check_done({party: self.join(party, epsilon=3) for party in range(3)})
        self.show("answered")
        self.study("again")
        refused = self.tacit(*self.join_words(0, self.invite(study="again")), home=self.home(0))
        self.check("join-refused-over-limit", refused.stderr.splitlines()[-1])
        self.check("withdraw-ended", self.say("withdraw", "trial"))
        self.show("withdrawn")

    def test_a_delta_at_which_nothing_is_proved(self):
        self.study(method="gop", set="{}", delta="1e-5")
        self.coordinator()
        self.check_done({party: self.join(party) for party in range(3)})
        self.check("ledger-limit-unproved", self.say("ledger", "limit", "--source", self.rows(0), "--epsilon", 5))
        self.show("unproved")
        self.study("again")
        refused = self.tacit(*self.join_words(0, self.invite(study="again")), home=self.home(0))
        self.check("join-refused-unproved", refused.stderr.splitlines()[-1])

    def test_exact_answers_without_and_with_a_limit(self):
        self.exact_study()
        self.coordinator()
        processes = {party: self.join_without_limit(party) for party in range(3)}
        self.check_done(processes, charged=[])
        self.show("exact-without-limit")
        self.check("ledger-limit-after-exact", self.say("ledger", "limit", "--source", self.rows(0), "--epsilon", 3, "--delta", "1e-4"))
        self.show("exact-with-limit")
        self.study("private")
        refused = self.tacit(*self.join_words(0, self.invite(study="private")), home=self.home(0))
        self.check("join-refused-after-exact", refused.stderr.splitlines()[-1])

    def test_a_study_that_is_amended(self):
        self.study()
        self.coordinator()
        party = self.join(0)
        self.succeed("study", "amend", self.folder, self.definition(epsilon=1, title="Who falls ill again"))
        self.assertEqual(party.finish(), 3, party.text())
        self.check("party-amended", party.lines[-1])
        self.show("amended")
        self.consent_screen("amended")
        self.check("consent-given", self.say("consent", "trial", "--yes"))
        self.show("amended-and-consented")
        self.check("withdraw-running", self.say("withdraw", "trial"))
        self.check("consent-again", self.say("consent", "trial", "--yes"))

    def test_an_amendment_that_asks_for_exact_sums(self):
        self.study()
        self.coordinator()
        party = self.join(0)
        self.succeed("study", "amend", self.folder, self.definition(method="estimate", set="{}", epsilon=None))
        self.assertEqual(party.finish(), 3, party.text())
        self.consent_screen("amended-to-exact-not-allowed")
        self.consent_screen("amended-to-exact", *EXACT)

    def test_a_model_of_ones_own(self):
        self.succeed("ledger", "limit", "--source", "clinic", "--epsilon", 3, "--delta", "1e-4", home=self.home(0))
        words = ("fit", "--method", "gop", "--train", self.rows(0), "--source", "clinic", "--schema", self.path / "schema.yaml", "--epsilon", 1, "--delta", "1e-5",
                 "--out", self.path / "model.json")
        for name in ("fit", "fit-again"):
            self.check(name, self.say(*words))


if __name__ == "__main__":
    if UPDATE:
        for kept in FOLDER.glob("[!p]*.txt"):
            kept.unlink()
    unittest.main(verbosity=2)
