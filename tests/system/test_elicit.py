"""elicit, space, score, apply and report as other programs and people use them."""
import json
import math
import os
import pty
import re
import select
import shlex
import signal
import subprocess
import time
import xml.etree.ElementTree

import numpy
import pytest
from conftest import PROGRAM, SOURCE, environment

POPULATION = ("--population", "logistic:a=5,b=0")
CANCER = ("--data", "breast_cancer_diagnostic", "--classes", "benign,malignant")
LAYOUT = {"kind": "confusion", "coordinates": "binary", "classes": ["0", "1"], "groups": []}


def metric_text(family="linear", **coefficients):
    return json.dumps({"format": "melicit-metric", "version": 1, "family": family, "orientation": "utility",
                       "layout": LAYOUT, "coefficients": coefficients})


@pytest.fixture
def truth(melicit):
    melicit.write("truth.json", metric_text(a=[math.cos(0.4), math.sin(0.4)]))
    return ("--oracle", "sim:truth.json")


# --- the contract of elicit ---------------------------------------------------------------------------


@pytest.mark.parametrize("space", [POPULATION, CANCER])
def test_json_result(melicit, truth, space):
    got = melicit("elicit", *space, *truth, "--tolerance", 0.01, "--json").done()
    assert got.err == ""
    result = got.json
    assert result["status"] == "done" and result["questions"] == 7
    assert result["radius"] <= 0.01 and result["seconds"] >= 0
    metric = result["metric"]
    assert metric["format"] == "melicit-metric" and metric["version"] == 1 and metric["family"] == "linear"
    a = metric["coefficients"]["a"]
    assert math.isclose(math.hypot(*a), 1, rel_tol=1e-12)
    assert abs(math.atan2(a[1], a[0]) - 0.4) <= 0.01
    low, high = metric["intervals"]["a"][0]
    assert low <= a[0] <= high
    assert metric["elicited"]["questions"] == 7 and metric["elicited"]["strategy"] == "active"


def test_names_of_mistakes(melicit, truth):
    """Plurals are given, or built without guessing: cases of what was named."""
    defaulted = ("--population", "logistic:a=5,b=0", "--classes", "paid,defaulted")
    melicit.write("turned.json", metric_text(a=[0.3, 0.95]).replace('"0"', '"paid"').replace('"1"', '"defaulted"'))
    words = melicit("elicit", *defaulted, "--oracle", "sim:turned.json", "--json").done().json["words"]
    assert re.match(r"One false alarm counts as much as 3\.2 missed defaulted cases;", words), words
    shown = ("elicit", *defaulted, "--oracle", "sim:turned.json", "--ask", "show", "--people", 1000, "--session", "s.jsonl")
    for names, missed, alarms in (((), "missed defaulted cases", "false alarms"),
                                  (("--call", "missed=bad loan", "--call", "false-alarm=lost customer"), "bad loan cases",
                                   "lost customer cases"),
                                  (("--call", "missed=bad loan|bad loans", "--call", "false-alarm=lost customer|lost customers"),
                                   "bad loans", "lost customers")):
        (melicit.folder / "s.jsonl").unlink(missing_ok=True)
        text = " ".join(melicit(*shown, *names, "--report", "r.html").done().out.split())
        assert re.search(rf"(more|fewer) {missed.removeprefix('missed ')}\b", text) and re.search(rf"(more|fewer) {alarms}\b", text), text
        pages = [(melicit.folder / "r.html").read_text()]
        melicit("report", "s.jsonl", *names, "--out", "again.html").done()
        pages.append((melicit.folder / "again.html").read_text())
        for page in pages:
            assert f">{missed}</th>" in page and f">{alarms}</th>" in page
            assert "defaulteds" not in page and "|" not in missed


