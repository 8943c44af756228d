"""Starred lists whose length follows from shapes and integers: code for each length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad

WEIGHTS = np.array([0.5, 2.0])


def squares(*arrays: Any) -> Any:
    return sum((k + 1) * np.sum(array * array) for k, array in enumerate(arrays))


def with_rows(x: Any, y: Any) -> Any:
    kept = []
    for array in (x, y):
        if len(array) > 0:
            kept.append(array)
    return squares(*kept)


def with_elements(x: Any, y: Any) -> Any:
    kept = [y]
    if x.size:
        kept.append(x)
    return squares(*kept, x[:1])


def long_enough(x: Any, y: Any) -> Any:
    kept = [x, *([y] if y.shape[0] >= 2 else [])]
    if x.shape[0] * 2 > 4:
        kept = kept + [2.0 * x]
    return squares(*kept)


def beside_an_outer_array(x: Any, y: Any) -> Any:
    kept = []
    if len(WEIGHTS) > 1:
        kept.append(x * WEIGHTS[0])
    kept.append(y)
    return squares(*kept)


PROGRAMS = [with_rows, with_elements, long_enough, beside_an_outer_array]


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_list_has_the_length_of_the_call(program: Callable[..., Any]) -> None:
    derived = symgrad.value_and_grad(program, wrt=("x", "y"), allow_unused=True)
    for rows, columns in ((3, 2), (0, 2), (2, 0), (1, 1), (3, 2)):
        x, y = np.linspace(0.2, 0.8, rows), np.linspace(-0.3, 0.4, columns)
        value, gradients = derived(x, y)
        assert value == pytest.approx(program(x, y), rel=1e-13)
        for gradient, argument in zip(gradients, (x, y), strict=True):
            for k in range(len(argument)):
                step = np.zeros(len(argument))
                step[k] = 1e-6
                ends = [program(*(a + s * step if a is argument else a for a in (x, y))) for s in (1, -1)]
                assert gradient[k] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-8)


def test_another_length_of_an_outer_array_has_other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    gradient = symgrad.grad(beside_an_outer_array, wrt="x", allow_unused=True)
    x, y = np.ones(3), np.ones(2)
    assert gradient(x, y).tolist() == [0.5, 0.5, 0.5]
    monkeypatch.setitem(globals(), "WEIGHTS", np.array([3.0]))
    assert gradient(x, y).tolist() == [0.0, 0.0, 0.0]
