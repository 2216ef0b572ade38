#!/usr/bin/env python3
"""The source tree holds no key, certificate, database, lock or log of a run, tracked or about to be: a test that writes where it stands would
leave them, and a commit of everything would publish them."""
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TACIT_SOURCE"])
# Bytes that parsers must survive, some of them real certificates and the key of nobody.
FIXTURES = ("fuzz/corpus/", "tests/session/recorded/")
NAMES = re.compile(r"\.(key|crt|csr|pem|p12|pfx|db|sqlite3?|lock|log|pid)$|-(wal|shm|journal)$")
PEM = re.compile(rb"-----BEGIN [A-Z0-9 ]+-----\s*[A-Za-z0-9+/=\r\n]{40}")
DATABASE = b"SQLite format 3\0"


def git(folder, *arguments):
    done = subprocess.run(["git", "-c", "safe.directory=*", "-C", str(folder), *arguments], capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else None


def left_behind(folder):
    """The files that git has or would add, and that only a run of the programs makes; None where this is no checkout."""
    listed = git(folder, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed is None:
        return None
    found = []
    for name in filter(None, listed.split("\0")):
        path = Path(folder) / name
        if name.startswith(FIXTURES) or not path.is_file():
            continue
        contents = path.read_bytes()
        if NAMES.search(name) or contents.startswith(DATABASE) or PEM.search(contents):
            found.append(name)
    return found


class Tracked(unittest.TestCase):
    def test_no_key_certificate_database_lock_or_log_is_in_the_source_tree(self):
        found = left_behind(SOURCE)
        if found is None:
            self.skipTest("not a checkout")
        self.assertEqual(found, [], "remove these files, and let what wrote them write into a temporary folder")

    def test_each_of_them_is_found(self):
        body = "QUJD" * 16
        written = {"x/ca.key": "", "x/coordinator.db-wal": "", "x/coordinator.lock": "", "x/address": f"-----BEGIN CERTIFICATE-----\n{body}\n",
                   "rows": "SQLite format 3\0", "a b.log": ""}
        kept = {"notes.md": "-----BEGIN CERTIFICATE----- begins one", "fuzz/corpus/home/k.sum.key": body, "ignored/ca.key": body, ".gitignore": "/ignored/\n"}
        with tempfile.TemporaryDirectory(prefix="tacit-test-") as folder:
            for name, text in {**written, **kept}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            self.assertIsNotNone(git(folder, "init", "--quiet"))
            self.assertIsNotNone(git(folder, "add", "x/ca.key", "notes.md"))
            self.assertEqual(sorted(left_behind(folder)), sorted(written))


if __name__ == "__main__":
    unittest.main(verbosity=2)
