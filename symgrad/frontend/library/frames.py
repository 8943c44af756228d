"""Functions and classes of pandas: where their source is refused, the refusal names NumPy's way, at the call."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from symgrad.errors import SymgradError, UnknownFunction
from symgrad.frontend.objects.reading import root_of
from symgrad.frontend.state.bindings import Binding
from symgrad.frontend.state.context import Lowering

PANDAS = "pandas"
ARRAY = "use the array itself in its place"
#: the replacements of functions and classes by name
INSTEAD = {
    "Series": ARRAY,
    "Index": ARRAY,
    "DataFrame": "use one array for each column in its place",
    "concat": "write np.concatenate of the arrays, or np.column_stack for axis=1",
}


def enters_pandas(ctx: Lowering, value: Any) -> bool:
    """Whether a call leads from other code into pandas."""
    return root_of(value) == PANDAS and root_of(ctx.frame.source.function) != PANDAS


def in_pandas(ctx: Lowering, value: Any, name: str, node: ast.AST, call: Callable[[], Binding]) -> Binding:
    """The result of a call into pandas, or a refusal of the call."""
    before = len(ctx.refusals)
    try:
        result = call()
    except SymgradError:
        result = None
    if result is not None and len(ctx.refusals) == before:
        return result
    del ctx.refusals[before:]
    hint = INSTEAD.get(value.__name__, "compute it with NumPy, or call it before and pass the result")
    raise UnknownFunction(f"{name} has no rule", ctx.loc(node), hint)


__all__ = ["enters_pandas", "in_pandas"]
