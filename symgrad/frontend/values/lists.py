"""Methods of lists that search for an item or rebuild the list: ``index``, ``count``, ``remove``, ``clear``, ``insert``, and ``*``."""

from __future__ import annotations

import ast
import collections
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Never

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.containers.appending import as_list, longest, shorten
from symgrad.frontend.flow.edges import fail, fail_unless, filled_in, sees
from symgrad.frontend.flow.flow import branch, choose
from symgrad.frontend.flow.sequences import item_value, shares
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.state.bindings import Binding, Num, Obj, Ref, Static
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import method
from symgrad.frontend.values.comparison import held_as
from symgrad.ir.core import ONE, ZERO, Const, Operand
from symgrad.ir.types import TEXT, Array, Dim, List, Scalar
from symgrad.ops.composed.lists import place_between, place_of, place_to_remove, rotated, times_in, without

Args = list[Binding]


def known_of(ctx: Lowering, owner: Obj) -> list[Binding] | None:
    """The items of a list of static structure."""
    content = ctx.state.heap[owner.key]
    return None if isinstance(content, Ref) else [b for _, b in content]


def become(ctx: Lowering, owner: Obj, items: list[Binding]) -> Binding:
    """Replace the items of a list of static structure."""
    ctx.check_still(owner.key)
    ctx.change(owner.key, tuple(enumerate(items)))
    return Static(None)


def become_value(ctx: Lowering, owner: Obj, value: Operand) -> Binding:
    """Replace the content of a list of any length."""
    ctx.check_still(owner.key)
    content = ctx.state.heap[owner.key]
    assert isinstance(content, Ref)
    ctx.replace_list(content, value)
    return Static(None)


def check_equality_tells(ctx: Lowering, owner: Obj, node: ast.AST) -> None:
    """Refuse a search of arrays in a list of any length: it uses ``==``, while Python tests identity first."""
    type_ = ctx.type_of(ctx.state.heap[owner.key])  # type: ignore[arg-type]
    while isinstance(type_, List):
        type_ = type_.item
    if isinstance(type_, Array) and type_.rank != 0:
        what = "the index of an array in a list of any length is not known"
        raise UnsupportedSyntax(what, ctx.loc(node), "find its index with a loop and np.array_equal")


def is_of_single(ctx: Lowering, owner: Obj, sought: Binding) -> bool:
    """Whether a number or text is searched in a list of numbers or texts, which one row does directly."""
    type_ = ctx.type_of(ctx.state.heap[owner.key])  # type: ignore[arg-type]
    is_single = isinstance(type_, List) and (type_.item == TEXT or isinstance(type_.item, Scalar))
    return is_single and isinstance(sought, Num | Static) and owner.key.exact is None


def may_be_of_unlike_lengths(ctx: Lowering, owner: Any) -> bool:
    """Whether the items of a list are arrays whose extents may differ, so that there is no array of them."""
    held = ctx.state.heap.get(owner.key) if isinstance(owner, Obj) else None
    type_ = ctx.type_of(held) if isinstance(held, Ref) else None
    if not isinstance(type_, List) or not isinstance(type_.item, Array) or type_.item.rank == 0:
        return False
    return type_.item.shape is None or any(isinstance(extent, Dim) and extent.symbol == "?" for extent in type_.item.shape)


def one_argument(ctx: Lowering, args: Args, word: str, node: ast.AST) -> Binding:
    if len(args) != 1:
        raise UnsupportedSyntax(f"{word} of a list is supported with one argument", ctx.loc(node), "slice the list before")
    return args[0]


def fail_to_find(ctx: Lowering, owner: Obj, method_name: str, sought: Binding) -> Never:
    """Raise what ``index`` and ``remove`` raise where the item is missing: in some versions of Python it names the item."""
    template, empty = "", collections.deque[float]() if owner.key.exact is collections.deque else list[float]()
    try:
        _ = empty.index(0.5) if method_name == "index" else empty.remove(0.5)
    except ValueError as error:
        template = str(error).replace("0.5", "{!r}")
    if isinstance(sought, Num) and "{!r}" in template:
        fail(ctx, ValueError, filled_in(ctx, template, sought.operand))
    fail(ctx, ValueError, template.format(*known_value(sought) or ["the item"]))


