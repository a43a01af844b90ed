"""Classifiers for scikit-learn that are best for a metric: by a rule on probabilities, or for a black box."""
from __future__ import annotations

import warnings
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import column_or_1d, indexable
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, has_fit_parameter

from . import _rows
from ._box import Box, measure_of, stored_rule
from ._core import Codes, Floats, call, fail, ffi, lib, pointer, seed_of
from .metric import Metric
from .rule import Rule, find_rule, require_positive

Labels = NDArray[Any]
Metadata = Dict[str, Any]  # sample_weight and what else is known of each row
# Versions before 1.4 do not route metadata, or in another way.
ROUTES = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) >= (1, 4)
if ROUTES:
    from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing


def routing() -> bool:
    """Metadata goes to those who ask for it: sklearn.set_config(enable_metadata_routing=True)."""
    return ROUTES and bool(sklearn.get_config()["enable_metadata_routing"])


def n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def rows_of(X: Any, index: Any) -> Any:
    if hasattr(X, "iloc"):
        return X.iloc[index]
    return X[index] if hasattr(X, "shape") else [X[i] for i in index]


def probabilities(estimator: Any, X: Any) -> Floats:
    """predict_proba, or what a decision_function says on a logistic scale, which a calibration then makes right."""
    if hasattr(estimator, "predict_proba"):
        return np.ascontiguousarray(estimator.predict_proba(X), dtype=np.float64)
    score = np.asarray(estimator.decision_function(X), dtype=np.float64)
    if score.ndim == 1:
        score = np.column_stack([np.zeros_like(score), score])
    score = np.exp(score - score.max(axis=1, keepdims=True))
    return np.ascontiguousarray(score / score.sum(axis=1, keepdims=True))


def is_fitted_for_good(estimator: Any) -> bool:
    """scikit-learn's FrozenEstimator, where there is one."""
    return type(estimator).__name__ == "FrozenEstimator"


def _folds(cv: Any, y: Labels) -> Any:
    """As many folds as the rarest class has rows for."""
    if not isinstance(cv, (int, np.integer)) or isinstance(cv, bool):
        return check_cv(cv, y, classifier=True)
    counts = np.unique(y, return_counts=True)[1]
    if cv < 2:
        raise fail("EINVAL", f"cv: at least 2 folds, not {cv}")
    if counts.min() < 2:
        raise fail("EDATA", f"y: a class has {counts.min()} sample only: no fold can be left out; n_samples is too small")
    return StratifiedKFold(min(int(cv), int(counts.min())))


def _fit(estimator: Any, X: Any, y: Labels, metadata: Metadata) -> Any:
    sample_weight = metadata.get("sample_weight")
    if sample_weight is None or routing():
        return estimator.fit(X, y, **metadata)
    last = estimator.steps[-1] if hasattr(estimator, "steps") else None
    if last is not None and has_fit_parameter(last[1], "sample_weight"):
        return estimator.fit(X, y, **{f"{last[0]}__sample_weight": sample_weight})
    if not has_fit_parameter(estimator, "sample_weight"):
        raise fail("EINVAL", f"sample_weight: {type(estimator).__name__} does not take weights")
    return estimator.fit(X, y, sample_weight=sample_weight)


def out_of_fold(
    estimator: Any, X: Any, y: ArrayLike, cv: Any, metadata: Metadata, classes: Optional[Labels], split: Metadata = {}  # noqa: B006
) -> Tuple[Floats, Labels]:
    """Probabilities of rows by models that were not trained on them, and the classes of their columns. metadata: of the rows, for
    fitting; split: for the splitter."""
    target = column_or_1d(y)
    if cv == "prefit" or is_fitted_for_good(estimator):
        check_is_fitted(estimator)
        return probabilities(estimator, X), np.asarray(estimator.classes_)
    known = np.unique(target) if classes is None else classes
    out = np.zeros((n_rows(X), len(known)))
    folds = list(_folds(cv, target).split(X, target, **split))
    tested = np.bincount(np.concatenate([np.arange(len(out))[test] for _, test in folds]), minlength=len(out))
    if (tested != 1).any():
        row = int(np.flatnonzero(tested != 1)[0])
        raise fail("EINVAL", f"cv: each row is left out once, as KFold and StratifiedKFold do; row {row} is {tested[row]} times")
    for train, test in folds:
        of_rows = {name: rows_of(values, train) for name, values in metadata.items()}
        model = _fit(clone(estimator), rows_of(X, train), target[train], of_rows)
        columns = np.searchsorted(known, model.classes_)
        out[np.ix_(test, columns)] = probabilities(model, rows_of(X, test))
    return out, known


