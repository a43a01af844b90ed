"""Where no process sees all rows: sums over parts of the rows at a model, a rule or an iterate, added up, and what is made of
them; numbers of rows by score, added up, and the best rule on them."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _rows
from ._core import Floats, Texts, call, copied, fail, ffi, floats, lib, made, pointer, text, texts_at
from .metric import Metric
from .rule import Rule, find_rule

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def _features(X: ArrayLike) -> Tuple[Any, Floats]:
    array = floats(X, "X", (2,))
    view = ffi.new("mel_features *")
    view.n_rows, view.n_cols = array.shape
    view.dense, view.stride = pointer(array), array.shape[1]
    return view, array


def _weights(values: Optional[ArrayLike], n: int) -> Optional[Floats]:
    if values is None:
        return None
    array = floats(values, "weight")
    if array.size != n:
        raise fail("EINVAL", f"weight: {array.size} numbers for {n} rows")
    return array


def _stored(save: Callable[..., int], handle: Any) -> bytes:
    """What a file would hold."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stored")
        call(save, handle, path.encode())
        with open(path, "rb") as file:
            return file.read()


def _read(kind: str, free: Any, load: Callable[..., int], stored: bytes) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stored")
        with open(path, "wb") as file:
            file.write(stored)
        return made(kind, free, load, path.encode())


class Model:
    """A logistic regression on the columns of an array, as they are. Goes to other processes by pickle."""

    def __init__(self, handle: Any, classes: List[Any]) -> None:
        self._handle = handle
        self.classes_ = classes

    @classmethod
    def fit(cls, X: ArrayLike, y: ArrayLike, weight: Optional[ArrayLike] = None, l2: float = 1.0) -> Model:
        view, kept = _features(X)
        labels = _rows.column(y, "y")
        classes = list(_rows.distinct(labels))
        codes = _rows.codes(labels, classes, "y")
        if codes.size != len(kept):
            raise fail("EINVAL", f"y: {codes.size} labels for {len(kept)} rows")
        weights = _weights(weight, len(kept))
        options = ffi.new("mel_fit_options *")
        lib.mel_fit_options_init(options)
        options.l2 = l2
        handle = made(
            "mel_model", lib.mel_model_free, lib.mel_model_fit, ffi.NULL, view, pointer(codes, "uint32_t"), len(classes),
            pointer(weights), options,
        )
        names = Texts([_rows.name_of(label) for label in classes], "y")
        call(lib.mel_model_set_classes, handle, names.pointer)
        return cls(handle, classes)

    def moments(self, X: ArrayLike, y: ArrayLike, part: str, weight: Optional[ArrayLike] = None) -> Moments:
        """As melicit.moments."""
        view, kept = _features(X)
        codes = _rows.codes(_rows.column(y, "y"), self.classes_, "y")
        if codes.size != len(kept):
            raise fail("EINVAL", f"y: {codes.size} labels for {len(kept)} rows")
        weights = _weights(weight, len(kept))
        return Moments(
            made(
                "mel_moments", lib.mel_moments_free, lib.mel_moments_take, self._handle, text(part, "part"), view,
                pointer(codes, "uint32_t"), pointer(weights), 1,
            )
        )

    def predict_proba(self, X: ArrayLike) -> Floats:
        view, kept = _features(X)
        out = np.empty((len(kept), len(self.classes_)))
        call(lib.mel_model_predict, pointer(out), self._handle, view, 0)
        return out

    def step(self, moments: Moments, l2: float = 1.0, tolerance: float = 1e-9) -> Model:
        """The model after a Newton step on the rows of the moments, which were taken at this one; its `converged_`,
        `log_loss_` and `gradient_norm_` say how good this one was."""
        model = _load_model(_stored(lib.mel_model_save, self._handle), self.classes_)
        options = ffi.new("mel_fit_options *")
        lib.mel_fit_options_init(options)
        options.l2, options.tolerance = l2, tolerance
        report = ffi.new("mel_fit_report *")
        call(lib.mel_model_step, model._handle, report, moments._handle, options)
        model.converged_ = report.reason == lib.MEL_FIT_CONVERGED
        model.log_loss_ = float(report.log_loss)
        model.gradient_norm_ = float(report.gradient_norm)
        return model

    converged_: bool
    log_loss_: float
    gradient_norm_: float

    def __reduce__(self) -> Tuple[Any, ...]:
        return _load_model, (_stored(lib.mel_model_save, self._handle), self.classes_)


def _load_model(stored: bytes, classes: List[Any]) -> Model:
    return Model(_read("mel_model", lib.mel_model_free, lib.mel_model_load, stored), classes)


class Decided(NamedTuple):
    """What a rule decides: groups (one without a name where there are none) x classes x decisions, of which a last one refers
    the case. by_labels: rows of each true class; by_model: how many of them the probabilities expect."""

    classes: List[str]
    groups: List[str]
    by_labels: Floats
    by_model: Floats


