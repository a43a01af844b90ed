"""The same numbers whatever the classes are called, whichever is positive, and however the files are laid out.

The same 300 training and 200 test rows are written 40 times: under other labels (so that their sorted order differs), as
CSV, NPY or LIBSVM, with the columns in another order. Files in between, metrics and pools change their layout too. What
train, predict, score, apply, optimise, rank and elicit say is compared class by class with plain NumPy and with the first run."""

import numpy
import pytest
from classes import layout, metric_text
from conftest import SANITIZED

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

RUNS = 8 if SANITIZED else 40
TRAIN, TEST = 300, 200


def rows(k):
    """Features and true classes 0 .. k - 1; class i is called "ABC"[i] here, whatever the files call it."""
    rng = numpy.random.default_rng(100 + k)
    y = rng.integers(0, k, TRAIN + TEST)
    x = numpy.column_stack([1.2 * (y == i) + rng.normal(size=len(y)) for i in range(k)] + [rng.normal(size=len(y))])
    return x.round(3), y


def write_table(path, x, labels, order, kind, label_at, texts=False):
    """The table with features in this order; returns what the label column is called. texts: labels in quotes."""
    names = [f"x{i}" for i in order]
    if kind == "svm":
        path.write_text("".join(f"{label} " + " ".join(f"{j + 1}:{row[i]!r}" for j, i in enumerate(order)) + "\n"
                                for label, row in zip(labels, x.tolist())))
        return "label"
    if kind == "npy":
        numpy.save(path, numpy.insert(x[:, order], label_at, numpy.array(labels, float), axis=1))
        return f"c{label_at + 1}"
    lines = [names[:label_at] + ["label"] + names[label_at:]]
    for label, row in zip(labels, x.tolist()):
        cells = [repr(row[i]) for i in order]
        lines.append(cells[:label_at] + [f'"{label}"' if texts else label] + cells[label_at:])
    path.write_text("".join(",".join(line) + "\n" for line in lines))
    return "label"


def write_labels(path, labels, texts):
    if path.suffix == ".npy":
        numpy.save(path, numpy.array([label if texts else float(label) for label in labels]))
    else:
        path.write_text("label\n" + "".join(f'"{label}"\n' if texts else f"{label}\n" for label in labels))


def are_numbers(names):
    return all(name.lstrip("-").isdigit() for name in names)


def by_value(names, texts):
    """Names in the order of scikit-learn's classes_; texts: those that look like numbers are texts."""
    return sorted(names, key=float) if are_numbers(names) and not texts else sorted(names)


def read_probabilities(melicit, name, called, texts):
    """Columns in the order A, B, C."""
    if name.endswith(".npy"):
        return melicit.load(name)[:, [by_value(called, texts).index(c) for c in called]]
    header, *cells = melicit.rows(name)
    return numpy.array(cells, float)[:, [header.index(c) for c in called]]


def read_decisions(melicit, name, called, texts):
    """0 for A, 1 for B, 2 for C."""
    if name.endswith(".csv"):
        return numpy.array([called.index(row[0]) for row in melicit.rows(name)[1:]])
    d = melicit.load(name)
    return numpy.array([called.index(str(int(v)) if are_numbers(called) else by_value(called, texts)[int(v)]) for v in d])


