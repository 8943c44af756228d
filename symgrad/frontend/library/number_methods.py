"""table: methods of numbers that arrays lack, and methods whose result is a Python number for a Python number.

Static operands are folded at compile time. Bits and texts of dynamic numbers are computed by Python
at run time.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symgrad.frontend.calls.declared import call_function
from symgrad.frontend.flow.absent import as_python_does
from symgrad.frontend.objects.operands import known_value, static_binding
from symgrad.frontend.objects.python_values import answer
from symgrad.frontend.state.bindings import Binding, Num, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.tables import METHODS, method
from symgrad.ir.core import Const
from symgrad.ir.types import INT, TEXT, Scalar, Type
from symgrad.ops import spelling
from symgrad.ops.composed import numbers

#: methods of Python numbers without a row, with their result types for dynamic numbers; None: not supported
OF_PYTHON: dict[tuple[str, str], tuple[Callable[..., Any], Type | None]] = {
    ("int", "bit_length"): (int.bit_length, INT),
    ("int", "bit_count"): (int.bit_count, INT),
    ("int", "to_bytes"): (int.to_bytes, None),
    ("int", "as_integer_ratio"): (int.as_integer_ratio, None),
    ("float", "as_integer_ratio"): (float.as_integer_ratio, None),
    ("float", "hex"): (float.hex, TEXT),
    ("float", "is_integer"): (float.is_integer, None),
}


def number_method(
    ctx: Lowering, owner: Binding, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> Binding | None:
    """A method of a Python number; None for methods that arrays have too, and for NumPy numbers."""
    type_ = ctx.type_of(owner)
    if not isinstance(type_, Scalar):
        return None
    function, result_type = OF_PYTHON.get(("int" if type_.kind == "bool" else type_.kind, name), (None, None))
    known = [v for a in (owner, *args, *kwargs.values()) for v in known_value(a)]
    if function is not None and len(known) == 1 + len(args) + len(kwargs):
        named = dict(zip(kwargs, known[1 + len(args) :], strict=True))
        result = as_python_does(ctx, node, lambda: function(*known[: 1 + len(args)], **named))
        return result if isinstance(result, Binding) else static_binding(result)
    if args or kwargs:
        return None
    if ("number", name) in METHODS:
        return METHODS["number", name](ctx, owner, args, node)
    if type_.dtype is not None or function is None:
        return None
    if name == "as_integer_ratio" and type_.kind == "int":
        return Tup((owner, Num(Const(1))))  # for a float, the quotient would carry a derivative that its parts do not
    return None if result_type is None else answer(ctx, function, [ctx.read(owner, node)], result_type)


@method("number", "is_integer")
def number_is_integer(ctx: Lowering, owner: Num, args: list[Binding], node: ast.AST) -> Binding:
    """A predicate of a number, as a composition of functions that have rows."""
    return call_function(ctx, numbers.is_integer, [owner], {}, node)


@method("number", "conjugate")
def number_conjugate(ctx: Lowering, owner: Num, args: list[Binding], node: ast.AST) -> Binding:
    """The conjugate of a Python number is a Python number; a real one is returned itself."""
    type_ = ctx.type_of(owner)
    assert isinstance(type_, Scalar)
    if type_.dtype is None and type_.kind in ("float", "int"):
        return owner
    if type_.dtype is None and type_.kind == "complex":
        return Num(ctx.call("conj", ctx.read(owner, node)))
    if type_.dtype is None:
        return Num(ctx.call("number", ctx.read(owner, node), kind="int"))
    spelled = spelling.method("conjugate")
    assert spelled is not None
    return ctx.make(ctx.call(spelled.row, ctx.read(owner, node)))


__all__ = ["number_method"]
