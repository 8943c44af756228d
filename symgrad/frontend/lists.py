"""Methods of lists that look for an item, or make the list anew: ``index``, ``count``, ``remove``, ``clear``, ``insert``, and ``*``."""

from __future__ import annotations

import ast
from collections.abc import Callable

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.absent import definite
from symgrad.frontend.bindings import MISSING, Binding, Num, Obj, Ref, Static
from symgrad.frontend.context import Lowering
from symgrad.frontend.flow import branch, choose
from symgrad.frontend.iterate import longest
from symgrad.frontend.operands import known_value
from symgrad.frontend.operators import held_as
from symgrad.frontend.sequences import item_value, shares
from symgrad.frontend.tables import method
from symgrad.ir.core import ONE, ZERO, Const, Operand
from symgrad.ops.composed.lists import place_of, place_to_remove, times_in, without

Args = list[Binding]


def known_of(ctx: Lowering, owner: Obj) -> list[Binding] | None:
    """The items of a list of known structure."""
    content = ctx.state.heap[owner.key]
    return None if isinstance(content, Ref) else [b for _, b in content]


def become(ctx: Lowering, owner: Obj, items: list[Binding]) -> Binding:
    """Give a list of known structure other items."""
    ctx.check_still(owner.key)
    ctx.change(owner.key, tuple(enumerate(items)))
    return Static(None)


def become_value(ctx: Lowering, owner: Obj, value: Operand) -> Binding:
    """Give a list of any length another content."""
    ctx.check_still(owner.key)
    content = ctx.state.heap[owner.key]
    assert isinstance(content, Ref)
    ctx.replace_version(content.location, value)
    return Static(None)


def one_argument(ctx: Lowering, args: Args, word: str, node: ast.AST) -> Binding:
    if len(args) != 1:
        raise UnsupportedSyntax(f"{word} of a list is followed with one argument", ctx.loc(node), "slice the list before")
    return args[0]


@method("list", "index")
def list_index(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    sought = one_argument(ctx, args, "index", node)
    items = known_of(ctx, owner)
    if items is None:
        return ctx.apply(Static(place_of), [owner, sought], {}, node)

    def of(first: int) -> Binding:
        if first == len(items):
            word = "deque" if longest(owner) is not None else "list"
            return definite(ctx, MISSING, node, ValueError, f"{word}.index(x): x not in {word}")
        test = held_as(ctx, items[first], sought, node)
        if isinstance(test, Const):
            return Num(Const(first)) if test.value else of(first + 1)
        return choose(ctx, test, node, lambda: Num(Const(first)), lambda: of(first + 1))

    return of(0)


@method("list", "count")
def list_count(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    sought = one_argument(ctx, args, "count", node)
    items = known_of(ctx, owner)
    if items is None:
        return ctx.apply(Static(times_in), [owner, sought], {}, node)
    made: Operand = ZERO
    for item in items:
        test = held_as(ctx, item, sought, node)
        if isinstance(test, Const):
            made = (Const(made.value + 1) if isinstance(made, Const) else ctx.call("add", made, ONE)) if test.value else made
            continue
        here = choose(ctx, test, node, lambda: Num(ONE), lambda: Num(ZERO))
        assert isinstance(here, Num)
        made = here.operand if made is ZERO else ctx.call("add", made, here.operand)
    return Num(made)


@method("list", "remove")
def list_remove(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    sought = one_argument(ctx, args, "remove", node)
    items = known_of(ctx, owner)
    if items is None:
        place = ctx.apply(Static(place_to_remove), [owner, sought], {}, node)
        made = ctx.apply(Static(without), [owner, place], {}, node)
        return become_value(ctx, owner, ctx.read(made, node))

    def removed(first: int) -> Callable[[], None]:
        return lambda: void(become(ctx, owner, [*items[:first], *items[first + 1 :]]))

    def of(first: int) -> None:
        if first == len(items):
            definite(ctx, MISSING, node, ValueError, "list.remove(x): x not in list")
        branch(ctx, held_as(ctx, items[first], sought, node), removed(first), lambda: of(first + 1), [], ctx.loc(node))

    of(0)
    return Static(None)


def void(_: Binding) -> None:
    """What is done for its effect."""


@method("list", "clear")
def list_clear(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    if known_of(ctx, owner) is not None:
        return become(ctx, owner, [])
    return become_value(ctx, owner, ctx.call("list_slice", ctx.read(owner), ZERO, ZERO, Const(None)))


@method("list", "insert")
def list_insert(ctx: Lowering, owner: Obj, args: Args, node: ast.AST) -> Binding:
    items = known_of(ctx, owner)
    place = known_value(args[0])
    if items is not None and not place:
        raise UnsupportedSyntax("where this is inserted is not known while compiling", ctx.loc(node), "slice and join lists instead")
    if items is not None:
        items.insert(place[0], args[1])
        return become(ctx, owner, items)
    before, after = (Const(None), ctx.read(args[0], node)), (ctx.read(args[0], node), Const(None))
    whole = ctx.read(owner, node)
    parts = [ctx.call("list_slice", whole, *ends, Const(None)) for ends in (before, after)]
    inside = ctx.call("list_of", item_value(ctx, args[1], node))
    made = ctx.call("list_join", ctx.call("list_join", parts[0], inside), parts[1])
    content = ctx.state.heap[owner.key]
    assert isinstance(content, Ref)
    shares(ctx, args[1], content)
    return become_value(ctx, owner, made)
