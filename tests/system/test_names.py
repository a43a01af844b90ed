"""Classes, columns and options are matched by name, and what cannot be matched is refused."""
import json

import numpy
import pytest
from classes import layout, metric_text, unit

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)


@pytest.fixture
def two(melicit):
    """300 rows: y is "no" or "yes"; p is P(yes)."""
    rng = numpy.random.default_rng(5)
    y = rng.random(300) < 0.3
    p = 1 / (1 + numpy.exp(-(3 * y - 2 + rng.normal(size=300))))
    melicit.write("y.csv", "label\n" + "".join("yes\n" if v else "no\n" for v in y))
    numpy.save(melicit.folder / "p.npy", numpy.column_stack([1 - p, p]))
    numpy.save(melicit.folder / "y01.npy", y.astype(int))
    melicit.write("t.csv", "x,label\n" + "".join(f"{v!r},{'yes' if w else 'no'}\n" for v, w in zip(p.tolist(), y)))
    return p, y


def columns(melicit, name, header, *values):
    melicit.write(name, header + "\n" + "".join(",".join(map(repr, row)) + "\n" for row in zip(*(v.tolist() for v in values))))


def hull(melicit, *words):
    got = melicit("space", *words, "--json").done().json
    return numpy.array(got["vertices"])


# --- names of rows ------------------------------------------------------------------------------------


def write_named(melicit, name, header, names, cells, way):
    """A frame of pandas (no name above its index), R's write.csv (in quotes) and write.table (one cell less in the header)."""
    head = {"pandas": "," + header, "csv": '"",' + header, "table": header.replace(",", "\t")}[way]
    lines = [f'"{n}",{c}' if way != "pandas" else f"{n},{c}" for n, c in zip(names, cells)]
    melicit.write(name, head + "\n" + "".join((line.replace(",", "\t") if way == "table" else line) + "\n" for line in lines))


@pytest.mark.parametrize("way, kind", [("pandas", "texts"), ("pandas", "numbers"), ("csv", "texts"), ("csv", "numbers"), ("table", "texts")])
def test_rows_of_other_orders_are_matched_by_their_names(melicit, way, kind):
    """All files of a command in an order each: the values are those of files in one order without names, and the warnings say so."""
    rng = numpy.random.default_rng(len(way + kind))
    n = 240
    y, g, h = rng.random(n) < 0.4, rng.integers(0, 2, n), rng.integers(0, 2, n)
    p = 1 / (1 + numpy.exp(-(2.5 * y - 1 + 0.5 * g + rng.normal(size=n))))
    called = [f"s{i}" for i in rng.permutation(n)] if kind == "texts" else [str(i) for i in 3 + 2 * rng.permutation(n)]
    cells = {"p": ("no,yes", [f"{1 - v!r},{v!r}" for v in p.tolist()]), "y": ("label", ["yes" if v else "no" for v in y]),
             "d": ("said", ["yes" if v > 0.4 else "no" for v in p]), "g": ("group", ["uv"[v] for v in g]), "h": ("h", [str(v) for v in h])}
    for name, (header, column) in cells.items():
        melicit.write(f"{name}.csv", header + "\n" + "".join(f"{c}\n" for c in column))
        order = rng.permutation(n)
        write_named(melicit, f"n{name}.csv", header, [called[i] for i in order], [column[i] for i in order], way)
    melicit.write("t.json", metric_text("linear", layout("rates", "offdiagonal", 2, ["u", "v"], ["no", "yes"]), "cost", a=[0.1, 0.3, 0.2, 0.4]))
    for verb in (("score", "--named", "accuracy", "--labels", "y", "--predictions", "d", "--groups", "g"),
                 ("rank", "--named", "accuracy", "--labels", "y", "--predictions", "d"),
                 ("apply", "--metric", "t.json", "--probs", "p", "--labels", "y", "--groups", "g", "--out", "c.json"),
                 ("optimise", "--metric", "g-mean", "--iterations", 3, "--basis", "default+columns:h", "--probs", "p", "--labels", "y", "--validation-probs", "p",
                  "--validation-labels", "y", "--validation-groups", "g", "--features", "h", "--validation-features", "h")):
        plain, named = (melicit(*(f"{before}{w}.csv" if w in cells else w for w in verb), "--json").done().json for before in ("", "n"))
        for one in (plain, named):
            one["all"] = [v["value"] for v in one.get("order", [])] + [one[k] for k in ("value", "validation", "rule") if k in one and not isinstance(one[k], (str, dict))]
        assert named["all"] == pytest.approx(plain["all"], abs=1e-9) and plain["all"], verb
        assert [w for w in named["warnings"] if "in another order" in w and "matched by their names" in w], verb
    decided = []
    for before in ("", "n"):
        melicit("predict", "--classifier", "c.json", "--probs", f"{before}p.csv", "--groups", f"{before}g.csv", "--chances", "--out", "e.npy").done()
        decided.append(melicit.load("e.npy"))
    names = [row[0] for row in melicit.rows("np.csv")[1:]] if way != "table" else [line.split()[0].strip('"') for line in (melicit.folder / "np.csv").read_text().split("\n")[1:-1]]
    assert numpy.allclose(decided[0][[called.index(name) for name in names]], decided[1])  # in the order of the probabilities


def test_rows_of_other_names_are_refused(melicit):
    def write(name, names, header="label", cell="ab"):
        melicit.write(f"{name}.csv", f",{header}\n" + "".join(f"{v},{cell[i % 2]}\n" for i, v in enumerate(names)))

    score = ("score", "--named", "accuracy", "--labels", "y.csv", "--predictions", "d.csv")
    write("y", range(400, 640))
    for names, said in ((range(401, 641), "row 241 has a name that no row of y.csv has"), ([*range(639, 401, -1), 401, 401], "rows 240 and 241 have the same name"),
                        (range(240), "row 2 has a name that no row of y.csv has")):
        write("d", names)
        melicit(*score).refused(3, "d.csv: " + said, "index=False")
    for labels, decisions in ((range(1, 241), range(240)),  # each counts its rows: names that say nothing
                              ([*range(120)] * 2, [*range(120)] * 2)):  # two frames, one below the other, in both files
        write("y", labels)
        write("d", decisions)
        assert melicit(*score, "--json").done().json["value"] == 1


