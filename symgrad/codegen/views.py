"""Loop-invariant code motion of slices: a slice that every iteration would create is created once, before the loop.

for t in range(n):                          A_view = A[1:-1]
    A[1:-1] = 0.5 * A[1:-1]        ->       for t in range(n):
                                                A_view[...] = 0.5 * A_view
"""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from symgrad.codegen.expressions import is_none
from symgrad.codegen.seam import nodes


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


__all__ = ["BeforeLoops", "Views", "bound_by"]
