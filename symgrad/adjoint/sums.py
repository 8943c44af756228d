"""Reductions in reversed loops: the loop-carried values to which iterations only add, in any order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from symgrad.ir.core import Block, Call, For, If, Op, Operand, Value

#: rows that add to their first operand
ADDING = frozenset({"add", "accumulate", "add_at", "list_add_at"})
EITHER = frozenset({"add"})  #: those in which the sum may be the second operand as well


@dataclass(slots=True)
class Sums:
    """The reversed loops of a function; ``readers``: the ops that read a value, with their block; None: the block yields it."""

    outside: ClassVar[Op] = Op()  #: placeholder for a reader in another block
    owners: dict[Block, tuple[Block, Op]] = field(default_factory=dict)
    readers: dict[Value, list[tuple[Block, Op | None]]] = field(default_factory=dict)
    makers: dict[Operand, Op] = field(default_factory=dict)

    @classmethod
    def of(cls, block: Block) -> Sums:
        """Index a block and the blocks inside it."""
        sums = cls()
        sums.enter(block)
        return sums

    def enter(self, block: Block) -> None:
        for op in block.ops:
            self.read(op.operands, block, op)
            self.makers.update(dict.fromkeys(op.outs, op))
            for inner in op.blocks:
                self.owners[inner] = (block, op)
                self.enter(inner)
        self.read(block.yields, block, None)

    def read(self, operands: list[Operand], block: Block, op: Op | None) -> None:
        for operand in operands:
            if isinstance(operand, Value):
                self.readers.setdefault(operand, []).append((block, op))

    def is_sum(self, loop: For, k: int) -> bool:
        """Whether the iterations of a loop only add to its carried value in a slot."""
        return self.end(loop.body, loop.carried[k]) == k

    def end(self, block: Block, value: Value) -> int | None:
        """The yield index that a value reaches by additions only; None if it has other uses."""
        while True:
            readers = [reader for where, op in self.readers.get(value, ()) if (reader := self.within(block, where, op)) is not self.outside]
            if len(set(readers)) != 1:
                return None
            reader = readers[0]
            match reader:
                case None:
                    return block.yields.index(value) if len(readers) == 1 else None
                case Call() if len(readers) == 1 and reader.name in ADDING:
                    if reader.args[0] is not value and reader.name not in EITHER:
                        return None
                    value = reader.outs[0]
                case If() if reader.test is not value:
                    ends = {self.end(side, value) for side in reader.blocks}
                    if len(ends) != 1 or (k := ends.pop()) is None:
                        return None
                    value = reader.outs[k]
                case For() if len(readers) == 1 and value in reader.inits:
                    k = reader.inits.index(value)
                    if not self.is_sum(reader, k):
                        return None
                    value = reader.outs[k]
                case _:
                    return None

    def within(self, block: Block, where: Block, op: Op | None) -> Op | None:
        """The op of the block itself that is, or contains, a reader; None if the block yields the value."""
        while where is not block:
            if where not in self.owners:
                return self.outside
            where, op = self.owners[where]
        return op


__all__ = ["Sums"]
