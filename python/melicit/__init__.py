"""melicit: finds out which classification metric somebody wants, and what is best for it."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, List

from . import datasets, errors
from ._native import ffi, lib
from .errors import MelicitError
from .metric import Metric
from .problem import Problem
from .rule import Rule
from .session import Pooled, Question, Session, pool
from .training import Model, train

if TYPE_CHECKING:
    from . import plots
    from .asking import ask
    from .estimators import FrankWolfeClassifier, MetricClassifier, PlugInClassifier
    from .frames import group_report

__version__: str = ffi.string(lib.mel_version()).decode()
# What needs scikit-learn, pandas or matplotlib is imported when it is used first.
_LATER = {
    "MetricClassifier": "estimators",
    "FrankWolfeClassifier": "estimators",
    "PlugInClassifier": "estimators",
    "ask": "asking",
    "group_report": "frames",
    "plots": "",
}
__all__ = [
    "FrankWolfeClassifier",
    "MelicitError",
    "Metric",
    "MetricClassifier",
    "Model",
    "PlugInClassifier",
    "Pooled",
    "Problem",
    "Question",
    "Rule",
    "Session",
    "ask",
    "datasets",
    "errors",
    "group_report",
    "plots",
    "pool",
    "train",
]


def __dir__() -> List[str]:
    return sorted([*__all__, "__version__"])


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    if not _LATER[name]:
        return importlib.import_module(f".{name}", __name__)
    return getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
