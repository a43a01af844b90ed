"""Headers of class names, also where they are numbers: probabilities, pools, prevalences and labels are matched by name,
whatever the names look like, and what cannot be matched is refused."""

import numpy
import pytest
from classes import layout, metric_text

P = numpy.array([0.1, 0.4, 0.35, 0.8, 0.2, 0.9, 0.6, 0.3])  # of the class that is second in every list below
TRUTH = [0, 0, 1, 1, 0, 1, 0, 0]


def table(header, columns):
    return header + "\n" + "".join(",".join(map(repr, map(float, row))) + "\n" for row in zip(*columns))


def write_rows(melicit, names, header=None, columns=(1 - P, P)):
    melicit.write("y.csv", "label\n" + "".join(f"{names[i]}\n" for i in TRUTH))
    melicit.write("p.csv", table(",".join(names) if header is None else header, columns))


def apply(melicit, *options, probs="p.csv"):
    """The best threshold on the probability of the positive class: columns that were exchanged would invert it."""
    melicit.write("roles.json", metric_text("linear", layout("confusion", "binary", 2, classes=["negative", "positive"]), a=[0.8, 0.6]))
    return melicit("apply", "--metric", "roles.json", "--probs", probs, "--labels", "y.csv", "--evidence", "labels", "--json", *options)


def rule(melicit, *options, **files):
    best = apply(melicit, *options, **files).done().json["classifier"]
    return [(round(one["threshold"], 12), one["inverted"]) for one in best["rules"]], best["statistics"]


@pytest.fixture
def want(melicit):
    write_rows(melicit, ["no", "yes"])
    best = rule(melicit)  # midway between 0.8, the lowest that is accepted, and 0.6
    assert best == ([(0.7, False)], {"tp": 0.25, "tn": 0.625, "fn": 0.125, "fp": 0.0})
    return best


# ---- headers of numbers ----

@pytest.mark.parametrize("names", [("0", "1"), ("1", "2"), ("-1", "1"), ("0.5", "1.5"), ("7", "2019"), ("NA", "Some")])
@pytest.mark.parametrize("swap", [False, True])
def test_classes_in_the_header_of_probabilities(melicit, want, names, swap):
    """No warning: strict reading accepts them, whichever class is positive and comes first."""
    write_rows(melicit, names, ",".join(names[::-1] if swap else names), (P, 1 - P) if swap else (1 - P, P))
    melicit.write("y.csv", "label\n" + "".join(f'"{names[i]}"\n' if names[i] == "NA" else f"{names[i]}\n" for i in TRUTH))  # in quotes numbers are texts
    assert rule(melicit, "--read", "strict", "--positive", names[1]) == want
    assert apply(melicit, "--positive", names[1]).done().json.get("warnings", []) == []


@pytest.mark.parametrize("labels", [("1", "2"), ("-1", "1"), ("0", "1")])
def test_predictions_of_the_program_are_probabilities_for_it(melicit, labels):
    """train, then predict --out p.csv, then space --probs p.csv: as strict as can be, with the same rows as NPY."""
    rng = numpy.random.default_rng(3)
    x = rng.normal(size=200)
    y = (x + rng.normal(size=200) > 0).astype(int)
    melicit.write("t.csv", "x,label\n" + "".join(f"{a!r},{labels[b]}\n" for a, b in zip(x.tolist(), y)))
    melicit.write("y.csv", "label\n" + "".join(f"{labels[b]}\n" for b in y))
    melicit("train", "--data", "t.csv", "--out", "m.json", "--positive", labels[0]).done()
    for name in ("p.csv", "p.npy"):
        melicit("predict", "--model", "m.json", "--data", "t.csv", "--out", name).done()
    assert rule(melicit, "--read", "strict") == rule(melicit, probs="p.npy")
    assert melicit("space", "--probs", "p.csv", "--labels", "y.csv", "--json", "--read", "strict").done().json["rows"] == 200


