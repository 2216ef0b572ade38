#!/usr/bin/env python3
"""Cross-validation over parties: every figure is that of R's glm on the same folds, for 1, 5 and 20 parties.

Which rows are in which fold is worked out here from the rule in docs/methods/estimate.md, in Python. Figures of R are
those in folds/figures.csv, or fresh ones where Rscript has pROC (folds/folds.R and evaluate/figures.R make both).

    TACIT=build/src/cli/tacit tests/cli/test_folds.py [--update]
"""
import csv
import json
import os
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_evaluate import EXAMPLES, EvaluateTest, installed, table

HERE = Path(__file__).resolve().parent / "folds"
STORED = HERE / "figures.csv"
PBC = """label: {name: death, classes: ["no", "yes"]}
missing: complete-case
columns:
  - {name: age, kind: number, low: 15, high: 90}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: chol, kind: number, low: 100, high: 2000}
  - {name: albumin, kind: number, low: 1, high: 6}
  - {name: spiders, kind: category, levels: ["0", "1"]}
"""
NUMBER = """label: {name: mean_perimeter, kind: number, low: 20, high: 250}
columns:
  - {name: mean_texture, kind: number, low: 5, high: 45}
  - {name: mean_smoothness, kind: number, low: 0, high: 0.3}
"""
# Rows, schema, R's model and family, the columns that must not be missing, the label and its positive class.
CASES = {
    "wilms": (EXAMPLES / "wilms.csv", (EXAMPLES / "wilms.schema.yaml").read_text().replace("high: 120", "high: 240"),
              "relapse == 'yes' ~ unfavourable + factor(stage) + late_unfavourable + age + study", "binomial", (), "relapse"),
    "pbc": (EXAMPLES / "pbc.csv", PBC, "death == 'yes' ~ age + sex + chol + albumin + factor(spiders)", "binomial",
            ("age", "sex", "chol", "albumin", "spiders"), "death"),
    "number": (EXAMPLES / "breast_cancer.csv", NUMBER, "mean_perimeter ~ mean_texture + mean_smoothness", "gaussian", (), None),
}
MASK = (1 << 64) - 1


def siphash(data, key=bytes(16)):
    """SipHash-2-4."""
    def turn(x, by):
        return ((x << by) | (x >> (64 - by))) & MASK
    k0, k1 = struct.unpack("<QQ", key)
    v = [k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573]

    def rounds(count):
        for _ in range(count):
            v[0] = (v[0] + v[1]) & MASK
            v[1] = turn(v[1], 13) ^ v[0]
            v[0] = turn(v[0], 32)
            v[2] = (v[2] + v[3]) & MASK
            v[3] = turn(v[3], 16) ^ v[2]
            v[0] = (v[0] + v[3]) & MASK
            v[3] = turn(v[3], 21) ^ v[0]
            v[2] = (v[2] + v[1]) & MASK
            v[1] = turn(v[1], 17) ^ v[2]
            v[2] = turn(v[2], 32)
    whole = len(data) // 8 * 8
    last = data[whole:] + bytes(7 - len(data) % 8) + bytes([len(data) & 255])
    for (word,) in struct.iter_unpack("<Q", data[:whole] + last):
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xff
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def deal(rows, label, folds, seed, person=None):
    """The fold of each row, by the rule in the docs."""
    names = {name: siphash(name.encode()) for name in rows[0]}
    key = struct.pack("<QQ", seed, 0)
    hashes = []
    for row in rows:
        cells = sum(siphash(struct.pack("<QQ", names[name], siphash(text.encode()))) for name, text in row.items())
        hashes.append(siphash(struct.pack("<Q", cells & MASK), key))
    if person is not None:
        whose = {}
        for row, one in zip(rows, hashes):
            whose[row[person]] = min(one, whose.get(row[person], MASK))
        place = {name: at % folds for at, name in enumerate(sorted(whose, key=whose.get))}
        return [place[row[person]] for row in rows]
    order = sorted(range(len(rows)), key=lambda i: (rows[i][label] == "yes" if label else 0, hashes[i]))
    out = [0] * len(rows)
    for at, i in enumerate(order):
        out[i] = at % folds
    return out


