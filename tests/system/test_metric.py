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
    assert got["metric"]["coefficients"]["a"] == [7, 1]
    assert got["metric"]["layout"]["classes"] == ["healthy", "cancer"]
    assert got["ratio"] == 7 and got["threshold"] == 0.125
    assert "One missed cancer case counts as much as 7 false alarms" in melicit("metric", "--show", "m.json").done().out
    # what is right may cost something too; only differences matter
    other = melicit("metric", "--cost", "missed=9,found=2,cleared=1,false-alarm=2", "--json").done().json
    assert other["metric"]["coefficients"]["a"] == [7, 1]
    three = ("--classes", "a,b,c", "--cost")
    got = melicit("metric", *three, "a>b=1,a>c=2,b>a=3,b>c=4,c>a=5,c>b=6", "--json").done().json["metric"]
    assert got["coefficients"]["a"] == [1, 2, 3, 4, 5, 6] and got["orientation"] == "cost"


def test_costs_in_a_file(melicit):
    melicit.write("by_name.csv", "true,b,a,c\nc,1,2,0\na,3,0,4\nb,0,5,6\n")
    melicit.write("in_order.csv", "b,a,c\n0,5,6\n3,0,4\n1,2,0\n")
    melicit.write("bare.csv", "0,5,6\n3,0,4\n1,2,0\n")
    melicit.write("numbers.csv", "true,0,1\n0,0,1\n1,5,0\n")
    want = melicit("metric", "--costs", "by_name.csv", "--json").done().json["metric"]
    assert want["layout"]["classes"] == ["b", "a", "c"]
    assert want["coefficients"]["a"] == [5, 6, 3, 4, 1, 2]
    assert melicit("metric", "--costs", "in_order.csv", "--json").done().json["metric"] == want
    bare = ("metric", "--costs", "bare.csv", "--header", "no")
    assert melicit(*bare, "--classes", "b,a,c", "--json").done().json["metric"] == want
    melicit(*bare).refused(3, "--classes")
    two = melicit("metric", "--costs", "numbers.csv", "--json").done().json["metric"]
    assert two["coefficients"]["a"] == [5, 1] and two["layout"]["classes"] == ["0", "1"]


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
        (("--named", "mcc", "--prevalence", "0.2"), 2, "by its name"),
        (("--named", "kappa", "--classes", "a,b,c", "--shares", "0.5,0.5,0.5"), 2, "add up to 1"),
        (("--named", "f1", "--cost", "missed=1,false-alarm=1"), 2, "one of"),
        (("--cost", "missed=1,false-alarm=1", "--prevalence", "0.2"), 2, "--named"),
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
    data = ("--data", "breast_cancer_original", "--classes", "healthy,cancer")
    melicit("metric", "--cost", "missed=7,false-alarm=1", "--out", "m.json").done()
    ours = melicit("apply", "--metric", "m.json", *data, "--json").done().json["classifier"]
    theirs = melicit("apply", "--metric", "doctor.json", *data, "--json").done().json["classifier"]
    assert ours["rules"] == theirs["rules"]
    melicit("elicit", *data, "--oracle", "sim:m.json", "--max-questions", "3", "--json").json
    melicit.write("costs.csv", "true,0,1,2\n0,0,1,2\n1,2,0,1\n2,9,6,0\n")
    melicit("metric", "--costs", "costs.csv", "--out", "k.json").done()
    assert melicit("apply", "--metric", "k.json", "--population", "softmax:1,3,5", "--json").done().json["classifier"]
