"""The tasks of chapter 7: which rows train, validate and test, what the metric is, and what the thesis reports."""

import csv
import dataclasses
import functools
import gzip
import importlib.util
import os
import pathlib

import numpy as np

from workshop import bundled


WIDTH = 2.0  # of radial functions, as in the thesis


@dataclasses.dataclass
class Part:
    """Rows: columns by name, those that the model may read, labels, groups, and coordinates for radial functions."""

    table: dict
    read: list
    label: np.ndarray
    group: np.ndarray = None
    embedding: np.ndarray = None
    known: tuple = None  # codes of the labels and rows of each group, once they were needed


@dataclasses.dataclass
class Task:
    key: str
    title: str
    metric: str  # as `melicit optimise` calls it
    grouped: bool  # the metric is about groups
    bases: list  # sets of basis functions, the richest last
    known: bool  # the gradient of the metric may be used
    split: object  # seed -> [train, validation, test], or None: the data are not there
    thesis: dict
    why: str = ""  # what the page says about differences
    clusters: list = dataclasses.field(default_factory=list)  # columns that adaptive surrogates are computed on; none: not run
    shift: bool = False  # kernel mean matching is a baseline
    linear: bool = False  # PI-EW instead of FW-EG
    network: bool = False  # the model is a convolutional network
    stands_for: dict = dataclasses.field(default_factory=dict)  # what the thesis reports for data that are not available


def skipped(what):
    print(f"    skipped: {what} is not in the folder MELICIT_DATA", flush=True)


def outside(name):
    """A data set without a stated licence: in the folder MELICIT_DATA or not at all."""
    folder = os.environ.get("MELICIT_DATA")
    path = pathlib.Path(folder or ".") / f"{name}.csv.gz"
    if folder is None or not path.exists():
        skipped(path.name)
        return None
    return path


def read(path):
    with gzip.open(path, "rt", newline="") as file:
        head, *rows = csv.reader(file)
    return {column: np.array([row[i] for row in rows]) for i, column in enumerate(head)}


def take(table, rows):
    return {name: values[rows] for name, values in table.items()}


def shuffled(seed, n):
    return np.random.Generator(np.random.PCG64(seed)).permutation(n)


# --- Adult

def cut(values, edges):
    """Right-closed intervals by number, as texts."""
    return np.char.add("q", np.searchsorted(edges[1:-1], values.astype(float), side="left").astype(str))


def adult():
    """As the authors' program: fnlwgt and marital status unused, numbers in classes, "?" a category."""
    train, test = read(bundled("adult_train")), read(bundled("adult_test"))
    quartile = np.quantile(train["age"].astype(float), [0, 0.25, 0.5, 0.75, 1])
    edges = {"age": quartile, "capital_gain": [-1, 1, 4000, 10000, 100000], "capital_loss": [-1, 1, 1800, 1950, 4500],
             "hours_per_week": [0, 39, 41, 50, 100], "education_num": [0, 8, 9, 11, 16]}
    out = []
    for part in (train, test):
        made = {name: np.where(values == "?", "unknown", values) for name, values in part.items()
                if name not in ("fnlwgt", "marital_status")}
        made["years"] = part["age"]
        made.update({name: cut(part[name], e) for name, e in edges.items()})
        made["workclass"] = np.where(part["workclass"] == "Private", "private", "non-private")
        made["income"] = np.where(made.pop("label") == "1", "high", "low")
        out.append(made)
    return out


def proxy(seed):
    """The label is "male"; training rows only know "husband"."""
    train, test = adult()
    order = shuffled(seed, len(test["sex"]))
    n = len(order) // 100
    parts = [train, take(test, order[:n]), take(test, order[n:])]
    male = [np.where(p["sex"] == "Male", "male", "other") for p in parts]
    male[0] = np.where(train["relationship"] == "Husband", "male", "other")
    columns = [c for c in train if c not in ("sex", "relationship", "years")]
    return [Part(p, columns, y) for p, y in zip(parts, male)]


def income(seed):
    """The label is a high income; the metric is about the sexes, which the learner never sees."""
    train, test = adult()
    order = shuffled(seed, len(test["sex"]))
    n = len(order) // 10
    columns = [c for c in train if c not in ("sex", "income", "years")]
    return [Part(p, columns, np.where(p["income"] == "high", "yes", "no"), p["sex"])
            for p in (train, take(test, order[:n]), take(test, order[n:]))]


