"""The Python package's estimators: scikit-learn's own checks, and that they find what is best."""
import json
import pickle
import re
import subprocess
import warnings

import numpy as np
import pandas
import pytest
from python_package import BUILD, environment, rows
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix, f1_score, recall_score
from sklearn.model_selection import GridSearchCV, ShuffleSplit, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from melicit import FrankWolfeClassifier, Metric, MetricClassifier, PlugInClassifier, Problem, errors, estimators

pytestmark = [pytest.mark.plain("Python cannot load a library with sanitizers"), pytest.mark.filterwarnings("error")]


@parametrize_with_checks([MetricClassifier(), FrankWolfeClassifier(), PlugInClassifier()])
def test_checks_of_sklearn(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("default")  # some of its data sets have nothing to learn from, and the estimators say so
        check(estimator)


def gmean(y, decided):
    return float(np.sqrt(np.prod(recall_score(y, decided, average=None, zero_division=0))))


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(600, 6, weights=[0.85], flip_y=0.05, random_state=3)
    return X, np.where(y == 1, "sick", "fine")


# Without predictions of "yes" it has no value.
PRECISION = """{"format": "melicit-metric", "version": 1, "family": "linear-fractional", "orientation": "utility",
  "layout": {"kind": "confusion", "coordinates": "binary", "classes": ["no", "yes"], "groups": []},
  "coefficients": {"p": [1, 0], "p0": 0, "q": [1, -1], "q0": 0.475}}"""
COSTS = {("sick", "fine"): 9.0, ("fine", "sick"): 1.0}


def test_threshold_of_costs(data):
    X, y = data
    metric = Metric.from_costs(COSTS, classes=["fine", "sick"])
    model = MetricClassifier(metric=metric, evidence="model").fit(X, y)
    assert model.thresholds_ == pytest.approx(0.1, abs=0.02)
    proba = model.estimator_.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(model.predict(X) == "sick", proba >= model.thresholds_)
    assert metric(y, model.predict(X)) < metric(y, LogisticRegression().fit(X, y).predict(X))
    assert model.score(X, y) == -metric(y, model.predict(X))


def test_by_labels_it_is_the_best_threshold(data):
    X, y = (part[:200] for part in data)
    base = LogisticRegression().fit(X, y)
    proba = base.predict_proba(X)[:, 1]
    for name, function in (("f1", lambda p: f1_score(y, p, pos_label="sick")), ("g-mean", lambda p: gmean(y, p))):
        model = MetricClassifier(base, name, cv="prefit", evidence="labels", pos_label="sick").fit(X, y)
        best = max(function(np.where(proba >= t, "sick", "fine")) for t in np.unique(proba))
        assert function(model.predict(X)) == pytest.approx(best, abs=1e-12)


def test_pos_label_turns_the_measure_round(data):
    X, y = data
    model = MetricClassifier(metric="recall", pos_label="fine", at_least={"recall[sick]": 0.9}, evidence="labels").fit(X, y)
    assert model.order_ == ["sick", "fine"] and model.classes_.tolist() == ["fine", "sick"]
    assert recall_score(y, model.predict(X), pos_label="sick") > 0.8
    with pytest.raises(errors.InvalidArgumentError, match="pos_label"):
        MetricClassifier(pos_label="ill").fit(X, y)


def test_in_the_house_of_sklearn(data):
    X, y = data
    metric = Metric.from_costs(COSTS, classes=["fine", "sick"])
    model = make_pipeline(StandardScaler(), MetricClassifier(LogisticRegression(), metric))
    assert len(cross_val_score(model, X, y, cv=3, scoring=metric.scorer())) == 3
    search = GridSearchCV(model, {"metricclassifier__estimator__C": [0.01, 1.0]}, scoring=metric.scorer(), cv=3).fit(X, y)
    assert -1 < search.best_score_ < 0  # costs, negated
    other = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(other.predict(X), search.predict(X))
    twin = clone(search.best_estimator_).fit(X, y)
    np.testing.assert_array_equal(twin.predict(X), search.predict(X))


def test_weights_count_like_repeated_rows_in_the_rule():
    y, p = rows(300)
    weight = np.random.default_rng(1).integers(1, 4, 300)
    metric = Metric.from_costs({(1, 0): 3, (0, 1): 1})
    once = Problem.from_proba(y, p, sample_weight=weight).best(metric, evidence="labels")
    many = Problem.from_proba(np.repeat(y, weight), np.repeat(p, weight, axis=0)).best(metric, evidence="labels")
    assert once.value == pytest.approx(many.value, rel=1e-12)
    np.testing.assert_array_equal(once.decide(p), many.decide(p))
    X, y = make_classification(300, random_state=1)
    light, heavy = (MetricClassifier(metric="accuracy").fit(X, y, sample_weight=np.where(y == 1, w, 1.0)) for w in (1.0, 20.0))
    assert (heavy.predict(X) == 1).mean() > (light.predict(X) == 1).mean()


def test_models_without_probabilities_and_prefit(data):
    X, y = data
    model = MetricClassifier(LinearSVC(dual=False), "balanced-accuracy").fit(X, y)
    assert gmean(y, model.predict(X)) > gmean(y, LinearSVC(dual=False).fit(X, y).predict(X))
    base = LogisticRegression().fit(X, y)
    prefit = MetricClassifier(base, "f1", cv="prefit", pos_label="sick").fit(X, y)
    assert prefit.estimator_ is base

    class FrozenEstimator(LogisticRegression):  # as later versions of scikit-learn have it
        def fit(self, X, y):
            raise AssertionError("fitted again")

    frozen = FrozenEstimator()
    frozen.__dict__.update(base.__dict__)
    np.testing.assert_array_equal(MetricClassifier(frozen, "f1", pos_label="sick").fit(X, y).predict(X), prefit.predict(X))


def test_several_classes_by_costs():
    y, p = rows(900, 4, 5)
    cost = np.random.default_rng(2).integers(1, 9, (4, 4)) * (1.0 - np.eye(4))
    rule = Problem.from_proba(y, p).best(Metric.from_costs(cost), evidence="model")
    np.testing.assert_array_equal(rule.decide(p), (p @ cost).argmin(axis=1))


def test_rules_of_groups_and_limits():
    rng = np.random.default_rng(4)
    n = 4000
    sex = rng.choice(["f", "m"], n)
    signal = rng.normal(size=n)
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * signal - (sex == "m")))).astype(int)
    frame = pandas.DataFrame({"x": signal + 0.5 * rng.normal(size=n), "m": (sex == "m") * 1.0})
    gap = Metric.named("equalised-odds:largest")
    plain = MetricClassifier(metric="accuracy").fit(frame, y)
    fair = MetricClassifier(metric="accuracy", at_most={"equalised-odds": 0.02}, form="mixture").fit(frame, y, groups=sex)
    assert gap(y, fair.predict(frame, groups=sex), sex) < 0.06 < gap(y, plain.predict(frame), sex)
    column = MetricClassifier(metric="accuracy", groups="m", at_most={"demographic-parity": 0.02}).fit(frame, y)
    decided = column.predict(frame)
    assert abs(decided[sex == "m"].mean() - decided[sex == "f"].mean()) < 0.04
    with pytest.raises(errors.DataError, match="no classifier on these probabilities meets all limits"):
        MetricClassifier(metric="accuracy", at_least={"precision[1]": 0.999, "recall[1]": 0.999}).fit(frame, y)
    truth = Metric.from_json(json.dumps({
        "format": "melicit-metric", "version": 1, "family": "fair-linear",
        "layout": {"kind": "rates", "coordinates": "offdiagonal", "classes": ["0", "1"], "groups": ["f", "m"]},
        "coefficients": {"a": [0.7, 0.7], "b": {"1-2": [0.7, 0.7]}, "lambda": 0.8, "prevalence": [[0.5, 0.5], [0.5, 0.5]]},
    }))
    by_metric = MetricClassifier(metric=truth).fit(frame, y, groups=sex)
    assert set(by_metric.rule_.groups) == {"f", "m"}
    assert by_metric.score(frame, y, groups=sex) > -truth(y, plain.predict(frame), sex)
    with pytest.raises(errors.InvalidArgumentError, match="groups"):
        by_metric.predict(frame)


