"""table: rows that rearrange the elements of an array, as forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.ir.core import ONE, ZERO, Call, Const, Operand
from symgrad.ir.types import Array, Scalar
from symgrad.loops.arrays import axes, constant, dtype_of
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, cast_to, filled, stored, view_of_form
from symgrad.loops.paths import Place, permuted, reshape_extents, reshaped
from symgrad.loops.reach import OutOfReach, dtype_in_words, function_in_words
from symgrad.loops.writer import Writer, number
from symgrad.ops.rows.arrays import pad_widths


def shown_at(form: Form, where: Place) -> Form:
    return view_of_form(form, where.extents, where.at)


def reshape(lowering: Context, op: Call) -> Thing:
    if not isinstance(op.outs[0].type, Array):
        return lowering.thing(op.args[0])
    x = lowering.form(op.args[0])
    shape: list[Operand] = []
    for a in op.args[1:]:
        shape += lowering.extents(a)
    if op.name in ("ravel", "flatten"):
        shape = [Const(-1)]
    extents = reshape_extents(lowering.writer, x.extents, shape)
    return shown_at(x, reshaped(lowering.writer, x.extents, extents))


def transpose(lowering: Context, op: Call) -> Thing:
    """The axes permuted."""
    x = lowering.form(op.args[0])
    rank, s = x.rank, op.settings
    order = list(range(rank))
    match op.name:
        case "transpose" | "untranspose":
            order = order[::-1] if s["axes"] is None else list(axes(op, s["axes"], rank))
            if op.name == "untranspose" and s["axes"] is not None:
                order = [order.index(k) for k in range(rank)]
        case "mT":
            order[-2:] = order[-2:][::-1]
        case "swapaxes":
            a, b = axes(op, (s["axis1"], s["axis2"]), rank)
            order[a], order[b] = order[b], order[a]
        case "moveaxis":
            source, target = axes(op, s["source"], rank), axes(op, s["destination"], rank)
            order = [k for k in order if k not in source]
            for to, come in sorted(zip(target, source, strict=True)):
                order.insert(to, come)
        case "stack_array":
            order.insert(axes(op, s["axis"], rank)[0], order.pop(0))
    return shown_at(x, permuted(x.extents, order))


def expand_dims(lowering: Context, op: Call) -> Thing:
    x = lowering.form(op.args[0])
    axis = op.settings["axis"]
    count = len(axis) if isinstance(axis, tuple) else 1
    new = axes(op, axis, x.rank + count)
    rest = iter(x.extents)
    extents = [ONE if k in new else next(rest) for k in range(x.rank + count)]
    return shown_at(x, reshaped(lowering.writer, x.extents, extents))


def squeeze(lowering: Context, op: Call) -> Thing:
    x = lowering.form(op.args[0])
    type_ = op.args[0].type
    assert isinstance(type_, Array)
    if op.settings["axis"] is None:
        gone = [k for k, e in enumerate(x.extents) if number(e) == 1]
        if not isinstance(op.outs[0].type, Array) or op.outs[0].type.rank != x.rank - len(gone):
            raise OutOfReach("np.squeeze where extents are not known", op.loc)
    else:
        gone = list(axes(op, op.settings["axis"], x.rank))
        for k in gone:
            lowering.writer.require_equal(x.extents[k], ONE)
    kept = [k for k in range(x.rank) if k not in gone]
    return view_of_form(x, [x.extents[k] for k in kept], lambda i: tuple(i[kept.index(k)] if k in kept else ZERO for k in range(x.rank)))


def flip(lowering: Context, op: Call) -> Thing:
    x, writer = lowering.form(op.args[0]), lowering.writer
    turned = axes(op, op.settings["axis"], x.rank)

    def at(index: Index) -> Index:
        return tuple(
            writer.subtract(writer.add(e, Const(-1)), i) if k in turned else i
            for k, (i, e) in enumerate(zip(index, x.extents, strict=True))
        )

    return view_of_form(x, x.extents, at)


def roll(lowering: Context, op: Call) -> Thing:
    x, writer = lowering.form(op.args[0]), lowering.writer
    axis = op.settings["axis"]
    if axis is None and x.rank != 1 or not isinstance(op.args[1].type, Scalar) or isinstance(axis, tuple):
        raise OutOfReach("np.roll along several axes", op.loc)
    (along,) = axes(op, axis, x.rank)
    shift = lowering.number(op.args[1])
    extent = writer.larger(x.extents[along], ONE)

    def at(index: Index) -> Index:
        return tuple(writer.pure("mod", writer.subtract(i, shift), extent, via=None) if k == along else i for k, i in enumerate(index))

    return view_of_form(x, x.extents, at, price=3)


def repeat(lowering: Context, op: Call) -> Thing:
    """Each element, or each row along an axis, repeated."""
    x, writer = lowering.form(op.args[0]), lowering.writer
    count = repeats(lowering, op)
    if op.settings["axis"] is None:
        x = shown_at(x, reshaped(writer, x.extents, reshape_extents(writer, x.extents, [Const(-1)])))
    (along,) = axes(op, op.settings["axis"] or 0, x.rank)
    extents = [writer.multiply(e, count) if k == along else e for k, e in enumerate(x.extents)]
    divisor = writer.larger(count, ONE)

    def at(index: Index) -> Index:
        return tuple(writer.pure("floor_divide", i, divisor, via=None) if k == along else i for k, i in enumerate(index))

    return view_of_form(x, extents, at, price=3)


def repeats(lowering: Context, op: Call) -> Operand:
    """The repeat count of ``repeat``; a count for each element is left to NumPy."""
    count = op.args[-1]
    if not isinstance(count.type, Scalar) or count.type.kind != "int":
        raise OutOfReach(f"{function_in_words(op)} with a count for each element", op.loc)
    lowered = lowering.number(count)
    if (known := number(lowered)) is not None and known < 0:
        raise OutOfReach(f"{function_in_words(op)} a negative number of times", op.loc)
    if known is None:
        lowering.writer.check("check_at_least", lowered, ZERO)
    return lowered


def triangle(lowering: Context, op: Call) -> Thing:
    """``triu`` and ``tril``."""
    x, writer = lowering.form(op.args[0]), lowering.writer
    if x.rank < 2:
        raise OutOfReach(f"{function_in_words(op)} of a vector", op.loc)
    upper = op.name == "triu" or op.name == "triangle" and not op.settings["lower"]
    keeps = "greater_equal" if upper else "less_equal"

    def at(index: Index) -> Operand:
        test = writer.call(keeps, writer.subtract(index[-1], Const(op.settings.get("k", 0))), index[-2])
        return cast_to(writer, writer.call("where", test, x.at(index), constant(x.dtype, 0), via=None), x.dtype)

    return Form(x.dtype, x.extents, at, (x,), 1)


def half_tril(lowering: Context, op: Call) -> Thing:
    """The lower triangle with half the diagonal."""
    x, writer = lowering.form(op.args[0]), lowering.writer

    def at(index: Index) -> Operand:
        element, zero = x.at(index), constant(x.dtype, 0)
        below = writer.call("where", writer.call("less", index[-1], index[-2]), element, zero, via=None)
        half = writer.call("multiply", Const(0.5), element, via=None)
        return cast_to(writer, writer.call("where", writer.call("equal", index[-1], index[-2]), half, below, via=None), x.dtype)

    return Form(x.dtype, x.extents, at, (x,), 2)


def symmetric(lowering: Context, op: Call) -> Thing:
    """The mean of a matrix and its transpose."""
    x, writer = lowering.form(op.args[0]), lowering.writer
    x = x if x.cost == 0 else lowering.give_memory(x, op.args[0])

    def at(index: Index) -> Operand:
        both = writer.call("add", x.at(index), x.at((*index[:-2], index[-1], index[-2])), via=None)
        return cast_to(writer, writer.call("multiply", Const(0.5), both, via=None), x.dtype)

    return Form(x.dtype, x.extents, at, (x,), 2)


def joined_rows(lowering: Context, op: Call) -> Thing:
    """The items of an array joined along an axis, and the reverse for cotangents: two axes merged or split."""
    x, writer = lowering.form(op.args[0]), lowering.writer
    if op.settings["axis"] is None:
        raise OutOfReach(f"{function_in_words(op)} of items that are flattened first", op.loc)
    if op.name == "split_array":
        count, *item = lowering.extents(op.args[1])
        (axis,) = axes(op, op.settings["axis"], len(item))
        apart = reshaped(writer, x.extents, reshape_extents(writer, x.extents, [*item[:axis], count, *item[axis:]]))
        return view_of_form(shown_at(x, apart), [count, *item], lambda i: (*i[1 : axis + 1], i[0], *i[axis + 1 :]))
    count, *item = x.extents
    (axis,) = axes(op, op.settings["axis"], len(item))
    beside = view_of_form(x, [*item[:axis], count, *item[axis:]], lambda i: (i[axis], *i[:axis], *i[axis + 1 :]))
    shape = [*item[:axis], writer.multiply(count, item[axis]), *item[axis + 1 :]]
    return shown_at(beside, reshaped(writer, beside.extents, reshape_extents(writer, beside.extents, shape)))


def source_along(writer: Writer, mode: str, k: Operand, extent: Operand) -> Operand:
    """The index along an axis of the element that ``np.pad`` copies to ``k``, which is negative in front of the axis."""
    if mode == "edge":
        return writer.smaller(writer.larger(k, ZERO), writer.add(extent, Const(-1)))
    if mode == "wrap":
        return writer.call("mod", k, extent)
    last = writer.add(extent, Const(-1))
    back = writer.multiply(Const(2), last) if mode == "reflect" else writer.add(writer.multiply(Const(2), extent), Const(-1))
    period = writer.larger(back, ONE) if mode == "reflect" else writer.add(back, ONE)
    forth = writer.call("mod", k, period)
    return writer.smaller(forth, writer.subtract(back, forth))


def source_of(lowering: Context, op: Call, extents: Sequence[Operand]) -> Callable[[Index], Index]:
    """The place of the element that ``np.pad`` copies, as a function of the place in the padded array."""
    writer, widths = lowering.writer, pad_widths(op.settings["width"], len(extents))
    for extent in (e for e, (before, after) in zip(extents, widths, strict=True) if before + after):
        writer.check("check_at_least", extent, ONE)  # NumPy raises

    def source(index: Index) -> Index:
        return tuple(
            source_along(writer, op.settings["mode"], writer.add(k, Const(-before)), e) if before + after else k
            for k, e, (before, after) in zip(index, extents, widths, strict=True)
        )

    return source


def pad(lowering: Context, op: Call) -> Thing:
    """The operand surrounded by one value, or by copies of its elements."""
    x, writer, dtype = lowering.form(op.args[0]), lowering.writer, dtype_of(op)
    value = op.settings["constant_values"]
    if not isinstance(value, int | float):
        raise OutOfReach("np.pad with other than one value", op.loc)
    widths = pad_widths(op.settings["width"], x.rank)
    extents = [writer.add(e, Const(before + after)) for e, (before, after) in zip(x.extents, widths, strict=True)]
    if op.settings["mode"] != "constant":
        source, copied = source_of(lowering, op, x.extents), writer.empty(dtype, extents, op.outs[0].name)
        with writer.nest(extents) as index:
            writer.store(copied, x.at(source(index)), index)
        return stored(writer, copied, dtype, extents, frozenset({copied}))
    around = constant(dtype, 0) if value == 0 else Const(float(value)) if dtype[0] == "f" else None
    if around is None:
        raise OutOfReach(f"np.pad of an array of {dtype_in_words(dtype)}", op.loc)
    handle = lowering.new_array(filled(dtype, extents, around), op.outs[0].name)
    with writer.nest(x.extents) as index:
        place = tuple(writer.add(i, Const(before)) for i, (before, _) in zip(index, widths, strict=True))
        writer.store(handle, cast_to(writer, x.at(index), dtype), place)
    return stored(writer, handle, dtype, extents, frozenset({handle}))


def pad_back(lowering: Context, op: Call) -> Thing:
    """The cotangent of the operand inside its padding, plus those of the copies around it."""
    g, writer, dtype = lowering.form(op.args[0]), lowering.writer, dtype_of(op)
    extents = lowering.extents(op.args[1])
    if op.settings["mode"] != "constant":
        source, handle = source_of(lowering, op, extents), lowering.new_array(filled(dtype, extents, constant(dtype, 0)))
        with writer.nest(g.extents) as index:
            writer.store(handle, g.at(index), source(index), "add_at")
        return stored(writer, handle, dtype, extents, frozenset({handle}))
    widths = pad_widths(op.settings["width"], g.rank)
    return view_of_form(g, extents, lambda i: tuple(writer.add(k, Const(b)) for k, (b, _) in zip(i, widths, strict=True)))


def tile(lowering: Context, op: Call) -> Thing:
    """Copies of the operand beside one another; the cotangent is their sum."""
    x, writer, dtype = lowering.form(op.args[0]), lowering.writer, dtype_of(op)
    back = op.name == "tile_back"
    own = lowering.extents(op.args[1]) if back else x.extents
    often: list[Operand] = [lowering.number(r) for r in op.args[2 if back else 1 :]]
    for count in often:
        writer.not_negative(count)
    rank = max(len(own), len(often))
    often = [*[ONE] * (rank - len(often)), *often]
    inner = (*(ONE,) * (rank - len(own)), *own)
    extents = own if back else tuple(writer.multiply(r, e) for r, e in zip(often, inner, strict=True))
    handle = lowering.new_array(filled(dtype, own, constant(dtype, 0))) if back else writer.empty(dtype, extents, op.outs[0].name)
    with writer.nest([*often, *inner]) as index:
        place = tuple(writer.add(writer.multiply(r, e), k) for r, e, k in zip(index[:rank], inner, index[rank:], strict=True))
        if back:
            writer.store(handle, x.at(place), index[2 * rank - len(own) :], "add_at")
        else:
            writer.store(handle, x.at(index[2 * rank - len(own) :]), place)
    return stored(writer, handle, dtype, extents, frozenset({handle}))


def diagonal(lowering: Context, op: Call) -> Thing:
    """The diagonal of a matrix, as its last axis."""
    x, writer = lowering.form(op.args[0]), lowering.writer
    if op.name == "diag":
        if x.rank == 1:
            return diagonal_matrix(lowering, x, op.settings["k"], dtype_of(op))
        offset, first, second = op.settings["k"], 0, 1
    else:
        offset = op.settings["offset"]
        first, second = axes(op, (op.settings["axis1"], op.settings["axis2"]), x.rank)
    down, right = Const(max(-offset, 0)), Const(max(offset, 0))
    rows, columns = writer.subtract(x.extents[first], down), writer.subtract(x.extents[second], right)
    rest = [k for k in range(x.rank) if k not in (first, second)]
    length = writer.larger(writer.smaller(rows, columns), ZERO)

    def at(index: Index) -> Index:
        indices = dict(zip(rest, index, strict=False))
        indices[first], indices[second] = writer.add(index[-1], down), writer.add(index[-1], right)
        return tuple(indices[k] for k in range(x.rank))

    return view_of_form(x, (*(x.extents[k] for k in rest), length), at)


def diagonal_matrix(lowering: Context, x: Form, k: int, dtype: str) -> Form:
    """A square matrix with a vector on its diagonal."""
    writer = lowering.writer
    side = writer.add(x.extents[0], Const(abs(k)))
    handle = lowering.new_array(filled(dtype, (side, side), constant(dtype, 0)))
    with writer.nest(x.extents) as index:
        writer.store(handle, x.at(index), (writer.add(index[0], Const(max(-k, 0))), writer.add(index[0], Const(max(k, 0)))))
    return stored(writer, handle, dtype, (side, side), frozenset({handle}))


def diagonal_place(lowering: Context, op: Call) -> Thing:
    """Zeros with an array on a diagonal."""
    g, writer, dtype = lowering.form(op.args[0]), lowering.writer, dtype_of(op)
    extents = lowering.extents(op.args[1])
    if op.name == "diag_back":
        if len(extents) == 1:
            k = op.settings["k"]
            down, right = Const(max(-k, 0)), Const(max(k, 0))
            return view_of_form(g, extents, lambda i: (writer.add(i[0], down), writer.add(i[0], right)))
        offset, first, second = op.settings["k"], 0, 1
    else:
        offset = op.settings["offset"]
        first, second = axes(op, (op.settings["axis1"], op.settings["axis2"]), len(extents))
    down, right = Const(max(-offset, 0)), Const(max(offset, 0))
    rows, columns = writer.subtract(extents[first], down), writer.subtract(extents[second], right)
    rest = [k for k in range(len(extents)) if k not in (first, second)]
    length = writer.larger(writer.smaller(rows, columns), ZERO)
    handle = lowering.new_array(filled(dtype, extents, constant(dtype, 0)))
    with writer.nest([*(extents[k] for k in rest), length]) as index:
        indices = dict(zip(rest, index, strict=False))
        indices[first], indices[second] = writer.add(index[-1], down), writer.add(index[-1], right)
        source = index[:-1] if op.name == "trace_back" else index
        writer.store(handle, g.at(source), tuple(indices[k] for k in range(len(extents))))
    return stored(writer, handle, dtype, extents, frozenset({handle}))


RULES = {
    **dict.fromkeys(("reshape", "ravel", "flatten"), reshape),
    **dict.fromkeys(("transpose", "untranspose", "mT", "swapaxes", "moveaxis", "stack_array"), transpose),
    **dict.fromkeys(("concatenate_array", "split_array"), joined_rows),
    "half_tril": half_tril,
    "symmetric": symmetric,
    "pad": pad,
    "pad_back": pad_back,
    **dict.fromkeys(("tile", "tile_back"), tile),
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "flip": flip,
    "repeat": repeat,
    "roll": roll,
    **dict.fromkeys(("triu", "tril", "triangle"), triangle),
    **dict.fromkeys(("diag", "diagonal"), diagonal),
    **dict.fromkeys(("diagonal_place", "diag_back", "trace_back"), diagonal_place),
}
