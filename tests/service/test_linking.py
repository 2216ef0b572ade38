#!/usr/bin/env python3
"""People measured again and again, between real processes: each party links its own sources, of its own kinds, and studies with words for times, clusters and random
effects get the figures of all rows pooled.

    TACIT=build/src/cli/tacit tests/service/test_linking.py
"""
import csv
import gzip
import json
import os
import random
import sqlite3
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from deployed import DeployedTest
import postgres  # noqa: E402

EXACT = ("--allow-entrusted", "--allow-exact")
PARTIES = range(4)
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PEOPLE = "id,days,died,treatment,age,sex"
VISITS = "id,day,ascites,bili,albumin,protime"


def dealt(name, party):
    """The example's rows of this party's people, whose names nobody else may see."""
    with open(EXAMPLES / name, encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return [[f"patient-{row[0]}", *row[1:]] for row in rows if int(row[0]) % len(PARTIES) == party]


def text(header, rows):
    return "\n".join([header, *map(",".join, rows)]) + "\n"


class Linked(DeployedTest):
    follow_up = "intervals: {until: days, event: died, grid: 30}\n"

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text((EXAMPLES / "pbc_times.schema.yaml").read_text())

    def sqlite(self, folder, name, header, rows):
        with sqlite3.connect(folder / "clinic.db") as file:
            file.execute(f"CREATE TABLE {name} ({header})")
            file.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(header.split(',')))})", rows)
        return f"sqlite:{folder}/clinic.db?SELECT * FROM {name}"

    def postgres(self, folder, header, rows):
        connection, stop = postgres.start(folder / "pg")
        if connection is None:
            return None
        self.addCleanup(stop)
        values = ", ".join("(" + ", ".join(f"''{cell}''" if cell else "NULL" for cell in row) + ")" for row in rows)
        return f"postgres:{connection}?SELECT * FROM (VALUES {values}) AS t ({header})"

    def sources(self, party):
        """Where people and visits of the party are: files beside each other, a folder and SQLite, SQLite and a compressed file elsewhere, PostgreSQL and a file."""
        folder, people, visits = self.path / f"site{party}", dealt("pbc_people.csv", party), dealt("pbc_visits.csv", party)
        folder.mkdir()
        if party == 1:
            (folder / "people").mkdir()
            (folder / "people" / "a.csv").write_text(text(PEOPLE, people[:20]))
            (folder / "people" / "b.csv").write_text(text(PEOPLE, people[20:]))
            return folder, "people", self.sqlite(folder, "visit", VISITS, visits)
        if party == 2:
            elsewhere = self.path / "archive"
            elsewhere.mkdir()
            with gzip.open(elsewhere / "visits.csv.gz", "wt") as file:
                file.write(text(VISITS, sorted(visits)))
            return folder, self.sqlite(folder, "people", PEOPLE, people), str(elsewhere / "visits.csv.gz")
        (folder / "people.csv").write_text(text(PEOPLE, people))
        (folder / "visits.csv").write_text(text(VISITS, visits))
        found = self.postgres(folder, PEOPLE, people) if party == 3 else None
        return folder, found or "people.csv", "visits.csv"

    def link(self, folder, people, visits):
        return f"key: id\nsources:\n  - {{rows: '{people}'}}\n  - {{rows: '{visits}', time: day}}\n" + self.follow_up

    def rows(self, party):
        path = self.path / f"site{party}" / "clinic.link.yaml"
        if not path.exists():
            folder, people, visits = self.sources(party)
            path.write_text(self.link(folder, people, visits))
        return path

    def pooled(self, method, *words):
        """Of parties whose files are simulated as they are; and of all rows at once."""
        texts = [self.succeed("data", "convert", self.rows(party), "--csv").stdout.splitlines() for party in PARTIES]
        (self.path / "all.csv").write_text("\n".join([texts[0][0], *(line for one in texts for line in one[1:])]) + "\n")
        for rows in ([word for party in PARTIES for word in ("--party", self.rows(party))], ["--train", "all.csv", "--parties", "1"]):
            self.succeed("simulate", "--method", method, *rows, "--test", "all.csv", "--schema", "schema.yaml", "--out", "simulated.json", *words)
            yield json.loads((self.path / "simulated.json").read_text())

    def deployed(self, method, terms, settings="{}"):
        self.study(method=method, set=settings, epsilon=None, **{"lambda": 0}, terms=f"'{terms}'", parties="{expected: 4, minimum: 4}", minimum_rows=2)
        self.coordinator()
        for party in PARTIES:  # few patients are ill enough to make up most of the squared gradients of 78
            self.succeed("rules", "set", "--minimum-rows", 2, home=self.home(party))
        model = self.check_done({party: self.join(party, *EXACT) for party in PARTIES}, charged=[])
        for path in [*self.folder.rglob("*"), *(file for party in PARTIES for file in self.home(party).rglob("*"))]:
            # PostgreSQL's rows stand in the query itself, which the settings keep
            if path.is_file() and path.name not in ("settings.json",):
                self.assertNotIn(b"patient-", path.read_bytes(), path)
        return model

    def test_cox_with_columns_that_change_from_sources_of_every_kind(self):
        terms = "surv(start, stop, died) ~ log(bili) + age + strata(sex) + cluster(id)"
        model = self.deployed("cox", terms, "{errors: cluster, width: 30}")
        for other in self.pooled("cox", "--terms", terms, "--set", "errors=cluster", "--set", "width=30"):
            self.assertEqual(model["estimates"]["clusters"], 312)
            for mine, theirs in zip(model["estimates"]["coefficients"], other["estimates"]["coefficients"], strict=True):
                for key in ("estimate", "error"):
                    self.assertAlmostEqual(mine[key], theirs[key], delta=1e-8 * abs(theirs[key]))


