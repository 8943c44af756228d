"""``np.pad`` for modes and arguments without a row: each axis is extended by concatenation."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, need

#: the modes, each with the argument that it reads
BY_EXTREMES = ("maximum", "minimum")
BY_STATISTICS = (*BY_EXTREMES, "mean", "median")
BY_INDEX = ("edge", "reflect", "symmetric", "wrap")


def pad_within(
    array: Numbers,
    pad_width: Any,
    mode: Any = "constant",
    constant_values: Numbers = None,
    end_values: Numbers = None,
    stat_length: Any = None,
    reflect_type: Any = "even",
) -> Any:
    """``np.pad`` in every mode but ``empty``, whose new elements are undefined; widths and values may be computed."""
    x, count = np.asarray(array), np.ndim(array)
    need(isinstance(mode, str), "np.pad with a function as its mode is not supported")
    need(mode == "constant" or mode == "linear_ramp" or mode in BY_STATISTICS or mode in BY_INDEX, "this mode of np.pad is not supported")
    need(constant_values is None or mode == "constant", "constant_values= of np.pad is read in the mode 'constant'")
    need(end_values is None or mode == "linear_ramp", "end_values= of np.pad is read in the mode 'linear_ramp'")
    need(stat_length is None or mode in BY_STATISTICS, "this mode of np.pad does not read stat_length=")
    need(reflect_type == "even" or mode in ("reflect", "symmetric"), "this mode of np.pad does not read reflect_type=")
    widths = in_pairs(pad_width, count)
    if np.any(widths < 0):
        raise ValueError("index can't contain negative values")
    for axis in range(count):
        before, after = widths[axis, 0], widths[axis, 1]
        along = np.moveaxis(x, axis, 0)
        if mode == "constant" or mode == "linear_ramp":
            ends = in_pairs(
                0 if constant_values is None and end_values is None else constant_values if mode == "constant" else end_values, count
            )
            first, last = between(along, ends[axis, 0], ends[axis, 1], before, after, mode == "linear_ramp")
        else:
            if along.shape[0] == 0 and before + after > 0:
                raise ValueError("can't extend an empty axis using modes other than 'constant' or 'empty'")
            if mode in BY_STATISTICS:
                lengths = None if stat_length is None else in_pairs(stat_length, count)
                least = None if lengths is None else (lengths[axis, 0], lengths[axis, 1])
                first, last = summarised(along, mode, least, before, after)
            else:
                first = continued(along, np.arange(-before, 0), mode, reflect_type)
                last = continued(along, along.shape[0] + np.arange(after), mode, reflect_type)
        x = np.moveaxis(np.concatenate([first, along, last]), 0, axis)
    return x


def in_pairs(value: Numbers, count: int) -> Any:
    """One value, or one before and one after, or such a pair for each axis: as a table with a row for each axis."""
    return np.broadcast_to(np.asarray(value), (count, 2))


def between(x: Any, start: Any, end: Any, before: Any, after: Any, ramp: bool) -> Any:
    """The elements before and after the first axis: a constant, or a linear ramp from a value to the edge."""
    rest = x.shape[1:]
    if not ramp:
        return np.zeros((before, *rest), dtype=x.dtype) + cast(start, x), np.zeros((after, *rest), dtype=x.dtype) + cast(end, x)
    if x.shape[0] == 0 and before + after > 0:
        raise ValueError("can't extend an empty axis using modes other than 'constant' or 'empty'")
    rises = np.reshape(np.arange(before) / np.maximum(before, 1), (-1,) + (1,) * len(rest))
    falls = np.reshape((np.arange(after) / np.maximum(after, 1))[::-1], (-1,) + (1,) * len(rest))
    first, last = start + (x[:1] - start) * rises, end + (x[-1:] - end) * falls
    return (cast(first, x), cast(last, x)) if x.dtype.kind in "fcb" else (cast(np.floor(first), x), cast(np.floor(last), x))


def cast(value: Any, x: Any) -> Any:
    """A value in the dtype of an array."""
    return np.asarray(value).astype(x.dtype)


def summarised(x: Any, mode: str, least: Any, before: Any, after: Any) -> Any:
    """The elements before and after the first axis: a statistic of all elements, or of ``least`` elements at each end."""
    if least is None:
        first, last = x, x
    else:
        if mode in BY_EXTREMES and (least[0] == 0 or least[1] == 0):
            raise ValueError("stat_length of 0 yields no value for padding")
        first, last = x[: least[0]], x[np.maximum(x.shape[0] - least[1], 0) :]
    return np.repeat(statistic(first, mode), before, axis=0), np.repeat(statistic(last, mode), after, axis=0)


def statistic(x: Any, mode: str) -> Any:
    """The statistic of each column in the dtype of the array. Means of integers are rounded; a mean of bools is true unless zero."""
    if mode == "maximum":
        return np.max(x, axis=0, keepdims=True)
    if mode == "minimum":
        return np.min(x, axis=0, keepdims=True)
    middle = np.mean(x, axis=0, keepdims=True) if mode == "mean" else np.median(x, axis=0, keepdims=True)
    return middle.astype(x.dtype) if x.dtype.kind in "fcb" else np.rint(middle).astype(x.dtype)


def continued(x: Any, places: Any, mode: str, reflect_type: str) -> Any:
    """The elements at indices outside the first axis: repeated or reflected; the odd form reflects through the edge values."""
    extent = x.shape[0]
    if mode == "edge" or mode == "wrap":
        return np.take(x, np.clip(places, 0, max(extent - 1, 0)) if mode == "edge" else places % max(extent, 1), axis=0)
    period = max(2 * extent - 2 if mode == "reflect" else 2 * extent, 1)
    forth = places % period
    back = np.where(forth < extent, forth, (period if mode == "reflect" else period - 1) - forth)
    same = np.take(x, back, axis=0)
    if reflect_type == "even":
        return same
    turns = np.reshape(places // period if extent > 1 else 0 * places, (-1,) + (1,) * (np.ndim(x) - 1))
    is_back = np.reshape((forth >= extent).astype(int) if extent > 1 else 0 * forth, (-1,) + (1,) * (np.ndim(x) - 1))
    odd = np.where(is_back == 1, 2 * x[-1:] - same, same) + 2 * turns * (x[-1:] - x[:1])
    return odd.astype(x.dtype)
