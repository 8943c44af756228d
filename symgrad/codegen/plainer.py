"""Rewrites emitted statements, for text that is read: in the user's spelling, and without operations that only speed needs.

n = x.shape[0]       ->   n = len(x)      where the user wrote that
y += x.copy()        ->   y += x          in the backward half
-(-1.0)              ->   1.0
"""

from __future__ import annotations

import ast
import re
from collections.abc import Container, Mapping
from typing import Any, TypeGuard

from symgrad.codegen.seam import FIELDS, is_same_tree


class Rewriting:
    """Copies a tree, rewriting each node of the copy."""

    def rewritten(self, node: Any) -> Any:
        """A copy of a node, or of a list of nodes."""
        if isinstance(node, list):
            return [self.rewritten(item) for item in node]
        if not isinstance(node, ast.AST):
            return node
        kind: Any = type(node)
        return self.node(kind(**{name: self.rewritten(getattr(node, name, None)) for name in FIELDS[kind]}))

    def node(self, node: ast.AST) -> ast.AST:
        """The replacement of a node whose parts have been rewritten."""
        return node


class Canonical(Rewriting):
    """Rewrites equivalent spellings to one canonical form; the user's names for ``constants`` become the numbers."""

    def __init__(self, constants: Mapping[str, ast.expr]) -> None:
        self.constants = constants

    def node(self, node: ast.AST) -> ast.AST:
        """Rewrite ``len(x)`` to ``x.shape[0]``, ``x.size`` to ``np.size(x)``, and a constant's name to its number."""
        match node:
            case ast.Name(id=name) if name in self.constants:
                return self.constants[name]
            case ast.Call(func=ast.Name(id="len"), args=[array], keywords=[]):
                return ast.Subscript(ast.Attribute(array, "shape"), ast.Constant(0))
            case ast.Attribute(value=array, attr="size"):
                return ast.Call(ast.Attribute(ast.Name("np"), "size"), [array], [])
        return node


class Lighter(Rewriting):
    """Removes from expressions the operations that do not change their value."""

    def __init__(self, taken: Container[str] = ()) -> None:
        self.taken = taken  #: names with a meaning of their own in the text

    def node(self, node: ast.AST) -> ast.AST:
        """Rewrite ``x[...]`` between operators to ``x``, ``-(-1.0)`` to ``1.0``, and a cross product by ``np.roll`` to ``np.cross``."""
        match node:
            case ast.Call(args=[ast.BinOp(left=ast.BinOp(left=one), op=ast.Sub(), right=ast.BinOp(right=other)), _]):
                return crossed(one, other) if is_same_tree(node, cross_text(one, other)) else node
            case ast.BoolOp(op=ast.Or(), values=[count, ast.Constant(value=1)]) if (
                "max" not in self.taken and (size := size_of(count)) is not None
            ):
                return ast.Call(ast.Name("max"), [size, ast.Constant(1)], [])
            case ast.BinOp(left=left, op=op, right=right):
                return ast.BinOp(without_full_slice(left), op, without_full_slice(right))
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float() as value)) if value < 0:
                return ast.Constant(-value)
            case ast.UnaryOp(op=ast.USub(), operand=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=float()) as number)):
                return number
            case ast.UnaryOp(op=op, operand=operand):
                return ast.UnaryOp(op, without_full_slice(operand))
        return node


def size_of(count: ast.expr) -> ast.expr | None:
    """``x.size`` for ``math.prod(x.shape)``, and an extent as it is; None for other expressions."""
    match count:
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"), attr="prod"), args=[ast.Attribute(value=array, attr="shape")]):
            return ast.Attribute(array, "size")
        case ast.Subscript(value=ast.Attribute(attr="shape"), slice=ast.Constant()):
            return count
    return None


def cross_text(a: ast.expr, b: ast.expr) -> ast.expr:
    """The text of ``np.cross`` of two arrays as the row emits it."""
    one, other = ast.unparse(a), ast.unparse(b)
    text = f"np.roll(({one}) * np.roll({other}, -1, axis=-1) - np.roll({one}, -1, axis=-1) * ({other}), -1, axis=-1)"
    return ast.parse(text, mode="eval").body


def crossed(a: ast.expr, b: ast.expr) -> ast.expr:
    """``np.cross(a, b)``."""
    return ast.Call(ast.Attribute(ast.Name("np"), "cross"), [a, b], [])


def without_full_slice(node: ast.expr) -> ast.expr:
    """``x`` for ``x[...]``."""
    match node:
        case ast.Subscript(value=array, slice=ast.Constant(value=value)) if value is Ellipsis:
            return array
    return node


def lighten(statement: ast.stmt, taken: Container[str]) -> None:
    """Remove redundant operations from a statement of the backward half, in place; ``taken`` names have other meanings than usual."""
    lighter = Lighter(taken)
    match statement:
        case ast.AugAssign(value=ast.Call(func=ast.Attribute(value=array, attr="copy"), args=[], keywords=[])):
            statement.value = lighter.rewritten(array)
        case ast.AugAssign(value=value):
            statement.value = without_full_slice(lighter.rewritten(value))
        case ast.Assign(value=value):
            statement.value = lighter.rewritten(value)


