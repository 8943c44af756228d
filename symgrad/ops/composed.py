"""NumPy functions said in other NumPy functions: they are inlined like the user's own.

Simple Python only: ``if`` on what is known while compiling (ranks, an axis, None), calls, arithmetic.
Each takes the parameters it supports; all others are refused by their absence.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def vstack(tup: Any) -> Any:
    """``np.vstack``: vectors are rows."""
    return np.concatenate([np.reshape(x, (1, -1)) if np.ndim(x) < 2 else x for x in tup])


def hstack(tup: Any) -> Any:
    """``np.hstack``: along the second axis, vectors along the first."""
    if np.ndim(tup[0]) == 0:
        return np.stack(tup)
    if np.ndim(tup[0]) == 1:
        return np.concatenate(tup)
    return np.concatenate(tup, axis=1)


def column_stack(tup: Any) -> Any:
    """``np.column_stack``: vectors are columns."""
    return np.concatenate([np.reshape(x, (-1, 1)) if np.ndim(x) < 2 else x for x in tup], axis=1)


def dstack(tup: Any) -> Any:
    """``np.dstack``: along the third axis."""
    if np.ndim(tup[0]) == 1:
        return np.expand_dims(np.stack(tup, axis=1), 0)
    if np.ndim(tup[0]) == 2:
        return np.stack(tup, axis=2)
    return np.concatenate(tup, axis=2)


def take(a: Any, indices: Any, axis: Any = None) -> Any:
    """``np.take``: indexing along one axis."""
    if axis is None:
        return np.ravel(a)[indices]
    if axis == 0:
        return a[indices]
    if axis == -1:
        return a[..., indices]
    if axis == 1:
        return a[:, indices]
    assert axis == 2
    return a[:, :, indices]


def ptp(a: Any, axis: Any = None, keepdims: Any = None) -> Any:
    """``np.ptp``: largest minus smallest."""
    made = np.max(a, axis=axis) - np.min(a, axis=axis)
    return kept(made, a, axis) if keepdims else made


def inner(a: Any, b: Any) -> Any:
    """``np.inner``: sums over the last axes."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return np.dot(a, b)
    return np.tensordot(a, b, axes=(-1, -1))


def vdot(a: Any, b: Any) -> Any:
    """``np.vdot`` of real arrays."""
    return np.dot(np.ravel(a), np.ravel(b))


def kron(a: Any, b: Any) -> Any:
    """``np.kron`` of vectors and of matrices."""
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return np.multiply(a, b)
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return np.reshape(np.expand_dims(a, 1) * b, (-1,))
    left = np.reshape(a, (-1, np.shape(a)[-1]))
    right = np.reshape(b, (-1, np.shape(b)[-1]))
    rows, columns = left.shape[0] * right.shape[0], left.shape[1] * right.shape[1]
    return np.reshape(np.expand_dims(left, (1, 3)) * np.expand_dims(right, (0, 2)), (rows, columns))


def cross(a: Any, b: Any) -> Any:
    """``np.cross`` of three-vectors along the last axis."""
    x = a[..., 1] * b[..., 2] - a[..., 2] * b[..., 1]
    y = a[..., 2] * b[..., 0] - a[..., 0] * b[..., 2]
    z = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return np.stack([x, y, z], axis=-1)


def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    """``np.average``, weights of the shape of ``a`` or along one axis."""
    if weights is None:
        return np.mean(a, axis=axis)
    if axis is None or np.ndim(weights) == np.ndim(a):
        return np.sum(a * weights, axis=axis) / np.sum(weights, axis=axis)
    moved = np.moveaxis(a, axis, -1)
    return np.sum(moved * weights, axis=-1) / np.sum(weights)


def median(a: Any, axis: Any = None) -> Any:
    """``np.median``: the middle of what is sorted."""
    if axis is None:
        ordered = np.sort(np.ravel(a))
    else:
        ordered = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    n = ordered.shape[0]
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2


