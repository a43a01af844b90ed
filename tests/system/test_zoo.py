"""A zoo of foreign files: each is read as pandas or NumPy read it, cell by cell, or refused with a sentence."""
import gzip
import json
import subprocess

import numpy
import pandas
import pytest
from classes import layout, metric_text
from conftest import BUILD, Melicit, environment, refuse_constant
from zoo import Refused, cells, csv_text, generator, is_number, lines, npy, npz, packed, people, saved_text
from zoo_files import ROWS

DUMP = BUILD / "table_dump"


def dump(folder, rows):
    """How the library reads each file, all in one call."""
    words = [word for row in rows for word in (*row.options, row.path)]
    done = subprocess.run([str(DUMP), *words], cwd=folder, env=environment(), capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr.decode()
    shown = [json.loads(line, parse_constant=refuse_constant) for line in done.stdout.decode().split("\n")[:-1]]
    assert len(shown) == len(rows)
    return {row.name: one for row, one in zip(rows, shown)}


@pytest.fixture(scope="session")
def zoo(tmp_path_factory):
    """A folder with every file, plain and packed, and how the library reads them."""
    assert DUMP.exists(), f"build first: {DUMP} is not there"
    folder = tmp_path_factory.mktemp("zoo")
    rows = ROWS + [packed(row) for row in ROWS]
    for row in rows:
        (folder / row.path).write_bytes(row.content)
    return folder, dump(folder, rows)


def test_there_are_enough():
    assert len({row.content for row in ROWS}) >= 150
    assert sum(isinstance(row.expect, Refused) for row in ROWS) >= 40
    assert len(LABELLED) >= 80


def contains(text, parts):
    for part in parts:
        assert part.lower() in text.lower(), f"{part!r} is not in {text!r}"


def check_frame(seen, frame):
    assert [column["name"] for column in seen["columns"]] == [str(name) for name in frame.columns]
    assert seen["rows"] == len(frame)
    for j, column in enumerate(seen["columns"]):
        expected = frame.iloc[:, j]
        wanted = cells(expected)
        wrong = [(i, a, b) for i, (a, b) in enumerate(zip(column["cells"], wanted)) if a != b]
        assert not wrong and len(column["cells"]) == len(wanted), f"{column['name']}: row, seen, expected: {wrong[:3]}"
        if any(cell is not None for cell in wanted):
            assert column["type"] == ("number" if is_number(expected) else "text"), column["name"]


def check_sparse(seen, x, y):
    assert [column["name"] for column in seen["columns"]] == ["label"]
    assert seen["columns"][0]["cells"] == [float(label) for label in y]
    assert seen["entries"] == [[i, j, x[i, j]] for i in range(len(x)) for j in range(x.shape[1]) if x[i, j] != 0]


def check(row, seen):
    if isinstance(row.expect, Refused):
        assert "error" in seen, f"it was read: {json.dumps(seen)[:800]}"
        assert seen["code"] in ("EDATA", "ELIMIT")
        contains(seen["error"], row.expect.parts)
        return
    assert "error" not in seen, seen["error"]
    if isinstance(row.expect, dict):
        check_sparse(seen, **row.expect)
    else:
        check_frame(seen, row.expect)
    contains("\n".join([seen["how"], *seen["warnings"]]), row.says)
    assert [text for text in seen["warnings"] if "categories" in text or "percent sign" in text] == list(row.odd)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_reading(zoo, row):
    check(row, zoo[1][row.name])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_packed(zoo, row):
    """A packed file is read, or refused, as the plain one is."""
    plain, again = zoo[1][row.name], zoo[1][packed(row).name]
    if "error" in plain:
        assert again == {**plain, "error": plain["error"].replace(row.path, packed(row).path)}
    else:
        assert {**again, "how": ""} == {**plain, "how": ""}


# ---- the same files through the program ----


def features_of(model, columns):
    """The features that an encoder makes of columns of cells, by NumPy."""
    features = []
    for column in model["encoder"]["columns"]:
        values = columns[column["name"]]
        if column["type"] == "number":
            filled = numpy.array([column["median"] if x is None else x for x in values], dtype=float)
            known = numpy.array([x for x in values if x is not None], dtype=float)
            assert numpy.isclose(column["median"], numpy.median(known), rtol=1e-12)
            assert numpy.isclose(column["mean"], filled.mean(), rtol=1e-11, atol=1e-12)
            assert numpy.isclose(column["deviation"], filled.std(), rtol=1e-9, atol=1e-12)
            features.append((filled - column["mean"]) / (column["deviation"] or 1.0))
        else:
            assert sorted(column["categories"]) == sorted({x for x in values if x is not None})
            filled = [column["mode"] if x is None else x for x in values]
            features += [numpy.array([float(x == name) for x in filled]) for name in column["categories"]]
    return numpy.column_stack(features)


def probabilities(model, features):
    """Logistic regression of two classes, or multinomial."""
    score = features @ numpy.array(model["weights"]).T + numpy.array(model["intercepts"])
    if score.shape[1] == 1:
        score = numpy.column_stack([numpy.zeros(len(score)), score])
    score = numpy.exp(score - score.max(axis=1, keepdims=True))
    return score / score.sum(axis=1, keepdims=True)


def class_names(labels):
    if is_number(labels):
        return [f"{x:g}" for x in labels]
    return [str(x) for x in labels]


LABELLED = [row for row in ROWS if row.label is not None]


# Sanitizers have seen the readers above: a sample is enough for the way through the program.
@pytest.mark.parametrize("row", LABELLED, ids=lambda row: row.name)
def test_program(zoo, tmp_path, row):
    """train counts the rows, classes and features; its encoder's numbers and what predict gives are NumPy's."""
    melicit = Melicit(tmp_path)
    words = ("--data", zoo[0] / row.path, *row.options)
    told = melicit("train", *words, "--label", row.label, "--test-share", 0, "--out", "m.json", "--json").done().json
    sparse = isinstance(row.expect, dict)
    labels = class_names(pandas.Series(row.expect["y"]) if sparse else row.expect[row.label])
    assert told["rows"] == len(labels)
    assert {one["name"]: one["rows"] for one in told["classes"]} == {name: labels.count(name) for name in set(labels)}
    melicit("predict", "--model", "m.json", *words, "--out", "p.npy").done()
    model = json.loads((tmp_path / "m.json").read_text())
    if sparse:
        x = row.expect["x"]
        features = x / numpy.where(x.std(axis=0) > 0, x.std(axis=0), 1)
    else:
        columns = {str(name): cells(row.expect[name]) for name in row.expect.columns}
        features = features_of(model, columns)
    assert told["features"] == features.shape[1]
    assert numpy.allclose(melicit.load("p.npy"), probabilities(model, features), rtol=0, atol=1e-9)


# ---- classes that are missing, or called like something missing ----

LABEL_WORDS = ["", "?", "NA", "N/A", "n/a", "#N/A", "NULL", "null", "None", "NaN", "nan"]


@pytest.mark.parametrize("word", LABEL_WORDS, ids=lambda word: word or "empty")
@pytest.mark.parametrize("names", [("no", "yes"), ("0", "1"), ("0.5", "2")], ids=lambda names: "-".join(names))
def test_missing_label(melicit, names, word):
    """A missing label is an error with its row, never a class; without that row all is well."""
    rows = [[i * 7 % 11, names[i * 3 % 7 < 3]] for i in range(40)]
    melicit.write("t.csv", lines(["x", "label"], [*rows[:16], [5, word], *rows[16:]]))
    got = melicit("train", "--data", "t.csv", "--json")
    assert got.code == 3 and got.json["error"]["code"] == "EDATA"
    contains(got.json["error"]["message"], ["t.csv", "row 18", "label"])
    melicit.write("t.csv", lines(["x", "label"], rows))
    told = melicit("train", "--data", "t.csv", "--json").done().json
    counts = {name: sum(row[1] == name for row in rows) for name in names}
    assert {one["name"]: one["rows"] for one in told["classes"]} == counts


def test_plus_and_minus_are_classes(melicit):
    rows = [[i * 7 % 11, "+-"[i * 3 % 7 < 3]] for i in range(40)]
    melicit.write("t.csv", lines(["x", "label"], rows))
    told = melicit("train", "--data", "t.csv", "--json").done().json
    counts = {name: sum(row[1] == name for row in rows) for name in "+-"}
    assert {one["name"]: one["rows"] for one in told["classes"]} == counts


# ---- what the program says ----


def test_verbose_says_how(zoo, melicit):
    """-v prints how the file was read in one line; without it nothing is said."""
    for name in ("Excel, German", "pandas, tab", "Excel, Unicode text", "no header, with texts", "R write.table"):
        row = next(row for row in ROWS if row.name == name)
        words = ("train", "--data", zoo[0] / row.path, "--label", row.label, *row.options)
        plain, told = melicit(*words).done(), melicit(*words, "-v").done()
        assert told.out == plain.out
        assert [line for line in told.err.splitlines() if zoo[1][name]["how"] in line], told.err
        assert zoo[1][name]["how"] not in plain.err
        assert melicit(*words, "--verbose").done().err == told.err


def test_odd_cells_are_reported(zoo, melicit):
    """The warning goes to standard error, with --json into the result; --quiet is quiet; --read strict refuses; the column is
    categories."""
    row = next(row for row in ROWS if row.name == "three cells of 4,000 are abc")
    words = ("train", "--data", zoo[0] / row.path)
    told = melicit(*words).done()
    assert row.odd[0] in told.err and told.err.count("\n") == 1
    assert melicit(*words, "--quiet").done().err == ""
    words = (*words, "--json")
    told = melicit(*words).done()
    assert told.err == "" and len(told.json["warnings"]) == 1 and row.odd[0] in told.json["warnings"][0]
    texts = row.expect["income"].nunique() + row.expect["city"].nunique() + 1
    assert told.json["rows"] == 4000 and told.json["features"] <= texts
    refused = melicit(*words, "--read", "strict")
    assert refused.code == 3
    contains(refused.json["error"]["message"], ["income", "3 of 4,000", '"abc"', "row 17"])


def test_wrong_names_list_the_nearest(zoo, melicit):
    row = next(row for row in ROWS if row.name == "pandas, semicolon")
    for wrong, near in (("lable", "label"), ("Label", "label"), ("citty", "city"), ("INCOME", "income")):
        got = melicit("train", "--data", zoo[0] / row.path, "--label", wrong, "--json")
        assert got.code == 3
        contains(got.json["error"]["message"], [f'"{wrong}"', f'"{near}"'])
    for option in ("--skip", "--weights", "--group"):
        got = melicit("train", "--data", zoo[0] / row.path, option, "incme", "--json")
        assert got.code == 3
        contains(got.json["error"]["message"], ['"incme"', '"income"', option])


@pytest.mark.parametrize(
    "options",
    [("--read", "delimiter=ab"), ("--read", "decimal=;"), ("--read", "header=maybe"), ("--read", "encoding=klingon")],
    ids=" ".join,
)
def test_wrong_options(melicit, options):
    melicit.write("t.csv", csv_text(people("options")))
    got = melicit("train", "--data", "t.csv", *options, "--json")
    assert got.code == 2, got.out
    contains(got.json["error"]["message"], [options[1].split("=")[0]])


# ---- labels and predictions of foreign files ----

KINDS = ["healthy", "sick"]
RNG = generator("labels")
TRUTH = RNG.integers(0, 2, 60)
GUESS = numpy.where(RNG.random(60) < 0.7, TRUTH, 1 - TRUTH)


def named_column(codes, names=KINDS):
    return pandas.DataFrame({"class": [names[code] for code in codes]})


def one_column_files():
    """Ways to store one column of classes: name of the file and what makes its bytes."""
    return {
        "npy of whole numbers": ("c.npy", npy),
        "npy of float32": ("c.npy", lambda codes: npy(codes.astype("f4"))),
        "npy of float16": ("c.npy", lambda codes: npy(codes.astype("f2"))),
        "npy of one column": ("c.npy", lambda codes: npy(codes[:, None])),
        "npz": ("c.npz", lambda codes: npz(codes=codes)),
        "savetxt": ("c.txt", lambda codes: saved_text(codes, fmt="%d")),
        "savetxt of doubles": ("c.csv", saved_text),
        "no header": ("c.csv", lambda codes: csv_text(pandas.DataFrame(codes), header=False)),
        "pandas with index": ("c.csv", lambda codes: pandas.DataFrame({"y": codes}).to_csv()),
        "series with index": ("c.csv", lambda codes: pandas.Series(codes).to_csv()),
        "R write.csv": ("c.csv", lambda codes: '"","x"\n' + "".join(f'"{i + 1}",{c}\n' for i, c in enumerate(codes))),
        "R write.table": ("c.txt", lambda codes: '"x"\n' + "".join(f'"{i + 1}" {c}\n' for i, c in enumerate(codes))),
        "UTF-16": ("c.csv", lambda codes: csv_text(pandas.DataFrame({"y": codes})).encode("utf-16")),
        "packed": ("c.csv.gz", lambda codes: gzip.compress(csv_text(pandas.DataFrame({"y": codes})).encode())),
        "CR alone": ("c.csv", lambda codes: csv_text(pandas.DataFrame({"y": codes})).replace("\n", "\r")),
    }


def named_column_files():
    return {
        "npy of texts": ("c.npy", lambda codes: npy(numpy.array(KINDS)[codes])),
        "npy of bytes": ("c.npy", lambda codes: npy(numpy.array(KINDS).astype("S")[codes])),
        "npz of texts": ("c.npz", lambda codes: npz(y=numpy.array(KINDS)[codes])),
        "CSV": ("c.csv", lambda codes: csv_text(named_column(codes))),
        "no header": ("c.txt", lambda codes: csv_text(named_column(codes), header=False)),
        "all quoted": ("c.csv", lambda codes: csv_text(named_column(codes), quoting=1)),
        "pandas with index": ("c.csv", lambda codes: named_column(codes).to_csv()),
        "CRLF and a mark": ("c.csv", lambda codes: csv_text(named_column(codes)).replace("\n", "\r\n").encode("utf-8-sig")),
    }


def check_scores(melicit, truth, guess, positive, options):
    for name, content in (("y_" + truth[0], truth[1](TRUTH)), ("d_" + guess[0], guess[1](GUESS))):
        melicit.write(name, content)
    words = ("--labels", "y_" + truth[0], "--predictions", "d_" + guess[0], "--positive", positive, "--json", *options)
    told = melicit("score", "--named", "accuracy", "--named", "recall", *words).done().json["scores"][0]
    assert numpy.isclose(told["accuracy"], numpy.mean(TRUTH == GUESS), rtol=1e-14)
    assert numpy.isclose(told["recall"], GUESS[TRUTH == 1].mean(), rtol=1e-14)
    assert numpy.isclose(told["tn"], numpy.mean((TRUTH == 0) & (GUESS == 0)), rtol=1e-14)


@pytest.mark.parametrize("kind", one_column_files())
def test_scores_of_numbers(melicit, kind):
    files = one_column_files()
    check_scores(melicit, files[kind], files["npy of whole numbers"], "1", ())
    check_scores(melicit, files["npy of whole numbers"], files[kind], "1", ())


@pytest.mark.parametrize("kind", named_column_files())
def test_scores_of_names(melicit, kind):
    files = named_column_files()
    options = ("--read", "header=no") if kind == "no header" else ()
    other = files[kind] if kind == "no header" else files["npy of texts"]
    check_scores(melicit, files[kind], other, "sick", options)


# ---- probabilities of foreign files ----

VEHICLES = ["bus", "car", "van"]
WEIGHTS = numpy.array([0.5, 0.2, 0.3])
CLASSES_OF_ROWS = RNG.integers(0, 3, 80)
CHANCES = RNG.dirichlet([1, 1, 1], 80)


def shown(decimals, chances=CHANCES, columns=VEHICLES):
    return pandas.DataFrame(numpy.round(chances, decimals), columns=columns)


def percents(table):
    return table.applymap(lambda x: f"{100 * x:.2f}%")


PROBABILITIES = {
    "npy of float64": ("p.npy", npy(CHANCES), CHANCES),
    "npy of float32": ("p.npy", npy(CHANCES.astype("f4")), CHANCES.astype("f4")),
    "npy of float16": ("p.npy", npy(CHANCES.astype("f2")), CHANCES.astype("f2")),
    "npz": ("p.npz", npz(p=CHANCES), CHANCES),
    "pandas": ("p.csv", csv_text(shown(12)), shown(12)),
    "pandas with index": ("p.csv", shown(12).to_csv(), shown(12)),
    "columns in another order": ("p.csv", csv_text(shown(12)[["van", "bus", "car"]]), shown(12)),
    "three decimals": ("p.csv", csv_text(shown(3)), shown(3)),
    "percents": ("p.csv", csv_text(percents(shown(12))), shown(4)),
    "decimal commas": ("p.csv", csv_text(shown(12), sep=";", decimal=","), shown(12)),
    "savetxt": ("p.txt", saved_text(CHANCES), CHANCES),
    "R write.table": ("p.txt", '"bus" "car" "van"\n' + "".join(f'"{i + 1}" {a!r} {b!r} {c!r}\n' for i, (a, b, c) in enumerate(CHANCES.tolist())), CHANCES),
    "packed": ("p.csv.gz", gzip.compress(csv_text(shown(12)).encode()), shown(12)),
}


def diagonal_metric(melicit):
    shape = layout("confusion", "diagonal", 3, classes=VEHICLES)
    melicit.write("m.json", metric_text("diagonal-linear", shape, a=WEIGHTS.tolist()))
    numpy.save(melicit.folder / "y.npy", numpy.array(VEHICLES)[CLASSES_OF_ROWS])
    return ("apply", "--metric", "m.json", "--labels", "y.npy", "--evidence", "model", "--json", "--probs")


@pytest.mark.parametrize("kind", PROBABILITIES)
def test_probabilities(melicit, kind):
    """The best value by the model's word is the mean of the best weighted probability, after renormalising."""
    name, content, table = PROBABILITIES[kind]
    melicit.write(name, content)
    chances = numpy.asarray(table, dtype=float)
    off = int((numpy.abs(chances.sum(axis=1) - 1) > 1e-6).sum())
    chances = chances / chances.sum(axis=1, keepdims=True)
    got = melicit(*diagonal_metric(melicit), name).done()
    assert numpy.isclose(got.json["classifier"]["value"], (chances * WEIGHTS).max(axis=1).mean(), rtol=1e-12)
    if kind in ("three decimals", "percents", "npy of float16"):
        assert off > 5
        [said] = [text for text in got.json["warnings"] if "sum" in text]
        assert any(word.strip(",.:;").isdigit() and int(word.strip(",.:;")) >= off for word in said.split()), said


@pytest.mark.parametrize("by, taken", [(5e-4, True), (-5e-4, True), (3e-3, False), (-3e-3, False), (0.5, False)])
def test_probabilities_that_do_not_add_up(melicit, by, taken):
    chances = CHANCES.copy()
    row = int(numpy.argmax(chances.min(axis=1)))  # so that what is taken away was there
    chances[row, 1] += by
    melicit.write("p.csv", csv_text(shown(15, chances)))
    got = melicit(*diagonal_metric(melicit), "p.csv")
    if taken:
        best = (chances / chances.sum(axis=1, keepdims=True) * WEIGHTS).max(axis=1).mean()
        assert numpy.isclose(got.done().json["classifier"]["value"], best, rtol=1e-12)
        contains("\n".join(got.json["warnings"]), ["1 of 80 rows"])
    else:
        assert got.code == 3
        contains(got.json["error"]["message"], [f"row {row + 2}", f"{chances[row].sum():.3g}"])
