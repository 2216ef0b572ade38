#!/usr/bin/env python3
"""Studies that people carry: sites without a connection, by files alone.

    TACIT=build/src/cli/tacit tests/service/test_envelopes.py
"""
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import PATIENCE, SCHEMA, TACIT, DeployedTest, environment

EXACT = ("--allow-entrusted", "--allow-exact")
SITES = 5
LINEAR = """label: {name: pressure, kind: number, low: 60, high: 140}
columns:
  - {name: age, kind: number, low: 0, high: 1}
  - {name: dose, kind: number, low: 0, high: 1}
"""


class Carried(DeployedTest):
    def linear(self):
        (self.path / "schema.yaml").write_text(LINEAR)
        for party in range(SITES):
            draw = random.Random(party)
            lines = ["age,dose,pressure"]
            for _ in range(60):
                age, dose = draw.random(), draw.random()
                lines.append(f"{age:.6f},{dose:.6f},{90 + 20 * age - 7 * dose + draw.gauss(0, 5):.4f}")
            (self.path / f"rows{party}.csv").write_text("\n".join(lines) + "\n")

    def mild(self):
        """Classes that age and dose tell apart a little."""
        for site in range(SITES):
            draw = random.Random(site)
            drawn = [(draw.random(), draw.random()) for _ in range(200)]
            (self.path / f"rows{site}.csv").write_text("age,dose,sick\n" + "".join(
                f"{age:.6f},{dose:.6f},{'yes' if draw.random() < 1 / (1 + 2.718 ** (1.5 * dose - 2 * age)) else 'no'}\n"
                for age, dose in drawn))

    def define(self, expected=SITES, **changed):
        return self.study(**{"method": "estimate", "epsilon": None, "set": None, "lambda": 0, "transport": "files",
                             "parties": "{expected: %d}" % expected, **changed})

    # ---- the courier ----

    def join_by_file(self, site, *more, study="trial"):
        invitation, joining = self.path / f"invitation{site}.tacit", self.path / f"joining{site}.tacit"
        self.succeed("envelope", "invite", self.folder, study, "--for", f"Site {site}", "--out", invitation)
        self.limit(site)
        self.succeed("envelope", "join", invitation, "--data", self.rows(site), "--schema", self.path / "schema.yaml",
                     "--yes", "--out", joining, *more, home=self.home(site))
        return self.succeed("envelope", "take", self.folder, joining)

    def envelopes(self, study="trial"):
        """{site: newest envelopes}, by the names that people know."""
        people = {person["party"]: int(person["called"].split()[1]) for person in self.status(study)["parties"]
                  if person["party"] and (person["called"] or "").startswith("Site")}
        found = {}
        for path in (self.folder / "envelopes" / study).glob("*.tacit"):
            party, label = path.name[:-len(".tacit")].split(".", 1)
            found.setdefault(people[party], {})[label] = path
        return found

    def wait_for(self, label, sites, study="trial"):
        """The envelopes with this label, for these sites, once the coordinator has written them."""
        deadline = time.monotonic() + PATIENCE
        while True:
            found = {site: path for site, all in self.envelopes(study).items() for name, path in all.items()
                     if re.fullmatch(label, name)} if (self.folder / "envelopes" / study).exists() else {}
            if all(site in found for site in sites):
                return found
            self.assertLess(time.monotonic(), deadline, f"no envelope {label}: {self.log()}")
            time.sleep(0.02)

    def answer(self, site, envelope, out=None, within=()):
        out = out or self.path / f"answer{site}-{envelope.name}"
        done = subprocess.run([*within, TACIT, "envelope", "answer", envelope, "--out", out], capture_output=True, text=True,
                              env=environment(self.home(site)), cwd=self.path, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return out

    def hand_over(self, label, sites=range(SITES), study="trial"):
        for site, envelope in sorted(self.wait_for(label, sites, study).items()):
            if site in sites:
                self.succeed("envelope", "take", self.folder, self.answer(site, envelope))

    def rounds(self, study="trial", sites=range(SITES)):
        """Carry until the study has ended; how many hand-overs it took."""
        for turn in range(1, 30):
            deadline = time.monotonic() + PATIENCE
            while not any(re.fullmatch(rf"\w+\.round-{turn}.*", name) for all in self.envelopes(study).values() for name in all):
                if self.status(study)["state"] in ("done", "failed"):
                    return turn - 1
                self.assertLess(time.monotonic(), deadline, self.log())
                time.sleep(0.02)
            self.hand_over(rf"\w+\.round-{turn}(\.mask)?", sites, study)
        self.fail("the study does not end")

    def next_round(self, turn, study="trial"):
        deadline = time.monotonic() + PATIENCE
        while self.status(study)["state"] not in ("done", "failed"):
            if any(re.match(rf"\w+\.round-{turn}\.", name) for all in self.envelopes(study).values() for name in all):
                return True
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(0.02)
        return False

    def amended(self):
        """One site never answers: the others' envelopes of the study without it."""
        self.linear()
        self.define()
        self.coordinator()
        self.all_join()
        there = range(SITES - 1)
        self.hand_over(r"\w+\.round-1\.mask", there)
        self.succeed("study", "pause", self.folder, "trial")
        self.definition(**{"method": "estimate", "epsilon": None, "set": None, "lambda": 0, "transport": "files",
                           "parties": "{expected: %d}" % (SITES - 1)})
        self.succeed("study", "amend", self.folder, self.path / "trial.study.yaml")
        self.succeed("study", "resume", self.folder, "trial")
        return self.wait_for(r"amended\.\w+", there)

    def coefficients(self, study="trial"):
        return [one["estimate"] for one in
                json.loads(self.succeed("summary", self.folder / f"{study}.model.json", "--json").stdout)["coefficients"]]

    def online(self, serve=False, **changed):
        """The same study over a network."""
        self.study("online", **{"method": "estimate", "epsilon": None, "set": None, "lambda": 0,
                                "parties": "{expected: %d}" % SITES, **changed})
        if serve:
            self.coordinator()
        parties = {}
        for site in range(SITES):
            home = self.path / f"online{site}"
            invitation = self.invite(study="online")
            self.limit(site, home=home)
            parties[site] = self.start(*self.join_words(site, invitation, *EXACT), home=home)
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())

    def all_join(self, sites=range(SITES), words=EXACT, study="trial"):
        for site in sites:
            self.join_by_file(site, *words, study=study)


