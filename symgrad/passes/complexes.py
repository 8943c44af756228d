"""Identities of complex numbers, which ``fold`` applies: op -> an equivalent operand or op, or None."""

from __future__ import annotations

from typing import Any

from symgrad.ir.core import Call, Const, Operand
from symgrad.ir.types import Array, is_complex
from symgrad.passes.facts import Facts
from symgrad.passes.identities import OF_COMPLEX as ALIKE
from symgrad.passes.identities import Rewrite, call, equal_shape, is_number, plain_spread


def spread_one(op: Call, facts: Facts) -> Operand | None:
    """``spread(1.0, shape) * z`` is ``z``, a complex array of that shape; only cotangents and tangents are spread."""
    for spread, other in (op.args, op.args[::-1]):
        source = plain_spread(spread, facts)
        is_one = isinstance(source, Const) and type(source.value) in (int, float, complex) and source.value == 1
        if is_one and is_complex(other.type) and isinstance(out := op.outs[0].type, Array) and isinstance(other.type, Array):
            if other.type.dtype == out.dtype and equal_shape(other.type.shape, out.shape):
                return other
    return None


def squared_modulus(op: Call, facts: Facts) -> Call | None:
    """``abs(z) ** 2`` of complex numbers as one op, which has a derivative at 0 too."""
    maker = facts.calls(op.args[0], "modulus")
    is_square = {"power": lambda: is_number(op.args[1], 2.0), "multiply": lambda: op.args[0] is op.args[1]}.get(op.name, lambda: True)()
    if maker is None or not is_square or op.settings.get("via") == "math" or not facts.is_steady(maker):
        return None
    return call("squared_modulus", op, [maker.args[0]], via=maker.settings["via"])


#: rewrites tried before a spread operand is replaced by its source
FIRST: dict[str, tuple[Rewrite, ...]] = {
    "multiply": (spread_one, squared_modulus), **dict.fromkeys(("power", "square"), (squared_modulus,)),
}  # fmt: skip
#: all identities that hold for complex operands
OF_COMPLEX: frozenset[Any] = ALIKE | {spread_one}

__all__ = ["FIRST", "OF_COMPLEX"]
