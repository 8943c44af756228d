"""Accesses single array elements in loops through a ``memoryview`` that is created before the loop.

``x[i] = x.item(i) + x.item(i - 1)`` becomes ``x_cells[i] = x_cells[i] + x_cells[i - 1]``, with ``x_cells =
memoryview(x)`` before the loop. It shares the array's memory and yields Python floats, as ``item`` does, in
half the time of NumPy's indexing. For arrays that are used as a whole in between, and so cannot be lists while
the loop runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from symgrad.codegen.views import BeforeLoops, Views, bound_by
from symgrad.ir.types import Array, Scalar, Type

#: operators that are the same on Python floats and never raise there
PLAIN = (ast.Add, ast.Sub, ast.Mult)


def with_memory(
    body: list[ast.stmt], types: Mapping[str, list[Type]], taken: set[str], maker: ast.expr
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Create the views and memoryviews that loops use before the loops; return all statements, and the added ones.

    ``types`` are the types of the values of each variable, ``taken`` all names in use, ``maker`` names
    ``memoryview``.
    """
    ranks = {name: {t.rank or 0 if isinstance(t, Array) else 0 for t in possible} for name, possible in types.items()}

    def of_one_rank(dtype: str) -> dict[str, int]:
        alike = [name for name, possible in types.items() if all(isinstance(t, Array) and t.dtype == dtype for t in possible)]
        return {name: min(ranks[name]) for name in alike if len(ranks[name]) == 1}

    views = Views(taken, arrays={name: min(possible) for name, possible in ranks.items() if min(possible)})
    numbers = {name for name, possible in types.items() if all(isinstance(t, Scalar) and t.kind == "int" for t in possible)}
    elements = Elements(taken, arrays=of_one_rank("f64"), integers=of_one_rank("i64"), numbers=numbers, maker=maker)
    return elements.statements(views.statements(body)), [*views.assignments, *elements.assignments]


@dataclass(slots=True)
class Elements(BeforeLoops):
    """Element accesses of variables that are float64 arrays, or read-only ``integers`` arrays, of one rank."""

    arrays: Mapping[str, int] = field(kw_only=True)
    integers: Mapping[str, int] = field(kw_only=True)
    numbers: set[str] = field(kw_only=True)  #: integer variables
    maker: ast.expr = field(kw_only=True)  #: the name of ``memoryview``
    stores: set[ast.AST] = field(default_factory=set)  #: subscripts that are written to
    suffix = "cells"

    def rebinds(self, node: ast.AST) -> Iterator[str]:
        return bound_by(node, {*self.arrays, *self.integers})

    def before(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        """As in the base class, if the loop may run many iterations."""
        return [] if isinstance(loop, ast.For) and not has_variables(loop.iter) else super(Elements, self).before(loop)

    def source(self, node: ast.AST, bound: set[str]) -> tuple[str, ast.expr] | None:
        """The memory of an array with one element read or written."""
        match node:
            case ast.Assign(targets=[ast.Subscript() as target]):
                self.stores.add(target)
            case ast.AugAssign(target=ast.Subscript() as target, op=operator) if isinstance(operator, PLAIN):
                self.stores.add(target)
        place = self.place(node)
        if place is None or place[0].id in bound:
            return None
        return place[0].id, ast.Call(self.maker, [place[0]], [])

    def instead(self, node: ast.AST, view: ast.Name) -> ast.expr:
        place = self.place(node)
        assert place is not None
        return ast.Subscript(view, place[1][0] if len(place[1]) == 1 else ast.Tuple(place[1]))

    def place(self, node: ast.AST) -> tuple[ast.Name, list[ast.expr]] | None:
        """The array and the indices of an element that is read as a Python number, or written."""
        arrays = self.arrays
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name() as array, attr="item"), args=indices, keywords=[]):
                arrays = self.integers if array.id in self.integers else arrays
            case ast.Subscript(value=ast.Name() as array, slice=index) if node in self.stores:
                indices = index.elts if isinstance(index, ast.Tuple) else [index]
                if not all(map(self.is_number, indices)):
                    return None
            case _:
                return None
        return (array, indices) if len(indices) == arrays.get(array.id) else None

    def is_number(self, node: ast.expr) -> bool:
        """Whether the expression is an integer."""
        match node:
            case ast.Constant(value=value):
                return type(value) is int
            case ast.Name(id=name):
                return name in self.numbers
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self.is_number(operand)
            case ast.BinOp(left=left, op=operator, right=right) if isinstance(operator, PLAIN):
                return self.is_number(left) and self.is_number(right)
        return False


def has_variables(node: ast.expr) -> bool:
    """Whether the expression depends on more than literals."""
    return any(isinstance(inner, ast.Name) and inner.id not in ("range", "reversed") for inner in ast.walk(node))


__all__ = ["with_memory"]
