"""Rows for the library, where they lie: arrays of numpy and compressed sparse rows of scipy are read, not copied."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

import numpy as np

from tacit import _errors
from tacit._bounds import by_column
from tacit._call import Path, Progress, Task, options_of, path_of
from tacit._native import ffi, lib
from tacit._table import is_mixed, schema_text, table_of

Bounds = Union[None, str, tuple[Any, Any], Mapping[str, tuple[float, float]]]

_NUMBER_TYPES = {np.dtype(np.float64): lib.TACIT_NUMBER_DOUBLE, np.dtype(np.float32): lib.TACIT_NUMBER_FLOAT}
_INDEX_TYPES = {np.dtype(np.int32): lib.TACIT_INDEX_INT32, np.dtype(np.int64): lib.TACIT_INDEX_INT64}


def _address(array: np.ndarray, kind: str = "void *"):
    return ffi.cast(kind, array.__array_interface__["data"][0])


def _is_sparse(rows: Any) -> bool:
    return hasattr(rows, "tocsr") and hasattr(rows, "nnz")


def _names(names: Sequence[Any] | None, count: int, what: str):
    if names is None:
        return ffi.NULL, []
    if len(names) != count:
        raise _errors.UsageError(f"there are {count} {what} and {len(names)} names for them")
    kept = [ffi.new("char[]", str(name).encode()) for name in names]
    return ffi.new("char *[]", kept), kept


def unmasked(rows: Any) -> Any:
    """The rows, with NaN for what is masked."""
    if not isinstance(rows, np.ma.MaskedArray):
        return rows
    _check_numbers(rows.dtype)
    return np.ma.filled(rows.astype(np.float64), np.nan)


def _array(rows: Any) -> np.ndarray:
    """The rows as numbers; what pandas calls NA is NaN."""
    array = np.asarray(unmasked(rows))
    if array.dtype == object and hasattr(rows, "iloc") and hasattr(rows, "to_numpy"):
        for dtype in rows.dtypes if array.ndim > 1 else [rows.dtype]:
            _check_numbers(dtype)
        return rows.to_numpy(np.float64, na_value=np.nan)
    _check_numbers(array.dtype)
    return array


def _check_numbers(dtype: Any) -> None:
    if dtype.kind in "cMm":
        raise _errors.InputError(f"numbers are wanted, not {dtype}: make them real numbers, of time in a unit of your choice")


def _is_missing(label: Any) -> bool:
    differs = label is None or label != label
    return bool(differs) if isinstance(differs, (bool, np.bool_)) else True  # the answer of pandas.NA is pandas.NA


def absent(values: Any) -> np.ndarray:
    """Which of the labels or the like are missing."""
    array = np.asarray(values)
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values).reshape(-1)
    if array.dtype.kind == "O":
        return np.array([_is_missing(value) for value in array.flat], bool)
    if array.dtype.kind in "fcmM":
        return (array != array).reshape(-1)
    return np.zeros(array.size, bool)


def _whole_numbers(array: np.ndarray) -> np.ndarray:
    """Numbers as they were before some of them were missing, which made all of them fractions."""
    return array.astype(np.int64) if array.dtype.kind == "f" and (array == np.floor(array)).all() else array


def whole(values: Any, what: str) -> np.ndarray:
    """Labels or the like as an array, none of them missing."""
    array, missing = np.asarray(values), absent(values)
    if missing.any():
        raise _errors.InputError(f"the {what} of row {np.flatnonzero(missing)[0] + 1} is missing: leave such rows out")
    return array


class Frame:
    """Rows with what is public about them.

    Parameters
    ----------
    X : array, sparse matrix or DataFrame, rows by columns
        Numbers of 32 or 64 bits with any strides are read where they lie; so are compressed sparse rows of 64-bit numbers with
        sorted columns. Anything else is converted first. NaN is a missing value; so is what is masked, or NA in a DataFrame. Do not
        change the rows while the frame is in use.
    y : array, optional
        Labels: any values that can be sorted, unless `response` says that they are numbers. None may be missing.
    classes : sequence, optional
        The labels are already places in this list, 0 for its first; it is known without the rows. Without it the classes are those that
        the rows have (of truth values, both), which is NOT private: the model says so, and no ledger or study takes the frame.
    bounds : (low, high), a mapping such as {"age": (18, 90)}, or "data"
        Publicly known bounds of the columns, a number or one each, or by the columns' names. "data" reads them off the rows, which
        is NOT private.
    norm : float
        Instead of bounds: a publicly known length that no row exceeds (longer ones are shortened).
    intercept : bool
        Whether rows get a constant feature.
    response : (low, high), optional
        The labels are numbers within these public bounds.
    counts : bool
        With `response`: they are counts of something.
    event : array, optional
        With `response`: the labels are times, for the methods ``cox`` and ``survival-exact``, and this says of each whether the event was seen then
        (1) or not yet (0).
    entry : array, optional
        With `event`: since when each row is observed; from 0 on by default.
    groups : array, optional
        Which party has which row, for simulations.
    names : sequence of str, optional
        Of the columns; those of a DataFrame by default.
    complete : bool
        Whether a NaN is refused, before anything is charged, instead of being a missing value.
    like : Frame, optional
        What the labels mean is as there.

    >>> import numpy as np
    >>> frame = Frame(np.eye(3), ["no", "yes", "no"], bounds=(0, 1))
    >>> len(frame), frame.columns, list(frame.classes)
    (3, 3, ['no', 'yes'])
    """

    def __init__(self, X: Any, y: Any = None, *, classes: Optional[Sequence[Any]] = None, bounds: Bounds = None, norm: Optional[float] = None,
                 intercept: bool = True, response: Optional[tuple[float, float]] = None, counts: bool = False, event: Any = None,
                 entry: Any = None, groups: Any = None, names: Optional[Sequence[str]] = None, complete: bool = False, like: Optional[Frame] = None) -> None:
        self.classes: Optional[np.ndarray] = None if like is None else like.classes
        self.parties: Optional[np.ndarray] = None
        self._read_off = False if like is None else like._read_off  # whether the rows say which classes there are
        self._response = (*response, counts) if response is not None else None if like is None else like._response
        self._kept: list[Any] = []
        if names is None and hasattr(X, "columns") and hasattr(X, "dtypes"):
            names = [str(name) for name in X.columns]
        pointer = self._sparse(X) if _is_sparse(X) else self._dense(X)
        # The arrays live as long as the pointer does, which a call holds while it is made.
        self._pointer = ffi.gc(pointer, lambda frame, kept=self._kept, free=lib.tacit_frame_free: free(frame))
        if event is not None and (y is None or self._response is None):
            raise _errors.UsageError("events need times: give them as y, and their bounds as response=(low, high)")
        if event is not None:
            self._set_times(y, event, entry)
        elif y is not None and self._response is not None:
            self._set_response(y, *self._response)
        elif y is not None:
            self._set_classes(y, classes)
        if groups is not None:
            self._set_parties(groups)
        if bounds is not None or norm is not None:
            self._set_scale(by_column(bounds, names), norm, intercept)
        if complete:
            self._call(lib.tacit_frame_refuse_missing, self._pointer)
        if names is not None:
            array, kept = _names(names, self.columns, "columns")
            self._call(lib.tacit_frame_set_names, self._pointer, array)
            del kept

    @classmethod
    def load(cls, path: Path, *, schema: Optional[Path] = None, label: Optional[str] = None, progress: Optional[Progress] = None,
             **options: Any) -> Frame:
        """The rows of a file (CSV or LIBSVM, also compressed), a folder, or a query (``sqlite:PATH?QUERY``, ``postgres:CONNINFO?QUERY``).

        Further options are those of ``tacit simulate`` about reading: ``positive``, ``no_header``, ``response``, ``group``, ``terms``,
        ``subset``.
        """
        frame = cls._empty()
        given = options_of({"schema": schema if schema is None else str(schema), "label": label, **options})
        out, task = ffi.new("tacit_frame **"), Task(progress)
        task.run(lib.tacit_frame_load, out, path_of(path), given, task.progress(),
                 discard=lambda: lib.tacit_frame_free(out[0]))
        frame._pointer = ffi.gc(out[0], lib.tacit_frame_free)
        return frame

    @classmethod
    def table(cls, data: Any, *, schema: Union[Path, Mapping[str, Any], None] = None, label: Optional[str] = None,
              progress: Optional[Progress] = None, **options: Any) -> Frame:
        """A table of columns with names: numbers, texts, categories and dates, with missing values.

        `data` is a DataFrame, a mapping of names to arrays, an array with fields, or anything that speaks the Arrow C data interface
        (``__arrow_c_stream__`` or ``__arrow_c_array__``: tables of polars, pyarrow, DuckDB), which is read where it lies; so are numpy
        arrays and the codes of categories. A value becomes what the same one in a CSV file does: a truth value is 0 or 1, a date
        2024-02-29.

        To predict, or to join a study, a table needs nothing more. To fit or simulate say what is publicly known about its columns:
        `schema` is a file, or a mapping with the keys of such a file; the label is the column that it names. With a `label` alone, bounds and
        levels are read off the rows, which is NOT private. Further options: ``positive``, ``response``, ``group``, ``terms``, ``subset``.

        >>> frame = Frame.table({"age": [31, 48, 60], "ward": ["A", None, "B"], "ill": [True, False, True]}, label="ill")
        >>> frame
        <tacit.Frame of 3 rows, 3 columns>
        """
        frame = cls._empty()
        pointer = table_of(data, frame._kept)
        frame._pointer = ffi.gc(pointer, lambda freed, kept=frame._kept, free=lib.tacit_frame_free: free(freed))
        if schema is not None or label is not None or options:
            text = isinstance(schema, Mapping)
            given = options_of({"schema-text" if text else "schema": schema_text(schema) if text else None if schema is None else str(schema),
                                "label": label, **options})
            task = Task(progress)
            task.run(lib.tacit_frame_describe, frame._pointer, given, task.progress())
        return frame

    @classmethod
    def _empty(cls) -> Frame:
        frame = cls.__new__(cls)
        frame.classes = frame.parties = frame._response = None
        frame._read_off = False
        frame._kept = []
        return frame

    def __len__(self) -> int:
        return lib.tacit_frame_rows(self._pointer)

    @property
    def columns(self) -> int:
        """How many columns the rows have."""
        return lib.tacit_frame_columns(self._pointer)

    def __repr__(self) -> str:
        return f"<tacit.Frame of {len(self)} rows, {self.columns} columns>"

    def _call(self, function, *arguments) -> None:
        error = _errors.new_error()
        _errors.check(function(*arguments, error), error)

    def _keep(self, array: np.ndarray) -> np.ndarray:
        self._kept.append(array)
        return array

    def _dense(self, rows: Any):
        array = _array(rows)
        if array.ndim != 2:
            raise _errors.UsageError(f"rows and columns are wanted, not an array of {array.ndim} dimensions")
        if array.dtype not in _NUMBER_TYPES or not array.dtype.isnative or not array.flags.aligned:
            array = np.require(array, dtype=np.float64, requirements="A")
        self._keep(array)
        out = ffi.new("tacit_frame **")
        self._call(lib.tacit_frame_dense, out, _address(array), _NUMBER_TYPES[array.dtype], *array.shape, *array.strides)
        return out[0]

    def _sparse(self, rows: Any):
        matrix = rows.tocsr()
        _check_numbers(matrix.dtype)
        if not matrix.has_canonical_format:
            matrix = matrix.copy()
            matrix.sum_duplicates()
        index = np.int32 if matrix.indices.dtype == matrix.indptr.dtype == np.int32 else np.int64
        value = self._keep(np.require(matrix.data, np.float64, "CA"))
        column, start = (self._keep(np.require(part, index, "CA")) for part in (matrix.indices, matrix.indptr))
        out = ffi.new("tacit_frame **")
        self._call(lib.tacit_frame_sparse, out, _address(value, "double *"), _address(column), _address(start),
                   _INDEX_TYPES[np.dtype(index)], *matrix.shape)
        return out[0]

    def _column(self, values: Any, dtype: Any, what: str) -> np.ndarray:
        given = _array(values).reshape(-1)
        if len(given) != len(self):
            raise _errors.UsageError(f"there are {len(self)} rows and {len(given)} {what}")
        with np.errstate(invalid="ignore"):
            array = np.require(given, dtype, "CA")
        if array.dtype.kind == "i" and given.dtype != array.dtype:  # 0.9 is no place in a list, and 2^32 + 1 not its second
            strange = np.flatnonzero(given != array) if given.dtype.kind in "biufO" else [0]
            if len(strange) > 0:
                raise _errors.InputError(f"{what} are places in a list, from 0 on: {given[strange[0]]!r} in row {strange[0] + 1} is none")
        return self._keep(array)

    def _set_classes(self, y: Any, classes: Sequence[Any] | None) -> None:
        missing = absent(y)
        some = missing.any() and not missing.all()  # rows without a label are kept, for methods that learn from them
        given = _whole_numbers(np.asarray(y).reshape(-1)[~missing]) if some else y
        if classes is not None:
            self.classes, label = np.asarray(classes), given
        elif self.classes is None and np.asarray(given).dtype.kind == "b":
            self.classes, label = np.array([False, True]), whole(given, "label")
        elif self.classes is None:
            self.classes, label = encode(given)
            self._read_off = True
        else:
            label = places(given, self.classes)
        if some:
            known, label = label, np.full(len(missing), -1)
            label[~missing] = known
        label = self._column(label, np.int32, "labels")
        array, kept = _names(self.classes, len(self.classes), "classes")
        self._call(lib.tacit_frame_set_classes, self._pointer, _address(label, "int32_t *"), len(self.classes), array)
        del kept
        if self._read_off:
            self._mark_classes()

    def _mark_classes(self) -> None:
        """Have the frame, and the models made of it, say that its classes were read off the rows."""
        self._read_off = True
        self._call(lib.tacit_frame_mark_from_data, self._pointer, True, False)

    def _set_response(self, y: Any, low: float, high: float, counts: bool) -> None:
        response = self._column(y, np.float64, "responses")
        self._call(lib.tacit_frame_set_response, self._pointer, _address(response, "double *"), low, high, counts)

    def _set_times(self, y: Any, event: Any, entry: Any) -> None:
        time, seen = self._column(y, np.float64, "times"), self._column(event, np.int32, "events")
        since = ffi.NULL if entry is None else _address(self._column(entry, np.float64, "entries"), "double *")
        self._call(lib.tacit_frame_set_times, self._pointer, _address(time, "double *"), _address(seen, "int32_t *"), since,
                   *self._response[:2])

    def _set_parties(self, groups: Any) -> None:
        self.parties, party = encode(groups, "group")
        party = self._column(party, np.int32, "groups")
        self._call(lib.tacit_frame_set_parties, self._pointer, _address(party, "int32_t *"), len(self.parties))

    def _set_scale(self, bounds: Bounds, norm: float | None, intercept: bool) -> None:
        if bounds is not None and norm is not None:
            raise _errors.UsageError("give bounds or a norm, not both")
        if norm is not None:
            self._call(lib.tacit_frame_set_norm, self._pointer, float(norm), intercept)
        elif isinstance(bounds, str):
            if bounds != "data":
                raise _errors.UsageError(f"bounds are (low, high) or 'data', not {bounds!r}")
            self._call(lib.tacit_frame_set_bounds_from_data, self._pointer, intercept)
        else:
            low, high = (np.ascontiguousarray(np.broadcast_to(np.asarray(bound, np.float64), self.columns)) for bound in bounds)
            self._call(lib.tacit_frame_set_bounds, self._pointer, _address(low, "double *"), _address(high, "double *"), intercept)


def encode(values: Any, what: str = "label") -> tuple[np.ndarray, np.ndarray]:
    """The distinct values in order, and which of them each one is; `what` a value is, for people."""
    array = whole(values, what)
    if array.dtype.kind in "iu" and array.size > 0:
        low, high = int(array.min()), int(array.max())
        if high - low < min(array.size, 1 << 20):  # few values: counting beats sorting
            wide = array if array.dtype.kind == "u" else array.astype(np.int64, copy=False)  # high - low may be too much for a short one
            index = (wide - wide.dtype.type(low)).astype(np.int32, copy=False)
            there = np.flatnonzero(np.bincount(index, minlength=1))
            if len(there) <= high - low:
                place = np.zeros(high - low + 1, np.int32)
                place[there] = np.arange(len(there), dtype=np.int32)
                index = place[index]
            return (there.astype(wide.dtype) + wide.dtype.type(low)).astype(array.dtype), index
    distinct, index = np.unique(array, return_inverse=True)
    return distinct, index.astype(np.int32)


def places(values: Any, distinct: Any, known: str = "those of the training rows") -> np.ndarray:
    """Which of the distinct values each one is; `known` says what those are, for people."""
    array, distinct = whole(values, "label").reshape(-1), np.asarray(distinct)
    order = np.argsort(distinct)
    if distinct.ndim != 1 or len(distinct) == 0 or (distinct[order[1:]] == distinct[order[:-1]]).any():
        raise _errors.UsageError(f"classes are a sequence in which nothing comes twice, not {distinct.tolist()!r}")
    if "O" not in (array.dtype.kind, distinct.dtype.kind) and (array.dtype.kind in "US") != (distinct.dtype.kind in "US"):
        raise _errors.InputError(f"labels are of type {array.dtype}, which is not that of {known}: {distinct.tolist()!r}")
    try:
        index = order[np.minimum(np.searchsorted(distinct, array, sorter=order), len(distinct) - 1)]
    except TypeError as problem:
        raise _errors.InputError(f"labels cannot be compared with {known}, {distinct.tolist()!r}: {problem}") from problem
    strange = np.flatnonzero(distinct[index] != array)
    if len(strange) > 0:
        raise _errors.InputError(f"the label {array[strange[0]]!r} is none of {known}: {distinct.tolist()!r}")
    return index.astype(np.int32)


def frame_of(rows: Any) -> Frame:
    """A frame to predict for."""
    if isinstance(rows, Frame):
        return rows
    return Frame.table(rows) if is_mixed(rows) else Frame(rows)


def lent_frame(rows: Any) -> Optional[Frame]:
    """A frame to join a study with: what is not one yet is a table, which the study's schema describes."""
    return rows if rows is None or isinstance(rows, Frame) else Frame.table(rows)


def pointer_of(frame: Frame | None):
    return ffi.NULL if frame is None else frame._pointer
