"""Derived functions, and marks such as ``stop_gradient``, inside functions that are themselves differentiated.

The frontend asks a callable for ``__symgrad_lower__``; a derived function answers with the code made for
the types at the call, which is then read like any other function of the user's.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any

from symgrad.errors import UnknownType, UnsupportedSyntax
from symgrad.frontend.bindings import Binding, External, Num, Obj, Ref, Static, Tup
from symgrad.frontend.calls import call_function
from symgrad.frontend.context import Lowering
from symgrad.frontend.expressions import owner_name
from symgrad.ir.core import Const
from symgrad.ir.types import Array, Dim, List, Scalar, is_plural
from symgrad.ops.declare import constant, rule
from symgrad.runtime.marks import on_backward, stop_gradient
from symgrad.signature import Abstract, Compiled, Signature, Tree, abstract_value
from symgrad.signature import Static as StaticArgument


def lower_derived(ctx: Lowering, function: types.FunctionType, derive: Callable[[Signature], Compiled], args: list[Binding],
                  kwargs: dict[str, Binding], node: ast.AST) -> Binding:  # fmt: skip
    """A call of a derived function: the code for the types of its arguments is read in its place."""
    try:
        bound = inspect.signature(function, follow_wrapped=False).bind(*args, **kwargs)
    except TypeError as error:
        raise UnsupportedSyntax(f"{function.__qualname__}() {error}", ctx.loc(node)) from None
    params = []
    for name, parameter in inspect.signature(function, follow_wrapped=False).parameters.items():
        if name not in bound.arguments:
            params.append((name, abstract_value(default_of(parameter), name)))
        elif parameter.kind is parameter.VAR_POSITIONAL:
            items = tuple(type_of(ctx, item, f"{name}_{k}", node) for k, item in enumerate(bound.arguments[name]))
            params.append((name, Tree(tuple, tuple(range(len(items))), items)))
        elif parameter.kind is parameter.VAR_KEYWORD:
            held = bound.arguments[name]
            params.append((name, Tree(dict, tuple(held), tuple(type_of(ctx, item, f"{name}_{k}", node) for k, item in held.items()))))
        else:
            params.append((name, type_of(ctx, bound.arguments[name], name, node)))
    compiled = derive(Signature(tuple(params)))
    return call_function(ctx, compiled.function, args, kwargs, node)


def default_of(parameter: inspect.Parameter) -> Any:
    """What a parameter is when nothing is passed for it."""
    empty = {parameter.VAR_POSITIONAL: (), parameter.VAR_KEYWORD: {}}
    return empty.get(parameter.kind, parameter.default)


def type_of(ctx: Lowering, binding: Binding, symbol: str, node: ast.AST) -> Abstract:
    """What is known of a binding, as of an argument of a call."""
    match binding:
        case Num() | Ref():
            known = ctx.read(binding, node).type
            if isinstance(known, Scalar | List):
                return known
            if isinstance(known, Array) and known.dtype is not None and known.shape is not None:
                extents = enumerate(known.shape)
                return Array(known.dtype, tuple(1 if e == 1 else Dim(f"{symbol}{axis}", 0, is_plural(e)) for axis, e in extents))
        case Tup(items, kind):
            names = tuple(range(len(items))) if kind is None else kind._fields
            return Tree(kind or tuple, names, tuple(type_of(ctx, item, f"{symbol}_{n}", node) for n, item in zip(names, items, strict=True)))
        case Obj(key):
            content = ctx.state.heap[key]
            if isinstance(content, Ref):
                return type_of(ctx, content, symbol, node)
            made = {"list": list, "dict": dict}.get(key.kind, key.cls)
            return Tree(made, tuple(k for k, _ in content), tuple(type_of(ctx, b, f"{symbol}_{k}", node) for k, b in content))
        case Static(value) | External(value):
            return abstract_value(value, symbol)
    raise UnknownType(f"the type of the argument {symbol} is not known here", ctx.loc(node))


def known_value(ctx: Lowering, binding: Binding, node: ast.AST) -> Any:
    """The Python object that a binding is known to be while compiling."""
    match binding:
        case Static(value):
            return value
        case Num(Const(value)):
            return value
        case Tup(items):
            return tuple(known_value(ctx, item, node) for item in items)
        case Obj(key) if key.kind == "list" and not isinstance(ctx.state.heap[key], Ref):
            return [known_value(ctx, item, node) for _, item in ctx.state.heap[key]]  # type: ignore[misc]
    raise UnsupportedSyntax("what is derived inside a function must be known while compiling", ctx.loc(node),
                            hint="derive a function of the module, with wrt a literal")  # fmt: skip


def derives(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let ``grad`` and its like be called inside a differentiated function, on functions of the module."""

    def lower(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
        made = function(*(known_value(ctx, a, node) for a in args), **{k: known_value(ctx, b, node) for k, b in kwargs.items()})
        return Static(made, owner_name(ctx, made))

    function.__symgrad_lower__ = lower  # type: ignore[attr-defined]
    return function


# ------------------------------------------------------------------ marks


def _same(types: list[Any], settings: dict[str, Any], dim: Any) -> Any:
    return types[0]


def _second(types: list[Any], settings: dict[str, Any], dim: Any) -> Any:
    return types[1]


rule("on_backward(x, f)", _same, emit="x", alias="same", x_grad="seen_backward(f, out_grad)", f_grad=None)
# what the user's function makes of a cotangent is not differentiated again
constant("seen_backward(f, g)", _second, emit="(lambda new, old: old if new is None else new)(f(g), g)", effect=True)


def lower_stop(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``stop_gradient(x)``: the same value, container or not, without a derivative."""
    if len(args) + len(kwargs) != 1:
        raise UnsupportedSyntax("stop_gradient takes one argument", ctx.loc(node))
    return ctx.stopped(args[0] if args else kwargs["x"])


def lower_on_backward(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``on_backward(x, function)``: the same value, with the function on its way back."""
    given = dict(zip(("x", "function"), args, strict=False)) | kwargs
    if set(given) != {"x", "function"}:
        raise UnsupportedSyntax("on_backward takes a value and a function", ctx.loc(node))
    function = known_value(ctx, given["function"], node)
    held = Const(function, owner_name(ctx, function))
    value = ctx.call("on_backward", ctx.read(given["x"], node), held)
    return ctx.shared(value, given["x"]) if isinstance(given["x"], Ref) else Num(value)


stop_gradient.__symgrad_lower__ = lower_stop  # type: ignore[attr-defined]
on_backward.__symgrad_lower__ = lower_on_backward  # type: ignore[attr-defined]
