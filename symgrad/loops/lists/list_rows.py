"""table: rows of lists that grow, shrink or are long."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from symgrad.ir.core import FALSE, ONE, TRUE, ZERO, Call, Const, Operand
from symgrad.ir.types import Array, List, Scalar
from symgrad.loops import arrays
from symgrad.loops.bailouts import bail_out
from symgrad.loops.context import Context, Held, Listing, Slots, Stacks, Thing
from symgrad.loops.forms import Form
from symgrad.loops.lists.arrays_of_lists import array_of, concatenate_list, split_like
from symgrad.loops.lists.lists import (
    append,
    as_list,
    begun,
    item_at,
    item_of,
    kept,
    listed,
    memory_of,
    number_for,
    of_handle,
    over_indices,
    part_of,
    put_in,
    settled,
    sum_of,
    sum_of_arrays,
    sum_of_items,
    zeros,
    zeros_like,
)
from symgrad.loops.reach import OutOfReach, function_in_words, in_words, plural


def list_append(context: Context, op: Call) -> Thing:
    settled(context, op)
    out = op.outs[0].type
    if not isinstance(out, List):
        raise OutOfReach(f"{in_words(out)} as a list", op.loc)
    listing = listed(context, op.args[0], out.item)
    append(context, listing, context.thing(op.args[1]), op.args[1])
    return listing


def list_drop(context: Context, op: Call) -> Thing:
    listing = listed(context, op.args[0])
    context.writer.whole("list_drop", listing.known)
    return listing


def list_set(context: Context, op: Call) -> Thing:
    settled(context, op)
    out = op.outs[0].type
    listing = listed(context, op.args[0], out.item if isinstance(out, List) else None)
    context.writer.keep(listing.known, context.number(op.args[1]), put_in(context, listing, context.thing(op.args[2]), op.args[2]))
    return listing


def list_add_at(context: Context, op: Call) -> Thing:
    """Replace an item by its sum with a new one: arrays are not added to in place."""
    settled(context, op)
    writer, listing, place = context.writer, listed(context, op.args[0]), context.number(op.args[1])
    old = item_of(context, listing, place)
    match listing.item:
        case Scalar():
            total = sum_of_items(context, listing.item, old, number_for(context, listing.item, context.thing(op.args[2])))
        case List(item=inner):
            total = sum_of_items(context, listing.item, old, listed(context, op.args[2], inner).known)
        case _:
            total = sum_of_arrays(context, memory_of(context, old, listing.item), context.form(op.args[2]))
    writer.keep(listing.known, place, total)
    return listing


def table_take(context: Context, op: Call) -> Thing:
    """An item of an inner list."""
    table = listed(context, op.args[0])
    item = context.writer.call("table_take", table.known, *map(context.number, op.args[1:]), hint=op.outs[0].name)
    item.type = numbers_of(table, context)
    return item


def table_store(context: Context, op: Call) -> Thing:
    """Store a number in an inner list, or add it to an item there."""
    out = op.outs[0].type
    table = listed(context, op.args[0], out.item if isinstance(out, List) else None)
    number = number_for(context, numbers_of(table, context), context.thing(op.args[3]))
    context.writer.whole(op.name, table.known, *map(context.number, op.args[1:3]), number)
    return table


def numbers_of(table: Listing, context: Context) -> Scalar:
    """The type of the inner lists' items, which must be numbers."""
    item = table.item.item if isinstance(table.item, List) else table.item
    if not isinstance(table.item, List) or not isinstance(item, Scalar):
        raise OutOfReach(f"a list of {plural(in_words(table.item))} as one of lists of numbers", context.writer.loc)
    return item


def list_len(context: Context, op: Call) -> Thing:
    lowered = context.thing(op.args[0])
    if isinstance(lowered, tuple):
        return Const(len(lowered))
    if isinstance(lowered, Listing) and lowered.handle is None:
        return ZERO
    return context.writer.call("list_len", listed(context, op.args[0]).known)


