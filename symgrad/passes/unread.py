"""Drops operands that an op's emitted text does not mention; values computed only for them become dead.

``matmul_left(g, b, shape)`` prints as ``g @ b.T`` where the ranks are known, so nothing reads the shape. The
solution of an equation comes from the solver and does not read the equation. For emission, not for
differentiation. Works in place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from symgrad.ir.core import Call, Const, Func, Operand, Value, substitute, walk
from symgrad.ir.types import UNKNOWN, Type
from symgrad.ops.declare import ROWS, Row
from symgrad.ops.implicit import SOLUTIONS


def unread(func: Func) -> Func:
    """Replace operands that no text mentions by holes, in place."""
    solutions: dict[Value, Operand] = {}
    for op in walk(func.body):
        if isinstance(op, Call) and op.name in SOLUTIONS:
            solutions[op.outs[0]] = value = op.args[0]
            if isinstance(value, Value):
                value.name = op.outs[0].name or value.name
    substitute(func.body, solutions)
    for op in walk(func.body):
        if isinstance(op, Call):
            row = ROWS[op.name]
            if not (row.statement or row.consumes or row.effect or "index" in row.settings or "f" in row.params or row.by_name):
                drop(op, row)
    return func


@dataclass(frozen=True, slots=True, eq=False)
class Hole(Const):
    """The placeholder of a dropped operand; its type still decides how the op is printed."""

    shown: Type = UNKNOWN

    @property
    def type(self) -> Type:
        return self.shown


def drop(op: Call, row: Row) -> None:
    """Replace the unmentioned operands of one op."""
    said = text(op, row, [a.type for a in op.args])
    for place, operand in enumerate(op.args):
        param = row.params[min(place, len(row.params) - 1)].lstrip("*")
        if isinstance(operand, Value) and not re.search(rf"\b{param}\b", said):
            op.args[place] = Hole(None, None, operand.type)


def text(op: Call, row: Row, types: list[Type]) -> str:
    """The text that computes an op."""
    if row.math is not None and op.settings.get("via") == "math":
        return row.math
    return row.emit if isinstance(row.emit, str) else row.emit(op.settings, types)
