#!/usr/bin/env python3
"""Terms of a formula: method estimate against R's glm, files and models, and what is said of a formula that does not work.

Figures of R are those in terms/glm.csv, or fresh ones where Rscript is installed (terms/glm.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_terms.py
"""
import csv
import functools
import json
import math
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

HERE = Path(__file__).resolve().parent / "terms"
WILMS = str(HERE.parents[2] / "examples" / "wilms.csv")
LABELS = {"binomial": '{name: relapse, classes: ["no", "yes"]}', "poisson": "{name: unfavourable, kind: count, low: 0, high: 1}",
          "gaussian": "{name: age, kind: number, low: 0, high: 200}"}
COLUMNS = {"unfavourable": "kind: number, low: 0, high: 1", "stage": 'kind: category, levels: ["1", "2", "3", "4"]',
           "late_unfavourable": "kind: number, low: 0, high: 1", "age": "kind: number, low: 0, high: 200",
           "study": "kind: number, low: 3, high: 4"}
KEYS = ("estimate", "error", "statistic", "p", "low", "high")
FIT = ("deviance", "null_deviance", "aic", "degrees", "null_degrees", "dispersion")


def cases():
    with open(HERE / "cases.csv") as file:
        return list(csv.DictReader(file))


@functools.lru_cache
def figures_of_r():
    if shutil.which("Rscript"):
        text = subprocess.run(["Rscript", HERE / "glm.R", WILMS, HERE / "cases.csv"], capture_output=True, text=True, check=True,
                              timeout=600).stdout
    else:
        text = (HERE / "glm.csv").read_text()
    return [line.split("|") for line in text.splitlines()[1:]]


class TermsTest(ProgramTest):
    def schema(self, family="binomial", more="", **columns):
        label = LABELS[family]
        lines = [f"  - {{name: {name}, {columns.get(name, text)}}}" for name, text in COLUMNS.items() if f"name: {name}," not in label]
        return self.write(f"{family}.yaml", f"label: {label}\ncolumns:\n" + "\n".join(lines) + "\n" + more)

    def estimate(self, formula, family="binomial", parties=1, words=()):
        return json.loads(self.succeed("simulate", "--method", "estimate", "--train", WILMS, "--test", WILMS, "--schema",
                                       self.schema(family), "--parties", str(parties), "--seed", "1", "--terms", formula, *words,
                                       "--json").stdout)["summary"]

    def refused(self, formula, *says, family="binomial"):
        return self.fail_with(2, "simulate", "--method", "estimate", "--train", WILMS, "--schema", self.schema(family), "--parties",
                              "2", "--terms", formula, says=says)


class AgainstR(TermsTest):
    def compare(self, parties, words=(), chosen=None):
        figures = {}
        for case, name, *numbers in figures_of_r():
            figures.setdefault(case, []).append((name, [float(number) for number in numbers]))
        for case in cases():
            if chosen is not None and case["case"] not in chosen:
                continue
            with self.subTest(**case):
                part = ("--subset", case["subset"]) if case["subset"] else ()
                ours = self.estimate(case["formula"], case["family"], parties, (*words, *part))
                *theirs, (_, fit) = figures[case["case"]]
                self.assertEqual([one["name"] for one in ours["coefficients"]], [name for name, _ in theirs])
                for one, (name, numbers) in zip(ours["coefficients"], theirs):
                    for key, number in zip(KEYS, numbers):
                        scale = one["error"] if key in ("estimate", "low", "high") else 1
                        self.assertLessEqual(abs(one[key] - number), 1e-6 * (abs(number) + scale), (name, key, one[key], number))
                for key, number in zip(FIT, fit):
                    self.assertLessEqual(abs(ours[key] - number), 1e-6 * abs(number), (key, ours[key], number))

    def test_one_party_gives_names_and_figures_of_r(self):
        self.compare(1)

    def test_five_and_twenty_parties_give_the_same(self):
        for parties in (5, 20):
            with self.subTest(parties=parties):
                self.compare(parties)

    def test_lbfgs_gives_the_same(self):
        self.compare(3, ("--set", "optimiser=lbfgs"), {"crossed", "spline", "offset", "counts", "numbers"})


