"""Rows from folders, SQLite and PostgreSQL, linked by a column that never leaves."""
import glob
import os
import random
import shutil
import sqlite3
import subprocess
import unittest
from pathlib import Path

from deployed import DeployedTest

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
        programs = [*glob.glob("/usr/lib/postgresql/*/bin"), os.path.dirname(shutil.which("initdb") or "")]
        place = next((each for each in programs if os.access(os.path.join(each, "pg_ctl"), os.X_OK)), None)
        if place is None:
            self.skipTest("no PostgreSQL server is installed (Debian: postgresql)")
        run, folder = [], self.path / "pg"
        folder.mkdir()
        if os.geteuid() == 0:  # the server refuses to run as root
            if shutil.which("runuser") is None:
                self.skipTest("PostgreSQL does not run as root, and there is no runuser")
            self.path.chmod(0o711)
            shutil.chown(folder, "nobody")
            run = ["runuser", "-u", "nobody", "--"]

        def call(program, *words):
            return subprocess.run([*run, os.path.join(place, program), *words], cwd=folder, text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        made = call("initdb", "-D", str(folder / "data"), "-A", "trust", "-U", "tacit", "--no-sync")
        if made.returncode != 0:
            self.skipTest("initdb failed: " + made.stdout.strip().splitlines()[-1])
        self.addCleanup(call, "pg_ctl", "-D", str(folder / "data"), "-m", "immediate", "stop")
        started = call("pg_ctl", "-D", str(folder / "data"), "-w", "-l", str(folder / "log"), "-o",
                       f"-k {folder} -c listen_addresses='' -c fsync=off", "start")
        if started.returncode != 0:
            self.skipTest("no PostgreSQL server can be started: " + started.stdout.strip().splitlines()[-1])
        return f"host={folder} user=tacit dbname=postgres"

    def test_rows_of_a_postgresql_query(self):
        server = self.server()
        rows = ("SELECT 'pat' || 'ient-' || n % 40 AS who, n / 50.0 AS age, 1 - n / 50.0 AS dose,"
                " CASE WHEN n % 3 = 0 THEN 'yes' ELSE 'no' END AS sick FROM generate_series(0, 49) AS n")
        self.assertIn("yours has 40 rows", self.join_from(f"postgres:{server}?{rows}", "--link", "who"))
        self.refuse_from(1, f"postgres:{server}?CREATE TABLE t (x int)", says=["PostgreSQL", "read-only"])
        self.refuse_from(1, f"postgres:{server}?SELECT 1; SELECT 2", says=["PostgreSQL", "multiple commands"])
        self.refuse_from(1, f"postgres:host={Path(self.path) / 'nowhere'}?SELECT 1", says=["PostgreSQL"])


if __name__ == "__main__":
    unittest.main()
