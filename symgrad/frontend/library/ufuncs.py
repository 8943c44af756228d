"""NumPy's universal functions: their methods (``np.add.at``, ``np.add.reduce`` and the like) and their argument ``out``."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from symgrad.errors import UnsupportedArgument
from symgrad.frontend.calls.declared import call_function
from symgrad.frontend.calls.rows import apply_row
from symgrad.frontend.flow.aliases import of_each
from symgrad.frontend.memory.loads import Index, bools_as_masks, index_item
from symgrad.frontend.memory.stores import check_cast
from symgrad.frontend.objects.opaque import opaque
from symgrad.frontend.objects.operands import unwrap
from symgrad.frontend.objects.reading import root_of
from symgrad.frontend.state.bindings import Binding, Num, Ref, Static, Step, Tup
from symgrad.frontend.state.context import Lowering
from symgrad.frontend.state.conversions import spelled
from symgrad.ir.core import Const
from symgrad.ops.composed.applying import accumulated_by, at_each, logaddexp_reduce, outer_of, reduced_at, reduced_by
from symgrad.ops.shapes import dtype_of, rank_of

#: methods of ufuncs that equal a function, except for the axis, which defaults to 0
SAID: dict[tuple[str, str], Callable[..., object]] = {
    ("reduce", "add"): np.sum,
    ("reduce", "multiply"): np.prod,
    ("reduce", "maximum"): np.max,
    ("reduce", "minimum"): np.min,
    ("reduce", "logical_and"): np.all,
    ("reduce", "logical_or"): np.any,
    ("reduce", "logaddexp"): logaddexp_reduce,
    ("accumulate", "add"): np.cumsum,
    ("accumulate", "multiply"): np.cumprod,
}
#: those functions that take a dtype
TYPED = (np.sum, np.prod, np.cumsum, np.cumprod, logaddexp_reduce)
#: the rows of ``accumulate`` and ``reduceat``
RUNNING = {("accumulate", "maximum"): "running_max", ("accumulate", "minimum"): "running_min", ("reduceat", "add"): "sum_from"}
#: the parameters of the methods in NumPy's order; the functions above may have another order
PARAMETERS: dict[str, tuple[str, ...]] = {
    "reduce": tuple("array axis dtype out keepdims initial where".split()),
    "accumulate": ("array", "axis", "dtype", "out"),
    "reduceat": ("array", "indices", "axis", "dtype", "out"),
}
#: the parameters that are arrays
OPERANDS = ("array", "indices")
#: ufuncs that may reduce several axes at once, besides those with an identity
REORDERED = ("maximum", "minimum", "fmax", "fmin")
#: ufuncs whose ``reduce`` along a contiguous axis is not sequential: NumPy's own result depends on the layout
BY_LAYOUT = ("power", "arctan2")
#: the methods of every other ufunc
IN_TURN: dict[str, Callable[..., object]] = {"reduce": reduced_by, "accumulate": accumulated_by, "reduceat": reduced_at}


def ufunc_method(ctx: Lowering, ufunc: np.ufunc, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``np.add.at``, ``np.add.reduce`` and the like."""
    if name == "at" and not kwargs and len(args) == ufunc.nin + 1 and isinstance(args[0], Ref):
        if ufunc.__name__ in ("add", "subtract"):
            return add_at(ctx, args[0], args[1], args[2], ufunc.__name__ == "subtract", node)
        return call_function(ctx, at_each, [Static(ufunc, f"np.{ufunc.__name__}"), *args], {}, node)
    if name == "outer" and len(args) == 2 and not kwargs:
        return call_function(ctx, outer_of, [Static(ufunc, f"np.{ufunc.__name__}"), *args], {}, node)
    if name in PARAMETERS and ufunc.nin == 2 and len(args) <= len(PARAMETERS[name]):
        return along_axes(ctx, ufunc, name, {**dict(zip(PARAMETERS[name], args, strict=False)), **kwargs}, node)
    return opaque(ctx, getattr(ufunc, name), f"np.{ufunc.__name__}.{name}", args, kwargs, node)


