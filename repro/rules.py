#!/usr/bin/env python3
"""Best rules on rows they have not seen: regret on four data sets with three models, other class shares, limits.

Writes repro-rules.md. Models are scikit-learn's; rules are those of `melicit apply`, for the regret by the Python package, which finds the same ones
without saying how sure they are. Regret is
what a rule's test value is below the best one known: of all rules compared, and of one found on the test rows themselves.
A fifth of the rows is test rows (at most 5,000), at most 5,000 rows train the models. Rules are found on some of another fifth (at most 8,000), with at
least four rows of every class, or all that it has.
MELICIT_SEEDS (default 3) repeats everything; MELICIT_ROWS (default 300,1000,fifth) are the labelled rows that rules are
found on, MELICIT_SETS the data sets."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy
import pandas
from sklearn import ensemble, linear_model, metrics, naive_bayes, pipeline, preprocessing

from workshop import BUILD, OUT, ROOT, Results, generator, verdict

sys.path.insert(0, str(BUILD / "python" / "site"))
from melicit import Metric  # noqa: E402
from melicit.rule import find_rule  # noqa: E402

PAGE = OUT / "repro-rules.md"
SEEDS = int(os.environ.get("MELICIT_SEEDS", "3"))
SIZES = os.environ.get("MELICIT_ROWS", "300,1000,fifth").split(",")
DATA = os.environ.get("MELICIT_SETS", "shuttle,covtype,letter,satellite").split(",")
MODELS = {"logistic": lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression(max_iter=300)),
          "naive Bayes": lambda: naive_bayes.GaussianNB(var_smoothing=1e-6),
          "forest": lambda: ensemble.RandomForestClassifier(100, min_samples_leaf=2, random_state=0)}
WAYS = {"argmax": "the most probable class", "model": "`--evidence model`", "calibrated": "the default, calibrated"}
TRAIN, TEST, FIFTH, LEAST = 5000, 5000, 8000, 4
SHARE, SHIFTED = 0.05, {"spambase": 20, "magic04": 10, "credit_default": 10}  # data sets and their splits


def read(name):
    """Features, one column for each value of a text, and codes of the classes."""
    table = pandas.read_csv(ROOT / "data" / f"{name}.csv.gz")
    label = table.columns[-1]
    names, y = numpy.unique(table[label], return_inverse=True)
    return pandas.get_dummies(table.drop(columns=label)).to_numpy(float), y, len(names)


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


def some(rows, y, n, rng):
    """n of the rows, with LEAST of every class where it has them."""
    rows = rng.permutation(rows)
    first = numpy.concatenate([numpy.flatnonzero(y[rows] == c)[:LEAST] for c in numpy.unique(y)])
    rest = numpy.setdiff1d(numpy.arange(len(rows)), first)
    return rows[numpy.r_[first, rest[: max(0, n - len(first))]]]


def measures(k, rng):
    """Metrics, and the value of decisions: more is better."""
    cost = rng.random((k, k)) * (1 - numpy.eye(k))

    def recalls(y, d):
        return numpy.array([(d[y == c] == c).mean() for c in range(k)])

    return {"g-mean": (Metric("g-mean"), lambda y, d: recalls(y, d).prod() ** (1 / k)),
            "macro-f1": (Metric("macro-f1"), lambda y, d: metrics.f1_score(y, d, average="macro")),
            "costs": (Metric.from_costs(cost, classes=range(k)), lambda y, d: -cost[y, d].mean())}


def regrets_of(probs, y, test, labelled, metric, value):
    def decided(rows, way):
        rule = find_rule(metric, probs[rows], y[rows].astype(numpy.uint32), range(probs.shape[1]), evidence=way, threads=1)
        return value(y[test], rule.decide_codes(probs[test]))

    got = {(size, "argmax"): value(y[test], probs[test].argmax(axis=1)) for size in SIZES}
    got.update({(size, way): decided(rows, way) for size, rows in zip(SIZES, labelled) for way in ("model", "calibrated")})
    best = max(decided(test, "calibrated"), *got.values())
    return {key: best - one for key, one in got.items()}


def regrets():
    found = {}
    for seed in range(SEEDS):
        for name in DATA:
            rng = generator(seed)
            x, y, k = read(name)
            fifth = len(y) // 5
            test, pool, train = split(y, [min(TEST, fifth), min(FIFTH, fifth), TRAIN], rng)
            labelled = [pool if size == "fifth" else some(pool, y, int(size), rng) for size in SIZES]
            for make in MODELS.values():
                probs = numpy.clip(make().fit(x[train], y[train]).predict_proba(x), 1e-12, 1)
                probs /= probs.sum(axis=1, keepdims=True)
                for metric, value in measures(k, rng).values():
                    for (size, way), one in regrets_of(probs, y, test, labelled, metric, value).items():
                        found.setdefault((name, size, way), []).append(one)
            print(f"    regret: {name}, seed {seed}", flush=True)
    return found


def best_threshold(p, y, costs):
    """The cheapest threshold for rows with these costs of either class."""
    order = numpy.argsort(p)
    sums = numpy.r_[0, numpy.cumsum(numpy.where(y == 1, costs[1], -costs[0])[order])]
    p = p[order]
    ends = numpy.flatnonzero(numpy.r_[True, p[1:] > p[:-1], True])
    at = ends[numpy.argmin(sums[ends])]
    return 0.0 if at == 0 else 2.0 if at == len(p) else (p[at - 1] + p[at]) / 2


def decided_by_others(p, y, costs, rng):
    """Decisions about every tenth of the rows by the best threshold for the labels of the other nine."""
    fold = rng.permutation(len(y)) % 10
    said = numpy.zeros(len(y), int)
    for f in range(10):
        said[fold == f] = p[fold == f] >= best_threshold(p[fold != f], y[fold != f], costs)
    return said


def shift_once(desk, x, y, missed, alarm, seed):
    """Cost per 1,000 of five ways to decide where 5% are of class 1."""
    rng = generator(seed)
    third = min(5000, len(y) // 3)
    train, labelled, test = split(y, [third, 1000, min(20000, len(y) - third - 1000)], rng)
    model = MODELS["logistic"]().fit(x[train], y[train])
    negatives, positives = test[y[test] == 0], test[y[test] == 1]
    new = numpy.r_[negatives, positives[: len(negatives) // 19]]
    p, q = model.predict_proba(x[labelled]), model.predict_proba(x[test])
    numpy.save(desk.folder / "new.npy", model.predict_proba(x[new]))
    desk.run("metric", "--cost", f"missed={missed},false-alarm={alarm}", "--classes", "0,1", "--out", "m.json")

    def cost(said):
        return 1000 * (missed * SHARE * (said[y[test] == 1] == 0).mean() + alarm * (1 - SHARE) * (said[y[test] == 0] == 1).mean())

    got = {}
    for way, words in (("uncorrected", ()), ("given", ("--class-prior", f"1={SHARE}")), ("estimated", ("--class-prior-from", "new.npy"))):
        desk.apply(p, y[labelled], "--metric", "m.json", *words)
        got[way] = cost(desk.decide(q))
    costs = alarm * (1 - SHARE) / (y[test] == 0).sum(), missed * SHARE / (y[test] == 1).sum()
    got["others"] = cost(decided_by_others(q[:, 1], y[test], costs, rng))
    got["best"] = cost(q[:, 1] >= best_threshold(q[:, 1], y[test], costs))
    return got


def shifted(desk):
    """Costs where 5% are of class 1, a missed one counting 7 false alarms, one, or 1/7 of one."""
    lines = []
    for name, splits in SHIFTED.items():
        x, y, _ = read(name)
        for missed, alarm in ((7, 1), (1, 1), (1, 7)):
            once = [shift_once(desk, x, y, missed, alarm, seed) for seed in range(splits)]
            sums = {way: float(numpy.mean([one[way] for one in once])) for way in once[0]}
            lines.append((name, missed, alarm, sums))
            print(f"    class shares: {name}, {missed} : {alarm}", flush=True)
    return lines


def limited(desk):
    """How often what limits achieve on fresh rows lies within the printed interval; the fresh rows' own chance error is added."""
    x, y, _ = read("spambase")
    inside = total = 0
    for seed in range(20):
        rng = generator(100 + seed)
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
    print(f"    limits: {inside} of {total}", flush=True)
    return inside, total


