#!/usr/bin/env python3
"""What becomes of missing values, against R's glm and mice, on rows that really lack some (examples/pbc.csv).

Figures of R are those in missing/missing.csv, or fresh ones where Rscript and mice are installed (missing/missing.R makes both).
mice's own imputations take half a minute and are fresh only with --mice.

    TACIT=build/src/cli/tacit tests/cli/test_missing.py [--mice]
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
from test_program import TACIT, ProgramTest

HERE = Path(__file__).resolve().parent / "missing"
PBC = HERE.parents[2] / "examples" / "pbc.csv"
MICE = "--mice" in sys.argv
LABEL = 'label: {name: death, classes: ["no", "yes"]}\n'
ALL = LABEL + """columns:
  - {name: age, kind: number, low: 20, high: 90}
  - {name: bili, kind: number, low: 0, high: 40}
  - {name: chol, kind: number, low: -5000, high: 5000}
  - {name: copper, kind: number, low: -2000, high: 2000}
  - {name: trig, kind: number, low: -2000, high: 2000}
  - {name: sex, kind: category, levels: [m, f]}
  - {name: hepato, kind: category, levels: ["0", "1"]}
  - {name: stage, kind: category, levels: ["1", "2", "3", "4"]}
strict: yes
missing: """
FILLED = LABEL + """columns:
  - {name: age, kind: number, low: 20, high: 90}
  - {name: chol, kind: number, low: 0, high: 2500, missing: indicator}
  - {name: trig, kind: number, low: 0, high: 1000, missing: {fill: 120}}
  - {name: hepato, kind: category, levels: ["0", "1"], missing: level}
  - {name: stage, kind: category, levels: ["1", "2", "3", "4"], missing: {fill: "3"}}
strict: yes
"""
WHOLE_PBC = LABEL + """columns:
  - {name: age, kind: number, low: 20, high: 90}
  - {name: chol, kind: number, low: -5000, high: 5000}
  - {name: copper, kind: number, low: -2000, high: 2000}
  - {name: trig, kind: number, low: -2000, high: 2000}
  - {name: sex, kind: category, levels: [m, f]}
  - {name: hepato, kind: category, levels: ["0", "1"]}
missing: impute
"""
WHOLE_LUNG = """label: {name: died, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 18, high: 100}
  - {name: sex, kind: category, levels: [male, female]}
  - {name: karnofsky_patient, kind: number, low: -500, high: 500}
  - {name: calories, kind: number, low: -5000, high: 9000}
  - {name: weight_loss, kind: number, low: -500, high: 500}
