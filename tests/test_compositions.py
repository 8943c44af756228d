"""Derivatives of derivatives: each composition of operators beside differences of the composition below it, on both targets."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax

PARAMETERS = {"a": np.array([0.3, 0.5]), "b": [np.array([1.3, 1.5]), 0.7]}
HELD = SimpleNamespace(a=np.array([0.3, 0.5]), b=0.5)


def of_dict(p, s):
    return np.sum(p["a"] ** 3) * p["b"][1] * s + np.sum(p["b"][0]) * s**2


def of_held(p, s):
    return np.sum(p.a**3) * p.b * s


def gradient_by_a_dict_from_outside(s):
    g = symgrad.grad(of_dict)(PARAMETERS, s)
    return np.sum(g["a"]) + g["b"][1] + np.sum(g["b"][0])


def gradient_by_an_object_from_outside(s):
    g = symgrad.grad(of_held)(HELD, s)
    return np.sum(g.a) + g.b


def along_a_dict_from_outside(s):
    return symgrad.jvp(lambda p: of_dict(p, s), (PARAMETERS,), (PARAMETERS,))[1]


def by_seeds_from_outside(s):
    _, pullback = symgrad.vjp(lambda x: {"a": x**2 * np.ones(2), "b": [x * np.ones(2), x**3]}, s)
    return pullback(PARAMETERS)[0]


def product_with_a_dict_from_outside(s):
    h = symgrad.hvp(of_dict, (PARAMETERS, s), PARAMETERS)
    return np.sum(h["a"]) + h["b"][1]


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize(
    "function",
    [
        gradient_by_a_dict_from_outside, gradient_by_an_object_from_outside, along_a_dict_from_outside, by_seeds_from_outside,
        product_with_a_dict_from_outside,
    ],
)  # fmt: skip
def test_containers_from_outside_take_part_in_inner_derivatives(function, jit):
    expected = (8 * (function(0.701) - function(0.699)) - (function(0.702) - function(0.698))) / 0.012
    assert symgrad.grad(function, jit=jit)(0.7) == pytest.approx(expected, rel=1e-7)


TWICE = {"a": (shared := np.array([0.3, 0.5])), "b": [shared, 0.7]}


def test_a_container_that_holds_one_array_twice_is_refused_or_passed():
    def f(s):
        return np.sum(symgrad.grad(of_dict)(TWICE, s)["a"])

    with pytest.raises(UnsupportedSyntax, match="a dict from outside takes part in a derivative"):
        symgrad.grad(f)(0.7)
    g = symgrad.grad(lambda p, s: np.sum(symgrad.grad(of_dict)(p, s)["a"]), wrt=1)
    assert g(TWICE, 0.7) == pytest.approx(np.sum(3 * shared**2) * 0.7)