def along_axes(ctx: Lowering, ufunc: np.ufunc, name: str, arguments: dict[str, Binding], node: ast.AST) -> Binding:
    """A method that runs along an axis, with its arguments by name."""
    key = (name, ufunc.__name__)
    arrays = [arguments[word] for word in OPERANDS if word in arguments]
    if name != "reduce" and arrays and rank_of(ctx.type_of(arrays[0])) == 0:
        raise UnsupportedArgument(f"{name} of a ufunc takes arrays that have axes", ctx.loc(node), "make it an array, with np.atleast_1d")
    said = {word: bound for word, bound in arguments.items() if word not in OPERANDS}
    settings = {word: bound for word, bound in said.items() if not (isinstance(bound, Static) and bound.value is None and word != "axis")}
    settings = {"axis": Num(Const(0)), **settings}
    if key in SAID and (SAID[key] in TYPED or "dtype" not in settings):
        return ctx.apply(Static(SAID[key], name), arrays, settings, node)
    if key in RUNNING and set(settings) == {"axis"}:
        return apply_row(ctx, RUNNING[key], arrays, {"axis": unwrap(settings["axis"])}, node)
    if ufunc.__name__ in BY_LAYOUT and name != "accumulate":
        return opaque(ctx, getattr(ufunc, name), f"np.{ufunc.__name__}.{name}", arrays, said, node)
    if name == "reduce":
        settings["identity"] = Static(ufunc.identity)
        settings["reorders"] = Static(ufunc.identity is not None or ufunc.__name__ in REORDERED)
    return call_function(ctx, IN_TURN[name], [Static(ufunc, f"np.{ufunc.__name__}"), *arrays], settings, node)


def add_at(ctx: Lowering, target: Ref, index: Binding, value: Binding, negative: bool, node: ast.AST) -> Binding:
    """``np.add.at``: repeated cells add up."""
    if target.location in ctx.state.bases:
        return of_each(ctx, target, lambda array: add_at(ctx, cast("Ref", array), index, value, negative, node), node)
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
    ctx.check_writable(target)
    base = ctx.state.memory[target.location]
    version = ctx.call("add_at", base, amount, *[o for s in path for o in s.operands], index=spelled(path), hint=target.location.name)
    ctx.replace_version(target.location, version)
    return Static(None)


def is_of_numpys(value: Any) -> bool:
    """Whether ``out`` means in a call of it what it means in NumPy: the array that receives the result and is returned."""
    owner = value.__self__ if isinstance(value, types.BuiltinMethodType) else None
    of_library = root_of(value) in ("numpy", "scipy") and not isinstance(value, np.vectorize)
    return of_library or isinstance(value, np.ufunc) or isinstance(owner, np.ufunc)


#: a one that preserves the dtype of an array, by the first letter of the dtype
ONES: dict[str, bool | int | float] = {"b": True, "i": 1, "u": 1}


def masked_ufunc(ctx: Lowering, value: Any, name: str, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding:
    """``np.divide(x, y, out=z, where=mask)``: elsewhere the operands are ones, and nothing is written."""
    out, mask = cast("Ref", kwargs.pop("out")), kwargs.pop("where")
    ones = [Num(Const(ONES.get((dtype_of(ctx.type_of(a)) or "f")[0], 1.0))) for a in args]
    safe = [ctx.apply(Static(np.where, "np.where"), [mask, a, one], {}, node) for a, one in zip(args, ones, strict=True)]
    result = ctx.apply(Static(value, name), safe, kwargs, node)
    check_cast(ctx, ctx.type_of(out), ctx.read(result, node), node)
    kept = ctx.apply(Static(np.where, "np.where"), [mask, result, out], {}, node)
    ctx.store(out, ctx.read(kept, node), None if out.path else Step("e"))
    return out
