#!/usr/bin/env python3
"""Run the tests of the Python package and print TAP.

    run.py tree BUILD      against the library of a Meson build: all but scikit-learn's own checks
    run.py checks BUILD    scikit-learn's own checks, against the same
    run.py install         pip install from a clean copy, without network; then a wheel, far from the sources

Skipped where a package that it needs is missing (script/setup --test installs them).
"""
import fcntl
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "bindings" / "python"
NEEDED = ("cffi", "numpy", "scipy", "sklearn", "pytest", "setuptools")
NEEDED_TO_INSTALL = ("pip", "venv", "wheel")
# What libtacit may need beside the C library: all shared, all the system's. The first ones' licence (LGPL) asks for it.
LGPL = ("libgmp", "libmpfr", "libgnutls") # libmicrohttpd is loaded when a server is first started
OTHERS = ("libopenblas", "liblapacke", "liblapack", "libblas", "libsodium", "libyaml", "libjansson", "libz", "liblzma", "libsqlite3",
          "libpq", "libreadstat", "libcurl", "libcurl-gnutls", "libprotobuf-c", "libm", "libc", "ld-linux-x86-64", "libpthread", "libgcc_s")


# Tests that show an installed package at work; `run.py tree` has run the others with the same sources.
AS_INSTALLED = ("test_calls.py", "test_estimators.py", "test_native.py")


def skip_without(modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        print(f"1..0 # SKIP without {', '.join(missing)}: run script/setup --test")
        sys.exit(0)


def command(*words, quiet=True, **more):
    """Run it; show what it printed when it fails."""
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stdout}")
    return done.stdout


def built(build):
    """The package in the build folder, up to date with its sources and with the library."""
    place = Path(build).resolve() / "python-package"
    place.mkdir(exist_ok=True)
    with open(place / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # Without the build's flags: those of the library's sanitizers or coverage are not for the interpreter.
        command(sys.executable, "setup.py", "-q", "build", "--build-base", place, "--build-lib", place / "lib", cwd=PACKAGE,
                env={**os.environ, "TACIT_MESON_BUILD": str(Path(build).resolve()), "PYTHONDONTWRITEBYTECODE": "1"})
    return place / "lib"


def cases(python, files, environment=(), cwd=None):
    """Run pytest; yield each case's name, and what is wrong with it or None."""
    with tempfile.TemporaryDirectory(prefix="tacit-python-") as folder:
        report = Path(folder, "report.xml")
        setting = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1", **dict(environment)}
        done = subprocess.run([str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1", "-o", "faulthandler_timeout=240",
                               f"--junitxml={report}", *map(str, files)], stdout=sys.stderr, env=setting, cwd=cwd or folder)
        if not report.exists():
            yield "pytest", f"ended with {done.returncode} and no report"
            return
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            name = f"{case.get('classname', '').split('.')[-1]}: {case.get('name')}"
            if case.find("skipped") is not None:
                yield f"{name} # skip {(case.find('skipped').get('message') or '').splitlines()[0]}", None
                continue
            problem = case.find("failure") if case.find("failure") is not None else case.find("error")
            yield name, None if problem is None else problem.text or problem.get("message")


def quick_files(tests):
    return sorted(path for path in tests.glob("test_*.py") if path.name != "test_scikit_learn.py")


# ---- installing ----

def clean_copy(folder):
    """The sources as a clone would have them."""
    copy = folder / "tacit-source"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns("build*", ".git", "__pycache__", "*.egg-info", "node_modules"))
    return copy / "bindings" / "python"


def environment_with(folder, name):
    command("/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable, "-m", "venv", "--system-site-packages",
            folder / name)
    return folder / name / "bin" / "python"


def pip(python, *words, cwd):
    return command(python, "-m", "pip", "--disable-pip-version-check", *words, "--no-index", cwd=cwd,
                   env={**os.environ, "PIP_CONFIG_FILE": os.devnull})


