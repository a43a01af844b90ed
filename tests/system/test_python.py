"""The Python package: problems, sessions, metrics, errors."""
import ctypes
import doctest
import inspect
import json
import os
import pickle
import re
import signal
import subprocess
import sys
import threading

import warnings

import numpy as np
import pytest
from python_package import BUILD, SOURCE, environment, rows, run

import melicit
import pandas
from melicit import FrankWolfeClassifier, Metric, MetricClassifier, Problem, Rule, Session, _arrow, _core, _native, _rows, errors
from melicit import session as session_module
from melicit._core import ffi
from sklearn import metrics as known
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

pytestmark = [pytest.mark.plain("Python cannot load a library with sanitizers"), pytest.mark.filterwarnings("error")]

BINARY = {
    "accuracy": lambda y, p, w: known.accuracy_score(y, p, sample_weight=w),
    "balanced-accuracy": lambda y, p, w: known.balanced_accuracy_score(y, p, sample_weight=w),
    "f1": lambda y, p, w: known.f1_score(y, p, sample_weight=w),
    "f2": lambda y, p, w: known.fbeta_score(y, p, beta=2, sample_weight=w),
    "precision": lambda y, p, w: known.precision_score(y, p, sample_weight=w),
    "recall": lambda y, p, w: known.recall_score(y, p, sample_weight=w),
    "jaccard": lambda y, p, w: known.jaccard_score(y, p, sample_weight=w),
    "mcc": lambda y, p, w: known.matthews_corrcoef(y, p, sample_weight=w),
    "kappa": lambda y, p, w: known.cohen_kappa_score(y, p, sample_weight=w),
}
MANY = {
    "macro-f1": lambda y, p, w: known.f1_score(y, p, average="macro", sample_weight=w),
    "weighted-recall": lambda y, p, w: known.recall_score(y, p, average="weighted", sample_weight=w),
    "micro-precision": lambda y, p, w: known.precision_score(y, p, average="micro", sample_weight=w),
    "balanced-accuracy": lambda y, p, w: known.balanced_accuracy_score(y, p, sample_weight=w),
    "mcc": lambda y, p, w: known.matthews_corrcoef(y, p, sample_weight=w),
}


@pytest.mark.parametrize("k, table", [(2, BINARY), (4, MANY)])
def test_measures_are_those_of_sklearn(k, table):
    rng = np.random.default_rng(k)
    for trial in range(5):
        y, p = rng.integers(0, k, 300), rng.integers(0, k, 300)
        for weight in (None, rng.random(300)):
            for name, function in table.items():
                assert Metric.named(name)(y, p, sample_weight=weight) == pytest.approx(function(y, p, weight), abs=1e-12)


def test_labels_and_pos_label():
    rng = np.random.default_rng(3)
    y, p = rng.choice(["yes", "no"], 200), rng.choice(["yes", "no"], 200)
    f1 = Metric.named("f1")
    for positive in ("yes", "no"):
        assert f1(y, p, pos_label=positive) == pytest.approx(known.f1_score(y, p, pos_label=positive), abs=1e-12)
        order = sorted(["yes", "no"], key=lambda c: c == positive)
        assert f1(y, p, labels=order) == f1(y, p, pos_label=positive)
    assert f1(y, p) == f1(y, p, pos_label="yes")  # as plain as 0 and 1; other texts are refused
    with pytest.raises(errors.InvalidArgumentError):
        f1(y, p, pos_label="maybe")
    costs = Metric.from_costs({("yes", "no"): 7, ("no", "yes"): 1}, classes=["no", "yes"])
    with pytest.raises(errors.InvalidArgumentError, match="positive class"):
        costs(y, p, pos_label="no")
    with pytest.raises(errors.DataError, match="none of the classes"):
        costs(["yes", "maybe"], ["yes", "yes"])


def test_labels_that_look_the_same_are_refused():
    for first, second in (("yes", "yes "), ("true", "True"), ("caf\u00e9", "cafe\u0301"), ("a b", "a\u00a0b"), ("yes", "y\u200bes")):
        y = np.array([first, second, "other"] * 5)
        with pytest.raises(errors.DataError, match="look the same"):
            Metric("accuracy")(y, y)
        assert Metric("accuracy")(y, y, labels=["other", first, second]) == 1.0  # told apart by hand
    y = np.array(["yes", "Yes", "cafe", "caf\u00e9"] * 5)
    assert Metric("accuracy")(y, y) == 1.0


def test_costs_are_what_they_say():
    rng = np.random.default_rng(5)
    for k in (2, 3, 5):
        cost = rng.integers(1, 9, (k, k)).astype(float)
        np.fill_diagonal(cost, 0.0)
        metric = Metric.from_costs(cost, classes=list("abcde")[:k])
        np.testing.assert_allclose(metric.cost_matrix(), cost / cost[cost > 0].min(), rtol=1e-12)
        y, p = (rng.choice(list("abcde")[:k], 100) for _ in range(2))
        paid = (known.confusion_matrix(y, p, labels=list("abcde")[:k]) * cost).sum() / 100
        assert metric(y, p) == pytest.approx(paid, abs=1e-12) and metric(y, y) == 0 and not metric.greater_is_better
        assert metric.rank({"own": p, "right": y}, y).names == ["right", "own"]
    words = Metric.from_costs({"missed": 7, "false-alarm": 1})
    assert words(["negative", "positive"], ["positive", "negative"]) == 4.0 and words.cost_ratio[0] == 7.0
    assert words == Metric.from_costs({("positive", "negative"): 7, ("negative", "positive"): 1}, ["negative", "positive"])
    named = Metric.from_costs({"missed": 9, "false-alarm": 1, "found": 2}, classes=["healthy", "cancer"])
    assert named == Metric.from_costs([[0, 1], [7, 0]], classes=["healthy", "cancer"])
    assert "One missed cancer case counts as much as 7 false alarms" in named.describe()
    for wrong, classes in (({"lost": 1}, None), ({"missed": 1}, list("abc"))):
        with pytest.raises(errors.InvalidArgumentError, match="missed"):
            Metric.from_costs(wrong, classes)
    with pytest.raises(errors.DataError):
        Metric.from_costs(np.zeros((2, 2)))


