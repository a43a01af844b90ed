"""apply for all families, named measures, limits, shifts and referred cases: against NumPy, and what it refuses."""
import json
import shutil

import numpy
import pytest
import scipy.stats
from classes import layout, metric_text, unit
from conftest import Melicit

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

N = 600


@pytest.fixture
def two(melicit):
    """Two classes, two groups, a model that is too sure of itself."""
    rng = numpy.random.default_rng(5)
    g = rng.integers(0, 2, N)
    score = rng.normal(size=N) * 1.5 - 0.7 + 0.6 * g
    y = rng.random(N) < 1 / (1 + numpy.exp(-score))
    p = 1 / (1 + numpy.exp(-2 * score))  # overconfident
    melicit.write("p.csv", "no,yes\n" + "".join(f"{1 - v!r},{v!r}\n" for v in p.tolist()))
    melicit.write("y.csv", "label\n" + "".join("yes\n" if v else "no\n" for v in y))
    melicit.write("g.csv", "sex\n" + "".join("female\n" if v else "male\n" for v in g))
    return p, y, g


ROWS = ("--probs", "p.csv", "--labels", "y.csv")


def decisions(melicit, *words):
    melicit("predict", "--classifier", "c.json", "--probs", "p.csv", "--out", "d.csv", *words).done()
    return numpy.array((melicit.folder / "d.csv").read_text().split()[1:])


def g_mean(said, y):
    return numpy.sqrt(numpy.mean(said[y]) * numpy.mean(~said[~y]))


def test_named_by_labels_is_the_best_threshold(melicit, two):
    p, y, _ = two
    got = melicit("apply", *ROWS, "--named", "g-mean", "--evidence", "labels", "--out", "c.json", "--json").done().json
    best = max(g_mean(p >= t, y) for t in numpy.unique(p))
    assert got["by_labels"] == pytest.approx(got["value"], abs=1e-12)
    assert best - 1e-3 <= got["value"] <= best + 1e-12
    assert g_mean(decisions(melicit) == "yes", y) == pytest.approx(got["value"], abs=1e-12)


def test_calibration_is_the_default(melicit, two):
    p, y, _ = two
    got = melicit("apply", *ROWS, "--named", "balanced-accuracy", "--json").done().json
    [rule] = got["classifier"]["rules"]
    raw = melicit("apply", *ROWS, "--named", "balanced-accuracy", "--evidence", "model", "--json").done().json
    said = p >= rule["threshold"]
    honest = (numpy.mean(said[y]) + numpy.mean(~said[~y])) / 2
    assert got["by_labels"] == pytest.approx(honest, abs=1e-12)
    assert abs(got["value"] - honest) < 0.02 < abs(raw["value"] - raw["by_labels"])
    assert got["certified"] and got["gap"] <= 1e-6


def test_limits_hold_and_have_prices(melicit, two):
    p, y, _ = two
    words = ("apply", *ROWS, "--named", "accuracy", "--at-most", "flagged=10%", "--out", "c.json")
    got = melicit(*words, "--json").done().json
    [limit] = got["limits"]
    assert limit["achieved"] <= 0.1 + 1e-12 and limit["price"] > 0
    assert numpy.mean(decisions(melicit) == "yes") == pytest.approx(limit["achieved"], abs=0.5 / N)
    assert "loosening it by one percentage point would gain" in melicit(*words).done().out
    mixed = melicit("apply", *ROWS, "--named", "accuracy", "--at-most", "flagged=10.03%", "--rule", "mixture", "--json").done().json
    assert mixed["value"] >= got["value"] - 1e-12 and mixed["mixed"]


def test_groups_limits_and_words(melicit, two):
    _, _, g = two
    words = ("apply", *ROWS, "--groups", "g.csv", "--named", "balanced-accuracy", "--at-least", "recall[yes][sex=female]=0.9",
             "--at-most", "demographic-parity=0.3", "--out", "c.json")
    got = melicit(*words, "--json").done().json
    assert got["limits"][1]["achieved"] >= 0.9 - 1e-9 and got["limits"][0]["achieved"] <= 0.3 + 1e-9
    assert [one["group"] for one in got["per_group"]] == ["female", "male"]
    text = melicit(*words).done().out
    assert "female: yes from 0." in text and "; male: yes from 0." in text
    said = decisions(melicit, "--groups", "g.csv") == "yes"
    shares = [one["per_class"][1]["decided"] for one in got["per_group"]]
    assert [said[g == 1].mean(), said[g == 0].mean()] == pytest.approx(shares, abs=1e-9)
    one = melicit(*words, "--use-group", "no", "--json").done().json
    assert one["classifier"].get("groups", []) == [] and one["optimum"] <= got["optimum"] + 1e-9


def test_fair_metrics_have_a_best_rule(melicit, two):
    shape = layout("rates", "offdiagonal", 2, ["female", "male"], classes=["no", "yes"])
    melicit.write("fair.json", metric_text("fair-linear", shape, "cost", a=unit([1, 1]), b={"1-2": unit([1, 1])}, prevalence=[[0.4, 0.6], [0.6, 0.4]],
                                           **{"lambda": 0.5}))
    words = ("apply", *ROWS, "--groups", "g.csv", "--metric", "fair.json", "--json")
    one, mixture = melicit(*words).done().json, melicit(*words, "--rule", "mixture").done().json
    assert mixture["certified"] and mixture["gap"] <= 1e-6 and one["value"] >= mixture["value"] - 1e-12
    assert one["optimum"] == pytest.approx(mixture["value"], abs=1e-9) and not one["mixed"]


