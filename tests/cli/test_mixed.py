#!/usr/bin/env python3
"""Method mixed against R's lme4.

Figures of R are those in mixed/mixed.csv, or fresh ones where Rscript with package lme4 is installed (mixed/mixed.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_mixed.py
"""
import csv
import json
import math
import os
import random
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

HERE = Path(__file__).resolve().parent / "mixed"
SCHEMAS = {
    "sleep": "label: {name: Reaction, kind: number, low: 150, high: 500}\nperson: Subject\ncolumns:\n  - {name: Days, kind: number, low: 0, high: 10}\n",
    "cbpp": "label: {name: ill, classes: ['0', '1']}\nperson: herd\ncolumns:\n  - {name: period, kind: category, levels: ['1', '2', '3', '4']}\n",
    "visits": "label: {name: falls, kind: count, low: 0, high: 200}\nperson: who\ncolumns:\n  - {name: age, kind: number, low: -1, high: 3}\n  - {name: noise, kind: skip}\n",
    "trials": "label: {name: ill, classes: ['0', '1']}\nperson: who\ncolumns:\n  - {name: dose, kind: number, low: -1, high: 3}\n",
    "nothing": "label: {name: noise, kind: number, low: -10, high: 10}\nperson: who\ncolumns:\n  - {name: age, kind: number, low: -1, high: 3}\n  - {name: falls, kind: skip}\n",
}
FAR_APART = {"ML": (2.0025432672065, 0.0551749906747, 6.959516941399, 0.131588985535, -301.09249778848),
             "REML": (2.0025432672065, 0.0552309203949, 7.238149193070, 0.131855898687, -302.80013944748)}
PERSONS = {"sleep": "Subject", "cbpp": "herd", "visits": "who", "trials": "who", "nothing": "who"}
CASES = {
    "sleep slope ML": ("sleep", "slope=Days"),
    "sleep slope REML": ("sleep", "slope=Days", "likelihood=REML"),
    "sleep ML": ("sleep",),
    "sleep REML": ("sleep", "likelihood=REML"),
    "cbpp": ("cbpp",),
    "cbpp Laplace": ("cbpp", "nodes=1"),
    "visits": ("visits",),
    "visits slope": ("visits", "slope=age"),
    "visits nothing": ("nothing",),
    "trials slope": ("trials", "slope=dose"),
}
BY_PARTY = {  # of which each person of R's is one party
    "sleep ML": ("sleep", 18),
    "sleep slope ML": ("sleep", 18, "slope=Days"),
    "sleep REML": ("sleep", 18, "likelihood=REML"),
    "cbpp": ("cbpp", 15),
    "trials slope": ("trials", 80, "slope=dose"),
}


def poisson(draw, mean):
    count, product = 0, draw.random()
    while product > math.exp(-mean):
        count, product = count + 1, product * draw.random()
    return count


def rows_of_visits():
    """60 people with 3 to 8 visits each; `noise` does not depend on whose it is."""
    draw = random.Random(8)
    lines = ["who,age,noise,falls"]
    for who in range(60):
        level, slope = draw.gauss(0, 0.7), draw.gauss(0, 0.4)
        for _ in range(draw.randrange(3, 9)):
            age = 2 * draw.random()
            mean = math.exp(0.3 + 0.5 * age + level + slope * age)
            lines.append(f"p{who},{age:.4f},{draw.gauss(0, 1):.4f},{poisson(draw, mean)}")
    return "\n".join(lines) + "\n"


def rows_of_trials():
    """80 people with 8 to 14 trials each, of whom the level and the effect of a dose differ."""
    draw = random.Random(5)
    lines = ["who,dose,ill"]
    for who in range(80):
        level, slope = draw.gauss(0, 1), draw.gauss(0, 0.8)
        for _ in range(draw.randrange(8, 15)):
            dose = 2 * draw.random()
            lines.append(f"p{who},{dose:.4f},{int(draw.random() < 1 / (1 + math.exp(0.6 - 0.7 * dose - level - slope * dose)))}")
    return "\n".join(lines) + "\n"


def figures_of_r(folder):
    if shutil.which("Rscript"):
        done = subprocess.run(["Rscript", HERE / "mixed.R", HERE / "sleepstudy.csv", HERE / "cbpp.csv", folder / "visits.csv", folder / "trials.csv"], capture_output=True, text=True, check=False, timeout=600)
        if done.returncode == 0:
            return list(csv.DictReader(done.stdout.splitlines()))
        if "no package called" not in done.stderr:
            raise RuntimeError(done.stderr)
    return list(csv.DictReader((HERE / "mixed.csv").read_text().splitlines()))


class MixedTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("visits.csv", rows_of_visits())
        self.write("trials.csv", rows_of_trials())
        for name, text in SCHEMAS.items():
            self.write(f"{name}.yaml", text)

    def fit(self, which, *settings, parties=5, apart=False):
        train = {"sleep": HERE / "sleepstudy.csv", "cbpp": HERE / "cbpp.csv", "trials": "trials.csv"}.get(which, "visits.csv")
        dealt = ("--split", f"by:{PERSONS[which]}") if apart else ("--together", PERSONS[which])
        sets = [word for one in settings for word in ("--set", one)]
        self.succeed("simulate", "--method", "mixed", "--train", str(train), "--test", str(train), "--schema", f"{which}.yaml", "--parties", str(parties), *dealt,
                     "--seed", "1", "--out", "report.json", *sets)
        report = json.loads((self.path / "report.json").read_text())["report"]
        found = {"facts": {fact["name"]: fact.get("number") for fact in report["facts"]}, "words": {fact["name"]: fact.get("text") for fact in report["facts"]}}
        for table in report["tables"]:
            found[table["name"]] = {row["label"]: dict(zip(table["columns"], row["values"])) for row in table["rows"]}
        return found


