"""Integers as sums of symbols, and what follows for them from the bounds of loops.

A sum ``2*i - j + 3`` is ``{i: 2, j: -1, ONE: 3}``; a fact is a sum that is not negative. A goal follows from facts if
it is a sum of them with positive factors, and a number that is not negative (Farkas' lemma).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field

from symgrad.adjoint.memory import Layout
from symgrad.ir.core import Block, Call, Const, For, Operand, Value
from symgrad.ir.types import Array, Dim, Extent, Scalar

Sum = dict[Hashable, int]
ONE = ""  #: the symbol of the constant part
DEPTH = 6  #: how many facts one proof may use


def combined(a: Sum, b: Sum, times: int = 1, weight: int = 1) -> Sum:
    """``weight * a + times * b``.

    >>> combined({"i": 1, ONE: 2}, {"i": 1}, -1)
    {'': 2}
    """
    made = {s: weight * c for s, c in a.items()}
    for symbol, count in b.items():
        made[symbol] = made.get(symbol, 0) + times * count
    return {s: c for s, c in made.items() if c}


def follows(goal: Sum, facts: Iterable[Sum], depth: int = DEPTH) -> bool:
    """Is ``goal`` never negative where all of ``facts`` are not?

    >>> follows({"i": 1, "j": -1, ONE: -1}, [{"k": 1, "j": -1, ONE: -1}, {"i": 1, "k": -1}])
    True
    >>> follows({"i": 1, "j": -1}, [{"i": 1}, {"j": 1}])
    False
    """
    facts = list(facts)
    best: list[Sum] | None = None
    for symbol, count in goal.items():
        if symbol == ONE:
            continue
        usable = [f for f in facts if f.get(symbol, 0) * count > 0]
        if best is None or len(usable) < len(best):
            best, chosen = usable, symbol
    if best is None:
        return goal.get(ONE, 0) >= 0
    if not depth:
        return False
    return any(follows(combined(goal, f, -abs(goal[chosen]), abs(f[chosen])), facts, depth - 1) for f in best)


@dataclass(slots=True)
class Round:
    """One execution of some op: what differs from the execution it is compared with has a mark.

    ``inside`` are the blocks whose values belong to the later round of a loop.
    """

    layout: Layout
    inside: frozenset[Block] = frozenset()
    facts: list[Sum] = field(default_factory=list)

    def symbol(self, value: Value, name: Hashable) -> Hashable:
        """The symbol of something that is had where ``value`` is."""
        later = self.inside and any(block in self.inside for block, _ in self.layout.path(self.layout.places[value]))
        return (name, "later") if later else name

    def sum(self, operand: Operand) -> Sum | None:
        """An integer operand as a sum; what is not understood is a symbol of its own."""
        if isinstance(operand, Const):
            return {ONE: operand.value} if type(operand.value) is int else None
        if operand not in self.layout.places or not isinstance(operand.type, Scalar) or operand.type.kind != "int":
            return None
        op = self.layout.op_of(operand)
        if isinstance(op, Call) and (rule := SUMS.get(op.name)) is not None:
            parts = [self.sum(a) for a in op.args]
            if all(p is not None for p in parts) and (made := rule(*parts)) is not None:
                return made
        if isinstance(op, Call) and op.name == "extent" and isinstance(array := op.args[0], Value):
            shape = array.type.shape if isinstance(array.type, Array) else None
            if shape is not None and (known := self.extent(shape[op.settings.get("axis", 0)], array)) is not None:
                return known
        return {self.symbol(operand, operand): 1}

    def extent(self, extent: Extent, array: Value) -> Sum | None:
        """The length of an axis of an array as a sum."""
        if isinstance(extent, int):
            return {ONE: extent}
        if extent.symbol == "?" or not extent.symbol.isidentifier():
            return None
        symbol = self.symbol(array, ("extent", extent.symbol))
        self.facts.append({symbol: 1})
        return combined({symbol: 1}, {ONE: extent.offset})

    def bounds(self, block: Block) -> None:
        """Note where the indices of the loops around a block are."""
        while block in self.layout.owners:
            block, _, op = self.layout.owners[block]
            if isinstance(op, For) and isinstance(op.step, Const) and type(op.step.value) is int and op.step.value:
                index, start, stop = self.sum(op.index), self.sum(op.start), self.sum(op.stop)
                low, high = (start, stop) if op.step.value > 0 else (stop, start)
                shift = 0 if op.step.value > 0 else 1
                if index is not None and low is not None:
                    self.facts.append(combined(combined(index, low, -1), {ONE: -shift}))
                if index is not None and high is not None:
                    self.facts.append(combined(combined(high, index, -1), {ONE: shift - 1}))

    def index(self, loop: For) -> Sum:
        """The index of a loop in this round."""
        return {self.symbol(loop.index, loop.index): 1}


def product(a: Sum, b: Sum) -> Sum | None:
    """The product with a number."""
    for one, other in ((a, b), (b, a)):
        if set(one) <= {ONE}:
            return combined({}, other, one.get(ONE, 0))
    return None


#: rows that make a sum of sums
SUMS: dict[str, Callable[..., Sum | None]] = {
    "add": combined,
    "subtract": lambda a, b: combined(a, b, -1),
    "negative": lambda a: combined({}, a, -1),
    "positive": lambda a: a,
    "multiply": product,
}

__all__ = ["ONE", "Dim", "Round", "Sum", "combined", "follows"]
