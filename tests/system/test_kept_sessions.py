"""Session files that were kept: each resumes and gives the metric that it gave when it was written."""
import json
import shutil

import numpy
import pytest
from conftest import SOURCE

KEPT = SOURCE / "tests" / "data" / "sessions"
METRICS = json.loads((KEPT / "metrics.json").read_text())


def numbers(value):
    """All numbers of a metric's coefficients, in the order of their names."""
    if isinstance(value, dict):
        return [x for key in sorted(value) for x in numbers(value[key])]
    return [x for part in value for x in numbers(part)] if isinstance(value, list) else [value]


def test_every_file_is_listed():
    assert sorted(METRICS) == sorted(path.stem for path in KEPT.glob("*.jsonl"))


@pytest.mark.parametrize("name", sorted(METRICS))
def test_resumes(melicit, name):
    """A program that answers nothing stands in for the respondent: what is recorded is told, and no more is asked."""
    wanted = METRICS[name]
    shutil.copy(KEPT / f"{name}.jsonl", melicit.folder / "kept.jsonl")
    shutil.copy(KEPT / "pool.csv", melicit.folder / "pool.csv")
    got = melicit("elicit", "--session", "kept.jsonl", "--oracle", "cmd:false", "--max-questions", wanted["questions"], "--json").done().json
    assert got["questions"] == wanted["questions"]
    found = got["metric"]["coefficients"]
    assert sorted(found) == sorted(wanted["coefficients"])
    assert numpy.abs(numpy.subtract(numbers(found), numbers(wanted["coefficients"]))).max() <= 1e-6