@pytest.mark.parametrize("layout", ["beside", "below", "across", "absolute", "probabilities"])
def test_from_any_folder(melicit, tmp_path, layout):
    """Started in one folder, a session goes on and is reported on from another, also after all of it was moved."""
    project, other = tmp_path / "project", tmp_path / "other" / "deep"
    for folder in (project / "data", project / "sessions", other):
        folder.mkdir(parents=True)
    (project / "truth.json").write_text(metric_text(a=[0.9, 0.44]))
    rng = numpy.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    table = "x,label\n" + "".join(f"{v},{c}\n" for v, c in zip(y + rng.normal(size=60), y))
    (project / "data" / "mine.csv").write_text(table)
    numpy.save(project / "data" / "p.npy", rng.uniform(size=60))
    numpy.save(project / "data" / "y.npy", y)
    session = {"beside": "data/s.jsonl", "below": "s.jsonl"}.get(layout, "sessions/s.jsonl")
    data = ("--data", project / "data" / "mine.csv") if layout == "absolute" else ("--data", "data/mine.csv")
    if layout == "probabilities":
        data = ("--probs", "data/p.npy", "--labels", "data/y.npy")
    here, there = type(melicit)(project), type(melicit)(other)
    here("elicit", *data, "--session", session, "--oracle", "sim:truth.json", "--max-questions", 2, "--json").done()
    header = json.loads((project / session).read_text().splitlines()[0])["space"]
    stored = {"beside": "mine.csv", "below": "data/mine.csv", "across": "../data/mine.csv",
              "absolute": str(project / "data" / "mine.csv"), "probabilities": None}[layout]
    assert header.get("table") == stored
    if layout == "probabilities":
        assert header["probs"] == "../data/p.npy" and header["labels"] == "../data/y.npy"

    def go_on(root, questions):
        path = os.path.relpath(root / session, other)
        answers = ("--session", path, "--oracle", f"sim:{root / 'truth.json'}", "--max-questions", questions)
        assert there("elicit", *answers, "--json").done().json["questions"] == questions
        there("report", "--session", path, "--out", "r.html").done()
        assert f"{questions} question" in (other / "r.html").read_text()

    go_on(project, 3)
    if layout != "absolute":
        moved = tmp_path / "elsewhere" / "again"
        moved.parent.mkdir()
        project.rename(moved)
        go_on(moved, 4)
        (moved / "data" / ("p.npy" if layout == "probabilities" else "mine.csv")).unlink()
        there("report", "--session", moved / session, "--out", "r.html").refused(3, "o such file", "if it was moved, say where")


def test_search_at_an_end(melicit):
    """A search whose range does not hold the metric says so instead of claiming precision."""
    melicit.write("wrong.json", metric_text(a=[-0.94, -0.34]))
    search = ("elicit", *POPULATION, "--strategy", "search", "--oracle", "sim:wrong.json", "--report", "wrong.html")
    result = melicit(*search, "--json").done().json
    assert result["end"] == "range" and result["at_end"] is True and result["finding"] == "at-end"
    assert result["radius"] is None and "intervals" not in result["metric"]
    text = " ".join(melicit(*search).done().out.split())
    assert "ended at an end of its range" in text and "as precise as you asked" not in text
    assert "known within" not in text and "not where the answers do" in text
    assert "At that end these count nothing: positive recognised (TP)." in text
    page = (melicit.folder / "wrong.html").read_text()
    assert "at an end of its range: its error is unknown" in page and "when it was sure enough" not in page
    for direction in ("decreasing", "unknown"):
        right = melicit(*search, "--known", f"direction={direction}", "--json").done().json
        assert right["end"] == "tolerance" and "at_end" not in right and right["radius"] < 0.01
        assert abs(right["metric"]["coefficients"]["a"][0] + 0.94) < 0.01


def test_weights_of_two_signs(melicit):
    """Questions about weights of one sign do not tell a weight of the other sign from none: said, not hidden."""
    said = "would answer the same way: weights of two signs"
    for weights, edge in (([0.94, -0.34], True), ([0.8, 0.6], False)):
        melicit.write("signs.json", metric_text(a=weights))
        text = " ".join(melicit("elicit", *POPULATION, "--strategy", "active", "--oracle", "sim:signs.json").done().out.split())
        assert (said in text) == edge, text


def test_repeats_that_all_agree(melicit):
    """Seven of seven is not "too few"."""
    text = " ".join(melicit("elicit", "--data", "mammographic_mass", "--classes", "benign,malignant", "--oracle",
                            f"sim:{SOURCE / 'data' / 'doctor.json'}", "--assume", "person", "--tolerance", 0.002, "--max-questions", 43,
                            "--ask", "repeat-every=6").done().out.split())
    assert "7 questions were asked again" in text and "Too few questions came back" not in text, text


