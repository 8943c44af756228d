"""Programs of a module of tests, each with what is to become of it: right on both targets, or refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import symgrad

Function = Callable[..., Any]


@dataclass
class Verdicts:
    """What a module's decorators gather."""

    to_be_right: list[Function] = field(default_factory=list)
    to_be_refused: list[Function] = field(default_factory=list)

    def right(self, function: Function) -> Function:
        """The function has a gradient, which is right."""
        self.to_be_right.append(function)
        return function

    def refused(self, function: Function) -> Function:
        """The function has none that we know how to take."""
        self.to_be_refused.append(function)
        return function


def check_right(function: Function, x: Any, jit: bool) -> None:
    """Value and gradient of a function of a vector, on one target, against the function and its differences."""
    if jit:
        pytest.importorskip("numba")
    value, gradient = symgrad.value_and_grad(function, jit="auto" if jit else False)(x)
    expected = [(function(x + s) - function(x - s)) / 2e-6 for s in 1e-6 * np.eye(len(x))]
    assert value == pytest.approx(function(x), rel=1e-12)
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
