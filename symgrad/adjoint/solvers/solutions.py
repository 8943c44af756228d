"""Derivatives of solver solutions: the op of a derivative -> the function that computes it, as IR.

Roots use the implicit function theorem: ``r(x, a) == 0`` gives ``dr/dx dx + dr/da da == 0``. The cotangent of
``x`` is solved for with the transposed Jacobian of ``r``, then pulled back through ``r`` to ``a`` (Krantz and
Parks, The Implicit Function Theorem, 2002; Christianson, Reverse accumulation and implicit functions, 1998).
Integrals use Leibniz's rule: the integral of the derivative, and the integrand at the ends. The emitted ops
treat the solution, and integrals in it, as differentiable values, so all may be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from symgrad.adjoint.calling import as_seed, called, check_unmoved, inline, options_of, scaled
from symgrad.adjoint.matrices.jacobian import jacobian
from symgrad.adjoint.reversals.custom import WRITERS, expanded
from symgrad.adjoint.reverse import gradient
from symgrad.adjoint.solvers.trajectories import of_trajectory
from symgrad.ir.core import Block, Call, Const, Func, Op, Operand, Value, clone_block, uses, walk
from symgrad.ir.types import FLOAT, Array, Scalar
from symgrad.ir.walks import remove_ops
from symgrad.ops.build import Builder, symbols


def solution_pullback(op: Call, positions: Sequence[int], taken: set[str]) -> Func:
    """The function that computes the cotangents of the op's operands at some positions.

    ``taken`` are extent symbols with another meaning where the function is inserted; new symbols are added to
    it.
    """
    op = Call(op.outs, op.loc, op.name, op.args, {**op.settings, "func": silent(op.settings["func"])})
    taken |= symbols(op.settings["func"])
    params = [Value(a.type, a.name if isinstance(a, Value) else None) for a in op.args]
    builder = Builder(Block(list(params)), op.loc, taken=taken)
    args = [param if isinstance(a, Value) else a for a, param in zip(op.args, params, strict=True)]
    builder.block.yields = OF_ROWS[op.name](builder, op, args, positions)
    return Func("pullback", builder.block, [f"grad{k}" for k in range(len(positions))], op.loc)


def silent(func: Func) -> Func:
    """A copy of a function without prints and messages, which the solver's own calls have produced."""
    if not unread_calls(func.body):
        return func
    body = clone_block(func.body, {})
    remove_ops(body, unread_calls(body))
    return Func(func.name, body, func.results, func.loc)


def unread_calls(block: Block) -> set[Op]:
    """The opaque calls whose results nothing reads."""
    counts = uses(block)
    return {op for op in walk(block) if isinstance(op, Call) and op.name == "opaque" and not counts.get(op.outs[0])}


# -------------------------------------------------------------------- roots


def of_root(builder: Builder, op: Call, args: list[Operand], positions: Sequence[int]) -> list[Operand]:
    """The cotangents of an equation's operands other than its unknown."""
    equation: Func = op.settings["func"]
    seed, solution, valid, *rest = args
    point = [solution, *rest]
    weight = solved(builder, equation, point, builder.call("negative", seed), valid)
    pulled = gradient(equation, [1 + k for k in positions], value=False, seeds=True, taken=builder.taken)
    return inline(builder, pulled, [*point, as_seed(builder, weight, pulled.params[-1])])


def of_value(builder: Builder, op: Call, args: list[Operand], positions: Sequence[int]) -> list[Operand]:
    """The cotangents of the arguments of a function whose value a solver has computed."""
    seed, *point = args
    pulled = gradient(op.settings["func"], list(positions), value=False, seeds=True, taken=builder.taken)
    return inline(builder, pulled, [*point, as_seed(builder, seed, pulled.params[-1])])


def solved(builder: Builder, equation: Func, point: list[Operand], seed: Value, valid: Operand) -> Value:
    """The solution of a linear system with an equation's transposed Jacobian; nan, without an error, where that is not ``valid``."""
    if isinstance(equation.params[0].type, Scalar):
        (slope,) = inline(builder, gradient(equation, [0], value=False, taken=builder.taken), point)
        return builder.call("divide", seed, scaled(builder, slope, valid))
    _, matrix = inline(builder, jacobian(equation, [0], [0], taken=builder.taken), point)
    return builder.call("solve", builder.call("transpose", scaled(builder, matrix, valid)), seed)


# -------------------------------------------------------------------- integrals


def of_integral(builder: Builder, op: Call, args: list[Operand], positions: Sequence[int]) -> list[Operand]:
    """The cotangents of the ends of an integral, and of the integrand's operands other than the variable."""
    check_unmoved(op, positions)
    integrand: Func = op.settings["func"]
    seed, valid, *ends = args[:4]
    options, rest = options_of(op, args[4:])
    weight = scaled(builder, seed, valid)
    cotangents: list[Operand] = []
    for place in positions:
        position = place if place < 0 else place - len(options)
        if place >= 0 > position:  # a setting of the solver
            cotangents.append(Const(0.0))
        elif position < 0:  # the upper end, or the lower one
            (height,) = inline(builder, integrand, [ends[position], *rest])
            product = inner_product(builder, weight, height)
            cotangents.append(product if position == -1 else builder.call("negative", product))
        elif isinstance(integrand.body.yields[0].type, Array) and integrand.body.yields[0].type.rank:
            derivative = expanded(gradient(integrand, [1 + position], value=False, seeds=True, taken=builder.taken), builder.taken)
            cotangents.append(integral(builder, op, derivative, ends, [*rest, as_seed(builder, weight, derivative.params[-1])], options))
        else:
            derivative = expanded(gradient(integrand, [1 + position], value=False, taken=builder.taken), builder.taken)
            cotangents.append(builder.call("multiply", weight, integral(builder, op, derivative, ends, rest, options)))
    return cotangents


def inner_product(builder: Builder, a: Operand, b: Operand) -> Value:
    """The sum of the products of the elements."""
    product = builder.call("multiply", a, b)
    return builder.call("sum", product) if isinstance(product.type, Array) else product


def integral(builder: Builder, op: Call, integrand: Func, ends: list[Operand], rest: list[Operand], options: dict[str, Operand]) -> Value:
    """An integral between the same ends, of numbers or arrays, as the result of a differentiable call."""
    count = uses(integrand.body)
    inside, integrand.body.args = integrand.body.args, integrand.body.args[:1]
    read = [(param, value) for param, value in zip(inside[1:], rest, strict=True) if param in count]
    integrand.body.args += [param for param, _ in read]
    integrand.split = None
    integrand.name = f"{op.settings['func'].name}_derivative"
    values = [value for _, value in read]
    (out,) = integrand.body.yields
    type_ = Array(out.type.dtype, out.type.shape, "C") if isinstance(out.type, Array) else FLOAT
    result = called(builder, "quad_vec" if isinstance(out.type, Array) else "quad", integrand, ends, values, options)
    value = builder.call("solved", result, part=0, type=type_)
    return builder.call("integral", value, Const(1.0), *ends, *options.values(), *values, func=integrand, words=tuple(options))


#: the function that emits the cotangents, by row
OF_ROWS: dict[str, Callable[[Builder, Call, list[Operand], Sequence[int]], list[Operand]]] = {
    "implicit_backward": of_root,
    "attained_backward": of_value,
    "integral_backward": of_integral,
    "trajectory_backward": of_trajectory,
}
WRITERS.update(dict.fromkeys(OF_ROWS, solution_pullback))

__all__ = ["solution_pullback"]
