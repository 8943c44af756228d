"""Means, moments and scores of ``scipy.stats``, expressed by NumPy functions.

Formulas: Joanes and Gill, Comparing measures of sample skewness and kurtosis (1998); for the means, Bullen, Handbook of Means and Their
Inequalities (2003). Samples with nan give nan (``nan_policy="propagate"``).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from symgrad.ops.composed.refusing import Numbers, inexact, must, need
from symgrad.ops.composed.special import scipy_special
from symgrad.tables import named

PROPAGATE = "nan_policy is supported as 'propagate'"


def weighted_mean(x: Any, axis: Any, weights: Any, keepdims: Any) -> Any:
    """A mean, with a weight for each element, or without weights."""
    if weights is None:
        return np.mean(x, axis=axis, keepdims=keepdims)
    need(np.ndim(weights) == np.ndim(x), "weights are supported with as many axes as the sample has")
    need(np.asarray(weights).dtype.kind == "f" or x.dtype == np.float64, "weights are supported as floats")
    total = np.sum(weights + np.zeros_like(x), axis=axis, keepdims=keepdims)
    return np.sum(weights * x, axis=axis, keepdims=keepdims) / total


def gmean(
    a: Numbers, axis: Any = 0, dtype: Any = None, weights: Any = None, *, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    """``scipy.stats.gmean``, the geometric mean."""
    need(dtype is None, "dtype of scipy.stats.gmean is not supported")
    need(nan_policy == "propagate", PROPAGATE)
    return np.exp(weighted_mean(np.log(a), axis, weights, keepdims))


def hmean(
    a: Numbers, axis: Any = 0, dtype: Any = None, *, weights: Any = None, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    """``scipy.stats.hmean``, the harmonic mean; nan where an element is negative."""
    need(dtype is None, "dtype of scipy.stats.hmean is not supported")
    need(nan_policy == "propagate", PROPAGATE)
    return 1.0 / weighted_mean(1.0 / np.where(a < 0, math.nan, a), axis, weights, keepdims)


def pmean(
    a: Numbers, p: Any, *, axis: Any = 0, dtype: Any = None, weights: Any = None, nan_policy: Any = "propagate", keepdims: Any = False
) -> Any:
    """``scipy.stats.pmean``, the power mean; nan where an element is negative."""
    need(dtype is None, "dtype of scipy.stats.pmean is not supported")
    need(isinstance(p, int | float), "the exponent of scipy.stats.pmean is a number of Python's")
    need(nan_policy == "propagate", PROPAGATE)
    if p == 0:
        return np.exp(weighted_mean(np.log(a), axis, weights, keepdims))
    return weighted_mean(np.where(a < 0, math.nan, a) ** float(p), axis, weights, keepdims) ** (1 / p)


def central(a: Any, order: Any, axis: Any, keepdims: Any) -> Any:
    """A moment about the mean."""
    return np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** order, axis=axis, keepdims=keepdims)


def moment(a: Numbers, order: Any = 1, axis: Any = 0, nan_policy: Any = "propagate", *, center: Any = None, keepdims: Any = False) -> Any:
    """``scipy.stats.moment`` of one order, about the mean or about ``center``."""
    need(nan_policy == "propagate", PROPAGATE)
    need(isinstance(order, int), "the order of scipy.stats.moment is supported as an integer")
    must(np.size(a) > 0, "scipy.stats.moment of no elements is not supported")
    if order == 0 or order == 1 and center is None:
        return float(order == 0) + np.sum(np.where(np.isnan(a), a, 0.0), axis=axis, keepdims=keepdims)
    return central(a, order, axis, keepdims) if center is None else np.mean((a - center) ** order, axis=axis, keepdims=keepdims)


def is_flat(a: Any, axis: Any, keepdims: Any) -> Any:
    """Whether the variance of a sample is within rounding of zero."""
    mean = np.mean(a, axis=axis, keepdims=keepdims)
    return np.var(a, axis=axis, keepdims=keepdims) <= (np.finfo(mean.dtype).eps * mean) ** 2


def extent_along(a: Any, axis: Any) -> Any:
    """The number of elements along an axis, or of all."""
    return np.size(a) if axis is None else np.shape(a)[axis]


def skew(a: Numbers, axis: Any = 0, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any:
    """``scipy.stats.skew``; nan of a sample without variance."""
    need(nan_policy == "propagate", PROPAGATE)
    raw = central(a, 3, axis, keepdims) / np.var(a, axis=axis, keepdims=keepdims) ** 1.5
    n = extent_along(a, axis)
    if not bias and n > 2:
        raw = raw * ((n - 1.0) * n) ** 0.5 / (n - 2.0)
    return np.where(is_flat(a, axis, keepdims), math.nan, raw)[()]


def kurtosis(
    a: Numbers, axis: Any = 0, fisher: Any = True, bias: Any = True, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> Any:
    """``scipy.stats.kurtosis``; nan of a sample without variance."""
    need(nan_policy == "propagate", PROPAGATE)
    raw = central(a, 4, axis, keepdims) / np.var(a, axis=axis, keepdims=keepdims) ** 2
    n = extent_along(a, axis)
    if not bias and n > 3:
        raw = 3.0 + ((n * n - 1.0) * raw - 3.0 * (n - 1) ** 2) / ((n - 2.0) * (n - 3.0))
    return np.where(is_flat(a, axis, keepdims), math.nan, raw - 3 if fisher else raw)[()]


def sem(a: Numbers, axis: Any = 0, ddof: Any = 1, nan_policy: Any = "propagate", *, keepdims: Any = False) -> Any:
    """``scipy.stats.sem``, the standard error of the mean; nan of one element."""
    need(nan_policy == "propagate", PROPAGATE)
    count = extent_along(a, axis)
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / (count if count > 1 else math.nan) ** 0.5


def variation(a: Numbers, axis: Any = 0, nan_policy: Any = "propagate", ddof: Any = 0, *, keepdims: Any = False) -> Any:
    """``scipy.stats.variation``: the standard deviation, in means."""
    need(nan_policy == "propagate", PROPAGATE)
    must(extent_along(a, axis) != ddof, "scipy.stats.variation of as many elements as ddof is not supported")
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


def zscore(a: Numbers, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    """``scipy.stats.zscore``: how many standard deviations from the mean; nan in a sample without variance."""
    need(nan_policy == "propagate", PROPAGATE)
    mean, std = np.mean(a, axis=axis, keepdims=True), np.std(a, axis=axis, ddof=ddof, keepdims=True)
    flat = std <= np.abs(np.finfo(mean.dtype).eps * mean)
    return (a - mean) / np.where(flat, math.nan, std)


def zmap(scores: Numbers, compare: Numbers, axis: Any = 0, ddof: Any = 0, nan_policy: Any = "propagate") -> Any:
    """``scipy.stats.zmap``: the same in terms of another sample."""
    need(nan_policy == "propagate", PROPAGATE)
    return (scores - np.mean(compare, axis=axis, keepdims=True)) / np.std(compare, axis=axis, ddof=ddof, keepdims=True)


def iqr(
    x: Numbers,
    axis: Any = None,
    rng: Any = (25, 75),
    scale: Any = 1.0,
    nan_policy: Any = "propagate",
    interpolation: Any = "linear",
    keepdims: Any = False,
) -> Any:
    """``scipy.stats.iqr``, the distance between two percentiles."""
    need(nan_policy == "propagate", PROPAGATE)
    need(not isinstance(scale, str), "scale of scipy.stats.iqr is supported as a number")
    need(interpolation == "linear", "interpolation of scipy.stats.iqr is supported as 'linear'")
    low, high = min(rng[0], rng[1]), max(rng[0], rng[1])
    return (np.percentile(x, high, axis=axis, keepdims=keepdims) - np.percentile(x, low, axis=axis, keepdims=keepdims)) / scale


def trim_mean(a: Numbers, proportiontocut: Any, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False) -> Any:
    """``scipy.stats.trim_mean``: the mean without a proportion of the smallest and of the largest elements."""
    need(nan_policy == "propagate", PROPAGATE)
    need(not keepdims, "keepdims of scipy.stats.trim_mean is not supported")
    a = np.reshape(a, (-1,)) if axis is None else np.moveaxis(a, axis, 0)
    count = np.shape(a)[0]
    cut = int(proportiontocut * count)
    must(2 * cut <= count, "a proportion over one half is not supported")
    mean = np.mean(np.sort(a, axis=0)[cut : count - cut], axis=0)
    return np.where(np.any(np.isnan(a), axis=0), math.nan, mean)[()]


def entropy(pk: Numbers, qk: Any = None, base: Any = None, axis: Any = 0, *, nan_policy: Any = "propagate", keepdims: Any = False) -> Any:
    """``scipy.stats.entropy`` of normalised weights, or relative to others (Kullback and Leibler)."""
    need(nan_policy == "propagate", PROPAGATE)
    p = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        each = scipy_special("entr")(p)
    else:
        need(np.ndim(qk) == np.ndim(pk), "weights of scipy.stats.entropy of another number of axes are not supported")
        must(np.shape(qk) == np.shape(pk), "weights of scipy.stats.entropy of another shape are not supported")
        q = np.asarray(qk) / np.sum(qk, axis=axis, keepdims=True)
        each = scipy_special("rel_entr")(p, q)
    out = np.sum(each, axis=axis, keepdims=keepdims)
    return out if base is None else out / math.log(base)


def gstd(a: Numbers, axis: Any = 0, ddof: Any = 1, *, keepdims: Any = False, nan_policy: Any = "propagate") -> Any:
    """``scipy.stats.gstd``, the geometric standard deviation."""
    need(nan_policy == "propagate", PROPAGATE)
    return np.exp(np.std(np.log(a), axis=axis, ddof=ddof, keepdims=keepdims))


def median_abs_deviation(
    x: Numbers, axis: Any = 0, center: Any = None, scale: Any = 1.0, nan_policy: Any = "propagate", *, keepdims: Any = False
) -> Any:
    """``scipy.stats.median_abs_deviation`` about the median."""
    need(nan_policy == "propagate", PROPAGATE)
    need(center is None, "center of scipy.stats.median_abs_deviation is not supported")
    need(scale == "normal" or not isinstance(scale, str), "scale of scipy.stats.median_abs_deviation is 'normal' or a number")
    apart = np.abs(x - np.median(x, axis=axis, keepdims=True))
    return np.median(apart, axis=axis, keepdims=keepdims) / (0.6744897501960817 if isinstance(scale, str) else scale)


class Correlation(NamedTuple):
    """The result of ``scipy.stats.pearsonr``, as a pair."""

    statistic: Any
    pvalue: Any


def pearsonr(x: Numbers, y: Numbers, *, alternative: Any = "two-sided", method: Any = None, axis: Any = 0) -> Any:
    """``scipy.stats.pearsonr``: the coefficient, and by the beta distribution how probable it is (Student, 1908)."""
    need(method is None, "method of scipy.stats.pearsonr is not supported")
    need(alternative in ("two-sided", "less", "greater"), "alternative must be 'two-sided', 'less' or 'greater'")
    must(extent_along(x, axis) > 2, "scipy.stats.pearsonr is supported for more than two pairs")
    must(np.shape(x) == np.shape(y), "scipy.stats.pearsonr is supported for samples of one shape")
    x, y = inexact(x), inexact(y)
    across, along = x - np.mean(x, axis=axis, keepdims=True), y - np.mean(y, axis=axis, keepdims=True)
    sizes = np.sqrt(np.sum(across * across, axis=axis)) * np.sqrt(np.sum(along * along, axis=axis))
    is_flat = (np.ptp(x, axis=axis) == 0) | (np.ptp(y, axis=axis) == 0)
    r = np.clip(np.sum(across * along, axis=axis) / np.where(is_flat, math.nan, sizes), -1.0, 1.0)[()]
    half = extent_along(x, axis) / 2 - 1
    tail = {"two-sided": np.abs(r), "greater": r, "less": -r}[alternative]
    pvalue = scipy_special("betaincc")(half, half, (tail + 1) / 2) * (2 if alternative == "two-sided" else 1)
    return Correlation(r, pvalue)


class Line(NamedTuple):
    """The result of ``scipy.stats.linregress``, as five numbers."""

    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


def linregress(x: Numbers, y: Numbers, alternative: Any = "two-sided") -> Any:
    """``scipy.stats.linregress``: a least-squares line, with the p-value of its slope by Student's t-distribution."""
    need(alternative in ("two-sided", "less", "greater"), "alternative must be 'two-sided', 'less' or 'greater'")
    need(np.ndim(x) == 1 and np.ndim(y) == 1, "scipy.stats.linregress is supported for vectors")
    must(np.size(x) > 2, "scipy.stats.linregress is supported for more than two points")
    must(np.shape(x) == np.shape(y), "scipy.stats.linregress is supported for vectors of one length")
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    across, along = x - np.mean(x), y - np.mean(y)
    xx, xy, yy = np.mean(across * across), np.mean(across * along), np.mean(along * along)
    must(xx > 0, "Cannot calculate a linear regression if all x values are identical")
    slope = xy / xx
    r = np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0) if yy > 0 else 0.0 * xy
    df = np.size(x) - 2
    t = r * np.sqrt(df / ((1.0 - r + 1e-20) * (1.0 + r + 1e-20)))
    tail = {"two-sided": -np.abs(t), "greater": -t, "less": t}[alternative]
    pvalue = scipy_special("stdtr")(float(df), tail) * (2 if alternative == "two-sided" else 1)
    return Line(slope, np.mean(y) - slope * np.mean(x), r, pvalue, np.sqrt((1 - r * r) * yy / xx / df))


