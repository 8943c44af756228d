"""Library functions without a row that are lowered from their Python source instead, so that they can be differentiated."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence

from symgrad.frontend.lowered_function import Lowered
from symgrad.frontend.opaque import source_of_library
from symgrad.identity import Same
from symgrad.ir.core import Call, Const, Func, Op, Value, walk
from symgrad.ir.show import reachable
from symgrad.paths import meet

#: says which values of some functions may carry a derivative by values of the first: the activity analysis
Varied = Callable[[Sequence[Func], Iterable[Value]], set[Value]]
#: rows of calls that are not looked into
UNREAD = ("opaque", "opaque_pure")


def unread_sources(lowered: Lowered, wrt: Iterable[str], varied: Varied) -> frozenset[Same]:
    """The functions and classes of libraries that are called with a value which may carry a derivative by a parameter in ``wrt``."""
    funcs = reachable(lowered.func)
    calls = [(op, source) for func in funcs for op in walk(func.body) if (source := source_called(op)) is not None]
    if not calls:
        return frozenset()
    values = varied(funcs, [value for value, text in lowered.inputs if meet(text, wrt)])
    return frozenset(Same(source) for op, source in calls if any(operand in values for operand in op.operands))


def passes_unread(lowered: Lowered, wrt: Iterable[str], varied: Varied) -> bool:
    """May a derivative by a parameter in ``wrt`` pass through a call of a library that is not looked into?"""
    funcs = reachable(lowered.func)
    calls = [op for func in funcs for op in walk(func.body) if isinstance(op, Call) and op.name in UNREAD]
    values = varied(funcs, [value for value, text in lowered.inputs if meet(text, wrt)]) if calls else set()
    return any(operand in values for op in calls for operand in op.operands)


def source_called(op: Op) -> types.FunctionType | type | None:
    """The function or class of a library that an op calls without looking into it, if it is written in Python."""
    if not isinstance(op, Call) or op.name not in UNREAD or not op.args or not isinstance(op.args[0], Const):
        return None
    return source_of_library(op.args[0].value)


__all__ = ["Varied", "passes_unread", "unread_sources"]
