"""SSA construction: replaces handles, which denote the current content, by a version for each store. Works in place.

A loop carries the handles stored to in it; a branch yields them.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, For, Func, If, Op, Operand, Value, While
from symgrad.loops.accesses import stored_to
from symgrad.ops.declare import ROWS

Current = dict[Value, Operand]  #: the version of each handle


def ssa(func: Func) -> Func:
    """Convert a function to SSA form, in place."""
    written: dict[Op, list[Value]] = {}
    note(func.body, written)
    rewrite(func.body, {}, written)
    return func


def note(block: Block, written: dict[Op, list[Value]]) -> list[Value]:
    """Record the outer handles that each loop and branch stores to; return those of the block."""
    inside: set[Value] = set(block.args)
    handles: dict[Value, None] = {}
    for op in block.ops:
        inside.update(op.outs)
        handle = stored_to(op)
        if handle is not None:
            assert isinstance(op, Call)
            if op.settings.get("begin"):
                inside.add(handle)
            handles[handle] = None
        if op.blocks:
            written[op] = list(dict.fromkeys(h for inner in op.blocks for h in note(inner, written)))
            handles.update(dict.fromkeys(written[op]))
    return [h for h in handles if h not in inside]


def rewrite(block: Block, current: Current, written: dict[Op, list[Value]]) -> None:
    """Rewrite a block and update ``current``."""

    def now(operand: Operand) -> Operand:
        return current.get(operand, operand) if isinstance(operand, Value) else operand

    ops: list[Op] = []
    for op in block.ops:
        old = list(op.operands)
        op.replace_operands([now(o) for o in op.operands])
        match op:
            case Call(name="let"):
                handle = old[0]
                assert isinstance(handle, Value)
                current[handle] = op.args[1]
                continue
            case Call():
                if (stored := stored_to_old(op, old)) is not None:
                    version = Value(stored.type, stored.name)
                    op.outs.insert(0, version)
                    current[stored] = version
            case For():
                carry(op, [op.body], current, written)
            case While():
                carry(op, [op.test, op.body], current, written)
            case If():
                branch(op, current, written)
        ops.append(op)
    block.ops = ops
    block.yields = [now(y) for y in block.yields]


def stored_to_old(op: Call, old: list[Operand]) -> Value | None:
    """The stored handle among the original operands."""
    return old[0] if ROWS[op.name].consumes and isinstance(old[0], Value) else None


def carry(op: For | While, blocks: list[Block], current: Current, written: dict[Op, list[Value]]) -> None:
    """Let a loop carry the handles that it stores to."""
    handles = written[op]
    count = len(op.inits)
    op.inits += [current.get(h, h) for h in handles]
    inner: list[Current] = []
    for block in blocks:
        arguments = [Value(h.type, h.name) for h in handles]
        block.args += arguments
        inside = {**current, **dict(zip(handles, arguments, strict=True))}
        rewrite(block, inside, written)
        inner.append(inside)
    body = blocks[-1]
    body.yields[count:count] = [inner[-1][h] for h in handles]
    versions_after = [Value(h.type, h.name) for h in handles]
    op.outs[count:count] = versions_after
    current.update(zip(handles, versions_after, strict=True))


def branch(op: If, current: Current, written: dict[Op, list[Value]]) -> None:
    """Let a branch yield the new versions of the handles that it stores to."""
    handles = written[op]
    for block in op.blocks:
        inside = dict(current)
        rewrite(block, inside, written)
        block.yields += [inside.get(h, h) for h in handles]
    versions = [Value(h.type, h.name) for h in handles]
    op.outs += versions
    current.update(zip(handles, versions, strict=True))
