#!/usr/bin/env python3
"""The verdicts of docs/reproduce.md and the page docs/papers.md, from what `tacit reproduce all --json` printed.

    script/docs_papers.py --record RESULTS.json    keep what the pages need of it in docs/figures/reproduce.json, and write them
    script/docs_papers.py --update RESULTS.json    the same, where some experiments were run: the record of the others stays
    script/docs_papers.py                          write the pages from docs/figures/reproduce.json
    script/docs_papers.py --check [--tacit TACIT]  say whether the pages are what the record gives, and the record what the program's
                                                   tables of experiments, printed numbers and claims have
"""
import argparse
import difflib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "docs/figures/reproduce.json"
PAGE = ROOT / "docs/reproduce.md"
TABLES = ROOT / "docs/papers.md"
BEGIN, END = "<!-- verdicts: script/docs_papers.py writes what follows -->\n", "<!-- verdicts: end -->\n"
VERDICTS = ("as printed", "better", "not reproducible", "not run")
HOLD, AGAINST = ("as printed", "holds"), ("not reproducible", "does not hold")
KEPT = ("id", "paper", "figure", "metric", "seconds", "seed", "repeats", "trials", "fraction", "full", "why", "stand_in", "not_run")


def rounded(value):
    return float(f"{value:.4g}") if isinstance(value, float) else value


def record(results):
    """What the pages need, numbers rounded."""
    figures = []
    for one in results["figures"]:
        kept = {key: rounded(one[key]) for key in KEPT if one.get(key) is not None}
        kept["claims"] = [{key: rounded(value) for key, value in claim.items() if value is not None} for claim in one["claims"]]
        kept["findings"] = [{key: rounded(each[key]) for key in ("setup", "curve", "epsilon", "printed", "mean", "sd", "trials", "verdict")
                             if each.get(key) is not None} for each in one["findings"] if each.get("printed") is not None]
        figures.append(kept)
    return {"version": results["version"], "figures": figures}


def count(entries, verdict):
    return sum(each.get("verdict") == verdict for each in entries)


def scale(one):
    if "not_run" in one:
        return "not run: " + one["not_run"]
    part = "" if one["fraction"] == 1 else f", a fraction of {one['fraction']:g} of the parties and rows"
    return f"{one['repeats']} x {one['trials']}{part}"


def number(value):
    return "-" if value is None else "inf" if value == "inf" else f"{value:g}"


def summary(figures):
    lines = ["| experiment | paper | draws of rows x noise | as printed | better | not reproducible | not run | claims that hold |",
             "|---|---|---|---|---|---|---|---|"]
    for one in figures:
        held, against = (sum(count(one["claims"], verdict) for verdict in verdicts) for verdicts in (HOLD, AGAINST))
        lines.append(f"| `{one['id']}` | {one['paper']}, {one['figure']} | {scale(one)} | "
                     + " | ".join(str(count(one["findings"], verdict)) for verdict in VERDICTS) + f" | {held} of {held + against} |")
    return lines


def claims(figures):
    lines = ["| experiment | claim | verdict | cases | ours |", "|---|---|---|---|---|"]
    for one in figures:
        for each in one["claims"]:
            why = f": {each['why']}" if each["verdict"] in AGAINST and each.get("why") else ""
            cases = f"{each['held']} of {each['cases']}" if each.get("cases") else "-"
            ours = f"{number(each.get('above'))} beside {number(each.get('below'))}" if each.get("cases") else "-"
            lines.append(f"| `{one['id']}` | {each['says']} | {each['verdict']}{why} | {cases} | {ours} |")
    return lines


def printed(one):
    lines = [f"## {one['id']}", "", f"{one['paper']}, {one['figure']}: {one.get('metric', 'not run')}."]
    if count(one["findings"], "not reproducible") and one.get("why"):
        lines += ["Not reproducible because: " + one["why"] + "."]
    lines += ["", "| setup | curve | epsilon | paper | ours | spread | verdict |", "|---|---|---|---|---|---|---|"]
    for each in one["findings"]:
        spread = f"{each['sd']:g} ({each['trials']})" if each.get("trials", 0) > 1 else "-"
        lines.append(f"| {each['setup']} | {each['curve']} | {number(each['epsilon'])} | {number(each['printed'])} | {number(each.get('mean'))} | {spread} | "
                     f"{each['verdict']} |")
    return lines + [""]


