#!/usr/bin/python3
"""How many questions active elicitation needs, family by family, next to what is known about it.

Hidden metrics are drawn at random, answer without errors on a ball of rates, and the mean of the posterior is
compared with the truth after every answer. `questions` counts answers until the largest error of any
coefficient (of the unit coefficient vector; diagonal metrics at l1 norm 1) is at most 0.01 for the first time,
`stays` until it is and remains so; p50 and p95 over the metrics. `ms` is processor time from an answer to the
next question, p95, one thread; `covered` is how often the 95% radius holds, over five checkpoints.

`prototype` and `limit` (information, in bits) are those of the specification, `search` is what the
thesis' procedure asks. Targets are on `questions` p95 and on `ms`. Exit status 1 when one is missed.
MELICIT_BUILD names the build folder (default: build).
"""
import argparse
import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("MELICIT_BUILD", ROOT / "build"))

# family, classes, groups, radius, kind, most questions, target, prototype p95, limit, search, ms target, share
# of the metrics that are run by default
ROWS = [
    ("linear", 2, 0, 0.20, "any", 14, 7, 7, 5.8, 32, None, 1),
    ("linear", 3, 0, 0.20, "any", 45, 31, 31, 26.7, 320, 2, 1),
    ("linear", 4, 0, 0.14, "any", 85, 64, 65, 53.6, 704, None, 1),
    ("linear", 5, 0, 0.10, "any", 130, 104, 106, 85.8, 1216, 15, 1),
    ("linear", 6, 0, 0.07, "any", 190, 155, 159, 122.6, 1856, None, 0.5),
    ("linear", 3, 0, 0.20, "simple", 45, 32, 32, 26.7, 320, 2, 1),
    ("linear", 4, 0, 0.14, "simple", 85, 64, 63, 53.6, 704, None, 1),
    ("linear", 5, 0, 0.10, "simple", 130, 102, 100, 85.8, 1216, 15, 1),
    ("linear", 6, 0, 0.07, "simple", 190, 155, None, 122.6, 1856, None, 0.5),
    ("diagonal-linear", 3, 0, 0.20, "any", 18, 12, 12, None, 56, None, 1),
    ("diagonal-linear", 4, 0, 0.20, "any", 25, 17, 17, None, 84, None, 1),
    ("diagonal-linear", 10, 0, 0.09, "any", 70, 55, None, None, 252, None, 1),
    ("diagonal-linear", 3, 0, 0.20, "simple", 18, 12, 12, None, 56, None, 1),
    ("diagonal-linear", 4, 0, 0.20, "simple", 25, 17, 17, None, 84, None, 1),
    ("diagonal-linear", 10, 0, 0.09, "simple", 70, 55, None, None, 252, None, 1),
    ("fair-linear", 2, 2, 0.20, "any", 30, 19, 19, 16.7, 412, None, 1),
    ("fair-linear", 2, 3, 0.20, "any", 60, 42, 42, None, 924, None, 1),
    ("fair-linear", 3, 2, 0.20, "any", 90, 65, 66, None, 1948, None, 1),
    ("fair-linear", 3, 3, 0.20, "any", 160, 125, 127, None, 4508, None, 0.5),
    ("quadratic", 2, 0, 0.20, "any", 60, 40, 43, 26.3, 512, None, 1),
    ("quadratic", 3, 0, 0.20, "any", 240, 185, 201, 131.4, 5120, 30, 0.3),
    ("fair-quadratic", 2, 2, 0.20, "any", 40, 26, 26, 24.3, 512, None, 1),
    ("fair-quadratic", 2, 3, 0.20, "any", 80, 59, 59, None, None, None, 1),
    ("fair-quadratic", 3, 2, 0.20, "any", 190, 148, 150, None, None, None, 0.3),
]


def quantile(values, share):
    """Of the smallest k with at least this share at or below it; never (0) counts as infinite."""
    ordered = sorted(v if v > 0 else math.inf for v in values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def measure(row, metrics):
    family, classes, groups, radius, kind, most = row[:6]
    command = [BUILD / "bench_active", family, classes, groups, radius, kind, metrics, most]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    return json.loads(done.stdout)


def show(value):
    return "-" if value is None else f"{value:g}"


def report(row, metrics, result):
    family, classes, groups, radius, kind, _, target, prototype, limit, search, ms_target, _ = row
    p95 = quantile(result["first"], 0.95)
    covered = sum(result["covered"]) / max(1, sum(result["checked"]))
    missed = p95 > target or (ms_target is not None and result["ms_p95"] > ms_target)
    name = f"{family} {classes}{f',{groups}' if groups else ''}{' simple' if kind == 'simple' else ''}"
    print(f"| {name} | {radius:g} | {metrics} | {quantile(result['first'], 0.5):g} / {p95:g} "
          f"| {quantile(result['stays'], 0.5):g} / {quantile(result['stays'], 0.95):g} | {target} "
          f"| {show(prototype)} | {show(limit)} | {show(search)} | {covered:.3f} | {result['ms_p95']:.2f} "
          f"| {show(ms_target)} |{' missed' if missed else ''}", flush=True)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metrics", type=int, default=20, help="hidden metrics per row (large rows: fewer)")
    parser.add_argument("--all", action="store_true", help="as many for the large rows, too")
    parser.add_argument("--jobs", type=int, default=1, help="rows measured at the same time")
    parser.add_argument("--only", default="", help="families whose name contains this")
    args = parser.parse_args()
    rows = [row for row in ROWS if args.only in row[0]]
    counts = [args.metrics if args.all else max(4, round(args.metrics * row[-1])) for row in rows]
    print("| family | radius | metrics | questions p50 / p95 | stays p50 / p95 | target | prototype | limit "
          "| search | covered | ms | ms target |\n|" + " --- |" * 12)
    with ThreadPoolExecutor(args.jobs) as pool:
        results = pool.map(measure, rows, counts)
        missed = [report(*each) for each in zip(rows, counts, results)]
    return 1 if any(missed) else 0


if __name__ == "__main__":
    sys.exit(main())
