"""Loop-invariant code motion of slices: a slice that every iteration would create is created once, before the loop.

for t in range(n):                          A_view = A[1:-1]
    A[1:-1] = 0.5 * A[1:-1]        ->       for t in range(n):
                                                A_view[...] = 0.5 * A_view

So is a ``memoryview`` of an array made, through which the loop reads and writes single elements.
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from symgrad.codegen.expressions import is_none
from symgrad.codegen.seam import nodes
from symgrad.ir.types import Array, Scalar, Type


@dataclass(slots=True)
class BeforeLoops(ABC):
    """Hoists loop-invariant expressions of statements, which are changed in place."""

    taken: set[str]  #: names of variables in use
    assignments: list[ast.stmt] = field(default_factory=list)  #: the assignments before loops

    #: the suffix of the new names
    suffix: ClassVar[str]

    @abstractmethod
    def source(self, node: ast.AST, bound: set[str]) -> tuple[str, ast.expr] | None:
        """A variable, and the expression on it to hoist, for a node of a loop; None if there is none."""

    def instead(self, node: ast.AST, view: ast.Name) -> ast.expr:
        """The expression that replaces the node, over the hoisted name."""
        return view

    def rebinds(self, node: ast.AST) -> Iterator[str]:
        """The variables that a statement rebinds."""
        return bound_by(node, ())

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements, with the added assignments before loops."""
        statements: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.For | ast.While):
                statements += self.before(statement)
            for name in ("body", "orelse"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and not isinstance(statement, ast.FunctionDef):
                    setattr(statement, name, self.statements(inner))
            statements.append(statement)
        return statements

    def before(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        """Assignments, to be placed before a loop, of expressions that the loop accesses; their names replace them in the loop."""
        inside = list(nodes(loop))
        bound = {name for node in inside for name in self.rebinds(node)}
        if not any(self.source(node, bound) is not None for node in inside):
            return []
        table: dict[str, tuple[str, ast.expr]] = {}
        for name, child in ast.iter_fields(loop):
            if name != "target":
                setattr(loop, name, self.replaced(child, bound, table))
        assignments: list[ast.stmt] = [ast.Assign([ast.Name(name)], source) for name, source in table.values()]
        self.assignments += assignments
        return assignments

    def replaced(self, node: Any, bound: set[str], table: dict[str, tuple[str, ast.expr]]) -> Any:
        """The node, or its replacement."""
        if isinstance(node, list):
            return [self.replaced(item, bound, table) for item in node]
        if not isinstance(node, ast.AST):
            return node
        source = self.source(node, bound)
        if source is not None:
            node = self.instead(node, self.name(*source, table))
        if not isinstance(node, ast.Name):
            for name, child in ast.iter_fields(node):
                setattr(node, name, self.replaced(child, bound, table))
        if isinstance(node, ast.Assign):
            node.targets = [stored(t, {n for n, _ in table.values()}) for t in node.targets]
        return node

    def name(self, variable: str, source: ast.expr, table: dict[str, tuple[str, ast.expr]]) -> ast.Name:
        key = ast.dump(source)
        if key not in table:
            base = word = f"{variable}_{self.suffix}"
            number = 0
            while word in self.taken:
                number += 1
                word = f"{base}_{number}"
            self.taken.add(word)
            table[key] = word, source
        return ast.Name(table[key][0])


@dataclass(slots=True)
class Views(BeforeLoops):
    """Slices of the array variables of one function, with their minimum ranks."""

    arrays: Mapping[str, int] = field(kw_only=True)
    suffix = "view"

    def rebinds(self, node: ast.AST) -> Iterator[str]:
        return bound_by(node, self.arrays)

    def source(self, node: ast.AST, bound: set[str]) -> tuple[str, ast.expr] | None:
        """A view that is the same in every iteration, and surely valid."""
        if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name) or node.value.id in bound:
            return None
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        slices = [item for item in items if isinstance(item, ast.Slice)]
        if not slices or len(slices) > self.arrays.get(node.value.id, 0):
            return None
        bounds = [b for s in slices for b in (s.lower, s.upper, s.step) if b is not None]
        steady = all(isinstance(i, ast.Slice) or is_none(i) for i in items) and all(is_fixed(b, bound) for b in bounds)
        return (node.value.id, node) if steady and all(s.step is None or is_step(s.step) for s in slices) else None


def is_fixed(node: ast.expr, bound: set[str]) -> bool:
    """Whether the expression is a loop-invariant integer."""
    match node:
        case ast.Constant(value=int()):
            return True
        case ast.Name(id=name):
            return name not in bound
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_fixed(operand, bound)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult(), right=right):
            return is_fixed(left, bound) and is_fixed(right, bound)
    return False


