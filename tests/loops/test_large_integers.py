"""Integers beyond what floats and 64 bits hold mean in kernels what they mean in Python: else the kernel leaves it to NumPy's code."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad

pytest.importorskip("numba")
X = np.array([0.7, -1.3, 2.1])


def compared(x, n, m):
    total = 0.0
    if n == m:
        total += x[0]
    if n != m:
        total += 2.0 * x[0]
    if n < m:
        total += 4.0 * x[0]
    if n <= m:
        total += 8.0 * x[1]
    if m > n:
        total += 16.0 * x[1]
    if m >= n:
        total += 32.0 * x[1]
    if n + 1 == m:
        total += 64.0 * x[2]
    if m < n + 1:
        total += 128.0 * x[2]
    return total


def counted_up(x, n):
    k = 0
    while k < 4:
        n += 1
        k += 1
    return x[0] * float(n)


def counted_down(x, n):
    k = 0
    while k < 4:
        n -= 1
        k += 1
    return x[0] * float(n)


def counted_from_a_literal(x, n):
    k, place = 0, 2**63 - 2
    while k < 4:
        place += 1
        k += 1
    return x[0] * float(place) + x[1] * n


def gone_over(x, n):
    total = 0.0
    for i in range(n, n + 3):
        total = total + x[0] * float(i)
    return total


def added(x, n):
    return x[0] * float(n + 1) + x[1] * float(n - 1)


def taken_as_an_integer(x, a):
    return x[0] * float(int(a[0]) + 1) + x[1] * (int(a[1]) % 7)


NEAR = [2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 3, 0]
#: integers at the ends of what 64 bits hold
FAR = [2**63 - 2, 2**62, -(2**63) + 1, 2**61, 5]


def check(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    """Value and gradient of a kernel, and of the code behind it, against a function that is linear, and its slope."""
    derivative = symgrad.value_and_grad(function, jit="auto")
    for rest in calls:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value, gradient = derivative(X, *rest)
            steps = [function(unit, *rest) for unit in np.eye(3)]
        assert value == pytest.approx(function(X, *rest), rel=1e-14), rest
        np.testing.assert_allclose(gradient, steps, rtol=1e-14, err_msg=str(rest))


def test_an_integer_compared_with_a_float_is_not_rounded() -> None:
    check(compared, [(n, float(m)) for n, m in itertools.product(NEAR, NEAR)])


@pytest.mark.parametrize("function", [counted_up, counted_down, counted_from_a_literal, gone_over, added])
def test_counters_do_not_wrap(function: Callable[..., Any]) -> None:
    check(function, [(n,) for n in FAR])


@pytest.mark.parametrize(("dtype", "most"), [(np.int64, 2**63 - 1), (np.uint64, 2**64 - 1), (np.int64, 2**62), (np.uint64, 2**63 + 5)])
def test_integers_of_arrays_become_pythons(dtype: Any, most: int) -> None:
    check(taken_as_an_integer, [(np.array([most, most], dtype),), (np.array([1, 2], dtype),)])
