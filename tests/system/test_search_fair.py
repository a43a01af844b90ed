"""The searches for fair metrics through the program: sessions, the trade-off, degenerate metrics, real groups."""
import json

import numpy
import pytest
from classes import layout, metric_text

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

PREVALENCE = numpy.array([[0.2, 0.5], [0.3, 0.3], [0.5, 0.2]])
SHAPE = layout("rates", "offdiagonal", 2, "123")
SEARCH = ("--strategy", "search", "--tolerance", 0.001, "--thesis", "per-round=2")
PAIRS = ("1-2", "1-3", "2-3")
LINEAR = {"a": [0.6, 0.8], "b": [[0.3, 0.1], [0.1, 0.2], [0.2, 0.4]], "lambda": 0.4}
QUADRATIC = {"a": [0.6, 0.8], "B": [[[0.8, 0.1], [0.1, 0.3]], [[0.4, -0.1], [-0.1, 0.5]], [[0.3, 0.2], [0.2, 0.6]]],
             "lambda": 0.6}
# Questions at one place: whether there is a slope and, of unknown signs, two more; one angle, searched twice.
SURE = 1 + 2 * 11 * 2
UNSURE = SURE + 2
TRADE_OFF = 10 * 2


def normalised(coefficients):
    key = "B" if "B" in coefficients else "b"
    apart = [numpy.array(block, dtype=float) for block in blocks(coefficients[key])]
    size = sum(numpy.linalg.norm(block) for block in apart) * (0.5 if key == "B" else 1)
    a = numpy.array(coefficients["a"]) / numpy.linalg.norm(coefficients["a"])
    return a, numpy.array(apart) / size, coefficients["lambda"]


def blocks(value):
    return list(value.values()) if isinstance(value, dict) else value


def write_metric(melicit, name, family, coefficients):
    """Each part at the size that lambda refers to."""
    a, apart, trade_off = normalised(coefficients)
    key = "B" if "B" in coefficients else "b"
    numbers = {"a": a.tolist(), key: dict(zip(PAIRS, apart.tolist())), "lambda": trade_off,
               "prevalence": PREVALENCE.tolist()}
    melicit.write(name, metric_text(family, SHAPE, "cost", **numbers))


@pytest.fixture
def ball(melicit):
    melicit.write("prevalence.csv", "0,1\n" + "\n".join(",".join(map(str, row)) for row in PREVALENCE) + "\n")
    return ("--ball", "2,3", "--radius", 0.2, "--prevalence", "prevalence.csv")


@pytest.mark.parametrize("family, truth, more, questions", [
    ("fair-linear", LINEAR, (), SURE + 6 * UNSURE),
    ("fair-linear", LINEAR, ("--thesis", "ask-trade-off",), SURE + 6 * UNSURE + TRADE_OFF),
    ("fair-linear", LINEAR, ("--known", "t.json"), TRADE_OFF),
    ("fair-linear", LINEAR, ("--known", "costs=t.json"), 6 * UNSURE),
    ("fair-quadratic", QUADRATIC, (), 3 * (SURE + 3 * UNSURE)),
    ("fair-quadratic", QUADRATIC, ("--known", "t.json"), TRADE_OFF),
])
def test_stop_undo_and_go_on(melicit, ball, family, truth, more, questions):
    """A session that was left in mid-search, with answers taken back, ends where an unbroken one does."""
    write_metric(melicit, "t.json", family, truth)
    words = ("elicit", *ball, "--family", family, *SEARCH, "--oracle", "sim:t.json", "--json", *more)
    whole = melicit(*words, "--session", "whole.jsonl").done().json
    assert whole["questions"] == questions
    for got, want in zip(normalised(whole["metric"]["coefficients"]), normalised(truth)):
        assert numpy.abs(got - want).max() <= (0.1 if family == "fair-quadratic" else 0.01)
    stop = questions * 3 // 4
    part = melicit(*words, "--session", "part.jsonl", "--max-questions", stop).done().json
    assert part["questions"] == stop and part["end"] == "budget"
    with open(melicit.folder / "part.jsonl", "a") as file:
        file.write("".join(json.dumps({"undo": n}) + "\n" for n in range(stop, stop - 9, -1)))
    rest = melicit("elicit", "--session", "part.jsonl", "--oracle", "sim:t.json", "--max-questions", 10**6,
                   "--json").done().json
    assert rest["metric"] == whole["metric"] and rest["questions"] == questions
    melicit("report", "--session", "part.jsonl", "--out", "r.html").done()


def test_equal_pairs(melicit, ball):
    truth = dict(LINEAR, b=[[0.2, 0.4]] * 3)
    write_metric(melicit, "t.json", "fair-linear", truth)
    got = melicit("elicit", *ball, "--family", "fair-linear", *SEARCH, "--known", "equal-pairs", "--oracle", "sim:t.json",
                  "--json").done().json
    assert got["questions"] == SURE + 2 * UNSURE
    for found, want in zip(normalised(got["metric"]["coefficients"]), normalised(truth)):
        assert numpy.abs(found - want).max() <= 0.002


