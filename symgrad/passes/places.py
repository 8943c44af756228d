"""Uses and last uses: where each value is read, and where its memory is read for the last time."""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.ir.core import Block, Call, Func, Op, Value
from symgrad.ir.verify import MAY_RETURN_OPERAND
from symgrad.ops.declare import ROWS, USER_ROWS
from symgrad.passes.facts import BORROWED, KEEPING

#: rows that keep their operands, or may return them in an untracked way
UNSURE = (KEEPING | BORROWED) - MAY_RETURN_OPERAND


@dataclass(slots=True)
class Places:
    """The uses of each value: the op of the value's own block that is, or contains, the reader, and its index there."""

    readers: dict[Value, list[Op]] = field(default_factory=dict)
    yielded: set[Value] = field(default_factory=set)
    above: dict[Op, tuple[Block, Op | None]] = field(default_factory=dict)
    number: dict[Op, int] = field(default_factory=dict)

    @staticmethod
    def of(func: Func) -> Places:
        """The uses in a function."""
        places = Places()
        places.enter(func.body, None)
        return places

    def enter(self, block: Block, owner: Op | None) -> None:
        for k, op in enumerate(block.ops):
            self.number[op] = k
            self.above[op] = block, owner
            for operand in dict.fromkeys(op.operands):
                if isinstance(operand, Value):
                    self.readers.setdefault(operand, []).append(op)
            for inner in op.blocks:
                self.enter(inner, op)
        self.yielded.update(y for y in block.yields if isinstance(y, Value))

    def holder(self, op: Op, block: Block) -> Op | None:
        """The op of ``block`` that is, or contains, ``op``."""
        current: Op | None = op
        while current is not None:
            home, owner = self.above[current]
            if home is block:
                return current
            current = owner
        return None

    def last(self, value: Value, block: Block, unchanged: bool = False) -> int | None:
        """The index of the last op of ``block`` that reads the memory of a value defined there.

        None if the block yields it, or (``unchanged``) it is overwritten.
        """
        last, pending, seen = -1, [value], {value}
        while pending:
            current = pending.pop()
            if current in self.yielded:
                return None
            for reader in self.readers.get(current, ()):
                holder = self.holder(reader, block)
                if holder is None or not isinstance(reader, Call):
                    return None
                last = max(last, self.number[holder])
                row = ROWS[reader.name]
                if row.effect or reader.name in UNSURE or reader.name in USER_ROWS:
                    return None
                overwrites = row.consumes and reader.args[0] is current
                if unchanged and overwrites:
                    return None
                if row.alias != "fresh" or overwrites:
                    new = [out for out in reader.outs if out not in seen]
                    seen.update(new)
                    pending += new
        return last


__all__ = ["Places"]
