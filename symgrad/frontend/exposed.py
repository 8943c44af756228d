"""What the caller holds of the objects and arrays that the program follows, where paths meet and from round to round of loops.

An object or array is *exposed* on a path on which it was stored in an object of the caller's. Where this, or the operand that stands for
it there, differs by path, it is exposed without a handle: it can be read, and stored somewhere, and what would change it is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from symgrad.frontend.bindings import HeapKey, Location, State
from symgrad.frontend.context import Lowering
from symgrad.frontend.skeletons import objects_of, places_in


def join_exposed(state: State, entry: State, alive: list[State]) -> None:
    """What is exposed after a branch: on any path; with its handle where that is one from before the branch."""
    for key in dict.fromkeys(key for side in alive for key in side.handles):
        handle = entry.handles.get(key)
        state.handles[key] = handle if all(side.handles.get(key) is handle for side in alive) else None
    for location in dict.fromkeys(location for side in alive for location in side.stored_arrays):
        held = entry.stored_arrays.get(location)
        state.stored_arrays[location] = held if all(side.stored_arrays.get(location) is held for side in alive) else None


def expose(state: State, place: Any) -> None:
    """From here on the caller may hold an object or array, nobody knows by which handle."""
    if isinstance(place, HeapKey):
        state.handles[place] = None
    elif isinstance(place, Location):
        state.stored_arrays[place] = None


def is_exposed(ctx: Lowering, state: State, place: Any) -> bool:
    """May the caller hold an object or array?"""
    return place in state.handles or place in state.stored_arrays or place in ctx.arguments


def learn_exposed(ctx: Lowering, entry: State, exposed: dict[Any, None], head: Any, end: State, ends: Iterable[Any]) -> bool:
    """Note what a round exposes: of before the loop, or in the places that are carried (``ends``); True if that is news."""
    marks: list[Any] = [key for key in end.handles if key in entry.heap and key not in head.state.handles]
    marks += [place for place in end.stored_arrays if place in entry.memory and place not in head.state.stored_arrays]
    for place, held, form in ends if end.handles or end.stored_arrays or ctx.arguments else ():
        for tops, found in ((head.objects, objects_of(held, form, end.heap)), (head.places, places_in(held, form, end.heap))):
            for n, bottom in enumerate(found):
                top = tops.get((place, n))
                if bottom is not None and top not in (None, bottom):
                    if is_exposed(ctx, end, bottom) and not is_exposed(ctx, head.state, top):
                        marks.append((type(bottom), (place, n)))
    news = [mark for mark in marks if mark not in exposed]
    exposed.update(dict.fromkeys(news))
    return bool(news)


def mark_exposed(state: State, exposed: Iterable[Any], objects: dict[Any, HeapKey], places: dict[Any, Location]) -> None:
    """Enter what rounds before this one may have exposed."""
    for mark in exposed:
        if isinstance(mark, tuple):
            kind, place = mark
            found = (objects if kind is HeapKey else places).get(place)
        else:
            found = mark
        if found is not None and found not in state.handles and found not in state.stored_arrays:
            expose(state, found)


def hand_on(ctx: Lowering, state: State, made: Any, sources: Iterable[tuple[Any, State]]) -> None:
    """A new object or array stands for others: it is exposed if one of them is."""
    if made is not None and any(source is not None and is_exposed(ctx, side, source) for source, side in sources):
        expose(state, made)


__all__ = ["expose", "hand_on", "is_exposed", "join_exposed", "learn_exposed", "mark_exposed"]
