"""Attributes of instances in the guard: tested on the fast path, and every change is detected."""

from __future__ import annotations

import copy
import enum
import functools
import math
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.dispatch import table


class Form(enum.Enum):
    """How a model scales."""

    ONE = 1
    TWO = 2


class Other:
    """An object that a model leads to."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    def scaled(self, x: Any) -> Any:
        return self.factor * x


class Model:
    """A model whose attribute ``held`` is what a test sets."""

    def __init__(self, held: Any) -> None:
        self.held, self.me, self.count = held, self, 3

    def plain(self, x: Any) -> Any:
        return np.sum(x * x) * self.me.count


def doubled(x: Any) -> Any:
    return 2.0 * x


def squared(x: Any) -> Any:
    return x * x


#: kinds of attributes: what reads them, two values, and whether the change can be seen by who reads it
KINDS: dict[str, tuple[Callable[[Any, Any], Any], Any, Any]] = {
    "float": (lambda x, m: np.sum(x**2 * m.held), 2.0, 3.0),
    "integer": (lambda x, m: np.sum(x**m.held), 2, 3),
    "boolean": (lambda x, m: np.sum(x**2) if m.held else np.sum(x), True, False),
    "array": (lambda x, m: np.sum(x * m.held * x), np.array([1.0, 2.0]), np.array([4.0, 5.0])),
    "array of other rank": (lambda x, m: np.sum(x * m.held * x), np.array([1.0, 2.0]), np.array([[1.0, 2.0], [3.0, 1.0]])),
    "text": (lambda x, m: np.sum(x**2) if m.held == "a" else np.sum(x), "a", "b"),
    "bytes": (lambda x, m: np.sum(x**2) if m.held == b"a" else np.sum(x), b"a", b"b"),
    "none": (lambda x, m: np.sum(x**2) if m.held is None else np.sum(x), None, 1.0),
    "enumeration": (lambda x, m: np.sum(x**2) if m.held is Form.ONE else np.sum(x), Form.ONE, Form.TWO),
    "slice": (lambda x, m: np.sum(x[m.held] ** 2), slice(0, 1), slice(1, 2)),
    "range": (lambda x, m: sum(x[k] ** 2 for k in m.held), range(1), range(2)),
    "list": (lambda x, m: sum(v * np.sum(x**2) for v in m.held), [1.0, 2.0], [1.0, 2.0, 3.0]),
    "tuple": (lambda x, m: np.sum(x**2) * m.held[0], (1.0, "a"), (2.0, "a")),
    "dict": (lambda x, m: np.sum(x**2) * m.held["k"], {"k": 2.0}, {"k": 3.0, "l": 1.0}),
    "set": (lambda x, m: np.sum(x**2) if 1 in m.held else np.sum(x), {1}, {2}),
    "function": (lambda x, m: np.sum(m.held(x) ** 2), doubled, squared),
    "method": (lambda x, m: np.sum(m.held(x) ** 2), Other(2.0).scaled, Other(3.0).scaled),
    "partial": (lambda x, m: np.sum(m.held(x)), functools.partial(np.multiply, 2.0), functools.partial(np.multiply, 3.0)),
    "class": (lambda x, m: np.sum(x**2) if m.held is Other else np.sum(x), Other, Model),
    "module": (lambda x, m: np.sum(x) * m.held.sqrt(x[0]), math, types.SimpleNamespace(sqrt=abs)),
    "instance": (lambda x, m: np.sum(m.held.scaled(x) ** 2), Other(2.0), Other(3.0)),
}
#: objects that are not computed with: the guard passes them by
UNREAD: dict[str, Any] = {
    "masked array": np.ma.masked_array([1.0, 2.0], [True, False]), "texts": np.array(["a", "bc"]), "objects": np.array([Form.ONE, None]),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"), "bytes": b"abc", "method": Other(2.0).scaled, "method of C": [1, 2].index,
    "text": "a", "class": Other, "generator": (v for v in [1.0]), "complex": 2j, "no number": math.nan,
}  # fmt: skip


@pytest.fixture
def slowly(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Gets an item for each call that no test of a guard accepts."""
    counted: list[int] = []
    find = table.Table.find

    def watched(self: table.Table, arguments: Any) -> Any:
        counted.append(1)
        return find(self, arguments)

    monkeypatch.setattr(table.Table, "find", watched)
    return counted


@pytest.mark.parametrize("kind", KINDS)
def test_a_change_of_what_is_read_is_noticed(kind: str, slowly: list[int]) -> None:
    """The derivative of the model as it is, as one made anew gives it, and differences; later calls go the quick way."""
    reads, one, other = KINDS[kind]
    x, model = np.array([0.7, 1.3]), Model(one)
    derived = symgrad.grad(reads)
    for held in (one, other, one):
        model.held = held
        derived(x, model)
        slowly.clear()
        gradient = derived(x, model)
        assert not slowly
        np.testing.assert_array_equal(gradient, symgrad.grad(reads)(x, model))
        direction = np.array([0.3, -0.8])
        ahead, behind = (float(reads(x + step * direction, model)) for step in (1e-5, -1e-5))
        assert gradient @ direction == pytest.approx((ahead - behind) / 2e-5, rel=1e-7)


@pytest.mark.parametrize("kind", UNREAD)
def test_what_is_not_read_is_tested_quickly(kind: str, slowly: list[int]) -> None:
    """Bound methods and a cycle too; a model that leads to another model of its class is another one."""
    model, x = Model(UNREAD[kind]), np.array([0.7, 1.3])
    derived = symgrad.grad(Model.plain, wrt="x")
    derived(model, x)
    slowly.clear()
    np.testing.assert_allclose(derived(model, x), 6.0 * x)
    model.count = 5
    np.testing.assert_allclose(derived(model, x), 10.0 * x)
    assert not slowly
    model.me = copy.copy(model)
    model.me.me, model.me.count = model.me, 7
    np.testing.assert_allclose(derived(model, x), 14.0 * x)
