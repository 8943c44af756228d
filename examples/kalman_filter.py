"""The flow of the Nile as a drifting level: the log-likelihood of a Kalman filter, and the variances that maximise it."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import symgrad

DATA = Path(__file__).parent / "data" / "nile.csv"


def load() -> np.ndarray:
    """The yearly flow."""
    return np.loadtxt(DATA, delimiter=",", skiprows=3)[:, 1]


def log_likelihood(parameters: np.ndarray, flow: np.ndarray) -> float:
    """The log-likelihood as a function of the logarithms of the two variances; the first year initialises the filter."""
    noise, drift = np.exp(parameters)
    transition, observe = np.eye(1), np.ones((1, 1))
    mean = np.array([flow[0]])
    covariance = np.full((1, 1), noise)
    total = 0.0
    for y in flow[1:]:
        mean = transition @ mean
        covariance = transition @ covariance @ transition.T
        covariance[0, 0] += drift
        innovation = y - observe @ mean
        spread = observe @ covariance @ observe.T
        spread[0, 0] += noise
        gain = np.linalg.solve(spread, observe @ covariance).T
        mean += gain @ innovation
        covariance -= gain @ observe @ covariance
        total -= 0.5 * (np.log(2.0 * math.pi) + np.linalg.slogdet(spread)[1] + innovation @ np.linalg.solve(spread, innovation))
    return total


example_arguments = {"log_likelihood": (np.log(np.array([10000.0, 1000.0])), load())}


def fit(flow: np.ndarray, verbose: bool = False) -> np.ndarray:
    """Newton's method on the logarithms of the variances."""
    slope = symgrad.grad(log_likelihood)
    parameters = example_arguments["log_likelihood"][0]
    for step in range(30):
        gradient, pullback = symgrad.vjp(slope, parameters, flow, wrt=0)
        hessian = np.array([pullback(row) for row in np.eye(2)])
        parameters = parameters - np.linalg.solve(hessian, gradient)
        if verbose:
            print(f"step {step}: log-likelihood {log_likelihood(parameters, flow):.6f}, slope {np.abs(gradient).max():.1e}")
        if np.abs(gradient).max() < 1e-9:
            break
    return parameters


def main() -> None:
    noise, drift = np.exp(fit(load(), verbose=True))
    print(f"variance of the noise {noise:.1f}, of the drift {drift:.1f}")


if __name__ == "__main__":
    main()
