"""Derivatives of solutions of differential equations, by sensitivity equations or by the adjoint equation, as calls of the same solver.

Where ``dy/dt = f(t, y, a)``, the matrix ``s = dy/da`` solves ``ds/dt = df/dy s + df/da`` beside ``y``. ``dy/dy0`` solves the same
equation without the last term, from the unit matrix (Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, section
I.14). Where these are many numbers the adjoint equation is solved instead (``runtime/trajectories.py``); its result has a derivative of
its own, of the row ``weighted_sensitivity`` (``tangent/trajectories.py``). The derivative of the solution with respect to the time at
which it is read is ``f``, that with respect to the start time is ``-dy/dy0 f``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from symgrad.adjoint.calling import as_seed, called, check_unmoved, inline, options_of, scaled
from symgrad.adjoint.matrices.jacobian import jacobian
from symgrad.adjoint.reversals.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.errors import NoDerivative
from symgrad.ir.core import NONE, ZERO, Block, Call, Const, For, Func, Operand, Value
from symgrad.ir.types import INT, Array, Dim, Scalar
from symgrad.ops.build import Builder, symbols
from symgrad.runtime.trajectories import solution_cotangents

#: positions of the operands that the equation does not read: the start, the times, the initial value
START, TIMES, INITIAL = -3, -2, -1
#: up to this number, sensitivities take less time than the adjoint equation
FEW = 4
#: the settings of ``solve_ivp`` that reproduce the defaults of ``odeint``
ODEINT = {"method": Const("LSODA"), "rtol": Const(1.49012e-8), "atol": Const(1.49012e-8)}


def of_trajectory(builder: Builder, op: Call, args: list[Operand], positions: Sequence[int]) -> list[Operand]:
    """The cotangents of the start, the times, the initial value, and of the equation's operands other than time and state."""
    check_unmoved(op, positions)
    seed, out, valid, start, times, initial = args[:6]
    options, rest = options_of(op, args[6:])
    moved = Moved(builder, op, scaled(builder, seed, valid), out, [start, times, initial], rest, options)
    places = [k if k < 0 else k - len(options) for k in positions]
    columns = [k for k, place in zip(places, positions, strict=True) if place >= 0 <= k]
    if START in positions or INITIAL in positions:
        columns = [INITIAL, *columns]
    for k in columns:
        check_known(moved.column(k), op)
    compute = moved.by_cotangents if moved.is_counted(columns) else moved.by_sensitivities
    computed = compute(columns) if columns else []
    cotangents = {k: as_seed(builder, value, moved.column(k)) for k, value in zip(columns, computed, strict=True)}
    if START in positions:
        (rate,) = inline(builder, op.settings["func"], [start, initial, *moved.rest])
        product = builder.call("multiply", cotangents[INITIAL], rate)
        cotangents[START] = builder.call("negative", builder.call("sum", product))
    if TIMES in positions:
        cotangents[TIMES] = moved.by_rates()
    return [Const(0.0) if place >= 0 > k else cotangents[k] for k, place in zip(places, positions, strict=True)]  # settings have none


