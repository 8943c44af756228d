"""Ops that are the same in every run of a block: code motion moves them out of loops, and of what is computed for each seed."""

from __future__ import annotations

from collections.abc import Callable

from symgrad.ir.core import Block, Call, Value


def invariant_ops(block: Block, varying: set[Value], may_move: Callable[[Call], bool]) -> dict[Value, Call]:
    """Return the ops of a block that ``may_move`` accepts and that read nothing that varies, by their results.

    ``varying`` holds the values from elsewhere that differ from run to run. Afterwards it also holds the results of the other ops.
    """
    varying.update(out for op in block.ops for out in op.outs)
    invariant: dict[Value, Call] = {}
    for op in block.ops:
        if isinstance(op, Call) and may_move(op) and varying.isdisjoint(op.operands):
            varying.difference_update(op.outs)
            invariant |= dict.fromkeys(op.outs, op)
    return invariant