def test_prior_shift_moves_the_odds(melicit, two):
    _, y, _ = two
    melicit.write("m.json", metric_text("linear", layout("confusion", "binary", 2, classes=["no", "yes"]), a=unit([3, 1])))
    words = ("apply", *ROWS, "--metric", "m.json", "--json")
    log = lambda t: numpy.log(t / (1 - t))  # noqa: E731
    for evidence in ("calibrated", "model"):
        here, there, half = (melicit(*words, "--evidence", evidence, *more).done().json["classifier"]["rules"][0]["threshold"]
                             for more in ((), ("--class-prior", "yes=5%"), ("--class-prior", "yes=50%")))
        assert half < here < there
    # probabilities that are trusted as they are: the log-odds move by the log of the ratio of odds
    odds = y.mean() / (1 - y.mean())
    assert log(there) - log(here) == pytest.approx(numpy.log(odds / (0.05 / 0.95)), abs=0.1)  # between two rows
    assert log(half) - log(here) == pytest.approx(numpy.log(odds), abs=0.1)
    rare = numpy.flatnonzero(~y).tolist() + numpy.flatnonzero(y)[:20].tolist()
    p = two[0][rare]
    melicit.write("new.csv", "no,yes\n" + "".join(f"{1 - v!r},{v!r}\n" for v in p.tolist()))
    told = melicit(*words, "--class-prior-from", "new.csv").done().json
    [share] = [float(n.split(": ")[1].split("%")[0]) for n in told["notes"] if "are yes" in n]
    assert share == pytest.approx(100 * 20 / len(rare), abs=4)


def test_class_prior_calibrates_once(melicit, two):
    """Shares that the rows have already change next to nothing; others move what is calibrated by their odds, and calibrate it no more."""
    p, y, _ = two
    odds = (p / (1 - p)) ** 3  # far too certain
    melicit.write("p.csv", "no,yes\n" + "".join(f"{1 / (1 + o)!r},{o / (1 + o)!r}\n" for o in odds.tolist()))
    melicit.write("m.json", metric_text("linear", layout("confusion", "binary", 2, classes=["no", "yes"]), a=unit([3, 1])))
    words = ("apply", *ROWS, "--metric", "m.json", "--json")
    given = ((), ("--class-prior", f"yes={float(y.mean())!r}"), ("--class-prior", "yes=5%"), ("--class-prior", "yes=60%"))
    here, same, rare, often = (melicit(*words, *more).done().json for more in given)
    for key in ("value", "by_labels"):
        assert same[key] == pytest.approx(here[key], abs=0.01)
    odds = y.mean() / (1 - y.mean())
    for one, shift in ((here, 1.0), (same, 1.0), (rare, 1 / 19 / odds), (often, 1.5 / odds)):
        threshold = one["classifier"]["rules"][0]["threshold"]
        # The score from which on the odds of yes are 1/3: the logarithms of the file's odds are six times the score.
        assert numpy.log(threshold / (1 - threshold)) / 6 == pytest.approx(-numpy.log(3 * shift), abs=0.5)


def test_refer(melicit, two):
    p, y, _ = two
    melicit.write("m.json", metric_text("linear", layout("confusion", "binary", 2, classes=["no", "yes"]), a=unit([2, 1])))
    words = ("apply", *ROWS, "--evidence", "model", "--metric", "m.json", "--out", "c.json", "--reject")
    assert "refer from 0.15" in melicit(*words, "0.3").done().out  # c/cFN < p < 1 - c/cFP
    said = decisions(melicit)
    assert ((said == "refer") == ((p > 0.15) & (p < 0.7))).all()
    melicit(*words, "0.7").done()  # c >= cFN cFP / (cFN + cFP): never
    assert set(decisions(melicit)) == {"no", "yes"}
    melicit("predict", "--classifier", "c.json", "--probs", "p.csv", "--out", "d.npy").refused(2, "CSV")
    melicit("apply", *ROWS, "--named", "g-mean", "--reject", "0.1").refused(2, "weighted sum")
    for wrong in ("ask", "-1", "1001"):
        melicit("apply", *ROWS, "--named", "accuracy", "--reject", wrong).refused(2, f"--reject {wrong}: expected a number from 0 to 1000")


def test_intervals_stay_where_values_can_be(melicit, tmp_path):
    """Corrections and deviations do not know that differences are not below 0 and ratios not above 1."""
    rng = numpy.random.default_rng(1)
    g = rng.integers(0, 2, 80)
    p = 1 / (1 + numpy.exp(1 - 2 * (rng.normal(size=80) + 0.25 * g)))
    y = rng.random(80) < p
    for name, column in (("p", p), ("y", y.astype(int)), ("g", g)):
        (tmp_path / f"few_{name}.csv").write_text("\n".join([name, *map(str, column)]) + "\n")
    rows = "--probs", "few_p.csv", "--labels", "few_y.csv", "--groups", "few_g.csv"
    for name in ("f1:difference", "recall:ratio"):
        for evidence in ("labels", "calibrated"):
            got = melicit("apply", *rows, "--named", name, "--evidence", evidence, "--at-least", "flagged=30%", "--at-most", "flagged=60%",
                          "--json").done().json
            assert 0 <= got["interval"][0] <= got["expected"] <= got["interval"][1] <= 1, (name, evidence)


def test_a_rule_that_never_flags_never_does(melicit, two):
    for limit, is_ in (("--at-most", 0), ("--at-least", 1)):
        got = melicit("apply", *ROWS, "--named", "accuracy", limit, f"flagged={is_}", "--json").done().json["limits"][0]
        assert got["achieved"] == is_ and got["interval"] == [is_, is_]


