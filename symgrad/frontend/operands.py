"""Bindings as what rows and displays take: operands, and Python data that is known while compiling."""

from __future__ import annotations

import ast
import enum
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.bindings import (
    Binding,
    Iter,
    Num,
    Obj,
    Ref,
    Static,
    Tup,
    element_of,
    held_items,
    is_long,
    is_taken_whole,
)
from symgrad.frontend.context import Lowering
from symgrad.ir.core import ZERO, Const, Operand, Value
from symgrad.ir.types import Array, Dim, List, Scalar, is_complex
from symgrad.ops import spelling


class NotLiteral(UnsupportedSyntax, ValueError):
    """What has to be known while compiling is not; for whoever can do without it, a ``ValueError``."""


def unwrap(value: Any) -> Any:
    """The Python data of a binding known while compiling, for settings of rows."""
    match value:
        case Num(Const(data)) | Static(data):
            return data
        case Tup(items):
            return tuple(unwrap(i) for i in items)
    try:
        return spelling.plain(value)
    except ValueError:
        raise NotLiteral("this must be a literal") from None


def static_binding(value: Any) -> Binding:
    """A value that is known while compiling; a tuple by its items."""
    if type(value) is tuple:
        return Tup(tuple(map(static_binding, value)))
    return Num(Const(value)) if isinstance(value, bool | int | float | complex) and not isinstance(value, enum.Enum) else Static(value)


def static_key(
    ctx: Lowering, binding: Binding, node: ast.AST, what: str = "a dict key", instead: str = "an array or a list for keys"
) -> Any:
    """A key, or an element of a set, that is known while compiling."""
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
    """Is any of them, or of what they hold, a complex number or an array of these?"""
    for binding in bindings:
        items = held_items(binding, ctx.state)
        if is_long(binding, ctx.state):
            items = [ctx.state.heap[binding.key]]  # type: ignore[attr-defined, list-item]
        if are_complex(ctx, items) if items is not None else isinstance(binding, Num | Ref) and is_complex(ctx.type_of(binding)):
            return True
    return False


def known_value(binding: Binding) -> list[Any]:
    """The Python value that a binding is known to have, if it is known: one item or none."""
    match binding:
        case Static(value):
            return [value]
        case Num(Const() as constant):
            return [constant.value]
    return []


def pinnable(ctx: Lowering, binding: Any) -> str | None:
    """The expression that reads an integer of the call or from outside, whose value could be made part of the signature.

    Of an integer that is computed it is that of one of those that it is computed from.
    """
    match binding:
        case Num(Value() as value):
            return integer_behind(ctx, value, set())
        case Tup(items):
            return next((text for i in items if (text := pinnable(ctx, i)) is not None), None)
    return None


def integer_behind(ctx: Lowering, value: Operand, seen: set[Operand]) -> str | None:
    """The expression that reads an integer, or the first of those that an integer, or the length of a list, is computed from."""
    if not isinstance(value, Value) or value in seen:
        return None
    seen.add(value)
    if isinstance(value.type, Scalar) and value.type.kind in ("int", "bool"):
        extents = (ctx.builder.extents.get(value), *ctx.builder.sizes.get(value, ()))
        if (text := ctx.texts.get(value) or next(filter(None, (text_of_extent(ctx, extent) for extent in extents)), None)) is not None:
            return text
    elif not isinstance(value.type, List):
        return None
    return next((text for one in ctx.builder.integers.get(value, ()) if (text := integer_behind(ctx, one, seen)) is not None), None)


def what_decides(ctx: Lowering, test: Operand) -> str | None:
    """The expression that reads an integer or bool of the call or from outside, where such values alone decide a test; None elsewhere.

    Of several of them it is the first; known that one, the next is asked for.
    """
    texts: list[str] = []
    waiting, seen = [test], set[Operand]()
    while waiting:
        value = waiting.pop(0)
        if not isinstance(value, Value) or value in seen:
            continue
        seen.add(value)
        text = ctx.texts.get(value) or text_of_extent(ctx, ctx.builder.extents.get(value))
        if text is not None and isinstance(value.type, Scalar) and value.type.kind in ("int", "bool"):
            texts.append(text)
        elif text is None and ctx.builder.integers.get(value):
            waiting += ctx.builder.integers[value]
        else:
            return None
    return texts[0] if texts else None


