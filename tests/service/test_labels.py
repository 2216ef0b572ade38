#!/usr/bin/env python3
"""Deployed studies whose parties label public points: the points go out once and are what was consented to, and only
labels come back.

    TACIT=build/src/cli/tacit tests/service/test_labels.py
"""
import json
import os
import random
import re
import sqlite3
import struct
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from deployed import DeployedTest, Relay, post, tls

if os.geteuid() != 0:
    os.environ["TACIT_HARDENING"] = "off"  # these tests look into the memory of processes

POINTS, PARTIES = 60, 4
PLENTY = "1e6"  # so large an epsilon that noise does not show


class LabelsTest(DeployedTest):
    def setUp(self):
        super().setUp()
        draw = random.Random(99)
        self.points = self.path / "points.csv"
        self.points.write_text("age,dose\n" + "".join(f"{draw.random():.6f},{draw.random():.6f}\n" for _ in range(POINTS)))

    def study(self, name="trial", **changed):
        return super().study(name, **{"method": "soft-stat", "set": "{local: logistic}", "epsilon": PLENTY, "lambda": 0.001,
                                      "parties": f"{{expected: {PARTIES}, minimum: {PARTIES}}}",
                                      "auxiliary": "points.csv", **changed})

    def join(self, party, *more, **changed):
        return super().join(party, "--allow-entrusted", *more, **{"epsilon": "2e6", **changed})

    def take_part(self, parties=range(PARTIES)):
        return {party: self.join(party) for party in parties}

    def simulated(self, method, *more):
        """The same rows at the same parties, in one process."""
        together = self.path / "together.csv"
        lines = ["site,age,dose,sick"]
        for party in range(PARTIES):
            lines += [f"{party}," + line for line in self.rows(party).read_text().splitlines()[1:]]
        together.write_text("\n".join(lines) + "\n")
        out = self.path / f"{method}.json"
        self.succeed("simulate", "--method", method, "--train", together, "--test", together, "--schema",
                     self.path / "schema.yaml", "--split", "by:site", "--aux", self.points, "--epsilon", PLENTY,
                     "--seed", "1", "--out", out, *more)
        return json.loads(out.read_text())["weights"], self.accuracy(out)

    def accuracy(self, model):
        told = json.loads(self.succeed("evaluate", model, self.path / "together.csv", "--json").stdout)
        return next(value for key, value in told.items() if key == "accuracy")

    def site(self, party):
        return next((self.home(party) / "studies").glob("trial@*"))

    def definition_of(self, party):
        return (self.site(party) / "study.yaml").read_text()


