#!/usr/bin/env python3
"""Best rules on rows they have not seen: regret on four data sets with three models, other class shares, limits.

Writes docs/repro-rules.md. Models are scikit-learn's; rules are those of `melicit apply`, applied by `melicit predict`. Regret is
what a rule's test value is below the best one known: of all rules compared, and of one found on the test rows themselves.
A fifth of the rows is test rows (at most 5,000), at most 5,000 rows train the models.
MELICIT_SEEDS (default 1) repeats everything; MELICIT_ROWS (default 300,1000,fifth) are the labelled rows that rules are
found on (a fifth of all, at most 8,000), MELICIT_SETS the data sets."""

import json
import os
import pathlib
import subprocess
import tempfile

import numpy
from sklearn import ensemble, linear_model, metrics, naive_bayes, pipeline, preprocessing

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("MELICIT_BUILD", ROOT / "build")).resolve()
PAGE = ROOT / "docs" / "repro-rules.md"
SEEDS = int(os.environ.get("MELICIT_SEEDS", "1"))
SIZES = os.environ.get("MELICIT_ROWS", "300,1000,fifth").split(",")
DATA = os.environ.get("MELICIT_SETS", "shuttle,covtype,letter,satellite").split(",")
MODELS = {"logistic": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression(max_iter=300)),
          "naive Bayes": lambda: naive_bayes.GaussianNB(var_smoothing=1e-6),
          "forest": lambda: ensemble.RandomForestClassifier(100, min_samples_leaf=2, random_state=0)}
WAYS = {"argmax": "the most probable class", "model": "`--evidence model`", "calibrated": "the default, calibrated"}
TRAIN, TEST, FIFTH, LEAST = 5000, 5000, 8000, 4


def read(name):
    table = numpy.genfromtxt(ROOT / "data" / f"{name}.csv.gz", delimiter=",", skip_header=1)
    names, y = numpy.unique(table[:, -1], return_inverse=True)
    return table[:, :-1], y, len(names)


