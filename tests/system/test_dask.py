"""Rows with two workers of Dask: training, rules, scores and Frank-Wolfe steps find what one process finds, and no row comes back."""
import numpy
import pytest
from conftest import alike
from python_package import SOURCE  # noqa: F401  puts the package on the path

pytestmark = pytest.mark.plain("Python cannot load a library with sanitizers")
distributed = pytest.importorskip("distributed")
dask_array = pytest.importorskip("dask.array")

import melicit  # noqa: E402
from melicit.engine import Engine, Rows  # noqa: E402
from melicit.errors import MelicitError  # noqa: E402

PARTS = (400, 30, 570, 500)  # the second has one class and group only


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster, distributed.Client(cluster) as own:
        yield own


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def rows(request):
    """Features, labels, probabilities, groups and weights of 1,500 rows."""
    k, n = request.param, sum(PARTS)
    rng = numpy.random.default_rng(20 + k)
    x = rng.normal(size=(n, 4))
    scores = x[:, :k] * 1.4 if k > 2 else numpy.column_stack([numpy.zeros(n), 1.5 * x[:, 0] - x[:, 1]])
    scores[:, 0] += 1.5  # the first class is the most frequent: rules for g-mean have other gains than 1
    label = (scores + rng.gumbel(size=(n, k))).argmax(axis=1)
    group = rng.integers(0, 2, n)
    label[400:430], group[400:430] = k - 1, 1
    proba = numpy.exp(scores)
    proba /= proba.sum(axis=1, keepdims=True)
    return {"X": x, "y": numpy.array(["healthy", "ill", "very ill"])[label], "proba": proba, "group": numpy.array(["f", "m"])[group],
            "weight": rng.integers(1, 4, n).astype(float)}


@pytest.fixture
def spread(rows):
    """The same as Dask arrays."""
    return {name: dask_array.from_array(of, chunks=(PARTS,) if of.ndim == 1 else (PARTS, 1)) for name, of in rows.items()}


@pytest.mark.parametrize("weighted", [False, True], ids=["rows alike", "weighted"])
def test_training(client, rows, spread, weighted):
    one = melicit.train(rows["X"], rows["y"], weight=rows["weight"] if weighted else None, l2=0.7)
    two = melicit.train(spread["X"], spread["y"], weight=spread["weight"] if weighted else None, l2=0.7, engine=client)
    assert one.classes_ == two.classes_
    alike(one.predict_proba(rows["X"]).tolist(), two.predict_proba(rows["X"]).tolist())


@pytest.mark.parametrize("metric, options", [
    ("accuracy", {}), ("f1_macro", {}), ("g-mean", {"form": "mixture"}), ("f1_micro", {"evidence": "labels"}),
    ("accuracy", {"at_most": {"demographic-parity": 0.1}, "form": "mixture"}),
])
def test_best_and_score(client, rows, spread, metric, options):
    """Rules of the same value, and values of the same rule. Two classes have thresholds in one process only: mixtures of gains reach the same."""
    grouped = "at_most" in options
    here = melicit.Problem.from_proba(rows["y"], rows["proba"], groups=rows["group"] if grouped else None)
    there = melicit.Problem.from_dask(client, spread["y"], spread["proba"], groups=spread["group"] if grouped else None, classes=here.labels)
    if options.get("evidence") == "labels" and len(here.classes) == 2:
        with pytest.raises(MelicitError, match="best threshold by the labels needs all rows in one place"):
            there.best(metric, **options)
        return
    one, two = here.best(metric, **{"evidence": "model", **options}), there.best(metric, **options)
    exact = len(here.classes) > 2 or (metric == "accuracy" and not grouped)
    assert abs(one.value - two.value) < (1e-9 if exact else 1e-3)
    groups = rows["group"] if grouped else None
    chance = numpy.asarray(two.chances(rows["proba"], groups))
    matrix = numpy.array([chance[rows["y"] == name].sum(axis=0) for name in there.classes])
    assert abs(there.score(metric, two) - melicit.Metric(metric).of_confusion(matrix)) < 1e-9


@pytest.mark.parametrize("whole", [False, True], ids=["diagonal", "whole"])
def test_optimise(client, rows, spread, whole):
    first = slice(0, 500)
    there = melicit.Problem.from_dask(client, spread["y"], spread["proba"], classes=sorted(set(rows["y"])))
    two = there.optimise("g-mean", rows["y"][first], rows["proba"][first], iterations=8, whole=whole)
    part = Rows(rows["y"], there.labels, proba=rows["proba"])
    here = melicit.Problem.from_dask(client, spread["y"], spread["proba"], classes=there.labels)
    here.engine = Engine.of_rows([part], there.labels)
    one = here.optimise("g-mean", rows["y"][first], rows["proba"][first], iterations=8, whole=whole)
    assert abs(one.value - two.value) < 1e-9 and not numpy.allclose(two.gains, numpy.eye(len(there.classes)))
    alike(one.gains.tolist(), two.gains.tolist())
    alike(one.shares.tolist(), two.shares.tolist())


