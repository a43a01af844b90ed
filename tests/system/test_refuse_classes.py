"""What is refused about more than two classes and groups: one sentence, exit 2 or 3."""
import numpy
import pytest
from classes import ROWS, SOFTMAX, layout, metric_text, unit


GOOD_P = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]] * 4
GOOD_Y = list("abc") * 4


@pytest.mark.parametrize("p, y, g, says", [
    ([[0.5, 0.3, 0.3], *GOOD_P[1:]], GOOD_Y, None, ["p.csv", "row 2"]),
    ([[1.5, -0.3, -0.2], *GOOD_P[1:]], GOOD_Y, None, ["p.csv", "row 2"]),
    ([["nan", 0.3, 0.2], *GOOD_P[1:]], GOOD_Y, None, ["p.csv", "row 2", "no number"]),
    (GOOD_P, list("ab") * 6, None, ["p.csv", "3", "y.csv", "2"]),
    (GOOD_P, ["a"] * 12, None, ["y.csv", "one class"]),
    (GOOD_P, list("abcd") * 3, None, ["y.csv", "4"]),
    (GOOD_P, list("abx") * 4, None, ["p.csv", '"c"', '"x"']),
    (GOOD_P, GOOD_Y[:-1], None, ["y.csv", "11", "12"]),
    (GOOD_P, GOOD_Y, list("uv") * 5, ["g.csv", "10", "12"]),
    (GOOD_P, GOOD_Y, [*"uvu", *"uuuuuuuuu"], ["group"]),
    (GOOD_P, GOOD_Y, [*"uvvuvvuvvuv", ""], ["g.csv"]),
])
def test_bad_rows(melicit, p, y, g, says):
    text = "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in p) + "\n"
    melicit.write("p.csv", text)
    melicit.write("y.csv", "label\n" + "\n".join(y) + "\n")
    words = ["--probs", "p.csv", "--labels", "y.csv"]
    if g is not None:
        melicit.write("g.csv", "group,other\n" + "\n".join(f"{x},1" for x in g) + "\n")
        words += ["--groups", "g.csv", "--group", "group"]
    for verb in (["space"], ["apply", "--point", "0.1,0.1,0.1"]):
        melicit(*verb, *words).refused(3, *says)
    family = "fair-linear" if g is not None else "diagonal-linear"
    melicit("elicit", *words, "--family", family).refused(3, *says)


@pytest.mark.parametrize("words, code, says", [
    (("space", *SOFTMAX, "--point", "0.1,0.2"), 2, ["--point", "2", "6", "3"]),
    (("space", *SOFTMAX, "--point", "0.1,0.2,x"), 2, ["--point 0.1,0.2,x"]),
    (("space", *SOFTMAX, "--point", "0.1,0.2,nan"), 2, ["--point"]),
    (("space", *SOFTMAX, "--point", "0.1,,0.2"), 2, ["--point"]),
    (("space", *SOFTMAX, "--thesis", "direction=1,2,3,4"), 2, ["--thesis direction", "4"]),
    (("space", *SOFTMAX, "--thesis", "direction=0,0,0"), 2, ["direction"]),
    (("space", *SOFTMAX, "--point", "0.1,0.2,0.3", "--thesis", "direction=1,2"), 2, ["--point", "--thesis direction"]),
    (("space", *SOFTMAX, "--thesis", "coordinates=binary"), 3, ["3 classes"]),
    (("space", "--population", "logistic:5,0", "--point", "0.1,0.2,0.3"), 2, ["--point", "3", "2"]),
    (("space", "--population", "softmax:1"), 2, ["softmax:1"]),
    (("space", "--population", "softmax:1,1,1"), 2, []),
    (("space", "--population", "softmax:1,x,3"), 2, ["softmax:1,x,3"]),
    (("space", "--population", "softmax:1,2,9999"), 2, []),
    (("space", "--population", "logistic:5,1", "--thesis", "kind=rates"), 2, ["b = 0"]),
    (("space", "--ball", "1", "--radius", "0.1"), 2, ["--ball 1"]),
    (("space", "--ball", "3"), 2, ["--radius"]),
    (("space", "--ball", "3", "--radius", "0.9"), 2, ["0.9"]),
    (("space", "--ball", "3,2,1", "--radius", "0.1"), 2, ["--ball 3,2,1"]),
    (("space", "--ball", "2.5", "--radius", "0.1"), 2, ["--ball 2.5"]),
    (("space", "--ball", "3", "--radius", "0.1", "--point", "0.1,0.1,0.1"), 2, ["--point"]),
    (("space", "--ball", "3", "--radius", "0.1", "--thesis", "kind=confusion"), 2, ["kind=confusion"]),
    (("space", "--ball", "3", "--radius", "0.1", *SOFTMAX), 2, ["exclude"]),
    (("space", "--ball", "3,2", "--radius", "0.1", "--prevalence", "absent.csv"), 3, ["absent.csv"]),
    (("space", "--ball", "3", "--radius", "0.1", "--prevalence", "absent.csv"), 2, ["--prevalence"]),
    (("space", *SOFTMAX, "--prevalence", "absent.csv"), 2, ["--prevalence"]),
    (("space", *SOFTMAX, "--groups", "g.csv"), 2, ["--groups"]),
    (("space", *SOFTMAX, "--thesis", "smooth"), 2, ["smooth"]),
    (("space", *SOFTMAX, "--classes", "a,b"), 2, ["--classes a,b", "3"]),
    (("space", *SOFTMAX, "--classes", "a,b,a"), 2, ["--classes a,b,a"]),
    (("space", *SOFTMAX, "--radius", "0.01"), 2, ["--radius"]),
    (("apply", "--ball", "3", "--radius", "0.1", "--point", "0.1,0.1,0.1"), 2, []),
    (("apply", *SOFTMAX, "--point", "0.3,0.3,0.3"), 2, ["not achievable"]),
    (("elicit", *SOFTMAX, "--family", "fair-linear"), 2, ["groups"]),
    (("elicit", "--ball", "3", "--radius", "0.1", "--family", "fair-linear"), 2, ["groups", "--ball 3,2"]),
    (("elicit", "--data", "breast_cancer_original", "--family", "fair-quadratic"), 2, ["--group"]),
    (("elicit", *SOFTMAX, "--family", "polynomial:1"), 2, ["polynomial:1"]),
    (("elicit", *SOFTMAX, "--family", "diagonal"), 2, ["diagonal", "diagonal-linear"]),
    (("elicit", "--ball", "3", "--radius", "0.1", "--family", "monotone"), 2, ["monotone"]),
    (("elicit", *SOFTMAX, "--thesis", "per-round=5"), 2, ["--thesis per-round"]),
    (("elicit", *SOFTMAX, "--thesis", "per-round=3"), 2, ["per-round is for a search", "active"]),
    (("elicit", *SOFTMAX, "--thesis", "tournament"), 2, ["tournament is for a search for diagonal metrics"]),
    (("elicit", *SOFTMAX, "--family", "linear-fractional", "--known", "p11=1"), 2, ["known-p11", "two classes"]),
    (("elicit", "--population", "logistic:a=5,b=0", "--strategy", "search", "--thesis", "cycles=3"), 2, ["cycles", "a ball"]),
    (("predict", "--classifier", "c.json", "--out", "d.npy"), 2, ["--probs"]),
    (("predict", "--probs", "p.npy", "--out", "d.npy"), 2, ["--classifier"]),
    (("predict", "--model", "m.json", "--data", "d", "--classifier", "c.json", "--probs", "p.npy", "--out", "d.npy"), 2, ["--probs"]),
    (("predict", "--classifier", "absent.json", "--probs", "p.npy", "--out", "d.npy"), 3, ["absent.json"]),
    (("rank", "--metric", "absent.json", "--pool", "p.csv"), 3, ["absent.json"]),
])
def test_refusals(melicit, words, code, says):
    melicit(*words).refused(code, *says)


