"""Figures, for those who have matplotlib."""
from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from tacit import _errors

_FIGURES = ("accuracy", "auc", "rmse", "logloss", "deviance")


def plot_runs(runs: Sequence[Mapping[str, Any]], figure: Optional[str], ax: Any) -> Any:
    """A line for each method over epsilon, with standard deviations of trials."""
    if figure is None:
        figure = next((name for name in _FIGURES if any(isinstance(run.get(name), (int, float)) for run in runs)), None)
    if figure is None or not any(isinstance(run.get(figure), (int, float)) for run in runs):
        raise _errors.UsageError(f"no run has the figure {figure!r}; frame() shows which there are")
    if ax is None:
        try:
            import matplotlib.pyplot as pyplot
        except ImportError as problem:
            raise ImportError("plot needs matplotlib: apt-get install python3-matplotlib, or pip install matplotlib") from problem
        ax = pyplot.subplots()[1]
    for number, method in enumerate(dict.fromkeys(run["method"] for run in runs)):
        points = sorted((run["epsilon"], run[figure], run.get(figure + "_sd") or 0.0) for run in runs
                        if run["method"] == method and isinstance(run.get(figure), (int, float)))
        noisy = [point for point in points if math.isfinite(point[0])]
        if noisy:
            ax.errorbar(*([point[k] for point in noisy] for k in (0, 1)), yerr=[point[2] for point in noisy], marker="o", capsize=2,
                        color=f"C{number}", label=method)
        for point in points:
            if not math.isfinite(point[0]):
                ax.axhline(point[1], linestyle="--", color=f"C{number}", label=method)
    ax.set_xscale("log")
    ax.set_xlabel("epsilon")
    ax.set_ylabel(figure)
    ax.legend()
    return ax
