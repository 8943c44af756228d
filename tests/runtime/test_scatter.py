"""Scatter-add by index equals ``np.add.at`` to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.runtime.support import scatter_add


def agree(x: Any, path: Any, v: Any) -> None:
    expected, actual = x.copy(), x.copy()
    np.add.at(expected, path, v)
    scatter_add(actual, path, v)
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128])
@pytest.mark.parametrize("kind", [np.int16, np.intp, np.uint8])
@pytest.mark.parametrize(
    ("shape", "count"), [((90, 4), (700,)), ((90,), (50, 40)), ((90, 3, 2), (20, 30)), ((90, 0), (5,)), ((90, 4), (3,))]
)
def test_rows(dtype: Any, kind: Any, shape: tuple[int, ...], count: tuple[int, ...]) -> None:
    chance = np.random.default_rng(0)
    x = chance.normal(size=shape).astype(dtype)
    place = chance.integers(0 if kind is np.uint8 else -90, 90, count).astype(kind)
    v = chance.normal(size=count + shape[1:]).astype(dtype)
    for value in (v, v[:1], 2.0):
        agree(x, place, value)
    agree(np.asfortranarray(x), place, v)


@pytest.mark.parametrize("low", [0, -6])
def test_cells(low: int) -> None:
    chance = np.random.default_rng(1)
    x = chance.normal(size=(8, 6, 2))
    i, j = chance.integers(low, 6, (2, 3000))
    agree(x, (i, j), chance.normal(size=(3000, 2)))
    agree(x, (i, j, np.abs(j) % 2), chance.normal(size=3000))
    agree(x, (i[:, None], j[None, :20]), chance.normal(size=(3000, 20, 2)))


@pytest.mark.parametrize("place", [8, -9])
def test_a_place_that_is_not_there(place: int) -> None:
    with pytest.raises(IndexError):
        scatter_add(np.zeros((8, 4)), np.full(1000, place), np.ones((1000, 4)))


def test_the_gradient_of_a_table_that_is_read_by_rows() -> None:
    def loss(table: Any, rows: Any, w: Any) -> Any:
        return np.sum(np.tanh(table[rows] @ w))

    chance = np.random.default_rng(2)
    table, rows, w = chance.normal(size=(30, 8)), chance.integers(0, 30, 400), chance.normal(size=(8, 3))
    derived = symgrad.grad(loss)
    expected = np.zeros_like(table)
    np.add.at(expected, rows, (1.0 - np.tanh(table[rows] @ w) ** 2) @ w.T)

    np.testing.assert_allclose(derived(table, rows, w), expected, rtol=1e-13)
    assert "scatter_add(table_grad, rows" in derived.source(table, rows, w, optimize="speed")
    assert "np.add.at(table_grad, rows" in derived.source(table, rows, w)
