"""What foreign files hold is read as it is meant or refused, and what the program writes reads back."""
import json

import numpy
import pytest
from classes import layout, metric_text


def column(melicit, name, header, cells):
    melicit.write(name, "".join(f"{cell}\n" for cell in [header, *cells]))


# --- numbers ------------------------------------------------------------------------------------------


def test_float32_probabilities_are_not_worth_a_warning(melicit):
    rng = numpy.random.default_rng(3)
    p = rng.dirichlet([1, 1, 1], 300).astype("float32")
    assert 1e-9 < abs(p.astype(float).sum(axis=1) - 1).max() < 1e-6
    numpy.save(melicit.folder / "p.npy", p)
    numpy.save(melicit.folder / "y.npy", rng.integers(0, 3, 300))
    got = melicit("space", "--probs", "p.npy", "--labels", "y.npy", "--read", "strict", "--json").done().json
    assert "warnings" not in got
    numpy.save(melicit.folder / "p.npy", p + numpy.array([2e-6, 0, 0]))
    melicit("space", "--probs", "p.npy", "--labels", "y.npy", "--read", "strict").refused(3, "p.npy", "sum to 1")


def test_labels_that_doubles_do_not_tell_apart(melicit):
    big = 2**60
    y, d = [big, big + 1, 5] * 20, [big, big, 5] * 20
    words = ("score", "--labels", "y.csv", "--predictions", "d.csv", "--metric", "m.json")
    melicit.write("m.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3, classes=map(str, [big, big + 1, 5])), a=[1, 1, 1]))
    column(melicit, "y.csv", "label", y)
    column(melicit, "d.csv", "decision", d)
    melicit(*words).refused(3, "y.csv", "row 2", "2^53", "column=label:text")
    told = ("--read", "column=label:text", "--read", "column=decision:text")
    assert melicit(*words, *told, "--json").done().json["value"] == pytest.approx(2 / 3)
    column(melicit, "g.csv", "group", y)
    small = ("score", "--labels", "s.csv", "--predictions", "s.csv", "--named", "accuracy")
    column(melicit, "s.csv", "label", [0, 1] * 30)
    melicit(*small, "--groups", "g.csv").refused(3, "g.csv", "row 2", "column=group:text")
    numpy.save(melicit.folder / "y.npy", numpy.array(y))
    melicit("score", "--labels", "y.npy", "--predictions", "y.npy", "--metric", "m.json").refused(3, "y.npy", "row 1", "2^53", "text")
    melicit("score", "--labels", "s.csv", "--predictions", "y.npy", "--named", "accuracy").refused(3, "y.npy", "row 1", "2^53")
    numpy.save(melicit.folder / "t.npy", numpy.array(y, dtype=str))
    assert melicit("score", "--labels", "t.npy", "--predictions", "t.npy", "--metric", "m.json", "--json").done().json["value"] == 1


# --- options ------------------------------------------------------------------------------------------

FOR_CSV = [("--read", "decimal=,"), ("--read", "delimiter=;"), ("--read", "header=yes"), ("--read", "encoding=latin-1")]


@pytest.fixture
def formats(melicit):
    """The same rows in every format, and probabilities with their labels."""
    rng = numpy.random.default_rng(7)
    y = rng.integers(0, 2, 200)
    x = numpy.round(rng.normal(size=200) + 2 * y, 3)
    numpy.save(melicit.folder / "t.npy", numpy.column_stack([x, y]))
    numpy.savez(melicit.folder / "t.npz", x=numpy.column_stack([x, y]))
    melicit.write("t.csv", "c1,c2\n" + "".join(f"{v},{w}\n" for v, w in zip(x, y)))
    melicit.write("t.svm", "".join(f"{w} 1:{v}\n" for v, w in zip(x, y)))
    p = 1 / (1 + numpy.exp(-x))
    numpy.save(melicit.folder / "p.npy", numpy.column_stack([1 - p, p]))
    numpy.save(melicit.folder / "y.npy", y)
    melicit.write("y.csv", "label\n" + "".join(f"{w}\n" for w in y))
    melicit.write("semicolons.csv", "name;tp;tn\na;0,25;0,5\nb;0,375;0,25\n")
    melicit.write("m.json", metric_text("linear", layout("confusion", "binary", 2), a=[0.6, 0.8]))


@pytest.mark.parametrize("file, label, words", [
    *(("t.npy", "c2", words) for words in [*FOR_CSV, ("--read", "member=x"), ("--read", "zero-based",)]),
    *(("t.npz", "c2", words) for words in [*FOR_CSV, ("--read", "zero-based",)]),
    *(("t.svm", "label", words) for words in [*FOR_CSV, ("--read", "member=x")]),
    *(("t.csv", "c2", words) for words in [("--read", "member=x"), ("--read", "zero-based",)]),
])
def test_options_that_the_format_does_not_read(melicit, formats, file, label, words):
    melicit("train", "--data", file, "--label", label, *words).refused(2, words[1].split("=")[0], "none was read")
    melicit("train", "--data", file, "--label", label, "--test-share", 0, "--out", "model.json").done()
    melicit("predict", "--model", "model.json", "--data", file, *words, "--out", "o.csv").refused(2, words[1].split("=")[0])
    assert not (melicit.folder / "o.csv").exists()


def test_an_option_is_fine_if_one_of_the_files_reads_it(melicit, formats):
    space = ("space", "--probs", "p.npy", "--labels")
    for words in FOR_CSV[2:]:
        melicit(*space, "y.csv", *words).done()
        melicit(*space, "y.npy", *words).refused(2, words[1].split("=")[0], "CSV")
    melicit(*space, "y.csv", "--read", "column=label:text").done()
    melicit(*space, "y.csv", "--read", "column=lable:text").refused(2, "column=lable:text")
    melicit(*space, "y.npy", "--read", "column=c1:text").refused(2, "column", "CSV")
    melicit("train", "--data", "t.npz", "--label", "c2", "--read", "member=x").done()
    melicit("score", "--labels", "y.npy", "--predictions", "y.csv", "--named", "accuracy", "--read", "delimiter=,").done()
    melicit("score", "--labels", "y.npy", "--predictions", "y.npy", "--named", "accuracy", "--read", "delimiter=,").refused(2, "delimiter")
    melicit("rank", "--metric", "m.json", "--pool", "semicolons.csv", "--read", "zero-based").refused(2, "zero-based", "LIBSVM")
    elicit = ("elicit", "--oracle", "sim:m.json", "--probs", "p.npy", "--labels", "y.npy", "--json")
    melicit(*elicit[:-1], "--read", "decimal=,").refused(2, "decimal")
    melicit(*elicit, "--until", "rank:semicolons.csv", "--read", "decimal=,").done()


def test_how_files_were_read_as_json(melicit, formats):
    got = melicit("space", "--probs", "p.npy", "--labels", "y.csv", "--verbose", "--json").done()
    assert got.err == "" and len(got.json["read"]) == 2
    assert got.json["read"][1].startswith("p.npy: ") and "y.csv: UTF-8, header in row 1, 200 rows" in got.json["read"][0]
    assert "read" not in melicit("space", "--probs", "p.npy", "--labels", "y.csv", "--json").done().json


# --- what predict writes ------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [
    ("null", "yes"), ("N/A", "yes"), ("NaN", "yes"), ("None", "yes"), ("+", "-"), ("?", "yes"), ("none", "nan"),
    ("class 1", "class 2"), ("a;b", "c;d"), ("a|1", "a|2"), (" x", "y"), ('say "hi"', "x,y"),
])
def test_predictions_read_back(melicit, names):
    rng = numpy.random.default_rng(11)
    y = rng.integers(0, 2, 120)
    x = numpy.round(rng.normal(size=120) + 2.5 * y, 3)
    cells = ['"' + name.replace('"', '""') + '"' for name in names]
    told = ("--read", "column=label:text")
    melicit.write("t.csv", "x,label\n" + "".join(f"{v},{cells[w]}\n" for v, w in zip(x, y)))
    column(melicit, "y.csv", "label", [cells[w] for w in y])
    melicit("train", "--data", "t.csv", "--test-share", 0, "--out", "m.json", *told).done()
    predict = ("predict", "--model", "m.json", "--data", "t.csv", "--out")
    melicit(*predict, "d.csv", "--decisions").done()
    melicit(*predict, "d.npy", "--decisions").done()
    got = [melicit("score", "--labels", "y.csv", "--predictions", d, "--named", "accuracy", *told, "--json").done().json["scores"][0]["accuracy"]
           for d in ("d.csv", "d.npy")]
    assert got[0] == got[1] > 0.8
    melicit(*predict, "p.csv").done()
    melicit(*predict, "p.npy").done()
    spaces = [melicit("space", "--probs", p, "--labels", "y.csv", *told, "--json").done().json["vertices"] for p in ("p.csv", "p.npy")]
    assert numpy.allclose(*spaces, atol=1e-12)
    for threshold in (0, 1):  # all decisions alike
        melicit(*predict, "d.csv", "--decisions", "--threshold", threshold).done()
        got = melicit("score", "--labels", "y.csv", "--predictions", "d.csv", "--named", "accuracy", *told, "--json").done().json
        second = sorted(names).index(names[1])
        assert got["scores"][0]["accuracy"] == pytest.approx((y == 1).mean() if (threshold == 0) == (second == 1) else (y == 0).mean())