def one_hot(parts):
    """The same columns for all parts, with a constant: every category of the training rows, and numbers standardised."""
    blocks = [[np.ones((len(p.label), 1))] for p in parts]
    for c in parts[0].read:
        column = parts[0].table[c]
        try:
            number = column.astype(float)
            centre, spread = number.mean(), number.std() or 1.0
            for block, part in zip(blocks, parts):
                block.append(((part.table[c].astype(float) - centre) / spread)[:, None])
        except ValueError:
            kinds = np.unique(column)
            for block, part in zip(blocks, parts):
                block.append((part.table[c][:, None] == kinds[None]).astype(float))
    return [np.hstack(block) for block in blocks]


def add_radial(parts, name, centre_of, width):
    """Own basis functions: the mean over the validation rows of a kind of exp(-distance^2/(2 width^2)), one column per kind."""
    validation = parts[1]
    for number, kind in enumerate(sorted(set(centre_of))):
        centres = validation.embedding[centre_of == kind]
        for part in parts:
            square = (part.embedding ** 2).sum(1)[:, None] + (centres ** 2).sum(1)[None] - 2 * part.embedding @ centres.T
            near = np.exp(-np.maximum(square, 0) / (2 * width ** 2)).mean(1)
            if part is validation:  # a row is no centre of itself: it would tell its class
                n, own = len(centres), centre_of == kind
                near[own] = (n * near[own] - 1) / max(n - 1, 1)
            part.table[f"{name}{number}"] = np.clip(near, 0, 1)
    return parts


def principal(x, n):
    """Coordinates on the first principal components, of unit variance together."""
    mean = x[0].mean(0)
    _, axes = np.linalg.eigh((x[0] - mean).T @ (x[0] - mean))
    made = [(part - mean) @ axes[:, :-n - 1:-1] for part in x]
    scale = np.sqrt((made[0] ** 2).sum(1).mean())
    return [part / scale for part in made]


def embedded(x, n):
    """Coordinates for radial functions of width 2: UMAP where it is installed (Debian: umap-learn) and the rows are few, else principal
    components, four times as wide."""
    if sum(map(len, x)) > 10000 or importlib.util.find_spec("umap") is None:
        return [4 * part for part in principal(x, n)]
    import umap
    made = umap.UMAP(n_components=n, random_state=1).fit_transform(np.vstack(x))
    return np.split(made, np.cumsum([len(part) for part in x])[:-1])


