"""The meaning of the runtime's marker functions to the frontend: entries of its table of special calls, and their rows."""

from __future__ import annotations

import ast

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.objects.reading import owner_name
from symgrad.frontend.state.bindings import Binding, Num, Partial, Ref, Static
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import special
from symgrad.frontend.values.exact import is_callable
from symgrad.ir.core import Const
from symgrad.ops.declare import constant, rule
from symgrad.ops.shapes import same_law, second_law
from symgrad.runtime import special as special_functions
from symgrad.runtime.marks import checkpoint, on_backward, stop_gradient

rule("on_backward(x, f)", same_law, emit="x", alias="same", x_grad="seen_backward(f, out_grad)", f_grad=None)
# the result of the user's function of a cotangent is not differentiated again
constant("seen_backward(f, g)", second_law, emit="seen_backward(f, g)", alias="depends", effect=True)


@special(stop_gradient)
def lower_stop(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower ``stop_gradient(x)``: the same value or container, without a derivative."""
    if len(args) + len(kwargs) != 1:
        raise UnsupportedSyntax("stop_gradient takes one argument", ctx.loc(node), "call it for each")
    return ctx.stopped(args[0] if args else kwargs["x"])


@special(checkpoint)
def lower_checkpoint(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower ``checkpoint(function)``: each call of the result runs again in the backward half."""
    if (
        len(args) + len(kwargs) != 1
        or not set(kwargs) <= {"function"}
        or not is_callable(ctx, function := [*args, *kwargs.values()][0], node)
    ):
        raise UnsupportedSyntax("checkpoint takes a function", ctx.loc(node), "pass the function itself: checkpoint(f)(x)")
    return Partial(function, again=True)


@special(on_backward)
def lower_on_backward(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """Lower ``on_backward(x, function)``: the same value, whose cotangent passes through the function."""
    bindings = dict(zip(("x", "function"), args, strict=False)) | kwargs
    if set(bindings) != {"x", "function"}:
        raise UnsupportedSyntax("on_backward takes a value and a function", ctx.loc(node))
    if not isinstance(bindings["function"], Static):
        raise UnsupportedSyntax("the function of on_backward must be one of the module", ctx.loc(node), "define it outside")
    function = bindings["function"].value
    held = Const(function, owner_name(ctx, function))
    value = ctx.call("on_backward", ctx.read(bindings["x"], node), held)
    return ctx.shared(value, bindings["x"]) if isinstance(bindings["x"], Ref) else Num(value)


__all__ = ["checkpoint", "on_backward", "stop_gradient"]


def row_of(name: str) -> None:
    """Map a marker function to the row of the same name."""

    @special(getattr(special_functions, name))
    def lower_special(ctx: Lowering, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
        if len(args) != 1 or kwargs:
            raise UnsupportedSyntax(f"{name} takes one argument", ctx.loc(node))
        return ctx.make(ctx.call(name, ctx.read(args[0], node)))


for each in ("erf", "erfc", "gamma", "lgamma", "digamma"):
    row_of(each)
