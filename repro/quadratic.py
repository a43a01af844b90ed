#!/usr/bin/env python3
"""Chapter 6 of the thesis with the program: quadratic, fair quadratic and polynomial metrics.

Writes repro-quadratic.md and repro-quadratic-*.svg: recovery of random metrics with and without the regularity condition
next to a baseline, fair quadratic ones for every number of classes and groups, cubic and quartic ones, noise, and rankings of real
classifiers."""

import itertools
import json
import math
import tempfile

import numpy as np

from fair import draw_prevalence, plain_layout, radius, unit
from workshop import (METRICS, OUT, QUICK, ROOT, VARIANTS, Page, Results, Workshop, at_once, bar_chart, box_chart, generator, group_pairs, line_chart,
                      program_seed, verdict)

PAGE = OUT / "repro-quadratic.md"
POOLS = ROOT / "data" / "pools"
SIZES = (2, 3) if QUICK else (2, 3, 4, 5)
METHOD = "[method](corrections.md#quadratic-metrics-chapter-6)"
TOLERANCE, RANKING_TOLERANCE = 1e-2, 1e-4
REGULAR = 1e-2


def layout_of(k):
    return {"kind": "rates", "coordinates": "offdiagonal", "classes": [str(i) for i in range(k)]}


# --- quadratic -----------------------------------------------------------------------------------


class Quadratic:
    """a and a symmetric B with |a|^2 + |B|^2 = 1."""

    def __init__(self, a, b):
        size = math.sqrt(np.sum(np.square(a)) + np.sum(np.square(b)))
        self.a, self.b = np.asarray(a) / size, np.asarray(b) / size

    @classmethod
    def draw(cls, k, rng, regular):
        """regular: at every place of Algorithm 6.1 some coordinate of the gradient is above 0.01 of the metric's size."""
        q = k * (k - 1)
        places = np.vstack([np.zeros(q), np.eye(q), -np.eye(q)[:1]]) * 0.9 * radius(k)
        while True:
            b = rng.standard_normal((q, q))
            metric = cls(rng.standard_normal(q), (b + b.T) / 2)
            slopes = metric.a + (places + 1 / k) @ metric.b
            if not regular or np.min(np.max(np.abs(slopes), axis=1)) > REGULAR and np.min(np.abs(slopes[:, 0])) > REGULAR:
                return metric

    @classmethod
    def of(cls, metric):
        return cls(metric["coefficients"]["a"], np.array(metric["coefficients"]["B"]))

    def coefficients(self):
        return {"a": list(self.a), "B": [list(row) for row in self.b]}

    def errors(self, other):
        return np.linalg.norm(self.a - other.a), np.linalg.norm(self.b - other.b)


def elicit_quadratic(shop, name, layout, truth, *words, tolerance=TOLERANCE, strategy="search"):
    k = len(layout["classes"])
    path = shop.metric("quadratic", layout, truth.coefficients(), "cost", name)
    return shop.call("elicit", "--ball", k, "--radius", radius(k), "--family", "quadratic", "--classes", ",".join(layout["classes"]), "--strategy",
                     strategy, "--tolerance", tolerance, "--known", "direction=unknown", "--oracle", f"sim:{path}", *words)


def recover_quadratic(shop, k, regular, *words):
    rng = generator(2000 + 10 * k + regular)
    hidden = [Quadratic.draw(k, rng, regular) for _ in range(METRICS)]

    def one(i, truth):
        run = elicit_quadratic(shop, f"{k}-{i}", layout_of(k), truth, "--seed", program_seed(i + 1), *words)
        q = k * (k - 1)
        even = Quadratic(np.ones(q), np.ones((q, q)))
        flipped = Quadratic(-np.ones(q), -np.ones((q, q)))
        baseline = min(truth.errors(even), truth.errors(flipped))
        return (*truth.errors(Quadratic.of(run["metric"])), *baseline, run["questions"])

    return np.array(at_once(one, hidden))


