"""The position of each value and op of a function: its block, its index there, and the order of evaluation of all values.

``joins`` lists the values in which paths meet, after branches and at the head and end of loops, with their operands. ``enter`` and
``leave`` carry one more value through an op.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from symgrad.ir.core import Block, For, If, Op, Operand, Value, While
from symgrad.ir.types import Type

Place = tuple[Block, int]


@dataclass(slots=True)
class Layout:
    """The position of each value and op; ``order`` numbers values in order of evaluation."""

    places: dict[Value, Place] = field(default_factory=dict)
    owners: dict[Block, tuple[Block, int, Op]] = field(default_factory=dict)
    order: dict[Value, float] = field(default_factory=dict)
    depths: dict[Block, int] = field(default_factory=dict)

    def enter(self, block: Block, depth: int = 0) -> None:
        """Record everything in a block."""
        self.depths[block] = depth
        for value in block.args:
            self.places[value] = (block, -1)
            self.order[value] = len(self.order)
        for index, op in enumerate(block.ops):
            for inner in op.blocks:
                self.owners[inner] = (block, index, op)
                self.enter(inner, depth + (not isinstance(op, If)))
            for out in op.outs:
                self.places[out] = (block, index)
                self.order[out] = len(self.order)

    def path(self, place: Place) -> list[Place]:
        """The positions that contain a position, outermost first, itself included."""
        places = [place]
        block = place[0]
        while block in self.owners:
            outer, index, _ = self.owners[block]
            places.append((outer, index))
            block = outer
        return places[::-1]

    def static(self, block: Block) -> bool:
        """Whether the block runs at most once."""
        return self.depths[block] == 0

    def rounds(self, value: Value) -> int:
        """The estimated number of times a value is computed."""
        return int(100 ** self.depths[self.places[value][0]])

    def op_of(self, value: Value) -> Op | None:
        """The op that defines a value."""
        block, index = self.places[value]
        return block.ops[index] if index >= 0 else None


#: an operand that comes from one path, as its index in a list of the op
Entry = tuple[list[Operand], int]


def entries(op: Op) -> Iterator[tuple[Value, list[Entry]]]:
    """Each value in which paths meet, with the positions of its operands."""
    match op:
        case If():
            for k, out in enumerate(op.outs):
                yield out, [(op.then.yields, k), (op.orelse.yields, k)]
        case For() | While():
            tested = op.test.args if isinstance(op, While) else op.carried
            for k, (test, slot, out) in enumerate(zip(tested, op.carried, op.outs, strict=False)):
                for value in dict.fromkeys((test, slot, out)):
                    yield value, [(op.inits, k), (op.body.yields, k)]


def joins(op: Op) -> Iterator[tuple[Value, list[Operand]]]:
    """Each value in which paths meet, with its operands."""
    for value, places in entries(op):
        yield value, [operands[place] for operands, place in places]


def enter(op: Op, inner: Block, start: Operand, type_: Type, hint: str) -> tuple[Value, Value]:
    """Carry one more value into one block of an op; the value inside, and the value after the op."""
    out = Value(type_, hint)
    if isinstance(op, If):
        op.outs.append(out)
        for side in op.blocks:
            if side is not inner:
                side.yields.append(start)
        assert isinstance(start, Value)
        return start, out
    assert isinstance(op, For | While)
    count = len(op.inits)
    inside = Value(type_, hint)
    op.inits.append(start)
    inner.args.append(inside)
    if isinstance(op, While):
        op.test.args.append(Value(type_, hint))
    op.outs.insert(count, out)
    return inside, out


def leave(op: Op, block: Block, end: Operand) -> None:
    """Yield one more value: after all that is carried, before the bool that ends the loop."""
    until = isinstance(op, For | While) and op.until
    block.yields.insert(len(block.yields) - until, end)


__all__ = ["Entry", "Layout", "Place", "enter", "entries", "joins", "leave"]
