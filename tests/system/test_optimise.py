"""melicit optimise: metrics by name, by file and by program; programs that misbehave; what predict makes of the result."""
import contextlib
import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import threading
import time
import urllib.request

import numpy
import pytest
from conftest import PROGRAM, environment
from serving import open_question, page_request

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

N_TRAIN, N_VALIDATION = 3000, 400
FILES = ("--probs", "p.csv", "--labels", "y.csv", "--validation-probs", "pv.csv")
LABELLED = (*FILES, "--validation-labels", "yv.csv")
FEATURES = ("--features", "f.csv", "--validation-features", "fv.csv")

JUDGE = """
import json, sys
rows = [line.split(",") for line in open("hidden.csv").read().split()[1:]]
label, group = [r[0] for r in rows], [r[1] for r in rows]
for n, line in enumerate(sys.stdin, 1):
    query = json.loads(line)
    assert query["query"] == n
    if "chances" in query:
        right = [chance[query["classes"].index(y)] for chance, y in zip(query["chances"], label)]
    else:
        right = [float(said == y) for said, y in zip(query["labels"], label)]
    value = 1.0
    for cell in sorted(set(zip(label, group))):
        inside = [r for r, y, g in zip(right, label, group) if (y, g) == cell]
        value *= sum(inside) / len(inside)
    print(value ** 0.25, flush=True)
"""


def write(folder, name, header, columns):
    lines = [header] + [",".join(str(c) for c in row) for row in zip(*columns)]
    (folder / name).write_text("\n".join(lines) + "\n")


def draw(rng, n):
    """Two groups with different shares of yes; the model knows a feature that hints at the group."""
    group = rng.integers(2, size=n)
    hint = (group ^ (rng.random(n) < 0.1)).astype(int)
    x = rng.normal(size=n)
    true = lambda g: 1 / (1 + numpy.exp(-4 * x + 6 * g - 3))
    label = numpy.where(rng.random(n) < true(group), "yes", "no")
    p = 0.9 * true(hint) + 0.1 * true(1 - hint)
    return p, label, hint, group, x


@pytest.fixture
def work(melicit):
    rng = numpy.random.Generator(numpy.random.PCG64(3))
    for suffix, n in (("", N_TRAIN), ("v", N_VALIDATION), ("t", 4000)):
        p, label, hint, group, x = draw(rng, n)
        write(melicit.folder, f"p{suffix}.csv", "no,yes", [1 - p, p])
        write(melicit.folder, f"y{suffix}.csv", "y", [label])
        write(melicit.folder, f"g{suffix}.csv", "g", [numpy.where(group == 1, "b", "a")])
        write(melicit.folder, f"f{suffix}.csv", "hint,other,x,town",
              [hint, 1 - hint, x, numpy.where(hint == 1, "Rome", "Oslo")])
        if suffix == "v":
            write(melicit.folder, "hidden.csv", "y,g", [label, group])
    melicit.write("judge.py", JUDGE)
    return melicit


def g_mean(melicit, chances):
    """Of the four recalls on the test rows."""
    labels, groups = (numpy.array(sum(melicit.rows(name)[1:], [])) for name in ("yt.csv", "gt.csv"))
    head, *rows = melicit.rows(chances)
    assert head == ["no", "yes"]
    p = numpy.array(rows, dtype=float)
    right = numpy.where(labels == "yes", p[:, 1], p[:, 0])
    return numpy.prod([right[(labels == y) & (groups == g)].mean() for y in ("yes", "no") for g in "ab"]) ** 0.25


