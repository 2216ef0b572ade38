"""What `meson install` puts where, and how it was built: hardened, and without a trace of where it was built."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

BUILT, SOURCE = os.environ["TACIT_BUILT"], os.environ["TACIT_SOURCE"]


def run(*words, **settings):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=600, **settings)
    if done.returncode != 0:
        raise AssertionError(f"{words[0]}: exit code {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tacit-install-")
        cls.addClassCleanup(folder.cleanup)
        run("meson", "install", "-C", BUILT, "--no-rebuild", "--quiet", "--destdir", folder.name)
        cls.root = Path(folder.name)
        cls.program = cls.one("bin/tacit")

    @classmethod
    def one(cls, pattern):
        """The one installed file whose path ends so, wherever the prefix is."""
        found = [path for path in cls.root.rglob("*") if path.match("*/" + pattern)]
        if len(found) != 1:
            raise AssertionError(f"{pattern}: {found}")
        return found[0]

    def binaries(self):
        return [path for path in self.root.rglob("*")
                if path.is_file() and not path.is_symlink() and path.read_bytes().startswith(b"\x7fELF")]

    def test_everything_is_in_its_place(self):
        for pattern in ("share/man/man1/tacit.1", "share/bash-completion/completions/tacit", "share/zsh/site-functions/_tacit",
                        "lib/systemd/system/tacit-coordinator@.service", "lib/systemd/system/tacit-center@.service",
                        "lib/systemd/system/tacit-party.service", "lib/sysusers.d/tacit.conf", "lib/tmpfiles.d/tacit.conf",
                        "share/doc/tacit/NOTICE", "share/doc/tacit/LICENSE", "share/doc/tacit/README.md", "share/doc/tacit/docs/operation.md",
                        "share/doc/tacit/examples/breast_cancer.csv", "share/doc/tacit/uPlot.LICENSE", "share/doc/tacit/tacit.cdx.json"):
            with self.subTest(file=pattern):
                self.assertGreater(self.one(pattern).stat().st_size, 0)
        self.assertRegex(run(self.program, "version"), r"^tacit \d+\.\d+\.\d+$")

    def test_folders_of_the_services_are_made_before_they_start(self):
        made, users = self.one("lib/tmpfiles.d/tacit.conf").read_text().splitlines(), set()
        known = self.one("lib/sysusers.d/tacit.conf").read_text()
        units = list(self.root.rglob("lib/systemd/system/tacit-*.service"))
        self.assertEqual(len(units), 3)
        for unit in units:
            text = unit.read_text()
            state = re.search(r"^StateDirectory=(\S+)", text, re.MULTILINE).group(1)
            options = re.search(r"^EnvironmentFile=-(\S+)/", text, re.MULTILINE).group(1)
            with self.subTest(unit=unit.name):
                user = re.search(r"^User=(\S+)", text, re.MULTILINE).group(1)
                self.assertIn(f"d /var/lib/{state} 0700 {user} {user}", made)
                self.assertIn(f"d {options} 0755 root root", made)
                self.assertRegex(known, rf"(?m)^u {user} .* /var/lib/{state}$")
                users.add(user)
        self.assertEqual(len(users), 3)  # none can read another's keys

    def test_binaries_are_hardened(self):
        self.assertIn(self.program, self.binaries())
        for path in self.binaries():
            with self.subTest(binary=path.name):
                header, segments = run("readelf", "-hW", path), run("readelf", "-lW", path)
                dynamic, symbols = run("readelf", "-dW", path), run("readelf", "--dyn-syms", "-W", path)
                self.assertRegex(header, r"Type:\s+DYN")  # position independent
                self.assertIn("GNU_RELRO", segments)
                self.assertRegex(dynamic, r"BIND_NOW|Flags:.*\bNOW\b")
                self.assertRegex(segments, r"GNU_STACK.* RW ")  # no executable stack
                self.assertNotRegex(dynamic, r"TEXTREL|RPATH|RUNPATH")
                self.assertIn("__stack_chk_fail", symbols)
                self.assertRegex(symbols, r"__\w+_chk@")  # _FORTIFY_SOURCE

    def test_a_binary_that_is_not_hardened_would_be_seen(self):
        with tempfile.TemporaryDirectory(prefix="tacit-soft-") as folder:
            (Path(folder) / "soft.c").write_text("int main(void) { return 0; }\n")
            run(*os.environ["CC"].split(), "-O0", "-no-pie", "-fno-stack-protector", "-Wl,-z,norelro", "-Wl,-z,lazy",
                "-Wl,-z,execstack", Path(folder) / "soft.c", "-o", Path(folder) / "soft", env={**os.environ, "CCACHE_DISABLE": "1"})
            soft = Path(folder) / "soft"
            self.assertRegex(run("readelf", "-hW", soft), r"Type:\s+EXEC")
            self.assertNotIn("GNU_RELRO", run("readelf", "-lW", soft))
            self.assertRegex(run("readelf", "-lW", soft), r"GNU_STACK.* RWE ")
            self.assertNotIn("__stack_chk_fail", run("readelf", "--dyn-syms", "-W", soft))

    def test_no_file_tells_where_it_was_built(self):
        for path in self.root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                content = path.read_bytes()
                for place in (BUILT, SOURCE):
                    self.assertFalse(place.encode() + b"/" in content, f"{path} names {place}")

    def test_the_man_page_bears_the_date_it_is_given(self):
        page = self.one("share/man/man1/tacit.1").read_text()
        self.assertRegex(page, r'\A\.TH TACIT 1 "')
        environment = {**os.environ, "SOURCE_DATE_EPOCH": "86400"}
        dated = run(self.program, "help", "--man", env=environment)
        self.assertTrue(dated.startswith('.TH TACIT 1 "1970-01-02"'))
        environment["SOURCE_DATE_EPOCH"] = "soon"
        self.assertTrue(run(self.program, "help", "--man", env=environment).startswith('.TH TACIT 1 "" '))
        if shutil.which("mandoc"):
            with tempfile.NamedTemporaryFile("w", suffix=".1") as stream:
                stream.write(dated)
                stream.flush()
                self.assertEqual(run("mandoc", "-Tlint", "-Wwarning", stream.name), "")

    def test_every_function_of_the_library_has_a_page(self):
        names = set(re.findall(r"^ *(tacit_\w+);$", (Path(SOURCE) / "src/api/tacit.map").read_text(), re.M))
        self.assertEqual({path.name for path in self.root.rglob("share/man/man3/*.3")}, {name + ".3" for name in names})

    def test_lgpl_libraries_are_linked_dynamically(self):
        for path in (self.program, self.one("libtacit.so.1")):
            needed = run("readelf", "-dW", path)
            for library in ("libgmp", "libmpfr", "libgnutls"):
                self.assertRegex(needed, rf"NEEDED.*\[{re.escape(library)}\.so", path)
        self.assertRegex(run("readelf", "-dW", self.program), r"NEEDED.*\[libmicrohttpd\.so")

    def test_the_library_shows_what_its_header_declares_and_no_more(self):
        library = self.one("libtacit.so.1")
        self.assertRegex(run("readelf", "-dW", library), r"SONAME.*\[libtacit\.so\.1\]")
        shown = set(re.findall(r"GLOBAL +DEFAULT +\d+ (tacit_\w+)@@TACIT_1$", run("readelf", "--dyn-syms", "-W", library), re.M))
        others = re.findall(r"(?:FUNC|OBJECT) +GLOBAL +DEFAULT +\d+ ((?!tacit_)\w+)@@TACIT_1$",
                            run("readelf", "--dyn-syms", "-W", library), re.M)
        headers = "".join(path.read_text() for path in self.root.rglob("include/tacit/*.h"))
        declared = set(re.findall(r"\b(tacit_\w+)\(", re.sub(r"/\*.*?\*/", "", headers, flags=re.S)))
        self.assertEqual(others, [])
        self.assertEqual(shown - declared, set())
        self.assertGreater(len(shown & declared), 40)

    def test_a_program_is_built_with_pkg_config_alone(self):
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.one("pkgconfig/tacit.pc").parent),
                       "PKG_CONFIG_SYSROOT_DIR": str(self.root), "CCACHE_DISABLE": "1"}
        with tempfile.TemporaryDirectory(prefix="tacit-consumer-") as folder:
            source, program = Path(folder) / "consumer.c", Path(folder) / "consumer"
            source.write_text('#include <stdio.h>\n#include <tacit/tacit.h>\nint main(void) { puts(tacit_version()); return 0; }\n')
            flags = run("pkg-config", "--cflags", "--libs", "tacit", env=environment).split()
            run(*os.environ["CC"].split(), "-std=c17", "-Wall", "-Werror", source, "-o", program, *flags, env=environment)
            environment["LD_LIBRARY_PATH"] = str(self.one("libtacit.so.1").parent)
            self.assertEqual(run(program, env=environment).strip(),
                             run("pkg-config", "--modversion", "tacit", env=environment).strip())

    def test_a_program_links_the_static_library_without_a_clash_of_names(self):
        if not list(self.root.rglob("libtacit.a")):
            self.skipTest("this build has no libtacit.a: configure with -Dstatic=true")
        archive = self.one("libtacit.a")
        shown = set(re.findall(r" T (\w+)$", run("nm", "-g", "--defined-only", archive), re.M))
        self.assertEqual(shown, set(re.findall(r"^ *(tacit_\w+);$", (Path(SOURCE) / "src/api/tacit.map").read_text(), re.M)))
        inside = re.findall(r" t (tacit_\w+)$", run("nm", archive), re.M)[0]  # a name of the library that is the program's own, too
        with tempfile.TemporaryDirectory(prefix="tacit-static-") as folder:
            source, program = Path(folder) / "consumer.c", Path(folder) / "consumer"
            source.write_text(f"#include <stdio.h>\n#include <tacit/tacit.h>\nint {inside}(void);\nint {inside}(void) {{ return 7; }}\n"
                              "int main(void) { char *json = NULL; if (tacit_methods_document(&json, NULL) != TACIT_OK) return 1;\n"
                              f"puts(json); tacit_string_free(json); return {inside}() - 7; }}\n")
            environment = {**os.environ, "PKG_CONFIG_PATH": str(self.one("pkgconfig/tacit.pc").parent), "CCACHE_DISABLE": "1"}
            needs = [word for word in run("pkg-config", "--static", "--libs", "tacit", env=environment).split() if word != "-ltacit"]
            run(*os.environ["CC"].split(), "-std=c17", "-Wall", "-Werror", "-I", self.one("include/tacit/tacit.h").parent.parent, source,
                "-o", program, archive, *needs, env=environment)
            self.assertIn('"dpgd"', run(program))
            self.assertNotIn("libtacit", run("readelf", "-dW", program))


if __name__ == "__main__":
    unittest.main()