def test_two_thresholds_are_the_best_of_all_pairs(melicit, two):
    p, y, g = two
    got = melicit("apply", *ROWS, "--groups", "g.csv", "--named", "accuracy", "--evidence", "labels", "--at-most", "equalised-odds=0.02", "--rule",
                  "threshold", "--json").done().json
    curves = []
    for group in (0, 1):
        order = numpy.argsort(-p[g == group])
        found = numpy.r_[0, numpy.cumsum(y[g == group][order])], numpy.r_[0, numpy.cumsum(~y[g == group][order])]
        curves.append(found)
    (tp, fp), (tq, fq) = curves
    meets = (abs(tp[:, None] / tp[-1] - tq / tq[-1]) <= 0.02 + 1e-12) & (abs(fp[:, None] / fp[-1] - fq / fq[-1]) <= 0.02 + 1e-12)
    right = tp[:, None] + tq + (fp[-1] - fp)[:, None] + (fq[-1] - fq)
    assert got["value"] == pytest.approx(right[meets].max() / N, abs=1e-9)


def test_mixtures_go_by_the_id_of_a_row(melicit, two):
    melicit("apply", *ROWS, "--named", "accuracy", "--at-most", "flagged=10.03%", "--rule", "mixture", "--out", "c.json").done()
    ids = [f"row {i}" for i in range(N)]
    melicit.write("ids.csv", "id\n" + "\n".join(ids) + "\n")
    whole = decisions(melicit, "--ids", "ids.csv")
    lines = (melicit.folder / "p.csv").read_text().split("\n")
    melicit.write("p.csv", "\n".join([lines[0]] + lines[N:0:-1]) + "\n")
    melicit.write("ids.csv", "id\n" + "\n".join(ids[::-1]) + "\n")
    assert (decisions(melicit, "--ids", "ids.csv")[::-1] == whole).all()


@pytest.mark.parametrize("words, code, parts", [
    (("--at-most", "flagged=5%", "--at-least", "recall[yes]=0.99"), 3, ["no classifier", "recall[yes]"]),
    (("--at-most", "flagged=2"), 2, ["from 0 to 1"]),
    (("--at-most", "sorrow=0.1"), 2, ["flagged"]),
    (("--at-least", "recall[maybe]=0.1"), 2, ["maybe"]),
    (("--at-least", "recall=0.1"), 2, ["which class"]),
    (("--at-least", "recall[yes][sex=female]=0.1"), 2, ["--groups"]),
    (("--at-most", "equalised-odds=0.1"), 2, ["--groups"]),
    (("--at-most", "referred=0.1"), 2, ["--reject"]),
    (("--class-prior", "maybe=0.1"), 2, ["maybe"]),
    (("--class-prior", "yes=1.5"), 2, ["between 0 and 1"]),
    (("--class-prior", "yes=0.3,no=0.3"), 2, ["0.6"]),
    (("--thesis", "smooth",), 2, ["smooth"]),
])
def test_refusals(melicit, two, words, code, parts):
    melicit("apply", *ROWS, "--named", "accuracy", "--evidence", "model", *words).refused(code, *parts)


@pytest.mark.parametrize("limit, parts", [
    ("flaged[female]=10%", ["--at-most", "flaged[female]", "limits are about flagged"]),
    ("flagged=10%", ["--groups", "neither the metric nor a limit is about groups"]),
    ("flagged[femal]=10%", ["--at-most", "no group \"femal\""]),
])
def test_groups_that_nothing_is_about_hide_no_limit(melicit, two, limit, parts):
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--classes", "no,yes", "--out", "m.json").done()
    melicit("apply", *ROWS, "--groups", "g.csv", "--metric", "m.json", "--at-most", limit).refused(2, *parts)


def test_groups_unseen_and_mistakes_rewarded(melicit, two):
    melicit("apply", *ROWS, "--groups", "g.csv", "--named", "g-mean", "--out", "c.json").done()
    melicit.write("new.csv", "group\n" + "other\n" * N)
    melicit("predict", "--classifier", "c.json", "--probs", "p.csv", "--groups", "new.csv", "--out", "d.csv").refused(3, "other")
    melicit("predict", "--classifier", "c.json", "--probs", "p.csv", "--out", "d.csv").refused(2, "--groups")
    melicit.write("m.json", metric_text("linear", layout("confusion", "binary", 2, classes=["no", "yes"]), a=unit([-2, 1])))
    got = melicit("apply", *ROWS, "--metric", "m.json", "--json").done().json
    assert any("rewards a mistake" in w for w in got["warnings"])
    melicit.write("one.csv", "label\n" + "yes\n" * N)
    melicit("apply", "--probs", "p.csv", "--labels", "one.csv", "--named", "g-mean").refused(3)


def test_how_sure_a_rule_is(melicit, two):
    p, y, _ = two
    words = ("apply", *ROWS, "--named", "f1", "--json")
    got = melicit(*words).done().json
    low, high = got["interval"]
    assert low < got["expected"] < high and got["expected"] == pytest.approx(got["by_labels"] - got["optimism"], abs=1e-12)
    [threshold] = got["thresholds"]
    assert threshold["interval"][0] < threshold["threshold"] < threshold["interval"][1]
    assert threshold["threshold"] == pytest.approx(got["classifier"]["rules"][0]["threshold"])
    folds = melicit(*words, "--folds", "5").done().json
    assert folds["folds"] == 5 and folds["expected"] == pytest.approx(got["expected"], abs=0.05)
    assert folds["classifier"]["rules"] == got["classifier"]["rules"]
    text = melicit("apply", *ROWS, "--named", "f1", "--folds", "5").done().out
    assert "on other rows (5 folds)" in text and "the threshold is between" in text
    # tuned on the labels, the value is more optimistic
    labels = melicit(*words, "--evidence", "labels").done().json
    assert labels["optimism"] > 0 and labels["optimism"] > got["optimism"]
    # same seed, same numbers; any number of threads
    assert melicit(*words, "--threads", "1").done().json == got