def test_a_quoted_word_among_numbers_is_still_missing(melicit):
    column(melicit, "y.csv", "label", ["0", "1"] * 10)
    column(melicit, "d.csv", "decision", ["0", '"NA"'] * 10)
    melicit("score", "--labels", "y.csv", "--predictions", "d.csv", "--named", "accuracy").refused(3, "d.csv", "row 3", "missing")
    column(melicit, "d.csv", "decision", ["None", '"None"', "yes"] * 10)
    column(melicit, "y.csv", "label", ['"None"', '"None"', "yes"] * 10)
    words = ("score", "--labels", "y.csv", "--predictions", "d.csv", "--named", "accuracy")
    melicit(*words).refused(3, "d.csv", "row 2", "missing", "quotes")


# --- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("header, cells", [("id,yes,no", "{n},{p},{q}"), ("yes,no,x", "{p},{q},1"), ("no,name,yes", "{q},a,{p}")])
def test_columns_of_probabilities_that_are_no_class(melicit, header, cells):
    strange = next(name for name in header.split(",") if name not in ("yes", "no"))
    column(melicit, "y.csv", "label", ["yes", "no"] * 20)
    column(melicit, "p.csv", header, [cells.format(n=n, p=0.25, q=0.75) for n in range(40)])
    melicit("space", "--probs", "p.csv", "--labels", "y.csv").refused(3, "p.csv", f'column "{strange}"', '"no" and "yes"', "leave it out")


