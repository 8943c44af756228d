"""Positions in a function: the block of each value and op, its place there, and the order of evaluation."""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Block, If, Op, Value

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