@dataclass(slots=True)
class Moved:
    """One solution, and its cotangent to pull back: matrices with a column for each time."""

    builder: Builder
    op: Call
    seed: Operand
    out: Operand
    start: list[Operand]  #: the start, the times, and the initial value
    rest: list[Operand]
    options: dict[str, Operand]
    rate: Func = field(init=False)

    def __post_init__(self) -> None:
        self.rate = self.op.settings["func"]

    # ---------------------------------------------------------------- initial value and operands of the equation

    def by_sensitivities(self, columns: list[int]) -> list[Operand]:
        """The cotangents of the initial value, or of values that the equation reads, by sensitivities forwards in time."""
        call, initial = self.builder.call, self.start[2]
        size = call("extent", initial, axis=0)
        rate = sensitivity_rate(self.rate, columns, self.builder.taken)
        parts: list[Operand] = [initial]
        for k in columns:
            parts.append(call("ravel", call("eye", size, NONE)) if k < 0 else call("zeros", self.length(size, k), dtype="f64"))
        whole = self.solved(rate, call("concatenate", *parts), [*self.rest, size])
        cotangents: list[Operand] = []
        first: Operand = size
        for k in columns:
            last = call("add", first, self.length(size, k))
            block = call("view", whole, first, last, NONE, index="s")
            cotangents.append(self.contracted(block, size, k))
            first = last
        return cotangents

    def length(self, size: Value, column: int) -> Value:
        """The number of sensitivities to one value."""
        if column < 0:
            return self.builder.call("multiply", size, size)
        value = self.rest[column]
        return size if isinstance(value.type, Scalar) else self.builder.call("multiply", size, self.builder.call("size", value))

    def column(self, place: int) -> Operand:
        """The value of a column: the initial value (-1), or one that the equation reads."""
        return self.start[2] if place < 0 else self.rest[place]

    def contracted(self, block: Value, size: Value, column: int) -> Value:
        """The sum over states and times of the cotangent times the sensitivities to one value."""
        call = self.builder.call
        value = self.column(column)
        if isinstance(value.type, Scalar):
            return call("sum", call("multiply", self.seed, block))
        count = call("extent", self.seed, axis=1)
        cube = call("reshape", block, size, Const(-1), count)
        product = call("multiply", call("reshape", self.seed, size, Const(1), count), cube)
        return call("reshape", call("sum", product, axis=(0, 2)), call("shape_of", value))

    def solved(self, rate: Func, initial: Value, rest: list[Operand]) -> Value:
        """The solution of another equation from the same start at the same times, differentiable itself."""
        call, settings = self.builder.call, self.op.settings
        start, times = self.start[:2]
        assert isinstance(times.type, Array)
        type_ = self.builder.freshen(Array("f64", (Dim("?"), times.type.shape[0] if times.type.shape else Dim("?")), "?"))
        if settings["solver"] == "odeint":
            result = called(self.builder, "odeint", rate, [initial, times], rest, {"tfirst": True, **self.options})
            assert isinstance(type_, Array)
            assert type_.shape is not None
            raw = call("transpose", call("solved", result, part=None, type=Array("f64", type_.shape[::-1], "C")))
        else:
            span = call("opaque_pure", Const(tuple, "tuple"), call("list_of", start, self.last()), names=())
            result = called(self.builder, "solve_ivp", rate, [span, initial], rest, {"t_eval": times, **self.within()})
            raw = call("states_reached", result, initial, times, type=type_)
        return call(
            "trajectory",
            raw,
            Const(1.0),
            start,
            times,
            initial,
            *self.options.values(),
            *rest,
            func=rate,
            solver=settings["solver"],
            words=tuple(self.options),
            sensitivity=settings["sensitivity"],
        )

    def within(self) -> dict[str, Operand]:
        """The settings, with a first step that ends before the last time."""
        first = self.options.get("first_step")
        if first is None or not isinstance(first.type, Scalar):
            return self.options
        call = self.builder.call
        return {**self.options, "first_step": call("minimum", first, call("abs", call("subtract", self.last(), self.start[0])))}

    def last(self) -> Value:
        """The last time."""
        return self.builder.call("take", self.start[1], Const(-1), index="i")

    # ---------------------------------------------------------------- the same by the adjoint equation

    def is_counted(self, columns: list[int]) -> bool:
        """Whether the method is chosen at run time, by the number of sensitivities; a few are always solved for forwards."""
        sensitivity = self.op.settings["sensitivity"]
        is_followed = self.op.settings["solver"] == "solve_ivp" or set(self.options) <= {"rtol", "atol"}  # solve_ivp has no others
        if sensitivity != "auto" or not is_followed:
            return bool(sensitivity == "adjoint")  # of symgrad.implicit, whose odeint takes no others
        counts = [count_of(self.column(k)) for k in columns]
        return None in counts or sum(count or 0 for count in counts) > FEW

    def by_cotangents(self, columns: list[int]) -> list[Operand]:
        """The cotangents of the initial value, or of values that the equation reads, as the runtime computes them."""
        call, settings, initial = self.builder.call, self.op.settings, self.start[2]
        read = [k for k in columns if k >= 0]
        written = [self.rate, weighted_rate(self.rate, read, self.builder.taken), whole_jacobian(self.rate, read, self.builder.taken)]
        solve_ivp = Const(sys.modules["scipy.integrate"].solve_ivp, "solve_ivp")
        functions = [solve_ivp, *(Const(func, func.name) for func in written)]
        options = dict(self.options) if settings["solver"] == "solve_ivp" else {**ODEINT, **self.options}
        if settings["sensitivity"] == "adjoint":
            options["is_adjoint"] = Const(True)
        value = handed(self.builder, solution_cotangents, [*functions, self.seed, *self.start], self.rest, options)
        whole = call(
            "weighted_sensitivity",
            value,
            self.seed,
            *self.start,
            *self.options.values(),
            *self.rest,
            columns=tuple(read),
            **{word: settings[word] for word in ("func", "solver", "words", "sensitivity")},
        )
        parts = parted(self.builder, whole, [initial, *(self.rest[k] for k in read)])
        return parts if INITIAL in columns else parts[1:]

    # ---------------------------------------------------------------- the times

    def by_rates(self) -> Value:
        """The cotangents of the times: at each, the rate of the solution times its cotangent."""
        builder, times = self.builder, self.start[1]
        count = builder.call("extent", times, axis=0)
        total = builder.call("zeros", count, dtype="f64")
        index = Value(INT, "k")
        body = Block([index, Value(total.type, "times_grad")])
        with builder.inside(body):
            time = builder.call("take", times, index, index="i")
            state, weight = (builder.call("take", matrix, NONE, NONE, NONE, index, index="si") for matrix in (self.out, self.seed))
            (rate,) = inline(builder, self.rate, [time, state, *self.rest])
            slope = builder.call("sum", builder.call("multiply", weight, rate))
            body.yields = [builder.call("set_at", body.args[1], slope, index, hint="times_grad", index="i")]
        out = Value(total.type, "times_grad")
        builder.append(For([out], self.op.loc, ZERO, count, Const(1), [total], body))
        return out


