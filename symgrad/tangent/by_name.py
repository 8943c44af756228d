"""Lets tangents read the user's variable instead of the value that the user's text has computed for it, for readable text."""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Op, Operand, Value, walk
from symgrad.ops.declare import ROWS


def read_by_name(block: Block, own: set[Op]) -> None:
    """Move each user text up to the value that it computes, and let tangents read its variable; ``own`` are the program's ops."""
    named: dict[Operand, Operand] = {}
    gather(block, named)
    if not named:
        return
    for op in walk(block):
        if op not in own:
            op.replace_operands([named.get(operand, operand) for operand in op.operands])


def gather(block: Block, named: dict[Operand, Operand]) -> None:
    """Move the texts of a block, and record the user variable that holds each value."""
    places: dict[Value, int] = {}
    ops: list[Op] = []
    barrier = 0  #: the first index to which a text may be moved: behind stores and side effects
    for op in block.ops:
        for inner in op.blocks:
            gather(inner, named)
        value = op.args[0] if isinstance(op, Call) and op.name == "as_written" else None
        if isinstance(value, Value) and value.name is None and op.outs[0].name is not None and value in places:
            first = max([barrier, *(places[o] + 1 for o in op.operands if isinstance(o, Value) and o in places)])
            if first == max(places[value] + 1, barrier) and places[value] >= barrier - 1:
                ops.insert(first, op)
                places |= {out: k for k, each in enumerate(ops[first:], first) for out in each.outs}
                named[value] = op.outs[0]
                continue
        places |= dict.fromkeys(op.outs, len(ops))
        ops.append(op)
        if op.blocks or not isinstance(op, Call) or ROWS[op.name].consumes or ROWS[op.name].effect:
            barrier = len(ops)
    block.ops = ops


__all__ = ["read_by_name"]
