"""Constructors of small Python syntax trees, for the writer's statements."""

from __future__ import annotations

import ast
import operator
from typing import Any

from symgrad.text import is_name


def assign(target: ast.expr, value: ast.expr) -> ast.stmt:
    """``target = value``."""
    return ast.Assign([target], value)


def tuple_of(items: list[ast.expr]) -> ast.expr:
    """One expression, or a tuple of several."""
    return items[0] if len(items) == 1 else ast.Tuple(items)


def negated(test: ast.expr) -> ast.expr:
    """``not test``."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    return ast.UnaryOp(ast.Not(), test)


def method(base: ast.expr, name: str, *args: ast.expr) -> ast.expr:
    """``base.name(*args)``."""
    return ast.Call(ast.Attribute(base, name), list(args), [])


def as_statement(function: Any, call: ast.expr) -> ast.stmt:
    """A call evaluated for its side effect, as the equivalent statement where there is one."""
    match call:
        case ast.Call(args=[owner, ast.Constant(value=name), value]) if function is setattr and is_name(name):
            return assign(ast.Attribute(owner, name), value)
        case ast.Call(args=[owner, ast.Constant(value=name)]) if function is delattr and is_name(name):
            return ast.Delete([ast.Attribute(owner, name)])
        case ast.Call(args=[owner, key, value]) if function is operator.setitem:
            return assign(ast.Subscript(owner, as_index(key)), value)
        case ast.Call(args=[owner, key]) if function is operator.delitem:
            return ast.Delete([ast.Subscript(owner, as_index(key))])
    return ast.Expr(call)


def as_index(key: ast.expr) -> ast.expr:
    """``a:b`` for ``slice(a, b)``."""
    match key:
        case ast.Call(func=ast.Name(id="slice"), args=[start, stop], keywords=[]):
            return ast.Slice(start, stop)
    return key


def subtracted(statement: ast.stmt) -> ast.stmt:
    """``x -= v`` for ``x += -v``, and ``x -= 2.0 * v`` for ``x += -2.0 * v``."""
    match statement:
        case ast.AugAssign(target=target, op=ast.Add(), value=value) if (positive := opposite(value)) is not None:
            return ast.AugAssign(target, ast.Sub(), positive)
        case ast.AugAssign(op=ast.Add(), value=ast.UnaryOp(op=ast.USub(), operand=ast.Constant())):
            return statement
        case ast.AugAssign(target=target, op=ast.Add(), value=ast.UnaryOp(op=ast.USub(), operand=value)):
            return ast.AugAssign(target, ast.Sub(), value)
    return statement


def opposite(term: ast.expr) -> ast.expr | None:
    """``2.0`` for ``-2.0`` and ``2.0 * v`` for ``-2.0 * v``, where the number has a point: no rounding differs."""
    match term:
        case ast.Constant(value=float() as value) if value < 0:
            return ast.Constant(-value)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float()) as number):
            return number
        case ast.BinOp(left=left, op=ast.Mult() | ast.Div() as operator, right=right) if (positive := opposite(left)) is not None:
            return ast.BinOp(positive, operator, right)
    return None


def replaced(node: Any, space: dict[str, ast.expr]) -> Any:
    """A copy of a tree with names replaced."""
    if isinstance(node, list):
        return [replaced(item, space) for item in node]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Name) and node.id in space:
        return space[node.id]
    return type(node)(**{name: replaced(value, space) for name, value in ast.iter_fields(node)})
