#!/usr/bin/env python3
"""The tacit program as a user meets it: exit codes, standard output, standard error, files left behind.

    TACIT=build/src/cli/tacit tests/cli/test_program.py
"""
import datetime
import gzip
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TACIT = os.path.abspath(os.environ.get("TACIT", "build/src/cli/tacit"))

GOOD = "age,sex,bmi,outcome\n34,f,22.5,no\n51,m,31,yes\n68,f,19,no\n77,m,24.25,yes\n"


def run(*words, cwd=None, **more):
    environment = {"PATH": os.environ.get("PATH", ""), "TERM": "dumb", "COLUMNS": "80"}
    for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
        if name in os.environ:
            environment[name] = os.environ[name]
    return subprocess.run([TACIT, *words], capture_output=True, text=True, cwd=cwd, env=environment, timeout=600, **more)


def commands():
    return [entry["name"] for entry in json.loads(run("help", "--json").stdout)["commands"]]


class ProgramTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="tacit-test-")
        self.addCleanup(self.folder.cleanup)
        self.path = Path(self.folder.name)

    def write(self, name, text):
        path = self.path / name
        path.write_text(text, encoding="utf-8", newline="")
        return name

    def tacit(self, *words, **more):
        return run(*words, cwd=self.path, **more)

    def succeed(self, *words):
        done = self.tacit(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def fail_with(self, code, *words, says=()):
        """One sentence on standard error, the exit code, no output, and the same as JSON."""
        before = sorted(os.listdir(self.path))
        done = self.tacit(*words)
        lines = [line for line in done.stderr.splitlines() if line.startswith("tacit: ")]
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(len(lines), 1, done.stderr)
        self.assertEqual(done.stderr, lines[0] + "\n")
        self.assertEqual(done.stdout, "")
        for text in says:
            self.assertIn(text, lines[0])
        in_json = self.tacit(*words, "--json")
        self.assertEqual(in_json.returncode, code)
        error = json.loads(in_json.stdout)["error"]
        self.assertEqual(sorted(error), ["code", "message"])
        self.assertEqual(sorted(os.listdir(self.path)), before, "a file was left behind")
        return lines[0]


class Help(ProgramTest):
    def test_every_command_explains_itself_with_an_example(self):
        for name in commands():
            with self.subTest(command=name):
                done = self.succeed(*name.split(), "--help")
                self.assertIn("Example", done.stdout)
                self.assertIn(f"    tacit {name}", done.stdout)
                self.assertEqual(done.stdout, self.succeed("help", *name.split()).stdout)
                for line in done.stdout.splitlines():
                    self.assertTrue(len(line) <= 80 or line.startswith(("    tacit ", "    mpirun ")), line)

    def test_the_overview_lists_every_command(self):
        overview = self.succeed().stdout
        self.assertEqual(overview, self.succeed("--help").stdout)
        self.assertEqual(overview, self.succeed("help").stdout)
        for name in commands():
            self.assertIn(f"  {name} ", overview)

    def test_a_first_word_alone_lists_what_may_follow(self):
        self.assertEqual(self.succeed("data", "--help").stdout, self.succeed("help", "data").stdout)
        self.assertIn("data draft-schema", self.succeed("help", "data").stdout)
        self.fail_with(2, "data", says=["info, draft-schema, check, convert"])

    def test_the_tables_of_studies_and_endpoints_list_themselves(self):
        for topic, known in (("study-settings", {"name", "epsilon", "patience", "schema"}), ("endpoints", {"/v1/join", "/v1/poll"})):
            listed = json.loads(run("help", topic, "--json").stdout)[topic]
            names = [one["name"] for one in listed]
            self.assertLessEqual(known, set(names))
            self.assertEqual(len(set(names)), len(names))
            shown = run("help", topic).stdout
            for one in listed:
                self.assertTrue(one["help"] and one["form"], one)
                self.assertRegex(shown, rf"\n  {re.escape(one['name'])}[ \n]")  # a long name has a line of its own

    def test_the_version_is_printed_and_machine_readable(self):
        version = json.loads(self.succeed("version", "--json").stdout)["version"]
        self.assertEqual(self.succeed("--version").stdout, f"tacit {version}\n")

    def test_the_man_page_covers_every_command_and_is_valid(self):
        page = self.succeed("help", "--man").stdout
        for name in ("TACIT_HOME", "TACIT_DATA", "HTTPS_PROXY, NO_PROXY", "COLUMNS"):
            self.assertIn(f".B {name}\n", page.split(".SH ENVIRONMENT")[1])
        self.assertTrue(page.isascii())
        for name in commands():
            self.assertIn(f".SS tacit {name}\n", page)
        try:
            checked = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-z"], input=page, capture_output=True, text=True)
        except FileNotFoundError:
            self.skipTest("groff is not installed")
        self.assertEqual(checked.stderr, "")


class Explanations(ProgramTest):
    def told(self, *words):
        return " ".join(self.succeed("explain", *words).stdout.split())

    def test_who_hears_single_answers_is_said(self):
        single = "sums none: the coordinator sees each party's answer, with the noise already in it"
        for words in (("dphtl",), ("pst-h",), ("dpstgd",), ("dpsgd", "--delta", "1e-5", "--set", "noise=party", "--set", "keep=0.1")):
            self.assertIn(single, self.told(*words))
        for words in (("avg",), ("dpsgd", "--delta", "1e-5", "--set", "noise=party")):
            self.assertIn("and no single contribution", self.told(*words))
        self.assertIn("sums encrypted: ", self.told("newton"))

    def test_what_is_off_is_not_called_automatic(self):
        self.assertIn("dp=none", self.told("newton"))
        self.assertIn("patience=never", self.told("dpsgd", "--delta", "1e-5"))
        self.assertIn("scale=automatic", self.told("newton"))

    def test_shares_of_noise_are_more_where_more_may_collude(self):
        scales = []
        for words in ((), ("--set", "noise=shares"), ("--set", "noise=shares", "--dropouts", "0.3", "--colluders", "0.3")):
            noise = json.loads(self.succeed("explain", "dpsgd", "--delta", "1e-5", *words, "--json").stdout)["noise"]
            scales.append(noise["scale"])
        self.assertLess(scales[0], scales[1])
        self.assertLess(scales[1], scales[2])


class Mistakes(ProgramTest):
    def test_an_unknown_flag_is_named_with_the_one_that_was_meant(self):
        self.write("a.csv", GOOD)
        self.fail_with(2, "data", "info", "a.csv", "--lable", "x", says=["--lable", "did you mean --label?"])
        self.fail_with(2, "data", "info", "a.csv", "--zzz", says=["--zzz", "tacit data info --help"])

    def test_an_unknown_command_is_named_with_the_one_that_was_meant(self):
        self.fail_with(2, "vresion", says=["vresion", "did you mean version?"])
        self.fail_with(2, "data", "chekc", says=["did you mean data check?"])

    def test_an_error_document_carries_the_status_and_the_sentence(self):
        done = self.tacit("data", "info", "--json")
        error = json.loads(done.stdout)["error"]
        self.assertEqual(error["code"], "USAGE")
        self.assertEqual(done.stderr, f"tacit: {error['message']}\n")

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            done = subprocess.run([TACIT, "help"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("tacit: standard output could not be written", done.stderr)
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run([TACIT, "help"], stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        self.assertEqual((done.returncode, done.stderr), (1, ""), "a reader that has enough is no news to the user")

    def test_a_closed_standard_output_is_not_taken_by_a_file(self):
        self.write("a.csv", GOOD)
        done = subprocess.run(["sh", "-c", f'"{TACIT}" data info a.csv >&-'], cwd=self.path, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertEqual((self.path / "a.csv").read_text(encoding="utf-8"), GOOD)


class BadFiles(ProgramTest):
    """Each reading command meets each bad file: one sentence, exit code, nothing left behind."""

    def every_reader(self, code, name, *more, says=()):
        for words in (["info"], ["draft-schema", "--out", "out.yaml"], ["convert", "--out", "out.svm"]):
            with self.subTest(command=words[0]):
                self.fail_with(code, "data", *words, name, *more, says=says)

    def test_wrong_label_name(self):
        self.every_reader(2, self.write("a.csv", GOOD), "--label", "outcom", says=["outcom", "did you mean", "outcome"])

    def test_wrong_positive_value(self):
        self.every_reader(2, self.write("a.csv", GOOD), "--positive", "maybe", says=["maybe", "a.csv"])

    def test_ragged_row(self):
        self.every_reader(1, self.write("a.csv", GOOD + "1,f,2\n"), says=["a.csv:6"])
        self.every_reader(1, self.write("b.csv", GOOD + "1,f,2,no,9\n"), says=["b.csv:6"])

    def test_non_numeric_cell(self):
        rows = "".join(f"{i},f,20,{'yes' if i % 2 else 'no'}\n" for i in range(12000))
        text = "age,sex,bmi,outcome\n" + rows + "12x,f,20,no\n"
        self.every_reader(1, self.write("a.csv", text), says=["a.csv:12002:1", "12x"])

    def test_non_numeric_cell_against_a_schema(self):
        self.write("a.csv", GOOD)
        self.succeed("data", "draft-schema", "a.csv", "--out", "s.yaml", "--quiet")
        self.write("b.csv", GOOD + "old,f,20,no\n")
        self.fail_with(1, "data", "check", "b.csv", "--schema", "s.yaml", says=["b.csv:6:1", "old"])

    def test_empty_file(self):
        self.every_reader(1, self.write("a.csv", ""), says=["a.csv", "empty"])

    def test_header_without_rows(self):
        self.every_reader(1, self.write("a.csv", "a,b,c\n"), says=["a.csv"])

    def test_a_file_that_is_not_there(self):
        self.every_reader(1, "nothing.csv", says=["nothing.csv"])

    def test_a_damaged_archive(self):
        whole = gzip.compress(GOOD.encode() * 50)
        (self.path / "a.csv.gz").write_bytes(whole[: len(whole) // 2])
        self.every_reader(1, "a.csv.gz", says=["a.csv.gz"])

    def test_header_of_ten_million_columns(self):
        with open(self.path / "wide.csv", "w", encoding="ascii") as wide:
            for first in range(0, 10_000_000, 100_000):
                wide.write("".join(f"c{i}," for i in range(first, first + 100_000)))
            wide.write("label\n1\n")
        self.fail_with(1, "data", "info", "wide.csv", says=["wide.csv", "columns"])

    def test_a_wrong_schema(self):
        self.write("a.csv", GOOD)
        self.write("s.yaml", "label: {name: outcome, classes: [no, yes]}\ncolums: []\n")
        self.fail_with(1, "data", "check", "a.csv", "--schema", "s.yaml", says=["s.yaml:2", "colums"])
        self.fail_with(1, "data", "check", "a.csv", "--schema", "none.yaml", says=["none.yaml"])
        self.fail_with(2, "data", "check", "a.csv", says=["--schema"])

    def test_a_place_that_cannot_be_written(self):
        self.write("a.csv", GOOD)
        self.fail_with(1, "data", "convert", "a.csv", "--out", "no/such/folder/out", says=["no/such/folder/out"])

    def test_an_old_file_survives_a_failure(self):
        self.write("out.svm", "precious")
        self.write("a.csv", GOOD + "1,2\n")
        self.fail_with(1, "data", "convert", "a.csv", "--out", "out.svm")
        self.assertEqual((self.path / "out.svm").read_text(encoding="utf-8"), "precious")


class Data(ProgramTest):
    def test_info_counts_rows_ranges_and_classes(self):
        self.write("a.csv", GOOD)
        told = json.loads(self.succeed("data", "info", "a.csv", "--json").stdout)
        self.assertEqual((told["rows"], len(told["columns"])), (4, 4))
        self.assertEqual((told["columns"][0]["low"], told["columns"][0]["high"]), (34, 77))
        self.assertEqual(told["columns"][1]["levels"], ["f", "m"])
        self.assertEqual(told["label"], {"name": "outcome", "positive": "yes",
                                         "classes": [{"value": "no", "rows": 2}, {"value": "yes", "rows": 2}]})
        text = self.succeed("data", "info", "a.csv", "--positive", "no").stdout
        self.assertIn("34 to 77", text)
        self.assertIn("label outcome: no 2 (positive), yes 2", text)

    def test_info_names_the_cell_that_makes_numbers_a_category(self):
        for cell in ("1e400", "3O"):
            self.write("a.csv", f"a,b,y\n1,2,no\n{cell},x,yes\n3,,no\n4,2,yes\n")
            done = self.succeed("data", "info", "a.csv", "--json")
            self.assertRegex(done.stderr, rf"a\.csv:3: column a .*'{cell}'")
            self.assertEqual(len(done.stderr.splitlines()), 2)  # and b, with two numbers and an x
            columns = json.loads(done.stdout)["columns"]
            self.assertEqual(columns[0]["stray"], {"line": 3, "text": cell})
            self.assertIsNone(columns[2]["stray"])
        self.write("a.csv", "a,y\n1,no\nNA,yes\n2,no\n")  # a missing value is no text
        self.assertEqual(self.succeed("data", "info", "a.csv").stderr, "")
        self.write("a.csv", "a,y\n1,no\ninf,yes\n2,no\n")
        self.fail_with(1, "data", "info", "a.csv", says=["a.csv:3:1 (a): 'inf' is not a finite number"])

    def test_check_fails_where_no_value_of_a_column_is_known(self):
        self.write("s.yaml", "label: {name: y, classes: [no, yes]}\ncolumns: [{name: a, kind: category, levels: [f, m]}]\n")
        self.write("a.csv", "a,y\nF,no\nM,yes\n,no\n")
        done = self.tacit("data", "check", "a.csv", "--schema", "s.yaml")
        self.assertEqual(done.returncode, 1)
        self.assertIn("column 'a': 2 cells whose value is none of its levels, and there is no other: F, M ('F' is written 'f' in the schema). The schema has f, m: recode", done.stderr)
        self.write("a.csv", "a,y\nF,no\nm,yes\n")
        self.assertIn("\na: unknown are F ('F' is written 'f' in the schema)\n", self.succeed("data", "check", "a.csv", "--schema", "s.yaml").stdout)
        self.write("a.csv", "a,y\nf,0\nm,1\n")
        done = self.tacit("data", "check", "a.csv", "--schema", "s.yaml")
        self.assertEqual(done.returncode, 1)
        self.assertIn("2 cells with a value that is no class: 0, 1. The schema has no, yes: recode", done.stderr)

    def test_check_names_the_numbers_outside_their_bounds(self):
        self.write("s.yaml", "label: {name: y, classes: [no, yes]}\ncolumns: [{name: a, kind: number, low: 4, high: 22}, {name: b, kind: number, low: 0, high: 1}]\n")
        self.write("a.csv", "a,b,y\n999,0,no\n23.5,1,yes\n7,0,no\n-1,1,yes\n")
        done = self.succeed("data", "check", "a.csv", "--schema", "s.yaml").stdout
        self.assertIn("\na: 1 below 4, down to -1; where that says that a value is missing, leave the cell empty\n", done)
        self.assertIn("\na: 2 above 22, up to 999; ", done)
        self.assertNotIn("\nb: ", done)

    def test_info_shows_dates_as_dates(self):
        self.write("a.csv", "born;seen;y\n04.03.1931;2024-02-29;no\n17.11.1926;2023-12-31;yes\n")
        done = self.succeed("data", "info", "a.csv").stdout
        self.assertRegex(done, r"\nborn +date +0 +1926-11-17 to 1931-03-04\n")
        self.assertRegex(done, r"\nseen +date +0 +2023-12-31 to 2024-02-29\n")

    def test_check_says_what_counts_as_another_level(self):
        self.write("s.yaml", "label: {name: y, classes: [no, yes], others: no}\n"
                   "columns: [{name: a, kind: category, levels: [pre, post], others: pre, recode: {nach: post}},\n"
                   "          {name: b, kind: category, levels: [u], recode: {v: u}}]\n")
        self.write("a.csv", "a,b,y\npre,v,no\nperi,u,yes\nperi,w,perhaps\nnach,u,yes\n,u,no\n")
        done = self.succeed("data", "check", "a.csv", "--schema", "s.yaml").stdout
        self.assertIn("\na: 2 values of other levels count as 'pre': peri\n", done)
        self.assertIn("\nb: unknown are w\n", done)
        self.assertIn("\ny: 1 value of other levels counts as 'no': perhaps\n", done)
        told = json.loads(self.succeed("data", "check", "a.csv", "--schema", "s.yaml", "--json").stdout)
        self.assertEqual([(one["name"], one["missing"], one["unknown"], one["as_others"]) for one in told["columns"]],
                         [("a", 1, 0, 2), ("b", 0, 1, 0), ("y", 0, 0, 1)])

    CODED = ("label: {name: y, classes: [no, yes], recode: {0: no, '1': yes}}\ncolumns:\n"
             "  - {name: born, kind: number, date: age at seen, low: 0, high: 100}\n"
             "  - {name: grade, kind: category, levels: ['1', '2'], recode: {I: '1', II: '2'}}\nmissing: complete-case\n")

    def test_one_schema_reads_sites_that_code_otherwise(self):
        draw = random.Random(5)
        plain, coded = ["grade,age,y"], ["y;born;grade;seen"]
        for _ in range(60):
            grade, days, y = draw.randint(1, 2), draw.randint(3000, 30000), draw.random() < 0.4
            born, seen = datetime.date(1920, 3, 1) + datetime.timedelta(draw.randint(0, 9000)), None
            seen = born + datetime.timedelta(days)
            plain.append(f"{grade},{days / 365.2425!r},{'yes' if y else 'no'}")
            coded.append(f"{draw.choice(['1.0', '1', 'yes']) if y else '0'};{born:%d.%m.%Y};{draw.choice(['I' * grade, str(grade)])};{seen}")
        self.write("plain.csv", "\n".join(plain) + "\n")
        self.write("coded.csv", "\n".join(coded + ["1;;I;1999-01-01", "1;1950-01-01;I;"]) + "\n")  # either date may be missing
        self.write("coded.yaml", self.CODED)
        self.write("plain.yaml", self.CODED.replace("name: born", "name: age").replace(", date: age at seen", "")
                   .replace(", recode: {0: no, '1': yes}", "").replace(", recode: {I: '1', II: '2'}", ""))
        self.assertIn("2 of the rows are left out", self.succeed("data", "check", "coded.csv", "--schema", "coded.yaml").stdout)
        weights = []
        for name in ("plain", "coded"):
            self.succeed("simulate", "--method", "batch", "--train", f"{name}.csv", "--test", f"{name}.csv", "--schema", f"{name}.yaml",
                         "--parties", "1", "--lambda", "0.01", "--seed", "1", "--out", f"{name}.json")
            weights.append(json.loads((self.path / f"{name}.json").read_text())["weights"])
        for one, other in zip(*weights):
            self.assertAlmostEqual(one, other, places=9)
        schema = json.loads((self.path / "coded.json").read_text())["schema"]
        self.assertIn("recode", schema)
        self.assertIn("age at seen", schema)
        self.fail_with(2, "data", "check", "plain.csv", "--schema", "coded.yaml", says=["born"])
        self.write("bad.csv", "y,born,grade,seen\n1,1950-01-01,I,soon\n")
        self.fail_with(1, "data", "check", "bad.csv", "--schema", "coded.yaml", says=["bad.csv:2:4 (seen): 'soon' is not a date"])

    def test_info_reads_other_labels_and_files_without_header(self):
        self.write("a.csv", GOOD.split("\n", 1)[1])
        told = json.loads(self.succeed("data", "info", "a.csv", "--no-header", "--label", "column2", "--json").stdout)
        self.assertEqual(told["rows"], 4)
        self.assertEqual([entry["value"] for entry in told["label"]["classes"]], ["f", "m"])

    def test_a_draft_schema_warns_and_fits_its_file(self):
        self.write("a.csv", GOOD)
        done = self.succeed("data", "draft-schema", "a.csv")
        self.assertIn("not private", done.stderr)
        self.assertIn("NOT PRIVATE", done.stdout)
        self.write("s.yaml", done.stdout)
        checked = json.loads(self.succeed("data", "check", "a.csv", "--schema", "s.yaml", "--json").stdout)
        self.assertEqual((checked["rows"], checked["outside_bounds"], checked["problems"]), (4, 0, []))
        in_json = json.loads(self.succeed("data", "draft-schema", "a.csv", "--json").stdout)
        self.assertEqual(in_json["schema"], done.stdout)

    def test_check_counts_by_column_and_names_problems(self):
        self.write("a.csv", GOOD)
        schema = self.succeed("data", "draft-schema", "a.csv").stdout
        self.write("s.yaml", schema)
        self.write("b.csv", GOOD + "200,f,1,no\n,other,20,yes\n")
        told = json.loads(self.succeed("data", "check", "b.csv", "--schema", "s.yaml", "--json").stdout)
        by_name = {column["name"]: column for column in told["columns"]}
        self.assertEqual(by_name["age"], {"name": "age", "missing": 1, "missing_rule": "fill", "below": 0, "above": 1, "unknown": 0, "as_others": 0})
        self.assertEqual((by_name["bmi"]["below"], by_name["sex"]["unknown"]), (1, 1))
        self.write("strict.yaml", schema.replace("strict: no", "strict: yes").replace("missing: fill", "missing: error"))
        done = self.tacit("data", "check", "b.csv", "--schema", "strict.yaml", "--json")
        self.assertEqual(done.returncode, 1)
        told = json.loads(done.stdout)
        self.assertEqual(told["error"]["code"], "INPUT")
        self.assertEqual(len(told["problems"]), 2)
        self.assertIn("column 'age': 1 cell missing", told["error"]["message"])

    def test_rows_survive_a_conversion_and_back(self):
        self.write("a.csv", GOOD)
        self.succeed("data", "convert", "a.csv", "--out", "a.svm")
        self.assertEqual((self.path / "a.svm").read_text(encoding="utf-8"),
                         "-1 1:34 2:1 4:22.5\n+1 1:51 3:1 4:31\n-1 1:68 2:1 4:19\n+1 1:77 3:1 4:24.25\n")
        self.assertEqual(os.stat(self.path / "a.svm").st_mode & 0o777, 0o600)
        self.assertEqual(self.succeed("data", "convert", "a.svm").stdout.splitlines()[:2],
                         ["x1,x2,x3,x4,label", "34,1,0,22.5,-1"])
        told = json.loads(self.succeed("data", "info", "a.svm", "--json").stdout)
        self.assertEqual((told["format"], told["rows"], told["features"]), ("libsvm", 4, 4))

    def test_missing_values_are_not_turned_into_zeros(self):
        self.write("a.csv", GOOD + ",f,20,no\n")
        self.fail_with(1, "data", "convert", "a.csv", "--out", "a.svm", says=["age", "missing"])


class Interrupts(ProgramTest):
    def test_ctrl_c_ends_in_order_and_leaves_nothing(self):
        examples = Path(__file__).resolve().parents[2] / "examples"
        process = subprocess.Popen(
            [TACIT, "simulate", "--method", "avg", "--train", examples / "breast_cancer.csv", "--schema",
             examples / "breast_cancer.schema.yaml", "--parties", "5", "--epsilon", "1", "--trials", "1000000",
             "--out", "model.json"],
            cwd=self.path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for line in process.stderr:  # it tells how far it is once it takes more than a moment
            if " %" in line:
                break
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=600)
        self.assertEqual(process.returncode, 1, err)
        self.assertIn("tacit: interrupted", err)
        self.assertEqual(os.listdir(self.path), [])


if __name__ == "__main__":
    unittest.main(verbosity=2, argv=[sys.argv[0], *sys.argv[1:]])