def adult_ages(seed, share=0.2, rows=None):
    """Trained on ages up to 45, tested on 55 and over; a fifth of the latter validates, or `rows` of one half."""
    table = {name: np.concatenate([a, b]) for (name, a), b in zip(adult()[0].items(), adult()[1].values())}
    years = table["years"].astype(int)
    young, old = np.flatnonzero(years <= 45), np.flatnonzero(years >= 55)
    old = old[shuffled(seed, len(old))]
    n = int(share * len(old))
    cuts = (young, old[:n], old[n:]) if rows is None else (young, old[:len(old) // 2][:rows], old[len(old) // 2:])
    columns = [c for c in table if c not in ("income", "age", "years")]
    parts = [Part(take(table, r), columns, np.where(table["income"][r] == "high", "yes", "no")) for r in cuts]
    for part, embedding in zip(parts, embedded([x[:, 1:] for x in one_hot(parts)], 10)):
        part.embedding = embedding
    older = np.where(parts[1].table["years"].astype(int) >= 65, "65", "55")
    add_radial(parts, "near", parts[1].label, WIDTH)
    return add_radial(parts, "old", np.char.add(parts[1].label, older), WIDTH)


# --- further tables

def in_classes(parts):
    """As with Adult: numbers with more than a dozen values in tenths of the training rows; those with fewer are categories."""
    for c in parts[0].read:
        try:
            number = parts[0].table[c].astype(float)
        except ValueError:
            continue
        few = len(np.unique(number)) <= 12
        edges = np.unique(np.quantile(number, np.arange(1, 10) / 10))
        for part in parts:
            values = part.table[c]
            part.table[c] = np.char.add("q", values if few else np.searchsorted(edges, values.astype(float)).astype(str))
    return parts


def thirds(table, columns, group, seed):
    """A third of the rows tests, a tenth of the rest validates."""
    order = shuffled(seed, len(table["label"]))
    n = len(order)
    return [Part(p, columns, np.where(p["label"] == "1", "yes", "no"), p[group])
            for p in (take(table, r) for r in np.split(order, [6 * n // 10, 2 * n // 3]))]


def default(seed):
    table = read(bundled("credit_default"))
    return in_classes(thirds(table, [c for c in table if c not in ("label", "SEX")], "SEX", seed))


def compas(seed):
    path = outside("compas_two_years")
    if path is None:
        return None
    table = read(path)
    table = take({c: v for c, v in table.items() if not c.startswith("meta_") or c == "meta_propublica_filter"},
                 table["meta_propublica_filter"] == "1")
    table["race"] = np.where(table["race"] == "African-American", "African-American", "other")
    return in_classes(thirds(table, [c for c in table if c not in ("label", "sex", "meta_propublica_filter")], "sex", seed))


@functools.lru_cache
def both_domains(path):
    """Domains, labels, rows of length 1, and their embedding, which looks at no label."""
    table = read(path)
    x = np.stack([table[c] for c in table if c not in ("label", "meta_domain")], 1).astype(float)
    x /= np.sqrt((x ** 2).sum(1, keepdims=True))
    return table["meta_domain"], np.char.add("c", table["label"]), x, embedded([x], 10)[0]


def domains(name, source, target):
    """Trained on one domain, a fifth of another one validates, the rest of it tests. The model reads 50 principal components."""
    def split(seed):
        path = outside(name)
        if path is None:
            return None
        domain, label, x, embedding = both_domains(path)
        there = np.flatnonzero(domain == target)
        there = there[shuffled(seed, len(there))]
        cuts = (np.flatnonzero(domain == source), there[:len(there) // 5], there[len(there) // 5:])
        names = [f"x{j}" for j in range(50)]
        return [Part(dict(zip(names, m.T)), names, label[r], embedding=embedding[r])
                for m, r in zip(principal([x[r] for r in cuts], 50), cuts)]
    return split


# The columns are principal components, of which the first 50 make the embedding.
CIFAR = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
FLIPS = {"truck": "automobile", "bird": "airplane", "deer": "horse", "cat": "dog", "dog": "cat"}


def cifar(seed, chance=0.6):
    """2% of the training images validate, labels of the others flip with this chance."""
    paths = [outside(f"cifar10_features_{part}") for part in ("train", "test")]
    if None in paths:
        return None
    numbers = []
    for path in paths:
        with gzip.open(path, "rt") as file:
            columns = file.readline().strip().split(",")
            numbers.append(np.loadtxt(file, delimiter=",", dtype=np.int16))
    names, at = [c for c in columns if c != "label"], columns.index("label")
    feature = [np.delete(x, at, 1) for x in numbers]
    label = [np.array(CIFAR)[x[:, at]] for x in numbers]
    order = shuffled(seed, len(label[0]))
    cuts = [(0, order[len(order) // 50:]), (0, order[:len(order) // 50]), (1, np.arange(len(label[1])))]
    spread = np.sqrt((feature[0][:, :50].astype(float) ** 2).sum(1).mean())
    parts = [Part({c: feature[i][r, j] for j, c in enumerate(names)}, names, label[i][r],
                  embedding=4 * feature[i][r, :50] / spread) for i, r in cuts]
    flip = np.random.Generator(np.random.PCG64(1000 + seed)).random(len(parts[0].label)) < chance
    parts[0].label = np.array([FLIPS.get(y, y) if f else y for y, f in zip(parts[0].label, flip)])
    return parts


FEW = "Baselines that differ from the thesis: see \"Why baselines differ\" below."
POST = "Ours is behind methods that train on labels of the other domain: see \"Why FW-EG is behind\" below."
ROWS = "See \"Why macro F differs\" below."

# Table 7.5, F-measure on faces.
FACES = {"cross-entropy [train]": 0.760, "cross-entropy [val]": 0.708, "opt-metric [val]": 0.760, "plug-in [train-val]": 0.759, "importance weights [KMM]": 0.760,
         "learn-to-reweight": 0.773, "fine-tuning": 0.781, "FW-EG, cross-fitted": 0.815, "FW-EG, cross-fitted, known gradient": 0.804}
PW = "columns:workclass=private,workclass=non-private"
HUSBAND = "relationship=Husband,relationship=Wife"
TASKS = [
    Task("cifar", "Label noise on CIFAR-10, accuracy (table 7.3)", "accuracy", False, ["default", "rbf:2"], True, cifar,
         {"cross-entropy [train]": 0.582, "cross-entropy [val]": 0.386, "learn-to-reweight": 0.651, "plug-in [train-val]": 0.733,
          "forward correction": 0.757, "fine-tuning": 0.769, "PI-EW, cross-fitted": 0.781}, linear=True),
    Task("cifar-network", "The same with a convolutional network (table 7.3)", "accuracy", False, ["default", "rbf:2"], True, cifar,
         {"cross-entropy [train]": 0.582, "cross-entropy [val]": 0.386, "plug-in [train-val]": 0.733, "PI-EW, cross-fitted": 0.781},
         "Three convolutional layers on images of 16 x 16, six epochs, the one with the least log-loss on rows kept apart; a split takes four minutes of a processor. Baselines that train the network again are not run.",
         linear=True, network=True),
    Task("proxy", "Proxy labels on Adult, G-mean (table 7.4)", "g-mean", False,
         ["default", f"default+{PW}", f"default+{PW},income=high"], True, proxy,
         {"cross-entropy [train]": 0.654, "cross-entropy [val]": 0.394, "opt-metric [val]": 0.652, "learn-to-reweight": 0.668,
          "plug-in [train-val]": 0.672, "forward correction": 0.214, "fine-tuning": 0.631, "importance weights": 0.662,
          "adaptive surrogates": 0.682, "FW-EG, cross-fitted": 0.685, "FW-EG, cross-fitted, known gradient": 0.685},
         why=FEW,
         clusters=[[], ["workclass=private", "workclass=non-private"], ["workclass=private", "workclass=non-private", "income=high"]]),
    Task("ages", "Domain shift on Adult, ages up to 45 to 55 and over, macro F (in place of table 7.5)", "macro-f1", False,
         ["default", "default+columns:near0,near1", "default+columns:old0,old1,old2,old3"], True, adult_ages, {}, shift=True, stands_for=FACES),
    Task("digits", "Domain shift, MNIST to USPS, macro F (in place of table 7.5)", "macro-f1", False, ["default", "default+rbf:2"], True,
         domains("mnist_usps_16x16", "mnist", "usps"), {}, POST, shift=True, stands_for=FACES),
    Task("office", "Domain shift, Office-Caltech, caltech to amazon, macro F (in place of table 7.5)", "macro-f1", False,
         ["default", "default+rbf:2"], True, domains("office_caltech10_surf", "caltech", "amazon"), {}, POST, shift=True, stands_for=FACES),
    Task("fairness", "Black-box fairness on Adult, G-mean of four recalls (table 7.6)", "g-mean", True,
         ["default", f"default+{PW}", f"default+{PW},{HUSBAND}"], False, income,
         {"cross-entropy [train]": 0.736, "cross-entropy [val]": 0.610, "learn-to-reweight": 0.729, "plug-in [train-val]": 0.812,
          "fine-tuning": 0.738, "adaptive surrogates": 0.812, "FW-EG, cross-fitted": 0.822}, why=FEW,
         clusters=[[], ["workclass=private", "workclass=non-private"],
                   ["workclass=private", "workclass=non-private", "relationship=Husband", "relationship=Wife"]]),
    Task("macro-compas", "Macro F on COMPAS (appendix E, mean of the positive class's F1 over the sexes)", "group-f1", True,
         ["default", "default+columns:race=African-American,c_charge_degree=F"], False, compas,
         {"adaptive surrogates": 0.629, "FW-EG, cross-fitted": 0.652},
         "The 6,172 rows of the published analysis. " + ROWS, clusters=[[], ["race=African-American", "c_charge_degree=F"]]),
    Task("macro-adult", "Macro F on Adult (appendix E)", "group-f1", True,
         ["default", f"default+{PW}", f"default+{PW},{HUSBAND}"], False, income,
         {"adaptive surrogates": 0.665, "FW-EG, cross-fitted": 0.670},
         clusters=[[], ["workclass=private", "workclass=non-private"],
                   ["workclass=private", "workclass=non-private", "relationship=Husband", "relationship=Wife"]]),
    Task("macro-default", "Macro F on Default (appendix E)", "group-f1", True,
         ["default", "default+columns:EDUCATION=university,EDUCATION=graduate_school"], False, default,
         {"adaptive surrogates": 0.533, "FW-EG, cross-fitted": 0.536}, ROWS,
         clusters=[[], ["EDUCATION=university", "EDUCATION=graduate_school"]]),
]
