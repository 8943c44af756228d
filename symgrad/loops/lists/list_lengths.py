"""Replaces items by zeros in lists of which only the length is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from symgrad.ir.core import ZERO, Apply, Call, Func, Op, Operand, Value, defined_by, walk
from symgrad.ir.layout import joins
from symgrad.ir.types import INT, List, Scalar
from symgrad.ops.analysis.aliases import Groups
from symgrad.passes.simplification.dce import dce

#: rows that create or extend a list, with the operand positions of its items
MAKING = {"list_of": slice(None), "list_append": slice(1, None), "list_drop": slice(0), "list_join": slice(0), "copy": slice(0)}


def list_lengths(func: Func) -> Func:
    """Replace the items of lists of which only the length is read by zeros, in place.

    >>> from symgrad.ir.parse import parse
    >>> from symgrad.ir.show import show
    >>> import symgrad.ops.spelling  # which loads the rows
    >>> func = parse('''
    ... func f(x: float, n: int) -> k: int:
    ...     text = format_text("{}", x) : object[str]
    ...     a = list_of(text) : list[object[str]]
    ...     k = list_len(a) : int
    ...     return k
    ... ''')
    >>> print(show(list_lengths(func)).strip())
    func f(x: float, n: int) -> k: int:
        a.0 = list_of(0) : list[int]
        k.0 = list_len(a.0) : int
        return k.0
    """
    ops = list(walk(func.body))
    groups = Groups()
    for op in ops:
        for value, operands in joins(op):
            groups.join(value, *operands)
        if isinstance(op, Call) and op.name in MAKING:
            groups.join(*op.outs, *continued(op))
    read = {groups.find(value) for value in [*func.params, *lists(func.body.yields), *(v for op in ops for v in read_by(op))]}
    news = False
    for value in [v for op in func.body.ops for v in defined_by(op)]:
        if isinstance(value.type, List) and not isinstance(value.type.item, Scalar) and groups.find(value) not in read:
            value.type, news = replace(value.type, item=INT), True
    for op in ops if news else ():
        if isinstance(op, Call) and op.name in MAKING and groups.find(op.outs[0]) not in read and op.outs[0].type == List(INT):
            op.args[MAKING[op.name]] = [ZERO] * len(op.args[MAKING[op.name]])
    return dce(func) if news else func


def continued(op: Call) -> list[Operand]:
    """The lists that the result of an op is a version of."""
    items = op.args[MAKING[op.name]]
    return [] if op.name == "list_of" else op.args[: len(op.args) - len(items)]


def read_by(op: Op) -> Iterator[Value]:
    """The lists of which an op reads more than the length."""
    if isinstance(op, Call):
        yield from lists(op.args[MAKING[op.name]] if op.name in MAKING else [] if op.name == "list_len" else op.args)
    elif isinstance(op, Apply):
        yield from lists(op.args)


def lists(operands: list[Operand]) -> Iterator[Value]:
    """The values that are lists."""
    yield from (operand for operand in operands if isinstance(operand, Value) and isinstance(operand.type, List))


__all__ = ["list_lengths"]
