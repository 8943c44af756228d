"""Exposure to the caller: which tracked objects and arrays the caller also holds, at joins and across iterations.

An object or array is *exposed* on a path on which it was stored in an object of the caller's. If
its exposure, or the operand that is its handle there, differs by path, it is exposed without a
handle: reads and stores of it elsewhere work, changes of it are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from symgrad.errors import SymgradError
from symgrad.frontend.state.abstract_values import objects_of, places_in
from symgrad.frontend.state.bindings import HeapKey, Location, Obj, Ref
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import State, StoredArrays
from symgrad.ir.core import Block, Value
from symgrad.ir.types import Object


def expose_on_both(ctx: Lowering, entry: State, sides: list[tuple[Block, State]]) -> None:
    """Create the caller's object, on the path that has not done so, for each object that the other path has stored in the caller's.

    It is unused there, but gives the object a handle on both paths, to which later changes can be
    applied.
    """
    todo = [key for _, side in sides for key, handle in side.handles.items() if handle is not None and key in entry.heap]
    for key in dict.fromkeys(todo):
        for block, side in sides:
            if key not in side.handles:
                with ctx.inside(block):
                    make_for_caller(ctx, side, key)
    for location in dict.fromkeys(place for _, side in sides for place in side.stored_arrays if place in entry.memory):
        for block, side in sides:
            if location not in side.stored_arrays:
                with ctx.inside(block):
                    make_for_caller(ctx, side, location)


def make_for_caller(ctx: Lowering, state: State, place: HeapKey | Location) -> None:
    """Create the handle of an object or array, where possible, before anything of the caller's holds it."""
    if ctx.storing is None:
        return
    kept, ctx.state = ctx.state, state
    try:
        ctx.storing.value(Obj(place) if isinstance(place, HeapKey) else Ref(place))
    except SymgradError:
        expose(state, place)
    finally:
        ctx.state = kept


def join_exposed(state: State, entry: State, then: State, orelse: State, out: Callable[..., Value]) -> None:
    """Join the exposure of two paths: exposed if on any path; with a handle if each path has one."""
    alive = [side for side in (then, orelse) if not side.dead]
    for key in dict.fromkeys(key for side in alive for key in side.handles):
        one, other = ((side if not side.dead else alive[0]).handles.get(key) for side in (then, orelse))
        if one is None or other is None:
            state.handles[key] = None
        else:
            state.handles[key] = one if one is other and one is entry.handles.get(key) else out(one, other, Object(key.kind), None)
    for location in dict.fromkeys(location for side in alive for location in side.stored_arrays):
        first, second = ((side if not side.dead else alive[0]).stored_arrays.get(location) for side in (then, orelse))
        state.stored_arrays[location] = first if first is second else joined_arrays(first, second, out)


def joined_arrays(first: StoredArrays | None, second: StoredArrays | None, out: Callable[..., Value]) -> StoredArrays | None:
    """The caller's copies of one array, joined from two paths, if each is of the whole array."""
    if not first or not second or len(first) != 1 or len(second) != 1 or first[0][0] or second[0][0]:
        return None
    return (((), out(first[0][1], second[0][1], first[0][1].type, None)),)


def expose(state: State, place: Any) -> None:
    """From here on the caller may hold an object or array, by an unknown handle."""
    if isinstance(place, HeapKey):
        state.handles[place] = None
    elif isinstance(place, Location):
        state.stored_arrays[place] = None


def is_exposed(ctx: Lowering, state: State, place: Any) -> bool:
    """Whether the caller may hold an object or array."""
    return place in state.handles or place in state.stored_arrays or place in ctx.arguments


def learn_exposed(ctx: Lowering, entry: State, exposed: dict[Any, None], head: Any, end: State, ends: Iterable[Any]) -> bool:
    """Record the objects that an iteration exposes, from before the loop or in the carried slots (``ends``); return whether any is new."""
    marks: list[Any] = [key for key in end.handles if key in entry.heap and key not in head.state.handles]
    marks += [place for place in end.stored_arrays if place in entry.memory and place not in head.state.stored_arrays]
    if end.handles or end.stored_arrays or ctx.arguments:
        marks += exposed_slots(ctx, head, end, ends)
    news = [mark for mark in marks if mark not in exposed]
    for mark in news:
        if not isinstance(mark, tuple):
            make_for_caller(ctx, entry, mark)  # before the loop, so that each iteration has its handle
    exposed.update(dict.fromkeys(news))
    return bool(news)


def exposed_slots(ctx: Lowering, head: Any, end: State, ends: Iterable[Any]) -> Iterator[tuple[type, tuple[Any, int]]]:
    """The carried slots that hold an exposed object or array at the end of an iteration, and held another, unexposed one at its start."""
    for place, held, form in ends:
        for tops, bottoms in ((head.objects, objects_of(held, form, end.heap)), (head.places, places_in(held, form, end.heap))):
            for n, bottom in enumerate(bottoms):
                top = tops.get((place, n))
                is_new = bottom is not None and top not in (None, bottom) and not is_exposed(ctx, head.state, top)
                if is_new and is_exposed(ctx, end, bottom):
                    yield type(bottom), (place, n)


def mark_exposed(state: State, exposed: Iterable[Any], objects: dict[Any, HeapKey], places: dict[Any, Location]) -> None:
    """Mark in a state the objects that earlier iterations may have exposed."""
    for mark in exposed:
        if isinstance(mark, tuple):
            kind, place = mark
            key = (objects if kind is HeapKey else places).get(place)
        else:
            key = mark
        if key is not None and key not in state.handles and key not in state.stored_arrays:
            expose(state, key)


def hand_on(ctx: Lowering, state: State, key: Any, sources: Iterable[tuple[Any, State]]) -> None:
    """Mark a new object or array, ``key``, as exposed if one of its ``sources`` is."""
    if key is not None and any(source is not None and is_exposed(ctx, side, source) for source, side in sources):
        expose(state, key)


__all__ = ["expose", "expose_on_both", "hand_on", "is_exposed", "join_exposed", "learn_exposed", "mark_exposed"]
