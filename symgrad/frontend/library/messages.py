"""Messages to a logger: no op where the logger discards their level, which a guard tests at each call of the program.

    log.debug("step %d", n)     ->      nothing, as long as log.isEnabledFor(logging.DEBUG) is false

Arguments of the message are evaluated as in Python. A message that is logged is a call of the
logger's own method, in program order. In a function that changes loggers itself, all messages are
such calls.
"""

from __future__ import annotations

import ast
import sys
import types
from typing import Any, TypeGuard

from symgrad.frontend.objects.opaque import opaque_operand
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.objects.reading import from_class, is_own_attribute
from symgrad.frontend.state.bindings import Binding, External, Num, Static
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Call, Const, Func, reachable, walk
from symgrad.text import attribute

#: the methods that log a message, with their levels
LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40, "exception": 40, "critical": 50}
#: methods of loggers and of ``logging`` that change no logger, besides messages
ASKING = frozenset({*LEVELS, "log", "getLogger", "getLevelName", "isEnabledFor", "getEffectiveLevel", "hasHandlers", "getChild"})


def is_logger(owner: Binding) -> TypeGuard[External]:
    """Whether the binding is a logger from outside, of the library's own class. If there is one, the library is imported."""
    library = sys.modules.get("logging")
    return library is not None and isinstance(owner, External) and type(owner.value) in (library.Logger, library.RootLogger)


def is_message(ctx: Lowering, owner: Binding, name: str) -> bool:
    """Whether a method of an object is a logger's method that logs a message; records that it stays so."""
    if not is_logger(owner) or name not in (*LEVELS, "log") or is_own_attribute(owner.value, name):
        return False
    function = from_class(ctx, type(owner.value), name)
    if not isinstance(function, types.FunctionType) or function.__module__ != "logging":
        return False
    ctx.rely(f"{attribute(owner.text, name)}.__func__", function)
    return True


def logged(ctx: Lowering, owner: External, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A message."""
    level = level_of(name, args)
    ctx.rely(owner.text, owner.value)
    if level is not None and not ctx.loggers_change and not owner.value.isEnabledFor(level):
        ctx.rely(owner.text, level, "silent")
        ctx.is_silent = True
        return Static(None)
    function = ctx.call("opaque_attribute", opaque_operand(ctx, owner, node), attribute=name)
    operands = [opaque_operand(ctx, a, node) for a in (*args, *kwargs.values())]
    return Num(ctx.call("opaque", function, *operands, names=tuple(kwargs)))


def level_of(name: str, args: list[Binding]) -> int | None:
    """The level of a message, if it is static."""
    if name in LEVELS:
        return LEVELS[name]
    known = known_value(args[0]) if args else ()
    return known[0] if known and type(known[0]) is int else None


def change_loggers(func: Func) -> bool:
    """Whether a function calls something that may change the levels of a logger."""
    attributes: dict[Any, str] = {}
    for op in (op for one in reachable(func) for op in walk(one.body)):
        if not isinstance(op, Call):
            continue
        if op.name == "opaque_attribute":
            attributes[op.outs[0]] = op.settings["attribute"]
        elif op.name == "opaque":
            function = op.args[0]
            name = attributes.get(function) or getattr(function.value if isinstance(function, Const) else None, "__name__", "")
            of_module = isinstance(function, Const) and (getattr(function.value, "__module__", None) or "").startswith("logging")
            on_logger = any(isinstance(a, Const) and any(c.__module__ == "logging" for c in type(a.value).__mro__) for a in op.args[1:])
            if name in ("setLevel", "addFilter", "removeFilter") or (of_module or on_logger) and name not in ASKING:
                return True
    return False


__all__ = ["change_loggers", "is_message", "logged"]
