"""Selecting, counting, repeating, rounding and comparing functions in kernels: later data and layouts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from differences import derivative, direction_for, inner
from targets import agreed, both, keep_kernels, outcome, same, stays

import symgrad

pytest.importorskip("numba")
pytestmark = pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def taken(x, m, a, n):
    s = np.sum(np.take(x, [0, 2, -1]) ** 2) * a + np.take(x, n)
    s = s + np.sum(np.take(m, 1, axis=1) ** 2) + np.take(m, n + 2) ** 2
    return s + np.sum(np.take(m, np.array([[0, 1], [2, 0]]), axis=0) ** 2 * np.arange(m.shape[1]))


def left_out(x, m, a, n):
    s = np.sum(np.delete(x, n - 1) ** 2) * a
    for i in range(len(x)):
        s = s * 0.5 + np.sum(np.sin(x[i] - np.delete(x, i)))
    return s + np.sum(np.delete(m, n - 3, axis=0) ** 3) + np.sum(np.delete(m, -1, axis=1) ** 2) + np.sum(np.delete(m, 5) ** 2)


def tiled(x, m, a, n):
    s = np.sum(np.tile(x, 3) * np.arange(3 * len(x)) ** 0.5)
    return s + np.sum(np.tile(m, (2, 1)) ** 2 * np.arange(2 * m.size).reshape(6, -1)) + np.sum(np.tile(np.sin(x), (2, n)) * a)


def counted(x, m, a, n):
    s = np.sum(np.bincount(np.arange(len(x)) // 2, weights=np.sin(x)) ** 2)
    s = s + np.sum(np.bincount([0, 1, 1, n], minlength=6) ** 2) * a
    return s + np.sum(np.digitize(x, [0.0, 0.5]) * x) + np.digitize(a, [0.0, 0.5], right=True) * m[0, 0]


def rounded(x, m, a, n):
    s = round(a, 2) * x[0] + np.sum(np.isclose(x, 0.7)) * a
    for v in x:
        s = s * 0.9 + round(float(v), 3) * v + np.isclose(v, a) * v
    return s + np.allclose(m, m + 1e-12) * a + np.array_equal(x, m[0]) * a + np.array_equal(x, x.copy()) * x[1]


def masked(x, m, a, n):
    s = 0.0
    for k in range(n):
        s = s * 0.5 + x[x > 0].sum() * a + m[m > a].sum()
        if np.any(x > 2.0):
            s = s + np.mean(x[x > 2.0])
    return s


def windows(x, m, a, n):
    w = np.lib.stride_tricks.sliding_window_view(m, (2, 3))
    s = np.sum(np.einsum("ijkl,kl->ij", np.sin(w), np.arange(6.0).reshape(2, 3)) ** 2)
    for k in range(1, n):
        s = s * 0.5 + np.sum(np.max(np.lib.stride_tricks.sliding_window_view(x, k), axis=1)) * a
    return s


X, M = np.array([0.7, -0.3, 1.1, 0.4]), np.array([[0.3, 1.2, 0.1, 0.5], [-0.7, 2.0, 0.2, -0.1], [1.4, -0.2, 0.9, 0.3]])
PROGRAMS = [taken, left_out, tiled, counted, rounded, masked, windows]
LATER = [(X[::-1] * 2.0, np.asfortranarray(M[:, ::-1]), -0.41, 3), (np.r_[X, X], np.c_[M, M], 0.131, 3)]


@pytest.mark.sweep(3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_values_and_gradients(f: Any) -> None:
    first = (X, M, 0.61, 3)
    for arguments, gradients in agreed(f, ("x", "m", "a"), [first, *LATER]):
        direction = direction_for(arguments[:3], np.random.default_rng(1))
        slope = derivative(lambda a, n=arguments[3]: f(*a, n), arguments[:3], direction, 1e-6)
        assert inner(gradients, direction) == pytest.approx(slope, rel=1e-5, abs=1e-7)
    assert stays(f, *first, wrt=(0, 1, 2))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_indices_out_of_range_and_empty_arrays_are_left_to_numpy(f: Any) -> None:
    compiled, plain = (symgrad.value_and_grad(f, wrt=("x", "m", "a"), jit=jit) for jit in (True, False))
    for arguments in [(X, M, 0.61, 3), (X, M, 0.61, 40), (X, M, 0.61, -9), (X, M, 0.25, 3), (np.zeros(0), np.zeros((3, 0)), 0.61, 3)]:
        keep_kernels(compiled)
        assert same(outcome(compiled, *arguments), outcome(plain, *arguments), 1e-10, 1e-12), arguments


@pytest.mark.sweep(3)
@pytest.mark.parametrize("f", [taken, left_out, tiled, masked, windows], ids=lambda f: f.__name__)
def test_second_derivatives(f: Any) -> None:
    v = np.array([0.3, -0.2, 0.5, 1.0])
    compiled, plain = (symgrad.hvp(f, wrt="x", jit=jit)(X, M, 0.61, 3, v=v) for jit in (True, False))
    np.testing.assert_allclose(compiled, plain, rtol=1e-11, atol=1e-13)
    gradient = symgrad.grad(f, wrt="x")
    difference = (gradient(X + 1e-5 * v, M, 0.61, 3) - gradient(X - 1e-5 * v, M, 0.61, 3)) / 2e-5
    np.testing.assert_allclose(compiled, difference, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("digits", [0, 1, 2, 5])
def test_python_rounds_by_the_exact_decimals(digits: int) -> None:
    def f(x):
        return round(x, 2) + x if digits == 2 else round(x, 1) + x if digits == 1 else round(x, 5) + x if digits else round(x, 0) + x

    compiled = symgrad.value_and_grad(f, jit=True)
    compiled(0.3)
    ties = [k / 8 + m for k in range(-8, 9) for m in (0, 2, 1000)] + [2.675, 1.005, -2.675, 0.285, 1e15, 1e300, -0.0, -0.001, 0.5, 1.5, 2.5]
    for x in [*ties, *np.random.default_rng(0).uniform(-100, 100, 50).tolist(), float("inf"), float("nan")]:
        keep_kernels(compiled)
        np.testing.assert_equal(compiled(x)[0], f(x))


def test_numbers_that_are_close_to_what_is_not_finite() -> None:
    def f(x, y):
        return np.sum(np.isclose(x, y) * x) + np.allclose(x, y)

    special = np.array([np.inf, -np.inf, np.nan, 0.0, 1.0, 1.0 + 1e-6])
    for one in special:
        assert same(*both(f, np.full(6, one), special, wrt=("x", "y")))
