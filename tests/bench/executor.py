"""``python -m tests.bench.executor``: what running a program costs beside calling the function that is emitted for it.

Both are timed in turns, once this one first and once that one; what counts is the median of the ratios of neighbours.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad import static
from symgrad.optimizer import SGD, Adam
from symgrad.static.compiling import compiled, written
from symgrad.vocabulary import network, tensors

Call = Callable[[], Any]


def perceptron(widths: list[int], optimizer: Any) -> tuple[static.Program, static.Program, list[Any]]:
    """Layers with tanh between them, the mean squared error, and a step."""
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup):
        x, y = static.data("x", [-1, widths[0]]), static.data("y", [-1, widths[-1]])
        h = x
        for width in widths[1:-1]:
            h = static.nn.fc(h, width, activation="tanh")
        loss = tensors.mean(network.square_error_cost(static.nn.fc(h, widths[-1]), y))  # type: ignore[attr-defined]
        optimizer.minimize(loss)
    return main, startup, [loss]


#: name -> what makes it, rows of what is fed
PROGRAMS: dict[str, tuple[list[int], Any, int]] = {
    "line": ([3, 1], SGD, 8),
    "perceptron": ([16, 32, 32, 1], SGD, 32),
    "perceptron, Adam": ([16, 32, 32, 1], Adam, 32),
    "wide perceptron": ([64, 256, 256, 10], SGD, 128),
}


def pair(name: str) -> tuple[Call, Call]:
    """A run of the executor, and a call of the emitted function with the same values."""
    widths, optimizer, rows = PROGRAMS[name]
    main, startup, fetch = perceptron(widths, optimizer(1e-9))
    scope, executor = static.Scope(), static.Executor()
    executor.run(startup, scope=scope)
    random = np.random.default_rng(0)
    feed = {"x": random.standard_normal((rows, widths[0])).astype("float32"), "y": np.zeros((rows, widths[-1]), "float32")}
    values = {name: np.asarray(value) for name, value in {**scope.values, **feed}.items()}
    code = compiled(main, values, [f.name for f in fetch], written(main))
    arguments = [values[k][()] if scalar else values[k] for k, scalar in zip(code.keys, code.scalars, strict=True)]  # type: ignore[index]
    return lambda: executor.run(main, feed=feed, fetch_list=fetch, scope=scope), lambda: code.function(*arguments)


def ratios(name: str, rounds: int = 300, calls: int = 20) -> tuple[float, float, float]:
    """Seconds of a call of the emitted function; the ratio of the executor to it, called second and called first."""
    run, call = pair(name)
    for one in (run, call):
        one()
    actual = {True: [], False: []}  # type: dict[bool, list[float]]
    alone = []
    for turn in range(rounds):
        first = turn % 2 == 0
        times = {one: seconds(one, calls) for one in ((run, call) if first else (call, run))}
        actual[first].append(times[run] / times[call])
        alone.append(times[call])
    return min(alone), statistics.median(actual[False]), statistics.median(actual[True])


def seconds(call: Call, calls: int) -> float:
    """The processor time of one call, of several."""
    start = time.process_time()
    for _ in range(calls):
        call()
    return (time.process_time() - start) / calls


def main(rounds: int = 300) -> None:
    """Print a table."""
    print(f"{'program':20}{'emitted function':>18}{'run, second':>14}{'run, first':>14}")
    for name in PROGRAMS:
        alone, second, first = ratios(name, rounds)
        print(f"{name:20}{alone * 1e6:15.1f} us{second:13.2f}x{first:13.2f}x")


if __name__ == "__main__":
    main()
