"""Numbers have a decimal point, whatever locale the program has set."""
import locale
import os
import subprocess

import numpy as np
import pytest

import tacit


@pytest.fixture
def german(tmp_path, monkeypatch):
    """Sets a locale with a decimal comma when it is called."""
    name = "de_DE.UTF-8"
    done = subprocess.run(["localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", str(tmp_path / name)], capture_output=True, text=True)
    assert (tmp_path / name).is_dir(), f"install the package locales (script/setup --test): {done.stderr}"
    monkeypatch.setitem(os.environ, "LOCPATH", str(tmp_path))

    def set_it():
        locale.setlocale(locale.LC_ALL, name)
        assert locale.localeconv()["decimal_point"] == ","
    yield set_it
    locale.setlocale(locale.LC_ALL, "C")


def everything(rows, folder):
    x, y = rows
    (folder / "rows.csv").write_text("a,b,y\n" + "".join(f"{a!r},{b!r},{'yes' if one else 'no'}\n" for (a, b), one in zip(x[:200].tolist(), y[:200])))
    (folder / "schema.yaml").write_text("label: {name: y, classes: [no, yes]}\ncolumns:\n  - {name: a, kind: number, low: 0.25, high: 0.75}\n"
                                        "  - {name: b, kind: number, low: -0.5, high: 1.5}\n")
    frame = tacit.Frame.load(folder / "rows.csv", schema=folder / "schema.yaml")
    models = [tacit.fit(x, y, epsilon=0.75, lam=0.125, classes=[0, 1], bounds=(-0.5, 1.5), seed=1), tacit.fit(frame, epsilon=2.5, seed=1)]
    for k, model in enumerate(models):
        model.save(folder / "model.json")
        models[k] = tacit.Model.load(folder / "model.json")
    ledger = tacit.Ledger(folder / "ledger.db", "patients")
    ledger.limit(epsilon=1.5, delta=1e-5)
    with pytest.raises(ValueError) as problem:
        tacit.fit(x, y, epsilon=0.75, lam=-0.125, bounds=(0, 1))
    found = tacit.simulate(x, y, methods="avg", parties=3, epsilon=0.5, seed=1, settings={"noise": "party"}, test_fraction=0.25)
    return [*(model.to_json() for model in models), *(model.to_pmml() for model in models), *(model.to_onnx() for model in models),
            np.concatenate([model.coefficients().ravel() for model in models]).tolist(), tacit.explain("avg", epsilon=0.5),
            [account["limit"] for account in ledger.accounts], str(problem.value), found.model.to_json(), found.runs[0]["accuracy"],
            tacit.compose([(0.25, 1.5e-7), 0.125], delta=1e-5), tacit.mechanisms.laplace([0.5, 1.5], sensitivity=0.25, epsilon=0.5, seed=1).tolist(),
            tacit.glm("y ~ a", {"a": x[:, 0], "y": x[:, 1]}, family="gaussian").coefficients, tacit.describe(x, y, classes=[0, 1]).report]


def test_a_decimal_comma_changes_nothing(rows, tmp_path, german):
    plain = everything(rows, tmp_path)
    german()
    assert everything(rows, tmp_path) == plain
