#!/usr/bin/python3
"""Questions from a pool of 200 classifiers, next to APReL on the same pools and users.

Pools and users (unit vectors, any sign) are those of bench/data/aprel. Users answer without errors; melicit starts from the whole sphere and is told nothing
of signs. What it assumes of the answers: `flip`, some share of them, to be learned, may be wrong;
`logistic:100`, APReL's own model (softmax, beta 100); `none`, all are right. Errors are l_inf of the normalised
posterior mean, medians over the first ten users, as APReL's were, and over all twenty; `times` is APReL's
best over ours. APReL's figures: mutual information, beta 100, as the library ships (100 samples) and with 500
samples and a burn-in of 2000, over ten users; the angles with its proposal tuned by hand (0.01), five users.

Targets are on `flip`, the ten users and the time to choose. Milliseconds are processor time, one thread, p50 / p95:
choosing a pair of the pool, and all that happens from an answer to the next question; APReL takes 50 to 78 s per
question, nearly all of it to choose.
Exit status 1 when a target is missed. MELICIT_BUILD names the build folder (default: build).
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
from pathlib import Path

from figures import record

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("MELICIT_BUILD", ROOT / "build"))
PEER = ROOT / "bench" / "data" / "aprel"

STEPS = [6, 10, 20, 30, 40, 60, 90, 120]
TEN = 10
# Dimension: what APReL reaches after so many questions, rows of the table, N = 200.
APREL = {
    2: [("APReL", {6: .042, 10: .0024, 20: .0007})],
    6: [("APReL", {6: .49, 10: .24, 20: .076, 30: .022, 40: .013, 60: .008}),
        ("APReL, 500 samples", {6: .31, 10: .26, 20: .060, 30: .018, 40: .0073, 60: .0067})],
    12: [("APReL", {6: .59, 10: .44, 20: .22, 30: .15, 40: .078, 60: .052, 90: .039, 120: .032})],
}
TUNED = {6: (60, 0.26), 12: (120, 0.62)}  # questions, degrees
# Dimension, questions: at most this share of APReL's best error.
TARGETS = {(6, 40): 1, (6, 60): 1 / 4, (12, 60): 1 / 2, (12, 90): 1 / 5, (12, 120): 1 / 5}
APREL_SECONDS, TIMES_FASTER = 50, 1000


def measure(dimension, assume, seeds):
    """One list per user and seed, seeds one after the other."""
    results = {"error": [], "angle": [], "choose_ms": [], "whole_ms": []}
    questions = max(APREL[dimension][0][1])
    for seed in range(seeds):
        command = [BUILD / "bench_aprel", PEER / f"pool_d{dimension}_N200.csv",
                   PEER / f"users_d{dimension}.csv", assume, questions, 100 * seed]
        done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, check=True,
                              env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"})
        one = json.loads(done.stdout)
        for name, rows in results.items():
            rows.append(one[name])
    return results


def median_after(runs, questions, users):
    return statistics.median(user[questions - 1] for run in runs for user in run[:users])


def quantile(runs, share):
    ordered = sorted(value for run in runs for user in run for value in user)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def show(cells):
    print("| " + " | ".join(cells) + " |", flush=True)


def two_digits(value):
    return f"{value:.2g}" if value >= 1e-4 else f"{value:.1e}"


def report_errors(dimension, assume, runs, judged):
    """Our rows, under APReL's; what was missed."""
    steps = [n for n in STEPS if n in APREL[dimension][0][1]]
    best = {n: min(row[n] for _, row in APREL[dimension]) for n in steps}
    missed = []
    ten = {n: median_after(runs["error"], n, TEN) for n in steps}
    show([f"melicit, {assume}"] + [two_digits(ten[n]) for n in steps])
    show(["same, all users"] + [two_digits(median_after(runs["error"], n, None)) for n in steps])
    show(["times"] + [f"{best[n] / ten[n]:.1f}" for n in steps])
    for n in steps if judged else []:
        share = TARGETS.get((dimension, n))
        if share is not None and ten[n] > share * best[n]:
            missed.append(f"{dimension} dimensions, {n} questions: {ten[n]:.2g}, not {share * best[n]:.2g}")
    return missed


FASTER = []  # times as fast as APReL, where that is judged


def report_times(dimension, assume, runs, judged):
    choose = [quantile(runs["choose_ms"], share) for share in (0.5, 0.95)]
    whole = [quantile(runs["whole_ms"], share) for share in (0.5, 0.95)]
    faster, all_of_it = (1e3 * APREL_SECONDS / times[1] for times in (choose, whole))
    angle = ""
    if dimension in TUNED:
        questions, degrees = TUNED[dimension]
        ours = math.degrees(median_after(runs["angle"], questions, TEN))
        angle = f"; angle after {questions} questions {ours:.2g} degrees (APReL tuned: {degrees:g})"
    print(f"- {assume}: choosing {choose[0]:.1f} / {choose[1]:.1f} ms, answer to question {whole[0]:.1f} / "
          f"{whole[1]:.1f} ms: {faster:,.0f} and {all_of_it:,.0f} times as fast as {APREL_SECONDS} s at p95{angle}")
    if judged:
        FASTER.append(faster)
    if judged and faster < TIMES_FASTER:
        return [f"{dimension} dimensions: chooses {faster:,.0f} times as fast, not {TIMES_FASTER:,}"]
    return []


def report(dimension, results):
    steps = [n for n in STEPS if n in APREL[dimension][0][1]]
    print(f"\n{dimension} dimensions, median l_inf error after so many questions\n")
    show(["N = 200"] + [str(n) for n in steps])
    print("|" + " --- |" * (len(steps) + 1))
    for name, row in APREL[dimension]:
        show([name] + [two_digits(row[n]) for n in steps])
    missed = []
    for assume, runs in results.items():
        missed += report_errors(dimension, assume, runs, assume == "flip")
    shares = [TARGETS.get((dimension, n)) for n in steps]
    show(["target on flip: share of the best"] + ["" if share is None else f"{share:g}" for share in shares])
    print()
    for assume, runs in results.items():
        missed += report_times(dimension, assume, runs, assume == "flip")
    return missed


def compare(dimensions=(2, 6, 12), assumptions=("flip", "logistic:100", "none"), seeds=1):
    """Prints all of it; says what was missed."""
    missed = []
    for dimension in dimensions:
        missed += report(dimension, {assume: measure(dimension, assume, seeds) for assume in assumptions})
    if FASTER:
        record("choosing a question about 200 classifiers, next to APReL", f"{min(FASTER):,.0f} to {max(FASTER):,.0f} times", not missed)
    print("\n" + ("\n".join(f"MISSED {line}" for line in missed) or "all targets met"))
    return missed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1, help="runs per user; medians are over all of them")
    parser.add_argument("--dimensions", type=int, nargs="+", default=[2, 6, 12], choices=[2, 6, 12])
    parser.add_argument("--assume", nargs="+", default=["flip", "logistic:100", "none"])
    args = parser.parse_args()
    return 1 if compare(args.dimensions, args.assume, args.seeds) else 0


if __name__ == "__main__":
    sys.exit(main())