def test_an_uncertain_metric_makes_rules_less_sure(melicit, two):
    import json

    text = json.loads(metric_text("linear", layout("confusion", "binary", 2, classes=("no", "yes")), a=[0.9, 0.4]))
    melicit.write("known.json", json.dumps(text))
    text["intervals"] = {"a": [[0.8, 1.0], [0.1, 0.7]]}
    melicit.write("open.json", json.dumps(text))
    known = melicit("apply", *ROWS, "--metric", "known.json", "--json").done().json
    unsure = melicit("apply", *ROWS, "--metric", "open.json", "--json").done().json
    width = lambda pair: pair[1] - pair[0]
    assert width(known["metric_interval"]) == 0 and known["thresholds"][0]["interval"] == known["thresholds"][0]["rows_interval"]
    assert width(unsure["interval"]) > max(width(unsure["rows_interval"]), width(unsure["metric_interval"])) > 0
    [at] = unsure["thresholds"]
    assert width(at["interval"]) > width(at["rows_interval"]) and width(at["interval"]) > 0.9 * width(at["metric_interval"]) > 0
    assert "from the metric" in melicit("apply", *ROWS, "--metric", "open.json").done().out


def test_thresholds_of_groups_and_limits_have_intervals(melicit, two):
    words = ("apply", *ROWS, "--groups", "g.csv", "--named", "g-mean", "--json")
    got = melicit(*words).done().json
    assert sorted(t["group"] for t in got["thresholds"]) == ["female", "male"]
    assert all(t["interval"][0] < t["interval"][1] for t in got["thresholds"])
    got = melicit("apply", *ROWS, "--named", "accuracy", "--at-most", "flagged=10%", "--json").done().json
    [limit] = got["limits"]
    assert limit["interval"][0] < 0.1 < limit["interval"][1] and limit["interval"][1] < 0.16


def test_folds_need_rows_of_every_class(melicit):
    melicit.write("p.csv", "no,yes\n" + "0.3,0.7\n0.8,0.2\n0.6,0.4\n" * 6)
    melicit.write("y.csv", "label\n" + "yes\nno\nno\n" * 6)
    words = ("apply", *ROWS, "--named", "f1", "--folds")
    assert "only 6 rows of class" in melicit(*words, "7").refused(3).err
    melicit(*words, "6").done()
    melicit(*words, "1").refused(2)


def test_other_class_shares_change_the_rows_too(melicit, two):
    """F1 with 5% positives: as if the rows had been drawn that way."""
    p, y, _ = two
    got = melicit("apply", *ROWS, "--named", "f1", "--class-prior", "yes=0.05", "--evidence", "labels", "--json").done().json
    soft = melicit("apply", *ROWS, "--named", "f1", "--class-prior", "yes=0.05", "--json").done().json

    def f1(t):
        recall, alarm = numpy.mean(p[y] >= t), numpy.mean(p[~y] >= t)
        return 2 * 0.05 * recall / (0.05 * recall + 0.95 * alarm + 0.05)

    best = max(f1(t) for t in numpy.unique(p))
    assert got["value"] == pytest.approx(best, abs=2e-3)
    assert soft["by_labels"] == pytest.approx(f1(soft["classifier"]["rules"][0]["threshold"]), abs=1e-9)
    assert soft["value"] == pytest.approx(soft["by_labels"], abs=0.08) and soft["by_labels"] > best - 0.08


def test_out_of_fold_probabilities(melicit):
    """Probabilities that cross_val_predict made are of rows that each model has not seen."""
    from sklearn import datasets, linear_model, model_selection, pipeline, preprocessing

    x, y = datasets.load_breast_cancer(return_X_y=True)
    model = pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
    numpy.save(melicit.folder / "p.npy", model_selection.cross_val_predict(model, x, y, cv=5, method="predict_proba"))
    numpy.save(melicit.folder / "y.npy", y)
    got = melicit("apply", "--probs", "p.npy", "--labels", "y.npy", "--named", "f1", "--folds", "5", "--json").done().json
    low, high = got["interval"]
    assert 0.9 < low < got["expected"] < high < 1.01


def test_what_the_metric_alone_fixes_has_no_interval(melicit, two):
    """By the model a threshold follows from the costs: no rows move it, the costs' own intervals do."""
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--classes", "no,yes", "--out", "m.json").done()
    words = ("apply", *ROWS, "--metric", "m.json", "--evidence", "model")
    [got] = melicit(*words, "--json").done().json["thresholds"]
    assert got["interval"] is None and got["rows_interval"] is None
    text = melicit(*words).done().out
    assert "the metric alone fixes the threshold: other rows would not move it" in text and "95% sure" not in text
    file = json.loads((melicit.folder / "m.json").read_text())
    file["intervals"] = {"a": [[1.0, 1.0], [6.0, 8.0]]}
    melicit.write("u.json", json.dumps(file))
    words = ("apply", *ROWS, "--metric", "u.json", "--evidence", "model")
    [got] = melicit(*words, "--json").done().json["thresholds"]
    low, high = got["interval"]
    assert got["rows_interval"] is None and low < 0.125 < high and high - low < 0.06
    assert "the metric alone moves it, other rows would not" in melicit(*words).done().out


