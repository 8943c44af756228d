"""Library functions without a row that are lowered from their Python source instead, so that they can be differentiated."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Sequence

from symgrad.frontend.opaque import source_of_library
from symgrad.frontend.results import Lowered
from symgrad.identity import Same
from symgrad.ir.core import Call, Const, Func, Op, Value, reachable, walk
from symgrad.paths import meet

#: the activity analysis: the values of some functions that may carry a derivative with respect to
#: given values of the first
Varied = Callable[[Sequence[Func], Iterable[Value]], set[Value]]
#: rows of opaque calls
UNREAD = ("opaque", "opaque_pure")


def unread_sources(lowered: Lowered, wrt: Iterable[str], varied: Varied) -> frozenset[Same]:
    """The library functions and classes called with a value that may carry a derivative with respect to a parameter in ``wrt``."""
    funcs = reachable(lowered.func)
    calls = [(op, source) for func in funcs for op in walk(func.body) if (source := source_called(op)) is not None]
    if not calls:
        return frozenset()
    values = varied(funcs, [value for value, text in lowered.inputs if meet(text, wrt)])
    return frozenset(Same(source) for op, source in calls if any(operand in values for operand in op.operands))


def passes_unread(lowered: Lowered, wrt: Iterable[str], varied: Varied) -> bool:
    """Whether a derivative with respect to a parameter in ``wrt`` may pass through an opaque call of a library."""
    funcs = reachable(lowered.func)
    calls = [op for func in funcs for op in walk(func.body) if isinstance(op, Call) and op.name in UNREAD]
    values = varied(funcs, [value for value, text in lowered.inputs if meet(text, wrt)]) if calls else set()
    return any(operand in values for op in calls for operand in op.operands)


def source_called(op: Op) -> types.FunctionType | type | None:
    """The library function or class of an opaque call, if it is written in Python."""
    if not isinstance(op, Call) or op.name not in UNREAD or not op.args or not isinstance(op.args[0], Const):
        return None
    return source_of_library(op.args[0].value)


__all__ = ["Varied", "passes_unread", "unread_sources"]
