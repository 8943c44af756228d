"""Forward mode through vectors that are determined up to a phase: whether results depend on the phases is computed with the tangents.

Complex eigenvectors and singular vectors are unique up to a factor of modulus 1 each. The push-forward of a function of them also
computes the derivatives of its results for a turn of all phases, each by an angle of its own. They are zero, or the function has no
derivative that the matrix determines; then the tangent raises ValueError, as the gradient does. See decisions 96 and 117.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count

from symgrad.adjoint.analysis.activity import active_values
from symgrad.ir.core import Block, Call, Const, Func, Operand, Value, blocks_within, clone, substitute, walk
from symgrad.ir.types import FLOAT, is_complex
from symgrad.ops.build import Builder
from symgrad.ops.tangents import VECTORS
from symgrad.tangent.half import removed

#: the parameters that vectors vary by
VARIATIONS = ("angle", "shift", "error")

#: writes the push-forward of a function, with respect to parameters, for results
Write = Callable[[Func, Sequence[int], Sequence[int]], Func]


def vectors(func: Func, active: set[Value]) -> Iterator[tuple[Block, Call, dict[int, bool]]]:
    """The ops whose active vectors have a phase and do not vary yet, each with its block."""
    done = {op.args[0] for op in walk(func.body) if isinstance(op, Call) and op.name == "varied"}
    for block in blocks_within(func.body):
        for op in block.ops:
            if isinstance(op, Call) and op.name in VECTORS:
                places = {k: rows for k, rows in VECTORS[op.name].items() if op.outs[k] in active and is_complex(op.outs[k].type)}
                if places and done.isdisjoint(op.outs):
                    yield block, op, VECTORS[op.name]


def checked_tangents(func: Func, wrt: Sequence[int], active_results: Sequence[int], write: Write, builder: Builder) -> Func:
    """The push-forward of a function; where it has vectors with a phase, its tangents are checked."""
    varied = variations(func, wrt, active_results, write, builder)
    if varied is None:
        return write(func, wrt, active_results)
    result = write(varied, wrt, active_results)
    check(result, len(func.body.yields), active_results, result.body.yields[len(varied.body.yields) :], builder)
    return result


def checked_values(func: Func, wrt: Sequence[int], active_results: Sequence[int], write: Write, builder: Builder) -> Func:
    """The function itself; where it has vectors with a phase, its results are checked."""
    result = variations(func, wrt, active_results, write, builder)
    if result is None:
        return func
    own = len(func.body.yields)
    check(result, own, active_results, [result.body.yields[k] for k in active_results], builder)
    for k, value in zip(active_results, result.body.yields[own:], strict=True):
        result.body.yields[k] = value
    del result.body.yields[own:]
    result.name, result.results = func.name, list(func.results)
    return result


def variations(func: Func, wrt: Sequence[int], active_results: Sequence[int], write: Write, builder: Builder) -> Func | None:
    """The function with the derivatives of its active results for each variation as more results; None where nothing varies."""
    if not any(True for _ in vectors(func, active_values(func, wrt, active_results))):
        return None
    varied, first = with_variations(func, wrt, active_results, builder), len(func.params)
    for k in range(len(VARIATIONS)):
        varied = write(varied, [first + k], active_results)
        tangent = varied.body.args.pop()
        substitute(varied.body, {tangent: Const(1.0)})
    substitute(varied.body, dict.fromkeys(varied.body.args[first:], Const(0.0)))
    del varied.body.args[first:]
    return varied


def check(func: Func, own: int, active_results: Sequence[int], checked: Sequence[Operand], builder: Builder) -> None:
    """Replace the results after the first ``own`` by the ``checked`` values; the first of the others are the variations. In place."""
    removed(func.body, "varied")
    yields, size = func.body.yields, len(active_results)
    varied = [yields[own + k * size : own + (k + 1) * size] for k in range(len(VARIATIONS))]
    with builder.inside(func.body), builder.at(func.loc):
        yields[own:] = [
            builder.call("unphased_tangent", *parts, yields[k], hint=parts[0].name if isinstance(parts[0], Value) else None)
            for *parts, k in zip(checked, *varied, active_results, strict=True)
        ]
    del func.results[own : own + len(VARIATIONS) * size]


def with_variations(func: Func, wrt: Sequence[int], active_results: Sequence[int], builder: Builder) -> Func:
    """A copy of the function with more parameters, by which its vectors vary."""
    copy = clone(func)
    params = [Value(FLOAT, name) for name in VARIATIONS]
    for block, op, places in list(vectors(copy, active_values(copy, wrt, active_results))):
        for k, rows in places.items():
            with builder.inside(after := Block()), builder.at(op.loc):
                vary = partial(builder.call, "varied", op.outs[k], *params, hint=op.outs[k].name, rows=rows)
                at_each_use(copy.body, op.outs[k], vary)
            block.ops[block.ops.index(op) + 1 : block.ops.index(op) + 1] = after.ops
    copy.body.args += params
    return copy


def at_each_use(body: Block, value: Value, replacement: Callable[..., Value]) -> None:
    """Replace the value at each use, whose number the replacement takes. Works in place.

    Changes that differ from use to use do not cancel, as one change of all uses may: the gradient of a constant is zero for all vectors.
    """
    numbers = count()
    for block in blocks_within(body):
        for op in block.ops:
            if value in op.operands:
                new = replacement(use=next(numbers))
                op.replace_operands([new if operand is value else operand for operand in op.operands])
        if value in block.yields:
            new = replacement(use=next(numbers))
            block.yields = [new if operand is value else operand for operand in block.yields]


__all__ = ["checked_tangents", "checked_values"]
