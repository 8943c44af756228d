"""Branch fusion across the halves, for kernels: a branch that ends the forward half with its reverse. Works in place.

if test: t = tape(); for ...: put(t, ...)         ->     if test: t = tape(); for ...: put(t, ...); for ..., last first: get(t)
-- backward --
if test: for ..., last first: get(t)

Values that a branch saves for its reverse, above all the tapes of its loops, then stay inside it.
"""

from __future__ import annotations

from symgrad.ir.core import Block, Func, uses, walk
from symgrad.passes.control_flow.branch_fusion import visit
from symgrad.passes.facts import halves_kept


def half_fusion(func: Func) -> Func:
    """Join branches with their reverses across the halves of a gradient, in place."""
    if func.split is not None:
        late = frozenset(walk(Block([], func.body.ops[func.split :])))
        with halves_kept(func):
            visit(func.body, uses(func.body), None, late)
    return func


__all__ = ["half_fusion"]
