"""The corrections of the thesis that docs/corrections.md derives, with exact numbers: the corrected formula holds, the printed one does not.

Where the formula is the program's, the program is asked too. docs/corrections.md names a test for every correction."""
import itertools
import json
import math
import re

import numpy
import pytest
import scipy.optimize
from conftest import SOURCE

pytestmark = pytest.mark.plain("the same numbers without sanitizers")

# p11, p00, q11, q00, q0 of table 3.2
FRACTIONAL = [(1.0, 0.0, 0.5, -0.5, 0.5), (1.0, 0.0, 0.8, -0.8, 0.5), (0.8, 0.2, 0.3, 0.1, 0.3), (0.6, 0.4, 0.4, 0.2, 0.2),
              (0.4, 0.6, -0.1, -0.2, 0.65), (0.2, 0.8, -0.4, -0.2, 0.8)]
# a, b, b0 of table B.4
DIAGONAL = [((0.21, 0.59, 0.2), (0.11, -0.22, -0.27), 0.41), ((0.45, 0.27, 0.29), (0.39, 0.22, -0.76), 0.43), ((0.08, 0.42, 0.5), (0.07, -0.63, 0.2), 0.37)]


def unit(x):
    return x / numpy.linalg.norm(x)


def generator(seed):
    return numpy.random.Generator(numpy.random.PCG64(seed))


@pytest.fixture(scope="module")
def face():
    """The corners of what is achievable on the population logistic:a=5,b=0, by thresholds and their reflections."""
    t = numpy.linspace(-1, 1, 4001)
    area = lambda x: numpy.log1p(numpy.exp(-5 * x)) / -10  # of eta/2 up to x
    tp, tn = area(t) - area(-1), (1 - t) / 2 - (area(1) - area(t))
    share = area(1) - area(-1)
    upper = numpy.column_stack([tp, tn])
    return numpy.vstack([upper, numpy.array([share, 1 - share]) - upper])


def test_face_is_the_program_s(melicit, face):
    """The set that the tests below compute with is that of the program."""
    got = numpy.array(melicit("space", "--population", "logistic:a=5,b=0", "--json").done().json["vertices"])
    for angle in numpy.linspace(0, 2 * math.pi, 13):
        direction = numpy.array([math.cos(angle), math.sin(angle)])
        assert (got @ direction).max() == pytest.approx((face @ direction).max(), abs=2e-4)


def parts(metric, points):
    p, q, q0 = numpy.array(metric[:2]), numpy.array(metric[2:4]), metric[4]
    return p, q, q0, points @ p / (points @ q + q0)


def lines(metric, points):
    """(direction, distance, length) of the supporting lines at the best and at the worst point, each pointing out of the set."""
    p, q, q0, value = parts(metric, points)
    out = []
    for at, sign in ((value.argmax(), 1), (value.argmin(), -1)):
        slope = sign * (p - value[at] * q)
        size = numpy.linalg.norm(slope)
        out.append((slope / size, points[at] @ slope / size, size, value[at]))
    return out


@pytest.mark.parametrize("metric", FRACTIONAL)
def test_supporting_line(face, metric):
    """No achievable point is beyond (p11 - tau q11, p00 - tau q00); with p11 - tau q11 twice some are."""
    p, q, q0, value = parts(metric, face)
    best, slope = value.argmax(), p - value.max() * q
    assert (face @ slope).max() == pytest.approx(face[best] @ slope, abs=1e-12)
    printed = numpy.array([slope[0], slope[0]])
    assert (face @ printed).max() > face[best] @ printed + 1e-5


@pytest.mark.parametrize("metric", FRACTIONAL)
def test_lower_system(face, metric):
    """At the worst point p - tau q points into the set, so the outward line has the right-hand side -m; +m gives another denominator."""
    p, q, q0, _ = parts(metric, face)
    (_, _, _, _), (m, c, size, tau) = lines(metric, face)
    if tau == 0:  # F-measures are 0 at worst: the line tells p alone
        assert unit(p) == pytest.approx(-m, abs=1e-9)
        return
    corrected, printed = p / size + m, p / size - m
    assert corrected == pytest.approx(tau * q / size, abs=1e-9) and -c == pytest.approx(tau * q0 / size, abs=1e-9)
    assert numpy.abs(printed - tau * q / size).max() > 0.1


