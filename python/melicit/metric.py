"""Metrics: read and written as the program's files, called as scikit-learn's are, put into words."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _rows
from ._core import Codes, Floats, Texts, call, copied, fail, ffi, floats, lib, made, pointer, taken_text, text, texts_at, to_json

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from .problem import Problem
    from .ranking import Ranking

Path = Union[str, "os.PathLike[str]"]
ROLES = ["negative", "positive"]


class Metric:
    """What makes a classifier good: elicited, read from a file, made of costs, or a well-known measure by its name.

    Confusion matrices are [true, predicted]. Classes are matched by name, never by place.
    """

    _handle: Any  # None: a measure by its name
    _name: Optional[str]
    _draws: Optional[Floats]  # equally likely coefficients

    def __init__(self, source: Union["Metric", str, Path]) -> None:
        """A copy of a metric, or what a text names: a measure ("f1") or a metric file ("metric.json")."""
        if isinstance(source, Metric):
            other = source
        elif isinstance(source, str) and not os.path.isfile(source) and not source.endswith((".json", ".gz")):
            other = Metric.named(source)
        elif isinstance(source, str) and not source.endswith((".json", ".gz")) and _is_measure(source):
            raise fail("EINVAL", f"{source!r} is a measure and a file: Metric.named({source!r}) or Metric.load({source!r})")
        elif isinstance(source, (str, os.PathLike)):
            other = Metric.load(source)
        else:
            raise TypeError(f"a metric is a Metric, the name of a measure or a file, not {type(source).__name__}")
        self._handle, self._name, self._draws = other._handle, other._name, other._draws

    @classmethod
    def _of(cls, handle: Any, name: Optional[str] = None, draws: Optional[Floats] = None) -> "Metric":
        out = cls.__new__(cls)
        out._handle, out._name, out._draws = handle, name, draws
        return out

    # --- making, reading, writing ---

    @classmethod
    def load(cls, path: Path) -> "Metric":
        """A metric file (docs/metric-file.md)."""
        return cls._of(made("mel_metric", lib.mel_metric_free, lib.mel_metric_load, text(os.fspath(path), "path")))

    @classmethod
    def from_json(cls, content: str, name: str = "metric") -> "Metric":
        """What a metric file holds."""
        data = content.encode() if isinstance(content, str) else text(content, "content")
        return cls._of(
            made("mel_metric", lib.mel_metric_free, lib.mel_metric_load_memory, data, len(data), text(name, "name"))
        )

    @classmethod
    def named(cls, name: str) -> "Metric":
        """A measure by its name ("f1", "macro-f1", "mcc", "g-mean", "equalised-odds", ...), for any classes."""
        known, reason = False, None
        for k, groups in ((2, 0), (3, 0), (2, 2), (3, 2)):
            try:
                made("mel_measure", lib.mel_measure_free, lib.mel_measure_named, text(name, "name"), k, groups)
                known = True
                break
            except ValueError as error:
                reason = reason or error
        if not known and reason is not None:
            raise reason
        return cls._of(None, name)

    @classmethod
    def from_costs(
        cls,
        costs: Union[Mapping[Tuple[Any, Any], float], Mapping[str, float], ArrayLike],
        classes: Optional[Sequence[Any]] = None,
    ) -> "Metric":
        """The mean cost per case, without any question: {(true, predicted): cost}, where unnamed mistakes cost nothing; a matrix
        with `classes`; or {"missed": 7, "false-alarm": 1} of two classes. A perfect classifier costs 0.

        Of two classes the second is the positive one: the order of `classes`, else the sorted order.
        """
        if isinstance(costs, Mapping):
            entries: Mapping[Any, float] = costs
            if costs and all(isinstance(key, str) for key in costs):
                classes = list(classes) if classes is not None else ROLES
                entries = _costs_in_words(entries, classes)
            pairs = list(entries)
            if not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
                raise TypeError('costs: the keys are pairs (true, predicted), or "missed" and "false-alarm"')
            seen = list(dict.fromkeys(label for pair in pairs for label in pair))
            known = list(classes) if classes is not None else _rows.distinct(_rows.column(seen, "costs")).tolist()
            names = [_rows.name_of(label) for label in known]
            matrix: Floats = np.zeros((len(names), len(names)))
            for (true, predicted), cost in entries.items():
                if _rows.name_of(true) not in names or _rows.name_of(predicted) not in names:
                    raise fail("EINVAL", f"costs: ({true!r}, {predicted!r}) is not about the classes {known}")
                matrix[names.index(_rows.name_of(true)), names.index(_rows.name_of(predicted))] = cost
        else:
            matrix = floats(costs, "costs", (2,))
            names = [_rows.name_of(c) for c in (classes if classes is not None else range(len(matrix)))]
        if matrix.shape != (len(names), len(names)):
            raise fail("EINVAL", f"costs: a matrix of shape {matrix.shape} for {len(names)} classes")
        called = Texts(names, "classes")
        return cls._of(
            made(
                "mel_metric", lib.mel_metric_free, lib.mel_metric_costs, len(names), pointer(matrix), called.pointer
            )
        )

    @classmethod
    def fair(
        cls,
        costs: ArrayLike,
        between_groups: ArrayLike,
        trade_off: float,
        prevalence: ArrayLike,
        *,
        classes: Optional[Sequence[Any]] = None,
        groups: Optional[Sequence[Any]] = None,
    ) -> "Metric":
        """A fair linear metric, without any question: what mistakes cost, and what it costs that they hit groups differently.

        Parameters
        ----------
        costs : k x k
            Weights of the rates of mistakes [true, predicted]; the diagonal is not looked at.
        between_groups : k x k, or pairs x k x k
            Weights of the differences of these rates between two groups, for all pairs of groups alike, or for each in the
            order 1-2, 1-3, .., 2-3, ...
        trade_off : float
            From 0, mistakes alone, to 1, differences alone.
        prevalence : groups x k
            P(group | true class).
        classes, groups : sequence, optional
            Their names.

        Examples
        --------
        >>> import melicit
        >>> fair = melicit.Metric.fair([[0, 1], [7, 0]], [[0, 1], [1, 0]], 0.2, [[0.6, 0.5], [0.4, 0.5]],
        ...                            classes=["paid", "defaulted"], groups=["men", "women"])
        >>> fair.family, fair.groups
        ('fair-linear', ['men', 'women'])
        """
        matrix, share = floats(costs, "costs", (2,)), floats(prevalence, "prevalence", (2,))
        m, k = share.shape
        pairs = m * (m - 1) // 2
        differences = floats(between_groups, "between_groups", (2, 3))
        blocks = np.broadcast_to(differences, (pairs, k, k)) if differences.shape in ((k, k), (pairs, k, k)) else None
        if blocks is None or matrix.shape != (k, k):
            raise fail("EINVAL", f"costs and between_groups: expected {k} x {k} numbers for the {k} classes of the prevalence")
        layout = ffi.new("mel_layout *")
        layout.kind, layout.coordinates, layout.n_classes, layout.n_groups = lib.MEL_RATES, lib.MEL_OFFDIAGONAL, k, m
        mistakes = ~np.eye(k, dtype=bool)
        a, b = np.ascontiguousarray(matrix[mistakes]), np.ascontiguousarray(blocks[:, mistakes])
        called = [Texts([_rows.name_of(one) for one in names or ()], what) for names, what in ((classes, "classes"), (groups, "groups"))]
        for names, n, what in ((classes, k, "classes"), (groups, m, "groups")):
            if names is not None and len(names) != n:
                raise fail("EINVAL", f"{what}: {len(names)} names for {n}")
        return cls._of(
            made(
                "mel_metric", lib.mel_metric_free, lib.mel_metric_fair_linear, layout, called[0].pointer, called[1].pointer, pointer(a),
                pointer(b), float(trade_off), pointer(share)
            )
        )

    def save(self, path: Path) -> None:
        call(lib.mel_metric_save, self._object("save"), text(os.fspath(path), "path"))

    def to_json(self) -> str:
        return taken_text(lib.mel_metric_to_json, self._object("to_json"))

    def __getstate__(self) -> Dict[str, Any]:
        content = None if self._handle is None else self.to_json()
        return {"json": content, "name": self._name, "draws": self._draws}

    def __setstate__(self, state: Dict[str, Any]) -> None:
        content = state["json"]
        self._handle = None if content is None else Metric.from_json(content)._handle
        self._name, self._draws = state["name"], state["draws"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Metric) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> Tuple[Optional[str], Optional[str]]:
        return self._name, None if self._handle is None else self.to_json()

    def __repr__(self) -> str:
        if self._handle is None:
            return f"Metric({self._name!r})"
        return f"<Metric {self.family} of {_rows.listed(self.classes)}>"

    def _summary(self) -> List[Tuple[str, str]]:
        """What notebooks show."""
        rows = [("in words", self.describe())]
        if self._handle is None:
            return rows
        rows += [("family", str(self.family)), ("classes", ", ".join(self.classes))]
        for i, value in enumerate(self.coefficients):
            low, high = float(self.intervals[i, 0]), float(self.intervals[i, 1])
            open_ended = np.isnan(low) or np.isnan(high)
            rows.append((f"coefficient {i + 1}", f"{value:.4g}" if open_ended else f"{value:.4g} ({low:.4g} to {high:.4g})"))
        return rows

    def _repr_html_(self) -> str:
        return _rows.as_table("Metric" if self._name is None else self._name, self._summary())

    def _object(self, what: str) -> Any:
        if self._handle is None:
            raise fail("EINVAL", f"{what}: {self._name!r} is a measure by its name, without coefficients of its own")
        return self._handle

    # --- what it is ---

    @property
    def name(self) -> Optional[str]:
        """Of a measure by its name; else None."""
        return self._name

    @property
    def family(self) -> Optional[str]:
        if self._handle is None:
            return None
        return str(ffi.string(lib.mel_family_name(lib.mel_metric_family(self._handle))).decode())

    @property
    def greater_is_better(self) -> bool:
        if self._handle is not None:
            return bool(lib.mel_metric_orientation(self._handle) == lib.MEL_UTILITY)
        for k, groups in ((2, 0), (3, 0), (2, 2), (3, 2)):
            try:
                return bool(lib.mel_measure_orientation(self._measure(k, groups)) == lib.MEL_UTILITY)
            except ValueError:
                continue
        raise fail("EINVAL", f"{self._name}: no measure of that name")

    @property
    def classes(self) -> List[str]:
        """Their names; of two the second is the positive one. Empty for a measure by its name."""
        if self._handle is None:
            return []
        return texts_at(lib.mel_metric_class_names(self._handle), self._layout.n_classes)

    @property
    def groups(self) -> List[str]:
        if self._handle is None or self._layout.n_groups < 2:
            return []
        return texts_at(lib.mel_metric_group_names(self._handle), self._layout.n_groups)

    @property
    def any_classes(self) -> bool:
        """It names no classes: a measure by its name, or about a positive and a negative class, whatever they are called."""
        return self._handle is None or self.classes == ROLES

    @property
    def has_positive(self) -> bool:
        """Whether it matters which of two classes is the positive one, and the metric itself does not name it: f1, not accuracy."""
        if not self.any_classes:
            return False
        for groups in (0, 2):
            try:
                return bool(lib.mel_measure_has_positive(self._measure(2, groups)))
            except ValueError:
                continue
        return False  # not for two classes

    def _require_positive(self, labels: Sequence[Any], where: str = "") -> None:
        """Refuses where nobody has said which of two texts is positive: their order in the alphabet means nothing, unless they
        are a pair such as no and yes."""
        if len(labels) != 2 or not all(isinstance(label, str) for label in labels):
            return
        if not lib.mel_positive_is_plain(*(text(label, "labels") for label in labels)) and self.has_positive:
            choices = " or ".join(f"{where}pos_label={str(label)!r}" for label in labels)
            raise fail("EINVAL", f"{self._name or 'the metric'}: it matters which class is positive; say {choices}")

    def needs_groups(self, k: int) -> bool:
        """Whether it compares groups, so that it has no value without them."""
        if self._handle is not None:
            return bool(self.groups)
        try:
            self._measure(k, 0)
        except ValueError:
            try:
                self._measure(k, 2)
                return True
            except ValueError:
                pass
        return False

    @property
    def _layout(self) -> Any:
        return lib.mel_metric_layout(self._object("layout"))

    @property
    def coefficients(self) -> Floats:
        """In the order of metric files."""
        handle = self._object("coefficients")
        return copied(lib.mel_metric_coefficient(handle), lib.mel_metric_coefficients(handle))

    @property
    def intervals(self) -> Floats:
        """95% of each coefficient, n x 2; NaN where nothing is known."""
        handle = self._object("intervals")
        out = np.full((lib.mel_metric_coefficients(handle), 2), np.nan)
        ends = ffi.new("double[2]")
        for i in range(len(out)):
            if lib.mel_metric_interval(handle, i, ends, ends + 1):
                out[i] = ends[0], ends[1]
        return out

    @property
    def cost_ratio(self) -> Tuple[float, float, float]:
        """What a missed positive costs in false alarms, with its 95% interval; binary linear metrics."""
        out = ffi.new("mel_cost_ratio *")
        call(lib.mel_metric_cost_ratio, out, self._object("cost_ratio"))
        return out.ratio, out.low, out.high

    def describe(self) -> str:
        """The metric in a sentence or a few."""
        if self._handle is None:
            return f"{self._name}: {'more' if self.greater_is_better else 'less'} is better."
        return taken_text(lib.mel_metric_words, self._handle)

    def equivalents(self, problem: Optional["Problem"] = None) -> Dict[str, Any]:
        """The preference in the numbers that others use, with 95% intervals and lines of code: threshold, class_weight,
        scale_pos_weight, cost matrix and so on; with a problem of two classes also the threshold on its scores and the beta
        of F-beta. {} for metrics that have no fixed costs."""
        options = ffi.new("mel_outcome_options *")
        lib.mel_outcome_options_init(options)
        handle, ground = self._object("equivalents"), None
        if problem is not None:
            ground = problem.ground("linear" if len(problem.classes) == 2 else str(self.family))
            if not self.any_classes and list(self.classes) != list(ground.classes):
                raise fail("EINVAL", f"equivalents: the metric is about {self.classes}, the problem about {ground.classes}")
            options.domain, options.rows = ground.domain, ground.rows
        found = made("mel_outcome", lib.mel_outcome_free, lib.mel_outcome_of_metric, handle, options)
        return dict(to_json(lib.mel_outcome_equivalents_json, found))

    def cost_matrix(self) -> Floats:
        """[true, predicted], in cheapest mistakes, for metrics that are weighted sums of confusion entries."""
        handle = self._object("cost_matrix")
        layout, a = self._layout, self.coefficients
        facts = lib.mel_family_about(lib.mel_metric_family(handle))
        if not facts.sum or layout.kind != lib.MEL_CONFUSION or layout.n_groups > 1:
            raise fail(
                "EINVAL", f"cost_matrix: a {self.family} metric has no fixed costs; weighted sums of confusion entries have"
            )
        k = layout.n_classes
        if lib.mel_metric_orientation(handle) == lib.MEL_COST:
            a = -a
        out = np.zeros((k, k))
        if layout.coordinates == lib.MEL_BINARY:
            out[1, 0], out[0, 1] = a[0], a[1]
        elif layout.coordinates == lib.MEL_DIAGONAL:
            out[:] = a[:, None] * (1.0 - np.eye(k))
        else:
            out[~np.eye(k, dtype=bool)] = -a
        paid = out[out > 0]
        cheapest = float(paid.min()) if paid.size else 1.0
        return out / cheapest

    # --- values ---

    def _measure(self, k: int, groups: int) -> Any:
        if self._handle is None:
            return made("mel_measure", lib.mel_measure_free, lib.mel_measure_named, text(self._name, "name"), k, groups)
        return made("mel_measure", lib.mel_measure_free, lib.mel_measure_metric, self._handle, k, groups)

    def _known_classes(
        self, present: NDArray[Any], labels: Optional[Sequence[Any]], pos_label: Any
    ) -> List[Any]:
        """The labels of the data in the order of the classes."""
        if self._handle is None or (self.any_classes and not set(map(_rows.name_of, present)) <= set(ROLES)):
            return self._free_classes(present, labels, pos_label)
        names = self.classes
        if labels is not None:
            given = [_rows.name_of(label) for label in labels]
            where = _rows.places(names, given)
            if where is not None:
                labels = [labels[i] for i in where]
            elif len(given) != len(names) or set(given) & set(names):
                raise fail("EINVAL", f"labels {given} are not the classes of the metric ({', '.join(names)})")
        known: Sequence[Any] = names if labels is None else labels
        if pos_label is not None and (len(names) != 2 or _rows.name_of(pos_label) != _rows.name_of(known[1])):
            raise fail("EINVAL", f"pos_label: the metric's positive class is {known[-1]!r}, not {pos_label!r}")
        return list(known)

    def _free_classes(self, present: NDArray[Any], labels: Optional[Sequence[Any]], pos_label: Any) -> List[Any]:
        known: List[Any] = list(labels if labels is not None else present.tolist())
        if len(known) == 1 and _rows.name_of(known[0]) in ("0", "1") and labels is None:
            known = [0, 1]
        names = [_rows.name_of(label) for label in known]
        if len(set(names)) != len(names):
            raise fail("EINVAL", f"labels: {names} are not all different")
        if pos_label is None:
            if labels is None:
                self._require_positive(known)
            return known
        if len(known) != 2 or _rows.name_of(pos_label) not in names:
            raise fail("EINVAL", f"pos_label {pos_label!r}: for two classes, of which it is one, not {known}")
        return known if names[1] == _rows.name_of(pos_label) else known[::-1]

    def confusion(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        groups: Optional[ArrayLike] = None,
        sample_weight: Optional[ArrayLike] = None,
        *,
        labels: Optional[Sequence[Any]] = None,
        pos_label: Any = None,
    ) -> Floats:
        """Sums of weights, groups x k x k, [true, predicted], in the order of the metric's classes and groups."""
        true, predicted = _rows.column(y_true, "y_true"), _rows.column(y_pred, "y_pred")
        if len(true) == 0:
            raise fail("EDATA", "y_true: there are no rows")
        _rows.same_rows(len(true), y_pred=predicted)
        _rows.refuse_probabilities(true, predicted)
        weight = _rows.weights(sample_weight, len(true))
        present = np.empty(0) if labels is not None else _rows.distinct(true, predicted)
        known = self._known_classes(present, labels, pos_label)
        group, m = self._group_codes(groups, len(true))
        return _rows.confusion(
            _rows.codes(true, known, "y_true"), _rows.codes(predicted, known, "y_pred"), len(known), weight, group, m
        )

    def _group_codes(self, groups: Optional[ArrayLike], n: int) -> Tuple[Optional[Codes], int]:
        if groups is None:
            if self.groups:
                raise fail("EINVAL", f"groups: this metric is about the groups {', '.join(self.groups)}")
            return None, 1
        if self._handle is not None and not self.groups:
            raise fail("EINVAL", f"groups: a {self.family} metric is not about groups")
        array = _rows.column(groups, "groups")
        _rows.same_rows(n, groups=array)
        known = self.groups or _rows.distinct(array).tolist()
        return _rows.codes(array, known, "groups"), len(known)

    def of_confusion(self, matrix: ArrayLike) -> float:
        """The value of a confusion matrix, k x k or groups x k x k, of counts or shares, in the metric's order."""
        array = floats(matrix, "matrix", (2, 3))
        array = array if array.ndim == 3 else array[None]
        if array.shape[1] != array.shape[2] or array.size == 0:
            raise fail("EINVAL", f"matrix: expected k x k numbers, not {array.shape}")
        if not np.isfinite(array).all() or (array < 0).any() or not array.sum() > 0:
            raise fail("EDATA", "matrix: counts are finite, not negative and not all zero")
        measure = self._measure(array.shape[1], 0 if len(array) == 1 else len(array))
        out = ffi.new("double *")
        call(lib.mel_measure_value, out, measure, pointer(array))
        return float(out[0])

    def __call__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        groups: Optional[ArrayLike] = None,
        sample_weight: Optional[ArrayLike] = None,
        *,
        labels: Optional[Sequence[Any]] = None,
        pos_label: Any = None,
        sensitive_features: Optional[ArrayLike] = None,
    ) -> float:
        """The value of predictions. `sensitive_features` is fairlearn's name of `groups`. `labels`: the classes in order; `pos_label`: the positive one of two, by default the larger
        number; of texts it must be said where it matters (`has_positive`), but for pairs such as no and yes."""
        if groups is not None and sensitive_features is not None:
            raise fail("EINVAL", "groups and sensitive_features are two names of one thing")
        groups = sensitive_features if groups is None else groups
        return self.of_confusion(
            self.confusion(y_true, y_pred, groups, sample_weight, labels=labels, pos_label=pos_label)
        )

    def certainty(self, matrix: ArrayLike, *, seed: int = 1) -> "Certainty":
        """The value of a confusion matrix of counts with its 95% interval, as `melicit score` has it: other rows like these,
        and what is open about the metric."""
        array = floats(matrix, "matrix", (2, 3))
        array = array if array.ndim == 3 else array[None]
        measure = self._measure(array.shape[1], 0 if len(array) == 1 else len(array))
        return self._certainty_of(measure, array, seed)

    def _certainty_of(self, measure: Any, counts: Floats, seed: int) -> "Certainty":
        opt, out = ffi.new("mel_certainty_options *"), ffi.new("mel_certainty *")
        lib.mel_certainty_options_init(opt)
        opt.seed = seed
        if self._draws is not None:
            opt.n_metrics, opt.metrics = len(self._draws), pointer(self._draws)
        call(lib.mel_certainty_of, out, measure, pointer(counts), opt)
        return Certainty(out.value, out.both.low, out.both.high)

    def statistics(self, confusion: ArrayLike) -> Floats:
        """The numbers that the metric is a function of: ... x groups x k x k becomes ... x numbers."""
        layout = self._layout
        matrix = np.asarray(confusion, dtype=np.float64)
        k, m = layout.n_classes, max(1, layout.n_groups)
        if matrix.ndim == 2:
            matrix = matrix[None]
        if matrix.shape[-3:] != (m, k, k):
            raise fail("EINVAL", f"confusion: expected {m} x {k} x {k} numbers, not {matrix.shape}")
        rates = layout.kind == lib.MEL_RATES
        total = matrix.sum(axis=-1, keepdims=True) if rates else matrix.sum(axis=(-3, -2, -1), keepdims=True)
        if not (total > 0).all():
            raise fail("EDATA", "confusion: a class without rows has no rates" if rates else "confusion: no rows")
        matrix = matrix / total
        if layout.coordinates == lib.MEL_BINARY:
            part = matrix[..., [1, 0], [1, 0]]
        elif layout.coordinates == lib.MEL_DIAGONAL:
            part = np.diagonal(matrix, axis1=-2, axis2=-1)
        else:
            part = matrix[..., ~np.eye(k, dtype=bool)]
        return np.ascontiguousarray(part.reshape(*matrix.shape[:-3], -1))

    def _statistics_vector(self, statistics: ArrayLike) -> Floats:
        vector = floats(statistics, "statistics")
        wanted = int(lib.mel_layout_size(self._layout))
        if vector.size != wanted:
            raise fail("EINVAL", f"statistics: expected {wanted} numbers, not {vector.size}")
        return vector

    def value(self, statistics: ArrayLike) -> float:
        """The value at statistics in the order of metric files."""
        vector, out = self._statistics_vector(statistics), ffi.new("double *")
        call(lib.mel_metric_value, out, self._handle, pointer(vector))
        return float(out[0])

    def gradient(self, statistics: ArrayLike) -> Floats:
        """d value / d statistics."""
        vector = self._statistics_vector(statistics)
        out = np.empty_like(vector)
        call(lib.mel_metric_gradient, pointer(out), self._handle, pointer(vector))
        return out

    # --- for scikit-learn ---

    def scorer(
        self, groups: Optional[Any] = None, *, labels: Optional[Sequence[Any]] = None, pos_label: Any = None
    ) -> "Scorer":
        """For cross_val_score and GridSearchCV: larger is better, so costs are negated.

        groups: a column of X, by its name or in an array by its place, where the metric is about groups. labels, pos_label:
        as when the metric is called; default: the order_ of the estimators of this package, else the estimator's classes_.
        """
        return Scorer(self, groups, labels, pos_label)

    def rank(
        self,
        pool: Mapping[str, ArrayLike],
        y_true: Optional[ArrayLike] = None,
        *,
        groups: Optional[ArrayLike] = None,
        sample_weight: Optional[ArrayLike] = None,
        labels: Optional[Sequence[Any]] = None,
        pos_label: Any = None,
        draws: int = 1000,
        seed: int = 1,
    ) -> "Ranking":
        """Classifiers by this metric, best first, with the probabilities that other rows and what is open about the
        metric leave. pool: {name: predictions} with y_true, or {name: confusion matrix of counts}."""
        from .ranking import rank

        return rank(self, pool, y_true, groups, sample_weight, labels, pos_label, draws, seed)


