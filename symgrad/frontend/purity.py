"""Functions that depend on their arguments alone, and change nothing: those that may be called while compiling.

The text of a function is looked through, and that of the functions of the user's that it calls. It may use its own variables, some
builtins, and functions of NumPy, SciPy and ``math`` that draw nothing and write to nothing; it reads no other global variable, for that
may be another one at the time of the call.
"""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.frontend.opaque import DRAWING, MUTATORS, root_of
from symgrad.frontend.scopes import local_names
from symgrad.frontend.source import Source, read, seen_through
from symgrad.identity import Same
from symgrad.text import has_literal

#: builtins that read nothing but their arguments
BUILTINS = frozenset({
    "abs", "all", "any", "bool", "bytes", "complex", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "int", "isinstance",
    "issubclass", "len", "list", "map", "max", "min", "pow", "range", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple",
    "type", "zip", "ValueError", "TypeError", "KeyError", "IndexError", "RuntimeError", "NotImplementedError",
    "AssertionError", "ArithmeticError", "ZeroDivisionError", "Exception", "object", "hasattr",
})  # fmt: skip
#: packages whose functions depend on their arguments alone, but for those that draw or write
PURE = ("numpy", "math", "cmath", "scipy", "operator", "_operator", "itertools", "functools", "builtins")
#: functions and classes, but no object that calls others: a ``partial``, an ``np.vectorize``
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type, type(np.sum))
#: what a function does that changes something, or waits
CHANGES = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Delete, ast.NamedExpr, ast.With)


def is_pure(function: Any, seen: frozenset[Any] = frozenset()) -> bool:
    """Does a function depend on its arguments alone, and change nothing?"""
    inner = seen_through(function) or function
    if not isinstance(inner, types.FunctionType):
        return False
    if inner in seen:
        return True
    try:
        source = read(inner)
    except SymgradError:
        return False
    node = source.node
    if source.cells or not all(map(has_literal, source.defaults.values())):
        return False
    if any(isinstance(one, CHANGES) or stores_inside(one) for one in ast.walk(node)):
        return False
    own = local_names(node) | {arg.arg for one in ast.walk(node) if isinstance(one, ast.Lambda) for arg in one.args.args}
    own |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    inside = {Same(one.value) for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    return all(
        is_pure_use(source, one, own, seen | {inner})
        for one in ast.walk(node)
        if isinstance(one, ast.Name | ast.Attribute) and Same(one) not in inside
    )


def stores_inside(node: ast.AST) -> bool:
    """Does a node store in something, or call something for its effect?"""
    if isinstance(node, ast.Subscript | ast.Attribute):
        return isinstance(node.ctx, ast.Store | ast.Del)
    return isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)


def is_pure_use(source: Source, node: ast.expr, own: frozenset[str] | set[str], seen: frozenset[Any]) -> bool:
    """Is a name, or a chain of attributes, one of the function's own, or something that stays as it is?"""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id in own:  # of something that was computed, or of a module that was given
        return not MUTATORS.union(["random"]).intersection(words)
    if node.id not in source.globals:
        return node.id in BUILTINS and hasattr(builtins, node.id)
    value = source.globals[node.id]
    for word in words:
        if not isinstance(value, types.ModuleType | type) or not hasattr(value, word):
            return False
        value = getattr(value, word)
    return stays(value, seen)


def stays(value: Any, seen: frozenset[Any]) -> bool:
    """Is an object a module, function or class, or a number of a library, that gives the same each time?"""
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in PURE and not value.__name__.startswith(DRAWING)
    if isinstance(value, float | int):
        return False
    home = getattr(value, "__module__", None) or type(value).__module__
    if root_of(value) in PURE or type(value).__module__.partition(".")[0] == "numpy":
        return isinstance(value, FUNCTIONS) and not home.startswith(DRAWING) and getattr(value, "__name__", "") not in MUTATORS
    return is_pure(value, seen)


__all__ = ["is_pure"]
