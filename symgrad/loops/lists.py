"""table: lists that grow, shrink or are long: lists of numba's, of numbers or of arrays by rows.

A list that is written out and only read is the tuple of its numbers (``joining``); it becomes a list where one is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.ir.core import FALSE, ONE, ZERO, Call, Const, Operand, Value
from symgrad.ir.types import Array, List, Scalar, Type, Undefined
from symgrad.loops import arrays
from symgrad.loops.arrays import as_float, dtype_of
from symgrad.loops.context import Context, Listing, Slots, Stacks, Thing
from symgrad.loops.forms import DTYPES, Form, cast_to, dtype_in_array, mapped, refuse
from symgrad.loops.reach import OutOfReach, function_in_words, in_words, plural
from symgrad.loops.scalars import bail_out
from symgrad.loops.writer import Writer
from symgrad.ops.declare import ROWS


def kept(context: Context, item: Type) -> Scalar | Array:
    """How an item lies in a list."""
    match item:
        case Scalar(kind=kind) if kind in DTYPES:
            dtype_in_array(item)
            return item
        case Array(shape=shape):
            return Array(refuse(item), shape, "C")
    raise OutOfReach(f"a list of {plural(in_words(item))}", context.writer.loc)


def begun(context: Context, item: Type, name: str | None = None) -> Listing:
    """A new list, with nothing in it yet."""
    held = kept(context, item)
    return Listing(held, new_list(context.writer, held, name))


def new_list(writer: Writer, held: Scalar | Array, name: str | None = None) -> Value:
    """The value of a new list without items."""
    some: Operand
    if isinstance(held, Array):
        assert held.dtype is not None
        some = writer.empty(held.dtype, (ZERO,) * len(held.shape or ()), "%nothing")
    else:
        some = cast_to(writer, zero(held), held.dtype) if is_sized(held) and held.dtype else zero(held)
    handle = writer.call("list_of_same", some, ZERO, hint=name)
    handle.type = List(held)
    return handle


def zero(type_: Scalar) -> Const:
    return Const({"float": 0.0, "int": 0, "bool": False}[type_.kind])


def is_sized(type_: Scalar) -> bool:
    """Is it a number of NumPy's, other than those that are Python's too?"""
    return type_.dtype not in (None, "any", "f64", "i64", "bool")


def listed(context: Context, operand: Operand, item: Type | None = None) -> Listing:
    """An operand as a list of such items; one that has nothing in it, or is written out, begins here."""
    lowered = context.thing(operand)
    if isinstance(lowered, Listing) and lowered.handle is not None:
        if item is not None and kept(context, item) != lowered.item and not isinstance(item, Undefined):
            return same_kind(context, lowered, item)
        return lowered
    if not isinstance(lowered, Listing | tuple):
        raise OutOfReach(f"{in_words(operand.type)} as a list", context.writer.loc)
    if item is None and isinstance(operand.type, List):
        item = operand.type.item
    if item is None or isinstance(item, Undefined):
        raise OutOfReach(f"{in_words(operand.type)} as a list", context.writer.loc)
    listing = begun(context, item, operand.name if isinstance(operand, Value) else None)
    for element in lowered if isinstance(lowered, tuple) else ():
        append(context, listing, element)
    return listing


def same_kind(context: Context, listing: Listing, item: Type) -> Listing:
    """The list where a slot takes such items: the extents that types tell may differ, numbers may not."""
    item_type = kept(context, item)
    match listing.item, item_type:
        case Array(dtype=a, shape=s), Array(dtype=b, shape=t) if a == b and len(s or ()) == len(t or ()):
            return listing
        case Scalar(kind=a), Scalar(kind=b) if a == b and not is_sized(listing.item) and not is_sized(item_type):
            return listing
    raise OutOfReach("a list whose items change", context.writer.loc)


def put_in(context: Context, listing: Listing, lowered: Thing, operand: Operand | None = None) -> Operand:
    """What stands in the list for an item: a number, or memory by rows."""
    if isinstance(listing.item, Scalar):
        return number_for(context, listing.item, lowered)
    assert isinstance(listing.item, Array)
    if not isinstance(lowered, Form) or lowered.rank != len(listing.item.shape or ()) or lowered.dtype != listing.item.dtype:
        raise OutOfReach("a list of arrays of several kinds", context.writer.loc)
    if isinstance(operand, Value) and lowered.memory is None and is_stored_view(context, operand):
        raise OutOfReach("views in a list of arrays that are stored to", context.writer.loc)
    memory = context.materialised(operand).memory if operand is not None else None
    return context.new_array(lowered) if memory is None or memory in context.params else memory


def is_stored_view(context: Context, value: Value) -> bool:
    """May an array be memory of another one, and is anything stored to it?"""
    maker = context.facts.maker.get(value)
    is_new = isinstance(maker, Call) and ROWS[maker.name].alias == "fresh"
    return not is_new and context.facts.find((value, False)) in context.stored_arrays


def number_for(context: Context, item: Scalar, lowered: Thing) -> Operand:
    """A number as the list holds it."""
    value = lowered.at(()) if isinstance(lowered, Form) and not lowered.rank else lowered
    if isinstance(value, Form | tuple | Stacks | Slots | Listing):
        raise OutOfReach("a list of numbers and of others", context.writer.loc)
    if item.kind == "float":
        return cast_to(context.writer, as_float(value), item.dtype if is_sized(item) and item.dtype else "f64")
    if getattr(value.type, "kind", None) != item.kind:
        raise OutOfReach("a list of numbers of several kinds", context.writer.loc)
    return value


def append(context: Context, listing: Listing, lowered: Thing, operand: Operand | None = None) -> None:
    context.writer.whole("list_append", listing.known, put_in(context, listing, lowered, operand))


def taken(context: Context, listing: Listing, place: Operand, out: Value) -> Thing:
    """One item."""
    item = context.writer.call("list_take", listing.known, place, hint=out.name)
    if isinstance(listing.item, Scalar):
        item.type = listing.item if isinstance(out.type, Scalar) and out.type.kind != listing.item.kind else out.type
        return item
    item.type = listing.item
    return context.memory(item, out, context.extents_at(item, out)) if isinstance(out.type, Array) else item


def as_array(context: Context, listing: Listing) -> Value:
    """A new array of the numbers of a list."""
    writer, item = context.writer, listing.item
    assert isinstance(item, Scalar)
    handle = writer.empty(dtype_in_array(item), [writer.call("list_len", listing.known)], listing.known.name)
    with over(context, listing) as place:
        writer.store(handle, item_of(context, listing, place), (place,))
    return handle


def from_array(context: Context, handle: Value, item: Scalar, name: str | None) -> Listing:
    """A new list of the numbers of an array."""
    writer, count = context.writer, context.writer.call("extent", handle, axis=0)
    listing = zeros(context, item, count, name)
    with writer.loop(count) as place:
        number = writer.read(handle, (place,))
        number.type = item
        writer.keep(listing.known, place, number)
    return listing


@contextmanager
def over(context: Context, listing: Listing) -> Iterator[Operand]:
    """A loop over the places of a list."""
    with context.writer.loop(context.writer.call("list_len", listing.known)) as place:
        yield place


def settled(context: Context, op: Call) -> None:
    """Leave arrays in lists to the NumPy target where the caller's are among them and any is written to: kernels copy the caller's."""
    for value in (*op.args, *op.outs):
        if isinstance(value, Value) and isinstance(value.type, List) and not isinstance(value.type.item, Scalar | Undefined):
            held = context.facts.find((value, True))
            if held in context.stored_arrays and held in {context.facts.find((param, False)) for param in context.func.params}:
                raise OutOfReach("the caller's arrays in a list of arrays that are stored to", op.loc)


# ------------------------------------------------------------------ rules


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
    """A new item in the place of an old one: arrays are not added to in place."""
    settled(context, op)
    writer, listing, place = context.writer, listed(context, op.args[0]), context.number(op.args[1])
    old = item_of(context, listing, place)
    if isinstance(listing.item, Scalar):
        total = writer.call("add", old, number_for(context, listing.item, context.thing(op.args[2])))
        writer.keep(listing.known, place, number_for(context, listing.item, total))
        return listing
    assert isinstance(listing.item, Array)
    assert listing.item.dtype is not None
    form = Form(listing.item.dtype, read_extents(context, old, listing.item), lambda index: writer.read(old, index), cells=frozenset({old}))
    summed = mapped(writer, form.dtype, [form, context.form(op.args[2])], lambda e: cast_to(writer, writer.call("add", *e), form.dtype), 1)
    if summed.rank != form.rank:
        raise OutOfReach("a list of arrays of several kinds", op.loc)
    writer.keep(listing.known, place, context.new_array(summed))
    return listing


def read_extents(context: Context, handle: Value, type_: Array) -> tuple[Operand, ...]:
    return tuple(context.writer.pure("extent", handle, axis=k) for k in range(len(type_.shape or ())))


def list_len(context: Context, op: Call) -> Thing:
    lowered = context.thing(op.args[0])
    if isinstance(lowered, tuple):
        return Const(len(lowered))
    if isinstance(lowered, Listing) and lowered.handle is None:
        return ZERO
    return context.writer.call("list_len", listed(context, op.args[0]).known)


def list_zeros(context: Context, op: Call) -> Thing:
    """As many zeros, of the shapes of the items; of an argument, which is an array here, as many as it has elements."""
    writer, out = context.writer, op.outs[0].type
    if isinstance(op.args[0].type, Array):
        assert isinstance(out, List)
        return zeros(context, kept(context, out.item), context.form(op.args[0]).extents[0])
    like = listed(context, op.args[0])
    if isinstance(like.item, Scalar):
        return zeros(context, like.item, writer.call("list_len", like.known))
    assert isinstance(like.item, Array)
    listing = begun(context, like.item)
    with over(context, like) as place:
        item = item_of(context, like, place)
        nothing = writer.call("zeros", *read_extents(context, item, like.item), dtype=like.item.dtype)
        writer.whole("list_append", listing.known, nothing)
    return listing


def zeros(context: Context, item: Scalar | Array, count: Operand, name: str | None = None) -> Listing:
    """A list of so many zeros."""
    assert isinstance(item, Scalar)
    some: Operand = cast_to(context.writer, zero(item), item.dtype) if is_sized(item) and item.dtype else zero(item)
    handle = context.writer.call("list_of_same", some, count, hint=name)
    handle.type = List(item)
    return Listing(item, handle)


def copied(context: Context, op: Call) -> Thing:
    """A list of the same items; what else is copied is no matter of lists."""
    lowered = context.thing(op.args[0])
    if not isinstance(op.outs[0].type, List):
        return arrays.copied(context, op)
    if isinstance(lowered, tuple) or isinstance(lowered, Listing) and lowered.handle is None:
        return lowered
    settled(context, op)
    old = listed(context, op.args[0])
    return part_of(context, old, ZERO, context.writer.call("list_len", old.known))


def part_of(context: Context, listing: Listing, start: Operand, stop: Operand, name: str | None = None) -> Listing:
    """A new list of some of the items."""
    handle = context.writer.call("list_part", listing.known, start, stop, hint=name)
    handle.type = List(listing.item)
    return Listing(listing.item, handle)


def list_slice(context: Context, op: Call) -> Thing:
    settled(context, op)
    old = listed(context, op.args[0])
    start, stop, step = (context.number(a) for a in op.args[1:])
    if not isinstance(step, Const) or step.value not in (None, 1):
        raise OutOfReach("a part of a list in steps", op.loc)
    start = ZERO if is_none(start) else start
    stop = context.writer.call("list_len", old.known) if is_none(stop) else stop
    return part_of(context, old, start, stop, op.outs[0].name)


def is_none(operand: Operand) -> bool:
    return isinstance(operand, Const) and operand.value is None


def list_add_slice(context: Context, op: Call) -> Thing:
    """Numbers added to a part of a list of numbers."""
    writer, listing, added = context.writer, listed(context, op.args[0]), listed(context, op.args[4])
    bounds = [context.number(a) for a in op.args[1:4]]
    if not isinstance(listing.item, Scalar) or not all(isinstance(b, Const) for b in bounds):
        raise OutOfReach("a part of a list that is added to", op.loc)
    start, _, step = (b.value for b in bounds if isinstance(b, Const))
    if step not in (None, 1) or type(start) not in (int, type(None)):
        raise OutOfReach("a part of a list in steps", op.loc)
    length = writer.call("list_len", listing.known)
    first: Operand = ZERO if start is None else Const(start) if start >= 0 else writer.add(length, Const(start))
    if start is not None and start < 0:
        first = writer.larger(first, ZERO)
    with over(context, added) as k:
        place = writer.add(first, k)
        total = writer.call("add", item_of(context, listing, place), item_of(context, added, k))
        writer.keep(listing.known, place, number_for(context, listing.item, total))
    return listing


def list_add(context: Context, op: Call) -> Thing:
    """The sums of the items of two lists of numbers."""
    writer, out = context.writer, op.outs[0].type
    first, second = (listed(context, a, out.item if isinstance(out, List) else None) for a in op.args)
    if not isinstance(first.item, Scalar):
        raise OutOfReach(f"sums of lists of {plural(in_words(first.item))}", op.loc)
    count = writer.call("list_len", first.known)
    writer.check("check_equal", count, writer.call("list_len", second.known))
    total = zeros(context, first.item, count)
    with over(context, total) as place:
        both = writer.call("add", item_of(context, first, place), item_of(context, second, place))
        writer.keep(total.known, place, number_for(context, total.item, both))  # type: ignore[arg-type]
    return total


def contains(context: Context, op: Call) -> Thing:
    """Is a number among the items?"""
    writer, listing, sought = context.writer, listed(context, op.args[0]), context.thing(op.args[1])
    if not isinstance(listing.item, Scalar) or isinstance(sought, Form | tuple | Stacks | Slots | Listing):
        raise OutOfReach(f"{function_in_words(op)} of a list of {plural(in_words(listing.item))}", op.loc)
    if getattr(sought.type, "kind", None) == "float":  # Python takes a nan for itself
        bail_out(writer.build, writer.call("not_equal", sought, sought))
    among = writer.running(Scalar("bool"), FALSE, op.outs[0].name)
    with over(context, listing) as place:
        writer.let(among, writer.call("logical_or", among, writer.call("equal", item_of(context, listing, place), sought)))
    return writer.call("logical_not", among) if op.name == "not_contains" else among


def item_of(context: Context, listing: Listing, place: Operand) -> Value:
    """The item at a place."""
    item = context.writer.call("list_take", listing.known, place)
    item.type = listing.item
    return item


def list_join(context: Context, op: Call) -> Thing:
    settled(context, op)
    out = op.outs[0].type
    item = out.item if isinstance(out, List) else None
    first, second = (listed(context, a, item) for a in op.args)
    handle = context.writer.call("list_join", first.known, second.known, hint=op.outs[0].name)
    handle.type = List(first.item)
    return Listing(first.item, handle)


def list_from(context: Context, op: Call) -> Thing:
    """The elements or rows of an array, as they are now."""
    x, out = context.form(op.args[0]), op.outs[0].type
    if op.settings.get("depth", 1) != 1 or op.settings.get("axis", 0) != 0 or not isinstance(out, List) or not x.rank:
        raise OutOfReach(f"{function_in_words(op)} of {in_words(op.args[0].type)}", op.loc)
    if isinstance(out.item, Array) and context.facts.find((op.outs[0], True)) in context.stored_arrays:
        raise OutOfReach("views in a list of arrays that are stored to", op.loc)
    listing = begun(context, out.item, op.outs[0].name)
    with context.writer.loop(x.extents[0]) as row:
        part = Form(x.dtype, x.extents[1:], lambda index: x.at((row, *index)), (x,))
        append(context, listing, part)
    return listing


def array_of(context: Context, op: Call) -> Thing:
    """An array with the items as its elements or rows, which must be alike."""
    if op.settings.get("depth", 1) != 1 or op.settings.get("axis", 0) != 0:
        raise OutOfReach("the array of a list of lists", op.loc)
    writer, listing, dtype = context.writer, listed(context, op.args[0]), dtype_of(op)
    extents: list[Operand] = [writer.call("list_len", listing.known)]
    if isinstance(listing.item, Array) or op.settings["dtype"] is None and dtype != "f64":  # of nothing NumPy makes an array of float64
        writer.check("check_at_least", extents[0], ONE)
    if isinstance(listing.item, Array):
        first = item_of(context, listing, ZERO)
        extents += read_extents(context, first, listing.item)
    handle = writer.empty(dtype, extents, op.outs[0].name)
    with over(context, listing) as place:
        item = item_of(context, listing, place)
        if isinstance(listing.item, Scalar):
            writer.store(handle, cast_to(writer, item, dtype), (place,))
        elif isinstance(listing.item, Array):
            for mine, extent in zip(read_extents(context, item, listing.item), extents[1:], strict=True):
                writer.check("check_equal", mine, extent)
            with writer.nest(extents[1:]) as index:
                writer.store(handle, cast_to(writer, writer.read(item, index), dtype), (place, *index))
    return context.memory(handle, op.outs[0], extents)


def list_take(context: Context, op: Call) -> Thing:
    settled(context, op)
    return taken(context, listed(context, op.args[0]), context.number(op.args[1]), op.outs[0])


RULES: dict[str, Any] = {
    "copy": copied,
    "list_append": list_append,
    "list_drop": list_drop,
    "list_set": list_set,
    **dict.fromkeys(("contains", "not_contains"), contains),
    "list_add": list_add,
    "list_add_at": list_add_at,
    "list_len": list_len,
    "list_zeros": list_zeros,
    "list_slice": list_slice,
    "list_join": list_join,
    "list_add_slice": list_add_slice,
    "unstack": list_from,
    "stack_list": array_of,
}
