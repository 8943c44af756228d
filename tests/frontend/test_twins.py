"""Objects that differ from iteration to iteration: stores to one are visible in the others that alias it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symgrad

X = np.array([0.5, 0.6, 0.7])
BETWEEN = 1.01 * X  # the levels are powers of 2 times the first, and none is exactly where a loop ends


@dataclass
class State:
    value: float
    array: np.ndarray


def changed_in_the_first_round(x):
    s = State(1.0, x * 1.0)
    t = s
    level = x[0]
    while level < 4.0:
        s.value += level
        s = State(s.value * 2.0, s.array)
        level *= 2.0
    return s.value + t.value


def changed_by_the_other_name(x):
    s = State(1.0, x * 1.0)
    t = s
    level = x[0]
    while level < 4.0:
        t.value += level
        s = State(s.value * 2.0, s.array)
        level *= 2.0
    return s.value + t.value


def named_twice_at_the_end(x):
    s = State(1.0, x * 1.0)
    t = State(1.0, x * 1.0)
    level = x[0]
    while level < 4.0:
        s.value += t.value * level
        s = State(s.value * 2.0, s.array)
        t = s
        level *= 2.0
    return s.value + t.value


def in_a_dict_too(x):
    held = {"a": State(1.0, x * 1.0)}
    first = held["a"]
    level = x[0]
    while level < 4.0:
        held["a"].value += level
        held["a"] = State(held["a"].value * 2.0, x)
        level *= 2.0
    return first.value + held["a"].value


def one_from_before(x):
    base, s = State(1.0, x * 1.0), State(2.0, x * 1.0)
    level = x[0]
    while level < 4.0:
        s.value += level
        s = base
        level *= 2.0
    return s.value + 3.0 * base.value


def longer_list(x):
    h = [0.0]
    g = h
    level = x[0]
    while level < 4.0:
        h.append(level)
        h = h + [level * 2.0]
        level *= 2.0
    return sum(h) + 5.0 * sum(g)


@pytest.mark.parametrize(
    "f", [changed_in_the_first_round, changed_by_the_other_name, named_twice_at_the_end, in_a_dict_too, one_from_before, longer_list]
)
def test_a_change_reaches_the_one_that_it_is(f: Any) -> None:
    value, _ = symgrad.value_and_grad(f)(BETWEEN)

    assert value == pytest.approx(f(BETWEEN), rel=1e-14)
    symgrad.check_grads(f, (BETWEEN,), wrt=0)


def compared(x):
    first = State(1.0, x * 1.0)
    s, total, level = first, 0.0, x[0]
    while level < 4.0:
        if s is first:
            total += level
        s = State(s.value * 2.0, x)
        level *= 2.0
    return total + s.value * x[0]


def held_by_a_call(x):
    def run(held):
        level = x[0]
        while level < 4.0:
            held["a"].value += level
            held["a"] = State(held["a"].value, x)
            level *= 2.0
        return held["a"].value

    def both(s, value):
        return s.value + value

    held = {"a": State(1.0, x)}
    return both(held["a"], run(held))


@pytest.mark.parametrize("f", [compared, held_by_a_call])
def test_what_is_one_is_asked_when_it_runs(f: Any) -> None:
    value, _ = symgrad.value_and_grad(f)(BETWEEN)

    assert value == pytest.approx(f(BETWEEN), rel=1e-14)
    symgrad.check_grads(f, (BETWEEN,), wrt=0)


def read_by_both_names(x, n):
    s = State(1.0, x * 1.0)
    t, k = s, 0
    while k < n:
        s = State(s.value * x[k] + t.value, s.array * 0.5)
        k += 1
    return s.value * t.value + np.sum(s.array * t.array)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("jit", [False, True])
def test_what_is_only_read_may_have_two_names(n: int, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    value, _ = symgrad.value_and_grad(read_by_both_names, jit=jit)(X, n)

    assert value == pytest.approx(read_by_both_names(X, n), rel=1e-14)
    symgrad.check_grads(read_by_both_names, (X, n), wrt=0)


def test_a_loop_stays_a_loop() -> None:
    def filtered(x):
        s = State(0.0, x[0] * np.ones(2))
        for v in x:
            s = State(s.value + v * s.array[1], s.array * 0.9 + v)
        return s.value

    source = symgrad.grad(filtered).source(np.ones(50))
    assert len(source.splitlines()) < 40
    assert "s_array_grad" in source
    assert "reversed(range" in source


def table(a, n):
    rows = [[a * i * j for j in range(n)] for i in range(n)]
    return rows[n - 1][n - 2] + sum(rows[2])


@pytest.mark.parametrize("n", [3, 5, 12])
def test_a_row_of_any_length_may_be_the_one_of_the_round_before(n: int) -> None:
    derivative = symgrad.value_and_grad(table)
    value, slope = derivative(0.7, n)
    assert value == pytest.approx(table(0.7, n), rel=1e-12)
    assert slope == pytest.approx((table(0.8, n) - table(0.6, n)) / 0.2, rel=1e-9)
    text = derivative.source()
    derivative(0.7, n + 4)
    assert derivative.source() == text  # loops stay loops
