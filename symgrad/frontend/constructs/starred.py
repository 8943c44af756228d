"""Calls with a star of dynamic length: of the user's functions and classes, and of library functions that take any number of arguments."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import math
import types
from collections.abc import Callable
from typing import Any

from symgrad.frontend.calls.classes import wording_of
from symgrad.frontend.calls.declared import is_declared
from symgrad.frontend.containers.stars import bound_rest, in_one_tuple, with_rest
from symgrad.frontend.containers.stepping import iterator
from symgrad.frontend.flow.enumerated import each
from symgrad.frontend.flow.flow import each_side
from symgrad.frontend.objects.opaque import followed
from symgrad.frontend.objects.reading import from_class
from symgrad.frontend.state.bindings import Binding, Bound, Choice, Fun, Num, Obj, OneOf, Partial, Static, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const
from symgrad.ir.types import List, Struct
from symgrad.kinds import numba_kind
from symgrad.ops.composed import starred

#: functions that take any number of arguments, and the function that computes the same of one tuple
OF_ONE_TUPLE: dict[Any, Callable[..., Any]] = {
    max: starred.largest_argument,
    min: starred.smallest_argument,
    math.hypot: starred.hypot,
    itertools.chain: itertools.chain.from_iterable,
}


def call_with_rest(ctx: Lowering, held: Binding, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A call whose last argument is a ``Rest``."""
    match held:
        case Choice():
            return each_side(ctx, held, node, lambda side: call_with_rest(ctx, side, args, dict(kwargs), node))
        case OneOf():
            return each(ctx, held, node, lambda value: call_with_rest(ctx, value, args, dict(kwargs), node))
        case Partial(function=function, args=fixed, kwargs=named, again=False):
            return call_with_rest(ctx, function, [*fixed, *args], {**dict(named), **kwargs}, node)
        case Fun() | Bound(function=types.FunctionType()):
            return ctx.apply(held, args, kwargs, node)
        case Obj(key) if key.kind == "record" and isinstance(from_class(ctx, key.cls, "__call__"), types.FunctionType):
            return ctx.apply(held, args, kwargs, node)
        case Static(types.FunctionType() as function) if is_users(ctx, function):
            return ctx.apply(held, args, kwargs, node)
        case Static(type() as cls) if (fields := fields_of(cls)) is not None:
            known, _ = bound_rest(ctx, fields[0], False, args, {*kwargs, *fields[1]}, wording_of(cls, *map(len, fields)))
            return ctx.apply(held, known, kwargs, node)
        case Static(type() as cls) if is_users(ctx, from_class(ctx, cls, "__init__")) and from_class(ctx, cls, "__new__") is object.__new__:
            return ctx.apply(held, args, kwargs, node)
        case Static(value) if value is zip and not kwargs:
            return columns(ctx, args, node)
        case Static(types.BuiltinFunctionType() | type() as value) if value in OF_ONE_TUPLE and not kwargs:
            return ctx.apply(Static(OF_ONE_TUPLE[value]), [in_one_tuple(ctx, args, node)], {}, node)
    rest = with_rest(args)
    assert rest is not None
    raise rest.refusal


def is_users(ctx: Lowering, function: Any) -> bool:
    """Whether the call of a function is inlined from its own source."""
    plain = isinstance(function, types.FunctionType) and numba_kind(function) is None
    return plain and followed(ctx, function) and not is_declared(ctx, function)


def fields_of(cls: Any) -> tuple[list[str], list[str]] | None:
    """The positional fields of a named tuple or dataclass, and the subset with a default."""
    if dataclasses.is_dataclass(cls) and "__init__" in vars(cls):
        fields = [field for field in dataclasses.fields(cls) if field.init and not field.kw_only]
        empty = dataclasses.MISSING
        return [f.name for f in fields], [f.name for f in fields if f.default is not empty or f.default_factory is not empty]
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return list(cls._fields), list(cls._field_defaults)
    return None


def columns(ctx: Lowering, args: list[Binding], node: ast.AST) -> Binding:
    """``zip(*rows)``: the columns of rows that are tuples of one structure, or of rows of any length."""
    rows = in_one_tuple(ctx, args, node)
    type_ = ctx.read(rows, node).type if isinstance(rows, Obj) else None
    if not isinstance(type_, List) or not isinstance(type_.item, Struct) or type_.item.form.form != "tuple":
        return ctx.apply(Static(starred.columns), [rows], {}, node)
    count = len(type_.item.form.items)
    several = [ctx.apply(Static(starred.column), [rows, Num(Const(k))], {}, node) for k in range(count)]
    length = ctx.call("list_len", ctx.read(rows, node))
    return iterator(ctx, "columns", (Tup(tuple(several)), length), node)
