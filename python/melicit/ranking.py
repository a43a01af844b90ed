"""Orders of classifiers, and how sure they are: by other rows of the test, and by what is open about the metric."""
from __future__ import annotations

import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import _rows
from ._core import Floats, Texts, call, copied, fail, ffi, lib, made, pointer
from .metric import Metric


class Ranking:
    """Best first, as `melicit rank` has it: `names`, `values`; `interval` (95% of each value), `best` (probability of being
    the best one), `beats[i, j]` (of i being better than j), `places[i, j]` (of i taking place j + 1), `order_probability`.
    NaN, with a warning, where draws of the rows or of the metric say nothing."""

    def __init__(self, handle: Any, names: List[str], greater: bool) -> None:
        info, n = lib.mel_ranking_about(handle), len(names)
        at = [int(info.order[i]) for i in range(n)]
        unknown = info.best == ffi.NULL
        self.names = [names[i] for i in at]
        self.values = copied(info.value, n)[at]
        self.greater_is_better = greater
        self.best = np.full(n, np.nan) if unknown else copied(info.best, n)[at]
        self.beats: Floats = np.full((n, n), np.nan)
        self.places: Floats = np.full((n, n), np.nan)
        if not unknown:
            call(lib.mel_ranking_beats, pointer(self.beats), handle)
            call(lib.mel_ranking_places, pointer(self.places), handle)
        self.beats, self.places = self.beats[np.ix_(at, at)], self.places[at]
        found = [info.certainty[i].both for i in at] if info.certainty != ffi.NULL else []
        self.interval = np.array([(both.low, both.high) for both in found] or [(np.nan, np.nan)] * n).reshape(n, 2)
        self.order_probability = float(info.order_probability)
        if info.unsure != ffi.NULL:
            why = ffi.string(info.unsure).decode("utf-8", "replace")
            warnings.warn(f"it is not known how sure the order is: {why}", stacklevel=4)

    def __repr__(self) -> str:
        rows = [f"{name}: {value:.4g} (best: {100 * p:.0f}%)" for name, value, p in zip(self.names, self.values, self.best)]
        return "\n".join(rows)

    def to_frame(self) -> Any:
        import pandas

        data: Dict[str, Any] = {
            "value": self.values,
            "low": self.interval[:, 0],
            "high": self.interval[:, 1],
            "best": self.best,
        }
        return pandas.DataFrame(data, index=pandas.Index(self.names, name="classifier"))

    def plot(self, ax: Any = None) -> Any:
        from .plots import ranking

        return ranking(self, ax=ax)


def _give_predictions(opt: Any, metric: Metric, pool: Mapping[str, ArrayLike], y_true: ArrayLike, args: Any) -> Any:
    """Fills the options; returns what they borrow."""
    groups, sample_weight, labels, pos_label = args
    if sample_weight is not None:
        raise fail("EINVAL", "sample_weight: rows count alike where a ranking allows for other rows")
    true = _rows.column(y_true, "y_true")
    if len(true) == 0:
        raise fail("EDATA", "y_true: there are no rows")
    predicted = {str(name): _rows.column(values, str(name)) for name, values in pool.items()}
    _rows.same_rows(len(true), **predicted)
    for name, values in predicted.items():
        _rows.refuse_probabilities(true, values, name)
    present = np.empty(0) if labels is not None else _rows.distinct(true, *predicted.values())
    known = metric._known_classes(present, labels, pos_label)
    group, m = metric._group_codes(groups, len(true))
    truth = _rows.codes(true, known, "y_true")
    decided = [_rows.codes(values, known, name) for name, values in predicted.items()]
    each = ffi.new("uint32_t *[]", [pointer(one, "uint32_t") for one in decided])
    measure = metric._measure(len(known), 0 if m == 1 else m)
    opt.n_rows, opt.truth, opt.decided, opt.measure = len(true), pointer(truth, "uint32_t"), each, measure
    opt.group = pointer(group, "uint32_t")
    return truth, decided, group, each, measure


def _give_matrices(opt: Any, metric: Metric, pool: Mapping[str, ArrayLike]) -> Any:
    matrices = []
    for name, matrix in pool.items():
        array = np.asarray(matrix, dtype=np.float64)
        array = array[None] if array.ndim == 2 else array
        if array.ndim != 3 or (array < 0).any() or not np.array_equal(array, np.floor(array)) or not array.sum() > 0:
            raise fail("EDATA", f"{name}: without y_true a pool holds confusion matrices of counts")
        matrices.append(array)
    if len({array.shape for array in matrices}) != 1:
        raise fail("EDATA", "pool: the confusion matrices have different shapes")
    m, k = matrices[0].shape[:2]
    counts, measure = np.ascontiguousarray(np.stack(matrices)), metric._measure(k, 0 if m == 1 else m)
    opt.counts, opt.measure = pointer(counts), measure
    return counts, measure


def rank(
    metric: Metric,
    pool: Mapping[str, ArrayLike],
    y_true: Optional[ArrayLike],
    groups: Optional[ArrayLike],
    sample_weight: Optional[ArrayLike],
    labels: Optional[Sequence[Any]],
    pos_label: Any,
    draws: int,
    seed: int,
) -> Ranking:
    names = [str(name) for name in pool]
    if not names:
        raise fail("EINVAL", "pool: there are no classifiers")
    if not 1 <= draws <= 1_000_000:
        raise fail("EINVAL", f"draws: from 1 to 1,000,000, not {draws}")
    opt, called = ffi.new("mel_ranking_options *"), Texts(names, "pool")
    lib.mel_ranking_options_init(opt)
    opt.n, opt.name, opt.draws, opt.seed = len(names), called.pointer, draws, seed
    args = (groups, sample_weight, labels, pos_label)
    if y_true is not None:
        kept = _give_predictions(opt, metric, pool, y_true, args)
    elif any(arg is not None for arg in args):
        raise fail("EINVAL", "groups, sample_weight, labels and pos_label go with y_true and predictions")
    else:
        kept = _give_matrices(opt, metric, pool)
    if metric._draws is not None:
        opt.n_metrics, opt.metrics = len(metric._draws), pointer(metric._draws)
    handle = made("mel_ranking", lib.mel_ranking_free, lib.mel_ranking_make, opt)
    del kept
    return Ranking(handle, names, metric.greater_is_better)
