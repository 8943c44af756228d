"""The comparison with differences itself: what it takes, how deep it goes, and that it finds what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import BadArgument
from symgrad.testing import check_grads

X = np.array([0.3, 0.5])


@dataclass
class Pair:
    a: Any
    b: float


def number(x, w):
    return np.sum(np.sin(x) * w**3)


def array(x):
    return x * x * x


def nested(x, y):
    return x * y, {"a": x**2 * y, "b": [np.sin(y), 3]}


def of_tree(p, k):
    return np.sum(p["a"] ** 3) * p["b"][1] ** 2 + np.sum(p["b"][0]) * k


def of_keyword(x, *, k=2.0):
    return np.sum(x**3) * k**2


def of_places(x, /, y):
    return x**3 * y**2


def of_record(p):
    return np.sum(p.a**3) * p.b**2


def of_many(*xs):
    return xs[0] ** 2 * xs[1] ** 3


@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(
    ("function", "args", "words"),
    [
        (number, (X, 1.5), {}),
        (number, (X, 1.5), {"wrt": "w"}),
        (number, (X, 1.5), {"wrt": (1, 0)}),
        (array, (X,), {}),
        (nested, (1.5, 0.5), {}),
        (of_tree, ({"a": X, "b": [X + 1.0, 0.7]}, 2.0), {}),
        (of_keyword, (X,), {"k": 3.0}),
        (of_places, (1.2, 0.7), {}),
        (of_record, (Pair(X, 0.7),), {}),
        (of_many, (1.2, 0.7), {}),
    ],
)
def test_orders_of_what_is_right(function: Any, args: Any, words: Any, order: int) -> None:
    check_grads(function, args, order, **words)


def test_a_wrong_rule_is_found_at_its_order() -> None:
    @symgrad.elementwise(dx="cos(x) + 0 * x")
    def wave(x):
        return np.sin(x)

    @symgrad.elementwise(dx="2.5 * x")
    def square(x):
        return x * x

    @symgrad.custom_vjp
    def cube(x):
        return x**3

    def forward(x):
        return x**3, x

    def backward(x, out_grad):
        return (out_grad * 3.0 * x * symgrad.stop_gradient(x),)

    cube.defvjp(forward, backward)

    check_grads(lambda x: np.sum(wave(x)), (X,), order=3)
    with pytest.raises(AssertionError, match="order 1"):
        check_grads(lambda x: np.sum(square(x)), (X,))
    check_grads(lambda x: np.sum(cube(x)), (X,))
    with pytest.raises(AssertionError, match="order 2"):
        check_grads(lambda x: np.sum(cube(x)), (X,), order=2)


@pytest.mark.parametrize("words", [{"order": 0}, {"directions": 0}, {"args": (2,)}, {"wrt": ()}])
def test_nothing_to_compare_is_no_agreement(words: Any) -> None:
    with pytest.raises(BadArgument):
        check_grads(**{"function": array, "args": (X,), **words})
