"""Differences, sums and filters along an axis."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, inexact, must, need


def cumulative_sum(x: Numbers, axis: Any = None, include_initial: Any = False) -> Any:
    """``np.cumulative_sum``."""
    need(axis is not None or np.ndim(x) == 1, "np.cumulative_sum needs an axis")
    sums = np.cumsum(x, axis=0 if axis is None else axis)
    return begun_with(0, sums, 0 if axis is None else axis) if include_initial else sums


def cumulative_prod(x: Numbers, axis: Any = None, include_initial: Any = False) -> Any:
    """``np.cumulative_prod``."""
    need(axis is not None or np.ndim(x) == 1, "np.cumulative_prod needs an axis")
    products = np.cumprod(x, axis=0 if axis is None else axis)
    return begun_with(1, products, 0 if axis is None else axis) if include_initial else products


def begun_with(first: Any, array: Numbers, axis: Any) -> Any:
    """An array with one more number along an axis, before all others."""
    moved = np.moveaxis(array, axis, 0)
    return np.moveaxis(np.concatenate([np.full((1, *moved.shape[1:]), first, dtype=moved.dtype), moved]), 0, axis)


def diff(a: Numbers, n: Any = None, axis: Any = None, prepend: Numbers = None, append: Numbers = None) -> Any:
    """``np.diff`` for ``n`` up to 5: differences of neighbours."""
    if n is not None and n == 0:
        return a
    if prepend is not None or append is not None:
        place = (-1 if axis is None else axis) % np.ndim(a)
        if prepend is not None:
            a = np.concatenate([beside(prepend, a, place), a], axis=place)
        if append is not None:
            a = np.concatenate([a, beside(append, a, place)], axis=place)
    last = np.ndim(a) == 1 or axis is None or axis == -1
    moved = a if last else np.moveaxis(a, axis, -1)
    differences = steps_between(moved)
    if n is not None:
        need(1 <= n <= 5, "np.diff is supported for n up to 5")
        if n > 1:
            differences = steps_between(differences)
        if n > 2:
            differences = steps_between(differences)
        if n > 3:
            differences = steps_between(differences)
        if n > 4:
            differences = steps_between(differences)
    return differences if last else np.moveaxis(differences, -1, axis)


def beside(value: Numbers, a: Any, axis: int) -> Any:
    """Return an array to be joined along an axis; a number is broadcast over the other axes."""
    if np.ndim(value) > 0:
        return value
    return np.broadcast_to(value, tuple([1 if k == axis else extent for k, extent in enumerate(np.shape(a))]))


def steps_between(a: Numbers) -> Any:
    """The differences of neighbours along the last axis; of bools whether they differ."""
    if a.dtype.kind == "b":
        return a[..., 1:] != a[..., :-1]
    return a[..., 1:] - a[..., :-1]


def trapezoid(y: Numbers, x: Numbers = None, dx: Any = 1.0, axis: Any = None) -> Any:
    """``np.trapezoid``: ``x`` is a vector or has the rank of ``y``; ``dx`` is a number or broadcasts with the steps."""
    if np.ndim(dx) > 0 and x is None or x is not None and np.ndim(x) != 1:
        along = -1 if axis is None else axis
        steps = dx if x is None else diff(x, axis=along)
        front = np.moveaxis(y, along, 0)
        return np.sum(steps * np.moveaxis(front[1:] + front[:-1], 0, along) / 2.0, axis=along)
    moved = y if np.ndim(y) == 1 or axis is None else np.moveaxis(y, axis, -1)
    pairs = moved[..., 1:] + moved[..., :-1]
    if x is None:
        return np.sum(pairs, axis=-1) * dx / 2.0
    return np.sum(pairs * steps_between(x), axis=-1) / 2.0


def interp(x: Numbers, xp: Numbers, fp: Numbers, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """``np.interp``: linear between the points, constant outside, in float64; of points with equal abscissa the last one counts."""
    x, xp, fp = in_double(x), in_double(xp), in_double(fp)
    inside = interp_between(x, xp, fp) if period is None else interp_around(x, xp, fp, period)
    if left is not None and period is None:
        inside = np.where(x < xp[0], left, inside)
    if right is not None and period is None:
        inside = np.where(x > xp[-1], right, inside)
    return inside[()] if np.ndim(x) == 0 else inside


def in_double(x: Any) -> Any:
    """Numbers as float64."""
    return float(x) if np.ndim(x) == 0 else np.asarray(x, dtype=float)


def interp_between(x: Numbers, xp: Numbers, fp: Numbers) -> Any:
    """Return the value on the line through two points, computed from the upper point where the lower one yields NaN.

    Outside the range the two points are one: the first or the last.
    """
    must(xp.shape[0] > 0, "array of sample points is empty")
    must(xp.shape[0] == fp.shape[0], "fp and xp are not of the same length.")
    place = np.searchsorted(xp, x, side="right")
    below, above = np.maximum(place - 1, 0), np.minimum(place, xp.shape[0] - 1)
    within = np.clip(x, xp[0], xp[-1])
    slope = (fp[above] - fp[below]) / np.where(below == above, 1.0, xp[above] - xp[below])
    from_below = fp[below] + slope * (within - xp[below])
    flat = (fp[below] == fp[above]) & ((x == x) | (xp.shape[0] == 1))
    from_above = np.where((within == xp[below]) | flat, fp[below], fp[above] + slope * (within - xp[above]))
    return np.where(np.isnan(from_below), from_above, from_below)  # where a point or a value is infinite


def interp_around(x: Numbers, xp: Numbers, fp: Numbers, period: Any) -> Any:
    """``np.interp`` with a period: the last point also precedes the first."""
    length = abs(period)
    must(length > 0, "period must be a non-zero value")
    must(xp.shape[0] == fp.shape[0], "fp and xp are not of the same length")
    places = xp % length
    order = np.argsort(places)
    places, values = places[order], fp[order]
    wider = np.concatenate([places[-1:] - length, places, places[:1] + length])
    return interp_between(x % length, wider, np.concatenate([values[-1:], values, values[:1]]))


def convolve_within(a: Numbers, v: Numbers, mode: str = "full") -> Any:
    """A part of ``np.convolve``: as long as the longer vector, or where the shorter vector is inside it."""
    a, v = np.atleast_1d(a), np.atleast_1d(v)
    whole = np.convolve(a, v)
    n, m = max(len(a), len(v)), min(len(a), len(v))
    if mode == "full":
        return whole
    if mode == "same":
        return whole[(m - 1) // 2 : (m - 1) // 2 + n]
    return whole[m - 1 : n]


def correlate(a: Numbers, v: Numbers, mode: str = "valid") -> Any:
    """``np.correlate`` of real vectors; if the second is longer, they are exchanged and the result is reversed."""
    if mode == "same" and len(a) < len(v):
        return np.convolve(v, a[::-1], "same")[::-1]
    return np.convolve(a, v[::-1], mode)  # type: ignore[call-overload]


def gradient(f: Numbers, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """``np.gradient``: along one axis or several, each with a spacing or with coordinates."""
    axes = tuple(range(np.ndim(f))) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    need(len(varargs) in (0, 1, len(axes)), "np.gradient takes one spacing, or one for each axis")
    need(edge_order in (1, 2), "np.gradient is supported for edge_order 1 and 2; write edge_order=1")
    spacings = (1.0,) * len(axes) if len(varargs) == 0 else varargs if len(varargs) == len(axes) else varargs * len(axes)
    slopes = [slope_along(f, spacing, along, edge_order) for spacing, along in zip(spacings, axes)]
    return slopes[0] if len(axes) == 1 else tuple(slopes)


def slope_along(f: Numbers, spacing: Numbers, axis: int, edge_order: int) -> Any:
    """The differences of ``np.gradient`` along one axis, in the precision of ``f``; of integers in float64."""
    f = inexact(f)
    moved = f if np.ndim(f) == 1 else np.moveaxis(f, axis, 0)
    must(moved.shape[0] > edge_order, "np.gradient needs at least edge_order + 1 elements")
    if np.ndim(spacing) == 0:
        first, last = even_ends(moved, spacing, edge_order)
        inside = (moved[2:] - moved[:-2]) / (2.0 * spacing)
    else:
        need(np.ndim(spacing) == 1, "the coordinates of np.gradient are supported as vectors")
        must(spacing.shape[0] == moved.shape[0], "when 1d, distances must match the length of the corresponding dimension")
        steps = np.reshape(spacing[1:] - spacing[:-1], (-1,) + (1,) * (np.ndim(f) - 1))
        first, last = uneven_ends(moved, steps, edge_order)
        before, after = steps[:-1], steps[1:]
        inside = moved[1:-1] * ((after - before) / (before * after)) - moved[:-2] * (after / (before * (before + after)))
        inside = inside + moved[2:] * (before / (after * (before + after)))
    slopes = np.concatenate([np.expand_dims(first, 0), inside, np.expand_dims(last, 0)])
    slopes = slopes.astype(f.dtype) if f.dtype.kind == "f" and slopes.dtype != f.dtype else slopes
    return slopes if np.ndim(f) == 1 else np.moveaxis(slopes, 0, axis)


def even_ends(moved: Numbers, spacing: Any, edge_order: int) -> Any:
    """The first and the last difference, of points that are evenly spaced."""
    if edge_order == 1:
        return (moved[1] - moved[0]) / spacing, (moved[-1] - moved[-2]) / spacing
    first = (2.0 * moved[1] - 1.5 * moved[0] - 0.5 * moved[2]) / spacing
    return first, (1.5 * moved[-1] - 2.0 * moved[-2] + 0.5 * moved[-3]) / spacing


def uneven_ends(moved: Numbers, steps: Numbers, edge_order: int) -> Any:
    """The first and the last difference, of points with coordinates of their own."""
    near, far = steps[0], steps[-1]
    if edge_order == 1:
        return (moved[1] - moved[0]) / near, (moved[-1] - moved[-2]) / far
    return end_of_three(moved[0], moved[1], moved[2], near, steps[1]), -end_of_three(moved[-1], moved[-2], moved[-3], far, steps[-2])


def end_of_three(a: Numbers, b: Numbers, c: Numbers, near: Any, far: Any) -> Any:
    """The slope at the first of three points, of the parabola through them."""
    both = near + far
    return b * (both / (near * far)) - a * ((near + both) / (near * both)) - c * (near / (far * both))


def linspace_within(
    start: Numbers, stop: Numbers, num: Any = 50, endpoint: Any = True, retstep: Any = False, dtype: Any = None, axis: Any = 0
) -> Any:
    """``np.linspace`` with its step, a dtype, or the axis along which the samples lie."""
    samples = np.moveaxis(np.linspace(start, stop, num, endpoint=endpoint), 0, axis)
    distance = np.subtract(stop, start).astype(samples.dtype)
    if dtype is not None:
        samples = (np.floor(samples) if np.dtype(dtype).kind in "iu" else samples).astype(dtype)
    if not retstep:
        return samples
    count = num - 1 if endpoint else num
    if count > 0:
        return samples, distance / count
    return samples, math.nan


def nan_to_num_within(x: Numbers, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """``np.nan_to_num`` with replacements that are computed."""
    need(copy, "np.nan_to_num is supported where it does not write to its argument; leave copy out")
    if x.dtype.kind not in "fc":
        return np.copy(x)
    limits = np.finfo(x.dtype)
    filled = np.where(np.isnan(x), nan, x)
    filled = np.where(x == np.inf, limits.max if posinf is None else posinf, filled)
    return np.where(x == -np.inf, limits.min if neginf is None else neginf, filled).astype(x.dtype)


def logspace(start: Any, stop: Any, num: int = 50, endpoint: Any = True, base: Any = 10.0) -> Any:
    """``np.logspace``."""
    return np.power(base, np.linspace(start, stop, num, endpoint=endpoint))


def geomspace(start: Any, stop: Any, num: int = 50) -> Any:
    """``np.geomspace`` between numbers of the same sign."""
    start, stop = in_double(start), in_double(stop)
    must(np.all(np.multiply(start, stop) > 0), "np.geomspace is supported between numbers that have the same sign, and are not zero")
    return np.sign(start) * np.exp(np.linspace(np.log(np.abs(start)), np.log(np.abs(stop)), num))


def clip_within(a: Numbers, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """``np.clip`` with bounds by their other names."""
    need(out is None, "out of np.clip is not supported with other arguments")
    return np.clip(a, a_min if min is None else min, a_max if max is None else max)


def isclose_within(a: Numbers, b: Numbers, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    """``np.isclose`` with tolerances that are computed, or with nan equal to nan."""
    b = b * 1.0 if np.asarray(b).dtype.kind == "b" else b
    near = (np.abs(np.asarray(a) - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | (np.asarray(a) == b)
    return near | np.isnan(a) & np.isnan(b) if equal_nan else near


def allclose_within(a: Numbers, b: Numbers, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    """``np.allclose`` with tolerances that are computed, or with nan equal to nan."""
    return bool(np.all(isclose_within(a, b, rtol, atol, equal_nan)))


def modf_of_number(x: Any) -> Any:
    """``math.modf``, which takes one number."""
    behind, before = np.modf(float(x))
    return float(behind), float(before)


def modf(x: Numbers) -> Any:
    """``np.modf``: the fractional and integral parts; integers are converted to floats as by NumPy."""
    kind = np.asarray(x).dtype.kind
    if kind in "iu":
        size = np.fabs(x)
        return size * 0, size * np.sign(x)
    need(kind != "b", "np.modf of bools is not supported")
    behind: Any = np.where(np.isinf(x), np.copysign(0.0, x), np.fmod(x, 1.0))
    return behind[()], np.trunc(x)


def angle(z: Numbers, deg: Any = False) -> Any:
    """``np.angle`` of real numbers: 0 or pi."""
    radians = np.arctan2(0, z)
    return radians * (180 / math.pi) if deg else radians


def divmod_(x: Any, y: Any) -> Any:
    """``np.divmod``."""
    return x // y, x % y


#: NaN is not ordered
UNORDERED = "the order of numbers among which there is a nan depends on how Python sorts"


def largest(x: Any) -> Any:
    """``max`` of the numbers in a vector: of a nan and another number the first stays."""
    extreme = np.max(x)
    if extreme != extreme:
        extreme = x[0]
        for value in x:
            if value > extreme:
                extreme = value
    return extreme


def smallest(x: Any) -> Any:
    """``min`` of the numbers in a vector: of a nan and another number the first stays."""
    extreme = np.min(x)
    if extreme != extreme:
        extreme = x[0]
        for value in x:
            if value < extreme:
                extreme = value
    return extreme


def largest_item(items: Any) -> Any:
    """``max`` of a list of numbers: the item itself, of the class that it has."""
    place = int(np.argmax(np.array(items)))
    extreme = items[place]
    if extreme != extreme:
        extreme = items[0]
        for value in items:
            if value > extreme:
                extreme = value
    return extreme


def smallest_item(items: Any) -> Any:
    """``min`` of a list of numbers: the item itself, of the class that it has."""
    place = int(np.argmin(np.array(items)))
    extreme = items[place]
    if extreme != extreme:
        extreme = items[0]
        for value in items:
            if value < extreme:
                extreme = value
    return extreme


def sorted_numbers(items: Any, reverse: Any) -> Any:
    """``sorted`` of a list of Python's numbers of one class."""
    ordered = np.sort(np.array(items))
    must(not np.any(ordered[-1:] != ordered[-1:]), UNORDERED)
    return ordered[::-1].tolist() if reverse else ordered.tolist()


