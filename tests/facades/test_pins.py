"""Integers that a row must know while compiling (an axis) become part of the signature, with their value."""

from __future__ import annotations

import numpy as np
import pytest

import symgrad

X = np.arange(1.0, 7.0).reshape(2, 3)
WHICH = 0


def sums(x, axis=0, keep=False):
    return np.sum(np.sum(x * x, axis=axis, keepdims=keep) ** 2)


def by_global(x):
    return np.sum(np.sum(x * x, axis=WHICH) ** 2)


def expected(axis):
    return 4.0 * X * np.sum(X * X, axis=axis, keepdims=True)


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("keep", [False, True])
def test_an_axis_given_in_the_call(axis, keep):
    derived = symgrad.grad(sums)
    for _ in range(2):
        assert np.allclose(derived(X, axis, keep), expected(axis))
    assert np.allclose(derived(X), expected(0))


def test_an_axis_in_a_global_is_looked_at_in_each_call(monkeypatch):
    derived = symgrad.grad(by_global)
    for axis in (0, 1, 0):
        monkeypatch.setitem(globals(), "WHICH", axis)
        assert np.allclose(derived(X), expected(axis))


def test_second_derivatives_know_it_too():
    def slope(x, axis):
        return np.sum(symgrad.grad(sums)(x, axis) ** 2)

    direction = np.cos(X)
    step = 1e-5
    difference = (slope(X + step * direction, 1) - slope(X - step * direction, 1)) / (2 * step)
    assert np.sum(symgrad.grad(slope)(X, 1) * direction) == pytest.approx(difference, rel=1e-7)
