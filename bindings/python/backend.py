"""What pip calls to build the package: setuptools, once everything that the build needs is there; otherwise one sentence that names it.

`pip install --no-build-isolation` builds with the Python that it belongs to, which need not be the one that has Debian's packages.
"""
import importlib.util
import shutil
import sys

MODULES = {"setuptools": "python3-setuptools", "wheel": "python3-wheel", "cffi": "python3-cffi"}
PROGRAMS = {"meson": "meson", "ninja": "ninja-build", "cc": "gcc"}


def missing():
    """Names of modules and programs that are not found, each with the Debian package that has it."""
    found = {name: importlib.util.find_spec(name) for name in MODULES} | {name: shutil.which(name) for name in PROGRAMS}
    return {name: package for name, package in (MODULES | PROGRAMS).items() if found[name] is None}


def refuse(lacking):
    raise SystemExit(f"tacit: {sys.executable} cannot build this package because it does not find {', '.join(lacking)}. "
                     f"On Debian, install {' '.join(lacking.values())} and build with Debian's own Python: "
                     "/usr/bin/python3 -m venv --system-site-packages venv && venv/bin/pip install --no-build-isolation .")


if missing():
    refuse(missing())
from setuptools.build_meta import *  # noqa: E402,F401,F403