# --- NPY files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [("no", "yes"), ("0", "1"), ("1", "2"), ("9", "10"), ("0.5", "1.5")])
@pytest.mark.parametrize("positive", [0, 1])
def test_decisions_in_npy_score_as_they_should(melicit, names, positive):
    rng = numpy.random.default_rng(2)
    x, y = rng.normal(size=400), rng.integers(0, 2, 400)
    x = numpy.round(x + 3 * y, 3)
    melicit.write("t.csv", "x,label\n" + "".join(f"{v},{names[c]}\n" for v, c in zip(x, y)))
    melicit.write("y.csv", "label\n" + "".join(f"{names[c]}\n" for c in y))
    melicit("train", "--data", "t.csv", "--positive", names[positive], "--test-share", 0, "--out", "m.json").done()
    accuracy = []
    for out in ("d.npy", "d.csv"):
        melicit("predict", "--model", "m.json", "--data", "t.csv", "--decisions", "--out", out).done()
        got = melicit("score", "--named", "accuracy", "--labels", "y.csv", "--predictions", out, "--json").done().json
        accuracy.append(got["scores"][0]["accuracy"])
    assert accuracy[0] == accuracy[1] > 0.9
    d = melicit.load("d.npy")
    if names[0] == "no":  # places in sorted order
        assert d.dtype == numpy.int64 and set(d) == {0, 1}
    else:  # what scikit-learn's predict would give
        assert set(d) == {float(name) for name in names} and d.dtype == (float if "." in names[0] else numpy.int64)
    melicit("predict", "--model", "m.json", "--data", "t.csv", "--out", "p.npy").done()
    assert numpy.mean(melicit.load("p.npy").argmax(axis=1) == y) > 0.9  # columns in sorted order


def test_decisions_in_npy_between_texts_renamed_to_numbers(melicit):
    rng = numpy.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    p = 1 / (1 + numpy.exp(-(3 * y - 1.5 + rng.normal(size=300))))
    melicit.write("y.csv", "label\n" + "".join("sick\n" if v else "well\n" for v in y))
    numpy.save(melicit.folder / "p.npy", numpy.column_stack([p, 1 - p]))
    melicit.write("m.json", metric_text("linear", layout("confusion", "binary", 2, classes="01"), a=[0.8, 0.6]))
    words = ("--metric", "m.json", "--labels", "y.csv", "--rename", "well=0,sick=1")
    melicit("apply", *words, "--probs", "p.npy", "--out", "c.json").done()
    accuracy = []
    for out in ("d.npy", "d.csv"):
        melicit("predict", "--classifier", "c.json", "--probs", "p.npy", "--out", out).done()
        got = melicit("score", *words, "--named", "accuracy", "--predictions", out, "--json").done().json
        accuracy.append(got["scores"][0]["accuracy"])
    assert accuracy[0] == accuracy[1] > 0.9


@pytest.mark.parametrize("texts", [True, False])
def test_classes_that_look_like_numbers_are_in_the_order_of_their_type(melicit, texts):
    """'10' comes before '2' among texts, as in scikit-learn's classes_, and after it among numbers."""
    rng = numpy.random.default_rng(4)
    y = rng.permutation(numpy.repeat(numpy.arange(12), 25))
    order = sorted(range(12), key=str) if texts else range(12)
    p = rng.dirichlet(numpy.ones(12), 300) + 3 * numpy.eye(12)[y] * (rng.random(300) < 0.7)[:, None]
    p /= p.sum(axis=1, keepdims=True)
    accuracy = numpy.mean(p.argmax(axis=1) == y)
    numpy.save(melicit.folder / "p.npy", p[:, order])
    numpy.save(melicit.folder / "y.npy", y.astype(str) if texts else y)
    melicit.write("bare.csv", "label\n" + "".join(f"{v}\n" for v in y))
    melicit.write("quoted.csv", '"label"\n' + "".join(f'"{v}"\n' for v in y))
    melicit.write("both.csv", '"x","label"\n' + "".join(f'{v / 7},"{v}"\n' if texts else f'"{v / 7}","{v}"\n' for v in y))
    labels = (("y.npy",), ("bare.csv", "--read", "column=label:text" if texts else "column=label:number"), ("both.csv",),
              *([("quoted.csv",)] if texts else [("quoted.csv", "--read", "column=label:number"), ("bare.csv",)]))
    for given in labels:
        words = ("apply", "--named", "accuracy", "--evidence", "model", "--probs", "p.npy", "--labels", *given, "--json")
        assert melicit(*words, "--out", "c.json").done().json["by_labels"] == pytest.approx(accuracy, abs=1e-12), given
        melicit("predict", "--classifier", "c.json", "--probs", "p.npy", "--out", "d.npy").done()
        assert numpy.mean(melicit.load("d.npy") == y) == pytest.approx(accuracy, abs=1e-12)
        melicit("predict", "--classifier", "c.json", "--probs", "p.npy", "--chances", "--out", "e.npy").done()
        assert numpy.array_equal(melicit.load("e.npy").argmax(axis=1), p[:, order].argmax(axis=1))
    got = melicit("score", "--named", "accuracy", "--labels", "y.npy", "--predictions", "d.npy", "--json").done().json
    assert got["value"] == pytest.approx(accuracy, abs=1e-12)


def test_models_of_classes_that_look_like_numbers(melicit):
    rng = numpy.random.default_rng(5)
    y = rng.permutation(numpy.repeat([9, 10, 100], 60))
    columns = ("train", "--test-share", 0, "--out", "m.json", "--data")
    melicit.write("t.csv", "x,z,label\n" + "".join(f"{(v == 9) + e},{(v == 10) + f},{v}\n" for v, e, f in zip(y, rng.normal(0, 0.1, 180), rng.normal(0, 0.1, 180))))
    for words, order in (((), [9, 10, 100]), (("--read", "column=label:text"), [10, 100, 9])):
        melicit(*columns, "t.csv", *words).done()
        melicit("predict", "--model", "m.json", "--data", "t.csv", "--out", "p.npy").done()
        assert numpy.mean(numpy.array(order)[melicit.load("p.npy").argmax(axis=1)] == y) > 0.95


