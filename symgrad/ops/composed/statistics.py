"""Averages, quantiles, covariances, and reductions that skip NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, inexact, must, need
from symgrad.ops.composed.shapes import flat, kept, rows_first


def ptp(a: Numbers, axis: Any = None, keepdims: Any = None) -> Any:
    """``np.ptp``: largest minus smallest."""
    ranges = np.max(a, axis=axis) - np.min(a, axis=axis)
    return kept(ranges, a, axis) if keepdims and np.ndim(a) > 0 else ranges


def average(a: Numbers, axis: Any = None, weights: Numbers = None, returned: Any = False, keepdims: Any = False) -> Any:
    """``np.average``, weights of the shape of ``a`` or along one axis; with ``returned`` the sums of the weights too."""
    a = inexact(a)
    if weights is None:
        means = np.mean(a, axis=axis, keepdims=keepdims)
        return (means, np.full_like(means, np.size(a) / np.size(means))[()]) if returned else means
    weights = weights if weights.dtype == a.dtype else weights.astype(np.result_type(a, weights))
    alike = np.ndim(weights) == np.ndim(a)
    need(alike or axis is not None, "Axis must be specified when shapes of a and weights differ.")
    need(alike or np.ndim(weights) == 1 and not isinstance(axis, tuple), "weights of np.average along several axes are not supported")
    if alike:
        must(np.shape(weights) == np.shape(a), "the weights of np.average have another shape than the averaged array")
        shares = weights
    else:
        shares = np.moveaxis(np.reshape(weights, (1,) * (np.ndim(a) - 1) + (-1,)), -1, axis)
    total = np.sum(shares, axis=axis, keepdims=keepdims)
    if np.any(total == 0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    means = np.sum(a * shares, axis=axis, keepdims=keepdims) / total
    return (means, np.broadcast_to(total, np.shape(means)).copy() if np.ndim(means) else total) if returned else means


def moments_about(a: Numbers, axis: Any, ddof: Any, keepdims: Any, mean: Numbers) -> Any:
    """Return the mean square of deviations from a given mean."""
    apart = a - mean
    total = np.sum(apart * apart, axis=axis, keepdims=keepdims)
    return total / max(np.size(apart) // max(np.size(total), 1) - ddof, 0)


def moments_where(a: Numbers, axis: Any, ddof: Any, keepdims: Any, mean: Any, where: Any) -> Any:
    """Return the mean square of deviations from the mean or a given mean, over the selected elements; NaN for too few."""
    x = inexact(a)
    chosen = np.logical_and(where, np.ones_like(x, dtype=bool))
    ones = np.where(chosen, np.ones_like(x), np.zeros_like(x))
    middle = np.sum(np.where(chosen, x, 0), axis=axis, keepdims=True) / np.sum(ones, axis=axis, keepdims=True) if mean is None else mean
    apart = np.where(chosen, x - middle, 0)
    freedom = np.sum(ones, axis=axis, keepdims=keepdims) - ddof
    return np.sum(apart * apart, axis=axis, keepdims=keepdims) / np.maximum(freedom, 0)


def var_about(
    a: Numbers,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """``np.var`` with a given mean, a ``correction``, or a mask."""
    need(dtype is None and out is None, "np.var takes where, mean and correction with axis and keepdims alone")
    lost = ddof if correction is None else correction
    if where is not None:
        return moments_where(a, axis, lost, keepdims, mean, where)
    return np.var(a, axis=axis, ddof=lost, keepdims=keepdims) if mean is None else moments_about(a, axis, lost, keepdims, mean)


def std_about(
    a: Numbers,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """``np.std`` with a given mean, a ``correction``, or a mask."""
    need(dtype is None and out is None, "np.std takes where, mean and correction with axis and keepdims alone")
    lost = ddof if correction is None else correction
    if where is not None:
        variances = moments_where(a, axis, lost, keepdims, mean, where)
        return np.sqrt(variances) if mean is not None else deviation(variances, np.broadcast_to(where, np.shape(a)), axis, keepdims)
    if mean is None:
        return np.std(a, axis=axis, ddof=lost, keepdims=keepdims)
    return np.sqrt(moments_about(a, axis, lost, keepdims, mean))


def deviation(variances: Any, counted: Any, axis: Any, keepdims: Any) -> Any:
    """The roots of variances; that of a single counted element is always zero, and so is its slope."""
    alone = np.sum(counted, axis=axis, keepdims=keepdims) == 1
    return np.where(alone, variances, np.sqrt(np.where(alone, np.ones_like(variances), variances)))[()]


def histogram_edges(a: Numbers, bins: Numbers, range: Any) -> Any:
    """Return the edges of a histogram: as given, or evenly spaced from the smallest to the largest number."""
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
    if range is not None and a.dtype.kind == "f":
        return np.linspace(first, last, bins + 1).astype(a.dtype)
    return np.linspace(first, last, bins + 1)


def histogram(a: Numbers, bins: Numbers = 10, range: Any = None, density: Any = False, weights: Numbers = None) -> Any:
    """``np.histogram``: the weights and the edges have derivatives, the data have none."""
    need(not isinstance(bins, str), "np.histogram with a rule for its bins is not supported; give their number or their edges")
    edges = histogram_edges(a, bins, range)
    flat = np.ravel(a)
    inside = (flat >= edges[0]) & (flat <= edges[-1])
    places = np.minimum(np.searchsorted(edges, flat[inside], side="right") - 1, edges.shape[0] - 2)
    if weights is None:
        counts = np.bincount(places, minlength=edges.shape[0] - 1)
    else:
        must(np.shape(weights) == np.shape(a), "weights should have the same shape as a.")
        counts = np.zeros(edges.shape[0] - 1)  # np.bincount returns integers for empty input
        np.add.at(counts, places, np.ravel(weights)[inside])
        counts = counts if counts.dtype == weights.dtype else counts.astype(weights.dtype)
    if density:
        counts = counts / np.asarray(edges[1:] - edges[:-1], dtype=float) / np.sum(counts)
    return counts, edges


def histogram_bin_edges(a: Numbers, bins: Numbers = 10, range: Any = None, weights: Any = None) -> Any:
    """``np.histogram_bin_edges``."""
    need(not isinstance(bins, str), "np.histogram_bin_edges with a rule is not supported; give the number of bins")
    return histogram_edges(a, bins, range)


#: continuous quantile methods: alpha and beta of Hyndman and Fan (1996)
BETWEEN = {
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (3 / 8, 3 / 8),
    "interpolated_inverted_cdf": (0.0, 1.0),
}


#: quantile methods that choose one of the elements
OF_ELEMENTS = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")


def quantile_place(q: Any, count: Any, method: str) -> Any:
    """Return the position of a quantile among sorted elements, counted from 0."""
    whole = q * (count - 1)
    if method == "linear":
        return whole
    if method == "lower" or method == "higher" or method == "midpoint":
        low = np.floor(whole) if np.ndim(whole) else int(np.floor(whole))
        high = np.ceil(whole) if np.ndim(whole) else int(np.ceil(whole))
        return low if method == "lower" else high if method == "higher" else (low + high) / 2
    if method == "nearest":
        return np.round(whole) if np.ndim(whole) else round(whole)
    need(method in BETWEEN or method in STEPS, "this method of np.quantile is not supported")
    if method in BETWEEN:
        alpha, beta = BETWEEN[method]
        place = count * q + (alpha + q * (1 - alpha - beta)) - 1
    else:
        place = place_by_steps(count * q, method)
    return np.clip(place, 0, count - 1) if np.ndim(whole) else min(max(place, 0.0), count - 1.0)


#: the methods by the inverse of the distribution function, which is a step function
STEPS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation")


def place_by_steps(share: Any, method: str) -> Any:
    """The position by the inverse of the distribution function, for a share of the elements as a number of them."""
    if method == "inverted_cdf":
        return np.ceil(share) - 1
    return np.round(share) - 1 if method == "closest_observation" else (np.floor(share) + np.ceil(share) - 1) / 2


def weighted_mean(a: Any, b: Any, part: Any) -> Any:
    """Interpolate between two numbers, starting from the nearer one, as NumPy does."""
    step = b - a
    if np.ndim(part):
        return np.where(part >= 0.5, b - step * (1 - part), a + step * part)
    return b - step * (1 - part) if part >= 0.5 else a + step * part


def quantile(a: Numbers, q: Numbers, axis: Any = None, method: str = "linear", keepdims: Any = False) -> Any:
    """``np.quantile``: interpolation between the two elements next to the position."""
    ordered = np.sort(rows_first(a, axis), axis=0)
    must(ordered.shape[0] > 0, "quantiles of no elements are not supported")
    if np.ndim(q):
        must(np.min(q) >= 0 and np.max(q) <= 1, "quantiles must be between 0 and 1")
    else:
        must(0 <= q <= 1, "quantiles must be between 0 and 1")
    place = quantile_place(q, ordered.shape[0], method)
    low = np.floor(place).astype(int) if np.ndim(q) else int(np.floor(place))
    part = place - low
    high = np.minimum(low + 1, ordered.shape[0] - 1) if np.ndim(q) else min(low + 1, ordered.shape[0] - 1)
    if np.ndim(q) and np.ndim(ordered) > 1:
        part = np.reshape(part, np.shape(q) + (1,) * (np.ndim(ordered) - 1))
    taken = ordered[low] if method in OF_ELEMENTS else weighted_mean(ordered[low], ordered[high], part)
    quantiles = taken if a.dtype.kind in "iub" else np.where(np.isnan(ordered[-1]), np.nan, taken)
    quantiles = quantiles[()] if np.ndim(quantiles) == 0 else quantiles
    return kept_behind(quantiles, q, a, axis) if keepdims else quantiles


def kept_behind(quantiles: Any, q: Any, a: Any, axis: Any) -> Any:
    """Quantiles, which have the axes of ``q`` first, with the reduced axes kept at extent 1."""
    if np.ndim(q) == 0:
        return kept(quantiles, a, axis)
    if axis is None:
        return np.reshape(quantiles, np.shape(q) + (1,) * np.ndim(a))
    return np.expand_dims(quantiles, tuple([np.ndim(q) + k % np.ndim(a) for k in (axis if isinstance(axis, tuple) else (axis,))]))


def percentile(a: Numbers, q: Numbers, axis: Any = None, method: str = "linear", keepdims: Any = False) -> Any:
    """``np.percentile``."""
    return quantile(a, q / 100.0, axis, method, keepdims)


def nanmedian(a: Numbers, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.nanmedian`` of all elements, or along one axis: sorting puts NaN last."""
    if axis is None:
        whole = np.ravel(a)
        medians = np.median(whole[~np.isnan(whole)]) if a.dtype.kind not in "iub" else np.median(a)
        need(np.ndim(a) > 0 or not keepdims, "np.nanmedian with keepdims is supported for arrays that have axes")
        return np.reshape(medians, (1,) * np.ndim(a)) if keepdims else medians
    if isinstance(axis, tuple):
        medians = nanmedian_along(rows_first(a, axis), 0, False)
        return kept(medians, a, axis) if keepdims else medians
    return nanmedian_along(a, axis, keepdims)


