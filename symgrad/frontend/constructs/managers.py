"""``with``: the calls of context managers on entry and on every way out, and the exceptions that they suppress.

``__exit__`` of a class gets the pending exception and decides whether it propagates. A generator
that ``contextlib.contextmanager`` decorates is lowered with the body at its ``yield``: an exception
of the body is raised there, in the generator.
"""

from __future__ import annotations

import ast
import contextlib
from dataclasses import replace
from typing import Any

import numpy as np

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.constructs.handling import Clause, Taken, caught, classes_in, forget_exit, on_all_ways, saved_exit
from symgrad.frontend.constructs.targets import bind
from symgrad.frontend.containers.generators import drive
from symgrad.frontend.flow.flow import branch, proceed, run
from symgrad.frontend.objects.opaque import opaque_method
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.objects.protocols import manages_in_library, own_method
from symgrad.frontend.objects.reading import makes_manager, root_of
from symgrad.frontend.state.bindings import MISSING, Binding, Broken, Fun, Generator, Num, Static
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.program_state import CODE, NEXT
from symgrad.frontend.state.tables import special, statement
from symgrad.frontend.text.source import body_nodes, own_nodes
from symgrad.frontend.values.truths import truth
from symgrad.ir.core import FALSE, Const, Operand

MANAGERS = "use a class of your own with __enter__ and __exit__, or put the with around the call of the derivative"


@statement(ast.With)
def with_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> bool:
    """``np.errstate`` only silences warnings; for a user's context manager, ``__enter__`` and ``__exit__`` are lowered."""
    entry, *others = node.items
    body: list[ast.stmt] = [ast.copy_location(ast.With(others, node.body), node)] if others else node.body
    if is_quiet(ctx, entry):
        run(ctx, [*body, *rest])
        return True
    call = entry.context_expr
    held = ctx.evaluate(call.func) if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute) else None
    values = [] if held is None else known_value(held)
    if any(root_of(value) == "symgrad" for value in values):
        what = "a context manager for tensors has no effect on this function"
        raise UnsupportedSyntax(what, ctx.loc(call), "name the variables without a derivative in no_grad= of symgrad.grad")
    if any(value in (contextlib.nullcontext, contextlib.suppress) for value in values) and not call.keywords:
        return of_contextlib(ctx, node, values[0], body, rest)
    if any(map(makes_manager, values)) or can_manage(held):
        return over_generator(ctx, node, held, body, rest)
    refuse_generator(ctx, entry.context_expr)
    manager = ctx.evaluate(call)
    methods = [own_method(ctx, manager, word) for word in ("__enter__", "__exit__")]
    seen_into = None not in methods
    if not seen_into and not manages_in_library(ctx, manager):
        raise UnsupportedSyntax("this context manager cannot be differentiated", ctx.loc(call), MANAGERS)

    def ask(word: str, *arguments: Binding) -> Binding:
        if seen_into:
            return ctx.apply_method(manager, word, [*arguments], call)
        return opaque_method(ctx, manager, word, [*arguments], {}, call)

    entered = ask("__enter__")
    if entry.optional_vars is not None:
        bind(ctx, entry.optional_vars, entered)

    def on_error(taken: Taken) -> None:
        if seen_into:
            swallowed = truth(ctx, ask("__exit__", taken.cls(), taken.shown(), Broken("it is a traceback")), call)
        else:
            exception = taken.as_python()
            cls = Num(ctx.call("opaque_pure", Const(type, "type"), ctx.read(exception)))
            swallowed = truth(ctx, ask("__exit__", cls, exception, Static(None)), call)
        branch(ctx, swallowed, lambda: None, taken.again, [], ctx.loc(call))

    def left_without() -> None:
        ask("__exit__", *[Static(None)] * 3)

    return on_all_ways(ctx, node, lambda: run(ctx, body), left_without, rest, on_error)


def is_quiet(ctx: Lowering, entry: ast.withitem) -> bool:
    """Whether the item is ``np.errstate(...="ignore")``."""
    call = entry.context_expr
    known = isinstance(call, ast.Call) and any(value is np.errstate for value in known_value(ctx.evaluate(call.func)))
    quiet = known and all(isinstance(k.value, ast.Constant) and k.value.value == "ignore" for k in call.keywords)  # type: ignore[attr-defined]
    if known and (not quiet or entry.optional_vars is not None):
        raise UnsupportedSyntax("np.errstate is supported only with 'ignore'", ctx.loc(call), "write with np.errstate(all='ignore'):")
    return bool(quiet)


