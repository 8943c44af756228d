"""Removes handlers around ops that may raise: the kernel is left where one raises. Works in place, before the walk.

    try: c = np.linalg.cholesky(a)
    except np.linalg.LinAlgError: c = ...     ->      c = np.linalg.cholesky(a)     # leaves the kernel where this raises

A kernel is left wherever NumPy code raises; that code then runs from the start, with its handlers. The op gets
a reader, so that it runs even if unread; a test of an op that no longer exists stays as it is.
"""

from __future__ import annotations

from symgrad.ir.core import FALSE, NONE, Block, Call, Const, Func, If, Operand, Value, substitute
from symgrad.ops.rows.exceptions import lambda_of
from symgrad.passes.simplification.dce import dce
from symgrad.passes.simplification.fold import fold

#: an op before the current place, with its block
Place = tuple[Call, Block]


def trying(func: Func) -> Func:
    """Assume that ops with handled exceptions do not raise, in place."""
    table: dict[Value, Operand] = {}
    visit(func.body, [], {}, table)
    substitute(func.body, table)
    return dce(fold(func)) if table else func


def visit(block: Block, before: list[Place], tests: dict[Operand, Call], table: dict[Value, Operand]) -> None:
    """Visit a block; ``before`` are the ops on the way to it, ``tests`` the failures tested there."""
    failures: dict[Operand, Call] = {}
    known = list(before)
    for op in list(block.ops):
        if isinstance(op, Call):
            known.append((op, block))
            if op.name == "failure":
                failures[op.outs[0]] = op
            elif op.name == "is_failure" and op.args[0] in failures:
                tests = {**tests, op.outs[0]: failures[op.args[0]]}
        elif isinstance(op, If) and (failure := tests.get(op.test)) is not None:
            inside = [(inner, op.orelse) for inner in op.orelse.ops if isinstance(inner, Call)]
            place = next((place for place in (*inside, *reversed(known)) if is_of(place[0], failure)), None)
            if place is not None and isinstance(op.test, Value):
                read(*place)
                table |= {op.test: FALSE, failure.outs[0]: NONE}
        for inner_block in op.blocks:
            visit(inner_block, known, tests, table)


def is_of(op: Call, failure: Call) -> bool:
    """Whether the op is the op whose exception ``failure`` reports."""
    if not op.outs or len(op.args) != len(failure.args) or not all(map(are_one, op.args, failure.args)):
        return False
    return bool(lambda_of(op.name, op.settings, [a.type for a in op.args]) == failure.settings["run"])


def are_one(one: Operand, other: Operand) -> bool:
    """Whether two operands are the same value, or the same number."""
    if isinstance(one, Const) and isinstance(other, Const):
        return one.type == other.type and bool(one.value == other.value)
    return one is other


def read(op: Call, block: Block) -> None:
    """Insert a reader behind an op."""
    block.ops.insert(block.ops.index(op) + 1, Call([], op.loc, "evaluated", [op.outs[0]], {}))


__all__ = ["trying"]
