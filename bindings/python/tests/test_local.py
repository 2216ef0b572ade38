"""Local classifiers that are objects of Python; tables and figures for notebooks; ledgers after a fork and between threads."""
import multiprocessing
import os
import socket
import threading

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import tacit
from tacit.local import Served, labels_of


def test_an_estimator_is_trained_by_each_party(rows, rng):
    ensemble = tacit.PrivateEnsemble("soft", parties=4, epsilon=1000, bounds=(0, 1), classes=[0, 1], random_state=1,
                                     local=RandomForestClassifier(10, random_state=0))
    ensemble.fit(*rows, public=rng.uniform(size=(100, 2)))
    assert ensemble.score(*rows) > 0.8 and not hasattr(ensemble.local, "estimators_")  # clones were trained


def test_a_function_runs_in_this_process_and_sees_encoded_rows(rows, rng):
    seen = []

    def nearest(train, labels, points):
        seen.append((os.getpid(), len(train), float(np.abs(train).max())))
        return labels[((points[:, None] - train[None]) ** 2).sum(axis=2).argmin(axis=1)]
    found = tacit.simulate(*rows, methods="vote", parties=4, epsilon=20, classes=[0, 1], bounds=(0, 1), seed=1, local=nearest,
                           auxiliary=rng.uniform(size=(100, 2)), test=rows)
    assert found.runs[0]["accuracy"]["mean"] > 0.8
    assert {process for process, _, _ in seen} == {os.getpid()} and sum(count for _, count, _ in seen) == 2000
    assert max(largest for _, _, largest in seen) <= 1


def test_what_goes_wrong_in_a_function_is_the_cause(rows, rng):
    def broken(train, labels, points):
        raise RuntimeError("no such luck")
    with pytest.raises(tacit.InputError, match="no such luck") as told:
        tacit.simulate(*rows, methods="vote", parties=2, epsilon=20, classes=[0, 1], bounds=(0, 1), seed=1, local=broken,
                       auxiliary=rng.uniform(size=(10, 2)), test=rows)
    assert isinstance(told.value.__cause__, RuntimeError)


def test_labels_that_are_none_are_refused():
    rows, labels, points = np.zeros((3, 1)), np.array([0, 1, 1]), np.zeros((2, 1))
    for answer in ([0], [0, 2], [0.5, 1], ["a", "b"]):
        with pytest.raises(ValueError, match="a class from 0 to 1 for each of 2 points"):
            labels_of(lambda *_: answer, rows, labels, points, 2)
    assert (labels_of(LogisticRegression(), rows, np.ones(3, int), points, 2) == 1).all()  # it would refuse a single class
    with pytest.raises(tacit.UsageError, match="an estimator with fit and predict"):
        Served(7)


def test_a_closed_one_leaves_no_thread_that_could_answer_for_another():
    before = set(threading.enumerate())
    for _ in range(3):
        with Served(LogisticRegression()) as served:
            child = os.fork()
            if child == 0:  # one that goes leaves what is its parent's
                try:
                    served.close()
                finally:
                    os._exit(0 if os.path.exists(served.path) else 1)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            with socket.socket(socket.AF_UNIX) as line:
                line.connect(served.path)
    assert not [thread for thread in set(threading.enumerate()) - before if thread.name.endswith("(_serve)")]


def test_a_socket_is_for_its_owner_and_gone_afterwards(tmp_path):
    with Served(LogisticRegression(), str(tmp_path / "local.socket")) as served:
        assert os.stat(served.path).st_mode & 0o077 == 0 and served.kind.startswith("exec:")
        with pytest.raises(tacit.UsageError, match="use another home"):
            Served(LogisticRegression(), served.path)
    assert not os.path.exists(served.path)
    (tmp_path / "local.socket").touch()  # left behind by a process that was killed
    Served(LogisticRegression(), str(tmp_path / "local.socket")).close()


def test_a_site_that_cannot_be_reached_leaves_no_socket(tmp_path):
    with pytest.raises(tacit.TacitError):
        tacit.Site.invited("tacit-invite:nonsense", home=tmp_path / "home", data="rows.csv", local=LogisticRegression())
    assert not (tmp_path / "home" / "local.socket").exists()


