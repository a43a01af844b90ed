"""One preference in the numbers that others use: by arithmetic of our own, and by running the lines of code."""
import html
import json
import math
import shutil
import subprocess

import numpy as np
import pandas
import pytest
from conftest import SOURCE
from python_package import SITE
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, fbeta_score, make_scorer

from melicit import Metric, Problem, Session

pytestmark = pytest.mark.plain("Python cannot load a library with sanitizers")
assert SITE.is_dir()
NAMES = ["fine", "sick"]


def binary(ratio, low=None, high=None):
    """A metric of (TP, TN) that has this cost ratio, with its interval where one is given."""
    angles = [math.atan2(r, 1.0) for r in (ratio, *([] if low is None else [low, high]))]
    text = {"format": "melicit-metric", "version": 1, "family": "linear", "orientation": "utility",
            "layout": {"kind": "confusion", "coordinates": "binary", "classes": NAMES, "groups": []},
            "coefficients": {"a": [math.sin(angles[0]), math.cos(angles[0])]}}
    if low is not None:
        ends = [[math.sin(angles[1]), math.sin(angles[2])], [math.cos(angles[2]), math.cos(angles[1])]]
        text["intervals"] = {"a": ends}
    return Metric.from_json(json.dumps(text))


def lines(found, key):
    (one,) = [line for line in found["lines"] if line["key"] == key]
    return {code["tool"]: code["line"] for code in one["code"]}


@pytest.fixture(scope="module")
def sample():
    rng = np.random.default_rng(5)
    y = (rng.uniform(size=400) < 0.3).astype(int)
    p = 1 / (1 + np.exp(-(np.round(rng.normal(2.0 * y - 1.4, 1.2), 1))))
    return np.array(NAMES)[y], np.column_stack([1 - p, p])


def test_arithmetic(sample):
    """Equal to arithmetic of our own on 100 random metrics; intervals are images of the ratio's."""
    y, proba = sample
    sick, scores = y == "sick", proba[:, 1]
    cuts = np.append(np.unique(scores), np.inf)
    tp = np.array([(sick & (scores >= t)).sum() for t in cuts])
    fp = np.array([(~sick & (scores >= t)).sum() for t in cuts])
    problem = Problem.from_proba(y, proba)
    rng = np.random.default_rng(1)
    for number in range(100):
        r = math.exp(rng.uniform(-2.5, 4))
        low, high = r * math.exp(-rng.uniform(0.05, 1)), r * math.exp(rng.uniform(0.05, 1))
        found = binary(r, low, high).equivalents(problem if number < 25 else None)
        want = {"ratio": (r, low, high), "threshold": (1 / (1 + r), 1 / (1 + high), 1 / (1 + low)),
                "number_willing_to_test": (1 + r, 1 + low, 1 + high), "net_benefit_weight": (1 / r, 1 / high, 1 / low),
                "scale_pos_weight": (r, low, high)}
        for key, values in want.items():
            assert found[key] == pytest.approx(values, rel=1e-9), key
        assert found["class_weight"] == {"fine": 1, "sick": pytest.approx(r, rel=1e-9)}
        assert np.array(found["cost_matrix"]) == pytest.approx(np.array([[0, 1], [r, 0]]), rel=1e-9)
        if number >= 25:
            assert "beta" not in found and "score_threshold" not in found
            continue
        # The best cut by costs, and the betas for which no cut has a larger F-beta.
        best = np.argmax(r * tp - fp)
        value = lambda b: (1 + b * b) * tp / np.maximum(b * b * sick.sum() + tp + fp, 1e-300)
        beta = found["beta"][0]
        assert beta == pytest.approx(math.sqrt(max(r * tp[best] - fp[best], 0) / sick.sum()), rel=1e-9)
        assert value(beta)[best] >= value(beta).max() - 1e-9
        # F-beta is best where the threshold times (1 + beta^2) is its own value.
        if beta > 0:
            assert value(beta).max() == pytest.approx((1 + beta * beta) / (1 + r), rel=1e-9)
        first, last = found["same_beta"]
        assert first <= beta + 1e-9 and (last is None or beta <= last + 1e-9)
        for inside in (first + 1e-6, *([] if last is None else [last - 1e-6])):
            assert last is None and inside == first + 1e-6 or value(inside)[best] >= value(inside).max() - 1e-6
        for outside in (first - 1e-3, *([] if last is None else [last + 1e-3])):
            assert outside < 0 or value(outside)[best] < value(outside).max()


def test_open_sides_stay_open():
    found = binary(1e-3, 0.0, 5.0).equivalents()
    assert found["threshold"][1:] == [pytest.approx(1 / 6), None]
    assert found["net_benefit_weight"][1:] == [pytest.approx(0.2), None]
    found = Metric.from_costs({("sick", "fine"): 7.0, ("fine", "sick"): 1.0}, NAMES).equivalents()
    assert found["threshold"] == [pytest.approx(0.125), None, None]


