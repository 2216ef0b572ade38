"""Tacit: train one model together while the data stay where they are.

:func:`fit` a private model of one's own rows, :func:`simulate` many parties, :func:`audit` a promise; keep a :class:`Ledger`, take
part in a study as a :class:`Site`, run one with a :func:`coordinator`. Estimators for scikit-learn are :class:`PrivateLogisticRegression`, :class:`PrivateStacking` and
:class:`PrivateEnsemble`. What goes wrong is a :class:`TacitError`.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from tacit import _errors, settings
from tacit._errors import *  # noqa: F403
from tacit._frame import Frame
from tacit.catalogue import audit, explain, methods, plan, version
from tacit.fitting import fit
from tacit.ledger import Ledger
from tacit.model import Model
from tacit.simulation import Simulation, simulate
from tacit.site import Site
from tacit.study import Coordinator, Fit, Study, Summary, coordinator

if TYPE_CHECKING:
    from tacit.estimators import PrivateEnsemble, PrivateLogisticRegression, PrivateStacking

__version__ = version()

# Imported when asked for, so that scikit-learn is needed only by those who use them.
_ESTIMATORS = ("PrivateEnsemble", "PrivateLogisticRegression", "PrivateStacking")

__all__ = ["Coordinator", "Fit", "Frame", "Ledger", "Model", "Simulation", "Site", "Study", "Summary", "audit", "coordinator", "explain", "fit", "methods", "plan", "settings", "simulate", "version",
           *_ESTIMATORS, *_errors.__all__]


def __getattr__(name: str):
    if name in _ESTIMATORS:
        from tacit import estimators
        return getattr(estimators, name)
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
