"""Statistics and running reductions, as NumPy functions of arrays and plain settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.functional.tensors import Tensor


def std(x: Tensor, axis: Any = None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    """The standard deviation; ``unbiased``: over one number less."""
    return np.std(x, axis=axis, ddof=1 if unbiased else 0, keepdims=keepdim)


def var(x: Tensor, axis: Any = None, unbiased: bool = True, keepdim: bool = False) -> Tensor:
    """The variance; ``unbiased``: over one number less."""
    return np.var(x, axis=axis, ddof=1 if unbiased else 0, keepdims=keepdim)


def median(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The number in the middle, or the mean of the two there."""
    return np.median(x, axis=axis, keepdims=keepdim)


def quantile(x: Tensor, q: Any, axis: Any = None, keepdim: bool = False, interpolation: Any = "linear") -> Tensor:
    """The number that a share ``q`` of all is below, or one for each of several shares."""
    if isinstance(q, tuple):
        return np.stack([np.quantile(x, share, axis=axis, keepdims=keepdim, method=interpolation) for share in q])
    return np.quantile(x, q, axis=axis, keepdims=keepdim, method=interpolation)


def cumprod(x: Tensor, dim: int | None = None) -> Tensor:
    """Products of the first elements."""
    return np.cumprod(x, axis=dim)


def along(count: Tensor, axis: int, rank: int) -> Tensor:
    """The numbers from 0 up to a count, along one of ``rank`` axes."""
    return np.reshape(np.arange(count), (1,) * (axis % rank) + (-1,) + (1,) * (rank - 1 - axis % rank))


def last_place(x: Tensor, reached: Tensor, axis: int) -> Tensor:
    """The running index of the last occurrence of the extreme."""
    return np.maximum.accumulate(np.where((x == reached) | (x != x), along(np.shape(x)[axis], axis, np.ndim(x)), 0), axis=axis)


def cummax(x: Tensor, axis: int = -1) -> Tensor:
    """The running maximum, and its index."""
    place = last_place(x, np.maximum.accumulate(x, axis=axis), axis)
    return np.take_along_axis(x, place, axis), place


def cummin(x: Tensor, axis: int = -1) -> Tensor:
    """The running minimum, and its index."""
    place = last_place(x, np.minimum.accumulate(x, axis=axis), axis)
    return np.take_along_axis(x, place, axis), place


def logcumsumexp(x: Tensor, axis: int = -1) -> Tensor:
    """The logarithm of the sum of the exponentials of the first elements, without overflow."""
    rows = np.moveaxis(x, axis, 0)
    logarithms = np.empty(np.shape(rows), x.dtype)
    total = rows[0]
    logarithms[0] = total
    for k in range(1, np.shape(rows)[0]):
        total = np.logaddexp(total, rows[k])
        logarithms[k] = total
    return np.moveaxis(logarithms, 0, axis)


def all(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """Whether all elements are true."""
    return np.all(x, axis=axis, keepdims=keepdim)


def any(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """Whether any element is true."""
    return np.any(x, axis=axis, keepdims=keepdim)


def count_nonzero(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """How many are not 0."""
    return np.sum((x != 0).astype("int64"), axis=axis, keepdims=keepdim)


def nansum(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The sum of the elements that are not NaN."""
    return np.sum(np.where(np.isnan(x), np.zeros_like(x), x), axis=axis, keepdims=keepdim)


def nanmean(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The mean of the elements that are not NaN."""
    number = np.sum(np.where(np.isnan(x), np.zeros_like(x), np.ones_like(x)), axis=axis, keepdims=keepdim)
    return nansum(x, axis, keepdim) / number


def root(total: Tensor) -> Tensor:
    """The square root of a sum of squares; its derivative where all are 0 is 0."""
    positive = total > 0
    return np.where(positive, np.sqrt(np.where(positive, total, np.ones_like(total))), np.zeros_like(total))


def p_norm(x: Tensor, p: float = 2.0, axis: Any = None, keepdim: bool = False) -> Tensor:
    """``sum(|x| ** p) ** (1 / p)``; the largest or smallest ``|x|`` for infinite ``p``, how many are not 0 for 0."""
    if p == 2.0:
        return root(np.sum(x * x, axis=axis, keepdims=keepdim))
    if p == 1.0:
        return np.sum(np.abs(x), axis=axis, keepdims=keepdim)
    if p == np.inf:
        return np.max(np.abs(x), axis=axis, keepdims=keepdim)
    if p == -np.inf:
        return np.min(np.abs(x), axis=axis, keepdims=keepdim)
    if p == 0.0:
        return np.sum(np.where(x != 0, np.ones_like(x), np.zeros_like(x)), axis=axis, keepdims=keepdim)
    size = np.abs(x)
    raised = size**p if p >= 1.0 or p < 0.0 else np.where(size > 0, np.where(size > 0, size, np.ones_like(size)) ** p, np.zeros_like(size))
    total = np.sum(raised, axis=axis, keepdims=keepdim)
    return np.where(total > 0, np.where(total > 0, total, np.ones_like(total)) ** (1.0 / p), np.zeros_like(total))


def matrix_norm(x: Tensor, of: str = "fro", smallest: bool = False, axis: Any = (-2, -1), keepdim: bool = False) -> Tensor:
    """The norm of the matrices of two axes: of Frobenius, the sum of singular values, the largest of them, of columns or of rows."""
    if of == "fro":
        return root(np.sum(x * x, axis=axis, keepdims=keepdim))
    matrices = np.moveaxis(x, axis, (-2, -1))
    if of == "columns":
        sizes = np.sum(np.abs(matrices), axis=-2)
    elif of == "rows":
        sizes = np.sum(np.abs(matrices), axis=-1)
    else:
        # with the vectors, as the backward half has them: without, the values are rounded otherwise, and the largest is none of them
        sizes = np.linalg.svd(matrices, full_matrices=False)[1]
    norms = np.sum(sizes, axis=-1) if of == "nuc" else np.min(sizes, axis=-1) if smallest else np.max(sizes, axis=-1)
    if keepdim:
        return np.expand_dims(norms, (axis[0] % np.ndim(x), axis[1] % np.ndim(x)))
    return norms
