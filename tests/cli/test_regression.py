#!/usr/bin/env python3
"""What surrounds the coefficients of method estimate, against R: ratios, tests of columns and between models, measures of fit.

Figures of R are those in regression/figures.csv, or fresh ones where Rscript and its packages are installed (regression/figures.R makes both). Real
sets: of two classes examples/wilms.csv (survival's nwtco) and examples/lung.csv (survival's, with missing values), of numbers regression/pbcseq.csv (survival's, with
factors and missing values), of counts regression/quine.csv (MASS), of several classes regression/housing.csv (MASS) and stages of the first and third, of
clusters pbcseq, mixed/sleepstudy.csv and mixed/cbpp.csv (lme4). The visits of estimate/claims.csv are made up.

    TACIT=build/src/cli/tacit tests/cli/test_regression.py
"""
import csv
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

HERE = Path(__file__).resolve().parent / "regression"
WILMS = HERE.parents[2] / "examples" / "wilms.csv"
CLAIMS = HERE.parent / "estimate" / "claims.csv"
MIXED = HERE.parent / "mixed"
WILMS_COLUMNS = """  - {name: unfavourable, kind: number, low: 0, high: 1}
  - {name: stage, kind: category, levels: ["1", "2", "3", "4"]}
  - {name: late_unfavourable, kind: number, low: 0, high: 1}
  - {name: age, kind: number, low: 0, high: 220}
  - {name: study, kind: number, low: 3, high: 4}
"""
LIVER_COLUMNS = """  - {name: age, kind: number, low: 0, high: 100}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: stage, kind: category, levels: ["1", "2", "3", "4"]}
  - {name: edema, kind: category, levels: ["0", "0.5", "1"]}
  - {name: ascites, kind: category, levels: ["0", "1"]}
  - {name: platelet, kind: number, low: 0, high: 1000}
  - {name: bili, kind: number, low: 0, high: 50}
person: id
"""
CLAIMS_COLUMNS = """  - {name: age, kind: number, low: 0, high: 100}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: region, kind: category, levels: [north, south, west]}
"""
CASES = {
    "wilms": (WILMS, 'label: {name: relapse, classes: ["no", "yes"]}\ncolumns:\n' + WILMS_COLUMNS),
    "liver": (HERE / "pbcseq.csv", "label: {name: albumin, kind: number, low: 0, high: 10}\ncolumns:\n" + LIVER_COLUMNS),
    "men": (HERE / "pbcseq.csv", """label: {name: sex, classes: [f, m]}
columns:
  - {name: age, kind: number, low: 0, high: 100}
  - {name: albumin, kind: number, low: 0, high: 10}
  - {name: bili, kind: number, low: 0, high: 50}
person: id
"""),
    "visits": (CLAIMS, "label: {name: visits, kind: count, low: 0, high: 30}\ncolumns:\n" + CLAIMS_COLUMNS),
    "absent": (HERE / "quine.csv", """label: {name: Days, kind: count, low: 0, high: 100}
columns:
  - {name: Eth, kind: category, levels: [A, N]}
  - {name: Sex, kind: category, levels: [F, M]}
  - {name: Age, kind: category, levels: [F0, F1, F2, F3]}
  - {name: Lrn, kind: category, levels: [AL, SL]}
"""),
    "lung": (WILMS.parent / "lung.csv", """label: {name: died, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 18, high: 100}
  - {name: sex, kind: category, levels: [female, male]}
  - {name: karnofsky, kind: number, low: 0, high: 100}
  - {name: karnofsky_patient, kind: number, low: 0, high: 100}
  - {name: weight_loss, kind: number, low: -50, high: 100}
missing: complete-case
"""),
    "sleep": (MIXED / "sleepstudy.csv", "label: {name: Reaction, kind: number, low: 150, high: 500}\ncolumns:\n"
              "  - {name: Days, kind: number, low: 0, high: 10}\nperson: Subject\n"),
    "herds": (MIXED / "cbpp.csv", """label: {name: ill, classes: ["0", "1"]}
columns:
  - {name: period, kind: category, levels: ["1", "2", "3", "4"]}
person: herd
"""),
}
HOMES_COLUMNS = """  - {name: Infl, kind: category, levels: [Low, Medium, High]}
  - {name: Type, kind: category, levels: [Tower, Apartment, Atrium, Terrace]}
  - {name: Cont, kind: category, levels: [Low, High]}
"""
HOMES = "label: {name: Sat, classes: [Low, Medium, High]}\ncolumns:\n" + HOMES_COLUMNS
STAGE = 'label: {name: stage, classes: ["1", "2", "3", "4"]}\ncolumns:\n'
# Outcomes of several classes: rows, schema and the column that a smaller model leaves out.
SEVERAL = {
    "homes": (None, HOMES, "Cont"),
    "stages": (WILMS, STAGE + """  - {name: unfavourable, kind: number, low: 0, high: 1}
  - {name: age, kind: number, low: 0, high: 220}
  - {name: relapse, kind: category, levels: ["no", "yes"]}
""", "relapse"),
    "fibrosis": (HERE / "pbcseq.csv", STAGE + """  - {name: age, kind: number, low: 0, high: 100}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: albumin, kind: number, low: 0, high: 10}
  - {name: platelet, kind: number, low: 0, high: 1000}
""", "albumin"),
}
PARTIES = (1, 5, 20)


