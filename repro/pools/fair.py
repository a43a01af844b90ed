"""Fairness-constrained plug-in classifiers: the program's logistic model, shifted group by group.

`melicit train` fits the class probabilities p(x) without the group, `melicit predict` gives them for all rows. A
classifier predicts the class j with the largest w[g][j] p_j(x), where the weights w of group g are found on the training
rows: those of its classes times exp(strength * shift_g), where the whole shift (strength 1) makes the group's decisions
like everybody's. `melicit predict --classifier` takes the decisions."""

import csv
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np

from datasets import ROOT

PROGRAM = pathlib.Path(os.environ.get("MELICIT_BUILD") or ROOT / "build").resolve() / "melicit"
# The later ones overshoot; they are reached where groups differ so little that smaller shifts change nothing.
STRENGTHS = [1.0, 0.0, 0.33, 0.67, 1.5, 2.0, 3.0, 4.0]


def candidates():
    """Settings in order. `rarity`: class weights share_i^-rarity before the shift; `equal`: what the shift makes alike."""
    return [{"rarity": rarity, "equal": equal, "strength": strength}
            for strength in STRENGTHS for rarity in (0.0, 1.0)
            for equal in (("decisions", "recall") if strength > 0 else ("nothing",))]


def call(*words):
    if not PROGRAM.exists():
        raise SystemExit(f"{PROGRAM} is not there: run make, or set MELICIT_BUILD to the folder of the build")
    run = subprocess.run([str(PROGRAM), *map(str, words), "--quiet"], capture_output=True, text=True)
    if run.returncode != 0:
        raise SystemExit(f"melicit {' '.join(map(str, words))}: {run.stderr.strip()}")


def write_table(path, data, rows, skip):
    kept = {name: values[rows] for name, values in data.columns.items() if name not in skip}
    with open(path, "w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow([*kept, "label"])
        out.writerows(zip(*(v.tolist() for v in kept.values()), data.label[rows].tolist()))


def recall(decided, truth, k):
    """Share of each class that is recognised, never quite 0 so that it has a logarithm."""
    hit = np.array([np.sum((decided == i) & (truth == i)) + 0.5 for i in range(k)])
    return hit / (np.bincount(truth, minlength=k) + 1.0)


def decisions(decided, _truth, k):
    """Share of each class among the decisions, never quite 0."""
    return (np.bincount(decided, minlength=k) + 0.5) / (len(decided) + 0.5 * k)


def whole_shift(p, truth, of, base, measure):
    """Per group the change of log weights after which its decisions (or recalls) are in everybody's proportion."""
    k, shifts = p.shape[1], []
    target = measure(np.argmax(p * base, axis=1), truth, k)
    for g in range(of.max() + 1):
        mine, shift = of == g, np.zeros(k)
        for step in range(200):
            now = measure(np.argmax(p[mine] * (base * np.exp(shift)), axis=1), truth[mine], k)
            change = np.log(target / now)
            shift += (change - change.mean()) / (2.0 + 0.1 * step)
        shifts.append(shift)
    return np.array(shifts)


class Shifted:
    """The plug-in classifiers of one pool."""

    def __init__(self, data, pool, folder):
        self.folder, self.names = pathlib.Path(folder), [str(i) for i in range(len(data.classes))]
        group_names, of, used = data.groupings[pool]
        self.groups = list(group_names)
        train, test = data.train[of[data.train] >= 0], data.test[of[data.test] >= 0]
        self.of, self.truth, self.n = of[train], data.label[train], len(data.test)
        self.kept = np.flatnonzero(of[data.test] >= 0)
        for part, rows in (("train", train), ("test", test)):
            write_table(self.folder / f"{part}.csv", data, rows, used)
        call("train", "--data", self.folder / "train.csv", "--test-share", 0, "--fit", "missing-category",
             "--out", self.folder / "model.json")
        for part in ("train", "test"):
            call("predict", "--model", self.folder / "model.json", "--data", self.folder / f"{part}.csv",
                 "--out", self.folder / f"{part}.npy")
        self.p = np.load(self.folder / "train.npy")
        (self.folder / "groups.csv").write_text("group\n" + "".join(f"{self.groups[g]}\n" for g in of[test]))
        self.share = np.bincount(self.truth) / len(self.truth)

    def decide(self, setting):
        """Decisions for the test rows; rows of a group that was left out get class 0 and are never counted."""
        base = self.share ** -setting["rarity"]
        weights = np.tile(base, (len(self.groups), 1))
        if setting["strength"] > 0:
            measure = {"decisions": decisions, "recall": recall}[setting["equal"]]
            weights = weights * np.exp(setting["strength"] * whole_shift(self.p, self.truth, self.of, base, measure))
        weights = weights / weights.sum(axis=1, keepdims=True)
        rule = {"gain": [np.diag(w).tolist() for w in weights], "share": 1.0}
        path = self.folder / "classifier.json"
        path.write_text(json.dumps({"format": "melicit-classifier", "version": 1, "classes": self.names,
                                    "groups": self.groups, "layout": {"kind": "rates", "coordinates": "offdiagonal"},
                                    "rules": [rule], "statistics": []}))
        call("predict", "--classifier", path, "--probs", self.folder / "test.npy",
             "--groups", self.folder / "groups.csv", "--out", self.folder / "decided.npy")
        decided = np.zeros(self.n, dtype=int)
        decided[self.kept] = np.load(self.folder / "decided.npy")
        return decided


def workbench():
    return tempfile.TemporaryDirectory(prefix="melicit-pools-")
