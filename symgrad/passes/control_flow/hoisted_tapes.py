"""Hoisted allocation of tapes: a tape that each iteration fills and empties is created once, before the loop. Works in place.

for i in range(n): t = tape(); ...     ->     t = tape(); for i in range(n): ...

For code that is run, not printed. An iteration that begins with an empty tape pops no more than it has pushed,
and reads no slot that it has not written.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, For, Func, Op, Operand, Value, While, inner_first, walk
from symgrad.ir.types import Tape
from symgrad.notes import Notes
from symgrad.passes.facts import halves_kept
from symgrad.passes.simplification.remarks import tell

MAKING = frozenset({"tape", "slots"})
MOVING = frozenset({"push", "pop", "put"})  #: rows that return their operand tape


def hoisted_tapes(func: Func) -> Func:
    """Create tapes outside of loops, in place."""
    if any(isinstance(op, Call) and op.name in MAKING for op in walk(func.body)):
        with halves_kept(func):
            for block in inner_first(func.body):
                hoist(block, func.notes)
    return func


def hoist(block: Block, notes: Notes | None) -> None:
    """Rewrite the loops of a block."""
    done: list[Op] = []
    for op in block.ops:
        if isinstance(op, For | While):
            moved = taken_out(op)
            done += moved
            if moved:
                tell(notes, op, "the tapes of its iterations are created once and reused", moved[0].outs[0])
        done.append(op)
    block.ops = done


def taken_out(loop: For | While) -> list[Op]:
    """Hoist the ops that create the tapes of a loop's iterations; the loop then carries the tapes."""
    makers = [op for op in loop.body.ops if isinstance(op, Call) and op.name in MAKING]
    if not makers:
        return []
    readers: dict[Value, list[Op | None]] = {}
    inside: set[Value] = set(loop.body.args)
    for op in walk(loop.body):
        for value in op.operands:
            note(readers, value, op)
        for block in op.blocks:
            inside.update(block.args)
            for value in block.yields:
                note(readers, value, None)
        inside.update(op.outs)
    for value in loop.body.yields:
        note(readers, value, None)
    moved: list[Op] = []
    for op in makers:
        end = None if any(o in inside for o in op.operands) else end_of(op.outs[0], loop.body, readers)
        if end is not None:
            carry(loop, op, end)
            moved.append(op)
    loop.body.ops = [op for op in loop.body.ops if op not in moved]
    return moved


def note(readers: dict[Value, list[Op | None]], value: Operand, reader: Op | None) -> None:
    if isinstance(value, Value) and isinstance(value.type, Tape):
        readers.setdefault(value, []).append(reader)


def end_of(tape: Value, body: Block, readers: dict[Value, list[Op | None]]) -> Value | None:
    """The tape at the end of an iteration, if the body's ops pass it on in a chain and it has no other uses."""
    while uses := readers.get(tape):
        if all(isinstance(op, Call) and op.name == "get" for op in uses):
            return tape
        op = uses[0]
        if len(uses) > 1 or op not in body.ops:
            return None
        match op:
            case Call() if op.name in MOVING and op.args[0] is tape:
                tape = op.outs[0]
            case For() | While() if tape in op.inits:
                tape = op.outs[op.inits.index(tape)]
            case _:
                return None
    return tape


def carry(loop: For | While, op: Call, end: Value) -> None:
    """Let a loop carry the tape that an op creates."""
    (start,) = op.outs
    op.outs = [Value(start.type, start.name)]
    start.type = end.type  # the pushes decide its item types
    count = len(loop.inits)
    loop.inits.append(op.outs[0])
    loop.body.args.append(start)
    if isinstance(loop, While):
        loop.test.args.append(Value(end.type, start.name))
    loop.outs.insert(count, Value(end.type, end.name))
    loop.body.yields.insert(len(loop.body.yields) - loop.until, end)


__all__ = ["hoisted_tapes"]
