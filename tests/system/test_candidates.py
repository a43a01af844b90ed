"""melicit elicit --candidates: people and programs are asked about systems that exist, called by their names."""
import json
import os
import re
import signal
import subprocess
import time

import numpy
import pytest
from classes import layout, metric_text, unit
from conftest import PROGRAM, SANITIZED, environment

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

DOCTOR = metric_text("linear", layout("confusion", "binary", 2, classes=("healthy", "cancer")), a=unit([7, 1]))
CLASSES = ("--classes", "healthy,cancer")


def two_classes(seed=3, n=12, positives=100, negatives=900):
    """n classifiers on a curve, as counts: tp, fn, fp, tn."""
    rng = numpy.random.default_rng(seed)
    level = numpy.linspace(0.05, 0.95, n)
    tp = rng.binomial(positives, 1 - (1 - level) ** 2)
    fp = rng.binomial(negatives, level ** 2)
    return numpy.stack([tp, positives - tp, fp, negatives - fp], axis=1)


def write_pool(melicit, name, header, rows, names=None):
    names = names or [f"model {i}" for i in range(len(rows))]
    lines = [",".join(["name", *header])] + [",".join([n, *map(str, row)]) for n, row in zip(names, rows)]
    melicit.write(name, "\n".join(lines) + "\n")


def questions(melicit, name):
    return [json.loads(line) for line in (melicit.folder / name).read_text().splitlines()]


@pytest.fixture
def pool(melicit):
    write_pool(melicit, "pool.csv", ("tp", "fn", "fp", "tn"), two_classes())
    melicit.write("doctor.json", DOCTOR)
    return melicit


def test_best_and_order(pool):
    got = pool("elicit", "--candidates", "pool.csv", *CLASSES, "--oracle", "sim:doctor.json", "--log-questions", "q.jsonl",
               "--out", "m.json", "--json").done().json
    c = two_classes()
    value = 7 * c[:, 0] + c[:, 3]
    assert got["order"][0]["name"] == f"model {value.argmax()}"
    assert got["order"][0]["best_probability"] > 0.5
    assert len(got["order"]) == len(c) and sorted(one["row"] for one in got["order"]) == list(range(1, len(c) + 1))
    assert got["cost_ratio"]["low"] < 7 < got["cost_ratio"]["high"]
    assert any(s["key"] == "preferred" and f"model {value.argmax()}" in s["text"] for s in got["statements"])
    ranked = pool("rank", "--metric", "m.json", "--pool", "pool.csv", "--json").done().json
    assert [one["name"] for one in ranked["order"]] == [one["name"] for one in got["order"]]
    # Every question is about two of these, by their names, and no pair comes twice.
    asked = questions(pool, "q.jsonl")
    assert len(asked) == got["questions"]
    share = {f"model {i}": [row[0] / 1000, row[3] / 1000] for i, row in enumerate(c)}
    for q in asked:
        assert [share[name] for name in q["classifiers"]] == [q["a"], q["b"]]
    assert len({frozenset(q["classifiers"]) for q in asked}) == len(asked)


def test_two_alike(pool):
    """Where two classifiers are the same, the order of all is settled, and nothing says that it is open."""
    rows = [[90000, 10000, 200000, 700000], [90000, 10000, 200000, 700000], [20000, 80000, 150000, 750000]]
    write_pool(pool, "alike.csv", ("tp", "fn", "fp", "tn"), rows, ["one", "its copy", "another"])
    got = pool("elicit", "--candidates", "alike.csv", *CLASSES, "--oracle", "sim:doctor.json", "--json").done().json
    assert 0.475 <= got["order_probability"] <= 0.5  # the copy may as well stand first
    order = {one["name"]: one for one in got["order"]}
    assert order["one"]["best_probability"] == order["its copy"]["best_probability"] >= 0.475
    assert got["order"][0]["beats_next"] == 0.5
    said = {s["key"]: s["text"] for s in got["statements"]}
    assert said["order"] == "The order of the classifiers is settled."


