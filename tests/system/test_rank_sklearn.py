"""Tau and NDCG against SciPy and scikit-learn; measures of group rates against scikit-learn's confusion matrices.

The library is called through ctypes. fairlearn is not a Debian package, so its definitions are written out here
from its documentation: the difference of a metric over groups is the largest minus the smallest group's, and
equalized odds takes the worst (or the mean) of the true and false positive rates' differences.
"""
import ctypes
import itertools
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

BUILD = Path(os.environ.get("MELICIT_BUILD", Path(__file__).resolve().parents[2] / "build"))

pytestmark = pytest.mark.plain("Python cannot load a library with sanitizers")

DOUBLES = np.ctypeslib.ndpointer(dtype=np.float64, flags="C_CONTIGUOUS")
UTILITY, COST = 0, 1
SQUARED, ABSOLUTE = 0, 1


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 480)]


class Agreement(ctypes.Structure):
    _fields_ = [("tau", ctypes.c_double), ("ndcg", ctypes.c_double), ("same_best", ctypes.c_bool)]


@pytest.fixture(scope="module")
def library():
    lib = ctypes.CDLL(str(BUILD / "libmelicit.so"))
    number, error = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(Error)
    lib.mel_rank_agreement.argtypes = [
        ctypes.POINTER(Agreement), ctypes.c_size_t, DOUBLES, ctypes.c_int, DOUBLES, ctypes.c_int, error,
    ]
    lib.mel_measure_named.argtypes = [
        ctypes.POINTER(ctypes.c_void_p), ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, error,
    ]
    lib.mel_measure_value.argtypes = [number, ctypes.c_void_p, DOUBLES, error]
    lib.mel_measure_free.argtypes = [ctypes.c_void_p]
    return lib


def agreement(lib, reference, values, orientation=UTILITY):
    out, err = Agreement(), Error()
    assert lib.mel_rank_agreement(out, len(values), reference, orientation, values, UTILITY, err) == 0, err.text
    return out


def lists():
    """Pairs of lists: normal, with few different numbers, nearly sorted, rounded; some long."""
    rng = np.random.default_rng(3)
    for n, _ in itertools.product([2, 3, 5, 10, 47, 200, 3000], range(12)):
        x = rng.normal(size=n)
        yield x, rng.normal(size=n)
        yield rng.integers(0, 4, size=n).astype(float), rng.integers(0, 3, size=n).astype(float)
        yield x, np.round(x + 0.1 * rng.normal(size=n), 1)
        yield np.round(x, 1), -x


def test_tau(library):
    compared = undefined = 0
    for x, y in lists():
        want = stats.kendalltau(x, y).statistic
        got = agreement(library, x, y).tau
        if np.isnan(want):
            assert np.isnan(got)
            undefined += 1
        else:
            assert got == pytest.approx(want, abs=1e-12, rel=1e-12)
            compared += 1
    assert compared > 300 and undefined > 0


@pytest.mark.parametrize("orientation", [UTILITY, COST])
def test_ndcg(library, orientation):
    compared = 0
    for reference, score in lists():
        low, high = reference.min(), reference.max()
        if low == high:
            continue
        relevance = (reference - low if orientation == UTILITY else high - reference) / (high - low)
        want = metrics.ndcg_score([np.exp2(relevance) - 1], [score])
        assert agreement(library, reference, score, orientation).ndcg == pytest.approx(want, abs=1e-12, rel=1e-12)
        compared += 1
    assert compared > 300


def people(rng, k, m, n=400):
    """Labels, predictions and groups with every class in every group."""
    y, group = rng.integers(0, k, size=n), rng.integers(0, m, size=n)
    guess = rng.integers(0, k, size=n)
    p = np.where(rng.random(n) < 0.3 + 0.2 * group / m, guess, y)
    return y, p, group


def measure(lib, name, y, p, group, k, m):
    confusion = np.zeros((m, k, k))
    np.add.at(confusion, (group, y, p), 1.0)
    handle, value, err = ctypes.c_void_p(), ctypes.c_double(), Error()
    assert lib.mel_measure_named(handle, name.encode(), k, m if m > 1 else 0, err) == 0, err.text
    status = lib.mel_measure_value(value, handle, confusion.ravel(), err)
    lib.mel_measure_free(handle)
    assert status == 0, err.text
    return value.value


def by_group(function, y, p, group, m):
    return np.array([function(y[group == g], p[group == g]) for g in range(m)])