class Studies(LabelsTest):
    def test_the_deployed_model_is_the_simulated_one(self):
        for method in ("soft-stat", "vote", "soft"):
            with self.subTest(method=method):
                name = "trial-" + method
                self.study(name, method=method)
                self.coordinator("--until-done")
                parties = {party: self.join(party, study=name, epsilon="9e6") for party in range(PARTIES)}
                model = self.check_done(parties, name, charged=[])
                self.assertEqual(model["guarantee"]["parties"], PARTIES)
                self.assertEqual(model["guarantee"]["charged"], {"unit": "party", "epsilon": 1e6, "delta": 0.0})
                weights, accuracy = self.simulated(method, "--lambda", "0.001")
                self.assertGreater(max(abs(weight) for weight in weights), 1)
                for ours, theirs in zip(model["weights"], weights):
                    self.assertAlmostEqual(ours, theirs, delta=0.05)
                self.assertAlmostEqual(self.accuracy(self.folder / f"{name}.model.json"), accuracy, delta=0.02)
                self.assertGreater(accuracy, 0.8)
        charges = self.charges(0)
        self.assertEqual([(charge["kind"], charge["noise"]) for charge in charges], [("entrusted", "exact")] * 3)

    def test_every_kind_of_classifier_and_a_delta(self):
        self.study(method="pate", epsilon=3, delta="1e-5", set='{local: "tree,bayes,knn:3,mlp:4", queries: 30}')
        self.coordinator()
        for party in range(PARTIES):
            self.succeed("ledger", "limit", "--source", self.rows(party), "--epsilon", 10, "--delta", "1e-4",
                         home=self.home(party))
        self.limit = lambda *given, **named: None
        self.check_done(self.take_part())

    def test_lambda_is_chosen_from_what_was_released(self):
        self.study()
        made = self.succeed("study", "new", self.path / "second", self.without("lambda", "trial")).stdout
        self.assertRegex(made, r"lambda +chosen from what is released")
        self.folder = self.path / "second"
        self.coordinator()
        model = self.check_done(self.take_part())
        self.assertTrue(1e-5 * 0.999 <= model["guarantee"]["lambda"] <= 1)
        self.assertRegex(self.definition_of(0), r"\nlambda: 0\n")

    def without(self, key, name):
        path = self.path / f"{name}.study.yaml"
        path.write_text("".join(line for line in path.read_text().splitlines(True) if not line.startswith(key + ":")))
        return path

    def test_labels_in_the_file_of_points_are_not_read(self):
        self.study()
        self.points.write_text("".join(line + end for line, end in zip(
            self.points.read_text().splitlines(), [",sick\n"] + [",perhaps\n", ",\n"] * POINTS)))
        self.study("labelled")
        told = [sqlite3.connect(self.folder / "coordinator.db").execute(
            "SELECT definition FROM study WHERE name = ?", (name,)).fetchone()[0] for name in ("trial", "labelled")]
        found = [re.search(r"auxiliary: (\{points: 60, hash: [0-9a-f]{64}\})\n", text).group(1) for text in told]
        self.assertEqual(found[0], found[1])
        self.assertNotIn("points.csv", told[0])


    def test_the_example_is_a_study(self):
        examples = Path(__file__).resolve().parents[2] / "examples"
        said = self.succeed("study", "new", self.folder, examples / "breast_cancer_labels.study.yaml").stdout
        self.assertRegex(said, r"points +114 public points")
        rows = (examples / "breast_cancer.csv").read_text().splitlines()
        public = (examples / "breast_cancer.public.csv").read_text().splitlines()
        self.assertEqual(public, [row.rpartition(",")[0] for row in rows[:1] + rows[1::5]])


class Consent(LabelsTest):
    def test_the_owner_is_told_what_is_asked(self):
        self.study(set='{local: "tree,bayes"}')
        self.coordinator()
        party = self.join(0)
        said = party.text()
        self.assertRegex(said, r"(?m)^trains +tree,bayes on your rows")
        self.assertRegex(said, r"(?m)^points +60 public points.*\n +your classifier labels them: 60 labels, from 40 rows")
        self.assertRegex(said, r"(?m)^sums +masked: Tacit coordinator sees sums of at least 4 parties'")
        self.assertRegex(said, r"(?m)^trust +Tacit coordinator gets the exact sum, and only its word")
        self.assertRegex(said, r"(?m)^noise +by the coordinator, ")

    def test_entrusting_labels_needs_the_owners_word(self):
        self.study()
        self.coordinator()
        self.limit(0, "2e6")
        line = self.refuse(3, *self.join_words(0, self.invite()), home=self.home(0), says=["exact sum", "--allow-entrusted"])
        self.assertNotIn("noise=party", line)

    def test_fewer_parties_than_the_owners_rule_are_refused_before_joining(self):
        self.study(parties="{expected: 1, minimum: 1}", sum="clear")
        self.coordinator()
        self.limit(0, "2e6")
        self.refuse(3, *self.join_words(0, self.invite(), "--allow-entrusted"), home=self.home(0),
                    says=["from 1 parties", "minimum of 2"])

    def test_a_study_never_makes_a_party_run_a_program(self):
        self.refuse(3, "study", "new", self.folder, self.definition_with(set="{local: 'exec:touch here'}"),
                    says=["study.yaml:4", "only a party's owner"])
        self.assertFalse(self.folder.exists())

    def definition_with(self, **changed):
        return self.definition(**{"method": "soft-stat", "auxiliary": "points.csv", "set": "{}", **changed})

    def test_points_and_method_must_belong_together(self):
        self.refuse(2, "study", "new", self.folder, self.definition(method="vote", set="{}"),
                    says=["study.yaml:3: method vote needs public points", "auxiliary"])
        self.refuse(2, "study", "new", self.folder, self.definition(auxiliary="points.csv"),
                    says=["study.yaml:11: method avg uses no auxiliary points"])
        self.refuse(1, "study", "new", self.folder, self.definition_with(auxiliary="gone.csv"), says=["gone.csv"])
        self.points.write_text("age\n0.5\n")
        self.refuse(2, "study", "new", self.folder, self.definition_with(), says=["points.csv", "dose"])
        self.assertFalse(self.folder.exists())


