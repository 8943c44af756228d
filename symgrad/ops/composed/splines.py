"""What SciPy's classes of piecewise polynomials compute in Cython, for their source in Python, which is read."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import need


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


PIECES: dict[str, Callable[..., Any]] = {"evaluate": evaluate}
