"""Type inference for lists that are empty at first, or hold such lists: from the items added later."""

from __future__ import annotations

from dataclasses import replace

from symgrad.ir.core import Func, Value, defined_by, walk
from symgrad.ir.types import UNDEFINED, List, Tape, Type, Undefined
from symgrad.ops.analysis.alike import Member, of_one_type


def empties(func: Func) -> Func:
    """Set the item types of lists, in place.

    >>> from symgrad.ir.parse import parse
    >>> import symgrad.ops.spelling  # which loads the rows
    >>> func = parse('''
    ... func f(x: float) -> v: list[list[float]]:
    ...     a = list_of() : list[undefined]
    ...     t = list_of(a) : list[list[undefined]]
    ...     b = list_of(x) : list[float]
    ...     v = list_append(t, b) : list[list[float]]
    ...     return v
    ... ''')
    >>> [str(op.outs[0].type) for op in empties(func).body.ops]
    ['list[float]', 'list[list[float]]', 'list[float]', 'list[list[float]]']
    """
    ops = list(walk(func.body))
    if not any(is_empty(value.type) for op in func.body.ops for value in defined_by(op)):
        return func
    while any(unify_types(group) for op in ops for group in list(of_one_type(op))):
        pass
    return func


def is_empty(type_: Type) -> bool:
    """Whether the type is that of a list with unknown items."""
    match type_:
        case List(item=item):
            return isinstance(item, Undefined) or is_empty(item)
        case Tape(items=items):
            return any(map(is_empty, items))
    return False


def unify_types(group: list[Member]) -> bool:
    """Unify the list types of a group; True if that changes a type."""
    whole: Type = UNDEFINED
    for operand, part, _ in group:
        whole = filled(whole, part(operand.type))
    news = False
    for operand, part, back in group:
        type_ = back(filled(part(operand.type), whole))
        if isinstance(operand, Value) and isinstance(operand.type, List | Tape) and type_ != operand.type:
            operand.type, news = type_, True
    return news


def filled(type_: Type, other: Type) -> Type:
    """A type, with unknown item types taken from another type."""
    match type_, other:
        case Undefined(), _:
            return other
        case List(item=a), List(item=b):
            return replace(type_, item=filled(a, b))
        case Tape(items=items), Tape(items=others) if len(items) == len(others):
            return replace(type_, items=tuple(map(filled, items, others)))
    return type_


__all__ = ["empties"]
