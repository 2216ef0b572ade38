"""Rows from folders, SQLite, PostgreSQL and DuckDB, linked by a column that never leaves."""
import os
import random
import sqlite3
import sys
import unittest
from pathlib import Path

from deployed import DeployedTest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import duckdb_library  # noqa: E402
import postgres  # noqa: E402

HEADER = "who,age,dose,sick"


def visits(seed, count):
    draw = random.Random(seed)
    return [(f"patient-{seed}-{i}", round(draw.random(), 6), round(draw.random(), 6), draw.choice(("no", "yes")))
            for i in range(count)]


def table(rows):
    return "\n".join([HEADER] + [",".join(map(str, row)) for row in rows]) + "\n"


class Sources(DeployedTest):
    def setUp(self):
        super().setUp()
        self.study()
        self.coordinator()

    def join_from(self, data, *more, party=0):
        """What the party says of itself when it joins with this source."""
        home = self.home(party)
        self.succeed("ledger", "limit", "--source", "clinic", "--epsilon", 10, home=home)
        done = self.succeed("join", self.invite(), "--data", data, "--source", "clinic", "--schema",
                            self.path / "schema.yaml", "--yes", "--no-wait", *more, home=home)
        for path in [*home.rglob("*"), *self.folder.rglob("*")]:
            self.assertNotIn(b"patient-", path.read_bytes() if path.is_file() else b"", path)
        return done.stderr

    def refuse_from(self, code, data, *more, says):
        self.succeed("ledger", "limit", "--source", "clinic", "--epsilon", 10, home=self.home(9))
        self.refuse(code, "join", self.invite(), "--data", data, "--source", "clinic", "--schema",
                    self.path / "schema.yaml", "--yes", *more, home=self.home(9), says=says)

    def test_a_folder_is_one_table_and_a_later_row_replaces_an_earlier(self):
        folder = self.path / "rows"
        folder.mkdir()
        first, second = visits(1, 30), visits(2, 20)
        (folder / "2026-01.csv").write_text(table(first))
        (folder / "2026-02.csv").write_text(table(second + first[:5]))
        (folder / "2026-03.csv.part").write_text("half a f")  # still being written
        self.assertIn("yours has 55 rows", self.join_from(folder))
        self.assertIn("yours has 50 rows", self.join_from(folder, "--link", "who", party=1))
        self.refuse_from(2, folder, "--link", "patient", says=["no column 'patient'"])
        (folder / "2026-04.csv").write_text("age,dose,sick\n0.5,0.5,no\n")
        self.refuse_from(1, folder, says=["2026-04.csv", "same header"])

    def test_a_folder_without_tables_is_one_of_documents(self):
        for word in ("well", "sick"):
            (self.path / "letters" / word).mkdir(parents=True)
            for i in range(15):
                (self.path / "letters" / word / f"{i}.txt").write_text(f"I feel {word}, letter {i} says\n")
        (self.path / "letters.yaml").write_text(
            "columns:\n  - {name: text, kind: text, hash: 32}\n"
            "label: {name: folder, classes: [well, sick]}\n")
        self.study("letters", schema="letters.yaml")
        home = self.home(0)
        self.succeed("ledger", "limit", "--source", "clinic", "--epsilon", 10, home=home)
        done = self.succeed("join", self.invite(study="letters"), "--data", self.path / "letters", "--source", "clinic", "--schema",
                            self.path / "letters.yaml", "--yes", "--no-wait", home=home)
        self.assertIn("yours has 30 rows", done.stderr)

    def test_a_source_with_the_same_people_as_another_is_told_before_consent(self):
        (self.path / "rows.csv").write_text(table(visits(3, 60)))
        (self.path / "copy.csv").write_text(table(visits(3, 60)[::-1]))
        self.succeed("ledger", "limit", "--source", self.path / "copy.csv", "--epsilon", 1, home=self.home(0))
        said = self.join_from(self.path / "rows.csv")
        self.assertIn(f"clinic holds the same rows as {self.path / 'copy.csv'}", said)
        self.assertIn(f"tacit ledger link --source clinic --same-people-as {self.path / 'copy.csv'}", said)

    def test_rows_of_a_sqlite_query(self):
        path = self.path / "clinic.db"
        with sqlite3.connect(path) as file:
            file.execute("CREATE TABLE visit (who TEXT, age REAL, dose REAL, sick TEXT, ward INTEGER)")
            file.executemany("INSERT INTO visit VALUES (?, ?, ?, ?, 7)", visits(1, 40) + visits(1, 40)[:10])
        query = f"sqlite:{path}?SELECT who, age, dose, sick FROM visit WHERE ward = 7"
        self.assertIn("yours has 40 rows", self.join_from(query, "--link", "who"))
        self.refuse_from(1, f"sqlite:{path}?SELECT nothing", says=["clinic.db", "nothing"])
        self.refuse_from(2, f"sqlite:{path}?SELECT age FROM visit; DELETE FROM visit", says=["one SELECT"])
        self.refuse_from(2, f"sqlite:{path}?DELETE FROM visit", says=["one SELECT"])
        self.refuse_from(2, f"sqlite:{path}", says=["question mark"])
        with sqlite3.connect(path) as file:
            self.assertEqual(file.execute("SELECT count(*) FROM visit").fetchone(), (50,))

    def server(self):
        """A PostgreSQL server of our own, on a socket in our folder."""
        connection, stop = postgres.start(self.path / "pg")
        if connection is None:
            self.skipTest(stop)
        self.addCleanup(stop)
        return connection

    def test_rows_of_a_postgresql_query(self):
        server = self.server()
        rows = ("SELECT 'pat' || 'ient-' || n % 40 AS who, n / 50.0 AS age, 1 - n / 50.0 AS dose,"
                " CASE WHEN n % 3 = 0 THEN 'yes' ELSE 'no' END AS sick FROM generate_series(0, 49) AS n")
        self.assertIn("yours has 40 rows", self.join_from(f"postgres:{server}?{rows}", "--link", "who"))
        self.refuse_from(1, f"postgres:{server}?CREATE TABLE t (x int)", says=["PostgreSQL", "read-only"])
        self.refuse_from(1, f"postgres:{server}?SELECT 1; SELECT 2", says=["PostgreSQL", "multiple commands"])
        self.refuse_from(1, f"postgres:host={Path(self.path) / 'nowhere'}?SELECT 1", says=["PostgreSQL"])

    def test_rows_that_duckdb_reads(self):
        library = duckdb_library.find()
        if library is None:
            self.skipTest(duckdb_library.MISSING)
        before = os.environ.get("TACIT_DUCKDB")
        self.addCleanup(lambda: os.environ.pop("TACIT_DUCKDB") if before is None else os.environ.update(TACIT_DUCKDB=before))
        os.environ["TACIT_DUCKDB"] = library
        rows = self.path / "visits.ndjson"
        rows.write_text("".join('{"who": "%s", "age": %s, "dose": %s, "sick": "%s"}\n' % row for row in visits(1, 40)))
        self.assertIn("yours has 40 rows", self.join_from(rows, "--link", "who"))
        query = f"duckdb:SELECT * FROM '{rows}' WHERE age < .5"
        few = sum(row[1] < .5 for row in visits(1, 40))
        self.assertIn(f"yours has {few} rows", self.join_from(query, party=1))
        self.refuse_from(2, f"duckdb:COPY (SELECT 1) TO '{self.path / 'out.csv'}'", says=["one SELECT"])


if __name__ == "__main__":
    unittest.main()
