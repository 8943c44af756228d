"""Extremes in kernels, with and without LLVM's instruction."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

numba = pytest.importorskip("numba")
folds = pytest.importorskip("symgrad.runtime.folds")

NUMBERS = (-math.inf, -1.5, 0.0, 2.0, math.inf, math.nan)


@pytest.mark.parametrize("has_maximum", [True, False])
def test_extremes_are_numpys(has_maximum: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "HAS_MAXIMUM", has_maximum and folds.HAS_MAXIMUM)
    larger, smaller = folds.larger, folds.smaller

    @numba.njit
    def extremes(x: float, y: float) -> tuple[float, float]:
        return larger(x, y), smaller(x, y)

    for x, y in itertools.product(NUMBERS, NUMBERS):
        np.testing.assert_array_equal(extremes(x, y), (np.maximum(x, y), np.minimum(x, y)))


@pytest.mark.parametrize("has_maximum", [True, False])
def test_extremes_of_many_numbers(has_maximum: bool, random: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folds, "HAS_MAXIMUM", has_maximum and folds.HAS_MAXIMUM)
    larger = folds.larger

    @numba.njit
    def most(x: np.ndarray) -> float:
        result = -np.inf
        for i in range(len(x)):
            result = larger(result, x[i])
        return result

    x = random.normal(size=101)
    assert most(x) == np.max(x)
    x[40] = np.nan
    assert math.isnan(most(x))