@pytest.mark.parametrize("metric", FRACTIONAL)
def test_solutions_are_no_multiples(face, metric):
    """With p11 + p00 = 1 put in, the solution orders all points as the metric does, but its ratio to the metric varies."""
    p, q, q0, value = parts(metric, face)
    m, c, size, tau = lines(metric, face)[0]
    mine = p / p.sum()
    below = face @ (mine - m) + c
    found, defined = face @ mine / below, below > 1e-9
    assert defined.mean() > 0.5
    assert (numpy.diff(found[defined][numpy.argsort(value[defined])]) > -1e-9).all()
    positive = value > 0.05
    ratio = found[positive] / value[positive]
    assert ratio.std() > 0.01
    s, g = 1 / p.sum(), size
    assert found == pytest.approx(s * value / ((s - 1 / g) * value + tau / g), rel=1e-6)


@pytest.mark.parametrize("metric", FRACTIONAL)
def test_pivot(face, metric):
    """Order is the sign of a triple product with the pivot, and p is proportional to c_low m_up - c_up m_low."""
    p, q, q0, value = parts(metric, face)
    (up, c_up, _, _), (low, c_low, _, _) = lines(metric, face)
    assert abs(unit(c_low * up - c_up * low) @ unit(p)) == pytest.approx(1, abs=1e-9)
    pivot = numpy.cross([*p, 0], [*q, q0])
    rng = generator(1)
    for one, other in rng.integers(len(face), size=(200, 2)):
        if abs(value[one] - value[other]) > 1e-9:
            assert numpy.sign(value[one] - value[other]) == numpy.sign(pivot @ numpy.cross([*face[one], 1], [*face[other], 1]))


def test_mixed_signs(melicit, face):
    """m11 and m00 of opposite sign: the best classifier is trivial, though the threshold m00/(m11 + m00) may be anywhere outside [0, 1]."""
    for m11, m00 in ((1, -0.2), (-0.2, 1), (1, -3), (-3, 1)):
        best = face[(face @ [m11, m00]).argmax()]
        assert not 0 <= m00 / (m11 + m00) <= 1
        assert best == pytest.approx([0.5, 0] if m11 > 0 else [0, 0.5], abs=1e-9)


def test_misprint_of_table_3_2(face):
    """Row 4 with q0 = 0.76 has the ratio 0.82 that the table gives; with 76 as printed it does not."""
    _, _, _, true = parts((0.6, 0.4, 0.4, 0.2, 0.2), face)
    upper = face[:4001:4]
    ratio = {q0: (parts((0.67, 0.33, -0.07, -0.44, q0), upper)[3] / true[:4001:4]).mean() for q0 in (0.76, 76)}
    assert ratio[0.76] == pytest.approx(0.82, abs=0.12) and ratio[76] < 0.05


def softmax(k, n=4000):
    x = (numpy.arange(n) + 0.5) * 2 / n - 1
    eta = numpy.exp(-numpy.outer(x, (1, 3, 6, 10)[:k] if k > 3 else (1, 3, 5)))
    return eta / eta.sum(axis=1, keepdims=True)


def best_diagonal(eta, weights, classes):
    """The diagonal that is best for the weights among classifiers that only ever decide between these classes."""
    gain = (eta * weights)[:, classes]
    diagonal = numpy.zeros(eta.shape[1])
    for j, c in enumerate(classes):
        diagonal[c] = eta[gain.argmax(axis=1) == j, c].sum() / len(eta)
    return diagonal


def best_fraction(eta, a, b, b0, classes):
    tau = 0.0
    for _ in range(60):
        d = best_diagonal(eta, a - tau * b, classes)
        tau = a @ d / (b @ d + b0)
    return tau


def test_remark_is_quasiconcave():
    """Along the boundary of a face a linear metric rises and falls once, but it is not concave in the parameter."""
    eta, a = softmax(3), numpy.array([0.3, 0.5, 0.2])
    value = numpy.array([a @ best_diagonal(eta, numpy.array([m, 1 - m, 0]), [0, 1]) for m in numpy.linspace(0.02, 0.98, 39)])
    steps = numpy.diff(value)
    top = value.argmax()
    assert (steps[:top] >= -1e-12).all() and (steps[top:] <= 1e-12).all()
    assert (numpy.diff(steps) > 1e-4).any()


def test_lower_ratio():
    """The worst point of a face for (a1, ai) is best for (m, -1 - m) with m in [-1, 0]: the ratio is (-1 - m)/m; (1 - m)/m is below 0."""
    for first, other in ((0.3, 0.7), (0.8, 0.2)):
        m = -first / (first + other)
        assert (-1 - m) / m == pytest.approx(other / first) and (1 - m) / m < 0


