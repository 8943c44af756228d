"""Common subexpressions of both halves are computed once, also in loops and branches."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symgrad
from symgrad.testing import check_grads


def turned(x, n):
    for _ in range(n):
        x = x - 0.1 * math.sin(x) * math.cos(x)
    return x


def towards(x):
    while abs(math.sin(x) * math.cos(x)) > 0.3:
        x = x * 0.7
    return np.sin(x) + np.cos(x)


def either(x, n):
    total = 0.0
    for i in range(n):
        c = math.cos(x + i)
        if i % 2 == 0:
            total = total + math.sin(x + i) * c
        else:
            total = total - math.exp(math.sin(x + i))
    return total


def waves(x, n):
    y = x
    for _ in range(n):
        y = np.sin(y) + np.cos(y) * x
    return np.sum(y)


@pytest.mark.parametrize(("function", "args", "most"), [
    (turned, (0.7, 5), {"sin": 1, "cos": 1}),
    (towards, (1.0,), {"sin": 2, "cos": 2}),
    (either, (0.3, 5), {"sin": 2, "cos": 1}),
    (waves, (np.linspace(0.1, 1.0, 4), 3), {"sin": 1, "cos": 1}),
])  # fmt: skip
def test_sines_and_cosines_are_computed_once(function, args, most):
    check_grads(function, args, wrt="x")
    text = symgrad.grad(function, wrt="x").ir(*args)
    assert {name: text.count(f"= {name}(") for name in most} == most


def solved(a, b, n):
    x = b
    for _ in range(n):
        x = np.linalg.solve(a, x + b)
        b = x * 0.5
    return np.sum(x * x)


def test_a_system_is_solved_once_for_both_cotangents():
    a, b = np.array([[2.0, 0.3], [-0.4, 1.5]]), np.array([0.7, -0.2])
    check_grads(solved, (a, b, 3), wrt=("a", "b"))
    check_grads(solved, (a, np.outer(b, b), 2), wrt=("a", "b"))
    assert symgrad.grad(solved, wrt=("a", "b")).ir(a, b, 3).count("= solve(") == 2


def overwritten(x):
    y = x.copy()
    for k in range(3):
        scale = (x * x[k] + x) * x[0]
        y[:] = np.exp(-y * scale)
    return np.sum(y * y)


def test_what_a_store_wrote_is_read_back_before_the_store_is_undone():
    """The exponentials stand in ``y`` when going back comes to them: only what the stores overwrote is saved."""
    x = np.array([0.7, 0.9, 1.3, 0.4])
    check_grads(overwritten, (x,))
    derivative = symgrad.value_and_grad(overwritten)
    derivative(x)
    text = "\n".join(line.partition("  #")[0] for line in derivative.source(optimize="speed").splitlines())
    assert text.count("np.exp(") == 1
    assert "y_old_tape[k] = y_old" in text  # and nothing else