def diff(a: Any, n: Any = None, axis: Any = None) -> Any:
    """``np.diff`` for ``n`` up to 3: differences of neighbours."""
    last = np.ndim(a) == 1 or axis is None or axis == -1
    moved = a if last else np.moveaxis(a, axis, -1)
    made = moved[..., 1:] - moved[..., :-1]
    if n is not None:
        assert 1 <= n <= 3
        if n > 1:
            made = made[..., 1:] - made[..., :-1]
        if n > 2:
            made = made[..., 1:] - made[..., :-1]
    return made if last else np.moveaxis(made, -1, axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = None) -> Any:
    """``np.trapezoid``, ``x`` a vector."""
    moved = y if np.ndim(y) == 1 or axis is None else np.moveaxis(y, axis, -1)
    pairs = moved[..., 1:] + moved[..., :-1]
    if x is None:
        return np.sum(pairs, axis=-1) * dx / 2.0
    return np.sum(pairs * (x[1:] - x[:-1]), axis=-1) / 2.0


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """``np.interp``: linear between the points, constant outside."""
    right = np.clip(np.searchsorted(xp, x), 1, xp.shape[0] - 1)
    left = right - 1
    part = np.clip((x - xp[left]) / (xp[right] - xp[left]), 0.0, 1.0)
    return fp[left] + part * (fp[right] - fp[left])


def convolve(a: Any, v: Any, mode: str = "full") -> Any:
    """``np.convolve``: the shorter vector slides over the longer."""
    if a.shape[0] < v.shape[0]:
        long, short = v, a
    else:
        long, short = a, v
    n, m = long.shape[0], short.shape[0]
    whole = np.zeros(n + m - 1)
    for k in range(m):
        whole[k : k + n] += short[k] * long
    if mode == "full":
        return whole
    if mode == "same":
        return whole[(m - 1) // 2 : (m - 1) // 2 + n]
    return whole[m - 1 : n]


def correlate(a: Any, v: Any, mode: str = "valid") -> Any:
    """``np.correlate`` of real vectors, the first the longer."""
    return np.convolve(a, v[::-1], mode)  # type: ignore[call-overload]


def gradient(f: Any, spacing: Any = 1.0, axis: Any = None) -> Any:
    """``np.gradient`` along one axis with even spacing."""
    assert axis is not None or np.ndim(f) == 1
    moved = f if axis is None or np.ndim(f) == 1 else np.moveaxis(f, axis, 0)
    first = np.expand_dims((moved[1] - moved[0]) / spacing, 0)
    last = np.expand_dims((moved[-1] - moved[-2]) / spacing, 0)
    made = np.concatenate([first, (moved[2:] - moved[:-2]) / (2.0 * spacing), last])
    return made if axis is None or np.ndim(f) == 1 else np.moveaxis(made, 0, axis)


def kept(made: Any, x: Any, axis: Any) -> Any:
    """A reduction of ``x`` with the axes it summed over kept at extent 1."""
    if axis is not None:
        return np.expand_dims(made, axis)
    if np.ndim(x) == 1:
        return np.reshape(made, (1,))
    if np.ndim(x) == 2:
        return np.reshape(made, (1, 1))
    return np.reshape(made, (1, 1, 1))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = None) -> Any:
    """``np.linalg.norm``: of vectors of any order, of matrices the Frobenius, 1 and infinity norms."""
    if axis is None and np.ndim(x) == 2:
        made = matrix_norm(x, ord)
    else:
        assert axis is None and np.ndim(x) == 1 or isinstance(axis, int) or ord is None or ord == "fro"
        made = vector_norm(x, ord, axis)
    return kept(made, x, axis) if keepdims else made


def matrix_norm(x: Any, ord: Any) -> Any:
    """The norms of a matrix that need no singular values."""
    if ord is None or ord == "fro":
        return np.sqrt(np.sum(x * x))
    assert ord == 1 or ord == math.inf
    return np.max(np.sum(np.abs(x), axis=0 if ord == 1 else 1))


