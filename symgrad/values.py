"""Evaluates texts of arguments such as ``np.ones(3), 2.0`` by walking their syntax trees; nothing is executed.

The command line and the explorer evaluate arguments with it. It supports literals, arithmetic, the constants and functions of NumPy in
``MAKERS``, random numbers from a seeded generator, and names of data that the caller provides.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from symgrad.tables import OPERATORS, named
from symgrad.text import is_name

#: functions of NumPy that create or rearrange an array
MAKERS = frozenset(
    """
    arange array asarray ascontiguousarray asfortranarray cos diag exp eye float32 float64 full geomspace identity int32 int64 linspace log
    logspace ones outer repeat sin sqrt tile zeros
    """.split()
)
#: constants of ``np`` and ``math``
CONSTANTS = frozenset({"e", "inf", "nan", "pi", "newaxis", "float32", "float64", "int32", "int64", "bool_", "complex128", "complex64"})
#: methods of a seeded generator, ``np.random.default_rng(0).normal(size=3)``
DRAWS = frozenset({"exponential", "gamma", "integers", "normal", "permutation", "random", "standard_normal", "uniform"})
#: methods and attributes of arrays
METHODS = frozenset({"astype", "copy", "reshape", "transpose"})
ATTRIBUTES = frozenset({"T", "imag", "real", "shape", "size"})
#: builtin functions of values
BUILTINS: dict[str, Callable[..., Any]] = named(bool, complex, dict, float, int, list, range, tuple)
BINARY: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    kind: OPERATORS[kind] for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult)
}
UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.USub: operator.neg, ast.UAdd: operator.pos}
#: the maximal number of elements of an array, and of bits of an integer, in a text
LARGEST = 10**8
BITS = 4096


class NotAValue(ValueError):
    """A text is not a value; the message names the offending part and the alternatives."""


def arguments_of(text: str, names: Mapping[str, Any] | None = None) -> tuple[Any, ...]:
    """Evaluate a comma-separated list of arguments; ``names`` are data that it may name.

    Raises NotAValue for any other expression.

    >>> arguments_of("np.ones(2), -2.0")
    (array([1., 1.]), -2.0)
    >>> arguments_of("open('f')")
    Traceback (most recent call last):
    ...
    symgrad.values.NotAValue: open is not among the functions that make values; give numbers, lists, np.array(...) and the like
    """
    if not text.strip():
        return ()
    try:
        tree = ast.parse(f"({text},)" if not text.rstrip().endswith(",") else f"({text})", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NotAValue(f"not Python: {getattr(error, 'msg', error)}") from None
    value = checked_value(tree, names or {})
    if not isinstance(value, tuple):
        raise NotAValue("give values with commas between them")
    return value


def value_of(tree: ast.expr, names: Mapping[str, Any] | None = None) -> Any:
    """Evaluate an expression; raise NotAValue if it is not a value."""
    return checked_value(tree, names or {})


def checked_value(tree: ast.expr, names: Mapping[str, Any]) -> Any:
    """Evaluate an expression; exceptions of NumPy and Python become NotAValue."""
    try:
        return read(tree, names)
    except NotAValue:
        raise
    except RecursionError:
        raise NotAValue("it is nested too deeply") from None
    except Exception as error:  # exceptions of NumPy functions for unsuitable arguments
        raise NotAValue(f"{ast.unparse(tree)}: {type(error).__name__}: {error}") from None


def read(tree: ast.expr, names: Mapping[str, Any]) -> Any:
    """Evaluate a syntax tree by its kind."""
    match tree:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.Name(id=name):
            raise NotAValue(f"{name} is not known; there are {', '.join(sorted(filter(is_name, names))) or 'no names'}")
        case ast.Tuple(elts=items) | ast.List(elts=items) | ast.Set(elts=items):
            values = [read(item, names) for item in items]
            return tuple(values) if isinstance(tree, ast.Tuple) else values if isinstance(tree, ast.List) else set(values)
        case ast.Dict(keys=keys, values=items):
            return {read(key, names): read(item, names) for key, item in zip(keys, items, strict=True) if key is not None}
        case ast.UnaryOp(op=op, operand=operand) if type(op) in UNARY:
            return UNARY[type(op)](read(operand, names))
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            return combined(op, read(left, names), read(right, names))
        case ast.Subscript(value=owner, slice=key):
            return read(owner, names)[index_of(key, names)]
        case ast.Attribute(value=ast.Name(id="np" | "numpy" | "math"), attr=name) if name in CONSTANTS:
            return getattr(np, name)
        case ast.Attribute(value=owner, attr=name) if name in ATTRIBUTES:
            return getattr(read(owner, names), name)
        case ast.Call():
            return called(tree, names)
    raise NotAValue(f"{ast.unparse(tree)} is not a value; give numbers, lists, np.array(...) and the like")


def index_of(key: ast.expr, names: Mapping[str, Any]) -> Any:
    """Evaluate the index of a subscript: values and slices."""
    match key:
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(*(None if part is None else read(part, names) for part in (lower, upper, step)))
        case ast.Tuple(elts=items):
            return tuple(index_of(item, names) for item in items)
    return read(key, names)


def combined(op: ast.operator, left: Any, right: Any) -> Any:
    """Evaluate a binary operation; raise if its result would not fit in memory."""
    integers = isinstance(left, int) and isinstance(right, int)
    if integers and isinstance(op, ast.Pow) and left.bit_length() * abs(right) > BITS:
        raise NotAValue(f"an integer of more than {BITS} bits")
    count = next(
        (n for n, other in ((left, right), (right, left)) if isinstance(n, int) and isinstance(other, str | bytes | list | tuple)), 0
    )
    if isinstance(op, ast.Mult) and count * max(len(other) for other in (left, right, ()) if hasattr(other, "__len__")) > LARGEST:
        raise NotAValue(f"more than {LARGEST} elements")
    if isinstance(op, ast.Mod) and isinstance(left, str | bytes):
        raise NotAValue("% of a text")
    return BINARY[type(op)](left, right)


def called(tree: ast.Call, names: Mapping[str, Any]) -> Any:
    """Evaluate a call of a function or method in the tables of this module."""
    args = [read(arg, names) for arg in tree.args]
    words = {word.arg: read(word.value, names) for word in tree.keywords if word.arg is not None}
    if len(words) < len(tree.keywords):
        raise NotAValue(f"{ast.unparse(tree)}: write the arguments out")
    match tree.func:
        case ast.Name(id=name) if name in BUILTINS and name not in names:
            return BUILTINS[name](*args, **words)
        case ast.Attribute(value=ast.Name(id="np" | "numpy"), attr=name) if name in MAKERS:
            check_size(name, args, words)
            return getattr(np, name)(*args, **words)
        case ast.Attribute(value=ast.Name(id="math"), attr=name) if name in MAKERS and hasattr(math, name):
            return getattr(math, name)(*args, **words)
        case ast.Attribute(value=ast.Call(func=func, args=seed), attr=name) if name in DRAWS and ast.unparse(func) in SEEDED:
            check_size(name, args, words)
            return getattr(np.random.default_rng(*(read(item, names) for item in seed)), name)(*args, **words)
        case ast.Attribute(value=owner, attr=name) if name in METHODS:
            value = read(owner, names)
            if isinstance(value, np.ndarray | np.generic):
                return getattr(value, name)(*args, **words)
    raise NotAValue(
        f"{ast.unparse(tree.func)} is not among the functions that make values; give numbers, lists, np.array(...) and the like"
    )


SEEDED = frozenset({"np.random.default_rng", "numpy.random.default_rng"})


def check_size(name: str, args: list[Any], words: Mapping[str, Any]) -> None:
    """Raise if a call requests more elements than fit in memory."""
    if name in ("ones", "zeros", "full"):
        asked = args[0] if args else words.get("shape", 0)
    elif name in ("eye", "identity"):
        asked = (args[0], args[1] if len(args) > 1 else args[0]) if args else 0
    elif name in DRAWS:
        asked = words.get("size", 0)
    elif name in ("arange", "linspace", "geomspace", "logspace", "repeat", "tile"):
        asked = max((arg for arg in (*args, *words.values()) if type(arg) is int), default=0)
    else:
        return
    sizes = asked if isinstance(asked, tuple | list) else (asked,)
    if math.prod(size for size in sizes if type(size) is int) > LARGEST:
        raise NotAValue(f"more than {LARGEST} elements")


__all__ = ["NotAValue", "arguments_of", "value_of"]
