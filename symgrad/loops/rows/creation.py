"""table: rows that create arrays of numbers, as forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.ir.core import ONE, ZERO, Call, Const, Operand
from symgrad.ir.types import INT, List, Scalar
from symgrad.loops.arrays import as_float, axes, constant, constant_in, dtype_of
from symgrad.loops.bailouts import bail_out
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, broadcast_extents, broadcast_index, cast_to, filled, mapped, view_of_form
from symgrad.loops.lists import lists
from symgrad.loops.reach import OutOfReach, in_words
from symgrad.loops.writer import SMALL, number


def shape_given(lowering: Context, operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """The shape given by operands: numbers, or one shape."""
    extents: list[Operand] = []
    for operand in operands:
        extents += lowering.extents(operand)
    for extent in extents:
        if number(extent) is None:
            lowering.writer.not_negative(extent)
    return tuple(extents)


def filled_array(value: int) -> Callable[[Context, Call], Thing]:
    """``zeros``, ``ones``."""
    return lambda lowering, op: filled(dtype_of(op), shape_given(lowering, op.args), constant(dtype_of(op), value))


def filled_like(value: int) -> Callable[[Context, Call], Thing]:
    """``zeros_like``, ``ones_like``."""

    def rule(lowering: Context, op: Call) -> Thing:
        if isinstance(op.outs[0].type, Scalar):
            return Const(0.0)
        if isinstance(op.outs[0].type, List):
            return lists.zeros_like(lowering, lists.listed(lowering, op.args[0]), op.outs[0].name)
        return filled(dtype_of(op), lowering.form(op.args[0]).extents, constant(dtype_of(op), value))

    return rule


def empty(lowering: Context, op: Call) -> Thing:
    """An uninitialised array."""
    extents = lowering.form(op.args[0]).extents if op.name == "empty_like" else shape_given(lowering, op.args)
    handle = lowering.writer.empty(dtype_of(op), extents, op.outs[0].name)
    return lowering.memory(handle, op.outs[0], extents)


def full(lowering: Context, op: Call) -> Thing:
    """An array filled with one value or row."""
    like = op.name == "full_like"
    extents = lowering.form(op.args[0]).extents if like else shape_given(lowering, op.args[1:])
    value = op.args[1] if like else op.args[0]
    return spread_to(lowering, value, extents, dtype_of(op))


def spread_to(lowering: Context, value: Operand, extents: tuple[Operand, ...], dtype: str) -> Form:
    """A number or an array broadcast to a shape."""
    writer = lowering.writer
    if isinstance(value.type, Scalar):
        operand = lowering.number(value)
        element = constant_in(operand, dtype) if isinstance(operand, Const) else cast_to(writer, operand, dtype)
        return filled(dtype, extents, element)
    x = lowering.form(value)
    shape = broadcast_extents(writer, [x.extents, extents])
    if len(shape) != len(extents):
        raise OutOfReach("an array broadcast to fewer axes", writer.loc)
    for a, b in zip(shape, extents, strict=True):
        writer.require_equal(a, b)
    view = view_of_form(x, extents, lambda index: broadcast_index(x, index))
    return view if x.dtype == dtype else mapped(writer, dtype, [view], lambda e: cast_to(writer, e[0], dtype), 0)


def spread(lowering: Context, op: Call) -> Thing:
    """The cotangent of a reduction: one value for all reduced elements."""
    extents = lowering.extents(op.args[1])
    if isinstance(op.args[0].type, Scalar):
        return spread_to(lowering, op.args[0], extents, dtype_of(op))
    g = lowering.form(op.args[0])
    axis, keepdims = op.settings["axis"], op.settings["keepdims"]
    if axis is None or keepdims:
        return spread_to(lowering, op.args[0], extents, dtype_of(op))
    gone = axes(op, axis, len(extents))
    kept = [k for k in range(len(extents)) if k not in gone]
    for k, e in zip(kept, g.extents, strict=True):
        if number(e) != 1:
            lowering.writer.require_equal(e, extents[k])
    return view_of_form(g, extents, lambda index: broadcast_index(g, tuple(index[k] for k in kept)))


def broadcast_to(lowering: Context, op: Call) -> Thing:
    return spread_to(lowering, op.args[0], shape_given(lowering, op.args[1:]), dtype_of(op))


def arange(lowering: Context, op: Call) -> Thing:
    """An arithmetic progression."""
    bounds = [lowering.number(a) for a in op.args]
    dtype = dtype_of(op)
    if any(getattr(b.type, "kind", "") != "int" for b in bounds):
        return arange_of_floats(lowering, op, bounds)
    start, stop = (ZERO, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = number(bounds[2]) if len(bounds) == 3 else 1
    writer = lowering.writer
    if step == 0:
        raise OutOfReach("np.arange in steps of zero", op.loc)
    if step is None:
        return arange_in_steps(lowering, start, stop, bounds[2], dtype)
    if step == 1:
        length = writer.larger(writer.subtract(stop, start), ZERO)
    else:
        length = writer.pure("range_len", start, stop, Const(step))

    def at(index: Index) -> Operand:
        return cast_to(writer, writer.add(start, writer.multiply(index[0], Const(step))), dtype)

    return Form(dtype, (length,), at, price=0)


def arange_in_steps(lowering: Context, start: Operand, stop: Operand, step: Operand, dtype: str) -> Thing:
    """Integers with a step known at run time, of either sign; an incomplete last step counts."""
    writer = lowering.writer
    bail_out(writer.build, writer.call("equal", step, ZERO))
    count = writer.pure("negative", writer.pure("floor_divide", writer.subtract(start, stop), step, via=None))
    length = writer.larger(count, ZERO)
    return Form(dtype, (length,), lambda index: cast_to(writer, writer.add(start, writer.multiply(index[0], step)), dtype), price=0)


def arange_of_floats(lowering: Context, op: Call, bounds: list[Operand]) -> Thing:
    """As NumPy computes it: the first two elements, then multiples of their difference added to the first."""
    writer, dtype = lowering.writer, dtype_of(op)
    if any(getattr(b.type, "kind", "") not in ("int", "float") for b in bounds) or dtype != "f64" or op.settings["dtype"] is not None:
        raise OutOfReach(f"np.arange of {' and '.join(in_words(a.type) for a in op.args)}", op.loc)
    floats = [cast_to(writer, as_float(b), "f64") for b in bounds]
    start, stop = (Const(0.0), floats[0]) if len(floats) == 1 else (floats[0], floats[1])
    step = floats[2] if len(floats) == 3 else Const(1.0)

    def call(name: str, *args: Operand) -> Operand:
        return writer.call(name, *args, via="numpy")

    count = writer.call("ceil", call("divide", call("subtract", stop, start), step))
    for low, high in ((count, Const(2.0**SMALL)), (Const(-(2.0**SMALL)), count)):  # also false for nan
        bail_out(writer.build, writer.call("not_", writer.call("less", low, high)))
    whole = writer.call("cast", count, dtype="i64")
    whole.type = INT
    length = writer.larger(whole, ZERO)
    second = call("add", start, step)
    difference = call("subtract", second, start)

    def at(index: Index) -> Operand:
        (i,) = index
        later = writer.call("add", start, writer.call("multiply", i, difference))
        return writer.call("where", writer.call("equal", i, ONE), second, later, via=None)

    return Form(dtype, (length,), at, price=1)


def linspace(lowering: Context, op: Call) -> Thing:
    """As NumPy computes it: ``i * step + start``, and the last as given."""
    if not all(isinstance(a.type, Scalar) for a in op.args):
        raise OutOfReach("np.linspace between arrays", op.loc)
    writer = lowering.writer
    start, stop, count = (lowering.number(a) for a in op.args)
    writer.not_negative(count)
    last = writer.add(count, Const(-1))
    parts = writer.larger(last, ONE) if op.settings["endpoint"] else writer.larger(count, ONE)
    low, high = (cast_to(writer, as_float(b), "f64") for b in (start, stop))
    step = writer.call("divide", writer.call("subtract", high, low, via="numpy"), cast_to(writer, parts, "f64"), via="numpy")

    def at(index: Index) -> Operand:
        (i,) = index
        value = writer.call("add", writer.call("multiply", i, step), low)
        if op.settings["endpoint"]:
            ends = writer.call("logical_and", writer.call("equal", i, last), writer.call("greater", last, ZERO))
            value = writer.call("where", ends, high, value, via=None)
        return cast_to(writer, value, dtype_of(op))

    return Form(dtype_of(op), (count,), at, price=3)


def eye(lowering: Context, op: Call) -> Thing:
    """Ones on a diagonal."""
    writer, dtype = lowering.writer, dtype_of(op)
    rows = lowering.number(op.args[0])
    columns = rows if isinstance(op.args[1], Const) and op.args[1].value is None else lowering.number(op.args[1])

    def at(index: Index) -> Operand:
        on = writer.call("equal", writer.add(index[0], Const(op.settings["k"])), index[1])
        return cast_to(writer, writer.call("where", on, constant(dtype, 1), constant(dtype, 0), via=None), dtype)

    return Form(dtype, (rows, columns), at, price=1)


RULES = {
    **dict.fromkeys(("zeros", "zeros_of"), filled_array(0)),
    "ones": filled_array(1),
    **dict.fromkeys(("zeros_like", "zeros_as"), filled_like(0)),
    "ones_like": filled_like(1),
    **dict.fromkeys(("empty", "empty_like"), empty),
    **dict.fromkeys(("full", "full_like"), full),
    "spread": spread,
    "broadcast_to": broadcast_to,
    "arange": arange,
    "linspace": linspace,
    "eye": eye,
}
