"""Items of lists and tuples of objects at a place that is computed: one of them is read, one of them is stored."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symgrad.frontend.absent import definite
from symgrad.frontend.bindings import MISSING, Binding, Num, Obj
from symgrad.frontend.context import Lowering
from symgrad.frontend.flow import branch, choose
from symgrad.ir.core import ZERO, Const, Operand


def one_of_items(ctx: Lowering, items: list[Binding], index: Operand, node: ast.AST) -> Binding:
    """The list, dict or instance at a place that is computed."""
    place = from_the_front(ctx, index, len(items), node)

    def of(first: int) -> Binding:
        if first == len(items):
            return definite(ctx, MISSING, node, IndexError, "list index out of range")
        return choose(ctx, ctx.call("equal", place, Const(first)), node, lambda: items[first], lambda: of(first + 1))

    return of(0)


def from_the_front(ctx: Lowering, index: Operand, count: int, node: ast.AST) -> Operand:
    """A place among some items, counted from the first one."""
    place = choose(ctx, ctx.call("less", index, ZERO), node, lambda: Num(ctx.call("add", index, Const(count))), lambda: Num(index))
    assert isinstance(place, Num)
    return place.operand


def store_at(ctx: Lowering, owner: Obj, content: tuple[tuple[Any, Binding], ...], index: Operand, value: Binding, node: ast.AST) -> None:
    """Store at a place that is computed, in a list of which the items are objects: each item is the new one, or what it was."""
    place = from_the_front(ctx, index, len(content), node)

    def stored(first: int) -> Callable[[], None]:
        return lambda: ctx.change(owner.key, tuple((k, value if k == first else b) for k, b in content))

    def of(first: int) -> None:
        if first == len(content):
            definite(ctx, MISSING, node, IndexError, "list assignment index out of range")
        branch(ctx, ctx.call("equal", place, Const(first)), stored(first), lambda: of(first + 1), [], ctx.loc(node))

    of(0)


__all__ = ["one_of_items", "store_at"]
