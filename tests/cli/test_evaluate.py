#!/usr/bin/env python3
"""Evaluation and model cards: every figure beside R's, for a file and for 1, 5 and 20 parties; hostile names in a card.

Figures of R are those in evaluate/figures.csv, or fresh ones where Rscript has pROC (evaluate/figures.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_evaluate.py [--update]
"""
import csv
import html.parser
import json
import math
import os
import re
import shutil
import subprocess
import sys
import unittest
from functools import cache
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

HERE = Path(__file__).resolve().parent / "evaluate"
EXAMPLES = HERE.parents[2] / "examples"
STORED = HERE / "figures.csv"
CELLS = 1000
COLON = """label: {name: died, classes: ["0", "1"]}
columns:
  - {name: rx, kind: category, levels: [Obs, Lev, Lev+5FU]}
  - {name: sex, kind: number, low: 0, high: 1}
  - {name: age, kind: number, low: 15, high: 90}
  - {name: nodes, kind: number, low: 0, high: 35}
  - {name: differ, kind: category, levels: ["1", "2", "3"]}
"""
PBC = """label: {name: death, classes: ["no", "yes"]}
missing: complete-case
columns:
  - {name: age, kind: number, low: 15, high: 90}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: albumin, kind: number, low: 1, high: 6}
  - {name: spiders, kind: category, levels: ["0", "1"]}
"""
BREAST = """columns:
  - {name: mean_texture, kind: number, low: 5, high: 45}
  - {name: mean_smoothness, kind: number, low: 0, high: 0.3}
"""
# Rows and schema; colon cancer is a data set of R's package survival, with factors and missing values.
CASES = {
    "wilms": (EXAMPLES / "wilms.csv", (EXAMPLES / "wilms.schema.yaml").read_text()),
    "breast": (EXAMPLES / "breast_cancer.csv", "label: {name: diagnosis, classes: [benign, malignant]}\n" + BREAST),
    "number": (EXAMPLES / "breast_cancer.csv", "label: {name: mean_perimeter, kind: number, low: 20, high: 250}\n" + BREAST),
    "colon": (None, COLON),
    "pbc": (EXAMPLES / "pbc.csv", PBC),
}


def r_has(package):
    return shutil.which("Rscript") is not None and subprocess.run(
        ["Rscript", "-e", f"library({package})"], capture_output=True, timeout=600).returncode == 0


@cache
def installed():
    return {"pROC": r_has("pROC"), "survival": r_has("survival")}


def table(report, name):
    found = next(each for each in report["tables"] if each["name"] == name)
    return {row["label"]: dict(zip(found["columns"], row["values"])) for row in found["rows"]}


