#!/usr/bin/env python3
"""fit as an owner of rows meets it: a real release, charged before it is written.

    TACIT=build/src/cli/tacit tests/cli/test_fit.py
"""
import json
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import TACIT, ProgramTest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
ROWS = str(EXAMPLES / "breast_cancer.csv")
SCHEMA = str(EXAMPLES / "breast_cancer.schema.yaml")


class Fit(ProgramTest):
    home = "home"

    def environment(self):
        """The same for all processes: variables of OpenBLAS choose its kernels, and other kernels round otherwise."""
        kept = {name: os.environ[name] for name in os.environ if name.endswith("SAN_OPTIONS")}
        return {"PATH": os.environ.get("PATH", ""), "TERM": "dumb", "COLUMNS": "80", **kept, "TACIT_HOME": str(self.path / self.home)}

    def tacit(self, *words, **more):
        return subprocess.run([TACIT, *words], capture_output=True, text=True, cwd=self.path, env=self.environment(),
                              timeout=600, **more)

    def limit(self, epsilon, delta="0", source=ROWS):
        self.succeed("ledger", "limit", "--source", source, "--epsilon", epsilon, "--delta", delta)

    def words(self, method, epsilon, *more):
        return ("fit", "--method", method, "--train", ROWS, "--schema", SCHEMA, "--epsilon", epsilon, "--lambda",
                "0.05", *more)

    def fit(self, *words):
        return json.loads(self.succeed(*self.words(*words), "--json").stdout)

    def spent(self):
        told = json.loads(self.succeed("ledger", "show", "--source", ROWS, "--json").stdout)
        accounts = told["sources"][0]["accounts"]
        return next(a["spent"] for a in accounts if a["study"] is None and a["unit"] == "record")

    def weights(self, name):
        return json.loads((self.path / name).read_text())["weights"]

    def test_a_release_is_charged_and_carries_its_guarantee(self):
        self.limit("2", "0.00001")
        told = self.fit("gop", "0.5", "--delta", "0.00001", "--set", "loss=huber", "--out", "m.json")
        self.assertEqual(sorted(told), ["account", "again", "charged", "claimed", "lambda", "lambda_from", "method", "model", "rows", "source"])
        self.assertEqual(told["charged"], {"unit": "record", "epsilon": 0.5, "delta": 1e-5})
        self.assertEqual((told["method"], told["model"], told["rows"], told["again"]), ("gop", "m.json", 569, False))
        self.assertEqual(told["account"]["remaining"]["epsilon"], 1.5)
        model = json.loads((self.path / "m.json").read_text())
        self.assertEqual((model["loss"], model["huber_width"]), ("huber", 0.5))
        self.assertEqual(model["guarantee"]["charged"], told["charged"])
        self.assertEqual((model["guarantee"]["noise"], model["guarantee"]["private"]), ("exact", True))
        self.assertIn("noise: exact", self.succeed("evaluate", "m.json", ROWS).stdout)
        self.assertEqual(self.spent(), {"epsilon": 0.5, "delta": 1e-5})
        said = self.succeed(*self.words("plr", "1")).stdout
        self.assertIn("model.json", said)
        self.assertIn("of the limit, epsilon 2 at delta ", said)
        self.succeed("ledger", "verify")

    def test_a_draft_of_the_schema_is_refused_until_every_mark_is_gone(self):
        self.limit("2")
        draft = self.succeed("data", "draft-schema", ROWS, "--label", "diagnosis").stdout
        words = ("fit", "--method", "plr", "--train", ROWS, "--schema", "draft.yaml", "--epsilon", "1", "--lambda", "0.05")
        for text, named in ((draft, "the classes of 'diagnosis'; the columns 'mean_radius', 'mean_texture', 'mean_perimeter' and 27 more"),
                            (draft.replace("  from: rows\n", "").replace(", from: rows", "", 30), "the column 'worst_fractal_dimension'; the longest row")):
            self.write("draft.yaml", text)
            self.fail_with(3, *words, says=["draft.yaml: read off the rows, so not private: " + named, "remove 'from: rows'"])
            self.assertFalse((self.path / "model.json").exists())
        self.assertEqual(self.spent(), {"epsilon": 0, "delta": 0})
        self.write("draft.yaml", re.sub("rows: {.*}", "rows: bound", draft).replace("  from: rows\n", "").replace(", from: rows", ""))
        self.succeed(*words)
        guarantee = json.loads((self.path / "model.json").read_text())["guarantee"]
        self.assertTrue(guarantee["private"])
        self.assertNotIn("reason", guarantee)

    def test_a_draft_serves_simulations_which_say_so(self):
        self.succeed("data", "draft-schema", ROWS, "--label", "diagnosis", "--out", "draft.yaml")
        done = self.succeed("simulate", "--method", "avg", "--train", ROWS, "--schema", "draft.yaml", "--parties", "4", "--epsilon", "1",
                            "--lambda", "0.05", "--out", "model.json")
        self.assertIn("draft.yaml", done.stderr)
        self.assertIn("not private", done.stderr)
        guarantee = json.loads((self.path / "model.json").read_text())["guarantee"]
        self.assertFalse(guarantee["private"])
        self.assertIn("read off the rows: the classes of 'diagnosis'; the columns 'mean_radius'", guarantee["reason"])
        told = self.succeed("evaluate", "model.json", ROWS).stdout
        self.assertIn("not private; read off the rows: the classes of 'diagnosis'", told)

    def test_lambda_is_chosen_on_public_rows_or_paid_for(self):
        self.limit("10")
        words = ("fit", "--method", "plr", "--train", ROWS, "--schema", SCHEMA, "--epsilon", "1", "--lambda")
        self.fail_with(2, *words, "choose:0.1,0.01", says=["must be paid for", "select=private:E"])
        self.fail_with(2, *words, "choose:0.1", "--public", ROWS, says=["two candidates"])
        self.fail_with(2, *words, "0.1", "--public", ROWS, says=["--lambda choose"])
        self.fail_with(2, *words, "small", says=["--lambda"])
        paid = json.loads(self.succeed(*words, "choose:0.1,0.01", "--set", "select=private:0.5", "--json").stdout)
        self.assertEqual(paid["charged"], {"unit": "record", "epsilon": 1.5, "delta": 0.0})
        chosen = json.loads((self.path / "model.json").read_text())["guarantee"]["lambda"]
        self.assertIn(chosen, (0.1, 0.01))
        public = str(EXAMPLES / "breast_cancer.csv")
        free = json.loads(self.succeed(*words, "choose:1000,0.05", "--public", public, "--json").stdout)
        self.assertEqual(free["charged"]["epsilon"], 1.0)
        self.assertEqual(json.loads((self.path / "model.json").read_text())["guarantee"]["lambda"], 0.05)
        self.assertEqual(self.spent()["epsilon"], 2.5)

    def test_a_stack_is_released_for_one_price(self):
        self.limit("2")
        told = self.fit("pst-f", "1.5", "--set", "groups=3", "--set", "importance=power:0.9", "--out", "stack.json")
        self.assertEqual(told["charged"]["epsilon"], 1.5)
        stack = json.loads((self.path / "stack.json").read_text())["stack"]
        self.assertEqual(len(stack["members"]), 3)
        self.assertLessEqual(sum(member["scale"] for member in stack["members"]), 1)
        columns = [member["columns"] for member in stack["members"]]
        self.assertEqual([each[-1] for each in columns], [30] * 3)  # the intercept is in every group
        self.assertEqual(sorted(sum((each[:-1] for each in columns), [])), list(range(30)))
        self.assertTrue(self.fit("pst-f", "1.5", "--set", "groups=3", "--set", "importance=power:0.9")["again"])
        shown = self.succeed("predict", "stack.json", ROWS).stdout.splitlines()
        self.assertEqual(len(shown), 570)
        self.fail_with(2, *self.words("pst-h", "0.1"), says=["alone use", "pst-f"])

    def test_it_needs_a_schema_and_takes_no_seed(self):
        self.fail_with(2, "fit", "--method", "plr", "--train", ROWS, "--epsilon", "1", says=["--schema"])
        self.fail_with(2, *self.words("plr", "1", "--seed", "1"), says=["--seed"])
        self.fail_with(2, *self.words("plr", "inf"), says=["--epsilon"])

    def test_without_a_limit_it_is_refused_with_the_remedy(self):
        said = self.fail_with(3, *self.words("plr", "1"), says=["no limit is set"])
        self.succeed(*shlex.split(said.split("needs one: tacit ")[1]))
        self.fit("plr", "1")
        self.fail_with(3, *self.words("plr", "0.5"), says=["costs epsilon 0.5", "spent is epsilon 1", "raise the limit"])

    def test_a_delta_has_its_own_limit(self):
        self.limit("1", "0.000001")
        self.fail_with(3, *self.words("gop", "1", "--delta", "0.001"), says=["costs epsilon 1", "the limit of", "delta 1e-06"])
        self.fail_with(3, *self.words("gop", "0.5", "--delta", "0.001"), says=["set the limit with a larger delta"])
        self.limit("1", "0")
        said = self.fail_with(3, *self.words("gop", "0.5", "--delta", "0.00001"), says=["set the limit with a delta"])
        self.assertNotIn("raise the limit", said)

    def test_asking_again_is_free_and_anything_else_is_not(self):
        self.limit("2")
        self.fit("output", "1", "--out", "a.json")
        self.assertTrue(self.fit("output", "1", "--out", "b.json")["again"])
        self.assertEqual(self.weights("a.json"), self.weights("b.json"))
        self.assertEqual(self.spent()["epsilon"], 1)
        self.assertFalse(self.fit("output", "0.5")["again"])
        self.assertGreater(self.spent()["epsilon"], 1)

    def test_noise_cannot_be_repeated(self):
        seen = []
        for self.home in ("one", "two"):
            self.limit("1")
            self.fit("plr", "1")
            seen.append(self.weights("model.json"))
        self.assertTrue(all(a != b for a, b in zip(*seen)))

    def test_a_model_that_could_not_be_written_is_not_lost(self):
        self.limit("1")
        self.fail_with(1, *self.words("plr", "1", "--out", "nowhere/m.json"), says=["nowhere"])
        self.assertEqual(self.spent()["epsilon"], 0)
        (self.path / "taken").mkdir()
        self.fail_with(1, *self.words("plr", "1", "--out", "taken"), says=["without a second charge"])
        self.assertEqual(self.spent()["epsilon"], 1)
        self.assertTrue(self.fit("plr", "1")["again"])
        self.assertEqual(self.spent()["epsilon"], 1)

    def test_what_a_method_cannot_do_is_said_before_anything_is_charged(self):
        self.limit("1", "0.001")
        rows = self.write("three.csv", "x,kind\n" + "".join(f"0.{i},{'abc'[i % 3]}\n" for i in range(1, 40)))
        self.write("three.yaml", 'label: {name: kind, classes: ["a", "b", "c"]}\n'
                                 "columns:\n  - {name: x, kind: number, low: 0, high: 1}\n")
        three = ("--train", rows, "--schema", "three.yaml", "--epsilon", "1")
        self.fail_with(2, "fit", "--method", "plr", *three, says=["two classes", "output"])
        self.fail_with(2, *self.words("gop", "1"), says=["delta", "at delta 0 use method plr"])
        used = " ".join(json.loads(self.succeed("help", "fit", "--json").stdout)["options"][0]["help"].split())
        self.assertIn("pst-f", used)
        for name in ("avg", "batch", "dpiw"):
            self.fail_with(2, *self.words(name, "1"), says=[used.split(":")[0]])
        self.fail_with(2, *self.words("magic", "1"), says=["magic"])
        self.assertEqual(self.spent()["epsilon"], 0)
        self.limit("1", source=str(self.path / rows))
        self.succeed("fit", "--method", "output", *three)

    def test_sources_that_hold_the_same_people_are_told(self):
        """A copy is told by `ledger limit`, `fit`, `ledger show` and `doctor` until the two share a limit; other rows are not."""
        lines = Path(ROWS).read_text().splitlines(keepends=True)
        original, other, part = (str(self.path / name) for name in ("original.csv", "other.csv", "part.csv"))
        self.write("original.csv", "".join(lines[:300]))
        self.write("other.csv", "".join([lines[0]] + lines[300:]))
        self.write("part.csv", "".join([lines[0]] + lines[250:100:-1]))
        remedy = f"tacit ledger link --source {part} --same-people-as {original}"
        limit = ("ledger", "limit", "--epsilon", "3", "--delta", "1e-5", "--source")
        self.assertNotIn("same people", self.succeed(*limit, original).stderr)
        self.assertNotIn("same people", self.succeed(*limit, other).stderr)
        said = self.succeed(*limit, part).stderr
        self.assertIn(f"about 100% of the rows of {part} are also in {original}", said)
        self.assertIn(remedy, said)
        fit = ("fit", "--method", "gop", "--train", part, "--schema", SCHEMA, "--epsilon", "1", "--delta", "1e-5", "--lambda", "0.05")
        self.assertIn(remedy, self.succeed(*fit).stderr)
        shown = self.succeed("ledger", "show", "--source", part).stdout
        self.assertIn(remedy, shown)
        self.assertRegex(shown, "for information; the limit is counted by both:\n  basic +1\n  rdp ")
        told = json.loads(self.succeed("ledger", "show", "--source", part, "--json").stdout)["sources"][0]
        self.assertEqual([one["source"] for one in told["same_people"]], [original])
        ways = told["accounts"][0]["otherwise"]
        self.assertEqual(sorted(ways), ["basic", "gdp", "pld", "rdp"])
        self.assertEqual(ways["basic"], 1)
        found = json.loads(self.tacit("doctor", "--json").stdout)["findings"]
        self.assertEqual([one["level"] for one in found if one["check"] == "data sources"], ["warn"])
        self.assertEqual((self.path / self.home / "sketches.db").stat().st_mode & 0o777, 0o600)
        self.succeed(*remedy.split()[1:])
        self.assertNotIn("same people", self.succeed(*limit, part).stderr)
        self.assertEqual(json.loads(self.succeed("ledger", "show", "--source", part, "--json").stdout)["sources"][0]["same_people"], [])

    def start(self, *words):
        process = subprocess.Popen([TACIT, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.path, env=self.environment())
        self.addCleanup(process.kill)
        return process

    def test_fits_of_several_processes_on_one_ledger_do_not_end_each_other(self):
        """Of several rounds each, all different: each is charged its price and none withdraws what another was promised."""
        self.limit("100", "1e-3")
        words = [self.words("dpnewton", "1", "--delta", "1e-5", "--set", "noise=party", "--set", f"rounds={12 + k}", "--out", f"{k}.json", "--json")
                 for k in range(4)]
        running = [self.start(*one) for one in words]
        for process in running:
            out, err = process.communicate(timeout=600)
            self.assertEqual(process.returncode, 0, err)
            self.assertFalse(json.loads(out)["again"])
        told = json.loads(self.succeed("ledger", "show", "--source", ROWS, "--json").stdout)["sources"][0]
        fits = {account["study"]: account["sum"]["epsilon"] for account in told["accounts"] if account["study"] is not None and account["unit"] == "record"}
        self.assertEqual(len(fits), 4)
        for epsilon in fits.values():
            self.assertGreater(epsilon, 0.9)
        self.assertEqual(len([entry for entry in told["entries"] if entry["kind"] == "refusal"]), 0)
        before = self.spent()
        self.assertTrue(json.loads(self.succeed(*words[0]).stdout)["again"])
        self.assertEqual(self.spent(), before)
        self.succeed("ledger", "verify")

    def test_the_same_fit_of_two_processes_is_charged_once(self):
        self.limit("1", "1e-5")
        words = self.words("dpnewton", "1", "--delta", "1e-5", "--set", "noise=party", "--set", "rounds=12", "--json")
        running = [self.start(*words, "--out", f"{k}.json") for k in range(2)]
        for process in running:
            _, err = process.communicate(timeout=600)
            self.assertEqual(process.returncode, 0, err)
        self.assertEqual(self.weights("0.json"), self.weights("1.json"))
        self.succeed("ledger", "verify")

    def test_a_fit_of_an_earlier_ledger_is_still_free(self):
        (self.path / self.home).mkdir(mode=0o700)
        ledger = sqlite3.connect(self.path / self.home / "ledger.db")
        ledger.executescript((Path(__file__).resolve().parent / "ledger_one_fit.sql").read_text())
        ledger.close()
        wilms = ("fit", "--train", str(EXAMPLES / "wilms.csv"), "--schema", str(EXAMPLES / "wilms.schema.yaml"), "--source", "wilms", "--lambda", "0.1")
        told = json.loads(self.succeed(*wilms, "--method", "plr", "--epsilon", "1", "--json").stdout)
        self.assertTrue(told["again"])
        self.assertEqual(told["account"]["remaining"]["epsilon"], 0.5)
        self.succeed(*wilms, "--method", "plr", "--epsilon", "0.5")
        self.fail_with(3, *wilms, "--method", "plr", "--epsilon", "0.25", says=["costs epsilon 0.25"])
        self.succeed("ledger", "verify")

    def test_a_limit_of_all_fits_together_holds(self):
        self.limit("9")
        self.succeed("ledger", "limit", "--source", ROWS, "--study", "fit", "--epsilon", "1.5", "--delta", "0")
        self.fit("plr", "1")
        self.fail_with(3, *self.words("plr", "0.75"), says=["for study fit"])
        self.fit("plr", "0.5")
        self.succeed("ledger", "verify")

    def test_few_rows_are_refused(self):
        self.write("few.csv", "".join(Path(ROWS).read_text().splitlines(keepends=True)[:8]))
        shutil.copy(SCHEMA, self.path / "s.yaml")
        self.limit("1", source=str(self.path / "few.csv"))
        self.fail_with(3, "fit", "--method", "plr", "--train", "few.csv", "--schema", "s.yaml", "--epsilon", "1",
                       says=["7 rows", "minimum of 10"])

    def test_a_release_is_made_of_terms_and_charged_once(self):
        self.limit("9")
        words = "plr", "4", "--terms", "diagnosis ~ mean_radius*mean_texture + sqrt(mean_area)", "--out", "model.json"
        self.assertFalse(self.fit(*words)["again"])
        self.assertTrue(self.fit(*words)["again"])
        self.succeed("predict", "model.json", ROWS, "--out", "predicted.csv")
        self.assertFalse(self.fit("plr", "4", "--terms", "diagnosis ~ mean_radius", "--out", "model.json")["again"])  # another release


if __name__ == "__main__":
    unittest.main(verbosity=2)
