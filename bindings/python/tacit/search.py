"""Tuning that is paid for: a choice among settings of a private estimator, private itself.

Proof note. Rows are put into K + 1 parts of equal size by a draw that does not look at them. Candidate i of K is fitted to part i alone, by
an (e, d)-DP method; the last part counts how many of its rows each candidate's model gets right; permute-and-flip (docs/mechanisms.md) chooses at
epsilon e by these counts; only the choice leaves. Replace one row. If it is in part i <= K, the law of model i changes by (e, d) and nothing
else does: the choice is made of the models and of rows that did not change, which is post-processing. If it is in the last part, the models have
the same law, and each count changes by at most 1, the sensitivity of the choice, which costs e. A row is in one part, so the search costs
(e, d), however many candidates there are (parallel composition; Chaudhuri, Monteleoni and Sarwate 2011, Algorithm 3, whose choice is made by the
exponential mechanism). The best settings are then fitted to all rows at what is left of the price, and the two add up (basic composition).
"""
from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

import numpy as np

from tacit import _errors
from tacit.estimators import _PrivateClassifier, seed_of
from tacit.fitting import READ_OFF
from tacit.ledger import Ledger
from tacit.mechanisms import choose

_PRICES = ("epsilon", "delta", "ledger", "classes", "bounds", "norm", "random_state")


@dataclass(frozen=True)
class PrivateSearch:
    """What was chosen. ``epsilon`` and ``delta`` are what search and fit cost together, ``search_epsilon`` what the search cost of it."""

    best_params: dict[str, Any]
    best_estimator: Any
    candidates: int
    epsilon: float
    delta: float
    search_epsilon: float


def _check(estimator: Any, candidates: Sequence[Mapping[str, Any]], share: float, ledger: Optional[Ledger], y: Any) -> None:
    if not isinstance(estimator, _PrivateClassifier) or not hasattr(estimator, "ledger"):
        raise _errors.UsageError("private_search is for estimators that protect each row: PrivateLogisticRegression, PrivateStacking")
    if not 0 < share < 1:
        raise _errors.UsageError(f"share is the part of the price that the search takes, between 0 and 1, not {share!r}")
    for candidate in candidates:
        for name in candidate:
            if name in _PRICES:
                raise _errors.UsageError(f"{name} is no setting to choose: it is part of the price or of what is public")
    if ledger is None:
        return
    if estimator.classes is None and np.asarray(y).dtype.kind != "b":
        raise _errors.RefusedError(READ_OFF)
    if estimator.bounds is None and estimator.norm is None:
        raise _errors.RefusedError("a release must not depend on bounds that are read off the rows: give bounds or norm")
    for account in ledger.accounts:
        limit, left = account.get("limit"), account.get("remaining")
        if account["study"] is None and account["unit"] == "record" and limit and left and limit["delta"] == 0:
            if left["epsilon"] < estimator.epsilon * (1 - 1e-12):
                raise _errors.RefusedError(f"search and fit cost epsilon {estimator.epsilon:g} together, and {left['epsilon']:g} is left of "
                                           f"the limit of {ledger.source}: ask for less, or raise the limit")


def _take(rows: Any, index: np.ndarray) -> Any:
    return rows.iloc[index] if hasattr(rows, "iloc") else (rows if hasattr(rows, "tocsr") else np.asarray(rows))[index]


def private_search(estimator: Any, param_grid: Union[Mapping[str, Sequence[Any]], Sequence[Mapping[str, Sequence[Any]]]], X: Any, y: Any, *,
                   share: float = 0.3, ledger: Optional[Ledger] = None) -> PrivateSearch:
    """Choose settings of a private estimator, and fit it, at the estimator's epsilon and delta in all.

    `share` of the price goes to the search, whatever the number of candidates; the rest to the fit of all rows with what was chosen. Each
    candidate is fitted to its own part of the rows, so few candidates and many rows choose best. `ledger`, or that of the estimator, is charged
    for both, the choice before it is known.

    >>> import numpy as np, tacit
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(6000, 2))
    >>> private = tacit.PrivateLogisticRegression(epsilon=2.0, bounds=(0, 1), classes=[False, True])
    >>> found = tacit.private_search(private, {"lam": [1e-3, 1e3]}, X, X[:, 0] > X[:, 1])
    >>> found.best_params["lam"] in (1e-3, 1e3), found.epsilon, found.best_estimator.guarantee_["charged"]["epsilon"]
    (True, 2.0, 1.4)
    """
    from sklearn.model_selection import ParameterGrid
    candidates = list(ParameterGrid(param_grid))
    ledger = ledger if ledger is not None else getattr(estimator, "ledger", None)
    _check(estimator, candidates, share, ledger, y)
    seed = None if estimator.random_state is None else seed_of(estimator.random_state)
    order = np.random.default_rng(secrets.randbits(128) if seed is None else seed).permutation(len(y) if hasattr(y, "__len__") else 0)
    parts = np.array_split(order, len(candidates) + 1)
    if min(len(part) for part in parts) < 10:
        raise _errors.UsageError(f"{len(order)} rows are too few for {len(candidates)} candidates: each needs a part of its own")
    search = {"epsilon": share * estimator.epsilon, "delta": share * estimator.delta}
    usual = {**estimator.get_params(deep=False), "ledger": None}
    right = []
    for candidate, part in zip(candidates, parts):
        model = type(estimator)(**{**usual, **candidate, **search}).fit(_take(X, part), _take(y, part))
        right.append(float(np.sum(model.predict(_take(X, parts[-1])) == np.asarray(_take(y, parts[-1])))))
    chosen = candidates[choose(right, sensitivity=1, **search, ledger=ledger, seed=seed)]
    rest = {"epsilon": estimator.epsilon - search["epsilon"], "delta": estimator.delta - search["delta"]}
    best = type(estimator)(**{**usual, **chosen, **rest, "ledger": ledger}).fit(X, y)
    return PrivateSearch(dict(chosen), best, len(candidates), estimator.epsilon, estimator.delta, search["epsilon"])
