"""Small trees of Python that the writer builds statements from."""

from __future__ import annotations

import ast
from typing import Any


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


def subtracted(statement: ast.stmt) -> ast.stmt:
    """``x -= v`` for ``x += -v``."""
    match statement:
        case ast.AugAssign(op=ast.Add(), value=ast.UnaryOp(op=ast.USub(), operand=ast.Constant())):
            return statement
        case ast.AugAssign(target=target, op=ast.Add(), value=ast.UnaryOp(op=ast.USub(), operand=value)):
            return ast.AugAssign(target, ast.Sub(), value)
    return statement


def replaced(node: Any, space: dict[str, ast.expr]) -> Any:
    """A copy of a tree with names replaced."""
    if isinstance(node, list):
        return [replaced(item, space) for item in node]
    if not isinstance(node, ast.AST):
        return node
    if isinstance(node, ast.Name) and node.id in space:
        return space[node.id]
    return type(node)(**{name: replaced(value, space) for name, value in ast.iter_fields(node)})
