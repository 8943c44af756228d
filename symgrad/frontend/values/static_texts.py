"""Methods of static texts with static arguments: evaluated at compile time."""

from __future__ import annotations

import types
from typing import Any

from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.state.bindings import Binding, Num, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const


def text_method(ctx: Lowering, value: Any, args: list[Binding], kwargs: dict[str, Binding]) -> Binding | None:
    """The result of a text's method; None if ``value`` is no such method, an operand is dynamic, or Python raises."""
    if not (isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, str)):
        return None
    positional, named = [known_value(a) for a in args], {k: known_value(a) for k, a in kwargs.items()}
    if not all([*positional, *named.values()]):
        return None
    try:
        result = value(*[k for (k,) in positional], **{name: k for name, (k,) in named.items()})
    except Exception:  # the call stays in the program and raises when it is reached
        return None
    return as_binding(ctx, result)


def as_binding(ctx: Lowering, value: Any) -> Binding | None:
    """A text, a number, or several texts."""
    if isinstance(value, str):
        return Static(value)
    if isinstance(value, bool | int):
        return Num(Const(value))
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        items = [Static(item) for item in value]
        return Tup(tuple(items)) if isinstance(value, tuple) else ctx.new_object("list", enumerate(items))
    return None
