"""Ledgers: what a data source has been charged, and what it may still be."""
from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from tacit import _errors
from tacit._call import Path, document, path_of, turn
from tacit._native import ffi, lib
from tacit._spending import warn_of_search


class Ledger:
    """The ledger of one data source, in a file that is made where it is missing.

    Without a limit nothing is released. Threads may share a ledger: they take turns. Processes share the file: a process that was forked,
    or that unpickled the ledger, opens it again, and all are held to the same limits.

    >>> import os, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Ledger(os.path.join(folder.name, "ledger.db"), "patients") as ledger:
    ...     ledger.limit(epsilon=1.0)
    ...     ledger.spent(), ledger.verify()["sound"]
    ((0.0, 0.0), True)
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, source: str) -> None:
        self.path, self.source = os.fspath(path), source
        self._lock = threading.RLock()  # calls let other threads run, and the library's ledger is for one at a time
        self._open: Any = None
        self._closed = False
        self._file = os.path.abspath(self.path)  # the folder may be another one when a child opens it
        self._reopen()
        _opened.add(self)

    def _reopen(self) -> None:
        error, out = _errors.new_error(), ffi.new("tacit_ledger **")
        _errors.check(lib.tacit_ledger_at(out, path_of(self._file), self.source.encode(), error), error)
        self._open = ffi.gc(out[0], lib.tacit_ledger_free)

    @property
    def _pointer(self) -> Any:
        if self._closed:
            raise _errors.UsageError("this ledger was closed; open it again")
        if self._open is None:
            self._reopen()
        return self._open

    def _after_fork(self) -> None:
        """In the child: the open file is the parent's, and so is the lock, which a thread that is not here may hold."""
        if self._open is not None:
            ffi.gc(self._open, None)
            self._open = None
        self._lock = threading.RLock()

    def limit(self, epsilon: float, delta: float = 0.0, *, unit: str = "record") -> None:
        """What may be spent in all, per ``"record"`` or per ``"party"``."""
        if unit not in ("record", "party"):
            raise _errors.UsageError(f"a limit is per 'record' or per 'party', not per {unit!r}")
        error = _errors.new_error()
        with turn(self._lock):
            _errors.check(lib.tacit_ledger_limit(self._pointer, unit == "party", epsilon, delta, error), error)

    @property
    def document(self) -> dict[str, Any]:
        """Accounts and entries, as ``tacit ledger show --json`` prints them."""
        with turn(self._lock):
            return document(lib.tacit_ledger_document, self._pointer)

    @property
    def accounts(self) -> list[dict[str, Any]]:
        """Of the source (``study`` None) and of its studies, one for each unit: sum, spent, limit, remaining."""
        return self.document["accounts"]

    @property
    def entries(self) -> list[dict[str, Any]]:
        """Every charge and limit, in the order in which they were made."""
        return self.document["entries"]

    def spent(self, unit: str = "record") -> tuple[float, float]:
        """Epsilon and delta that have been charged per ``"record"`` or per ``"party"``."""
        for account in self.accounts:
            if account["unit"] == unit and account["study"] is None:
                return account["spent"]["epsilon"], account["spent"]["delta"]
        return 0.0, 0.0

    def verify(self) -> dict[str, Any]:
        """Whether the file is sound: ``sound``, ``entries``, ``head``, ``problem``."""
        with turn(self._lock):
            return document(lib.tacit_ledger_verdict, self._pointer)

    def close(self) -> None:
        """Close the file, when calls of other threads have ended. The ledger cannot be used any more."""
        with turn(self._lock):
            if self._open is not None:
                ffi.release(self._open)
                self._open = None
            self._closed = True

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        return Ledger, (self.path, self.source)

    def __deepcopy__(self, memo: Any) -> Ledger:
        warn_of_search(self)
        return Ledger(self.path, self.source)

    def _repr_html_(self) -> str:
        from tacit._html import ledger_table
        return ledger_table(self.source, self.accounts)

    def __repr__(self) -> str:
        return f"Ledger({self.path!r}, {self.source!r})"


_opened: weakref.WeakSet[Ledger] = weakref.WeakSet()


def _forked() -> None:
    for ledger in list(_opened):
        ledger._after_fork()


os.register_at_fork(after_in_child=_forked)