def test_the_interval_is_that_of_the_threshold(tmp_path):
    """As `melicit apply` has it for the same probabilities; it was that of another number."""
    for seed in range(3):
        X, y = make_classification(400, 6, weights=[0.8], flip_y=0.05, random_state=seed)
        base = LogisticRegression().fit(X[:200], y[:200])
        np.save(tmp_path / "p.npy", base.predict_proba(X[200:]))
        np.save(tmp_path / "y.npy", y[200:])
        costs = Metric.from_costs({(1, 0): 4.0, (0, 1): 1.0})
        costs.save(tmp_path / "costs.json")
        for metric, given in ((costs, ("--metric", "costs.json")), ("f1", ("--named", "f1"))):
            model = MetricClassifier(base, metric, cv="prefit", random_state=1).fit(X[200:], y[200:])
            low, high = model.interval_
            assert low <= model.thresholds_ <= high
            done = subprocess.run([BUILD / "melicit", "apply", "--probs", "p.npy", "--labels", "y.npy", *given, "--json"],
                                  capture_output=True, text=True, env=environment(), cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            (found,) = json.loads(done.stdout)["thresholds"]
            assert (model.thresholds_, low, high) == pytest.approx((found["threshold"], *found["interval"]), rel=1e-6)


def test_a_prior_is_matched_by_name():
    y, p = rows(1000, 2, 8)
    problem = Problem.from_proba(np.array(["b", "a"])[y], p[:, ::-1], pos_label="a")
    expected = problem.best("accuracy", prior=[0.9, 0.1]).thresholds
    for prior in (pandas.Series({"a": 0.1, "b": 0.9}), {"b": 0.9, "a": 0.1}):
        assert problem.best("accuracy", prior=prior).thresholds == expected
    with pytest.raises(errors.InvalidArgumentError, match="prior: the names"):
        problem.best("accuracy", prior=pandas.Series({"a": 0.1, "c": 0.9}))


def test_a_prior_moves_the_threshold():
    y, p = rows(3000, 2, 8)
    problem = Problem.from_proba(y, p)
    accuracy = Metric.named("accuracy")
    usual = problem.best(accuracy, evidence="model").thresholds["all"]
    rare = problem.best(accuracy, evidence="model", prior=[0.9, 0.1]).thresholds["all"]
    assert usual == pytest.approx(0.5, abs=0.03) and rare == pytest.approx(0.9, abs=0.03)


@pytest.mark.parametrize("kind", [FrankWolfeClassifier, PlugInClassifier])
@pytest.mark.parametrize("metric, on", [
    (gmean, "predictions"),
    (lambda c: float(np.sqrt(np.prod(np.diag(c) / c.sum(axis=1)))), "confusion"),
    ("g-mean", "predictions"),
])
def test_black_boxes(data, kind, metric, on):
    X, y = data
    few = {"iterations": 8} if kind is FrankWolfeClassifier else {}
    model = kind(metric=metric, on=on, **few).fit(X, y)
    plain = LogisticRegression().fit(X, y)
    assert gmean(y, model.predict(X)) > gmean(y, plain.predict(X)) + 0.05
    np.testing.assert_array_equal(model.predict(X), kind(metric=metric, on=on, **few).fit(X, y).predict(X))


def test_what_a_black_box_raises_comes_through(data):
    def broken(y, decided):
        raise KeyboardInterrupt

    for kind in (FrankWolfeClassifier, PlugInClassifier):
        with pytest.raises(KeyboardInterrupt):
            kind(metric=broken).fit(*data)
        with pytest.raises(errors.DataError, match="finite"):
            kind(metric=lambda y, decided: float("nan")).fit(*data)
    with pytest.raises(errors.InvalidArgumentError, match="on"):
        FrankWolfeClassifier(metric=gmean, on="rows").fit(*data)


class Sure(ClassifierMixin, BaseEstimator):
    """Surer than it should be below 0, less sure above: no rule that believes it has the precision of the sign."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = np.where(X[:, 0] > 0, 0.9, 0.1)
        return np.c_[1 - p, p]


def test_a_metric_that_fails_midway_or_says_nothing_is_told():
    X = np.array([[1.0]] * 40 + [[-1.0]] * 40)
    y = np.array(["yes"] * 38 + ["no"] * 2 + ["no"] * 36 + ["yes"] * 4)
    precision = Metric.from_json(PRECISION)
    with pytest.warns(ConvergenceWarning, match="iteration 1: the denominator is 0 .* of iteration 0, with the value 0.95"):
        model = PlugInClassifier(Sure().fit(X, y), precision, cv="prefit").fit(X, y)
    np.testing.assert_array_equal(model.predict(X) == "yes", X[:, 0] > 0)
    with pytest.warns(ConvergenceWarning, match="the metric is 0.5 for the estimator as it is and for every small change"):
        FrankWolfeClassifier(Sure().fit(X, y), lambda c: 0.5, on="confusion", cv="prefit").fit(X, y)


def share_gmean(shares):
    return float(np.sqrt(np.prod(np.diag(shares) / shares.sum(axis=1))))


@pytest.mark.parametrize("method, metric, on", [("judge", gmean, "predictions"), ("value", share_gmean, "confusion")])
def test_ctrl_c_around_a_black_box_comes_through(data, monkeypatch, method, metric, on):
    """It may come before or after the callable itself, where nothing but the library's callback hears it."""
    usual, left = getattr(estimators.Box, method), [30]

    def interrupted(self, *args):
        left[0] -= 1
        if left[0] == 0:
            raise KeyboardInterrupt
        return usual(self, *args)

    monkeypatch.setattr(estimators.Box, method, interrupted)
    model = FrankWolfeClassifier(metric=metric, on=on)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*data)
    assert left == [0] and not hasattr(model, "rule_")
    assert model.fit(*data).n_iter_ > 1  # nothing of it is left


