"""How tables are written: pairs of words from a text, functions by their names; and Python's operators by the class of their node."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, TypeVar

Entered = TypeVar("Entered", bound=Callable[..., Any])


def pairs(text: str) -> dict[str, str]:
    """Return a dict from a text of words that stand in pairs, with a colon between.

    >>> pairs("asin:arcsin acos:arccos")
    {'asin': 'arcsin', 'acos': 'arccos'}
    """
    return {key: value for key, _, value in (pair.partition(":") for pair in text.split())}


def named(*functions: Callable[..., Any], **others: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Return functions by their names, and others by the keywords.

    >>> named(len, max, largest=max)
    {'len': <built-in function len>, 'max': <built-in function max>, 'largest': <built-in function max>}
    """
    return {function.__name__: function for function in functions} | others


def entered(table: dict[Any, Any], *keys: Any) -> Callable[[Entered], Entered]:
    """Return a decorator that enters a function in a table, under these keys."""

    def enter(function: Entered) -> Entered:
        table.update(dict.fromkeys(keys, function))
        return function

    return enter


def counterparts(owner: Any, *functions: Callable[..., Any]) -> dict[Callable[..., Any], Callable[..., Any]]:
    """Return functions by those of the same names in a module.

    >>> import operator
    >>> counterparts(operator, pow)
    {<built-in function pow>: <built-in function pow>}
    """
    return {getattr(owner, function.__name__): function for function in functions}


#: the names of the methods that Python's operators call, without underscores
STEMS = {
    getattr(ast, node): stem
    for node, stem in pairs(
        """
        Add:add Sub:sub Mult:mul Div:truediv Pow:pow MatMult:matmul Mod:mod FloorDiv:floordiv LShift:lshift RShift:rshift BitAnd:and
        BitOr:or BitXor:xor Lt:lt LtE:le Gt:gt GtE:ge Eq:eq NotEq:ne
        """
    ).items()
}
#: the functions of module ``operator`` that do the same
OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {node: getattr(operator, f"__{stem}__") for node, stem in STEMS.items()}
COMPARISONS = {node: function for node, function in OPERATORS.items() if issubclass(node, ast.cmpop)}
