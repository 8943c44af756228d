"""Loops over two states whose cotangents are added to in turn."""

from __future__ import annotations

from typing import Any

import numpy as np


def leapfrog(x: Any, w: Any) -> Any:
    for _ in range(4):
        w = w - 0.5 * x
        x = x + 0.1 * w
    return np.sum(x * x)


def with_energy(x: Any, w: Any) -> Any:
    energy = 0.0
    for _ in range(4):
        w = w + 0.5 * np.sin(x)
        x = x + 0.1 * w
        energy = energy + np.sum(w**2)
    return energy


def thrice(x: Any, w: Any) -> Any:
    for k in range(3):
        w = w + 0.5 * x
        x = x + 0.1 * w
        w = w * np.cos(x + k)
        w = w + x
    return np.sum(w * x)


def both(x: Any, w: Any) -> Any:
    total = 0.0
    for _ in range(3):
        w = w + x
        x = w * 1.0
        total = total + np.sum(x * x) + np.sum(w**3)
    return total


def swapped(x: Any, w: Any) -> Any:
    total = 0.0
    for _ in range(3):
        x, w = w + x, x
        total = total + np.sum(x**2) + np.sum(w**3)
    return total


def until(x: Any, w: Any) -> Any:
    steps = 0
    while steps < 4 and np.sum(x**2) < 50.0:
        w = w + 0.5 * x
        x = x + 0.1 * w
        steps += 1
    return np.sum(x * w)


IN_PLACE = [leapfrog, with_energy, thrice, until]
COPIED = [swapped, both]
