"""Pinned integers: those a row must know at compile time (an axis) are part of the signature."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnknownType

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


@dataclass
class Settings:
    both: bool = True
    degree: int = 3


def by_a_field(x, settings=None):
    settings = settings or Settings()
    signs = (1.0, -1.0) if settings.both else (1.0,)
    return sum((x[0] * sign + 1.0) ** 2 for sign in signs)


def by_a_bool(x, flag):
    if flag:
        y = [x, 2.0 * x]
    else:
        y = {"a": x}
    return np.sum(y[0] * y[1]) if flag else np.sum(y["a"]) * 5.0


def by_an_integer(x, degree):
    parts = (x, x * x) if degree > 2 else x
    return np.sum(parts[0] * parts[1]) if degree > 2 else np.sum(parts)


CHOICES = [
    (by_a_field, [Settings(), Settings(False), Settings(True)]),
    (by_a_bool, [True, False, True]),
    (by_an_integer, [3, 1, 5]),
]


@pytest.mark.parametrize(("function", "choices"), CHOICES, ids=lambda part: getattr(part, "__name__", ""))
def test_what_decides_of_which_kind_a_name_is(function, choices):
    derived = symgrad.value_and_grad(function)
    x = np.array([0.5, 1.5])
    for choice in choices:
        value, gradient = derived(x, choice)
        assert value == pytest.approx(function(x, choice))
        differences = [(function(x + s, choice) - function(x - s, choice)) / 2e-6 for s in 1e-6 * np.eye(2)]
        np.testing.assert_allclose(gradient, differences, rtol=1e-6)


def test_a_number_does_not_decide_it():
    def function(x):
        y = (x, x) if x > 1.0 else x
        return y

    with pytest.raises(UnknownType, match="different kinds"):
        symgrad.grad(function)(2.0)


def weighed(x, labels, rows):
    total = 0.0
    for row in rows:
        total += sum(value * weight * row[0] for (name, weight), value in zip(labels, x) if name != "none")
    return total


def test_only_the_extent_that_is_asked_for_is_known():
    """A list beside an array: so many items as there are of both, whichever is shorter; the loop over the rows stays one."""
    labels = [("a", 2.0), ("none", 3.0), ("b", 4.0)]
    derived = symgrad.grad(weighed)
    for count in (3, 2, 5, 3):
        x, rows = np.arange(1.0, count + 1.0), np.ones((10, 2))
        expected = 10.0 * np.array([2.0, 0.0, 4.0, 0.0, 0.0])[:count]
        np.testing.assert_allclose(derived(x, labels, rows), expected)
        assert len(derived.source(x, labels, rows).splitlines()) < 30
