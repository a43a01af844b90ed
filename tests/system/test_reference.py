"""Every numbered algorithm of the thesis' chapters 3 to 7 beside an independent implementation in NumPy (tests/reference).

Both ask the same simulated respondent, who never errs. What halving and closed forms determine agrees to 1e-9; where the program
joins slopes by least squares and the reference by the printed formulas, both are within a multiple of the search's tolerance.
"""
import json
import sys

import numpy as np
import pytest
from classes import layout, metric_text
from conftest import SOURCE

sys.path.insert(0, str(SOURCE / "tests" / "reference"))
import blackbox  # noqa: E402  (a folder of its own)
import searches  # noqa: E402

pytestmark = pytest.mark.plain("about numbers")
CLOSE = {"rtol": 0, "atol": 1e-9}
SEEDS = range(3)


def elicit(melicit, ground, family, truth, *options):
    """The coefficients that the program's search finds, and the centres of the pairs that it asked about."""
    melicit.write("truth.json", truth)
    found = melicit("elicit", *ground, "--family", family, "--strategy", "search", "--oracle", "sim:truth.json", "--noise", "none",
                    "--log-questions", "asked.jsonl", *options, "--json").done().json
    asked = [json.loads(line) for line in (melicit.folder / "asked.jsonl").read_text().splitlines()]
    (melicit.folder / "asked.jsonl").unlink()
    return found["metric"]["coefficients"], [(np.array(q["a"]) + q["b"]) / 2 for q in asked]


def by_value(value):
    """A respondent who prefers the larger value."""
    return lambda x, y: value(y) > value(x)


def by_gradient(gradient):
    """A respondent asked about opposite steps: prefers the one along the gradient."""
    return lambda x, y: gradient @ (y - x) > 0


def generator(seed):
    return np.random.Generator(np.random.PCG64(seed))


# --- two classes -----------------------------------------------------------------------------------------------------

BINARY = ("--population", "logistic:a=5,b=0.3", "--classes", "no,yes")
CONFUSION = layout("confusion", "binary", 2, classes=["no", "yes"])
ETA = 1 / (1 + np.exp(5 * ((np.arange(100_000) + 0.5) / 50_000 - 1) + 0.3))
SHARES = np.array([ETA.mean(), 1 - ETA.mean()])


@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_3_1(melicit, seed):
    truth = searches.slope(generator(seed).uniform(0.1, 1.4))
    found, _ = elicit(melicit, BINARY, "linear", metric_text("linear", CONFUSION, a=truth.tolist()), "--tolerance", 0.01)
    wanted = searches.two_classes(ETA, by_value(lambda point: truth @ point), 0.01)
    np.testing.assert_allclose(found["a"], searches.slope(wanted), **CLOSE)


@pytest.mark.parametrize("p11", [0.8, 0.6, 0.3])
def test_algorithms_3_2_and_3_3(melicit, p11):
    p = np.array([p11, 1 - p11])
    q = np.array([0.5 * p11, -0.3 * (1 - p11)])
    q0 = (p - q) @ SHARES
    value = lambda point: (p @ point) / (q @ point + q0)
    truth = metric_text("linear-fractional", CONFUSION, p=p.tolist(), p0=0, q=q.tolist(), q0=q0)
    found, _ = elicit(melicit, BINARY, "linear-fractional", truth, "--tolerance", 0.01)
    upper, lower = (searches.line(ETA, searches.two_classes(ETA, by_value(value), 0.01, minimise)) for minimise in (False, True))
    wanted = searches.pivot_form(upper, lower)
    np.testing.assert_allclose(found["p"], wanted, **CLOSE)
    np.testing.assert_allclose(np.append(found["q"], found["q0"]), np.append(*searches.proposition_3_4(wanted, upper, SHARES)), **CLOSE)
    # The printed grid is inexact (docs/corrections.md): its metric never orders more pairs as the respondent does.
    points = np.array([searches.support(ETA, searches.slope(angle)) for angle in np.append(np.linspace(0.05, 1.5, 15), np.linspace(3.2, 4.6, 15))])
    by_grid = searches.grid(upper, lower, SHARES, points, 0.005)

    def agreement(p):
        q, q0 = searches.proposition_3_4(p, upper, SHARES)
        true, own = np.array([value(x) for x in points]), points @ p / (points @ q + q0)
        return np.mean(np.sign(true[:, None] - true) == np.sign(own[:, None] - own))

    assert agreement(wanted) > 0.98 and agreement(wanted) >= agreement(by_grid)


