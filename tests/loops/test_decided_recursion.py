"""Recursive functions of static depth are inlined into kernels."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import symgrad
from tests.verdicts import Verdicts, check_right

verdicts = Verdicts()
right = verdicts.right


def power(n, x):
    return 1.0 if n == 0 else x * power(n - 1, x)


def simpson(f, a, b, depth):
    m = 0.5 * (a + b)
    if depth == 0:
        return (b - a) * f(m)
    return simpson(f, a, m, depth - 1) + simpson(f, m, b, depth - 1)


def turned(n, a, b, c):
    if n == 0:
        return a, b
    p, q = turned(n - 1, b, c, a)
    return p * q, q + a


def even(n, x):
    return x if n == 0 else odd(n - 1, x * x)


def odd(n, x):
    return 2 * x if n == 0 else even(n - 1, x + 1)


def common_dtype(dtype):
    if isinstance(dtype, tuple):
        return np.result_type(*(common_dtype(one) for one in dtype))
    return {"f": np.float32, "d": np.float64}.get(np.dtype(dtype).char, np.float64)


def nested(depths):
    return 1.0 if depths is None else 2.0 * nested(None if depths == "last" else "last")


@right
def of_dtypes(x):
    return np.sum(x.astype(common_dtype((x.dtype, np.float32)), copy=False) ** 2) + x[0].astype(common_dtype("d"))


@right
def of_texts(x):
    return nested("first") * x[0] * x[1]


@right
def of_numbers(x):
    return power(5, x[0]) + x[1] * power(0, x[2])


@right
def of_arrays(x):
    def smoothed(v, rounds):
        return v if rounds == 0 else smoothed(0.5 * (v + v[::-1] ** 2), rounds - 1)

    return smoothed(x, 4) @ x


@right
def twice_in_each_call(x):
    return simpson(lambda t: np.sin(x[2] * t), x[0], x[1], 3)


@right
def of_tuples(x):
    p, q = turned(4, x[0], x[1], x[2])
    return p * q


@right
def of_two_functions(x):
    return even(5, x[0]) * odd(4, x[1])


@right
def that_writes(x):
    y = x.copy()

    def fill(k):
        if k < 3:
            y[k] = y[k] * y[k - 1]
            fill(k + 1)

    fill(1)
    return np.sum(y * y)


def bisected(a, b, depth):
    """The depth is known, and decides nothing."""
    if b - a < 0.1:
        return a * b
    return bisected(a, 0.5 * (a + b), depth + 1)


def long(n, x):
    return x if n == 0 else np.sin(long(n - 1, x))


def doubled(n, x):
    return x if n == 0 else doubled(n - 1, x) * doubled(n - 1, x * 0.9)


def decided_by_data(x):
    return bisected(x[0], x[1], 0) + x[2]


def too_deep(x):
    return long(60, x[0]) * x[1]


def too_many_calls(x):
    return doubled(7, x[0]) * x[1]


POINT = np.array([0.7, 1.3, 0.4])


@pytest.mark.sweep(2)
@pytest.mark.parametrize("function", verdicts.to_be_right, ids=lambda f: f.__name__)
def test_a_static_number_decides(function):
    for jit in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the kernel is compiled
            check_right(function, POINT, jit)
            symgrad.grad(function, jit=jit)(POINT)  # jit=True gives a notice of NumPy code
    symgrad.check_grads(function, (POINT,), order=2)


@pytest.mark.parametrize("function", [decided_by_data, too_deep, too_many_calls], ids=lambda f: f.__name__)
def test_other_recursion_stays_a_function(function):
    check_right(function, POINT, jit=False)
    check_right(function, POINT, jit=True)
    assert "apply" in symgrad.grad(function).ir(POINT)
