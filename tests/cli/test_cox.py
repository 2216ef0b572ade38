#!/usr/bin/env python3
"""Method cox against R's coxph on the same grid of times, and what it says where there is no estimate; method dpcox beside it.

Figures of R are those in cox/cox.csv, or fresh ones where Rscript with package survival is installed (cox/cox.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_cox.py
"""
import csv
import functools
import gzip
import json
import math
import os
import random
import shutil
import statistics
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

HERE = Path(__file__).resolve().parent / "cox"
EXAMPLES = HERE.parents[2] / "examples"
WILMS, SCHEMA = str(EXAMPLES / "wilms_times.csv"), str(EXAMPLES / "wilms_times.schema.yaml")
CASES = {"efron": (), "breslow": ("--set", "ties=breslow"), "strata": ("--set", "strata=stage")}


@functools.cache
def figures_of_r(name="cox", *more, delimiter=",", rows=WILMS):
    text = None
    if shutil.which("Rscript"):
        try:
            done = subprocess.run(["Rscript", HERE / f"{name}.R", rows, *more], capture_output=True, text=True, check=False, timeout=600)
            if done.returncode == 0:
                text = done.stdout
            elif "no package called" not in done.stderr:
                raise RuntimeError(done.stderr)
        except subprocess.TimeoutExpired:
            pass  # on a machine that has no time for R, the stored figures do
    return list(csv.reader((text or (HERE / f"{name}.csv").read_text()).splitlines(), delimiter=delimiter))[1:]


class CoxTest(ProgramTest):
    def words(self, *words, train=WILMS, schema=SCHEMA, parties=5, method="cox"):
        return ["simulate", "--method", method, "--train", train, "--test", train, "--schema", schema, "--parties", str(parties), "--seed", "1", *words]

    def cox(self, *words, **more):
        told = json.loads(self.succeed(*self.words(*words, "--json", **more)).stdout)
        return told["summary"], told["runs"][0]

    def close(self, ours, theirs, relative, what):
        self.assertLessEqual(abs(ours - theirs), relative * (abs(theirs) + 1e-300), what)


class AgainstR(CoxTest):
    def test_every_figure_is_that_of_coxph_for_any_number_of_parties(self):
        figures = figures_of_r()
        self.assertEqual(len(figures), 7 + 7 + 4 + len(CASES))
        for parties in (1, 5, 20):
            told = {case: self.cox("--set", "width=30", "--set", "least=1", *words, parties=parties) for case, words in CASES.items()}
            for case, name, *theirs in figures:
                summary, run = told[case]
                if name == "fit":
                    events = sum(step[3] for step in summary["baseline"])
                    ours = [summary["deviance"], summary["null_deviance"], summary["aic"], summary["rows"], events, run["auc"]["mean"]]
                else:
                    one = {entry["name"]: entry for entry in summary["coefficients"]}[name]
                    ours = [one[key] for key in ("estimate", "error", "statistic", "p", "low", "high")]
                for mine, other in zip(ours, map(float, theirs)):
                    self.close(mine, other, 1e-8, (parties, case, name, ours, theirs))


SETS = {
    "lung": ("sex", 1100, "age + sex + ecog", "age, kind: number, low: 18, high: 100", "sex, kind: category, levels: [m, f]", "ecog, kind: number, low: 0, high: 5"),
    "colon": ("arm", 3500, "arm + sex + age + nodes + extent", "arm, kind: category, levels: [Obs, Lev, Lev5FU]", "sex, kind: category, levels: [m, f]",
              "age, kind: number, low: 18, high: 100", "nodes, kind: number, low: 0, high: 100", "extent, kind: number, low: 1, high: 4"),
    "rotterdam": ("size", 7305, "age + size + grade + log(nodes + 1) + hormon + chemo", "age, kind: number, low: 18, high: 100", "size, kind: category, levels: [small, middle, large]",
                  "grade, kind: number, low: 1, high: 3", "nodes, kind: number, low: 0, high: 100", "hormon, kind: number, low: 0, high: 1", "chemo, kind: number, low: 0, high: 1"),
    "pbc": ("edema", 5000, "age + edema + log(bili) + log(albumin) + log(protime)", "age, kind: number, low: 18, high: 100", "edema, kind: category, levels: [none, some, much]",
            "bili, kind: number, low: 0.1, high: 60", "albumin, kind: number, low: 0.5, high: 10", "protime, kind: number, low: 5, high: 50"),
}


