"""make repro QUICK=1: the subset of the thesis' tables gives what repro/expected.json says, touches nothing else, and two runs are compared."""
import json
import subprocess
import sys

import pytest
from conftest import BUILD, SOURCE, environment
from test_thesis_map import COUNTS

pytestmark = pytest.mark.plain("the program is run as without sanitizers")
EXPECTED = json.loads((SOURCE / "repro" / "expected.json").read_text())


def script(name, *words):
    env = environment(MELICIT_BUILD=str(BUILD), PYTHONDONTWRITEBYTECODE="1", OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    return subprocess.run([sys.executable, SOURCE / "repro" / name, *map(str, words)], capture_output=True, text=True, env=env)


def made_before():
    """The pages and plots of an earlier run, and what is kept: a run leaves them alone."""
    return {path: path.stat().st_mtime_ns for folder in ("docs", "repro/kept") for path in (SOURCE / folder).glob("*") if folder != "docs" or path.name.startswith("repro")}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    before = made_before()
    out = tmp_path_factory.mktemp("repro")
    done = script("run.py", "--quick", "--out", out)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped: nothing" in done.stdout
    assert made_before() == before
    return out


@pytest.mark.parametrize("chapter", EXPECTED)
def test_quick(run, chapter):
    got = json.loads((run / f"{chapter}.json").read_text())["rows"]
    assert [(row["items"], row["verdict"]) for row in got] == [(row["items"], row["verdict"]) for row in EXPECTED[chapter]]
    for row, wanted in zip(got, EXPECTED[chapter]):
        assert row["values"].keys() == wanted["values"].keys()
        for name, (value, tolerance) in wanted["values"].items():
            assert row["values"][name] == pytest.approx(value, abs=tolerance), (row["items"], name)


def test_overview_has_every_table_and_figure(run):
    text = (run / "reproduction.md").read_text()
    for kind in ("Table", "Figure"):
        for chapter, n in COUNTS[kind].items():
            missing = [f"{kind} {chapter}.{i}" for i in range(1, n + 1) if f"{kind} {chapter}.{i}" not in text]
            assert missing == [] or chapter in "129", missing


def test_flips_are_listed(run, tmp_path):
    for path in run.glob("*.json"):
        (tmp_path / path.name).write_text(path.read_text())
    assert script("verdicts.py", run, tmp_path).returncode == 0
    changed = json.loads((tmp_path / "fair.json").read_text())
    changed["rows"][0]["verdict"] = "differs"
    (tmp_path / "fair.json").write_text(json.dumps(changed))
    done = script("verdicts.py", run, tmp_path)
    assert done.returncode == 1 and "Figure 5.3: reproduced" in done.stdout


def test_quick_runs_do_not_become_docs(run):
    done = script("run.py", "--to-docs", "--out", run)
    assert done.returncode != 0 and "is not complete" in done.stderr
