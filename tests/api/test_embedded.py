"""A device that embeds a party, with its rows in memory, against a real coordinator: examples/embedded_party.c."""
import contextlib
import json
import os
import re
import shutil
import signal
import sqlite3
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "service"))
import deployed  # noqa: E402
from deployed import DeployedTest, Running  # noqa: E402

DEVICE = os.environ["EMBEDDED_PARTY"]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


class Device(Running):
    """Like a tacit process, but another program."""

    def __init__(self, words, cwd):
        program, deployed.TACIT = deployed.TACIT, DEVICE
        try:
            super().__init__(words, cwd=cwd)
        finally:
            deployed.TACIT = program


class Embedded(DeployedTest):
    def setUp(self):
        super().setUp()
        for name in ("embedded.schema.yaml", "embedded.study.yaml"):
            shutil.copy(EXAMPLES / name, self.path)
        self.succeed("study", "new", self.folder, self.path / "embedded.study.yaml")
        self.serving = self.coordinator()

    def device(self, number, *more):
        process = Device([self.home(number), number, *more], self.path)
        self.addCleanup(process.clean)
        return process

    def join_device(self, number):
        self.home(number).mkdir()
        process = self.device(number, self.invite(study="pumps"))
        process.wait_line("^joined; waiting")
        return process

    def model(self, party, study="pumps"):
        return super().model(party, study)

    def test_three_devices_learn_together_and_one_restarts(self):
        devices = {number: self.join_device(number) for number in range(2)}
        devices[0].kill(signal.SIGKILL)
        devices[0] = self.device(0)
        devices[0].wait_line("^joined; waiting")
        devices[2] = self.join_device(2)
        for number, process in devices.items():
            self.assertEqual(process.finish(), 0, process.text())
            said = process.process.stdout.read()
            self.assertIn("the pump fails within a day with probability 0.", said)
            if number != 0:
                terms = json.loads(said[:said.rindex("}") + 1])
                self.assertEqual((terms["study"], terms["rows"], terms["allowed"], terms["remedy"]), ("pumps", 64, True, None))
            charges = self.charges(number)
            self.assertEqual([charge["price"]["epsilon"] for charge in charges], [2.0])
            self.succeed("ledger", "verify", home=self.home(number))
        self.assertEqual(self.status("pumps")["state"], "done")

    def finish_study(self):
        devices = [self.join_device(number) for number in range(3)]
        for process in devices:
            self.assertEqual(process.finish(), 0, process.text())

    def published(self, change):
        """The study is done; the coordinator publishes a model that it changed, and device 0 asks for the end again."""
        self.serving.kill()
        with contextlib.closing(sqlite3.connect(self.folder / "coordinator.db")) as registry, registry:
            honest = registry.execute("SELECT model FROM study WHERE name = 'pumps'").fetchone()[0]
            model = json.loads(honest)
            change(model)
            registry.execute("UPDATE study SET model = ? WHERE name = 'pumps'", (json.dumps(model).encode(),))
        self.serving = self.coordinator()
        late = self.device(0)
        late.code = late.finish()
        with contextlib.closing(sqlite3.connect(self.folder / "coordinator.db")) as registry, registry:
            registry.execute("UPDATE study SET model = ? WHERE name = 'pumps'", (honest,))
        return late

    def test_a_model_of_400_classes_never_reaches_a_device_whose_study_has_two(self):
        def grow(model):
            names = [f"c{k}" for k in range(400)]
            model.update(loss="softmax", classes=400, class_names=names, weights=[0.5] * (400 * model["features"]))
            model["schema"] = re.sub(r"classes: \[.*\]", f"classes: {json.dumps(names)}", model["schema"])
        self.finish_study()
        late = self.published(grow)
        self.assertEqual(late.code, 1, late.text())  # and not killed by a signal, with its stack smashed
        self.assertIn("the model that the coordinator sent is not the study's", late.text())
        self.assertNotIn("with probability", late.process.stdout.read())

    def test_a_model_that_differs_from_the_definition_in_anything_is_refused(self):
        def changed(*path):
            def change(model):
                *where, name, value = path
                for key in where:
                    model = model[key]
                self.assertNotEqual(model[name], value)
                model[name] = value
            return change

        def rescaled(model):
            model["schema"] = model["schema"].replace("high: 20", "high: 25")

        def network(model):
            size = model["features"] * 3 + 3 + 3 + 1
            model.update(network={"hidden": [3], "activation": "tanh"}, weights=[0.5] * size)

        def moments(model):
            width = model["features"]
            model["moments"] = {"columns": width, "parties": 3, "rows": 100.0, "noise": 1.0, "radius": 0.0, "step": 0.5,
                                "numbers": [1] * (width * (width + 1) // 2)}

        self.finish_study()
        cases = {"moments, which the study did not ask for": [moments], "other columns or classes": [rescaled], "how rows are encoded": [changed("schema", "")],
                 "classes are called otherwise": [changed("class_names", ["other", "names"])],
                 "it is a network": [network], "another method or study": [changed("guarantee", "method", "plr"), changed("guarantee", "study", "other")],
                 "another guarantee": [changed("guarantee", "private", False), changed("guarantee", "noise", "simulated"),
                                       changed("guarantee", "charged", "epsilon", 0.5), changed("guarantee", "claimed", "epsilon", 0.5)],
                 "more parties than take part": [changed("guarantee", "parties", 1000)], "not the study's: ": [changed("weights", [])]}
        for said, changes in cases.items():
            for change in changes:
                late = self.published(change)
                self.assertEqual(late.code, 1, late.text())
                self.assertIn("the model that the coordinator sent is not the study's", late.text())
                self.assertIn(said, late.text())

    def test_a_model_that_is_the_studys_is_handed_out_again(self):
        self.finish_study()
        late = self.published(lambda model: None)
        self.assertEqual(late.code, 0, late.text())
        self.assertIn("with probability", late.process.stdout.read())

    def test_the_program_cannot_serve_rows_in_another_programs_memory(self):
        self.join_device(0).kill(signal.SIGKILL)
        self.refuse(1, "party", "pumps", home=self.home(0), says=["in the memory of the program"])

    def test_a_frame_that_is_not_as_the_study_says_is_refused(self):
        schema = (self.path / "embedded.schema.yaml").read_text()
        (self.path / "other.yaml").write_text(schema.replace("high: 20", "high: 25"))
        study = (self.path / "embedded.study.yaml").read_text()
        (self.path / "other.study.yaml").write_text(
            study.replace("name: pumps", "name: others").replace("embedded.schema", "other"))
        self.succeed("study", "new", self.folder, self.path / "other.study.yaml")
        self.home(0).mkdir()
        process = self.device(0, self.invite(study="others"))
        self.assertEqual(process.finish(), 3, process.text())
        self.assertIn("the frame is not as the study's schema says", process.text())
        self.assertIn("vibration", process.text())

    def test_a_budget_that_is_spent_stops_the_device(self):
        study = (self.path / "embedded.study.yaml").read_text()
        (self.path / "dear.study.yaml").write_text(
            study.replace("name: pumps", "name: dear").replace("epsilon: 2", "epsilon: 4"))
        self.succeed("study", "new", self.folder, self.path / "dear.study.yaml")
        self.home(0).mkdir()
        process = self.device(0, self.invite(study="dear"))
        self.assertEqual(process.finish(), 3, process.text())
        terms = json.loads(process.process.stdout.read())
        self.assertFalse(terms["allowed"])
        self.assertIn("limit of pump is epsilon 3", terms["remedy"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
