"""melicit optimise with metrics and respondents that fail, whatever the method and the rule: what is kept, and what is said."""
import contextlib
import json
import os
import pty
import signal
import subprocess

import numpy
import pytest
from conftest import PROGRAM, environment
from test_optimise import FILES, LABELLED, LINGER, ROWS, answers, begin_lingering, ends, work, write  # noqa: F401 (work is a fixture)

WAYS = [("--method", "plug-in"), ("--method", "pi-ew"), ("--method", "pi-ew", "--rule", "majority"), ("--rule", "majority"),
        ("--thesis", "step=line"), ("--thesis", "labels-only",), ("--thesis", "labels-only", "--method", "plug-in"), ("--thesis", "matrix=whole"), ("--thesis", "probes=constrained")]
BAD = {"exec sleep 60": "no value within 1 seconds", "exit 7": "exit status 7", "echo fine": 'answered "fine"', "echo nan": "the metric is nan",
       "echo -inf": "the metric is -inf"}


def good_then(work, n, bad):
    """A program that gives n good values, each larger than the one before, and then something else."""
    work.write("bad.sh", f'n=0\nwhile read -r line; do n=$((n+1)); if [ $n -gt {n} ]; then {bad}; fi; echo 0.$((n + 10)); done\n')
    return ("optimise", *FILES, "--metric", "cmd:exec sh bad.sh", "--timeout", 1, "--out", "c.json")


@pytest.mark.parametrize("way", WAYS, ids=" ".join)
def test_every_method_keeps_the_best(work, way):
    """The place and the reason are named, and what is stored can be applied."""
    for bad, says in BAD.items() if "plug-in" in way and "labels-only" not in way else [("echo nan", BAD["echo nan"])]:
        work(*good_then(work, 7 if "pi-ew" not in way else 2, bad), *way).refused(3, "iteration ", says, "best classifier so far has the value 0.1", "c.json")
        work("predict", "--classifier", "c.json", "--probs", "pt.csv", "--out", "d.csv").done()
        (work.folder / "c.json").unlink()
    same = "cmd:exec /usr/bin/python3 -uc 'import sys; [print(0.5) for line in sys.stdin]'"
    work("optimise", *FILES, "--metric", same, "--out", "c.json", *way).refused(
        3, "the metric is 0.5 for the first classifier", "does not say which classifier is better", "stored in c.json")
    work("predict", "--classifier", "c.json", "--probs", "pt.csv", "--out", "d.csv").done()


def test_interrupt_of_plug_in(work):
    """Ctrl-C keeps the best gain of the line so far."""
    work.write("slow.sh", f"n=0\nwhile read -r line; do n=$((n+1)); if [ $n -gt 9 ]; then {LINGER}; fi; echo 0.$((n + 10)); done\n")
    process, lingers = begin_lingering(work, *FILES, "--metric", "cmd:sh slow.sh; true", "--method", "plug-in", "--timeout", "500", "--out",
                                       "c.json", "--json")
    os.kill(process.pid, signal.SIGINT)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 5, out
    result = json.loads(out)
    assert (result["end"], result["iterations"], result["queries"], result["value"]) == ("stopped", 1, 10, 0.19)
    assert json.loads((work.folder / "c.json").read_text()) == result["classifier"]
    assert ends(lingers)


def test_progress_of_plug_in(work):
    """On a terminal: the iteration, whose gain, and the value."""
    master, slave = pty.openpty()
    with subprocess.Popen([str(PROGRAM), "optimise", *FILES, "--metric", "cmd:while read -r l; do echo 0.25; sleep 0.1; done", "--method", "plug-in"],
                          stdout=subprocess.DEVNULL, stderr=slave, cwd=work.folder, env=environment(), start_new_session=True) as process:
        os.close(slave)
        seen = b""
        while b"iteration 1, gain of class 2, value 0.25" not in seen:
            seen += os.read(master, 1000)
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(OSError):  # the other end is closed
            while os.read(master, 1000):
                pass
        process.wait(timeout=300)
    os.close(master)


def three_classes(work):
    rng = numpy.random.Generator(numpy.random.PCG64(7))
    for suffix, n in (("", 600), ("v", 500), ("t", 500)):
        label = rng.choice(3, p=[0.6, 0.3, 0.1], size=n)
        score = rng.normal(size=(n, 3)) + 1.5 * numpy.eye(3)[label] + [1, 0, -1]
        p = numpy.exp(score) / numpy.exp(score).sum(1, keepdims=True)
        write(work.folder, f"p{suffix}.csv", "a,b,c", p.T)
        write(work.folder, f"y{suffix}.csv", "y", [numpy.array(["a", "b", "c"])[label]])


