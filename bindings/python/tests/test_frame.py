"""Rows are read where they lie, whatever their strides and types, and the same numbers give the same model."""
import gc
import weakref

import numpy as np
import pytest
import scipy.sparse

import tacit
from tacit._frame import encode, places

TRUTH = np.array([3.0, -2.0, 1.0])


@pytest.fixture
def table(rng):
    x = rng.uniform(-1, 1, size=(300, 3))
    return x, (x @ TRUTH > 0).astype(int)


def weights(x, y, **scale):
    return tacit.fit(x, y, method="output", epsilon=10, lam=0.1, seed=7, **(scale or {"bounds": (-1, 1)})).to_json()


def layouts(x):
    wide = np.zeros((2 * len(x), 2 * x.shape[1]))
    wide[::2, 1::2] = x
    return {
        "rows first": x,
        "columns first": np.asfortranarray(x),
        "slice": wide[::2, 1::2],
        "backwards": x[::-1].copy()[::-1],
        "columns backwards": x[:, ::-1].copy()[:, ::-1],
        "list": x.tolist(),
        "other byte order": x.astype(">f8"),
        "long double": x.astype(np.longdouble),
    }


@pytest.mark.parametrize("layout", ["rows first", "columns first", "slice", "backwards", "columns backwards", "list",
                                    "other byte order", "long double"])
def test_layout_does_not_matter(table, layout):
    x, y = table
    assert weights(layouts(x)[layout], y) == weights(x, y)


def test_floats_are_the_doubles_of_the_same_value(table):
    x, y = table
    short = x.astype(np.float32)
    assert weights(short, y) == weights(short.astype(np.float64), y)
    assert weights(np.asfortranarray(short)[::-1], y[::-1]) == weights(short.astype(np.float64)[::-1].copy(), y[::-1])


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_sparse_rows_are_the_dense_ones(table, index, form):
    x, y = table
    x[np.abs(x) < 0.5] = 0
    sparse = scipy.sparse.csr_matrix(x)
    sparse.indices, sparse.indptr = sparse.indices.astype(index), sparse.indptr.astype(index)
    model = tacit.fit(sparse.asformat(form), y, method="output", epsilon=10, lam=0.1, seed=7, norm=2)
    dense = tacit.fit(x, y, method="output", epsilon=10, lam=0.1, seed=7, norm=2)
    np.testing.assert_allclose(model.scores(sparse), dense.scores(x), atol=1e-6)


def test_doubled_entries_of_sparse_rows_are_added_and_the_rows_left_alone(table):
    _, y = table
    doubled = scipy.sparse.csr_matrix((np.full(600, 0.25), (np.repeat(np.arange(300), 2)) * 0, np.arange(0, 601, 2)), (300, 3))
    summed = doubled.copy()
    summed.sum_duplicates()
    assert weights(doubled, y, norm=1) == weights(summed, y, norm=1)
    assert doubled.nnz == 600


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_copy_is_made(table, dtype):
    x, _ = table
    for rows in (x.astype(dtype), np.asfortranarray(x.astype(dtype)), x.astype(dtype)[::3, 1:]):
        assert any(kept is rows for kept in tacit.Frame(rows)._kept)
    sparse = scipy.sparse.csr_matrix(x)
    assert any(kept is sparse.data or kept.base is sparse.data for kept in tacit.Frame(sparse)._kept)


def test_rows_live_as_long_as_their_frame(table):
    x, y = table
    frame = tacit.Frame(x.copy(), y.copy(), bounds=(-1, 1))
    trash = [np.full_like(x, np.nan) for _ in range(50)]
    assert tacit.fit(frame, method="output", epsilon=10, lam=0.1, seed=7).to_json() == weights(x, y)
    del trash


def test_rows_live_as_long_as_a_call_has_them(table):
    x, y = (part.copy() for part in table)
    alive = weakref.ref(x)
    pointer = tacit.Frame(x, y)._pointer
    del x
    gc.collect()
    assert alive() is not None
    del pointer
    gc.collect()
    assert alive() is None


