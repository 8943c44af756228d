"""``python -m tests.bench.batches [--count 1000]``: what a function over a batch costs, beside the same by hand.

For each program: a plain loop of Python, the code of ``vmap`` as a loop, as it runs (all examples at once, where rows have rules), as a
kernel where numba is installed, and NumPy by hand. Times are the best of several calls, in ms for the whole batch; the last column is what
runs beside that by hand.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

import symgrad
from symgrad.pipeline import derivation


@dataclass(frozen=True, slots=True)
class Case:
    """A function, its arguments for a number of examples, which of them have a batch axis, and the same for all examples by hand."""

    function: Callable[..., Any]
    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    in_axes: tuple[int | None, ...]
    by_hand: Callable[..., Any]
    wrt: tuple[str, ...] = ()  #: of a gradient of each example

    @property
    def name(self) -> str:
        return f"{self.function.__name__}{' (gradients)' if self.wrt else ''}"


# ------------------------------------------------------------------ the programs


def perceptron(x: Any, v: Any, w: Any) -> Any:
    return w @ np.tanh(v @ x)


def perceptrons(x: Any, v: Any, w: Any) -> Any:
    return np.tanh(x @ v.T) @ w.T


def cross_entropy(w: Any, x: Any, y: Any) -> Any:
    z = w @ x
    return np.log(np.sum(np.exp(z))) - z @ y


def cross_entropy_gradients(w: Any, x: Any, y: Any) -> Any:
    z = np.exp(x @ w.T)
    return (z / z.sum(axis=1, keepdims=True) - y)[:, :, None] * x[:, None, :]


def log_density(x: Any, mean: Any, precision: Any) -> Any:
    d = x - mean
    return -0.5 * (d @ precision @ d)


def log_densities(x: Any, mean: Any, precision: Any) -> Any:
    d = x - mean
    return -0.5 * np.sum(d @ precision * d, axis=1)


def system(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b)


def systems(a: Any, b: Any) -> Any:
    return np.linalg.solve(a, b[:, :, None])[:, :, 0]


def huber(x: Any, y: Any, w: Any) -> Any:
    r = w @ x - y
    if np.abs(r) < 1.0:
        return 0.5 * r * r
    return np.abs(r) - 0.5


def hubers(x: Any, y: Any, w: Any) -> Any:
    r = x @ w - y
    size = np.abs(r)
    return np.where(size < 1.0, 0.5 * r * r, size - 0.5)


def relaxation(x: Any, w: Any) -> Any:
    h = x
    for _ in range(20):
        h = h + 0.1 * (np.tanh(w @ h) - h)
    return h


def relaxations(x: Any, w: Any) -> Any:
    h = x
    for _ in range(20):
        h = h + 0.1 * (np.tanh(h @ w.T) - h)
    return h


CASES = (
    Case(perceptron, lambda r, n: (r.normal(size=(n, 8)), r.normal(size=(16, 8)), r.normal(size=(4, 16))), (0, None, None), perceptrons),
    Case(cross_entropy, lambda r, n: (r.normal(size=(5, 8)), r.normal(size=(n, 8)), np.eye(5)[r.integers(0, 5, n)]), (None, 0, 0),
         cross_entropy_gradients, ("w",)),
    Case(log_density, lambda r, n: (r.normal(size=(n, 6)), r.normal(size=6), np.eye(6) + 0.1), (0, None, None), log_densities),
    Case(system, lambda r, n: (r.normal(size=(n, 5, 5)) + 5 * np.eye(5), r.normal(size=(n, 5))), (0, 0), systems),
    Case(huber, lambda r, n: (r.normal(size=(n, 8)), r.normal(size=n), r.normal(size=8)), (0, 0, None), hubers),
    Case(relaxation, lambda r, n: (r.normal(size=(n, 8)), r.normal(size=(8, 8))), (0, None), relaxations),
)  # fmt: skip


# ------------------------------------------------------------------ measuring


@contextmanager
def loops_only() -> Iterator[None]:
    """Code is made without the pass that computes all examples at once."""
    kept = derivation.PREPARE
    derivation.PREPARE = kept.without("batch")
    try:
        yield
    finally:
        derivation.PREPARE = kept


def best(function: Callable[..., Any], arguments: tuple[Any, ...], budget: float) -> float:
    """The shortest time of a call, in ms."""
    function(*arguments)
    times = list[float]()
    end = time.perf_counter() + budget
    while time.perf_counter() < end or len(times) < 3:
        started = time.perf_counter()
        function(*arguments)
        times.append(time.perf_counter() - started)
    return 1e3 * min(times)


def measured(case: Case, count: int, budget: float) -> dict[str, float]:
    """The times of one program, after its results are held to those by hand."""
    arguments = case.arguments(np.random.default_rng(0), count)

    def over(function: Any, **options: Any) -> Any:
        of = symgrad.grad(function, wrt=case.wrt[0]) if case.wrt else function
        return symgrad.vmap(of, in_axes=case.in_axes, **options)

    of = symgrad.grad(case.function, wrt=case.wrt[0]) if case.wrt else case.function

    def plain(*argument: Any) -> Any:
        return np.array([of(*(a if axis is None else a[k] for a, axis in zip(argument, case.in_axes, strict=True))) for k in range(count)])

    functions = {"python": plain, "at once": over(case.function), "by hand": case.by_hand}
    with loops_only():
        functions["loop"] = over(case.function, verify=False)  # an object of its own
        functions["loop"](*arguments)
    if find_spec("numba") is not None:
        functions["kernel"] = over(case.function, jit=True)
    expected = case.by_hand(*arguments)
    for name, function in functions.items():
        np.testing.assert_allclose(function(*arguments), expected, rtol=1e-9, atol=1e-12, err_msg=f"{case.name}: {name}")
    return {name: best(function, arguments, budget) for name, function in functions.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--budget", type=float, default=0.5)
    options = parser.parse_args()
    columns = ("python", "loop", "at once", "kernel", "by hand")
    print(f"{'ms for ' + str(options.count) + ' examples':<28}" + "".join(f"{c:>10}" for c in columns) + f"{'/ hand':>8}")
    for case in CASES:
        times = measured(case, options.count, options.budget)
        shown = "".join(f"{times[c]:>10.3f}" if c in times else f"{'-':>10}" for c in columns)
        print(f"{case.name:<28}{shown}{times['at once'] / times['by hand']:>8.2f}", flush=True)


if __name__ == "__main__":
    main()
