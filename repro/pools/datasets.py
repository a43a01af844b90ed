"""The data sets of the pools: rows, classes, groups, and the split that every classifier of a pool shares.

Six public data sets (sources and licences: data/pools/README.md), gzip-compressed CSV with a `label` column: five are
bundled in data/, covtype is drawn from the larger covtype_sample.csv.gz in the folder MELICIT_DATA."""

import csv
import dataclasses
import gzip
import hashlib
import os
import pathlib
import zlib

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEED = 60
TRAIN_SHARE = 0.6


def stream(*parts):
    """Random numbers that depend on the words given and on nothing else, so any part can be rebuilt alone."""
    return np.random.default_rng([SEED, *(zlib.crc32(str(part).encode()) for part in parts)])


@dataclasses.dataclass
class Data:
    """Rows with their classes 0..k-1 and, for each grouping, the group 0..m-1 of each row."""

    name: str
    files: list
    columns: dict  # name: array of numbers, or of texts (a missing text is "?")
    label: np.ndarray
    classes: list
    groupings: dict = dataclasses.field(default_factory=dict)  # pool: (group names, group of each row, columns it is from)
    notes: list = dataclasses.field(default_factory=list)  # what was done to the rows, in sentences
    train: np.ndarray = None  # row numbers
    test: np.ndarray = None

    def keep(self, rows):
        self.columns = {name: values[rows] for name, values in self.columns.items()}
        self.label = self.label[rows]
        self.groupings = {pool: (names, of[rows], used) for pool, (names, of, used) in self.groupings.items()}


class Missing(Exception):
    """A file that is neither bundled nor in the folder MELICIT_DATA."""


def find(name):
    folders = [ROOT / "data", os.environ.get("MELICIT_DATA")]
    for path in (pathlib.Path(folder) / f"{name}.csv.gz" for folder in folders if folder):
        if path.exists():
            return path
    raise Missing(f"put {name}.csv.gz (see data/pools/README.md for its source) into a folder and set MELICIT_DATA to it")


def read(name):
    """Columns of a file as arrays: of numbers where every cell that is not missing is one, else of texts."""
    path = find(name)
    with gzip.open(path, "rt", newline="") as file:
        header, *rows = csv.reader(file)
    columns = {}
    for at, column in enumerate(header):
        cells = [row[at] for row in rows]
        try:
            columns[column] = np.array([np.nan if cell == "?" else float(cell) for cell in cells])
        except ValueError:
            columns[column] = np.array(cells)
    return columns, {"file": path.name, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}


def by_quantile(values):
    """Three classes: up to the first third's quantile, up to the second third's, above."""
    low, high = np.quantile(values, [1 / 3, 2 / 3])
    return (values > low).astype(int) + (values > high), low, high


def credit_default():
    columns, file = read("credit_default")
    label = columns.pop("label").astype(int)
    of = (columns["SEX"] == "male").astype(int)
    return Data("credit_default", [file], columns, label, ["pays", "defaults"],
                {"credit_default": (["female", "male"], of, ["SEX"])})


def adult():
    first, one = read("adult_train")
    second, two = read("adult_test")
    columns = {name: np.concatenate([first[name], second[name]]) for name in first}
    label = columns.pop("label").astype(int)
    race = np.select([columns["race"] == "White", columns["race"] == "Black"], [0, 1], 2)
    sex = (columns["sex"] == "Male").astype(int)
    notes = ["Both files are joined and split anew; missing texts are a category of their own.",
             "The races Asian-Pac-Islander, Amer-Indian-Eskimo and Other make the third group."]
    return Data("adult", [one, two], columns, label, ["upto50K", "over50K"],
                {"adult": (["white", "black", "other"], race, ["race"]),
                 "adult_gender": (["female", "male"], sex, ["sex"])}, notes)


def wine_quality():
    columns, file = read("wine_quality")
    label, low, high = by_quantile(columns.pop("label") + 3)
    of = (columns["type"] == "white").astype(int)
    notes = [f"Classes by the terciles of the quality score: up to {low:g}, up to {high:g}, above."]
    return Data("wine_quality", [file], columns, label, ["low", "middle", "high"],
                {"wine_quality": (["red", "white"], of, ["type"])}, notes)