@pytest.mark.parametrize("a, b, b0", DIAGONAL)
def test_pairwise_maxima(a, b, b0):
    """Some face of two classes has another best value than the whole, so that the slope there differs."""
    eta, a, b = softmax(3), numpy.array(a), numpy.array(b)
    best = best_fraction(eta, a, b, b0, [0, 1, 2])
    faces = [best_fraction(eta, a, b, b0, [0, i]) for i in (1, 2)]
    assert min(faces) < best - 1e-3
    slope = unit(a - best * b)
    apart = [abs(slope[i] / (slope[0] + slope[i]) - (a - tau * b)[i] / ((a - tau * b)[0] + (a - tau * b)[i])) for i, tau in zip((1, 2), faces)]
    assert max(apart) > 0.005


@pytest.mark.parametrize("a, b, b0", DIAGONAL)
def test_denominator_needs_the_scale(a, b, b0):
    """b from the slope at the best point: right with a in the slope's scale, wrong with the sum of a set to 1; the order is right both times."""
    eta, a, b = softmax(3), numpy.array(a), numpy.array(b)
    tau = best_fraction(eta, a, b, b0, [0, 1, 2])
    size = numpy.linalg.norm(a - tau * b)
    slope = (a - tau * b) / size
    right, forced = (a / size - slope) * size / tau, (a / a.sum() - slope) / tau
    assert right == pytest.approx(b, abs=1e-9) and numpy.abs(forced - b).max() > 0.05
    d = best_diagonal(eta, a - tau * b, [0, 1, 2])
    points = generator(2).dirichlet(numpy.ones(3), 300) * [d.sum()] * 0.9
    below = points @ (a / a.sum() - slope) + slope @ d
    defined = below > 1e-9
    assert defined.mean() > 0.5
    truth, other = (points @ a / (points @ b + b0))[defined], (points @ (a / a.sum()) / below)[defined]
    assert (numpy.argsort(truth) == numpy.argsort(other)).all()


def test_reference_class(melicit):
    """Ratios to a class that hardly counts are inexact; the winner of a tournament has the largest weight."""
    path = melicit.folder / "metric.json"
    path.write_text(json.dumps({"format": "melicit-metric", "version": 1, "family": "diagonal-linear", "orientation": "utility",
                                "layout": {"kind": "confusion", "coordinates": "diagonal", "classes": ["0", "1", "2"], "groups": []},
                                "coefficients": {"a": [0.02, 0.38, 0.6]}}))
    words = ("elicit", "--population", "softmax:1,3,5", "--family", "diagonal-linear", "--oracle", f"sim:{path}", "--strategy", "search", "--tolerance", 0.01, "--json")
    off = [numpy.abs(numpy.array(melicit(*words, *more).done().json["metric"]["coefficients"]["a"]) - [0.02, 0.38, 0.6]).max() for more in ((), ("--thesis", "tournament",))]
    assert off[0] > 0.05 and off[1] < 0.01


def farthest(eta, direction):
    """How far from the even guess the direction leads before no classifier achieves the mistakes, by a linear program over all classifiers."""
    n, k = eta.shape
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    equal = numpy.zeros((n + len(pairs), n * k + 1))
    for row in range(n):
        equal[row, row * k:(row + 1) * k] = 1
    for c, (i, j) in enumerate(pairs):
        equal[n + c, j:n * k:k] = eta[:, i] / n
        equal[n + c, -1] = -direction[c]
    right = numpy.r_[numpy.ones(n), [eta[:, i].mean() / k for i, _ in pairs]]
    return scipy.optimize.linprog(numpy.r_[numpy.zeros(n * k), -1], A_eq=equal, b_eq=right, bounds=(0, None)).x[-1]


def test_steps_along_axes(melicit):
    """Steps forwards and back are equally long, as exchanging two decisions shows; the ball that they guarantee is far smaller than the largest."""
    eta = softmax(4, 60)
    for axis in (0, 4, 11):
        step = numpy.eye(12)[axis]
        assert farthest(eta, step) == pytest.approx(farthest(eta, -step), rel=1e-6)
    radius = [melicit("space", "--population", "softmax:1,3,5", "--thesis", "kind=rates", "--thesis", f"radius-method={how}", "--json").done().json["radius"] for how in ("thesis", "inscribed")]
    assert radius[0] < 0.8 * radius[1]


