"""Rules in Python: rows that count more than others, shares of classes of rows without labels, averaged thresholds; bundled data."""
import json
import warnings

import numpy as np
import pytest

from python_package import SOURCE  # noqa: F401  puts the package on the path

import melicit
from melicit import datasets

pytestmark = [pytest.mark.plain("Python cannot load a library with sanitizers"), pytest.mark.filterwarnings("error")]
COSTS = melicit.Metric.from_costs({"missed": 7, "false-alarm": 1})


@pytest.fixture
def melicit_program(tmp_path):
    from conftest import Melicit

    return Melicit(tmp_path)


def rows(n=3000, seed=1):
    rng = np.random.default_rng(seed)
    p = rng.uniform(size=n)
    return rng, p, (rng.uniform(size=n) < p).astype(int)


def test_costs_of_rows(tmp_path):
    """A row is decided by its own costs: positive where 7 times what it counts as a positive is more than as a negative."""
    rng, p, y = rows()
    proba = np.column_stack([1 - p, p])
    missed, alarm = rng.uniform(0.2, 5, size=(2, p.size))
    problem = melicit.Problem.from_proba(y, proba)
    for given, want in (({1: missed}, 7 * missed * p > 1 - p),
                        (np.column_stack([alarm, missed]), 7 * missed * p > alarm * (1 - p)),
                        (missed, 7 * missed * p > missed * (1 - p))):
        rule = problem.best(COSTS, evidence="model", row_cost=given)
        assert np.array_equal(rule.decide(proba, row_cost=given), want.astype(int))
        assert np.isnan(rule.thresholds["all"])
    rule.save(tmp_path / "rule.json")
    assert json.loads((tmp_path / "rule.json").read_text())["row_cost"] == ["row_cost", "row_cost"]
    again = melicit.Rule.load(tmp_path / "rule.json")
    assert np.array_equal(again.decide(proba, row_cost=missed), rule.decide(proba, row_cost=missed).astype(str))
    with pytest.raises(melicit.errors.InvalidArgumentError, match="needs those of the rows"):
        rule.decide(proba)
    for wrong, words in ((missed[:-1], "for each of 3000 rows, not .2999"), (-missed, "not negative"), ({2: missed}, "not among the classes")):
        with pytest.raises(melicit.MelicitError, match=words):
            problem.best(COSTS, row_cost=wrong)


def test_shares_of_rows_without_labels():
    """Positives are met a quarter as often: both estimates find it, and the rule is that of these shares."""
    rng, p, y = rows(20000, 2)
    proba = np.column_stack([1 - p, p])
    keep = rng.uniform(size=p.size) < np.where(y == 1, 0.25, 1.0)
    true = y[keep].mean()
    problem = melicit.Problem.from_proba(y, proba)
    rule = problem.best(COSTS, evidence="model", prior_from=proba[keep])
    for said in ("prior", "prior_matched"):
        assert rule.report[said]["1"] == pytest.approx(true, abs=0.02)
    told = problem.best(COSTS, evidence="model", prior=rule.report["prior"])
    assert rule.thresholds["all"] == pytest.approx(told.thresholds["all"], abs=1e-9)
    with pytest.raises(melicit.MelicitError, match="two ways to say the same"):
        problem.best(COSTS, prior=[0.5, 0.5], prior_from=proba)
    with pytest.warns(UserWarning, match="the two estimates of the classes' shares differ"):
        problem.best(COSTS, evidence="model", prior_from=np.full((500, 2), [0.4, 0.6]))


def test_average(melicit_program, tmp_path):
    """The thresholds are those of the program."""
    _, p, y = rows(300, 3)
    np.save(tmp_path / "p.npy", np.column_stack([1 - p, p]))
    np.save(tmp_path / "y.npy", y)
    COSTS.save(tmp_path / "m.json")
    said = melicit_program("apply", "--probs", "p.npy", "--labels", "y.npy", "--named", "f1", "--rule", "average", "--json").done().json
    problem = melicit.Problem.from_proba(y, np.column_stack([1 - p, p]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        averaged, best = problem.best("f1", form="average"), problem.best("f1")
    assert averaged.thresholds["all"] == pytest.approx(said["thresholds"][0]["threshold"], rel=1e-6)
    assert averaged.thresholds["all"] != best.thresholds["all"]
    with pytest.raises(melicit.MelicitError, match="without limits"):
        problem.best("f1", form="average", at_most={"flagged": 0.1})


def test_bundled_data():
    assert {"adult_train", "breast_cancer_original", "german_credit"} <= set(datasets.names())
    table = datasets.load_breast_cancer_original()
    X, y = datasets.load("breast_cancer_original", return_X_y=True)
    assert len(table) == len(X) == len(y) == 699 and "label" not in X and "meta_id" in table and "meta_id" not in X
    assert "load_german_credit" in dir(datasets)
    by_name, by_frame = melicit.Problem.from_files(data="mammographic_mass"), melicit.Problem.from_frame(datasets.load_mammographic_mass())
    assert by_name.ground("linear").rows == by_frame.ground("linear").rows > 100
    with pytest.raises(AttributeError, match="no attribute 'load_nothing'"):
        datasets.load_nothing
    with pytest.raises(melicit.MelicitError, match="there is no data set 'nothing'; there are adult_test"):
        datasets.load("nothing")


def test_options_that_need_rows():
    """What is about rows is not left out in silence where there are none in memory."""
    _, p, y = rows(200)
    for problem in (melicit.Problem.population("logistic:a=5,b=0"), melicit.Problem.from_files(data="mammographic_mass")):
        assert problem.best(COSTS).classes
        for option in ({"at_most": {"flagged": 0.1}}, {"row_cost": p}, {"prior_from": p}, {"trust": True}):
            with pytest.raises(melicit.MelicitError, match=f"best: {next(iter(option))} with rows of probabilities"):
                problem.best(COSTS, **option)
