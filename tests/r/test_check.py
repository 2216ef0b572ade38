#!/usr/bin/env python3
"""The package for R: R CMD check --as-cran without errors, warnings or notes, without what it only suggests too, and the code of docs/r.md.

Skipped (77) where R is missing.

    TACIT_LIBRARY=build/src/api/libtacit.so tests/r/test_check.py
"""
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tests"))
import german  # noqa: E402

PACKAGE = ROOT / "bindings" / "r" / "tacit"


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        place = Path(cls.folder.name)
        shutil.copytree(PACKAGE, place / "tacit", ignore=shutil.ignore_patterns("*.o", "*.so", "Makevars"))
        (place / "library").mkdir()
        cls.environment = {
            **os.environ,
            "HOME": str(place), "XDG_DATA_HOME": str(place / "data"),
            "TACIT_INCLUDE": str(ROOT / "include"), "TACIT_LIB": str(Path(os.environ["TACIT_LIBRARY"]).resolve().parent),
            "R_LIBS": str(place / "library"), "OPENBLAS_NUM_THREADS": "1",
            # What is on the network is not this test's business.
            "_R_CHECK_CRAN_INCOMING_": "FALSE", "_R_CHECK_XREFS_REPOSITORIES_": "", "R_REPOSITORIES": os.devnull,
            "LANGUAGE": "en", "LC_ALL": "C.UTF-8",
        }
        # Its own vignette engine has to be there when the archive is made.
        cls.run_in("R", "CMD", "INSTALL", "--library=library", "tacit")
        cls.run_in("R", "CMD", "build", "tacit")
        cls.archive = next(place.glob("tacit_*.tar.gz")).name

    @classmethod
    def run_in(cls, *command, **more):
        done = subprocess.run(command, cwd=cls.folder.name, env={**cls.environment, **more}, capture_output=True, text=True,
                              timeout=600)
        if done.returncode != 0:
            raise AssertionError(f"{' '.join(command)}:\n{done.stdout[-8000:]}\n{done.stderr[-4000:]}")
        return done.stdout

    def check(self, *flags, **more):
        printed = self.run_in("R", "CMD", "check", "--no-manual", *flags, self.archive, **more)
        status = re.search(r"^Status: (.*)$", printed, re.M)
        self.assertIsNotNone(status, printed)
        if "--as-cran" in flags:
            self.assertEqual(status.group(1), "OK", printed)
        self.assertNotRegex(status.group(1), "ERROR|WARNING", printed)
        print(" ".join(["R CMD check --no-manual", *flags]) + ":", status.group(1), file=sys.stderr)

    def test_r_has_nothing_to_say_against_it(self):
        """As CRAN checks it, but for what CRAN asks its own servers; where R finds the tools that it does this with."""
        whole = all(map(shutil.which, ("checkbashisms", "qpdf")))
        self.check(*["--as-cran"] * whole, _R_CHECK_CRAN_INCOMING_="FALSE", _R_CHECK_CRAN_INCOMING_REMOTE_="FALSE", _R_CHECK_FORCE_SUGGESTS_="false",
                   _R_CHECK_SYSTEM_CLOCK_="0")

    def test_nor_without_what_it_suggests(self):
        self.check("--no-vignettes", "--no-build-vignettes", "--no-examples", _R_CHECK_FORCE_SUGGESTS_="false", _R_CHECK_DEPENDS_ONLY_="true")

    def test_the_code_of_the_page_runs(self):
        page = ROOT / "docs" / "r.md"
        woven = self.run_in("Rscript", "-e", f"lines <- readLines('{page}'); cat(tacit:::page_html(lines, globalenv()), sep = '\\n')")
        self.assertIn("Private: epsilon = 2", woven)
        self.assertIn("noise", woven[woven.index("confint(model)"):])

    def test_numbers_are_the_same_in_a_locale_with_a_decimal_comma(self):
        code = '''
            library(tacit)
            everything <- function() {
              model <- tacit_glm(diagnosis ~ mean_radius + mean_texture, breast_cancer, epsilon = 0.75, lambda = 1/3, seed = 1,
                                 bounds = breast_cancer_bounds, classes = c("benign", "malignant"))
              file <- tempfile(fileext = ".json"); xml <- tempfile(fileext = ".pmml")
              tacit_save(model, file); tacit_export(model, xml)
              ledger <- tacit_ledger(tempfile(fileext = ".db"), "patients", epsilon = 1.5, delta = 1e-5)
              found <- tacit_simulate(diagnosis ~ mean_radius, breast_cancer, "avg", epsilon = 0.5, parties = 3, seed = 1,
                                      bounds = breast_cancer_bounds, test_fraction = 0.25)
              list(coef(model), readLines(file), readLines(xml), coef(tacit_load(file)), summary(ledger)$epsilon_limit, found$runs$accuracy,
                   model$document, tacit_explain("gop", epsilon = 0.75, delta = 1e-5)$charged)
            }
            plain <- everything()
            locale <- suppressWarnings(Sys.setlocale("LC_NUMERIC", "de_DE.UTF-8"))
            stopifnot(identical(locale, "de_DE.UTF-8"), identical(unname(Sys.localeconv()["decimal_point"]), ","))
            stopifnot(identical(everything(), plain))
            cat("the same\n")
        '''
        with tempfile.TemporaryDirectory() as folder:
            self.assertIn("the same", self.run_in("Rscript", "-e", code, LOCPATH=german.make(folder)["LOCPATH"], LC_ALL="", LANG="C.UTF-8"))

    def test_its_data_are_those_of_the_examples(self):
        def rows(path, delimiter):
            with open(path, newline="") as file:
                return list(csv.DictReader(file, delimiter=delimiter))
        ours = rows(PACKAGE / "data" / "breast_cancer.csv", ";")
        theirs = rows(ROOT / "examples" / "breast_cancer.csv", ",")
        self.assertEqual(ours, [{name: row[name] for name in ours[0]} for row in theirs])
        schema = (ROOT / "examples" / "breast_cancer.schema.yaml").read_text()
        for row in rows(PACKAGE / "data" / "breast_cancer_bounds.csv", ";"):
            self.assertIn("{{name: {name}, kind: number, low: {low}, high: {high}}}".format(**row), schema)

    def test_a_missing_library_is_told_with_the_remedy(self):
        done = subprocess.run(["sh", "./configure"], cwd=Path(self.folder.name) / "tacit", capture_output=True, text=True, timeout=600,
                              env={"PATH": os.environ["PATH"], "PKG_CONFIG_LIBDIR": os.devnull})
        self.assertEqual(done.returncode, 1)
        for remedy in ("libtacit-dev", "PKG_CONFIG_PATH", "TACIT_INCLUDE"):
            self.assertIn(remedy, done.stderr)


if __name__ == "__main__":
    if shutil.which("R") is None:
        print("R is not installed", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
