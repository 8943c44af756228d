"""Arithmetic, reductions and changes of shape, as NumPy functions of arrays and plain settings.

The frontend lowers each of them, so they are simple Python: tests are of settings and ranks, which are known at compile time. ``float``
results keep the precision of the operands.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.runtime.marks import stop_gradient

Tensor = Any

# ------------------------------------------------------------------ arithmetic


def add(x: Tensor, y: Tensor) -> Tensor:
    """``x + y``."""
    return x + y


def subtract(x: Tensor, y: Tensor) -> Tensor:
    """``x - y``."""
    return x - y


def multiply(x: Tensor, y: Tensor) -> Tensor:
    """``x * y``."""
    return x * y


def divide(x: Tensor, y: Tensor) -> Tensor:
    """``x / y``."""
    return x / y


def floor_divide(x: Tensor, y: Tensor) -> Tensor:
    """``x // y``; no derivative."""
    return x // y


def remainder(x: Tensor, y: Tensor) -> Tensor:
    """``x % y``, with the sign of ``y``."""
    return x % y


def power(x: Tensor, y: Tensor) -> Tensor:
    """``x ** y`` for a tensor of exponents."""
    return x**y


def pow(x: Tensor, factor: float = 1.0) -> Tensor:
    """``x ** factor`` for one number."""
    return x**factor


def scale(x: Tensor, scale: float = 1.0, bias: float = 0.0, bias_after_scale: bool = True) -> Tensor:
    """``scale * x + bias``, or ``scale * (x + bias)``."""
    if bias_after_scale:
        return x * scale + bias
    return (x + bias) * scale


def maximum(x: Tensor, y: Tensor) -> Tensor:
    """The larger of the two; at ties each has half of the derivative."""
    return np.maximum(x, y)


def minimum(x: Tensor, y: Tensor) -> Tensor:
    """The smaller of the two; at ties each has half of the derivative."""
    return np.minimum(x, y)


def clip(x: Tensor, min: float | None = None, max: float | None = None) -> Tensor:
    """``x`` between two bounds; the derivative is 1 on the bounds."""
    if min is None and max is None:
        return x * 1.0
    return np.clip(x, min, max)


def negative(x: Tensor) -> Tensor:
    """``-x``."""
    return -x


def exp(x: Tensor) -> Tensor:
    """The exponential function."""
    return np.exp(x)


def expm1(x: Tensor) -> Tensor:
    """``exp(x) - 1``, exact near 0."""
    return np.expm1(x)


def log(x: Tensor) -> Tensor:
    """The natural logarithm."""
    return np.log(x)


def log2(x: Tensor) -> Tensor:
    """The logarithm to base 2."""
    return np.log2(x)


def log10(x: Tensor) -> Tensor:
    """The logarithm to base 10."""
    return np.log10(x)


def log1p(x: Tensor) -> Tensor:
    """``log(1 + x)``, exact near 0."""
    return np.log1p(x)


def sqrt(x: Tensor) -> Tensor:
    """The square root."""
    return np.sqrt(x)


def rsqrt(x: Tensor) -> Tensor:
    """``1 / sqrt(x)``."""
    return 1.0 / np.sqrt(x)


def square(x: Tensor) -> Tensor:
    """``x * x``."""
    return np.square(x)


def reciprocal(x: Tensor) -> Tensor:
    """``1 / x``."""
    return np.reciprocal(x)


def abs(x: Tensor) -> Tensor:
    """The absolute value; its derivative at 0 is 0."""
    return np.abs(x)


# a constant function has the derivative 0, not None; NaN is returned unchanged


def sign(x: Tensor) -> Tensor:
    """-1, 0 or 1; its derivative is 0."""
    return np.where(np.isnan(x), x, np.sign(x))


def floor(x: Tensor) -> Tensor:
    """The next integer below; its derivative is 0."""
    return np.where(np.isnan(x), x, np.floor(x))


def ceil(x: Tensor) -> Tensor:
    """The next integer above; its derivative is 0."""
    return np.where(np.isnan(x), x, np.ceil(x))


def round(x: Tensor, decimals: int = 0) -> Tensor:
    """Round to ``decimals`` digits, halves to even; the derivative is 0."""
    return np.where(np.isnan(x), x, np.round(x, decimals))


def sin(x: Tensor) -> Tensor:
    """The sine."""
    return np.sin(x)


