"""The thesis' searches of chapters 3 to 6 again, in NumPy, from the text and its corrections (docs/corrections.md).

Nothing here is shared with the library: tests/system/test_reference.py gives both the same respondent and compares what
they find. A respondent is a function better(x, y): whether y is preferred to x; "about the same" is not better.
"""
import itertools

import numpy as np

HALF_PI = np.pi / 2


# --- Algorithms 3.1 and 3.2: halving an interval with four questions a round -----------------------------------------


def halve(low, high, tolerance, better, minimise=False):
    """The interval in which a function with one peak (one valley, when minimising) has it; better(s, t) compares two places."""
    while high - low > tolerance:
        places = np.linspace(low, high, 5)
        rises = [better(s, t) != minimise for s, t in itertools.pairwise(places)]
        for i in range(3):
            rises[i] = rises[i] or rises[i + 1]  # a dip is out of order
        if not (rises[0] and rises[1]):
            high = places[2]
        elif not rises[2]:
            low, high = places[1], places[3]
        else:
            low = places[2]
    return low, high


def support(eta, direction):
    """(TP, TN) of the best classifier for these weights, where eta is P(positive) of equally likely rows."""
    yes = eta * direction[0] >= (1 - eta) * direction[1]
    return np.array([eta[yes].sum(), (1 - eta[~yes]).sum()]) / len(eta)


def slope(angle):
    return np.array([np.cos(angle), np.sin(angle)])


def two_classes(eta, better, tolerance, minimise=False):
    """The angle of the slope at the best point (Algorithm 3.1), or at the worst one (3.2)."""
    low, high = (np.pi, 1.5 * np.pi) if minimise else (0, HALF_PI)
    at = lambda angle: support(eta, slope(angle))
    return np.mean(halve(low, high, tolerance, lambda s, t: better(at(s), at(t)), minimise))


def line(eta, angle):
    """The supporting line: its slope and its constant."""
    return slope(angle), slope(angle) @ support(eta, slope(angle))


def proposition_3_4(p, upper, shares):
    """The denominator that belongs to numerators p, by the supporting line at the best point."""
    (m, c), p_sum = upper, p @ shares
    q_sum = p_sum + c - m @ shares
    return (p - m) * p_sum / q_sum, c * p_sum / q_sum


def pivot_form(upper, lower):
    """Numerators without the grid of Algorithm 3.3: proportional to c_low m_up - c_up m_low."""
    p = lower[1] * upper[0] - upper[1] * lower[0]
    return p / p.sum()


def grid(upper, lower, shares, points, step):
    """Algorithm 3.3 as printed: the p11 for which the solutions of both systems have the most constant ratio at these points."""
    def values(p, line):
        q, q0 = proposition_3_4(p, line, shares)
        below = points @ q + q0
        return points @ p / below if (below > 0).all() else np.full(len(points), np.inf)

    def spread(p11):
        p = np.array([p11, 1 - p11])
        with np.errstate(invalid="ignore"):
            ratio = values(p, upper) / values(p, lower)
        return np.std(ratio) if np.isfinite(ratio).all() else np.inf

    p11 = min(np.arange(step, 1, step), key=spread)
    return np.array([p11, 1 - p11])


# --- Algorithms 4.1 and 4.3: pairs of classes ------------------------------------------------------------------------


def pair_support(rows, i, j, weight):
    """The diagonal shares of the classifier that only decides between classes i and j and is best for these two weights."""
    first = rows[:, i] * weight[0] >= rows[:, j] * weight[1]
    point = np.zeros(rows.shape[1])
    point[i], point[j] = rows[first, i].sum(), rows[~first, j].sum()
    return point / len(rows)


def pairwise_slopes(rows, better, tolerance, minimise=False):
    """For each class but the first, the middle of the share that class 1 has of both weights (4.1; 4.3 when minimising)."""
    sign = -1 if minimise else 1
    found = []
    for j in range(1, rows.shape[1]):
        at = lambda m, j=j: pair_support(rows, 0, j, (sign * m, sign * (1 - m)))
        found.append(np.mean(halve(0, 1, tolerance, lambda s, t: better(at(s), at(t)), minimise)))
    return np.array(found)


def diagonal_linear(rows, better, tolerance):
    """Algorithm 4.1: weights that add up to 1."""
    m = pairwise_slopes(rows, better, tolerance)
    a = np.concatenate([[1], (1 - m) / m])
    return a / a.sum()


def diagonal_fractional(rows, better, tolerance):
    """Algorithms 4.1 and 4.3; the pencil of each face in place of the grid of 4.4. Numerators a and, with b_1 = 0 and b0 = 1, b."""
    tops, bottoms = (pairwise_slopes(rows, better, tolerance, minimise) for minimise in (False, True))
    a, b = [1.0], [0.0]
    for j, (up, low) in enumerate(zip(tops, bottoms), 1):
        lines = []
        for m, sign in ((up, 1), (low, -1)):
            weight = sign * np.array([m, 1 - m])
            lines.append((weight, weight @ pair_support(rows, 0, j, weight)[[0, j]]))
        (m_up, c_up), (m_low, c_low) = lines
        own, other = c_low * m_up - c_up * m_low
        a.append(other / own)
        b.append((m_up[0] * a[-1] - m_up[1]) / c_up)
    return np.array(a), np.array(b), 1.0


