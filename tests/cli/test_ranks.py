#!/usr/bin/env python3
"""A simulation on several ranks: the same figures as in one process, one clear end when a rank fails or dies.

    TACIT=build/src/cli/tacit tests/cli/test_ranks.py

Skipped (77) where mpirun, or the module that tacit loads under it, is missing.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

TACIT = os.path.abspath(os.environ.get("TACIT", "build/src/cli/tacit"))
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS, SCHEMA = str(EXAMPLES / "breast_cancer.csv"), str(EXAMPLES / "breast_cancer.schema.yaml")
PATIENCE = 300
# Leaks are looked for without MPI, which keeps what it allocates.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OPENBLAS_NUM_THREADS="1",
                   ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")  # the last word counts


def launch(ranks, words):
    if ranks == 0:
        return [TACIT, *words]
    return ["mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader", "-n", str(ranks), TACIT, *words]


def run(ranks, *words):
    return subprocess.run(launch(ranks, words), capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT)


def values_of(document, place=""):
    """All values of a JSON document by their place, without times."""
    if isinstance(document, (dict, list)):
        for key, value in document.items() if isinstance(document, dict) else enumerate(document):
            if key != "seconds":
                yield from values_of(value, f"{place}/{key}")
    else:
        yield place, document


def ranks_under(parent):
    """The processes that mpirun has started, by rank."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and f"\nPPid:\t{parent}\n" in (entry / "status").read_text():
                variables = dict(item.split("=", 1) for item in (entry / "environ").read_text().split("\0") if "=" in item)
                if "OMPI_COMM_WORLD_RANK" in variables:
                    found[int(variables["OMPI_COMM_WORLD_RANK"])] = int(entry.name)
        except (OSError, UnicodeDecodeError):
            continue  # gone meanwhile
    return found


def is_alive(process):
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


