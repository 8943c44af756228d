"""Distances between the rows of matrices, as ``scipy.spatial.distance`` defines them, for many pairs at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from symgrad.ops.composed.refusing import Numbers, must, need
from symgrad.ops.composed.special import scipy_special
from symgrad.tables import pairs

#: other names of a metric
NAMES = pairs(
    """
    euclid:euclidean eu:euclidean e:euclidean sqe:sqeuclidean sqeuclid:sqeuclidean cblock:cityblock cb:cityblock c:cityblock
    manhattan:cityblock cheby:chebyshev cheb:chebyshev ch:chebyshev mi:minkowski m:minkowski pnorm:minkowski cos:cosine co:correlation
    js:jensenshannon se:seuclidean s:seuclidean mahal:mahalanobis mah:mahalanobis
    """
)
#: the implemented metrics, and those of them that take weights
METRICS = tuple(
    """
    euclidean sqeuclidean cityblock chebyshev minkowski cosine correlation canberra braycurtis jensenshannon seuclidean mahalanobis
    """.split()
)
WEIGHTED = ("euclidean", "sqeuclidean", "cityblock", "minkowski")


def sum_of(each: Any, w: Any) -> Any:
    """A sum over the last axis, with weights."""
    return np.sum(each if w is None else each * w, axis=-1)


def cosine(a: Any, b: Any) -> Any:
    """One minus the cosine of the angle."""
    return 1.0 - np.sum(a * b, axis=-1) / np.sqrt(np.sum(a * a, axis=-1) * np.sum(b * b, axis=-1))


def centred(a: Any) -> Any:
    """Rows less their means."""
    return a - np.mean(a, axis=-1, keepdims=True)


def jensenshannon(a: Any, b: Any) -> Any:
    """The root of the divergence of Jensen and Shannon."""
    p, q = a / np.sum(a, axis=-1, keepdims=True), b / np.sum(b, axis=-1, keepdims=True)
    middle = (p + q) / 2.0
    rel_entr = scipy_special("rel_entr")
    return np.sqrt(np.sum(rel_entr(p, middle) + rel_entr(q, middle), axis=-1) / 2.0)


def canberra(a: Any, b: Any) -> Any:
    """The sum of differences, each in units of the sizes of both; none of two zeros."""
    size = np.abs(a) + np.abs(b)
    return np.sum(np.abs(a - b) / np.where(size == 0, 1.0, size), axis=-1)


def apart(a: Any, b: Any, metric: Any, p: Any, w: Any, V: Any, VI: Any) -> Any:
    """The distances between rows, in the broadcast shape of the two without the last axis."""
    match metric:
        case "sqeuclidean":
            return sum_of((a - b) ** 2, w)
        case "cityblock":
            return sum_of(np.abs(a - b), w)
        case "chebyshev":
            return np.max(np.abs(a - b), axis=-1)
        case "minkowski":
            return sum_of(np.abs(a - b) ** p, w) ** (1.0 / p)
        case "cosine":
            return cosine(a, b)
        case "correlation":
            return cosine(centred(a), centred(b))
        case "canberra":
            return canberra(a, b)
        case "braycurtis":
            return np.sum(np.abs(a - b), axis=-1) / np.sum(np.abs(a + b), axis=-1)
        case "jensenshannon":
            return jensenshannon(a, b)
        case "seuclidean":
            return np.sqrt(np.sum((a - b) ** 2 / V, axis=-1))
        case "mahalanobis":
            return np.sqrt(np.sum(((a - b) @ VI) * (a - b), axis=-1))
    return np.sqrt(sum_of((a - b) ** 2, w))


def checked(metric: Any, p: Any, w: Any, VI: Any) -> Any:
    """Return the metric under its own name; raise for unsupported arguments."""
    need(isinstance(metric, str), "this metric is not supported")
    metric = NAMES.get(metric.lower(), metric.lower())
    need(metric in METRICS, "this metric is not supported")
    need(p is None or metric == "minkowski", "p is an argument of the metric 'minkowski'")
    need(w is None or metric in WEIGHTED, "weights are supported for euclidean, sqeuclidean, cityblock and minkowski distances")
    need(VI is not None or metric != "mahalanobis", "the metric 'mahalanobis' is supported with VI")
    return metric


def cdist(
    XA: Numbers, XB: Numbers, metric: Any = "euclidean", *, p: Any = None, w: Numbers = None, V: Numbers = None, VI: Numbers = None
) -> Any:
    """``scipy.spatial.distance.cdist``: of each row of one matrix from each row of another."""
    if callable(metric):
        return np.array([[metric(u, v) for v in XB] for u in XA])
    metric = checked(metric, p, w, VI)
    one, other = np.asarray(XA, dtype=float), np.asarray(XB, dtype=float)
    if metric == "seuclidean" and V is None:
        V = np.var(np.concatenate([one, other]), axis=0, ddof=1)
    return apart(one[:, None, :], other[None, :, :], metric, 2 if p is None else p, w, V, VI)


def pdist(X: Numbers, metric: Any = "euclidean", *, p: Any = None, w: Numbers = None, V: Numbers = None, VI: Numbers = None) -> Any:
    """``scipy.spatial.distance.pdist``: of each row from each one after it."""
    count = np.shape(X)[0]
    if callable(metric):
        return np.array([metric(X[i], X[j]) for i in range(count) for j in range(i + 1, count)])
    metric = checked(metric, p, w, VI)
    rows = np.asarray(X, dtype=float)
    before, after = np.triu_indices(count, 1)
    if metric == "seuclidean" and V is None:
        V = np.var(rows, axis=0, ddof=1)
    return apart(rows[before], rows[after], metric, 2 if p is None else p, w, V, VI)


def squareform(X: Numbers, force: Any = "no", checks: Any = True) -> Any:
    """``scipy.spatial.distance.squareform``: a matrix of distances from the vector of those above its diagonal, or that vector."""
    need(force == "no" or force == "tomatrix" and np.ndim(X) == 1 or force == "tovector" and np.ndim(X) == 2, "this force is not supported")
    need(np.ndim(X) in (1, 2), "scipy.spatial.distance.squareform takes a vector or a matrix")
    if np.ndim(X) == 2:
        if checks:
            must(
                np.all(np.transpose(X) == X) and np.all(np.diagonal(X) == 0),
                "Distance matrix 'X' must be symmetric, with zeros in its diagonal.",
            )
        before, after = np.triu_indices(np.shape(X)[0], 1)
        return X[before, after]
    count = int(np.ceil(np.sqrt(np.shape(X)[0] * 2)))
    must(
        count * (count - 1) == np.shape(X)[0] * 2, "Incompatible vector size. It must be a binomial coefficient n choose 2 for some n >= 2."
    )
    count = max(count, 1)
    before, after = np.triu_indices(count, 1)
    matrix = np.zeros((count, count), dtype=X.dtype)
    matrix[before, after] = X
    matrix[after, before] = X
    return matrix


DISTANCES: dict[str, Callable[..., Any]] = {"cdist": cdist, "pdist": pdist, "squareform": squareform}