def homes():
    """A row for each of the households that housing.csv counts."""
    with open(HERE / "housing.csv") as file:
        rows = list(csv.DictReader(file))
    names = ("Sat", "Infl", "Type", "Cont")
    return ",".join(names) + "\n" + "".join((",".join(row[name] for name in names) + "\n") * int(row["Freq"]) for row in rows)


def without(case, *columns):
    """The same case with fewer columns."""
    rows, schema = CASES[case]
    return rows, "".join(line for line in schema.splitlines(True) if not any(f"name: {name}," in line for name in columns))


@functools.lru_cache
def figures_of_r():
    files = [WILMS, HERE / "pbcseq.csv", CLAIMS, HERE / "housing.csv", HERE / "quine.csv", WILMS.parent / "lung.csv", MIXED / "sleepstudy.csv",
             MIXED / "cbpp.csv"]
    text = None
    if shutil.which("Rscript"):
        done = subprocess.run(["Rscript", HERE / "figures.R", *files], capture_output=True, text=True, timeout=600)
        text = done.stdout if done.returncode == 0 else None  # a package is missing
    if text is None:
        text = (HERE / "figures.csv").read_text()
    figures = {}
    for case, what, name, value in csv.reader(text.splitlines()):
        figures.setdefault((case, what), {})[name.replace("(Intercept)", "Intercept")] = float(value)
    return figures