missing: impute
"""
LUNG = PBC.parent / "lung.csv"
WHOLE = {"pbc1": (PBC, WHOLE_PBC), "lung1": (LUNG, WHOLE_LUNG)}  # all rows at one site
NAMES = {"chol (missing)": "chol_missing", "hepato (missing)": "hepatomissing"}


def has_mice():
    return shutil.which("Rscript") and subprocess.run(["Rscript", "-e", "library(mice)"], capture_output=True).returncode == 0


@functools.cache
def figures_of_r():
    """{case: {name: figures}}"""
    stored = list(csv.reader((HERE / "missing.csv").read_text().splitlines()))[1:]
    fresh = []
    if has_mice():
        words = ["Rscript", HERE / "missing.R", PBC, LUNG] + ([] if MICE else ["quick"])
        text = subprocess.run(words, capture_output=True, text=True, check=True, timeout=600).stdout
        fresh = list(csv.reader(text.splitlines()))[1:]
    found = {}
    for case, name, *figures in stored + fresh:
        found.setdefault(case, {})[name] = [float(figure) for figure in figures]
    return found


class MissingTest(ProgramTest):
    def estimate(self, schema, *words, train=None, parties=5):
        self.write("schema.yaml", schema)
        train = str(train or PBC)
        split = ["--split", "by:site"] if parties is None else ["--parties", str(parties)]
        text = self.succeed("simulate", "--method", "estimate", "--train", train, "--test", train, "--schema", "schema.yaml",
                            *split, "--seed", "1", *words, "--json").stdout
        return json.loads(text)["summary"]

    def named(self, table):
        return {NAMES.get(one["name"], one["name"].replace("=", "").strip("()")): one for one in table["coefficients"]}

    def two_sites(self):
        lines = PBC.read_text().splitlines()
        rows = [line + f",s{int(line.split(',')[0]) % 2}" for line in lines[1:]]
        return self.write("two.csv", "\n".join([lines[0] + ",site"] + rows) + "\n")

    def check_glm(self, case, schema):
        theirs = figures_of_r()[case]
        for parties in (1, 5, 20):
            table = self.estimate(schema, parties=parties)
            ours = self.named(table)
            self.assertEqual(set(ours), set(theirs))
            for name, figures in theirs.items():
                for key, figure in zip(("estimate", "error", "statistic", "p"), figures):
                    self.assertLessEqual(abs(ours[name][key] - figure), 1e-6 * abs(figure) + 1e-12, (case, parties, name, key))
        return table


class AgainstR(MissingTest):
    def test_complete_cases_are_those_of_glm(self):
        table = self.check_glm("complete-case", ALL + "complete-case\n")
        self.assertEqual(table["rows"], 280)
        self.assertEqual(table["missing"]["left_out"], 138)
        cells = {one["name"]: one["cells"] for one in table["missing"]["columns"]}
        self.assertEqual(cells, {"age": 0, "bili": 0, "chol": 134, "copper": 108, "trig": 136, "sex": 0, "hepato": 106,
                                 "stage": 6, "death": 0})

    def test_indicator_level_and_value_are_what_glm_makes_of_them(self):
        table = self.check_glm("filled", FILLED)
        self.assertEqual(table["rows"], 418)
        self.assertEqual(table["missing"]["left_out"], 0)
        rules = {one["name"]: (one["rule"], one["cells"]) for one in table["missing"]["columns"]}
        self.assertEqual(rules["chol"], ("indicator", 134))
        self.assertEqual(rules["hepato"], ("level", 106))
        self.assertEqual(rules["stage"], ("fill", 6))

    # Both sides draw. A pooled estimate of m sets is off by sqrt(between/m), so that the difference of the two, over its own
    # error, is about Student's t with 39 degrees of freedom or more: beyond 7 with probability 2e-8, for 11 coefficients 2e-7.
    # Variances between 40 and 100 sets have a ratio beyond 4 or below 1/4 with probability 1e-7. Our draws are seeded, so that
    # this fails by chance only where R's differ from the stored ones.
    def test_imputed_sets_are_those_of_mice_inside_each_site(self):
        table = self.estimate(ALL + "impute\n", "--set", "impute=100", train=self.two_sites(), parties=None)
        ours, more = self.named(table), {}
        for one in table["imputed"]["coefficients"]:
            more[one["name"].replace("=", "").strip("()")] = one
        self.assertEqual((table["rows"], table["imputed"]["sets"], table["missing"]["left_out"]), (418, 100, 0))
        theirs = figures_of_r()["imputed"]
        self.assertEqual(set(ours), set(theirs))
        for name, (estimate, within, between, degrees) in theirs.items():
            error = math.sqrt(between / 40 + more[name]["between"] / 100)
            self.assertLess(abs(ours[name]["estimate"] - estimate), 7 * error, (name, ours[name], estimate))
            self.assertLess(abs(math.log(more[name]["within"] / within)), 0.2, name)
            self.assertLess(abs(math.log(more[name]["between"] / between)), math.log(4), name)

    # The same errors, for 7 and 6 coefficients.
    def test_at_one_site_they_are_those_of_mice_for_two_sets(self):
        for case, (file, schema) in WHOLE.items():
            table = self.estimate(schema, "--set", "impute=100", train=file, parties=1)
            ours, theirs = self.named(table), figures_of_r()[case]
            more = {one["name"].replace("=", "").strip("()"): one for one in table["imputed"]["coefficients"]}
            self.assertEqual((table["rows"], table["imputed"]["sets"], set(ours)), (len(file.read_text().splitlines()) - 1, 100, set(theirs)))
            for name, (estimate, within, between, _) in theirs.items():
                error = math.sqrt(between / 40 + more[name]["between"] / 100)
                self.assertLess(abs(ours[name]["estimate"] - estimate), 7 * error, (case, name, ours[name], estimate))
                self.assertLess(abs(math.log(more[name]["within"] / within)), 0.2, (case, name))
                self.assertLess(abs(math.log(more[name]["between"] / between)), math.log(4), (case, name))

    # The same errors, for 13 coefficients.
    def test_imputed_columns_go_through_terms_as_after_mice(self):
        schema = ALL.replace("name: bili, kind: number, low: 0,", "name: bili, kind: number, low: 0.1,")
        table = self.estimate(schema + "impute\n", "--set", "impute=100", "--terms",
                              "death ~ age*sex + log(bili) + chol*hepato + copper + trig + stage", train=self.two_sites(), parties=None)
        ours = {one["name"].replace("(", "").replace(")", ""): one for one in table["coefficients"]}
        more = {one["name"].replace("(", "").replace(")", ""): one for one in table["imputed"]["coefficients"]}
        self.assertEqual((table["rows"], table["imputed"]["sets"]), (418, 100))
        cells = {one["name"]: one["cells"] for one in table["missing"]["columns"]}
        self.assertEqual((cells["chol"], cells["hepato"], cells["stage"], cells["age"]), (134, 106, 6, 0))
        theirs = figures_of_r()["terms"]
        self.assertEqual(set(ours), set(theirs))
        for name, (estimate, within, between, degrees) in theirs.items():
            error = math.sqrt(between / 40 + more[name]["between"] / 100)
            self.assertLess(abs(ours[name]["estimate"] - estimate), 7 * error, (name, ours[name], estimate))
            self.assertLess(abs(math.log(more[name]["within"] / within)), 0.2, name)
            self.assertLess(abs(math.log(more[name]["between"] / between)), math.log(4), name)

    # The same errors, for 11 coefficients.
    def test_imputed_sets_are_fitted_with_firths_penalty_as_by_brglm2(self):
        table = self.estimate(ALL + "impute\n", "--set", "impute=100", "--set", "bias=firth", train=self.two_sites(), parties=None)
        ours, theirs = self.named(table), figures_of_r()["firth"]
        more = {one["name"].replace("=", "").strip("()"): one for one in table["imputed"]["coefficients"]}
        self.assertEqual(set(ours), set(theirs))
        for name, (estimate, within, between, degrees) in theirs.items():
            error = math.sqrt(between / 40 + more[name]["between"] / 100)
            self.assertLess(abs(ours[name]["estimate"] - estimate), 7 * error, (name, ours[name], estimate))
            self.assertLess(abs(math.log(more[name]["within"] / within)), 0.2, name)

    # The same errors, for 8 coefficients.
    def test_imputed_sets_of_ordered_classes_are_those_of_mice_and_polr(self):
        schema = """label: {name: stage, classes: ["1", "2", "3", "4"], missing: complete-case}
