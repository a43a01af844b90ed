"""The thesis' named examples (sections 5.1, 6.1 and 6.3), by name and as metric files, against their formulas in NumPy to 1e-12."""
import itertools
import json

import numpy
import pytest
from classes import layout, metric_text

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

SIZES = [(2, 2), (2, 3), (3, 2), (4, 3)]
GAPS = {":squared": numpy.square, ":absolute": numpy.abs}
ALONE = {"": numpy.square, **GAPS}


def rows(k, m):
    """Labels, predictions and groups, each class in each group."""
    rng = numpy.random.default_rng([k, m])
    true = numpy.concatenate([numpy.tile(numpy.arange(k), m), rng.integers(0, k, 300)])
    group = numpy.concatenate([numpy.repeat(numpy.arange(m), k), rng.integers(0, m, 300)])
    said = numpy.where(rng.uniform(size=true.size) < 0.6 + 0.1 * group, true, rng.integers(0, k, true.size))
    return true, said, group


def rates(true, said, k):
    count = numpy.zeros((k, k))
    numpy.add.at(count, (true, said), 1)
    return count / count.sum(axis=1, keepdims=True), count.sum(axis=1) / count.sum()


def off(matrix):
    return matrix[~numpy.eye(len(matrix), dtype=bool)]


def given(melicit, k, m):
    true, said, group = rows(k, m)
    melicit.write("y.csv", "label\n" + "\n".join(f"c{i}" for i in true) + "\n")
    melicit.write("p.csv", "prediction\n" + "\n".join(f"c{i}" for i in said) + "\n")
    melicit.write("g.csv", "group\n" + "\n".join(f"g{i}" for i in group) + "\n")
    positive = ("--positive", "c1") if k == 2 else ()
    return true, said, group, ("score", "--labels", "y.csv", "--predictions", "p.csv", "--json", *positive)


def values(melicit, words, names):
    got = melicit(*words, *[word for name in names for word in ("--named", name)]).done().json
    return [got["scores"][0][name] for name in names]


def listed(numbers):
    return ",".join(repr(float(x)) for x in numbers)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_without_groups(melicit, k):
    true, said, _, words = given(melicit, k, 2)
    rate, share = rates(true, said, k)
    error, weight = 1 - numpy.diag(rate), numpy.arange(1.0, k + 1)
    target = numpy.full(k, 1 / k) + numpy.linspace(-0.1, 0.1, k)
    cover = share @ rate
    want = {}
    for gap, size in ALONE.items():
        want["q-mean" + gap] = size(error).mean()
        want[f"q-mean{gap}:{listed(weight)}"] = numpy.average(size(error), weights=weight)
        want["distribution-matching" + gap] = size(cover - share).sum()
        want[f"distribution-matching{gap}:{listed(target)}"] = size(cover - target).sum()
    assert numpy.abs(numpy.subtract(values(melicit, words, list(want)), list(want.values()))).max() <= 1e-12
    for name in ("q-mean", "q-mean:absolute", f"q-mean:{listed(weight)}", f"q-mean:absolute:{listed(weight)}", "distribution-matching"):
        melicit("metric", "--named", name, "--classes", ",".join(f"c{i}" for i in range(k)), "--shares", listed(share), "--out", "m.json").done()
        assert abs(melicit(*words, "--metric", "m.json").done().json["value"] - want[name]) <= 1e-12
    melicit("metric", "--named", f"distribution-matching:{listed(target)}", "--classes", ",".join(f"c{i}" for i in range(k)),
            "--out", "m.json").refused(2, "has a constant")