def fair_slope(a, b, tau, sign, trade_off):
    """Of the group that moves, the other one standing at a trivial classifier whose rates it is above (sign 1) or below (-1)."""
    return (1 - trade_off) * a * tau + trade_off * sign * b


def test_signs_of_fair_slopes():
    """Most slopes of the second part have a coordinate of the other sign, where the search of one orthant does not look."""
    rng, left = generator(3), {}
    for k in (2, 3):
        q, out = k * (k - 1), 0
        for _ in range(2000):
            a, b = unit(abs(rng.normal(size=q))), unit(abs(rng.normal(size=q)))
            share = rng.dirichlet([5, 5], k)[:, 0]
            tau = numpy.array([share[i] for i in range(k) for j in range(k) if i != j])
            signs = numpy.array([1 - 2 * (j == 0) for i in range(k) for j in range(k) if i != j])
            out += (fair_slope(a, b, tau, signs, rng.uniform()) < 0).any()
        left[k] = out / 2000
    assert left[2] > 0.4 and left[3] > left[2]


def test_last_class():
    """Two slopes, against the trivial classifiers of class 1 and of class k, give the length of the first: a rate of decisions in between has one
    sign in both, and one of decision k changes it. With class 2 in the place of class k the former changes its sign, too."""
    k = 3
    pairs = [(i, j) for i in range(k) for j in range(k) if i != j]
    sign = {c: numpy.array([1 - 2 * (j == c) for i, j in pairs]) for c in range(k)}
    rng = generator(4)
    a, b, tau = unit(abs(rng.normal(size=6))), unit(abs(rng.normal(size=6))), rng.uniform(0.3, 0.7, 6)
    slopes = {c: unit(a * tau + 0.8 * sign[c] * b) for c in range(k)}

    def scale(other):
        """delta of the first slope, from the coordinates that the two places share and those of decision k that change between them."""
        keep, turn = [i for i, (x, y) in enumerate(pairs) if y == 1][0], [i for i, (x, y) in enumerate(pairs) if y == k - 1][0]
        one, two = slopes[0], slopes[other]
        second = one[keep] / two[keep]                       # both lengths in the unit of the first
        return 2 * (a * tau)[turn] / (one[turn] + second * two[turn])

    solve = lambda delta: sign[0] * (delta * slopes[0] - a * tau)
    assert solve(scale(k - 1)) == pytest.approx(0.8 * b, abs=1e-12)
    assert numpy.linalg.norm(solve(scale(1)) - 0.8 * b) > 0.1


def test_trade_off_needs_no_question():
    """S, the sum of the norms of lambda b/(1 - lambda), gives lambda = S/(1 + S)."""
    rng = generator(5)
    for _ in range(50):
        trade_off, b = rng.uniform(), [abs(rng.normal(size=6)) for _ in range(3)]
        total = sum(map(numpy.linalg.norm, b))
        s = sum(numpy.linalg.norm(trade_off / (1 - trade_off) * v / total) for v in b)
        assert s / (1 + s) == pytest.approx(trade_off)


def test_trade_off_along_parallel_gradients():
    """Where tau a and b are parallel a step of one group changes both parts alike: no question of Algorithm 5.2 tells lambda, though <a, b> is not 1."""
    rng = generator(6)
    a, tau = unit(abs(rng.normal(size=6))), rng.uniform(0.2, 0.8, 6)
    b = unit(tau * a)
    assert a @ b < 0.999
    directions = [unit((1 - t) * tau * a + t * b) for t in (0.1, 0.5, 0.9)]
    assert directions[0] == pytest.approx(directions[1]) and directions[1] == pytest.approx(directions[2])


def test_costs_are_avoided(melicit):
    """A simulated respondent with a cost prefers the smaller value."""
    found = {}
    for orientation, sign in (("utility", 1), ("cost", -1)):
        path = melicit.folder / f"{orientation}.json"
        path.write_text(json.dumps({"format": "melicit-metric", "version": 1, "family": "linear", "orientation": orientation,
                                    "layout": {"kind": "confusion", "coordinates": "binary", "classes": ["0", "1"], "groups": []},
                                    "coefficients": {"a": [sign * 0.8, sign * 0.6]}}))
        found[orientation] = melicit("elicit", "--population", "logistic:a=5,b=0", "--oracle", f"sim:{path}", "--tolerance", 0.02, "--json").done().json["metric"]["coefficients"]["a"]
    assert found["cost"] == found["utility"] == pytest.approx([0.8, 0.6], abs=0.05)


def quadratic(q, rng):
    b = rng.normal(size=(q, q))
    return rng.normal(size=q), (b + b.T) / 2


