"""A ledger is charged once for a release, refuses what is too much, and can be checked."""
import copy
import pickle
import threading

import numpy as np
import pytest

import tacit
from tacit import PrivateLogisticRegression


@pytest.fixture
def ledger(tmp_path):
    with tacit.Ledger(tmp_path / "ledger.db", "patients") as opened:
        yield opened


def test_nothing_is_released_without_a_limit(ledger, rows):
    with pytest.raises(tacit.RefusedError):
        tacit.fit(*rows, epsilon=1, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    assert ledger.spent() == (0, 0)


def test_release_is_charged_once_and_then_refused(ledger, rows):
    ledger.limit(epsilon=1.5)
    first = tacit.fit(*rows, epsilon=1, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    assert ledger.spent() == (1, 0) and len(ledger.entries) >= 1
    again = tacit.fit(*rows, epsilon=1, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    assert again.to_json() == first.to_json() and ledger.spent() == (1, 0)
    with pytest.raises(PermissionError):
        tacit.fit(*rows, epsilon=1, bounds=(0, 1), lam=0.02, classes=[0, 1], ledger=ledger)
    assert ledger.verify()["sound"]


def test_simulation_is_not_charged(ledger, rows):
    ledger.limit(epsilon=1)
    with pytest.raises(tacit.UsageError):
        tacit.fit(*rows, epsilon=1, bounds=(0, 1), classes=[0, 1], ledger=ledger, seed=1)
    assert ledger.spent() == (0, 0)


def test_estimator_spends_and_its_clone_knows_the_ledger(ledger, rows):
    from sklearn.base import clone
    ledger.limit(epsilon=1)
    private = tacit.PrivateLogisticRegression(epsilon=1, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    private.fit(*rows)
    assert ledger.spent() == (1, 0)
    assert clone(private).ledger.spent() == (1, 0)


def test_copies_are_of_the_same_file(ledger):
    ledger.limit(epsilon=2, delta=1e-6, unit="party")
    for other in (copy.deepcopy(ledger), pickle.loads(pickle.dumps(ledger))):
        assert other.accounts == ledger.accounts


def test_threads_share_a_ledger(ledger, rows):
    x, y = rows[0][:200], rows[1][:200]
    ledger.limit(epsilon=100)
    problems = []

    def release(k):
        try:
            for j in range(8):
                tacit.fit(x * (1 - 1e-4 * (8 * k + j)), y, bounds=(0, 1), epsilon=0.5, lam=0.1, classes=[0, 1], ledger=ledger, threads=1)
                ledger.spent()
        except Exception as problem:
            problems.append(problem)

    threads = [threading.Thread(target=release, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not problems
    assert ledger.spent() == pytest.approx((24, 0)) and ledger.verify()["sound"]


@pytest.mark.parametrize("release", [
    lambda x, y, **more: tacit.fit(x, y, bounds=(0, 1), **more),
    lambda x, y, **more: PrivateLogisticRegression(bounds=(0, 1), **more).fit(x, y).model_,
    lambda x, y, **more: tacit.PrivateStacking(bounds=(0, 1), **more).fit(x, y).model_,
], ids=["fit", "regression", "stacking"])
def test_classes_of_a_release_are_known_without_the_rows(ledger, rows, release, quiet):
    ledger.limit(epsilon=5)
    x, y = rows[0], np.where(rows[1], "Ms Jones", "nobody")
    for labels in (y, rows[1], rows[1] * 2.0):
        with pytest.raises(tacit.RefusedError, match=r"classes=\[\.\.\.\]"):
            release(x, labels, ledger=ledger)
    with pytest.raises(tacit.InputError, match="Ms Jones"):
        release(x, y, ledger=ledger, classes=["nobody", "somebody"])
    with pytest.raises(ValueError):
        release(x, y, ledger=ledger, classes=["nobody"])
    assert ledger.spent() == (0, 0)
    assert release(x, y, ledger=ledger, classes=["Ms Jones", "nobody"]).classes == ["Ms Jones", "nobody"]
    assert release(x, rows[1] > 0, ledger=ledger).classes == ["False", "True"]
    assert ledger.spent() == (2, 0)


def test_classes_of_a_frame_are_as_public(ledger, rows):
    x, y = rows
    ledger.limit(epsilon=5)
    read_off = tacit.Frame(x, y, bounds=(0, 1))
    for frame in (read_off, tacit.Frame(x, y, bounds=(0, 1), like=read_off)):
        with pytest.raises(tacit.RefusedError):
            tacit.fit(frame, ledger=ledger)
    declared = tacit.Frame(x, y, classes=["no", "yes"], bounds=(0, 1))
    assert tacit.fit(declared, ledger=ledger).classes == ["no", "yes"]
    with pytest.raises(tacit.UsageError, match="Frame"):
        tacit.fit(declared, classes=["no", "yes"])


def test_damage_is_found(tmp_path, rows):
    path = tmp_path / "ledger.db"
    with tacit.Ledger(path, "patients") as ledger:
        ledger.limit(epsilon=5)
        tacit.fit(*rows, epsilon=1, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    import sqlite3
    with sqlite3.connect(path) as file:
        tables = [name for name, in file.execute("select name from sqlite_master where type = 'table'")]
        assert tables
    text = path.read_bytes()
    place = text.index(b"patients")
    path.write_bytes(text[:place] + b"patience" + text[place + 8:])
    try:
        with tacit.Ledger(path, "patients") as ledger:
            assert not ledger.verify()["sound"]
    except tacit.TacitError as problem:
        assert problem.status in ("CORRUPT", "IO")


def test_closed_ledger_says_so(ledger):
    ledger.close()
    with pytest.raises(tacit.UsageError, match="closed"):
        ledger.document


def test_wrong_unit(ledger):
    with pytest.raises(ValueError):
        ledger.limit(epsilon=1, unit="study")


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_an_estimator_refuses_what_is_not_finite_before_it_is_charged(ledger, rows, wrong):
    ledger.limit(epsilon=1.5)
    x, y = rows[0].copy(), rows[1]
    x[3, 1] = wrong
    private = PrivateLogisticRegression(epsilon=1, bounds=(0, 1), classes=[0, 1], ledger=ledger)
    with pytest.raises(ValueError, match="row 4, column x2"):
        private.fit(x, y)
    assert ledger.spent() == (0, 0)
    private.fit(*rows)
    with pytest.raises(ValueError, match="row 4, column x2"):
        private.predict(x)