def test_metric_files_gradient_and_pickle(tmp_path):
    text = {
        "format": "melicit-metric", "version": 1, "family": "linear-fractional",
        "layout": {"kind": "confusion", "coordinates": "binary", "classes": ["0", "1"]},
        "coefficients": {"p": [1, 0], "q": [0.5, -0.5], "q0": 0.5},
    }
    (tmp_path / "f1.json").write_text(json.dumps(text))
    metric = Metric.load(tmp_path / "f1.json")
    metric.save(tmp_path / "again.json")
    assert Metric.load(tmp_path / "again.json") == metric == pickle.loads(pickle.dumps(metric))
    point = np.array([0.25, 0.4])
    step = 1e-6
    slopes = [(metric.value(point + step * e) - metric.value(point - step * e)) / (2 * step) for e in np.eye(2)]
    np.testing.assert_allclose(metric.gradient(point), slopes, rtol=1e-6)
    y, p = np.repeat([0, 1], [70, 30]), np.tile([0, 0, 1], 34)[:100]
    assert metric(y, p) == pytest.approx(known.f1_score(y, p), abs=1e-12)
    assert metric.value(metric.statistics(metric.confusion(y, p))) == pytest.approx(metric(y, p), abs=1e-15)
    with pytest.raises(errors.DataError, match="nowhere.json"):
        Metric.load(tmp_path / "nowhere.json")


def test_hidden_costs_are_found_in_every_kind_of_problem():
    rng = np.random.default_rng(11)
    y, p = rows()
    for problem in (Problem.from_proba(y, p), Problem.from_proba(y, p[:, 1]), Problem.population("logistic:a=5,b=0", ["0", "1"])):
        for _ in range(3):
            ratio = float(np.exp(rng.uniform(-1.5, 1.5)))
            truth = Metric.from_costs({(1, 0): ratio, (0, 1): 1.0})
            session = Session(problem, for_people=False).simulate(truth)
            found, low, high = session.metric.cost_ratio
            assert session.expected_remaining == 0 and len(session) < 40
            assert low - 1e-9 <= found <= high + 1e-9
            assert abs(np.arctan(found) - np.arctan(ratio)) < 0.06


def test_noise_and_priors_are_those_of_the_program(tmp_path):
    problem = Problem.population("logistic:a=5,b=0", ["0", "1"])
    truth = Metric.from_costs({(1, 0): 3.0, (0, 1): 1.0})
    for i, (noise, assumed) in enumerate([("flip:0.1", "flip:0.1"), ("flip:0", "none"), ("none", "none"), ("band:0.01", "band:0.01")]):
        path = tmp_path / f"{i}.jsonl"
        with Session(problem, path=path, for_people=False, noise=noise, max_questions=5) as session:
            session.simulate(truth)
        assert json.loads(path.read_text().splitlines()[0])["options"]["assume"] == assumed
    with pytest.raises(errors.InvalidArgumentError, match="every second time"):
        Session(problem, for_people=False, noise="flip:0.5")
    with pytest.raises(errors.InvalidArgumentError, match="for_people"):
        Session(problem, noise="flip:0.1")
    plain = Session(problem, for_people=False).simulate(truth)
    told = Session(problem, for_people=False, prior=plain.metric, prior_strength=1000).simulate(truth)
    assert len(told) < len(plain)
    with pytest.raises(errors.InvalidArgumentError, match="without a metric"):
        Session(problem, for_people=False, prior_strength=10)


def test_classes_of_a_prior_are_matched_by_name():
    problem = Problem.population("softmax:1,3,5", ["0", "1", "2"])

    def weights(classes, a):
        return Metric.from_json(json.dumps({
            "format": "melicit-metric", "version": 1, "family": "diagonal-linear", "coefficients": {"a": a},
            "layout": {"kind": "confusion", "coordinates": "diagonal", "classes": classes},
        }))

    truth = weights(["0", "1", "2"], [0.1, 0.2, 0.7])
    told = [Session(problem, "diagonal-linear", for_people=False, prior=prior, prior_strength=100).simulate(truth)
            for prior in (truth, weights(["2", "0", "1"], [0.7, 0.1, 0.2]))]
    np.testing.assert_array_equal(told[0].metric.coefficients, told[1].metric.coefficients)
    with pytest.raises(errors.MelicitError, match="9"):
        Session(problem, "diagonal-linear", prior=weights(["0", "1", "9"], [0.1, 0.2, 0.7]), prior_strength=100)


def test_what_is_known_saves_questions():
    """known= and known_costs= as the program's options; the classes are matched by their names."""
    y, p = rows()
    problem = Problem.from_proba(y, p, np.where(np.arange(len(y)) % 2 == 0, "f", "m"))

    def fair(classes, a, b):
        layout = {"kind": "rates", "coordinates": "offdiagonal", "classes": classes, "groups": ["f", "m"]}
        return Metric.from_json(json.dumps({
            "format": "melicit-metric", "version": 1, "family": "fair-linear", "layout": layout, "orientation": "cost",
            "coefficients": {"a": a, "b": {"1-2": b}, "lambda": 0.3, "prevalence": [[0.5, 0.5]] * 2},
        }))

    names = [str(c) for c in Session(problem, "fair-linear").ask().classes]
    truth, turned = fair(names, [0.6, 0.8], [0.96, 0.28]), fair(names[::-1], [0.8, 0.6], [0.28, 0.96])
    asked = {}
    for what in ({}, {"known_costs": truth}, {"known": truth}, {"known": turned}):
        session = Session(problem, "fair-linear", for_people=False, **what).simulate(truth)
        asked[len(asked)] = len(session)
        found = json.loads(session.metric.to_json())["coefficients"]
        assert found["lambda"] == pytest.approx(0.3, abs=0.05)
        if "known" in what:
            assert found["a"] == pytest.approx([0.6, 0.8], abs=1e-9)
    assert asked[2] == asked[3] < asked[1] < asked[0]
    with pytest.raises(errors.InvalidArgumentError, match="one metric is known"):
        Session(problem, "fair-linear", known=truth, known_costs=truth)
    with pytest.raises(errors.InvalidArgumentError, match="known"):
        Session(problem, "fair-linear", known="f1")