class Visits(Linked):
    follow_up = ""

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text((EXAMPLES / "pbc_visits.schema.yaml").read_text())

    def link(self, folder, people, visits):
        return f"key: id\nsources:\n  - {{rows: '{visits}', time: day}}\n  - {{rows: '{people}', columns: [treatment, age, sex]}}\n"

    test_cox_with_columns_that_change_from_sources_of_every_kind = None

    def check_report(self, terms):
        model = self.deployed("mixed", terms)
        for other in self.pooled("mixed", "--terms", terms):
            for ours, theirs in zip(model["report"]["tables"], other["report"]["tables"], strict=True):
                for mine, its in zip(ours["rows"], theirs["rows"], strict=True):
                    for a, b in zip(mine["values"], its["values"]):
                        if b is not None:
                            self.assertAlmostEqual(a, b, delta=1e-5 * (1 + abs(b)), msg=(ours["name"], mine, its))

    def test_random_effects_of_persons(self):
        self.check_report("bili ~ day + (day | person)")

    def test_people_are_protected_with_all_rows_of_all_their_sources(self):
        self.study(method="dpnewton", set="{unit: person, person-rows: 6, noise: party, rounds: 2}", epsilon=4, delta="1e-5", **{"lambda": None}, parties="{expected: 4, minimum: 4}",
                   minimum_rows=78)  # people of each party, whose rows are some 500
        self.coordinator()
        parties = {party: self.join(party) for party in PARTIES}
        parties[0].wait_line("at least 78 persons are required")
        self.check_done(parties, charged=[])
        for party in PARTIES:
            self.assertTrue(self.charges(party))

    def test_clustered_errors_by_the_formula(self):
        terms = "bili ~ day + albumin + cluster(id)"
        model = self.deployed("estimate", terms, "{errors: cluster, family: linear}")
        for other in self.pooled("estimate", "--terms", terms, "--set", "errors=cluster"):
            for mine, theirs in zip(model["estimates"]["coefficients"], other["estimates"]["coefficients"], strict=True):
                for key in ("estimate", "error"):
                    self.assertAlmostEqual(mine[key], theirs[key], delta=1e-8 * abs(theirs[key]))


class Sites(DeployedTest):
    """(1 | site): every party is a term of each sum, so that there have to be many."""
    count = 32

    def rows(self, party):
        path = self.path / f"site{party}.csv"
        if not path.exists():
            draw = random.Random(party)
            level = draw.gauss(0, 1)
            lines = [(dose, level + 2 * dose + draw.gauss(0, 0.5)) for dose in (draw.random() for _ in range(20))]
            path.write_text("dose,effect\n" + "".join(f"{dose:.5f},{effect:.5f}\n" for dose, effect in lines))
        return path

    def test_random_effects_of_sites_by_the_formula(self):
        (self.path / "schema.yaml").write_text("label: {name: effect, kind: number, low: -10, high: 10}\ncolumns:\n  - {name: dose, kind: number, low: 0, high: 1}\n")
        terms = "effect ~ dose + (1 | site)"
        self.study(method="mixed", set="{group: party}", epsilon=None, **{"lambda": 0}, terms=f"'{terms}'", parties=f"{{expected: {self.count}, minimum: {self.count}}}",
                   minimum_rows=10)
        self.coordinator()
        parties = {party: self.start(*self.join_words(party, self.invite(), *EXACT), home=self.home(party)) for party in range(self.count)}
        report = self.check_done(parties, charged=[])["report"]
        each = [word for party in range(self.count) for word in ("--party", self.rows(party))]
        self.succeed("simulate", "--method", "mixed", *each, "--test", self.rows(0), "--schema", "schema.yaml", "--terms", terms, "--set", "group=party", "--out", "each.json")
        for ours, theirs in zip(report["tables"], json.loads((self.path / "each.json").read_text())["report"]["tables"], strict=True):
            self.assertEqual(ours, theirs)


if __name__ == "__main__":
    if "--sites" in sys.argv:
        sys.argv.remove("--sites")
        del Linked, Visits
    else:
        del Sites
    unittest.main()