def test_threshold_on_these_scores(melicit, sample):
    """What `melicit apply` finds on the same rows, with its interval."""
    y, proba = sample
    # Scores are shifted: their own probabilities are not those of these rows.
    shifted = proba[:, 1] * 0.2 / (proba[:, 1] * 0.2 + proba[:, 0])
    metric = binary(4.0, 3.0, 5.5)
    metric.save(melicit.folder / "m.json")
    np.save(melicit.folder / "p.npy", np.column_stack([1 - shifted, shifted]))
    pandas.Series(y, name="label").to_csv(melicit.folder / "y.csv", index=False)
    theirs = melicit("apply", "--metric", "m.json", "--probs", "p.npy", "--labels", "y.csv", "--json").done().json["thresholds"][0]
    value, low, high = metric.equivalents(Problem.from_proba(y, np.column_stack([1 - shifted, shifted])))["score_threshold"]
    assert value == pytest.approx(theirs["threshold"], rel=1e-6) and value < 0.1
    assert [low, high] == pytest.approx(theirs["interval"], rel=0.15)


def test_lines_run_and_decide_alike(sample):
    """Thresholds, the cost matrix and class weights make the same decisions; F-beta's best cut is theirs."""
    y, proba = sample
    ratio = 3.7
    found = binary(ratio).equivalents(Problem.from_proba(y, proba))

    class Fixed:
        classes_ = np.array(NAMES)

        def predict_proba(self, X):
            return X

    known = {"np": np, "model": Fixed(), "X": proba, "y": y, "LogisticRegression": LogisticRegression, "make_scorer": make_scorer,
             "confusion_matrix": confusion_matrix, "fbeta_score": fbeta_score}
    d = eval(lines(found, "threshold")["scikit-learn"], known)
    assert (d == np.where(ratio * proba[:, 1] >= proba[:, 0], "sick", "fine")).all()
    known["d"] = d
    c = confusion_matrix(y, d)
    assert eval(lines(found, "cost_matrix")["scikit-learn"], known) == pytest.approx(c[0, 1] + ratio * c[1, 0])
    assert eval(lines(found, "net_benefit_weight")["NumPy"], known) == pytest.approx((c[1, 1] - c[0, 1] / ratio) / len(y), rel=1e-5)
    # A model of categories alone: trained with weights and cut at one half it decides as the threshold does.
    category = np.digitize(proba[:, 1], np.quantile(proba[:, 1], [0.1, 0.2, 0.4, 0.6, 0.8]))
    X = 100.0 * np.eye(6)[category]
    share = np.array([np.mean(y[category == k] == "sick") for k in range(6)])[category]
    assert abs(ratio * share - (1 - share)).min() > 1e-3
    model = eval(lines(found, "class_weight")["scikit-learn"], known).fit(X, y)
    by_threshold = np.where(share >= found["threshold"][0], "sick", "fine")
    assert (model.predict(X) == by_threshold).all() and 0 < (by_threshold == "sick").sum() < len(y)
    scorer = eval(lines(found, "beta")["scikit-learn"], known)
    values = [scorer._score_func(y, np.where(proba[:, 1] >= t, "sick", "fine"), **scorer._kwargs) for t in np.unique(proba[:, 1])]
    cut = np.unique(proba[:, 1])[np.argmax(values)]
    costs = [(ratio * ((y == "sick") & (proba[:, 1] < t)).sum() + ((y == "fine") & (proba[:, 1] >= t)).sum())
             for t in np.unique(proba[:, 1])]
    assert cut == np.unique(proba[:, 1])[np.argmin(costs)]


def test_line_of_xgboost(sample):
    xgboost = pytest.importorskip("xgboost")
    y, proba = sample
    found = binary(3.7).equivalents()
    category = np.digitize(proba[:, 1], np.quantile(proba[:, 1], [0.1, 0.2, 0.4, 0.6, 0.8]))
    model = eval(lines(found, "scale_pos_weight")["xgboost"], {"xgboost": xgboost})
    model.set_params(reg_lambda=0.0, min_child_weight=0.0)
    X = np.eye(6)[category]
    share = np.array([np.mean(y[category == k] == "sick") for k in range(6)])[category]
    assert (model.fit(X, y == "sick").predict(X) == (share >= found["threshold"][0])).all()


