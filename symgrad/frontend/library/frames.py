"""Calls into installed packages: a function whose source is refused is called opaquely; pandas has hints of its own."""

from __future__ import annotations

import ast
import sys
import sysconfig
import types
from collections.abc import Callable
from typing import Any

from symgrad.errors import UnknownFunction
from symgrad.frontend.objects.opaque import opaque
from symgrad.frontend.objects.reading import LIBRARIES, root_of
from symgrad.frontend.state.bindings import Binding
from symgrad.frontend.state.context import Lowering

Args = list[Binding]
Words = dict[str, Binding]
Call = Callable[[], Binding]
PANDAS = "pandas"
ARRAY = "use the array itself in its place"
#: the replacements of functions and classes of pandas by name
INSTEAD = {
    "Series": ARRAY,
    "Index": ARRAY,
    "DataFrame": "use one array for each column in its place",
    "concat": "write np.concatenate of the arrays, or np.column_stack for axis=1",
}
#: the folders of installed packages
INSTALLED = tuple(sysconfig.get_path(kind) for kind in ("purelib", "platlib"))


def enters_package(ctx: Lowering, value: Any) -> bool:
    """Whether a call leads from other code into an installed package."""
    root = root_of(value)
    if root in LIBRARIES or root == root_of(ctx.frame.source.function):
        return False
    return root == PANDAS or file_of(value).startswith(INSTALLED)


def file_of(value: Any) -> str:
    """The file of a function or class; of one that a package has compiled from text, the file of the module that it names."""
    if isinstance(value, types.FunctionType):
        own = value.__globals__.get("__file__") or getattr(sys.modules.get(value.__module__), "__file__", None)
        return str(own or value.__code__.co_filename)
    methods = (entry for entry in vars(value).values() if isinstance(entry, types.FunctionType)) if isinstance(value, type) else ()
    return next((file_of(method) for method in methods), "")


def unless_refused(ctx: Lowering, value: Any, name: str, args: Args, kwargs: Words, node: ast.AST, call: Call) -> Binding:
    """The result of a call whose source is read; if the source is refused, the function is called as one without a rule.

    A refusal that names an integer is raised, so that the integer is made static. A refused call into pandas gets a hint of its own.
    """
    result, refusal = ctx.provisionally(call)
    if refusal is not None and any(error.pin for error in refusal.errors):
        raise refusal
    if result is not None:
        return result
    if root_of(value) == PANDAS:
        hint = INSTEAD.get(value.__name__, "compute it with NumPy, or call it before and pass the result")
        raise UnknownFunction(f"{name} has no rule", ctx.loc(node), hint)
    return opaque(ctx, value, name, args, kwargs, node)


__all__ = ["enters_package", "unless_refused"]