def test_linear_metrics_by_labels_are_as_sure_as_others(melicit, two):
    p, y, _ = two
    melicit("metric", "--cost", "missed=3,false-alarm=1", "--classes", "no,yes", "--out", "m.json").done()
    words = ("apply", *ROWS, "--metric", "m.json", "--evidence", "labels", "--out", "c.json")
    got = melicit(*words, "--json").done().json
    value = min(3 * numpy.mean((p < t) & y) + numpy.mean((p >= t) & ~y) for t in numpy.r_[0, numpy.unique(p)])
    assert got["value"] == pytest.approx(value, abs=1e-12)
    assert got["interval"][0] < got["expected"] < got["interval"][1]
    assert "95% between" in melicit(*words).done().out and "95% sure" in melicit(*words).done().out
    said = decisions(melicit) == "yes"
    assert 3 * numpy.mean(~said & y) + numpy.mean(said & ~y) == pytest.approx(value, abs=1e-12)


def test_means_of_thresholds(melicit, two):
    p, y, _ = two
    words = ("apply", *ROWS, "--named", "f1", "--evidence", "labels", "--json")
    best = melicit(*words).done().json
    mean = melicit(*words, "--rule", "average", "--out", "c.json").done().json
    assert mean["classifier"]["rules"][0]["threshold"] == pytest.approx(best["thresholds"][0]["mean"], abs=1e-12)
    assert mean["value"] <= best["value"] == mean["optimum"] and mean["thresholds"][0]["interval"] == best["thresholds"][0]["interval"]
    said = decisions(melicit) == "yes"
    f1 = 2 * (said & y).sum() / (said.sum() + y.sum())
    assert mean["by_labels"] == pytest.approx(f1, abs=1e-12)
    groups = melicit("apply", *ROWS, "--groups", "g.csv", "--named", "g-mean", "--rule", "average", "--json").done().json
    assert len(groups["thresholds"]) == 2
    melicit(*words[:-1], "--rule", "average", "--at-most", "flagged=10%").refused(2, "--rule average and limits")


def test_costs_of_rows(melicit, two):
    """A fraud of amount a is flagged when p a > cost of an alarm: against NumPy, through the file, and refusals."""
    p, y, _ = two
    rng = numpy.random.default_rng(8)
    amount = rng.exponential(5, N)
    melicit.write("y.csv", "label,amount\n" + "".join(f"{'yes' if v else 'no'},{a!r}\n" for v, a in zip(y, amount.tolist())))
    melicit.write("costs.csv", "amount,other\n" + "".join(f"{a!r},1\n" for a in amount.tolist()))
    melicit("metric", "--cost", "missed=1,false-alarm=2", "--classes", "no,yes", "--out", "m.json").done()
    words = ("apply", *ROWS, "--metric", "m.json", "--evidence", "model", "--row-cost", "yes=amount")
    got = melicit(*words, "--out", "c.json", "--json").done().json
    want = p * amount >= 2 * (1 - p)
    said = decisions(melicit, "--features", "costs.csv") == "yes"
    assert (said == want).mean() > 0.995  # rows at the threshold, between two scores
    assert "weighed by the costs of the row" in melicit(*words).done().out
    assert got["classifier"]["row_cost"] == ["", "amount"] and got["interval"][0] < got["expected"] < got["interval"][1]
    paid = numpy.where(y, amount * ~said, 2.0 * said).sum() / numpy.where(y, amount, 1).sum()
    assert got["by_labels"] == pytest.approx(paid, rel=1e-9)
    melicit("predict", "--classifier", "c.json", "--probs", "p.csv", "--out", "d.csv").refused(2, "--features FILE")
    melicit("predict", "--classifier", "c.json", "--probs", "p.csv", "--features", "g.csv", "--out", "d.csv").refused(3, "amount")
    melicit(*words[:-1], "maybe=amount").refused(2, "no such class")
    melicit(*words[:-1], "yes=amounts").refused(3, "amounts")
    melicit(*words, "--row-cost", "amount").refused(2, "two columns")
    melicit.write("y.csv", "label,amount\n" + "".join(f"{'yes' if v else 'no'},-1\n" for v in y))
    melicit(*words).refused(3, "a cost of -1")


@pytest.fixture
def costly(melicit, two):
    """The rows of `two`, and what each of them costs."""
    p, y, g = two
    amount = numpy.random.default_rng(9).exponential(1, N) ** 2 + 0.1
    melicit.write("y.csv", "label,amount\n" + "".join(f"{'yes' if v else 'no'},{a!r}\n" for v, a in zip(y, amount.tolist())))
    melicit.write("costs.csv", "amount\n" + "".join(f"{a!r}\n" for a in amount.tolist()))
    melicit("metric", "--cost", "missed=2,false-alarm=1", "--classes", "no,yes", "--out", "m.json").done()
    return p, y, g, amount


def test_recalls_are_of_rows_where_rows_have_costs(melicit, costly):
    p, y, _, amount = costly
    words = ("apply", *ROWS, "--metric", "m.json", "--evidence", "labels", "--row-cost", "amount", "--out", "c.json")
    got = melicit(*words, "--json").done().json
    said = decisions(melicit, "--features", "costs.csv") == "yes"
    assert got["per_class"][1]["recall"] == pytest.approx(said[y].mean(), abs=1e-9)
    assert got["per_class"][1]["decided"] == pytest.approx(said.mean(), abs=1e-9)
    assert got["value"] == pytest.approx(numpy.where(y, 2 * ~said, said) @ amount / amount.sum(), abs=1e-9)


def test_limits_and_costs_of_rows_refuse(melicit, costly):
    words = ("apply", *ROWS, "--metric", "m.json", "--row-cost", "amount", "--at-most", "flagged=10%")
    melicit(*words).refused(2, "limits are about rows", "without limits, or without costs of rows")


def test_old_classifier_files_refuse(melicit, costly):
    melicit("apply", *ROWS, "--metric", "m.json", "--out", "c.json").done()
    file = json.loads((melicit.folder / "c.json").read_text())
    for key, value in (("salts", [1]), ("joint", True), ("costs_and_rows", True)):
        melicit.write("b.json", json.dumps({**file, key: value}))
        melicit("predict", "--classifier", "b.json", "--probs", "p.csv", "--out", "d.csv").refused(3, key, "find a rule anew")


