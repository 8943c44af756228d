"""table: rows that make arrays or lay them out anew, as forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.ir.core import ONE, ZERO, Call, Const, Operand
from symgrad.ir.types import Array, Scalar
from symgrad.loops.context import Context, Thing
from symgrad.loops.forms import Form, Index, broadcast_extents, broadcast_index, cast_to, filled, mapped, refuse, shown, stored
from symgrad.loops.masks import without_masks
from symgrad.loops.paths import Place, permuted, place_of, product_of, reshape_extents, reshaped
from symgrad.loops.reach import OutOfReach
from symgrad.loops.writer import number
from symgrad.ops.shapes import axes_of


def constant(dtype: str, value: int) -> Const:
    """0 or 1 as an element."""
    return Const(float(value)) if dtype[0] == "f" else Const(bool(value)) if dtype == "bool" else Const(value)


def dtype_of(op: Call) -> str:
    """The dtype of a result, which must be known."""
    type_ = op.outs[0].type
    if isinstance(type_, Scalar) and type_.dtype not in (None, "any"):
        assert type_.dtype is not None
        return type_.dtype
    return refuse(type_)


def axes(op: Call, setting: object, rank: int) -> tuple[int, ...]:
    """Axes that a setting says."""
    found = axes_of(setting, rank)
    if found is None:
        raise OutOfReach("axes that do not fit", op.loc)
    return found


# ------------------------------------------------------------------ reading


def place(lowering: Context, extents: Sequence[Operand], op: Call, given: list[Operand]) -> Place:
    """The place that an op's path leads to."""
    index, items = without_masks(lowering, op.settings["index"], [lowering.item(g) for g in given])
    return place_of(lowering.writer, extents, index, items)


def view(lowering: Context, op: Call) -> Thing:
    """A part of an array, or one element."""
    x = lowering.form(op.args[0])
    where = place(lowering, x.extents, op, op.args[1:])
    if isinstance(op.outs[0].type, Scalar):
        return x.at(where.at(()))
    made = shown(x, where.extents, where.at, 2 if where.arrays else 0)
    made.parts = (x, *where.arrays)
    return made


def take_written(lowering: Context, op: Call) -> Thing:
    """As ``take``, but zero where a later element names the same cell."""
    x = lowering.form(op.args[0])
    where = place(lowering, x.extents, op, op.args[1:])
    if not where.repeats:
        return view(lowering, op)
    stays = last_written(lowering, x.extents, where)
    zero = constant(x.dtype, 0)

    def at(index: Index) -> Operand:
        made = lowering.writer.call("where", stays(index), x.at(where.at(index)), zero, via=None)
        return cast_to(lowering.writer, made, x.dtype)

    return Form(x.dtype, where.extents, at, (x, *where.arrays), 4)


def last_written(lowering: Context, extents: Sequence[Operand], where: Place) -> Callable[[Index], Operand]:
    """Is an element of a place the last that names its cell?"""
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


def copied(lowering: Context, op: Call) -> Thing:
    """The same elements, in another dtype if one is said."""
    if not isinstance(op.outs[0].type, Array):
        return lowering.thing(op.args[0])
    x, dtype = lowering.form(op.args[0]), dtype_of(op)
    if x.dtype == dtype:
        return shown(x, x.extents, lambda i: i)
    return mapped(lowering.writer, dtype, [x], lambda e: cast_to(lowering.writer, e[0], dtype), 0)


# ------------------------------------------------------------------ making


def shape_given(lowering: Context, operands: Sequence[Operand]) -> tuple[Operand, ...]:
    """The shape that operands say: numbers, or one shape."""
    made: list[Operand] = []
    for operand in operands:
        made += lowering.extents(operand)
    for extent in made:
        if number(extent) is None:
            lowering.writer.not_negative(extent)
    return tuple(made)


def made_of(value: int) -> Callable[[Context, Call], Thing]:
    """``zeros``, ``ones``."""
    return lambda lowering, op: filled(dtype_of(op), shape_given(lowering, op.args), constant(dtype_of(op), value))


