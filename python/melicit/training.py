"""Training where no process sees all rows: sums over parts of the rows at a model, added up, and a Newton step on them."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Tuple, Union

import numpy as np

from . import _rows
from ._core import Floats, Texts, call, fail, ffi, floats, lib, made, pointer, text

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


def moments(model: Model, X: ArrayLike, y: ArrayLike, part: str, weight: Optional[ArrayLike] = None) -> Moments:
    """What a Newton step from the model needs of these rows; `part` is what they are called, each part once."""
    view, kept = _features(X)
    codes = _rows.codes(_rows.column(y, "y"), model.classes_, "y")
    if codes.size != len(kept):
        raise fail("EINVAL", f"y: {codes.size} labels for {len(kept)} rows")
    weights = _weights(weight, len(kept))
    return Moments(
        made(
            "mel_moments", lib.mel_moments_free, lib.mel_moments_take, model._handle, text(part, "part"), view,
            pointer(codes, "uint32_t"), pointer(weights), 1,
        )
    )