@pytest.mark.parametrize("family, truth, more, most", [
    ("fair-linear", LINEAR, ("--known", "costs=t.json"), 40),
    ("fair-linear", LINEAR, ("--known", "t.json"), 7),
    ("fair-quadratic", QUADRATIC, ("--known", "t.json"), 7),
])
def test_active_with_a_known_metric(melicit, ball, family, truth, more, most):
    """Few questions, and a session that is left goes on without the file of the known metric."""
    write_metric(melicit, "t.json", family, truth)
    words = ("elicit", *ball, "--family", family, "--oracle", "sim:t.json", "--json", *more)
    whole = melicit(*words, "--session", "whole.jsonl").done().json
    assert whole["questions"] <= most
    for got, want in zip(normalised(whole["metric"]["coefficients"]), normalised(truth)):
        assert numpy.abs(got - want).max() <= 0.1
    melicit(*words, "--session", "part.jsonl", "--max-questions", 3).done()
    (melicit.folder / "t.json").rename(melicit.folder / "moved.json")
    rest = melicit("elicit", "--session", "part.jsonl", "--oracle", "sim:moved.json", "--max-questions", 200, "--json").done().json
    assert rest["metric"] == whole["metric"] and rest["questions"] == whole["questions"]


def widths(intervals):
    """Of the intervals of a, of all pairs of groups, and of lambda."""
    key = "B" if "B" in intervals else "b"
    apart = numpy.concatenate([numpy.ravel(numpy.diff(numpy.array(block))) for block in blocks(intervals[key])])
    return numpy.ravel(numpy.diff(numpy.array(intervals["a"]))), apart, numpy.diff(intervals["lambda"])


@pytest.mark.parametrize("family, truth", [("fair-linear", LINEAR), ("fair-quadratic", QUADRATIC)])
@pytest.mark.parametrize("strategy, radius", [("search", 0.2), ("search", 0.163), ("active", 0.2)])
@pytest.mark.parametrize("trade_off, finding, sentence", [
    (0, "no-differences", "Differences between groups do not matter"),
    (1, "no-mistakes", "Only differences between groups matter"),
])
def test_degenerate_in_words(melicit, ball, family, truth, strategy, radius, trade_off, finding, sentence):
    """Said in a sentence on the screen, in JSON and on the page; what has no meaning may be anything."""
    write_metric(melicit, "t.json", family, dict(truth, **{"lambda": trade_off}))
    words = ("elicit", *ball[:2], "--radius", radius, *ball[4:], "--family", family, "--oracle", "sim:t.json",
             *(SEARCH if strategy == "search" else ()))
    got = melicit(*words, "--json", "--report", "r.html").done().json
    assert got["finding"] == finding and got["finding_text"].startswith(sentence)
    assert got["metric"]["coefficients"]["lambda"] == trade_off
    mistakes, apart, _ = widths(got["metric"]["intervals"])
    assert (mistakes if trade_off else apart).min() >= 1
    assert (mistakes if not trade_off else apart[:0]).max(initial=0) <= 0.1
    assert sentence in (melicit.folder / "r.html").read_text()
    assert sentence in melicit(*words).done().out


def test_a_group_without_rows_of_a_class(melicit, ball):
    """Nobody can be asked about rates that are 0/0: the group and the class are named."""
    rng = numpy.random.default_rng(1)
    p, y, g = rng.dirichlet([1, 1, 1], 60), numpy.arange(60) % 3, numpy.arange(60) // 3 % 2
    g[y == 2] = 0
    numpy.save(melicit.folder / "p.npy", p)
    melicit.write("y.csv", "y\n" + "\n".join(("low", "middle", "high")[i] for i in y) + "\n")
    melicit.write("g.csv", "g\n" + "\n".join(("women", "men")[i] for i in g) + "\n")
    for family in ("fair-linear", "fair-quadratic"):
        for strategy in ("search", "active"):
            words = ("elicit", "--family", family, "--strategy", strategy, "--oracle", "cmd:true")
            melicit(*words, "--probs", "p.npy", "--labels", "y.csv", "--groups", "g.csv").refused(
                3, 'group "men" has no rows of class "high"')
            melicit.write("prevalence.csv", "0,1\n0.5,0.5\n0.5,0\n0,0.5\n")
            melicit(*words, *ball).refused(3, "prevalence.csv", "group 3, class 1: 0")


def test_refusals(melicit, ball):
    write_metric(melicit, "t.json", "fair-linear", LINEAR)
    write_metric(melicit, "q.json", "fair-quadratic", QUADRATIC)
    words = ("elicit", *ball, "--family", "fair-linear", "--oracle", "sim:t.json")
    melicit(*words, "--strategy", "active", "--thesis", "ask-trade-off").refused(2, "ask-trade-off is for a search")
    melicit(*words, "--strategy", "active", "--known", "t.json", "--known", "equal-pairs").refused(2, "gives all weights")
    melicit(*words, *SEARCH, "--known", "q.json").refused(2, "fair-quadratic")
    melicit(*words, *SEARCH, "--known", "diagonal-b").refused(2, "diagonal-b is for quadratic and fair quadratic metrics")
    nil = dict(LINEAR, a=[1, 0])
    a, apart, _ = normalised(nil)
    numbers = {"a": [0, 0], "b": dict(zip(PAIRS, apart.tolist())), "lambda": 0.5, "prevalence": PREVALENCE.tolist()}
    melicit.write("nil.json", metric_text("fair-linear", SHAPE, "cost", **numbers))
    melicit(*words, *SEARCH, "--known", "nil.json").refused(2, "has no weights of mistakes")
