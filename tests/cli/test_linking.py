#!/usr/bin/env python3
"""People measured again and again: linking files against R's tmerge, survSplit and reshape, and what is estimated from their rows against coxph and geepack.

Figures of R are those in linking/linking.csv, or fresh ones where Rscript with packages survival and geepack is installed (linking/linking.R makes both).

    TACIT=build/src/cli/tacit tests/cli/test_linking.py
"""
import csv
import functools
import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import TACIT, ProgramTest

HERE = Path(__file__).resolve().parent / "linking"
EXAMPLES = HERE.parents[2] / "examples"
PEOPLE, VISITS = EXAMPLES / "pbc_people.csv", EXAMPLES / "pbc_visits.csv"
FOLLOW = "intervals: {until: days, event: died%s}\n"
TERMS = "surv(start, stop, died) ~ log(bili) + log(protime) + age"


@functools.cache
def figures_of_r():
    text = (HERE / "linking.csv").read_text()
    if shutil.which("Rscript"):
        try:
            done = subprocess.run(["Rscript", HERE / "linking.R", EXAMPLES], capture_output=True, text=True, check=False, timeout=600)
            if done.returncode == 0:
                text = done.stdout
            elif "no package called" not in done.stderr:
                raise RuntimeError(done.stderr)
        except subprocess.TimeoutExpired:
            pass  # on a machine that has no time for R, the stored figures do
    found = {}
    for line in csv.DictReader(text.splitlines()):
        found.setdefault(line["case"], {})[line["name"]] = float(line["a"]), float(line["b"])
    return found


class LinkingTest(ProgramTest):
    def linked(self, text, name="t.link.yaml"):
        return self.write(name, text.replace("PEOPLE", str(PEOPLE)).replace("VISITS", str(VISITS)))

    def rows(self, source):
        return list(csv.DictReader(self.succeed("data", "convert", source, "--csv").stdout.splitlines()))

    def close(self, ours, theirs, relative, what):
        self.assertLessEqual(abs(ours - theirs), relative * (abs(theirs) + 1e-300), what)


class RowsAgainstR(LinkingTest):
    def check(self, case, source):
        rows, theirs = self.rows(source), figures_of_r()[case]
        self.assertEqual(len(rows), theirs["rows"][0], case)
        for name, sums in theirs.items():
            if name == "rows":
                continue
            values = [float(row[name]) if row[name] not in ("", "NA") else -1.0 for row in rows]
            ours = math.fsum(values), math.fsum(number * value for number, value in enumerate(values, 1))
            for mine, other in zip(ours, sums):
                self.close(mine, other, 1e-12, (case, name, ours, sums))

    def test_follow_up_in_pieces_is_that_of_tmerge(self):
        self.check("pieces", str(EXAMPLES / "pbc.link.yaml"))

    def test_values_that_expire_are_those_of_tmerge_with_gaps(self):
        self.check("carry", self.linked("key: id\nsources:\n  - {rows: PEOPLE}\n  - {rows: VISITS, time: day, columns: [bili], carry: 200}\n" + FOLLOW % ""))

    def test_what_has_happened_once_is_that_of_tmerge(self):
        with open(VISITS, encoding="utf-8") as file:
            swollen = [f"{row['id']},{row['day']}\n" for row in csv.DictReader(file) if row["ascites"] == "1"]
        self.write("swollen.csv", "id,day\n" + "".join(swollen))
        self.check("since", self.linked("key: id\nsources:\n  - {rows: PEOPLE}\n  - {rows: swollen.csv, time: day, since: swollen}\n" + FOLLOW % ""))

    def test_declared_cuts_are_those_of_survsplit(self):
        self.check("cut", self.linked("key: id\nsources:\n  - {rows: PEOPLE}\n" + FOLLOW % ", cut: [365, 1000, 2000], episode: part"))

    def test_the_last_value_before_a_visit_is_found_however_rows_are_ordered(self):
        with open(VISITS, encoding="utf-8") as file:
            even = [f"{row['id']},{row['day']},{row['albumin']}\n" for row in csv.DictReader(file) if int(row["day"]) % 2 == 0]
        self.write("even.csv", "who,at,earlier\n" + "".join(sorted(even)))  # as texts: neither by person nor by time
        self.check("earlier", self.linked("key: id\nsources:\n  - {rows: VISITS, time: day}\n  - {rows: even.csv, key: who, time: at, carry: 400}\n"))

    def test_wide_rows_become_those_of_reshape(self):
        self.check("long", str(EXAMPLES / "sleep.link.yaml"))