def exact_slopes(a, b, o, h):
    d = a + b @ o
    return d, numpy.array([d] + [d + h * b[:, j] for j in range(len(a))]), d - h * b[:, 0]


def test_slopes_to_coefficients():
    """B_ij from ratios of slopes, and a = d - B o, with exact slopes; the printed formula and a = d + B o are far off."""
    rng, wrong = generator(7), []
    for _ in range(20):
        q, h = 6, 0.18
        o = numpy.full(q, 1 / 3)
        a, b = quadratic(q, rng)
        d, f, minus = exact_slopes(a, b, o, h)
        big = f[:, :] / f[:, :1]                              # big[l, i] = F_(i,1,l)
        low = minus / minus[0]
        b11 = (low[1] + big[1, 1] - 2 * big[0, 1]) / (low[1] - big[1, 1]) * d[0]
        own, printed = numpy.zeros((q, q)), numpy.zeros((q, q))
        for i, j in itertools.product(range(q), range(q)):
            own[i, j] = (big[j + 1, i] * (1 + big[1, j] - big[0, j]) - big[0, i]) * d[0] + big[j + 1, i] * big[1, j] * b11
            printed[i, j] = (big[j + 1, i] * (1 + big[1, j]) - big[j + 1, i] * big[0, j] * d[0] - big[0, i]) * d[0] + big[j + 1, i] * b11
        own[0, 0] = b11
        assert own / h == pytest.approx(b, rel=1e-6, abs=1e-6)
        assert d - own / h @ o == pytest.approx(a, rel=1e-6, abs=1e-6)
        wrong.append((numpy.abs(printed - b).max(), numpy.abs(d + b @ o - a).max()))
    assert (numpy.median(wrong, axis=0) > 0.1).all()


def test_opposite_place():
    """-z_1 is no rate; o - (rho - varrho) e_1 is one."""
    o, h = numpy.full(6, 1 / 3), 0.18
    e = numpy.eye(6)[0]
    assert (-(o + h * e) < 0).all() and (o - h * e >= 0).all()


def test_symmetric_pairs_are_exact():
    """The difference of opposite points of a quadratic metric is its slope at any distance; that of points on one side is not."""
    rng = generator(8)
    a, b = quadratic(6, rng)
    value = lambda x: a @ x + x @ b @ x / 2
    for radius in (0.3, 0.05, 0.001):
        c, u, v = rng.normal(size=6), radius * unit(rng.normal(size=6)), radius * unit(rng.normal(size=6))
        assert value(c + u) - value(c - u) == pytest.approx(2 * (a + b @ c) @ u, abs=1e-12)
        assert abs(value(c + u) - value(c + v) - (a + b @ c) @ (u - v)) > 1e-3 * radius**2


def test_normalisation_of_fair_quadratic():
    """Two groups: the slope at the centre is (1 - lambda) tau a, half the norm of B is 1 and lambda = S/(1 + S) with half of the norm."""
    rng = generator(9)
    for _ in range(20):
        a, tau, g, trade_off = unit(abs(rng.normal(size=6))), rng.uniform(0.2, 0.8, 6), rng.normal(size=(6, 6)), rng.uniform(0.1, 0.9)
        b = g @ g.T
        b *= 2 / numpy.linalg.norm(b)
        d, curved = (1 - trade_off) * tau * a, trade_off * b
        assert unit(d / tau) == pytest.approx(a) and numpy.abs(unit(d) - a).max() > 0.01
        s = numpy.linalg.norm(curved / numpy.linalg.norm(d / tau)) / 2
        assert s / (1 + s) == pytest.approx(trade_off)
        assert 2 * curved / numpy.linalg.norm(curved) == pytest.approx(b)


def test_cubic_needs_its_own_linear_term():
    """The slope of a cubic around z: with C[z, z, .]/2 the error falls with the square of the step, without it not at all."""
    rng = generator(10)
    c = rng.normal(size=(4, 4, 4))
    c = sum(c.transpose(order) for order in itertools.permutations(range(3))) / 6
    a, b = quadratic(4, rng)
    z, u = rng.normal(size=4), unit(rng.normal(size=4))
    slope = lambda x: a + b @ x + numpy.einsum("ijk,j,k->i", c, x, x) / 2
    off = {}
    for h in (0.1, 0.01):
        whole = a + b @ (z + h * u) + numpy.einsum("ijk,j,k->i", c, z, z) / 2 + h * numpy.einsum("ijk,j,k->i", c, z, u)
        missing = a + b @ (z + h * u) + h * numpy.einsum("ijk,j,k->i", c, z, u)
        off[h] = [numpy.abs(slope(z + h * u) - x).max() for x in (whole, missing)]
    assert off[0.01][0] < 0.02 * off[0.1][0] and off[0.01][1] > 0.5 * off[0.1][1] > 0


