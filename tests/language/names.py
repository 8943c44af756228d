"""What there is in Python: its grammar, builtins, methods and modules; and what of it the page leaves out, with reasons."""

from __future__ import annotations

import ast
import builtins
import cmath
import collections
import copy
import functools
import itertools
import math
import operator
import random

import symgrad.frontend.lower  # noqa: F401 - which fills the tables
from symgrad.frontend.state.tables import METHODS, SPECIAL

#: kinds of nodes, each of which has classes
KINDS_OF_NODES = (ast.stmt, ast.expr, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.pattern)
MODULES = (math, cmath, itertools, functools, collections, operator, random, copy)
CLASSES = (list, tuple, dict, set, frozenset, collections.deque, str, float, int, complex)
#: subclasses of dict, whose own methods alone are asked for
KINDS_OF_DICTS = (collections.OrderedDict, collections.Counter)

FOR_PROMPTS = "for interactive use, not for functions"
NO_FUNCTION = "not a function or class that computes with values"
FOR_DECORATORS = "applied to functions and classes at their definition, before differentiation"
LATER = "not available in the oldest supported release of Python, for which the examples are written"
#: what the page has no example of, and why
LEFT_OUT = {
    **dict.fromkeys(("copyright", "credits", "license", "exit", "quit", "help"), FOR_PROMPTS),
    **dict.fromkeys(("functools.WRAPPER_ASSIGNMENTS", "functools.WRAPPER_UPDATES", "copy.Error"), NO_FUNCTION),
    **dict.fromkeys(("functools.update_wrapper", "functools.singledispatchmethod"), FOR_DECORATORS),
    "random.SystemRandom": "like `random.Random`, but its draws cannot be repeated, so that nothing could be compared",
    **dict.fromkeys(
        (
            "TypeAlias", "TemplateStr", "Interpolation", "itertools.batched", "math.sumprod", "math.fma", "copy.replace",
            "random.binomialvariate", "operator.is_none", "operator.is_not_none", "functools.Placeholder", "float.from_number",
            "complex.from_number", "int.is_integer",
        ),
        LATER,
    ),
}  # fmt: skip


def public(thing: object) -> list[str]:
    """The names that a module or class shows."""
    return [name for name in getattr(thing, "__all__", dir(thing)) if not name.startswith("_")]


def syntax() -> list[str]:
    """Every kind of statement, expression, operator and pattern."""
    return [node.__name__ for kind in KINDS_OF_NODES for node in kind.__subclasses__()]


def names_of_builtins() -> list[str]:
    """Every builtin but for the classes of exceptions, which are all alike."""
    values = {name: getattr(builtins, name) for name in public(builtins)}
    return [name for name, value in values.items() if not (isinstance(value, type) and issubclass(value, BaseException))]


def methods() -> list[str]:
    """Every method and attribute of the classes, and the own ones of the kinds of dicts."""
    own = [f"{kind.__name__}.{name}" for kind in KINDS_OF_DICTS for name in public(kind) if not hasattr(dict, name)]
    return [f"{kind.__name__}.{name}" for kind in CLASSES for name in public(kind)] + own


def functions_of_modules() -> list[str]:
    """Every function of the modules."""
    return [f"{module.__name__}.{name}" for module in MODULES for name in public(module)]


def entries_of_the_frontend() -> list[str]:
    """What the tables of the frontend know of Python's own modules and classes, beside all this."""
    dataclass_functions = [
        f"dataclasses.{function.__name__}" for function in SPECIAL if getattr(function, "__module__", "") == "dataclasses"
    ]
    return dataclass_functions + [f"{kind}.{name}" for kind, name in METHODS if kind == "set"]


def all_names() -> list[str]:
    """All that the page is to say something of."""
    return list(dict.fromkeys([*syntax(), *names_of_builtins(), *methods(), *functions_of_modules(), *entries_of_the_frontend()]))
