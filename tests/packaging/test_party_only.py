"""The library for parties alone (-Dparty_only=true): how large it is, what it links, what it needs to take part in studies.

PARTY_BUILD names a build folder that is there. For another processor (script/cross) CC compiles for it, PARTY_TOOLS is what the names of its binutils
begin with, and PARTY_RUN the emulator that runs its programs; its memory is then the emulator's, and is not looked at."""
import json
import os
import random
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "service"))
import deployed  # noqa: E402
from deployed import DeployedTest, environment, told  # noqa: E402

BYTES, LIBRARIES, MEMORY = 900_000, 12, 16_000_000
BYTES_ELSEWHERE = 1_000_000  # aarch64 aligns segments to 64 KiB, and its linker does not pack relocations
EMULATOR = shlex.split(os.environ.get("PARTY_RUN", ""))
COMPILER = shlex.split(os.environ.get("CC", "cc"))
TOOLS = os.environ.get("PARTY_TOOLS", "")
ROWS, COLUMNS = 1000, 20
NOT_THERE = ("openblas", "lapack", "blas", "libpq", "microhttpd", "mpi", "seccomp", "readstat", "lzma", "libz")


def setUpModule():
    """Built once, in a folder that is gone afterwards; PARTY_BUILD names one that is there."""
    global library, archive, device, peak
    folder = tempfile.TemporaryDirectory(prefix="tacit-party-only-")
    unittest.addModuleCleanup(folder.cleanup)
    build = Path(os.environ.get("PARTY_BUILD", Path(folder.name) / "build"))
    if "PARTY_BUILD" not in os.environ:
        subprocess.run(["meson", "setup", build, ROOT, "-Dparty_only=true", "-Dstatic=true", "-Dbuildtype=release"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["ninja", "-C", build, "src/api/libtacit.so.1.0.0", "src/api/libtacit.a"], check=True, stdout=subprocess.DEVNULL)
    library, device = Path(folder.name) / "libtacit.so.1", Path(folder.name) / "stepping_party"
    subprocess.run([TOOLS + "strip", "-o", library, build / "src/api/libtacit.so.1.0.0"], check=True)
    archive = build / "src/api/libtacit.a"
    peak = Path(folder.name) / "peak"
    subprocess.run([*(["cc"] if EMULATOR else COMPILER), "-O2", ROOT / "tests/packaging/peak.c", "-o", peak], check=True)
    subprocess.run([*COMPILER, "-O2", "-I", ROOT / "include", ROOT / "examples/stepping_party.c", library, "-o", device,
                    f"-Wl,-rpath,{folder.name}"], check=True)


class Library(unittest.TestCase):
    def test_it_has_less_than_900_kb(self):
        self.assertLess(library.stat().st_size, BYTES_ELSEWHERE if EMULATOR else BYTES)

    def test_it_links_at_most_12_libraries_and_none_of_a_center(self):
        said = subprocess.run([TOOLS + "objdump", "-p", library], check=True, capture_output=True, text=True).stdout
        needed = re.findall(r"NEEDED\s+(\S+)", said)
        self.assertLessEqual(len(needed), LIBRARIES, needed)
        for name in needed:
            for word in NOT_THERE:
                self.assertNotIn(word, name)

    def test_it_shows_what_its_map_says_which_the_whole_library_has_too(self):
        def names(path):
            return set(re.findall(r"tacit_\w+", path.read_text()))
        party, whole = names(ROOT / "src/api/party.map"), names(ROOT / "src/api/tacit.map")
        self.assertLess(party, whole)
        said = subprocess.run([TOOLS + "nm", "-D", "--defined-only", library], check=True, capture_output=True, text=True).stdout
        self.assertEqual(set(re.findall(r" T (tacit_\w+)", said)), party)

    @unittest.skipIf(EMULATOR, "script/cross builds the shared library alone")
    def test_a_program_links_it_statically(self):
        with tempfile.TemporaryDirectory(prefix="tacit-party-only-") as folder:
            program = Path(folder) / "stepping_party"
            needed = ["-l" + name for name in ("sodium", "mpfr", "gmp", "yaml", "jansson", "sqlite3", "gnutls", "curl", "protobuf-c", "m", "pthread")]
            subprocess.run([*COMPILER, "-O2", "-I", ROOT / "include", ROOT / "examples/stepping_party.c", archive, "-o", program, *needed], check=True)
            said = subprocess.run([program], capture_output=True, text=True)
            self.assertEqual(said.returncode, 2, said.stderr)
            self.assertNotIn("libtacit", subprocess.run(["objdump", "-p", program], check=True, capture_output=True, text=True).stdout)


class Devices(DeployedTest):
    def call(self, party, *words):
        said = self.path / f"said{party}.txt"
        with open(said, "w") as out:
            process = subprocess.Popen([peak, said.with_suffix(".peak"), *EMULATOR, device, *told([self.home(party), *words], self.path)], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                                       env=environment(), cwd=self.path)
        return process, said

    def finish(self, process, said):
        """The most memory that the device had, in KiB."""
        self.assertEqual(process.wait(deployed.PATIENCE), 0, said.read_text())
        return int(said.with_suffix(".peak").read_text())

    def take_part(self, *options, **keys):
        """Three devices, over mutual TLS; and the memory that the hungriest one needed."""
        self.study(minimum_rows=20, **keys)
        self.coordinator()
        for party in range(3):
            self.home(party).mkdir()
            self.finish(*self.call(party, "join", self.invite(), f"data={self.rows(party)}", f"schema={self.path / 'schema.yaml'}", *options))
        most = max([self.finish(*each) for each in [self.call(party, "run", "trial") for party in range(3)]])
        self.assertEqual(self.status()["state"], "done")
        if not EMULATOR:
            print(f"{keys['method']}: {most} KiB", file=sys.stderr)
            self.assertLess(most * 1024, MEMORY)


class Studies(Devices):
    def setUp(self):
        super().setUp()
        columns = "".join(f"  - {{name: x{k}, kind: number, low: 0, high: 1}}\n" for k in range(COLUMNS))
        (self.path / "schema.yaml").write_text('label: {name: sick, classes: ["no", "yes"]}\ncolumns:\n' + columns)

    def rows(self, party, rows=ROWS):
        path = self.path / f"rows{party}.csv"
        draw = random.Random(party)
        lines = [",".join([*(f"x{k}" for k in range(COLUMNS)), "sick"])]
        for _ in range(rows):
            x = [draw.random() for _ in range(COLUMNS)]
            lines.append(",".join([*(f"{value:.5f}" for value in x), "yes" if x[0] - x[1] + draw.gauss(0, 0.5) > 0 else "no"]))
        path.write_text("\n".join(lines) + "\n")
        return path

    def test_gradients_with_noise(self):
        self.take_part(method="dpgd", set="{rounds: 5, noise: party}", epsilon=1, delta=1e-5)

    def test_a_method_that_was_left_out_is_refused(self):
        self.study(minimum_rows=20, method="estimate", set=None, epsilon=None, **{"lambda": None})
        self.coordinator()
        self.home(0).mkdir()
        process, said = self.call(0, "join", self.invite(), f"data={self.rows(0)}", f"schema={self.path / 'schema.yaml'}", "allow-exact=yes", "allow-entrusted=yes")
        self.assertEqual(process.wait(deployed.PATIENCE), 2, said.read_text())
        self.assertIn("method estimate is not in this library, which was built for these: avg, dpgd", said.read_text())
        self.assertIn("-Dparty_methods", said.read_text())

    def test_rows_of_a_database_are_refused(self):
        self.study(minimum_rows=20, method="dpgd", set="{rounds: 5, noise: party}", epsilon=1, delta=1e-5)
        self.coordinator()
        self.home(0).mkdir()
        process, said = self.call(0, "join", self.invite(), "data=sqlite:rows.db?SELECT 1", f"schema={self.path / 'schema.yaml'}")
        if process.wait(deployed.PATIENCE) == 0:  # they are read when the first question comes
            process, said = self.call(0, "run", "trial")
            self.assertNotEqual(process.wait(deployed.PATIENCE), 0)
        self.assertIn("a library for parties alone (-Dparty_only=true) does not read", said.read_text())


class RandomEffects(Devices):
    """Exact sums of likelihoods, as devices of persons send them: equal to those of the whole library, whose processor has other kernels and, with an
    emulator, another libm. What is estimated iteratively agrees within TOLERANCE of its size."""
    TOLERANCE = 1e-6
    definition_of = {"method": "mixed", "set": "{}", "epsilon": None, "lambda": 0}

    def setUp(self):
        super().setUp()
        (self.path / "schema.yaml").write_text("label: {name: ill, classes: ['no', 'yes']}\nperson: who\ncolumns:\n  - {name: dose, kind: number, low: 0, high: 1}\n")

    def rows(self, party):
        path = self.path / f"rows{party}.csv"
        draw = random.Random(party)
        lines = ["who,dose,ill"]
        for who in range(15):
            level = draw.gauss(0, 1)
            for _ in range(6):
                dose = draw.random()
                lines.append(f"{party}-{who},{dose:.5f},{'yes' if draw.gauss(level + dose, 1.7) > 0.5 else 'no'}")
        path.write_text("\n".join(lines) + "\n")
        return path

    def report(self):
        return json.loads((self.folder / "trial.model.json").read_text())["report"]

    def test_they_are_those_of_the_whole_library(self):
        self.take_part("allow-exact=yes", "allow-entrusted=yes", **self.definition_of)
        ours = self.report()
        self.folder = self.path / "again"
        self.study(minimum_rows=20, **self.definition_of)
        self.coordinator()
        parties = []
        for party in range(3):
            home = self.home(f"again{party}")
            self.limit(party, home=home)
            parties.append(self.start(*self.join_words(party, self.invite(), "--allow-exact", "--allow-entrusted"), home=home))
        for process in parties:
            self.assertEqual(process.finish(), 0, process.text())
        theirs = self.report()
        self.assertEqual(ours["rows"], 270)
        compared = 0
        for mine, its in zip(ours["tables"], theirs["tables"], strict=True):
            for a, b in zip(mine["rows"], its["rows"], strict=True):
                self.assertEqual(a["label"], b["label"])
                for x, y in zip(a["values"], b["values"], strict=True):
                    if y is not None:
                        self.assertAlmostEqual(x, y, delta=self.TOLERANCE * (1 + abs(y)))
                        compared += 1
        self.assertGreater(compared, 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
