"""Tables of mixed columns for the library: DataFrames, mappings of arrays, and whatever speaks the Arrow C data interface."""
from __future__ import annotations

import ctypes
import json
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit import _errors
from tacit._native import ffi, lib

_TYPES = {np.dtype(name): getattr(lib, f"TACIT_VALUE_{kind}") for name, kind in (
    ("float64", "DOUBLE"), ("float32", "FLOAT"), ("int8", "INT8"), ("int16", "INT16"), ("int32", "INT32"), ("int64", "INT64"),
    ("uint8", "UINT8"), ("uint16", "UINT16"), ("uint32", "UINT32"), ("uint64", "UINT64"), ("bool", "BOOL"))}

_capsule = ctypes.pythonapi.PyCapsule_GetPointer
_capsule.restype, _capsule.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)


def is_mixed(rows: Any) -> bool:
    """Whether the rows are a table that is not of numbers alone."""
    if hasattr(rows, "iloc") and hasattr(rows, "dtypes") and hasattr(rows, "columns"):
        return any(getattr(dtype, "kind", "O") not in "biuf" or hasattr(dtype, "categories") for dtype in rows.dtypes)
    if isinstance(rows, Mapping) or (isinstance(rows, np.ndarray) and rows.dtype.names is not None):
        return True
    return not isinstance(rows, np.ndarray) and (hasattr(rows, "__arrow_c_stream__") or hasattr(rows, "__arrow_c_array__"))


def table_of(rows: Any, kept: list[Any]):
    """A tacit_frame of the columns; `kept` is given what must live as long as it does."""
    if hasattr(rows, "iloc") and hasattr(rows, "columns"):
        return _by_columns({str(name): rows.iloc[:, place] for place, name in enumerate(rows.columns)}, list(map(str, rows.columns)), kept)
    if isinstance(rows, Mapping):
        return _by_columns({str(name): column for name, column in rows.items()}, list(map(str, rows)), kept)
    if isinstance(rows, np.ndarray) and rows.dtype.names is not None:
        return _by_columns({name: rows[name] for name in rows.dtype.names}, list(rows.dtype.names), kept)
    if hasattr(rows, "__arrow_c_stream__"):
        return _handed_over(lib.tacit_frame_arrow_stream, (rows.__arrow_c_stream__(), "ArrowArrayStream", b"arrow_array_stream"))
    if hasattr(rows, "__arrow_c_array__"):
        schema, array = rows.__arrow_c_array__()
        return _handed_over(lib.tacit_frame_arrow, (schema, "ArrowSchema", b"arrow_schema"), (array, "ArrowArray", b"arrow_array"))
    raise _errors.UsageError(f"a table is wanted: a DataFrame, a mapping of columns, or something with __arrow_c_stream__, not {type(rows).__name__}")


def _handed_over(function, *capsules):
    """By the Arrow C data interface; the library takes what is in the capsules."""
    pointers = [ffi.cast(f"struct {kind} *", _capsule(capsule, name)) for capsule, kind, name in capsules]
    return _made(function, *pointers)


def _made(function, *arguments):
    error, out = _errors.new_error(), ffi.new("tacit_frame **")
    _errors.check(function(out, *arguments, error), error)
    return out[0]


def _by_columns(columns: Mapping[str, Any], names: Sequence[str], kept: list[Any]):
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise _errors.InputError(f"two columns are called {twice[0]!r}: rename one")
    if not columns:
        raise _errors.UsageError("the table has no columns")
    lengths = {name: len(column) for name, column in columns.items()}
    first, rows = next(iter(lengths.items()))
    for name, length in lengths.items():
        if length != rows:
            raise _errors.UsageError(f"column {name!r} has {length} values, and {first!r} has {rows}: all columns of a table are of one length")
    frame = _made(lib.tacit_frame_table, rows)
    try:
        for name, column in columns.items():
            _add(frame, name, column, kept)
    except BaseException:
        lib.tacit_frame_free(frame)
        raise
    return frame


def _call(function, *arguments) -> None:
    error = _errors.new_error()
    _errors.check(function(*arguments, error), error)


def _address(array: np.ndarray, kind: str = "void *"):
    return ffi.cast(kind, array.__array_interface__["data"][0])


def _bytes(mask: Any, kept: list[Any]):
    """Where values are missing, a byte each; NULL: nowhere."""
    if mask is None or not np.any(mask):
        return ffi.NULL
    kept.append(np.ascontiguousarray(mask, np.uint8))
    return _address(kept[-1], "uint8_t *")


def level_text(value: Any) -> str:
    """A level as a CSV file has it: 1 for 1.0 and for True, 2024-02-29 for a date."""
    if isinstance(value, (bool, np.bool_)):
        return str(int(value))
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    if hasattr(value, "isoformat"):
        return value.isoformat()[:10]
    return str(value)


