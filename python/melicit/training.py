"""A logistic regression of the library."""
from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING, Any, Callable, List, Optional, Tuple

import numpy as np

from . import _rows
from ._core import Floats, Texts, call, fail, ffi, floats, lib, made, pointer
from .engine import Engine

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
    def fit(cls, X: ArrayLike, y: ArrayLike, weight: Optional[ArrayLike] = None, l2: float = 1.0, *, engine: Any = None) -> Model:
        """engine: a client of dask.distributed, whose workers then hold X, y and weight, which are Dask collections with parts of the
        same rows."""
        if engine is not None:
            return cls._fit_elsewhere(Engine.of_dask(engine, y, X=X, weight=weight), l2)
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

    @classmethod
    def _fit_elsewhere(cls, engine: Engine, l2: float) -> Model:
        options = ffi.new("mel_fit_options *")
        lib.mel_fit_options_init(options)
        options.l2, options.engine, options.n_features = l2, engine.handle, engine.n_features
        handle = made(
            "mel_model", lib.mel_model_free, lib.mel_model_fit, ffi.NULL, ffi.NULL, ffi.NULL, len(engine.classes), ffi.NULL, options
        )
        names = Texts([_rows.name_of(label) for label in engine.classes], "y")
        call(lib.mel_model_set_classes, handle, names.pointer)
        return cls(handle, engine.classes)

    def predict_proba(self, X: ArrayLike) -> Floats:
        view, kept = _features(X)
        out = np.empty((len(kept), len(self.classes_)))
        call(lib.mel_model_predict, pointer(out), self._handle, view, 0)
        return out

    def __reduce__(self) -> Tuple[Any, ...]:
        return _load_model, (_stored(lib.mel_model_save, self._handle), self.classes_)


def _load_model(stored: bytes, classes: List[Any]) -> Model:
    return Model(_read("mel_model", lib.mel_model_free, lib.mel_model_load, stored), classes)


def train(X: ArrayLike, y: ArrayLike, weight: Optional[ArrayLike] = None, l2: float = 1.0, *, engine: Any = None) -> Model:
    """A logistic regression; engine: a client of dask.distributed for Dask collections (Model.fit)."""
    return Model.fit(X, y, weight, l2, engine=engine)
