"""The four examples of python/examples by hand, with scikit-learn 1.2 and NumPy, next to melicit: lines, time, value.

Thresholds are tuned on out-of-fold probabilities as TunedThresholdClassifierCV does it, thresholds of groups on a grid
as ThresholdOptimizer of fairlearn does it; Debian 12 has neither. Metrics must be known: by hand nobody is asked, so the
wishes that melicit's questions find are given.

usage: python3 bench/python_by_hand.py
"""
import inspect
import os
import sys
import time

sys.path[:0] = [os.path.join(os.environ.get("MELICIT_BUILD", "build"), "python", "site"), "python/examples"]
import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import cross_val_predict

import black_box_gmean
import cancer_threshold
import fair_credit
import seven_class_costs


def cancer(X_train, y_train, X_test):
    model = cancer_threshold.model()
    p = cross_val_predict(model, X_train, y_train, method="predict_proba")[:, 1]
    best, threshold = -np.inf, 0.5
    for t in np.unique(p):
        c = confusion_matrix(y_train, np.where(p >= t, "malignant", "benign"), labels=["benign", "malignant"])
        if 7 * c[1, 1] + c[0, 0] > best:
            best, threshold = 7 * c[1, 1] + c[0, 0], t
    fitted = model.fit(X_train, y_train)
    return np.where(fitted.predict_proba(X_test)[:, 1] >= threshold, "malignant", "benign")


def seven(X_train, y_train, X_test):
    fitted = seven_class_costs.model().fit(X_train, y_train)
    return np.array(seven_class_costs.CLASSES)[(fitted.predict_proba(X_test) @ seven_class_costs.COST).argmin(axis=1)]


def fair(X_train, y_train, sex_train, X_test, sex_test):
    model, wish = fair_credit.model(), fair_credit.wish(y_train, sex_train).coefficients
    a, b, balance = wish[:2], wish[2:4], wish[4]
    positive, female = (y_train == "defaulted").to_numpy(), (sex_train == "female").to_numpy()
    p = cross_val_predict(model, X_train, y_train, method="predict_proba")[:, 0]
    grid = np.quantile(p, np.linspace(0, 1, 101))
    share = np.array([[(female & (positive == c)).sum() / (positive == c).sum() for c in (False, True)]])
    share = np.vstack([share, 1 - share])
    rates = np.empty((2, len(grid), 2))
    for g, of in enumerate((female, ~female)):
        for i, t in enumerate(grid):
            flagged = p[of] >= t
            rates[g, i] = flagged[~positive[of]].mean(), (~flagged[positive[of]]).mean()
    best, chosen = np.inf, (0.5, 0.5)
    for i, t in enumerate(grid):
        for j, u in enumerate(grid):
            everybody = share[0] * rates[0, i] + share[1] * rates[1, j]
            cost = (1 - balance) * a @ everybody + balance * b @ np.abs(rates[0, i] - rates[1, j])
            if cost < best:
                best, chosen = cost, (t, u)
    p = model.fit(X_train, y_train).predict_proba(X_test)[:, 0]
    return np.where(p >= np.where(sex_test == "female", *chosen), "defaulted", "paid")


def gmean(X_train, y_train, X_test):
    model = black_box_gmean.model()
    p = cross_val_predict(model, X_train, y_train, method="predict_proba")[:, 1]
    grid = np.quantile(p, np.linspace(0, 1, 201))
    best = max(grid, key=lambda t: black_box_gmean.gmean(y_train, (p >= t).astype(int)))
    return (model.fit(X_train, y_train).predict_proba(X_test)[:, 1] >= best).astype(int)


def lines(function):
    return sum(1 for line in inspect.getsource(function).split("\n")[1:] if line.strip())


def measured(function, *args):
    begin = time.perf_counter()
    decided = function(*args)
    return decided[0] if isinstance(decided, tuple) else decided, time.perf_counter() - begin


def main():
    print("| task | melicit: lines | seconds | value | by hand: lines | seconds | value |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    tasks = [
        ("cancer threshold (cost to the doctor)", cancer_threshold, cancer, lambda y, d, *_: cancer_threshold.DOCTOR(y, d)),
        ("seven-class costs (mean cost)", seven_class_costs, seven,
         lambda y, d, *_: seven_class_costs.COST[y, d].mean()),
        ("fair credit scoring (cost)", fair_credit, fair, lambda y, d, *more: fair_credit.wish(*more[:2])(y, d, more[2])),
        ("black-box G-mean", black_box_gmean, gmean, lambda y, d, *_: black_box_gmean.gmean(y, d)),
    ]
    for name, example, by_hand, value in tasks:
        X_train, X_test, y_train, y_test, *sex = example.load()
        args = (X_train, y_train, sex[0], X_test, sex[1]) if sex else (X_train, y_train, X_test)
        cells = []
        for function in (example.solve, by_hand):
            decided, seconds = measured(function, *args)
            got = value(y_test, decided, y_train, *sex)
            cells += [str(lines(function)), f"{seconds:.2f}", f"{got:.4f}"]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
