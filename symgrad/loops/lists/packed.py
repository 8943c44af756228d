"""Packs lists into arrays, for tapes and for passing between kernels, which take no lists; and unpacks them.

Numbers saved together take one array each; arrays take one array of extents and one of all elements; lists take
one array of lengths and the arrays of all their items.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from symgrad.ir.core import ONE, ZERO, Call, Const, Operand, Value
from symgrad.ir.types import INT, Array, Dim, List, Tape, Type
from symgrad.loops.context import Context, Held, Listing, Thing
from symgrad.loops.forms import cast_to, dtype_in_array
from symgrad.loops.lists.lists import item_of, listed, new_list, of_handle, over_indices
from symgrad.loops.reach import OutOfReach, in_words
from symgrad.loops.writer import Writer


def copied(writer: Writer, handle: Value, extents: Sequence[Operand] | None = None) -> Value:
    """A new array with the same elements."""
    extents = extents_of(writer, handle) if extents is None else extents
    copy = writer.empty(dtype_in_array(handle.type), extents, handle.name)
    with writer.nest(extents) as index:
        writer.store(copy, writer.read(handle, index), index)
    return copy


def arrays_for(type_: Type) -> list[Array]:
    """The types of the arrays that represent a list."""
    items = items_of(type_)
    match items[0]:
        case List():
            return [Array("i64", (Dim("?"),), "C"), *arrays_for(items[0])]
        case Array(shape=shape):
            return [Array("i64", (Dim("?"), len(shape or ())), "C"), Array(dtype_in_array(items[0]), (Dim("?"),), "C")]
    return [Array(dtype_in_array(item), (Dim("?"),), "C") for item in items]


def pack(writer: Writer, value: Value) -> list[Value]:
    """The arrays that represent a list. The items of a tape are popped from it."""
    items = items_of(value.type)
    length = writer.call("list_len", value)
    match items[0]:
        case Array():
            return pack_arrays(writer, value, items[0], length)
        case List():
            return pack_lists(writer, value, items[0], length)
    arrays = [writer.empty(dtype_in_array(item), [length], value.name) for item in items]
    with writer.loop(length) as place:
        if isinstance(value.type, Tape):
            parts = [Value(item) for item in items]
            writer.build.block.ops.append(Call(list(parts), writer.loc, "pop", [value], {}))
            place = writer.subtract(writer.subtract(length, ONE), place)
        else:
            parts = [item_at(writer, value, place)]
        for handle, part in zip(arrays, parts, strict=True):
            writer.store(handle, part, [place])
    return arrays


def pack_arrays(writer: Writer, value: Value, item: Array, length: Operand) -> list[Value]:
    """The extents of the arrays, and their elements, one array after the other."""
    shapes = writer.empty("i64", [length, Const(item.rank)], "shapes")
    total = writer.running(INT, ZERO, "total")
    with writer.loop(length) as place:
        extents = extents_of(writer, item_at(writer, value, place))
        for axis, extent in enumerate(extents):
            writer.store(shapes, extent, [place, Const(axis)])
        advance(writer, total, extents)
    elements = writer.empty(dtype_in_array(item), [total], value.name)
    start = writer.running(INT, ZERO, "start")
    with writer.loop(length) as place:
        one = item_at(writer, value, place)
        extents = extents_of(writer, one)
        with writer.nest(extents) as index:
            writer.store(elements, writer.read(one, index), [element_at(writer, start, extents, index)])
        advance(writer, start, extents)
    return [shapes, elements]


def pack_lists(writer: Writer, value: Value, item: List, length: Operand) -> list[Value]:
    """The lengths of the inner lists, and the arrays of one list of all their items."""
    lengths = writer.empty("i64", [length], "lengths")
    joined = begun(writer, item, value.name)
    with writer.loop(length) as place:
        row = item_at(writer, value, place)
        count = writer.call("list_len", row)
        writer.store(lengths, count, [place])
        with writer.loop(count) as k:
            append(writer, joined, [item_at(writer, row, k)])
    return [lengths, *pack(writer, joined)]


def unpack(writer: Writer, value: Value) -> tuple[list[Value], Value]:
    """New parameters for such arrays, and the list rebuilt from them."""
    params = [Value(array, value.name) for array in arrays_for(value.type)]
    return params, unpacked(writer, params, value.type, value.name)


def unpacked(writer: Writer, arrays: Sequence[Value], type_: Type, name: str | None) -> Value:
    """A list rebuilt from its arrays."""
    items = items_of(type_)
    if isinstance(items[0], List):
        return unpacked_lists(writer, arrays, items[0], name)
    if isinstance(items[0], Array):
        return unpacked_arrays(writer, arrays, items[0], name)
    result = begun(writer, type_, name)
    with writer.loop(writer.call("extent", arrays[0], axis=0)) as place:
        parts = [writer.read(array, [place]) for array in arrays]
        for part, item in zip(parts, items, strict=True):
            part.type = item
        append(writer, result, parts)
    return result


def unpacked_arrays(writer: Writer, arrays: Sequence[Value], item: Array, name: str | None) -> Value:
    """A list of arrays rebuilt from their extents and elements."""
    shapes, elements = arrays
    result = begun(writer, List(item), name)
    start = writer.running(INT, ZERO, "start")
    with writer.loop(writer.call("extent", shapes, axis=0)) as place:
        extents = [writer.read(shapes, [place, Const(axis)]) for axis in range(item.rank or 0)]
        for extent in extents:
            extent.type = INT
        one = writer.empty(dtype_in_array(item), extents)
        with writer.nest(extents) as index:
            writer.store(one, writer.read(elements, [element_at(writer, start, extents, index)]), index)
        append(writer, result, [one])
        advance(writer, start, extents)
    return result


def unpacked_lists(writer: Writer, arrays: Sequence[Value], item: List, name: str | None) -> Value:
    """A list of lists rebuilt from their lengths and items."""
    lengths, *rest = arrays
    joined = unpacked(writer, rest, item, None)
    result = begun(writer, List(item), name)
    start = writer.running(INT, ZERO, "start")
    with writer.loop(writer.call("extent", lengths, axis=0)) as place:
        stop = writer.call("add", start, writer.read(lengths, [place]), via=None)
        row = writer.call("list_part", joined, start, stop)
        row.type = item
        append(writer, result, [row])
        writer.let(start, stop)
    return result


# ------------------------------------------------------------------ helpers


def items_of(type_: Type) -> list[Held]:
    """The types of the values at each index of a list or tape."""
    types = type_.items if isinstance(type_, Tape) else (type_.item,) if isinstance(type_, List) else ()
    items = [item for item in types if isinstance(item, Held)]
    if not items or len(items) < len(types):
        raise OutOfReach(f"a value that is saved in {in_words(type_)}")
    return items


def extents_of(writer: Writer, handle: Value) -> list[Value]:
    """The extents of an array."""
    assert isinstance(handle.type, Array)
    return [writer.call("extent", handle, axis=axis) for axis in range(handle.type.rank or 0)]


def item_at(writer: Writer, value: Value, place: Operand) -> Value:
    """One item of a list: an array of unknown extents."""
    (item,) = items_of(value.type)
    element = writer.call("list_take", value, place)
    anything = Array(item.dtype, (Dim("?"),) * len(item.shape or ()), "C") if isinstance(item, Array) else item
    element.type = writer.build.freshen(anything)
    return element


def begun(writer: Writer, type_: Type, name: str | None) -> Value:
    """An empty list or tape."""
    if isinstance(type_, Tape):
        tape = writer.call("tape", hint=name)
        tape.type = type_
        return tape
    (item,) = items_of(type_)
    return new_list(writer, item, name)


def append(writer: Writer, handle: Value, parts: Sequence[Operand]) -> None:
    """Append an item."""
    writer.whole("push" if isinstance(handle.type, Tape) else "list_append", handle, *parts)


def element_at(writer: Writer, start: Value, extents: Sequence[Operand], index: Sequence[Operand]) -> Operand:
    """The flat index of an element of the array that begins at ``start``; ``index`` is its index within that array."""
    offset: Operand = ZERO
    for extent, i in zip(extents, index, strict=True):
        offset = writer.add(writer.multiply(offset, extent), i)
    return writer.call("add", start, offset, via=None)


def advance(writer: Writer, running: Value, extents: Sequence[Operand]) -> None:
    """Advance a running position by the number of elements of these extents."""
    count: Operand = ONE
    for extent in extents:
        count = writer.multiply(count, extent)
    writer.let(running, writer.call("add", running, count, via=None))


# ------------------------------------------------------------------ lists of lists between Python and a kernel


def lists_from(context: Context, op: Call) -> Thing:
    """Build a list of lists from their lengths and all numbers."""
    arrays = [context.materialised(operand).memory for operand in op.args]
    assert all(array is not None for array in arrays)
    return of_handle(unpacked(context.writer, arrays, op.outs[0].type, op.outs[0].name))  # type: ignore[arg-type]


def lengths_of(context: Context, op: Call) -> Thing:
    """The lengths of the inner lists."""
    writer, rows = context.writer, rows_of(context, op.args[0])
    count = writer.call("list_len", rows.known)
    lengths = writer.empty("i64", [count], op.outs[0].name)
    with over_indices(context, rows) as place:
        writer.store(lengths, writer.call("list_len", item_of(context, rows, place)), [place])
    return context.memory(lengths, op.outs[0], [count])


def numbers_of(context: Context, op: Call) -> Thing:
    """The numbers in all inner lists."""
    writer, rows, dtype = context.writer, rows_of(context, op.args[0]), op.settings["dtype"]
    total = writer.running(INT, ZERO, "total")
    with over_indices(context, rows) as place:
        writer.let(total, writer.call("add", total, writer.call("list_len", item_of(context, rows, place)), via=None))
    numbers = writer.empty(dtype, [total], op.outs[0].name)
    at = writer.running(INT, ZERO, "at")
    with over_indices(context, rows) as place:
        row = of_handle(item_of(context, rows, place))
        with over_indices(context, row) as k:
            writer.store(numbers, cast_to(writer, item_of(context, row, k), dtype), [at])
            writer.let(at, writer.call("add", at, ONE, via=None))
    return context.memory(numbers, op.outs[0], [total])


def rows_of(context: Context, operand: Operand) -> Listing:
    """The operand as a list of lists in memory."""
    listing = listed(context, operand)
    if not isinstance(listing.item, List):
        raise OutOfReach(in_words(operand.type), context.writer.loc)
    return listing


RULES: dict[str, Any] = {"lists_from": lists_from, "lengths_of": lengths_of, "numbers_of": numbers_of}
