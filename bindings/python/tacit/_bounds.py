"""Bounds of columns by their names."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tacit import _errors


def by_column(bounds: Any, names: Sequence[Any] | None) -> Any:
    """``{"age": (18, 90)}`` as (lows, highs) in the order of the columns; anything else as it is."""
    if not isinstance(bounds, Mapping):
        return bounds
    if names is None:
        raise _errors.UsageError("bounds by name need names of the columns: give a DataFrame, or names=[...]")
    known = [str(name) for name in names]
    strange = [str(name) for name in bounds if str(name) not in known]
    if strange:
        raise _errors.UsageError(f"bounds are given of {strange[0]!r}, which is no column: there are {', '.join(known)}")
    given = {str(name): pair for name, pair in bounds.items()}
    lacking = [name for name in known if name not in given]
    if lacking:
        raise _errors.UsageError(f"bounds lack {', '.join(lacking)}: give (low, high) of each column, known without looking at the rows")
    pairs = []
    for name in known:
        pair = given[name]
        if isinstance(pair, (str, bytes)) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise _errors.UsageError(f"bounds of {name!r} are (low, high), not {pair!r}")
        pairs.append((float(pair[0]), float(pair[1])))
    return [low for low, _ in pairs], [high for _, high in pairs]
