"""How objects look in a notebook."""
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

_SHOWN = ("method", "epsilon", "accuracy", "accuracy_sd", "auc", "logloss", "rmse", "charged_epsilon", "charged_unit", "failed")


def _cell(value: Any) -> str:
    if value is None or value != value:
        return ""
    return escape(f"{value:.4g}" if isinstance(value, float) else str(value))


def table(head: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    """A table, everything in it as text."""
    body = "".join("<tr>" + "".join(f"<td>{_cell(value)}</td>" for value in line) + "</tr>" for line in lines)
    return f"<table><thead><tr>{''.join(f'<th>{escape(name)}</th>' for name in head)}</tr></thead><tbody>{body}</tbody></table>"


def runs_table(runs: Sequence[Mapping[str, Any]], seed: int) -> str:
    """The runs of a simulation."""
    head = [name for name in _SHOWN if any(run.get(name) is not None for run in runs)]
    return (table(head, ([run.get(name) for name in head] for run in runs)) +
            f"<p>A simulation (seed {seed}): good for comparing methods, and not private.</p>")


def model_table(document: Mapping[str, Any]) -> str:
    """What a model promises, and its coefficients where it has a table of them."""
    guarantee = document["guarantee"]
    charged = guarantee.get("charged")
    price = "nothing is promised" if not guarantee.get("private") else (
        f"epsilon {charged['epsilon']:g}, delta {charged['delta']:g} per {charged['unit']}" if charged else "private")
    reason = guarantee.get("reason")
    about = [("model", document.get("kind", "")), ("method", guarantee.get("method") or ""), ("promise", price),
             *([("because", reason)] if reason else []), ("classes", ", ".join(document.get("classes") or []))]
    found = table(("", ""), [line for line in about if line[1]])
    summary = document.get("summary")
    if summary:
        found += table(("", "estimate", "error", "p"), ((row["name"], row["estimate"], row.get("error"), row.get("p"))
                                                        for row in summary["coefficients"]))
    return found


def ledger_table(source: str, accounts: Sequence[Mapping[str, Any]]) -> str:
    """The accounts of a ledger."""
    def lines() -> Iterable[Sequence[Any]]:
        for account in accounts:
            limit, left = account.get("limit") or {}, account.get("remaining") or {}
            yield (account["study"] or "all", account["unit"], account["spent"]["epsilon"], limit.get("epsilon"), left.get("epsilon"),
                   account["spent"]["delta"], limit.get("delta"))
    return f"<p>Ledger of {escape(source)}</p>" + table(("study", "per", "epsilon spent", "limit", "left", "delta spent", "limit"), lines())
