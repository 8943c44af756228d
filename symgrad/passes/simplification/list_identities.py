"""table: identities of operations on lists, for ``fold``: see ``identities``."""

from __future__ import annotations

from collections.abc import Callable

from symgrad.ir.core import Call, Const, Operand, Value, same_operand
from symgrad.ir.types import Array, List, Scalar
from symgrad.ops.declare import ROWS
from symgrad.passes.facts import BORROWED, Facts, call

Rewrite = Callable[[Call, Facts], "Operand | Call | None"]


def item_of_row(op: Call, facts: Facts) -> Call | None:
    """An item of an inner list that was just read is read from the list of lists directly."""
    row = facts.calls(op.args[0], "list_take")
    if row is None or row.outs[0].name is not None or not isinstance(op.outs[0].type, Scalar):
        return None
    table = row.args[0].type
    if not isinstance(table, List) or not isinstance(table.item, List) or not facts.is_steady(row):
        return None
    return call("table_take", op, [*row.args, op.args[1]])


def whole_slice(op: Call, facts: Facts) -> Operand | None:
    """``l[:]`` is ``l``, where nobody writes to either, or ``l`` is new and not read again: ``fold`` decides this."""
    return op.args[0] if all(isinstance(a, Const) and a.value is None for a in op.args[1:]) else None


def item_of_array(op: Call, facts: Facts) -> Call | None:
    """An item of ``list(x)`` in the backward half is ``x[k]``: there every index is in range."""
    whole = facts.calls(op.args[0], "list_from")
    if whole is None or not op.loc.backward or not isinstance(op.args[1], Const) or not facts.is_steady(whole):
        return None
    array = whole.args[0].type
    if not isinstance(array, Array) or array.rank != 1 or whole.settings["depth"] != 1 or whole.settings["python"]:
        return None
    return call("take", op, [whole.args[0], op.args[1]], index="i")


def list_added_to_zero(op: Call, facts: Facts) -> Call | None:
    """``l[i] = zeros; l[i] += g`` is ``l[i] = g``, for a list ``g`` without other references."""
    zero = facts.calls(op.args[0], "list_set")
    if zero is None or not isinstance(op.args[2].type, List) or not same_operand(zero.args[1], op.args[1]):
        return None
    if facts.calls(zero.args[2], "zeros_like") is None or facts.count.get(zero.outs[0], 0) != 1 or not is_new(op.args[2], facts):
        return None
    if facts.home.get(zero.outs[0]) is not facts.home.get(op.outs[0]):
        return None
    return call("list_set", op, [zero.args[0], *op.args[1:]])


def is_new(operand: Operand, facts: Facts) -> bool:
    """Whether the operand is a list created here, with a single use."""
    if not isinstance(operand, Value) or facts.count.get(operand, 0) != 1:
        return False
    maker = facts.maker.get(operand)
    while isinstance(maker, Call) and ROWS[maker.name].consumes and isinstance(maker.args[0], Value):
        maker = facts.maker.get(maker.args[0])
    is_made = isinstance(maker, Call) and ROWS[maker.name].alias == "fresh" and maker.name not in BORROWED
    return is_made and isinstance(operand.type, List)


def whole_list_added_to_zero(op: Call, facts: Facts) -> Call | None:
    """``l = zeros; l[:] += g`` is a copy of ``g``."""
    bounds = [a.value if isinstance(a, Const) else a for a in op.args[1:4]]
    if facts.calls(op.args[0], "list_zeros") is None or bounds not in ([None, None, None], [None, None, 1]):
        return None
    return call("copy", op, [op.args[4]]) if op.args[0].type == op.args[4].type else None


OF_LISTS: dict[str, tuple[Rewrite, ...]] = {
    "list_slice": (whole_slice,),
    "list_take": (item_of_row, item_of_array),
    "list_add_at": (list_added_to_zero,),
    "list_add_slice": (whole_list_added_to_zero,),
}

__all__ = ["OF_LISTS", "Rewrite"]
