#!/usr/bin/env python3
"""Chapter 4 of the thesis with the program: metrics of more than two classes.

Writes repro-multiclass.md and repro-multiclass-*.svg: each table with the thesis' numbers, those of `--strategy search` and those of `--strategy active`."""

import json
import tempfile

import numpy as np

from workshop import METRICS, OUT, QUICK, ROOT, VARIANTS, Results, Workshop, at_once, bundled, data_file, generator, line_chart, program_seed, verdict

PAGE = OUT / "repro-multiclass.md"
THESIS = json.loads((ROOT / "repro" / "thesis_multiclass.json").read_text())
SLOPES = {3: [1, 3, 5], 4: [1, 3, 6, 10], 5: [1, 3, 6, 10, 15], 10: [1, 3, 6, 10, 15, 21, 28, 36, 45, 55]}
REAL = ("vehicle", "satellite", "dna_splice", "covtype", "letter")
OMEGAS = [0.02, 0.04, 0.06, 0.08, 0.10, 0.12]


def layout(coordinates, k, kind="confusion"):
    return {"kind": kind, "coordinates": coordinates, "classes": [str(i) for i in range(k)]}


def population(k):
    return ["--population", "softmax:" + ",".join(map(str, SLOPES[k]))]


METHOD = "[method](corrections.md#more-classes-chapter-4)"


def show(values):
    return "(" + ", ".join(f"{v:.2f}" for v in values) + ")"


def elicit(shop, space, family, coordinates, coefficients, *words, kind="confusion"):
    k = len(coefficients["a"]) if coordinates == "diagonal" else round(0.5 + (0.25 + len(coefficients["a"])) ** 0.5)
    path = shop.metric(family, layout(coordinates, k, kind), coefficients)
    return shop.call("elicit", *space, "--family", family, "--oracle", f"sim:{path}", "--max-questions", 5000, *words)


def table(out, heading, columns):
    out.append(f"## {heading}\n")
    out.append("| " + " | ".join(columns) + " |\n|" + " --- |" * len(columns))


def row(out, *cells):
    out.append("| " + " | ".join(map(str, cells)) + " |")


def printed_tables(shop, out, results):
    for name, family, coordinates, key, items in (("Diagonal linear", "diagonal-linear", "diagonal", "dlpm_synthetic", ["Table 4.3", "Table B.1"]),
                                                  ("Linear", "linear", "offdiagonal", "lpm_synthetic", ["Table 4.4", "Table B.2"])):
        differences, off, asked = [], [], set()
        table(out, f"{name} metrics on softmax populations, tolerance 0.01",
              ["true", "thesis", "search", "questions", "largest difference from the thesis", "active", "questions"])
        for k in (3, 4):
            for line in THESIS[key][f"k{k}"][: 3 if QUICK else None]:
                true = {"a": line["true"]}
                search = elicit(shop, population(k), family, coordinates, true, "--strategy", "search", "--tolerance", 0.01)
                active = elicit(shop, population(k), family, coordinates, true, "--tolerance", 0.01)
                found = search["metric"]["coefficients"]["a"]
                apart = np.max(np.abs(np.array(found) - line["elicited"]))
                differences.append(apart)
                off.append(off_by(active, line["true"]))
                asked.add((search["questions"], active["questions"]))
                row(out, show(line["true"]), show(line["elicited"]), show(found), search["questions"], f"{apart:.3f}",
                    show(active["metric"]["coefficients"]["a"]), active["questions"])
        out.append("")
        by_search, by_active = sorted({s for s, _ in asked}), sorted(a for _, a in asked)
        wanted = [56, 84] if coordinates == "diagonal" else [320, 704]
        results.add(items, f"{name.lower()} metrics on softmax populations of 3 and 4 classes, 0.01", f"printed weights, {wanted[0]} and {wanted[1]} questions",
                    f"at most {max(differences):.3f} from the thesis", f"at most {max(off):.4f} off the truth", f"{', '.join(map(str, by_search))}; {by_active[0]} to {by_active[-1]}",
                    verdict(False, max(differences) <= 0.0155 and by_search == wanted), "differs: a weight farther from the printed one than the tolerance and rounding, 0.0155, or another number of questions",
                    f"with softmax in place of the printed population: {METHOD}, population", {"search": max(differences), "active": max(off)})


