"""melicit.moments: sums over parts of the rows, in other processes and in any order; the example on dask.distributed."""
import itertools
import multiprocessing
import pickle
import subprocess

import numpy as np
import pytest
from python_package import BUILD, SOURCE, rows, run

import melicit


def parts(k=3, n=4):
    rng = np.random.default_rng(k)
    out = []
    for i in range(n):
        X = rng.normal(size=(200 + 50 * i, 3))
        y = (X @ rng.normal(size=(3, k)) + rng.gumbel(size=(len(X), k))).argmax(axis=1)
        out.append((X, np.array(list("abcdef"))[y], f"part-{i}", rng.uniform(0.5, 1.5, len(X))))
    return out


def taken(model, part):
    X, y, name, weight = part
    return melicit.moments(model, X, y, part=name, weight=weight)


@pytest.mark.parametrize("k", [2, 3])
def test_any_order(k):
    rows = parts(k)
    start = melicit.Model.fit(*rows[0][:2])
    each = [taken(start, part) for part in rows]
    want = pickle.dumps(start.step(sum(each)))
    for order in itertools.permutations(range(4)):
        a, b, c, d = (each[i] for i in order)
        assert pickle.dumps(start.step((a + b) + (c + d))) == want
    total = sum(each)
    assert total.parts == 4 and total.rows == sum(len(part[0]) for part in rows)


def test_all_rows():
    rows = parts()
    model = melicit.Model.fit(*rows[0][:2])
    with multiprocessing.get_context("spawn").Pool(1) as pool:  # elsewhere: by pickle
        for _ in range(10):
            model = model.step(pool.apply(taken, (model, rows[0])) + sum(taken(model, part) for part in rows[1:]))
            if model.converged_:
                break
    X, y, _, weight = (np.concatenate(v) if i != 2 else v for i, v in enumerate(zip(*rows)))
    whole = melicit.Model.fit(X, y, weight)
    assert model.converged_ and model.gradient_norm_ < 1e-9
    assert np.abs(model.predict_proba(X) - whole.predict_proba(X)).max() < 1e-8


def test_refused():
    rows = parts()
    model = melicit.Model.fit(*rows[0][:2])
    one = taken(model, rows[0])
    with pytest.raises(melicit.MelicitError, match="part-0 are there twice"):
        one + one
    with pytest.raises(melicit.MelicitError, match="taken at another model"):
        model.step(one).step(one)
    with pytest.raises(melicit.MelicitError, match="none of the classes"):
        melicit.moments(model, rows[0][0], ["z"] * len(rows[0][0]), part="z")
    with pytest.raises(melicit.MelicitError, match="1 labels for"):
        melicit.moments(model, rows[0][0], ["a"], part="z")
    with pytest.raises(TypeError):
        one + "part"


def test_scores():
    """Counted in parts, in any order: the rule of all rows."""
    rng = np.random.default_rng(5)
    p, groups = rng.beta(1, 2, 900), rng.integers(0, 2, 900)
    y = np.where(rng.random(900) < p, "yes", "no")
    each = [melicit.scores(p[i::3], y[i::3], part=str(i), classes=["no", "yes"], groups=groups[i::3]) for i in range(3)]
    a, b, c = each
    assert pickle.dumps(a + b + c) == pickle.dumps(c + pickle.loads(pickle.dumps(a + b))) == pickle.dumps(sum(each[::-1]))
    assert (a + b).rows == 600 and (a + b).parts == 2
    rule = sum(each).rule(melicit.Metric("g-mean"), evidence="labels", groups_seen=False)
    said = rule.decide(np.column_stack([1 - p, p]), groups)
    right = [np.mean(said[y == label] == label) for label in ("no", "yes")]
    assert rule.value == pytest.approx(np.sqrt(right[0] * right[1]), abs=1e-12)
    with pytest.raises(melicit.MelicitError, match="are there twice"):
        a + a
    with pytest.raises(melicit.MelicitError, match="by group"):
        a + melicit.scores(p, y, part="z")
    with pytest.raises(melicit.MelicitError, match="two classes"):
        melicit.scores(p, ["no"] * 900, part="z")
    with pytest.raises(TypeError):
        a + "part"


def exact_rows(n, seed=0):
    """Of three classes, whose probabilities add up to 1 to the last bit: files of them are not rescaled."""
    y, p = rows(n, 3, seed)
    p = np.floor(p * 4096) / 4096
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    return y, p


def decided_parts():
    """Probabilities, labels and groups of three classes in four parts; one has a single row, and groups of its own."""
    y, p = exact_rows(900)
    g = np.random.default_rng(1).choice(["u", "v"], 900)
    g[400] = "w"
    cuts = (0, 400, 401, 700, 900)
    return [(f"part-{i}", p[a:b], np.array(list("abc"))[y[a:b]], g[a:b]) for i, (a, b) in enumerate(zip(cuts, cuts[1:]))]


