"""Reads integers of arrays as Python integers where they serve only as indices or loop bounds. Works in place.

for j in range(p[i], p[i + 1]):                 for j in range(p.item(i), p.item(i + 1)):
    s += v.item(j) * x.item(k[j])      ->           s += v.item(j) * x.item(k.item(j))

In loops only. Values computed from them may exceed NumPy's integers, so integers with other uses stay as they
are.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, For, Func, Op, Operand, Value, While, walk
from symgrad.ir.types import INT, Array, Scalar
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import holds
from symgrad.passes.simplification.remarks import tell

DTYPE = "i64"
#: the operand position of the first subscript, for rows without a path
BEGIN = {"item": 1, **{f"{kind}{rank}": begin for kind, begin in (("cell", 1), ("set_cell", 2), ("add_cell", 2)) for rank in (1, 2, 3)}}


def counters(func: Func) -> Func:
    """Read integers that serve as subscripts as Python integers, in place."""
    if not holds(func, For, While):
        return func
    kept = spoken_against(func)
    for op in in_loops(func.body, False):
        if is_integer(op) and op.outs[0] not in kept:
            tell(func.notes, op, "a Python int, since it is only an index or a number of iterations", op.args[0])  # type: ignore[arg-type]
            op.name, op.settings, op.outs[0].type = "item", dict(ROWS["item"].settings), INT
    return func


def in_loops(block: Block, looped: bool) -> list[Call]:
    """The calls inside loops, in order."""
    calls: list[Call] = []
    for op in block.ops:
        if looped and isinstance(op, Call):
            calls.append(op)
        for inner in op.blocks:
            calls += in_loops(inner, looped or isinstance(op, For | While))
    return calls


def is_integer(op: Call) -> bool:
    """Whether the op reads one integer of an array."""
    if op.name != "take" or not isinstance(op.args[0].type, Array) or not isinstance(op.args[0], Value):
        return False
    array = op.args[0].type
    cell = op.settings["index"] == "i" * (array.rank or 0) != ""
    return array.dtype == DTYPE and cell and all(isinstance(a.type, Scalar) and a.type.kind == "int" for a in op.args[1:])


def spoken_against(func: Func) -> set[Operand]:
    """Values with other uses than as subscripts or loop bounds."""
    operands: set[Operand] = set(func.body.yields)
    for op in walk(func.body):
        operands.update(more_than_places(op))
        for inner in op.blocks:
            operands.update(inner.yields)
    return operands


def more_than_places(op: Op) -> list[Operand]:
    """The operands of an op that are neither subscripts nor loop bounds."""
    match op:
        case Call():
            row = ROWS[op.name]
            path = "index" in row.settings and row.params[-1].startswith("*")
            return op.args[: len(row.params) - 1 if path else BEGIN.get(op.name)]
        case For():
            return op.inits
    return op.operands


__all__ = ["counters"]
