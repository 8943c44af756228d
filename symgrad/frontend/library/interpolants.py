"""Calls of splines of ``scipy.interpolate`` -> ops: of objects from outside, which are data, and of ``splev`` and ``bisplev``."""

from __future__ import annotations

import ast
import inspect
import sys
from typing import Any

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.objects.opaque import opaque_operand
from symgrad.frontend.objects.operands import known_value, row_operand
from symgrad.frontend.state.bindings import Binding, External, Ref, Static
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import is_complex
from symgrad.kinds import is_spline

MODULE = "scipy.interpolate"
#: their parameters, besides an order, for which only the default is supported
OF_OBJECTS = ("x", "nu", "extrapolate"), ("x", "nu", "ext")
FUNCTIONS = {"splev": "x tck der ext", "bisplev": "x y tck dx dy"}


def is_interpolant(value: Any) -> bool:
    """Whether the value is a spline, or a function of SciPy that evaluates one."""
    module = sys.modules.get(MODULE)
    return module is not None and (any(value is getattr(module, name) for name in FUNCTIONS) or is_spline(value))


def columns_of(value: Any) -> tuple[int, ...] | None:
    """The shape of a spline's value at each point; None for complex numbers."""
    coefficients = value.get_coeffs() if hasattr(value, "get_coeffs") else value.c
    shape: tuple[int, ...] = coefficients.shape[2 if hasattr(value, "x") else 1 :]
    return None if coefficients.dtype.kind == "c" else shape


def call_interpolant(ctx: Lowering, held: External | Static, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """The values of a spline, or of a derivative of it, at points."""
    name = getattr(held.value, "__name__", "")
    words = FUNCTIONS[name].split() if name in FUNCTIONS else OF_OBJECTS["get_coeffs" in dir(held.value)]
    bound = bound_to(ctx, words, args, kwargs, node)
    if name == "bisplev":
        point = [number(ctx, bound[word], node) for word in ("x", "y")]
        orders = [Const(order_of(ctx, bound, word, node)) for word in ("dx", "dy")]
        return ctx.make(ctx.call(name, *point, opaque_operand(ctx, bound["tck"], node), *orders))
    columns = () if name else columns_of(held.value)
    if columns is None or len(columns) > 1 or columns and held.value.axis:
        hint = "make a spline of each column"
        raise UnsupportedArgument("splines are supported that have a real number, or a row of them, at each point", ctx.loc(node), hint)
    if getattr(held.value, "ext", None) in (3, "const"):
        what = "a spline that is constant outside its knots has no slope there that SciPy computes"
        raise UnsupportedArgument(what, ctx.loc(node), "make it with ext=0, or clip the points: np.clip(x, low, high)")
    order, points = Const(order_of(ctx, bound, "der" if name else "nu", node)), real(ctx, bound["x"], node)
    if words[-1] in bound and known_value(bound[words[-1]]) not in ([None], [0] if name else [None]):
        raise UnsupportedArgument(f"{words[-1]}= of a spline is not supported", ctx.loc(node), f"leave {words[-1]}= out")
    if name:
        return ctx.make(ctx.call(name, points, opaque_operand(ctx, bound["tck"], node), order))
    if columns:
        return ctx.make(ctx.call("interpolant_columns", opaque_operand(ctx, held, node), points, order, count=columns[0]))
    operands = opaque_operand(ctx, held, node), points
    return ctx.make(ctx.call("interpolant_at", *operands, order) if order.value else ctx.call("interpolant", *operands))


def bound_to(ctx: Lowering, words: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> dict[str, Binding]:
    """The arguments of a call by their names."""
    parameters = [inspect.Parameter(word, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None) for word in words]
    try:
        return inspect.Signature(parameters).bind(*args, **kwargs).arguments
    except TypeError as error:
        raise UnsupportedArgument(str(error), ctx.loc(node)) from None


def order_of(ctx: Lowering, bound: dict[str, Binding], word: str, node: ast.AST) -> int:
    """The order of a derivative of a spline, which must be static."""
    match [0] if word not in bound else known_value(bound[word]):
        case [int(order)] if order >= 0:
            return order
    raise UnsupportedArgument(f"{word}= of a spline is not known at compile time", ctx.loc(node), f"write the number: {word}=1")


def real(ctx: Lowering, points: Binding, node: ast.AST) -> Operand:
    """The points as a real number or an array."""
    operand = row_operand(ctx, points, node)
    if is_complex(operand.type):
        raise UnsupportedArgument("a spline is a function of real numbers", ctx.loc(node))
    return operand


def number(ctx: Lowering, point: Binding, node: ast.AST) -> Operand:
    """One real number: for arrays, ``bisplev`` computes a grid."""
    if isinstance(point, Ref):
        raise UnsupportedArgument("bisplev is supported for one point, and makes a grid of arrays", ctx.loc(node), "call it for each point")
    return real(ctx, point, node)


__all__ = ["call_interpolant", "is_interpolant"]