columns:
  - {name: age, kind: number, low: 20, high: 90}
  - {name: chol, kind: number, low: -5000, high: 5000}
  - {name: copper, kind: number, low: -2000, high: 2000}
  - {name: sex, kind: category, levels: [m, f]}
  - {name: hepato, kind: category, levels: ["0", "1"]}
missing: impute
"""
        table = self.estimate(schema, "--set", "impute=100", "--set", "family=ordinal", train=self.two_sites(), parties=None)
        ours, theirs = self.named(table), figures_of_r()["ordered"]
        more = {one["name"].replace("=", ""): one for one in table["imputed"]["coefficients"]}
        self.assertEqual((table["rows"], set(ours)), (412, set(theirs)))
        for name, (estimate, within, between, _) in theirs.items():
            error = math.sqrt(between / 40 + more[name]["between"] / 100)
            self.assertLess(abs(ours[name]["estimate"] - estimate), 7 * error, (name, ours[name], estimate))
            self.assertLess(abs(math.log(more[name]["within"] / within)), 0.2, name)

    def test_two_classes_are_the_same_by_any_family(self):
        """The same completed sets, fitted as one score and as several, over 1, 5 and 20 parties."""
        for parties in (1, 5, 20):
            logistic = self.named(self.estimate(ALL + "impute\n", "--set", "impute=3", parties=parties))
            for family, sign in (("multinomial", 1), ("ordinal", -1)):
                for one in self.estimate(ALL + "impute\n", "--set", "impute=3", "--set", f"family={family}", parties=parties)["coefficients"]:
                    name = one["name"].replace("yes:", "").replace("=", "").replace("no|yes", "Intercept").strip("()")
                    expected = logistic[name]
                    factor = sign if name == "Intercept" else 1
                    self.assertAlmostEqual(factor * one["estimate"], expected["estimate"], delta=1e-7 * expected["error"], msg=(family, name))
                    self.assertAlmostEqual(one["error"], expected["error"], delta=1e-7 * expected["error"], msg=(family, name))

    def test_filled_values_go_through_terms(self):
        """With terms a missing number is the value that its column says, as without them, and both count what was filled."""
        plain = self.estimate(FILLED.replace("missing: indicator", "missing: {fill: 300}"))
        terms = self.estimate(FILLED.replace("missing: indicator", "missing: {fill: 300}"), "--terms",
                              "death ~ age + chol + trig + hepato + stage")
        self.assertEqual(plain["missing"], terms["missing"])
        for one, other in zip(plain["coefficients"], terms["coefficients"]):
            self.assertAlmostEqual(one["estimate"], other["estimate"], delta=1e-9 * (1 + abs(one["estimate"])))

    def test_an_indicator_has_no_column_beside_terms_and_that_is_said(self):
        self.write("schema.yaml", FILLED)
        self.fail_with(2, "simulate", "--method", "estimate", "--train", PBC, "--test", PBC, "--schema", "schema.yaml", "--parties", "2", "--terms",
                       "death ~ age + chol", says=["'chol' has missing: indicator", "complete-case"])

    def test_filling_is_told_from_imputing(self):
        """The control: the midpoint for all that is missing is far from mice."""
        table = self.estimate(ALL + "fill\n", train=self.two_sites(), parties=None)
        estimate, _, between, _ = figures_of_r()["imputed"]["stage4"]
        self.assertGreater(abs(self.named(table)["stage4"]["estimate"] - estimate), 20 * math.sqrt(between / 40))


COUNTED = """columns:
  - {name: age, kind: number, low: 20, high: 90}
  - {name: chol, kind: number, low: 0, high: 2500}
  - {name: copper, kind: number, low: 0, high: 600, missing: {fill: 100}}
  - {name: hepato, kind: category, levels: ["0", "1"], missing: {fill: "1"}}
  - {name: stage, kind: number, low: 1, high: 4}