def test_nothing_is_concluded_from_no_answer(melicit):
    text = melicit("elicit", "--ball", "2,2", "--radius", 0.2, "--family", "fair-linear", "--oracle", "ask", stdin="q\n").out
    assert "Result" in text and "cost about the same" not in text, text


def test_search_counts(melicit, truth):
    for tolerance in (0.1, 0.02):
        rounds = math.ceil(math.log2(math.pi / 2 / tolerance))
        for words, questions in (((), 4 * rounds), (("--thesis", "per-round=3"), 3 * rounds),
                                 (("--known", "direction=unknown"), 4 * rounds + 1)):
            got = melicit("elicit", *POPULATION, *truth, "--strategy", "search", "--tolerance", tolerance, *words, "--json")
            assert got.done().json["questions"] == questions


def test_decreasing_metric(melicit):
    melicit.write("truth.json", metric_text(a=[-0.94, -0.34]))
    got = melicit("elicit", *POPULATION, "--oracle", "sim:truth.json", "--known", "direction=unknown", "--json").done().json
    assert got["questions"] <= 8
    assert abs(got["angle"] - (math.pi + math.atan2(0.34, 0.94))) <= 0.02


def test_linear_fractional(melicit):
    melicit.write("f1.json", metric_text("linear-fractional", p=[1, 0], p0=0, q=[0.5, -0.5], q0=0.5))
    for words in (("--tolerance", 0.01), ("--strategy", "search", "--tolerance", 0.002),
                  ("--strategy", "search", "--known", "p11=1", "--tolerance", 0.005)):
        got = melicit("elicit", *POPULATION, "--family", "linear-fractional", "--oracle", "sim:f1.json", *words, "--json")
        found = got.done().json["metric"]["coefficients"]
        rng = numpy.random.default_rng(1)
        points = numpy.column_stack([rng.uniform(0.1, 0.45, 400), rng.uniform(0.1, 0.45, 400)])
        value = lambda c: (points @ c["p"] + c["p0"]) / (points @ c["q"] + c["q0"])
        one, other = value(found), value({"p": [1, 0], "p0": 0, "q": [0.5, -0.5], "q0": 0.5})
        order = (one[:200] > one[200:]) == (other[:200] > other[200:])
        assert order.mean() >= 0.98, words


def test_same_seed_same_bytes(melicit, truth):
    texts = []
    for threads in (1, 2, 1):
        got = melicit("elicit", *CANCER, *truth, "--noise", "flip:0.2", "--seed", 3, "--threads", threads, "--json").done()
        result = got.json
        result.pop("seconds")
        texts.append(json.dumps(result))
    assert texts[0] == texts[1] == texts[2]


def asked(melicit, name):
    """The questions of a session and their answers, without how long they took."""
    lines = [json.loads(line) for line in (melicit.folder / name).read_text().splitlines()[1:]]
    return [{key: line[key] for key in line if key not in ("seconds", "time")} for line in lines]


@pytest.mark.parametrize("space, family, coordinates, names, a", [
    ((*CANCER, "--thesis", "smooth"), "linear", "binary", ["benign", "malignant"], [0.94, 0.34]),
    (("--data", "vehicle"), "diagonal-linear", "diagonal", list("0123"), [0.4, 0.3, 0.2, 0.1])])
def test_people_are_asked_the_same_on_any_number_of_threads(melicit, space, family, coordinates, names, a):
    """A session of realistic questions, the same on two threads, and one that goes on with other threads after six answers."""
    hidden = {**json.loads(metric_text(family, a=a)), "layout": {**LAYOUT, "coordinates": coordinates, "classes": names}}
    melicit.write("hidden.json", json.dumps(hidden))
    space = (*space, "--family", family)
    words = ("elicit", *space, "--oracle", "sim:hidden.json", "--noise", "logistic:50", "--questions", "realistic",
             "--assume", "person", "--ask", "repeat-every=5", "--max-questions", 10, "--json")
    for threads in (1, 2):
        melicit(*words, "--threads", threads, "--session", f"{threads}.jsonl").done()
    want = asked(melicit, "1.jsonl")
    assert len(want) == 10 and sum("repeated" in q for q in want) >= 2 and all("shown" in q for q in want)
    assert asked(melicit, "2.jsonl") == want
    melicit.write("part.jsonl", "".join(line + "\n" for line in (melicit.folder / "1.jsonl").read_text().splitlines()[:7]))
    melicit(*words, "--threads", 2, "--session", "part.jsonl").done()
    assert asked(melicit, "part.jsonl") == want