# --- more classes ----------------------------------------------------------------------------------------------------


def softmax_rows(slopes, n=10_000):
    x = (np.arange(n) + 0.5) / n * 2 - 1
    score = np.exp(-np.outer(x, slopes))
    return score / score.sum(axis=1, keepdims=True)


SOFTMAX = ("--population", "softmax:1,3,5", "--classes", "a,b,c")
DIAGONAL = layout("confusion", "diagonal", 3, classes=["a", "b", "c"])


@pytest.mark.parametrize("weights", [(0.5, 0.3, 0.2), (0.25, 0.35, 0.4), (0.4, 0.15, 0.45)])
def test_algorithm_4_1(melicit, weights):
    rows = softmax_rows([1, 3, 5])
    found, _ = elicit(melicit, SOFTMAX, "diagonal-linear", metric_text("diagonal-linear", DIAGONAL, a=weights), "--tolerance", 0.01)
    wanted = searches.diagonal_linear(rows, by_value(lambda d: np.array(weights) @ d), 0.01)
    np.testing.assert_allclose(found["a"], wanted, **CLOSE)


@pytest.mark.parametrize("a, b, b0", [((0.45, 0.27, 0.28), (0.39, 0.22, -0.6), 0.43), ((0.3, 0.5, 0.2), (0.11, -0.2, -0.2), 0.41)])
def test_algorithms_4_3_and_4_4(melicit, a, b, b0):
    rows = softmax_rows([1, 3, 5])
    value = lambda d: (np.array(a) @ d) / (np.array(b) @ d + b0)
    truth = metric_text("diagonal-linear-fractional", DIAGONAL, a=a, b=b, b0=b0)
    found, _ = elicit(melicit, SOFTMAX, "diagonal-linear-fractional", truth, "--tolerance", 0.01)
    wanted = searches.diagonal_fractional(rows, by_value(value), 0.01)
    np.testing.assert_allclose(found["a"], wanted[0] / wanted[0].sum(), **CLOSE)
    # b and b0 are fixed up to psi -> psi/(s + t psi): (b, b0) lies in the plane of the reference's and of (a, 0).
    plane = np.array([np.append(wanted[1], wanted[2]), np.append(wanted[0], 0)])
    rest = np.append(found["b"], found["b0"])
    np.testing.assert_allclose(plane.T @ np.linalg.lstsq(plane.T, rest, rcond=None)[0], rest, **CLOSE)


BALL = ("--ball", 3, "--radius", 0.2, "--classes", "a,b,c")
RATES = layout("rates", "offdiagonal", 3, classes=["a", "b", "c"])


@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_4_2(melicit, seed):
    truth = -generator(seed).dirichlet(np.full(6, 2))
    found, _ = elicit(melicit, BALL, "linear", metric_text("linear", RATES, a=truth.tolist()), "--tolerance", 0.01)
    np.testing.assert_allclose(found["a"], searches.sphere(by_value(lambda x: truth @ x), -np.ones(6), 0.01), **CLOSE)


@pytest.mark.parametrize("seed", SEEDS)
def test_algorithms_4_5_and_4_6(melicit, seed):
    random = generator(seed)
    a, b = -random.dirichlet(np.full(6, 2)), 0.3 * random.uniform(0, 1, 6)
    centre, radius, b0 = np.full(6, 1 / 3), 0.2, 1.0
    value = lambda x: (a @ (centre + radius * x)) / (b @ (centre + radius * x) + b0)
    found, _ = elicit(melicit, BALL, "linear-fractional", metric_text("linear-fractional", RATES, a=a.tolist(), b=b.tolist(), b0=b0), "--tolerance", 0.01)
    wanted = searches.fractional_ball(by_value(value), -np.ones(6), 0.01, centre, radius)
    np.testing.assert_allclose(np.abs(found["a"]), np.abs(wanted), **CLOSE)


