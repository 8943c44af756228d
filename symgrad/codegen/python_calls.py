"""Calls of functions of Python that cannot be seen into, as Python writes them: operators between their operands, sets, keywords."""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable
from typing import Any

from symgrad.ir.core import Call, Const
from symgrad.text import exact, is_name


def between(operator_: ast.operator) -> Callable[[ast.expr, ast.expr], ast.expr]:
    """What writes an operator between two operands."""
    return lambda a, b: ast.BinOp(a, operator_, b)


def compared(operator_: ast.cmpop) -> Callable[[ast.expr, ast.expr], ast.expr]:
    """What writes a comparison of two operands."""
    return lambda a, b: ast.Compare(a, [operator_], [b])


def item(owner: ast.expr, index: ast.expr) -> ast.expr:
    """``owner[index]``, with a slice that was made for it as one between brackets."""
    match index:
        case ast.Call(func=ast.Name(id="slice"), args=[start, stop, step]):
            bounds = [None if isinstance(b, ast.Constant) and b.value is None else b for b in (start, stop, step)]
            return ast.Subscript(owner, ast.Slice(*bounds))
    return ast.Subscript(owner, index)


#: functions of ``operator`` of two operands, as Python writes them
OPERATORS: dict[Any, Callable[[ast.expr, ast.expr], ast.expr]] = {
    operator.getitem: item,
    operator.contains: lambda owner, sought: ast.Compare(sought, [ast.In()], [owner]),
    **{f: between(o) for f, o in (
        (operator.add, ast.Add()), (operator.sub, ast.Sub()), (operator.mul, ast.Mult()), (operator.or_, ast.BitOr()),
        (operator.and_, ast.BitAnd()), (operator.xor, ast.BitXor()))},
    **{f: compared(o) for f, o in (
        (operator.eq, ast.Eq()), (operator.ne, ast.NotEq()), (operator.lt, ast.Lt()), (operator.le, ast.LtE()), (operator.gt, ast.Gt()),
        (operator.ge, ast.GtE()))},
}  # fmt: skip


def opaque_call(op: Call, operands: list[ast.expr]) -> ast.expr:
    """A call of an opaque function; the last operands are keyword arguments with the names in ``names``."""
    words = tuple(op.settings.get("names", ()))
    function, *arguments = operands
    if isinstance(op.args[0], Const) and op.args[0].value is tuple and len(arguments) == 1 and isinstance(arguments[0], ast.List):
        return ast.Tuple(arguments[0].elts)
    if isinstance(op.args[0], Const) and len(arguments) == 2 and (sugar := OPERATORS.get(op.args[0].value)) is not None:
        return sugar(*arguments)
    if isinstance(op.args[0], Const) and op.args[0].value is set and len(arguments) == 1 and isinstance(arguments[0], ast.Tuple):
        return ast.Set(arguments[0].elts)
    if isinstance(op.args[0], Const) and isinstance(op.args[0].value, types.MethodDescriptorType):
        owner, *arguments = arguments
        function = ast.Attribute(owner, op.args[0].value.__name__)
    plain = len(arguments) - len(words)
    named = [ast.keyword(w, v) if is_name(w) else spread(w, v) for w, v in zip(words, arguments[plain:], strict=True)]
    return ast.Call(function, arguments[:plain], named)


def spread(word: str, value: ast.expr) -> ast.keyword:
    """An argument whose name is no identifier, as ``**{name: value}``."""
    return ast.keyword(None, ast.Dict([ast.Constant(exact(word))], [value]))


__all__ = ["opaque_call"]
