"""Save or recompute, by cost: for the interpreter and for kernels."""

from __future__ import annotations

import numpy as np
import pytest

from symgrad.adjoint.saving.costs import COMPILED, INTERPRETED, Costs
from symgrad.ir.core import Call, Func, Value, walk
from symgrad.ir.parse import parse
from symgrad.ir.types import Array, Scalar
from tests.adjoint import cases
from tests.adjoint.harness import compare, gradient
from tests.adjoint.random_ir import random_function

#: everything that is read again is kept, but for one operation on what is there
KEEPING = Costs(light=1, division=1, choice=1, function=1_000_000, tape=1)

CHAIN = """
func f(x: float, h: float, n: int) -> float:
    for i.0 in range(0, n, 1):
        carry s.0 = x -> s.1
        a.0 = multiply(h, s.0) : float
        b.0 = add(s.0, a.0) : float
        c.0 = multiply(b.0, b.0) : float
        d.0 = subtract(1.0, c.0) : float
        e.0 = multiply(d.0, b.0) : float
        g.0 = sin(e.0, via="math") : float
        k.0 = multiply(g.0, d.0) : float
        s.2 = add(s.0, k.0) : float
        yield s.2
    return s.1
"""

QUOTIENT = """
func f(x: float, h: float, n: int) -> float:
    for i.0 in range(0, n, 1):
        carry s.0 = x -> s.1
        a.0 = divide(h, s.0) : float
        b.0 = sqrt(a.0, via="math") : float
        s.2 = multiply(b.0, s.0) : float
        yield s.2
    return s.1
"""

ARRAYS = """
func f(x: f64[!x0], n: int) -> scalar f64:
    for i.0 in range(0, n, 1):
        carry s.0 = x -> s.1
        a.0 = add(s.0, x) : f64[!x0]
        b.0 = multiply(a.0, s.0) : f64[!x0]
        c.0 = subtract(b.0, 0.5) : f64[!x0]
        d.0 = tanh(c.0) : f64[!x0]
        s.2 = multiply(d.0, c.0) : f64[!x0]
        yield s.2
    %0 = sum(s.1) : scalar f64
    return %0
"""


MASKS = """
func f(x: f64[!x0], r: f64[!x0], h: float, n: int) -> f64[!x0]:
    for i.0 in range(0, n, 1):
        carry y.0 = x -> y.1
        a.0 = multiply(h, i.0) : float
        b.0 = divide(a.0, 3.0) : float
        m.0 = less(r, b.0) : bool[!x0]
        k.0 = less(r, a.0) : bool[!x0]
        t.0 = take(y.0, m.0, index="i") : f64[m0]
        u.0 = take(y.0, k.0, index="i") : f64[k0]
        %0 = sum(t.0) : scalar f64
        %1 = sum(u.0) : scalar f64
        %2 = add(%0, %1) : scalar f64
        y.2 = multiply(y.0, %2) : f64[!x0]
        yield y.2
    return y.1
"""


def kept(func: Func) -> list[Value]:
    """What is put on tapes."""
    saved = [
        op.args[1:] if op.name == "push" else op.args[2:] for op in walk(func.body) if isinstance(op, Call) and op.name in ("push", "put")
    ]
    return [a for args in saved for a in args if isinstance(a, Value)]


def names(text: str, wrt: list[int], costs: Costs) -> list[str | None]:
    return [v.name for v in kept(gradient(parse(text), wrt, costs=costs))]


@pytest.mark.parametrize(
    ("text", "costs", "expected"),
    [
        (CHAIN, KEEPING, ["s", "b", "d", "g"]),
        (CHAIN, INTERPRETED, ["s", "g"]),
        (CHAIN, COMPILED, ["s", "g"]),
        (QUOTIENT, INTERPRETED, ["s", "b"]),
        (QUOTIENT, COMPILED, ["s", "b"]),
        (ARRAYS, INTERPRETED, ["s", "d"]),
        (ARRAYS, COMPILED, ["s", "d"]),
        (MASKS, INTERPRETED, ["y", "m", None]),
    ],
)
def test_what_is_kept(text: str, costs: Costs, expected: list[str]) -> None:
    assert names(text, [0, 1] if text is CHAIN else [0], costs) == expected


@pytest.mark.parametrize(("type_", "cheap"), [("float", True), ("f64[!x0]", True), ("?", False)])
def test_what_may_be_an_array_of_any_size_is_cheap_only_if_it_is_known(type_: str, cheap: bool) -> None:
    func = parse(f"func f(x: {type_}) -> {type_}:\n    %0 = multiply(x, x) : {type_}\n    return %0\n")
    (op,) = func.body.ops
    assert isinstance(op, Call)

    assert INTERPRETED.is_cheap(op) == cheap


def sizes(func: Func) -> tuple[int, int]:
    """How many arrays and how many numbers are put on tapes."""
    types = [value.type for value in kept(func)]
    return sum(isinstance(t, Array) for t in types), sum(isinstance(t, Scalar) for t in types)


FUNCTIONS = [*(parse(text) for text, _, _ in cases.CASES.values()), *(random_function(seed) for seed in range(40))]


@pytest.mark.parametrize("func", FUNCTIONS, ids=[*cases.CASES, *map(str, range(40))])
def test_nothing_more_is_kept_than_without_costs(func: Func) -> None:
    wrt = [k for k, p in enumerate(func.params) if getattr(p.type, "kind", None) == "float"]
    most = sizes(gradient(func, wrt, costs=KEEPING))

    for costs in (INTERPRETED, COMPILED):
        assert all(a <= b for a, b in zip(sizes(gradient(func, wrt, costs=costs)), most, strict=True))


@pytest.mark.parametrize("costs", [KEEPING, INTERPRETED, COMPILED], ids=["keeping", "interpreted", "compiled"])
@pytest.mark.parametrize("seed", range(20))
def test_the_gradient_is_right_whatever_it_costs(costs: Costs, seed: int) -> None:
    func = random_function(seed)
    chance = np.random.default_rng(seed)
    args = [chance.normal(size=4), chance.normal(size=4), 0.8, -0.6, int(chance.integers(0, 4))]

    compare(func, gradient(func, [0, 1, 2, 3], costs=costs), args, [0, 1, 2, 3], 2e-6)


@pytest.mark.parametrize("costs", [KEEPING, INTERPRETED, COMPILED], ids=["keeping", "interpreted", "compiled"])
@pytest.mark.parametrize(("text", "args", "wrt"), [(CHAIN, (0.3, 0.2, 3), [0, 1]), (QUOTIENT, (0.7, 0.4, 3), [0, 1]),
                                                   (ARRAYS, (np.array([0.2, -0.4, 0.9]), 3), [0])])  # fmt: skip
def test_the_gradients_of_chains(text: str, args: tuple[object, ...], wrt: list[int], costs: Costs) -> None:
    func = parse(text)

    compare(func, gradient(func, wrt, costs=costs), list(args), wrt, 2e-6)