class FoldsTest(EvaluateTest):
    def parties(self, case, parties):
        """A file a party; their rows."""
        file, schema, *_ = CASES[case]
        self.write(f"{case}.yaml", schema)
        rows = list(csv.DictReader(file.read_text().splitlines()))
        parts = [rows[party::parties] for party in range(parties)]
        for party, part in enumerate(parts):
            with open(self.path / f"{case}{party}.csv", "w", newline="") as out:
                writer = csv.DictWriter(out, rows[0].keys())
                writer.writeheader()
                writer.writerows(part)
        return parts

    def check(self, report, expected, tolerance):
        """Figures at a threshold that few rows are beyond are not published."""
        thresholds = table(report, "thresholds") if any("@" in name for name in expected) else {}
        said = {name: value for name, value in expected.items()
                if "@" not in name or thresholds[name.partition("@")[2]].get(name.partition("@")[0]) is not None}
        self.assertGreaterEqual(len(said), 7)
        super().check(report, said, tolerance)

    def validate(self, case, parties, *words, folds=5):
        files = [word for party in range(parties) for word in ("--party", f"{case}{party}.csv")]
        return json.loads(self.succeed("simulate", "--method", "estimate", *files, "--test", f"{case}0.csv", "--schema",
                                       f"{case}.yaml", "--set", f"folds={folds}", "--seed", "1", "--json", *words).stdout)["summary"]

    def r_rows(self, case, parts):
        """All rows with their folds, for R."""
        *_, needed, label = CASES[case]
        with open(self.path / "folds.csv", "w", newline="") as out:
            writer = csv.DictWriter(out, [*parts[0][0].keys(), "fold"])
            writer.writeheader()
            for part in parts:
                kept = [row for row in part if all(row[name] not in ("", "NA") for name in needed)]
                for row, fold in zip(kept, deal(kept, label, 5, 1)):
                    writer.writerow({**row, "fold": fold})

    def figures(self, case, parties, parts):
        if not installed()["pROC"]:
            return {name: float(value) for which, name, value in list(csv.reader(STORED.read_text().splitlines()))[1:]
                    if which == f"{case}{parties}"}
        _, _, model, family, *_ = CASES[case]
        self.r_rows(case, parts)
        subprocess.run(["Rscript", HERE / "folds.R", model, family, "folds.csv", "scores.csv"], cwd=self.path, check=True,
                       capture_output=True, timeout=600)
        text = subprocess.run(["Rscript", HERE.parent / "evaluate" / "figures.R", case, "scores.csv"], cwd=self.path, check=True,
                              capture_output=True, text=True, timeout=600).stdout
        return {name: float(value) for _, name, value in list(csv.reader(text.splitlines()))[1:]}


class AgainstR(FoldsTest):
    def check_case(self, case):
        for parties in (1, 5, 20):
            parts = self.parties(case, parties)
            summary = self.validate(case, parties)
            expected = self.figures(case, parties, parts)
            self.assertGreaterEqual(len(expected), 7)
            self.check(summary["validation"], expected, 1e-6)

    def test_wilms_tumours(self):
        self.check_case("wilms")

    def test_liver_disease_with_factors_and_missing_values(self):
        self.check_case("pbc")

    def test_a_numeric_response(self):
        self.check_case("number")