def test_distance_of_distributions(melicit):
    """(cover - pi)' Q (cover - pi), Q positive semidefinite: a quadratic file holds it up to a constant, as docs/metric-file.md says."""
    k = 3
    true, said, _, words = given(melicit, k, 2)
    rate, share = rates(true, said, k)
    rng = numpy.random.default_rng(5)
    q = rng.normal(size=(k, k))
    q = q @ q.T
    target = numpy.array([0.2, 0.5, 0.3])
    cells = [(i, j) for i in range(k) for j in range(k) if i != j]
    step = numpy.zeros((k, len(cells)))  # of the shares of predictions, per rate
    for c, (i, j) in enumerate(cells):
        step[j, c] += share[i]
        step[i, c] -= share[i]
    own = [f"psd-q:{listed(q.ravel())}", f"psd-q:{listed(numpy.eye(k).ravel())}", "distribution-matching"]
    aimed = f"psd-q:{listed(q.ravel())},{listed(target)}"
    off = share @ rate - share
    got = values(melicit, words, [*own, aimed])
    assert abs(got[0] - off @ q @ off) <= 1e-12 and abs(got[1] - got[2]) <= 1e-12
    assert abs(got[3] - (share @ rate - target) @ q @ (share @ rate - target)) <= 1e-12
    melicit("metric", "--named", own[0], "--classes", "c0,c1,c2", "--shares", listed(share), "--out", "m.json").done()
    assert abs(melicit(*words, "--metric", "m.json").done().json["value"] - off @ q @ off) <= 1e-12
    melicit("metric", "--named", aimed, "--classes", "c0,c1,c2", "--shares", listed(share), "--out", "m.json").refused(2, "has a constant")
    melicit.write("m.json", metric_text("quadratic", layout("rates", "offdiagonal", k, classes=[f"c{i}" for i in range(k)]), "cost",
                                        a=(2 * step.T @ q @ (share - target)).tolist(), B=(2 * step.T @ q @ step).tolist()))
    cover = share @ rate
    want = (cover - target) @ q @ (cover - target) - (share - target) @ q @ (share - target)
    assert abs(melicit(*words, "--metric", "m.json").done().json["value"] - want) <= 1e-12


def fair(true, said, group, k, m):
    """Each measure by its name, with the sizes of differences left open."""
    each = [rates(true[group == g], said[group == g], k) for g in range(m)]
    rate = [off(r) for r, _ in each]
    cover = [s @ r for r, s in each]
    pairs = list(itertools.combinations(range(m), 2))
    weight = numpy.arange(1.0, k * (k - 1) + 1)
    over = lambda size, x, w=1.0: sum((w * size(x[u] - x[v])).sum() for u, v in pairs)
    found = {"equalised-odds": lambda size: over(size, rate), "demographic-parity": lambda size: over(size, cover) / 2}
    if k == 2:
        found["equal-opportunity"] = lambda size: over(size, rate, numpy.array([0, 1]))
        found["negative-balance"] = lambda size: over(size, rate, numpy.array([1, 0]))
        found["error-rate-balance"] = lambda size: over(size, rate) / 2
    want = {name + gap: value(size) for name, value in found.items() for gap, size in GAPS.items()}
    for gap, size in GAPS.items():
        want[f"equalised-odds{gap}:{listed(weight)}"] = over(size, rate, weight)
    want["equalised-odds"] = max(numpy.abs(rate[u] - rate[v]).max() for u, v in pairs)
    want[f"equalised-odds:{listed(weight)}"] = max((weight * numpy.abs(rate[u] - rate[v])).max() for u, v in pairs)
    want["demographic-parity"] = max(numpy.abs(cover[u] - cover[v]).max() for u, v in pairs)
    return want


@pytest.mark.parametrize("k, m", SIZES)
def test_with_groups(melicit, k, m):
    true, said, group, words = given(melicit, k, m)
    words = (*words, "--groups", "g.csv")
    want = fair(true, said, group, k, m)
    assert numpy.abs(numpy.subtract(values(melicit, words, list(want)), list(want.values()))).max() <= 1e-12
    for name in [n for n in want if (":squared" in n or ":absolute" in n) and not n.startswith("demographic")]:
        melicit("metric", "--named", name, "--classes", ",".join(f"c{i}" for i in range(k)), "--call", "groups=" + ",".join(f"g{i}" for i in range(m)), "--out", "m.json").done()
        assert json.loads((melicit.folder / "m.json").read_text())["family"] == ("fair-linear" if "absolute" in name else "fair-quadratic")
        assert abs(melicit(*words, "--metric", "m.json").done().json["value"] - want[name]) <= 1e-12