@pytest.mark.parametrize("kind", [str, int])
def test_optimised_classifiers_of_classes_that_look_like_numbers(melicit, kind):
    """The file remembers that '10' and '2' are texts: the columns of new probabilities are in that order, and decisions are right."""
    rng = numpy.random.default_rng(6)
    y = rng.permutation(numpy.repeat([2, 10], 150))
    sure = 1 / (1 + numpy.exp(-rng.normal(1.2, 1.2, 300)))
    of = {2: numpy.where(y == 2, sure, 1 - sure), 10: numpy.where(y == 10, sure, 1 - sure)}
    p = numpy.column_stack([of[10], of[2]] if kind is str else [of[2], of[10]])
    numpy.save(melicit.folder / "p.npy", p)
    numpy.save(melicit.folder / "y.npy", y.astype(kind))
    melicit("optimise", "--metric", "accuracy", "--known", "--iterations", 3, "--probs", "p.npy", "--labels", "y.npy", "--validation-probs", "p.npy",
            "--validation-labels", "y.npy", "--out", "c.json").done()
    melicit("predict", "--classifier", "c.json", "--probs", "p.npy", "--out", "d.csv").done()
    decided = numpy.array((melicit.folder / "d.csv").read_text().split()[1:]).astype(int)
    assert numpy.mean(decided == y) > 0.75


