"""Probability of O-ring distress by temperature: logistic regression, by Newton steps with derived first and second derivatives."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import symgrad

DATA = Path(__file__).parent / "data" / "challenger.csv"


def load() -> tuple[np.ndarray, np.ndarray]:
    """Temperatures in degrees Fahrenheit, and 1.0 for flights with a damaged O-ring."""
    table = np.loadtxt(DATA, delimiter=",", skiprows=5)
    return table[:, 0], table[:, 1]


def loss(weights: np.ndarray, temperature: np.ndarray, distress: np.ndarray) -> float:
    """The negative log-likelihood, summed over the flights in a loop."""
    total = 0.0
    for t, y in zip(temperature, distress):
        score = weights[0] + weights[1] * (t - 70.0)
        if score > 0.0:
            total += score * (1.0 - y) + np.log1p(np.exp(-score))
        else:
            total += np.log1p(np.exp(score)) - score * y
    return total


example_arguments = {"loss": (np.array([-0.5, -0.1]), *load())}


def fit(temperature: np.ndarray, distress: np.ndarray, verbose: bool = False) -> np.ndarray:
    """The maximum-likelihood weights."""
    slope = symgrad.grad(loss)
    weights = np.zeros(2)
    for step in range(20):
        gradient, pullback = symgrad.vjp(slope, weights, temperature, distress, wrt=0)
        hessian = np.array([pullback(row) for row in np.eye(2)])
        weights = weights - np.linalg.solve(hessian, gradient)
        if verbose:
            print(f"step {step}: deviance {2.0 * loss(weights, temperature, distress):.6f}, slope {np.abs(gradient).max():.1e}")
        if np.abs(gradient).max() < 1e-12:
            break
    return weights


def main() -> None:
    temperature, distress = load()
    weights = fit(temperature, distress, verbose=True)
    intercept, slope = weights[0] - 70.0 * weights[1], weights[1]
    print(f"log odds of distress = {intercept:.4f} {slope:+.4f} * temperature")
    print(f"at 31 degrees: probability {1.0 / (1.0 + np.exp(-intercept - 31.0 * slope)):.4f}")


if __name__ == "__main__":
    main()
