"""Build the package with libtacit inside, or against an installed one.

By default libtacit is built by Meson from the source tree that this folder is part of, and goes into the package: a wheel carries it.
Libraries that it uses (GMP, MPFR, GnuTLS, ...) are linked dynamically and stay those of the system.

TACIT_SYSTEM=1         use the libtacit that pkg-config knows, and carry none: for distributions
TACIT_MESON_BUILD=DIR  use the libtacit of this Meson build instead of making a build here
"""
from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import native  # noqa: E402

SOURCE_TREE = HERE.parent.parent
LIBRARY = "libtacit.so.1"
BUILD_SETTINGS = ("-Dtests=false", "-Dbuildtype=release")


def source_tree() -> Path | None:
    return SOURCE_TREE if (SOURCE_TREE / "include" / "tacit" / "tacit.h").is_file() else None


def pkg_config(*arguments: str) -> list[str]:
    command = ["pkg-config", *arguments, "tacit"]
    try:
        return shlex.split(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    except (OSError, subprocess.CalledProcessError) as problem:
        raise SystemExit("tacit: pkg-config finds no libtacit; install libtacit-dev, or build from Tacit's source tree "
                         "without TACIT_SYSTEM") from problem


def use_system_library() -> bool:
    return os.environ.get("TACIT_SYSTEM", "") not in ("", "0") or source_tree() is None


def version() -> str:
    tree = source_tree()
    if tree is None:
        return pkg_config("--modversion")[0]
    return re.search(r"^\s*version: '([^']+)'", (tree / "meson.build").read_text(encoding="utf-8"), re.MULTILINE).group(1)


def without_build_folders(library: Path) -> bytes:
    """The library as it is carried: Meson has it look for others in folders of the machine that built it, which only installing takes out.
    They become the folder that it lies in, as a text of the same length."""
    content = library.read_bytes()
    section = subprocess.run(["readelf", "-d", "-W", str(library)], check=True, stdout=subprocess.PIPE, text=True,
                             env={**os.environ, "LC_ALL": "C"}).stdout
    for folders in re.findall(r"Library r(?:un)?path: \[(.*)\]", section):
        old = b"\0" + folders.encode() + b"\0"
        new = b"\0$ORIGIN".ljust(len(old), b"\0")
        if content.count(old) != 1 or len(new) != len(old):
            raise SystemExit(f"tacit: {library} looks into {folders}, and that cannot be taken out")
        content = content.replace(old, new)
    return content


class BuildNative(build_ext):
    """Builds libtacit where the package carries it, then the extension from the public header."""

    def run(self) -> None:
        self.link_with_system() if use_system_library() else self.link_with_own()
        super().run()

    def link_with_system(self) -> None:
        include = Path(pkg_config("--variable=includedir")[0])
        flags = pkg_config("--libs")
        self.describe(include, extra_compile_args=pkg_config("--cflags"), extra_link_args=flags)

    def link_with_own(self) -> None:
        folder = os.environ.get("TACIT_MESON_BUILD")
        library = self.built_library(Path(folder) if folder else self.build_library())
        self.describe(SOURCE_TREE / "include", include_dirs=[str(SOURCE_TREE / "include")],
                      extra_link_args=[str(library), "-Wl,-rpath,$ORIGIN"])
        inside = Path(self.get_ext_fullpath("tacit._native")).resolve().parent
        inside.mkdir(parents=True, exist_ok=True)
        (inside / LIBRARY).write_bytes(without_build_folders(library))

    def build_library(self) -> Path:
        """A Meson build of the library alone, kept between runs."""
        folder = Path(self.build_temp).resolve() / "libtacit"
        if not (folder / "build.ninja").is_file():
            subprocess.run(["meson", "setup", *BUILD_SETTINGS, str(folder), str(SOURCE_TREE)], check=True)
        target = self.target_of(folder)
        subprocess.run(["ninja", "-C", str(folder), target], check=True)
        return folder

    @staticmethod
    def target_of(folder: Path) -> str:
        targets = subprocess.run(["ninja", "-C", str(folder), "-t", "targets", "all"], check=True, stdout=subprocess.PIPE,
                                 text=True).stdout
        found = re.search(r"^(\S*/libtacit\.so[.\d]*): ", targets, re.MULTILINE)
        if found is None:
            raise SystemExit("tacit: the source tree has no target libtacit.so")
        return found.group(1)

    @staticmethod
    def built_library(folder: Path) -> Path:
        found = sorted(folder.glob("src/**/" + LIBRARY)) or sorted(folder.glob("**/" + LIBRARY))
        if not found:
            raise SystemExit(f"tacit: there is no {LIBRARY} in {folder}; run ninja -C {folder}")
        return found[0]

    def describe(self, include: Path, **linking) -> None:
        """The extension, now that it is known what to link with."""
        Path(self.build_temp).mkdir(parents=True, exist_ok=True)
        source = Path(self.build_temp) / "_native.c"
        native.builder(include, **linking).emit_c_code(str(source))
        for extension in self.extensions:
            extension.sources = [str(source)]
            for name, value in linking.items():
                setattr(extension, name, value)


setup(
    version=version(),
    # The stable interface serves every Python from 3.9 on.
    ext_modules=[Extension("tacit._native", sources=[], py_limited_api=True, define_macros=[("Py_LIMITED_API", "0x03090000")])],
    cmdclass={"build_ext": BuildNative},
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
    zip_safe=False,
)