def off_by(run, true):
    return np.max(np.abs(np.array(run["metric"]["coefficients"]["a"]) - true))


def random_table(shop, out, results):
    table(out, f"{METRICS} random metrics per number of classes, softmax populations, tolerance 0.01",
          ["family", "k", "procedure", "questions", "median of the largest error", "95th percentile"])
    rng = generator(11)
    for k in SLOPES:
        metrics = rng.dirichlet(np.ones(k), METRICS)
        for name, words in {"search, class 1 as reference": ["--strategy", "search"],
                            "search, tournament": ["--strategy", "search", "--thesis", "tournament"], "active": []}.items():
            runs = [elicit(shop, population(k), "diagonal-linear", "diagonal", {"a": list(a)}, "--tolerance", 0.01, *words)
                    for a in metrics]
            errors = [off_by(r, a) for r, a in zip(runs, metrics)]
            row(out, "diagonal-linear", k, name, int(np.median([r["questions"] for r in runs])),
                f"{np.median(errors):.4f}", f"{np.quantile(errors, 0.95):.4f}")
    for k in (3, 4):
        q = k * (k - 1)
        for signs in ("known", "found by q questions"):
            a = np.abs(rng.standard_normal((METRICS, q)))
            a *= -1 if signs == "known" else rng.choice([-1, 1], a.shape)
            a /= np.linalg.norm(a, axis=1, keepdims=True)
            words = [] if signs == "known" else ["--known", "direction=unknown"]
            for strategy in ("search", "active"):
                runs = [elicit(shop, ["--ball", k, "--radius", 0.1], "linear", "offdiagonal", {"a": list(m)}, "--tolerance",
                               0.01, "--strategy", strategy, *words, kind="rates") for m in a]
                errors = [off_by(r, m) for r, m in zip(runs, a)]
                note = strategy if signs == "known" else f"{strategy}, signs unknown"
                row(out, "linear", k, note, int(np.median([r["questions"] for r in runs])), f"{np.median(errors):.4f}",
                    f"{np.quantile(errors, 0.95):.4f}")
    out.append("")


PLAIN_ORACLE = """import json, sys
weights = [float(x) for x in sys.argv[1].split(",")]
value = lambda side: sum(w * x for w, x in zip(weights, side["statistics"]))
for line in sys.stdin:
    question = json.loads(line)
    print("A" if value(question["a"]) > value(question["b"]) else "B", flush=True)
"""
BY_PROGRAM = 40  # metrics; each takes 704 questions through a pipe