class EstimatesAgainstR(LinkingTest):
    def estimates(self, *words, method, source, schema, parties):
        done = self.succeed("simulate", "--method", method, "--train", source, "--test", source, "--schema", schema, "--parties", str(parties), "--together", "id",
                            "--seed", "1", "--json", *words)
        summary = json.loads(done.stdout)["summary"]
        return summary, {row["name"]: row for row in summary["coefficients"]}

    def test_cox_with_columns_that_change_is_coxph_with_cluster(self):
        theirs = figures_of_r()
        for parties in (1, 5):
            for case, words in (("cox", ("--terms", TERMS)), ("cox cluster", ("--terms", TERMS + " + cluster(id)", "--set", "errors=cluster"))):
                summary, ours = self.estimates("--set", "width=1", "--set", "least=1", *words, method="cox", source=str(EXAMPLES / "pbc.link.yaml"),
                                               schema=str(EXAMPLES / "pbc_times.schema.yaml"), parties=parties)
                self.assertEqual((summary["rows"], sum(step[3] for step in summary["baseline"])), (1807, 125))
                for name, (estimate, error) in theirs[case].items():
                    self.close(ours[name]["estimate"], estimate, 1e-8, (case, parties, name))
                    self.close(ours[name]["error"], error, 1e-8, (case, parties, name))
        self.assertEqual(summary["clusters"], 312)

    def test_on_a_grid_of_months_cox_is_coxph_on_the_same_grid(self):
        source = self.linked("key: id\nsources:\n  - {rows: PEOPLE}\n  - {rows: VISITS, time: day}\n" + FOLLOW % ", grid: 30.4375")
        summary, ours = self.estimates("--set", "unit=month", "--set", "least=1", "--terms", TERMS, method="cox", source=source, schema=str(EXAMPLES / "pbc_times.schema.yaml"), parties=5)
        self.assertEqual(sum(step[3] for step in summary["baseline"]), 125)
        for name, (estimate, error) in figures_of_r()["cox months"].items():
            self.close(ours[name]["estimate"], estimate, 1e-8, name)
            self.close(ours[name]["error"], error, 1e-8, name)

    def test_clustered_errors_of_visits_with_columns_of_people_are_those_of_geepack(self):
        theirs, persons, rows = figures_of_r()["gee"], 312, 1945
        for parties in (1, 5):
            _, ours = self.estimates("--set", "errors=cluster", "--terms", "bili ~ day + sex + age + albumin + cluster(id)", method="estimate", source=str(EXAMPLES / "pbc_visits.link.yaml"),
                                     schema=str(EXAMPLES / "pbc_visits.schema.yaml"), parties=parties)
            for name, (estimate, error) in theirs.items():
                self.close(ours[name]["estimate"], estimate, 1e-7, (parties, name))
                self.close(ours[name]["error"], error * math.sqrt(persons / (persons - 1) * (rows - 1) / (rows - 5)), 1e-7, (parties, name))