def test_answers_are_about_what_is_shown(pool):
    """Three classifiers that differ little, and somebody who prefers one of them throughout: it comes first. One that is
    at least as good in every number may be refused, and then the result says why it comes first all the same."""
    names = ("careful", "bold", "weak")
    write_pool(pool, "close.csv", ("tp", "fn", "fp", "tn"), [[84, 16, 120, 780], [80, 20, 101, 799], [79, 21, 104, 796]], names)
    pool.write("program.py", "import sys, json\nfor line in sys.stdin:\n    q = json.loads(line)\n"
               "    a, b = [sys.argv[1].index(q[s]['classifier'][0]) for s in 'ab']\n"
               "    print('A' if a < b else 'B', flush=True)\n")

    def ask(order):
        return pool("elicit", "--candidates", "close.csv", *CLASSES, "--oracle", f"cmd:/usr/bin/python3 program.py {order}",
                    "--json").done().json

    for order in ("cbw", "bcw"):
        got = ask(order)
        said = {s["key"]: s["text"] for s in got["statements"]}
        assert got["order"][0]["name"][0] == order[0] and got["order"][0]["best_probability"] > 0.5
        assert "by the numbers shown" in said["preferred"] and not any(key.startswith("despite") for key in said)
        assert "in truth" in said["rows"] and got["order"][0]["best_in_truth"] < got["order"][0]["best_probability"]
    said = {s["key"]: s["text"] for s in ask("wcb")["statements"]}
    assert said["despite-better"] == ("You preferred weak to bold when asked, yet bold comes first: it is at least as good "
                                      "in every number.")
    assert said["despite"].startswith("You preferred careful to bold when asked, yet bold comes first: all answers together")


def test_respondents_with_copies(pool):
    """Sessions about copies of one pool, each in a folder of its own, are about the same classifiers."""
    for folder in ("ann", "bob"):
        (pool.folder / folder).mkdir()
        write_pool(pool, f"{folder}/{folder}.csv", ("tp", "fn", "fp", "tn"), two_classes())
        pool("elicit", "--candidates", f"{folder}/{folder}.csv", *CLASSES, "--oracle", "sim:doctor.json", "--session",
             f"{folder}/s.jsonl", "--json").done()
    got = pool("elicit", "--respondents", "ann/s.jsonl", "bob/s.jsonl", "--json").done().json
    assert not got["differ"] and len(got["respondents"]) == 2


def test_no_other_pairs(pool):
    """Options about pairs that are made are refused, not passed over."""
    words = ("elicit", "--candidates", "pool.csv", *CLASSES, "--oracle", "sim:doctor.json")
    pool(*words, "--questions", "realistic").refused(2, "given classifiers are asked about as they are")
    pool(*words, "--tolerance", "1.6x").refused(2, "end by their order")


def test_columns_go_by_name(pool):
    c = two_classes()
    usual = pool("elicit", "--candidates", "pool.csv", *CLASSES, "--oracle", "sim:doctor.json", "--json").done().json
    write_pool(pool, "other.csv", ("tn", "fp", "tp", "fn"), c[:, [3, 2, 0, 1]])
    assert pool("elicit", "--candidates", "other.csv", *CLASSES, "--oracle", "sim:doctor.json",
                "--json").done().json["metric"] == usual["metric"]
    # Named entries; of two classes the positive one is given, or the second in sorted order.
    header = ("cancer>cancer", "cancer>healthy", "healthy>cancer", "healthy>healthy")
    write_pool(pool, "named.csv", header, c)
    for order in (("--positive", "cancer"), CLASSES):
        assert pool("elicit", "--candidates", "named.csv", *order, "--oracle", "sim:doctor.json",
                    "--json").done().json["metric"] == usual["metric"]
    # Shares say the same point by point, and answers are about what was shown; but nothing about the truth behind it.
    write_pool(pool, "shares.csv", ("tp", "tn", "prevalence"), [[r[0] / 1000, r[3] / 1000, 0.1] for r in c])
    until = ("--until", "tolerance", "--tolerance", "0.001", "--json")
    exact, counted = [pool("elicit", "--candidates", name, *CLASSES, "--oracle", "sim:doctor.json", *until).done().json
                      for name in ("shares.csv", "pool.csv")]
    assert exact["end"] == counted["end"] == "exhausted"
    assert exact["metric"] == counted["metric"]
    said = [{s["key"]: s["text"] for s in got["statements"]}["rows"] for got in (exact, counted)]
    assert "taken as exact" in said[0] and "best_in_truth" not in exact["order"][0]
    assert "finitely many rows" in said[1]
    assert sum(one["best_in_truth"] for one in counted["order"]) == pytest.approx(1)
    assert any("other classifiers" in s["text"] for s in exact["statements"])


