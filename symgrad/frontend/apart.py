"""Arrays that may share memory, and the store to one of them -> what to write so that they do not: the way out of a refusal."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from symgrad.errors import Note, UnsureAlias
from symgrad.frontend.bindings import Location
from symgrad.location import Loc

LOOPS = ("for ", "while ")
COPY = UnsureAlias.default_hint or ""
NAMED = 3  #: how many arrays a hint names


def way_apart(locations: Sequence[Location], stored: Loc, function: ast.AST) -> tuple[str, list[Note]]:
    """The hint for arrays that may be one, of which the first is read, and the places that matter beside the store."""
    variables = bound_first(function)
    for one in locations:
        text = text_at(one.owner)
        if one.may_be_view and is_expression(text):
            note = "a view of another array, or a copy: that depends on how the other one lies in memory"
            return f"write {wrapped(text)}.copy() in line {one.owner.line}", [(one.owner, note)]
        if is_expression(text) and isinstance(ast.parse(text, mode="eval").body, ast.IfExp):
            return f"write ({text}).copy() in line {one.owner.line}", [(one.owner, "one of two arrays from here on")]
    joined = [one for one in locations if one.name in variables and one.owner.line and not one.outside]
    place = next((one.owner for one in joined if one.owner.text.lstrip().startswith((*LOOPS, "if "))), None)
    if place is None:
        return copied_before([one.name for one in locations if one.name in variables], stored, variables), []
    is_loop = place.text.lstrip().startswith(LOOPS)
    names = list(dict.fromkeys(str(one.name) for one in joined if one.owner == place))
    names = [name for name in names if not is_loop or variables[name] < place.line][:NAMED] or names[:1]
    copies = f"write {', '.join(names)} = {', '.join(f'{name}.copy()' for name in names)}"
    if is_loop:
        return f"{copies} as the first statement of the loop at line {place.line}", [(place, "one of several arrays in each round")]
    return f"{copies} behind the if statement at line {place.line}", [(place, "one of two arrays from here on")]


def copied_before(names: list[str | None], stored: Loc, variables: dict[str, int]) -> str:
    """The hint to copy one of the arrays of these names before the store, which is of the whole function if the place is that."""
    if stored.text.lstrip().startswith("def "):
        parameter = next((name for name in names if name is not None and variables[name] == 0), None)
        return COPY if parameter is None else f"write {parameter} = {parameter}.copy() as the first statement of the function"
    return f"write {names[0]} = {names[0]}.copy() before line {stored.line}" if names else COPY


def bound_first(function: ast.AST) -> dict[str, int]:
    """The line on which each variable of a function is bound for the first time, 0 for a parameter."""
    lines: dict[str, int] = {}
    for node in ast.walk(function):
        name = (
            node.arg if isinstance(node, ast.arg) else node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else None
        )
        if name is not None and isinstance(node, ast.arg | ast.Name):
            lines[name] = min(node.lineno, lines.get(name, node.lineno))
    return lines


def text_at(place: Loc) -> str:
    """The text of a place, as far as it stands on one line."""
    return place.text[place.column : place.end_column].strip()


def is_expression(text: str) -> bool:
    """Is a text an expression of Python's?"""
    try:
        return bool(ast.parse(text, mode="eval"))
    except SyntaxError:
        return False


def wrapped(text: str) -> str:
    """An expression that a method can be called of.

    >>> wrapped("x[1:]"), wrapped("x if c else y")
    ('x[1:]', '(x if c else y)')
    """
    atom = isinstance(ast.parse(text, mode="eval").body, ast.Name | ast.Attribute | ast.Subscript | ast.Call)
    return text if atom else f"({text})"


__all__ = ["way_apart"]
