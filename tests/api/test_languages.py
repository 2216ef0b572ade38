"""One study in Python, R and C (examples/tumours), with the same three sites: the same coefficients in each.

Python and R are left out where their packages' needs are missing; C is always there.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "service"), str(ROOT / "tests" / "python")]
from deployed import PATIENCE, DeployedTest  # noqa: E402

EXAMPLES = ROOT / "examples" / "tumours"
BUILD = Path(os.environ["TACIT_BUILD"])
SYSTEM_PYTHON = "/usr/bin/python3"
SITES = ("Vienna", "Graz", "Linz")


def rows(number):
    """Histology, stage, age and relapse of 90 patients, from a small generator that is the same everywhere."""
    state, lines = 1000 + number, ["histology,stage,age,relapse"]
    for _ in range(90):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        kind, stage, age, luck = (state >> 33) % 3, (state >> 40) % 2, 30 + (state >> 45) % 50, (state >> 52) % 100
        lines.append(f"{('ductal', 'lobular', 'other')[kind]},{'II' if stage else 'I'},{age},{'yes' if age + 20 * stage + 10 * kind + luck > 130 else 'no'}")
    return "\n".join(lines) + "\n"


class Languages(DeployedTest):
    def run_study(self, name, command, more):
        """Start it, let three sites join with the invitations that it prints, and return what it prints then."""
        place = self.path / name
        place.mkdir()
        process = subprocess.Popen([*map(str, command), str(place / "consortium"), str(EXAMPLES / "tumours.schema.yaml")], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env={**os.environ, **more}, cwd=place)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        told = []
        reader = threading.Thread(target=lambda: told.append(process.stderr.read()), daemon=True)
        reader.start()
        parties = []
        for number, site in enumerate(SITES):
            called, _, line = process.stdout.readline().rstrip("\n").partition(" ")
            self.assertEqual(called, site, told)
            data = place / f"{site}.csv"
            data.write_text(rows(number))
            (place / f"home{number}").mkdir(mode=0o700)
            parties.append(self.start("join", line, "--data", data, "--schema", EXAMPLES / "tumours.schema.yaml", "--yes", "--allow-exact",
                                      "--allow-entrusted", home=place / f"home{number}"))
        found = process.stdout.read()
        self.assertEqual(process.wait(PATIENCE), 0, told)
        for party in parties:
            self.assertEqual(party.finish(), 0, party.text())
        reader.join()
        return found

    @staticmethod
    def table(printed):
        return {name: (float(estimate), float(error)) for name, estimate, error in (line.rsplit(" ", 2) for line in printed.splitlines())}

    def test_the_same_study_gives_the_same_coefficients_in_each_language(self):
        document = json.loads(self.run_study("c", [os.environ["TUMOURS"]], {}))
        wanted = {one["name"]: (one["estimate"], one["error"]) for one in document["coefficients"]}
        self.assertEqual(len(wanted), 7)
        found = {}
        if package := self.python():
            found["Python"] = self.table(self.run_study("python", [SYSTEM_PYTHON, EXAMPLES / "study.py"], {"PYTHONPATH": package}))
        if library := self.r():
            found["R"] = self.table(self.run_study("r", ["Rscript", EXAMPLES / "study.R"], {"R_LIBS": library}))
        for language, table in found.items():
            self.assertEqual(list(table), list(wanted), language)
            for name, numbers in table.items():
                for one, other in zip(numbers, wanted[name]):
                    self.assertLessEqual(abs(one - other), 1e-12 * max(1, abs(other)), (language, name))

    def test_each_program_is_short(self):
        for path in EXAMPLES.glob("study.*"):
            lines = [line for line in path.read_text().splitlines() if line.strip() and not line.lstrip().startswith(("#", "/*", "*", "import", "//"))]
            self.assertLessEqual(len(lines), 40 if path.suffix == ".c" else 25, path)

    @staticmethod
    def python():
        """Where the package for Python is; None where what it needs is missing."""
        made = subprocess.run([SYSTEM_PYTHON, "-c", "import sys, cffi, numpy, setuptools; sys.path.insert(0, sys.argv[1]); import run; print(run.built(sys.argv[2]))",
                               ROOT / "tests" / "python", BUILD], capture_output=True, text=True)
        return made.stdout.splitlines()[-1] if made.returncode == 0 else None

    def r(self):
        """Where the package for R is; None without R."""
        if shutil.which("Rscript") is None:
            return None
        place = tempfile.TemporaryDirectory(prefix="tacit-r-")
        self.addCleanup(place.cleanup)
        source, library = Path(place.name, "tacit"), Path(place.name, "library")
        shutil.copytree(ROOT / "bindings" / "r" / "tacit", source, ignore=shutil.ignore_patterns("*.o", "*.so", "Makevars", "vignettes"))
        library.mkdir()
        subprocess.run(["R", "CMD", "INSTALL", "--no-docs", "--no-test-load", f"--library={library}", source], check=True, capture_output=True,
                       env={**os.environ, "TACIT_INCLUDE": str(ROOT / "include"), "TACIT_LIB": str(BUILD / "src" / "api")})
        return str(library)


if __name__ == "__main__":
    unittest.main(verbosity=2)