class People(LinkingTest):
    """A person's rows of several sources are one person's, for whatever is promised per person."""

    def tacit(self, *words, **more):
        kept = {name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS")}
        environment = {"PATH": os.environ.get("PATH", ""), "TERM": "dumb", "COLUMNS": "80", **kept, "TACIT_HOME": str(self.path / "home")}
        return subprocess.run([TACIT, *words], capture_output=True, text=True, cwd=self.path, env=environment, timeout=600, check=False, **more)

    def simulate(self, method, source, schema, *words):
        self.succeed("simulate", "--method", method, "--train", source, "--test", source, "--schema", schema, "--parties", "3", "--seed", "1", "--out", "model.json", *words)
        model = json.loads((self.path / "model.json").read_text())
        return model

    def test_grouped_clipping_and_random_effects_see_the_same_persons_as_in_one_table(self):
        source, schema = str(EXAMPLES / "pbc_visits.link.yaml"), str(EXAMPLES / "pbc_visits.schema.yaml")
        flat = self.write("flat.csv", self.succeed("data", "convert", source, "--csv").stdout)
        private = ("--together", "id", "--set", "unit=person", "--epsilon", "2", "--delta", "1e-5")
        for method, words in (("dpnewton", private), ("mixed", ("--together", "id", "--terms", "bili ~ day + (1 | person)"))):
            one, other = (self.simulate(method, rows, schema, *words) for rows in (source, flat))
            self.assertEqual(one["weights"], other["weights"], method)

    def private_words(self, method, rows, schema, *more):
        return ("simulate", "--method", method, "--train", rows, "--test", rows, "--schema", schema, "--parties", "3", "--together", "id", "--epsilon", "2", "--delta", "1e-5", "--seed", "1", *more)

    def test_private_curves_are_of_persons_with_one_row(self):
        self.write("two.yaml", (EXAMPLES / "pbc_times.schema.yaml").read_text().replace("[start, stop, died]", "[stop, died]"))
        self.write("people.yaml", "label: {name: [days, died], kind: time, low: 0, high: 5000}\nperson: id\ncolumns:\n  - {name: treatment, kind: category, levels: [placebo, penicillamine]}\n"
                                  "  - {name: age, kind: number, low: 18, high: 90}\n  - {name: sex, kind: category, levels: [m, f]}\n")
        pieces, people = str(EXAMPLES / "pbc.link.yaml"), str(EXAMPLES / "pbc_people.csv")
        self.fail_with(2, *self.private_words("survival", pieces, str(EXAMPLES / "pbc_times.schema.yaml")), says=["observed from the beginning on"])
        self.fail_with(1, *self.private_words("survival", pieces, "two.yaml"), says=["give one row for each person"])
        for method in ("dpcox", "survival"):
            self.succeed(*self.private_words(method, people, "people.yaml"))

    def test_private_hazard_ratios_are_of_persons_with_any_number_of_rows(self):
        pieces, schema = str(EXAMPLES / "pbc.link.yaml"), str(EXAMPLES / "pbc_times.schema.yaml")
        flat = self.write("flat.csv", self.succeed("data", "convert", pieces, "--csv").stdout)
        tables = []
        for rows in (pieces, flat):
            self.succeed(*self.private_words("dpcox", rows, schema, "--out", "model.json"))
            tables.append(json.loads(self.succeed("summary", "model.json", "--json").stdout))
        self.assertEqual(tables[0]["coefficients"], tables[1]["coefficients"])
        self.assertEqual(tables[0]["rows"], 312)  # persons, of 1,807 rows
        self.write("nobody.yaml", (EXAMPLES / "pbc_times.schema.yaml").read_text().replace("person: id\n", ""))
        self.fail_with(2, *self.private_words("dpcox", flat, "nobody.yaml"), says=["(person: COLUMN)"])

    def test_a_fit_counts_persons_and_not_rows(self):
        self.succeed("ledger", "limit", "--source", "clinic", "--epsilon", "3", "--delta", "1e-4")
        done = self.succeed("fit", "--method", "dpnewton", "--set", "unit=person", "--set", "noise=party", "--train", str(EXAMPLES / "pbc_visits.link.yaml"), "--schema",
                            str(EXAMPLES / "pbc_visits.schema.yaml"), "--source", "clinic", "--epsilon", "2", "--delta", "1e-5", "--out", "model.json")
        self.assertIn("a record is a person here: each of 312 is protected", done.stdout)


class Everywhere(LinkingTest):
    def test_every_command_that_reads_rows_takes_a_linking_file(self):
        source, schema = str(EXAMPLES / "pbc.link.yaml"), str(EXAMPLES / "pbc_times.schema.yaml")
        told = json.loads(self.succeed("data", "check", source, "--schema", schema, "--json").stdout)
        self.assertEqual((told["rows"], told["problems"]), (1807, []))
        self.assertEqual(json.loads(self.succeed("data", "info", source, "--json").stdout)["rows"], 1807)
        self.assertIn("name: bili", self.succeed("data", "draft-schema", source, "--label", "died").stdout)
        told = json.loads(self.succeed("data", "convert", source, "--csv", "--out", "flat.csv", "--json").stdout)
        self.assertEqual(told, {"format": "csv", "rows": 1807, "columns": 11})
        self.succeed("simulate", "--method", "cox", "--train", source, "--test", "flat.csv", "--schema", schema, "--parties", "2", "--together", "id", "--seed", "1",
                     "--set", "width=1", "--terms", TERMS, "--out", "model.json")
        one, other = (json.loads(self.succeed("evaluate", "model.json", rows, "--json").stdout) for rows in (source, "flat.csv"))
        self.assertEqual({**one, "file": ""}, {**other, "file": ""})
        self.assertEqual(self.succeed("predict", "model.json", source).stdout, self.succeed("predict", "model.json", "flat.csv").stdout)

    def test_sources_of_other_kinds_give_the_same_rows(self):
        with sqlite3.connect(self.path / "clinic.db") as file:
            file.execute("CREATE TABLE visit (id INTEGER, day INTEGER, ascites INTEGER, bili REAL, albumin REAL, protime REAL)")
            with open(VISITS, encoding="utf-8") as rows:
                file.executemany("INSERT INTO visit VALUES (?, ?, ?, ?, ?, ?)", [[cell or None for cell in row] for row in list(csv.reader(rows))[1:]])
        folder = self.path / "people"
        folder.mkdir()
        head, *lines = PEOPLE.read_text().splitlines()
        for number in range(2):
            (folder / f"{number}.csv").write_text("\n".join([head, *lines[number * 156:(number + 1) * 156]]) + "\n")
        other = self.linked(f"key: id\nsources:\n  - {{rows: people}}\n  - {{rows: 'sqlite:{self.path}/clinic.db?SELECT * FROM visit', time: day}}\n" + FOLLOW % "")

        def plain(row):
            return {name: "" if cell == "NA" else float(cell) if name not in ("treatment", "sex") and cell else cell for name, cell in row.items()}
        self.assertEqual([plain(row) for row in self.rows(other)], [plain(row) for row in self.rows(str(EXAMPLES / "pbc.link.yaml"))])

    def test_an_error_of_the_schema_names_the_file_that_the_cell_is_from(self):
        lines = VISITS.read_text().splitlines()
        self.write("visits.csv", "\n".join([*lines[:2], "1,192,1,high,2.94,11.2", *lines[3:]]) + "\n")
        source = self.linked("key: id\nsources:\n  - {rows: PEOPLE}\n  - {rows: visits.csv, time: day}\n" + FOLLOW % "")
        self.fail_with(1, "data", "check", source, "--schema", str(EXAMPLES / "pbc_times.schema.yaml"), says=["visits.csv:3:4 (bili)"])
        self.fail_with(2, "data", "info", source, "--no-header", says=["--no-header"])


if __name__ == "__main__":
    unittest.main()
