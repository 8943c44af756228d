"""Pure functions, whose result depends on their arguments alone: these may be called at compile time.

The text of a function is checked, and that of the user functions that it calls. It may use its own
variables, some builtins, and functions of NumPy, SciPy and ``math`` that draw nothing and write to
nothing. It reads no other global variable, which may be rebound before the call. It may store in
lists, dicts, sets and arrays that it has created itself, and draw from a random generator that it
has created from a seed.
"""

from __future__ import annotations

import ast
import builtins
import types
from typing import Any

import numpy as np

from symgrad.errors import SymgradError
from symgrad.frontend.objects.opaque import DRAWING, MUTATORS
from symgrad.frontend.objects.reading import root_of
from symgrad.frontend.text.source import Source, local_names, read, seen_through
from symgrad.identity import Same
from symgrad.text import has_literal

#: builtins that read nothing but their arguments
BUILTINS = frozenset(
    """
    abs all any bool bytes complex dict divmod enumerate filter float frozenset int isinstance issubclass len list map max min pow range
    reversed round set slice sorted str sum tuple type zip ValueError TypeError KeyError IndexError RuntimeError NotImplementedError
    AssertionError ArithmeticError ZeroDivisionError Exception object hasattr
    """.split()
)
#: packages of pure functions, except for those that draw or write
PURE = ("numpy", "math", "cmath", "scipy", "operator", "_operator", "itertools", "functools", "builtins")
#: functions and classes, but no object that calls others: a ``partial``, an ``np.vectorize``
FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type, type(np.sum))
#: displays that create a list, dict or set
DISPLAYS = (ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp)
#: functions of NumPy that create an array
MAKERS = frozenset("array arange empty empty_like eye full full_like linspace ones ones_like zeros zeros_like".split())
#: methods that change a list, dict or set
CHANGING = frozenset({"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "reverse", "setdefault", "update"})
#: constructors of random generators, which are deterministic for a fixed seed
SEEDED = (np.random.default_rng, np.random.RandomState)
#: statements and expressions with side effects, or that wait
CHANGES = (ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncFor, ast.AsyncWith, ast.Delete, ast.NamedExpr, ast.With)


def is_pure(function: Any, seen: frozenset[Any] = frozenset()) -> bool:
    """Whether a function depends on its arguments alone and has no side effects."""
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
    fresh = names_of_fresh(node, source)
    if any(isinstance(one, CHANGES) or stores_inside(one, fresh) for one in ast.walk(node)):
        return False
    own = local_names(node) | {arg.arg for one in ast.walk(node) if isinstance(one, ast.Lambda) for arg in one.args.args}
    own |= {one.id for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    inside = {Same(one.value) for one in ast.walk(node) if isinstance(one, ast.Attribute)}
    inside |= {Same(one.func) for one in ast.walk(node) if isinstance(one, ast.Call) and makes_seeded(source, one, own)}
    return all(
        is_pure_use(source, one, own, seen | {inner})
        for one in ast.walk(node)
        if isinstance(one, ast.Name | ast.Attribute) and Same(one) not in inside
    )


def names_of_fresh(node: ast.AST, source: Source) -> frozenset[str]:
    """The variables of a function that are bound only to lists, dicts, sets and arrays that it has created itself."""
    stored = [one for one in ast.walk(node) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)]
    fresh: set[Same] = set()
    for one in ast.walk(node):
        match one:
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)) if len(targets) == len(values):
                fresh |= {Same(target) for target, value in zip(targets, values, strict=True) if makes_fresh(value, source)}
            case ast.Assign(targets=[target], value=value) if makes_fresh(value, source):
                fresh.add(Same(target))
            case ast.AnnAssign(target=target, value=ast.expr() as value) if makes_fresh(value, source):
                fresh.add(Same(target))
            case ast.AugAssign(target=target):
                fresh.add(Same(target))  # the target is fresh by its other bindings, or a number
    others = {one.id for one in stored if Same(one) not in fresh}
    others |= {one.arg for one in ast.walk(node) if isinstance(one, ast.arg)}
    return frozenset({one.id for one in stored} - others)


def makes_fresh(value: ast.expr, source: Source) -> bool:
    """Whether an expression creates a list, dict, set or array that nothing else holds."""
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
        return value.func.id in ("list", "dict", "set") and value.func.id not in source.globals
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and isinstance(value.func.value, ast.Name):
        return value.func.attr in MAKERS and source.globals.get(value.func.value.id) is np
    return isinstance(value, DISPLAYS)


def stores_inside(node: ast.AST, fresh: frozenset[str]) -> bool:
    """Whether a node stores to an object or calls something for its side effect, other than on ``fresh`` names."""
    match node:
        case ast.Subscript(ctx=ast.Store() | ast.Del(), value=owner):
            return not (isinstance(owner, ast.Name) and owner.id in fresh)
        case ast.Attribute(ctx=ast.Store() | ast.Del()):
            return True
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method))):
            return name not in fresh or method not in CHANGING
        case ast.Expr():
            return not isinstance(node.value, ast.Constant)
    return False


def makes_seeded(source: Source, call: ast.Call, own: frozenset[str] | set[str]) -> bool:
    """Whether the call creates a random generator from a seed."""
    seed = call.args[0] if call.args else ast.Constant(None)
    if isinstance(seed, ast.Starred) or isinstance(seed, ast.Constant) and seed.value is None:
        return False
    words: list[str] = []
    function = call.func
    while isinstance(function, ast.Attribute):
        words.insert(0, function.attr)
        function = function.value
    value = None if not isinstance(function, ast.Name) or function.id in own else source.globals.get(function.id)
    for word in words:
        value = getattr(value, word, None) if isinstance(value, types.ModuleType) else None
    return any(value is maker for maker in SEEDED)


def is_pure_use(source: Source, node: ast.expr, own: frozenset[str] | set[str], seen: frozenset[Any]) -> bool:
    """Whether a name, or a chain of attributes, is the function's own, or never changes."""
    words: list[str] = []
    while isinstance(node, ast.Attribute):
        words.insert(0, node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id in own:  # on a computed value, or on a module passed as an argument
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
    """Whether an object is a module, function or class whose results never change."""
    if isinstance(value, types.ModuleType):
        return value.__name__.partition(".")[0] in PURE and not value.__name__.startswith(DRAWING)
    if isinstance(value, float | int):
        return False
    home = getattr(value, "__module__", None) or type(value).__module__
    if root_of(value) in PURE or type(value).__module__.partition(".")[0] == "numpy":
        return isinstance(value, FUNCTIONS) and not home.startswith(DRAWING) and getattr(value, "__name__", "") not in MUTATORS
    return is_pure(value, seen)


__all__ = ["is_pure"]
