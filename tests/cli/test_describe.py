#!/usr/bin/env python3
"""`tacit describe` beside R's mean, sd, table, quantile, hist and chisq.test, what a release costs and leaves, and the schema that is proposed of it.

Figures of R are those in describe/describe.csv, or fresh ones where Rscript is installed (describe/describe.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_describe.py
"""
import csv
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import TACIT, ProgramTest

HERE = Path(__file__).resolve().parent / "describe"
EXAMPLES = HERE.parents[2] / "examples"
SETS = {"wilms": ("relapse", "stage*relapse"), "lung": ("died", "sex*died,ecog*died"), "liver": ("death", "sex*death,stage*death")}
CELLS = 256
RANGES = {"wilms": {"unfavourable": 1, "late_unfavourable": 1, "age": 240, "study": 1},
          "lung": {"age": 82, "karnofsky": 100, "karnofsky_patient": 100, "calories": 4000, "weight_loss": 150},
          "liver": {"age": 70, "bili": 40, "chol": 2000, "albumin": 5, "copper": 600}}
LIVER = """label: {name: death, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 20, high: 90}
  - {name: bili, kind: number, low: 0, high: 40}
  - {name: chol, kind: number, low: 0, high: 2000}
  - {name: albumin, kind: number, low: 1, high: 6}
  - {name: copper, kind: number, low: 0, high: 600}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: stage, kind: category, levels: ["1", "2", "3", "4"]}
"""
FOLDER = tempfile.TemporaryDirectory(prefix="tacit-describe-")


def file_of(name):
    """Of pbc.csv some columns, the label last."""
    if name != "liver":
        return EXAMPLES / f"{name}.csv"
    columns = re.findall(r"- .name: (\w+)", LIVER) + ["death"]
    path = Path(FOLDER.name) / "liver.csv"
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(csv.DictReader((EXAMPLES / "pbc.csv").read_text().splitlines()))
    return path


def figures_of_r():
    if shutil.which("Rscript"):
        text = subprocess.run(["Rscript", HERE / "describe.R", *map(file_of, SETS)], capture_output=True,
                              text=True, check=True, timeout=600).stdout
    else:
        text = (HERE / "describe.csv").read_text()
    return [(name, table, row, column, float(value)) for name, table, row, column, value in csv.reader(text.splitlines())]


def values(report):
    """{(table, row, column): value}"""
    return {(table["name"], row["label"], column): value for table in report["tables"] for row in table["rows"]
            for column, value in zip(table["columns"], row["values"])}


