#!/usr/bin/env python3
"""Method evaluate between real processes: the figures of all rows pooled, exact with the owners' word, or with noise and a charge.

    TACIT=build/src/cli/tacit tests/service/test_evaluate.py
"""
import json
import os
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest
from pages import Page

EXACT = ("--allow-entrusted", "--allow-exact")


def figures(report):
    table = next(each for each in report["tables"] if each["name"] == "figures")
    return {row["label"]: row["values"][0] for row in table["rows"]}


class Evaluations(DeployedTest):
    def setUp(self):
        super().setUp()
        self.make_model()

    def pooled(self):
        lines = [self.rows(party).read_text().splitlines() for party in range(3)]
        (self.path / "all.csv").write_text("\n".join(lines[0] + lines[1][1:] + lines[2][1:]) + "\n")
        return figures(json.loads(self.succeed("evaluate", "model.json", "all.csv", "--json").stdout)["report"])

    def report(self):
        return json.loads(self.succeed("summary", self.folder / "trial.model.json", "--json").stdout)

    def test_three_parties_get_the_figures_of_all_rows(self):
        self.study(method="evaluate-exact", set="{}", epsilon=None, model="model.json", **{"lambda": None})
        (self.path / "model.json").unlink()  # it is in the definition
        self.make_model()
        page = Page(self.coordinator("--dashboard", "0"))
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        model = self.check_done(parties, charged=[])
        self.assertFalse(model["guarantee"]["private"])
        report, expected = self.report(), self.pooled()
        self.assertEqual((report["kind"], report["mode"], report["rows"]), ("evaluate", "exact", 120))
        self.assertEqual(set(figures(report)), set(expected))
        for name, value in expected.items():
            self.assertAlmostEqual(figures(report)[name], value, delta=1e-9 * (1 + abs(value)), msg=name)
        charges = self.charges(0)
        self.assertEqual([(each["price"]["epsilon"], each["kind"], each["noise"]) for each in charges], [("inf", "entrusted", "none")])
        self.succeed("card", "model.json", "--evaluation", self.folder / "trial.model.json", "--out", "card.html")
        page.token = json.loads(self.succeed("study", "token", self.folder, "--json").stdout)["token"]
        status, _, answer = page.ask("GET", "/v1/studies/trial/evaluation")  # for programs: the method need not be called 'evaluate'
        self.assertEqual((status, figures(json.loads(answer))), (200, figures(report)))

    def test_sites_are_told_apart_where_their_owners_allow_it(self):
        self.study(method="evaluate-exact", set="{sites: apart, least: 1}", epsilon=None, model="model.json", **{"lambda": None})
        self.coordinator()
        self.refuse(3, *self.join_words(0, self.invite(), *EXACT), home=self.home(0), says=["--allow-site"])
        self.check_done({party: self.join(party, *EXACT, "--allow-site") for party in range(3)}, charged=[])
        expected, report = self.pooled(), self.report()
        self.assertAlmostEqual(figures(report)["auc"], expected["auc"], delta=1e-9)
        table = next(each for each in report["tables"] if each["name"] == "subgroups")
        found = {row["label"]: row["values"][table["columns"].index("auc")] for row in table["rows"]}
        alone = [figures(json.loads(self.succeed("evaluate", "model.json", self.rows(party), "--json").stdout)["report"])["auc"]
                 for party in range(3)]
        self.assertEqual(len(found), 3)
        for value, theirs in zip(sorted(found.values()), sorted(alone)):
            self.assertAlmostEqual(value, theirs, delta=1e-9)

    def test_noisy_figures_of_sites_are_charged_by_themselves(self):
        self.study(method="evaluate", set="{sites: apart, noise: party}", epsilon=2, delta="1e-5", model="model.json", **{"lambda": None})
        self.coordinator()
        model = self.check_done({party: self.join(party, "--allow-site") for party in range(3)})
        self.assertTrue(model["guarantee"]["private"])
        self.assertEqual([(each["kind"], each["noise"]) for each in self.charges(0)], [("charged", "exact")])

    def test_exact_counts_need_the_owners_word(self):
        self.study(method="evaluate-exact", set="{}", epsilon=None, model="model.json", **{"lambda": None})
        self.coordinator()
        done = self.tacit(*self.join_words(0, self.invite()), home=self.home(0))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("allow-exact", done.stderr + "".join(done.stdout))

    def test_with_noise_in_shares_each_party_is_charged_once(self):
        self.study(method="evaluate", set="{}", epsilon=2, delta="1e-5", model="model.json", dropouts=0, colluders=0, **{"lambda": None})
        self.coordinator()
        for party in range(3):
            self.limit(party)
        parties = {party: self.join(party) for party in range(3)}
        model = self.check_done(parties, charged=[2])
        self.assertTrue(model["guarantee"]["private"])
        report = self.report()
        self.assertEqual(report["mode"], "private")
        self.assertEqual([each["kind"] for each in self.charges(0)], ["sealed"])

    def test_a_study_has_the_terms_of_its_model_and_subgroups_beside(self):
        (self.path / "schema.yaml").write_text((self.path / "schema.yaml").read_text() + "  - {name: ward, kind: category, levels: [north, south]}\n")
        for party in ("model", 0, 1, 2):
            lines = self.rows(party).read_text().splitlines()
            self.rows(party).write_text("\n".join([lines[0] + ",ward"] + [f"{line},{'north' if k % 3 else 'south'}" for k, line in enumerate(lines[1:])]) + "\n")
        self.succeed("simulate", "--method", "estimate", "--train", self.rows("model"), "--test", self.rows("model"), "--schema", "schema.yaml",
                     "--parties", "1", "--lambda", "0.1", "--terms", "sick ~ age + I(dose^2)", "--seed", "1", "--out", "model.json")
        self.study(method="evaluate-exact", set="{by: ward, least: 1}", subset="dose > 0.2", epsilon=None, model="model.json", **{"lambda": None})
        self.coordinator()
        parties = {party: self.join(party, *EXACT) for party in range(3)}
        self.check_done(parties, charged=[])
        self.assertIn("sick ~ age + I(dose^2) + subgroups(ward)", parties[0].text())
        self.pooled()
        lines = (self.path / "all.csv").read_text().splitlines()
        for ward in ("north", "south"):
            (self.path / "all.csv").write_text("\n".join([lines[0]] + [line for line in lines[1:] if line.endswith(ward) and float(line.split(",")[1]) > 0.2]) + "\n")
            alone = figures(json.loads(self.succeed("evaluate", "model.json", "all.csv", "--json").stdout)["report"])
            table = next(each for each in self.report()["tables"] if each["name"] == "subgroups")
            found = next(dict(zip(table["columns"], row["values"])) for row in table["rows"] if row["label"] == f"ward={ward}")
            self.assertEqual(found["rows"], alone["rows"])
            self.assertAlmostEqual(found["auc"], alone["auc"], delta=1e-9)

    def test_a_card_knows_parties_of_both_studies_by_their_names(self):
        definition = {"epsilon": None, "lambda": 0, "set": None, "dropouts": 0}
        self.study("made", method="estimate", **definition)
        self.study("judged", method="evaluate-exact", model="model.json", **(definition | {"lambda": None}))
        self.coordinator()
        for study in ("made", "judged"):
            parties = {}
            for party in range(3):
                invitation = self.succeed("study", "invite", self.folder, study, "--for", f"clinic {party if study == 'made' or party else 9}").stdout.strip()
                parties[party] = self.join(party, *EXACT, invitation=invitation, study=study)
            self.check_done(parties, study=study, charged=[])
        words = ["card", self.folder / "made.model.json", "--evaluation", self.folder / "judged.model.json", "--json"]
        rows = [json.loads(self.succeed(*words, *more).stdout)["evaluations"][0]["rows"] for more in ([], ["--coordinator", self.folder])]
        self.assertEqual(rows, ["unknown", "maybe trained on"])

    def test_what_does_not_belong_together_is_refused(self):
        more = {"method": "evaluate", "set": "{}", "lambda": None}
        self.refuse(2, "study", "new", self.folder, self.definition(**more), says=["model: FILE"])
        self.refuse(2, "study", "new", self.folder, self.definition(model="model.json"), says=["avg is about no model"])
        text = (self.path / "schema.yaml").read_text()
        (self.path / "schema.yaml").write_text(text.replace("high: 1}", "high: 2}", 1))
        self.refuse(2, "study", "new", self.folder, self.definition(model="model.json", **more), says=["another schema"])


if __name__ == "__main__":
    unittest.main()
