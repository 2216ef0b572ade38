"""What every call needs: options as texts, documents as Python values, and long calls that can be stopped."""
from __future__ import annotations

import _thread
import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Optional, Union

import numpy as np

from tacit import _errors
from tacit._native import ffi, lib

Progress = Callable[[str, int, int], None]
Settings = Optional[Mapping[str, Any]]
Path = Union[str, "os.PathLike[str]"]


def text_of(value: Any) -> str:
    """A value as the command line writes it: 0.5, a,b,c, yes."""
    if getattr(value, "ndim", None) == 0 and not isinstance(value, np.generic):  # an array, of any library, of one thing
        value = value.item()
    if isinstance(value, (str, bytes)):  # numpy's are too
        return value.decode() if isinstance(value, bytes) else str(value)
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (float, np.floating)):
        return repr(float(value)) if not float(value).is_integer() else f"{float(value):.17g}"
    if isinstance(value, Mapping):
        raise TypeError(f"a text, number or sequence of them is wanted, not {value!r}")
    if isinstance(value, Iterable):
        return ",".join(text_of(item) for item in value)
    return str(value)


def path_of(path: Path) -> bytes:
    return os.fsencode(path)


def options_of(values: Mapping[str, Any], settings: Settings = None):
    """Options for a call: None is left out, ``test_fraction`` is ``test-fraction``, settings become one ``set`` each."""
    error, out = _errors.new_error(), ffi.new("tacit_options **")
    _errors.check(lib.tacit_options_create(out, error), error)
    options = ffi.gc(out[0], lib.tacit_options_free)

    def put(name: str, value: str) -> None:
        _errors.check(lib.tacit_options_set(options, name.encode(), value.encode(), error), error)

    for name, value in values.items():
        if value is not None:
            put(name.replace("_", "-"), text_of(value))
    for name, value in (settings or {}).items():
        put("set", f"{name}={text_of(value)}")
    return options


def take_text(pointer) -> str:
    """The text that a call handed out, which is freed."""
    try:
        return ffi.string(pointer).decode()
    finally:
        lib.tacit_string_free(pointer)


def document(function, *arguments) -> Any:
    """The document of a call that takes ``char **json`` first and an error last."""
    error, out = _errors.new_error(), ffi.new("char **")
    _errors.check(function(out, *arguments, error), error)
    return json.loads(take_text(out[0]))


_lent = threading.local()  # ``lock``: what is held by the thread that waits while this one makes its call


def turn(lock):
    """Hold the lock of an object that one thread may use at a time. What a call tells its listener is said by the thread that made the
    call, or by one that makes it for it: either may use the object meanwhile."""
    return contextlib.nullcontext() if lock is None or lock is getattr(_lent, "lock", None) else lock


class Task:
    """A long call. It runs without the interpreter's lock; Ctrl-C, or an exception in `progress` or `news`, stops it.

    In the main thread, which alone hears of Ctrl-C, the call itself is made by another thread while this one waits.
    """

    def __init__(self, progress: Progress | None = None, news: Callable[[str], None] | None = None) -> None:
        self._progress, self._news = progress, news
        self._handle = ffi.new_handle(self)
        self._shared = ffi.new("tacit_python_task *", {"stop": 0, "handle": self._handle})
        self._problem: BaseException | None = None

    def progress(self):
        """For calls that take a tacit_progress."""
        self._given = ffi.new("tacit_progress *", {"cancelled": ffi.addressof(lib, "tacit_python_cancelled"),
                                                   "context": self._shared})
        if self._progress is not None:
            self._given.report = lib.tacit_python_report
        return self._given

    def listener(self):
        """For calls that take a tacit_site_listener."""
        self._given = ffi.new("tacit_site_listener *", {"cancelled": ffi.addressof(lib, "tacit_python_cancelled"),
                                                        "context": self._shared})
        if self._news is not None:
            self._given.news = lib.tacit_python_news
        return self._given

    def watcher(self, changed: Callable[[str], bool]):
        """For tacit_study_watch; `changed` says whether to go on."""
        self._changed = changed
        self._given = ffi.new("tacit_study_watcher *", {"cancelled": ffi.addressof(lib, "tacit_python_cancelled"), "context": self._shared,
                                                        "changed": lib.tacit_python_changed})
        return self._given

    def coordinator_listener(self):
        """For tacit_coordinator_start, whose threads tell the news; NULL where nobody listens."""
        if self._news is None:
            return ffi.NULL
        self._given = ffi.new("tacit_coordinator_listener *", {"context": self._shared, "news": lib.tacit_python_news})
        return self._given

    def stop(self) -> None:
        """From any thread: the call ends soon, with :class:`tacit.CancelledError`."""
        self._shared.stop = 1

    def tell(self, listener, *arguments) -> None:
        try:
            listener(*arguments)
        except BaseException as problem:
            self._problem = self._problem or problem
            self.stop()

    def run(self, function, *arguments, holding: Any = None, discard: Callable[[], Any] | None = None) -> None:
        """Call ``function(*arguments, error)``; `discard` frees what it made when nobody will get it. `holding` is the lock, if any, whose
        :func:`turn` this thread has taken."""
        error = _errors.new_error()
        try:
            if threading.current_thread() is threading.main_thread():
                status = self._run_apart(holding, function, *arguments, error)
            else:
                status = function(*arguments, error)
            if self._problem is not None:
                if status == lib.TACIT_OK and discard is not None:
                    discard()
                raise self._problem
        finally:
            self._shared.stop, self._problem = 0, None
        _errors.check(status, error)

    def _run_apart(self, holding, function, *arguments) -> int:
        status, ended, begun = [], [], False
        claim, wake = _thread.allocate_lock(), _thread.allocate_lock()
        wake.acquire()

        def call() -> None:
            if not claim.acquire(blocking=False):
                return
            try:
                _lent.lock = holding
                status.append(function(*arguments))
            except BaseException as problem:  # of cffi, about the arguments
                self._problem = self._problem or problem
            finally:
                ended.append(True)
                wake.release()

        # A signal's handler may raise between any two steps of the main thread, and the call must not go on without it. So nothing
        # is done outside the try from the start on; and whether the call is made at all is settled by who claims it, not by how far
        # this thread came. (Thread.start would wait for the thread, and an Event be left locked.)
        while not ended:
            try:
                if not begun:
                    _thread.start_new_thread(call, ())
                    begun = True
                while not ended:
                    wake.acquire(timeout=0.2)  # a signal may reach another thread, which wakes nobody
            except BaseException as problem:  # KeyboardInterrupt, or what another signal's handler raises
                self._problem = self._problem or problem
                self.stop()
                if claim.acquire(blocking=False):
                    ended.append(True)
        return status[0] if status else lib.TACIT_INTERNAL


@ffi.def_extern()
def tacit_python_report(context, stage, done, total):
    task = ffi.from_handle(ffi.cast("tacit_python_task *", context).handle)
    task.tell(task._progress, ffi.string(stage).decode("utf-8", "replace") if stage else "", done, total)


@ffi.def_extern()
def tacit_python_news(context, line):
    task = ffi.from_handle(ffi.cast("tacit_python_task *", context).handle)
    task.tell(task._news, ffi.string(line).decode("utf-8", "replace"))


@ffi.def_extern()
def tacit_python_changed(context, json_text):
    task = ffi.from_handle(ffi.cast("tacit_python_task *", context).handle)
    going = []
    task.tell(lambda text: going.append(task._changed(text)), ffi.string(json_text).decode("utf-8", "replace"))
    return bool(going and going[0])