@pytest.mark.parametrize("name, says", [
    ("equalised-odds:1,2,3", "3 numbers, but there is one for each kind of mistake"),
    ("equalised-odds:0,0", "all are 0"),
    ("equalised-odds:1,-2", "number 2 is not one of at least 0"),
    ("equal-opportunity:1,2", "numbers follow weighted-accuracy, q-mean, equalised-odds, distribution-matching and psd-q"),
    ("equalised-odds:most", "is not a measure known by name"),
])
def test_refusals(melicit, name, says):
    *_, words = given(melicit, 2, 2)
    melicit(*(word for word in words if word != "--json"), "--groups", "g.csv", "--named", name).refused(2, says)


@pytest.mark.parametrize("name, says", [
    ("psd-q", "expected psd-q:Q11,Q12"),
    ("psd-q:absolute:1,0,0,1", "expected psd-q:Q11,Q12"),
    ("psd-q:1,0,0", "3 numbers, but the matrix has one for each pair of classes"),
    ("psd-q:1,2,0,1", "the matrix is not symmetric"),
    ("psd-q:1,2,2,1", "the matrix is not positive semidefinite (eigenvalue -1)"),
    ("psd-q:0,0,0,0", "not positive semidefinite and different from 0"),
    ("psd-q:1,0,0,1,0.5,0.6", "the shares sum to 1.1, not 1"),
    ("psd-q:1,0,0,1,0.5,-0.5", "number 6 is not one of at least 0"),
    ("psd-q:1,0,0,x", "number 4 is not one"),
])
def test_refused_matrices(melicit, name, says):
    *_, words = given(melicit, 2, 2)
    melicit(*(word for word in words if word != "--json"), "--named", name).refused(2, says)


def test_every_verb_takes_them(melicit):
    """Weighted equalised odds, and a matrix for shares of predictions, by score, rank, apply, optimise and metric."""
    *_, words = given(melicit, 2, 2)
    name = "equalised-odds:squared:1,4"
    melicit(*words, "--groups", "g.csv", "--named", name).done()
    melicit("rank", "--labels", "y.csv", "--predictions", "p.csv", "--groups", "g.csv", "--named", name, "--positive", "c1").done()
    melicit("metric", "--named", name, "--classes", "c0,c1", "--call", "groups=g0,g1", "--out", "m.json").done()
    true, said, _, _ = given(melicit, 2, 2)
    melicit.write("q.csv", "c0,c1\n" + "\n".join("0.7,0.3" if x == 0 else "0.2,0.8" for x in said) + "\n")
    melicit("apply", "--named", name, "--probs", "q.csv", "--labels", "y.csv", "--groups", "g.csv", "--positive", "c1").done()
    melicit("optimise", "--metric", name, "--probs", "q.csv", "--labels", "y.csv", "--validation-probs", "q.csv", "--validation-labels", "y.csv",
            "--validation-groups", "g.csv", "--iterations", 2, "--positive", "c1").done()
    name = "psd-q:2,-0.5,-0.5,1"
    melicit("rank", "--labels", "y.csv", "--predictions", "p.csv", "--named", name, "--positive", "c1").done()
    melicit("apply", "--named", name, "--probs", "q.csv", "--labels", "y.csv", "--positive", "c1").done()
    melicit("optimise", "--metric", name, "--probs", "q.csv", "--labels", "y.csv", "--validation-probs", "q.csv", "--validation-labels", "y.csv",
            "--iterations", 2, "--positive", "c1").done()
    assert len(true) == len(said)
