"""``raise`` and ``assert`` become edges to their handlers, or ops that raise for the caller."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.calls.classes import construct
from symgrad.frontend.flow.edges import GIVEN, KIND, Pending, Raisable, args_of, exception_argument, is_seen, kind_of, name_of, raise_here
from symgrad.frontend.flow.flow import branch
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.state.bindings import MISSING, Binding, Num, Obj, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import method, statement
from symgrad.frontend.values.truths import condition
from symgrad.ir.core import TRUE, Block, Const, If

# ------------------------------------------------------------------ raise and assert


@statement(ast.Raise)
def raise_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    if node.exc is None:
        if not ctx.handling:
            raise UnsupportedSyntax("a bare raise outside a handler cannot be differentiated", ctx.loc(node), "name the exception")
        ctx.handling[-1].again()
        return
    kind, args = raised_by(ctx, node.exc)
    cls = class_in(kind)
    cause = None if node.cause is None else cause_of(ctx, ctx.evaluate(node.cause), node)
    if cls is None or not issubclass(cls, BaseException):
        if (taken := exception_again(ctx, kind) or created_exception(ctx, kind)) is not None:
            raised_from(ctx, taken[1], cause, node)
            raise_kind(ctx, *taken)
            return
        hint = f"raise an exception, as in raise ValueError({ast.unparse(node.exc)})"
        raise UnsupportedSyntax("only exception classes can be raised", ctx.loc(node.exc), hint)
    raise_class(ctx, cls, args, node, cause)


def cause_of(ctx: Lowering, held: Binding, node: ast.Raise) -> Binding:
    """The cause of an exception: an exception or None; for a class, a new instance."""
    cls = class_in(held)
    return held if cls is None else construct(ctx, cls, cls.__name__, [], {}, node)


def raised_from(ctx: Lowering, exception: Binding, cause: Binding | None, node: ast.AST) -> None:
    """Store the cause in an exception."""
    if cause is None:
        return
    if isinstance(exception, Obj):
        held = {**dict(ctx.state.entries(exception.key)), "__cause__": cause, "__suppress_context__": Num(TRUE)}
        ctx.change(exception.key, tuple(held.items()))
    elif cause != Static(None):
        what = "an exception that an operation raised is raised from another one"
        raise UnsupportedSyntax(what, ctx.loc(node), "raise one of a class of your own")


def class_in(held: Binding) -> type | None:
    """The static class that a binding is, if it is one."""
    return next((value for value in known_value(held) if isinstance(value, type)), None)


def raised_by(ctx: Lowering, node: ast.expr) -> tuple[Binding, list[Binding]]:
    """The class that is raised and its arguments; or an exception, without arguments."""
    match node:
        case ast.Call(func=function, args=arguments, keywords=[]) if not any(isinstance(a, ast.Starred) for a in arguments):
            held = ctx.evaluate(function)
            if class_in(held) is not None:
                return held, [ctx.evaluate(a) for a in arguments]
            return ctx.apply(held, [ctx.evaluate(a) for a in arguments], {}, node), []
    return ctx.evaluate(node), []


def raise_class(ctx: Lowering, cls: type, args: list[Binding], node: ast.AST, cause: Binding | None = None) -> None:
    """Raise an exception of a class, and say from which other one."""
    raisable = Raisable((cls,), exact=True, own=True, count=len(args))
    is_refusal = ctx.frame.place is not None and issubclass(cls, SymgradError)  # of a composition of ours: no handler of the user's sees it
    if is_refusal or not is_seen(ctx, raisable):
        operands = [exception_argument(ctx, argument, node) for argument in args]
        if (place := ctx.frame.place) is not None and operands and isinstance(operands[0], Const):  # raised by a composition of ours
            told, mark, way_out = str(operands[0].value).partition("; ")
            operands[0] = Const(f"{told} ({Path(place.file).name}:{place.line}){mark}{way_out}")
        ctx.builder.call_many("raise_error", ctx.constant(cls, cls.__name__), *operands)
        ctx.state.dead = True
        return
    exception = construct(ctx, cls, cls.__name__, args, {}, node)
    raised_from(ctx, exception, cause, node)
    raise_here(ctx, kind_of(ctx, raisable), exception, Tup(tuple(args)))


def raise_kind(ctx: Lowering, kind: int, exception: Binding, args: Binding) -> None:
    """Raise an exception of a kind, to a handler in the program or to the caller."""
    if is_seen(ctx, ctx.raisables[kind]):
        raise_here(ctx, kind, exception, args)
    raise_op(ctx, kind, exception, args)


def exception_again(ctx: Lowering, held: Binding) -> tuple[int, Binding, Binding] | None:
    """An exception that a handler has caught, with its kind and its arguments."""
    for taken in reversed(ctx.handling):
        for kind in sorted(taken.kinds):
            names = ctx.state.names
            if held == names[taken.name(kind)]:
                return kind, held, names.get(taken.name(f"{kind}.given"), MISSING)
    return None


def created_exception(ctx: Lowering, held: Binding) -> tuple[int, Binding, Binding] | None:
    """An exception that the program has created, with its kind and the arguments of its class."""
    if not (isinstance(held, Obj) and held.key.kind == "record"):
        return None
    arguments = dict(ctx.state.entries(held.key)).get(GIVEN)
    if arguments is None:
        return None
    return kind_of(ctx, Raisable((held.key.cls,), exact=True, own=True, count=len(items_in(arguments)))), held, arguments


@method("record", GIVEN)
def set_args(ctx: Lowering, owner: Obj, args: list[Binding], node: ast.AST) -> Binding:
    """``super().__init__(...)`` in an exception class: its arguments become ``args``."""
    ctx.change(owner.key, tuple({**dict(ctx.state.entries(owner.key)), "args": Tup(tuple(args))}.items()))
    return Static(None)


@statement(ast.Assert)
def assert_(ctx: Lowering, node: Any, rest: list[ast.stmt]) -> None:
    test = condition(ctx, node.test)
    if isinstance(test, Const) and test.value is True:
        return
    is_told = node.msg is not None and not isinstance(node.msg, ast.Constant)  # evaluated only where the test fails
    if is_told or is_seen(ctx, Raisable((AssertionError,), exact=True)):

        def fails() -> None:
            raise_class(ctx, AssertionError, [] if node.msg is None else [ctx.evaluate(node.msg)], node)

        if isinstance(test, Const) and is_told and not test.value:
            fails()
        else:
            branch(ctx, test, lambda: None, fails, [], ctx.loc(node))
        return
    message = Const(None) if node.msg is None else ctx.read(ctx.evaluate(node.msg), node.msg)
    ctx.builder.call_many("check", test, message)
    ctx.state.known = {**ctx.state.known, **ctx.decided.by(test, True)}


# ------------------------------------------------------------------ raised to the caller


def raised_in(ctx: Lowering, pending: Pending) -> None:
    """Raise a pending exception."""
    go_on, block = ctx.state, Block()
    ctx.state = pending.state.copy()
    with ctx.inside(block):
        for_good(ctx, pending.kinds)
    ctx.state = go_on
    ctx.builder.append(If([], ctx.builder.loc, pending.test, block, Block()))


def for_good(ctx: Lowering, kinds: frozenset[int]) -> None:
    """Raise a pending exception to the caller."""
    first, *others = sorted(kinds)
    if others:
        test = ctx.call("equal", ctx.number(KIND), Const(first))
        branch(ctx, test, lambda: for_good(ctx, frozenset({first})), lambda: for_good(ctx, frozenset(others)), [], ctx.builder.loc)
        return
    raise_op(ctx, first, ctx.state.names[name_of(first)], ctx.state.names.get(args_of(first), MISSING))


def raise_op(ctx: Lowering, kind: int, exception: Binding, args: Binding) -> None:
    """Emit the op that raises an exception to the caller."""
    raisable = ctx.raisables[kind]
    with ctx.unwatched():
        operands = [exception_argument(ctx, item) for item in items_in(args)] if raisable.own else [ctx.read(exception)]
    if raisable.own:
        (cls,) = raisable.classes
        ctx.builder.call_many("raise_error", ctx.constant(cls, cls.__name__), *operands)
    else:
        ctx.builder.call_many("raise_again", *operands)
    ctx.state.dead = True


def items_in(held: Binding) -> tuple[Binding, ...]:
    """The items of a tuple; any other binding as the only item, which cannot be read if it is missing."""
    return held.items if isinstance(held, Tup) else (held,)