class DescribeTest(ProgramTest):
    def tacit(self, *words, **more):
        kept = {name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS")}
        environment = {"PATH": os.environ.get("PATH", ""), "TERM": "dumb", "COLUMNS": "80", **kept, "TACIT_HOME": str(self.path / "home")}
        return subprocess.run([TACIT, *words], capture_output=True, text=True, cwd=self.path, env=environment, timeout=600, **more)

    def rows(self, name):
        return ["--data", EXAMPLES / f"{name}.csv", "--schema", EXAMPLES / f"{name}.schema.yaml"]

    def describe(self, *words):
        return json.loads(self.succeed("describe", *words, "--json").stdout)


class AgainstR(DescribeTest):
    def test_every_number_of_three_sets_over_1_5_and_20_parties(self):
        figures = figures_of_r()
        schema = (EXAMPLES / "wilms.schema.yaml").read_text()
        self.write("wider.yaml", schema.replace("high: 120", "high: 240"))  # a value beyond its bounds counts at the bound
        self.assertGreater(len(figures), 1200)
        self.assertGreater(sum(table == "gridded" for _, table, *_ in figures), 400)
        for parties in (1, 5, 20):
            schemas = {"wilms": "wider.yaml", "lung": EXAMPLES / "lung.schema.yaml",
                       "liver": self.write("liver.yaml", LIVER)}
            found = {name: values(self.describe("--data", file_of(name), "--schema", schemas[name], "--by", by, "--cross", cross,
                                                "--threshold", "0", "--parties", str(parties)))
                     for name, (by, cross) in SETS.items()}
            for name, table, row, column, theirs in figures:
                ours = found[name]["quantiles" if table == "gridded" else table, row, column]
                with self.subTest(parties=parties, set=name, row=row, column=column):
                    if table == "quantiles":  # of the rows themselves: within a cell of the grid
                        self.assertLessEqual(abs(ours - theirs), RANGES[name][row.split(" [")[0]] / CELLS * 1.000001)
                    else:
                        self.assertLessEqual(abs(ours - theirs), 1e-6 * abs(theirs) + 1e-12)


    def test_files_of_parties_may_lack_values_where_the_first_has_all(self):
        self.write("schema.yaml", 'label: {name: y, classes: ["no", "yes"]}\ncolumns:\n  - {name: a, kind: number, low: 0, high: 100}\n')
        self.write("first.csv", "a,y\n" + "".join(f"{k},{'yes' if k % 2 else 'no'}\n" for k in range(40)))
        self.write("second.csv", "a,y\n" + "".join(f"{'' if k < 15 else k},{'yes' if k % 2 else 'no'}\n" for k in range(40)))
        self.succeed("simulate", "--method", "describe-exact", "--party", "first.csv", "--party", "second.csv", "--test", "first.csv", "--schema",
                     "schema.yaml", "--set", "threshold=0", "--seed", "1", "--out", "look.json")
        found = values(json.loads(self.succeed("summary", "look.json", "--json").stdout))
        self.assertEqual((found["numbers", "a", "count"], found["numbers", "a", "missing"]), (65, 15))
        self.assertAlmostEqual(found["numbers", "a", "mean"], (sum(range(40)) + sum(range(15, 40))) / 65, places=6)

    def test_figures_of_sites_are_those_of_their_rows(self):
        """Sites that are the levels of the label: R's figures by label, and those of all rows."""
        for name, (label, _) in list(SETS.items())[:2]:
            levels = {line.rsplit(",", 1)[1] for line in (EXAMPLES / f"{name}.csv").read_text().splitlines()[1:]}
            self.succeed("simulate", "--method", "describe-exact", "--train", EXAMPLES / f"{name}.csv", "--test", EXAMPLES / f"{name}.csv", "--schema",
                         EXAMPLES / f"{name}.schema.yaml", "--split", f"by:{label}", "--set", "sites=apart", "--set", "threshold=0", "--seed", "1",
                         "--out", f"{name}.json")
            found = values(json.loads(self.succeed("summary", f"{name}.json", "--json").stdout))
            theirs = {(row, column): value for set_, table, row, column, value in figures_of_r()
                      if set_ == name and table == "numbers" and column in ("mean", "sd")}
            for column in ("mean", "sd"):
                for number in {row for row, _ in theirs if "[" not in row} - {"age" if name == "wilms" else ""}:  # beyond its bounds
                    ours = sorted(found["numbers", f"{number} [site={k + 1}]", column] for k in range(len(levels)))
                    r = sorted(theirs[f"{number} [{label}={level}]", column] for level in levels)
                    for a, b in zip(ours, r):
                        self.assertLessEqual(abs(a - b), 1e-6 * abs(b) + 1e-12, (number, column))


class Exact(DescribeTest):
    def test_small_cells_are_left_out_and_do_not_follow_from_the_rest(self):
        report = values(self.describe(*self.rows("lung"), "--threshold", "5"))
        levels = {row: value for (table, row, column), value in report.items() if table == "levels" and column == "count"}
        self.assertIsNone(levels["ecog=3"])  # one patient
        self.assertIsNone(levels["ecog=2"])  # else it would follow
        self.assertEqual(levels["ecog=0"], 63)

    def by_group(self, name, by, table, threshold):
        """Counts of a table by group: {variable: {group or "": {cell: count}}}."""
        found = {}
        for (where, row, column), value in values(self.describe(*self.rows(name), "--by", by, "--threshold", str(threshold))).items():
            if where != table or column not in ("count", "missing"):
                continue
            cell, group = column, re.search(r" \[[^]]*\]", row)
            if table == "levels":
                cell = row.replace(group[0] if group else "", "")
            if table == "histograms":
                cell = row.rsplit(": ", 1)[1]
            variable = re.split(r" \[|=|: ", row)[0]
            found.setdefault(variable, {}).setdefault(group[0] if group else "", {})[cell] = value
        return found

    def test_small_cells_of_a_group_do_not_follow_from_all_rows_and_the_other_groups(self):
        """What is hidden of the groups of a variable is a rectangle of which no small count follows: src/method/tables/describe_hide.c."""
        hidden = 0
        for name, by in (("lung", "died"), ("lung", "sex"), ("lung", "ecog"), ("wilms", "stage")):
            for table in ("histograms", "levels", "numbers"):
                for threshold in (2, 10, 40):
                    truth, shown = (self.by_group(name, by, table, t) for t in (0, threshold))
                    for variable, groups in shown.items():
                        if len(truth[variable]) > 1 and len(groups) == 1:  # a group is too small: no groups
                            self.assertEqual(by, "ecog")
                            continue
                        groups = {group: cells for group, cells in groups.items() if None not in truth[variable][group].values()}  # those with rows
                        lost = {cell for group, cells in groups.items() if group for cell, value in cells.items() if value is None}
                        for group, cells in groups.items():
                            with self.subTest(set=name, by=by, table=table, threshold=threshold, variable=variable, group=group):
                                whole = truth[variable][group]
                                for cell, value in cells.items():
                                    self.assertFalse(value is not None and 0 < value < threshold, cell)
                                gone = {cell for cell, value in cells.items() if value is None}
                                if group:
                                    self.assertEqual(gone, lost)
                                if gone and table != "numbers":
                                    rest = sum(whole[cell] for cell in gone)
                                    self.assertTrue(len(gone) > 1 and (rest == 0 or rest >= threshold or len(gone) == len(cells)), rest)
                                hidden += len(gone)
        self.assertGreater(hidden, 50)

    def test_karnofsky_of_few_survivors_does_not_follow(self):
        """All 25, of whom 21 died: the control has both, and so the 4."""
        def cell(report, group):
            return report["histograms", f"karnofsky{group}: 50 to 62.5", "count"]
        told, hidden = (values(self.describe(*self.rows("lung"), "--by", "died", "--threshold", t)) for t in ("0", "10"))
        self.assertEqual([cell(told, group) for group in ("", " [died=yes]", " [died=no]")], [25, 21, 4])
        self.assertEqual([cell(hidden, group) for group in ("", " [died=yes]", " [died=no]")], [25, None, None])

    def test_without_a_group_of_enough_rows_there_are_no_groups(self):
        report = self.describe(*self.rows("lung"), "--by", "ecog")
        self.assertNotIn("[ecog=", json.dumps(report["tables"]))
        self.assertIn("left out: a group is too small", json.dumps(report))

    def test_a_cross_table_with_a_small_cell_is_left_out_with_its_test(self):
        report = values(self.describe(*self.rows("lung"), "--cross", "ecog*died,sex*died"))
        cells = {key: value for key, value in report.items() if key[0] == "cross:ecog*died"}
        self.assertEqual(set(cells.values()), {None})
        self.assertIsNone(report["tests", "ecog*died", "chi-square"])
        self.assertGreater(report["tests", "sex*died", "chi-square"], 1)

    def test_files_and_text(self):
        done = self.succeed("describe", *self.rows("lung"), "--out", "report.json", "--csv", "report.csv")
        self.assertIn("calories", done.stdout)
        rows = list(csv.DictReader((self.path / "report.csv").read_text().splitlines()))
        self.assertEqual([row["value"] for row in rows if row["table"] == "numbers" and row["row"] == "calories" and row["column"] == "missing"],
                         ["47"])
        self.assertEqual(self.succeed("summary", "report.json").stdout, done.stdout)
        self.fail_with(2, "predict", "report.json", EXAMPLES / "lung.csv", says=["predicts nothing"])
        self.fail_with(2, "evaluate", "report.json", EXAMPLES / "lung.csv", says=["predicts nothing"])
        self.fail_with(2, "export", "report.json", "--format", "pmml", says=["predicts nothing"])

    def test_a_schema_from_exact_numbers_is_marked(self):
        self.succeed("describe", *self.rows("lung"), "--propose-schema", "next.yaml")
        text = (self.path / "next.yaml").read_text()
        self.assertIn("mean: 928.8, sd: 402, from: rows", text)
        self.assertIn("not private", text)


class Missing(DescribeTest):
    """missing=counted: what was dropped and what was filled, of a schema that leaves rows out."""
    SCHEMA = """label: {name: death, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 20, high: 90}
  - {name: chol, kind: number, low: 0, high: 2500}
  - {name: copper, kind: number, low: 0, high: 600, missing: {fill: 100}}
  - {name: stage, kind: category, levels: ["1", "2", "3", "4"]}
missing: complete-case
"""

    def sites(self, count):
        """The truth, in Python, and a file a site."""
        self.write("pbc.yaml", self.SCHEMA)
        rows = list(csv.DictReader((EXAMPLES / "pbc.csv").read_text().splitlines()))
        words = []
        for site in range(count):
            with open(self.path / f"site{site}.csv", "w", newline="") as out:
                writer = csv.DictWriter(out, rows[0].keys())
                writer.writeheader()
                writer.writerows(rows[site::count])
            words += ["--party", f"site{site}.csv"]
        truth = {f"{name}: {rule}": sum(row[name] == "" for row in rows)
                 for name, rule in (("age", "complete-case"), ("chol", "complete-case"), ("copper", "fill"),
                                    ("stage", "complete-case"), ("death", "complete-case"))}
        truth["rows left out"] = sum("" in (row["age"], row["chol"], row["stage"], row["death"]) for row in rows)
        return truth, words

    def counted(self, method, words, *more):
        done = self.succeed("simulate", "--method", method, *words, "--test", "site0.csv", "--schema", "pbc.yaml", "--set",
                            "missing=counted", "--json", *more)
        found = next(table for table in json.loads(done.stdout)["report"]["tables"] if table["name"] == "missing")
        return {row["label"]: (row["values"][0], (row.get("noise_errors") or [None])[0]) for row in found["rows"]}

    def test_exact_counts_are_those_of_the_files_over_1_5_and_20_parties(self):
        for parties in (1, 5, 20):
            truth, words = self.sites(parties)
            self.assertGreater(truth["rows left out"], 100)
            found = self.counted("describe-exact", words, "--seed", "1", "--set", "threshold=0")
            self.assertEqual({row: value for row, (value, _) in found.items()}, truth)
        self.assertIsNone(self.counted("describe-exact", words, "--seed", "1")["stage: complete-case"][0])  # six, below the threshold

    def test_noisy_counts_are_off_by_their_errors(self):
        """Thirty seeded releases of six counts: the mean of 180 squares over errors is within 1 +- .5 (its error is .1)."""
        truth, words = self.sites(3)
        squares = []
        for seed in range(30):
            for row, (value, error) in self.counted("describe", words, "--seed", str(seed), "--epsilon", "1", "--delta", "1e-5", "--set",
                                                    "threshold=0").items():
                squares.append(((value - truth[row]) / error) ** 2)
        self.assertEqual(len(squares), 180)
        self.assertLess(abs(sum(squares) / len(squares) - 1), 0.5)

    def test_without_being_asked_for_they_are_not_there_and_a_model_says_how_to_ask(self):
        truth, words = self.sites(2)
        done = self.succeed("simulate", "--method", "describe-exact", *words, "--test", "site0.csv", "--schema", "pbc.yaml", "--seed", "1", "--json")
        self.assertNotIn("missing", [table["name"] for table in json.loads(done.stdout)["report"]["tables"]])
        self.succeed("simulate", "--method", "dpnewton", *words, "--test", "site0.csv", "--schema", "pbc.yaml", "--seed", "1", "--epsilon", "8",
                     "--delta", "1e-5", "--set", "purpose=inference", "--set", "missing_counts=0", "--out", "model.json")
        self.assertIn("was not counted; method describe with missing=counted counts both, for a tenth of its budget.", self.succeed("summary", "model.json").stdout)
        self.assertIn("was not counted; method describe with missing=counted counts both", self.succeed("card", "model.json").stdout)
        self.fail_with(2, "simulate", "--method", "describe-exact", *words, "--test", "site0.csv", "--schema", "pbc.yaml", "--set", "missing=counted",
                       "--set", "sites=apart", says=["leave sites out"])

    def test_a_private_model_has_them_for_a_part_of_its_budget(self):
        """Six errors either way: wrong once in 500 million counts."""
        truth, words = self.sites(3)
        for purpose in ("prediction", "inference"):
            done = self.succeed("simulate", "--method", "dpnewton", *words, "--test", "site0.csv", "--schema", "pbc.yaml", "--seed", "1", "--epsilon",
                                "8", "--delta", "1e-5", "--set", f"purpose={purpose}", "--out", "model.json", "--json")
            told, file = json.loads(done.stdout), json.loads((self.path / "model.json").read_text())["missing_counts"]
            self.assertEqual((file["kind"], file["mode"]), ("missing", "private"))
            shown = json.loads(self.succeed("summary", "model.json", "--json").stdout)
            carried = json.loads(self.succeed("card", "model.json", "--json").stdout)
            for report in (told["report"] if purpose == "prediction" else told["summary"]["missing_counts"],
                           shown if purpose == "prediction" else shown["missing_counts"], carried["missing_counts"]):
                self.assertEqual(report["tables"], file["tables"])
            rows = {row["label"]: (row["values"][0], row["noise_errors"][0]) for row in file["tables"][0]["rows"]}
            self.assertEqual(rows.keys(), truth.keys())
            for label, (count, error) in rows.items():
                self.assertLess(abs((count or 0) - truth[label]), 6 * error + 10)
                self.assertTrue(count is None or count >= 10)
            self.assertGreater(rows["rows left out"][0], 50)
            text, card = self.succeed("summary", "model.json").stdout, self.succeed("card", "model.json").stdout
            self.assertIn("share: 0.02 of the study's budget", text)
            self.assertRegex(text, r"rows left out +[0-9.]+ \([0-9.]+\)")
            self.assertNotIn("not counted", text)
            self.assertIn("Missing values by what becomes of them", card)
            self.assertNotIn("not counted", card)


class Private(DescribeTest):
    def release(self, *words):
        source = str(EXAMPLES / "wilms.csv")
        self.succeed("ledger", "limit", "--source", source, "--epsilon", "1", "--delta", "1e-4")
        return self.describe(*self.rows("wilms"), "--epsilon", "0.5", "--delta", "1e-5", *words)

    def test_a_release_is_charged_once_and_has_errors_beside_its_numbers(self):
        report = self.release("--out", "report.json")
        self.assertEqual((report["mode"], report["rows"]), ("private", 4028))
        self.assertEqual(report["guarantee"]["charged"]["epsilon"], 0.5)
        numbers = next(table for table in report["tables"] if table["name"] == "numbers")
        for row in numbers["rows"]:
            self.assertGreater(row["noise_errors"][numbers["columns"].index("mean")], 0)
        self.assertEqual(self.release(), report)  # the same again, without a second charge
        account = json.loads(self.succeed("ledger", "show", "--json").stdout)
        self.assertIn("0.5", json.dumps(account))

    def test_noisy_counts_below_the_threshold_are_left_out_those_of_missing_values_too(self):
        """Thirty seeded releases of rows of which few or none are missing. The control, threshold 0, leaves nothing out."""
        def counts(seed, threshold):
            report = json.loads(self.succeed("simulate", "--method", "describe", "--train", EXAMPLES / "lung.csv", "--test", EXAMPLES / "lung.csv", "--schema",
                                             EXAMPLES / "lung.schema.yaml", "--set", "missing=counted", "--set", "by=sex", "--set", "cross=sex*died", "--set",
                                             f"threshold={threshold}", "--epsilon", "1", "--delta", "1e-5", "--parties", "3", "--seed", str(seed),
                                             "--json").stdout)["report"]
            return {key: value for key, value in values(report).items() if key[2] in ("count", "missing") or key[0].startswith("cross:")}
        left_out, below = 0, 0
        for seed in range(30):
            told = counts(seed, 10)
            self.assertTrue(all(value is None or value >= 10 for value in told.values()), seed)
            left_out += sum(value is None for (table, row, _), value in told.items() if table == "missing" or row.endswith("(missing)"))
            below += sum(value is not None and value < 0 for (table, _, _), value in counts(seed, 0).items() if table == "missing")
        self.assertGreater(left_out, 60)
        self.assertGreater(below, 10)

    def test_means_stay_within_the_bounds_and_intervals_of_quantiles_ascend(self):
        """Twenty seeded releases of few rows with much noise: some means are at a bound, where noise would have carried them further."""
        low = {"age": 18, "karnofsky": 0, "karnofsky_patient": 0, "calories": 0, "weight_loss": -50}
        at_a_bound, intervals = 0, 0
        for seed in range(20):
            found = values(self.describe(*self.rows("lung"), "--by", "died", "--epsilon", "0.3", "--delta", "1e-5", "--parties", "3", "--seed", str(seed)))
            ends = {}
            for (table, row, column), value in found.items():
                name = row.split(" [")[0].split(":")[0]
                if table == "numbers" and column == "mean" and value is not None:
                    self.assertTrue(low[name] <= value <= low[name] + RANGES["lung"][name], (seed, row, value))
                    at_a_bound += value in (low[name], low[name] + RANGES["lung"][name])
                if table == "quantile_intervals" and value is not None:
                    ends.setdefault((row.rsplit(": ", 1)[0], column), []).append(value)
            for where, numbers in ends.items():
                self.assertEqual(numbers, sorted(numbers), (seed, where))
                intervals += len(numbers)
        self.assertGreater(at_a_bound, 3)
        self.assertGreater(intervals, 200)

    def test_intervals_of_quantiles_hold_for_rows_that_are_crowded_in_a_cell(self):
        """Of 2,000 rows three in four are in the first of the tree's cells, most of them near its lower end. 10 seeded releases, 130 intervals: 120 or more hold the file's quantile (95% in the mean)."""
        draw = random.Random(5)
        numbers = sorted(round(draw.expovariate(1 / 40), 2) for _ in range(2000))
        path = Path(self.path) / "crowded.csv"
        path.write_text("x,y\n" + "".join(f"{value},{k % 2}\n" for k, value in enumerate(numbers)))
        schema = Path(self.path) / "crowded.yaml"
        schema.write_text("label: {name: y, classes: ['0', '1']}\ncolumns:\n  - {name: x, kind: number, low: 0, high: 3000}\n")
        held, shown = 0, 0
        for seed in range(10):
            found = values(self.describe("--data", str(path), "--schema", str(schema), "--epsilon", "0.3", "--delta", "1e-5", "--parties", "3", "--seed", str(seed)))
            for (table, row, column), low in found.items():
                if table == "quantile_intervals" and column == "low" and low is not None:
                    place = float(row.split(": ")[1].rstrip("%")) / 100 * (len(numbers) - 1)
                    high = found[table, row, "high"]
                    held += low - 1e-6 <= numbers[round(place)] <= high + 1e-6
                    shown += 1
        self.assertGreater(shown, 100)
        self.assertGreater(held, 0.92 * shown)

    def test_without_a_limit_nothing_is_released(self):
        self.fail_with(3, "describe", *self.rows("wilms"), "--epsilon", "0.5", "--delta", "1e-5", says=["ledger limit"])

    def test_a_schema_from_a_release_names_it_and_may_be_used(self):
        self.release("--out", "report.json")
        self.succeed("describe", "--report", "report.json", "--propose-schema", "next.yaml")
        text = (self.path / "next.yaml").read_text()
        self.assertIn("epsilon 0.5, delta 1e-05", text)
        self.assertNotIn("from: rows", text)
        self.assertIn("sd: ", text)
        self.succeed("ledger", "limit", "--source", str(EXAMPLES / "wilms.csv"), "--epsilon", "9", "--delta", "1e-4")
        self.succeed("fit", "--method", "plr", "--train", EXAMPLES / "wilms.csv", "--schema", "next.yaml", "--epsilon", "1", "--lambda", "0.1",
                     "--out", "model.json")

    def test_what_is_simulated_promises_nothing(self):
        report = self.describe(*self.rows("wilms"), "--epsilon", "0.5", "--delta", "1e-5", "--parties", "5", "--seed", "1")
        self.assertFalse(report["guarantee"]["private"] and report["guarantee"]["noise"] == "exact")
        self.assertEqual(self.describe(*self.rows("wilms"), "--epsilon", "0.5", "--delta", "1e-5", "--parties", "5", "--seed", "1"), report)


class Described(DescribeTest):
    """What a report tells about a study that is planned."""
    def test_a_plan_takes_rows_share_of_positives_knots_and_rare_levels_from_a_report(self):
        self.succeed("describe", *self.rows("lung"), "--threshold", "5", "--out", "report.json")
        done = self.succeed("plan", "--schema", EXAMPLES / "lung.schema.yaml", "--terms", "died ~ sex + ecog + spline(age, df = 4)", "--parties", "5",
                            "--epsilon", "1", "--described", "report.json", "--methods", "plr", "--brief", "--json")
        found = json.loads(done.stdout)
        self.assertEqual(found["rows"], 228)
        self.assertAlmostEqual(found["positives"], 165 / 228, delta=1e-9)
        self.assertIn("method describe-exact, 228 rows, which is not private", done.stderr)
        self.assertIn("ecog=3: no figure in the report", done.stderr)
        self.assertIn("age: knots where its rows are: knots = c(", done.stderr)

    def test_a_new_study_expects_the_rows_of_a_report_and_names_the_release(self):
        source = str(EXAMPLES / "wilms.csv")
        self.succeed("ledger", "limit", "--source", source, "--epsilon", "1", "--delta", "1e-4")
        self.succeed("describe", *self.rows("wilms"), "--epsilon", "0.5", "--delta", "1e-5", "--out", "report.json")
        lines = ["name: risk", "title: Who has a relapse?", "method: plr", "epsilon: 1", "parties: {expected: 3, minimum: 3}", "minimum_rows: 20",
                 f"schema: {EXAMPLES / 'wilms.schema.yaml'}"]
        self.write("study.yaml", "\n".join(lines) + "\n")
        done = self.succeed("study", "new", "consortium", "study.yaml", "--described", "report.json", "--force")
        self.assertIn("4028 rows, epsilon 0.5, delta 1e-05", done.stderr)
        self.assertIn("costs nothing more", done.stderr)
        self.assertIn("expected_rows: 4028 becomes part of the definition", done.stderr)
        self.write("other.yaml", "\n".join([lines[0] + "2", *lines[1:], "expected_rows: 300"]) + "\n")  # what the definition says counts
        done = self.succeed("study", "new", "consortium", "other.yaml", "--described", "report.json", "--force")
        self.assertNotIn("becomes part", done.stderr)
        self.fail_with(1, "study", "new", "consortium", "study.yaml", "--described", "study.yaml", says=["not a Tacit model"])


class Accuracy(DescribeTest):
    def test_one_release_of_20_columns_of_4000_rows_at_epsilon_half(self):
        loader = SourceFileLoader("run_describe", str(EXAMPLES.parent / "bench" / "run_describe"))
        bench = module_from_spec(spec_from_loader("run_describe", loader))
        loader.exec_module(bench)
        bench.PROGRAM = TACIT
        found = bench.measure(draws=6)  # seeded
        self.assertLess(found["means"], 1)
        self.assertLess(found["deciles"], 1.5)
        self.assertLess(found["shares"], 1.5)


if __name__ == "__main__":
    unittest.main()