def test_optimise_as_in_one_process(client, rows, spread):
    """The estimator's training rows are its validation rows."""
    from melicit import FrankWolfeClassifier
    from sklearn.base import BaseEstimator, ClassifierMixin

    class Given(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = numpy.unique(y)
            return self

        def predict_proba(self, X):
            return X

    one = FrankWolfeClassifier(Given().fit(None, rows["y"]), "g-mean", cv="prefit", iterations=6).fit(rows["proba"], rows["y"])
    there = melicit.Problem.from_dask(client, spread["y"], spread["proba"], classes=sorted(set(rows["y"])))
    two = there.optimise("g-mean", rows["y"], rows["proba"], iterations=6)
    assert abs(one.rule_.value - two.value) < 1e-9
    alike(one.rule_.gains.tolist(), two.gains.tolist())


def test_refusals(client, rows, spread):
    there = melicit.Problem.from_dask(client, spread["y"], spread["proba"], classes=sorted(set(rows["y"])))
    for what, words in [
        (lambda: there.best("accuracy", evidence="calibrated"), "calibration needs all rows in one place"),
        (lambda: there.best("accuracy", trust=True), "in one place"),
        (lambda: there.best("accuracy", at_most={"flagged": 0.5} if len(there.classes) == 2 else {"share[ill]": 0.5}, confidence=0.9), "in one place"),
        (lambda: there.best("accuracy", prior=[1] * len(there.classes)), "in one place"),
        (lambda: there.ground("linear"), "questions need all rows in one place"),
        (lambda: melicit.Problem.from_dask(client, spread["y"], spread["proba"].rechunk((750, -1))), "rechunk or repartition them alike"),
        (lambda: melicit.train(rows["X"], spread["y"], engine=client), "expected a Dask array"),
        (lambda: melicit.train(spread["X"], dask_array.from_array(numpy.full(sum(PARTS), "a"), chunks=(PARTS,)), engine=client), "only one class"),
        (lambda: melicit.Problem.from_dask(client, spread["y"], spread["proba"] * 2).best("accuracy"), "row 1: the probabilit"),
    ]:
        with pytest.raises(MelicitError, match=words):
            what()


def test_a_worker_that_fails(client, rows):
    """What an engine raises ends the search, and is what the caller sees."""
    part, asked = Rows(rows["y"], sorted(set(rows["y"])), proba=rows["proba"], X=rows["X"]), []

    def ask(kind, numbers, n_out):
        asked.append(kind)
        if len(asked) > 3:
            raise OSError("the worker is gone")
        return [part.answer(kind, numbers, n_out)]

    problem = melicit.Problem.from_proba(rows["y"], rows["proba"])
    problem.engine = Engine(ask, problem.labels)
    with pytest.raises(OSError, match="the worker is gone"):
        problem.best("f1_macro", form="mixture")
    assert len(asked) == 4
    asked.clear()
    engine = Engine(ask, problem.labels)
    engine.n_features = 4
    with pytest.raises(OSError, match="the worker is gone"):
        melicit.Model._fit_elsewhere(engine, 1.0)
    assert len(asked) == 4


def test_frames(client, rows):
    """Columns of frames are matched by their names, whatever their order."""
    pandas, frames = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    names = sorted(set(rows["y"]))
    table = pandas.DataFrame(rows["proba"], columns=names)
    y, turned = (frames.from_pandas(of, npartitions=3) for of in (pandas.Series(rows["y"]), table[names[::-1]]))
    here, there = melicit.Problem.from_proba(rows["y"], table), melicit.Problem.from_dask(client, y, turned, classes=names)
    assert abs(here.best("f1_macro", evidence="model").value - there.best("f1_macro").value) < (1e-9 if len(names) > 2 else 1e-3)
    X = frames.from_pandas(pandas.DataFrame(rows["X"], columns=list("abcd")), npartitions=3)
    alike(melicit.train(rows["X"], rows["y"]).predict_proba(rows["X"]).tolist(), melicit.train(X, y, engine=client).predict_proba(rows["X"]).tolist())
    other = frames.from_pandas(table.rename(columns={names[0]: "nobody"}), npartitions=3)
    with pytest.raises(MelicitError, match="nobody"):
        melicit.Problem.from_dask(client, y, other, classes=names).best("f1_macro")