def check_known(value: Operand, op: Call) -> None:
    """Refuse sensitivities to anything but numbers and arrays of known rank."""
    if not isinstance(value.type, Scalar) and not (isinstance(value.type, Array) and value.type.shape is not None):
        what = f"the sensitivity of a differential equation to a value of type {value.type}"
        raise NoDerivative(what, op.loc, "pass it numbers, and arrays of known rank")


def count_of(value: Operand) -> int | None:
    """The number of elements of a value; None where its type does not determine it."""
    shape = value.type.shape if isinstance(value.type, Array) else ()
    return None if shape is None or not all(isinstance(extent, int) for extent in shape) else math.prod(shape)  # type: ignore[arg-type]


def handed(builder: Builder, function: Any, leading: Sequence[Operand], rest: Sequence[Operand], options: Mapping[str, Operand]) -> Value:
    """Emit a call of a runtime function that returns a vector; ``leading`` are the solver and functions, ``rest`` becomes ``args``."""
    named = dict(options)
    if rest:
        named["args"] = builder.call("opaque_pure", Const(tuple, "tuple"), builder.call("list_of", *rest), names=())
    type_ = builder.freshen(Array("f64", (Dim("?"),), "C"))
    return builder.call(
        "solver", Const(function, function.__name__), *leading, *named.values(), names=tuple(named), type=type_, hint="cotangents"
    )