class Subsets(TermsTest):
    def test_a_model_says_which_rows_it_is_of_and_predicts_any(self):
        self.succeed("simulate", "--method", "estimate", "--train", WILMS, "--schema", self.schema(), "--parties", "3", "--seed", "1",
                     "--test", WILMS, "--terms", "relapse ~ age", "--subset", "age > 50&stage=='3'", "--out", "model.json", "--quiet")
        self.assertIn('subset: "age > 50 & stage == \\"3\\""', json.loads((self.path / "model.json").read_text())["schema"])
        self.write("rows.csv", "age\n25\n60\n")  # neither of them needs a stage
        self.assertEqual(len(self.succeed("predict", "model.json", "rows.csv").stdout.splitlines()), 3)
        with open(WILMS) as file:
            count = sum(float(row["age"]) > 50 and row["stage"] == "3" for row in csv.DictReader(file))
        self.assertIn(f"{count} rows", self.succeed("evaluate", "model.json", WILMS).stdout)

    def test_missing_values_are_as_in_r(self):
        """NA & FALSE is FALSE, NA | TRUE is TRUE, and what is not known is left out."""
        schema = self.write("s.yaml", "label: {name: y, classes: [no, yes]}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 9}\n"
                            "  - {name: b, kind: category, levels: [u, v]}\n")
        rows = [(str(a), b) for a in (1, 5, "") for b in ("u", "v", "", "w")]
        self.write("d.csv", "a,b,y\n" + "".join(f"{a},{b},{('no', 'yes')[(i // 12) % 2]}\n" for i, (a, b) in enumerate(rows * 4)))
        for condition, expected in (("a > 2", 4), ("!(a > 2)", 4), ("a > 2 | b == 'u'", 6), ("a > 2 & b == 'u'", 1), ("is.na(a)", 4),
                                    ("is.na(a) | is.na(b)", 6), ("b != 'u'", 6), ("b %in% c('v', 'u')", 6), ("!(b %in% c('v', 'u'))", 6),
                                    ("a %in% c(1, -2)", 4), ("a^2 + 1 >= 26", 4)):
            with self.subTest(condition):
                printed = self.succeed("simulate", "--method", "estimate", "--train", "d.csv", "--schema", schema, "--parties", "1",
                                       "--lambda", "0.1", "--seed", "1", "--terms", "~ 1", "--subset", condition, "--json", "--test", "d.csv")
                self.assertEqual(json.loads(printed.stdout)["summary"]["rows"], 4 * expected)

    def test_without_a_schema_the_draft_is_of_all_rows(self):
        told = json.loads(self.succeed("simulate", "--method", "estimate", "--train", WILMS, "--test", WILMS, "--parties", "2", "--seed",
                                       "1", "--label", "relapse", "--terms", "~ age", "--subset", "stage == 3", "--json").stdout)
        self.assertEqual(told["summary"]["rows"], 944)

    def test_a_condition_that_does_not_work_names_its_place(self):
        for condition, says in (("age >", "at its end"), ("stage > 2", "levels of a category have no order"), ("stage == '9'", "no level"),
                                ("aeg > 5", "did you mean 'age'"), ("relapse == 'yes'", "this is the label"), ("age", "a condition belongs"),
                                ("1 > 2", "looks at no column"), ("age ~ 5", "a condition belongs"), ("age %in% 3", "a list belongs")):
            self.fail_with(2, "simulate", "--method", "estimate", "--train", WILMS, "--schema", self.schema(), "--parties", "2",
                           "--subset", condition, says=("subset", says))
        self.fail_with(1, "simulate", "--method", "estimate", "--train", WILMS, "--schema", self.schema(), "--parties", "2",
                       "--subset", "age > 199.5", says=("no row of the subset: age > 199.5",))


class Files(TermsTest):
    FORMULA = "relapse ~ unfavourable*stage + log(age + 1) + offset(age/40)"

    def fitted(self, formula=FORMULA):
        self.succeed("simulate", "--method", "estimate", "--train", WILMS, "--test", WILMS, "--schema", self.schema(), "--parties", "3",
                     "--seed", "1", "--terms", formula, "--out", "model.json", "--quiet")
        return json.loads(self.succeed("summary", "model.json", "--json").stdout)

    def test_predictions_of_raw_rows_follow_from_the_table(self):
        table = {one["name"]: one["estimate"] for one in self.fitted()["coefficients"]}
        self.write("rows.csv", "age,stage,unfavourable\n25,1,0\n0,4,1\n190,2,1\n77.5,3,0\n")  # no label, and no unused column
        printed = self.succeed("predict", "model.json", "rows.csv").stdout.splitlines()[1:]
        for line, (age, stage, bad) in zip(printed, ((25, 1, 0), (0, 4, 1), (190, 2, 1), (77.5, 3, 0))):
            score = table["(Intercept)"] + table["unfavourable"] * bad + table["log(age + 1)"] * math.log(age + 1) + age / 40
            if stage > 1:
                score += table[f"stage{stage}"] + bad * table[f"unfavourable:stage{stage}"]
            self.assertAlmostEqual(float(line.split(",")[3]), 1 / (1 + math.exp(-score)), delta=1e-9)

    def test_a_model_keeps_its_terms(self):
        self.assertEqual(self.fitted()["formula"], "relapse ~ unfavourable * stage + log(age + 1) + offset(age/40)")
        self.assertIn("4028", self.succeed("evaluate", "model.json", WILMS).stdout)
        self.assertIn("Call: relapse ~ unfavourable * stage", self.succeed("summary", "model.json").stdout)

    def test_a_schema_may_have_the_terms(self):
        schema = self.schema(more='terms: "relapse ~ unfavourable * stage"\n')
        words = ("simulate", "--method", "estimate", "--train", WILMS, "--test", WILMS, "--parties", "2", "--seed", "1", "--json")
        ours = json.loads(self.succeed(*words, "--schema", schema).stdout)["summary"]["coefficients"]
        theirs = self.estimate("relapse ~ unfavourable * stage")["coefficients"]
        for mine, other in zip(ours, theirs):
            self.assertEqual(mine["name"], other["name"])
            self.assertAlmostEqual(mine["estimate"], other["estimate"], delta=1e-9)
        self.succeed("data", "check", WILMS, "--schema", schema)

    def test_rows_without_a_schema_take_terms_of_a_draft(self):
        self.succeed("simulate", "--method", "batch", "--train", WILMS, "--parties", "2", "--seed", "1", "--terms",
                     "relapse ~ age * unfavourable", "--lambda", "0.001")


