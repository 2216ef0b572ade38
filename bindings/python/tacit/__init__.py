"""Tacit: train one model together while the data stay where they are.

:func:`fit` a private model of one's own rows, :func:`describe` them, fit an exact :func:`glm`, :func:`simulate` many parties, :func:`audit` a promise; keep a :class:`Ledger`, take
part in a study as a :class:`Site`, run one with a :func:`coordinator`. Estimators for scikit-learn are :class:`PrivateLogisticRegression`, :class:`PrivateStacking` and
:class:`PrivateEnsemble`. What goes wrong is a :class:`TacitError`.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tacit import accounting, mechanisms, settings
from tacit._errors import (CancelledError, CorruptError, InputError, InternalError, IoError, LimitError, NetworkError, NoMemoryError,
                           NotConvergedError, NotFoundError, PrivacyWarning, ProtocolError, RefusedError, TacitError, UsageError)
from tacit._frame import Frame
from tacit.accounting import compose
from tacit.catalogue import audit, explain, methods, plan, version
from tacit.describing import Description, describe
from tacit.fitting import fit
from tacit.ledger import Ledger
from tacit.model import Model
from tacit.regression import Regression, glm
from tacit.simulation import Simulation, simulate
from tacit.site import Site
from tacit.study import Coordinator, Fit, Study, Summary, coordinator

if TYPE_CHECKING:
    from tacit.estimators import PrivateEnsemble, PrivateLogisticRegression, PrivateStacking
    from tacit.search import PrivateSearch, private_search

__version__ = version()

# Imported when asked for, so that scikit-learn is needed only by those who use them.
_LATER = {"PrivateEnsemble": "estimators", "PrivateLogisticRegression": "estimators", "PrivateStacking": "estimators",
          "PrivateSearch": "search", "private_search": "search"}

__all__ = ["CancelledError", "Coordinator", "CorruptError", "Description", "Fit", "Frame", "InputError", "InternalError", "IoError", "Ledger", "LimitError", "Model",
           "NetworkError", "NoMemoryError", "NotConvergedError", "NotFoundError", "PrivacyWarning", "PrivateEnsemble",
           "PrivateLogisticRegression", "PrivateSearch", "PrivateStacking", "ProtocolError", "RefusedError", "Regression", "Simulation", "Site", "Study",
           "Summary", "TacitError", "UsageError", "accounting", "audit", "compose", "coordinator", "describe", "explain", "fit", "glm", "mechanisms", "methods", "plan",
           "private_search", "settings", "simulate", "version"]


if not TYPE_CHECKING:  # which would take any name for one that there is
    def __getattr__(name: str) -> Any:
        if name in _LATER:
            return getattr(importlib.import_module(f"tacit.{_LATER[name]}"), name)
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