class AgainstR(MixedTest):
    def near(self, ours, theirs, what, relative=1e-5):
        self.assertLessEqual(abs(ours - theirs), relative * (abs(theirs) + 1e-3), f"{what}: {ours} beside {theirs}")

    def check(self, found, lines):
        for one in lines:
            value, error = (float(one[key]) if one[key] != "NA" else None for key in ("value", "error"))
            what, name = f"{one['case']}: {one['name']}", one["name"]
            if one["kind"] == "fixed":
                name = name.replace("period", "period=")
                self.near(found["fixed"][name]["estimate"], value, what)
                self.near(found["fixed"][name]["error"], error, what + " error")
            elif one["kind"] == "random":
                self.near(found["random"][name]["variance"], value, what + " variance")
            elif one["kind"] == "correlation":
                self.near(found["random"][name]["correlation"], value, what + " correlation")
            else:
                self.near(found["facts"][name], value, what, 1e-7)

    def test_coefficients_variances_and_likelihoods_are_those_of_lme4_for_1_5_and_20_parties(self):
        lines = figures_of_r(self.path)
        for case, (which, *settings) in CASES.items():
            its = [one for one in lines if one["case"] == case]
            self.assertTrue(its)
            for parties in (1, 5, 15 if which in ("sleep", "cbpp") else 20):  # there are 15 herds and 18 people
                with self.subTest(case=case, parties=parties):
                    found = self.fit(which, *settings, parties=parties)
                    self.check(found, its)
                    self.assertEqual("singular" in found["facts"], case == "visits nothing")
                    self.assertLessEqual(found["facts"]["rounds"], 40)

    def test_where_each_party_is_a_group_figures_are_those_of_lme4(self):
        lines = figures_of_r(self.path)
        for case, (which, parties, *settings) in BY_PARTY.items():
            with self.subTest(case=case):
                found = self.fit(which, "group=party", *settings, parties=parties, apart=True)
                self.check(found, [one for one in lines if one["case"] == case])
                self.assertEqual((found["facts"]["groups"], found["words"]["groups"]), (parties, "parties"))


class FarApart(MixedTest):
    """Persons that differ eight times as much as their own rows do, where the deviance is concave in the standard deviation."""

    def test_a_large_variance_is_found_in_few_rounds(self):
        lines = ["who,dose,effect"]
        for who in range(26):
            for i in range(20):
                dose = (7 * i + who) % 20 / 20
                lines.append(f"p{who},{dose},{4 * math.sin(3 * who) + 2 * dose + 0.5 * math.sin(11 * i + 5 * who):.6f}")
        self.write("visits.csv", "\n".join(lines) + "\n")
        self.write("visits.yaml", "label: {name: effect, kind: number, low: -10, high: 10}\nperson: who\ncolumns:\n  - {name: dose, kind: number, low: 0, high: 1}\n")
        # lme4 1.1-31: lmer(effect ~ dose + (1 | who)), its optimiser tightened
        for likelihood, theirs in FAR_APART.items():
            found = self.fit("visits", f"likelihood={likelihood}")
            ours = [found["fixed"]["dose"]["estimate"], found["fixed"]["dose"]["error"], found["random"]["(Intercept)"]["variance"], found["random"]["residual"]["variance"],
                    found["facts"]["log-likelihood"]]
            for mine, other in zip(ours, theirs):
                self.assertLessEqual(abs(mine - other), 1e-6 * abs(other), (likelihood, ours, theirs))
            self.assertLessEqual(found["facts"]["rounds"], 16)


class Words(MixedTest):
    """R's way to write random effects."""

    def simulate(self, terms, *more, method="mixed"):
        train = str(HERE / "sleepstudy.csv")
        return self.tacit("simulate", "--method", method, "--train", train, "--test", train, "--schema", "sleep.yaml", "--parties", "5", "--together", "Subject", "--seed", "1",
                          "--terms", terms, "--out", "words.json", *more)

    def test_terms_say_which_effects_are_random(self):
        fixed = self.fit("sleep", "slope=Days")["fixed"]
        for terms in ("Reaction ~ Days + (Days | person)", "~ (1 + Days | Subject) + Days"):
            self.assertEqual(self.simulate(terms).returncode, 0)
            table = json.loads((self.path / "words.json").read_text())["report"]["tables"][0]
            for row in table["rows"]:
                self.assertAlmostEqual(row["values"][0], fixed[row["label"]]["estimate"], delta=1e-6)
        self.assertEqual(self.simulate("~ Days + (1 | site)", "--set", "group=party").returncode, 0)

    def test_what_cannot_be_is_told(self):
        for terms, more, says in (("~ Days + (1 | site)", (), "set group=party"), ("~ Days + (1 | ward)", (), "after | stands person"), ("~ Days + (log(Days) | person)", (), "before | stands 1"),
                                  ("~ Days + (1 | person) + (1 | person)", (), "random effects already"), ("~ Days + (1 | person)", ("--set", "slope=Days"), "slope=Days is not"),
                                  ("~ (Days | person)", (), "no coefficient of that name")):
            done = self.simulate(terms, *more)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(says, " ".join(done.stderr.split()))
        self.assertIn("choose method mixed", " ".join(self.simulate("~ Days + (1 | person)", method="estimate").stderr.split()))


if __name__ == "__main__":
    unittest.main()
