"""The Python package with people and pictures: asking, reports of groups, plots; its types, wheel and installation."""
import http.client
import os
import signal
import subprocess
import sys
import threading
import types
from pathlib import Path

import matplotlib
import numpy as np
import pandas
import pytest
from python_package import BUILD, SOURCE, environment, rows, run
from serving import open_question, page_request
from sklearn import metrics as known

import melicit
from melicit import Metric, Problem, Session, asking, errors, plots

matplotlib.use("Agg")
pytestmark = [pytest.mark.plain("Python cannot load a library with sanitizers"), pytest.mark.filterwarnings("error")]


def session():
    y, p = rows()
    return Session(Problem.from_proba(np.array(["healthy", "cancer"])[y], p, classes=["healthy", "cancer"]))


def typist(keys):
    left = iter(keys)

    def read(prompt):
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    return read


def test_at_a_terminal(capsys):
    asked = melicit.ask(session(), read=typist(["x", "u", "a", "B ", "u", "?", "s", "=", "q", "a"]))
    assert [record["answer"] for record in asked.records()] == ["A", "?", "="]
    shown = capsys.readouterr().out
    assert "Question 1 of about" in shown and "cancer taken for healthy" in shown and shown.count(asking.HELP) == 2  # of "x" and of "?"
    melicit.ask(asked, read=typist(["a"] * 40))
    assert asked.ask() is None and "counts as much as" in capsys.readouterr().out
    with pytest.raises(errors.StateError, match="no terminal"):
        melicit.ask(session())


def test_in_a_notebook(monkeypatch, capsys):
    """IPython itself is not needed to test it: what is displayed is HTML."""
    shown = []
    display = types.SimpleNamespace(HTML=lambda text: text, display=shown.append)
    monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(display=display, get_ipython=lambda: None))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert not asking.in_notebook()
    asked = melicit.ask(session(), notebook=True, read=typist("abq"))
    assert len(asked) == 2 and len(shown) == 3 and "<table>" in shown[0]


def test_names_are_escaped():
    y, p = rows()
    question = Session(Problem.from_proba(np.array(["<b>", "&c"])[y], p, classes=["<b>", "&c"])).ask()
    assert "<b>" not in asking.as_html(question) and "&lt;b&gt;" in asking.as_html(question)


WORDS = {"a": "A", "b": "B", "u": "undo", "q": "stop"}


def person(url, answers, failures):
    """Talks to the server as the page's script does."""
    try:
        left = list(answers)
        while "ended" not in (shown := open_question(url)):
            page_request(url + "answer", {"question": shown["number"], "answer": WORDS[left.pop(0)]})
    except BaseException as error:
        failures.append(error)
        signal.raise_signal(signal.SIGINT)  # else ask() would wait for ever


def at_a_page(asked, answers):
    failures, threads = [], []

    def open_page(url):
        threads.append(threading.Thread(target=person, args=(url, answers, failures)))
        threads[0].start()

    try:
        melicit.ask(asked, browser=True, open_page=open_page)
    except KeyboardInterrupt:
        raise failures[0] from None
    threads[0].join()
    assert not failures, failures


def test_at_a_page_of_this_machine():
    asked = session()
    at_a_page(asked, "a" * 40)
    assert asked.ask() is None
    asked = session()
    at_a_page(asked, "abuq")
    assert [record["answer"] for record in asked.records()] == ["A"]


WAITING = """
import melicit
session = melicit.Session(melicit.Problem.population("logistic:a=5,b=0"))
try:
    melicit.ask(session, browser=True, open_page=lambda url: print(url, flush=True))
except KeyboardInterrupt:
    print("heard", session.ask().number, flush=True)
"""


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_server_of_a_page_ends_with_its_caller(how):
    child = subprocess.Popen([sys.executable, "-W", "error", "-c", WAITING], stdout=subprocess.PIPE, text=True, env=environment())
    url = child.stdout.readline().strip()
    assert open_question(url)["number"] == 1
    child.send_signal(how)
    said, _ = child.communicate()
    assert said == ("heard 1\n" if how == signal.SIGINT else "")
    with pytest.raises((OSError, ValueError, http.client.HTTPException)):
        while True:  # until it is gone
            page_request(url + "question")


