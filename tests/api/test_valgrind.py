"""Programs that use the library lose no memory and touch none that is not theirs, under valgrind; skipped where that is not installed."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PROGRAMS = os.environ["PROGRAMS"].split(":")


class Valgrind(unittest.TestCase):
    def run_under(self, program):
        return subprocess.run(["valgrind", "-q", "--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,indirect", program],
                              capture_output=True, text=True, timeout=1000, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})

    def test_programs_are_clean(self):
        for program in PROGRAMS:
            with self.subTest(program=os.path.basename(program)):
                done = self.run_under(program)
                self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-4000:])

    def test_a_leak_would_be_found(self):
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder) / "leak.c", Path(folder) / "leak"
            source.write_text("#include <stdlib.h>\nint main(void) { volatile char *lost = malloc(9); lost = NULL; return lost != NULL; }\n")
            subprocess.run(["cc", source, "-o", program], check=True)
            self.assertEqual(self.run_under(program).returncode, 99)


if __name__ == "__main__":
    if shutil.which("valgrind") is None:
        print("valgrind is not installed", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
