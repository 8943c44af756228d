"""Copy elision: reads a slice as a view where nothing writes to the array while the slice is live. Works in place.

``t = take(g, p)`` allocates, ``view(g, p)`` does not. A slice that is read often is still copied unless its
last axis is contiguous in memory, because a copy is read faster.
"""

from __future__ import annotations

from symgrad.ir.core import Apply, Block, Call, Const, Func, Op, Value, ops_within
from symgrad.ir.types import Array
from symgrad.notes import Notes
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import has_arrays
from symgrad.passes.facts import Facts, Node, Places, holds
from symgrad.passes.simplification.remarks import named, tell

OFTEN = 2


def copy_elision(func: Func) -> Func:
    """Turn reads of slices into views, in place."""
    if holds(func, "take"):
        _block(func.body, Facts(func), Places.of(func), func.notes)
    return func


def _block(block: Block, facts: Facts, places: Places, notes: Notes | None) -> None:
    for op in block.ops:
        for inner in op.blocks:
            _block(inner, facts, places, notes)
        if isinstance(op, Call) and op.name == "take" and isinstance(op.args[0], Value) and _is_slice(op):
            reason = _needs_copy(op, block, facts, places)
            if not reason:
                op.name = "view"
                facts.join((op.outs[0], False), op.args[0], False)  # slices of this slice alias the array from now on
                tell(notes, op, f"a view of {named(op.args[0], 'the array it is read from')}, which is not written to while it is read")
            else:
                tell(notes, op, reason, kind="copied")


def _is_slice(op: Call) -> bool:
    index, (x, *place), out = str(op.settings["index"]), op.args, op.outs[0].type
    if not isinstance(out, Array) or not out.rank or not isinstance(x, Value) or not isinstance(x.type, Array):
        return False
    return "." not in index and not has_arrays(index, [a.type for a in place])


def _needs_copy(op: Call, block: Block, facts: Facts, places: Places) -> str:
    """Why a slice must be copied; empty if its last use precedes every write to the array and its escape."""
    readers = places.readers.get(op.outs[0], [])
    runs = op.settings["index"].endswith("s") and isinstance(op.args[-1], Const) and op.args[-1].value is None
    if len(readers) > OFTEN and not runs:
        return "it is read more than twice, and a copy is read faster"
    last = places.last(op.outs[0], block, unchanged=True)
    if last is None:
        return "it is written to or passed on"
    cell = facts.find((op.args[0], False))  # type: ignore[arg-type]
    if any(_changes(other, cell, facts) for other in block.ops[places.number[op] + 1 : last + 1]):
        return f"{named(op.args[0], 'the array it is read from')} is written to before it is read for the last time"
    return ""


def _changes(op: Op, cell: Node, facts: Facts) -> bool:
    """Whether the op, or one inside it, may write to the memory."""
    for inner in ops_within(op):
        row = ROWS[inner.name] if isinstance(inner, Call) else None
        first = inner.operands[0] if row is not None and row.consumes else None
        written = isinstance(first, Value) and facts.find((first, False)) == cell
        if isinstance(inner, Apply) or row is not None and row.effect or written:
            return True
    return False


__all__ = ["copy_elision"]