@pytest.mark.parametrize("for_people", [True, False])
def test_a_family_that_only_the_search_finds(for_people):
    """As the program does: without a strategy the search is taken; the active strategy is refused."""
    problem = Problem.population("softmax:1,3,5", ["0", "1", "2"])
    truth = Metric.from_json(json.dumps({
        "format": "melicit-metric", "version": 1, "family": "diagonal-linear-fractional",
        "layout": {"kind": "confusion", "coordinates": "diagonal", "classes": ["0", "1", "2"]},
        "coefficients": {"a": [0.35, 0.4, 0.25], "b": [0.1, -0.1, 0.05], "b0": 0.4},
    }))
    found = Session(problem, "monotone", for_people=for_people, tolerance=0.01).simulate(truth).metric
    asked = Session(problem, "monotone", for_people=for_people, tolerance=0.01, strategy="search").simulate(truth).metric
    assert found == asked and json.loads(found.to_json())["elicited"]["strategy"] == "search"
    with pytest.raises(errors.InvalidArgumentError, match="monotone metrics are found by the search strategy"):
        Session(problem, "monotone", for_people=for_people, strategy="active")


def test_more_classes_and_groups():
    y, p = rows(900, 3, 2)
    truth = Metric.from_json(json.dumps({
        "format": "melicit-metric", "version": 1, "family": "diagonal-linear",
        "layout": {"kind": "confusion", "coordinates": "diagonal", "classes": ["2", "0", "1"]},
        "coefficients": {"a": [0.5, 0.2, 0.3]},
    }))
    session = Session(Problem.from_proba(y, p), "diagonal-linear", for_people=False).simulate(truth)
    np.testing.assert_allclose(session.metric.coefficients, [0.2, 0.3, 0.5], atol=0.05)
    assert session.interval.shape == (3, 2)
    groups = np.where(np.arange(900) % 2 == 0, "f", "m")
    fair = Session(Problem.from_proba(y, p, groups), "fair-linear")
    question = fair.ask()
    assert question.groups == ("f", "m") and question.counts_a.shape == (2, 3, 3)
    with pytest.raises(errors.InvalidArgumentError, match="about groups"):
        Session(Problem.from_proba(y, p), "fair-linear")


def test_answers_are_idempotent_taken_back_and_checked():
    session = Session(Problem.from_proba(*rows()))
    first = session.ask()
    session.tell(first, "A")
    session.tell(first, "A")
    assert len(session) == 1 and session.ask().number == 2
    with pytest.raises(errors.ConflictError):
        session.tell(first, "B")
    session.undo()
    assert len(session) == 0
    np.testing.assert_array_equal(session.ask().a, first.a)
    with pytest.raises(errors.InvalidArgumentError):
        session.tell(first, "C")
    with pytest.raises(errors.StateError):
        session.undo()
    with pytest.raises(errors.StateError, match="not answered"):
        for _ in session:
            pass
    session.close()
    with pytest.raises(errors.StateError, match="closed"):
        session.ask()


def test_any_callable_answers_and_its_exceptions_come_through():
    def likes_positives(question):
        return "A" if question.a[0] > question.b[0] else "B"

    session = Session(Problem.from_proba(*rows())).run(likes_positives)
    assert session.ask() is None and session.metric.cost_ratio[0] > 5
    frame = session.to_frame()
    assert len(frame) == len(session) and set(frame["answer"]) <= {"A", "B"}
    with pytest.raises(ZeroDivisionError):
        Session(Problem.from_proba(*rows())).run(lambda question: 1 / 0)


def test_ctrl_c_stops_and_loses_nothing():
    def interrupted(question):
        if question.number == 3:
            signal.raise_signal(signal.SIGINT)
        return "A"

    session = Session(Problem.from_proba(*rows()))
    with pytest.raises(KeyboardInterrupt):
        session.run(interrupted)
    assert len(session) == 2
    session.tell(session.ask(), "A")
    assert len(session) == 3


def test_ctrl_c_is_heard_during_long_work():
    """The largest ball among the rates of 40 classes takes long: the signal comes while it is searched for."""
    script = (
        "import signal, threading, melicit\n"
        "try:\n"
        "    threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()\n"
        "    melicit.Problem.population('softmax:' + ','.join(map(str, range(40)))).ground('linear')\n"
        "except KeyboardInterrupt:\n"
        "    print('heard')\n"
    )
    done = run("-c", script)
    assert done.stdout == "heard\n" and done.returncode == 0, done.stderr


LONG_RULE = """
import sys, threading, time, traceback
import numpy as np
from melicit import Problem, _core
rng = np.random.default_rng(1)
p = rng.dirichlet(np.full(12, 0.3), 20000)
labels = (p.cumsum(axis=1) > rng.random((20000, 1))).argmax(axis=1)
problem = Problem.from_proba(labels, p, groups=rng.integers(0, 8, 20000))

def watch(main):
    while True:  # until the interpreter waits for the library
        frame = sys._current_frames()[main]
        if frame.f_code.co_name == "call" and frame.f_locals.get("function") is _core.lib.mel_rule_find:
            print("inside", flush=True)
            return
        time.sleep(0.01)

threading.Thread(target=watch, args=[threading.get_ident()], daemon=True).start()
try:
    problem.best("accuracy", evidence="model", at_most={"equalised-odds": 0.001}, threads=1)
except KeyboardInterrupt as error:
    print("raise error" in [frame.line for frame in traceback.extract_tb(error.__traceback__)])
"""


def test_ctrl_c_is_heard_during_one_call():
    """Which takes minutes; the interrupt comes out of the callback that the library makes now and then, not after it."""
    child = subprocess.Popen([sys.executable, "-c", LONG_RULE], stdout=subprocess.PIPE, text=True, env=environment())
    assert child.stdout.readline() == "inside\n"
    child.send_signal(signal.SIGINT)
    said, _ = child.communicate(timeout=240)
    assert said == "True\n" and child.returncode == 0


@pytest.fixture
def ctrl_c():
    """Ctrl-C comes whenever the library asks whether to go on; ctrl_c() says how often it has asked."""
    asked = []

    def progress(user, what, share):
        asked.append(ffi.string(what))
        signal.raise_signal(signal.SIGINT)
        return 0

    ffi.def_extern(name="melicit_progress", error=1, onerror=_core._stopped)(progress)
    yield lambda: len(asked)
    ffi.def_extern(name="melicit_progress", error=1, onerror=_core._stopped)(_core.melicit_progress)