def test_decisions():
    """What a rule decides, as it is counted on all rows; the same in any order and through a pickle."""
    parts = decided_parts()
    p, y, g = (np.concatenate([part[i] for part in parts]) for i in (1, 2, 3))
    rule = melicit.Problem.from_proba(y, p).best(melicit.Metric("macro-f1"))
    each = [melicit.moments(rule, q, t, part=name, groups=of) for name, q, t, of in parts]
    total = sum(each)
    found = total.decided()
    want = np.zeros((3, 3, 3))
    np.add.at(want, (np.searchsorted(["u", "v", "w"], g), np.searchsorted(["a", "b", "c"], y), rule.decide_codes(p)), 1)
    assert found.groups == ["u", "v", "w"] and found.classes == ["a", "b", "c"] and (total.parts, total.rows) == (4, 900)
    assert (found.by_labels == want).all() and found.by_model.sum() == pytest.approx(900)
    again = pickle.loads(pickle.dumps((each[3] + each[1]) + (each[2] + each[0]))).decided()
    assert (again.by_model == found.by_model).all()
    assert melicit.Metric("accuracy").of_confusion(found.by_labels.sum(axis=0)) == pytest.approx((rule.decide(p) == y).mean())
    with pytest.raises(melicit.MelicitError, match="are there twice"):
        each[0] + each[0]
    with pytest.raises(melicit.MelicitError, match="another kind"):
        melicit.Model.fit(p, y).step(total)
    with pytest.raises(melicit.MelicitError, match="y: 1 values for 400 rows"):
        melicit.moments(rule, parts[0][1], ["a"], part="x")
    with pytest.raises(melicit.MelicitError, match="row 1: the probabilit"):
        melicit.moments(rule, 2 * p, y, part="x")
    with pytest.raises(TypeError, match="a Model, a Rule or an Iterate"):
        melicit.moments(1, p, y, part="x")


@pytest.mark.parametrize("shape", ["diagonal", "whole"])
def test_search(shape, tmp_path):
    """To the bits of the program on all rows; a callable gives the same as the measure that it is."""
    parts, (y, p) = decided_parts(), exact_rows(500, seed=5)
    y = np.array(list("abc"))[y]
    for name, q, t, _ in parts:
        np.save(tmp_path / f"p-{name}.npy", q), np.save(tmp_path / f"y-{name}.npy", t)
    np.save(tmp_path / "v.npy", p), np.save(tmp_path / "w.npy", y)
    subprocess.run([BUILD / "melicit", "optimise", "--probs", "p-*.npy", "--labels", "y-*.npy", "--validation-probs", "v.npy", "--validation-labels",
                    "w.npy", "--metric", "balanced-accuracy", "--weights", shape, "--iterations", "5", "--out", "c.json"], cwd=tmp_path, check=True, capture_output=True)
    whole = melicit.Rule.load(tmp_path / "c.json")

    def recalls(matrix):
        return (np.diag(matrix) / matrix.sum(axis=1)).mean()

    for metric in ("balanced-accuracy", recalls):
        search, rounds = melicit.Search(metric, p, y, iterations=5, shape=shape), 0
        while search.iterate is not None:
            assert search.rule is None
            at = pickle.loads(pickle.dumps(search.iterate))
            each = [melicit.moments(at, q, t, part=name) for name, q, t, _ in parts]
            before = search.iterate
            search.step(each[2] + (each[0] + each[3]) + each[1])
            rounds += 1
        assert rounds == 6 and search.iterations == 5
        near = 0 if isinstance(metric, str) else 1e-6
        assert search.rule.gains == pytest.approx(whole.gains, abs=near) and search.rule.shares == pytest.approx(whole.shares, abs=near)
        assert search.value == pytest.approx(whole.value, abs=1e-12)
    with pytest.raises(melicit.MelicitError, match="no sums are wanted"):
        search.step(sum(each))
    with pytest.raises(melicit.MelicitError, match="another iterate"):
        melicit.Search("accuracy", p, y, shape=shape).step(sum(each))
    assert before.moments(parts[0][1], parts[0][2], "x").rows == 400  # an older one stays what it was
    with pytest.raises(ZeroDivisionError):
        search = melicit.Search(lambda matrix: 1 / 0, p, y, shape=shape)
        search.step(sum(melicit.moments(search.iterate, q, t, part=name) for name, q, t, _ in parts))
    calls = []

    def fails_once(matrix):
        calls.append(matrix)
        if len(calls) == 3:
            raise OSError("not now")
        return recalls(matrix)

    search, failed = melicit.Search(fails_once, p, y, iterations=5, shape=shape), 0
    while search.iterate is not None:
        at = search.iterate
        try:
            search.step(sum(melicit.moments(at, q, t, part=name) for name, q, t, _ in parts))
        except OSError:
            failed += 1
            assert search.iterate is at
    assert failed == 1 and search.rule.gains == pytest.approx(whole.gains, abs=1e-6)
    with pytest.raises(melicit.MelicitError, match="shape 'round'"):
        melicit.Search("accuracy", p, y, shape="round")


def test_dask():
    """On a cluster of two workers; the example checks itself."""
    done = run("-W", "default", SOURCE / "python" / "examples" / "dask_training.py")
    assert done.returncode == 0 and "12000 rows" in done.stdout and "best threshold" in done.stdout and "after 10 iterations" in done.stdout, done.stderr
