"""Classifier files: the best one for a metric, the one for a point, and what they predict."""
import json
import pathlib

import numpy
import pytest
from classes import ROWS, chances, confusion, layout, metric_text, off_diagonal, plug_in, unit

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)


def test_apply_point_and_predict(melicit, sample):
    """apply --point writes the classifier; its predictions reproduce the statistics."""
    p, y, _ = sample
    point = [0.08, 0.09, 0.1, 0.08, 0.09, 0.1]
    melicit("apply", *ROWS, "--point", ",".join(map(str, point)), "--out", "c.json").done()
    classifier = json.loads((melicit.folder / "c.json").read_text())
    assert classifier["format"] == "melicit-classifier" and classifier["version"] == 1
    assert classifier["classes"] == ["0", "1", "2"] and classifier["layout"] == {"kind": "confusion", "coordinates": "offdiagonal"}
    shares = [rule["share"] for rule in classifier["rules"]]
    assert numpy.isclose(sum(shares), 1) and shares == sorted(shares, reverse=True) and len(shares) <= 7
    expected = off_diagonal(confusion(chances(classifier["rules"], p), y))
    assert numpy.allclose(expected, classifier["statistics"], atol=1e-12)
    assert numpy.linalg.norm(expected - point) <= 1e-6
    words = ("predict", "--classifier", "c.json", "--probs", "p.npy", "--out")
    melicit(*words, "chances.npy", "--chances").done()
    assert numpy.allclose(melicit.load("chances.npy"), chances(classifier["rules"], p), atol=1e-12)
    drawn = []
    for seed in range(40):
        told = melicit(*words, "d.npy", "--seed", seed, "--json").done().json
        d = melicit.load("d.npy")
        assert told["rows"] == len(p) and told["decisions"] == numpy.bincount(d, minlength=3).tolist()
        drawn.append(off_diagonal(confusion(numpy.eye(3)[d], y)))
    spread = numpy.sqrt(expected.max() / len(p) / len(drawn))
    assert numpy.abs(numpy.mean(drawn, axis=0) - expected).max() <= 5 * spread
    melicit(*words, "again.npy", "--seed", 39).done()
    assert (melicit.load("again.npy") == d).all()


def test_apply_linear_is_best(melicit, sample):
    """By the model's word no classifier is better; the value is what is counted."""
    p, y, _ = sample
    costs = numpy.array([[0, 1, 5], [2, 0, 1], [1, 3, 0]])
    melicit.write("m.json", metric_text("linear", layout("confusion", "offdiagonal", 3), "cost", a=unit(off_diagonal(costs))))
    got = melicit("apply", *ROWS, "--evidence", "model", "--metric", "m.json", "--out", "c.json", "--json").done().json["classifier"]
    said = plug_in(got["rules"][0]["gain"], p)
    assert (said == numpy.argmin(p @ costs, axis=1)).all()
    value = numpy.mean((p @ costs).min(axis=1)) / numpy.linalg.norm(off_diagonal(costs))
    assert numpy.isclose(got["value"], value, rtol=1e-12)
    by_labels = melicit("apply", *ROWS, "--evidence", "labels", "--metric", "m.json", "--json").done().json["classifier"]
    assert numpy.allclose(by_labels["statistics"], off_diagonal(confusion(numpy.eye(3)[said], y)), atol=1e-15)


def test_apply_diagonal_and_fraction(melicit, sample):
    p, _, _ = sample
    shape = layout("confusion", "diagonal", 3)
    melicit.write("d.json", metric_text("diagonal-linear", shape, a=[0.5, 0.2, 0.3]))
    got = melicit("apply", *ROWS, "--evidence", "model", "--metric", "d.json", "--json").done().json["classifier"]
    best = numpy.mean((p * [0.5, 0.2, 0.3]).max(axis=1))
    assert numpy.isclose(got["value"], best, rtol=1e-12)
    a, b, b0 = numpy.array([0.5, 0.2, 0.3]), numpy.array([0.4, -0.3, 0.1]), 1.0
    melicit.write("f.json", metric_text("diagonal-linear-fractional", shape, a=a.tolist(), b=b.tolist(), b0=b0))
    got = melicit("apply", *ROWS, "--evidence", "model", "--metric", "f.json", "--json").done().json["classifier"]
    v = got["value"]  # at the optimum the best step of a - v b gains nothing: sup <a - v b, c> = v b0
    assert numpy.isclose(numpy.mean((p * (a - v * b)).max(axis=1)), v * b0, atol=1e-12)


