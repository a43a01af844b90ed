"""Training on rows that no process sees all of: dask.distributed sums over the parts, melicit adds up and takes the steps,
and finds the best threshold on what the workers counted.

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


def train(client):
    model = melicit.Model.fit(*part(0))
    for step in range(20):
        total = sum(client.gather(client.map(sums, range(PARTS), model=model, pure=False)))
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
        rule = sum(client.gather(client.map(counted, range(PARTS), model=model, pure=False))).rule(melicit.Metric("g-mean"))
        print(f"best threshold: {rule.thresholds}")
    if cluster is not None:
        cluster.close()
    X, y = (np.concatenate(values) for values in zip(*map(part, range(PARTS))))
    whole = melicit.Model.fit(X, y)
    assert model.converged_
    assert np.abs(model.predict_proba(X) - whole.predict_proba(X)).max() < 1e-8, "not the model of all rows"


if __name__ == "__main__":
    main()
