"""table: rows that read arrays, copy them or ask for their shape, as forms; and questions about ops that all tables share."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.ir.core import ONE, ZERO, Call, Const, Operand, Value
from symgrad.ir.types import Array, Dim, Extent, Scalar, Type
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, cast_to, filled, mapped, refuse, stored, view_of_form
from symgrad.loops.masks import without_masks
from symgrad.loops.paths import Place, place_of, product_of
from symgrad.loops.reach import OutOfReach
from symgrad.loops.writer import number
from symgrad.ops.declare import ROWS
from symgrad.ops.shapes import axes_of


def constant(dtype: str, value: float) -> Const:
    """0 or 1 as an array element."""
    return Const({"f": float, "b": bool, "c": complex}.get(dtype[0], int)(value))


def dtype_of(op: Call) -> str:
    """The dtype of a result, which must be known."""
    type_ = op.outs[0].type
    if isinstance(type_, Scalar) and type_.kind in OF_PYTHON:
        return type_.dtype if type_.dtype not in (None, "any") else OF_PYTHON[type_.kind]
    return refuse(type_)


#: the dtypes of Python numbers in kernels
OF_PYTHON = {"float": "f64", "int": "i64", "bool": "bool", "complex": "c128"}


def axes(op: Call, setting: object, rank: int) -> tuple[int, ...]:
    """The axes that a setting lists."""
    numbers = axes_of(setting, rank)
    if numbers is None:
        raise OutOfReach("axes that do not fit", op.loc)
    return numbers


def constant_in(value: Const, dtype: str) -> Const:
    """A literal as NumPy stores it in an array."""
    kind = {"f": float, "b": bool, "c": complex}.get(dtype[0], int)
    return Const(kind(value.value)) if isinstance(value.value, bool | int | float) else value


def as_float(operand: Operand) -> Operand:
    return Const(float(operand.value)) if isinstance(operand, Const) and isinstance(operand.value, int) else operand


# ------------------------------------------------------------------ reads


def place(lowering: Context, x: Form, op: Call, operands: list[Operand]) -> Place:
    """The part of an array that an op's path selects."""
    index, items = without_masks(lowering, op.settings["index"], [lowering.item(g) for g in operands])
    position = place_of(lowering.writer, x.extents, index, items, x.memory is not None)
    position.extents = lowering.known_extents(part_type(lowering, op, operands), position.extents)
    return position


def part_type(lowering: Context, op: Call, operands: list[Operand]) -> Type:
    """The type of the part of an array that an op reads or writes."""
    if op.name in ("view", "take"):
        return op.outs[0].type

    def extent(k: int) -> Extent:
        operand = operands[k - 1]
        literal = number(operand)
        return literal if literal is not None else lowering.integers.get(operand, Dim("?")) if isinstance(operand, Value) else Dim("?")

    type_ = ROWS["view"].law([op.args[0].type, *(g.type for g in operands)], {"index": op.settings["index"]}, extent)
    assert isinstance(type_, Type)
    return type_


def view(lowering: Context, op: Call) -> Thing:
    """A part of an array, or one element."""
    x = lowering.form(op.args[0])
    where = place(lowering, x, op, op.args[1:])
    if isinstance(op.outs[0].type, Scalar):
        return part_of(lowering, x.at(where.at(())), where)
    form = view_of_form(x, where.extents, where.at, 2 if where.arrays else 0)
    form.parts = (x, *where.arrays)
    return mapped(lowering.writer, "f64", [form], lambda e: part_of(lowering, e[0], where), 0) if where.part else form


def part_of(lowering: Context, element: Operand, where: Place) -> Operand:
    """Apply the part of a place to an element: none, or one part of a complex number."""
    return lowering.writer.call(where.part, element) if where.part else element


def take_written(lowering: Context, op: Call) -> Thing:
    """As ``take``, but zero where a later element selects the same cell."""
    x = lowering.form(op.args[0])
    where = place(lowering, x, op, op.args[1:])
    if not where.repeats:
        return view(lowering, op)
    if where.part:
        raise OutOfReach("indices that may repeat, of parts of complex numbers", op.loc)
    stays = last_written(lowering, x.extents, where)
    zero = constant(x.dtype, 0)

    def at(index: Index) -> Operand:
        element = lowering.writer.call("where", stays(index), x.at(where.at(index)), zero, via=None)
        return cast_to(lowering.writer, element, x.dtype)

    return Form(x.dtype, where.extents, at, (x, *where.arrays), 4)


