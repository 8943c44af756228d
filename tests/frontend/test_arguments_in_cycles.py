"""Arguments that contain themselves: identity along the cycle, for reads, stores, gradients and later calls."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import symgrad
from symgrad.errors import SymgradError


class Node:
    """A number, and what it leads to."""

    def __init__(self, w: float, **leads: Any) -> None:
        self.w = w
        vars(self).update(leads)


def itself(u: float, v: float) -> Node:
    node = Node(u, v=v)
    node.me = node
    return node


def two(u: float, v: float) -> Node:
    node = Node(u, inner=Node(v))
    node.inner.back = node
    return node


def in_tuple(u: float, v: float) -> Node:
    node = Node(u, v=v)
    node.pair = (2.0, node)
    return node


def family(u: float, v: float) -> Node:
    node = Node(u, children=[Node(v), Node(u * v)])
    for child in node.children:
        child.parent = node
    return node


def long_family(u: float, v: float) -> Node:
    node = Node(u, children=[Node(v * k) for k in range(10)])
    for child in node.children:
        child.parent = node
    return node


def listed(u: float, v: float) -> list[Any]:
    held: list[Any] = [u, v]
    held.append(held)
    return held


def by_key(u: float, v: float) -> dict[str, Any]:
    held: dict[str, Any] = {"u": u, "v": v}
    held["me"] = held
    return held


def stored_then_read(x: Any, n: Any) -> Any:
    n.me.w = n.w * x
    return n.w**2 * n.me.v


def read_on_the_way_round(x: Any, n: Any) -> Any:
    n.w = n.w * x
    return n.inner.back.w**2 * n.inner.w


def followed(x: Any, n: Any) -> Any:
    for _ in range(2):
        n = n.inner.back
        n.w = n.w * x
    return n.w * n.inner.w


def of_parents(x: Any, n: Any) -> Any:
    total = 0.0
    for child in n.children:
        child.parent.w = child.parent.w + child.w * x
        total = total + n.w**2
    return total


USES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[float, float], Any]]] = {
    "read": (lambda x, n: x * n.me.w * n.me.me.w + n.v, itself),
    "stored, then read": (stored_then_read, itself),
    "read on the way round": (read_on_the_way_round, two),
    "followed": (followed, two),
    "is itself": (lambda x, n: x * n.w if n.inner.back is n else 0.0, two),
    "in a tuple": (lambda x, n: x * n.pair[1].w ** 2 * n.pair[0] + n.v, in_tuple),
    "parents": (of_parents, family),
    "parents of many": (lambda x, n: x * sum(c.w * c.w for c in n.children) * n.w, long_family),
    "the parents of many, read": (lambda x, n: x * sum(c.w * c.parent.w for c in n.children), long_family),
    "list": (lambda x, n: x * n[2][0] ** 2 * n[2][2][1], listed),
    "dict": (lambda x, n: x * n["me"]["u"] ** 2 * n["me"]["v"], by_key),
}


def numbers(held: Any, seen: tuple[int, ...] = ()) -> list[float]:
    """The numbers of a graph or of its gradient, on the first way to each."""
    if isinstance(held, float):
        return [held]
    if held is None or id(held) in seen:
        return []
    items = held.values() if isinstance(held, dict) else held if isinstance(held, list | tuple) else vars(held).values()
    return [number for item in items for number in numbers(item, (*seen, id(held)))]


@pytest.mark.parametrize("use", USES)
def test_what_leads_back_is_the_same_object(use: str) -> None:
    """The gradient of all numbers, which stand in the graph once, beside differences; the graph is changed as Python changes it."""
    function, build = USES[use]
    x, u, v = 1.3, 0.8, 0.6
    graph, plain = build(u, v), build(u, v)
    value, (of_x, of_graph) = symgrad.value_and_grad(function, wrt=("x", "n"))(x, graph)
    assert value == pytest.approx(function(x, plain), rel=1e-14)
    assert numbers(graph) == pytest.approx(numbers(plain), rel=1e-14)
    step = 1e-6
    differences = [function(x + s, build(u, v)) for s in (step, -step)]
    assert of_x == pytest.approx((differences[0] - differences[1]) / (2 * step), rel=1e-7)
    of_u, of_v = [
        [
            (a - b) / (2 * step)
            for a, b in zip(numbers(build(u + p * step, v + q * step)), numbers(build(u - p * step, v - q * step)), strict=True)
        ]
        for p, q in ((1, 0), (0, 1))
    ]
    for moved, one, other in ((of_u, (step, 0.0), (-step, 0.0)), (of_v, (0.0, step), (0.0, -step))):
        expected = (function(x, build(u + one[0], v + one[1])) - function(x, build(u + other[0], v + other[1]))) / (2 * step)
        assert np.dot(numbers(of_graph), moved) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_another_object_on_the_way_round_has_code_of_its_own() -> None:
    """Both are of one class, and both stand around it."""
    derived, node = symgrad.grad(lambda x, n: x * x * n.inner.back.w), two(2.0, 3.0)
    for back, expected in ((node, 4.0), (node.inner, 6.0), (node, 4.0), (copy.copy(node), 4.0)):
        node.inner.back = back
        if back not in (node, node.inner):
            back.w = 2.0
        assert derived(1.0, node) == expected
    node.w = 5.0
    assert derived(1.0, node) == 4.0


def test_a_tuple_that_stands_in_itself_is_refused_where_it_is_read() -> None:
    held: tuple[list[Any], float] = ([1.0], 2.0)
    held[0].append(held)
    assert symgrad.grad(lambda x, t: x * x * t[1])(3.0, held) == 12.0
    with pytest.raises(SymgradError, match="a tuple that contains itself"):
        symgrad.grad(lambda x, t: x * x * t[0][1][1])(3.0, held)


def test_a_kernel_takes_what_leads_back() -> None:
    pytest.importorskip("numba")
    function, build = USES["followed"]
    derived, plain = symgrad.grad(function, wrt="x", jit=True), symgrad.grad(function, wrt="x")
    for u in (0.8, 1.1):
        assert derived(1.3, build(u, 0.6)) == pytest.approx(plain(1.3, build(u, 0.6)), rel=1e-12)
    assert "kernel" in derived.source(1.3, build(0.8, 0.6))


def test_a_model_outside_that_holds_itself_is_read_as_it_is_at_each_call() -> None:
    """A store to it is refused; given as an argument, it is changed."""
    model = itself(2.0, 3.0)
    derived = symgrad.grad(lambda x: x * model.me.w * model.me.me.v)
    assert derived(1.5) == 6.0
    model.w = 5.0
    assert derived(1.5) == 15.0
    model.me = itself(7.0, 1.0)
    assert derived(1.5) == 7.0

    def stores(x: float, model: Any = model) -> float:
        model.me.w = model.w * x
        return float(model.w * model.me.v)

    def stores_outside(x: float) -> float:
        return stores(x)

    with pytest.raises(SymgradError, match="object from outside"):
        symgrad.grad(stores_outside)(1.5)
    own = itself(2.0, 3.0)
    assert symgrad.grad(stores, wrt="x")(1.5, own) == 6.0
    assert own.w == 3.0