def radius_table(shop, out, results):
    omegas = THESIS["lpm_sphere_radius"]["omega"]
    table(out, f"Linear metrics on tiny spheres, k = 4, {METRICS} metrics: share within omega", ["radius", "source", *map(str, omegas)])
    rng = generator(12)
    metrics = -np.abs(rng.standard_normal((METRICS, 12)))
    metrics /= np.linalg.norm(metrics, axis=1, keepdims=True)
    (shop.folder / "plain.py").write_text(PLAIN_ORACLE)
    tiny = lambda radius: ("elicit", "--ball", 4, "--radius", radius, "--family", "linear", "--strategy", "search", "--tolerance", 0.01, "--max-questions", 5000)

    def by_program(i, m):
        weights = ",".join(map(repr, m.tolist()))
        return off_by(shop.call(*tiny(radius), "--oracle", f"cmd:exec /usr/bin/python3 -u {shop.folder}/plain.py {weights}"), m)

    def by_metric(i, m):
        path = shop.metric("linear", layout("offdiagonal", 4, "rates"), {"a": list(m)}, name=f"tiny-{i}")
        return off_by(shop.call(*tiny(radius), "--oracle", f"sim:{path}", "--noise", noise, "--seed", program_seed(i)), m)

    shares = lambda errors: (f"{np.mean(np.array(errors) <= w):.2f}" for w in omegas)
    rows = [(line["radius"], "band:1e-15", line["fraction"]) for line in THESIS["lpm_sphere_radius"]["rows"]]
    by_noise = []
    for radius, noise, thesis in rows + [(1e-9, "band:1e-15", None), (1.25e-12, "none", None), (1e-15, "none", None), (3e-16, "none", None)]:
        if thesis is not None:
            row(out, radius, "thesis", *(f"{f:.2f}" for f in thesis))
            row(out, radius, f"search, a program that adds in double precision ({BY_PROGRAM} metrics)", *shares(at_once(by_program, metrics[:BY_PROGRAM])))
        errors = np.array(at_once(by_metric, metrics))
        row(out, radius, f"search, noise {noise}", *shares(errors))
        if thesis is not None:
            by_noise.append(np.abs([np.mean(errors <= w) for w in omegas] - np.array(thesis)).max())
        elif noise == "none" and radius == 1.25e-12:
            exact = float(np.mean(errors <= omegas[0]))
    thesis = THESIS["lpm_sphere_radius"]["rows"][0]["fraction"][0]
    results.add(["Table B.3"], "linear metrics on spheres of radius 1.25e-12, k = 4: share within 0.02", f"{thesis:.2f}",
                f"{exact:.2f}; with answers arbitrary within 1e-15 at most {max(by_noise):.2f} from the thesis' 15 shares", "", "704", verdict(exact > thesis + 0.5),
                "better: at least 0.5 more within 0.02", "the thesis' values cancel; close points are compared here without cancellation", {"search": exact, "noise": max(by_noise)})
    out.append("\nThe thesis' only noise here is rounding in its own arithmetic. This program compares close points without cancellation, so rounding shows only at radii where the points "
               "themselves have no digits left. A respondent who adds up products of weights and statistics in double precision errs by about 1e-16 and is still better than the thesis' table; answers that are "
               "arbitrary within 1e-15 come near it, so its values of the metric must have been known to about that.\n")


def population_points(k, n, coordinates, rng):
    """Statistics of n random mixtures of plug-in classifiers on the softmax population."""
    x = (np.arange(4000) + 0.5) / 2000 - 1
    eta = np.exp(-np.outer(x, SLOPES[k]))
    eta /= eta.sum(axis=1, keepdims=True)
    points = []
    for _ in range(n):
        share = rng.dirichlet(np.ones(3))
        c = np.zeros((k, k))
        for s in share:
            choice = np.argmax(eta @ rng.standard_normal((k, k)), axis=1)
            c += s * eta.T @ np.eye(k)[choice] / len(x)
        points.append(np.diag(c) if coordinates == "diagonal" else c[~np.eye(k, dtype=bool)])
    return np.array(points)


def value(c, points):
    return points @ np.array(c["a"]) / (points @ np.array(c["b"]) + c["b0"])


def ball_points(ball, n, rng):
    u = rng.standard_normal((n, len(ball["centre"])))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return np.array(ball["centre"]) + ball["radius"] * rng.random((n, 1)) ** (1 / u.shape[1]) * u


def along(k, coordinates, ball):
    """Best points of linear metrics whose weights go from one coordinate to the next, and back to the first."""
    size = k if coordinates == "diagonal" else k * (k - 1)
    weights = np.array([(1 - s) * np.eye(size)[i] + s * np.eye(size)[(i + 1) % size] for i in range(size) for s in np.linspace(0, 1, 13)[:-1]])
    if coordinates != "diagonal":
        return np.array(ball["centre"]) - ball["radius"] * weights / np.linalg.norm(weights, axis=1, keepdims=True)
    x = (np.arange(4000) + 0.5) / 2000 - 1
    eta = np.exp(-np.outer(x, SLOPES[k]))
    eta /= eta.sum(axis=1, keepdims=True)
    return np.array([(eta * np.eye(k)[np.argmax(eta * w, axis=1)]).mean(axis=0) for w in weights])


