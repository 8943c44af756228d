"""What is shown of values as text: as Python shows them, tuples as tuples, named tuples by their names."""

from __future__ import annotations

import ast
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.bindings import Binding, External, Iter, Num, Obj, Ref, Static, Tup, View
from symgrad.frontend.context import Lowering
from symgrad.frontend.opaque import opaque_operand
from symgrad.frontend.operands import known_value
from symgrad.frontend.outside import owner_name
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import List
from symgrad.runtime.support import with_tuples


def shown(ctx: Lowering, binding: Binding, node: ast.AST) -> Operand:
    """A value for a call that makes text of it; in the IR a tuple is a list, here it is made a tuple again."""
    match binding:
        case View() | Iter():
            raise UnsupportedSyntax("the text of a view or an iterator is not known", ctx.loc(node), "make it a list")
        case Tup(items, kind):
            inside = [shown(ctx, item, node) for item in items]
            if kind is not None:
                return made_by(ctx, kind, owner_name(ctx, kind), inside)
            return made_by(ctx, tuple, "tuple", [ctx.call("list_of", *inside)])
        case Obj(key) if key.exact is not None or key.kind == "record":
            word = getattr(key.exact or key.cls, "__name__", "this")
            raise UnsupportedSyntax(f"the text of an instance of {word} is not known", ctx.loc(node), "show what it holds")
        case Obj(key) if key.kind == "list" and isinstance(ctx.state.heap[key], Ref):
            return as_given(ctx, ctx.read(binding, node), key.cls is tuple, node)
        case Ref() if isinstance(ctx.type_of(binding), List):
            return as_given(ctx, ctx.read(binding, node), False, node)
        case Obj(key) if key.kind == "list" and not isinstance(ctx.state.heap[key], Ref):
            return ctx.call("list_of", *[shown(ctx, item, node) for _, item in ctx.state.entries(key)])
        case Obj(key) if key.kind == "dict" and key.cls is None:
            ctx.check_keys(key, node)
            pairs = [Tup((Static(k) if not isinstance(k, bool | int | float) else Num(Const(k)), b)) for k, b in ctx.state.entries(key)]
            return made_by(ctx, dict, "dict", [ctx.call("list_of", *[shown(ctx, pair, node) for pair in pairs])])
        case External():
            return opaque_operand(ctx, binding, node)
    return ctx.read(binding, node)


def as_given(ctx: Lowering, operand: Operand, is_tuple: bool, node: ast.AST) -> Operand:
    """A list of any length with tuples in it where the user's program has tuples."""
    kinds: list[str] = []
    type_ = operand.type
    while isinstance(type_, List):
        kinds.append("tuple" if is_tuple and not kinds else type_.of)
        type_ = type_.item
    if "either" in kinds:
        raise UnsupportedSyntax("what is in this list is a list on some paths and a tuple on others", ctx.loc(node))
    if "tuple" not in kinds:
        return operand
    return made_by(ctx, with_tuples, owner_name(ctx, with_tuples), [operand, Const(" ".join(kinds))])


def made_by(ctx: Lowering, kind: Any, name: str, operands: list[Operand]) -> Operand:
    """An instance of a class for the text of it."""
    return ctx.call("opaque_pure", Const(kind, name), *operands, names=())


def text_of(ctx: Lowering, binding: Binding, node: ast.AST, form: str) -> Binding:
    """The text of a value by ``str`` or ``repr``: known where the value is, else made when it runs."""
    for value in known_value(binding):
        if isinstance(value, str | bool | int | float | None):
            return Static(form.format(value))
    return Num(ctx.call("format_text", Const(form), shown(ctx, binding, node)))


__all__ = ["as_given", "shown", "text_of"]