@contextmanager
def refused_beside(ctx: Lowering, test: Operand) -> Iterator[None]:
    """Where a side of a branch is refused, and integers alone decide the test, the refusal says which: known, that side may fall away."""
    before = len(ctx.refusals)
    raised: list[SymgradError] = []
    try:
        yield
    except SymgradError as error:
        raised = [error]
        raise
    finally:
        refusals = [refusal for refusal in (*ctx.refusals[before:], *raised) if refusal.pin is None]
        text = what_decides(ctx, test) if refusals else None
        for refusal in refusals if text is not None else ():
            pinned_as(ctx, refusal, text)


def pinned(ctx: Lowering, refusal: SymgradError, bindings: Iterable[Any]) -> SymgradError:
    """The refusal of something that is not known while compiling, which says which integer would do, if one would."""
    return pinned_as(ctx, refusal, next((text for one in bindings if (text := pinnable(ctx, one)) is not None), None))


def pinned_extent(ctx: Lowering, refusal: SymgradError, extent: Any) -> SymgradError:
    """The refusal of something that would be known if an extent were, which says which extent of the call that is."""
    return pinned_as(ctx, refusal, text_of_extent(ctx, extent)) if isinstance(extent, Dim) else refusal


def text_of_extent(ctx: Lowering, extent: Any) -> str | None:
    """The expression that reads from an array of the call the extent that an extent is, or is computed from."""
    if not isinstance(extent, Dim):
        return None
    arrays = [(path, value.type) for value, path in ctx.texts.items() if isinstance(value.type, Array)]
    extents = ((path, k, e) for path, array in arrays for k, e in enumerate(array.shape or ()) if isinstance(e, Dim))
    return next((f"{path}.shape[{k}]" for path, k, e in extents if e.symbol == extent.symbol), None)


def pinned_length(ctx: Lowering, refusal: SymgradError, binding: Binding) -> SymgradError:
    """The refusal of a list of unknown length, which says which integer decides how long it is, if one does."""
    return pinned_as(ctx, refusal, integer_behind(ctx, ctx.held(binding), set()) if is_long(binding, ctx.state) else None)


def pinned_as(ctx: Lowering, refusal: SymgradError, text: str | None) -> SymgradError:
    """The refusal of something that would be known if the integer were that an expression reads."""
    refusal.pin = text
    refusal.objects = dict(ctx.external_names)
    return refusal


def row_operand(ctx: Lowering, value: Any, node: ast.AST) -> Operand:
    if isinstance(value, Const):
        return value
    operand = ctx.read(value, node)
    if isinstance(operand.type, List):
        return ctx.array_of(operand, None, display_shape(ctx, value))
    return operand


def display_shape(ctx: Lowering, binding: Any) -> tuple[int, ...] | None:
    """The shape of a nested list or tuple display, where it is known."""
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
    """The list of its numbers in place of each range, which NumPy takes as a sequence; anything else as it is."""
    if is_taken_whole(binding):
        what = "NumPy takes an iterator, a dict, a view of one or a set as one object, and not as its items"
        raise UnsupportedSyntax(what, ctx.loc(node), "make it a list")
    if is_range(binding):
        return ctx.apply(Static(list), [binding], {}, node)
    held = held_items(binding, ctx.state) if isinstance(binding, Obj | Tup) else None
    if held is not None and any(is_taken_whole(item) or is_range(item) for item in held):
        return Tup(tuple(with_items(ctx, item, node) for item in held))
    return binding


def is_range(binding: Binding) -> bool:
    return isinstance(binding, Iter) and binding.kind == "range" and binding.key is None


def as_array(ctx: Lowering, binding: Binding, node: ast.AST) -> Binding:
    """An array of a list, tuple or range; arrays and numbers as they are."""
    binding = with_items(ctx, binding, node)
    if isinstance(binding, Obj | Tup):
        return ctx.make(array_of(ctx, binding, None, node))
    return binding
