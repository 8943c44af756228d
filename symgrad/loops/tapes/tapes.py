"""Tapes as lists: one of tuples for all numbers saved together, one for each array; shapes implied by arguments are not saved.

A list of numbers is saved as an array, a list of lists as several (``packed``). An inner tape is saved in
parts: its entries are appended to the lists of the outer tape, with their number.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from symgrad.ir.core import ZERO, Call, Const, Operand, Value
from symgrad.ir.types import INT, Array, List, Scalar, ShapeOf, Tape, Type, Undefined
from symgrad.loops.context import Context, Listing, Stacks, Thing
from symgrad.loops.forms import as_kind, cast_to, refuse_dtype
from symgrad.loops.lists import lists
from symgrad.loops.lists.packed import arrays_for, pack, unpacked
from symgrad.loops.reach import NoPlaces, OutOfReach, in_words


def parts_of(lowering: Context, items: tuple[Type, ...], name: str | None) -> list[Value]:
    """New values for the lists of a tape behind a join."""
    return [Value(kept, name) for kept in lists_of_tape(lowering, items)]


def lists_for_slot(lowering: Context, stacks: Stacks, items: tuple[Type, ...]) -> list[Operand]:
    """The lists, for a slot of such items; for an empty tape they are created here."""
    groups = lists_of_tape(lowering, items)
    if len(stacks.lists) == len(groups):
        return list(stacks.lists)
    if stacks.lists:
        raise OutOfReach("a tape whose items change", lowering.writer.loc)
    return [begun(lowering, kept) for kept in groups]


def lists_of_tape(lowering: Context, items: tuple[Type, ...]) -> list[Tape]:
    """The lists of a tape: one of the numbers of all items, then one for each array and each list of an inner tape."""
    parts = [part for type_ in items for part in saved(lowering, type_)]
    numbers = tuple(part for part in parts if isinstance(part, Scalar))
    others = [part if isinstance(part, Tape) else Tape((part,)) for part in parts if not isinstance(part, Scalar)]
    return [*([Tape(numbers)] if numbers else []), *others]


def saved(lowering: Context, type_: Type) -> list[Type]:
    """The types that an item of this type adds to the lists."""
    match type_:
        case Scalar():
            return [type_]
        case Array(dtype=dtype, shape=shape) if shape is not None:
            refuse_dtype(dtype)
            return [Array(dtype, shape, "C")]
        case ShapeOf(shape=shape) if shape is not None:
            return [INT for extent in shape if lowering.resolve(extent) is None]
        case List(item=Undefined()):
            return []
        case List():
            return list(arrays_for(lists.held_in(lowering, type_)))
        case Tape(items=items, indexed=False):
            groups = lists_of_tape(lowering, items)
            return [*(INT for _ in groups), *groups]
        case Tape():
            raise NoPlaces("a tape with places on one that grows", lowering.writer.loc)
    raise OutOfReach(f"a saved value that is {in_words(type_)}", lowering.writer.loc)


def begun(lowering: Context, kept: Tape) -> Value:
    """A new list."""
    tape = lowering.writer.call("tape", hint=None)
    tape.type = kept
    return tape


def exemplify(lowering: Context, lists: Iterable[Operand]) -> None:
    """Push an example on lists that are never read, so that numba can infer their types."""
    writer = lowering.writer
    for stack in lists:
        assert isinstance(stack.type, Tape)
        items = [example(lowering, type_) for type_ in stack.type.items]
        writer.build.block.ops.append(Call([], writer.loc, "push", [stack, *items], {}))


def example(lowering: Context, type_: Type) -> Operand:
    """A number or an array of a type."""
    if isinstance(type_, Scalar):
        return number_for(lowering, ZERO, type_)
    assert isinstance(type_, Array)
    return lowering.writer.empty(type_.dtype or "f64", (Const(0),) * len(type_.shape or ()), "%nothing")


def number_for(lowering: Context, operand: Operand, type_: Scalar) -> Operand:
    """A number in the dtype of a tape's items: numba has a type of lists for each, and lists of two types do not join."""
    value = as_kind(operand, type_)
    return value if type_.dtype in (None, "any") else cast_to(lowering.writer, value, type_.dtype)


def tape(lowering: Context, op: Call) -> Stacks:
    """An empty tape; its lists are created when the item types are known."""
    return Stacks((), [])


