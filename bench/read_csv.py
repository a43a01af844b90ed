#!/usr/bin/python3
"""Reading CSV next to pandas.read_csv (C engine): time and peak memory, side by side in one run.

Workloads: 500,000 x 20 random numbers written with 17 and with 6 digits, adult (texts and numbers) and
covtype (covtype_sample.csv.gz in the folder MELICIT_DATA, left out when it is not there), both unpacked. pandas parses with its default (fast, not always correctly rounded) conversion of numbers, ours always rounds correctly.

Every measurement is a process of its own that reads the file several times; the sides take turns for several
rounds and the fastest repeat of each counts. Peak memory is that of the whole process, pandas' libraries
included (its base is shown). Both sides must find the same sum.

Target: at least 3 times as fast as pandas on every workload, with 1 and with 2 threads. Exit status 1 when it
is missed. MELICIT_BUILD names the build folder (default: build).
"""
import argparse
import gzip
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from figures import record

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("MELICIT_BUILD", ROOT / "build"))
TARGET = 3.0
THREADS = (1, 2)
MIB = 1 << 20

PANDAS = """
import re, sys, time
import pandas
def peak_memory():
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])
base = peak_memory()
best = float("inf")
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    table = pandas.read_csv(sys.argv[1], engine="c", na_values=["?"])
    best = min(best, time.perf_counter() - start)
    peak = peak_memory()
    total = float(table.select_dtypes("number").sum().sum())
    shape = table.shape
    del table
print(best, peak, *shape, total, base)
"""


def find_data(name):
    """A bundled data set, or one of the folder MELICIT_DATA; None when it is in neither."""
    folders = [ROOT / "data", os.environ.get("MELICIT_DATA")]
    paths = [Path(folder) / f"{name}.csv.gz" for folder in folders if folder]
    return next((path for path in paths if path.exists()), None)


def write_numbers(path, rows, columns, form):
    table = np.random.default_rng(1).standard_normal((rows, columns))
    line = ",".join([form] * columns) + "\n"
    with open(path, "w") as file:
        file.write(",".join(f"x{j}" for j in range(columns)) + "\n")
        file.writelines(line % tuple(row) for row in table.tolist())


def make_files(folder, rows):
    """(what, path, repeats) of every workload that can be made here."""
    files = []
    for digits in (17, 6):
        path = folder / f"numbers{digits}.csv"
        write_numbers(path, rows, 20, f"%.{digits}g")
        files.append((f"{rows:,} x 20, {digits} digits", path, 3))
    for name, repeats in (("adult_train", 20), ("covtype_sample", 5)):
        source = find_data(name)
        if source is None:
            print(f"{name}: left out, as it is not bundled and no {name}.csv.gz is in the folder MELICIT_DATA")
            continue
        path = folder / f"{name}.csv"
        path.write_bytes(gzip.decompress(source.read_bytes()))
        files.append((name, path, repeats))
    return files


def run(command):
    return [float(word) for word in subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()]


def ours(path, threads, repeats):
    return run([BUILD / "bench_csv", path, str(threads), str(repeats)])


def theirs(path, repeats):
    return run(["/usr/bin/python3", "-c", PANDAS, path, str(repeats)])


def fastest(a, b):
    return b if a is None or b[0] < a[0] else a


def measure(path, repeats, rounds):
    """The fastest run of pandas, and of ours by threads."""
    best = {}
    for _ in range(rounds):
        best["pandas"] = fastest(best.get("pandas"), theirs(path, repeats))
        for threads in THREADS:
            best[threads] = fastest(best.get(threads), ours(path, threads, repeats))
    for key, result in best.items():
        same = math.isclose(result[4], best["pandas"][4], rel_tol=1e-9, abs_tol=1e-6)
        if result[2:4] != best["pandas"][2:4] or not same:
            sys.exit(f"{path}: {key} read something else than pandas: {result} and {best['pandas']}")
    return best


SPEED = {threads: [] for threads in THREADS}


def report(what, path, best):
    pandas = best["pandas"]
    size = path.stat().st_size
    print(f"{what} ({size / MIB:.0f} MiB)")
    print(f"  pandas              {pandas[0]:8.4f} s  peak {pandas[1] / MIB:6.0f} MiB, {pandas[5] / MIB:.0f} of them its libraries")
    worst = math.inf
    for threads in THREADS:
        seconds, peak = best[threads][:2]
        ratio = pandas[0] / seconds
        worst = min(worst, ratio)
        SPEED[threads].append(ratio)
        verdict = "" if ratio >= TARGET else f"  below the target of {TARGET:g}"
        print(f"  melicit, {threads} thread{'s' if threads > 1 else ' '}  {seconds:8.4f} s  peak {peak / MIB:6.0f} MiB"
              f"  {ratio:5.1f} times as fast  {size / seconds / MIB:6.0f} MiB/s{verdict}")
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=500_000, help="rows of the tables of numbers")
    parser.add_argument("--rounds", type=int, default=3, help="how often the sides take turns")
    args = parser.parse_args()
    if not (BUILD / "bench_csv").exists():
        sys.exit(f"{BUILD / 'bench_csv'} is missing: build the target bench_programs first")
    with tempfile.TemporaryDirectory(prefix="melicit-bench-") as folder:
        files = make_files(Path(folder), args.rows)
        worst = min(report(what, path, measure(path, repeats, args.rounds)) for what, path, repeats in files)
    record("reading CSV", ", ".join(f"{min(r):.1f} to {max(r):.1f} times on {n} thread{'s' if n > 1 else ''}" for n, r in SPEED.items()), worst >= TARGET)
    print(f"slowest ratio {worst:.2f}, target {TARGET:g}: {'met' if worst >= TARGET else 'missed'}")
    return 0 if worst >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
