"""Pictures through matplotlib, where it is installed: each takes and returns an Axes."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Mapping, Optional, Tuple

import numpy as np
from numpy.typing import ArrayLike

from . import _rows
from ._core import Floats, fail, floats, lib
from .metric import Metric

if TYPE_CHECKING:
    from .problem import Problem
    from .ranking import Ranking
    from .session import Session

KNOWN, OTHER, SHADE = "#0b5394", "#999999", "#9fc5e8"


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots()[1]


def feasible(problem: "Problem", metric: Optional[Metric] = None, ax: Any = None) -> Any:
    """What classifiers can achieve in (TP, TN) and, with a metric, the best one."""
    corners = problem.vertices()
    ax = _axes(ax)
    closed = np.vstack([corners, corners[:1]])
    ax.fill(closed[:, 0], closed[:, 1], color=SHADE, alpha=0.5)
    ax.plot(closed[:, 0], closed[:, 1], color=KNOWN, linewidth=1)
    if metric is not None:
        ground = problem.ground("linear")
        here = Metric._of(_rows.matched(metric._object("plot"), ground.layout, ground.classes, ground.groups))
        values = [here.value(corner) for corner in corners]
        best = corners[int(np.argmax(values) if here.greater_is_better else np.argmin(values))]
        ax.plot(*best, "o", color=KNOWN, label="best for the metric")
        ax.legend()
    ax.set_xlabel("true positives (share of all)")
    ax.set_ylabel("true negatives (share of all)")
    return ax


def posterior(session: "Session", ax: Any = None) -> Any:
    """Two classes: how likely exchange rates are; else each coefficient with its 95% interval."""
    metric, ax = session.metric, _axes(ax)
    try:
        ratio, low, high = metric.cost_ratio
    except ValueError:
        at = np.arange(len(metric.coefficients))
        ax.vlines(at, metric.intervals[:, 0], metric.intervals[:, 1], color=SHADE, linewidth=4)
        ax.plot(at, metric.coefficients, "o", color=KNOWN)
        ax.set_xlabel("coefficient")
        return ax
    drawn = session.draws()
    missed = int(metric._layout.coordinates == lib.MEL_OFFDIAGONAL)
    rates = drawn[:, missed] / drawn[:, 1 - missed]
    rates = rates[np.isfinite(rates) & (rates > 0)]
    ax.hist(np.log10(rates), bins=40, color=SHADE)
    ax.axvline(np.log10(ratio), color=KNOWN, label=f"{ratio:.3g} (95%: {low:.3g} to {high:.3g})")
    ax.set_xlabel("log10 of what a missed positive costs in false alarms")
    ax.legend()
    return ax


def _scores(y_true: ArrayLike, proba: ArrayLike, pos_label: Any, metric: Optional[Metric] = None) -> Tuple[Floats, Floats]:
    """Which rows are positive, and the probabilities of that: columns as Problem.from_proba takes them. The positive class is
    pos_label, else the metric's own; one column without a name is its probability."""
    true = _rows.column(y_true, "y_true")
    known = _rows.distinct(true).tolist()
    names = [_rows.name_of(label) for label in known]
    own = None if metric is None or metric.any_classes else metric.classes[-1]
    wanted = own if pos_label is None else _rows.name_of(pos_label)
    if len(known) != 2 or (wanted is not None and wanted not in names):
        raise fail("EDATA", f"y_true: two classes are needed, of which pos_label is one, not {known}")
    if own is not None and own != wanted:
        raise fail("EINVAL", f"pos_label: the metric's positive class is {own!r}, not {pos_label!r}")
    if wanted is None:
        Metric("recall")._require_positive(known)
    order = names if wanted is None or wanted == names[1] else names[::-1]
    one = np.ndim(proba) == 1 and not isinstance(getattr(proba, "name", None), str)
    score = _rows.in_class_order(proba, order if one else names, order)[:, 1]
    positive = (true == known[names.index(order[1])]).astype(np.float64)
    if len(score) != len(positive):
        raise fail("EINVAL", f"proba: {len(score)} rows, but y_true has {len(positive)}")
    return positive, score


def net_benefit(y_true: ArrayLike, proba: ArrayLike, thresholds: ArrayLike, pos_label: Any = None) -> Floats:
    """TP/n - FP/n t/(1 - t) of deciding positive from each threshold t on: the decision curve."""
    return _net_benefit(*_scores(y_true, proba, pos_label), thresholds)