def push(lowering: Context, op: Call) -> Stacks:
    """Append the parts to their lists."""
    old = lowering.thing(op.args[0])
    assert isinstance(old, Stacks)
    (out,) = op.outs
    assert isinstance(out.type, Tape)
    stacks = [v for v in lists_for_slot(lowering, old, out.type.items) if isinstance(v, Value)]
    parts = [part for operand, type_ in zip(op.args[1:], out.type.items, strict=True) for part in pushed(lowering, operand, type_)]
    numbers = [part for part in parts if isinstance(part.type, Scalar)]
    others = [part for part in parts if not isinstance(part.type, Scalar)]
    if numbers:
        lowering.writer.whole("push", stacks[0], *numbers)
    for stack, part in zip(stacks[len(stacks) - len(others) :], others, strict=True):
        lowering.writer.whole("tape_extend" if isinstance(part.type, Tape) else "push", stack, part)
    return Stacks(out.type.items, stacks)


def pushed(lowering: Context, operand: Operand, type_: Type) -> list[Operand]:
    """The parts of an item."""
    match type_:
        case Scalar():
            return [number_for(lowering, lowering.number(operand), type_)]
        case Array():
            memory = lowering.materialised(operand).memory
            assert memory is not None
            return [memory]
        case ShapeOf(shape=shape):
            extents = lowering.extents(operand)
            return [e for e, extent in zip(extents, shape or (), strict=True) if lowering.resolve(extent) is None]
        case List(item=Undefined()):
            return []
        case List(item=item):
            return list(pack(lowering.writer, lists.listed(lowering, operand, item).known))
        case Tape(items=items):
            inner = lowering.thing(operand)
            assert isinstance(inner, Stacks)
            stacks = lists_for_slot(lowering, inner, items)
            return [*(lowering.writer.call("list_len", stack) for stack in stacks), *stacks]
    raise AssertionError(type_)


def pop(lowering: Context, op: Call) -> list[Thing]:
    """Pop the parts from their lists."""
    old = lowering.thing(op.args[0])
    assert isinstance(old, Stacks)
    rest = op.outs[0].type
    assert isinstance(rest, Tape)
    if len(op.outs) != 1 + len(rest.items):
        raise OutOfReach("a tape whose items change", op.loc)
    stacks = [v for v in lists_for_slot(lowering, old, rest.items) if isinstance(v, Value)]
    numbers, pending = numbers_taken(lowering, op, rest.items, stacks), iter(stacks if not has_numbers(stacks) else stacks[1:])
    results: list[Thing] = [Stacks(rest.items, old.lists)]
    for out, type_ in zip(op.outs[1:], rest.items, strict=True):
        match type_:
            case ShapeOf(shape=shape):
                results.append(tuple(lowering.resolve(extent) or next(numbers) for extent in shape or ()))
            case Scalar():
                results.append(next(numbers))
            case Array():
                handle = Value(type_, out.name)
                taken(lowering, next(pending), [handle])
                results.append(lowering.memory(handle, out, lowering.extents_at(handle, out)))
            case List(item=Undefined()):
                results.append(Listing(Undefined()))
            case List():
                handles = [Value(array, "%items") for array in saved(lowering, type_)]
                for handle in handles:
                    taken(lowering, next(pending), [handle])
                results.append(lists.of_handle(unpacked(lowering.writer, handles, lists.held_in(lowering, type_), out.name)))
            case Tape(items=inner):
                counts = [next(numbers) for _ in lists_of_tape(lowering, inner)]
                results.append(Stacks(inner, [part_taken(lowering, next(pending), count) for count in counts]))
    return results


def part_taken(lowering: Context, stack: Value, count: Operand) -> Value:
    """Remove the last ``count`` entries of an inner tape's list."""
    part = lowering.writer.call("tape_part", stack, count)
    part.type = stack.type
    lowering.writer.whole("tape_cut", stack, count)
    return part


def has_numbers(lists: list[Value]) -> bool:
    """Whether the first list holds the numbers."""
    return bool(lists) and isinstance(lists[0].type, Tape) and isinstance(lists[0].type.items[0], Scalar)


def numbers_taken(lowering: Context, op: Call, items: tuple[Type, ...], lists: list[Value]) -> Iterator[Value]:
    """All numbers that are saved together, in order."""
    if not has_numbers(lists):
        return iter(())
    outs: list[Value] = []
    for out, type_ in zip(op.outs[1:], items, strict=True):
        for part in saved(lowering, type_):
            if isinstance(part, Scalar):
                outs.append(Value(part, out.name if isinstance(type_, Scalar) else "%n"))
    taken(lowering, lists[0], outs)
    return iter(outs)


def taken(lowering: Context, stack: Value, outs: list[Value]) -> None:
    """Pop one entry from a list."""
    lowering.writer.build.block.ops.append(Call(outs, lowering.writer.loc, "pop", [stack], {}))
