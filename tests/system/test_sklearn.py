"""Coefficients and log-loss next to scikit-learn's LogisticRegression on real data.

The library reads, encodes and fits through its C interface (libmelicit.so by ctypes); scikit-learn then
fits the very same matrix with C = 1 / l2 and a tight tolerance. Checked independently with NumPy: the
objective, the gradient at our coefficients, and that ours is no worse.

MELICIT_BUILD   build folder (default: build)
"""
import ctypes
import json
import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse
import sklearn
from sklearn.linear_model import LogisticRegression

pytestmark = pytest.mark.plain("Python cannot load a library with sanitizers")

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MELICIT_BUILD", ROOT / "build"))
L2 = 1.0
COEFFICIENT_TOLERANCE = 1e-4
LOSS_TOLERANCE = 1e-6

if os.environ.get("MELICIT_SANITIZE") == "ON":
    pytest.skip("a library with sanitizers cannot be loaded into Python", allow_module_level=True)

size_t, double, pointer = ctypes.c_size_t, ctypes.c_double, ctypes.POINTER


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 480)]


class Features(ctypes.Structure):
    _fields_ = [("n_rows", size_t), ("n_cols", size_t), ("dense", pointer(double)), ("stride", size_t),
                ("row_start", pointer(size_t)), ("col", pointer(ctypes.c_uint32)), ("value", pointer(double))]


class Encoded(ctypes.Structure):
    _fields_ = [("view", Features), ("unseen", size_t), ("imputed", size_t), ("memory", ctypes.c_void_p)]


class Labels(ctypes.Structure):
    _fields_ = [("n_rows", size_t), ("n_classes", size_t), ("code", pointer(ctypes.c_uint32)),
                ("name", pointer(ctypes.c_char_p)), ("number_texts", ctypes.c_bool)]


class EncoderOptions(ctypes.Structure):
    _fields_ = [("struct_size", size_t), ("skip", pointer(ctypes.c_char_p)), ("n_skip", size_t),
                ("keep_scale", ctypes.c_bool), ("dense", ctypes.c_bool), ("missing_category", ctypes.c_bool)]


class FitOptions(ctypes.Structure):
    _fields_ = [("struct_size", size_t), ("l2", double), ("tolerance", double),
                ("max_iterations", ctypes.c_uint32), ("solver", ctypes.c_int), ("warm", ctypes.c_void_p),
                ("threads", ctypes.c_int), ("progress_call", ctypes.c_void_p),
                ("progress_user", ctypes.c_void_p), ("engine", ctypes.c_void_p), ("n_features", size_t)]


class FitReport(ctypes.Structure):
    _fields_ = [("reason", ctypes.c_int), ("solver", ctypes.c_int), ("iterations", ctypes.c_uint32),
                ("objective", double), ("log_loss", double), ("gradient_norm", double)]


