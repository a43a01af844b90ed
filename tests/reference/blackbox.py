"""Algorithms 7.1 to 7.3 of the thesis again, in NumPy: weights elicited from a black-box metric, PI-EW and FW-EG.

A classifier is the matrix of its decisions, a row for each example, so that mixtures are averages. `train` and `validation` are
(probabilities, labels, basis functions).
"""
import numpy as np

EPSILON, SMALL = 1e-3, 1e-6


def g_mean(confusion):
    recalls = np.diag(confusion) / confusion.sum(axis=1)
    return np.prod(recalls) ** (1 / len(recalls))


def confusion_of(decisions, labels):
    k = decisions.shape[1]
    return np.eye(k)[labels].T @ decisions / len(labels)


def plug_in(data, alpha):
    """Decides for the class with the largest weighted probability; alpha has a column for each class."""
    p, _, f = data
    return np.eye(p.shape[1])[np.argmax((f @ alpha) * p, axis=1)]


def elicit_weights(metric, train, validation, h_train, h_validation):
    """Algorithm 7.1 with differences to the current classifier: probes move it along each basis function towards each class."""
    (_, y, f), (_, yv, fv) = train, validation
    k, n_basis = h_train.shape[1], f.shape[1]
    at = metric(confusion_of(h_validation, yv))
    rows, right = [], []
    for basis in range(n_basis):
        for target in range(k):
            moved = lambda h, phi: EPSILON * phi[:, None] * (np.eye(k)[target] - h)
            change = moved(h_train, f[:, basis])
            # What each weight's sum over the training rows of its class gains, over the sum of its basis function.
            rows.append([(f[:, m] * (y == j) * change[:, j]).sum() / f[:, m].sum() for m in range(n_basis) for j in range(k)])
            right.append(metric(confusion_of(h_validation + moved(h_validation, fv[:, basis]), yv)) - at)
    return np.linalg.lstsq(np.array(rows), np.array(right), rcond=SMALL)[0].reshape(n_basis, k)


def frank_wolfe(metric, train, validation, steps):
    """Algorithm 7.3 with these steps; a single step of 1 is Algorithm 7.2 (PI-EW). The metric's value on the validation rows."""
    alpha = np.ones((train[2].shape[1], train[0].shape[1]))
    h_train, h_validation = plug_in(train, alpha), plug_in(validation, alpha)
    for step in steps:
        alpha = elicit_weights(metric, train, validation, h_train, h_validation)
        h_train = (1 - step) * h_train + step * plug_in(train, alpha)
        h_validation = (1 - step) * h_validation + step * plug_in(validation, alpha)
    return metric(confusion_of(h_validation, validation[1]))
