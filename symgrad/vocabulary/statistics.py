"""Statistics and running reductions, under the documented names and arguments."""

from __future__ import annotations

import math
from typing import Any

from symgrad.errors import refused
from symgrad.functional import statistics as f
from symgrad.functional import tensors as reductions
from symgrad.vocabulary import tensors
from symgrad.vocabulary.dispatch import apply, axes, whole
from symgrad.vocabulary.exposed import table

Tensor = Any

NAMES = ("std", "var", "quantile", "all", "any", "count_nonzero")
globals().update(table(f, NAMES))


def median(x: Tensor, axis: Any = None, keepdim: bool = False, mode: str = "avg", name: str | None = None) -> Tensor:
    """The number in the middle, or the mean of the two there."""
    if mode != "avg":
        raise refused(ValueError(f"median with mode={mode!r} is not supported; kthvalue gives the smaller of the two in the middle"))
    return apply(f.median, x, axis=axes(axis), keepdim=bool(keepdim))


def cumprod(x: Tensor, dim: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """Products of the first elements."""
    return apply(f.cumprod, x if dtype is None else tensors.cast(x, dtype), dim=dim)


def flat(x: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """The tensor, as one row where no axis is said, and the axis."""
    return (tensors.reshape(x, [-1]), 0) if axis is None else (x, whole(axis))


def numbered(found: list[Tensor], dtype: Any) -> list[Tensor]:
    """Values and places, the places in a dtype of integers."""
    values, places = found
    return [values, places if dtype == "int64" else tensors.cast(places, dtype)]


def cummax(x: Tensor, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> list[Tensor]:
    """The largest of the first elements, and its place."""
    x, axis = flat(x, axis)
    return numbered(apply(f.cummax, x, axis=axis), dtype)


def cummin(x: Tensor, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> list[Tensor]:
    """The smallest of the first elements, and its place."""
    x, axis = flat(x, axis)
    return numbered(apply(f.cummin, x, axis=axis), dtype)


def logcumsumexp(x: Tensor, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """The logarithm of the sum of the exponentials of the first elements."""
    x, axis = flat(x if dtype is None else tensors.cast(x, dtype), axis)
    return apply(f.logcumsumexp, x, axis=axis)


def nansum(x: Tensor, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The sum of what is a number."""
    return apply(f.nansum, x if dtype is None else tensors.cast(x, dtype), axis=axes(axis), keepdim=bool(keepdim))


def nanmean(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The mean of what is a number."""
    return apply(f.nanmean, x, axis=axes(axis), keepdim=bool(keepdim))


def amax(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The largest element; ties share the derivative equally."""
    return apply(reductions.max, x, axis=axes(axis), keepdim=bool(keepdim))


def amin(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The smallest element; ties share the derivative equally."""
    return apply(reductions.min, x, axis=axes(axis), keepdim=bool(keepdim))


def norm(x: Tensor, p: Any = None, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """``sum(|x| ** p) ** (1 / p)``, by default the Euclidean norm; ``"fro"`` is that of matrices."""
    order = 2.0 if p is None or p == "fro" else p
    if isinstance(order, str | bool):
        raise refused(ValueError(f"the norm with p={p!r} is not supported; p is a number, 'fro' or None"))
    return apply(f.p_norm, x, p=float(order), axis=axes(axis), keepdim=bool(keepdim))


def dist(x: Tensor, y: Tensor, p: float = 2, name: str | None = None) -> Tensor:
    """The norm of the difference."""
    return norm(x - y, p if math.isfinite(p) else float(p))


def equal_all(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Are shapes and elements the same?"""
    if min((*x.shape, *y.shape), default=0) < 0:
        raise refused(ValueError("equal_all needs to know the extents of both; some are -1"))
    return apply(f.all, tensors.equal(x, y) if list(x.shape) == list(y.shape) else tensors.full_like(x, 0.0, "bool"))  # type: ignore[attr-defined]


__all__ = [
    "amax", "amin", "cummax", "cummin", "cumprod", "dist", "equal_all", "logcumsumexp", "median", "nanmean", "nansum", "norm", *NAMES,
]  # fmt: skip
