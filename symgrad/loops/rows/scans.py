"""table: scans along an axis: cumulative sums and products, and the scans in the derivatives of products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from symgrad.ir.core import ZERO, Call, Const, Operand
from symgrad.loops.arrays import axes, constant, dtype_of
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, broadcast_extents, broadcast_index, cast_to, stored, view_of_form
from symgrad.loops.paths import reshape_extents, reshaped
from symgrad.loops.reach import OutOfReach, function_in_words, in_words
from symgrad.loops.rows.reductions import own_name
from symgrad.loops.writer import Writer, scalar

Step = Callable[[Writer, Operand, list[Operand]], Operand]


@dataclass(frozen=True, slots=True)
class Run:
    """A scan: its initial value, its step, its direction, and whether an element's result excludes the element itself."""

    start: float
    step: Step
    backward: bool = False
    before: bool = True


def plus(writer: Writer, total: Operand, elements: list[Operand]) -> Operand:
    return writer.call("add", total, elements[0], via=None)


def times(writer: Writer, total: Operand, elements: list[Operand]) -> Operand:
    return writer.call("multiply", total, elements[0], via=None)


def weighted(writer: Writer, total: Operand, elements: list[Operand]) -> Operand:
    """The step of a weighted scan with weights ``g`` and factors ``x``: ``g + x * total``."""
    x, g = elements
    return writer.call("add", g, writer.call("multiply", x, total, via=None), via=None)


def larger(writer: Writer, total: Operand, elements: list[Operand]) -> Operand:
    return writer.call("larger", total, elements[0])


def smaller(writer: Writer, total: Operand, elements: list[Operand]) -> Operand:
    return writer.call("smaller", total, elements[0])


RUNS = {
    "running_max": Run(-np.inf, larger, before=False),
    "running_min": Run(np.inf, smaller, before=False),
    "cumsum": Run(0, plus, before=False),
    "cumprod": Run(1, times, before=False),
    "product_before": Run(1, times),
    "product_after": Run(1, times, backward=True),
    "weighted_before": Run(0, weighted),
    "weighted_after": Run(0, weighted, backward=True),
}


def running(lowering: Context, op: Call) -> Thing:
    """Scan each line along the axis."""
    writer, dtype, run = lowering.writer, dtype_of(op), RUNS[op.name]
    if abs(run.start) == np.inf and dtype != "f64":
        raise OutOfReach(f"{function_in_words(op)} of {in_words(op.args[0].type)}", op.loc)
    forms, axis = [lowering.form(a) for a in op.args], op.settings["axis"]
    extents = broadcast_extents(writer, [f.extents for f in forms])
    shape = extents
    if axis is None and len(extents) != 1:
        (flat,) = extents = reshape_extents(writer, shape, [Const(-1)])
        forms = [laid_flat(writer, f, shape, (flat,)) for f in forms]
    (gone,) = axes(op, 0 if axis is None else axis, len(extents))
    handle = writer.empty(dtype, extents, own_name(op))
    kept = [k for k in range(len(extents)) if k != gone]
    with writer.nest([extents[k] for k in kept]) as outer:
        total = writer.running(scalar(dtype), constant(dtype, run.start), "%total")
        with writer.loop(extents[gone]) as i:
            place = writer.subtract(writer.add(extents[gone], Const(-1)), i) if run.backward else i
            index = dict(zip(kept, outer, strict=True)) | {gone: place}
            cell = tuple(index[k] for k in range(len(extents)))
            if run.before:  # copied to another number, because the running one changes
                writer.store(handle, writer.call("positive", total), cell)
            writer.let(total, cast_to(writer, run.step(writer, total, [f.at(broadcast_index(f, cell)) for f in forms]), dtype))
            if not run.before:
                writer.store(handle, total, cell)
    array = stored(writer, handle, dtype, extents, frozenset({handle}))
    if len(extents) != len(shape) and not op.name.startswith("cum"):
        where = reshaped(writer, extents, shape)
        return view_of_form(array, where.extents, where.at)
    return array


def places(lowering: Context, op: Call) -> Thing:
    """The index of the last occurrence of the running extreme."""
    writer = lowering.writer
    x, out = (lowering.form(a) for a in op.args)
    extents = broadcast_extents(writer, [x.extents, out.extents])
    (gone,) = axes(op, op.settings["axis"], len(extents))
    kept = [k for k in range(len(extents)) if k != gone]
    handle = writer.empty("i64", extents, own_name(op))
    with writer.nest([extents[k] for k in kept]) as outer:
        last = writer.running(scalar("i64"), ZERO, "%last")
        with writer.loop(extents[gone]) as i:
            index = dict(zip(kept, outer, strict=True)) | {gone: i}
            cell = tuple(index[k] for k in range(len(extents)))
            met = writer.call("equal", x.at(cell), out.at(cell))
            writer.let(last, cast_to(writer, writer.call("where", met, i, last, via=None), "i64"))
            writer.store(handle, last, cell)
    return stored(writer, handle, "i64", extents, frozenset({handle}))


def laid_flat(writer: Writer, form: Form, shape: tuple[Operand, ...], flat: tuple[Operand, ...]) -> Form:
    """The elements in one line, after broadcasting."""
    whole = view_of_form(form, shape, lambda index: broadcast_index(form, index))
    where = reshaped(writer, shape, flat)
    return view_of_form(whole, where.extents, where.at)


RULES = {**dict.fromkeys(RUNS, running), "running_places": places}