def test_smooth_frontier_for_people(melicit):
    """Realistic pairs of the smoothed frontier: whole numbers near it, other than those of the steps, and the ratio is found."""
    melicit.write("hidden.json", metric_text(a=[0.98, 0.199]).replace('"0"', '"benign"').replace('"1"', '"malignant"'))
    words = ("elicit", *CANCER, "--oracle", "sim:hidden.json", "--questions", "realistic", "--assume", "person", "--json")
    found = {}
    for smooth in ((), ("--thesis", "smooth",)):
        result = melicit(*words, *smooth, "--session", f"s{len(smooth)}.jsonl").done().json
        low, high = result["ratio_interval"]
        assert low <= 0.98 / 0.199 <= high and high / low < 4
        found[bool(smooth)] = [(q["shown"]["a"], q["shown"]["b"], q["shown"]["people"]) for q in asked(melicit, f"s{len(smooth)}.jsonl")]
    assert found[True] != found[False]
    for a, b, people in found[True][:2]:
        for tp, tn in (a, b):  # on the frontier: reached, but not with both numbers larger by two in a thousand
            point = lambda more: f"{(tp + more) / people},{(tn + more) / people}"
            assert melicit("space", *CANCER, "--thesis", "smooth", "--point", point(-1), "--json").done().json["feasible"]
            assert not melicit("space", *CANCER, "--thesis", "smooth", "--point", point(3), "--json").done().json["feasible"]


def test_a_session_that_ended_one_sided_goes_on_imagined(melicit):
    """Beyond what the test can ask: a bound and how to go on; the same file with the option then finds the ratio itself."""
    melicit.write("hidden.json", metric_text(a=[0.99986, 0.016664]))  # 60 false alarms
    words = ("elicit", "--population", "logistic:a=3,b=0.7", "--oracle", "sim:hidden.json", "--questions", "realistic",
             "--assume", "person", "--tolerance", "1.6x", "--max-questions", 60, "--session", "s.jsonl", "--json")
    ended = melicit(*words).done().json
    assert ended["end"] == "beyond" and ended["open_ended"] and "go on with the option imagined-beyond" in json.dumps(ended)
    before = asked(melicit, "s.jsonl")
    assert melicit(*words).done().json["questions"] == len(before)  # nothing more to ask
    result = melicit(*words, "--ask", "imagined-beyond").done().json
    after = asked(melicit, "s.jsonl")
    assert after[:len(before)] == before and not any("imagined" in q["shown"] for q in before)
    assert len(after) > len(before) and all(q["shown"]["imagined"] for q in after[len(before):] if "repeated" not in q)
    low, high = result["ratio_interval"]
    assert result["imagined"] and low <= 60 <= high
    again = melicit(*words).done().json  # the file is enough
    assert {**again, "seconds": 0} == {**result, "seconds": 0} and asked(melicit, "s.jsonl") == after


def test_noise_and_votes(melicit, truth):
    words = ("elicit", *POPULATION, *truth, "--noise", "flip:0.1", "--max-questions", 25, "--tolerance", 1e-6, "--json")
    errors = [abs(melicit(*words, "--seed", seed).done().json["angle"] - 0.4) for seed in range(10)]
    assert numpy.median(errors) <= 0.05
    result = melicit(*words, "--seed", 1, "--votes", 15, "--assume", "none").done().json
    assert abs(result["angle"] - 0.4) <= 1e-5


