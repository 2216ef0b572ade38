"""Estimators do what scikit-learn's do, say what they cost, and warn where they are not private."""
import importlib.util
import pickle
import types
import warnings

import numpy as np
import pytest
import scipy.sparse
import sklearn.utils.validation
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import tacit
from tacit import PrivateEnsemble, PrivateLogisticRegression, PrivateStacking


def test_learns_two_classes(rows):
    private = PrivateLogisticRegression(epsilon=2, bounds=(0, 1), classes=[0, 1]).fit(*rows)
    assert private.score(*rows) > 0.8
    assert private.guarantee_["charged"] == {"unit": "record", "epsilon": 2.0, "delta": 0.0}
    assert private.coef_.shape == (1, 2) and private.intercept_.shape == (1,)


def test_learns_three_classes(rng, quiet):
    x = rng.normal(size=(3000, 2)) * 0.1 + np.repeat([[0, 0], [1, 0], [0, 1]], 1000, axis=0)
    y = np.repeat(["a", "b", "c"], 1000)
    private = PrivateLogisticRegression(epsilon=20, bounds=(-0.5, 1.5), random_state=1).fit(x, y)
    assert private.guarantee_["method"] == "output" and private.score(x, y) > 0.8
    assert private.predict_proba(x).shape == (3000, 3) and private.coef_.shape == (3, 2)
    with pytest.raises(ValueError, match="two classes"):
        PrivateLogisticRegression(method="plr", bounds=(-0.5, 1.5)).fit(x, y)


def test_noise_is_drawn_anew_unless_seeded(rows, quiet):
    def weights(**arguments):
        return PrivateLogisticRegression(bounds=(0, 1), **arguments).fit(*rows).coef_
    assert (weights() != weights()).all()
    assert (weights(random_state=1) == weights(random_state=1)).all()
    assert (weights(random_state=1) != weights(random_state=2)).all()


def test_noise_of_a_release_is_exact_and_that_of_a_simulation_says_so(rows, quiet):
    assert PrivateLogisticRegression(bounds=(0, 1)).fit(*rows).guarantee_["noise"] != "simulated"
    assert PrivateLogisticRegression(bounds=(0, 1), random_state=1).fit(*rows).guarantee_["noise"] == "simulated"


def test_warns_where_it_is_not_private(rows):
    with pytest.warns(tacit.PrivacyWarning, match="read off"):
        PrivateLogisticRegression().fit(*rows)
    with pytest.warns(tacit.PrivacyWarning, match="simulation"):
        PrivateLogisticRegression(bounds=(0, 1), random_state=1).fit(*rows)
    with pytest.warns(tacit.PrivacyWarning, match="count as public"):
        PrivateEnsemble(bounds=(0, 1)).fit(*rows)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PrivateLogisticRegression(bounds=(0, 1), classes=[0, 1]).fit(*rows)
        PrivateStacking(bounds=(0, 1), classes=[0, 1]).fit(*rows)
        PrivateEnsemble(bounds=(0, 1), classes=[0, 1]).fit(*rows, public=rows[0][:200])


def test_wider_scaling_by_norm_and_sparse_rows(rng, quiet):
    x = scipy.sparse.random(2000, 50, 0.1, format="csr", random_state=1)
    y = np.asarray(x[:, :25].sum(axis=1)).ravel() > np.asarray(x[:, 25:].sum(axis=1)).ravel()
    private = PrivateLogisticRegression(epsilon=50, norm=5, random_state=1, lam=1e-3).fit(x, y)
    assert private.score(x, y) > 0.7
    assert (private.predict(x) == private.predict(x.toarray())).all()


def test_margins_instead_of_probabilities(rows):
    private = PrivateLogisticRegression(epsilon=5, bounds=(0, 1), settings={"loss": "huber"}).fit(*rows)
    assert private.score(*rows) > 0.8


def test_stacking_by_features_hears_important_ones(rng, quiet):
    x = rng.uniform(size=(4000, 4))
    y = x[:, 3] > 0.5

    def accuracy(**arguments):
        return np.mean([PrivateStacking(by="features", parts=2, epsilon=3, bounds=(0, 1), random_state=seed, **arguments)
                        .fit(x, y).score(x, y) for seed in range(10)])
    assert accuracy(importances=[0.01, 0.01, 0.01, 1]) > 0.6


def test_stacking_refuses_what_it_cannot(rows):
    x, _ = rows
    with pytest.raises(ValueError, match="binary"):
        PrivateStacking(bounds=(0, 1)).fit(x, np.arange(len(x)) % 3)
    with pytest.raises(ValueError, match="features"):
        PrivateStacking(importances=[1, 2], bounds=(0, 1)).fit(x, np.arange(len(x)) % 2)
    with pytest.raises(ValueError, match="columns"):
        PrivateStacking(by="columns", bounds=(0, 1)).fit(x, np.arange(len(x)) % 2)