# ---- notebooks ----

@pytest.fixture
def found(rows):
    return tacit.simulate(*rows, methods=["batch", "avg"], parties=4, epsilon=[1, 10], classes=[0, 1], bounds=(0, 1), trials=2, seed=1)


def test_a_simulation_is_a_table(found):
    pytest.importorskip("pandas")
    assert list(found.frame()["method"]) == ["batch", "avg", "avg"] and found.frame().equals(found.to_frame())
    assert "<td>avg</td>" in found._repr_html_() and "not private" in found._repr_html_()


def test_a_simulation_is_a_figure(found):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    axes = found.plot()
    assert axes.get_xlabel() == "epsilon" and axes.get_ylabel() == "accuracy"
    assert sorted(text.get_text() for text in axes.get_legend().get_texts()) == ["avg", "batch"]
    assert found.plot("auc", ax=axes) is axes
    with pytest.raises(tacit.UsageError, match="'rmse'"):
        found.plot("rmse")


def test_models_and_ledgers_show_what_they_promise(rows, tmp_path):
    shown = tacit.fit(rows[0], np.where(rows[1], "<b>", "well"), epsilon=2, bounds=(0, 1), classes=["well", "<b>"])._repr_html_()
    assert "epsilon 2" in shown and "&lt;b&gt;" in shown and "<b>" not in shown
    with tacit.Ledger(tmp_path / "ledger.db", "patients") as ledger:
        ledger.limit(epsilon=1.5)
        assert "1.5" in ledger._repr_html_() and "patients" in ledger._repr_html_()


# ---- ledgers between processes and threads ----

def spend(ledger, epsilon):
    return int(tacit.mechanisms.discrete_laplace(5, sensitivity=1, epsilon=epsilon, ledger=ledger))


def test_a_forked_process_opens_the_ledger_again_and_is_held_to_its_limit(tmp_path):
    with tacit.Ledger(tmp_path / "ledger.db", "patients") as ledger:
        ledger.limit(epsilon=1)
        spend(ledger, 0.25)
        with multiprocessing.get_context("fork").Pool(2) as pool:
            drawn = pool.starmap(spend, [(ledger, 0.25)] * 2)
            with pytest.raises(tacit.RefusedError):
                pool.apply(spend, (ledger, 0.75))
        assert len(drawn) == 2 and ledger.spent() == (0.75, 0.0) and ledger.verify()["sound"]
        spend(ledger, 0.25)
        child = os.fork()
        if child == 0:  # the very object, not a pickled one
            status = 9
            try:
                spend(ledger, 0.25)
            except tacit.RefusedError:
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert ledger.spent() == (1.0, 0.0) and ledger.verify()["sound"]


def test_a_fork_while_a_thread_spends_does_not_hang_the_child(tmp_path):
    with tacit.Ledger(tmp_path / "ledger.db", "patients") as ledger:
        ledger.limit(epsilon=1)
        held, go = threading.Event(), threading.Event()

        def hold():
            with ledger._lock:
                held.set()
                go.wait()
        thread = threading.Thread(target=hold)
        thread.start()
        held.wait()
        child = os.fork()
        if child == 0:
            status = 9
            try:
                spend(ledger, 0.5)
                status = 0
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        go.set()
        thread.join()
        assert ledger.spent() == (0.5, 0.0)


def test_a_closed_ledger_stays_closed_after_a_fork(tmp_path):
    ledger = tacit.Ledger(tmp_path / "ledger.db", "patients")
    ledger.close()
    ledger._after_fork()
    with pytest.raises(tacit.UsageError, match="was closed"):
        ledger.spent()


def test_threads_share_a_ledger_and_no_charge_is_lost(tmp_path):
    with tacit.Ledger(tmp_path / "ledger.db", "patients") as ledger:
        ledger.limit(epsilon=1)
        refused = []

        def work():
            for _ in range(3):
                try:
                    spend(ledger, 0.125)
                except tacit.RefusedError as problem:
                    refused.append(problem)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert ledger.spent() == (1.0, 0.0) and len(refused) == 4 and ledger.verify()["sound"]
