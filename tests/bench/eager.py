"""``python -m tests.bench.eager``: a step of training tensors, its parts, and PyTorch's step beside it where it is installed.

Both are timed in turns, in processor time; what counts is the median of the ratios of neighbours.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import layers
from symgrad.eager import Tensor
from symgrad.optimizer import SGD
from symgrad.vocabulary import network

Step = Callable[[], Any]
WIDTHS, ROWS = (3, 64, 64, 64, 1), 32
GENERATOR = np.random.default_rng(0)
X, Y = GENERATOR.normal(size=(ROWS, WIDTHS[0])).astype("float32"), GENERATOR.normal(size=(ROWS, 1)).astype("float32")


def stacked(linear: Any, between: Any) -> list[Any]:
    """Layers with something between them."""
    return [part for a, b in zip(WIDTHS, WIDTHS[1:], strict=False) for part in (linear(a, b), between())][:-1]


def ours() -> Step:
    """Forward, backward, a step, and the gradients cleared."""
    net = layers.Sequential(*stacked(layers.Linear, layers.Tanh))
    method = SGD(1e-6, parameters=net.parameters())
    x, y = Tensor(X), Tensor(Y)

    def step() -> None:
        network.mse_loss(net(x), y).backward()  # type: ignore[attr-defined]
        method.step()
        method.clear_grad()

    return step


def torchs() -> Step | None:
    """The same of PyTorch, on one thread; None where it is not installed."""
    try:
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    net = torch.nn.Sequential(*stacked(torch.nn.Linear, torch.nn.Tanh))
    method = torch.optim.SGD(net.parameters(), lr=1e-6)
    x, y = torch.tensor(X), torch.tensor(Y)

    def step() -> None:
        torch.nn.functional.mse_loss(net(x), y).backward()
        method.step()
        method.zero_grad()

    return step


def main(rounds: int = 80, steps: int = 20) -> None:
    """Print the time of a step, and its ratio to PyTorch's."""
    actual = [step for step in (ours(), torchs()) if step is not None]
    times: list[list[float]] = [[] for _ in actual]
    for turn in range(rounds + 2):
        for step, taken in zip(actual, times, strict=True):
            start = time.process_time()
            for _ in range(steps):
                step()
            if turn > 1:
                taken.append((time.process_time() - start) / steps * 1e6)
    print(f"a step: {min(times[0]):.0f} us")
    if len(times) > 1:
        ratio = statistics.median(a / b for a, b in zip(*times, strict=True))
        print(f"PyTorch's: {min(times[1]):.0f} us, and ours takes {ratio:.2f} of it")


if __name__ == "__main__":
    main()
