"""Dicts with keys of every literal kind: as arguments, as data, from outside; equal keys of different classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument

KEYS: list[Any] = ["a", 3, True, 0.25, -1.5, (3, 4), (0.5, "b", None), b"raw", None, 2 + 1j, ((1, 2), 3)]


def weighted(x, table):
    total = 0.0
    for key, value in table.items():
        total += value * x * (2.0 if key == KEYS[0] else 1.0)
    return total


@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_of_all_kinds(key: Any, jit: Any) -> None:
    derived = symgrad.value_and_grad(weighted, wrt=("x", "table"), jit=jit)
    for factor in (1.0, 2.0):
        table = {key: 3.0 * factor, "z": 0.5}
        value, (slope, gradient) = derived(2.0, table)
        weight = 2.0 if key == "a" else 1.0
        assert value == weighted(2.0, table)
        assert slope == 3.0 * factor * weight + 0.5
        assert gradient == {key: 2.0 * weight, "z": 2.0}
        assert [*map(type, gradient)] == [*map(type, table)]


def test_code_is_made_once_for_equal_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    def loss(x, sensors):
        return sum((x[i, j] - value) ** 2 for (i, j), value in sensors.items())

    derived = symgrad.grad(loss)
    derived(np.ones((2, 2)), {(0, 1): 0.5, (1, 1): 0.25})
    monkeypatch.setattr("symgrad.dispatch.table.Table.compiled_for", None)
    expected = np.array([[0.0, 1.0], [0.0, 0.5]])
    np.testing.assert_array_equal(derived(np.ones((2, 2)), {(0, 1): 0.5, (1, 1): 0.75}), expected)


#: keys that are equal, and of different classes
EQUAL: list[Any] = [1, True, 1.0, 1 + 0j]
NESTED: list[Any] = [(0, 1), (False, 1), (0.0, 1), (-0.0, 1)]
WHAT = {int: 1.0, bool: 2.0, float: 3.0, complex: 4.0}
TABLE: dict[Any, float] = {}


def by_class(x, table):
    total = 0.0
    for key, value in table.items():
        inner = key[0] if isinstance(key, tuple) else key
        total += (
            value
            * x
            * (2.0 if isinstance(inner, bool) else 3.0 if isinstance(inner, float) else 4.0 if isinstance(inner, complex) else 1.0)
        )
    return total


def by_class_from_outside(x):
    return by_class(x, TABLE)


@pytest.mark.parametrize("keys", [EQUAL, NESTED])
def test_equal_keys_of_other_classes(keys: list[Any]) -> None:
    derived, outside = symgrad.grad(by_class, wrt=("x", "table")), symgrad.grad(by_class_from_outside)
    for key in [*keys, *keys[::-1]]:
        weight = WHAT[type(key[0] if isinstance(key, tuple) else key)]
        slope, gradient = derived(2.0, {key: 5.0})
        assert slope == 5.0 * weight
        assert repr(gradient) == repr({key: 2.0 * weight})
        TABLE.clear()
        TABLE[key] = 5.0
        assert outside(2.0) == 5.0 * weight


class Own:
    """A key that only itself finds."""


def test_other_keys_are_no_arguments_for_a_gradient() -> None:
    with pytest.raises(BadArgument, match="holds no number"):
        symgrad.grad(weighted, wrt="table")(2.0, {Own(): 3.0})
    with pytest.raises(BadArgument, match="holds no number"):
        symgrad.grad(weighted, wrt="table")(2.0, {float("inf"): 3.0})
    assert symgrad.grad(weighted)(2.0, {Own(): 3.0}) == 3.0


SETTINGS: dict[Any, Any] = {"rate": 2.0, "kind": "square", "inner": {"c": 3.0}}


def displayed(x, **options):
    settings = {**SETTINGS, "extra": 1.0, **options}
    return x * settings["rate"] * settings["inner"]["c"] * settings["extra"]


def made_by_dict(x, **options):
    settings = dict(SETTINGS, extra=1.0, **(options or {}))
    settings["rate"] = settings["rate"] * x
    return settings["rate"] * settings["inner"]["c"] * settings["extra"] * sum(1 for _ in settings)


def copied(x, **options):
    settings = dict(SETTINGS)
    settings.update(options)
    return x * sum(v for k, v in settings.items() if isinstance(v, float)) * len(settings)


@pytest.mark.parametrize("function", [displayed, copied, made_by_dict])
def test_dicts_from_outside_are_spread(function: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    derived = symgrad.value_and_grad(function)
    changes: list[dict[str, Any]] = [{}, {"rate": 5.0}, {"more": 7.0}, {"inner": {"c": 4.0}}, {}]
    for change in changes:
        for key, value in change.items():
            monkeypatch.setitem(SETTINGS, key, value)
        before = repr(SETTINGS)
        for options in ({}, {"length": 1.5}):
            value, slope = derived(2.0, **options)
            assert value == pytest.approx(function(2.0, **options))
            assert slope == pytest.approx((function(2.001, **options) - function(1.999, **options)) / 0.002)
        assert repr(SETTINGS) == before


def test_small_sizes_are_known_beside_large_integers() -> None:
    """A list of instances, one for each row of an argument, beside a number of rounds that is large."""

    def loss(rows, rounds):
        balls = [Ball(row, f"ball {k}") for k, row in enumerate(rows)]
        for _ in range(rounds):
            for ball in balls:
                ball.position = ball.position * 0.99
        return sum(np.sum(ball.position**2) for ball in balls)

    rows = np.array([[1.0, 2.0], [0.5, 0.25], [3.0, 1.0]])
    derived = symgrad.grad(loss)
    for count in (3, 2):
        np.testing.assert_allclose(derived(rows[:count], 100), 2 * rows[:count] * 0.99**200)


class Ball:
    def __init__(self, position: Any, name: str) -> None:
        self.position, self.name = np.array(position, dtype=float), name