class EvaluateTest(ProgramTest):
    def rows_of(self, case):
        file, schema = CASES[case]
        self.write(f"{case}.yaml", schema)
        if file is not None:
            return str(file)
        if not installed()["survival"]:
            self.skipTest("R has no package survival")
        subprocess.run(["Rscript", "-e", "rows <- subset(survival::colon, etype == 2); rows$died <- rows$status; "
                        "write.csv(rows[, c('rx', 'sex', 'age', 'nodes', 'differ', 'died')], 'colon.csv', row.names = FALSE)"],
                       cwd=self.path, check=True, capture_output=True, timeout=600)
        return "colon.csv"

    def make(self, case, *words, method="estimate"):
        """A model, and its rows."""
        rows = self.rows_of(case)
        self.succeed("simulate", "--method", method, "--train", rows, "--test", rows, "--schema", f"{case}.yaml",
                     "--parties", "3", "--seed", "1", "--out", "model.json", *words)
        return rows

    def gridded(self, case, rows):
        """What R reads: outcomes, and scores at the middles of their cells."""
        self.succeed("predict", "model.json", rows, "--out", "predicted.csv")
        predicted = list(csv.reader((self.path / "predicted.csv").read_text().splitlines()))[1:]
        schema = CASES[case][1]
        label = re.search(r"name: (\w+)", schema).group(1)
        actual = [row[label] for row in csv.DictReader((self.path / rows).read_text().splitlines())]
        with open(self.path / f"{case}.r.csv", "w") as out:
            if "classes" not in schema:
                print("response,mean", file=out)
                for number, (_, mean, *_) in zip(actual, predicted):
                    print(f"{number},{mean}", file=out)
                return
            positive = re.findall(r"\w+", re.search(r"classes: \[(.*)\]", schema).group(1))[1]
            print("y,p", file=out)
            for value, (*_, p) in zip(actual, predicted):
                cell = min(math.floor(float(p) * CELLS), CELLS - 1)
                print(f"{int(value == positive)},{(cell + 0.5) / CELLS!r}", file=out)

    def figures_of_r(self, case):
        if not installed()["pROC"]:
            text = STORED.read_text()
        else:
            text = subprocess.run(["Rscript", HERE / "figures.R", case, f"{case}.r.csv"], cwd=self.path, check=True,
                                  capture_output=True, text=True, timeout=600).stdout
        return {name: float(value) for which, name, value in list(csv.reader(text.splitlines()))[1:] if which == case}

    def check(self, report, expected, tolerance, group=""):
        """Of all rows, or "@stage=1": the tables of a subgroup."""
        figures, thresholds = table(report, "figures" + group), None
        for name, value in expected.items():
            row, _, at = name.partition("@")
            if at:
                thresholds = thresholds or [table(report, name + group) for name in ("thresholds", "threshold_intervals")]
                ours = thresholds[row.endswith(("_low", "_high"))][at][row]
            elif row in figures:
                ours = figures[row]["value"]
            else:
                row, _, column = row.rpartition("_")
                ours = figures[row][column]
            if math.isnan(value):
                self.assertIsNone(ours, name)
            else:
                self.assertLessEqual(abs(ours - value), tolerance * (1 + abs(value)), name)

    def check_curves(self, report, lines, group="", fewest=6):
        """Calibration and ROC by counting the scores that R has read."""
        scores = [(int(y), float(p)) for y, p in csv.reader(lines)]
        groups = table(report, "calibration" + group).values()
        self.assertEqual(sum(one["rows"] for one in groups), len(scores))
        for one in groups:
            inside = [(y, p) for y, p in scores if one["from"] <= p < one["until"]]
            self.assertEqual(len(inside), one["rows"])
            self.assertAlmostEqual(sum(p for _, p in inside) / len(inside), one["predicted"], places=9)
            self.assertAlmostEqual(sum(y for y, _ in inside) / len(inside), one["observed"], places=9)
        positives = sum(y for y, _ in scores)
        points = next(each for each in report["tables"] if each["name"] == "roc" + group)
        places = {name: points["columns"].index(name) for name in points["columns"]}
        self.assertGreaterEqual(len(points["rows"]), fewest)
        for row in points["rows"]:
            threshold, false, true = (row["values"][places[name]] for name in ("threshold", "false_positives", "sensitivity"))
            if threshold is None:
                continue
            self.assertAlmostEqual(sum(y for y, p in scores if p >= threshold) / positives, true, places=9)
            self.assertAlmostEqual(sum(1 - y for y, p in scores if p >= threshold) / (len(scores) - positives), false, places=9)

    def simulate(self, case, rows, parties, *words, method="evaluate-exact"):
        return json.loads(self.succeed("simulate", "--method", method, "--model", "model.json", "--train", rows, "--test", rows,
                                       "--schema", f"{case}.yaml", "--parties", str(parties), "--seed", "1", "--json",
                                       *words).stdout)["report"]


class AgainstR(EvaluateTest):
    def check_case(self, case):
        rows = self.make(case)
        self.gridded(case, rows)
        expected = self.figures_of_r(case)
        self.assertGreaterEqual(len(expected), 7)
        whole = json.loads(self.succeed("evaluate", "model.json", rows, "--json").stdout)["report"]
        self.check(whole, expected, 1e-8)
        for parties in (1, 5, 20):
            report = self.simulate(case, rows, parties, "--set", "least=1")
            self.check(report, expected, 1e-6)
            if "classes" in CASES[case][1]:
                self.check_curves(report, (self.path / f"{case}.r.csv").read_text().splitlines()[1:])

    def test_wilms_tumours(self):
        self.check_case("wilms")

    def test_breast_cancer(self):
        self.check_case("breast")

    def test_colon_cancer_with_factors_and_missing_values(self):
        self.check_case("colon")

    def test_a_numeric_response(self):
        self.check_case("number")


