"""Resampling of images: transposed convolutions, unfolding, adaptive pools, interpolation, pixel shuffling."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.functional.tensors import Tensor
from symgrad.functional.windows import bordered, conv2d, seen


def framed(x: Tensor, widths: Any, mode: Any) -> Tensor:
    """Padding by ``reflect``, ``edge`` or ``wrap``."""
    return np.pad(x, widths, mode=mode)


def spread(x: Tensor, stride: Any) -> Tensor:
    """Images with zeros between the pixels."""
    shape = np.shape(x)
    images = np.zeros((shape[0], shape[1], (shape[2] - 1) * stride[0] + 1, (shape[3] - 1) * stride[1] + 1), x.dtype)
    images[:, :, :: stride[0], :: stride[1]] = x
    return images


def turned(weight: Tensor, groups: int) -> Tensor:
    """Kernels (in, out / groups, height, width) as those of the convolution that goes back."""
    shape = np.shape(weight)
    parts = np.reshape(weight[:, :, ::-1, ::-1], (groups, shape[0] // groups, shape[1], shape[2], shape[3]))
    return np.reshape(np.swapaxes(parts, 1, 2), (groups * shape[1], shape[0] // groups, shape[2], shape[3]))


def conv2d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    size: Any = (1, 1),
    stride: Any = (1, 1),
    padding: Any = (0, 0, 0, 0),
    more: Any = (0, 0),
    dilation: Any = (1, 1),
    groups: int = 1,
) -> Tensor:
    """The transpose of the convolution with these kernels; ``more`` rows and columns at the ends."""
    tall, wide = dilation[0] * (size[0] - 1), dilation[1] * (size[1] - 1)
    edges = (tall - padding[0], tall - padding[1] + more[0], wide - padding[2], wide - padding[3] + more[1])
    big = bordered(spread(x, stride), tuple([max(edge, 0) for edge in edges]), 0.0)
    big = big[:, :, max(-edges[0], 0) : np.shape(big)[2] - max(-edges[1], 0), max(-edges[2], 0) : np.shape(big)[3] - max(-edges[3], 0)]
    return conv2d(big, turned(weight, groups), bias, size, (1, 1), (0, 0, 0, 0), dilation, groups)


def conv1d_transpose(
    x: Tensor,
    weight: Tensor,
    bias: Tensor = None,
    size: int = 1,
    stride: int = 1,
    padding: Any = (0, 0),
    more: int = 0,
    dilation: int = 1,
    groups: int = 1,
) -> Tensor:
    """The transpose of the convolution with these kernels: images one pixel high."""
    rows = conv2d_transpose(
        np.expand_dims(x, 2),
        np.expand_dims(weight, 2),
        bias,
        (1, size),
        (1, stride),
        (0, 0, padding[0], padding[1]),
        (0, more),
        (1, dilation),
        groups,
    )
    return np.squeeze(rows, 2)


def unfold(x: Tensor, size: Any, stride: Any, padding: Any, dilation: Any) -> Tensor:
    """The windows of images as columns: (N, C * height * width, windows)."""
    parts = seen(bordered(x, padding, 0.0), size, stride, dilation)
    shape = np.shape(parts)
    return np.reshape(parts, (shape[0], shape[1] * shape[2], shape[3] * shape[4]))


def fold(x: Tensor, extents: Any, size: Any, stride: Any, padding: Any, dilation: Any) -> Tensor:
    """Images of the given extents, as sums of windows given as columns."""
    high, wide = extents[0] + padding[0] + padding[1], extents[1] + padding[2] + padding[3]
    rows = (high - dilation[0] * (size[0] - 1) - 1) // stride[0] + 1
    columns = (wide - dilation[1] * (size[1] - 1) - 1) // stride[1] + 1
    shape = np.shape(x)
    parts = np.reshape(x, (shape[0], shape[1] // (size[0] * size[1]), size[0] * size[1], rows, columns))
    images = np.zeros((shape[0], shape[1] // (size[0] * size[1]), high, wide), x.dtype)
    below, right = (rows - 1) * stride[0] + 1, (columns - 1) * stride[1] + 1
    for i in range(size[0]):
        for j in range(size[1]):
            top, left = i * dilation[0], j * dilation[1]
            images[:, :, top : top + below : stride[0], left : left + right : stride[1]] += parts[:, :, i * size[1] + j]
    return images[:, :, padding[0] : high - padding[1], padding[2] : wide - padding[3]]


def adaptive_pool2d(x: Tensor, rows: Any, columns: Any, largest: bool = False) -> Tensor:
    """The mean, or the largest element, of rectangles between pairs of rows and pairs of columns."""
    pooled = np.empty((np.shape(x)[0], np.shape(x)[1], len(rows), len(columns)), x.dtype)
    for i in range(len(rows)):
        for j in range(len(columns)):
            part = x[:, :, rows[i][0] : rows[i][1], columns[j][0] : columns[j][1]]
            pooled[:, :, i, j] = np.max(part, axis=(2, 3)) if largest else np.mean(part, axis=(2, 3))
    return pooled


def adaptive_pool1d(x: Tensor, columns: Any, largest: bool = False) -> Tensor:
    """The mean or maximum of signals between pairs of indices."""
    return np.squeeze(adaptive_pool2d(np.expand_dims(x, 2), ((0, 1),), columns, largest), 2)


def resampled(x: Tensor, places: Tensor, shares: Tensor, axis: int) -> Tensor:
    """Weighted sums of elements along an axis: indices and weights have one row for each term."""
    rows = np.moveaxis(x, axis, -1)
    total = rows[..., places[0]] * shares[0].astype(x.dtype)
    for k in range(1, np.shape(places)[0]):
        total = total + rows[..., places[k]] * shares[k].astype(x.dtype)
    return np.moveaxis(total, -1, axis)


def pixel_shuffle(x: Tensor, upscale_factor: int) -> Tensor:
    """Channels as pixels of larger images (Shi et al. 2016)."""
    n, c, h, w = np.shape(x)
    r = upscale_factor
    return np.reshape(np.transpose(np.reshape(x, (n, c // (r * r), r, r, h, w)), (0, 1, 4, 2, 5, 3)), (n, c // (r * r), h * r, w * r))


def pixel_unshuffle(x: Tensor, downscale_factor: int) -> Tensor:
    """Pixels as channels of smaller images."""
    n, c, h, w = np.shape(x)
    r = downscale_factor
    return np.reshape(np.transpose(np.reshape(x, (n, c, h // r, r, w // r, r)), (0, 1, 3, 5, 2, 4)), (n, c * r * r, h // r, w // r))


def channel_shuffle(x: Tensor, groups: int) -> Tensor:
    """The channels of groups in turns (Zhang et al. 2018)."""
    n, c, h, w = np.shape(x)
    return np.reshape(np.swapaxes(np.reshape(x, (n, groups, c // groups, h, w)), 1, 2), (n, c, h, w))


def sequence_mask(x: Tensor, maxlen: int, dtype: str = "int64") -> Tensor:
    """For each length, as many ones, then zeros."""
    return (np.arange(maxlen) < np.expand_dims(x, -1)).astype(dtype)
