"""A small convolutional network on CIFAR-10 at half resolution, as a second base model of table 7.3."""

import gzip
import os
import pathlib

import numpy as np

from blackbox_bench import PARTS, Bench
from blackbox_tasks import shuffled, skipped

EPOCHS, BATCH, RATE = 6, 64, 0.1
FEW = 30  # epochs on the validation rows


def installed():
    try:
        import torch  # Debian: python3-torch
        return torch is not None
    except ImportError:
        print("    skipped: python3-torch is not installed", flush=True)
        return False


def images(part):
    """Rows of 3 x 16 x 16 numbers from -1 to 1; None: the data are not there."""
    name = f"cifar10_16x16_{part}.bin.gz"
    path = pathlib.Path(os.environ.get("MELICIT_DATA", "")) / name
    if "MELICIT_DATA" not in os.environ or not path.exists():
        skipped(name)
        return None
    with gzip.open(path) as file:
        raw = np.frombuffer(file.read(), np.uint8).reshape(-1, 769)
    return raw[:, 1:].reshape(-1, 3, 16, 16).astype(np.float32) / 127.5 - 1


def build(k):
    from torch import nn
    layer = lambda a, b: (nn.Conv2d(a, b, 3, padding=1), nn.BatchNorm2d(b), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*layer(3, 32), *layer(32, 64), *layer(64, 128), nn.Flatten(), nn.Dropout(0.3), nn.Linear(512, k))


def probabilities(net, x):
    import torch
    net.eval()
    with torch.no_grad():
        return np.vstack([torch.softmax(net(torch.from_numpy(x[at:at + 1000])).double(), 1).numpy() for at in range(0, len(x), 1000)])


def trained(x, y, k, watch, seed, epochs=EPOCHS):
    """Momentum steps whose length rises and falls again, mirrored images, the epoch with the least log-loss on the watched rows."""
    import torch
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    net, rng = build(k), np.random.Generator(np.random.PCG64(seed))
    steps = torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9, nesterov=True, weight_decay=5e-4)
    plan = torch.optim.lr_scheduler.OneCycleLR(steps, RATE, total_steps=epochs * -(-len(y) // BATCH))
    best, least = None, np.inf
    for _ in range(epochs):
        net.train()
        for rows in np.array_split(rng.permutation(len(y)), -(-len(y) // BATCH)):
            batch = x[rows]
            turn = rng.random(len(rows)) < 0.5
            batch[turn] = batch[turn][..., ::-1]
            steps.zero_grad()
            torch.nn.functional.cross_entropy(net(torch.from_numpy(batch)), torch.from_numpy(y[rows])).backward()
            steps.step()
            plan.step()
        p = probabilities(net, watch[0])
        loss = -np.log(np.maximum(p[np.arange(len(watch[1])), watch[1]], 1e-12)).mean()
        if loss < least:
            best, least = {name: value.clone() for name, value in net.state_dict().items()}, loss
    net.load_state_dict(best)
    return net


class NetworkBench(Bench):
    """The split of the features, with the network's probabilities. Those are kept in a folder: a network takes minutes."""

    def train(self, seed, folder):
        kept = folder / f"network-{seed}.npz"
        if not kept.exists():
            x = {part: images(part) for part in ("train", "test")}
            order = shuffled(seed, len(x["train"]))
            n = len(order) // 50
            x = {"train": x["train"][order[n:]], "val": x["train"][order[:n]], "test": x["test"]}
            made = {}
            for source, name, epochs in (("train", "net", EPOCHS), ("val", "net-val", FEW)):
                held = self.held[source]
                net = trained(x[source][~held], self.y[source][~held], self.k, (x[source][held], self.y[source][held]), seed, epochs)
                made.update({f"{name}_{part}": probabilities(net, x[part]) for part in PARTS})
            np.savez(kept, **made)
        stored = np.load(kept)
        for name in ("net", "net-val"):
            self.keep(name, [stored[f"{name}_{part}"] for part in PARTS])

    def all_of_network(self, seed, folder):
        """{method: (value,)}"""
        self.train(seed, folder)
        got = self.with_probabilities("net")
        self.calibrate("net")
        got["PI-EW, one function, calibrated model"] = self.optimise("net-cal", "--method", "pi-ew")
        got["PI-EW, the whole matrix, calibrated model"] = self.optimise("net-cal", "--method", "pi-ew", "--thesis", "matrix=whole")
        return {method: (value,) for method, value in got.items()}
