"""table: gathering elements along an axis by index, and searching sorted arrays."""

from __future__ import annotations

from symgrad.ir.core import ZERO, Call, Operand
from symgrad.ir.types import Scalar
from symgrad.loops.arrays import axes, constant, dtype_of
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, filled, mapped, stored
from symgrad.loops.reach import OutOfReach, function_in_words
from symgrad.loops.writer import number


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


RULES = {
    "take_along_axis": take_along_axis,
    "add_along_axis": add_along_axis,
    "searchsorted": searchsorted,
}
