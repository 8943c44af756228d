"""Loop-invariant code motion of cheap ops. Works in place.

A loop may run zero times, so only ops that cannot raise are moved: shapes, extents, comparisons, sums and
products of scalars. None of them may read a possibly unbound name.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Const, For, Func, Op, Value, While
from symgrad.ir.types import Array, Scalar
from symgrad.ir.unbound import Unbound
from symgrad.notes import Notes
from symgrad.ops.declare import ROWS

ARITHMETIC = frozenset(
    {
        "add",
        "subtract",
        "multiply",
        "negative",
        "less",
        "less_equal",
        "greater",
        "greater_equal",
        "equal",
        "not_equal",
        "not_",
        "both",
        "either",
    }
)


def hoist(func: Func) -> Func:
    """Move loop-invariant ops outwards, in place."""
    count = _hoisted(func.body, func.notes, set(Unbound.of(func.body).sides), func.split)
    if func.split is not None:
        func.split += count
    return func


def _hoisted(block: Block, notes: Notes | None, doubtful: set[Value], split: int | None = None) -> int:
    """Move ops out of the loops of a block; return how many were inserted before index ``split``."""
    ops: list[Op] = []
    before = 0
    for k, op in enumerate(block.ops):
        for inner in op.blocks:
            _hoisted(inner, notes, doubtful)
        if isinstance(op, For | While):
            moved = _leave(op, notes, doubtful)
            ops += moved
            before += len(moved) if split is not None and k < split else 0
        ops.append(op)
    block.ops = ops
    return before


def _leave(loop: For | While, notes: Notes | None, doubtful: set[Value]) -> list[Op]:
    """The ops that leave a loop, in order."""
    moved: list[Op] = []
    inside = set(doubtful)
    for block in loop.blocks:
        inside.update(block.args)
        for op in block.ops:
            inside.update(op.outs)
    _shapes(loop, inside, moved)
    for block in loop.blocks:
        kept: list[Op] = []
        for op in block.ops:
            if isinstance(op, Call) and cannot_raise(op) and not any(a in inside for a in op.args if isinstance(a, Value)):
                inside.difference_update(op.outs)
                moved.append(op)
                if notes is not None:
                    notes.add("passes", "moved", op.loc, f"computed once, before the loop of line {loop.loc.line}", name=called(op))
            else:
                kept.append(op)
        block.ops = kept
    return moved


def called(op: Call) -> str:
    """The user's name for an op's result, else the row's name."""
    return op.outs[0].name or op.name


def _shapes(loop: For | While, inside: set[Value], moved: list[Op]) -> None:
    """Hoist the shape of a part of an array that the loop changes in place; it is loop-invariant."""
    pairs = zip(loop.inits, loop.carried, strict=True)
    slots = {c: i for i, c in pairs if isinstance(i, Value) and isinstance(i.type, Array) and isinstance(c.type, Array)
             and i.type.rank is not None and i.type.rank == c.type.rank}  # fmt: skip
    base: dict[Value, Value] = {carried: carried for carried in slots}
    parts: dict[Value, Call] = {}
    for op in loop.body.ops:
        if not isinstance(op, Call):
            continue
        first = op.args[0] if op.args else None
        if isinstance(first, Value) and first in base and ROWS[op.name].consumes and len(op.outs) == 1:
            base[op.outs[0]] = base[first]
        elif isinstance(first, Value) and first in base and op.name in ("view", "take"):
            parts[op.outs[0]] = op
    steady = {c for c, y in zip(loop.carried, loop.body.yields, strict=False) if isinstance(y, Value) and base.get(y) is c}
    for op in loop.body.ops:
        part = parts.get(op.args[0]) if isinstance(op, Call) and op.name == "shape_of" and isinstance(op.args[0], Value) else None
        if part is None or base[part.args[0]] not in steady or not set(part.settings["index"]) <= set("sne;"):  # type: ignore[index]
            continue
        if any(isinstance(a, Value) and a in inside for a in part.args[1:]):
            continue
        view = Value(part.outs[0].type)
        moved.append(Call([view], part.loc, "view", [slots[base[part.args[0]]], *part.args[1:]], dict(part.settings)))  # type: ignore[index]
        assert isinstance(op, Call)
        op.args[0] = view


def cannot_raise(op: Call) -> bool:
    """Whether the op is cheap, without side effect, and surely succeeds."""
    types = [a.type for a in op.args]
    if op.name == "shape_of":
        return isinstance(types[0], Array) and types[0].shape is not None  # else it may be a Python number
    if op.name == "extent":
        shape = types[0].shape if isinstance(types[0], Array) else None
        return shape is not None and -len(shape) <= op.settings["axis"] < len(shape)
    if op.settings.get("via") is not None or not all(isinstance(t, Scalar) for t in types):
        return False
    return op.name in ARITHMETIC or op.name == "divide" and is_safe_division(op)


def is_safe_division(op: Call) -> bool:
    """Whether the op divides a float by a nonzero literal."""
    above, below = op.args
    return (
        getattr(above.type, "kind", None) == "float" and isinstance(below, Const) and type(below.value) in (int, float) and below.value != 0
    )


__all__ = ["cannot_raise", "hoist"]
