"""Moves minus signs outwards in emitted expressions, for text that is read; the results are the same floats.

x += -a * b          ->   x -= a * b
a + -b               ->   a - b
"""

from __future__ import annotations

import ast

from symgrad.codegen.plainer import Rewriting

FACTORS = (ast.Mult, ast.Div)
#: methods that are linear in their array
LINEAR = frozenset({"sum", "dot", "reshape", "transpose", "copy"})


class Signs(Rewriting):
    """Moves minus signs outwards: every rewrite gives the same floats."""

    def node(self, node: ast.AST) -> ast.AST:
        """Rewrite ``a + -b`` to ``a - b``, ``-a * b`` to ``-(a * b)``, and their like."""
        match node:
            case ast.BinOp(left=ast.Constant(value=float() as first), op=ast.Mult(), right=ast.Constant(value=float() as second)):
                return ast.Constant(first * second)
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub() as op, right=right):
                return added(left, op, right)
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, FACTORS):
                one, other = positive(left), positive(right)
                if one is not None and other is not None:
                    return ast.BinOp(one, op, other)
                if other is not None and not isinstance(other, ast.Constant):
                    return minus(ast.BinOp(left, op, other))
                if isinstance(left, ast.UnaryOp) and one is not None and not isinstance(one, ast.Constant):
                    return minus(ast.BinOp(one, op, right))
            case ast.UnaryOp(op=ast.USub(), operand=ast.UnaryOp(op=ast.USub(), operand=inner)):
                return inner
            case ast.UnaryOp(op=ast.USub(), operand=ast.BinOp(left=left, op=ast.Sub(), right=right)):
                return ast.BinOp(right, ast.Sub(), left)
            case ast.Call(func=ast.Attribute(value=ast.UnaryOp(op=ast.USub(), operand=array), attr=attribute)) if attribute in LINEAR:
                return minus(ast.Call(ast.Attribute(array, attribute), node.args, node.keywords))
        return node


def minus(node: ast.expr) -> ast.expr:
    """``-x``."""
    return ast.UnaryOp(ast.USub(), node)


def positive(node: ast.expr) -> ast.expr | None:
    """``x`` for ``-x``, ``2.0`` for ``-2.0`` and ``2.0 * x`` for ``-2.0 * x``; None if there is no minus sign in front."""
    match node:
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return inner
        case ast.Constant(value=float() as value) if value < 0:
            return ast.Constant(-value)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, FACTORS) and (one := positive(left)) is not None:
            return ast.BinOp(one, op, right)
    return None


def added(left: ast.expr, op: ast.operator, right: ast.expr) -> ast.expr:
    """A sum or difference without signs in front of its terms, as far as possible."""
    if (other := positive(right)) is not None:
        op, right = ast.Sub() if isinstance(op, ast.Add) else ast.Add(), other
    if isinstance(op, ast.Add) and (one := positive(left)) is not None:
        return ast.BinOp(right, ast.Sub(), one)
    return ast.BinOp(left, op, right)


class Leading(Rewriting):
    """Writes ``-a * b`` for ``-(a * b)``."""

    def node(self, node: ast.AST) -> ast.AST:
        """Move a minus sign in front of a product to its first factor."""
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.BinOp() as product) if is_product(product):
                return negated_first(product)
        return node


def negated_first(product: ast.expr) -> ast.expr:
    """A product with a minus sign in front of its first factor."""
    if not isinstance(product, ast.BinOp):
        return minus(product)
    return ast.BinOp(negated_first(product.left), product.op, product.right)


def is_product(node: ast.expr) -> bool:
    """Whether an expression is ``a * b * c``."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        node = node.left
    return not isinstance(node, ast.BinOp)


def sign(statement: ast.stmt) -> None:
    """Rewrite the signs of a statement in place."""
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Return) and statement.value is not None:
        statement.value = Signs().rewritten(statement.value)
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add | ast.Sub):
        add_positive(statement)
    if isinstance(statement, ast.Assign | ast.AugAssign | ast.Return) and statement.value is not None:
        statement.value = Leading().rewritten(statement.value)


def add_positive(statement: ast.AugAssign) -> None:
    """Turn additions of negated terms into subtractions, and subtractions of negated terms into additions, in place."""
    opposite = ast.Sub() if isinstance(statement.op, ast.Add) else ast.Add()
    match statement.value:
        case ast.BinOp(left=left, op=ast.Sub(), right=right) if (one := positive(left)) is not None:
            statement.op, statement.value = opposite, ast.BinOp(one, ast.Add(), right)
        case value if (whole := positive(value)) is not None:
            statement.op, statement.value = opposite, whole


__all__ = ["added", "minus", "sign"]
