"""Instances of the user's classes: made, and seen from a base class with ``super()``."""

from __future__ import annotations

import ast
import dataclasses
import types
from typing import Any

import numpy as np

from symgrad.errors import SymgradError, UnsupportedSyntax
from symgrad.frontend.bindings import Above, Binding, Tup
from symgrad.frontend.context import Frame, Lowering
from symgrad.frontend.declared import call_function
from symgrad.frontend.opaque import LIBRARIES, opaque
from symgrad.frontend.outside import outside, owner_name
from symgrad.frontend.scopes import parameters
from symgrad.frontend.source import read
from symgrad.signature import DTYPE_NAMES


def construct(ctx: Lowering, cls: type, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Make an instance of the user's class, a named tuple or a dataclass; cast with a NumPy type."""
    if issubclass(cls, np.generic) and len(args) == 1 and not kwargs:
        return ctx.make(ctx.call("cast", ctx.read(args[0], node), dtype=DTYPE_NAMES[np.dtype(cls)]))
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fields: list[str] = list(cls._fields)
        given = {**dict(zip(fields, args, strict=False)), **kwargs}
        for field, value in getattr(cls, "_field_defaults", {}).items():
            given.setdefault(field, outside(ctx, value, f"{owner_name(ctx, cls)}._field_defaults[{field!r}]", field))
        return Tup(tuple(given[f] for f in fields), cls)
    if cls.__module__.split(".")[0] in LIBRARIES:
        return opaque(ctx, cls, name, args, kwargs, node)
    made = ctx.new_object("record", (), cls)
    if dataclasses.is_dataclass(cls) and "__init__" in cls.__dict__ and not _has_source(cls.__init__):
        ctx.state.heap[made.key] = tuple(dataclass_fields(ctx, cls, args, kwargs, node).items())
        if hasattr(cls, "__post_init__"):
            call_function(ctx, cls.__post_init__, [made], {}, node)
        return made
    init = cls.__init__  # type: ignore[misc]
    if isinstance(init, types.FunctionType):
        call_function(ctx, init, [made, *args], kwargs, node)
    return made


def _has_source(function: Any) -> bool:
    try:
        read(function)
    except SymgradError:
        return False
    return True


def dataclass_fields(ctx: Lowering, cls: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> dict[str, Binding]:
    fields = [f for f in dataclasses.fields(cls) if f.init]
    given = {**dict(zip((f.name for f in fields), args, strict=False)), **kwargs}
    made: dict[str, Binding] = {}
    for field in dataclasses.fields(cls):
        if field.name in given:
            made[field.name] = given[field.name]
        elif field.default is not dataclasses.MISSING:
            made[field.name] = outside(
                ctx, field.default, f"{owner_name(ctx, cls)}.__dataclass_fields__[{field.name!r}].default", field.name
            )
        elif field.default_factory in (list, dict):
            made[field.name] = ctx.new_object(field.default_factory.__name__, ())
        elif field.init:
            raise UnsupportedSyntax(f"argument {field.name!r} is missing", ctx.loc(node))
    return made


def super_of(ctx: Lowering, node: ast.AST) -> Binding:
    """``super()``: the instance, seen from the class after the one that the method is written in."""
    frame: Frame | None = ctx.frame
    while frame is not None and frame.parent is not None:
        frame = frame.parent
    assert frame is not None
    cell = frame.source.cells.get("__class__")
    arguments = parameters(frame.source.node.args)
    if cell is None or not arguments:
        raise UnsupportedSyntax("super() is used outside a method", ctx.loc(node))
    return Above(ctx.state.names[frame, arguments[0]], cell.cell_contents)
