"""Slot tapes as arrays: axes for the iterations, for the inner iterations, and for the saved value.

A value without extents known before the loop is saved in a list of arrays. An inner loop's tape is the part of
the outer one's arrays for the iteration; where its iteration count varies, there is room for the maximum.
"""

from __future__ import annotations

from symgrad.ir.core import NONE, ONE, ZERO, Call, Const, For, Operand, Value, walk
from symgrad.ir.types import INT, Array, List, Scalar, ShapeOf, Tape
from symgrad.loops.context import Context, Saved, Slots, Thing
from symgrad.loops.forms import Form, dtype_in_array, refuse_dtype, remember
from symgrad.loops.lists import lists
from symgrad.loops.lists.packed import arrays_for, pack, unpacked
from symgrad.loops.reach import NoPlaces, OutOfReach, in_words
from symgrad.loops.writer import number


def first_version(context: Context, value: Operand) -> Value | None:
    """The first version of a tape: the result of ``slots`` or ``slots_like``."""
    while isinstance(value, Value):
        maker = context.facts.maker.get(value)
        if isinstance(maker, Call) and maker.name in ("slots", "slots_like"):
            return value
        if isinstance(maker, Call) and maker.name == "put":
            value = maker.args[0]
        elif isinstance(maker, Call) and maker.name == "get":
            outer = first_version(context, maker.args[0])
            saves = None if outer is None else put_of(context, outer)
            value = NONE if saves is None else saves.args[2 + maker.outs.index(value)]
        elif value in context.facts.origin:
            value = context.facts.origin[value]
        else:
            return None
    return None


def rounds_of(context: Context, tape: Value) -> Operand | None:
    """The number of slots of a tape, by its first version."""
    maker = context.facts.maker.get(tape)
    if not isinstance(maker, Call):
        return None
    if maker.name == "slots":
        return maker.args[0]
    other = first_version(context, maker.args[0])
    return None if other is None else rounds_of(context, other)


def put_of(context: Context, tape: Value) -> Call | None:
    """The op that saves on a tape."""
    for op in walk(context.func.body):
        if isinstance(op, Call) and op.name == "put" and first_version(context, op.args[0]) is tape:
            return op
    return None


def slots(context: Context, op: Call) -> Thing:
    """Create the arrays of a tape, unless they are part of an outer tape's."""
    (out,) = op.outs
    if out in context.inner:
        inner = context.inner[out][1]
        return Slots(inner.saved, rounds_around(context, out), inner.counts)
    saves = put_of(context, out)
    if saves is None:
        return Slots([], (), ())
    rounds = rounds_of(context, out)
    if rounds is None:
        raise NoPlaces("the cotangents of a tape that is made elsewhere", context.writer.loc)
    return laid_out(context, saves, (context.writer.larger(context.number(rounds), ZERO),))


def rounds_around(context: Context, tape: Value) -> tuple[Operand, ...]:
    """The iterations of the outer loops that an inner tape belongs to."""
    if tape not in context.inner:
        return ()
    outer, _, index = context.inner[tape]
    return (*rounds_around(context, outer), context.number(index))


def laid_out(context: Context, saves: Call, counts: tuple[Operand, ...]) -> Slots:
    """The arrays for the values that a ``put`` saves."""
    arrays = Slots([], (), counts)
    for operand in saves.args[2:]:
        arrays.saved.append(place_for(context, operand, counts))
        tape = first_version(context, operand) if isinstance(operand.type, Tape) else None
        own, inside = first_version(context, saves.args[0]), arrays.saved[-1].inner
        if tape is not None and own is not None and inside is not None:
            context.inner[tape] = (own, inside, saves.args[1])
    return arrays


