"""``python -m tests.bench.guard``: what a call costs between the caller and the generated code, in nanoseconds.

The guard compares the arguments with those that the code was generated for. Both columns are measured in one process.
"""

from __future__ import annotations

import math
import timeit
from collections.abc import Callable
from typing import Any

import numpy as np

import symgrad


def scalars(x: float, y: float) -> float:
    """A function of numbers."""
    return math.sin(x) * y


def arrays(x: np.ndarray, y: np.ndarray) -> Any:
    """A function of arrays."""
    return np.sum(x @ y)


def nanoseconds(function: Callable[..., Any], args: tuple[Any, ...]) -> float:
    """The least time of a call."""
    count = 5000
    return 1e9 * min(timeit.repeat(lambda: function(*args), number=count, repeat=20)) / count


def main() -> None:
    """Measure a call of a derivative, and of the generated code alone."""
    print(f"{'function':<10} {'target':<8} {'call ns':>8} {'code ns':>8} {'guard ns':>9}")
    for function, args in ((scalars, (1.0, 2.0)), (arrays, (np.ones((3, 3)), np.ones((3, 3))))):
        for jit in (False, True):
            derivative = symgrad.value_and_grad(function, (0, 1), jit=jit)
            derivative(*args)
            call, code = nanoseconds(derivative, args), nanoseconds(derivative.compiled(*args), args)
            print(f"{function.__name__:<10} {'numba' if jit else 'NumPy':<8} {call:>8.0f} {code:>8.0f} {call - code:>9.0f}")


if __name__ == "__main__":
    main()