def test_groups_and_classes_of_refusals_have_names(melicit):
    share = [[0.5, 0.5], [0.5, 0.5]]
    melicit.write("m.json", metric_text("fair-linear", layout("rates", "offdiagonal", 2, ["a", "b"], ["no", "yes"]), "cost", a=[0.6, 0.8],
                                        b={"1-2": [0.6, 0.8]}, prevalence=share, **{"lambda": 0.5}))
    column(melicit, "y.csv", "label", ["yes", "no"] * 20)
    column(melicit, "g.csv", "group", ["a"] * 20 + ["c"] * 20)
    words = ("score", "--metric", "m.json", "--labels", "y.csv", "--predictions", "y.csv", "--groups", "g.csv")
    melicit(*words).refused(3, "g.csv", "row 22", '"c" is not one of the known names', 'the groups are "a" and "b"')
    column(melicit, "g.csv", "group", ["a", "b"] * 20)
    melicit(*words).refused(3, 'group "a" has no rows of class "no"')


@pytest.mark.parametrize("text, what", [('{"x": [1, 2]}', "JSON"), ('[\n  {"x": 1}\n]', "JSON"), ("[[1,2],[3,4]]", "JSON"),
                                        ("<!DOCTYPE html>\n<html>", "HTML"), ("\n<html lang='de'>", "HTML")])
