"""What methods there are, what they promise, and experiments that try to break the promise."""
from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Optional, Sequence, Union

from tacit._call import Path, Progress, Settings, Task, document, options_of, take_text
from tacit._native import ffi, lib
from tacit._table import SchemaFile, schema_text


def version() -> str:
    """The version of the library."""
    return ffi.string(lib.tacit_version()).decode()


def methods() -> list[dict[str, Any]]:
    """Every method: what it computes, from which paper, protecting what, with which settings.

    >>> import tacit
    >>> "plr" in [method["name"] for method in tacit.methods()]
    True
    """
    return document(lib.tacit_methods_document)


def explain(method: str, *, settings: Settings = None, **options: Any) -> dict[str, Any]:
    """What leaves a party, who sees it, by which theorem and at what price.

    Options are those of ``tacit explain``.

    >>> import tacit
    >>> tacit.explain("plr", epsilon=0.5)["charged"]["epsilon"]
    0.5
    """
    return document(lib.tacit_explain_document, options_of({"method": method, **options}, settings))


def plan(study: Optional[Path] = None, *, schema: Union[Path, Mapping[str, Any], None] = None, parties: Optional[int] = None, rows: Optional[int] = None,
         epsilon: Optional[float] = None, delta: Optional[float] = None, methods: Union[str, Sequence[str], None] = None, like: Optional[Path] = None,
         own: Optional[Path] = None, signal: Optional[float] = None, positives: Optional[float] = None, brief: bool = False,
         progress: Optional[Progress] = None, **options: Any) -> dict[str, Any]:
    """What each method will be worth before anybody is asked, as ``tacit plan`` says it.

    Give the definition of a ``study``, or ``schema`` (a file, or a mapping with its keys), ``parties``, ``rows`` of all together and ``epsilon``. ``like`` is a file of public rows that look
    like the study's, ``own`` one of your own rows: the outcome is then for you alone. Nothing is released, charged or written. Further options are those
    of ``tacit plan``.

    >>> import tacit
    >>> schema = {"label": {"name": "y", "classes": ["no", "yes"]}, "columns": [{"name": "age", "kind": "number", "low": 0, "high": 100}]}
    >>> told = tacit.plan(schema=schema, parties=20, rows=1000, epsilon=3, methods=["dpnewton"], brief=True)
    >>> told["recommended"], 0.7 < told["pooled"]["auc"]["mean"] < 0.8
    ('dpnewton', True)
    """
    if isinstance(schema, Mapping):
        with SchemaFile(text=schema_text(schema)) as file:
            return plan(study, schema=file, parties=parties, rows=rows, epsilon=epsilon, delta=delta, methods=methods, like=like, own=own, signal=signal,
                        positives=positives, brief=brief, progress=progress, **options)
    given = {"STUDY": study, "schema": schema, "parties": parties, "rows": rows, "epsilon": epsilon, "delta": delta,
             "methods": methods, "like": like, "own": own, "signal": signal, "positives": positives,
             "brief": brief or None}
    out, task = ffi.new("char **"), Task(progress)
    task.run(lib.tacit_plan_document, out, options_of({**given, **options}), task.progress(), discard=lambda: lib.tacit_string_free(out[0]))
    return json.loads(take_text(out[0]))


def audit(method: str, *, epsilon: float, delta: float = 0.0, lam: Optional[float] = None, runs: Optional[int] = None,
          confidence: Optional[float] = None, seed: Optional[int] = None, settings: Settings = None, threads: Optional[int] = None,
          exact: bool = False, search: Optional[int] = None, progress: Optional[Progress] = None) -> dict[str, Any]:
    """Try to break a promise of privacy by experiment, as ``tacit audit`` does.

    A ``verdict`` of ``"broken"`` proves the promise wrong; ``"holds"`` proves nothing, and ``epsilon_lower`` says how much of
    epsilon the experiment could show. ``exact`` draws the noise of a real release, which no seed repeats; ``search`` tries this many
    pairs of neighbours first.

    >>> import tacit
    >>> tacit.audit("laplace", epsilon=1, runs=20000, seed=1)["verdict"]
    'holds'
    >>> tacit.audit("laplace-halved", epsilon=1, runs=20000, seed=1)["verdict"]
    'broken'
    """
    options = options_of({"method": method, "epsilon": epsilon, "delta": delta, "lambda": lam, "runs": runs,
                          "confidence": confidence, "seed": seed, "threads": threads, "exact": exact or None, "search": search}, settings)
    out, task = ffi.new("char **"), Task(progress)
    task.run(lib.tacit_audit_document, out, options, task.progress(), discard=lambda: lib.tacit_string_free(out[0]))
    return json.loads(take_text(out[0]))
