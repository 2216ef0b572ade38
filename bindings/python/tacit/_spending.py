"""A word before scikit-learn's searches spend a ledger."""
from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any, Optional

from tacit import _errors

_DEEPEST = 60


def _callers() -> Iterator[FrameType]:
    frame: Optional[FrameType] = sys._getframe(2)
    for _ in range(_DEEPEST):
        if frame is None:
            return
        yield frame
        frame = frame.f_back


def _search_begun() -> Optional[dict[str, Any]]:
    """The variables of a search's fit that clones its estimator for the first time, if that is what is going on."""
    selection = sys.modules.get("sklearn.model_selection._search")
    if selection is None:
        return None
    for frame in _callers():
        if frame.f_code.co_name == "fit" and isinstance(frame.f_locals.get("self"), selection.BaseSearchCV):
            return None if "base_estimator" in frame.f_locals else frame.f_locals
    return None


def _candidates(search: Any) -> Optional[list[dict[str, Any]]]:
    from sklearn.model_selection import ParameterGrid
    if hasattr(search, "param_grid"):
        return list(ParameterGrid(search.param_grid))
    return [{}] * search.n_iter if hasattr(search, "n_iter") else None


def warn_of_search(ledger: Any) -> None:
    """Say what the search will spend of the ledger, whose copy an estimator is about to get."""
    begun = _search_begun()
    if begun is None:
        return
    from sklearn.base import is_classifier
    from sklearn.model_selection import check_cv
    search = begun["self"]
    parameters = search.estimator.get_params()
    prefix = next((name[:-len("ledger")] for name, value in parameters.items() if name.endswith("ledger") and value is ledger), "")
    usual = parameters.get(prefix + "epsilon")
    candidates = _candidates(search)
    name = type(search).__name__
    if usual is None or candidates is None:
        text = f"{name} charges {ledger.source} for every model that it fits"
    else:
        splits = check_cv(search.cv, begun.get("y"), classifier=is_classifier(search.estimator)).get_n_splits(
            begun.get("X"), begun.get("y"), begun.get("groups"))
        prices = [float(candidate.get(prefix + "epsilon", usual)) for candidate in candidates]
        total = splits * sum(prices) + (max(prices) if search.refit else 0)
        fits = splits * len(candidates) + (1 if search.refit else 0)
        text = (f"{name} fits {fits} models ({len(candidates)} candidates, {splits} splits{', and the best again' if search.refit else ''}), "
                f"each charged to {ledger.source}: epsilon {total:g} in all")
    warnings.warn(f"{text}; its scores and its choice are not private. tacit.private_search pays for tuning once",
                  _errors.PrivacyWarning, stacklevel=3)
