"""Loops over small arrays that are made anew each round: recurrent nets, a differential equation, a filter."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.bench.case import Case, numbers

# ------------------------------------------------------------------ a gated recurrent net


def gated(w: Any, u: Any, b: Any, x: Any) -> Any:
    h = np.zeros(w.shape[1])
    for t in range(x.shape[0]):
        f = 1.0 / (1.0 + np.exp(-(w @ h + x[t])))
        c = np.tanh(u @ h + b)
        h = f * h + (1.0 - f) * c
    return np.sum(h * h)


def gated_adjoint(w: Any, u: Any, b: Any, x: Any) -> Any:
    h = np.zeros(w.shape[1])
    tape = []
    for t in range(x.shape[0]):
        f = 1.0 / (1.0 + np.exp(-(w.dot(h) + x[t])))
        c = np.tanh(u.dot(h) + b)
        tape.append((h, f, c))
        h = f * h + (1.0 - f) * c
    w_grad, u_grad, b_grad, h_grad = np.zeros(w.shape), np.zeros(u.shape), np.zeros(b.shape), 2.0 * h
    value = h.dot(h)
    for h, f, c in reversed(tape):
        f_grad = h_grad * (h - c) * f * (1.0 - f)
        c_grad = h_grad * (1.0 - f) * (1.0 - c * c)
        w_grad += f_grad[:, None] * h
        u_grad += c_grad[:, None] * h
        b_grad += c_grad
        h_grad = h_grad * f + f_grad.dot(w) + c_grad.dot(u)
    return value, (w_grad, u_grad, b_grad)


# ------------------------------------------------------------------ a differential equation, by Runge and Kutta's method


def rate(y: Any, k: Any) -> Any:
    return k @ (y * (1.0 - y))


def reaction(y: Any, k: Any, h: float, steps: int) -> Any:
    for _ in range(steps):
        k1 = rate(y, k)
        k2 = rate(y + 0.5 * h * k1, k)
        k3 = rate(y + 0.5 * h * k2, k)
        k4 = rate(y + h * k3, k)
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return np.sum(y * y)


def reaction_adjoint(y: Any, k: Any, h: float, steps: int) -> Any:
    tape = []
    for _ in range(steps):
        k1 = k.dot(y * (1.0 - y))
        y2 = y + 0.5 * h * k1
        k2 = k.dot(y2 * (1.0 - y2))
        y3 = y + 0.5 * h * k2
        k3 = k.dot(y3 * (1.0 - y3))
        y4 = y + h * k3
        k4 = k.dot(y4 * (1.0 - y4))
        tape.append((y, y2, y3, y4))
        y = y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    value, k_grad, y_grad = y.dot(y), np.zeros(k.shape), 2.0 * y
    for y, y2, y3, y4 in reversed(tape):
        part = h / 6.0 * y_grad
        g4 = part
        p4 = g4.dot(k) * (1.0 - 2.0 * y4)
        g3 = 2.0 * part + h * p4
        p3 = g3.dot(k) * (1.0 - 2.0 * y3)
        g2 = 2.0 * part + 0.5 * h * p3
        p2 = g2.dot(k) * (1.0 - 2.0 * y2)
        g1 = part + 0.5 * h * p2
        for point, grad in ((y4, g4), (y3, g3), (y2, g2), (y, g1)):
            k_grad += grad[:, None] * (point * (1.0 - point))
        y_grad = y_grad + g1.dot(k) * (1.0 - 2.0 * y) + p2 + p3 + p4
    return value, (y_grad, k_grad)


# ------------------------------------------------------------------ a filter with one measurement a step


def filtered(f: Any, q: Any, r: float, h: Any, z: Any) -> Any:
    x, p, cost = np.zeros(h.shape[0]), np.eye(h.shape[0]), 0.0
    for t in range(z.shape[0]):
        x = f @ x
        p = f @ p @ f.T + q
        ph = p @ h
        s = h @ ph + r
        e = z[t] - h @ x
        g = ph / s
        x = x + g * e
        p = p - np.outer(g, ph)
        cost = cost + e * e / s + np.log(s)
    return cost


def filtered_adjoint(f: Any, q: Any, r: float, h: Any, z: Any) -> Any:
    x, p, cost, tape = np.zeros(h.shape[0]), np.eye(h.shape[0]), 0.0, []
    for t in range(z.shape[0]):
        x0, p0 = x, p
        x = f.dot(x)
        p = f.dot(p).dot(f.T) + q
        ph = p.dot(h)
        s = h.dot(ph) + r
        e = z[t] - h.dot(x)
        g = ph / s
        tape.append((x0, p0, ph, s, e, g))
        x = x + g * e
        p = p - g[:, None] * ph
        cost = cost + e * e / s + np.log(s)
    f_grad, q_grad, r_grad = np.zeros(f.shape), np.zeros(q.shape), 0.0
    x_grad, p_grad = np.zeros(h.shape[0]), np.zeros(p.shape)
    for x, p, ph, s, e, g in reversed(tape):
        e_grad = x_grad.dot(g) + 2.0 * e / s
        g_grad = x_grad * e - p_grad.dot(ph)
        s_grad = (1.0 - e * e / s - g_grad.dot(g)) / s
        ph_grad = g_grad / s - g.dot(p_grad) + s_grad * h
        x_grad = x_grad - e_grad * h
        p_grad = p_grad + ph_grad[:, None] * h
        r_grad += s_grad
        q_grad += p_grad
        f_grad += p_grad.dot(f).dot(p.T) + p_grad.T.dot(f).dot(p) + x_grad[:, None] * x
        p_grad = f.T.dot(p_grad).dot(f)
        x_grad = x_grad.dot(f)
    return cost, (f_grad, q_grad, r_grad)


def measured(n: int, steps: int) -> tuple[Any, ...]:
    f = 0.9 * np.eye(n) + 0.05 * numbers(n, n)
    return f, 0.1 * np.eye(n) + 0.01, 0.5, np.abs(numbers(n)), numbers(steps, seed=8)


CASES = (
    Case("gated", gated, gated_adjoint, (0, 1, 2),
         lambda n, steps: (0.3 * numbers(n, n), 0.3 * numbers(n, n, seed=8), numbers(n), numbers(steps, n, seed=9)),
         {"n": 32, "steps": 100}, {"n": 3, "steps": 3}, {"steps": 1}, None, ("autograd",)),
    Case("reaction", reaction, reaction_adjoint, (0, 1), lambda n, steps: (np.abs(0.3 * numbers(n)), 0.05 * numbers(n, n) - np.eye(n), 0.05, steps),
         {"n": 16, "steps": 100}, {"n": 3, "steps": 2}, {"steps": 1}, None, ("autograd",)),
    Case("filtered", filtered, filtered_adjoint, (0, 1, 2), measured,
         {"n": 4, "steps": 100}, {"n": 2, "steps": 3}, {"steps": 1}, None, ("autograd",)),
)  # fmt: skip
