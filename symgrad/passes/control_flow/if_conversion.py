"""If-conversion of ``and`` and ``or`` whose second operand may always be evaluated. Works in place.

if a -> c: b = less(i, n); yield b          b = less(i, n)
else: yield a                        ->     c = both(a, b)

A condition that is an op can be recomputed in the backward half, hoisted out of loops, and compared with
others.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Call, Const, Func, If, Op, Operand, inner_first
from symgrad.ir.types import Scalar
from symgrad.notes import Notes
from symgrad.passes.control_flow.loop_invariants import cannot_raise
from symgrad.passes.facts import halves_kept, holds
from symgrad.passes.simplification.remarks import tell


def if_conversion(func: Func) -> Func:
    """Turn branches that only choose a bool into ops, in place."""
    if holds(func, If):
        with halves_kept(func):
            for block in inner_first(func.body):
                convert(block, func.notes)
    return func


def convert(block: Block, notes: Notes | None) -> None:
    """Rewrite the branches of a block."""
    done: list[Op] = []
    for op in block.ops:
        replacement = ops_of_condition(op) if isinstance(op, If) else None
        if replacement is not None:
            tell(notes, op, "both sides are computed, which costs less than choosing")
        done += [op] if replacement is None else replacement
    block.ops = done


def ops_of_condition(op: If) -> list[Op] | None:
    """The ops that compute a branch's result, if the branch is ``and`` or ``or``."""
    if len(op.outs) != 1 or not is_truth(op.test):
        return None
    for name, second, other, value in (("both", op.then, op.orelse, False), ("either", op.orelse, op.then, True)):
        first, last = other.yields[0], second.yields[0]
        known = first is op.test or isinstance(first, Const) and first.value is value and op.test.type.dtype is None  # type: ignore[attr-defined]
        if known and not other.ops and is_truth(last) and last.type == op.test.type and all(map(is_harmless, second.ops)):
            return [*second.ops, Call(op.outs, op.loc, name, [op.test, last], {})]
    return None


def is_truth(operand: Operand) -> bool:
    """Whether the operand is a bool, known to be Python's or NumPy's."""
    return isinstance(operand.type, Scalar) and operand.type.kind == "bool" and operand.type.dtype != "any"


def is_harmless(op: Op) -> bool:
    """Whether the op is cheap, and surely succeeds."""
    return isinstance(op, Call) and cannot_raise(op)


__all__ = ["if_conversion"]
