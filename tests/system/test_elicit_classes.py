"""Elicitation on more than two classes and on groups, sessions included, on populations and on real data."""
import json
import re
import os
import signal
import subprocess
import time

import numpy
import pytest
from classes import ROWS, SOFTMAX, fair_linear, layout, metric_text, unit
from conftest import PROGRAM, environment

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)


@pytest.mark.parametrize("strategy, most", [("active", 20), ("search", 84)])
def test_diagonal_linear(melicit, strategy, most):
    truth = [0.15, 0.25, 0.6]
    melicit.write("t.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3), a=truth))
    got = melicit("elicit", *SOFTMAX, "--family", "diagonal-linear", "--oracle", "sim:t.json", "--strategy", strategy,
                  "--tolerance", 0.01, "--log-questions", "q.jsonl", "--out", "m.json", "--json").done().json
    found = got["metric"]["coefficients"]["a"]
    assert numpy.isclose(sum(found), 1) and numpy.abs(numpy.subtract(found, truth)).max() <= 0.015
    assert got["status"] == "done" and got["questions"] <= most and got["radius"] > 0 and "words" in got
    assert numpy.isclose(got["best"]["value"], numpy.dot(found, got["best"]["statistics"]))
    lines = [json.loads(line) for line in (melicit.folder / "q.jsonl").read_text().splitlines()]
    assert len(lines) == got["questions"]
    for line in lines:
        assert len(line["a"]) == len(line["b"]) == 3
        assert line["answer"] == ("A" if numpy.dot(truth, numpy.subtract(line["a"], line["b"])) > 0 else "B")
    assert json.loads((melicit.folder / "m.json").read_text()) == got["metric"]


def test_search_question_counts(melicit):
    """The thesis' counts: 4 questions a round, ceil(log2(1/tolerance)) rounds per pair, k - 1 pairs."""
    melicit.write("t.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3), a=[0.3, 0.3, 0.4]))
    words = ("elicit", *SOFTMAX, "--family", "diagonal-linear", "--oracle", "sim:t.json", "--strategy", "search",
             "--tolerance", 0.01, "--json")
    assert melicit(*words).done().json["questions"] == 56
    assert melicit(*words, "--thesis", "per-round=2").done().json["questions"] == 28
    assert melicit(*words, "--thesis", "per-round=3").done().json["questions"] == 42
    assert melicit(*words, "--thesis", "tournament").done().json["questions"] == 58
    melicit(*words[:-1], "--thesis", "radius-method=thesis").refused(2, "--thesis radius-method", "no ball")


def test_monotone_without_a_strategy(melicit):
    """The thesis' procedure is chosen, with a line that says so; the active strategy does not know such metrics."""
    shape = layout("confusion", "diagonal", 3)
    melicit.write("t.json", metric_text("diagonal-linear-fractional", shape, a=[0.35, 0.4, 0.25], b=[0.1, -0.1, 0.05], b0=0.4))
    words = ("elicit", *SOFTMAX, "--family", "monotone", "--oracle", "sim:t.json", "--tolerance", 0.01)
    got = melicit(*words, "--json").done().json
    assert got["questions"] == 56 and got["metric"]["elicited"]["strategy"] == "search"
    assert any("--strategy search" in note for note in got["notes"])
    assert "--strategy search" in melicit(*words).done().err
    assert "notes" not in melicit(*words, "--strategy", "search", "--json").done().json
    melicit(*words, "--strategy", "active").refused(2, "monotone metrics are found by the search strategy")


@pytest.mark.parametrize("strategy", ["active", "search"])
def test_linear_on_the_ball(melicit, strategy):
    truth = unit([-0.2, -0.5, -0.3, -0.1, -0.6, -0.4])
    melicit.write("t.json", metric_text("linear", layout("confusion", "offdiagonal", 3), a=truth))
    got = melicit("elicit", *SOFTMAX, "--oracle", "sim:t.json", "--strategy", strategy, "--tolerance", 0.01,
                  "--log-questions", "q.jsonl", "--json").done().json
    found = got["metric"]["coefficients"]["a"]
    assert numpy.abs(numpy.subtract(found, truth)).max() <= (0.015 if strategy == "active" else 0.01 * numpy.sqrt(6))
    centre = numpy.array(melicit("space", *SOFTMAX, "--json").done().json["centre"])
    lines = [json.loads(line) for line in (melicit.folder / "q.jsonl").read_text().splitlines()]
    for line in lines:
        for end in "ab":
            assert numpy.linalg.norm(line[end] - centre) <= got["ball_radius"] * (1 + 1e-9)
    if strategy == "search":
        assert got["questions"] == 320


def test_signs(melicit):
    truth = unit([-0.2, -0.5, 0.3, -0.1, -0.6, 0.4])
    melicit.write("t.json", metric_text("linear", layout("rates", "offdiagonal", 3), a=truth))
    ball = ("--ball", 3, "--radius", 0.2, "--oracle", "sim:t.json", "--tolerance", 0.01, "--json")
    for signs in ("-,-,+,-,-,+", "?,?,?,?,?,?", "-,-,?,-,-,?"):
        got = melicit("elicit", *ball, "--known", f"signs={signs}").done().json
        assert numpy.abs(numpy.subtract(got["metric"]["coefficients"]["a"], truth)).max() <= 0.015, signs
    for bad in ("-,-", "-,-,+,-,-,+,+", "-,-,0,-,-,+", "-, -,+,-,-,+"):
        melicit("elicit", "--ball", 3, "--radius", 0.2, "--known", f"signs={bad}").refused(2, "signs", "6")


def test_radius_may_be_smaller(melicit):
    melicit.write("t.json", metric_text("linear", layout("confusion", "offdiagonal", 3), a=unit([-1] * 6)))
    words = ("elicit", *SOFTMAX, "--oracle", "sim:t.json", "--max-questions", 3, "--json")
    full = melicit(*words).done().json["ball_radius"]
    assert melicit(*words, "--radius", full / 2).done().json["ball_radius"] == full / 2
    assert melicit(*words, "--thesis", "radius-method=thesis").done().json["ball_radius"] <= full * (1 + 1e-9)
    melicit(*words[:-1], "--radius", min(1, 2 * full)).refused(2, "--radius", "largest")


def test_simple_questions(melicit):
    melicit.write("t.json", metric_text("linear", layout("rates", "offdiagonal", 3), a=unit([-1, -2, -3, -4, -5, -6])))
    melicit("elicit", "--ball", 3, "--radius", 0.2, "--oracle", "sim:t.json", "--ask", "simple-questions", "--log-questions",
            "q.jsonl", "--json").done()
    lines = [json.loads(line) for line in (melicit.folder / "q.jsonl").read_text().splitlines()]
    assert lines and all((numpy.abs(numpy.subtract(x["a"], x["b"])) > 1e-12).sum() == 2 for x in lines)


def test_fair_linear(melicit):
    rng = numpy.random.default_rng(1)
    truth = fair_linear(2, rng)
    melicit.write("t.json", metric_text("fair-linear", layout("rates", "offdiagonal", 2, ["1", "2"]), "cost", **truth))
    melicit.write("prevalence.csv", "one,two\n" + "\n".join(",".join(map(repr, row)) for row in truth["prevalence"]) + "\n")
    ball = ("--ball", "2,2", "--radius", 0.2, "--prevalence", "prevalence.csv")
    got = melicit("elicit", *ball, "--family", "fair-linear", "--oracle", "sim:t.json", "--tolerance", 0.01, "--json").done().json
    found = got["metric"]["coefficients"]
    assert numpy.abs(numpy.subtract(found["a"], truth["a"])).max() <= 0.02
    assert abs(found["lambda"] - truth["lambda"]) <= 0.02


def test_shares_of_two_weights_are_their_ratio(melicit):
    truth = fair_linear(2, numpy.random.default_rng(1))
    melicit.write("t.json", metric_text("fair-linear", layout("rates", "offdiagonal", 2, ["1", "2"]), "cost", **truth))
    melicit.write("prevalence.csv", "one,two\n" + "\n".join(",".join(map(repr, row)) for row in truth["prevalence"]) + "\n")
    got = melicit("elicit", "--ball", "2,2", "--radius", 0.2, "--prevalence", "prevalence.csv", "--family", "fair-linear",
                  "--oracle", "sim:t.json", "--noise", "flip:0.1", "--max-questions", 20, "--json").done().json
    (ratio,) = got["ratios"]
    low, high = ratio["interval"]
    light, heavy = (got["weights"][ratio[key]]["share"] for key in ("weight", "of"))
    assert 0 < low < high and abs(light["value"] - ratio["ratio"] / (1 + ratio["ratio"])) < 1e-9
    assert abs(light["low"] - low / (1 + low)) < 1e-9 and abs(light["high"] - high / (1 + high)) < 1e-9
    assert abs(heavy["low"] - 1 / (1 + high)) < 1e-9 and abs(heavy["high"] - 1 / (1 + low)) < 1e-9
    # And in words, heavier first; whole percents.
    said = [float(x) / 100 for x in re.findall(r"[0-9.]+(?=%)", got["words"].split("Weight of")[1]) if x != "95"][:6]
    assert numpy.abs(numpy.array(said) - [x for e in (heavy, light) for x in (e["value"], e["low"], e["high"])]).max() < 0.006, got["words"]


def test_quadratic(melicit):
    rng = numpy.random.default_rng(2)
    a, root = rng.uniform(0.2, 1, 2), rng.normal(size=(2, 2))
    whole = numpy.sqrt(a @ a + numpy.sum((root @ root.T) ** 2))
    truth = dict(a=(a / whole).tolist(), B=(root @ root.T / whole).tolist())
    melicit.write("t.json", metric_text("quadratic", layout("rates", "offdiagonal", 2), "cost", **truth))
    got = melicit("elicit", "--ball", 2, "--radius", 0.3, "--family", "quadratic", "--oracle", "sim:t.json", "--json").done().json
    assert numpy.abs(numpy.subtract(got["metric"]["coefficients"]["a"], truth["a"])).max() <= 0.05


def test_a_person_gets_twenty_questions(melicit):
    told = melicit("elicit", "--ball", 3, "--radius", 0.2, stdin="a\n" * 40)
    assert told.code == 0 and "Question 20" in told.out and "Question 21" not in told.out
    assert "taken for" in told.out


# --- sessions -----------------------------------------------------------------------------------------


def test_session_remembers_the_radius(melicit, sample):
    truth = unit([-0.2, -0.5, -0.3, -0.1, -0.6, -0.4])
    melicit.write("t.json", metric_text("linear", layout("confusion", "offdiagonal", 3, classes="012"), a=truth))
    words = ("elicit", *ROWS, "--oracle", "sim:t.json", "--session", "s.jsonl", "--json")
    first = melicit(*words, "--max-questions", 4).done().json
    header = json.loads((melicit.folder / "s.jsonl").read_text().splitlines()[0])
    assert header["space"]["found_radius"] == first["ball_radius"]
    alone = melicit("elicit", "--session", "s.jsonl", "--oracle", "sim:t.json", "--max-questions", 8, "--json").done().json
    assert alone["questions"] == 8 and alone["ball_radius"] == first["ball_radius"]
    whole = melicit(*words, "--max-questions", 12).done().json
    straight = melicit(*words[:-3], "--json", "--max-questions", 12).done().json
    assert whole["metric"]["coefficients"] == straight["metric"]["coefficients"]
    melicit("elicit", "--session", "s.jsonl", "--oracle", "sim:t.json", "--tolerance", 0.1).refused(6, "tolerance")
    again = melicit("elicit", "--session", "s.jsonl", "--oracle", "sim:t.json", "--json").done().json
    assert again["questions"] == 12  # the header says 4: the budget was raised
    report = melicit("report", "--session", "s.jsonl", "--out", "r.html")
    assert report.code == 0, report.err
    assert "http" not in (melicit.folder / "r.html").read_text().replace("http://www.w3.org", "")


def test_header_is_enough(melicit, sample):
    """Groups, signs, kind: everything comes back from the file alone."""
    rng = numpy.random.default_rng(1)
    truth = fair_linear(3, rng)
    _, y, g = sample
    truth["prevalence"] = [[float(numpy.mean(g[y == i] == j)) for i in range(3)] for j in range(2)]
    melicit.write("t.json", metric_text("fair-linear", layout("rates", "offdiagonal", 3, "uv", "012"), "cost", **truth))
    words = ("elicit", *ROWS, "--groups", "g.csv", "--family", "fair-linear", "--oracle", "sim:t.json", "--known", "signs=-,-,-,-,-,-", "--ask", "simple-questions", "--seed", 5)
    melicit(*words, "--session", "s.jsonl", "--max-questions", 5).done()
    got = melicit("elicit", "--session", "s.jsonl", "--oracle", "sim:t.json", "--max-questions", 15, "--json").done().json
    want = melicit(*words, "--max-questions", 15, "--json").done().json
    assert got["questions"] == 15 and got["metric"]["coefficients"] == want["metric"]["coefficients"]


RESPONDENT = """
import json, sys
for line in sys.stdin:
    q = json.loads(line)
    a, b = (sum((i + 1) * x for i, x in enumerate(q[s]["statistics"])) for s in "ab")
    print("A" if a > b else "B", flush=True)
"""


def test_killed_session_goes_on(melicit):
    """Killed again and again, the session asks what it would have asked in one go."""
    melicit.write("respondent.py", RESPONDENT)
    words = [str(PROGRAM), "elicit", "--data", "vehicle", "--family", "diagonal-linear", "--oracle",
             "cmd:exec /usr/bin/python3 respondent.py", "--assume", "none", "--tolerance", "1e-4", "--json"]
    env = environment()
    start = time.monotonic()
    straight = subprocess.run([*words, "--session", "whole.jsonl"], capture_output=True, cwd=melicit.folder, env=env, timeout=600)
    seconds = time.monotonic() - start
    assert straight.returncode == 0, straight.stderr
    for i in range(8):
        process = subprocess.Popen([*words, "--session", "s.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   cwd=melicit.folder, env=env, start_new_session=True)
        time.sleep(seconds * (0.3 + 0.08 * i))
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    done = subprocess.run([*words, "--session", "s.jsonl"], capture_output=True, cwd=melicit.folder, env=env, timeout=600)
    assert done.returncode == 0, done.stderr
    asked = [[(x["a"], x["b"], x["answer"]) for x in map(json.loads, (melicit.folder / name).read_text().splitlines()[1:])]
             for name in ("whole.jsonl", "s.jsonl")]
    assert asked[0] == asked[1]
    assert json.loads(straight.stdout)["metric"] == json.loads(done.stdout)["metric"]


# --- real data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name, k", [("vehicle", 4), ("dna_splice", 3)])
def test_real_data(melicit, name, k):
    space = melicit("space", "--data", name, "--json").done().json
    assert space["size"] == k * (k - 1) and space["radius"] > 0
    truth = numpy.arange(1.0, k + 1) / numpy.arange(1.0, k + 1).sum()
    melicit.write("d.json", metric_text("diagonal-linear", layout("confusion", "diagonal", k, classes=space["classes"]),
                                        a=truth.tolist()))
    words = ("elicit", "--data", name, "--family", "diagonal-linear", "--oracle", "sim:d.json", "--json")
    active = melicit(*words, "--tolerance", 0.01).done().json
    assert numpy.abs(numpy.subtract(active["metric"]["coefficients"]["a"], truth)).max() <= 0.02
    search = melicit(*words, "--strategy", "search", "--tolerance", 0.01).done().json
    assert search["questions"] == 28 * (k - 1)
    found = search["metric"]["coefficients"]["a"]  # faces with few corners tell a search little: only its form is sure
    assert min(found) >= 0 and numpy.isclose(sum(found), 1)
    costs = unit(-1.0 - numpy.arange(k * (k - 1)))
    melicit.write("l.json", metric_text("linear", layout("confusion", "offdiagonal", k, classes=space["classes"]), a=costs))
    linear = melicit("elicit", "--data", name, "--oracle", "sim:l.json", "--json").done().json
    assert numpy.abs(numpy.subtract(linear["metric"]["coefficients"]["a"], costs)).max() <= 0.03
    centre = numpy.array(space["centre"])
    inside = centre + 0.9 * space["radius"] * numpy.array(unit(numpy.cos(numpy.arange(len(centre)))))
    point = ",".join(repr(float(x)) for x in inside)
    assert melicit("space", "--data", name, "--point", point, "--json").done().json["feasible"]
    applied = melicit("apply", "--data", name, "--point", point, "--json").done().json["classifier"]
    assert numpy.linalg.norm(numpy.subtract(applied["statistics"], inside)) <= 1e-6


def test_bundled_two_classes_off_the_face(melicit):
    """Rates of two classes are points of a ball; the planar face is for confusion entries."""
    got = melicit("space", "--data", "breast_cancer_original", "--thesis", "kind=rates", "--json").done().json
    assert got["size"] == 2 and got["kind"] == "rates" and 0 < got["radius"] <= 0.5
