"""Instances of classes with ``__slots__``: read, stored to, differentiated, in every operator."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import symgrad

X = np.array([0.3, 0.4])


class Slotted:
    __slots__ = ("b", "calls", "late", "w")

    def __init__(self, w: Any, b: float) -> None:
        self.w, self.b, self.calls = w, b, 0

    def loss(self, x: Any) -> Any:
        return np.sum(self.w * self.w * x) * self.b

    def counting(self, x: Any) -> Any:
        self.calls += 1
        self.late = self.w * 2.0
        return np.sum(self.late * x) * self.calls


class Derived(Slotted):
    """Has a ``__dict__`` too."""

    def __init__(self, w: Any, b: float) -> None:
        super().__init__(w, b)
        self.c = 1.0


class Narrower(Slotted):
    __slots__ = ("more",)


@dataclass(slots=True)
class Record:
    w: Any
    b: float
    calls: int = 0
    late: Any = None

    loss, counting = Slotted.loss, Slotted.counting


CLASSES = [Slotted, Derived, Narrower, Record]


def loss(model: Any, x: Any) -> Any:
    return model.loss(x)


def instance_of(cls: Any) -> Any:
    return cls(np.array([1.0, 2.0]), 3.0)


@pytest.mark.parametrize("cls", CLASSES)
def test_every_operator(cls: Any) -> None:
    model, slopes = instance_of(cls), np.array([3.0, 12.0])
    of_w, of_b = np.array([1.8, 4.8]), 1.9
    np.testing.assert_allclose(symgrad.grad(model.loss)(X), slopes)
    np.testing.assert_allclose(symgrad.grad(model.loss, jit=True)(X), slopes)
    np.testing.assert_allclose(symgrad.grad(loss, wrt="model.w")(model, X), of_w)
    gradient = symgrad.grad(loss)(model, X)
    np.testing.assert_allclose(gradient.w, of_w)
    assert gradient.b == pytest.approx(of_b)
    tangent = SimpleNamespace(w=np.ones(2), b=0.5, **{"c": 0.0} if cls is Derived else {})
    assert symgrad.jvp(loss, (model, X), (tangent, X))[1] == pytest.approx(of_w.sum() + 0.5 * of_b + slopes @ X)
    np.testing.assert_allclose(symgrad.jacobian(symgrad.grad(loss, wrt="x"), wrt="model.w")(model, X), np.diag([6.0, 12.0]))
    symgrad.check_grads(loss, (model, X))
    np.testing.assert_allclose(symgrad.vmap(model.loss)(np.stack([X, 2 * X])), [model.loss(X), model.loss(2 * X)])


@pytest.mark.parametrize("cls", CLASSES)
def test_stores_and_later_values(cls: Any) -> None:
    ours, plain = instance_of(cls), instance_of(cls)
    derived = symgrad.value_and_grad(ours.counting)
    for k in range(1, 4):
        value, gradient = derived(X)
        assert value == plain.counting(X)
        assert (ours.calls, ours.late.tolist()) == (plain.calls, plain.late.tolist())
        np.testing.assert_allclose(gradient, 2.0 * k * np.array(ours.w))
        ours.w, plain.w = ours.w + 1.0, plain.w + 1.0


def test_a_slot_without_a_value_is_no_attribute() -> None:
    model = instance_of(Slotted)
    gradient = symgrad.grad(lambda x: np.sum(x) * (2.0 if hasattr(model, "late") else 1.0))
    assert gradient(X).tolist() == [1.0, 1.0]
    model.late = 0.0
    assert gradient(X).tolist() == [2.0, 2.0]
