"""Negative indices, in parts of arrays and in unmaterialised arrays, on both targets."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from differences import derivative, direction_for, inner

import symgrad
from symgrad.errors import NotCompiled

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def of_a_part(x, k):
    return np.sum(np.tanh(x[1:][k] * x[:3]))


def of_a_reversed_vector(x, k):
    return np.sum(np.tanh(x[::-1][k] * x[:3]))


def of_a_reshaped_vector(x, k):
    return np.sum(np.sin(x.reshape(2, 3)[:, ::-1][:, k] * x[0]))


def of_a_range(x, k):
    return np.sum((np.arange(6) * x)[k] * np.linspace(0.0, 1.0, 6)[k] * x[:3])


def of_a_choice(x, k):
    return np.sum(np.where(np.arange(6) > 2, x, 0.5)[k] * x[:3])


def of_a_triangle(x, k):
    return np.sum(np.tril(np.outer(x, x))[k] * x + np.eye(6)[k] * x)


def of_joined_vectors(x, k):
    return np.sum(np.concatenate([x[:2], x])[k] * x[:3])


def stored_to_a_part(x, k):
    y = np.zeros(6)
    y[1:][k] = x[0]
    y[::-1][k] *= x[1]
    return np.sum(np.sin(y * x) + y)


def added_to_a_part(x, k):
    y = x.copy()
    np.add.at(y[1:], k, x[0])
    return np.sum(np.sin(y))


def of_a_view_in_a_loop(x, k):
    part, total = x[2:], 0.0
    for i in range(3):
        total += np.sin(part[i - 2]) * x[i] + part[2 * i - 4]
    return total


FUNCTIONS = (
    of_a_part, of_a_reversed_vector, of_a_reshaped_vector, of_a_range, of_a_choice, of_a_triangle, of_joined_vectors, stored_to_a_part,
    added_to_a_part, of_a_view_in_a_loop,
)  # fmt: skip
PLACES = (-1, -2, 0, np.array([0, -1, -2]))


@pytest.mark.sweep(4)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_places_from_the_end_are_found_on_both_targets(function: Callable[..., Any]) -> None:
    x = np.random.default_rng(4).uniform(-1.0, 1.0, 6)
    derived = [symgrad.value_and_grad(function, jit=jit) for jit in (True, False)]
    for k in PLACES[:3] if function is of_a_triangle else PLACES:
        direction = direction_for((x,), np.random.default_rng(0))
        slope = derivative(lambda at, k=k: function(at[0].copy(), k), (x,), direction)
        for one in derived:
            with warnings.catch_warnings():
                warnings.simplefilter("error", NotCompiled)
                value, gradient = one(x.copy(), k)

            assert value == pytest.approx(function(x.copy(), k), rel=1e-12)
            assert inner((gradient,), direction) == pytest.approx(slope, rel=1e-8, abs=1e-9)


@pytest.mark.parametrize("k", [6, -6, np.array([0, -6])])
def test_places_outside_of_a_part_raise(k: Any) -> None:
    for jit in (True, False):
        with pytest.raises(IndexError):
            symgrad.grad(of_a_part, jit=jit)(np.arange(6.0), k)
