"""Remarks of the passes before emission: how the emitted code differs from the source, and what prevented a rewrite."""

from __future__ import annotations

from symgrad.ir.core import Call, Op, Value
from symgrad.notes import Notes


def tell(notes: Notes | None, op: Op, message: str, about: Value | None = None, kind: str = "lowered") -> None:
    """Emit a remark on an op, about a value: by default its result, else its first operand."""
    if notes is None or not op.loc.line:
        return
    values = [about] if about is not None else [*op.outs[:1], *(a for a in op.operands[:1] if isinstance(a, Value))]
    name = next((v.name for v in values if v.name is not None), op.name if isinstance(op, Call) else None)
    notes.add("lowering", kind, op.loc, message, name=name)


def named(value: object, otherwise: str = "it") -> str:
    """A user's name for a value, else ``otherwise``."""
    return value.name if isinstance(value, Value) and value.name is not None else otherwise


__all__ = ["named", "tell"]
