"""Outside bools and integers that decide whether refused code is reached: read at each call.

Each program is asked before and after the object changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError, UnknownType

X = np.array([[0.3, 0.7], [1.1, 0.4], [0.9, 1.6]])


class Model:
    """Settings, and parts that are read where these say so."""

    def __init__(self) -> None:
        self.by_row, self.order, self.steps = False, 1, 2

    def each(self, rows: Any) -> Any:
        return [dict(value=row) for row in rows]

    def flagged(self, x: Any) -> Any:
        if self.by_row:
            return np.sum([item["value"] for item in self.each(x)])
        return np.sum(x * x)

    def negated(self, x: Any) -> Any:
        total = x if not self.by_row else self.each(x)
        return np.sum(total * x)

    def ordered(self, x: Any) -> Any:
        if self.order > 1 and self.steps == 2:
            return np.sum(np.roots(x[0]))
        return np.sum(x**3)

    def grown(self, x: Any) -> Any:
        total = 1.0
        for k in range(self.steps):
            total += x[:, k] * x[:, k]
        return np.sum(total * total)


def differences(function: Any) -> Any:
    moved = [[function(X + h * unit.reshape(3, 2)) for h in (1e-6, -1e-6)] for unit in np.eye(6)]
    return np.reshape([(ahead - behind) / 2e-6 for ahead, behind in moved], (3, 2))


@pytest.mark.parametrize("name", ["flagged", "negated", "ordered", "grown"])
def test_what_a_flag_leaves_out_need_not_be_followed(name: str) -> None:
    model = Model()

    def loss(x: Any) -> Any:
        return getattr(model, name)(x)

    derivative = symgrad.grad(loss)
    for setting in ({}, {"steps": 1}, {"order": 0}):
        vars(model).update(setting)
        np.testing.assert_allclose(derivative(X), differences(loss), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("name", "setting"), [("negated", {"by_row": True}), ("ordered", {"order": 2})])
def test_what_a_flag_leaves_in_is_refused_when_it_is_set(name: str, setting: dict[str, Any]) -> None:
    model = Model()

    def loss(x: Any) -> Any:
        return getattr(model, name)(x)

    derivative = symgrad.grad(loss)
    derivative(X)
    vars(model).update(setting)
    with pytest.raises(SymgradError):
        derivative(X)


def test_a_test_that_depends_on_data_is_no_flag() -> None:
    def loss(x: Any, n: int) -> Any:
        return np.sum(np.roots(x[0])) if x[0, 0] > n else np.sum(x * x)

    with pytest.raises((SymgradError, UnknownType)):
        symgrad.grad(loss, wrt="x")(X, 3)


def test_a_bool_among_the_arguments_decides_too() -> None:
    def loss(x: Any, exact: bool) -> Any:
        return np.sum(np.roots(x[0])) if exact else np.sum(x * x)

    derivative = symgrad.grad(loss, wrt="x")

    np.testing.assert_array_equal(derivative(X, False), 2 * X)
    with pytest.raises(SymgradError):
        derivative(X, True)


HALVES = False


def array_or_number(x, normal=True):
    y = np.asarray(x) if normal else x / 2
    z = np.where(y < 0.5, y, y**2)
    return 2.0 * z if isinstance(y, np.ndarray) else np.float64(3.0 * z)


def array_or_number_by_a_global(x):
    y = x / 2 if HALVES else np.asarray(x)
    return y * y if isinstance(y, np.ndarray) else 5.0 * y


def test_what_is_an_array_or_a_number_by_a_flag(monkeypatch: pytest.MonkeyPatch) -> None:
    """The type is not known behind the branch: the code is made for the flag, and anew for another one."""
    derivative, by_global = symgrad.value_and_grad(array_or_number), symgrad.value_and_grad(array_or_number_by_a_global)
    for _ in range(2):
        for normal, slope in ((True, 2.8), (False, 1.5), (1, 2.8)):
            assert derivative(0.7, normal) == (pytest.approx(array_or_number(0.7, normal)), pytest.approx(slope))
        for halves, expected in ((False, (0.49, 1.4)), (True, (1.75, 2.5))):
            monkeypatch.setitem(globals(), "HALVES", halves)
            assert by_global(0.7) == pytest.approx(expected)


def without_axes_as_a_number(x):
    y = np.where(np.asarray(x) > 0.5, np.asarray(x) * 2.0, 1.0)
    return np.float64(y) if isinstance(np.float64(y), np.float64) else 0.0


def test_a_number_of_an_array_without_axes() -> None:
    value, slope = symgrad.value_and_grad(without_axes_as_a_number)(0.7)
    assert type(value) is np.float64
    assert (value, slope) == (1.4, 2.0)
    assert symgrad.grad(lambda x: np.sum(np.float64(x[:1]) * np.float64(x)))(np.array([3.0])) == 6.0
