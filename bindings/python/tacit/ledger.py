"""Ledgers: what a data source has been charged, and what it may still be."""
from __future__ import annotations

import os
import threading
from typing import Any

from tacit import _errors
from tacit._call import Path, document, path_of, turn
from tacit._native import ffi, lib


class Ledger:
    """The ledger of one data source, in a file that is made where it is missing.

    Without a limit nothing is released. Threads may share a ledger: they take turns.

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
        error, out = _errors.new_error(), ffi.new("tacit_ledger **")
        _errors.check(lib.tacit_ledger_at(out, path_of(path), source.encode(), error), error)
        self._open = ffi.gc(out[0], lib.tacit_ledger_free)

    @property
    def _pointer(self):
        if self._open is None:
            raise _errors.UsageError("this ledger was closed; open it again")
        return self._open

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

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def __reduce__(self):
        return Ledger, (self.path, self.source)

    def __repr__(self) -> str:
        return f"Ledger({self.path!r}, {self.source!r})"