def test_reports_of_groups():
    rng = np.random.default_rng(1)
    y, p, g = rng.integers(0, 2, 500), rng.integers(0, 2, 500), rng.choice(["f", "m", "x"], 500)
    frame = melicit.group_report({"recall": "recall", "f1": Metric.named("f1")}, y, p, g)
    for group in "fmx":
        of = g == group
        assert frame.loc[group, ("recall", "value")] == pytest.approx(known.recall_score(y[of], p[of]), abs=1e-12)
        assert frame.loc[group, ("rows", "")] == of.sum()
    each = frame.loc[["f", "m", "x"], ("f1", "value")]
    assert frame.loc["difference", ("f1", "value")] == pytest.approx(each.max() - each.min())
    assert frame.loc["ratio", ("f1", "value")] == pytest.approx(each.min() / each.max())
    assert frame.loc["overall", ("f1", "value")] == pytest.approx(known.f1_score(y, p), abs=1e-12)
    # The interval of a share is about that of the binomial distribution.
    recall, n = frame.loc["overall", ("recall", "value")], (y == 1).sum()
    width = frame.loc["overall", ("recall", "high")] - frame.loc["overall", ("recall", "low")]
    assert width == pytest.approx(2 * 1.96 * np.sqrt(recall * (1 - recall) / n), rel=0.15)
    with pytest.raises(errors.InvalidArgumentError):
        melicit.group_report("recall", y, p, g[:10])
    for name in ("overall", "difference", "ratio"):
        with pytest.raises(errors.InvalidArgumentError, match=f"'{name}' is a row of the report"):
            melicit.group_report("recall", y, p, np.where(np.arange(len(y)) % 2, name, "other"))


def test_intervals_of_groups_hold_the_truth():
    """Of random groups and classifiers: 92 to 98% of the intervals, less what so few runs leave open."""
    runs = 1000 if os.environ.get("MELICIT_SOAK") else 60
    rng, held = np.random.default_rng(17), []
    for _ in range(runs):
        base, n, share = rng.uniform(0.2, 0.6), int(rng.integers(300, 1500)), rng.dirichlet([8, 8, 8])
        recall, alarms = rng.uniform(0.5, 0.9, 3), rng.uniform(0.1, 0.4, 3)
        g, y = rng.choice(3, n, p=share), (rng.random(n) < base) * 1
        decided = (rng.random(n) < np.where(y == 1, recall[g], alarms[g])) * 1
        accuracy = base * recall + (1 - base) * (1 - alarms)
        frame = melicit.group_report({"recall": "recall", "accuracy": "accuracy"}, y, decided, np.array(list("abc"))[g])
        for name, each in (("recall", recall), ("accuracy", accuracy)):
            truth = [*each, (each * share).sum(), each.max() - each.min(), each.min() / each.max()]
            held.append((frame[name]["low"] <= truth) & (truth <= frame[name]["high"]))
    room = 3 * np.sqrt(0.05 * 0.95 / runs)  # those of one run are not independent
    each = np.mean(held, axis=0)  # three groups, overall, difference, ratio
    assert (each > 0.92 - room).all() and (each[:4] < 0.98 + room).all() and each[4:].mean() < 0.95 + room


def test_curves_are_about_the_positive_class():
    y, p = rows(300)
    t, text = np.array([0.2, 0.4]), np.array(["b", "a"])[y]  # "a" is positive and sorts first
    expected = plots.net_benefit(y, p, t)
    frame = pandas.DataFrame(p, columns=["b", "a"])
    for given in (p[:, ::-1], p[:, 1], frame, frame[["a", "b"]], frame["a"], frame["b"]):
        np.testing.assert_allclose(plots.net_benefit(text, given, t, "a"), expected, atol=1e-12)
    with pytest.raises(errors.InvalidArgumentError, match="pos_label='a' or pos_label='b'"):
        plots.net_benefit(text, p, t)
    metric = Metric.from_costs({("a", "b"): 4.0, ("b", "a"): 1.0}, classes=["b", "a"])
    lines = plots.decision_curve(text, {"model": frame}, metric).lines, plots.decision_curve(y, {"model": p}).lines
    np.testing.assert_allclose(lines[0][0].get_ydata(), lines[1][0].get_ydata())
    with pytest.raises(errors.InvalidArgumentError, match="the metric's positive class is 'a'"):
        plots.decision_curve(text, {"model": frame}, metric, pos_label="b")
    matplotlib.pyplot.close("all")


