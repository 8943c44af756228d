"""table: rows that join arrays, and list displays of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from symgrad.ir.core import ZERO, Call, Const, Operand, Value
from symgrad.ir.types import UNDEFINED, Array, List, Scalar
from symgrad.loops.arrays import axes, constant_in, dtype_of
from symgrad.loops.context import Context, Listing, Thing
from symgrad.loops.forms import Form, cast_to, view_of_form
from symgrad.loops.lists import arrays_of_lists, list_rows, lists
from symgrad.loops.reach import OutOfReach, in_words
from symgrad.loops.writer import number


def concatenate(lowering: Context, op: Call) -> Thing:
    """Store each operand in its part of a new array."""
    writer, dtype = lowering.writer, dtype_of(op)
    parts = [lowering.form(a) for a in op.args]
    axis = op.settings["axis"]
    if axis is None or not parts or any(p.rank != parts[0].rank for p in parts):
        raise OutOfReach("np.concatenate of arrays that are flattened first", op.loc)
    (along,) = axes(op, axis, parts[0].rank)
    total: Operand = ZERO
    starts = []
    for p in parts:
        starts.append(total)
        total = writer.add(total, p.extents[along])
        for k, e in enumerate(p.extents):
            if k != along:
                writer.require_equal(e, parts[0].extents[k])
    extents = tuple(total if k == along else e for k, e in enumerate(parts[0].extents))
    handle = writer.empty(dtype, extents, op.outs[0].name)
    for p, start in zip(parts, starts, strict=True):
        with writer.nest(p.extents) as index:
            writer.store(handle, p.at(index), tuple(writer.add(start, i) if k == along else i for k, i in enumerate(index)))
    return lowering.memory(handle, op.outs[0], extents)


def concatenate_part(lowering: Context, op: Call) -> Thing:
    """The part of a cotangent that belongs to one operand."""
    g, writer = lowering.form(op.args[0]), lowering.writer
    shapes = [lowering.form(a).extents for a in op.args[1:]]
    at, axis = op.settings["at"], op.settings["axis"]
    if axis is None:
        raise OutOfReach("np.concatenate of arrays that are flattened first", op.loc)
    (along,) = axes(op, axis, g.rank)
    start: Operand = ZERO
    for s in shapes[:at]:
        start = writer.add(start, s[along])
    extents = tuple(shapes[at][k] if k == along else e for k, e in enumerate(g.extents))
    return view_of_form(g, extents, lambda index: tuple(writer.add(start, i) if k == along else i for k, i in enumerate(index)))


def stack(lowering: Context, op: Call) -> Thing:
    """Store each operand in its layer of a new array."""
    writer, dtype = lowering.writer, dtype_of(op)
    parts = [lowering.form(a) for a in op.args]
    (along,) = axes(op, op.settings["axis"], parts[0].rank + 1)
    for p in parts[1:]:
        for a, b in zip(p.extents, parts[0].extents, strict=True):
            writer.require_equal(a, b)
    own = parts[0].extents
    extents = (*own[:along], Const(len(parts)), *own[along:])
    handle = writer.empty(dtype, extents, op.outs[0].name)
    for number_, p in enumerate(parts):
        with writer.nest(p.extents) as index:
            writer.store(handle, p.at(index), (*index[:along], Const(number_), *index[along:]))
    return lowering.memory(handle, op.outs[0], extents)


def stack_part(lowering: Context, op: Call) -> Thing:
    """One layer of a cotangent."""
    g = lowering.form(op.args[0])
    (along,) = axes(op, op.settings["axis"], g.rank)
    layer = Const(op.settings["at"])
    if isinstance(op.outs[0].type, Scalar):
        return g.at((layer,))
    extents = g.extents[:along] + g.extents[along + 1 :]
    return view_of_form(g, extents, lambda index: (*index[:along], layer, *index[along:]))


# ------------------------------------------------------------------ lists

#: the maximum size of an array whose list stays a list display
FEW = 36


def list_of(lowering: Context, op: Call) -> Thing:
    """A list display: a tuple of its numbers or inner tuples, until something is stored to it."""
    items = tuple(lowering.thing(a) for a in op.args)
    if not items:
        return Listing(UNDEFINED)
    if all(isinstance(a.type, Scalar) or isinstance(f, tuple) and isinstance(a.type, List) for a, f in zip(op.args, items, strict=True)):
        return items
    out = op.outs[0].type
    if not isinstance(out, List):
        raise OutOfReach(f"a list of {' and '.join(in_words(a.type) for a in op.args)}", op.loc)
    lists.settled(lowering, op)
    listing = lists.begun(lowering, out.item, op.outs[0].name)
    for each, operand in zip(items, op.args, strict=True):
        lists.append(lowering, listing, each, operand)
    return listing


def array_of(lowering: Context, op: Call) -> Thing:
    """The array of a list display, or of a list in memory."""
    lowered, writer, dtype = lowering.thing(op.args[0]), lowering.writer, dtype_of(op)
    if not isinstance(lowered, tuple):
        return arrays_of_lists.array_of(lowering, op)
    lengths: list[int] = []
    inner: Any = lowered
    while isinstance(inner, tuple):
        lengths.append(len(inner))
        inner = inner[0] if inner else None
    extents = [Const(length) for length in lengths]
    type_ = op.outs[0].type
    if not isinstance(type_, Array) or type_.rank != len(extents):
        raise OutOfReach("the array of a list", op.loc)
    handle = writer.empty(dtype, extents, op.outs[0].name)
    store_nested(lowering, op, handle, lowered, lengths)
    return lowering.memory(handle, op.outs[0], extents)


def store_nested(lowering: Context, op: Call, handle: Value, nest: Any, lengths: Sequence[int], index: tuple[Operand, ...] = ()) -> None:
    """Store the numbers of nested tuples, all as long as the first."""
    writer, dtype = lowering.writer, dtype_of(op)
    if len(index) < len(lengths):
        if not isinstance(nest, tuple) or len(nest) != lengths[len(index)]:
            raise OutOfReach("the array of lists of different lengths", op.loc)
        for k, each in enumerate(nest):
            store_nested(lowering, op, handle, each, lengths, (*index, Const(k)))
        return
    if isinstance(nest, tuple | Form | Listing):
        raise OutOfReach("the array of lists of different lengths", op.loc)
    writer.store(handle, constant_in(nest, dtype) if isinstance(nest, Const) else cast_to(writer, nest, dtype), index)


def list_from(lowering: Context, op: Call) -> Thing:
    """The current elements of an array in nested lists: as a list display if they are few."""
    x, depth = lowering.form(op.args[0]), op.settings["depth"]
    told = op.args[0].type.shape if isinstance(op.args[0].type, Array) else None
    counts = [number(e) if not isinstance(t, int) else t for e, t in zip(x.extents, told or (None,) * x.rank, strict=True)]
    known = [c for c in counts if c is not None]
    if x.rank != depth or len(known) < depth or math.prod(known) > FEW:
        return list_rows.list_from(lowering, op)

    def written(index: tuple[Operand, ...]) -> Thing:
        return tuple(written((*index, Const(k))) for k in range(known[len(index)])) if len(index) < depth else x.at(index)

    return written(())


def list_take(lowering: Context, op: Call) -> Thing:
    """One item of a list."""
    lowered, place_ = lowering.thing(op.args[0]), number(op.args[1])
    if not isinstance(lowered, tuple):
        return list_rows.list_take(lowering, op)
    if place_ is None:
        return list_rows.list_take(lowering, op)
    if not -len(lowered) <= place_ < len(lowered):
        raise OutOfReach("an element that a list does not have", op.loc)
    return lowered[place_]  # type: ignore[no-any-return]


def table_take(lowering: Context, op: Call) -> Thing:
    """An item of an inner list; either list may be a list display."""
    lowered = lowering.thing(op.args[0])
    if not isinstance(lowered, tuple):
        return list_rows.table_take(lowering, op)
    places = [number(place) for place in op.args[1:]]
    for place in places:
        if place is None or not isinstance(lowered, tuple):
            return list_rows.table_take(lowering, op)
        if not -len(lowered) <= place < len(lowered):
            raise OutOfReach("an element that a list does not have", op.loc)
        lowered = lowered[place]
    return lowered


RULES = {
    "concatenate": concatenate,
    "concatenate_part": concatenate_part,
    "stack": stack,
    "stack_part": stack_part,
    "list_of": list_of,
    "array_of": array_of,
    "list_from": list_from,
    "list_take": list_take,
    "table_take": table_take,
}
