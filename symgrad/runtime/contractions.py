"""Run-time support: sums of products over named axes and at lags, as stacked matrix products. Needs only NumPy."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np


@lru_cache
def layout_of_contraction(subscripts: str) -> tuple[tuple[int, ...], tuple[int, ...], int, int, int, tuple[int, ...]]:
    """For two arrays with axes of these names: the order of axes that makes each a stack of matrices; how many axes belong to
    the stack, to the rows, and to the sum; and the permutation that takes the axes of the product to those of the result.

    >>> layout_of_contraction("ij,kij->ki")
    ((0, 1), (1, 2, 0), 1, 0, 1, (1, 0))
    """
    operands, out = subscripts.split("->")
    a, b = operands.split(",")
    stack = [c for c in out if c in a and c in b]
    rows, columns = ([c for c in out if c in names and c not in stack] for names in (a, b))
    summed = [c for c in a if c in b and c not in out]
    left, right = (*stack, *rows, *summed), (*stack, *summed, *columns)
    order = (*stack, *rows, *columns)
    return (tuple(map(a.index, left)), tuple(map(b.index, right)), len(stack), len(rows), len(summed), tuple(map(order.index, out)))


def contraction(a: Any, b: Any, subscripts: str) -> Any:
    """``np.einsum`` of two arrays, as a product of stacks of matrices; every summed axis is an axis of both.

    >>> contraction(np.ones((2, 3)), np.arange(12.0).reshape(2, 3, 2), "ij,ijk->ik")
    array([[ 6.,  9.],
           [24., 27.]])
    """
    left, right, stack, rows, summed, back = layout_of_contraction(subscripts)
    a, b = a.transpose(left), b.transpose(right)
    over, end = stack + rows, stack + summed
    which, count = a.shape[:stack], math.prod(a.shape[over:])
    product = a.reshape(*which, math.prod(a.shape[stack:over]), count) @ b.reshape(*which, count, math.prod(b.shape[end:]))
    return product.reshape(a.shape[:over] + b.shape[end:]).transpose(back)


def lagged(g: Any, u: Any, shape: tuple[int, ...], axis: int) -> Any:
    """The sum of ``g[n] * u[n - k]`` over all n along an axis, and over all other axes, for each lag k of an array of a shape.

    >>> lagged(np.array([1.0, 2.0, 3.0]), np.array([1.0, 10.0, 100.0]), (2,), -1)
    array([321.,  32.])
    """
    g, u = np.moveaxis(g, axis, -1), np.moveaxis(u, axis, -1)
    count = u.shape[-1]
    return np.array([np.sum(g[..., k:] * u[..., : max(count - k, 0)]) for k in range(math.prod(shape))]).reshape(shape)[()]