def test_plots_show_what_was_elicited():
    y, p = rows(400)
    problem = Problem.from_proba(y, p)
    truth = Metric.from_costs({(1, 0): 4.0, (0, 1): 1.0})
    asked = Session(problem).simulate(truth)
    t = np.array([0.1, 0.5])
    flagged = p[:, 1] >= 0.5
    expected = (flagged & (y == 1)).mean() - (flagged & (y == 0)).mean()
    assert plots.net_benefit(y, p, t)[1] == pytest.approx(expected, abs=1e-12)
    ax = plots.decision_curve(y, {"model": p}, asked.metric)
    marked = [line.get_xdata()[0] for line in ax.lines if line.get_label() == "elicited"]
    assert marked == [pytest.approx(1 / (1 + asked.metric.cost_ratio[0]))]
    assert len(plots.cost_curve(y, {"model": p}, asked.metric).lines) == 3
    for plot in (plots.decision_curve, plots.cost_curve):
        with pytest.raises(errors.InvalidArgumentError, match="no models"):
            plot(y, {})
    best = problem.plot(truth).lines[-1]
    point = np.array([best.get_xdata()[0], best.get_ydata()[0]])
    paid = [4 * (np.mean(y == 1) - tp) + np.mean(y == 0) - tn for tp, tn in [point, *problem.vertices()]]
    assert paid[0] == pytest.approx(min(paid[1:]))
    assert asked.plot().lines and asked.metric.rank({"a": y, "b": 1 - y}, y).plot().lines
    three = Session(Problem.from_proba(*rows(600, 3)), "diagonal-linear")
    assert len(three.plot().lines[0].get_xdata()) == 3
    matplotlib.pyplot.close("all")


def test_types():
    done = subprocess.run(
        ["/usr/bin/mypy", "--config-file", "pyproject.toml", "--cache-dir", "/dev/null", "-p", "melicit"],
        cwd=SOURCE / "python", capture_output=True, text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def runs_the_program(package):
    """Which shows pages for ask(browser=True)."""
    page = subprocess.run([package / "bin" / "melicit", "serve", "--relay", "--port", "0"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert page.returncode == 0 and "http://127.0.0.1:" in page.stdout, page.stderr


def test_wheel_installs_offline_into_a_fresh_environment(tmp_path):
    (wheel,) = (BUILD / "python").glob("melicit-*-abi3-*.whl")
    plain = {k: v for k, v in environment().items() if k != "PYTHONPATH"}
    subprocess.run(["/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", tmp_path / "venv"], check=True, env=plain)
    python = tmp_path / "venv" / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "-q", "--no-index", "--disable-pip-version-check", wheel], check=True, env=plain)
    script = "import melicit; print(melicit.__file__, melicit.Metric.named('f1')([0, 1, 1], [0, 1, 0]))"
    said = subprocess.run([python, "-W", "error", "-c", script], check=True, env=plain, cwd=tmp_path, capture_output=True, text=True)
    assert said.stdout.startswith(str(tmp_path / "venv")) and said.stdout.split()[1].startswith("0.666")
    runs_the_program(Path(said.stdout.split()[0]).parent)


def test_make_install_has_the_package(tmp_path):
    subprocess.run(["cmake", "--install", BUILD, "--prefix", tmp_path], check=True, capture_output=True)
    (site,) = (tmp_path / "lib").glob("python3.*/dist-packages")
    done = run("-c", "import melicit; print(melicit.__version__, melicit.__file__)", PYTHONPATH=str(site))
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout
    runs_the_program(site / "melicit")


def test_import_is_quiet_and_light():
    """Without warnings, and without what only parts of it need."""
    script = "import melicit, sys; print([m for m in ('sklearn', 'pandas', 'matplotlib', 'scipy') if m in sys.modules])"
    done = run("-c", script)
    assert done.returncode == 0 and done.stdout == "[]\n", done.stderr