def write_late(test):
    """late.csv and late.yaml: lung, of whom some come under observation late; (train, schema, rows)."""
    with gzip.open(HERE / "sets" / "lung.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    for k, row in enumerate(rows, 1):
        row["since"] = (k % 4) * 30 if float(row["days"]) > 120 else 0
    columns = ("since", "days", "died", "age", "sex", "ecog")
    test.write("late.csv", "\n".join([",".join(columns), *(",".join(str(row[column]) for column in columns) for row in rows)]) + "\n")
    test.write("late.yaml", "label: {name: [since, days, died], kind: time, low: 0, high: 1100}\ncolumns:\n" + "".join(f"  - {{name: {column}}}\n" for column in SETS["lung"][3:]))
    return "late.csv", "late.yaml", rows


class SetsOfSurvival(CoxTest):
    """Lung, colon, rotterdam and pbc of R's survival: cox, its robust errors and tests of hazards, and curves, beside coxph, cox.zph, survfit and survdiff."""

    def figures(self, name):
        found = {}
        for which, kind, row, *numbers in figures_of_r("sets", delimiter="|", rows=HERE / "sets"):
            if which == name:
                found.setdefault(kind, {})[row] = [None if number in ("NA", "NaN") else float(number) for number in numbers]
        return found

    def compare(self, ours, theirs, what):
        for mine, other in zip(ours, theirs, strict=True):
            self.assertEqual(mine is None, other is None, (what, ours, theirs))
            if other is not None:
                self.close(mine, other, 1e-8, (what, ours, theirs))

    def check_cox(self, name, train, terms, theirs, parties):
        words = ("--set", "width=30", "--set", "least=1", "--terms", f"surv(days, died) ~ {terms}")
        summary, run = self.cox(*words, "--set", "proportional=km", train=train, schema=f"{name}.yaml", parties=parties)
        robust, _ = self.cox(*words, "--set", "errors=robust", train=train, schema=f"{name}.yaml", parties=parties)
        self.assertEqual([one["name"] for one in summary["coefficients"]], list(theirs["coefficient"]))
        for one, other in zip(summary["coefficients"], robust["coefficients"]):
            self.compare([one[key] for key in ("estimate", "error", "statistic", "p", "low", "high")] + [other["error"]], theirs["coefficient"][one["name"]], (name, one["name"]))
        events = sum(step[3] for step in summary["baseline"])
        self.compare([summary["deviance"], summary["null_deviance"], summary["aic"], summary["rows"], events, run["auc"]["mean"]], theirs["fit"]["fit"], (name, "fit"))
        for one in summary["terms"]:
            self.compare([one[key] for key in ("degrees", "statistic", "p")], theirs["term"][one["name"]], (name, "term", one["name"]))
        # A month that nobody leaves in is put to its neighbour, so that ends may differ, and steps do not.
        self.compare([step[4] for step in summary["baseline"] if step[4] > 0], [step for step, in theirs["baseline"].values()], (name, "baseline"))
        for one in summary["proportional"]["tests"]:
            self.compare([one[key] for key in ("statistic", "degrees", "p")], theirs["trend"][one["name"]], (name, "proportional", one["name"]))

    def report(self, name, train, parties, *settings):
        """{table: {row: {column: value}}}"""
        self.succeed("simulate", "--method", "survival-exact", "--train", train, "--test", train, "--schema", f"{name}.yaml", "--parties", str(parties), "--seed", "1", "--set", "width=30",
                     "--set", "least=1", *(word for one in settings for word in ("--set", one)), "--out", "report.json")
        tables = {}
        for table in json.loads((self.path / "report.json").read_text())["report"]["tables"]:
            names = [column if isinstance(column, str) else column["name"] for column in table["columns"]]
            tables[table["name"]] = {row["label"]: dict(zip(names, row["values"])) for row in table["rows"]}
        return tables

    def check_curves(self, name, train, by, theirs, parties):
        settings = (f"by={by}", f"until={theirs['until']['until'][0]:g}")
        log, other = self.report(name, train, parties, *settings), self.report(name, train, parties, *settings, "interval=log-log")
        shown = {"curve": ("at risk", "events", "survival", "error", "low", "high", "hazard", "hazard error", "hazard low", "hazard high"),
                 "log-log": ("low", "high", "hazard low", "hazard high")}
        checked = 0
        for kind, rows in theirs.items():
            first, _, group = kind.partition(" ")
            tables, table = {"curve": (log, kind), "log-log": (other, f"curve {group}"), "group": (log, "groups"), "other": (other, "groups"), "test": (log, "tests"),
                             "ratio": (log, "ratios")}.get(first, (None, None))
            for row, numbers in rows.items() if tables else ():
                ours = tables[table][row]
                self.compare([ours[column] for column in shown.get(first, ours)], numbers, (name, kind, row))
                checked += 1
        self.assertGreater(checked, 60)

    def test_risks_that_compete_are_those_of_r(self):
        self.write("ends.yaml", "label: {name: [days, end], kind: time, low: 0, high: 5000, causes: [transplant, death]}\ncolumns:\n  - {name: edema, kind: category, levels: [none, some, much]}\n")
        theirs = self.figures("ends")
        for parties in (1, 5):
            for interval, rows in theirs.items():
                tables = self.report("ends", str(HERE / "sets" / "ends.csv.gz"), parties, "by=edema", f"interval={interval}")
                for row, numbers in rows.items():
                    group, time = row.split()
                    self.compare_incidence(list(tables[f"incidence {group}"][time].values()), numbers, (interval, row))

    def compare_incidence(self, ours, theirs, what):
        """Where nobody, or everybody, has had an event, R has no interval, or an error of 1e-17."""
        for mine, other in zip(ours, theirs, strict=True):
            if other is None or abs(other) < 1e-12:
                self.assertTrue(mine is None or abs(mine) < 1e-12 or mine == 1, (what, ours, theirs))
            else:
                self.close(mine, other, 1e-8, (what, ours, theirs))

    def test_every_figure_is_that_of_r_for_any_number_of_parties(self):
        for name, (by, high, terms, *columns) in SETS.items():
            train, theirs = str(HERE / "sets" / f"{name}.csv.gz"), self.figures(name)
            self.write(f"{name}.yaml", f"label: {{name: [days, died], kind: time, low: 0, high: {high}}}\ncolumns:\n" + "".join(f"  - {{name: {column}}}\n" for column in columns))
            for parties in (1, 5, 20):
                with self.subTest(set=name, parties=parties):
                    self.check_cox(name, train, terms, theirs, parties)
                    self.check_curves(name, train, by, theirs, parties)


class RidgeAndBaselines(CoxTest):
    """With a lambda above 0, and baselines with strata and without, both ways with ties: as cox/ridge.R makes them."""

    def fit(self, terms, *words, parties=5):
        return self.cox("--set", "width=30", "--set", "least=1", "--terms", f"surv(days, relapse) ~ {terms}", *words, parties=parties)[0]

    def figures(self, case):
        found = [row[1:] for row in figures_of_r("ridge", delimiter="|") if row[0] == case]
        self.assertTrue(found)
        return found

    def test_coefficients_drawn_towards_0_and_their_errors_are_those_of_coxph_with_a_ridge(self):
        for parties in (1, 5, 20):
            for lasting in ("0.001", "0.1"):
                for case, terms, words in (("one", "unfavourable", ()), ("two", "unfavourable + late_unfavourable", ("--set", "ties=breslow"))):
                    summary = self.fit(terms, "--lambda", lasting, *words, parties=parties)
                    for one, (name, estimate, error) in zip(summary["coefficients"], self.figures(f"{case} {lasting}"), strict=True):
                        self.assertEqual(one["name"], name)
                        self.close(one["estimate"], float(estimate), 1e-8, (parties, lasting, one, estimate))
                        self.close(one["error"], float(error), 1e-8, (parties, lasting, one, error))

    def test_steps_of_baselines_are_those_of_basehaz(self):
        for ties in ("efron", "breslow"):
            for case, terms in (("base", "unfavourable + stage + age"), ("base strata", "unfavourable + age + strata(stage)")):
                steps = self.fit(terms, "--set", f"ties={ties}")["baseline"]
                theirs = self.figures(f"{case} {ties}")
                # A month that nobody leaves in is put to its neighbour, so that ends may differ, and steps do not.
                for (stratum, _, _, _, step), (name, other, _) in zip([step for step in steps if step[4] > 0], theirs, strict=True):
                    self.assertEqual(stratum, max(0, int(name.split()[0]) - 1), name)
                    self.close(step, float(other), 1e-8, (ties, case, name))
                self.assertTrue(all(step[2] > 0 for step in steps), "a baseline of a level that no row has")


class Concordance(CoxTest):
    def harrell(self, rows, score):
        ordered, every = self.pairs(rows, score)
        return ordered / every

    def pairs(self, rows, score):
        """Of rows (cell, event, ...), as R's concordance counts."""
        ordered = alike = every = 0
        for one in rows:
            for other in rows if one["event"] else ():
                if one is not other and other.get("since", 0) < one["cell"] and (other["cell"] > one["cell"] or (other["cell"] == one["cell"] and not other["event"])):
                    every += 1
                    ordered += score(one) > score(other)
                    alike += score(one) == score(other)
        return ordered + alike / 2, every

    def test_it_is_within_its_bound_of_that_of_all_rows_for_any_number_of_parties(self):
        _, high, terms, *columns = SETS["lung"]
        self.write("lung.yaml", f"label: {{name: [days, died], kind: time, low: 0, high: {high}}}\ncolumns:\n" + "".join(f"  - {{name: {column}}}\n" for column in columns))
        train = str(HERE / "sets" / "lung.csv.gz")
        with gzip.open(train, "rt") as file:
            rows = [{**row, "cell": max(1, math.ceil(float(row["days"]) / 30)), "event": int(row["died"])} for row in csv.DictReader(file)]
        found = []
        for parties in (1, 5):
            summary, _ = self.cox("--set", "width=30", "--set", "least=1", "--set", "concordance=yes", "--terms", f"surv(days, died) ~ {terms}", train=train, schema="lung.yaml", parties=parties)
            found.append(summary["concordance"])
        self.assertEqual(found[0], found[1])
        b = {one["name"]: one["estimate"] for one in summary["coefficients"]}
        true = self.harrell(rows, lambda row: b["age"] * float(row["age"]) + b["sexf"] * (row["sex"] == "f") + b["ecog"] * float(row["ecog"]))
        self.assertLess(found[0]["bound"], 0.03)
        self.assertLessEqual(abs(found[0]["estimate"] - true), found[0]["bound"])
        self.assertNotIn("concordance", self.cox("--set", "width=30")[0])

    def test_with_late_entry_an_event_is_compared_with_those_at_risk(self):
        train, schema, rows = write_late(self)
        for row in rows:
            row.update(since=math.ceil(float(row["since"]) / 30), cell=max(1, math.ceil(float(row["days"]) / 30)), event=int(row["died"]))
        found = [self.cox("--set", "width=30", "--set", "least=1", "--set", "concordance=yes", "--terms", f"surv(since, days, died) ~ {terms}", train=train, schema=schema, parties=parties)[0]
                 for parties, terms in ((1, "age + sex + ecog"), (5, "age + sex + ecog"), (5, "age + ecog + strata(sex)"))]
        self.assertEqual(found[0]["concordance"], found[1]["concordance"])
        for summary, strata in ((found[1], ("mf",)), (found[2], ("m", "f"))):
            b, told = {one["name"]: one["estimate"] for one in summary["coefficients"]}, summary["concordance"]
            pairs = [self.pairs([row for row in rows if row["sex"] in sexes], lambda row: sum(b.get(name, 0) * value for name, value in (
                ("age", float(row["age"])), ("sexf", row["sex"] == "f"), ("ecog", float(row["ecog"]))))) for sexes in strata]
            true = sum(one[0] for one in pairs) / sum(one[1] for one in pairs)
            self.assertLess(told["bound"], 0.03)
            self.assertLessEqual(abs(told["estimate"] - true), told["bound"])
            if len(strata) == 1:  # R's concordance(Surv(since, cell, died) ~ score, reverse = TRUE), survival 3.5
                self.close(true, 0.630586759082218, 1e-12, true)
        everybody = self.harrell([{**row, "since": 0} for row in rows], lambda row: float(row["age"]))
        self.assertNotEqual(everybody, self.harrell(rows, lambda row: float(row["age"])))


class Servers(CoxTest):
    """Method cox-servers: shares of two center servers, of which nobody sees a sum, beside coxph with Breslow's ties."""

    def check(self, case, parties, *words, **more):
        told = json.loads(self.succeed(*self.words(*words, "--json", method="cox-servers", parties=parties, **more)).stdout)["summary"]
        figures = [line[1:] for line in figures_of_r("servers", HERE / "sets" / "lung.csv.gz") if line[0] == case]
        self.assertEqual([one["name"] for one in told["coefficients"]], [line[0] for line in figures[:-1]])
        for name, *theirs in figures:
            one = {entry["name"]: entry for entry in told["coefficients"]}.get(name)
            ours = [one[key] for key in ("estimate", "error", "statistic", "p", "low", "high")] if one else [told[key] for key in ("deviance", "null_deviance", "aic", "rows")]
            for at, (mine, other) in enumerate(zip(ours, [float(number) for number in theirs if number], strict=True)):
                steep = 1 + ours[2] ** 2 if one and at == 3 else 1  # a small p moves by z^2 times what z does
                self.close(mine, other, 1e-8 * steep, (case, parties, name, ours, theirs))
        self.assertNotIn("baseline", told)

    def test_every_figure_is_that_of_coxph_for_any_number_of_parties(self):
        name, (_, high, terms, *columns) = "lung", SETS["lung"]
        self.write("lung.yaml", f"label: {{name: [days, died], kind: time, low: 0, high: {high}}}\ncolumns:\n" + "".join(f"  - {{name: {column}}}\n" for column in columns))
        for parties in (1, 5, 20):
            self.check("nwtco", parties, "--set", "unit=year")
            self.check("lung", parties, "--set", "width=30", "--terms", f"surv(days, died) ~ {terms}", train=str(HERE / "sets" / f"{name}.csv.gz"), schema="lung.yaml")
        self.check("nwtco-strata", 5, "--set", "unit=year", "--set", "strata=stage")

    def test_rows_that_enter_later_are_those_of_coxph(self):
        write_late(self)
        for case, terms in (("lung-entry", "age + sex + ecog"), ("lung-entry-strata", "age + ecog + strata(sex)")):
            self.check(case, 5, "--set", "width=30", "--terms", f"surv(since, days, died) ~ {terms}", train="late.csv", schema="late.yaml")

    def test_what_it_does_not_have_is_refused(self):
        for words, says in ((("--set", "ties=efron"), "how many events each cell has"), (("--set", "errors=robust"), "has a setting 'errors'"),
                            (("--terms", "surv(days, relapse) ~ age + offset(study)"), "offset")):
            self.fail_with(2, *self.words(*words, method="cox-servers"), says=[says])


class Terms(CoxTest):
    def schema(self, more=""):
        text = Path(SCHEMA).read_text().replace("study, kind: number, low: 3, high: 4", 'study, kind: category, levels: ["3", "4"]')
        return self.write("terms.yaml", text + more)

    def test_every_figure_is_that_of_coxph_with_the_same_formula(self):
        cases = [line.split("|") for line in (HERE / "terms.txt").read_text().splitlines()]
        figures = figures_of_r("terms", HERE / "terms.txt", delimiter="|")
        self.assertEqual({case for case, *_ in cases}, {case for case, *_ in figures})
        for case, ties, formula in cases:
            parties = (1, 5, 20) if case in ("interaction", "splines") else (5,)
            for count in parties:
                summary, _ = self.cox("--set", "width=30", "--set", "least=1", "--set", f"ties={ties}", "--terms", formula, schema=self.schema(), parties=count)
                theirs = [row for row in figures if row[0] == case]
                self.assertEqual([entry["name"] for entry in summary["coefficients"]], [row[1] for row in theirs[:-1]])
                for one, (_, name, *numbers) in zip(summary["coefficients"], theirs):
                    for key, other in zip(("estimate", "error", "statistic", "p", "low", "high"), numbers):
                        self.close(one[key], float(other), 1e-8, (case, count, name, key, one[key], other))
                fit = [summary["deviance"], summary["null_deviance"], summary["aic"], summary["rows"], sum(step[3] for step in summary["baseline"])]
                for mine, other in zip(fit, map(float, theirs[-1][2:])):
                    self.close(mine, other, 1e-8, (case, count, fit, theirs[-1]))

    def test_the_baseline_does_not_depend_on_how_columns_are_written(self):
        plain, _ = self.cox("--set", "least=20")
        terms, _ = self.cox("--set", "least=20", "--terms", "surv(days, relapse) ~ .")
        for one, other in zip(plain["baseline"], terms["baseline"]):
            self.assertEqual(one[:4], other[:4])
            self.close(one[4], other[4], 1e-9, (one, other))
        strata, _ = self.cox("--set", "least=20", "--set", "strata=stage")
        terms, _ = self.cox("--set", "least=20", "--terms", "surv(days, relapse) ~ . + strata(stage)")
        self.assertEqual([step[:4] for step in strata["baseline"]], [step[:4] for step in terms["baseline"]])

    def test_a_model_with_terms_predicts_from_raw_columns(self):
        self.succeed(*self.words("--terms", "surv(days, relapse) ~ unfavourable * age + offset(age/100) + strata(stage)", "--out", "model.json"))
        told = json.loads(self.succeed("evaluate", "model.json", WILMS, "--json").stdout)
        self.assertGreater(told["auc"], 0.6)
        self.assertIn("strata(stage)", self.succeed("summary", "model.json").stdout)

    def test_what_a_formula_of_times_may_not_say(self):
        for formula, says in (("surv(relapse, days) ~ age", "write them in this order"), ("surv(days) ~ age", "has the columns 'days' and 'relapse'"), ("surv(days, days, relapse) ~ age", "write them in this order"), ("surv(log(days), relapse) ~ age", "names of columns"), ("relapse ~ age", "the schema's label is 'days'"),
                              ("surv(days, relapse) ~ age + strata(age)", "'age' is no category"), ("~ age*strata(stage)", "stand by themselves"),
                              ("~ age + strata()", "name of a column"), ("~ age + strata(log(age))", "names of columns"), ("~ strata(stage)", "0 columns"),
                              ("~ age + cluster(stage)", "person: stage"), ("~ age + weights(study)", "takes no weights")):
            self.fail_with(2, *self.words("--terms", formula), says=[says])
        self.fail_with(2, *self.words("--terms", "~ age", "--set", "strata=stage"), says=["+ strata(stage)"])
        wilms, schema = str(EXAMPLES / "wilms.csv"), str(EXAMPLES / "wilms.schema.yaml")
        for formula, says in (("~ age + strata(stage)", "takes no strata()"), ("surv(relapse, age) ~ age", "is no time")):
            self.fail_with(2, "simulate", "--method", "estimate", "--train", wilms, "--schema", schema, "--parties", "3", "--terms", formula, says=[says])


class Later(CoxTest):
    """Rows that enter later, errors that are robust or clustered, and tests of proportional hazards: as cox/later.R makes them."""

    def rows(self):
        with open(WILMS, encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        for number, row in enumerate(rows, 1):
            row["since"] = number * 7 % 300 if number % 3 == 0 and int(row["days"]) > 400 else 0
            row["person"] = number // 2
        with open(self.path / "later.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        return str(self.path / "later.csv")

    def schema(self, label):
        text = Path(SCHEMA).read_text().replace("[days, relapse]", label)
        return self.write("later.yaml", text + "person: person\n")

    def fit(self, case, *words, parties=1, least=1):
        early = case.startswith(("robust", "trend-efron", "trend-breslow"))
        label = "days, relapse" if early else "since, days, relapse"
        terms = "unfavourable + age + strata(stage)" if case.endswith("strata") else "unfavourable * age + stage"
        ties = "breslow" if "breslow" in case else "efron"
        return self.cox("--set", "width=30", "--set", f"least={least}", "--set", f"ties={ties}", "--terms", f"Surv({label}) ~ {terms}", *words,
                        train=self.rows(), schema=self.schema(f"[{label}]"), parties=parties)

    def check_fit(self, case, figures, *words, parties=1):
        summary, run = self.fit(case, *words, parties=parties)
        theirs = {row[1]: [float(cell) for cell in row[2:] if cell != ""] for row in figures if row[0] == case}
        for one in summary["coefficients"]:
            for key, other in zip(("estimate", "error"), theirs[one["name"]]):
                self.close(one[key], other, 1e-8, (case, parties, one["name"], key, one[key], other))
        self.assertEqual(len(summary["coefficients"]) + 1, len(theirs))
        for mine, other in zip((summary["deviance"], summary["null_deviance"], run["auc"]["mean"]), theirs["fit"]):
            self.close(mine, other, 1e-8, (case, parties, mine, other))
        return summary

    def test_rows_that_enter_later_are_at_risk_from_then_on(self):
        figures = figures_of_r("later", delimiter="|")
        for parties in (1, 5, 20):
            self.check_fit("entry-efron", figures, parties=parties)
            self.check_fit("entry-breslow", figures, parties=parties)

    def test_groups_with_entries_have_enough_rows_too(self):
        summary, _ = self.fit("entry-efron", parties=5, least=40)
        for _, _, leaving, events, _ in summary["baseline"]:
            self.assertGreaterEqual(leaving, 40)
            self.assertTrue(events < 2 or events >= 40)

    def test_robust_errors_are_those_of_coxph(self):
        figures = figures_of_r("later", delimiter="|")
        for parties in (1, 5, 20):
            for ties in ("efron", "breslow"):
                summary = self.check_fit(f"robust-{ties}", figures, "--set", "errors=robust", parties=parties)
                self.assertEqual((summary["errors"], summary["sandwich"]), ("robust", True))

    def test_clustered_errors_are_those_of_coxph(self):
        figures = figures_of_r("later", delimiter="|")
        for case in ("cluster-efron", "cluster-breslow", "entry-strata"):
            summary = self.check_fit(case, figures, "--set", "errors=cluster")
            self.assertEqual((summary["errors"], summary["clusters"]), ("cluster", 2015))

    def test_tests_of_proportional_hazards_are_those_of_cox_zph(self):
        figures = figures_of_r("later", delimiter="|")
        for parties in (1, 5, 20):
            for case in ("trend-efron", "trend-breslow", "trend-strata"):
                for transform in ("km", "identity", "log", "rank") if parties == 1 else ("km",):
                    summary, _ = self.fit(case, "--set", f"proportional={transform}", parties=parties)
                    told = summary["proportional"]
                    theirs = [row[1:5] for row in figures if row[0] == f"{case}-{transform}"]
                    self.assertEqual((told["time"], [one["name"] for one in told["tests"]]), (transform, [row[0] for row in theirs]))
                    for one, (name, *numbers) in zip(told["tests"], theirs):
                        for key, other in zip(("statistic", "degrees", "p"), map(float, numbers)):
                            self.close(one[key], other, 1e-8, (case, transform, parties, name, key, one[key], other))

    def test_a_summary_shows_errors_and_tests_and_a_damaged_one_is_refused(self):
        self.succeed(*self.words("--set", "errors=robust", "--set", "proportional=km", "--out", "model.json"))
        text = self.succeed("summary", "model.json").stdout
        for words in ("sandwich of Lin and Wei", "Hazard ratios:", "Tests of proportional hazards against km time", "GLOBAL"):
            self.assertIn(words, text)
        with open(self.path / "model.json", encoding="utf-8") as file:
            model = json.load(file)
        for damage in ({}, {"time": "km"}, {"time": "km", "tests": []}, {"time": "x" * 99, "tests": model["estimates"]["proportional"]["tests"]}, {"time": 1, "tests": [{}]}):
            model["estimates"]["proportional"] = damage
            self.write("damaged.json", json.dumps(model))
            self.fail_with(1, "summary", "damaged.json", says=["damaged"])

    def test_what_cannot_be(self):
        late, label = self.rows(), "[since, days, relapse]"
        words = self.words("--set", "width=3000", train=late, schema=self.schema(label))
        self.fail_with(1, *words, says=["in which they enter", "smaller width"])
        lines = Path(late).read_text().splitlines()
        self.write("wrong.csv", "\n".join([lines[0], lines[1].rsplit(",", 2)[0] + ",99999,1", *lines[2:]]) + "\n")
        self.fail_with(1, *self.words(train="wrong.csv", schema=self.schema(label)), says=["row 1", "which is later"])
        self.fail_with(2, *self.words("--terms", "surv(days, relapse) ~ age", train=late, schema=self.schema(label)), says=["write them in this order"])
        self.fail_with(2, *self.words("--set", "errors=cluster"), says=["person: COLUMN"])
        self.fail_with(2, *self.words("--terms", "~ age + cluster(person)", train=late, schema=self.schema(label)), says=["errors=cluster"])
        self.fail_with(2, *self.words("--set", "proportional=km", "--lambda", "0.1"), says=["lambda 0"])
        self.fail_with(2, "simulate", "--method", "survival-exact", "--train", late, "--schema", self.schema(label), "--parties", "3", says=["method cox"])
        self.write("short.yaml", Path(SCHEMA).read_text().replace("[days, relapse]", "[days]"))
        self.fail_with(1, *self.words(schema="short.yaml"), says=["[ENTRY, TIME, EVENT]"])


class Groups(CoxTest):
    def test_cells_are_put_together_until_enough_rows_leave(self):
        for least in (1, 10, 40):
            summary, _ = self.cox("--set", "width=30", "--set", f"least={least}")
            steps = summary["baseline"]
            self.assertEqual(sum(step[2] for step in steps), 4028)
            self.assertEqual(sum(step[3] for step in steps), 571)
            self.assertEqual([step[1] for step in steps], sorted(step[1] for step in steps))
            for _, _, leaving, events, hazard in steps:
                self.assertGreaterEqual(leaving, least)
                self.assertTrue(events < 2 or events >= least)
                self.assertEqual(hazard > 0, events > 0)

    def test_cells_are_counted_in_days_weeks_months_and_years(self):
        for unit, days in (("day", 1), ("week", 7), ("month", 30.4375), ("year", 365.25)):
            words = ("--set", f"unit={unit}", *(("--set", "width=30") if unit == "day" else ()))
            ours, _ = self.cox(*words)
            plain, _ = self.cox("--set", f"width={30 if unit == 'day' else days}")
            self.assertEqual(ours["baseline"], plain["baseline"])
            self.assertEqual(ours["coefficients"], plain["coefficients"])

    def test_a_coarser_grid_moves_hazard_ratios_little(self):
        fine, _ = self.cox("--set", "width=30", "--set", "least=1")
        coarse, _ = self.cox()
        for one, other in zip(fine["coefficients"], coarse["coefficients"]):
            self.assertLess(abs(one["estimate"] - other["estimate"]), one["error"] / 4, one)

    def test_a_model_predicts_and_keeps_its_baseline(self):
        self.succeed(*self.words("--out", "model.json"))
        self.assertIn("571 events", self.succeed("summary", "model.json").stdout)
        told = json.loads(self.succeed("evaluate", "model.json", WILMS, "--json").stdout)
        self.assertAlmostEqual(told["auc"], 0.7177, places=2)
        with open(self.path / "model.json", encoding="utf-8") as file:
            model = json.load(file)
        for damage in ([], [[0, 1, 2, 3, 0.1]], [[0, -1, 2, 1, 0.1]], [[0, 1, 2, 1]], "x"):
            model["estimates"]["baseline"] = damage
            self.write("damaged.json", json.dumps(model))
            self.fail_with(1, "summary", "damaged.json", says=["damaged"])


class Private(CoxTest):
    """Method dpcox. The noise is seeded. Figures of coxph(Surv(days, relapse) ~ unfavourable + stage + age), days as they are (R's survival 3.5)."""
    TERMS = "surv(days, relapse) ~ unfavourable + stage + age"
    COXPH = {"unfavourable": (1.5839, 0.0887), "stage2": (0.6673, 0.1216), "stage3": (0.8174, 0.1208), "stage4": (1.1537, 0.1349), "age": (0.0057, 0.0012)}

    def coefficients(self, epsilon, seed=1):
        words = ["simulate", "--method", "dpcox", "--train", WILMS, "--test", WILMS, "--schema", SCHEMA, "--terms", self.TERMS, "--parties", "20",
                 "--epsilon", epsilon, "--delta", "1e-5", "--seed", str(seed), "--json"]
        found = json.loads(self.succeed(*words).stdout)["summary"]["coefficients"]
        self.assertEqual([one["name"] for one in found], list(self.COXPH))
        return {one["name"]: (one["estimate"], one["error"]) for one in found}

    def off_by(self, found):
        return [abs(found[name][0] - estimate) / error for name, (estimate, error) in self.COXPH.items()]

    def test_without_noise_coefficients_are_near_those_of_coxph(self):
        found = self.coefficients("inf")
        self.assertLess(max(self.off_by(found)), 0.35)
        for name, (_, error) in self.COXPH.items():
            self.assertAlmostEqual(found[name][1] / error, 1, delta=0.1)

    def test_without_noise_columns_that_change_over_wide_bounds_have_the_coefficients_of_cox(self):
        train, schema = str(EXAMPLES / "pbc.link.yaml"), str(EXAMPLES / "pbc_times.schema.yaml")
        exact, _ = self.cox("--set", "width=1", "--set", "least=1", "--together", "id", train=train, schema=schema, parties=1)
        near, _ = self.cox("--set", "width=10", "--epsilon", "inf", "--delta", "1e-5", "--together", "id", train=train, schema=schema, parties=3, method="dpcox")
        for one, other in zip(exact["coefficients"], near["coefficients"], strict=True):  # cells of ten days move cox itself by .58 standard errors (bench/run_dpcox --persons)
            self.assertLess(abs(other["estimate"] - one["estimate"]), 0.75 * one["error"], one["name"])

    def test_at_epsilon_2_they_are_within_two_standard_errors_in_the_median(self):
        draws = [self.coefficients("2", seed) for seed in range(1, 8)]
        self.assertLess(statistics.median(one for found in draws for one in self.off_by(found)), 2)
        for found in draws:  # and their own errors hold the noise
            for name, (estimate, error) in self.COXPH.items():
                self.assertLess(abs(found[name][0] - estimate), 4 * found[name][1])
                self.assertGreater(found[name][1], 1.2 * error)

    def test_what_dpcox_does_not_take_is_refused(self):
        for terms, says in (("surv(days, relapse) ~ age + strata(stage)", "one baseline"), ("surv(days, relapse) ~ 1", "at least 1")):
            self.fail_with(2, "simulate", "--method", "dpcox", "--train", WILMS, "--test", WILMS, "--schema", SCHEMA, "--terms", terms, "--parties", "20",
                           "--epsilon", "2", "--delta", "1e-5", says=[says])


class Refused(CoxTest):
    def rows(self, line, count=200):
        draw = random.Random(5)
        self.write("schema.yaml", "label: {name: [t, e], kind: time, low: 0, high: 10}\ncolumns:\n"
                   "  - {name: x, kind: number, low: 0, high: 1}\n  - {name: z, kind: number, low: 0, high: 2}\n")
        return self.write("rows.csv", "x,z,t,e\n" + "".join(line(draw) for _ in range(count)))

    def refuse(self, line, *words, code=1, says=()):
        self.fail_with(code, *self.words(*words, train=self.rows(line), schema="schema.yaml"), says=says)

    def test_no_finite_estimate(self):
        self.refuse(lambda draw: (lambda x: f"{x},{draw.random():.4f},{draw.uniform(0, 10):.4f},{x}\n")(draw.randrange(2)),
                    says=["no finite estimate", "lambda"])

    def test_columns_that_follow_from_others(self):
        self.refuse(lambda draw: (lambda x: f"{x:.4f},{2 * x:.4f},{draw.uniform(0, 10):.4f},1\n")(round(draw.random(), 3)),
                    says=["follow from the columns before", "z"])

    def test_no_event(self):
        self.refuse(lambda draw: f"{draw.random():.4f},{draw.random():.4f},{draw.uniform(0, 10):.4f},0\n", says=["no row has an event"])

    def test_what_the_method_does_not_take(self):
        line = lambda draw: f"{draw.random():.4f},{draw.random():.4f},{draw.uniform(0, 10):.4f},{draw.randrange(2)}\n"
        self.refuse(line, "--set", "width=0.00001", code=2, says=["larger width"])
        self.refuse(line, "--set", "strata=x", code=2, says=["no category called 'x'"])
        self.fail_with(2, "simulate", "--method", "cox", "--train", str(EXAMPLES / "wilms.csv"), "--schema", str(EXAMPLES / "wilms.schema.yaml"),
                       "--parties", "3", says=["kind time"])
        done = self.tacit(*self.words("--set", "width=1", train=self.rows(lambda draw: f"{draw.random():.4f},{draw.random():.4f},{draw.uniform(0, 10):.4f},0\n"), schema="schema.yaml",
                                      method="cox-servers"))  # which says how far it is, on a slow machine
        self.assertEqual(done.returncode, 1)
        self.assertIn("no row has an event", done.stderr)
        self.fail_with(2, "simulate", "--method", "estimate", "--train", WILMS, "--schema", SCHEMA, "--parties", "3", says=["cox"])


if __name__ == "__main__":
    unittest.main()