def list_zeros(context: Context, op: Call) -> Thing:
    """Zeros in the shapes of the items; for an argument, passed as an array, as many zeros as elements."""
    out = op.outs[0].type
    if isinstance(op.args[0].type, Array):
        assert isinstance(out, List)
        return zeros(context, kept(context, out.item), context.form(op.args[0]).extents[0])
    return zeros_like(context, listed(context, op.args[0]))


def copied(context: Context, op: Call) -> Thing:
    """A new list of the same items; other copies are lowered with arrays."""
    lowered = context.thing(op.args[0])
    if not isinstance(op.outs[0].type, List):
        return arrays.copied(context, op)
    if isinstance(lowered, tuple) or isinstance(lowered, Listing) and lowered.handle is None:
        return lowered
    settled(context, op)
    return copy_of(context, listed(context, op.args[0]))


def copy_of(context: Context, old: Listing) -> Listing:
    """A new list of the same items, with inner lists copied."""
    if not isinstance(old.item, List):
        return part_of(context, old, ZERO, context.writer.call("list_len", old.known))
    new = begun(context, old.item)
    with over_indices(context, old) as place:
        context.writer.whole("list_append", new.known, copy_of(context, of_handle(item_of(context, old, place))).known)
    return new


def list_slice(context: Context, op: Call) -> Thing:
    settled(context, op)
    old = listed(context, op.args[0])
    start, stop, step = (context.number(a) for a in op.args[1:])
    if not isinstance(step, Const) or step.value == 0:
        raise OutOfReach("a slice of a list with a step that is not a literal", op.loc)
    if step.value not in (None, 1):
        handle = context.writer.call("list_slice", old.known, start, stop, step, hint=op.outs[0].name)
        handle.type = old.known.type
        return of_handle(handle)
    start = ZERO if is_none(start) else start
    stop = context.writer.call("list_len", old.known) if is_none(stop) else stop
    return part_of(context, old, start, stop, op.outs[0].name)


def is_none(operand: Operand) -> bool:
    return isinstance(operand, Const) and operand.value is None


def list_add_slice(context: Context, op: Call) -> Thing:
    """Add items to a slice of a list."""
    writer, listing, added = context.writer, listed(context, op.args[0]), listed(context, op.args[4])
    bounds = [context.number(a) for a in op.args[1:4]]
    first, step = first_place(context, listing, bounds[0], bounds[2], op)
    with over_indices(context, added) as k:
        place = writer.call("add", first, writer.multiply(k, step))
        both = (item_of(context, each, at) for each, at in ((listing, place), (added, k)))
        writer.keep(listing.known, place, sum_of_items(context, listing.item, *both))
    return listing


def first_place(context: Context, listing: Listing, start: Operand, step: Operand, op: Call) -> tuple[Operand, Const]:
    """The index of a slice's first item, and the step."""
    writer = context.writer
    if not isinstance(step, Const) or step.value == 0:
        raise OutOfReach("a slice of a list with a step that is not a literal", op.loc)
    length = writer.call("list_len", listing.known)
    ahead = step.value is None or step.value > 0
    stride = Const(1 if step.value is None else step.value)
    if is_none(start):
        return (ZERO if ahead else writer.call("subtract", length, ONE)), stride
    from_end = writer.call("where", writer.call("less", start, ZERO), writer.call("add", start, length), start)
    if ahead:
        return writer.call("maximum", from_end, ZERO, via="math"), stride
    return writer.call("minimum", from_end, writer.call("subtract", length, ONE), via="math"), stride


def list_add(context: Context, op: Call) -> Thing:
    """The sums of the items of two lists."""
    out = op.outs[0].type
    first, second = (listed(context, a, out.item if isinstance(out, List) else None) for a in op.args)
    return sum_of(context, first, second)


