"""Names and arrays of one path only; consequences of a refusal; stores to 0-d arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError

X, Y, STEP = np.array([0.7, -1.3, 2.1, 0.4]), np.array([0.3, 1.9, -0.8, 1.2]), 1e-6
LOG: list[int] = []


def bound_on_another_path(x, y):
    if x[0] > 0.5:
        total = np.sum(x * y)
    elif x[0] > 0.2:
        total = twice(y[0]) * x[1]  # noqa: F821
    else:

        def twice(v):
            return 2.0 * v

        total = twice(x[0]) * y[1]
    return total


def held_by_one_exception(x, y):
    y = y * x
    try:
        try:
            s = {0: 1.0}[int(x[0] > 0.3)]
        except (KeyError, TypeError):
            held = np.zeros(len(x))
            s = x[np.argmin(held)]
        y[:2], y[2:] = y[2:], y[:2] * s
    finally:
        LOG.append(1)
    return np.sum(x * y)


def stored_behind_a_copy(x, y):
    v = np.squeeze(x[:1] * y[1]).copy()
    v[...] = v * x[1]
    w = np.squeeze(y[:1]).copy()
    w[...] = 3.0
    return np.sum(x * 2 + v) * np.sum(y + w)


@pytest.mark.parametrize("function", [bound_on_another_path, held_by_one_exception, stored_behind_a_copy], ids=lambda f: f.__name__)
def test_gradients_beside_differences(function: Callable[..., Any]) -> None:
    rng = np.random.default_rng(3)
    value, gradients = symgrad.value_and_grad(function, wrt=(0, 1))(X.copy(), Y.copy())
    assert value == pytest.approx(function(X.copy(), Y.copy()), rel=1e-12)
    for k, gradient in enumerate(gradients):
        along = rng.normal(size=4)
        sides = [function(*(a + (step * along if k == j else 0.0) for j, a in enumerate((X, Y)))) for step in (STEP, -STEP)]
        assert gradient @ along == pytest.approx((sides[0] - sides[1]) / (2 * STEP), rel=1e-6)


def test_a_name_that_is_not_bound_on_the_path_taken_raises_there() -> None:
    gradient = symgrad.grad(bound_on_another_path)
    with pytest.raises(UnboundLocalError, match="'twice'"):
        gradient(np.array([0.3, 1.0, 1.0, 1.0]), Y)
    assert gradient(np.array([0.1, 1.0, 1.0, 1.0]), Y)[0] == 2.0 * Y[1]


def read_after_a_refusal(x):
    total = 0.0
    for v in x:
        total += eval("v * v")
    return total * np.sum(x)


def test_what_follows_from_a_refusal_is_not_told() -> None:
    with pytest.raises(SymgradError) as caught:
        symgrad.grad(read_after_a_refusal)(X)
    assert [error.hint for error in caught.value.errors] == ["write (v * v) in its place"]
    assert "total" not in caught.value.what
