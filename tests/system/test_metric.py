"""melicit metric: metric files from costs and from names, and in words."""
import json

import numpy
import pytest
from sklearn import metrics


def read(melicit, name):
    return json.loads((melicit.folder / name).read_text())


def test_costs_on_the_command_line(melicit):
    got = melicit("metric", "--cost", "missed=7,false-alarm=1", "--classes", "healthy,cancer", "--out", "m.json", "--json").done().json
    assert got["metric"] == read(melicit, "m.json")
    assert got["metric"]["coefficients"]["a"] == [1, 7] and got["metric"]["orientation"] == "cost"  # false alarms, missed
    assert got["metric"]["layout"]["classes"] == ["healthy", "cancer"]
    assert got["ratio"] == 7 and got["threshold"] == 0.125
    assert "One missed cancer case counts as much as 7 false alarms" in melicit("metric", "--show", "m.json").done().out
    # what is right may cost something too; only differences matter
    other = melicit("metric", "--cost", "missed=9,found=2,cleared=1,false-alarm=2", "--json").done().json
    assert other["metric"]["coefficients"]["a"] == [1, 7]
    three = ("--classes", "a,b,c", "--cost")
    got = melicit("metric", *three, "a>b=1,a>c=2,b>a=3,b>c=4,c>a=5,c>b=6", "--json").done().json["metric"]
    assert got["coefficients"]["a"] == [1, 2, 3, 4, 5, 6] and got["orientation"] == "cost"


@pytest.fixture
def priced(melicit):
    """Rows, probabilities, two sets of predictions and two groups; a missed case costs 7, a false alarm 1."""
    rng = numpy.random.default_rng(3)
    n = 400
    p = rng.random(n)
    y, g = rng.random(n) < p, rng.random(n) < 0.5
    said = {"bold": p >= 0.5, "careful": p >= 0.2}
    column = lambda name, values: melicit.write(name, "v\n" + "".join(f"{v}\n" for v in values))  # noqa: E731
    column("y.csv", numpy.where(y, "ill", "well"))
    column("g.csv", numpy.where(g, "f", "m"))
    for name, values in said.items():
        column(f"{name}.csv", numpy.where(values, "ill", "well"))
    melicit.write("p.csv", "well,ill\n" + "".join(f"{1 - v!r},{v!r}\n" for v in p.tolist()))
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--classes", "well,ill", "--out", "m.json").done()
    return p, y, g, said


def cost(y, said):
    return numpy.where(y, 7.0 * ~said, 1.0 * said).mean()


def test_costs_are_the_mean_cost_per_case(melicit, priced):
    """What score, rank, apply and optimise make of costs, against sums over the rows."""
    p, y, g, said = priced
    rows = ("--labels", "y.csv", "--metric", "m.json")
    right = melicit("score", *rows, "--predictions", "y.csv", "--groups", "g.csv", "--json").done().json
    assert [row["value"] for row in right["scores"]] == [0, 0, 0]  # everybody, and each group
    got = melicit("score", *rows, "--predictions", "bold.csv", "--groups", "g.csv", "--json").done().json
    assert [row["value"] for row in got["scores"]] == pytest.approx([cost(y[s], said["bold"][s]) for s in (y | ~y, g, ~g)])
    order = melicit("rank", *rows, "--predictions", "bold.csv", "careful.csv", "--json").done().json["order"]
    assert [one["value"] for one in order] == pytest.approx(sorted(cost(y, v) for v in said.values()))
    found = melicit("apply", "--probs", "p.csv", *rows, "--evidence", "labels", "--plot", "a.svg", "--json").done().json
    best = min(cost(y, p >= t) for t in [*p, 2])
    assert found["value"] == pytest.approx(best, abs=1e-12) and found["optimum"] == pytest.approx(best, abs=1e-12)
    assert "Net benefit" in (melicit.folder / "a.svg").read_text()
    by_model = melicit("apply", "--probs", "p.csv", *rows, "--evidence", "model", "--json").done().json
    assert by_model["value"] == pytest.approx(numpy.minimum(7 * p, 1 - p).mean(), abs=1e-12)
    words = ("optimise", "--probs", "p.csv", "--labels", "y.csv", "--validation-probs", "p.csv", "--validation-labels", "y.csv")
    value = melicit(*words, "--metric", "m.json", "--json").done().json["value"]
    assert best - 1e-9 <= value < 1.15 * best