@pytest.mark.parametrize("kind", [FrankWolfeClassifier, PlugInClassifier])
def test_scores_of_black_boxes(data, kind):
    X, y = data
    model = kind(metric=share_gmean, on="confusion", pos_label="fine").fit(X, y)
    weight = np.where(np.arange(len(y)) % 2, 3.0, 0.5)
    decided = model.predict(X)
    assert model.score(X, y) == pytest.approx(gmean(y, decided), rel=1e-12)
    expected = share_gmean(confusion_matrix(y, decided, labels=model.order_, sample_weight=weight))
    assert model.score(X, y, weight) == pytest.approx(expected, rel=1e-12) != model.score(X, y)
    seen = []
    kept = kind(metric=lambda shares: seen.append(shares) or share_gmean(shares), on="confusion", pos_label="fine").fit(X, y)
    kept.score(X, y)
    np.testing.assert_allclose(seen[-1], confusion_matrix(y, kept.predict(X), labels=["sick", "fine"]) / len(y))
    plain = kind(metric=gmean).fit(X, y)
    assert plain.score(X, y) == gmean(y, plain.predict(X))
    with pytest.raises(errors.InvalidArgumentError, match="takes no weights"):
        plain.score(X, y, weight)


@pytest.mark.parametrize("kind", [FrankWolfeClassifier, PlugInClassifier])
@pytest.mark.parametrize("metric, on", [(gmean, "predictions"), (share_gmean, "confusion"), ("g-mean", "predictions")])
def test_weights_count_in_the_rule_of_a_black_box(data, kind, metric, on):
    X, y = data
    base = LogisticRegression().fit(X, y)
    weight = np.random.default_rng(5).integers(0, 4, len(y))
    once = kind(base, metric, on=on, cv="prefit").fit(X, y, sample_weight=weight * 0.1)
    many = kind(base, metric, on=on, cv="prefit").fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    assert once.value_ == many.value_ and once.queries_ == many.queries_
    np.testing.assert_array_equal(once.decision_chances(X), many.decision_chances(X))
    with pytest.raises(errors.InvalidArgumentError, match="how often a row counts"):
        kind(base, metric, on=on, cv="prefit").fit(X, y, sample_weight=np.linspace(1, 2, len(y)))