def test_log_questions(melicit, truth):
    melicit("elicit", *CANCER, *truth, "--log-questions", "q.jsonl", "--json").done()
    lines = [json.loads(line) for line in (melicit.folder / "q.jsonl").read_text().splitlines()]
    assert [line["question"] for line in lines] == list(range(1, len(lines) + 1))
    for line in lines:
        better = numpy.dot([math.cos(0.4), math.sin(0.4)], numpy.subtract(line["a"], line["b"])) > 0
        assert line["answer"] == ("A" if better else "B")


def test_probabilities_of_another_model(melicit, truth):
    rng = numpy.random.default_rng(2)
    y = rng.integers(0, 2, 500)
    p = 1 / (1 + numpy.exp(-(2 * y - 1 + rng.normal(size=500))))
    numpy.save(melicit.folder / "p.npy", p)
    melicit.write("y.csv", "label\n" + "\n".join(map(str, y)) + "\n")
    melicit.write("two.csv", "0,1\n" + "\n".join(f"{1 - x!r},{x!r}" for x in p.tolist()) + "\n")
    space = [melicit("space", "--probs", name, "--labels", "y.csv", "--json").done().json for name in ("p.npy", "two.csv")]
    assert numpy.allclose(space[0]["vertices"], space[1]["vertices"])
    assert math.isclose(space[0]["positives"], y.mean())
    got = melicit("elicit", "--probs", "p.npy", "--labels", "y.csv", *truth, "--json").done().json
    assert abs(got["angle"] - 0.4) <= 0.02
    melicit.write("short.csv", "label\n0\n1\n")
    melicit("space", "--probs", "p.npy", "--labels", "short.csv").refused(3, "500 rows", "short.csv", "2")


# --- sessions -----------------------------------------------------------------------------------------


def test_stop_and_go_on(melicit):
    """A person leaves (end of input), comes back, takes an answer back, ends."""
    words = ("elicit", *CANCER, "--session", "s.jsonl", "--assume", "none", "--ask", "repeat-every=0")
    files = ("--out", "the metric's.json", "--report", "r.html", "--log-questions", "q.jsonl")
    left = melicit(*words, *files, stdin="a\nb\n")
    assert left.code == 5, left.err
    (printed,) = [shlex.split(line.split("go on with", 1)[1]) for line in left.out.splitlines() if "go on with" in line]
    assert printed == ["melicit", "elicit", "--session", "s.jsonl", *files]
    before = [(melicit.folder / name).read_text() for name in files[1::2]]
    back = melicit(*printed[1:], stdin="u\na\n" + "b\n" * 20)
    assert back.code == 0, back.out + back.err
    assert all((melicit.folder / name).read_text() != old for name, old in zip(files[1::2], before))
    lines = [json.loads(line) for line in (melicit.folder / "s.jsonl").read_text().splitlines()[1:]]
    assert [line.get("answer", "undo") for line in lines[:4]] == ["A", "B", "undo", "A"]
    melicit("report", "--session", "s.jsonl", "--out", "s.html").done()
    html = (melicit.folder / "s.html").read_text()
    assert "malignant" in html and "http" not in html.replace("http://www.w3.org", "")


def test_a_seed_that_is_given_is_taken_when_resuming(melicit):
    """--seed 1 is a seed like any other: the split of the data depends on it. Without --seed the session's own counts."""
    words = ("elicit", *CANCER, "--session", "s.jsonl", "--assume", "none")
    assert melicit(*words, "--seed", 7, stdin="a\n").code == 5
    again = ("elicit", "--session", "s.jsonl")
    assert melicit(*again, stdin="a\n").code == 5
    for seed in (1, 2):
        refused = melicit(*again, "--seed", seed, stdin="a\n")
        assert refused.code in (3, 6) and "7" in refused.err, (seed, refused.err)
    assert melicit(*again, "--seed", 7, stdin="a\n").code == 5
    assert len((melicit.folder / "s.jsonl").read_text().splitlines()) == 4


