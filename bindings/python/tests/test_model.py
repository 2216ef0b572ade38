"""Models predict, describe themselves, and survive being written."""
import pickle

import numpy as np
import pytest

import tacit


@pytest.fixture
def model(rows):
    return tacit.fit(*rows, epsilon=50, bounds=(0, 1), classes=[0, 1])


def test_written_and_read_it_is_the_same(model, rows, tmp_path):
    model.save(tmp_path / "model.json")
    for again in (tacit.Model.load(tmp_path / "model.json"), tacit.Model.from_json(model.to_json()),
                  pickle.loads(pickle.dumps(model))):
        assert (again.scores(rows[0]) == model.scores(rows[0])).all()
        assert again.document == model.document


def test_probabilities_labels_and_coefficients_agree(model, rows):
    x = rows[0]
    scores = model.scores(x)
    assert scores.shape == (len(x), 2)
    np.testing.assert_allclose(scores.sum(axis=1), 1)
    assert (model.class_index(x) == scores.argmax(axis=1)).all()
    assert (model.predict(x) == model.labels[model.class_index(x)]).all()
    weights = model.coefficients()
    margin = x @ weights[0, :-1] + weights[0, -1]
    np.testing.assert_allclose(1 / (1 + np.exp(-margin)), scores[:, 1], atol=1e-9)


def test_it_says_what_it_is(model):
    assert model.guarantee["method"] == "plr" and model.guarantee["charged"]["epsilon"] == 50
    assert model.classes == ["0", "1"] and model.columns == 2 and "plr" in repr(model)


def test_other_forms(model):
    assert "<PMML" in model.to_pmml()
    assert len(model.to_onnx()) > 100


def test_rows_of_another_width_are_refused(model):
    with pytest.raises(ValueError, match="2"):
        model.scores(np.zeros((3, 5)))


def test_damaged_model_is_refused():
    with pytest.raises(tacit.TacitError):
        tacit.Model.from_json("{}")