def contains(context: Context, op: Call) -> Thing:
    """Whether a number is among the items."""
    writer, listing, sought = context.writer, listed(context, op.args[0]), context.thing(op.args[1])
    if not isinstance(listing.item, Scalar) or isinstance(sought, Form | tuple | Stacks | Slots | Listing):
        raise OutOfReach(f"{function_in_words(op)} of a list of {plural(in_words(listing.item))}", op.loc)
    if getattr(sought.type, "kind", None) == "float":  # Python finds a nan by identity
        bail_out(writer.build, writer.call("not_equal", sought, sought))
    among = writer.running(Scalar("bool"), FALSE, op.outs[0].name)
    with over_indices(context, listing) as place:
        writer.let(among, writer.call("logical_or", among, writer.call("equal", item_of(context, listing, place), sought)))
    return writer.call("logical_not", among) if op.name == "not_contains" else among


def list_index(context: Context, op: Call) -> Thing:
    """The index of the first item equal to a number; without one the kernel is left, and the Python code raises."""
    writer, listing, sought = context.writer, listed(context, op.args[0]), context.thing(op.args[1])
    if not isinstance(listing.item, Scalar) or isinstance(sought, Form | tuple | Stacks | Slots | Listing):
        raise OutOfReach(f"{function_in_words(op)} of a list of {plural(in_words(listing.item))}", op.loc)
    at = writer.running(Scalar("int"), Const(-1), op.outs[0].name)
    with over_indices(context, listing) as place:
        is_first = writer.call("logical_and", writer.call("less", at, ZERO), writer.call("equal", item_of(context, listing, place), sought))
        writer.let(at, writer.call("where", is_first, place, at))
    bail_out(writer.build, writer.call("less", at, ZERO))
    return at


def rows_sought(context: Context, op: Call) -> tuple[list[Listing], list[Thing]]:
    """The lists in which numbers are searched side by side, and these numbers."""
    count = len(op.args) // 2
    listings, sought = [listed(context, a) for a in op.args[:count]], [context.thing(a) for a in op.args[count:]]
    for listing, one in zip(listings, sought, strict=True):
        if not isinstance(listing.item, Scalar) or isinstance(one, Form | tuple | Stacks | Slots | Listing):
            raise OutOfReach(f"{function_in_words(op)} of a list of {plural(in_words(listing.item))}", op.loc)
    return listings, sought


def is_row_at(context: Context, listings: list[Listing], sought: list[Thing], place: Operand) -> Operand:
    """Whether the numbers are side by side at an index of the lists."""
    equal = [are_equal(context, item_of(context, x, place), one) for x, one in zip(listings, sought, strict=True)]
    return functools.reduce(lambda one, other: context.writer.call("logical_and", one, other), equal)


def contains_row(context: Context, op: Call) -> Thing:
    """Whether the numbers are side by side at some index of the lists."""
    listings, sought = rows_sought(context, op)
    writer = context.writer
    among = writer.running(Scalar("bool"), FALSE, op.outs[0].name)
    with over_indices(context, listings[0]) as place:
        writer.let(among, writer.call("logical_or", among, is_row_at(context, listings, sought, place)))
    return among


def row_index(context: Context, op: Call) -> Thing:
    """The first index with the numbers side by side; there is one."""
    listings, sought = rows_sought(context, op)
    writer = context.writer
    at = writer.running(Scalar("int"), Const(-1), op.outs[0].name)
    with over_indices(context, listings[0]) as place:
        is_first = writer.call("logical_and", writer.call("less", at, ZERO), is_row_at(context, listings, sought, place))
        writer.let(at, writer.call("where", is_first, place, at))
    bail_out(writer.build, writer.call("less", at, ZERO))
    return at


def list_join(context: Context, op: Call) -> Thing:
    settled(context, op)
    out = op.outs[0].type
    item = out.item if isinstance(out, List) else None
    first, second = (listed(context, a, item) for a in op.args)
    handle = context.writer.call("list_join", first.known, second.known, hint=op.outs[0].name)
    handle.type = List(first.item)
    return Listing(first.item, handle)


