"""The figures of chapter 7: elicited weights, run time, quality of the base model, size of the validation set."""

import dataclasses
import os
import re
import subprocess
import tempfile

import numpy as np

import blackbox_learners as learn
from blackbox_bench import Bench
from blackbox_tasks import CIFAR, TASKS, adult_ages
from workshop import BUILD, OUT, Workshop, bar_chart, line_chart

DOCS = OUT
BY_KEY = {task.key: task for task in TASKS}
SIZES = (100, 200, 400, 800, 1600)
NOISE_SIZES = (100, 200, 400, 1000)


def on_cifar(seeds, one):
    """[one(bench)] for splits of CIFAR-10 with the thesis' training; None: the data are not there."""
    found = []
    for seed in range(1, seeds + 1):
        parts = BY_KEY["cifar"].split(seed)
        if parts is None:
            return None
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(Workshop(folder), BY_KEY["cifar"], parts, seed)
            bench.train_sgd()
            found.append(one(bench))
    return found


def class_weights(bench):
    """Of PI-EW with one function, of mean 1."""
    bench.optimise("sgd", "--method", "pi-ew")
    gain = np.diag(bench.found["classifier"]["rules"][0]["gain"])
    return (gain / gain.mean()).tolist()


def weights(seeds):
    return on_cifar(seeds, class_weights)


def say_weights(page, found):
    page.say("## Elicited class weights on CIFAR-10\n")
    if found is None:
        page.say("Skipped: the data were not in the folder `MELICIT_DATA`.\n")
        return
    mean = np.mean(found, 0)
    bar_chart(DOCS / "repro-blackbox-weights.svg", list(CIFAR), {"weight": mean}, "weight, mean 1", "Elicited class weights", 2)
    flipped = {"bird": "airplane", "truck": "automobile", "deer": "horse"}
    right = sum(mean[CIFAR.index(a)] > mean[CIFAR.index(b)] for a, b in flipped.items())
    page.say("![Elicited class weights](repro-blackbox-weights.svg)\n",
             f"PI-EW with one function, means of {len(found)} splits. Labels flip from bird to airplane, truck to automobile and deer to horse: in {right} of these 3 pairs "
             "the class that loses labels has the larger weight, as in the thesis.\n")


def spent_so_far():
    """Processor seconds of this program and of those that it started."""
    return sum(os.times()[:4])


def run_time(seeds):
    """Processor seconds of FW-EG, with the training of its model, and of one run of adaptive surrogates, by number of functions."""
    task = BY_KEY["proxy"]
    names = ["workclass=private", "workclass=non-private", "income=high", "education_num=q3"]
    sets = [names[:n] for n in range(len(names) + 1)]
    task = dataclasses.replace(task, bases=["default" + (f"+columns:{','.join(s)}" if s else "") for s in sets])
    out = {"functions": [len(s) + 1 for s in sets], "FW-EG": [], "adaptive surrogates": [], "training": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Workshop(folder), task, task.split(1), 1)
        begun = spent_so_far()
        bench.train_sgd()
        trained = out["training"] = spent_so_far() - begun
        for basis, named in zip(task.bases, sets):
            spent = []
            for method in (lambda: bench.optimise("sgd", bases=[basis]), lambda: bench.surrogates(named, 1.0, 0.1)):
                begun = spent_so_far()
                method()
                spent.append(spent_so_far() - begun)
            out["FW-EG"].append(trained + spent[0])
            out["adaptive surrogates"].append(trained + spent[1])
    return out