# --- groups ----------------------------------------------------------------------------------------------------------

TAU = np.array([0.2, 0.5])  # of the first group, of the true classes
GROUPS = layout("rates", "offdiagonal", 2, "12", classes=["n", "y"])


def fair_ground(melicit):
    melicit.write("prevalence.csv", "n,y\n" + "\n".join(",".join(map(str, row)) for row in (TAU, 1 - TAU)) + "\n")
    return ("--ball", "2,2", "--radius", 0.2, "--prevalence", "prevalence.csv", "--classes", "n,y")


def fair_gradient(a, b, trade_off, fixed):
    """Of the utility, by the rates of the groups that move."""
    if fixed is None:
        return -(1 - trade_off) * a
    return -((1 - trade_off) * TAU * a + trade_off * b * np.where(np.array(fixed) == 0, 1, -1))


@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_5_1(melicit, seed):
    random = generator(seed)
    a, b = (searches.slope(angle) for angle in random.uniform(0.3, 1.2, 2))
    trade_off = random.uniform(0.3, 0.7)
    truth = metric_text("fair-linear", GROUPS, "cost", a=a.tolist(), b={"1-2": b.tolist()}, prevalence=[TAU.tolist(), (1 - TAU).tolist()], **{"lambda": trade_off})
    found, _ = elicit(melicit, fair_ground(melicit), "fair-linear", truth, "--tolerance", 0.001)
    together, slopes = searches.fair_linear_two_groups(lambda fixed: by_gradient(fair_gradient(a, b, trade_off, fixed)), 2, 0.001)
    weights = searches.join_fair(-together, [(fixed, -g) for fixed, g in slopes], TAU)
    size = np.linalg.norm(weights)
    np.testing.assert_allclose(found["a"], -together, **CLOSE)
    np.testing.assert_allclose(found["b"]["1-2"], weights / size, **CLOSE)
    assert found["lambda"] == pytest.approx(size / (1 + size), abs=1e-9)
    assert found["lambda"] == pytest.approx(trade_off, abs=0.01)


@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_5_2(melicit, seed):
    random = generator(seed)
    a, b = (searches.slope(angle) for angle in random.uniform([0.3, 0.9], [0.6, 1.2]))
    trade_off = random.uniform(0.2, 0.8)
    truth = metric_text("fair-linear", GROUPS, "cost", a=a.tolist(), b={"1-2": b.tolist()}, prevalence=[TAU.tolist(), (1 - TAU).tolist()], **{"lambda": trade_off})
    melicit.write("truth.json", truth)
    found, _ = elicit(melicit, fair_ground(melicit), "fair-linear", truth, "--known", "truth.json", "--tolerance", 0.001)
    by_group = [searches.trade_off(tau * a, b, trade_off, 0.001) for tau in (TAU, 1 - TAU)]
    assert min(abs(found["lambda"] - wanted) for wanted in by_group) < 1e-9
    assert found["lambda"] == pytest.approx(trade_off, abs=0.001)


# --- quadratic metrics -----------------------------------------------------------------------------------------------

FINE = 1e-5


def step_of(centres):
    """How far from the middle place the others are: the longest distance."""
    return max(np.abs(centre - centres[0]).max() for centre in centres)