@pytest.mark.parametrize("evidence", ["labels", "calibrated"])
def test_folds_do_not_count_the_unit_of_costs(melicit, costly, evidence):
    """Euros or cents: the interval is the same, and about as wide as without folds."""
    _, y, _, amount = costly
    words = ("apply", *ROWS, "--metric", "m.json", "--row-cost", "amount", "--json")
    plain = melicit(*words, "--evidence", "calibrated").done().json["interval"]
    euros = melicit(*words, "--evidence", evidence, "--folds", "5").done().json["interval"]
    melicit.write("y.csv", "label,amount\n" + "".join(f"{'yes' if v else 'no'},{100 * a!r}\n" for v, a in zip(y, amount.tolist())))
    cents = melicit(*words, "--evidence", evidence, "--folds", "5").done().json["interval"]
    assert cents == pytest.approx(euros, abs=1e-6) and 0.7 < (cents[1] - cents[0]) / (plain[1] - plain[0]) < 1.5


def test_a_classifier_through_a_model(melicit):
    """Decisions about raw rows are those about the model's probabilities, groups and costs from columns of the table."""
    rng = numpy.random.default_rng(9)
    x = rng.normal(size=(400, 2))
    g = numpy.where(rng.random(400) < 0.5, "a", "b")
    y = numpy.where(x[:, 0] + 0.5 * (g == "a") + rng.normal(size=400) > 0, "yes", "no")
    melicit.write("t.csv", "u,v,sex,label\n" + "".join(f"{a!r},{b!r},{s},{l}\n" for (a, b), s, l in zip(x.tolist(), g, y)))
    melicit.write("g.csv", "sex\n" + "\n".join(g) + "\n")
    melicit.write("y.csv", "label\n" + "\n".join(y) + "\n")
    melicit("train", "--data", "t.csv", "--skip", "sex", "--out", "model.json").done()
    melicit("predict", "--model", "model.json", "--data", "t.csv", "--out", "p.csv").done()
    melicit("apply", *ROWS, "--groups", "g.csv", "--named", "g-mean", "--out", "c.json").done()
    given = decisions(melicit, "--groups", "g.csv")
    through = ("predict", "--classifier", "c.json", "--model", "model.json", "--data", "t.csv")
    for more in (("--group", "sex"), ("--groups", "g.csv")):
        melicit(*through, *more, "--out", "e.csv").done()
        assert ((melicit.folder / "e.csv").read_text().split()[1:] == given).all()
    melicit(*through, "--out", "e.csv").refused(2, "--group COLUMN")
    melicit(*through, "--group", "gender", "--out", "e.csv").refused(3, "gender")
    melicit(*through, "--probs", "p.csv", "--out", "e.csv").refused(2, "either --probs")
    melicit("predict", "--classifier", "c.json", "--out", "e.csv").refused(2, "--probs FILE, or --model")
    # a group that the classifier has not seen
    melicit.write("g.csv", "sex\n" + "\n".join(["c", *g[1:]]) + "\n")
    melicit(*through, "--groups", "g.csv", "--out", "e.csv").refused(3, "c")


def test_pictures_do_not_change_the_rule(melicit, two):
    """--plot draws the rule that is found without it, and where it operates by the labels."""
    p, y, _ = two
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--classes", "no,yes", "--out", "m.json").done()
    words = ("apply", *ROWS, "--metric", "m.json", "--json")
    plain, drawn = melicit(*words).done().json, melicit(*words, "--plot", "a.svg").done().json
    assert drawn == plain
    svg = (melicit.folder / "a.svg").read_text()
    assert all(heading in svg for heading in ("What can be achieved", "Where the rule operates", "Net benefit", "Cost curve"))
    said = p >= plain["classifier"]["rules"][0]["threshold"]
    assert f"{1000 * numpy.mean(said & y):.0f}" in svg or f"{1000 * numpy.mean(said & y):.1f}" in svg


def test_roc_curves_of_groups(melicit, two):
    words = ("apply", *ROWS, "--named", "g-mean", "--plot", "roc.svg")
    melicit(*words, "--groups", "g.csv").done()
    svg = (melicit.folder / "roc.svg").read_text()
    assert svg.startswith("<svg") and "female" in svg and ">male" in svg
    melicit(*words).done()
    assert "female" not in (melicit.folder / "roc.svg").read_text()
    melicit("apply", *ROWS, "--named", "accuracy", "--reject", "0.2", "--plot", "roc.svg").refused(2, "two classes")


# ---- what the labels say beside what the probabilities expect ----


def write_rows(melicit, p, y, g=None):
    melicit.write("p.csv", "no,yes\n" + "".join(f"{1 - v!r},{v!r}\n" for v in numpy.asarray(p, float).tolist()))
    melicit.write("y.csv", "label\n" + "".join("yes\n" if v else "no\n" for v in y))
    if g is not None:
        melicit.write("g.csv", "sex\n" + "".join(f"{v}\n" for v in g))


