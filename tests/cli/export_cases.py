"""Models of every kind that tacit saves, each with rows to score: what test_export.py and test_export_onnxruntime.py compare.

The rows hold what real ones do: missing cells, levels nobody declared, numbers beyond their bounds, and names that XML,
CSV and ASCII all dislike. Everything is drawn from one seed.
"""
import csv
import json
import math
import random
import re
from pathlib import Path

SEED = 20240611
MISSING = {"", "?", "NA", "NaN", "null"}
TOLERANCE = 1e-12  # both formats compute in double precision; sums are taken in another order
TIE = 1e-5

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

CITIES = ["Orléans", "a & b", "<x>\"'", "東京"]
COLUMNS = """columns:
  - {name: age, kind: number, low: 0, high: 120}
  - {name: "Größe <cm> & \\"x\\"", kind: number, low: 100, high: 220, mean: 171.25, sd: 9.5}
  - {name: sex, kind: category, levels: [f, m]}
  - {name: "ville, l'où", kind: category, levels: ["Orléans", "a & b", "<x>\\"'", "東京"], coding: CODING}
  - {name: label, kind: number, low: -1, high: 1}
  - {name: id, kind: skip}
"""
NAMES = ["age", 'Größe <cm> & "x"', "sex", "ville, l'où", "label", "id"]
TWO = "label: {name: outcome, classes: [no, 'yes & <perhaps>']}\n"
THREE = "label: {name: outcome, classes: [no, 'yes & <perhaps>', 'ça']}\n"
NUMBER = "label: {name: outcome, kind: number, low: -20, high: 20}\n"
COUNT = "label: {name: outcome, kind: count, low: 0, high: 60}\n"

WORDS = ["fever", "cough", "New", "york", "é", "Écho", "a", "x_1", "rash", "ünïted", "NOT", "of", "short"]
TERMS = ["fever", "cough", "new york", "york", "Écho", "rash", "short of"]
TEXT = """label: {name: outcome, classes: [no, yes]}
columns:
  - {name: age, kind: number, low: 0, high: 120}
  - {name: note, kind: text, %s, grams: 2}
rows: %s
"""


def schema(label, rows="bound", coding="effect", more=""):
    return label + COLUMNS.replace("CODING", coding) + f"rows: {rows}\n" + more


def draw_row(draw):
    age, height = draw.uniform(0, 120), draw.gauss(171, 10)
    sex, city = draw.choice("fm"), draw.randrange(len(CITIES))
    value = draw.uniform(-1, 1)
    score = (age - 60) / 20 + (height - 170) / 10 + (sex == "m") + (city - 1) * value
    return [repr(age), repr(height), sex, CITIES[city], repr(value), "row"], score + draw.gauss(0, 0.5)


def label_of(kind, score, draw):
    if kind is TWO:
        return ["no", "yes & <perhaps>"][score > 0]
    if kind is THREE:
        return ["no", "yes & <perhaps>", "ça"][(score > -1) + (score > 1)]
    if kind is NUMBER:
        return repr(score)
    return str(min(60, int(abs(score) + draw.random() * 3)))


def spoil(cells, draw):
    """What a cell can be that nobody hoped for."""
    cells = list(cells)
    for at in range(5):
        if draw.random() < 0.12:
            cells[at] = draw.choice(sorted(MISSING))
        elif draw.random() < 0.12:
            cells[at] = draw.choice(["-1e9", "1e9", "-0.0", "120", "0"]) if at in (0, 1, 4) else draw.choice(["F", "Paris", "Orleans"])
    return cells


