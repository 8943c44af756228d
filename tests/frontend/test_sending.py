"""Values sent to generators, results of ``yield from``, questions about the class of an argument."""

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


def adding(s):
    received = yield s
    s += received
    received = yield 2.0 * s
    yield s * received


def through_one(x):
    def outer(s):
        yield from adding(s)

    g = outer(x[0])
    a = next(g)
    b = g.send(x[1])
    return a + b * g.send(x[2])


def through_two(x):
    def middle(s):
        yield from adding(s)
        yield from adding(s * x[3])

    def outer(s):
        yield from middle(s)

    g = outer(x[0])
    total = next(g)
    for t in (x[1], x[2], x[0], x[3], x[2]):
        total = 0.5 * total + g.send(t)
    return total


def around_an_iterator(x):
    """Values are sent before and after the iterator, which takes none."""

    def outer(s):
        received = yield s
        yield from [received, 3.0 * received]
        received = yield s * received
        yield received**2

    g = outer(x[0])
    total = next(g) + g.send(x[1]) * next(g)
    return total + next(g) * g.send(x[2])


def to_an_iterator(x):
    def outer(s):
        yield from [s, 2.0 * s]

    g = outer(x[0])
    a = next(g)
    try:
        return g.send(x[1])
    except AttributeError:
        return a * x[2]


def between_rounds(x):
    def inner(s):
        for _ in range(2):
            received = yield s
            if received is not None:
                s = s * received

    def outer(s):
        for _ in range(2):
            received = yield s
            yield from inner(received)
            yield from inner(s * received)

    g = outer(x[0])
    total = next(g)
    for t in x:
        total = 0.5 * total + g.send(total + t)
    return total


def returning(u, scale):
    total = 0.0
    for t in u:
        if t > 1.2:
            return total
        total += t
        yield t * scale
    return total * scale


def what_it_returns(x):
    def outer():
        a = yield from returning(x, x[0])
        b = yield from returning(x[:2], a)
        c = yield from [b, a]
        yield a * b if c is None else c
        return (yield from returning([a, b], x[1]))

    def top():
        last = yield from outer()
        yield last * x[2]

    total = 0.0
    for t in top():
        total = total * x[3] + t
        if total > 50.0:
            break
    return total


def what_it_returns_to_next(x):
    def steps(u, scale):
        total = 0.0
        for t in u:
            total += t
            yield t * scale
        return total * scale

    y = 1.0 * x

    def outer():
        a = yield from steps(y[:2], x[3])
        yield a * y[2]

    g = outer()
    a = next(g)
    y[1] *= a
    return a * next(g) + sum(g)


def what_a_recursive_one_returns(x):
    def steps(k, s):
        if k == 0:
            return s
        yield k * s
        below = yield from steps(k - 1, s * x[1])
        return below + x[2]

    def outer():
        last = yield from steps(3, x[0])
        yield last

    return sum(outer())


def nothing_is_returned(x):
    def steps():
        yield x[0]
        return

    def outer():
        a = yield from steps()
        yield x[1] if a is None else x[2]

    return sum(outer())


@pytest.mark.parametrize("f", [through_one, through_two, around_an_iterator, to_an_iterator, between_rounds])
def test_values_sent_through_yield_from(f: Any) -> None:
    check(f, targets=(False, "auto"))


@pytest.mark.parametrize("f", [what_it_returns, what_it_returns_to_next, what_a_recursive_one_returns, nothing_is_returned])
def test_what_yield_from_returns(f: Any) -> None:
    check(f, targets=(False, "auto"))
