"""The library shows what the public headers declare, no more and no less; and each header stands alone, in C and in C++."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADERS = sorted((ROOT / "include" / "tacit").glob("*.h"))


def declared(text):
    """The functions that a header declares."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$", "", text, flags=re.MULTILINE)
    return set(re.findall(r"^[A-Za-z_][\w \t]*[ *](tacit_\w+)\(", text, re.MULTILINE))


class Symbols(unittest.TestCase):
    def test_the_library_shows_what_the_headers_declare(self):
        names = set().union(*(declared(path.read_text()) for path in HEADERS))
        self.assertGreater(len(names), 40)
        shown = subprocess.run(["nm", "-D", "--defined-only", os.environ["LIBTACIT"]], capture_output=True, text=True,
                               check=True).stdout
        exported = {line.split()[-1] for line in shown.splitlines()}
        self.assertEqual({name.split("@")[0] for name in exported if name != "TACIT_1"}, names)
        self.assertTrue(all(name.endswith("@@TACIT_1") for name in exported if name != "TACIT_1"))

    def test_a_header_without_a_function_would_be_noticed(self):
        text = "/* tacit_in_comment( */\n#define X tacit_macro(\ntacit_status tacit_a(int x,\n   int y);\nconst char *tacit_b(void);\n"
        self.assertEqual(declared(text), {"tacit_a", "tacit_b"})

    def test_every_function_has_a_page_that_says_what_comes_out(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([ROOT / "script" / "man3", "0.1.0", folder, *HEADERS], check=True)
            pages = {path.stem: path.read_text() for path in Path(folder).glob("*.3")}
            self.assertEqual(set(pages), set().union(*(declared(path.read_text()) for path in HEADERS)))
            for name, page in pages.items():
                with self.subTest(name=name):
                    self.assertRegex(page, rf'(?m)\A\.TH {name.upper()} 3 "(.*)" "Tacit 0.1.0" "Tacit"$')
                    self.assertRegex(page, rf"(?m)^{name} \\- \S")
                    for result in re.findall(r"\*\*(out|json|yaml|bytes|xml|model)\b", page):
                        self.assertRegex(page, rf"\.I \*?{result}\n")
            plain = shutil.which("man")
            if plain:
                done = subprocess.run([plain, "--warnings", "-E", "UTF-8", "-l", Path(folder) / "tacit_site_invited.3"], capture_output=True, text=True,
                                      env={**os.environ, "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANROFFSEQ": "", "MANPAGER": "cat"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_each_header_stands_alone(self):
        compilers = [(shutil.which(name), language) for name, language in
                     (("gcc", "c"), ("clang", "c"), ("g++", "c++"), ("clang++", "c++"))]
        with tempfile.TemporaryDirectory() as folder:
            for path in HEADERS:
                source = Path(folder) / "alone"
                source.write_text(f'#include "tacit/{path.name}"\n#include "tacit/{path.name}"\n')
                for compiler, language in compilers:
                    if compiler is None:
                        continue
                    with self.subTest(header=path.name, compiler=compiler):
                        standard = "c11" if language == "c" else "c++11"
                        done = subprocess.run([compiler, "-x", language, f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror",
                                               "-fsyntax-only", "-I", ROOT / "include", source], capture_output=True, text=True)
                        self.assertEqual(done.returncode, 0, done.stderr)


    def test_a_compiler_warns_of_null_and_of_a_status_that_nobody_looks_at(self):
        program = """#include "tacit/tacit.h"
int main(void) {{
    tacit_options *options = 0;
    {0}
    tacit_options_free(options);
    return 0;
}}
"""
        fine = "tacit_status status = tacit_options_create(&options, 0); if (status != TACIT_OK) return 1;"
        with tempfile.TemporaryDirectory() as folder:
            for body, warning in ((fine, None), ("tacit_options_create(&options, 0);", "unused-result"),
                                  (fine + " if (tacit_options_set(options, 0, \"x\", 0)) return 1;", "nonnull")):
                source = Path(folder) / "program.c"
                source.write_text(program.format(body))
                for compiler in filter(None, map(shutil.which, ("gcc", "clang"))):
                    with self.subTest(compiler=compiler, warning=warning):
                        done = subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-c", "-o", os.devnull, "-I", ROOT / "include", source],
                                              capture_output=True, text=True)
                        self.assertEqual(done.returncode == 0, warning is None, done.stderr)
                        self.assertIn(warning or "", done.stderr)

    def test_the_examples_compile_without_a_warning(self):
        for path in sorted((ROOT / "examples").glob("*.c")):
            done = subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", ROOT / "include", path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
