"""Whole arrays at a time: sums of exponentials, attention, a classifier, a mixture of normal distributions, clusters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.bench.case import ALL_PEERS, Case, numbers

# ------------------------------------------------------------------ the logarithm of a sum of exponentials


def log_sum(x: Any) -> Any:
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def log_sum_adjoint(x: Any) -> Any:
    m = x.max()
    e = x - m
    np.exp(e, out=e)
    s = e.sum()
    e /= s
    return m + math.log(s), (e,)


def log_sum_kernel(x: Any) -> Any:
    m, s = -np.inf, 0.0
    for i in range(x.shape[0]):
        m = max(m, x[i])
    e = np.empty(x.shape[0])
    for i in range(x.shape[0]):
        e[i] = math.exp(x[i] - m)
        s += e[i]
    for i in range(x.shape[0]):
        e[i] /= s
    return m + math.log(s), (e,)


# ------------------------------------------------------------------ least squares


def least_squares(a: Any, b: Any, x: Any) -> Any:
    r = a @ x - b
    return np.sum(r * r) / b.shape[0] + 0.01 * np.sum(x * x)


def least_squares_adjoint(a: Any, b: Any, x: Any) -> Any:
    r = a.dot(x) - b
    t = r * (2.0 / b.shape[0])
    return r.dot(r) / b.shape[0] + 0.01 * x.dot(x), (t.dot(a) + 0.02 * x,)


def least_squares_kernel(a: Any, b: Any, x: Any) -> Any:
    r = np.dot(a, x) - b
    n, value = b.shape[0], 0.0
    for i in range(n):
        value += r[i] * r[i]
        r[i] *= 2.0 / n
    x_grad = np.dot(r, a)
    square = 0.0
    for i in range(x.shape[0]):
        square += x[i] * x[i]
        x_grad[i] += 0.02 * x[i]
    return value / n + 0.01 * square, (x_grad,)


# ------------------------------------------------------------------ attention


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.T / math.sqrt(q.shape[1])
    weights = np.exp(scores - np.amax(scores, axis=1, keepdims=True))
    weights = weights / np.sum(weights, axis=1, keepdims=True)
    out = weights @ v
    return np.sum(out * out)


def attention_adjoint(q: Any, k: Any, v: Any) -> Any:
    root = math.sqrt(q.shape[1])
    scores = q @ k.T / root
    p = np.exp(scores - scores.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    out = p @ v
    out_grad = 2.0 * out
    p_grad = out_grad @ v.T
    p_grad -= (p_grad * p).sum(1, keepdims=True)
    p_grad *= p
    p_grad /= root
    return (out * out).sum(), (p_grad @ k, p_grad.T @ q, p.T @ out_grad)


# ------------------------------------------------------------------ a classifier


def classifier(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, labels: Any) -> Any:
    h = np.maximum(x @ w1 + b1, 0.0)
    s = h @ w2 + b2
    s = s - np.amax(s, axis=1, keepdims=True)
    loss = np.log(np.sum(np.exp(s), axis=1)) - s[np.arange(x.shape[0]), labels]
    return np.mean(loss)


def classifier_adjoint(w1: Any, b1: Any, w2: Any, b2: Any, x: Any, labels: Any) -> Any:
    n = x.shape[0]
    z = x @ w1
    z += b1
    h = np.maximum(z, 0.0)
    s = h @ w2
    s += b2
    s -= s.max(1, keepdims=True)
    rows = np.arange(n)
    picked = s[rows, labels]
    np.exp(s, out=s)
    total = s.sum(1)
    value = (np.log(total) - picked).mean()
    s /= total[:, None]
    s[rows, labels] -= 1.0
    s /= n
    h_grad = s @ w2.T
    h_grad *= z > 0.0
    return value, (x.T @ h_grad, h_grad.sum(0), h.T @ s, s.sum(0))


def classified(n: int, hidden: int) -> tuple[Any, ...]:
    labels = np.arange(n) % 10
    weights = 0.1 * numbers(64, hidden), 0.1 * numbers(hidden), 0.1 * numbers(hidden, 10), numbers(10)
    return *weights, numbers(n, 64, seed=8), labels


# ------------------------------------------------------------------ a mixture of normal distributions


def mixture(x: Any, means: Any, spread: Any, weights: Any) -> Any:
    d = x[:, None, :] - means[None, :, :]
    e = weights + x.shape[1] * spread - 0.5 * np.sum(d * d, axis=2) * np.exp(2.0 * spread)
    m = np.amax(e, axis=1)
    return np.sum(m + np.log(np.sum(np.exp(e - m[:, None]), axis=1)))


def mixture_adjoint(x: Any, means: Any, spread: Any, weights: Any) -> Any:
    d = x[:, None, :] - means
    q = (d * d).sum(2)
    scale = np.exp(2.0 * spread)
    q *= scale
    e = weights + x.shape[1] * spread - 0.5 * q
    m = e.max(1)
    e -= m[:, None]
    np.exp(e, out=e)
    total = e.sum(1)
    value = (m + np.log(total)).sum()
    e /= total[:, None]
    weights_grad = e.sum(0)
    q *= e
    spread_grad = x.shape[1] * weights_grad - q.sum(0)
    e *= scale
    d *= e[:, :, None]
    return value, (d.sum(0), spread_grad, weights_grad)


# ------------------------------------------------------------------ clusters


def clusters(points: Any, centres: Any) -> Any:
    d = points[:, None, :] - centres[None, :, :]
    return np.sum(np.amin(np.sum(d * d, axis=2), axis=1))


def clusters_adjoint(points: Any, centres: Any) -> Any:
    d = points[:, None, :] - centres
    squares = (d * d).sum(2)
    nearest = squares.argmin(1)
    rows = np.arange(points.shape[0])
    distances = d[rows, nearest]
    distances *= -2.0
    centres_grad = np.zeros(centres.shape)
    np.add.at(centres_grad, nearest, distances)
    return squares[rows, nearest].sum(), (centres_grad,)


def clusters_kernel(points: Any, centres: Any) -> Any:
    value, centres_grad = 0.0, np.zeros(centres.shape)
    for i in range(points.shape[0]):
        best, place = np.inf, 0
        for k in range(centres.shape[0]):
            s = 0.0
            for j in range(points.shape[1]):
                d = points[i, j] - centres[k, j]
                s += d * d
            if s < best:
                best, place = s, k
        value += best
        for j in range(points.shape[1]):
            centres_grad[place, j] -= 2.0 * (points[i, j] - centres[place, j])
    return value, (centres_grad,)


CASES = (
    Case("log_sum", log_sum, log_sum_adjoint, (0,), lambda n: (numbers(n),),
         {"n": 20_000}, {"n": 4}, {"n": 1}, log_sum_kernel, ALL_PEERS),
    Case("log_sum_large", log_sum, log_sum_adjoint, (0,), lambda n: (numbers(n),),
         {"n": 400_000}, {"n": 4}, {}, log_sum_kernel, ALL_PEERS),
    Case("least_squares", least_squares, least_squares_adjoint, (2,), lambda n: (numbers(n, 32), numbers(n), numbers(32)),
         {"n": 4000}, {"n": 3}, {"n": 1}, least_squares_kernel, ALL_PEERS),
    Case("attention", attention, attention_adjoint, (0, 1, 2), lambda n: tuple(numbers(3, n, 32)),
         {"n": 64}, {"n": 3}, {"n": 2}, None, ALL_PEERS),
    Case("attention_large", attention, attention_adjoint, (0, 1, 2), lambda n: tuple(numbers(3, n, 64)),
         {"n": 512}, {"n": 3}, {}, None, ALL_PEERS),
    Case("classifier", classifier, classifier_adjoint, (0, 1, 2, 3), classified,
         {"n": 32, "hidden": 128}, {"n": 2, "hidden": 3}, {"n": 1, "hidden": 1}, None, ("autograd", "jax")),
    Case("mixture", mixture, mixture_adjoint, (1, 2, 3), lambda n: (numbers(n, 8), numbers(10, 8), 0.1 * numbers(10), numbers(10)),
         {"n": 500}, {"n": 3}, {"n": 1}, None, ALL_PEERS),
    Case("clusters", clusters, clusters_adjoint, (1,), lambda n: (numbers(n, 4), numbers(8, 4, seed=8)),
         {"n": 2000}, {"n": 5}, {"n": 1}, clusters_kernel, ALL_PEERS),
)  # fmt: skip
