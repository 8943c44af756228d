"""Merges emitted statements that build one variable, have one test, or take the last item of a list, for text that is read.

x = a; x += b        ->   x = a + b        both from one line of the user's
if t: a; if t: b     ->   if t: a; b       also for ``not t``
x = l[-1]; l.pop()   ->   x = l.pop()
"""

from __future__ import annotations

import ast
from collections.abc import Container, Mapping
from typing import Any

from symgrad.codegen.seam import is_same_tree, negated
from symgrad.codegen.signs import added, sign
from symgrad.codegen.substitution import INDENT, WIDTH, Effects, width
from symgrad.codegen.texts import Mark


def summed_up(
    body: list[ast.stmt], marks: dict[ast.stmt, Mark], single: Container[str], lists: Container[str], depth: int = 1
) -> list[ast.stmt]:
    """The statements of the backward half, with consecutive additions to a variable in one.

    Arrays in ``single`` keep their precision; ``lists`` are lists of numbers.
    """
    out: list[ast.stmt] = []
    for statement in body:
        for name in ("body", "orelse"):
            if inner := getattr(statement, name, None):
                setattr(statement, name, summed_up(inner, marks, single, lists, depth + 1))
        if not (mark := marks.get(statement, Mark())).backward:
            out.append(statement)
            continue
        if (addition := addition_of(statement, lists)) is not None:
            statement, marks[addition] = addition, mark
        sign(statement)
        last = out[-1] if out else None
        if last is None or marks.get(last, Mark()).loc != mark.loc or not join(last, statement, single, depth):
            out.append(statement)
    return out


def addition_of(statement: ast.stmt, lists: Container[str]) -> ast.stmt | None:
    """``l[i] += v`` for ``l[i] = l[i] + v``, if the items of the list are numbers."""
    match statement:
        case ast.Assign(
            targets=[ast.Subscript(value=ast.Name(id=name)) as target],
            value=ast.BinOp(left=item, op=ast.Add() | ast.Sub() as op, right=term),
        ) if name in lists and is_same_tree(target, item):
            return ast.AugAssign(target, op, term)
    return None


def join(first: ast.stmt, second: ast.stmt, single: Container[str], depth: int) -> bool:
    """Add the term of the second statement to the first, in place, if both build one variable; return whether they do."""
    match first, second:
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp() | ast.Call() as value),
            ast.AugAssign(target=ast.Name(id=other), op=ast.Add() | ast.Sub() as op, value=term),
        ) if name == other:
            joined: Any = ast.Assign(first.targets, added(value, op, term))
        case (
            ast.AugAssign(target=ast.Name(id=name), op=ast.Add() | ast.Sub() as sense, value=value),
            ast.AugAssign(target=ast.Name(id=other), op=ast.Add() | ast.Sub() as op, value=term),
        ) if name == other:
            both = ast.Add() if type(op) is type(sense) else ast.Sub()
            is_twice = isinstance(both, ast.Add) and is_same_tree(value, term)
            joined = ast.AugAssign(
                first.target, sense, ast.BinOp(ast.Constant(2), ast.Mult(), value) if is_twice else added(value, both, term)
            )
            sign(joined)
        case _:
            return False
    if name in Effects.of(term).loads or name in single or is_shared(first) or width(joined) + depth * INDENT > WIDTH:
        return False
    for part, child in ast.iter_fields(joined):
        setattr(first, part, child)
    return True


def is_shared(statement: ast.stmt) -> bool:
    """Whether a statement assigns memory that another name may show, or that is made to be added to."""
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(attr=attribute))):
            return attribute in ("copy", "zeros", "zeros_like", "reshape", "ravel", "transpose", "broadcast_to", "asarray", "full")
        case ast.Assign(value=ast.Call()):
            return True
    return False


def with_one_test(body: list[ast.stmt], marks: Mapping[ast.stmt, Mark]) -> list[ast.stmt]:
    """The statements, with consecutive branches of the same test in one, unless a section begins between them."""
    out: list[ast.stmt] = []
    for statement in body:
        for name in ("body", "orelse"):
            if inner := getattr(statement, name, None):
                setattr(statement, name, with_one_test(inner, marks))
        begins = marks.get(statement, Mark()).section
        if begins or not out or not isinstance(statement, ast.If) or not isinstance(out[-1], ast.If) or not continues(out[-1], statement):
            out.append(statement)
    return out


def continues(first: ast.If, second: ast.If) -> bool:
    """Add the branches of the second statement to those of the first, in place, if both have the same test; return whether they do."""
    is_opposite = is_same_tree(negated(first.test), second.test) or is_same_tree(first.test, negated(second.test))
    if not is_opposite and not is_same_tree(first.test, second.test):
        return False
    effects, test = Effects.of(first), Effects.of(first.test)
    ends = any(isinstance(node, ast.Break | ast.Continue | ast.Return | ast.Raise) for node in ast.walk(first))
    is_plain = not any(isinstance(node, ast.Call) for node in ast.walk(first.test))
    if ends or not is_plain or not (effects.stores | effects.changes).isdisjoint(test.loads):
        return False
    if is_opposite and not first.orelse and is_not(first.test):
        first.test, first.body, first.orelse = second.test, second.body, [*first.body, *second.orelse]
    elif is_opposite:
        first.body, first.orelse = [*first.body, *second.orelse], [*first.orelse, *second.body]
    else:
        first.body, first.orelse = [*first.body, *second.body], [*first.orelse, *second.orelse]
    return True


def is_not(test: ast.expr) -> bool:
    """Whether the expression is ``not x``."""
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def with_pops(body: list[ast.stmt], marks: Mapping[ast.stmt, Mark]) -> list[ast.stmt]:
    """The statements; one that reads the last item of a list and the next, which drops the item, are one, within a section."""
    out: list[ast.stmt] = []
    for statement in body:
        for name in ("body", "orelse"):
            if inner := getattr(statement, name, None):
                setattr(statement, name, with_pops(inner, marks))
        begins = marks.get(statement, Mark()).section
        match [*out[-1:], statement]:
            case [
                ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript(value=ast.Name(id=items), slice=place)) as read,
                ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=dropped), attr="pop"), args=[], keywords=[]) as pop),
            ] if items == dropped != name and not begins and ast.unparse(place) == "-1":
                read.value = pop
            case _:
                out.append(statement)
    return out


__all__ = ["summed_up", "with_one_test", "with_pops"]
