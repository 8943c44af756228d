"""Closures held by attributes, lists and dicts, compared with plain Python."""

from __future__ import annotations

import pytest

import symgrad
from tests.against_numpy import function_of

PROGRAMS = {
    "of an instance": """
class Model:
    def __init__(self, k):
        self.layers = []
        for i in range(3):
            self.layers.append(lambda t, i=i: t * k + i)
        self.act = lambda t: np.tanh(k * t)

    def __call__(self, x):
        for layer in self.layers:
            x = self.act(layer(x))
        return x

def f(x):
    return Model(x * 0.5)(x)
""",
    "registered": """
def f(x):
    table = {}
    def register(name):
        def inner(g):
            table[name] = g
            return g
        return inner
    @register("square")
    def square(t):
        return t * t * x
    return table["square"](x) * square(2.0)
""",
    "added by a call": """
def f(x):
    hooks = []
    def add(k):
        hooks.append(lambda t: t * k)
    add(x)
    add(2 * x)
    k = 100
    return sum(hook(x) for hook in hooks) + k
""",
    "that reads what is assigned later": """
def f(x):
    k = x
    hooks = [lambda t: t * k]
    k = x * x
    return hooks[0](x)
""",
    "of a call that has returned": """
def f(x):
    def make():
        n = x * 2
        table = {}
        table["f"] = lambda t: t * n
        return table
    return make()["f"](x)
""",
    "that changes what it closes over": """
class Counter:
    def __init__(self, start):
        total = start
        def add(v):
            nonlocal total
            total = total * 0.5 + v
            return total
        self.add = add

def f(x):
    one, two = Counter(x), Counter(2.0)
    one.add(x)
    two.add(x * x)
    return one.add(1.0) * two.add(x)
""",
    "of all variables of a loop": """
def f(x):
    hooks = []
    for i in range(3):
        w = x * i
        hooks.append(lambda t: t * w + i)
    return sum(hook(x) for hook in hooks)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_function_that_is_held_sees_its_variables(name: str) -> None:
    f = function_of("import numpy as np\n" + PROGRAMS[name])
    for x in (0.7, 1.3):
        value, slope = symgrad.value_and_grad(f, verify=False)(x)
        assert value == pytest.approx(f(x), rel=1e-12)
        assert slope == pytest.approx((f(x + 1e-6) - f(x - 1e-6)) / 2e-6, rel=1e-6)