def test_json_and_html_are_called_so(melicit, text, what):
    melicit.write("t.csv", text)
    melicit("train", "--data", "t.csv").refused(3, "t.csv", f"{what}", "pandas")


@pytest.mark.parametrize("kind, what", [("metric", "a metric"), ("model", "a model"), ("classifier", "a classifier"), ("session", "a session of questions")])
def test_other_files_of_melicit_are_called_so(melicit, kind, what):
    melicit.write("t.csv", f'{{\n  "format": "melicit-{kind}",\n  "version": 1\n}}\n')
    melicit("train", "t.csv").refused(3, "t.csv", f"the file is {what}; expected a table")


@pytest.mark.parametrize("mark", ["'", "\u2019"])
def test_swiss_thousands(melicit, mark):
    rng = numpy.random.default_rng(4)
    y = rng.integers(0, 2, 60)
    x = numpy.round(rng.uniform(0, 3e6, 60) + 1e6 * y, 2)
    plain = [f"{v:.2f}" for v in x]
    swiss = [f"{v:,.2f}".replace(",", mark) for v in x]
    told = []
    for cells in (plain, swiss):
        column(melicit, "t.csv", "x,label", [f"{c},{w}" for c, w in zip(cells, y)])
        melicit("train", "--data", "t.csv", "--test-share", 0, "--out", "m.json").done()
        told.append(json.loads((melicit.folder / "m.json").read_text()))
    assert told[0] == told[1]
    assert any(mark in cell for cell in swiss)
    wrong = [cell.replace(mark, "", 1) + mark + "12" for cell in swiss]  # no threes
    column(melicit, "t.csv", "x,label", [f"{c},{w}" for c, w in zip(wrong, y)])
    melicit("train", "--data", "t.csv", "--test-share", 0, "--read", "column=x:number").refused(3, "x", "not a number")


def test_sessions_started_with_another_option(melicit, formats):
    words = ("elicit", "--oracle", "sim:m.json", "--session", "s.jsonl", "--json")
    melicit(*words, "--probs", "p.npy", "--labels", "y.csv", "--read", "header=yes", "--max-questions", 1).done()
    out = melicit("report", "--session", "s.jsonl", "--out", "r.html").done().out
    assert out == "r.html: a report on 1 answer\n"
    path = melicit.folder / "s.jsonl"
    path.write_text(path.read_text().replace('"header":"yes"', '"no_header":true').replace('"header": "yes"', '"no_header": true'))
    assert "no_header" in path.read_text()
    melicit(*words[:-1]).refused(3, "space.no_header", "no such field")


def test_models_remember_where_indices_start(melicit):
    rng = numpy.random.default_rng(11)
    x, y = numpy.round(rng.normal(size=(200, 4)), 3), rng.integers(0, 2, 200)
    x[:, 1] += 2 * y
    probabilities = {}
    for base in (0, 1):
        told = ("--read", "zero-based",) * (base == 0)
        rows = [" ".join(f"{j + base}:{v}" for j, v in enumerate(row)) for row in x]
        melicit.write(f"t{base}.svm", "".join(f"{w} {row}\n" for w, row in zip(y, rows)))
        # without the first feature nothing in the file says where its indices start
        melicit.write(f"p{base}.svm", "".join(f"0 {row.split(' ', 1)[1]}\n" for row in rows))
        melicit("train", "--data", f"t{base}.svm", *told, "--test-share", 0, "--out", f"m{base}.json").done()
        melicit("predict", "--model", f"m{base}.json", "--data", f"p{base}.svm", "--out", "p.npy").done()
        probabilities[base] = numpy.load(melicit.folder / "p.npy")
    assert numpy.array_equal(probabilities[0], probabilities[1])
    melicit("predict", "--model", "m0.json", "--data", "p0.svm", "--read", "zero-based", "--out", "p.npy").done()
    assert numpy.array_equal(probabilities[0], numpy.load(melicit.folder / "p.npy"))
    melicit("predict", "--model", "m1.json", "--data", "p1.svm", "--read", "zero-based", "--out", "p.npy").refused(2, "zero-based", "indices from 1")
    melicit("train", "--data", "t0.svm", "--read", "zero-based", "--fit", "warm=m1.json").refused(3, "m1.json", '"f1"', '"f0"')


