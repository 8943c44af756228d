"""Functions of libraries that have no row, and whose Python source can be read instead: those that a derivative passes through."""

from __future__ import annotations

import types
from collections.abc import Iterable

from symgrad.frontend.lowered_function import Lowered
from symgrad.frontend.opaque import source_of_library
from symgrad.identity import Same
from symgrad.ir.core import Block, Call, Const, Op, Value, walk
from symgrad.ir.show import reachable
from symgrad.text import root_of as root_of_path

#: rows of calls that are not looked into
UNREAD = ("opaque", "opaque_pure")


def unread_sources(lowered: Lowered, wrt: Iterable[str]) -> frozenset[Same]:
    """The functions and classes of libraries that are called with something that may depend on a parameter in ``wrt``."""
    calls = [(op, source) for func in reachable(lowered.func) for op in walk(func.body) if (source := source_called(op)) is not None]
    if not calls:
        return frozenset()
    varied = dependent(lowered, frozenset(wrt))
    return frozenset(Same(source) for op, source in calls if any(operand in varied for operand in op.operands))


def source_called(op: Op) -> types.FunctionType | type | None:
    """The function or class of a library that an op calls without looking into it, if it is written in Python."""
    if not isinstance(op, Call) or op.name not in UNREAD or not op.args or not isinstance(op.args[0], Const):
        return None
    return source_of_library(op.args[0].value)


def dependent(lowered: Lowered, wrt: frozenset[str]) -> set[Value]:
    """The values that may depend on a parameter: no fewer than do.  All parameters of functions that are called count as such."""
    varied = {value for value, text in lowered.inputs if root_of_path(text) in wrt}
    for func in reachable(lowered.func):
        varied.update(func.params if func is not lowered.func else ())
    pending = -1
    while pending != len(varied):
        pending = len(varied)
        for func in reachable(lowered.func):
            spread(func.body, varied)
    return varied


def spread(block: Block, varied: set[Value]) -> None:
    """Enter what the ops of a block compute from values that may depend on a parameter."""
    for op in block.ops:
        inner = [value for one in op.blocks for value in one.yields]
        if any(value in varied for value in (*op.operands, *inner)):
            varied.update(op.outs)
            for one in op.blocks:
                varied.update(one.args)
        for one in op.blocks:
            spread(one, varied)


__all__ = ["unread_sources"]