missing: complete-case
"""
TIMES = "label: {name: [time, death], kind: time, low: 0, high: 5000}\n"


class Counted(MissingTest):
    """Methods without noise say how many values each choice filled and how many rows it left out; others say that they do not."""

    def truth(self):
        """By Python's own reading of the file: {column: cells}, and the rows left out."""
        rows = list(csv.DictReader(PBC.read_text().splitlines()))
        cells = {name: sum(row[name] == "" for row in rows) for name in ("age", "chol", "copper", "hepato", "stage")}
        return cells, sum("" in (row["age"], row["chol"], row["stage"]) for row in rows)

    def run_one(self, method, *words, parties=5, label=TIMES, out=()):
        self.write("schema.yaml", label + COUNTED)
        train = PBC
        if label == TIMES:  # whose events are ones
            train = self.write("times.csv", PBC.read_text().replace(",yes,", ",1,").replace(",no,", ",0,"))
        return self.succeed("simulate", "--method", method, "--train", train, "--test", train, "--schema", "schema.yaml", "--parties", str(parties),
                            "--seed", "1", *words, *out)

    def check_report(self, report, withheld=0):
        cells, left_out = self.truth()
        rules = {"copper": "fill", "hepato": "fill"}
        table = next(each for each in report["tables"] if each["name"] == "missing")
        found = {row["label"]: row["values"] for row in table["rows"]}
        for name, count in cells.items():
            self.assertEqual(found.pop(f"{name}: {rules.get(name, 'complete-case')}"), [count, withheld], name)
        self.assertEqual(found.pop("rows left out"), [left_out, withheld])
        self.assertTrue(all(row.endswith(": complete-case") and values == [0, 0] for row, values in found.items()), found)  # the label

    def test_cox_counts_them_over_1_5_and_20_parties(self):
        cells, left_out = self.truth()
        self.assertGreater(left_out, 100)
        for parties in (1, 5, 20):
            found = json.loads(self.run_one("cox", "--json", parties=parties).stdout)["summary"]["missing"]
            self.assertEqual((found["left_out"], found["withheld"]), (left_out, 0))
            self.assertEqual({one["name"]: one["cells"] for one in found["columns"] if one["name"] in cells}, cells)
        self.assertIn(f"Missing: {left_out} incomplete rows left out", self.run_one("cox").stdout)

    def test_reports_of_exact_methods_have_a_table_of_them(self):
        label = LABEL.replace("}", ", missing: complete-case}")
        self.write("whole.yaml", label + COUNTED)
        self.succeed("simulate", "--method", "estimate", "--train", PBC, "--test", PBC, "--schema", "whole.yaml", "--parties", "2", "--seed", "1", "--out",
                     "model.json")
        ways = {"survival-exact": (TIMES, "--set", "by=hepato", "--set", "least=1"), "meta": (label,), "evaluate-exact": (label, "--model", "model.json"),
                "mixed": (label, "--set", "group=party", "--set", "nodes=5")}
        for method, (label, *words) in ways.items():
            for parties in (5, 20) if method != "meta" else (5, 6):
                with self.subTest(method=method, parties=parties):
                    self.check_report(json.loads(self.run_one(method, *words, "--json", parties=parties, label=label).stdout)["report"])

    def test_a_count_below_least_is_not_in_a_report_that_says_so_of_its_figures(self):
        found = json.loads(self.run_one("survival-exact", "--set", "least=7", "--json").stdout)["report"]
        rows = {row["label"]: row["values"] for row in next(each for each in found["tables"] if each["name"] == "missing")["rows"]}
        self.assertEqual((rows["stage: complete-case"], rows["age: complete-case"]), ([None, 0], [0, 0]))  # of six, and of none

    def test_plain_counts_nothing_and_says_what_would(self):
        says = "method describe-exact with missing=counted counts both, exactly."
        for method in ("cox", "survival-exact"):
            text = self.run_one(method, "--set", "missing=plain", out=("--out", "model.json")).stdout
            self.assertIn(says, text)
            self.assertNotIn("left out for it\n", text)
            self.assertIn(says, self.succeed("summary", "model.json").stdout)

    def test_two_servers_say_that_they_count_nothing_and_what_would(self):
        self.write("small.csv", "\n".join(",".join(line.split(",")[i] for i in (4, 2)) for line in PBC.read_text().splitlines()[:80]) + "\n")
        self.write("small.yaml", LABEL + "columns:\n  - {name: age, kind: number, low: 20, high: 90, missing: complete-case}\n")
        text = self.succeed("simulate", "--method", "newton", "--train", "small.csv", "--test", "small.csv", "--schema", "small.yaml", "--parties", "2",
                            "--seed", "1", "--set", "engine=shares").stdout
        self.assertEqual(text.count("method describe-exact with missing=counted counts both, exactly."), 1)

    def test_a_private_result_that_counts_nothing_says_what_would(self):
        says = "method describe with missing=counted counts both, for a tenth of its budget."
        label = LABEL.replace("}", ", missing: complete-case}")
        for method in ("plr", "gop", "output", "avg", "dpsgd", "dptree", "psgd"):
            text = self.run_one(method, "--epsilon", "4", "--delta", "1e-5", "--lambda", "0.1", label=label, out=("--out", "model.json")).stdout
            self.assertEqual(text.count(says), 1, method)
            self.assertEqual(self.succeed("card", "model.json").stdout.count(says), 1, method)
        text = self.run_one("survival", "--epsilon", "4", "--delta", "1e-5").stdout
        self.assertEqual(text.count(says), 1)
        text = self.run_one("dpgd", "--epsilon", "4", "--delta", "1e-5", label=label).stdout  # the control: it counts them
        self.assertNotIn(says, text)
        self.assertIn("rows left out", text)

    def test_of_a_schema_that_says_nothing_of_missing_values_nothing_is_said(self):
        self.write("schema.yaml", LABEL + COUNTED.replace("missing: complete-case\n", "").replace(", missing: {fill: 100}", "").replace(", missing: {fill: \"1\"}", ""))
        text = self.succeed("simulate", "--method", "plr", "--train", PBC, "--test", PBC, "--schema", "schema.yaml", "--parties", "2", "--seed", "1",
                            "--epsilon", "4", "--lambda", "0.1").stdout
        self.assertNotIn("missing", text)