def place_for(context: Context, operand: Operand, counts: tuple[Operand, ...]) -> Saved:
    """Memory for one value saved in each iteration."""
    writer = context.writer
    name = f"{operand.name.lstrip('%')}_tape" if isinstance(operand, Value) and operand.name else "%tape"
    match operand.type:
        case Scalar():
            return Saved(operand.type, [writer.empty(dtype_in_array(operand.type), counts, name)])
        case Array(dtype=dtype, shape=shape) if shape is not None:
            refuse_dtype(dtype)
            extents = [context.resolve_here(e) for e in shape]
            known = [e for e in extents if e is not None]
            assert dtype is not None
            if len(known) == len(extents) and operand not in context.unsure:
                return Saved(operand.type, [writer.empty(dtype, (*counts, *known), name)], tuple(known))
            return Saved(operand.type, [list_of_arrays(context, dtype, len(shape), counts, name)])
        case ShapeOf(shape=shape) if shape is not None:
            known_extents = tuple(context.resolve_here(e) for e in shape)
            handles = [writer.empty("i64", counts, "%n_tape") for e in known_extents if e is None]
            return Saved(operand.type, handles, shape=known_extents)
        case List() as type_:
            arrays = arrays_for(lists.held_in(context, type_))
            handles = [list_of_arrays(context, array.dtype or "f64", len(array.shape or ()), counts, name) for array in arrays]
            return Saved(type_, handles)
        case Tape():
            return inner_tape(context, operand, counts)
    raise OutOfReach(f"a saved value that is {in_words(operand.type)}", writer.loc)


def list_of_arrays(context: Context, dtype: str, rank: int, counts: tuple[Operand, ...], name: str) -> Value:
    """A list with an array for each iteration."""
    writer = context.writer
    nothing = writer.empty(dtype, (ZERO,) * rank, "%nothing")
    total: Operand = ONE
    for count in counts:
        total = writer.multiply(total, count)
    arrays = writer.call("list_of_same", nothing, total, hint=name)
    arrays.type = List(Array(dtype, nothing.type.shape if isinstance(nothing.type, Array) else None, "C"))
    return arrays


def inner_tape(context: Context, operand: Operand, counts: tuple[Operand, ...]) -> Saved:
    """The arrays of an inner loop's tape, with room for its maximum number of iterations."""
    tape = first_version(context, operand)
    rounds = rounds_of(context, tape) if tape is not None else None
    if tape is None or rounds is None:
        raise NoPlaces("a tape that is made elsewhere", context.writer.loc)
    saves = put_of(context, tape)
    if saves is None:
        return Saved(operand.type, [], (), Slots([], (), counts))
    bound = most(context, rounds)
    if bound is None:
        raise NoPlaces("an inner loop whose number of iterations is not known before the outer loop", context.writer.loc)
    return Saved(operand.type, [], (), laid_out(context, saves, (*counts, bound)))


def most(context: Context, operand: Operand) -> Operand | None:
    """An upper bound of an iteration count, from values known here."""
    bound = extreme(context, operand, 1)
    return None if bound is None else context.writer.larger(bound, ZERO)


def extreme(context: Context, operand: Operand, side: int) -> Operand | None:
    """The upper (1) or lower (-1) bound of a sum of indices, from values known here."""
    if isinstance(operand, Const) or operand in context.env:
        return context.number(operand)
    loop = next((op for op in walk(context.func.body) if isinstance(op, For) and op.index is operand), None)
    if loop is not None:
        step = number(loop.step)
        if side < 0 and step is not None:
            return extreme(context, loop.start if step > 0 else loop.stop, side)
        first, last = extreme(context, loop.start, side), extreme(context, loop.stop, side)
        return None if side < 0 or first is None or last is None else context.writer.larger(first, last)
    maker = context.facts.maker.get(operand)
    if isinstance(maker, Call) and maker.name == "extent" and maker.args[0] in context.env:
        extent: Operand = context.form(maker.args[0]).extents[maker.settings["axis"]]
        return extent
    if isinstance(maker, Call) and maker.name in ("add", "subtract"):
        first, second = extreme(context, maker.args[0], side), extreme(context, maker.args[1], side if maker.name == "add" else -side)
        if first is not None and second is not None:
            return context.writer.add(first, second) if maker.name == "add" else context.writer.subtract(first, second)
    return None


def put(context: Context, op: Call) -> Thing:
    """Save the values of an iteration."""
    if op.settings["add"]:
        raise OutOfReach("cotangents of values saved in a loop, which several iterations read")
    tape = context.thing(op.args[0])
    assert isinstance(tape, Slots)
    index = (*tape.prefix, context.number(op.args[1]))
    assert len(index) == len(tape.counts)
    for saved, operand in zip(tape.saved, op.args[2:], strict=True):
        if (op, operand) not in context.saved_now:
            save(context, tape, saved, operand, index)
    return tape


