"""Orders of classifiers, and how sure they are: by other rows of the test, and by what is open about the metric."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from . import _rows
from ._core import Floats, call, fail, ffi, lib, pointer
from .metric import Metric


class Ranking:
    """Best first: `names`, `values`; `interval` (95% of each value), `best` (probability of being the best one),
    `beats[i, j]` (of i being better than j), `places[i, j]` (of i taking place j + 1), `order_probability`."""

    def __init__(self, names: List[str], values: Floats, samples: Floats, greater: bool, interval: Floats) -> None:
        orientation = lib.MEL_UTILITY if greater else lib.MEL_COST
        n = len(names)
        order = ffi.new("size_t[]", n)
        call(lib.mel_rank_order, order, ffi.NULL, n, pointer(values), orientation)
        at = [int(i) for i in order]
        samples = np.ascontiguousarray(samples[:, at])
        self.names = [names[i] for i in at]
        self.values = values[at]
        self.samples = samples
        self.greater_is_better = greater
        self.beats, self.places = np.empty((n, n)), np.empty((n, n))
        call(lib.mel_rank_beats, pointer(self.beats), len(samples), n, pointer(samples), orientation)
        call(lib.mel_rank_places, pointer(self.places), len(samples), n, pointer(samples), orientation)
        self.best = self.places[:, 0]
        self.interval = interval[at]
        probability = ffi.new("double *")
        straight = ffi.new("size_t[]", list(range(n)))
        call(
            lib.mel_rank_order_probability, probability, len(samples), n, pointer(samples), orientation, n, straight
        )
        self.order_probability = float(probability[0])

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


def _resampled(cells: Floats, codes: Any, shape: Any, draws: int, rng: np.random.Generator) -> Floats:
    """Confusion matrices of the classifiers on draws of as many rows, the same rows for all."""
    n = cells.sum()
    counts = rng.multinomial(int(n), cells / n, size=draws).astype(np.float64)
    out = np.zeros((draws, codes.shape[0], int(np.prod(shape))))
    for c, of in enumerate(codes):
        for cell in np.unique(of):
            out[:, c, cell] = counts[:, of == cell].sum(axis=1)
    return out.reshape(draws, len(codes), *shape)


def _of_predictions(metric: Metric, pool: Mapping[str, ArrayLike], y_true: ArrayLike, args: Any, rng: Any, draws: int) -> Any:
    groups, sample_weight, labels, pos_label = args
    if sample_weight is not None:
        raise fail("EINVAL", "sample_weight: rows count alike where a ranking allows for other rows")
    true = _rows.column(y_true, "y_true")
    if len(true) == 0:
        raise fail("EDATA", "y_true: there are no rows")
    predicted = {name: _rows.column(values, str(name)) for name, values in pool.items()}
    _rows.same_rows(len(true), **{str(name): values for name, values in predicted.items()})
    for name, values in predicted.items():
        _rows.refuse_probabilities(true, values, str(name))
    present = np.empty(0) if labels is not None else _rows.distinct(true, *predicted.values())
    known = metric._known_classes(present, labels, pos_label)
    group, m = metric._group_codes(groups, len(true))
    k = len(known)
    base = _rows.codes(true, known, "y_true").astype(np.intp) * k
    if group is not None:
        base += group.astype(np.intp) * (k * k)
    cells = np.stack([base + _rows.codes(values, known, str(name)) for name, values in predicted.items()])
    patterns, counts = np.unique(cells, axis=1, return_counts=True)
    shape = (m, k, k)
    measured = np.stack([np.bincount(of, minlength=m * k * k).reshape(shape) for of in cells]).astype(np.float64)
    return measured, _resampled(counts.astype(np.float64), patterns, shape, draws, rng)


def _of_matrices(pool: Mapping[str, ArrayLike], rng: Any, draws: int) -> Any:
    measured, samples = [], []
    for name, matrix in pool.items():
        array = np.asarray(matrix, dtype=np.float64)
        array = array[None] if array.ndim == 2 else array
        if array.ndim != 3 or (array < 0).any() or not np.array_equal(array, np.floor(array)) or not array.sum() > 0:
            raise fail("EDATA", f"{name}: without y_true a pool holds confusion matrices of counts")
        measured.append(array)
        flat = array.ravel()
        samples.append(rng.multinomial(int(flat.sum()), flat / flat.sum(), size=draws).reshape(draws, *array.shape))
    if len({array.shape for array in measured}) != 1:
        raise fail("EDATA", "pool: the confusion matrices have different shapes")
    return np.stack(measured), np.stack(samples, axis=1).astype(np.float64)


def _values(metric: Metric, samples: Floats, rng: np.random.Generator) -> Floats:
    """draws x classifiers; draws in which a value is not defined are left out."""
    out = np.empty(samples.shape[:2])
    kept = np.ones(len(samples), dtype=bool)
    drawn = metric._draws
    for s in range(len(samples)):
        of_pool: Floats = samples[s]
        try:
            if drawn is None:
                out[s] = [metric.of_confusion(matrix) for matrix in of_pool]
                continue
            points = metric.statistics(of_pool)
            row = np.ascontiguousarray(drawn[rng.integers(len(drawn))])
            one = np.empty(len(of_pool))
            call(
                lib.mel_rank_sampled_values, pointer(one), metric._handle, 1, pointer(row), len(one), pointer(points)
            )
            out[s] = one
        except (ArithmeticError, ValueError):
            kept[s] = False
    if kept.sum() < max(1, len(samples) // 2):
        raise fail("EDATA", "the metric is not defined on most draws of the test's rows: there are too few of a class")
    return np.ascontiguousarray(out[kept])


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
    rng = np.random.default_rng(seed)
    args = (groups, sample_weight, labels, pos_label)
    if y_true is not None:
        measured, samples = _of_predictions(metric, pool, y_true, args, rng, draws)
    elif any(arg is not None for arg in args):
        raise fail("EINVAL", "groups, sample_weight, labels and pos_label go with y_true and predictions")
    else:
        measured, samples = _of_matrices(pool, rng, draws)
    values = np.array([metric.of_confusion(matrix) for matrix in measured])
    interval = np.array([metric.certainty(matrix, seed=seed)[1:] for matrix in measured])
    return Ranking(names, values, _values(metric, samples, rng), metric.greater_is_better, interval)
