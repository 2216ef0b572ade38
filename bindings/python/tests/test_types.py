"""A program of somebody else's passes `mypy --strict`: everything public is exported by name, and typed."""
import importlib.util
import subprocess
import sys

import pytest

import tacit

PROGRAM = '''
import numpy as np
import tacit
from tacit import (Frame, Ledger, Model, PrivateEnsemble, PrivateLogisticRegression, PrivateStacking, RefusedError, Simulation, TacitError,
                   accounting, mechanisms)
from tacit.accounting import Gaussian


def use(rows: "np.ndarray[tuple[int, int], np.dtype[np.float64]]", ledger: Ledger) -> float:
    try:
        model: Model = tacit.fit(rows, [0, 1], epsilon=1.0, bounds={"age": (18, 90)}, classes=[0, 1], ledger=ledger)
    except (RefusedError, TacitError) as problem:
        print(problem.status, problem.code)
        raise
    print(model.guarantee["private"], model.predict(rows), model.labels, tacit.settings.plr(loss="huber"))
    private = PrivateLogisticRegression(epsilon=1.0).fit(rows, [0, 1])
    PrivateStacking(parts=3), PrivateEnsemble(local=private)
    found: Simulation = tacit.simulate(Frame(rows, [0, 1]), methods=["avg"], epsilon=[1.0], parties=3)
    search = tacit.private_search(private, {"lam": [0.1]}, rows, [0, 1])
    print(found.frame(), found.plot(), search.best_params, tacit.describe(rows, [0, 1]).table())
    fit = tacit.glm("y ~ age", {"age": rows[:, 0], "y": rows[:, 1]}, family="gaussian")
    spent: accounting.Spending = tacit.compose([Gaussian(sigma=2.0, count=10), 0.5, model], delta=1e-5)
    place: int = mechanisms.choose([1.0, 2.0], sensitivity=1.0, epsilon=1.0)
    return spent.epsilon + fit.aic + place + ledger.spent()[0]


reveal_type(tacit.PrivateLogisticRegression)
'''


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
def test_a_program_passes_mypy_strict(tmp_path):
    def told(program):
        (tmp_path / "program.py").write_text(program)
        words = ["--strict", "--follow-imports=silent", "--ignore-missing-imports", "--cache-dir", str(tmp_path / "cache"), "program.py"]
        done = subprocess.run([sys.executable, "-m", "mypy", *words], cwd=tmp_path, capture_output=True, text=True)
        return [line for line in done.stdout.splitlines() if line.startswith("program.py")]
    (revealed,) = told(PROGRAM)
    assert "Revealed type" in revealed and "PrivateLogisticRegression" in revealed
    assert len(told("import tacit\ntacit.nothing_of_the_kind()\ntacit.fit(1, epsilon='much')\n")) == 2  # it does look


def test_every_public_name_is_exported_by_name():
    assert sorted(tacit.__all__) == dir(tacit) and len(set(tacit.__all__)) == len(tacit.__all__)
    assert {name for name in vars(tacit._errors) if name.endswith("Error")} <= set(tacit.__all__)
