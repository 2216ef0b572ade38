#!/usr/bin/env python3
"""The queries of docs/howto/omop.md and fhir.md, run on small synthetic records: both give the rows that were put in."""
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))
import duckdb_library  # noqa: E402
import postgres  # noqa: E402

TACIT = os.environ["TACIT"]
TABLES = """
CREATE TABLE person (person_id INTEGER, gender_concept_id INTEGER, year_of_birth INTEGER);
CREATE TABLE condition_occurrence (person_id INTEGER, condition_concept_id INTEGER, condition_start_date DATE);
CREATE TABLE measurement (measurement_id INTEGER, person_id INTEGER, measurement_concept_id INTEGER, measurement_date DATE, value_as_number FLOAT);
CREATE TABLE death (person_id INTEGER, death_date DATE);
CREATE TABLE concept_ancestor (ancestor_concept_id INTEGER, descendant_concept_id INTEGER);
INSERT INTO concept_ancestor VALUES (201826, 201826), (201826, 443731), (316866, 316866), (316866, 320128);
"""


def block(page, language):
    text = (ROOT / "docs/howto" / page).read_text()
    return re.search(rf"```{language}\n(.*?)```", text, re.DOTALL).group(1).strip()


def people(seed, count=60):
    """Each with a year of birth, a sex, days of diagnoses and values of HbA1c, and whether and when they died."""
    draw = random.Random(seed)
    for i in range(1, count + 1):
        since = f"{draw.randint(2010, 2020)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}"
        yield {"id": i, "born": draw.randint(1930, 1980), "sex": draw.choice(("male", "female")),
               "since": since if i % 6 else None, "tension": draw.choice((None, "2005-05-05", "2021-01-01")),
               "values": [(draw.choice(("2001-01-01", "2009-12-31", "2022-02-02")), round(draw.uniform(5, 12), 1)) for _ in range(draw.randint(0, 1))],
               "died": draw.choice((None, None, "2023-03-03"))}


def expected(rows):
    made = []
    for one in rows:
        if one["since"] is None:
            continue
        value = [v for day, v in one["values"] if day <= one["since"]]
        known = one["tension"] is not None and one["tension"] <= one["since"]
        made.append([str(int(one["since"][:4]) - one["born"]), one["sex"], f"{value[0]:g}" if value else "", "yes" if known else "no",
                     "yes" if one["died"] else "no"])
    return made


def statements(rows):
    for one in rows:
        i = one["id"]
        yield f"INSERT INTO person VALUES ({i}, {8507 if one['sex'] == 'male' else 8532}, {one['born']})"
        if one["since"]:
            yield f"INSERT INTO condition_occurrence VALUES ({i}, {(201826, 443731)[i % 2]}, '{one['since']}')"
            yield f"INSERT INTO condition_occurrence VALUES ({i}, 201826, '2022-12-31')"  # again, later
        if one["tension"]:
            yield f"INSERT INTO condition_occurrence VALUES ({i}, 320128, '{one['tension']}')"
        for day, value in one["values"]:
            yield f"INSERT INTO measurement VALUES ({i}, {i}, 3004410, '{day}', {value})"
            yield f"INSERT INTO measurement VALUES ({i}, {i}, 3000000, '{day}', 999)"  # of something else
        if one["died"]:
            yield f"INSERT INTO death VALUES ({i}, '{one['died']}')"


def resources(rows, folder):
    def code(*codes):
        return {"coding": [{"system": "any", "code": each} for each in codes]}
    patients, conditions, observations = [], [], []
    for one in rows:
        who = {"reference": f"Patient/{one['id']:03}"}
        patients.append({"resourceType": "Patient", "id": f"{one['id']:03}", "gender": one["sex"], "birthDate": f"{one['born']}-07-01",
                         "name": [{"family": "Never"}], **({"deceasedDateTime": one["died"] + "T10:00:00Z"} if one["died"] else {})})
        if one["since"]:
            conditions.append({"subject": who, "code": code("E11.9", "44054006"), "onsetDateTime": one["since"] + "T08:00:00+01:00"})
        if one["tension"]:
            conditions.append({"subject": who, "code": code("38341003"), "onsetDateTime": one["tension"]})
        conditions.append({"subject": who, "code": code("1"), "onsetDateTime": "2001"})
        for day, value in one["values"]:
            observations.append({"subject": who, "code": code("4548-4"), "effectiveDateTime": day, "valueQuantity": {"value": value, "unit": "%"}})
            observations.append({"subject": who, "code": code("8867-4"), "effectiveDateTime": day, "valueQuantity": {"value": 70}})
    for name, made in (("Patient", patients), ("Condition", conditions), ("Observation", observations)):
        (folder / f"{name}.ndjson").write_text("".join(json.dumps(each) + "\n" for each in made))


class Records(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="tacit-records-")
        self.addCleanup(place.cleanup)
        self.path = Path(place.name)
        (self.path / "diabetes.yaml").write_text(block("omop.md", "yaml"))
        self.rows = list(people(11))
        self.environment = {**os.environ, "TACIT_DUCKDB": duckdb_library.find() or ""}

    def tacit(self, *words):
        done = subprocess.run([TACIT, *map(str, words)], cwd=self.path, env=self.environment, text=True, capture_output=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def expect_rows(self, source):
        self.tacit("data", "check", source, "--schema", "diabetes.yaml")
        self.tacit("data", "convert", source, "--csv", "--out", "rows.csv")
        header, *rows = [line.split(",") for line in (self.path / "rows.csv").read_text().splitlines()]
        self.assertEqual(header, ["age", "sex", "hba1c", "hypertension", "died"])
        self.assertEqual(rows, expected(self.rows))
        self.assertGreater(len(rows), 40)
        self.assertEqual({row[4] for row in rows}, {"yes", "no"})
        self.assertTrue(any(row[2] for row in rows) and not all(row[2] for row in rows))

    def test_omop_in_sqlite(self):
        with sqlite3.connect(self.path / "omop.db") as file:
            file.executescript(TABLES + ";\n".join(statements(self.rows)))
        self.expect_rows(f"sqlite:{self.path}/omop.db?{block('omop.md', 'sql')}")

    def test_omop_in_postgresql(self):
        connection, stop = postgres.start(self.path / "pg")
        if connection is None:
            self.skipTest(stop)
        self.addCleanup(stop)
        psql = next((path for path in Path("/usr/lib/postgresql").glob("*/bin/psql")), None)
        if psql is None:
            self.skipTest("there is no psql")
        done = subprocess.run([psql, connection, "-q", "-v", "ON_ERROR_STOP=1"], input=TABLES + ";\n".join(statements(self.rows)) + ";\n",
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.expect_rows(f"postgres:{connection}?{block('omop.md', 'sql')}")

    def test_fhir(self):
        if not self.environment["TACIT_DUCKDB"]:
            self.skipTest(duckdb_library.MISSING)
        (self.path / "export").mkdir()
        resources(self.rows, self.path / "export")
        self.expect_rows(f"duckdb:{block('fhir.md', 'sql')}")


if __name__ == "__main__":
    unittest.main()
