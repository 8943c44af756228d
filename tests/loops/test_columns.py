"""Arrays traversed by columns: which get another layout, and that both targets agree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from targets import check_targets

import symgrad

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def orthogonal(x, w):
    """Columns of what is copied and of what is handed out."""
    q = x * w
    for k in range(x.shape[1]):
        q[:, k] = q[:, k] / np.sqrt(1.0 + np.sum(q[:, k] ** 2))
        for j in range(k + 1, x.shape[1]):
            q[:, j] -= q[:, k] * np.sum(q[:, k] * q[:, j])
    return np.sum(q**3)


def from_row_to_row(x, w):
    """Rows: these stay."""
    q = x * w
    for k in range(x.shape[0]):
        for j in range(k + 1, x.shape[0]):
            q[j] -= q[k] * np.sum(q[k] * q[j])
    return np.sum(q**3)


def handed_on(x, w):
    """Columns of what is also multiplied as a whole."""
    q = x * w
    for k in range(x.shape[1]):
        for j in range(k + 1, x.shape[1]):
            q[:, j] -= q[:, k] * np.sum(q[:, k] * q[:, j])
    return np.sum((q.T @ q) ** 2)


def layers(x, w):
    """The first of three axes, on one path only; and a loop that stops."""
    q = np.zeros((x.shape[0], x.shape[1], 5))
    for k in range(5):
        for j in range(x.shape[1]):
            if x[0, j] > 0.6:
                q[:, j, k] = x[:, j] * w[0] * (k + 1) + (q[:, j, k - 1] if k > 1 else 0.0)
            q[1:, j, k] += 0.1 * q[:-1, j, k] ** 2
            if j > 2:
                break
    return np.sum(np.sin(q))


def turned_loops(function: Callable[..., Any]) -> bool:
    """Is the array laid out from the side?"""
    text = symgrad.value_and_grad(function, wrt=("x", "w"), jit=True).source(np.ones((7, 5)), np.ones(5))
    return "q[j, i] = x[i, j]" in text


@pytest.mark.sweep(2)
@pytest.mark.parametrize("function", [orthogonal, from_row_to_row, handed_on, layers], ids=lambda f: f.__name__)
def test_layouts_change_nothing(function: Callable[..., Any]) -> None:
    generator = np.random.default_rng(3)

    def call(n: int, m: int) -> tuple[Any, Any]:
        return generator.uniform(0.3, 1.2, (n, m)), generator.uniform(0.4, 1.1, m)

    others = [call(2, 3), (np.asfortranarray(call(4, 3)[0]), call(4, 3)[1]), call(0, 4), call(3, 1), call(1, 4), call(3, 0)]
    check_targets(function, [call(4, 5)], others=others)


def test_what_is_gone_through_by_columns_is_laid_out_by_columns() -> None:
    assert [f.__name__ for f in (orthogonal, from_row_to_row, handed_on) if turned_loops(f)] == ["orthogonal"]
