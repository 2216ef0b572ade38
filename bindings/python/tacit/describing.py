"""The table before any model: means, quantiles, counts."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional, Union

from tacit import _errors
from tacit._call import Progress
from tacit._frame import Bounds, Frame, places
from tacit.fitting import fit
from tacit.ledger import Ledger
from tacit.model import Model
from tacit.simulation import simulate


@dataclass(frozen=True)
class Description:
    """What rows look like. ``report`` is the document that ``tacit describe --json`` prints; ``model`` saves it."""

    model: Model

    @property
    def report(self) -> dict[str, Any]:
        return self.model.document["report"]

    @property
    def guarantee(self) -> dict[str, Any]:
        """At what price, or that nothing is promised."""
        return self.model.guarantee

    def table(self, name: str = "numbers") -> dict[str, dict[str, Any]]:
        """One table by its name, a line for each label: ``numbers``, ``quantiles`` and so on."""
        for one in self.report["tables"]:
            if one["name"] == name:
                return {line["label"]: dict(zip(one["columns"], line["values"])) for line in one["rows"]}
        raise _errors.UsageError(f"there is no table {name!r}: there are {', '.join(one['name'] for one in self.report['tables'])}")

    def frame(self, name: str = "numbers") -> Any:
        """The same as a table of pandas."""
        import pandas
        return pandas.DataFrame.from_dict(self.table(name), orient="index")

    def _repr_html_(self) -> str:
        from tacit._html import table
        return "".join(f"<p>{one['title']}</p>" + table(["", *one["columns"]], ([line["label"], *line["values"]] for line in one["rows"]))
                       for one in self.report["tables"])


def describe(X: Any, y: Any = None, *, epsilon: Optional[float] = None, delta: float = 0.0, classes: Optional[Sequence[Any]] = None,
             bounds: Bounds = None, by: Optional[str] = None, cross: Union[str, Sequence[str], None] = None, threshold: Optional[int] = None,
             ledger: Optional[Ledger] = None, seed: Optional[int] = None, threads: Optional[int] = None,
             progress: Optional[Progress] = None) -> Description:
    """Describe rows and their labels: missing cells, means, quantiles, histograms, counts; as ``tacit describe`` does.

    Without `epsilon` numbers are exact, for your own eyes, and bounds may be left out. With it they are private for each row, all of them
    together, at (epsilon, delta), with the standard error of the noise beside each; this needs public `bounds` and `classes`, and is a
    release that a `ledger` is charged for. `by` is a category, or ``"label"``: everything by its levels too.

    >>> import numpy as np, tacit
    >>> rows = np.arange(400.0).reshape(-1, 2)
    >>> found = tacit.describe(rows, np.arange(200) % 2 == 0)
    >>> found.table()["x1"]["mean"], found.guarantee["private"]
    (199.0, False)
    """
    settings: dict[str, Any] = {name: value for name, value in (("by", by), ("cross", cross), ("threshold", threshold)) if value is not None}
    if isinstance(X, Frame):
        frame = X
    else:
        if y is None:
            raise _errors.UsageError("describe needs labels: y, or a Frame that has them")
        read = "data" if bounds is None and epsilon is None else bounds
        label = places(y, classes, "classes") if classes is not None else y
        frame = Frame(X, label, classes=classes, bounds=read)
    if epsilon is None:
        if ledger is not None:
            raise _errors.UsageError("without epsilon= the numbers are exact, and no ledger can be charged for them")
        found = simulate(frame, methods="describe-exact", parties=1, test=frame, seed=1, settings=settings, threads=threads,
                         progress=progress).model
        assert found is not None
        return Description(found)
    return Description(fit(frame, method="describe", epsilon=epsilon, delta=delta, ledger=ledger, seed=seed,
                           settings={"noise": "party", **settings}, threads=threads, progress=progress))
