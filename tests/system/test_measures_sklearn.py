"""Measures of confusion matrices against scikit-learn and against NumPy, on random and on degenerate counts.

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
    pointer, number, error = ctypes.c_void_p, ctypes.c_double, ctypes.POINTER(Error)
    lib.mel_measure_named.argtypes = [ctypes.POINTER(pointer), ctypes.c_char_p, ctypes.c_size_t, ctypes.c_size_t, error]
    lib.mel_measure_value.argtypes = [ctypes.POINTER(number), pointer, ctypes.POINTER(number), error]
    lib.mel_measure_free.argtypes = [pointer]
    return lib


class Measure:
    def __init__(self, lib, name, k, groups=0):
        self.lib, self.handle, self.cells = lib, ctypes.c_void_p(), max(groups, 1) * k * k
        err = Error()
        if lib.mel_measure_named(self.handle, name.encode(), k, groups, err) != 0:
            raise ValueError(err.text.decode())

    def __del__(self):
        self.lib.mel_measure_free(self.handle)

    def __call__(self, confusion):
        flat, out, err = np.ascontiguousarray(confusion, dtype=float).ravel(), ctypes.c_double(), Error()
        assert flat.size == self.cells
        data = flat.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
        if self.lib.mel_measure_value(out, self.handle, data, err) != 0:
            raise ValueError(err.text.decode())
        return out.value


def labels(c):
    k = len(c)
    true, said = np.indices((k, k))
    return np.repeat(true.ravel(), c.ravel()), np.repeat(said.ravel(), c.ravel())


def averaged(function, average, **more):
    return lambda y, p: function(y, p, average=average, zero_division=0, **more)


# For any number of classes.
THEIRS = {
    "accuracy": metrics.accuracy_score,
    "Balanced_Accuracy": metrics.balanced_accuracy_score,
    "mcc": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
}
for _way in ("macro", "micro", "weighted"):
    THEIRS[f"{_way}-f1"] = averaged(metrics.f1_score, _way)
    THEIRS[f"{_way}-f2"] = averaged(metrics.fbeta_score, _way, beta=2)
    THEIRS[f"{_way}-f0.5"] = averaged(metrics.fbeta_score, _way, beta=0.5)
    THEIRS[f"{_way}-precision"] = averaged(metrics.precision_score, _way)
    THEIRS[f"{_way}-recall"] = averaged(metrics.recall_score, _way)
    THEIRS[f"{_way}-jaccard"] = averaged(metrics.jaccard_score, _way)
    for _name in ("f1", "precision", "recall", "jaccard"):
        THEIRS[f"{_name}_{_way}"] = THEIRS[f"{_way}-{_name}"]
for _function in (metrics.accuracy_score, metrics.balanced_accuracy_score, metrics.matthews_corrcoef, metrics.cohen_kappa_score):
    THEIRS[_function.__name__] = _function
# For two.
BINARY = {
    "f1_score": averaged(metrics.f1_score, "binary"),
    "jaccard_score": averaged(metrics.jaccard_score, "binary"),
    "f1": averaged(metrics.f1_score, "binary"),
    "f0.5": averaged(metrics.fbeta_score, "binary", beta=0.5),
    "precision": averaged(metrics.precision_score, "binary"),
    "recall": averaged(metrics.recall_score, "binary"),
    "jaccard": averaged(metrics.jaccard_score, "binary"),
    "specificity": averaged(metrics.recall_score, "binary", pos_label=0),
    "weighted-accuracy:7": lambda y, p: metrics.accuracy_score(y, p, sample_weight=np.where(y == 1, 7.0, 1.0)),
    "selection-rate": lambda y, p: np.mean(p == 1),
    "false-positive-rate": lambda y, p: np.sum((p == 1) & (y == 0)) / max(np.sum(y == 0), 1),
    "false-negative-rate": lambda y, p: np.sum((p == 0) & (y == 1)) / max(np.sum(y == 1), 1),
}


def matrices(k, n, seed):
    """Random counts of different sizes; many entries are 0, and some rows and columns."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        c = rng.integers(0, 10 ** rng.integers(1, 4, size=(k, k))) * (rng.random((k, k)) < rng.choice([0.3, 0.7, 1.0]))
        if rng.random() < 0.2:
            c[rng.integers(k)] = 0
        if rng.random() < 0.2:
            c[:, rng.integers(k)] = 0
        if c.sum() > 0:
            yield c


def compare(measure, theirs, c):
    y, p = labels(c)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # single-class warnings of the degenerate cases
        want = theirs(y, p)
    if not np.isfinite(want):
        with pytest.raises(ValueError):
            measure(c)
        return
    assert measure(c) == pytest.approx(want, abs=1e-12, rel=1e-12), c
    assert measure(c / c.sum()) == pytest.approx(want, abs=1e-12, rel=1e-12), c


@pytest.mark.parametrize("name", sorted(THEIRS))
def test_any_number_of_classes_equals_scikit_learn(library, name):
    for k in (2, 3, 4, 7):
        measure = Measure(library, name, k)
        for c in matrices(k, 25, k):
            compare(measure, THEIRS[name], c)


