"""The initial temperature of a rod from measurements while it cools, through a stencil that updates its array in place."""

from __future__ import annotations

import numpy as np

import symgrad

CELLS, STEPS, EVERY = 40, 60, 3


def simulate(start: np.ndarray, conductivity: np.ndarray) -> np.ndarray:
    """The measurements: one row of temperatures for every third step."""
    rod = start.copy()
    readings = np.zeros((STEPS // EVERY, len(rod)))
    for step in range(STEPS):
        flow = conductivity * (rod[1:] - rod[:-1])
        rod[:-1] += 0.4 * flow
        rod[1:] -= 0.4 * flow
        if step % EVERY == EVERY - 1:
            readings[step // EVERY] = rod
    return readings


def misfit(start: np.ndarray, conductivity: np.ndarray, measured: np.ndarray) -> float:
    """The squared distance from the measurements, plus a small roughness penalty."""
    distance = simulate(start, conductivity) - measured
    return np.sum(distance**2) + 1e-6 * np.sum((start[1:] - start[:-1]) ** 2)


def truth() -> tuple[np.ndarray, np.ndarray]:
    """A rod with a hot block and a warm bump, and a poorly conducting middle."""
    place = np.arange(CELLS) / CELLS
    start = np.where((place > 0.2) & (place < 0.35), 1.0, 0.0) + 0.6 * np.exp(-(((place - 0.7) / 0.08) ** 2))
    conductivity = np.where((place[1:] > 0.45) & (place[1:] < 0.55), 0.3, 1.0)
    return start, conductivity


example_arguments = {"misfit": (np.zeros(CELLS), truth()[1], simulate(*truth()))}


def invert(conductivity: np.ndarray, measured: np.ndarray, rounds: int = 400, verbose: bool = False) -> np.ndarray:
    """Gradient descent with the step lengths of Barzilai and Borwein."""
    derived = symgrad.value_and_grad(misfit)
    start = np.zeros(CELLS)
    value, gradient = derived(start, conductivity, measured)
    length = 0.01
    for k in range(rounds):
        moved = -length * gradient
        start = start + moved
        value, new = derived(start, conductivity, measured)
        change = new - gradient
        gradient = new
        length = (moved @ moved) / (moved @ change)
        if verbose and k % 50 == 0:
            print(f"round {k:3d}: misfit {value:.3e}")
        if np.linalg.norm(gradient) < 1e-9:
            break
    return start


def main() -> None:
    start, conductivity = truth()
    found = invert(conductivity, simulate(start, conductivity), verbose=True)
    print(f"error of the recovered temperature: {np.sqrt(np.mean((found - start) ** 2)):.4f}")


if __name__ == "__main__":
    main()
