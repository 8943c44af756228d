"""Lists that grow, shrink or are long, as numba lists: of numbers, of arrays with rows first, or of such lists.

A list display that is only read stays the tuple of its numbers (``joining``); it becomes a list where one is
needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from symgrad.ir.containers import leaf
from symgrad.ir.core import ZERO, Call, Const, If, Operand, Value, same_operand
from symgrad.ir.types import Array, List, Scalar, Type, Undefined, kind_of
from symgrad.loops.arrays import as_float
from symgrad.loops.context import Context, Held, Listing, Slots, Stacks, Thing
from symgrad.loops.forms import DTYPES, Form, cast_to, dtype_in_array, filled, mapped, refuse
from symgrad.loops.reach import OutOfReach, in_words, plural
from symgrad.loops.writer import Writer
from symgrad.ops.declare import ROWS


def kept(context: Context, item: Type) -> Held:
    """The type of an item in a list in memory."""
    match item:
        case Scalar(kind=kind) if kind in DTYPES:
            dtype_in_array(item)
            return item
        case Array(shape=()):
            return Scalar(kind_of(dtype := refuse(item)), dtype)
        case Array(shape=shape):
            return Array(refuse(item), shape, "C")
        case List(item=inner):
            return List(kept(context, inner))
    raise OutOfReach(f"a list of {plural(in_words(item))}", context.writer.loc)


def held_in(context: Context, type_: List) -> List:
    """The type of a list in memory."""
    return List(kept(context, type_.item))


def begun(context: Context, item: Type, name: str | None = None) -> Listing:
    """A new empty list."""
    held = kept(context, item)
    return Listing(held, new_list(context.writer, held, name))


def new_list(writer: Writer, held: Held, name: str | None = None) -> Value:
    """The value of a new empty list."""
    some: Operand
    match held:
        case List(item=inner):
            assert isinstance(inner, Held)
            some = new_list(writer, inner, "%nothing")
        case Array(dtype=dtype, shape=shape):
            assert dtype is not None
            some = writer.empty(dtype, (ZERO,) * len(shape or ()), "%nothing")
        case Scalar():
            some = cast_to(writer, zero(held), held.dtype) if is_sized(held) and held.dtype else zero(held)
    handle = writer.call("list_of_same", some, ZERO, hint=name)
    handle.type = List(held)
    return handle


def zero(type_: Scalar) -> Const:
    return Const({"float": 0.0, "int": 0, "bool": False, "complex": 0j}[type_.kind])


def is_sized(type_: Scalar) -> bool:
    """Whether the type is that of a NumPy number of another size than Python's."""
    return type_.dtype not in (None, "any", "f64", "i64", "bool")


def listed(context: Context, operand: Operand, item: Type | None = None) -> Listing:
    """An operand as a list in memory of such items; an empty list or a list display is created here."""
    lowered = context.thing(operand)
    if item is None and isinstance(operand.type, List) and not is_list(lowered):
        item = operand.type.item
    if not isinstance(lowered, Listing | tuple) or not is_list(lowered) and isinstance(item, Undefined | None):
        raise OutOfReach(f"{in_words(operand.type)} as a list", context.writer.loc)
    return as_list(context, lowered, item, operand.name if isinstance(operand, Value) else None)


def is_list(lowered: Thing) -> bool:
    """Whether ``lowered`` is a list in memory."""
    return isinstance(lowered, Listing) and lowered.handle is not None


def as_list(context: Context, lowered: Listing | tuple[Any, ...], item: Type | None, name: str | None = None) -> Listing:
    """Convert to a list in memory of such items."""
    if isinstance(lowered, Listing) and lowered.handle is not None:
        if item is not None and not isinstance(item, Undefined) and kept(context, item) != lowered.item:
            return same_kind(context, lowered, item)
        return lowered
    assert item is not None
    if isinstance(lowered, tuple) and is_repeated(lowered) and isinstance(held := kept(context, item), Scalar):
        handle = context.writer.call("list_of_same", number_for(context, held, lowered[0]), Const(len(lowered)), hint=name)
        handle.type = List(held)
        return of_handle(handle)
    listing = begun(context, item, name)
    for element in lowered if isinstance(lowered, tuple) else ():
        append(context, listing, element)
    return listing


