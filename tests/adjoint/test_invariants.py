"""The common part of the rows, or columns, of a Jacobian is computed once, with the same results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.adjoint.matrices import invariants
from symgrad.adjoint.matrices import jacobian as rows
from symgrad.ops.batched import NotBatched
from symgrad.tangent import columns

TARGETS = pytest.mark.parametrize("jit", [False, True], ids=["numpy", "numba"])
RNG = np.random.default_rng(4)


def numbers(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = np.sin(x[i]) * x[(i + 1) % x.shape[0]]
    return y


def pairs(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        scale = np.exp(x[i])
        for j in range(x.shape[0]):
            y[j] += np.cos(x[i] * x[j]) * scale
        y[i] *= np.tanh(x[i])
    return y


def triples(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        for j in range(i):
            for k in range(j, x.shape[0]):
                y[k] += np.sin(x[i] * x[j] + x[k])
    return y


def overwritten(x):
    y = x.copy()
    for i in range(x.shape[0]):
        y[i] = np.sin(y[i]) * x[0]
        y[0] = np.cos(y[i])
    return y


def carried(x):
    y, h = np.zeros(x.shape[0]), 0.5
    for i in range(x.shape[0]):
        h = np.sin(h * x[i])
        y[i] = h * np.exp(-h)
    return y


def with_branches(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        if x[i] > 0.0:
            y[i] = np.log(1.0 + x[i]) * x[i]
        else:
            y[i] = np.exp(x[i])
    return y


def arrays(x):
    y = np.zeros((3, x.shape[0]))
    for i in range(3):
        y[i] = np.sin(x * i) * np.exp(x)
    return y.sum(axis=0)


def backwards(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0] - 1, -1, -1):
        y[i] = np.sin(x[i]) * np.sqrt(1.0 + x[i - 1] ** 2)
    return y


def parts(x):
    y = np.zeros(x.shape[0])
    for i in range(1, x.shape[0], 2):
        y[i] = np.sin(x[i]) * x[i - 1]
    return y


def complex_numbers(x):
    y = np.zeros(x.shape[0])
    for i in range(x.shape[0]):
        y[i] = (np.exp(1j * x[i]) * x[0]).imag
    return y


PROGRAMS = [numbers, pairs, triples, overwritten, carried, with_branches, arrays, backwards, parts, complex_numbers]


def refused(*args: Any, **named: Any) -> Any:
    raise NotBatched


def differences(function: Callable[[Any], Any], x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    steps = step * np.eye(x.size)
    ends = [(function(x + h) - function(x - h)) / (2 * step) for h in steps]
    return np.stack(ends, axis=-1) if ends else np.zeros((*function(x).shape, 0))


@pytest.mark.sweep(3)
@pytest.mark.parametrize("mode", ["reverse", "forward"])
@TARGETS
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")
def test_rows_and_columns_in_turn_are_differences(function: Any, jit: bool, mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows.Rows, "pays", lambda self, compiled: False)
    monkeypatch.setattr(columns, "together", refused)
    jacobian = symgrad.jacobian(function, mode=mode, jit=jit)
    for size in (5, 1, 0, 2):
        x = RNG.normal(size=size)
        if size or function not in (overwritten, carried, complex_numbers):
            result = jacobian(x)
            assert result.shape == (size, size)
            np.testing.assert_allclose(result, differences(function, x), rtol=1e-6, atol=1e-8)


@TARGETS
@pytest.mark.parametrize("function", [f for f in PROGRAMS if f not in (with_branches, complex_numbers)], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotCompiled")
@pytest.mark.filterwarnings("ignore::symgrad.errors.NotActiveWarning")
def test_a_jacobian_in_a_function_is_differentiated_again(function: Any, jit: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows.Rows, "pays", lambda self, compiled: False)
    x, weights = RNG.normal(size=3), RNG.normal(size=(3, 3))

    def loss(x: Any) -> Any:
        return np.sum(symgrad.jacrev(function)(x) * weights)

    def plain(x: Any) -> Any:
        return np.sum(symgrad.jacrev(function)(x) * weights)

    steps = 1e-6 * np.eye(3)
    slopes = [(plain(x + h) - plain(x - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(symgrad.grad(loss, jit=jit)(x), slopes, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("function", [numbers, pairs, backwards], ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("error::symgrad.errors.NotCompiled")
def test_kernels_compute_functions_before_the_rows(function: Any) -> None:
    text = symgrad.jacrev(function, jit=True).source(RNG.normal(size=4))
    before, after = text.split("for row in range")
    names = ("np.sin(", "np.cos(", "np.exp(", "vector_")
    assert any(name in before for name in names)
    assert not any(name in after.split("\ndef ")[0] for name in names)


def test_nothing_is_moved_that_depends_on_the_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it costs, only what all rows share is computed before them."""
    monkeypatch.setattr(rows.Rows, "pays", lambda self, compiled: False)
    x = RNG.normal(size=3)
    right = symgrad.jacrev(numbers)(x)
    monkeypatch.setattr(invariants.Distribution, "is_expensive", lambda self, op: True)
    np.testing.assert_array_equal(symgrad.jacrev(lambda x: numbers(x))(x), right)
