"""Arrays of the items of lists, as their elements or rows, or one after another; and the lists of the parts of such arrays."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.ir.core import ONE, ZERO, Call, Operand, Value
from symgrad.ir.types import Array, List, Scalar
from symgrad.loops.arrays import dtype_of
from symgrad.loops.context import Context, Listing, Thing
from symgrad.loops.forms import Form, cast_to, dtype_in_array
from symgrad.loops.lists.lists import append, begun, item_of, listed, of_handle, over_indices, read_extents
from symgrad.loops.reach import OutOfReach, function_in_words


def array_of(context: Context, op: Call) -> Thing:
    """An array with the items as its elements or rows, which must be of one shape."""
    depth = op.settings.get("depth", 1)
    if op.settings.get("axis", 0) != 0:
        raise OutOfReach("lists of arrays that are stacked along another axis", op.loc)
    writer, listing, dtype = context.writer, listed(context, op.args[0]), dtype_of(op)
    extents = lengths_of(context, listing, depth, is_any_length=op.settings["dtype"] is not None or dtype == "f64")
    handle = writer.empty(dtype, extents, op.outs[0].name)
    store_items(context, handle, listing, extents, ())
    return context.memory(handle, op.outs[0], extents)


def concatenate_list(context: Context, op: Call) -> Thing:
    """The arrays of a list one after another along their first axis; their other extents must be equal."""
    check_first_axis(op)
    writer, listing = context.writer, listed(context, op.args[0])
    writer.check("check_at_least", writer.call("list_len", listing.known), ONE)
    assert isinstance(listing.item, Array)
    rest = read_extents(context, item_of(context, listing, ZERO), listing.item)[1:]
    total = writer.running(Scalar("int"), ZERO)
    with over_indices(context, listing) as place:
        own, *others = read_extents(context, item_of(context, listing, place), listing.item)
        for other, extent in zip(others, rest, strict=True):
            writer.check("check_equal", other, extent)
        writer.let(total, writer.add(total, own))
    extents = [total, *rest]
    handle = writer.empty(dtype_of(op), extents, op.outs[0].name)
    start = writer.running(Scalar("int"), ZERO)
    with over_indices(context, listing) as place:
        item = item_of(context, listing, place)
        own = read_extents(context, item, listing.item)[0]
        with writer.nest([own, *rest]) as index:
            element = cast_to(writer, writer.read(item, index), dtype_in_array(handle.type))
            writer.store(handle, element, (writer.add(start, index[0]), *index[1:]))
        writer.let(start, writer.add(start, own))
    return context.memory(handle, op.outs[0], extents)


def split_like(context: Context, op: Call) -> Thing:
    """The parts of an array in a list, as long as the arrays of another list."""
    check_first_axis(op)
    x, listing, out = context.form(op.args[0]), listed(context, op.args[1]), op.outs[0].type
    assert isinstance(out, List)
    assert isinstance(listing.item, Array)
    writer, parts = context.writer, begun(context, out.item, op.outs[0].name)
    start = writer.running(Scalar("int"), ZERO)
    with over_indices(context, listing) as place:
        own = read_extents(context, item_of(context, listing, place), listing.item)[0]
        append(context, parts, Form(x.dtype, (own, *x.extents[1:]), lambda index: x.at((writer.add(start, index[0]), *index[1:])), (x,)))
        writer.let(start, writer.add(start, own))
    return parts


def check_first_axis(op: Call) -> None:
    """Raise ``OutOfReach`` unless a list of arrays is joined or split along the first axis."""
    if op.settings["axis"] != 0:
        raise OutOfReach(f"{function_in_words(op)} of lists along another axis than the first", op.loc)


def lengths_of(context: Context, listing: Listing, depth: int, is_any_length: bool) -> list[Operand]:
    """The extents of a list's array, from the first items; without items the kernel is left, because NumPy's array has other ones."""
    writer = context.writer
    count = writer.call("list_len", listing.known)
    if depth == 1 and isinstance(listing.item, Scalar):
        if not is_any_length:  # NumPy makes an array of float64 from an empty list
            writer.check("check_at_least", count, ONE)
        return [count]
    writer.check("check_at_least", count, ONE)
    first = item_of(context, listing, ZERO)
    if depth == 1 and isinstance(listing.item, Array):
        return [count, *read_extents(context, first, listing.item)]
    if depth == 1 or not isinstance(listing.item, List):
        raise OutOfReach("the array of a list of lists", writer.loc)
    return [count, *lengths_of(context, of_handle(first), depth - 1, is_any_length)]


def store_items(context: Context, handle: Value, listing: Listing, extents: Sequence[Operand], outer: tuple[Operand, ...]) -> None:
    """Store the items of a list in their part of an array."""
    writer, dtype = context.writer, dtype_in_array(handle.type)
    with over_indices(context, listing) as place:
        item = item_of(context, listing, place)
        match listing.item:
            case Scalar():
                writer.store(handle, cast_to(writer, item, dtype), (*outer, place))
            case Array():
                for mine, extent in zip(read_extents(context, item, listing.item), extents[1:], strict=True):
                    writer.check("check_equal", mine, extent)
                with writer.nest(extents[1:]) as index:
                    writer.store(handle, cast_to(writer, writer.read(item, index), dtype), (*outer, place, *index))
            case _:
                row = of_handle(item)
                writer.check("check_equal", writer.call("list_len", row.known), extents[1])
                store_items(context, handle, row, extents[1:], (*outer, place))
