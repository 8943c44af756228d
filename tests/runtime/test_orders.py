"""Sorting functions of kernels, compared with NumPy, for all lengths."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("numba")
orders = pytest.importorskip("symgrad.runtime.orders")

R = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8"])
def test_places_in_order(dtype: str) -> None:
    for n in (*range(1, 20), 31, 32, 33, 47, 64, 100, 257):
        for x in (R.permutation(n), np.arange(n), np.arange(n)[::-1]):
            numbers = (x - n // 2).astype(dtype)
            places, values = np.empty(n, np.int64), np.empty(n, dtype)
            orders.order_into(places, numbers)
            orders.sorted_into(values, numbers)

            assert np.array_equal(places, np.argsort(numbers))
            assert np.array_equal(values, np.sort(numbers))


@pytest.mark.parametrize("x", [[1.0, 2.0, 1.0], [np.nan, 1.0], [1.0, np.nan], [0.0, -0.0], [2.0, np.nan, 1.0, 3.0], [*range(40), 7]])
def test_order_that_is_numpys_own_is_left_to_numpy(x: list[float]) -> None:
    with pytest.raises(ArithmeticError):
        orders.order_into(np.empty(len(x), np.int64), np.array(x, float))


def test_equal_numbers_are_sorted_but_for_signs_of_zero() -> None:
    out = np.empty(5)
    orders.sorted_into(out, np.array([2.0, 0.0, 2.0, 0.0, -np.inf]))
    assert out.tolist() == [-np.inf, 0.0, 0.0, 2.0, 2.0]
    for x in ([1.0, 0.0, -0.0, 2.0, 3.0], [1.0, np.nan, 3.0, 4.0, 5.0]):
        with pytest.raises(ArithmeticError):
            orders.sorted_into(out, np.array(x))


def test_where_the_middle_stands() -> None:
    for x, shares in (
        ([3.0, 1.0, 2.0], [0, 0, 1]),
        ([4.0, 1.0, 2.0, 3.0], [0, 0, 0.5, 0.5]),
        ([2.0, 2.0], [0.5, 0.5]),
        ([5.0, 5.0, 1.0, 0.0, 3.0], [0, 0, 0, 0, 1]),
    ):
        out = np.empty(len(x))
        orders.middle_into(out, np.array(x))
        assert out.tolist() == shares
    for x in ([1.0, 1.0, 2.0], [1.0, 2.0, 2.0, 2.0], [np.nan], [1.0, np.nan, 2.0]):
        with pytest.raises(ArithmeticError):
            orders.middle_into(np.empty(len(x)), np.array(x))