def is_repeated(items: tuple[Any, ...]) -> bool:
    """Whether there are several items, all the same number."""
    first = items[0] if items else None
    return len(items) > 1 and isinstance(first, Value | Const) and all(same_operand(first, other) for other in items[1:])


def same_kind(context: Context, listing: Listing, item: Type) -> Listing:
    """The list, for a slot with such items: their extents may differ from the list's, their kinds of numbers may not."""
    if not are_of_one_kind(listing.item, kept(context, item)):
        raise OutOfReach("a list whose items change", context.writer.loc)
    return listing


def are_of_one_kind(first: Type, second: Type) -> bool:
    """Whether items of two types are stored alike."""
    match first, second:
        case List(item=a), List(item=b):
            return are_of_one_kind(a, b)
        case Array(dtype=a, shape=s), Array(dtype=b, shape=t):
            return a == b and len(s or ()) == len(t or ())
        case Scalar(kind=a), Scalar(kind=b):
            return a == b and not is_sized(first) and not is_sized(second)
    return False


def put_in(context: Context, listing: Listing, lowered: Thing, operand: Operand | None = None) -> Operand:
    """The stored form of an item: a number, row-major memory, or a list."""
    if isinstance(listing.item, Scalar):
        if isinstance(operand, Value) and isinstance(operand.type, Array) and context.later_stores.behind(operand):
            raise OutOfReach("arrays without axes in a list of arrays that are stored to", context.writer.loc)
        return number_for(context, listing.item, lowered)
    if isinstance(listing.item, List):
        if not isinstance(lowered, Listing | tuple):
            raise OutOfReach("a list of lists and of others", context.writer.loc)
        return as_list(context, lowered, listing.item.item).known
    assert isinstance(listing.item, Array)
    if not isinstance(lowered, Form) or lowered.rank != len(listing.item.shape or ()) or lowered.dtype != listing.item.dtype:
        raise OutOfReach("a list of arrays of several kinds", context.writer.loc)
    if isinstance(operand, Value) and lowered.memory is None and is_stored_view(context, operand):
        raise OutOfReach("views in a list of arrays that are stored to", context.writer.loc)
    memory = context.materialised(operand).memory if operand is not None else None
    return context.new_array(lowered) if memory is None or memory in context.params else memory


def is_stored_view(context: Context, value: Value) -> bool:
    """Whether an array may alias another one and may be stored to later."""
    return not is_new(context, value) and context.later_stores.behind(value)


def is_new(context: Context, value: Operand) -> bool:
    """Whether an op has allocated an array's memory, regardless of later stores."""
    maker = context.facts.maker.get(value) if isinstance(value, Value) else None
    if isinstance(maker, If) and isinstance(value, Value):
        place = maker.outs.index(value)
        return all(is_new(context, side.yields[place]) for side in (maker.then, maker.orelse))
    if not isinstance(maker, Call):
        return False
    return is_new(context, maker.args[0]) if ROWS[maker.name].consumes else ROWS[maker.name].alias == "fresh"


def number_for(context: Context, item: Scalar, lowered: Thing) -> Operand:
    """A number converted to the item type of the list."""
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


def item_at(context: Context, listing: Listing, place: Operand, out: Value) -> Thing:
    """One item."""
    item = context.writer.call("list_take", listing.known, place, hint=out.name)
    if isinstance(listing.item, Scalar) and isinstance(out.type, Array):
        item.type = listing.item
        return filled(refuse(out.type), (), item)
    if isinstance(listing.item, Scalar):
        item.type = listing.item if isinstance(out.type, Scalar) and out.type.kind != listing.item.kind else out.type
        return item
    item.type = listing.item
    if isinstance(listing.item, List):
        return of_handle(item)
    return context.memory(item, out, context.extents_at(item, out)) if isinstance(out.type, Array) else item


def of_handle(handle: Operand) -> Listing:
    """The list of a handle."""
    assert isinstance(handle, Value)
    assert isinstance(handle.type, List)
    assert isinstance(handle.type.item, Held)
    return Listing(handle.type.item, handle)


