"""Values as Python represents them, for printing and for opaque calls: a list of the IR that is a tuple becomes a tuple again."""

from __future__ import annotations

import ast
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.bindings import Binding, Num, Obj, Ref, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import List, Unknown
from symgrad.runtime.support import with_tuples


def with_tuples_in(ctx: Lowering, binding: Binding, node: ast.AST) -> Operand:
    """A value of its class in the user's program: a list of the IR that is a tuple becomes a tuple again."""
    match binding:
        case Tup(items, kind):
            inside = [Num(with_tuples_in(ctx, item, node)) for item in items]
            if kind is not None:
                return instance_made_by_call(ctx, kind, owner_name(ctx, kind), [item.operand for item in inside])
            return instance_made_by_call(ctx, tuple, "tuple", [ctx.list_of(inside, node)])
        case Obj(key) if key.kind == "list" and not isinstance(ctx.state.heap[key], Ref):
            return ctx.list_of([Num(with_tuples_in(ctx, item, node)) for _, item in ctx.state.entries(key)], node)
        case Obj(key) if key.kind == "list":
            return as_given(ctx, ctx.read(binding, node), key.cls is tuple, node)
    return ctx.read(binding, node)


def as_given(ctx: Lowering, operand: Operand, is_tuple: bool, node: ast.AST) -> Operand:
    """A list of any length with tuples in it where the user's program has tuples."""
    kinds: list[str] = []
    type_ = operand.type
    while isinstance(type_, List):
        kinds.append("tuple" if is_tuple and not kinds else type_.of)
        if type_.named is not None:
            what = f"a {type_.named.__name__} in a list of any length is formatted, or passed to an opaque function"
            raise UnsupportedSyntax(what, ctx.loc(node), "format or pass the values that it holds")
        type_ = type_.item
    if "either" in kinds:
        what = "an item of this list is a list on some paths and a tuple on others"
        raise UnsupportedSyntax(what, ctx.loc(node), "make it a list on all paths")
    if isinstance(type_, Unknown) and type_.tuples:
        what = "which items of this list are tuples is not known"
        raise UnsupportedSyntax(what, ctx.loc(node), "format or pass them one by one")
    if "tuple" not in kinds:
        return operand
    return instance_made_by_call(ctx, with_tuples, owner_name(ctx, with_tuples), [operand, Const(" ".join(kinds))])


def instance_made_by_call(ctx: Lowering, kind: Any, name: str, operands: list[Operand]) -> Operand:
    """An instance of a class, created for an opaque call or for its text."""
    return ctx.call("opaque_pure", Const(kind, name), *operands, names=())


__all__ = ["as_given", "instance_made_by_call", "with_tuples_in"]
