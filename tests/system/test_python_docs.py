"""docs/python.md, the lines of the README and the scripts of python/examples, as somebody runs them."""
import re
import runpy
import warnings

import matplotlib
import numpy as np
import pytest
from python_package import SOURCE
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

matplotlib.use("Agg")
pytestmark = [pytest.mark.plain("Python cannot load a library with sanitizers"), pytest.mark.filterwarnings("error")]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)


def blocks(path):
    return BLOCK.findall((SOURCE / path).read_text())


def test_every_block_of_the_guide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    found = blocks("docs/python.md")
    assert len(found) >= 10
    for block in found:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert names["low"] < 7 < names["high"]
    assert (tmp_path / "decision-curve.png").stat().st_size > 5000
    matplotlib.pyplot.close("all")


def test_the_lines_of_the_readme(tmp_path, monkeypatch, capsys):
    """Eight lines; whoever types `a` every time wants as few missed positives as can be, or as few false alarms."""
    monkeypatch.chdir(tmp_path)
    (block,) = blocks("README.md")
    assert len([line for line in block.split("\n") if line.strip()]) <= 8
    X, y = load_breast_cancer(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X_train, y_train)
    typed = iter(["a", "b"] * 40)
    import melicit

    ask = melicit.ask
    monkeypatch.setattr(melicit, "ask", lambda session: ask(session, read=lambda prompt: next(typed)), raising=False)
    names = {"X": X, "y": y, "X_test": X_test, "y_test": y_test, "model": model}
    exec(compile(block, "README.md", "exec"), names)
    assert names["session"].ask() is None and "counts as much as" in capsys.readouterr().out
    assert (tmp_path / "session.jsonl").exists()


@pytest.mark.parametrize("name", ["cancer_threshold", "seven_class_costs", "fair_credit", "black_box_gmean"])
def test_examples_check_themselves(name, capsys):
    path = SOURCE / "python" / "examples" / f"{name}.py"
    assert "    assert " in path.read_text()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "the labels contradict")  # in fair_credit the rule does a little worse than it expects
        runpy.run_path(str(path), run_name="__main__")
    assert np.any([char.isdigit() for char in capsys.readouterr().out])
