"""Univariate distributions of ``scipy.stats`` without a composition of their own: SciPy's formula inside the support.

``pdf`` and other functions are computed as ``rv_continuous`` and ``rv_discrete`` of SciPy do, from the source of ``_pdf`` and its
counterparts: NaN for invalid parameters, and a constant outside the support. Where SciPy computes no formula but an integral or a root,
the source cannot be lowered, and the call is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, need
from symgrad.tables import named

NO_MOMENT = "SciPy has no formula of this moment, which it integrates"


def middle(low: Any, high: Any) -> Any:
    """A point inside of a support, which may have no end on either side."""
    first = np.where(np.isfinite(low), low, np.where(np.isfinite(high), high - 2.0, -1.0))
    last = np.where(np.isfinite(high), high, first + 2.0)
    return 0.5 * first + 0.5 * last


def can_be(law: Any, shapes: Any) -> Any:
    """Whether the parameters are valid for the distribution."""
    return law._argcheck(*shapes) if len(shapes) > 0 else True


def chosen(valid: Any, inside: Any, value: Any, outside: Any) -> Any:
    """Return the value inside of the support, a constant outside, and NaN for invalid parameters."""
    return np.where(valid, np.where(inside, value, outside), math.nan)[()]


# ------------------------------------------------------------------ of continuous distributions


def pdf(law: Any, x: Numbers, shapes: Any, loc: Any, scale: Any) -> Any:
    z = (x - loc) / scale
    low, high = law._get_support(*shapes)
    inside = law._support_mask(z, *shapes)
    height = law._pdf(np.where(inside, z, middle(low, high))[()], *shapes) / scale
    return chosen(can_be(law, shapes) & (z == z), inside, height, 0.0)


def logpdf(law: Any, x: Numbers, shapes: Any, loc: Any, scale: Any) -> Any:
    z = (x - loc) / scale
    low, high = law._get_support(*shapes)
    inside = law._support_mask(z, *shapes)
    height = law._logpdf(np.where(inside, z, middle(low, high))[()], *shapes) - np.log(scale)
    return chosen(can_be(law, shapes) & (z == z), inside, height, -math.inf)


def share_below(law: Any, x: Numbers, shapes: Any, loc: Any, scale: Any, formula: Any, before: Any, after: Any) -> Any:
    """A distribution function by SciPy's formula, with its values before and after the support."""
    z = (x - loc) / scale
    low, high = law._get_support(*shapes)
    inside = (low < z) & (z < high)
    share = formula(np.where(inside, z, middle(low, high))[()], *shapes)
    return chosen(can_be(law, shapes) & (z == z), inside, share, np.where(z >= high, after, before))


def cdf(law: Any, x: Numbers, shapes: Any, loc: Any, scale: Any) -> Any:
    return share_below(law, x, shapes, loc, scale, law._cdf, 0.0, 1.0)


def logcdf(law: Any, x: Numbers, shapes: Any, loc: Any, scale: Any) -> Any:
    return share_below(law, x, shapes, loc, scale, law._logcdf, -math.inf, 0.0)


def sf(law: Any, x: Numbers, shapes: Any, loc: Any, scale: Any) -> Any:
    return share_below(law, x, shapes, loc, scale, law._sf, 1.0, 0.0)


def logsf(law: Any, x: Numbers, shapes: Any, loc: Any, scale: Any) -> Any:
    return share_below(law, x, shapes, loc, scale, law._logsf, 0.0, -math.inf)


def quantile(law: Any, q: Numbers, shapes: Any, loc: Any, scale: Any, formula: Any, first: Any, last: Any) -> Any:
    """Return the quantile by SciPy's formula for probabilities inside of (0, 1), and the ends of the support at 0 and 1."""
    inside = (q > 0) & (q < 1)
    place = formula(np.where(inside, q, 0.5)[()], *shapes)
    end = np.where(q == 0, first, np.where(q == 1, last, math.nan))
    return chosen(can_be(law, shapes) & (scale == scale), inside, place, end) * scale + loc


def ppf(law: Any, x: Numbers, shapes: Any, loc: Any, scale: Any) -> Any:
    low, high = law._get_support(*shapes)
    return quantile(law, x, shapes, loc, scale, law._ppf, low, high)


def isf(law: Any, x: Numbers, shapes: Any, loc: Any, scale: Any) -> Any:
    low, high = law._get_support(*shapes)
    return quantile(law, x, shapes, loc, scale, law._isf, high, low)


