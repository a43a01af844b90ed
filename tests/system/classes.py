"""What the tests about more than two classes share: metric files, counting in NumPy."""
import json

import numpy

SOFTMAX = ("--population", "softmax:1,3,5")


def layout(kind, coordinates, k, groups=(), classes=None):
    return {"kind": kind, "coordinates": coordinates, "classes": list(classes or map(str, range(k))),
            "groups": list(groups)}


def metric_text(family, shape, orientation="utility", **coefficients):
    return json.dumps({"format": "melicit-metric", "version": 1, "family": family, "orientation": orientation,
                       "layout": shape, "coefficients": coefficients})


def unit(values):
    return [float(x) for x in numpy.array(values) / numpy.linalg.norm(values)]


ROWS = ("--probs", "p.npy", "--labels", "y.npy")


def plug_in(gain, p):
    """The rule of a classifier file: the class with the largest expected gain, the first of equals."""
    return numpy.argmax(p @ numpy.array(gain), axis=1)


def chances(rules, p, g=None):
    """With which probability a mixture predicts each class."""
    total = numpy.zeros_like(p)
    for rule in rules:
        gain = numpy.array(rule["gain"])
        said = plug_in(gain, p) if gain.ndim == 2 else numpy.where(g == 0, plug_in(gain[0], p), plug_in(gain[1], p))
        total[numpy.arange(len(p)), said] += rule["share"]
    return total


def confusion(decided, y, k=3):
    """C[i, j]: the share of rows of class i that are predicted as j."""
    return numpy.array([decided[y == i].sum(axis=0) for i in range(k)]) / len(y)


def off_diagonal(matrix):
    return matrix[~numpy.eye(len(matrix), dtype=bool)]


def fair_linear(k, rng):
    q = k * (k - 1)
    share = rng.uniform(0.3, 0.7, k)
    return dict(a=unit(rng.uniform(0.1, 1, q)), b={"1-2": unit(rng.uniform(0.1, 1, q))}, **{"lambda": 0.4},
                prevalence=[share.tolist(), (1 - share).tolist()])