class Estimates(Carried):
    def test_five_sites_by_files_get_the_linear_figures_of_the_network_to_the_last_bit(self):
        self.linear()
        self.assertIn("carried  2 hand-overs", self.define(set="{rounds: few}").stdout)
        self.coordinator()
        self.all_join()
        turns = self.rounds()
        self.assertEqual(self.status()["state"], "done", self.log())
        self.assertLessEqual(turns, 2)
        self.online(set="{rounds: few}")
        self.assertEqual(self.coefficients(), self.coefficients("online"))
        for site, envelope in self.wait_for(r"end\.\w+", range(SITES)).items():
            done = self.succeed("envelope", "close", envelope, home=self.home(site))
            self.assertIn("is done", done.stdout)
            self.assertEqual(self.model(site).read_bytes(), (self.folder / "trial.model.json").read_bytes())
            self.assertEqual(len(self.charges(site)), turns)
            self.succeed("ledger", "verify", home=self.home(site))

    def test_logistic_takes_at_most_six_hand_overs(self):
        self.mild()
        self.define(set="{rounds: few}")
        self.coordinator()
        self.all_join()
        turns = self.rounds()
        self.assertEqual(self.status()["state"], "done", self.log())
        self.assertLessEqual(turns, 6)
        self.online()
        for mine, theirs in zip(self.coefficients(), self.coefficients("online")):
            self.assertAlmostEqual(mine, theirs, delta=1e-8 * max(1, abs(theirs)))

    def test_logistic_takes_three_hand_overs_from_a_public_model_that_is_near(self):
        self.mild()
        self.online(serve=True)
        # An earlier model, as papers print it: with two decimals.
        model = json.loads((self.folder / "online.model.json").read_text())
        model["weights"] = [round(weight, 2) for weight in model["weights"]]
        (self.path / "near.model.json").write_text(json.dumps(model))
        self.define(set="{rounds: few, start: model}", model="near.model.json")
        self.all_join()
        turns = self.rounds()
        self.assertEqual(self.status()["state"], "done", self.log())
        self.assertLessEqual(turns, 3)
        for mine, theirs in zip(self.coefficients(), self.coefficients("online")):
            self.assertAlmostEqual(mine, theirs, delta=1e-8 * max(1, abs(theirs)))

    def test_a_public_model_that_is_of_no_use_costs_two_rounds_and_changes_nothing(self):
        (self.path / "schema.yaml").write_text(SCHEMA)
        self.mild()
        words = ("simulate", "--method", "estimate", "--train", self.rows(0), "--test", self.rows(0), "--schema", "schema.yaml", "--parties", "3",
                 "--set", "rounds=few")
        plain = json.loads(self.succeed(*words, "--out", self.path / "plain.model.json", "--json").stdout)["summary"]
        model = json.loads((self.path / "plain.model.json").read_text())
        for factor, more in ((-20, 2), (1, -3)):  # far away, and the estimate itself
            (self.path / "start.model.json").write_text(json.dumps({**model, "weights": [factor * weight for weight in model["weights"]]}))
            got = json.loads(self.succeed(*words, "--set", "start=model", "--model", self.path / "start.model.json", "--json").stdout)["summary"]
            self.assertLessEqual(got["rounds"], plain["rounds"] + more)
            for mine, theirs in zip(got["coefficients"], plain["coefficients"]):
                self.assertAlmostEqual(mine["estimate"], theirs["estimate"], delta=1e-8 * max(1, abs(theirs["estimate"])))
                self.assertAlmostEqual(mine["error"], theirs["error"], delta=1e-4 * theirs["error"])
            for key in ("deviance", "null_deviance"):
                self.assertAlmostEqual(got[key], plain[key], delta=1e-7 * abs(plain[key]))
        self.refuse(2, *words[:-1], "rounds=many", "--set", "start=model", "--model", self.path / "start.model.json",
                    says=["start=model is for logistic fits with rounds=few"])

    def test_few_rounds_give_the_figures_of_many(self):
        """`many` is compared with R in cli/estimate and others."""
        for kind in ("linear", "logistic"):
            if kind == "linear":
                self.linear()
            else:
                (self.path / "schema.yaml").write_text(SCHEMA)
                self.mild()
            found = {}
            for rounds in ("many", "few"):
                done = self.succeed("simulate", "--method", "estimate", "--train", self.rows(0), "--test", self.rows(0), "--schema",
                                    "schema.yaml", "--parties", "3", "--set", f"rounds={rounds}", "--json")
                found[rounds] = json.loads(done.stdout)["summary"]
            few, many = found["few"], found["many"]
            self.assertLessEqual(few["rounds"], 2 if kind == "linear" else 6)
            self.assertLess(few["rounds"], many["rounds"])
            for mine, theirs in zip(few["coefficients"], many["coefficients"]):
                self.assertAlmostEqual(mine["estimate"], theirs["estimate"], delta=1e-8 * max(1, abs(theirs["estimate"])))
                self.assertAlmostEqual(mine["error"], theirs["error"], delta=1e-6 * theirs["error"])
            for key in ("deviance", "null_deviance", "aic"):
                self.assertAlmostEqual(few[key], many[key], delta=1e-8 * abs(many[key]))
        self.refuse(2, "simulate", "--method", "estimate", "--train", self.rows(0), "--test", self.rows(0), "--schema", "schema.yaml",
                    "--parties", "3", "--set", "rounds=few", "--set", "bias=firth", says=["rounds=few fits family linear or logistic"])

    @unittest.skipUnless(shutil.which("strace"), "strace is not installed")
    def test_no_socket_is_opened_at_a_site(self):
        self.linear()
        self.define(3)
        self.coordinator()
        trace = self.path / "trace"
        strace = ("strace", "-f", "-o", trace, "-e", "trace=socket,connect,bind,listen,sendto,sendmsg")
        if subprocess.run([*strace, "true"], capture_output=True).returncode != 0:
            self.skipTest("strace may not trace here")
        def watched(*words):
            done = subprocess.run([*strace, TACIT, *words], capture_output=True, text=True, cwd=self.path,
                                  env={**environment(self.home(0)), "TACIT_HARDENING": "off",
                                       "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"},  # which cannot be looked for under strace
                                  timeout=PATIENCE)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(trace.read_text(), r"(socket|connect|bind|listen|sendto|sendmsg)\(")

        self.all_join((1, 2))
        self.succeed("envelope", "invite", self.folder, "trial", "--for", "Site 0", "--out", self.path / "invitation")
        self.limit(0)
        watched("envelope", "open", self.path / "invitation")
        watched("envelope", "join", self.path / "invitation", "--data", self.rows(0), "--schema", self.path / "schema.yaml", "--yes", *EXACT,
                "--out", self.path / "joining")
        self.succeed("envelope", "take", self.folder, self.path / "joining")
        envelope = self.wait_for(r"\w+\.round-1\.mask", range(3))[0]
        watched("envelope", "open", envelope)
        watched("envelope", "answer", envelope, "--out", self.path / "answer")
        self.succeed("envelope", "take", self.folder, self.path / "answer")
        self.hand_over(r"\w+\.round-1\.mask", (1, 2))
        for turn in range(2, 20):
            if not self.next_round(turn):
                break
            self.hand_over(rf"\w+\.round-{turn}\.mask", range(3))
        watched("envelope", "close", self.wait_for(r"end\.\w+", range(3))[0])