@pytest.mark.parametrize("method", ["vote", "soft", "soft-stat", "pate", "avg"])
def test_ensembles_teach_one_model(rows, rng, method):
    delta = 1e-5 if method == "pate" else 0
    ensemble = PrivateEnsemble(method, parties=40, epsilon=20, delta=delta, bounds=(0, 1), random_state=1)
    ensemble.fit(*rows, public=rng.uniform(size=(400, 2)))
    assert ensemble.score(*rows) > 0.8 and ensemble.guarantee_["parties"] == 40


def test_ensemble_of_given_parties(rows, rng):
    x, y = rows
    ensemble = PrivateEnsemble("soft", epsilon=20, bounds=(0, 1), random_state=1, local="logistic,tree")
    points = rng.uniform(size=(400, 2))
    ensemble.fit(x, y, groups=(x[:, 0] * 7).astype(int), public=points)
    assert ensemble.guarantee_["parties"] == 7
    first = ensemble.model_.to_json()
    ensemble.fit(x, y, groups=(x[:, 1] * 7).astype(int), public=points)
    assert ensemble.guarantee_["parties"] == 7 and ensemble.model_.to_json() != first


def test_works_with_the_tools_of_scikit_learn(rows, quiet):
    private = PrivateLogisticRegression(epsilon=5, bounds=(0, 1), random_state=1)
    assert cross_val_score(private, *rows, cv=3).mean() > 0.8
    search = GridSearchCV(private, {"lam": [0.1, 0.001]}, cv=2).fit(*rows)
    assert search.best_params_["lam"] in (0.1, 0.001)
    search = GridSearchCV(private, {"method": np.array(["plr", "output"])}, cv=2, error_score="raise").fit(*rows)
    assert search.best_params_["method"] in ("plr", "output")
    pipeline = make_pipeline(FunctionTransformer(np.sqrt), clone(private)).fit(*rows)
    assert pipeline.score(*rows) > 0.8


@pytest.fixture
def later(monkeypatch):
    """The estimators as they are with a scikit-learn from 1.7 on, as far as it has other names for things."""
    if hasattr(sklearn.utils.validation, "validate_data"):
        return tacit.estimators
    before = BaseEstimator._validate_data

    def validate_data(estimator, /, X="no_validation", y="no_validation", reset=True, *, ensure_all_finite=True, accept_sparse, dtype):
        return before(estimator, X, y, reset=reset, force_all_finite=ensure_all_finite, accept_sparse=accept_sparse, dtype=dtype)

    def tags(estimator):
        return types.SimpleNamespace(input_tags=types.SimpleNamespace(sparse=False),
                                     classifier_tags=types.SimpleNamespace(poor_score=False, multi_class=True))
    monkeypatch.delattr(BaseEstimator, "_validate_data")
    monkeypatch.setattr(sklearn.utils.validation, "validate_data", validate_data, raising=False)
    monkeypatch.setattr(BaseEstimator, "__sklearn_tags__", tags, raising=False)
    spec = importlib.util.spec_from_file_location("later_estimators", tacit.estimators.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_later_versions_of_scikit_learn(later, rows, rng, quiet):
    x, y = rows
    for private in (later.PrivateLogisticRegression(epsilon=20, bounds=(0, 1)), later.PrivateStacking(epsilon=50, bounds=(0, 1))):
        assert private.fit(x, y).score(x, y) > 0.8
        with pytest.raises(ValueError, match="row 1, column x1"):
            private.predict([[np.nan, 0]])
    ensemble = later.PrivateEnsemble("soft", parties=20, epsilon=20, bounds=(0, 1), random_state=1)
    assert ensemble.fit(x, y, public=rng.uniform(size=(400, 2))).score(x, y) > 0.8


def test_tags_of_later_versions_of_scikit_learn(later):
    for make, any_classes in ((later.PrivateLogisticRegression, True), (later.PrivateStacking, False), (later.PrivateEnsemble, True)):
        for epsilon, poor in ((1, True), (1e6, False)):
            tags = make(epsilon=epsilon).__sklearn_tags__()
            assert tags.input_tags.sparse and tags.classifier_tags.poor_score == poor
            assert tags.classifier_tags.multi_class == any_classes


def test_fitted_estimator_survives_pickling(rows, quiet):
    private = PrivateLogisticRegression(bounds=(0, 1), random_state=1).fit(*rows)
    again = pickle.loads(pickle.dumps(private))
    assert (again.predict_proba(rows[0]) == private.predict_proba(rows[0])).all()
