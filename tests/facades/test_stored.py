"""Stores to lists, dicts and instances among the arguments are visible after the call, once, as in plain Python."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import UnsupportedSyntax
from tests.plainly import function_of, shown, verdict

#: an argument, a store in it, and what is read of it
OBJECTS: dict[str, tuple[Any, str, str]] = {
    "item of a list": ([1.5, 2.5], "o[0] = o[0] * a", "o[0] + o[1]"),
    "appended": ([1.5, 2.5], "o.append(a * 2)", "sum(o)"),
    "popped": ([1.5, 2.5, 3.5, 4.5, 5.5], "o.pop()", "sum(o)"),
    "sorted": ([2.5, 1.5], "o.sort()", "o[0] * 2 + o[1]"),
    "mixed list": ([1.5, "s"], "o[0] = o[0] * a", "o[0]"),
    "key of a dict": ({"k": 1.5}, "o['k'] = o['k'] * a", "o['k']"),
    "new key": ({"k": 1.5}, "o['n'] = o['k'] * a", "o['k']"),
    "tuple in a dict": ({"k": 1.5}, "o['n'] = (a, [o['k'], 'text'])", "o['k']"),
    "array in a dict": ({"k": 1.5}, "o['n'] = np.array([a, o['k']]) * 2", "o['k']"),
    "nested": ({"in": {"k": 1.5, "l": [1.0]}}, "o['in']['k'] *= a\n{pad}o['in']['l'].append(a)", "o['in']['k']"),
}
PLACES = {
    "at once": "    {store}\n",
    "in a branch": "    if a > 0:\n        {store}\n",
    "in the other branch": "    if a < 0:\n        {store}\n",
    "in a loop": "    for i in range(n):\n        {store}\n",
    "in a while": "    m = n\n    while m > 0:\n        {store}\n        m -= 1\n",
    "in a call": "    def put(o):\n        {store}\n    put(o)\n",
    "by another name": "    p = o\n    o = p\n    {store}\n",
}


@pytest.mark.parametrize("held", OBJECTS)
def test_what_is_stored_is_there(held: str) -> None:
    holder, store, read = OBJECTS[held]
    for place, template in PLACES.items():
        pad = " " * next(line.index("{store}") for line in template.splitlines() if "{store}" in line)
        text = "def f(o, a, n):\n" + template.format(store=store.replace("{pad}", pad)) + f"    return ({read}) * a\n"
        refusable = place in ("in a branch", "in the other branch", "in a loop", "in a while")

        assert verdict(text, [copy.deepcopy(holder), 0.7, 2]) in (("right", "refused") if refusable else ("right",)), place


@pytest.mark.parametrize("name", ["list", "tuple", "setattr", "dict", "getattr", "refill", "operator", "setitem"])
def test_names_of_parameters_and_attributes_are_whatever_the_user_likes(name: str) -> None:
    text = f"def f({name}, a):\n    {name}['it\\'s'].append(a)\n    {name}['class'] = (a, {{'k': a}})\n    return {name}['it\\'s'][0] * a\n"

    assert verdict(text, [{"it's": [1.5, 2.5], "class": 0.5}, 0.7]) == "right"


@dataclass
class Meter:
    step: int = 0
    history: list[float] = field(default_factory=list)
    last: Any = None

    def loss(self, x: Any) -> Any:
        self.step += 1
        self.history.append(float(np.sum(x)))
        self.last = x * self.step
        return np.sum(x**2) / self.step


@pytest.mark.parametrize("jit", [False, "auto"])
def test_a_method_changes_its_object(jit: Any) -> None:
    meter, plain, x = Meter(), Meter(), np.array([1.0, 2.0])
    derived = symgrad.value_and_grad(meter.loss, jit=jit)
    for _ in range(3):
        value, gradient = derived(x)

        assert value == plain.loss(x)
        np.testing.assert_allclose(gradient, 2 * x / plain.step)
        assert shown(meter) == shown(plain)


def test_arrays_that_were_given_stay_as_they_were() -> None:
    f = function_of("def f(d, a):\n    d['x'][0] = a\n    d['n'] = a\n    return d['x'][0] * a\n")
    holder = {"x": np.ones(2)}
    derived = symgrad.grad(f, wrt="a")

    assert derived(holder, 3.0) == 6.0
    np.testing.assert_array_equal(holder["x"], [1.0, 1.0])
    assert holder["n"] == 3.0


def test_second_derivatives_store_once() -> None:
    f = function_of("def f(d, a):\n    d['n'] = d['n'] + 1\n    return a**3 * d['k']\n")
    holder = {"n": 0, "k": 2.0}

    assert symgrad.grad(symgrad.grad(f, wrt="a"), wrt="a")(holder, 3.0) == pytest.approx(36.0)
    assert holder["n"] == 1


def test_what_cannot_be_made_is_refused_with_a_way_out() -> None:
    f = function_of("def f(d, a):\n    d['f'] = lambda: a\n    return a\n")
    g = function_of("def f(d, a):\n    d['f'] = [a]\n    return a\n")

    with pytest.raises(UnsupportedSyntax, match="cannot be stored in an object"):
        symgrad.grad(f, wrt="a")({}, 2.0)
    assert symgrad.grad(g, wrt="a")(holder := {}, 2.0) == 1.0
    assert holder == {"f": [2.0]}


def test_all_kinds_of_numbers_are_stored_exactly() -> None:
    for kind, (holder, store, read) in product(["f"], [OBJECTS["key of a dict"]]):
        text = f"def {kind}(o, a):\n    o['i'] = 3\n    {store}\n    o['b'] = a > 0\n    o['t'] = 'text'\n    o['none'] = None\n    return {read}\n"
        own, plain = copy.deepcopy(holder), copy.deepcopy(holder)
        f = function_of(text)
        symgrad.grad(f, wrt="a")(own, 0.5)
        f(plain, 0.5)

        assert own == plain
        assert {k: type(v) for k, v in own.items()} == {k: type(v) for k, v in plain.items()}
