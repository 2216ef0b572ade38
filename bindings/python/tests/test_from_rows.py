"""A model is called private only when nothing of it was read off the rows, and what was read off is said and stays said."""
import warnings

import numpy as np
import pytest

import tacit
from tacit import PrivateLogisticRegression

PUBLIC = {"bounds": (0, 1), "classes": ["no", "yes"]}


def labels(count, *rare):
    return np.array([*rare, *["no"] * (count - len(rare))])


def outcome(x, y, **arguments):
    """Whether there is a model, of which classes, and whether it claims to be private."""
    try:
        model = tacit.fit(x, y, epsilon=0.01, **arguments)
    except ValueError:
        return "error", None, None
    return "model", model.classes, model.guarantee["private"]


def test_a_flipped_label_does_not_tell_an_error_from_a_private_model(rng):
    x = rng.uniform(size=(200, 1))
    without, with_it = (outcome(x, labels(200, *rare), bounds=(0, 1)) for rare in ([], ["yes"]))
    assert without[0] == with_it[0] or not with_it[2]
    assert outcome(x, labels(200), **PUBLIC) == outcome(x, labels(200, "yes"), **PUBLIC) == ("model", ["no", "yes"], True)


def test_a_rare_label_does_not_show_in_the_classes_of_a_private_model(rng):
    x = rng.uniform(size=(200, 1))
    kind, classes, private = outcome(x, labels(200, "yes", "yes", "yes", "rare"), bounds=(0, 1), method="output")
    assert kind == "model" and ("rare" not in classes or not private)


def test_truth_values_need_no_classes(rng):
    x = rng.uniform(size=(200, 1))
    assert outcome(x, np.zeros(200, bool), bounds=(0, 1))[::2] == ("model", True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = PrivateLogisticRegression(bounds=(0, 1)).fit(x, np.zeros(200, bool))
    assert one.guarantee_["private"] and list(one.classes_) == [False, True]


@pytest.mark.parametrize("arguments, said", [({"bounds": (0, 1)}, "the classes of 'label'"),
                                             ({"bounds": "data", "classes": ["no", "yes"]}, "the columns 'x1', 'x2', 'x3' and 1 more")])
def test_what_was_read_off_is_said_in_the_model_and_survives_saving(rng, tmp_path, arguments, said):
    x = rng.uniform(size=(200, 4))
    model = tacit.fit(x, labels(200, "yes"), epsilon=1, **arguments)
    model.save(tmp_path / "model.json")
    for one in (model, tacit.Model.load(tmp_path / "model.json"), tacit.Model.from_json(model.to_json())):
        assert one.guarantee["private"] is False and one.guarantee["charged"] is None
        assert one.guarantee["reason"] == "read off the rows: " + said
        assert said.replace("'", "&apos;") in one.to_pmml() or said in one.to_pmml()


def test_a_private_model_gives_no_reason(rng):
    model = tacit.fit(rng.uniform(size=(200, 1)), labels(200, "yes"), epsilon=1, **PUBLIC)
    assert model.guarantee["private"] is True and model.guarantee["reason"] is None


def test_a_file_that_claims_more_than_its_schema_is_not_believed(rng):
    model = tacit.fit(rng.uniform(size=(200, 1)), labels(200, "yes"), epsilon=1, **PUBLIC)
    forged = model.to_json().replace(r"kind: number, low: 0, high: 1", r"kind: number, low: 0, high: 1, from: rows")
    assert forged != model.to_json()
    loaded = tacit.Model.from_json(forged)
    assert loaded.guarantee["private"] is False and "'x1'" in loaded.guarantee["reason"]


def test_an_estimator_warns_and_does_not_claim(rows):
    with pytest.warns(tacit.PrivacyWarning, match="classes"):
        estimator = PrivateLogisticRegression(bounds=(0, 1)).fit(*rows)
    assert estimator.guarantee_["private"] is False and "classes" in estimator.guarantee_["reason"]


def test_a_simulation_still_works_and_says_so(rows):
    found = tacit.simulate(*rows, methods="avg", parties=4, epsilon=1, seed=1)
    assert found.model.guarantee["private"] is False and "columns 'x1', 'x2'" in found.model.guarantee["reason"]
    public = tacit.simulate(*rows, methods="avg", parties=4, epsilon=1, seed=1, classes=[0, 1], bounds=(0, 1))
    assert public.model.guarantee["reason"] is None and public.model.guarantee["noise"] == "simulated"


def test_a_ledger_refuses_what_was_read_off(rows, tmp_path):
    ledger = tacit.Ledger(tmp_path / "ledger.db", "patients")
    ledger.limit(epsilon=5)
    for arguments in ({"bounds": (0, 1)}, {"bounds": "data", "classes": [0, 1]}):
        with pytest.raises(tacit.RefusedError, match="read off"):
            tacit.fit(*rows, epsilon=1, ledger=ledger, **arguments)
    assert ledger.spent() == (0, 0)