@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_6_1(melicit, seed):
    random = generator(seed)
    a, b = random.uniform(0.5, 1, 2), random.uniform(0.3, 1, (2, 2))
    b = (b + b.T) / 2
    size = np.sqrt(a @ a + (b * b).sum())
    truth = metric_text("quadratic", layout("rates", "offdiagonal", 2, classes=["n", "y"]), "cost", a=(a / size).tolist(), B=(b / size).tolist())
    found, centres = elicit(melicit, ("--ball", 2, "--radius", 0.2, "--classes", "n,y"), "quadratic", truth, "--tolerance", FINE)
    middle = np.full(2, 0.5)
    d, curved = searches.quadratic(lambda shift: by_gradient(-(a + b @ (middle + shift))), 2, step_of(centres), FINE)
    wanted = np.append(d - curved @ middle, curved)
    wanted *= np.sign(wanted[0]) / np.linalg.norm(wanted)
    got = np.append(found["a"], found["B"])
    np.testing.assert_allclose(wanted, np.append(a, b) / size, atol=0.01)
    np.testing.assert_allclose(got, np.append(a, b) / size, atol=0.01)


@pytest.mark.parametrize("seed", SEEDS)
def test_algorithm_d_2(melicit, seed):
    random = generator(seed)
    a, b = searches.slope(random.uniform(0.5, 1)), random.uniform(0.3, 1, (2, 2))
    b = b + b.T + np.eye(2)
    b *= 2 / np.linalg.norm(b)
    trade_off = random.uniform(0.4, 0.6)
    truth = metric_text("fair-quadratic", GROUPS, "cost", a=a.tolist(), B={"1-2": b.tolist()}, prevalence=[TAU.tolist(), (1 - TAU).tolist()], **{"lambda": trade_off})
    found, centres = elicit(melicit, fair_ground(melicit), "fair-quadratic", truth, "--tolerance", FINE)
    gradient = lambda shift: -((1 - trade_off) * TAU * a + trade_off * b @ shift)
    wanted = searches.fair_quadratic_two_groups(lambda shift: by_gradient(gradient(shift)), 2, step_of(centres), FINE, TAU)
    for got in (wanted, (found["a"], found["B"]["1-2"], found["lambda"])):
        np.testing.assert_allclose(got[0], a, atol=0.01)
        np.testing.assert_allclose(got[1], b, atol=0.02)
        assert got[2] == pytest.approx(trade_off, abs=0.01)


# --- black-box metrics -----------------------------------------------------------------------------------------------


def black_box_rows(melicit, name, n, random):
    """Probabilities, labels and two basis functions that overlap; their files."""
    y = random.integers(0, 3, n)
    score = random.normal(size=(n, 3)) + 1.3 * (y[:, None] == np.arange(3))
    p = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    first = random.random(n) < 0.7
    f = np.column_stack([first, ~first | (random.random(n) < 0.5)]).astype(float)  # every row is in one or both
    for what, values in (("p", p), ("y", y), ("f", f)):
        np.save(melicit.folder / f"{name}{what}.npy", values)
    return p, y, f


@pytest.mark.parametrize("basis, method, steps", [
    ("default", "pi-ew", [1]), ("columns:c1,c2", "pi-ew", [1]),
    ("default", "fw-eg", [2 / (t + 3) for t in range(12)]), ("columns:c1,c2", "fw-eg", [2 / (t + 3) for t in range(12)]),
])
def test_algorithms_7_1_to_7_3(melicit, basis, method, steps):
    random = generator(7)
    sides = [black_box_rows(melicit, name, n, random) for name, n in (("t", 900), ("v", 400))]
    if basis == "default":
        sides = [(p, y, np.ones((len(y), 1))) for p, y, _ in sides]
    features = () if basis == "default" else ("--features", "tf.npy", "--validation-features", "vf.npy", "--basis", basis)
    rounds = () if method == "pi-ew" else ("--iterations", len(steps))
    found = melicit("optimise", "--probs", "tp.npy", "--labels", "ty.npy", "--validation-probs", "vp.npy", "--validation-labels", "vy.npy", "--metric", "g-mean",
                    "--method", method, *features, *rounds, "--out", "c.json", "--json").done().json
    assert found["validation"] == pytest.approx(blackbox.frank_wolfe(blackbox.g_mean, *sides, steps), abs=1e-9)