def say_time(page, found):
    x = found["functions"]
    line_chart(DOCS / "repro-blackbox-time.svg", {m: (x, found[m]) for m in ("FW-EG", "adaptive surrogates")}, "basis functions",
               "processor seconds", "Run time", log_y=True)
    ours, theirs = np.array(found["FW-EG"]), np.array(found["adaptive surrogates"])
    ratio, alone = theirs / ours, (theirs - found["training"]) / (ours - found["training"])
    page.say("## Run time against the number of basis functions\n", "![Run time](repro-blackbox-time.svg)\n",
             f"Proxy labels, training of the model included; adaptive surrogates once, with one pair of learning rates (the tables try four). They take {ratio.min():.1f} to "
             f"{ratio.max():.1f} times as long (the thesis: about 5). Training the model is {found['training']:.1f} s of it; without it FW-EG takes {(ours - found['training']).min():.2f} to "
             f"{(ours - found['training']).max():.2f} s, reading and writing files included, and adaptive surrogates {alone.min():.0f} to {alone.max():.0f} times as long.\n")


def quality(seeds):
    """Log-loss of the model on held-out training rows and test accuracy of PI-EW, plain and calibrated, for models on the way."""
    task = dataclasses.replace(BY_KEY["proxy"], metric="accuracy", linear=True, bases=["default"])
    out = {"loss": [], "PI-EW": [], "PI-EW, calibrated": [], "cross-entropy [train]": []}
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Workshop(folder), task, task.split(1), 1)
        saved = []
        learn.sgd(*bench.kept("train", False), bench.k, bench.kept("train", True), bench.rng, epochs=2,
                  snapshot=lambda w: saved.append(w.copy()))
        for w in saved[1:]:
            bench.keep_coefficients("snap", w)
            bench.calibrate("snap")
            out["loss"].append(learn.log_loss(w, *bench.kept("train", True)))
            out["PI-EW"].append(bench.optimise("snap", "--method", "pi-ew"))
            out["PI-EW, calibrated"].append(bench.optimise("snap-cal", "--method", "pi-ew"))
            out["cross-entropy [train]"].append(bench.decide(bench.p["snap"]["test"]))
    return out


def say_quality(page, found):
    names = [m for m in found if m != "loss"]
    line_chart(DOCS / "repro-blackbox-quality.svg", {m: (found["loss"], found[m]) for m in names}, "log-loss on held-out training rows",
               "test accuracy", "Quality of the base model")
    rank = lambda a: np.argsort(np.argsort(a))
    agree = {m: np.corrcoef(rank(-np.array(found["loss"])), rank(found[m]))[0, 1] for m in names}
    page.say("## Quality of the base model\n", "![Quality of the base model](repro-blackbox-quality.svg)\n",
             f"Proxy labels, accuracy: the model after every 50 batches of its first two epochs. Rank correlation of quality and test accuracy: "
             f"{', '.join(f'{m} {agree[m]:.2f}' for m in names)}. Means over the models: {', '.join(f'{m} {np.mean(found[m]):.3f}' for m in names)}.\n")


def sizes(seeds):
    """Test accuracy of PI-EW and of fine-tuning by the number of validation rows, domain shift on Adult."""
    task = dataclasses.replace(BY_KEY["ages"], metric="accuracy", linear=True)
    out = {m: [[] for _ in SIZES] for m in ("PI-EW, one function", "PI-EW, cross-fitted", "fine-tuning", "cross-entropy [train]")}
    for seed in range(1, seeds + 1):
        base = None
        for at, rows in enumerate(SIZES):
            with tempfile.TemporaryDirectory() as folder:
                bench = Bench(Workshop(folder), task, adult_ages(seed, rows=rows), seed)
                if base is None:
                    bench.train_sgd()
                    base = bench.base
                bench.keep_coefficients("sgd", base)
                tuned = learn.fine_tuned(base, *bench.kept("val", False), bench.kept("val", True), bench.rng)
                for method, value in (("PI-EW, one function", bench.optimise("sgd", "--method", "pi-ew")),
                                      ("PI-EW, cross-fitted", bench.optimise("sgd", "--method", "pi-ew", bases=task.bases)),
                                      ("fine-tuning", bench.decide(bench.x["test"] @ tuned)),
                                      ("cross-entropy [train]", bench.decide(bench.p["sgd"]["test"]))):
                    out[method][at].append(value)
    return out


