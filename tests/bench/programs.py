"""Programs with inputs and adjoints written by hand, for ``python -m tests.bench``.

Each case is a function, the arguments, what to differentiate with respect to, and the adjoint: one that
returns the value and a tuple of gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

Function = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One program to be timed."""

    name: str
    function: Function
    adjoint: Function
    wrt: tuple[int, ...]
    make: Callable[[], tuple[Any, ...]]


def numbers(*shape: int) -> Any:
    return np.random.default_rng(7).standard_normal(shape)


# ------------------------------------------------------------------ a recurrence of scalars


def orbit(x: float, v: float, h: float, steps: int) -> float:
    for _ in range(steps):
        r = x * x + 1.0
        v = v - h * x / (r * r)
        x = x + h * v
    return x * x + v * v


def orbit_adjoint(x: float, v: float, h: float, steps: int) -> Any:
    tape = []
    for _ in range(steps):
        r = x * x + 1.0
        tape.append((x, r))
        v = v - h * x / (r * r)
        x = x + h * v
    value, x_grad, v_grad = x * x + v * v, 2.0 * x, 2.0 * v
    for _ in range(steps):
        x, r = tape.pop()
        v_grad += x_grad * h
        t = v_grad * h / (r * r)
        x_grad += t * (4.0 * x * x / r - 1.0)
    return value, (x_grad, v_grad)


# ------------------------------------------------------------------ elements of an array, one after the other


def smooth(x: Any, y: Any) -> float:
    s = 0.0
    for i in range(1, x.shape[0]):
        d = x[i] - x[i - 1]
        e = x[i] - y[i]
        s += d * d + math.sin(e) * e
    return s


def smooth_adjoint(x: Any, y: Any) -> Any:
    s, x_grad = 0.0, np.zeros(x.shape)
    for i in range(1, x.shape[0]):
        d = x[i] - x[i - 1]
        e = x[i] - y[i]
        s += d * d + math.sin(e) * e
        x_grad[i] += 2.0 * d + math.cos(e) * e + math.sin(e)
        x_grad[i - 1] -= 2.0 * d
    return s, (x_grad,)


# ------------------------------------------------------------------ array statements


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = q @ k.T / math.sqrt(q.shape[1])
    weights = np.exp(scores - np.max(scores, axis=1, keepdims=True))
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


# ------------------------------------------------------------------ in place, by rows


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


def lower(n: int) -> Any:
    return np.tril(numbers(n, n)) * 0.1 + 3.0 * np.eye(n)


CASES = (
    Case("orbit", orbit, orbit_adjoint, (0, 1), lambda: (1.0, 0.1, 0.01, 1000)),
    Case("smooth", smooth, smooth_adjoint, (0,), lambda: (numbers(500), numbers(2, 500)[1])),
    Case("attention", attention, attention_adjoint, (0, 1, 2), lambda: tuple(numbers(3, 64, 32))),
    Case("attention_large", attention, attention_adjoint, (0, 1, 2), lambda: tuple(numbers(3, 512, 64))),
    Case("diffuse", diffuse, diffuse_adjoint, (0,), lambda: (numbers(400), 0.2, 200)),
    Case("solve", solve, solve_adjoint, (0, 1), lambda: (lower(120), numbers(120))),
)
