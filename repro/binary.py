#!/usr/bin/env python3
"""Chapter 3 of the thesis with the program: linear and linear-fractional metrics of two classes.

Writes repro-binary.md: each table with the thesis' numbers, those of `--strategy search` and those of
`--strategy active`. Thesis figures are typed in below from its tables 3.1, 3.2 and A.1 to A.3."""

import math
import tempfile

import numpy as np

from workshop import OUT, QUICK, VARIANTS, Results, Workshop, at_once, generator, line_chart, program_seed, verdict

PAGE = OUT / "repro-binary.md"

LINEAR = [([0.98, 0.17], [0.99, 0.17]), ([0.87, 0.50], [0.87, 0.50]), ([0.64, 0.77], [0.64, 0.77]),
          ([0.34, 0.94], [0.34, 0.94]), ([-0.94, -0.34], [-0.94, -0.34]), ([-0.77, -0.64], [-0.77, -0.64]),
          ([-0.50, -0.87], [-0.50, -0.87]), ([-0.17, -0.98], [-0.17, -0.99])]
FRACTIONAL = [([1.00, 0.00], [0.50, -0.50, 0.50]), ([1.0, 0.0], [0.8, -0.8, 0.5]), ([0.8, 0.2], [0.3, 0.1, 0.3]),
              ([0.60, 0.40], [0.40, 0.20, 0.20]), ([0.40, 0.60], [-0.10, -0.20, 0.65]),
              ([0.20, 0.80], [-0.40, -0.20, 0.80])]
# Mean and deviation of the ratio of elicited and true values, on the population and on magic04.
RATIOS = {"logistic:a=5,b=0": [(0.92, 0.03), (0.94, 0.02), (0.90, 0.06), (0.82, 0.05), (0.97, 0.01), (1.02, 0.006)],
          "magic04": [(0.90, 0.06), (1.06, 0.05), (0.84, 0.09), (0.65, 0.05), (0.79, 0.08), (1.02, 0.004)]}
SPLITS = 20
TOLERANCES = [0.02, 0.05, 0.08, 0.11]
THESIS_MISSES = {("magic04", 10): [0.57, 0.14, 0.07, 0.00], ("breast_cancer_diagnostic", 10): [0.79, 0.43, 0.21, 0.07],
                 ("magic04", 1): [0.54, 0.36, 0.14, 0.07], ("breast_cancer_diagnostic", 1): [0.79, 0.64, 0.57, 0.43]}
LAYOUT = {"kind": "confusion", "coordinates": "binary", "classes": ["negative", "positive"]}


class Shop(Workshop):
    def binary(self, family, coefficients, name="metric"):
        return self.metric(family, LAYOUT, coefficients, name=name)

    def linear(self, angle, *words):
        path = self.binary("linear", {"a": [math.cos(angle), math.sin(angle)]}, f"linear{angle:.6f}")
        direction = "increasing" if math.cos(angle) > 0 else "decreasing"
        return self.call("elicit", "--oracle", f"sim:{path}", "--known", f"direction={direction}", *words)


def difference(one, other):
    return abs(math.remainder(one - other, 2 * math.pi))


METHOD = "[method](corrections.md#two-classes-chapter-3)"


def linear_table(shop, out, results):
    out.append("## Linear metrics on the population logistic:a=5,b=0, 0.02 rad (tables 3.1, A.1)\n")
    out.append("| true | thesis | search | questions | active | questions | active, rad off |\n| --- | --- | --- | --- | --- | --- | --- |")
    apart, off, asked = [], [], set()
    for true, thesis in LINEAR:
        angle = math.atan2(true[1], true[0])
        space = ["--population", "logistic:a=5,b=0", "--tolerance", 0.02]
        search = shop.linear(angle, *space, "--strategy", "search")
        active = shop.linear(angle, *space)
        show = lambda r: "(%.2f, %.2f)" % tuple(r["metric"]["coefficients"]["a"])
        out.append(f"| ({true[0]:.2f}, {true[1]:.2f}) | ({thesis[0]:.2f}, {thesis[1]:.2f}) | {show(search)} | {search['questions']} "
                   f"| {show(active)} | {active['questions']} | {difference(active['angle'], angle):.4f} |")
        apart.append(np.max(np.abs(np.array(search["metric"]["coefficients"]["a"]) - thesis)))
        off.append(difference(active["angle"], angle))
        asked.add((search["questions"], active["questions"]))
    out.append("")
    results.add(["Table 3.1", "Table A.1"], "linear metrics on the population logistic:a=5,b=0, 0.02 rad", "elicited to 0.01 in 28 questions",
                f"at most {max(apart):.3f} from the thesis", f"at most {max(off):.4f} rad off", " or ".join(f"{s}; {a}" for s, a in sorted(asked)),
                verdict(False, max(apart) <= 0.0255 and {s for s, _ in asked} == {28}), "differs: a weight farther from the printed one than the tolerance and rounding, 0.0255, or other than 28 questions",
                values={"search": max(apart), "active": max(off)})