def test_lines_of_r(tmp_path, sample):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    y, proba = sample
    found = binary(3.7).equivalents()
    decided = proba[:, 1] >= found["threshold"][0]
    pandas.DataFrame({"y": y, "p": proba[:, 1]}).to_csv(tmp_path / "rows.csv", index=False)
    script = ["d <- read.csv('rows.csv'); y <- d$y; p <- d$p; X <- data.frame(p = p)", f"d <- {lines(found, 'threshold')['R']}",
              "cat(sum(d == 'sick'), '')", *(f"x <- {lines(found, key)['R']}; cat(if (is.list(x)) length(coef(x)) else x, '')"
                                             for key in ("net_benefit_weight", "cost_matrix", "class_weight"))]
    got = subprocess.run(["Rscript", "-e", "\n".join(script)], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.split()
    c = confusion_matrix(y, np.where(decided, "sick", "fine"))
    assert [float(x) for x in got] == pytest.approx(
        [decided.sum(), (c[1, 1] - c[0, 1] / 3.7) / len(y), c[0, 1] + 3.7 * c[1, 0], 2], rel=1e-5)


def test_line_of_r_for_several_classes(tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    P, classes = np.random.default_rng(4).dirichlet([1, 1, 1], size=200), ["a", "b", 'it\'s "c"']
    cost = np.array([[0, 1, 2.5], [4, 0, 1.5], [3, 6, 0]])
    metric = Metric.from_costs({(a, b): cost[i, j] for i, a in enumerate(classes) for j, b in enumerate(classes) if i != j}, classes)
    pandas.DataFrame(P).to_csv(tmp_path / "P.csv", index=False)
    script = f"P <- as.matrix(read.csv('P.csv')); writeLines({lines(metric.equivalents(), 'cost_matrix')['R']})"
    got = subprocess.run(["Rscript", "-e", script], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    assert got == list(np.array(classes)[np.argmin(P @ cost, axis=1)])


def test_several_classes():
    """Costs in cheapest mistakes, weights of classes where a row has one cost, decisions of both alike."""
    rng = np.random.default_rng(2)
    classes = ["a", "b", 'it\'s "c"']
    P = rng.dirichlet([1, 1, 1], size=500)
    for _ in range(20):
        cost = rng.uniform(0.5, 5, size=(3, 3)) * (1 - np.eye(3))
        metric = Metric.from_costs({(a, b): cost[i, j] for i, a in enumerate(classes) for j, b in enumerate(classes) if i != j}, classes)
        found = metric.equivalents()
        unit = cost[cost > 0].min()
        assert np.array(found["cost_matrix"]) == pytest.approx(cost / unit, rel=1e-9)
        gains = np.array(found["gains"])
        assert (np.argmax(P @ gains, axis=1) == np.argmin(P @ cost, axis=1)).all()
        decided = eval(lines(found, "cost_matrix")["NumPy"], {"np": np, "P": P})
        assert (decided == np.array(classes)[np.argmin(P @ cost, axis=1)]).mean() > 0.995  # six digits
        assert "class_weight" not in found
    truth = Metric.from_json("""{"format": "melicit-metric", "version": 1, "family": "diagonal-linear", "layout": {"kind": "confusion",
      "coordinates": "diagonal", "classes": ["0", "1", "2"]}, "coefficients": {"a": [0.2, 0.3, 0.5]}}""")
    found = truth.equivalents()
    assert [found["class_weight"][name][0] for name in "012"] == pytest.approx([1, 1.5, 2.5])
    model = eval(lines(found, "class_weight")["scikit-learn"], {"LogisticRegression": LogisticRegression})
    assert model.class_weight == {0: 1, 1: 1.5, 2: 2.5}
    session = Session(Problem.population("softmax:1,3,5"), "diagonal-linear", for_people=False).simulate(truth)
    for row, ends in zip(session.outcome["equivalents"]["cost_matrix"], session.outcome["equivalents"]["cost_intervals"]):
        for value, (low, high) in zip(row, ends):
            assert value == 0 or low <= value * (1 + 1e-9) and value <= high * (1 + 1e-9)


def test_program_page_and_python_agree(melicit):
    """`elicit --json`, `metric --show`, the report and Python say the same."""
    done = melicit("elicit", "--data", "mammographic_mass", "--classes", "benign,malignant", "--oracle",
                   f"sim:{SOURCE / 'data' / 'doctor.json'}", "--out", "m.json", "--report", "r.html", "--json").done().json
    said = done["equivalents"]
    shown = melicit("metric", "--show", "m.json", "--json").done().json["equivalents"]
    ours = Metric.load(melicit.folder / "m.json").equivalents()
    assert shown == ours and ours["ratio"][0] == pytest.approx(said["ratio"][0]) == pytest.approx(done["ratio"])
    assert done["ratio_interval"] == pytest.approx(said["ratio"][1:])
    assert said["balanced"] == pytest.approx(258 / 222, abs=0.01) and set(said) - set(shown) == {"beta", "same_beta", "balanced", "score_threshold", "regret"} and 0 < said["regret"] < 0.3
    page = html.unescape((melicit.folder / "r.html").read_text())
    text = melicit("metric", "--show", "m.json").done().out
    for one in said["lines"]:
        for code in one["code"]:
            assert code["line"] in page, code
    for one in shown["lines"]:
        for code in one["code"]:
            assert code["line"] in text and one["name"] in text
    assert said["note"] in page and shown["note"] == said["note"]


def test_none_where_costs_are_not_fixed():

    text = """{"format": "melicit-metric", "version": 1, "family": "linear-fractional", "orientation": "utility",
      "layout": {"kind": "confusion", "coordinates": "binary", "classes": ["no", "yes"], "groups": []},
      "coefficients": {"p": [1, 0], "p0": 0, "q": [1, -1], "q0": 0.475}}"""
    assert Metric.from_json(text).equivalents() == {}