def communities_crime():
    columns, file = read("communities_crime")
    label, low, high = by_quantile(columns["meta_ViolentCrimesPerPop"])
    share = np.column_stack([columns[c] for c in ("racePctWhite", "racepctblack", "racePctHisp", "racePctAsian")])
    of = share.argmax(axis=1)
    columns = {c: v for c, v in columns.items() if not c.startswith("meta_") and c != "label" and not np.isnan(v).any()}
    notes = [f"Classes by the terciles of ViolentCrimesPerPop: up to {low:g}, up to {high:g}, above.",
             "A community's group is the race with the largest of the data set's normalised percentages (white, black, "
             f"Hispanic, Asian; the first of equals); the {np.sum(of == 3)} where that is Asian are left out.",
             f"Features are the {len(columns)} columns without missing cells."]
    data = Data("communities_crime", [file], columns, label, ["low", "middle", "high"],
                {"communities_crime": (["white", "black", "hispanic"], of, [])}, notes)
    data.keep(of < 3)
    return data


def satellite():
    columns, file = read("satellite")
    label = columns.pop("label").astype(int)
    return Data("satellite", [file], columns, label,
                ["red_soil", "cotton_crop", "grey_soil", "damp_grey_soil", "vegetation_stubble", "very_damp_grey_soil"])


def covtype():
    columns, file = read("covtype_sample")
    label = columns.pop("label").astype(int)
    wanted = 80000
    data = Data("covtype", [file], columns, label,
                ["spruce_fir", "lodgepole_pine", "ponderosa_pine", "cottonwood_willow", "aspen", "douglas_fir", "krummholz"],
                notes=[f"{wanted} of the {len(label)} rows, drawn at random."])
    data.keep(np.sort(stream("covtype", "rows").permutation(len(label))[:wanted]))
    return data


DATASETS = {make.__name__: make for make in (credit_default, adult, wine_quality, communities_crime, satellite, covtype)}


def drop_empty_groups(data):
    """Rates need rows of every class in the test part: a group without is left out, with all its rows."""
    for pool, (names, of, used) in data.groupings.items():
        count = np.array([[np.sum((of[data.test] == g) & (data.label[data.test] == i)) for i in range(len(data.classes))]
                          for g in range(len(names))])
        full = count.min(axis=1) > 0
        for g in np.flatnonzero(~full):
            data.notes.append(f"{pool}: group {names[g]} is left out, it has no test rows of class "
                              f"{data.classes[int(count[g].argmin())]}.")
        if full.sum() < 2:
            raise SystemExit(f"{pool}: fewer than two groups have test rows of every class")
        code = np.full(len(names), -1)
        code[full] = np.arange(full.sum())
        data.groupings[pool] = ([n for n, kept in zip(names, full) if kept], code[of], used)


def load(name):
    """A data set with its split: 60% of the rows of each class and group train."""
    data = DATASETS[name]()
    strata = data.label.copy()
    for names, of, _ in data.groupings.values():
        strata = strata * len(names) + of
    rng = stream(name, "split")
    training = np.zeros(len(strata), dtype=bool)
    for stratum in np.unique(strata):
        rows = rng.permutation(np.flatnonzero(strata == stratum))
        training[rows[:round(TRAIN_SHARE * len(rows))]] = True
    data.train, data.test = np.flatnonzero(training), np.flatnonzero(~training)
    drop_empty_groups(data)
    return data


def features(data):
    """A matrix: numbers standardised by the training rows, a column of 0 and 1 for each text seen in training."""
    parts = []
    for values in data.columns.values():
        if values.dtype.kind == "f":
            centre, spread = values[data.train].mean(), values[data.train].std()
            parts.append((values - centre) / (spread if spread > 0 else 1.0))
        else:
            parts += [(values == text).astype(float) for text in np.unique(values[data.train])]
    return np.column_stack(parts)
