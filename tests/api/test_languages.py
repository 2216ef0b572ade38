"""One study in Python, R and C (examples/tumours), with the same three sites, whose mixed columns are in memory: the same coefficients in each.

Python and R are left out where their packages' needs are missing; C is always there.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
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
POOLED = """source("patients.R")
fit <- summary(glm((relapse == "yes") ~ histology * stage + age, binomial, do.call(rbind, lapply(0:2, patients)), control = list(epsilon = 1e-14)))$coefficients
cat(sprintf("%s %.17g %.17g\\n", rownames(fit), fit[, 1], fit[, 2]), sep = "")"""


class Languages(DeployedTest):
    def run_study(self, name, command, more):
        """Run a program whose three sites join from its own memory; what it prints."""
        folder = self.path / name
        folder.mkdir(mode=0o700)
        shutil.copy(EXAMPLES / "tumours.schema.yaml", folder)
        done = subprocess.run([*map(str, command), str(folder)], capture_output=True, text=True, env={**os.environ, **more}, cwd=EXAMPLES, timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        for site in SITES:
            self.assertTrue((folder / "sites" / site / "ledger.db").is_file())
        return done.stdout

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
            pooled = subprocess.run(["Rscript", "-e", POOLED], capture_output=True, text=True, check=True, cwd=EXAMPLES).stdout
            for name, numbers in self.table(pooled).items():  # R's glm of all rows together, which stops earlier than estimate
                for one, other in zip(numbers, wanted[name]):
                    self.assertLessEqual(abs(one - other), 1e-6 * max(1, abs(other)), name)
        for language, table in found.items():
            self.assertEqual(list(table), list(wanted), language)
            for name, numbers in table.items():
                for one, other in zip(numbers, wanted[name]):
                    self.assertLessEqual(abs(one - other), 1e-12 * max(1, abs(other)), (language, name))

    def test_each_program_is_short(self):
        """Lines that are neither empty nor a comment nor say what is used; in C a macro counts."""
        paths = sorted(EXAMPLES.glob("study.*"))
        self.assertEqual([path.suffix for path in paths], [".R", ".c", ".py"])
        for path in paths:
            passed = ("/*", "*", "//", "#include") if path.suffix == ".c" else ("#", "import ", "from ", "library(", "source(")
            lines = [line for line in path.read_text().splitlines() if line.strip() and not line.lstrip().startswith(passed)]
            self.assertLessEqual(len(lines), 25, path)

    @staticmethod
    def python():
        """Where the package for Python is; None where what it needs is missing."""
        made = subprocess.run([SYSTEM_PYTHON, "-c", "import sys, cffi, numpy, pandas, setuptools; sys.path.insert(0, sys.argv[1]); import run; print(run.built(sys.argv[2]))",
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
