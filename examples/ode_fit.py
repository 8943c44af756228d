"""Predators and prey: the rates of an ordinary differential equation fitted to observations, through an adaptive solver."""

from __future__ import annotations

import numpy as np

import symgrad

TIMES = np.arange(1.0, 9.0)
TRUE_RATES = np.array([1.1, 0.4, 0.4, 0.1])


def slope(state: np.ndarray, rates: np.ndarray) -> np.ndarray:
    prey, predators = state
    return np.array([prey * (rates[0] - rates[1] * predators), predators * (rates[3] * prey - rates[2])])


def solve(rates: np.ndarray, times: np.ndarray, tolerance: float) -> np.ndarray:
    """The states at the times, by the Bogacki-Shampine method; a step is halved until the error estimate is small."""
    states = np.empty((len(times), 2))
    state = np.array([8.0, 2.0])
    now, step = 0.0, 0.1
    for k in range(len(times)):
        while now < times[k]:
            length = min(step, times[k] - now)
            first = slope(state, rates)
            second = slope(state + 0.5 * length * first, rates)
            third = slope(state + 0.75 * length * second, rates)
            new = state + length * (2.0 * first + 3.0 * second + 4.0 * third) / 9.0
            last = slope(new, rates)
            error = length * np.max(np.abs(-5.0 * first + 6.0 * second + 8.0 * third - 9.0 * last)) / 72.0
            if error > tolerance:
                step = 0.5 * length
                continue
            now = times[k] if length == times[k] - now else now + length
            state = new
            if error < 0.1 * tolerance:
                step = 1.8 * step
        states[k] = state
    return states


def loss(rates: np.ndarray, times: np.ndarray, observed: np.ndarray, tolerance: float) -> float:
    return np.mean((solve(rates, times, tolerance) - observed) ** 2)


example_arguments = {"loss": (np.array([1.0, 0.35, 0.45, 0.12]), TIMES, solve(TRUE_RATES, TIMES, 1e-4), 1e-4)}


def fit(rates: np.ndarray, times: np.ndarray, observed: np.ndarray, tolerance: float, verbose: bool = False) -> np.ndarray:
    """Gauss-Newton steps; the Jacobian is computed by one call of the pullback for each row of an identity."""
    for k in range(15):
        states, pullback = symgrad.vjp(solve, rates, times, tolerance, wrt=0)
        jacobian = np.array([pullback(row.reshape(states.shape)) for row in np.eye(states.size)])
        distance = (states - observed).ravel()
        if verbose:
            print(f"step {k}: loss {np.mean(distance**2):.3e}, rates {rates.round(6)}")
        gradient = symgrad.grad(loss)(rates, times, observed, tolerance)
        if np.linalg.norm(gradient) < 1e-10:
            break
        rates = rates - np.linalg.solve(jacobian.T @ jacobian + 1e-9 * np.eye(4), 0.5 * states.size * gradient)
    return rates


def main() -> None:
    found = fit(*example_arguments["loss"], verbose=True)
    print(f"rates {found.round(6)}, true rates {TRUE_RATES}")


if __name__ == "__main__":
    main()
