#!/usr/bin/env python3
"""What parties refuse because of sums that were opened before: in rounds, versions and studies, between real processes.

    TACIT=build/src/cli/tacit tests/service/test_differences.py
"""
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest

EXACT = ("--allow-entrusted", "--allow-exact")


class Differences(DeployedTest):
    def exact(self, name, parties):
        self.study(name, method="estimate", set=None, epsilon=None,
                   **{"lambda": 0, "parties": "{expected: %d, minimum: %d}" % (parties, parties)})

    def run_study(self, name, parties, *more):
        self.exact(name, len(parties))
        return {party: self.join(party, *EXACT, *more, study=name) for party in parties}

    def finish(self, name, parties, *more):
        self.check_done(self.run_study(name, parties, *more), study=name, charged=[])

    def refused(self, processes, says):
        for party, process in processes.items():
            self.assertEqual(process.finish(), 3, process.text())
            self.assertIn(says, process.text())

    def test_two_studies_do_not_differ_by_one_party(self):
        self.exact("first", 4)
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT, study="first") for party in range(4)}, study="first", charged=[])
        self.finish("same", range(4))  # the same ones may be asked again
        alone = self.run_study("without", range(3))  # the difference would be party 3
        self.assertIn("Exact sums of these rows were made in 2 other studies", alone[0].text())
        self.refused(alone, "--allow-difference")
        self.assertEqual(self.status("without")["state"], "failed")
        self.finish("allowed", range(3), "--allow-difference")

    def test_two_studies_do_not_differ_by_one_row(self):
        self.exact("first", 3)
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT, study="first") for party in range(3)}, study="first", charged=[])
        lines = self.rows(0).read_text().splitlines()
        self.rows(0).write_text("\n".join(lines[:-1]) + "\n")
        processes = self.run_study("fewer", range(3))
        self.refused({0: processes[0]}, "differ by 1 from those that study first@")

    def test_an_amendment_says_that_sums_of_two_groups_will_be_known(self):
        self.exact("trial", 3)
        coordinator = self.coordinator()
        self.check_done({party: self.join(party, *EXACT) for party in range(3)}, charged=[])
        self.study("second", method="estimate", set=None, epsilon=None, **{
            "lambda": 0, "parties": "{expected: 3, minimum: 3}", "stop": "{se: {column: age, at_most: 1e-9}, looks: 2}"})
        first = {party: self.join(party, *EXACT, study="second") for party in range(3)}
        coordinator.wait_line("study second recruits again")
        for process in first.values():
            self.assertEqual(process.finish(), 3, process.text())
        shown = self.succeed("consent", "second", "--yes", home=self.home(0))
        self.assertIn("An earlier version of this study had exact sums over 3 parties", shown.stderr)
        self.assertIn("sums of two groups will be known", shown.stderr)

    def test_rows_that_change_between_rounds_end_it(self):
        """A thousand rounds: the study is far from its end when the party is killed, and waits for it."""
        self.study(method="dpgd", set="{noise: coordinator, rounds: 1000}", delta="1e-5", **{"lambda": None})
        self.coordinator()
        processes = {party: self.join(party, "--allow-entrusted") for party in range(3)}
        processes[0].wait_line("round 2: answering")
        processes[0].kill()
        with open(self.rows(0), "a") as rows:
            rows.write("0.5,0.25,yes\n")
        self.refused({0: self.resume(0)}, "have changed since study trial@")
        for party in (1, 2):
            processes[party].finish()
        self.assertEqual(self.status()["state"], "failed")


if __name__ == "__main__":
    unittest.main(verbosity=2)