def real_table(shop, out, results):
    out.append("## 28 linear metrics on real data: share not recovered within the tolerance (table A.3)\n")
    out.append("| data | l2 | tolerance | thesis | search, plug-in | search, hull | active |\n| --- | --- | --- | --- | --- | --- | --- |")
    angles = [base + math.pi / 18 + i * math.pi / 36 for base in (0, math.pi) for i in range(14)]
    total = {"thesis": [], "plug-in": [], "hull": [], "active": []}
    for (data, l2), thesis in THESIS_MISSES.items():
        for tolerance, reported in zip(TOLERANCES, thesis):
            missed = {}
            missed["plug-in"] = VARIANTS["table A.3, plug-in"][f"{data}, {l2}, {tolerance}"]
            total["plug-in"].append(missed["plug-in"])
            for name, words in {"hull": ["--strategy", "search"], "active": []}.items():
                runs = [shop.linear(a, "--data", data, "--l2", l2, "--tolerance", tolerance, *words) for a in angles]
                missed[name] = np.mean([difference(r["angle"], a) > tolerance for r, a in zip(runs, angles)])
                total[name].append(missed[name])
            total["thesis"].append(reported)
            out.append(f"| {data} | {l2} | {tolerance} | {reported:.2f} | {missed['plug-in']:.2f} | {missed['hull']:.2f} "
                       f"| {missed['active']:.2f} |")
    out.append("")
    mean = {name: float(np.mean(v)) for name, v in total.items()}
    about = "28 linear metrics on real data, share not recovered within the tolerance, mean of 16 cells"
    results.add(["Table A.3"], f"{about}: the thesis' procedure", f"{mean['thesis']:.2f}", f"{mean['plug-in']:.2f} (plug-in), {mean['hull']:.2f} (hull)", "", "",
                verdict(False, abs(mean["plug-in"] - mean["thesis"]) <= 0.1), "reproduced: plug-in within 0.1",
                "another split into training and test rows; shares vary by 0.4 from split to split: [page](repro-binary.md)", {"thesis": mean["thesis"], "plug-in": mean["plug-in"], "hull": mean["hull"]})
    results.add(["Table A.3"], f"{about}: active", f"{mean['thesis']:.2f}", "", f"{mean['active']:.2f}", "", verdict(mean["active"] < mean["thesis"] - 0.05),
                "better: active misses at least 0.05 fewer", f"questions are about the hull: {METHOD}, finite samples", {"active": mean["active"]})


def split_table(shop, out, results):
    out.append(f"## The same over {SPLITS} splits of the data into training and test rows, l2 = 10: share not recovered, mean, range\n")
    out.append("| data | tolerance | thesis, one split | search, plug-in | range | search, hull | range |\n| --- | --- | --- | --- | --- | --- | --- |")
    angles = [base + math.pi / 18 + i * math.pi / 36 for base in (0, math.pi) for i in range(14)]
    for data in ("magic04", "breast_cancer_diagnostic"):
        for tolerance, reported in list(zip(TOLERANCES, THESIS_MISSES[data, 10]))[:1]:
            def one(_, item):
                seed, a = item
                run = shop.linear(a, "--data", data, "--l2", 10, "--tolerance", tolerance, "--strategy", "search", "--seed", program_seed(seed))
                return difference(run["angle"], a) > tolerance
            missed = np.array(at_once(one, [(s + 1, a) for s in range(SPLITS) for a in angles])).reshape(SPLITS, -1).mean(axis=1)
            cells = [*VARIANTS["splits, plug-in"][data], f"{missed.mean():.2f}", f"{missed.min():.2f} to {missed.max():.2f}"]
            out.append(f"| {data} | {tolerance} | {reported:.2f} | {' | '.join(cells)} |")
    out += ["", "No split of magic04 that was tried has the thesis' share with the plug-in boundary, nor a smaller one; with the hull its share is about the mean. On breast cancer one of the "
            "splits explains it.\n"]


