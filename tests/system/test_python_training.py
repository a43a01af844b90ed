"""melicit.Model: a logistic regression of the library, here and in other processes."""
import pickle

import numpy as np
import pytest

from python_package import SOURCE  # noqa: F401  puts the package on the path

import melicit

pytestmark = pytest.mark.plain("Python cannot load a library with sanitizers")


def test_model():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(500, 3))
    y = np.array(list("abc"))[(X @ rng.normal(size=(3, 3)) + rng.gumbel(size=(500, 3))).argmax(axis=1)]
    weight = rng.uniform(0.5, 1.5, 500)
    model = melicit.Model.fit(X, y, weight)
    p = model.predict_proba(X)
    assert model.classes_ == list("abc") and np.allclose(p.sum(axis=1), 1)
    # The fit is where the gradient of the intercepts is 0: mean probabilities are the shares of the classes.
    assert np.allclose(np.average(p, axis=0, weights=weight), [np.average(y == c, weights=weight) for c in "abc"], atol=1e-6)
    assert np.array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), p)
    with pytest.raises(melicit.MelicitError, match="1 labels for"):
        melicit.Model.fit(X, ["a"])
