"""Sums of products: over axes that are broadcast, of windows, of cells named by integers, of neighbours in a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bench.case import Case, numbers

# ------------------------------------------------------------------ a product of matrices, written as a sum


def blended(w: Any, a: Any, b: Any) -> Any:
    s = np.sum(w[None, :, :] * a[:, :, None] * b[None, None, :], axis=1)
    return np.sum(np.log(1.0 + s * s))


def blended_adjoint(w: Any, a: Any, b: Any) -> Any:
    t = a @ w
    s = t * b
    g = 2.0 * s / (1.0 + s * s)
    scaled = g * b
    return np.log(1.0 + s * s).sum(), (a.T @ scaled, scaled @ w.T, (g * t).sum(0))


# ------------------------------------------------------------------ a convolution over the offsets of its kernel


def convolved(x: Any, w: Any) -> Any:
    h, v = x.shape[0] - w.shape[0] + 1, x.shape[1] - w.shape[1] + 1
    out = np.zeros((h, v))
    for i in range(w.shape[0]):
        for j in range(w.shape[1]):
            out += w[i, j] * x[i : i + h, j : j + v]
    return np.sum(np.tanh(out))


def convolved_adjoint(x: Any, w: Any) -> Any:
    h, v = x.shape[0] - w.shape[0] + 1, x.shape[1] - w.shape[1] + 1
    weights, out = w.tolist(), np.zeros((h, v))
    places = [(i, j) for i in range(w.shape[0]) for j in range(w.shape[1])]
    for i, j in places:
        out += weights[i][j] * x[i : i + h, j : j + v]
    t = np.tanh(out)
    g = 1.0 - t * t
    x_grad, w_grad = np.zeros(x.shape), np.empty(w.shape)
    for i, j in places:
        w_grad[i, j] = np.vdot(g, x[i : i + h, j : j + v])
        x_grad[i : i + h, j : j + v] += weights[i][j] * g
    return t.sum(), (x_grad, w_grad)


# ------------------------------------------------------------------ a sparse matrix times a vector


def gathered(data: Any, columns: Any, starts: Any, x: Any) -> Any:
    y = np.zeros(starts.shape[0] - 1)
    for i in range(starts.shape[0] - 1):
        for j in range(starts[i], starts[i + 1]):
            y[i] += data[j] * x[columns[j]]
    return np.sum(y * y)


def gathered_adjoint(data: Any, columns: Any, starts: Any, x: Any) -> Any:
    d, c, p, items = data.tolist(), columns.tolist(), starts.tolist(), x.tolist()
    y, value = [0.0] * (len(p) - 1), 0.0
    for i in range(len(y)):
        for j in range(p[i], p[i + 1]):
            y[i] += d[j] * items[c[j]]
    data_grad, x_grad = [0.0] * len(d), [0.0] * len(items)
    for i in range(len(y)):
        g = 2.0 * y[i]
        value += y[i] * y[i]
        for j in range(p[i], p[i + 1]):
            data_grad[j] = g * items[c[j]]
            x_grad[c[j]] += g * d[j]
    return value, (np.array(data_grad), np.array(x_grad))


def sparse(n: int) -> tuple[Any, ...]:
    random = np.random.default_rng(3)
    starts = np.concatenate([[0], np.cumsum(random.integers(2, 9, n))])
    return numbers(starts[-1]), random.integers(0, n, starts[-1]), starts, numbers(n)


# ------------------------------------------------------------------ Gauss and Seidel's steps: rows as a whole, then cell by cell


def relaxed(a: Any, steps: int) -> Any:
    a = a.copy()
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += a[i - 1, 1:-1] + a[i, 2:] + a[i + 1, 1:-1]
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 5.0
    return np.sum(a * a)


def relaxed_adjoint(a: Any, steps: int) -> Any:
    a = a.copy()
    n = a.shape[0]
    for _ in range(steps):
        for i in range(1, n - 1):
            row = a[i]
            row[1:-1] += a[i - 1, 1:-1] + row[2:] + a[i + 1, 1:-1]
            items = row.tolist()
            for j in range(1, n - 1):
                items[j] = (items[j] + items[j - 1]) / 5.0
            row[:] = items
    g = 2.0 * a
    for _ in range(steps):
        for i in range(n - 2, 0, -1):
            items = g[i].tolist()
            for j in range(n - 2, 0, -1):
                items[j] /= 5.0
                items[j - 1] += items[j]
            g[i] = items
            inner = g[i, 1:-1].copy()
            g[i - 1, 1:-1] += inner
            g[i + 1, 1:-1] += inner
            g[i, 2:] += inner
    return (a * a).sum(), (g,)


CASES = (
    Case("blended", blended, blended_adjoint, (0, 1, 2), lambda n: (numbers(20, 10), numbers(n, 20), numbers(10)),
         {"n": 400}, {"n": 3}, {"n": 1}, None, ("autograd", "jax")),
    Case("convolved", convolved, convolved_adjoint, (0, 1), lambda n, width: (numbers(n, n), numbers(width, width)),
         {"n": 64, "width": 5}, {"n": 5, "width": 2}, {"n": 2}),
    Case("gathered", gathered, gathered_adjoint, (0, 3), sparse, {"n": 300}, {"n": 4}, {"n": 1}),
    Case("relaxed", relaxed, relaxed_adjoint, (0,), lambda n, steps: (numbers(n, n), steps),
         {"n": 40, "steps": 3}, {"n": 4, "steps": 2}, {"n": 2, "steps": 1}),
)  # fmt: skip