def test_scores_find_the_groups_and_the_positive_class(data):
    X, y = data
    group = (X[:, 1] > 0) * 1.0
    frame = pandas.DataFrame(X[:, :2], columns=["x", "z"]).assign(g=group)
    model = MetricClassifier(metric="equalised-odds", groups="g").fit(frame, y)
    assert model.score(frame, y) == -Metric("equalised-odds")(y, model.predict(frame), group, labels=["fine", "sick"])
    limited = MetricClassifier(metric=Metric.from_costs(COSTS, classes=["fine", "sick"]), at_most={"equalised-odds": 0.2})
    limited.fit(frame, y, groups=group)
    assert np.isfinite(limited.score(frame, y, groups=group))
    metric = Metric("f1")
    turned = MetricClassifier(metric=metric, pos_label="fine").fit(X, y)
    expected = f1_score(y, turned.predict(X), pos_label="fine")
    assert metric.scorer()(turned, X, y) == pytest.approx(expected, rel=1e-12) == turned.score(X, y)
    inside = make_pipeline(StandardScaler(), MetricClassifier(metric=metric, pos_label="fine")).fit(X, y)
    assert metric.scorer()(inside, X, y) == pytest.approx(f1_score(y, inside.predict(X), pos_label="fine"), rel=1e-12)
    roles = Metric.from_costs(np.array([[0.0, 1.0], [9.0, 0.0]]), classes=["negative", "positive"])
    turned = MetricClassifier(metric=roles, pos_label="fine").fit(X, y)
    expected = -roles(y, turned.predict(X), pos_label="fine")
    assert turned.score(X, y) == roles.scorer()(turned, X, y) == expected != -roles(y, turned.predict(X), pos_label="sick")
    plain = LogisticRegression().fit(X, y)
    for options, positive in (({"pos_label": "sick"}, "sick"), ({"pos_label": "fine"}, "fine"), ({"labels": ["sick", "fine"]}, "fine")):
        expected = f1_score(y, plain.predict(X), pos_label=positive)
        assert metric.scorer(**options)(plain, X, y) == pytest.approx(expected, rel=1e-12)
        assert repr(positive) in repr(metric.scorer(**options))
    named = MetricClassifier(metric=Metric.from_costs({("fine", "sick"): 9.0, ("sick", "fine"): 1.0}, classes=["sick", "fine"])).fit(X, y)
    assert named.order_ == ["sick", "fine"] and named.rule_.report["positive"] == "fine"