def write_csv(path, names, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(rows)


def make_table(folder, kind, name, count=160):
    draw = random.Random(SEED)
    clean, dirty = [], []
    for _ in range(count):
        cells, score = draw_row(draw)
        clean.append(cells + [label_of(kind, score, draw)])
        dirty.append(spoil(cells, draw) + [clean[-1][-1]])
    dirty.append(["NA", "", "?", "null", "NaN", "row", clean[0][-1]])  # nothing is known
    write_csv(folder / f"{name}.csv", NAMES + ["outcome"], clean)
    write_csv(folder / f"{name}.test.csv", NAMES + ["outcome"], clean[:20] + dirty)


def make_texts(folder):
    draw = random.Random(SEED)
    rows = []
    for i in range(120):
        words = [draw.choice(WORDS) for _ in range(draw.randrange(0, 12))]
        note = "".join(word + draw.choice([" ", ", ", " - ", "\n", "'"]) for word in words)
        rows.append([repr(draw.uniform(-10, 130)), note, ["no", "yes"]["fever" in words or i % 7 == 0]])
    write_csv(folder / "texts.csv", ["age", "note", "outcome"], rows)


def make_sparse(folder):
    draw = random.Random(SEED)
    with open(folder / "rows.libsvm", "w", encoding="ascii") as file:
        for _ in range(150):
            entries = {j: draw.gauss(0, 1) for j in range(1, 9) if draw.random() < 0.4}
            label = 1 if entries.get(1, 0) + entries.get(2, 0) > 0 else -1
            file.write(" ".join([str(label)] + [f"{j}:{value!r}" for j, value in entries.items()]) + "\n")


# name: (kind of rows, schema, words of `tacit simulate`)
SPARSE = "label: {name: label, classes: ['-1', '1']}\nsparse: 8\nrows: %s\n"
CASES = {
    "logistic, rows bound": ("two", schema(TWO), "--method avg --epsilon 10"),
    "logistic, rows unit, no intercept": ("two", schema(TWO, "unit", more="intercept: no\n"), "--method batch"),
    "logistic, rows bound, no intercept": ("two", schema(TWO, more="intercept: no\n"), "--method batch"),
    "logistic, rows clip, indicators": ("two", schema(TWO, "{clip: 1.2}", "indicator"), "--method batch"),
    "softmax": ("three", schema(THREE), "--method batch"),
    "softmax, rows clip": ("three", schema(THREE, "{clip: 1.5}"), "--method batch"),
    "hinge": ("two", schema(TWO, "{clip: 2}"), "--method plr --set loss=huber --epsilon 20"),
    "one number": (
        "two", TWO + "columns:\n  - {name: age, kind: number, low: -1, high: 1.000000001}\nintercept: no\n", "--method batch"),
    "one number after a category": (
        "two", TWO + "columns:\n  - {name: sex, kind: category, levels: [f, m]}\n  - {name: label, kind: number, low: 0, high: 1e-9}\n",
        "--method batch"),
    "missing values, column by column": ("two", schema(TWO, coding="effect", more="intercept: no\n").replace(
        "high: 120}", "high: 120, missing: indicator}").replace("sd: 9.5}", "sd: 9.5, missing: {fill: 180}}").replace(
        "levels: [f, m]}", "levels: [f, m], missing: {fill: m}}").replace("coding: effect}", "coding: effect, missing: level}"),
        "--method batch"),
    "missing values, indicators, rows clip": ("two", schema(TWO, "{clip: 1.2}", "indicator").replace(
        "high: 120}", "high: 120, missing: indicator}").replace("sd: 9.5}", "sd: 9.5, missing: indicator}").replace(
        "levels: [f, m]}", "levels: [f, m], missing: level}"), "--method batch"),
    "terms: a spline, an interaction, logarithms": ("two", schema(TWO, coding="indicator", more=(
        'terms: "outcome ~ spline(age, df = 4) * sex + log(age + 1) + log2(age + 2) * `ville, l\'où` + poly(label, 3)"\n')), "--method batch"),
    "terms: bases and arithmetic, rows clip": ("three", schema(THREE, "{clip: 2}", "indicator", more=(
        'terms: "~ bs(age, df = 5):sex + ns(label, knots = c(-0.2, 0.3), Boundary.knots = c(-0.5, 0.5)) + poly(age, 2, raw = TRUE) + '
        'I(label^2 - age/120) + sqrt(age) + exp(-age/50) + abs(label)"\n')), "--method batch"),
    "terms: an offset, levels of a number, nothing constant": ("count", schema(COUNT, coding="indicator", more=(
        'terms: "outcome ~ 0 + sex + factor(age, levels = c(0, 120)) + log1p(age):label + offset(label/2)"\n')).replace(
        "high: 120}", "high: 120, missing: {fill: 30}}"), "--method estimate --lambda 0.001"),
    "terms: weights of rows": ("number", schema(NUMBER, coding="indicator", more="terms: outcome ~ age * sex + weights(`Größe <cm> & \"x\"`)\n"),
                               "--method estimate"),
    "linear response": ("number", schema(NUMBER, coding="indicator"), "--method estimate"),
    "poisson response": ("count", schema(COUNT, coding="indicator"), "--method estimate"),
    "stack, high, centred": ("two", schema(TWO), "--method pst-s --epsilon 20 --set blocks=3"),
    "stack, high, probability, normalised": (
        "two", schema(TWO, "unit"), "--method pst-f --epsilon 20 --set groups=3 --set rows=normalise --set meta=probability"),
    "stack, majority of an even number": ("two", schema(TWO), "--method pst-s --epsilon 20 --set blocks=4 --set combiner=majority"),
    "stack, majority, normalised": (
        "two", schema(TWO), "--method pst-f --epsilon 20 --set groups=3 --set rows=normalise --set combiner=majority"),
    "stack of one": ("two", schema(TWO), "--method pst-s --epsilon 20 --set blocks=1"),
    "stack, weighted": ("two", schema(TWO), "--method pst-f --epsilon 20 --set groups=3 --set combiner=weighted"),
    "stack, hinge": ("two", schema(TWO), "--method pst-s --epsilon 20 --set blocks=3 --set loss=huber"),
    "stack of trees": ("two", schema(TWO), "--method pst-s --epsilon 200 --delta 1e-5 --set blocks=2 --set members=tree --set depth=3"),
    "stack of linear models and trees, votes": (
        "two", schema(TWO, "{clip: 1.2}", "indicator"),
        "--method pst-s --epsilon 200 --delta 1e-5 --set blocks=3 --set members=mixed --set depth=2 --set combiner=majority"),
    "tree": ("two", schema(TWO), "--method dptree --epsilon 200 --delta 1e-5 --set depth=3"),
    "tree, indicators, rows clip": ("two", schema(TWO, "{clip: 1.2}", "indicator"), "--method dptree --epsilon 200 --delta 1e-5 --set depth=2"),
    "tree, three classes": ("three", schema(THREE), "--method dptree --epsilon 200 --delta 1e-5 --set depth=3"),
    "network, tanh": ("two", schema(TWO), "--method dpsgd --epsilon 20 --delta 1e-5 --set hidden=6 --set epochs=3"),
    "network, relu, two layers, three classes": (
        "three", schema(THREE, "unit"), "--method dpsgd --epsilon 20 --delta 1e-5 --set hidden=5,4 --set activation=relu --set epochs=3"),
    "network, sigmoid": (
        "two", schema(TWO, more="intercept: no\n"),
        "--method dpsgd --epsilon 20 --delta 1e-5 --set hidden=4 --set activation=sigmoid --set epochs=2"),
    "network, one unit": (
        "two", schema(TWO), "--method dpsgd --epsilon 20 --delta 1e-5 --set hidden=1,1 --set epochs=2"),
    "network, windows": (
        "sparse", SPARSE % "unit" + "intercept: no\n",
        "--method dpsgd --epsilon 20 --delta 1e-5 --set shape=4x2 --set hidden=conv:2x3,pool:2/1,3 --set epochs=3"),
    "network, recurrent": (
        "sparse", SPARSE % "unit" + "intercept: no\n",
        "--method dpsgd --epsilon 20 --delta 1e-5 --set shape=4x2 --set hidden=gru:3 --set epochs=3"),
    "network without hidden layers": ("three", schema(THREE), "--method dpsgd --epsilon 20 --delta 1e-5 --set hidden=none --set epochs=2"),
    "sparse, rows clip": ("sparse", SPARSE % "{clip: 2}", "--method avg --epsilon 10"),
    "sparse, rows unit": ("sparse", SPARSE % "unit", "--method batch"),
    "text by a vocabulary": ("texts", TEXT % (f"terms: {json.dumps(TERMS)}, idf: [1.5, 1, 2.25, 1, 3, 1, 1.125]", "bound"), "--method batch"),
    "text by hashing": ("texts", TEXT % ("hash: 16", "unit"), "--method batch"),
    "example": ("example", (EXAMPLES / "breast_cancer.schema.yaml").read_text(encoding="utf-8"), "--method avg --epsilon 10"),
}
# What PMML has no elements for.
ONNX_ONLY = {"network, windows", "network, recurrent"}
# The columns that a schema names, where it leaves some out.
ONLY = {"one number": ["age"], "one number after a category": ["sex", "label"],
        "terms: a spline, an interaction, logarithms": ["age", "sex", "ville, l'où", "label"],
        "terms: bases and arithmetic, rows clip": ["age", "sex", "label"],
        "terms: an offset, levels of a number, nothing constant": ["age", "sex", "label"], "terms: weights of rows": ["age", "sex"]}


def files_of(folder, kind):
    """What to train on and what to score."""
    if kind == "sparse":
        return folder / "rows.libsvm", folder / "rows.libsvm"
    if kind == "texts":
        return folder / "texts.csv", folder / "texts.csv"
    if kind == "example":
        return EXAMPLES / "breast_cancer.csv", EXAMPLES / "breast_cancer.csv"
    return folder / f"{kind}.csv", folder / f"{kind}.test.csv"


def make_files(folder):
    for kind, name in ((TWO, "two"), (THREE, "three"), (NUMBER, "number"), (COUNT, "count")):
        make_table(folder, kind, name)
    make_texts(folder)
    make_sparse(folder)


# ---- rows as a scoring engine gets them ----

def is_missing(cell):
    return cell == "?" or cell.lower() in ("", "na", "nan", "null")


def words_of(text):
    """Words as docs/export.md tells callers to find them."""
    found = re.findall("[0-9A-Za-z_\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u1fff\u2070-\u2fff\u3040-\ufeff]+", text)
    lower = [re.sub("[A-Z]+", lambda match: match.group().lower(), word) for word in found]
    return [word for word in lower if 2 <= len(word.encode()) <= 40]


def bucket_of(term, buckets):
    mask, value = (1 << 64) - 1, 14695981039346656037
    for byte in term.encode():
        value = ((value ^ byte) * 1099511628211) & mask
    value = ((value ^ value >> 30) * 0xBF58476D1CE4E5B9) & mask
    value = ((value ^ value >> 27) * 0x94D049BB133111EB) & mask
    return (value ^ value >> 31) % buckets


def counts_of(text, hashed):
    words = words_of(text)
    terms = words + [f"{a} {b}" for a, b in zip(words, words[1:])]
    counts = [0.0] * (16 if hashed else len(TERMS))
    for term in terms:
        at = bucket_of(term, 16) if hashed else TERMS.index(term) if term in TERMS else None
        if at is not None:
            counts[at] += 1
    return counts


def read_sparse(path):
    rows = []
    for line in path.read_text(encoding="ascii").splitlines():
        values = [0.0] * 8
        for entry in line.split()[1:]:
            at, value = entry.split(":")
            values[int(at) - 1] = float(value)
        rows.append(values)
    return rows


def read_rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def columns_for_onnx(name, path):
    """{input: (type, width, values)}; a missing number is None, to become NaN."""
    kind = CASES[name][0]
    if kind == "sparse":
        values = [value for row in read_sparse(path) for value in row]
        return {"features": ("float64", 8, [None if value == 0 and at % 3 == 0 else value for at, value in enumerate(values)])}
    rows = read_rows(path)
    columns = {}
    for column in rows[0]:
        if column == "note":
            counts = [counts_of(row["note"], "hashing" in name) for row in rows]
            columns[column] = ("float64", len(counts[0]), [value for row in counts for value in row])
        elif column in ("sex", NAMES[3]):
            columns[column] = ("string", 1, ["" if is_missing(row[column]) else row[column] for row in rows])
        elif column not in ("id", "outcome", "diagnosis"):
            columns[column] = ("float64", 1, [None if is_missing(row[column]) else float(row[column]) for row in rows])
    return {column: columns[column] for column in ONLY.get(name, columns)}


def rows_for_pmml(name, path):
    """[{field: value}]; a missing value is left out."""
    kind = CASES[name][0]
    if kind == "sparse":
        return [{f"x{j + 1}": repr(value) for j, value in enumerate(row) if value != 0} for row in read_sparse(path)]
    rows = [{column: cell for column, cell in row.items() if not is_missing(cell)} for row in read_rows(path)]
    if kind == "texts":
        for row in rows:
            hashed = "hashing" in name
            counts = counts_of(row.pop("note", ""), hashed)
            row.update({f"note=#{k + 1}" if hashed else f"note={TERMS[k]}": count for k, count in enumerate(counts) if count})
    return rows


# ---- comparing ----

def numbers_of(prediction):
    """Probabilities, the score, or the number itself, as `tacit predict --json` tells them."""
    if "probabilities" in prediction:
        return prediction["probabilities"]
    if isinstance(prediction["predicted"], (int, float)):
        return [prediction["predicted"]]
    return [prediction["score"]]


def compare(expected, got, tolerance=TOLERANCE):
    """The largest difference between two lists of (label, numbers). Raises AssertionError with the first row that differs."""
    worst = 0.0
    assert len(expected) == len(got), f"{len(got)} rows, expected {len(expected)}"
    for at, ((label, numbers), (label_got, numbers_got)) in enumerate(zip(expected, got), 1):
        assert len(numbers) == len(numbers_got), f"row {at}: {numbers_got}, expected {numbers}"
        for a, b in zip(numbers, numbers_got):
            away = abs(a - b) / max(1, abs(a))
            assert away <= tolerance, f"row {at}: {numbers_got}, expected {numbers}"
            worst = max(worst, away)
        ordered = sorted(numbers)
        near = abs(numbers[0]) < TIE if len(numbers) == 1 else ordered[-1] - ordered[-2] < TIE
        same = label == label_got if isinstance(label, str) else math.isclose(label, label_got, rel_tol=tolerance, abs_tol=tolerance)
        assert same or near, f"row {at}: {label_got}, expected {label}"
    return worst


def expected_of(document):
    """What `tacit predict --json` printed."""
    return [(row["predicted"], numbers_of(row)) for row in document["predictions"]]
