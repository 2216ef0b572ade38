"""Long calls let other threads run, tell how far they are, and can be stopped."""
import _thread
import sys
import threading

import numpy as np
import pytest

import tacit
from tacit._call import Task, options_of, text_of


def audit(progress):
    return tacit.audit("laplace", epsilon=1, runs=200000, seed=1, progress=progress)


def test_another_thread_runs_while_a_call_does():
    """The call waits, in a report, for a thread that can only run if the interpreter's lock is free. Twice, so that the thread must
    have run between two moments of the same call."""
    asked, answered = threading.Semaphore(0), threading.Semaphore(0)
    ended = threading.Event()
    turns = []

    def other():
        while not ended.is_set():
            if asked.acquire(timeout=0.1):
                turns.append(1)
                answered.release()

    def report(stage, done, total):
        if len(turns) < 2:
            asked.release()
            assert answered.acquire(timeout=60)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        audit(report)
    finally:
        ended.set()
        thread.join()
    assert len(turns) >= 1


def test_lock_is_free_inside_the_library():
    """Without any callback: a thread counts while the main thread is in a call."""
    counted, inside = [0], threading.Event()

    def count():
        inside.wait()
        while inside.is_set():
            counted[0] += 1

    thread = threading.Thread(target=count)
    thread.start()
    task = Task()
    from tacit._call import ffi, lib
    out = ffi.new("char **")
    options = options_of({"method": "laplace", "epsilon": 1, "runs": 200000, "seed": 1})
    inside.set()
    before = counted[0]
    lib.tacit_audit_document(out, options, task.progress(), ffi.NULL)
    after = counted[0]
    inside.clear()
    thread.join()
    lib.tacit_string_free(out[0])
    assert after > before


def test_progress_is_told():
    told = []
    audit(lambda stage, done, total: told.append((stage, done, total)))
    assert told and all(isinstance(stage, str) and 0 <= done and 0 <= total for stage, done, total in told)


def test_exception_in_progress_stops_the_call_and_comes_out():
    def report(stage, done, total):
        raise KeyError("enough")
    with pytest.raises(KeyError, match="enough"):
        audit(report)


def test_interrupt_stops_a_call_in_the_main_thread():
    calls = []

    def report(stage, done, total):
        if not calls:
            calls.append(1)
            _thread.interrupt_main()
    with pytest.raises(KeyboardInterrupt):
        tacit.audit("laplace", epsilon=1, runs=100_000_000, seed=1, progress=report)


@pytest.mark.parametrize("event", ["c_call", "c_return"])
def test_no_call_goes_on_without_the_one_who_made_it(event):
    """An interrupt strikes just before the thread of a call starts, or just after."""
    task, begun, given_up = Task(), threading.Event(), threading.Event()
    ended, discarded = [], []

    def function(error):
        begun.set()
        while not task._shared.stop and not given_up.is_set():
            pass
        ended.append(not given_up.is_set())
        return 0

    def strike(frame, what, called):
        if what == event and getattr(called, "__name__", "") == "start_new_thread":
            sys.setprofile(None)
            if event == "c_return":
                assert begun.wait(timeout=60)
            raise KeyboardInterrupt

    try:
        sys.setprofile(strike)
        with pytest.raises(KeyboardInterrupt):
            task.run(function, discard=lambda: discarded.append(True))
        assert ended == discarded == ([True] if event == "c_return" else [])
    finally:
        sys.setprofile(None)
        given_up.set()
    assert Task().run(lambda error: 0) is None


def test_a_call_that_cannot_be_made_says_so(monkeypatch):
    def no_thread(*_):
        raise RuntimeError("can't start new thread")
    monkeypatch.setattr(_thread, "start_new_thread", no_thread)
    with pytest.raises(RuntimeError, match="new thread"):
        Task().run(lambda error: 0)


def test_calls_from_threads_do_not_disturb_each_other(rows):
    found = [None] * 4

    def work(k):
        found[k] = tacit.fit(*rows, epsilon=1, bounds=(0, 1), seed=k // 2).to_json()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] == found[1] and found[2] == found[3] and found[0] != found[2]


@pytest.mark.parametrize("value, text", [
    (1, "1"), (0.5, "0.5"), (1e-9, "1e-09"), (float("inf"), "inf"), (True, "yes"), (np.True_, "yes"), (np.False_, "no"), ("a", "a"),
    ([1, 2.5], "1,2.5"), (("avg", "vote"), "avg,vote"), (np.float64(0.1), "0.1"), (np.int32(3), "3"), (3.0, "3"),
    (np.array([1.0, 0.1]), "1,0.1"),
    (np.str_("plr"), "plr"), (np.bytes_(b"plr"), "plr"), (np.array("plr"), "plr"), (np.array(["avg", "vote"]), "avg,vote"),
    (np.array(0.5), "0.5"), (np.array(True), "yes"), (np.float32(0.5), "0.5"), (np.int64(2**62 + 1), str(2**62 + 1)),
])
def test_values_as_the_command_line_writes_them(value, text):
    assert text_of(value) == text


def test_unknown_option_is_named(rows):
    with pytest.raises(tacit.UsageError, match="colour"):
        tacit.simulate(*rows, methods="avg", parties=2, epsilon=1, colour="red")