def list_from(context: Context, op: Call) -> Thing:
    """The current elements or rows of an array in nested lists."""
    x, out = context.form(op.args[0]), op.outs[0].type
    if op.settings.get("axis", 0) != 0 or not isinstance(out, List) or x.rank < op.settings.get("depth", 1):
        raise OutOfReach(f"the list of {in_words(op.args[0].type)}", op.loc)
    if isinstance(out.item, Array) and context.later_stores.behind(op.outs[0], True):
        raise OutOfReach("views in a list of arrays that are stored to", op.loc)
    return rows_of(context, x, out, op.outs[0].name)


def rows_of(context: Context, x: Form, type_: List, name: str | None) -> Listing:
    """The rows of an array as a list, each as a list again if the type says so."""
    listing = begun(context, type_.item, name)
    with context.writer.loop(x.extents[0]) as row:
        part: Thing = Form(x.dtype, x.extents[1:], lambda index: x.at((row, *index)), (x,))
        if isinstance(type_.item, List):
            assert isinstance(part, Form)
            part = rows_of(context, part, type_.item, None)
        append(context, listing, part)
    return listing


def list_take(context: Context, op: Call) -> Thing:
    settled(context, op)
    return item_at(context, listed(context, op.args[0]), context.number(op.args[1]), op.outs[0])


def in_form(context: Context, op: Call) -> Thing:
    """A list of cotangents, filled with zeros if it is empty."""
    grad, like = context.thing(op.args[0]), context.thing(op.args[1])
    if not isinstance(like, Listing | tuple):
        raise OutOfReach(f"{function_in_words(op)} of {in_words(op.args[1].type)}", op.loc)
    model = listed(context, op.args[1])
    if not isinstance(grad, Listing | tuple):
        return zeros_like(context, model, op.outs[0].name)
    filled = listed(context, op.args[0], model.item)
    zeros_ = zeros_like(context, model)
    writer = context.writer
    with writer.loop(writer.call("subtract", writer.call("list_len", model.known), writer.call("list_len", filled.known))) as place:
        writer.whole("list_append", filled.known, item_of(context, zeros_, place))
    return filled


def list_repeat(context: Context, op: Call) -> Thing:
    """The numbers of a list, repeated."""
    writer, times, out = context.writer, context.number(op.args[1]), op.outs[0].type
    one = context.thing(op.args[0])
    if not isinstance(out, List) or not isinstance(out.item, Scalar):
        raise OutOfReach(f"{in_words(out)} that is repeated", op.loc)
    if isinstance(one, tuple) and len(one) == 1:
        handle = writer.call("list_of_same", number_for(context, out.item, one[0]), times, hint=op.outs[0].name)
        handle.type = List(out.item)
        return of_handle(handle)
    items, whole = listed(context, op.args[0], out.item), begun(context, out.item, op.outs[0].name)
    with writer.loop(times), over_indices(context, items) as place:
        writer.whole("list_append", whole.known, item_of(context, items, place))
    return whole


def list_fold(context: Context, op: Call) -> Thing:
    """The sum over the repetitions of a list of ``count`` numbers."""
    writer, items, count = context.writer, listed(context, op.args[0]), context.number(op.args[1])
    if not isinstance(items.item, Scalar):
        raise OutOfReach(f"a list of {plural(in_words(items.item))} that is repeated", op.loc)
    total = zeros(context, items.item, count, op.outs[0].name)
    with over_indices(context, items) as place:
        at = writer.call("mod", place, count)
        writer.keep(total.known, at, sum_of_items(context, items.item, item_of(context, total, at), item_of(context, items, place)))
    return total


def list_unfold(context: Context, op: Call) -> Thing:
    """A list of numbers, repeated up to a length."""
    writer, items, count = context.writer, listed(context, op.args[0]), context.number(op.args[1])
    assert isinstance(items.item, Held)
    whole = begun(context, items.item, op.outs[0].name)
    with writer.loop(count) as place:
        at = writer.call("mod", place, writer.call("list_len", items.known))
        writer.whole("list_append", whole.known, item_of(context, items, at))
    return whole


