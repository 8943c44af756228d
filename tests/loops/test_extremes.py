"""Gradients of extremes with ties, infinities and NaN: kernels equal the NumPy code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from targets import check_targets, strange

import symgrad

pytest.importorskip("numba")


@pytest.fixture(autouse=True)
def in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SYMGRAD_CACHE_DIR", "off")


def nearest(x, w):
    apart = x[:, None, :] - w[None, :, :]
    return np.sum(np.min(np.sum(apart * apart, axis=2), axis=1))


def farthest(x, w):
    apart = np.sqrt(np.sum((x[:, None, :] - w) ** 2, axis=2) + 0.1)
    return np.sum(np.max(apart, axis=0) ** 2)


def weighted(x, w):
    most = np.max(x[:, :, None] * w[None, :, :], axis=1)
    return np.sum(most * most) + np.sum(w)


def whole(x, w):
    return np.max(x @ w.T) * np.sum(w) + np.min(x, axis=0) @ w[0]


def larger(x, w):
    y = np.maximum(x, w[0]) * np.minimum(w[1], x)
    return np.sum(np.maximum(y, 0.0) + np.minimum(0.5, y) * x)


R = np.random.default_rng(5)


def sizes(*shapes: tuple[tuple[int, int], tuple[int, int]]) -> list[Any]:
    return [(R.standard_normal(a), R.standard_normal(b)) for a, b in shapes]


CASES = [
    (nearest, sizes(((6, 3), (4, 3)), ((1, 1), (1, 1)), ((0, 3), (2, 3)), ((5, 0), (2, 0)), ((3, 2), (0, 2)))),
    (farthest, sizes(((6, 3), (4, 3)), ((1, 2), (1, 2)), ((2, 3), (0, 3)))),
    (weighted, sizes(((4, 3), (3, 5)), ((1, 1), (1, 1)), ((0, 2), (2, 3)))),
    (larger, sizes(((6, 3), (4, 3)), ((1, 1), (2, 1)), ((0, 3), (2, 3)))),
    (whole, sizes(((4, 3), (2, 3)), ((1, 1), (1, 1)))),
]
NAMES = [function.__name__ for function, _ in CASES]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(8)
@pytest.mark.parametrize(("function", "calls"), CASES, ids=NAMES)
def test_extremes_give_the_same_on_both_targets(function: Any, calls: Any) -> None:
    x, w = calls[0]
    ties = [(np.round(x), np.round(w)), (x * 0.0, w * 0.0), (x * 1e200, w)]
    check_targets(function, calls, [*strange(x, w), *ties], jit=True)


def test_inner_loops_of_zeros_are_left_out() -> None:
    text = symgrad.grad(nearest, wrt="w", jit=True).source(*CASES[0][1][0])

    assert "if np.logical_or(" in text
    assert "unsure != 0.0" in text  # and zero times the rest is zero