def compare(curves, name, true, found, points):
    """Both metrics along the points, the elicited one over the mean of their ratio; mean and deviation of the ratio."""
    want, got = value(true, points), value(found, points)
    ratio = got / want
    curves[f"true, {name}"] = (list(range(len(points))), want.tolist())
    curves[f"elicited, {name}"] = (list(range(len(points))), (got / ratio.mean()).tolist())
    return ratio.mean(), ratio.std()


def draw_fractional(k, q, rng):
    """A linear-fractional metric of mistakes like those of table B.6: costs a below 0, the denominator above 0."""
    a = -rng.dirichlet(np.ones(q))
    b = -rng.uniform(0, 1, q)
    return {"a": a.tolist(), "b": b.tolist(), "b0": float(0.5 - b.sum() * 0.5)}


def fractional_figures(shop, out, results):
    """Figures B.4 and B.5."""
    out.append("## True and elicited linear-fractional metrics along the boundary (figures B.4, B.5)\n")
    out.append("Along the best points of linear metrics that weigh one coordinate, then the next; the elicited metric divided by the mean of its ratio to the true one. Closed form, tolerance 0.01.\n")
    out.append("| figure | metric | thesis: ratio's mean, deviation | ratio's mean, deviation |\n|" + " --- |" * 4)
    rng, charts, deviations = generator(15), [], {}
    four = [{"true": draw_fractional(4, 12, rng), "alpha": alpha, "sigma": sigma} for alpha, sigma in ((0.79, 0.007), (0.72, 0.007), (0.72, 0.006))]
    for figure, family, coordinates, k, lines in (
            ("b4-3", "diagonal-linear-fractional", "diagonal", 3, THESIS["dlfpm_synthetic"]["k3"]), ("b4-4", "diagonal-linear-fractional", "diagonal", 4, THESIS["dlfpm_synthetic"]["k4"]),
            ("b5-3", "linear-fractional", "offdiagonal", 3, THESIS["lfpm"]["k3"]), ("b5-4", "linear-fractional", "offdiagonal", 4, four)):
        curves, words = {}, ["--thesis", "tournament"] if coordinates == "diagonal" else []
        points = along(k, coordinates, None if words else shop.call("space", *population(k)))
        for i, line in enumerate(lines, 1):
            run = elicit(shop, population(k), family, coordinates, line["true"], "--strategy", "search", "--tolerance", 0.01, *words)
            mean, deviation = compare(curves, str(i), line["true"], run["metric"]["coefficients"], points)
            own = ", drawn here" if lines is four else ""
            deviations.setdefault(figure[:2], []).append((deviation, line["sigma"]))
            row(out, f"{figure[0].upper()}.{figure[1]}", f"{k} classes, {i}{own}", f"{line['alpha']}, {line['sigma']}", f"{mean:.2f}, {deviation:.3f}")
        name = f"repro-multiclass-fractional-{figure}.svg"
        line_chart(OUT / name, curves, "place along the boundary", "value", f"{family}, {k} classes")
        charts.append(f"![true and elicited metrics, {k} classes]({name})")
    for figure, pairs in deviations.items():
        ours, theirs = np.array(pairs).T
        results.add([f"Figure {figure[0].upper()}.{figure[1]}"], "true and elicited linear-fractional metrics along the boundary: largest deviation of their ratio", f"{theirs.max():.3f}",
                    f"{ours.max():.3f}", "", "", verdict(ours.max() < theirs.max(), ours.max() <= 1.5 * theirs.max()), "differs: a ratio deviates by more than 1.5 times the thesis'",
                    "" if ours.max() < theirs.max() else f"a ratio of values is not identified: {METHOD}, denominators", {"search": ours.max()})
    out += ["", *charts, "\nThe metrics of four classes in figure B.5 are not printed in the thesis. A ratio's mean is not fixed by preferences (see the table above); its deviation says how much the two curves differ.\n"]