def by_active(shop, k, n):
    """Largest error of any coefficient and questions of the active strategy at a tolerance of 0.01, for n metrics."""
    rng = generator(2000 + 10 * k)
    hidden = [Quadratic.draw(k, rng, False) for _ in range(n)]
    upper = np.triu_indices(k * (k - 1))
    whole = lambda f: np.concatenate([f.a, f.b[upper]])

    def one(i, truth):
        run = elicit_quadratic(shop, f"active-{k}-{i}", layout_of(k), truth, "--seed", program_seed(i + 1), strategy="active")
        found = Quadratic.of(run["metric"])
        return np.abs(whole(truth) - whole(found)).max(), run["questions"]

    return np.array(at_once(one, hidden))


def quadratic(shop, page, results):
    rows, medians, found = [], {}, {}
    for k in SIZES:
        for regular in (True,) if QUICK else (True, False):
            runs, yes = recover_quadratic(shop, k, regular), "yes" if regular else "no"
            if not np.all(np.isfinite(runs)):
                raise SystemExit(f"k = {k}: a result is not a number")
            medians[k, regular], found[k, regular] = np.median(runs, axis=0), runs
            rows.append((k * (k - 1), yes, "symmetric, least squares", *(f"{np.median(runs[:, i]):.4f} / {np.quantile(runs[:, i], 0.95):.4f}" for i in (0, 1)),
                         *(f"{np.median(runs[:, i]):.2f}" for i in (2, 3)), f"{int(np.median(runs[:, 4])):,}"))
            if not QUICK:
                rows.append((k * (k - 1), yes, "one-sided, ratios (the thesis', corrected)", *VARIANTS["quadratic, one-sided, ratios"][f"{k * (k - 1)}, {yes}"]))
    page.table(f"Quadratic metrics: {METRICS} random ones, tolerance {TOLERANCE}: median / 95th percentile of the errors",
               ["q", "regular", "procedure", "a", "B (Frobenius)", "equal coefficients, a", "equal coefficients, B", "questions"], rows)
    judge(shop, medians, found, results)
    if QUICK:
        return
    for i, name in ((0, "a"), (1, "B")):
        series = {"search, regular metrics": (list(SIZES), [medians[k, True][i] for k in SIZES]),
                  "search, any metrics": (list(SIZES), [medians[k, False][i] for k in SIZES]),
                  "equal coefficients": (list(SIZES), [medians[k, False][i + 2] for k in SIZES])}
        line_chart(OUT / f"repro-quadratic-{name.lower()}.svg", series, "classes", f"median error of {name}", f"Error of {name}", log_y=True)
        page.say(f"![error of {name}](repro-quadratic-{name.lower()}.svg)")
    boxes(page, found)
    page.say("\nThe thesis shows box plots of the same errors and an error of the baseline that is an order of magnitude larger.\n")


