"""Copies of arrays on entry, which protect the caller's arrays from stores; and of lists read from a list of lists."""

from __future__ import annotations

from collections.abc import Container, Sequence

from symgrad.errors import UnsureAlias
from symgrad.ir.core import Block, Call, Func, Op, Operand, Value, operands_within, ops_within, substitute, walk
from symgrad.ir.types import Array, List, Scalar
from symgrad.location import Loc
from symgrad.ops.analysis.aliases import CONTAINERS, Groups, memory_groups
from symgrad.ops.declare import ROWS


def copy_written(func: Func, loc: Loc, copies: Container[Value] = ()) -> list[Value]:
    """Copy on entry every parameter whose memory the function may write to, except for ``copies``; return these parameters.

    Also copies each inner list that is read after a store to it in place.
    """
    copy_read(func)
    groups = memory_groups(func)
    written = {
        groups.find(op.args[0])
        for op in walk(func.body)
        if isinstance(op, Call) and ROWS[op.name].consumes and isinstance(op.args[0], Value)
    }
    stored = {
        groups.find(op.args[0])
        for op in walk(func.body)
        if isinstance(op, Call)
        and ROWS[op.name].consumes
        and isinstance(op.args[0], Value)
        and not isinstance(op.args[0].type, List | Scalar)
    }
    for param in func.params:
        if isinstance(param.type, List) and not isinstance(param.type.item, Scalar) and groups.find(param) in stored:
            raise UnsureAlias(f"an array in {param.name} is written to, and another item of it may be the same array", loc)
    written_params = [p for p in func.params if isinstance(p.type, Array | List) and groups.find(p) in written]
    for param in (p for p in written_params if p not in copies):
        copy = Value(param.type, param.name)
        substitute(func.body, {param: copy})
        func.body.ops.insert(0, Call([copy], loc, "copy", [param], dict(ROWS["copy"].settings)))
    return written_params


# ------------------------------------------------------------------ lists that were read from a list of lists


def copy_read(func: Func) -> None:
    """Copy, in place, each list that was read from a list of lists and is needed as it was before a store to it there.

    A store changes an inner list in place. A name is read again after it; the iterable of a loop is not.
    """
    stores = [op for op in walk(func.body) if changes_within(op)]
    if not stores:
        return
    groups = memory_groups(func)
    _Copying(groups, {groups.find(op.operands[0]) for op in stores if isinstance(op.operands[0], Value)}).block(func.body)


def changes_within(op: Op) -> bool:
    """Whether an op, or one inside it, changes an inner list in place."""
    return any(isinstance(inner, Call) and ROWS[inner.name].within for inner in ops_within(op))


class _Copying:
    """``changed``: the memory of lists of lists whose inner lists are changed in place."""

    def __init__(self, groups: Groups, changed: Container[Value]) -> None:
        self.groups = groups
        self.changed = changed

    def block(self, block: Block) -> None:
        ops: list[Op] = []
        for index, op in enumerate(block.ops):
            for inner in op.blocks:
                self.block(inner)
            ops.append(op)
            if isinstance(op, Call) and op.name == "list_take" and self.is_row(row := op.outs[0]):
                if row in block.yields or self.outlives(row, block.ops[index + 1 :]):
                    read = op.outs[0] = Value(row.type)
                    ops.append(Call([row], op.loc, "copy", [read], dict(ROWS["copy"].settings)))
        block.ops = ops

    def is_row(self, operand: Operand) -> bool:
        """Whether the operand is an inner list of such a list of lists."""
        return isinstance(operand, Value) and isinstance(operand.type, List) and self.groups.find(operand) in self.changed

    def outlives(self, row: Value, later: Sequence[Op]) -> bool:
        """Whether a later op of the block reads the list after it may have been changed, or passes it on."""
        readers = [k for k, op in enumerate(later) if row in operands_within(op)]
        if any(hands_on(later[k]) for k in readers):
            return True
        last = readers[-1] if readers else -1
        return any(changes_within(op) for op in later[: last + 1])


def hands_on(op: Op) -> bool:
    """Whether the result of an op may be a list that it reads, or hold one."""
    if not isinstance(op, Call):
        return not op.blocks
    may_hold = op.name in CONTAINERS or ROWS[op.name].alias != "fresh"
    return may_hold and any(isinstance(out.type, List) for out in op.outs)
