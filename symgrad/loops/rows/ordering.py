"""table: sorting, line by line along an axis."""

from __future__ import annotations

from symgrad.ir.core import ONE, ZERO, Block, Call, Const, Func, Operand, Value, blocks_within, walk
from symgrad.ir.types import Array
from symgrad.loops.arrays import axes, dtype_of
from symgrad.loops.bailouts import bail_out
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, cast_to, stored, view_of_form
from symgrad.loops.masks import places
from symgrad.loops.paths import reshape_extents, reshaped
from symgrad.loops.reach import OutOfReach, function_in_words, in_words
from symgrad.loops.rows.reductions import finish, own_name

#: the row that fills a line, and the dtype of its elements if it differs from the operand's
FILLS: dict[str, tuple[str, str | None]] = {
    "argsort": ("order_into", "i64"),
    "stable_argsort": ("order_into", "i64"),
    "sort": ("sorted_into", None),
    "median": ("sorted_into", None),
    "middle_share": ("middle_into", None),
}


def sorted_once(func: Func) -> Func:
    """Gather sorted elements by their sort order where that is computed too, as in derivatives; in place."""
    for block in blocks_within(func.body):
        for op in [*block.ops]:
            if isinstance(op, Call) and op.name == "sort" and op.settings["axis"] is not None:
                gather_sorted(block, op)
    return func


def gather_sorted(block: Block, op: Call) -> None:
    """Replace a ``sort`` by a gather if its operand's sort order is computed later too."""
    operand, at = op.args[0], block.ops.index(op)
    later = (o for o in walk(Block(ops=block.ops[at:])) if isinstance(o, Call) and o.name == "argsort")
    same = [o for o in later if o.args[0] is operand and o.settings == op.settings]
    if not same or not isinstance(operand.type, Array):
        return
    order = Value(Array("i64", operand.type.shape))
    block.ops.insert(at, Call([order], op.loc, "argsort", [operand], dict(op.settings)))
    op.name, op.args = "take_along_axis", [operand, order]
    for other in same:
        other.name, other.args, other.settings = "cast", [order], {"dtype": "i64"}


def lines(lowering: Context, op: Call) -> tuple[Form, int]:
    """The operand and its sorting axis; without an axis all elements form one line."""
    x, axis = lowering.form(op.args[0]), op.settings["axis"]
    if x.dtype == "bool" or x.rank == 0:
        raise OutOfReach(f"{function_in_words(op)} of {in_words(op.args[0].type)}", op.loc)
    if axis is None and x.rank > 1:
        where = reshaped(lowering.writer, x.extents, reshape_extents(lowering.writer, x.extents, [Const(-1)]))
        x, axis = view_of_form(x, where.extents, where.at), 0
    sorted_axes = axes(op, 0 if axis is None else axis, x.rank)
    if len(sorted_axes) != 1:
        raise OutOfReach(f"{function_in_words(op)} along several axes", op.loc)
    return x, sorted_axes[0]


def line_of(lowering: Context, x: Form, along: int, outer: dict[int, Operand]) -> Value:
    """One line of the operand in memory of its own."""
    writer = lowering.writer
    if x.rank == 1 and x.memory is not None and x.memory not in lowering.params:
        return x.memory
    line = writer.empty(x.dtype, (x.extents[along],), "%line")
    with writer.loop(x.extents[along]) as i:
        writer.store(line, x.at(tuple(i if k == along else outer[k] for k in range(x.rank))), (i,))
    return line


def filled_line(lowering: Context, op: Call, x: Form, along: int, outer: dict[int, Operand]) -> Value:
    """The result for one line, as a new array."""
    writer = lowering.writer
    name, dtype = FILLS[op.name]
    line = line_of(lowering, x, along, outer)
    handle = writer.empty(dtype or (dtype_of(op) if op.name == "middle_share" else x.dtype), (x.extents[along],), own_name(op))
    writer.whole(name, handle, line)
    return handle


