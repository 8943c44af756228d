"""Iterators bound to names: when their items are computed, and changes in between; on both targets."""
# ruff: noqa: B007, B023, C419, E731 - the constructs are the point
# mypy: ignore-errors

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from verdicts import Verdicts, check_right

import symgrad
from symgrad.errors import SymgradError
from symgrad.testing import check_grads

X = np.array([0.9, 1.3, 0.7, 1.6])
VERDICTS = Verdicts()
right, refused = VERDICTS.right, VERDICTS.refused


@right
def genexp_arg(x):
    def f(g, y):
        y[0] = 7 * x[1]
        return sum(g)

    y = x.copy()
    return f((v * v for v in y), y)


@right
def genexp_returned(x):
    def mk(y):
        k = x[1]
        g = (v * k for v in y)
        k = x[2]
        return g

    y = x.copy()
    h = mk(y)
    y[0] = 5.0
    return sum(h)


@right
def next_in_loop(x):
    g = (v * v for v in x)
    s = 0.0
    for i in range(3):
        v = next(g)
        s = s * 0.5 + v * i
    return s


@right
def next_in_loop_store(x):
    y = x.copy()
    g = (v * v for v in y)
    s = 0.0
    for i in range(3):
        v = next(g)
        y[i + 1] *= 2
        s = s * 0.5 + v * i
    return s


@right
def next_zip_rest(x):
    z = enumerate(x)
    i, a = next(z)
    s = a
    for j, b in z:
        s += j * b
    return s


@right
def next_map(x):
    k = x[0]
    m = map(lambda v: v * k, x)
    a = next(m)
    b = next(m, 0.0)
    return a * b + sum(m)


@right
def next_map_rebound(x):
    k = x[0]
    m = map(lambda v: v * k, x)
    a = next(m)
    k = x[1]
    b = next(m, 0.0)
    return a * b


@right
def map_two(x):
    m = map(lambda a, b: a * b, x, x[::-1])
    return sum(m) + sum(map(lambda a, b: a + b, x, x))


@right
def filter_named(x):
    t = 0.8
    m = filter(lambda v: v > t, x)
    t = 1.0
    return sum(m)


@right
def nested_genexp(x):
    g = (a * b for a in x for b in x if a < b)
    h = list(v + 1 for v in g)
    return sum(h) * len(h)


@right
def gen_in_list(x):
    y = x.copy()
    gs = [(v * k for v in y) for k in (1, 2)]
    y[0] = x[1] * 3
    return sum(gs[0]) + sum(gs[1]) * x[3]


@right
def max_gen(x):
    g = (v * v for v in x)
    return max(g) + any(v > 1 for v in x) * x[0]


@right
def gen_next(x):
    g = (v * v for v in x)
    a = next(g)
    b = next(g)
    return a * b + sum(g)


@right
def zip_next(x):
    z = zip(x, x[1:])
    a, b = next(z)
    c, d = next(z)
    return a * b + c * d * 3


@right
def genexp_mutated_between(x):
    y = x.copy()
    g = (v for v in y)
    y[0] = 5 * x[1]
    return sum(g)


@right
def genexp_list_mutated(x):
    l = [x[0], x[1]]
    g = (v * v for v in l)
    l.append(x[2])
    l[0] = x[3]
    return sum(g)


@right
def map_mutated_between(x):
    y = x.copy()
    g = map(lambda v: v * v, y)
    y[0] = 5 * x[1]
    return sum(g)


@right
def zip_mutated_between(x):
    y = x.copy()
    g = zip(y, y)
    y[0] = 5 * x[1]
    return sum(a * b for a, b in g)


@right
def enumerate_mutated_between(x):
    y = [x[0], x[1], x[2]]
    g = enumerate(y)
    y[0] = 5 * x[1]
    y.append(x[3])
    s = 0.0
    for i, v in g:
        s += (i + 1) * v
    return s


@refused
def reversed_mutated(x):
    y = [x[0], x[1], x[2]]
    g = reversed(y)
    y[0] = 5 * x[1]
    y.append(x[3])
    s = 1.0
    for v in g:
        s = s * v + 1
    return s


@right
def genexp_closure_rebinding(x):
    k = x[0]
    g = (v * k for v in x)
    k = x[1]
    return sum(g)


@right
def map_with_another_factor(x):
    k = 1.0
    scaled = map(lambda a: a * k, x)
    k = x[0]
    return sum(scaled)


@right
def map_that_nobody_goes_over(x):
    held = []
    kept = map(held.append, x)
    return x[0] * (1 + len(held))


@right
def functions_in_a_list_read_the_last_value(x):
    functions = [lambda v: v * x[k] for k in range(3)]
    by_key = {k: (lambda v: v * x[k]) for k in (0, 1)}
    return functions[0](x[0]) * functions[1](x[1]) + by_key[0](x[2])


@right
def counted_beside(x):
    s = 0.0
    for i, v in zip(itertools.count(1), x):
        s += i * v
    for k, v in zip(itertools.repeat(x[0]), x):
        s += k * v
    for v, i in zip(x, itertools.count(0.5, 0.5)):
        s += i * v
    for v, i, c in zip((x[0], 2.0), itertools.count(x[1], x[2]), "ab"):
        s += i * v * (c == "b")
    return s + sum(a * b for a, b in zip(itertools.count(2, -1), x)) + dict(zip("ab", itertools.count()))["b"] * x[0]


@right
def count_twice(x):
    c = itertools.count(1)
    s = sum(i * v for i, v in zip(c, x))
    return s + sum(i * v for i, v in zip(c, x))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("f", VERDICTS.to_be_right, ids=lambda f: f.__name__)
def test_value_and_gradient_are_right(f: Callable[..., Any], jit: bool) -> None:
    check_right(f, X, jit)


@pytest.mark.parametrize("f", VERDICTS.to_be_refused, ids=lambda f: f.__name__)
def test_what_would_be_other_items_is_refused(f: Callable[..., Any]) -> None:
    f(X)  # it is a good program
    with pytest.raises(SymgradError) as caught:
        symgrad.grad(f)(X)
    assert f"{__file__}:" in str(caught.value)


# ------------------------------------------------------------------ the name of what is gone over is given to something else


def stores_first(x):
    y = x * 1.0
    total = 0.0
    for item in y:
        total = total + item * item
        y[1:] = 0.7 * y[1:]
        y = 1.0 * y
    return total


def beside_another(x):
    y = x * 1.0
    total = 0.0
    for k, (other, item) in enumerate(zip(x, y)):
        total = total + item * other + k
        np.add(y[1:], 0.3, out=y[1:])
        y = 1.0 * y
    return total


def gives_it_away_first(x):
    y = x * 1.0
    total = 0.0
    for item in y:
        y = 1.0 * y
        total = total + item * item
        y[1:] = 0.7 * y[1:]
    return total


@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("function", [stores_first, beside_another, gives_it_away_first])
def test_what_is_gone_over_is_what_the_name_stood_for(function, jit):
    x = np.array([0.5, 1.2, 2.0])
    assert symgrad.value_and_grad(function, jit=jit)(x)[0] == pytest.approx(function(x.copy()), rel=1e-14)
    check_grads(function, (x,), order=2)


def test_where_it_may_stand_for_either_the_one_that_it_is_is_read():
    def at_times(x):
        y = x * 1.0
        total = 0.0
        for item in y:
            total = total + item
            y[1:] = 0.7 * y[1:]
            if total > 1:
                y = 1.0 * y
        return total

    check_grads(at_times, (np.array([0.5, 1.2, 2.0]),), order=2)
