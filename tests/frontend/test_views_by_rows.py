"""Read-only views and new axes of arrays: later stores are visible in them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.verdicts import Verdicts

verdicts = Verdicts()
right = verdicts.right


@right
def shows_later_stores(x: Any) -> Any:
    y = x * 2.0
    w = np.broadcast_to(y, (3, len(x)))
    y[0] = x[1] ** 2
    for i in range(2):
        y[i] *= x[3] + w[1, i + 1]
    return np.sum(w * np.arange(w.size).reshape(w.shape)) + w[1, 2] * y[0]


@right
def views_of_a_diagonal(x: Any) -> Any:
    m = np.outer(x, x)
    part = np.diag(m)[1:]
    below = np.diagonal(m, offset=-1)
    m[1, 1] = x[0]
    m[2, 1] *= x[3]
    return np.sum(part * part) + np.sum(below**3)


@right
def held_in_other_ways(x: Any) -> Any:
    y = x * 2.0
    rows = [row for row in np.broadcast_to(y, (2, 4))]
    held = {"w": np.broadcast_to(y, (2, 4)).T[1:]}
    total = 0.0
    for row in held["w"]:
        y[1] *= x[0]
        total = total + row[0] * x[3]
    return np.sum(rows[1] * held["w"][:, 1].sum()) + total


@right
def with_more_axes(x: Any) -> Any:
    column = x.reshape(-1, 1)
    row = np.atleast_2d(x)
    column[1, 0] *= x[3]
    row[0, 2:] += x[0]
    x.reshape(1, len(x), 1)[0, 0] **= 2
    return np.sum(column * row) + np.sum(column[:, 0].reshape(x.size) * x)


LAYOUTS = {"by rows": lambda x: x, "with gaps": lambda x: np.repeat(x, 2)[::2], "backwards": lambda x: x[::-1].copy()[::-1]}


@pytest.mark.sweep(6)
@pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
@pytest.mark.parametrize("laid", LAYOUTS)
@pytest.mark.parametrize("function", verdicts.to_be_right, ids=lambda function: function.__name__)
def test_later_stores_are_seen(function: Any, laid: str, jit: bool) -> None:
    x = LAYOUTS[laid](np.array([0.3, -1.2, 0.7, 1.9]))
    plain = [function(LAYOUTS[laid](x + step)) for step in 1e-6 * np.vstack([np.eye(4), -np.eye(4)])]
    value, gradient = symgrad.value_and_grad(function, jit="auto" if jit else False)(x)
    assert value == pytest.approx(function(x.copy()), rel=1e-12)
    np.testing.assert_allclose(gradient, np.subtract(plain[:4], plain[4:]) / 2e-6, rtol=1e-6, atol=1e-7)


def test_nobody_writes_to_it() -> None:
    def added(x: Any) -> Any:
        y = np.broadcast_to(x, (2, 4))
        np.add.at(y, (0, 1), 2.0)
        return np.sum(y)

    with pytest.raises(UnsupportedSyntax, match="this array or view is read-only"):
        symgrad.grad(added)(np.ones(4))


def test_the_number_that_stands_for_no_cotangent_has_a_dtype_too() -> None:
    """A reversed loop carries the cotangent of an array that is of one of two dtypes: before the first round it is a number."""

    def one_of_three(y: Any, z: Any, a: Any) -> Any:
        p = z if a < 0.28 else np.arctan(y)
        q = p if a > 0.9 else y[np.arange(y.size) % 3] if a < -0.3 else np.cumsum(y) * 0.4
        for i in range(p.size):
            p[i] -= 0.2 * np.tanh(p[i])
        return np.sum(q * q)

    y = np.array([0.3, -1.2, 0.7], np.float32)
    value, (gradient, none) = symgrad.value_and_grad(one_of_three, ("y", "z"), allow_unused=True)(y, np.ones(3), 1.0)
    assert value == pytest.approx(one_of_three(y, np.ones(3), 1.0), rel=1e-6)
    at = np.arctan(y.astype(float))
    slope = 2 * (at - 0.2 * np.tanh(at)) * (1 - 0.2 * (1 - np.tanh(at) ** 2)) / (1 + y.astype(float) ** 2)
    np.testing.assert_allclose(gradient, slope, rtol=1e-5)
    assert not none.any()
