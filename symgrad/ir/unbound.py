"""Definedness analysis: which values may be unbound, and where such a value is surely bound.

A name bound in one branch, or in a loop that may run zero times, is unbound on the other path. The branch
yields ``undef`` there, and the loop begins with it. Python raises only where such a name is read.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, field

from symgrad.identity import DisjointSets
from symgrad.ir.core import Apply, Block, Call, Const, For, If, Op, Operand, Undef, Value, While, walk
from symgrad.ir.types import Array, List, Scalar, ShapeOf, Tape, Type

Side = tuple[Operand, int]  #: the test of a branch, and the index of one of its blocks


@dataclass(slots=True)
class Unbound:
    """The possibly unbound values of a function.

    ``sides``: each such value, with the test and the side of the branch on which it is unbound, if known.
    ``reads``: the values that the ops of a block itself read; once the block has run, these were bound.
    """

    sides: dict[Value, Side | None] = field(default_factory=dict)
    reads: dict[Block, set[Value]] = field(default_factory=dict)
    tapes: DisjointSets[Value] = field(default_factory=DisjointSets)  #: values that are the same tape
    items: dict[tuple[Value, int], list[Value]] = field(default_factory=dict)  #: the items on the tapes of a class, by position

    @classmethod
    def of(cls, body: Block) -> Unbound:
        """Analyse the body of a function."""
        unbound = cls()
        unbound.read(body)
        count = -1
        while count != len(unbound.sides):
            count = len(unbound.sides)
            for op in walk(body):
                if isinstance(op, If):
                    unbound.branch(op)
                elif isinstance(op, For | While):
                    unbound.loop(op)
            for values in unbound.items.values():
                if any(map(unbound.is_doubtful, values)):
                    unbound.sides.update((v, None) for v in values if v not in unbound.sides)
        return unbound

    def read(self, block: Block) -> None:
        """Record the values read by the ops of a block, and of the blocks in it; an item only saved on a tape may be unbound."""
        values: set[Value] = set()
        for op in block.ops:
            for inner in op.blocks:
                self.read(inner)
            tape = op.args[0] if isinstance(op, Call) and op.name in ("push", "put", "pop", "get") else None
            if isinstance(op, Call) and isinstance(tape, Value):
                self.on_tape(op, tape)
            elif isinstance(op, Call | Apply):
                values.update(o for o in op.operands if isinstance(o, Value))
            else:
                self.handed(op)
        self.reads[block] = values

    def branch(self, op: If) -> None:
        """Record the results that a side does not bind, or yields from a possibly unbound value."""
        if isinstance(op.test, Const):  # always taken
            self.sides.update(
                (out, None) for out, end in zip(op.outs, op.blocks[not op.test.value].yields, strict=True) if self.is_doubtful(end)
            )
            return
        for out, *yielded in zip(op.outs, op.then.yields, op.orelse.yields, strict=True):
            match [place for place, operand in enumerate(yielded) if self.is_doubtful(operand) or is_absent(operand, out.type)]:
                case [place] if isinstance(yielded[place], Const):
                    self.sides[out] = (op.test, place)
                case [_, *_]:
                    self.sides[out] = None

    def loop(self, op: For | While) -> None:
        """Propagate definedness through a loop's initial values and yields."""
        for k, (start, slot, out) in enumerate(zip(op.inits, op.carried, op.outs, strict=False)):
            if self.is_doubtful(start) or self.is_doubtful(op.body.yields[k]):
                for value in (slot, out, *([op.test.args[k]] if isinstance(op, While) else [])):
                    self.sides[value] = None

    def is_doubtful(self, operand: Operand) -> bool:
        """Whether the value may be unbound."""
        return operand in self.sides if isinstance(operand, Value) else is_undefined(operand)

    # ---------------------------------------------------------------- tapes

    def on_tape(self, op: Call, tape: Value) -> None:
        """Propagate definedness from the items saved at a position of a tape to those read from it."""
        first = {"push": 1, "put": 2}.get(op.name)
        items: list[Operand] = op.args[first:] if first is not None else [*op.outs[op.name == "pop" :]]
        if op.name != "get":
            self.join(tape, op.outs[0])
        for place, item in enumerate(items):
            known = self.items.setdefault((self.tapes.find(tape), place), [])
            if isinstance(item, Value):
                if known:
                    self.join(known[0], item)
                known.append(item)

    def handed(self, op: Op) -> None:
        """Join tapes that pass through branches and loops."""
        for k, out in enumerate(op.outs):
            ends = [block.yields[k] for block in op.blocks] if isinstance(op, If) else []
            if isinstance(op, For | While) and k < len(op.inits):
                ends = [op.inits[k], op.carried[k], op.body.yields[k]]
            for end in ends:
                self.join(out, end)

    def join(self, a: Value, b: Operand) -> None:
        """Record that two values are one tape, if they are tapes."""
        if not (isinstance(a.type, Tape) and isinstance(b, Value) and isinstance(b.type, Tape)):
            return
        first, second = self.tapes.find(a), self.tapes.find(b)
        if not self.tapes.unite(first, second):
            return
        for tape, place in [key for key in self.items if key[0] is second]:
            moved = self.items.pop((tape, place))
            known = self.items.setdefault((first, place), [])
            if known and moved:
                self.join(known[0], moved[0])
            known += moved


def present_in(body: Block, doubtful: Container[Value]) -> dict[Value, frozenset[Side]]:
    """The sides of branches on which values that are unbound elsewhere are bound, if the sides alone decide it.

    A branch of the backward half on the same tests then reads a value from the forward half's branch.
    """
    sides: dict[Value, frozenset[Side]] = {}
    for op in body.ops:
        for block in op.blocks:
            sides |= present_in(block, doubtful)
        if isinstance(op, If):
            for k, out in enumerate(op.outs):
                if out in doubtful and (needed := _needed(op, k, sides, doubtful)) is not None:
                    sides[out] = needed
    return sides


def _needed(op: If, k: int, known: Mapping[Value, frozenset[Side]], doubtful: Container[Value]) -> frozenset[Side] | None:
    """The sides on which a branch result is bound, including those required by the value that the branch yields, seen from outside."""
    absent = [is_absent(block.yields[k], op.outs[k].type) for block in op.blocks]
    if sum(absent) != 1:
        return None
    place = absent.index(False)
    block, yielded = op.blocks[place], op.blocks[place].yields[k]
    sides = known.get(yielded) if isinstance(yielded, Value) and yielded in doubtful else frozenset[Side]()
    if sides is None:
        return None
    seen = {y: out for y, out in zip(block.yields, op.outs, strict=True) if isinstance(y, Value)}
    own = {out for inner in block.ops for out in inner.outs}
    needed = {(op.test, place)}
    for test, side in sides:
        if isinstance(test, Value) and test in own:
            if test not in seen:
                return None
            test = seen[test]
        needed.add((test, side))
    return frozenset(needed)


def is_undefined(operand: Operand) -> bool:
    """Whether the operand represents an unbound value."""
    return isinstance(operand, Const) and isinstance(operand.value, Undef)


def is_absent(operand: Operand, type_: Type) -> bool:
    """Whether the operand represents an unbound value of that type."""
    none = isinstance(operand, Const) and operand.value is None
    return is_undefined(operand) or none and isinstance(type_, Array | Scalar | List | Tape | ShapeOf)


__all__ = ["Side", "Unbound", "is_undefined", "present_in"]
