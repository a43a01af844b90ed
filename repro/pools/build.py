#!/usr/bin/env python3
"""Builds data/pools: the rates of 80 to 100 real classifiers on each of six public data sets.

    repro/pools/build.py [NAME...] [--again] [--out FOLDER] [--quick]

NAME is a data set (credit_default, adult, wine_quality, communities_crime, satellite, covtype); all without. Pools that
exist are left alone unless --again is given. --quick trains three quick classifiers of each pool only, for a comparison
with the rows of a whole build, and needs an --out folder of its own. Data sets are bundled
but for covtype_sample.csv.gz, looked for in the folder MELICIT_DATA; covtype is left out without it. The program is looked
for in MELICIT_BUILD (build unless set)."""

import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[threads] = "1"  # sums in one order, so that a build can be repeated

import argparse
import json
import pathlib
import platform
import subprocess
import sys
import time
import warnings

import numpy as np

import datasets
import fair
import families

HOME = datasets.ROOT / "data" / "pools"
# How many classifiers of each family, without groups and with groups, where plug-in classifiers join.
WANTED = {"logistic": (20, 20), "mlp": (20, 20), "linear_svm": (20, 12), "rbf_svm": (20, 12), "boosting": (20, 20)}
WANTED_FAIR = 16
MOST_CANDIDATES = 60  # of a family, before it is given up to find more that differ
LEAST = 80
NEAR = 0.002  # two classifiers whose rates differ by less everywhere count as one
FEW = 20  # test rows of a class (in a group) that are pointed out
QUICK = ("logistic", "boosting")


def say(text):
    print(text, file=sys.stderr, flush=True)


def rates(decided, truth, k):
    """Off-diagonal rates, row by row: the share of class i that is taken for j."""
    count = np.zeros((k, k))
    np.add.at(count, (truth, decided), 1)
    return (count / count.sum(axis=1, keepdims=True))[~np.eye(k, dtype=bool)]


def group_rates(data, pool, decided):
    names, of, _ = data.groupings[pool]
    truth, of = data.label[data.test], of[data.test]
    return np.concatenate([rates(decided[of == g], truth[of == g], len(data.classes)) for g in range(len(names))])


class Pool:
    """Classifiers that differ: one that always says the same, or that is near another one, is turned away."""

    def __init__(self):
        self.rows = []  # (name, settings, decisions)
        self.rates = []

    def add(self, name, setting, decided, values):
        if len(np.unique(decided)) == 1:
            say(f"    {name} is left out: it gives every row the same class")
        elif any(np.abs(values - other).max() < NEAR for other in self.rates):
            say(f"    {name} is left out: its rates are those of another one")
        else:
            self.rows.append((name, setting, decided))
            self.rates.append(values)
            return True
        return False


def train_family(data, matrix, family, wanted, pool):
    truth, k = data.label[data.test], len(data.classes)
    begin, found, number = time.monotonic(), 0, 0
    while found < wanted and number < MOST_CANDIDATES:
        number += 1
        setting, decided = families.train(data, matrix, family, number)
        found += pool.add(f"{family}-{number:02d}", {"family": family, **setting}, decided, rates(decided, truth, k))
    say(f"  {family}: {found} of {number} candidates, {time.monotonic() - begin:.0f} s")


def train_all(data, quick):
    matrix, pool = datasets.features(data), Pool()
    say(f"{data.name}: {len(data.train)} + {len(data.test)} rows, {matrix.shape[1]} features, "
        f"{len(data.classes)} classes, groups of {', '.join(data.groupings) or 'none'}")
    for note in data.notes:
        say(f"  {note}")
    for family in QUICK if quick else families.FAMILIES:
        train_family(data, matrix, family, 1 if quick else WANTED[family][bool(data.groupings)], pool)
    return pool, matrix.shape[1]


def shift_all(data, name, quick):
    """The plug-in classifiers for the groups of one pool; they differ if a rate of any group does."""
    begin, pool, settings, number = time.monotonic(), Pool(), fair.candidates(), 0
    with fair.workbench() as folder:
        shifted = fair.Shifted(data, name, folder)
        while len(pool.rows) < (1 if quick else WANTED_FAIR) and number < len(settings):
            setting, number = settings[number], number + 1
            decided = shifted.decide(setting)
            pool.add(f"fair-{number:02d}", {"family": "fair", **setting}, decided, group_rates(data, name, decided))
    say(f"  fair plug-in, {name}: {len(pool.rows)} of {number} candidates, {time.monotonic() - begin:.0f} s")
    return pool


