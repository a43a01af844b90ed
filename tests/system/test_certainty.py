"""score and rank on predictions and counts: values equal to scikit-learn's, intervals, "cannot tell"."""
import json

import numpy
import pytest
from classes import layout, metric_text
from sklearn import metrics

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)


def write_column(melicit, name, values):
    melicit.write(name, "c\n" + "\n".join(map(str, values)) + "\n")


def make_pair(melicit, rng, only_a, only_b, n=2301, wrong=495):
    """A makes `wrong` mistakes; only_a rows are A's alone to get right, only_b are B's."""
    y = (rng.random(n) < 0.4).astype(int)
    a = numpy.zeros(n, bool)
    a[rng.choice(n, wrong, replace=False)] = True
    b = a.copy()
    b[rng.choice(numpy.flatnonzero(a), only_b, replace=False)] = False
    b[rng.choice(numpy.flatnonzero(~a), only_a, replace=False)] = True
    write_column(melicit, "y.csv", y)
    write_column(melicit, "a.csv", numpy.where(a, 1 - y, y))
    write_column(melicit, "b.csv", numpy.where(b, 1 - y, y))
    return y, numpy.where(a, 1 - y, y), numpy.where(b, 1 - y, y)


@pytest.mark.parametrize("only_a, only_b, want", [(28, 25, 0.66), (153, 150, 0.57)])
def test_495_against_498(melicit, only_a, only_b, want):
    y, a, b = make_pair(melicit, numpy.random.default_rng(only_a), only_a, only_b)
    assert (y != a).sum() == 495 and (y != b).sum() == 498
    got = melicit("rank", "--named", "accuracy", "--labels", "y.csv", "--predictions", "a.csv", "b.csv", "--json").done().json
    first, second = got["order"]
    assert (first["name"], second["name"]) == ("a", "b") and got["paired"]
    assert first["beats_next"] == pytest.approx(want, abs=0.01) and first["tells_next"] is False
    assert first["interval"][0] < first["value"] < first["interval"][1]
    text = melicit("rank", "--named", "accuracy", "--labels", "y.csv", "--predictions", "a.csv", "b.csv").done().out
    assert "cannot tell" in text
    # the same for a metric object, and for the two columns of one file
    melicit("metric", "--named", "accuracy", "--classes", "0,1", "--out", "m.json").done()
    numpy.savetxt(melicit.folder / "both.csv", numpy.c_[a, b], fmt="%d", delimiter=",", header="a,b", comments="")
    other = melicit("rank", "--metric", "m.json", "--labels", "y.csv", "--predictions", "both.csv", "--json").done().json
    assert other["order"][0]["beats_next"] == pytest.approx(first["beats_next"], abs=1e-9)


def test_best_of_three_agrees_with_the_comparison(melicit):
    """Who is best beats the next: one probability, whether a hopeless third takes part or not."""
    y, _, _ = make_pair(melicit, numpy.random.default_rng(3), 60, 39)
    write_column(melicit, "z.csv", 1 - y)
    words = ("rank", "--named", "accuracy", "--labels", "y.csv", "--predictions", "a.csv", "b.csv")
    two, three = melicit(*words, "--json").done().json, melicit(*words, "z.csv", "--json").done().json
    assert 0.95 < two["order"][0]["beats_next"] < 0.999
    assert three["order"][0]["beats_next"] == two["order"][0]["beats_next"]
    for one, other in zip(two["order"], three["order"]):
        assert other["best_probability"] == pytest.approx(one["best_probability"], abs=1e-9)


def test_counts_are_not_paired(melicit):
    melicit.write("pool.csv", "name,tp,tn,fp,fn\na,700,1106,245,250\nb,697,1106,245,253\n")
    got = melicit("rank", "--named", "accuracy", "--pool", "pool.csv", "--json").done().json
    assert got["order"][0]["beats_next"] == pytest.approx(0.54, abs=0.01) and not got["order"][0]["tells_next"]
    melicit.write("shares.csv", "name,tp,tn,fp,fn\na,0.3,0.5,0.1,0.1\nb,0.2,0.5,0.1,0.2\n")
    got = melicit("rank", "--named", "accuracy", "--pool", "shares.csv", "--json").done().json
    assert "beats_next" not in got["order"][0] and "interval" not in got["order"][0]
    melicit.write("n.csv", "name,tp,tn,fp,fn,n\na,0.3,0.5,0.1,0.1,900\nb,0.2,0.5,0.1,0.2,900\n")
    got = melicit("rank", "--named", "accuracy", "--pool", "n.csv", "--json").done().json
    assert got["order"][0]["tells_next"] is True