def nanmedian_along(a: Any, axis: int, keepdims: Any) -> Any:
    """The medians of the elements that are numbers along one axis."""
    if a.dtype.kind in "iub":
        return np.median(a, axis=axis, keepdims=keepdims)
    if a.shape[axis] == 0:
        return np.nanmean(a, axis=axis, keepdims=keepdims)
    in_turn = np.sort(a, axis=axis)
    count = np.sum(~np.isnan(a), axis=axis, keepdims=True)
    below = np.take_along_axis(in_turn, np.maximum(count - 1, 0) // 2, axis=axis)
    above = np.take_along_axis(in_turn, np.minimum(count // 2, np.maximum(count - 1, 0)), axis=axis)
    medians = (below + above) / 2
    if keepdims:
        return medians
    return medians[0] if np.ndim(a) == 1 else np.squeeze(medians, axis=axis)


def nanquantile(a: Numbers, q: Numbers, axis: Any = None, method: str = "linear", keepdims: Any = False) -> Any:
    """``np.nanquantile``: of all elements, or along axes."""
    is_mixed = np.ndim(q) > 1 and isinstance(axis, tuple) and len(axis) > 1  # NumPy mixes the axes of q with those of the array
    need(not is_mixed, "np.nanquantile along several axes is supported for one quantile or a list of them")
    if a.dtype.kind in "iub":
        return quantile(a, q, axis, method, keepdims)
    if axis is None:
        whole = flat(a)
        quantiles = quantile(whole[~np.isnan(whole)], q, None, method)
    elif np.ndim(q) == 0:
        quantiles = nanquantile_along(a, q, axis, method).astype((np.ones(1, dtype=a.dtype) * q).dtype)
    else:
        rows = np.stack([nanquantile_along(a, each, axis, method) for each in np.ravel(q)])
        quantiles = np.reshape(rows, np.shape(q) + np.shape(rows)[1:])
    return kept_behind(quantiles, q, a, axis) if keepdims else quantiles


def nanquantile_along(a: Any, q: Any, axis: Any, method: str) -> Any:
    """Return one quantile of the elements that are not NaN: sorting puts NaN last."""
    must(0 <= q <= 1, "quantiles must be between 0 and 1")
    ordered = np.sort(rows_first(a, axis), axis=0)
    must(ordered.shape[0] > 0, "quantiles of no elements are not supported")
    count = np.maximum(np.sum(~np.isnan(ordered), axis=0, keepdims=True), 1)
    place = quantile_place(q, count, method)
    low = np.floor(place).astype(int)
    high = np.minimum(low + 1, count - 1)
    below, above = np.take_along_axis(ordered, low, axis=0), np.take_along_axis(ordered, high, axis=0)
    return weighted_mean(below, above, place - low)[0]


def nanpercentile(a: Numbers, q: Numbers, axis: Any = None, method: str = "linear", keepdims: Any = False) -> Any:
    """``np.nanpercentile``."""
    return nanquantile(a, q / 100.0, axis, method, keepdims)


def numbers_or(a: Any, other: Any) -> Any:
    """Replace NaN by a number; integers and bools are unchanged."""
    return a if a.dtype.kind in "iub" else np.where(np.isnan(a), other, a)


def are_numbers(a: Any, where: Any) -> Any:
    """Which elements are numbers, of those that a mask chooses."""
    return ~np.isnan(a) if where is None else np.logical_and(where, ~np.isnan(a))


def chosen_or(a: Any, other: Any, dtype: Any, where: Any) -> Any:
    """Replace NaN and elements that are not selected by a number, in a dtype."""
    numbers = numbers_or(a, other)
    chosen = numbers if where is None else np.where(where, numbers, other)
    return chosen if dtype is None else chosen.astype(dtype)


def begun(initial: Any, reduced: Any) -> Any:
    """The initial value of a reduction, in its dtype."""
    return initial if reduced.dtype.kind == "f" else np.asarray(initial).astype(reduced.dtype)[()]


def nanprod(a: Numbers, axis: Any = None, dtype: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None) -> Any:
    """``np.nanprod``: NaN counts as one."""
    product = np.prod(chosen_or(a, 1, dtype, where), axis=axis, keepdims=keepdims)
    return product if initial is None else product * begun(initial, product)


def nansum_within(
    a: Numbers, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None
) -> Any:
    """``np.nansum`` with a dtype, with ``where``, or with an initial value."""
    need(out is None, "out of np.nansum is not supported with other arguments")
    total = np.sum(chosen_or(a, 0, dtype, where), axis=axis, keepdims=keepdims)
    return total if initial is None else total + begun(initial, total)


def nanmean_within(a: Numbers, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, *, where: Any = None) -> Any:
    """``np.nanmean`` in a dtype, or of selected elements."""
    need(out is None, "out of np.nanmean is not supported with other arguments")
    x = inexact(a) if dtype is None else a.astype(dtype)
    chosen = are_numbers(x, where)
    ones = np.where(chosen, np.ones_like(x), np.zeros_like(x))
    return np.sum(np.where(chosen, x, 0), axis=axis, keepdims=keepdims) / np.sum(ones, axis=axis, keepdims=keepdims)


def nanmax_within(a: Numbers, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None) -> Any:
    """``np.nanmax`` with a lower bound for omitted elements."""
    need(out is None and initial is not None, "np.nanmax with where needs initial")
    if a.dtype.kind in "iub":
        return np.max(a, axis=axis, keepdims=keepdims, initial=initial, where=True if where is None else where)
    lowest = np.where(are_numbers(a, where), a, -np.inf)
    return np.fmax(np.max(lowest, axis=axis, keepdims=keepdims, initial=-np.inf), initial)


def nanmin_within(a: Numbers, axis: Any = None, out: Any = None, keepdims: Any = False, initial: Any = None, where: Any = None) -> Any:
    """``np.nanmin`` with an upper bound for omitted elements."""
    need(out is None and initial is not None, "np.nanmin with where needs initial")
    if a.dtype.kind in "iub":
        return np.min(a, axis=axis, keepdims=keepdims, initial=initial, where=True if where is None else where)
    highest = np.where(are_numbers(a, where), a, np.inf)
    return np.fmin(np.min(highest, axis=axis, keepdims=keepdims, initial=np.inf), initial)


def in_full(a: Any, dtype: Any) -> Any:
    """Return an array in a dtype that represents its numbers exactly; NumPy would only round their sums."""
    wide = a.astype(dtype)
    need(wide.dtype == float or wide.dtype == a.dtype, "np.nanvar and np.nanstd in a narrower dtype are not supported")
    return wide


def nanvar(
    a: Numbers,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """``np.nanvar`` of the elements that are numbers; integers all are."""
    a = a if dtype is None else in_full(a, dtype)
    ddof = ddof if correction is None else correction
    if where is not None or mean is not None:
        variances = moments_where(a, axis, ddof, keepdims, mean, are_numbers(inexact(a), where))
        return np.where(np.isinf(variances), np.nan, variances)[()]
    if a.dtype.kind in "iub":
        return np.var(a, axis=axis, ddof=ddof, keepdims=keepdims)
    middle = np.nanmean(a, axis=axis, keepdims=True)
    apart = np.where(np.isnan(a), middle, a) - middle
    count = np.sum(np.where(np.isnan(a), np.zeros_like(a), np.ones_like(a)), axis=axis, keepdims=keepdims)
    freedom = count - ddof
    return np.sum(apart * apart, axis=axis, keepdims=keepdims) / np.where(freedom > 0, freedom, np.nan)


def nanstd(
    a: Numbers,
    axis: Any = None,
    dtype: Any = None,
    ddof: Any = 0,
    keepdims: Any = False,
    where: Any = None,
    mean: Any = None,
    correction: Any = None,
) -> Any:
    """``np.nanstd`` of the elements that are numbers."""
    variances = nanvar(a, axis, dtype, ddof, keepdims, where, mean, correction)
    if mean is not None or a.dtype.kind in "iub":
        return np.sqrt(variances)
    counted = np.logical_not(np.isnan(a))
    return deviation(variances, counted if where is None else np.logical_and(counted, where), axis, keepdims)


def nancumsum(a: Numbers, axis: Any = None) -> Any:
    """``np.nancumsum``: NaN counts as zero."""
    return np.cumsum(numbers_or(a, 0), axis=axis)


def nancumprod(a: Numbers, axis: Any = None) -> Any:
    """``np.nancumprod``: NaN counts as one."""
    return np.cumprod(numbers_or(a, 1), axis=axis)


def weighted_cov(rows: Any, fweights: Any, aweights: Any, lost: Any) -> Any:
    """The covariances of rows of observations that count several times, or are weighed."""
    counts = np.ones(rows.shape[1]) if fweights is None else np.asarray(fweights, dtype=float)
    shares = counts if aweights is None else counts * np.asarray(aweights, dtype=float)
    total = np.sum(shares)
    if total == 0:
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    apart = rows - np.expand_dims(rows @ shares / total, 1)
    freedom = total - lost if aweights is None else total - lost * np.sum(shares * aweights) / total
    return (apart * shares) @ np.transpose(apart) / np.maximum(freedom, 0)


def cov(
    m: Numbers,
    y: Numbers = None,
    rowvar: Any = True,
    bias: Any = False,
    ddof: Any = None,
    fweights: Numbers = None,
    aweights: Numbers = None,
) -> Any:
    """``np.cov``: variables in rows, or in columns."""
    rows = np.reshape(m, (1, -1)) if np.ndim(m) == 1 else m if rowvar else np.transpose(m)
    if y is not None:
        other = np.reshape(y, (1, -1)) if np.ndim(y) == 1 else y if rowvar else np.transpose(y)
        rows = np.concatenate([rows, other])
    rows = np.asarray(rows, dtype=float)
    lost = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        apart = rows - np.mean(rows, axis=1, keepdims=True)
        covariances = apart @ np.transpose(apart) / np.maximum(rows.shape[1] - lost, 0)
    else:
        covariances = weighted_cov(rows, fweights, aweights, lost)
    return np.reshape(covariances, ()) if y is None and rows.shape[0] == 1 else covariances


def corrcoef(x: Numbers, y: Numbers = None, rowvar: Any = True) -> Any:
    """``np.corrcoef`` of several variables."""
    covariances = cov(x, y, rowvar)
    if np.ndim(covariances) == 0:
        return covariances / covariances
    scale = np.sqrt(np.diagonal(covariances))
    return np.clip(covariances / np.expand_dims(scale, 1) / scale, -1, 1)
