"""Recursive functions, global and nested, alone and inside derivatives."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad
from symgrad import grad

K = np.array([0.5, 0.7])


def halving(a, n):
    if n == 0:
        return a
    if n % 2 == 0:
        return halving(a * a, n // 2) * 0.9
    return halving(a + 0.1, n - 1)


def in_a_loop(a, n, m):
    while n > 0:
        n -= 1
        a = in_a_loop(a * 0.9, n - 1, m) if n > m else a * a
    return a


def even(n, t):
    return t * K[0] if n == 0 else odd(n - 1, t * K[1])


def odd(n, t):
    return t if n == 0 else even(n - 1, t * t)


def nested_reads_what_is_around_it(x):
    w = x * 2

    def product(n):
        return w if n == 0 else product(n - 1) * x * n

    u = product(2)
    w = w * 3
    return u * product(1)


def nested_functions_that_call_each_other(x):
    def first(n, t):
        return t if n == 0 else second(n - 1, t * x)

    def second(n, t):
        return 0.0 * t if n == 0 else first(n - 1, t + x)

    return first(4, 1.0)


def derivative_of_a_recursion(x):
    def g(y):
        def power(n):
            return y if n == 0 else power(n - 1) * y * x

        return power(3)

    return grad(g)(x * 1.1)


PROGRAMS = [
    lambda x: halving(x, 6),
    lambda x: in_a_loop(x, 3, 1),
    lambda x: even(4, x) * odd(3, x),
    lambda x: grad(lambda y: even(3, y) * x)(x),
    nested_reads_what_is_around_it,
    nested_functions_that_call_each_other,
    derivative_of_a_recursion,
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_first_and_second_derivative(program):
    x, step = 1.3, 1e-5
    slope = grad(program)
    assert slope(x) == pytest.approx((program(x + step) - program(x - step)) / (2 * step), rel=1e-8)
    assert slope.grad(x) == pytest.approx((slope(x + step) - slope(x - step)) / (2 * step), rel=1e-8)


def test_a_recursive_function_that_writes_to_its_argument():
    def fill(y, n):
        if n == 0:
            return 0.0
        y[n] = y[n - 1] * 2.0
        return fill(y, n - 1) + y[n]

    assert grad(lambda x: fill(x, 30))(np.ones(40))[29] == 2.0
    x = np.array([0.7, 1.3, 0.4, 0.9])
    differences = [(fill((x + s).copy(), 3) - fill((x - s).copy(), 3)) / 2e-6 for s in 1e-6 * np.eye(4)]
    assert np.allclose(grad(lambda x: fill(x, 3))(x), differences)


def test_a_call_without_a_result_in_a_derivative_of_a_derivative():
    def f(x):
        def last(i):
            return i if i + 1 >= len(x) else last(i + 1)

        return x[last(int(x[0]))] ** 2

    x = np.array([0.7, 1.3, 0.4])
    assert np.allclose(grad(lambda x: np.sum(grad(f)(x)))(x), [0.0, 0.0, 2.0])


def test_two_results_that_are_one_array():
    def doubled(v, n):
        if n == 0:
            w = v * 2.0
            return w, w
        return doubled(v, n - 1)

    def f(x):
        a, b = doubled(x, int(x[0] * 6.0))
        a[0] = 5.0
        return b[0] * x[0]

    with pytest.raises(symgrad.SymgradError, match="share memory"):
        grad(f)(np.array([0.7, 1.3, 0.4]))
