"""What many releases on the same rows cost together.

>>> import tacit
>>> from tacit.accounting import Gaussian, Pure
>>> spent = tacit.compose([Gaussian(sigma=4, count=10000, sampling=0.01)], delta=1e-5, adjacency="add-or-remove")
>>> round(spent.epsilon, 4), spent.by
(0.9469, 'PLD')
>>> round(tacit.compose([0.5, 0.5], delta=0).epsilon, 9)  # prices by themselves: epsilon, or (epsilon, delta)
1.0
"""
from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, Optional, Union

from tacit import _errors
from tacit._call import document, options_of, text_of
from tacit._native import lib
from tacit.model import Model

__all__ = ["Approximate", "Event", "Gaussian", "Laplace", "Pure", "Spending", "ZCDP", "compose"]


@dataclass(frozen=True)
class Gaussian:
    """Gaussian noise of standard deviation `sigma` times the L2 sensitivity, `count` times, each on a Poisson sample of the rows if
    `sampling` is below 1. `replaced`: the sensitivity is that under replacement."""

    sigma: float
    count: int = 1
    sampling: float = 1.0
    replaced: bool = False


@dataclass(frozen=True)
class Laplace:
    """Laplace noise of `scale` times the L1 sensitivity."""

    scale: float
    count: int = 1
    sampling: float = 1.0
    replaced: bool = False


@dataclass(frozen=True)
class Pure:
    """Anything that is epsilon-DP."""

    epsilon: float
    count: int = 1
    sampling: float = 1.0
    replaced: bool = False


@dataclass(frozen=True)
class Approximate:
    """Anything that is (epsilon, delta)-DP."""

    epsilon: float
    delta: float
    count: int = 1
    sampling: float = 1.0
    replaced: bool = False


@dataclass(frozen=True)
class ZCDP:
    """Anything that is rho-zCDP; no samples."""

    rho: float
    count: int = 1
    replaced: bool = False


Event = Union[Gaussian, Laplace, Pure, Approximate, ZCDP]


@dataclass(frozen=True)
class Spending:
    """What releases cost together: (epsilon, delta), by the accountant that proves the least; ``accountants`` is what each proves, None
    where one does not apply."""

    epsilon: float
    delta: float
    by: str
    accountants: dict[str, Optional[float]]


def _event(one: Any) -> Event:
    """A price is about a replaced record or party; so is that of a model."""
    if isinstance(one, (Gaussian, Laplace, Pure, Approximate, ZCDP)):
        return one
    if isinstance(one, Model):
        charged = one.guarantee.get("charged")
        if not one.guarantee.get("private") or not charged:
            raise _errors.UsageError("a model that is not private has no price to compose")
        one = (charged["epsilon"], charged["delta"])
    if isinstance(one, (int, float)):
        one = (one, 0.0)
    if not isinstance(one, tuple) or len(one) != 2:
        raise _errors.UsageError(f"an event, an epsilon, (epsilon, delta) or a private model is wanted, not {one!r}")
    epsilon, delta = float(one[0]), float(one[1])
    return Approximate(epsilon, delta, replaced=True) if delta > 0 else Pure(epsilon, replaced=True)


def _text(event: Event) -> str:
    return " ".join([type(event).__name__.lower(), *(f"{name}={text_of(value)}" for name, value in vars(event).items())])


def compose(events: Iterable[Any], *, delta: Optional[float] = None, epsilon: Optional[float] = None,
            adjacency: Literal["replace", "add-or-remove"] = "replace") -> Spending:
    """What `events` cost together on the same rows: the least epsilon at `delta`, or the least delta at `epsilon`.

    An event is one of :class:`Gaussian`, :class:`Laplace`, :class:`Pure`, :class:`Approximate`, :class:`ZCDP`; or a price under
    replacement, epsilon or (epsilon, delta); or a private :class:`tacit.Model`. Kinds and counts must not depend on the rows, nor on
    earlier answers (docs/accounting.md). Every number is an upper bound.
    """
    found = [_event(one) for one in events]
    if not found:
        raise _errors.UsageError("there are no events")
    if adjacency == "add-or-remove" and any(event.replaced for event in found):
        raise _errors.UsageError("a price of a replaced record says nothing about one that is added or removed: leave out adjacency=")
    options = options_of({"adjacency": adjacency, "delta": delta, "epsilon": epsilon})
    for event in found:
        error = _errors.new_error()
        _errors.check(lib.tacit_options_set(options, b"event", _text(event).encode(), error), error)
    told = document(lib.tacit_compose_document, options)
    each = {name: None if value is None else float(value) for name, value in told["accountants"].items()}
    return Spending(float(told["epsilon"]), float(told["delta"]), told["by"], each)