def test_header_that_could_be_data_is_told(melicit, want):
    """0.0,1.0 in place of 0,1 may be the first probabilities: a warning, and a refusal when strict."""
    write_rows(melicit, ["0", "1"], "0.0,1.0")
    [text] = apply(melicit).done().json["warnings"]
    assert rule(melicit) == want and "row 1" in text and "header=no" in text
    melicit("space", "--probs", "p.csv", "--labels", "y.csv", "--read", "strict").refused(3, "p.csv", "row 1")
    melicit.write("p.csv", "0,1\n" + "".join(f"{1 - i},{i}\n" for i in TRUTH))
    assert "row 1" in apply(melicit).done().json["warnings"][0]


def test_prevalence_of_numbered_classes(melicit):
    words = ("space", "--ball", "2,2", "--radius", "0.2", "--prevalence", "v.csv", "--json", "--read", "strict")
    melicit.write("v.csv", "low,high\n0.25,0.5\n0.75,0.5\n")
    want = melicit(*words, "--classes", "low,high").done().json
    for text in ("5,7\n0.25,0.5\n0.75,0.5\n", "7,5\n0.5,0.25\n0.5,0.75\n", "group,7,5\n2,0.5,0.75\n1,0.5,0.25\n"):
        melicit.write("v.csv", text)
        got = melicit(*words, "--classes", "5,7").done().json
        assert {**got, "classes": want["classes"]} == want
    melicit.write("v.csv", "7,5\n0.6,0.25\n0.5,0.75\n")
    melicit(*words[:7], "--classes", "5,7").refused(3, "v.csv", "class 2 add up to 1.1")


# ---- names in other spellings ----

def test_numbers_spelt_otherwise(melicit, want):
    write_rows(melicit, ["0", "1"])
    flipped = rule(melicit, "--positive", "0")
    assert rule(melicit, "--positive", "1.0") == want != flipped == rule(melicit, "--positive", "0.0")
    assert rule(melicit, "--classes", "0.0,1.0") == want
    assert rule(melicit, "--classes", "1.0,0.0") == flipped
    melicit("space", "--probs", "p.csv", "--labels", "y.csv", "--classes", "0,0.0").refused(2, '"0.0"')
    write_rows(melicit, ["0", "1"], "1.0,0.0", (P, 1 - P))
    assert rule(melicit) == want


def test_no_number_is_a_misspelt_class(melicit):
    write_rows(melicit, ["0", "1"])
    got = melicit("space", "--probs", "p.csv", "--labels", "y.csv", "--positive", "2")
    got.refused(3, '"2"', '"0" and "1"')
    assert "did you mean" not in got.err


@pytest.mark.parametrize("classes", [["0.0", "1.0"], ["1.0", "0"]])
def test_metric_of_numbers_spelt_otherwise(melicit, classes):
    shape = layout("confusion", "diagonal", 2, classes=classes)
    melicit.write("m.json", metric_text("diagonal-linear", shape, a=[0.6, 0.8]))
    melicit.write("y.csv", "label\n0\n0\n1\n1\n1\n")
    melicit.write("d.csv", "decision\n0\n1\n1\n1\n0\n")
    got = melicit("score", "--metric", "m.json", "--labels", "y.csv", "--predictions", "d.csv", "--json").done().json
    of_zero, of_one = (0.6, 0.8) if classes[0] == "0.0" else (0.8, 0.6)
    assert numpy.isclose(got["scores"][0]["value"], of_zero * 0.2 + of_one * 0.4, rtol=1e-14)


def test_probability_columns_in_any_case(melicit, want):
    write_rows(melicit, ["no", "yes"], "YES,No", (P, 1 - P))
    assert rule(melicit) == want
    write_rows(melicit, ["No", "no"], "no,No", (P, 1 - P))
    assert rule(melicit, "--positive", "no") == want  # as it is spelt comes first
    write_rows(melicit, ["No", "no"], "NO,no")
    melicit("space", "--probs", "p.csv", "--labels", "y.csv").refused(3, "p.csv", '"NO"')


