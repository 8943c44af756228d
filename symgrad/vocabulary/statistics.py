"""Statistics and running reductions, under the documented names and arguments."""

from __future__ import annotations

import functools
import inspect
import math
from typing import Any

import numpy as np

from symgrad.errors import refused
from symgrad.functional import statistics as f
from symgrad.functional import tensors as reductions
from symgrad.vocabulary import tensors
from symgrad.vocabulary.dispatch import apply, extents, plain_integer
from symgrad.vocabulary.exposed import exposed
from symgrad.vocabulary.fitting import axes_of, extent, is_empty, rowwise
from symgrad.vocabulary.promotion import as_float

Tensor = Any


def reduction(function: Any, floats: bool = False, empty: float | None = None) -> Any:
    """Return a public reduction over all or some axes; ``floats``: integers become floats; ``empty``: the result for no elements."""
    call = exposed(function)

    @functools.wraps(call)
    def reduced(x: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        bound = signature.bind(x, *args, **kwargs)
        bound.arguments["axis"] = axis = axes_of(x, bound.arguments.get("axis"))
        if floats:
            bound.arguments["x"] = x = as_float(x)
        if empty is not None and is_empty(x, axis):
            return nothing(x, axis, bool(bound.arguments.get("keepdim", False)), empty)
        return call(*bound.args, **bound.kwargs)

    signature = inspect.signature(call)
    return reduced


def nothing(x: Tensor, axis: Any, keepdim: bool, value: float) -> Tensor:
    """Return the result of a reduction of no elements."""
    return apply(reductions.scale, apply(reductions.sum, x, axis=axis, keepdim=keepdim), bias=value)


NAMES = ("std", "var", "quantile", "all", "any", "count_nonzero")
globals().update({name: reduction(getattr(f, name)) for name in ("all", "any", "count_nonzero")})
globals().update({name: reduction(getattr(f, name), floats=True, empty=math.nan) for name in ("std", "var")})
quantile = reduction(f.quantile, floats=True)


def median(x: Tensor, axis: Any = None, keepdim: bool = False, mode: str = "avg", name: str | None = None) -> Tensor:
    """The number in the middle, or the mean of the two there."""
    if mode != "avg":
        raise refused(ValueError(f"median with mode={mode!r} is not supported; kthvalue gives the smaller of the two in the middle"))
    x, axis = as_float(x), axes_of(x, axis)
    return nothing(x, axis, keepdim, math.nan) if is_empty(x, axis) else apply(f.median, x, axis=axis, keepdim=bool(keepdim))


@rowwise
def cumprod(x: Tensor, dim: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """Products of the first elements."""
    return apply(f.cumprod, x if dtype is None else tensors.cast(x, dtype), dim=dim)


def flat(x: Tensor, axis: int | None) -> tuple[Tensor, int]:
    """Return the tensor, flattened if no axis is given, and the axis."""
    return (tensors.reshape(x, [-1]), 0) if axis is None else (x, plain_integer(axis))


def numbered(results: list[Tensor], dtype: Any) -> list[Tensor]:
    """Return values and indices, the indices in an integer dtype."""
    values, places = results
    return [values, places if dtype == "int64" else tensors.cast(places, dtype)]


@rowwise
def cummax(x: Tensor, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> list[Tensor]:
    """The running maximum, and its index."""
    x, axis = flat(x, axis)
    return numbered(apply(f.cummax, x, axis=axis), dtype)


@rowwise
def cummin(x: Tensor, axis: int | None = None, dtype: Any = "int64", name: str | None = None) -> list[Tensor]:
    """The running minimum, and its index."""
    x, axis = flat(x, axis)
    return numbered(apply(f.cummin, x, axis=axis), dtype)


@rowwise
def logcumsumexp(x: Tensor, axis: int | None = None, dtype: Any = None, name: str | None = None) -> Tensor:
    """The logarithm of the sum of the exponentials of the first elements."""
    x, axis = flat(as_float(x) if dtype is None else tensors.cast(x, dtype), axis)
    return apply(reductions.assign, x) if extent(x, "x", axis) == 0 else apply(f.logcumsumexp, x, axis=axis)


def nansum(x: Tensor, axis: Any = None, dtype: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The sum of the elements that are not NaN."""
    return apply(f.nansum, x if dtype is None else tensors.cast(x, dtype), axis=axes_of(x, axis), keepdim=bool(keepdim))


def nanmean(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The mean of the elements that are not NaN."""
    x = as_float(x)
    return apply(f.nanmean, x, axis=axes_of(x, axis), keepdim=bool(keepdim))


def amax(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The largest element; ties share the derivative equally."""
    return apply(reductions.max, x, axis=axes_of(x, axis), keepdim=bool(keepdim))


def amin(x: Tensor, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The smallest element; ties share the derivative equally."""
    return apply(reductions.min, x, axis=axes_of(x, axis), keepdim=bool(keepdim))


#: by the value of ``p``, the quantities whose maximum or minimum is the matrix norm
NORMS = {1.0: "columns", 2.0: "singular", math.inf: "rows"}


def ordered(p: Any, *words: str) -> Any:
    """The order of a norm: a number, or one of some words."""
    if isinstance(p, str) and p in words:
        return p
    if isinstance(p, str | bool) or not isinstance(p, int | float | np.number):
        raise refused(ValueError(f"the norm with p={p!r} is not supported; p is a number{''.join(f', {w!r}' for w in words)} or None"))
    return float(p)


def norm(x: Tensor, p: Any = None, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """The norm of all elements, of the vectors along one axis, or of the matrices along two; by default the root of the sum of squares.

    Of vectors it is ``sum(|x| ** p) ** (1 / p)``, for infinite ``p`` the largest or smallest ``|x|``, for 0 how many are not 0. Of
    matrices see ``matrix_norm``.
    """
    along = axes_of(x, axis)
    if isinstance(along, tuple) and len(along) == 2:
        return matrix_norm(x, "fro" if p is None else p, along, keepdim)
    return vector_norm(x, 2.0 if p is None or p == "fro" else p, along, keepdim)


def vector_norm(x: Tensor, p: Any = 2.0, axis: Any = None, keepdim: bool = False, name: str | None = None) -> Tensor:
    """``sum(|x| ** p) ** (1 / p)`` over all or some axes."""
    return apply(f.p_norm, as_float(x), p=ordered(p), axis=axes_of(x, axis), keepdim=bool(keepdim))


def matrix_norm(x: Tensor, p: Any = "fro", axis: Any = (-2, -1), keepdim: bool = False, name: str | None = None) -> Tensor:
    """The norm of the matrices of two axes.

    ``"fro"`` is the root of the sum of squares, ``"nuc"`` the sum of the singular values, 2 the largest of them; 1 and infinity are the
    largest sum of ``|x|`` in a column and in a row. With a minus sign they are the smallest.
    """
    order, pair = ordered(p, "fro", "nuc"), extents(axis, "an axis")
    of = order if isinstance(order, str) else NORMS.get(abs(order))
    if of is None:
        raise refused(ValueError(f"there is no norm of matrices with p={p!r}; p is 1, 2, inf, with a minus sign too, 'fro' or 'nuc'"))
    for one in pair:
        extent(x, "x", one)
    if len(pair) != 2 or pair[0] % len(x.shape) == pair[1] % len(x.shape):
        raise refused(ValueError(f"axis must be two different axes, not {axis!r}"))
    smallest = isinstance(order, float) and order < 0
    return apply(f.matrix_norm, as_float(x), of=of, smallest=smallest, axis=pair, keepdim=bool(keepdim))


def dist(x: Tensor, y: Tensor, p: float = 2, name: str | None = None) -> Tensor:
    """The norm of the difference."""
    return vector_norm(x - y, p)


def equal_all(x: Tensor, y: Tensor, name: str | None = None) -> Tensor:
    """Whether shapes and elements are the same."""
    if min((*x.shape, *y.shape), default=0) < 0:
        raise refused(ValueError("equal_all needs to know the extents of both; some are -1"))
    return apply(f.all, tensors.equal(x, y) if list(x.shape) == list(y.shape) else tensors.full_like(x, 0.0, "bool"))  # type: ignore[attr-defined]


__all__ = [*NAMES, "amax", "amin", "cummax", "cummin", "cumprod", "dist", "equal_all", "logcumsumexp", "median", "nanmean", "nansum"]
__all__ += ["norm"]
