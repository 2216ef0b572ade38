"""Every command that reads rows takes every source, and what comes of it is the same whatever holds the rows."""
import gzip
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import postgres  # noqa: E402

TACIT = os.environ["TACIT"]
SCHEMA = """label: {name: sick, classes: ["no", "yes"]}
columns:
  - {name: age, kind: number, low: 0, high: 1}
  - {name: ward, kind: category, levels: [a, "b, c"]}
"""
QUERY = "SELECT age, ward, sick FROM visit ORDER BY n"


def visits(count=300):
    draw = random.Random(5)
    rows = []
    for i in range(count):
        age = draw.random() if i % 17 else None
        rows.append((i, age, draw.choice(("a", "b, c")), "yes" if (age or 0.5) + draw.gauss(0, 0.3) > 0.5 else "no"))
    return rows


def table(rows):
    return "age,ward,sick\n" + "".join(f"{'' if age is None else repr(age)},\"{ward}\",{sick}\n" for _, age, ward, sick in rows)


class Foreign(unittest.TestCase):
    def test_files_of_other_programs_are_named_for_what_they_are(self):
        """Whatever their name says, damaged or not, whether what reads them is installed or not."""
        sas = bytes(12) + b"\xc2\xea\x81\x60\xb3\x14\x11\xcf\xbd\x92\x08\x00" + bytes(40)
        files = {"p.parquet": (b"PAR1damaged", "a Parquet file"), "p.csv": (b"PAR1damaged", "a Parquet file"),
                 "s.sas7bdat": (sas, "a SAS file (.sas7bdat)"), "s.csv": (sas, "a SAS file (.sas7bdat)"),
                 "t.xpt": (b"HEADER RECORD*******LIBRARY", "a SAS transport file (.xpt)"), "s.sav": (b"$FL2@(#) SPSS", "an SPSS file (.sav)"),
                 "w.csv": (b"PK\x03\x04\x14", "an Excel or OpenDocument workbook")}
        with tempfile.TemporaryDirectory(prefix="tacit-rows-") as place:
            for name, (content, says) in files.items():
                path = Path(place) / name
                path.write_bytes(content)
                for duckdb in (None, "/nowhere/libduckdb.so"):
                    environment = {**os.environ, **({"TACIT_DUCKDB": duckdb} if duckdb else {})}
                    done = subprocess.run([TACIT, "data", "info", path], capture_output=True, text=True, timeout=600, env=environment)
                    with self.subTest(name, duckdb=duckdb):
                        self.assertIn(done.returncode, (1, 2))
                        self.assertRegex(done.stderr, re.escape(name) + "(,| is) " + re.escape(says))
                        self.assertEqual(done.stdout, "")


