"""Rows that make exceptions values of a program: whether an operation raises, which exception, of which class, and raising it again.

``failure`` runs an operation only for its exception: the result is None, or the exception. The operation itself follows on the path on
which it does not raise.
"""

from __future__ import annotations

import ast
import builtins
import math
from typing import Any

import numpy as np

from symgrad.ir.types import DTYPES, List, Object, Type
from symgrad.ops.declare import ROWS, constant
from symgrad.ops.indexing import OPERANDS, Extents, steps
from symgrad.ops.shapes import bool_law, nothing_law

FAILURE = Object("exception")


def lambda_of(name: str, settings: dict[str, Any], types: list[Type]) -> str | None:
    """An operation as a function of its operands, as text; None if it is none of an expression.

    >>> from symgrad.ir.types import BOOL
    >>> lambda_of("divide", {}, [BOOL, BOOL])
    'lambda x, y: x / y'
    """
    row = ROWS[name]
    if row.statement or row.consumes:
        return None
    if name == "view" and settings["index"].startswith(".reshape:") and len(steps(settings["index"])) == 1:
        return "lambda x, *shape: x.reshape(*shape)"
    own = {**row.settings, **settings}
    text = (
        row.math if row.math is not None and own.get("via") == "math" else row.emit if isinstance(row.emit, str) else row.emit(own, types)
    )
    params = list(row.params)
    said: dict[str, ast.expr] = {}
    if "index" in own and params[-1].startswith("*"):
        path = path_of(own.pop("index"))
        if path is None:
            return None
        names, said["path"] = path
        params[-1:] = names
    own.pop("type", None)  # the known type of the result, which no text determines
    for key, value in own.items():
        spelled = dtype_text(value) if key == "dtype" and value in DTYPES else literal_text(value)
        if spelled is None:
            return None
        said[key] = ast.parse(spelled, mode="eval").body
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return None
    body = Spelled(said).visit(tree).body
    return f"lambda {', '.join(params)}: {ast.unparse(ast.fix_missing_locations(body))}"


def lambda_that_raises(name: str, settings: dict[str, Any], types: list[Type]) -> str | None:
    """The same for an operation that is known to raise, so that a store can be tried: nothing is stored."""
    if name in ("set_at", "add_at"):
        path = path_of(settings["index"])
        return None if path is None else f"lambda x, v, {', '.join(path[0])}: x.__setitem__({ast.unparse(path[1])}, v)"
    if name == "list_take" and isinstance(types[0], List) and types[0].of == "tuple":
        return "lambda l, i: tuple(l)[i]"
    return STORES.get(name) or lambda_of(name, settings, types)


STORES = {
    "list_set": "lambda l, i, v: l.__setitem__(i, v)",
    "table_set": "lambda l, i, j, v: l[i].__setitem__(j, v)",
    "list_drop": "lambda l: l.pop()",
}


class Spelled(ast.NodeTransformer):
    """Substitutes settings for their names in a text."""

    def __init__(self, said: dict[str, ast.expr]) -> None:
        self.said = said

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.said.get(node.id, node)


def path_of(index: str) -> tuple[list[str], ast.expr] | None:
    """The parameters and the subscript of a path of one step."""
    several = steps(index)
    if len(several) != 1 or several[0][0].startswith("."):
        return None
    step, count = several[0]
    names = [f"at{k}" for k in range(count)]
    remaining, items = iter(names), []
    for letter in step:
        own = [next(remaining) for _ in range(OPERANDS[letter])]
        items.append(own[0] if letter == "i" else f"slice({', '.join(own)})" if letter == "s" else "None" if letter == "n" else "...")
    text = items[0] if len(items) == 1 else f"({', '.join(items)})"
    return names, ast.parse(text, mode="eval").body


def dtype_text(name: str) -> str:
    return f"np.{np.dtype(DTYPES[name]).type.__name__}"


def literal_text(value: Any) -> str | None:
    """A setting as text, if it is a plain constant."""
    match value:
        case None | bool() | int() | str():
            return repr(value)
        case float() if math.isfinite(value):
            return repr(value)
        case tuple() | list():
            inner = [literal_text(item) for item in value]
            if None in inner:
                return None
            words = ", ".join(map(str, inner))
            return f"[{words}]" if isinstance(value, list) else f"({words},)" if len(inner) == 1 else f"({words})"
    return None


def _failure(types: list[Type], settings: dict[str, Any], dim: Extents) -> Type:
    return Object(f"raised {settings['kind']}") if settings["kind"] else FAILURE


def class_of(type_: Type) -> type | None:
    """The class of an exception that an operation raises, where it is known."""
    name = type_.name.removeprefix("raised ") if isinstance(type_, Object) and type_.name.startswith("raised ") else ""
    return getattr(builtins, name, None)


def _failure_text(settings: dict[str, Any], types: list[Type]) -> str:
    return f"failure({settings['run']}, *operands)"


# ``run``: the operation as a function of the operands, as text; ``kind``: the class of Python's that it raises, where that is known
constant("failure(*operands, run='', kind='')", _failure, emit=_failure_text)
constant("is_failure(error)", bool_law, emit="error is not None", cheap=True)
constant("is_instance(error, kind)", bool_law, emit="isinstance(error, kind)", cheap=True)
constant("raise_again(error)", nothing_law, emit="raise error", effect=True, statement=True)

__all__ = ["FAILURE", "class_of", "lambda_of", "lambda_that_raises"]