def test_an_uncertain_metric_widens_intervals(melicit):
    make_pair(melicit, numpy.random.default_rng(3), 40, 20)
    files = ("--labels", "y.csv", "--predictions", "a.csv", "b.csv", "--json")
    shape = layout("confusion", "binary", 2, classes="01")
    text = json.loads(metric_text("linear", shape, a=[0.9, 0.4]))
    melicit.write("known.json", json.dumps(text))
    text["intervals"] = {"a": [[0.7, 1.1], [0.2, 0.6]]}
    melicit.write("m.json", json.dumps(text))
    known = melicit("rank", "--metric", "known.json", *files).done().json["order"][0]
    got = melicit("rank", "--metric", "m.json", *files).done().json["order"][0]
    width = lambda pair: pair[1] - pair[0]
    assert got["rows_interval"] == pytest.approx(known["interval"], abs=1e-9)
    assert width(got["interval"]) > max(width(got["rows_interval"]), width(got["metric_interval"]))
    both = width(got["rows_interval"]) ** 2 + width(got["metric_interval"]) ** 2
    assert width(got["interval"]) == pytest.approx(both**0.5, rel=0.1)
    scored = melicit("score", "--metric", "m.json", "--labels", "y.csv", "--predictions", "a.csv", "--json").done().json
    assert scored["value"] == got["value"] and width(scored["interval"]) == pytest.approx(width(got["interval"]), rel=0.1)


NAMES = {
    "accuracy": metrics.accuracy_score,
    "balanced-accuracy": metrics.balanced_accuracy_score,
    "macro-f1": lambda y, p: metrics.f1_score(y, p, average="macro"),
    "micro-f1": lambda y, p: metrics.f1_score(y, p, average="micro"),
    "weighted-f1": lambda y, p: metrics.f1_score(y, p, average="weighted"),
    "mcc": metrics.matthews_corrcoef,
    "kappa": metrics.cohen_kappa_score,
}


@pytest.fixture
def three(melicit):
    rng = numpy.random.default_rng(12)
    y = rng.choice(["cold", "flu", "measles"], 500, p=[0.5, 0.3, 0.2])
    p = numpy.where(rng.random(500) < 0.35, rng.choice(["cold", "flu", "measles"], 500), y)
    g = rng.choice(["men", "women"], 500)
    for name, values in (("y.csv", y), ("p.csv", p), ("g.csv", g)):
        write_column(melicit, name, values)
    return y, p, g


def test_several_classes_and_groups(melicit, three):
    y, p, g = three
    named = [word for name in NAMES for word in ("--named", name)]
    got = melicit("score", *named, "--labels", "y.csv", "--predictions", "p.csv", "--groups", "g.csv", "--json").done().json
    assert [row["name"] for row in got["scores"]] == ["all", "men", "women"]
    for name, theirs in NAMES.items():
        every = [theirs(y, p), theirs(y[g == "men"], p[g == "men"]), theirs(y[g == "women"], p[g == "women"])]
        assert [row[name] for row in got["scores"]] == pytest.approx(every, abs=1e-12), name
        for row in got["scores"]:
            low, high = row[f"{name}_interval"]
            assert low < row[name] < high
        groups = got["groups"]["all"]
        assert groups[f"{name}:difference"] == pytest.approx(abs(every[1] - every[2]), abs=1e-12)
        assert groups[f"{name}:ratio"] == pytest.approx(min(every[1:]) / max(every[1:]), abs=1e-12)
    assert got["rows"] == 500 and got["value"] == got["scores"][0]["accuracy"]
    one = melicit("rank", "--named", "macro-f1:ratio", "--labels", "y.csv", "--predictions", "p.csv", "--groups", "g.csv", "--json")
    assert one.done().json["order"][0]["value"] == pytest.approx(groups["macro-f1:ratio"], abs=1e-12)


def test_confusion_matrices_as_counts(melicit, three):
    """k x k cells, per group, say the same as the predictions that were counted."""
    y, p, g = three
    classes = ["cold", "flu", "measles"]
    cells = {
        f"{group}:{a}>{b}": int(((y == a) & (p == b) & (g == group)).sum()) for group in ("men", "women") for a in classes for b in classes
    }
    melicit.write("pool.csv", "name," + ",".join(cells) + "\nmine," + ",".join(map(str, cells.values())) + "\n")
    named = ("--named", "macro-f1", "--named", "equalised-odds", "--named", "kappa:difference")
    counted = melicit("score", *named, "--statistics", "pool.csv", "--json").done().json["scores"][0]
    direct = melicit("score", *named, "--labels", "y.csv", "--predictions", "p.csv", "--groups", "g.csv", "--json").done().json["scores"][0]
    for name in named[1::2]:
        assert counted[name] == pytest.approx(direct[name], abs=1e-12)
        assert counted[f"{name}_interval"] == pytest.approx(direct[f"{name}_interval"], abs=1e-9)
    together = {f"{a}>{b}": int(((y == a) & (p == b)).sum()) for a in classes for b in classes}
    melicit.write("all.csv", "name," + ",".join(together) + "\nmine," + ",".join(map(str, together.values())) + "\n")
    got = melicit("score", "--named", "mcc", "--statistics", "all.csv", "--json").done().json
    assert got["value"] == pytest.approx(metrics.matthews_corrcoef(y, p), abs=1e-12)


