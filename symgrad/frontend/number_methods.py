"""table: methods that numbers have and arrays have not, and methods of which a number of Python's gives one of Python's.

What is known while compiling is computed then. Bits and texts of numbers that are computed are asked of Python when the program runs.
"""

from __future__ import annotations

import ast

from symgrad.frontend.absent import as_python_does
from symgrad.frontend.bindings import Binding, Num, Tup
from symgrad.frontend.context import Lowering
from symgrad.frontend.declared import call_function
from symgrad.frontend.operands import known_value, static_binding
from symgrad.frontend.python_values import answer
from symgrad.frontend.tables import METHODS, method
from symgrad.ir.core import Const
from symgrad.ir.types import INT, TEXT, Scalar, Type
from symgrad.ops import spelling
from symgrad.ops.composed import numbers

#: methods of Python's classes that no row says, and what they give of a number that is computed; None where that is not followed
OF_PYTHON: dict[str, tuple[type, Type | None]] = {
    "bit_length": (int, INT), "bit_count": (int, INT), "hex": (float, TEXT), "as_integer_ratio": (float, None), "to_bytes": (int, None),
    "is_integer": (float, None),
}  # fmt: skip


def number_method(
    ctx: Lowering, owner: Binding, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST
) -> Binding | None:
    """A method of a number of Python's; None for all that are methods of arrays too, and of numbers of NumPy's."""
    type_ = ctx.type_of(owner)
    if not isinstance(type_, Scalar) or name not in OF_PYTHON and ("number", name) not in METHODS:
        return None
    known = [v for a in (owner, *args, *kwargs.values()) for v in known_value(a)]
    if name in OF_PYTHON and len(known) == 1 + len(args) + len(kwargs):
        value, *rest = known
        named = dict(zip(kwargs, rest[len(args) :], strict=True))
        result = as_python_does(ctx, node, lambda: getattr(value, name)(*rest[: len(args)], **named))
        return result if isinstance(result, Binding) else static_binding(result)
    if ("number", name) in METHODS and not args and not kwargs:
        return METHODS["number", name](ctx, owner, args, node)
    if name == "as_integer_ratio" and type_.kind == "int" and type_.dtype is None and not args and not kwargs:
        return Tup((owner, Num(Const(1))))  # of a float the quotient would carry a derivative, and its parts do not
    cls, given = OF_PYTHON.get(name, (int, None))
    kinds = ("int", "bool") if cls is int else ("float",)
    if given is None or args or kwargs or type_.dtype is not None or type_.kind not in kinds:
        return None
    return answer(ctx, getattr(cls, name), [ctx.read(owner, node)], given)


@method("number", "is_integer")
def number_is_integer(ctx: Lowering, owner: Num, args: list[Binding], node: ast.AST) -> Binding:
    """A question to a number, by what is said of it in functions that have rows."""
    return call_function(ctx, numbers.is_integer, [owner], {}, node)


@method("number", "conjugate")
def number_conjugate(ctx: Lowering, owner: Num, args: list[Binding], node: ast.AST) -> Binding:
    """A number of Python's stays one; a real one is given back itself."""
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
