"""Fitting a private model of one owner's rows."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Union

from tacit import _errors
from tacit._call import Progress, Settings, Task, options_of, turn
from tacit._frame import Bounds, Frame, places
from tacit._native import ffi, lib
from tacit.ledger import Ledger
from tacit.model import Model

# A class that one row alone has tells that the row is there, whatever the noise.
READ_OFF = ("the classes are read off these very rows, which is not private: give classes=[...], all labels that there may be, known "
            "without the rows (a Frame takes them with labels that are places in the list)")


def fit(X: Any, y: Any = None, *, method: str = "plr", epsilon: float = 1.0, delta: float = 0.0, lam: Union[float, str, None] = None,
        classes: Optional[Sequence[Any]] = None, bounds: Bounds = None, norm: Optional[float] = None, intercept: bool = True,
        ledger: Optional[Ledger] = None, seed: Optional[int] = None, settings: Settings = None, terms: Optional[str] = None,
        subset: Optional[str] = None, threads: Optional[int] = None, progress: Optional[Progress] = None) -> Model:
    """Fit a private model of one owner's rows, as ``tacit fit`` does.

    With a ledger this is a release: exact noise from the operating system, and the charge is durable before the model is handed
    out; the same request on the same rows gives the same model without a second charge. Without one, the model says
    what it costs and you keep count. With a seed it is a simulation, which can be repeated and is not private.

    `classes` are all labels that there may be, in the order in which the model has them; a row with another one is an error. A private
    model needs them, unless labels are truth values: a class that one row alone has would tell that the row is there. Without them the
    guarantee says ``private: False`` and why, and a ledger refuses.

    `X` may be a :class:`Frame` with labels; `y`, `classes` and what is public about columns are then left out. `lam` is the weight
    of the regulariser, or ``"choose:L1,L2,..."``. `settings` are those of the method, a mapping such as
    ``tacit.settings.plr(loss="huber")`` makes. `terms` is a formula over the
    columns as R writes it (``"~ x1*x2 + log(x3)"``); the model then still takes the columns themselves.
    `subset` says which rows (``"x1 > 0.5 & !is.na(x3)"``).

    >>> import numpy as np, tacit
    >>> rows, labels = np.linspace(0, 1, 200).reshape(-1, 1), np.arange(200) >= 100
    >>> tacit.fit(rows, labels, epsilon=4, bounds=(0, 1), seed=1).guarantee["method"]
    'plr'
    >>> tacit.fit(rows, np.where(labels, "ill", "well"), classes=["well", "ill"], bounds=(0, 1)).classes
    ['well', 'ill']
    >>> tacit.fit(rows, labels, method="magic", bounds=(0, 1))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    tacit.UsageError: there is no method 'magic'
    """
    if isinstance(X, Frame) and classes is not None:
        raise _errors.UsageError("the rows are a Frame: give it the classes")
    if y is not None and classes is not None:
        y = places(y, classes, "classes")
    frame = X if isinstance(X, Frame) else Frame(X, y, classes=classes, bounds=bounds, norm=norm, intercept=intercept)
    if ledger is not None and frame._read_off:
        raise _errors.RefusedError(READ_OFF)
    options = options_of({"method": method, "epsilon": epsilon, "delta": delta, "lambda": lam, "threads": threads, "seed": seed,
                          "terms": terms, "subset": subset}, settings)
    out, task = ffi.new("tacit_model **"), Task(progress)
    lock = None if ledger is None else ledger._lock
    with turn(lock):
        charged = ffi.NULL if ledger is None else ledger._pointer
        task.run(lib.tacit_frame_fit, out, frame._pointer, options, charged, task.progress(), holding=lock,
                 discard=lambda: lib.tacit_model_free(out[0]))
    return Model(out[0], frame.classes)