class Run:
    """One way of writing everything down."""

    def __init__(self, number, k):
        rng = self.rng = numpy.random.default_rng(number)
        self.k, self.number = k, number
        self.kind = ["csv", "npy", "svm"][number % 3]
        texts = [["10", "9", "2"], ["no", "yes", "maybe"], ["-1", "1", "0"], ["zeta", "alpha", "m u"]]
        names = [t for t in texts if self.kind == "csv" or are_numbers(t)]
        self.called = list(rng.permutation(names[number // 3 % len(names)][:k]))
        self.order = rng.permutation(k + 1)
        self.label_at = int(rng.integers(0, k + 2))
        self.positive = self.called[int(rng.integers(0, 2))] if k == 2 else None
        self.probs, self.decisions = (f"{stem}.{rng.choice(['csv', 'npy'])}" for stem in ("p", "d"))
        numbers = are_numbers(self.called)
        self.texts = self.kind == "csv" and "10" in self.called
        self.labels = f"y.{rng.choice(['csv', 'npy']) if numbers else 'csv'}"
        self.rename = bool(rng.integers(0, 2))  # metrics then speak of A, B, C
        self.spoken = list("ABC"[:k]) if self.rename else self.called
        self.naming = ["--rename", ",".join(f"{c}={s}" for c, s in zip(self.called, self.spoken))] if self.rename else []
        if k == 2 and rng.integers(0, 2):
            self.naming += ["--positive", self.positive]
        elif rng.integers(0, 2):
            self.naming += ["--classes", ",".join(rng.permutation(self.spoken))]

    def metric(self, weight):
        """A file whose classes come in any order; weight[i] is what a right decision about class i counts."""
        order = self.rng.permutation(self.k)
        classes = [self.spoken[i] for i in order]
        if self.k == 2:
            return metric_text("linear", layout("confusion", "binary", 2, classes=classes), a=[weight[order[1]], weight[order[0]]])
        return metric_text("diagonal-linear", layout("confusion", "diagonal", self.k, classes=classes), a=[weight[i] for i in order])

    def pool(self, matrices):
        """Confusion matrices (shares) as a CSV: right decisions, or all entries, or counts; columns in any order."""
        s = self.spoken
        entries = [(i, j) for i in range(self.k) for j in range(self.k)]
        way = self.number % 4
        chosen = [(i, i) for i in range(self.k)] if way == 0 else entries
        chosen = [chosen[i] for i in self.rng.permutation(len(chosen))]
        cell = (lambda v: str(round(v * TEST))) if way == 2 else repr
        header = [s[i] if way == 0 else f"{s[i]}>{s[j]}" for i, j in chosen]
        lines = [["name", *header]] + [[f"m{n}", *(cell(float(m[i, j])) for i, j in chosen)] for n, m in enumerate(matrices)]
        return "".join(",".join(line) + "\n" for line in lines)


def optimise_and_predict(melicit, run, basis, x, truth):
    """What the file of optimise says of the rows has the value that optimise names, by class A, B, C."""
    columns = ("--features", "x.csv") if "x0" in basis else ()
    melicit.write("x.csv", "x0\n" + "".join(f"{int(v > 0)}\n" for v in x[:, 0]))
    out = f"c.{run.rng.choice(['csv', 'npy'])}"
    value = melicit("optimise", "--probs", run.probs, "--labels", run.labels, "--validation-probs", run.probs, "--validation-labels", run.labels,
                    *columns, *(("--validation-features", "x.csv") if columns else ()), *run.naming, "--metric", "t.json", "--basis", basis,
                    "--iterations", 5, "--out", "o.json", "--json").done().json["value"]
    melicit("predict", "--classifier", "o.json", "--probs", run.probs, *columns, "--chances", "--out", out).done()
    chance = read_probabilities(melicit, out, run.called if out.endswith(".npy") else run.spoken, run.texts)
    assert sum(w * chance[truth == c, c].sum() for c, w in enumerate(WEIGHT[run.k])) / TEST == pytest.approx(value, abs=1e-9), (run.number, basis)


WEIGHT = {2: [0.6, 0.8], 3: [0.2, 0.3, 0.5]}


def carry_out(melicit, run):
    """All verbs; what they say, by class A, B, C."""
    k, found = run.k, {}
    x, y = rows(k)
    labels = [run.called[c] for c in y]
    column = write_table(melicit.folder / f"train.{run.kind}", x[:TRAIN], labels[:TRAIN], run.order, run.kind, run.label_at, run.texts)
    write_table(melicit.folder / f"test.{run.kind}", x[TRAIN:], labels[TRAIN:], run.order, run.kind, run.label_at, run.texts)
    write_labels(melicit.folder / run.labels, labels[TRAIN:], run.texts)
    truth = y[TRAIN:]
    positive = ["--positive", run.positive] if run.positive else []
    melicit("train", "--data", f"train.{run.kind}", "--label", column, *positive, "--test-share", 0, "--out", "m.json").done()
    predict = ("predict", "--model", "m.json", "--data", f"test.{run.kind}", "--out")
    melicit(*predict, run.probs).done()
    melicit(*predict, run.decisions, "--decisions").done()
    p, d = read_probabilities(melicit, run.probs, run.called, run.texts), read_decisions(melicit, run.decisions, run.called, run.texts)
    assert numpy.array_equal(d, p.argmax(axis=1))
    found["probabilities"] = p

    weight = WEIGHT[k]
    melicit.write("t.json", run.metric(weight))
    got = melicit("score", "--metric", "t.json", "--labels", run.labels, "--predictions", run.decisions, *run.naming, "--json")
    right = [float(numpy.mean((d == c) & (truth == c))) for c in range(k)]
    assert got.done().json["value"] == pytest.approx(numpy.dot(weight, right), abs=1e-12)

    space = ("--probs", run.probs, "--labels", run.labels, *run.naming)
    classifier = melicit("apply", "--metric", "t.json", "--evidence", "labels", *space, "--out", "c.json", "--json").done().json["classifier"]
    found["best"] = classifier["value"]
    decided = f"e.{run.rng.choice(['csv', 'npy'])}"
    melicit("predict", "--classifier", "c.json", "--probs", run.probs, "--out", decided).done()
    names = run.called if decided.endswith(".npy") else run.spoken
    e = read_decisions(melicit, decided, names, run.texts)
    assert numpy.dot(weight, [numpy.mean((e == c) & (truth == c)) for c in range(k)]) == pytest.approx(classifier["value"], abs=1e-12)
    got = melicit("score", "--metric", "t.json", "--labels", run.labels, "--predictions", decided, *run.naming, "--json")
    assert got.done().json["value"] == pytest.approx(classifier["value"], abs=1e-12)

    for basis in ("default", "default+columns:x0"):  # a file of each kind
        optimise_and_predict(melicit, run, basis, x[TRAIN:], truth)

    count = lambda said: numpy.array([[numpy.mean((truth == i) & (said == j)) for j in range(k)] for i in range(k)])
    pool = [count(said) for said in (d, e, truth, numpy.zeros_like(d), (d + 1) % k)]
    melicit.write("pool.csv", run.pool(pool))
    ranked = melicit("rank", "--metric", "t.json", "--pool", "pool.csv", "--json").done().json["order"]
    want = {f"m{n}": numpy.dot(weight, numpy.diag(m)) for n, m in enumerate(pool)}
    assert [one["name"] for one in ranked][0] == "m2" and len(ranked) == len(pool)
    for one in ranked:
        assert one["value"] == pytest.approx(want[one["name"]], abs=1e-9)
    found["values"] = [want[f"m{n}"] for n in range(len(pool))]

    family = [] if k == 2 else ["--family", "diagonal-linear"]
    tolerance = 0.01 if k == 2 else 0.03
    (melicit.folder / "s.jsonl").unlink(missing_ok=True)
    metric = melicit("elicit", *space, *family, "--oracle", "sim:t.json", "--tolerance", tolerance, "--session", "s.jsonl", "--json").done().json["metric"]
    if run.texts:  # the session file says all about the labels
        again = melicit("elicit", "--session", "s.jsonl", "--oracle", "sim:t.json", "--json").done().json["metric"]
        assert (again["layout"], again["coefficients"]) == (metric["layout"], metric["coefficients"])
    classes, a = metric["layout"]["classes"], metric["coefficients"]["a"]
    by_class = dict(zip(classes, a[::-1] if k == 2 else a))
    found["elicited"] = [by_class[c] for c in run.spoken]
    assert found["elicited"] == pytest.approx(weight, abs=1.5 * tolerance)
    found["order"] = [run.spoken.index(c) for c in classes]
    return found


@pytest.mark.parametrize("k", [2, 3])
def test_same_numbers(melicit, k):
    first, by_order = None, {}
    for number in range(RUNS // 2):
        found = carry_out(melicit, Run(number, k))
        first = first or found
        assert numpy.allclose(found["probabilities"], first["probabilities"], atol=1e-6), number
        assert found["best"] == pytest.approx(first["best"], abs=1e-9), number
        assert found["values"] == pytest.approx(first["values"], abs=1e-9), number
        same = by_order.setdefault(tuple(found["order"]), found["elicited"])
        assert found["elicited"] == pytest.approx(same, abs=1e-6), number
    assert len(by_order) > 1
