"""A value unpacked over the targets of an assignment, ``a, *b = x``: its items one by one, and the list of those that a star takes."""

from __future__ import annotations

import ast

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.bindings import Binding, Obj, Static
from symgrad.frontend.context import Lowering
from symgrad.frontend.conversions import standing_for
from symgrad.frontend.exceptions import check_count, fail
from symgrad.frontend.flow import branch
from symgrad.frontend.iterate import Items, items_of, plain, read_at_once, sequence
from symgrad.ir.core import Const


def unpack(ctx: Lowering, binding: Binding, targets: list[ast.expr], node: ast.AST) -> list[Binding]:
    """Split a value over the targets of an assignment."""
    binding = read_at_once(ctx, binding)
    star = next((k for k, t in enumerate(targets) if isinstance(t, ast.Starred)), None)
    binding = sequence(ctx, binding, node)
    items = items_of(ctx, binding, node)
    if star is not None and isinstance(items, Items) and not isinstance(binding, Obj):
        binding = ctx.apply(Static(list), [binding], {}, node)
        items = items_of(ctx, binding, node)
    if star is not None and isinstance(items, Items) and isinstance(binding, Obj):
        return unpack_list(ctx, binding, items, star, len(targets) - star - 1, node)
    if not isinstance(items, list):
        items = unpack_memory(ctx, items, len(targets), node)
    if star is None:
        if len(items) != len(targets):
            word, held = ("not enough", f", got {len(items)}") if len(items) < len(targets) else ("too many", "")
            fail(ctx, ValueError, f"{word} values to unpack (expected {len(targets)}{held})")
        return items
    after = len(targets) - star - 1
    if len(items) < len(targets) - 1:
        fail(ctx, ValueError, f"not enough values to unpack (expected at least {len(targets) - 1}, got {len(items)})")
    middle = ctx.new_object("list", enumerate(items[star : len(items) - after]))
    return [*items[:star], middle, *items[len(items) - after :]]


def unpack_list(ctx: Lowering, binding: Obj, items: Items, first: int, last: int, node: ast.AST) -> list[Binding]:
    """The first and the last items of a list of any length, and a list of those between them."""

    what = f"not enough values to unpack (expected at least {first + last})"

    def too_few() -> None:
        fail(ctx, ValueError, what)

    count = items.bounds[1]
    branch(ctx, ctx.call("less", count, Const(first + last)), too_few, lambda: None, [], ctx.loc(node))
    rest = standing_for(ctx.call("list_slice", ctx.read(binding), Const(first), Const(-last if last else None), Const(None)), list)
    ends = [items.item(ctx.call("subtract", count, Const(last - k))) for k in range(last)]
    return [*(items.item(Const(k)) for k in range(first)), ctx.list_sharing(rest, binding), *ends]


def unpack_memory(ctx: Lowering, items: Items, count: int, node: ast.AST) -> list[Binding]:
    items = plain(ctx, items)
    extent = ctx.builder.extent_of(items.bounds[1])
    if isinstance(extent, int):
        return [items.item(Const(k)) for k in range(extent)]
    if items.counts:
        raise UnsupportedSyntax("a range cannot be unpacked", ctx.loc(node))
    check_count(ctx, items.bounds[1], Const(count), f"too many or too few values to unpack (expected {count})")
    return [items.item(Const(k)) for k in range(count)]
