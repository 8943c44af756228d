"""Appending to a list; a full deque drops items at its other end."""

from __future__ import annotations

import ast
import collections
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.sequences import item_value, see_within, shares, takes_over
from symgrad.frontend.state.bindings import MISSING, Binding, Num, Obj, Ref
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import LONGEST
from symgrad.ir.core import ZERO, Const, Operand


def append(ctx: Lowering, owner: Binding, value: Binding, node: ast.AST) -> Binding:
    """``owner.append(value)``; an array appended to a list of any length shares memory with it from then on."""
    assert isinstance(owner, Obj)
    content = ctx.state.heap[owner.key]
    ctx.check_still(owner.key)
    if isinstance(content, Ref):
        owns = takes_over(ctx, content, value)
        place = ctx.call("list_len", ctx.held(content)) if owns else ZERO
        version = ctx.call("list_append", ctx.to_change(content, owns), item_value(ctx, value, node))
        before = ctx.state.memory[content.location]
        ctx.replace_list(content, version, owns)
        if owns:
            ctx.extend_links(content.location, before, ctx.state.memory[content.location])
            see_within(ctx, content, value, place)
        shares(ctx, value, content)
    else:
        ctx.change(owner.key, tuple(enumerate([*(b for _, b in content), value])))
    shorten(ctx, owner)
    return owner


def shorten(ctx: Lowering, owner: Obj, keeps_first: bool = False) -> None:
    """Drop the items of a deque with ``maxlen`` that exceed it, at the end opposite to the added ones."""
    if (most := longest(ctx, owner)) is None:
        return
    content = ctx.state.heap[owner.key]
    if isinstance(content, Ref):
        ctx.replace_list(content, bounded_items(ctx, content, most, keeps_first))
        return
    assert isinstance(most, Const)
    ends = (0, most.value) if keeps_first or not most.value else (-most.value, None)
    ctx.change(owner.key, tuple(enumerate([b for _, b in content][slice(*ends)])))


def bounded_items(ctx: Lowering, content: Ref, most: Operand, keeps_first: bool = False) -> Operand:
    """The last (or first) items of a list of any length, as many as a deque may hold."""
    start: Operand = ZERO
    if isinstance(most, Const) and most.value:
        start = Const(-most.value)
    elif not isinstance(most, Const):
        start = ctx.call("maximum", ctx.call("subtract", ctx.call("list_len", ctx.held(content)), most), ZERO, via="math")
    ends = (ZERO, most) if keeps_first or start is ZERO else (start, Const(None))
    return ctx.call("list_slice", ctx.read(content), *ends, Const(None))


def bounded(ctx: Lowering, most: Operand) -> tuple[str, Any]:
    """The class of deques with this ``maxlen``; a dynamic one is held by a name of the state."""
    if isinstance(most, Const):
        return ("deque", most.value)
    name = (LONGEST, str(next(ctx.builder.fresh)))
    ctx.state.names[name] = Num(most)
    return ("deque", name)


def longest(ctx: Lowering, owner: Obj) -> Operand | None:
    """The ``maxlen`` of a deque, or None."""
    if not isinstance(owner.key.cls, tuple):
        return None
    most = owner.key.cls[1]
    if not isinstance(most, tuple):
        return Const(most)
    held = ctx.state.names.get(most, MISSING)
    if not isinstance(held, Num):
        what = "a deque with a maxlen that is computed is used outside of the branch, loop or function that creates it"
        raise UnsupportedSyntax(what, ctx.builder.loc, "compute maxlen there, and create the deque where it is used")
    return held.operand


def of_class_of(ctx: Lowering, owner: Binding, items: Binding) -> Binding:
    """A new list, of the class of another one; a deque also gets its ``maxlen``."""
    if not isinstance(owner, Obj) or owner.key.exact is not collections.deque or not isinstance(items, Obj):
        return items
    result = ctx.new_object("list", ctx.state.heap[items.key], owner.key.cls, owner.key.exact)
    shorten(ctx, result)
    return result


def as_list(ctx: Lowering, owner: Obj) -> Obj:
    """A deque as a plain list, for a composition that slices it, because Python's deques have no slices; other lists unchanged."""
    return owner if owner.key.exact is None else ctx.new_object("list", ctx.state.heap[owner.key])


def discard(binding: Binding) -> None:
    """Ignore the result of a call made for its effect."""
