"""``complex`` and the functions of ``cmath``, which convert their arguments to complex numbers."""

from __future__ import annotations

import ast
import cmath
import types
from collections.abc import Callable

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.calls.declared import call_function
from symgrad.frontend.state.bindings import Binding, Num
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import SPECIAL, special
from symgrad.ir.core import Const, Operand
from symgrad.ir.types import Array, Scalar
from symgrad.ops.composed.complexes import OF_CMATH
from symgrad.ops.signatures import CMATH

Args = list[Binding]
Kwargs = dict[str, Binding]


@special(complex)
def complex_(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
    """``complex(z)`` and ``complex(x, y)``."""
    arguments = dict(zip(("real", "imag"), args, strict=False)) | kwargs
    if len(args) > 2 or set(arguments) - {"real", "imag"} or not arguments:
        raise UnsupportedArgument("complex takes one number or two", ctx.loc(node))
    if "imag" not in arguments:
        return Num(number(ctx, arguments["real"], "complex", node))
    zero = Num(Const(0.0))
    parts = [real_number(ctx, arguments.get(name, zero), "complex", node) for name in ("real", "imag")]
    return Num(ctx.call("complex_of", *(ctx.read(part, node) for part in parts)))


def real_number(ctx: Lowering, binding: Binding, name: str, node: ast.AST) -> Binding:
    """One number; also that of an array without axes, which Python accepts."""
    type_ = ctx.type_of(binding)
    if isinstance(type_, Array) and type_.shape == () and type_.kind is not None:
        kind = "complex" if type_.kind == "complex" else "float"
        return Num(ctx.call("number", ctx.read(binding, node), kind=kind))
    if not isinstance(type_, Scalar):
        raise UnsupportedArgument(f"{name} takes numbers", ctx.loc(node), "for arrays add the real part and 1j times the imaginary part")
    return binding


def number(ctx: Lowering, binding: Binding, name: str, node: ast.AST) -> Operand:
    """One number as a Python complex number."""
    operand = ctx.read(real_number(ctx, binding, name, node), node)
    type_ = operand.type
    assert isinstance(type_, Scalar)
    return operand if type_.kind == "complex" and type_.dtype is None else ctx.call("number", operand, kind="complex")


def entered(name: str, row: str) -> Callable[..., Binding]:
    """The lowering of a function of ``cmath`` that has a row."""

    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        if kwargs or not 0 < len(args) <= 1 + (name == "log"):
            raise UnsupportedArgument(f"cmath.{name} of such arguments is not supported", ctx.loc(node))
        values = [ctx.call(row, number(ctx, a, f"cmath.{name}", node), via="cmath") for a in args]
        return Num(values[0] if len(values) == 1 else ctx.call("divide", *values))

    return lower


def composed(name: str, says: types.FunctionType) -> Callable[..., Binding]:
    """The lowering of a function of ``cmath`` that is composed of others."""

    def lower(ctx: Lowering, args: Args, kwargs: Kwargs, node: ast.AST) -> Binding:
        arguments: Args = args if name == "rect" else [Num(number(ctx, a, f"cmath.{name}", node)) for a in args]
        return call_function(ctx, says, arguments, kwargs, node)

    return lower


for _name, _row in CMATH.items():
    SPECIAL[getattr(cmath, _name)] = entered(_name, _row)
for _function, _says in OF_CMATH.items():
    assert isinstance(_says, types.FunctionType)
    SPECIAL[_function] = composed(_function.__name__, _says)
