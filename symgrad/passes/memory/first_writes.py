"""Accumulate-to-assign: the first addition to a part of a new, zero cotangent becomes an assignment. Works in place.

    g = np.zeros(n); g[:k] += u; g[k:] += v      ->      g = np.zeros(n); g[:k] = u; g[k:] = v

Only the backward half is changed, and only parts that are proved disjoint from all parts written before.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, Const, Func, Operand, Value
from symgrad.ir.sums import ONE, Sum, combined, follows, product, sum_of
from symgrad.ir.types import INT, Array, Object
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import OPERANDS, is_basic
from symgrad.passes.facts import Facts, Places, holds
from symgrad.passes.simplification.remarks import tell

#: rows that create arrays of zeros
ZEROS = frozenset({"zeros", "zeros_of", "zeros_as"})
#: along an axis: the start and the exclusive end; None: to the end of the axis
Interval = tuple[Sum, Sum | None]


def first_writes(func: Func) -> Func:
    """Turn first additions into assignments, in place."""
    if holds(func, "add_at"):
        _FirstWrites(func, Facts(func), Places.of(func)).block(func.body)
    return func


@dataclass
class _FirstWrites:
    """One walk through a function; ``known`` are combinations that are not negative."""

    func: Func
    facts: Facts
    places: Places
    known: list[Sum] = field(default_factory=list)

    def block(self, block: Block) -> None:
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
            if isinstance(op, Call) and op.name in ZEROS and op.outs[0] in self.facts.late:
                self.follow(op.outs[0], block)

    def follow(self, array: Value, block: Block) -> None:
        """Follow the additions to an array as long as each has no other reader."""
        written: list[list[Interval]] = []
        while True:
            readers = self.places.readers.get(array, [])
            if len(readers) != 1 or array in self.places.yielded:
                return
            (op,) = readers
            if not isinstance(op, Call) or op.name != "add_at" or op.args[0] is not array or self.places.above[op][0] is not block:
                return
            place = self.place(op)
            if not is_view(op) or written and (place is None or not all(self.apart(place, other) for other in written)):
                return
            if op.settings["index"] != "e":  # another pass handles whole arrays
                op.name, op.settings = "set_at", {**ROWS["set_at"].settings, "index": op.settings["index"]}
                tell(self.func.notes, op, "the first addition to a zero slice becomes a store")
            if place is None:
                return
            written.append(place)
            array = op.outs[0]

    def place(self, op: Call) -> list[Interval] | None:
        """The interval on each axis that an op adds to, for the axes in its index; None if one is not analysed."""
        intervals: list[Interval] = []
        at = 2
        for letter in op.settings["index"]:
            operands = op.args[at : at + OPERANDS.get(letter, 0)]
            at += len(operands)
            if letter not in "is":
                return None
            if letter == "i":
                index = self.sum(operands[0]) if operands[0].type == INT else None
                bounds: Interval | None = None if index is None else (index, combined(index, {ONE: 1}))
            else:
                bounds = self.interval(*operands)
            if bounds is None or not all(b is None or follows(b, self.known) for b in bounds):
                return None
            intervals.append(bounds)
        return intervals

    def interval(self, start: Operand, stop: Operand, step: Operand) -> Interval | None:
        """The bounds of a slice without a step."""
        if not is_left_out(step):
            return None
        first = {} if is_left_out(start) else self.sum(start)
        last = None if is_left_out(stop) else self.sum(stop)
        return None if first is None or last is None and not is_left_out(stop) else (first, last)

    def apart(self, one: list[Interval], other: list[Interval]) -> bool:
        """Whether on some axis one region ends before the other begins."""
        return any(self.before(a, b) or self.before(b, a) for a, b in zip(one, other, strict=False))

    def before(self, one: Interval, other: Interval) -> bool:
        """Whether one interval ends before the other begins."""
        return one[1] is not None and follows(combined(other[0], one[1], -1), self.known)

    def sum(self, operand: Operand) -> Sum | None:
        """An integer as a linear combination of extents and other integers."""
        if isinstance(operand, Const):
            return {ONE: operand.value} if type(operand.value) is int else None
        if operand.type != INT:
            return None
        op = self.facts.maker.get(operand)
        if isinstance(op, Call) and op.name == "extent" and isinstance(op.args[0].type, Array) and op.args[0].type.shape is not None:
            extent = sum_of(op.args[0].type.shape[op.settings["axis"]])
            if extent is not None:
                self.known.append(combined(extent, {ONE: -extent.get(ONE, 0)}))
                return extent
        parts = [self.sum(a) for a in op.args] if isinstance(op, Call) and op.name in SUMS else []
        known = [p for p in parts if p is not None]
        total = SUMS[op.name](*known) if isinstance(op, Call) and parts and len(known) == len(parts) else None
        return {operand: 1} if total is None else total


SUMS = {"add": combined, "subtract": lambda a, b: combined(a, b, -1), "multiply": product}


def is_view(op: Call) -> bool:
    """Whether the path has only integers and slices, so that it selects no cell twice."""
    return "." not in op.settings["index"] and is_basic(op.settings["index"], [a.type for a in op.args[2:]])


def is_left_out(operand: Operand) -> bool:
    return isinstance(operand.type, Object) and operand.type.name == "None"


__all__ = ["first_writes"]
