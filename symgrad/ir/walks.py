"""Further walks over nested blocks: the values that are read, free values, and the removal of ops."""

from __future__ import annotations

from collections.abc import Container, Iterable

from symgrad.ir.core import Block, Op, Value, blocks_within, definitions, walk


def read_in(block: Block) -> list[Value]:
    """Every value that the block or one inside it reads: first by ops, then by yields, each in order."""
    operands = [operand for op in walk(block) for operand in op.operands]
    operands += [operand for inner in blocks_within(block) for operand in inner.yields]
    return [operand for operand in operands if isinstance(operand, Value)]


def free_values(block: Block, params: Iterable[Value] = ()) -> list[Value]:
    """The values that the block reads and does not define, in the order of ``read_in``; ``params`` count as defined."""
    own = {*definitions(block), *params}
    return [value for value in dict.fromkeys(read_in(block)) if value not in own]


def remove_ops(block: Block, ops: Container[Op]) -> None:
    """Remove ops from the block and the blocks inside it, in place."""
    for inner in [*blocks_within(block)]:
        inner.ops = [op for op in inner.ops if op not in ops]


__all__ = ["free_values", "read_in", "remove_ops"]
