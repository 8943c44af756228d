"""Affine forms: integers of a program as sums of symbols, with the bounds that loops give to these."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, Const, For, If, Operand, Value
from symgrad.ir.layout import Layout
from symgrad.ir.sums import ONE, Sum, combined, follows, product, sum_of
from symgrad.ir.types import Array, Dim, Extent, Scalar


@dataclass(slots=True)
class Round:
    """One execution of an op. Symbols that differ from the execution it is compared with are marked.

    ``inside`` are the blocks whose values belong to the later iteration of a loop.
    """

    layout: Layout
    inside: frozenset[Block] = frozenset()
    facts: list[Sum] = field(default_factory=list)

    def symbol(self, value: Value, name: Hashable) -> Hashable:
        """Return the symbol of a quantity that is available where ``value`` is."""
        later = self.inside and any(block in self.inside for block, _ in self.layout.path(self.layout.places[value]))
        return (name, "later") if later else name

    def sum(self, operand: Operand) -> Sum | None:
        """Return an integer operand as an affine sum; an unknown term becomes a symbol."""
        if isinstance(operand, Const):
            return {ONE: operand.value} if type(operand.value) is int else None
        if operand not in self.layout.places or not isinstance(operand.type, Scalar) or operand.type.kind != "int":
            return None
        op = self.layout.op_of(operand)
        if isinstance(op, Call) and (rule := SUMS.get(op.name)) is not None:
            parts = [self.sum(a) for a in op.args]
            if all(p is not None for p in parts) and (total := rule(*parts)) is not None:
                return total
        if isinstance(op, Call) and op.name == "extent" and isinstance(array := op.args[0], Value):
            shape = array.type.shape if isinstance(array.type, Array) else None
            if shape is not None and (known := self.extent(shape[op.settings.get("axis", 0)], array)) is not None:
                return known
        return {self.symbol(operand, operand): 1}

    def extent(self, extent: Extent, array: Value) -> Sum | None:
        """The length of an axis of an array as a sum."""
        terms = sum_of(extent)
        if terms is None or not all(s == ONE or str(s).isidentifier() for s in terms):
            return None
        length: Sum = {s if s == ONE else self.symbol(array, ("extent", s)): c for s, c in terms.items()}
        if isinstance(extent, Dim):
            self.facts.append(combined(length, {ONE: -extent.offset}))
        return length

    def bounds(self, block: Block) -> None:
        """Record the bounds of the enclosing loops' indices, and the integer conditions of the enclosing branches."""
        asked: list[tuple[Operand, bool]] = []
        while block in self.layout.owners:
            inner = block
            block, _, op = self.layout.owners[inner]
            if isinstance(op, If):
                asked.append((op.test, inner is op.then))
            elif isinstance(op, For) and isinstance(op.step, Const) and type(op.step.value) is int and op.step.value:
                index, start, stop = self.sum(op.index), self.sum(op.start), self.sum(op.stop)
                low, high = (start, stop) if op.step.value > 0 else (stop, start)
                shift = 0 if op.step.value > 0 else 1
                if index is not None and low is not None:
                    self.facts.append(combined(combined(index, low, -1), {ONE: -shift}))
                if index is not None and high is not None:
                    self.facts.append(combined(combined(high, index, -1), {ONE: shift - 1}))
        for test, holds in reversed(asked):
            self.asked(test, holds)

    def asked(self, test: Operand, holds: bool) -> None:
        """Record the facts about integers that a condition implies, where it is true or where it is false."""
        op = self.layout.op_of(test) if isinstance(test, Value) and test in self.layout.places else None
        match op:
            case Call(name="not_", args=[inner]):
                self.asked(inner, not holds)
            case Call(name="both" | "either" as name, args=[left, right]) if (name == "both") is holds:
                self.asked(left, holds)
                self.asked(right, holds)
            case Call(name=name, args=[left, right]) if name in COMPARED:
                a, b = self.sum(left), self.sum(right)
                if a is not None and b is not None:
                    self.compared(COMPARED[name] if holds else OPPOSITE[COMPARED[name]], combined(a, b, -1))
            case If(test=first, then=then, orelse=orelse):  # ``first and second``, ``first or second``
                k = op.outs.index(test)  # type: ignore[arg-type]
                second, other = (then, orelse) if holds else (orelse, then)
                stop = other.yields[k]
                if stop is first or isinstance(stop, Const) and stop.value is (not holds):
                    self.asked(first, holds)
                    self.asked(second.yields[k], holds)

    def compared(self, sign: str, difference: Sum) -> None:
        """Note how a difference of integers compares with zero."""
        other = combined({}, difference, -1)
        match sign:
            case "<" | ">":
                self.facts.append(combined(difference if sign == ">" else other, {ONE: -1}))
            case "<=" | ">=":
                self.facts.append(difference if sign == ">=" else other)
            case "==":
                self.facts += [difference, other]
            case "!=":  # more than zero, if it is known not to be less
                near = next((d for d in (difference, other) if follows(d, self.facts)), None)
                self.facts += [] if near is None else [combined(near, {ONE: -1})]

    def index(self, loop: For) -> Sum:
        """Return the index of a loop in this iteration."""
        return {self.symbol(loop.index, loop.index): 1}


COMPARED = {"less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!="}
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
#: rows that make a sum of sums
SUMS: dict[str, Callable[..., Sum | None]] = {
    "add": combined,
    "subtract": lambda a, b: combined(a, b, -1),
    "negative": lambda a: combined({}, a, -1),
    "positive": lambda a: a,
    "multiply": product,
}

__all__ = ["Round"]
