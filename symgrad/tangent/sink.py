"""Code sinking: moves tangents that only one side of a branch reads into that side; the other side does not pay for them.

A branch thus guards a slope that is infinite, or that Python refuses to compute: ``r = sqrt(x)``, read where
``r > 0`` only.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from symgrad.adjoint.analysis.memory import has_memory
from symgrad.ir.core import Block, Call, Func, If, Op, Value, ops_within, uses, walk
from symgrad.ops.analysis.aliases import Groups, memory_groups
from symgrad.ops.declare import ROWS


@dataclass(slots=True)
class Sinking:
    """A function with its tangents: the program's own ops, the number of uses of each value, and the alias classes."""

    own: set[Op]
    counts: dict[Value, int]
    groups: Groups

    def block(self, block: Block) -> None:
        """Process a block and the blocks inside it, last branch first."""
        for op in block.ops:
            for inner in op.blocks:
                self.block(inner)
        branches = [op for op in block.ops if isinstance(op, If)]
        if not branches:
            return
        places = Places.of(block, self.groups)
        for branch in reversed(branches):
            for side in branch.blocks:
                self.side(block, branch, side, places)

    def side(self, block: Block, branch: If, side: Block, places: Places) -> None:
        """Move into one side the ops that it alone reads."""
        read = uses(side)
        todo = list(read)
        sunk: dict[Op, int] = {}
        while todo:
            value = todo.pop()
            op = places.makers.get(value)
            if op is None or op in sunk or op in self.own or not self.may_move(op, branch, read, places):
                continue
            sunk[op] = places.index[op]
            for operand in op.operands:
                if isinstance(operand, Value):
                    read[operand] = read.get(operand, 0) + 1
                    todo.append(operand)
        if sunk:
            side.ops[:0] = sorted(sunk, key=sunk.__getitem__)
            block.ops = [op for op in block.ops if op not in sunk]
            for op in sunk:
                for out in op.outs:
                    del places.makers[out]

    def may_move(self, op: Op, branch: If, read: dict[Value, int], places: Places) -> bool:
        """Whether only one side reads an op, and the op's operands are unchanged there."""
        if not isinstance(op, Call) or ROWS[op.name].consumes or ROWS[op.name].effect:
            return False
        if places.index[op] > places.index[branch] or any(read.get(out, 0) != self.counts.get(out, 0) for out in op.outs):
            return False
        return not any(
            isinstance(operand, Value) and has_memory(operand.type) and places.is_stored(self.groups.find(operand), op, branch)
            for operand in op.operands
        )


@dataclass(slots=True)
class Places:
    """The positions of a block's ops, the defining ops of values, and the stores to memory."""

    index: dict[Op, int]
    makers: dict[Value, Op]
    stores: dict[Value, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, block: Block, groups: Groups) -> Places:
        """Index a block."""
        index = {op: k for k, op in enumerate(block.ops)}
        places = cls(index, {out: op for op in block.ops for out in op.outs})
        for k, op in enumerate(block.ops):
            for store in ops_within(op):
                if isinstance(store, Call) and ROWS[store.name].consumes and isinstance(store.args[0], Value):
                    places.stores.setdefault(groups.find(store.args[0]), []).append(k)
        return places

    def is_stored(self, root: Value, first: Op, last: Op) -> bool:
        """Whether memory is written to between two ops of the block."""
        return any(self.index[first] < k < self.index[last] for k in self.stores.get(root, ()))


def sink(func: Func, own: set[Op]) -> None:
    """Move tangents into the branch sides that alone read them; ``own`` are the ops of the program. Works in place."""
    if any(isinstance(op, If) for op in walk(func.body)):
        Sinking(own, uses(func.body), memory_groups(func)).block(func.body)


__all__ = ["sink"]
