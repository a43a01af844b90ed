#!/usr/bin/python3
"""Planar faces next to vectorised NumPy: time and extra memory, side by side in one run.

The job: from 1 million and from 10 million scores with labels (drawn from the population logistic:5,0), the
face and the confusion matrices at 10,001 thresholds. NumPy gets several ways to do it and the fastest one
counts; it is not asked for the hull, which it has no fast way to find, and which ours includes. The same
with weights is shown for information.

Every measurement runs in a process of its own with the data already loaded; the sides take turns for
several rounds, and the fastest repeat of each counts. Extra memory is the peak of the resident set during the
first repeat minus the resident set before it. Both sides must find the same confusion matrices.

Target: at most 0.5 times NumPy's time without weights, with 1 and with 2 threads. Exit status 1 when it is
missed. MELICIT_BUILD names the build folder (default: build).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from figures import record

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("MELICIT_BUILD", ROOT / "build"))
TARGET = 0.5
THRESHOLDS = 10_001
THREADS = (1, 2)


def argsort_cumsum(score, role, weight, threshold):
    order = np.argsort(score)
    ordered = score[order]
    positive = role[order] == 1
    if weight is None:
        pos = np.concatenate([[0], np.cumsum(positive)])
        neg = np.arange(len(score) + 1) - pos
    else:
        w = weight[order]
        pos = np.concatenate([[0.0], np.cumsum(np.where(positive, w, 0.0))])
        neg = np.concatenate([[0.0], np.cumsum(np.where(positive, 0.0, w))])
    at = np.searchsorted(ordered, threshold)
    total = pos[-1] + neg[-1]
    return (pos[-1] - pos[at]) / total, neg[at] / total


def two_sorts(score, role, weight, threshold):
    positive = role == 1
    if weight is None:
        pos, neg = score[positive], score[~positive]
        pos.sort()
        neg.sort()
        total = len(score)
        return (len(pos) - np.searchsorted(pos, threshold)) / total, np.searchsorted(neg, threshold) / total
    sides = []
    for side in (positive, ~positive):
        s, w = score[side], weight[side]
        order = np.argsort(s)
        sides.append((s[order], np.concatenate([[0.0], np.cumsum(w[order])])))
    (pos, pos_sum), (neg, neg_sum) = sides
    total = pos_sum[-1] + neg_sum[-1]
    return ((pos_sum[-1] - pos_sum[np.searchsorted(pos, threshold)]) / total,
            neg_sum[np.searchsorted(neg, threshold)] / total)


def packed_sort(score, role, weight, threshold):
    """Labels in the last bit of the scores, so that one sort moves both (scores lose that bit)."""
    if weight is not None:
        return None
    keys = (score.view(np.int64) & ~1) | role
    keys.sort()
    pos = np.concatenate([[0], np.cumsum(keys & 1)])
    at = np.searchsorted(keys, threshold.view(np.int64) & ~1)
    neg = at - pos[at]
    total = len(score)
    return (pos[-1] - pos[at]) / total, neg / total


WAYS = {"argsort + cumsum": argsort_cumsum, "two sorts": two_sorts, "packed sort + cumsum": packed_sort}


def resident(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(key + ":"))


def run_peer(job):
    """One process: loads, works, prints a line of JSON."""
    folder = Path(job["folder"])
    score, role = np.fromfile(folder / "score"), np.fromfile(folder / "role", np.uint8)
    weight = np.fromfile(folder / "weight") if job["weighted"] else None
    threshold = np.arange(THRESHOLDS) / (THRESHOLDS - 1)
    before = resident("VmRSS")
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")
    seconds, extra = [], None
    for _ in range(job["repeats"]):
        start = time.perf_counter()
        tp, tn = WAYS[job["way"]](score, role, weight, threshold)
        seconds.append(time.perf_counter() - start)
        extra = resident("VmHWM") - before if extra is None else extra
    print(json.dumps({"seconds": min(seconds), "extra_kb": extra, "tp": tp.sum(), "tn": tn.sum()}))


def child(command, threads=1):
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS="1", PYTHONDONTWRITEBYTECODE="1")
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[:2]} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def save(folder, n):
    rng = np.random.default_rng(1)
    score = 1 / (1 + np.exp(5 * rng.uniform(-1, 1, n)))
    score.tofile(folder / "score")
    (rng.random(n) < score).astype(np.uint8).tofile(folder / "role")
    rng.exponential(size=n).tofile(folder / "weight")


def better(best, new):
    return new if best is None or new["seconds"] < best["seconds"] else best


def measure(folder, n, weighted, rounds, repeats):
    """The fastest of several rounds, the sides taking turns."""
    found = {}
    extra = ["weighted"] if weighted else []
    for _ in range(rounds):
        for threads in THREADS:
            command = [str(BUILD / "bench_face"), str(folder), str(n), str(THRESHOLDS), str(repeats), *extra]
            found[threads] = better(found.get(threads), child(command, threads))
        for way in WAYS:
            if weighted and way.startswith("packed"):
                continue
            job = {"folder": str(folder), "way": way, "weighted": weighted, "repeats": repeats}
            found[way] = better(found.get(way), child([sys.executable, __file__, "--peer", json.dumps(job)]))
    return found


RATIOS = []


def report(n, weighted, found):
    """Prints a block of lines; whether the target is met."""
    print(f"{n:,} scores{', weighted' if weighted else ''}, {THRESHOLDS:,} thresholds")
    ways = [way for way in WAYS if way in found]
    peer = min(ways, key=lambda way: found[way]["seconds"])
    for way in ways:
        row = found[way]
        print(f"    NumPy, {way:22} {row['seconds']:8.4f} s {row['extra_kb'] / 1024:8.1f} MB"
              f"{'   counts' if way == peer else ''}")
    fine = True
    for threads in THREADS:
        row = found[threads]
        ratio = row["seconds"] / found[peer]["seconds"]
        print(f"    melicit, {threads} thread{'s' if threads > 1 else ' '}           {row['seconds']:8.4f} s"
              f" {row['extra_kb'] / 1024:8.1f} MB   time ratio {ratio:.3f}, memory ratio"
              f" {row['extra_kb'] / found[peer]['extra_kb']:.3f} ({row['vertices']} vertices,"
              f" sweep {1e3 * row['sweep']:.2f} ms)")
        for entry in ("tp", "tn"):
            if abs(row[entry] - found[peer][entry]) > 1e-9 * abs(row[entry]):
                print(f"    DIFFERENT RESULT: sum of {entry} {row[entry]!r} against {found[peer][entry]!r}")
                fine = False
        if not weighted:
            RATIOS.append(ratio)
        if not weighted and ratio > TARGET:
            print(f"    MISSED: {ratio:.3f} is more than {TARGET}")
            fine = False
    return fine


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, help="in each process (default: 3, and more for fewer scores)")
    parser.add_argument("--no-weights", action="store_true")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.peer:
        run_peer(json.loads(args.peer))
        return 0
    if not (BUILD / "bench_face").exists():
        sys.exit(f"{BUILD}/bench_face is missing: make bench builds it")
    fine = True
    for n in args.sizes:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            save(folder, n)
            repeats = args.repeats or max(3, 20_000_000 // n)
            for weighted in (False,) if args.no_weights else (False, True):
                fine &= report(n, weighted, measure(folder, n, weighted, args.rounds, repeats))
    record("achievable set of two classes", f"{min(RATIOS):.2f} to {max(RATIOS):.2f}", fine)
    print("targets met" if fine else "targets missed")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
