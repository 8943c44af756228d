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
    """The numbers from 0 up to a count, along one of so many axes."""
    return np.reshape(np.arange(count), tuple([-1 if k == axis % rank else 1 for k in range(rank)]))


def last_place(x: Tensor, reached: Tensor, axis: int) -> Tensor:
    """The place, so far, at which what was reached stood last."""
    return np.maximum.accumulate(np.where((x == reached) | (x != x), along(np.shape(x)[axis], axis, np.ndim(x)), 0), axis=axis)


def cummax(x: Tensor, axis: int = -1) -> Tensor:
    """The largest of the first elements, and its place."""
    place = last_place(x, np.maximum.accumulate(x, axis=axis), axis)
    return np.take_along_axis(x, place, axis), place


def cummin(x: Tensor, axis: int = -1) -> Tensor:
    """The smallest of the first elements, and its place."""
    place = last_place(x, np.minimum.accumulate(x, axis=axis), axis)
    return np.take_along_axis(x, place, axis), place


def logcumsumexp(x: Tensor, axis: int = -1) -> Tensor:
    """The logarithm of the sum of the exponentials of the first elements, without overflow."""
    rows = np.moveaxis(x, axis, 0)
    made = np.empty(np.shape(rows), x.dtype)
    total = rows[0]
    made[0] = total
    for k in range(1, np.shape(rows)[0]):
        total = np.logaddexp(total, rows[k])
        made[k] = total
    return np.moveaxis(made, 0, axis)


def all(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """Do all hold?"""
    return np.all(x, axis=axis, keepdims=keepdim)


def any(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """Does one hold?"""
    return np.any(x, axis=axis, keepdims=keepdim)


def count_nonzero(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """How many are not 0."""
    return np.sum((x != 0).astype("int64"), axis=axis, keepdims=keepdim)


def nansum(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The sum of what is a number."""
    return np.sum(np.where(np.isnan(x), np.zeros_like(x), x), axis=axis, keepdims=keepdim)


def nanmean(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The mean of what is a number."""
    number = np.sum(np.logical_not(np.isnan(x)).astype(x.dtype), axis=axis, keepdims=keepdim)
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
        return np.sum((x != 0).astype(x.dtype), axis=axis, keepdims=keepdim)
    total = np.sum(np.abs(x) ** p, axis=axis, keepdims=keepdim)
    return np.where(total > 0, np.where(total > 0, total, np.ones_like(total)) ** (1.0 / p), np.zeros_like(total))
