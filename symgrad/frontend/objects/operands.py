"""Bindings as the operands of rows and displays: values of the IR, and static Python data."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.objects.derived import OF_ARRAYS, as_base, is_derived
from symgrad.frontend.state.bindings import (
    Binding,
    Num,
    Obj,
    Ref,
    Static,
    Tup,
    element_of,
    is_range,
    is_taken_whole,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.pinning import NotLiteral, pinned
from symgrad.frontend.state.program_state import held_items, is_long
from symgrad.ir.core import ZERO, Const, Operand
from symgrad.ir.types import Array, List, Scalar, is_complex
from symgrad.ops import spelling


def unwrap(value: Any) -> Any:
    """The Python data of a static binding, for settings of rows."""
    match value:
        case Num(Const(data)) | Static(data):
            return data
        case Tup(items):
            return tuple(unwrap(i) for i in items)
    try:
        return spelling.plain(value)
    except ValueError:
        raise NotLiteral(value) from None


def static_binding(value: Any) -> Binding:
    """The binding of a static value; a tuple by its items."""
    if type(value) is tuple:
        return Tup(tuple(map(static_binding, value)))
    return Num(Const(value)) if isinstance(value, bool | int | float | complex) and not isinstance(value, enum.Enum) else Static(value)


def static_key(
    ctx: Lowering, binding: Binding, node: ast.AST, what: str = "a dict key", instead: str = "an array or a list for keys"
) -> Any:
    """A static key, or element of a set."""
    match binding:
        case Static(value):
            return value
        case Num(Const(value)):
            return value
        case Tup(items):
            return tuple(static_key(ctx, item, node, what, instead) for item in items)
    refusal = UnsupportedSyntax(f"{what} must be a literal", ctx.loc(node), f"use {instead} that are computed")
    raise pinned(ctx, refusal, [binding])


def are_complex(ctx: Lowering, bindings: Iterable[Binding]) -> bool:
    """Whether one of the bindings, or of their items, is complex."""
    for binding in bindings:
        items = held_items(binding, ctx.state)
        if is_long(binding, ctx.state):
            items = [ctx.state.heap[binding.key]]  # type: ignore[attr-defined, list-item]
        if are_complex(ctx, items) if items is not None else isinstance(binding, Num | Ref) and is_complex(ctx.type_of(binding)):
            return True
    return False


def known_value(binding: Binding) -> list[Any]:
    """The static Python value of a binding, as a list of one item; empty if it is dynamic."""
    match binding:
        case Static(value):
            return [value]
        case Num(Const() as constant):
            return [constant.value]
    return []


def row_operand(ctx: Lowering, value: Any, node: ast.AST) -> Operand:
    if isinstance(value, Const):
        return value
    operand = ctx.read(value, node)
    if isinstance(operand.type, List):
        return ctx.array_of(operand, None, display_shape(ctx, value))
    return operand


def display_shape(ctx: Lowering, binding: Any) -> tuple[int, ...] | None:
    """The shape of a nested list or tuple display, where it is static."""
    inner = held_items(binding, ctx.state)
    if inner is None:
        return None
    if not inner:
        return (0,)
    if all(isinstance(b, Num) for b in inner):
        return (len(inner),)
    below = {display_shape(ctx, b) for b in inner}
    only = below.pop() if len(below) == 1 else None
    return None if only is None else (len(inner), *only)


def array_of(ctx: Lowering, binding: Binding, dtype: str | None, node: ast.AST) -> Operand:
    """``np.array(display)``; without items it is a vector of floats."""
    if isinstance(binding, Obj | Tup) and held_items(binding, ctx.state) == []:
        return ctx.call("zeros", ZERO, dtype=dtype or "f64")
    items = held_items(binding, ctx.state) or []
    types = [ctx.type_of(item) for item in items]
    single = [isinstance(type_, Array) and type_.shape == () for type_ in types]
    if any(single) and all(one or isinstance(type_, Scalar) for one, type_ in zip(single, types, strict=True)):
        numbers = [ctx.read(element_of(item) if one else item, node) for one, item in zip(single, items, strict=True)]
        return ctx.array_of(ctx.call("list_of", *numbers), dtype, (len(numbers),))
    return ctx.array_of(ctx.held(binding), dtype, display_shape(ctx, binding))


def with_items(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """Each range replaced by the list of its numbers, as NumPy reads it; anything else unchanged."""
    if is_taken_whole(binding):
        what = "NumPy takes an iterator, a dict, a view of one or a set as one object, and not as its items"
        raise UnsupportedSyntax(what, ctx.loc(node), "make it a list")
    if is_range(binding):
        return ctx.apply(Static(list), [binding], {}, node)
    binding = as_base(ctx, binding, *OF_ARRAYS) if isinstance(binding, Obj) else binding
    held = held_items(binding, ctx.state) if isinstance(binding, Obj | Tup) else None
    if held is not None and any(is_taken_whole(item) or is_range(item) or is_derived(item) for item in held):
        return Tup(tuple(with_items(ctx, item, node) for item in held))
    return binding


def as_array(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """An array of a list, tuple or range; arrays and numbers unchanged."""
    binding = with_items(ctx, binding, node)
    if isinstance(binding, Obj | Tup):
        return ctx.make(array_of(ctx, binding, None, node))
    return binding
