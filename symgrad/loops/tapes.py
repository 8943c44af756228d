"""Tapes as lists of numbers and of arrays: one list for each part of what is saved; shapes that the arguments say are not saved."""

from __future__ import annotations

from symgrad.ir.core import Call, Operand, Value
from symgrad.ir.types import INT, Array, Scalar, ShapeOf, Tape, Type
from symgrad.loops.context import Context, Stacks, Thing
from symgrad.loops.forms import refuse_dtype
from symgrad.loops.reach import OutOfReach


def parts_of(lowering: Context, items: tuple[Type, ...], name: str | None) -> list[Value]:
    """New values for the lists of a tape behind a join."""
    return [Value(Tape((item,)), name) for type_ in items for item in saved(lowering, type_)]


def given_lists(lowering: Context, stacks: Stacks, items: tuple[Type, ...]) -> list[Operand]:
    """The lists as a slot for such items takes them; a tape that nothing was saved on begins here."""
    wanted = [item for type_ in items for item in saved(lowering, type_)]
    if len(stacks.lists) == len(wanted):
        return list(stacks.lists)
    if stacks.lists:
        raise OutOfReach("a tape whose items change", lowering.writer.loc)
    return [begun(lowering, item) for item in wanted]


def saved(lowering: Context, type_: Type) -> list[Type]:
    """What is put on lists for an item of this type."""
    match type_:
        case Scalar():
            return [type_]
        case Array(dtype=dtype, shape=shape) if shape is not None:
            refuse_dtype(dtype)
            return [Array(dtype, shape, "C")]
        case ShapeOf(shape=shape) if shape is not None:
            return [INT for extent in shape if lowering.resolve(extent) is None]
    raise OutOfReach(f"a saved value that is {type_}", lowering.writer.loc)


def begun(lowering: Context, item: Type) -> Value:
    """A new list."""
    made = lowering.writer.call("tape", hint=None)
    made.type = Tape((item,))
    return made


def tape(lowering: Context, op: Call) -> Stacks:
    """Nothing is saved yet; the lists are made where it is known of what."""
    return Stacks((), [])


def push(lowering: Context, op: Call) -> Stacks:
    """Append each part to its list."""
    old = lowering.thing(op.args[0])
    assert isinstance(old, Stacks)
    (out,) = op.outs
    assert isinstance(out.type, Tape)
    lists = [v for v in given_lists(lowering, old, out.type.items) if isinstance(v, Value)]
    pending = iter(lists)
    for operand, type_ in zip(op.args[1:], out.type.items, strict=True):
        for part in pushed(lowering, operand, type_):
            stack = next(pending)
            lowering.writer.build.block.ops.append(Call([], lowering.writer.loc, "push", [stack, part], {}))
    return Stacks(out.type.items, lists)


def pushed(lowering: Context, operand: Operand, type_: Type) -> list[Operand]:
    """The parts of an item."""
    match type_:
        case Scalar():
            return [lowering.number(operand)]
        case Array():
            memory = lowering.materialised(operand).memory
            assert memory is not None
            return [memory]
        case ShapeOf(shape=shape):
            extents = lowering.extents(operand)
            return [e for e, extent in zip(extents, shape or (), strict=True) if lowering.resolve(extent) is None]
    raise AssertionError(type_)


def pop(lowering: Context, op: Call) -> list[Thing]:
    """Take each part off its list."""
    old = lowering.thing(op.args[0])
    assert isinstance(old, Stacks)
    rest = op.outs[0].type
    assert isinstance(rest, Tape)
    pending = iter([v for v in given_lists(lowering, old, rest.items) if isinstance(v, Value)])
    made: list[Thing] = [Stacks(rest.items, old.lists)]
    for out, type_ in zip(op.outs[1:], rest.items, strict=True):
        match type_:
            case ShapeOf(shape=shape):
                extents = []
                for extent in shape or ():
                    extents.append(lowering.resolve(extent) or taken(lowering, next(pending), INT, "%n"))
                made.append(tuple(extents))
            case Scalar():
                made.append(taken(lowering, next(pending), type_, out.name))
            case Array():
                handle = taken(lowering, next(pending), type_, out.name)
                made.append(lowering.memory(handle, out, lowering.extents_at(handle, type_)))
    return made


def taken(lowering: Context, stack: Value, type_: Type, name: str | None) -> Value:
    """One value off a list."""
    made = Value(type_, name)
    lowering.writer.build.block.ops.append(Call([made], lowering.writer.loc, "pop", [stack], {}))
    return made