def test_prevalence_is_checked(melicit):
    words = ("space", "--ball", "2,2", "--radius", "0.1", "--prevalence", "v.csv")
    for text, says in (("a,b\n0.5,0.5\n", "2 columns"), ("a,b\n0.5,0.5\n0.5,0.6\n", "class 2"), ("a,b\n0.5,0\n0.5,1\n", "0 is not"),
                       ("a,b,c\n0.5,0.5,1\n0.5,0.5,1\n", "3 columns")):
        melicit.write("v.csv", text)
        melicit(*words).refused(3, "v.csv", says)


def test_weights_are_for_planar_faces(melicit):
    header = "x,w,label\n"
    melicit.write("t.csv", header + "".join(f"{i * 7 % 5},{1 + i % 2},{'abc'[i % 3]}\n" for i in range(60)))
    melicit("space", "--data", "t.csv", "--weights", "w").refused(2, "--weights")


def test_metric_for_other_classes(melicit, sample):
    found = []
    for order, a in (("012", [0.2, 0.5, 0.3]), ("021", [0.2, 0.3, 0.5])):
        shape = layout("confusion", "diagonal", 3, classes=order)
        melicit.write("m.json", metric_text("diagonal-linear", shape, a=a))
        found.append(melicit("apply", *ROWS, "--metric", "m.json", "--json").done().json["classifier"])
    assert found[0] == found[1]
    melicit.write("m.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3, classes="abc"), a=[0.2, 0.3, 0.5]))
    melicit("apply", *ROWS, "--metric", "m.json").refused(3, "m.json", '"a"', '"0"', "--rename 0=a,1=b,2=c")
    melicit("apply", *ROWS, "--metric", "m.json", "--rename", "0=a,1=b,2=c").done()
    melicit.write("m.json", metric_text("linear", layout("rates", "offdiagonal", 3), a=unit([1] * 6)))
    melicit("elicit", *ROWS, "--oracle", "sim:m.json").refused(3, "m.json", "--thesis kind=rates")
    melicit.write("m.json", metric_text("quadratic", layout("rates", "offdiagonal", 3), "cost", a=unit([1] * 6),
                                        B=numpy.eye(6).tolist()))
    melicit("apply", *ROWS, "--metric", "m.json").done()


@pytest.mark.parametrize("text, says", [
    ("name,c1,c2\nx,0.1,0.2\n", ['"c1"', '"0"']),
    ("name,a,b,c\nx,0.1,0.2,0.3\n", ['"a"', '"0"']),
    ("name,0,1\nx,0.1,0.2\n", ['"2"']),
    ("name,0,1,2\nx,0.1,0.2,1.3\n", ["classifier 1", "column 2", "1.3"]),
    ("name,0,1,2\nx,0.1,0.2,0.3\ny,0.5,0.4,0.3\n", ["classifier 2", "1.2"]),
    ("name,0,1,2\nx,0.1,?,0.3\n", ["classifier 1"]),
])
def test_bad_pool(melicit, text, says):
    melicit.write("m.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3), a=[0.2, 0.3, 0.5]))
    melicit.write("pool.csv", text)
    melicit("rank", "--metric", "m.json", "--pool", "pool.csv").refused(3, "pool.csv", *says)
    melicit("score", "--metric", "m.json", "--statistics", "pool.csv").refused(3, "pool.csv", *says)