class Moments:
    """Sums over the rows of some parts: `a + b` has the parts of both, whose sums are added in the order of their names,
    so that any order of additions gives the same bits. Goes to other processes by pickle."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @property
    def parts(self) -> int:
        return int(lib.mel_moments_files(self._handle))

    @property
    def rows(self) -> int:
        return int(lib.mel_moments_rows(self._handle))

    def decided(self) -> Decided:
        """Of moments at a rule: its decisions about all rows."""
        found = ffi.gc(ffi.new("mel_decided *"), lib.mel_decided_clear)
        call(lib.mel_decided_of, found, self._handle)
        k, groups = int(found.n_classes), texts_at(found.group_name, found.n_groups)
        shape = (max(1, len(groups)), k, int(found.n_decisions))
        sums = [copied(at, int(np.prod(shape))).reshape(shape) for at in (found.by_labels, found.by_model)]
        return Decided(texts_at(found.class_name, k), groups, *sums)

    def save(self, path: str) -> None:
        """For `melicit merge` and what reads its results."""
        call(lib.mel_moments_save, self._handle, os.fsencode(path))

    def __add__(self, other: Union[Moments, int]) -> Moments:
        if isinstance(other, int) and other == 0:  # what sum() starts with
            return self
        if not isinstance(other, Moments):
            return NotImplemented
        return Moments(
            made("mel_moments", lib.mel_moments_free, lib.mel_moments_merge, self._handle, other._handle)
        )

    __radd__ = __add__

    def __reduce__(self) -> Tuple[Any, ...]:
        return _load_moments, (_stored(lib.mel_moments_save, self._handle),)


def _load_moments(stored: bytes) -> Moments:
    return Moments(_read("mel_moments", lib.mel_moments_free, lib.mel_moments_load, stored))


def moments(at: Any, X: ArrayLike, y: ArrayLike, part: str, **more: Any) -> Moments:
    """Sums over the rows of one part, which is called `part`, each part once. at a Model: what a Newton step from it needs of
    features X (weight=: how much each row counts). At a Rule: what it decides given probabilities X (groups=: of the rows).
    At the iterate of a Search: what its next step needs of training rows with probabilities X."""
    if not callable(getattr(at, "moments", None)):
        raise TypeError(f"moments are taken at a Model, a Rule or an Iterate, not at a {type(at).__name__}")
    found: Moments = at.moments(X, y, part, **more)
    return found


class Scores:
    """How many rows of two classes have which score, by group: all that thresholds need, in memory that does not grow with
    the rows. `a + b` has the rows of both, the same in any order. Goes to other processes by pickle."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @property
    def parts(self) -> int:
        return int(lib.mel_score_counts_files(self._handle))

    @property
    def rows(self) -> int:
        return int(lib.mel_score_counts_rows(self._handle))

    def __add__(self, other: Union[Scores, int]) -> Scores:
        if isinstance(other, int) and other == 0:  # what sum() starts with
            return self
        if not isinstance(other, Scores):
            return NotImplemented
        return Scores(
            made("mel_score_counts", lib.mel_score_counts_free, lib.mel_score_counts_merge, self._handle, other._handle)
        )

    __radd__ = __add__

    def __reduce__(self) -> Tuple[Any, ...]:
        return _load_scores, (_stored(lib.mel_score_counts_save, self._handle),)

    def save(self, path: str) -> None:
        """For `melicit merge` and `melicit apply --scores`."""
        call(lib.mel_score_counts_save, self._handle, os.fsencode(path))

    def rule(self, metric: Metric, **options: Any) -> Rule:
        """The best rule for the metric; options are those of MetricClassifier: form, evidence, prior, at_least, at_most,
        groups_seen, refer_cost."""
        problem = made("mel_problem", lib.mel_problem_free, lib.mel_problem_of_scores, self._handle)
        n, m = int(problem.n_rows), int(problem.n_groups)

        def array(at: Any, kind: str, dtype: Any, size: int) -> Any:
            return np.frombuffer(ffi.buffer(at, size * ffi.sizeof(kind)), dtype=dtype).copy()

        names = [ffi.string(problem.class_name[i]).decode() for i in range(2)]
        return find_rule(
            metric, array(problem.probability, "double", np.float64, 2 * n).reshape(n, 2),
            array(problem.label, "uint32_t", np.uint32, n), names, array(problem.group, "uint32_t", np.uint32, n) if m else None,
            [ffi.string(problem.group_name[g]).decode() for g in range(m)], array(problem.weight, "double", np.float64, n),
            **options,
        )


def _load_scores(stored: bytes) -> Scores:
    return Scores(_read("mel_score_counts", lib.mel_score_counts_free, lib.mel_score_counts_load, stored))


def scores(p: ArrayLike, y: ArrayLike, part: str, classes: Optional[Sequence[Any]] = None, groups: Optional[ArrayLike] = None) -> Scores:
    """The rows of one part, which is called `part`. p: probabilities of the second class, or of both. classes: the two labels,
    the second one to be found; those of y in sorted order unless given."""
    given, labels = floats(p, "p", (1, 2)), _rows.column(y, "y")
    proba = np.column_stack([1.0 - given, given]) if given.ndim == 1 else given
    known = list(classes) if classes is not None else list(_rows.distinct(labels))
    if proba.shape[1] != 2 or len(known) != 2:
        raise fail("EINVAL", f"scores are counted of two classes, not of {max(proba.shape[1], len(known))}; classes= names both")
    if labels.size != len(proba):
        raise fail("EINVAL", f"y: {labels.size} labels for {len(proba)} rows")
    codes, names = _rows.codes(labels, known, "y"), Texts([_rows.name_of(label) for label in known], "classes")
    rows = ffi.new("mel_counted_rows *")
    rows.n, rows.probability, rows.label, rows.class_name = len(proba), pointer(proba), pointer(codes, "uint32_t"), names.pointer
    if groups is not None:
        of = _rows.column(groups, "groups")
        if of.size != len(proba):
            raise fail("EINVAL", f"groups: {of.size} groups for {len(proba)} rows")
        there = list(_rows.distinct(of))
        group_codes, group_names = _rows.codes(of, there, "groups"), Texts([_rows.name_of(group) for group in there], "groups")
        rows.n_groups, rows.group, rows.group_name = len(there), pointer(group_codes, "uint32_t"), group_names.pointer
    return Scores(made("mel_score_counts", lib.mel_score_counts_free, lib.mel_score_counts_take, rows, text(part, "part")))
