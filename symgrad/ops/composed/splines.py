"""Splines of SciPy with active ordinates: computes the slopes at the knots, from which SciPy's own source builds the cubic pieces.

The parts of its piecewise polynomials that SciPy computes in Cython are here too, for that source. C. de Boor, A Practical Guide to
Splines (1978), chapter IV.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need


def evaluate(c: Any, x: Any, xp: Any, nu: Any, extrapolate: Any, out: Any) -> None:
    """The values at points, or those of a derivative, of polynomials between breakpoints; the highest power first."""
    need(isinstance(nu, int) and nu >= 0, "the order of a derivative of a spline is supported as an integer that is known")
    pieces, degree = np.shape(c)[1], np.shape(c)[0] - 1
    place = np.clip(np.searchsorted(x, xp, side="right") - 1, 0, pieces - 1)
    beyond = (xp - x[place])[:, None]
    total = np.zeros((np.shape(xp)[0], np.shape(c)[2]))
    for k in range(degree - nu + 1):
        power = degree - k
        total = total * beyond + c[k, place] * (math.factorial(power) // math.factorial(power - nu))
    if not extrapolate:
        inside = (x[0] <= xp) & (xp <= x[-1])
        total = np.where(inside[:, None], total, math.nan)
    out[...] = np.where(np.isnan(xp)[:, None], math.nan, total)


def prepare_input(x: Any, y: Any, axis: Any, dydx: Any = None, xp: Any = None) -> Any:
    """Knots, the distances between them, heights and slopes with their axis in front, as classes of cubic splines take them."""
    x, y = np.asarray(x, dtype=float), np.asarray(y)
    need(np.ndim(x) == 1, "`x` must be 1-dimensional.")
    need(y.dtype.kind != "c", "a spline of complex heights is not supported")
    axis, heights = axis % np.ndim(y), y.astype(float)
    if np.shape(x)[0] < 2:
        raise ValueError("`x` must contain at least 2 elements.")
    if np.shape(x)[0] != np.shape(y)[axis]:
        raise ValueError("The length of `y` along `axis` doesn't match the length of `x`")
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(heights))):
        raise ValueError("`x` and `y` must contain only finite values.")
    if np.any(x[1:] <= x[:-1]):
        raise ValueError("`x` must be strictly increasing sequence.")
    slopes = None if dydx is None else np.moveaxis(np.asarray(dydx).astype(float), axis, 0)
    return x, x[1:] - x[:-1], np.moveaxis(heights, axis, 0), axis, slopes


#: names of the boundary conditions of a spline, by the order and the value of the derivative
ENDS: dict[str, Any] = {"clamped": (1, 0.0), "natural": (2, 0.0), "not-a-knot": "not-a-knot"}


def end_of(condition: Any) -> Any:
    """A condition at one end: that the second knot is none, or a derivative and its value."""
    if isinstance(condition, str):
        need(condition in ENDS, "a spline is supported with the ends 'not-a-knot', 'clamped' and 'natural', or by derivatives")
        return ENDS[condition]
    need(condition[0] in (1, 2), "The specified derivative order must be 1 or 2.")
    return condition


def slopes_at_knots(x: Any, y: Any, first: Any, last: Any) -> Any:
    """The slopes of a cubic spline, by the equations that its second derivative is continuous, and one at each end."""
    count = np.shape(x)[0]
    step, rise = x[1:] - x[:-1], np.reshape(x[1:] - x[:-1], (-1,) + (1,) * (np.ndim(y) - 1))
    slope = (y[1:] - y[:-1]) / rise
    matrix, right = np.zeros((count, count)), np.zeros(np.shape(y))
    inner = np.arange(1, count - 1)
    matrix[inner, inner - 1] = step[1:]
    matrix[inner, inner] = 2.0 * (step[:-1] + step[1:])
    matrix[inner, inner + 1] = step[:-1]
    right[1:-1] = 3.0 * (rise[1:] * slope[:-1] + rise[:-1] * slope[1:])
    if isinstance(first, str):
        both = x[2] - x[0]
        matrix[0, 0], matrix[0, 1] = step[1], both
        right[0] = ((step[0] + 2.0 * both) * step[1] * slope[0] + step[0] ** 2 * slope[1]) / both
    elif first[0] == 1:
        matrix[0, 0] = 1.0
        right[0] = first[1]
    else:
        matrix[0, 0], matrix[0, 1] = 2.0 * step[0], step[0]
        right[0] = 3.0 * (y[1] - y[0]) - 0.5 * first[1] * step[0] ** 2
    if isinstance(last, str):
        both = x[-1] - x[-3]
        matrix[-1, -1], matrix[-1, -2] = step[-2], both
        right[-1] = (step[-1] ** 2 * slope[-2] + (2.0 * both + step[-1]) * step[-2] * slope[-1]) / both
    elif last[0] == 1:
        matrix[-1, -1] = 1.0
        right[-1] = last[1]
    else:
        matrix[-1, -1], matrix[-1, -2] = 2.0 * step[-1], step[-1]
        right[-1] = 3.0 * (y[-1] - y[-2]) + 0.5 * last[1] * step[-1] ** 2
    flat = np.linalg.solve(matrix, np.reshape(right, (count, -1)))
    return np.reshape(flat, np.shape(y))


def cubic_spline(x: Numbers, y: Numbers, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None) -> Any:
    """``scipy.interpolate.CubicSpline`` along the first axis."""
    need(axis == 0 or np.ndim(y) == 1, "scipy.interpolate.CubicSpline is supported along the first axis")
    x, heights = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    first, last = (end_of(bc_type), end_of(bc_type)) if isinstance(bc_type, str) else (end_of(bc_type[0]), end_of(bc_type[1]))
    least = 3 if isinstance(first, str) or isinstance(last, str) else 1
    must(np.shape(x)[0] > least and np.shape(x)[0] == np.shape(y)[0], "a spline takes a height at each knot, and more than three knots")
    slopes = slopes_at_knots(x, heights, first, last)
    return sys.modules["scipy.interpolate"].CubicHermiteSpline(x, heights, slopes, 0, True if extrapolate is None else extrapolate)


def interpolating_spline(
    x: Numbers, y: Numbers, k: Any = 3, t: Any = None, bc_type: Any = None, axis: Any = 0, check_finite: Any = True
) -> Any:
    """``scipy.interpolate.make_interp_spline`` of the degrees 1 and 3, as the same piecewise polynomial."""
    need(t is None, "t of scipy.interpolate.make_interp_spline is not supported")
    need(k == 3 or k == 1 and bc_type is None, "scipy.interpolate.make_interp_spline is supported for k=3 and k=1")
    if k == 3:
        return cubic_spline(x, y, axis, "not-a-knot" if bc_type is None else bc_type)
    need(axis == 0 or np.ndim(y) == 1, "scipy.interpolate.make_interp_spline is supported along the first axis")
    x, heights = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    rise = (heights[1:] - heights[:-1]) / np.reshape(x[1:] - x[:-1], (-1,) + (1,) * (np.ndim(y) - 1))
    return sys.modules["scipy.interpolate"].PPoly(np.stack([rise, heights[:-1]]), x)


SPLINES: dict[str, Callable[..., Any]] = {"CubicSpline": cubic_spline, "make_interp_spline": interpolating_spline}
#: functions of the modules of SciPy's splines
PIECES: dict[str, Callable[..., Any]] = {"evaluate": evaluate}
CUBIC: dict[str, Callable[..., Any]] = {"prepare_input": prepare_input}
