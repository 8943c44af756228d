"""Arrays of unequal lengths collected in a list and joined by ``np.concatenate``, on both targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from targets import outcome, same, stays

import symgrad

X = np.linspace(0.3, 1.9, 7)


def pieces(x, n):
    parts = []
    for k in range(n):
        parts.append(x[k : 2 * k + 1] * 2.0)
    return np.sum(np.concatenate(parts) ** 2)


def handled(x, n):
    try:
        parts = []
        for k in range(n):
            parts.append(x[k : 2 * k + 1] * 2.0)
        return np.sum(np.concatenate(parts) ** 2)
    except ValueError:
        return x[0]


def beside(x, n):
    y = np.hstack([x[k:] * x[k] for k in range(n)])
    return np.sum(y * np.arange(y.size)) + np.sum(y**2)


def rows(x, n):
    table = np.outer(x, x)
    y = np.concatenate([table[k : 2 * k + 2] for k in range(n)], axis=0)
    return np.sum(y * np.arange(y.size).reshape(y.shape))


def columns(x, n):
    table = np.outer(x, x)
    y = np.concatenate([table[:, k : 2 * k + 2] for k in range(n)], axis=1)
    return np.sum(y * np.arange(y.size).reshape(y.shape))


def flattened(x, n):
    table = np.outer(x, x)
    y = np.concatenate([table[k : 2 * k + 2] for k in range(n)], axis=None)
    return np.sum(y * np.arange(y.size))


def read_later(x, n):
    parts = [x[k:] * x[k] for k in range(n)]
    y = np.concatenate(parts)
    return np.sum(y**3) + np.sum(parts[0] * parts[0])


FUNCTIONS = [pieces, handled, beside, rows, columns, flattened, read_later]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_lengths_of_later_calls_differ(function: Callable[..., Any]) -> None:
    plain, kernel = (symgrad.value_and_grad(function, jit=jit) for jit in (False, "auto"))
    for n in (1, 3, 2, 0):
        expected = outcome(function, X, n)
        assert same(outcome(kernel, X, n), outcome(plain, X, n), 1e-12, 1e-14)
        if isinstance(expected, tuple):
            assert outcome(plain, X, n)[0] == expected[0]
        else:
            assert plain(X, n)[0] == pytest.approx(expected, rel=1e-14)
            symgrad.check_grads(function, (X, n), wrt=0, order=2)


@pytest.mark.parametrize("function", [pieces, handled, beside, rows, read_later], ids=lambda f: f.__name__)
def test_kernels_join_along_the_first_axis(function: Callable[..., Any]) -> None:
    pytest.importorskip("numba")
    assert stays(function, X, 3)


def test_the_seed_of_a_pullback_is_not_written_to() -> None:
    def joined(x, n):
        parts = [x[k:] * 1.0 for k in range(n)]
        return np.concatenate(parts)

    out, pullback = symgrad.vjp(joined, X, 2, wrt="x")
    seed = np.arange(1.0, out.size + 1)
    before = seed.copy()
    expected = np.concatenate([seed[:1], seed[1:7] + seed[7:]])
    np.testing.assert_array_equal(pullback(seed), expected)
    np.testing.assert_array_equal(seed, before)
