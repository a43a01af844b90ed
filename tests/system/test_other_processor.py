"""A session is its log on every processor: recorded pairs are told, and never proposed again."""
import json
import math
import shutil
import subprocess

import pytest

from conftest import PROGRAM, environment


def metric(family, layout, orientation, **coefficients):
    return json.dumps({"format": "melicit-metric", "version": 1, "family": family, "orientation": orientation,
                       "layout": layout, "coefficients": coefficients})


def layout(kind, coordinates, n, groups=()):
    return {"kind": kind, "coordinates": coordinates, "classes": [str(i) for i in range(n)], "groups": list(groups)}


def unit(*numbers):
    return [x / math.hypot(*numbers) for x in numbers]


TWO, DIAGONAL = layout("confusion", "binary", 2), layout("confusion", "diagonal", 3)
RATES, FAIR = layout("rates", "offdiagonal", 2), layout("rates", "offdiagonal", 2, ("1", "2"))
EVEN = [[0.5, 0.5], [0.5, 0.5]]
FACE, SPACE = ["--population", "logistic:a=5,b=0"], ["--population", "softmax:1,3,5"]
BALL, GROUPS = ["--ball", "2", "--radius", "0.3"], ["--ball", "2,2", "--radius", "0.2"]
FAMILIES = [
    (metric("linear", TWO, "utility", a=unit(3, 1)), FACE),
    (metric("linear-fractional", TWO, "utility", p=[1, 0], p0=0, q=[0.5, -0.5], q0=0.5), FACE),
    (metric("diagonal-linear", DIAGONAL, "utility", a=[0.5, 0.3, 0.2]), SPACE),
    (metric("diagonal-linear-fractional", DIAGONAL, "utility", a=[0.5, 0.3, 0.2], b=[0.1, 0.2, 0], b0=1), SPACE),
    (metric("monotone", DIAGONAL, "utility", a=[0.5, 0.3, 0.2]), SPACE),
    (metric("quadratic", RATES, "cost", a=[0.6, 0.5], B=[[0.3, 0.1], [0.1, 0.4]]), BALL),
    (metric("polynomial:3", RATES, "cost", a=[0.6, 0.5], B=[[0.3, 0.1], [0.1, 0.4]],
            C=[[[0.1, 0], [0, 0.05]], [[0, 0.05], [0.05, 0.2]]]), BALL),
    (metric("fair-linear", FAIR, "cost", a=unit(7, 4), b={"1-2": unit(5, 6)}, prevalence=EVEN, **{"lambda": 0.4}), GROUPS),
    (metric("fair-quadratic", FAIR, "cost", a=[0.8, 0.6], B={"1-2": [[0.7, 0.1], [0.1, 0.7]]}, prevalence=EVEN,
            **{"lambda": 0.4}), GROUPS),
]
CASES = [(text, space, strategy, extra) for text, space in FAMILIES for strategy, extra in
         (("active", ["--noise", "flip:0.1"]), ("search", []))
         if not (strategy == "active" and '"monotone"' in text)]
CASES += [(FAMILIES[0][0], FACE, "active", ["--noise", "person", "--questions", "realistic"])]


def arguments(melicit, case, budget):
    text, space, strategy, extra = case
    melicit.write("truth.json", text)
    return ["elicit", *space, "--family", json.loads(text)["family"], "--strategy", strategy, *extra, "--oracle", "sim:truth.json",
            "--session", "s.jsonl", "--max-questions", str(budget), "--json"]


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=lambda case: json.loads(case[0])["family"] + "-" + case[2])
def test_last_digits_do_not_matter(melicit, case):
    melicit(*arguments(melicit, case, 7))
    path = melicit.folder / "s.jsonl"
    told = lines_of(path)
    for line in told[1:]:
        for side in "ab":  # as another processor computes them; a repeated pair stays the same one
            line[side] = [x * (1 + 1e-5 * math.sin(1e9 * x)) for x in line[side]]
    path.write_text("".join(json.dumps(line) + "\n" for line in told))
    result = melicit(*arguments(melicit, case, 14)).done().json
    after = lines_of(path)
    assert after[: len(told)] == told and result["questions"] == len(after) - 1 > 7


@pytest.mark.plain("qemu runs the plain build")
@pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="qemu-user is not installed")
@pytest.mark.parametrize("case", [CASES[0], CASES[4], CASES[-1]], ids=["linear", "diagonal-linear", "person"])
def test_another_processor_goes_on(melicit, case):
    melicit(*arguments(melicit, case, 7))
    path = melicit.folder / "s.jsonl"
    told = path.read_text()
    done = subprocess.run(["qemu-x86_64", "-cpu", "Westmere", PROGRAM, *arguments(melicit, case, 10), "--threads", "1"],
                          cwd=melicit.folder, env=environment(), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert path.read_text().startswith(told)
    melicit(*arguments(melicit, case, 12)).done()