@pytest.mark.parametrize("name", sorted(BINARY))
def test_two_classes_equal_scikit_learn(library, name):
    measure = Measure(library, name, 2)
    for c in itertools.chain(matrices(2, 60, 5), (np.reshape(c, (2, 2)) for c in itertools.product([0, 1, 13], repeat=4))):
        if c.sum() > 0:
            compare(measure, BINARY[name], c)


def recalls(c):
    return np.einsum("...ii->...i", c) / c.sum(axis=-1)


PLAIN = {
    "g-mean": lambda r: np.prod(r) ** (1 / r.size),
    "min-recall": np.min,
    "q-mean": lambda r: np.mean((1 - r) ** 2),
}


@pytest.mark.parametrize("groups", [0, 3])
@pytest.mark.parametrize("name", sorted(PLAIN))
def test_recalls(library, name, groups):
    rng = np.random.default_rng(2)
    for k in (2, 3, 6):
        c = rng.integers(1, 50, size=(max(groups, 1), k, k))
        assert Measure(library, name, k, groups)(c) == pytest.approx(PLAIN[name](recalls(c)), abs=1e-12)
        c[0, k - 1] = 0
        with pytest.raises(ValueError, match="no rows of class"):
            Measure(library, name, k, groups)(c)


@pytest.mark.parametrize("name", ["accuracy", "macro-f1", "mcc", "balanced-accuracy", "kappa"])
def test_groups_as_metric_frame(library, name):
    """fairlearn's MetricFrame: by_group, overall, difference() and ratio() with both methods."""
    rng = np.random.default_rng(3)
    for k, m in ((2, 2), (3, 4), (2, 7)):
        c = rng.integers(1, 60, size=(m, k, k)) + 80 * np.eye(k, dtype=int)
        one = np.array([THEIRS.get(name, metrics.balanced_accuracy_score)(*labels(g)) for g in c])
        everybody = THEIRS.get(name, metrics.balanced_accuracy_score)(*labels(c.sum(axis=0)))
        want = {
            "difference": one.max() - one.min(),
            "ratio": one.min() / one.max(),
            "difference-to-overall": np.abs(one - everybody).max(),
            "ratio-to-overall": np.minimum(one / everybody, everybody / one).min(),
            "group-min": one.min(),
            "group-max": one.max(),
            "group-mean": one.mean(),
        }
        for word, value in want.items():
            assert Measure(library, f"{name}:{word}", k, m)(c) == pytest.approx(value, abs=1e-12), word


def gap(kind, values):
    """Over pairs of groups, values has one row for each."""
    pairs = np.array([u - v for u, v in itertools.combinations(values, 2)])
    return {"squared": np.sum(pairs**2), "absolute": np.sum(np.abs(pairs)), "largest": np.max(np.abs(pairs))}[kind]


@pytest.mark.parametrize("kind", ["squared", "absolute", "largest"])
def test_fairness_of_rates(library, kind):
    rng = np.random.default_rng(4)
    for k, m in ((2, 2), (2, 5), (3, 3)):
        c = rng.integers(1, 40, size=(m, k, k))
        rates = c / c.sum(axis=2, keepdims=True)
        wrong = rates[:, ~np.eye(k, dtype=bool)]
        said = c.sum(axis=1) / c.sum(axis=(1, 2))[:, None]
        half = 1 if kind == "largest" else 0.5
        want = {"equalised-odds": gap(kind, wrong), "Equalized_Odds": gap(kind, wrong), "demographic-parity": half * gap(kind, said)}
        if k == 2:
            missed, alarms = rates[:, 1, :1], rates[:, 0, 1:]
            want["equal-opportunity"] = gap(kind, missed)
            want["negative-balance"] = gap(kind, alarms)
            want["error-rate-balance"] = 0.5 * (gap(kind, missed) + gap(kind, alarms))
        else:
            with pytest.raises(ValueError, match="two classes"):
                Measure(library, "equal-opportunity", k, m)
        for name, value in want.items():
            assert Measure(library, f"{name}:{kind}", k, m)(c) == pytest.approx(value, abs=1e-12), name
            if kind == "largest":
                assert Measure(library, name, k, m)(c) == pytest.approx(value, abs=1e-12), name
        with pytest.raises(ValueError, match="needs groups"):
            Measure(library, "equalised-odds", k)


@pytest.mark.parametrize(
    "name, k, groups, sentence",
    [
        ("f1", 3, 0, "two classes"),
        ("accuracy:difference", 2, 0, "needs groups"),
        ("equalised-odds:ratio", 2, 2, "compares groups"),
        ("macro-f0", 3, 0, "not a measure"),
        ("nonsense", 2, 0, "not a measure"),
        ("f1:largest", 2, 2, "not a measure"),
    ],
)
def test_refusals(library, name, k, groups, sentence):
    with pytest.raises(ValueError, match=sentence):
        Measure(library, name, k, groups)