def by_size(bench):
    """[{method: accuracy}] with the first of the validation rows of CIFAR-10."""
    out, label = [], bench.parts["val"].label
    for n in NOISE_SIZES:
        np.save(bench.path("sgd_val.npy"), bench.p["sgd"]["val"][:n])
        bench.write("y_val.csv", {"y": label[:n]})
        held, x, y = bench.held["val"][:n], bench.x["val"][:n], bench.y["val"][:n]
        tuned = learn.fine_tuned(bench.base, x[~held], y[~held], (x[held], y[held]), bench.rng)
        out.append({"PI-EW, one function": bench.optimise("sgd", "--method", "pi-ew"),
                    "PI-EW, the whole matrix": bench.optimise("sgd", "--method", "pi-ew", "--thesis", "matrix=whole"),
                    "plug-in [train-val]": bench.optimise("sgd", "--method", "plug-in", "--thesis", "rounds=0"),
                    "plug-in [train-val], all classes": bench.optimise("sgd", "--method", "plug-in"), "fine-tuning": bench.decide(bench.x["test"] @ tuned),
                    "cross-entropy [train]": bench.decide(bench.p["sgd"]["test"])})
    return out


def sizes_noise(seeds):
    """The same with label noise on CIFAR-10; None: the data are not there."""
    found = on_cifar(seeds, by_size)
    return found and {m: [[split[at][m] for split in found] for at in range(len(NOISE_SIZES))] for m in found[0][0]}


def size_table(page, title, sizes, found, picture, why):
    mean = {m: np.mean(v, 1) for m, v in found.items()}
    line_chart(DOCS / picture, {m: (sizes, v) for m, v in mean.items()}, "validation rows", "test accuracy", title, log_x=True)
    page.table(title, ["method", *(f"{n:,}" for n in sizes)],
               [[m, *(f"{v:.3f} ({s:.3f})" for v, s in zip(mean[m], np.std(found[m], 1, ddof=1)))] for m in found])
    page.say(f"![{title}]({picture})\n", why + "\n")


def say_sizes(page, found):
    plain = np.mean(found["cross-entropy [train]"], 1)
    most = max(np.abs(np.mean(v, 1) - plain).max() for v in found.values())
    size_table(page, "Size of the validation set, domain shift on Adult", SIZES, found, "repro-blackbox-size.svg",
               f"Accuracy, {len(found['fine-tuning'][0])} splits; half of the older people tests. Age leaves little to gain: no method moves away from the model as it is by more than {most:.4f}, at any size.")


def say_sizes_noise(page, found):
    if found is not None:
        size_table(page, "Size of the validation set, label noise on CIFAR-10", NOISE_SIZES, found, "repro-blackbox-size-noise.svg",
                   f"Accuracy, {len(found['fine-tuning'][0])} splits, softmax regression on the features.")


NOISE = {"one": [[0.7, 0.2, 0.1], [0.1, 0.8, 0.1], [0.3, 0.1, 0.6]], "two": [[0.9, 0.1, 0.0], [0.3, 0.5, 0.2], [0.0, 0.2, 0.8]]}
ROWS = (1000, 4000, 16000, 64000)