def test_shares_of_decisions_have_priors(melicit):
    """How often class i is decided is the sum of P(Y = j) R_ji: distribution matching is 0 at those shares and not at the sums of rates."""
    rng = generator(11)
    confusion = rng.dirichlet(numpy.ones(9)).reshape(3, 3)
    prior = confusion.sum(axis=1)
    rates = confusion / prior[:, None]
    shares, printed = prior @ rates, rates.sum(axis=0) / 3
    assert shares == pytest.approx(confusion.sum(axis=0)) and numpy.abs(printed - shares).max() > 0.02
    (melicit.folder / "pool.csv").write_text("name," + ",".join(f"{i}>{j}" for i in range(3) for j in range(3)) + "\none," + ",".join(f"{round(x * 1e6)}" for x in confusion.ravel()) + "\n")
    value = {name: float(melicit("score", "--named", "distribution-matching:" + ",".join(f"{v:.9f}" for v in at), "--statistics", "pool.csv", "--json").done().json["value"])
             for name, at in (("shares", shares), ("printed", printed))}
    assert abs(value["shares"]) < 1e-5 < abs(value["printed"])


def test_steps_stay_inside():
    """2/(t + 1) is 2 at first, which leaves the set of classifiers; 2/(t + 3) keeps a third of what was there."""
    assert 2 / (0 + 1) > 1 and all(0 < 2 / (t + 3) < 1 for t in range(100))


def test_correction_weights():
    """C^mu = T' C^D: values agree for T^-1 L, not for L times the entries of the inverse."""
    rng = generator(12)
    t = 0.7 * numpy.eye(4) + 0.3 * rng.dirichlet(numpy.ones(4), 4)
    gains, clean = rng.normal(size=(4, 4)), rng.dirichlet(numpy.ones(16)).reshape(4, 4)
    noisy = t.T @ clean
    inverse = numpy.linalg.inv(t)
    truth = (gains * clean).sum()
    assert ((inverse @ gains) * noisy).sum() == pytest.approx(truth) and abs((gains * inverse * noisy).sum() - truth) > 0.01


def test_ten_subjects():
    """Table 8.4 has ten subjects; fifteen are announced above it."""
    study = (SOURCE / "repro" / "study.py").read_text()
    assert len(re.findall(r'"S\d+": \(', study)) == 10


def test_weights_of_subjects_are_64ths():
    """The weights that table 8.4 prints with three digits are halves of halves of [0, 1]; angles of Algorithm 3.1 give others."""
    printed = [0.125, 0.141, 0.328, 0.031, 0.359]
    assert [abs(round(64 * weight) / 64 - weight) < 5.01e-4 for weight in printed] == [True] * 5
    angles = numpy.pi / 2 * (numpy.arange(64) + 0.5) / 64
    weights = numpy.sin(angles) / (numpy.sin(angles) + numpy.cos(angles))
    assert not all(abs(weights - weight).min() < 5.01e-4 for weight in printed)


def test_method_names_a_test_for_each():
    """Every correction in docs/corrections.md names tests that exist, and every test above is named there."""
    section = (SOURCE / "docs" / "corrections.md").read_text()
    corrections = re.findall(r"^- .*?(?=^- |^#|^$|\Z)", section, re.M | re.S)
    assert len(corrections) > 30
    figure = "Figure 6.3"  # what is measured, not derived
    assert [c for c in corrections if "Test" not in c and figure not in c] == []
    text = re.sub(r"\s+", " ", section)
    elsewhere = re.findall(r"`(tests/[\w/]+\.(?:c|py))`((?:, `test_\w+`)+)", text)
    for path, names in elsewhere:
        source = (SOURCE / path).read_text()
        assert [name for name in re.findall(r"test_\w+", names) if not re.search(rf"\b{name}\(", source)] == []
    here = set(re.findall(r"`(test_\w+)`", re.sub(r"`tests/[\w/]+\.(?:c|py)`(?:, `test_\w+`)+", "", text)))
    helpers = {"test_face_is_the_program_s", "test_method_names_a_test_for_each"}
    assert here == {name for name in globals() if name.startswith("test_")} - helpers
