"""The families of classifiers: what is varied in each, and how one candidate is trained.

Candidate number i of a family on a data set has its own stream of random numbers, so it is the same whichever others
are built. Candidate 1 has ordinary settings; the others vary them, together with how much rare classes count (`rarity`:
class i has weight share_i^-rarity), which features are seen and how many rows train."""

import numpy as np

from datasets import stream

# Training rows at most. Kernel machines cost the square of the rows, networks many passes over them.
MAX_ROWS = {"logistic": 40000, "mlp": 20000, "linear_svm": 40000, "rbf_svm": 4000, "boosting": 40000}
FAMILIES = list(MAX_ROWS)


def log_uniform(rng, low, high):
    """Between low and high, rounded to three digits so that the settings can be written down."""
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.3g}")


def common_settings(rng, first):
    if first:
        return {"rarity": 0.0, "feature_share": 1.0, "row_share": 1.0}
    return {"rarity": round(float(rng.uniform(0, 1.2)), 2), "feature_share": float(rng.choice([1.0, 0.7, 0.4])),
            "row_share": float(rng.choice([1.0, 0.5, 0.1]))}


def own_settings(family, rng, first):
    if family == "logistic":
        return {"C": 1.0 if first else log_uniform(rng, 1e-4, 10)}
    if family == "linear_svm":
        return {"C": 1.0 if first else log_uniform(rng, 1e-5, 1)}
    if family == "rbf_svm":
        return {"C": 1.0 if first else log_uniform(rng, 0.1, 100), "width": 1.0 if first else log_uniform(rng, 0.05, 8)}
    if family == "mlp":
        layers = [[16], [8], [32], [64], [32, 16]]
        return {"layers": layers[0 if first else int(rng.integers(len(layers)))],
                "alpha": 1e-4 if first else log_uniform(rng, 1e-5, 1),
                "rate": 1e-3 if first else log_uniform(rng, 1e-3, 2e-2),
                "passes": 30 if first else int(rng.integers(8, 41))}
    return {"trees": 60 if first else int(rng.integers(8, 81)), "depth": 4 if first else int(rng.integers(1, 8)),
            "rate": 0.2 if first else log_uniform(rng, 0.03, 0.6),
            "rows_each": 1.0 if first else round(float(rng.uniform(0.5, 1)), 2)}


def estimator(family, setting, weights, n_features, seed):
    """An untrained scikit-learn or xgboost classifier; weights are those of the classes."""
    if family == "logistic":
        from sklearn.linear_model import LogisticRegression
        return LogisticRegression(C=setting["C"], class_weight=weights, tol=1e-8, max_iter=1000)
    if family == "linear_svm":
        from sklearn.svm import LinearSVC
        return LinearSVC(C=setting["C"], class_weight=weights, dual=False, tol=1e-6, max_iter=2000)
    if family == "rbf_svm":
        from sklearn.svm import SVC
        return SVC(C=setting["C"], gamma=setting["width"] / n_features, class_weight=weights, cache_size=300)
    if family == "mlp":
        from sklearn.neural_network import MLPClassifier
        return MLPClassifier(setting["layers"], alpha=setting["alpha"], learning_rate_init=setting["rate"], batch_size=64,
                             max_iter=setting["passes"], n_iter_no_change=setting["passes"], random_state=seed)
    from xgboost import XGBClassifier
    return XGBClassifier(n_estimators=setting["trees"], max_depth=setting["depth"], learning_rate=setting["rate"],
                         subsample=setting["rows_each"], tree_method="hist", n_jobs=1, random_state=seed)


def training_rows(family, setting, labels, weights, rng):
    """Row numbers. Networks take no class weights: their rows are drawn by weight, with repetition."""
    n = len(labels)
    wanted = min(MAX_ROWS[family], max(round(setting["row_share"] * n), min(n, 1000)))
    if family == "mlp" and setting["rarity"] > 0:
        chance = np.array([weights[i] for i in labels])
        rows = rng.choice(n, wanted, p=chance / chance.sum())
    else:
        rows = rng.permutation(n)[:wanted]
    missing = np.setdiff1d(labels, labels[rows])  # a class must not vanish from a small part
    extra = [np.flatnonzero(labels == i)[:2] for i in missing]
    return np.sort(np.concatenate([rows, *extra]))


def train(data, matrix, family, number):
    """The settings of a candidate and its decisions for the test rows."""
    rng = stream(data.name, family, number)
    setting = {**own_settings(family, rng, number == 1), **common_settings(rng, number == 1)}
    labels = data.label[data.train]
    share = np.bincount(labels) / len(labels)
    weights = {i: float(s ** -setting["rarity"]) for i, s in enumerate(share)}
    rows = training_rows(family, setting, labels, weights, rng)
    wide = matrix.shape[1]
    seen = np.sort(rng.permutation(wide)[:max(2, round(setting["feature_share"] * wide))])
    model = estimator(family, setting, weights, len(seen), int(rng.integers(2**31)))
    x, y = matrix[data.train[rows]][:, seen], labels[rows]
    if family == "boosting":
        model.fit(x, y, sample_weight=np.array([weights[i] for i in y]))
    else:
        model.fit(x, y)
    return {**setting, "rows": len(rows), "features": len(seen)}, model.predict(matrix[data.test][:, seen]).astype(int)