class Certainty(NamedTuple):
    """A value with its 95% interval."""

    value: float
    low: float
    high: float


def _costs_in_words(costs: Mapping[str, float], classes: Sequence[Any]) -> Dict[Tuple[Any, Any], float]:
    """{"missed": 7, "false-alarm": 1}, as the command line's `metric --cost` has them."""
    if len(classes) != 2:
        raise fail("EINVAL", f"costs: missed and false-alarm are mistakes between two classes, not {len(classes)}")
    no, yes = classes
    cells = {"missed": (yes, no), "false-alarm": (no, yes), "found": (yes, yes), "cleared": (no, no)}
    for word in costs:
        if word not in cells:
            raise fail("EINVAL", f"costs: {word!r}; expected missed, false-alarm or pairs (true, predicted)")
    return {cells[word]: cost for word, cost in costs.items()}


def _is_measure(name: str) -> bool:
    try:
        Metric.named(name)
    except ValueError:
        return False
    return True


def _order_of(estimator: Any) -> Optional[Sequence[Any]]:
    """The classes with the positive one last where the estimator, or the last one inside of it, says so."""
    inner = estimator
    while inner is not None and not hasattr(inner, "order_"):
        steps = getattr(inner, "steps", None)
        inner = steps[-1][1] if steps else getattr(inner, "best_estimator_", None)
    order: Optional[Sequence[Any]] = None if inner is None else inner.order_
    return order


