"""table: rows that write to an array in place, as loops over the written part."""

from __future__ import annotations

from symgrad.ir.core import ZERO, Block, Call, Const, Operand
from symgrad.ir.types import Array, Scalar
from symgrad.loops.arrays import constant, constant_in, last_written, place
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, broadcast_index, cast_to, mapped, refuse, same_index, view_of_form
from symgrad.loops.paths import Place
from symgrad.loops.reach import OutOfReach
from symgrad.loops.rows.stencils import ENOUGH, Addition, gather
from symgrad.loops.writer import number

#: the maximum number of arrays read for a sum without memory: LLVM must prove that none overlaps the stored one
MANY = 6


def store(lowering: Context, op: Call) -> Thing:
    """``set_at``, ``add_at``, ``add_written``: one loop nest over the written part."""
    x = lowering.owned(op.args[0])
    where = place(lowering, x, op, op.args[2:])
    if any(x.cells & a.reads() for a in where.arrays):
        raise OutOfReach("an index that is changed by the store it is used in", op.loc)
    value = stored_value(lowering, op, where)
    if op in lowering.groups and isinstance(value, Form) and not x.cells & value.reads():
        wait(lowering, Addition(op, x, where, value))
    else:
        carry_out(lowering)
        written(lowering, op, x, where, value)
    return x


def wait(lowering: Context, addition: Addition) -> None:
    """Delay a store until the last one of its group, which emits them all."""
    if lowering.waiting and lowering.groups[lowering.waiting[-1].op] is not lowering.groups[addition.op]:
        carry_out(lowering)
    lowering.waiting.append(addition)
    if addition.op is lowering.groups[addition.op][-1]:
        if len(lowering.waiting) >= ENOUGH and gather(lowering, lowering.waiting):
            lowering.waiting = []
        carry_out(lowering)


def carry_out(lowering: Context) -> None:
    """Emit the pending stores, one after the other."""
    additions, lowering.waiting = lowering.waiting, []
    for a in additions:
        with lowering.writer.build.at(a.op.loc):
            written(lowering, a.op, a.x, a.where, a.value)


def written(lowering: Context, op: Call, x: Form, where: Place, value: Form | Operand) -> None:
    """Emit the loops of a store."""
    assert x.memory is not None
    writer = lowering.writer
    how = "set_at" if op.name == "set_at" else "add_at"
    stays = last_written(lowering, x.extents, where) if op.name == "add_written" and where.repeats else None
    if isinstance(value, Form) and lowering.overlap(x, value) and not reads_where_it_writes(lowering, x, where, value):
        value = lowering.give_memory(view_of_form(value, value.extents, lambda i: i), None, "%t")
    with writer.nest(where.extents) as index:
        element = value.at(broadcast_index(value, index)) if isinstance(value, Form) else value
        if stays is not None:
            element = cast_to(writer, writer.call("where", stays(index), element, constant(x.dtype, 0), via=None), x.dtype)
        if where.part:
            element, how = with_part(lowering, writer.read(x.memory, where.at(index)), element, where, how), "set_at"
        writer.store(x.memory, element, where.at(index), how)


def with_part(lowering: Context, old: Operand, value: Operand, where: Place, how: str) -> Operand:
    """A complex number with one part replaced by a value or increased by it."""
    call = lowering.writer.call
    parts: dict[str, Operand] = {"real": call("real", old), "imaginary": call("imaginary", old)}
    parts[where.part] = value if how == "set_at" else call("add", parts[where.part], value, via=None)
    return call("complex_of", parts["real"], parts["imaginary"])


def stored_value(lowering: Context, op: Call, where: Place) -> Form | Operand:
    """The stored value: a number, or an array broadcast to the part."""
    operand = op.args[1]
    x_type = op.args[0].type
    if isinstance(operand.type, Scalar):
        scalar_value = lowering.number(operand)
        if isinstance(scalar_value, Const) and isinstance(x_type, Array) and x_type.dtype is not None:
            return constant_in(scalar_value, "f64" if where.part else x_type.dtype)
        return scalar_value
    value = lowering.form(operand)
    while value.rank > len(where.extents) and number(value.extents[0]) == 1:
        value = view_of_form(value, value.extents[1:], lambda i: (ZERO, *i))
    if value.rank > len(where.extents):
        raise OutOfReach("a value of more axes than the part it is stored to", op.loc)
    for mine, theirs in zip(value.extents, where.extents[len(where.extents) - value.rank :], strict=True):
        if number(mine) != 1:
            lowering.writer.require_equal(mine, theirs)
    return value


def reads_where_it_writes(lowering: Context, x: Form, where: Place, value: Form) -> bool:
    """Whether each element reads, of the written memory, only the cell that it is written to."""
    writer = lowering.writer
    if where.repeats:
        return False
    trial = Block()
    safe = True
    with writer.inside(trial), writer.nest(where.extents) as index:
        body = writer.build.block
        target = where.at(index)
        value.at(broadcast_index(value, index))
        for op in body.ops:
            if op.blocks:
                safe = False
            if isinstance(op, Call) and op.name == "take" and op.args[0] is x.memory:
                safe = safe and same_index(op.args[1:], target)
            elif isinstance(op, Call) and op.name != "take" and any(isinstance(a.type, Array) for a in op.args):
                safe = False
    return safe and not other_names(x, value)


def other_names(x: Form, value: Form) -> bool:
    """Whether the value may read the same memory through another handle."""
    return any(f.memory is not x.memory and f.cells & x.cells for f in value.roots())


def accumulate(lowering: Context, op: Call) -> Thing:
    """``x += g`` of whole arrays; for a recipe the sum is a recipe too."""
    (out,) = op.outs
    if isinstance(out.type, Scalar):
        return lowering.scalar_op(Call(op.outs, op.loc, "add", op.args, {"via": None}), [lowering.number(a) for a in op.args])[0]
    target = lowering.form(op.args[0])
    roots = lowering.form(op.args[1]).roots() if isinstance(op.args[1].type, Array) else []
    if target.memory is None and len({*target.roots(), *roots}) > MANY:
        target = lowering.materialised(op.args[0])
    if target.memory is None:
        dtype = refuse(out.type)
        writer = lowering.writer
        operands: list[Form | Operand] = [lowering.form(a) if isinstance(a.type, Array) else lowering.number(a) for a in op.args]
        return mapped(writer, dtype, operands, lambda e: cast_to(writer, writer.call("add", *e, via=None), dtype), 1)
    return store(lowering, Call(op.outs, op.loc, "add_at", op.args, {"index": "e", "distinct": True}))


RULES = {**dict.fromkeys(("set_at", "add_at", "add_written"), store), "accumulate": accumulate}
