"""Stopping rules in real processes: a study that recruits until a standard error is small enough, and rounds that end early."""
import json
import unittest

from deployed import DeployedTest
from pages import Page

EXACT = ("--allow-entrusted", "--allow-exact")


class Looks(DeployedTest):
    def recruit(self, stop, **changed):
        self.study(method="estimate", set=None, epsilon=None, **{"lambda": 0, "stop": stop, **changed})

    def table(self, path):
        return {one["name"]: one for one in json.loads(path.read_text())["estimates"]["coefficients"]}

    def look(self, number):
        return self.table(self.folder / f"trial.look-{number}.model.json")["age"]["error"]

    def amended(self, processes):
        for process in processes.values():
            self.assertEqual(process.finish(), 3, process.text())
            self.assertIn("tacit consent trial", process.text())

    def consent(self, parties):
        again = {}
        for party in parties:
            shown = self.succeed("consent", "trial", "--yes", home=self.home(party))
            self.assertIn("standard error of age", shown.stderr)
            again[party] = self.resume(party)
        return again

    def consent_on_the_page(self, party):
        page = Page(self.start("page", home=self.home(party)))
        self.assertEqual(page.log_in(), 200)
        (study,) = page.get("/v1/party/studies")["studies"]
        self.assertEqual((study["look"], study["next"]["look"], study["next"]["looks"]), (1, 2, 2))
        path = f"/v1/party/studies/{study['id']}/consent"
        self.assertEqual(page.ask("POST", path, {"version": study["next"]["hash"]})[0], 200)
        (study,) = page.get("/v1/party/studies")["studies"]
        self.assertEqual((study["look"], study["consent"], study["amended"]), (2, "given", False))

    def test_a_study_recruits_until_the_standard_error_is_small_enough(self):
        self.recruit("{se: {column: age, at_most: 2}, looks: 3, more: 3}")
        coordinator = self.coordinator()
        first = {party: self.join(party, *EXACT) for party in range(3)}
        coordinator.wait_line("study trial recruits again, for 6 parties: look 1 of at most 3: the standard error of age")
        self.amended(first)
        status = self.status()
        self.assertEqual((status["state"], status["version"], status["joined"], status["outdated"]), ("recruiting", 2, 0, 3))
        second = self.consent(first)
        second.update({party: self.join(party, *EXACT) for party in (3, 4, 5)})
        self.assertIn("look 2 of at most 3", second[5].text())
        coordinator.kill()  # and the second look survives it
        self.coordinator()
        model = self.check_done(second, charged=[])
        self.assertEqual(model["guarantee"]["parties"], 6)
        self.assertGreater(self.look(1), 2)
        self.assertLessEqual(self.look(2), 2)
        self.assertIn("look 2 of at most 3: the standard error of age is", self.status()["reason"])
        studies = {charge["study"] for charge in self.charges(0)}
        self.assertEqual(len(studies), 2)  # each look was consented to and charged by itself

    def test_the_last_look_ends_it_and_more_rows_count(self):
        self.recruit("{width: {column: age, at_most: 1e-3}, looks: 2}")
        coordinator = self.coordinator()
        first = {party: self.join(party, *EXACT) for party in range(3)}
        coordinator.wait_line("recruits again, for 3 parties")
        self.amended(first)
        with open(self.rows(0), "a") as rows:
            rows.write("0.5,0.25,yes\n" * 20 + "0.25,0.5,no\n" * 20)
        second = {}
        for party in first:
            if party == 0:
                self.consent_on_the_page(party)
            else:
                self.succeed("consent", "trial", "--yes", home=self.home(party))
            second[party] = self.resume(party)
        model = self.check_done(second, charged=[])
        self.assertEqual(model["estimates"]["rows"], 160)
        self.assertNotEqual(self.look(2), self.look(1))
        self.assertIn("and at most 0.001 is asked for", self.status()["reason"])

    def test_rounds_end_early_and_are_charged_as_they_were(self):
        self.study(method="dpgd", set="{rounds: 10, noise: party}", epsilon=2, delta="1e-5", stop="{rounds: 3}")
        self.coordinator()
        parties = {party: self.join(party) for party in range(3)}
        self.check_done(parties, charged=[])
        for party in parties:
            self.assertEqual(len(self.charges(party)), 3)

    def test_an_estimate_short_of_rounds_has_no_table(self):
        self.recruit("{rounds: 1}")
        self.coordinator()
        for process in [self.join(party, *EXACT) for party in range(3)]:
            process.finish()
        self.assertEqual(self.status()["state"], "failed")
        self.assertIn("not enough to converge", self.status()["reason"])

    def test_a_simulation_looks_the_same_way(self):
        whole = self.path / "all.csv"
        lines = [self.rows(party).read_text().splitlines() for party in range(8)]
        whole.write_text("\n".join(lines[0] + [line for each in lines[1:] for line in each[1:]]) + "\n")
        words = ["simulate", "--method", "estimate", "--train", whole, "--test", whole, "--schema",
                 self.path / "schema.yaml", "--parties", 8, "--seed", 1, "--json", "--stop"]
        told = json.loads(self.succeed(*words, "{se: {column: age, at_most: 2}, looks: 4, more: 2}").stdout)
        values = [look["value"] for look in told["looks"]]
        self.assertEqual([look["parties"] for look in told["looks"]], [2, 4, 6, 8][:len(values)])
        self.assertEqual(values, sorted(values, reverse=True))
        self.assertEqual([look["met"] for look in told["looks"]], [False] * (len(values) - 1) + [True])
        self.assertLess(len(values), 4)
        self.refuse(2, *words, "{se: {column: weight, at_most: 1}}", says=["no such coefficient"])
        self.refuse(2, *words, "{se: {column: age, at_most: 1}, looks: 5, more: 2}", says=["--parties"])
        loose = json.loads(self.succeed(*words, "{converged: 0.1}").stdout)
        tight = json.loads(self.succeed(*words[:-1]).stdout)
        self.assertLess(loose["runs"][0]["rounds"], tight["runs"][0]["rounds"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
