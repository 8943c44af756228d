"""Normalisations and attention, as NumPy functions of arrays and plain settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.functional.network import softmax
from symgrad.functional.statistics import p_norm
from symgrad.functional.tensors import Tensor


def normalize(x: Tensor, p: float = 2.0, axis: int = 1, epsilon: float = 1e-12) -> Tensor:
    """Vectors along an axis over their norms, which are at least ``epsilon``."""
    return x / np.maximum(p_norm(x, p, axis, True), epsilon)


def affine(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Times a weight and plus a bias, where there are some."""
    if weight is not None:
        x = x * weight
    if bias is not None:
        x = x + bias
    return x


def other_axes(x: Tensor) -> Any:
    """All axes but that of the channels, the second."""
    return tuple([k for k in range(np.ndim(x)) if k != 1])


def by_channel(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Times a weight and plus a bias for each channel, where there are some."""
    over = other_axes(x)
    return affine(x, None if weight is None else np.expand_dims(weight, over), None if bias is None else np.expand_dims(bias, over))


def centred(x: Tensor, axes: Any, epsilon: float) -> Tensor:
    """Without the mean, over the standard deviation."""
    apart = x - np.mean(x, axis=axes, keepdims=True)
    return apart / np.sqrt(np.mean(apart * apart, axis=axes, keepdims=True) + epsilon)


def layer_norm(x: Tensor, weight: Tensor = None, bias: Tensor = None, axes: int = 1, epsilon: float = 1e-5) -> Tensor:
    """Centred and scaled over the last ``axes`` axes (Ba et al. 2016)."""
    return affine(centred(x, tuple(range(-axes, 0)), epsilon), weight, bias)


def batch_norm(x: Tensor, mean: Tensor, variance: Tensor, weight: Tensor, bias: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Batch normalisation by given statistics, over all axes but the second (Ioffe and Szegedy 2015)."""
    over = other_axes(x)
    return by_channel((x - np.expand_dims(mean, over)) / np.sqrt(np.expand_dims(variance, over) + epsilon), weight, bias)


def batch_norm_train(x: Tensor, weight: Tensor, bias: Tensor, epsilon: float = 1e-5) -> Tensor:
    """Batch normalisation by the statistics of the batch; returns result, mean and variance."""
    over = other_axes(x)
    mean = np.mean(x, axis=over)
    apart = x - np.expand_dims(mean, over)
    variance = np.mean(apart * apart, axis=over)
    return by_channel(apart / np.sqrt(np.expand_dims(variance, over) + epsilon), weight, bias), mean, variance


def running(old: Tensor, new: Tensor, momentum: float = 0.9) -> Tensor:
    """A running mean."""
    return old * momentum + new * (1.0 - momentum)


def group_norm(x: Tensor, weight: Tensor = None, bias: Tensor = None, num_groups: int = 1, epsilon: float = 1e-5) -> Tensor:
    """Centred and scaled in groups of channels (Wu and He 2018)."""
    groups = np.reshape(x, (np.shape(x)[0], num_groups, -1))
    return by_channel(np.reshape(centred(groups, (2,), epsilon), np.shape(x)), weight, bias)


def instance_norm(x: Tensor, weight: Tensor = None, bias: Tensor = None, eps: float = 1e-5) -> Tensor:
    """Centred and scaled in each channel of each image (Ulyanov et al. 2016)."""
    return by_channel(centred(x, tuple(range(2, np.ndim(x))), eps), weight, bias)


def rms_norm(x: Tensor, weight: Tensor = None, bias: Tensor = None, axes: int = 1, epsilon: float = 1e-5) -> Tensor:
    """Over the root of the mean square of the last axes (Zhang and Sennrich 2019)."""
    return affine(x / np.sqrt(np.mean(x * x, axis=tuple(range(-axes, 0)), keepdims=True) + epsilon), weight, bias)


def local_response_norm(x: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Over a power of the mean square of neighbouring channels (Krizhevsky et al. 2012)."""
    count = np.shape(x)[1]
    around = np.pad(x * x, [(size // 2, (size - 1) // 2) if axis == 1 else (0, 0) for axis in range(np.ndim(x))])
    total = np.zeros_like(x)
    for place in range(size):
        total = total + around[:, place : place + count]
    return x / (k + alpha * total / size) ** beta


def attention(query: Tensor, key: Tensor, value: Tensor, mask: Tensor = None, causal: bool = False) -> Tensor:
    """Scaled products of queries and keys as shares of values (Vaswani et al. 2017); (batch, length, heads, width)."""
    rows, columns, parts = np.swapaxes(query, 1, 2), np.swapaxes(key, 1, 2), np.swapaxes(value, 1, 2)
    scores = np.matmul(rows, np.swapaxes(columns, -1, -2)) * np.shape(query)[-1] ** -0.5
    if causal:
        later = np.expand_dims(np.arange(np.shape(scores)[-1]), 0) > np.expand_dims(np.arange(np.shape(scores)[-2]), 1)
        scores = np.where(later, np.full_like(scores, -np.inf), scores)
    if mask is not None:
        scores = np.where(mask, scores, np.full_like(scores, -np.inf)) if mask.dtype == bool else scores + mask
    return np.swapaxes(np.matmul(softmax(scores, -1), parts), 1, 2)


def bilinear(x1: Tensor, x2: Tensor, weight: Tensor, bias: Tensor = None) -> Tensor:
    """``x1 @ weight[k] @ x2`` for every ``k``."""
    product = np.einsum("bi,kij,bj->bk", x1, weight, x2)
    return product if bias is None else product + bias