class Few(Carried):
    def carried(self, name, method, settings, words=(), sites=SITES, **changed):
        """How many hand-overs the study took, which is what explain says."""
        self.study(name, **{"method": method, "set": "{%s}" % ", ".join(settings) if settings else None, "transport": "files", "lambda": None,
                            "parties": "{expected: %d}" % sites, **changed})
        if not hasattr(self, "url"):
            self.coordinator()
        self.all_join(range(sites), words, name)
        turns = self.rounds(name, range(sites))
        self.assertEqual(self.status(name)["state"], "done", self.log())
        prices = [f"--{key}={changed[key]}" for key in ("epsilon", "delta") if changed.get(key)]
        given = [word for one in settings for word in ("--set", one.replace(": ", "="))]
        told = self.succeed("explain", method, "--features", 2, "--classes", 2, "--parties", sites, *prices, *given, "--json")
        self.assertEqual(json.loads(told.stdout)["exchanges"], turns, name)
        return turns

    def test_tables_and_private_regressions_take_one_or_two_hand_overs(self):
        self.assertEqual(self.carried("table", "describe", [], sites=3, epsilon=1, delta="1e-5"), 1)
        self.assertEqual(self.carried("counts", "histogram", ["cells: 4"], EXACT[:1], sites=3, epsilon=1), 1)
        self.assertEqual(self.carried("mean", "avg", ["noise: party"], sites=3, epsilon=2, **{"lambda": 0.05}), 1)
        self.assertEqual(self.carried("classes", "dpnewton", ["rounds: 1"], sites=3, epsilon=1, delta="1e-5"), 2)

    def test_a_linear_private_regression_takes_two_and_a_meta_analysis_three_or_one(self):
        self.linear()
        self.assertEqual(self.carried("numbers", "dpnewton", ["rounds: 1"], sites=3, epsilon=1, delta="1e-5"), 2)
        self.assertEqual(self.carried("pooled", "meta", ["tau: DL"], EXACT, epsilon=None), 3)
        self.assertEqual(self.carried("shown", "meta", ["forest: yes"], EXACT, epsilon=None), 1)


