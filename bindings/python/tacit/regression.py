"""Exact regression by a formula, with standard errors: what `estimate`, `cox` and `mixed` compute, of one owner's rows."""
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from tacit import _errors
from tacit._call import Settings, text_of
from tacit._frame import Frame
from tacit._table import level_text
from tacit.model import Model
from tacit.simulation import simulate

_FAMILIES = ("binomial", "gaussian", "poisson")
_NAME = re.compile(r"`([^`]+)`|(?<![\w.])([A-Za-z.][\w.]*)(?!\s*\()(?![\w.])")
_TIMES = re.compile(r"\s*[Ss]urv\((.*)\)\s*")
_CLUSTER = re.compile(r"(?<![\w.])cluster\(\s*`?([^`()]+?)`?\s*\)")
_STRATA = re.compile(r"(?<![\w.])strata\(([^()]*)\)")
_GROUP = re.compile(r"\|\s*`?([^`()|+]+?)`?\s*\)")


def _columns(data: Any) -> dict[str, Any]:
    """The columns by name; values as arrays."""
    if hasattr(data, "columns"):
        names = [str(name) for name in data.columns]
        twice = [name for place, name in enumerate(names) if name in names[:place]]
        if twice:
            raise _errors.InputError(f"two columns are called {twice[0]!r}: rename one")
        return dict(zip(names, (data[name] for name in data.columns)))
    if isinstance(data, Mapping):
        return {str(name): values for name, values in data.items()}
    raise _errors.UsageError("data is a DataFrame, or a mapping of columns by name")


class _Column:
    """A column as R takes it: numbers, NaN where missing; or texts, None where missing, with their levels, if these have an order."""

    def __init__(self, name: str, values: Any) -> None:
        dtype = getattr(values, "dtype", None)
        self.order: Optional[list[str]] = None
        if hasattr(dtype, "categories"):
            self.order = [self._text(level) for level in dtype.categories]
            codes = np.asarray(values.cat.codes if hasattr(values, "cat") else values.codes)
            self.values = np.array([None if code < 0 else self.order[code] for code in codes], object)
        elif hasattr(dtype, "numpy_dtype") and getattr(dtype, "kind", "O") in "biuf":  # of pandas, with a mask
            kind = object if dtype.kind == "b" else np.float64
            self._take(name, values.to_numpy(kind, na_value=None if dtype.kind == "b" else np.nan))
        else:
            self._take(name, np.asarray(values))

    def _take(self, name: str, array: np.ndarray) -> None:
        if array.ndim != 1:
            raise _errors.InputError(f"column {name!r} has {array.ndim} dimensions: give each of its columns by itself")
        if array.dtype.kind == "M":  # R's dates are days since 1970
            self.values: np.ndarray = np.where(np.isnat(array), np.nan, array.astype("datetime64[D]").astype(np.int64).astype(np.float64))
        elif array.dtype.kind in "iuf":
            self.values = array.astype(np.float64)
        elif array.dtype.kind in "bOUS":
            self._take_objects(name, array.tolist())
        else:
            raise _errors.InputError(f"column {name!r} is of type {array.dtype}: convert it to numbers, texts, categories or dates, or leave it out")
        if self.is_number and np.isinf(self.values).any():
            row = int(np.flatnonzero(np.isinf(self.values))[0]) + 1
            raise _errors.InputError(f"column {name!r} is infinite in row {row}: make it a number, or NaN for a missing value")

    def _take_objects(self, name: str, values: list[Any]) -> None:
        known = [None if value is None or (value != value) is not False else value for value in values]
        present = [value for value in known if value is not None]
        if present and all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in present):
            self.values = np.array([np.nan if value is None else float(value) for value in known])
            return
        for row, value in enumerate(known):
            if value is not None and not isinstance(value, (str, bytes, bool)):
                raise _errors.InputError(f"column {name!r} has {value!r} in row {row + 1}, beside texts: make them all numbers, or all texts")
        self.values = np.array([None if value is None else self._text(value) for value in known], object)

    @staticmethod
    def _text(value: Any) -> str:
        """As R shows it."""
        if isinstance(value, (bool, np.bool_)):
            return "TRUE" if value else "FALSE"
        return value.decode() if isinstance(value, bytes) else level_text(value)

    @property
    def is_number(self) -> bool:
        return self.values.dtype != object

    @property
    def missing(self) -> np.ndarray:
        return np.isnan(self.values) if self.is_number else np.array([value is None for value in self.values], bool)

    def levels(self, there: np.ndarray) -> list[str]:
        """Those of these rows, of a category in its order; the first is R's reference."""
        found = {value for value, use in zip(self.values, there) if use}
        return [level for level in self.order if level in found] if self.order is not None else sorted(found)


