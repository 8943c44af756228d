"""Sums over shards on worker processes, some of which are killed."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import ClusterFailed

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
cloudpickle = pytest.importorskip("cloudpickle")
from symgrad.integrations.dask import ShardedSum  # noqa: E402

pytestmark = pytest.mark.slow


@pytest.fixture
def client() -> Iterator[Any]:
    """Three workers, each in a process; one that has killed two of them is at fault."""
    quiet = {"dashboard_address": ":0", "silence_logs": logging.CRITICAL}
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 1}),
        distributed.Client(n_workers=3, threads_per_worker=1, **quiet) as client,
    ):
        yield client


@pytest.fixture
def by_value() -> Iterator[None]:
    """The workers cannot import this module."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


def load(shard):
    random = np.random.default_rng(shard)
    time.sleep(0.02)
    return random.normal(size=(10 + shard, 3)), random.normal(size=10 + shard)


def misfit(w, x, y):
    return np.sum((np.tanh(x @ w) - y) ** 2)


def total_by_hand(w, shards):
    """Value and gradient, added as ``ShardedSum`` adds them, so that a shard too few or twice shows in the bits."""
    terms = [symgrad.value_and_grad(misfit)(w, *load(shard)) for shard in range(shards)]
    while len(terms) > 1:
        groups = [terms[k : k + 8] for k in range(0, len(terms), 8)]
        terms = [(added([v for v, _ in group]), added([g for _, g in group])) for group in groups]
    return terms[0]


def added(parts):
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def kill_one(client: Any) -> None:
    """Kill one worker, as the operating system does when memory is short."""
    pids = list(client.run(os.getpid, on_error="ignore").values())
    os.kill(next(pid for pid in pids if isinstance(pid, int)), signal.SIGKILL)


@pytest.mark.usefixtures("by_value")
@pytest.mark.parametrize("moment", range(5))
def test_a_killed_worker_changes_no_bit(client: Any, moment: int) -> None:
    """Killed at the first sum, while shards are loaded, or later: while terms are computed, while they are added, between sums."""
    total, w = ShardedSum(misfit, range(12), load=load, client=client), np.array([0.3, -1.0, 0.5])
    value, gradient = total_by_hand(w, 12)
    sums = 0

    def compute() -> None:
        nonlocal sums
        result = total.value_and_grad(w)
        assert result[0] == value
        np.testing.assert_array_equal(result[1], gradient)
        sums += 1

    if moment > 0:
        compute()
    killer = threading.Timer(0.1 * moment, kill_one, [client])
    killer.start()
    while killer.is_alive() or sums < 3:
        compute()
    compute()


def deadly(shard):
    if shard == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return float(shard)


def square(p, x):
    return (p - x) ** 2


@pytest.mark.usefixtures("by_value")
def test_a_shard_that_kills_each_worker_ends_the_sum(client: Any) -> None:
    with pytest.raises(ClusterFailed, match="2 workers died, one after the other, that had shard 0 of 1, the first of which is 0: 1;"):
        ShardedSum(square, [1], load=deadly, client=client).value_and_grad(1.0)
    assert ShardedSum(square, [0.0, 2.0], client=client).value(1.0) == 2.0


def test_a_module_that_workers_cannot_import_is_told_and_travels_by_value(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine_alone.py").write_text("def square(p, x):\n    return (p - x) ** 2\n")
    monkeypatch.syspath_prepend(tmp_path)
    import mine_alone

    with pytest.raises(ClusterFailed, match="a worker cannot import mine_alone") as caught:
        ShardedSum(mine_alone.square, [0.0, 2.0], client=client).value(1.0)
    assert "cloudpickle.register_pickle_by_value(mine_alone)" in str(caught.value)

    client.upload_file(str(tmp_path / "mine_alone.py"))
    assert ShardedSum(mine_alone.square, [0.0, 2.0], client=client).value(1.0) == 2.0

    def added(p, x):
        return other(p - x)

    def other(x):
        return x * x

    for function in (added, other):
        function.__module__, function.__qualname__ = "mine_alone", function.__name__
        setattr(mine_alone, function.__name__, function)
    with pytest.raises(ClusterFailed, match=r"mine_alone.(added|other) of a worker is another function than here"):
        ShardedSum(added, [0.0, 2.0], client=client).value(1.0)

    (tmp_path / "mine_alone.py").write_text("def square(p, x):\n    return 2.0 * (p - x) ** 2\n")
    exec(compile((tmp_path / "mine_alone.py").read_text(), str(tmp_path / "mine_alone.py"), "exec"), vars(mine_alone))
    with pytest.raises(ClusterFailed, match=r"mine_alone.square of a worker is another function than here"):
        ShardedSum(mine_alone.square, [0.0, 2.0], client=client).value(1.0)
    cloudpickle.register_pickle_by_value(mine_alone)
    try:
        assert ShardedSum(mine_alone.square, [0.0, 2.0], client=client).value(1.0) == 4.0
    finally:
        cloudpickle.unregister_pickle_by_value(mine_alone)
