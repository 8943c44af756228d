"""Emission of opaque calls in Python's own syntax: operators, set displays, keyword arguments."""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable
from typing import Any

from symgrad.ir.core import Call, Const
from symgrad.tables import OPERATORS as FUNCTIONS
from symgrad.text import exact, is_name


def between(operator_: ast.operator) -> Callable[[ast.expr, ast.expr], ast.expr]:
    """A function that emits an operator between two operands."""
    return lambda a, b: ast.BinOp(a, operator_, b)


def compared(operator_: ast.cmpop) -> Callable[[ast.expr, ast.expr], ast.expr]:
    """A function that emits a comparison of two operands."""
    return lambda a, b: ast.Compare(a, [operator_], [b])


def item(owner: ast.expr, index: ast.expr) -> ast.expr:
    """``owner[index]``, with a ``slice`` call spelled as a slice."""
    match index:
        case ast.Call(func=ast.Name(id="slice"), args=[start, stop, step]):
            bounds = [None if isinstance(b, ast.Constant) and b.value is None else b for b in (start, stop, step)]
            return ast.Subscript(owner, ast.Slice(*bounds))
    return ast.Subscript(owner, index)


#: two-operand functions of ``operator``, in Python's syntax
OPERATORS: tuple[tuple[Any, Callable[[ast.expr, ast.expr], ast.expr]], ...] = (
    (operator.getitem, item),
    (operator.contains, lambda owner, sought: ast.Compare(sought, [ast.In()], [owner])),
    *((FUNCTIONS[kind], between(kind())) for kind in (ast.Add, ast.Sub, ast.Mult, ast.BitOr, ast.BitAnd, ast.BitXor)),
    *((FUNCTIONS[kind], compared(kind())) for kind in (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)),
)


def opaque_call(op: Call, operands: list[ast.expr]) -> ast.expr:
    """A call of an opaque function; the last operands are keyword arguments with the names in ``names``."""
    words = tuple(op.settings.get("names", ()))
    function, *arguments = operands
    called = op.args[0].value if isinstance(op.args[0], Const) else None
    written = next((written for known, written in OPERATORS if known is called), None)  # the callee may be unhashable
    match arguments:
        case [ast.List(elts=items)] if called is tuple:
            return ast.Tuple(items)
        case [ast.Tuple(elts=[_, *_] as items)] if called is set:
            return ast.Set(items)
        case [one, other] if written is not None:
            return written(one, other)
        case [owner, *others] if isinstance(called, types.MethodDescriptorType) and op.settings.get("type") is not None:
            function, arguments = ast.Attribute(owner, called.__name__), others  # a method of a string or a set, whose class is known
    plain = len(arguments) - len(words)
    named = [ast.keyword(w, v) if is_name(w) else spread(w, v) for w, v in zip(words, arguments[plain:], strict=True)]
    return ast.Call(function, arguments[:plain], named)


def spread(word: str, value: ast.expr) -> ast.keyword:
    """An argument whose name is no identifier, as ``**{name: value}``."""
    return ast.keyword(None, ast.Dict([ast.Constant(exact(word))], [value]))


__all__ = ["opaque_call"]
