"""Sorting of lists of any length: of tuples by their parts, of texts, and of dicts with dynamic keys by their keys or items."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.growing_dicts import is_growing, lists_of
from symgrad.frontend.containers.iterables import sequence
from symgrad.frontend.state.abstract_values import Skeleton
from symgrad.frontend.state.bindings import Binding, Bound, Fun, Num, Obj, Partial, Ref, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.text.source import read
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import TEXT, List, Scalar, Struct, Type
from symgrad.ops.composed import growing_views
from symgrad.ops.composed.bisecting import Compared
from symgrad.ops.composed.sorting import first_by_columns, first_by_places, ordered_by_columns, ordered_by_places, parts_at

#: the sort keys as columns
Columns = list[Binding]


def lists_of_growing(ctx: Lowering, iterable: Binding, key: Binding, node: ast.AST) -> tuple[Binding, Binding] | None:
    """The keys of a dict and its items, where its keys are sorted by its items: ``sorted(d, key=d.get)``."""
    if not isinstance(key, Bound) or key.name not in ("get", "__getitem__"):
        return None
    if not isinstance(iterable, Obj) or not is_growing(iterable) or not is_growing(key.owner):
        return None
    if iterable.key.cls in (growing_views.GrowingValues, growing_views.GrowingItems):
        return None
    viewed = dict(ctx.state.entries(iterable.key)).get("viewed", iterable)
    if viewed == key.owner and isinstance(viewed, Obj):
        return lists_of(ctx, viewed, node)
    keys = ctx.apply(Static(list), [iterable], {}, node)
    return keys, ctx.apply(Static(growing_views.items_under), [key.owner, keys], {}, node)


def keys_of_items(ctx: Lowering, iterable: Binding, node: ast.AST) -> Binding | None:
    """The keys of a dict whose items are sorted as pairs: all keys differ, so the values never decide."""
    if not isinstance(iterable, Obj) or iterable.key.cls is not growing_views.GrowingItems:
        return None
    viewed = dict(ctx.state.entries(iterable.key))["viewed"]
    return lists_of(ctx, viewed, node)[0] if isinstance(viewed, Obj) else None


def listed_in_order(ctx: Lowering, iterable: Binding, keys: Binding | None, backwards: Binding, node: ast.AST) -> Binding | None:
    """A list of any length, sorted as tuples or texts; None where ``keys`` hold other things."""
    items = sequence(ctx, iterable, node)
    keys = items if keys is None else keys
    if (columns := columns_of(ctx, keys, node)) is not None:
        return ctx.apply(Static(ordered_by_columns), [items, Tup(tuple(columns)), backwards], {}, node)
    if (places := places_of(ctx, keys, backwards, node)) is not None:
        return ctx.apply(Static(ordered_by_places), [items, places], {}, node)
    return None


def first_in_order(ctx: Lowering, iterable: Binding, keys: Binding | None, smaller: bool, node: ast.AST) -> Binding | None:
    """The least or largest of a list of any length, compared as tuples or texts; None where ``keys`` hold other things."""
    items = sequence(ctx, iterable, node)
    keys, backwards = items if keys is None else keys, Num(Const(not smaller))
    if (columns := columns_of(ctx, keys, node)) is not None:
        return ctx.apply(Static(first_by_columns), [items, Tup(tuple(columns)), backwards], {}, node)
    if (places := places_of(ctx, keys, backwards, node)) is not None:
        what = f"{'min' if smaller else 'max'}() arg is an empty sequence"
        return ctx.apply(Static(first_by_places), [items, places, Static(what)], {}, node)
    return None


def item_type(ctx: Lowering, items: Binding) -> Type | None:
    """The type of the items of a list of any length."""
    content = ctx.state.heap.get(items.key) if isinstance(items, Obj) else items
    type_ = ctx.type_of(content) if isinstance(content, Ref) else None
    return type_.item if isinstance(type_, List) else None


def columns_of(ctx: Lowering, items: Binding, node: ast.AST) -> Columns | None:
    """One array for each number in the tuples of a list of any length; None where the list holds other things."""
    type_ = item_type(ctx, items)
    if not isinstance(type_, Struct) or not all(isinstance(part, Scalar) and part.kind != "complex" for part in type_.items):
        return None
    paths = list(paths_in(type_.form))
    if len(paths) != len(type_.items):
        return None
    columns = []
    for path in paths:
        held = items
        for place in path:
            held = ctx.apply(Static(parts_at), [held, Num(Const(place))], {}, node)
        columns.append(ctx.make(ctx.array_of(ctx.read(held, node))))
    return columns


def paths_in(form: Skeleton, path: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    """The paths to the numbers in nested tuples; a form with other parts has fewer paths than values."""
    if form.form == "tuple" and form.same is None:
        for place, item in enumerate(form.items):
            yield from [(*path, place)] if item.form == "num" else paths_in(item, (*path, place))


def is_exact(part: Type) -> bool:
    """Whether the type is a text or an integer, not a float, which may be a nan."""
    return part == TEXT or isinstance(part, Scalar) and part.kind in ("int", "bool")


def places_of(ctx: Lowering, items: Binding, backwards: Binding, node: ast.AST) -> Binding | None:
    """The sorted indices of a list of any length of texts, or of tuples with texts; None for a list of other things."""
    type_ = item_type(ctx, items)
    columns: list[Operand] = []
    if type_ == TEXT:
        columns = [ctx.read(items, node)]
    elif isinstance(type_, Struct) and TEXT in type_.items and all(map(is_exact, type_.items)):
        paths = list(paths_in(type_.form))
        if len(paths) == len(type_.items) and all(len(path) == 1 for path in paths):
            columns = [ctx.read(ctx.apply(Static(parts_at), [items, Num(Const(place))], {}, node)) for (place,) in paths]
    if not columns:
        return None
    return ctx.list_sharing(ctx.call("order_of", ctx.read(backwards, node), *columns))


def comparing(ctx: Lowering, key: Binding, node: ast.AST) -> Binding | None:
    """The comparison function of ``functools.cmp_to_key``; None for any other key."""
    if not isinstance(key, Partial) or key.function != Static(Compared):
        return None
    check_comparing(ctx, key.args[0], node)
    return key.args[0]


def check_comparing(ctx: Lowering, function: Binding, node: ast.AST) -> None:
    """Refuse a comparison function with side effects: the pairs that Python compares are not known."""
    held = (
        function.node
        if isinstance(function, Fun)
        else read(function.value).node
        if isinstance(function, Static) and is_def(function.value)
        else None
    )
    if held is None or any(map(may_change, ast.walk(held))):
        what = "a function for cmp_to_key does more than compare, or cannot be read"
        raise UnsupportedSyntax(what, ctx.loc(node), "sort by a key, as in sorted(values, key=lambda value: value)")


def may_change(part: ast.AST) -> bool:
    """Whether a statement does more than bind variables of its own function."""
    if isinstance(part, ast.Expr):
        return not isinstance(part.value, ast.Constant)
    is_stored = isinstance(part, ast.Subscript | ast.Attribute) and not isinstance(part.ctx, ast.Load)
    return is_stored or isinstance(part, ast.Global | ast.Nonlocal | ast.Yield | ast.Await)


def is_def(value: Any) -> bool:
    """Whether the value is a function written in Python."""
    return isinstance(value, types.FunctionType)


__all__ = ["comparing", "first_in_order", "keys_of_items", "listed_in_order", "lists_of_growing"]