class _RuleClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Trains a model, finds a rule on its out-of-fold probabilities, decides by that rule."""

    _required_parameters: List[str] = []
    estimator: Any
    metric: Any
    cv: Any
    groups: Any
    pos_label: Any
    random_state: Any
    classes_: Labels
    order_: List[Any]  # the classes with the positive one last
    rule_: Rule
    estimator_: Any
    seed_: int

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        model = LogisticRegression(max_iter=1000)
        return model.set_fit_request(sample_weight=True) if routing() else model

    def get_metadata_routing(self) -> Any:
        """Who takes what is known of rows (sample_weight, groups, row_cost): this estimator, its own estimator, its splitter."""
        router = MetadataRouter(owner=type(self).__name__).add_self_request(self)
        router.add(estimator=self._base(), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if hasattr(self.cv, "split"):
            router.add(splitter=self.cv, method_mapping=MethodMapping().add(caller="fit", callee="split"))
        return router

    def __sklearn_tags__(self) -> Any:
        """What goes in is what the estimator takes (scikit-learn 1.6 and later)."""
        from sklearn.utils import get_tags

        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self._base()).input_tags
        return tags

    def _for_parts(self, **metadata: Any) -> Tuple[Metadata, Metadata]:
        """What the estimator's fit and the splitter get."""
        given = {name: values for name, values in metadata.items() if values is not None}
        if not routing():
            return {name: given[name] for name in ("sample_weight",) if name in given}, {}
        routed = process_routing(self, "fit", **given)
        return dict(routed.estimator.fit), dict(routed.splitter.split) if hasattr(self.cv, "split") else {}

    def _prepared(
        self, X: Any, y: ArrayLike, sample_weight: Optional[ArrayLike]
    ) -> Tuple[Any, Labels, Optional[Floats]]:
        if y is None:
            raise fail("EINVAL", f"requires y to be passed, but the target y is None: {type(self).__name__} learns from labels")
        target = column_or_1d(y, warn=True)
        if target.dtype.kind == "f" and not np.isfinite(target).all():
            raise fail("EDATA", "Input y contains NaN or infinity")
        (X,) = indexable(X)
        check_consistent_length(X, target)
        if n_rows(X) == 0:
            raise fail("EDATA", "Found array with 0 sample(s): there are no rows")
        check_classification_targets(target)
        self.classes_ = np.unique(target)
        if len(self.classes_) < 2:
            raise fail("EDATA", f"y has one class only, {self.classes_[0]!r}: at least 2 classes are needed")
        return X, target, _rows.weights(sample_weight, len(target))

    def _order(self) -> List[Any]:
        """Classes with the positive one last."""
        known: List[Any] = list(self.classes_.tolist())
        if self.pos_label is None:
            metric = Metric(self.metric) if isinstance(self.metric, (Metric, str)) else None
            places = None if metric is None or len(known) != 2 else _rows.places(metric.classes, [_rows.name_of(c) for c in known])
            if places is not None:
                return [known[place] for place in places]  # as the metric names them
            if metric is not None:
                require_positive(metric, known, self.__dict__)
            return known
        if len(known) != 2 or self.pos_label not in known:
            raise fail("EINVAL", f"pos_label {self.pos_label!r}: for two classes, of which it is one, not {known}")
        return sorted(known, key=lambda label: bool(label == self.pos_label))

    def _group_column(self, X: Any, groups: Optional[ArrayLike]) -> Optional[Labels]:
        if groups is None and self.groups is None:
            return None
        if groups is None:
            groups = _rows.of_table(X, self.groups)
        column = _rows.column(groups, "groups")
        if len(column) != n_rows(X):
            raise fail("EINVAL", f"groups: {len(column)} values for {n_rows(X)} rows")
        return column

    def _learn(self, X: Any, target: Labels, metadata: Metadata, split: Metadata) -> Floats:
        """Fits the model; the rows' out-of-fold probabilities, in the order of the classes."""
        base = self._base()
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                delattr(self, name)
        prefit = self.cv == "prefit" or is_fitted_for_good(base)
        if prefit:
            self.estimator_ = base
            proba, columns = out_of_fold(base, X, target, "prefit", {}, None)
            if not set(self.classes_.tolist()) <= set(columns.tolist()):
                raise fail("EDATA", f"y: the fitted model knows the classes {columns.tolist()} only")
            self.classes_ = columns
        else:
            self.estimator_ = _fit(clone(base), X, target, metadata)
            proba, columns = out_of_fold(base, X, target, self.cv, metadata, self.classes_, split)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return proba

    def _codes(self, target: Labels, order: Sequence[Any]) -> Codes:
        return _rows.codes(target, order, "y")

    def _columns(self, proba: Floats, order: Sequence[Any]) -> Floats:
        places = np.searchsorted(self.classes_, np.asarray(order))
        return proba if np.array_equal(places, np.arange(len(places))) else np.ascontiguousarray(proba[:, places])

    def _new_proba(self, X: Any) -> Floats:
        check_is_fitted(self, "rule_")
        return probabilities(self.estimator_, X)

    def decision_chances(self, X: Any, groups: Optional[ArrayLike] = None, row_cost: Optional[ArrayLike] = None) -> Floats:
        """How likely each class (in the order of order_) is to be decided: 0 and 1 for a rule that does not draw."""
        proba = self._new_proba(X)
        chances: Floats = self.rule_.chances(proba, self._rule_groups(X, groups), row_cost)
        return chances

    def _rule_groups(self, X: Any, groups: Optional[ArrayLike]) -> Optional[Labels]:
        return self._group_column(X, groups) if self.rule_.groups else None

    def _labels(self, codes: NDArray[Any]) -> Labels:
        order: Labels = np.asarray(self.order_, dtype=self.classes_.dtype)
        if codes.size and int(codes.max()) >= len(order):
            order = np.array([*self.order_, None], dtype=object)
        decided: Labels = order[codes]
        return decided

    def _value(
        self, X: Any, y: ArrayLike, decided: Labels, sample_weight: Optional[ArrayLike], groups: Optional[ArrayLike] = None
    ) -> float:
        if decided.dtype == object and any(label is None for label in decided):
            raise fail("EINVAL", "score: referred cases are in no confusion matrix; value_ counts what they cost (refer_cost)")
        metric = Metric(self.metric)
        column = self._group_column(X, groups) if metric.needs_groups(len(self.order_)) else None
        labels = self.order_ if metric.any_classes else None
        value = metric(y, decided, column, sample_weight, labels=labels)
        return value if metric.greater_is_better else -value