QUADRATIC = {
    "format": "melicit-metric", "version": 1, "family": "quadratic", "orientation": "cost",
    "layout": {"kind": "rates", "coordinates": "offdiagonal", "classes": ["0", "1", "2"]},
    "coefficients": {"a": [0.1] * 6, "B": (0.2 * np.eye(6)).tolist()},
}


def test_ctrl_c_wherever_the_library_asks(tmp_path, request):
    """It is heard during the call, which changes nothing, and never during a later one."""
    y, p = rows(200, 3)
    problem, people = Problem.from_proba(y, p), Problem.population("softmax:1,3,5", ["0", "1", "2"])
    metric = Metric.from_json(json.dumps(QUADRATIC))
    path = tmp_path / "session.jsonl"
    with Session(people, "diagonal-linear", path) as stored:
        for _, question in zip(range(3), stored):
            stored.tell(question, "A")
    session = Session(problem).run(lambda question: "A")
    question, answered = Session(problem, "diagonal-linear").ask(), len(session)
    people.best(metric)  # its ball is known from here on
    ctrl_c = request.getfixturevalue("ctrl_c")
    for work in (
        lambda: problem.classifier_for(question.a, "diagonal-linear"),
        lambda: people.best(metric),
        lambda: problem.best("g-mean"),
        lambda: Problem.from_proba(y, p).ground("linear"),
        lambda: Session(people, "diagonal-linear", path),
        session.undo,
        lambda: FrankWolfeClassifier(LogisticRegression(), "g-mean").fit(p, y),
    ):
        before = ctrl_c()
        with pytest.raises(KeyboardInterrupt):
            work()
        assert ctrl_c() > before
        with pytest.raises(errors.DataError):
            Metric.load(tmp_path / "nothing.json")
    assert len(session) == answered