def test_equal_classifiers_cannot_be_told_apart(melicit):
    y = numpy.arange(400) % 2
    write_column(melicit, "y.csv", y)
    write_column(melicit, "a.csv", numpy.where(numpy.arange(400) < 50, 1 - y, y))
    write_column(melicit, "b.csv", numpy.where(numpy.arange(400) < 50, 1 - y, y))
    first = melicit("rank", "--named", "f1", "--labels", "y.csv", "--predictions", "a.csv", "b.csv", "--json").done().json["order"][0]
    assert first["beats_next"] == pytest.approx(0.5, abs=0.02) and not first["tells_next"]


@pytest.mark.parametrize(
    "words, code, sentence",
    [
        (("rank", "--named", "f1", "--labels", "y.csv", "a.csv"), 2, "follow --predictions"),
        (("rank", "--named", "f1", "--labels", "y.csv"), 2, "--predictions"),
        (("rank", "--named", "f1", "--named", "mcc", "--labels", "y.csv", "--predictions", "a.csv"), 2, "expected one of"),
        (("rank", "--named", "f1", "--labels", "y.csv", "--predictions", "a.csv", "a.csv"), 3, "two classifiers"),
        (("rank", "--named", "f1", "--labels", "y.csv", "--predictions", "short.csv"), 3, "short.csv has 2 rows"),
        (("rank", "--named", "recall", "--pool", "part.csv"), 3, "rank: a: recall depends on entries of its matrix that are not known; give columns tp, tn, fp and fn"),
        (("rank", "--named", "kappa", "--pool", "part.csv"), 3, "rank: a: kappa depends on"),
        (("score", "--named", "mcc", "--statistics", "part.csv"), 2, "fp and fn"),
        (("score", "--named", "f1:difference", "--labels", "y.csv", "--predictions", "a.csv"), 2, "needs groups"),
        (("rank", "--named", "f1", "--against", "doctor.json", "--labels", "y.csv", "--predictions", "a.csv"), 2, "--against"),
    ],
)
def test_refusals(melicit, words, code, sentence):
    make_pair(melicit, numpy.random.default_rng(1), 5, 5, 100, 20)
    write_column(melicit, "short.csv", [0, 1])
    melicit.write("part.csv", "name,tp,tn\na,0.3,0.5\n")
    melicit(*words).refused(code, sentence)


@pytest.mark.parametrize("named", ["accuracy", "f1", "f0.5", "mcc", "kappa", "recall", "balanced-accuracy", "jaccard", "macro-f1"])
def test_measures_of_two_columns(melicit, named):
    """tp and tn are enough where the value does not depend on how the mistakes share the rest; then it is that of the whole matrix."""
    rng = numpy.random.default_rng(8)
    enough = named in ("accuracy", "f1", "jaccard", "macro-f1")
    tp, tn = rng.integers(5, 75, 6), rng.integers(5, 115, 6)
    counts = numpy.column_stack([tp, tn, 120 - tn, 80 - tp])
    for unit, more in ((200, ""), (1, ",n")):
        def write(name, columns):
            header = "name," + ",".join("tp tn fp fn".split()[j] for j in columns) + more
            rows = [f"c{i}," + ",".join(repr(float(v) / unit) if unit > 1 else str(v) for v in row[columns]) + (",200" if more else "") for i, row in enumerate(counts)]
            melicit.write(name, "\n".join([header, *rows]) + "\n")
        write("two.csv", [0, 1])
        write("four.csv", [0, 1, 2, 3])
        whole = melicit("rank", "--named", named, "--pool", "four.csv", "--json").done().json["order"]
        if not enough:
            melicit("rank", "--named", named, "--pool", "two.csv").refused(3, f"c0: {named} depends on")
            melicit("score", "--named", named, "--statistics", "two.csv").refused(2, named, "fp and fn")
            continue
        part = melicit("rank", "--named", named, "--pool", "two.csv", "--json").done().json["order"]
        assert [one["name"] for one in part] == [one["name"] for one in whole]
        for a, b in zip(part, whole):
            assert a["value"] == pytest.approx(b["value"], abs=1e-12)
            if unit == 1:
                assert a["interval"] == pytest.approx(b["interval"], abs=0.01)
        melicit("score", "--named", named, "--statistics", "two.csv").done()
