"""One split of a task: models, files for the program, and the value of every method on the test rows."""

import csv

import numpy as np

import blackbox_learners as learn
from blackbox_tasks import WIDTH, one_hot

PARTS = ("train", "val", "test")
EPSILONS = (1, 0.4, 0.1, 0.01, 0.001, 0.0001)  # the thesis' grid
RATES = (0.1, 1.0)  # of adaptive surrogates, inner and outer


def value_of(metric, grouped, classes, part, chance):
    """The metric of predictions with these chances."""
    if part.known is None:
        groups = sorted(set(part.group)) if grouped else [None]
        part.known = (learn.codes(classes, part.label), [np.ones(len(part.label), bool) if g is None else part.group == g for g in groups])
    true, inside = part.known
    right = chance[np.arange(len(true)), true]
    if metric == "accuracy":
        return float(right.mean())
    if metric == "g-mean":
        recall = [right[rows & (true == i)].mean() for rows in inside for i in range(len(classes))]
        return float(np.prod(recall) ** (1 / len(recall)))
    f1 = lambda rows, i: 2 * chance[rows & (true == i), i].sum() / (chance[rows, i].sum() + (rows & (true == i)).sum())
    if metric == "group-f1":
        return float(np.mean([f1(rows, len(classes) - 1) for rows in inside]))
    return float(np.mean([f1(inside[0], i) for i in range(len(classes))]))  # macro-f1