class Folds(FoldsTest):
    def test_five_models_take_the_rounds_of_one(self):
        self.parties("wilms", 3)
        with_folds, without = self.validate("wilms", 3), self.validate("wilms", 3, folds=0)
        self.assertEqual(with_folds["coefficients"], without["coefficients"])
        self.assertNotIn("validation", without)
        self.assertLessEqual(with_folds["rounds"], without["rounds"] + 8)

    def test_the_order_of_rows_does_not_matter_and_the_seed_does(self):
        self.parties("pbc", 2)
        first = self.validate("pbc", 2)["validation"]
        for party in range(2):
            lines = (self.path / f"pbc{party}.csv").read_text().splitlines()
            self.write(f"pbc{party}.csv", "\n".join([lines[0], *reversed(lines[1:])]) + "\n")
        again = self.validate("pbc", 2)["validation"]
        self.assertAlmostEqual(table(first, "figures")["auc"]["value"], table(again, "figures")["auc"]["value"], delta=1e-12)
        other = self.validate("pbc", 2, "--set", "fold_seed=2")["validation"]
        self.assertNotEqual(table(first, "figures")["auc"]["value"], table(other, "figures")["auc"]["value"])

    def test_rows_of_a_person_stay_together(self):
        """Every row stands twice: if both copies were not in one fold, R's figures would differ."""
        self.parties("pbc", 1)
        lines = (self.path / "pbc0.csv").read_text().splitlines()
        self.write("pbc0.csv", "\n".join([lines[0], *(line for line in lines[1:] for _ in (0, 1))]) + "\n")
        self.write("pbc.yaml", "person: id\n" + PBC)
        report = self.validate("pbc", 1)["validation"]
        self.assertGreater(report["rows"], 400)
        if not installed()["pROC"]:
            self.skipTest("R has no package pROC")
        rows = list(csv.DictReader((self.path / "pbc0.csv").read_text().splitlines()))
        kept = [row for row in rows if all(row[name] not in ("", "NA") for name in CASES["pbc"][4])]
        with open(self.path / "folds.csv", "w", newline="") as out:
            writer = csv.DictWriter(out, [*kept[0].keys(), "fold"])
            writer.writeheader()
            for row, fold in zip(kept, deal(kept, "death", 5, 1, person="id")):
                writer.writerow({**row, "fold": fold})
        self.r_rows = lambda *_: None
        self.check(report, self.figures("pbc", 1, None), 1e-6)

    def test_multinomial_and_ordinal_models_are_validated_too(self):
        self.parties("wilms", 2)
        self.write("wilms.yaml", """label: {name: stage, classes: ["1", "2", "3", "4"]}
columns:
  - {name: unfavourable, kind: number, low: 0, high: 1}
  - {name: age, kind: number, low: 0, high: 120}
""")
        for family in ("multinomial", "ordinal"):
            report = self.validate("wilms", 2, "--set", f"family={family}")["validation"]
            self.assertEqual(report["rows"], 4028)
            self.assertGreater(table(report, "figures")["accuracy"]["value"], 0.3)

    def test_a_fold_without_an_estimate_says_so_and_leaves_the_coefficients(self):
        """All three rows of a level are held out together somewhere, or told apart; the model of all rows exists."""
        lines = ["x,g,y", *(f"{(7 * i) % 13},{'rare' if i in (1, 2) else 'usual'},{'yes' if i % 3 == 1 else 'no'}" for i in range(60))]
        self.write("small0.csv", "\n".join(lines) + "\n")
        self.write("small.yaml", """label: {name: y, classes: ["no", "yes"]}
columns:
  - {name: x, kind: number, low: 0, high: 13}
  - {name: g, kind: category, levels: [usual, rare]}
""")
        summary = self.validate("small", 1)
        fact = next(each for each in summary["validation"]["facts"] if each["name"] == "cross-validation")
        self.assertIn("none: without fold", fact["text"])
        self.assertEqual(len(summary["coefficients"]), 3)

    def test_summary_card_and_usage(self):
        self.parties("wilms", 2)
        words = ("simulate", "--method", "estimate", "--party", "wilms0.csv", "--party", "wilms1.csv", "--test", "wilms0.csv",
                 "--schema", "wilms.yaml", "--seed", "1")
        self.succeed(*words, "--set", "folds=4", "--out", "model.json")
        text = self.succeed("summary", "model.json").stdout
        self.assertIn("Cross-validation", text)
        self.assertIn("4 folds of each party's rows", text)
        card = self.succeed("card", "model.json").stdout
        self.assertIn("## Cross-validation", card)
        self.assertNotIn("no evaluation was given", card)
        for settings, says in ((("folds=1",), "at least 2"), (("folds=21",), "20"), (("folds=4", "bias=firth"), "leave 'bias'")):
            self.fail_with(2, *words, *(word for one in settings for word in ("--set", one)), says=[says])


