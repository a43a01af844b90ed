"""melicit.moments: sums over parts of the rows, in other processes and in any order; the example on dask.distributed."""
import itertools
import multiprocessing
import pickle

import numpy as np
import pytest
from python_package import SOURCE, run

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


def test_dask():
    """On a cluster of two workers; the example checks itself."""
    done = run("-W", "default", SOURCE / "python" / "examples" / "dask_training.py")
    assert done.returncode == 0 and "12000 rows" in done.stdout and "best threshold" in done.stdout, done.stderr
