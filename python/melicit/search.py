"""Black-box optimisation where no process sees all training rows: others take the sums that each step needs."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Sequence, Tuple, Union

import numpy as np

from . import _rows
from ._box import Box, measure_of, stored_rule
from ._core import Codes, Floats, Texts, call, fail, ffi, floats, lib, made, pointer, seed_of, text
from .metric import Metric
from .rule import Rule
from .training import Moments, _read, _stored

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

SHAPES = {"diagonal": lib.MEL_WEIGHT_DIAGONAL, "whole": lib.MEL_WEIGHT_WHOLE}


def _labelled(proba: ArrayLike, y: ArrayLike, classes: Sequence[Any]) -> Tuple[Any, Tuple[Floats, Codes]]:
    """Rows as the optimiser sees them, and what they borrow. Columns of a frame are found by name."""
    names = [_rows.name_of(label) for label in classes]
    table = _rows.in_class_order(proba, names, names)
    codes = _rows.codes(_rows.column(y, "y"), classes, "y")
    if codes.size != len(table):
        raise fail("EINVAL", f"proba: {table.shape} for {codes.size} labels of {len(names)} classes")
    rows = ffi.new("mel_weight_rows *")
    rows.n_rows, rows.probability, rows.label = len(table), pointer(table), pointer(codes, "uint32_t")
    return rows, (table, codes)


class Iterate:
    """Where a Search stands: the rule at which it needs sums over the training rows. Goes to other processes by pickle."""

    def __init__(self, handle: Any, classes: List[Any]) -> None:
        self._handle, self.classes = handle, classes

    def moments(self, proba: ArrayLike, y: ArrayLike, part: str) -> Moments:
        """As melicit.moments, for the training rows of one part."""
        rows, kept = _labelled(proba, y, self.classes)
        sums = made("mel_moments", lib.mel_moments_free, lib.mel_passes_take, self._handle, text(part, "part"), rows, 1)
        del kept
        return Moments(sums)

    def __reduce__(self) -> Tuple[Any, ...]:
        return _load_iterate, (_stored(lib.mel_passes_save, self._handle), self.classes)


def _load_iterate(stored: bytes, classes: List[Any]) -> Iterate:
    return Iterate(_read("mel_passes", lib.mel_passes_free, lib.mel_passes_load, stored), classes)


class Search:
    """Finds the rule that is best for a metric of which only values are known, as FrankWolfeClassifier does, on training rows
    that are elsewhere:

        search = melicit.Search(metric, validation_proba, validation_y)
        while search.iterate is not None:
            search.step(sum(melicit.moments(search.iterate, p, y, part=name) for name, (p, y) in parts))

    metric: a Metric, the name of a measure, or a callable of confusion matrices: shares, [true, predicted], more is better.
    classes: the labels; those of y in sorted order unless given. Then: rule, value (on the validation rows), queries."""

    def __init__(
        self,
        metric: Union[Metric, str, Callable[[Floats], float]],
        proba: ArrayLike,
        y: ArrayLike,
        *,
        classes: Optional[Sequence[Any]] = None,
        iterations: int = 50,
        epsilon: float = 0.001,
        shape: str = "diagonal",
        best: bool = False,
        seed: int = 1,
    ) -> None:
        if shape not in SHAPES:
            raise fail("EINVAL", f"shape {shape!r}: 'diagonal' or 'whole'")
        if isinstance(iterations, bool) or not isinstance(iterations, (int, np.integer)) or not 1 <= iterations < 2**31:
            raise fail("EINVAL", f"iterations: a whole number from 1 on, not {iterations!r}")
        self.classes: List[Any] = list(classes) if classes is not None else list(_rows.distinct(_rows.column(y, "y")))
        self.rule: Optional[Rule] = None
        self.value, self.queries, self.iterations = float("nan"), 0, 0
        self._rows, self._kept = _labelled(proba, y, self.classes)
        self._metric = metric
        self._names = [_rows.name_of(label) for label in self.classes]
        self._checkpoint = b""  # so that each step goes on where the last one ended and does not begin anew
        called = Texts(self._names, "classes")
        self._passes = made(
            "mel_passes", lib.mel_passes_free, lib.mel_passes_new, len(self.classes), called.pointer, ffi.NULL, SHAPES[shape]
        )
        self._opt = ffi.new("mel_optimise_options *")
        lib.mel_optimise_options_init(self._opt)
        self._opt.iterations, self._opt.epsilon, self._opt.shape = iterations, float(epsilon), SHAPES[shape]
        self._opt.best, self._opt.seed, self._opt.passes = best, seed_of(seed), self._passes
        self._opt.progress.call = lib.melicit_progress
        self.iterate: Optional[Iterate] = None
        self._run()

    def step(self, moments: Moments) -> None:
        """Goes on with the sums over all training rows at `iterate`, which then is another one, or None at the end. Where the
        metric raises, so does this, and the same step may be tried again."""
        if not isinstance(moments, Moments):
            raise TypeError(f"moments: expected melicit.Moments, not {type(moments).__name__}")
        if self.iterate is None:
            raise fail("ESTATE", "no sums are wanted: the search has ended")
        call(lib.mel_passes_add, self._passes, moments._handle)
        self._run()

    def _box(self) -> Tuple[Any, Optional[Box], Any]:
        box = ffi.new("mel_black_box *")
        if isinstance(self._metric, (Metric, str)):
            measure = measure_of(Metric(self._metric), self.classes)
            box[0] = lib.mel_measure_box(measure, ffi.NULL)
            return box, None, measure
        if not callable(self._metric):
            raise fail("EINVAL", f"metric: a callable, a Metric or the name of a measure, not {self._metric!r}")
        mine = Box(self._metric, np.empty(0), np.empty(0), len(self.classes))
        handle = ffi.new_handle(mine)
        box.user, box.value = handle, lib.melicit_box_value
        return box, mine, handle

    def _go_on(self, result: Any, box: Any) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "checkpoint")
            if self._checkpoint:
                with open(path, "wb") as file:
                    file.write(self._checkpoint)
            kept = self._opt.checkpoint = ffi.new("char[]", text(path, "path"))
            try:
                call(lib.mel_optimise, result, len(self.classes), 1, ffi.NULL, self._rows, box, self._opt)
            finally:
                self._opt.checkpoint = ffi.NULL
                del kept
            if os.path.exists(path):
                with open(path, "rb") as file:
                    self._checkpoint = file.read()

    def _run(self) -> None:
        box, mine, kept = self._box()
        result = ffi.gc(ffi.new("mel_optimise_result *"), lib.mel_optimise_clear)
        try:
            self._go_on(result, box)
        except Exception:
            if mine is None or mine.raised is None:
                raise
        del kept
        if mine is not None and mine.raised is not None:
            raise mine.raised
        if result.end == lib.MEL_OPTIMISE_STOPPED:
            raise KeyboardInterrupt
        if result.end == lib.MEL_OPTIMISE_FAILED:
            raise fail("EDATA", ffi.string(result.failure.text).decode("utf-8", "replace"))
        self.iterations = int(result.iterations)
        if result.end == lib.MEL_OPTIMISE_WAITS:
            self.iterate = _load_iterate(_stored(lib.mel_passes_save, self._passes), self.classes)
            return
        self.iterate = None
        self.value, self.queries = float(result.value), int(result.queries)
        self.rule = stored_rule(result, self._names, self.classes, self._names)