class Regression:
    """A regression that was fitted: coefficients with standard errors and tests, deviance, AIC. Exact, and promises nothing.

    ``table`` has a dict for each coefficient (``name``, ``estimate``, ``error``, ``statistic``, ``p``), ``summary`` all figures as the
    model's document has them; ``model`` is the :class:`tacit.Model`, whose inputs are the columns as they are, categories included. ``random`` has
    the variances of random effects, where the formula has such.
    """

    def __init__(self, model: Model, formula: str, columns: Sequence[str], levels: Mapping[str, Sequence[str]],
                 written: Optional[Mapping[str, str]] = None) -> None:
        self.model, self.formula = model, formula
        self._columns, self._levels = list(columns), {name: list(known) for name, known in levels.items()}
        self.summary: dict[str, Any] = model.document["summary"] if model.document["kind"] != "report" else _mixed_summary(model.document["report"])
        self.nobs = int(self.summary["rows"])
        self.table = [{**row, "name": self._called(row["name"], written or {})} for row in self.summary["coefficients"]]

    @staticmethod
    def _called(name: str, written: Mapping[str, str]) -> str:
        """As R calls it."""
        for text, shown in written.items():
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
    def random(self) -> dict[str, dict[str, float]]:
        """Variance, standard deviation and correlation of each random effect, and of what remains."""
        return dict(self.summary.get("random", {}))

    @property
    def aic(self) -> float:
        return float(self.summary["aic"])

    @property
    def deviance(self) -> float:
        return float(self.summary["deviance"])

    def predict(self, data: Any) -> np.ndarray:
        """The mean of each row: of two classes, the probability of the second; of times, how many times the baseline's its hazard is."""
        if self.random:
            raise _errors.UsageError("a regression with random effects is a report, and makes no predictions: compute them from its coefficients")
        given = _columns(data)
        lacking = [name for name in self._columns if name not in given]
        if lacking:
            raise _errors.UsageError(f"the rows lack the model's columns {', '.join(lacking)}")
        columns = {name: _Column(name, given[name]) for name in self._columns}
        for name, column in columns.items():
            if name in self._levels:
                self._check_levels(name, column)
            elif not column.is_number:
                raise _errors.InputError(f"column {name!r} has texts, and the model's are numbers: convert it")
        if not columns:
            columns = {"(none)": _Column("(none)", np.zeros(max(map(len, given.values()), default=1)))}
        return self.model.scores(Frame.table({name: column.values for name, column in columns.items()}))[:, -1]

    def _check_levels(self, name: str, column: _Column) -> None:
        levels = self._levels[name]
        if column.is_number:
            raise _errors.InputError(f"column {name!r} has numbers, and the model's levels are texts: {', '.join(levels)}")
        strange = [value for value in column.values if value is not None and value not in levels]
        if strange:
            raise _errors.InputError(f"the column {name!r} has the level {strange[0]!r}, which the model does not know: {', '.join(levels)}")

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


def _mixed_summary(report: Mapping[str, Any]) -> dict[str, Any]:
    """The report of random effects as a summary: the fixed ones are its coefficients."""
    tables = {table["name"]: {row["label"]: dict(zip(table["columns"], row["values"])) for row in table["rows"]} for table in report["tables"]}
    facts = {fact["name"]: fact.get("number") for fact in report["facts"]}
    return {"rows": report["rows"], "coefficients": [{"name": name, "statistic": row["z"], **row} for name, row in tables["fixed"].items()],
            "random": tables["random"], "aic": facts.get("AIC"), "deviance": facts.get("deviance", facts.get("REML criterion")), "log_likelihood": facts["log-likelihood"],
            "groups": facts["groups"]}


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