def pages(told):
    """{path: text}"""
    figures = told["figures"]
    text = PAGE.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    made = "\n".join(["", *summary(figures), "", "### What the papers say in words", "",
                      "A claim is checked wherever both of its sides were run; *ours* shows the first case that is against it, or the first of all.", "",
                      *claims(figures), "", ""])
    tables = ["# Every printed number beside ours", "",
              "The numbers that the papers' texts and tables give, what `tacit reproduce all --seed 1` found for each, and the verdict;",
              "[docs/reproduce.md](reproduce.md) says how the verdicts are made. `script/docs_papers.py` writes this page. *Spread* is the standard",
              "deviation over the trials, whose number stands in brackets.", ""]
    for one in figures:
        if one["findings"]:
            tables += printed(one)
    return {PAGE: before + BEGIN + made + END + after, TABLES: "\n".join(tables).rstrip("\n") + "\n"}


def listed_by(tacit):
    return json.loads(subprocess.run([tacit, "reproduce", "list", "--json"], check=True, capture_output=True, text=True).stdout)


def with_all(results, tacit):
    """The results of some experiments, and of the others what is printed."""
    found = {one["id"]: one for one in results["figures"]}
    for one in listed_by(tacit):
        found.setdefault(one["id"], {
            "id": one["id"], "paper": one["paper"], "figure": one["figure"], "not_run": "not part of the recorded run",
            "claims": [{"says": says, "verdict": "not run"} for says in one["claims"]],
            "findings": [{**each, "printed": each["value"], "verdict": "not run"} for each in one["printed"]]})
    return {"version": results["version"], "figures": [found[one["id"]] for one in listed_by(tacit)]}


def updated(results, tacit):
    """The record with the experiments that were run in place of what it had of them."""
    had = json.loads(RECORD.read_text(encoding="utf-8"))
    now = {one["id"]: one for one in record(results)["figures"]}
    old = {one["id"]: one for one in had["figures"]}
    missing = {one["id"]: one for one in record(with_all(results, tacit))["figures"]}
    return {"version": had["version"], "figures": [now.get(name) or old.get(name) or one for name, one in missing.items()]}


def compare_with_program(told, tacit):
    """What the record has that the program's tables have not, and the other way round."""
    listed = listed_by(tacit)
    wrong = []
    if [one["id"] for one in listed] != [one["id"] for one in told["figures"]]:
        wrong.append("the record has other experiments than the program: run all of them again and record that")
    for source, ours in zip(listed, told["figures"]):
        for what, expected, found in (
                ("printed numbers", sorted((e["setup"], e["curve"], str(e["epsilon"]), rounded(float(e["value"]))) for e in source["printed"]),
                 sorted((e["setup"], e["curve"], str(e["epsilon"]), float(e["printed"])) for e in ours["findings"])),
                ("claims", source["claims"], [claim["says"] for claim in ours["claims"]])):
            if expected != found:
                wrong.append(f"{source['id']}: the record has other {what} than the program")
    return wrong


def boxes_without_deviations():
    """Files of the page's table of boxes whose header does not say where it leaves the box."""
    files = re.findall(r"^\| (?:Hamm|Rajkumar|Yao|Wang) [^|]+ \| \[`(src/[^`]+)`\]", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    missing = [name for name in files if "Deviations from" not in (ROOT / name).read_text(encoding="utf-8").split("*/")[0]]
    return [f"{name}: its header does not list the deviations from the box" for name in missing] + (["no boxes on the page"] if len(files) < 10 else [])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="RESULTS")
    parser.add_argument("--update", metavar="RESULTS")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--tacit", default=os.environ.get("TACIT", ROOT / "build/src/cli/tacit"))
    chosen = parser.parse_args()
    if chosen.record:
        with open(chosen.record, encoding="utf-8") as file:
            RECORD.write_text(json.dumps(record(with_all(json.load(file), chosen.tacit)), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if chosen.update:
        made = updated(json.loads(Path(chosen.update).read_text(encoding="utf-8")), chosen.tacit)
        RECORD.write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    told = json.loads(RECORD.read_text(encoding="utf-8"))
    if not chosen.check:
        for path, text in pages(told).items():
            path.write_text(text, encoding="utf-8")
        return 0
    wrong = compare_with_program(told, chosen.tacit) + boxes_without_deviations()
    for path, text in pages(told).items():
        now = path.read_text(encoding="utf-8")
        if now != text:
            wrong.append(f"{path.relative_to(ROOT)} is not what the record gives: script/docs_papers.py\n"
                         + "\n".join(list(difflib.unified_diff(now.splitlines(), text.splitlines(), "page", "record", lineterm=""))[:20]))
    print("\n".join(wrong) or "the pages are what the record gives, and the record what the tables have")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
