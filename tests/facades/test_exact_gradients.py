"""Class and dtype of each gradient equal its argument's: integers, seeds, user rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import InvalidIR
from symgrad.ir.parse import parse
from symgrad.ir.verify import verify

X = np.array([0.7, -1.3, 2.1])

#: bodies of ``f(a, n, o)``, where ``a`` and ``o.k`` are floats and ``n`` is an integer
BODIES = {
    "a product with an integer": "return a * n",
    "a product of integers": "return a * (n * n)",
    "an integer power": "return a * n ** 2",
    "times one": "return a * (1.0 * n)",
    "an integer in each round": "for _ in range(2):\n        o.k = o.n = 3\n    return o.k * a",
    "an integer in the last round": "k = a\n    for i in range(n):\n        k = i\n    return k * a",
    "an integer on one path": "k = n if a > 0 else a\n    return k * a",
    "the product of such": "k = n if a > 0 else a\n    m = 2 if a > 0 else a\n    return a * (k * m)",
    "minus such": "k = n if a > 0 else a\n    return -k * a",
    "such from a list": "held = [a]\n    for i in range(n):\n        held.append(i)\n    return a * held[1]",
    "such from a tape": "total = 0.0\n    k = a\n    for i in range(n):\n        total = total + k * a\n        k = i\n    return total",
    "while": "k = a\n    while k > 5 or k is a:\n        k = n\n    return k * a",
    "nothing": "return a * 0 + o.k",
}


class Held:
    """An object with attributes."""


def arguments(n: int) -> tuple[Any, ...]:
    held = Held()
    held.k, held.n = 2.0, 5
    return 1.5, n, held


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", [name for name in BODIES if name != "while"])
def test_the_gradient_of_a_float_is_a_float(name: str, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    f = symgrad.from_source(f"def f(a, n, o):\n    {BODIES[name]}\n", "f")
    for n in (3, 1):
        gradient, of_object = symgrad.grad(f, wrt=("a", "o"), allow_unused=True, jit="auto" if jit else False)(*arguments(n))
        pulled = symgrad.vjp(f, *arguments(n), jit="auto" if jit else False)[1](1)[0]

        assert isinstance(gradient, float)
        assert isinstance(pulled, float)
        assert of_object.k is None or isinstance(of_object.k, float)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("return float(k)", 3.0),
        ("return k * 1.0", 3.0),
        ("return 1.0 * k", 3.0),
        ("return k / 1", 3.0),
        ("return k", 3),
        ("return n * 1.0", 2.0),
    ],
)
def test_no_rewrite_puts_an_integer_in_the_place_of_a_float(body: str, expected: Any) -> None:
    f = symgrad.from_source(f"def f(a, n):\n    k = a\n    for _ in range(n):\n        k = 3\n    {body}\n", "f")
    value, _ = symgrad.value_and_grad(f, allow_unused=True)(1.5, 2)

    assert type(value) is type(expected)
    assert value == expected


SEEDS = [2, 2.0, np.float32(2.0), np.float64(2.0), np.int64(2), np.array(2.0), np.array(2.0, np.float32), True]


@pytest.mark.parametrize("jit", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"{type(seed).__name__} {np.asarray(seed).dtype}")
@pytest.mark.parametrize("kind", [float, np.float64, np.float32, complex], ids=lambda kind: kind.__name__)
def test_a_seed_does_not_decide_the_dtype(kind: Any, seed: Any, jit: bool) -> None:
    if jit:
        pytest.importorskip("numba")
    x = np.array([1.0, 2.0], kind)

    for f, argument in ((lambda x: x * 3.0, kind(1.0)), (lambda x: x * 3.0, x), (lambda x: np.sum(x * x), x)):
        _, pullback = symgrad.vjp(f, argument, jit="auto" if jit else False)
        gradient = pullback(seed)[0]

        assert np.asarray(gradient).dtype == np.asarray(argument).dtype
        assert isinstance(gradient, np.ndarray) is isinstance(argument, np.ndarray)


@pytest.mark.parametrize(
    "seed", [None, "text", "2.0", object(), [None, 1.0]], ids=lambda seed: type(seed).__name__ + str(seed)[:4].strip("<")
)
@pytest.mark.parametrize("argument", [1.0, X], ids=["number", "array"])
def test_a_seed_that_is_no_number_is_refused(argument: Any, seed: Any) -> None:
    _, pullback = symgrad.vjp(lambda x: x * 3.0, argument)
    with pytest.raises((TypeError, ValueError)):
        pullback(seed)


def test_a_rule_that_gives_objects() -> None:
    double = np.frompyfunc(lambda x: 2.0 * x, 1, 1)
    symgrad.rule(double, "double(x)", result="x", x_grad="2.0 * out_grad")

    assert symgrad.grad(lambda x: np.sum(double(x) * x))(X).dtype == np.float64


def test_a_slot_of_a_loop_holds_one_dtype() -> None:
    func = parse("""
func f(x: f32[3], y: f64[3], n: int) -> out: f32[3]:
    for i in range(0, n, 1):
        carry z.0 = x -> z.1 : f32[3]
        z.2 = sin(y) : f64[3]
        yield z.2
    return z.1
""")
    with pytest.raises(InvalidIR, match="a slot of f32 is given f64"):
        verify(func)
