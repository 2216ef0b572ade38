"""Formulas over columns, of files and of arrays; models of terms take the columns themselves."""
import numpy as np
import pytest

import tacit

FORMULA = "~ x1*x2 + log(x3)"


@pytest.fixture
def table(rng):
    x = rng.uniform(1, 2, size=(400, 3))
    return x, (x[:, 0] * x[:, 1] + np.log(x[:, 2]) > 2.6).astype(int)


def test_terms_of_an_array_are_columns_that_somebody_made(table):
    x, y = table
    made = np.column_stack([x[:, 0], x[:, 1], np.log(x[:, 2]), x[:, 0] * x[:, 1]])
    ours = tacit.simulate(x, y, methods="estimate", parties=2, bounds=(1, 2), lam=1e-6, seed=1, test=(x, y), terms=FORMULA)
    theirs = tacit.simulate(made, y, methods="estimate", parties=2, bounds=([1, 1, 0, 1], [2, 2, np.log(2), 4]), lam=1e-6, seed=1,
                            test=(made, y))
    assert ours.runs[0]["auc"]["mean"] == pytest.approx(theirs.runs[0]["auc"]["mean"], abs=1e-3)
    assert [one["name"] for one in ours.document["summary"]["coefficients"]] == ["(Intercept)", "x1", "x2", "log(x3)", "x1:x2"]


def test_a_model_of_terms_takes_raw_rows_in_memory_and_in_a_file(table, tmp_path):
    x, y = table
    model = tacit.fit(x, y, method="output", epsilon=50, bounds=(1, 2), classes=[0, 1], lam=0.01, seed=3, terms=FORMULA)
    assert model.columns == 3
    again = tacit.Model.from_json(model.to_json())
    np.testing.assert_array_equal(model.scores(x), again.scores(x))
    rows = tmp_path / "rows.csv"
    rows.write_text("x1,x2,x3,label\n" + "".join(",".join(map(repr, map(float, line))) + f",{k % 2}\n" for k, line in enumerate(x)))
    np.testing.assert_allclose(model.scores(tacit.Frame.load(rows, label="label")), model.scores(x), rtol=0, atol=1e-12)


def test_a_file_is_loaded_with_terms(table, tmp_path):
    x, y = table
    rows, schema = tmp_path / "rows.csv", tmp_path / "schema.yaml"
    rows.write_text("x1,x2,x3,y\n" + "".join(",".join(map(repr, map(float, line))) + f",{label}\n" for line, label in zip(x, y)))
    schema.write_text("label: {name: y, classes: [0, 1]}\ncolumns:\n" +
                      "".join(f"  - {{name: x{k}, kind: number, low: 1, high: 2}}\n" for k in (1, 2, 3)))
    frame = tacit.Frame.load(rows, schema=schema, terms="y " + FORMULA)
    one = tacit.fit(frame, method="output", epsilon=5, lam=0.1, seed=3)
    other = tacit.fit(tacit.Frame.load(rows, schema=schema), method="output", epsilon=5, lam=0.1, seed=3, terms="y " + FORMULA)
    assert one.to_json() == other.to_json()


def test_a_formula_that_does_not_work_names_its_place(table):
    x, y = table
    with pytest.raises(tacit.UsageError, match=r"'x9' \(character 8\)"):
        tacit.fit(x, y, bounds=(1, 2), classes=[0, 1], terms="~ x1 + x9")


def test_a_subset_of_an_array_and_of_a_file_is_the_rows_that_somebody_picked(table, tmp_path):
    x, y = table
    chosen = (x[:, 0] > 1.3) & (x[:, 1] <= 1.9)
    words = dict(methods="estimate", parties=2, bounds=(1, 2), lam=1e-6, seed=1)
    ours = tacit.simulate(x, y, test=(x, y), subset="x1 > 1.3 & x2 <= 1.9", **words).model
    theirs = tacit.simulate(x[chosen], y[chosen], test=(x[chosen], y[chosen]), **words).model
    assert np.allclose(ours.scores(x), theirs.scores(x), atol=1e-9)
    fits = [tacit.fit(*rows, method="output", epsilon=5, bounds=(1, 2), classes=[0, 1], lam=0.1, seed=3, **more)
            for rows, more in (((x, y), {"subset": "!(x1 <= 1.3 | x2 > 1.9)"}), ((x[chosen], y[chosen]), {}))]
    assert np.array_equal(fits[0].scores(x), fits[1].scores(x))
    with pytest.raises(tacit.UsageError, match="subset, at 'x9'"):
        tacit.fit(x, y, bounds=(1, 2), classes=[0, 1], subset="x9 > 1")
