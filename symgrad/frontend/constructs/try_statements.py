"""``try`` statements: a body under a watcher, a clause for each ``except``, and ``finally`` on every way out."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symgrad.frontend.constructs.handling import Clause, Taken, caught, classes_in, on_all_ways
from symgrad.frontend.flow.flow import run
from symgrad.frontend.objects.reading import module_named, name_in_module
from symgrad.frontend.state.bindings import MISSING
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import statement


@statement(ast.Try)
def try_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    if node.finalbody:
        return with_finally(ctx, node, rest)
    if (failure := failed_import(ctx, node.body)) is not None:
        handler = next((h for h in node.handlers if isinstance(failure, caught_by(ctx, h))), None)
        if handler is not None and handler.name is None:
            run(ctx, [*handler.body, *rest])
            return True
    clauses = [Clause(caught_by(ctx, handler), handler_of(ctx, handler)) for handler in node.handlers]
    return caught(ctx, node, clauses, lambda: run(ctx, node.body), lambda: run(ctx, node.orelse), rest)


def failed_import(ctx: Lowering, body: list[ast.stmt]) -> ImportError | None:
    """The exception of the imports at the beginning of a block, if one fails: at compile time a module's existence is known."""
    for node in body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            return None
        try:
            for alias in node.names:
                name_in_module(ctx, node.module or "", alias.name) if isinstance(node, ast.ImportFrom) else module_named(ctx, alias.name)
        except ImportError as error:
            return error
    return None


def caught_by(ctx: Lowering, handler: ast.ExceptHandler) -> tuple[type, ...]:
    """The exception classes that a handler catches."""
    if handler.type is None:
        return (BaseException,)
    return classes_in(ctx, ctx.evaluate(handler.type), handler.type)


def handler_of(ctx: Lowering, handler: ast.ExceptHandler) -> Callable[[frozenset[int]], None]:
    """Return a function that lowers the body of a handler."""
    frame, name = ctx.frame, handler.name

    def body(kinds: frozenset[int]) -> None:
        exceptions = Taken(ctx, kinds)
        if name is not None:
            ctx.state.names[ctx.home(name) or frame, name] = exceptions.shown()
        ctx.handling.append(exceptions)
        try:
            run(ctx, handler.body)
        finally:
            ctx.handling.pop()
            exceptions.forget()
        if name is not None and not ctx.state.dead:
            ctx.state.names[ctx.home(name) or frame, name] = MISSING

    return body


def with_finally(ctx: Lowering, node: ast.Try, rest: list[ast.stmt]) -> bool:
    """``try`` with ``finally``: the final body is lowered on every way out."""
    inner: list[ast.stmt] = node.body
    if node.handlers:
        inner = [ast.copy_location(ast.Try(node.body, node.handlers, node.orelse, []), node)]
    return on_all_ways(ctx, node, lambda: run(ctx, inner), lambda: run(ctx, node.finalbody), rest)
