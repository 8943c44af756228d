"""Filters of ``scipy.signal``: ``lfilter`` is a row that the other recursive filters call; ``detrend`` subtracts a straight line."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.images import convolve1d, for_each_axis, windows_of_size
from symgrad.ops.composed.refusing import Numbers, inexact, must, need


def filtered(b: Any, a: Any, x: Any, axis: Any) -> Any:
    """``lfilter`` at rest: a row where it is inlined."""
    return sys.modules["scipy.signal"].lfilter(b, a, x, axis)


#: the rows of these: their operands, and the call of the row
ROWS_OF: dict[Any, tuple[str, str]] = {filtered: ("b, a, x, axis", "lfilter(b, a, x, axis=axis)")}


def lengthened(x: Any, count: Any, axis: Any) -> Any:
    """Zeros after the last sample."""
    moved = np.moveaxis(x, axis, 0)
    return np.moveaxis(np.concatenate([moved, np.zeros((count, *moved.shape[1:]))]), 0, axis)


def lfilter(b: Numbers, a: Numbers, x: Numbers, axis: Any = -1, zi: Numbers = None) -> Any:
    """``scipy.signal.lfilter``; with a state ``zi``, which acts like samples at the poles alone, also the state afterwards."""
    if zi is None:
        return filtered(b, a, x, axis)
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    need(np.ndim(zi) == np.ndim(x), "zi of scipy.signal.lfilter is supported with as many axes as x")
    poles, zeros = a / a[0], b / a[0]
    count, samples = np.shape(zi)[axis], np.shape(x)[axis]
    must(count == max(len(a), len(b)) - 1, "zi of scipy.signal.lfilter must have max(len(a), len(b)) - 1 elements along the axis")
    state = lengthened(zi, samples, axis)
    first = np.moveaxis(np.moveaxis(state, axis, 0)[:samples], 0, axis)
    y = filtered(b, a, x, axis) + filtered(1.0, poles, first, axis)
    after = filtered(zeros, 1.0, lengthened(x, count, axis), axis) - filtered(poles, 1.0, lengthened(y, count, axis), axis) + state
    return y, np.moveaxis(np.moveaxis(after, axis, 0)[samples:], 0, axis)


def lfilter_zi(b: Numbers, a: Numbers) -> Any:
    """``scipy.signal.lfilter_zi``: the state in which the response to a constant is constant; the filter has at least one state."""
    b, a = np.atleast_1d(b), np.atleast_1d(a)
    need(np.ndim(b) == 1 and np.ndim(a) == 1, "numerator and denominator must be vectors")
    must(a[0] != 0, "scipy.signal.lfilter_zi is supported for a first denominator coefficient that is not 0")
    size = max(len(a), len(b))
    must(size > 1, "scipy.signal.lfilter_zi is supported for filters with a state")
    poles = lengthened(a / a[0], size - len(a), 0)
    zeros = lengthened(b / a[0], size - len(b), 0)
    step = np.eye(size - 1) - np.eye(size - 1, k=1)
    step[:, 0] += poles[1:]
    return np.linalg.solve(step, zeros[1:] - poles[1:] * zeros[0])


def lfiltic(b: Numbers, a: Numbers, y: Numbers, x: Numbers = None) -> Any:
    """``scipy.signal.lfiltic``: the state of a filter after the outputs ``y`` and the inputs ``x``, the latest first."""
    b, a, y = np.atleast_1d(b), np.atleast_1d(a), np.atleast_1d(y)
    need(np.ndim(b) == 1 and np.ndim(a) == 1, "coefficients of scipy.signal.lfiltic must be vectors")
    must(a[0] != 0, "scipy.signal.lfiltic is supported for a first denominator coefficient that is not 0")
    poles, zeros = len(a) - 1, len(b) - 1
    state, y = np.zeros(max(poles, zeros)), lengthened(y, max(poles - len(y), 0), 0)
    for m in range(poles):
        state[m] -= np.sum(a[m + 1 :] * y[: poles - m])
    if x is not None:
        x = lengthened(np.atleast_1d(x), max(zeros - np.size(x), 0), 0)
        for m in range(zeros):
            state[m] += np.sum(b[m + 1 :] * x[: zeros - m])
    return state / a[0]


def sosfilt(sos: Numbers, x: Numbers, axis: Any = -1, zi: Numbers = None) -> Any:
    """``scipy.signal.sosfilt``: the sections in sequence."""
    y = x
    if zi is None:
        for section in sos:
            y = filtered(section[:3], section[3:], y, axis)
        return y
    states = []
    for section, state in zip(sos, zi):
        y, after = lfilter(section[:3], section[3:], y, axis, state)
        states.append(after)
    return y, np.array(states)


def without_line(x: Any) -> Any:
    """Rows less their straight line of least squares: one that is the only one has no slope."""
    count = np.shape(x)[-1]
    place = np.arange(count) - 0.5 * (count - 1)
    slope = np.sum(x * place, axis=-1, keepdims=True) / (1.0 if count == 1 else np.sum(place * place))
    return x - np.mean(x, axis=-1, keepdims=True) - slope * place


def detrend(data: Numbers, axis: Any = -1, type: Any = "linear", bp: Any = 0, overwrite_data: Any = False) -> Any:
    """``scipy.signal.detrend``: less the mean, or less a straight line between each two breaks."""
    need(not overwrite_data, "scipy.signal.detrend is supported where it does not write to its argument")
    need(type in ("linear", "l", "constant", "c"), "trend type must be 'linear' or 'constant'")
    data = inexact(data)
    if type in ("constant", "c"):
        return data - np.mean(data, axis=axis, keepdims=True)
    moved = np.moveaxis(data, axis, -1)
    if isinstance(bp, int) and bp == 0:
        return np.moveaxis(without_line(moved), -1, axis)
    count = np.shape(moved)[-1]
    breaks = np.unique(np.concatenate([np.zeros(1, int), np.atleast_1d(bp), np.full(1, count)]))
    must(np.all(breaks <= count), "breakpoints must be no more than the length of the data along the axis")
    pieces = [without_line(moved[..., breaks[k] : breaks[k + 1]]) for k in range(len(breaks) - 1)]
    return np.moveaxis(np.concatenate(pieces, axis=-1), -1, axis)


def savgol_filter(
    x: Numbers, window_length: Any, polyorder: Any, deriv: Any = 0, delta: Any = 1.0, axis: Any = -1, mode: Any = "interp", cval: Any = 0.0
) -> Any:
    """``scipy.signal.savgol_filter``: sums of neighbours by SciPy's weights, at the ends by those of the last window."""
    coefficients = sys.modules["scipy.signal"].savgol_coeffs
    weights = np.reshape(np.asarray(coefficients(window_length, polyorder, deriv=deriv, delta=delta), dtype=float), (-1,))
    x = inexact(x)
    if mode != "interp":
        return convolve1d(x, weights, axis, None, mode, cval)
    moved = np.moveaxis(x, axis, -1)
    count, half = np.shape(moved)[-1], window_length // 2
    must(window_length <= count, "If mode is 'interp', window_length must be less than or equal to the size of x.")
    inner = convolve1d(moved, weights, -1, None, "constant")
    by_place = [coefficients(window_length, polyorder, deriv=deriv, delta=delta, pos=k, use="dot") for k in range(window_length)]
    at_ends = np.transpose(np.reshape(np.asarray(by_place, dtype=float), (window_length, window_length)))
    first, last = moved[..., :window_length] @ at_ends[:, :half], moved[..., -window_length:] @ at_ends[:, window_length - half :]
    smooth = np.concatenate([first, inner[..., half : count - half], last], axis=-1)
    return np.moveaxis(smooth, -1, axis).astype(x.dtype)


