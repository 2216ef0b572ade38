"""Models: what was learnt, with its guarantee inside."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from tacit import _errors
from tacit._call import Path, document, path_of, take_text
from tacit._frame import Frame, frame_of
from tacit._native import ffi, lib


class Model:
    """A model that was fitted, loaded, or that a study ended with.

    >>> import numpy as np, tacit
    >>> rows = np.array([[0.1], [0.2], [0.8], [0.9]] * 50)
    >>> labels = ["low", "low", "high", "high"] * 50
    >>> model = tacit.fit(rows, labels, method="output", epsilon=2, bounds=(0, 1), classes=["high", "low"], lam=0.1)
    >>> model.classes
    ['high', 'low']
    >>> model.guarantee["charged"]["epsilon"]
    2.0
    >>> copy = Model.from_json(model.to_json())
    >>> bool((copy.scores(rows) == model.scores(rows)).all())
    True
    """

    def __init__(self, pointer: Any, labels: Any = None) -> None:
        self._pointer = ffi.gc(pointer, lib.tacit_model_free)
        self._document: Optional[dict[str, Any]] = None
        self._labels = self._own(labels)

    def _own(self, labels: Any) -> Optional[np.ndarray]:
        """The labels in the order of the classes that are called so."""
        if labels is None or not self.classes:
            return None
        called = {str(label): place for place, label in enumerate(labels)}
        if len(called) != len(labels) or any(name not in called for name in self.classes):
            return None
        return np.asarray(labels)[[called[name] for name in self.classes]]

    @classmethod
    def _from_call(cls, function: Any, *arguments: Any, labels: Optional[Sequence[Any]] = None) -> Model:
        error, out = _errors.new_error(), ffi.new("tacit_model **")
        _errors.check(function(out, *arguments, error), error)
        model = cls(out[0], labels)
        if labels is not None and model._labels is None:
            raise _errors.UsageError(f"labels {list(labels)!r} are not those of the model: {model.classes!r}")
        return model

    @classmethod
    def load(cls, path: Path, *, labels: Optional[Sequence[Any]] = None) -> Model:
        """The model in a file that :meth:`save`, or the program ``tacit``, wrote. A file has labels as texts: `labels` are those of
        the rows, such as ``[0, 1]``, which :meth:`predict` then returns."""
        return cls._from_call(lib.tacit_model_load, path_of(path), labels=labels)

    @classmethod
    def from_json(cls, text: str, labels: Optional[Sequence[Any]] = None) -> Model:
        """The model that :meth:`to_json` wrote; `labels` as for :meth:`load`."""
        encoded = text.encode()
        return cls._from_call(lib.tacit_model_from_json, encoded, len(encoded), labels=labels)

    def save(self, path: Path) -> None:
        """Write one JSON file."""
        error = _errors.new_error()
        _errors.check(lib.tacit_model_save(self._pointer, path_of(path), error), error)

    def _text(self, function) -> str:
        error, out = _errors.new_error(), ffi.new("char **")
        _errors.check(function(out, self._pointer, error), error)
        return take_text(out[0])

    def to_json(self) -> str:
        """What :meth:`save` writes."""
        return self._text(lib.tacit_model_to_json)

    def to_pmml(self) -> str:
        """PMML, with the encoding of the columns inside."""
        return self._text(lib.tacit_model_to_pmml)

    def to_onnx(self) -> bytes:
        """ONNX, with the encoding of the columns inside."""
        error, out, length = _errors.new_error(), ffi.new("void **"), ffi.new("size_t *")
        _errors.check(lib.tacit_model_to_onnx(out, length, self._pointer, error), error)
        try:
            return bytes(ffi.buffer(out[0], length[0]))
        finally:
            lib.tacit_bytes_free(out[0])

    def __reduce__(self):
        return Model.from_json, (self.to_json(), self._labels)

    @property
    def document(self) -> dict[str, Any]:
        """Kind, classes, guarantee, and where there are such, coefficients with standard errors."""
        if self._document is None:
            self._document = document(lib.tacit_model_document, self._pointer)
        return self._document

    @property
    def classes(self) -> list[str]:
        """The names of the classes; none for a model of a number."""
        return self.document.get("classes") or []

    @property
    def labels(self) -> np.ndarray:
        """The classes as the rows had them, in the order of :attr:`classes`: numbers, truth values, texts. A model from a file knows
        their names alone, unless :meth:`load` got them."""
        return np.asarray(self.classes) if self._labels is None else self._labels

    @property
    def guarantee(self) -> dict[str, Any]:
        """By which method, for whom, and at what price."""
        return self.document["guarantee"]

    @property
    def columns(self) -> int:
        """How many columns rows must have."""
        return lib.tacit_model_columns(self._pointer)

    @property
    def outputs(self) -> int:
        """How many scores a row gets."""
        return lib.tacit_model_outputs(self._pointer)

    def scores(self, X: Any, *, threads: int = 0) -> np.ndarray:
        """Scores of each row: probabilities of the classes where the model has such; else votes, margins, or the mean of a number."""
        return self._predict(frame_of(X), threads, scores=True)[0]

    def class_index(self, X: Any, *, threads: int = 0) -> np.ndarray:
        """Which of :attr:`classes` each row most likely has."""
        return self._predict(frame_of(X), threads, labels=True)[1]

    def predict(self, X: Any, *, threads: int = 0) -> np.ndarray:
        """The label of each row, of the type that labels had; or, of a model of a number, its mean."""
        if not self.classes:
            return self.scores(X, threads=threads)[:, 0]
        return self.labels[self.class_index(X, threads=threads)]

    def _predict(self, frame: Frame, threads: int, scores: bool = False, labels: bool = False):
        score = np.empty((len(frame), self.outputs)) if scores else None
        label = np.empty(len(frame), np.int32) if labels else None
        error = _errors.new_error()
        status = lib.tacit_model_predict(ffi.NULL if score is None else ffi.cast("double *", score.ctypes.data), 0 if score is None else score.size,
                                         ffi.NULL if label is None else ffi.cast("int32_t *", label.ctypes.data), 0 if label is None else label.size,
                                         self._pointer, frame._pointer, threads, error)
        _errors.check(status, error)
        return score, label

    def coefficients(self) -> np.ndarray:
        """Of a linear model, on the columns as they were given: one row (two classes) or one a class, the constant last."""
        rows = 1 if self.outputs <= 2 else self.outputs
        out, error = np.empty((rows, self.columns + 1)), _errors.new_error()
        _errors.check(lib.tacit_model_coefficients(ffi.cast("double *", out.ctypes.data), out.size, self._pointer, error), error)
        return out

    def _repr_html_(self) -> str:
        from tacit._html import model_table
        return model_table(self.document)

    def __repr__(self) -> str:
        about = self.document
        return f"<tacit.Model {about.get('kind', '')} of {self.columns} columns, {self.guarantee.get('method') or 'no method'}>"