def test_classes_called_c1_and_c2(melicit, want):
    write_rows(melicit, ["c1", "c2"])
    assert rule(melicit, "--positive", "c2") == want
    write_rows(melicit, ["c1", "c2"], "c2,c1", (P, 1 - P))
    assert rule(melicit, "--positive", "c2") == want
    write_rows(melicit, ["a", "b"], "c1,c2", (P, 1 - P))
    assert rule(melicit, "--rename", "a=c2,b=c1", "--positive", "b") == want


def test_names_of_other_programs(melicit, want):
    """tidymodels' .pred_yes and frames of predict_proba: what is behind the common beginning is the class."""
    for labels, names in ((["no", "yes"], ".pred_yes,.pred_no"), (["0", "1"], "proba_1,proba_0"), (["no", "yes"], "prob_yes,prob_no")):
        write_rows(melicit, labels, names, (P, 1 - P))
        assert rule(melicit) == want, names
    write_rows(melicit, ["no", "yes"], ".pred_yes,prob_no", (P, 1 - P))
    melicit("space", "--probs", "p.csv", "--labels", "y.csv").refused(3, '".pred_yes" and "prob_no"', '"no" and "yes"')
    melicit.write("p.csv", ".pred_class,.pred_no,.pred_yes\n" + "".join(f"no,{1 - p},{p}\n" for p in P))
    melicit("space", "--probs", "p.csv", "--labels", "y.csv").refused(3, 'column ".pred_class" is none of the classes', "leave it out")


def test_sums_of_doubles(melicit):
    """1.0000000000000002 is 1; 1.001 is no probability."""
    melicit.write("y.csv", "label\nno\nyes\nno\nyes\n")
    for top, low in ((1.0000000000000002, -2.220446049250313e-16), (1.001, -0.001)):
        melicit.write("p.csv", "no,yes\n" + f"{top!r},{low!r}\n0.2,0.8\n0.7,0.3\n0.1,0.9\n")
        got = melicit("space", "--probs", "p.csv", "--labels", "y.csv")
        got.done() if top < 1.0005 else got.refused(3, "row 2", "1.0009999999999999 is not within 0 and 1")


# ---- one column of probabilities ----

@pytest.mark.parametrize("name, of_no", [("no", True), ("No", True), ("NO", True), ("yes", False), ("YES", False), ("p", False),
                                         ("Probability", False), ("y_score", False), ("c1", False), ("prob_no", True), (".pred_yes", False), ("p_Yes", False)])
def test_one_column_by_its_name(melicit, want, name, of_no):
    write_rows(melicit, ["no", "yes"], name, (1 - P if of_no else P,))
    assert rule(melicit) == want


@pytest.mark.parametrize("name", ["pred_prob_no", "P(no)", "n", "x1"])
def test_one_column_of_nobody_is_refused(melicit, want, name):
    write_rows(melicit, ["no", "yes"], name, (1 - P,))
    melicit("space", "--probs", "p.csv", "--labels", "y.csv").refused(3, "p.csv", f'"{name}"', '"no" and "yes"', "columns")
    assert rule(melicit, "--read", "columns=no") == want


def test_one_column_under_the_default_name_of_pandas(melicit, want):
    """Class 0, or a column without a name: --read columns says which."""
    write_rows(melicit, ["0", "1"], "0", (P,))
    melicit("space", "--probs", "p.csv", "--labels", "y.csv").refused(3, "p.csv", '"0"', "columns")
    assert rule(melicit, "--read", "columns=1") == want
    write_rows(melicit, ["no", "yes"], "0", (P,))
    assert rule(melicit) == want


# ---- labels under a default name ----

