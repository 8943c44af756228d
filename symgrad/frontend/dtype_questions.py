"""Functions of the dtypes and classes of their operands alone: evaluated at compile time where these are known.

Examples are ``np.result_type``, ``np.isdtype``, ``np.issubdtype`` and ``np.ma.isMaskedArray``; also ``array_namespace`` of SciPy and
``array_api_compat``, which returns the module with the functions for such arrays. The function itself is called, with operands of the
same dtypes and classes.
"""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from symgrad.frontend.bindings import Binding, Num, Static
from symgrad.frontend.context import Lowering
from symgrad.frontend.exact import check_kind
from symgrad.frontend.operands import known_value
from symgrad.frontend.program_state import held_items
from symgrad.ir.core import Const
from symgrad.ir.types import DTYPES, Array, Scalar

#: functions of NumPy that depend on dtypes alone; older versions lack some of them
WORDS = ("result_type", "promote_types", "common_type", "can_cast", "isdtype", "issubdtype", "iterable")
OF_DTYPES = [*(getattr(np, name) for name in WORDS if hasattr(np, name)), np.ma.isMaskedArray]
#: the packages whose ``array_namespace`` it is
HOMES = ("scipy", "array_api_compat")
#: numbers of Python, by kind
NUMBERS: dict[str, Any] = {"bool": False, "int": 0, "float": 0.0, "complex": 0j}
UNKNOWN = object()


def dtype_question(ctx: Lowering, function: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding | None:
    """The result of such a function for the operands; None for other functions, and where an operand's dtype or class is unknown."""
    if not any(function is one for one in OF_DTYPES) and not gives_namespace(function):
        return None
    operands = [like(ctx, binding) for binding in args]
    keywords = {name: like(ctx, binding) for name, binding in kwargs.items()}
    if any(operand is UNKNOWN for operand in (*operands, *keywords.values())):
        return None
    for binding in (*args, *kwargs.values()):
        check_kind(ctx, ctx.type_of(binding), node)
    try:
        answer = function(*operands, **keywords)
    except Exception:  # the function is called at run time, and raises there
        return None
    return Num(Const(answer)) if isinstance(answer, bool) else Static(answer)


def gives_namespace(function: Any) -> bool:
    """Whether the function is ``array_namespace``."""
    home = (getattr(function, "__module__", None) or "").partition(".")[0]
    return home in HOMES and getattr(function, "__name__", "") == "array_namespace"


def like(ctx: Lowering, binding: Binding) -> Any:
    """An object of the class, dtype and rank of a binding's value; ``UNKNOWN`` where one of these is unknown."""
    known = known_value(binding)
    if known:
        return known[0]
    items = held_items(binding, ctx.state)
    if items is not None:
        inner = [like(ctx, item) for item in items]
        return UNKNOWN if any(item is UNKNOWN for item in inner) else tuple(inner)
    match ctx.type_of(binding):
        case Array(dtype=str(name), shape=tuple(shape)):
            return np.empty((0,) * len(shape), DTYPES[name])
        case Scalar(kind=kind, dtype=None):
            return NUMBERS[kind]
        case Scalar(dtype=str(name)) if name in DTYPES:
            return np.zeros((), DTYPES[name])[()]
    return UNKNOWN


__all__ = ["dtype_question"]
