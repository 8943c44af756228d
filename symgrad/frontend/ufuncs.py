"""Methods of NumPy's universal functions: ``np.add.at``, ``np.add.reduce`` and their like."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from symgrad.frontend.bindings import Binding, Num, Ref, Static, Tup
from symgrad.frontend.context import Lowering, spelled
from symgrad.frontend.declared import call_function
from symgrad.frontend.memory import Index, bools_as_masks, index_item
from symgrad.frontend.opaque import opaque
from symgrad.frontend.operands import unwrap
from symgrad.frontend.rows import apply_row
from symgrad.ir.core import Const
from symgrad.ops.composed.applying import at_each, outer_of
from symgrad.ops.composed.sequences import logaddexp_reduce

#: methods of ufuncs that are functions of their own, but for the axis, which is 0 where none is given
SAID: dict[tuple[str, str], Callable[..., object]] = {
    ("reduce", "add"): np.sum, ("reduce", "multiply"): np.prod, ("reduce", "maximum"): np.max, ("reduce", "minimum"): np.min,
    ("reduce", "logical_and"): np.all, ("reduce", "logical_or"): np.any, ("accumulate", "add"): np.cumsum,
    ("accumulate", "multiply"): np.cumprod,
}  # fmt: skip
#: the rows of ``accumulate``
RUNNING = {"maximum": "running_max", "minimum": "running_min"}


def ufunc_method(ctx: Lowering, ufunc: np.ufunc, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``np.add.at``, ``np.add.reduce`` and their like."""
    if (said := SAID.get((name, ufunc.__name__))) is not None:
        if len(args) == 1 and "axis" not in kwargs:
            kwargs = {**kwargs, "axis": Num(Const(0))}
        return ctx.apply(Static(said, name), args, kwargs, node)
    if name == "at" and ufunc.__name__ in ("add", "subtract") and isinstance(args[0], Ref) and len(args) == 3:
        return add_at(ctx, args[0], args[1], args[2], ufunc.__name__ == "subtract", node)
    if name == "at" and len(args) == 3 and not kwargs and isinstance(args[0], Ref) and not isinstance(args[1], Tup):
        return call_function(ctx, at_each, [Static(ufunc, f"np.{ufunc.__name__}"), *args], {}, node)
    if name == "accumulate" and ufunc.__name__ in RUNNING and len(args) + len(kwargs) <= 2 and set(kwargs) <= {"axis"}:
        axis = unwrap(args[1] if len(args) > 1 else kwargs.get("axis", Num(Const(0))))
        return apply_row(ctx, RUNNING[ufunc.__name__], args[:1], {"axis": axis}, node)
    if name == "reduceat" and ufunc.__name__ == "add" and 2 <= len(args) <= 3 and set(kwargs) <= {"axis"}:
        axis = unwrap(args[2] if len(args) > 2 else kwargs.get("axis", Num(Const(0))))
        return apply_row(ctx, "sum_from", args[:2], {"axis": axis}, node)
    if name == "reduce" and ufunc.__name__ == "logaddexp":
        return call_function(ctx, logaddexp_reduce, args, kwargs, node)
    if name == "outer" and len(args) == 2 and not kwargs:
        return call_function(ctx, outer_of, [Static(ufunc, f"np.{ufunc.__name__}"), *args], {}, node)
    return opaque(ctx, getattr(ufunc, name), f"np.{ufunc.__name__}.{name}", args, kwargs, node)


def add_at(ctx: Lowering, target: Ref, index: Binding, value: Binding, negative: bool, node: ast.AST) -> Binding:
    """``np.add.at``: repeated cells add up."""
    letters, operands = "", []
    for item in index.items if isinstance(index, Tup) else [index]:
        letter, values = index_item(ctx, item, node)
        letters += letter
        operands += values
    target, places = bools_as_masks(ctx, target, Index(letters, tuple(operands), ()))
    path = (*target.path, places.step)
    amount = ctx.read(value, node)
    if negative:
        amount = ctx.call("negative", amount)
    ctx.check_fresh(target)
    base = ctx.state.memory[target.location]
    made = ctx.call("add_at", base, amount, *[o for s in path for o in s.operands], index=spelled(path), hint=target.location.name)
    ctx.replace_version(target.location, made)
    return Static(None)
