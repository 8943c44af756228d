"""Items of lists and tuples at a dynamic index: a read selects one of them, a store writes to one of them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symgrad.frontend.flow.absent import definite
from symgrad.frontend.flow.flow import branch, choose, choose_in_turn
from symgrad.frontend.state.bindings import MISSING, Binding, Num, Obj, Ref, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import ZERO, Const, Operand, Value

#: the most arrays among which a store by a dynamic index is tracked
SEVERAL = 24


def list_item_at(ctx: Lowering, owner: Binding, items: list[Binding], index: Operand, node: ast.AST) -> Binding:
    """An item of a list of static items at a dynamic index: numbers and arrays become a list of the IR, other items a choice."""
    kinds = {type(item) for item in items}
    if kinds == {Tup} and len({(len(i.items), i.kind) for i in items if isinstance(i, Tup)}) == 1:
        columns = zip(*(i.items for i in items if isinstance(i, Tup)), strict=True)
        kind = items[0].kind if isinstance(items[0], Tup) else None
        return Tup(tuple(list_item_at(ctx, owner, list(column), index, node) for column in columns), kind)
    if not items or not kinds <= {Num, Ref} or ctx.tagged and Ref in kinds and len(items) <= SEVERAL:
        return one_of_items(ctx, items, index, node, "tuple" if isinstance(owner, Tup) else "list")
    whole = ctx.list_of(items, node)
    if isinstance(whole, Value) and isinstance(node, ast.Subscript):
        whole.label = (
            node.value.id if isinstance(node.value, ast.Name) else node.value.attr if isinstance(node.value, ast.Attribute) else None
        )
    return ctx.shared(ctx.call("list_take", whole, index), *items)


def one_of_items(ctx: Lowering, items: list[Binding], index: Operand, node: ast.AST, word: str = "list") -> Binding:
    """The item at a dynamic index: a list, dict, instance, function, text, or one of items of several kinds."""
    place = from_the_front(ctx, index, len(items), node)

    def of(first: int) -> Binding:
        if first == len(items):
            return definite(ctx, MISSING, node, IndexError, f"{word} index out of range")
        return choose_in_turn(ctx, ctx.call("equal", place, Const(first)), node, lambda: items[first], lambda: of(first + 1))

    return of(0)


def from_the_front(ctx: Lowering, index: Operand, count: int, node: ast.AST) -> Operand:
    """A possibly negative index, counted from the first item."""
    place = choose(ctx, ctx.call("less", index, ZERO), node, lambda: Num(ctx.call("add", index, Const(count))), lambda: Num(index))
    assert isinstance(place, Num)
    return place.operand


def store_at(ctx: Lowering, owner: Obj, content: tuple[tuple[Any, Binding], ...], index: Operand, value: Binding, node: ast.AST) -> None:
    """Store at a dynamic index of a list whose items are objects: each item becomes the new one or stays."""
    place = from_the_front(ctx, index, len(content), node)

    def stored(first: int) -> Callable[[], None]:
        return lambda: ctx.change(owner.key, tuple((k, value if k == first else b) for k, b in content))

    def of(first: int) -> None:
        if first == len(content):
            definite(ctx, MISSING, node, IndexError, "list assignment index out of range")
        branch(ctx, ctx.call("equal", place, Const(first)), stored(first), lambda: of(first + 1), [], ctx.loc(node))

    of(0)


__all__ = ["list_item_at", "one_of_items", "store_at"]
