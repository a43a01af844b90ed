"""Other processors: their kernels of OpenBLAS round otherwise. Tests hold with each, and a session is its log: recorded pairs are
told, and never proposed again."""
import json
import math
import os
import pathlib
import shutil
import subprocess

import pytest

from conftest import BUILD, PROGRAM, SOAK, alike, environment


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


# A kernel and what a processor needs to run it; make soak runs all of them, and all programs.
KERNELS = {"Nehalem": "sse4_2", "Haswell": "avx2", "SkylakeX": "avx512vl"}
if SOAK:
    KERNELS.update({"Prescott": "pni", "Sandybridge": "avx", "Zen": "avx2"})
# Linear algebra, spaces, classifiers, sessions.
PROGRAMS = "test_la test_space test_ball test_exchange test_classify test_optimise test_plug_in test_rank test_search_parts test_session".split()


def flags():
    words = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    return set(next((line for line in words if line.startswith("flags")), "").split())


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels(tmp_path, kernel):
    if KERNELS[kernel] not in flags():
        pytest.skip(f"this processor cannot run OpenBLAS's kernel {kernel}")
    env = environment(OPENBLAS_CORETYPE=kernel, TMPDIR=str(tmp_path))
    env.pop("MELICIT_SOAK", None)  # every program, but not at length
    told = json.loads(subprocess.run([PROGRAM, "--version", "--json"], env=env, capture_output=True, check=True).stdout)
    assert kernel in told["libraries"]["openblas"].split()
    every = [path.name for path in sorted(BUILD.glob("test_*")) if path.is_file() and os.access(path, os.X_OK)]
    for program in every if SOAK else PROGRAMS:
        done = subprocess.run([BUILD / program], env=env, capture_output=True, text=True, timeout=1500)
        assert done.returncode == 0, f"{program} with {kernel}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"


def on(processor, melicit, *words):
    """Runs the program on a processor that qemu imitates; OpenBLAS chooses the kernel by it, not by a setting of this machine."""
    env = environment()
    env.pop("OPENBLAS_CORETYPE", None)
    done = subprocess.run(["qemu-x86_64", "-cpu", processor, PROGRAM, *words, "--threads", "1"],
                          cwd=melicit.folder, env=env, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


qemu = pytest.mark.skipif(shutil.which("qemu-x86_64") is None, reason="qemu-user is not installed")


@qemu
@pytest.mark.plain("qemu runs the plain build")
@pytest.mark.parametrize("processor, case", [("Haswell", CASES[0]), ("Westmere", CASES[4]), ("Westmere", CASES[-1])],
                         ids=["linear", "diagonal-linear", "person"])
def test_another_processor_goes_on(melicit, processor, case):
    melicit(*arguments(melicit, case, 7))
    path = melicit.folder / "s.jsonl"
    told = path.read_text()
    on(processor, melicit, *arguments(melicit, case, 8))
    assert path.read_text().startswith(told)
    melicit(*arguments(melicit, case, 9)).done()


@qemu
@pytest.mark.plain("qemu runs the plain build")
@pytest.mark.parametrize("processor", ["Westmere", "Haswell"])
def test_another_processor_finds_the_same(melicit, cancer_rows, processor):
    """A model, its probabilities and what they can achieve, but for the last digits."""
    header, rows = cancer_rows
    data = melicit.write("rows.csv", "".join(",".join([*row[1:5], row[-1]]) + "\n" for row in [header, *rows[:80]]))
    train = ["train", "--data", data, "--out", "m.json", "--json"]
    space = ["space", "--data", data, "--json"]
    for words in (train, space):
        alike(melicit(*words).done().json, json.loads(on(processor, melicit, *words)), tolerance=1e-6)