def medfilt(volume: Numbers, kernel_size: Any = None) -> Any:
    """``scipy.signal.medfilt``: the median of the neighbours in a box of odd extents, zeros beyond the edges."""
    sizes = for_each_axis(3 if kernel_size is None else kernel_size, np.ndim(volume))
    must(np.all(np.array(sizes) % 2 == 1), "Each element of kernel_size should be odd.")
    return np.median(windows_of_size(inexact(volume), sizes, "constant", 0.0, 0), axis=-1)


def freqz(
    b: Numbers, a: Numbers = 1, worN: Any = 512, whole: Any = False, plot: Any = None, fs: Any = 2 * math.pi, include_nyquist: Any = False
) -> Any:
    """``scipy.signal.freqz``: the frequency response of a filter (Oppenheim and Schafer, chapter 5)."""
    need(plot is None, "plot of scipy.signal.freqz is not supported")
    need(np.ndim(b) == 1 and np.ndim(a) < 2, "scipy.signal.freqz is supported for vectors of coefficients")
    if worN is None or isinstance(worN, int):
        count = 512 if worN is None else worN
        places = np.linspace(0.0, 2 * math.pi if whole else math.pi, count, endpoint=bool(include_nyquist and not whole))
    else:
        places = 2 * math.pi * np.asarray(worN, dtype=float) / fs
    delay = np.exp(-1j * places)
    response = np.polyval(b[::-1], delay) / np.polyval(np.atleast_1d(a)[::-1], delay)
    return places * fs / (2 * math.pi), response


FILTERS: dict[str, Callable[..., Any]] = {
    "savgol_filter": savgol_filter,
    "lfilter": lfilter,
    "lfilter_zi": lfilter_zi,
    "lfiltic": lfiltic,
    "sosfilt": sosfilt,
    "detrend": detrend,
    "medfilt": medfilt,
    "freqz": freqz,
}