def split(y, sizes, rng):
    """Rows of each part, every class at least LEAST times in each of them where it can be."""
    parts = [[] for _ in sizes]
    left = []
    for c in numpy.unique(y):
        rows = rng.permutation(numpy.flatnonzero(y == c)).tolist()
        least = min(LEAST, len(rows) // len(sizes))
        for part in parts:
            part += [rows.pop() for _ in range(least)]
        left += rows
    left = rng.permutation(left).tolist()
    for part, size in zip(parts, sizes):
        while left and len(part) < size:
            part.append(left.pop())
    return [numpy.array(part) for part in parts]


class Desk:
    """The program in a folder of its own."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def run(self, *words):
        got = subprocess.run([BUILD / "melicit", *map(str, words), "--threads", "1"], cwd=self.folder, capture_output=True, text=True)
        if got.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, words))}: {got.stderr}")
        return got.stdout

    def apply(self, probs, y, *words):
        numpy.save(self.folder / "p.npy", probs)
        numpy.save(self.folder / "y.npy", y)
        return json.loads(self.run("apply", "--probs", "p.npy", "--labels", "y.npy", *words, "--out", "c.json", "--json"))

    def decide(self, probs):
        numpy.save(self.folder / "q.npy", probs)
        self.run("predict", "--classifier", "c.json", "--probs", "q.npy", "--out", "d.npy")
        return numpy.load(self.folder / "d.npy")


def measures(desk, k, rng):
    """Options of apply, and the value of decisions: more is better."""
    cost = rng.random((k, k)) * (1 - numpy.eye(k))
    names = ",".join(map(str, range(k)))
    lines = [f"true,{names}"] + [f"{i}," + ",".join(map(repr, row)) for i, row in enumerate(cost.tolist())]
    (desk.folder / "costs.csv").write_text("\n".join(lines) + "\n")
    desk.run("metric", "--costs", "costs.csv", "--out", "m.json")

    def recalls(y, d):
        return numpy.array([(d[y == c] == c).mean() for c in range(k)])

    return {"g-mean": (("--named", "g-mean"), lambda y, d: recalls(y, d).prod() ** (1 / k)),
            "macro-f1": (("--named", "macro-f1"), lambda y, d: metrics.f1_score(y, d, average="macro")),
            "costs": (("--metric", "m.json"), lambda y, d: -cost[y, d].mean())}


def regrets(desk):
    found = {size: {way: [] for way in WAYS} for size in SIZES}
    each = {}
    for seed in range(SEEDS):
        for name in DATA:
            rng = numpy.random.default_rng(seed)
            x, y, k = read(name)
            fifth = len(y) // 5
            sizes = [min(FIFTH, fifth) if size == "fifth" else int(size) for size in SIZES]
            test, *labelled, train = split(y, [min(TEST, fifth), *sizes, TRAIN], rng)
            for make in MODELS.values():
                model = make().fit(x[train], y[train])
                probs = numpy.clip(model.predict_proba(x), 1e-12, 1)
                probs /= probs.sum(axis=1, keepdims=True)
                for options, value in measures(desk, k, rng).values():
                    desk.apply(probs[test], y[test], *options)
                    best = value(y[test], desk.decide(probs[test]))
                    got = {}
                    for size, rows in zip(SIZES, labelled):
                        got[size, "argmax"] = value(y[test], probs[test].argmax(axis=1))
                        for way in ("model", "calibrated"):
                            desk.apply(probs[rows], y[rows], *options, "--evidence", way)
                            got[size, way] = value(y[test], desk.decide(probs[test]))
                    best = max(best, *got.values())
                    for (size, way), one in got.items():
                        found[size][way].append(best - one)
                        each.setdefault((name, size, way), []).append(best - one)
            print(name, seed, {s: {w: round(float(numpy.mean(v)), 4) for w, v in ways.items()} for s, ways in found.items()}, flush=True)
    return found, each


def shifted(desk):
    """spambase with 5% spam: cost per 1,000, a missed spam counting 7 false alarms, one, or 1/7 of one."""
    x, y, _ = read("spambase")
    lines = []
    for missed, alarm in ((7, 1), (1, 1), (1, 7)):
        sums = {way: 0.0 for way in ("uncorrected", "given", "estimated", "best")}
        for seed in range(5):
            rng = numpy.random.default_rng(seed)
            train, labelled, test = split(y, [1500, 1000, 2101], rng)
            model = MODELS["logistic"]().fit(x[train], y[train])
            negatives, positives = test[y[test] == 0], test[y[test] == 1]
            new = numpy.r_[negatives, positives[: len(negatives) // 19]]
            p, q = model.predict_proba(x[labelled]), model.predict_proba(x[test])
            numpy.save(desk.folder / "new.npy", model.predict_proba(x[new]))
            desk.run("metric", "--cost", f"missed={missed},false-alarm={alarm}", "--classes", "0,1", "--out", "m.json")

            def cost(said):
                return 1000 * (missed * 0.05 * (said[y[test] == 1] == 0).mean() + alarm * 0.95 * (said[y[test] == 0] == 1).mean())

            for way, words in (("uncorrected", ()), ("given", ("--class-prior", "1=0.05")), ("estimated", ("--class-prior-from", "new.npy"))):
                desk.apply(p, y[labelled], "--metric", "m.json", *words)
                sums[way] += cost(desk.decide(q)) / 5
            sums["best"] += min(cost(q[:, 1] >= t) for t in numpy.r_[0, numpy.unique(q[:, 1]), 2]) / 5
        lines.append((missed, alarm, sums))
        print(missed, alarm, sums, flush=True)
    return lines


def limited(desk):
    """How often what limits achieve on fresh rows lies within the printed interval; the fresh rows' own chance error is added."""
    x, y, _ = read("spambase")
    inside = total = 0
    for seed in range(20):
        rng = numpy.random.default_rng(100 + seed)
        train, labelled, fresh = split(y, [1200, 1200, 2201], rng)
        model = MODELS["logistic"]().fit(x[train], y[train])
        p, q = model.predict_proba(x[labelled]), model.predict_proba(x[fresh])
        got = desk.apply(p, y[labelled], "--named", "accuracy", "--at-most", "flagged=30%", "--at-least", "recall[0]=0.99")
        said = desk.decide(q)
        seen = [((said == 1).mean(), len(said)), ((said[y[fresh] == 0] == 0).mean(), (y[fresh] == 0).sum())]
        for limit, (value, n) in zip(got["limits"], seen):
            low, high = limit["interval"]
            half = numpy.hypot((high - low) / 2, 1.96 * (value * (1 - value) / n) ** 0.5)
            inside += abs(value - (low + high) / 2) <= half
            total += 1
    print("limits", inside, total, flush=True)
    return inside, total


def write(found, each, lines, limits):
    out = ["# Best rules on rows they have not seen", "",
           f"Made by `repro/rules.py` (`MELICIT_SEEDS={SEEDS} MELICIT_ROWS={','.join(map(str, SIZES))} MELICIT_SETS={','.join(DATA)}`).", "", "## Regret", "",
           f"Mean over {', '.join(DATA)}; logistic regression, naive Bayes, forest; G-mean, macro-F1, random costs; by labelled rows.", "",
           "| rule | " + " | ".join("a fifth (1,287 to 8,000)" if n == "fifth" else f"{n} rows" for n in SIZES) + " |", "| --- |" + " --- |" * len(SIZES)]
    for way, words in WAYS.items():
        cells = [f"{numpy.mean(found[n][way]):.4f}" for n in SIZES]
        out.append(f"| {words} | " + " | ".join(cells) + " |")
    out += ["", "The default by data set:", "", "| data | " + " | ".join(SIZES) + " |", "| --- |" + " --- |" * len(SIZES)]
    out += [f"| {name} | " + " | ".join(f"{numpy.mean(each[name, n, 'calibrated']):.4f}" for n in SIZES) + " |" for name in DATA]
    out += ["", "## Other class shares", "", "spambase, logistic regression; 5% of the rows that are decided about are spam, 39% of those that the rule was found on. Cost per 1,000 with the error rates on all test rows, mean of five splits;",
            "\"best\" is the best threshold for the test rows themselves, which nobody knows beforehand.", "",
            "| missed : false alarm | uncorrected | `--class-prior` | `--class-prior-from` | best |", "| --- | --- | --- | --- | --- |"]
    out += [f"| {m} : {a} | {s['uncorrected']:.1f} | {s['given']:.1f} | {s['estimated']:.1f} | {s['best']:.1f} |" for m, a, s in lines]
    out += ["", "## Limits", "", f"spambase, accuracy with at most 30% flagged and at least 99% of the other mail kept: on fresh rows {limits[0]} of {limits[1]} figures lie within the printed 95% interval",
            "(with the chance error of the fresh rows themselves).", ""]
    PAGE.write_text("\n".join(out))


def main():
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(folder)
        lines, limits = shifted(desk), limited(desk)
        write(*regrets(desk), lines, limits)


if __name__ == "__main__":
    main()
