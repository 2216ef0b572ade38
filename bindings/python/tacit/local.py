"""A party's own classifier as a Python object: an estimator of scikit-learn's kind, or a function.

The library asks a program for labels (``exec:``, docs/classifiers.md); that program hands the question to the process that has the
object, over a socket that only its user may open, and the object is trained and asked there, by a thread.
"""
from __future__ import annotations

import contextlib
import copy
import os
import shlex
import shutil
import socket
import sys
import tempfile
import threading
from collections.abc import Callable
from typing import Any, BinaryIO, Optional, Union

import numpy as np

from tacit import _errors

LocalFunction = Callable[[np.ndarray, np.ndarray, np.ndarray], Any]
Local = Union[None, str, LocalFunction, Any]


def is_object(local: Local) -> bool:
    """Whether it is to be trained here, rather than named to the library."""
    return local is not None and not isinstance(local, str)


def _fresh(estimator: Any) -> Any:
    try:
        from sklearn.base import clone
        return clone(estimator)
    except (ImportError, TypeError):
        return copy.deepcopy(estimator)


def labels_of(local: Any, rows: np.ndarray, labels: np.ndarray, points: np.ndarray, classes: int) -> np.ndarray:
    """What `local` makes of the points after it saw the rows: a place in the list of classes each."""
    if hasattr(local, "fit") and hasattr(local, "predict"):
        found = (np.full(len(points), labels[0]) if (labels == labels[0]).all()  # nothing to learn, and many refuse to try
                 else _fresh(local).fit(rows, labels).predict(points))
    else:
        found = local(rows, labels, points)
    answer = np.asarray(found)
    if answer.shape != (len(points),) or answer.dtype.kind not in "biuf" or not np.isin(answer, np.arange(classes)).all():
        raise ValueError(f"the local classifier must give a class from 0 to {classes - 1} for each of {len(points)} points")
    return answer.astype(np.int64)


def _numbers(text: str) -> np.ndarray:
    lines = text.splitlines()[1:]
    return np.array([line.split(",") for line in lines], np.float64) if lines else np.empty((0, 0))


class Served:
    """A local classifier that the library can name while this is open."""

    def __init__(self, local: Any, path: Optional[str] = None) -> None:
        if not (hasattr(local, "fit") and hasattr(local, "predict")) and not callable(local):
            raise _errors.UsageError("local is the name of a classifier, an estimator with fit and predict, or a function of rows, "
                                     f"labels and points, not {type(local).__name__}")
        if not sys.executable:
            raise _errors.UsageError("local classifiers of Python need to know its program, and sys.executable is empty")
        self._local, self.problem = local, None
        self._folder = None if path is not None else tempfile.mkdtemp(prefix="tacit-local-")
        self.path = path if path is not None else os.path.join(str(self._folder), "socket")
        self._listening = socket.socket(socket.AF_UNIX)
        if path is not None:
            self._make_room(path)
        self._listening.bind(self.path)
        os.chmod(self.path, 0o600)
        self._listening.listen(64)
        self._process, self._server = os.getpid(), threading.Thread(target=self._serve, daemon=True)
        self._server.start()

    problem: Optional[BaseException]

    @staticmethod
    def _make_room(path: str) -> None:
        """A name that a process which ended has left behind is free again."""
        if len(os.fsencode(path)) > 100:
            raise _errors.UsageError(f"the path of a socket may have 100 bytes, and {path} is longer: use another home")
        os.makedirs(os.path.dirname(path) or ".", mode=0o700, exist_ok=True)
        if not os.path.exists(path):
            return
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(path) == 0:
                raise _errors.UsageError(f"another site of this home has a local classifier of its own ({path}): use another home")
        os.unlink(path)

    @property
    def kind(self) -> str:
        """As the library calls it."""
        from tacit import _forward
        words = [sys.executable, "-I", "-S", str(_forward.__file__), self.path]
        if any("," in word for word in words):
            raise _errors.UsageError(f"a path with a comma cannot be named to the library: {', '.join(words)}")
        return "exec:" + " ".join(shlex.quote(word) for word in words)

    def _serve(self) -> None:
        while True:
            try:
                line, _ = self._listening.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(line,), daemon=True).start()

    def _answer(self, line: socket.socket) -> None:
        try:
            with line, line.makefile("rwb") as stream:
                stream.write(self._reply(stream))
        except OSError:  # whoever asked has gone
            return

    def _reply(self, stream: BinaryIO) -> bytes:
        try:
            classes = int(stream.readline())
            first, _, second = stream.read().decode("ascii").partition("\n\n")
            train, points = _numbers(first), _numbers(second)
            found = labels_of(self._local, train[:, :-1], train[:, -1].astype(np.int64), points, classes)
            return b"ok\n" + "".join(f"{label}\n" for label in found).encode()
        except BaseException as problem:  # the party says that it has no answer, and whoever called gets this
            self.problem = self.problem or problem
            return f"failed\n{type(problem).__name__}: {problem}\n".encode()

    def close(self) -> None:
        if os.getpid() != self._process:  # a child that was forked: socket and folder are its parent's
            self._listening.close()
            return
        # Closing alone would leave the thread in accept, on a number that the next socket gets: it would answer in that one's place.
        with contextlib.suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._server.join()
        self._listening.close()
        if os.path.exists(self.path):
            os.unlink(self.path)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Served:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()