def test_one_odd_cell_does_not_change_other_columns(melicit):
    """A single 1.234.567 or "1,5" is odd itself; the plain decimals of another column stay what they are."""
    rows = [[1000 + i, f"{1.1 + i / 1000:.3f}", i % 2] for i in range(12)]
    def mean_of(name, cells, *words):
        melicit.write(name, "a,b,label\n" + "".join(",".join(map(str, row)) + "\n" for row in cells))
        done = melicit("train", "--data", name, "--label", "label", "--test-share", 0, "--out", "m.json", *words).done()
        columns = {one["name"]: one for one in json.loads((melicit.folder / "m.json").read_text())["encoder"]["columns"]}
        return done, columns["b"]["mean"], columns["a"]["type"]
    for place in (0, 11):
        for cell in ("1.234.567", '"1,5"'):
            cells = [list(row) for row in rows]
            cells[place][0] = cell
            done, mean, kind = mean_of("odd.csv", cells)
            assert mean == pytest.approx(1.1055, rel=1e-12) and kind == "text"
            shown = cell.strip('"')
            assert f'column a: 1 of 12 cells is not a number, first "{shown}" in row {place + 2}; treated as categories' in done.err
            assert "decimal comma" not in done.err
            melicit("train", "--data", "odd.csv", "--label", "label", "--read", "strict").refused(3, "column a", f'"{shown}"', "strict")
    # a column of them is no accident: then the points of the other column are named
    commas = [[f'"{i},5"', *row[1:]] for i, row in enumerate(rows)]
    done, mean, kind = mean_of("commas.csv", commas)
    assert mean == pytest.approx(1105.5) and kind == "number"
    assert 'column b: the point of 12 cells, first "1.100" in row 2, is taken to set thousands apart' in done.err
    done, mean, kind = mean_of("commas.csv", commas, "--read", "decimal=.")
    assert mean == pytest.approx(1.1055) and kind == "text"


def test_models_remember_percent_signs(melicit):
    rng = numpy.random.default_rng(5)
    rate, y = rng.integers(1, 99, 100), rng.integers(0, 2, 100)
    def write(name, cells):
        melicit.write(name, "rate,x,label\n" + "".join(f"{c},{i % 7},{w}\n" for i, (c, w) in enumerate(zip(cells, y))))
    write("signs.csv", [f"{v}%" for v in rate])
    write("plain.csv", rate)
    write("mixed.csv", [f"{v}%" if i % 2 else v / 100 for i, v in enumerate(rate)])
    write("none.csv", [""] * 100)
    for name in ("signs", "plain", "mixed"):
        melicit("train", "--data", f"{name}.csv", "--label", "label", "--test-share", 0, "--out", f"{name}.json").done()
    def predict(model, data):
        return melicit("predict", "--model", f"{model}.json", "--data", f"{data}.csv", "--out", "p.npy")
    predict("signs", "plain").refused(3, "plain.csv", "row 2", '"rate"', "has no percent sign", "train on numbers without")
    predict("plain", "signs").refused(3, "signs.csv", "row 2", '"rate"', "had a percent sign", "write them without")
    found = []
    for model, data in [("signs", "signs"), ("signs", "mixed"), ("mixed", "signs"), ("mixed", "mixed")]:
        done = predict(model, data).done()
        assert ("50 of 100 cells have a percent sign" in done.err) == (data == "mixed")
        found.append(numpy.load(melicit.folder / "p.npy"))
    assert all(numpy.allclose(found[0], one, atol=1e-9) for one in found)
    predict("signs", "none").done()


@pytest.mark.parametrize("word", ["None ", " none", "NONE", "\tNaT", "- "])
def test_missing_labels_with_blanks(melicit, word):
    melicit.write("t.csv", "x,label\n" + "".join(f"{i},{'ab'[i % 2]}\n" for i in range(40)) + f"7,{word}\n" * 2)
    melicit("train", "--data", "t.csv", "--label", "label").refused(3, "t.csv", "row 42", '"label"', "missing value")