def last_written(lowering: Context, extents: Sequence[Operand], where: Place) -> Callable[[Index], Operand]:
    """Whether an element of a place is the last that selects its cell, as a function of the index."""
    writer = lowering.writer
    last = writer.empty("i64", extents, "%last")

    def count(index: Index) -> Operand:
        flat: Operand = ZERO
        for i, e in zip(index, where.extents, strict=True):
            flat = writer.add(writer.multiply(flat, e), i)
        return flat

    with writer.nest(where.extents) as index:
        writer.store(last, count(index), where.at(index))
    return lambda index: writer.call("equal", writer.read(last, where.at(index)), count(index))


def same(lowering: Context, op: Call) -> Thing:
    """The operand itself."""
    return lowering.thing(op.args[0])


def last(lowering: Context, op: Call) -> Thing:
    """The last operand itself."""
    return lowering.thing(op.args[-1])


def array_or_zeros(lowering: Context, op: Call) -> Thing:
    """The array itself; ``loops.ranks`` has replaced each possible number zero by an array."""
    cotangent, out = op.args[0].type, op.outs[0].type
    if not isinstance(cotangent, Array) or cotangent.rank is None or cotangent.rank != getattr(out, "rank", None):
        raise OutOfReach("a cotangent that is sometimes a number and sometimes an array", op.loc)
    return lowering.thing(op.args[0])


def copied(lowering: Context, op: Call) -> Thing:
    """The same elements, cast if a dtype is given."""
    if not isinstance(op.outs[0].type, Array):
        return lowering.thing(op.args[0])
    x, dtype = lowering.form(op.args[0]), dtype_of(op)
    if x.dtype == dtype:
        return view_of_form(x, x.extents, lambda i: i)
    return mapped(lowering.writer, dtype, [x], lambda e: cast_to(lowering.writer, e[0], dtype), 0)


# ------------------------------------------------------------------ shapes


def shape_of(lowering: Context, op: Call) -> Thing:
    lowered = lowering.thing(op.args[0])
    return lowered.extents if isinstance(lowered, Form) else ()


def extent(lowering: Context, op: Call) -> Thing:
    axis: int = op.settings["axis"]
    return lowering.extents(op.args[0])[axis]


def size(lowering: Context, op: Call) -> Thing:
    return product_of(lowering.writer, lowering.extents(op.args[0]) if isinstance(op.args[0].type, Array) else ())


def ndim(lowering: Context, op: Call) -> Thing:
    return Const(lowering.form(op.args[0]).rank)


def reduced_size(lowering: Context, op: Call) -> Thing:
    extents = lowering.extents(op.args[0])
    return product_of(lowering.writer, [extents[k] for k in axes(op, op.settings["axis"], len(extents))])


def item(lowering: Context, op: Call) -> Thing:
    """``x.item()`` of an array of one element."""
    x, writer = lowering.form(op.args[0]), lowering.writer
    index = [lowering.number(a) for a in op.args[1:]]
    if not index:
        for e in x.extents:
            writer.require_equal(e, ONE)
        return number_of(lowering, op, x.at((ZERO,) * x.rank))
    if len(index) != x.rank:
        raise OutOfReach("x.item of a flat index", op.loc)
    return number_of(lowering, op, x.at(tuple(writer.in_range(i, e, x.memory is not None) for i, e in zip(index, x.extents, strict=True))))


def item_place(lowering: Context, op: Call) -> Thing:
    """Zeros with a number at one place; without an index at the only element."""
    writer, dtype, extents = lowering.writer, dtype_of(op), lowering.extents(op.args[1])
    value, index = cast_to(writer, lowering.number(op.args[0]), dtype), [lowering.number(a) for a in op.args[2:]]
    if not index:
        return filled(dtype, extents, value)
    if len(index) != len(extents):
        raise OutOfReach("x.item of a flat index", op.loc)
    handle = lowering.new_array(filled(dtype, extents, constant(dtype, 0)), op.outs[0].name)
    writer.store(handle, value, tuple(writer.in_range(i, e, True) for i, e in zip(index, extents, strict=True)))
    return stored(writer, handle, dtype, extents, frozenset({handle}))


def number_of(lowering: Context, op: Call, value: Operand) -> Operand:
    """An element as a Python number."""
    type_ = op.outs[0].type
    assert isinstance(type_, Scalar)
    return lowering.writer.call("number", value, kind=type_.kind)


RULES = {
    **dict.fromkeys(("view", "take"), view),
    "take_written": take_written,
    **dict.fromkeys(("stop_gradient", "cut", "positive_alias", "or_one"), same),
    "may_share": last,
    **dict.fromkeys(("copy", "copy_rows", "by_rows", "array", "asarray", "to_array"), copied),
    "array_or_zeros": array_or_zeros,
    "shape_of": shape_of,
    "extent": extent,
    "size": size,
    "ndim": ndim,
    "reduced_size": reduced_size,
    "item": item,
    "item_place": item_place,
}
