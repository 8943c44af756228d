"""Dead-code elimination in the backward half: ops, branch results and loop-carried values that no gradient needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from symgrad.adjoint.cleared import cleared
from symgrad.ir.core import Block, Call, For, If, Op, Operand, Value, While, substitute
from symgrad.ops.declare import ROWS


def prune(block: Block, indices: Mapping[For, Value] | None = None) -> None:
    """Remove, in place, all ops that the block's yields and effects do not need.

    ``indices``: for reversed loops, the primal loop's index, which identifies its values before they are made
    available.
    """
    forward_invariants(block)
    drop_unneeded(block)
    if cleared(block, indices or {}):
        forward_invariants(block)
        drop_unneeded(block)


def drop_unneeded(block: Block) -> None:
    """Remove ops that neither the block's yields nor effects need."""
    needs = Needs()
    needs.index(block)
    needs.want(block.yields)
    needs.close()
    sweep(block, needs.marked)


def forward_invariants(block: Block) -> None:
    """Replace a slot that every iteration yields unchanged by its initial value, and a result that both sides yield by that value."""
    table: dict[Value, Operand] = {}
    drop_invariants(block, table)
    substitute(block, table)


def drop_invariants(block: Block, table: dict[Value, Operand]) -> None:
    """Drop these slots, inner loops first; ``table`` collects their replacements."""
    for op in block.ops:
        for inner in op.blocks:
            drop_invariants(inner, table)
        if isinstance(op, For):
            for k in reversed(range(len(op.inits))):
                if stands_for(op.body.yields[k], table) is op.carried[k]:
                    table[op.carried[k]] = table[op.outs[k]] = start = op.inits[k]
                    if isinstance(start, Value) and start.name in (None, "t_grad"):  # it has a better name now
                        start.name = op.carried[k].name
                    drop_slot(op, k)
        elif isinstance(op, If):
            for k in reversed(range(len(op.outs))):
                handed_on, other = (stands_for(side.yields[k], table) for side in op.blocks)
                if handed_on is other and isinstance(other, Value):  # it is defined before the branch
                    table[op.outs[k]] = other
                    del op.outs[k], op.then.yields[k], op.orelse.yields[k]


def stands_for(operand: Operand, table: dict[Value, Operand]) -> Operand:
    """The final replacement of an operand."""
    while isinstance(operand, Value) and operand in table:
        operand = table[operand]
    return operand


def drop_slot(op: For, k: int) -> None:
    """Remove one loop-carried value."""
    del op.inits[k], op.outs[k], op.body.args[k + 1], op.body.yields[k]


@dataclass(slots=True)
class Needs:
    """Marks values backwards from the roots; ``sources`` lists the operands that a value is computed from."""

    sources: dict[Value, Callable[[], list[Operand]]] = field(default_factory=dict)
    marked: set[Value] = field(default_factory=set)
    todo: list[Operand] = field(default_factory=list)

    def want(self, operands: list[Operand]) -> None:
        self.todo += operands

    def close(self) -> None:
        """Mark everything that is needed."""
        while self.todo:
            value = self.todo.pop()
            if isinstance(value, Value) and value not in self.marked:
                self.marked.add(value)
                if value in self.sources:
                    self.todo += self.sources[value]()

    def index(self, block: Block, control: tuple[Operand, ...] = ()) -> None:
        """Record the ops of a block; ``control`` are the operands that decide whether the block runs."""
        for op in block.ops:
            match op:
                case For():
                    here = (op.start, op.stop, op.step)
                    for k, slot in enumerate(op.carried):
                        self.loop_slot(op, k, slot, here)
                    self.index(op.body, (*control, *here))
                case If():
                    for k, out in enumerate(op.outs):
                        self.sources[out] = lambda op=op, k=k: [op.test, op.then.yields[k], op.orelse.yields[k]]  # type: ignore[misc]
                    for inner in op.blocks:
                        self.index(inner, (*control, op.test))
                case While():
                    raise AssertionError("the backward half has no while")
                case _:
                    for out in op.outs:
                        self.sources[out] = lambda op=op: op.operands  # type: ignore[misc]
                    if isinstance(op, Call) and ROWS[op.name].effect:
                        self.want([*op.operands, *op.outs, *control])

    def loop_slot(self, op: For, k: int, slot: Value, header: tuple[Operand, ...]) -> None:
        """Record the sources of a loop-carried value: its initial value and the previous iteration."""
        self.sources[slot] = lambda: [op.inits[k], op.body.yields[k], *header]
        self.sources[op.outs[k]] = self.sources[slot]


def sweep(block: Block, marked: set[Value]) -> None:
    """Remove all that is not marked."""
    kept: list[Op] = []
    for op in block.ops:
        for inner in op.blocks:
            sweep(inner, marked)
        match op:
            case For():
                for k in reversed(range(len(op.inits))):
                    if op.carried[k] not in marked and op.outs[k] not in marked:
                        drop_slot(op, k)
                live = bool(op.body.ops or op.outs)
            case If():
                for k in reversed(range(len(op.outs))):
                    if op.outs[k] not in marked:
                        del op.outs[k], op.then.yields[k], op.orelse.yields[k]
                live = bool(op.outs or op.then.ops or op.orelse.ops)
            case _:
                live = any(out in marked for out in op.outs) or isinstance(op, Call) and ROWS[op.name].effect
        if live:
            kept.append(op)
    block.ops = kept
