#!/usr/bin/env python3
"""Studies that were stopped in the middle, each kind of round: the coordinator's folder and the parties' homes as `kill -9` left them.

A release makes them for the next one, with the program as released, and keeps them beside this file; test_resumed.py goes on
with them. Certificates end, so that the clock is set back for the making (any preloaded library that shifts it will do):

    TACIT=/usr/bin/tacit LD_PRELOAD=... tests/service/stopped.py FOLDER [KIND]...
"""
import json
import os
import re
import shutil
import sys
import tarfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import deployed
from deployed import DeployedTest

PARTIES = range(3)
EXACT = {"method": "estimate", "set": "{}", "epsilon": None, "lambda": 0.01}
# What differs from DeployedTest.definition, what the owner allows, and the line of party 0 at which everything is killed.
KINDS = {
    "plain": ({"method": "dpgd", "set": "{noise: party, rounds: 30}", "delta": "1e-5", "sum": "clear"}, (), "round 4: answering"),
    "masked": (EXACT, ("--allow-entrusted", "--allow-exact"), "round 2: answering .* step mask"),
    "paillier": ({**EXACT, "sum": "paillier"}, ("--allow-entrusted", "--allow-exact"), "round 2: answering .* step encrypt"),
    "mail": ({"method": "consensus", "set": "{graph: ring, rounds: 12}", "epsilon": None}, ("--allow-neighbours",),
             "round 5: answering"),
}
ROWS_AT = "@rows@"  # in place of where the rows were


class Making(DeployedTest):
    def runTest(self):
        pass

    def join_words(self, party, invitation, *more):
        return super().join_words(party, invitation, "--source", f"rows{party}", *more)

    def limit(self, party, epsilon=10, home=None):
        self.succeed("ledger", "limit", "--source", f"rows{party}", "--epsilon", epsilon, "--delta", "0.01", home=self.home(party))

    def stop_in_the_middle(self, kind):
        changed, allowed, line = KINDS[kind]
        self.study(**changed)
        coordinator = self.coordinator("--certificate-days", "3600")
        parties = [self.join(party, *allowed) for party in PARTIES]
        parties[0].wait_line(line)
        for process in (coordinator, *parties):
            process.process.kill()
        for process in (coordinator, *parties):
            process.finish()

    def make_anonymous(self):
        for path in self.path.glob("home*/studies/*/settings.json"):
            settings = json.loads(path.read_text())
            for key in ("data", "schema"):
                settings[key] = settings[key].replace(str(self.path), ROWS_AT)
            path.write_text(json.dumps(settings, indent=2) + "\n")
        for path in (*self.path.glob("invitation-*"), *self.path.glob("*/*.db-shm"), self.folder / "coordinator.log"):
            path.unlink()
        for path in (each for each in self.path.rglob("*") if each.is_file()):
            if str(self.path).encode() in path.read_bytes():
                raise SystemExit(f"{path} says where it was made")

    def pack(self, out):
        def plain(entry):
            entry.uid = entry.gid = entry.mtime = 0
            entry.uname = entry.gname = ""
            return entry
        with tarfile.open(out, "w:xz", preset=9) as archive:
            for path in sorted(self.path.iterdir()):
                archive.add(path, path.name, filter=plain)


def unpack(kind, folder):
    """A stopped study below `folder`, where its rows are from now on."""
    with tarfile.open(Path(__file__).parent / "stopped" / f"{kind}.tar.xz") as archive:
        archive.extractall(folder, filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(folder)
    for path in Path(folder).glob("home*/studies/*/settings.json"):
        path.write_text(path.read_text().replace(ROWS_AT, str(folder)))


if __name__ == "__main__":
    kept = {name: os.environ[name] for name in ("LD_PRELOAD", "CLOCK_SHIFT") if name in os.environ}
    usual = deployed.environment
    deployed.environment = lambda home=None: {**usual(home), **kept}
    for kind in sys.argv[2:] or KINDS:
        making = Making()
        making.setUp()
        making.stop_in_the_middle(kind)
        making.make_anonymous()
        making.pack(Path(sys.argv[1]) / f"{kind}.tar.xz")
        making.doCleanups()
