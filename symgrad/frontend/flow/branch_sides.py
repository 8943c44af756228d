"""The sides of branches: blocks with the states at their ends, ops guarded by a test, and the values whose memory a block may write to."""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.frontend.flow.filling import blank
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import State
from symgrad.ir.core import TRUE, UNDEF, Block, Call, If, Operand, Value, walk
from symgrad.ops.declare import ROWS


@dataclass(slots=True)
class Side:
    """One path through a branch: its block and the state at its end."""

    block: Block
    state: State


def only_where(ctx: Lowering, block: Block, test: Operand) -> None:
    """Guard the ops of a block with a test; their results are unused where it is false."""
    own = {out for op in block.ops for out in op.outs}
    if not own or test == TRUE:
        return
    places = [k for k, operand in enumerate(block.yields) if operand in own]
    inner = Block([], block.ops, [block.yields[k] for k in places])
    outs = [Value(operand.type) for operand in inner.yields]
    block.ops = [If(outs, ctx.builder.loc, test, inner, Block([], [], [blank(UNDEF, out.type) for out in outs]))]
    for k, out in zip(places, outs, strict=True):
        block.yields[k] = out


#: ops without rows: packing and unpacking a structured value
OF_PARTS = frozenset({"struct_of", "part_of"})


def passed_on(block: Block) -> frozenset[Value]:
    """The values whose memory a block may write to: by a store, or through the result of a branch or a loop."""
    passed: set[Value] = set()
    for op in walk(block):
        if isinstance(op, Call):
            operands = op.args[:1] if op.name not in OF_PARTS and ROWS[op.name].consumes else []
        elif isinstance(op, If):
            operands = [y for b in op.blocks for y in b.yields]
        else:
            operands = list(op.operands)
        passed.update(operand for operand in operands if isinstance(operand, Value))
    return frozenset(passed)
