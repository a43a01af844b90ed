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

pytestmark = pytest.mark.skipif(
    os.environ.get("MELICIT_SANITIZE") == "ON",
    reason="a sanitized library cannot be loaded into a plain interpreter",
)

DOUBLES = np.ctypeslib.ndpointer(dtype=np.float64, flags="C_CONTIGUOUS")
LINEAR, EXPONENTIAL = 0, 1
RATES, OFFDIAGONAL = 1, 2
SQUARED, ABSOLUTE, LARGEST = 0, 1, 2


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int), ("text", ctypes.c_char * 480)]


class Layout(ctypes.Structure):
    _fields_ = [
        ("kind", ctypes.c_int),
        ("coordinates", ctypes.c_int),
        ("n_classes", ctypes.c_size_t),
        ("n_groups", ctypes.c_size_t),
    ]


class GroupRates(ctypes.Structure):
    _fields_ = [("layout", Layout)] + [
        (name, ctypes.POINTER(ctypes.c_double)) for name in ("rates", "shares", "target")
    ]


@pytest.fixture(scope="module")
def library():
    lib = ctypes.CDLL(str(BUILD / "libmelicit.so"))
    out, err = ctypes.POINTER(ctypes.c_double), ctypes.POINTER(Error)
    lib.mel_kendall_tau.argtypes = [out, ctypes.c_size_t, DOUBLES, DOUBLES, err]
    lib.mel_ndcg.argtypes = [out, ctypes.c_size_t, DOUBLES, DOUBLES, ctypes.c_int, ctypes.c_size_t, err]
    lib.mel_named_rates_parse.argtypes = [
        ctypes.POINTER(ctypes.c_int),
        ctypes.POINTER(ctypes.c_int),
        ctypes.c_char_p,
        err,
    ]
    lib.mel_named_rates_value.argtypes = [out, ctypes.c_int, ctypes.c_int, ctypes.POINTER(GroupRates), err]
    return lib


def call(function, *args):
    value, err = ctypes.c_double(), Error()
    assert function(value, *args, err) == 0, err.text
    return value.value


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
        got = call(library.mel_kendall_tau, len(x), x, y)
        if np.isnan(want):
            assert np.isnan(got)
            undefined += 1
        else:
            assert got == pytest.approx(want, abs=1e-12, rel=1e-12)
            compared += 1
    assert compared > 300 and undefined > 0


@pytest.mark.parametrize("gain", [LINEAR, EXPONENTIAL])
@pytest.mark.parametrize("top", [0, 1, 3, 10])
def test_ndcg(library, gain, top):
    for x, score in lists():
        relevance = np.abs(x)
        gains = relevance if gain == LINEAR else np.exp2(relevance) - 1
        want = metrics.ndcg_score([gains], [score], k=top or None)
        got = call(library.mel_ndcg, len(x), relevance, score, gain, top)
        assert got == pytest.approx(want, abs=1e-12, rel=1e-12)


def people(rng, k, m, n=400):
    """Labels, predictions and groups with every class in every group."""
    y, group = rng.integers(0, k, size=n), rng.integers(0, m, size=n)
    guess = rng.integers(0, k, size=n)
    p = np.where(rng.random(n) < 0.3 + 0.2 * group / m, guess, y)
    return y, p, group


def measure(lib, name, y, p, group, k, m, target=None):
    off = ~np.eye(k, dtype=bool)
    rates, shares = [], []
    for g in range(m):
        mask = group == g
        rates.append(metrics.confusion_matrix(y[mask], p[mask], labels=range(k), normalize="true")[off])
        shares.append(np.bincount(y[mask], minlength=k) / mask.sum())
    buffers = [np.ascontiguousarray(np.concatenate(v)) for v in (rates, shares)]
    buffers.append(None if target is None else np.ascontiguousarray(target, dtype=float))
    pointers = [b if b is None else b.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for b in buffers]
    value = GroupRates(Layout(RATES, OFFDIAGONAL, k, m if m > 1 else 0), *pointers)
    kind, gap, err = ctypes.c_int(), ctypes.c_int(), Error()
    assert lib.mel_named_rates_parse(kind, gap, name.encode(), err) == 0, err.text
    return call(lib.mel_named_rates_value, kind, gap, value)


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
            "q-mean:squared": (np.mean((1 - recalls) ** 2), None),
            "q-mean:absolute": (1 - metrics.balanced_accuracy_score(y, p), None),
            "q-mean:largest": (1 - recalls.min(), None),
            "distribution-matching:squared": (np.sum((predicted - prior) ** 2), None),
            "distribution-matching:absolute": (np.sum(np.abs(predicted - prior)), None),
            "distribution-matching:largest": (np.max(np.abs(predicted - target)), target),
        }
        for name, (value, to) in want.items():
            assert measure(library, name, y, p, group, k, 1, to) == pytest.approx(value, abs=1e-12), name


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
    assert measure(library, "equalised-odds", y, p, group, k, m) == pytest.approx(
        sum(np.sum((matrix[u] - matrix[v])[off] ** 2) for u, v in pairs), abs=1e-12
    )
    # The absolute demographic parity of many classes is the total variation between predictions.
    assert measure(library, "demographic-parity:absolute", y, p, group, k, m) == pytest.approx(
        sum(0.5 * np.sum(np.abs(shares[u] - shares[v])) for u, v in pairs), abs=1e-12
    )
