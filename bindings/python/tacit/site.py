"""A party of a study that a coordinator runs elsewhere."""
from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any, Optional

from tacit import _errors
from tacit._call import Path, Task, document, options_of, turn
from tacit._frame import lent_frame, pointer_of
from tacit._native import ffi, lib
from tacit.local import Served, is_object
from tacit.model import Model


class Site:
    """A study from the side of one who has rows: read what is asked, consent, answer.

    Rows are those of `frame`, a :class:`Frame` or a table as :meth:`Frame.table` takes it (a DataFrame of mixed columns), which the
    study's schema describes; or those of the file `data`, read again for every answer. `home` is a folder for keys and ledger.
    `news` is called with a line for people now and then. Nothing is promised before :meth:`accept`. Threads take turns: while one is
    in :meth:`answer`, the others wait, unless they :meth:`stop` it.

    ::

        site = tacit.Site.invited("tacit-invite:...", home="site", data="patients.csv", schema="patients.schema.yaml")
        print(site.document)          # what is asked, what leaves and who sees it, the price
        site.accept()
        model = site.answer()         # until the study ends; Ctrl-C stops, and joined() goes on later
    """

    def __init__(self, function: Any, name: str, frame: Any, news: Optional[Callable[[str], None]],
                 options: dict[str, Any]) -> None:
        frame = self._frame = lent_frame(frame)
        self._lock = threading.RLock()
        self._task = Task(news=news)
        self._listener = self._task.listener()
        self._served: Optional[Served] = None
        local = options.get("local")
        if is_object(local):  # an estimator or a function
            home = options.get("home")
            self._served = Served(local, None if home is None else os.path.join(os.fspath(home), "local.socket"))
            options = {**options, "local": self._served.kind if function == lib.tacit_site_invited else None}
        out = ffi.new("tacit_site **")
        given = options_of({key: str(value) if hasattr(value, "__fspath__") else value for key, value in options.items()})
        try:
            self._task.run(function, out, name.encode(), pointer_of(frame), given, self._listener,
                           discard=lambda: lib.tacit_site_free(out[0]))
        except BaseException:
            if self._served is not None:
                self._served.close()
            raise
        self._open = ffi.gc(out[0], lib.tacit_site_free)

    @staticmethod
    def preview(invitation: str, *, home: Optional[Path] = None, write_schema: Optional[Path] = None, write_template: Optional[Path] = None,
                proxy: Optional[str] = None) -> dict[str, Any]:
        """What an invitation asks before there are any rows, as ``tacit look``: what would leave and who would see it, the price, and the
        columns that rows need. The study's schema and a CSV file with the names of its columns can be written. The invitation stays good."""
        given = {"home": home, "write_schema": write_schema, "write_template": write_template, "proxy": proxy}
        return document(lib.tacit_site_preview, invitation.encode(),
                        options_of({key: None if value is None else os.fspath(value) for key, value in given.items()}))

    @property
    def _pointer(self):
        if self._open is None:
            raise _errors.UsageError("this site was closed; go on with Site.joined")
        return self._open

    @classmethod
    def invited(cls, invitation: str, frame: Any = None, *, news: Optional[Callable[[str], None]] = None,
                home: Optional[Path] = None, source: Optional[str] = None, data: Optional[Path] = None,
                schema: Optional[Path] = None, **options: Any) -> Site:
        """Look at a study that one was invited to. Further options are those of ``tacit join``: ``allow_entrusted``,
        ``allow_exact``, ``allow_difference``, ``allow_neighbours``, ``allow_site``, ``role``, ``proxy``, ``label``,
        ``local``: what is trained here in a study of an ensemble, by name; or an estimator of scikit-learn, or a function of rows, labels
        and points, which then run in this process."""
        return cls(lib.tacit_site_invited, invitation, frame, news,
                   {"home": home, "source": source, "data": data, "schema": schema, **options})

    @classmethod
    def joined(cls, study: str, frame: Any = None, *, news: Optional[Callable[[str], None]] = None,
               home: Optional[Path] = None, source: Optional[str] = None, data: Optional[Path] = None,
               schema: Optional[Path] = None, **options: Any) -> Site:
        """A study that was joined before, by its name. ``local`` has to be given again where it is an object."""
        return cls(lib.tacit_site_joined, study, frame, news,
                   {"home": home, "source": source, "data": data, "schema": schema, **options})

    @property
    def document(self) -> dict[str, Any]:
        """What is asked, by whom, what leaves and who sees it, the price, and whether your rules allow it."""
        with turn(self._lock):
            found = document(lib.tacit_site_document, self._pointer)
        if found.get("remedy") is not None:
            found["remedy"] = _errors.spell(found["remedy"])
        return found

    def accept(self) -> None:
        """Consent and join."""
        with turn(self._lock):
            self._task.run(lib.tacit_site_accept, self._pointer, holding=self._lock)

    def answer(self) -> Optional[Model]:
        """Answer until the study ends, reconnecting by itself; returns what it ended with."""
        out = ffi.new("tacit_model **")
        with turn(self._lock):
            self._task.run(lib.tacit_site_answer, out, self._pointer, holding=self._lock,
                           discard=lambda: lib.tacit_model_free(out[0]))
        return Model(out[0], None if self._frame is None else self._frame.classes) if out[0] else None

    def stop(self) -> None:
        """From another thread: :meth:`answer` ends soon, with :class:`tacit.CancelledError`."""
        self._task.stop()

    def leave(self) -> bool:
        """From the next question on nothing leaves. True: the coordinator could be told."""
        error, told = _errors.new_error(), ffi.new("bool *")
        with turn(self._lock):
            _errors.check(lib.tacit_site_leave(told, self._pointer, error), error)
        return bool(told[0])

    def close(self) -> None:
        """Free what the site holds, when calls of other threads have ended; it cannot be used any more."""
        with turn(self._lock):
            if self._open is not None:
                ffi.release(self._open)
                self._open = None
            if self._served is not None:
                self._served.close()

    def __enter__(self) -> Site:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()