class MoreClasses(EvaluateTest):
    """Four stages: the table of classes is that of the predictions, and each class's area that of its own probability."""
    SCHEMA = """label: {name: stage, classes: ["1", "2", "3", "4"]}
columns:
  - {name: unfavourable, kind: number, low: 0, high: 1}
  - {name: age, kind: number, low: 0, high: 120}
  - {name: relapse, kind: category, levels: ["no", "yes"]}
"""

    def test_accuracy_confusion_and_areas(self):
        rows = str(EXAMPLES / "wilms.csv")
        self.write("stage.yaml", self.SCHEMA)
        self.succeed("simulate", "--method", "batch", "--train", rows, "--test", rows, "--schema", "stage.yaml", "--parties", "1",
                     "--lambda", "0.001", "--seed", "1", "--out", "model.json")
        self.succeed("predict", "model.json", rows, "--out", "predicted.csv")
        predicted = list(csv.reader((self.path / "predicted.csv").read_text().splitlines()))[1:]
        actual = [row["stage"] for row in csv.DictReader(Path(rows).read_text().splitlines())]
        reports = [json.loads(self.succeed("evaluate", "model.json", rows, "--json").stdout)["report"]]
        reports += [self.simulate("stage", rows, parties, "--set", "least=1") for parties in (1, 5, 20)]
        for report in reports:
            confusion = table(report, "confusion")
            for a in "1234":
                for b in "1234":
                    count = sum(y == a and row[1] == b for y, row in zip(actual, predicted))
                    self.assertEqual(confusion[a][b], count)
            right = sum(y == row[1] for y, row in zip(actual, predicted)) / len(actual)
            self.assertAlmostEqual(table(report, "figures")["accuracy"]["value"], right, places=12)
            for k, name in enumerate("1234"):
                scores = {True: {}, False: {}}
                for y, row in zip(actual, predicted):
                    cell = min(math.floor(float(row[2 + k]) * CELLS), CELLS - 1)
                    scores[y == name][cell] = scores[y == name].get(cell, 0) + 1
                pairs = sum(n * m * (1 if a > b else 0.5 if a == b else 0)
                            for a, n in scores[True].items() for b, m in scores[False].items())
                area = pairs / sum(scores[True].values()) / sum(scores[False].values())
                self.assertAlmostEqual(table(report, "classes")[name]["auc"], area, places=10)


