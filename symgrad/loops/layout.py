"""table: rows that lay the elements of an array out anew, as forms."""

from __future__ import annotations

from symgrad.ir.core import ONE, ZERO, Call, Const, Operand
from symgrad.ir.types import Array, Scalar
from symgrad.loops.arrays import axes, constant, dtype_of
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, cast_to, filled, shown, stored
from symgrad.loops.paths import Place, permuted, reshape_extents, reshaped
from symgrad.loops.reach import OutOfReach
from symgrad.loops.writer import number


def shown_at(form: Form, where: Place) -> Form:
    return shown(form, where.extents, where.at)


def reshape(lowering: Context, op: Call) -> Thing:
    if not isinstance(op.outs[0].type, Array):
        return lowering.thing(op.args[0])
    x = lowering.form(op.args[0])
    wanted: list[Operand] = []
    for a in op.args[1:]:
        wanted += lowering.extents(a)
    if op.name in ("ravel", "flatten"):
        wanted = [Const(-1)]
    extents = reshape_extents(lowering.writer, x.extents, wanted)
    return shown_at(x, reshaped(lowering.writer, x.extents, extents))


def transpose(lowering: Context, op: Call) -> Thing:
    """The axes in another order."""
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
    return shown(x, [x.extents[k] for k in kept], lambda i: tuple(i[kept.index(k)] if k in kept else ZERO for k in range(x.rank)))


def flip(lowering: Context, op: Call) -> Thing:
    x, writer = lowering.form(op.args[0]), lowering.writer
    turned = axes(op, op.settings["axis"], x.rank)

    def at(index: Index) -> Index:
        return tuple(
            writer.subtract(writer.add(e, Const(-1)), i) if k in turned else i
            for k, (i, e) in enumerate(zip(index, x.extents, strict=True))
        )

    return shown(x, x.extents, at)


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

    return shown(x, x.extents, at, price=3)


def triangle(lowering: Context, op: Call) -> Thing:
    """``triu`` and ``tril``."""
    x, writer = lowering.form(op.args[0]), lowering.writer
    if x.rank < 2:
        raise OutOfReach(f"{op.name} of a vector", op.loc)
    keeps = "greater_equal" if op.name == "triu" else "less_equal"

    def at(index: Index) -> Operand:
        test = writer.call(keeps, writer.subtract(index[-1], Const(op.settings["k"])), index[-2])
        return cast_to(writer, writer.call("where", test, x.at(index), constant(x.dtype, 0), via=None), x.dtype)

    return Form(x.dtype, x.extents, at, (x,), 1)


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
        made = dict(zip(rest, index, strict=False))
        made[first], made[second] = writer.add(index[-1], down), writer.add(index[-1], right)
        return tuple(made[k] for k in range(x.rank))

    return shown(x, (*(x.extents[k] for k in rest), length), at)


def diagonal_matrix(lowering: Context, x: Form, k: int, dtype: str) -> Form:
    """A vector on the diagonal of a square matrix."""
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
            return shown(g, extents, lambda i: (writer.add(i[0], down), writer.add(i[0], right)))
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
        made = dict(zip(rest, index, strict=False))
        made[first], made[second] = writer.add(index[-1], down), writer.add(index[-1], right)
        source = index[:-1] if op.name == "trace_back" else index
        writer.store(handle, g.at(source), tuple(made[k] for k in range(len(extents))))
    return stored(writer, handle, dtype, extents, frozenset({handle}))


RULES = {
    **dict.fromkeys(("reshape", "ravel", "flatten"), reshape),
    **dict.fromkeys(("transpose", "untranspose", "mT", "swapaxes", "moveaxis"), transpose),
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "flip": flip,
    "roll": roll,
    **dict.fromkeys(("triu", "tril"), triangle),
    **dict.fromkeys(("diag", "diagonal"), diagonal),
    **dict.fromkeys(("diagonal_place", "diag_back", "trace_back"), diagonal_place),
}