def test_probabilities_of_0_and_1_are_not_believed(melicit):
    """A tree that is certain and right in 7 of 10 cases."""
    from sklearn.tree import DecisionTreeClassifier

    rng = numpy.random.default_rng(0)
    x = rng.normal(size=(1200, 4))
    y = x[:, 0] + 0.7 * x[:, 1] + 1.3 * rng.normal(size=1200) > 0.3
    p = DecisionTreeClassifier(random_state=0).fit(x[:600], y[:600]).predict_proba(x[600:])[:, 1]
    right = numpy.mean((p > 0.5) == y[600:])
    assert set(p) == {0.0, 1.0} and 0.6 < right < 0.75
    write_rows(melicit, p, y[600:])
    words = ("apply", *ROWS, "--named", "accuracy")
    run = melicit(*words, "--json").done()
    assert run.json["value"] == pytest.approx(right, abs=0.01) and run.json["by_labels"] == pytest.approx(right)
    assert not run.json["doubtful"] and "warnings" not in run.json
    run = melicit(*words, "--evidence", "model", "--json").done()
    assert run.json["value"] == 1 and run.json["doubtful"] and run.json["chance"] < 0.01
    assert f"the value is {right:.4g} by the labels, 1 by the probabilities" in run.json["warnings"][0]
    run = melicit(*words, "--evidence", "model", "--at-least", "recall[yes]=0.9").done()
    found = numpy.mean(p[y[600:]] > 0.5)
    assert f"recall[yes]: 1 expected, {found:.4g} by the labels (at least 0.9)" in run.out
    assert f"recall[yes] is {found:.4g} by the labels, 1 by the probabilities" in run.err
    [limit] = melicit(*words, "--evidence", "model", "--at-least", "recall[yes]=0.9", "--json").done().json["limits"]
    assert limit["achieved"] == 1 and limit["by_labels"] == pytest.approx(found) and limit["chance"] < 0.01


def test_groups_are_calibrated_on_their_own(melicit):
    """A model that is right about women and far too low for men: limits between them are what the labels say."""
    rng = numpy.random.default_rng(1)
    n = 3000
    g = rng.integers(0, 2, n)
    score = 1.5 * rng.normal(size=n)
    y = rng.random(n) < 1 / (1 + numpy.exp(-score))
    p = 1 / (1 + numpy.exp(-score + 1.5 * g))
    write_rows(melicit, p, y, numpy.where(g == 1, "male", "female"))
    for more in ((), ("--use-group", "no", "--at-least", "recall[yes]=0.5")):
        bound = 0.02 if not more else 0.3
        got = melicit("apply", *ROWS, "--groups", "g.csv", "--positive", "yes", "--named", "accuracy", "--at-most", f"equal-opportunity={bound}",
                      *more, "--out", "c.json", "--json").done().json
        limit = got["limits"][0]
        said = decisions(melicit, *(() if more else ("--groups", "g.csv"))) == "yes"
        by_hand = abs(numpy.mean(said[y & (g == 1)]) - numpy.mean(said[y & (g == 0)]))
        assert limit["by_labels"] == pytest.approx(by_hand, abs=1e-9)
        assert limit["achieved"] <= bound + 1e-9 and abs(limit["by_labels"] - limit["achieved"]) < 0.05
        assert not got["doubtful"]


@pytest.mark.parametrize("evidence", ["calibrated", "labels"])
def test_scores_that_run_the_wrong_way(melicit, two, evidence):
    p, y, _ = two
    right = melicit("apply", *ROWS, "--named", "accuracy", "--evidence", evidence, "--json").done()
    assert "warnings" not in right.json and right.json["auc"] > 0.7
    write_rows(melicit, 1 - p, y)
    run = melicit("apply", *ROWS, "--named", "accuracy", "--evidence", evidence, "--out", "c.json", "--json").done()
    assert f'these probabilities rank the classes the wrong way round (AUC {run.json["auc"]:.2f}): are they those of "no"?' in run.json["warnings"]
    assert run.json["auc"] == pytest.approx(1 - right.json["auc"]) and run.json["classifier"]["rules"][0]["inverted"]
    assert run.json["value"] == pytest.approx(right.json["value"], abs=1e-3)
    said = decisions(melicit) == "yes"
    assert numpy.mean(said == y) == pytest.approx(run.json["by_labels"], abs=1e-9)
    best = max(numpy.mean((p >= t) == y) for t in numpy.unique(p))
    assert run.json["by_labels"] > best - 0.03


def test_optimise_cannot_turn_scores_round_and_says_so(melicit, two):
    p, y, _ = two
    files = (*ROWS, *(f"--validation-{word[2:]}" if word.startswith("--") else word for word in ROWS))
    for probabilities in (p, 1 - p):
        write_rows(melicit, probabilities, y)
        said = melicit("optimise", *files, "--metric", "accuracy", "--out", "c.json", "--json").done().json.get("warnings", [])
        assert any("rank the classes the wrong way round (AUC 0." in one for one in said) == (probabilities is not p)


def test_known_costs_give_the_threshold(melicit):
    """Whatever rows there are: 1 / (1 + 7), not the middle between two rows."""
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--classes", "no,yes", "--out", "m.json").done()
    for p in ([0.05] * 10 + [0.57] * 10, [0.125] * 10 + [0.4] * 10, [0.2] * 10 + [0.9] * 10):
        write_rows(melicit, p, [False] * 9 + [True] * 11)
        words = ("apply", *ROWS, "--metric", "m.json", "--evidence", "model")
        got = melicit(*words, "--json").done().json
        assert got["classifier"]["rules"][0]["threshold"] == pytest.approx(0.125, abs=1e-9) and got["thresholds"][0]["given"]
        assert "the metric alone fixes the threshold" in melicit(*words).done().out
    got = melicit("apply", *ROWS, "--named", "f1", "--evidence", "model", "--json").done().json
    assert not got["thresholds"][0]["given"]
    assert "the metric alone" not in melicit("apply", *ROWS, "--named", "f1", "--evidence", "model").done().out


