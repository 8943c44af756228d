"""Makes the slices of an array that every round of a loop would make alike once, before the loop.

for t in range(n):                          A_view = A[1:-1]
    A[1:-1] = 0.5 * A[1:-1]        ->       for t in range(n):
                                                A_view[...] = 0.5 * A_view
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from symgrad.codegen.expressions import is_none
from symgrad.codegen.seam import nodes


@dataclass(slots=True)
class Views:
    """The variables of one function: which are arrays, of what rank at least, and what else is taken."""

    arrays: Mapping[str, int]
    taken: set[str]
    made: list[ast.stmt] = field(default_factory=list)  #: the assignments before loops

    def statements(self, body: list[ast.stmt]) -> list[ast.stmt]:
        """The statements, with views made before loops; these are changed in place."""
        found: list[ast.stmt] = []
        for statement in body:
            if isinstance(statement, ast.For | ast.While):
                found += self.before(statement)
            for name in ("body", "orelse"):
                inner = getattr(statement, name, None)
                if isinstance(inner, list) and not isinstance(statement, ast.FunctionDef):
                    setattr(statement, name, self.statements(inner))
            found.append(statement)
        return found

    def before(self, loop: ast.For | ast.While) -> list[ast.stmt]:
        """Assignments of the slices that a loop reads and writes, which from then on are named in it."""
        inside = list(nodes(loop))
        bound = {name for node in inside for name in bound_by(node, self.arrays)}
        if not any(isinstance(node, ast.Subscript) and self.is_steady(node, bound) for node in inside):
            return []
        table: dict[str, tuple[str, ast.expr]] = {}
        for name, child in ast.iter_fields(loop):
            if name != "target":
                setattr(loop, name, self.replaced(child, bound, table))
        made: list[ast.stmt] = [ast.Assign([ast.Name(name)], slice_) for name, slice_ in table.values()]
        self.made += made
        return made

    def replaced(self, node: Any, bound: set[str], table: dict[str, tuple[str, ast.expr]]) -> Any:
        """The node, or the name of the view that it is."""
        if isinstance(node, list):
            return [self.replaced(item, bound, table) for item in node]
        if not isinstance(node, ast.AST):
            return node
        if isinstance(node, ast.Subscript) and self.is_steady(node, bound):
            return self.name(node, table)
        for name, child in ast.iter_fields(node):
            setattr(node, name, self.replaced(child, bound, table))
        if isinstance(node, ast.Assign):
            node.targets = [stored(t, {n for n, _ in table.values()}) for t in node.targets]
        return node

    def name(self, node: ast.Subscript, table: dict[str, tuple[str, ast.expr]]) -> ast.expr:
        assert isinstance(node.value, ast.Name)
        key = ast.dump(node)
        if key not in table:
            base = word = f"{node.value.id}_view"
            number = 0
            while word in self.taken:
                number += 1
                word = f"{base}_{number}"
            self.taken.add(word)
            table[key] = word, node
        return ast.Name(table[key][0])

    def is_steady(self, node: ast.Subscript, bound: set[str]) -> bool:
        """Is it a view of the same array in every round, that is sure to exist?"""
        if not isinstance(node.value, ast.Name) or node.value.id in bound:
            return False
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        slices = [item for item in items if isinstance(item, ast.Slice)]
        if not slices or len(slices) > self.arrays.get(node.value.id, 0):
            return False
        bounds = [b for s in slices for b in (s.lower, s.upper, s.step) if b is not None]
        return all(isinstance(i, ast.Slice) or is_none(i) for i in items) and all(is_fixed(b, bound) for b in bounds)


def is_fixed(node: ast.expr, bound: set[str]) -> bool:
    """Is it an integer that the loop does not change?"""
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


def bound_by(node: ast.AST, arrays: Mapping[str, int]) -> Iterator[str]:
    """The variables that a statement gives another object."""
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
    """A view is written to, and not given another object."""
    if isinstance(target, ast.Name) and target.id in views:
        return ast.Subscript(target, ast.Constant(...))
    if isinstance(target, ast.Tuple | ast.List):
        return type(target)([stored(item, views) for item in target.elts])
    return target


__all__ = ["Views"]
