"""Paths to parts of arguments of inner derivatives: the binding at a path, and the argument with that binding replaced."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from symgrad.errors import BadArgument
from symgrad.frontend.objects.derived import STORAGE, is_derived, storage_of
from symgrad.frontend.state.bindings import Binding, HeapKey, Obj, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.paths import LISTED, Step
from symgrad.text import attribute, has_literal, item

Entries = Callable[[Lowering, Binding], list[tuple[Any, Binding]] | None]  #: the items of a container with their keys


@dataclass(frozen=True, slots=True)
class Part:
    """A part of an argument: the argument by index or name, the steps to the part, and the path as it was written."""

    root: int | str
    steps: tuple[Step, ...]
    text: str


def has_attributes(binding: Binding) -> bool:
    """Whether the parts of a container are reached by attributes."""
    if isinstance(binding, Tup):
        return binding.kind is not None
    return isinstance(binding, Obj) and binding.key.kind == "record" and not is_derived(binding)


def entries_at(ctx: Lowering, binding: Binding, entries: Entries) -> list[tuple[Step, Binding]]:
    """The parts of a container, each with the step that leads to it."""
    by_attribute = has_attributes(binding)
    parts = entries(ctx, binding) or []
    if isinstance(binding, Tup) and by_attribute:
        names = binding.kind._fields
        return [((True, name), part) for name, (_, part) in zip(names, parts, strict=True)]
    return [((by_attribute, key), part) for key, part in parts]


def part_at(ctx: Lowering, whole: Binding, part: Part, node: ast.AST, entries: Entries) -> Binding:
    """The binding of a part of an argument; if there is none, a BadArgument that lists the parts."""
    held = whole
    for step in part.steps:
        inside = next((b for s, b in entries_at(ctx, held, entries) if is_step(s, step)), None)
        if inside is None:
            root = part.text.partition(".")[0].partition("[")[0]
            paths = listed(ctx, root, whole, entries)
            more = [f"and {len(paths) - LISTED} more"] if len(paths) > LISTED else []
            what = f"{root} has no part {part.text}"
            raise BadArgument(what, ctx.loc(node), f"its parts are {', '.join([*paths[:LISTED], *more])}")
        held = inside
    return held


def is_step(one: Step, other: Step) -> bool:
    """Whether two steps are the same."""
    return one[0] is other[0] and type(one[1]) is type(other[1]) and one[1] == other[1]


def listed(ctx: Lowering, path: str, held: Binding, entries: Entries) -> list[str]:
    """The paths of the parts of an argument, itself first."""
    paths = [path]
    for (is_attribute, key), part in entries_at(ctx, held, entries):
        if is_attribute or has_literal(key):
            paths += listed(ctx, attribute(path, key) if is_attribute else item(path, key), part, entries)
    return paths


def with_part(ctx: Lowering, whole: Binding, steps: tuple[Step, ...], new: Binding, entries: Entries) -> Binding:
    """An argument with a part replaced; the containers on the path are new, everything else in them is the same."""
    if not steps:
        return new
    if (storage := storage_of(ctx, whole)) is not None:
        assert isinstance(whole, Obj)
        content = {**dict(ctx.state.entries(whole.key)), STORAGE: with_part(ctx, storage, steps, new, entries)}
        return ctx.new_object("record", content.items(), whole.key.cls)
    parts = [
        with_part(ctx, part, steps[1:], new, entries) if is_step(step, steps[0]) else part for step, part in entries_at(ctx, whole, entries)
    ]
    if isinstance(whole, Tup):
        return Tup(tuple(parts), whole.kind)
    assert isinstance(whole, Obj)
    key = HeapKey(whole.key.kind, whole.key.cls, exact=whole.key.exact, unordered=whole.key.unordered, sites=whole.key.sites)
    ctx.state.heap[key] = tuple((name, part) for (name, _), part in zip(ctx.state.entries(whole.key), parts, strict=True))
    return Obj(key)


__all__ = ["Part", "part_at", "with_part"]
