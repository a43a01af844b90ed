"""The pools of real classifiers in data/pools: well-formed, ranked by every family, and built as they say."""
import csv
import json
import subprocess

import numpy
import pytest
from classes import layout, metric_text, unit
from conftest import BUILD, DATA, SOURCE, environment

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)

# pool: classes, groups
POOLS = {
    "credit_default": (2, ["female", "male"]),
    "adult": (2, ["white", "black", "other"]),
    "adult_gender": (2, ["female", "male"]),
    "wine_quality": (3, ["red", "white"]),
    "communities_crime": (3, ["white", "black", "hispanic"]),
    "credit_default_overall": (2, []),
    "adult_overall": (2, []),
    "wine_quality_overall": (3, []),
    "communities_crime_overall": (3, []),
    "satellite": (6, []),
    "covtype": (7, []),
}
GROUPED = [name for name, (_, groups) in POOLS.items() if groups]
SCRIPT = SOURCE / "repro" / "pools" / "build.py"


def read(name, folder=DATA / "pools"):
    """The names and rates of a pool, and what its description says."""
    with open(folder / f"{name}.csv", newline="") as file:
        header, *rows = csv.reader(file)
    about = json.loads((folder / f"{name}.json").read_text())
    return header, [row[0] for row in rows], numpy.array([list(map(float, row[1:])) for row in rows]), about


def test_no_pool_is_forgotten():
    assert {path.stem for path in (DATA / "pools").glob("*.csv")} == set(POOLS)
    assert {path.stem for path in (DATA / "pools").glob("*.json")} == set(POOLS)


@pytest.mark.parametrize("name", POOLS)
def test_rates(name):
    k, groups = POOLS[name]
    m = max(1, len(groups))
    header, names, rates, about = read(name)
    assert 80 <= len(names) <= 110 and len(set(names)) == len(names)
    assert about["layout"] == layout("rates", "offdiagonal", k, groups, about["layout"]["classes"])
    assert len(about["layout"]["classes"]) == k
    assert header[0] == "name" and len(set(header)) == len(header)
    assert rates.shape == (len(names), m * k * (k - 1))
    assert [row["name"] for row in about["classifiers"]] == names
    assert numpy.isfinite(rates).all() and rates.min() >= 0 and rates.max() <= 1
    of_class = rates.reshape(len(names), m, k, k - 1).sum(axis=3)
    assert of_class.max() <= 1 + 1e-12
    # every rate is a count of test rows divided by the rows of its class and group
    counts = rates.reshape(len(names), m, k, k - 1) * numpy.array(about["test_rows"])[None, :, :, None]
    assert numpy.abs(counts - counts.round()).max() < 1e-9


@pytest.mark.parametrize("name", POOLS)
def test_classifiers_differ(name):
    _, names, rates, _ = read(name)
    apart = numpy.abs(rates[:, None] - rates[None]).max(axis=2) + numpy.eye(len(names))
    assert apart.min() > 1e-3
    families = {n.split("-")[0] for n in names}
    fair = {"fair"} if name in GROUPED else set()
    assert families == {"logistic", "mlp", "linear_svm", "rbf_svm", "boosting"} | fair


@pytest.mark.parametrize("name", POOLS)
def test_description(name):
    k, groups = POOLS[name]
    about = read(name)[3]
    rows = numpy.array(about["test_rows"], dtype=float)
    assert rows.shape == (max(1, len(groups)), k) and rows.min() >= 1
    assert about["rows"]["test"] == rows.sum()
    assert abs(about["rows"]["train"] / (about["rows"]["train"] + rows.sum()) - 0.6) < 0.002
    assert numpy.allclose(about["class_shares"], rows.sum(axis=0) / rows.sum(), atol=1e-15)
    if groups:
        assert numpy.allclose(about["prevalence"], rows / rows.sum(axis=0), atol=1e-15)
        assert numpy.allclose(numpy.sum(about["prevalence"], axis=0), 1, atol=1e-12)
    else:
        assert about["prevalence"] == []
    assert {"numpy", "scikit-learn", "xgboost", "melicit"} <= set(about["versions"]) and about["seed"] > 0


@pytest.mark.parametrize("name", GROUPED)
def test_groups_make_everybody(name):
    """The group rates, weighted by prevalence, are the rates of everybody, in the other pool of the same classifiers."""
    _, names, rates, about = read(name)
    everybody = read(f"{about['data']}_overall")
    k, q = POOLS[name][0], rates.shape[1] // len(POOLS[name][1])
    weight = numpy.repeat(about["prevalence"], k - 1, axis=1)
    joined = (rates.reshape(len(names), -1, q) * weight).sum(axis=1)
    assert names[:len(everybody[1])] == everybody[1]
    assert numpy.allclose(joined[:len(everybody[1])], everybody[2], atol=1e-12)


def symmetric(rng, n):
    b = rng.normal(size=(n, n))
    return (b + b.T) / 2