class Scorer:
    """scorer(estimator, X, y): a value of which more is better."""

    def __init__(
        self,
        metric: Metric,
        groups: Optional[Any] = None,
        labels: Optional[Sequence[Any]] = None,
        pos_label: Any = None,
    ) -> None:
        self.metric = metric
        self.groups = groups
        self.labels = labels
        self.pos_label = pos_label
        self._sign = 1.0 if metric.greater_is_better else -1.0

    def __call__(
        self,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        sample_weight: Optional[ArrayLike] = None,
        groups: Optional[ArrayLike] = None,
    ) -> float:
        if groups is None and self.groups is not None:
            groups = _rows.of_table(X, self.groups)
        labels = self.labels
        if labels is None and self.metric.any_classes:
            labels = _order_of(estimator)
            if labels is None and hasattr(estimator, "classes_"):
                labels = estimator.classes_.tolist()
                if self.pos_label is None:
                    self.metric._require_positive(labels, "scorer: ")
        return self._sign * self.metric(
            y, estimator.predict(X), groups, sample_weight, labels=labels, pos_label=self.pos_label
        )

    def __repr__(self) -> str:
        given = {"groups": self.groups, "labels": self.labels, "pos_label": self.pos_label}
        return f"{self.metric!r}.scorer({', '.join(f'{name}={value!r}' for name, value in given.items() if value is not None)})"
