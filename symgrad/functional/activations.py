"""More activations, as NumPy functions of arrays and plain settings."""

from __future__ import annotations

import numpy as np

from symgrad.functional.network import sigmoid, softmax
from symgrad.functional.statistics import along
from symgrad.functional.tensors import Tensor
from symgrad.runtime.marks import stop_gradient
from symgrad.runtime.random import uniform


def celu(x: Tensor, alpha: float = 1.0) -> Tensor:
    """``x`` where it is positive, else ``alpha * (exp(x / alpha) - 1)`` (Barron 2017)."""
    return np.where(x > 0, x, alpha * np.expm1(np.where(x > 0, np.zeros_like(x), x) / alpha))


def hardswish(x: Tensor) -> Tensor:
    """``x * (x + 3) / 6`` between -3 and 3, 0 below, ``x`` above (Howard et al. 2019)."""
    return np.where(x <= -3, np.zeros_like(x), np.where(x >= 3, x, x * (x + 3) / 6))


def hardshrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """``x``, and 0 where it is at most the threshold away from 0."""
    return np.where(np.abs(x) > threshold, x, np.zeros_like(x))


def softshrink(x: Tensor, threshold: float = 0.5) -> Tensor:
    """``x`` moved towards 0 by the threshold, at most up to 0."""
    return np.where(x > threshold, x - threshold, np.where(x < -threshold, x + threshold, np.zeros_like(x)))


def tanhshrink(x: Tensor) -> Tensor:
    """``x - tanh(x)``."""
    return x - np.tanh(x)


def thresholded_relu(x: Tensor, threshold: float = 1.0, value: float = 0.0) -> Tensor:
    """``x`` above the threshold, else a number."""
    return np.where(x > threshold, x, np.full_like(x, value))


def prelu(x: Tensor, weight: Tensor) -> Tensor:
    """``x`` where it is positive, else a multiple of it, one for all or one for each channel (He et al. 2015)."""
    slope = np.reshape(weight, tuple([-1 if k == 1 else 1 for k in range(np.ndim(x))])) if np.ndim(x) > 1 else weight
    return np.where(x > 0, x, slope * x)


def rrelu(x: Tensor, slope: Tensor) -> Tensor:
    """``x`` where it is not negative, else a multiple of it that was drawn."""
    return np.where(x >= 0, x, slope * x)


def glu(x: Tensor, axis: int = -1) -> Tensor:
    """The first half of an axis times the sigmoid of the second (Dauphin et al. 2017)."""
    first, second = np.split(x, 2, axis=axis)
    return first * sigmoid(second)


def maxout(x: Tensor, groups: int, axis: int = 1) -> Tensor:
    """The largest of each ``groups`` neighbouring channels (Goodfellow et al. 2013)."""
    shape = np.shape(x)
    if not -np.ndim(x) <= axis < np.ndim(x):
        raise ValueError(f"axis {axis} is out of bounds for an array of {np.ndim(x)} axes")
    at = axis % np.ndim(x)
    return np.max(np.reshape(x, (*shape[:at], shape[at] // groups, groups, *shape[at + 1 :])), axis=at + 1)


def uniform_noise(x: Tensor, low: float = 0.0, high: float = 1.0) -> Tensor:
    """Draw numbers between two bounds, in the shape and dtype of ``x``."""
    return uniform(np.shape(x), low, high).astype(x.dtype)


def gumbel_noise(x: Tensor) -> Tensor:
    """Draw numbers from the Gumbel distribution, in the shape and dtype of ``x``.

    They are drawn in float64, where nothing rounds to 0 or 1, so that they are finite in every dtype.
    """
    return (-np.log(-np.log(uniform(np.shape(x), 1e-20, 1.0)))).astype(x.dtype)


def gumbel_softmax(x: Tensor, noise: Tensor, temperature: float = 1.0, hard: bool = False, axis: int = -1) -> Tensor:
    """A softmax of ``x`` and of Gumbel's noise (Jang et al. 2017).

    ``hard``: ones and zeros, with the derivative of the softmax.
    """
    shares = softmax((x + noise) / temperature, axis)
    if not hard:
        return shares
    top = np.expand_dims(np.argmax(shares, axis=axis), axis)
    return (along(np.shape(x)[axis], axis, np.ndim(x)) == top).astype(x.dtype) - stop_gradient(shares) + shares