class Bench:
    """Files of one split in a folder, and what is made of them. Models are called "sgd" (the thesis' training) and "own" (the
    program's); with -val: trained on the validation rows."""

    def __init__(self, shop, task, parts, seed):
        self.shop, self.task, self.parts = shop, task, dict(zip(PARTS, parts))
        self.classes = sorted(set(parts[0].label))
        self.k = len(self.classes)
        self.seed, self.rng = seed, np.random.Generator(np.random.PCG64(seed))
        self.x = dict(zip(PARTS, one_hot(parts)))
        self.y = {name: learn.codes(self.classes, part.label) for name, part in self.parts.items()}
        self.held = {"train": self.rng.random(len(self.y["train"])) < 0.33, "val": self.rng.random(len(self.y["val"])) < 0.2}
        self.p = {}
        for name, part in self.parts.items():
            self.write(f"y_{name}.csv", {"y": part.label})
            if part.group is not None:
                self.write(f"g_{name}.csv", {"g": part.group})
            self.write(f"f_{name}.csv", self.features(part))

    def path(self, name):
        return self.shop.folder / name

    def write(self, name, columns):
        with open(self.path(name), "w", newline="") as file:
            out = csv.writer(file)
            out.writerow(columns)
            out.writerows(zip(*(np.asarray(values).tolist() for values in columns.values())))

    def features(self, part):
        """What basis functions read: the columns that they name, or the embedding."""
        named = {word.split("=")[0] for basis in self.task.bases if "columns:" in basis
                 for word in basis.split("columns:")[1].split(",")}
        if named:
            return {c: part.table[c] for c in sorted(named)}
        if part.embedding is not None:
            return {f"e{j}": part.embedding[:, j] for j in range(part.embedding.shape[1])}
        return {"none": np.zeros(len(part.label), int)}

    def value(self, chance, part="test"):
        return value_of(self.task.metric, self.task.grouped, self.classes, self.parts[part], chance)

    def decide(self, p, part="test"):
        return self.value(np.eye(self.k)[np.argmax(p, 1)], part)

    # --- models

    def kept(self, part, held):
        rows = self.held[part] == held
        return self.x[part][rows], self.y[part][rows]

    def keep(self, name, p):
        """Probabilities of a model, for the program."""
        self.p[name] = dict(zip(PARTS, p))
        for part, values in self.p[name].items():
            np.save(self.path(f"{name}_{part}.npy"), values)

    def keep_coefficients(self, name, w):
        self.keep(name, [learn.softmax(self.x[part] @ w) for part in PARTS])
        return w

    def train_sgd(self):
        self.base = self.keep_coefficients("sgd", learn.sgd(*self.kept("train", False), self.k, self.kept("train", True), self.rng))
        self.keep_coefficients("sgd-val", learn.sgd(*self.kept("val", False), self.k, self.kept("val", True), self.rng))

    def train_own(self):
        for part, rows in self.parts.items():
            self.write(f"x_{part}.csv", {**{c: rows.table[c] for c in rows.read}, "label": rows.label})
        for source, name in (("train", "own"), ("val", "own-val")):
            self.shop.call("train", "--data", self.path(f"x_{source}.csv"), "--label", "label", "--test-share", 0, "--out",
                           self.path("model.json"), "--threads", 1)
            p = []
            for part in PARTS:
                self.shop.call("predict", "--model", self.path("model.json"), "--data", self.path(f"x_{part}.csv"), "--out",
                               self.path("p.npy"))
                p.append(np.load(self.path("p.npy")))
            present = sorted(set(self.parts[source].label))
            if present != self.classes:
                p = [np.stack([q[:, present.index(c)] if c in present else np.zeros(len(q)) for c in self.classes], 1) for q in p]
            self.keep(name, p)

    def calibrate(self, name):
        """A model's probabilities corrected on the training rows that it was not fitted to."""
        held = self.held["train"]
        self.keep(f"{name}-cal", learn.calibrated(self.p[name]["train"][held], self.y["train"][held], self.p[name].values()))

    # --- methods

    def optimise(self, model, *more, train="train", bases=()):
        """The program's optimise, and the value of its classifier on the test rows."""
        groups = ("--validation-groups", self.path("g_val.csv")) if self.task.grouped else ()
        words = ["optimise", "--probs", self.path(f"{model}_{train}.npy"), "--labels", self.path(f"y_{train}.csv"),
                 "--validation-probs", self.path(f"{model}_val.npy"), "--validation-labels", self.path("y_val.csv"), *groups,
                 "--metric", self.task.metric, "--out", self.path("c.json"), "--threads", 1, *more]
        for basis in bases:
            words += ["--basis", basis]
        if bases:
            words += ["--features", self.path("f_train.csv"), "--validation-features", self.path("f_val.csv")]
        self.found = self.shop.call(*words)
        weighted = self.found["basis"] != ["default"]
        self.shop.call("predict", "--classifier", self.path("c.json"), "--probs", self.path(f"{model}_test.npy"), "--chances", "--out",
                       self.path("chances.npy"), *(("--features", self.path("f_test.csv")) if weighted else ()))
        return self.value(np.load(self.path("chances.npy")))

    def with_probabilities(self, name):
        """Methods that need a model's probabilities and nothing else."""
        task, ours = self.task, "PI-EW" if self.task.linear else "FW-EG"
        method = ("--method", "pi-ew") if task.linear else ()
        val = f"{name}-val"
        got = {"cross-entropy [train]": self.decide(self.p[name]["test"]), "cross-entropy [val]": self.decide(self.p[val]["test"])}
        if task.known and not task.linear:
            got["opt-metric [val]"] = self.optimise(val, "--known", train="val")
        got["plug-in [train-val]"] = self.optimise(name, "--method", "plug-in", "--thesis", "rounds=0")
        if self.k > 2:
            got["plug-in [train-val], all classes"] = self.optimise(name, "--method", "plug-in")
        got[f"{ours}, one function"] = self.optimise(name, *method)
        got[f"{ours}, all functions"] = self.optimise(name, *method, bases=task.bases[-1:])
        got[f"{ours}, cross-fitted"] = self.optimise(name, *method, bases=task.bases)
        if task.known and not task.linear:
            got[f"{ours}, cross-fitted, known gradient"] = self.optimise(name, "--known", bases=task.bases)
        if task.key in ("cifar", "proxy"):
            grid = [word for e in EPSILONS for word in ("--thesis", f"epsilon={e}")]
            got[f"{ours}, cross-fitted, the thesis' grid of epsilon"] = self.optimise(name, *method, *grid, bases=task.bases)
        if self.k > 2:
            got[f"{ours}, the whole matrix"] = self.optimise(name, *method, "--thesis", "matrix=whole")
        if self.k > 2 and not task.linear:
            got[f"{ours}, the whole matrix, line search"] = self.optimise(name, "--thesis", "matrix=whole", "--thesis", "step=line")
        return got

    def retrained(self):
        """Methods that train a model of their own, from the thesis' one where they begin with one."""
        clean, watch = self.kept("val", False), self.kept("val", True)
        x, y, test = self.x["train"], self.y["train"], self.x["test"]
        decide = lambda w: self.decide(test @ w)
        got = {"fine-tuning": decide(learn.fine_tuned(self.base, *clean, watch, self.rng)),
               "learn-to-reweight": decide(learn.learned_weights(x, y, clean, watch, self.rng)),
               "forward correction": decide(learn.forward_corrected(self.base, x, y))}
        if not self.task.linear:
            got["importance weights"] = decide(learn.importance_weighted(x, y, (self.x["val"], self.y["val"]), self.base))
        if self.task.shift:
            weight = learn.mean_matched(self.parts["train"].embedding, self.parts["val"].embedding, WIDTH, self.rng)
            got["importance weights [KMM]"] = decide(learn.fit(x, y, self.k, start=self.base, weight=weight))
        if self.task.clusters:
            got["adaptive surrogates"] = self.adaptive(self.task.clusters)
        return got

    def cluster_columns(self, named):
        table = self.parts["train"].table
        return [table[word.split("=")[0]] == word.split("=")[1] for word in named]

    def surrogates(self, clusters, outer, inner, rng=None):
        """One run of adaptive surrogates: the model, its value on the validation rows."""
        value = lambda theta: np.array([self.value(self.relative(theta[..., m], "val"), "val") for m in range(theta.shape[2])])
        return learn.adaptive_surrogates(self.x["train"], self.y["train"], self.k, self.cluster_columns(clusters), self.base[:, 1:] - self.base[:, :1], value,
                                         self.rng if rng is None else rng, outer, inner)

    def relative(self, theta, part):
        """Decisions of coefficients that are relative to the first class."""
        return np.eye(self.k)[np.argmax(np.c_[np.zeros(len(self.y[part])), self.x[part] @ theta], 1)]

    def adaptive(self, clusters, rng=None):
        """Learning rates on the richest clusters, then the clusters, by the validation rows."""
        rates = [(outer, inner) for outer in RATES for inner in RATES]
        tried = {rate: self.surrogates(clusters[-1], *rate, rng) for rate in rates}
        rate = max(tried, key=lambda r: tried[r][1])
        best = max([tried[rate], *(self.surrogates(c, *rate, rng) for c in clusters[:-1])], key=lambda found: found[1])
        return self.value(self.relative(best[0], "test"))

    # --- methods that the thesis does not report for a task, with random numbers of their own

    def informed(self, name):
        """Methods that know the metric."""
        ours, method = ("PI-EW", ("--method", "pi-ew")) if self.task.linear else ("FW-EG", ())
        return {"opt-metric [val]": self.optimise(f"{name}-val", *method, "--known", train="val"),
                f"{ours}, cross-fitted, known gradient": self.optimise(name, *method, "--known", bases=self.task.bases)}

    def further(self):
        """{method: (value with the thesis' training, value with the program's model or None)}"""
        task, x, y, got = self.task, self.x["train"], self.y["train"], {}
        decide = lambda w: self.decide(self.x["test"] @ w)
        if task.known and not task.linear and task.clusters:
            return got
        self.train_sgd()
        if task.linear or not task.known:
            got = {method: [value] for method, value in self.informed("sgd").items()}
            if not task.linear:
                self.train_own()
            for method, value in self.informed("own").items() if not task.linear else ():
                got[method].append(value)
        if task.linear:
            got["importance weights"] = [decide(learn.importance_weighted(x, y, (self.x["val"], self.y["val"]), self.base))]
        if not task.clusters:
            got["adaptive surrogates"] = [self.adaptive([[]], np.random.Generator(np.random.PCG64([self.seed, 2])))]
        return {method: (values + [None])[:2] for method, values in got.items()}

    def all(self):
        """{method: (value with the thesis' training, value with the program's model or None)}"""
        self.train_sgd()
        self.train_own()
        sgd, own = self.with_probabilities("sgd"), self.with_probabilities("own")
        got = {method: (sgd[method], own[method]) for method in sgd}
        got.update({method: (value, None) for method, value in self.retrained().items()})
        self.calibrate("sgd")
        ours = "PI-EW" if self.task.linear else "FW-EG"
        method = ("--method", "pi-ew") if self.task.linear else ()
        got[f"{ours}, one function, calibrated model"] = (self.optimise("sgd-cal", *method), None)
        return got
