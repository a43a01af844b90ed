"""melicit optimise: basis functions of one's own and on an embedding, and the three kinds of steps, against NumPy."""
import json

import numpy
import pytest
from test_optimise import LABELLED, work, write  # noqa: F401 (work is a fixture)

METRIC = ("--metric", "g-mean", "--validation-groups", "gv.csv")
WIDTH = 0.7


def labels(work, name):
    return numpy.array(sum(work.rows(name)[1:], []))


def numbers(work, name):
    return numpy.array(work.rows(name)[1:], dtype=float)


def radial(x, centres, own, unsquared):
    """Means over the centres; own: rows of x that are centres, which do not count for themselves."""
    distance = numpy.sqrt(((x[:, None] - centres[None]) ** 2).sum(2))
    near = numpy.exp(-(distance if unsquared else distance ** 2) / (2 * WIDTH ** 2)).mean(1)
    near[own] = (len(centres) * near[own] - 1) / (len(centres) - 1)
    return near


def test_own_matrix(work):
    """A matrix of one's own is what columns of the same numbers are, with predict too."""
    for suffix in ("", "v", "t"):
        rows = work.rows(f"f{suffix}.csv")[1:]
        write(work.folder, f"m{suffix}.csv", "first,second", [[r[0] for r in rows], [r[1] for r in rows]])
    own = work("optimise", *LABELLED, *METRIC, "--basis", "file:m.csv", "--validation-features", "mv.csv", "--out", "m.json",
               "--json").done().json
    same = work("optimise", *LABELLED, *METRIC, "--basis", "columns:hint,other", "--features", "f.csv", "--validation-features", "fv.csv",
                "--out", "f.json", "--json").done().json
    assert own["basis"] == ["first", "second"] and own["value"] == same["value"] and own["rank"] == 4
    for name in "mf":
        work("predict", "--classifier", f"{name}.json", "--probs", "pt.csv", "--features", f"{name}t.csv", "--chances", "--out",
             f"{name}_chances.csv").done()
    assert (work.folder / "m_chances.csv").read_text() == (work.folder / "f_chances.csv").read_text()
    work("optimise", *LABELLED, *METRIC, "--basis", "file:m.csv", "--validation-features", "fv.csv").refused(3, "first")


@pytest.mark.parametrize("unsquared", [False, True])
def test_embedding(work, unsquared):
    """Radial functions on an embedding given as a file: the same as their values, computed here, given as a matrix."""
    rng = numpy.random.Generator(numpy.random.PCG64(8))
    place = {}
    for suffix in ("", "v", "t"):
        hint = numpy.array([float(r[0]) for r in work.rows(f"f{suffix}.csv")[1:]])
        place[suffix] = (rng.normal(size=(len(hint), 2)) + 2 * hint[:, None]).round(6)
        write(work.folder, f"e{suffix}.csv", "e1,e2", place[suffix].T)
    kind = labels(work, "yv.csv")
    for suffix, x in place.items():
        columns = [radial(x, place["v"][kind == y], kind == y if suffix == "v" else [], unsquared) for y in ("no", "yes")]
        write(work.folder, f"r{suffix}.csv", "near_no,near_yes", [[repr(float(v)) for v in c] for c in columns])
    word = f"rbf:{WIDTH}" + (",unsquared" if unsquared else "")
    here = work("optimise", *LABELLED, *METRIC, "--basis", word, "--features", "e.csv", "--validation-features", "ev.csv", "--out", "e.json",
                "--json").done().json
    given = work("optimise", *LABELLED, *METRIC, "--basis", "file:r.csv", "--validation-features", "rv.csv", "--out", "r.json",
                 "--json").done().json
    assert here["value"] == pytest.approx(given["value"], abs=1e-9) and here["rank"] == given["rank"]
    for name in "er":
        work("predict", "--classifier", f"{name}.json", "--probs", "pt.csv", "--features", f"{name}t.csv", "--chances", "--out",
             f"{name}_chances.csv").done()
    assert numpy.abs(numbers(work, "e_chances.csv") - numbers(work, "r_chances.csv")).max() < 1e-6


def test_steps(work):
    """2/(t+2) begins with the whole step, which is PI-EW; a line search never falls."""
    words = ("optimise", *LABELLED, "--metric", "f2")
    whole = work(*words, "--thesis", "step=thesis", "--iterations", 1, "--thesis", "take=last", "--json").done().json
    once = work(*words, "--method", "pi-ew", "--json").done().json
    assert whole["value"] == pytest.approx(once["value"], abs=1e-12)
    safe = work(*words, "--iterations", 1, "--out", "c.json", "--json").done().json
    assert safe["start"] < safe["value"] < whole["value"]
    shares = sorted(rule["share"] for rule in json.loads((work.folder / "c.json").read_text())["rules"])
    assert shares == pytest.approx([1 / 3, 2 / 3])
    values = [work(*words, "--thesis", "step=line", "--iterations", n, "--json").done().json["value"] for n in (1, 2, 5, 20)]
    assert values == sorted(values) and values[0] >= safe["start"]


def test_choice_of_epsilon(work):
    """Every set of functions with every epsilon; the best by cross-fitting, which is then fitted to all rows."""
    features = ("--features", "f.csv", "--validation-features", "fv.csv")
    words = ("optimise", *LABELLED, *METRIC, *features)
    got = work(*words, "--basis", "default", "--basis", "default+columns:hint", "--thesis", "epsilon=0.5", "--thesis", "epsilon=0.001", "--json").done().json
    tried = got["candidates"]
    assert len(tried) == 4 and len({(tuple(c["basis"]) if isinstance(c["basis"], list) else c["basis"], c["epsilon"]) for c in tried}) == 4
    best = max(tried, key=lambda c: c["value"])
    assert got["epsilon"] == best["epsilon"] and len(got["basis"]) == 2
    alone = work(*words, "--basis", "default+columns:hint", "--thesis", f'epsilon={got["epsilon"]}', "--json").done().json
    assert alone["value"] == got["value"] and alone["classifier"] == got["classifier"]