class Refusals(Carried):
    def test_every_wrong_envelope_is_refused_and_the_sentence_says_which(self):
        self.linear()
        self.define(3)
        self.coordinator()
        self.all_join(range(3))
        first = self.wait_for(r"\w+\.round-1\.mask", range(3))
        out = self.path / "nothing"
        answer = ["envelope", "answer"]
        self.refuse(3, *answer, first[1], "--out", out, home=self.home(0), says=["of another site"])
        lines = first[0].read_text().splitlines()
        damaged, cut = self.path / "damaged", self.path / "cut"
        damaged.write_text("\n".join(lines[:2] + [lines[2][::-1]] + lines[3:]))
        self.refuse(1, *answer, damaged, "--out", out, home=self.home(0), says=["damaged"])
        cut.write_text("\n".join(lines[:-3]))
        self.refuse(1, *answer, cut, "--out", out, home=self.home(0), says=["cut"])
        self.refuse(3, *answer, self.path / "joining0.tacit", "--out", out, home=self.home(0), says=["written by a site"])
        self.assertFalse(out.exists())
        answers = {site: self.answer(site, envelope) for site, envelope in first.items()}
        again = self.answer(0, first[0], self.path / "again")
        self.assertEqual(again.read_bytes(), answers[0].read_bytes())
        self.assertEqual(len(self.charges(0)), 1)
        self.refuse(3, "envelope", "take", self.folder, first[0], says=["written by a coordinator"])
        self.refuse(3, "envelope", "take", self.folder, self.path / "joining0.tacit", says=["has joined study 'trial' before"])
        for site in range(3):
            self.succeed("envelope", "take", self.folder, answers[site])
        second = self.wait_for(r"\w+\.round-2\.mask", range(3))
        self.refuse(3, "envelope", "take", self.folder, answers[0], says=["was taken before"])
        self.answer(0, second[0])
        # A question of a round that is over gets the answer that it had, or none.
        done = self.tacit(*answer, first[0], "--out", self.path / "late", home=self.home(0))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("round 1 is over for this party", done.stderr)
        self.assertEqual(len(self.charges(0)), 2)


    def test_no_envelope_counts_for_another_site_round_or_side_or_twice(self):
        """Every envelope and answer of a study, shown to everybody at the end of each round."""
        self.linear()
        self.define(3, set="{rounds: few}")
        self.coordinator()
        self.all_join(range(3))
        seen, out, shown = [], self.path / "nothing", 0
        for turn in (1, 2):
            questions = self.wait_for(rf"\w+\.round-{turn}\.mask", range(3))
            answers = {site: self.answer(site, questions[site]) for site in range(3)}
            self.refuse(2, "envelope", "close", questions[0], home=self.home(0), says=["has not ended"])
            self.refuse(2, "envelope", "answer", questions[0], home=self.home(0), says=["--out"])
            for site, question in questions.items():
                for other in range(3):
                    if other != site:
                        self.refuse(3, "envelope", "answer", question, "--out", out, home=self.home(other))
                self.refuse(3, "envelope", "answer", answers[site], "--out", out, home=self.home(site))
                self.refuse(3, "envelope", "take", self.folder, question)
                shown += 4
            for answer in seen:
                self.refuse(3, "envelope", "take", self.folder, answer)
            for site in range(3):
                self.succeed("envelope", "take", self.folder, answers[site])
            seen += list(answers.values()) + [self.path / f"joining{site}.tacit" for site in range(3)]
            for answer in seen:
                self.refuse(3, "envelope", "take", self.folder, answer)
                shown += 1
        self.assertFalse(out.exists())
        self.assertGreater(shown, 30)
        self.wait_for(r"end\.\w+", range(3))
        for site in range(3):
            self.assertEqual(len(self.charges(site)), 2)

    def test_one_exchange_and_a_minimum_below_the_expected_number_are_refused(self):
        shares = {"method": "dpgd", "set": "{noise: shares, rounds: 7}", "epsilon": 2, "delta": "1e-5", "lambda": 0.05}
        for changed in ({}, {**shares, "exchange": "one"}, {**shares, "dropouts": 0}):
            path = self.definition(**{"method": "estimate", "epsilon": None, "set": None, "lambda": 0, "transport": "files",
                                      "parties": "{expected: 6, minimum: 5}", **changed})
            self.refuse(2, "study", "new", self.folder, path, "--force", says=["all 6 parties or not at all", "exchange: two"])
        path = self.definition(**{**shares, "transport": "files", "parties": "{expected: 4, minimum: 3}"})
        self.refuse(2, "study", "new", self.folder, path, "--force", says=["'minimum: 3' takes exchange: two", "4 parties are too few"])
        done = self.define(**{**shares, "parties": "{expected: 6, minimum: 5}"})
        self.assertIn("carried  14 hand-overs", done.stdout)
        self.assertIn("exchange: two and dropouts: 0.2 (1 of 6 parties) become part of the definition", done.stderr)

    def test_a_plan_counts_the_hand_overs_of_exact_studies(self):
        (self.path / "schema.yaml").write_text(SCHEMA)
        for exchange, each in (("one", 1), ("two", 2)):
            path = self.definition(**{"method": "estimate", "epsilon": None, "set": "{rounds: few}", "lambda": 0, "transport": "files",
                                      "exchange": exchange, "expected_rows": 1000, "parties": "{expected: 5}"})
            told = json.loads(self.succeed("plan", path, "--json").stdout)
            self.assertEqual([one["method"] for one in told["methods"]], ["estimate"])
            self.assertTrue(4 <= told["methods"][0]["rounds"] <= 9, told["methods"][0]["rounds"])
            self.assertEqual(told["methods"][0]["handovers"], each * told["methods"][0]["rounds"])