class MetricClassifier(_RuleClassifier):
    """The rule that is best for a metric: a threshold, gains of several classes, or rules of each group.

    estimator: with predict_proba or decision_function; None: LogisticRegression. metric: a Metric of any family, the
    name of a measure or a metric file. cv: folds for the probabilities that the rule is found on, or "prefit". groups: the
    column of X that says the group (or fit(..., groups=...)). form: "best", "threshold", "mixture" (may draw).
    evidence, prior, at_least, at_most, groups_seen, refer_cost: as Problem.best. confidence: the limits hold on new rows with it;
    needs cv="prefit" and rows that the estimator has not seen, as a promise is about one model.
    fit, predict and score take groups and row_cost: how many times as much a mistake about each row counts, a number or one for each
    class (in the order of classes_; a frame's columns by name).

    Fitted: estimator_, rule_, thresholds_ (of the second class of order_: a number, or one per group; None where no
    threshold says it), interval_ (95%, of the best threshold on other rows and for what is open about the metric, as
    `melicit apply` has it; one per group; NaN where draws of the rows do not agree), value_.
    """

    def __init__(
        self,
        estimator: Any = None,
        metric: Union[Metric, str] = "accuracy",
        *,
        cv: Any = 5,
        groups: Any = None,
        form: str = "best",
        evidence: str = "calibrated",
        prior: Optional[ArrayLike] = None,
        at_least: Optional[Mapping[str, float]] = None,
        at_most: Optional[Mapping[str, float]] = None,
        groups_seen: bool = True,
        refer_cost: Optional[float] = None,
        confidence: Optional[float] = None,
        pos_label: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.cv = cv
        self.groups = groups
        self.form = form
        self.evidence = evidence
        self.prior = prior
        self.at_least = at_least
        self.at_most = at_most
        self.groups_seen = groups_seen
        self.refer_cost = refer_cost
        self.confidence = confidence
        self.pos_label = pos_label
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: Optional[ArrayLike] = None,
        groups: Optional[ArrayLike] = None,
        row_cost: Optional[ArrayLike] = None,
    ) -> "MetricClassifier":
        if self.confidence is not None and self.cv != "prefit":
            raise fail("EINVAL", 'confidence: limits are promised for one model on rows that it has not seen: cv="prefit"')
        X, target, weight = self._prepared(X, y, sample_weight)
        proba = self._learn(X, target, *self._for_parts(sample_weight=weight, groups=groups, row_cost=row_cost))
        self.order_ = self._order()
        column = self._group_column(X, groups)
        names = [] if column is None else _rows.distinct(column).tolist()
        codes, group_codes = self._codes(target, self.order_), None if column is None else _rows.codes(column, names, "groups")
        proba = self._columns(proba, self.order_)
        metric = Metric(self.metric)
        self.seed_ = seed_of(self.random_state)
        self.rule_ = find_rule(
            metric,
            proba,
            codes,
            self.order_,
            group_codes,
            [_rows.name_of(name) for name in names],
            weight,
            columns=[_rows.name_of(label) for label in self.classes_],
            form=self.form,
            evidence=self.evidence,
            prior=self.prior,
            at_least=self.at_least,
            at_most=self.at_most,
            groups_seen=self.groups_seen,
            refer_cost=self.refer_cost,
            confidence=self.confidence,
            seed=self.seed_,
            trust=len(self.order_) == 2 and row_cost is None,
            row_cost=self._row_costs(row_cost, len(target)),
        )
        self.value_ = self.rule_.value
        self._set_thresholds()
        return self

    def _set_thresholds(self) -> None:
        self.thresholds_: Any = None
        self.interval_: Any = (float("nan"), float("nan"))
        if len(self.order_) != 2 or self.rule_.mixed:
            return
        found = self.rule_.thresholds
        self.thresholds_ = found["all"] if list(found) == ["all"] and not self.rule_.groups else found
        ends = self.rule_.report.get("thresholds")
        if isinstance(self.thresholds_, dict) and ends:
            self.interval_ = ends
        elif ends and not np.isnan(self.thresholds_):
            self.interval_ = ends["all"]

    def _row_costs(self, row_cost: Optional[ArrayLike], n: int) -> Optional[Floats]:
        """In the order of order_."""
        known, order = [_rows.name_of(label) for label in self.classes_], [_rows.name_of(label) for label in self.order_]
        return _rows.costs_of_rows(row_cost, n, known, order)

    def predict(self, X: Any, groups: Optional[ArrayLike] = None, row_cost: Optional[ArrayLike] = None) -> Labels:
        """One label per row; where cases may be referred, None for these."""
        proba = self._new_proba(X)
        return self._labels(self.rule_.decide_codes(proba, self._rule_groups(X, groups), self.seed_, row_cost))

    def score(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: Optional[ArrayLike] = None,
        groups: Optional[ArrayLike] = None,
        row_cost: Optional[ArrayLike] = None,
    ) -> float:
        """The metric's value, of which more is better: costs are negated. With row_cost rows count by what they cost."""
        decided = self.predict(X, groups, row_cost)
        cost = self._row_costs(row_cost, len(decided))
        if cost is not None:
            weight = _rows.weights(sample_weight, len(decided))
            codes = self._codes(_rows.column(y, "y"), self.order_)
            sample_weight = cost[np.arange(len(cost)), codes] * (1.0 if weight is None else weight)
        return self._value(X, y, decided, sample_weight, groups)