def fractional_tables(shop, out, results):
    table(out, "Linear-fractional metrics: order agreement with the truth on 1000 random feasible pairs",
          ["family", "true a; b; b0", "thesis: ratio's mean, deviation", "grid", "closed form", "ratio's mean, deviation", "questions"])
    rng, found = generator(13), {}
    rows = [("diagonal-linear-fractional", "diagonal", k, line) for k in (3, 4) for line in THESIS["dlfpm_synthetic"][f"k{k}"]]
    rows += [("linear-fractional", "offdiagonal", 3, line) for line in THESIS["lfpm"]["k3"]]
    for (family, coordinates, k, line), grid in zip(rows, VARIANTS["tables B.4 to B.6, grid"]):
        true = line["true"]
        if coordinates == "diagonal":
            points = population_points(k, 2000, coordinates, rng)
        else:
            points = ball_points(shop.call("space", *population(k)), 2000, rng)
        want = value(true, points)
        words = ["--thesis", "tournament"] if coordinates == "diagonal" else []
        run = elicit(shop, population(k), family, coordinates, true, "--strategy", "search", "--tolerance", 0.01, *words)
        got, questions = value(run["metric"]["coefficients"], points), run["questions"]
        closed, ratio = np.mean((got[:1000] > got[1000:]) == (want[:1000] > want[1000:])), got / want
        row(out, family, f"{show(true['a'])}; {show(true['b'])}; {true['b0']}", f"{line['alpha']}, {line['sigma']}",
            f"{grid:.3f}", f"{closed:.3f}", f"{np.mean(ratio):.2f}, {np.std(ratio):.3f}", questions)
        found.setdefault("Table B.6" if coordinates == "offdiagonal" else f"Table B.{k + 1}", []).append((grid, closed, questions))
    out.append("")
    for item, cells in found.items():
        grid, closed, asked = np.array(cells).T
        results.add([item], "linear-fractional metrics: pairs ordered as by the truth, worst of three", f"{grid.min():.3f} by its grid", f"{closed.min():.3f}", "", int(asked.max()),
                    verdict((closed > grid).all(), closed.min() >= 0.99), "better: the closed form orders more pairs for every metric", f"{METHOD}, diagonal ratios, ball",
                    {"grid": grid.min(), "search": closed.min()})


def split(shop, path, share, seed):
    """A random share of the rows, half of it for training: probabilities and labels of the other half."""
    import pandas
    rows = pandas.read_csv(path).sample(frac=share, random_state=seed)
    half = len(rows) // 2
    rows[:half].to_csv(shop.folder / "train.csv", index=False)
    rows[half:].to_csv(shop.folder / "test.csv", index=False)
    rows[half:][["label"]].to_csv(shop.folder / "labels.csv", index=False)
    shop.call("train", "--data", shop.folder / "train.csv", "--label", "label", "--out", shop.folder / "model.json")
    shop.call("predict", "--model", shop.folder / "model.json", "--data", shop.folder / "test.csv", "--out", shop.folder / "p.npy")
    return ["--probs", shop.folder / "p.npy", "--labels", shop.folder / "labels.csv"], rows["label"].nunique(), len(rows)


