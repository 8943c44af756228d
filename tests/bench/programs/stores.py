"""Stores in place: stencils, triangular systems, factors, recursions that overwrite themselves, bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.bench.case import Case, numbers

# ------------------------------------------------------------------ stencils


def diffuse(u: Any, c: float, steps: int) -> Any:
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    return np.sum(u * u)


def diffuse_adjoint(u: Any, c: float, steps: int) -> Any:
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
    u_grad = 2.0 * u
    for _ in range(steps):
        t = c * u_grad[1:-1]
        u_grad[1:-1] -= 2.0 * t
        u_grad[2:] += t
        u_grad[:-2] += t
    return (u * u).sum(), (u_grad,)


def diffuse_kernel(u: Any, c: float, steps: int) -> Any:
    u, n = u.copy(), u.shape[0]
    t = np.empty(n)
    for _ in range(steps):
        for i in range(1, n - 1):
            t[i] = u[i] + c * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        for i in range(1, n - 1):
            u[i] = t[i]
    value, g = 0.0, np.empty(n)
    for i in range(n):
        value += u[i] * u[i]
        g[i] = 2.0 * u[i]
    for _ in range(steps):
        for i in range(1, n - 1):
            t[i] = c * g[i]
        for i in range(1, n - 1):
            g[i] -= 2.0 * t[i]
        for i in range(1, n - 1):
            g[i + 1] += t[i]
        for i in range(1, n - 1):
            g[i - 1] += t[i]
    return value, (g,)


def plate(u: Any, c: float, steps: int) -> Any:
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = u[1:-1, 1:-1] + c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
        u, v = v, u
    return np.sum(u * u)


def plate_adjoint(u: Any, c: float, steps: int) -> Any:
    u = u.copy()
    v = u.copy()
    for _ in range(steps):
        v[1:-1, 1:-1] = u[1:-1, 1:-1] + c * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1])
        u, v = v, u
    u_grad, v_grad = 2.0 * u, np.zeros(v.shape)
    for _ in range(steps):
        u_grad, v_grad = v_grad, u_grad
        inner = v_grad[1:-1, 1:-1]
        t = c * inner
        u_grad[1:-1, 1:-1] += inner
        inner[...] = 0.0
        u_grad[2:, 1:-1] += t
        u_grad[:-2, 1:-1] += t
        u_grad[1:-1, 2:] += t
        u_grad[1:-1, :-2] += t
        t *= 4.0
        u_grad[1:-1, 1:-1] -= t
    u_grad += v_grad
    return (u * u).sum(), (u_grad,)


# ------------------------------------------------------------------ a triangular system, a factor


def solve(low: Any, b: Any) -> Any:
    x = np.zeros(b.shape)
    for i in range(b.shape[0]):
        x[i] = (b[i] - low[i, :i] @ x[:i]) / low[i, i]
    return np.sum(x * x)


def solve_adjoint(low: Any, b: Any) -> Any:
    x = np.zeros(b.shape)
    for i in range(b.shape[0]):
        x[i] = (b[i] - low[i, :i].dot(x[:i])) / low[i, i]
    x_grad, low_grad, b_grad = 2.0 * x, np.zeros(low.shape), np.zeros(b.shape)
    for i in reversed(range(b.shape[0])):
        g = x_grad[i] / low[i, i]
        b_grad[i] = g
        low_grad[i, i] = -g * x[i]
        low_grad[i, :i] = -g * x[:i]
        x_grad[:i] -= g * low[i, :i]
    return (x * x).sum(), (low_grad, b_grad)


def solve_kernel(low: Any, b: Any) -> Any:
    n = b.shape[0]
    x, low_grad, b_grad, value = np.zeros(n), np.zeros(low.shape), np.zeros(n), 0.0
    for i in range(n):
        s = b[i]
        for j in range(i):
            s -= low[i, j] * x[j]
        x[i] = s / low[i, i]
        value += x[i] * x[i]
    x_grad = 2.0 * x
    for i in range(n - 1, -1, -1):
        g = x_grad[i] / low[i, i]
        b_grad[i] = g
        low_grad[i, i] = -g * x[i]
        for j in range(i):
            low_grad[i, j] = -g * x[j]
            x_grad[j] -= g * low[i, j]
    return value, (low_grad, b_grad)


def lower(n: int) -> Any:
    return np.tril(numbers(n, n)) * 0.1 + 3.0 * np.eye(n)


def factor(a: Any) -> Any:
    low = np.zeros(a.shape)
    for j in range(a.shape[0]):
        low[j, j] = np.sqrt(a[j, j] - low[j, :j] @ low[j, :j])
        low[j + 1 :, j] = (a[j + 1 :, j] - low[j + 1 :, :j] @ low[j, :j]) / low[j, j]
    return np.sum(low * low * low)


def factor_adjoint(a: Any) -> Any:
    low = np.zeros(a.shape)
    for j in range(a.shape[0]):
        row = low[j, :j]
        low[j, j] = math.sqrt(a[j, j] - row.dot(row))
        low[j + 1 :, j] = (a[j + 1 :, j] - low[j + 1 :, :j].dot(row)) / low[j, j]
    square = low * low
    low_grad, a_grad = 3.0 * square, np.zeros(a.shape)
    square *= low
    for j in reversed(range(a.shape[0])):
        row, below = low[j, :j], low[j + 1 :, :j]
        g = low_grad[j + 1 :, j] / low[j, j]
        a_grad[j + 1 :, j] = g
        low_grad[j + 1 :, :j] -= g[:, None] * row
        t = (low_grad[j, j] - g.dot(low[j + 1 :, j])) / (2.0 * low[j, j])
        a_grad[j, j] = t
        low_grad[j, :j] -= g.dot(below) + 2.0 * t * row
    return square.sum(), (a_grad,)


def definite(n: int) -> tuple[Any, ...]:
    low = lower(n)
    return (low @ low.T,)


# ------------------------------------------------------------------ a recursion that overwrites its own past


def levinson(r: Any) -> Any:
    y = np.zeros(r.shape)
    y[0] = -r[0]
    alpha, beta = -r[0], 1.0
    for k in range(1, r.shape[0]):
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + np.flip(r[:k]) @ y[:k]) / beta
        y[:k] = y[:k] + alpha * np.flip(y[:k])
        y[k] = alpha
    return np.sum(y * y)


def levinson_adjoint(r: Any) -> Any:
    y = np.zeros(r.shape)
    y[0] = alpha = -r[0]
    beta, tape = 1.0, []
    for k in range(1, r.shape[0]):
        old = y[:k].copy()
        tape.append((old, alpha, beta))
        beta = beta * (1.0 - alpha * alpha)
        alpha = -(r[k] + r[k - 1 :: -1].dot(old)) / beta
        y[:k] += alpha * old[::-1]
        y[k] = alpha
    y_grad, r_grad, alpha_grad, beta_grad = 2.0 * y, np.zeros(r.shape), 0.0, 0.0
    for k in reversed(range(1, r.shape[0])):
        old, before, above = tape.pop()
        alpha_grad += y_grad[k] + y_grad[:k].dot(old[::-1])
        y_grad[:k] += alpha * y_grad[:k][::-1]
        t = -alpha_grad / beta
        beta_grad += t * alpha
        r_grad[k] += t
        r_grad[:k] += t * old[::-1]
        y_grad[:k] += t * r[k - 1 :: -1]
        alpha_grad = -2.0 * before * above * beta_grad
        beta_grad = beta_grad * (1.0 - before * before)
        alpha, beta = before, above
    r_grad[0] -= alpha_grad + y_grad[0]
    return (y * y).sum(), (r_grad,)


# ------------------------------------------------------------------ single elements, and whole arrays by a mask


def traced(a: Any) -> Any:
    total = 0.0
    for i in range(a.shape[0]):
        total += np.tanh(a[i, i])
    return np.sum(a + total)


def traced_adjoint(a: Any) -> Any:
    n, total = a.shape[0], 0.0
    a_grad = np.ones(a.shape)
    for i, d in enumerate(a.diagonal().tolist()):
        t = math.tanh(d)
        total += t
        a_grad[i, i] += n * n * (1.0 - t * t)
    return (a + total).sum(), (a_grad,)


def traced_kernel(a: Any) -> Any:
    n, total, value = a.shape[0], 0.0, 0.0
    a_grad = np.ones(a.shape)
    for i in range(n):
        t = math.tanh(a[i, i])
        total += t
        a_grad[i, i] += n * n * (1.0 - t * t)
    for i in range(n):
        for j in range(n):
            value += a[i, j] + total
    return value, (a_grad,)


def binned(x: Any, r: Any, edges: Any) -> Any:
    means = np.zeros(edges.shape[0] - 1)
    for i in range(means.shape[0]):
        inside = (edges[i] <= r) & (r < edges[i + 1])
        means[i] = np.mean(x[inside])
    return np.sum(means * means)


def binned_adjoint(x: Any, r: Any, edges: Any) -> Any:
    value, x_grad = 0.0, np.zeros(x.shape)
    for i in range(edges.shape[0] - 1):
        inside = (edges[i] <= r) & (r < edges[i + 1])
        selected = x[inside]
        mean = selected.mean()
        value += mean * mean
        x_grad[inside] += 2.0 * mean / selected.shape[0]
    return value, (x_grad,)


CASES = (
    Case("diffuse", diffuse, diffuse_adjoint, (0,), lambda n, steps: (numbers(n), 0.2, steps),
         {"n": 400, "steps": 200}, {"n": 5, "steps": 3}, {"n": 1, "steps": 1}, diffuse_kernel),
    Case("plate", plate, plate_adjoint, (0,), lambda n, steps: (numbers(n, n), 0.1, steps),
         {"n": 64, "steps": 50}, {"n": 4, "steps": 3}, {"steps": 1}),
    Case("solve", solve, solve_adjoint, (0, 1), lambda n: (lower(n), numbers(n)),
         {"n": 120}, {"n": 4}, {"n": 2}, solve_kernel),
    Case("factor", factor, factor_adjoint, (0,), definite, {"n": 80}, {"n": 4}, {"n": 3}),
    Case("levinson", levinson, levinson_adjoint, (0,), lambda n: (0.5 ** np.arange(1.0, n + 1.0) * (1.0 + 0.1 * numbers(n)),),
         {"n": 120}, {"n": 5}, {"n": 2}),
    Case("traced", traced, traced_adjoint, (0,), lambda n: (numbers(n, n),), {"n": 100}, {"n": 3}, {"n": 2}, traced_kernel),
    Case("binned", binned, binned_adjoint, (0,), lambda n: (numbers(n), np.linspace(0.0, 1.0, n, endpoint=False), np.linspace(0.0, 1.0, 17)),
         {"n": 8000}, {"n": 34}, {"n": 1}),
)  # fmt: skip
