#!/usr/bin/python3
"""Sums over rows in many files, next to NumPy and Dask with NumPy on the same files: rows per second, memory, growth.

Files of 100,000 rows with 10 features and 7 classes (NPY), 1, 3, 10 and 30 million rows in all unless --rows says otherwise; the
files are repeated where there are fewer than that (--files). One pass is what a Newton step of multinomial logistic regression needs: log-loss, gradient and Hessian.
Ours is melicit.moments, file by file, added up; NumPy's is the fastest of two ways (one product for each pair of classes, or one of all products of features with all pairs), in
blocks of rows that fit the cache; Dask runs the same function as delayed tasks in one thread. Results must agree to 1e-9.

Times are of the processor, on one thread, each way in a process of its own. Targets: at least 4 times the rows per second of both, time per row within 1.3 from the fewest to the most rows, memory that does not
grow with them. Exit status 1 when a target is missed. MELICIT_BUILD names the build folder (default: build)."""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("MELICIT_BUILD", ROOT / "build")).resolve()
FILE_ROWS, D, K = 100_000, 10, 7
PAIRS = [(c, e) for c in range(K) for e in range(c)]


def generate(folder, files):
    for i in range(files):
        rng = np.random.default_rng(i)
        X = rng.normal(size=(FILE_ROWS, D))
        y = (X @ np.random.default_rng(99).normal(size=(D, K)) + rng.gumbel(size=(FILE_ROWS, K))).argmax(axis=1)
        np.save(folder / f"X-{i:03}.npy", X)
        np.save(folder / f"y-{i:03}.npy", y)


def by_numpy(X, y, coefficients, way, block=4096):
    """Log-loss, gradient and the sums of P(c) P(e) x_a x_b."""
    loss, gradient, curvature = 0.0, np.zeros((D + 1, K)), np.zeros((len(PAIRS), D + 1, D + 1))
    first, second = (np.array(side) for side in zip(*PAIRS))
    for low in range(0, len(X), block):
        x = np.column_stack([X[low : low + block], np.ones(len(X[low : low + block]))])
        score = x @ coefficients
        score -= score.max(axis=1, keepdims=True)
        p = np.exp(score)
        total = p.sum(axis=1, keepdims=True)
        p /= total
        rows = np.arange(len(x))
        of = y[low : low + block]
        loss += float((np.log(total[:, 0]) - score[rows, of]).sum())
        rest = p.copy()
        rest[rows, of] -= 1
        gradient += x.T @ rest
        if way == "pairs":
            for i, (c, e) in enumerate(PAIRS):
                curvature[i] += (x * (p[:, c] * p[:, e])[:, None]).T @ x
        else:
            products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
            curvature += ((p[:, first] * p[:, second]).T @ products).reshape(curvature.shape)
    return loss, gradient, curvature


def ours(folder, names, model):
    import melicit

    return sum(melicit.moments(model, np.load(folder / f"X-{f}.npy"), np.load(folder / f"y-{f}.npy"), part=f"{i:05}-{f}") for i, f in enumerate(names))


def one(folder, way, names):
    """A pass; prints processor seconds, peak memory and a number to compare."""
    sys.path.insert(0, str(BUILD / "python" / "site"))
    import melicit

    X, y = np.load(folder / "X-000.npy"), np.load(folder / "y-000.npy")
    model = melicit.Model.fit(X[:2000], y[:2000])
    coefficients = np.load(folder / "coefficients.npy") if way != "ours" else None
    start = time.process_time()
    if way == "ours":
        total = ours(folder, names, model)
        seconds = time.process_time() - start
        loss = model.step(total).log_loss_ * total.rows
    else:
        parts = lambda f: by_numpy(np.load(folder / f"X-{f}.npy"), np.load(folder / f"y-{f}.npy"), coefficients, way.split("-")[-1])
        add = lambda a, b: tuple(x + y for x, y in zip(a, b))
        if way.startswith("dask"):
            import dask

            tasks = [dask.delayed(parts)(f) for f in names]
            while len(tasks) > 1:
                tasks = [dask.delayed(add)(*tasks[i : i + 2]) if i + 1 < len(tasks) else tasks[i] for i in range(0, len(tasks), 2)]
            result = tasks[0].compute(scheduler="synchronous")
        else:
            result = parts(names[0])
            for f in names[1:]:
                result = add(result, parts(f))
        seconds = time.process_time() - start
        loss = result[0]
    print(json.dumps({"seconds": seconds, "mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, "loss": loss}))


def store_coefficients(folder):
    """Those of the model that ours starts from, which its file tells."""
    sys.path.insert(0, str(BUILD / "python" / "site"))
    import melicit

    X, y = np.load(folder / "X-000.npy"), np.load(folder / "y-000.npy")
    stored = json.loads(melicit.Model.fit(X[:2000], y[:2000]).__reduce__()[1][0])
    np.save(folder / "coefficients.npy", np.vstack([np.array(stored["weights"]).T, stored["intercepts"]]))


def measure(folder, way, n_files, files):
    names = [f"{i % files:03}" for i in range(n_files)]
    done = subprocess.run([sys.executable, __file__, "--one", way, str(folder), ",".join(names)], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 3_000_000, 10_000_000, 30_000_000])
    parser.add_argument("--files", type=int, default=30, help="files that are made; others repeat them")
    parser.add_argument("--peers-up-to", type=int, default=3_000_000)
    parser.add_argument("--one", nargs=3)
    args = parser.parse_args()
    if args.one:
        return one(Path(args.one[1]), args.one[0], args.one[2].split(","))
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder, args.files)
        store_coefficients(folder)
        rates, memory = [], []
        for rows in args.rows:
            n = rows // FILE_ROWS
            own = measure(folder, "ours", n, args.files)
            rates.append(rows / own["seconds"])
            memory.append(own["mb"])
            line = f"{rows:>12,} rows: {rates[-1] / 1e6:.2f} million rows per second, {own['mb']:.0f} MB"
            if rows <= args.peers_up_to:
                for peer in ("numpy", "dask"):
                    got = min((measure(folder, f"{peer}-{way}", n, args.files) for way in ("pairs", "products")), key=lambda r: r["seconds"])
                    ratio = got["seconds"] / own["seconds"]
                    agree = abs(got["loss"] - own["loss"]) <= 1e-9 * own["loss"]
                    good = good and agree and ratio >= 4
                    line += f"; {ratio:.1f} times those of {peer} ({got['mb']:.0f} MB)" + ("" if agree else ", results differ")
            print(line, flush=True)
        flat = max(rates) / min(rates) <= 1.3 and max(memory) <= 1.2 * min(memory) + 20
        good = good and flat
    print("targets met" if good else "a target is missed")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
