"""Numba's callables: their kinds and the options of their declarations.

Numba is never imported: its objects are recognised by their classes.
"""

from __future__ import annotations

from typing import Any

from symgrad.errors import UnknownFunction
from symgrad.location import Loc

#: numba's classes of callables: compiled functions, elementwise functions, and those whose text
#: does not determine the result
COMPILED, VECTORIZED, REFUSED = ("Dispatcher", "CFunc"), ("DUFunc",), ("CUDADispatcher", "GUFunc", "StencilFunc")


def numba_kind(value: Any) -> str | None:
    """The class name of one of numba's callables; None for all else."""
    kind = type(value)
    if not kind.__module__.startswith("numba"):
        return None
    names = [cls.__name__ for cls in kind.__mro__]
    return next((name for name in (*REFUSED, *VECTORIZED, *COMPILED) if name in names), None)


#: the module of numba's own forms of functions of Python
OF_NUMBA = "numba.misc.special"


def as_python(value: Any) -> Any:
    """The Python function that is equivalent to a numba function: ``range`` for ``prange``; other values are unchanged."""
    if getattr(value, "__module__", None) == OF_NUMBA and getattr(value, "__name__", None) == "prange":
        return range
    return value


def declared_types(value: Any) -> list[tuple[str, ...]]:
    """The declared parameter types of a compiled function; empty if numba specialises it at the call."""
    if getattr(value, "_can_compile", True):
        return []
    return [tuple(map(str, signature.args)) for signature in value.nopython_signatures]


def converts(value: Any) -> bool:
    """Whether a compiled function declares types to which numba converts its arguments or variables."""
    return bool(getattr(value, "locals", None) or declared_types(value))


def refused(value: Any, kind: str, loc: Loc | None = None) -> UnknownFunction:
    """The refusal of a stencil or a generalized ufunc, which has no derivative, with a hint."""
    name = getattr(value, "__name__", None) or "this function"
    what = f"{name} is a {kind} of numba, whose source does not show what it computes from arrays"
    return UnknownFunction(what, loc, "declare it with symgrad.rule, or write the loop over elements in an njit function")