@pytest.mark.parametrize("send", [os.kill, os.killpg])
def test_stopped_json(melicit, truth, send):
    """Ctrl-C, here or at a terminal, while a program thinks: what is known so far, exit 5, and the session goes on."""
    melicit.write("slow.sh", "read line; echo A; read line; echo waiting > waiting; exec sleep 60\n")
    words = [str(PROGRAM), "elicit", *POPULATION, "--oracle", "cmd:exec sh slow.sh", "--session", "s.jsonl", "--out", "m.json",
             "--json"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=melicit.folder, env=environment(),
                               start_new_session=True)
    end = time.monotonic() + 300
    while not (melicit.folder / "waiting").exists() and time.monotonic() < end:
        time.sleep(0.05)
    send(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 5, out + err
    result = json.loads(out)
    assert result["status"] == "stopped" and result["questions"] == 1
    assert json.loads((melicit.folder / "m.json").read_text())["family"] == "linear"
    assert len((melicit.folder / "s.jsonl").read_text().splitlines()) == 2


def test_program_that_ends_early(melicit):
    melicit.write("quit.sh", "read line; echo A; read line; exit 0\n")
    got = melicit("elicit", *POPULATION, "--oracle", "cmd:sh quit.sh", "--session", "s.jsonl", "--json")
    assert got.code == 3 and got.json["error"]["code"] == "EDATA"
    assert len((melicit.folder / "s.jsonl").read_text().splitlines()) == 2  # the answer is kept


def test_settings_come_from_the_session(melicit, truth):
    words = ("elicit", *CANCER, *truth, "--session", "s.jsonl", "--seed", 5, "--tolerance", 0.003)
    melicit(*words, "--max-questions", 3).done()
    more = melicit("elicit", "--session", "s.jsonl", *truth, "--max-questions", 50, "--json").done().json
    assert more["questions"] > 3 and more["radius"] <= 0.003
    melicit("elicit", "--session", "s.jsonl", *truth, "--tolerance", 0.1).refused(6, "tolerance")


def test_other_files_are_left_alone(melicit, truth):
    for text in ("my only notes", "line\nline\n", "{"):
        path = melicit.write("notes.txt", text)
        if text != "{":
            melicit("elicit", *POPULATION, *truth, "--session", "notes.txt").refused(3, "notes.txt")
            assert path.read_text() == text


def test_report_on_a_running_session(melicit, truth):
    melicit("elicit", *CANCER, *truth, "--session", "s.jsonl").done()
    path = melicit.folder / "s.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    before = path.read_bytes()
    path.chmod(0o444)
    melicit("report", "--session", "s.jsonl", "--out", "r.html").done()
    assert path.read_bytes() == before


@pytest.mark.parametrize("change, code, says", [
    (lambda lines: lines[:1] + [lines[2], lines[1]] + lines[3:], 3, "line 2"),
    (lambda lines: [lines[0].replace('"seed":1', '"seed":2')] + lines[1:], 6, "seed"),
    (lambda lines: [lines[0].replace("sha256:", "sha256:0")] + lines[1:], 6, "data"),
    (lambda lines: lines[:2] + ["nonsense"] + lines[2:], 3, "line 3"),
    (lambda lines: ["{}"] + lines[1:], 3, "line 1"),
])
def test_damaged_session(melicit, truth, change, code, says):
    words = ("elicit", *CANCER, *truth, "--session", "s.jsonl")
    melicit(*words).done()
    path = melicit.folder / "s.jsonl"
    text = "\n".join(change(path.read_text().splitlines())) + "\n"
    path.write_text(text)
    melicit(*words).refused(code, "s.jsonl", says)
    assert path.read_text() == text


def test_cut_off_line_is_repaired(melicit, truth):
    words = ("elicit", *CANCER, *truth, "--session", "s.jsonl", "--json")
    want = melicit(*words).done().json["metric"]
    path = melicit.folder / "s.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    got = melicit(*words).done().json
    assert got["metric"] == want and "cut off" in got["warnings"][0]


# --- refusals -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words, code, says", [
    ((), 2, "--data"),
    ((*POPULATION, "--data", "breast_cancer_original"), 2, "exclude"),
    (("--probs", "p.npy"), 2, "--labels"),
    (("--population", "logistic:a=x"), 2, "logistic:a=x"),
    (("--population", "gauss"), 2, "gauss"),
    ((*POPULATION, "--oracle", "magic"), 2, "magic"),
    ((*POPULATION, "--oracle", "sim:"), 2, "sim:"),
    ((*POPULATION, "--oracle", "sim:absent.json"), 3, "absent.json"),
    ((*POPULATION, "--noise", "flip:0.1"), 2, "simulated"),
    ((*POPULATION, "--assume", "maybe"), 2, "maybe"),
    ((*POPULATION, "--tolerance", "0"), 2, "--tolerance"),
    ((*POPULATION, "--family", "quadratik"), 2, "quadratik"),
    (("--data", "absent.csv"), 3, "absent.csv"),
    ((*POPULATION, "--classes", "a"), 2, "--classes a"),
    ((*POPULATION, "--thesis", "smooth"), 2, "smooth"),
    (("--session", "absent.jsonl"), 3, "absent.jsonl"),
    ((*POPULATION, "--out", "/absent/m.json"), 4, "/absent/m.json"),
])
def test_refusals(melicit, words, code, says):
    melicit("elicit", *words).refused(code, says)


