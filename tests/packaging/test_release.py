"""What script/release publishes of a commit: the same sources each time, and checksums whose signature and files are checked."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["TACIT_SOURCE"])
RELEASE = str(SOURCE / "script" / "release")


def run(*words, **settings):
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, **settings)


@unittest.skipUnless((SOURCE / ".git").exists() and shutil.which("git") and shutil.which("xz"), "not a clone, or no git or xz")
class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tacit-release-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def make(self, name, *words, **settings):
        done = run(RELEASE, "--sources-only", *words, self.folder / name, **settings)
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.folder / name

    def test_the_same_commit_gives_the_same_bytes_and_a_changed_file_or_checksum_is_found(self):
        environment = self.with_key() if shutil.which("gpg") else os.environ
        signed = self.make("signed", *(("--key", "releases@example.org") if shutil.which("gpg") else ("--unsigned",)), env=environment)
        sums = [(folder / "SHA256SUMS").read_text() for folder in (signed, self.make("again", "--unsigned"))]
        self.assertRegex(sums[0], r"\A[0-9a-f]{64}  tacit-\d+\.\d+\.\d+\.tar\.xz\n\Z")
        self.assertEqual(sums[0], sums[1])
        if shutil.which("gpg"):
            self.check_changes(signed, environment)

    def test_neither_signed_nor_said_to_be_unsigned_is_refused(self):
        done = run(RELEASE, self.folder / "none")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--key ID", done.stderr)
        self.assertFalse((self.folder / "none").exists())

    def test_a_folder_that_holds_something_is_left_alone(self):
        (self.folder / "old").write_text("kept")
        done = run(RELEASE, "--unsigned", "--sources-only", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["old"])

    def with_key(self):
        home = self.folder / "keys"
        home.mkdir(mode=0o700)
        environment = {**os.environ, "GNUPGHOME": str(home)}
        self.addCleanup(run, "gpgconf", "--kill", "all", env=environment)
        made = run("gpg", "--batch", "--passphrase", "", "--quick-gen-key", "releases@example.org", "ed25519", "sign", env=environment)
        self.assertEqual(made.returncode, 0, made.stderr)
        return environment

    def check_changes(self, release, environment):
        verify = lambda: run(RELEASE, "--verify", release, env=environment)  # noqa: E731
        self.assertEqual(verify().returncode, 0)
        sources = next(release.glob("*.tar.xz"))
        kept = sources.read_bytes()
        sources.write_bytes(kept[:-1] + b"\0")
        self.assertIn("not the one that was released", verify().stderr)
        sources.write_bytes(kept)
        sums = release / "SHA256SUMS"
        sums.write_text(sums.read_text().replace("tacit-", "other-"))
        refused = verify()
        self.assertEqual(refused.returncode, 1)
        self.assertIn("do not use this release", refused.stderr)


if __name__ == "__main__":
    unittest.main()
