#!/usr/bin/env python3
"""tacit export as other programs meet it: files whose scores are those of tacit predict, and ONNX that the checker accepts.

    TACIT=build/src/cli/tacit tests/cli/test_export.py

Both formats are scored by small evaluators of our own, written from their standards (tests/model); ONNX also by onnxruntime in
test_export_onnxruntime.py, where that is installed.
"""
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "model")]
import export_cases
import onnx_score
import pmml_score
from test_program import TACIT, ProgramTest, run

# Debian's packages belong to this one, whichever comes first on the path.
PYTHON = "/usr/bin/python3"
HAS_ONNX = subprocess.run([PYTHON, "-c", "import onnx"], capture_output=True).returncode == 0
CHECK = """
import json, onnx, sys
told = {}
for path in sys.argv[1:]:
    model = onnx.load(path)
    onnx.checker.check_model(model, full_check=True)
    told[path] = {"ir": model.ir_version, "opsets": {o.domain: o.version for o in model.opset_import},
                  "facts": {p.key: p.value for p in model.metadata_props}, "words": model.doc_string,
                  "inputs": [i.name for i in model.graph.input], "outputs": [o.name for o in model.graph.output]}
print(json.dumps(told))
"""


class Trained(unittest.TestCase):
    """One model of each kind, in a folder that all tests of the class share."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tacit-test-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        export_cases.make_files(cls.folder)
        cls.model = {}
        for at, (name, (kind, schema, words)) in enumerate(export_cases.CASES.items()):
            train, _ = export_cases.files_of(cls.folder, kind)
            (cls.folder / f"{at}.yaml").write_text(schema, encoding="utf-8")
            cls.run_well("simulate", *words.split(), "--train", str(train), "--schema", f"{at}.yaml", "--parties", "3", "--seed", "5",
                         "--out", f"{at}.json")
            cls.model[name] = f"{at}.json"

    @classmethod
    def run_well(cls, *words):
        done = run(*words, cwd=cls.folder)
        if done.returncode != 0:
            raise AssertionError(f"{words}: {done.stderr}")
        return done.stdout

    def export(self, name, form):
        out = self.model[name].replace("json", form)
        self.run_well("export", self.model[name], "--format", form, "--out", out)
        return self.folder / out

    def expected(self, name):
        _, test = export_cases.files_of(self.folder, export_cases.CASES[name][0])
        return test, export_cases.expected_of(json.loads(self.run_well("predict", self.model[name], str(test), "--json")))


def told_by_pmml(document, rows):
    """(label, numbers) of each row from the output fields, whatever their names."""
    features = [(field.get("name"), field.get("feature"), field.get("dataType")) for field, _ in document.output]
    numbers = [name for name, feature, kind in features if feature == "probability"] or \
        [name for name, feature, kind in features if feature == "predictedValue"]
    label = [name for name, feature, kind in features if kind == "string"] or numbers
    told = []
    for row in rows:
        outputs = document.predict(row)
        told.append((outputs[label[0]], [outputs[name] for name in numbers]))
    return told


def told_by_onnx(outputs):
    """(label, numbers) of each row, whichever name a column has left to the label."""
    label = outputs.get("label_", outputs.get("label")).values
    if not isinstance(label[0], str):
        return [(value, [value]) for value in label]
    return list(zip(label, onnx_score.rows_of(outputs.get("probabilities", outputs["scores"]))))


def feeds_of(columns):
    return {name: onnx_score.Tensor((len(data) // width, width), [math.nan if value is None else value for value in data])
            for name, (_, width, data) in columns.items()}


class Formats(Trained):
    def test_every_onnx_model_scores_as_tacit_does(self):
        for name in export_cases.CASES:
            with self.subTest(model=name):
                test, expected = self.expected(name)
                outputs = onnx_score.Model(self.export(name, "onnx")).run(feeds_of(export_cases.columns_for_onnx(name, test)))
                worst = export_cases.compare(expected, told_by_onnx(outputs))
                print(f"# onnx: {name}: {len(expected)} rows, largest difference {worst:.1e}", flush=True)

    def test_a_changed_weight_of_onnx_is_noticed(self):
        path, (test, expected) = self.export("softmax", "onnx"), self.expected("softmax")
        weight = json.loads((self.folder / self.model["softmax"]).read_text(encoding="utf-8"))["weights"][0]
        data = path.read_bytes()
        self.assertEqual(data.count(struct.pack("<d", weight)), 1)
        path.write_bytes(data.replace(struct.pack("<d", weight), struct.pack("<d", weight + 1e-3)))
        outputs = onnx_score.Model(path).run(feeds_of(export_cases.columns_for_onnx("softmax", test)))
        with self.assertRaises(AssertionError):
            export_cases.compare(expected, told_by_onnx(outputs))

    def test_what_pmml_does_not_have_is_refused(self):
        for name in export_cases.ONNX_ONLY:
            done = run("export", self.model[name], "--format", "pmml", "--out", "m.pmml", cwd=self.folder)
            self.assertEqual(done.returncode, 2)
            self.assertIn("export this network as ONNX", done.stderr)
            self.assertFalse((self.folder / "m.pmml").exists())

    def test_every_pmml_model_scores_as_tacit_does(self):
        for name in export_cases.CASES.keys() - export_cases.ONNX_ONLY:
            with self.subTest(model=name):
                test, expected = self.expected(name)
                document = pmml_score.Document(self.export(name, "pmml"))
                worst = export_cases.compare(expected, told_by_pmml(document, export_cases.rows_for_pmml(name, test)))
                print(f"# pmml: {name}: {len(expected)} rows, largest difference {worst:.1e}", flush=True)

    def test_a_changed_weight_of_pmml_is_noticed(self):
        for name, pattern in (("softmax", r'coefficient="([^"]+)"'), ("network, tanh", r'weight="([^"]+)"'),
                              ("stack, high, centred", r'<Constant dataType="double">([^<]+)</Constant>')):
            with self.subTest(model=name):
                path = self.export(name, "pmml")
                text = path.read_text(encoding="utf-8")
                match = list(re.finditer(pattern, text))[-3]
                changed = text[:match.start(1)] + repr(float(match.group(1)) + 1e-3) + text[match.end(1):]
                path.write_text(changed, encoding="utf-8")
                test, expected = self.expected(name)
                rows = export_cases.rows_for_pmml(name, test)
                with self.assertRaises(AssertionError):
                    export_cases.compare(expected, told_by_pmml(pmml_score.Document(path), rows))

    def test_the_guarantee_travels_in_pmml(self):
        document = pmml_score.Document(self.export("logistic, rows bound", "pmml"))
        facts = {key[6:]: value for key, value in document.facts.items()}
        self.assertEqual((facts["method"], facts["parties"], facts["private"], facts["charged.epsilon"], facts["charged.unit"],
                          facts["noise"]), ("avg", "3", "yes", "10", "record", "simulated"))
        self.assertIn("epsilon 10", document.description)
        document = pmml_score.Document(self.export("softmax", "pmml"))
        self.assertEqual(document.facts["tacit.private"], "no")
        self.assertNotIn("tacit.charged.epsilon", document.facts)
        self.assertIn("Nothing is promised", document.description)

    @unittest.skipUnless(HAS_ONNX, "python3-onnx is not installed")
    def test_the_checker_accepts_every_onnx_model(self):
        paths = {name: str(self.export(name, "onnx")) for name in export_cases.CASES}
        done = subprocess.run([PYTHON, "-c", CHECK, *paths.values()], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        for name, path in paths.items():
            with self.subTest(model=name):
                self.assertLessEqual(told[path]["ir"], 8)
                self.assertEqual(told[path]["opsets"], {"": 13, "ai.onnx.ml": 2})
                self.assertTrue(told[path]["words"].startswith("A "))
                _, test = export_cases.files_of(self.folder, export_cases.CASES[name][0])
                self.assertEqual(sorted(told[path]["inputs"]), sorted(export_cases.columns_for_onnx(name, test)))
        facts = told[paths["logistic, rows bound"]]["facts"]
        self.assertEqual((facts["tacit.method"], facts["tacit.charged.epsilon"], facts["tacit.claimed.epsilon"]), ("avg", "10", "10"))
        # A column called label keeps its name.
        self.assertEqual(told[paths["softmax"]]["outputs"], ["label_", "probabilities", "scores"])
        self.assertEqual(told[paths["hinge"]]["outputs"], ["label_", "scores"])
        self.assertEqual(told[paths["example"]]["outputs"], ["label", "probabilities", "scores"])


class Refusals(ProgramTest):
    SCHEMA = export_cases.schema(export_cases.TWO, more="missing: error\nstrict: yes\n")

    def model(self, schema=None, name="model.json"):
        export_cases.make_files(self.path)
        self.write("schema.yaml", schema or self.SCHEMA)
        self.succeed("simulate", "--method", "batch", "--train", "two.csv", "--schema", "schema.yaml", "--parties", "2",
                     "--seed", "1", "--out", name)
        return name

    def test_rows_that_the_schema_refuses_have_no_result(self):
        self.succeed("export", self.model(), "--format", "pmml", "--out", "m.pmml")
        document = pmml_score.Document(self.path / "m.pmml")
        good = {"age": "50", export_cases.NAMES[1]: "170", "sex": "f", "ville, l'où": "東京", "label": "0"}
        self.assertTrue(document.predict(good))
        for bad in ({"sex": "F"}, {"age": None}, {"sex": None}):
            with self.subTest(bad=bad), self.assertRaises(pmml_score.Invalid):
                document.predict({**good, **bad})

    def test_rows_that_the_schema_refuses_are_not_numbers_in_onnx(self):
        self.succeed("export", self.model(), "--format", "onnx", "--out", "m.onnx")
        base = {"age": 50.0, export_cases.NAMES[1]: 170.0, "sex": "f", "ville, l'où": "東京", "label": 0.0}
        rows = [base, {**base, "age": None}, {**base, "sex": ""}, {**base, "sex": "F"}]
        columns = {name: ("", 1, [row[name] for row in rows]) for name in base}
        outputs = onnx_score.Model(self.path / "m.onnx").run(feeds_of(columns))
        self.assertEqual([label == "" for label in outputs["label_"].values], [False, True, True, True])
        self.assertEqual([math.isnan(score) for score in outputs["scores"].values], [False, True, True, True])

    def test_incomplete_rows_have_no_result_where_training_left_them_out(self):
        schema = export_cases.schema(export_cases.TWO).replace("high: 120}", "high: 120, missing: complete-case}").replace(
            "levels: [f, m]}", "levels: [f, m], missing: complete-case}")
        name = self.model(schema)
        base = {"age": 50.0, export_cases.NAMES[1]: 170.0, "sex": "f", "ville, l'où": "東京", "label": 0.0}
        self.succeed("export", name, "--format", "pmml", "--out", "m.pmml")
        document = pmml_score.Document(self.path / "m.pmml")
        self.assertTrue(document.predict({**base, "sex": "F", "label": None}))
        for bad in ({"age": None}, {"sex": None}):
            with self.subTest(bad=bad), self.assertRaises(pmml_score.Invalid):
                document.predict({**base, **bad})
        self.succeed("export", name, "--format", "onnx", "--out", "m.onnx")
        rows = [base, {**base, "age": None}, {**base, "sex": ""}, {**base, "sex": "F"}, {**base, "label": None}]
        columns = {name: ("", 1, [row[name] for row in rows]) for name in base}
        outputs = onnx_score.Model(self.path / "m.onnx").run(feeds_of(columns))
        self.assertEqual([label == "" for label in outputs["label_"].values], [False, True, True, False, False])

    def test_json_is_the_model_itself(self):
        name = self.model()
        self.assertEqual(self.succeed("export", name, "--format", "json").stdout, (self.path / name).read_text(encoding="utf-8"))

    def test_standard_output_and_a_file_hold_the_same(self):
        name = self.model()
        for form in ("onnx", "pmml"):
            done = json.loads(self.succeed("export", name, "--format", form, "--out", "out", "--json").stdout)
            written = (self.path / "out").read_bytes()
            self.assertEqual(done, {"out": "out", "format": form, "bytes": len(written)})
            printed = subprocess.run([TACIT, "export", name, "--format", form], cwd=self.path, capture_output=True, timeout=600)
            self.assertEqual((printed.returncode, printed.stdout), (0, written))

    def test_mistakes_are_told(self):
        name = self.model()
        self.fail_with(2, "export", name, says=["--format"])
        self.fail_with(2, "export", name, "--format", "pickle", says=["onnx"])
        self.fail_with(1, "export", "absent.json", "--format", "json", "--out", "x", says=["absent.json"])
        self.assertEqual(self.tacit("export", name, "--format", "json", "--json").returncode, 2)

    def test_a_terminal_is_spared(self):
        name = self.model()
        terminal, other = os.openpty()
        try:
            done = subprocess.run([TACIT, "export", name, "--format", "onnx"], cwd=self.path, stdout=other, stderr=subprocess.PIPE,
                                  text=True, timeout=600)
        finally:
            os.close(terminal)
            os.close(other)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--out", done.stderr)

    def test_a_control_character_cannot_be_written_as_xml(self):
        odd = "label: {name: outcome, classes: [no, 'yes & <perhaps>']}\ncolumns:\n" \
              "  - {name: age, kind: number, low: 0, high: 120}\n  - {name: sex, kind: category, levels: [f, \"m\\u0001\"]}\n"
        name = self.model(odd)
        self.succeed("export", name, "--format", "onnx", "--out", "m.onnx")
        self.fail_with(1, "export", name, "--format", "pmml", "--out", "m.pmml", says=["control character", "model.json"])


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    unittest.main()