@method("list", "index")
def list_index(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    sought, *ends = args
    items = known_of(ctx, owner)
    bounds = [known_value(end) for end in ends]
    if items is None:
        check_equality_tells(ctx, owner, node)
        if not ends and is_of_single(ctx, owner, sought):
            return Num(ctx.call("list_index", ctx.read(owner, node), ctx.read(sought, node)))
    if items is None or not all(bounds):
        return ctx.apply(Static(place_between if ends else place_of), [as_list(ctx, owner), *args], {}, node)
    start, stop, _ = (
        slice(*(value[0] for value in bounds), *(None,) * (2 - len(bounds))).indices(len(items)) if ends else (0, len(items), 1)
    )

    def of(first: int) -> Binding:
        if first >= stop:
            return fail_to_find(ctx, owner, "index", sought)
        test = held_as(ctx, items[first], sought, node)
        if isinstance(test, Const):
            return Num(Const(first)) if test.value else of(first + 1)
        return choose(ctx, test, node, lambda: Num(Const(first)), lambda: of(first + 1))

    return of(start)


@method("list", "count")
def list_count(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    sought = one_argument(ctx, args, "count", node)
    items = known_of(ctx, owner)
    if items is None:
        check_equality_tells(ctx, owner, node)
        return ctx.apply(Static(times_in), [owner, sought], {}, node)
    count: Operand = ZERO
    for item in items:
        test = held_as(ctx, item, sought, node)
        if isinstance(test, Const):
            count = (Const(count.value + 1) if isinstance(count, Const) else ctx.call("add", count, ONE)) if test.value else count
            continue
        here = choose(ctx, test, node, lambda: Num(ONE), lambda: Num(ZERO))
        assert isinstance(here, Num)
        count = here.operand if count is ZERO else ctx.call("add", count, here.operand)
    return Num(count)


@method("list", "remove")
def list_remove(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    sought = one_argument(ctx, args, "remove", node)
    items = known_of(ctx, owner)
    if items is None:
        check_equality_tells(ctx, owner, node)
        held = as_list(ctx, owner)
        watched = owner.key.exact is collections.deque and sees(ctx, ValueError)
        if watched:
            absent = ctx.call("equal", ctx.read(ctx.apply(Static(times_in), [owner, sought], {}, node)), ZERO)
            branch(ctx, absent, lambda: void(fail_to_find(ctx, owner, "remove", sought)), lambda: None, [], ctx.loc(node))
        with ctx.unwatched() if watched else nullcontext():
            place = ctx.apply(Static(place_to_remove), [held, sought], {}, node)
        remaining = ctx.apply(Static(without), [held, place], {}, node)
        return become_value(ctx, owner, ctx.read(remaining, node))

    def removed(first: int) -> Callable[[], None]:
        return lambda: void(become(ctx, owner, [*items[:first], *items[first + 1 :]]))

    def of(first: int) -> None:
        if first == len(items):
            fail_to_find(ctx, owner, "remove", sought)
        branch(ctx, held_as(ctx, items[first], sought, node), removed(first), lambda: of(first + 1), [], ctx.loc(node))

    of(0)
    return Static(None)


def void(_: Binding) -> None:
    """Discards the result of a call with a side effect."""


@method("list", "clear")
def list_clear(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    if known_of(ctx, owner) is not None:
        return become(ctx, owner, [])
    return become_value(ctx, owner, ctx.call("list_slice", ctx.read(owner), ZERO, ZERO, Const(None)))


@method("list", "appendleft")
def deque_append_left(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    inserted(ctx, owner, [Num(ZERO), args[0]], node)
    shorten(ctx, owner, keeps_first=True)
    return Static(None)


@method("list", "extendleft")
def deque_extend_left(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    """Prepends the items one by one, so that their order is reversed."""
    whole = ctx.apply(Static(list), [args[0]], {}, node)
    ctx.apply_method(whole, "reverse", [], node)
    ctx.apply_method(whole, "extend", [as_list(ctx, owner)], node)
    assert isinstance(whole, Obj)
    ctx.check_still(owner.key)
    if isinstance(content := ctx.state.heap[owner.key], Ref):
        ctx.replace_list(content, ctx.read(whole, node))
        shares(ctx, whole, content)
    else:
        ctx.change(owner.key, ctx.state.heap[whole.key])
    shorten(ctx, owner, keeps_first=True)
    return Static(None)


@method("list", "rotate")
def deque_rotate(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    items, steps = known_of(ctx, owner), known_value(args[0]) if args else [1]
    if items is not None and steps:
        turned = collections.deque(items)
        turned.rotate(steps[0])
        return become(ctx, owner, list(turned))
    if items is not None:
        ctx.change(owner.key, ctx.make(ctx.list_of(items, node)))  # type: ignore[arg-type]
    result = ctx.apply(Static(rotated), [as_list(ctx, owner), *(args or [Num(ONE)])], {}, node)
    return become_value(ctx, owner, ctx.read(result, node))


@method("list", "insert")
def list_insert(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    if (most := longest(ctx, owner)) is not None:
        items = known_of(ctx, owner)
        count = Const(len(items)) if items is not None else ctx.call("list_len", ctx.held(owner))
        known = isinstance(count, Const) and isinstance(most, Const)
        fits = Const(count.value < most.value) if known else ctx.call("less", count, most)  # type: ignore[union-attr]
        if not isinstance(fits, Const) or not fits.value:
            fail_unless(ctx, fits, IndexError, "deque already at its maximum size")
    return inserted(ctx, owner, args, node)


def inserted(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    items = known_of(ctx, owner)
    place = known_value(args[0])
    if items is not None and not place:
        raise UnsupportedSyntax("the index of the insertion is not known at compile time", ctx.loc(node), "slice and join lists instead")
    if items is not None:
        items.insert(place[0], args[1])
        return become(ctx, owner, items)
    before, after = (Const(None), ctx.read(args[0], node)), (ctx.read(args[0], node), Const(None))
    whole = ctx.read(owner, node)
    parts = [ctx.call("list_slice", whole, *ends, Const(None)) for ends in (before, after)]
    inside = ctx.call("list_of", item_value(ctx, args[1], node))
    result = ctx.call("list_join", ctx.call("list_join", parts[0], inside), parts[1])
    content = ctx.state.heap[owner.key]
    assert isinstance(content, Ref)
    shares(ctx, args[1], content)
    return become_value(ctx, owner, result)
