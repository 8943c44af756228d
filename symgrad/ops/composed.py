"""NumPy functions said in other NumPy functions: they are inlined like the user's own.

Simple Python only: ``if`` on what is known while compiling (ranks, an axis, None), calls, arithmetic.
Each takes the parameters it supports; all others are refused by their absence.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedArgument


def refuse(what: str) -> None:
    """Refuse a call; while compiling where it is inlined, as it is a row."""
    raise UnsupportedArgument(what)


def need(test: Any, what: str) -> None:
    """Refuse a form of a call, known while compiling, that its composition does not say."""
    if not test:
        refuse(what)


def must(test: Any, what: str) -> None:
    """Refuse operands when the program runs."""
    if not test:
        raise UnsupportedArgument(what)


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


def flat(a: Any) -> Any:
    """What is not a vector, as one."""
    return a if np.ndim(a) == 1 else np.ravel(a)


def rows_first(a: Any, axis: Any) -> Any:
    """The axes that are meant as one, the first."""
    if axis is None:
        return flat(a)
    if isinstance(axis, tuple):
        moved = np.moveaxis(a, axis, (0, 1, 2, 3)[: len(axis)])
        return np.reshape(moved, (-1, *moved.shape[len(axis) :]))
    return np.moveaxis(a, axis, 0)


def quantile(a: Any, q: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.quantile``: between the two that stand next to the place asked for."""
    ordered = np.sort(rows_first(a, axis), axis=0)
    if np.ndim(q):
        must(np.min(q) >= 0 and np.max(q) <= 1, "quantiles must be between 0 and 1")
    else:
        must(0 <= q <= 1, "quantiles must be between 0 and 1")
    place = q * (ordered.shape[0] - 1)
    low = np.floor(place).astype(int) if np.ndim(q) else int(np.floor(place))
    part = place - low
    high = np.minimum(low + 1, ordered.shape[0] - 1) if np.ndim(q) else min(low + 1, ordered.shape[0] - 1)
    if np.ndim(q) and np.ndim(ordered) > 1:
        part = np.reshape(part, (-1,) + (1,) * (np.ndim(ordered) - 1))
    made = np.where(np.isnan(ordered[-1]), np.nan, ordered[low] + part * (ordered[high] - ordered[low]))
    if keepdims:
        need(np.ndim(q) == 0, "keepdims of several quantiles is not supported")
        return kept(made, a, axis)
    return made


