#!/usr/bin/python3
"""`melicit optimise` where no process sees all training rows (--iterate, moments, merge), next to one process on all of them:
rounds, calls, processor time and memory. Files of 100,000 rows with probabilities of 7 classes (NPY), 100,000 validation rows,
30 iterations for the G-mean. Both must end with the same bytes. MELICIT_BUILD names the build folder (default: build)."""
import argparse
import os
import tempfile
from pathlib import Path

import numpy as np

BUILD = Path(os.environ.get("MELICIT_BUILD", Path(__file__).resolve().parent.parent / "build")).resolve()
K, ROWS = 7, 100_000


def generate(name, seed):
    rng = np.random.default_rng(seed)
    y, score = rng.integers(0, K, ROWS), rng.normal(size=(ROWS, K))
    score[np.arange(ROWS), y] += 1.2
    score[:, 0] += 0.7
    p = np.exp(score)
    np.save(f"p{name}.npy", p / p.sum(axis=1, keepdims=True))
    np.save(f"y{name}.npy", y)


class Calls:
    """Of one kind: how many, their processor time and the most memory of any."""

    def __init__(self):
        self.n, self.seconds, self.memory = 0, 0.0, 0

    def __call__(self, *args):
        quiet = os.open(os.devnull, os.O_WRONLY)
        command = ["time", "-o", "memory", "-f", "%M", str(BUILD / "melicit"), *args, "--threads", "1"]  # a child of Python's has its memory, too
        child = os.posix_spawn("/usr/bin/time", command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, quiet, 1)])
        os.close(quiet)
        _, status, used = os.wait4(child, 0)
        if status != 0:
            raise SystemExit(f"{' '.join(args)} failed")
        self.n, self.seconds, self.memory = self.n + 1, self.seconds + used.ru_utime + used.ru_stime, max(self.memory, int(Path("memory").read_text()))

    def tell(self, what):
        print(f"{what}: {self.n} calls, {self.seconds:.2f} s of processor time, at most {self.memory / 1024:.0f} MB")


def by_moments(start, files, more):
    """Rounds until there is a classifier."""
    optimise, moments, merge = Calls(), Calls(), Calls()
    run = [*start, *more, "--iterate", "run.json", "--out", "rule.json"]
    optimise(*run)
    rounds = 0
    while not os.path.exists("rule.json"):
        for i in range(files):
            moments("moments", "--probs", f"p-{i:03}.npy", "--labels", f"y-{i:03}.npy", "--iterate", "run.json", "--out", f"{i:03}.moments")
        merge("merge", *(f"{i:03}.moments" for i in range(files)), "--out", "all.moments")
        optimise(*run, "--moments", "all.moments")
        rounds += 1
    print(f"{rounds} rounds {' '.join(more)}")
    for what, calls in (("  optimise", optimise), ("  moments", moments), ("  merge", merge)):
        calls.tell(what)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--files", type=int, default=10)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for i in range(args.files):
            generate(f"-{i:03}", i)
        generate("v", 1000)
        start = ["optimise", "--validation-probs", "pv.npy", "--validation-labels", "yv.npy", "--metric", "g-mean", "--iterations", "30"]
        one = Calls()
        one(*start, "--probs", "p-*.npy", "--labels", "y-*.npy", "--out", "one.json")
        one.tell("one process")
        for more in ([], ["--checkpoint", "checkpoint"]):
            for name in ("run.json", "rule.json"):
                Path(name).unlink(missing_ok=True)
            by_moments(start, args.files, more)
            assert Path("rule.json").read_bytes() == Path("one.json").read_bytes(), "not the classifier of one process"
        os.chdir("/")


if __name__ == "__main__":
    main()
