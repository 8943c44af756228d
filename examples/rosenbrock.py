"""Rosenbrock's function, with a loop and in-place stores: ``python -m symgrad show examples/rosenbrock.py:loss``."""

from __future__ import annotations

import numpy as np

import symgrad


def loss(x: np.ndarray, steepness: float) -> float:
    terms = np.zeros(len(x) - 1)
    for i in range(len(x) - 1):
        terms[i] = steepness * (x[i + 1] - x[i] ** 2) ** 2
        terms[i] += (1.0 - x[i]) ** 2
    return np.sum(terms)


#: the arguments that the command line uses
example_arguments = {"loss": (np.array([-1.2, 1.0, 0.8]), 100.0)}


def newton(x: np.ndarray, steepness: float, rounds: int = 50) -> np.ndarray:
    """The minimum, by Newton's method; the Hessian is the derivative of the gradient."""
    slope = symgrad.grad(loss)
    for _ in range(rounds):
        gradient, pullback = symgrad.vjp(slope, x, steepness, wrt=0)
        hessian = np.array([pullback(row) for row in np.eye(len(x))])
        step = np.linalg.solve(hessian, gradient)
        if step @ gradient < 0.0:
            step = gradient / np.linalg.norm(hessian)
        while loss(x - step, steepness) > loss(x, steepness):
            step = 0.5 * step
        x = x - step
        if np.linalg.norm(gradient) < 1e-10:
            break
    return x


def main() -> None:
    value, gradient = symgrad.value_and_grad(loss)(*example_arguments["loss"])
    print(f"value     {value:.6f}")
    print(f"gradient  {gradient}")
    print(f"minimum   {newton(*example_arguments['loss'])}")


if __name__ == "__main__":
    main()