def test_metric_by_name_file_and_program(work):
    """The learner never sees the groups, the metric is about them; a basis function that hints at them helps."""
    metric = ("--metric", "g-mean", "--validation-groups", "gv.csv")
    plain = work("optimise", *LABELLED, *metric, "--out", "plain.json", "--json").done().json
    hinted = work("optimise", *LABELLED, *metric, *FEATURES, "--basis", "default+columns:hint", "--out", "hinted.json",
                  "--json").done().json
    assert plain["rank"] == 2 and plain["end"] == "done" and plain["iterations"] == 50
    assert hinted["value"] > plain["value"] + 0.005
    assert json.loads((work.folder / "plain.json").read_text()) == plain["classifier"]
    assert plain["classifier"]["format"] == "melicit-classifier"
    assert (hinted["classifier"]["format"], hinted["classifier"]["version"]) == ("melicit-classifier", 2)
    work("predict", "--classifier", "plain.json", "--probs", "pt.csv", "--chances", "--out", "plain.csv").done()
    work("predict", "--classifier", "hinted.json", "--probs", "pt.csv", "--features", "ft.csv", "--chances", "--out",
         "hinted.csv").done()
    assert g_mean(work, "hinted.csv") > g_mean(work, "plain.csv")
    program = work("optimise", *FILES, "--metric", "cmd:exec /usr/bin/python3 judge.py", *FEATURES, "--basis",
                   "default+columns:hint", "--json").done().json
    assert program["value"] == pytest.approx(hinted["value"], abs=1e-6)
    assert program["queries"] == 1 + 50 * 5
    hard = work("optimise", *FILES, "--metric", "cmd:exec /usr/bin/python3 judge.py", "--thesis", "labels-only", *FEATURES, "--basis",
                "default+columns:hint", "--iterations", 20, "--out", "hard.json", "--json").done().json
    assert hard["value"] == pytest.approx(hinted["value"], abs=0.02) and hard["epsilon"] == 0.3


@pytest.fixture
def noisy(melicit):
    """Three classes whose training labels flip; the model knows only the flipped ones. T names its columns in another order."""
    rng = numpy.random.Generator(numpy.random.PCG64(5))
    names = numpy.array(["a", "b", "c"])
    flips = numpy.array([[0.6, 0.4, 0.0], [0.05, 0.9, 0.05], [0.1, 0.3, 0.6]])
    for suffix, n in (("", 6000), ("v", 3000)):
        p = rng.dirichlet([0.3, 0.3, 0.3], n)
        truth = (p.cumsum(1) < rng.random((n, 1))).sum(1).clip(max=2)
        seen = (flips[truth].cumsum(1) < rng.random((n, 1))).sum(1).clip(max=2)
        write(melicit.folder, f"p{suffix}.csv", "a,b,c", (p @ flips).T)
        write(melicit.folder, f"y{suffix}.csv", "y", [names[truth if suffix else seen]])
    write(melicit.folder, "t.csv", "truth,c,a,b", [names[[2, 0, 1]], *flips[[2, 0, 1]][:, [2, 0, 1]].T])
    return melicit


def test_labels_that_flip(noisy):
    """A given or estimated transition matrix gives back what flipped labels cost; the classifier is one for the noisy model."""
    ask = lambda *more: noisy("optimise", *LABELLED, "--metric", "g-mean", "--method", "correct", *more, "--json").done().json
    got = {way: ask("--transition", way, "--out", f"{way}.json") for way in ("t.csv", "clean", "sure")}
    for way in ("t.csv", "clean", "sure"):
        assert got[way]["value"] > got[way]["start"] + 0.08, way
    assert got["clean"]["value"] == pytest.approx(got["t.csv"]["value"], abs=0.01)
    noisy("predict", "--classifier", "t.csv.json", "--probs", "pv.csv", "--out", "said.csv").done()
    said, truth = (numpy.array(sum(noisy.rows(name)[1:], [])) for name in ("said.csv", "yv.csv"))
    recalls = [(said[truth == c] == c).mean() for c in "abc"]
    assert numpy.prod(recalls) ** (1 / 3) == pytest.approx(got["t.csv"]["value"], abs=1e-9)
    for method in ("importance", "matching"):
        assert noisy("optimise", *LABELLED, "--metric", "accuracy", "--method", method, "--json").done().json["end"] == "done"


def test_transitions_that_are_refused(noisy):
    ask = lambda *more: noisy("optimise", *LABELLED, "--metric", "g-mean", *more)
    for text, why in (("a,b\n1,0\n0,1\n", "names the 3 classes"), ("a,b,d\n1,0,0\n0,1,0\n0,0,1\n", 'there is no class "d"'),
                      ("a,b,c\n1,0,0\n0,.5,.6\n0,0,1\n", "row 2 of the transition matrix adds up to 1.1"),
                      ("a,b,c\n1,0,0\n.5,.5,0\n.5,.5,0\n", "flip so much alike")):
        noisy.write("bad.csv", text)
        ask("--method", "correct", "--transition", "bad.csv").refused(3, "bad.csv", why)
    ask("--method", "correct").refused(2, "--transition go together")
    ask("--transition", "clean").refused(2, "--transition go together")
    ask("--method", "importance", "--iterations", 3).refused(2, "no --basis")


