"""Differential equations that SciPy solves: the arguments of ``solve_ivp`` and ``odeint``, and the states as differentiable values."""

from __future__ import annotations

from typing import Any

import numpy as np

from symgrad.frontend.library.solving import NUMBER, Enclosed, Solving, items_of
from symgrad.frontend.state.bindings import Binding, Num, Static, Tup, is_none
from symgrad.ir.core import NONE, ONE, TRUE, ZERO, Const, Operand, Value
from symgrad.ir.types import Array, Dim, Scalar, is_float
from symgrad.ops.composed.equations import swapped_rate_of, vector_of

#: keywords of ``solve_ivp`` and ``odeint`` that also apply to the computation of the sensitivities
KEPT = {
    "solve_ivp": ("method", "rtol", "atol", "max_step", "min_step", "first_step"),
    "odeint": ("rtol", "atol", "tcrit", "h0", "hmax", "hmin", "mxstep", "mxhnil", "mxordn", "mxords"),
}


def of_solve_ivp(solving: Solving) -> Binding:
    """``solve_ivp``: an object whose attributes ``t`` and ``y`` have derivatives."""
    ctx = solving.ctx
    solving.check_absent("events", hint="find the time of the event with brentq, as a root of the solution at that time")
    for word, hint in (("dense_output", "name the times as t_eval="), ("vectorized", "leave it out: it affects the speed only")):
        if solving.known(word, False):
            raise solving.refuse(f"{word}=True is not supported where a derivative is taken", hint)
    span = items_of(solving, solving.bound["t_span"])
    if span is None or len(span) != 2:
        raise solving.refuse("t_span= must be a pair where a derivative is taken", "t_span=(t0, t1)")
    start, end = (as_float(solving, item) for item in span)
    initial, type_ = vector(solving, "y0")
    written = solving.as_written("fun", [("t", NUMBER), ("y", type_)], "rate")
    equation = canonical(solving, "fun", type_, written, vector_of)
    result = solving.call({"fun": written, **solving.derivatives_of_rate("jac", [("t", NUMBER), ("y", type_)])}, hint="result")
    own = ctx.builder.freshen(Array("f64", (Dim("?"),), "C"))
    assert isinstance(own, Array)
    assert own.shape is not None
    assert type_.shape is not None
    times = times_of(solving, solving.part(result, "t", own, "t"), start, end)
    states = solving.part(result, "y", Array("f64", (type_.shape[0], own.shape[0]), "?"), "y")
    valid = ctx.call("convergence", solving.part(result, "success"), solving.part(result, "message"))
    y = trajectory(solving, [states, valid, start, times, initial], equation)
    absent = dict.fromkeys(("sol", "t_events", "y_events"), Static(None))
    return solving.record(result, {"t": ctx.make(times), "y": ctx.make(y), **absent})


def times_of(solving: Solving, raw: Value, start: Operand, end: Operand) -> Operand:
    """The times of the states; the times that the program names are differentiable."""
    ctx, node = solving.ctx, solving.node
    named = solving.bound.get("t_eval", Static(None))
    if not is_none(named):
        whole = ctx.read(ctx.apply(Static(np.asarray, "np.asarray"), [named], {}, node), node)
        if not is_float(whole.type):
            return raw
        return ctx.call("view", whole, NONE, ctx.call("extent", raw, axis=0), NONE, index="s")
    if not isinstance(start, Value) and not isinstance(end, Value):
        return raw
    between = ctx.call("view", raw, ONE, Const(-1), NONE, index="s")
    ends = [ctx.call("array_of", ctx.call("list_of", time)) for time in (start, end)]
    joined = ctx.call("concatenate", ends[0], between, ends[1])
    return ctx.call("reshape", joined, ctx.call("shape_of", raw))


def of_odeint(solving: Solving) -> Binding:
    """``odeint``: the differentiable states, in rows, and with ``full_output`` the solver's report."""
    ctx = solving.ctx
    initial, type_ = vector(solving, "y0")
    times, own = vector(solving, "t")
    assert own.shape is not None
    assert type_.shape is not None
    time_first = bool(solving.known("tfirst", False))
    unknowns: list[tuple[str, Any]] = [("t", NUMBER), ("y", type_)] if time_first else [("y", type_), ("t", NUMBER)]
    written = solving.as_written("func", unknowns, "rate")
    equation = canonical(solving, "func", type_, written if time_first else None, vector_of if time_first else swapped_rate_of)
    functions = {"func": written, **solving.derivatives_of_rate("Dfun", unknowns)}
    result = solving.call(functions, {"full_output": Num(TRUE)}, hint="result")
    rows = solving.part(result, 0, Array("f64", (own.shape[0], type_.shape[0]), "C"), "y")
    report = solving.part(result, 1)
    start = ctx.call("take", times, ZERO, index="i")
    y = trajectory(solving, [ctx.call("transpose", rows), ctx.call("reached", report), start, times, initial], equation)
    states = ctx.make(ctx.call("transpose", y))
    return Tup((states, Num(report))) if solving.known("full_output", 0) else states


def trajectory(solving: Solving, operands: list[Operand], equation: Enclosed) -> Value:
    """The states as the solution of an equation."""
    words = tuple(word for word in KEPT[solving.name] if word in solving.bound)
    for word in ("rtol", "atol"):
        if word in words and not isinstance(solving.ctx.type_of(solving.bound[word]), Scalar):
            raise solving.refuse(f"{word}= must be one number where a derivative is taken", "pass the smallest of them")
    options = solving.settings(words)
    return solving.ctx.call("trajectory", *operands, *options, *equation.held, func=equation.func, solver=solving.name, words=words)


def canonical(solving: Solving, word: str, type_: Array, written: Enclosed | None, said: Any) -> Enclosed:
    """The user's function as a function of time and state that returns a vector."""
    if written is not None:
        (rate,) = written.func.body.yields
        if isinstance(rate.type, Array) and rate.type.rank == 1:
            return written
    of = solving.bound[word]
    unknowns: list[tuple[str, Any]] = [("t", NUMBER), ("y", type_)]
    return solving.enclosed(Static(said), unknowns, solving.spoken(of, "rate"), lambda v: [solving.ctx.read(v, solving.node)], [of])


def vector(solving: Solving, word: str) -> tuple[Operand, Array]:
    """An argument as a vector of floats, and its type."""
    ctx, node = solving.ctx, solving.node
    held = solving.bound[word]
    for function in (np.asarray, np.atleast_1d):
        held = ctx.apply(Static(function, f"np.{function.__name__}"), [held], {}, node)
    operand = ctx.read(held, node)
    type_ = operand.type
    if not isinstance(type_, Array) or type_.rank != 1 or type_.kind == "complex":
        raise solving.refuse(f"{word}= must be a real number or vector where a derivative is taken", "ravel it")
    if type_.dtype != "f64":
        operand = ctx.call("cast", operand, dtype="f64")
    return operand, Array("f64", type_.shape, "C")


def as_float(solving: Solving, held: Binding) -> Operand:
    """A time as a float."""
    operand = solving.ctx.read(held, solving.node)
    if isinstance(operand, Const):
        return Const(float(operand.value))
    if not isinstance(operand.type, Scalar) or operand.type.kind not in ("int", "float"):
        raise solving.refuse("a time must be a real number where a derivative is taken", "call float")
    return operand if operand.type.kind == "float" else solving.ctx.call("number", operand, kind="float")


__all__ = ["of_odeint", "of_solve_ivp"]
