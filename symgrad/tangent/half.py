"""The backward half of a pullback -> its transpose, which maps tangents of arguments to those of results."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.adjoint.reversals.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.adjoint.saving.costs import Costs
from symgrad.errors import NoDerivative
from symgrad.ir.core import Block, Call, Func, Operand, Value, substitute, walk
from symgrad.ir.walks import remove_ops


def linear_half(back: Func, seeds: Sequence[int], gradients: int, name: str, costs: Costs, way_out: str) -> Func:
    """The reverse of a backward half with respect to its seeds: it takes the seeds for their form, and a tangent for each gradient.

    Raises NoDerivative, with the way out, where the half cannot be reversed.
    """
    removed(back.body, "unphased")  # the cotangents here are placeholders, which say nothing about phases
    try:
        func = gradient(back, seeds, active_results=range(gradients), value=False, seeds=True, name=name, costs=costs)
    except NoDerivative as refusal:
        what = f"the derivative is not written as a linear function: {refusal.what}"
        raise NoDerivative(what, refusal.loc, way_out) from None
    func.split = None
    return expanded(func)


def removed(body: Block, name: str) -> None:
    """Replace the results of a row by its first operands. Works in place."""
    table: dict[Value, Operand] = {}
    calls = [op for op in walk(body) if isinstance(op, Call) and op.name == name]
    table.update({op.outs[0]: op.args[0] for op in calls})
    remove_ops(body, set(calls))
    substitute(body, table)


__all__ = ["linear_half", "removed"]
