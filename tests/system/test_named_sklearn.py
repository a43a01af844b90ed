"""Named metrics against scikit-learn, on random and on degenerate confusion counts.

The library is called through ctypes; scikit-learn gets label vectors with exactly those counts.
"""
import ctypes
import itertools
import os
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics

BUILD = Path(os.environ.get("MELICIT_BUILD", Path(__file__).resolve().parents[2] / "build"))

pytestmark = pytest.mark.plain("Python cannot load a library with sanitizers")


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 480)]


@pytest.fixture(scope="module")
def library():
    lib = ctypes.CDLL(str(BUILD / "libmelicit.so"))
    number, error = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(Error)
    lib.mel_measure_named.argtypes = [
        ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, error,
    ]
    lib.mel_measure_value.argtypes = [number, ctypes.c_void_p, number, error]
    lib.mel_measure_free.argtypes = [ctypes.c_void_p]
    return lib


def ours(lib, name, counts):
    tp, fp, fn, tn = map(float, counts)
    measure, value, err = ctypes.c_void_p(), ctypes.c_double(), Error()
    assert lib.mel_measure_named(measure, name.encode(), 2, 0, err) == 0, err.text
    status = lib.mel_measure_value(value, measure, (ctypes.c_double * 4)(tn, fp, fn, tp), err)
    lib.mel_measure_free(measure)
    if name == "gmean" and 0 in (tp + fn, fp + tn):  # a rate without rows is refused, not 0
        assert status != 0 and b"is not defined" in err.text
        return 0.0
    assert status == 0, err.text
    return value.value


def labels(tp, fp, fn, tn):
    return np.repeat([1, 0, 1, 0], [tp, fp, fn, tn]), np.repeat([1, 1, 0, 0], [tp, fp, fn, tn])


def recall(y, p, positive):
    return metrics.recall_score(y, p, pos_label=positive, zero_division=0)


THEIRS = {
    "accuracy": metrics.accuracy_score,
    "balanced-accuracy": metrics.balanced_accuracy_score,
    "weighted-accuracy:7": lambda y, p: metrics.accuracy_score(y, p, sample_weight=np.where(y == 1, 7.0, 1.0)),
    "weighted-accuracy:0.25": lambda y, p: metrics.accuracy_score(y, p, sample_weight=np.where(y == 1, 0.25, 1.0)),
    "f1": lambda y, p: metrics.f1_score(y, p, zero_division=0),
    "f0.5": lambda y, p: metrics.fbeta_score(y, p, beta=0.5, zero_division=0),
    "f2": lambda y, p: metrics.fbeta_score(y, p, beta=2, zero_division=0),
    "fbeta:3.7": lambda y, p: metrics.fbeta_score(y, p, beta=3.7, zero_division=0),
    "jaccard": lambda y, p: metrics.jaccard_score(y, p, zero_division=0),
    "precision": lambda y, p: metrics.precision_score(y, p, zero_division=0),
    "recall": lambda y, p: recall(y, p, 1),
    "specificity": lambda y, p: recall(y, p, 0),
    "gmean": lambda y, p: np.sqrt(recall(y, p, 1) * recall(y, p, 0)),
    "mcc": metrics.matthews_corrcoef,
}


def count_table():
    """Every combination of none, one and some, then random counts of different sizes."""
    yield from (c for c in itertools.product([0, 1, 13], repeat=4) if sum(c) > 0)
    rng = np.random.default_rng(7)
    for _ in range(120):
        yield tuple(int(n) for n in rng.integers(0, 10 ** rng.integers(1, 5, size=4)))


@pytest.mark.parametrize("name", sorted(THEIRS))
def test_equals_scikit_learn(library, name):
    compared = 0
    for counts in count_table():
        if sum(counts) == 0:
            continue
        y, p = labels(*counts)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # single-class warnings of the degenerate cases
            want = THEIRS[name](y, p)
        assert ours(library, name, counts) == pytest.approx(want, abs=1e-12, rel=1e-12), counts
        compared += 1
    assert compared >= 190