class Rows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        place = tempfile.TemporaryDirectory(prefix="tacit-rows-")
        cls.addClassCleanup(place.cleanup)
        cls.path, rows = Path(place.name), visits()
        (cls.path / "rows.csv").write_text(table(rows))
        (cls.path / "schema.yaml").write_text(SCHEMA)
        folder = cls.path / "folder"
        folder.mkdir()
        (folder / "1.csv").write_text(table(rows[:100]))
        (folder / "2.csv.gz").write_bytes(gzip.compress(table(rows[100:]).encode()))
        (folder / "3.csv.part").write_text("half a f")
        with sqlite3.connect(cls.path / "clinic.db") as file:
            file.execute("CREATE TABLE visit (n INTEGER, age REAL, ward TEXT, sick TEXT)")
            file.executemany("INSERT INTO visit VALUES (?, ?, ?, ?)", rows)
        cls.sources = {"csv": str(cls.path / "rows.csv"), "folder": str(folder),
                       "sqlite": f"sqlite:{cls.path}/clinic.db?{QUERY}"}
        connection, stop = postgres.start(cls.path / "pg")
        if connection is None:
            print(stop, file=sys.stderr)
            return
        cls.addClassCleanup(stop)
        values = ",".join(f"({n},{'NULL' if age is None else repr(age)},'{ward}','{sick}')" for n, age, ward, sick in rows)
        made = f"CREATE TABLE visit (n integer, age float8, ward text, sick text); INSERT INTO visit VALUES {values}"
        subprocess.run(["psql", "-q", connection, "-c", made], check=True, stdin=subprocess.DEVNULL)
        cls.sources["postgres"] = f"postgres:{connection}?{QUERY}"

    def run_tacit(self, *words, home=None):
        environment = {**os.environ, "TACIT_HOME": str(home or self.path / "home"), "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.run([TACIT, *map(str, words)], capture_output=True, text=True, env=environment)

    def same_of_all(self, *words, out=lambda done: done.stdout, home=False):
        """Run a command with each source in the place of SOURCE; what it writes must be the same."""
        wrote = {}
        for kind, source in self.sources.items():
            done = self.run_tacit(*[source if word == "SOURCE" else word for word in words],
                                  home=self.path / f"home-{kind}" if home else None)
            self.assertEqual(done.returncode, 0, f"{kind}: {done.stderr}")
            wrote[kind] = out(done).replace(source, "SOURCE")
        for kind, text in wrote.items():
            self.assertEqual(text, wrote["csv"], kind)
        return wrote["csv"]

    def test_data_info_draft_check_and_convert(self):
        info = self.same_of_all("data", "info", "SOURCE")
        self.assertIn("300 rows, 3 columns", info)
        draft = self.same_of_all("data", "draft-schema", "SOURCE")
        self.assertIn("from: rows", draft)
        check = self.same_of_all("data", "check", "SOURCE", "--schema", self.path / "schema.yaml")
        self.assertIn("18 missing", check)
        full = self.path / "full.csv"
        full.write_text("".join(line for line in table(visits()).splitlines(True) if line[0] != ","))
        where = " WHERE age IS NOT NULL ORDER BY"
        sources = [full] + [source.replace(" ORDER BY", where) for kind, source in self.sources.items()
                            if kind in ("sqlite", "postgres")]
        converted = {self.run_tacit("data", "convert", source).stdout for source in sources}
        self.assertEqual(len(converted), 1)
        self.assertEqual(len(next(iter(converted)).splitlines()), 282)

    def test_data_info_names_the_format(self):
        for kind, source in self.sources.items():
            done = self.run_tacit("data", "info", source, "--json")
            self.assertEqual(json.loads(done.stdout)["format"], "csv" if kind == "folder" else kind)

    def test_data_info_names_the_file_of_a_stray_text(self):
        folder = self.path / "stray"
        folder.mkdir()
        (folder / "1.csv").write_text("x,y\n1,a\n2,b\n3,a\n")
        (folder / "2.csv").write_text("x,y\n4,a\n1e400,b\n")
        done = self.run_tacit("data", "info", folder, "--json")
        self.assertEqual(json.loads(done.stdout)["columns"][0]["stray"],
                         {"line": 3, "text": "1e400", "file": str(folder / "2.csv")})
        self.assertIn("2.csv:3: column x", self.run_tacit("data", "info", folder).stderr)

    def test_fit_predict_and_evaluate(self):
        for kind, source in self.sources.items():
            home, model = self.path / f"fit-{kind}", self.path / f"{kind}.json"
            self.assertEqual(self.run_tacit("ledger", "limit", "--source", source, "--epsilon", 5, home=home).returncode, 0)
            done = self.run_tacit("fit", "--method", "plr", "--train", source, "--schema", self.path / "schema.yaml",
                                  "--epsilon", 1, "--lambda", 0.1, "--out", model, "--json", home=home)
            self.assertEqual(done.returncode, 0, f"{kind}: {done.stderr}")
            self.assertEqual(json.loads(done.stdout)["rows"], 300)
            self.assertEqual(json.loads(done.stdout)["source"], os.path.realpath(source) if os.path.exists(source) else source)
        model = self.path / "csv.json"
        self.assertEqual(len(self.same_of_all("predict", model, "SOURCE").splitlines()), 301)
        self.same_of_all("evaluate", model, "SOURCE")

    def test_simulate_trains_and_tests_on_every_source(self):
        def figures(done):
            return json.dumps([{key: value for key, value in run.items() if "seconds" not in key and "time" not in key}
                               for run in json.loads(done.stdout)["runs"]])
        self.same_of_all("simulate", "--method", "avg", "--train", "SOURCE", "--test", "SOURCE", "--schema", self.path / "schema.yaml",
                         "--parties", 3, "--epsilon", 1, "--lambda", 0.1, "--seed", 7, "--json", out=figures)
        self.same_of_all("simulate", "--method", "soft", "--train", "SOURCE", "--aux", "SOURCE", "--schema",
                         self.path / "schema.yaml", "--parties", 3, "--epsilon", 1, "--lambda", 0.1, "--seed", 7, "--json", out=figures)

    def test_a_password_is_refused_by_every_command(self):
        source = "postgres:host=db user=u password=hidden?SELECT 1"
        for words in (["data", "info", source], ["data", "check", source, "--schema", self.path / "schema.yaml"],
                      ["data", "draft-schema", source], ["data", "convert", source],
                      ["simulate", "--method", "avg", "--train", source, "--bounds-from-data", "--parties", 3, "--epsilon", 1],
                      ["fit", "--method", "plr", "--train", source, "--schema", self.path / "schema.yaml", "--epsilon", 1,
                       "--lambda", 0.1, "--out", self.path / "m.json"]):
            done = self.run_tacit(*words)
            self.assertEqual(done.returncode, 2, words)
            self.assertIn("holds a password", done.stderr)
            self.assertNotIn("hidden", done.stdout + done.stderr)

    def test_errors_name_the_place(self):
        schema = self.path / "narrow.yaml"
        schema.write_text(SCHEMA.replace("columns:", "missing: error\ncolumns:"))
        for kind, place in {"csv": "rows.csv:2:1 (age)", "folder": "1.csv:2:1 (age)", "sqlite": "clinic.db: row 1, column 1 (age)",
                            "postgres": "PostgreSQL: row 1, column 1 (age)"}.items():
            if kind in self.sources:
                done = self.run_tacit("simulate", "--method", "avg", "--train", self.sources[kind], "--schema", schema,
                                      "--parties", 3, "--epsilon", 1, "--lambda", 0.1)
                self.assertEqual(done.returncode, 1)
                self.assertIn(place, done.stderr)


if __name__ == "__main__":
    unittest.main()