class Subgroups(EvaluateTest):
    def check_subgroups(self, case, column, levels, *words, method="estimate"):
        rows = self.make(case, *words, method=method)
        reports = [json.loads(self.succeed("evaluate", "model.json", rows, "--by", column, "--json").stdout)["report"]]
        reports += [self.simulate(case, rows, parties, "--set", f"by={column}") for parties in (1, 5, 20)]
        head, *lines = (self.path / rows).read_text().splitlines()
        at = head.replace('"', "").split(",").index(column)
        for level in levels:
            self.write("part.csv", "\n".join([head] + [line for line in lines if line.split(",")[at].strip('"') == level]) + "\n")
            alone = json.loads(self.succeed("evaluate", "model.json", "part.csv", "--json").stdout)["report"]
            for one in reports:
                line = table(one, "subgroups")[f"{column}={level}"]
                self.assertAlmostEqual(line["auc"], table(alone, "figures")["auc"]["value"], places=10)
                self.assertAlmostEqual(line["brier"], table(alone, "figures")["brier"]["value"], places=10)
                self.assertEqual(line["rows"], table(alone, "figures")["rows"]["value"])

    def test_each_subgroup_has_the_figures_of_its_own_rows(self):
        self.check_subgroups("wilms", "stage", "1234")

    def test_so_it_is_at_another_set_with_factors(self):
        self.check_subgroups("colon", "rx", ("Obs", "Lev", "Lev+5FU"))

    def test_and_in_a_third_with_missing_values(self):
        self.check_subgroups("pbc", "sex", "fm")

    def test_a_model_with_terms_has_subgroups_of_any_category(self):
        self.check_subgroups("wilms", "stage", "1234", "--terms", "relapse ~ unfavourable*stage + spline(age, df = 3)")
        self.check_subgroups("wilms", "stage", "1234", "--terms", "relapse ~ unfavourable + log(age + 1)")  # not of the terms
        self.check_subgroups("wilms", "stage", "1234", "--terms", "relapse ~ .")

    def test_and_so_it_has_where_rows_are_shortened(self):
        self.addCleanup(CASES.update, wilms=CASES["wilms"])
        for clip in ("0.9", "1.5"):
            CASES["wilms"] = (EXAMPLES / "wilms.csv", (EXAMPLES / "wilms.schema.yaml").read_text() + f"rows: {{clip: {clip}}}\n")
            self.check_subgroups("wilms", "stage", "1234", "--terms", "relapse ~ unfavourable*stage + age", "--lambda", "0.01",
                                 method="batch")

    def test_a_subset_is_the_rows_of_a_subgroup(self):
        rows = self.make("wilms", "--terms", "relapse ~ unfavourable*stage + age")
        groups = table(self.simulate("wilms", rows, 3, "--set", "by=stage"), "subgroups")
        alone = table(self.simulate("wilms", rows, 3, "--subset", 'stage == "2"'), "figures")
        for name, column in (("rows", "rows"), ("auc", "auc"), ("brier", "brier"), ("calibration_slope", "slope")):
            self.assertAlmostEqual(alone[name]["value"], groups["stage=2"][column], places=10)
        noisy = self.simulate("wilms", rows, 3, "--subset", 'stage == "2"', "--epsilon", "4", "--delta", "1e-5", method="evaluate")
        self.assertLess(abs(table(noisy, "figures")["rows"]["value"] - alone["rows"]["value"]), 400)
        self.simulate("wilms", rows, 3, "--epsilon", "4", "--delta", "1e-5", "--out", "noisy.json", method="evaluate")
        self.assertRegex(self.succeed("summary", "noisy.json").stdout, r"^about \d+ \(\d+(\.\d+)?\) rows; private")

    def test_a_model_of_some_rows_is_evaluated_on_such(self):
        rows = self.make("wilms", "--terms", "relapse ~ unfavourable + age", "--subset", 'stage == "2"')
        whole = json.loads(self.succeed("evaluate", "model.json", rows, "--json").stdout)["report"]
        self.assertEqual(table(self.simulate("wilms", rows, 3), "figures")["rows"], table(whole, "figures")["rows"])

    def test_what_is_left_out_does_not_follow_from_the_rest(self):
        """Four rows of no level: all rows less those of the levels would be these four."""
        rows = self.make("wilms")
        head, *lines = Path(rows).read_text().splitlines()
        at = head.split(",").index("stage")
        cells = [line.split(",") for line in lines]
        for row in cells[:4]:
            row[at] = "unknown"
        self.write("unknown.csv", "\n".join([head] + [",".join(row) for row in cells]) + "\n")
        counts = {level: sum(row[at] == level for row in cells) for level in "1234"}
        smallest = min(counts, key=counts.get)
        for parties in (1, 5):
            lines = table(self.simulate("wilms", "unknown.csv", parties, "--set", "by=stage"), "subgroups")
            for level in "1234":
                line = lines[f"stage={level}"]
                if level == smallest:
                    self.assertEqual(set(line.values()), {None})
                else:
                    self.assertEqual(line["rows"], counts[level])
                    self.assertIsNotNone(line["auc"])
            self.assertEqual(set(lines["stage: no level"].values()), {None})

    def test_wrong_wishes_are_refused_with_a_sentence(self):
        rows = self.make("wilms")
        self.fail_with(2, "evaluate", "model.json", rows, "--by", "age", says=("'age'",))
        self.fail_with(2, "evaluate", "model.json", rows, "--thresholds", "0.1,x", says=("'x'",))
        about = ("--train", rows, "--schema", "wilms.yaml", "--parties", "2", "--seed", "1")
        self.fail_with(2, "simulate", "--method", "evaluate-exact", "--model", "model.json", *about, "--terms", "relapse ~ age",
                       says=("another schema", '[terms: "relapse ~ age"]'))
        self.fail_with(2, "simulate", "--method", "estimate", *about, "--terms", "relapse ~ age + subgroups(stage)",
                       says=("leave subgroups() out",))
        self.make("wilms", "--terms", "relapse ~ stage + age")
        self.fail_with(2, "evaluate", "model.json", rows, "--by", "age", says=("a category of the model's schema, and 'age' is none",))
        self.fail_with(2, "simulate", "--method", "evaluate", "--train", rows, "--schema", "wilms.yaml", "--parties", "2",
                       "--epsilon", "1", "--seed", "1", says=("needs a model",))


