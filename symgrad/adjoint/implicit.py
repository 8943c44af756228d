"""The derivative of a solution by the implicit function theorem: an equation as a function of the IR -> the pullback of its solution.

Where ``r(x, a) == 0`` says what ``x`` is, ``dr/dx dx + dr/da da == 0``. So the cotangent of ``x`` is solved for with the transposed
Jacobian of ``r``, and then pulled back through ``r`` to ``a`` (Krantz and Parks, The Implicit Function Theorem, 2002; Christianson,
Reverse accumulation and implicit functions, 1998). What is written reads the solution as a value that has a derivative, so that it may
be differentiated again.
"""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.adjoint.accumulate import cotangent_type
from symgrad.adjoint.jacobian import jacobian
from symgrad.adjoint.reverse import gradient
from symgrad.ir.core import Block, Func, Operand, Value, clone_block, substitute
from symgrad.ir.types import FLOAT, Scalar
from symgrad.location import Loc
from symgrad.ops.build import Builder, symbols

#: where the operands of ``implicit_backward`` begin that the equation reads besides its unknown
FIRST = 3


def implicit_pullback(equation: Func, positions: Sequence[int], loc: Loc) -> Func:
    """The function of a cotangent, the solution, a factor and what else the equation reads, that gives the cotangents of some of these."""
    unknown, *rest = equation.params
    seed = Value(cotangent_type(unknown.type), "x_grad")
    solution, valid = Value(unknown.type, unknown.name), Value(FLOAT, "valid")
    others = [Value(value.type, value.name) for value in rest]
    block = Block([seed, solution, valid, *others])
    builder = Builder(block, loc, taken=symbols(equation))
    point: list[Operand] = [solution, *others]
    weight = builder.call("negative", solved(builder, equation, point, builder.call("multiply", seed, valid)))
    pulled = gradient(equation, [1 + k for k in positions], value=False, seeds=True, taken=builder.taken)
    block.yields = put(builder, pulled, [*point, weight])
    return Func("pullback", block, [f"grad{k}" for k in range(len(block.yields))], loc)


def solved(builder: Builder, equation: Func, point: list[Operand], seed: Value) -> Value:
    """The solution of a linear system with the transposed Jacobian of an equation."""
    if isinstance(equation.params[0].type, Scalar):
        (slope,) = put(builder, gradient(equation, [0], value=False, taken=builder.taken), point)
        return builder.call("divide", seed, slope)
    _, matrix = put(builder, jacobian(equation, [0], [0], taken=builder.taken), point)
    return builder.call("solve", builder.call("transpose", matrix), seed)


def put(builder: Builder, func: Func, operands: list[Operand]) -> list[Operand]:
    """Put the ops of a function here, its parameters being these operands."""
    copy = clone_block(func.body, {})
    substitute(copy, dict(zip(copy.args, operands, strict=True)))
    builder.block.ops += copy.ops
    return list(copy.yields)


__all__ = ["FIRST", "implicit_pullback"]