def test_ctrl_c_of_one_thread_is_not_heard_by_others(tmp_path, ctrl_c):
    """Another thread's call fails while the main thread has heard Ctrl-C and is still inside of its own."""
    seen = []
    heard = _core._stopped

    def elsewhere(kind, error, trace):
        heard(kind, error, trace)
        other = threading.Thread(target=lambda: seen.append(pytest.raises(errors.DataError, Metric.load, tmp_path / "nothing.json")))
        other.start()
        other.join()

    ffi.def_extern(name="melicit_progress", error=1, onerror=elsewhere)(lambda user, what, share: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        Problem.from_proba(*rows(200, 3)).ground("linear")
    assert len(seen) == 1


@pytest.mark.parametrize("labels", [(2, 10), ("2", "10"), ("10", "2"), (0.5, 10.0), ("b", "a")])
def test_labels_of_every_kind_are_stored_in_the_order_of_the_columns(tmp_path, labels):
    """Numbers are sorted by value and texts that look like numbers as texts, here and by the program."""
    y, p = rows()
    problem = Problem.from_proba(np.array(labels)[y], p, classes=list(labels))
    question, stored = Session(problem).ask(), Session(problem, path=tmp_path / "session.jsonl").ask()
    np.testing.assert_array_equal(stored.counts_a, question.counts_a)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the labels contradict")  # as they do by chance in 5 of 100 samples, and here
        rule = problem.best("accuracy", evidence="model")
    rule.save(tmp_path / "rule.json")
    assert json.loads((tmp_path / "rule.json").read_text()).get("text_labels", False) == (labels[0] in ("2", "10"))
    order = sorted(range(2), key=lambda i: labels[i])  # as scikit-learn's classes_
    np.save(tmp_path / "p.npy", p[:, order])
    done = subprocess.run(
        [BUILD / "melicit", "predict", "--classifier", "rule.json", "--probs", "p.npy", "--out", "said.csv"],
        capture_output=True, text=True, env=environment(), cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    said = pandas.read_csv(tmp_path / "said.csv", dtype=str).iloc[:, -1]
    assert [str(label) for label in rule.decide(p)] == list(said) or [
        f"{label:g}" for label in rule.decide(p)] == list(said)


@pytest.mark.parametrize("labels", [("cancer", "healthy"), (2, 10), ("2", "10"), (-1.0, 3.0), (False, True), ("b", "a", "c")])
def test_probabilities_are_matched_with_the_classes_of_a_rule(tmp_path, labels):
    """Arrays as predict_proba gives them, frames by name, whichever class is positive: wrong columns would decide for the other
    class, so that most decisions would be wrong."""
    rng = np.random.default_rng(7)
    X, code = rng.normal(size=(400, 2)), rng.integers(0, len(labels), 400)
    X[:, 0] += 3.0 * (code == 1) - 3.0 * (code == 2)
    y = np.array(labels)[code]
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)
    for positive in labels if len(labels) == 2 else [None]:
        problem = Problem.from_proba(y, p, pos_label=positive)
        shuffled = pandas.DataFrame(p, columns=model.classes_).iloc[:, rng.permutation(len(labels))]
        best = problem.best("accuracy")
        best.save(tmp_path / "rule.json")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # the estimator may be best as it is
            fitted = [kind(model, "accuracy", cv="prefit", pos_label=positive).fit(X, y) for kind in (MetricClassifier, FrankWolfeClassifier)]
        of_frame = Problem.from_proba(y, shuffled, pos_label=positive)
        made = [best, Rule.load(tmp_path / "rule.json"), pickle.loads(pickle.dumps(best)), of_frame.best("accuracy"),
                Problem.from_estimator(model, X, y, pos_label=positive).best("accuracy"), *(one.rule_ for one in fitted)]
        if len(labels) == 2:
            made.append(problem.classifier_for(problem.vertices()[problem.vertices().sum(axis=1).argmax()]))
        for i, rule in enumerate(made):
            assert rule.columns == best.columns and rule.labels == (best.classes if i == 1 else problem.labels)
            for given in (p, shuffled, pandas.DataFrame(p)):
                decided = np.asarray(rule.decide(given))
                assert np.mean(decided == (np.array([_rows.name_of(label) for label in y]) if i == 1 else y)) > 0.85
        for one in fitted:
            np.testing.assert_array_equal(one.predict(X), one.rule_.decide(p))
        if len(labels) == 2 and positive == model.classes_[0]:
            with pytest.raises(errors.InvalidArgumentError, match="of which class is this one column"):
                Problem.from_proba(y, p[:, 0], pos_label=positive)
            with pytest.raises(errors.InvalidArgumentError, match="of which class is this one column"):
                best.decide(p[:, 1])
        if len(labels) == 2:
            for i, name in enumerate(best.columns):
                np.testing.assert_array_equal(best.decide(pandas.Series(p[:, i], name=name)), best.decide(p))


def test_the_program_goes_on_with_a_session_and_back(tmp_path):
    y, p = rows()
    names = np.array(["healthy", "cancer"])[y]
    problem = Problem.from_proba(names, p, classes=["healthy", "cancer"])
    truth = Metric.from_costs({("cancer", "healthy"): 4.0, ("healthy", "cancer"): 1.0}, ["healthy", "cancer"])
    truth.save(tmp_path / "truth.json")
    path = tmp_path / "session.jsonl"
    with Session(problem, path=path) as session:
        for _, question in zip(range(3), session):
            session.tell(question, "A" if truth.value(question.a) > truth.value(question.b) else "B")
        asked = session.ask()
    done = subprocess.run(
        [BUILD / "melicit", "elicit", "--session", path, "--oracle", f"sim:{tmp_path / 'truth.json'}", "--json"],
        capture_output=True, text=True, env=environment(),
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    with Session(problem, path=path) as session:
        assert len(session) == found["questions"] > 3
        assert session.ask() is None
        np.testing.assert_allclose(session.records()[3]["a"], asked.a)
        assert session.metric.cost_ratio[0] == pytest.approx(found["cost_ratio"]["value"], rel=1e-9)
    page = tmp_path / "page.html"
    done = subprocess.run(
        [BUILD / "melicit", "report", "--session", path, "--out", page], capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 0 and "cancer" in page.read_text(), done.stderr
    with pytest.raises(errors.ConflictError, match="other rows"):
        Session(Problem.from_proba(names, p[::-1], classes=["healthy", "cancer"]), path=path)
    with pytest.raises(errors.ConflictError, match="family"):
        Session(problem, "linear-fractional", path=path)


@pytest.mark.parametrize("split, own", [(1, 7), (3, 1), (3, 7), (5, 5)])
def test_the_program_reads_sessions_with_a_seed(tmp_path, split, own):
    """The seed of the split is the problem's, which need not be the session's: the program makes the same split."""
    problem = Problem.from_files(data=SOURCE / "data" / "breast_cancer_original.csv.gz", classes=["benign", "malignant"], seed=split)
    path = tmp_path / "session.jsonl"
    with Session(problem, path=path, seed=own, max_questions=6) as session:
        for question in session:
            session.tell(question, "A" if question.a[0] > question.b[0] else "B")
        ratio = session.metric.cost_ratio[0]
    header = json.loads(path.read_text().splitlines()[0])
    assert header["space"].get("seed", header["seed"]) == split and header["seed"] == own
    Metric.from_costs({("malignant", "benign"): 4.0, ("benign", "malignant"): 1.0}, ["benign", "malignant"]).save(tmp_path / "truth.json")
    table = SOURCE / "data" / "breast_cancer_original.csv.gz"
    for verb in (["report", "--out", tmp_path / "page.html"], ["report", "--data", table, "--classes", "benign,malignant", "--out", tmp_path / "b.html"],
                 ["elicit", "--oracle", f"sim:{tmp_path / 'truth.json'}", "--json"]):
        done = subprocess.run([BUILD / "melicit", *verb, "--session", path], capture_output=True, text=True, env=environment())
        assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["cost_ratio"]["value"] == pytest.approx(ratio, rel=1e-9)
    with pytest.raises(errors.ConflictError, match="seed"):
        Session(Problem.from_files(data=SOURCE / "data" / "breast_cancer_original.csv.gz", classes=["benign", "malignant"], seed=9), path=path, seed=own, max_questions=6)


def test_best_rules_points_and_files(tmp_path):
    y, p = rows()
    problem = Problem.from_proba(y, p)
    metric = Metric.from_costs({(1, 0): 3.0, (0, 1): 1.0})
    rule = problem.best(metric, evidence="model")
    assert rule.thresholds["all"] == pytest.approx(0.25, abs=0.01)  # between two rows
    np.testing.assert_array_equal(rule.decide(p), (p[:, 1] >= 0.25).astype(int))
    by_labels = problem.best(metric, evidence="labels")
    brute = min(np.where(y == 1, 3.0 * (p[:, 1] < t), p[:, 1] >= t).mean() for t in np.unique(p[:, 1]))
    assert metric(y, by_labels.decide(p)) == pytest.approx(brute, abs=1e-12) == by_labels.report["value"]
    rule.save(tmp_path / "rule.json")
    for other in (Rule.load(tmp_path / "rule.json"), pickle.loads(pickle.dumps(rule))):
        np.testing.assert_array_equal(other.decide_codes(p), rule.decide_codes(p))
    question = Session(problem).ask()
    chances = problem.classifier_for(question.a).chances(p)
    achieved = [(chances[:, i] * (y == i)).sum() / len(y) for i in (1, 0)]
    np.testing.assert_allclose(achieved, question.a, atol=1e-3)
    with pytest.raises(errors.InvalidArgumentError, match="no classifier achieves"):
        problem.classifier_for([0.5, 0.5])


def test_ranking_says_how_sure_it_is():
    y, p = rows(300)
    metric = Session(Problem.from_proba(y, p)).simulate(Metric.from_costs({(1, 0): 2.0, (0, 1): 1.0})).metric
    good, bad = (p[:, 1] > 0.33).astype(int), (p[:, 1] > 0.9).astype(int)
    order = metric.rank({"bad": bad, "good": good, "same": good}, y)
    assert order.names[2] == "bad" and order.best[2] < 0.05
    np.testing.assert_allclose(order.best[:2], 0.5, atol=0.02)
    np.testing.assert_allclose(order.places.sum(axis=0), 1.0)
    frame = order.to_frame()
    assert (frame["low"] <= frame["value"]).all() and (frame["value"] <= frame["high"]).all()
    twins = metric.rank({"a": good, "b": good}, y)
    assert twins.order_probability == pytest.approx(0.5) and (twins.interval[0] == twins.interval[1]).all()
    assert metric.rank({name: good for name in "abc"}, y).order_probability == pytest.approx(1 / 6)
    # Of the test's rows alone: the standard deviation of an accuracy is known.
    order = Metric.named("accuracy").rank({"good": good}, y)
    share = known.accuracy_score(y, good)
    wide = 2 * 1.96 * np.sqrt(share * (1 - share) / 300)
    assert order.best[0] == 1.0 and np.ptp(order.interval[0]) == pytest.approx(wide, rel=0.02)


def assert_same_ranking(order, got):
    """What melicit rank says of the same classifiers."""
    rows = got["order"]
    assert order.names == [one["name"] for one in rows]
    np.testing.assert_allclose(order.values, [one["value"] for one in rows], rtol=1e-12)
    np.testing.assert_allclose(order.interval, [one["interval"] for one in rows], rtol=1e-9)
    np.testing.assert_allclose(order.best, [one["best_probability"] for one in rows], rtol=1e-9)
    np.testing.assert_allclose(np.diag(order.beats, 1), [one["beats_next"] for one in rows[:-1]], rtol=1e-6)
    assert order.order_probability == pytest.approx(got["order_probability"], rel=1e-9)


def test_python_and_the_program_have_the_same_intervals(tmp_path):
    rng = np.random.default_rng(21)
    for trial in range(3):
        n = int(rng.integers(60, 900))
        y, g = rng.integers(0, 2, n), rng.choice(["f", "m", "x"], n)
        said = {name: np.where(rng.random(n) < share, y, 1 - y) for name, share in (("p", 0.7), ("q", 0.8), ("r", 0.78))}
        truth = Metric.from_costs({(1, 0): float(rng.uniform(1, 9)), (0, 1): 1.0})
        _, p = rows(400, seed=trial)
        Session(Problem.from_proba(*rows(400, seed=trial))).simulate(truth).metric.save(tmp_path / "metric.json")
        metric = Metric.load(tmp_path / "metric.json")
        for name, values in {"y": y, "g": g, **said}.items():
            pandas.DataFrame({name: values}).to_csv(tmp_path / f"{name}.csv", index=False)

        def program(*args):
            done = subprocess.run([BUILD / "melicit", *args, "--json"], capture_output=True, text=True, env=environment(), cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        rowwise = ("--labels", "y.csv", "--predictions", "p.csv")
        got = program("score", "--metric", "metric.json", *rowwise)
        assert metric.certainty(metric.confusion(y, said["p"])) == pytest.approx((got["value"], *got["interval"]), rel=1e-9)
        seed = int(rng.integers(1, 1000))
        many = ("q.csv", "r.csv", "--seed", str(seed))
        assert_same_ranking(metric.rank(said, y, seed=seed), program("rank", "--metric", "metric.json", *rowwise, *many))
        assert_same_ranking(Metric("min-recall").rank(said, y, seed=seed), program("rank", "--named", "min-recall", *rowwise, *many))
        fair = program("rank", "--named", "equalised-odds", *rowwise, *many, "--groups", "g.csv")
        assert_same_ranking(Metric("equalised-odds").rank(said, y, groups=g, seed=seed), fair)
        counts = {name: Metric("f1").confusion(y, values) for name, values in said.items()}
        lines = [",".join(map(str, [name, *map(int, of.ravel())])) for name, of in counts.items()]
        (tmp_path / "pool.csv").write_text("\n".join(["name,tn,fp,fn,tp", *lines]) + "\n")
        for draws in (1000, 300):
            apart = program("rank", "--named", "f1", "--pool", "pool.csv", "--seed", str(seed), "--thesis", f"samples={draws}")
            assert_same_ranking(Metric("f1").rank(counts, seed=seed, draws=draws), apart)
        got = program("score", "--named", "recall", *rowwise, "--groups", "g.csv")
        frame = melicit.group_report("recall", y, said["p"], g)
        for one in got["scores"]:
            row = frame.loc["overall" if one["name"] == "all" else one["name"]]["recall"]
            assert tuple(row[["value", "low", "high"]]) == pytest.approx((one["recall"], *one["recall_interval"]), rel=1e-9)
        for word in ("difference", "ratio"):
            row, found = frame.loc[word]["recall"], got["groups"]["all"]
            expected = (found[f"recall:{word}"], *found[f"recall:{word}_interval"])
            assert tuple(row[["value", "low", "high"]]) == pytest.approx(expected, rel=1e-9)


def test_decisions_are_no_probabilities_and_folders_no_files(tmp_path, monkeypatch):
    y, p = rows(100)
    for call in (lambda: Metric("accuracy")(y, p[:, 1]), lambda: Metric("accuracy").rank({"a": p[:, 1]}, y),
                 lambda: melicit.group_report("accuracy", y, p[:, 1], y)):
        with pytest.raises(errors.DataError, match="these are probabilities, not decisions"):
            call()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "accuracy").mkdir()
    assert Metric("accuracy")(y, y) == 1.0
    (tmp_path / "f1").write_text("")
    with pytest.raises(errors.InvalidArgumentError, match="a measure and a file"):
        Metric("f1")


def test_a_forked_process_leaves_the_session_file_alone(tmp_path):
    path = tmp_path / "session.jsonl"
    with Session(Problem.from_proba(*rows(200)), path=path) as session:
        session.tell(session.ask(), "A")
        child = os.fork()
        if child == 0:
            try:
                session.tell(2, "B")
            except errors.StateError as error:
                os._exit(0 if "belongs to the process that opened it" in str(error) else 2)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        session.tell(session.ask(), "B")
    with Session(Problem.from_proba(*rows(200)), path=path) as session:
        assert [record["answer"] for record in session.records()] == ["A", "B"]


def test_several_people_are_pooled_as_by_the_program(tmp_path):
    problem, sessions = Problem.from_proba(*rows(400)), []
    for i, ratio in enumerate((3.0, 4.0, 5.0), 1):
        session = Session(problem, path=tmp_path / f"{i}.jsonl", seed=i)
        sessions.append(session.simulate(Metric.from_costs({(1, 0): ratio, (0, 1): 1.0}), noise="person", seed=i))
    names = [f"{i}.jsonl" for i in (1, 2, 3)]
    found = melicit.pool(sessions, names)
    done = subprocess.run([BUILD / "melicit", "elicit", "--respondents", *names, "--json"], capture_output=True, text=True, env=environment(), cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert {key: said[key] for key in found.outcome} == found.outcome
    ratio, low, high = found.metric.cost_ratio
    assert low < 4.0 < high and ratio == pytest.approx(said["cost_ratio"]["value"])
    for given, reason in (([sessions[0]] * 2, "one person counts once"), (sessions[:1], "two or more"),
                          ([sessions[0], Session(Problem.from_proba(*rows(300))).simulate(found.metric)], "about other data")):
        with pytest.raises(errors.MelicitError, match=reason):
            melicit.pool(given)
    with pytest.raises(errors.InvalidArgumentError, match="2 for 3"):
        melicit.pool(sessions, ["a", "b"])
    with pytest.raises(TypeError):
        melicit.pool([tmp_path / "1.jsonl"] * 2)


def test_candidates_from_a_frame(tmp_path):
    frame = pandas.DataFrame(
        {"tp": [95, 80, 30], "fn": [5, 20, 70], "fp": [400, 120, 10], "tn": [500, 780, 890]}, index=["bold", "fast", "shy"]
    )
    problem = Problem.candidates(frame, classes=["healthy", "cancer"])
    truth = Metric.from_costs({("cancer", "healthy"): 50.0, ("healthy", "cancer"): 1.0}, ["healthy", "cancer"])
    for path in (None, tmp_path / "pool.jsonl"):
        assert set(Session(problem).ask().names) <= set(frame.index)
        session = Session(problem, path=path).simulate(truth)
        assert session.records()[0]["answer"] in "AB"
        assert {entry["name"] for entry in session.outcome["order"]} == set(frame.index)


def test_statuses_are_exceptions_of_the_table():
    statuses = {code: name for name, code in ffi.typeof("mel_status").relements.items() if name != "MEL_OK"}
    assert {status: f"MEL_{kind.code}" for status, kind in errors.BY_STATUS.items()} == statuses
    for kind in errors.BY_STATUS.values():
        assert issubclass(kind, errors.MelicitError) and kind.__doc__ and kind.__name__.endswith("Error")
    assert issubclass(errors.DataError, ValueError) and issubclass(errors.StorageError, OSError)
    with pytest.raises(AttributeError):
        errors.ENOTHING


def test_rows_are_lent_not_copied_and_read_only_ones_do():
    y, p = rows()
    p.flags.writeable = False
    problem = Problem.from_proba(y.astype(np.uint32), p, classes=[0, 1])
    assert problem.proba is p
    strided = np.repeat(p, 2, axis=0)[::2]
    a, b = Session(problem).ask(), Session(Problem.from_proba(y, np.asfortranarray(strided))).ask()
    np.testing.assert_array_equal(a.a, b.a)


def test_the_interpreter_runs_on_meanwhile(tmp_path):
    """The library waits for a file that another thread of the interpreter writes: with its lock held nobody would."""
    path = tmp_path / "metric.json"
    os.mkfifo(path)
    found = []
    reader = threading.Thread(target=lambda: found.append(Metric.load(path)), daemon=True)
    reader.start()
    path.write_text(Metric.from_costs({(1, 0): 3.0, (0, 1): 1.0}).to_json())
    reader.join()
    assert found[0].cost_ratio[0] == 3.0


def test_labels_that_change_later_change_nothing():
    y, p = rows(300, 3)
    codes = y.astype(np.uint32)
    problem = Problem.from_proba(codes, p, classes=[0, 1, 2])
    session = Session(problem)
    codes[:] = 2**31
    session.tell(session.ask(), "A")
    assert problem.codes.max() == 2


def test_every_function_that_is_called_is_public():
    for path in (SOURCE / "python" / "melicit").glob("*.py"):
        for name in re.findall(r"\blib\.(\w+)", path.read_text()):
            assert hasattr(_native.lib, name), f"{path.name} uses {name}"


def test_frames_in_frames_out():
    y, p = rows(300, 3)
    names = np.array(["x", "y", "z"])[y]
    frame = pandas.DataFrame(p, columns=["x", "y", "z"], index=np.arange(300) + 7)
    metric = Metric.from_costs(np.array([[0, 1, 4], [2, 0, 1], [1, 3, 0]]), classes=["x", "y", "z"])
    plain = Problem.from_proba(names, p).best(metric, evidence="model")
    mixed = Problem.from_proba(pandas.Series(names), frame[["z", "x", "y"]]).best(metric, evidence="model")
    decided = mixed.decide(frame[["y", "z", "x"]])
    assert (decided.index == frame.index).all() and (decided.to_numpy() == plain.decide(p)).all()
    chances = mixed.chances(frame)
    assert list(chances.columns) == ["x", "y", "z"] and (chances.to_numpy() == plain.chances(p)).all()
    with pytest.raises(errors.InvalidArgumentError, match="are not the classes"):
        mixed.decide(frame.rename(columns={"x": "w"}))


def test_a_problem_is_pickled_after_its_first_session():
    y, p = rows(300)
    problem = Problem.from_proba(y, p)
    first = Session(problem).ask()
    again = pickle.loads(pickle.dumps(problem))
    assert Session(again).ask() == first == Session(problem).ask()


def test_questions_are_compared_by_their_numbers():
    y, p = rows(300)
    one, other = (Session(Problem.from_proba(y, p)) for _ in range(2))
    first = one.ask()
    assert first == other.ask() and hash(first) == hash(other.ask()) and first != "A"
    one.tell(first, "A")
    assert one.ask() != first


# ---- frames ----


def make_frame():
    n = 80
    return pandas.DataFrame({
        "label": ["no", "yes"] * (n // 2),
        "x": np.arange(n) % 7.0,
        "c": pandas.Categorical(["a", "b", "c", None] * (n // 4)),
        "n": pandas.array([1, None, 3, 4] * (n // 4), dtype="Int64"),
        "b": [True, False, False, True] * (n // 4),
        "t": ["é", None, "z", "z"] * (n // 4),
        "d": pandas.date_range("2020", periods=n),
    })


class Exported:
    """What polars and pyarrow have: a capsule with a stream, here over the columns of a frame."""

    def __init__(self, frame):
        self.frame, self.kept, self.calls = frame, [], 0

    def __arrow_c_stream__(self, requested_schema=None):
        self.calls += 1
        out = ffi.new("struct ArrowArrayStream *")
        self.kept += [out, _arrow._built(out, self.frame)]
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(int(ffi.cast("uintptr_t", out)), b"arrow_array_stream", None)


def vertices(ground):
    points = [_native.lib.mel_face_vertex(ground.face, i) for i in range(_native.lib.mel_face_vertices(ground.face))]
    return [(point.tp, point.tn) for point in points]


def test_frame_is_its_csv(tmp_path):
    frame = make_frame()
    frame.to_csv(tmp_path / "f.csv", index=False)
    of_file = Problem.from_files(data=tmp_path / "f.csv", positive="yes").ground("linear")
    exported = Exported(frame)
    columns = {name: frame[name] for name in frame}
    for given in (frame, frame.set_index(pandas.Index(range(5, 85))), exported, columns):
        ground = Problem.from_frame(given, positive="yes").ground("linear")
        assert ground.classes == ["no", "yes"] and ground.rows == of_file.rows
        assert np.array_equal(ground.class_share, of_file.class_share)
        assert vertices(ground) == vertices(of_file)  # the same model, and so the same classifiers
    assert exported.calls > 0


def test_missing_values_of_frames():
    """NA, None and NaN in texts, and dates that are not there, are missing and no category of their own."""
    label, number = np.array([0, 1] * 30), np.arange(60.0) % 7
    def rows_of(missing):
        town = np.array([["a", "b", "c"][i % 3] for i in range(60)], dtype=object)
        town[::5] = missing
        return Problem.from_frame({"label": label, "x": number, "town": town}).ground("linear")
    assert len({tuple(np.ravel(rows_of(missing).class_share)) + (rows_of(missing).rows,) for missing in (pandas.NA, None, float("nan"))}) == 1
    from melicit._arrow import _buffers
    there = _buffers(np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), "day")[1][0]
    assert there[0] == 1


def test_frames_refused():
    for frame, sentence in [
        ({"label": [0, 1, 0], "x": [1.0, 2.0]}, "column 'x': 2 rows, but 'label' has 3"),
        ({"label": [0, 1] * 20, "x": [float("inf")] * 40}, 'data: row 1, column "x": inf is not a finite number'),
        ({"label": [0, 1] * 20, "x": np.ones((40, 2))}, "column 'x': expected one dimension, not 2"),
        ({"x": [1.0] * 40}, 'no column "label"'),
        ({}, "no columns"),
    ]:
        with pytest.raises(ValueError, match=re.escape(sentence)):
            Problem.from_frame(frame).ground("linear")
    with pytest.raises(TypeError, match="probs"):
        Problem.from_frame({}, probs="p.npy")


def test_keywords_are_those_of_the_library():
    """The signature of Session has every number, word and flag of the table of options, and nothing takes **options."""
    has = set(inspect.signature(Session).parameters)
    assert set(session_module.OPTIONS) <= has and len(session_module.OPTIONS) >= 20
    for function in (Session, Problem.from_frame, Problem.from_files, Problem.best, Metric.fair):
        assert all(p.kind is not p.VAR_KEYWORD for p in inspect.signature(function).parameters.values()), function
    assert {"Session", "Metric", "ask", "__version__"} <= set(dir(melicit))


def test_examples_in_docstrings():
    for documented in (Session, Metric.fair):
        found = doctest.DocTestFinder(recurse=False).find(documented, globs={})
        assert sum(len(test.examples) for test in found) >= 2
        for test in found:
            assert doctest.DocTestRunner().run(test).failed == 0


def test_report_and_notebook(tmp_path):
    session = Session(Problem.population("logistic:a=5,b=0"), for_people=False).simulate(Metric.from_costs({"missed": 7, "false-alarm": 1}))
    page = session.report(tmp_path / "r.html", title="Seven <to> one")
    assert (tmp_path / "r.html").read_text() == page and "Seven &lt;to&gt; one" in page and page.lstrip().lower().startswith("<!doctype html")
    shown = session._repr_html_()
    assert "<table>" in shown and "linear" in shown and "coefficient 2" in shown
    assert "f1" in Metric("f1")._repr_html_() and "&lt;" in _rows.as_table("<", [("a", "b")])


def test_fair_metrics_without_questions():
    """(1 - lambda) of the weighted mistakes, lambda of the weighted differences between groups."""
    rng = np.random.default_rng(5)
    for k, m in ((2, 2), (3, 3)):
        costs, between = rng.random((k, k)), rng.random((m * (m - 1) // 2, k, k))
        share = rng.random((m, k))
        share /= share.sum(axis=0)
        metric = Metric.fair(costs, between, 0.3, share, classes=list("abc")[:k], groups=["x", "y", "z"][:m])
        counts = rng.integers(1, 60, (m, k, k)).astype(float)
        rates = counts / counts.sum(axis=2, keepdims=True)
        off = ~np.eye(k, dtype=bool)
        overall = sum(share[g][:, None] * rates[g] for g in range(m))
        pairs = [(u, v) for u in range(m) for v in range(u + 1, m)]
        gaps = sum((between[i] * abs(rates[u] - rates[v]))[off].sum() for i, (u, v) in enumerate(pairs))
        want = 0.7 * (costs * overall)[off].sum() + 0.3 * gaps
        other = counts[::-1].copy()
        rates = other / other.sum(axis=2, keepdims=True)
        overall = sum(share[g][:, None] * rates[g] for g in range(m))
        gaps = sum((between[i] * abs(rates[u] - rates[v]))[off].sum() for i, (u, v) in enumerate(pairs))
        wanted = 0.7 * (costs * overall)[off].sum() + 0.3 * gaps
        assert metric.of_confusion(counts) / metric.of_confusion(other) == pytest.approx(want / wanted, rel=1e-9)
        assert not metric.greater_is_better
    with pytest.raises(ValueError, match="costs and between_groups"):
        Metric.fair(np.eye(3), np.eye(2), 0.3, [[0.5, 0.5], [0.5, 0.5]])


def test_sensitive_features_are_groups():
    y, p, g = [0, 1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 1], list("aabbab")
    assert Metric("equalised-odds")(y, p, sensitive_features=g) == Metric("equalised-odds")(y, p, g)
    with pytest.raises(ValueError, match="groups and sensitive_features"):
        Metric("equalised-odds")(y, p, g, sensitive_features=g)