class GroupsAgainstR(EvaluateTest):
    """Figures by declared subgroup and by site, for 1, 5 and 20 parties, beside those that R's pROC and glm have of the same rows."""
    SETS = {"wilms": "stage", "colon": "rx", "pbc": "sex"}
    MISSING = {"", "NA", "?"}
    TOLERANCE = 1e-6
    PARTIES = (1, 5, 20)

    def scored(self, case, rows):
        """Each row that has a score: its cells, and what R reads of it."""
        text = list(csv.DictReader((self.path / rows).read_text().splitlines()))
        if "complete-case" in CASES[case][1]:
            used = re.findall(r"\{name: (\w+)", CASES[case][1])
            text = [row for row in text if not any(row[name] in self.MISSING for name in used)]
            self.write("scored.csv", "\n".join([",".join(text[0])] + [",".join(row.values()) for row in text]) + "\n")
            rows = "scored.csv"
        self.gridded(case, rows)
        lines = (self.path / f"{case}.r.csv").read_text().splitlines()[1:]
        self.assertEqual(len(lines), len(text))
        return list(zip(text, lines))

    def lines_of_groups(self, scored, column):
        """What R reads of each group, by its label."""
        groups = {}
        for row, line in scored:
            if row[column] not in self.MISSING:
                groups.setdefault(f"{column}={row[column]}", []).append(line)
        return groups

    def groups_of_r(self, case, scored, column):
        """R's figures of each group, by its label; those at thresholds of subgroups alone, not of sites."""
        groups = self.lines_of_groups(scored, column)
        words = []
        for number, (label, lines) in enumerate(sorted(groups.items())):
            self.write(f"group{number}.csv", "\n".join(["y,p"] + lines) + "\n")
            words += [f"{case}:{label}", f"group{number}.csv"]
        text = STORED.read_text() if not installed()["pROC"] else subprocess.run(
            ["Rscript", HERE / "figures.R", *words], cwd=self.path, check=True, capture_output=True, text=True, timeout=600).stdout
        found = {label: {"rows": len(lines)} for label, lines in groups.items()}
        for which, name, value in list(csv.reader(text.splitlines()))[1:]:
            label = which.partition(":")[2]
            if which.startswith(f"{case}:{column}=") and label in found and (column != "site" or "@" not in name):
                found[label][name] = float(value)
        return found

    def check_groups(self, report, expected):
        ours = table(report, "subgroups")
        self.assertEqual(len([label for label in ours if "no level" not in label]), len(expected))
        for label, theirs in expected.items():
            line = ours[label]
            half = 1.959963984540054 * theirs["calibration_slope_error"]
            theirs = {**{name: theirs[name] for name in ("rows", "auc", "auc_low", "auc_high", "brier")},
                      "slope": theirs["calibration_slope"], "slope_low": theirs["calibration_slope"] - half,
                      "slope_high": theirs["calibration_slope"] + half, "in_the_large": theirs["calibration_in_the_large"]}
            for name, value in theirs.items():
                self.assertLessEqual(abs(line[name] - value), self.TOLERANCE * (1 + abs(value)), f"{label} {name}")

    def check_subgroups(self, case):
        """The table of subgroups, and each one's own tables: figures, thresholds with their intervals, calibration and ROC."""
        rows, column = self.make(case), self.SETS[case]
        scored = self.scored(case, rows)
        expected, lines = self.groups_of_r(case, scored, column), self.lines_of_groups(scored, column)
        for parties in self.PARTIES:
            report = self.simulate(case, rows, parties, "--set", f"by={column}", "--set", "least=1")
            self.check_groups(report, expected)
            for label, figures in expected.items():
                self.assertEqual(sum("@" in name for name in figures), 45)
                self.check(report, {name: value for name, value in figures.items() if name != "rows"}, self.TOLERANCE, f"@{label}")
                self.check_curves(report, lines[label], f"@{label}", fewest=4)

    def with_sites(self, rows, sites):
        """The same rows, dealt out to sites in turn."""
        head, *lines = (self.path / rows).read_text().splitlines()
        self.write(f"sites{sites}.csv", "\n".join([head + ",site"] + [f"{line},{1 + i % sites}" for i, line in enumerate(lines)]) + "\n")
        return f"sites{sites}.csv"

    def check_sites(self, case):
        rows = self.make(case)
        for sites in self.PARTIES:
            file = self.with_sites(rows, sites)
            expected = self.groups_of_r(f"{case}{sites}", self.scored(case, file), "site")
            report = json.loads(self.succeed("simulate", "--method", "evaluate-exact", "--model", "model.json", "--train", file, "--test", file, "--schema",
                                             f"{case}.yaml", "--split", "by:site", "--seed", "1", "--json", "--set", "sites=apart", "--set", "least=1").stdout)["report"]
            if sites > 1:
                self.check_groups(report, expected)
            else:  # its figures are those of all rows
                self.check(report, {name: value for name, value in expected["site=1"].items() if name != "rows"}, self.TOLERANCE)

    def test_wilms_tumours_by_stage(self):
        self.check_subgroups("wilms")

    def test_colon_cancer_by_arm(self):
        self.check_subgroups("colon")

    def test_liver_cirrhosis_by_sex_with_missing_values(self):
        self.check_subgroups("pbc")

    def test_wilms_tumours_by_site(self):
        self.check_sites("wilms")

    def test_colon_cancer_by_site(self):
        self.check_sites("colon")

    def test_liver_cirrhosis_by_site_with_missing_values(self):
        self.check_sites("pbc")


