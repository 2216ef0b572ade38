"""Every key that a command prints with --json is described in docs/reference/json.md, and every key described there is printed:
documents.py PAGE, or documents.py --list to see what is printed.

The commands run on the examples and, for those of a study, between a coordinator and three parties on loopback. In the page, a
heading "## tacit COMMAND" is followed by a table whose first column holds keys: `a.b` is key b of the object a, `a[].b` that of each
element of the list a, and `*` stands for a key that depends on the data. A row whose meaning begins with "Sometimes:" describes a key
that need not be there; its meaning says when. A row whose type is [account](#account) stands for the keys below the heading
"### Account" as well.
"""
import json
import os
import re
import signal
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/service"))
from deployed import DeployedTest  # noqa: E402  (the module of the tests of the programs together)

SECTION = re.compile(r"^## (.+?)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| `([^`]+)` \| ([^|]*) \| (.*) \|$", re.MULTILINE)
SHARED = re.compile(r"^### (.+?)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)


def keys_of(value, path=""):
    """Where there is a key: {"a.b", "a.c[].d"}. Lists and objects below a key do not hide the key itself."""
    if isinstance(value, dict):
        for name, inner in value.items():
            here = f"{path}.{name}" if path else name
            yield here
            yield from keys_of(inner, here)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_of(inner, path + "[]")


def rows(body, shared):
    """(key, sometimes) of each row of a table. A row whose type links to a shared object stands for the keys of that too."""
    for key, kind, meaning in ROW.findall(body):
        sometimes = meaning.startswith("Sometimes:")
        if key != ".":
            yield key, sometimes
        link = re.search(r"\(#(\w+)\)", kind)
        within = "" if key == "." else key + ("[]." if kind.startswith("list of") else ".")
        for inner, rarely in rows(shared[link.group(1)], shared) if link else ():
            yield within + inner, sometimes or rarely


def described(text):
    """{command: {key: sometimes}} of the page."""
    shared = {heading.lower(): body for heading, body in SHARED.findall(text)}
    return {heading.removeprefix("tacit "): dict(rows(body, shared)) for heading, body in SECTION.findall(text)
            if heading.startswith("tacit ") or heading == "Errors"}


def fits(pattern, key):
    return re.fullmatch(re.escape(pattern).replace(r"\*", r"[^.\[\]]+"), key) is not None


def differences(printed, page):
    """Sentences about what is printed and not described, or described and not printed."""
    for command, keys in sorted(printed.items()):
        if command not in page:
            yield f"tacit {command} is not on the page"
            continue
        for key in sorted(keys):
            if not any(fits(pattern, key) for pattern in page[command]):
                yield f"tacit {command} prints '{key}', which the page does not describe"
        for pattern, sometimes in page[command].items():
            if not sometimes and not any(fits(pattern, key) for key in keys):
                yield f"tacit {command} does not print '{pattern}', which the page describes"
    for command in page:
        if command not in printed:
            yield f"the page describes tacit {command}, which was not run"


class Documents(DeployedTest):
    """Runs every command that prints a document, and keeps the keys."""

    printed, known = {}, set()

    def keep(self, command, text):
        self.printed.setdefault(command, set()).update(keys_of(json.loads(text)))

    def document(self, words, *more, home=None, codes=(0,)):
        done = self.tacit(*words.split(), *more, "--json", home=home or self.home(9))
        self.assertIn(done.returncode, codes, done.stderr)
        names = [name for name in self.commands if (words + " ").startswith(name + " ")]
        self.keep(max(names, key=len), done.stdout)
        return done.stdout

    def setUp(self):
        super().setUp()
        for name in ("breast_cancer.csv", "breast_cancer.schema.yaml"):
            (self.path / name).write_bytes((ROOT / "examples" / name).read_bytes())
        self.rows_and_schema = ["--train", "breast_cancer.csv", "--schema", "breast_cancer.schema.yaml"]
        self.commands = [entry["name"] for entry in json.loads(self.succeed("help", "--json").stdout)["commands"]]
        self.known.update(self.commands)

    def test_about_and_methods(self):
        self.document("help")
        self.document("help data info")
        self.document("version")
        self.document("methods")
        for method in json.loads(self.succeed("methods", "--json").stdout):
            self.document("explain", method["name"])
        failed = self.tacit("explain", "nothing", "--json")
        self.assertEqual(failed.returncode, 2)
        self.keep("Errors", failed.stdout)

    def test_data(self):
        self.document("data info breast_cancer.csv")
        self.document("data draft-schema breast_cancer.csv")
        self.document("data draft-schema breast_cancer.csv --out draft.yaml")
        self.document("data check breast_cancer.csv --schema breast_cancer.schema.yaml")
        self.document("data convert breast_cancer.csv --out rows.libsvm")
        self.document("data info rows.libsvm")
        self.document("data convert rows.libsvm --out rows.csv")
        (self.path / "mixed.csv").write_text("age,sex,label\n1,f,no\n2,m,yes\nthree,f,no\n" + "4,f,yes\n" * 30)
        self.document("data info mixed.csv")

    def test_learning(self):
        plain = ["--train", self.rows(7, 400), "--schema", "schema.yaml"]
        for more in (["--method", "estimate", "--lambda", "1e-4", *plain], ["--method", "batch", *self.rows_and_schema],
                     ["--method", "dpgd", "--epsilon", "1", "--delta", "1e-5", *self.rows_and_schema]):
            self.document("simulate --parties 5 --trials 2 --seed 1", *more)
        self.document("simulate --parties 20 --method estimate --lambda 1e-4 --seed 1 --stop",
                      "{se: {column: age, at_most: 0.0001}, looks: 2, more: 5}", *plain)
        self.document("simulate --method estimate --lambda 1e-4 --parties 5 --seed 1 --out estimated.json", *plain, "--terms", "~ .")
        self.document("summary estimated.json")
        self.document("simulate --method estimate --set bias=firth --parties 5 --seed 1 --out penalised.json", *plain)
        self.document("summary penalised.json")
        (self.path / "times.yaml").write_text("label: {name: [t, e], kind: time, low: 0, high: 9}\ncolumns:\n  - {name: x, kind: number, low: 0, high: 9}\n")
        (self.path / "times.csv").write_text("x,t,e\n" + "".join(f"{k % 7},{(k * 5 + k % 3) % 9},{k % 2}\n" for k in range(90)))
        self.document("simulate --method cox --parties 2 --seed 1 --train times.csv --test times.csv --schema times.yaml --out times.json")
        self.document("summary times.json")
        self.document("card times.json")
        self.document("card penalised.json")
        self.document("simulate --method estimate --set errors=HC1 --set influence=yes --lambda 1e-4 --parties 5 --seed 1", *plain)
        for count, name in ((1, "small"), (2, "large")):
            columns = "".join(f"  - {{name: {column}, kind: number, low: 0, high: 9}}\n" for column in ("a", "b")[:count])
            (self.path / f"{name}.yaml").write_text("label: {name: y, classes: [0, 1]}\ncolumns:\n" + columns)
            (self.path / "counts.csv").write_text("a,b,y\n" + "".join(f"{k % 7},{k % 5},{k % 2}\n" for k in range(60)))
            self.document(f"simulate --method estimate --parties 2 --seed 1 --train counts.csv --schema {name}.yaml --out {name}.json")
        self.document("anova small.json large.json")
        self.limit_of("breast_cancer.csv")
        self.document("describe --data breast_cancer.csv --schema breast_cancer.schema.yaml")
        self.document("describe --data breast_cancer.csv --schema breast_cancer.schema.yaml --epsilon 1 --delta 1e-5")
        self.document("fit --method output --epsilon 1", *self.rows_and_schema)
        self.document("evaluate model.json breast_cancer.csv")
        self.succeed("evaluate", "estimated.json", self.rows(7, 400), "--out", "evaluation.json")
        self.document("describe --schema schema.yaml --out described.json --data", self.rows(7, 400))
        self.document("card estimated.json --evaluation evaluation.json --describe described.json")
        self.document("card model.json")
        self.document("simulate --method evaluate --model estimated.json --parties 5 --seed 1 --epsilon 1", *plain, "--terms", "~ .")
        self.document("predict model.json breast_cancer.csv")
        self.document("predict model.json breast_cancer.csv --out predicted.csv")
        self.document("export model.json --format onnx --out model.onnx")
        self.document("plan --schema breast_cancer.schema.yaml --parties 5 --rows 455 --epsilon 1 --methods avg,output --seed 1")
        self.document("audit avg --epsilon 1 --runs 500 --seed 1")
        self.document("reproduce list")
        self.document("reproduce rajkumar-fig1 --seed 1 --draws 1 --trials 1 --fraction 0.05")
        self.document("reproduce wang-consensus --seed 1 --fraction 0.05")
        self.document("reproduce wang-table31 wang-consensus yao-table2 --seed 1 --fraction 0.05")

    def limit_of(self, source):
        self.document("ledger limit --epsilon 20 --delta 0.01 --source", self.path / source)

    def test_study(self):
        (self.path / "consent.txt").write_text("Your rows stay with you.\n")
        definition = self.definition(consent="consent.txt", approval="board 1")
        self.document("study new", self.folder, definition, "--draft")
        self.document("study open", self.folder, "trial")
        self.document("study draft", "--name", "drafted", "--method", "estimate", "--parties", 3, "--schema", self.path / "schema.yaml")
        self.document("study token", self.folder, "trial", "--for", "Ana")
        self.document("study token", self.folder, "--list")
        coordinator = self.start("coordinator", self.folder, "--json")
        coordinator.wait_line(r"serving at (https://\S+)")
        invited = json.loads(self.document("study invite", self.folder, "trial", "--count", 4))
        invitations = invited["invitations"]
        self.document("study status", self.folder)
        (self.path / "invitation.txt").write_text(invitations[0] + "\n")
        self.document("catalogue invitation.txt")
        self.document("look invitation.txt")
        self.limit(0)
        joined = self.succeed(*self.join_words(0, invitations[0]), "--no-wait", "--json", home=self.home(0))
        self.keep("join", joined.stdout)
        self.document("catalogue", home=self.home(0))
        self.document("study pause", self.folder, "trial")
        self.document("study amend", self.folder, self.definition(consent="consent.txt", approval="board 1", epsilon=1))
        self.document("study resume", self.folder, "trial")
        self.assertEqual(self.start("party", "trial", home=self.home(0)).finish(), 3)  # hears of the amendment
        self.document("consent trial --yes", home=self.home(0))
        self.document("withdraw trial", home=self.home(0))
        self.document("consent trial --yes", home=self.home(0))
        parties = [self.start("party", "trial", "--json", home=self.home(0))]
        for party in (1, 2):
            self.limit(party)
            parties.append(self.start(*self.join_words(party, invitations[party]), "--json", home=self.home(party)))
        for party, process in enumerate(parties):
            self.assertEqual(process.finish(), 0, process.text())
            self.keep("join" if party else "party", process.process.stdout.read())
        self.home_commands(0)
        self.document("study new", self.folder, self.definition("second"))
        self.limit(3)
        self.succeed(*self.join_words(3, self.invite(study="second")), "--no-wait", home=self.home(3))
        made = json.loads(self.document("rotate", self.folder, "--stolen"))
        coordinator.wait_line("serving with the authorities that are trusted now")
        self.document("follow", made["new"], home=self.home(3))
        self.document("study status", self.folder)
        self.document("revoke", self.folder, re.search(r"party-\w+", self.log()).group())
        self.assertEqual(coordinator.kill(signal.SIGTERM), 0)
        self.keep("coordinator", coordinator.process.stdout.read())
        self.folder_commands()

    def test_public(self):
        """People who ask to join, and the archive."""
        self.study(enrolment="open")
        self.study("asks", enrolment="apply")
        coordinator = self.start("coordinator", self.folder, "--catalogue", "127.0.0.1")
        address = coordinator.wait_line(r"the public catalogue is at (https://\S+)").group(1)
        self.document("catalogue", address)
        self.document("enrol", address, "asks", "--out", self.path / "asks.txt")
        asked = json.loads(self.document("study applicants", self.folder, "asks"))["applicants"]
        self.document("study accept", self.folder, "asks", asked[0]["applicant"])
        self.document("enrol", address, "asks", "--out", self.path / "other.txt", home=self.home(8))
        asked = json.loads(self.document("study applicants", self.folder, "asks"))["applicants"]
        self.document("study decline", self.folder, "asks", next(one["applicant"] for one in asked if one["state"] == "waiting"))
        self.succeed("study", "close", self.folder, "asks")
        self.document("study archive", self.folder, "asks", "--out", self.path / "archive.json")
        self.document("study derive", self.path / "archive.json", "--name", "derived")
        self.document("catalogue", address)

    def test_person(self):
        """A person's own store."""
        examples, home = ROOT / "examples", self.home(8)
        secret = self.path / "passphrase"
        secret.touch(0o600)
        secret.write_text("three quiet rivers\n")
        opened = ["--passphrase-file", secret]
        self.document("instrument check", examples / "wellbeing.instrument.yaml")
        self.document("instrument sign", examples / "wellbeing.instrument.yaml", "--key", "key", "--out", "signed.yaml")
        self.document("instrument show signed.yaml")
        self.document("instrument show signed.yaml --schema burden")
        self.document("store new", *opened, home=home)
        self.document("store take signed.yaml", *opened, home=home)
        self.document("store answer wellbeing flat=1", *opened, home=home)
        self.document("store import", examples / "steps.csv", "--mapping", examples / "steps.import.yaml", *opened, home=home)
        (self.path / "steps.csv").write_bytes((examples / "steps.csv").read_bytes())
        self.succeed("data", "sign", "steps.csv", "--key", "lab.key", "--name", "Lab")
        self.document("store import", self.path / "steps.csv", "--mapping", examples / "steps.import.yaml", *opened, home=home)
        self.document("store rule ask", *opened, home=home)
        self.document("store show", *opened, home=home)
        self.document("store passphrase --new-passphrase-file", secret, *opened, home=home)
        self.document("store remove steps", *opened, home=home)

    def test_people(self):
        """Arms, receipts, contact, and what a laboratory hands over."""
        (self.path / "schema.yaml").write_text((self.path / "schema.yaml").read_text() + "  - {name: arm, kind: category, levels: [drug, placebo]}\n")
        (self.path / "me.txt").write_text("Ana\n")
        key = json.loads(self.document("contact key contact.key"))["contact"]
        self.study(arms="{column: arm}", compensation="20 EUR", contact=f'"{key}"')
        coordinator = self.start("coordinator", self.folder)
        coordinator.wait_line(r"serving at (https://\S+)")
        parties = [self.join(0)]
        self.document("arm show trial", home=self.home(0))
        self.document("arm close", self.folder, "trial")
        parties += [self.join(party) for party in (1, 2)]
        for process in parties:
            self.assertEqual(process.finish(), 0, process.text())
        shown = json.loads(self.document("arm show trial", home=self.home(0)))
        self.document("arm verify", shown["proof"])
        self.document("arm record", self.folder, "trial", "--out", "arms.json")
        self.document("arm verify arms.json")
        given = json.loads(self.document("receipt get trial", home=self.home(0)))
        self.document("receipt redeem", self.folder, given["file"])
        self.document("contact send trial me.txt --yes", home=self.home(0))
        self.document("contact list", self.folder, "trial", "--key", "contact.key")
        self.document("data sign me.txt --key lab.key --name Lab")

    def test_envelopes(self):
        self.study(transport="files")
        coordinator = self.start("coordinator", self.folder)
        coordinator.wait_line(r"serving at (https://\S+)")
        for site in range(3):
            self.document("envelope invite", self.folder, "trial", "--out", self.path / f"invitation{site}")
            self.limit(site)
            self.document("envelope open", self.path / f"invitation{site}", home=self.home(site))
            self.document("envelope join", self.path / f"invitation{site}", "--data", self.rows(site), "--schema",
                          self.path / "schema.yaml", "--yes", "--out", self.path / f"joining{site}", home=self.home(site))
            self.document("envelope take", self.folder, self.path / f"joining{site}")
        for _ in range(3):
            coordinator.wait_line(r"an envelope for .* is in (\S+round-1\S+)", count=3)
        asked = {}
        for line in coordinator.lines:
            found = re.search(r"is in (\S+round-1\S+)", line)
            for site in range(3) if found else ():
                if self.tacit("envelope", "open", self.folder / found.group(1), home=self.home(site)).returncode == 0:
                    asked[site] = self.folder / found.group(1)
        for site, envelope in asked.items():
            self.document("envelope open", envelope, home=self.home(site))
            self.document("envelope answer", envelope, "--out", self.path / f"answer{site}", home=self.home(site))
            self.document("envelope take", self.folder, self.path / f"answer{site}")
        ended = coordinator.wait_line(r"an envelope for .* is in (\S+\.end\.\S+)", count=3).group(1)
        for site in range(3):
            for word in ("close", "answer"):
                done = self.tacit("envelope", word, self.folder / ended, "--json", home=self.home(site))
                if done.returncode == 0:
                    self.keep(f"envelope {word}", done.stdout)

    def home_commands(self, party):
        home, source = self.home(party), self.rows(party)
        self.document("ledger show", home=home)
        self.document("ledger verify", home=home)
        copy = self.path / "copy.csv"
        copy.write_text(source.read_text())
        self.document("ledger link --source", copy, "--same-people-as", source, home=home)
        self.document("ledger show", home=home)
        self.document("rules show", home=home)
        self.document("rules set --minimum-rows 12", home=home)
        self.document("doctor", home, home=home, codes=(0, 1))
        self.served("page", "--json", home=home, ready=r"http://")

    def served(self, *words, home=None, ready):
        process = self.start(*words, home=home)
        process.wait_line(ready)
        self.assertEqual(process.kill(signal.SIGTERM), 0, process.text())
        self.keep(words[0], process.process.stdout.read())

    def folder_commands(self):
        self.document("study status", self.folder, "trial")
        self.document("doctor", self.folder, codes=(0, 1))
        self.document("backup", self.folder, "--out", "saved.tar")
        self.document("restore saved.tar")
        self.document("restore saved.tar again")
        self.document("export-audit", self.folder, "trial", "--out", "audit.tar")
        self.document("export-audit --verify audit.tar")
        self.document("study close", self.folder, "second")
        self.served("center", "--role", "b", self.path / "center", "--coordinator", self.folder / "ca.crt", "--json", ready="serving at ")


def control():
    """The check itself: a key that only one side has is found, whichever side it is, and nothing else."""
    page = described("## tacit a\n| `x` | text | it |\n| `y[].z` | text | Sometimes: it |\n| `p` | [price](#price) | it |\n"
                     "## Shared\n### Price\n| `e` | number | it |\n")
    assert not list(differences({"a": set(keys_of({"x": 1, "p": {"e": 1}}))}, page))
    assert len(list(differences({"a": set(keys_of({"p": {"e": 1}, "y": [{"w": 2}]}))}, page))) == 3


def main():
    control()
    words = sys.argv[1:]
    outcome = unittest.main(argv=[sys.argv[0]], exit=False, verbosity=1).result
    if not outcome.wasSuccessful():
        return 1
    if words == ["--list"]:
        for command, keys in Documents.printed.items():
            print(f"## tacit {command}", *sorted(keys), sep="\n", end="\n\n")
        return 0
    page = described(Path(words[0]).read_text(encoding="utf-8"))
    found = [f"tacit {name} was not run" for name in sorted(Documents.known - set(Documents.printed))]
    found += differences(Documents.printed, page)
    print("\n".join(found) if found else f"{len(page)} documents are as described")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