#: the interpolations of ``scoreatpercentile``, as ``np.percentile`` names them
INTERPOLATIONS: dict[Any, Any] = {"fraction": "linear", "lower": "lower", "higher": "higher"}


def scoreatpercentile(a: Numbers, per: Any, limit: Any = (), interpolation_method: Any = "fraction", axis: Any = None) -> Any:
    """``scipy.stats.scoreatpercentile``, a percentile of a sample."""
    need(np.size(limit) == 0, "limit of scipy.stats.scoreatpercentile is not supported")
    need(interpolation_method in INTERPOLATIONS, "interpolation_method must be 'fraction', 'lower' or 'higher'")
    a = np.asarray(a, dtype=float)
    must(np.size(a) > 0 and not np.any(np.isnan(a)), "scipy.stats.scoreatpercentile is supported for numbers, at least one")
    return np.percentile(a, per, axis=axis, method=INTERPOLATIONS[interpolation_method])


def sample_of(x: Numbers, axis: Any, fewest: Any) -> Any:
    """A sample as SciPy's functions of samples receive it: a vector of numbers, without nan, of at least so many."""
    x = np.ravel(x) if axis is None else np.atleast_1d(x)
    need(np.ndim(x) == 1, "samples of several axes are supported with axis=None")
    must(np.size(x) >= fewest and not np.any(np.isnan(x)), "samples are supported without nan, and not too small")
    return inexact(x)


SAMPLES: dict[str, Callable[..., Any]] = named(
    gmean, hmean, pmean, moment, skew, kurtosis, sem, iqr, variation, zscore, zmap, trim_mean, entropy, gstd
) | named(median_abs_deviation, pearsonr, linregress, scoreatpercentile)