class RanksTest(unittest.TestCase):
    def simulate(self, ranks, *words, seed=5, rows=ROWS, schema=("--schema", SCHEMA)):
        done = run(ranks, "simulate", "--train", rows, *schema, "--seed", str(seed), "--json", "--quiet", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return dict(values_of(json.loads(done.stdout)))

    def same(self, *words, **more):
        """Bit for bit in one process and on 1, 2 and 4 ranks; what it is."""
        alone = self.simulate(0, *words, **more)
        for ranks in (1, 2, 4):
            self.assertEqual(self.simulate(ranks, *words, **more), alone, f"{ranks} ranks")
        return alone

    def test_votes_sums_and_noise_are_the_same_on_any_number_of_ranks(self):
        words = ("--method", "vote,soft,avg,dpgd,psgd,indiv,output", "--parties", "9", "--aux-fraction", "0.2", "--epsilon", "1,inf",
                 "--delta", "1e-5", "--trials", "2")
        alone = self.same(*words)
        self.assertNotEqual(self.simulate(2, *words, seed=6), alone)  # the comparison can tell runs apart

    def test_neighbours_in_different_ranks_hear_each_other(self):
        self.same("--method", "consensus,gossip,extra", "--parties", "6", "--set", "rounds=15")

    def test_counts_of_cells_are_the_same_on_any_number_of_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            rows, schema = Path(folder) / "cells.csv", Path(folder) / "cells.yaml"
            rows.write_text("age,dose,label\n" + "".join(f"{i * 7 % 90},{i * i % 11},{'ill' if i * 7 % 90 > 40 + i % 9 else 'well'}\n"
                                                        for i in range(300)))
            schema.write_text("label:\n  name: label\n  classes: [ill, well]\ncolumns:\n"
                              "- {name: age, kind: number, low: 0, high: 90}\n- {name: dose, kind: number, low: 0, high: 10}\n")
            words = ("--method", "histogram", "--parties", "7", "--epsilon", "1,inf", "--trials", "2")
            more = {"rows": str(rows), "schema": ("--schema", str(schema))}
            alone = self.same(*words, **more)
            self.assertNotEqual(self.simulate(2, *words, seed=6, **more), alone)

    def test_uneven_parties_and_groups_and_refusals(self):
        self.same("--method", "avg", "--split", "dirichlet:0.3", "--parties", "7", "--epsilon", "1", "--minimum-rows", "20")
        with tempfile.TemporaryDirectory() as folder:
            grouped = Path(folder) / "grouped.csv"
            header, *lines = Path(ROWS).read_text().splitlines()
            named = [f'"site {i * i % 7}",{line}' if i % 3 else f"{i % 5},{line}" for i, line in enumerate(lines)]
            grouped.write_text("\n".join(["site," + header, *named]))
            for words in (("--split", "by:site"), ("--together", "site", "--parties", "3", "--aux-fraction", "0.1"),
                          ("--undersample", "benign=0.5", "--parties", "4")):
                words = ("--method", "avg", "--epsilon", "inf", *words)
                self.assertEqual(self.simulate(3, *words, rows=str(grouped)), self.simulate(0, *words, rows=str(grouped)))

    def test_pooled_rows_stay_where_they_are(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        whole = Path(folder) / "whole.yaml"  # coefficients want rows that are not shortened
        whole.write_text(re.sub("(?m)^rows: .*", "rows: bound", Path(SCHEMA).read_text()))
        for method in (("batch",), ("estimate", "--lambda", "1e-4")):
            words = ("--method", *method, "--parties", "8")
            alone = self.simulate(1, *words, schema=("--schema", str(whole)))
            for ranks in (2, 4):
                spread = self.simulate(ranks, *words, schema=("--schema", str(whole)))
                self.assertEqual(spread.keys(), alone.keys())
                for place, value in alone.items():
                    if isinstance(value, float):
                        self.assertAlmostEqual(spread[place], value, delta=1e-12 * max(1, abs(value)), msg=place)
                    else:
                        self.assertEqual(spread[place], value, place)

    def test_rows_without_a_schema_and_sparse_rows(self):
        with tempfile.TemporaryDirectory() as folder:
            sparse = Path(folder) / "rows.svm"
            sparse.write_text("".join(f"{i % 2} {1 + i % 5}:{1 + i % 3} {6 + i % 2}:0.5  # {i}\n" for i in range(120)))
            for rows in (ROWS, str(sparse)):
                words = ("--method", "avg", "--parties", "5", "--epsilon", "inf")
                more = {"rows": rows, "schema": ("--bounds-from-data",)}
                self.assertEqual(self.simulate(3, *words, **more), self.simulate(0, *words, **more))

    def test_what_needs_one_process_says_so(self):
        for words, says in ((("fit", "--method", "output", "--train", ROWS, "--schema", SCHEMA, "--epsilon", "1"), "without mpirun"),
                            (("simulate", "--method", "consensus", "--train", ROWS, "--schema", SCHEMA, "--parties", "4", "--trace",
                              "unwritten.csv"), "without mpirun"),
                            (("simulate", "--method", "nothing", "--train", ROWS, "--parties", "4"), "nothing")):
            done = run(2, *words)
            self.assertEqual(done.returncode, 2, done.stderr)
            said = [line for line in done.stderr.splitlines() if line.startswith("tacit: ")]
            self.assertEqual(len(said), 1, done.stderr)  # one rank speaks for all
            self.assertIn(says, said[0])

    def test_a_program_without_mpi_says_so_and_works_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            alone = shutil.copy(TACIT, folder)
            words = (alone, "simulate", "--method", "avg", "--train", ROWS, "--schema", SCHEMA, "--parties", "4", "--epsilon", "1")
            for ranks, code, count in ((1, 0, 0), (2, 2, 1)):
                done = subprocess.run([*launch(ranks, ())[:-1], *words], capture_output=True, text=True, timeout=PATIENCE, env=ENVIRONMENT)
                self.assertEqual(done.returncode, code, done.stderr)
                said = [line for line in done.stderr.splitlines() if line.startswith("tacit: ")]
                self.assertEqual(len(said), count, done.stderr)
            self.assertIn("start it without mpirun", said[0])

    def test_a_launcher_that_mpi_does_not_hear_of_is_an_error(self):
        done = subprocess.run([TACIT, "methods"], capture_output=True, text=True, timeout=PATIENCE,
                              env=dict(ENVIRONMENT, PMI_SIZE="4", PMI_RANK="2"))
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the launcher has started 4 processes, and MPI knows of 1: start tacit with the mpirun", done.stderr)
        self.assertEqual(done.stdout, "")

    def test_a_failure_of_one_rank_is_that_of_all(self):
        words = ("simulate", "--method", "avg", "--schema", SCHEMA, "--parties", "4", "--epsilon", "1", "--train")
        done = subprocess.run([*launch(1, (*words, ROWS)), ":", "-n", "1", TACIT, *words, "missing.csv"], capture_output=True,
                              text=True, timeout=PATIENCE, env=ENVIRONMENT)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("rank 1: ", done.stderr)
        self.assertIn("missing.csv", done.stderr)

    def endless(self):
        words = ("simulate", "--method", "avg", "--train", ROWS, "--schema", SCHEMA, "--parties", "40", "--epsilon", "1", "--trials",
                 "1000000", "--json")
        # Chatter of mpirun must not fill a pipe that nobody reads.
        told = tempfile.TemporaryFile("w+")
        self.addCleanup(told.close)
        running = subprocess.Popen(launch(2, words), stdout=subprocess.DEVNULL, stderr=told, env=ENVIRONMENT)
        self.addCleanup(lambda: running.poll() is not None or running.kill())
        deadline = time.monotonic() + PATIENCE
        while len(ranks_under(running.pid)) < 2:
            self.assertIsNone(running.poll())
            self.assertLess(time.monotonic(), deadline)
        return running, ranks_under(running.pid), told

    def ends(self, running, ranks):
        self.assertNotEqual(running.wait(PATIENCE), 0)
        deadline = time.monotonic() + PATIENCE
        while any(is_alive(process) for process in ranks.values()):  # mpirun may be gone a moment before
            self.assertLess(time.monotonic(), deadline)

    def test_a_killed_rank_ends_all(self):
        running, ranks, told = self.endless()
        os.kill(ranks[1], signal.SIGKILL)
        self.ends(running, ranks)
        told.seek(0)
        self.assertIn("signal 9", told.read())

    def test_an_interrupt_ends_all(self):
        running, ranks, _ = self.endless()
        running.send_signal(signal.SIGINT)
        self.ends(running, ranks)


if __name__ == "__main__":
    if shutil.which("mpirun") is None or not (Path(TACIT).parent / "tacit-mpi.so").exists():
        print("mpirun, or the module for it, is missing")
        sys.exit(77)
    unittest.main(verbosity=2)
