"""Everybody's answers for each: what is found of 100 people who answer 15 questions each, next to bayesm.

    python3 bench/hierarchy.py [--spread 0.3] [--scale 0.04] [--runs 3] [--known]

build/bench_hierarchy makes the people, their questions and answers, and prints the median angle between each
one's six costs and what was found. The same answers to random questions go to rhierMnlRwMixture of r-cran-bayesm
(20,000 draws, the first quarter left out), where R has it. Goals: not worse than bayesm on random questions,
at most half its angle with questions that are chosen. With --known it prints what could be reached at best:
by somebody who knows the population and how people err.
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


def at_best(given, people=100, questions=15, particles=4000, candidates=80):
    """Median angle of posterior means by particles of the true population; of the candidates, differences of two of them across
    their mean, at full length, the one that tells most is asked."""
    import numpy as np

    rng = np.random.default_rng(given.seed)
    common = rng.normal(size=6)
    common /= np.linalg.norm(common)

    def draw(n):
        w = -np.abs(common + given.spread * rng.normal(size=(n, 6)) / np.sqrt(5))
        return w / np.linalg.norm(w, axis=1, keepdims=True)

    def entropy(p):
        p = np.clip(p, 1e-9, 1 - 1e-9)
        return -(p * np.log(p) + (1 - p) * np.log(1 - p))

    angles = []
    for truth in draw(people):
        likely, log_weight = draw(particles), np.zeros(particles)
        for _ in range(questions):
            weight = np.exp(log_weight - log_weight.max())
            weight /= weight.sum()
            mean = weight @ likely / np.linalg.norm(weight @ likely)
            first, second = rng.choice(particles, size=(2, candidates), p=weight)
            pair = likely[first] - likely[second] + (rng.random((candidates, 1)) < 0.3) * 0.3 * rng.normal(size=(candidates, 6))
            pair -= (pair @ mean)[:, None] * mean
            pair *= 0.4 / np.maximum(np.linalg.norm(pair, axis=1, keepdims=True), 1e-9)
            chance = 1 / (1 + np.exp(-pair @ likely.T / given.scale))
            asked = pair[np.argmax(entropy(chance @ weight) - entropy(chance) @ weight)]
            yes = rng.random() < 1 / (1 + np.exp(-truth @ asked / given.scale))
            log_weight -= np.logaddexp(0, (-1 if yes else 1) * (likely @ asked) / given.scale)
        weight = np.exp(log_weight - log_weight.max())
        angles.append(degrees(weight @ likely, truth))
    return statistics.median(angles)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--spread", type=float, default=0.3)
    parser.add_argument("--scale", type=float, default=0.04)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--known", action="store_true", help="what could be reached at best")
    given = parser.parse_args()
    if given.known:
        for given.seed in range(1, given.runs + 1):
            print(f"{given.seed:3} at best, other people: {at_best(given):.1f}", flush=True)
        return
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