def cos(x: Tensor) -> Tensor:
    """The cosine."""
    return np.cos(x)


def tan(x: Tensor) -> Tensor:
    """The tangent."""
    return np.tan(x)


def asin(x: Tensor) -> Tensor:
    """The inverse of the sine."""
    return np.arcsin(x)


def acos(x: Tensor) -> Tensor:
    """The inverse of the cosine."""
    return np.arccos(x)


def atan(x: Tensor) -> Tensor:
    """The inverse of the tangent."""
    return np.arctan(x)


def sinh(x: Tensor) -> Tensor:
    """The hyperbolic sine."""
    return np.sinh(x)


def cosh(x: Tensor) -> Tensor:
    """The hyperbolic cosine."""
    return np.cosh(x)


def tanh(x: Tensor) -> Tensor:
    """The hyperbolic tangent."""
    return np.tanh(x)


# ------------------------------------------------------------------ comparison


def equal(x: Tensor, y: Tensor) -> Tensor:
    """``x == y``."""
    return x == y


def not_equal(x: Tensor, y: Tensor) -> Tensor:
    """``x != y``."""
    return x != y


def less_than(x: Tensor, y: Tensor) -> Tensor:
    """``x < y``."""
    return x < y


def less_equal(x: Tensor, y: Tensor) -> Tensor:
    """``x <= y``."""
    return x <= y


def greater_than(x: Tensor, y: Tensor) -> Tensor:
    """``x > y``."""
    return x > y


def greater_equal(x: Tensor, y: Tensor) -> Tensor:
    """``x >= y``."""
    return x >= y


def logical_and(x: Tensor, y: Tensor) -> Tensor:
    """Both."""
    return np.logical_and(x, y)


def logical_or(x: Tensor, y: Tensor) -> Tensor:
    """One or both."""
    return np.logical_or(x, y)


def logical_not(x: Tensor) -> Tensor:
    """Not."""
    return np.logical_not(x)


def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    """``x`` where the condition is true, else ``y``; elements that are not selected have no derivative, whatever their value."""
    return np.where(condition, x, y)


