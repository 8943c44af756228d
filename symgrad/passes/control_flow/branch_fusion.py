"""Branch fusion: joins a branch with its reverse where the reverse directly follows it. Works in place.

if test: a = f(x)          ->     if test: a = f(x); g = h(a)
if test: g = h(a)
"""

from __future__ import annotations

from collections.abc import Container

from symgrad.ir.core import Block, Call, Func, If, Op, Operand, Value, ops_within, substitute, uses, walk
from symgrad.ir.unbound import is_undefined
from symgrad.notes import Notes
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import halves_kept, has_memory
from symgrad.passes.simplification.remarks import tell

NEAR = 20  #: the maximum number of ops that a branch is moved across


def branch_fusion(func: Func) -> Func:
    """Join branches with their reverses in the same block, in place."""
    if any(isinstance(op, If) and op.loc.backward for op in walk(func.body)):
        with halves_kept(func):
            visit(func.body, uses(func.body), func.notes)
    return func


def visit(block: Block, count: dict[Value, int], notes: Notes | None, late: Container[Op] = ()) -> None:
    """Join the branches of a block and of the blocks inside it; ``late`` ops belong to the backward half."""
    done: list[Op] = []
    tests: dict[Value, int] = {}  #: the index of the last branch on a test
    for op in block.ops:
        if isinstance(op, If) and isinstance(op.test, Value):
            place = tests.get(op.test)
            first = done[place] if place is not None else None
            if place is not None and isinstance(first, If) and may_join(first, op, done[place + 1 :], late):
                join(first, op, count)
                tell(notes, first, "its reverse is computed in the same branch", kind="moved")
                continue
            tests[op.test] = len(done)
        done.append(op)
    block.ops = done
    for op in done:
        for inner in op.blocks:
            visit(inner, count, notes, late)


def may_join(first: If, second: If, between: list[Op], late: Container[Op]) -> bool:
    """Whether the reverse of a branch may run before the ops between the two, and all its operands are defined by then."""
    if first.loc.backward or first in late or not (second.loc.backward or second in late) or len(between) > NEAR:
        return False
    read: set[Operand] = set()
    writes = False
    for op in ops_within(second):
        read.update(op.operands, *(block.yields for block in op.blocks))
        if isinstance(op, Call) and ROWS[op.name].effect:
            return False
        writes = writes or not isinstance(op, Call | If) or isinstance(op, Call) and ROWS[op.name].consumes
    for op in walk(Block([], between)):
        if read.intersection(op.outs) or writes and (op.loc.backward or second in late) and any(map(has_memory, op.operands)):
            return False
    absent = [(side, out) for k, out in enumerate(first.outs) for side, inner in enumerate(first.blocks) if is_undefined(inner.yields[k])]
    return not any(out in op.operands for side, out in absent for op in walk(second.blocks[side]))


def join(first: If, second: If, count: dict[Value, int]) -> None:
    """Append the second branch to the first; results that only the second read are removed."""
    own = uses(Block([], [second]))
    for side, other in zip(first.blocks, second.blocks, strict=True):
        table: dict[Value, Operand] = dict(zip(first.outs, side.yields, strict=True))
        substitute(other, table)
        side.ops += other.ops
        side.yields += other.yields
    first.outs += second.outs
    for k in reversed(range(len(first.outs))):
        if count.get(first.outs[k], 0) == own.get(first.outs[k], 0):
            for side in first.blocks:
                del side.yields[k]
            del first.outs[k]


__all__ = ["branch_fusion"]
