"""Calls of the user's functions: their bodies are lowered in place."""

from __future__ import annotations

import ast
import types
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.activation import activate, default_bindings
from symgrad.frontend.bindings import Binding, Fun, Obj, Ref
from symgrad.frontend.context import Lowering
from symgrad.frontend.frames import Frame
from symgrad.frontend.opaque import FOLLOWED
from symgrad.frontend.operands import known_value
from symgrad.frontend.recursion import call_nested_recursive, call_recursive
from symgrad.frontend.scopes import calls_by_name, local_names, yields
from symgrad.frontend.source import Source, read

NESTED = 24  #: how deep a function that calls itself is written out


def inline(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower the body of a function of the user's here; one that calls itself becomes a function of the program."""
    held = ctx.forms.setdefault("sources", {})
    source = held.get(function.__code__) if isinstance(function, types.FunctionType) else None
    if source is None or source.function is not function:
        source = held[function.__code__] = read(function)
    again = not yields(source.node) and calls_itself(source) or any(code is source.function.__code__ for code, _ in ctx.stack)
    if again and not is_written_out(ctx, source.function.__code__, [*args, *kwargs.values()], node):
        return call_recursive(ctx, source, args, kwargs, node)
    if ctx.notes is not None:
        ctx.notes.add("frontend", "inlined", ctx.loc(node), "its lines become part of this function", name=source.name)
    place = ctx.loc(node) if (source.function.__module__ or "").startswith(FOLLOWED) else None
    frame = Frame(source, None, local_names(source.node), place=place)
    return activate(ctx, frame, source.node, args, kwargs, default_bindings(ctx, source), node, source.function.__code__)


def is_written_out(ctx: Lowering, code: Any, args: list[Binding], node: ast.AST) -> bool:
    """Is a function that calls itself given something of known structure, or a known number, which says how deep it goes?"""
    known = any(isinstance(a, Obj) and not isinstance(ctx.state.heap[a.key], Ref) for a in args)
    known = known or ctx.unroll and any(type(value) is int for a in args for value in known_value(a))
    if not known:
        return False
    ctx.write_out(node)
    if sum(held is code for held, _ in ctx.stack) > NESTED:
        what = "a function that calls itself is written out for what it is given, and goes too deep for that"
        raise UnsupportedSyntax(what, ctx.loc(node), "hand it numbers and arrays")
    return True


def calls_itself(source: Source) -> bool:
    """Does the text of a function call the function by its own name?"""
    name = source.function.__name__
    if source.globals.get(name) is not source.function:
        return False
    return calls_by_name(source.node, name)


def call_nested(ctx: Lowering, callee: Fun, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Inline a nested function or lambda, in the frame it was made in."""
    name = getattr(callee.node, "name", None)
    again = any(code is callee.node for code, _ in ctx.stack) or name and calls_by_name(callee.node, name)
    if again and not is_written_out(ctx, callee.node, [*args, *kwargs.values()], node):
        return call_nested_recursive(ctx, callee, args, kwargs, node)
    frame = Frame(callee.frame.source, callee.frame, local_names(callee.node), place=callee.frame.place)
    return activate(ctx, frame, callee.node, args, kwargs, dict(callee.defaults), node, callee.node)
