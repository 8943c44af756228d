"""Integrals of samples and of functions by the rules of ``scipy.integrate``.

For an even number of points, the last interval of Simpson's rule follows Cartwright, Simpson's Rule Cumulative Integration (2017); for
rules of Gauss see DLMF 3.5(v).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need


def parabolas(y: Any, x: Any, dx: Any) -> Any:
    """Simpson's rule along the last axis, of an odd number of points; ``x`` is None where they are evenly spaced."""
    first, between, last = y[..., :-2:2], y[..., 1:-1:2], y[..., 2::2]
    if x is None:
        return np.sum(first + 4.0 * between + last, axis=-1) * (dx / 3.0)
    before, after = x[..., 1:-1:2] - x[..., :-2:2], x[..., 2::2] - x[..., 1:-1:2]
    both = before + after
    heights = first * (2.0 - after / before) + between * (both * both / (before * after)) + last * (2.0 - before / after)
    return np.sum(both / 6.0 * heights, axis=-1)


def simpson(y: Numbers, x: Numbers = None, *, dx: Any = 1.0, axis: Any = -1) -> Any:
    """``scipy.integrate.simpson``, of points that differ from their neighbours."""
    y = np.moveaxis(np.asarray(y, dtype=float), axis, -1)
    count = np.shape(y)[-1]
    must(count > 0, "scipy.integrate.simpson of no points is not supported")
    if x is not None:
        x = np.moveaxis(x, axis, -1) if np.ndim(x) > 1 else x
        must(np.shape(x)[-1] == count, "scipy.integrate.simpson takes as many points as samples")
        must(np.all(x[..., 1:] != x[..., :-1]), "scipy.integrate.simpson is supported for points that differ from their neighbours")
    if count % 2 == 1:
        return parabolas(y, x, dx)
    step = dx if x is None else x[..., -1] - x[..., -2]
    if count == 2:
        return 0.5 * step * (y[..., 0] + y[..., 1])
    before = dx if x is None else x[..., -2] - x[..., -3]
    whole = parabolas(y[..., :-1], None if x is None else x[..., :-1], dx)
    last = (2.0 * step * step + 3.0 * before * step) / (6.0 * (before + step)) * y[..., -1]
    middle = (step * step + 3.0 * before * step) / (6.0 * before) * y[..., -2]
    return whole + last + middle - step * step * step / (6.0 * before * (before + step)) * y[..., -3]


def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    """``scipy.integrate.fixed_quad``: Gauss's rule between two numbers, of a function of a vector."""
    must(np.isfinite(a) and np.isfinite(b), "Gaussian quadrature is only available for finite limits.")
    places, weights = np.polynomial.legendre.leggauss(n)
    half = (b - a) / 2.0
    return half * np.sum(weights * func((b - a) * (places + 1.0) / 2.0 + a, *args), axis=-1), None


def quad_vec(f: Any, *args: Any, **kwargs: Any) -> None:
    """``scipy.integrate.quad_vec``: refused before its source is read, which takes long and calls itself with other functions."""
    need(False, "scipy.integrate.quad_vec is not supported; integrate each element with scipy.integrate.quad")


INTEGRALS: dict[str, Callable[..., Any]] = {"simpson": simpson, "fixed_quad": fixed_quad, "quad_vec": quad_vec}