def test_metric_file(work):
    layout = {"kind": "confusion", "coordinates": "binary", "classes": ["no", "yes"], "groups": []}
    work.write("m.json", json.dumps({"format": "melicit-metric", "version": 1, "family": "linear", "orientation": "utility",
                                     "layout": layout, "coefficients": {"a": [3, 1]}}))
    for way in ((), ("--known",), ("--method", "pi-ew"), ("--method", "pi-ew", "--thesis", "probes=constrained"),
                ("--thesis", "matrix=whole"), ("--thesis", "matrix=whole", "--thesis", "entries=no>no,yes>yes")):
        got = work("optimise", *LABELLED, "--metric", "m.json", *way, "--json").done().json
        # The best threshold of 3 TP + TN on the validation rows, as far as any rule of weights gets.
        labels = numpy.array(sum(work.rows("yv.csv")[1:], []))
        p = numpy.array(work.rows("pv.csv")[1:], dtype=float)[:, 1]
        best = max(3 * ((p >= t) & (labels == "yes")).mean() + ((p < t) & (labels == "no")).mean() for t in p)
        assert best - 0.025 < got["value"] <= best + 1e-12, way


def test_plug_in(work):
    """The best of all thresholds k/10,000 on the validation rows."""
    got = work("optimise", *LABELLED, "--metric", "f1", "--method", "plug-in", "--json").done().json
    labels = numpy.array(sum(work.rows("yv.csv")[1:], [])) == "yes"
    p = numpy.array(work.rows("pv.csv")[1:], dtype=float)[:, 1]
    f1 = [2 * (said & labels).sum() / (said.sum() + labels.sum()) for said in (p > 1 - z / 10000 for z in range(1, 10000))]
    assert got["value"] == pytest.approx(max(f1), abs=1e-12) and 300 < got["queries"] <= len(p) + 2
    work("optimise", *LABELLED, "--metric", "f1", "--method", "plug-in", "--known").refused(2, "plug-in has no probes")


def test_bases_and_choice(work):
    metric = ("--metric", "g-mean", "--validation-groups", "gv.csv")
    got = work("optimise", *LABELLED, *metric, *FEATURES, "--basis", "default", "--basis", "columns:town=Rome,town=Oslo",
               "--basis", "kmeans:3", "--basis", "rbf:1,group", "--basis", "rbf:1,unsquared", "--json").done().json
    values = [c["value"] for c in got["candidates"]]
    assert values[1] > values[0] and got["basis"] == ["rbf 1", "rbf 2"] and values.index(max(values)) == 4
    text = work("optimise", *LABELLED, *metric, "--validation-features", "fv.csv", "--basis", "file:f.csv").code
    assert text == 3  # a column of f.csv is not from 0 to 1
    singular = work("optimise", *LABELLED, *metric, *FEATURES, "--basis", "default+columns:hint,other", "--json").done().json
    assert (singular["rank"], singular["unknowns"]) == (4, 6)


def test_majority_is_deterministic(work):
    got = work("optimise", *LABELLED, "--metric", "f1", "--rule", "majority", "--out", "c.json", "--json").done().json
    assert abs(got["value"] - got["validation"]) < 0.01
    for seed in (1, 2):
        work("predict", "--classifier", "c.json", "--probs", "pt.csv", "--seed", seed, "--out", f"d{seed}.csv").done()
    assert (work.folder / "d1.csv").read_bytes() == (work.folder / "d2.csv").read_bytes()


@pytest.mark.parametrize("ending, says", [
    ("exec sleep 1800", "the program gave no value within 1 seconds"),
    ("exit 7", "the program gave no value (exit status 7)"),
    ("kill -9 $$", "the program gave no value (killed by signal 9)"),
    ("echo fine", 'the program answered "fine", expected a number'),
    ("echo", 'the program answered "", expected a number'),
    ("echo 0.5 0.6", 'the program answered "0.5 0.6", expected a number'),
    ("printf '0.5\\n0.6\\n'; exec sleep 1800", 'the program said "0.6\\x0a" before it was asked'),
    ("echo nan", "the metric is nan"),
    ("echo inf", "the metric is inf"),
])
def test_programs_that_misbehave(work, ending, says):
    """Twelve good values, then the bad one: the iteration is named, and the best classifier so far is stored."""
    work.write("bad.sh", f'n=0\nwhile read -r line; do n=$((n+1)); if [ $n -gt 12 ]; then {ending}; fi; echo 0.$((n + 10)); done\n')
    got = work("optimise", *FILES, "--metric", "cmd:exec sh bad.sh", "--timeout", 1, "--out", "c.json")
    iteration = 5 if "before it was asked" in says else 4
    got.refused(3, f"iteration {iteration}: {says}", "best classifier so far", "c.json")
    assert json.loads((work.folder / "c.json").read_text())["format"] == "melicit-classifier"
    work("predict", "--classifier", "c.json", "--probs", "pt.csv", "--out", "d.csv").done()


