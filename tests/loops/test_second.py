"""Second derivatives as kernels: cotangents of tape items on tapes of their own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from targets import agreed

import symgrad

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def recurrence(x, n):
    s = x[0]
    for i in range(n):
        s = np.sin(s) * s + x[i % len(x)]
    return s


def vectors(x, n):
    h = x
    for _ in range(n):
        h = np.tanh(h * x[0] + x)
    return np.sum(h * h)


def rounds_in_rounds(x, n):
    s = x[0]
    for i in range(n):
        for j in range(i):
            s = s * np.cos(s + x[j % 3])
    return s


def rounds_as_wanted(x, n):
    s, k = x[0], 0
    while k < n and s < 40.0:
        s = s * s * 0.5 + x[1]
        k += 1
    return s * x[2]


def left_early(x, n):
    s = x[0]
    for i in range(n):
        s = s * s + x[i % 3]
        if s > 5.0:
            break
    return s


def stored(x, n):
    y = x.copy()
    for i in range(n):
        y[i % 3] = y[(i + 1) % 3] * y[i % 3]
    return np.sum(np.exp(y))


X = np.array([0.4, 0.9, 0.7])


@pytest.mark.parametrize(
    "function", [recurrence, vectors, rounds_in_rounds, rounds_as_wanted, left_early, stored], ids=lambda f: f.__name__
)
def test_second_derivatives_are_those_of_numpy_code_and_of_differences(function: Any) -> None:
    weights = np.array([1.3, -0.7, 0.4])

    def weighted(x, n):
        return np.sum(symgrad.grad(function)(x, n) * weights)

    first = symgrad.grad(function)
    for (x, n), (second,) in agreed(weighted, 0, [(X, 4), (X, 1), (X, 0)]):
        near = 1e-6
        columns = [(first(x + near * e, n) - first(x - near * e, n)) @ weights / (2 * near) for e in np.eye(3)]
        np.testing.assert_allclose(second, columns, rtol=1e-6, atol=1e-8)