def _net_benefit(positive: Floats, score: Floats, thresholds: ArrayLike) -> Floats:
    t = floats(thresholds, "thresholds")
    if not ((t >= 0) & (t < 1)).all():
        raise fail("EINVAL", "thresholds: from 0 on and below 1")
    flagged = score[None, :] >= t[:, None]
    found, alarms = (flagged * positive).mean(axis=1), (flagged * (1.0 - positive)).mean(axis=1)
    return np.asarray(found - alarms * t / (1.0 - t), dtype=np.float64)


Models = Mapping[str, ArrayLike]  # {name: probabilities}


def decision_curve(
    y_true: ArrayLike, proba: Models, metric: Optional[Metric] = None, *, pos_label: Any = None, ax: Any = None
) -> Any:
    """Net benefit of models by threshold, with the elicited exchange rate and its interval."""
    share, ax, t = _share(y_true, proba, pos_label, metric), _axes(ax), np.linspace(0.005, 0.95, 190)
    for name, scores in proba.items():
        ax.plot(t, _net_benefit(*_scores(y_true, scores, pos_label, metric), t), label=name)
    ax.plot(t, share - (1 - share) * t / (1 - t), color=OTHER, label="everybody", linewidth=1)
    ax.axhline(0.0, color=OTHER, linestyle=":", label="nobody", linewidth=1)
    if metric is not None:
        ratio, low, high = metric.cost_ratio
        _mark(ax, 1 / (1 + ratio), 1 / (1 + high), 1 / (1 + low))
    ax.set_ylim(bottom=-0.05, top=1.1 * share)
    return _titled(ax, "threshold", "net benefit")


def cost_curve(
    y_true: ArrayLike, proba: Models, metric: Optional[Metric] = None, *, pos_label: Any = None, ax: Any = None
) -> Any:
    """Expected cost of the best threshold by how much positives weigh (share times cost), from 0 to 1."""
    share, ax, weight = _share(y_true, proba, pos_label, metric), _axes(ax), np.linspace(0, 1, 201)
    for name, scores in proba.items():
        positive, score = _scores(y_true, scores, pos_label, metric)
        order = np.argsort(-score, kind="stable")
        ends = np.flatnonzero(np.append(np.diff(score[order]) != 0, True))
        found = np.concatenate([[0.0], np.cumsum(positive[order])[ends]]) / positive.sum()
        alarms = np.concatenate([[0.0], np.cumsum(1 - positive[order])[ends]]) / (1 - positive).sum()
        ax.plot(weight, ((1 - found)[:, None] * weight + alarms[:, None] * (1 - weight)).min(axis=0), label=name)
    ax.plot(weight, np.minimum(weight, 1 - weight), color=OTHER, linewidth=1, label="everybody or nobody")
    if metric is not None:
        _mark(ax, *(share * r / (share * r + 1 - share) for r in metric.cost_ratio))
    return _titled(ax, "weight of positives (share times cost)", "expected cost")


def _share(y_true: ArrayLike, proba: Models, pos_label: Any, metric: Optional[Metric]) -> float:
    """Of positives among the rows."""
    if not proba:
        raise fail("EINVAL", "proba: there are no models")
    return float(_scores(y_true, next(iter(proba.values())), pos_label, metric)[0].mean())


def _mark(ax: Any, at: float, low: float, high: float) -> None:
    ax.axvline(at, color=KNOWN, linestyle="--", label="elicited")
    if np.isfinite(low) and np.isfinite(high):
        ax.axvspan(low, high, color=SHADE, alpha=0.5, linewidth=0)


def _titled(ax: Any, x: str, y: str) -> Any:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.legend()
    return ax


def ranking(order: "Ranking", ax: Any = None) -> Any:
    """Classifiers best first, with 95% intervals and the probability of being the best one."""
    ax = _axes(ax)
    at = np.arange(len(order.names))[::-1]
    ax.hlines(at, order.interval[:, 0], order.interval[:, 1], color=SHADE, linewidth=6)
    ax.plot(order.values, at, "o", color=KNOWN)
    ax.set_yticks(at, [f"{name} ({100 * p:.0f}%)" for name, p in zip(order.names, order.best)])
    ax.set_xlabel("value (probability of being the best)")
    return ax
