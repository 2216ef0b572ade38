"""The Debian packages: each is described, filled and named where people look; that for R is built without a trace of where the library lay."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILT, SOURCE = Path(os.environ["TACIT_BUILT"]), Path(os.environ["TACIT_SOURCE"])


def packages():
    return re.findall(r"^Package: (\S+)$", (SOURCE / "debian" / "control").read_text(), re.M)


class Control(unittest.TestCase):
    def test_every_package_is_filled_and_named(self):
        self.assertIn("r-cran-tacit", packages())
        for name in packages():
            self.assertTrue((SOURCE / "debian" / f"{name}.install").read_text().strip(), name)
            self.assertIn(f"`{name}`", (SOURCE / "docs" / "install.md").read_text())
            self.assertIn(name, (SOURCE / "script" / "package").read_text())


@unittest.skipIf(shutil.which("R") is None or shutil.which("readelf") is None, "R is not installed")
class ForR(unittest.TestCase):
    def test_it_is_built_as_the_rules_build_it_and_works_where_the_library_is_the_systems(self):
        rules = (SOURCE / "debian" / "rules").read_text()
        self.assertIn("TACIT_RPATH=no", rules)
        with tempfile.TemporaryDirectory(prefix="tacit-debian-") as name:
            folder = Path(name)
            library = BUILT / "src" / "api"
            (folder / "tacit.pc").write_text(f"libdir={library}\nName: tacit\nDescription: t\nVersion: 1\n"
                                             f"Cflags: -I{SOURCE / 'include'}\nLibs: -L${{libdir}} -ltacit\n")
            shutil.copytree(SOURCE / "bindings" / "r" / "tacit", folder / "r-build", ignore=shutil.ignore_patterns("*.o", "*.so", "Makevars"))
            (folder / "site-library").mkdir()
            environment = {**{key: value for key, value in os.environ.items() if not key.startswith("TACIT_")}, "TACIT_RPATH": "no",
                           "PKG_CONFIG_PATH": name, "LD_LIBRARY_PATH": str(library), "OPENBLAS_NUM_THREADS": "1"}
            self.run_in(folder, environment, "R", "CMD", "INSTALL", "--library=site-library", "--clean", "--no-docs",
                        "--built-timestamp=2000-01-01 00:00:00 UTC", "r-build")
            dynamic = self.run_in(folder, environment, "readelf", "-d", folder / "site-library" / "tacit" / "libs" / "tacit.so")
            self.assertIn("libtacit.so.1", dynamic)
            self.assertNotRegex(dynamic, "RUNPATH|RPATH")
            self.assertIn("2000-01-01", (folder / "site-library" / "tacit" / "DESCRIPTION").read_text())
            told = self.run_in(folder, {**environment, "R_LIBS": str(folder / "site-library")}, "Rscript", "-e",
                               "library(tacit); cat(round(coef(tacit_glm(dist ~ speed, cars, method = 'estimate', family = gaussian)), 3))")
            self.assertEqual(told.split(), ["-17.579", "3.932"])

    def run_in(self, folder, environment, *words):
        done = subprocess.run([str(word) for word in words], cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout


if __name__ == "__main__":
    unittest.main(verbosity=2)