def median(law: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    return np.asarray(law._ppf(0.5, *shapes) * scale + loc)[()]


def moments(law: Any, shapes: Any) -> Any:
    """Mean and variance by SciPy's formulas, or None where it has none."""
    results = law._stats(*shapes)
    return results[0], results[1]


def mean(law: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    first, _ = moments(law, shapes)
    need(first is not None, NO_MOMENT)
    return np.where(can_be(law, shapes) & (loc == loc), first * scale + loc, math.nan)[()]


def var(law: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    _, second = moments(law, shapes)
    need(second is not None, NO_MOMENT)
    return np.where(can_be(law, shapes) & (loc == loc), second * scale * scale, math.nan)[()]


def std(law: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    return np.sqrt(var(law, shapes, loc, scale))


def entropy(law: Any, shapes: Any, loc: Any, scale: Any) -> Any:
    return np.where(can_be(law, shapes) & (loc == loc), law._entropy(*shapes) + np.log(scale), math.nan)[()]


# ------------------------------------------------------------------ of counts


def is_count(k: Any, low: Any, high: Any) -> Any:
    """Whether it is a whole number in the support."""
    return (low <= k) & (k <= high) & (np.floor(k) == k)


def pmf(law: Any, k: Numbers, shapes: Any, loc: Any) -> Any:
    count = k - loc
    low, high = law._get_support(*shapes)
    inside = is_count(count, low, high)
    share = law._pmf(np.where(inside, count, low)[()], *shapes)
    return chosen(can_be(law, shapes) & (count == count), inside, share, 0.0)


def logpmf(law: Any, k: Numbers, shapes: Any, loc: Any) -> Any:
    count = k - loc
    low, high = law._get_support(*shapes)
    inside = is_count(count, low, high)
    share = law._logpmf(np.where(inside, count, low)[()], *shapes)
    return chosen(can_be(law, shapes) & (count == count), inside, share, -math.inf)


def counts_below(law: Any, k: Numbers, shapes: Any, loc: Any, formula: Any, before: Any, after: Any) -> Any:
    """A distribution function of counts by SciPy's formula."""
    count = k - loc
    low, high = law._get_support(*shapes)
    inside = (low <= count) & (count < high)
    share = formula(np.where(inside, count, low)[()], *shapes)
    return chosen(can_be(law, shapes) & (count == count), inside, share, np.where(count >= high, after, before))


def cdf_of_counts(law: Any, k: Numbers, shapes: Any, loc: Any) -> Any:
    return counts_below(law, k, shapes, loc, law._cdf, 0.0, 1.0)


def logcdf_of_counts(law: Any, k: Numbers, shapes: Any, loc: Any) -> Any:
    return counts_below(law, k, shapes, loc, law._logcdf, -math.inf, 0.0)


def sf_of_counts(law: Any, k: Numbers, shapes: Any, loc: Any) -> Any:
    return counts_below(law, k, shapes, loc, law._sf, 1.0, 0.0)


def logsf_of_counts(law: Any, k: Numbers, shapes: Any, loc: Any) -> Any:
    return counts_below(law, k, shapes, loc, law._logsf, 0.0, -math.inf)


def mean_of_counts(law: Any, shapes: Any, loc: Any) -> Any:
    return mean(law, shapes, loc, 1)


def var_of_counts(law: Any, shapes: Any, loc: Any) -> Any:
    return var(law, shapes, loc, 1)


def std_of_counts(law: Any, shapes: Any, loc: Any) -> Any:
    return np.sqrt(var(law, shapes, loc, 1))


#: functions of a point, and functions of the distribution alone, by the names of their methods
OF_POINTS: dict[str, Callable[..., Any]] = named(pdf, logpdf, cdf, logcdf, sf, logsf, ppf, isf)
OF_LAWS: dict[str, Callable[..., Any]] = {"median": median, "mean": mean, "var": var, "std": std, "entropy": entropy}
COUNTS_OF_POINTS: dict[str, Callable[..., Any]] = named(
    pmf, logpmf, cdf=cdf_of_counts, logcdf=logcdf_of_counts, sf=sf_of_counts, logsf=logsf_of_counts
)
COUNTS_OF_LAWS: dict[str, Callable[..., Any]] = {"mean": mean_of_counts, "var": var_of_counts, "std": std_of_counts}
