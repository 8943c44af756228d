"""Reachability: which objects a program can still reach, and by how many references."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from symgrad.frontend.state.bindings import (
    Above,
    Binding,
    Bound,
    Choice,
    Frozen,
    Fun,
    Generator,
    HeapKey,
    Iter,
    Location,
    Maybe,
    Num,
    Obj,
    Partial,
    Ref,
    Rest,
    Static,
    Tup,
    View,
    is_row,
)
from symgrad.frontend.state.program_state import State


def tuple_and_items(binding: Binding) -> Iterator[Binding]:
    """A binding, and the items of a tuple."""
    yield binding
    if isinstance(binding, Tup):
        for item in binding.items:
            yield from tuple_and_items(item)


def parts_of(binding: Any) -> Iterator[Any]:
    """The bindings inside a binding other than an object."""
    match binding:
        case View(items=items, owner=owner):
            yield from items
            if owner is not None:
                yield Obj(owner)
        case Tup(items=parts) | Iter(parts=parts):
            yield from parts
        case Bound(owner=owner) | Above(owner=owner):
            yield owner
        case Fun(defaults=pairs) | Generator(bound=pairs):
            yield from (b for _, b in pairs)
            if isinstance(binding, Fun) and binding.attributes is not None:
                yield Obj(binding.attributes)
        case Partial(function=function, args=args, kwargs=kwargs):
            yield function
            yield from (*args, *(b for _, b in kwargs))
        case Frozen(args=args, kwargs=kwargs):
            yield from (*args, *(b for _, b in kwargs))
        case Maybe(inner=inner) | Rest(items=inner):
            yield inner
        case Choice(then=one, orelse=two):
            yield from (one, two)


def memory_in(binding: Any) -> Iterator[Location]:
    """The memory of every array that a binding reaches without objects."""
    if isinstance(binding, Ref):
        yield binding.location
    elif not isinstance(binding, Num | Static | Obj):
        for part in parts_of(binding):
            yield from memory_in(part)


def memory_within(binding: Any, state: State) -> list[Location]:
    """The memory of every array and list that a binding reaches, also through objects."""
    if isinstance(binding, Num | Static):
        return []
    locations = dict.fromkeys(memory_in(binding))
    for key in objects_around(binding, state):
        content = state.heap.get(key, ())
        for item in [content] if isinstance(content, Ref) else [b for _, b in content]:
            locations |= dict.fromkeys(memory_in(item))
    return list(locations)


def memory_held(state: State, others: Iterable[Binding]) -> set[Location]:
    """The memory that names, operands, objects and other bindings hold, at any depth."""
    held: set[Location] = set()
    todo: list[Any] = [*state.roots(), *state.heap.values(), *others]
    while todo:
        match todo.pop():
            case Ref(location):
                held.add(location)
            case Num():  # skipped: they are frequent
                pass
            case tuple() as items:
                todo += items
            case Binding() as binding:
                todo += [getattr(binding, part.name) for part in dataclasses.fields(binding)]
    return held


def objects_around(binding: Any, state: State) -> list[HeapKey]:
    """Every object that a binding reaches, in order."""
    ways: Counter[HeapKey] = Counter()
    count_ways(binding, state, ways)
    return list(ways)


def objects_in(binding: Any, state: State, seen: set[HeapKey]) -> None:
    """Every object that a binding reaches."""
    count_ways(binding, state, ways := Counter(dict.fromkeys(seen, 1)))
    seen |= set(ways)


def count_ways(binding: Any, state: State, ways: Counter[HeapKey]) -> None:
    """Count the references to each object that a binding reaches; an object's content is visited once."""
    if isinstance(binding, Obj):
        ways[binding.key] += 1
        if ways[binding.key] == 1:
            content = state.heap.get(binding.key, ())
            for _, item in () if isinstance(content, Ref) else content:
                count_ways(item, state, ways)
        return
    for part in parts_of(binding):
        count_ways(part, state, ways)


def functions_in(bindings: Iterable[Any], state: State) -> Iterator[Fun | Generator]:
    """Every function and every generator of the program that bindings reach."""
    todo, seen = [*bindings], set[HeapKey]()
    while todo:
        match todo.pop():
            case Obj(key):
                content = () if key in seen else state.heap.get(key, ())
                seen.add(key)
                todo += [] if isinstance(content, Ref) else [item for _, item in content]
            case binding:
                if isinstance(binding, Fun | Generator):
                    yield binding
                todo += parts_of(binding)


def reached_twice(state: State) -> set[HeapKey]:
    """The objects with more than one reference from names, operands or items."""
    ways: Counter[HeapKey] = Counter()
    for binding in state.roots():
        count_ways(binding, state, ways)
    return {key for key, count in ways.items() if count > 1}


def reached(state: State) -> set[HeapKey]:
    """The objects that a program can still reach."""
    seen: set[HeapKey] = set()
    for binding in state.roots():
        objects_in(binding, state, seen)
    return seen


def rows_seen(location: Location, state: State) -> bool:
    """Whether the program can still reach a list that was read from a list of lists."""
    return any(isinstance(row := state.heap.get(key), Ref) and is_row(row) and row.location is location for key in reached(state))


def holders(location: Location, state: State) -> int:
    """The number of names, operands and items that hold an array."""
    whole = [item for key in reached(state) if not isinstance(content := state.heap.get(key, ()), Ref) for _, item in content]
    return sum(held is location for binding in (*state.roots(), *whole) for held in memory_in(binding))