def argmax(x: Tensor, axis: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the largest element."""
    return np.argmax(x, axis=axis, keepdims=keepdim)


def argmin(x: Tensor, axis: int | None = None, keepdim: bool = False) -> Tensor:
    """The index of the smallest element."""
    return np.argmin(x, axis=axis, keepdims=keepdim)


# ------------------------------------------------------------------ reductions


def sum(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The sum over all or some axes."""
    return np.sum(x, axis=axis, keepdims=keepdim)


def mean(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The mean over all or some axes."""
    return np.mean(x, axis=axis, keepdims=keepdim)


def max(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The largest element; ties share the derivative equally."""
    return np.max(x, axis=axis, keepdims=keepdim)


def min(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The smallest element; ties share the derivative equally."""
    return np.min(x, axis=axis, keepdims=keepdim)


def prod(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """The product over all or one axis."""
    return np.prod(x, axis=axis, keepdims=keepdim)


def logsumexp(x: Tensor, axis: Any = None, keepdim: bool = False) -> Tensor:
    """``log(sum(exp(x)))``, without overflow."""
    top = stop_gradient(np.max(x, axis=axis, keepdims=True))
    logarithm = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    if keepdim:
        return logarithm
    return np.sum(logarithm, axis=axis)


def cumsum(x: Tensor, axis: int | None = None) -> Tensor:
    """Sums of the first elements."""
    return np.cumsum(x, axis=axis)


# ------------------------------------------------------------------ products


def matmul(x: Tensor, y: Tensor, transpose_x: bool = False, transpose_y: bool = False) -> Tensor:
    """The product of matrices, stacks of them, and vectors; the last two axes of either may be swapped first."""
    if transpose_x and np.ndim(x) > 1:
        x = np.swapaxes(x, -1, -2)
    if transpose_y and np.ndim(y) > 1:
        y = np.swapaxes(y, -1, -2)
    return np.matmul(x, y)


def dot(x: Tensor, y: Tensor) -> Tensor:
    """The inner product over the last axis."""
    return np.sum(x * y, axis=-1)


def mul(x: Tensor, y: Tensor, rows: int = 1) -> Tensor:
    """The product with a matrix of ``x`` made a matrix: its first ``rows`` axes are rows, the others columns."""
    if rows == np.ndim(x) - 1 == 1:
        return np.matmul(x, y)
    shape = np.shape(x)
    flat = np.reshape(x, (math.prod(shape[:rows]), -1))
    return np.reshape(np.matmul(flat, y), (*shape[:rows], np.shape(y)[1]))


def outer(x: Tensor, y: Tensor) -> Tensor:
    """All products of an element of ``x`` with one of ``y``."""
    return np.outer(x, y)


def einsum(*operands: Tensor, equation: str) -> Tensor:
    """The sum of products given by the equation."""
    return np.einsum(equation, *operands)


# ------------------------------------------------------------------ shapes


def reshape(x: Tensor, shape: Any) -> Tensor:
    """The same elements in another shape; one extent may be -1, and 0 keeps the extent of that axis."""
    old = np.shape(x)
    return np.reshape(x, tuple([old[k] if extent == 0 else extent for k, extent in enumerate(shape)]))


def flatten(x: Tensor, start_axis: int = 0, stop_axis: int = -1) -> Tensor:
    """Several neighbouring axes made one."""
    if np.ndim(x) == 0:
        return np.reshape(x, (1,))
    shape = np.shape(x)
    stop = stop_axis % len(shape)
    return np.reshape(x, (*shape[: start_axis % len(shape)], -1, *shape[stop + 1 :]))


def transpose(x: Tensor, perm: Any) -> Tensor:
    """The axes in another order."""
    return np.transpose(x, perm)


def concat(*xs: Tensor, axis: int = 0) -> Tensor:
    """Joined along an axis."""
    return np.concatenate(xs, axis=axis)


def stack(*xs: Tensor, axis: int = 0) -> Tensor:
    """Joined along a new axis."""
    return np.stack(xs, axis=axis)


def part(x: Tensor, start: int = 0, stop: int = 1, axis: int = 0) -> Tensor:
    """From ``start`` up to ``stop`` along an axis."""
    return np.moveaxis(np.moveaxis(x, axis, 0)[start:stop], 0, axis)


def plane(x: Tensor, place: int = 0, axis: int = 0) -> Tensor:
    """The elements at one index of an axis, without the axis."""
    return np.moveaxis(x, axis, 0)[place]


def squeeze(x: Tensor, axis: Any = None) -> Tensor:
    """Without axes of extent 1."""
    if axis is None:
        return np.squeeze(x)
    return np.squeeze(x, axis)


def unsqueeze(x: Tensor, axis: Any) -> Tensor:
    """With new axes of extent 1."""
    return np.expand_dims(x, axis)


def expand(x: Tensor, shape: Any) -> Tensor:
    """Repeated along axes of extent 1 and along new axes in front; -1 keeps an extent."""
    own = np.shape(x)
    more = len(shape) - len(own)
    return np.broadcast_to(x, tuple([own[k - more] if extent == -1 else extent for k, extent in enumerate(shape)]))


def tile(x: Tensor, repeat_times: Any) -> Tensor:
    """Repeated along each axis."""
    return np.tile(x, repeat_times)


def flip(x: Tensor, axis: Any) -> Tensor:
    """In reverse order along axes."""
    return np.flip(x, axis)


def roll(x: Tensor, shifts: int, axis: int | None = None) -> Tensor:
    """Shifted in a circle."""
    return np.roll(x, shifts, axis)


def gather(x: Tensor, index: Tensor, axis: int = 0) -> Tensor:
    """Rows by index; the derivatives of repeated indices are summed."""
    if axis == 0:
        return x[index]
    return np.take(x, index, axis=axis)


def take_along_axis(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """One element for each index, along an axis."""
    return np.take_along_axis(x, indices, axis)


def cast(x: Tensor, dtype: str) -> Tensor:
    """In another dtype; the derivative is cast back."""
    return x.astype(dtype)


def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    """The lower triangle."""
    return np.tril(x, diagonal)


def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    """The upper triangle."""
    return np.triu(x, diagonal)


def zeros_like(x: Tensor) -> Tensor:
    """Zeros in the shape and dtype of ``x``."""
    return np.zeros_like(x)


def ones_like(x: Tensor) -> Tensor:
    """Ones in the shape and dtype of ``x``."""
    return np.ones_like(x)


def full_like(x: Tensor, fill_value: float) -> Tensor:
    """One number in the shape and dtype of ``x``."""
    return np.full_like(x, fill_value)


def assign(x: Tensor) -> Tensor:
    """A copy that keeps the derivative."""
    return np.copy(x)
