"""A saddle point by gradient descent inside gradient descent, in all four combinations of modes: GradBench's ``saddle``.

From Pearlmutter and Siskind, "Using Programming Language Theory to Make Automatic Differentiation Sound and Efficient" (2008).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import symgrad


def height(x: np.ndarray, y: np.ndarray) -> float:
    return (x[0] ** 2 + x[1] ** 2) - (y[0] ** 2 + y[1] ** 2)


def descend(f: Callable[[np.ndarray], float], slope: Callable[[np.ndarray], np.ndarray], start: np.ndarray) -> np.ndarray:
    """A minimum of ``f``: the step is doubled after ten successful steps, and halved after an unsuccessful one."""
    x, value, gradient = start, f(start), slope(start)
    step, downs = 1e-5, 0
    while np.sqrt(gradient @ gradient) > 1e-5:
        if downs == 10:
            step, downs = 2.0 * step, 0
            continue
        new = x - step * gradient
        if np.sqrt((x - new) @ (x - new)) <= 1e-5:
            break
        lower = f(new)
        if lower < value:
            x, value, gradient, downs = new, lower, slope(new), downs + 1
        else:
            step, downs = 0.5 * step, 0
    return x


def highest(x: np.ndarray, start: np.ndarray, mode: str) -> np.ndarray:
    """The ``y`` that maximises the height at ``x``, with derivatives by ``mode``."""

    def depth(y: np.ndarray) -> float:
        return -height(x, y)

    if mode == "forward":
        return descend(depth, symgrad.jacfwd(depth), start)
    return descend(depth, symgrad.grad(depth), start)


def ridge(x: np.ndarray, start: np.ndarray, mode: str) -> float:
    return height(x, highest(x, start, mode))


example_arguments = {"ridge": (np.array([1.0, 1.0]), np.array([1.0, 1.0]), "forward")}


def saddle(start: np.ndarray, outer: str, inner: str) -> np.ndarray:
    """The saddle point: minimise the maxima, by derivatives in mode ``outer`` of a function that uses derivatives in mode ``inner``."""
    derive = symgrad.jacfwd if outer == "forward" else symgrad.grad
    slope = derive(ridge)
    x = descend(lambda x: ridge(x, start, inner), lambda x: slope(x, start, inner), start)
    return np.concatenate([x, highest(x, start, outer)])


def main() -> None:
    for outer in ("forward", "reverse"):
        for inner in ("forward", "reverse"):
            print(f"{outer} over {inner}: {saddle(np.array([1.0, 1.0]), outer, inner)}")


if __name__ == "__main__":
    main()