def test_wrong_metric_for_the_space(melicit):
    layout = dict(LAYOUT, coordinates="diagonal", classes=["a", "b", "c"])
    text = json.loads(metric_text("diagonal-linear", a=[0.2, 0.3, 0.5]))
    text["layout"] = layout
    melicit.write("three.json", json.dumps(text))
    melicit("elicit", *POPULATION, "--oracle", "sim:three.json").refused(3, "three.json", "diagonal")


# --- space, score, apply ------------------------------------------------------------------------------


def test_space(melicit):
    got = melicit("space", *POPULATION, "--point", "0.3,0.3", "--plot", "s.svg", "--json").done().json
    assert math.isclose(got["positives"], 0.5) and got["classifier"]["achievable"]
    assert math.isclose(sum(rule["share"] for rule in got["classifier"]["rules"]), 1)
    xml.etree.ElementTree.parse(melicit.folder / "s.svg")
    far = melicit("space", *POPULATION, "--point", "0.5,0.5", "--json").done().json["classifier"]
    assert not far["achievable"] and far["distance"] > 0.05
    direction, closest = numpy.array(far["separating_direction"]), numpy.array(far["closest"])
    assert (numpy.array(got["vertices"]) @ direction <= closest @ direction + 1e-9).all()
    smooth = melicit("space", *CANCER, "--thesis", "smooth", "--plot", "smooth.svg", "--json").done().json
    melicit("space", *CANCER, "--plot", "raw.svg").done()
    assert ["smoothed boundary" in (melicit.folder / name).read_text() for name in ("smooth.svg", "raw.svg")] == [True, False]
    assert smooth["smooth"]["a"] > 0 and smooth["area"] > 0
    melicit("space", *POPULATION, "--point", "a,b").refused(2, "--point a,b")


@pytest.mark.parametrize("a", [0.5, 5, 50])
def test_space_outline(melicit, a):
    """Of a curve with thousands of vertices some are listed: "never" and "always" among them, and they enclose its area."""
    got = melicit("space", "--population", f"logistic:a={a},b=0", "--json").done().json
    x, y = outline = numpy.array(got["vertices"]).T
    assert got["n_vertices"] > 1000 and len(x) <= 400
    for corner in ([got["positives"], 0], [0, got["negatives"]]):
        assert abs(outline.T - corner).max(axis=1).min() < 1e-12
    area = 0.5 * abs(x @ numpy.roll(y, -1) - y @ numpy.roll(x, -1))
    assert got["area"] * (1 - 3e-4) < area <= got["area"] * (1 + 1e-12)


def test_apply_is_best(melicit, truth):
    rng = numpy.random.default_rng(4)
    y = rng.integers(0, 2, 300)
    p = 1 / (1 + numpy.exp(-(2 * y - 1 + 1.5 * rng.normal(size=300))))
    numpy.save(melicit.folder / "p.npy", p)
    numpy.save(melicit.folder / "y.npy", y)
    melicit("apply", "--metric", "truth.json", "--probs", "p.npy", "--labels", "y.npy", "--evidence", "labels", "--out", "c.json").done()
    classifier = json.loads((melicit.folder / "c.json").read_text())
    rule = classifier["rules"][0]
    said = (p < rule["threshold"]) if rule["inverted"] else (p >= rule["threshold"])
    tp, tn = numpy.mean(said & (y == 1)), numpy.mean(~said & (y == 0))
    assert math.isclose(tp, classifier["statistics"]["tp"]) and math.isclose(tn, classifier["statistics"]["tn"])
    value = lambda t: math.cos(0.4) * numpy.mean((p >= t) & (y == 1)) + math.sin(0.4) * numpy.mean((p < t) & (y == 0))
    best = max(value(t) for t in [*p, 2.0])
    assert math.isclose(classifier["value"], best, rel_tol=1e-12)