def made_like(value: int) -> Callable[[Context, Call], Thing]:
    """``zeros_like``, ``ones_like``."""

    def rule(lowering: Context, op: Call) -> Thing:
        if isinstance(op.outs[0].type, Scalar):
            return Const(0.0)
        return filled(dtype_of(op), lowering.form(op.args[0]).extents, constant(dtype_of(op), value))

    return rule


def empty(lowering: Context, op: Call) -> Thing:
    """An array of whatever there is."""
    extents = lowering.form(op.args[0]).extents if op.name == "empty_like" else shape_given(lowering, op.args)
    handle = lowering.writer.empty(dtype_of(op), extents, op.outs[0].name)
    return lowering.memory(handle, op.outs[0], extents)


def full(lowering: Context, op: Call) -> Thing:
    """An array of one value, or of the rows of one."""
    like = op.name == "full_like"
    extents = lowering.form(op.args[0]).extents if like else shape_given(lowering, op.args[1:])
    value = op.args[1] if like else op.args[0]
    return spread_to(lowering, value, extents, dtype_of(op))


def spread_to(lowering: Context, value: Operand, extents: tuple[Operand, ...], dtype: str) -> Form:
    """A number or an array broadcast to a shape."""
    writer = lowering.writer
    if isinstance(value.type, Scalar):
        given = lowering.number(value)
        element = constant_in(given, dtype) if isinstance(given, Const) else cast_to(writer, given, dtype)
        return filled(dtype, extents, element)
    x = lowering.form(value)
    found = broadcast_extents(writer, [x.extents, extents])
    if len(found) != len(extents):
        raise OutOfReach("an array broadcast to fewer axes", writer.loc)
    for a, b in zip(found, extents, strict=True):
        writer.require_equal(a, b)
    stretched = any(number(e) == 1 and number(f) != 1 for e, f in zip(x.extents, extents[len(extents) - x.rank :], strict=True))
    made = shown(x, extents, lambda index: broadcast_index(x, index), spread=stretched or x.rank < len(extents))
    return made if x.dtype == dtype else mapped(writer, dtype, [made], lambda e: cast_to(writer, e[0], dtype), 0)


def constant_in(value: Const, dtype: str) -> Const:
    """A literal as NumPy stores it in an array."""
    kind = {"f": float, "b": bool}.get(dtype[0], int)
    return Const(kind(value.value)) if isinstance(value.value, bool | int | float) else value


def spread(lowering: Context, op: Call) -> Thing:
    """The cotangent of a reduction: the same for all elements that were reduced."""
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
    return shown(g, extents, lambda index: broadcast_index(g, tuple(index[k] for k in kept)), spread=True)


def broadcast_to(lowering: Context, op: Call) -> Thing:
    return spread_to(lowering, op.args[0], shape_given(lowering, op.args[1:]), dtype_of(op))


def arange(lowering: Context, op: Call) -> Thing:
    """Integers in steps."""
    bounds = [lowering.number(a) for a in op.args]
    dtype = dtype_of(op)
    if any(getattr(b.type, "kind", "") != "int" for b in bounds):
        raise OutOfReach("np.arange of floats", op.loc)
    start, stop = (ZERO, bounds[0]) if len(bounds) == 1 else bounds[:2]
    step = number(bounds[2]) if len(bounds) == 3 else 1
    if not step:
        raise OutOfReach("np.arange with a step that is not a literal", op.loc)
    writer = lowering.writer
    if step == 1:
        length = writer.larger(writer.subtract(stop, start), ZERO)
    else:
        length = writer.pure("range_len", start, stop, Const(step))

    def at(index: Index) -> Operand:
        return cast_to(writer, writer.add(start, writer.multiply(index[0], Const(step))), dtype)

    return Form(dtype, (length,), at, price=0, spread=True)


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

    return Form(dtype_of(op), (count,), at, price=3, spread=True)


def as_float(operand: Operand) -> Operand:
    return Const(float(operand.value)) if isinstance(operand, Const) and isinstance(operand.value, int) else operand


