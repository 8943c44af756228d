"""Functions of samples of ``scipy.stats`` behind a decorator for axes and nan: of vectors without nan, the function in it is called."""

from __future__ import annotations

import ast
import inspect
import types
from functools import cache
from typing import Any

import numpy as np

from symgrad.frontend.calls.declared import call_function
from symgrad.frontend.objects.operands import known_value
from symgrad.frontend.state.bindings import Binding, Num, Static
from symgrad.frontend.state.context import Lowering
from symgrad.ir.core import Const
from symgrad.ops.composed.samples import sample_of

#: the names of SciPy's wrapper, and of its variables: the number of samples, of parameters that are samples too, the test of sizes,
#: and the axis of calls without one
WRAPPER, COUNT, FURTHER, TOO_SMALL, AXIS = "axis_nan_policy_wrapper", "n_samples", "kwd_samples", "is_too_small", "default_axis"
#: the argument by which SciPy calls its own functions without the decorator
UNDECORATED = "_no_deco"
#: more elements than any function of samples needs
ENOUGH = 16


@cache
def parts(value: Any) -> dict[str, Any] | None:
    """The variables of SciPy's wrapper, with the function in it; None for any other function."""
    function = getattr(value, "__wrapped__", None)
    if not isinstance(value, types.FunctionType) or value.__code__.co_name != WRAPPER or not isinstance(function, types.FunctionType):
        return None
    held = inspect.getclosurevars(value).nonlocals
    return {**held, WRAPPER: function} if {COUNT, FURTHER, TOO_SMALL, AXIS} <= held.keys() else None


def fewest_of(is_too_small: Any, count: int) -> int | None:
    """The least number of elements of a sample from which on no sample is too small; None where that is not known."""
    try:
        small = [k for k in range(ENOUGH) if is_too_small([np.zeros(k)] * count, {})]
    except Exception:  # it asks for arguments of the call
        return None
    return len(small) if small == list(range(len(small))) and len(small) < ENOUGH else None


def call_of_samples(ctx: Lowering, value: Any, args: list[Binding], kwargs: dict[str, Binding], node: ast.AST) -> Binding | None:
    """A call of such a function of vectors; None for other functions and forms of calls."""
    held = parts(value)
    if held is None or callable(held[COUNT]) or not args:
        return None
    if known_value(kwargs.get(UNDECORATED, Static(None))) == [True]:
        return ctx.apply(Static(held[WRAPPER]), args, {name: argument for name, argument in kwargs.items() if name != UNDECORATED}, node)
    function, count = held[WRAPPER], held[COUNT] or len(args)
    settings = {name: known_value(kwargs[name]) for name in ("axis", "nan_policy", "keepdims") if name in kwargs}
    words = [*inspect.signature(function).parameters]
    if settings.get("nan_policy", ["propagate"]) != ["propagate"] or settings.get("keepdims", [False]) != [False] or len(args) < count:
        return None
    named = {**dict(zip(words, args, strict=False)), **kwargs}
    if any(name in held[FURTHER] and known_value(argument) != [None] for name, argument in named.items()):
        return None
    axis, fewest = settings.get("axis", [held[AXIS]]), fewest_of(held[TOO_SMALL], count)
    if "axis" in words[count : len(args)] or axis not in ([None], [0], [-1]) or fewest is None:
        return None
    shown = [Num(Const(axis[0])), Num(Const(fewest))]
    samples = [call_function(ctx, sample_of, [sample, *shown], {}, node) for sample in args[:count]]
    handed_on = {name: argument for name, argument in kwargs.items() if name not in ("axis", "nan_policy", "keepdims")}
    return call_function(ctx, function, [*samples, *args[count:]], handed_on, node)


__all__ = ["UNDECORATED", "call_of_samples", "parts"]