def test_which_class_is_positive_is_said_or_refused(data):
    X, y = data
    plain = LogisticRegression().fit(X, y)
    p, decided, said = plain.predict_proba(X), plain.predict(X), r"positive.*pos_label='fine' or .*pos_label='sick'"
    for name in ("f1", "recall", "weighted-accuracy:3"):
        refused = [
            lambda: Metric(name)(y, decided), lambda: Metric(name).scorer()(plain, X, y),
            lambda: Metric(name).rank({"a": decided}, y), lambda: Problem.from_proba(y, p).best(name),
            lambda: Problem.from_estimator(plain, X, y, cv="prefit").best(name),
            *(lambda kind=kind: kind(plain, name, cv="prefit").fit(X, y) for kind in (MetricClassifier, FrankWolfeClassifier)),
        ]
        for call in refused:
            with pytest.raises(errors.InvalidArgumentError, match=said):
                call()
        numbers = (y == "sick") * 1
        assert Metric(name)(numbers, (decided == "sick") * 1) == Metric(name)(y, decided, pos_label="sick") != Metric(name)(y, decided, pos_label="fine")
    for limit in ("flagged", "equal-opportunity"):
        with pytest.raises(errors.InvalidArgumentError, match=said):
            MetricClassifier(plain, "accuracy", cv="prefit", at_most={limit: 0.3}).fit(X, y, groups=X[:, 0] > 0)
    for name in ("accuracy", "mcc", "macro-f1"):
        assert Metric(name)(y, decided) == Metric(name)(y, decided, pos_label="fine")
    problem = Problem.from_proba(y, p, pos_label="fine")
    for shown in (problem, problem.best("f1"), Metric.from_costs(COSTS, classes=["sick", "fine"])):
        assert "sick, fine (positive)" in repr(shown)


def test_a_scorer_takes_a_column_of_an_array(data):
    X, y = data
    X = np.column_stack([X[:, :3], X[:, 1] > 0])
    plain, metric = LogisticRegression().fit(X, y), Metric("equalised-odds")
    expected = -metric(y, plain.predict(X), X[:, 3])
    assert metric.scorer(groups=3)(plain, X, y) == expected
    assert metric.scorer(groups="g")(plain.fit(pandas.DataFrame(X, columns=list("abcg")), y), pandas.DataFrame(X, columns=list("abcg")), y) == expected
    with pytest.raises(errors.InvalidArgumentError, match="no names of columns"):
        metric.scorer(groups="g")(LogisticRegression().fit(X, y), X, y)