class _BlackBoxClassifier(_RuleClassifier):
    _plug_in = False
    iterations: int
    epsilon: Optional[float]
    on: str
    randomised: bool

    def fit(self, X: Any, y: ArrayLike, sample_weight: Optional[ArrayLike] = None) -> Any:
        X, target, weight = self._prepared(X, y, sample_weight)
        times = None if weight is None else _repeats(weight)
        proba = self._learn(X, target, *self._for_parts(sample_weight=weight))
        self.order_ = self._order()
        self.seed_ = seed_of(self.random_state)
        if times is not None:
            proba, target = np.repeat(proba, times, axis=0), np.repeat(target, times)
        rows = ffi.new("mel_weight_rows *")
        table, codes = self._columns(proba, self.order_), self._codes(target, self.order_)
        rows.n_rows, rows.probability, rows.label = len(table), pointer(table), pointer(codes, "uint32_t")
        opt = ffi.new("mel_optimise_options *")
        lib.mel_optimise_options_init(opt)
        opt.iterations, opt.plug_in, opt.seed = self._steps(), self._plug_in, self.seed_
        opt.best, opt.progress.call = True, lib.melicit_progress
        box, mine, kept = self._box(target, opt)
        if self.epsilon is not None:
            opt.epsilon = float(self.epsilon)
        result = ffi.gc(ffi.new("mel_optimise_result *"), lib.mel_optimise_clear)
        try:
            call(lib.mel_optimise, result, len(self.order_), 1, rows, rows, box, opt)
        except Exception:
            if mine is None or mine.raised is None:
                raise
        if mine is not None and mine.raised is not None:
            raise mine.raised
        if result.end == lib.MEL_OPTIMISE_STOPPED:
            raise KeyboardInterrupt
        del kept
        if result.end == lib.MEL_OPTIMISE_FAILED:
            why = ffi.string(result.failure.text).decode("utf-8", "replace")
            warnings.warn(f"the metric failed: {why}; the rule is the best so far, of iteration {result.best_iteration}, "
                          f"with the value {result.value:.6g}", ConvergenceWarning, stacklevel=2)
        elif result.end == lib.MEL_OPTIMISE_FLAT and result.iterations == 0:
            warnings.warn(f"the metric is {result.value:.6g} for the estimator as it is and for every small change of it: the rule is the "
                          "estimator's own; a larger epsilon may tell more", ConvergenceWarning, stacklevel=2)
        elif not self._plug_in and result.best_iteration == 0:
            warnings.warn(f"no step raised the metric above the {result.start:.6g} of the estimator's own decisions: the rule is these; "
                          "more iterations, another epsilon or on='confusion' may find a better one", ConvergenceWarning, stacklevel=2)
        self.value_, self.queries_, self.n_iter_ = float(result.value), int(result.queries), max(1, int(result.iterations))
        names, columns = [_rows.name_of(label) for label in self.order_], [_rows.name_of(label) for label in self.classes_]
        self.rule_ = stored_rule(result, names, self.order_, columns)
        return self

    def _steps(self) -> int:
        if isinstance(self.iterations, bool) or not isinstance(self.iterations, (int, np.integer)) or not 1 <= self.iterations < 2**31:
            raise fail("EINVAL", f"iterations: a whole number from 1 on, not {self.iterations!r}")
        return int(self.iterations)

    def _box(self, target: Labels, opt: Any) -> Tuple[Any, Optional[Box], Any]:
        k = len(self.order_)
        box = ffi.new("mel_black_box *")
        if isinstance(self.metric, (Metric, str)):
            measure = measure_of(Metric(self.metric), self.order_)
            box[0] = lib.mel_measure_box(measure, ffi.NULL)
            return box, None, measure
        if not callable(self.metric):
            raise fail("EINVAL", f"metric: a callable, a Metric or the name of a measure, not {self.metric!r}")
        order = np.asarray(self.order_, dtype=self.classes_.dtype)
        mine = Box(self.metric, target, order, k)
        handle = ffi.new_handle(mine)
        box.user = handle
        if self.on == "confusion":
            box.value = lib.melicit_box_value
        elif self.on == "predictions":
            box.judge = lib.melicit_box_judge
            opt.labels_only, opt.epsilon = True, 0.3
        else:
            raise fail("EINVAL", f"on {self.on!r}: 'predictions' or 'confusion'")
        return box, mine, handle

    def predict(self, X: Any) -> Labels:
        """One label per row: what the mixture of rules says most often or, randomised, drawn."""
        proba = self._new_proba(X)
        if self.randomised:
            return self._labels(self.rule_.decide_codes(proba, None, self.seed_))
        return self._labels(self.rule_.chances(proba).argmax(axis=1))

    def score(self, X: Any, y: ArrayLike, sample_weight: Optional[ArrayLike] = None) -> float:
        """The metric's value, of which more is better: costs are negated."""
        decided, true = self.predict(X), _rows.column(y, "y")
        if isinstance(self.metric, (Metric, str)):
            return self._value(X, true, decided, sample_weight)
        if self.on != "confusion":
            if sample_weight is not None:
                raise fail("EINVAL", "sample_weight: metric(y_true, y_pred) takes no weights; with on='confusion' they count")
            return float(self.metric(true, decided))
        weight = _rows.weights(sample_weight, len(true))
        counts = _rows.confusion(self._codes(true, self.order_), self._codes(decided, self.order_), len(self.order_), weight)[0]
        return float(self.metric(counts / counts.sum()))