def test_demographic_parity_needs_no_rows_of_every_class(melicit):
    rng = numpy.random.default_rng(2)
    p, g = rng.random(120), numpy.repeat(["a", "b"], 60)
    y = (rng.random(120) < p) & (g == "a")
    write_rows(melicit, p, y, g)
    melicit.write("d.csv", "said\n" + "".join("yes\n" if v > 0.5 else "no\n" for v in p))
    shares = [numpy.mean(p[g == name] > 0.5) for name in "ab"]
    got = melicit("score", "--named", "demographic-parity:largest", "--labels", "y.csv", "--predictions", "d.csv", "--groups", "g.csv", "--json").done().json
    assert got["value"] == pytest.approx(abs(shares[0] - shares[1]))
    for evidence in ("calibrated", "labels"):
        run = melicit("apply", *ROWS, "--groups", "g.csv", "--named", "demographic-parity", "--evidence", evidence, "--json").done()
        assert run.json["value"] == pytest.approx(0, abs=1e-6) and run.json["expected"] is not None


def test_few_rows_of_referred_cases(melicit):
    """Intervals hold what they are about, and the value by the labels is known."""
    for seed in range(6):
        rng = numpy.random.default_rng(seed)
        p = rng.random(8)
        write_rows(melicit, p, [True, False, *(rng.random(6) < p[2:])])
        got = melicit("apply", *ROWS, "--named", "accuracy", "--reject", "0.3", "--json").done().json
        low, high = got["interval"]
        assert low <= got["expected"] <= high and got["by_labels"] is not None


def certified(n, x, level):
    """The share that x of n are evidence for, at the level of Clopper and Pearson."""
    return scipy.stats.beta.ppf(level, x, n - x + 1) if x > 0 else 0.0


def test_certified_limits(melicit, two):
    """The boldest threshold whose recall passes the exact binomial test, by NumPy; where none passes, how many rows would do."""
    p, y, _ = two
    melicit("metric", "--cost", "missed=1,false-alarm=1", "--classes", "no,yes", "--out", "m.json").done()
    words = ("apply", "--metric", "m.json", *ROWS, "--at-least", "recall[yes]=0.8", "--confidence", 0.95)
    got = melicit(*words, "--json", "--out", "c.json").done().json
    (one,) = got["certified"]["limits"]
    found = decisions(melicit) == "yes"
    assert one["bound"] == pytest.approx(certified(y.sum(), (found & y).sum(), 0.05), abs=1e-9) and one["bound"] >= 0.8
    assert got["certified"]["rows"] == N and got["certified"]["confidence"] == 0.95
    # One bolder threshold would not pass, or costs more.
    worth = {t: -((~(p >= t) & y).sum() + ((p >= t) & ~y).sum()) for t in numpy.unique(p)
             if certified(y.sum(), ((p >= t) & y).sum(), 0.05) >= 0.8}
    assert -(((~found) & y).sum() + (found & ~y).sum()) >= max(worth.values()) - 3
    text = " ".join(melicit(*words).done().out.split())
    assert "on new rows from the same source recall[yes] is at least 0.8, 95% sure" in text and f"{N} rows certify it" in text
    melicit(*words[:-4], "--at-least", "recall[yes]=0.997", "--confidence", 0.95).refused(3, "rows more one could")
    melicit(*words[:-4], "--at-least", "recall[yes]=0.99", "--at-most", "flagged=0.3", "--confidence", 0.95).refused(3, "however many rows")
    melicit(*words[:-4], "--confidence", 0.95).refused(2, "no limit to be promised")
    # With folds, and where the order of rules has to be chosen, some rows certify and no others.
    for more, rows in ((("--folds", 2), N // 2), (("--at-least", "accuracy=0.5"), N // 3), (("--at-least", "precision[yes]=0.3"), N // 3)):
        told = melicit(*words, *more, "--json").done().json["certified"]
        assert abs(told["rows"] - rows) <= 2 and all(limit["bound"] >= limit["at_least"] for limit in told["limits"])
    told = melicit(*words[:-4], "--at-most", "equalised-odds=0.5", "--groups", "g.csv", "--confidence", 0.9, "--json").done().json["certified"]
    assert told["limits"][0]["achieved"] <= told["limits"][0]["bound"] <= 0.5
    # Shares that the classes will have change what a share of everybody is.
    told = melicit(*words[:-4], "--at-most", "flagged=0.5", "--class-prior", "yes=0.1", "--confidence", 0.9, "--json").done().json["certified"]
    assert told["weighted"] and told["limits"][0]["bound"] <= 0.5


def test_what_both_uncertainties_cost(melicit, two):
    """More where the metric is known roughly; nothing is said of limits, of measures that are no weighted sums, of labels."""
    said = []
    for width in (0.001, 0.1):
        angle = numpy.arctan(5.0)
        ends = [[float(f(angle - width)), float(f(angle + width))] for f in (numpy.sin, numpy.cos)]
        melicit.write("m.json", json.dumps({
            "format": "melicit-metric", "version": 1, "family": "linear", "orientation": "utility", "layout": {
                "kind": "confusion", "coordinates": "binary", "classes": ["no", "yes"], "groups": []},
            "coefficients": {"a": [float(numpy.sin(angle)), float(numpy.cos(angle))]}, "intervals": {"a": [sorted(e) for e in ends]}}))
        words = ("apply", "--metric", "m.json", *ROWS)
        said.append(melicit(*words, "--json").done().json["regret"])
        text = " ".join(melicit(*words).done().out.split())
        assert f"its mistakes cost at most {100 * said[-1]:.2g}% more than those of the best rule for what you may have meant" in text
    assert 0 < said[0] < said[1] < 0.5
    for more in (("--at-most", "flagged=0.9"), ("--evidence", "labels")):
        assert melicit(*words, *more, "--json").done().json["regret"] is None
    assert melicit("apply", "--named", "g-mean", *ROWS, "--json").done().json["regret"] is None