def percentile(a: Any, q: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.percentile``."""
    share = np.asarray(q) / 100.0 if np.ndim(q) else q / 100.0
    return quantile(a, share, axis, keepdims)


def nanmedian(a: Any) -> Any:
    """``np.nanmedian`` of all elements."""
    return np.median(a[~np.isnan(a)])


def nanquantile(a: Any, q: Any) -> Any:
    """``np.nanquantile`` of all elements."""
    return quantile(a[~np.isnan(a)], q)


def nanpercentile(a: Any, q: Any) -> Any:
    """``np.nanpercentile`` of all elements."""
    return percentile(a[~np.isnan(a)], q)


def nanprod(a: Any, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.nanprod``: what is not a number counts as one."""
    return np.prod(np.where(np.isnan(a), 1.0, a), axis=axis, keepdims=keepdims)


def nanvar(a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """``np.nanvar`` of the elements that are numbers."""
    middle = np.nanmean(a, axis=axis, keepdims=True)
    apart = np.where(np.isnan(a), middle, a) - middle
    count = np.sum(np.where(np.isnan(a), np.zeros_like(a), np.ones_like(a)), axis=axis, keepdims=keepdims)
    return np.sum(apart * apart, axis=axis, keepdims=keepdims) / (count - ddof)


def nanstd(a: Any, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """``np.nanstd`` of the elements that are numbers."""
    return np.sqrt(nanvar(a, axis, ddof, keepdims))


def nancumsum(a: Any, axis: Any = None) -> Any:
    """``np.nancumsum``: what is not a number counts as zero."""
    return np.cumsum(np.where(np.isnan(a), 0.0, a), axis=axis)


def nancumprod(a: Any, axis: Any = None) -> Any:
    """``np.nancumprod``: what is not a number counts as one."""
    return np.cumprod(np.where(np.isnan(a), 1.0, a), axis=axis)


def cumulative_sum(x: Any, axis: Any = None, include_initial: Any = False) -> Any:
    """``np.cumulative_sum``."""
    need(axis is not None or np.ndim(x) == 1, "np.cumulative_sum needs an axis")
    made = np.cumsum(x, axis=0 if axis is None else axis)
    if include_initial:
        along = 0 if axis is None else axis
        made = np.moveaxis(made, along, 0)
        return np.moveaxis(np.concatenate([np.zeros_like(made[:1]), made]), 0, along)
    return made


def cumulative_prod(x: Any, axis: Any = None, include_initial: Any = False) -> Any:
    """``np.cumulative_prod``."""
    need(axis is not None or np.ndim(x) == 1, "np.cumulative_prod needs an axis")
    made = np.cumprod(x, axis=0 if axis is None else axis)
    if include_initial:
        along = 0 if axis is None else axis
        made = np.moveaxis(made, along, 0)
        return np.moveaxis(np.concatenate([np.ones_like(made[:1]), made]), 0, along)
    return made


def diff(a: Any, n: Any = None, axis: Any = None) -> Any:
    """``np.diff`` for ``n`` up to 3: differences of neighbours."""
    last = np.ndim(a) == 1 or axis is None or axis == -1
    moved = a if last else np.moveaxis(a, axis, -1)
    made = moved[..., 1:] - moved[..., :-1]
    if n is not None:
        need(1 <= n <= 3, "np.diff is supported for n from 1 to 3")
        if n > 1:
            made = made[..., 1:] - made[..., :-1]
        if n > 2:
            made = made[..., 1:] - made[..., :-1]
    return made if last else np.moveaxis(made, -1, axis)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = None) -> Any:
    """``np.trapezoid``, ``x`` a vector."""
    need(x is None or np.ndim(x) == 1, "np.trapezoid along x that is no vector is not supported")
    moved = y if np.ndim(y) == 1 or axis is None else np.moveaxis(y, axis, -1)
    pairs = moved[..., 1:] + moved[..., :-1]
    if x is None:
        return np.sum(pairs, axis=-1) * dx / 2.0
    return np.sum(pairs * (x[1:] - x[:-1]), axis=-1) / 2.0


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """``np.interp``: linear between the points, constant outside."""
    xp = np.asarray(xp)
    fp = np.asarray(fp)
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
    whole = np.zeros(n + m - 1, dtype=(long[:1] * short[:1]).dtype)
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
    need(np.ndim(spacing) == 0, "np.gradient with coordinates is not supported; give one spacing")
    need(axis is not None or np.ndim(f) == 1, "np.gradient along several axes is not supported; give one axis")
    moved = f if axis is None or np.ndim(f) == 1 else np.moveaxis(f, axis, 0)
    first = np.expand_dims((moved[1] - moved[0]) / spacing, 0)
    last = np.expand_dims((moved[-1] - moved[-2]) / spacing, 0)
    made = np.concatenate([first, (moved[2:] - moved[:-2]) / (2.0 * spacing), last])
    return made if axis is None or np.ndim(f) == 1 else np.moveaxis(made, 0, axis)


def kept(made: Any, x: Any, axis: Any) -> Any:
    """A reduction of ``x`` with the axes it summed over kept at extent 1."""
    if axis is not None:
        return np.expand_dims(made, axis)
    return np.reshape(made, (1,) * np.ndim(x))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = None) -> Any:
    """``np.linalg.norm``: of vectors of any order, of matrices the Frobenius, 1 and infinity norms."""
    if axis is None and np.ndim(x) == 2:
        made = matrix_norm(x, ord)
    else:
        vectors = axis is None and np.ndim(x) == 1 or isinstance(axis, int)
        need(vectors or ord is None or ord == "fro", "this norm of matrices is not supported")
        made = norm_along(x, ord, axis)
    return kept(made, x, axis) if keepdims else made


def matrix_norm(x: Any, ord: Any) -> Any:
    """The norms of a matrix that need no singular values."""
    if ord is None or ord == "fro":
        return np.sqrt(np.sum(x * x))
    need(ord == 1 or ord == math.inf, "this norm of a matrix is not supported")
    return np.max(np.sum(np.abs(x), axis=0 if ord == 1 else 1))


def norm_along(x: Any, ord: Any, axis: Any) -> Any:
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
    made = np.eye(a.shape[-1], dtype=base.dtype)
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
    need(np.ndim(a) == 2, "np.nonzero is supported for vectors and matrices; use np.argwhere")
    return where // a.shape[1], where % a.shape[1]


def atleast_1d(x: Any) -> Any:
    """``np.atleast_1d`` of one operand."""
    return np.reshape(x, (1,)) if np.ndim(x) == 0 else x


def atleast_2d(x: Any) -> Any:
    """``np.atleast_2d`` of one operand."""
    return np.reshape(x, (1, -1)) if np.ndim(x) < 2 else x


def atleast_3d(x: Any) -> Any:
    """``np.atleast_3d`` of one operand."""
    if np.ndim(x) == 0:
        return np.reshape(x, (1, 1, 1))
    if np.ndim(x) == 1:
        return np.expand_dims(x, (0, 2))
    return np.expand_dims(x, 2) if np.ndim(x) == 2 else x


def broadcast_arrays(*args: Any) -> Any:
    """``np.broadcast_arrays``."""
    whole = args[0]
    for a in args[1:]:
        whole = whole + a
    return tuple([np.broadcast_to(a, np.shape(whole)) for a in args])


def joined_rows(parts: Any) -> Any:
    """``np.r_[...]``: numbers and arrays one after the other."""
    return np.concatenate([np.atleast_1d(part) for part in parts])


def joined_columns(parts: Any) -> Any:
    """``np.c_[...]``: vectors are columns."""
    need(np.ndim(parts[0]) < 3, "np.c_ is supported for vectors and matrices")
    return np.concatenate([np.reshape(part, (-1, 1)) if np.ndim(part) < 2 else part for part in parts], axis=1)


def vectorized(function: Any, args: Any) -> Any:
    """``np.vectorize(function)(*args)``: one call for each element."""
    if len(args) == 1 and np.ndim(args[0]) > 0:
        return np.reshape(np.array([function(item) for item in np.ravel(args[0])]), np.shape(args[0]))
    whole = args[0]
    for a in args[1:]:
        whole = whole + a
    if np.ndim(whole) == 0:
        return function(*args)
    flat = [np.ravel(np.broadcast_to(a, np.shape(whole))) for a in args]
    made = [function(*items) for items in zip(*flat)]
    return np.reshape(np.array(made), np.shape(whole))


def vectorized_as_float(function: Any, args: Any) -> Any:
    """The same with ``otypes=[float]``."""
    return 1.0 * vectorized(function, args)


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    """``np.append``: both flat unless an axis is given."""
    if axis is None:
        return np.concatenate([flat(arr), flat(values)])
    return np.concatenate([arr, values], axis=axis)


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """``np.insert`` at one place."""
    need(np.ndim(obj) == 0, "np.insert at several places is not supported")
    rows = flat(arr) if axis is None else np.moveaxis(arr, axis, 0)
    must(abs(obj) <= rows.shape[0], "the place of np.insert is out of bounds")
    new = np.asarray(values, dtype=arr.dtype)
    if np.ndim(rows) == 1:
        return np.concatenate([rows[:obj], np.ravel(new), rows[obj:]])
    one = np.expand_dims(np.broadcast_to(new, np.shape(rows[0])), 0)
    return np.moveaxis(np.concatenate([rows[:obj], one, rows[obj:]]), 0, axis)


def block(arrays: Any) -> Any:
    """``np.block`` of one list or of lists of matrices."""
    need(isinstance(arrays, list), "np.block of an array is not supported")
    if isinstance(arrays[0], list):
        need(not isinstance(arrays[0][0], list), "np.block of lists three deep is not supported")
        return np.concatenate([np.concatenate([atleast_2d(b) for b in row], axis=-1) for row in arrays], axis=-2)
    return np.concatenate([atleast_1d(b) for b in arrays], axis=-1)


def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    """``np.hsplit``."""
    return np.split(ary, indices_or_sections, axis=0 if np.ndim(ary) == 1 else 1)


def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    """``np.vsplit``."""
    return np.split(ary, indices_or_sections, axis=0)


def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    """``np.dsplit``."""
    return np.split(ary, indices_or_sections, axis=2)


def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    """``np.rollaxis``: an axis moved before another."""
    n = np.ndim(a)
    source = axis + n if axis < 0 else axis
    place = start + n if start < 0 else start
    return np.moveaxis(a, source, place - 1 if source < place else place)


def resize(a: Any, new_shape: Any) -> Any:
    """``np.resize``: what is there, over and over."""
    own = flat(a)
    made = np.zeros(new_shape, dtype=int)
    return np.reshape(own[np.arange(np.size(made)) % own.shape[0]], np.shape(made))


def trim_zeros(filt: Any) -> Any:
    """``np.trim_zeros``: without the zeros at both ends."""
    inside = np.flatnonzero(filt)
    return filt[inside[0] : inside[-1] + 1] if inside.shape[0] > 0 else filt[:0]


def diagflat(v: Any, k: int = 0) -> Any:
    """``np.diagflat``."""
    return np.diag(np.ravel(v), k)


def extract(condition: Any, arr: Any) -> Any:
    """``np.extract``."""
    return flat(arr)[np.flatnonzero(condition)]


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """``np.select``: of the first condition that holds."""
    made = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        made = np.where(condition, choice, made)
    return made


def piecewise(x: Any, condlist: Any, funclist: Any) -> Any:
    """``np.piecewise``: each function where its condition holds, the last one elsewhere."""
    if not isinstance(condlist, list | tuple):
        need(np.ndim(condlist) == np.ndim(x), "the conditions of np.piecewise must be a list")
        condlist = [condlist]
    made = np.zeros_like(x)
    if len(funclist) > len(condlist):
        rest = np.ones_like(x, dtype=bool)
        for condition in condlist:
            rest = rest & ~condition
        made[rest] = funclist[-1](x[rest]) if callable(funclist[-1]) else funclist[-1]
    for condition, function in zip(condlist, funclist):
        made[condition] = function(x[condition]) if callable(function) else function
    return made


def partition(a: Any, kth: Any, axis: int = -1) -> Any:
    """``np.partition``."""
    return np.take_along_axis(a, np.argpartition(a, kth, axis=axis), axis=axis)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """``np.ediff1d``: differences of neighbours in the flat array."""
    whole = flat(ary)
    made = whole[1:] - whole[:-1]
    if to_begin is not None:
        made = np.concatenate([np.ravel(to_begin), made])
    return made if to_end is None else np.concatenate([made, np.ravel(to_end)])


def union1d(ar1: Any, ar2: Any) -> Any:
    """``np.union1d``."""
    return np.unique(np.concatenate([np.ravel(ar1), np.ravel(ar2)]))


def setdiff1d(ar1: Any, ar2: Any) -> Any:
    """``np.setdiff1d``."""
    own = np.unique(ar1)
    return own[~np.isin(own, ar2)]


def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    """``np.vander``: powers in columns."""
    count = np.shape(x)[0] if N is None else N
    return np.power(np.expand_dims(x, 1), np.arange(count) if increasing else np.arange(count)[::-1])


def polyval(p: Any, x: Any) -> Any:
    """``np.polyval``: the highest power first."""
    made = 0.0 if np.ndim(x) == 0 else np.zeros_like(x)
    for coefficient in p:
        made = made * x + coefficient
    return made


def polyadd(a1: Any, a2: Any) -> Any:
    """``np.polyadd`` of vectors."""
    a1, a2 = np.asarray(a1), np.asarray(a2)
    n, m = a1.shape[0], a2.shape[0]
    if n >= m:
        return np.concatenate([a1[: n - m], a1[n - m :] + a2])
    return np.concatenate([a2[: m - n], a1 + a2[m - n :]])


def polysub(a1: Any, a2: Any) -> Any:
    """``np.polysub`` of vectors."""
    return polyadd(a1, -np.asarray(a2))


def polyfit(x: Any, y: Any, deg: Any) -> Any:
    """``np.polyfit`` of a vector."""
    need(np.ndim(y) == 1, "np.polyfit of several sets of values is not supported")
    powers = vander(x, deg + 1)
    scale = np.sqrt(np.sum(powers * powers, axis=0))
    return np.linalg.pinv(powers / scale) @ y / scale


def poly(seq_of_zeros: Any) -> Any:
    """``np.poly``: the coefficients of the polynomial with these zeros."""
    need(np.ndim(seq_of_zeros) == 1, "np.poly of a matrix is not supported")
    zeros = np.asarray(seq_of_zeros)
    made = np.ones(1, dtype=zeros.dtype)
    none = np.zeros(1, dtype=zeros.dtype)
    for zero in zeros:
        made = np.concatenate([made, none]) - np.concatenate([none, made * zero])
    return made


def polymul(a1: Any, a2: Any) -> Any:
    """``np.polymul`` of vectors."""
    a1, a2 = np.asarray(a1), np.asarray(a2)
    must(a1[0] != 0 and a2[0] != 0, "coefficients that begin with zero are not supported by np.polymul")
    return convolve(a1, a2)


def polyder(p: Any) -> Any:
    """``np.polyder``, once."""
    p = np.asarray(p)
    return p[:-1] * np.arange(p.shape[0] - 1, 0, -1)


def polyint(p: Any) -> Any:
    """``np.polyint``, once."""
    p = np.asarray(p)
    return np.concatenate([p / np.arange(p.shape[0], 0, -1), np.zeros(1)])


def cov(m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None) -> Any:
    """``np.cov``: variables in rows, or in columns."""
    rows = np.reshape(m, (1, -1)) if np.ndim(m) == 1 else m if rowvar else np.transpose(m)
    if y is not None:
        other = np.reshape(y, (1, -1)) if np.ndim(y) == 1 else y if rowvar else np.transpose(y)
        rows = np.concatenate([rows, other])
    rows = np.asarray(rows, dtype=float)
    apart = rows - np.mean(rows, axis=1, keepdims=True)
    lost = (0 if bias else 1) if ddof is None else ddof
    made = apart @ np.transpose(apart) / (rows.shape[1] - lost)
    return np.reshape(made, ()) if np.ndim(m) == 1 and y is None else made


def corrcoef(x: Any, y: Any = None, rowvar: Any = True) -> Any:
    """``np.corrcoef`` of several variables."""
    need(np.ndim(x) == 2 or y is not None, "np.corrcoef of one variable is not supported")
    made = cov(x, y, rowvar)
    scale = np.sqrt(np.diagonal(made))
    return np.clip(made / np.expand_dims(scale, 1) / scale, -1, 1)


def eigvalsh(a: Any) -> Any:
    """``np.linalg.eigvalsh``."""
    return np.linalg.eigh(a)[0]


def vector_norm(x: Any, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """``np.linalg.vector_norm``: of all elements, or along one axis."""
    made = norm_along(np.ravel(x) if axis is None else x, ord, axis)
    return kept(made, x, axis) if keepdims else made


def frobenius_norm(x: Any, keepdims: Any = False, ord: Any = "fro") -> Any:
    """``np.linalg.matrix_norm``: of Frobenius."""
    need(ord == "fro", "this norm of matrices is not supported")
    return np.sqrt(np.sum(x * x, axis=(-2, -1), keepdims=keepdims))


def vecdot(x1: Any, x2: Any, axis: Any = -1) -> Any:
    """``np.vecdot`` of real arrays."""
    return np.sum(x1 * x2, axis=axis)


def matvec(x1: Any, x2: Any) -> Any:
    """``np.matvec``."""
    return np.matmul(x1, np.expand_dims(x2, -1))[..., 0]


def vecmat(x1: Any, x2: Any) -> Any:
    """``np.vecmat`` of real arrays."""
    return np.matmul(np.expand_dims(x1, -2), x2)[..., 0, :]


def apply_along_axis(func1d: Any, axis: Any, arr: Any) -> Any:
    """``np.apply_along_axis`` of vectors and matrices."""
    if np.ndim(arr) == 1:
        return func1d(arr)
    need(np.ndim(arr) == 2, "np.apply_along_axis is supported for vectors and matrices")
    made = np.array([func1d(row) for row in (np.transpose(arr) if axis == 0 or axis == -2 else arr)])
    return np.transpose(made) if np.ndim(made) == 2 and (axis == 0 or axis == -2) else made


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """``np.apply_over_axes``: one axis after the other, each kept."""
    made = a
    for axis in axes:
        less = func(made, axis)
        made = less if np.ndim(less) == np.ndim(made) else np.expand_dims(less, axis)
    return made


def fromfunction(function: Any, shape: Any) -> Any:
    """``np.fromfunction``."""
    places = np.indices(shape).astype(float)
    return function(*[places[k] for k in range(len(shape))])


def ix_(*args: Any) -> Any:
    """``np.ix_`` of integers."""
    return tuple([np.reshape(np.asarray(a), (1,) * k + (-1,) + (1,) * (len(args) - 1 - k)) for k, a in enumerate(args)])


def sliding_window_view(x: Any, window_shape: Any) -> Any:
    """``sliding_window_view`` of a vector; a copy, which is not read after a store to the vector."""
    need(np.ndim(x) == 1 and isinstance(window_shape, int), "sliding_window_view is supported for vectors")
    return may_share(x, x[np.expand_dims(np.arange(x.shape[0] - window_shape + 1), 1) + np.arange(window_shape)])


def may_share(x: Any, y: Any) -> Any:
    """``y``, which NumPy makes a view of ``x``: after a store to one the other is not read."""
    return y


def fill_diagonal(a: Any, val: Any) -> None:
    """``np.fill_diagonal`` of a matrix, in place."""
    need(np.ndim(a) == 2, "np.fill_diagonal is supported for matrices")
    places = np.arange(min(a.shape[0], a.shape[1]))
    a[places, places] = val


def put(a: Any, ind: Any, v: Any) -> None:
    """``np.put`` into a vector or matrix, counted by rows: one value, or as many as places."""
    if np.ndim(a) == 1:
        a[np.asarray(ind)] = v
    else:
        need(np.ndim(a) == 2, "np.put is supported for vectors and matrices; index the array")
        places = np.asarray(ind)
        a[places // a.shape[1], places % a.shape[1]] = v


def putmask(a: Any, mask: Any, values: Any) -> None:
    """``np.putmask``: one value, or an array of the same shape."""
    a[mask] = values if np.ndim(values) == 0 else values[mask]


def place(arr: Any, mask: Any, vals: Any) -> None:
    """``np.place``: one value, or as many as places."""
    arr[mask] = vals


def put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """``np.put_along_axis`` of vectors and matrices, in place."""
    if np.ndim(arr) == 1:
        arr[indices] = values
    elif axis == 0:
        arr[indices, np.arange(arr.shape[1])] = values
    else:
        need(np.ndim(arr) == 2, "np.put_along_axis is supported for vectors and matrices")
        need(axis == 1 or axis == -1, "np.put_along_axis needs the axis 0, 1 or -1")
        arr[np.expand_dims(np.arange(arr.shape[0]), 1), indices] = values


def modf(x: Any) -> Any:
    """``np.modf``: what stands behind the point, and before it."""
    return np.fmod(x, 1.0), np.trunc(x)


def angle(z: Any, deg: Any = False) -> Any:
    """``np.angle`` of real numbers: 0 or pi."""
    made = np.arctan2(np.imag(z), np.real(z))
    return np.rad2deg(made) if deg else made


def isscalar(element: Any) -> Any:
    """``np.isscalar``."""
    return not isinstance(element, np.ndarray | list | tuple)


def outer_of(function: Any, a: Any, b: Any) -> Any:
    """The ``outer`` of a function of two operands."""
    return function(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b)


def logaddexp_reduce(x: Any, axis: Any = 0) -> Any:
    """``np.logaddexp.reduce``."""
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.log(np.sum(np.exp(x - top), axis=axis)) + np.squeeze(top, axis=axis)


def copied(x: Any) -> Any:
    """``copy.deepcopy`` of an array."""
    need(isinstance(x, np.ndarray), "only arrays can be copied with copy.deepcopy")
    return x.copy()


def copied_once(x: Any) -> Any:
    """``copy.copy`` of an array, a list or a dict."""
    return x.copy()


def sorted_(iterable: Any, reverse: Any = False) -> Any:
    """``sorted`` of numbers."""
    made = np.sort(np.asarray(iterable))
    return list(made[::-1]) if reverse else list(made)


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
    np.vstack: vstack, np.hstack: hstack, np.dstack: dstack, np.column_stack: column_stack, np.ptp: ptp, np.inner: inner,
    np.vdot: vdot, np.kron: kron, np.cross: cross, np.average: average, np.diff: diff, np.trapezoid: trapezoid,
    np.interp: interp, np.convolve: convolve, np.correlate: correlate, np.gradient: gradient, np.linalg.norm: norm,
    np.linalg.eigvalsh: eigvalsh, np.poly: poly,
    np.linalg.matrix_power: matrix_power, np.linalg.multi_dot: multi_dot, np.logspace: logspace, np.geomspace: geomspace,
    np.meshgrid: meshgrid, np.nonzero: nonzero, np.atleast_1d: atleast_1d, np.atleast_2d: atleast_2d, np.rot90: rot90, np.divmod: divmod_,
    math.dist: dist, np.percentile: percentile, np.quantile: quantile, np.nanmedian: nanmedian, np.nanquantile: nanquantile,
    np.nanpercentile: nanpercentile, np.nanprod: nanprod, np.nanvar: nanvar, np.nanstd: nanstd, np.nancumsum: nancumsum,
    np.nancumprod: nancumprod, np.atleast_3d: atleast_3d, np.broadcast_arrays: broadcast_arrays, np.append: append, np.insert: insert,
    np.block: block, np.hsplit: hsplit, np.vsplit: vsplit, np.dsplit: dsplit, np.rollaxis: rollaxis, np.resize: resize,
    np.trim_zeros: trim_zeros, np.diagflat: diagflat, np.extract: extract, np.select: select, np.piecewise: piecewise,
    np.partition: partition, np.ediff1d: ediff1d, np.union1d: union1d, np.setdiff1d: setdiff1d, np.vander: vander, np.polyval: polyval,
    np.polymul: polymul, np.polyadd: polyadd, np.polysub: polysub, np.polyfit: polyfit,
    np.apply_over_axes: apply_over_axes, np.polyder: polyder, np.polyint: polyint, np.cov: cov, np.corrcoef: corrcoef,
    np.apply_along_axis: apply_along_axis, np.fromfunction: fromfunction, np.ix_: ix_, np.fill_diagonal: fill_diagonal, np.put: put,
    np.putmask: putmask, np.place: place, np.put_along_axis: put_along_axis, np.modf: modf, np.angle: angle, np.isscalar: isscalar,
    np.lib.stride_tricks.sliding_window_view: sliding_window_view, copy.copy: copied_once, copy.deepcopy: copied, sorted: sorted_,
}  # fmt: skip
#: functions that older versions of NumPy do not have, or newer ones not any more
VERSIONED: dict[str, Callable[..., Any]] = {
    "cumulative_sum": cumulative_sum, "cumulative_prod": cumulative_prod, "vecdot": vecdot, "matvec": matvec, "vecmat": vecmat,
    "row_stack": vstack,
}  # fmt: skip
VERSIONED_LINALG: dict[str, Callable[..., Any]] = {
    "vecdot": vecdot, "cross": cross, "vector_norm": vector_norm, "matrix_norm": frobenius_norm,
}  # fmt: skip
for _where, _table in ((np, VERSIONED), (np.linalg, VERSIONED_LINALG)):
    COMPOSED.update({getattr(_where, name): function for name, function in _table.items() if name in vars(_where)})