def of_contextlib(ctx: Lowering, node: ast.With, manager: Any, body: list[ast.stmt], rest: list[ast.stmt]) -> bool:
    """``nullcontext`` returns its argument; ``suppress`` catches, as ``except`` does."""
    entry = node.items[0]
    call = entry.context_expr
    assert isinstance(call, ast.Call)
    arguments = [ctx.evaluate(argument) for argument in call.args]
    is_null = manager is contextlib.nullcontext
    if entry.optional_vars is not None:
        bind(ctx, entry.optional_vars, arguments[0] if arguments and is_null else Static(None))
    if is_null:
        run(ctx, [*body, *rest])
        return True
    kinds = tuple(cls for binding in arguments for cls in classes_in(ctx, binding, call))
    return caught(ctx, node, [Clause(kinds, lambda taken: None)], lambda: run(ctx, body), lambda: None, rest)


# ------------------------------------------------------------------ generators


def function_in(held: Any) -> Fun | None:
    """The function of the program that a binding is; None otherwise."""
    return held if isinstance(held, Fun) else None


def can_manage(held: Any) -> bool:
    """Whether the binding is a generator function of the program that ``contextlib.contextmanager`` decorates."""
    function = function_in(held)
    return function is not None and function.manages


def over_generator(ctx: Lowering, node: ast.With, held: Any, body: list[ast.stmt], rest: list[ast.stmt]) -> bool:
    """A ``with`` of a generator that ``contextlib.contextmanager`` decorates: the body is lowered at its ``yield``."""
    entry = node.items[0]
    call = entry.context_expr
    assert isinstance(call, ast.Call)
    function = ast.copy_location(ast.Attribute(call.func, "__wrapped__", ast.Load()), call) if not can_manage(held) else call.func
    generator = ctx.evaluate(ast.copy_location(ast.Call(function, call.args, call.keywords), call))
    if not isinstance(generator, Generator) or yields_often(generator.node):
        raise UnsupportedSyntax("a context manager that yields in a loop, or in several places", ctx.loc(call), MANAGERS)
    consumer, stack, left = ctx.frame, list(ctx.stack), (ctx.frame, f"%left{next(ctx.builder.fresh)}")
    kept: dict[Any, Any] = {}
    codes: set[int] = set()

    def consume(value: Binding) -> Operand:
        yielding, loc, inside = ctx.frame, ctx.builder.loc, ctx.stack
        ctx.frame, ctx.stack = consumer, list(stack)
        try:
            if entry.optional_vars is not None:
                bind(ctx, entry.optional_vars, value)
            run(ctx, body)
            if not ctx.state.dead:
                codes.update(ctx.state.codes)
                ctx.state.names[left] = ctx.state.names.get(CODE, Num(Const(NEXT)))
                kept.update(saved_exit(ctx))
                proceed(ctx)
        finally:
            ctx.frame, ctx.builder.loc, ctx.stack = yielding, loc, inside
        return FALSE

    ctx.state.names[left] = Num(Const(NEXT))
    drive(ctx, generator, consume, call, within=True)
    ctx.state.names[left], code = MISSING, ctx.state.names[left]
    if kept and not ctx.state.dead:
        operand = ctx.read(code)

        def restore() -> None:
            for name, key in kept.items():
                ctx.state.names[name] = ctx.state.names.pop(key)
            ctx.state.names[CODE] = code
            ctx.state.codes = frozenset(codes - {NEXT})

        if isinstance(operand, Const):
            restore()
        else:
            branch(ctx, ctx.call("equal", operand, Const(NEXT)), lambda: forget_exit(ctx, kept), restore, [], ctx.loc(node))
    return False


def yields_often(node: ast.FunctionDef) -> bool:
    """Whether a generator may yield more than once."""
    yields = [n for n in body_nodes(node) if isinstance(n, ast.Yield | ast.YieldFrom)]
    loops = [n for n in body_nodes(node) if isinstance(n, ast.For | ast.While)]
    return len(yields) != 1 or any(inner in yields for loop in loops for inner in own_nodes([loop]))


@special(contextlib.contextmanager)
def contextmanager(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``@contextlib.contextmanager`` of a generator that is defined in the function."""
    if (function := function_in(args[0])) is None:
        raise UnsupportedSyntax("contextlib.contextmanager is called on this", ctx.loc(node), "decorate the function where it is defined")
    return replace(function, manages=True)


def refuse_generator(ctx: Lowering, node: ast.expr) -> None:
    """Refuse the result of ``contextlib.contextmanager`` from outside, which is a generator."""
    if isinstance(node, ast.Call) and any(map(makes_manager, known_value(ctx.evaluate(node.func)))):
        raise UnsupportedSyntax("a context manager that is a generator cannot be differentiated", ctx.loc(node), MANAGERS)


__all__: list[str] = []