def list_equal(context: Context, op: Call) -> Thing:
    """Whether two lists have the same items in the same order."""
    one, other = (context.thing(operand) for operand in op.args)
    return are_equal(context, one, other)


def each(context: Context, items: Thing) -> Iterator[Thing]:
    """The items of a list: in turn for a list display, else one in an emitted loop, whose body the caller writes."""
    if isinstance(items, Listing) and items.handle is not None:
        with over_indices(context, items) as place:
            yield item_thing(context, items, place)
    elif isinstance(items, tuple):
        yield from items


def item_thing(context: Context, listing: Listing, place: Operand) -> Thing:
    """An item of a list of numbers or of lists."""
    item = item_of(context, listing, place)
    return of_handle(item) if isinstance(listing.item, List) else item


def are_equal(context: Context, one: Thing, other: Thing) -> Operand:
    """Whether two numbers, or two lists, are equal."""
    writer = context.writer
    if isinstance(one, Listing) and one.handle is None:
        one = ()
    if isinstance(other, Listing) and other.handle is None:
        other = ()
    match one, other:
        case tuple(), tuple():
            if len(one) != len(other):
                return FALSE
            equal = [are_equal(context, a, b) for a, b in zip(one, other, strict=True)]
            return functools.reduce(lambda first, second: writer.call("logical_and", first, second), equal) if equal else TRUE
        case (Listing(), tuple() as written) | (tuple() as written, Listing()):
            listing = one if isinstance(one, Listing) else other
            assert isinstance(listing, Listing)
            return are_equal(context, listing, as_list(context, written, listing.item))
        case Listing(), Listing():
            return are_equal_lists(context, one, other)
    if any(isinstance(thing, Form | tuple | Stacks | Slots | Listing) for thing in (one, other)):
        return FALSE
    return writer.call("equal", one, other)  # type: ignore[arg-type]


def are_equal_lists(context: Context, one: Listing, other: Listing) -> Operand:
    """Whether two lists in memory are equal."""
    writer = context.writer
    counts = [writer.call("list_len", each.known) for each in (one, other)]
    result = writer.running(Scalar("bool"), writer.call("equal", *counts), "%same")
    with writer.loop(writer.call("minimum", *counts, via="math")) as place:
        items = (item_thing(context, each, place) for each in (one, other))
        writer.let(result, writer.call("logical_and", result, are_equal(context, *items)))
    return result


def list_within(context: Context, op: Call) -> Thing:
    """Whether each item of a list is among those of another one."""
    one, other = (context.thing(operand) for operand in op.args)
    writer = context.writer
    result = writer.running(Scalar("bool"), TRUE, op.outs[0].name)
    for item in each(context, one):
        is_there = writer.running(Scalar("bool"), FALSE)
        for candidate in each(context, other):
            writer.let(is_there, writer.call("logical_or", is_there, are_equal(context, item, candidate)))
        writer.let(result, writer.call("logical_and", result, is_there))
    return result


RULES: dict[str, Any] = {
    "copy": copied,
    "list_append": list_append,
    "list_drop": list_drop,
    "list_set": list_set,
    **dict.fromkeys(("contains", "not_contains"), contains),
    "list_index": list_index,
    "is_float": lambda context, op: TRUE,
    "contains_row": contains_row,
    "row_index": row_index,
    "list_add": list_add,
    "list_add_at": list_add_at,
    "table_set": table_store,
    "table_add_at": table_store,
    "list_len": list_len,
    "list_zeros": list_zeros,
    "in_form": in_form,
    "list_slice": list_slice,
    "list_join": list_join,
    "list_add_slice": list_add_slice,
    "list_repeat": list_repeat,
    "list_fold": list_fold,
    "list_unfold": list_unfold,
    "list_equal": list_equal,
    "list_within": list_within,
    "unstack": list_from,
    "stack_list": array_of,
    "concatenate_list": concatenate_list,
    "split_like": split_like,
}
