"""Common-subexpression elimination across the two halves: the backward half reuses what the forward half has computed.

For example, the slope of ``cos(x)`` needs ``sin(x)``. Works in place, while the backward half still reads
primal values as if all were live. The plan then chooses how such a value is obtained, once for all its uses.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from symgrad.adjoint.accumulate import Scope
from symgrad.ir.core import Block, Call, Const, Operand, Value, substitute
from symgrad.ops.declare import ROWS

Known = dict[Hashable, Value]


def not_again(whole: Scope, scopes: Mapping[Block, Scope]) -> None:
    """Replace ops by values that the forward half computes, in this or an enclosing reversed block; ``whole``: the function's scope."""
    known: dict[Block, Known] = {}
    table: dict[Value, Operand] = {}
    for reverse, scope in scopes.items():
        kept = []
        for op in reverse.ops:
            primal = made_before(op, scope, known) if isinstance(op, Call) else None
            if primal is None:
                kept.append(op)
            else:
                assert isinstance(op, Call)
                table[op.outs[0]] = primal
        reverse.ops = kept
    substitute(whole.reverse, table)


def made_before(op: Call, scope: Scope | None, known: dict[Block, Known]) -> Value | None:
    """The primal value that the op would recompute."""
    key = key_of(op)
    while key is not None and scope is not None:
        if scope.block not in known:
            known[scope.block] = {k: o.outs[0] for o in reversed(scope.block.ops) if isinstance(o, Call) and (k := key_of(o)) is not None}
        candidate = known[scope.block].get(key)
        if candidate is not None and candidate.type == op.outs[0].type:
            return candidate
        scope = scope.parent
    return None


def key_of(op: Call) -> Hashable | None:
    """A key that is equal for ops that compute the same elements; None for ops as cheap to compute as to read."""
    row = ROWS[op.name]
    if not row.elementwise or row.cheap or row.consumes or row.effect or len(op.outs) != 1:
        return None
    operands = tuple(operand_key(a) for a in op.args)
    return (op.name, operands, tuple((name, repr(value)) for name, value in op.settings.items() if name != "via"))


def operand_key(operand: Operand) -> Hashable:
    return operand.key() if isinstance(operand, Const) else operand
