"""The derivative of the adjoint equation's cotangents, by the solution of the equation's push-forward, which is differentiated in turn.

The cotangents ``c(a) = g dy/da`` are linear in ``g``. Their inner product with a direction ``v`` is that of ``g`` with the tangent ``s
= dy/da v``. So the cotangent of ``g`` is ``s``, and the other cotangents are those of ``s`` for the seed ``g``. The tangent solves
``ds/dt = df/dy s + df/da v`` together with the state: a trajectory of twice as many unknowns, which itself has derivatives of any
order.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.adjoint.calling import inline, options_of
from symgrad.adjoint.reversals.custom import WRITERS, expanded
from symgrad.adjoint.solvers.solutions import OF_ROWS, solution_pullback
from symgrad.adjoint.solvers.trajectories import INITIAL, Moved, parted
from symgrad.ir.core import NONE, Block, Call, Const, Func, Operand, Value
from symgrad.ir.types import INT, Array, Dim
from symgrad.ops.build import Builder, symbols
from symgrad.tangent.forward import tangent_type
from symgrad.tangent.write import push_forward

#: the position of the cotangents of the states
WEIGHTS = -4


def of_weighted_sensitivity(builder: Builder, op: Call, args: list[Operand], positions: Sequence[int]) -> list[Operand]:
    """The cotangents of the operands of ``weighted_sensitivity``; the cotangent of its value is the direction of a tangent."""
    call, settings = builder.call, op.settings
    direction, weights, start, times, initial = args[:5]
    options, rest = options_of(op, args[5:])
    size = call("extent", initial, axis=0)
    first, *others = parted(builder, direction, [initial, *(rest[k] for k in settings["columns"])])
    rate = rate_along(settings["func"], settings["columns"], builder.taken)
    stacked, read = call("concatenate", initial, first), [*rest, *others, size]
    whole = Moved(builder, op, weights, weights, [start, times, stacked], read, options).solved(rate, stacked, read)
    seed = call("concatenate", call("zeros_like", weights), weights)
    cotangents: list[Operand] = []
    for place in positions:
        if place == WEIGHTS:
            cotangents.append(call("take", whole, size, NONE, NONE, index="s"))
        elif 0 <= place < len(options):
            cotangents.append(Const(0.0))
        else:
            moved = call(
                "trajectory_backward",
                seed,
                whole,
                Const(1.0),
                start,
                times,
                stacked,
                *options.values(),
                *read,
                func=rate,
                position=place,
                **{word: settings[word] for word in ("solver", "words", "sensitivity")},
            )
            cotangents.append(call("take", moved, NONE, size, NONE, index="s") if place == INITIAL else moved)
    return cotangents


def rate_along(rate: Func, columns: Sequence[int], taken: set[str]) -> Func:
    """The rate of a state followed by its tangent.

    The parameters are the time, the state with its tangent, the values that the equation reads, the tangents of those
    in ``columns``, and the length of the state.
    """
    taken |= symbols(rate)
    pushed = push_forward(rate, [1, *(2 + k for k in columns)], taken=taken)
    builder = Builder(Block(), rate.loc, taken=taken)
    time, rest = Value(rate.params[0].type, "t"), [Value(v.type, v.name) for v in rate.params[2:]]
    stacked, size = Value(builder.freshen(Array("f64", (Dim("?"),), "C")), "z"), Value(INT, "size")
    tangents = [Value(tangent_type(rest[k].type), f"{rest[k].name or 'a'}_tangent") for k in columns]
    builder.block.args = [time, stacked, *rest, *tangents, size]
    state = builder.call("view", stacked, NONE, size, NONE, index="s", hint="y")
    along = builder.call("view", stacked, size, NONE, NONE, index="s", hint="y_tangent")
    builder.block.yields = [builder.call("concatenate", *inline(builder, pushed, [time, state, *rest, along, *tangents]))]
    return expanded(Func(f"{rate.name}_along", builder.block, ["out"], rate.loc), taken)


OF_ROWS["weighted_sensitivity_backward"] = of_weighted_sensitivity
WRITERS["weighted_sensitivity_backward"] = solution_pullback

__all__ = ["of_weighted_sensitivity"]
