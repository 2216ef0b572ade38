"""Noise by itself: numbers that you made of your rows leave with noise, and whoever keeps the ledger is charged.

`sensitivity` is yours to know: by how much the numbers change, in the norm of the law, when one record (with ``unit="party"``, all rows of
the party) is replaced. docs/mechanisms.md has the theorem behind each law. Noise is exact, from the operating system, unless a `seed` makes
it a simulation.

>>> import tacit
>>> noisy = tacit.mechanisms.discrete_laplace([120, 31], sensitivity=2, epsilon=1.0)  # one record replaced: one count up, one down
>>> noisy.dtype.kind, len(noisy)
('i', 2)
>>> tacit.mechanisms.choose([10, 500, 20], sensitivity=1, epsilon=1.0)
1
"""
from __future__ import annotations

from typing import Any, Literal, Optional

import numpy as np

from tacit import _errors
from tacit._call import options_of, turn
from tacit._native import ffi, lib
from tacit.ledger import Ledger

__all__ = ["choose", "discrete_gaussian", "discrete_laplace", "gamma_norm", "gaussian", "laplace"]

Unit = Literal["record", "party"]


def _ask(function: Any, out: Any, values: np.ndarray, words: dict[str, Any], ledger: Optional[Ledger]) -> None:
    error, options = _errors.new_error(), options_of(words)
    with turn(None if ledger is None else ledger._lock):
        charged = ffi.NULL if ledger is None else ledger._pointer
        _errors.check(function(out, ffi.cast("double *", values.ctypes.data), values.size, options, charged, error), error)


def _add(law: str, values: Any, ledger: Optional[Ledger], words: dict[str, Any]) -> Any:
    given = np.array(values, np.float64, order="C")
    found = np.empty(given.shape)
    _ask(lib.tacit_noise_add, ffi.cast("double *", found.ctypes.data), given, {"law": law, **words}, ledger)
    if law.startswith("discrete"):
        found = found.astype(np.int64)
    return found[()] if found.ndim == 0 else found


def laplace(values: Any, *, sensitivity: float, epsilon: float, unit: Unit = "record", ledger: Optional[Ledger] = None,
            seed: Optional[int] = None) -> Any:
    """Numbers with Laplace noise; `sensitivity` in the L1 norm. Costs epsilon."""
    return _add("laplace", values, ledger, {"sensitivity": sensitivity, "epsilon": epsilon, "unit": unit, "seed": seed})


def gamma_norm(values: Any, *, sensitivity: float, epsilon: float, unit: Unit = "record", ledger: Optional[Ledger] = None,
               seed: Optional[int] = None) -> Any:
    """Numbers with noise whose density falls with its Euclidean length; `sensitivity` in the L2 norm. Costs epsilon."""
    return _add("gamma-norm", values, ledger, {"sensitivity": sensitivity, "epsilon": epsilon, "unit": unit, "seed": seed})


def gaussian(values: Any, *, sensitivity: float, epsilon: float, delta: float, unit: Unit = "record", ledger: Optional[Ledger] = None,
             seed: Optional[int] = None) -> Any:
    """Numbers with Gaussian noise, calibrated exactly; `sensitivity` in the L2 norm. Costs epsilon and delta."""
    return _add("gaussian", values, ledger, {"sensitivity": sensitivity, "epsilon": epsilon, "delta": delta, "unit": unit, "seed": seed})


def discrete_laplace(values: Any, *, sensitivity: int, epsilon: float, unit: Unit = "record", ledger: Optional[Ledger] = None,
                     seed: Optional[int] = None) -> Any:
    """Counts with two-sided geometric noise; `sensitivity` in the L1 norm. Costs epsilon."""
    return _add("discrete-laplace", values, ledger, {"sensitivity": sensitivity, "epsilon": epsilon, "unit": unit, "seed": seed})


def discrete_gaussian(values: Any, *, sensitivity: float, epsilon: float, delta: float, unit: Unit = "record",
                      ledger: Optional[Ledger] = None, seed: Optional[int] = None) -> Any:
    """Counts with discrete Gaussian noise; `sensitivity` in the L2 norm. Costs epsilon and delta."""
    return _add("discrete-gaussian", values, ledger,
                {"sensitivity": sensitivity, "epsilon": epsilon, "delta": delta, "unit": unit, "seed": seed})


def choose(scores: Any, *, sensitivity: float, epsilon: float, delta: float = 0.0, monotone: bool = False,
           rule: Literal["permute-and-flip", "exponential", "noisy-max"] = "permute-and-flip", unit: Unit = "record",
           ledger: Optional[Ledger] = None, seed: Optional[int] = None) -> int:
    """Which candidate has a high score, from 0; `sensitivity` is that of each score, and `monotone` a promise that replacing a record
    moves all of them up or all down. Costs epsilon; `delta` is charged, too, where what the candidates were made by has one."""
    given = np.ascontiguousarray(scores, np.float64).reshape(-1)
    chosen = ffi.new("size_t *")
    _ask(lib.tacit_noise_choose, chosen, given, {"rule": rule, "sensitivity": sensitivity, "epsilon": epsilon, "delta": delta,
                                                 "monotone": monotone or None, "unit": unit, "seed": seed}, ledger)
    return int(chosen[0])
