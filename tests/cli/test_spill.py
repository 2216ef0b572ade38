#!/usr/bin/env python3
"""Rows that exceed the memory they may have lie in a file without a name and are fitted to the same digits. And how many
questions `tacit explain` says a party is asked is how many it is asked.

    TACIT=build/src/cli/tacit tests/cli/test_spill.py
"""
import json
import os
import resource
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

class Spill(ProgramTest):
    def test_rows_on_a_disk_are_fitted_to_the_same_digits(self):
        (self.path / "rows.csv").write_text("a,b,y\n" + "".join(f"{i % 10},{i % 7},{(i * i + i // 7) % 9}\n" for i in range(5000)))
        (self.path / "schema.yaml").write_text("label: {name: y, kind: number, low: 0, high: 9}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 9}\n"
                                               "  - {name: b, kind: number, low: 0, high: 6}\nintercept: yes\n")
        (self.path / "scratch").mkdir()
        told = []
        for variables in ({}, {"TACIT_SPILL": str(self.path / "scratch"), "TACIT_MEMORY": "10k"}):
            done = subprocess.run([os.path.abspath(os.environ["TACIT"]), "simulate", "--method", "estimate", "--train", "rows.csv", "--schema", "schema.yaml",
                                   "--parties", "2", "--lambda", "1e-4", "--threads", "1", "--seed", "1", "--json"], cwd=self.path, capture_output=True, text=True,
                                  env=dict(os.environ, **variables))
            self.assertEqual(done.returncode, 0, done.stderr)
            run = json.loads(done.stdout)["runs"][0]
            told.append({key: value for key, value in run.items() if "seconds" not in key})
        self.assertEqual(told[0], told[1])
        self.assertEqual(list((self.path / "scratch").iterdir()), [])


    def test_so_are_times_until_an_event(self):
        (self.path / "rows.csv").write_text("a,b,s,days,died\n" + "".join(f"{i % 10},{i % 7},{'uv'[i % 2]},{1 + (i * i + i // 7) % 90},{i % 3 % 2}\n" for i in range(5000)))
        (self.path / "schema.yaml").write_text("label: {name: [days, died], kind: time, low: 0, high: 90}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 9}\n"
                                               "  - {name: b, kind: number, low: 0, high: 6}\n  - {name: s, kind: category, levels: [u, v]}\n")
        (self.path / "scratch").mkdir()
        told = []
        for variables in ({}, {"TACIT_SPILL": str(self.path / "scratch"), "TACIT_MEMORY": "10k"}):
            done = subprocess.run([os.path.abspath(os.environ["TACIT"]), "simulate", "--method", "cox", "--train", "rows.csv", "--test", "rows.csv", "--schema", "schema.yaml",
                                   "--parties", "2", "--set", "strata=s", "--set", "errors=robust", "--set", "proportional=km", "--threads", "1", "--seed", "1", "--json"],
                                  cwd=self.path, capture_output=True, text=True, env=dict(os.environ, **variables))
            self.assertEqual(done.returncode, 0, done.stderr)
            told.append(json.loads(done.stdout)["summary"])
        self.assertEqual(told[0], told[1])
        self.assertEqual(len(told[0]["coefficients"]), 2)


    def test_so_are_completed_copies_of_them(self):
        """Copies are in memory alone, where what a pass lets go of is lost to the next one: Firth's, and that of the party's own checks."""
        (self.path / "rows.csv").write_text("a,b,y\n" + "".join(f"{i % 10},{'' if i % 9 == 0 else i % 7},{'no yes'.split()[(i * i + i // 7) % 9 > i % 10]}\n"
                                                                for i in range(5000)))
        (self.path / "schema.yaml").write_text("label: {name: y, classes: [no, yes]}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 9}\n"
                                               "  - {name: b, kind: number, low: 0, high: 6}\nintercept: yes\nmissing: impute\n")
        (self.path / "scratch").mkdir()
        told = []
        for variables in ({}, {"TACIT_SPILL": str(self.path / "scratch"), "TACIT_MEMORY": "10k"}):
            done = subprocess.run([os.path.abspath(os.environ["TACIT"]), "simulate", "--method", "estimate", "--train", "rows.csv", "--schema", "schema.yaml",
                                   "--parties", "2", "--set", "impute=2", "--set", "bias=firth", "--threads", "1", "--seed", "1", "--json"],
                                  cwd=self.path, capture_output=True, text=True, env=dict(os.environ, **variables))
            self.assertEqual(done.returncode, 0, done.stderr)
            told.append(json.loads(done.stdout)["summary"])
        self.assertEqual(told[0], told[1])