def test_more_classes_and_groups(melicit):
    rng = numpy.random.default_rng(5)
    names, n = ("bus", "car", "van"), 14
    matrices = [numpy.array([rng.multinomial(200, rng.dirichlet(numpy.where(numpy.arange(3) == i, 9, 2)))
                             for i in range(3)]) for _ in range(n)]
    header = [f"{a}>{b}" for a in names for b in names]
    write_pool(melicit, "pool.csv", header, [m.flatten() for m in matrices])
    a = unit([-1, -4, -2, -3, -6, -1])
    melicit.write("m.json", metric_text("linear", layout("confusion", "offdiagonal", 3, classes=names), a=a))
    got = melicit("elicit", "--candidates", "pool.csv", "--oracle", "sim:m.json", "--json").done().json
    assert got["metric"]["layout"]["classes"] == list(names)
    value = [numpy.dot(a, m[~numpy.eye(3, dtype=bool)]) for m in matrices]
    assert value[got["order"][0]["row"] - 1] >= sorted(value)[-2]
    diagonal = metric_text("diagonal-linear", layout("confusion", "diagonal", 3, classes=names), a=[0.2, 0.3, 0.5])
    melicit.write("d.json", diagonal)
    write_pool(melicit, "right.csv", names, [numpy.diag(m) / 600 for m in matrices])
    got = melicit("elicit", "--candidates", "right.csv", "--family", "diagonal-linear", "--oracle", "sim:d.json", "--json")
    value = [numpy.dot([0.2, 0.3, 0.5], numpy.diag(m)) for m in matrices]
    assert got.done().json["order"][0]["row"] - 1 == int(numpy.argmax(value))
    # Groups: columns group:name.
    header = [f"{g}:{w}" for g in ("men", "women") for w in ("tp", "fn", "fp", "tn")]
    rows = []
    for _ in range(n):
        one = []
        for _ in range(2):
            tp, fp = rng.binomial(100, rng.uniform(0.5, 0.95)), rng.binomial(300, rng.uniform(0.05, 0.5))
            one += [tp, 100 - tp, fp, 300 - fp]
        rows.append(one)
    write_pool(melicit, "fair.csv", header, rows)
    fair = dict(a=unit([1, 2]), b={"1-2": unit([1, 1])}, **{"lambda": 0.4}, prevalence=[[0.5, 0.5], [0.5, 0.5]])
    melicit.write("f.json", metric_text("fair-linear", layout("rates", "offdiagonal", 2, ("men", "women"), ("0", "1")),
                                        "cost", **fair))
    got = melicit("elicit", "--candidates", "fair.csv", "--family", "fair-linear", "--oracle", "sim:f.json", "--json")
    assert got.done().json["metric"]["layout"]["groups"] == ["men", "women"]


