"""The backward half of a pullback -> its transpose, which maps tangents of arguments to those of results."""

from __future__ import annotations

from collections.abc import Sequence

from symgrad.adjoint.costs import Costs
from symgrad.adjoint.custom import expanded
from symgrad.adjoint.reverse import gradient
from symgrad.errors import NoDerivative
from symgrad.ir.core import Func


def linear_half(back: Func, seeds: Sequence[int], gradients: int, name: str, costs: Costs, way_out: str) -> Func:
    """The reverse of a backward half with respect to its seeds: it takes the seeds for their form, and a tangent for each gradient.

    Raises NoDerivative, with the way out, where the half cannot be reversed.
    """
    try:
        func = gradient(back, seeds, active_results=range(gradients), value=False, seeds=True, name=name, costs=costs)
    except NoDerivative as refusal:
        what = f"the derivative is not written as a linear function: {refusal.what}"
        raise NoDerivative(what, refusal.loc, way_out) from None
    func.split = None
    return expanded(func)


__all__ = ["linear_half"]