def versions():
    import scipy
    import sklearn
    import xgboost
    program = subprocess.run([str(fair.PROGRAM), "--version", "--json"], capture_output=True, text=True)
    own = json.loads(program.stdout)["version"] if program.returncode == 0 else "not built"
    return {"python": platform.python_version(), "numpy": np.__version__, "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__, "xgboost": xgboost.__version__, "melicit": own}


def describe(data, n_features, names, of, rows):
    """What is known about a pool beside its rates; shares are those of the test rows that the rates are about."""
    k, truth = len(data.classes), data.label[data.test]
    counted = np.array([[np.sum((of == g) & (truth == i)) for i in range(k)] for g in range(max(1, len(names)))])
    total = counted.sum(axis=0)
    prevalence = (counted / total).tolist() if names else []
    few = [f"{n} of {f'{names[g]}, ' if names else ''}{data.classes[i]}" for (g, i), n in np.ndenumerate(counted) if n < FEW]
    notes = data.notes + ([f"Few test rows, so coarse rates: {'; '.join(few)}."] if few else [])
    return {"format": "melicit-pool", "version": 1, "data": data.name, "files": data.files, "notes": notes,
            "layout": {"kind": "rates", "coordinates": "offdiagonal", "classes": data.classes, "groups": names},
            "class_shares": (total / total.sum()).tolist(), "prevalence": prevalence,
            "rows": {"train": len(data.train), "test": len(data.test)}, "test_rows": counted.tolist(),
            "features": n_features, "seed": datasets.SEED, "versions": versions(),
            "classifiers": [{"name": name, **setting} for name, setting, _ in rows]}


def coordinate_names(classes, groups):
    pairs = [f"{a}>{b}" for a in classes for b in classes if a != b]
    return [f"{g}:{pair}" for g in groups for pair in pairs] if groups else pairs


def replace(path, text):
    """Whole or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text)
    part.replace(path)


def write(folder, pool, about, values):
    layout = about["layout"]
    lines = [",".join(["name", *coordinate_names(layout["classes"], layout["groups"])])]
    lines += [",".join([c["name"], *map(repr, row.tolist())]) for c, row in zip(about["classifiers"], values)]
    rows = [json.dumps(c) for c in about.pop("classifiers")]
    text = json.dumps(about, indent=1)[:-2] + ',\n "classifiers": [\n  ' + ",\n  ".join(rows) + "\n ]\n}\n"
    replace(folder / f"{pool}.csv", "\n".join(lines) + "\n")
    replace(folder / f"{pool}.json", text)  # last: a pool with its description is complete
    say(f"  {folder / pool}.csv: {len(rows)} classifiers, {values.shape[1]} rates each")


def pools_of(name):
    """The pools that a data set makes: one for each grouping, and one of everybody."""
    groupings = {"credit_default": ["credit_default"], "adult": ["adult", "adult_gender"],
                 "wine_quality": ["wine_quality"], "communities_crime": ["communities_crime"]}.get(name, [])
    return groupings, f"{name}_overall" if groupings else name


def build(name, folder, quick):
    data = datasets.load(name)
    trained, n_features = train_all(data, quick)
    truth, k = data.label[data.test], len(data.classes)
    groupings, everybody = pools_of(name)
    finished = []
    for pool in groupings:
        names, of, _ = data.groupings[pool]
        rows = trained.rows + shift_all(data, pool, quick).rows
        values = np.array([group_rates(data, pool, decided) for _, _, decided in rows])
        finished.append((pool, describe(data, n_features, names, of[data.test], rows), values))
    about = describe(data, n_features, [], np.zeros(len(truth), dtype=int), trained.rows)
    finished.append((everybody, about, np.array([rates(decided, truth, k) for _, _, decided in trained.rows])))
    for pool, about, values in finished:
        if not quick and len(values) < LEAST:
            raise SystemExit(f"{pool}: only {len(values)} classifiers differ, {LEAST} are wanted")
        write(folder, pool, about, values)


def main():
    parser = argparse.ArgumentParser(description="Builds the pools of real classifiers in data/pools.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(datasets.DATASETS)}; all without")
    parser.add_argument("--again", action="store_true", help="also build pools that exist")
    parser.add_argument("--quick", action="store_true", help="three quick classifiers a pool; needs --out")
    parser.add_argument("--out", type=pathlib.Path, default=HOME, help="folder of the pools (data/pools)")
    words = parser.parse_args()
    unknown = [name for name in words.names if name not in datasets.DATASETS]
    if unknown:
        parser.error(f"there is no data set {unknown[0]} here; there are {', '.join(datasets.DATASETS)}")
    if words.quick and words.out.resolve() == HOME:
        parser.error("--quick needs --out FOLDER: three classifiers are no pool")
    warnings.filterwarnings("ignore", module="sklearn")  # settings that stop early are meant to
    words.out.mkdir(parents=True, exist_ok=True)
    for name in words.names or datasets.DATASETS:
        groupings, everybody = pools_of(name)
        if not words.again and all((words.out / f"{pool}.json").exists() for pool in [*groupings, everybody]):
            say(f"{name}: is there already (--again builds it anew)")
            continue
        begin = time.monotonic()
        try:
            build(name, words.out, words.quick)
        except datasets.Missing as missing:
            say(f"{name}: left out; {missing}")
            continue
        say(f"  done in {time.monotonic() - begin:.0f} s")


if __name__ == "__main__":
    main()