def eye(lowering: Context, op: Call) -> Thing:
    """Ones on a diagonal."""
    writer, dtype = lowering.writer, dtype_of(op)
    rows = lowering.number(op.args[0])
    columns = rows if isinstance(op.args[1], Const) and op.args[1].value is None else lowering.number(op.args[1])

    def at(index: Index) -> Operand:
        on = writer.call("equal", writer.add(index[0], Const(op.settings["k"])), index[1])
        return cast_to(writer, writer.call("where", on, constant(dtype, 1), constant(dtype, 0), via=None), dtype)

    return Form(dtype, (rows, columns), at, price=1, spread=True)


# ------------------------------------------------------------------ another shape


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


# ------------------------------------------------------------------ joining


def concatenate(lowering: Context, op: Call) -> Thing:
    """Each operand into its part of a new array."""
    writer, dtype = lowering.writer, dtype_of(op)
    parts = [lowering.form(a) for a in op.args]
    axis = op.settings["axis"]
    if axis is None or not parts or any(p.rank != parts[0].rank for p in parts):
        raise OutOfReach("np.concatenate of arrays that are laid flat", op.loc)
    (along,) = axes(op, axis, parts[0].rank)
    total: Operand = ZERO
    starts = []
    for p in parts:
        starts.append(total)
        total = writer.add(total, p.extents[along])
        for k, e in enumerate(p.extents):
            if k != along:
                writer.require_equal(e, parts[0].extents[k])
    extents = tuple(total if k == along else e for k, e in enumerate(parts[0].extents))
    handle = writer.empty(dtype, extents, op.outs[0].name)
    for p, start in zip(parts, starts, strict=True):
        with writer.nest(p.extents) as index:
            writer.store(handle, p.at(index), tuple(writer.add(start, i) if k == along else i for k, i in enumerate(index)))
    return lowering.memory(handle, op.outs[0], extents)


def concatenate_part(lowering: Context, op: Call) -> Thing:
    """The part of a cotangent that belongs to one operand."""
    g, writer = lowering.form(op.args[0]), lowering.writer
    shapes = [lowering.form(a).extents for a in op.args[1:]]
    at, axis = op.settings["at"], op.settings["axis"]
    if axis is None:
        raise OutOfReach("np.concatenate of arrays that are laid flat", op.loc)
    (along,) = axes(op, axis, g.rank)
    start: Operand = ZERO
    for s in shapes[:at]:
        start = writer.add(start, s[along])
    extents = tuple(shapes[at][k] if k == along else e for k, e in enumerate(g.extents))
    return shown(g, extents, lambda index: tuple(writer.add(start, i) if k == along else i for k, i in enumerate(index)))


def stack(lowering: Context, op: Call) -> Thing:
    """Each operand into its layer of a new array."""
    writer, dtype = lowering.writer, dtype_of(op)
    parts = [lowering.form(a) for a in op.args]
    (along,) = axes(op, op.settings["axis"], parts[0].rank + 1)
    for p in parts[1:]:
        for a, b in zip(p.extents, parts[0].extents, strict=True):
            writer.require_equal(a, b)
    own = parts[0].extents
    extents = (*own[:along], Const(len(parts)), *own[along:])
    handle = writer.empty(dtype, extents, op.outs[0].name)
    for number_, p in enumerate(parts):
        with writer.nest(p.extents) as index:
            writer.store(handle, p.at(index), (*index[:along], Const(number_), *index[along:]))
    return lowering.memory(handle, op.outs[0], extents)


def stack_part(lowering: Context, op: Call) -> Thing:
    """One layer of a cotangent."""
    g = lowering.form(op.args[0])
    (along,) = axes(op, op.settings["axis"], g.rank)
    layer = Const(op.settings["at"])
    if isinstance(op.outs[0].type, Scalar):
        return g.at((layer,))
    extents = g.extents[:along] + g.extents[along + 1 :]
    return shown(g, extents, lambda index: (*index[:along], layer, *index[along:]))


# ------------------------------------------------------------------ shapes


def shape_of(lowering: Context, op: Call) -> Thing:
    found = lowering.thing(op.args[0])
    return found.extents if isinstance(found, Form) else ()


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


def list_of(lowering: Context, op: Call) -> Thing:
    """A list of numbers that is written out, as long as nothing is put into it."""
    if not op.args or not all(isinstance(a.type, Scalar) for a in op.args):
        raise OutOfReach(f"list_of of {', '.join(str(a.type) for a in op.args)}", op.loc)
    return tuple(lowering.number(a) for a in op.args)