def vector_norm(x: Any, ord: Any, axis: Any) -> Any:
    """The norms of vectors along an axis."""
    if ord is None or ord == 2 or ord == "fro":
        return np.sqrt(np.sum(x * x, axis=axis))
    if ord == 1:
        return np.sum(np.abs(x), axis=axis)
    if ord == math.inf:
        return np.max(np.abs(x), axis=axis)
    if ord == -math.inf:
        return np.min(np.abs(x), axis=axis)
    return np.sum(np.abs(x) ** ord, axis=axis) ** (1.0 / ord)


def matrix_power(a: Any, n: int) -> Any:
    """``np.linalg.matrix_power`` with ``n`` known while compiling or not."""
    base = a if n >= 0 else np.linalg.inv(a)
    made = np.eye(a.shape[-1])
    for _ in range(abs(n)):
        made = made @ base
    return made


def multi_dot(arrays: Any) -> Any:
    """``np.linalg.multi_dot``, from left to right."""
    made = arrays[0]
    for a in arrays[1:]:
        made = np.dot(made, a)
    return made


def logspace(start: Any, stop: Any, num: int = 50, endpoint: Any = True, base: Any = 10.0) -> Any:
    """``np.logspace``."""
    return np.power(base, np.linspace(start, stop, num, endpoint=endpoint))


def geomspace(start: Any, stop: Any, num: int = 50) -> Any:
    """``np.geomspace`` between positive numbers."""
    return np.exp(np.linspace(np.log(start), np.log(stop), num))


def meshgrid(x: Any, y: Any, indexing: str = "xy") -> Any:
    """``np.meshgrid`` of two vectors."""
    if indexing == "xy":
        shape = (y.shape[0], x.shape[0])
        return np.broadcast_to(x, shape).copy(), np.broadcast_to(np.expand_dims(y, 1), shape).copy()
    shape = (x.shape[0], y.shape[0])
    return np.broadcast_to(np.expand_dims(x, 1), shape).copy(), np.broadcast_to(y, shape).copy()


def nonzero(a: Any) -> Any:
    """``np.nonzero`` of vectors and matrices."""
    where = np.flatnonzero(a)
    if np.ndim(a) == 1:
        return (where,)
    assert np.ndim(a) == 2
    return where // a.shape[1], where % a.shape[1]


def atleast_1d(x: Any) -> Any:
    """``np.atleast_1d`` of one operand."""
    return np.reshape(x, (1,)) if np.ndim(x) == 0 else x


def atleast_2d(x: Any) -> Any:
    """``np.atleast_2d`` of one operand."""
    return np.reshape(x, (1, -1)) if np.ndim(x) < 2 else x


def rot90(m: Any) -> Any:
    """``np.rot90``, once, of a matrix."""
    return np.flip(np.transpose(m), 0)


def divmod_(x: Any, y: Any) -> Any:
    """``np.divmod``."""
    return x // y, x % y


def dist(p: Any, q: Any) -> Any:
    """``math.dist``."""
    total = 0.0
    for a, b in zip(p, q):
        total = total + (a - b) * (a - b)
    return math.sqrt(total)


COMPOSED: dict[Callable[..., Any], Callable[..., Any]] = {
    np.vstack: vstack, np.hstack: hstack, np.dstack: dstack, np.column_stack: column_stack, np.take: take, np.ptp: ptp, np.inner: inner,
    np.vdot: vdot, np.kron: kron, np.cross: cross, np.average: average, np.median: median, np.diff: diff, np.trapezoid: trapezoid,
    np.interp: interp, np.convolve: convolve, np.correlate: correlate, np.gradient: gradient, np.linalg.norm: norm,
    np.linalg.matrix_power: matrix_power, np.linalg.multi_dot: multi_dot, np.logspace: logspace, np.geomspace: geomspace,
    np.meshgrid: meshgrid, np.nonzero: nonzero, np.atleast_1d: atleast_1d, np.atleast_2d: atleast_2d, np.rot90: rot90, np.divmod: divmod_,
    math.dist: dist,
}  # fmt: skip