def lighten_tape(statement: ast.stmt) -> None:
    """Simplify the length of a tape in place: ``n`` for ``n - 1 - -1``."""
    match statement:
        case ast.Assign(value=ast.BinOp(left=ast.List(elts=[ast.Constant(value=None)]) as none, op=ast.Mult() as times, right=count)):
            statement.value = ast.BinOp(none, times, summed(count))


def summed(count: ast.expr) -> ast.expr:
    """Simplify a name less one integer and less another to a single sum."""
    match count:
        case ast.BinOp(
            left=ast.BinOp(left=ast.Name() as name, op=ast.Sub(), right=ast.Constant(value=int() as less)), op=ast.Sub(), right=right
        ):
            match right:
                case ast.Constant(value=int() as more):
                    more = -more
                case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as more)):
                    pass
                case _:
                    return count
            left, whole_number = more - less, ast.Constant(abs(more - less))
            return name if left == 0 else ast.BinOp(name, ast.Add() if left > 0 else ast.Sub(), whole_number)
    return count


def respell(statement: ast.stmt, line: str, constants: Mapping[str, ast.expr]) -> set[str]:
    """Respell a statement as the user's line does, in place, if both are equivalent; return the user's constants that it then names."""
    try:
        users = ast.parse(line.strip() + (" pass" if line.rstrip().endswith(":") else "")).body[0]
    except (SyntaxError, ValueError, IndexError):
        return set()
    if type(users) is not type(statement) or not isinstance(statement, ast.Assign | ast.AugAssign | ast.For):
        return set()
    ours, theirs = Canonical({}), Canonical(constants)
    own, value = value_of(statement), value_of(users)
    if not is_same_target(ours.rewritten(head(statement)), theirs.rewritten(head(users))):
        return set()
    if is_reversed(own) and not is_reversed(value):
        value = ast.Call(own.func, [value], [])
    if not is_same_tree(ours.rewritten(own), theirs.rewritten(value)):
        return set()
    setattr(statement, "iter" if isinstance(statement, ast.For) else "value", value)
    return {node.id for node in ast.walk(value) if isinstance(node, ast.Name)} & constants.keys()


def is_written(statement: ast.stmt, line: str, constants: Mapping[str, ast.expr]) -> bool:
    """Whether a statement is the user's line."""
    try:
        users = ast.parse(line.strip()).body[0]
    except (SyntaxError, ValueError, IndexError):
        return False
    return type(users) is type(statement) and is_same_tree(Canonical(constants).rewritten(statement), Canonical(constants).rewritten(users))


def over_items(loop: ast.For, line: str) -> None:
    """Rewrite a loop over indices, in place, to the user's loop over items: ``for i, v in enumerate(x)`` if ``v = x[i]`` comes first."""
    match loop:
        case ast.For(
            target=ast.Name(id=index),
            iter=ast.Call(func=ast.Name(id="range"), args=[extent], keywords=[]),
            body=[ast.Assign(targets=[ast.Name(id=item)], value=ast.Subscript(value=ast.Name(id=array), slice=ast.Name(id=place))), *rest],
        ) if index == place and rest and ast.unparse(Canonical({}).rewritten(extent)) == f"{array}.shape[0]":
            stored = {name.id for statement in rest for name in targets_of(statement)}
            if not re.search(rf"\bfor\b.*\b{item}\b.*\bin\b.*\b{array}\b", line) or array in stored or index in stored:
                return
            read = {node.id for statement in rest for node in ast.walk(statement) if isinstance(node, ast.Name)}
            loop.body, loop.iter = rest, ast.Name(array)
            loop.target = ast.Name(item)
            if index in read:
                loop.target = ast.Tuple([ast.Name(index), ast.Name(item)])
                loop.iter = ast.Call(ast.Name("enumerate"), [ast.Name(array)], [])


def targets_of(statement: ast.stmt) -> list[ast.Name]:
    """The names that a statement, and the blocks inside it, assign to; stores to parts of arrays do not count."""
    names: list[ast.Name] = []
    for node in ast.walk(statement):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign | ast.For) else []
        parts = [part for target in targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
        names += [part for part in parts if isinstance(part, ast.Name)]
    return names


def value_of(statement: Any) -> Any:
    """The assigned value of a statement, or the iterable of a loop."""
    return statement.iter if isinstance(statement, ast.For) else statement.value


def head(statement: Any) -> list[Any]:
    """The targets of a statement, and its operator."""
    if isinstance(statement, ast.Assign):
        return statement.targets
    return [statement.target, statement.op] if isinstance(statement, ast.AugAssign) else [statement.target]


def is_same_target(ours: list[Any], theirs: list[Any]) -> bool:
    """Whether both assign to the same targets, or the user's target is ``_``, which nothing reads."""
    return is_same_tree(ours, theirs) or [getattr(node, "id", None) for node in theirs] == ["_"]


def is_reversed(node: ast.expr) -> TypeGuard[ast.Call]:
    """Whether the expression is ``reversed(x)``."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "reversed" and len(node.args) == 1


__all__ = ["is_written", "lighten", "lighten_tape", "over_items", "respell", "targets_of"]
