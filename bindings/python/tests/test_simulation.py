"""Simulations from Python are those of the command."""
import numpy as np
import pytest

import tacit


def test_runs_of_methods_and_epsilons(rows):
    found = tacit.simulate(*rows, methods=["batch", "avg", "vote"], parties=5, epsilon=[1, 10], aux_fraction=0.2, trials=3, seed=4)
    named = [(run["method"], run["epsilon"]) for run in found.runs if run["method"] != "batch"]
    assert named == [("avg", 1.0), ("avg", 10.0), ("vote", 1.0), ("vote", 10.0)]
    assert found.seed == 4 and [run["method"] for run in found.document["runs"]] == ["batch", "avg", "avg", "vote", "vote"]


def test_same_seed_same_figures(rows):
    def run(seed):
        found = tacit.simulate(*rows, methods="avg", parties=5, epsilon=1, seed=seed)
        return found.runs[0]["accuracy"], found.runs[0]["logloss"]
    assert run(4) == run(4) != run(5)


def test_parties_as_given(rows):
    x, y = rows
    groups = np.where(x[:, 0] > 0.7, "north", np.where(x[:, 0] > 0.4, "south", "west"))
    found = tacit.simulate(x, y, methods="avg", groups=groups, epsilon=1, test=(x[:500], y[:500]), seed=1)
    assert found.model.guarantee["parties"] == 3


def test_given_parties_keep_their_rows(rng):
    y = rng.permutation(1000) < 100
    x = rng.uniform(size=(1000, 1)) * 0.4 + 0.6 * y[:, None]

    def model(**whose):
        return tacit.simulate(x, y, methods="avg", epsilon=1e6, bounds=(0, 1), test=(x, y), seed=1, **whose).model.to_json()
    odd = np.arange(1000) % 2
    assert model(groups=odd) == model(groups=np.where(odd, "b", "a"))
    assert model(groups=odd) != model(groups=np.arange(1000) < 800)
    assert model(groups=odd) != model(parties=2) == model(groups=odd, parties=2)


def test_rows_apart(rows, rng):
    x, y = rows
    names = np.array(["below", "above"])
    found = tacit.simulate(x[:1500], names[y[:1500]], methods="soft", parties=20, epsilon=10, seed=1, bounds=(0, 1),
                           test=(x[1500:], names[y[1500:]]), auxiliary=rng.uniform(size=(300, 2)))
    assert found.runs[0]["accuracy"]["mean"] > 0.8
    assert found.model.classes == ["above", "below"]


def test_response_with_standard_errors(rng):
    x = rng.uniform(size=(500, 2))
    found = tacit.simulate(x, x @ [1.0, -1.0], methods="estimate", parties=3, lam=1e-4, bounds=(0, 1), response=(-1, 1), seed=1)
    assert found.model is not None
    np.testing.assert_allclose(found.model.predict(x), x @ [1.0, -1.0], atol=0.05)


def test_table(rows):
    pandas = pytest.importorskip("pandas")
    found = tacit.simulate(*rows, methods="avg", parties=5, epsilon=[1, 2], trials=2, seed=4)
    table = found.to_frame()
    assert isinstance(table, pandas.DataFrame) and list(table.epsilon) == [1, 2]
    assert table.accuracy[0] == found.runs[0]["accuracy"]["mean"] and "accuracy_sd" in table


