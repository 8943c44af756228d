"""Calls of functions that numba compiles: lowered from their Python source, where that computes the same."""

from __future__ import annotations

import ast
import types
from typing import Any

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.bindings import Binding, Num, Ref, Static
from symgrad.frontend.context import Lowering
from symgrad.frontend.vectorize import Vectorized
from symgrad.ir.types import Array, Scalar
from symgrad.kinds import REFUSED, VECTORIZED, declared_types, refused
from symgrad.text import is_name

#: numba's number types to which Python numbers of a kind convert without loss
WIDE = {
    "float": {"float64", "complex128"},
    "complex": {"complex128"},
    "int": {"int32", "int64", "float64", "complex128"},
    "bool": {"bool", "int32", "int64", "float64", "complex128"},
}

#: numba's names of the types of NumPy scalars
EXACT = {"f32": "float32", "f64": "float64", "c64": "complex64", "c128": "complex128", "i32": "int32", "i64": "int64"}


def call_numba(ctx: Lowering, value: Any, kind: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """A call of one of numba's callables: of its Python function, once or for each element."""
    name = str(getattr(value, "__name__", "the function"))
    if kind in REFUSED:
        raise refused(value, kind, ctx.loc(node))
    function: types.FunctionType = value.__wrapped__
    if kind in VECTORIZED:
        scalars = all(isinstance(a, Num) and isinstance(ctx.type_of(a), Scalar) for a in args)
        return ctx.apply(Static(function) if scalars else Vectorized(Static(function), returns_floats(value)), args, kwargs, node)
    check_conversions(ctx, value, name, args, kwargs, node)
    return ctx.apply(Static(function), args, kwargs, node)


def returns_floats(value: Any) -> bool:
    """Whether every declared signature of a vectorized function returns float64."""
    return bool(value._frozen and value.types) and all(text.endswith("->d") for text in value.types)


def check_conversions(ctx: Lowering, value: Any, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> None:
    """Refuse conversions that numba would make: a float to a declared int is truncated, variables of declared types are converted too."""
    if getattr(value, "locals", None):
        what = f"{name} declares types of its variables (locals=), to which numba converts them"
        raise UnsupportedArgument(what, ctx.loc(node), f"call {name}.py_func, or leave locals= out")
    signatures = declared_types(value)
    names = value.__wrapped__.__code__.co_varnames
    passed = [*enumerate(args), *((names.index(keyword), binding) for keyword, binding in kwargs.items() if keyword in names)]
    for position, binding in passed:
        declared = dict.fromkeys(signature[position] for signature in signatures if position < len(signature))
        held = ctx.type_of(binding) if isinstance(binding, Num | Ref) else None
        if isinstance(held, Array) and held.rank or not any(is_name(word) for word in declared):  # arrays are never converted
            continue
        kind = held.kind if isinstance(held, Scalar | Array) else type(binding.value).__name__ if isinstance(binding, Static) else None
        if not declared.keys() & {*WIDE.get(kind or "", ()), EXACT.get(getattr(held, "dtype", None) or "")}:
            types_ = " or ".join(sorted(declared))
            what = f"{name} is declared with {names[position]} as {types_}, to which numba converts the {held or kind or 'object'} passed"
            raise UnsupportedArgument(what, ctx.loc(node), f"call {name}.py_func, or leave the types out of its decorator")
