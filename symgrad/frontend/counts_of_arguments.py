"""The number of arguments that builtin functions and container methods accept, as Python itself reports it."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import operator
from typing import Any

from symgrad.frontend.absent import definite
from symgrad.frontend.bindings import MISSING, Binding
from symgrad.frontend.context import Lowering
from symgrad.frontend.reading import refused_count

#: the least and the most arguments of builtins without a signature
BUILTINS: dict[Any, tuple[int, int | None]] = {
    getattr: (2, 3), iter: (1, 2), max: (1, None), min: (1, None), next: (1, 2), range: (1, 3), map: (2, None), filter: (2, 2),
    slice: (1, 3), int: (0, 2), str: (0, 3), bool: (0, 1), vars: (0, 1), type: (1, 3), zip: (0, None), dict: (0, 1),
    set: (0, 1), frozenset: (0, 1), functools.reduce: (2, 3), functools.partial: (1, None), operator.itemgetter: (1, None),
    operator.attrgetter: (1, None), itertools.islice: (2, 4),
}  # fmt: skip


@functools.lru_cache(maxsize=512)
def signature_of(function: Any) -> inspect.Signature | None:
    """The signature of a Python function's or of a library; None where none is known, and of functions of symgrad."""
    if (getattr(function, "__module__", None) or "").startswith("symgrad"):
        return None
    try:
        return inspect.signature(function)
    except (ValueError, TypeError):
        return None


def check_call(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> None:
    """Raise in the program the exception of Python for a builtin with a wrong number of arguments."""
    name = getattr(function, "__name__", "function")
    if function in BUILTINS:
        least, most = BUILTINS[function]
        if len(args) < least or most is not None and len(args) > most:
            definite(ctx, MISSING, node, TypeError, f"{name} does not take {len(args)} arguments")
    elif (signature := signature_of(function)) is not None:
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            if getattr(function, "__module__", None) == "builtins" or "missing" in str(error):  # the rest is for who lowers the call
                definite(ctx, MISSING, node, TypeError, f"{name}() {error}")


def check_method(ctx: Lowering, cls: type, name: str, args: list[Binding], node: ast.AST) -> None:
    """The same for a method of a list, dict, set or the like in ``collections``."""
    if (said := refused_count(cls, name, len(args))) is not None:
        definite(ctx, MISSING, node, TypeError, said)


__all__ = ["check_call", "check_method"]
