"""The truncated normal distribution of ``scipy.stats``, with bounds in units of the standard deviation.

Formulas: Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions, volume 1 (1994), chapter 13; the logarithms are of the tail
that is the smaller, so that none cancels.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers
from symgrad.ops.composed.special import log_ndtr_row, ndtr_row, ndtri_exp_row

HALF_LOG = 0.5 * math.log(2 * math.pi)


def log_difference(p: Any, q: Any) -> Any:
    """The logarithm of ``exp(p) - exp(q)``, for ``q`` below ``p``."""
    return p + np.log1p(-np.exp(q - p))


def log_sum(p: Any, q: Any) -> Any:
    """The logarithm of ``exp(p) + exp(q)``."""
    return np.logaddexp(p, q)


def log_mass(a: Any, b: Any) -> Any:
    """The logarithm of the normal probability between two bounds."""
    below, above = b <= 0, a > 0
    between = ~below & ~above
    left = log_difference(log_ndtr_row(np.where(below, b, -1.0)), log_ndtr_row(np.where(below, a, -2.0)))
    right = log_difference(log_ndtr_row(np.where(above, -a, -1.0)), log_ndtr_row(np.where(above, -b, -2.0)))
    both = np.log1p(-ndtr_row(np.where(between, a, -1.0)) - ndtr_row(np.where(between, -b, -1.0)))
    return np.where(below, left, np.where(above, right, both))


def inside(z: Any, a: Any, b: Any) -> Any:
    """Return a point between the bounds: the midpoint, or a point next to a finite bound."""
    low, high = np.where(np.isfinite(a), a, np.minimum(b, 0.0) - 2.0), np.where(np.isfinite(b), b, np.maximum(a, 0.0) + 2.0)
    return np.where((a < z) & (z < b), z, 0.5 * low + 0.5 * high)


def fitting(a: Any, b: Any, z: Any) -> Any:
    """Whether the bounds are valid, and ``z`` is not NaN."""
    return (a < b) & (z == z)


def truncnorm_logpdf(x: Numbers, a: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    within = (a <= z) & (z <= b)
    y = np.where(within, z, inside(z, a, b))
    height = np.where(within, -0.5 * y * y - HALF_LOG - log_mass(a, b) - np.log(scale), -math.inf)
    return np.where(fitting(a, b, z), height, math.nan)[()]


def truncnorm_logcdf(x: Numbers, a: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    z = (x - loc) / scale
    y, mass = inside(z, a, b), log_mass(a, b)
    share = log_mass(a, y) - mass
    near = share > -0.1  # where the complement of the other tail is more accurate
    share = np.where(near, np.log1p(-np.exp(np.where(near, log_mass(y, b) - mass, -1.0))), share)
    return np.where(fitting(a, b, z), np.where(z >= b, 0.0, np.where(z <= a, -math.inf, share)), math.nan)[()]


def truncnorm_cdf(x: Numbers, a: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return np.exp(truncnorm_logcdf(x, a, b, loc, scale))


def truncnorm_logsf(x: Numbers, a: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return truncnorm_logcdf(-x, -b, -a, -loc, scale)


def truncnorm_sf(x: Numbers, a: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return np.exp(truncnorm_logsf(x, a, b, loc, scale))


def truncnorm_ppf(q: Numbers, a: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    share = np.where((q > 0) & (q < 1), q, 0.5)
    mass, left = log_mass(a, b), a < 0
    from_left = ndtri_exp_row(log_sum(log_ndtr_row(np.where(left, a, -1.0)), np.log(share) + mass))
    from_right = -ndtri_exp_row(log_sum(log_ndtr_row(np.where(left, -1.0, -b)), np.log1p(-share) + mass))
    place = np.where(left, from_left, from_right)
    ends = np.where(q == 0, a, np.where(q == 1, b, math.nan))
    return (np.where(fitting(a, b, q), np.where((q > 0) & (q < 1), place, ends), math.nan) * scale + loc)[()]


def truncnorm_isf(q: Numbers, a: Numbers, b: Numbers, loc: Numbers = 0, scale: Numbers = 1) -> Any:
    return loc - scale * truncnorm_ppf(q, -b, -a)


TRUNCATED: dict[str, Any] = {
    function.__name__.removeprefix("truncnorm_"): function
    for function in (truncnorm_logpdf, truncnorm_cdf, truncnorm_logcdf, truncnorm_sf, truncnorm_logsf, truncnorm_ppf, truncnorm_isf)
}
