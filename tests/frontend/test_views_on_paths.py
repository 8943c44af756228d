"""Names that are one of several views, by path or iteration: stores through them and through the base."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from tests.verdicts import Verdicts

verdicts = Verdicts()
right = verdicts.right


class Box:
    def __init__(self, v: Any) -> None:
        self.v = v


@right
def a_view_or_a_new_array(x: Any, c: float) -> Any:
    y, z = x * 2.0, x * x
    q = y[1:] if c > 1.0 else z[:-1] if c > 0.0 else np.sin(x[1:])
    r = q[::-1] if c < 5.0 else y[:3]
    q[0] *= x[3]
    y[2] += r[1]
    r[1] = q[2] * x[0]
    z[0] *= 1.5
    np.add.at(q, np.array([0, 0, 1]), x[:3])
    return np.sum(y * z) + np.sum(q * r) * (2.0 if q is r else 1.0)


@right
def a_view_by_an_index_of_an_inner_branch(x: Any, c: float) -> Any:
    y = x * 1.5
    v = y
    if c > 0.0:
        if x[0] < 10.0:
            k = int(c)
            v = v[k % 2 :]
    y[0] = y[-1] * 1.5
    return np.sum(y**2) + np.sum(v**2)


@right
def a_matrix_seen_in_one_of_three_ways(x: Any, c: float) -> Any:
    m = np.outer(x, x)
    w = m.T if c > 1.0 else m if c > 0.0 else m[::-1]
    shown = np.broadcast_to(m[0], (4, 4)) if c < 1.0 else np.outer(x, x)
    w[0] *= x
    m[1, 2] = x[0] ** 2
    for row in w:
        row[1] += 0.5 * row[0]
    w[1:, 1:] *= np.ones((3, 3)) + w[:3, :3]
    return np.sum(m * w) + np.sum(w[1] * shown)


@right
def steps_that_are_computed_on_the_path(x: Any, c: float) -> Any:
    y, i = x * 2.0, int(abs(c))
    if c > 1.0:
        q = y[i - 1 :]
        k = 5 - i
    else:
        k = 3
        q = np.cos(y[k - 2 :])
    q[0] *= x[1]
    y[3] *= 2.0
    return np.sum(q) * y[3] * k


@right
def the_last_row_of_a_loop(x: Any, c: float) -> Any:
    m, s, k = np.outer(x, x), 0.0, 0
    for row, v in zip(m, x, strict=True):
        while k < 3 and s * s < 0.5:
            s, k = s + 0.1 * row[k], k + 1
        row[:] += 0.1 * v
    row[::2] = -0.47 * np.sin(row[::2])
    m[np.arange(4) % 3] -= np.tanh(0.5 * m)
    return np.sum(m) * s + np.sum(row) * c


@right
def windows_of_a_loop(x: Any, c: float) -> Any:
    y, b, n = x * 2.0, Box(x), int(abs(c)) + 1
    before, b.v = y[0:2], y[0:]
    for i in range(n):
        before[0] *= 1.0 + 0.1 * x[i % 3]
        y[i % 3 + 1] += before[1]
        b.v[0] *= 1.1
        before, b.v = y[i % 3 : i % 3 + 2], y[i % 2 :]
    y[3] *= before[0]
    return np.sum(y * y) + np.sum(before) * b.v[1]


@right
def bound_in_the_loop_alone(x: Any, c: float) -> Any:
    y = x * 2.0
    for i in range(int(abs(c)) + 1):
        w = y[1:]
        w[i % 3] *= 1.5
    y[2] *= x[0]
    return np.sum(w) * np.sum(y)


@right
def held_and_swapped(x: Any, c: float) -> Any:
    y, z = x * 2.0, x * 3.0
    m, u, held = (x * 2.0).reshape(2, 2), x[1:] * 1.0, []
    last, v = m[0], u[:]
    for i in range(3):
        held.append(v)
        v *= 1.5
        v = u if x[0] > i else v
        if c > i:
            y, z = z[::-1], y
        w = y if i > 1 else z
        w[2] = 5.0
        y[1] = z[1]
    for row in m:
        if row[0] > c:
            last = row
    last[0] = 3.0
    return np.sum(y * y) + np.sum(m * m) + sum(np.sum(w) for w in held) + np.sum(u)


@pytest.mark.sweep(8)
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize("function", verdicts.to_be_right, ids=lambda function: function.__name__)
def test_right_on_every_path(function: Any, jit: bool) -> None:
    gradient = symgrad.value_and_grad(function, jit="auto" if jit else False)
    x = np.array([0.3, -1.2, 0.7, 1.9])
    for c in (0.7, 2.0) if jit or function is steps_that_are_computed_on_the_path else (0.7, -0.7, 2.0, 6.0):
        value, slope = gradient(x, c)
        expected = [(function(x + s, c) - function(x - s, c)) / 2e-6 for s in 1e-6 * np.eye(4)]
        assert value == pytest.approx(function(x.copy(), c), rel=1e-12), c
        np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6, err_msg=str(c))


def test_a_view_that_no_round_has_bound() -> None:
    """Its name has no value, as in Python."""

    def bound_in_a_round(x: Any, n: int) -> Any:
        y = x * 2.0
        for i in range(n):
            w = y[1:]
            w[i % 3] *= 1.5
        y[2] *= x[0]
        return np.sum(w) * np.sum(y)

    with pytest.raises(UnboundLocalError, match="'w'"):
        symgrad.grad(bound_in_a_round, "x")(np.ones(4), 0)
