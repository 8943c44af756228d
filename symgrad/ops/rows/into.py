"""table: elementwise rows that write into existing memory, for emission: ``multiply_into(into, x, y)`` is ``into *= y``.

There is a row ``<name>_into`` for every row that is one ufunc of NumPy. ``place`` is the index of the operand that is ``into`` itself,
if there is one (its old content is then read before it is overwritten). With an ``index`` the result goes to ``into[...]``, and
``place=0`` says that the operand is the old content of that part. The rows have no derivative: the passes that insert them run after
differentiation.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

import symgrad.ops.rows.elementwise
from symgrad.ir.types import BOOL, Scalar, ShapeOf, Type
from symgrad.ops.declare import ROWS, RUNTIME, Row, missing
from symgrad.ops.indexing import Extents, broadcast
from symgrad.ops.shapes import shape_of

SUFFIX = "_into"
#: operators as ufuncs, and as augmented assignments
OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("add", "+="),
    ast.Sub: ("subtract", "-="),
    ast.Mult: ("multiply", "*="),
    ast.Div: ("divide", "/="),
    ast.Pow: ("power", "**="),
    ast.Mod: ("remainder", "%="),
}
COMMUTATIVE = frozenset({"add", "multiply"})
#: where the operator takes another way than the ufunc, whose last digit may differ
ONLY_AUGMENTED = frozenset({"power_into"})


def same_memory(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The law of a row that writes into existing memory: the result is that memory."""
    return types[0]


def truth(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """The result is a bool of Python's."""
    return BOOL


def _number(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Scalar("float", "f64")


def _broadcast_shape(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return ShapeOf(broadcast([shape_of(t) for t in types]))


def _truths(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    """Bools, for factors only: the actual values are floats where there are ties, and nothing may write floats to that memory."""
    return types[0]


def ufunc_of(row: Row) -> tuple[str, str | None] | None:
    """The ufunc that a row is, and its augmented assignment, None if its text is something else.

    >>> ufunc_of(ROWS["add"]), ufunc_of(ROWS["exp"]), ufunc_of(ROWS["where"])
    (('add', '+='), ('exp', None), None)
    """
    if row.outs != ("out",) or not row.elementwise or set(row.settings) - {"via"}:
        return None
    text = row.emit if isinstance(row.emit, str) else row.emit({"via": None}, [])
    match ast.parse(text, mode="eval").body:
        case ast.BinOp(left=ast.Name(id=x), op=operator, right=ast.Name(id=y)) if (x, y) == row.params and type(operator) in OPERATORS:
            return OPERATORS[type(operator)]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Name()):
            return "negative", None
        case ast.Call(func=ast.Name(id="abs")):
            return "abs", None
        case ast.Call(func=ast.Attribute(value=ast.Name(id="np"), attr=name), args=args, keywords=[]):
            if [a.id for a in args if isinstance(a, ast.Name)] == list(row.params) and isinstance(getattr(np, name, None), np.ufunc):
                return name, None
    return None


def text(ufunc: str, augmented: str | None, params: tuple[str, ...], settings: dict[str, Any]) -> str:
    """The statement that computes into memory."""
    whole, place = not settings["index"], settings["place"]
    if whole and augmented is not None and place is not None and (place == 0 or ufunc in COMMUTATIVE):
        return f"into {augmented} {params[1 - place]}"
    if augmented is not None and place == 0:
        return f"into[path] {augmented} {params[1]}"
    return f"np.{ufunc}({', '.join(params)}, out=into{'' if whole else '[path]'})"


def declare(row: Row, ufunc: str, augmented: str | None) -> None:
    """Register the counterpart of ``row`` that writes into existing memory."""

    def emit(settings: dict[str, Any], types: list[Type]) -> str:
        return text(ufunc, augmented, row.params, settings)

    signature = f'{row.name}{SUFFIX}(into, {", ".join(row.params)}, *index, index="", place=None)'
    missing(signature, same_memory, "it is printed only", emit=emit, consumes=True)


# ``add_at`` where arrays of integers say the first axes
missing('scatter_add(x, v, *index, index="e")', same_memory, "it is printed only", emit="scatter_add(x, path, v)", consumes=True)
# the sum of outer products, of vectors that two lists hold
missing("add_products(x, columns, rows)", same_memory, "it is printed only", emit=RUNTIME, consumes=True)
# the shape that two arrays are broadcast to
missing("broadcast_shape(x, y)", _broadcast_shape, "it is printed only", emit="np.broadcast(x, y).shape")
# the sum of the products of two arrays' elements
missing("inner_product(x, y)", _number, "it is printed only", emit="np.vdot(x, y)")
# which share of a cotangent goes to an operand of ``maximum``, or ``minimum``: all where it won, half where it tied
missing("split_ties(won, tied)", _truths, "it is printed only", emit=RUNTIME)
# whether the memory of an array is row-major, without gaps
missing("lies_by_rows(x)", truth, "it is printed only", emit="x.flags.c_contiguous")
for _row in list(ROWS.values()):
    if (_found := ufunc_of(_row)) is not None:
        declare(_row, *_found)

assert symgrad.ops.rows.elementwise

__all__ = ["ONLY_AUGMENTED", "SUFFIX"]
