"""Reads a slice as a view where nobody writes to the array while the slice is read. Works in place.

``t = take(g, p)`` allocates, ``view(g, p)`` does not. A slice that is read often is copied still unless its last axis is whole
runs of memory, since a copy is read faster.
"""

from __future__ import annotations

from symgrad.ir.core import Apply, Block, Call, Const, Func, Op, Value
from symgrad.ir.types import Array
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import has_arrays
from symgrad.passes.facts import Facts, Node
from symgrad.passes.places import Places

OFTEN = 2


def borrow(func: Func) -> Func:
    """Turn reads of slices into views, in place."""
    _block(func.body, Facts(func), Places.of(func))
    return func


def _block(block: Block, facts: Facts, places: Places) -> None:
    for op in block.ops:
        for inner in op.blocks:
            _block(inner, facts, places)
        if (
            isinstance(op, Call)
            and op.name == "take"
            and isinstance(op.args[0], Value)
            and _is_slice(op)
            and _is_free(op, block, facts, places)
        ):
            op.name = "view"


def _is_slice(op: Call) -> bool:
    index, (x, *place), out = str(op.settings["index"]), op.args, op.outs[0].type
    if not isinstance(out, Array) or not out.rank or not isinstance(x, Value) or not isinstance(x.type, Array):
        return False
    return "." not in index and not has_arrays(index, [a.type for a in place])


def _is_free(op: Call, block: Block, facts: Facts, places: Places) -> bool:
    """Is the slice read for the last time before the array is changed or handed on?"""
    readers = places.readers.get(op.outs[0], [])
    runs = op.settings["index"].endswith("s") and isinstance(op.args[-1], Const) and op.args[-1].value is None
    if len(readers) > OFTEN and not runs:
        return False
    last = places.last(op.outs[0], block, unchanged=True)
    if last is None:
        return False
    cell = facts.find((op.args[0], False))  # type: ignore[arg-type]
    return not any(_changes(other, cell, facts) for other in block.ops[places.number[op] + 1 : last + 1])


def _changes(op: Op, cell: Node, facts: Facts) -> bool:
    """May the op, or one inside it, write to the memory?"""
    if isinstance(op, Apply):
        return True
    if isinstance(op, Call):
        row = ROWS[op.name]
        written = row.consumes and isinstance(op.args[0], Value) and facts.find((op.args[0], False)) == cell
        return row.effect or written
    return any(_changes(inner, cell, facts) for block in op.blocks for inner in block.ops)


__all__ = ["borrow"]
