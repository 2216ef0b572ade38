"""Labels keep their type, bounds may go by name, and estimators have what scikit-learn's have."""
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import tacit
from tacit import PrivateEnsemble, PrivateLogisticRegression, PrivateStacking

pandas = pytest.importorskip("pandas")


@pytest.mark.parametrize("classes", [[0, 1], [False, True], ["no", "yes"], [2.5, -1.0]])
def test_predictions_are_of_the_labels_own_type(rows, classes):
    x, y = rows
    labels = np.asarray(classes)[y]
    model = tacit.fit(x, labels, epsilon=50, bounds=(0, 1), classes=classes, seed=1)
    found = model.predict(x)
    assert found.dtype == np.asarray(classes).dtype and (found == labels).mean() > 0.8
    assert (pickle.loads(pickle.dumps(model)).predict(x) == found).all()


def test_labels_of_a_file_are_texts_unless_it_is_told(rows, tmp_path):
    model = tacit.fit(*rows, epsilon=50, bounds=(0, 1), classes=[0, 1], seed=1)
    model.save(tmp_path / "model.json")
    assert tacit.Model.load(tmp_path / "model.json").predict(rows[0]).dtype.kind == "U"
    assert (tacit.Model.load(tmp_path / "model.json", labels=[1, 0]).predict(rows[0]) == model.predict(rows[0])).all()
    with pytest.raises(tacit.UsageError, match="not those of the model"):
        tacit.Model.load(tmp_path / "model.json", labels=["a", "b"])


def test_a_simulations_model_has_the_labels_too(rows):
    x, y = rows
    found = tacit.simulate(x, np.where(y, 7, 3), methods="batch", parties=2, bounds=(0, 1), seed=1)
    assert set(found.model.predict(x)) == {3, 7}


def test_bounds_go_by_the_columns_names(rows):
    x, y = rows
    table = pandas.DataFrame({"age": x[:, 0] * 72 + 18, "dose": x[:, 1]})
    by_name = tacit.fit(table, y, epsilon=2, classes=[0, 1], seed=1, bounds={"dose": (0, 1), "age": (18, 90)})
    in_order = tacit.fit(table, y, epsilon=2, classes=[0, 1], seed=1, bounds=([18, 0], [90, 1]))
    assert by_name.to_json() == in_order.to_json()
    named = PrivateLogisticRegression(epsilon=50, bounds={"age": (18, 90), "dose": (0, 1)}, classes=[0, 1]).fit(table, y)
    assert list(named.feature_names_in_) == ["age", "dose"] and named.score(table, y) > 0.8


@pytest.mark.parametrize("bounds, words", [({"age": (18, 90)}, "bounds lack dose"), ({"age": (18, 90), "dos": (0, 1)}, "'dos', which is no column"),
                                           ({"age": 18, "dose": (0, 1)}, r"bounds of 'age' are \(low, high\)")])
def test_bounds_that_do_not_fit_say_which(rows, bounds, words):
    table = pandas.DataFrame(rows[0], columns=["age", "dose"])
    with pytest.raises(tacit.UsageError, match=words):
        tacit.fit(table, rows[1], classes=[0, 1], bounds=bounds)
    with pytest.raises(tacit.UsageError, match="names of the columns"):
        tacit.fit(rows[0], rows[1], classes=[0, 1], bounds=bounds)


def test_decisions_and_logarithms_are_those_of_the_probabilities(rows, quiet):
    x, y = rows
    private = PrivateLogisticRegression(epsilon=50, bounds=(0, 1), classes=[0, 1], random_state=1).fit(x, y)
    odds = private.decision_function(x)
    np.testing.assert_allclose(1 / (1 + np.exp(-odds)), private.predict_proba(x)[:, 1], atol=1e-12)
    np.testing.assert_allclose(odds, x @ private.coef_[0] + private.intercept_[0], atol=1e-9)
    np.testing.assert_allclose(np.exp(private.predict_log_proba(x)), private.predict_proba(x))
    three = PrivateLogisticRegression(epsilon=1e4, bounds=(0, 1), random_state=1).fit(x, (3 * x[:, 0]).astype(int))
    assert three.decision_function(x).shape == (len(x), 3)
    assert (three.decision_function(x).argmax(axis=1) == three.predict(x)).all()
    margins = PrivateLogisticRegression(epsilon=50, bounds=(0, 1), settings={"loss": "huber"}, random_state=1).fit(x, y)
    assert ((margins.decision_function(x) > 0) == margins.predict(x)).all()


def test_weights_are_refused_with_the_reason(rows, quiet):
    x, y = rows
    for private in (PrivateLogisticRegression(), PrivateStacking(), PrivateEnsemble()):
        with pytest.raises(ValueError, match="sample_weight is not supported: a row that counts w times would need w times the noise"):
            private.fit(x, y, sample_weight=np.ones(len(y)))
        with pytest.raises(TypeError, match="'weight'"):
            private.fit(x, y, weight=1)


def test_output_is_of_pandas_where_wanted(rows, quiet):
    table = pandas.DataFrame(rows[0], columns=["a", "b"], index=np.arange(5000, 7000))
    private = PrivateLogisticRegression(epsilon=50, bounds=(0, 1), classes=[0, 1]).set_output(transform="pandas").fit(table, rows[1])
    chances = private.predict_proba(table)
    assert list(chances.columns) == [0, 1] and chances.index.equals(table.index) and private.predict(table).index.equals(table.index)
    assert isinstance(clone(private).fit(table, rows[1]).predict(table), pandas.Series)
    assert isinstance(private.set_output(transform="default").predict(table), np.ndarray)
    with pytest.raises(ValueError, match="polars"):
        private.set_output(transform="polars")


def test_a_search_with_a_ledger_says_first_what_it_will_spend(rows, tmp_path):
    x, y = rows
    with tacit.Ledger(tmp_path / "ledger.db", "patients") as ledger:
        ledger.limit(epsilon=100)
        private = PrivateLogisticRegression(epsilon=0.5, bounds=(0, 1), classes=[0, 1], ledger=ledger)
        with pytest.warns(tacit.PrivacyWarning) as told:
            GridSearchCV(private, {"lam": [0.1, 0.01]}, cv=3).fit(x, y)
        assert [str(one.message).split(";")[0] for one in told] == [
            "GridSearchCV fits 7 models (2 candidates, 3 splits, and the best again), each charged to patients: epsilon 3.5 in all"]
        assert ledger.spent()[0] == pytest.approx(3.5)
        with pytest.warns(tacit.PrivacyWarning, match="epsilon 4 in all"):
            GridSearchCV(private, {"epsilon": [0.5, 1.5]}, cv=2, refit=False).fit(x, y)


def test_a_copy_of_an_estimator_outside_of_a_search_says_nothing(rows, tmp_path, recwarn):
    with tacit.Ledger(tmp_path / "ledger.db", "patients") as ledger:
        ledger.limit(epsilon=100)
        clone(PrivateLogisticRegression(epsilon=0.5, bounds=(0, 1), classes=[0, 1], ledger=ledger)).fit(*rows)
        assert len(recwarn) == 0 and ledger.spent() == (0.5, 0.0)