def test_apply_with_groups(melicit, sample):
    p, y, g = sample
    weights = unit(-numpy.arange(1.0, 13.0))
    melicit.write("m.json", metric_text("linear", layout("rates", "offdiagonal", 3, ["u", "v"]), a=weights))
    words = (*ROWS, "--groups", "g.csv")
    melicit("apply", *words, "--evidence", "labels", "--metric", "m.json", "--out", "c.json").done()
    classifier = json.loads((melicit.folder / "c.json").read_text())
    decided = chances(classifier["rules"], p, g)
    matrices = [confusion(decided[g == j], y[g == j]) for j in range(2)]
    counted = numpy.concatenate([off_diagonal(m / m.sum(axis=1, keepdims=True)) for m in matrices])
    assert numpy.allclose(counted, classifier["statistics"], atol=1e-12)
    assert numpy.isclose(classifier["value"], numpy.dot(weights, counted))
    predict = ("predict", "--classifier", "c.json", "--probs", "p.npy", "--out", "d.npy")
    melicit(*predict, "--groups", "g.csv").done()
    assert (melicit.load("d.npy") == decided.argmax(axis=1)).all()
    melicit(*predict).refused(2, "--groups")
    melicit.write("w.csv", "group\n" + "w\n" * len(p))
    melicit(*predict, "--groups", "w.csv").refused(3, "w.csv", '"w"')


def test_binary_classifier_predicts(melicit):
    rng = numpy.random.default_rng(9)
    y = rng.integers(0, 2, 300)
    p = 1 / (1 + numpy.exp(-(2 * y - 1 + 1.5 * rng.normal(size=300))))
    numpy.save(melicit.folder / "p.npy", p)
    numpy.save(melicit.folder / "y.npy", y)
    melicit("apply", *ROWS, "--point", "0.3,0.3", "--out", "c.json").done()
    melicit("predict", "--classifier", "c.json", "--probs", "p.npy", "--chances", "--out", "c.npy").done()
    chance = melicit.load("c.npy")
    assert numpy.allclose([(chance[:, 1] * (y == 1)).mean(), (chance[:, 0] * (y == 0)).mean()], [0.3, 0.3], atol=1e-9)


@pytest.mark.parametrize("change, says", [
    (lambda c: c.update(positive="0"), "positive"),
    (lambda c: c["rules"][0].update(inverted="yes"), "inverted"),
    (lambda c: c["rules"][0].pop("threshold"), "threshold"),
])
def test_damaged_thresholds(melicit, change, says):
    numpy.save(melicit.folder / "p.npy", numpy.array([0.2, 0.7]))
    classifier = {"format": "melicit-classifier", "version": 1, "classes": ["0", "1"], "positive": "1",
                  "rules": [{"threshold": 0.5, "inverted": False, "share": 1}]}
    predict = "predict", "--classifier", "c.json", "--probs", "p.npy", "--out", "d.npy"
    melicit.write("c.json", json.dumps(classifier))
    melicit(*predict).done()
    change(classifier)
    melicit.write("c.json", json.dumps(classifier))
    melicit(*predict).refused(3, "c.json", says)


def test_classifier_of_too_many_numbers(melicit):
    """2^16 rules, groups and classes: the number of gains does not fit into 64 bits."""
    numpy.save(melicit.folder / "p.npy", numpy.array([[0.2, 0.8]]))
    many = [str(i) for i in range(1 << 16)]
    matrix = [[1] * len(many)] + [[]] * (len(many) - 1)
    rules = [{"gain": [matrix] + [[]] * (len(many) - 1), "share": 1}] + [{}] * (len(many) - 1)
    melicit.write("c.json", json.dumps({"format": "melicit-classifier", "version": 1, "classes": many,
                                        "groups": many, "rules": rules}))
    predict = "predict", "--classifier", "c.json", "--probs", "p.npy", "--out", "d.npy"
    melicit(*predict).refused(3, "c.json", "too many")


