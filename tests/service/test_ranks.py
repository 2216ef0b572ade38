#!/usr/bin/env python3
"""A party whose rows are spread over ranks, against a real coordinator: the figures and charges of one process.

    TACIT=build/src/cli/tacit tests/service/test_ranks.py

Skipped (77) where mpirun, or the module that tacit loads under it, is missing.
"""
import json
import os
import shutil
import signal
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import TACIT, DeployedTest, Running

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import duckdb_library  # noqa: E402

EXACT = ("--allow-entrusted", "--allow-exact")
# Leaks are looked for without MPI, which keeps what it allocates.
MORE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OPENBLAS_NUM_THREADS": "1",
        "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}  # the last word counts


def mpirun(ranks):
    return ("mpirun", "--oversubscribe", "--bind-to", "none", "--mca", "btl", "self,vader", "-n", str(ranks))


class Ranks(DeployedTest):
    def start_ranks(self, ranks, *words, home):
        process = Running(words, home, self.path, more=MORE, within=mpirun(ranks))
        self.addCleanup(process.clean)
        return process

    def join_ranks(self, ranks, party, *more, study="trial"):
        self.limit(party)
        process = self.start_ranks(ranks, *self.join_words(party, self.invite(study=study), *more), home=self.home(party))
        process.wait_line("^joined; waiting")
        return process

    def figures(self, study):
        summary = json.loads(self.succeed("summary", self.folder / f"{study}.model.json", "--json").stdout)
        return summary["rows"], [(one["estimate"], one["error"]) for one in summary["coefficients"]]

    def test_the_figures_are_those_of_one_process(self):
        """Exact sums, so that the figures can be compared: to 1e-12 on 1, 2 and 4 ranks."""
        self.study(method="estimate", set="{optimiser: newton}", epsilon=None, **{"lambda": 0})
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        rows, alone = self.figures("trial")
        for ranks in (1, 2, 4):
            name = f"on{ranks}"
            self.study(name, method="estimate", set="{optimiser: newton}", epsilon=None, **{"lambda": 0})
            parties = {party: self.join(party, *EXACT, study=name) for party in (1, 2)}
            parties[0] = self.join_ranks(ranks, 0, *EXACT, study=name)
            self.check_done(parties, study=name, charged=[])
            spread, figures = self.figures(name)
            self.assertEqual(spread, rows)
            for mine, theirs in zip(figures, alone):
                for a, b in zip(mine, theirs):
                    self.assertAlmostEqual(a, b, delta=1e-12 * max(1, abs(b)))

    def write_parquet(self, library, rows):
        """The rows of a CSV file in four files of a folder, and in a file of their own."""
        folder, whole = self.path / "parts", self.path / "whole.parquet"
        folder.mkdir()
        table = f"read_csv('{rows}', types = {{'sick': 'VARCHAR'}})"
        drawn = f"SELECT *, row_number() OVER () AS n FROM {table}"
        for k in range(4):
            duckdb_library.run(library, f"COPY (SELECT * EXCLUDE (n) FROM ({drawn}) WHERE n % 4 = {k}) TO '{folder}/p{k}.parquet'")
        duckdb_library.run(library, f"COPY (SELECT * FROM {table}) TO '{whole}'")
        return folder, whole

    def test_each_rank_reads_its_part_of_the_files(self):
        """Files dealt to two and three ranks, and a file of which each reads its own rows: the figures of one process."""
        library = duckdb_library.find()
        if library is None:
            self.skipTest(duckdb_library.MISSING)
        before = os.environ.get("TACIT_DUCKDB")
        self.addCleanup(lambda: os.environ.pop("TACIT_DUCKDB") if before is None else os.environ.update(TACIT_DUCKDB=before))
        os.environ["TACIT_DUCKDB"] = library
        csv = self.rows(0)
        sources = self.write_parquet(library, csv)
        self.study(method="estimate", set="{optimiser: newton}", epsilon=None, **{"lambda": 0})
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        rows, alone = self.figures("trial")
        for ranks, source in ((2, sources[0]), (3, sources[1])):
            name = f"parts{ranks}"
            self.study(name, method="estimate", set="{optimiser: newton}", epsilon=None, **{"lambda": 0})
            parties = {party: self.join(party, *EXACT, study=name) for party in (1, 2)}
            self.rows = lambda party, source=source: source if party == 0 else DeployedTest.rows(self, party)
            parties[0] = self.join_ranks(ranks, 0, *EXACT, study=name)
            del self.rows
            self.check_done(parties, study=name, charged=[])
            spread, figures = self.figures(name)
            self.assertEqual(spread, rows)
            for mine, theirs in zip(figures, alone):
                for a, b in zip(mine, theirs):
                    self.assertAlmostEqual(a, b, delta=1e-12 * max(1, abs(b)))

    def test_fits_and_gradients_leave_once_and_are_charged_once(self):
        """A fit over ranks with noise of its own, and gradients in masked sums."""
        self.coordinator_for({})
        parties = {party: self.join(party) for party in (1, 2)}
        parties[0] = self.join_ranks(3, 0)
        self.check_done(parties)
        self.study("steps", method="dpgd", set="{rounds: 3, noise: party}", delta=1e-6, sum="masked")
        parties = {party: self.join(party, study="steps") for party in (1, 2)}
        parties[0] = self.join_ranks(2, 0, study="steps")
        self.check_done(parties, study="steps", charged=[])

    def test_noise_in_an_objective_is_the_same_on_all_ranks(self):
        """Else the ranks would minimise different functions, and never meet."""
        self.coordinator_for({"method": "plr", "set": None})
        parties = {party: self.join(party) for party in (1, 2)}
        parties[0] = self.join_ranks(2, 0)
        self.check_done(parties)

    def coordinator_for(self, changed):
        self.study(**changed)
        return self.coordinator()

    def test_a_killed_party_is_taken_up_again_with_other_ranks(self):
        self.coordinator_for({"method": "dpgd", "set": "{rounds: 4, noise: party}", "delta": 1e-6})
        self.limit(0)
        done = self.start_ranks(2, *self.join_words(0, self.invite(), "--no-wait"), home=self.home(0))
        self.assertEqual(done.finish(), 0, done.text())
        waiting = self.start_ranks(2, "party", "trial", home=self.home(0))
        waiting.kill(signal.SIGTERM)
        parties = {party: self.join(party) for party in (1, 2)}
        parties[0] = self.start_ranks(4, "party", "trial", home=self.home(0))
        self.check_done(parties, charged=[])

    def test_a_method_that_needs_all_rows_in_one_place_says_so(self):
        self.coordinator_for({"method": "consensus", "set": "{rounds: 2}", "epsilon": None})
        refused = self.start_ranks(2, *self.join_words(0, self.invite(), "--allow-neighbours"), home=self.home(0))
        self.assertEqual(refused.finish(), 3, refused.text())
        self.assertRegex(refused.text(), r"tacit: method consensus needs all rows .* without mpirun.* avg, .*estimate")

    def test_rows_that_one_rank_cannot_read(self):
        self.coordinator_for({})
        refused = self.start_ranks(2, "join", self.invite(), "--data", "missing.csv", "--schema", "schema.yaml", "--yes",
                                   home=self.home(0))
        self.assertEqual(refused.finish(), 1, refused.text())
        self.assertIn("missing.csv", refused.text())
        refused = self.start_ranks(2, "party", home=self.home(0))
        self.assertEqual(refused.finish(), 2, refused.text())
        self.assertIn("name it", refused.text())


if __name__ == "__main__":
    if shutil.which("mpirun") is None or not (Path(TACIT).parent / "tacit-mpi.so").exists():
        print("mpirun, or the module for it, is missing")
        sys.exit(77)
    unittest.main(verbosity=2)
