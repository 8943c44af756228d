"""May-alias objects: a name that is one of two objects by path, by iteration or by a dynamic index.

Such a name is bound to an object of its own, which holds the content of the chosen one. ``State.kin`` holds a bool for each pair of
objects that may be the same: true where they are. A read needs no test. A store to one of them is also a store to each of the others
where the bool is true. The value of ``is`` is the bool.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.flow import branch
from symgrad.frontend.state.abstract_values import decided
from symgrad.frontend.state.bindings import MISSING, Binding, HeapKey, Obj, Ref
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import State
from symgrad.frontend.state.reach import reached
from symgrad.frontend.state.tables import SPREAD
from symgrad.ir.containers import is_number_list
from symgrad.ir.core import FALSE, TRUE, Const, Operand
from symgrad.tables import entered


@entered(SPREAD, "changed")
def spread(ctx: Lowering, key: HeapKey, before: Any) -> None:
    """Give objects that may be the changed one its new content, on the condition that they are it."""
    done: set[HeapKey] = set()
    while (other := next_of(ctx, key, done)) is not None:  # where one is stored in another, a join creates further objects that may be it
        done.add(other)
        if len(done) > MOST:
            raise UnsupportedSyntax(
                "which of many objects is changed here is not supported", ctx.builder.loc, "change it before it is chosen"
            )
        same = ctx.state.sameness(key, other)
        known = decided(same, ctx.state)
        if known is False:
            continue
        if other in ctx.arguments:
            ctx.stored.add(ctx.arguments[other])
            ctx.compared(key, other)
        if known:
            hold_the_same(ctx, key, before, other)
        else:
            branch(ctx, same, held_by(ctx, key, before, other), lambda: None, [], ctx.builder.loc)


#: the most objects that one may be
MOST = 200


def next_of(ctx: Lowering, key: HeapKey, done: set[HeapKey]) -> HeapKey | None:
    """The next reachable object that may be the changed one."""
    left = [other for other in ctx.state.kin.get(key, ()) if other not in done]
    live = reached(ctx.state) | ctx.arguments.keys() if left else set()
    return next((other for other in left if other in live), None)


def held_by(ctx: Lowering, key: HeapKey, before: Any, other: HeapKey) -> Callable[[], None]:
    return lambda: hold_the_same(ctx, key, before, other)


def hold_the_same(ctx: Lowering, key: HeapKey, before: Any, other: HeapKey) -> None:
    """Give an object its alias's new content; also the caller's object, if the alias has no handle."""
    own = ctx.state.heap[other]
    ctx.state.heap[other] = what_it_holds(ctx, key, before, own)
    if ctx.storing is not None and ctx.storing.is_outside(other) and not ctx.storing.is_outside(key):
        ctx.storing.changed(other, own)


def what_it_holds(ctx: Lowering, key: HeapKey, before: Any, own: Any) -> Any:
    """The content of an object that held ``own``, after a change through its alias ``key``."""
    content = ctx.state.heap[key]
    if isinstance(content, Ref):
        copy = ctx.make(ctx.call("list_slice", ctx.read(content), Const(None), Const(None), Const(None)))
        assert isinstance(copy, Ref)
        if not is_number_list(ctx.type_of(copy)):
            ctx.state.pair(copy.location, content.location)
        return copy
    changes_length = key.kind == "list" and not isinstance(before, Ref) and len(content) != len(before)
    if isinstance(own, Ref) or isinstance(before, Ref) or changes_length:
        return content
    old, new = dict(before), dict(content)
    held = dict(own)
    for name in dict.fromkeys([*old, *new]):
        if name not in new:
            held.pop(name, None)
        elif old.get(name, MISSING) != new[name]:
            held[name] = new[name]
    return tuple(held.items())


def are_one(state: State, a: Binding, b: Binding) -> Operand | None:
    """A bool that says whether two objects of the heap are the same; None where that is unknown."""
    if not isinstance(a, Obj) or not isinstance(b, Obj):
        return None
    if a.key is not b.key and {a.key, b.key} & state.twins:
        return None
    same = state.sameness(a.key, b.key)
    known = decided(same, state)
    return same if known is None else TRUE if known else FALSE


__all__ = ["are_one"]
