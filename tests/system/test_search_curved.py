"""The searches for quadratic and polynomial metrics through the program: sessions, options, degenerate metrics."""
import json

import numpy
import pytest
from classes import layout, metric_text

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

BALL = ("--ball", 2, "--radius", 0.2)
SEARCH = ("--strategy", "search", "--tolerance", 0.001)
FINER = ("--strategy", "search", "--tolerance", 1e-5)
SHAPE = layout("rates", "offdiagonal", 2)
QUADRATIC = {"a": [0.3, 0.5], "B": [[0.6, 0.1], [0.1, -0.5]]}
CUBIC = {"a": [0.3, 0.5], "B": [[0.6, 0.1], [0.1, -0.5]],
         "C": [[[0.5, 0.1], [0.1, -0.2]], [[0.1, -0.2], [-0.2, 0.4]]]}


def flat(coefficients):
    numbers = numpy.concatenate([numpy.ravel(coefficients[key]) for key in ("a", "B", "C") if key in coefficients])
    return numbers / numpy.linalg.norm(numbers)


@pytest.mark.parametrize("family, coefficients, more, questions", [
    ("quadratic", QUADRATIC, (), 4 * (3 + 2 * 11 * 4)),
    ("quadratic", {"a": [0.3, 0.5], "B": [[0.6, 0], [0, -0.5]]}, ("--known", "diagonal-b",), 3 * (3 + 2 * 11 * 4)),
    ("polynomial:3", CUBIC, FINER, 9 * (3 + 2 * 18 * 4)),
])
def test_stop_undo_and_go_on(melicit, family, coefficients, more, questions):
    """A session that was left in mid-search, with answers taken back, ends where an unbroken one does."""
    melicit.write("t.json", metric_text(family, SHAPE, "cost", **coefficients))
    words = ("elicit", *BALL, "--family", family, "--oracle", "sim:t.json", "--json", *more,
             *(() if more == FINER else SEARCH))
    whole = melicit(*words, "--session", "whole.jsonl").done().json
    assert whole["questions"] == questions
    assert numpy.abs(flat(whole["metric"]["coefficients"]) - flat(coefficients)).max() <= 0.05
    part = melicit(*words, "--session", "part.jsonl", "--max-questions", 150).done().json
    assert part["questions"] == 150 and part["end"] == "budget"
    path = melicit.folder / "part.jsonl"
    with open(path, "a") as file:
        file.write("".join(json.dumps({"undo": n}) + "\n" for n in range(150, 120, -1)))
    rest = melicit("elicit", "--session", "part.jsonl", "--oracle", "sim:t.json", "--max-questions", 10**6,
                   "--json").done().json
    assert rest["metric"] == whole["metric"] and rest["questions"] == questions
    melicit("report", "--session", "part.jsonl", "--out", "r.html").done()


def test_options_are_the_session_s(melicit):
    melicit.write("t.json", metric_text("quadratic", SHAPE, "cost", **QUADRATIC))
    words = ("elicit", *BALL, "--family", "quadratic", *SEARCH, "--oracle", "sim:t.json", "--max-questions", 9)
    melicit(*words, "--thesis", "cycles=3", "--session", "s.jsonl").done()
    options = json.loads((melicit.folder / "s.jsonl").read_text().splitlines()[0])["options"]
    assert options["cycles"] == 3 and "diagonal_b" not in options and "known" not in options
    melicit(*words, "--thesis", "cycles=3", "--known", "diagonal-b", "--session", "s.jsonl").refused(6, "options.diagonal_b")


@pytest.mark.parametrize("words, parts", [
    (("--known", "equal-pairs",), ("equal-pairs is for fair metrics",)),
    (("--known", "t.json"), ("known is for fair metrics",)),
    (("--known", "t.json", "--known", "costs=t.json"), ("--known costs",)),
    (("--known", "none.json"), ("none.json",)),
])
def test_refusals(melicit, words, parts):
    melicit.write("t.json", metric_text("quadratic", SHAPE, "cost", **QUADRATIC))
    got = melicit("elicit", *BALL, "--family", "quadratic", *SEARCH, "--oracle", "sim:t.json", *words)
    got.refused(3 if "none.json" in words else 2, *parts)


def curved(k, diagonal, flat):
    """A metric of k classes: without a slope where all rates are 1/k, or without curvature."""
    rng = numpy.random.default_rng(k)
    q = k * (k - 1)
    if not flat:
        return rng.normal(size=q), numpy.zeros((q, q))
    b = rng.normal(size=(q, q))
    b = numpy.diag(numpy.diag(b)) if diagonal else b + b.T
    return -b @ numpy.full(q, 1 / k), b


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("more", [(), ("--known", "diagonal-b",)])
@pytest.mark.parametrize("flat, finding, sentence", [
    (False, "no-curvature", "The metric is linear as far as the answers tell"),
    (True, "flat-centre", "At the uniform classifier the respondent minds no small change"),
])
def test_degenerate_in_words(melicit, k, more, flat, finding, sentence):
    """A metric that lacks a part: a sentence, on the screen, in JSON and on the page, though rounding answers where
    there is no slope."""
    a, b = curved(k, bool(more), flat)
    size = numpy.sqrt((a ** 2).sum() + (b ** 2).sum())
    melicit.write("t.json", metric_text("quadratic", layout("rates", "offdiagonal", k), "cost", a=(a / size).tolist(),
                                        B=(b / size).tolist()))
    words = ("elicit", "--ball", k, "--radius", 0.13, "--family", "quadratic", "--strategy", "search", "--thesis", "per-round=2",
             "--oracle", "sim:t.json", *more)
    got = melicit(*words, "--json", "--report", "r.html").done().json
    assert got["finding"] == finding and got["finding_text"].startswith(sentence)
    if not flat:
        assert numpy.abs(got["metric"]["coefficients"]["B"]).max() == 0
    assert sentence in (melicit.folder / "r.html").read_text()
    assert sentence in melicit(*words).done().out


def test_active_finds_no_curvature(melicit):
    melicit.write("t.json", metric_text("quadratic", SHAPE, "cost", a=[0.6, 0.8], B=[[0, 0], [0, 0]]))
    got = melicit("elicit", *BALL, "--family", "quadratic", "--oracle", "sim:t.json", "--json").done().json
    assert got["finding"] == "no-curvature"
    assert got["metric"]["intervals"]["B"] == [[[-1, 1]] * 2] * 2


def test_hopeless_settings(melicit):
    melicit.write("t.json", metric_text("quadratic", SHAPE, "cost", **QUADRATIC))
    words = ("elicit", "--family", "quadratic", "--strategy", "search", "--oracle", "sim:t.json")
    melicit(*words, *BALL, "--tolerance", 1e-12).refused(2, "1e-12", "rounding would decide")
    melicit(*words, "--ball", 2, "--radius", 1e-12).refused(2, "rounding would answer")