def sorted_items(items: Any, reverse: Any) -> Any:
    """``sorted`` of a list of numbers of several classes: the items themselves."""
    return ordered_of(items, items, reverse)


def sorted_(iterable: Any, key: Any = None, reverse: Any = False) -> Any:
    """``sorted`` of numbers, or of items with a numeric key; the sort is stable."""
    if key is None:
        ordered = np.sort(np.asarray(iterable))
        must(not np.any(ordered[-1:] != ordered[-1:]), UNORDERED)
        return list(ordered[::-1]) if reverse else list(ordered)
    items = list(iterable)
    keys = np.array([key(item) for item in items])
    need(np.ndim(keys) == 1, "sorted by a key of several numbers needs a known number of items")
    must(not np.any(keys != keys), UNORDERED)
    order = np.argsort(-keys if reverse else keys, kind="stable")
    return [items[k] for k in order]


def ordered_of(items: Any, keys: Any, reverse: Any) -> Any:
    """``sorted`` by a number for each item; of equals the first stays first."""
    numbers = np.array(keys)
    need(np.ndim(numbers) == 1, "sorted by a key of several numbers needs a known number of items")
    must(not np.any(numbers != numbers), UNORDERED)
    order = np.argsort(-numbers if reverse else numbers, kind="stable")
    return [items[k] for k in order]


