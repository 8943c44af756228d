"""table: lists of lists passed between Python and a kernel, as the lengths of their lists and all numbers."""

from __future__ import annotations

from typing import Any

from symgrad.ir.core import ONE, ZERO, Call, Operand
from symgrad.ir.types import INT, List
from symgrad.loops.context import Context, Listing, Thing
from symgrad.loops.forms import cast_to
from symgrad.loops.lists import item_of, listed, of_handle, over
from symgrad.loops.packed import unpacked
from symgrad.loops.reach import OutOfReach, in_words


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
    with over(context, rows) as place:
        writer.store(lengths, writer.call("list_len", item_of(context, rows, place)), [place])
    return context.memory(lengths, op.outs[0], [count])


def numbers_of(context: Context, op: Call) -> Thing:
    """The numbers in all inner lists."""
    writer, rows, dtype = context.writer, rows_of(context, op.args[0]), op.settings["dtype"]
    total = writer.running(INT, ZERO, "total")
    with over(context, rows) as place:
        writer.let(total, writer.call("add", total, writer.call("list_len", item_of(context, rows, place)), via=None))
    numbers = writer.empty(dtype, [total], op.outs[0].name)
    at = writer.running(INT, ZERO, "at")
    with over(context, rows) as place:
        row = of_handle(item_of(context, rows, place))
        with over(context, row) as k:
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
