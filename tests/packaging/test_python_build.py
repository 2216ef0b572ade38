"""Building the Python package with a Python that lacks what the build needs ends with one sentence that says so."""

import os
import subprocess
import sys
import unittest

FOLDER = os.path.join(os.environ["TACIT_SOURCE"], "bindings", "python")


def load(path, *modules):
    """Imports the build backend where only the standard library and `modules` are found."""
    fakes = "".join(f"import sys, types, importlib.machinery; m = types.ModuleType({name!r}); "
                    f"m.__spec__ = importlib.machinery.ModuleSpec({name!r}, None); sys.modules[{name!r}] = m; " for name in modules)
    return subprocess.run([sys.executable, "-I", "-S", "-c", f"{fakes}import sys; sys.path.insert(0, {FOLDER!r}); import backend"],
                          env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=600)


class Backend(unittest.TestCase):
    def test_missing_modules_are_named_with_their_packages(self):
        done = load(os.environ["PATH"], "wheel")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"^tacit: \S+ cannot build this package because it does not find setuptools, cffi\. On Debian, install "
                                      r"python3-setuptools python3-cffi and build")
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_missing_programs_are_named_too(self):
        done = load("/nowhere", "setuptools", "wheel", "cffi")
        self.assertIn("does not find meson, ninja, cc. On Debian, install meson ninja-build gcc", done.stderr)


if __name__ == "__main__":
    unittest.main()