def judge(shop, medians, found, results):
    active = by_active(shop, 2, max(3, METRICS // 5))
    times = float(np.exp(np.mean([np.log(medians[k, True][i + 2] / medians[k, True][i]) for k in SIZES for i in (0, 1)])))
    results.add(["Figure 6.3", "Figure 6.4"], "quadratic metrics, 0.01: median error of equal coefficients over that of the elicited, geometric mean over a, B and q", "an order of magnitude",
                f"{times:.0f} times", f"at most {active[:, 0].max():.4f} off, q = 2", f"268 to 27,214; {int(np.median(active[:, 1]))}",
                verdict(False, times >= 8), "differs: less than 8 times", f"B is as wrong as slopes are coarse: {METHOD}, figure 6.3", {"search": times, "active": active[:, 0].max()})
    if QUICK:
        return
    worse = np.mean([np.mean(found[k, False][:, 1]) / np.mean(found[k, True][:, 1]) for k in SIZES])
    results.add(["Figure 6.5"], "mean error of B without the regularity condition over that with it", "much larger", f"{worse:.2f} times", "", "", verdict(worse < 2), "better: less than twice as large",
                f"all slopes are joined by least squares: {METHOD}, single ratios", {"search": worse})


def boxes(page, found):
    """Figures 6.3 and 6.5: errors with and without the regularity condition, and how the bounds of Theorem 6.1 grow, through the mean at q = 6."""
    for i, name, power in ((0, "a", 1.0), (1, "B", 1.5)):
        q = [k * (k - 1) for k in SIZES]
        at_six = np.mean(found[3, True][:, i])
        path = f"repro-quadratic-boxes-{name.lower()}.svg"
        box_chart(OUT / path, q, {label: [found[k, regular][:, i] for k in SIZES] for label, regular in (("regular metrics", True), ("any metrics", False))},
                  {f"c q^{power:g}": [at_six * (n / 6) ** power for n in q]}, "q", f"error of {name}", f"Error of {name}: 5, 25, 50, 75, 95%")
        page.say(f"![boxes of the error of {name}]({path})")
    means = {regular: [" / ".join(f"{np.mean(found[k, regular][:, i]):.3f}" for k in SIZES) for i in (0, 1)] for regular in (True, False)}
    page.say(f"\nMeans at q = 2, 6, 12, 20: regular metrics a {means[True][0]}, B {means[True][1]}; any metrics a {means[False][0]}, B {means[False][1]}. From q = 6 on they grow slower than the bounds; "
             "at q = 2 they are largest, because four slopes leave nothing over to average errors out.")


FRACTIONS, WITHIN = 1000, (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


def fractions(shop, page, results):
    """Figure 6.6: fractions of slopes, as found over the true ones. At a place the search sees the linear metric of the gradient there (opposite points have no other error)."""
    k, curves, rows = 3, {}, []
    q, h = k * (k - 1), 0.9 * radius(k)
    places = np.vstack([np.zeros(q), h * np.eye(q), -h * np.eye(q)[:1]])
    for label, regular in (("regular metrics", True), ("any metrics", False)):
        rng = generator(6000 + regular)
        slopes = [(m := Quadratic.draw(k, rng, regular)).a + m.b @ (places[rng.integers(len(places))] + 1 / k) for _ in range(FRACTIONS)]

        def one(i, slope):
            path = shop.metric("linear", layout_of(k), {"a": list(slope)}, "cost", f"slope-{i}")
            run = shop.call("elicit", "--ball", k, "--radius", radius(k), "--family", "linear", "--strategy", "search", "--tolerance", TOLERANCE, "--known", "direction=unknown",
                            "--oracle", f"sim:{path}")
            found = np.array(run["metric"]["coefficients"]["a"])
            return (found[1:] / found[0]) / (slope[1:] / slope[0])

        off = np.abs(np.array(at_once(one, slopes)).ravel() - 1)
        curves[label] = (list(WITHIN), [float(np.mean(off <= w)) for w in WITHIN])
        rows.append((label, *(f"{v:.3f}" for v in curves[label][1]), f"{off.max():.3g}"))
    regular, every = (curves[label][1][WITHIN.index(0.05)] for label in ("regular metrics", "any metrics"))
    results.add(["Figure 6.6"], "fractions of slopes within 5% of the true ones, 1,000 runs: regular metrics, any metrics", "closer to 1 for regular ones", f"{regular:.3f}, {every:.3f}", "", "",
                verdict(False, regular > every and regular > 0.95), "differs: fewer than 95%, or regular ones not closer", values={"regular": regular, "any": every})
    page.table(f"Fractions of slopes f_i/f_1 over {FRACTIONS:,} runs, q = {q}: share within so much of the true ones (figure 6.6)", ["", *map(str, WITHIN), "farthest off"], rows)
    line_chart(OUT / "repro-quadratic-fractions.svg", curves, "relative error of a fraction", "share of fractions within", "Fractions of slopes, found over true", (0, 1), log_x=True)
    page.say("![fractions of slopes](repro-quadratic-fractions.svg)\n")


def options(shop, page, results):
    rows = []
    for k in (2, 3):
        for band in (0.0, 1e-3):
            runs = recover_quadratic(shop, k, False, "--noise", f"band:{band}" if band else "none")
            rows.append((k * (k - 1), "symmetric, least squares", band, *(f"{np.median(runs[:, i]):.4f} / {np.quantile(runs[:, i], 0.95):.4f}" for i in (0, 1))))
        rows += [tuple(kept) for kept in VARIANTS["ways of asking"] if kept[0] == str(k * (k - 1))]
    page.table("Ways of asking and of joining slopes, without and with answers that err within 0.001", ["q", "procedure", "band", "a", "B"], rows)


# --- fair quadratic ------------------------------------------------------------------------------


class FairQuadratic:
    """a >= 0, a positive semidefinite B for each pair of groups, lambda; normalised as in Definition 6.2."""

    def __init__(self, a, b, trade_off):
        self.a = unit(np.asarray(a, float))
        total = sum(np.linalg.norm(v) for v in b) / 2
        self.b = [np.asarray(v, float) / total for v in b]
        self.trade_off = trade_off

    @classmethod
    def draw(cls, k, m, rng):
        q = k * (k - 1)
        b = [rng.standard_normal((q, q)) for _ in group_pairs(m)]
        return cls(np.abs(rng.standard_normal(q)), [x @ x.T for x in b], rng.uniform())

    @classmethod
    def of(cls, metric):
        c = metric["coefficients"]
        return cls(c["a"], [np.array(v) for v in c["B"].values()], c["lambda"])

    def coefficients(self, prevalence):
        names = [name for name, _, _ in group_pairs(len(prevalence))]
        return {"a": list(self.a), "B": {name: [list(r) for r in v] for name, v in zip(names, self.b)}, "lambda": self.trade_off,
                "prevalence": [list(row) for row in prevalence]}

    def errors(self, other):
        return (np.linalg.norm(self.a - other.a), sum(np.linalg.norm(x - y) for x, y in zip(self.b, other.b)),
                abs(self.trade_off - other.trade_off))


def elicit_fair(shop, name, layout, prevalence, truth, *words, tolerance=TOLERANCE):
    k, m = len(layout["classes"]), len(layout["groups"])
    path = shop.metric("fair-quadratic", layout, truth.coefficients(prevalence), "cost", name)
    table = shop.folder / f"prevalence-{name}.csv"
    table.write_text(",".join(layout["classes"]) + "\n" + "\n".join(",".join(map(repr, map(float, r))) for r in prevalence) + "\n")
    return shop.call("elicit", "--ball", f"{k},{m}", "--radius", radius(k), "--prevalence", table, "--family", "fair-quadratic", "--classes",
                     ",".join(layout["classes"]), "--strategy", "search", "--tolerance", tolerance, "--oracle", f"sim:{path}", *words)


def recover_fair(shop, k, m, *words):
    rng = generator(3000 + 10 * k + m)
    hidden = [(FairQuadratic.draw(k, m, rng), draw_prevalence(k, m, rng)) for _ in range(METRICS)]

    def one(i, pair):
        truth, prevalence = pair
        run = elicit_fair(shop, f"{k}-{m}-{i}", plain_layout(k, m), prevalence, truth, "--seed", program_seed(i + 1), *words)
        return (*truth.errors(FairQuadratic.of(run["metric"])), run["questions"])

    return np.array(at_once(one, hidden))


def fair_quadratic(shop, page, results):
    rows, medians = [], {}
    for m in SIZES:
        for k in SIZES:
            runs = recover_fair(shop, k, m)
            if not np.all(np.isfinite(runs)):
                raise SystemExit(f"k = {k}, m = {m}: a result is not a number")
            medians[k, m] = np.median(runs[:, :3], axis=0)
            rows.append((f"{k}, {m}", *(f"{v:.4f}" for v in medians[k, m]), *(f"{v:.4f}" for v in np.quantile(runs[:, :3], 0.95, axis=0)),
                         f"{int(np.max(runs[:, 3])):,}"))
    page.table(f"Fair quadratic metrics: {METRICS} random ones per (k, m), tolerance {TOLERANCE}",
               ["k, m", "a, median", "B, median (sum of Frobenius norms)", "lambda, median", "a, 95%", "B, 95%", "lambda, 95%", "questions"], rows)
    for i, name in enumerate(("a", "B", "lambda")):
        series = {f"{m} groups": (list(SIZES), [float(medians[k, m][i]) for k in SIZES]) for m in SIZES}
        line_chart(OUT / f"repro-quadratic-fair-{name.lower()}.svg", series, "classes", f"median error of {name}",
                   f"Fair quadratic metrics: error of {name}")
        page.say(f"![fair quadratic metrics: error of {name}](repro-quadratic-fair-{name.lower()}.svg)")
    page.say("\nThe thesis claims that the error of a grows with the classes only and that of B with both.\n")
    grows = [(np.mean([medians[5, m][i] / medians[2, m][i] for m in SIZES]), np.mean([medians[k, 5][i] / medians[k, 2][i] for k in SIZES])) for i in (0, 1)]
    results.add(["Figure 6.4"], "fair quadratic metrics: median error of a by classes and groups, of B by both (2 to 5, times)", "a grows with classes only, B with both",
                f"a {grows[0][0]:.1f} and {grows[0][1]:.1f}, B {grows[1][0]:.1f} and {grows[1][1]:.1f}", "", "266 to 271,940",
                verdict(False, grows[0][0] > 1.2 and grows[0][1] < 1.2 and min(grows[1]) > 1.2), "differs: a does not grow with classes or grows with groups, or B grows with only one",
                f"at small lambda B does not show at this tolerance: {METHOD}, figure 6.3", {"a by k": grows[0][0], "a by m": grows[0][1], "b by k": grows[1][0], "b by m": grows[1][1]})


def resolution(shop, page, results):
    """Why B is far off in some runs above: what of it shows, and how that depends on the tolerance."""
    rows = []
    for k in (2, 3):
        rng = generator(2000 + 10 * k)
        plain = [Quadratic.draw(k, rng, False) for _ in range(METRICS)]
        for tolerance in (1e-2, 1e-4, 1e-6):
            def known(i, truth):
                run = elicit_quadratic(shop, f"{k}-{i}-r", layout_of(k), truth, "--seed", program_seed(i + 1), tolerance=tolerance)
                return (*truth.errors(Quadratic.of(run["metric"])), run["questions"])
            runs = np.array(at_once(known, plain))
            rows.append((k * (k - 1), f"{tolerance:g}", *(f"{np.median(runs[:, i]):.4f} / {np.quantile(runs[:, i], 0.95):.4f}" for i in (0, 1)), f"{int(runs[:, 2].max()):,}"))
    page.table(f"Quadratic metrics by the tolerance: {METRICS} random ones, median / 95th percentile of the errors", ["q", "tolerance", "a", "B (Frobenius)", "questions"], rows)
    rows = []
    for k, m in ((2, 2), (2, 3), (3, 2)):
        rng = generator(3000 + 10 * k + m)
        hidden = [(FairQuadratic.draw(k, m, rng), draw_prevalence(k, m, rng)) for _ in range(METRICS)]
        for tolerance in (1e-2, 1e-4, 1e-6):
            def one(i, pair):
                truth, prevalence = pair
                run = elicit_fair(shop, f"{k}-{m}-{i}-r", plain_layout(k, m), prevalence, truth, "--seed", program_seed(i + 1), tolerance=tolerance)
                found = FairQuadratic.of(run["metric"])
                shown = sum(np.linalg.norm(truth.trade_off * x - found.trade_off * y) for x, y in zip(truth.b, found.b))
                return truth.trade_off, truth.errors(found)[1], shown, run["questions"]
            trade_off, b, shown, asked = np.array(at_once(one, hidden)).T
            parts = [b[where] for where in (trade_off < 0.1, (trade_off >= 0.1) & (trade_off < 0.4), trade_off >= 0.4)]
            rows.append((f"{k}, {m}", f"{tolerance:g}", *(f"{np.median(part):.4f} / {np.quantile(part, 0.95):.4f}" if len(part) else "" for part in parts),
                         f"{np.median(shown):.4f} / {np.quantile(shown, 0.95):.4f}", f"{int(asked.max()):,}"))
    page.table(f"Fair quadratic metrics: error of B by the trade-off and by the tolerance, {METRICS} metrics, median / 95th percentile",
               ["k, m", "tolerance", "lambda < 0.1", "0.1 to 0.4", "0.4 and more", "lambda B, all", "questions"], rows)
    page.say("Differences between groups turn a slope by about lambda |B| h / ((1 - lambda) |tau a|), h the distance of a place from the centre: at small lambda by less than the tolerance "
             "of 0.01 radians, and then no procedure that takes slopes to that tolerance knows B, whatever it solves them by. What shows is lambda B.\n")


# --- polynomials ---------------------------------------------------------------------------------


def draw_polynomial(q, degree, rng):
    tensors = []
    for d in range(1, degree + 1):
        t = rng.standard_normal((q,) * d)
        tensors.append(sum(np.transpose(t, p) for p in itertools.permutations(range(d))) / math.factorial(d))
    size = math.sqrt(sum(np.sum(t**2) for t in tensors))
    return [t / size for t in tensors]


def polynomials(shop, page, results):
    rows = []
    for k, degree, tolerance in ((2, 3, 1e-5), (2, 4, 1e-6), (3, 3, 1e-4)):
        rng = generator(4000 + 10 * k + degree)
        q, n = k * (k - 1), METRICS if k == 2 else max(3, METRICS // 5)
        hidden = [draw_polynomial(q, degree, rng) for _ in range(n)]

        def one(i, tensors):
            path = shop.metric(f"polynomial:{degree}", layout_of(k), {letter: t.tolist() for letter, t in zip("aBCD", tensors)}, "cost", f"poly-{i}")
            run = shop.call("elicit", "--ball", k, "--radius", radius(k), "--family", f"polynomial:{degree}", "--strategy", "search", "--tolerance",
                            tolerance, "--known", "direction=unknown", "--oracle", f"sim:{path}")
            found = [np.array(run["metric"]["coefficients"][letter]) for letter in "aBCD"[:degree]]
            points = 1 / k + radius(k) * np.array([unit(x) for x in np.random.default_rng(i).standard_normal((4000, q))])
            value = [sum(contract(t, p) / math.factorial(d + 1) for d, t in enumerate(ts)) for ts in (tensors, found) for p in [points]]
            pairs = np.sign(value[0][::2] - value[0][1::2]) == np.sign(value[1][::2] - value[1][1::2])
            return (*(np.linalg.norm(t - f) for t, f in zip(tensors, found)), np.mean(pairs), run["questions"])

        runs = at_once(one, hidden)
        errors = np.array([r[:degree] for r in runs])
        rows.append((degree, q, n, tolerance, " / ".join(f"{v:.3f}" for v in np.median(errors, axis=0)), " / ".join(f"{v:.3f}" for v in np.quantile(errors, 0.95, axis=0)),
                     f"{np.mean([r[degree] for r in runs]):.4f}", f"{int(np.median([r[-1] for r in runs])):,}"))
    page.table("Cubic and quartic metrics by recursion",
               ["degree", "q", "metrics", "tolerance", "error of each tensor, median", "95%", "pairs ordered alike on the sphere", "questions"], rows)
    page.say("The thesis gives no figures. Slopes must be sharper than for quadratic metrics: what a cubic term adds within the ball is small.\n")


def contract(tensor, points):
    """T[p, ..., p] for every row p."""
    out = np.broadcast_to(tensor, (len(points), *tensor.shape))
    while out.ndim > 1:
        out = np.einsum("n...i,ni->n...", out, points)
    return out


# --- rankings ------------------------------------------------------------------------------------


def ranked(shop, pool, family, files, against):
    return {label: [(r := shop.call("rank", "--metric", path, "--against", against, "--pool", POOLS / f"{pool}.csv", "--thesis", "samples=0"))["ndcg"], r["tau"]]
            for label, path in files.items()}


def rank_quadratic(shop, pool):
    layout = json.loads((POOLS / f"{pool}.json").read_text())["layout"]
    layout = {key: layout[key] for key in ("kind", "coordinates", "classes")}
    k = len(layout["classes"])
    rng = generator(88)
    hidden = [Quadratic.draw(k, rng, False) for _ in range(METRICS)]

    def one(i, truth):
        q, name = k * (k - 1), f"{pool}-{i}"
        found = Quadratic.of(elicit_quadratic(shop, f"{name}-hidden", layout, truth, tolerance=RANKING_TOLERANCE)["metric"])
        files = {"elicited": shop.metric("quadratic", layout, found.coefficients(), "cost", f"{name}-found"),
                 "linear part": shop.metric("linear", layout, {"a": list(truth.a)}, "cost", f"{name}-linear"),
                 "accuracy": shop.metric("linear", layout, {"a": [1.0] * q}, "cost", f"{name}-accuracy")}
        return ranked(shop, pool, "quadratic", files, shop.metric("quadratic", layout, truth.coefficients(), "cost", f"{name}-truth"))

    return at_once(one, hidden)


def rank_fair(shop, pool):
    about = json.loads((POOLS / f"{pool}.json").read_text())
    layout, prevalence = about["layout"], np.array(about["prevalence"])
    k, m = len(layout["classes"]), len(layout["groups"])
    rng = generator(99)
    hidden = [FairQuadratic.draw(k, m, rng) for _ in range(METRICS)]

    def one(i, truth):
        q, name = k * (k - 1), f"{pool}-{i}"
        found = FairQuadratic.of(elicit_fair(shop, f"{name}-hidden", layout, prevalence, truth, tolerance=RANKING_TOLERANCE)["metric"])
        choices = {"elicited": found, "linear, no fairness": FairQuadratic(truth.a, truth.b, 0.0),
                   "accuracy with equalised odds": FairQuadratic(np.ones(q), [np.eye(q)] * len(truth.b), 0.5)}
        files = {label: shop.metric("fair-quadratic", layout, c.coefficients(prevalence), "cost", f"{name}-{j}") for j, (label, c) in enumerate(choices.items())}
        return ranked(shop, pool, "fair-quadratic", files, shop.metric("fair-quadratic", layout, truth.coefficients(prevalence), "cost", f"{name}-truth"))

    return at_once(one, hidden)


def rankings(shop, page, results):
    for short, heading, rank, pools in (
            ("rank", "quadratic metrics", rank_quadratic, ("credit_default_overall", "adult_overall", "satellite", "covtype")),
            ("rank-fair", "fair quadratic metrics", rank_fair, ("credit_default", "adult_gender", "adult", "wine_quality", "communities_crime"))):
        found = {pool: rank(shop, pool) for pool in pools}
        names = list(found[pools[0]][0])
        means = {pool: {n: np.mean([r[n] for r in rs], axis=0) for n in names} for pool, rs in found.items()}
        page.table(f"Ranking real classifiers by {METRICS} random {heading}, tolerance {RANKING_TOLERANCE}: mean NDCG / Kendall's tau against the true order", ["pool", *names],
                   [(pool.replace("_", " "), *(f"{means[pool][n][0]:.3f} / {means[pool][n][1]:.3f}" for n in names)) for pool in pools])
        own = min(means[p]["elicited"].min() for p in pools)
        gap = min(means[p]["elicited"][0] - max(means[p][n][0] for n in names[1:]) for p in pools)
        results.add(["Figure 6.7" if short == "rank" else "Figure 6.8"], f"ranking real classifiers by {heading}: NDCG and Kendall's tau of the elicited metric, worst; lead over the best baseline (NDCG)",
                    "about 1, above the baselines", f"{own:.3f}; lead at least {gap:.3f}", "", "", verdict(False, own >= 0.98 and gap > 0), "differs: below 0.98, or a baseline as good",
                    values={"search": own, "lead": gap})
        for i, title in enumerate(("NDCG", "Kendall's tau")):
            path = f"repro-quadratic-{short}-{'ndcg' if i == 0 else 'tau'}.svg"
            bar_chart(OUT / path, names, {p.replace("_", " "): [means[p][n][i] for n in names] for p in pools}, title,
                      f"{title} with {heading}")
            page.say(f"![{title} with {heading}]({path})")
        page.say("")
    page.say("Pools: `data/pools/README.md`. Satellite stands in for SensIT Vehicle, xgboost for LightGBM.\n")


def main():
    page = Page("# Chapter 6: quadratic and polynomial metrics\n",
                "Made by `make repro` (`repro/quadratic.py`). Hidden metrics: independent normal entries (B symmetric; for fair ones a half-normal and B = X X' "
                "with normal X), normalised as in Definitions 6.1 and 6.2, lambda uniform on [0, 1]. Regular: at every place of Algorithm 6.1 the first coordinate "
                "of the gradient is above 0.01. Radius as on the page about chapter 5. Signs are found by questions.\n")
    results = Results("quadratic")
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(folder)
        for part in (quadratic,) if QUICK else (quadratic, fractions, options, fair_quadratic, resolution, polynomials, rankings):
            print(f"   {part.__name__}", flush=True)
            part(shop, page, results)
    page.write(PAGE)
    results.write()


if __name__ == "__main__":
    main()