class Limits(ProgramTest):
    @unittest.skipIf(b"__asan_init" in open(os.environ["TACIT"], "rb").read(), "a sanitizer needs more memory than any limit here leaves")
    def test_too_little_memory_ends_in_a_sentence(self):
        """OpenBLAS waits without end where it gets no memory."""
        for kind in (resource.RLIMIT_DATA, resource.RLIMIT_AS):
            done = subprocess.run([os.path.abspath(os.environ["TACIT"]), "methods"], capture_output=True, text=True, timeout=120,
                                  preexec_fn=lambda kind=kind: resource.setrlimit(kind, (100 << 20, 100 << 20)))
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertRegex(done.stderr, r"^tacit: this process may use 100 MiB of memory \(ulimit -[dv]\) and needs \d+ MiB, .*raise the limit")


class Exchanges(ProgramTest):
    def exchanges(self, *words):
        return json.loads(self.succeed("explain", *words, "--json").stdout)["exchanges"]

    def test_methods_that_ask_once_say_so(self):
        for method in ("histogram", "describe", "evaluate", "survival"):
            self.assertEqual(self.exchanges(method, "--delta", "1e-6", "--features", "2", "--classes", "2"), 1, method)
        self.assertIsNone(self.exchanges("estimate"))
        self.assertEqual(self.exchanges("meta", "--set", "forest=yes"), 1)
        said = self.succeed("explain", "histogram", "--features", "2").stdout
        self.assertIn("one question to each party, and its answer", " ".join(said.split()))

    def test_every_deployed_method_with_a_center_says_something(self):
        for method in ("estimate", "meta", "mixed", "cox", "dpcox", "dpgd", "dpsgd", "newton", "batch"):
            said = " ".join(self.succeed("explain", method, "--features", "2", "--classes", "2", "--epsilon", "1", "--delta", "1e-6").stdout.split())
            self.assertIn("questions to each", said, method) if method != "batch" else self.assertNotIn("questions to each", said)
        said = " ".join(self.succeed("explain", "estimate", "--set", "rounds=few").stdout.split())
        self.assertIn("two questions to each party for a linear fit, five or six for most logistic ones", said)

    def test_what_is_said_is_what_is_asked(self):
        (self.path / "rows.csv").write_text("a,b,y\n" + "".join(f"{i % 10},{i % 7},{'yes' if i % 3 else 'no'}\n" for i in range(2000)))
        (self.path / "schema.yaml").write_text('label: {name: y, classes: ["no", "yes"]}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 9}\n'
                                               "  - {name: b, kind: number, low: 0, high: 6}\nintercept: yes\n")
        for method, settings in (("histogram", ["cells=4"]), ("dpnewton", ["rounds=3"]), ("dpnewton", ["rounds=3", "folds=2"]), ("avg", []), ("output", []),
                                 ("dpgd", ["rounds=4"]), ("plr", []), ("gop", []), ("vote", []), ("soft", []), ("soft-stat", []), ("pate", [])):
            given = [word for one in settings for word in ("--set", one)] + ["--epsilon", "1", "--delta", "0" if method == "histogram" else "1e-6", "--parties", "4"]
            told = json.loads(self.succeed("simulate", "--method", method, "--train", "rows.csv", "--schema", "schema.yaml", "--aux-fraction", "0.1", *given,
                                           "--seed", "1", "--json").stdout)
            said = self.exchanges(method, "--features", "3", "--classes", "2", *given)
            self.assertEqual(told["runs"][0]["rounds"], said, (method, settings))

    def test_plan_counts_hand_overs_as_people_carry_them(self):
        (self.path / "schema.yaml").write_text('label: {name: y, classes: ["no", "yes"]}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 9}\n')
        for transport, steps in (("", 5), ("transport: files\n", 1), ("transport: files\nexchange: two\n", 2)):
            (self.path / "trial.study.yaml").write_text("name: trial\ntitle: A trial\nmethod: dpgd\nset: {rounds: 3, noise: shares}\nepsilon: 2\ndelta: 1e-5\n"
                                                        "parties: {expected: 5, minimum: 5}\nminimum_rows: 100\nschema: schema.yaml\n" + transport)
            told = json.loads(self.succeed("plan", "trial.study.yaml", "--methods", "dpgd", "--json", "--quiet").stdout)["methods"]
            self.assertEqual([(one["rounds"], one["handovers"]) for one in told], [(3, 3 * steps)], transport)


if __name__ == "__main__":
    unittest.main(verbosity=2)