def saved_now(context: Context, value: Value, form: Form) -> bool:
    """Save a recipe that needs memory at once if its block saves it later: its slot serves as its memory."""
    block = context.frames[-1].block
    op = next((op for op in block.ops if isinstance(op, Call) and op.name == "put" and value in op.args[2:]), None)
    if op is None or context.home.get(form) is not block or not isinstance(tape := context.env.get(op.args[0]), Slots):  # type: ignore[arg-type]
        return False
    saved = tape.saved[op.args.index(value) - 2]
    if saved.extents is None:
        return False
    index = (*tape.prefix, context.number(op.args[1]))
    save(context, tape, saved, value, index)
    context.saved_now.add((op, value))
    (handle,) = saved.handles
    remember(form, context.writer, handle, frozenset({handle}), index)
    return True


def save(context: Context, tape: Slots, saved: Saved, operand: Operand, index: tuple[Operand, ...]) -> None:
    """Save one value."""
    writer = context.writer
    match saved.type:
        case Scalar():
            writer.store(saved.handles[0], context.number(operand), index)
        case Array() if saved.extents is not None:
            form = context.form(operand)
            for mine, room in zip(form.extents, saved.extents, strict=True):
                writer.require_equal(mine, room)
            with writer.nest(saved.extents) as inner:
                writer.store(saved.handles[0], form.at(inner), (*index, *inner))
        case Array():
            memory = context.materialised(operand).memory
            assert memory is not None
            writer.keep(saved.handles[0], flat(context, tape, index), memory)
        case List(item=item):
            for handle, array in zip(saved.handles, pack(writer, lists.listed(context, operand, item).known), strict=True):
                writer.keep(handle, flat(context, tape, index), array)
        case ShapeOf():
            open_extents = [e for e, known in zip(context.extents(operand), saved.shape, strict=True) if known is None]
            for handle, extent in zip(saved.handles, open_extents, strict=True):
                writer.store(handle, extent, index)


def flat(context: Context, tape: Slots, index: tuple[Operand, ...]) -> Operand:
    """The index in a list for the indices of several loops."""
    place: Operand = ZERO
    for i, count in zip(index, tape.counts, strict=True):
        place = context.writer.add(context.writer.multiply(place, count), i)
    return place


def get(context: Context, op: Call) -> list[Thing]:
    """The saved values of an iteration."""
    tape = context.thing(op.args[0])
    assert isinstance(tape, Slots)
    writer = context.writer
    index = (*tape.prefix, context.number(op.args[1]))
    values: list[Thing] = []
    for saved, out in zip(tape.saved, op.outs, strict=True):
        match saved.type:
            case Scalar():
                value = writer.read(saved.handles[0], index)
                value.type, value.name = saved.type, out.name
                values.append(value)
            case Array(dtype=str() as dtype) if saved.extents is not None:
                values.append(row_of(context, saved, dtype, index, out))
            case Array():
                handle = writer.call("list_take", saved.handles[0], flat(context, tape, index), hint=out.name)
                handle.type = Array(saved.type.dtype, saved.type.shape, "C")
                values.append(context.memory(handle, out, context.extents_at(handle, out)))
            case List():
                held = lists.held_in(context, saved.type)
                arrays: list[Value] = []
                for stack, array in zip(saved.handles, arrays_for(held), strict=True):
                    arrays.append(writer.call("list_take", stack, flat(context, tape, index), hint="%items"))
                    arrays[-1].type = array
                values.append(lists.of_handle(unpacked(writer, arrays, held, out.name)))
            case ShapeOf():
                pending = iter(saved.handles)
                values.append(tuple(saved_extent(context, next(pending), index) if e is None else e for e in saved.shape))
            case Tape():
                inner = saved.inner
                assert inner is not None
                values.append(Slots(inner.saved, index, inner.counts))
    return values


def saved_extent(context: Context, handle: Value, index: tuple[Operand, ...]) -> Value:
    """An extent of a saved shape."""
    extent = context.writer.read(handle, index)
    extent.type = INT
    return extent


def row_of(context: Context, saved: Saved, dtype: str, index: tuple[Operand, ...], out: Value) -> Form:
    """One iteration's part of an array of saved arrays."""
    handle = saved.handles[0]
    cells = frozenset({handle})
    return Form(dtype, saved.extents or (), lambda inner: context.writer.read(handle, (*index, *inner)), cells=cells, name=out.name)
