"""Averages, quantiles, covariances, and reductions that pass over what is not a number."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, inexact, must, need
from symgrad.ops.composed.shapes import kept, rows_first


def ptp(a: Numbers, axis: Any = None, keepdims: Any = None) -> Any:
    """``np.ptp``: largest minus smallest."""
    made = np.max(a, axis=axis) - np.min(a, axis=axis)
    return kept(made, a, axis) if keepdims and np.ndim(a) > 0 else made


def average(a: Numbers, axis: Any = None, weights: Numbers = None, returned: Any = False, keepdims: Any = False) -> Any:
    """``np.average``, weights of the shape of ``a`` or along one axis; with ``returned`` the sums of the weights too."""
    a = inexact(a)
    if weights is None:
        made = np.mean(a, axis=axis, keepdims=keepdims)
        return (made, np.full_like(made, np.size(a) / np.size(made))[()]) if returned else made
    alike = np.ndim(weights) == np.ndim(a)
    need(alike or axis is not None, "Axis must be specified when shapes of a and weights differ.")
    need(alike or np.ndim(weights) == 1 and not isinstance(axis, tuple), "weights of np.average along several axes are not supported")
    if alike:
        must(np.shape(weights) == np.shape(a), "the weights of np.average have another shape than what is averaged")
        shares = weights
    else:
        shares = np.moveaxis(np.reshape(weights, (1,) * (np.ndim(a) - 1) + (-1,)), -1, axis)
    total = np.sum(shares, axis=axis, keepdims=keepdims)
    made = np.sum(a * shares, axis=axis, keepdims=keepdims) / total
    return (made, np.broadcast_to(total, np.shape(made)).copy() if np.ndim(made) else total) if returned else made


def moments_about(a: Numbers, axis: Any, ddof: Any, keepdims: Any, mean: Numbers) -> Any:
    """The mean square of distances from a mean that is given."""
    apart = a - mean
    total = np.sum(apart * apart, axis=axis, keepdims=keepdims)
    return total / max(np.size(apart) // max(np.size(total), 1) - ddof, 0)


def var_about(a: Numbers, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *, where: Any = None,
              mean: Any = None, correction: Any = None) -> Any:  # fmt: skip
    """``np.var`` with a mean that is given, or a ``correction``."""
    need(dtype is None and out is None and where is None, "np.var takes mean and correction with axis and keepdims alone")
    lost = ddof if correction is None else correction
    return np.var(a, axis=axis, ddof=lost, keepdims=keepdims) if mean is None else moments_about(a, axis, lost, keepdims, mean)


def std_about(a: Numbers, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0, keepdims: Any = False, *, where: Any = None,
              mean: Any = None, correction: Any = None) -> Any:  # fmt: skip
    """``np.std`` with a mean that is given, or a ``correction``."""
    need(dtype is None and out is None and where is None, "np.std takes mean and correction with axis and keepdims alone")
    lost = ddof if correction is None else correction
    if mean is None:
        return np.std(a, axis=axis, ddof=lost, keepdims=keepdims)
    return np.sqrt(moments_about(a, axis, lost, keepdims, mean))


def histogram_edges(a: Numbers, bins: Numbers, range: Any) -> Any:
    """The edges of a histogram: as they are given, or evenly from the smallest to the largest number."""
    if np.ndim(bins) == 1:
        must(np.all(bins[1:] >= bins[:-1]), "`bins` must increase monotonically, when an array")
        return bins
    must(bins >= 1, "`bins` must be positive, when an integer")
    if range is not None:
        first, last = range
        must(first <= last, "max must be larger than min in range parameter.")
    elif np.size(a) == 0:
        first, last = 0.0, 1.0
    else:
        first, last = np.min(a), np.max(a)
    if first == last:
        return np.linspace(first - 0.5, last + 0.5, bins + 1)
    return np.linspace(first, last, bins + 1)


def histogram(a: Numbers, bins: Numbers = 10, range: Any = None, density: Any = False, weights: Numbers = None) -> Any:
    """``np.histogram``: what is counted has no derivative, the weights and the edges have."""
    need(not isinstance(bins, str), "np.histogram with a rule for its bins is not supported; give their number or their edges")
    edges = histogram_edges(a, bins, range)
    flat = np.ravel(a)
    inside = (flat >= edges[0]) & (flat <= edges[-1])
    places = np.minimum(np.searchsorted(edges, flat[inside], side="right") - 1, edges.shape[0] - 2)
    if weights is None:
        counts = np.bincount(places, minlength=edges.shape[0] - 1)
    else:
        must(np.shape(weights) == np.shape(a), "weights should have the same shape as a.")
        counts = np.bincount(places, np.ravel(weights)[inside], minlength=edges.shape[0] - 1)
        counts = counts if counts.dtype == weights.dtype else counts.astype(weights.dtype)
    if density:
        counts = counts / np.asarray(edges[1:] - edges[:-1], dtype=float) / np.sum(counts)
    return counts, edges


def histogram_bin_edges(a: Numbers, bins: Numbers = 10, range: Any = None, weights: Any = None) -> Any:
    """``np.histogram_bin_edges``."""
    need(not isinstance(bins, str), "np.histogram_bin_edges with a rule is not supported; give the number of bins")
    return histogram_edges(a, bins, range)


#: methods of quantiles that stand between two elements: alpha and beta of Hyndman and Fan (1996)
BETWEEN = {
    "hazen": (0.5, 0.5), "weibull": (0.0, 0.0), "median_unbiased": (1 / 3, 1 / 3), "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0.0, 1.0),
}  # fmt: skip


def quantile_place(q: Any, count: Any, method: str) -> Any:
    """Where a quantile stands among so many elements in order, counted from 0."""
    whole = q * (count - 1)
    if method == "linear":
        return whole
    low = np.floor(whole) if np.ndim(q) else int(np.floor(whole))
    high = np.ceil(whole) if np.ndim(q) else int(np.ceil(whole))
    if method == "lower":
        return low
    if method == "higher":
        return high
    if method == "midpoint":
        return (low + high) / 2
    if method == "nearest":
        return np.round(whole) if np.ndim(q) else round(whole)
    need(method in BETWEEN, "this method of np.quantile is not supported")
    alpha, beta = BETWEEN[method]
    place = count * q + (alpha + q * (1 - alpha - beta)) - 1
    return np.clip(place, 0, count - 1) if np.ndim(q) else min(max(place, 0.0), count - 1.0)


def weighted_mean(a: Any, b: Any, part: Any) -> Any:
    """What stands between two numbers, counted from the nearer one, as NumPy computes it."""
    step = b - a
    if np.ndim(part):
        return np.where(part >= 0.5, b - step * (1 - part), a + step * part)
    return b - step * (1 - part) if part >= 0.5 else a + step * part


def quantile(a: Numbers, q: Numbers, axis: Any = None, method: str = "linear", keepdims: Any = False) -> Any:
    """``np.quantile``: between the two that stand next to the place asked for."""
    ordered = np.sort(rows_first(a, axis), axis=0)
    must(ordered.shape[0] > 0, "quantiles of nothing are not supported")
    if np.ndim(q):
        must(np.min(q) >= 0 and np.max(q) <= 1, "quantiles must be between 0 and 1")
    else:
        must(0 <= q <= 1, "quantiles must be between 0 and 1")
    place = quantile_place(q, ordered.shape[0], method)
    low = np.floor(place).astype(int) if np.ndim(q) else int(np.floor(place))
    part = place - low
    high = np.minimum(low + 1, ordered.shape[0] - 1) if np.ndim(q) else min(low + 1, ordered.shape[0] - 1)
    if np.ndim(q) and np.ndim(ordered) > 1:
        part = np.reshape(part, (-1,) + (1,) * (np.ndim(ordered) - 1))
    taken = ordered[low] if method in ("lower", "higher", "nearest") else weighted_mean(ordered[low], ordered[high], part)
    made = taken if a.dtype.kind in "iub" else np.where(np.isnan(ordered[-1]), np.nan, taken)
    made = made[()] if np.ndim(made) == 0 else made
    if keepdims:
        need(np.ndim(q) == 0, "keepdims of several quantiles is not supported")
        return kept(made, a, axis)
    return made


def percentile(a: Numbers, q: Numbers, axis: Any = None, method: str = "linear", keepdims: Any = False) -> Any:
    """``np.percentile``."""
    return quantile(a, q / 100.0, axis, method, keepdims)


def nanmedian(a: Numbers, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.nanmedian`` of all elements, or along one axis: sorting puts what is no number last."""
    if axis is None:
        made = np.median(a[~np.isnan(a)]) if a.dtype.kind not in "iub" else np.median(a)
        need(np.ndim(a) > 0 or not keepdims, "np.nanmedian with keepdims is supported of arrays that have axes")
        return np.reshape(made, (1,) * np.ndim(a)) if keepdims else made
    need(isinstance(axis, int), "np.nanmedian is supported along one axis")
    if a.dtype.kind in "iub":
        return np.median(a, axis=axis, keepdims=keepdims)
    must(a.shape[axis] > 0, "np.nanmedian along an axis without elements is not supported")
    in_turn = np.sort(a, axis=axis)
    count = np.sum(~np.isnan(a), axis=axis, keepdims=True)
    below = np.take_along_axis(in_turn, np.maximum(count - 1, 0) // 2, axis=axis)
    above = np.take_along_axis(in_turn, np.minimum(count // 2, np.maximum(count - 1, 0)), axis=axis)
    made = (below + above) / 2
    if keepdims:
        return made
    return made[0] if np.ndim(a) == 1 else np.squeeze(made, axis=axis)


def nanquantile(a: Numbers, q: Numbers) -> Any:
    """``np.nanquantile`` of all elements."""
    return quantile(a if a.dtype.kind in "iub" else a[~np.isnan(a)], q)


def nanpercentile(a: Numbers, q: Numbers) -> Any:
    """``np.nanpercentile`` of all elements."""
    return percentile(a if a.dtype.kind in "iub" else a[~np.isnan(a)], q)


def numbers_or(a: Any, other: Any) -> Any:
    """Another number in the place of what is none; integers and bools are all numbers."""
    return a if a.dtype.kind in "iub" else np.where(np.isnan(a), other, a)


def nanprod(a: Numbers, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.nanprod``: what is not a number counts as one."""
    return np.prod(numbers_or(a, 1), axis=axis, keepdims=keepdims)


def nanvar(a: Numbers, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """``np.nanvar`` of the elements that are numbers; integers all are."""
    if a.dtype.kind in "iub":
        return np.var(a, axis=axis, ddof=ddof, keepdims=keepdims)
    middle = np.nanmean(a, axis=axis, keepdims=True)
    apart = np.where(np.isnan(a), middle, a) - middle
    count = np.sum(np.where(np.isnan(a), np.zeros_like(a), np.ones_like(a)), axis=axis, keepdims=keepdims)
    freedom = count - ddof
    return np.sum(apart * apart, axis=axis, keepdims=keepdims) / np.where(freedom > 0, freedom, np.nan)


def nanstd(a: Numbers, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """``np.nanstd`` of the elements that are numbers."""
    return np.sqrt(nanvar(a, axis, ddof, keepdims))


def nancumsum(a: Numbers, axis: Any = None) -> Any:
    """``np.nancumsum``: what is not a number counts as zero."""
    return np.cumsum(numbers_or(a, 0), axis=axis)


def nancumprod(a: Numbers, axis: Any = None) -> Any:
    """``np.nancumprod``: what is not a number counts as one."""
    return np.cumprod(numbers_or(a, 1), axis=axis)


def cov(m: Numbers, y: Numbers = None, rowvar: Any = True, bias: Any = False, ddof: Any = None) -> Any:
    """``np.cov``: variables in rows, or in columns."""
    rows = np.reshape(m, (1, -1)) if np.ndim(m) == 1 else m if rowvar else np.transpose(m)
    if y is not None:
        other = np.reshape(y, (1, -1)) if np.ndim(y) == 1 else y if rowvar else np.transpose(y)
        rows = np.concatenate([rows, other])
    rows = np.asarray(rows, dtype=float)
    apart = rows - np.mean(rows, axis=1, keepdims=True)
    lost = (0 if bias else 1) if ddof is None else ddof
    made = apart @ np.transpose(apart) / np.maximum(rows.shape[1] - lost, 0)
    return np.reshape(made, ()) if y is None and rows.shape[0] == 1 else made


def corrcoef(x: Numbers, y: Numbers = None, rowvar: Any = True) -> Any:
    """``np.corrcoef`` of several variables."""
    made = cov(x, y, rowvar)
    if np.ndim(made) == 0:
        return made / made
    scale = np.sqrt(np.diagonal(made))
    return np.clip(made / np.expand_dims(scale, 1) / scale, -1, 1)


def mean_of(data: Numbers) -> Any:
    """``statistics.mean``."""
    return np.mean(data)


def median_of(data: Numbers) -> Any:
    """``statistics.median``."""
    return np.median(data)


def variance_of(data: Numbers) -> Any:
    """``statistics.variance``."""
    return np.var(data, ddof=1)


def pvariance_of(data: Numbers) -> Any:
    """``statistics.pvariance``."""
    return np.var(data)


def stdev_of(data: Numbers) -> Any:
    """``statistics.stdev``."""
    return np.std(data, ddof=1)


def pstdev_of(data: Numbers) -> Any:
    """``statistics.pstdev``."""
    return np.std(data)


#: functions of Python's own module
OF_DATA: dict[Callable[..., Any], Callable[..., Any]] = {
    statistics.mean: mean_of, statistics.fmean: mean_of, statistics.median: median_of, statistics.variance: variance_of,
    statistics.pvariance: pvariance_of, statistics.stdev: stdev_of, statistics.pstdev: pstdev_of,
}  # fmt: skip