def in_order(lowering: Context, op: Call) -> Thing:
    """Sort each line, into an array with the axes of the operand."""
    writer = lowering.writer
    whole = lowering.form(op.args[0])
    x, along = lines(lowering, op)
    if x.rank == 1:
        array = stored(writer, buffer := filled_line(lowering, op, x, along, {}), dtype_of(op), x.extents, frozenset({buffer}))
    else:
        kept = [k for k in range(x.rank) if k != along]
        handle = writer.empty(dtype_of(op), x.extents, own_name(op))
        with writer.nest([x.extents[k] for k in kept]) as outer:
            row = dict(zip(kept, outer, strict=True))
            line = filled_line(lowering, op, x, along, row)
            with writer.loop(x.extents[along]) as i:
                writer.store(handle, writer.read(line, (i,)), tuple(i if k == along else row[k] for k in range(x.rank)))
        array = stored(writer, handle, dtype_of(op), x.extents, frozenset({handle}))
    if op.name == "middle_share" and whole.rank != x.rank:
        where = reshaped(writer, x.extents, whole.extents)
        return view_of_form(array, where.extents, where.at)
    return array


def median(lowering: Context, op: Call) -> Thing:
    """The middle element of each line, or the mean of the two middle elements."""
    writer, dtype = lowering.writer, dtype_of(op)
    rank, keepdims = lowering.form(op.args[0]).rank, bool(op.settings["keepdims"])
    x, along = lines(lowering, op)
    count = x.extents[along]
    writer.check("check_at_least", count, ONE)
    first = writer.pure("floor_divide", writer.add(count, Const(-1)), Const(2), via=None)
    last = writer.pure("floor_divide", count, Const(2), via=None)

    def middle(outer: dict[int, Operand]) -> Operand:
        line = filled_line(lowering, op, x, along, outer)
        low, high = (cast_to(writer, writer.read(line, (k,)), dtype) for k in (first, last))
        both = writer.call("divide", writer.call("add", low, high, via=None), Const(2.0), via=None)
        one = writer.call("where", writer.pure("equal", first, last), low, cast_to(writer, both, dtype), via=None)
        return cast_to(writer, one, dtype)

    if x.rank == 1:
        value = middle({})
        if not keepdims:
            return finish(lowering, op, value)
        return Form(dtype, (ONE,) * rank, lambda index: value)
    kept = [k for k in range(x.rank) if k != along]
    extents = [ONE if k == along else e for k, e in enumerate(x.extents)] if keepdims else [x.extents[k] for k in kept]
    handle = writer.empty(dtype, extents, own_name(op))
    with writer.nest([x.extents[k] for k in kept]) as outer:
        row = dict(zip(kept, outer, strict=True))
        cell = tuple(Const(0) if k == along else row[k] for k in range(x.rank)) if keepdims else outer
        writer.store(handle, middle(row), cell)
    return finish(lowering, op, stored(writer, handle, dtype, extents, frozenset({handle})))


def unique(lowering: Context, op: Call) -> Thing:
    """Each distinct element once, in order; leaves the kernel if one is nan."""
    writer = lowering.writer
    sorting = Call(op.outs, op.loc, "sort", op.args, {"axis": None})
    x, along = lines(lowering, sorting)
    line = filled_line(lowering, sorting, x, along, {})
    if x.dtype.startswith("f"):
        with writer.loop(x.extents[0]) as i:
            bail_out(writer.build, writer.call("not_equal", *[writer.read(line, (i,))] * 2))

    def is_new(index: Index) -> Operand:
        (i,) = index
        before = writer.call("not_equal", writer.read(line, (i,)), writer.read(line, (writer.subtract(i, ONE),)))
        return writer.call("logical_or", writer.call("equal", i, ZERO), before)

    (places_,) = places(lowering, Form("bool", x.extents, is_new, cells=frozenset({line})))
    return Form(x.dtype, places_.extents, lambda index: writer.read(line, (places_.at(index),)), (places_,), cells=frozenset({line}))


RULES = {**dict.fromkeys(("sort", "argsort", "stable_argsort", "middle_share"), in_order), "median": median, "unique": unique}
