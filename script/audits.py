#!/usr/bin/env python3
"""Audit every method and mechanism with exact noise, and write the table of docs/auditing.md again.

Usage: script/audits [--tacit PROGRAM] [--seed S] [--scale X] [--only NAME,...] [--print]

Each is run by 'tacit audit NAME --exact --search P --json' with the runs of the list below, times X; all of them take about a
quarter of an hour on two processors. A line of the table has the command's own figures; its heading names the commit, the seed and
the machine's number of processors. Noise is the operating system's: a second run gives other digits. The exit code is 1 when a
promise is found broken, or a control is not.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "auditing.md"
BEGIN, END = "<!-- audits: begin -->", "<!-- audits: end -->"

# name, epsilon, delta, runs, pairs to try, settings; controls must be found broken.
SOUND = [
    ("laplace", 1, 0, 200000, 0, []),
    ("gamma-norm", 1, 0, 200000, 0, []),
    ("gaussian", 1, 0.01, 200000, 0, []),
    ("exponential", 1, 0, 200000, 0, []),
    ("avg", 1, 0, 100000, 20, []),
    ("avg", 1, 0, 100000, 20, ["unit=party", "noise=party"]),
    ("output", 1, 0, 200000, 40, []),
    ("output", 1, 0, 50000, 20, ["loss=logistic"]),
    ("plr", 1, 0, 100000, 40, []),
    ("plr", 1, 0, 4000, 20, ["loss=logistic"]),
    ("gop", 1, 0.01, 50000, 40, []),
    ("pst-s", 1, 0, 20000, 20, []),
    ("pst-s-trees", 1, 0.01, 20000, 0, []),
    ("pst-f", 1, 0, 20000, 20, []),
    ("pst-h", 1, 0, 20000, 20, []),
    ("vote", 1, 0, 100000, 40, []),
    ("soft", 1, 0, 100000, 40, []),
    ("soft-stat", 1, 0, 100000, 40, []),
    ("pate", 1, 0.01, 50000, 20, []),
    ("histogram", 1, 0, 100000, 40, []),
    ("evaluate", 1, 0, 100000, 40, []),
    ("evaluate", 1, 0.01, 50000, 20, ["law=gaussian"]),
    ("dpiw", 1, 0, 50000, 20, []),
    ("dphtl", 1, 0, 50000, 20, []),
    ("dpgd", 1, 0.01, 20000, 0, []),
    ("dpnewton", 1, 0.01, 20000, 0, []),
    ("dpnewton-softmax", 1, 0.01, 20000, 0, []),
    ("dpnewton-linear", 1, 0.01, 20000, 0, []),
    ("dpnewton-poisson", 1, 0.01, 20000, 0, []),
    ("dpnewton-inference", 1, 0.01, 20000, 0, []),
    ("dpnewton-line", 1, 0.01, 20000, 0, []),
    ("dpnewton-folds", 1, 0.01, 20000, 0, []),
    ("dpnewton-missing", 1, 0.01, 20000, 0, []),
    ("dpnewton-person", 1, 0.01, 20000, 0, []),
    ("dptree", 1, 0.01, 20000, 0, []),
    ("psgd", 1, 0.01, 20000, 0, []),
    ("dpstgd", 1, 0, 20000, 0, []),
    ("dpsgd", 1, 0.01, 20000, 20, []),
    ("newton", 1, 0.01, 20000, 0, []),
    ("privlogit-hessian", 1, 0.01, 20000, 0, []),
    ("privlogit-local", 1, 0.01, 20000, 0, []),
]
CONTROLS = [
    ("laplace-halved", 1, 0, 10000, 0, []),
    ("dpnewton-thin", 1, 0.01, 10000, 0, []),
    ("dpnewton-inference-thin", 1, 0.01, 10000, 0, []),
    ("dpnewton-line-thin", 1, 0.01, 10000, 0, []),
    ("dptree-thin", 1, 0.01, 10000, 0, []),
    ("dpnewton-person-rows", 1, 0.01, 10000, 0, []),
    ("pst-h-printed", 1, 0, 6000, 0, []),
    ("pst-s-trees-thin", 1, 0.01, 10000, 0, []),
    ("newton-undivided", 1, 1e-5, 3000, 0, ["dp-iterations=32"]),
]


def audit(program, entry, seed, scale):
    name, epsilon, delta, runs, pairs, settings = entry
    runs = max(200, int(runs * scale))
    command = [program, "audit", name, "--epsilon", str(epsilon), "--delta", str(delta), "--runs", str(runs), "--exact"]
    command += ["--search", str(pairs), "--seed", str(seed), "--json"]
    for setting in settings:
        command += ["--set", setting]
    begun = time.monotonic()
    done = subprocess.run(command, capture_output=True, text=True)
    if not done.stdout.strip():
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    if "method" not in found:
        raise SystemExit(f"{' '.join(command)}: {done.stderr.strip()}")
    found["settings"], found["seconds"] = " ".join(settings), time.monotonic() - begun
    return found


def line(found, control):
    name = f"`{found['method']}`" + (f" {found['settings']}" if found["settings"] else "")
    price = f"{found['epsilon']:g}" + (f", {found['delta']:g}" if found["delta"] else "")
    tried = str(found["searched"]) if found["searched"] else "the known one"
    verdict = found["verdict"] + (", as it must be" if control else "")
    ended = f"{found['aborted'][0]}, {found['aborted'][1]}"
    return f"| {name} | {price} | {found['unit']} | {found['epsilon_lower']:.3f} | 2 x {found['runs']:,} | {tried} | {ended} | {verdict} |"


def commit():
    """Of the tree, when the runs begin: with a mark where it has changes of its own."""
    said = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--abbrev=12", "--exclude=*", "--dirty"],
                          capture_output=True, text=True)
    return said.stdout.strip() or "unknown"


def table(lines, begun_at, seed, scale):
    flags = f"--seed {seed}" + (f" --scale {scale:g}" if scale != 1 else "")
    heading = (
        f"`script/audits {flags}` at commit {begun_at}, on {os.cpu_count()} processors, "
        "99.9% confidence for each line:\n\n"
    )
    columns = "| | charged | unit | at least | runs | pairs tried | without an answer | verdict |\n|---|---|---|---|---|---|---|---|\n"
    return heading + columns + "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tacit", default=str(ROOT / "build" / "tacit"))
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--print", action="store_true", dest="only_print")
    given = parser.parse_args()
    wanted = set(filter(None, given.only.split(",")))
    lines, wrong, begun_at = [], [], commit()
    for entry, control in [(e, False) for e in SOUND] + [(e, True) for e in CONTROLS]:
        if wanted and entry[0] not in wanted:
            continue
        found = audit(given.tacit, entry, given.seed, given.scale)
        print(f"{found['seconds']:6.1f} s  {line(found, control)}", file=sys.stderr, flush=True)
        lines.append(line(found, control))
        if (found["verdict"] == "broken") != control:
            wrong.append(found["method"])
    text = table(lines, begun_at, given.seed, given.scale)
    if given.only_print or wanted:
        print(text)
    else:
        page = PAGE.read_text()
        before, rest = page.split(BEGIN, 1)
        PAGE.write_text(before + BEGIN + "\n" + text + END + rest.split(END, 1)[1])
    for name in wrong:
        print(f"{name}: not what it promises", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
