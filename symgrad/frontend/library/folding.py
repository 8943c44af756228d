"""Builtins that reduce an iterable to one value: ``sum``, ``prod``, ``any`` and ``all``."""

from __future__ import annotations

import ast
import functools
import math
from typing import Any

import numpy as np

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.containers.generators import drive, gathered
from symgrad.frontend.containers.iterables import items_of
from symgrad.frontend.containers.stepping import begin
from symgrad.frontend.flow.absent import definite
from symgrad.frontend.flow.flow import counted, loop_key
from symgrad.frontend.objects.operands import array_of
from symgrad.frontend.state.bindings import (
    MISSING,
    Binding,
    Generator,
    Num,
    Ref,
    Static,
)
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import SPECIAL, special
from symgrad.frontend.values.operators import binary
from symgrad.frontend.values.truths import as_bool, truth
from symgrad.ir.core import ONE, ZERO, Const
from symgrad.ir.types import Array

Args = list[Binding]
Kwargs = dict[str, Binding]


@special(sum)
def sum_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    start = kwargs.get("start", args[1] if len(args) > 1 else Num(ZERO))
    over = begin(ctx, args[0], node)
    if isinstance(over, Generator):
        return fold_generator(ctx, over, start, lambda total, item: binary(ctx, ast.Add, total, item, node), node)
    items = items_of(ctx, over, node)
    if isinstance(start, Static) and isinstance(start.value, str | bytes):
        said = "strings" if isinstance(start.value, str) else "bytes"
        joined = "''.join(seq)" if isinstance(start.value, str) else "b''.join(seq)"
        return definite(ctx, MISSING, node, TypeError, f"sum() can't sum {said} [use {joined} instead]")
    if isinstance(items, list):
        return functools.reduce(lambda a, b: binary(ctx, ast.Add, a, b, node), items, start)
    return fold(ctx, items, start, lambda total, item: binary(ctx, ast.Add, total, item, node), node)


def fold(ctx: Lowering, items: Any, start: Binding, step: Any, node: ast.AST) -> Binding:
    """Reduce items to one value in a loop."""
    key = (ctx.frame, f"%fold{next(ctx.builder.fresh)}")
    ctx.state.names[key] = start

    def body(index: Any) -> None:
        ctx.state.names[key] = step(ctx.state.names[key], items.item(index))

    counted(ctx, loop_key(ctx, node), [key], items.bounds, body, ctx.loc(node))
    return ctx.state.names.pop(key)


def fold_generator(ctx: Lowering, held: Generator, start: Binding, step: Any, node: ast.AST) -> Binding:
    """Reduce the values of a generator to one value."""
    key = (ctx.frame, f"%fold{next(ctx.builder.fresh)}")
    ctx.state.names[key] = start

    def keep(value: Binding) -> None:
        ctx.state.names[key] = step(ctx.state.names[key], value)

    gathered(ctx, held, keep, node, lazily=False)
    return ctx.state.names.pop(key)


def check_vector(ctx: Lowering, array: Ref, node: ast.AST) -> None:
    """Refuse a reduction of an array by Python's own builtins, item by item: rows have no truth value and no order."""
    type_ = ctx.type_of(array)
    rank = type_.rank if isinstance(type_, Array) else None
    if rank is None:
        raise UnknownType("the number of axes of this array is not known", ctx.loc(node), "convert it to an array with np.ravel")
    if rank == 0:
        definite(ctx, MISSING, node, TypeError, "iteration over a 0-d array")
    if rank != 1:
        raise UnsupportedSyntax("rows of an array have no truth value and no order", ctx.loc(node), "use np.any, np.all or np.sort")


def _truths(of: Any) -> Any:
    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        if isinstance(args[0], Ref) and isinstance(ctx.type_of(args[0]), Array):
            check_vector(ctx, args[0], node)
            return Num(as_bool(ctx, ctx.read(ctx.apply(Static(of, of.__name__), args, {}, node))))
        over = begin(ctx, args[0], node)
        if isinstance(over, Generator):
            return search(ctx, over, lambda value: truth(ctx, value, node), of is np.any, node)
        items = items_of(ctx, over, node)
        if not isinstance(items, list):
            return Num(as_bool(ctx, ctx.read(ctx.apply(Static(of, of.__name__), [ctx.make(array_of(ctx, over, None, node))], {}, node))))
        result: Any = Const(of is np.all)
        for item in items:
            test = truth(ctx, item, node)
            if isinstance(test, Const):
                if bool(test.value) != (of is np.all):
                    return Num(Const(of is np.any))
                continue
            result = test if isinstance(result, Const) else ctx.call("logical_and" if of is np.all else "logical_or", result, test)
        return Num(as_bool(ctx, result))

    return lower


def search(ctx: Lowering, held: Generator, test: Any, sought: bool, node: ast.AST) -> Binding:
    """Whether a generator yields a value for which ``test`` is ``sought``: it is left at the first one."""
    key = (ctx.frame, f"%found{next(ctx.builder.fresh)}")
    ctx.state.names[key] = Num(Const(not sought))
    consumer = ctx.frame

    def consume(value: Binding) -> Any:
        yielding, ctx.frame = ctx.frame, consumer
        try:
            outcome = test(value)
        finally:
            ctx.frame = yielding
        outcome = as_bool(ctx, outcome)
        ctx.state.names[key] = Num(outcome)
        if isinstance(outcome, Const):
            return Const(bool(outcome.value) == sought)
        return outcome if sought else ctx.call("not_", outcome)

    drive(ctx, held, consume, node)
    return ctx.state.names.pop(key)


@special(math.prod)
def prod_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    start = kwargs.get("start", Num(ONE))
    over = begin(ctx, args[0], node)
    if isinstance(over, Generator):
        return fold_generator(ctx, over, start, lambda total, item: binary(ctx, ast.Mult, total, item, node), node)
    items = items_of(ctx, over, node)
    if isinstance(items, list):
        return functools.reduce(lambda a, b: binary(ctx, ast.Mult, a, b, node), items, start)
    return fold(ctx, items, start, lambda total, item: binary(ctx, ast.Mult, total, item, node), node)


SPECIAL[any], SPECIAL[all] = _truths(np.any), _truths(np.all)
