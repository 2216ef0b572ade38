"""Comparing methods over simulated parties."""
from __future__ import annotations

import contextlib
import json
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from tacit._call import Progress, Settings, Task, options_of, take_text
from tacit._errors import TacitError, spell
from tacit._frame import Bounds, Frame, places, pointer_of
from tacit._native import ffi, lib
from tacit.local import Local, Served, is_object
from tacit.model import Model


@dataclass(frozen=True)
class Simulation:
    """What a simulation found.

    ``runs`` has one entry for each method and epsilon, as in the JSON document of ``tacit simulate``; ``model`` is that of the last
    run's first trial, or None where a method ends with several; ``seed`` repeats it all.
    """

    runs: list[dict[str, Any]]
    seed: int
    model: Optional[Model]
    document: dict[str, Any]

    def frame(self) -> Any:
        """The runs as a table of pandas, one line each: ``accuracy`` means and ``accuracy_sd`` and so on."""
        import pandas
        return pandas.DataFrame([_flat(run) for run in self.runs])

    to_frame = frame

    def plot(self, figure: Optional[str] = None, ax: Any = None) -> Any:
        """Draw a figure such as ``"accuracy"`` or ``"rmse"`` over epsilon, a line for each method; returns the axes of matplotlib, which
        this needs. Methods without noise are lines across."""
        from tacit._plots import plot_runs
        return plot_runs([_flat(run) for run in self.runs], figure, ax)

    def _repr_html_(self) -> str:
        from tacit._html import runs_table
        return runs_table([_flat(run) for run in self.runs], self.seed)


def _flat(run: dict[str, Any]) -> dict[str, Any]:
    line: dict[str, Any] = {}
    for name, value in run.items():
        if isinstance(value, dict) and "mean" in value:
            line[name], line[name + "_sd"] = value["mean"], value.get("sd")
        elif isinstance(value, dict):
            line.update({f"{name}_{part}": number for part, number in value.items()})
        else:
            line[name] = value
    return line


def simulate(X: Any, y: Any = None, *, methods: Union[str, Sequence[str]], parties: Optional[int] = None, groups: Any = None,
             epsilon: Union[float, Sequence[float], None] = None, delta: float = 0.0, lam: Optional[float] = None,
             test: Optional[tuple[Any, Any]] = None, auxiliary: Any = None, target: Optional[tuple[Any, Any]] = None,
             classes: Optional[Sequence[Any]] = None, bounds: Bounds = "data", norm: Optional[float] = None, intercept: bool = True,
             response: Optional[tuple[float, float]] = None, counts: bool = False, trials: int = 1, seed: Optional[int] = None,
             settings: Settings = None, local: Local = None, threads: Optional[int] = None, progress: Optional[Progress] = None,
             **options: Any) -> Simulation:
    """Deal rows out to many parties in this process and run each method at each epsilon, as ``tacit simulate`` does.

    The noise is drawn fast and from a seed: good for comparing, not for publishing a model of private rows.

    `groups` names the party of each row; without them, or with `parties` or ``split``, rows are dealt out. `auxiliary` are public
    points without labels, `test` and `target` rows with labels; frames do as well as arrays. `classes` are all labels that there may be,
    and `bounds` what is known of the columns; what is read off the rows instead is not private, and the model says so. `local` is what
    parties of an ensemble train: a name, an estimator of scikit-learn, or a function of rows, labels and points. Further options
    are those of the command: ``split``, ``test_fraction``, ``aux_fraction``, ``dropouts``, ``colluders``, ``minimum_rows``, ``stop``, ``terms``,
    ``subset``.

    >>> import numpy as np, tacit
    >>> rng = np.random.default_rng(1)
    >>> rows = rng.uniform(size=(2000, 2))
    >>> found = tacit.simulate(rows, rows[:, 0] > rows[:, 1], methods=["batch", "avg"], parties=4, epsilon=[1, 10],
    ...                        bounds=(0, 1), trials=5, seed=1)
    >>> [(run["method"], run["epsilon"]) for run in found.runs]
    [('batch', inf), ('avg', 1.0), ('avg', 10.0)]
    >>> found.runs[0]["accuracy"]["mean"] > 0.9
    True
    """
    if y is not None and classes is not None:
        y = places(y, classes, "classes")
    labels = {"classes": classes, "bounds": bounds, "norm": norm, "intercept": intercept, "response": response, "counts": counts}
    train = X if isinstance(X, Frame) else Frame(X, y, groups=groups, **labels)
    others = [_beside(rows, train) for rows in (test, None if auxiliary is None else (auxiliary, None), target)]
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(Served(local)) if is_object(local) else None
        kind = local if served is None else served.kind
        settings = settings if kind is None else {**(settings or {}), "local": kind}
        try:
            return _run(train, others, {"method": methods, "parties": parties, "epsilon": epsilon, "delta": delta, "lambda": lam,
                                        "trials": trials, "seed": seed, "threads": threads, **options}, settings, progress)
        except TacitError as problem:
            if served is not None and served.problem is not None:
                raise problem from served.problem
            raise


def _run(train: Frame, others: list[Optional[Frame]], words: dict[str, Any], settings: Settings, progress: Optional[Progress]) -> Simulation:
    given = options_of(words, settings)
    text, model, task = ffi.new("char **"), ffi.new("tacit_model **"), Task(progress)
    task.run(lib.tacit_frame_simulate, text, model, pointer_of(train), *map(pointer_of, others), given, task.progress(),
             discard=lambda: (lib.tacit_string_free(text[0]), lib.tacit_model_free(model[0])))
    found = json.loads(take_text(text[0]))
    runs = [{**run, "epsilon": float(run["epsilon"])} for run in found["runs"]]  # "inf" is a number here
    for refused in sorted({run["failed"] for run in runs if "failed" in run}):
        warnings.warn(spell(refused), stacklevel=3)
    return Simulation(runs, found["seed"], Model(model[0], train.classes) if model[0] else None, found)


def _beside(rows: Any, train: Frame) -> Frame | None:
    """A frame of further rows; labels are those of the training rows."""
    if rows is None or isinstance(rows, Frame):
        return rows
    if isinstance(rows[0], Frame):
        return rows[0]
    return Frame(*rows, like=train)
