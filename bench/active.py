#!/usr/bin/python3
"""How many questions active elicitation needs, family by family, next to `search` and to what is known about it.

Hidden metrics are drawn at random from the family's prior, answer without errors on a ball of rates, and the
mean of the posterior is compared with the truth after every answer. `questions` counts answers until the
largest error of any coefficient (of the unit coefficient vector; diagonal metrics at l1 norm 1) is at most 0.01
for the first time, `stays` until it is and remains so; p50 / p95 over the metrics. `search` is melicit's other
strategy on the same metrics at its tolerance 0.01: the questions it asked and its largest error at the end,
p50 / p95. `thesis` is what the published procedure asks, `prototype` and `limit` (information, in bits) are those
of the specification. `intervals` is the share of coefficients in their 95% intervals after 1/5, 2/5, ... of the
target's questions, `radius` how often the 95% radius around all coefficients holds, over the five together. `ms`
is processor time from an answer to the next question, p95, one thread.

Targets are on `questions` p95, on each of the five `intervals` (92 to 98%; judged from 100 metrics on, without a
target on questions from 300 coefficients on) and on `ms`. Then comes the table of bench/aprel.py (--rows aprel:
only that). Exit status 1 when a target is missed. MELICIT_BUILD names the build folder (default: build).
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.dont_write_bytecode = True
import aprel  # a neighbour in this folder

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("MELICIT_BUILD", ROOT / "build"))
LEAST_COVERED, MOST_COVERED, METRICS_TO_JUDGE, COEFFICIENTS_TO_JUDGE = 0.92, 0.98, 100, 300

# family, classes, groups, radius, kind, most questions, target, prototype p95, limit, thesis, ms target, share of
# the metrics that are run without --all (with it, too, where there is no target: such rows are about time and
# intervals, at a fifth, two fifths, ... of the most questions)
ROWS = [
    ("linear", 2, 0, 0.20, "any", 14, 7, 7, 5.8, 32, None, 1),
    ("linear", 3, 0, 0.20, "any", 45, 31, 31, 26.7, 320, 2, 1),
    ("linear", 4, 0, 0.14, "any", 85, 64, 65, 53.6, 704, None, 1),
    ("linear", 5, 0, 0.10, "any", 130, 104, 106, 85.8, 1216, 15, 1),
    ("linear", 6, 0, 0.07, "any", 190, 155, 159, 122.6, 1856, None, 0.5),
    ("linear", 10, 0, 0.03, "any", 200, None, None, None, None, 300, 0.04),
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
    ("quadratic", 3, 0, 0.20, "any", 240, 201, 201, 131.4, 5120, 30, 0.3),
    ("fair-quadratic", 2, 2, 0.20, "any", 40, 26, 26, 24.3, 512, None, 1),
    ("fair-quadratic", 2, 3, 0.20, "any", 80, 59, 59, None, None, None, 1),
    ("fair-quadratic", 3, 2, 0.20, "any", 190, 148, 150, None, None, None, 0.3),
]
TITLES = ["family", "radius", "metrics", "questions", "target", "stays", "search", "search error", "thesis",
          "prototype", "limit", "intervals", "radius holds", "ms", "ms target"]


def name_of(row):
    family, classes, groups, _, kind = row[:5]
    return f"{family} {classes}{f',{groups}' if groups else ''}{' simple' if kind == 'simple' else ''}"


def quantile(values, share):
    """Of the smallest k with at least this share at or below it; never (0) counts as infinite."""
    ordered = sorted(v if v > 0 else math.inf for v in values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def measure(row, metrics, seed):
    family, classes, groups, radius, kind, most, target = row[:7]
    command = [BUILD / "bench_active", family, classes, groups, radius, kind, metrics, most, target or most, seed]
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
    return json.loads(done.stdout)


def show(value):
    return "-" if value is None else f"{value:g}"


def middle_and_95(values, digits):
    if values is None:
        return "-"
    return " / ".join(f"{quantile(values, share):.{digits}g}" for share in (0.5, 0.95))


def report(row, metrics, result):
    """Prints a line; says what was missed."""
    _, _, _, radius, _, _, target, prototype, limit, thesis, ms_target, _ = row
    p95 = quantile(result["first"], 0.95)
    intervals = [inside / max(1, checked * result["dimension"])
                 for inside, checked in zip(result["inside"], result["checked"])]
    holds = sum(result["covered"]) / max(1, sum(result["checked"]))
    missed = ["questions"] if target is not None and p95 > target else []
    judged = metrics >= METRICS_TO_JUDGE or (target is None and
                                             metrics * result["dimension"] >= COEFFICIENTS_TO_JUDGE)
    if judged and not all(LEAST_COVERED <= share <= MOST_COVERED for share in intervals):
        missed.append("intervals")
    if ms_target is not None and result["ms_p95"] > ms_target:
        missed.append("ms")
    searched = result["search"] is not None
    cells = [name_of(row), f"{radius:g}", str(metrics), middle_and_95(result["first"], 4), show(target),
             middle_and_95(result["stays"], 4), middle_and_95(result["search"], 6),
             middle_and_95(result["search_error"] if searched else None, 2), show(thesis), show(prototype),
             show(limit), " ".join(f"{100 * share:.0f}" for share in intervals), f"{100 * holds:.0f}",
             f"{result['ms_p95']:.2f}", show(ms_target)]
    print("| " + " | ".join(cells) + " |" + (" missed: " + ", ".join(missed) if missed else ""), flush=True)
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--metrics", type=int, default=100, help="hidden metrics per row (large rows: fewer)")
    parser.add_argument("--all", action="store_true", help="as many for the large rows, too")
    parser.add_argument("--jobs", type=int, default=2, help="rows measured at the same time")
    parser.add_argument("--seed", type=int, default=1, help="of the first hidden metric of every row")
    parser.add_argument("--rows", default="", help="rows whose name matches this pattern, or aprel")
    args = parser.parse_args()
    rows = [row for row in ROWS if re.search(args.rows, name_of(row))]
    counts = [args.metrics if args.all and row[6] is not None else max(4, round(args.metrics * row[-1]))
              for row in rows]
    missed = []
    if rows:
        print("| " + " | ".join(TITLES) + " |\n|" + " --- |" * len(TITLES), flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        for each in zip(rows, counts, pool.map(measure, rows, counts, [args.seed] * len(rows))):
            missed += report(*each)
    if re.search(args.rows, "aprel"):
        missed += aprel.compare()
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