class Private(FoldsTest):
    """Method dpnewton. Seeds are given, so the noise is always the same."""

    def private(self, case, *words, parties=3):
        files = [word for party in range(parties) for word in ("--party", f"{case}{party}.csv")]
        return json.loads(self.succeed("simulate", "--method", "dpnewton", *files, "--test", f"{case}0.csv", "--schema", f"{case}.yaml",
                                       "--delta", "1e-5", "--seed", "1", "--json", *words).stdout)

    def test_with_little_noise_the_figures_are_those_without(self):
        """Other folds and another model, hence about the same."""
        for case, names in (("wilms", ("auc", "brier", "log_loss")), ("pbc", ("auc", "brier")), ("number", ("rmse", "r_squared"))):
            self.parties(case, 3)
            exact = table(self.validate(case, 3)["validation"], "figures")
            for folds in (3, 5):
                noisy = table(self.private(case, "--epsilon", "10000", "--set", f"folds={folds}", "--set", "noise=coordinator")["report"], "figures")
                for name in names:
                    self.assertAlmostEqual(noisy[name]["value"], exact[name]["value"], delta=0.06 * max(1, abs(exact[name]["value"])), msg=(case, name))

    def test_the_figures_have_their_noise_beside_them_and_the_price_stays(self):
        self.parties("wilms", 3)
        words = ("--epsilon", "3", "--set", "rounds=8")
        without, found = self.private("wilms", *words), self.private("wilms", *words, "--set", "folds=3")
        self.assertLessEqual(found["runs"][0]["charged"]["epsilon"], 3)
        self.assertEqual(found["runs"][0]["rounds"], without["runs"][0]["rounds"] + 1)
        self.assertNotIn("report", without)
        self.assertEqual(found["report"]["mode"], "private")
        figures = next(each for each in found["report"]["tables"] if each["name"] == "figures")
        errors = {row["label"]: row["noise_errors"][0] for row in figures["rows"]}
        self.assertTrue(0.005 < errors["auc"] < 0.04, errors)
        self.assertLess(abs(found["runs"][0]["auc"]["mean"] - without["runs"][0]["auc"]["mean"]), 0.03)

    def test_classes_and_counts_are_validated_too(self):
        self.parties("wilms", 2)
        self.write("wilms.yaml", """label: {name: stage, classes: ["1", "2", "3", "4"]}
columns:
  - {name: unfavourable, kind: number, low: 0, high: 1}
  - {name: age, kind: number, low: 0, high: 120}
""")
        report = self.private("wilms", "--epsilon", "3", "--set", "folds=2", parties=2)["report"]
        self.assertGreater(table(report, "figures")["accuracy"]["value"], 0.3)
        self.write("wilms.yaml", """label: {name: age, kind: count, low: 0, high: 120}
columns:
  - {name: unfavourable, kind: number, low: 0, high: 1}
  - {name: stage, kind: category, levels: ["1", "2", "3", "4"]}
""")
        self.assertIn("rmse", table(self.private("wilms", "--epsilon", "3", "--set", "folds=2", parties=2)["report"], "figures"))

    def test_summary_and_card_show_it(self):
        self.parties("wilms", 3)
        self.private("wilms", "--epsilon", "3", "--set", "folds=3", "--out", "model.json")
        text = self.succeed("summary", "model.json").stdout
        self.assertIn("Cross-validation", text)
        self.assertIn("Promised: ", text)
        self.assertEqual(json.loads(self.succeed("summary", "model.json", "--json").stdout)["mode"], "private")
        card = self.succeed("card", "model.json").stdout
        self.assertIn("3 folds of each party's rows", card)
        self.assertIn("with noise in every number", card)

    def test_what_cannot_be_validated_is_refused_with_a_sentence(self):
        self.parties("wilms", 2)
        words = ("simulate", "--method", "dpnewton", "--party", "wilms0.csv", "--party", "wilms1.csv", "--test", "wilms0.csv", "--schema",
                 "wilms.yaml", "--epsilon", "1", "--delta", "1e-5", "--seed", "1")
        for settings, says in ((("folds=1",), "at least 2"), (("folds=21",), "20"), (("folds=4", "purpose=inference"), "purpose=prediction"),
                               (("folds=4", "unit=person"), "one row a person")):
            self.fail_with(2, *words, *(word for one in settings for word in ("--set", one)), says=[says])


def update():
    """Write R's figures down."""
    test = FoldsTest()
    lines = ["case,name,value"]
    for case in CASES:
        for parties in (1, 5, 20):
            test.setUp()
            lines += [f"{case}{parties},{name},{value!r}"
                      for name, value in test.figures(case, parties, test.parties(case, parties)).items()]
            test.doCleanups()
    STORED.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--update"]:
        update()
    else:
        unittest.main()
