#!/usr/bin/python3
"""How many questions are saved by what is known of a metric: sessions that know it next to those that do not, and to `search`.

Hidden metrics have the structure, are otherwise drawn at random from the family's prior, and answer without errors on
a ball of rates (linear-fractional ones on the population logistic:a=5,b=0). Sessions of the program end by themselves
at --tolerance 0.01: `questions` is what they asked, p50 / p95, `error` the largest error of any coefficient of the unit
vector ((1 - lambda) a, lambda b) at the end, p95. Of linear-fractional metrics answers tell nothing but the level lines, which many
q have in common: their `error` is the largest angle between a level line of the reported metric and the true one through the
same point of the boundary, in radians, which is what their tolerance is of. `nothing known` is the active
strategy without the structure, on the first METRICS_WITHOUT of the same metrics where it is slow.

    bench/structure.py [--metrics 100] [--rows NAME ..]

Exit status 1 unless p95 with the structure is below p95 without it in every row. MELICIT_BUILD names the build folder
(default: build).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

from figures import record

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("MELICIT_BUILD", ROOT / "build")) / "melicit"
TOLERANCE = 0.01
METRICS_WITHOUT = 30

# name, family, classes, groups, what is known; whether only some metrics are run without it
ROWS = [
    ("fair linear (2, 3), equal pairs", "fair-linear", 2, 3, ["equal"], False),
    ("fair linear (2, 3), known costs", "fair-linear", 2, 3, ["costs"], False),
    ("fair linear (2, 3), both", "fair-linear", 2, 3, ["equal", "costs"], False),
    ("fair linear (2, 3), trade-off alone", "fair-linear", 2, 3, ["known"], False),
    ("fair linear (3, 3), equal pairs", "fair-linear", 3, 3, ["equal"], True),
    ("fair linear (3, 2), known costs", "fair-linear", 3, 2, ["costs"], True),
    ("quadratic k = 2, diagonal B", "quadratic", 2, 0, ["diagonal"], False),
    ("quadratic k = 3, diagonal B", "quadratic", 3, 0, ["diagonal"], True),
    ("fair quadratic (2, 3), equal pairs", "fair-quadratic", 2, 3, ["equal"], False),
    ("fair quadratic (2, 3), diagonal B", "fair-quadratic", 2, 3, ["diagonal"], False),
    ("fair quadratic (2, 3), both", "fair-quadratic", 2, 3, ["equal", "diagonal"], False),
    ("fair quadratic (2, 3), known costs", "fair-quadratic", 2, 3, ["costs"], False),
    ("fair quadratic (2, 3), trade-off alone", "fair-quadratic", 2, 3, ["known"], False),
    ("fair quadratic (3, 2), diagonal B", "fair-quadratic", 3, 2, ["diagonal"], True),
    ("linear-fractional, known p11", "linear-fractional", 2, 0, ["p11"], False),
]
OPTION = {"equal": ["--known", "equal-pairs"], "diagonal": ["--known", "diagonal-b"], "costs": ["--known", "costs=t.json"], "known": ["--known", "t.json"]}


def definite(q, rng, diagonal):
    if diagonal:
        return numpy.diag(numpy.abs(rng.normal(size=q)))
    while True:
        b = rng.normal(size=(q, q)) / numpy.sqrt(2)
        b = numpy.triu(b, 1) + numpy.triu(b, 1).T + numpy.diag(numpy.abs(rng.normal(size=q)))
        if numpy.linalg.eigvalsh(b)[0] > 0:
            return b


def draw(row, rng):
    """Coefficients of a metric file."""
    _, family, k, m, known, _ = row
    q = k * (k - 1)
    if family == "linear-fractional":
        p = rng.uniform()
        p = numpy.array([p, 1 - p])
        lower = p * (1 - 1.6 * rng.uniform(size=2))
        return {"p": p.tolist(), "q": lower.tolist(), "q0": float(((p - lower) / 2).sum())}
    if family == "quadratic":
        b = numpy.diag(rng.normal(size=q))
        return {"a": rng.normal(size=q).tolist(), "B": b.tolist()}
    a = numpy.abs(rng.normal(size=q))
    one = [numpy.abs(rng.normal(size=q)) if family == "fair-linear" else definite(q, rng, "diagonal" in known)
           for _ in range(m * (m - 1) // 2)]
    if "equal" in known:
        one = one[:1] * len(one)
    size = sum(numpy.linalg.norm(b) for b in one) / (1 if family == "fair-linear" else 2)
    names = [f"{u + 1}-{v + 1}" for u in range(m) for v in range(u + 1, m)]
    return {"a": (a / numpy.linalg.norm(a)).tolist(),
            "b" if family == "fair-linear" else "B": {n: (b / size).tolist() for n, b in zip(names, one)},
            "lambda": float(size / (size + numpy.linalg.norm(a))), "prevalence": [[1 / m] * k] * m}


def vector(family, c):
    if family == "quadratic":
        parts = [c["a"], numpy.ravel(c["B"])]
        return numpy.concatenate(parts) / numpy.linalg.norm(numpy.concatenate(parts))
    blocks = [numpy.array(b) for b in c["b" if family == "fair-linear" else "B"].values()]
    a, trade = numpy.array(c["a"]), c["lambda"]
    size = sum(numpy.linalg.norm(b) for b in blocks) / (1 if family == "fair-linear" else 2)
    parts = [(1 - trade) * a / numpy.linalg.norm(a)] + [trade * b.ravel() / size for b in blocks]
    whole = numpy.concatenate(parts)
    return whole / numpy.linalg.norm(whole)


def boundary():
    """Points (TP, TN) of both boundaries of logistic:a=5,b=0, the classifiers that are positive on one side of a threshold."""
    x = numpy.linspace(-1, 1, 1001)
    below = (numpy.logaddexp(0, 5 * x) - numpy.logaddexp(0, -5)) / 5  # of 1 / (1 + exp(-5x)), from -1 to x
    upper = numpy.column_stack([below[-1] - below, x + 1 - below]) / 2
    return numpy.concatenate([upper, 0.5 - upper])


def across_level_lines(c, points):
    """Unit gradients of p.x / (q.x + q0)."""
    p, q = numpy.array(c["p"]), numpy.array(c["q"])
    slope = (points @ q + c["q0"])[:, None] * p - (points @ p)[:, None] * q
    return slope / numpy.linalg.norm(slope, axis=1, keepdims=True)


def error_of(family, found, truth):
    if family != "linear-fractional":
        return numpy.abs(vector(family, found) - vector(family, truth)).max()
    a, b = across_level_lines(found, boundary()), across_level_lines(truth, boundary())
    return numpy.abs(numpy.arctan2(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0], (a * b).sum(axis=1))).max()


def run(folder, row, truth, seed, options):
    _, family, k, m, _, _ = row
    space = ["--population", "logistic:a=5,b=0"] if family == "linear-fractional" else \
        ["--ball", f"{k},{m}" if m else str(k), "--radius", "0.2"]
    done = subprocess.run([PROGRAM, "elicit", *space, "--family", family, "--oracle", "sim:t.json", "--tolerance", str(TOLERANCE),
                           "--max-questions", "1000000", "--seed", str(seed), "--threads", "1", "--json", *options],
                          cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{row[0]}: {done.stdout}{done.stderr}")
    got = json.loads(done.stdout)
    return got["questions"], error_of(family, got["metric"]["coefficients"], truth)


def summary(runs):
    if not runs:
        return "", ""
    asked, error = zip(*runs)
    return f"{numpy.median(asked):.0f} / {numpy.quantile(asked, 0.95):.0f}", f"{numpy.quantile(error, 0.95):.4f}"


SAVED = []  # percent of the questions, by row


def study(row, n):
    name, family, k, m, known, slow = row
    groups = [str(i + 1) for i in range(m)]
    layout = {"kind": "confusion", "coordinates": "binary", "classes": ["negative", "positive"]} if family == "linear-fractional" else \
        {"kind": "rates", "coordinates": "offdiagonal", "classes": [str(i) for i in range(k)], "groups": groups}
    runs = {"known": [], "nothing": [], "search": []}
    for i in range(n):
        rng = numpy.random.default_rng([i, k, m])
        truth = draw(row, rng)
        with tempfile.TemporaryDirectory() as folder:
            metric = {"format": "melicit-metric", "version": 1, "family": family, "layout": layout, "coefficients": truth,
                      "orientation": "utility" if family == "linear-fractional" else "cost"}
            (Path(folder) / "t.json").write_text(json.dumps(metric))
            options = [word for what in known for word in (OPTION[what] if what != "p11" else ["--thesis", f'known-p11={str(truth["p"][0])}'])]
            runs["known"].append(run(folder, row, truth, i + 1, options))
            runs["search"].append(run(folder, row, truth, i + 1, ["--strategy", "search", *options]))
            if not slow or i < METRICS_WITHOUT:
                runs["nothing"].append(run(folder, row, truth, i + 1, []))
    cells = [summary(runs[kind]) for kind in ("known", "nothing", "search")]
    print("| " + " | ".join([name, *[text for cell in cells for text in cell], str(len(runs["known"])), str(len(runs["nothing"]))]) + " |", flush=True)
    asked = [numpy.quantile([q for q, _ in runs[kind]], 0.95) for kind in ("known", "nothing")]
    SAVED.append(100 * (1 - asked[0] / asked[1]))
    return asked[0] < asked[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--metrics", type=int, default=100)
    parser.add_argument("--rows", nargs="*", help="parts of names")
    args = parser.parse_args()
    print("| known | questions | error | nothing known | error | search, known | error | metrics | without |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    chosen = [row for row in ROWS if not args.rows or any(part in row[0] for part in args.rows)]
    good = [study(row, args.metrics) for row in chosen]
    record("questions saved by what is known", f"{min(SAVED):.0f} to {max(SAVED):.0f}%", all(good))
    sys.exit(0 if all(good) else 1)


if __name__ == "__main__":
    main()
