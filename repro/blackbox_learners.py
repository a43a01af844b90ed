"""Softmax regression by stochastic gradient steps, and the baselines of chapter 7 that train a model of their own.

Coefficients are a matrix with a row per feature (the first is a constant) and a column per class."""

import numpy as np
from scipy import optimize, sparse

RATE, BATCH, EPOCHS, PATIENCE = 0.01, 32, 100, 5


def softmax(score):
    e = np.exp(score - score.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def log_loss(w, x, y):
    p = softmax(x @ w)
    return -np.log(np.maximum(p[np.arange(len(y)), y], 1e-300)).mean()


def codes(classes, label):
    return np.searchsorted(classes, label)


def sgd(x, y, k, watch, rng, start=None, rate=RATE, epochs=EPOCHS, snapshot=None):
    """The thesis' training: batches of 32, the coefficients with the least log-loss on the watched rows. Where there are many rows, five
    epochs without a smaller loss end it."""
    w = np.zeros((x.shape[1], k)) if start is None else start.copy()
    target = np.eye(k)[y]
    best, least, worse = w.copy(), log_loss(w, *watch), 0
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for number, at in enumerate(range(0, len(y), BATCH)):
            rows = order[at:at + BATCH]
            error = softmax(x[rows] @ w) - target[rows]
            w -= rate / len(rows) * (x[rows].T @ error)
            if snapshot is not None and number % 50 == 0:
                snapshot(w)
        loss = log_loss(w, *watch)
        worse = 0 if loss < least else worse + 1
        if loss < least:
            best, least = w.copy(), loss
        if worse == PATIENCE and len(y) > 5000:
            break
    return best


def fine_tuned(base, x, y, watch, rng):
    """Steps on the validation rows, learning rates 1e-6 to 1e-4, the least log-loss on the rows kept apart."""
    tried = [sgd(x, y, base.shape[1], watch, rng, start=base, rate=rate) for rate in (1e-6, 1e-5, 1e-4)]
    return min(tried, key=lambda w: log_loss(w, *watch))


def learned_weights(x, y, clean, watch, rng, epochs=10, rate=RATE, start=None):
    """Learn-to-reweight: each row of a batch counts as far as a step along it lowers the loss on clean rows."""
    k = int(max(y.max(), clean[1].max())) + 1
    w = np.zeros((x.shape[1], k)) if start is None else start.copy()
    target, clean_target = np.eye(k)[y], np.eye(k)[clean[1]]
    best, least = w.copy(), np.inf
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for at in range(0, len(y), BATCH):
            rows, some = order[at:at + BATCH], rng.integers(len(clean[1]), size=2 * BATCH)
            error = softmax(x[rows] @ w) - target[rows]
            slope = clean[0][some].T @ (softmax(clean[0][some] @ w) - clean_target[some]) / len(some)
            weight = np.maximum(((x[rows] @ slope) * error).sum(1), 0.0)
            if weight.sum() > 0.0:
                w -= rate * (x[rows].T @ (error * (weight / weight.sum())[:, None]))
        loss = log_loss(w, *watch)
        if loss < least:
            best, least = w.copy(), loss
    return best


def steps_that_agree(x, y, clean, start, epochs=EPOCHS):
    """Learn-to-reweight as the authors' program computes it: a product of a row and a column makes all rows of a batch count alike, so that
    a batch is an ordinary step where its slope agrees with that of the clean rows, and none elsewhere. Kept is the model of the epoch whose
    steps had the least loss; batches without a step have none."""
    w, k = start.copy(), start.shape[1]
    target, clean_target = np.eye(k)[y], np.eye(k)[clean[1]]
    best, least = w.copy(), np.inf
    for _ in range(epochs):
        loss = 0.0
        for at in range(0, len(y) - BATCH + 1, BATCH):
            rows = slice(at, at + BATCH)
            p = softmax(x[rows] @ w)
            slope = x[rows].T @ (p - target[rows]) / BATCH
            if (slope * (clean[0].T @ (softmax(clean[0] @ w) - clean_target))).sum() > 0.0:
                loss -= np.log(np.maximum((p * target[rows]).sum(1), 1e-300)).mean()
                w -= RATE * slope
        if loss < least:
            best, least = w.copy(), loss
        if loss == 0.0:
            break
    return best


def compact(x):
    """Sparse where most numbers are 0."""
    return sparse.csr_matrix(x) if (x[:1000] != 0).mean() < 0.3 else x


def fit(x, y, k, start=None, weight=None, noise=None, l2=1.0):
    """All rows at once. weight: of each row; noise: P(label j | class i), through which the labels were seen."""
    x, weight = compact(x), np.ones(len(y)) if weight is None else weight
    rows, penalty = np.arange(len(y)), np.full((x.shape[1], 1), l2)
    penalty[0] = 0.0

    def goal(flat):
        w = flat.reshape(x.shape[1], k)
        p = softmax(x @ w)
        seen = p if noise is None else np.clip(p @ noise, 1e-12, None)
        value = -(weight * np.log(np.maximum(seen[rows, y], 1e-300))).sum() + (penalty * w ** 2).sum() / 2
        if noise is None:
            slope = p.copy()
            slope[rows, y] -= 1.0
        else:
            given = p * noise[:, y].T / seen[rows, y][:, None]
            slope = p - given
        return value, (x.T @ (weight[:, None] * slope) + penalty * w).ravel()
    first = np.zeros(x.shape[1] * k) if start is None else start.ravel()
    return optimize.minimize(goal, first, jac=True, method="L-BFGS-B", options={"maxiter": 100}).x.reshape(-1, k)


def forward_corrected(base, x, y):
    """Forward correction: the rows that are surest of each class (97% are less sure) say how labels flip."""
    k = base.shape[1]
    p = softmax(x @ base)
    sure = [np.argsort(p[:, i])[int(0.97 * len(p))] for i in range(k)]
    return fit(x, y, k, start=base, noise=p[sure] / p[sure].sum(1, keepdims=True))


def importance_weighted(x, y, clean, start, tell=fit):
    """Rows count f/(1 - f), f the probability that a row with this label is a validation row, by the model that `tell` fits."""
    k = start.shape[1]
    with_label = lambda rows, label: np.hstack([rows, np.eye(k)[label][:, 1:]])
    both = np.vstack([with_label(x, y), with_label(*clean)])
    came = np.r_[np.zeros(len(y), int), np.ones(len(clean[1]), int)]
    f = softmax(with_label(x, y) @ tell(both, came, 2))[:, 1]
    weight = f / (1 - f)
    return fit(x, y, k, start=start, weight=weight / weight.mean())


def mean_matched(source, target, width, rng, limit=1000.0, n_features=400, steps=200):
    """Kernel mean matching: weights from 0 to `limit`, of mean 1, such that the weighted mean of the source rows and the mean of the
    target rows are close in the space of a radial kernel, here by random Fourier features."""
    d = source.shape[1]
    wave, phase = rng.normal(size=(d, n_features)) / width, rng.random(n_features) * 2 * np.pi
    features = lambda rows: np.sqrt(2 / n_features) * np.cos(rows @ wave + phase)
    phi, aim, n = features(source), features(target).mean(0), len(source)
    rate = n / np.linalg.norm(phi, 2) ** 2
    project = lambda b: np.clip(b + optimize.brentq(lambda t: np.clip(b + t, 0, limit).mean() - 1, -2 - b.max(), 2 - b.min()), 0, limit)
    beta = old = np.ones(n)
    for step in range(steps):
        ahead = beta + step / (step + 3) * (beta - old)
        old, beta = beta, project(ahead - rate * (phi @ (phi.T @ ahead / n - aim)))
    return beta


def adaptive_surrogates(x, y, k, clusters, start, value, rng, outer, inner, rounds=20, steps=15, probes=24):
    """Jiang et al. (2020): log-losses of each class on each cluster of training rows stand for the metric. Each round estimates how
    the metric changes with the losses by perturbed models, moves the losses that way, and fits the model to them again. Coefficients
    are relative to the first class: features x (k - 1). value: models along a third axis -> metrics. Gives the best model on the way."""
    # Single precision: its exponentials and logarithms are several times as fast.
    x, columns, rows = compact(x.astype(np.float32)), [np.ones(len(y), bool), *clusters], np.arange(len(y))
    cell = np.array([(c & (y == i)) / max((c & (y == i)).sum(), 1) for c in columns for i in range(k)], dtype=np.float32)
    cell, target = sparse.csr_matrix(cell[cell.sum(1) > 0]), np.eye(k, dtype=np.float32)[y][:, 1:]

    def scores(theta):
        return (x @ theta.reshape(len(theta), -1).astype(np.float32)).reshape(len(y), *theta.shape[1:])

    def log_total(score):
        if score.shape[1] == 1:
            return np.maximum(score[:, 0], 0) + np.log(1 + np.exp(-np.abs(score[:, 0])))
        top = np.maximum(score.max(1), 0)
        return top + np.log(np.exp(-top) + np.exp(score - top[:, None]).sum(1))

    def losses(score, total):
        return cell @ (total - np.where((y > 0)[:, None], score[rows, y - 1], 0))
    theta = start.copy()
    best, most, memory = theta.copy(), value(theta[..., None])[0], np.full(theta.shape, 1e-8)
    for _ in range(rounds):
        tried = theta[..., None] + 0.5 * np.sqrt((theta ** 2).mean()) * rng.normal(size=(*theta.shape, probes))
        tried = np.concatenate([theta[..., None], tried], 2)
        score = scores(tried)
        all_losses, all_values = losses(score, log_total(score)), value(tried)
        slope = np.linalg.lstsq((all_losses[:, 1:] - all_losses[:, :1]).T, all_values[1:] - all_values[0], rcond=1e-3)[0]
        aim = all_losses[:, 0] + outer * slope
        for _ in range(steps):
            score = scores(theta[..., None])
            total = log_total(score)
            excess = np.maximum(losses(score, total)[:, 0] - aim, 0.0).astype(np.float32)
            error = np.exp(score[..., 0] - total) - target
            gradient = x.T @ ((cell.T @ (2 * excess))[:, None] * error)
            memory += gradient ** 2
            theta = theta - inner * gradient / np.sqrt(memory)
        now = value(theta[..., None])[0]
        if now > most:
            best, most = theta.copy(), now
    return best, most


def calibrated(p, y, others):
    """Temperature and an offset per class, fitted on held-out rows, applied to other probabilities."""
    k = p.shape[1]
    log = lambda q: np.log(np.maximum(q, 1e-12))
    scaled = lambda v, q: softmax(np.exp(v[0]) * log(q) + v[1:])

    def goal(v):
        return -np.log(np.maximum(scaled(v, p)[np.arange(len(y)), y], 1e-300)).sum() + 0.5e-3 * len(y) * (v ** 2).sum() / k
    v = optimize.minimize(goal, np.zeros(k + 1), method="L-BFGS-B").x
    return [scaled(v, q) for q in others]
