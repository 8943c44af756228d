"""Attributes of functions that the program creates: stored as those of an instance, if the program assigns to one of them."""

from __future__ import annotations

import ast
import types

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.flow.absent import definite_item, has_item
from symgrad.frontend.state.abstract_values import resolved_by_paths
from symgrad.frontend.state.bindings import MISSING, Binding, Fun, Static
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import NeedsState
from symgrad.frontend.state.program_state import Frame
from symgrad.ir.core import FALSE, Operand
from symgrad.location import Loc


def new_function(ctx: Lowering, node: ast.FunctionDef | ast.Lambda, defaults: tuple[tuple[str, Binding], ...]) -> Fun:
    """The function that a ``def`` or ``lambda`` creates."""
    attributes = ctx.new_object("record", (), types.FunctionType).key if site_of(ctx.frame, node) in ctx.stateful else None
    return Fun(node, ctx.frame, defaults, attributes=attributes)


def site_of(frame: Frame, node: ast.AST) -> tuple[str, Loc]:
    """The place that creates a function, in a form that the next attempt recognises."""
    return "function", frame.source.loc(node)


def check_followed(ctx: Lowering, attr: str, node: ast.AST) -> None:
    """Refuse a special attribute."""
    if attr.startswith("__") and attr.endswith("__"):
        raise UnsupportedSyntax(f"{attr!r} of a nested function is not supported", ctx.loc(node), "write the value itself")


def held_by(ctx: Lowering, function: Fun, attr: str, node: ast.AST) -> Binding:
    """The attribute of a function; it may be MISSING."""
    held = MISSING if function.attributes is None else dict(ctx.state.entries(function.attributes)).get(attr, MISSING)
    held = resolved_by_paths(held, ctx.state)
    is_decorated = isinstance(function.node, ast.FunctionDef) and function.node.decorator_list
    if is_decorated and ctx.is_doubtful(held):
        what = f"attribute {attr!r} of a decorated function is not assigned to on every path"
        raise UnsupportedSyntax(what, ctx.loc(node), "assign to it before, where the function is made")
    return held


def attribute_of_function(ctx: Lowering, function: Fun, attr: str, node: ast.AST) -> Binding:
    """``function.attr``; a missing attribute raises as in Python."""
    check_followed(ctx, attr, node)
    held = held_by(ctx, function, attr, node)
    return definite_item(ctx, held, node, AttributeError, f"'function' object has no attribute {attr!r}")


def has_function_attribute(ctx: Lowering, function: Fun, attr: str, node: ast.AST) -> Operand:
    """``hasattr(function, attr)``."""
    check_followed(ctx, attr, node)
    held_by(ctx, function, attr, node)
    return FALSE if function.attributes is None else has_item(ctx, function.attributes, attr)


def assign_to_function(ctx: Lowering, function: Fun, attr: str, value: Binding, node: ast.AST) -> None:
    """``function.attr = value``, or ``del`` of it if the value is MISSING."""
    check_followed(ctx, attr, node)
    if function.attributes is None:
        raise NeedsState(frozenset({site_of(function.frame, function.node)}))
    content = dict(ctx.state.entries(function.attributes))
    if value == MISSING:
        definite_item(ctx, held_by(ctx, function, attr, node), node, AttributeError, attr)
        del content[attr]
    else:
        content[attr] = value
    ctx.change(function.attributes, tuple(content.items()))


__all__ = ["assign_to_function", "attribute_of_function", "has_function_attribute", "new_function"]


#: attributes of functions and generators that say where they come from
OF_FUNCTIONS = frozenset({"__name__", "__qualname__", "__module__", "__doc__"})


def of_function(ctx: Lowering, definition: ast.AST, is_generator: bool, attr: str, node: ast.AST) -> Binding:
    """The name or docstring of a nested function, lambda or generator."""
    if attr == "__name__":
        return Static(definition.name if isinstance(definition, ast.FunctionDef) else "<lambda>")
    if attr == "__doc__" and not is_generator:
        return Static(ast.get_docstring(definition, clean=False) if isinstance(definition, ast.FunctionDef) else None)
    raise UnsupportedSyntax(f"{attr!r} of a nested function is not supported", ctx.loc(node), "write the value itself")
