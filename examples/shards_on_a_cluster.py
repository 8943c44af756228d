"""Logistic regression on eight shards of data on a local cluster; one of its workers is killed half-way."""

from __future__ import annotations

import logging
import os
import signal
from typing import Any

import distributed
import numpy as np

from symgrad.integrations import scipy as solvers
from symgrad.integrations.dask import ShardedSum

SHARDS = 8
TRUTH = {"weights": np.array([1.5, -2.0, 0.5]), "intercept": -0.3}


def read(shard: int) -> tuple[np.ndarray, np.ndarray]:
    """The inputs and labels of a shard, as a worker would read them from a file; some shards are larger than others."""
    random = np.random.default_rng(shard)
    x = random.normal(size=(200 + 50 * shard, 3))
    chance = 1.0 / (1.0 + np.exp(-x @ TRUTH["weights"] - TRUTH["intercept"]))
    return x, (random.uniform(size=len(x)) < chance).astype(float)


def loss(params: dict[str, Any], x: np.ndarray, y: np.ndarray) -> float:
    """The negative log-likelihood of the labels of a shard."""
    score = x @ params["weights"] + params["intercept"]
    return np.sum(np.logaddexp(0.0, score) - y * score)


def penalty(params: dict[str, Any]) -> float:
    """A penalty on large weights; it is added once."""
    return 0.5 * np.sum(params["weights"] ** 2)


start = {"weights": np.zeros(3), "intercept": 0.0}
example_arguments = {"loss": (TRUTH, *read(0)), "penalty": (TRUTH,)}


def alone() -> dict[str, Any]:
    """The optimal parameters, computed by this process with all data."""
    x, y = (np.concatenate(parts) for parts in zip(*map(read, range(SHARDS))))
    return solvers.minimize(lambda params: loss(params, x, y) + penalty(params), start, tol=1e-8).x


def together(client: distributed.Client, kill: bool = True) -> tuple[dict[str, Any], int]:
    """The optimal parameters, computed by the workers of a cluster, and the number of killed workers."""
    steps, killed = [], []

    def progress(done: int, shards: int) -> None:
        if kill and not killed and len(steps) == 4 and done == shards // 2:
            killed.append(next(iter(client.run(os.getpid).values())))
            os.kill(killed[0], signal.SIGKILL)

    total = ShardedSum(loss, range(SHARDS), load=read, penalty=penalty, client=client, progress=progress)
    return solvers.minimize(total, start, tol=1e-8, callback=steps.append).x, len(killed)


def main() -> None:
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **quiet) as cluster, distributed.Client(cluster) as client:
        best, killed = together(client)
    expected = alone()
    for name, number in best.items():
        print(f"{name}: {np.round(number, 4)}, by one process {np.round(expected[name], 4)}")
    print(f"workers killed: {killed}")


if __name__ == "__main__":
    main()