def test_costs_of_populations_pools_and_sessions(melicit, priced):
    _, y, _, said = priced
    grid = (numpy.arange(200000) + 0.5) / 100000 - 1
    p = 1 / (1 + numpy.exp(5 * grid))
    words = ("--population", "logistic:a=5,b=0", "--classes", "well,ill")
    got = melicit("apply", *words, "--metric", "m.json", "--json").done().json["classifier"]
    assert got["value"] == pytest.approx(numpy.minimum(7 * p, 1 - p).mean(), abs=1e-8)
    assert got["rules"][0]["threshold"] == pytest.approx(0.125, abs=1e-9)
    asked = melicit("elicit", *words, "--oracle", "sim:m.json", "--session", "s.jsonl", "--out", "found.json", "--json").done().json
    assert asked["ratio_interval"][0] <= 7 <= asked["ratio_interval"][1]
    told = melicit("report", "--session", "s.jsonl", "--out", "r.html").done()
    assert told.code == 0 and "false alarms" in (melicit.folder / "r.html").read_text()
    # the other metric's values are its own, and only the order is known where whole matrices are not
    ranked = ("rank", "--metric", "found.json", "--against", "m.json", "--json")
    rows = ("--labels", "y.csv", "--predictions", "bold.csv", "careful.csv")
    for one in melicit(*ranked, *rows).done().json["order"]:
        assert one["against_value"] == pytest.approx(cost(y, said[one["name"].removesuffix(".csv")]))
    melicit.write("pool.csv", "name,tp,tn\nbold,0.3,0.5\ncareful,0.4,0.45\n")
    order = melicit(*ranked, "--pool", "pool.csv").done().json["order"]
    assert {one["name"]: one["against_place"] for one in order} == {"careful": 1, "bold": 2}
    melicit("score", "--metric", "m.json", "--statistics", "pool.csv").refused(3, "shares=P")
    values = melicit("score", "--metric", "m.json", "--statistics", "pool.csv", "--shares", "0.45", "--json").done().json
    assert [row["value"] for row in values["scores"]] == pytest.approx([7 * 0.15 + 0.05, 7 * 0.05 + 0.1])


def test_costs_in_a_file(melicit):
    melicit.write("by_name.csv", "true,b,a,c\nc,1,2,0\na,3,0,4\nb,0,5,6\n")
    melicit.write("in_order.csv", "b,a,c\n0,5,6\n3,0,4\n1,2,0\n")
    melicit.write("bare.csv", "0,5,6\n3,0,4\n1,2,0\n")
    melicit.write("numbers.csv", "true,0,1\n0,0,1\n1,5,0\n")
    want = melicit("metric", "--costs", "by_name.csv", "--json").done().json["metric"]
    assert want["layout"]["classes"] == ["b", "a", "c"]
    assert want["coefficients"]["a"] == [5, 6, 3, 4, 1, 2]
    assert melicit("metric", "--costs", "in_order.csv", "--json").done().json["metric"] == want
    bare = ("metric", "--costs", "bare.csv", "--read", "header=no")
    assert melicit(*bare, "--classes", "b,a,c", "--json").done().json["metric"] == want
    melicit(*bare).refused(3, "--classes")
    two = melicit("metric", "--costs", "numbers.csv", "--json").done().json["metric"]
    assert two["coefficients"]["a"] == [1, 5] and two["layout"]["classes"] == ["0", "1"]


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (("--cost", "missed=7"), 2, 'predicting "positive" for "negative"'),
        (("--cost", "missed=7,missed=8,false-alarm=1"), 2, "twice"),
        (("--cost", "missed=x,false-alarm=1"), 2, "not a number"),
        (("--cost", "missed=-1,false-alarm=1"), 3, "reward"),
        (("--cost", "missed=0,false-alarm=0"), 3, "no mistake"),
        (("--cost", "lost=1"), 2, "not the cost of a mistake"),
        (("--costs", "reward.csv"), 3, "reward.csv: predicting"),
        (("--costs", "oblong.csv"), 3, "expected a square"),
        (("--costs", "stranger.csv"), 3, '"z", but no column is called so'),
        (("--named", "f1"), 2, "how frequent"),
        (("--named", "mcc", "--shares", "0.2"), 2, "by its name"),
        (("--named", "kappa", "--classes", "a,b,c", "--shares", "0.5,0.5,0.5"), 2, "add up to 1"),
        (("--named", "f1", "--cost", "missed=1,false-alarm=1"), 2, "one of"),
        (("--cost", "missed=1,false-alarm=1", "--shares", "0.2"), 2, "--named"),
        ((), 2, "one of"),
    ],
)
def test_refusals(melicit, words, code, sentence):
    melicit.write("reward.csv", "true,a,b\na,0,-1\nb,1,0\n")
    melicit.write("oblong.csv", "a,b\n1,2\n3,4\n5,6\n")
    melicit.write("stranger.csv", "true,a,b\na,0,1\nz,1,0\n")
    melicit("metric", *words).refused(code, sentence)