# --- Algorithms 4.2 and 4.5: a sphere --------------------------------------------------------------------------------


def from_angles(angles):
    sines = np.concatenate([[1], np.cumprod(np.sin(angles))])
    return sines * np.concatenate([np.cos(angles), [1]])


def sphere(better, signs, tolerance, cycles=2, minimise=False):
    """The unit slope of a function on a sphere, one angle after the other from the last to the first; better compares unit vectors."""
    n = len(signs)
    angles = np.full(n - 1, HALF_PI)
    signs = -np.asarray(signs) if minimise else np.asarray(signs)
    for _ in range(cycles):
        for i in reversed(range(n - 1)):
            def at(value, i=i):
                moved = angles.copy()
                moved[i] = value
                return signs * from_angles(moved)
            angles[i] = np.mean(halve(0, HALF_PI, tolerance, lambda s, t: better(at(s), at(t)), minimise))
    return signs * from_angles(angles)


def fractional_ball(better, signs, tolerance, centre, radius):
    """4.2 for the best point, 4.5 for the worst; numerators in closed form in place of the grid of 4.6."""
    up = sphere(better, signs, tolerance)
    low = sphere(better, signs, tolerance, minimise=True)
    c_up, c_low = up @ centre + radius, low @ centre + radius
    a = c_low * up - c_up * low
    return a / np.abs(a).sum()


# --- Algorithm 6.1: slopes at several places -------------------------------------------------------------------------


def find_signs(better, n):
    """A step forward along each axis against the same step back."""
    return np.array([1 if better(-e, e) else -1 for e in np.eye(n)])


def local_slope(better, n, tolerance):
    return sphere(better, find_signs(better, n), tolerance)


def quadratic(better_at, n, h, tolerance):
    """d = a + B o at the centre and B, both up to one factor: better_at(shift) compares steps around the place centre + shift.
    B_ij by the corrected formula, from the slopes at the centre, a step of h along each axis, and one back along the first."""
    centre = local_slope(better_at(np.zeros(n)), n, tolerance)
    steps = [local_slope(better_at(h * e), n, tolerance) for e in np.eye(n)]
    back = local_slope(better_at(-h * np.eye(n)[0]), n, tolerance)
    f0, f, f_back = centre / centre[0], [s / s[0] for s in steps], back / back[0]
    d1 = f0[0]
    b11 = d1 * (f_back[1] + f[0][1] - 2 * f0[1]) / (f_back[1] - f[0][1])
    b = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            b[i, j] = (f[j][i] * (1 + f[0][j] - f0[j]) - f0[i]) * d1 + f[j][i] * f[0][j] * b11
    b[0, 0] = b11
    return f0, b / h


# --- Algorithms 5.1 and 5.2, D.2 and D.3: groups ---------------------------------------------------------------------


def fair_linear_two_groups(better_of, n, tolerance):
    """Two classes, two groups: a and b up to one factor, so that lambda = S/(1 + S). better_of(fixed) compares steps u of the rates
    where all groups move alike (fixed None), or of the first group while the second stays at the rates `fixed` of a trivial classifier."""
    signs = -np.ones(n)
    together = sphere(better_of(None), signs, tolerance)
    return together, [(fixed, local_slope(better_of(fixed), n, tolerance)) for fixed in ((0.0, 1.0), (1.0, 0.0))]


def join_fair(together, slopes, tau):
    """The costs a and the weights b of the difference of two groups, from unit slopes g = (1 - lambda) tau a +- lambda b: each slope has an
    unknown length; the sign of a rate's difference is + where the second group stands at 0."""
    rows, right = [], []
    n = len(together)
    # Unknowns: b (n), one length for each slope; a is `together`, which has length 1.
    for k, (fixed, g) in enumerate(slopes):
        for i in range(n):
            row = np.zeros(n + len(slopes))
            row[i] = -1 if fixed[i] == 1.0 else 1
            row[n + k] = -g[i]
            rows.append(row)
            right.append(-tau[i] * together[i])
    solution = np.linalg.lstsq(np.array(rows), np.array(right), rcond=None)[0]
    return solution[:n]


def trade_off(mistakes, apart, truth, tolerance):
    """Algorithms 5.2 and D.3: lambda by halving [0, 1]. The best rates of one group for a trade-off lie in the direction
    -((1 - lambda) mistakes + lambda apart); the respondent's own is `truth`."""
    def direction(trade):
        along = -((1 - trade) * mistakes + trade * apart)
        return along / np.linalg.norm(along)

    return np.mean(halve(0, 1, tolerance, lambda s, t: direction(truth) @ (direction(t) - direction(s)) > 0))


def fair_quadratic_two_groups(better_at, n, h, tolerance, tau):
    """Algorithm D.2 for two groups: the function of the first group's rates while the second stays at the centre is quadratic with
    d = tau (1 - lambda) a and B = lambda B^12, both up to one factor. Gives a, B^12 and lambda."""
    d, b = quadratic(better_at, n, h, tolerance)
    a = d / tau
    size = np.linalg.norm(a)
    block = b / size
    strength = np.linalg.norm(block) / 2
    return a / size, 2 * block / np.linalg.norm(block), strength / (1 + strength)