def test_labels_of_any_kind():
    for values in (["b", "a", "b"], [2.5, -1.0, 2.5], [7, -3, 7], [True, False, True], np.array([9, 3, 9], np.uint8)):
        distinct, index = encode(values)
        assert distinct.tolist() == sorted(set(values)) and distinct[index].tolist() == list(values)
        assert index.dtype == np.int32
        assert (places(values, distinct) == index).all()


def test_counting_and_sorting_labels_agree(rng):
    for values in (rng.integers(-5, 5, 1000), rng.choice([3, 900, 17], 1000), rng.integers(-2**62, 2**62, 1000),
                   rng.choice(np.array([-100, 100], np.int8), 1000), rng.choice(np.array([-300, 300], np.int16), 1000),
                   rng.choice(np.array([-30000, 30000], np.int16), 100_000), rng.choice(np.array([2**64 - 9, 2**64 - 1], np.uint64), 99)):
        distinct, index = encode(values)
        expected = np.unique(values, return_inverse=True)
        assert (distinct == expected[0]).all() and (index == expected[1]).all() and distinct.dtype == values.dtype


def test_unknown_label_is_told():
    with pytest.raises(tacit.InputError, match="'c'"):
        places(["a", "c"], np.array(["a", "b"]))


def test_what_is_masked_is_missing(table):
    x, y = table
    hidden = x > 0.9
    holes = np.where(hidden, np.nan, x)
    assert weights(np.ma.array(x, mask=hidden), y) == weights(holes, y) != weights(x, y)
    whole = np.ma.array(np.round(x * 10).astype(int), mask=hidden)
    assert weights(whole, y, bounds=(-10, 10)) == weights(np.where(hidden, np.nan, np.round(x * 10)), y, bounds=(-10, 10))
    with pytest.raises(tacit.InputError, match="row 3, column"):
        tacit.PrivateLogisticRegression(bounds=(-1, 1)).fit(np.ma.array(x, mask=np.arange(900).reshape(300, 3) == 7), y)


def test_columns_with_missing_values_of_their_own(table):
    pandas = pytest.importorskip("pandas")
    x, y = table
    rows = pandas.DataFrame(x).mask(x > 0.9)
    assert weights(rows.convert_dtypes(), y) == weights(rows, y)
    rows["when"] = pandas.Timestamp("2026-01-01")
    with pytest.raises(tacit.InputError, match="datetime64"):
        tacit.Frame(rows.convert_dtypes())


@pytest.mark.parametrize("labels", [
    [0.0, np.nan, 1.0], ["a", None, "b"], np.array(["a", np.nan, "b"], object), np.ma.array([0, 1, 1], mask=[0, 1, 0]),
    np.ma.array([False, True, True], mask=[0, 1, 0]), np.array(["2026-01-01", "NaT", "2026-01-02"], "M8[D]"),
])
def test_labels_may_be_missing_and_groups_may_not(labels):
    x = np.eye(3)
    assert len(tacit.Frame(x, labels).classes) == 2
    with pytest.raises(tacit.UsageError, match="needs a label in every row"):
        tacit.fit(tacit.Frame(x, labels, bounds=(0, 1)), epsilon=1)
    with pytest.raises(tacit.InputError, match="group of row 2 is missing"):
        tacit.Frame(x, [0, 1, 0], groups=labels)


def test_missing_labels_of_pandas():
    pandas = pytest.importorskip("pandas")
    assert tacit.Frame(np.eye(3), pandas.array([0, None, 2], "Int64")).classes.tolist() == [0, 2]
    assert tacit.Frame(np.eye(3), pandas.array([0, 2, 0], "Int64")).classes.tolist() == [0, 2]


def test_labels_masked_for_an_estimator(table):
    x, y = table
    with pytest.raises(tacit.InputError, match="row 5"):
        tacit.PrivateLogisticRegression(bounds=(-1, 1)).fit(x, np.ma.array(y, mask=np.arange(300) == 4))