def dynamic(path, tag):
    """Entries of a kind in the dynamic section: NEEDED, RUNPATH."""
    lines = command("readelf", "-d", path).splitlines()
    return [line.split("[", 1)[1].rstrip("]") for line in lines if f"({tag})" in line]


def carried(python, cwd):
    """The folder of the installed package."""
    return Path(command(python, "-c", "import tacit; print(tacit.__path__[0])", cwd=cwd).strip())


def check_carried(package):
    """Yield what is wrong with the libraries of an installed package."""
    extension, library = next(package.glob("_native*.so")), package / "libtacit.so.1"
    if "libtacit.so.1" not in dynamic(extension, "NEEDED") or dynamic(extension, "RUNPATH") != ["$ORIGIN"]:
        yield f"the extension does not find its library beside itself: {dynamic(extension, 'NEEDED')} {dynamic(extension, 'RUNPATH')}"
    loaded = dict(line.strip().split(" => ") for line in command("ldd", extension).splitlines() if " => " in line)
    if not os.path.samefile(loaded.get("libtacit.so.1", "/").split(" (")[0], library):
        yield f"another library is loaded: {loaded.get('libtacit.so.1')}"
    for name, place in loaded.items():
        if "not found" in place:
            yield f"{name} is not found"
    needed = [name.split(".so")[0] for name in dynamic(library, "NEEDED")]
    for name in LGPL:
        if name not in needed:
            yield f"{name} is not linked dynamically"
    for name in needed:
        if name.rstrip("0123456789.-") not in LGPL + OTHERS and name not in LGPL + OTHERS:
            yield f"{name} is needed and not among those expected"
    folders = dynamic(library, "RUNPATH") + dynamic(library, "RPATH")
    if folders not in ([], ["$ORIGIN"]):
        yield f"the library looks into {folders}"
    for other in package.glob("*.so*"):
        if other not in (extension, library):
            yield f"{other.name} is carried along"


def install():
    with tempfile.TemporaryDirectory(prefix="tacit-python-") as name:
        folder = Path(name)
        source = clean_copy(folder)
        tests = folder / "tests"
        shutil.copytree(source / "tests", tests)
        python = environment_with(folder, "from-sources")
        pip(python, "install", "--no-build-isolation", ".", cwd=source)
        yield "pip installs the package from its folder, offline", None
        pip(python, "wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", folder / "wheels", str(source), cwd=folder)
        wheel, = (folder / "wheels").glob("tacit-*.whl")
        shutil.rmtree(folder / "tacit-source")
        yield f"pip makes one wheel, for every Python 3: {wheel.name}", None if "-abi3-linux" in wheel.name else "it is not"
        other = environment_with(folder, "from-wheel")
        pip(other, "install", str(wheel), cwd=folder)
        for title, each in (("installed", python), ("from the wheel", other)):
            problems = list(check_carried(carried(each, folder)))
            yield f"{title}, it carries libtacit and nothing else", "\n".join(problems) or None
        yield from cases(other, [tests / name for name in AS_INSTALLED], cwd=folder)


def main(mode, *arguments):
    skip_without(NEEDED + (NEEDED_TO_INSTALL if mode == "install" else ()))
    if mode == "install":
        found = install()
    else:
        files = quick_files(PACKAGE / "tests") if mode == "tree" else [PACKAGE / "tests" / "test_scikit_learn.py"]
        # In a process of its own: it starts coordinators with threads, and interrupts them.
        alone = [path for path in files if path.name == "test_study.py"]
        setting = {"PYTHONPATH": str(built(*arguments))}
        found = (case for group in ([path for path in files if path not in alone], alone) if group for case in cases(sys.executable, group, setting))
    count = bad = 0
    for count, (name, problem) in enumerate(found, 1):
        print(f"{'not ok' if problem else 'ok'} {count} - {name}", flush=True)
        for line in (problem or "").splitlines():
            print(f"# {line}")
        bad += problem is not None
    print(f"1..{count}")
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
