"""Values that only one branch needs are differentiated in that branch: no cost and no infinite slope on the other side."""

from __future__ import annotations

import math

import numpy as np
import pytest

import symgrad
from symgrad.testing import check_grads


def root_if_any(x):
    r = math.sqrt(x)
    if r > 0.0:
        return 2.0 * r
    return 1.0 + x


def lengths(x):
    total = 0.0
    for i in range(x.shape[0]):
        r = np.sqrt(x[i] @ x[i])
        if r > 1e-12:
            total += r**2 + r
    return total


def no_logarithm_of_zero(x):
    total = 0.0
    for value in x:
        y = np.log(value)
        z = value * value
        if value > 0:
            total += y * z
    return total


def through_two(x):
    total = 0.0
    for i in range(x.shape[0]):
        r = np.sqrt(x[i])
        s = np.sqrt(r)
        if r > 0:
            t = s + 1.0
            if t > 1.5:
                total += t * s
            else:
                total -= s
    return total


def also_elsewhere(x):
    y = x * x
    r = np.sqrt(y)
    s = np.sum(y)
    if s > 0:
        out = np.sum(r) + s
    else:
        out = 3.0 * s
    return out + np.sum(x)


def stored_before(x):
    total = 0.0
    buffer = x.copy()
    for i in range(1, x.shape[0]):
        a = buffer[i - 1]
        r = np.sqrt(a)
        buffer[i] = a * buffer[i]
        if r > 0:
            total += r
    return total + np.sum(buffer)


def norm_or_nothing(x):
    r = np.linalg.norm(x)
    y = x * x
    y[0] = 2.0 * y[0]
    if r > 0:
        return r + np.sum(y)
    return np.sum(y)


def after_a_loop(x):
    r = 0.0
    for i in range(x.shape[0]):
        r = r + x[i]
    s = np.sqrt(r)
    if r > 0:
        return s
    return 2.0 * r


ZERO = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 2.0]])
GUARDED = [
    (root_if_any, 0.0, 1.0),
    (lengths, ZERO, [[0.0, 0.0], [2 + 1 / math.sqrt(5), 4 + 2 / math.sqrt(5)], [4 + 1 / math.sqrt(2)] * 2]),
    (no_logarithm_of_zero, np.array([0.0, 1.0]), [0.0, 1.0]),
    (through_two, np.array([0.0, 1.0]), [0.0, 0.75]),
    (also_elsewhere, np.zeros(2), [1.0, 1.0]),
    (stored_before, np.array([0.0, 3.0, 4.0]), [1.0 + 3.0 + 12.0, 0.0, 0.0]),
    (norm_or_nothing, np.zeros(3), [0.0, 0.0, 0.0]),
    (after_a_loop, np.zeros(3), [2.0, 2.0, 2.0]),
]


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(("function", "x", "expected"), GUARDED, ids=lambda item: getattr(item, "__name__", ""))
def test_a_guard_keeps_infinite_slopes_away(function, x, expected, jit):
    np.testing.assert_allclose(symgrad.grad(function, jit=jit)(x), expected, rtol=1e-12)


@pytest.mark.parametrize(("function", "x", "expected"), GUARDED, ids=lambda item: getattr(item, "__name__", ""))
def test_elsewhere_they_agree_with_differences(function, x, expected):
    smooth = 1.3 if isinstance(x, float) else np.linspace(0.4, 1.9, np.size(x)).reshape(np.shape(x))
    check_grads(function, (smooth,), order=2)


def hinge(w, x, y):
    loss = 0.0
    for i in range(x.shape[0]):
        m = 1.0 - y[i] * np.dot(w, x[i])
        if m > 0:
            loss += m
    return loss


def pairs(x, cut):
    energy = 0.0
    for i in range(x.shape[0]):
        for j in range(i):
            d = x[i] - x[j]
            r = np.sqrt(d @ d)
            if r < cut:
                energy += (cut - r) ** 2
    return energy


@pytest.mark.parametrize(("function", "args", "line"), [
    (hinge, (np.array([0.3, -0.2]), np.linspace(-1, 1, 10).reshape(5, 2), np.array([1.0, -1, 1, -1, 1])), "w_grad -= "),
    (pairs, (np.linspace(0, 2, 12).reshape(6, 2), 1.1), "x_grad[j] -= "),
])  # fmt: skip
def test_what_is_added_is_added_in_the_branch(function, args, line):
    check_grads(function, args, wrt=0)
    text = symgrad.grad(function).source(*args)
    branch = next(row for row in text.splitlines() if row.lstrip().startswith("if "))
    (added,) = [row for row in text.splitlines() if row.lstrip().startswith(line)]
    assert len(added) - len(added.lstrip()) == len(branch) - len(branch.lstrip()) + 4
    assert "else:" not in text


def test_what_both_sides_need_is_reversed_once():
    def either(x):
        y = np.exp(x)
        if x > 0:
            return y * x
        return y - x

    assert symgrad.grad(either).ir(0.3).count("multiply(y_grad") == 1
    check_grads(either, (0.3,))
    check_grads(either, (-0.3,))


def every_way_out(x):
    i, total = 0, 0.0
    while True:
        i += 1
        if i > 6:
            return total
        try:
            if i % 2:
                continue
            total += x[i % 4] * total + x[0]
        finally:
            total += 0.1 * x[1]


def two_calls_and_a_constant(x):
    return every_way_out(x), every_way_out(x) * x[0], 3.0


def test_names_that_may_have_no_value_in_one_loop_are_told_apart():
    x = np.array([0.3, 0.5, 0.7, 0.2])
    symgrad.check_grads(two_calls_and_a_constant, (x,), directions=1)


NESTED = """
def f(x, n, b):
    y = x * 1.5
    z = np.sin(x)
    if n > 1:
        if b:
            w = CHOSEN
        else:
            w = y
    elif b:
        w = CHOSEN
    else:
        w = y * 2.0
    return AFTER + np.sum(w**2)
"""


@pytest.mark.sweep(4)
@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("after", ["np.sum(z)", "np.sum(z * y)", "0.0"])
@pytest.mark.parametrize("chosen", ["z", "z[::-1]", "z * 2.0", "np.sqrt(z)"])
def test_a_value_that_both_sides_choose_by_one_test_is_read_behind_them_too(chosen: str, after: str, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    f = symgrad.from_source(NESTED.replace("CHOSEN", chosen).replace("AFTER", after), globals={"np": np})
    x = np.array([1.1, 0.7, 1.9, 0.4])
    derived = symgrad.value_and_grad(f, jit=jit)
    for n in (0, 3):
        for b in (True, False):
            value, slope = derived(x, n, b)
            assert value == pytest.approx(f(x, n, b), rel=1e-12)
            np.testing.assert_allclose(slope, [(f(x + e, n, b) - f(x - e, n, b)) / 2e-6 for e in 1e-6 * np.eye(4)], rtol=1e-6, atol=1e-8)