def real_table(shop, out, results):
    table(out, f"{METRICS} random diagonal linear metrics on real data: share within omega of the truth",
          ["data", "rows", "procedure", "questions", *(f"{w:.2f}" for w in OMEGAS), "largest error"])
    plug_in, worst, gains = {}, {}, []
    for name in REAL:
        path = data_file("covtype_sample", name, results) if name == "covtype" else bundled(name)
        curves = {}
        for share in (0.5, 0.75, 1.0):
            space, k, n = split(shop, path, share, 7)
            metrics = generator(14).dirichlet(np.ones(k), METRICS)
            asked, within, largest = VARIANTS["figure 4.2, plug-in"][f"{name}, {n}"]
            row(out, name, n, "search, plug-in", asked, *(f"{v:.2f}" for v in within), f"{largest:.4f}")
            plug_in[name, share, "search, plug-in"] = within[-1]
            curves[f"search, plug-in, {share:.0%} of the rows"] = (OMEGAS, within)
            for procedure, words in {"search, hull, tournament": ["--strategy", "search", "--thesis", "tournament"], "active": []}.items() if share == 1.0 else ():
                runs = [elicit(shop, space, "diagonal-linear", "diagonal", {"a": list(a)}, "--tolerance", 0.01, *words)
                        for a in metrics]
                errors = np.array([off_by(r, a) for r, a in zip(runs, metrics)])
                within = [np.mean(errors <= w) for w in OMEGAS]
                row(out, name, n, procedure, int(np.median([r["questions"] for r in runs])), *(f"{v:.2f}" for v in within),
                    f"{errors.max():.4f}")
                worst[procedure] = max(worst.get(procedure, 0.0), errors.max())
                plug_in[name, share, procedure] = within[-1]
                if procedure != "search, hull, tournament":
                    curves[f"{procedure}, {share:.0%} of the rows"] = (OMEGAS, within)
            print(f"    {name} {share:.0%}", flush=True)
        gains.append(plug_in[name, 1.0, "search, plug-in"] - plug_in[name, 0.5, "search, plug-in"])
        line_chart(OUT / f"repro-multiclass-{name}.svg", curves, "omega", "share of metrics within omega",
                   f"{name}: diagonal linear metrics recovered", (0, 1))
    share = min(plug_in[name, 1.0, "search, plug-in"] for name in REAL)
    results.add(["Figure 4.2"], "diagonal linear metrics on five real data sets, share within 0.12 with all rows: the thesis' procedure", "1 on SensIT; more rows help",
                ", ".join(f"{name} {plug_in[name, 1.0, 'search, plug-in']:.2f}" for name in REAL) + f"; more rows help on {sum(g > 0 for g in gains)} of 5", "", "", verdict(False, share >= 0.95),
                "reproduced: at least 0.95 on every data set", "SensIT is not available whole; other data stand in", {"smallest": share})
    results.add(["Figure 4.2"], "the same by the hull and by active: largest error of any weight", "0.12", f"{worst['search, hull, tournament']:.4f}", f"{worst['active']:.4f}", "",
                verdict(worst["search, hull, tournament"] <= 0.01 and worst["active"] <= 0.02), "better: hull within 0.01 and active within 0.02 for every metric", "",
                {"hull": worst["search, hull, tournament"], "active": worst["active"]})
    out.append("\nThe thesis used SensIT (acoustic, 78,823 rows), of which only a part with two of the three classes could be had: it is "
               "left out. Its claims: recovery improves with more rows (seen here on vehicle, dna_splice and covtype, not on letter), and omega between 0.04 and 0.08 is too tight for the plug-in search (seen on all).\n")
    out.extend(f"![{name}](repro-multiclass-{name}.svg)" for name in REAL)
    out.append("")


def geometry_table(shop, out, results):
    table(out, "The ball around the uniform classifier: radius by the thesis' procedure and by descent",
          ["space", "classes", "q", "thesis", "inscribed", "shortest random ray", "linear steps"])
    for name in ["softmax 3", "softmax 4", "vehicle", "satellite", "dna_splice", "letter"]:
        space = population(int(name[-1])) if name.startswith("softmax") else split(shop, bundled(name), 1.0, 7)[0]
        best = shop.call("space", *space)
        # With q = 650 the thesis' procedure needs 1,300 searches along the axes.
        thesis = shop.call("space", *space, "--thesis", "radius-method=thesis")["radius"] if len(best["centre"]) < 100 else None
        row(out, name, len(best["classes"]), len(best["centre"]), "" if thesis is None else f"{thesis:.5f}", f"{best['radius']:.5f}",
            f"{best['rays']:.5f}", best["steps"])
    out.append("")


def main():
    out = ["# Chapter 4 reproduced\n", "Made by `make repro` (repro/multiclass.py), which drives the program; the thesis' numbers are in "
           "repro/thesis_multiclass.json.\n"]
    results = Results("multiclass")
    with tempfile.TemporaryDirectory() as folder:
        shop = Workshop(folder)
        every = (printed_tables, random_table, radius_table, fractional_tables, fractional_figures, geometry_table, real_table)
        for part in (printed_tables,) if QUICK else every:
            part(shop, out, results)
            print(f"  {part.__name__} done", flush=True)
    PAGE.write_text("\n".join(out))
    results.write()


if __name__ == "__main__":
    main()