@contextmanager
def over_indices(context: Context, listing: Listing) -> Iterator[Operand]:
    """A loop over the indices of a list."""
    with context.writer.loop(context.writer.call("list_len", listing.known)) as place:
        yield place


def settled(context: Context, op: Call) -> None:
    """Refuse arrays in lists if some are the caller's and any is written to: kernels copy the caller's."""
    for value in (*op.args, *op.outs):
        if isinstance(value, Value) and isinstance(value.type, List) and isinstance(leaf(value.type), Array):
            held = context.facts.find((value, True))
            if held in context.stored_arrays and held in {context.facts.find((param, False)) for param in context.func.params}:
                raise OutOfReach("the caller's arrays in a list of arrays that are stored to", op.loc)


def read_extents(context: Context, handle: Value, type_: Array) -> tuple[Operand, ...]:
    return tuple(context.writer.pure("extent", handle, axis=k) for k in range(len(type_.shape or ())))


def zeros_like(context: Context, like: Listing, name: str | None = None) -> Listing:
    """A list of zeros in the form of another list's items."""
    writer = context.writer
    if isinstance(like.item, Scalar):
        return zeros(context, like.item, writer.call("list_len", like.known), name)
    assert isinstance(like.item, Held)
    listing = begun(context, like.item, name)
    with over_indices(context, like) as place:
        item = item_of(context, like, place)
        if isinstance(like.item, Array):
            nothing = writer.call("zeros", *read_extents(context, item, like.item), dtype=like.item.dtype)
        else:
            nothing = zeros_like(context, of_handle(item)).known
        writer.whole("list_append", listing.known, nothing)
    return listing


def zeros(context: Context, item: Held, count: Operand, name: str | None = None) -> Listing:
    """A list of ``count`` zeros."""
    assert isinstance(item, Scalar)
    some: Operand = cast_to(context.writer, zero(item), item.dtype) if is_sized(item) and item.dtype else zero(item)
    handle = context.writer.call("list_of_same", some, count, hint=name)
    handle.type = List(item)
    return Listing(item, handle)


def part_of(context: Context, listing: Listing, start: Operand, stop: Operand, name: str | None = None) -> Listing:
    """A new list of a range of the items."""
    handle = context.writer.call("list_part", listing.known, start, stop, hint=name)
    handle.type = List(listing.item)
    return Listing(listing.item, handle)


def sum_of(context: Context, first: Listing, second: Listing) -> Listing:
    """A new list of the sums of the items of two lists of one form."""
    writer, item = context.writer, first.item
    assert isinstance(item, Held)
    writer.check("check_equal", writer.call("list_len", first.known), writer.call("list_len", second.known))
    total = begun(context, item)
    with over_indices(context, first) as place:
        both = (item_of(context, each, place) for each in (first, second))
        writer.whole("list_append", total.known, sum_of_items(context, item, *both))
    return total


def sum_of_items(context: Context, item: Held | Undefined, one: Operand, other: Operand) -> Operand:
    """The sum of two items in stored form."""
    match item:
        case Scalar():
            return number_for(context, item, context.writer.call("add", one, other))
        case List():
            return sum_of(context, of_handle(one), of_handle(other)).known
    return sum_of_arrays(context, memory_of(context, one, item), memory_of(context, other, item))


def sum_of_arrays(context: Context, one: Form, other: Form) -> Value:
    """The sum of an array in a list and another one, in new memory."""
    writer = context.writer
    total = mapped(writer, one.dtype, [one, other], lambda e: cast_to(writer, writer.call("add", *e), one.dtype), 1)
    if total.rank != one.rank:
        raise OutOfReach("a list of arrays of several kinds", writer.loc)
    return context.new_array(total)


def memory_of(context: Context, handle: Operand, item: Held | Undefined) -> Form:
    """An array item of a list as a form."""
    assert isinstance(handle, Value)
    assert isinstance(item, Array)
    assert item.dtype is not None
    extents = read_extents(context, handle, item)
    return Form(item.dtype, extents, lambda index: context.writer.read(handle, index), cells=frozenset({handle}))


def item_of(context: Context, listing: Listing, place: Operand) -> Value:
    """The item at an index."""
    item = context.writer.call("list_take", listing.known, place)
    item.type = listing.item
    return item