def test_score(melicit, truth):
    melicit.write("pool.csv", "name,tp,tn\nx,0.3,0.2\ny,0.2,0.4\n")
    got = melicit("score", "--metric", "truth.json", "--statistics", "pool.csv", "--json").done().json
    want = [math.cos(0.4) * 0.3 + math.sin(0.4) * 0.2, math.cos(0.4) * 0.2 + math.sin(0.4) * 0.4]
    assert numpy.allclose([row["value"] for row in got["scores"]], want, rtol=1e-14)
    melicit.write("y.csv", "y\n1\n0\n1\n0\n1\n")
    melicit.write("p.csv", "p\n1\n1\n0\n0\n1\n")
    melicit.write("g.csv", "g\nu\nu\nv\nv\nv\n")
    got = melicit("score", "--metric", "truth.json", "--named", "f1", "--named", "mcc", "--labels", "y.csv",
                  "--predictions", "p.csv", "--groups", "g.csv", "--json").done().json
    assert [row["name"] for row in got["scores"]] == ["all", "u", "v"]
    assert math.isclose(got["scores"][0]["f1"], 2 / 3) and math.isclose(got["scores"][0]["tp"], 0.4)
    melicit("score", "--metric", "truth.json").refused(2, "--statistics")
    melicit("score", "--statistics", "pool.csv").refused(2, "--metric")
    melicit.write("big.csv", "name,TP,TN\nx,0.3,0.2\ny,0.9,0.9\n")
    melicit("score", "--metric", "truth.json", "--statistics", "big.csv").refused(3, "classifier 2", "more than 1")
    melicit.write("more.csv", "name,tp,tn,cost\nx,0.3,0.2,5\n")
    melicit("score", "--metric", "truth.json", "--statistics", "more.csv").refused(3, "more.csv", '"cost"', "tp, tn")
    melicit.write("bad.csv", "name,tp,tn\nx,1.3,0.2\n")
    melicit("score", "--metric", "truth.json", "--statistics", "bad.csv").refused(3, "1.3", "tp")


# --- a person at a terminal ---------------------------------------------------------------------------


def read_until(master, text, seconds=300):
    seen = b""
    end = time.monotonic() + seconds
    while text.encode() not in seen and time.monotonic() < end:
        if select.select([master], [], [], 0.2)[0]:
            try:
                seen += os.read(master, 65536)
            except OSError:
                break
    assert text.encode() in seen, seen.decode(errors="replace")
    return seen.decode(errors="replace")


def test_keys_at_a_terminal(melicit):
    master, slave = pty.openpty()
    process = subprocess.Popen([str(PROGRAM), "elicit", *CANCER, "--session", "s.jsonl"], stdin=slave, stdout=slave,
                               stderr=slave, cwd=melicit.folder, env=environment(TERM="xterm", COLUMNS="80"),
                               start_new_session=True)
    os.close(slave)
    read_until(master, "Question 1")
    os.write(master, b"?")
    os.write(master, b"a")
    read_until(master, "Question 2")
    os.write(master, b"u")
    read_until(master, "Question 1")
    os.write(master, b"b")
    read_until(master, "Question 2")
    os.write(master, b"=")
    read_until(master, "Question 3")
    os.write(master, b"q")
    read_until(master, "--session s.jsonl")
    assert process.wait(timeout=600) == 5
    os.close(master)
    lines = [json.loads(line) for line in (melicit.folder / "s.jsonl").read_text().splitlines()[1:]]
    assert [line.get("answer", "undo") for line in lines] == ["A", "undo", "B", "="]
