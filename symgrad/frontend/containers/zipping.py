"""``zip``: tuples of the items of several iterables, as many as the shortest has.

Iterables whose items differ in kind may be combined with a sequence of dynamic length. A loop over these tuples is then unrolled, with
a test before each iteration.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.iterables import ITERATORS, Firsts, Items, every_item, of_memory, plain
from symgrad.frontend.containers.stepping import is_iterator
from symgrad.frontend.flow.edges import check_count, sees
from symgrad.frontend.state.bindings import Binding, Iter, Num, Obj, Ref, Static, Tup, View
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.pinning import pinned_extent, text_of_extent
from symgrad.ir.core import ONE, ZERO, Const, Operand, Value
from symgrad.ir.types import List


def without_end(ctx: Lowering, part: Binding, node: ast.AST) -> Callable[[Operand], Binding] | None:
    """The function from an index to the item of ``itertools.count`` or ``itertools.repeat``; None for finite iterables."""
    match part:
        case Iter(kind=itertools.repeat, parts=(item, Static(value=None))):
            return lambda index: item
        case Iter(kind=itertools.count, parts=(first, by)):
            start, step = ctx.read(first, node), ctx.read(by, node)
            return lambda index: Num(ctx.call("add", start, ctx.call("multiply", index, step)))
    return None


def over_zip(ctx: Lowering, parts: tuple[Binding, ...], node: ast.AST) -> list[Binding] | Items | Firsts:
    endless = [without_end(ctx, p, node) for p in parts]
    if any(endless) and not all(endless):
        finite = over_zip(ctx, tuple(p for p, item in zip(parts, endless, strict=True) if item is None), node)

        def woven(items: Binding, index: Operand) -> Binding:
            others = iter(items.items if isinstance(items, Tup) else ())
            return Tup(tuple(next(others) if item is None else item(index) for item in endless))

        if isinstance(finite, list):
            return [woven(items, Const(k)) for k, items in enumerate(finite)]
        if isinstance(finite, Firsts):
            return Firsts(finite.most, finite.count, lambda place: woven(finite.item(place), Const(place)))
        return Items(finite.bounds, lambda index: woven(finite.item(index), index))
    inner = [every_item(ctx, p, node) for p in parts]
    if any(isinstance(i, Items) and not has_known_length(ctx, i) for i in inner):
        inner = [as_value(ctx, part, i, node) for part, i in zip(parts, inner, strict=True)]
    if any(isinstance(i, Firsts) for i in inner):
        return first_tuples(ctx, inner)
    if any(isinstance(i, list) for i in inner):
        if (firsts := first_tuples_of_unknown(ctx, inner)) is not None:
            return firsts
        shortest = min(len(i) for i in inner if isinstance(i, list))
        known = [i if isinstance(i, list) else first_items(ctx, i, shortest, node) for i in inner if not isinstance(i, Firsts)]
        return [Tup(tuple(items)) for items in zip(*known, strict=False)]
    counters = [plain(ctx, i) for i in inner if isinstance(i, Items)]
    return Items((ZERO, least(ctx, [c.bounds[1] for c in counters]), ONE), lambda index: Tup(tuple(c.item(index) for c in counters)))


def least(ctx: Lowering, counts: list[Operand]) -> Operand:
    """The smallest of some counts of items."""
    stop = counts[0]
    for other in counts[1:]:
        if isinstance(stop, Const) and isinstance(other, Const):
            stop = Const(min(stop.value, other.value))
        elif other is not stop and ctx.builder.extent_of(other) != ctx.builder.extent_of(stop):
            stop = ctx.call("minimum", stop, other, via="math")
    return stop


def first_tuples_of_unknown(ctx: Lowering, inner: list[list[Binding] | Items | Firsts]) -> Firsts | None:
    """The tuples of ``zip`` for known items combined with a sequence of computed length.

    None if that length is static, or is the length of an argument, which becomes part of the signature.
    """
    stops = [plain(ctx, i).bounds[1] for i in inner if isinstance(i, Items) and not has_known_length(ctx, i)]
    if not stops or any(is_length_of_argument(ctx, stop) for stop in stops):
        return None
    return first_tuples(ctx, inner)


def is_length_of_argument(ctx: Lowering, count: Operand) -> bool:
    """Whether the count is an extent or length of an argument."""
    lists = [one for one in ctx.builder.integers.get(count, ()) if isinstance(one.type, List)] if isinstance(count, Value) else []
    return any(one in ctx.texts for one in lists) or text_of_extent(ctx, ctx.builder.extent_of(count)) is not None


def first_tuples(ctx: Lowering, inner: list[list[Binding] | Items | Firsts]) -> Firsts:
    """The first tuples: as many as the shortest dynamic part has, and at most as many as are known."""
    counters = [plain(ctx, i) if isinstance(i, Items) else i for i in inner]
    most = min(len(i) if isinstance(i, list) else i.most for i in counters if not isinstance(i, Items))
    count = least(ctx, [i.count if isinstance(i, Firsts) else i.bounds[1] for i in counters if not isinstance(i, list)])

    def item(k: int) -> Binding:
        return Tup(tuple(i[k] if isinstance(i, list) else i.item(Const(k)) if isinstance(i, Items) else i.item(k) for i in counters))

    return Firsts(most, count, item)


def has_known_length(ctx: Lowering, items: Items) -> bool:
    start, stop, step = items.bounds
    return isinstance(start, Const) and isinstance(step, Const) and isinstance(ctx.builder.extent_of(stop), int)


def as_value(ctx: Lowering, part: Binding, items: list[Binding] | Items | Firsts, node: ast.AST) -> list[Binding] | Items | Firsts:
    """The items of a tuple or list of numbers, to be indexed in a loop."""
    if not isinstance(items, list) or not items or not all(isinstance(item, Num) for item in items):
        return items
    types = {item.operand.type for item in items if isinstance(item, Num)}
    if len(types) > 1 or not isinstance(part, Tup | Obj) or isinstance(part, View):
        return items
    if isinstance(part, Tup):
        return of_memory(ctx, held_in_memory(ctx, ctx.list_of(items, node)), node)
    ctx.state.heap[part.key] = held_in_memory(ctx, ctx.read(part, node))
    return every_item(ctx, part, node)


def held_in_memory(ctx: Lowering, value: Operand) -> Ref:
    ref = ctx.make(value)
    assert isinstance(ref, Ref)
    return ref


def over_strict_zip(ctx: Lowering, parts: tuple[Binding, ...], node: ast.AST) -> list[Binding] | Items | Firsts:
    """``zip(..., strict=True)``: the lengths are compared before the first iteration."""
    lengths_compared(ctx, parts, node)()
    return over_zip(ctx, parts, node)


def lengths_compared(ctx: Lowering, parts: tuple[Binding, ...], node: ast.AST) -> Callable[[], None]:
    """A function that emits the exception for unequal lengths, with the present lengths."""
    inner = [every_item(ctx, p, node) for p in parts]
    stops = [number_of(ctx, i) for i in inner]

    def check() -> None:
        for k, other in enumerate(stops[1:]):
            if other is not stops[0] and ctx.builder.extent_of(other) != ctx.builder.extent_of(stops[0]):
                said = f"zip() argument {k + 2} is shorter or longer than argument 1"
                check_count(ctx, other, stops[0], said)

    return check


def is_seen_to_differ(ctx: Lowering, parts: tuple[Binding, ...], node: ast.AST) -> bool:
    """Whether effects of a loop over a strict zip before it raises are observable: lengths differ, or may under a handler."""
    if any(is_iterator(part) for part in parts):
        return sees(ctx, ValueError)
    stops = [number_of(ctx, every_item(ctx, part, node)) for part in parts]
    lengths = [ctx.builder.extent_of(stop) for stop in stops]
    if all(stop is stops[0] or length == lengths[0] for stop, length in zip(stops, lengths, strict=True)):
        return False
    return all(isinstance(length, int) for length in lengths) or sees(ctx, ValueError)


def number_of(ctx: Lowering, items: list[Binding] | Items | Firsts) -> Operand:
    """The number of items."""
    if isinstance(items, Firsts):
        return least(ctx, [items.count, Const(items.most)])
    return Const(len(items)) if isinstance(items, list) else plain(ctx, items).bounds[1]


def first_items(ctx: Lowering, items: Items, count: int, node: ast.AST) -> list[Binding]:
    """The first items of an iterable, whose length must be static."""
    start, stop, step = items.bounds
    extent = ctx.builder.extent_of(stop)
    if not (isinstance(extent, int) and isinstance(start, Const) and isinstance(step, Const)):
        what = "a tuple or list beside an array in zip needs a known length"
        way = "unpack the array first, as in a, b = x, or make the other one an array"
        raise pinned_extent(ctx, UnsupportedSyntax(what, ctx.loc(node), way), extent)
    return [items.item(Const(k)) for k in range(start.value, extent, step.value)][:count]


def over_columns(ctx: Lowering, parts: tuple[Tup, Operand], node: ast.AST) -> Firsts:
    """The columns of ``length`` rows of one structure; without rows there are none."""
    columns, length = parts
    count = len(columns.items)
    there = ctx.call("greater", length, ZERO)
    return Firsts(count, ctx.call("multiply", ctx.call("number", there, kind="int"), Const(count)), lambda place: columns.items[place])


ITERATORS["zip"] = over_zip
ITERATORS["columns"] = over_columns
ITERATORS["zip_strict"] = over_strict_zip
