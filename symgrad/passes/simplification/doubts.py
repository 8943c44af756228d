"""Emits remarks where types did not decide: ops that are present only because a fact could not be proved.

Changes nothing. ``DOUBTS`` lists the ops, the unproved facts, and what the user could change.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.ir.core import Call, Func, Operand, walk
from symgrad.ir.types import Array
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import has_arrays


@dataclass(frozen=True, slots=True)
class Doubt:
    """A fact that could not be proved, with its cost; the way out; and whether it is about an index."""

    message: str
    hint: str
    index: bool = False


DOUBTS: dict[str, Doubt] = {
    "unbroadcast": Doubt(
        "whether two operands have the same shape, so the sum over broadcast axes is decided at each call",
        "take both from arrays of the same shape, or index with np.newaxis for axes of length 1",
    ),
    "add_at": Doubt(
        "whether its entries repeat, so the gradient is added item by item", "index with slices or integers where that is possible", True
    ),
    "add_written": Doubt(
        "whether its entries repeat, so the last store is searched for", "store with slices or integers where that is possible", True
    ),
    "by_rows": Doubt("whether the array is C-contiguous, so it may be copied", "pass np.ascontiguousarray(x)"),
    "opaque": Doubt(
        "anything about this call, so it stays where it is and runs once",
        "write it with known functions, or declare it: symgrad.constant, symgrad.rule",
    ),
}
DOUBTS["take_written"] = DOUBTS["add_written"]


def doubts(func: Func) -> Func:
    """Emit remarks on facts that could not be proved."""
    if func.notes is None:
        return func
    owners: dict[Operand, Operand] = {}
    for op in walk(func.body):
        if isinstance(op, Call) and op.name == "opaque_attribute":
            owners[op.outs[0]] = op.args[0]
        if isinstance(op, Call) and op.name in DOUBTS:
            doubt = DOUBTS[op.name]
            index = op.args[len(ROWS[op.name].params) - 1 :]
            if doubt.index and (op.settings.get("distinct") or not has_arrays(op.settings["index"], [a.type for a in index])):
                continue
            operands = [a for a in index if isinstance(a.type, Array)] if doubt.index else op.args
            name = next((a.name for a in (owners.get(o, o) for o in operands) if a.name is not None), None)
            func.notes.add("passes", "unproved", op.loc, doubt.message, name=name, hint=doubt.hint)
    return func


__all__ = ["DOUBTS", "doubts"]