@pytest.mark.parametrize("change, says", [
    (lambda c: c.update(format="melicit-metric"), "this is a metric; expected a classifier"),
    (lambda c: c.update(version=3), "version"),
    (lambda c: c.update(classes=["0"]), "classes"),
    (lambda c: c.update(classes=["0", 1, "2"]), "classes[1]"),
    (lambda c: c.update(classes=["0", "1", "1"]), "classes[2]"),
    (lambda c: c.update(rules=[]), "rules"),
    (lambda c: c["rules"][0].update(share=0.7), "add up to"),
    (lambda c: c["rules"][0].update(share="all"), "share"),
    (lambda c: c["rules"][0]["gain"].pop(), "3 x 3"),
    (lambda c: c["rules"][0]["gain"][1].__setitem__(2, "x"), "gain"),
    (lambda c: c["rules"][0].pop("gain"), "thresholds"),
])
def test_damaged_classifier(melicit, sample, change, says):
    melicit.write("d.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3), a=[0.5, 0.2, 0.3]))
    melicit("apply", *ROWS, "--metric", "d.json", "--out", "c.json").done()
    classifier = json.loads((melicit.folder / "c.json").read_text())
    change(classifier)
    melicit.write("c.json", json.dumps(classifier))
    melicit("predict", "--classifier", "c.json", "--probs", "p.npy", "--out", "d.npy").refused(3, "c.json", says)


OLD = pathlib.Path(__file__).resolve().parents[1] / "data" / "classifiers"


@pytest.mark.parametrize("name, more", [
    ("thresholds", ("--probs", OLD / "two.csv")),
    ("gains", ("--probs", OLD / "three.csv", "--groups", OLD / "groups.csv")),
    ("weighted_draw", ("--probs", OLD / "two.csv", "--features", OLD / "features.csv")),
    ("weighted_majority", ("--probs", OLD / "three.csv", "--features", OLD / "features.csv")),
])
def test_old_files_decide_the_same(melicit, name, more):
    words = ("predict", "--classifier", OLD / f"{name}.json", *more, "--out", "-")
    said = "".join(melicit(*words, "--seed", seed).done().out for seed in (1, 7))
    assert said == (OLD / f"{name}.decisions.txt").read_text()
    rows = [numpy.array([line.split(",") for line in text.split()[1:]], dtype=float)
            for text in (melicit(*words, "--chances").done().out, (OLD / f"{name}.chances.csv").read_text())]
    assert numpy.allclose(rows[0], rows[1], atol=1e-12)


@pytest.mark.parametrize("name, more", [("thresholds", ()), ("weighted_draw", ("--features", OLD / "features.csv"))])
def test_texts_that_look_like_numbers_stay_texts(melicit, name, more):
    """Labels "10" and "2" as texts are sorted by byte: columns of an array are those of "10" (no), then of "2" (yes)."""
    p = numpy.loadtxt(OLD / "two.csv", delimiter=",", skiprows=1)
    numpy.save(melicit.folder / "p.npy", p)
    melicit("predict", "--classifier", OLD / f"{name}.json", "--probs", "p.npy", *more, "--chances", "--out", "c.npy").done()
    want = numpy.loadtxt(OLD / f"{name}.chances.csv", delimiter=",", skiprows=1)
    assert numpy.allclose(melicit.load("c.npy"), want, atol=1e-12)


def test_mixtures_with_basis_functions_are_drawn_by_ids(melicit):
    """A row gets the same decision wherever it stands."""
    ids = [f"r{i}" for i in range(40)]
    lines = {file: (OLD / f"{file}.csv").read_text().split() for file in ("two", "features")}
    said = []
    for order in (range(40), range(39, -1, -1)):
        for file, rows in lines.items():
            melicit.write(f"{file}.csv", "\n".join([rows[0], *(rows[1 + i] for i in order)]) + "\n")
        melicit.write("ids.csv", "id\n" + "\n".join(ids[i] for i in order) + "\n")
        got = melicit("predict", "--classifier", OLD / "weighted_draw.json", "--probs", "two.csv", "--features", "features.csv",
                      "--ids", "ids.csv", "--out", "-").done().out.split()[1:]
        said.append(dict(zip((ids[i] for i in order), got)))
    assert said[0] == said[1] and set(said[0].values()) == {"no", "yes"}