class RegressionTest(ProgramTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.figures = figures_of_r()

    def estimate(self, case, *words, parties=3, code=None, says=(), out=None):
        rows, schema = CASES[case] if isinstance(case, str) else case
        self.write("schema.yaml", schema)
        command = ["simulate", "--method", "estimate", "--train", str(rows), "--test", str(rows), "--schema", "schema.yaml",
                   *(["--parties", str(parties)] if parties else []), "--seed", "1", *words, *(["--out", out] if out else [])]
        if "person:" in schema:
            command += ["--together", re.search(r"^person: (\w+)", schema, re.MULTILINE)[1]]
        if code is not None:
            return self.fail_with(code, *command, says=says)
        return json.loads(self.succeed(*command, "--json").stdout)["summary"]

    def agree(self, ours, case, what, relative=1e-6):
        """Every figure that R has of a case, and no other."""
        theirs = self.figures[(case, what)]
        ours = {name.replace("=", "").replace("(Intercept)", "Intercept"): value for name, value in ours.items()}
        self.assertEqual(set(ours), set(theirs), (case, what))
        for name, value in theirs.items():
            self.assertLessEqual(abs(ours[name] - value), relative * abs(value) + 1e-300, (case, what, name, ours[name], value))

    def check_table(self, case, table):
        coefficients = {one["name"]: one for one in table["coefficients"]}
        self.agree({name: one["estimate"] for name, one in coefficients.items()}, case, "estimate")
        self.agree({name: one["error"] for name, one in coefficients.items()}, case, "error")
        wanted = self.figures[(case, "measure")]
        measures = dict(table["measures"], **{key: table[key] for key in ("deviance", "aic", "null_deviance")})
        measures["tjur"] = wanted.get("tjur")  # checked where its sum is asked for
        self.agree({name: measures[name] for name in wanted}, case, "measure")
        self.check_terms(case, table)
        if (case, "ratio") in self.figures:
            ratios = {one["name"]: one for one in table["ratios"]["coefficients"]}
            for key, what in (("ratio", "ratio"), ("low", "ratio_low"), ("high", "ratio_high")):
                self.agree({name: one[key] for name, one in ratios.items()}, case, what)

    def check_terms(self, case, table):
        terms = {one["name"]: one for one in table["terms"]}
        for key in ("statistic", "p", "inflation"):
            if (case, f"term_{key}") in self.figures:
                self.agree({name: one[key] for name, one in terms.items()}, case, f"term_{key}")


class Figures(RegressionTest):
    def check_case(self, case, *words, also=lambda table: None):
        for parties in PARTIES:
            table = self.estimate(case, *words, parties=parties)
            self.check_table(case, table)
            also(table)

    def test_wilms_has_the_figures_of_r(self):
        self.check_case("wilms")

    def test_liver_has_the_figures_of_r(self):
        self.check_case("liver", also=lambda table: self.assertIsNone(table["ratios"]))

    def test_visits_have_the_figures_of_r(self):
        self.check_case("visits")

    def test_days_absent_have_the_figures_of_r(self):
        self.check_case("absent")

    def test_lung_has_the_figures_of_r(self):
        self.check_case("lung")


class Classes(RegressionTest):
    def setUp(self):
        super().setUp()
        self.homes = self.write("homes.csv", homes()), HOMES

    def check_case(self, case, family):
        file, schema, leaves = SEVERAL[case]
        rows = file or self.homes[0]
        for parties in PARTIES:
            optimiser = "lbfgs" if (case, parties) == ("homes", 5) else "newton"
            table = self.estimate((rows, schema), "--set", f"family={family}", "--set", f"optimiser={optimiser}", parties=parties, out="full.json")
            self.check_table(f"{case}-{family}", table)
            fewer = "".join(line for line in schema.splitlines(True) if f"name: {leaves}," not in line)
            self.estimate((rows, fewer), "--set", f"family={family}", parties=parties, out="fewer.json")
            made = json.loads(self.succeed("anova", "fewer.json", "full.json", "--json").stdout)
            self.agree({key: made[key] for key in ("deviance", "degrees", "p")}, f"{case}-{family}", "anova")
            for kind in ("HC0", "HC1"):
                robust = self.estimate((rows, schema), "--set", f"family={family}", "--set", f"errors={kind}", parties=parties)
                self.agree({one["name"]: one["error"] for one in robust["coefficients"]}, f"{case}-{family}", kind)
        return table

    def test_a_multinomial_table_has_the_figures_of_nnet(self):
        self.assertEqual(self.check_case("homes", "multinomial")["rows"], 1681)
        self.assertEqual(self.estimate(self.homes)["family"], "softmax")  # the choice of auto
        self.assertIn("family = multinomial", self.succeed("summary", "full.json").stdout)

    def test_an_ordinal_table_has_the_figures_of_polr(self):
        self.assertEqual(self.check_case("homes", "ordinal")["rows"], 1681)
        text = self.succeed("summary", "full.json").stdout
        self.assertRegex(text, r"Low\|Medium +-0\.496")
        self.assertEqual(text.count("Medium|High"), 1)  # intercepts have no ratio

    def test_stages_of_tumours_have_the_figures_of_r(self):
        for family in ("multinomial", "ordinal"):
            self.check_case("stages", family)

    def test_stages_of_livers_have_the_figures_of_r(self):
        for family in ("multinomial", "ordinal"):
            self.check_case("fibrosis", family)

    def test_models_of_classes_predict_and_are_evaluated(self):
        for family in ("multinomial", "ordinal"):
            table = self.estimate(self.homes, "--set", f"family={family}", out="model.json")
            found = json.loads(self.succeed("evaluate", "model.json", self.homes[0], "--json").stdout)
            self.assertAlmostEqual(found["logloss"] * 1681, table["deviance"] / 2, delta=1e-6 * table["deviance"])
            answers = json.loads(self.succeed("predict", "model.json", self.homes[0], "--json").stdout)["predictions"]
            self.assertEqual(len(answers), 1681)
        self.fail_with(2, "export", "model.json", "--format", "onnx", "--out", "model.onnx", says=["ordinal cannot be exported"])
        two = self.homes[0], HOMES.replace("[Low, Medium, High]}\ncol", "[Low, High], others: High}\ncol")
        logistic = self.estimate(two)["coefficients"]
        several = self.estimate(two, "--set", "family=multinomial")["coefficients"]
        ordinal = self.estimate(two, "--set", "family=ordinal")["coefficients"]
        self.assertEqual([one["name"] for one in several], ["High:" + one["name"] for one in logistic])
        for one, other in zip(logistic, several):
            self.assertAlmostEqual(one["estimate"], other["estimate"], delta=1e-8)
            self.assertAlmostEqual(one["error"], other["error"], delta=1e-8)
        for one, other in zip(logistic[1:] + logistic[:1], ordinal):
            self.assertAlmostEqual(one["estimate"], -other["estimate"] if "|" in other["name"] else other["estimate"], delta=1e-8)

    def test_a_party_may_have_rows_of_one_class_only(self):
        lines = homes().splitlines(True)
        self.write("sorted.csv", "site," + lines[0] + "".join(line.split(",")[0] + "," + line for line in lines[1:]))
        for family in ("multinomial", "ordinal"):
            whole = self.estimate(self.homes, "--set", f"family={family}")
            alone = self.estimate((self.path / "sorted.csv", HOMES), "--set", f"family={family}", "--split", "by:site", parties=None)
            for one, other in zip(whole["coefficients"], alone["coefficients"]):
                self.assertAlmostEqual(one["estimate"], other["estimate"], delta=1e-8)

    def test_without_an_estimate_there_is_a_sentence(self):
        for family in ("multinomial", "ordinal"):
            words = ("--set", f"family={family}")
            self.estimate((self.homes[0], HOMES.replace("Medium, High]}\ncol", "Medium, High, Perfect]}\ncol")), *words, code=1,
                          says=["no row of any party is of class 'Perfect'"])
            twice = "x,z,y\n" + "".join(f"{k % 7},{2 * (k % 7)},{'abc'[k % 3]}\n" for k in range(90))
            schema = """label: {name: y, classes: [a, b, c]}
columns:
  - {name: x, kind: number, low: 0, high: 9}
  - {name: z, kind: number, low: 0, high: 18}
"""
            self.estimate((self.write("twice.csv", twice), schema), *words, code=1, says=["have no coefficient: ", "z"])
            apart = "x,z,y\n" + "".join(f"{k % 9},{k % 5},{'abc'[k % 9 // 3]}\n" for k in range(90))
            self.estimate((self.write("apart.csv", apart), schema), *words, code=1, says=["no finite estimate", "apart without error"])
            self.estimate((self.write("apart.csv", apart), schema), *words, "--lambda", "0.001")
            self.estimate(self.homes, *words, "--set", "errors=HC3", code=2, says=["no leverage", "HC0, HC1 and cluster"])


class Robust(RegressionTest):
    def errors(self, case, kind, *words, parties):
        table = self.estimate(case, "--set", f"errors={kind}", *words, parties=parties)
        self.assertEqual((table["errors"], table["sandwich"]), (kind, True))
        self.agree({one["name"]: one["error"] for one in table["coefficients"]}, case, kind)
        return table

    def check_case(self, case):
        for kind in ("HC0", "HC1", "HC2", "HC3"):
            for parties in PARTIES:
                table = self.errors(case, kind, parties=parties)
        wanted = self.figures[(case, "measure")]
        self.assertAlmostEqual(table["deviance"], wanted["deviance"], delta=1e-6 * wanted["deviance"])

    def test_wilms_has_the_robust_errors_of_r(self):
        self.check_case("wilms")

    def test_liver_has_the_robust_errors_of_r(self):
        self.check_case("liver")

    def test_visits_have_the_robust_errors_of_r(self):
        self.check_case("visits")

    def test_days_absent_have_the_robust_errors_of_r(self):
        self.check_case("absent")

    def test_lung_has_the_robust_errors_of_r(self):
        self.check_case("lung")

    def test_persons_are_clusters_as_in_r(self):
        for parties in PARTIES:
            table = self.errors("liver", "cluster", parties=parties)
            self.assertEqual(table["clusters"], 312)
            self.check_terms("liver-cluster", table)
            self.errors("men", "cluster", parties=parties)

    def test_drivers_and_herds_are_clusters_as_in_r(self):
        for case, clusters in (("sleep", 18), ("herds", 15)):
            for parties in (1, 5, clusters):  # whose rows stay together
                self.assertEqual(self.errors(case, "cluster", parties=parties)["clusters"], clusters)

    def test_clusters_need_persons_and_robust_families_need_no_setting(self):
        self.estimate("visits", "--set", "errors=cluster", code=2, says=["person: COLUMN"])
        self.estimate("wilms", "--set", "family=huber", "--set", "errors=HC0", code=2, says=["robust already"])

    def test_a_row_that_alone_has_a_column_has_no_hc3(self):
        lines = [f"{k % 7},{k % 3},{'only' if k == 4 else 'usual'}\n" for k in range(40)]
        rows = self.write("rows.csv", "a,y,g\n" + "".join(lines))
        schema = """label: {name: y, kind: number, low: 0, high: 9}
columns:
  - {name: a, kind: number, low: 0, high: 9}
  - {name: g, kind: category, levels: [usual, only]}
"""
        self.estimate((rows, schema), "--set", "errors=HC3", code=1, says=["rows of 1 party", "leverage above 0.99"])
        self.estimate((rows, schema), "--set", "errors=HC1")


class Influence(RegressionTest):
    def check_case(self, case, *more):
        for parties in PARTIES:
            found = self.estimate(case, "--set", "influence=yes", *more, parties=parties)["influence"]
            self.agree({key: found[key] for key in ("pearson", "dispersion", "leverage", "leverage_squares", "cook_rows")}, case,
                       "influence")
            self.assertEqual(found["cook_held"], 0)
        return found

    def test_wilms_has_the_residuals_and_influence_of_r(self):
        found = self.check_case("wilms")
        self.assertAlmostEqual(found["tjur"], self.figures[("wilms", "measure")]["tjur"], delta=1e-9)

    def test_liver_has_the_residuals_and_influence_of_r(self):
        self.assertIsNone(self.check_case("liver", "--set", "errors=cluster")["tjur"])

    def test_a_response_that_never_varies_has_no_residuals(self):
        rows = self.write("flat.csv", "y,a\n" + "".join(f"5,{k % 7}\n" for k in range(30)))
        schema = "label: {name: y, kind: number, low: 0, high: 9}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 9}\n"
        found = self.estimate((rows, schema), "--set", "influence=yes", "--set", "errors=HC1")["influence"]
        self.assertLess(found["pearson"], 1e-12)
        self.assertAlmostEqual(found["leverage"], 2, delta=1e-9)

    def test_visits_have_the_residuals_and_influence_of_r(self):
        self.check_case("visits", "--set", "errors=HC3")

    def test_days_absent_have_the_residuals_and_influence_of_r(self):
        self.check_case("absent")

    def test_lung_has_the_residuals_and_influence_of_r(self):
        found = self.check_case("lung")
        self.assertAlmostEqual(found["tjur"], self.figures[("lung", "measure")]["tjur"], delta=1e-9)


class Anova(RegressionTest):
    def anova(self, large, small, parties=3):
        self.estimate(large, out="large.json", parties=parties)
        self.estimate(small, out="small.json", parties=parties + 1)  # other parties, the same rows
        return json.loads(self.succeed("anova", "small.json", "large.json", "--json").stdout)

    def check(self, case, *columns):
        for parties in PARTIES:
            made = self.anova(case, without(case, *columns), parties)
            self.agree({key: made[key] for key in ("deviance", "degrees", "p")}, case, "anova")
        return made

    def test_nested_models_are_compared_as_by_r(self):
        self.assertEqual(self.check("wilms", "stage", "late_unfavourable")["test"], "Chisq")
        text = self.succeed("anova", "large.json", "small.json").stdout  # any order
        self.assertRegex(text, r"large\.json +4020 .* 4 +84\.577 +84\.577 +<2e-16 \*\*\*")
        self.assertEqual(self.check("liver", "stage", "bili")["test"], "F")
        self.assertEqual(self.check("visits", "region")["test"], "Chisq")
        self.assertEqual(self.check("absent", "Age")["degrees"], 3)

    def test_models_that_are_no_pair_are_refused(self):
        self.anova("visits", without("visits", "sex"))
        self.estimate(without("visits", "region"), out="other.json")
        self.fail_with(2, "anova", "small.json", "other.json", says=["not nested"])
        self.fail_with(2, "anova", "small.json", "small.json", says=["equally many"])
        self.estimate("wilms", out="wilms.json")
        self.fail_with(2, "anova", "small.json", "wilms.json", says=["different responses"])
        lines = CLAIMS.read_text().splitlines(True)
        self.write("fewer.csv", "".join(lines[:-5]))
        self.estimate((self.path / "fewer.csv", without("visits", "sex")[1]), out="fewer.json")
        self.fail_with(2, "anova", "fewer.json", "large.json", says=["different rows"])
        self.estimate("visits", "--lambda", "0.01", out="ridge.json")
        self.fail_with(2, "anova", "small.json", "ridge.json", says=["lambda 0.01"])


class Text(RegressionTest):
    def test_the_summary_prints_ratios_columns_and_measures(self):
        self.estimate("visits", out="model.json")
        text = self.succeed("summary", "model.json").stdout
        for part in ("Rate ratios:", "exp(coef)", "region ", "Pr(>Chi)", "GVIF", "BIC: ", "(McFadden)", "Likelihood ratio of all columns"):
            self.assertIn(part, text)
        self.estimate("liver", out="model.json")
        text = self.succeed("summary", "model.json").stdout
        for part in ("R squared 0.", "adjusted 0.", "Pr(>F)"):
            self.assertIn(part, text)
        self.assertNotIn("ratios", text)

    def test_the_summary_says_which_errors_and_what_influence_there_is(self):
        self.estimate("liver", "--set", "errors=cluster", "--set", "influence=yes", out="model.json")
        text = self.succeed("summary", "model.json").stdout
        for part in ("clustered by person: 312 persons", "Pearson chi-square 35", "Sum of leverages 11; the largest is between",
                     "96 rows with a Cook's distance above 4/n"):
            self.assertIn(part, text)
        self.estimate("visits", "--set", "errors=HC3", out="model.json")
        self.assertIn("(Standard errors robust: HC3)", self.succeed("summary", "model.json").stdout)

    def test_a_file_of_an_earlier_version_has_a_summary_without_columns(self):
        self.estimate("visits", out="model.json")
        document = json.loads((self.path / "model.json").read_text())
        del document["estimates"]["terms"]
        self.write("model.json", json.dumps(document))
        text = self.succeed("summary", "model.json").stdout
        self.assertIn("Rate ratios:", text)
        self.assertNotIn("GVIF", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