def _repeats(weight: Floats) -> Codes:
    """How often each row stands in the rule's rows: there weights are numbers of equal rows."""
    _rows.weights(weight, len(weight))
    times = weight / weight[weight > 0].min()
    whole = np.rint(times)
    if np.abs(times - whole).max() > 1e-6 or whole.sum() > max(100_000, 100 * len(weight)):
        raise fail("EINVAL", "sample_weight: for a metric that is known by its values a weight says how often a row counts: "
                   "0, the smallest weight or a few times that; MetricClassifier takes any weights")
    repeats: Codes = whole.astype(np.uint32)
    return repeats


class FrankWolfeClassifier(_BlackBoxClassifier):
    """For a metric that is only known by its values, iteratively (FW-EG): a mixture of rules on probabilities.

    metric: a callable metric(y_true, y_pred), of which more is better; with on="confusion" metric(matrix) of shares,
    [true, predicted]; or a Metric or the name of a measure. estimator, cv, pos_label: as MetricClassifier. iterations,
    epsilon: of the method (None: as suits it). randomised: predictions are drawn from the mixture. fit(sample_weight=):
    how often a row counts, for the model and for the rule: 0, the smallest weight or multiples of it.

    Fitted: estimator_, rule_, value_ (on out-of-fold rows), queries_ (evaluations of the metric).
    """

    def __init__(
        self,
        estimator: Any = None,
        metric: Any = "balanced-accuracy",
        *,
        cv: Any = 5,
        on: str = "predictions",
        iterations: int = 20,
        epsilon: Optional[float] = None,
        randomised: bool = False,
        pos_label: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.cv = cv
        self.on = on
        self.iterations = iterations
        self.epsilon = epsilon
        self.randomised = randomised
        self.pos_label = pos_label
        self.random_state = random_state

    groups = None


class PlugInClassifier(_BlackBoxClassifier):
    """For a metric that is only known by its values, in one step (PI-EW): one rule on probabilities.

    Parameters and what is fitted: as FrankWolfeClassifier."""

    _plug_in = True
    iterations = 1
    groups = None
    randomised = False

    def __init__(
        self,
        estimator: Any = None,
        metric: Any = "balanced-accuracy",
        *,
        cv: Any = 5,
        on: str = "predictions",
        epsilon: Optional[float] = None,
        pos_label: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.cv = cv
        self.on = on
        self.epsilon = epsilon
        self.pos_label = pos_label
        self.random_state = random_state
