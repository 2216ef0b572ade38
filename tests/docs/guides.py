"""Run every command of a page and compare what it prints with what the page shows: guides.py [--long] [--times] PAGE.md.

A page's ```sh blocks are run by one bash, in order, in an empty folder that holds a copy of examples/, with the program on the PATH.
Each block must end with 0; what is started with & is ended with the page. Fenced blocks otherwise marked:

    ```sh long     only with --long: takes minutes, or needs data sets that are not part of Tacit (then TACIT_DATA names them)
    ```text        what the block before printed: these very lines, in this order; a line "..." stands for any lines, and
                   how long a run took is not compared
    ```text like   the same, but numbers and times of day differ from run to run, so only their places are compared

--times prints how many seconds each section's commands took, and all of them of a processor.
"""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FENCE = re.compile(r"^```(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?(\d[\d.,:]*([eE][-+]?\d+)?|\binf\b)")


def section(page, line):
    """The headline above a line."""
    with open(page, encoding="utf-8") as stream:
        return next((text.strip("# \n") for text in reversed(stream.readlines()[:line]) if text.startswith("## ")), "before the first section")


def blocks(page):
    """(kind, text, line) of each fenced block."""
    with open(page, encoding="utf-8") as stream:
        text = stream.read()
    return [(found.group(1).strip(), found.group(2), text.count("\n", 0, found.start()) + 1) for found in FENCE.finditer(text)]


def same(shown, printed, like):
    def plain(line):
        line = re.sub(r"\s+\d+\.\d+ s(?=\s|$)", "", line.rstrip())
        line = re.sub(r"[0-9a-f]{8,}", "HASH", line) if like else line
        return re.sub(r"\s+|-{3,}", " ", NUMBER.sub("#", line)).strip() if like else line
    return plain(shown) == plain(printed)


def matches(shown, printed, like):
    """Do the lines fit, "..." standing for any number of lines? Blocks are short, so plain recursion does."""
    if not shown:
        return not printed
    if shown[0].strip() == "...":
        return any(matches(shown[1:], printed[at:], like) for at in range(len(printed) + 1))
    return bool(printed) and same(shown[0], printed[0], like) and matches(shown[1:], printed[1:], like)


class Shell:
    """One bash for a whole page, so that variables and background processes of one block are there in the next."""

    def __init__(self, folder, environment):
        self.process = subprocess.Popen(["bash", "--norc", "-u"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, cwd=folder, env=environment, text=True,
                                        start_new_session=True)

    def run(self, text):
        """Exit code and output of a block. It stops at the first command that fails."""
        self.process.stdin.write(f"set -eo pipefail\n{text}\nset +e; printf '\\n<<end of block>>\\n'\n")
        self.process.stdin.flush()
        lines = []
        for line in self.process.stdout:
            if line == "<<end of block>>\n":
                return 0, "".join(lines).rstrip("\n")
            lines.append(line)
        return self.process.wait(), "".join(lines)

    def end(self):
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def add_library(folder, environment):
    """Let pkg-config and the loader find the library of the build, as they would find an installed one."""
    os.symlink(os.environ["TACIT_LIB"], os.path.join(folder, "lib"))  # in a path without blanks
    os.symlink(os.path.join(ROOT, "include"), os.path.join(folder, "include"))
    with open(os.path.join(folder, "tacit.pc"), "w", encoding="utf-8") as stream:
        stream.write(f"Name: tacit\nDescription: Tacit\nVersion: 0\nLibs: -L{folder}/lib -ltacit\nCflags: -I{folder}/include\n")
    environment.update(PKG_CONFIG_PATH=folder, LD_LIBRARY_PATH=os.path.join(folder, "lib"), CCACHE_DISABLE="1")


def print_times(took, before):
    for name, seconds in took.items():
        print(f"{seconds:6.1f} s  {name}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"{sum(took.values()):6.1f} s  together, {used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime:.1f} s of a processor")


def check(page, long, times=False):
    failures, ran, printed, took = [], 0, "", {}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory(prefix="tacit-guide-") as folder:
        work = os.path.join(folder, "work")
        shutil.copytree(os.path.join(ROOT, "examples"), os.path.join(work, "examples"))
        environment = {**os.environ, "PATH": os.path.dirname(os.environ["TACIT"]) + os.pathsep + os.environ["PATH"],
                       "HOME": work, "TACIT_HOME": os.path.join(work, "home"), "COLUMNS": "80", "LC_ALL": "C.UTF-8"}
        if "TACIT_LIB" in os.environ:
            add_library(folder, environment)
        shell = Shell(work, environment)
        try:
            for kind, text, line in blocks(page):
                if kind == "sh" or (kind == "sh long" and long):
                    began, named = time.monotonic(), section(page, line)
                    code, printed = shell.run(text)
                    took[named] = took.get(named, 0) + time.monotonic() - began
                    ran += 1
                    if code != 0:
                        return ran, failures + [f"{page}:{line}: exit code {code}\n{text}\n{printed}"]
                elif kind in ("text", "text like") and printed is not None:
                    if not matches(text.splitlines(), printed.splitlines(), kind == "text like"):
                        failures.append(f"{page}:{line}: the page shows\n{text}\nbut printed was\n{printed}")
                elif kind == "sh long":
                    printed = None  # nor is what it would print looked at
        finally:
            shell.end()
    if times:
        print_times(took, before)
    return ran, failures


def main():
    long = "--long" in sys.argv[1:]
    pages = [word for word in sys.argv[1:] if not word.startswith("--")]
    failed = False
    for page in pages:
        ran, failures = check(page, long, "--times" in sys.argv[1:])
        print(f"{os.path.basename(page)}: {ran} blocks of commands run")
        for failure in failures:
            print(failure)
        failed = failed or bool(failures) or ran == 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
