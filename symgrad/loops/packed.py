"""Lists as arrays: what one kernel hands to another, which can take no lists, and the lists that the other makes of it again.

Of numbers that are saved together there is an array for each; of arrays one with all their elements, and one with their extents.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.ir.core import ONE, ZERO, Call, Const, Operand, Value
from symgrad.ir.types import INT, Array, Dim, List, Scalar, Tape
from symgrad.loops.forms import dtype_in_array
from symgrad.loops.lists import new_list
from symgrad.loops.reach import OutOfReach, in_words
from symgrad.loops.writer import Writer


def copied(writer: Writer, handle: Value, extents: Sequence[Operand] | None = None) -> Value:
    """A new array with the same elements."""
    extents = extents_of(writer, handle) if extents is None else extents
    copy = writer.empty(dtype_in_array(handle.type), extents, handle.name)
    with writer.nest(extents) as index:
        writer.store(copy, writer.read(handle, index), index)
    return copy


def pack(writer: Writer, value: Value) -> list[Value]:
    """The arrays for the items of a list. The items of a tape are popped from it."""
    items = items_of(value)
    length = writer.call("list_len", value)
    if isinstance(items[0], Array):
        return pack_arrays(writer, value, items[0], length)
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


def unpack(writer: Writer, value: Value) -> tuple[list[Value], Value]:
    """New parameters for such arrays, and the list that is built from them."""
    items = items_of(value)
    if isinstance(items[0], Array):
        return unpack_arrays(writer, value, items[0])
    params = [Value(Array(dtype_in_array(item), (Dim("?"),), "C"), value.name) for item in items]
    unpacked = begun(writer, value)
    with writer.loop(writer.call("extent", params[0], axis=0)) as place:
        parts = [writer.read(param, [place]) for param in params]
        for part, item in zip(parts, items, strict=True):
            part.type = item
        append(writer, unpacked, parts)
    return params, unpacked


def unpack_arrays(writer: Writer, value: Value, item: Array) -> tuple[list[Value], Value]:
    """The same for arrays of all elements."""
    shapes = Value(Array("i64", (Dim("?"), len(item.shape or ())), "C"), "shapes")
    elements = Value(Array(dtype_in_array(item), (Dim("?"),), "C"), value.name)
    unpacked = begun(writer, value)
    start = writer.running(INT, ZERO, "start")
    with writer.loop(writer.call("extent", shapes, axis=0)) as place:
        extents = [writer.read(shapes, [place, Const(axis)]) for axis in range(item.rank or 0)]
        for extent in extents:
            extent.type = INT
        one = writer.empty(dtype_in_array(item), extents)
        with writer.nest(extents) as index:
            writer.store(one, writer.read(elements, [element_at(writer, start, extents, index)]), index)
        append(writer, unpacked, [one])
        advance(writer, start, extents)
    return [shapes, elements], unpacked


# ------------------------------------------------------------------ parts


def items_of(value: Value) -> list[Scalar | Array]:
    """The types of the values that stand together at each place of a list."""
    types = value.type.items if isinstance(value.type, Tape) else (value.type.item,) if isinstance(value.type, List) else ()
    items = [item for item in types if isinstance(item, Scalar | Array)]
    if not items or len(items) < len(types):
        raise OutOfReach(f"a value that a pullback keeps in {in_words(value.type)}")
    return items


def extents_of(writer: Writer, handle: Value) -> list[Value]:
    """The extents of an array."""
    assert isinstance(handle.type, Array)
    return [writer.call("extent", handle, axis=axis) for axis in range(handle.type.rank or 0)]


def item_at(writer: Writer, value: Value, place: Operand) -> Value:
    """One item of a list, an array of any extents."""
    (item,) = items_of(value)
    element = writer.call("list_take", value, place)
    anything = Array(item.dtype, (Dim("?"),) * len(item.shape or ()), "C") if isinstance(item, Array) else item
    element.type = writer.build.freshen(anything)
    return element


def begun(writer: Writer, like: Value) -> Value:
    """An empty list or tape."""
    if isinstance(like.type, Tape):
        tape = writer.call("tape", hint=like.name)
        tape.type = like.type
        return tape
    (item,) = items_of(like)
    return new_list(writer, item, like.name)


def append(writer: Writer, handle: Value, parts: Sequence[Operand]) -> None:
    """Append an item."""
    writer.whole("push" if isinstance(handle.type, Tape) else "list_append", handle, *parts)


def element_at(writer: Writer, start: Value, extents: Sequence[Operand], index: Sequence[Operand]) -> Operand:
    """The place of an element: its array begins at ``start``, and ``index`` is its index in that array."""
    offset: Operand = ZERO
    for extent, i in zip(extents, index, strict=True):
        offset = writer.add(writer.multiply(offset, extent), i)
    return writer.call("add", start, offset, via=None)


def advance(writer: Writer, running: Value, extents: Sequence[Operand]) -> None:
    """Go on by as many elements as an array of these extents has."""
    count: Operand = ONE
    for extent in extents:
        count = writer.multiply(count, extent)
    writer.let(running, writer.call("add", running, count, via=None))