def array_of(lowering: Context, op: Call) -> Thing:
    """The array of a list that is written out."""
    found, writer, dtype = lowering.thing(op.args[0]), lowering.writer, dtype_of(op)
    type_ = op.outs[0].type
    if not isinstance(found, tuple) or not isinstance(type_, Array) or type_.rank != 1:
        raise OutOfReach("the array of a list", op.loc)
    extents = (Const(len(found)),)
    handle = writer.empty(dtype, extents, op.outs[0].name)
    for place_, element in enumerate(found):
        value = constant_in(element, dtype) if isinstance(element, Const) else cast_to(writer, element, dtype)
        writer.store(handle, value, (Const(place_),))
    return lowering.memory(handle, op.outs[0], extents)


def list_from(lowering: Context, op: Call) -> Thing:
    """The elements of a vector of known length, as they are now."""
    x = lowering.form(op.args[0])
    count = number(x.extents[0]) if x.rank == 1 else None
    if count is None or op.settings["depth"] != 1:
        raise OutOfReach(f"list_from of {op.args[0].type}", op.loc)
    return tuple(x.at((Const(k),)) for k in range(count))


def list_take(lowering: Context, op: Call) -> Thing:
    """One of a list that is written out."""
    found, place_ = lowering.thing(op.args[0]), number(op.args[1])
    if not isinstance(found, tuple) or place_ is None or not -len(found) <= place_ < len(found):
        raise OutOfReach("an element of a list", op.loc)
    return found[place_]


def item(lowering: Context, op: Call) -> Thing:
    """``x.item()`` of an array of one element."""
    x, writer = lowering.form(op.args[0]), lowering.writer
    given = [lowering.number(a) for a in op.args[1:]]
    if not given:
        for e in x.extents:
            writer.require_equal(e, ONE)
        return number_of(lowering, op, x.at((ZERO,) * x.rank))
    if len(given) != x.rank:
        raise OutOfReach("x.item of a flat index", op.loc)
    return number_of(lowering, op, x.at(tuple(writer.in_range(i, e) for i, e in zip(given, x.extents, strict=True))))


def number_of(lowering: Context, op: Call, value: Operand) -> Operand:
    """An element as a Python number."""
    type_ = op.outs[0].type
    assert isinstance(type_, Scalar)
    return lowering.writer.call("number", value, kind=type_.kind)


RULES = {
    **dict.fromkeys(("view", "take"), view),
    "take_written": take_written,
    **dict.fromkeys(("stop_gradient", "cut", "positive_alias", "or_one"), same),
    **dict.fromkeys(("copy", "copy_rows", "by_rows", "array", "asarray", "to_array"), copied),
    **dict.fromkeys(("zeros", "zeros_of"), made_of(0)),
    "ones": made_of(1),
    **dict.fromkeys(("zeros_like", "zeros_as"), made_like(0)),
    "ones_like": made_like(1),
    **dict.fromkeys(("empty", "empty_like"), empty),
    **dict.fromkeys(("full", "full_like"), full),
    "spread": spread,
    "broadcast_to": broadcast_to,
    "arange": arange,
    "linspace": linspace,
    "eye": eye,
    **dict.fromkeys(("reshape", "ravel", "flatten"), reshape),
    **dict.fromkeys(("transpose", "untranspose", "mT", "swapaxes", "moveaxis"), transpose),
    "expand_dims": expand_dims,
    "squeeze": squeeze,
    "flip": flip,
    "roll": roll,
    **dict.fromkeys(("triu", "tril"), triangle),
    **dict.fromkeys(("diag", "diagonal"), diagonal),
    **dict.fromkeys(("diagonal_place", "diag_back", "trace_back"), diagonal_place),
    "concatenate": concatenate,
    "concatenate_part": concatenate_part,
    "stack": stack,
    "stack_part": stack_part,
    "list_of": list_of,
    "array_of": array_of,
    "list_from": list_from,
    "list_take": list_take,
    "shape_of": shape_of,
    "extent": extent,
    "size": size,
    "ndim": ndim,
    "reduced_size": reduced_size,
    "item": item,
}