def noise_error(shop, n, by_cluster, seed):
    """Distance of elicited weights of the whole matrix from T^-1, rows centred, with exact probabilities and n rows of each kind."""
    rng = np.random.Generator(np.random.PCG64(seed))
    names = ["a", "b", "c"]
    matrix = {c: np.array(t) for c, t in NOISE.items()} if by_cluster else {c: np.array(NOISE["one"]) for c in NOISE}
    for part in ("train", "val"):
        x = rng.normal(size=(n, 2))
        cluster = np.where(rng.random(n) < 0.5, "one", "two")
        p = learn.softmax(1.5 * x @ np.array([[1, -0.5, -0.5], [0, 0.87, -0.87]]))
        code = (p.cumsum(1) < rng.random((n, 1))).sum(1).clip(0, 2)
        write = lambda name, column, values: (shop.folder / name).write_text("\n".join([column, *values]) + "\n")
        write(f"y_{part}.csv", "y", np.array(names)[code])
        write(f"g_{part}.csv", "cluster", cluster)
        # Both sets of rows have the noisy probabilities, as the one model would give them.
        noisy = np.where((cluster == "one")[:, None], p @ matrix["one"], p @ matrix["two"])
        np.save(shop.folder / f"p_{part}.npy", noisy)
        if part == "train":
            rows = np.where((cluster == "one")[:, None], matrix["one"][code], matrix["two"][code])
            write("noisy.csv", "y", np.array(names)[(rows.cumsum(1) < rng.random((n, 1))).sum(1).clip(0, 2)])
    at = lambda name: shop.folder / name
    basis = ("--basis", "columns:cluster=one,cluster=two", "--features", at("g_train.csv"), "--validation-features", at("g_val.csv"))
    got = shop.call("optimise", "--probs", at("p_train.npy"), "--labels", at("noisy.csv"), "--validation-probs", at("p_val.npy"),
                    "--validation-labels", at("y_val.csv"), "--metric", "accuracy", "--method", "pi-ew", "--thesis", "matrix=whole", "--thesis", "scale=rows",
                    "--threads", 1, *(basis if by_cluster else ()))
    rule = got["classifier"]["rules"][0]
    found = np.array(rule["gain"]) if by_cluster else np.array(rule["gain"])[None]
    centred = lambda w: w - w.mean(-1, keepdims=True)
    true = np.array([np.linalg.inv(matrix[c]) for c in (NOISE if by_cluster else ["one"])])
    return float(np.sqrt(((centred(found) - centred(true)) ** 2).mean()))


def noise(seeds):
    with tempfile.TemporaryDirectory() as folder:
        return {name: [[noise_error(Workshop(folder), n, name != "independent", seed) for seed in range(1, seeds + 1)] for n in ROWS]
                for name in ("independent", "cluster-dependent")}


def say_noise(page, found):
    error = {m: np.sqrt((np.array(v) ** 2).mean(1)) for m, v in found.items()}
    line_chart(DOCS / "repro-blackbox-noise.svg", {m: (ROWS, e) for m, e in error.items()}, "rows", "error of the weights",
               "Weights that undo label noise", log_x=True, log_y=True)
    slope = {m: np.polyfit(np.log(ROWS), np.log(e), 1)[0] for m, e in error.items()}
    page.say("## Known label noise: the weights converge\n", "![Weights that undo label noise](repro-blackbox-noise.svg)\n",
             "NumPy makes the noise, probabilities are exact, PI-EW elicits weights of the whole matrix for the accuracy: root mean square distance from T^-1 (rows centred: "
             f"a row may be shifted without changing a decision). Slopes in the number of rows: {', '.join(f'{m} {v:.2f}' for m, v in slope.items())} (theory: -0.5). "
             "`build/test_corrupt` checks all four noise models and the weights of the diagonal.\n")


def noise_models(seeds):
    """What build/test_corrupt prints with many repeats: errors of the weights by rows, for all noise models; None: tests were not built."""
    program = BUILD / "test_corrupt"
    if not program.exists():
        return None
    out = subprocess.run([program], env={**os.environ, "MELICIT_SOAK": "1"}, capture_output=True, text=True, check=True).stdout
    lines = re.findall(r"^  (\S.*?) +(whole matrix|diagonal) *: errors ([\d. ]+) of ([\d.]+), slope (-[\d.]+)$", out, re.M)
    return [[f"{model}, {shape}", list(map(float, errors.split())), float(size), float(slope)] for model, shape, errors, size, slope in lines]


