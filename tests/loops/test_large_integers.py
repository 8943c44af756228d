"""Integers beyond 53 and 64 bits: kernels give Python's result, or leave the call to the NumPy code."""

from __future__ import annotations

import itertools
import math
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


#: operators on two integers of Python, or of NumPy where the text says so
OPERATORS = """
    i + j, i - j, i * j, i // j, i % j, i << j, i >> j, i & j, i | j, i ^ j, i / j, i < j, i == j, i and j, -i, ~i, +i, not i, abs(i)
    i * i * i, i * j - i, i % 3 - j, -i // j, (i * j) % 7, (i + j) * (i - j), i ** abs(j % 4)
    int(float(i) * j), int(i / (j + 0.5)), round(i / (j + 0.5)), math.floor(i / (j + 0.5))
    np.int64(i) >> j, np.int64(i) << j, np.int64(i) // j, np.int64(i) % j, np.int64(i) * j, abs(np.int64(i)), -np.int64(i)
    np.abs(i), np.invert(i), np.sign(i), np.int32(i % 100) << (j % 40), np.int32(i % 100) >> (j % 40), np.int16(i % 9) << (j % 20)
"""
#: functions of two integers
FUNCTIONS = """
    min max math.gcd np.left_shift np.right_shift np.floor_divide np.mod np.remainder np.gcd np.bitwise_and np.maximum
"""
EXPRESSIONS = [text.strip() for line in OPERATORS.split("\n") for text in line.split(", ") if text.strip()]
EXPRESSIONS += [f"{name}(i, j)" for name in FUNCTIONS.split()] + ["divmod(i, j)[0]", "divmod(i, j)[1]"]
ENDS = [-(2**63), -(2**62), -70, -3, -1, 0, 1, 2, 5, 63, 64, 70, 2**31, 2**62, 2**63 - 1]
#: operators on the elements of two arrays of one dtype
OF_ARRAYS = "i + j|i - j|i * j|i // j|i % j|i << j|i >> j|i & j|i ^ j|-i|~i|abs(i)|np.mod(i, j)|np.square(i)|np.sign(i)|i[0] // j[0]"


def value_of(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a call gives, or the class of what it raises."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return function(*arguments)
    except Exception as error:
        return type(error)


def is_same(actual: Any, expected: Any) -> bool:
    if isinstance(actual, type) or isinstance(expected, type):
        return actual is expected
    return bool(np.all((actual == expected) | (actual != actual) & (expected != expected)))


@pytest.mark.sweep(4)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_operators_at_the_ends_of_64_bits(expression: str) -> None:
    function = symgrad.from_source(f"def f(a, i, j):\n    return a * ({expression})\n", "f", {"np": np, "math": math})
    derivative = symgrad.value_and_grad(function, jit=True)
    faults = {}
    for i, j in [(7, 2), *itertools.product(ENDS, ENDS)]:
        if "<< j" in expression and j > 100 and i:
            continue  # an integer of more bits than memory
        expected = value_of(function, 0.5, i, j)
        actual = value_of(derivative, 0.5, i, j)
        if not is_same(actual if isinstance(actual, type) else actual[0], expected):
            faults[i, j] = (actual, expected)
    assert not faults


@pytest.mark.sweep(4)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8, np.uint32])
@pytest.mark.parametrize("operator", OF_ARRAYS.split("|"))
def test_operators_on_arrays_at_the_ends_of_their_dtypes(operator: str, dtype: Any) -> None:
    function = symgrad.from_source(f"def f(a, i, j):\n    return np.sum(a * ({operator}))\n", "f", {"np": np})
    derivative = symgrad.value_and_grad(function, jit="auto")
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    pairs = [
        (7, 2),
        *itertools.product({least, most, 0, 1, 2, 31 if most > 31 else 7, 64 if most > 64 else 5, -1 if least else 3}, repeat=2),
    ]
    faults = {}
    for i, j in pairs:
        i, j = np.array([i, 1], dtype), np.array([j, 1], dtype)
        expected, actual = value_of(function, 0.5, i, j), value_of(derivative, 0.5, i, j)
        if not is_same(actual if isinstance(actual, type) else actual[0], expected):
            faults[i[0], j[0]] = (actual, expected)
    assert not faults
