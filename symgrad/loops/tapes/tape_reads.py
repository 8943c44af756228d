"""Reads the restored content of a whole array from the tape instead of the array. Works in place, before the walk.

    for i, last first: old = get(tape, i); x.2 = set_at(x.1, old); y = sin(x.2)     ->     ...; y = sin(old)

A store that becomes unread is removed, and the array too if the loop carries it for nothing else.
"""

from __future__ import annotations

from symgrad.ir.core import Call, Const, For, Func, Op, Value, walk
from symgrad.ir.types import Array, same_shape
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import Facts
from symgrad.passes.simplification.dce import dce


def tape_reads(func: Func) -> Func:
    """Read the values from tapes instead of restored arrays, in place."""
    loops = [op for op in walk(func.body) if isinstance(op, For)]
    if not any(is_whole_store(op) for op in walk(func.body)):
        return func
    facts = Facts(func)
    for loop in loops:
        for op in [op for op in loop.body.ops if is_whole_store(op)]:
            assert isinstance(op, Call)
            old = op.args[1]
            maker = facts.maker.get(old) if isinstance(old, Value) else None
            if isinstance(maker, Call) and maker.name == "get" and isinstance(old, Value) and not facts.is_stored(old):
                read_instead(loop, op, old)
    return dce(func)


def is_whole_store(op: Op) -> bool:
    """Whether the op overwrites a whole array by one of the same type."""
    if not isinstance(op, Call) or op.name != "set_at" or not set(op.settings["index"]) <= {"e", "s"}:
        return False
    array, value = op.args[0].type, op.args[1].type
    if not isinstance(array, Array) or not isinstance(value, Array) or array.dtype != value.dtype:
        return False
    return same_shape(array.shape, value.shape) and all(isinstance(o, Const) and o.value is None for o in op.args[2:])


def read_instead(loop: For, store: Call, old: Value) -> None:
    """Let the ops of a loop, except further stores to the array, read the stored value."""
    (array,) = store.outs
    for op in walk(loop.body):
        if array in op.operands and not op.blocks:
            stores = isinstance(op, Call) and ROWS[op.name].consumes
            op.replace_operands([old if o is array and not (stores and k == 0) else o for k, o in enumerate(op.operands)])


__all__ = ["tape_reads"]
