"""The library inside a program that chose a locale in which one half is 0,5: it reads and writes what it does in any other."""
import re
import subprocess
import sys

import pytest

from conftest import BUILD, environment

# Programs of tests whose numbers come from texts or become some: limits, metrics, models, rules, problems, sessions, sentences.
PROGRAMS = """test_number test_metric_json test_model_json test_named_groups test_classify test_proba test_metric test_oracle
    test_terminal test_command_oracle test_words test_search_options test_problem test_session test_measure""".split()
HOST = """
import ctypes, locale, sys
locale.setlocale(locale.LC_NUMERIC, sys.argv[1])
text = ctypes.create_string_buffer(9)
ctypes.CDLL(None).snprintf(text, 9, b"%.1f", ctypes.c_double(0.5))
assert text.value == (b"0,5" if "DE" in sys.argv[1] else b"0.5"), text.value
import numpy as np
from melicit import Metric, Problem, Session, errors
rng = np.random.default_rng(1)
y = rng.integers(0, 2, 300)
p = 1 / (1 + np.exp(-2 * rng.normal(size=300) - 3 * (y - 0.5)))
truth = Metric.from_costs([[0, 1], [2.5, 0]], classes=["0", "1"])
problem = Problem.from_proba(y, np.column_stack([1 - p, p]))
session = Session(problem, path="s.jsonl", tolerance=0.05).simulate(truth, noise="flip:0.1")
session.metric.save("m.json")
print(session.metric.describe(), session.interval, Metric.load("m.json") == session.metric, session.outcome["statements"])
rule = problem.best(session.metric, at_least={"recall[1]": 0.85})
rule.save("r.json")
print(rule)
print(Session(Problem.population("logistic:a=5.5,b=0.25")).ask().a)
try:
    Metric.named("f0.5:x")
except errors.MelicitError as error:
    print(error)
session.close()
"""


@pytest.fixture(scope="module")
def german(tmp_path_factory):
    """Where the locale de_DE.UTF-8 is: made here, as few machines have it."""
    folder = tmp_path_factory.mktemp("locales")
    subprocess.run(["localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8", folder / "de_DE.UTF-8"], check=True, timeout=600)
    return {"LOCPATH": str(folder)}


def test_in_c(german, tmp_path):
    for program in PROGRAMS:
        done = subprocess.run([BUILD / program], env=environment(**german, MELICIT_TEST_LOCALE="de_DE.UTF-8", TMPDIR=str(tmp_path)),
                              capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, program + done.stdout + done.stderr


@pytest.mark.plain("Python cannot load the library with sanitizers")
def test_in_python(german, tmp_path):
    """What is printed and every file, in both locales."""
    made = []
    for name in ("C", "de_DE.UTF-8"):
        folder = tmp_path / name
        folder.mkdir()
        done = subprocess.run([sys.executable, "-c", HOST, name], env=environment(**german, PYTHONPATH=str(BUILD / "python" / "site")),
                              cwd=folder, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        made.append([done.stdout, {path.name: re.sub(rb'"time":"[^"]*"', b"", path.read_bytes()) for path in folder.iterdir()}])
    assert made[0] == made[1]