class Sets(MissingTest):
    def test_a_seed_gives_the_same_sets_for_any_threads(self):
        one = self.estimate(ALL + "impute\n", "--set", "impute=3", "--threads", "1", parties=2)
        two = self.estimate(ALL + "impute\n", "--set", "impute=3", "--threads", "2", parties=2)
        self.assertEqual(one["coefficients"], two["coefficients"])

    def test_total_variance_follows_rubin(self):
        table = self.estimate(ALL + "impute\n", "--set", "impute=5", parties=2)
        for one, more in zip(table["coefficients"], table["imputed"]["coefficients"]):
            self.assertAlmostEqual(one["error"] ** 2, more["within"] + 1.2 * more["between"], delta=1e-9 * one["error"] ** 2)
            self.assertTrue(0 < more["missing_information"] < 1 and more["degrees"] < 407)

    def test_the_table_is_read_again_and_prints_the_pooling(self):
        self.write("schema.yaml", ALL + "impute\n")
        self.succeed("simulate", "--method", "estimate", "--train", str(PBC), "--schema", "schema.yaml", "--parties", "2",
                     "--seed", "1", "--set", "impute=4", "--out", "model.json")
        text = self.succeed("summary", "model.json").stdout
        for part in ("Imputed: 4 sets", "within", "fmi", "chol: ", "(imputed)", "no row left out"):
            self.assertIn(part, text)

    def test_methods_with_noise_say_why_they_do_not_impute(self):
        self.write("schema.yaml", ALL + "impute\n")
        self.fail_with(2, "simulate", "--method", "dpgd", "--train", str(PBC), "--schema", "schema.yaml", "--parties", "2",
                       "--epsilon", "1", "--delta", "1e-5", says=["does not take missing: impute", "one row change others"])

    def test_lbfgs_is_refused(self):
        self.write("schema.yaml", ALL + "impute\n")
        self.fail_with(2, "simulate", "--method", "estimate", "--train", str(PBC), "--schema", "schema.yaml", "--parties",
                       "2", "--set", "optimiser=lbfgs", says=["optimiser newton"])