def test_referred_cases_have_no_score(data):
    X, y = data
    metric = Metric.from_costs(COSTS, classes=["fine", "sick"])
    model = MetricClassifier(metric=metric, refer_cost=0.2).fit(X, y)
    assert any(label is None for label in model.predict(X))
    with pytest.raises(errors.InvalidArgumentError, match="referred cases"):
        model.score(X, y)


@pytest.mark.parametrize("cv", [ShuffleSplit(3, random_state=0), TimeSeriesSplit(3)])
def test_folds_leave_each_row_out_once(data, cv):
    with pytest.raises(errors.InvalidArgumentError, match="each row is left out once"):
        MetricClassifier(cv=cv).fit(*data)


def test_no_better_step_is_told(data):
    """The estimator's own decisions have the largest value there is: the rule is these, and a warning says so."""
    X, y = data
    model = LogisticRegression().fit(X, y)
    own = model.predict(X)
    with pytest.warns(ConvergenceWarning, match="no step raised the metric above the 1 of the estimator's own decisions"):
        found = FrankWolfeClassifier(model, lambda true, decided: float(np.mean(decided == own)), cv="prefit").fit(X, y)
    np.testing.assert_array_equal(found.predict(X), own)


# ---- what the labels say beside what the probabilities expect ----


def test_certain_probabilities_are_not_believed():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    said = np.where(rng.random(500) < 0.7, y, 1 - y)
    problem = Problem.from_proba(y, np.c_[1 - said, said].astype(float))
    rule = problem.best(Metric("accuracy"))
    assert rule.report["value"] == pytest.approx(np.mean(said == y), abs=0.01) and not rule.report["doubtful"]
    with pytest.warns(UserWarning, match="the labels contradict the probabilities: the value is 0.6.* 1 by the"):
        rule = problem.best(Metric("accuracy"), evidence="model")
    assert rule.report["doubtful"] and rule.report["value"] == 1 and rule.report["by_labels"] == pytest.approx(np.mean(said == y))
    with pytest.warns(UserWarning) as told:  # of the value and of the limit
        rule = problem.best(Metric("accuracy"), evidence="model", at_least={"recall[1]": 0.9})
    assert any(re.search(r"recall\[1\] is 0.* by the labels, 1 by the probabilities", str(one.message)) for one in told)
    assert rule.report["achieved"] == [1] and rule.report["counted"] == pytest.approx([np.mean(said[y == 1])])


def test_scores_that_run_the_wrong_way():
    rng = np.random.default_rng(2)
    p = rng.random(500)
    y = (rng.random(500) > p).astype(int)
    problem = Problem.from_proba(y, np.c_[1 - p, p])
    with pytest.warns(UserWarning, match=r"rank the classes the wrong way round \(AUC 0\.\d+\): are they those of '0'"):
        rule = problem.best(Metric("accuracy"))
    best = max(np.mean((p < t) == y) for t in np.unique(p))
    assert np.mean(rule.decide(np.c_[1 - p, p]) == y) > best - 0.03
    assert np.isnan(rule.thresholds["all"]) and rule.report["auc"] < 0.3


def test_known_costs_give_the_threshold():
    p = np.repeat([0.05, 0.57], 10)
    y = np.repeat([0, 1], [14, 6])
    rule = Problem.from_proba(y, np.c_[1 - p, p]).best(Metric.from_costs({(1, 0): 7, (0, 1): 1}), evidence="model")
    assert rule.thresholds["all"] == pytest.approx(1 / 8, abs=1e-9)