def test_labels_under_the_default_name_of_pandas(melicit):
    """A lone 0 over labels without a 0 is a name; over others it may be a label, and that is told."""
    words = ("score", "--named", "accuracy", "--labels", "y.csv", "--predictions", "d.csv", "--positive")
    melicit.write("y.csv", "0\n1\n2\n2\n1\n")
    melicit.write("d.csv", "0\n1\n1\n2\n1\n")
    got = melicit(*words, "2", "--json").done().json
    assert numpy.isclose(got["scores"][0]["accuracy"], 0.75) and len(got["warnings"]) == 2
    melicit.write("y.csv", "0\n1\n0\n0\n1\n")
    melicit.write("d.csv", "0\n1\n1\n0\n1\n")
    got = melicit(*words, "1", "--json").done().json
    assert numpy.isclose(got["scores"][0]["accuracy"], 0.8) and all("header=yes" in text for text in got["warnings"]) and len(got["warnings"]) == 2
    got = melicit(*words, "1", "--json", "--read", "header=yes").done().json
    assert numpy.isclose(got["scores"][0]["accuracy"], 0.75)


# ---- pools ----

def rank(melicit, classes, pool, *options):
    shape = layout("confusion", "diagonal", 2, classes=classes)
    melicit.write("m.json", metric_text("diagonal-linear", shape, a=[0.8, 0.6]))
    melicit.write("pool.csv", pool)
    return melicit("rank", "--metric", "m.json", "--pool", "pool.csv", *options)


def order(melicit, classes, pool):
    return [(one["name"], round(one["value"], 12)) for one in rank(melicit, classes, pool, "--json", "--read", "strict").done().json["order"]]


@pytest.mark.parametrize("classes, header", [
    (["0", "1"], "name,1,0"), (["0", "1"], "name,1.0,0.0"), (["c1", "c2"], "name,c2,c1"), (["c2", "c1"], "name,c1,c2"), (["1", "2"], "Name,2,1"),
    (["None", "NA"], "name,NA,None"), (["no", "yes"], "name,YES,No"),
])
def test_pool_of_any_class_names(melicit, classes, header):
    """Values 0.8 of the first class and 0.6 of the second, which the file has first."""
    assert order(melicit, classes, header + "\na,.3,.5\nb,.2,.6\n") == [("b", 0.6), ("a", 0.58)]


def test_pool_without_names_of_rows(melicit):
    assert order(melicit, ["0", "1"], "1,0\n.3,.5\n.2,.6\n") == [("2", 0.6), ("1", 0.58)]


def test_pool_under_an_index_of_pandas(melicit):
    for corner in ("", "Unnamed: 0"):
        assert order(melicit, ["no", "yes"], corner + ",yes,no\nrf,.3,.5\nsvm,.2,.6\n") == [("svm", 0.6), ("rf", 0.58)]
        assert order(melicit, ["0", "1"], corner + ",1,0\nrf,.3,.5\nrf,.2,.6\n") == [("rf", 0.6), ("rf", 0.58)]


def test_names_of_classifiers_stay_as_they_are(melicit):
    got = order(melicit, ["no", "yes"], "name,yes,no\n20200101,.3,.5\n0007,.2,.6\n1e3,.1,.1\n")
    assert [name for name, _ in got] == ["0007", "20200101", "1e3"]


@pytest.mark.parametrize("text", [".3,.5\n.2,.6\n", "a,.3,.5\nb,.2,.6\n"])
def test_pool_without_names_of_columns_is_refused(melicit, text):
    rank(melicit, ["no", "yes"], text).refused(3, "pool.csv", "no names", "name,no")
    numpy.save(melicit.folder / "pool.npy", numpy.array([[0.5, 0.3], [0.6, 0.2]]))
    got = melicit("rank", "--metric", "m.json", "--pool", "pool.npy", "--json").done().json["order"]
    assert [round(one["value"], 12) for one in got] == [0.6, 0.58]
    numpy.save(melicit.folder / "pool.npy", numpy.zeros((2, 3)))
    melicit("rank", "--metric", "m.json", "--pool", "pool.npy").refused(3, "pool.npy", "3 columns", "expected 2")


def test_pool_in_two_cases_is_refused(melicit):
    rank(melicit, ["No", "no"], "name,NO,no\na,.3,.5\n").refused(3, "pool.csv", '"NO"')
