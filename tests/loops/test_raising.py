"""Exceptions on both targets: the same error with the same text; stores that overlap their reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from targets import both, keep_kernels, outcome, same

import symgrad
from symgrad.errors import ShapeMismatch
from symgrad.testing import check_grads

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def element(x, k):
    return x[k] * x[-k - 1]


def stored(x, k):
    y = x * 1.0
    y[k] = 2.0 * y[0]
    y[k] += x[-1]
    return np.sum(y * y)


def walked(x, k):
    total = 0.0
    for i in range(1, k):
        total += x[i - 1] * x[i]
    return total + x[0]


def walked_back(x, k):
    total = 0.0
    for i in range(k - 1, -1, -1):
        for j in range(i):
            total += x[j + 1] * x[i] + x[0]
    return total + x[0]


def halved(x, k):
    a, b = np.split(x[:k] * 1.0, 2)
    return np.sum(a * b) + x[0]


def gathered(x, k):
    return np.sum(x[np.array([0, k])] ** 2)


def scattered(x, k):
    y = np.zeros(4)
    y[np.array([k, 1])] += x[:2]
    return np.sum(y * y)


def rows(x, k):
    m = x.reshape(2, -1)
    return np.sum(m[k] * m[k, 0])


def from_place(x, k):
    y = x * 1.0
    y[k:] *= x[: len(x) - k]
    return np.sum(y)


def added(x, y):
    return np.sum(x + y)


def put(x, y):
    z = x * 1.0
    z[1:] = y
    return np.sum(z * z)


def put_on(x, y):
    z = x * 1.0
    z[:2] += y
    return np.sum(z * z)


def in_place(x, y):
    z = x * 1.0
    z *= y
    return np.sum(z)


def multiplied(x, y):
    return np.sum(x.reshape(2, -1) @ y)


def unpacked(x, k):
    a, b, c = x
    return a * b + c * k


def largest(x, k):
    return np.max(x[k:])


def inverted(x, k):
    return np.sum(np.linalg.inv(x.reshape(2, 2) * k))


def asserted(x, k):
    assert k < 3, "no more than two"
    return np.sum(x) * k


def refused(x, k):
    if x[0] > k:
        raise ArithmeticError(f"above {k}")
    return np.sum(x) * k


def rooted(x, k):
    return math.sqrt(x[0] - k) + math.acos(k)


X, Y = np.array([0.4, -1.3, 0.9, 2.1]), np.array([1.5, -0.3])
PLACES = [(X, k) for k in (0, 2, 3, 4, 5, -1, -4, -5)]
EXTENTS = [(X, np.ones(n)) for n in (4, 1, 0, 2, 3, 5)]
RAISING: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    *((function, PLACES) for function in (element, stored, walked, walked_back, gathered, scattered, rows, from_place)),
    *((function, EXTENTS) for function in (added, put, put_on, in_place)),
    (multiplied, [(X, Y), (X, X), (X[:2], Y), (X[:3], Y), (X, np.ones(0))]),
    (unpacked, [(X[:3], 2), (X, 2), (X[:2], 2), (X[:0], 2)]),
    (halved, [(X, 4), (X, 3), (X, 1)]),
    (largest, [(X, 1), (X, 4), (X[:0], 0)]),
    (inverted, [(X, 1), (X, 0), (X[:3], 1), (np.ones(4), 2)]),
    (asserted, [(X, 2), (X, 3)]),
    (refused, [(X, 1), (X, 0), (X[:0], 1)]),
    (rooted, [(X, 0), (X, 1), (X, -1), (X, 2)]),
]


@pytest.mark.sweep(2)
@pytest.mark.parametrize(("function", "calls"), RAISING, ids=lambda c: getattr(c, "__name__", ""))
def test_both_targets_raise_what_the_function_raises(function: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    compiled, plain = (symgrad.value_and_grad(function, jit=jit) for jit in (True, False))
    kinds = set()
    for args in calls:
        keep_kernels(compiled)
        actual, expected, own = (outcome(run, *args) for run in (compiled, plain, function))
        raised = isinstance(own, tuple)

        assert same(actual, expected), args
        assert isinstance(expected[0], str) == raised, (args, expected, own)
        assert not raised or expected[0] == own[0], (args, expected, own)
        kinds.add(raised)
    assert kinds == {True, False}, "some of the calls are to raise, and some are not"
    assert "njit" in compiled.source(*calls[0])


def shifted(x):
    y = x * 1.0
    y[1:] = y[:-1] * 2.0
    y[:-1] += y[1:] * y[1:]
    return np.sum(np.sin(y))


def turned(x):
    y = x * 1.0
    y[:] = y[::-1] * y
    y[::-1] += y
    y[::2] -= y[:2]
    return np.sum(np.sin(y))


def exchanged(x):
    y = x * 1.0
    y[0], y[-1] = y[-1], y[0]
    y[1:3], y[2:4] = y[2:4] * 1.0, y[1:3] * 1.0
    return np.sum(y * x * x)


def crossed(x):
    m = np.outer(x, x)
    m[1:] = m[:-1]
    m[:, 0] += m[0]
    m += m.T
    m[...] = m.T * m[0]
    return np.sum(m * np.arange(16).reshape(4, 4))


def neighbours(x):
    y = x * 1.0
    y[1:-1] = 0.5 * (y[:-2] + y[2:])
    y[1:-1] *= y[2:] - y[:-2]
    return np.sum(y * y)


def between_rows(x):
    m = np.outer(x, x)
    for i in range(1, 4):
        m[i] -= m[i - 1] * m[i, 0]
        m[:, i] += m[:, i - 1]
    return np.sum(m * m)


@pytest.mark.sweep(3)
@pytest.mark.parametrize("function", [shifted, turned, exchanged, crossed, neighbours, between_rows])
def test_stores_that_overlap_what_they_read(function: Callable[..., Any]) -> None:
    compiled, plain = both(function, X)

    assert same(compiled, plain)
    assert plain[0] == pytest.approx(function(X), rel=1e-13)
    check_grads(function, (X,))


def more_axes_in_place(x, y):
    x[1:] += y
    return np.sum(x * x)


def more_axes_by_name(x, y):
    x *= y
    return np.sum(x * x)


def more_axes_out(x, y):
    z = np.zeros(4)
    np.multiply(x, y, out=z)
    return np.sum(z * z)


@pytest.mark.parametrize("function", [more_axes_in_place, more_axes_by_name, more_axes_out])
@pytest.mark.parametrize("jit", [False, True])
def test_computing_in_place_gives_an_array_no_more_axes(function: Callable[..., Any], jit: bool) -> None:
    row = np.ones((1, 3 if function is more_axes_in_place else 4))
    with pytest.raises(ValueError, match="non-broadcastable"):
        function(X.copy(), row)
    with pytest.raises(ShapeMismatch, match="2 axes is stored in an array with 1"):
        symgrad.grad(function, jit=jit)(X.copy(), row)


def test_a_store_leaves_out_leading_axes_of_extent_one() -> None:
    def put_row(x, y):
        x[1:] = y
        return np.sum(x * x)

    compiled, plain = both(put_row, X, np.ones((1, 3)))
    assert same(compiled, plain)


def halves(x):
    return np.sum(x**0.5)


@pytest.mark.parametrize("number", [0.0, -0.0, 4.0, -4.0, math.inf, -math.inf, math.nan])
def test_the_power_of_a_half_is_a_square_root(number: float) -> None:
    compiled, plain = both(halves, np.array([number, 1.0]))
    assert same(compiled, plain)