def test_plug_in_of_three_classes(work):
    """Rules that predict one of two classes all have the G-mean 0; with all classes the search is better than the model."""
    three_classes(work)
    words = ("optimise", *LABELLED, "--metric", "g-mean", "--method", "plug-in", "--out", "c.json", "--json")
    pairs = work(*words, "--thesis", "rounds=0").done().json
    assert pairs["value"] == 0 and "the gains of pairs of classes have the value 0, the model as it is 0." in pairs["warnings"][0]
    whole = work(*words).done().json
    assert whole["value"] > whole["start"] + 0.05 and "warnings" not in whole
    work("predict", "--classifier", "c.json", "--probs", "pv.csv", "--out", "d.csv").done()
    said, label = (numpy.array(sum(work.rows(name)[1:], [])) for name in ("d.csv", "yv.csv"))
    assert numpy.prod([(said[label == c] == c).mean() for c in "abc"]) ** (1 / 3) == pytest.approx(whole["value"], abs=1e-12)
    for words, part in ((("--method", "fw-eg", "--thesis", "rounds=3"), "--thesis rounds goes with --method plug-in"),
                        (("--method", "plug-in", "--thesis", "take=best"), "no --iterations, --thesis step or take"),
                        (("--method", "pi-ew", "--iterations", 3), "pi-ew takes one full step")):
        work("optimise", *LABELLED, "--metric", "g-mean", *words).refused(2, part)


def test_the_value_of_the_majority(work):
    """It is one more evaluation, which can fail like the others: then the classifier is stored without its value."""
    words = ("--iterations", 2, "--rule", "majority")
    work.write("count.sh", 'n=0\nwhile read -r line; do n=$((n+1)); echo $n > asked; case $((n % 3)) in 0) echo 0.3;; 1) echo 0.2;; *) echo 0.4;; esac; done\n')
    whole = work("optimise", *FILES, "--metric", "cmd:exec sh count.sh", *words, "--json").done().json
    asked = int((work.folder / "asked").read_text())
    assert whole["queries"] == asked and len(whole["classifier"]["rules"]) > 1
    work.write("last.sh", f'n=0\nwhile read -r line; do n=$((n+1)); if [ $n -eq {asked} ]; then echo nan; else case $((n % 3)) in 0) echo 0.3;; 1) echo 0.2;; *) echo 0.4;; esac; fi; done\n')
    work("optimise", *FILES, "--metric", "cmd:exec sh last.sh", *words, "--out", "c.json").refused(
        3, "the value of the majority, after iteration 2: the metric is nan; the mixture of which it is has the value 0.", "stored in c.json")
    assert json.loads((work.folder / "c.json").read_text()).get("value") is None
    work("predict", "--classifier", "c.json", "--probs", "pt.csv", "--out", "d.csv").done()


def test_metric_that_becomes_constant(work):
    """Of a metric that says nothing any more the user is told, and the classifier so far is the result."""
    work.write("tired.sh", 'n=0\nwhile read -r line; do n=$((n+1)); if [ $n -gt 8 ]; then echo 0.5; else echo 0.$((n + 10)); fi; done\n')
    got = work("optimise", *FILES, "--metric", "cmd:exec sh tired.sh", "--json").done().json
    assert got["end"] == "flat" and got["iterations"] > 0
    assert f"after iteration {got['iterations']} the metric is 0.5 for the classifier and for every small change of it" in got["warnings"][0]


@pytest.mark.parametrize("ending, says", [("exit 3", "exit status 3"), ("echo perhaps", "perhaps")])
def test_respondents_that_fail(work, ending, says):
    """Comparisons: the answers and the classifier so far are kept, and a session goes on."""
    work.write("quit.sh", f"read -r line; echo A; read -r line; echo B; read -r line; {ending}\n")
    words = ("optimise", *ROWS, "--session", "s.jsonl", "--out", "c.json")
    work(*words, "--oracle", "cmd:exec sh quit.sh").refused(3, says, "2 answers so far, kept in s.jsonl; their classifier is stored in c.json")
    assert len(answers(work)) == 2
    work("predict", "--classifier", "c.json", "--probs", "pt.csv", "--out", "d.csv").done()
    work.write("stop.sh", "exit 9\n")
    stored = (work.folder / "c.json").read_text()
    (work.folder / "c.json").unlink()
    work(*words, "--oracle", "cmd:exec sh stop.sh").refused(3, "exit status 9", "2 answers so far")
    assert (work.folder / "c.json").read_text() == stored


def test_classes_are_counted_against_the_labels_that_are_there(work):
    write(work.folder, "three.csv", "a,b,c", numpy.full((3, 400), 1 / 3))
    for oracle in ("sim:g-mean", "ask"):
        work("optimise", "--validation-probs", "three.csv", "--validation-labels", "yv.csv", "--oracle", oracle).refused(3, "three.csv has probabilities of 3 classes, yv.csv has 2")
