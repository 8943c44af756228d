"""Values that are sent to generators, and functions that ask for the class of their argument."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import symgrad

X = np.array([0.9, 0.7, 0.3, 1.3])


def check(f: Any, x: np.ndarray = X, targets: Any = (False,)) -> None:
    slopes = [(f(x + s) - f(x - s)) / 2e-6 for s in 1e-6 * np.eye(len(x))]
    for jit in targets:
        derived = symgrad.value_and_grad(f, jit=jit)
        for _ in range(2):
            value, gradient = derived(x)
            assert value == pytest.approx(f(x), rel=1e-12)
            np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-8)


def running_mean():
    total, count = 0.0, 0
    received = 0.0
    while True:
        received = yield total / (count or 1)
        total += received
        count += 1


def echo(t):
    received = yield t
    while received is not None:
        received = yield 2 * received
    yield -t


def pairs(limit):
    for k in range(limit):
        a, b = yield k
        yield a * b + k


def in_a_loop(x):
    mean = running_mean()
    next(mean)
    total = 0.0
    for a in x:
        total += a * mean.send(a**2)
    return total


def next_sends_none(x):
    g = echo(x[0])
    a = next(g)
    b = g.send(x[1])
    c = g.send(3 * x[2])
    return a * b + c * next(g)


def none_begins(x):
    g = echo(x[0])
    total = g.send(None)
    return total * g.send(x[1]) * g.send(x[2] ** 2)


def gone_over(x):
    return sum(v * v for v in echo(x[0])) + x[1]


def pairs_are_sent(x):
    g, total = pairs(3), 0.0
    for _ in range(3):
        next(g)
        total += g.send((x[1], x[2] * total + 1.0))
    return total


def until_it_stops(x):
    g, t = echo(x[0]), 0.0
    g.send(None)
    try:
        for k in range(5):
            t = g.send(x[1] if k < 2 else None)
    except StopIteration:
        t += x[2]
    return t * x[0]


def variables_around(x):
    s = x[0]

    def adding():
        nonlocal s
        while True:
            v = yield s
            if v > 1.0:
                s += v
            else:
                s *= v

    g, total = adding(), 0.0
    next(g)
    for k in range(len(x)):
        total += g.send(x[k])
        if total > 3.0:
            break
    return total + s


def two_at_once(x):
    one, other = running_mean(), running_mean()
    next(one), next(other)
    total = 0.0
    for k, a in enumerate(x):
        total += one.send(a) if k % 2 else other.send(a * total)
    return total


SENDING = [in_a_loop, next_sends_none, none_begins, gone_over, pairs_are_sent, until_it_stops, variables_around, two_at_once]


@pytest.mark.parametrize("f", SENDING, ids=lambda f: f.__name__)
def test_values_that_are_sent(f: Any) -> None:
    check(f, targets=(False, "auto") if f is in_a_loop else (False,))


def too_early(x):
    g = echo(x[0])
    return g.send(x[1])


def test_a_generator_that_has_not_begun_takes_no_value() -> None:
    with pytest.raises(TypeError, match="can't send non-None value to a just-started generator"):
        symgrad.grad(too_early)(X)


def inside_of_an_expression(x):
    def doubled():
        total = 0.0
        while True:
            total += 2.0 * (yield total)

    g = doubled()
    next(g)
    return g.send(x[0]) + g.send(x[1])


def in_an_assignment(x):
    def doubled():
        total = 0.0
        while True:
            received = yield total
            total += 2.0 * received

    g = doubled()
    next(g)
    return g.send(x[0]) + g.send(x[1])


def test_a_yield_inside_of_an_expression_is_refused_and_its_way_out_works() -> None:
    with pytest.raises(symgrad.SymgradError, match="yield in a statement or an assignment of its own"):
        symgrad.grad(inside_of_an_expression)(X)
    check(in_an_assignment)


# ------------------------------------------------------------------ functions by the class of their argument


@functools.singledispatch
def size(t):
    return t * t


@size.register
def _(t: list):
    return sum(size(a) for a in t)


@size.register(tuple)
def _(t):
    return size(t[0]) * t[1]


@size.register
def _(t: np.ndarray):
    return np.sum(t**3)


def of_each_class(x):
    return size(x[0]) + size([x[1], [x[2], x[0]]]) + size((x[1], 3.0)) + size(x) + size((x, 0.5))


def of_items(x):
    return sum(size(a) for a in [x[0], [x[1]], (x[2], 2.0), x])


@pytest.mark.parametrize("f", [of_each_class, of_items])
def test_functions_by_the_class_of_their_argument(f: Any) -> None:
    check(f)


def test_a_function_that_is_registered_later_counts() -> None:
    @functools.singledispatch
    def weight(t):
        return 2.0 * t

    def f(x):
        return weight(x[0]) + weight([x[1]])[0]

    @weight.register
    def _(t: list):
        return [3.0 * a for a in t]

    derived = symgrad.grad(f)
    np.testing.assert_allclose(derived(X), [2.0, 3.0, 0.0, 0.0])

    @weight.register
    def _(t: list):
        return [7.0 * a for a in t]

    np.testing.assert_allclose(derived(X), [2.0, 7.0, 0.0, 0.0])
    weight.register(np.float64)(lambda t: 5.0 * t)
    np.testing.assert_allclose(derived(X), [5.0, 7.0, 0.0, 0.0])
