"""What a metric is in each group, as a pandas frame."""
from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _rows
from ._core import Floats, fail
from .metric import Certainty, Metric

SUMMARY = ("overall", "difference", "ratio")
Metrics = Union[Metric, str, Mapping[str, Union[Metric, str]]]
UNKNOWN = Certainty(float("nan"), float("nan"), float("nan"))


def group_report(
    metric: Metrics,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    groups: ArrayLike,
    *,
    labels: Optional[Any] = None,
    pos_label: Any = None,
    seed: int = 1,
) -> Any:
    """What each metric is in each group and overall, with 95% intervals for other rows, and how far groups are apart: what
    `melicit score --groups` prints.

    metric: a Metric, the name of a measure, or {column: metric}. Rows of the frame: the groups, then "overall",
    "difference" (largest less smallest) and "ratio" (smallest by largest), as fairlearn's MetricFrame has them; the last two
    have intervals for measures by name. Columns: (metric, "value"), (metric, "low"), (metric, "high"), and ("rows", "").
    NaN: not defined on so few rows. frame.attrs["positive"]: the positive one of two classes.
    """
    import pandas

    if not isinstance(metric, Mapping):
        metric = {metric if isinstance(metric, str) else (metric.name or metric.family or "metric"): metric}
    true, predicted, group = _rows.column(y_true, "y_true"), _rows.column(y_pred, "y_pred"), _rows.column(groups, "groups")
    if len(true) == 0:
        raise fail("EDATA", "y_true: there are no rows")
    _rows.same_rows(len(true), y_pred=predicted, groups=group)
    _rows.refuse_probabilities(true, predicted)
    names = _rows.distinct(group).tolist()
    taken = [name for name in names if name in SUMMARY]
    if taken:
        raise fail("EINVAL", f"groups: {taken[0]!r} is a row of the report itself; give the group another name")
    if not metric:
        raise fail("EINVAL", "metric: there is none")
    columns: Dict[Tuple[str, str], List[Any]] = {}
    positive = None
    for title, given in metric.items():
        measure = Metric(given)
        if measure.groups:
            raise fail("EINVAL", f"{title}: this metric is about all groups together; here it is about each")
        known = measure._known_classes(_rows.distinct(true, predicted), labels, pos_label)
        positive = known[1] if len(known) == 2 else None
        counts = _rows.confusion(
            _rows.codes(true, known, "y_true"),
            _rows.codes(predicted, known, "y_pred"),
            len(known),
            None,
            _rows.codes(group, names, "groups"),
            len(names),
        )
        found = _of_groups(measure, counts, seed)
        columns.update({(title, what): [getattr(one, what) for one in found] for what in Certainty._fields})
    rows = np.array([(group == name).sum() for name in names])
    columns[("rows", "")] = [*rows, rows.sum(), np.nan, np.nan]
    frame = pandas.DataFrame(columns, index=pandas.Index([*names, *SUMMARY], name="group"))
    frame.attrs["positive"] = positive
    return frame


def _of_groups(measure: Metric, counts: Floats, seed: int) -> List[Certainty]:
    """Groups, overall, difference, ratio."""
    found = [_known(measure, matrix, seed) for matrix in (*counts, counts.sum(axis=0))]
    each = [one.value for one in found[:-1]]
    if len(each) < 2 or not np.isfinite(each).all():
        return [*found, UNKNOWN, UNKNOWN]
    if measure.name is None:
        ratio = min(each) / max(each) if max(each) != 0 else float("nan")
        return [*found, UNKNOWN._replace(value=max(each) - min(each)), UNKNOWN._replace(value=ratio)]
    return [*found, *(_known(Metric(f"{measure.name}:{word}"), counts, seed) for word in ("difference", "ratio"))]


def _known(measure: Metric, matrix: Floats, seed: int) -> Certainty:
    """NaN where the value is not defined; the value alone where draws of the rows have none."""
    try:
        value = measure.of_confusion(matrix)
    except (ArithmeticError, ValueError):
        return UNKNOWN
    try:
        return measure.certainty(matrix, seed=seed)
    except (ArithmeticError, ValueError):
        return UNKNOWN._replace(value=value)