def test_program_that_never_answers(work):
    work("optimise", *FILES, "--metric", "cmd:exec sleep 60", "--timeout", 0.5, "--out", "c.json").refused(
        3, "iteration 0: the program gave no value within 0.5 seconds")
    assert not (work.folder / "c.json").exists()
    got = work("optimise", *FILES, "--metric", "cmd:no-such-program")
    assert got.code == 3 and "exit status 127, which means not found" in got.err


def test_constant_metric(work):
    got = work("optimise", *FILES, "--metric", "cmd:while read -r l; do echo 0.5; done", "--out", "c.json")
    got.refused(3, "iteration 1: the metric is 0.5 for the first classifier and for every small change of it, so it does not say which "
                "classifier is better; check that it looks at the predictions, or try a larger --thesis epsilon=X; the first classifier is stored in c.json")
    assert json.loads((work.folder / "c.json").read_text())["format"] == "melicit-classifier"


# Grandchildren of the program, deaf to Ctrl-C, that keep its output open.
LINGER = "(trap '' INT; exec sleep 600) & echo $! > linger.tmp; mv linger.tmp lingers; wait"


def begin_lingering(work, *words):
    """The program, once a grandchild of it waits."""
    (work.folder / "lingers").unlink(missing_ok=True)
    process = subprocess.Popen([str(PROGRAM), "optimise", *words], stdout=subprocess.PIPE, stderr=open(work.folder / "err", "w"),
                               cwd=work.folder, env=environment(), start_new_session=True)
    end = time.monotonic() + 300
    while not (work.folder / "lingers").exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.02)
    return process, int((work.folder / "lingers").read_text())


