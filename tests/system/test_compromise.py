"""People who disagree: the least worst regret, next to a linear program over what every row may be decided as."""
import time

import numpy as np
import pytest
from python_package import SITE
from scipy.optimize import linprog

from melicit import Metric, Problem, errors

pytestmark = pytest.mark.plain("Python cannot load a library with sanitizers")
assert SITE.is_dir()


def regrets(costs, p):
    """[constant, gain of deciding row r as j] of each person, by arithmetic of our own."""
    n, k = p.shape
    out = []
    for cost in costs:
        gain = -(p @ cost) / n  # of row r decided as j
        best, trivial = gain.max(axis=1).sum(), gain.sum(axis=0)
        scale = max(best - trivial.max(), 0.001 * (best - trivial.min()))
        out.append((best / scale, gain / scale))
    return out


def least_worst(costs, p):
    """The largest regret at its smallest, over all randomised decisions."""
    n, k = p.shape
    known = regrets(costs, p)
    c = np.append(np.zeros(n * k), 1.0)
    upper = np.array([np.append(-gain.ravel(), -1.0) for _, gain in known])
    equal = np.zeros((n, n * k + 1))
    for r in range(n):
        equal[r, r * k:(r + 1) * k] = 1.0
    found = linprog(c, A_ub=upper, b_ub=[-constant for constant, _ in known], A_eq=equal, b_eq=np.ones(n), bounds=[(0, None)] * (n * k) + [(None, None)])
    return found.fun, known


@pytest.mark.parametrize("k", [2, 3])
def test_as_a_linear_program(k):
    """200 small problems."""
    rng = np.random.default_rng(k)
    names = list("abc")[:k]
    for _ in range(100):
        n, people = int(rng.integers(4, 25)), int(rng.integers(2, 6))
        p = rng.dirichlet(np.ones(k), size=n)
        y = np.append(names, rng.choice(names, n - k))
        costs = [np.exp(rng.uniform(-2, 2, size=(k, k))) * (1 - np.eye(k)) for _ in range(people)]
        metrics = [Metric.from_costs({(a, b): cost[i, j] for i, a in enumerate(names) for j, b in enumerate(names) if i != j}, names) for cost in costs]
        problem = Problem.from_proba(y, p, pos_label="b" if k == 2 else None)
        rule = problem.compromise(metrics, evidence="model")
        want, known = least_worst(costs, p)
        assert rule.report["value"] == pytest.approx(want, abs=1e-6)
        said = rule.report["people"]
        assert sum(one["weight"] for one in said) == pytest.approx(1, abs=1e-6)
        chances = rule.chances(p)
        for one, (constant, gain) in zip(said, known):
            assert one["regret"] == pytest.approx(constant - (gain * chances).sum(), abs=1e-6)
            assert one["regret"] <= want + 1e-6 and (one["weight"] < 1e-6 or one["regret"] > want - 1e-5)
        for i, (constant, gain) in enumerate(known):
            for j, (_, other) in enumerate(known):
                decided = np.eye(k)[other.argmax(axis=1)]
                assert said[i]["with_each_others"][j] == pytest.approx(constant - (gain * decided).sum(), abs=1e-6)
        # One rule loses no less; it is the best of all thresholds.
        single = problem.compromise(metrics, evidence="model", form="threshold")
        assert single.report["value"] >= want - 1e-6 and not single.mixed
        if k == 2:
            worst = []
            for t in [*np.unique(p[:, 1]), 2.0]:
                decided = np.eye(2)[(p[:, 1] >= t).astype(int)]
                worst.append(max(constant - (gain * decided).sum() for constant, gain in known))
            assert single.report["value"] == pytest.approx(min(worst), abs=1e-6)


def test_intervals_count_as_what_people_may_mean():
    """The mean regret over the metrics that somebody may mean is never 0 where these differ; the draws are the same each time."""
    rng = np.random.default_rng(3)
    p = rng.uniform(size=400)
    y = np.where(rng.uniform(size=400) < p, "b", "a")
    text = """{"format": "melicit-metric", "version": 1, "family": "linear", "orientation": "utility", "layout": {"kind": "confusion",
      "coordinates": "binary", "classes": ["a", "b"], "groups": []}, "coefficients": {"a": [%s, %s]}%s}"""
    sure = Metric.from_json(text % (0.8, 0.6, ""))
    unsure = Metric.from_json(text % (0.8, 0.6, ', "intervals": {"a": [[0.5, 0.95], [0.3, 0.86]]}'))
    problem = Problem.from_proba(y, np.column_stack([1 - p, p]), pos_label="b")
    one, two = [problem.compromise([metric, metric]).report["value"] for metric in (sure, unsure)]
    assert one == pytest.approx(0, abs=1e-7) and two > 1e-3
    assert problem.compromise([unsure, unsure]).report["value"] == two


def test_program(melicit):
    for name, missed in (("even", 1), ("doctor", 7), ("careful", 20)):
        melicit("metric", "--cost", f"missed={missed},false-alarm=1", "--classes", "benign,malignant", "--out", f"{name}.json").done()
    words = ("apply", "--compromise", "--data", "mammographic_mass", "--classes", "benign,malignant", "--metrics", "even.json", "doctor.json", "careful.json")
    got = melicit(*words, "--json", "--out", "c.json").done().json
    assert [one["metric"] for one in got["people"]] == ["even.json", "doctor.json", "careful.json"]
    assert got["worst"] == pytest.approx(max(one["regret"] for one in got["people"])) == got["value"] and got["gap"] < 1e-6
    assert got["farthest_apart"] == ["even.json", "careful.json"] and got["worst"] < min(max(one["with_average"] for one in got["people"]), 1)
    text = melicit(*words, "--rule", "threshold").done().out
    assert "nobody loses more than" in text and "farthest apart: even.json and careful.json" in text
    assert melicit("predict", "--classifier", "c.json", "--probs", "p.csv", "--out", "-").code != 0  # no such rows
    for more in (("--confidence", 0.9), ("--folds", 3), ("--reject", 0.2), ("--rule", "average")):
        melicit(*words[:2], *more, *words[2:]).refused(2, "--compromise takes no")
    melicit("apply", "--metrics", "even.json", "doctor.json", "--data", "mammographic_mass").refused(2, "go together")
    melicit(*words[:-2]).refused(2, "two people")
    melicit.write("f1.json", """{"format": "melicit-metric", "version": 1, "family": "linear-fractional", "orientation": "utility", "layout": {"kind":
      "confusion", "coordinates": "binary", "classes": ["benign", "malignant"]}, "coefficients": {"p": [1, 0], "p0": 0, "q": [0.5, -0.5], "q0": 0.73}}""")
    melicit(*words[:-1], "f1.json").refused(2, "weighted sums")


def test_thirty_people_on_many_rows():
    rng = np.random.default_rng(1)
    p = rng.beta(0.7, 1.5, size=100_000)
    y = np.where(rng.uniform(size=len(p)) < p, "b", "a")
    people = [Metric.from_costs({("b", "a"): float(np.exp(rng.normal(1, 1))), ("a", "b"): 1.0}, ["a", "b"]) for _ in range(30)]
    problem = Problem.from_proba(y, np.column_stack([1 - p, p]), pos_label="b")
    before = time.process_time()
    found = problem.compromise(people, evidence="model")
    print(f"{time.process_time() - before:.2f} s of processor time")
    assert max(one["regret"] for one in found.report["people"]) == pytest.approx(found.report["value"])
    with pytest.raises(errors.InvalidArgumentError, match="two people"):
        problem.compromise(people[:1])
