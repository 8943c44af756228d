"""Random numbers of the static and eager APIs: one generator, restarted by ``seed``; opaque to the frontend."""

from __future__ import annotations

from typing import Any

import numpy as np

#: the generator of all random numbers
RANDOM = [np.random.default_rng()]


def seed(value: int) -> None:
    """Restart the random numbers."""
    RANDOM[0] = np.random.default_rng(value)


def generator(own: int = 0) -> np.random.Generator:
    """The common generator, or one of its own for a seed that is not 0."""
    return np.random.default_rng(own) if own else RANDOM[0]


def draw(shape: Any, axes: Any, p: float, own: int) -> Any:
    """True with probability ``1 - p``, for each element along ``axes`` and alike along the others."""
    drawn = tuple(extent if axis in axes else 1 for axis, extent in enumerate(shape))
    return np.broadcast_to(generator(own).random(drawn) >= p, shape)


def uniform(shape: Any, low: float, high: float) -> Any:
    """Numbers between two bounds."""
    return generator().uniform(low, high, shape)
