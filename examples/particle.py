"""A charged particle steered to the origin, in all four combinations of modes: GradBench's ``particle``.

From Pearlmutter and Siskind, "Using Programming Language Theory to Make Automatic Differentiation Sound and Efficient" (2008).
"""

from __future__ import annotations

import numpy as np

import symgrad


def potential(position: np.ndarray, w: float) -> float:
    """The electric potential of two charges; ``w`` determines the position of one."""
    first, second = position - np.array([10.0, 10.0 - w]), position - np.array([10.0, 0.0])
    return 1.0 / np.sqrt(first @ first) + 1.0 / np.sqrt(second @ second)


def miss(w: float, mode: str) -> float:
    """The squared distance from the origin at which the particle meets the axis: Euler's method, with forces derived by ``mode``."""
    position, velocity, step = np.array([0.0, 8.0]), np.array([0.75, 0.0]), 0.1
    while True:
        force = -symgrad.jacfwd(potential)(position, w) if mode == "forward" else -symgrad.grad(potential)(position, w)
        new = position + step * velocity
        if new[1] <= 0.0:
            break
        position, velocity = new, velocity + step * force
    position = position - position[1] / velocity[1] * velocity
    return position[0] ** 2


example_arguments = {"miss": (0.0, "forward")}


def steered(w: float, outer: str, inner: str) -> float:
    """The ``w`` that steers the particle to the origin, by gradient descent with derivatives by ``outer``."""
    slope = symgrad.jacfwd(miss) if outer == "forward" else symgrad.grad(miss)
    value, gradient, step, downs = miss(w, inner), slope(w, inner), 1e-5, 0
    while abs(gradient) > 1e-5:
        if downs == 10:
            step, downs = 2.0 * step, 0
            continue
        new = w - step * gradient
        if abs(w - new) <= 1e-5:
            break
        lower = miss(new, inner)
        if lower < value:
            w, value, gradient, downs = new, lower, slope(new, inner), downs + 1
        else:
            step, downs = 0.5 * step, 0
    return w


def main() -> None:
    for outer in ("forward", "reverse"):
        for inner in ("forward", "reverse"):
            w = steered(0.0, outer, inner)
            print(f"{outer} over {inner}: w = {w:.9f}, the origin is missed by {miss(w, inner) ** 0.5:.2e}")


if __name__ == "__main__":
    main()
