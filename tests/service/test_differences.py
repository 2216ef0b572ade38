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
        self.exact("fewer", 3)
        self.refuse_to_join(0, "fewer", "differ by 1 from those that study first@")
        self.assertEqual(self.status("fewer")["state"], "recruiting")  # nobody else's study fails for it
        self.check_done({party: self.join(party, *EXACT, *(["--allow-difference"] if party == 0 else []), study="fewer")
                         for party in range(3)}, study="fewer", charged=[])

    def refuse_to_join(self, party, study, says):
        done = self.tacit(*self.join_words(party, self.invite(study=study), *EXACT), home=self.home(party))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(says, done.stderr)
        self.assertNotIn("joined; waiting", done.stderr)

    def test_rows_that_went_since_joining_are_noticed_at_the_start(self):
        self.exact("first", 3)
        self.coordinator()
        self.check_done({party: self.join(party, *EXACT, study="first") for party in range(3)}, study="first", charged=[])
        self.exact("fewer", 3)
        processes = {0: self.join(0, *EXACT, study="fewer")}
        lines = self.rows(0).read_text().splitlines()
        self.rows(0).write_text("\n".join(lines[:-1]) + "\n")
        processes |= {party: self.join(party, *EXACT, study="fewer") for party in (1, 2)}
        self.refused({0: processes[0]}, "differ by 1 from those that study first@")
        for party in (1, 2):
            processes[party].finish()
        self.assertIn("exact sums and folds differ by at least the owner's minimum of rows", self.status("fewer")["reason"])

    def subset(self, name, condition, **more):
        self.study(name, method="estimate", set=None, epsilon=None, subset=condition, minimum_rows=20,
                   **{"lambda": 0, "parties": "{expected: 3, minimum: 3}", **more})

    def test_two_subsets_do_not_differ_by_few_rows(self):
        """Also where the second looks at other columns, so that encoded rows cannot be compared."""
        ages = sorted(float(line.split(",")[0]) for line in self.rows(0).read_text().splitlines()[1:])
        self.subset("first", f"age > {ages[2]}")
        self.coordinator()
        first = {party: self.join(party, *EXACT, study="first") for party in range(3)}
        first[0].wait_line("subset     of your rows only those for which this holds: age > ")
        first[0].wait_line("3 more are not of the subset")
        self.check_done(first, study="first", charged=[])
        self.subset("second", f"age > {ages[4]}", terms="sick ~ dose")
        self.refuse_to_join(0, "second", "about fewer rows than your minimum of 10; the study's subset is age > ")

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

    def consent(self, party, *more):
        return self.succeed("consent", "trial", "--yes", *more, home=self.home(party)).stderr

    def amended(self, party):
        process = self.resume(party)
        self.assertEqual(process.finish(), 3, process.text())
        self.assertIn("was amended", process.text())

    def test_a_study_that_lost_a_party_is_amended_and_goes_on_without_it(self):
        """Its sums are for the coordinator, without noise of their own, and it has a thousand rounds: far from its end when a party leaves."""
        def sums(parties, rounds, **more):
            return dict(method="dpgd", set="{noise: coordinator, rounds: %d}" % rounds, delta="1e-5", patience=1,
                        parties="{expected: %d, minimum: %d}" % (parties, parties), **{"lambda": None}, **more)
        self.study(**sums(4, 1000))
        coordinator = self.coordinator()
        processes = {party: self.join(party, "--allow-entrusted", epsilon=1000) for party in range(4)}
        processes[3].wait_line("round 2: answering")
        self.succeed("withdraw", "trial", home=self.home(3))
        for party in range(3):
            processes[party].finish()
        self.assertEqual(self.status()["state"], "failed")
        # It was gone, or refused what it was just being asked.
        self.assertRegex(self.status()["reason"], "(did not come back|refused).*Exact sums of one study .*tacit study amend")
        # The others are told what the two groups would give away, and refuse unless they are allowed to.
        self.succeed("study", "amend", self.folder, self.definition(**sums(3, 2)))
        self.assertEqual(self.status()["state"], "recruiting")
        daemon = self.start("party", home=self.home(0))  # the one that serves all studies looks at a failed one again
        daemon.wait_line("was amended")
        daemon.kill()
        for party in range(3):
            self.amended(party)
            shown = self.consent(party)
            self.assertIn("An earlier version of this study had exact sums over 4 parties", shown)
            self.assertIn("sums of two groups will be known", shown)
            self.assertIn("refuses such a sum unless you allow it", shown)
        again = {party: self.resume(party) for party in range(3)}
        codes = [process.finish() for process in again.values()]
        self.assertIn(3, codes)
        self.assertTrue(any("--allow-difference" in process.text() for process in again.values()))
        self.assertEqual(self.status()["state"], "failed")
        # All of them allow it.
        self.succeed("study", "amend", self.folder, self.definition(title="again", **sums(3, 2)))
        for party in range(3):
            self.amended(party)
            self.assertIn("You allow that", self.consent(party, "--allow-difference"))
        for process in {party: self.resume(party) for party in range(3)}.values():
            self.assertEqual(process.finish(), 0, process.text())
        self.assertEqual(self.status()["state"], "done")
        self.assertIn("study trial is amended", coordinator.text())

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