class Absent(Carried):
    def test_two_exchanges_survive_a_site_that_never_answers(self):
        self.linear()
        self.define(exchange="two", dropouts=0.2, patience=0.2, parties="{expected: %d, minimum: %d}" % (SITES, SITES - 1))
        self.coordinator()
        self.all_join()
        there = range(SITES - 1)
        for turn in range(1, 20):
            if not self.next_round(turn):
                break
            self.hand_over(rf"\w+\.round-{turn}\.mask", there)
            self.hand_over(rf"\w+\.round-{turn}\.unmask", there)
        self.assertEqual(self.status()["state"], "done", self.log())
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual((summary["parties"], summary["rows"]), (SITES - 1, 60 * (SITES - 1)))

    def test_shares_of_noise_survive_a_site_that_never_answers(self):
        """Without a word about exchanges or dropouts: the minimum is enough."""
        self.define(method="dpgd", set="{noise: shares, rounds: 1}", epsilon=2, delta="1e-5", patience=0.2,
                    parties="{expected: %d, minimum: %d}" % (SITES, SITES - 1), **{"lambda": 0.05})
        self.coordinator()
        self.all_join(words=())
        there = range(SITES - 1)
        for turn in range(1, 20):
            if not self.next_round(turn):
                break
            self.hand_over(rf"\w+\.round-{turn}\.mask", there)
            self.hand_over(rf"\w+\.round-{turn}\.unmask", there)
        self.assertEqual(self.status()["state"], "done", self.log())
        self.assertEqual([len(self.charges(site)) for site in range(SITES)], [1] * (SITES - 1) + [0])

    def test_an_exact_sum_of_one_exchange_goes_on_without_a_site_by_an_amendment(self):
        there, amended = range(SITES - 1), self.amended()
        for site in there:
            self.refuse(3, "envelope", "answer", amended[site], "--out", self.path / "none", home=self.home(site), says=["was amended"])
            self.succeed("consent", "trial", "--yes", "--allow-difference", home=self.home(site))
            self.succeed("envelope", "take", self.folder, self.answer(site, amended[site]))
        before = {path.name for path in self.path.glob("answer*")}
        for turn in range(1, 20):
            deadline = time.monotonic() + PATIENCE
            fresh = {}
            while self.status()["state"] not in ("done", "failed") and len(fresh) < len(there):
                fresh = {site: path for site in there for name, path in self.envelopes()[site].items()
                         if name.endswith(f"round-{turn}.mask") and f"answer{site}-{path.name}" not in before}
                self.assertLess(time.monotonic(), deadline, self.log())
                time.sleep(0.02)
            if not fresh:
                break
            for site, envelope in fresh.items():
                self.succeed("envelope", "take", self.folder, self.answer(site, envelope))
        self.assertEqual(self.status()["state"], "done", self.log())
        summary = json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)
        self.assertEqual(summary["parties"], SITES - 1)