def test_refusals(pool):
    ask = ("--oracle", "sim:doctor.json")

    def refuse(code, *args):
        *options, part = args
        return pool("elicit", *options, *ask).refused(code, part)

    pool.write("one.csv", "name,tp,tn,prevalence\na,0.1,0.5,0.2\n")
    refuse(3, "--candidates", "one.csv", *CLASSES, "questions compare classifiers")
    pool.write("twice.csv", "name,tp,tn,prevalence\na,0.1,0.5,0.2\na,0.15,0.4,0.2\n")
    refuse(3, "--candidates", "twice.csv", *CLASSES, 'both called "a"')
    pool.write("odd.csv", "name,tp,tn,colour\na,0.1,0.5,1\nb,0.15,0.4,1\n")
    refuse(3, "--candidates", "odd.csv", *CLASSES, 'column "colour"')
    pool.write("apart.csv", "name,tp,fn,fp,tn\na,10,10,40,40\nb,30,10,20,40\n")
    refuse(3, "--candidates", "apart.csv", *CLASSES, "kind=rates")
    pool.write("alike.csv", "name,tp,fn,fp,tn\na,10,10,40,40\nb,10,10,40,40\n")
    refuse(3, "--candidates", "alike.csv", *CLASSES, "the same numbers")
    pool.write("grouped.csv", "name,u:tp,u:fn,v:tp,v:fn\na,1,2,3,4\nb,2,1,4,3\n")
    refuse(3, "--candidates", "grouped.csv", "is about a group")
    refuse(3, "--candidates", "pool.csv", "--family", "fair-linear", "group:")
    refuse(2, "--candidates", "pool.csv", *CLASSES, "--family", "linear-fractional", "linear in known features")
    refuse(2, "--candidates", "pool.csv", *CLASSES, "--strategy", "search", "active strategy")
    refuse(2, "--candidates", "pool.csv", *CLASSES, "--ask", "simple-questions", "given classifiers differ")
    refuse(2, "--candidates", "pool.csv", *CLASSES, "--radius", "0.1", "--radius")
    refuse(2, "--candidates", "pool.csv", "--ball", "2", "exclude each other")
    refuse(3, "--candidates", "missing.csv", "missing.csv")
    pool("space", "--candidates", "pool.csv").refused(2, "--candidates")
    pool("apply", "--metric", "doctor.json", "--candidates", "pool.csv", "--out", "c.json").refused(2, "--candidates")


def test_session_goes_on_from_any_folder(pool):
    args = ("--candidates", "pool.csv", *CLASSES, "--oracle", "sim:doctor.json", "--until", "tolerance", "--tolerance", "0.001")
    whole = pool("elicit", *args, "--session", "whole.jsonl", "--json").done().json
    first = pool("elicit", *args, "--session", "s.jsonl", "--max-questions", "4", "--json").done().json
    assert first["questions"] == 4
    (pool.folder / "sub").mkdir()
    line = f"cd sub && {PROGRAM} elicit --session ../s.jsonl --oracle sim:../doctor.json --max-questions 200 --json"
    assert json.loads(pool.shell(line).done().out)["metric"] == whole["metric"]
    pool.shell(f"cd sub && {PROGRAM} report --session ../s.jsonl --out r.html").done()
    page = (pool.folder / "sub/r.html").read_text()
    assert whole["order"][0]["name"] in page and "given classifiers" in page
    header = json.loads((pool.folder / "s.jsonl").read_text().splitlines()[0])
    assert header["space"]["candidates"] == "pool.csv" and header["data"].startswith("sha256:")
    # Another pool under the same name is noticed.
    write_pool(pool, "pool.csv", ("tp", "fn", "fp", "tn"), two_classes(seed=4))
    pool("elicit", "--session", "s.jsonl", "--oracle", "sim:doctor.json").refused(6, "data")


def test_terminal_shows_names_and_counts(pool):
    got = pool("elicit", "--candidates", "pool.csv", *CLASSES, "--session", "s.jsonl", stdin="a\nu\nb\n=\ns\nq\n")
    assert got.code == 5
    counts = two_classes()
    asked = questions(pool, "s.jsonl")[1:]
    name = asked[0]["classifiers"][0]
    row = counts[int(name.split()[1])]
    assert name in got.out and f"healthy 900  {row[3]:10d}" in got.out and "out of 1,000 people" in got.out
    assert [line.get("answer") for line in asked] == ["A", None, "B", "=", "?"]


def test_programs_are_told_names(pool):
    pool.write("program.py", "import sys, json\nfor line in sys.stdin:\n    q = json.loads(line)\n"
               "    best = [int(q[s]['classifier'].split()[1]) for s in 'ab']\n"
               "    print('A' if best[0] > best[1] else 'B', flush=True)\n")
    got = pool("elicit", "--candidates", "pool.csv", *CLASSES, "--oracle", "cmd:/usr/bin/python3 program.py",
               "--assume", "none", "--json").done().json
    assert got["order"][0]["name"] in ("model 11", "model 10")