def test_names_with_the_shares_of_labels(melicit):
    """A metric file made for these labels has scikit-learn's value for any predictions of them."""
    rng = numpy.random.default_rng(4)
    y = rng.choice(["no", "yes"], 400, p=[0.7, 0.3])
    d = numpy.where(rng.random(400) < 0.2, rng.choice(["no", "yes"], 400), y)
    melicit.write("y.csv", "y\n" + "\n".join(y) + "\n")
    melicit.write("d.csv", "d\n" + "\n".join(d) + "\n")
    theirs = {
        "f2": lambda: metrics.fbeta_score(y, d, beta=2, pos_label="yes"),
        "kappa": lambda: metrics.cohen_kappa_score(y, d),
        "balanced-accuracy": lambda: metrics.balanced_accuracy_score(y, d),
        "precision": lambda: metrics.precision_score(y, d, pos_label="yes"),
    }
    for name, value in theirs.items():
        melicit("metric", "--named", name, "--labels", "y.csv", "--out", "m.json").done()
        got = melicit("score", "--metric", "m.json", "--labels", "y.csv", "--predictions", "d.csv", "--json").done().json
        assert got["value"] == pytest.approx(value(), abs=1e-12), name


def test_other_verbs_take_them(melicit):
    data = ("--data", "mammographic_mass", "--classes", "benign,malignant")
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--out", "m.json").done()
    ours = melicit("apply", "--metric", "m.json", *data, "--json").done().json["classifier"]
    theirs = melicit("apply", "--metric", "doctor.json", *data, "--json").done().json["classifier"]
    assert ours["rules"] == theirs["rules"]
    melicit("elicit", *data, "--oracle", "sim:m.json", "--max-questions", "3", "--json").json
    melicit.write("costs.csv", "true,0,1,2\n0,0,1,2\n1,2,0,1\n2,9,6,0\n")
    melicit("metric", "--costs", "costs.csv", "--out", "k.json").done()
    assert melicit("apply", "--metric", "k.json", "--population", "softmax:1,3,5", "--json").done().json["classifier"]


def test_what_is_no_measure_of_decisions_or_no_metric(melicit):
    """auc and the like say why they cannot be asked for; a file of another kind says what it is."""
    melicit.write("y.csv", "label\nno\nyes\nno\nyes\n")
    for name in ("auc", "roc_auc", "log-loss", "brier_score_loss"):
        melicit("score", "--named", name, "--labels", "y.csv", "--predictions", "y.csv").refused(2, "a measure of probabilities", "f1, mcc")
    melicit("train", "--data", "breast_cancer_original", "--positive", "1", "--out", "model.json").done()
    melicit("metric", "--show", "model.json").refused(3, "model.json: this is a model; expected a metric")
    melicit("metric", "--show", "y.csv").refused(3, "y.csv: expected a JSON object")
    melicit("elicit", "--data", "breast_cancer_original", "--positive", "1", "--tolerance", "1.6").refused(2, "below 1.5; 1.6x is a factor")
