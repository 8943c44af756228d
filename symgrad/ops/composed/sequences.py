"""Differences, sums and filters along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need


def cumulative_sum(x: Numbers, axis: Any = None, include_initial: Any = False) -> Any:
    """``np.cumulative_sum``."""
    need(axis is not None or np.ndim(x) == 1, "np.cumulative_sum needs an axis")
    made = np.cumsum(x, axis=0 if axis is None else axis)
    return begun_with(0, made, 0 if axis is None else axis) if include_initial else made


def cumulative_prod(x: Numbers, axis: Any = None, include_initial: Any = False) -> Any:
    """``np.cumulative_prod``."""
    need(axis is not None or np.ndim(x) == 1, "np.cumulative_prod needs an axis")
    made = np.cumprod(x, axis=0 if axis is None else axis)
    return begun_with(1, made, 0 if axis is None else axis) if include_initial else made


def begun_with(first: Any, made: Numbers, axis: Any) -> Any:
    """An array with one more number along an axis, before all others."""
    moved = np.moveaxis(made, axis, 0)
    return np.moveaxis(np.concatenate([np.full_like(moved[:1], first), moved]), 0, axis)


def diff(a: Numbers, n: Any = None, axis: Any = None, prepend: Numbers = None, append: Numbers = None) -> Any:
    """``np.diff`` for ``n`` up to 3: differences of neighbours."""
    if prepend is not None or append is not None:
        need(np.ndim(a) == 1, "prepend and append of np.diff are supported for vectors")
        if prepend is not None:
            a = np.concatenate([np.ravel(prepend), a])
        if append is not None:
            a = np.concatenate([a, np.ravel(append)])
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


def trapezoid(y: Numbers, x: Numbers = None, dx: Any = 1.0, axis: Any = None) -> Any:
    """``np.trapezoid``, ``x`` a vector."""
    need(x is None or np.ndim(x) == 1, "np.trapezoid along x that is no vector is not supported")
    moved = y if np.ndim(y) == 1 or axis is None else np.moveaxis(y, axis, -1)
    pairs = moved[..., 1:] + moved[..., :-1]
    if x is None:
        return np.sum(pairs, axis=-1) * dx / 2.0
    return np.sum(pairs * (x[1:] - x[:-1]), axis=-1) / 2.0


def simpson(y: Numbers, x: Numbers = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """``scipy.integrate.simpson`` of a vector at points that are evenly spaced; the last interval of an even number as Cartwright says."""
    need(x is None, "scipy.integrate.simpson is supported for points that are evenly spaced; give dx")
    need(np.ndim(y) == 1, "scipy.integrate.simpson is supported for vectors")
    must(y.shape[0] > 2, "scipy.integrate.simpson of fewer than three points is not supported")
    odd = y if y.shape[0] % 2 == 1 else y[:-1]
    last = 0.0 if y.shape[0] % 2 == 1 else 5.0 / 12.0 * y[-1] + 2.0 / 3.0 * y[-2] - y[-3] / 12.0
    return dx * ((odd[0] + odd[-1] + 4.0 * np.sum(odd[1:-1:2]) + 2.0 * np.sum(odd[2:-1:2])) / 3.0 + last)


def signal_convolve(in1: Numbers, in2: Numbers, mode: str = "full", method: str = "auto") -> Any:
    """``scipy.signal.convolve`` of vectors, which keeps the extent of the first."""
    need(np.ndim(in1) == 1 and np.ndim(in2) == 1, "scipy.signal.convolve is supported for vectors")
    if mode == "same":
        whole = np.convolve(in1, in2)
        first = (in2.shape[0] - 1) // 2
        return whole[first : first + in1.shape[0]]
    return np.convolve(in1, in2, mode)  # type: ignore[call-overload]


def fftconvolve(in1: Numbers, in2: Numbers, mode: str = "full") -> Any:
    """``scipy.signal.fftconvolve`` of vectors, summed as it is."""
    return signal_convolve(in1, in2, mode)


def interp(x: Numbers, xp: Numbers, fp: Numbers) -> Any:
    """``np.interp``: linear between the points, constant outside."""
    right = np.clip(np.searchsorted(xp, x), 1, xp.shape[0] - 1)
    left = right - 1
    part = np.clip((x - xp[left]) / (xp[right] - xp[left]), 0.0, 1.0)
    return fp[left] + part * (fp[right] - fp[left])


def convolve(a: Numbers, v: Numbers, mode: str = "full") -> Any:
    """``np.convolve``: the shorter vector slides over the longer."""
    if a.shape[0] < v.shape[0]:
        long, short = v, a
    else:
        long, short = a, v
    n, m = long.shape[0], short.shape[0]
    whole = np.zeros(n + m - 1, dtype=(a[:1] * v[:1]).dtype)
    for k in range(m):
        whole[k : k + n] += short[k] * long
    if mode == "full":
        return whole
    if mode == "same":
        return whole[(m - 1) // 2 : (m - 1) // 2 + n]
    return whole[m - 1 : n]


def correlate(a: Numbers, v: Numbers, mode: str = "valid") -> Any:
    """``np.correlate`` of real vectors, the first the longer."""
    return np.convolve(a, v[::-1], mode)  # type: ignore[call-overload]


def gradient(f: Numbers, spacing: Any = 1.0, axis: Any = None) -> Any:
    """``np.gradient`` along one axis with even spacing."""
    need(np.ndim(spacing) == 0, "np.gradient with coordinates is not supported; give one spacing")
    need(axis is not None or np.ndim(f) == 1, "np.gradient along several axes is not supported; give one axis")
    moved = f if axis is None or np.ndim(f) == 1 else np.moveaxis(f, axis, 0)
    first = np.expand_dims((moved[1] - moved[0]) / spacing, 0)
    last = np.expand_dims((moved[-1] - moved[-2]) / spacing, 0)
    made = np.concatenate([first, (moved[2:] - moved[:-2]) / (2.0 * spacing), last])
    return made if axis is None or np.ndim(f) == 1 else np.moveaxis(made, 0, axis)


def logspace(start: Any, stop: Any, num: int = 50, endpoint: Any = True, base: Any = 10.0) -> Any:
    """``np.logspace``."""
    return np.power(base, np.linspace(start, stop, num, endpoint=endpoint))


def geomspace(start: Any, stop: Any, num: int = 50) -> Any:
    """``np.geomspace`` between positive numbers."""
    return np.exp(np.linspace(np.log(start), np.log(stop), num))


def modf(x: Numbers) -> Any:
    """``np.modf``: what stands behind the point, and before it."""
    return np.fmod(x, 1.0), np.trunc(x)


def angle(z: Numbers, deg: Any = False) -> Any:
    """``np.angle`` of real numbers: 0 or pi."""
    made = np.arctan2(np.imag(z), np.real(z))
    return np.rad2deg(made) if deg else made


def divmod_(x: Any, y: Any) -> Any:
    """``np.divmod``."""
    return x // y, x % y


def dist(p: Any, q: Any) -> Any:
    """``math.dist``."""
    total = 0.0
    for a, b in zip(p, q):
        total = total + (a - b) * (a - b)
    return math.sqrt(total)


def sorted_(iterable: Any, key: Any = None, reverse: Any = False) -> Any:
    """``sorted`` of numbers, or of what a key gives a number for; of equals the first stays first."""
    if key is None:
        made = np.sort(np.asarray(iterable))
        return list(made[::-1]) if reverse else list(made)
    items = list(iterable)
    keys = np.array([key(item) for item in items])
    order = np.lexsort((np.arange(len(items)), -keys if reverse else keys))
    return [items[k] for k in order]


def most_by(iterable: Any, key: Any) -> Any:
    """``max`` by a key."""
    items = list(iterable)
    return items[int(np.argmax(np.array([key(item) for item in items])))]


def least_by(iterable: Any, key: Any) -> Any:
    """``min`` by a key."""
    items = list(iterable)
    return items[int(np.argmin(np.array([key(item) for item in items])))]


def logaddexp_reduce(x: Numbers, axis: Any = 0) -> Any:
    """``np.logaddexp.reduce``."""
    top = np.max(x, axis=axis, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.log(np.sum(np.exp(x - top), axis=axis)) + np.squeeze(top, axis=axis)
