"""score and rank for metrics of any family."""
import json

import numpy
import pytest
from classes import confusion, fair_linear, layout, metric_text, off_diagonal, unit

pytestmark = pytest.mark.plain("about numbers, and takes long", soak=True)


def test_score_classes(melicit, sample):
    p, y, g = sample
    d = p.argmax(axis=1)
    numpy.save(melicit.folder / "d.npy", d)
    matrix = confusion(numpy.eye(3)[d], y)
    rates = matrix / matrix.sum(axis=1, keepdims=True)
    files = ("--labels", "y.npy", "--predictions", "d.npy", "--json")
    weights = unit([-1, -2, -3, -4, -5, -6])
    for kind, counted in (("confusion", matrix), ("rates", rates)):
        melicit.write("m.json", metric_text("linear", layout(kind, "offdiagonal", 3, classes="012"), a=weights))
        got = melicit("score", "--metric", "m.json", *files).done().json
        assert numpy.allclose(got["scores"][0]["statistics"], off_diagonal(counted))
        assert numpy.isclose(got["value"], numpy.dot(weights, off_diagonal(counted)))
        melicit.write("m.json", metric_text("diagonal-linear", layout(kind, "diagonal", 3, classes="012"), a=[0.2, 0.3, 0.5]))
        got = melicit("score", "--metric", "m.json", *files, "--groups", "g.csv").done().json
        assert numpy.isclose(got["value"], numpy.diag(counted) @ [0.2, 0.3, 0.5])
        assert [row["name"] for row in got["scores"]] == ["all", "u", "v"]
    # classes by name: the metric has them in another order
    melicit.write("m.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 3, classes="210"), a=[0.5, 0.3, 0.2]))
    got = melicit("score", "--metric", "m.json", *files).done().json
    assert numpy.isclose(got["value"], numpy.diag(matrix) @ [0.2, 0.3, 0.5])


def test_score_fair(melicit, sample):
    p, y, g = sample
    d = p.argmax(axis=1)
    numpy.save(melicit.folder / "d.npy", d)
    truth = fair_linear(3, numpy.random.default_rng(1))
    truth["prevalence"] = [[float(numpy.mean(g[y == i] == j)) for i in range(3)] for j in range(2)]
    melicit.write("m.json", metric_text("fair-linear", layout("rates", "offdiagonal", 3, "uv", "012"), "cost", **truth))
    got = melicit("score", "--metric", "m.json", "--labels", "y.npy", "--predictions", "d.npy", "--groups", "g.csv", "--json")
    r = []
    for j in range(2):
        matrix = confusion(numpy.eye(3)[d[g == j]], y[g == j])
        r.append(off_diagonal(matrix / matrix.sum(axis=1, keepdims=True)))
    share = [numpy.repeat(row, 2) for row in truth["prevalence"]]
    want = 0.6 * numpy.dot(truth["a"], share[0] * r[0] + share[1] * r[1]) + 0.4 * numpy.dot(truth["b"]["1-2"], abs(r[0] - r[1]))
    assert numpy.isclose(got.done().json["value"], want, rtol=1e-12)
    melicit("score", "--metric", "m.json", "--labels", "y.npy", "--predictions", "d.npy").refused(2, "--groups")
    numpy.save(melicit.folder / "pool.npy", numpy.array([numpy.concatenate(r)]))
    pool = melicit("score", "--metric", "m.json", "--statistics", "pool.npy", "--json").done().json
    assert numpy.isclose(pool["value"], want, rtol=1e-12)


def test_rank(melicit):
    shape = layout("confusion", "diagonal", 3)
    melicit.write("one.json", metric_text("diagonal-linear", shape, a=[0.2, 0.3, 0.5]))
    melicit.write("two.json", metric_text("diagonal-linear", shape, a=[0.5, 0.3, 0.2]))
    rng = numpy.random.default_rng(8)
    pool = rng.dirichlet([1, 1, 1, 1], 40)[:, :3]
    lines = ["name,0,1,2"] + [f"m{i}," + ",".join(map(repr, row)) for i, row in enumerate(pool.tolist())]
    melicit.write("pool.csv", "\n".join(lines) + "\n")
    got = melicit("rank", "--metric", "one.json", "--pool", "pool.csv", "--against", "two.json", "--json").done().json
    one, two = pool @ [0.2, 0.3, 0.5], pool @ [0.5, 0.3, 0.2]
    assert [row["name"] for row in got["order"]] == [f"m{i}" for i in numpy.argsort(-one)]
    assert numpy.allclose([row["value"] for row in got["order"]], -numpy.sort(-one))
    stats = pytest.importorskip("scipy.stats")
    assert numpy.isclose(got["tau"], stats.kendalltau(one, two)[0], atol=1e-12) and 0 < got["ndcg"] < 1
    melicit.write("cost.json", metric_text("diagonal-linear", shape, "cost", a=[0.2, 0.3, 0.5]))
    turned = melicit("rank", "--metric", "cost.json", "--pool", "pool.csv", "--json").done().json
    assert [row["name"] for row in turned["order"]] == [row["name"] for row in got["order"]][::-1]
    told = melicit("rank", "--metric", "one.json", "--pool", "pool.csv", "--against", "two.json").done().out
    assert "Kendall" in told and "m0" in told
    melicit("rank", "--metric", "one.json", "--pool", "pool.csv", "--against", "pool.csv").refused(3, "pool.csv")


def test_rank_says_how_sure(melicit):
    text = json.loads(metric_text("diagonal-linear", layout("confusion", "diagonal", 2), a=[0.5, 0.5]))
    text["intervals"] = {"a": [[0.4, 0.6], [0.4, 0.6]]}
    melicit.write("m.json", json.dumps(text))
    melicit.write("pool.csv", "name,0,1\nleft,0.5,0.1\nright,0.1,0.5\nboth,0.45,0.45\nnone,0,0\n")
    got = melicit("rank", "--metric", "m.json", "--pool", "pool.csv", "--json").done().json
    row = {x["name"]: x for x in got["order"]}
    assert row["both"]["place"] == 1 and row["both"]["best_probability"] >= 0.99
    assert row["left"]["place"] == row["right"]["place"] == 2
    assert abs(row["left"]["beats_next"] - 0.5) < 0.1 and abs(got["order_probability"] - 0.5) < 0.1
    same = melicit("rank", "--metric", "m.json", "--pool", "pool.csv", "--json").done().json
    assert same == got
    assert "order_probability" not in melicit("rank", "--metric", "m.json", "--pool", "pool.csv", "--thesis", "samples=0", "--json").done().json


def test_classifiers_tested_where_classes_are_not_equally_common(melicit):
    """60% of either class right among 95% positives is no better than 95% right among 5%: only rates compare."""
    rng = numpy.random.default_rng(6)
    melicit.write("m.json", metric_text("linear", layout("confusion", "binary", 2), a=[0.8, 0.6]))
    melicit.write("r.json", metric_text("linear", layout("rates", "offdiagonal", 2), "cost", a=[0.6, 0.8]))
    for _ in range(3):
        rate, positives = rng.uniform(0.55, 0.95, 4), rng.permutation([100, 300, 700, 900])
        rows = [[round(q * n), round(q * (1000 - n))] for q, n in zip(rate, positives)]
        melicit.write("pool.csv", "name,tp,tn,fp,fn\n" + "".join(f"{q!r},{a},{b},{1000 - n - b},{n - a}\n" for q, n, (a, b) in zip(rate.tolist(), positives, rows)))
        for words in (("--metric", "m.json"), ("--named", "f1"), ("--named", "accuracy")):
            melicit("rank", *words, "--pool", "pool.csv").refused(3, "pool.csv", "on average", "rates do")
        for words in (("--metric", "r.json"), ("--named", "balanced-accuracy"), ("--named", "recall")):
            order = melicit("rank", *words, "--pool", "pool.csv", "--json").done().json["order"]
            assert [one["value"] for one in order] == sorted((one["value"] for one in order), reverse=words[1] != "r.json")
            assert order[0]["name"] == repr(float(rate.max()))


@pytest.mark.parametrize("classes", [["a", "b", "c"], ["0", "1", "2"], ["no", "yes"], ["x, y", 'say "z"', "w"]])
def test_pools_in_long_form(melicit, classes):
    """k rows per classifier, in any order of rows and columns, are the columns true>predicted."""
    rng = numpy.random.default_rng(len(classes[0]) + 10 * len(classes))
    k = len(classes)
    for unit in (1, 300):
        totals = 30 + rng.multinomial(300 - 30 * k, numpy.ones(k) / k)
        pool = {f"m{i}": numpy.array([rng.multinomial(n, rng.dirichlet(numpy.ones(k))) for n in totals]) / unit for i in range(5)}
        def quoted(text):
            return '"' + str(text).replace('"', '""') + '"'
        def shown(v):
            return repr(float(v)) if unit > 1 else str(int(v))
        wide = ["name," + ",".join(quoted(f"{t}>{p}") for t in classes for p in classes)]
        wide += [name + "," + ",".join(shown(v) for v in matrix.ravel()) for name, matrix in pool.items()]
        melicit.write("wide.csv", "\n".join(wide) + "\n")
        order = rng.permutation(k)
        rows = [(name, t, matrix[t][order]) for name, matrix in pool.items() for t in range(k)]
        long = ["name,true," + ",".join(quoted(classes[c]) for c in order)]
        long += [f"{name},{quoted(classes[t])}," + ",".join(map(shown, row)) for name, t, row in (rows[i] for i in rng.permutation(len(rows)))]
        melicit.write("long.csv", "\n".join(long) + "\n")
        for named in ("accuracy", "mcc", "macro-f1"):
            of = [melicit("rank", "--pool", file, "--named", named, "--json").done().json["order"] for file in ("wide.csv", "long.csv")]
            assert [one["name"] for one in of[0]] == [one["name"] for one in of[1]]
            assert [one["value"] for one in of[0]] == pytest.approx([one["value"] for one in of[1]], rel=1e-12)
        melicit.write("m.json", metric_text("diagonal-linear", layout("confusion", "diagonal", k, classes=classes), a=list(range(1, k + 1))))
        of = [melicit("score", "--statistics", file, "--metric", "m.json", "--json").done().json["scores"] for file in ("wide.csv", "long.csv")]
        assert {one["name"]: one["value"] for one in of[0]} == pytest.approx({one["name"]: one["value"] for one in of[1]}, rel=1e-12)


@pytest.mark.parametrize("rows, parts", [
    ("A,a,1,2,3\nA,b,1,2,3\n", ['classifier "A" has no row with true class "c"']),
    ("A,a,1,2,3\nA,b,1,2,3\nA,c,1,2,3\nA,b,1,2,3\n", ["rows 3 and 5", 'true class "b"']),
    ("A,a,1,2,3\nA,b,1,2,3\nA,d,1,2,3\n", ["row 4", '"d"', "predicted classes"]),
    ("A,a,1,2,x\nA,b,1,2,3\nA,c,1,2,y\n", ['column "c"', "texts"]),
])
def test_long_pools_that_lack_rows(melicit, rows, parts):
    melicit.write("pool.csv", "name,true,a,b,c\n" + rows)
    melicit("rank", "--pool", "pool.csv", "--named", "accuracy").refused(3, "pool.csv", *parts)


def test_a_class_called_true(melicit):
    melicit.write("m.json", metric_text("diagonal-linear", layout("confusion", "diagonal", 2, classes=["false", "true"]), a=[0.6, 0.8]))
    melicit.write("pool.csv", "name,true,false\nA,0.3,0.5\nB,0.25,0.25\n")
    got = melicit("score", "--statistics", "pool.csv", "--metric", "m.json", "--json").done().json["scores"]
    assert [one["value"] for one in got] == pytest.approx([0.6 * 0.5 + 0.8 * 0.3, 0.6 * 0.25 + 0.8 * 0.25])


@pytest.mark.parametrize("k", [2, 3, 4])
def test_pools_of_matrices(melicit, k):
    """n x k x k: the same numbers as the columns true>predicted, in the order of the metric's classes."""
    rng = numpy.random.default_rng(k)
    classes = [f"c{i}" for i in rng.permutation(k)]
    totals = 30 + rng.multinomial(400 - 30 * k, numpy.ones(k) / k)
    matrices = numpy.array([[rng.multinomial(n, rng.dirichlet(numpy.ones(k))) for n in totals] for _ in range(6)])
    melicit.write("m.json", metric_text("linear", layout("confusion", "offdiagonal", k, classes=classes), "cost", a=list(range(1, k * k - k + 1))))
    words = ("rank", "--json", "--metric", "m.json", "--pool")
    for array in (matrices, matrices / 400):
        numpy.save(melicit.folder / "pool.npy", array)
        rows = [f"{i + 1}," + ",".join(map(repr, matrix.ravel().tolist())) for i, matrix in enumerate(array)]
        melicit.write("pool.csv", "name," + ",".join(f"{t}>{p}" for t in classes for p in classes) + "\n" + "\n".join(rows) + "\n")
        for start in (words, ("rank", "--json", "--named", "macro-f1", "--pool"), ("rank", "--json", "--named", "mcc", "--pool")):
            of = [melicit(*start, file).done().json["order"] for file in ("pool.csv", "pool.npy")]
            assert [one["name"] for one in of[0]] == [one["name"] for one in of[1]]
            assert [one["value"] for one in of[0]] == pytest.approx([one["value"] for one in of[1]], rel=1e-12)
    assert "true classes by predicted ones" in melicit("rank", "-v", "--metric", "m.json", "--pool", "pool.npy").done().err
    numpy.save(melicit.folder / "pool.npy", numpy.zeros((3, k + 1, k + 1)))
    melicit(*words[:1], *words[2:], "pool.npy").refused(3, "pool.npy", f"{k + 1} x {k + 1}", f"{k} classes")
    numpy.save(melicit.folder / "pool.npy", numpy.zeros((3, k, k + 1)))
    melicit(*words[:1], *words[2:], "pool.npy").refused(3, "pool.npy", "n x k x k")
    numpy.save(melicit.folder / "pool.npy", numpy.asfortranarray(matrices))
    melicit(*words[:1], *words[2:], "pool.npy").refused(3, "pool.npy", "ascontiguousarray")
