"""Slot tapes to stack tapes: saved files then use lists that grow and shrink.

t = slots(n); put(t, i, h); h = get(t, i)  ->  t = tape(); push(t, h); h = pop(t)
"""

from __future__ import annotations

from dataclasses import replace

from symgrad.ir.core import Block, Call, For, Func, Op, Value, definitions, walk
from symgrad.ir.types import Tape, Type


def stack_tapes(func: Func) -> Func:
    """Turn the tapes of a function into stacks, in place, if each is read by one loop in reverse order."""
    calls = [op for op in walk(func.body) if isinstance(op, Call)]
    if any(op.name == "slots_like" or op.name == "put" and op.settings["add"] for op in calls):
        return func  # of a second derivative, or one that adds to a slot
    reads = [op.args[0] for op in walk(func.body) if isinstance(op, Call) and op.name == "get"]
    if len(set(reads)) == len(reads):
        block(func.body, None)
        for value in definitions(func.body):
            value.type = stacked(value.type)
    return func


def stacked(type_: Type) -> Type:
    """The type of the stack."""
    return replace(type_, items=tuple(map(stacked, type_.items)), indexed=False) if isinstance(type_, Tape) else type_


def block(inside: Block, loop: Op | None) -> None:
    """Rewrite the ops of a block; ``loop`` is the owner of the block."""
    for op in inside.ops:
        for inner in op.blocks:
            block(inner, op)
        match op:
            case Call(name="slots"):
                op.name, op.args = "tape", []
            case Call(name="put"):
                op.name, op.args, op.settings = "push", [op.args[0], *op.args[2:]], {}
            case Call(name="get"):
                assert isinstance(loop, For)
                pop(op, loop)


def pop(op: Call, loop: For) -> None:
    """Pop from the stack, which the loop carries."""
    tape = op.args[0]
    slot, rest, out = (Value(tape.type, getattr(tape, "name", None)) for _ in range(3))
    loop.inits.append(tape)
    loop.body.args.append(slot)
    loop.body.yields.insert(len(loop.body.yields) - loop.until, rest)
    loop.outs.insert(len(loop.outs) - loop.until, out)
    op.name, op.args, op.outs = "pop", [slot], [rest, *op.outs]


__all__ = ["stack_tapes"]
