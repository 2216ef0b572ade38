"""Command lines are completed in bash as the table of commands has it; the script for zsh is one that zsh can read."""

import os
import shutil
import subprocess
import tempfile
import unittest

TACIT = os.environ["TACIT"]

# Sets what bash sets when the tab key is pressed after these words, calls what it would call, and tells the answers.
ASK = """
source "$1"; shift
complete -p tacit | grep -q -- '-F _tacit tacit' || exit 9
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_tacit
printf '%s\\n' "${COMPREPLY[@]}"
"""


class Completion(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="tacit-completion-")
        cls.addClassCleanup(cls.folder.cleanup)
        for shell in ("bash", "zsh"):
            script = subprocess.run([TACIT, "help", "--completion", shell], capture_output=True, text=True, check=True)
            with open(os.path.join(cls.folder.name, shell), "w", encoding="utf-8") as stream:
                stream.write(script.stdout)
        os.mkdir(os.path.join(cls.folder.name, "rows"))
        for name in ("rows.csv", "row two.csv"):
            open(os.path.join(cls.folder.name, name), "w", encoding="utf-8").close()

    def ask(self, *words):
        done = subprocess.run(["bash", "--norc", "-c", ASK, "ask", "./bash", "tacit", *words], cwd=self.folder.name,
                              capture_output=True, text=True, timeout=600)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [line for line in done.stdout.splitlines() if line]

    def test_commands_are_completed_word_by_word(self):
        self.assertEqual(self.ask("si"), ["simulate"])
        self.assertIn("study", self.ask(""))
        self.assertNotIn("study new", self.ask(""))
        self.assertEqual(self.ask("ledger", ""), ["show", "limit", "link", "verify"])
        self.assertEqual(self.ask("study", "inv"), ["invite"])
        self.assertEqual(self.ask("nonsense", ""), [])

    def test_flags_are_those_of_the_command(self):
        self.assertEqual(self.ask("simulate", "--me"), ["--method"])
        self.assertEqual(self.ask("study", "invite", "--co"), ["--count"])
        self.assertEqual(self.ask("study", "invite", "--js"), ["--json"])
        self.assertEqual(self.ask("methods", "--me"), [])

    def test_methods_one_or_several(self):
        self.assertEqual(self.ask("explain", "privlogit-h"), ["privlogit-hessian"])
        self.assertEqual(self.ask("fit", "--method", "outp"), ["output"])
        self.assertEqual(self.ask("simulate", "--method", "avg,dpg"), ["avg,dpgd"])
        self.assertEqual(self.ask("simulate", "--method", "=", "dpg"), ["dpgd"])  # bash cuts words at "="
        self.assertIn("dpstgd-claim", self.ask("audit", "dpst"))
        self.assertIn("hamm-fig3", self.ask("reproduce", "hamm"))

    def test_settings_are_those_of_the_method_that_the_line_names(self):
        self.assertEqual(self.ask("simulate", "--method", "dpgd", "--set", "roun"), ["rounds="])
        self.assertEqual(self.ask("simulate", "--method", "avg", "--set", "roun"), [])
        self.assertEqual(self.ask("explain", "dpgd", "--set", "noise", "=", "sh"), ["shares"])
        self.assertIn("party", self.ask("explain", "dpgd", "--set", "noise", "="))
        self.assertIn("noise=party", self.ask("simulate", "--set", "noi"))  # no method yet: those of all

    def test_choices_files_and_folders(self):
        self.assertEqual(self.ask("explain", "avg", "--sum", ""), ["masked", "paillier", "clear"])
        self.assertEqual(self.ask("center", "b", "--role", ""), ["a", "b"])
        self.assertEqual(sorted(self.ask("simulate", "--train", "row")), ["row two.csv", "rows", "rows.csv"])
        self.assertEqual(self.ask("coordinator", "row"), ["rows"])
        self.assertEqual(self.ask("evaluate", "m.json", "rows."), ["rows.csv"])
        self.assertEqual(self.ask("explain", "avg", "--epsilon", ""), [])

    @unittest.skipUnless(shutil.which("zsh"), "zsh is not installed")
    def test_zsh_reads_its_script_and_completes(self):
        subprocess.run(["zsh", "-n", "zsh"], cwd=self.folder.name, check=True)
        # In a terminal of its own, as a user would: the tab key, and what the line has become.
        script = """
zmodload zsh/zpty
zpty shell 'PS1= zsh -f -i'
tell() { zpty -w shell "$1" }
tell 'autoload -U compinit; compinit -u -D; source ./zsh; bindkey "^I" expand-or-complete; stty -echo'
tell 'tacit() { print -r -- "<$*>" }; print ready'
zpty -r shell line '*ready*'
zpty -w -n shell $'tacit simu\\t--meth\\tavg,dpg\\t\\n'
zpty -r shell line '*<*>*'
print -r -- "$line"
zpty -d shell
"""
        done = subprocess.run(["zsh", "-f", "-c", script], cwd=self.folder.name, capture_output=True, text=True, timeout=600,
                              env={**os.environ, "TERM": "dumb", "HOME": self.folder.name})
        self.assertRegex(done.stdout, "<simulate --method[ =]avg,dpgd ?>", done.stderr)

    def test_a_script_is_no_document(self):
        done = subprocess.run([TACIT, "help", "--completion", "bash", "--json"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("leave out --json", done.stderr)


if __name__ == "__main__":
    unittest.main()
