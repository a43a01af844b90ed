"""Training on rows that no process sees all of: dask.distributed sums over the parts, melicit adds up and takes the steps.
It finds the best threshold on what the workers counted, what that decides about all rows, and the best rule for a metric that
is known by its values only.

    python3 dask_training.py            two workers in this process
    python3 dask_training.py ADDRESS    the workers of a scheduler that runs already"""
import sys

import numpy as np
from dask.distributed import Client, LocalCluster

import melicit

PARTS, ROWS, FEATURES = 6, 2000, 4


def part(number):
    """The rows of a part; in practice they are read where the worker is."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(ROWS, FEATURES))
    score = X @ [1.0, -0.5, 0.25, 0.0] + 0.3 * rng.normal(size=ROWS)
    return X, np.where(score > 0, "yes", "no")


def sums(number, model):
    return melicit.moments(model, *part(number), part=f"part-{number}")


def counted(number, model):
    """How many rows of a part have which probability of "yes", of rows that the model has not seen in practice."""
    X, y = part(number)
    return melicit.scores(model.predict_proba(X), y, part=f"part-{number}", classes=["no", "yes"])


def decided(number, model, rule):
    """What a rule decides about the rows of a part."""
    X, y = part(number)
    return melicit.moments(rule, model.predict_proba(X), y, part=f"part-{number}")


def pass_over(number, model, iterate):
    """What the next step of a search needs of the rows of a part."""
    X, y = part(number)
    return melicit.moments(iterate, model.predict_proba(X), y, part=f"part-{number}")


def everywhere(client, work, **known):
    """The sums of all parts: workers take them, in whatever order they are ready."""
    return sum(client.gather(client.map(work, range(PARTS), **known, pure=False)))


def g_mean(matrix):
    """A metric of confusion matrices of which only the values are known."""
    return np.sqrt((np.diag(matrix) / matrix.sum(axis=1)).prod())


def search(client, model):
    X, y = part(PARTS)  # validation rows, which fit one process
    found = melicit.Search(g_mean, model.predict_proba(X), y, iterations=10)
    while found.iterate is not None:
        found.step(everywhere(client, pass_over, model=model, iterate=found.iterate))
    print(f"best for the black box: {found.value:.4f} after {found.iterations} iterations")
    return found.rule


def train(client):
    model = melicit.Model.fit(*part(0))
    for step in range(20):
        total = everywhere(client, sums, model=model)
        model = model.step(total)
        print(f"step {step + 1}: {total.rows} rows, log-loss {model.log_loss_:.6f}, gradient {model.gradient_norm_:.1e}")
        if model.converged_:
            break
    return model


def main():
    address = sys.argv[1] if len(sys.argv) > 1 else None
    cluster = None if address else LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
    with Client(address or cluster) as client:
        model = train(client)
        rule = everywhere(client, counted, model=model).rule(melicit.Metric("g-mean"))
        counts = everywhere(client, decided, model=model, rule=rule).decided().by_labels[0]
        print(f"best threshold: {rule.thresholds}, right for {np.diag(counts) / counts.sum(axis=1)} of the classes")
        best = search(client, model)
    if cluster is not None:
        cluster.close()
    X, y = (np.concatenate(values) for values in zip(*map(part, range(PARTS))))
    whole = melicit.Model.fit(X, y)
    assert model.converged_
    assert np.abs(model.predict_proba(X) - whole.predict_proba(X)).max() < 1e-8, "not the model of all rows"
    assert np.trace(counts) == (rule.decide(model.predict_proba(X)) == y).sum(), "not the decisions about all rows"
    assert melicit.Metric("g-mean")(y, best.decide(model.predict_proba(X))) > 0.8


if __name__ == "__main__":
    main()
