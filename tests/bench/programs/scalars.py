"""Numbers one at a time: a formula, a recurrence, an iteration to convergence, the elements of an array in turn."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tests.bench.case import Case, numbers

# ------------------------------------------------------------------ a formula: what a call costs


def formula(x: float, y: float) -> float:
    return x / y + math.sin(x) * y


def formula_adjoint(x: float, y: float) -> Any:
    s = math.sin(x)
    return x / y + s * y, (1.0 / y + math.cos(x) * y, s - x / (y * y))


# ------------------------------------------------------------------ a recurrence


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


def orbit_kernel(x: float, v: float, h: float, steps: int) -> Any:
    tape = np.empty(steps)
    for k in range(steps):
        tape[k] = x
        r = x * x + 1.0
        v = v - h * x / (r * r)
        x = x + h * v
    value, x_grad, v_grad = x * x + v * v, 2.0 * x, 2.0 * v
    for k in range(steps - 1, -1, -1):
        x = tape[k]
        r = x * x + 1.0
        v_grad += x_grad * h
        t = v_grad * h / (r * r)
        x_grad += t * (4.0 * x * x / r - 1.0)
    return value, (x_grad, v_grad)


# ------------------------------------------------------------------ an iteration that ends when it has converged


def roots(a: Any, b: Any) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        x = 1.0
        for _ in range(50):
            step = (x * x * x + a[i] * x - b[i]) / (3.0 * x * x + a[i])
            x = x - step
            if abs(step) < 1e-10:
                break
        total += x
    return total


def roots_adjoint(a: Any, b: Any) -> Any:
    a, b = a.tolist(), b.tolist()
    total, a_grad, b_grad = 0.0, [0.0] * len(a), [0.0] * len(b)
    for i in range(len(a)):
        p, q, x, tape = a[i], b[i], 1.0, []
        for _ in range(50):
            tape.append(x)
            step = (x * x * x + p * x - q) / (3.0 * x * x + p)
            x = x - step
            if abs(step) < 1e-10:
                break
        total += x
        x_grad, p_grad, q_grad = 1.0, 0.0, 0.0
        for x in reversed(tape):
            below = 3.0 * x * x + p
            step = (x * x * x + p * x - q) / below
            t = x_grad / below
            p_grad -= t * (x - step)
            q_grad += t
            x_grad = 6.0 * x * step * t
        a_grad[i], b_grad[i] = p_grad, q_grad
    return total, (np.array(a_grad), np.array(b_grad))


def roots_kernel(a: Any, b: Any) -> Any:
    total, a_grad, b_grad, tape = 0.0, np.zeros(a.shape[0]), np.zeros(b.shape[0]), np.empty(50)
    for i in range(a.shape[0]):
        p, q, x, rounds = a[i], b[i], 1.0, 0
        for _ in range(50):
            tape[rounds] = x
            rounds += 1
            step = (x * x * x + p * x - q) / (3.0 * x * x + p)
            x = x - step
            if abs(step) < 1e-10:
                break
        total += x
        x_grad = 1.0
        for k in range(rounds - 1, -1, -1):
            x = tape[k]
            below = 3.0 * x * x + p
            step = (x * x * x + p * x - q) / below
            t = x_grad / below
            a_grad[i] -= t * (x - step)
            b_grad[i] += t
            x_grad = 6.0 * x * step * t
    return total, (a_grad, b_grad)


# ------------------------------------------------------------------ the elements of an array, one after the other


def smooth(x: Any, y: Any) -> float:
    s = 0.0
    for i in range(1, x.shape[0]):
        d = x[i] - x[i - 1]
        e = x[i] - y[i]
        s += d * d + math.sin(e) * e
    return s


def smooth_adjoint(x: Any, y: Any) -> Any:
    x, y = x.tolist(), y.tolist()
    s, x_grad = 0.0, [0.0] * len(x)
    for i in range(1, len(x)):
        d = x[i] - x[i - 1]
        e = x[i] - y[i]
        t = math.sin(e)
        s += d * d + t * e
        x_grad[i] += 2.0 * d + math.cos(e) * e + t
        x_grad[i - 1] -= 2.0 * d
    return s, (np.array(x_grad),)


def smooth_kernel(x: Any, y: Any) -> Any:
    s, x_grad = 0.0, np.zeros(x.shape[0])
    for i in range(1, x.shape[0]):
        d = x[i] - x[i - 1]
        e = x[i] - y[i]
        t = math.sin(e)
        s += d * d + t * e
        x_grad[i] += 2.0 * d + math.cos(e) * e + t
        x_grad[i - 1] -= 2.0 * d
    return s, (x_grad,)


CASES = (
    Case("formula", formula, formula_adjoint, (0, 1), lambda: (0.7, 1.3), kernel=formula_adjoint),
    Case(
        "orbit", orbit, orbit_adjoint, (0, 1), lambda steps: (1.0, 0.1, 0.01, steps),
        {"steps": 1000}, {"steps": 4}, {"steps": 1}, orbit_kernel, ("autograd",),
    ),
    Case(
        "roots", roots, roots_adjoint, (0, 1), lambda n: (1.0 + np.abs(numbers(n)), 2.0 + np.abs(numbers(n, seed=8))),
        {"n": 200}, {"n": 3}, {"n": 1}, roots_kernel,
    ),
    Case(
        "smooth", smooth, smooth_adjoint, (0,), lambda n: (numbers(n), numbers(n, seed=8)),
        {"n": 500}, {"n": 5}, {"n": 1}, smooth_kernel,
    ),
)  # fmt: skip