class Fetched(LabelsTest):
    def test_points_go_to_admitted_parties_only_and_once(self):
        self.study()
        coordinator = self.coordinator()
        self.assertEqual(post(self.port, "/v1/points", None, tls(self.folder / "ca.crt"), "GET")[0], 403)
        party = self.join(0)
        party.wait_line(r"received 60 auxiliary points \((\d+) bytes\)")
        ours = tls(self.folder / "ca.crt", self.site(0) / "party.crt", self.site(0) / "party.key")
        status, bytes_sent = post(self.port, "/v1/points", None, ours, "GET")
        self.assertEqual(status, 200)
        self.assertEqual(bytes_sent[:8], b"tacitpts")
        self.assertEqual((self.site(0) / "points.bin").read_bytes(), bytes_sent)
        self.assertEqual(post(self.port, "/v1/points", b"", ours, "POST")[0], 404)
        coordinator.wait_line(f"60 auxiliary points to .* \\({len(bytes_sent)} bytes, {2 * len(bytes_sent)} to all so far")
        party.kill()
        again = self.resume(0)
        self.check_done({0: again, **self.take_part(range(1, PARTIES))})
        self.assertNotIn("received", again.text())
        self.assertEqual(post(self.port, "/v1/points", None, ours, "GET")[0], 409)

    def test_a_study_without_points_has_none_to_give(self):
        DeployedTest.study(self)
        self.coordinator()
        DeployedTest.join(self, 0)
        ours = tls(self.folder / "ca.crt", self.site(0) / "party.crt", self.site(0) / "party.key")
        self.assertEqual(post(self.port, "/v1/points", None, ours, "GET")[0], 409)

    def test_a_damaged_copy_is_fetched_again(self):
        self.study()
        self.coordinator()
        party = self.join(0)
        party.wait_line("received 60")
        party.kill()
        copy = self.site(0) / "points.bin"
        good = copy.read_bytes()
        for bad in (good[:-8], good[:-1] + bytes([good[-1] ^ 1]), good + good, b""):
            copy.write_bytes(bad)
            again = self.resume(0)
            again.wait_line("received 60")
            again.kill()
            self.assertEqual(copy.read_bytes(), good)

    def test_other_points_than_consented_to_are_refused(self):
        """A coordinator that turned: it passes everything on as it should, except for one bit of one point."""
        self.study()
        self.coordinator()

        def change(data):
            at = data.find(b"tacitpts")
            if at < 0:
                return data
            at += 40 if len(data) > at + 40 else 0
            return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]
        relay = Relay(self.folder, self.home(0), self.port, change)
        party = self.join(0, invitation=self.invite("--url", relay.address))
        self.assertEqual(party.finish(), 3, party.text())
        self.assertIn("other auxiliary points than the study was consented to", party.lines[-1])
        self.assertNotIn(b"/v1/answer", relay.sent)
        self.assertFalse((self.site(0) / "points.bin").exists())
        self.assertEqual(self.charges(0), [])
        relay.listener.close()

    def test_more_bytes_than_the_points_can_have_are_not_read(self):
        self.study()
        self.coordinator()
        relay = Relay(self.folder, self.home(0), self.port,
                      lambda data: re.sub(rb"(?i)(content-length: )1480", rb"\g<1>99999999", data))
        party = self.join(0, invitation=self.invite("--url", relay.address))
        self.assertEqual(party.finish(), 3, party.text())
        self.assertIn("more bytes than that many points can have", party.lines[-1])
        relay.listener.close()

    def test_a_changed_store_is_not_served(self):
        self.study()
        with sqlite3.connect(self.folder / "coordinator.db") as database:
            [stored] = database.execute("SELECT bytes FROM points").fetchone()
            database.execute("UPDATE points SET bytes = ?", (stored[:-1] + bytes([stored[-1] ^ 1]),))
        database.close()
        coordinator = self.coordinator()
        coordinator.wait_line("study trial cannot be served: coordinator.db is damaged: .*not the auxiliary points")


