"""Exact regression by a formula, with standard errors: what `estimate` computes, of one owner's rows."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from tacit import _errors
from tacit._call import Settings, text_of
from tacit._frame import Bounds, Frame
from tacit.model import Model
from tacit.simulation import simulate

_FAMILIES = ("binomial", "gaussian", "poisson")
_NAME = re.compile(r"`([^`]+)`|(?<![\w.])([A-Za-z.][\w.]*)(?!\s*\()(?![\w.])")


def _columns(data: Any) -> dict[str, Any]:
    """The columns by name; values as arrays."""
    if hasattr(data, "columns"):
        return {str(name): data[name] for name in data.columns}
    if isinstance(data, Mapping):
        return {str(name): values for name, values in data.items()}
    raise _errors.UsageError("data is a DataFrame, or a mapping of columns by name")


def _is_text(values: Any) -> bool:
    dtype = getattr(values, "dtype", None)
    return str(dtype) == "category" or np.asarray(values).dtype.kind in "OUSb"


def _missing(values: Any) -> np.ndarray:
    array = np.asarray(values, object) if _is_text(values) else np.asarray(values, np.float64)
    if array.dtype == object:
        return np.array([value is None or (value != value) is not False for value in array], bool)
    return np.isnan(array)


def _levels(values: Any, missing: np.ndarray) -> list[str]:
    """Those of a category in its order; of texts in theirs."""
    if hasattr(values, "cat"):
        return [str(level) for level in values.cat.categories]
    return sorted({str(value) for value, gone in zip(np.asarray(values, object), missing) if not gone})


def _codes(values: Any, levels: Sequence[str], name: str) -> np.ndarray:
    place = {level: float(k) for k, level in enumerate(levels)}
    try:
        return np.array([np.nan if gone else place[str(value)]
                         for value, gone in zip(np.asarray(values, object), _missing(values))])
    except KeyError as strange:
        raise _errors.InputError(f"the column {name!r} has the level {strange}, which the model does not know: {', '.join(levels)}") from None


class Regression:
    """A regression that was fitted: coefficients with standard errors and tests, deviance, AIC. Exact, and promises nothing.

    ``table`` has a dict for each coefficient (``name``, ``estimate``, ``error``, ``statistic``, ``p``), ``summary`` all figures as the
    model's document has them; ``model`` is the :class:`tacit.Model`, whose inputs are the columns, categories as their numbers from 0.
    """

    def __init__(self, model: Model, formula: str, columns: Sequence[str], levels: Mapping[str, Sequence[str]], rows: int,
                 written: Optional[Mapping[str, str]] = None) -> None:
        self.model, self.formula, self.nobs = model, formula, rows
        self._written = dict(written or {})
        self._columns, self._levels = list(columns), {name: list(known) for name, known in levels.items()}
        self.summary: dict[str, Any] = model.document["summary"]
        self.table = [{**row, "name": self._called(row["name"])} for row in self.summary["coefficients"]]

    def _called(self, name: str) -> str:
        """As R calls it: factor(stage)2 is the third level of stage."""
        for column, levels in self._levels.items():
            for written in (f"factor({column})", f"factor(`{column}`)"):
                name = re.sub(re.escape(written) + r"(\d+)", lambda found: column + levels[int(found[1])], name)
        for text, shown in self._written.items():
            name = name.replace(text, shown)
        return name

    @property
    def coefficients(self) -> dict[str, float]:
        return {row["name"]: row["estimate"] for row in self.table}

    @property
    def errors(self) -> dict[str, float]:
        """Standard errors."""
        return {row["name"]: row["error"] for row in self.table}

    @property
    def aic(self) -> float:
        return float(self.summary["aic"])

    @property
    def deviance(self) -> float:
        return float(self.summary["deviance"])

    def predict(self, data: Any) -> np.ndarray:
        """The mean of each row: of two classes, the probability of the second."""
        given = _columns(data)
        lacking = [name for name in self._columns if name not in given]
        if lacking:
            raise _errors.UsageError(f"the rows lack the model's columns {', '.join(lacking)}")
        rows = np.column_stack([_codes(given[name], self._levels[name], name) if name in self._levels
                                else np.asarray(given[name], np.float64) for name in self._columns])
        scores = self.model.scores(Frame(rows, names=self._columns))
        return scores[:, -1]

    def frame(self) -> Any:
        """The table of coefficients as one of pandas."""
        import pandas
        return pandas.DataFrame(self.table).set_index("name")

    def _repr_html_(self) -> str:
        from tacit._html import table
        return table(("", "estimate", "error", "statistic", "p"),
                     ([row[name] for name in ("name", "estimate", "error", "statistic", "p")] for row in self.table))

    def __repr__(self) -> str:
        lines = [f"{'':24} {'estimate':>12} {'error':>12} {'p':>10}"]
        lines += [f"{row['name']:24} {row['estimate']:12.5g} {row['error']:12.5g} {row['p']:10.4g}" for row in self.table]
        return "\n".join([self.formula, *lines, f"{self.nobs} rows; exact, no differential privacy."])


def _with_factors(side: str, texts: Sequence[str]) -> str:
    """The formula with its categories, which the library is given as numbers, named so."""
    def one(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in texts:
            return found[0]
        return f"factor({found[0]})"
    for name in texts:
        side = re.sub(rf"factor\(\s*(`?{re.escape(name)}`?)\s*\)", r"\1", side)
    return _NAME.sub(one, side)


def _numbers_as_factors(side: str, numbers: Mapping[str, np.ndarray]) -> tuple[str, dict[str, str]]:
    """factor(x) of a number has the values of the rows as levels, as in R; and how it is then written, to be called as it was."""
    written: dict[str, str] = {}
    for name, values in numbers.items():
        found = re.search(rf"factor\(\s*`?{re.escape(name)}`?\s*\)", side)
        if found is None:
            continue
        levels = ", ".join(text_of(float(value)) for value in np.unique(values))
        text = f"factor({name}, levels = c({levels}))"
        written[text] = f"factor({name})"
        side = side.replace(found[0], text)
    return side, written


def _response(values: Any, family: str, classes: Optional[Sequence[Any]]) -> tuple[Any, dict[str, Any]]:
    if family == "binomial":
        known = list(classes) if classes is not None else list(np.unique(np.asarray(values)))
        if len(known) != 2:
            raise _errors.UsageError(f"family binomial is for two classes, and there are {len(known)}")
        label = np.array([known.index(value) if value in known else -1 for value in np.asarray(values, object)], np.int32)
        if (label < 0).any():
            raise _errors.InputError(f"a row has a class that is none of {known!r}")
        return label, {"classes": known}
    numbers = np.asarray(values, np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    return numbers, {"response": (0.0 if family == "poisson" else low, high if high > low else low + 1), "counts": family == "poisson"}


def glm(formula: str, data: Any, family: str = "binomial", *, classes: Optional[Sequence[Any]] = None, weights: Optional[str] = None,
        offset: Optional[str] = None, subset: Optional[str] = None, bounds: Union[None, Mapping[str, tuple[float, float]]] = None,
        lam: float = 0.0, settings: Settings = None, threads: Optional[int] = None) -> Regression:
    """Fit a generalised linear model to the rows of `data`, exactly, as R's ``glm`` does; the numbers are those of method ``estimate``.

    `formula` is R's (docs/terms.md): interactions, splines, ``log``, ``offset(...)``, ``0 +``. Columns of texts and pandas' categories have
    treatment contrasts to their first level. `weights` names a column of numbers above 0, `offset` is an expression. Rows in which a column of
    the formula is missing are left out. `bounds` of columns matter to splines and polynomials, whose knots lie between them; the rows' own by
    default. There is no noise, so nothing is promised and no ledger is charged.

    >>> import numpy as np, tacit
    >>> age = np.tile(np.arange(20.0, 80.0), 5)
    >>> data = {"age": age, "ill": (age + 40 * np.sin(age * 1.7)) > 50}
    >>> fit = tacit.glm("ill ~ age", data)
    >>> list(fit.coefficients), fit.nobs
    (['(Intercept)', 'age'], 300)
    """
    if family not in _FAMILIES:
        raise _errors.UsageError(f"family is one of {', '.join(_FAMILIES)}, not {family!r}")
    left, tilde, side = formula.partition("~")
    given, label = _columns(data), left.strip().strip("`")
    if not tilde or label not in given:
        raise _errors.UsageError(f"the left side of the formula must be a column, as in 'y ~ x': {left.strip()!r} is none")
    side += "".join(f" + {call}({what})" for call, what in (("offset", offset), ("weights", weights)) if what is not None)
    named = {found[1] or found[2] for found in _NAME.finditer(side + " " + (subset or ""))}
    used = [name for name in given if name != label and (name in named or "." in named)]
    gone = np.any([_missing(given[name]) for name in [label, *used]], axis=0)
    texts = [name for name in used if _is_text(given[name])]
    levels = {name: _levels(given[name], gone) for name in texts}
    rows = np.column_stack([_codes(given[name], levels[name], name) if name in levels else np.asarray(given[name], np.float64)
                            for name in used])[~gone] if used else np.zeros((int((~gone).sum()), 1))
    y, meaning = _response(np.asarray(given[label], object if _is_text(given[label]) else None)[~gone], family, classes)
    limits: Bounds = _limits(rows, used, levels, bounds or {})
    if "." in named:
        side = re.sub(r"(?<![\w.])\.(?![\w.])", "(" + " + ".join(f"`{name}`" for name in used) + ")", side)
    side, written = _numbers_as_factors(side, {name: rows[:, k] for k, name in enumerate(used) if name not in levels})
    frame = Frame(rows, y, bounds=limits, names=used, **meaning)
    found = simulate(frame, methods="estimate", parties=1, test=frame, seed=1, lam=lam or None, settings=settings, threads=threads,
                     terms="~" + _with_factors(side, texts), subset=subset).model
    if found is None:
        raise _errors.UsageError("these settings make no single model")
    return Regression(found, formula, used, levels, len(rows), written)


def _limits(rows: np.ndarray, names: Sequence[str], levels: Mapping[str, Sequence[str]],
            bounds: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    found = {}
    for k, name in enumerate(names):
        if name in bounds:
            found[name] = bounds[name]
        elif name in levels:
            found[name] = (0.0, float(max(len(levels[name]) - 1, 1)))
        else:
            low, high = float(rows[:, k].min()), float(rows[:, k].max())
            found[name] = (low, high) if low < high else (low - max(1.0, abs(low)), high + max(1.0, abs(high)))
    return found
