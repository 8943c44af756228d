"""Derivatives of ODE solutions by their sensitivity equations, as calls of the same solver.

Where ``dy/dt = f(t, y, a)``, the matrix ``s = dy/da`` solves ``ds/dt = df/dy s + df/da``; ``dy/dy0`` solves the
same without the last term, from the identity matrix (Hairer, Norsett and Wanner, Solving Ordinary Differential
Equations I, section I.14). They are integrated together with ``y``, forwards in time, to the same tolerances:
no step goes backwards, so stiff systems stay stable. The derivative by the read time is ``f``, by the start
time ``-dy/dy0 f``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from symgrad.adjoint.calling import called, check_unmoved, options_of, put, scaled
from symgrad.adjoint.custom import expanded
from symgrad.adjoint.jacobian import jacobian
from symgrad.errors import NoDerivative
from symgrad.ir.core import NONE, ZERO, Block, Call, Const, For, Func, Operand, Value
from symgrad.ir.types import INT, Array, Dim, Scalar
from symgrad.ops.build import Builder, symbols

#: positions of the operands that the equation does not read: the start, the times, the initial value
START, TIMES, INITIAL = -3, -2, -1


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
    cotangents: dict[int, Operand] = dict(zip(columns, moved.by_sensitivities(columns) if columns else [], strict=True))
    if START in positions:
        (rate,) = put(builder, op.settings["func"], [start, initial, *moved.rest])
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
        """The cotangents of the initial value, or of the equation's operands."""
        for k in columns:
            check_known(self.rest[k] if k >= 0 else self.start[2], self.op)
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

    def contracted(self, block: Value, size: Value, column: int) -> Value:
        """The sum over states and times of the cotangent times the sensitivities to one value."""
        call = self.builder.call
        value = self.start[2] if column < 0 else self.rest[column]
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
            result = called(self.builder, "solve_ivp", rate, [span, initial], rest, {"t_eval": times, **self.options})
            raw = call("solved", result, part="y", type=type_)
        return call("trajectory", raw, Const(1.0), start, times, initial, *self.options.values(), *rest, func=rate,
                    solver=settings["solver"], words=tuple(self.options))  # fmt: skip

    def last(self) -> Value:
        """The last time."""
        return self.builder.call("take", self.start[1], Const(-1), index="i")

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
            (rate,) = put(builder, self.rate, [time, state, *self.rest])
            slope = builder.call("sum", builder.call("multiply", weight, rate))
            body.yields = [builder.call("set_at", body.args[1], slope, index, hint="times_grad", index="i")]
        out = Value(total.type, "times_grad")
        builder.append(For([out], self.op.loc, ZERO, count, Const(1), [total], body))
        return out


def check_known(value: Operand, op: Call) -> None:
    """Refuse sensitivities to anything but numbers and arrays of known rank."""
    if not isinstance(value.type, Scalar) and not (isinstance(value.type, Array) and value.type.shape is not None):
        what = f"the sensitivity of a differential equation to what is {value.type}"
        raise NoDerivative(what, op.loc, "hand it numbers, and arrays whose rank is known")


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
    slope, matrix, *forces = put(builder, jacobian(rate, wrt, [0], taken=builder.taken), [time, state, *rest])
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


__all__ = ["of_trajectory"]
