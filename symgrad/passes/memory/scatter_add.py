"""Flattened scatter-add: adds at repeated indices through one flat index, several times as fast in NumPy. Works in place.

    np.add.at(x, (i, j), v)      ->      scatter_add(x, (i, j), v)

Not for a vector with a vector of indices, where ``np.add.at`` is fast by itself. For emission, not for
differentiation.
"""

from __future__ import annotations

import symgrad.ops.rows.into  # noqa: F401  (it has the row)
from symgrad.ir.core import Call, Func, walk
from symgrad.ir.types import Array
from symgrad.ops.declare import ROWS
from symgrad.ops.indexing import has_arrays
from symgrad.passes.simplification.remarks import tell


def scatter_add(func: Func) -> Func:
    """Let rows and cells be added by flat index, in place."""
    for op in walk(func.body):
        if isinstance(op, Call) and op.name == "add_at" and not op.settings["distinct"]:
            place = op.args[2:]
            if not has_arrays(op.settings["index"], [a.type for a in place]):
                continue
            if by_number(op):
                op.name, op.settings = "scatter_add", {**ROWS["scatter_add"].settings, "index": op.settings["index"]}
                tell(func.notes, op, "elements are addressed by flat indices, which makes adding to them faster")
            else:
                tell(
                    func.notes,
                    op,
                    "added element by element, which is fast in NumPy for vectors only",
                )
    return func


def by_number(op: Call) -> bool:
    """Whether integer arrays index the first axes, other than a vector by one vector."""
    x, place = op.args[0].type, op.args[2:]
    if not isinstance(x, Array) or not x.rank or x.layout not in ("?", "C", "CF") or set(op.settings["index"]) != {"i"}:
        return False
    if not all(isinstance(a.type, Array) and a.type.kind == "int" and a.type.rank for a in place):
        return False
    return x.rank > 1 or any(a.type.rank != 1 for a in place if isinstance(a.type, Array))


__all__ = ["scatter_add"]