def test_file(tmp_path, rng):
    lines = ["a,b,label"] + [f"{u:.3f},{v:.3f},{int(u > v)}" for u, v in rng.uniform(size=(200, 2))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    frame = tacit.Frame.load(tmp_path / "rows.csv", label="label")
    assert len(frame) == 200 and frame.columns == 2
    assert tacit.simulate(frame, methods="batch", parties=2, seed=1).runs[0]["accuracy"]["mean"] > 0.8


@pytest.mark.parametrize("yes, no", [(True, False), (np.True_, np.False_)])
def test_options_that_are_true_or_false(tmp_path, yes, no):
    (tmp_path / "rows.csv").write_text("0.1,0\n0.2,1\n0.3,0\n")
    assert len(tacit.Frame.load(tmp_path / "rows.csv", no_header=yes, label="column2")) == 3
    assert len(tacit.Frame.load(tmp_path / "rows.csv", no_header=no, label="0")) == 2


def test_catalogue():
    names = {method["name"] for method in tacit.methods()}
    assert {"plr", "vote", "estimate"} <= names
    assert tacit.explain("avg", epsilon=2)["charged"]["epsilon"] == 2
    with pytest.raises(tacit.UsageError, match="magic"):
        tacit.explain("magic", epsilon=1)


def test_plan(tmp_path):
    schema = tmp_path / "schema.yaml"
    columns = "columns: [{name: a, kind: number, low: 0, high: 1}, {name: b, kind: number, low: 0, high: 1}]\n"
    schema.write_text("label: {name: y, kind: count, low: 0, high: 30}\n" + columns)
    numbers = {"schema": schema, "parties": 10, "rows": 1000, "epsilon": 3, "methods": "dpnewton", "brief": True}
    told = tacit.plan(**numbers, signal=0.5)
    assert told["recommended"] == "dpnewton" and told["response"] == "count" and told["signal"] == 0.5
    assert told["pooled"]["explained"]["mean"] == pytest.approx(0.5, abs=0.1)
    assert told == tacit.plan(**numbers, signal=0.5)  # all chance is from a seed
    with pytest.raises(tacit.UsageError, match="rows"):
        tacit.plan(schema=schema, parties=10, epsilon=3)
    with pytest.raises(tacit.UsageError, match="magic"):
        tacit.plan(**numbers, magic=1)


def test_audit_finds_broken_noise():
    assert tacit.audit("laplace-halved", epsilon=1, runs=20000, seed=1)["verdict"] == "broken"
    assert tacit.audit("laplace", epsilon=1, runs=20000, seed=1)["verdict"] == "holds"


def test_a_method_that_refuses_keeps_the_others_from_nothing(rows):
    with pytest.warns(UserWarning, match="method vote needs public auxiliary points.*aux_fraction"):
        found = tacit.simulate(*rows, methods=["batch", "vote"], parties=5, epsilon=1, seed=4)
    assert found.runs[0]["accuracy"]["mean"] > 0.5 and found.runs[1]["accuracy"] is None
    with pytest.raises(tacit.UsageError, match="vote"):
        tacit.simulate(*rows, methods=["vote"], parties=5, epsilon=1, seed=4)


def test_rows_without_a_label_are_learnt_from(rows):
    x, y = rows
    some = [int(label) if i % 2 == 0 else None for i, label in enumerate(y)]
    for blank in (some, np.where(np.arange(len(y)) % 2 == 0, y, np.nan), np.ma.array(y, mask=np.arange(len(y)) % 2 == 1)):
        frame = tacit.Frame(x, blank, bounds=(0, 1))
        assert list(frame.classes) == [0, 1]
    half = len(x) // 2
    nothing = [None] * (len(x) - half - 1) + [int(y[-1])]  # a single label
    found = tacit.simulate(x[:half], some[:half], methods="dphtl", parties=2, epsilon=float("inf"), bounds=(0, 1), auxiliary=x[half:],
                           target=(x[half:], nothing), test=(x, y), seed=1)
    assert found.runs[0]["accuracy"]["mean"] > 0.8
    with pytest.raises(tacit.UsageError, match="needs a label in every row"):
        tacit.simulate(x, some, methods="plr", parties=2, epsilon=1, bounds=(0, 1), seed=1)
    with pytest.raises(tacit.UsageError, match="needs a label in every row"):
        tacit.fit(x, some, epsilon=1, bounds=(0, 1), seed=1)