def is_step(node: ast.expr) -> bool:
    """Whether the expression is surely nonzero; a slice with step 0 raises."""
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


def bound_by(node: ast.AST, arrays: Container[str]) -> Iterator[str]:
    """The variables that a statement rebinds."""
    match node:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from names_of(target)
        case ast.AugAssign(target=ast.Name(id=name)) if name not in arrays:  # an array is changed in place
            yield name
        case ast.For(target=target) | ast.comprehension(target=target):
            yield from names_of(target)
        case ast.NamedExpr(target=ast.Name(id=name)) | ast.arg(arg=name):
            yield name


def names_of(target: ast.expr) -> Iterator[str]:
    """The variables of a target."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for item in target.elts:
            yield from names_of(item)


def stored(target: ast.expr, views: set[str]) -> ast.expr:
    """The target that writes to a view instead of rebinding its name."""
    if isinstance(target, ast.Name) and target.id in views:
        return ast.Subscript(target, ast.Constant(...))
    if isinstance(target, ast.Tuple | ast.List):
        return type(target)([stored(item, views) for item in target.elts])
    return target


#: operators that are the same on Python's floats, which never raise
PLAIN = (ast.Add, ast.Sub, ast.Mult)


def with_memory(
    body: list[ast.stmt], types: Mapping[str, list[Type]], taken: set[str], maker: ast.expr
) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The statements, with the views and the memory that loops use created before the loops; and the statements that were added.

    ``types`` are the types of the values of each variable, ``taken`` all names in use, ``maker`` names ``memoryview``.
    """
    ranks = {name: {t.rank or 0 if isinstance(t, Array) else 0 for t in possible} for name, possible in types.items()}

    def of_one_rank(dtype: str) -> dict[str, int]:
        alike = [name for name, possible in types.items() if all(isinstance(t, Array) and t.dtype == dtype for t in possible)]
        return {name: min(ranks[name]) for name in alike if len(ranks[name]) == 1}

    views = Views(taken, arrays={name: min(possible) for name, possible in ranks.items() if min(possible)})
    numbers = {name for name, possible in types.items() if all(isinstance(t, Scalar) and t.kind == "int" for t in possible)}
    elements = Elements(taken, arrays=of_one_rank("f64"), integers=of_one_rank("i64"), numbers=numbers, maker=maker)
    return elements.statements(views.statements(body)), [*views.assignments, *elements.assignments]


# ------------------------------------------------------------------ single elements


@dataclass(slots=True)
class Elements(BeforeLoops):
    """Replaces element accesses of array variables of float64, or of read-only ``integers``, of a known rank, by those of memoryviews.

    ``x[i] = x.item(i) + x.item(i - 1)`` becomes ``x_cells[i] = x_cells[i] + x_cells[i - 1]``, with ``x_cells =
    memoryview(x)`` before the loop. The memoryview shares the array's memory and returns Python floats, as ``item``
    does, in half the time of NumPy's indexing. It serves arrays that are also used as a whole in the loop, which
    therefore cannot become lists.
    """

    arrays: Mapping[str, int] = field(kw_only=True)
    integers: Mapping[str, int] = field(kw_only=True)
    numbers: set[str] = field(kw_only=True)  #: variables that are integers
    maker: ast.expr = field(kw_only=True)  #: the expression for ``memoryview``
    stores: set[ast.AST] = field(default_factory=set)  #: the subscripts that are written to
    suffix = "cells"

    def rebinds(self, node: ast.AST) -> Iterator[str]:
        return bound_by(node, {*self.arrays, *self.integers})

    def before(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        """The assignments before a loop; none for loops of literal ranges, which run few iterations."""
        return [] if isinstance(loop, ast.For) and not has_variables(loop.iter) else super(Elements, self).before(loop)

    def source(self, node: ast.AST, bound: set[str]) -> tuple[str, ast.expr] | None:
        """The memory of an array of which one element is read or written."""
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
        """The array and the indices of an element that is read as Python's, or written."""
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


__all__ = ["BeforeLoops", "Views", "bound_by", "with_memory"]
