"""Convolutions, pools and padding, as NumPy functions of arrays and plain settings.

Images are (N, C, H, W), kernels (out, in / groups, height, width); signals (N, C, L). A window's elements are
taken as slices of the whole image, one for each place in the window, so that derivatives are added slice by slice.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.functional.tensors import Tensor


def pad(x: Tensor, widths: Any, value: float = 0.0) -> Tensor:
    """With borders of one number."""
    return np.pad(x, widths, constant_values=value)


def bordered(x: Tensor, padding: Any, value: float) -> Tensor:
    """Images with a border; padding is (top, bottom, left, right)."""
    if padding == (0, 0, 0, 0):
        return x
    return np.pad(x, ((0, 0), (0, 0), (padding[0], padding[1]), (padding[2], padding[3])), constant_values=value)


def seen(x: Tensor, size: Any, stride: Any, dilation: Any) -> Tensor:
    """(N, C, height * width, rows, columns): the elements at each position of the window."""
    rows = (np.shape(x)[2] - dilation[0] * (size[0] - 1) - 1) // stride[0] + 1
    columns = (np.shape(x)[3] - dilation[1] * (size[1] - 1) - 1) // stride[1] + 1
    below, right = (rows - 1) * stride[0] + 1, (columns - 1) * stride[1] + 1
    windows = np.empty((np.shape(x)[0], np.shape(x)[1], size[0] * size[1], rows, columns), x.dtype)
    for i in range(size[0]):
        for j in range(size[1]):
            top, left = i * dilation[0], j * dilation[1]
            windows[:, :, i * size[1] + j] = x[:, :, top : top + below : stride[0], left : left + right : stride[1]]
    return windows


def correlated(x: Tensor, weight: Tensor, size: Any, stride: Any, dilation: Any) -> Tensor:
    """The correlation of images with kernels, as one product of matrices."""
    parts = seen(x, size, stride, dilation)
    shape = np.shape(parts)
    flat = np.reshape(np.transpose(parts, (0, 3, 4, 1, 2)), (shape[0] * shape[3] * shape[4], shape[1] * shape[2]))
    kernels = np.reshape(weight, (np.shape(weight)[0], shape[1] * shape[2]))
    product = np.matmul(flat, kernels.T)
    return np.transpose(np.reshape(product, (shape[0], shape[3], shape[4], np.shape(weight)[0])), (0, 3, 1, 2))


def conv2d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    size: Any = (1, 1),
    stride: Any = (1, 1),
    padding: Any = (0, 0, 0, 0),
    dilation: Any = (1, 1),
    groups: int = 1,
) -> Tensor:
    """The correlation of images with kernels of this size, each group of channels with its own."""
    x = bordered(x, padding, 0.0)
    if groups == 1:
        out = correlated(x, weight, size, stride, dilation)
    else:
        own, each = np.shape(x)[1] // groups, np.shape(weight)[0] // groups
        out = np.concatenate(
            [correlated(x[:, k * own : (k + 1) * own], weight[k * each : (k + 1) * each], size, stride, dilation) for k in range(groups)],
            axis=1,
        )
    if bias is not None:
        out = out + np.reshape(bias, (1, -1, 1, 1))
    return out


def conv1d(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    size: int = 1,
    stride: int = 1,
    padding: Any = (0, 0),
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """The correlation of signals with kernels of this size: images one pixel high."""
    tall = np.expand_dims(x, 2)
    rows = conv2d(tall, np.expand_dims(weight, 2), bias, (1, size), (1, stride), (0, 0, padding[0], padding[1]), (1, dilation), groups)
    return np.squeeze(rows, 2)


def max_pool2d(x: Tensor, size: Any, stride: Any, padding: Any = (0, 0, 0, 0)) -> Tensor:
    """The largest element of each window; ties share the derivative."""
    if padding == (0, 0, 0, 0):
        return np.max(seen(x, size, stride, (1, 1)), axis=2)
    return -np.min(seen(bordered(-x, padding, np.inf), size, stride, (1, 1)), axis=2)


def avg_pool2d(x: Tensor, size: Any, stride: Any, padding: Any = (0, 0, 0, 0), exclusive: bool = True) -> Tensor:
    """The mean of each window; ``exclusive``: without padding."""
    total = np.sum(seen(bordered(x, padding, 0.0), size, stride, (1, 1)), axis=2)
    if padding == (0, 0, 0, 0) or not exclusive:
        return total / (size[0] * size[1])
    there = np.ones((1, 1, np.shape(x)[2], np.shape(x)[3]))
    number = np.sum(seen(bordered(there, padding, 0.0), size, stride, (1, 1)), axis=2)
    return total / number.astype(x.dtype)


def max_pool1d(x: Tensor, size: int, stride: int, padding: Any = (0, 0)) -> Tensor:
    """The largest element of each window of a signal."""
    return np.squeeze(max_pool2d(np.expand_dims(x, 2), (1, size), (1, stride), (0, 0, padding[0], padding[1])), 2)


def avg_pool1d(x: Tensor, size: int, stride: int, padding: Any = (0, 0), exclusive: bool = True) -> Tensor:
    """The mean of each window of a signal."""
    return np.squeeze(avg_pool2d(np.expand_dims(x, 2), (1, size), (1, stride), (0, 0, padding[0], padding[1]), exclusive), 2)
