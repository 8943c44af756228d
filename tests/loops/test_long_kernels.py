"""Kernels that short lists make long: generated for any length instead, the shorter text is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.dispatch import table
from tests.plainly import function_of

pytest.importorskip("numba")

CHAIN = """
def f(a, rows):
    total = 0.0
    for row in rows:
        for k in range(len(row)):
            total = total * a + row[k] * row[k - 1]
    return total
"""
UNPACKED = """
def f(a, rows):
    (u, v), (w, x) = rows
    for k in range(3):
        u, v = u * v + w, v * a - x
    return u * v
"""
ROWS = [[0.3, 0.5, -0.2], [0.1, 0.7, 0.4], *([0.1 * k, 0.8 - 0.1 * k, 0.3] for k in range(5))]


def calls_that_went_slowly(derived: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """A list that gets an item for each call that no test of the guard accepts."""
    counted: list[int] = []
    followed = table.Table.followed

    def watched(self: table.Table, arguments: Any) -> Any:
        counted.append(1)
        return followed(self, arguments)

    monkeypatch.setattr(table.Table, "followed", watched)
    return counted


def with_limit(monkeypatch: pytest.MonkeyPatch, lines: int, text: str) -> tuple[Callable[..., Any], Any, Any]:
    """A function, its derivative as NumPy code, and as a kernel that is long if it has more lines than that."""
    monkeypatch.setattr(table, "LONG", lines)
    function = function_of(text)
    return function, symgrad.value_and_grad(function, wrt=("a", "rows")), symgrad.value_and_grad(function, wrt=("a", "rows"), jit=True)


def flat(result: Any) -> np.ndarray[Any, Any]:
    """The numbers of a value and its gradients."""
    value, (of_a, of_rows) = result
    return np.array([value, of_a, *(v for row in of_rows for v in row)])


def test_a_long_kernel_is_made_for_lists_of_any_length(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a loop, takes other lengths without being made anew, and gives what the code for NumPy gives."""
    function, plain, derived = with_limit(monkeypatch, 100, CHAIN)
    slowly = calls_that_went_slowly(derived, monkeypatch)
    np.testing.assert_allclose(flat(derived(0.7, ROWS)), flat(plain(0.7, ROWS)), rtol=1e-12)
    assert "rows_lengths" in derived.source(0.7, ROWS)
    slowly.clear()
    for rows in (ROWS, ROWS[:2], [*ROWS, [0.2, 0.1, 0.6]], [[1.5]], [[0.1, 0.2], [0.3]]):
        np.testing.assert_allclose(flat(derived(0.7, rows))[0], function(0.7, rows), rtol=1e-12)
    assert not slowly
    step = 1e-6
    ahead, behind = (function(0.7, [*ROWS[:-1], [ROWS[-1][0], ROWS[-1][1] + s, 0.3]]) for s in (step, -step))
    assert derived(0.7, ROWS)[1][1][-1][1] == pytest.approx((ahead - behind) / (2 * step), rel=1e-7)


def test_a_short_kernel_is_followed_item_by_item(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, derived = with_limit(monkeypatch, 5000, CHAIN)
    assert "rows_lengths" not in derived.source(0.7, ROWS[:2])


def test_a_kernel_that_is_not_much_shorter_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor is one that there is none of: the items are followed one by one."""
    rows = [[0.3, 0.5], [0.1, 0.7]]
    function, plain, derived = with_limit(monkeypatch, 5, UNPACKED)
    np.testing.assert_allclose(flat(derived(0.7, rows)), flat(plain(0.7, rows)), rtol=1e-12)
    assert "rows_lengths" not in derived.source(0.7, rows)
    assert derived(0.7, rows)[0] == pytest.approx(function(0.7, rows), rel=1e-12)
