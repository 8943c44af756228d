"""Calls that text to read keeps: a user function that is called at several places becomes a function of the program.

Its derivative is then written once, as a function of its own, instead of at each call.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from symgrad.errors import UnsupportedSyntax
from symgrad.frontend.objects.opaque import FOLLOWED
from symgrad.frontend.state.abstract_values import Skeleton
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.interruptions import CallsItself
from symgrad.frontend.state.shared_state import is_readable
from symgrad.frontend.text.source import Source
from symgrad.ir.core import Block, Call, walk
from symgrad.ir.types import Array, Dim, Type
from symgrad.ops.analysis.raising import ONLY_RAISE
from symgrad.ops.build import symbols_of
from symgrad.ops.declare import ROWS

KEPT = "its calls are kept"  #: in the set of recursive functions, with a function
LONG = 3  #: the fewest statements of such a function


def is_kept(ctx: Lowering, source: Source, node: ast.AST) -> bool:
    """Whether a call is kept; lowering restarts at the second place where a function is called."""
    function = source.function
    if not ctx.keeps_text or (function.__module__ or "").startswith(FOLLOWED) or is_readable(function):
        return False
    key = (KEPT, function)
    if key in ctx.recursive_sites:
        return True
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or not is_plain(source.node):
        return False
    places = ctx.forms.setdefault(KEPT, {}).setdefault(function, set())
    places.add((ctx.frame.source.file, node.lineno, node.col_offset))
    if len(places) > 1 and ctx.keeps_calls:
        raise CallsItself(key)
    ctx.calls_again |= len(places) > 1
    return False


def is_plain(node: ast.FunctionDef | ast.Lambda) -> bool:
    """Whether a function takes its arguments by position only, and has several statements."""
    if isinstance(node, ast.Lambda) or node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.decorator_list:
        return False
    statements = [inner for statement in node.body for inner in ast.walk(statement) if isinstance(inner, ast.stmt)]
    return sum(not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant)) for s in statements) >= LONG


def own_type(type_: Type) -> Type:
    """The type of an argument, without its memory layout."""
    return replace(type_, layout="?") if isinstance(type_, Array) else type_


def result_type(type_: Type, arguments: Iterable[Type]) -> Type:
    """The type of a result at one call: extents that the arguments' types do not have may differ from call to call."""
    if not isinstance(type_, Array) or type_.shape is None:
        return type_
    known = set().union(*map(symbols_of, arguments))
    shape = tuple(e if isinstance(e, int) or known.issuperset(symbols_of(Array("f8", (e,)))) else Dim("?") for e in type_.shape)
    return replace(type_, shape=shape)


def check_kept(name: str, forms: Mapping[str, Skeleton], result: Skeleton, others: Iterable[Any], body: Block) -> None:
    """Refuse a function that does more than compute numbers and arrays of numbers and arrays: its calls are inlined then."""
    items = result.items if result.form == "tuple" else (result,)
    plain = all(form.form in ("num", "array") for form in (*forms.values(), *items))
    if not plain or any(others) or any(isinstance(op, Call) and has_effect(op) for op in walk(body)):
        raise UnsupportedSyntax(f"{name} does more than compute numbers and arrays")


def has_effect(op: Call) -> bool:
    """Whether an op does more than compute a value, or raise."""
    return ROWS[op.name].effect and op.name not in ONLY_RAISE


__all__ = ["KEPT", "check_kept", "is_kept", "own_type", "result_type"]