def schema_text(schema: Mapping[str, Any]) -> str:
    """A schema that is a mapping, as text: True is yes; a class or a level is written as a CSV file has it."""
    def plain(value: Any, inside: bool = False) -> Any:
        if isinstance(value, Mapping):
            return {str(key): plain(part) for key, part in value.items()}
        if isinstance(value, (list, tuple, np.ndarray)):
            return [plain(part, True) for part in value]
        if isinstance(value, (bool, np.bool_)):
            return level_text(value) if inside else "yes" if value else "no"
        if isinstance(value, np.generic):
            return value.item()
        return level_text(value) if hasattr(value, "isoformat") else value
    return json.dumps(plain(schema), indent=1) + "\n"


class SchemaFile:
    """A schema as a file, for the time of a call."""

    def __init__(self, path: Any = None, text: str = "") -> None:
        self._path, self._text = path, text
        self._made: Any = None

    def __enter__(self) -> str:
        if self._path is not None:
            return str(self._path)
        self._made = tempfile.NamedTemporaryFile("w", suffix=".schema.yaml", encoding="utf-8")
        self._made.write(self._text)
        self._made.flush()
        return str(self._made.name)

    def __exit__(self, *problem: object) -> None:
        if self._made is not None:
            self._made.close()


def _add(frame, name: str, column: Any, kept: list[Any]) -> None:
    dtype = getattr(column, "dtype", None)
    if hasattr(dtype, "categories"):
        codes = np.asarray(column.cat.codes if hasattr(column, "cat") else column.codes)
        _add_codes(frame, name, codes, [level_text(level) for level in dtype.categories], kept)
        return
    if getattr(dtype, "tz", None) is not None:
        raise _errors.InputError(f"column {name!r} has times of a zone: convert it to dates, as with .dt.tz_localize(None)")
    mask = None
    if isinstance(column, np.ma.MaskedArray):
        mask, column = np.ma.getmaskarray(column), column.data
    elif hasattr(dtype, "numpy_dtype") and getattr(dtype, "kind", "O") in "biuf":  # of pandas, with a mask
        mask, column = np.asarray(column.isna()), column.to_numpy(dtype.numpy_dtype, na_value=0)
    array = np.asarray(column)
    if array.ndim != 1:
        raise _errors.InputError(f"column {name!r} has {array.ndim} dimensions: give each of its columns by itself")
    if array.dtype.kind in "biuf":
        if array.dtype not in _TYPES or not array.dtype.isnative:
            array = array.astype(np.float64 if array.dtype.kind == "f" else array.dtype.newbyteorder("="))
        kept.append(array)
        _call(lib.tacit_frame_add_numbers, frame, name.encode(), _address(array), _TYPES[array.dtype], array.strides[0], _bytes(mask, kept))
    elif array.dtype.kind == "M":
        missing = np.isnat(array) if mask is None else np.isnat(array) | mask
        days = np.where(missing, 0, array.astype("datetime64[D]").astype(np.int64))
        far = np.flatnonzero(np.abs(days) > 4_000_000)
        if len(far) > 0:
            raise _errors.InputError(f"column {name!r} has {array[far[0]]} in row {far[0] + 1}: dates are of the years 1 to 9999")
        days = days.astype(np.int32)
        kept.append(days)
        _call(lib.tacit_frame_add_dates, frame, name.encode(), _address(days, "int32_t *"), _bytes(missing, kept))
    elif array.dtype.kind in "OUS":
        _add_texts(frame, name, array, mask, kept)
    else:
        raise _errors.InputError(f"column {name!r} is of type {array.dtype}: convert it to numbers, texts, categories or dates, or leave it out")


def _add_codes(frame, name: str, codes: np.ndarray, levels: Sequence[str], kept: list[Any]) -> None:
    kept.append(codes)
    for level in levels:
        if "\0" in level:
            raise _errors.InputError(f"column {name!r} has the text {level!r} with a NUL in it: remove that")
    try:
        texts = [ffi.new("char[]", level.encode()) for level in levels]
    except UnicodeEncodeError as problem:
        raise _errors.InputError(f"column {name!r} has a text that is not Unicode, {problem.object!r}: decode it again") from None
    _call(lib.tacit_frame_add_categories, frame, name.encode(), _address(codes), _TYPES[codes.dtype], codes.strides[0], 0,
          ffi.new("char *[]", texts), len(texts))


def _add_texts(frame, name: str, array: np.ndarray, mask: Any, kept: list[Any]) -> None:
    """Each text once, and which of them each row has."""
    place: dict[str, int] = {}
    codes = np.full(len(array), -1, np.int32)
    for row, value in enumerate(array.tolist()):
        if (mask is not None and mask[row]) or value is None or _is_missing(value):
            continue
        if isinstance(value, bytes):
            value = value.decode()
        elif not isinstance(value, str) and not isinstance(value, (bool, int, float, np.generic)) and not hasattr(value, "isoformat"):
            raise _errors.InputError(f"column {name!r} has {value!r} in row {row + 1}: convert it to numbers, texts, categories or dates")
        codes[row] = place.setdefault(level_text(value), len(place))
    _add_codes(frame, name, codes, list(place), kept)


def _is_missing(value: Any) -> bool:
    differs = value != value
    return bool(differs) if isinstance(differs, (bool, np.bool_)) else True  # the answer of pandas.NA is pandas.NA
