"""Methods of texts that are known, called with what is known: they are carried out while compiling."""

from __future__ import annotations

import types
from typing import Any

from symgrad.frontend.bindings import Binding, Num, Static, Tup
from symgrad.frontend.context import Lowering
from symgrad.frontend.operands import known_value
from symgrad.ir.core import Const


def text_method(ctx: Lowering, value: Any, args: list[Binding], kwargs: dict[str, Binding]) -> Binding | None:
    """What a method of a text gives; None where it is no such method, where an operand is not known, and where Python raises."""
    if not (isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, str)):
        return None
    given, named = [known_value(a) for a in args], {k: known_value(a) for k, a in kwargs.items()}
    if not all([*given, *named.values()]):
        return None
    try:
        made = value(*[k for (k,) in given], **{name: k for name, (k,) in named.items()})
    except Exception:  # the call stays, and raises when it is reached
        return None
    return as_binding(ctx, made)


def as_binding(ctx: Lowering, made: Any) -> Binding | None:
    """A text, a number, or several texts."""
    if isinstance(made, str):
        return Static(made)
    if isinstance(made, bool | int):
        return Num(Const(made))
    if isinstance(made, list | tuple) and all(isinstance(item, str) for item in made):
        items = [Static(item) for item in made]
        return Tup(tuple(items)) if isinstance(made, tuple) else ctx.new_object("list", enumerate(items))
    return None