def mean(found, names, size, way):
    return f"{numpy.mean([one for name in names for one in found[name, size, way]]):.4f}"


def write(found, lines, limits):
    out = ["# Best rules on rows they have not seen", "",
           f"Made by `repro/rules.py` (`MELICIT_SEEDS={SEEDS} MELICIT_ROWS={','.join(map(str, SIZES))} MELICIT_SETS={','.join(DATA)}`).", "", "## Regret", "",
           f"Mean over {', '.join(DATA)}; logistic regression, naive Bayes, forest; G-mean, macro-F1, random costs; by labelled rows.", "",
           "| rule | " + " | ".join("a fifth (1,287 to 8,000)" if n == "fifth" else f"{n} rows" for n in SIZES) + " |", "| --- |" + " --- |" * len(SIZES)]
    for way, words in WAYS.items():
        out.append(f"| {words} | " + " | ".join(mean(found, DATA, n, way) for n in SIZES) + " |")
    out += ["", "The default by data set:", "", "| data | " + " | ".join(SIZES) + " |", "| --- |" + " --- |" * len(SIZES)]
    out += [f"| {name} | " + " | ".join(mean(found, [name], n, "calibrated") for n in SIZES) + " |" for name in DATA]
    out += ["", "## Other class shares", "", f"Logistic regression, a third of the rows (at most 5,000) to train it, 1,000 to find the rule on. {SHARE:.0%} of the rows that are decided about are of class 1, which is more frequent among those 1,000.",
            "Cost per 1,000 with the error rates on the test rows, mean of " + ", ".join(f"{n} splits of {name}" for name, n in SHIFTED.items()) + ". \"By other test rows\" decides about every tenth of the test rows by the",
            "best threshold for the labels of the other nine: what can be known beforehand, by many labels. \"In hindsight\" is the best threshold for the labels of the test rows themselves, which nobody knows.", "",
            "| data | missed : false alarm | uncorrected | `--class-prior` | `--class-prior-from` | by other test rows | in hindsight | `--class-prior` is above these two by |", "| --- |" + " --- |" * 7]
    for name, m, a, s in lines:
        out.append(f"| {name} | {m} : {a} | " + " | ".join(f"{s[way]:.1f}" for way in ("uncorrected", "given", "estimated", "others", "best")) +
                   f" | {100 * (s['given'] / s['others'] - 1):.1f}, {100 * (s['given'] / s['best'] - 1):.1f}% |")
    out += ["", "## Limits", "", f"spambase, accuracy with at most 30% flagged and at least 99% of the other mail kept: on fresh rows {limits[0]} of {limits[1]} figures lie within the printed 95% interval",
            "(with the chance error of the fresh rows themselves).", ""]
    PAGE.write_text("\n".join(out))


def main():
    warnings.simplefilter("ignore")  # models that have not converged
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(folder)
        lines, limits = shifted(desk), limited(desk)
        found = regrets()
    write(found, lines, limits)
    results, size = Results("rules"), SIZES[0]
    means = {way: numpy.mean([one for name in DATA for one in found[name, size, way]]) for way in WAYS}
    results.add(["beyond the thesis"], f"regret of best rules on other rows, {size} labelled rows, {len(DATA)} data sets, 3 models, 3 measures", f"the most probable class: {means['argmax']:.4f}",
                f"{means['calibrated']:.4f}", "", "", verdict(means["calibrated"] < means["argmax"] / 2), "better: less than half of the most probable class's", values=means)
    results.write()


if __name__ == "__main__":
    main()
