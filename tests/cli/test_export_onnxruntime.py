#!/usr/bin/env python3
"""Exported ONNX models, scored by onnxruntime: the predictions of tacit predict, row by row.

    TACIT=build/src/cli/tacit tests/cli/test_export_onnxruntime.py --onnxruntime FOLDER

FOLDER is where `npm ci` put what tests/model/onnxruntime/package.json names (`script/setup --full` does). Skipped without it.
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "model")]
import export_cases
from test_export import Trained

SCORE = HERE.parent / "model" / "onnxruntime" / "score.js"
FOLDER = ""


def score(jobs):
    """Each job is (path, columns); returns the outputs of each."""
    text = json.dumps([{"model": str(path), "inputs": {name: {"type": kind, "width": width, "data": data}
                                                       for name, (kind, width, data) in columns.items()}}
                       for path, columns in jobs])
    done = subprocess.run(["node", str(SCORE), FOLDER], input=text, capture_output=True, text=True, timeout=600)
    if done.returncode != 0 or done.stderr:
        raise AssertionError(f"onnxruntime says: {done.stderr}")
    return json.loads(done.stdout)


def told_by_onnx(outputs):
    """(label, numbers) of each row, as the model's own output names say."""
    label = outputs.get("label_", outputs.get("label"))["data"]
    numbers = outputs.get("probabilities", outputs["scores"])
    if label and not isinstance(label[0], str):
        return [(value, [value]) for value in label]
    rows, each = numbers["dims"]
    return [(label[i], numbers["data"][i * each:(i + 1) * each]) for i in range(rows)]


def first_rows(columns, count):
    return {name: (kind, width, data[:count * width]) for name, (kind, width, data) in columns.items()}


class Scores(Trained):
    def job(self, name):
        test, expected = self.expected(name)
        return expected, (self.export(name, "onnx"), export_cases.columns_for_onnx(name, test))

    def test_every_model_scores_as_tacit_does(self):
        jobs = {name: self.job(name) for name in export_cases.CASES}
        told = dict(zip(jobs, score([job for _, job in jobs.values()])))
        for name, (expected, _) in jobs.items():
            with self.subTest(model=name):
                worst = export_cases.compare(expected, told_by_onnx(told[name]))
                print(f"# onnxruntime: {name}: {len(expected)} rows, largest difference {worst:.1e}", flush=True)

    def test_a_row_is_scored_alone_as_among_others(self):
        for name in ("softmax", "stack, high, centred", "text by a vocabulary"):
            expected, (path, columns) = self.job(name)
            export_cases.compare(expected[:1], told_by_onnx(score([(path, first_rows(columns, 1))])[0]))

    def test_a_changed_weight_is_noticed(self):
        for name in ("softmax", "network, tanh", "stack, weighted"):
            with self.subTest(model=name):
                expected, (path, columns) = self.job(name)
                model = json.loads((self.folder / self.model[name]).read_text(encoding="utf-8"))
                weights = model["weights"] or model["stack"]["members"][0]["weights"]
                weight = struct.pack("<d", weights[0])
                data = path.read_bytes()
                self.assertEqual(data.count(weight), 1)
                # Votes only notice a weight that turns some.
                path.write_bytes(data.replace(weight, struct.pack("<d", weights[0] + (50 if "stack" in name else 1e-3))))
                with self.assertRaises(AssertionError):
                    export_cases.compare(expected, told_by_onnx(score([(path, columns)])[0]))

    def test_rows_that_the_schema_refuses_have_no_result(self):
        base = {"age": 50.0, export_cases.NAMES[1]: 170.0, "sex": "f", "ville, l'où": "東京", "label": 0.0}
        rows = [base, {**base, "age": None}, {**base, "sex": ""}, {**base, "sex": "F"}]
        columns = {name: ("string" if isinstance(base[name], str) else "float64", 1, [row[name] for row in rows]) for name in base}
        for missing, strict, refused in (("error", "yes", [1, 2, 3]), ("error", "no", [1, 2]), ("fill", "yes", [3]), ("fill", "no", [])):
            with self.subTest(missing=missing, strict=strict):
                (self.folder / "s.yaml").write_text(
                    export_cases.schema(export_cases.TWO, more=f"missing: {missing}\nstrict: {strict}\n"), encoding="utf-8")
                self.run_well("simulate", "--method", "batch", "--train", "two.csv", "--schema", "s.yaml", "--parties", "2",
                              "--seed", "1", "--out", "s.json")
                self.run_well("export", "s.json", "--format", "onnx", "--out", "s.onnx")
                outputs = score([(self.folder / "s.onnx", columns)])[0]
                self.assertEqual([i for i, label in enumerate(outputs["label_"]["data"]) if label == ""], refused)
                self.assertEqual([i for i, value in enumerate(outputs["scores"]["data"]) if value is None], refused)
                self.assertEqual([i // 2 for i, value in enumerate(outputs["probabilities"]["data"]) if value is None],
                                 [i for i in refused for _ in range(2)])


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if "--onnxruntime" in sys.argv:
        at = sys.argv.index("--onnxruntime")
        FOLDER = sys.argv[at + 1]
        del sys.argv[at:at + 2]
    if not (Path(FOLDER) / "node_modules" / "onnxruntime-node").is_dir() or shutil.which("node") is None:
        print("SKIP: onnxruntime is not installed: script/setup --full installs it")
        sys.exit(77)
    unittest.main()