class Killed(Carried):
    def dying(self, words, when, step, home=None):
        """Run until it is killed before or after a durable step; whether it was."""
        done = subprocess.run([TACIT, *words], capture_output=True, text=True, cwd=self.path, timeout=PATIENCE,
                              env={**environment(home), "LD_PRELOAD": os.environ["TACIT_DIES"], "TACIT_DIES": f"{when} {step}"})
        self.assertIn(done.returncode, (0, -signal.SIGKILL), done.stderr)
        return done.returncode != 0

    def at_each_step(self, place, words, after, home=None, least=3):
        """Kill a command at each of its durable steps, with its folder as it was before; then `after`."""
        untouched, died = self.path / "before", 0
        shutil.rmtree(untouched, ignore_errors=True)
        shutil.copytree(place, untouched)
        for step in range(1, 300):
            shutil.rmtree(place)
            shutil.copytree(untouched, place)
            killed = self.dying(words, "before", step, home)
            after(killed)
            died += killed
            if not killed:
                break
        self.assertGreater(died, least)
        return untouched

    @unittest.skipUnless(os.environ.get("TACIT_DIES"), "the library that kills is not built")
    def test_killed_while_it_joins_or_is_taken_a_site_joins_once_with_one_key(self):
        self.linear()
        self.define(3, set="{rounds: few}")
        self.succeed("envelope", "invite", self.folder, "trial", "--for", "Site 0", "--out", self.path / "invitation")
        self.limit(0)
        joining = self.path / "joining"
        words = ("envelope", "join", self.path / "invitation", "--data", self.rows(0), "--schema", self.path / "schema.yaml", "--yes", *EXACT,
                 "--out", joining)

        def join_again(killed):
            first = joining.read_bytes() if joining.exists() else None
            self.succeed(*words, home=self.home(0))
            if first is not None:
                self.assertEqual(joining.read_bytes(), first)
            joining.unlink()
            self.assertEqual(self.charges(0), [])

        self.at_each_step(self.home(0), words, join_again, self.home(0))
        self.succeed(*words, home=self.home(0))

        def take_again(killed):
            done = self.tacit("envelope", "take", self.folder, joining)
            if done.returncode != 0:
                self.assertIn("has joined study 'trial' before", done.stderr)
            self.assertEqual(killed and done.returncode == 3, False, done.stderr)

        self.at_each_step(self.folder, ("envelope", "take", self.folder, joining), take_again, least=1)
        self.coordinator()
        self.all_join((1, 2))
        self.rounds(sites=range(3))
        self.assertEqual(self.status()["state"], "done", self.log())
        self.assertEqual(len(self.charges(0)), 2)

    @unittest.skipUnless(os.environ.get("TACIT_DIES"), "the library that kills is not built")
    def test_killed_while_it_unmasks_a_site_opens_one_set_of_survivors_once(self):
        self.linear()
        self.define(3, exchange="two", set="{rounds: few}")
        self.coordinator()
        self.all_join(range(3))
        self.hand_over(r"\w+\.round-1\.mask", range(3))
        question, out = self.wait_for(r"\w+\.round-1\.unmask", range(3))[0], self.path / "unmasked"
        words, charged = ("envelope", "answer", question, "--out", out), len(self.charges(0))

        def answer_again(killed):
            first = out.read_bytes() if out.exists() else None
            self.assertEqual(self.answer(0, question, self.path / "again").read_bytes(), self.answer(0, question, self.path / "more").read_bytes())
            if first is not None:
                self.assertEqual((self.path / "again").read_bytes(), first)
                out.unlink()
            self.assertEqual(len(self.charges(0)), charged)

        self.at_each_step(self.home(0), words, answer_again, self.home(0), least=1)
        self.hand_over(r"\w+\.round-1\.unmask", range(3))
        self.wait_for(r"\w+\.round-2\.mask", range(3))

    @unittest.skipUnless(os.environ.get("TACIT_DIES"), "the library that kills is not built")
    def test_killed_while_it_closes_a_site_keeps_the_whole_model_and_is_charged_nothing(self):
        self.linear()
        self.define(3, set="{rounds: few}")
        self.coordinator()
        self.all_join(range(3))
        self.rounds(sites=range(3))
        end = self.wait_for(r"end\.\w+", range(3))[0]
        whole, charges = (self.folder / "trial.model.json").read_bytes(), self.charges(0)
        self.assertEqual(len(charges), 2)
        died_without_model = []

        def close_again(killed):
            if killed and not self.model(0).exists():
                died_without_model.append(True)
            elif self.model(0).exists():
                self.assertEqual(self.model(0).read_bytes(), whole)
            self.assertIn("is done", self.succeed("envelope", "close", end, home=self.home(0)).stdout)
            self.assertEqual(self.model(0).read_bytes(), whole)
            self.assertEqual(self.charges(0), charges)
            self.succeed("ledger", "verify", home=self.home(0))

        self.at_each_step(self.home(0), ("envelope", "close", end), close_again, self.home(0), least=1)
        self.assertTrue(died_without_model)

    @unittest.skipUnless(os.environ.get("TACIT_DIES"), "the library that kills is not built")
    def test_killed_while_it_consents_to_an_amendment_a_site_charges_once_and_gives_one_answer(self):
        amended, there = self.amended(), range(SITES - 1)
        words, old = ("consent", "trial", "--yes", "--allow-difference"), set(self.envelopes()[0])
        self.refuse(3, "envelope", "answer", amended[0], "--out", self.path / "none", home=self.home(0), says=["was amended"])
        charged = len(self.charges(0))
        shutil.copytree(self.home(0), self.path / "asked")
        for site in there:  # so that the next question is there
            self.tacit("envelope", "answer", amended[site], "--out", self.path / "none", home=self.home(site))
            self.succeed(*words, home=self.home(site))
            self.succeed("envelope", "take", self.folder, self.answer(site, amended[site]))
        deadline, question = time.monotonic() + PATIENCE, None
        while question is None:
            question = next((path for name, path in self.envelopes()[0].items() if name.endswith("round-1.mask") and name not in old), None)
            self.assertLess(time.monotonic(), deadline, self.log())
            time.sleep(0.02)
        shutil.rmtree(self.home(0))
        shutil.copytree(self.path / "asked", self.home(0))
        refused, consents, answers = [], set(), set()

        def consent_again(killed):
            done = self.tacit("envelope", "answer", amended[0], "--out", self.path / "said", home=self.home(0))
            self.assertIn(done.returncode, (0, 3) if killed else (0,), done.stderr)
            if done.returncode == 3:  # it has not consented, and says so
                self.assertIn("was amended", done.stderr)
                self.refuse(3, "envelope", "answer", question, "--out", self.path / "none", home=self.home(0))
                self.assertEqual(len(self.charges(0)), charged)
                refused.append(True)
                self.succeed(*words, home=self.home(0))
            self.assertEqual(len(self.charges(0)), charged)
            consents.update(self.answer(0, amended[0], self.path / name).read_bytes() for name in ("said", "again"))
            answers.update(self.answer(0, question, self.path / name).read_bytes() for name in ("first", "second"))
            self.assertEqual(len(self.charges(0)), charged + 1)
            self.succeed("ledger", "verify", home=self.home(0))

        self.at_each_step(self.home(0), words, consent_again, self.home(0), least=1)
        self.assertEqual((len(consents), len(answers)), (1, 1))
        self.assertTrue(refused)
        self.succeed("envelope", "take", self.folder, self.path / "first")

    @unittest.skipUnless(os.environ.get("TACIT_DIES"), "the library that kills is not built")
    def test_a_coordinator_that_is_killed_at_any_durable_step_ends_with_the_same_model(self):
        self.linear()
        self.define(3, set="{rounds: few}")
        coordinator = self.coordinator()
        self.all_join(range(3))
        self.hand_over(r"\w+\.round-1\.mask", range(3))
        second = self.wait_for(r"\w+\.round-2\.mask", range(3))
        coordinator.kill()
        for site in range(3):
            self.succeed("envelope", "take", self.folder, self.answer(site, second[site]))
        untouched, models, died = self.path / "before", set(), 0
        shutil.copytree(self.folder, untouched)
        for step in (*range(1, 12), *range(12, 200, 9)):
            shutil.rmtree(self.folder)
            shutil.copytree(untouched, self.folder)
            killed = self.dying(("coordinator", self.folder, "--until-done"), "before", step)
            if killed:
                self.succeed("coordinator", self.folder, "--until-done")
            died += killed
            self.assertEqual(self.status()["state"], "done")
            models.add((self.folder / "trial.model.json").read_bytes())
            if not killed:
                break
        self.assertGreater(died, 5)
        self.assertEqual(len(models), 1)

    @unittest.skipUnless(os.environ.get("TACIT_DIES"), "the library that kills is not built")
    def test_killed_at_any_durable_step_a_site_charges_once_and_gives_one_answer(self):
        self.define(3, method="avg", set="{noise: party}", epsilon=2, **{"lambda": 0.05})
        self.coordinator()
        self.all_join(range(3), words=())
        envelope = self.wait_for(r"\w+\.round-1\.mask", range(3))[0]
        untouched = self.path / "untouched"
        shutil.copytree(self.home(0), untouched)
        died = 0
        for step in range(1, 200):
            for when in ("before", "after")[:1 if step > 1 else 2]:  # after one is before the next
                shutil.rmtree(self.home(0))
                shutil.copytree(untouched, self.home(0))
                out = self.path / f"killed-{when}-{step}"
                done = subprocess.run([TACIT, "envelope", "answer", envelope, "--out", out], capture_output=True, text=True,
                                      env={**environment(self.home(0)), "LD_PRELOAD": os.environ["TACIT_DIES"],
                                           "TACIT_DIES": f"{when} {step}"}, cwd=self.path, timeout=PATIENCE)
                self.assertIn(done.returncode, (0, -signal.SIGKILL), done.stderr)
                died += done.returncode != 0
                first = self.answer(0, envelope, self.path / "first").read_bytes()
                self.assertEqual(self.answer(0, envelope, self.path / "second").read_bytes(), first)
                if out.exists():
                    self.assertEqual(out.read_bytes(), first)
                self.assertEqual(len(self.charges(0)), 1)
            if done.returncode == 0:
                break
        self.assertGreater(died, 5)
        self.succeed("ledger", "verify", home=self.home(0))
        self.succeed("envelope", "take", self.folder, self.path / "first")
        self.hand_over(r"\w+\.round-1\.mask", range(1, 3))
        self.wait_for(r"end\.\w+", range(3))
        self.assertEqual(self.status()["state"], "done", self.log())

    def test_a_coordinator_that_is_killed_goes_on_with_what_it_took(self):
        self.linear()
        self.define(3)
        coordinator = self.coordinator()
        self.all_join(range(3))
        first = self.wait_for(r"\w+\.round-1\.mask", range(3))
        for site in range(2):
            self.succeed("envelope", "take", self.folder, self.answer(site, first[site]))
        coordinator.kill()
        self.succeed("envelope", "take", self.folder, self.answer(2, first[2]))
        self.coordinator()
        self.wait_for(r"\w+\.round-2\.mask", range(3))


class Mixed(Carried):
    def test_sites_with_a_connection_and_without_are_in_one_study(self):
        self.linear()
        self.define(3)
        self.coordinator()
        self.join_by_file(0, *EXACT)
        parties = {party: self.join(party, *EXACT) for party in (1, 2)}
        for turn in range(1, 20):
            deadline = time.monotonic() + PATIENCE
            found = []
            while self.status()["state"] not in ("done", "failed") and not found:
                found = [path for name, path in self.envelopes().get(0, {}).items() if name.endswith(f"round-{turn}.mask")]
                self.assertLess(time.monotonic(), deadline, self.log())
                time.sleep(0.02)
            if not found:
                break
            self.succeed("envelope", "take", self.folder, self.answer(0, found[0]))
        for process in parties.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(self.status()["state"], "done", self.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
