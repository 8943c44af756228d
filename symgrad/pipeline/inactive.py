"""Explains why a result does not depend on an argument: the op that ends its derivative, and its place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from symgrad.adjoint.analysis.activity import closure, dependences
from symgrad.frontend.text.source import Source
from symgrad.ir.core import Block, Call, For, Func, Operand, Value, While, walk
from symgrad.ir.types import Array, List, Scalar, Type
from symgrad.location import Loc

#: rows that read only the shape of an array
SHAPES = frozenset(
    """
    extent shape_of size ndim list_len zeros_like ones_like empty_like zeros_of zeros_as list_zeros full_like range_len is_array
    """.split()
)
CUTS = frozenset({"stop_gradient", "barrier"})
STEPS = frozenset({"sign", "floor", "ceil", "trunc", "rint", "fix", "round", "rounded", "floor_divide", "spacing"})
ORDERS = frozenset({"argsort", "argmax", "argmin", "nanargmax", "nanargmin", "argpartition", "searchsorted", "digitize", "lexsort"})


def why_inactive(func: Func, params: Sequence[Value], results: Iterable[Operand], shapes: bool = True) -> tuple[str, Loc] | None:
    """The op that ends the derivative with respect to some parameters of a function, as the end of a sentence, and its place.

    None if the results are not computed from the parameters, or, without ``shapes``, only from their shapes.
    """
    varied = closure(params, dependences(func.body).forward)
    reaches = closure((r for r in results if isinstance(r, Value)), sources(func.body))
    for op in walk(func.body):
        if not isinstance(op, Call) or op.name in SHAPES and not shapes or not any(a in varied for a in op.args):
            continue
        if any(o in reaches and o not in varied for o in op.outs):
            return words_for(op, varied), op.loc
    return None


def words_for(op: Call, varied: set[Value]) -> str:
    """How an op ends the derivative of an argument, in words."""
    read = next(a for a in op.args if a in varied)
    if op.name in CUTS:
        return "stop_gradient ends its derivative here"
    if op.name in SHAPES:
        return "only its shape is used"
    if op.name in ORDERS:
        return f"only the positions that {op.name} gives are used"
    if op.name in STEPS:
        return f"{op.name} is constant between its steps"
    match kind_of(op.outs[0].type), kind_of(read.type):
        case "bool", _:
            return "it is only compared"
        case "int", "float" | "complex" | None:
            return "it is converted to an integer"
    return f"{op.name} passes no derivative on"


def kind_of(type_: Type) -> str | None:
    """The kind of number of a type or of its items."""
    while isinstance(type_, List):
        type_ = type_.item
    return type_.kind if isinstance(type_, Array | Scalar) else None


def sources(block: Block, table: dict[Value, list[Value]] | None = None) -> dict[Value, list[Value]]:
    """For each value all values that it is computed from or selected by, in a block and those inside it."""
    table = {} if table is None else table

    def link(targets: Iterable[Operand], read: Iterable[Operand]) -> None:
        values = [v for v in read if isinstance(v, Value)]
        for target in targets:
            if isinstance(target, Value):
                table.setdefault(target, []).extend(values)

    for op in block.ops:
        link(op.outs, op.operands)
        for inner in op.blocks:
            sources(inner, table)
            link(op.outs, inner.yields)
        if isinstance(op, For | While):
            for inner in op.blocks:
                link(inner.args, [*op.operands, *op.body.yields])
    return table


def in_text(source: Source, name: str) -> tuple[str, Loc | None]:
    """Why no derivative reaches a parameter, by the function's text: it is never used, or overwritten first."""
    uses = sorted(
        (node for node in ast.walk(source.node) if isinstance(node, ast.Name) and node.id == name),
        key=lambda node: (node.lineno, node.col_offset),
    )
    stores = [node for node in uses if isinstance(node.ctx, ast.Store)]
    loads = [node for node in uses if isinstance(node.ctx, ast.Load)]
    if stores and (not loads or stores[0].lineno < loads[0].lineno):
        return "it is overwritten before it is used", source.loc(stores[0])
    return "it is never used" if not loads else "no value computed from it reaches the result", None


__all__ = ["in_text", "why_inactive"]
