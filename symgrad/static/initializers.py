"""Initial values of parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from symgrad.runtime.random import generator

Array = np.ndarray[Any, Any]


class Initializer(Protocol):
    """Makes the first values of a parameter."""

    def values(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Values of this shape."""
        ...


@dataclass(frozen=True)
class Constant:
    """One number."""

    value: float = 0.0

    def values(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Values of this shape."""
        return np.full(shape, self.value, dtype)


@dataclass(frozen=True, eq=False)
class Assign:
    """Use given values, reshaped to the parameter's shape."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Assign) and np.array_equal(self.value, other.value, equal_nan=True)

    def __hash__(self) -> int:
        return hash(Assign)

    def values(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Values of this shape."""
        array = np.array(self.value, dtype)
        if array.size != math.prod(shape):
            raise ValueError(f"values of shape {array.shape} do not fill a parameter of shape {shape}")
        return array.reshape(shape)


@dataclass(frozen=True)
class Uniform:
    """Random numbers between two bounds."""

    low: float = -1.0
    high: float = 1.0
    seed: int = 0

    def values(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Values of this shape."""
        return generator(self.seed).uniform(self.low, self.high, shape).astype(dtype)


@dataclass(frozen=True)
class Normal:
    """Normally distributed random numbers."""

    mean: float = 0.0
    std: float = 1.0
    seed: int = 0

    def values(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Values of this shape."""
        return generator(self.seed).normal(self.mean, self.std, shape).astype(dtype)


def fans(shape: tuple[int, ...]) -> tuple[int, int]:
    """How many inputs and outputs a weight has: a matrix (in, out), kernels (out, in, ...)."""
    if len(shape) < 2:
        size = math.prod(shape)
        return size, size
    if len(shape) == 2:
        return shape[0], shape[1]
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


@dataclass(frozen=True)
class XavierUniform:
    """Uniform with the variance ``2 / (fan_in + fan_out)`` (Glorot and Bengio 2010)."""

    fan_in: int | None = None
    fan_out: int | None = None
    seed: int = 0

    def values(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Values of this shape."""
        own = fans(shape)
        limit = math.sqrt(6.0 / ((self.fan_in or own[0]) + (self.fan_out or own[1])))
        return generator(self.seed).uniform(-limit, limit, shape).astype(dtype)


@dataclass(frozen=True)
class XavierNormal:
    """Normal with the variance ``2 / (fan_in + fan_out)`` (Glorot and Bengio 2010)."""

    fan_in: int | None = None
    fan_out: int | None = None
    seed: int = 0

    def values(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """Values of this shape."""
        own = fans(shape)
        deviation = math.sqrt(2.0 / ((self.fan_in or own[0]) + (self.fan_out or own[1])))
        return generator(self.seed).normal(0.0, deviation, shape).astype(dtype)
