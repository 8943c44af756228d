"""Sets from outside: operations x classes x changes between calls, compared with plain Python."""

from __future__ import annotations

from typing import Any

import pytest

import symgrad
from tests.plainly import function_of

HEAD = "AX, FROZEN, OTHER = {'J', 'C', 'h'}, frozenset(('a', 'C')), {1, 2}\n"
BODIES = (
    "r = x * AX.issuperset(k) + x", "r = x * AX.issubset(['J', 'C', 'h', 'q']) + x * AX.isdisjoint(k)", "r = x * len(AX.union({'q'}, FROZEN))",
    "r = x * len(AX.intersection(k)) + len(FROZEN.difference(AX))", "r = x * len(AX - {'J'}) + len(AX | FROZEN) + len(FROZEN ^ AX)",
    "r = x * (AX <= {'J', 'C', 'h', 'z'}) + x * (AX == set('hCJ')) + (AX != FROZEN)", "r = x * len(sorted(AX)) + x * (sorted(AX)[:1] == ['C'])",
    "own = AX.copy()\n    own.add('z')\n    r = x * len(own) + len(AX)", "r = x * len({'a'}.union(AX)) + x * {'J'}.issubset(AX)",
    "r = x * sum(sorted(OTHER)) + x * len(OTHER & {2, 3})", "r = x if AX & FROZEN else x * x", "r = x * isinstance(AX | FROZEN, set) + x * isinstance(FROZEN | AX, frozenset)",
    "r = x * len(set(k) - AX) + x * len(AX.symmetric_difference(FROZEN))",
)  # fmt: skip


@pytest.mark.parametrize("jit", [False, "auto"], ids=["numpy", "numba"])
@pytest.mark.parametrize("body", BODIES)
def test_sets_from_outside_are_what_they_are_at_each_call(body: str, jit: Any) -> None:
    function = function_of(f"{HEAD}def f(x, k=('J', 'C')):\n    {body}\n    return r\n")
    derivative = symgrad.value_and_grad(function, wrt="x", jit=jit)
    for change in (lambda held: None, lambda held: held.add("q"), lambda held: held.discard("C"), lambda held: held.clear()):
        change(function.__globals__["AX"])
        value, gradient = derivative(0.7)
        assert value == pytest.approx(function(0.7))
        assert gradient == pytest.approx((function(0.7 + 1e-6) - function(0.7 - 1e-6)) / 2e-6)


@pytest.mark.parametrize("body", ["AX.add('q')", "AX.update(k)", "AX.pop()", "AX.clear()"])
def test_a_change_of_a_set_from_outside_is_refused(body: str) -> None:
    function = function_of(f"{HEAD}def f(x, k=('J', 'C')):\n    {body}\n    return x * len(AX)\n")
    with pytest.raises(symgrad.SymgradError, match="from outside"):
        symgrad.grad(function, wrt="x")(0.7)