class Killed(LabelsTest):
    def test_a_party_before_and_after_its_answer(self):
        self.study()
        self.coordinator()
        early = self.join(0)
        early.kill()
        late = self.join(1)
        others = self.take_part((2, 3))
        late.wait_line("answering 'labels'")
        late.kill()
        again = {0: self.resume(0), 1: self.resume(1)}
        self.check_done({**again, **others})

    def test_the_coordinator_in_the_middle_of_the_round(self):
        self.study()
        coordinator = self.coordinator()
        absent = self.join(0)
        absent.kill()
        others = self.take_part((1, 2, 3))
        for process in others.values():
            process.wait_line("answering 'labels'")
        coordinator.kill()
        coordinator = self.coordinator()
        coordinator.wait_line(f"study trial runs with {PARTIES} parties")
        model = self.check_done({0: self.resume(0), **others})
        self.assertEqual(model["guarantee"]["parties"], PARTIES)
        for process in others.values():  # one fetch each, whatever died
            self.assertEqual(sum("received" in line for line in process.lines), 1)

    def test_the_coordinator_when_the_counts_are_in(self):
        """The noise was drawn once: whoever has a model has the same."""
        self.study(epsilon=1)
        coordinator = self.coordinator()
        parties = self.take_part()
        coordinator.wait_line("^study trial is done")
        coordinator.kill()
        self.coordinator()
        self.check_done(parties)

    def test_the_coordinator_before_anybody_has_the_points(self):
        self.study()
        coordinator = self.coordinator()
        party = self.join(0)
        coordinator.kill()
        self.coordinator()
        self.check_done({0: party, **self.take_part((1, 2, 3))})


class Canary(LabelsTest):
    NUMBER = "0.729104635827"

    def test_only_labels_leave_a_party_and_under_masks_not_even_those(self):
        """In clear, which is the control, the labels are on the wire; masked, neither there nor in the coordinator's memory. What is left in freed
        memory of the clear ones depends on what was allocated since: that memory is read at all shows by the folder's name."""
        lines = self.rows(0).read_text().splitlines()
        lines[5] = re.sub("^[^,]*", self.NUMBER, lines[5])
        self.rows(0).write_text("\n".join(lines) + "\n")
        sent, memory = self.watch("clear")
        # The answer: one whole number for each point, 0 or 1, and nothing else of that size.
        body = sent.split(b"POST /v1/answer")[1].split(b"\r\n\r\n", 1)[1].split(b"POST /v1/poll")[0]
        self.assertLess(len(body), 8 * POINTS + 200)
        [labels] = re.findall(rb"(?:[\0\1]\0{7}){%d}" % POINTS, body)
        self.assertIn(1, labels)
        traces = [labels[at:at + 8 * self.RUN] for at in range(0, len(labels) - 8 * self.RUN + 1, 8)]
        self.assertIn(str(self.folder).encode(), memory)
        sent, memory = self.watch("masked")
        self.assertIn(b"masked", sent)
        for trace in traces:
            self.assertNotIn(trace, sent)
            self.assertNotIn(trace, memory)

    RUN = 30  # labels in a row: by chance, or in the sum of four parties' labels, not to be expected

    def watch(self, sums):
        """What party 0 sent and what the coordinator's memory held when the study was done. No row may be in either, nor in
        the coordinator's files."""
        self.folder = self.path / sums
        self.homes = sums
        self.study(sum=sums)
        coordinator = self.coordinator()
        relay = Relay(self.folder, self.home(0), self.port)
        watched = self.join(0, invitation=self.invite("--url", relay.address))
        self.check_done({0: watched, **self.take_part((1, 2, 3))})
        memory = coordinator.memory()
        self.assertEqual(relay.failed, [])
        relay.listener.close()
        seen = {"the wire": bytes(relay.sent), "memory": memory}
        seen.update({str(file): file.read_bytes() for file in self.folder.iterdir() if file.is_file()})
        traces = [self.NUMBER.encode(), self.NUMBER[2:10].encode()]
        for value in self.encodings(float(self.NUMBER)):
            traces += [struct.pack("<d", value), struct.pack(">d", value)]
        for place, content in seen.items():
            for trace in traces:
                self.assertNotIn(trace, content, place)
        return bytes(relay.sent), memory

    homes = ""

    def home(self, party):
        return self.path / f"home{party}{self.homes}"

    @staticmethod
    def encodings(number):
        """As it is, and as the schema may encode it: about 0, and scaled for two columns and an intercept."""
        for centered in (number, 2 * number - 1, number - 0.5):
            for columns in (1, 2, 3):
                yield centered / columns ** 0.5
                yield centered * (1 / columns ** 0.5)


if __name__ == "__main__":
    unittest.main()