def test_killed_session_goes_on(pool):
    command = [str(PROGRAM), "elicit", "--candidates", "pool.csv", *CLASSES, "--oracle", "cmd:exec ./slow.sh", "--session",
               "s.jsonl", "--until", "tolerance", "--tolerance", "0.001", "--max-questions", "15", "--json"]
    pool.write("slow.sh", "#!/bin/sh\nwhile read q; do sleep 0.02; echo A; done\n").chmod(0o755)
    reference = [c if c != "s.jsonl" else "r.jsonl" for c in command]
    run = dict(cwd=pool.folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    assert subprocess.Popen(reference, **run).wait(timeout=120) == 0
    for kill in range(3 if SANITIZED else 8):
        process = subprocess.Popen(command, **run)
        time.sleep(0.05 + 0.07 * kill)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert subprocess.Popen(command, **run).wait(timeout=120) == 0

    def answers(name):
        return [(q["classifiers"], q["a"], q["b"], q["answer"]) for q in questions(pool, name)[1:]]

    assert answers("s.jsonl") == answers("r.jsonl")


def test_what_was_chosen_is_not_contradicted_in_silence(melicit):
    """Three answers for one of three classifiers: the result names it, whatever errors are thought possible."""
    melicit.write("three.csv", "name,tp,fp,fn,tn\nold,80,30,20,870\nnew,90,85,10,815\ncautious,95,160,5,740\n")
    melicit.write("ten.json", metric_text("linear", layout("confusion", "binary", 2), a=unit([10, 1])))
    got = melicit("elicit", "--candidates", "three.csv", "--oracle", "sim:ten.json", "--assume", "person", "--json").done().json
    assert got["questions"] == 3 and got["chosen"] == "new"
    (said,) = (s["text"] for s in got["statements"] if s["key"] == "preferred")
    assert said.startswith("new was chosen over each of the other 2." if got["order"][0]["name"] != "new" else "new is preferred among these 3 classifiers"), said


def test_one_interval_of_the_ratio(pool):
    """The words and what is said to be open are about the same interval."""
    ask = ("elicit", "--candidates", "systems.csv", *CLASSES, "--oracle", "sim:doctor.json", "--until", "tolerance")
    pool.write("systems.csv", "name,tp,fn,fp,tn\nbold,95,5,400,500\nfast,80,20,120,780\nshy,30,70,10,890\n")
    text = " ".join(pool(*ask).done().out.split())
    shown = re.search(r"One (missed cancer case|false alarm) counts as much as [^;]*; 95% between (\S+) and (\S+)\.", text)
    said = re.search(r"known only roughly: one (missed cancer case|false alarm) counts as much as (\S+) to (\S+) ", text)
    assert shown and said, text
    words, statement = ([float(m[2]), float(m[3])] for m in (shown, said))
    if shown[1] != said[1]:
        words = [1 / words[1], 1 / words[0]]
    assert words == pytest.approx(statement, rel=0.03), text


THREE = "name,tp,fp,fn,tn\nold,80,30,20,870\nnew,90,85,10,815\ncautious,95,160,5,740\n"


@pytest.mark.parametrize("answers", ["=", "s", ""])
def test_none_is_preferred(melicit, answers):
    """Where no answer prefers one to another, none is named as preferred, nor is their order settled."""
    melicit.write("three.csv", THREE)
    got = melicit("elicit", "--candidates", "three.csv", "--oracle", "ask", stdin=f"{answers}\n" * 30 if answers else "")
    text = " ".join(got.out.split())
    assert "The answers prefer none of these 3 classifiers to another." in text, text
    assert "is preferred" not in text and "best in truth" not in text and "classifiers is settled" not in text, text
    assert ("Nothing was found about what counts" in text) == (answers != "="), text
    assert ("counts as much as" in text) == (answers == "="), text


@pytest.mark.parametrize("answers", ["s\n" * 40, ""])
def test_nothing_found_is_given_no_ratio(melicit, answers):
    """The first sentence, the table of weights and the report have no ratio where no answer said anything."""
    got = melicit("elicit", "--data", "german_credit", "--oracle", "ask", "--session", "s.jsonl", stdin=answers)
    text = " ".join(got.out.split("Result")[-1].split())
    assert "Nothing was found about what counts" in text, text
    for claim in ("counts as much as", "known to a factor", "95% interval", "known only roughly", "predict "):
        assert claim not in text, text
    melicit("report", "--session", "s.jsonl", "--out", "r.html").done()
    page = (melicit.folder / "r.html").read_text()
    assert "Nothing was found about what counts" in page
    assert "counts as much as" not in page and "Cost ratio</dt>" not in page and "The metric in numbers" not in page


@pytest.mark.parametrize("space", [("--candidates", "pool.csv"), ("--ball", "3", "--radius", "0.2", "--max-questions", "9")])
def test_always_the_same_answer(pool, space):
    """Whoever always answers alike is told so, whatever was asked about."""
    for answer, words in (("=", r"All (\d+) pairs were called about the same"), ("a", r"All (\d+) answers were A, whatever was shown")):
        text = " ".join(pool("elicit", *space, "--oracle", "ask", stdin=f"{answer}\n" * 70).done().out.split())
        said, asked = re.search(words, text), re.search(r"The session ended after (\d+) questions", text)
        assert said and asked and said[1] == asked[1], text


def test_comparisons_that_exist_already(melicit):
    """Votes of somebody to whom a miss is worth seven false alarms, as a session asked would have heard them; arena's words, too."""
    rng = numpy.random.default_rng(4)
    names = [f"m{i}" for i in range(12)]
    tpr = numpy.sort(rng.uniform(0.3, 0.99, 12))
    value = numpy.column_stack([0.3 * tpr, 0.7 * (1 - tpr**2.5 * 0.9)])
    melicit.write("pool.csv", "name,tp,tn\n" + "".join(f"{n},{tp!r},{tn!r}\n" for n, (tp, tn) in zip(names, value.tolist())))
    worth = value @ [7.0, 1.0]
    rows = [(i, j) for i in range(12) for j in range(12) if i != j and rng.uniform() < 0.5]
    votes = lambda header, say: melicit.write("votes.csv", header + "\n" + "".join(
        f"{names[i]},{names[j]},{say(i, j)}\n" for i, j in rows))
    words = ("elicit", "--candidates", "pool.csv", "--classes", "no,yes", "--comparisons", "votes.csv")
    votes("a,b,winner", lambda i, j: names[i] if worth[i] > worth[j] else names[j])
    got = melicit(*words, "--session", "s.jsonl", "--out", "m.json", "--json").done().json
    assert got["questions"] == len(rows) and got["ratio_interval"][0] <= 7 <= got["ratio_interval"][1]
    assert got["order"][0]["name"] == names[int(numpy.argmax(worth))]
    lines = [json.loads(line) for line in (melicit.folder / "s.jsonl").read_text().splitlines()[1:]]
    assert [line["classifiers"] for line in lines] == [[names[i], names[j]] for i, j in rows]
    votes("model_a,model_b,Winner", lambda i, j: "model_a" if worth[i] > worth[j] else "model_b")
    again = melicit(*words, "--json").done().json
    assert again["ratio"] == got["ratio"] and again["ratio_interval"] == got["ratio_interval"]
    # The session goes on with what it heard; a second time is refused.
    melicit("elicit", "--session", "s.jsonl", "--oracle", "sim:m.json", "--max-questions", len(rows) + 20, "--json").done()
    melicit(*words, "--session", "s.jsonl", "--max-questions", len(rows) + 20).refused(2, "has answers already")
    votes("a,b,winner", lambda i, j: "tie (bothbad)" if i < j else "?")
    assert melicit(*words, "--json").done().json["skipped"] == sum(i > j for i, j in rows)
    for text, code, said in (("a,b,winner\nm1,m2,m3\n", 3, 'the winner "m3"'), ("a,b,winner\nm1,x,a\n", 3, 'no classifier "x"'),
                             ("a,b,winner\nm1,m1,a\n", 3, "with itself"), ("a,b\nm1,m2\n", 3, "expected columns"), ("a,b,winner\n", 3, "no ")):
        melicit.write("votes.csv", text)
        melicit(*words).refused(code, said)
    melicit("elicit", "--population", "logistic:a=5,b=0", "--comparisons", "votes.csv").refused(2, "--candidates")
