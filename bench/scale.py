#!/usr/bin/python3
"""Passes over rows in many files by one rank and two, next to NumPy and Dask with NumPy on the same files.

`melicit optimise` and `mpirun -n 2 melicit-mpi optimise` on probabilities of 7 classes in files of a million rows, as many rows as --rows has at most and the disk has room for, with 1 and with 101 iterations, so that
reading and the first linear step are told from 100 further iterations. Targets, for an idle machine: two ranks are at least 0.85 times as much faster as two processes at once get more from memory than one (measured before, by NumPy's dot);
at least 4 times the rows per second of NumPy and of Dask with NumPy, which find the hits of a weighted rule on the same files, in memory; time per row within 1.3 from the fewest to the most.

Exit status 1 when a target is missed. MELICIT_BUILD names the build folder (default: build)."""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np

from figures import record

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("MELICIT_BUILD", ROOT / "build")).resolve()
K = 7
PART = 1_000_000
ITERATIONS = 100


def generate_parts(folder, rows):
    """Files of probabilities and labels, as many as the disk has room for; how many rows they have."""
    free = shutil.disk_usage(folder).free
    possible = int((free - 4e9) // (PART * (8 * K + 2)))  # results, and rows that go to disk, want some of it
    if possible < rows // PART:
        print(f"the disk has room for {possible} files of {PART:,} rows ({free / 1e9:.0f} GB free); {rows // PART} are asked for")
    files = min(rows // PART, possible)
    for i in range(files):
        if (folder / f"y-{i:05}.npy").exists():
            continue
        rng = np.random.default_rng(i)
        p = rng.random((PART, K)) ** 4
        p /= p.sum(axis=1, keepdims=True)
        y = (p.cumsum(axis=1) < rng.random(PART)[:, None]).sum(axis=1).clip(0, K - 1).astype(np.uint8)
        np.save(folder / f"p-{i:05}.npy", p)
        np.save(folder / f"y-{i:05}.npy", y)
        if i == 0:
            np.save(folder / "v.npy", p[:100_000])
            np.save(folder / "w.npy", y[:100_000])
    return files * PART


def some_parts(folder, rows):
    """A folder of so many of the rows."""
    use = folder / f"use-{rows}"
    if not use.exists():
        use.mkdir()
        for i in range(rows // PART):
            for name in "py":
                (use / f"{name}-{i:05}.npy").symlink_to(folder / f"{name}-{i:05}.npy")
    return use


def optimising(folder, rows, iterations, out):
    use = some_parts(folder, rows)
    return ["optimise", "--metric", "g-mean", "--probs", f"{use}/p-*.npy", "--labels", f"{use}/y-*.npy", "--validation-probs",
            str(folder / "v.npy"), "--validation-labels", str(folder / "w.npy"), "--iterations", str(iterations), "--threads", "1",
            "--read", f"max-rows={max(rows, 100_000_000)}", "--out", str(out)]


def optimise(folder, rows, ranks, iterations):
    """Seconds of all, of the search and of its exchanges, MB of rank 0, and seconds of the processor where there is one rank."""
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm="isolated", OMPI_MCA_btl="self,vader",
               OMPI_MCA_btl_vader_single_copy_mechanism="none", OMPI_MCA_rmaps_base_oversubscribe="1")
    command = [*optimising(folder, rows, iterations, folder / f"out-{rows}-{ranks}-{iterations}.json"), "--verbose"]
    start = time.time()
    with open(folder / "said", "w+") as said:
        # One rank is a process like any other, and says nothing of exchanges.
        program = ["mpirun", "-n", str(ranks), str(BUILD / "melicit-mpi")] if ranks > 1 else [str(BUILD / "melicit")]
        run = subprocess.Popen([*program, *command], stdout=subprocess.DEVNULL, stderr=said, env=env)
        _, status, used = os.wait4(run.pid, 0)
        run.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.time() - start
        said.seek(0)
        text = said.read()
    if run.returncode != 0:
        raise RuntimeError(text)
    search = re.search(r"iterations in ([\d.]+) s, of which ([\d.]+) s", text)
    said = re.search(r"ranks, ([\d.]+) s, of which ([\d.]+) s in (\d+) exchanges.*; (\d+) MB", text)
    return (float(said[1]) if said else seconds, float(search[1]), float(search[2]), float(said[4]) if said else used.ru_maxrss / 1024,
            None if said else used.ru_utime + used.ru_stime)


def further(folder, rows, ranks):
    """Seconds of 100 iterations after the first, the share of them in exchanges, seconds of reading and the first, MB of a rank, and, of one rank, seconds of the
    processor for the 100."""
    few, many = (optimise(folder, rows, ranks, n) for n in (1, 1 + ITERATIONS))
    seconds = many[1] - few[1]
    return seconds, (many[2] - few[2]) / seconds, few[0], many[3], many[4] - few[4] if ranks == 1 else None


def bandwidth(processes):
    """GB per second that so many processes read from memory at once, all together."""
    code = ("import sys, time, numpy as n; a = n.ones(40_000_000); n.dot(a, a); print(flush=True); sys.stdin.readline(); s = time.time()\n"
            "for _ in range(20): n.dot(a, a)\nprint(20 * a.nbytes / (time.time() - s) / 1e9)")
    runs = [subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)]
    for run in runs:
        run.stdout.readline()
    for run in runs:
        run.stdin.write("\n")
        run.stdin.flush()
    return sum(float(run.communicate()[0]) for run in runs)


def hits(p, y, gain):
    """How many rows of each class a weighted rule decides right."""
    return np.bincount(y[(p * gain).argmax(axis=1) == y], minlength=K)


def peers(folder, parts):
    """Rows per second of NumPy and of Dask with NumPy, on files in memory, block by block as the cache likes it."""
    import dask

    rows = [(np.load(folder / f"p-{i:05}.npy"), np.load(folder / f"y-{i:05}.npy")) for i in range(parts)]
    gain = np.linspace(1, 2, K)
    one_part = lambda p, y: sum(hits(p[low : low + 16384], y[low : low + 16384], gain) for low in range(0, len(p), 16384))
    rates = []
    for run in (lambda: sum(one_part(p, y) for p, y in rows),
                lambda: dask.delayed(sum)([dask.delayed(one_part)(p, y) for p, y in rows]).compute(scheduler="synchronous")):
        start = time.process_time()
        run()
        rates.append(parts * PART / (time.process_time() - start))
    return rates


def measure_ranks(folder, sizes):
    if shutil.which("mpirun") is None:
        print("ranks: mpirun is not there")
        return False
    rows = generate_parts(folder, max(sizes))
    sizes = sorted({min(n, rows) for n in sizes})
    print(f"ranks: {rows // PART} files of {PART:,} rows, {rows * (8 * K + 1) / 1e9:.1f} GB")
    reached = bandwidth(1), bandwidth(2)
    allowed = reached[1] / reached[0] / 2
    print(f"memory: {reached[0]:.1f} GB per second for one process, {reached[1]:.1f} for two: two ranks can be {allowed:.2f} efficient")
    numpy_rate, dask_rate = peers(folder, min(3, rows // PART))
    rates, good, alone = [], True, 0.0
    for n in sizes:
        alone, _, first, mb, seconds = further(folder, n, 1)
        rates.append(n * ITERATIONS / seconds)
        print(f"{n:>12,} rows, 1 rank: read and one linear step {first:.1f} s, {ITERATIONS} iterations {seconds:.1f} s: {rates[-1] / 1e6:.1f} million rows per second; {mb:.0f} MB;"
              f" {rates[-1] / numpy_rate:.1f} times NumPy, {rates[-1] / dask_rate:.1f} times Dask", flush=True)
        good = good and rates[-1] >= 4 * max(numpy_rate, dask_rate)
    two = further(folder, rows, 2)
    efficiency = alone / two[0] / 2
    times = [rate / max(numpy_rate, dask_rate) for rate in rates]
    record("passes of `optimise` over rows in many files", f"{min(times):.1f} to {max(times):.1f} times", min(times) >= 4)
    record("two ranks over one", f"{rows / 1e6:.0f} million rows: efficiency {efficiency:.2f}, {efficiency / allowed:.2f} of what memory allows",
           efficiency >= 0.85 * allowed)
    print(f"{rows:>12,} rows, 2 ranks: read and one linear step {two[2]:.1f} s, {ITERATIONS} iterations {two[0]:.1f} s: {rows * ITERATIONS / two[0] / 2e6:.1f} million rows per second and core;"
          f" {two[3]:.0f} MB in each; {100 * two[1]:.1f} % of the time in exchanges; efficiency {efficiency:.2f}, {efficiency / allowed:.2f} of what memory allows")
    same = len({(folder / f"out-{rows}-{r}-{1 + ITERATIONS}.json").read_bytes() for r in (1, 2)}) == 1
    if not same:
        print("two ranks give other bits than one")
    per_node = 1e10 / 100
    print(f"on paper, 10^10 rows on 100 nodes of 32 cores: {per_node / 32 / rates[-1]:.2f} s for a pass where memory keeps up with the cores, "
          f"{per_node * (8 * K + 1) / 1e9:.1f} GB to be read by each node")
    return good and same and efficiency >= 0.85 * allowed and max(rates) / min(rates) <= 1.3


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 3_000_000, 10_000_000, 30_000_000])
    parser.add_argument("--folder", help="where files are made: a disk; TMPDIR or /var/tmp unless given")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.folder or os.environ.get("TMPDIR") or "/var/tmp") as name:
        good = measure_ranks(Path(name), sorted(args.rows))
    print("targets met" if good else "a target is missed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
