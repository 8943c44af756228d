"""Functions of ``random`` with active arguments: values, gradients, and the generator's state afterwards."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad

SEED = 3
STEP = 1e-6
#: bodies of a function of ``x``, with a list from outside, ``L``
BODIES = {
    "uniform": "return random.uniform(x, 2.0) * random.uniform(a=0.0, b=x) + random.uniform(0.0, 2.0)",
    "gauss": "return random.gauss(x, x * x) + random.gauss(0.0, 1.0) * random.gauss(mu=x)",
    "normalvariate": "return random.normalvariate(x, 2.0) * random.normalvariate(mu=1.0, sigma=x)",
    "lognormvariate": "return random.lognormvariate(x, 0.5) * random.lognormvariate(0.0, x)",
    "expovariate": "return random.expovariate(x) * random.expovariate(2.0)",
    "weibullvariate": "return random.weibullvariate(x, 1.5) * random.weibullvariate(1.0, x)",
    "paretovariate": "return random.paretovariate(x)",
    "choice": "return random.choice([x, 2.0 * x, x * x]) * random.choice((x, 2.0 * x)) * random.choice(L) * random.choice(range(1, 5))",
    "choice of an array": "return random.choice(np.array([1.0, 2.0]) * x) * random.choice([[x, 1.0], [2.0 * x, x]])[0]",
    "shuffle": "v = [x, 2.0, x * x, 3.0]\nrandom.shuffle(v)\nreturn v[0] * v[1] + v[2]",
    "shuffle of any length": "v = [x * k for k in range(int(3.0 + x))]\nrandom.shuffle(v)\nreturn v[0] + 2.0 * v[1]",
    "shuffle of rows": "v = np.arange(6.0).reshape(3, 2) * x\nrandom.shuffle(v)\nreturn v[0, 0] + 2.0 * v[1, 1]",
    "shuffle of a list outside": "random.shuffle(L)\nreturn L[0] * x + L[1]",
    "triangular": "return random.triangular(x, 2.0, 1.0) * random.triangular(0.0, high=x) + random.triangular(x, x, x)",
    "sample": "v = random.sample([x, 2.0, x * x, 3.0], 3)\nw = random.sample(range(10), 2)\nreturn v[0] * v[1] + v[2] * w[0] + len(w)",
    "sample of many": "v = random.sample([x * k for k in range(40)], 3)\nreturn v[0] * v[1] + v[2]",
    "choices": "v = random.choices([x, 2.0, x * x], k=4)\nw = random.choices((x, 3.0 * x), weights=[1, 3], k=2)\nreturn v[0] * v[3] + w[1]",
    "choices by sums": "return random.choices([x, 2.0 * x, x * x], cum_weights=[1.0, 1.5, 4.0])[0] * random.choices(L)[0]",
    "in a loop": "s = 0.0\nfor k in range(20):\n    s += max(random.gauss(x, 1.0), 0.0)\nreturn s",
}


def function_of(body: str) -> Callable[[float], Any]:
    """The function with this body, and a list of its own."""
    text = "def f(x):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    return symgrad.from_source(text, "f", {"__name__": "draws", "np": np, "random": random, "L": [1.0, 2.0, 3.0]})


def drawn(function: Callable[[float], Any], x: float, names: dict[str, Any]) -> tuple[Any, Any, list[float]]:
    """What a call gives with the same draws each time, the state that it leaves, and the list."""
    names["L"][:] = [1.0, 2.0, 3.0]
    random.seed(SEED)
    result = function(x)
    return result, random.getstate(), list(names["L"])


@pytest.mark.parametrize("jit", [False, "auto"])
@pytest.mark.parametrize("name", BODIES)
def test_draws_are_those_of_python(name: str, jit: Any) -> None:
    plain, ours = function_of(BODIES[name]), function_of(BODIES[name])
    derivative = symgrad.value_and_grad(ours, jit=jit)
    value, *left = drawn(plain, 0.7, plain.__globals__)
    ends = [drawn(plain, 0.7 + h, plain.__globals__)[0] for h in (STEP, -STEP)]
    for _ in range(2):
        (own, gradient), *own_left = drawn(derivative, 0.7, ours.__globals__)
        assert own_left == left
        assert own == pytest.approx(value, rel=1e-12)
        assert gradient == pytest.approx((ends[0] - ends[1]) / (2 * STEP), rel=1e-5, abs=1e-6)


def test_second_order() -> None:
    second = symgrad.grad(symgrad.grad(function_of("return random.gauss(x, x * x)")))
    random.seed(SEED)
    expected = 2.0 * random.gauss(0.0, 1.0)
    random.seed(SEED)
    assert second(0.7) == pytest.approx(expected, rel=1e-12)


def test_choice_of_nothing_raises() -> None:
    with pytest.raises(IndexError):
        symgrad.grad(function_of("v = [x]\nv.pop()\nreturn random.choice(v) * x"))(0.7)