def random_metrics(rng, k, groups, about):
    """A random metric of each family that can order the pool: family, coefficients, value of a rate vector (a cost)."""
    m, q = max(1, len(groups)), k * (k - 1)
    size = m * q
    a, whole = rng.uniform(0.1, 1, size), symmetric(rng, size)
    norm = numpy.sqrt(numpy.sum(a**2) + numpy.sum(whole**2))
    a2, whole = a / norm, whole / norm
    yield "linear", dict(a=unit(a)), lambda r: numpy.dot(unit(a), r)
    yield "quadratic", dict(a=a2.tolist(), B=whole.tolist()), lambda r: a2 @ r + r @ whole @ r / 2
    if not groups:
        return
    share, trade = numpy.repeat(about["prevalence"], k - 1, axis=1), float(rng.uniform(0.2, 0.8))
    pairs = [(u, v) for u in range(m) for v in range(u + 1, m)]
    cost = numpy.array(unit(rng.uniform(0.1, 1, q)))
    b = numpy.array(unit(rng.uniform(0.1, 1, len(pairs) * q))).reshape(len(pairs), q)
    square = numpy.array([x @ x.T for x in rng.normal(size=(len(pairs), q, q))])
    square /= numpy.linalg.norm(square)
    given = dict(a=cost.tolist(), prevalence=about["prevalence"], **{"lambda": trade})
    key = [f"{u + 1}-{v + 1}" for u, v in pairs]

    def fair(r, violation):
        r = r.reshape(m, q)
        apart = [r[u] - r[v] for u, v in pairs]
        return (1 - trade) * cost @ (share * r).sum(axis=0) + trade * sum(violation(i, d) for i, d in enumerate(apart))

    yield "fair-linear", dict(given, b=dict(zip(key, b.tolist()))), lambda r: fair(r, lambda i, d: b[i] @ abs(d))
    yield ("fair-quadratic", dict(given, B=dict(zip(key, square.tolist()))),
           lambda r: fair(r, lambda i, d: d @ square[i] @ d / 2))


@pytest.mark.parametrize("name", POOLS)
def test_rank_orders_the_pool(melicit, name):
    """Every family of the right layout reads the pool; values and order are NumPy's."""
    k, groups = POOLS[name]
    _, names, rates, about = read(name)
    families = []
    for family, coefficients, value in random_metrics(numpy.random.default_rng(11), k, groups, about):
        melicit.write("m.json", metric_text(family, about["layout"], "cost", **coefficients))
        got = melicit("rank", "--metric", "m.json", "--pool", DATA / "pools" / f"{name}.csv", "--json").done().json
        want = numpy.array([value(row) for row in rates])
        order = [row["name"] for row in got["order"]]
        assert sorted(order) == sorted(names)
        ranked = numpy.array([want[names.index(n)] for n in order])
        assert numpy.allclose([row["value"] for row in got["order"]], ranked, rtol=0, atol=1e-12), family
        assert (numpy.diff(ranked) >= -1e-12).all(), family
        families.append(family)
    assert len(families) == (4 if groups else 2)


def test_wrong_layout_is_refused(melicit):
    """A metric of everybody's rates does not fit a pool of group rates."""
    melicit.write("m.json", metric_text("linear", layout("rates", "offdiagonal", 3), "cost", a=unit([1, 2, 3, 4, 5, 6])))
    pool = DATA / "pools" / "wine_quality.csv"
    melicit("rank", "--metric", "m.json", "--pool", pool).refused(3, "wine_quality.csv", '"red:low>middle"', '"0>1"')


def build(*words, **more):
    run = subprocess.run(["/usr/bin/python3", str(SCRIPT), *map(str, words)], capture_output=True, text=True, timeout=300,
                         env=environment(MELICIT_BUILD=str(BUILD), PYTHONDONTWRITEBYTECODE="1", **more))
    return run.returncode, run.stderr


def test_quick_build_gives_the_same_rows(tmp_path):
    """One logistic, one boosted and one plug-in classifier, trained again, have the rates that are in data/pools."""
    for module in ("sklearn", "xgboost"):
        pytest.importorskip(module, reason=f"{module} is not installed (tools/setup.sh repro)")
    code, told = build("wine_quality", "--quick", "--out", tmp_path)
    assert code == 0, told
    for name, wanted in (("wine_quality", ["logistic-01", "boosting-01", "fair-01"]),
                         ("wine_quality_overall", ["logistic-01", "boosting-01"])):
        header, names, rates, about = read(name, tmp_path)
        kept_header, kept_names, kept, kept_about = read(name)
        libraries = ("numpy", "scikit-learn", "xgboost")
        if [about["versions"][x] for x in libraries] != [kept_about["versions"][x] for x in libraries]:
            pytest.skip("other versions of the libraries than those the pools were built with")
        assert names == wanted and header == kept_header
        assert numpy.allclose(rates, kept[[kept_names.index(n) for n in names]], rtol=0, atol=1e-9)
        settings = {row["name"]: row for row in kept_about["classifiers"]}
        assert about["classifiers"] == [settings[n] for n in names]
        for key in ("files", "layout", "prevalence", "class_shares", "test_rows", "rows", "features", "seed"):
            assert about[key] == kept_about[key], key
    code, told = build("wine_quality", "--quick", "--out", tmp_path)
    assert code == 0 and "is there already" in told and "logistic" not in told


def test_build_refuses(tmp_path):
    code, told = build("no_such_data", "--out", tmp_path)
    assert code == 2 and "no_such_data" in told and "wine_quality" in told
    code, told = build("wine_quality", "--quick")
    assert code == 2 and "--out" in told
    code, told = build("covtype", "--quick", "--out", tmp_path, MELICIT_DATA=str(tmp_path))
    assert code == 0 and "covtype: left out" in told and "covtype_sample.csv.gz" in told and "MELICIT_DATA" in told
    assert not any(tmp_path.iterdir())