def parted(builder: Builder, vector: Operand, like: Sequence[Operand]) -> list[Operand]:
    """The consecutive parts of a vector, in the forms of some values, each in memory of its own."""
    call = builder.call
    parts: list[Operand] = []
    first: Operand = ZERO
    for value in like:
        if isinstance(value.type, Scalar):
            parts.append(call("take", vector, first, index="i"))
            first = call("add", first, Const(1))
        else:
            last = call("add", first, call("size", value))
            parts.append(call("reshape", call("take", vector, first, last, NONE, index="s"), call("shape_of", value)))
            first = last
    return parts


def weighted_rate(rate: Func, columns: list[int], taken: set[str]) -> Func:
    """The pullback of the rate: the cotangent of the state, then those of the values that the equation reads, as one vector."""
    taken |= symbols(rate)
    pulled = gradient(rate, [1, *(2 + k for k in columns)], value=False, seeds=True, taken=taken)
    builder = Builder(Block(), rate.loc, taken=taken)
    time, state, *rest = (Value(v.type, v.name) for v in rate.params)
    weights = Value(builder.freshen(Array("f64", (Dim("?"),), "C")), "weights")
    builder.block.args = [time, state, weights, *rest]
    cotangents = inline(builder, pulled, [time, state, *rest, as_seed(builder, weights, pulled.params[-1])])
    call = builder.call
    flat = [call("array_of", call("list_of", v)) if isinstance(v.type, Scalar) else call("ravel", v) for v in cotangents]
    builder.block.yields = [call("concatenate", *flat)]
    return expanded(Func(f"{rate.name}_pullback", builder.block, ["out"], rate.loc), taken)


def whole_jacobian(rate: Func, columns: list[int], taken: set[str]) -> Func:
    """The Jacobians of the rate with respect to the state, then to the values that the equation reads, side by side in one matrix."""
    taken |= symbols(rate)
    builder = Builder(Block([Value(v.type, v.name) for v in rate.params]), rate.loc, taken=taken)
    _, *matrices = inline(builder, jacobian(rate, [1, *(2 + k for k in columns)], [0], taken=taken), builder.block.args)
    size = builder.call("extent", builder.block.args[1], axis=0)
    flat = [builder.call("reshape", matrix, size, Const(-1)) for matrix in matrices]
    builder.block.yields = [builder.call("concatenate", *flat, axis=1)]
    return expanded(Func(f"{rate.name}_jacobian", builder.block, ["out"], rate.loc), taken)


def sensitivity_rate(rate: Func, columns: list[int], taken: set[str]) -> Func:
    """The rate of the state followed by its sensitivities; its last parameter is the size of the state."""
    taken |= symbols(rate)
    builder = Builder(Block(), rate.loc, taken=taken)
    call = builder.call
    time, stacked = Value(rate.params[0].type, "t"), Value(builder.freshen(Array("f64", (Dim("?"),), "C")), "z")
    rest, size = [Value(v.type, v.name) for v in rate.params[2:]], Value(INT, "size")
    builder.block.args = [time, stacked, *rest, size]
    state = call("view", stacked, NONE, size, NONE, index="s", hint="y")
    wrt = [1, *(2 + k for k in columns if k >= 0)]
    slope, matrix, *forces = inline(builder, jacobian(rate, wrt, [0], taken=builder.taken), [time, state, *rest])
    parts: list[Operand] = [slope]
    first: Operand = size
    for k in columns:
        scalar = k >= 0 and isinstance(rest[k].type, Scalar)
        length = size if scalar else call("multiply", size, size if k < 0 else call("size", rest[k]))
        last = call("add", first, length)
        block = call("view", stacked, first, last, NONE, index="s")
        change = call("matmul", matrix, block if scalar else call("reshape", block, size, Const(-1)))
        if k >= 0:
            force = forces.pop(0)
            change = call("add", change, force if scalar else call("reshape", force, size, Const(-1)))
        parts.append(change if scalar else call("ravel", change))
        first = last
    builder.block.yields = [call("concatenate", *parts)]
    return expanded(Func(f"{rate.name}_sensitivity", builder.block, ["out"], rate.loc), taken)


__all__ = ["INITIAL", "START", "TIMES", "Moved", "of_trajectory", "parted"]
