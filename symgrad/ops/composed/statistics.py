"""Averages, quantiles, covariances, and reductions that pass over what is not a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need
from symgrad.ops.composed.shapes import kept, rows_first


def ptp(a: Numbers, axis: Any = None, keepdims: Any = None) -> Any:
    """``np.ptp``: largest minus smallest."""
    made = np.max(a, axis=axis) - np.min(a, axis=axis)
    return kept(made, a, axis) if keepdims else made


def average(a: Numbers, axis: Any = None, weights: Numbers = None) -> Any:
    """``np.average``, weights of the shape of ``a`` or along one axis."""
    if weights is None:
        return np.mean(a, axis=axis)
    if axis is None or np.ndim(weights) == np.ndim(a):
        return np.sum(a * weights, axis=axis) / np.sum(weights, axis=axis)
    moved = np.moveaxis(a, axis, -1)
    return np.sum(moved * weights, axis=-1) / np.sum(weights)


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
    return np.clip(count * q + (alpha + q * (1 - alpha - beta)) - 1, 0, count - 1)


def quantile(a: Numbers, q: Numbers, axis: Any = None, method: str = "linear", keepdims: Any = False) -> Any:
    """``np.quantile``: between the two that stand next to the place asked for."""
    ordered = np.sort(rows_first(a, axis), axis=0)
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
    made = np.where(np.isnan(ordered[-1]), np.nan, ordered[low] + part * (ordered[high] - ordered[low]))
    if keepdims:
        need(np.ndim(q) == 0, "keepdims of several quantiles is not supported")
        return kept(made, a, axis)
    return made


def percentile(a: Numbers, q: Numbers, axis: Any = None, method: str = "linear", keepdims: Any = False) -> Any:
    """``np.percentile``."""
    return quantile(a, q / 100.0, axis, method, keepdims)


def nanmedian(a: Numbers) -> Any:
    """``np.nanmedian`` of all elements."""
    return np.median(a[~np.isnan(a)])


def nanquantile(a: Numbers, q: Numbers) -> Any:
    """``np.nanquantile`` of all elements."""
    return quantile(a[~np.isnan(a)], q)


def nanpercentile(a: Numbers, q: Numbers) -> Any:
    """``np.nanpercentile`` of all elements."""
    return percentile(a[~np.isnan(a)], q)


def nanprod(a: Numbers, axis: Any = None, keepdims: Any = False) -> Any:
    """``np.nanprod``: what is not a number counts as one."""
    return np.prod(np.where(np.isnan(a), 1.0, a), axis=axis, keepdims=keepdims)


def nanvar(a: Numbers, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """``np.nanvar`` of the elements that are numbers."""
    middle = np.nanmean(a, axis=axis, keepdims=True)
    apart = np.where(np.isnan(a), middle, a) - middle
    count = np.sum(np.where(np.isnan(a), np.zeros_like(a), np.ones_like(a)), axis=axis, keepdims=keepdims)
    return np.sum(apart * apart, axis=axis, keepdims=keepdims) / (count - ddof)


def nanstd(a: Numbers, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
    """``np.nanstd`` of the elements that are numbers."""
    return np.sqrt(nanvar(a, axis, ddof, keepdims))


def nancumsum(a: Numbers, axis: Any = None) -> Any:
    """``np.nancumsum``: what is not a number counts as zero."""
    return np.cumsum(np.where(np.isnan(a), 0.0, a), axis=axis)


def nancumprod(a: Numbers, axis: Any = None) -> Any:
    """``np.nancumprod``: what is not a number counts as one."""
    return np.cumprod(np.where(np.isnan(a), 1.0, a), axis=axis)


def cov(m: Numbers, y: Numbers = None, rowvar: Any = True, bias: Any = False, ddof: Any = None) -> Any:
    """``np.cov``: variables in rows, or in columns."""
    rows = np.reshape(m, (1, -1)) if np.ndim(m) == 1 else m if rowvar else np.transpose(m)
    if y is not None:
        other = np.reshape(y, (1, -1)) if np.ndim(y) == 1 else y if rowvar else np.transpose(y)
        rows = np.concatenate([rows, other])
    rows = np.asarray(rows, dtype=float)
    apart = rows - np.mean(rows, axis=1, keepdims=True)
    lost = (0 if bias else 1) if ddof is None else ddof
    made = apart @ np.transpose(apart) / (rows.shape[1] - lost)
    return np.reshape(made, ()) if np.ndim(m) == 1 and y is None else made


def corrcoef(x: Numbers, y: Numbers = None, rowvar: Any = True) -> Any:
    """``np.corrcoef`` of several variables."""
    need(np.ndim(x) == 2 or y is not None, "np.corrcoef of one variable is not supported")
    made = cov(x, y, rowvar)
    scale = np.sqrt(np.diagonal(made))
    return np.clip(made / np.expand_dims(scale, 1) / scale, -1, 1)
