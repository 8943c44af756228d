"""Strided arrays, ``strides``, and ``setflags``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided, sliding_window_view

import symgrad
from symgrad.errors import SymgradError, UnsupportedArgument, UnsupportedSyntax, UnsureAlias
from tests.verdicts import check_right

X = np.array([0.5, 1.25, 2.0, -0.75, 3.0])
WEIGHTS = np.array([2.0, -1.0])


def windows_of(array, width):
    """A common recipe: windows along the first axis."""
    shape = (array.shape[0] - width + 1, width) + array.shape[1:]
    out = as_strided(array, shape, (array.strides[0],) + array.strides)
    out.setflags(write=False)
    return out


def moving_sums(x):
    return np.sum((windows_of(x, 2) @ WEIGHTS) ** 2)


def windows_of_rows(x):
    table = np.zeros((len(x), 2))
    table[:, 0], table[:, 1] = x, x**2
    shape = table.shape[:-1] + (table.shape[-1] - 1, 2)
    windows = as_strided(table, shape=shape, strides=table.strides + (table.strides[-1],))
    return np.sum((windows @ WEIGHTS) ** 2) + np.sum(windows_of(table, 3) ** 3)


def every_second(x):
    return np.sum(as_strided(x, (3,), (2 * x.itemsize,)) ** 2) * x.strides[0]


def flag_of_what_was_made(x):
    y = 2.0 * x
    y.setflags(write=True)
    y[0] = x[1]
    y.setflags(write=False)
    return np.sum(y**2)


@pytest.mark.parametrize("function", [moving_sums, windows_of_rows, every_second, flag_of_what_was_made])
@pytest.mark.parametrize("jit", [False, True])
def test_right(function: Any, jit: bool) -> None:
    check_right(function, X, jit)


def test_how_the_argument_lies_is_looked_at() -> None:
    derivative = symgrad.grad(moving_sums)
    expected = derivative(X)
    with pytest.raises(UnsupportedSyntax, match="lie by columns or with gaps"):
        derivative(np.repeat(X, 2)[::2])
    np.testing.assert_array_equal(derivative(np.ascontiguousarray(np.repeat(X, 2)[::2])), expected)


def with_gaps(x):
    return np.sum(as_strided(x[::2], (2,), (8,)))


def with_gaps_by_the_hint(x):
    packed = np.ascontiguousarray(x[::2])
    return np.sum(as_strided(packed, (2,), packed.strides) ** 2)


def beyond_its_memory(x):
    return np.sum(as_strided(x, (2,), (-8,)))


def stores_to_windows(x):
    y = x.copy()
    as_strided(y, (2,), (8,))[0] = 3.0
    return np.sum(y**2)


def stores_to_windows_of_numpys(x):
    windows = sliding_window_view(x, 2)
    windows[0, 0] = 3.0
    return np.sum(windows**2)


def stores_behind_windows(x):
    y = x.copy()
    windows = as_strided(y, (2,), (8,))
    y[0] = 3.0
    return np.sum(windows**2)


def stores_where_forbidden(x):
    y = 2.0 * x
    y.setflags(write=False)
    y[0] = 1.0
    return np.sum(y)


def sets_flags_of_the_callers(x):
    x.setflags(write=False)
    return np.sum(x)


def asks_for_flags(x):
    y = 2.0 * x
    y.setflags(write=False)
    return np.sum(y) if y.flags.writeable else np.sum(y**2)


REFUSED: list[tuple[Any, type[SymgradError], str]] = [
    (with_gaps, UnsupportedArgument, "lies by rows without gaps"),
    (beyond_its_memory, UnsupportedArgument, "inside the memory of its array"),
    (stores_to_windows, UnsupportedSyntax, "is written to"),
    (stores_to_windows_of_numpys, UnsupportedSyntax, "is written to"),
    (stores_behind_windows, UnsureAlias, "may share memory"),
    (stores_where_forbidden, UnsupportedSyntax, "is written to"),
    (sets_flags_of_the_callers, UnsupportedSyntax, "the flags of an array of the caller's are set"),
    (asks_for_flags, UnsupportedSyntax, "flags of an array that is only read"),
]


@pytest.mark.parametrize(("function", "kind", "said"), REFUSED, ids=lambda part: getattr(part, "__name__", None))
def test_refused(function: Any, kind: type[SymgradError], said: str) -> None:
    with pytest.raises(kind, match=said):
        symgrad.grad(function)(X.copy())


def test_the_hint_for_gaps() -> None:
    check_right(with_gaps_by_the_hint, X, False)