@pytest.fixture(scope="module")
def lib():
    library = ctypes.CDLL(str(BUILD / "libmelicit.so"))
    for name in ("mel_model_free", "mel_encoder_free", "mel_table_free"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    return library


def call(function, *args):
    err = Error()
    if function(*args, ctypes.byref(err)) != 0:
        raise AssertionError(f"{function.__name__}: {err.text.decode()}")


def options(kind, init):
    opt = kind()
    init(ctypes.byref(opt))
    assert opt.struct_size == ctypes.sizeof(kind), f"{kind.__name__} no longer matches the header"
    return opt


def data_file(name):
    return ROOT / "data" / f"{name}.csv.gz"


def array(address, shape, dtype=float):
    if 0 in np.atleast_1d(shape):
        return np.zeros(shape, dtype)
    return np.ctypeslib.as_array(address, shape=shape).astype(dtype)


def matrix(view):
    """A copy of the library's feature matrix, dense."""
    if view.dense:
        return array(view.dense, (view.n_rows, view.stride))[:, :view.n_cols].copy()
    start = array(view.row_start, (view.n_rows + 1,), np.int64)
    entries = int(start[-1])
    return scipy.sparse.csr_matrix((array(view.value, (entries,)), array(view.col, (entries,), np.int64), start),
                                   shape=(view.n_rows, view.n_cols)).toarray()


def fit_ours(lib, path, solver=0):
    """Reads, encodes and fits; returns X, y, weights, intercepts, report."""
    table, encoder, model = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    labels, encoded, report = Labels(), Encoded(), FitReport()
    call(lib.mel_table_read, ctypes.byref(table), str(path).encode(), None)
    call(lib.mel_table_labels, ctypes.byref(labels), table, b"label")
    opt = options(EncoderOptions, lib.mel_encoder_options_init)
    opt.skip, opt.n_skip = (ctypes.c_char_p * 1)(b"label"), 1
    call(lib.mel_encoder_fit, ctypes.byref(encoder), table, ctypes.byref(opt))
    call(lib.mel_encode, ctypes.byref(encoded), encoder, table)
    fit = options(FitOptions, lib.mel_fit_options_init)
    fit.l2, fit.solver = L2, solver
    call(lib.mel_model_fit, ctypes.byref(model), ctypes.byref(report), ctypes.byref(encoded.view), labels.code,
         size_t(labels.n_classes), None, ctypes.byref(fit))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model.json"
        call(lib.mel_model_save, model, str(file).encode())
        saved = json.loads(file.read_text())
    result = (matrix(encoded.view), array(labels.code, (labels.n_rows,), np.int64),
              np.array(saved["weights"]), np.array(saved["intercepts"]), report)
    lib.mel_model_free(model)
    lib.mel_encoded_clear(ctypes.byref(encoded))
    lib.mel_encoder_free(encoder)
    lib.mel_labels_clear(ctypes.byref(labels))
    lib.mel_table_free(table)
    return result


def loss_and_gradient(X, y, weights, intercepts):
    """Mean log-loss, the penalised sum, and its gradient for each output, intercept last."""
    scores = X @ weights.T + intercepts
    if scores.shape[1] == 1:
        scores = np.hstack([np.zeros_like(scores), scores])
    scores -= scores.max(axis=1, keepdims=True)
    total = np.log(np.exp(scores).sum(axis=1))
    losses = total - scores[np.arange(len(y)), y]
    residual = np.exp(scores - total[:, None])
    residual[np.arange(len(y)), y] -= 1.0
    residual = residual[:, -weights.shape[0]:]
    gradient = np.hstack([residual.T @ X + L2 * weights, residual.sum(axis=0)[:, None]])
    return losses.mean(), losses.sum() + 0.5 * L2 * (weights ** 2).sum(), gradient


def fit_theirs(X, y):
    binary = y.max() == 1
    of_the_mean = tuple(map(int, sklearn.__version__.split(".")[:2])) >= (1, 4)  # gradients were those of the sum over rows
    model = LogisticRegression(C=1.0 / L2, max_iter=1000, solver="newton-cholesky" if binary else "newton-cg",
                               tol=1e-10 if binary else 1e-6 / (len(y) if of_the_mean else 1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its line search may give up at the last digit; checked below
        model.fit(X, y)
    return model.coef_, model.intercept_


SETS = ["breast_cancer_diagnostic", "breast_cancer_original", "magic04", "adult_train", "vehicle", "letter"]


@pytest.mark.parametrize("name", SETS)
def test_same_as_scikit_learn(lib, name):
    X, y, weights, intercepts, report = fit_ours(lib, data_file(name))
    loss, objective, gradient = loss_and_gradient(X, y, weights, intercepts)
    assert report.reason == 0, "did not converge"
    assert np.abs(gradient).max() / len(y) <= 2e-9  # ours is at the optimum, whatever the peer finds
    assert report.log_loss == pytest.approx(loss, rel=1e-12)
    assert report.objective == pytest.approx(objective, rel=1e-12)

    their_weights, their_intercepts = fit_theirs(X, y)
    their_loss, their_objective, their_gradient = loss_and_gradient(X, y, their_weights, their_intercepts)
    assert np.abs(their_gradient).max() / len(y) <= 1e-6, "scikit-learn did not converge: nothing to compare with"
    print(f"{name}: {X.shape}, largest difference of weights {np.abs(weights - their_weights).max():.2e}, of "
          f"intercepts {np.abs(intercepts - their_intercepts).max():.2e}, of log-loss {loss - their_loss:.2e}")
    assert np.abs(weights - their_weights).max() <= COEFFICIENT_TOLERANCE
    assert np.abs(intercepts - their_intercepts).max() <= COEFFICIENT_TOLERANCE
    assert loss - their_loss <= LOSS_TOLERANCE
    assert objective <= their_objective * (1.0 + 1e-12)


@pytest.mark.parametrize("name", ["breast_cancer_diagnostic", "vehicle"])
def test_lbfgs_too(lib, name):
    X, y, weights, intercepts, report = fit_ours(lib, data_file(name), solver=2)
    assert report.solver == 2
    their_weights, their_intercepts = fit_theirs(X, y)
    assert np.abs(weights - their_weights).max() <= COEFFICIENT_TOLERANCE
    assert np.abs(intercepts - their_intercepts).max() <= COEFFICIENT_TOLERANCE
