"""What a metric is in each group, as a pandas frame."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _rows
from ._core import Floats, fail
from .metric import Metric

SUMMARY = ("overall", "difference", "ratio")
Metrics = Union[Metric, str, Mapping[str, Union[Metric, str]]]


def _values(metric: Metric, matrices: Floats) -> Floats:
    """One for each of n x k x k; NaN where the metric is not defined."""
    out = np.full(len(matrices), np.nan)
    for i, matrix in enumerate(matrices):
        try:
            out[i] = metric.of_confusion(matrix)
        except (ArithmeticError, ValueError):
            continue
    return out


def group_report(
    metric: Metrics,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    groups: ArrayLike,
    *,
    labels: Optional[Any] = None,
    pos_label: Any = None,
    draws: int = 500,
    seed: int = 1,
) -> Any:
    """What each metric is in each group and overall, with 95% intervals for other rows, and how far groups are apart.

    metric: a Metric, the name of a measure, or {column: metric}. Rows of the frame: the groups, then "overall",
    "difference" (largest less smallest) and "ratio" (smallest by largest), as fairlearn's MetricFrame has them. Columns:
    (metric, "value"), (metric, "low"), (metric, "high"), and ("rows", "").
    """
    import pandas

    if not isinstance(metric, Mapping):
        metric = {metric if isinstance(metric, str) else (metric.name or metric.family or "metric"): metric}
    if not 10 <= draws <= 100_000:
        raise fail("EINVAL", f"draws: from 10 to 100,000, not {draws}")
    group = _rows.column(groups, "groups")
    names = _rows.distinct(group).tolist() if len(group) else []
    taken = [name for name in names if name in SUMMARY]
    if taken:
        raise fail("EINVAL", f"groups: {taken[0]!r} is a row of the report itself; give the group another name")
    rng = np.random.default_rng(seed)
    columns = {}
    counts = None
    for title, given in metric.items():
        measure = Metric(given)
        if measure.groups:
            raise fail("EINVAL", f"{title}: this metric is about all groups together; here it is about each")
        true, predicted = _rows.column(y_true, "y_true"), _rows.column(y_pred, "y_pred")
        _rows.same_rows(len(true), y_pred=predicted, groups=group)
        if len(true) == 0:
            raise fail("EDATA", "y_true: there are no rows")
        known = measure._known_classes(_rows.distinct(true, predicted), labels, pos_label)
        k = len(known)
        counts = _rows.confusion(
            _rows.codes(true, known, "y_true"),
            _rows.codes(predicted, known, "y_pred"),
            k,
            None,
            _rows.codes(group, names, "groups"),
            len(names),
        )
        columns.update(_columns(title, measure, counts, draws, rng))
    if counts is None:
        raise fail("EINVAL", "metric: there is none")
    rows = counts.sum(axis=(1, 2))
    columns[("rows", "")] = [*rows.astype(int), int(rows.sum()), np.nan, np.nan]
    index = pandas.Index([*names, *SUMMARY], name="group")
    return pandas.DataFrame(columns, index=index)


def _columns(title: str, measure: Metric, counts: Floats, draws: int, rng: np.random.Generator) -> Any:
    m, k = counts.shape[:2]
    values = _all_of(_values(measure, counts), _values(measure, counts.sum(axis=0)[None])[0])
    flat = counts.sum(axis=(1, 2))
    again = np.stack(
        [rng.multinomial(int(n), c.ravel() / n, size=draws).reshape(draws, k, k) for n, c in zip(flat, counts)], axis=1
    ).astype(np.float64)
    drawn = np.stack([_all_of(_values(measure, of), _values(measure, of.sum(axis=0)[None])[0]) for of in again])
    low, high = np.full(m + 3, np.nan), np.full(m + 3, np.nan)
    for i in range(m + 3):
        kept = drawn[np.isfinite(drawn[:, i]), i]
        if len(kept) >= draws // 2:
            low[i], high[i] = np.quantile(kept, [0.025, 0.975])
    return {(title, "value"): values, (title, "low"): low, (title, "high"): high}


def _all_of(groups: Floats, overall: float) -> Floats:
    """Groups, overall, difference, ratio."""
    low, high = (groups.min(), groups.max()) if np.isfinite(groups).all() else (np.nan, np.nan)
    ratio = low / high if np.isfinite(high) and high != 0 else np.nan
    return np.array([*groups, overall, high - low, ratio])
