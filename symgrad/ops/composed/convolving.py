"""Convolutions of ``scipy.signal``: of vectors by NumPy's function, of arrays of any rank by sums over shifted copies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.images import gathered
from symgrad.ops.composed.refusing import Numbers, need
from symgrad.tables import named

#: the names in ``scipy.ndimage`` of the extensions beyond an edge
BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "reflect"}


def whole(x: Any, kernel: Any, mode: Any, cval: Any) -> Any:
    """Return the full convolution, at all offsets with an overlap."""
    rank, around = np.ndim(x), x
    for axis in range(rank - 1, -1, -1):
        count, size = np.shape(x)[axis], np.shape(kernel)[axis]
        places = np.arange(count + size - 1)[:, None] + (np.arange(size) - (size - 1))
        around = gathered(around, axis, places, mode, cval)
    of_windows, of_kernel = tuple([2 * axis + 1 for axis in range(rank)]), tuple(range(rank))
    return np.tensordot(around, np.flip(kernel), axes=(of_windows, of_kernel))


def part(full: Any, first: Any, sizes: Any) -> Any:
    """Return the given number of elements along each axis, from the first on."""
    return full[tuple([slice(start, start + size) for start, size in zip(first, sizes)])]


def cut(full: Any, one: Any, other: Any, mode: Any) -> Any:
    """Return the part of a full convolution that a mode selects, for arrays of these shapes."""
    need(mode in ("full", "same", "valid"), "acceptable mode flags are 'valid', 'same', or 'full'")
    if mode == "full":
        return full
    if mode == "same":
        return part(full, [(size - 1) // 2 for size in other], one)
    larger = [max(n, k) for n, k in zip(one, other)]
    smaller = [min(n, k) for n, k in zip(one, other)]
    return part(full, [k - 1 for k in smaller], [n - k + 1 for n, k in zip(larger, smaller)])


def convolve(in1: Numbers, in2: Numbers, mode: Any = "full", method: Any = "auto") -> Any:
    """``scipy.signal.convolve``; mode ``same`` keeps the extents of the first operand."""
    need(np.ndim(in1) == np.ndim(in2), "in1 and in2 should have the same dimensionality")
    full = np.convolve(in1, in2) if np.ndim(in1) == 1 else whole(in1, in2, "constant", 0.0)
    return cut(full, np.shape(in1), np.shape(in2), mode)


def fftconvolve(in1: Numbers, in2: Numbers, mode: Any = "full", axes: Any = None) -> Any:
    """``scipy.signal.fftconvolve``, computed by direct sums."""
    need(axes is None, "axes of scipy.signal.fftconvolve is not supported")
    return convolve(in1, in2, mode)


def correlate(in1: Numbers, in2: Numbers, mode: Any = "full", method: Any = "auto") -> Any:
    """``scipy.signal.correlate`` of real arrays."""
    return convolve(in1, np.flip(in2), mode)


def convolve2d(in1: Numbers, in2: Numbers, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    """``scipy.signal.convolve2d``, with the extensions beyond the edges of the first operand."""
    need(np.ndim(in1) == 2 and np.ndim(in2) == 2, "convolve2d inputs must both be 2-D arrays")
    need(boundary in ("fill", "wrap", "symm"), "acceptable boundary flags are 'fill', 'circular' (or 'wrap'), and 'symmetric' (or 'symm')")
    return cut(whole(in1, in2, BOUNDARIES[boundary], fillvalue), np.shape(in1), np.shape(in2), mode)


def correlate2d(in1: Numbers, in2: Numbers, mode: Any = "full", boundary: Any = "fill", fillvalue: Any = 0) -> Any:
    """``scipy.signal.correlate2d`` of real matrices; its centre is shifted by one for even extents."""
    full = convolve2d(in1, np.flip(in2), "full", boundary, fillvalue)
    if mode == "same":
        return part(full, [size // 2 for size in np.shape(in2)], np.shape(in1))
    return cut(full, np.shape(in1), np.shape(in2), mode)


CONVOLUTIONS: dict[str, Callable[..., Any]] = named(convolve, fftconvolve, correlate, convolve2d, correlate2d, oaconvolve=fftconvolve)
