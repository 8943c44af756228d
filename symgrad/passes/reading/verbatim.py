"""Emits the user's own text for the expressions that kept it; the ops lowered from it become dead. Works in place."""

from __future__ import annotations

from symgrad.ir.core import Call, Func, walk


def verbatim(func: Func) -> Func:
    """Make each ``as_written`` a ``written``: an op on the operands of the user's text instead of the value of the lowered ops."""
    for op in walk(func.body):
        if isinstance(op, Call) and op.name == "as_written":
            op.name, op.args = "written", op.args[1:]
            op.settings = {**op.settings, "type": op.outs[0].type}
    return func


__all__ = ["verbatim"]