def true_positive_rate(y, p):
    return metrics.recall_score(y, p, pos_label=1)


def false_positive_rate(y, p):
    return 1 - metrics.recall_score(y, p, pos_label=0)


def selection_rate(_, p):
    return np.mean(p == 1)


def difference(values):
    return values.max() - values.min()


def over_pairs(values, gap):
    pairs = [u - v for u, v in itertools.combinations(values, 2)]
    return sum(d * d for d in pairs) if gap == SQUARED else sum(abs(d) for d in pairs)


@pytest.mark.parametrize("m", [2, 3, 5])
def test_groups(library, m):
    rng = np.random.default_rng(10 + m)
    for _ in range(20):
        y, p, group = people(rng, 2, m)
        tpr = by_group(true_positive_rate, y, p, group, m)
        fpr = by_group(false_positive_rate, y, p, group, m)
        selected = by_group(selection_rate, y, p, group, m)
        want = {
            # fairlearn: demographic_parity_difference, equal_opportunity_difference,
            # false_positive_rate_difference, equalized_odds_difference with agg worst_case and mean
            "demographic-parity:largest": difference(selected),
            "equal-opportunity:largest": difference(tpr),
            "negative-balance:largest": difference(fpr),
            "equalised-odds:largest": max(difference(tpr), difference(fpr)),
            "error-rate-balance:largest": (difference(tpr) + difference(fpr)) / 2,
        }
        for gap, suffix in ((SQUARED, "squared"), (ABSOLUTE, "absolute")):
            odds = over_pairs(tpr, gap) + over_pairs(fpr, gap)
            want[f"equalised-odds:{suffix}"] = odds
            want[f"error-rate-balance:{suffix}"] = odds / 2
            want[f"equal-opportunity:{suffix}"] = over_pairs(tpr, gap)
            want[f"negative-balance:{suffix}"] = over_pairs(fpr, gap)
            want[f"demographic-parity:{suffix}"] = over_pairs(selected, gap)
        for name, value in want.items():
            assert measure(library, name, y, p, group, 2, m) == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("k", [2, 3, 6])
def test_classes(library, k):
    rng = np.random.default_rng(20 + k)
    for _ in range(20):
        y, p, _ = people(rng, k, 1)
        group = np.zeros_like(y)
        recalls = metrics.recall_score(y, p, labels=range(k), average=None)
        predicted, prior = np.bincount(p, minlength=k) / len(p), np.bincount(y, minlength=k) / len(y)
        target = rng.dirichlet(np.ones(k))
        want = {
            "q-mean:squared": np.mean((1 - recalls) ** 2),
            "q-mean:absolute": 1 - metrics.balanced_accuracy_score(y, p),
            "q-mean:largest": 1 - recalls.min(),
            "distribution-matching:squared": np.sum((predicted - prior) ** 2),
            "distribution-matching:absolute": np.sum(np.abs(predicted - prior)),
            "distribution-matching:largest": np.max(np.abs(predicted - prior)),
            "distribution-matching:largest:" + ",".join(f"{t:.17g}" for t in target): np.max(np.abs(predicted - target)),
        }
        for name, value in want.items():
            assert measure(library, name, y, p, group, k, 1) == pytest.approx(value, abs=1e-12), name


@pytest.mark.parametrize("k,m", [(3, 2), (4, 3)])
def test_many_classes_and_groups(library, k, m):
    rng = np.random.default_rng(30 + k)
    y, p, group = people(rng, k, m, 2000)
    matrix = np.array([
        metrics.confusion_matrix(y[group == g], p[group == g], labels=range(k), normalize="true") for g in range(m)
    ])
    shares = np.array([np.bincount(p[group == g], minlength=k) / np.sum(group == g) for g in range(m)])
    off = ~np.eye(k, dtype=bool)
    pairs = list(itertools.combinations(range(m), 2))
    assert measure(library, "equalised-odds:squared", y, p, group, k, m) == pytest.approx(
        sum(np.sum((matrix[u] - matrix[v])[off] ** 2) for u, v in pairs), abs=1e-12
    )
    # The absolute demographic parity of many classes is the total variation between predictions.
    assert measure(library, "demographic-parity:absolute", y, p, group, k, m) == pytest.approx(
        sum(0.5 * np.sum(np.abs(shares[u] - shares[v])) for u, v in pairs), abs=1e-12
    )