class Afterwards(MissingTest):
    def model(self, rule):
        self.write("schema.yaml", ALL + rule + "\n")
        self.succeed("simulate", "--method", "estimate", "--train", str(PBC), "--schema", "schema.yaml", "--parties", "2",
                     "--seed", "1", "--set", "impute=3", "--out", "model.json")

    def test_evaluation_leaves_out_what_training_did_and_prediction_refuses_it(self):
        for rule in ("complete-case", "impute"):
            self.model(rule)
            text = self.succeed("evaluate", "model.json", str(PBC), "--json").stdout
            self.assertEqual(json.loads(text)["n"], 280, rule)
            self.fail_with(1, "predict", "model.json", str(PBC), says=["(chol)", "missing value"])

    def test_data_check_counts_what_each_column_does(self):
        self.write("schema.yaml", ALL + "complete-case\n")
        text = self.succeed("data", "check", str(PBC), "--schema", "schema.yaml", "--json").stdout
        found = json.loads(text)
        self.assertEqual((found["rows"], found["left_out"], found["missing"]), (418, 138, 0))
        rules = {one["name"]: one["missing_rule"] for one in found["columns"]}
        self.assertEqual((rules["chol"], rules["death"]), ("complete-case", "complete-case"))

    def test_data_info_counts_every_spelling(self):
        rows = "a,b,y\n1,x,0\n,x,1\nNA,?,0\nnan,NULL,1\n?,,0\nnull,NaN,1\n2,z,0\n"
        path = self.write("rows.csv", rows)
        found = json.loads(self.succeed("data", "info", path, "--json").stdout)
        missing = {one["name"]: one["missing"] for one in found["columns"]}
        self.assertEqual((missing["a"], missing["b"], missing["y"]), (5, 4, 0))


class Owner(MissingTest):
    def tacit(self, *words, **more):
        kept = {name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS")}
        return subprocess.run([TACIT, *words], capture_output=True, text=True, cwd=self.path, timeout=600,
                              env={"PATH": os.environ.get("PATH", ""), "TACIT_HOME": str(self.path / "home"), **kept}, **more)

    def test_a_fit_tells_its_owner_how_many_rows_were_left_out(self):
        self.write("schema.yaml", ALL + "complete-case\n")
        self.succeed("ledger", "limit", "--source", "pbc", "--epsilon", "5", "--delta", "1e-4")
        done = self.succeed("fit", "--method", "plr", "--train", str(PBC), "--schema", "schema.yaml", "--source", "pbc",
                            "--epsilon", "1", "--lambda", "0.1", "--out", "model.json")
        self.assertIn("138 incomplete rows left out", done.stderr)
        self.assertIn("not released", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--mice"])