def test_decisions_that_are_no_classes_are_refused(melicit):
    labels = [1, 2, 3] * 20
    numpy.save(melicit.folder / "y.npy", numpy.array(labels))
    numpy.save(melicit.folder / "d.npy", numpy.array(labels) - 1)
    melicit.write("m.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3, classes="123"), a=[0.2, 0.3, 0.5]))
    words = ("score", "--metric", "m.json", "--labels")
    melicit(*words, "y.npy", "--predictions", "d.npy").refused(3, "d.npy", '"0"', '"1"', '"2" and "3"')
    melicit.write("y.csv", "label\n" + "no\nyes\n" * 30)
    numpy.save(melicit.folder / "d.npy", numpy.array([0, 2] * 30))
    melicit("score", "--named", "f1", "--labels", "y.csv", "--predictions", "d.npy").refused(3, "d.npy", "row 2", '"no" and "yes"', "0 to 1")
    melicit.write("d.csv", "decision\n" + "0\n1\n" * 30)  # a CSV has names
    melicit("score", "--named", "f1", "--labels", "y.csv", "--predictions", "d.csv").refused(3, "d.csv", '"no" and "yes"')


def test_decisions_between_more_classes_than_the_labels_have(melicit):
    rng = numpy.random.default_rng(8)
    y, d = rng.choice(["a", "c"], 200), rng.choice(["a", "b"], 200)
    melicit.write("y.csv", "label\n" + "".join(f"{v}\n" for v in y))
    melicit.write("d.csv", "decision\n" + "".join(f"{v}\n" for v in d))
    numpy.save(melicit.folder / "text.npy", d)
    numpy.save(melicit.folder / "code.npy", (d == "b").astype(int))
    numpy.save(melicit.folder / "third.npy", 2 * (d == "b").astype(int))
    score = ("score", "--named", "accuracy", "--labels", "y.csv")
    for file in ("d.csv", "text.npy"):
        melicit(*score, "--predictions", file).refused(3, file, '"b"', '"a" and "c"')
    melicit(*score, "--predictions", "third.npy").refused(3, "third.npy", "--classes")
    said = "code.npy: 0 is a, 1 is c; where the labels lack a class, --classes gives all of them"
    assert melicit(*score, "--predictions", "code.npy", "--json").done().json["notes"] == [said]
    for file in ("d.csv", "text.npy", "code.npy"):
        for classes in ("a,b,c", "c,a,b"):
            got = melicit(*score, "--classes", classes, "--predictions", file, "--json").done().json
            assert got["value"] == pytest.approx(numpy.mean(y == d)) and "notes" not in got
    melicit(*score, "--classes", "a,b,c", "--positive", "a", "--predictions", "d.csv").refused(2, "--positive a", "3 classes")


def test_probabilities_in_npy_are_in_sorted_order(melicit, two):
    p, y = two
    base = hull(melicit, "--probs", "p.npy", "--labels", "y.csv")
    turned = hull(melicit, "--probs", "p.npy", "--labels", "y.csv", "--positive", "no")
    assert numpy.isclose(base[:, 0].max(), y.mean()) and numpy.isclose(turned[:, 0].max(), 1 - y.mean())
    # the best point for accuracy is the same classifier
    assert numpy.isclose(base.sum(axis=1).max(), turned.sum(axis=1).max(), atol=1e-12) and base.sum(axis=1).max() > 0.85
    numpy.save(melicit.folder / "q.npy", numpy.column_stack([p, 1 - p]))
    assert numpy.array_equal(hull(melicit, "--probs", "q.npy", "--labels", "y.csv", "--read", "columns=yes,no"), base)
    words = ("space", "--probs", "q.npy", "--labels", "y.csv", "--read")
    melicit(*words, "columns=yes,maybe").refused(3, '"maybe"', '"no"')
    melicit(*words, "columns=yes").refused(2, "columns=yes")
    columns(melicit, "p.csv", "no,yes", 1 - p, p)
    melicit("space", "--probs", "p.csv", "--labels", "y.csv", "--read", "columns=yes,no").refused(2, "columns", "p.csv")


def test_one_column_is_the_class_that_it_is_named_after(melicit, two):
    p, y = two
    base = hull(melicit, "--probs", "p.npy", "--labels", "y.csv")
    turned = hull(melicit, "--probs", "p.npy", "--labels", "y.csv", "--positive", "no")
    numpy.save(melicit.folder / "one.npy", p)
    for header, value, positive, want in (("yes", p, [], base), ("no", 1 - p, [], base), ("score", p, [], base),
                                          ("yes", p, ["--positive", "no"], turned), ("no", 1 - p, ["--positive", "no"], turned),
                                          ("score", 1 - p, ["--positive", "no"], turned)):
        columns(melicit, "one.csv", header, value)
        assert numpy.allclose(hull(melicit, "--probs", "one.csv", "--labels", "y.csv", *positive), want, atol=1e-12), header
    assert numpy.allclose(hull(melicit, "--probs", "one.npy", "--labels", "y.csv", "--read", "columns=yes", "--positive", "no"), turned)


def test_classifiers_remember_what_files_call_their_classes(melicit, two):
    p, y = two
    melicit.write("t.json", metric_text("linear", layout("confusion", "binary", 2, classes=["sick", "healthy"]), a=[0.6, 0.8]))
    words = ("apply", "--metric", "t.json", "--evidence", "labels", "--probs", "p.npy", "--labels", "y.csv", "--rename", "yes=sick,no=healthy")
    melicit(*words, "--out", "c.json").done()
    classifier = json.loads((melicit.folder / "c.json").read_text())
    # in the order of the metric
    assert classifier["classes"] == ["sick", "healthy"] and classifier["labels"] == ["yes", "no"] and classifier["positive"] == "healthy"
    melicit("predict", "--classifier", "c.json", "--probs", "p.npy", "--out", "d.npy").done()
    d = melicit.load("d.npy")
    assert 0.6 * numpy.mean((d == 0) & ~y) + 0.8 * numpy.mean((d == 1) & y) == pytest.approx(classifier["value"], abs=1e-12)
    columns(melicit, "p.csv", "sick,healthy", p, 1 - p)
    melicit("predict", "--classifier", "c.json", "--probs", "p.csv", "--out", "e.npy").done()
    assert numpy.array_equal(melicit.load("e.npy"), d)
    del classifier["labels"]
    melicit.write("old.json", json.dumps(classifier))
    predict = ("predict", "--classifier", "old.json", "--probs", "p.npy", "--out", "d.csv")
    melicit(*predict).refused(2, "old.json", "columns")
    melicit(*predict, "--read", "columns=healthy,sick").done()


# --- what classes are called --------------------------------------------------------------------------


def test_classes_say_the_order_or_rename(melicit, two):
    p, y = two
    words = ("space", "--probs", "p.npy", "--labels", "y.csv")
    base = hull(melicit, *words[1:])
    turned = melicit(*words, "--classes", "yes,no", "--json").done().json
    assert turned["classes"] == ["yes", "no"] and "notes" not in turned
    assert numpy.isclose(max(v[0] for v in turned["vertices"]), 1 - y.mean())  # "no" is positive, nothing is renamed
    renamed = melicit(*words, "--classes", "healthy,cancer", "--json").done().json
    assert renamed["classes"] == ["healthy", "cancer"] and numpy.array_equal(renamed["vertices"], base)
    assert renamed["notes"] == ["no is healthy, yes is cancer"]
    assert melicit(*words, "--classes", "healthy,cancer").done().err == "melicit: no is healthy, yes is cancer\n"
    assert melicit(*words, "--classes", "healthy,cancer", "--quiet").done().err == ""
    by_number = melicit("space", "--probs", "p.npy", "--labels", "y01.npy", "--classes", "healthy,cancer").done()
    assert by_number.err == "melicit: 0 is healthy, 1 is cancer\n"
    explicit = melicit(*words, "--rename", "yes=cancer,no=healthy", "--positive", "healthy", "--json").done().json
    assert explicit["classes"] == ["cancer", "healthy"] and explicit["notes"] == ["no is healthy, yes is cancer"]
    assert numpy.array_equal(explicit["vertices"], turned["vertices"])
    for verb in (("score", "--named", "f1", "--predictions", "y.csv"), ("rank", "--named", "f1", "--predictions", "y.csv")):
        got = melicit(*verb, "--labels", "y.csv", "--classes", "healthy,cancer", "--json").done().json
        assert got["notes"] == ["no is healthy, yes is cancer"]
        assert melicit(*verb, "--labels", "y.csv", "--classes", "healthy,cancer").done().err == "melicit: no is healthy, yes is cancer\n"
    first = melicit(*words, "--classes", "healthy,cancer", "--positive", "no", "--json").done().json
    assert first["classes"] == ["cancer", "healthy"] and numpy.array_equal(first["vertices"], turned["vertices"])


@pytest.mark.parametrize("words, code, says", [
    (("--classes", "no,cancer"), 2, ['"no" is a class', '"cancer" is not', "--rename"]),
    (("--classes", "No,cancer"), 2, ['no class "No"', 'did you mean "no"?', "--rename no=No"]),
    (("--classes", "Yes,No"), 2, ['no class "Yes"', 'did you mean "yes"?', "--rename yes=Yes"]),
    (("--classes", "no"), 2, ["--classes no", "2 classes"]),
    (("--classes", "no,no"), 2, ['"no" is given twice']),
    (("--rename", "maybe=x"), 3, ['"maybe"', '"no" and "yes"']),
    (("--rename", "no=yes"), 2, ['"yes" is given twice']),
    (("--rename", "no"), 2, ["old=new"]),
    (("--rename", "no=a,no=b"), 2, ["twice"]),
    (("--rename", "no=a", "--classes", "x,y"), 2, ["--rename", '"x"']),
    (("--rename", "no=yes,yes=no", "--positive", "no"), 2, ["--positive no"]),
    (("--classes", "yes,no", "--positive", "yes"), 2, ["--positive yes", '"no"']),
    (("--positive", "maybe"), 3, ["maybe", '"no" and "yes"']),
])
def test_naming_that_is_refused(melicit, two, words, code, says):
    for data in (("--probs", "p.npy", "--labels", "y.csv"), ("--data", "t.csv")):
        melicit("space", *data, *words).refused(code, *says)


def test_sessions_keep_names(melicit, two):
    melicit.write("t.json", metric_text("linear", layout("confusion", "binary", 2, classes=["sick", "healthy"]), a=[0.6, 0.8]))
    words = ("elicit", "--session", "s.jsonl", "--oracle", "sim:t.json")
    space = ("--data", "t.csv", "--rename", "no=healthy,yes=sick", "--positive", "no")
    first = melicit(*words, *space, "--tolerance", 0.01, "--max-questions", 3, "--json")
    assert first.code in (0, 5), first.err
    got = melicit(*words, "--max-questions", 50, "--json").done().json["metric"]
    assert got["layout"]["classes"] == ["sick", "healthy"]
    assert got["coefficients"]["a"] == pytest.approx([0.6, 0.8], abs=0.02)  # (TP, TN) as in t.json: healthy is positive
    header = json.loads((melicit.folder / "s.jsonl").read_text().splitlines()[0])
    assert header["space"]["rename"] == "no=healthy,yes=sick"


def test_metrics_are_matched_by_name(melicit, two):
    p, y = two
    values = []
    for classes, a in ((["no", "yes"], [0.8, 0.6]), (["yes", "no"], [0.6, 0.8]), (["healthy", "sick"], [0.8, 0.6])):
        melicit.write("t.json", metric_text("linear", layout("confusion", "binary", 2, classes=classes), a=a))
        words = ("apply", "--metric", "t.json", "--probs", "p.npy", "--labels", "y.csv", "--json")
        if classes[0] == "healthy":
            melicit(*words[:-1]).refused(3, "t.json", '"healthy" and "sick"', '"no" and "yes"', "--rename no=healthy,yes=sick")
            words += ("--classes", "healthy,sick")
        values.append(melicit(*words).done().json["classifier"]["value"])
    assert values == pytest.approx([values[0]] * 3, abs=1e-12)  # sums in another order
    melicit.write("c.json", metric_text("linear", layout("confusion", "binary", 2, classes=["sick", "healthy"]), a=[0.6, 0.8]))
    melicit.write("pool.csv", "name,sick,healthy\na,0.2,0.5\nb,0.25,0.4\n")
    got = melicit("rank", "--metric", "t.json", "--pool", "pool.csv", "--against", "c.json", "--json").done().json
    assert got["tau"] == 1 and [one["value"] == pytest.approx(one["against_value"]) for one in got["order"]] == [True, True]
    assert got["order"][0]["value"] == pytest.approx(0.8 * 0.2 + 0.6 * 0.5)
    melicit("score", "--metric", "t.json", "--labels", "y.csv", "--predictions", "y.csv").refused(3, "--rename")
    for naming in (("--positive", "yes"), ("--rename", "yes=sick,no=healthy"), ("--classes", "healthy,sick")):
        got = melicit("score", "--metric", "t.json", "--labels", "y.csv", "--predictions", "y.csv", *naming, "--json").done().json
        assert got["value"] == pytest.approx(0.8 * y.mean() + 0.6 * (1 - y.mean()))


def test_populations_and_balls_match_metrics_by_name(melicit):
    def plane(name, classes, a):
        melicit.write(name, metric_text("linear", layout("confusion", "binary", 2, classes=classes), a=a))

    def applied(name):
        got = melicit("apply", "--population", "logistic:a=5,b=0.5", "--metric", name, "--json").done().json
        return got["classifier"]["statistics"], got["classifier"]["value"], got.get("notes", [])

    plane("usual.json", ["negative", "positive"], [0.6, 0.8])
    plane("turned.json", ["positive", "negative"], [0.8, 0.6])
    plane("other.json", ["well", "sick"], [0.6, 0.8])
    plane("mixed.json", ["positive", "sick"], [0.6, 0.8])
    point, value, notes = applied("usual.json")
    assert notes == [] and applied("turned.json") == (point, value, [])
    assert applied("other.json")[:2] == (point, value)
    assert applied("other.json")[2] == ['other.json: the classes "well" and "sick" of the metric stand for "negative" and "positive", in this order']
    melicit("apply", "--population", "logistic:a=5,b=0.5", "--metric", "mixed.json").refused(3, "mixed.json", '"positive" and "sick"', "--rename")


@pytest.mark.parametrize("kind, space", [("confusion", ("--population", "softmax:1,3,5")), ("rates", ("--ball", "3", "--radius", "0.2"))])
def test_elicitation_in_populations_and_balls_matches_by_name(melicit, kind, space):
    for classes, a in (("012", [0.2, 0.3, 0.5]), ("210", [0.5, 0.3, 0.2]), ("201", [0.5, 0.2, 0.3])):
        melicit.write("m.json", metric_text("diagonal-linear", layout(kind, "diagonal", 3, classes=classes), a=unit(a)))
        found = melicit("elicit", "--oracle", "sim:m.json", "--family", "diagonal-linear", *space, "--json").done().json
        assert found["metric"]["layout"]["classes"] == ["0", "1", "2"] and "notes" not in found
        assert found["metric"]["coefficients"]["a"] == pytest.approx([0.2, 0.3, 0.5], abs=0.05)
    for classes, says in ((["0", "1", "b"], "--rename"), (["0", "1", "10"], "--rename")):
        melicit.write("m.json", metric_text("diagonal-linear", layout(kind, "diagonal", 3, classes=classes), a=unit([1, 2, 3])))
        melicit("elicit", "--oracle", "sim:m.json", "--family", "diagonal-linear", *space).refused(3, "m.json", says)


def test_groups_of_balls_are_matched_by_name(melicit):
    words = ("elicit", "--oracle", "sim:m.json", "--family", "fair-linear", "--ball", "2,2", "--radius", "0.2", "--json")
    # of the first group's prevalence: only by name is it the same metric
    share = [[0.3, 0.6], [0.7, 0.4]]
    melicit.write("shares.csv", "0,1\n0.3,0.6\n0.7,0.4\n")
    found = []
    for groups in (["1", "2"], ["2", "1"], ["a", "b"]):
        prevalence = share if groups[0] != "2" else share[::-1]
        shape = layout("rates", "offdiagonal", 2, groups)
        melicit.write("m.json", metric_text("fair-linear", shape, "cost", a=unit([1, 2]), b={"1-2": unit([2, 1])}, prevalence=prevalence, **{"lambda": 0.4}))
        found.append(melicit(*words, "--prevalence", "shares.csv").done().json)
        assert found[-1]["metric"]["layout"]["groups"] == ["1", "2"]
    assert found[0]["metric"] == found[1]["metric"] == found[2]["metric"]
    assert "notes" not in found[1] and found[2]["notes"] == ['m.json: the groups "a" and "b" of the metric stand for "1" and "2", in this order']
    melicit.write("m.json", metric_text("fair-linear", layout("rates", "offdiagonal", 2, ["1", "b"]), "cost", a=unit([1, 2]),
                                        b={"1-2": unit([2, 1])}, prevalence=share, **{"lambda": 0.4}))
    melicit(*words[:-1], "--prevalence", "shares.csv").refused(3, "m.json", "groups", '"b"')


def test_two_classes_come_in_the_order_of_the_metric(melicit, two):
    melicit.write("m.json", metric_text("linear", layout("confusion", "binary", 2, classes=["yes", "no"]), a=[0.6, 0.8]))
    rows = ("--probs", "p.npy", "--labels", "y.csv")
    apply = ("apply", "--metric", "m.json", *rows, "--json")
    turned = melicit(*apply).done().json["classifier"]
    assert turned["positive"] == "no" and turned["classes"] == ["yes", "no"]
    usual = melicit(*apply, "--positive", "yes").done().json["classifier"]
    assert usual["positive"] == "yes" and usual["classes"] == ["no", "yes"] and usual["value"] == pytest.approx(turned["value"], abs=1e-12)
    elicit = ("elicit", "--oracle", "sim:m.json", "--session", "s.jsonl", "--json")
    found = melicit(*elicit, *rows, "--max-questions", 3).done().json
    assert found["metric"]["layout"]["classes"] == ["yes", "no"]
    resumed = melicit(*elicit).done().json  # the file says it
    assert resumed["metric"]["layout"]["classes"] == ["yes", "no"]
    assert resumed["metric"]["coefficients"]["a"] == pytest.approx([0.6, 0.8], abs=0.05)


def test_groups_are_matched_by_name(melicit, two):
    p, y = two
    g = numpy.arange(300) % 3 == 0
    melicit.write("g.csv", "group\n" + "".join("u\n" if v else "v\n" for v in g))
    share = [[float(numpy.mean(g[y == c])) for c in (0, 1)], [float(numpy.mean(~g[y == c])) for c in (0, 1)]]
    scores = []
    for groups, order in ((["u", "v"], (0, 1)), (["v", "u"], (1, 0))):
        shape = layout("rates", "offdiagonal", 2, groups, ["no", "yes"])
        text = metric_text("linear", shape, "cost", a=numpy.concatenate([[[0.1, 0.2], [0.3, 0.9]][i] for i in order]).tolist())
        melicit.write("t.json", text)
        words = ("--probs", "p.npy", "--labels", "y.csv", "--groups", "g.csv", "--metric", "t.json", "--json")
        scores.append(melicit("apply", *words).done().json["classifier"]["value"])
    assert scores[0] == pytest.approx(scores[1], abs=1e-12)
    melicit.write("t.json", metric_text("linear", layout("rates", "offdiagonal", 2, ["a", "b"], ["no", "yes"]), "cost", a=[1, 1, 1, 1]))
    melicit("apply", *words[:-1]).refused(3, '"a" and "b"', '"u" and "v"')


def test_prevalence_file_goes_by_class_names(melicit):
    told = []
    for text in ("x,y\n0.3,0.6\n0.7,0.4\n", "y,x\n0.6,0.3\n0.4,0.7\n", "group,y,x\n2,0.4,0.7\n1,0.6,0.3\n"):
        melicit.write("v.csv", text)
        words = ("--ball", "2,2", "--radius", 0.2, "--prevalence", "v.csv", "--classes", "x,y", "--family", "fair-linear")
        melicit.write("t.json", metric_text("fair-linear", layout("rates", "offdiagonal", 2, "12", "xy"), "cost", a=[0.6, 0.8],
                                            b={"1-2": [0.8, 0.6]}, **{"lambda": 0.4}, prevalence=[[0.3, 0.6], [0.7, 0.4]]))
        told.append(melicit("elicit", *words, "--oracle", "sim:t.json", "--max-questions", 5, "--json").json["metric"]["coefficients"])
    assert told[0]["prevalence"] == [[0.3, 0.6], [0.7, 0.4]] and told[0] == told[1] == told[2]
    melicit.write("v.csv", "x,z\n0.3,0.6\n0.7,0.4\n")
    melicit("space", *words[:8]).refused(3, "v.csv", '"z"', '"y"')


# --- pools --------------------------------------------------------------------------------------------

TP, TN, FP, FN = 0.25, 0.55, 0.15, 0.05
PI = TP + FN
BINARY = metric_text("linear", layout("confusion", "binary", 2, classes=["no", "yes"]), a=[0.6, 0.8])
RATES = metric_text("linear", layout("rates", "offdiagonal", 2, classes=["no", "yes"]), "cost", a=[0.6, 0.8])


@pytest.mark.parametrize("header, cells, words", [
    ("tp,tn", (TP, TN), ()),
    ("TN,Tp", (TN, TP), ()),
    ("tn,fn,prevalence", (TN, FN, PI), ()),
    ("fp,fn", (FP, FN), ("--shares", PI)),
    ("tp,fp,fn", (TP, FP, FN), ()),
    ("fn,fp,tn,tp", (FN, FP, TN, TP), ()),
    ("tp,tn,fp,fn", (250, 550, 150, 50), ()),
    ("tp,tn,n", (250, 550, 1000), ()),
    ("tpr,tnr", (TP / PI, TN / (1 - PI)), ("--shares", PI)),
    ("fpr,fnr,prevalence", (FP / (1 - PI), FN / PI, PI), ()),
    ("recall,specificity", (TP / PI, TN / (1 - PI)), ("--shares", PI)),
    ("sensitivity,fpr", (TP / PI, FP / (1 - PI)), ("--shares", PI)),
    ("precision,recall", (TP / (TP + FP), TP / PI), ("--shares", PI)),
    ("precision,recall,prevalence", (0.625, 0.8333, PI), ()),
    ("ppv,npv,prevalence", (TP / (TP + FP), TN / (TN + FN), PI), ()),
    ("accuracy,recall,prevalence", (TP + TN, TP / PI, PI), ()),
    ("F1,precision", (2 * TP / (2 * TP + FP + FN), TP / (TP + FP)), ("--shares", PI)),
    ("no,yes", (TN, TP), ()),
    ("yes,no", (TP, TN), ()),
    ("no>no,no>yes,yes>no,yes>yes", (TN, FP, FN, TP), ()),
    ("yes>yes,yes>no,no>yes,no>no", (250, 50, 150, 550), ()),
    ("yes>yes,no>no", (TP, TN), ()),
])
def test_columns_of_pools(melicit, header, cells, words):
    melicit.write("m.json", BINARY)
    melicit.write("r.json", RATES)
    melicit.write("pool.csv", f"name,{header}\nx," + ",".join(map(str, cells)) + "\n")
    tolerance = 1e-12 if "precision,recall,prev" not in header else 1e-4
    for verb, option in (("rank", "--pool"), ("score", "--statistics")):
        got = melicit(verb, "--metric", "m.json", option, "pool.csv", *words, "--json").done().json
        got = got["order"][0] if verb == "rank" else got["scores"][0]
        assert got["value"] == pytest.approx(0.6 * TP + 0.8 * TN, abs=tolerance), verb
    if PI in words or "prevalence" in header or len(cells) == 4:
        got = melicit("score", "--named", "f1", "--named", "mcc", "--statistics", "pool.csv", *words, "--json") \
            if "no" not in header else melicit("score", "--metric", "m.json", "--named", "f1", "--statistics", "pool.csv", *words, "--json")
        assert got.done().json["scores"][0]["f1"] == pytest.approx(2 * TP / (2 * TP + FP + FN), abs=tolerance)
        if header not in ("no>no,no>yes,yes>no,yes>yes",):  # those would be rates here
            got = melicit("rank", "--metric", "r.json", "--pool", "pool.csv", *words, "--json").done().json["order"][0]
            assert got["value"] == pytest.approx(0.6 * FP / (1 - PI) + 0.8 * FN / PI, abs=10 * tolerance)


@pytest.mark.parametrize("header, cells, says", [
    ("tp,fp", (TP, FP), ["do not determine", "shares=P"]),
    ("tp,tn", (250, 550), ["counts", "column n"]),
    ("tp,tn,fp,fn", (TP, TN, FP, 0.2), ["classifier 1", "contradict"]),
    ("tp,tn,fp,fn,prevalence", (TP, TN, FP, FN, 0.5), ["contradict"]),
    ("tp,tn,n", (250, 550.5, 1000), ["550.5", "tn"]),
    ("tp,tn,fp,fn,n", (250, 550, 150, 50, 900), ["1000", "900"]),
    ("tpr,tnr", (0.8, 0.9), ["do not determine", "shares=P"]),
    ("tp,tn,speed", (TP, TN, 3), ['"speed"']),
    ("tp,tnx", (TP, TN), ['"tnx"', 'did you mean "tn"']),
    ("tp,TP", (TP, TN), ["alike"]),
    ("maybe,no", (TP, TN), ['"maybe"', '"no"']),
    ("precision,recall,prevalence", (0.1, 0.9, 0.5), ["no classifier"]),
    ("tp,tn,fp,fn,accuracy", (TP, TN, FP, FN, 0.9), ["contradict"]),
])
def test_pools_that_are_refused(melicit, header, cells, says):
    melicit.write("m.json", BINARY)
    melicit.write("pool.csv", f"name,{header}\nx," + ",".join(map(str, cells)) + "\n")
    melicit("rank", "--metric", "m.json", "--pool", "pool.csv").refused(3, "pool.csv", *says)
    melicit("score", "--metric", "m.json", "--statistics", "pool.csv").refused(3, "pool.csv", *says)


def test_pools_of_three_classes(melicit):
    rng = numpy.random.default_rng(1)
    counts = rng.integers(1, 50, (4, 3, 3))
    shares = counts / counts.sum(axis=(1, 2), keepdims=True)
    rates = counts / counts.sum(axis=2, keepdims=True)
    off = [(i, j) for i in range(3) for j in range(3) if i != j]
    weights = numpy.arange(1.0, 7.0)
    for kind, wanted in (("confusion", shares), ("rates", rates)):
        melicit.write("m.json", metric_text("linear", layout(kind, "offdiagonal", 3, classes="abc"), "cost", a=weights.tolist()))
        melicit.write("d.json", metric_text("diagonal-linear", layout(kind, "diagonal", 3, classes="abc"), a=[0.2, 0.3, 0.5]))
        want = wanted[:, [i for i, _ in off], [j for _, j in off]] @ weights
        right = numpy.diagonal(wanted, axis1=1, axis2=2) @ [0.2, 0.3, 0.5]
        for given in (counts, shares, wanted):
            entries = [(i, j) for i, j in rng.permutation([(i, j) for i in range(3) for j in range(3)])]
            text = "name," + ",".join(f"{'abc'[i]}>{'abc'[j]}" for i, j in entries) + "\n"
            text += "".join(f"m{n}," + ",".join(repr(given[n, i, j].item()) for i, j in entries) + "\n" for n in range(4))
            melicit.write("pool.csv", text)
            for metric, values in (("m.json", want), ("d.json", right)):
                got = melicit("score", "--metric", metric, "--statistics", "pool.csv", "--json").done().json["scores"]
                assert [one["value"] for one in got] == pytest.approx(values, abs=1e-12)
        melicit.write("pool.csv", "c,name,a,b\n" + "".join(f"{w[2][2]!r},m,{w[0][0]!r},{w[1][1]!r}\n" for w in wanted.tolist()))
        got = melicit("score", "--metric", "d.json", "--statistics", "pool.csv", "--json").done().json["scores"]
        assert [one["value"] for one in got] == pytest.approx(right, abs=1e-12)
    melicit.write("pool.csv", "name,a>b,a>c,b>a,b>c,c>a\nx,0,0,0,0,0\n")
    melicit("rank", "--metric", "m.json", "--pool", "pool.csv").refused(3, '"c>b"')


def test_pools_of_groups(melicit):
    rng = numpy.random.default_rng(3)
    counts = rng.integers(1, 50, (2, 2, 2))
    rates = counts / counts.sum(axis=2, keepdims=True)
    melicit.write("m.json", metric_text("linear", layout("rates", "offdiagonal", 2, ["u", "v"], ["no", "yes"]), "cost", a=[0.1, 0.2, 0.3, 0.4]))
    want = numpy.dot([0.1, 0.2, 0.3, 0.4], [rates[0, 0, 1], rates[0, 1, 0], rates[1, 0, 1], rates[1, 1, 0]])
    whole = ",".join(f"{'uv'[g]}:{('no', 'yes')[i]}>{('no', 'yes')[j]}" for g in (1, 0) for i in (0, 1) for j in (0, 1))
    for header, cells in (("v:no>yes,u:no>yes,v:yes>no,u:yes>no", [rates[1, 0, 1], rates[0, 0, 1], rates[1, 1, 0], rates[0, 1, 0]]),
                          (whole, [counts[g, i, j] for g in (1, 0) for i in (0, 1) for j in (0, 1)]),
                          ("u:fpr,u:recall,v:specificity,v:fnr", [rates[0, 0, 1], rates[0, 1, 1], rates[1, 0, 0], rates[1, 1, 0]])):
        melicit.write("pool.csv", f"name,{header}\nx," + ",".join(map(str, cells)) + "\n")
        assert melicit("rank", "--metric", "m.json", "--pool", "pool.csv", "--json").done().json["order"][0]["value"] == pytest.approx(want)
    melicit.write("pool.csv", "name,u:fpr,u:fnr,w:fpr,v:fnr\nx,0.1,0.1,0.1,0.1\n")
    melicit("rank", "--metric", "m.json", "--pool", "pool.csv").refused(3, '"w:fpr"', "group:name")


# --- options that are not read --------------------------------------------------------------------------


@pytest.mark.parametrize("words", [
    ("--weights", "w"), ("--skip", "x"), ("--l2", "1"), ("--test-share", "0.5"), ("--group", "g"), ("--prevalence", "v.csv"),
])
def test_options_that_probabilities_do_not_read(melicit, two, words):
    rows = ("--probs", "p.npy", "--labels", "y.csv")
    melicit("space", *rows, *words).refused(2, words[0], "goes with")
    melicit("apply", *rows, "--point", "0.1,0.6", *words).refused(2, words[0], "goes with")
    melicit("elicit", *rows, *words).refused(2, words[0], "goes with")


@pytest.mark.parametrize("space", [("--population", "logistic:a=5,b=0"), ("--ball", "3", "--radius", "0.1")])
@pytest.mark.parametrize("words", [
    ("--label", "label"), ("--weights", "w"), ("--skip", "x"), ("--l2", "2"), ("--test-share", "0.3"), ("--group", "g"),
    ("--labels", "y.csv"), ("--groups", "g.csv"), ("--positive", "1"), ("--read", "columns=a,b"), ("--read", "header=no"),
    ("--read", "delimiter=;"), ("--read", "format=csv"), ("--read", "max-rows=10"),
])
def test_options_that_need_rows(melicit, space, words):
    melicit("space", *space, *words).refused(2, words[0], "goes with")
    melicit("elicit", *space, *words).refused(2, words[0], "goes with")


def test_options_that_name_what_is_not_there(melicit, two):
    rows = ("--probs", "p.npy", "--labels", "y.csv")
    melicit.write("g.csv", "group\n" + "u\nv\n" * 150)
    melicit("space", *rows, "--label", "foo").refused(3, "y.csv", '"foo"', "--label", "label")
    melicit("space", *rows, "--groups", "g.csv", "--group", "foo").refused(3, "g.csv", '"foo"', "--group", "group")
    melicit("space", *rows, "--groups", "g.csv", "--group", "group").done()
    for verb in (("space",), ("apply", "--named", "f1"), ("elicit",)):
        melicit(*verb, *rows, "--thesis", "radius-method=thesis").refused(2, "--thesis radius-method", "no ball")
    score = ("score", "--named", "f1", "--labels", "y.csv", "--predictions", "y.csv")
    melicit(*score, "--label", "label").refused(2, "--label;", "--labels?")
    melicit(*score, "--label=label").refused(2, "--label;", "--labels?")
    melicit("score", "--named", "f1", "--labels", "y.csv", "--predict", "y.csv").done()  # an abbreviation
    melicit("space", "--data", "adult").refused(3, '"adult_test" and "adult_train"')
    melicit("space", "--data", "magic4").refused(3, 'did you mean the data set "magic04"?')
    melicit("space", "--ball", 3, "--radius", 0.1, "--positive", 1).refused(2, "--data, --probs or --candidates")


def test_one_column_that_is_called_0_or_has_no_name(melicit, two):
    p, y = two
    base = hull(melicit, "--probs", "p.npy", "--labels", "y01.npy")
    columns(melicit, "zero.csv", "0", 1 - p)
    words = ("space", "--probs", "zero.csv", "--labels", "y01.npy")
    melicit(*words).refused(3, "zero.csv", "pandas", "columns=0 or columns=1")
    assert numpy.allclose(hull(melicit, *words[1:], "--read", "columns=0"), base, atol=1e-12)
    numpy.save(melicit.folder / "one.npy", p)
    one = ("space", "--probs", "one.npy", "--labels", "y01.npy", "--json")
    said = "one.npy: the one column is taken as the probability of 0"
    assert melicit(*one, "--positive", 0).done().json["warnings"] == [said]
    assert "warnings" not in melicit(*one).done().json and "warnings" not in melicit(*one, "--positive", 0, "--read", "columns=1").done().json


def test_candidates_whose_positive_class_is_called_0(melicit):
    melicit.write("pool.csv", "name,tp,tn,fp,fn\na,30,55,5,10\nb,36,40,20,4\nc,38,20,40,2\n")
    found = []
    for classes, words in (("01", ()), ("10", ("--positive", 0))):
        melicit.write("t.json", metric_text("linear", layout("confusion", "binary", 2, classes=classes), a=[0.8, 0.6]))
        got = melicit("elicit", "--candidates", "pool.csv", *words, "--oracle", "sim:t.json", "--json").done().json["metric"]
        assert got["layout"]["classes"] == list(classes)
        found.append(got["coefficients"])
    assert found[0] == found[1]


def test_texts_that_are_numbers_in_npy_tables(melicit):
    numpy.save(melicit.folder / "t.npy", numpy.array([[str(i % 7 / 2), "red" if i % 3 else "blue", "no" if i % 2 else "yes"] for i in range(60)]))
    got = melicit("train", "--data", "t.npy", "--label", "c3", "--out", "m.json", "--json").done().json
    assert len(got["warnings"]) == 1 and 't.npy: column "c1": 7 of 7 different texts are numbers; treated as categories' in got["warnings"][0]
    melicit("train", "--data", "t.npy", "--label", "c3", "--out", "m.json", "--read", "strict").refused(3, '"c1"')


def test_options_that_tables_and_sessions_do_not_read(melicit, two):
    for words in (("--read", "columns=no,yes"), ("--labels", "y.csv"), ("--groups", "g.csv"), ("--prevalence", "v.csv")):
        melicit("space", "--data", "t.csv", *words).refused(2, words[0], "goes with")
    melicit.write("t.json", metric_text("linear", layout("confusion", "binary", 2, classes=["no", "yes"]), a=[0.6, 0.8]))
    melicit("elicit", "--data", "t.csv", "--oracle", "sim:t.json", "--session", "s.jsonl").done()
    for words in (("--positive", "no"), ("--classes", "a,b"), ("--l2", "1"), ("--read", "header=no")):
        melicit("elicit", "--session", "s.jsonl", "--oracle", "sim:t.json", *words).refused(2, words[0], "session")
        melicit("report", "--session", "s.jsonl", *words).refused(2, words[0], "session")
    melicit("apply", "--data", "t.csv", "--metric", "t.json", "--thesis", "delta=1e-3").refused(2, "delta", "--point")
    melicit("score", "--named", "f1", "--statistics", "t.csv", "--positive", "yes").refused(2, "--positive")
    melicit("score", "--named", "f1", "--labels", "y.csv", "--predictions", "y.csv", "--shares", 0.3).refused(2, "--shares")


def test_notes_stand_on_lines_of_their_own(melicit):
    """In a file that takes both streams, too."""
    melicit.write("t.json", metric_text("linear", layout("confusion", "binary", 2, classes=["healthy", "cancer"]), a=[0.99, 0.14]))
    melicit.shell("melicit elicit --data breast_cancer_original --classes healthy,cancer --oracle sim:t.json --ask show >both.txt 2>&1").done()
    assert "melicit: 0 is healthy, 1 is cancer" in (melicit.folder / "both.txt").read_text().split("\n")