def feasible_sets(shop, out, results):
    out.append("## Achievable sets of the populations logistic:a=A,b=0 (figure A.1)\n")
    series, spread = {}, []
    for a in (0.5, 1, 2, 5, 10, 50):
        hull = np.array(shop.call("space", "--population", f"logistic:a={a},b=0")["vertices"])
        spread.append(np.max(hull.sum(axis=1)))
        hull = np.vstack([hull[::max(1, len(hull) // 60)], [[0, 0.5], [0.5, 0]]])  # with "never" and "always", the corners
        hull = hull[np.argsort(np.arctan2(*(hull - 0.25).T))]
        hull = np.vstack([hull, hull[:1]])
        series[f"a = {a}"] = (hull[:, 0].tolist(), hull[:, 1].tolist())
    line_chart(OUT / "repro-binary-feasible.svg", series, "TP", "TN", "What is achievable, for several a")
    out.append("![achievable sets](repro-binary-feasible.svg)\n")
    results.add(["Figure A.1"], "achievable sets of logistic populations, a = 0.5 to 50: best accuracy", "from a thin band to nearly the square",
                f"{spread[0]:.3f} to {spread[-1]:.3f}", "", "", verdict(False, spread == sorted(spread) and spread[-1] > 0.97), "differs: the sets do not grow with a",
                values={"first": spread[0], "last": spread[-1]})


def boundary(hull):
    """Angles of linear metrics and the points of the upper boundary that are best for them."""
    angles = np.linspace(0, math.pi / 2, 61)
    v = np.array(hull)
    return angles, v[np.argmax(np.outer(np.cos(angles), v[:, 0]) + np.outer(np.sin(angles), v[:, 1]), axis=1)]


def random_points(vertices, n, rng):
    """Uniform points of a convex polygon by rejection from its bounding box."""
    v = np.array(vertices)
    edges = np.roll(v, -1, axis=0) - v
    points = []
    while len(points) < n:
        p = v.min(axis=0) + rng.random((4 * n, 2)) * (v.max(axis=0) - v.min(axis=0))
        cross = edges[None, :, 0] * (p[:, None, 1] - v[None, :, 1]) - edges[None, :, 1] * (p[:, None, 0] - v[None, :, 0])
        points += list(p[np.all(cross >= 0, axis=1)])
    return np.array(points[:n])


def value(metric, points):
    c = metric["coefficients"] if "coefficients" in metric else metric
    return (points @ np.array(c["p"]) + c["p0"]) / (points @ np.array(c["q"]) + c["q0"])


def fractional_table(shop, out, results):
    out.append("## Linear-fractional metrics: order agreement with the truth on 1000 random feasible pairs (tables 3.2, A.2)\n")
    out.append("The thesis reports mean and deviation of the ratio of elicited and true values along the upper boundary; preferences do not fix that ratio, so "
               "the order of pairs is compared here. Ratios of the closed form at 0.05 are beside the thesis'.\n")
    out.append("| space | true p; q | grid, 0.05 rad | closed form, 0.05 | closed form, 0.002 | questions | active, 0.01 | questions | ratio, thesis | ratio |")
    out.append("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    charts = []
    for space in (["--population", "logistic:a=5,b=0"], ["--data", "magic04"])[: 1 if QUICK else 2]:
        agreed, asked, ratios = [], [], []
        hull = shop.call("space", *space)["vertices"]
        rng = generator(5)
        a, b = random_points(hull, 1000, rng), random_points(hull, 1000, rng)
        angles, best = boundary(hull)
        curves = {}
        for i, (p, q) in enumerate(FRACTIONAL):
            true = {"p": p, "p0": 0, "q": q[:2], "q0": q[2]}
            path = shop.binary("linear-fractional", true)
            want = value(true, a) > value(true, b)
            row, counts = [VARIANTS["tables 3.2 and A.2, grid"][space[1]][i]], [0]
            for words in (["--strategy", "search", "--tolerance", 0.05], ["--strategy", "search", "--tolerance", 0.002], ["--tolerance", 0.01]):
                run = shop.call("elicit", *space, "--family", "linear-fractional", "--oracle", f"sim:{path}", *words)
                row.append(np.mean((value(run["metric"], a) > value(run["metric"], b)) == want))
                counts.append(run["questions"])
                if len(row) == 2:
                    found = value(run["metric"], best)
            positive = value(true, best) > 0.01 * value(true, best).max()  # ratios of next to nothing say nothing
            ratio, thesis = found[positive] / value(true, best)[positive], RATIOS[space[1]][i]
            agreed.append(row)
            asked.append(counts)
            ratios.append(abs(ratio.mean() - thesis[0]))
            out.append(f"| {space[1]} | {p}; {q} | {row[0]:.3f} | {row[1]:.3f} | {row[2]:.4f} | {counts[2]} | {row[3]:.4f} | {counts[3]} "
                       f"| {thesis[0]:.2f}, {thesis[1]:.3f} | {ratio.mean():.2f}, {ratio.std():.3f} |")
            if i in (0, len(FRACTIONAL) - 1):
                curves[f"true, p11 = {p[0]:g}"] = (angles.tolist(), value(true, best).tolist())
                curves[f"found, p11 = {p[0]:g}"] = (angles.tolist(), found.tolist())
        name = space[1].split(":", maxsplit=1)[0]
        low, on = np.min(agreed, axis=0), name == "logistic"
        results.add(["Table 3.2", "Table A.2", "Figure 3.3", "Figure A.2"] if on else ["Table 3.2", "Table A.2", "Figure A.3"],
                    f"linear-fractional metrics, {space[1]}: pairs ordered as by the truth, worst of six", f"{low[0]:.3f} by its grid; mean ratios of values {min(m for m, _ in RATIOS[space[1]]):.2f} to {max(m for m, _ in RATIOS[space[1]]):.2f}",
                    f"{low[1]:.3f} at the thesis' 0.05 rad; ratios off by at most {max(ratios):.2f}", f"{low[3]:.3f}", f"{np.max(asked, axis=0)[1]}; {np.max(asked, axis=0)[3]}",
                    verdict(low[1] >= low[0] and low[3] > low[0]), "better: neither closed form nor active orders fewer pairs than the grid",
                    f"a ratio of values is not identified: {METHOD}, \"constant multiples\", no grid", {"grid": low[0], "search": low[1], "active": low[3], "ratio": max(ratios)})
        line_chart(OUT / f"repro-binary-fractional-{name}.svg", curves, "angle of the supporting line", "value",
                   f"True and elicited metrics along the upper boundary, {name}")
        charts.append(f"![true and elicited metrics on {name}](repro-binary-fractional-{name}.svg)")
    out += ["", "Figures 3.3, A.2 and A.3 (the metrics of table 3.2; search, closed form, 0.05 rad):\n", *charts, ""]


def noise_table(shop, out, results):
    out.append("## Respondents who err: angle error in radians over 100 random metrics, flip:0.1\n")
    out.append("| strategy | questions | median | 95th percentile |\n| --- | --- | --- | --- |")
    angles = generator(3).uniform(0, math.pi / 2, 100)
    space = ["--population", "logistic:a=5,b=0", "--noise", "flip:0.1"]
    for name, words in {"search": ["--strategy", "search", "--tolerance", 0.02],
                        "active": ["--assume", "flip", "--tolerance", 1e-6, "--max-questions", 25]}.items():
        runs = [shop.linear(a, *space, *words, "--seed", program_seed(i)) for i, a in enumerate(angles)]
        error = [difference(r["angle"], a) for r, a in zip(runs, angles)]
        out.append(f"| {name} | {runs[0]['questions']} | {np.median(error):.4f} | {np.quantile(error, 0.95):.4f} |")
    out.append("")


def main():
    out = ["# Chapter 3 reproduced\n", "Made by `make repro` (repro/binary.py), which drives the program; nothing is typed in but the thesis' "
           "numbers.\n"]
    results = Results("binary")
    with tempfile.TemporaryDirectory() as folder:
        shop = Shop(folder)
        for part in (linear_table, feasible_sets, fractional_table) + (() if QUICK else (noise_table, real_table, split_table)):
            part(shop, out, results)
            print(f"  {part.__name__} done", flush=True)
    PAGE.write_text("\n".join(out))
    results.write()


if __name__ == "__main__":
    main()
