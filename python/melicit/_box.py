"""Metrics as black boxes of the optimiser: callables, measures; the rule that it found."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence

import numpy as np

from . import _rows
from ._core import Texts, _stopped, call, fail, ffi, lib, made, text
from .metric import Metric
from .rule import Rule, _in_order, set_names

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Labels = NDArray[Any]


@ffi.def_extern(error=lib.MEL_ESTOPPED, onerror=_stopped)  # type: ignore[misc]
def melicit_box_judge(out: Any, user: Any, chance: Any, err: Any) -> int:
    return int(ffi.from_handle(user).judge(out, chance))


@ffi.def_extern(error=lib.MEL_ESTOPPED, onerror=_stopped)  # type: ignore[misc]
def melicit_box_value(out: Any, user: Any, confusion: Any, err: Any) -> int:
    return int(ffi.from_handle(user).value(out, confusion))


class Box:
    """A callable for the library; what it raises is kept and raised again when the library has returned."""

    def __init__(self, function: Callable[..., float], target: Labels, order: Labels, k: int) -> None:
        self.function, self.target, self.order, self.k = function, target, order, k
        self.raised: Optional[BaseException] = None

    def _put(self, out: Any, *args: Any) -> int:
        try:
            value = float(self.function(*args))
        except BaseException as error:  # Ctrl-C as well
            self.raised = error
            return int(lib.MEL_ESTOPPED)
        if not np.isfinite(value):
            self.raised = fail("EDATA", f"the metric gave {value}: a finite number is needed")
            return int(lib.MEL_EDATA)
        out[0] = value
        return int(lib.MEL_OK)

    def judge(self, out: Any, chance: Any) -> int:
        n = len(self.target)
        table = np.frombuffer(ffi.buffer(chance, 8 * n * self.k)).reshape(n, self.k)
        return self._put(out, self.target, self.order[table.argmax(axis=1)])

    def value(self, out: Any, confusion: Any) -> int:
        return self._put(out, np.frombuffer(ffi.buffer(confusion, 8 * self.k * self.k)).reshape(self.k, self.k).copy())


def measure_of(metric: Metric, order: Sequence[Any]) -> Any:
    if metric.name is not None:
        return metric._measure(len(order), 0)
    ordered = _in_order(metric, [_rows.name_of(label) for label in order], [])
    return made("mel_measure", lib.mel_measure_free, lib.mel_measure_metric, ordered, len(order), 0)


def stored_rule(result: Any, names: List[str], labels: Sequence[Any], columns: Sequence[str]) -> Rule:
    """The classifier of a mixture without basis functions."""
    handle = made(
        "mel_classifier", lib.mel_classifier_free, lib.mel_classifier_of_blend, ffi.addressof(result, "mixture"), ffi.NULL, False, result.value
    )
    set_names(handle, names, [], _rows.number_texts(labels))
    return Rule(handle, labels, columns=[_rows.name_of(label) for label in columns])