def say_noise_models(page, found):
    if not found:
        return
    rows = [500 * 4 ** s for s in range(len(found[0][1]))]
    for picture, shape, title in (("models", "whole matrix", "Weights that undo four kinds of noise"), ("projection", "diagonal", "Weights of the diagonal and their projection")):
        line_chart(DOCS / f"repro-blackbox-{picture}.svg", {name.removesuffix(f", {shape}"): (rows, errors) for name, errors, *_ in found if name.endswith(shape)}, "rows",
                   "error of the weights", title, log_x=True, log_y=True)
    page.table("All noise models of section 7.2", ["", *(f"{n:,} rows" for n in rows), "norm of the weights", "slope"],
               [[name, *(f"{e:.3f}" for e in errors), f"{size:.3f}", f"{slope:.2f}"] for name, errors, size, slope in found])
    page.say("![Weights that undo four kinds of noise](repro-blackbox-models.svg)\n", "![Weights of the diagonal and their projection](repro-blackbox-projection.svg)\n",
             "`MELICIT_SOAK=1 build/test_corrupt`: exact probabilities, 40 draws, a metric with gains L that are not the accuracy's. Weights of the whole matrix against T^-1 L (domain shift: L P(x)/P'(x)), "
             "those of the diagonal against its projection: the weights that explain the metric of infinitely many rows, by integration over the features. Theory: slope -0.5. Under domain shift the weights of the diagonal "
             "make this metric worse than the model as it is, and `melicit optimise` then says so and keeps the model: they are measured as elicited.\n")


def geometry(seeds):
    """Figure E.1 on Adult: shares of a cluster's rows that are decided right, of all classifiers, and what a threshold can keep small."""
    task = BY_KEY["fairness"]
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Workshop(folder), task, task.split(1), 1)
        bench.train_sgd()
    inside = bench.parts["train"].table["workclass"] == "private"
    y, p = bench.y["train"], bench.p["sgd"]["train"][:, 1]
    cuts = [-0.01, *np.quantile(p[inside], np.linspace(0, 1, 60)), 1.01]
    share = lambda says_one: [float(np.mean(inside & (y == 0) & ~says_one)), float(np.mean(inside & (y == 1) & says_one))]
    return {"upper": [share(p >= t) for t in cuts], "lower": [share(p <= t) for t in cuts]}


def say_geometry(page, found):
    upper, lower = np.array(found["upper"]), np.array(found["lower"])
    omega = lower.max(axis=1).min()
    box = np.array([[omega, 0], [omega, omega], [0, omega]])
    line_chart(DOCS / "repro-blackbox-geometry.svg", {"upper boundary": tuple(upper.T.tolist()), "lower boundary": tuple(lower.T.tolist()),
                                                      "both at most omega": tuple(box.T.tolist())},
               "share of all rows: in the cluster, class 0, decided so", "the same of class 1", "Phi-confusions of one cluster")
    page.say("## Geometry of the phi-confusions (figure E.1)\n", "![Phi-confusions of one cluster](repro-blackbox-geometry.svg)\n",
             f"Adult, income, the cluster of people in private employment, the thesis' training. Upper boundary: thresholds on the model's probability; lower boundary: the same with decisions reversed, which "
             f"`melicit optimise --thesis probes=constrained` takes on the clusters that a probe is not about. With the best threshold both entries are at most {omega:.3f}, next to {upper[:, 0].max():.3f} and "
             f"{upper[:, 1].max():.3f} of the probe's own cluster.\n")


FIGURES = {"noise": (say_noise, noise), "noise-models": (say_noise_models, noise_models), "weights": (say_weights, weights), "time": (say_time, run_time), "quality": (say_quality, quality), "sizes": (say_sizes, sizes),
           "sizes-noise": (say_sizes_noise, sizes_noise), "geometry": (say_geometry, geometry)}