def is_running(pid):
    """Neither gone nor a dead one that nobody has asked for yet."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_interrupt_keeps_the_best(work):
    """Ctrl-C ends it though a grandchild keeps the pipe, and what the metric's program started ends too."""
    work.write("slow.sh", f"n=0\nwhile read -r line; do n=$((n+1)); if [ $n -gt 9 ]; then {LINGER}; fi; echo 0.$((n + 10)); done\n")
    for whole_group in (True, False):
        (work.folder / "c.json").unlink(missing_ok=True)
        process, lingers = begin_lingering(work, *FILES, "--metric", "cmd:sh slow.sh; true", "--timeout", "500", "--out", "c.json",
                                           "--json")
        (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
        out, _ = process.communicate(timeout=300)
        assert process.returncode == 5, out
        result = json.loads(out)
        assert result["end"] == "stopped" and result["iterations"] == 2
        assert json.loads((work.folder / "c.json").read_text()) == result["classifier"]
        assert ends(lingers)


def ends(pid):
    end = time.monotonic() + 300
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not is_running(pid)


def test_interrupt_of_cross_fitting(work):
    """Ctrl-C while the basis functions are chosen: the best classifier of the folds so far is stored."""
    master, slave = pty.openpty()
    with subprocess.Popen([str(PROGRAM), "optimise", *LABELLED, *FEATURES, "--metric", "f1", "--basis", "default", "--basis", "default+columns:hint",
                           "--iterations", "1000000", "--out", "c.json", "--json"], stdout=subprocess.PIPE, stderr=slave, cwd=work.folder,
                          env=environment(), start_new_session=True) as process:
        os.close(slave)
        seen = b""
        while b"iteration 9 of" not in seen:  # the bar: it is at work
            seen += os.read(master, 1000)
        process.send_signal(signal.SIGINT)
        drain = threading.Thread(target=read_all, args=(master,))
        drain.start()
        out, _ = process.communicate(timeout=300)
        drain.join()
    os.close(master)
    assert process.returncode == 5, out
    result = json.loads(out)
    assert result["end"] == "stopped" and result["iterations"] >= 8 and [c["value"] for c in result["candidates"]] == [None, None]
    assert json.loads((work.folder / "c.json").read_text()) == result["classifier"]
    work("predict", "--classifier", "c.json", "--probs", "pv.csv", "--chances", "--out", "chances.csv").done()
    yes = [float(row[1]) for row in work.rows("chances.csv")[1:]]
    label = [row[0] == "yes" for row in work.rows("yv.csv")[1:]]
    hits = sum(c for c, y in zip(yes, label) if y)
    assert 2 * hits / (sum(yes) + sum(label)) == pytest.approx(result["value"], abs=1e-9)


def read_all(terminal):
    """Until the program has closed its side."""
    with contextlib.suppress(OSError):
        while os.read(terminal, 1000):
            pass


def test_interrupt_of_comparisons(work):
    """The same for programs that compare, where there is no terminal that they share: the answers are in the session."""
    work.write("slow.sh", f"read -r line; echo A; read -r line; {LINGER}\n")
    process, lingers = begin_lingering(work, *ROWS, "--oracle", "cmd:sh slow.sh; true", "--session", "s.jsonl", "--out", "c.json", "--json")
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert ends(lingers)
    assert process.returncode == 5 and json.loads(out)["questions"] == 1
    assert [line["answer"] for line in answers(work)] == ["A"] and (work.folder / "c.json").exists()


def test_tables(work):
    """A model is trained on one table; its file and the classifier's give the decisions on new rows."""
    for suffix in ("", "v", "t"):
        rows = [a + b + c for a, b, c in zip(*(work.rows(f"{n}{suffix}.csv") for n in "ygf"))]
        work.write(f"table{suffix}.csv", "\n".join(",".join(r) for r in rows) + "\n")
    got = work("optimise", "--data", "table.csv", "--validation", "tablev.csv", "--label", "y", "--group", "g", "--metric",
               "g-mean", "--basis", "default+columns:town=Rome", "--fit", "out=m.json", "--out", "c.json", "--json").done().json
    assert got["value"] > 0.7
    work("predict", "--model", "m.json", "--data", "tablet.csv", "--out", "q.csv").done()
    work("predict", "--classifier", "c.json", "--probs", "q.csv", "--features", "tablet.csv", "--chances", "--out",
         "chances.csv").done()
    assert g_mean(work, "chances.csv") == pytest.approx(got["value"], abs=0.05)


def test_fall_is_noticed(work):
    """Values that fall whatever is tried: the first classifier stays the result, and the program says so."""
    work.write("falling.py", "import sys\nfor n, _ in enumerate(sys.stdin):\n    print(0.9 - 0.01 * n, flush=True)\n")
    words = ("optimise", *FILES, "--metric", "cmd:exec /usr/bin/python3 falling.py", "--iterations", 10)
    got = work(*words, "--json").done().json
    assert got["fell_back"] and got["value"] == got["start"] == 0.9
    assert "clearly worse than the first classifier (0.9)" in work(*words).done().out
    assert not work("optimise", *LABELLED, "--metric", "f1", "--json").done().json["fell_back"]


def test_refusals(work):
    metric = ("--metric", "accuracy")
    for words, code, part in [
        ((*FILES, *metric), 2, "--validation-labels FILE is required"),
        (("--probs", "p.csv", *metric), 2, "--labels FILE is required"),
        ((*LABELLED, "--metric", "nonsense"), 2, '"nonsense" is not a measure known by name'),
        ((*LABELLED, *metric, "--basis", "columns:hint"), 2, "needs --features"),
        ((*LABELLED, *metric, *FEATURES, "--basis", "columns:hunt"), 3, "hunt"),
        ((*LABELLED, *metric, *FEATURES, "--basis", "columns:x"), 3, "expected a number from 0 to 1"),
        ((*LABELLED, *metric, *FEATURES, "--basis", "columns:town"), 3, "is text"),
        ((*LABELLED, *metric, *FEATURES, "--basis", "waves:3"), 2, "expected default, columns"),
        ((*LABELLED, *metric, *FEATURES, "--basis", "rbf:1,group"), 2, "--validation-groups"),
        ((*LABELLED, "--metric", "min-recall", "--known"), 2, "gradient of this metric is not known"),
        ((*LABELLED, *metric, "--thesis", "epsilon=2"), 2, "above 0, at most 1"),
        ((*LABELLED, *metric, "--thesis", "labels-only"), 2, "--thesis labels-only is for"),
        ((*LABELLED, *metric, "--thesis", "draws=3"), 2, "--thesis draws goes with"),
        ((*LABELLED, *metric, "--timeout", "3"), 2, "--timeout is for"),
        ((*LABELLED, *metric, "--method", "pi-ew", "--iterations", "3"), 2, "one full step"),
        ((*LABELLED, *metric, "--thesis", "entries=no>no"), 2, "matrix=whole"),
        ((*LABELLED, *metric, "--thesis", "matrix=whole", "--thesis", "entries=no>maybe"), 2, "TRUE>PREDICTED"),
        ((*LABELLED, *metric, "--data", "p.csv"), 2, "go together"),
        ((*LABELLED, *metric, "--l2", "1"), 2, "--l2 goes with --data"),
        ((*FILES, "--validation-labels", "y.csv", *metric), 3, "y.csv has 3000 rows, pv.csv has 400"),
    ]:
        work("optimise", *words).refused(code, part)
    work("optimise", *LABELLED, "--metric", "f1", *FEATURES, "--basis", "columns:hint,other", "--out", "c.json").done()
    work("predict", "--classifier", "c.json", "--probs", "pt.csv", "--out", "d.csv").refused(2, "give --features FILE")
    work("optimise", *LABELLED, "--metric", "f1", "--out", "c.json").done()
    work("predict", "--classifier", "c.json", "--probs", "pt.csv", "--features", "ft.csv", "--out", "d.csv").refused(
        2, "reads neither features")


# --- comparisons only

ROWS = ("--validation-probs", "pv.csv", "--validation-labels", "yv.csv")


def answers(melicit, name="s.jsonl"):
    return [json.loads(line) for line in (melicit.folder / name).read_text().splitlines()][1:]


def balanced(melicit, classifier, groups=()):
    """G-mean of a stored classifier on the validation rows."""
    melicit("predict", "--classifier", classifier, "--probs", "pv.csv", *groups, "--out", "dv.csv").done()
    said, true = (numpy.array(sum(melicit.rows(name)[1:], [])) for name in ("dv.csv", "yv.csv"))
    return numpy.sqrt(numpy.prod([(said == true)[true == y].mean() for y in ("yes", "no")]))


def test_comparisons(work):
    got = work("optimise", *ROWS, "--oracle", "sim:g-mean", "--session", "s.jsonl", "--out", "c.json", "--json").done().json
    assert got["status"] == "settled" and 5 <= got["questions"] <= 40 == max(40, len(answers(work)))
    p = numpy.array(work.rows("pv.csv")[1:], dtype=float)[:, 1]
    labels = numpy.array(sum(work.rows("yv.csv")[1:], []))
    best = max(numpy.sqrt((p >= t)[labels == "yes"].mean() * (p < t)[labels == "no"].mean()) for t in p)
    assert balanced(work, "c.json") > 0.99 * best
    noisy = work("optimise", *ROWS, "--oracle", "sim:g-mean", "--noise", "flip:0.05", "--out", "n.json", "--json").done().json
    assert balanced(work, "n.json") > 0.97 * best and noisy["questions"] >= 5
    slopes = work("optimise", *ROWS, "--oracle", "sim:g-mean", "--strategy", "slopes", "--out", "t.json", "--json").done().json
    assert slopes["status"] == "done" and slopes["questions"] == 40
    groups = work("optimise", *ROWS, "--validation-groups", "gv.csv", "--oracle", "sim:g-mean", "--thesis", "kinks", "--out", "g.json",
                  "--json").done().json
    assert groups["classifier"]["groups"] == ["a", "b"]
    work("predict", "--classifier", "g.json", "--probs", "pv.csv", "--groups", "gv.csv", "--out", "dg.csv").done()


def test_comparisons_resume(work):
    """Stopped after each answer and gone on with: the same questions, the same classifier."""
    words = ("optimise", *ROWS, "--oracle", "sim:g-mean", "--noise", "flip:0.2", "--seed", 4)
    work(*words, "--session", "whole.jsonl", "--out", "whole.json", "--max-questions", 7).done()
    for n in range(1, 8):
        work(*words, "--session", "parts.jsonl", "--out", "parts.json", "--max-questions", n).done()
        assert len(answers(work, "parts.jsonl")) == n
    assert without_times(work, "whole.jsonl") == without_times(work, "parts.jsonl")
    assert (work.folder / "whole.json").read_text() == (work.folder / "parts.json").read_text()
    with open(work.folder / "parts.jsonl", "a") as file:
        file.write('{"question": 8, "ans')  # a crash in the middle of a line
    work(*words, "--session", "parts.jsonl", "--max-questions", 8).done()
    assert len(answers(work, "parts.jsonl")) == 8
    work(*words, "--session", "parts.jsonl", "--strategy", "slopes").refused(6, 'started with strategy = "signs", not "slopes"')
    work("optimise", "--validation-probs", "pt.csv", "--validation-labels", "yt.csv", "--oracle", "sim:g-mean", "--session",
         "parts.jsonl").refused(6, "started with data = ")
    work.write("bad.jsonl", (work.folder / "parts.jsonl").read_text() + "nonsense\n")
    work(*words, "--session", "bad.jsonl").refused(3, "line 10")
    for foreign, why in (('{"precious": 1}', "expected a session of comparisons"), ("a letter", "JSON object"), (begun_session(work), "this is a session of questions; expected a session of comparisons")):
        work.write("foreign.txt", foreign)
        work(*words, "--session", "foreign.txt").refused(3, why)
        assert (work.folder / "foreign.txt").read_text() == foreign
    begun = (work.folder / "whole.jsonl").read_text()
    work.write("begun.jsonl", begun[:40])  # a header that was cut off
    work(*words, "--session", "begun.jsonl", "--max-questions", 7).done()
    assert without_times(work, "begun.jsonl") == without_times(work, "whole.jsonl")


def without_times(melicit, name):
    return [{key: value for key, value in json.loads(line).items() if key != "time"} for line in (melicit.folder / name).read_text().splitlines()]


def begun_session(melicit):
    """A session about a metric, which is another kind of session."""
    melicit("metric", "--named", "accuracy", "--out", "accuracy.json").done()
    melicit("elicit", "--population", "logistic:a=5,b=0.3", "--oracle", "sim:accuracy.json", "--session", "metric.jsonl").done()
    return (melicit.folder / "metric.jsonl").read_text()


def test_comparisons_are_locked(work):
    """A session that another program has open is refused."""
    words = ("optimise", *ROWS, "--oracle", "sim:g-mean", "--session", "s.jsonl")
    work(*words).done()
    with open(work.folder / "s.jsonl") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        work(*words).refused(6, "another program is using this session")


@pytest.mark.parametrize("noise", ["band:0.01", "band:0.01,adversarial", "logistic:200", "person"])
def test_comparisons_with_noise(work, noise):
    """Every model of how people err, of which a session hears the same again."""
    words = ("optimise", *ROWS, "--oracle", "sim:g-mean", "--noise", noise, "--seed", 2)
    work(*words, "--session", "a.jsonl").done()
    work(*words, "--session", "b.jsonl").done()
    assert without_times(work, "a.jsonl") == without_times(work, "b.jsonl")


def test_comparisons_by_a_person_and_a_program(work):
    """A person answers two questions, takes one back, and goes; a program goes on with the session."""
    got = work("optimise", *ROWS, "--oracle", "ask", "--session", "s.jsonl", "--out", "c.json", stdin="a\nb\nu\n=\nq\n")
    assert got.code == 5 and "2 answers" in got.out
    assert [line.get("answer", "undo") for line in answers(work)] == ["A", "B", "undo", "="]
    work.write("judge.sh", "while read -r line; do echo B; done\n")
    more = work("optimise", *ROWS, "--oracle", "cmd:exec sh judge.sh", "--session", "s.jsonl", "--max-questions", 6,
                "--json").done().json
    assert more["questions"] == 6
    work.write("quit.sh", "read -r line; echo A; exit 3\n")
    work("optimise", *ROWS, "--oracle", "cmd:exec sh quit.sh", "--session", "q.jsonl").refused(3, "exit status 3")
    assert len(answers(work, "q.jsonl")) == 1


def begin_in_browser(work, *words):
    process = subprocess.Popen([str(PROGRAM), "optimise", *ROWS, "--oracle", "browser", *words, "--json"], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, cwd=work.folder, env=environment(), text=True)
    return process, re.search(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", process.stderr.readline())[0]


def test_comparisons_in_the_browser(work):
    """The same answers as a program gives end in the same classifier; each counts once, and one is taken back."""
    work.write("judge.sh", "while read -r line; do echo A; done\n")
    work("optimise", *ROWS, "--oracle", "cmd:exec sh judge.sh", "--max-questions", 4, "--out", "p.json").done()
    process, url = begin_in_browser(work, "--session", "s.jsonl", "--max-questions", "4", "--out", "b.json")
    with urllib.request.urlopen(url, timeout=300) as page:
        assert page.headers["Content-Type"].startswith("text/html")
    assert page_request(url.rsplit("/", 2)[0] + "/question")[0] == 404
    question = open_question(url)
    assert (question["number"], question["classes"], question["groups"]) == (1, ["no", "yes"], [])
    totals = [[sum(row) for row in question[side][0]] for side in "ab"]
    assert totals[0] == totals[1] and sum(totals[0]) == question["people"]
    assert page_request(url + "answer", {"question": 1, "answer": "left"})[0] == 400
    assert page_request(url + "answer", {"question": 2, "answer": "A"})[0] == 409
    assert page_request(url + "answer", {"question": 1, "answer": "A"})[0] == 200
    for number, answer in ((2, "B"), (3, "undo"), (2, "A"), (3, "A"), (4, "A")):
        assert open_question(url)["number"] == number
        assert page_request(url + "answer", {"question": number, "answer": answer})[0] == 200
    assert open_question(url) == {"ended": True}
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, out + err
    assert [line.get("answer", "undo") for line in answers(work)] == ["A", "B", "undo", "A", "A", "A"]
    assert (work.folder / "b.json").read_text() == (work.folder / "p.json").read_text()


def test_browser_stops_and_resumes(work):
    process, url = begin_in_browser(work, "--session", "s.jsonl")
    first = open_question(url)
    assert page_request(url + "answer", {"question": 1, "answer": "B"})[0] == 200
    second = open_question(url)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 5 and len(answers(work)) == 1 and second != first
    process, url = begin_in_browser(work, "--session", "s.jsonl")
    assert open_question(url) == second
    page_request(url + "answer", {"question": 2, "answer": "stop"})
    assert open_question(url) == {"ended": True}
    process.communicate(timeout=300)
    assert process.returncode == 5


def test_session_waits_for_a_slow_respondent(work):
    """An A/B test that takes days: the program is killed while it waits, and asks the same question again later."""
    work.write("ab.sh", 'read -r line; echo "$line" >> asked; echo B; read -r line; echo "$line" >> asked; echo $$ > pid; mv pid waiting; exec sleep 600\n')
    words = ["optimise", *ROWS, "--session", "s.jsonl", "--max-questions", "2"]
    process = subprocess.Popen([str(PROGRAM), *words, "--oracle", "cmd:exec sh ab.sh"], cwd=work.folder, env=environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 300
    while not (work.folder / "waiting").exists() and time.monotonic() < end:
        time.sleep(0.02)
    process.kill()
    process.wait()
    os.kill(int((work.folder / "waiting").read_text()), signal.SIGTERM)  # nobody else is left to end it
    assert [line["answer"] for line in answers(work)] == ["B"]
    work.write("later.sh", 'read -r line; echo "$line" >> asked; echo A\n')
    work(*words, "--oracle", "cmd:exec sh later.sh").done()
    assert [line["answer"] for line in answers(work)] == ["B", "A"]
    asked = (work.folder / "asked").read_text().splitlines()
    assert len(asked) == 3 and asked[1] == asked[2] != asked[0]


def test_comparisons_refusals(work):
    for words, part in [
        (("--oracle", "sim:g-mean", "--metric", "f1"), "one of --metric and --oracle"),
        ((), "one of --metric and --oracle"),
        (("--oracle", "sim:g-mean", "--basis", "default"), "--basis cannot be combined with --oracle"),
        (("--oracle", "sim:g-mean", "--probs", "p.csv"), "--probs cannot be combined with --oracle"),
        (("--oracle", "sim:g-mean", "--noise", "shaky"), "shaky"),
        (("--oracle", "somebody"), "expected ask, browser, browser:PORT, sim:METRIC or cmd:PROGRAM"),
        (("--oracle", "browser:http"), "expected a port from 1 to 65535"),
        (("--oracle", "cmd:true", "--noise", "flip:0.1"), "--noise is for simulated oracles"),
        (("--oracle", "ask", "--json"), ""),
    ]:
        got = work("optimise", *ROWS, *words)
        assert got.code == 2 and part in got.err, words
    work("optimise", *LABELLED, "--metric", "f1", "--session", "s.jsonl").refused(2, "--session goes with --oracle")
