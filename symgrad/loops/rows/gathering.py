"""table: gathering, leaving out and counting elements by index, searching sorted arrays, and comparing whole arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.ir.core import FALSE, NONE, ONE, TRUE, ZERO, Call, Const, Operand, Value, key_of
from symgrad.ir.types import Scalar
from symgrad.loops.arrays import axes, constant, dtype_of
from symgrad.loops.bailouts import bail_out
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, cast_to, filled, mapped, stored, view_of_form
from symgrad.loops.paths import reshape_extents, reshaped
from symgrad.loops.reach import OutOfReach, function_in_words
from symgrad.loops.writer import number, scalar


def order_of(lowering: Context, op: Call, rank: int) -> Form:
    """The index array, which must have the rank of the gathered array."""
    order = lowering.form(op.args[1])
    if order.rank != rank or order.dtype[0] != "i":
        raise OutOfReach(f"{function_in_words(op)} by indices of another rank", op.loc)
    return order if order.cost == 0 else lowering.give_memory(order, op.args[1])


def place_along(lowering: Context, order: Form, extents: tuple[Operand, ...], along: int, index: Index) -> Index:
    """The index of the element for an index into the index array; axes of extent 1 are broadcast."""
    picked = lowering.writer.in_range(order.at(index), extents[along])
    return tuple(picked if k == along else ZERO if number(e) == 1 else index[k] for k, e in enumerate(extents))


def same_elsewhere(lowering: Context, a: tuple[Operand, ...], b: tuple[Operand, ...], along: int) -> None:
    """Check that the other axes have equal extents."""
    for k, (one, other) in enumerate(zip(a, b, strict=True)):
        if k != along and number(one) != 1:
            lowering.writer.require_equal(one, other)


def take_along_axis(lowering: Context, op: Call) -> Thing:
    """Gather into memory, so that each index is checked once."""
    x, writer = lowering.form(op.args[0]), lowering.writer
    order = order_of(lowering, op, x.rank)
    (along,) = axes(op, op.settings["axis"], x.rank)
    same_elsewhere(lowering, x.extents, order.extents, along)
    handle = writer.empty(x.dtype, order.extents, op.outs[0].name)
    with writer.nest(order.extents) as index:
        writer.store(handle, x.at(place_along(lowering, order, x.extents, along, index)), index)
    return lowering.memory(handle, op.outs[0], order.extents)


def add_along_axis(lowering: Context, op: Call) -> Thing:
    """Scatter-add: zeros to which elements are added at their indices."""
    g, writer, dtype = lowering.form(op.args[0]), lowering.writer, dtype_of(op)
    extents = lowering.extents(op.args[2])
    order = order_of(lowering, op, len(extents))
    (along,) = axes(op, op.settings["axis"], len(extents))
    same_elsewhere(lowering, extents, order.extents, along)
    handle = lowering.new_array(filled(dtype, extents, constant(dtype, 0)))
    with writer.nest(order.extents) as index:
        writer.store(handle, g.at(index), place_along(lowering, order, extents, along, index), "add_at")
    return stored(writer, handle, dtype, extents, frozenset({handle}))


def searchsorted(lowering: Context, op: Call) -> Thing:
    """Search each number in a sorted vector."""
    writer = lowering.writer
    line = lowering.materialised(op.args[0])
    if line.rank != 1 or line.memory is None:
        raise OutOfReach("np.searchsorted in an array that is not a vector", op.loc)
    memory = line.memory

    def place(elements: list[Operand]) -> Operand:
        return writer.call("searchsorted", memory, elements[0], side=op.settings["side"])

    if isinstance(op.args[1].type, Scalar):
        return place([lowering.number(op.args[1])])
    v = lowering.form(op.args[1])
    return lowering.give_memory(mapped(writer, "i64", [v], place, 30), op.outs[0], op.outs[0].name)


# ------------------------------------------------------------------ whole slices by index


def on_axis(lowering: Context, op: Call, extents: Sequence[Operand]) -> tuple[int, tuple[Operand, ...], Callable[[Index], Index]]:
    """The axis of ``np.take`` or ``np.delete``, the extents with it, and the index into the array itself, which is flat by default."""
    if op.settings["axis"] is not None:
        return axes(op, op.settings["axis"], len(extents))[0], tuple(extents), lambda index: index
    (flat,) = reshape_extents(lowering.writer, extents, [Const(-1)])
    return 0, (flat,), reshaped(lowering.writer, extents, [flat]).at


def places_of(lowering: Context, op: Call) -> Form:
    """The integers by which an op takes or adds slices; one alone has rank 0."""
    places = lowering.form(op.args[1])
    if places.dtype[0] != "i":
        raise OutOfReach(f"{function_in_words(op)} by other indices than integers", op.loc)
    return places if places.cost == 0 or not places.rank else lowering.give_memory(places, op.args[1])


def take_items(lowering: Context, op: Call) -> Thing:
    """``np.take``: gathers slices into memory, so that each index is checked once for a slice."""
    x, places, writer = lowering.form(op.args[0]), places_of(lowering, op), lowering.writer
    axis, own, into = on_axis(lowering, op, x.extents)
    if not places.rank and len(own) == 1:
        return x.at(into((writer.in_range(places.at(()), own[0]),)))
    extents = (*own[:axis], *places.extents, *own[axis + 1 :])
    handle = writer.empty(x.dtype, extents, op.outs[0].name)
    with writer.nest(places.extents) as index:
        place = writer.in_range(places.at(index), own[axis])
        with writer.nest((*own[:axis], *own[axis + 1 :])) as rest:
            target = (*rest[:axis], *index, *rest[axis:])
            writer.store(handle, x.at(into((*rest[:axis], place, *rest[axis:]))), target)
    return lowering.memory(handle, op.outs[0], extents)


def take_items_back(lowering: Context, op: Call) -> Thing:
    """The cotangent of ``np.take``: zeros to which slices are added at their indices."""
    g, places, writer, dtype = lowering.form(op.args[0]), places_of(lowering, op), lowering.writer, dtype_of(op)
    extents = lowering.extents(op.args[2])
    axis, own, into = on_axis(lowering, op, extents)
    handle = lowering.new_array(filled(dtype, extents, constant(dtype, 0)))
    with writer.nest(places.extents) as index:
        place = writer.in_range(places.at(index), own[axis])
        with writer.nest((*own[:axis], *own[axis + 1 :])) as rest:
            element = g.at((*rest[:axis], *index, *rest[axis:]))
            writer.store(handle, element, into((*rest[:axis], place, *rest[axis:])), "add_at")
    return stored(writer, handle, dtype, extents, frozenset({handle}))


def remaining(lowering: Context, op: Call, extent: Operand) -> tuple[Operand, Callable[[Operand], Operand]]:
    """How many places of an axis ``np.delete`` leaves, and which is the k-th."""
    writer = lowering.writer
    if not isinstance(op.args[1].type, Scalar) or op.args[1].type.kind != "int":
        raise OutOfReach("np.delete of several elements", op.loc)
    gone = writer.in_range(lowering.number(op.args[1]), extent)
    place = lambda k: writer.call("where", writer.call("less", k, gone), k, writer.add(k, ONE), via=None)  # noqa: E731
    return writer.add(extent, Const(-1)), place


def delete(lowering: Context, op: Call) -> Thing:
    """``np.delete`` of one element, row or column."""
    x = lowering.form(op.args[0])
    axis, own, into = on_axis(lowering, op, x.extents)
    length, place = remaining(lowering, op, own[axis])
    return view_of_form(x, (*own[:axis], length, *own[axis + 1 :]), lambda i: into((*i[:axis], place(i[axis]), *i[axis + 1 :])), 2)


def kept_places(lowering: Context, op: Call) -> Thing:
    """The places that ``np.delete`` leaves."""
    axis, own, _ = on_axis(lowering, op, lowering.extents(op.args[0]))
    length, place = remaining(lowering, op, own[axis])
    return Form("i64", (length,), lambda i: place(i[0]), price=2)


# ------------------------------------------------------------------ counting


def digitize(lowering: Context, op: Call) -> Thing:
    """``np.digitize`` for rising bins; NumPy also takes falling ones, and refuses others."""
    bins, writer = lowering.materialised(op.args[1]), lowering.writer
    if bins.rank != 1 or bins.memory is None:
        raise OutOfReach("np.digitize by bins that are not a vector", op.loc)
    with writer.nest((writer.larger(writer.add(bins.extents[0], Const(-1)), ZERO),)) as (k,):
        writer.check("check_at_least", bins.at((writer.add(k, ONE),)), bins.at((k,)))
    side = "left" if op.settings["right"] else "right"
    if isinstance(op.args[0].type, Scalar):
        return writer.call("searchsorted", bins.memory, lowering.number(op.args[0]), side=side)
    memory, v = bins.memory, lowering.form(op.args[0])
    places = mapped(writer, "i64", [v], lambda e: writer.call("searchsorted", memory, e[0], side=side), 30)
    return lowering.give_memory(places, op.outs[0], op.outs[0].name)


def bincount(lowering: Context, op: Call) -> Thing:
    """``np.bincount``: how often each integer occurs, or the sum of its weights."""
    x, writer, dtype = lowering.form(op.args[0]), lowering.writer, dtype_of(op)
    if x.rank != 1 or x.dtype[0] != "i":
        raise OutOfReach("np.bincount of an array that is not a vector of integers", op.loc)
    x = x if x.cost == 0 else lowering.give_memory(x, op.args[0])
    weights = None if key_of(op.args[1]) == key_of(NONE) else lowering.form(op.args[1])
    if weights is not None:
        writer.require_equal(weights.extents[0], x.extents[0])
    top = writer.running(scalar("i64"), Const(op.settings["minlength"]), "%top")
    with writer.nest(x.extents) as index:
        element = x.at(index)
        writer.check("check_at_least", element, ZERO)
        writer.let(top, writer.larger(top, writer.add(element, ONE)))
    length = writer.call("number", top, kind="int")
    handle = lowering.new_array(filled(dtype, (length,), constant(dtype, 0)), op.outs[0].name)
    with writer.nest(x.extents) as index:
        amount = constant(dtype, 1) if weights is None else cast_to(writer, weights.at(index), dtype)
        writer.store(handle, amount, (x.at(index),), "add_at")
    return stored(writer, handle, dtype, (length,), frozenset({handle}))


# ------------------------------------------------------------------ comparing


def all_close(lowering: Context, op: Call) -> Thing:
    """``np.allclose`` and ``np.array_equal``: whether all pairs of elements agree."""
    x, y, writer = lowering.form(op.args[0]), lowering.form(op.args[1]), lowering.writer
    if op.name == "array_equal":
        if x.rank != y.rank:
            return FALSE
        same_extents = [writer.call("equal", a, b) for a, b in zip(x.extents, y.extents, strict=True) if a is not b]
        for one in same_extents:
            bail_out(writer.build, writer.call("not_", one))
    name, settings = ("equal", {}) if op.name == "array_equal" else ("isclose", op.settings)

    def compared(elements: list[Operand]) -> Operand:
        return lowering.scalar_op(Call([Value(scalar("bool"))], op.loc, name, elements, dict(settings)), elements)[0]

    agree = mapped(writer, "bool", [x, y], compared, 4)
    result = writer.running(scalar("bool"), TRUE, "%all")
    with writer.nest(agree.extents) as index, writer.when(writer.call("not_", agree.at(index))):
        writer.let(result, FALSE)
    return writer.call("number", result, kind="bool")


RULES = {
    **dict.fromkeys(("allclose", "array_equal"), all_close),
    "bincount": bincount,
    "delete": delete,
    "digitize": digitize,
    "kept_places": kept_places,
    "take_items": take_items,
    "take_items_back": take_items_back,
    "take_along_axis": take_along_axis,
    "add_along_axis": add_along_axis,
    "searchsorted": searchsorted,
}