@pytest.mark.parametrize("wrong", [0.9, 2**32 + 1, -0.5, 2.0**40])
def test_places_are_whole(wrong):
    with pytest.raises(tacit.InputError, match="row 2"):
        tacit.Frame(np.eye(3), [0, wrong, 1], classes=["a", "b"])
    for fine in ([0.0, 1.0, 1.0], [False, True, True], np.array([0, 1, 1], np.uint8), np.array([0, 1, 1], object)):
        tacit.Frame(np.eye(3), fine, classes=["a", "b"])
    with pytest.raises(tacit.InputError):
        tacit.Frame(np.eye(3), ["0", "1", "1"], classes=["a", "b"])


@pytest.mark.parametrize("rows", [
    np.array([["2026-01-01"]] * 3, "M8[D]"), np.ones((3, 1), "m8[s]"), np.ones((3, 1)) * 1j,
    np.ma.array(np.ones((3, 1)) * 1j, mask=False), scipy.sparse.csr_matrix(np.ones((3, 1)) * 1j),
])
def test_times_and_complex_numbers_are_refused(rows):
    with pytest.raises(tacit.InputError, match="numbers are wanted"):
        tacit.Frame(rows)


def test_classes_keep_their_order_and_all_are_there(table):
    x, y = table
    model = tacit.fit(x, np.array(["b", "c"])[y], method="output", classes=["c", "a", "b"], bounds=(-1, 1))
    assert model.classes == ["c", "a", "b"]
    assert tacit.Frame(x, y < 0).classes.tolist() == [False, True]


@pytest.mark.parametrize("labels, classes", [
    (["1", "2"], [1, 2]), ([1, 2], ["1", "2"]), ([0, 3], [0, 1]), ([0.5, 1], [0, 1]), (["a", "b"], ["a", "b", "a"]),
    (["a", "b"], []), (np.array(["a", "c"], object), ["a", "b"]), (np.array([1, 2], object), ["1", "2"]),
])
def test_labels_that_are_none_of_the_classes(labels, classes):
    with pytest.raises(ValueError):
        tacit.fit(np.eye(2), labels, classes=classes, bounds=(0, 1))


@pytest.mark.parametrize("wrong", [
    lambda: tacit.Frame(np.zeros(3)),
    lambda: tacit.Frame(np.zeros((3, 2)), [0, 1]),
    lambda: tacit.Frame(np.zeros((3, 2)), [0, 1, 0], groups=[1, 2]),
    lambda: tacit.Frame(np.zeros((3, 2)), names=["a"]),
    lambda: tacit.Frame(np.zeros((3, 2)), bounds=(0, 1), norm=1),
    lambda: tacit.Frame(np.zeros((3, 2)), bounds="guess"),
    lambda: tacit.Frame(np.zeros((3, 2)), bounds=(1, 0)),
    lambda: tacit.Frame(np.zeros((3, 2)), norm=-1),
])
def test_what_does_not_fit_is_refused(wrong):
    with pytest.raises(ValueError):
        wrong()


def test_rows_of_a_folder_and_of_a_query_are_those_of_the_file(tmp_path):
    import sqlite3
    rows = [(i / 7, "no" if i % 3 else "yes") for i in range(30)]
    text = ["x,y\n", *(f"{x!r},{y}\n" for x, y in rows)]
    (tmp_path / "all.csv").write_text("".join(text))
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "1.csv").write_text("".join(text[:11]))
    (tmp_path / "parts" / "2.csv").write_text("".join(text[:1] + text[11:]))
    with sqlite3.connect(tmp_path / "rows.db") as file:
        file.execute("create table t (x real, y text)")
        file.executemany("insert into t values (?, ?)", rows)
    for source in (tmp_path / "all.csv", tmp_path / "parts", f"sqlite:{tmp_path}/rows.db?select x, y from t order by rowid"):
        frame = tacit.Frame.load(source, label="y")
        assert (len(frame), frame.columns) == (30, 1)
    with pytest.raises(tacit.TacitError, match="holds a password"):
        tacit.Frame.load("postgres:host=db password=x?select 1")
