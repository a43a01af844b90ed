"""What foreign files hold is read as it is meant or refused, and what the program writes reads back."""
import json

import numpy
import pytest
from classes import layout, metric_text


def column(melicit, name, header, cells):
    melicit.write(name, "".join(f"{cell}\n" for cell in [header, *cells]))


# --- numbers ------------------------------------------------------------------------------------------


def test_float32_probabilities_are_not_worth_a_warning(melicit):
    rng = numpy.random.default_rng(3)
    p = rng.dirichlet([1, 1, 1], 300).astype("float32")
    assert 1e-9 < abs(p.astype(float).sum(axis=1) - 1).max() < 1e-6
    numpy.save(melicit.folder / "p.npy", p)
    numpy.save(melicit.folder / "y.npy", rng.integers(0, 3, 300))
    got = melicit("space", "--probs", "p.npy", "--labels", "y.npy", "--strict", "--json").done().json
    assert "warnings" not in got
    numpy.save(melicit.folder / "p.npy", p + numpy.array([2e-6, 0, 0]))
    melicit("space", "--probs", "p.npy", "--labels", "y.npy", "--strict").refused(3, "p.npy", "sum to 1")
