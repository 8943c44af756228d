"""Masks as predicates: both targets agree, and sums under a mask gather nothing."""

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


def quotient(x, w):
    m = x > 0.3
    return np.sum(x[m] * x[m]) / (1.0 + np.sum(w[m]))


def extremes(x, w):
    m = (x > 0.3) & (w < 0.7)
    return np.mean(x[m] ** 2) + np.max(w[m]) * np.min(x[m]) + np.dot(x[m], w[m]) + x[m].size


def stored(x, w):
    y = x * 2.0
    y[x > 0.6] *= 3.0
    y[w < 0.2] = w[w < 0.2] ** 2
    y[y > 0.9] = 0.5
    return np.sum(y * y)


def bins(x, w):
    total = 0.0
    for k in range(4):
        m = (x > 0.2 * k) & (x < 0.2 * k + 0.4)
        total += np.sum(w[m] * x[m]) * np.mean(x[m])
    return total


def rows(x, w):
    y = x * w
    m = w[:, 1] > 0.5
    y[m] = x[0]
    y[m] += w[1] * 2
    y[~m] *= w[~m]
    return np.sum(y * y)


def cells(x, w):
    m = x > 0.4
    return np.sum(x[m] ** 3) + np.mean(w[m]) + np.max(w[m])


def gathered(x, w):
    m = x > 0.3
    y = w.copy()
    y[m] = w[m][::-1] * np.exp(x[m])
    return np.sum(y * x)


R = np.random.default_rng(3)
VECTORS = [(R.random(n), R.random(n)) for n in (9, 1, 0, 40)]
MATRICES = [(R.random((n, 3)), R.random((n, 3))) for n in (7, 2)]
CASES = [
    (quotient, VECTORS),
    (extremes, VECTORS),
    (stored, VECTORS),
    (bins, VECTORS),
    (rows, MATRICES),
    (cells, MATRICES),
    (gathered, VECTORS),
]
NAMES = [function.__name__ for function, _ in CASES]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.sweep(4)
@pytest.mark.parametrize(("function", "calls"), CASES, ids=NAMES)
def test_masks_give_the_same_on_both_targets(function: Any, calls: Any) -> None:
    x, w = calls[0]
    ties = (np.round(x, 1), np.round(w, 1))
    check_targets(function, calls, [*strange(x, w), ties, (x, w[1:]), (x[:1], w)])


@pytest.mark.parametrize(("function", "calls"), CASES[:-1], ids=NAMES[:-1])
def test_what_a_mask_chooses_is_not_gathered(function: Any, calls: Any) -> None:
    assert "places" not in symgrad.value_and_grad(function, wrt=("x", "w"), jit=True).source(*calls[0])


def test_what_is_dear_or_moved_is_gathered() -> None:
    assert "places" in symgrad.value_and_grad(gathered, wrt=("x", "w"), jit=True).source(*VECTORS[0])