class Private(TermsTest):
    FORMULA = "relapse ~ unfavourable*stage + spline(age, df = 3) + poly(age, 2):unfavourable"

    def simulated(self, method, *words):
        done = self.succeed("simulate", "--method", method, "--train", WILMS, "--test", WILMS, "--schema", self.schema(), "--parties", "2",
                            "--seed", "1", "--terms", self.FORMULA, "--epsilon", "4", "--delta", "1e-5", *words, "--json")
        return json.loads(done.stdout)

    def test_private_methods_learn_from_terms(self):
        for method in ("dpgd", "dpnewton", "output"):
            with self.subTest(method=method):
                run, = self.simulated(method)["runs"]
                self.assertGreater(run["auc"]["mean"], 0.6, run)  # seeded: the same in every run
                self.assertLessEqual(run["charged"]["epsilon"], 4 + 1e-9)

    def test_noisy_inference_has_the_names_of_r(self):
        table = self.simulated("dpnewton", "--set", "purpose=inference")["summary"]
        self.assertEqual([one["name"] for one in table["coefficients"]][:3], ["(Intercept)", "unfavourable", "stage2"])

    def test_methods_that_cannot_take_terms_say_so(self):
        for method, formula, says in (("histogram", "relapse ~ age", "works on the columns themselves"),
                                      ("dpgd", "relapse ~ offset(age/40) + stage", "takes no offset: leave offset() out of the terms, or choose method estimate or meta"),
                                      ("dpgd", "relapse ~ stage + (1 | party)", "takes no random effects: leave '(... | ...)' out of the terms, or choose method mixed"),
                                      ("newton", "relapse ~ 0 + stage", "needs an intercept")):
            self.fail_with(2, "simulate", "--method", method, "--train", WILMS, "--schema", self.schema(), "--parties", "2", "--terms",
                           formula, "--epsilon", "1", "--delta", "1e-5", says=[says])
        self.fail_with(2, "simulate", "--method", "estimate", "--train", WILMS, "--schema", self.schema(), "--parties", "2", "--terms",
                       "relapse ~ offset(age/40)", "--set", "family=huber", says=["family huber takes no offset"])

    def test_a_plan_can_be_made_for_terms(self):
        self.succeed("plan", "--schema", self.schema(), "--terms", "~ stage*age", "--parties", "4", "--rows", "2000", "--epsilon", "2",
                     "--methods", "dpgd", "--seed", "1")


class Wrong(TermsTest):
    def test_the_place_and_the_remedy_are_named(self):
        self.refused("relapse ~ agee", "terms, at 'agee' (character 11)", "did you mean 'age'?")
        self.refused("relapse ~ stage + log(age)", "'log(age)' (character 19)", "as low as 0", "log(x + 1)")
        self.refused("relapse ~ spline(stage, df = 3)", "'stage' (character 18)", "is a category")

    def test_a_study_names_the_line(self):
        self.schema()
        self.write("study.yaml", "name: s\ntitle: t\nmethod: estimate\nlambda: 0\nparties: {expected: 3}\nminimum_rows: 10\n"
                   "schema: binomial.yaml\nterms: relapse ~ agee\n")
        self.fail_with(1, "study", "new", "folder", "study.yaml", says=["study.yaml:8", "'agee'", "did you mean"])


if __name__ == "__main__":
    unittest.main()
