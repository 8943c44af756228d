"""Def-use index of a block: the ops that use each value, and the loops around them, at the time of construction.

One walk builds the index, so that a pass can examine one array without walking everything. It belongs to the
pass that built it, which builds a new one after rewriting the ops in question.
"""

from __future__ import annotations

from collections.abc import Iterable

from symgrad.ir.core import Block, Call, Op, Value
from symgrad.loops.accesses import Access, own_accesses

#: ops that read or write whole arrays without keeping a reference
BORROWS = frozenset(
    {"product_into", "add_product", "inverse_into", "cofactors_into", "triangular_into", "solution_into", "determinant", "view"}
    | {"convolution_into", "correlation_into"}
    | {"order_into", "sorted_into", "middle_into"}
    | {f"product_at{places}" for places in (1, 2, 3)}
)


def borrows(op: Op) -> bool:
    """Whether the op uses whole arrays without keeping a reference."""
    return isinstance(op, Call) and op.name in BORROWS


class Uses:
    """The index of a block and of all blocks inside it."""

    def __init__(self, block: Block) -> None:
        self.mentions: dict[Value, list[Op]] = {}  #: the ops with a value as operand
        self.home: dict[Op, tuple[Block, Op | None]] = {}  #: the block of an op, and the op that owns the block
        self.handed: dict[Value, list[Op]] = {
            y: [] for y in block.yields if isinstance(y, Value)
        }  #: values yielded by blocks, with the owners
        self.gather(block, None)

    def gather(self, block: Block, owner: Op | None) -> None:
        place = (block, owner)
        for op in block.ops:
            self.home[op] = place
            for operand in op.operands:
                if isinstance(operand, Value):
                    self.mentions.setdefault(operand, []).append(op)
            for inner in op.blocks:
                for y in inner.yields:
                    if isinstance(y, Value):
                        self.handed.setdefault(y, []).append(op)
                self.gather(inner, op)

    def of(self, handle: Value) -> list[Op]:
        """The ops that use a value, without duplicates."""
        return [op for op in dict.fromkeys(self.mentions.get(handle, ())) if op in self.home]

    def inside(self, owner: Op | None, ops: Iterable[Op]) -> dict[Op, None]:
        """The ops directly in the blocks of ``owner`` (None: in the outermost block) that are, or contain, any of ``ops``."""
        children: dict[Op, None] = {}
        for op in ops:
            at: Op | None = op
            while at is not None:
                above = self.home[at][1]
                if above is owner:
                    children[at] = None
                at = above
        return children

    def accesses(self, handle: Value) -> list[tuple[Op, Access]]:
        """The accesses of a value by ops, other than yields."""
        return [(op, a) for op in self.of(handle) for a in own_accesses(op) if a.handle is handle]

    def escapes(self, handle: Value) -> bool:
        """Whether a block yields the array, or an op uses it as a whole."""
        return handle in self.handed or any(a.index is None and not borrows(op) for op, a in self.accesses(handle))

    def replace(self, op: Op, new: list[Op]) -> None:
        """Replace an op by others."""
        place = self.home.pop(op)
        ops = place[0].ops
        at = ops.index(op)
        ops[at : at + 1] = new
        for new_op in new:
            self.home[new_op] = place
            for operand in new_op.operands:
                if isinstance(operand, Value):
                    self.mentions.setdefault(operand, []).append(new_op)


__all__ = ["BORROWS", "Uses", "borrows"]
