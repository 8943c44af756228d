"""New arrays of kernels: contents, no-alias facts for LLVM, deallocation."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from numba import njit

from symgrad.runtime.memory import new_empty, new_zeros


@njit(error_model="numpy")
def rounds(x: Any, n: int) -> Any:
    """Arrays that are made anew each round and handed on, and one that is filled in many loops."""
    total = new_zeros((x.shape[0],))
    state = new_empty((x.shape[0],))
    for i in range(x.shape[0]):
        state[i] = x[i]
    for _ in range(n):
        following = new_empty((x.shape[0],))
        for i in range(x.shape[0]):
            following[i] = 0.5 * state[i] + 1.0
            total[i] += following[i]
        state = following
    return total, state


def test_what_they_hold() -> None:
    assert np.array_equal(new_zeros((2, 3)), np.zeros((2, 3)))
    array = new_empty((4, 1, 2))
    assert (array.shape, array.dtype, array.flags.c_contiguous, array.flags.writeable) == ((4, 1, 2), np.float64, True, True)


@njit(error_model="numpy")
def of_other_dtypes(n: int) -> Any:
    """Arrays whose elements are of 8, 1 and 4 bytes."""
    places = new_empty((n, 2), np.int64)
    flags = new_zeros((n,), np.bool_)
    narrow = new_zeros(n, np.float32)
    for i in range(n):
        places[i, 0], places[i, 1] = i, -i
        flags[i] = flags[i] or i > 2
        narrow[i] += 0.5 * i
    return places, flags, narrow


@pytest.mark.parametrize("n", [0, 1, 9])
def test_arrays_of_other_dtypes(n: int) -> None:
    index = np.arange(n)
    expected = np.stack((index, -index), axis=1), index > 2, (0.5 * index).astype(np.float32)
    for one, other in zip(of_other_dtypes(n), expected, strict=True):
        assert one.dtype == other.dtype
        assert one.flags.c_contiguous
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("size", [0, 1, 7, 1000])
def test_loops_over_them_compute_the_same(n: int, size: int) -> None:
    x = np.linspace(0.0, 1.0, size)
    total, state = rounds(x, n)
    expected_total, expected = np.zeros(size), x.copy()
    for _ in range(n):
        expected = 0.5 * expected + 1.0
        expected_total = expected_total + expected
    assert np.array_equal(total, expected_total)
    assert np.array_equal(state, expected)


def test_loops_over_them_are_vectorised_without_a_look_at_where_they_lie() -> None:
    rounds(np.ones(3), 1)
    (text,) = rounds.inspect_llvm().values()
    assert "noalias" in text
    assert "vector.memcheck" not in text


@pytest.mark.skipif(sys.platform != "linux", reason="reads the memory of the process")
def test_they_are_freed() -> None:
    def held() -> int:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    x = np.ones(100_000)
    rounds(x, 50)
    before = held()
    for _ in range(20):
        rounds(x, 50)
    assert held() - before < 5_000  # pages; 20 rounds of 50 arrays would be 200 000