class Private(EvaluateTest):
    def test_noise_is_in_every_number_and_said(self):
        """The seed is given, so the noise is always the same."""
        rows = self.make("wilms")
        exact = self.simulate("wilms", rows, 5, "--set", "cells=20")
        noisy = self.simulate("wilms", rows, 5, "--epsilon", "1", "--delta", "1e-5", method="evaluate")
        self.assertEqual(noisy["mode"], "private")
        self.assertTrue(noisy["guarantee"]["private"])
        found = next(each for each in noisy["tables"] if each["name"] == "figures")
        errors = {row["label"]: row["noise_errors"][0] for row in found["rows"]}
        for name in ("auc", "brier", "log_loss", "calibration_slope"):
            away = abs(table(noisy, "figures")[name]["value"] - table(exact, "figures")[name]["value"])
            self.assertLess(away, 5 * errors[name], name)
        self.assertLess(errors["auc"], 0.03)


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


class Card(EvaluateTest):
    def test_a_card_has_all_parts(self):
        rows = self.make("wilms")
        self.succeed("evaluate", "model.json", rows, "--out", "evaluation.json")
        self.succeed("card", "model.json", "--evaluation", "evaluation.json", "--out", "card.md")
        text = (self.path / "card.md").read_text()
        for part in ("# Model card", "## What it is", "## Columns", "## Data", "## Coefficients", "| unfavourable | 1.3591 |",
                     "## Evaluation", "| auc | 0.72977 |", "## Guarantee", "## Who took part", "3 parties", "## Limits"):
            self.assertIn(part, text)
        document = json.loads(self.succeed("card", "model.json", "--evaluation", "evaluation.json", "--json", "--party", "St. Anna, Vienna",
                                           "--party", "B").stdout)
        self.assertEqual(document["parties"], ["St. Anna, Vienna", "B"])
        self.assertEqual(table(document["evaluation"], "figures")["rows"]["value"], 4028)
        self.assertEqual(document["guarantee"]["private"], False)
        self.fail_with(2, "card", "evaluation.json", says=("is a report",))
        self.fail_with(2, "card", "model.json", "--evaluation", "model.json", says=("report",))

    def test_a_card_takes_several_evaluations_and_says_whose_rows_they_are_of(self):
        rows = self.make("wilms")
        self.succeed("evaluate", "model.json", rows, "--out", "all.json")
        self.succeed("evaluate", "model.json", rows, "--by", "stage", "--out", "stages.json")
        for name in ("model", "stages"):  # as if they were of one study
            document = json.loads((self.path / f"{name}.json").read_text())
            document["guarantee"]["study"] = "relapse"
            self.write(f"{name}.json", json.dumps(document))
        text = self.succeed("card", "model.json", "--evaluation", "all.json", "--evaluation", "stages.json").stdout
        first, second = text.partition("## Evaluation 1")[2].split("## Evaluation 2: study relapse")
        self.assertIn("do not say whether the model was trained on these rows", first)
        self.assertNotIn("stage=2", first.partition("| auc")[2])
        self.assertIn("On rows that the model may have been trained on", second)
        self.assertIn("stage=2", second)
        self.assertIn("It was evaluated on rows that it may have been trained on", second)  # among the limits
        document = json.loads(self.succeed("card", "model.json", "--evaluation", "all.json", "--evaluation", "stages.json", "--json").stdout)
        self.assertEqual([(one["study"], one["rows"]) for one in document["evaluations"]], [("", "unknown"), ("relapse", "maybe trained on")])
        self.assertEqual(document["evaluation"], document["evaluations"][0]["report"])

    def test_a_card_says_which_terms_and_rows_a_model_is_of(self):
        words = ["simulate", "--method", "estimate", "--train", EXAMPLES / "wilms.csv", "--test", EXAMPLES / "wilms.csv", "--schema",
                 EXAMPLES / "wilms.schema.yaml", "--parties", "3", "--seed", "1"]
        formula = "relapse ~ unfavourable * stage + offset(log(age + 1))"
        self.succeed(*words, "--terms", formula, "--subset", "age > 30", "--out", "model.json")
        text = html.unescape(self.succeed("card", "model.json").stdout.replace("\\", ""))
        self.assertIn(f"**Terms**: {formula}", text)
        self.assertIn("**Rows**: age > 30", text)
        document = json.loads(self.succeed("card", "model.json", "--json").stdout)
        self.assertEqual((document["terms"], document["subset"]), (formula, "age > 30"))
        self.make("wilms")
        self.assertIn("**Terms**: each column by itself", self.succeed("card", "model.json").stdout)
        self.assertIsNone(json.loads(self.succeed("card", "model.json", "--json").stdout)["terms"])

    def test_names_from_outside_stay_text(self):
        self.write("rows.csv", "<script>alert(1)</script>,[a](http://evil)|b,y\n" +
                   "".join(f"{i % 7},{'<img src=x>' if i % 3 else '*bold*'},{'</td>' if (i * i) % 5 > 1 else '`no`'}\n" for i in range(60)))
        self.write("schema.yaml", """label: {name: y, classes: ["`no`", "</td>"]}
columns:
  - {name: "<script>alert(1)</script>", kind: number, low: 0, high: 7}
  - {name: "[a](http://evil)|b", kind: category, levels: ["<img src=x>", "*bold*"]}
""")
        self.succeed("simulate", "--method", "batch", "--train", "rows.csv", "--test", "rows.csv", "--schema", "schema.yaml", "--parties",
                     "2", "--lambda", "0.01", "--seed", "1", "--out", "model.json")
        self.succeed("evaluate", "model.json", "rows.csv", "--by", "[a](http://evil)|b", "--out", "evaluation.json")
        for name in ("card.html", "card.md"):
            self.succeed("card", "model.json", "--evaluation", "evaluation.json", "--out", name)
        page = Links()
        page.feed((self.path / "card.html").read_text())
        self.assertLessEqual({tag for tag, _ in page.tags}, {"html", "meta", "style", "title", "h1", "h2", "p", "ul", "li", "b",
                                                             "table", "tr", "th", "td", "figure", "figcaption", "svg", "path",
                                                             "polyline"})
        self.assertEqual([tag for tag, _ in page.tags].count("polyline"), 2)
        for tag, attributes in page.tags:
            self.assertLessEqual(set(attributes), {"lang", "charset", "http-equiv", "content", "name", "class", "viewbox", "width",
                                                    "height", "role", "d", "fill", "stroke", "stroke-width", "points"})
        marked = (self.path / "card.md").read_text()
        self.assertNotIn("<", marked)
        self.assertNotRegex(marked, r"(?<!\\)\[a")
        self.assertNotRegex(marked, r"http:/")
        for line in marked.splitlines():  # a bar in a name adds no cell
            if line.startswith("| \\[a"):
                self.assertRegex(line, r"\\\|")


def update():
    """Write R's figures down."""
    test = GroupsAgainstR()
    lines = ["case,name,value"]
    for case in (case for case in CASES if case != "pbc"):  # of pbc, subgroups alone
        test.setUp()
        rows = test.make(case)
        test.gridded(case, rows)
        lines += [f"{case},{name},{value!r}" for name, value in test.figures_of_r(case).items()]
        test.doCleanups()
    for case, column in test.SETS.items():
        test.setUp()
        rows = test.make(case)
        wanted = [(case, rows, column)] + [(f"{case}{sites}", test.with_sites(rows, sites), "site") for sites in test.PARTIES]
        for which, file, by in wanted:
            for label, figures in test.groups_of_r(which, test.scored(case, file), by).items():
                lines += [f"{which}:{label},{name},{value!r}" for name, value in figures.items() if name != "rows"]
        test.doCleanups()
    STORED.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
