"""Ops whose operands and results share a type, or whose elements do, such as a list and an item appended to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from symgrad.ir.core import Apply, Call, For, Func, If, Op, Operand, Value, While
from symgrad.ir.types import UNDEFINED, List, Tape, Type

#: operands and results that are lists of the same items
SAME = frozenset({"list_append", "list_set", "list_slice", "list_join", "list_drop", "list_repeat", "copy", "stop_gradient"})

#: an operand, the part of its type that is meant, and the whole type for such a part
Member = tuple[Operand, Callable[[Type], Type], Callable[[Type], Type]]


def of_one_type(op: Op) -> Iterator[list[Member]]:
    """The operands, results and arguments of an op that are of one type: each with its part that is meant, and the whole for a part."""
    match op:
        case Call(name="get", args=[tape, _], outs=outs) if isinstance(tape, Value):
            yield from saved(tape, outs)
        case Call(name="pop", args=[tape], outs=[rest, *outs]):
            yield itself(tape, rest)
            yield from saved(rest, outs)
        case Call(name=name, args=args, outs=[out]):
            if name in SAME:
                others = args[1:2] if name == "list_join" else []
                yield items(args[0], *others, out)
            if name in ("list_append", "list_set"):
                yield items(out) + itself(args[-1])
            if name == "table_set":
                yield itself(args[0], out)
                yield items_within(out) + itself(args[-1])
            if name == "table_add_at":
                yield itself(args[0], out)
            if name == "table_take":
                yield items_within(args[0]) + itself(out)
            if name == "list_take":
                yield items(args[0]) + itself(out)
            if name == "list_of":
                yield items(out) + itself(*args)
            if name in ("push", "put"):
                yield from saved(out, args[1 if name == "push" else 2 :])
        case For():
            yield from together(op.inits, op.carried, op.body.yields, op.outs)
        case While():
            yield from together(op.inits, op.carried, op.test.args, op.body.yields, op.outs)
        case If():
            yield from together(op.then.yields, op.orelse.yields, op.outs)
        case Apply(func=Func() as func):
            yield from together(op.args, func.body.args)
            yield from together(op.outs, func.body.yields)


def together(*columns: Sequence[Operand]) -> Iterator[list[Member]]:
    """Unify the types of corresponding operands of several lists."""
    for group in zip(*columns, strict=False):
        yield itself(*group)


def itself(*operands: Operand) -> list[Member]:
    """Operands, all of whose types are meant."""
    return [(operand, lambda whole: whole, lambda whole: whole) for operand in operands]


def items(*lists: Operand) -> list[Member]:
    """Lists, of whose types that of the items is meant."""
    return [(operand, item_of, partial(list_like, operand.type)) for operand in lists]


def items_within(table: Operand) -> list[Member]:
    """A list of lists, of whose type that of the items of these is meant."""
    return [(table, lambda whole: item_of(item_of(whole)), lambda item: list_like(table.type, list_like(item_of(table.type), item)))]


def saved(tape: Value, operands: Sequence[Operand]) -> Iterator[list[Member]]:
    """Return the values that a tape saves in each position, with the operands read from or written to it."""
    for k, operand in enumerate(operands):
        yield [(tape, partial(saved_in, k=k), partial(tape_like, tape.type, k)), *itself(operand)]


def saved_in(type_: Type, k: int) -> Type:
    """Return the type of one position in the entries of a tape."""
    return type_.items[k] if isinstance(type_, Tape) and k < len(type_.items) else UNDEFINED


def tape_like(type_: Type, k: int, item: Type) -> Type:
    """Return a tape type with another type in one position."""
    if not isinstance(type_, Tape) or k >= len(type_.items):
        return type_
    return replace(type_, items=(*type_.items[:k], item, *type_.items[k + 1 :]))


def item_of(type_: Type) -> Type:
    """The type of the items of a list."""
    return type_.item if isinstance(type_, List) else UNDEFINED


def list_like(type_: Type, item: Type) -> Type:
    """A list, or a tuple, of other items."""
    return replace(type_, item=item) if isinstance(type_, List) else List(item)


__all__ = ["Member", "of_one_type"]
