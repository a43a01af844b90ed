"""Everybody's answers for each: what is found of 100 people who answer 15 questions each, next to bayesm.

    python3 bench/hierarchy.py [--spread 0.3] [--scale 0.04] [--runs 3]

build/bench_hierarchy makes the people, their questions and answers, and prints the median angle between each
one's six costs and what was found. The same answers to random questions go to rhierMnlRwMixture of r-cran-bayesm
(20,000 draws, the first quarter left out), where R has it. Goals: not worse than bayesm on random questions,
at most half its angle with questions that are chosen.
"""
import argparse
import csv
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("MELICIT_BUILD", ROOT / "build"))
R = """
suppressMessages(library(bayesm)); at <- commandArgs(TRUE)
rows <- as.matrix(read.csv(at[1], header = FALSE)); size <- ncol(rows) - 2
people <- lapply(split(seq_len(nrow(rows)), rows[, 1]), function(i) {
  x <- matrix(0, 2 * length(i), size)  # two systems each, the second at 0
  x[2 * seq_along(i) - 1, ] <- rows[i, 2:(size + 1)] / as.numeric(at[3])
  list(y = 2 - rows[i, size + 2], X = x)
})
set.seed(1); sink("/dev/null")
found <- rhierMnlRwMixture(Data = list(p = 2, lgtdata = people), Prior = list(ncomp = 1), Mcmc = list(R = 20000, keep = 10))
sink(); kept <- 501:2000
write.table(t(apply(found$betadraw[, , kept], 1:2, mean)), at[2], sep = ",", row.names = FALSE, col.names = FALSE)
"""


ALONE = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def measured(kind, given, files=()):
    """The line that bench_hierarchy prints."""
    line = [BUILD / "bench_hierarchy", kind, "logistic", "100", "15", given.spread, given.scale, given.seed, *files]
    return json.loads(subprocess.run([str(word) for word in line], check=True, capture_output=True, env=ALONE).stdout)


def degrees(x, y):
    cosine = sum(a * b for a, b in zip(x, y)) / math.hypot(*x) / math.hypot(*y)
    return math.degrees(math.acos(max(-1.0, min(1.0, cosine))))


def by_bayesm(folder, given):
    """Median angle of its posterior means; None without R or bayesm."""
    if shutil.which("Rscript") is None:
        return None
    answers, truth, found = (folder / name for name in ("answers.csv", "truth.csv", "found.csv"))
    ran = subprocess.run(["Rscript", "-e", R, str(answers), str(found), str(given.scale)], capture_output=True, text=True, env=ALONE)
    if ran.returncode != 0:
        print(ran.stderr.strip().splitlines()[-1])
        return None
    columns = [[float(cell) for cell in row] for row in csv.reader(found.open())]
    people = [list(person) for person in zip(*columns)]
    wanted = [[float(cell) for cell in row] for row in csv.reader(truth.open())]
    return statistics.median(degrees(x, y) for x, y in zip(people, wanted))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spread", type=float, default=0.3)
    parser.add_argument("--scale", type=float, default=0.04)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    print(f"median angle in degrees, 100 people, spread {given.spread}, errors of scale {given.scale}")
    print("run  random: bayesm, alone, together  active: alone, together")
    for given.seed in range(1, given.runs + 1):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            random = measured("random", given, (folder / "answers.csv", folder / "truth.csv"))
            bayesm = by_bayesm(folder, given)
        active = measured("active", given)
        text = "-" if bayesm is None else f"{bayesm:.1f}"
        print(f"{given.seed:3}  {text:>14} {random['alone']:6.1f} {random['within']:9.1f} "
              f"{active['alone']:14.1f} {active['within']:9.1f}", flush=True)


if __name__ == "__main__":
    main()