def _response(name: str, values: Any, family: str, classes: Optional[Sequence[Any]], there: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
    """The label's column, and how the schema describes it."""
    column = _Column(name, values)
    if family == "binomial":
        texts = np.array([None if gone else _Column._text(value) for value, gone in zip(column.values, column.missing)], object)
        known = ([_Column._text(value) for value in classes] if classes is not None else column.levels(there) if not column.is_number
                 else [_Column._text(value) for value in np.unique(column.values[there])])
        if len(known) != 2:
            raise _errors.UsageError(f"family binomial is for two classes, and there are {len(known)}")
        strange = [value for value in texts if value is not None and value not in known]
        if strange:
            raise _errors.InputError(f"a row has the class {strange[0]!r}, which is none of {known!r}")
        return texts, {"name": name, "classes": known}
    if not column.is_number:
        raise _errors.InputError(f"the response {name!r} has texts, and family {family} is for numbers: convert it, or use family='binomial'")
    numbers = column.values[there]
    low, high = (float(numbers.min()), float(numbers.max())) if len(numbers) else (0.0, 1.0)
    if family == "poisson" and (low < 0 or (numbers != np.rint(numbers)).any()):
        raise _errors.InputError(f"the response {name!r} has numbers that count nothing: family poisson is for whole numbers from 0 on")
    return column.values, {"name": name, "kind": "count" if family == "poisson" else "number", "low": 0.0 if family == "poisson" else low,
                           "high": high if high > low else low + 1}


class _Asked:
    """What a formula asks for: columns of the response, strata, whose rows belong together, and which method computes it."""

    def __init__(self, formula: str, given: Mapping[str, Any]) -> None:
        left, tilde, self.side = formula.partition("~")
        times = _TIMES.fullmatch(left)
        self.response = [name.strip().strip("`") for name in (times[1].split(",") if times else [left])]
        if not tilde or any(name not in given for name in self.response):
            lacking = next((name for name in self.response if name not in given), left.strip())
            raise _errors.UsageError(f"the left side of the formula must be a column, as in 'y ~ x', or 'surv(time, event) ~ x': {lacking!r} is none")
        if times and len(self.response) not in (2, 3):
            raise _errors.UsageError("times are written surv(time, event), or surv(entry, time, event)")
        self.strata = [name.strip().strip("`") for found in _STRATA.finditer(self.side) for name in found[1].split(",")]
        groups = {found[1].strip() for found in [*_CLUSTER.finditer(self.side), *_GROUP.finditer(self.side)]}
        if len(groups) > 1:
            raise _errors.UsageError(f"rows belong together by one column, and the formula has {' and '.join(sorted(groups))}")
        self.person: Optional[str] = next(iter(groups), None)
        if self.person is not None and self.person not in given:
            raise _errors.UsageError(f"the formula's group {self.person!r} is no column")
        random = _GROUP.search(self.side) is not None
        self.method = "mixed" if random else "cox" if times else "estimate"
        if random and times:
            raise _errors.UsageError("times until an event have no random effects here: use cluster() or strata()")

    def settings(self, given: Settings) -> dict[str, Any]:
        """cluster() asks for errors by cluster, as in R."""
        asked = dict(given or {})
        if self.person is not None and self.method != "mixed":
            asked.setdefault("errors", "cluster")
        return asked


def _times(names: Sequence[str], given: Mapping[str, Any], bounds: Mapping[str, tuple[float, float]], there: np.ndarray) -> tuple[dict[str, Any], dict[str, Any]]:
    """The columns of times and events, and how the schema describes them."""
    columns = {name: _Column(name, given[name]) for name in names}
    event = columns[names[-1]]
    if not event.is_number and set(event.values) - {None} <= {"TRUE", "FALSE"}:
        event.values = np.array([np.nan if value is None else float(value == "TRUE") for value in event.values])
    for name, column in columns.items():
        if not column.is_number:
            raise _errors.InputError(f"the column {name!r} of the response has texts: times and events are numbers")
    last = float(columns[names[-2]].values[there].max()) if there.any() else 1.0
    low, high = bounds.get(names[-2], (0.0, last if last > 0 else 1.0))
    return {name: column.values for name, column in columns.items()}, {"name": list(names), "kind": "time", "low": max(0.0, low), "high": high}


def _used_columns(asked: _Asked, given: Mapping[str, Any], named: set[str]) -> tuple[list[str], dict[str, _Column], np.ndarray]:
    """The formula's columns in their order, and which rows have all of them."""
    aside = [*asked.response, *([asked.person] if asked.person is not None else [])]
    used = [name for name in given if name not in aside and (name in named or "." in named)]
    if len({len(given[name]) for name in [*aside, *used]}) > 1:
        raise _errors.UsageError("a table has columns, all of one length")
    columns = {name: _Column(name, given[name]) for name in used}
    for name in asked.strata:
        if name not in columns:
            raise _errors.UsageError(f"strata({name}) needs the name of a column")
        if columns[name].is_number:  # its values are the levels
            columns[name].values = np.array([None if gone else _Column._text(value) for value, gone in zip(columns[name].values, columns[name].missing)], object)
    there = ~np.any([*(_Column(name, given[name]).missing for name in aside), *(column.missing for column in columns.values())], axis=0)
    if not there.any():
        gone = [name for name, column in columns.items() if column.missing.all()]
        raise _errors.InputError(f"column {gone[0]!r} has nothing but missing values: leave it out" if gone else "no row is complete: each lacks a value")
    return used, columns, there


def _with_person(given: dict[str, Any], asked: _Asked) -> dict[str, Any]:
    """The rows of which it is known whose they are."""
    if asked.person is None or len({len(values) for values in given.values()}) > 1:
        return given
    gone = _Column(asked.person, given[asked.person]).missing
    return {name: values[~gone] if hasattr(values, "dtype") else [one for one, away in zip(values, gone) if not away] for name, values in given.items()} if gone.any() else given


def _levels(columns: Mapping[str, _Column], there: np.ndarray) -> dict[str, list[str]]:
    levels = {name: column.levels(there) for name, column in columns.items() if not column.is_number}
    for name, known in levels.items():
        if len(known) < 2:
            raise _errors.InputError(f"column {name!r} has the level {known[0]!r} and no other: leave it out, or convert it to numbers")
    return levels


def glm(formula: str, data: Any, family: str = "binomial", *, classes: Optional[Sequence[Any]] = None, weights: Optional[str] = None,
        offset: Optional[str] = None, subset: Optional[str] = None, bounds: Union[None, Mapping[str, tuple[float, float]]] = None,
        lam: float = 0.0, settings: Settings = None, threads: Optional[int] = None) -> Regression:
    """Fit a generalised linear model to the rows of `data`, exactly, as R's ``glm`` does; the numbers are those of method ``estimate``.

    `formula` is R's (docs/terms.md): interactions, splines, ``log``, ``offset(...)``, ``0 +``. Columns of texts, truth values and pandas' categories
    are factors, with treatment contrasts to the first level that the rows have, and coefficients are called as R calls them (``stageII``,
    ``smokesTRUE``); dates are days since 1970. `weights` names a column of numbers above 0, `offset` is an expression. Rows in which a column of
    the formula is missing are left out. `bounds` of columns matter to splines and polynomials, whose knots lie between them; the rows' own by
    default. There is no noise, so nothing is promised and no ledger is charged.

    ``surv(time, event) ~ ...`` and ``surv(entry, time, event) ~ ...`` are Cox regressions, with ``strata(x)`` and the settings of method ``cox``;
    ``cluster(id)`` asks for errors by cluster; ``(1 | id)`` and ``(x | id)`` are random effects, by method ``mixed``, as lme4 has them.

    >>> import numpy as np, tacit
    >>> age = np.tile(np.arange(20.0, 80.0), 5)
    >>> data = {"age": age, "ill": (age + 40 * np.sin(age * 1.7)) > 50}
    >>> fit = tacit.glm("ill ~ age", data)
    >>> list(fit.coefficients), fit.nobs
    (['(Intercept)', 'age'], 300)
    """
    if family not in _FAMILIES:
        raise _errors.UsageError(f"family is one of {', '.join(_FAMILIES)}, not {family!r}")
    given = _columns(data)
    asked = _Asked(formula, given)
    given = _with_person(given, asked)
    side = asked.side + "".join(f" + {call}({what})" for call, what in (("offset", offset), ("weights", weights)) if what is not None)
    named = {found[1] or found[2] for found in _NAME.finditer(side + " " + (subset or ""))}
    used, columns, there = _used_columns(asked, given, named)
    levels = _levels(columns, there)
    if asked.method == "cox":
        response, about = _times(asked.response, given, bounds or {}, there)
    else:
        values, about = _response(asked.response[0], given[asked.response[0]], family, classes, there)
        response = {asked.response[0]: values}
    numbers = {name: column.values[there] for name, column in columns.items() if column.is_number}
    if "." in named:
        side = re.sub(r"(?<![\w.])\.(?![\w.])", "(" + " + ".join(f"`{name}`" for name in used if name not in asked.strata) + ")", side)
    side, written = _numbers_as_factors(side, numbers)
    if asked.method == "mixed":
        side = _GROUP.sub("| person)", side)
    schema = {"label": about, "missing": "complete-case", "strict": True, **({"person": asked.person} if asked.person is not None else {}), "columns": [
        {"name": name, "kind": "category", "levels": levels[name]} if name in levels else
        {"name": name, "kind": "number", **dict(zip(("low", "high"), _limits(numbers[name], (bounds or {}).get(name))))} for name in used]
        or [{"name": "(none)", "kind": "number", "low": -1, "high": 1}]}
    table = {name: column.values for name, column in columns.items()} or {"(none)": np.zeros(len(there))}
    if asked.person is not None:
        table[asked.person] = given[asked.person]
    frame = Frame.table({**response, **table}, schema=schema, terms="~" + side, subset=subset)
    found = simulate(frame, methods=asked.method, parties=1, test=frame, seed=1, lam=lam or None, settings=asked.settings(settings), threads=threads).model
    if found is None:
        raise _errors.UsageError("these settings make no single model")
    return Regression(found, formula, used, levels, written)


def _limits(numbers: np.ndarray, bounds: Optional[tuple[float, float]]) -> tuple[float, float]:
    if bounds is not None:
        return bounds
    low, high = float(numbers.min()), float(numbers.max())
    return (low, high) if low < high else (low - max(1.0, abs(low)), high + max(1.0, abs(high)))