def test_limits_that_hold_on_new_rows(data):
    X, y = data
    half = len(X) // 2
    fitted = LogisticRegression().fit(X[:half], y[:half])
    options = dict(metric="accuracy", cv="prefit", at_least={"recall[sick]": 0.6}, pos_label="sick")
    model = MetricClassifier(fitted, confidence=0.9, **options).fit(X[half:], y[half:])
    told = model.rule_.report["certified"]
    assert told["confidence"] == 0.9 and told["rows"] == half and told["limits"]["recall[sick]"] >= 0.6
    assert recall_score(y[half:], model.predict(X[half:]), pos_label="sick") > 0.6
    with pytest.raises(errors.DataError, match="rows more one could"):
        MetricClassifier(fitted, confidence=0.99, **{**options, "at_least": {"recall[sick]": 0.99}}).fit(X[half:], y[half:])
    with pytest.raises(errors.InvalidArgumentError, match="prefit"):
        MetricClassifier(fitted, confidence=0.9, at_least={"recall[sick]": 0.6}).fit(X, y)
    rule = Problem.from_proba(y[half:], fitted.predict_proba(X[half:]), pos_label="sick").best(
        "accuracy", at_least={"recall[sick]": 0.6}, confidence=0.9)
    assert rule.report["certified"] == told


def test_costs_of_rows(data):
    """A mistake about each row counts differently: the decision with the smaller expected cost, and refusals."""
    X, y = data
    cost = np.column_stack([np.ones(len(X)), 1.0 + 9.0 * (np.arange(len(X)) % 2)])
    alike = Metric.from_costs({("sick", "fine"): 1.0, ("fine", "sick"): 1.0}, classes=["fine", "sick"])
    model = MetricClassifier(metric=alike, evidence="model").fit(X, y, row_cost=cost)
    p = model.estimator_.predict_proba(X)
    np.testing.assert_array_equal(model.predict(X, row_cost=cost) == "sick", cost[:, 1] * p[:, 1] > cost[:, 0] * p[:, 0])
    frame = pandas.DataFrame(cost[:, ::-1], columns=["sick", "fine"])
    np.testing.assert_array_equal(model.predict(X, row_cost=frame), model.predict(X, row_cost=cost))
    wrong = (model.predict(X, row_cost=cost) != y) * cost[np.arange(len(y)), (y == "sick").astype(int)]
    of_all = cost[np.arange(len(y)), (y == "sick").astype(int)].sum()
    assert model.score(X, y, row_cost=cost) == pytest.approx(-wrong.sum() / of_all)
    for given, words in [(None, "needs those of the rows"), (cost[:-1], "for each of 600 rows"), (-cost, "not negative"),
                         (frame.rename(columns={"sick": "ill"}), "are not the classes")]:
        with pytest.raises(errors.MelicitError, match=words):
            model.predict(X, row_cost=given)


@pytest.mark.skipif(not estimators.ROUTES, reason="scikit-learn before 1.4 does not route metadata")
def test_metadata_routing(data):
    """Weights, groups and costs of rows reach those who ask for them, through scikit-learn's own cross-validation."""
    from sklearn import config_context
    from sklearn.exceptions import UnsetMetadataPassedError
    from sklearn.model_selection import GroupKFold, cross_validate

    X, y = data
    people, weight = np.arange(len(X)) // 3, 1.0 + np.arange(len(X)) % 3
    cost = np.column_stack([np.ones(len(X)), 1.0 + 9.0 * (np.arange(len(X)) % 2)])
    metric = Metric.from_costs(COSTS, classes=["fine", "sick"])
    with config_context(enable_metadata_routing=True):
        inner = LogisticRegression(C=0.01).set_fit_request(sample_weight=True)
        model = MetricClassifier(inner, metric, evidence="model").set_fit_request(sample_weight=True, row_cost=True)
        model.set_score_request(sample_weight=True, row_cost=True).set_predict_request(row_cost=True)
        found = cross_validate(model, X, y, cv=3, params={"sample_weight": weight, "row_cost": cost}, return_estimator=True, return_indices=True)
        for one, train, test, score in zip(found["estimator"], found["indices"]["train"], found["indices"]["test"], found["test_score"]):
            alone = clone(inner).fit(X[train], y[train], sample_weight=weight[train])
            np.testing.assert_allclose(one.estimator_.coef_, alone.coef_)
            assert score == one.score(X[test], y[test], sample_weight=weight[test], row_cost=cost[test])
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            MetricClassifier(LogisticRegression(), metric).fit(X, y, sample_weight=weight)
        MetricClassifier(metric=metric, cv=GroupKFold(3)).fit(X, y, groups=people)  # groups of the splitter
    with pytest.raises(ValueError, match="groups"):
        MetricClassifier(metric=metric, cv=GroupKFold(3)).fit(X, y, groups=people)  # nobody routes them
