#!/usr/bin/env python3
"""Ternary gradients and what fraud data need, as a user meets them: explain, simulate, reproduce.

    TACIT=build/src/cli/tacit tests/cli/test_ternary.py
"""
import json
import os
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from test_program import ProgramTest

# Wang 2018, Table 3.1: epsilon, q, n, basic and advanced as printed; what it costs in truth when a row is replaced.
TABLE = [("0.1", "0.01", "1431", "3.01", "0.37", 424.7), ("0.1", "0.01", "2862", "6.02", "0.52", 854.0),
         ("0.1", "0.05", "1431", "15.01", "1.88", 426.4), ("0.1", "1", "14312", "2862.4", "410.1", 2862.4),
         ("0.5", "0.01", "1431", "18.50", "2.35", 2141.9), ("0.5", "0.01", "2862", "37.01", "3.39", 4288.4),
         ("0.5", "0.05", "1431", "91.35", "13.97", 2143.6), ("0.5", "1", "14312", "14312.4", "9830.1", 14312.0)]


class Explain(ProgramTest):
    def test_table_31_stands_beside_what_it_costs_in_truth(self):
        told = json.loads(self.succeed("explain", "dpstgd", "--json").stdout)["comparison"]
        for row, printed in zip(told, TABLE, strict=True):
            self.assertEqual((row["epsilon"], row["q"], row["n"], row["basic, printed"], row["advanced, printed"]),
                             printed[:5])
            self.assertAlmostEqual(float(row["sound, replace"]), printed[5], places=1)
            self.assertLess(abs(float(row["basic, computed"]) - float(printed[3])), 0.5)
            self.assertLess(abs(float(row["advanced, computed"]) - float(printed[4])), 0.1)
        text = " ".join(self.succeed("explain", "dpstgd").stdout.split())
        for words in ("Table 3.1", "sound, replace", "2141.9", "is no bound"):
            self.assertIn(words, text)

    def test_what_is_charged_is_far_more_than_the_paper_says(self):
        told = json.loads(self.succeed("explain", "dpstgd", "--epsilon", "0.1", "--features", "264", "--set", "rounds=1",
                                       "--set", "calibration=paper", "--json").stdout)
        self.assertAlmostEqual(told["claimed"]["epsilon"], 3.0, delta=0.01)
        self.assertAlmostEqual(told["charged"]["epsilon"], 424.1, delta=0.1)


class Accounts(ProgramTest):
    """Transactions of 60 accounts; an account has frauds or none, and its level tells its rows from others'."""

    def setUp(self):
        super().setUp()
        draw = random.Random(1)
        lines = ["account,level,shop,class"]
        for account in range(60):
            level, bad = draw.gauss(0, 1), account % 5 == 0
            for _ in range(10):
                fraud = bad and draw.random() < 0.5
                shop = draw.choice(["food", "fuel", "other"])
                lines.append(f"a{account},{level + draw.gauss(0, 0.1) + 2 * fraud:.4f},{shop},{'fraud' if fraud else 'fine'}")
        (self.path / "rows.csv").write_text("\n".join(lines) + "\n")
        (self.path / "rows.yaml").write_text(
            "label: {name: class, classes: [fine, fraud]}\ncolumns:\n"
            "  - {name: level, kind: number, low: -4, high: 6, mean: 0, sd: 1}\n"
            "  - {name: shop, kind: category, levels: [food, fuel, other], coding: effect}\nrows: {clip: 4}\n")
        self.words = ["simulate", "--method", "batch", "--train", "rows.csv", "--schema", "rows.yaml", "--parties", "4",
                      "--epsilon", "inf", "--seed", "1"]

    def test_whole_accounts_are_held_out_and_dealt_out(self):
        text = self.succeed(*self.words, "--together", "account").stdout
        self.assertIn("4 parties of 120 rows, 4 features; 120 test rows", text)

    def test_a_frequent_class_is_thinned_out(self):
        text = self.succeed(*self.words, "--undersample", "fine=0.2").stdout
        kept = sum(int(word) for word in text.split(" test rows")[0].split()[-1:])
        self.assertLess(kept, 60)  # a fifth of about 170 of 600
        text = self.succeed(*self.words, "--together", "account", "--undersample", "fine=0.2").stdout
        self.assertRegex(text, r"of [0-9]*0( to [0-9]*0)? rows")  # accounts have ten each

    def test_mistakes_are_told(self):
        self.fail_with(2, *self.words, "--undersample", "odd=0.2", says=["'odd' is no class"])
        self.fail_with(2, *self.words, "--undersample", "fine=2", says=["above 0, at most 1"])
        self.fail_with(2, *self.words, "--together", "client", says=["client"])
        self.fail_with(2, *self.words[:-6], "--epsilon", "inf", "--split", "by:account", "--together", "account",
                    says=["either --together or --split"])

    def test_dpstgd_learns_at_a_price_that_holds_nothing_back(self):
        told = json.loads(self.succeed(*self.words[:1], "--method", "dpstgd", *self.words[3:-4], "--epsilon", "50", "--delta",
                                       "1e-5", "--set", "hidden=4", "--set", "sampling=1", "--set", "rounds=30", "--set",
                                       "keep=0.05", "--set", "rate=20", "--seed", "1", "--json").stdout)["runs"][0]
        self.assertLessEqual(told["charged"]["epsilon"], 50)
        self.assertLess(told["claimed"]["epsilon"], told["charged"]["epsilon"])
        self.assertGreater(told["auc"]["mean"], 0.6)


if __name__ == "__main__":
    unittest.main()
