"""What the tests of the Python package share: where it was built, and rows to test on."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

SOURCE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("MELICIT_BUILD", SOURCE / "build")).resolve()
SITE = BUILD / "python" / "site"
assert (SITE / "melicit").is_dir(), "build first: cmake --build build --target python"
sys.path.insert(0, str(SITE))


def environment(**more):
    env = {k: v for k, v in os.environ.items() if k != "MELICIT_DATA"}
    return {**env, "PYTHONPATH": str(SITE), "PYTHONDONTWRITEBYTECODE": "1", "OMP_WAIT_POLICY": "passive", **more}


def run(*args, timeout=900, **more):
    """A Python of its own that takes warnings for errors."""
    return subprocess.run(
        [sys.executable, "-W", "error", *map(str, args)],
        capture_output=True, text=True, timeout=timeout, env=environment(**more),
    )


def rows(n=600, k=2, seed=0):
    """True classes and probabilities that are about right."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    score = rng.normal(size=(n, k)) + 1.5 * (y[:, None] == np.arange(k))
    p = np.exp(1.5 * score)
    return y, p / p.sum(axis=1, keepdims=True)