def most_of(items: Any, keys: Any) -> Any:
    """``max`` by a number for each item."""
    numbers = np.array(keys)
    need(np.ndim(numbers) == 1, "max by a key of several numbers needs a known number of items")
    must(not np.any(numbers != numbers), UNORDERED)
    return items[int(np.argmax(numbers))]


def least_of(items: Any, keys: Any) -> Any:
    """``min`` by a number for each item."""
    numbers = np.array(keys)
    need(np.ndim(numbers) == 1, "min by a key of several numbers needs a known number of items")
    must(not np.any(numbers != numbers), UNORDERED)
    return items[int(np.argmin(numbers))]


def ordered_by(items: Any, columns: Any) -> Any:
    """``sorted`` by several numbers for each item: the first that differ decide."""
    must(not np.any(np.sum(np.array(columns) != np.array(columns))), UNORDERED)
    order = np.lexsort((np.arange(len(items)), *columns[::-1]))
    return [items[k] for k in order]


def most_by(iterable: Any, key: Any) -> Any:
    """``max`` by a key."""
    items = list(iterable)
    keys = np.array([key(item) for item in items])
    need(np.ndim(keys) == 1, "max by a key of several numbers needs a known number of items")
    must(not np.any(keys != keys), UNORDERED)
    return items[int(np.argmax(keys))]


def least_by(iterable: Any, key: Any) -> Any:
    """``min`` by a key."""
    items = list(iterable)
    keys = np.array([key(item) for item in items])
    need(np.ndim(keys) == 1, "min by a key of several numbers needs a known number of items")
    must(not np.any(keys != keys), UNORDERED)
    return items[int(np.argmin(keys))]


def cast(typ: Any, val: Any) -> Any:
    """``typing.cast``."""
    return val
