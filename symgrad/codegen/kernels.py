"""Rewrites a kernel's statements so that numba compiles them faster. Works in place.

Each ``raise`` is an exit at which numba frees all live values. ``in``, ``max`` and ``min`` make it compile
functions, and call them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

#: the maximum width of the combined tests of one ``if``
WIDTH = 100
COMPARED: dict[str, ast.cmpop] = {"max": ast.Gt(), "min": ast.Lt()}


def compiled_sooner(body: list[ast.stmt]) -> list[ast.stmt]:
    """Join adjacent checks, and replace calls of functions by comparisons.

    >>> text = "if 1 in (m, n):\\n    raise ValueError\\nif m != n:\\n    raise ValueError\\nk = max(m - 1, 0)"
    >>> print(ast.unparse(ast.Module(compiled_sooner(ast.parse(text).body), [])))
    if m == 1 or n == 1 or m != n:
        raise ValueError
    k = m - 1 if m - 1 > 0 else 0
    """
    statements: list[ast.stmt] = []
    for statement in body:
        for name in ("body", "orelse"):
            if inner := getattr(statement, name, None):
                setattr(statement, name, compiled_sooner(inner))
        if isinstance(statement, ast.If) and isinstance(statement.test, ast.Constant) and statement.test.value is True:
            statements += statement.body
            continue
        Choices().visit(statement)
        if isinstance(statement, ast.If) and is_check(statement):
            statement.test = any_of(tests_of(statement.test))
            if any(ast.unparse(before.test) == ast.unparse(statement.test) for before in checks_at_the_end(statements)):
                continue
            last = statements[-1] if statements else None
            if isinstance(last, ast.If) and is_check(last) and not (tells_range(last.test) or tells_range(statement.test)):
                both = any_of([*tests_of(last.test), *tests_of(statement.test)])
                if len(ast.unparse(both)) <= WIDTH:
                    last.test = both
                    continue
        statements.append(statement)
    return statements


def checks_at_the_end(statements: list[ast.stmt]) -> Iterator[ast.If]:
    """The trailing statements that are checks."""
    for statement in reversed(statements):
        if not isinstance(statement, ast.If) or not is_check(statement):
            return
        yield statement


def is_check(statement: ast.If) -> bool:
    """Whether the statement only raises an error without a message."""
    return not statement.orelse and len(statement.body) == 1 and is_plain_raise(statement.body[0])


def tells_range(test: ast.expr) -> bool:
    """Whether the test bounds a number for the code behind it; LLVM uses the bound only if the test is alone."""
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE) and len(test.ops) == 1


def is_plain_raise(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Raise) and isinstance(statement.exc, ast.Name)


def tests_of(test: ast.expr) -> list[ast.expr]:
    """The alternatives of a test."""
    match test:
        case ast.BoolOp(op=ast.Or(), values=values):
            return values
        case ast.Compare(left=ast.Constant() as item, ops=[ast.In()], comparators=[ast.Tuple(elts=elements)]):
            return [ast.Compare(element, [ast.Eq()], [item]) for element in elements]
    return [test]


def any_of(tests: list[ast.expr]) -> ast.expr:
    """The disjunction of tests, each evaluated once."""
    tests = list({ast.unparse(test): test for test in tests}.values())
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)


class Choices(ast.NodeTransformer):
    """Replaces ``max`` and ``min`` of two integers that are cheap to compute twice by a comparison; inner statements are left alone."""

    def visit(self, node: ast.AST) -> ast.AST:
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                setattr(node, name, self.visit(value))
            elif isinstance(value, list) and name not in ("body", "orelse"):
                value[:] = [self.visit(item) if isinstance(item, ast.AST) else item for item in value]
        match node:
            case ast.Call(func=ast.Name(id="max" | "min" as name), args=[x, y]) if is_small(x) and is_small(y):
                return ast.IfExp(ast.Compare(x, [COMPARED[name]], [y]), x, y)
        return node


def is_small(node: ast.expr) -> bool:
    """Whether the expression is a variable, a literal, an array's extent, or a sum of two of these."""
    match node:
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
            return is_term(left) and is_term(right)
    return is_term(node)


def is_term(node: ast.expr) -> bool:
    match node:
        case ast.Name() | ast.Constant() | ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
            return True
    return False


__all__ = ["compiled_sooner"]
