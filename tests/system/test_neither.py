"""The answer "neither will do": taken where it is allowed, told by the result, kept by the session's file."""
import json

import numpy as np
import pandas
import pytest
from python_package import SITE

from melicit import MelicitError, Problem, Session

pytestmark = pytest.mark.plain("Python cannot load a library with sanitizers")
assert SITE.is_dir()


def cost(point):
    """Of (TP, TN), up to a constant: one missed positive is worth 4 false alarms."""
    return -(4 * point[0] + point[1])


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    y = (rng.uniform(size=2000) < 0.4).astype(int)
    p = 1 / (1 + np.exp(-rng.normal(2.0 * y - 1.2, 1.1)))
    return Problem.from_proba(np.array(["fine", "sick"])[y], np.column_stack([1 - p, p]))


def statement(outcome, key):
    (text,) = [s["text"] for s in outcome["statements"] if s["key"] == key]
    return text


def test_some_are_refused(problem, tmp_path, melicit):
    """What is refused is worth less than the best that can be had; the ratio is found by the other answers."""
    path = tmp_path / "s.jsonl"
    session, refused = Session(problem, path=path, neither=True), []
    for question in session:
        costs = cost(question.a), cost(question.b)
        bad = question.number in (2, 5, 9)
        refused += [min(costs)] if bad else []
        session.tell(question, "neither" if bad else "A" if costs[0] < costs[1] else "B")
    got = session.outcome
    assert got["neither"] == {"questions": 3, "achievable": True} and got["skipped"] == 0
    assert got["ratio_interval"][0] < 4 < got["ratio_interval"][1]
    assert "The best that is achievable here is above them all" in statement(got, "neither")
    answers = [json.loads(line).get("answer") for line in path.read_text().splitlines()[1:]]
    assert [i + 1 for i, answer in enumerate(answers) if answer == "neither"] == [2, 5, 9]
    del session
    again = Session(problem, path=path, neither=True)
    assert again.outcome["neither"] == got["neither"] and again.outcome["ratio"] == pytest.approx(got["ratio"], rel=1e-9)


def test_not_taken_unless_allowed(problem, melicit):
    session = Session(problem)
    question = session.ask()
    with pytest.raises(MelicitError, match="begin it with the option neither"):
        session.tell(question, "neither")
    session.tell(question, "?")
    bad = melicit("elicit", "--data", "mammographic_mass", "--oracle", "cmd:while read q; do echo neither; done")
    assert bad.code != 0 and "neither is taken only where it was allowed" in bad.err
    done = melicit("elicit", "--data", "mammographic_mass", "--oracle", "cmd:while read q; do echo neither; done", "--ask", "neither=yes",
                   "--max-questions", 6, "--json").done().json
    assert done["neither"] == {"questions": 6, "achievable": None}
    assert "No question was answered with a choice" in statement(done, "unanswered")


def test_nothing_will_do():
    """The best of the given classifiers is refused whenever it is shown: nothing that is achievable is left."""
    pool = Problem.candidates(pandas.DataFrame({"name": list("abcd"), "tp": [0.3, 0.31, 0.39, 0.395], "tn": [0.58, 0.57, 0.56, 0.4]}))
    session = Session(pool, neither=True)
    for question in session:
        best = 0.39 in (question.a[0], question.b[0])
        session.tell(question, "neither" if best else "A" if cost(question.a) < cost(question.b) else "B")
    got = session.outcome
    assert got["neither"]["achievable"] is False and "a better test is needed" in statement(got, "neither")


def test_key(melicit):
    """n refuses both at the terminal, where it is allowed; else it is no answer."""
    asked = melicit("elicit", "--data", "mammographic_mass", "--ask", "neither=yes", stdin="n\na\nq\n")
    assert "n neither will do" in asked.out + asked.err
    melicit("elicit", "--data", "mammographic_mass", "--ask", "neither=yes", "--session", "t.jsonl", stdin="n\na\nneither\nq\n")
    lines = (melicit.folder / "t.jsonl").read_text().splitlines()
    assert json.loads(lines[0])["options"]["neither"] is True
    assert [json.loads(line)["answer"] for line in lines[1:]] == ["neither", "A", "neither"]
    assert "neither" not in melicit("elicit", "--data", "mammographic_mass", stdin="n\na\nq\n").out


def test_target_in_json(melicit):
    """People who want 80% found, then fewest false alarms: JSON and sentences name the target, and the answers are not "consistent"."""
    melicit.write("who.py", """import json, sys
for line in sys.stdin:
    q = json.loads(line)
    more, fewer = ("a", "b") if q["a"]["statistics"][0] > q["b"]["statistics"][0] else ("b", "a")
    enough = q[fewer]["statistics"][0] >= 0.8 * 222 / 480
    print((fewer if enough else more).upper(), flush=True)
""")
    told = []
    for seed in range(1, 6):
        got = melicit("elicit", "--data", "mammographic_mass", "--classes", "benign,malignant", "--oracle", "cmd:python3 who.py", "--json",
                      "--seed", seed).done().json
        if got.get("misfit", {}).get("kind") == "found":
            told.append(got["misfit"])
            assert got["consistency_label"] != "consistent"
            assert "The answers fit a target better than an exchange rate: at least " in statement(got, "misfit")
    assert len(told) >= 2 and sum(one["low"] <= 0.8 <= one["high"] for one in told) >= len(told) - 1
