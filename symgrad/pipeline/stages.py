"""The orders in which passes run."""

from __future__ import annotations

from collections.abc import Callable

from symgrad.ir.core import Func
from symgrad.passes.between import between
from symgrad.passes.borrow import borrow
from symgrad.passes.cancel import cancel
from symgrad.passes.cells import cells
from symgrad.passes.conditions import conditions
from symgrad.passes.counters import counters
from symgrad.passes.cse import cse
from symgrad.passes.dce import dce
from symgrad.passes.first_writes import first_writes
from symgrad.passes.fold import fold
from symgrad.passes.forwarding import forwarding
from symgrad.passes.hoist import hoist
from symgrad.passes.joined import joined
from symgrad.passes.kept import kept
from symgrad.passes.leaner import leaner
from symgrad.passes.masks import masks
from symgrad.passes.outer import outer
from symgrad.passes.readable import added, current_shapes, repeated, sunk
from symgrad.passes.refilled import refilled
from symgrad.passes.reuse import reuse
from symgrad.passes.scatter import scatter
from symgrad.passes.strips import strips
from symgrad.passes.turned import turned
from symgrad.passes.unbox import unbox, unbox_plainly
from symgrad.passes.uncleared import uncleared
from symgrad.passes.verbatim import verbatim
from symgrad.passes.zeroing import zeroing
from symgrad.pipeline.job import checked

Pass = Callable[[Func], Func]
#: before and after differentiating
SIMPLIFY: tuple[Pass, ...] = (fold, cse, conditions, dce, cancel)
OPTIMISE: tuple[Pass, ...] = (fold, cse, dce, joined, hoist, fold, cse, dce)
#: for text that is read
READABLE: tuple[Pass, ...] = (verbatim, dce, fold, cse, dce, added, repeated, dce, sunk, current_shapes, dce)


def lowering(plain: bool) -> tuple[Pass, ...]:
    """What makes NumPy code faster and its text farther from the user's: is there a ``plain`` form to fall back on?"""
    return (
        refilled,
        forwarding,
        dce,
        kept,
        masks,
        scatter,
        leaner,
        cse,
        outer,
        uncleared,
        zeroing,
        first_writes,
        dce,
        turned,
        borrow,
        unbox if plain else unbox_plainly,
        cells,
        between,
        counters,
        dce,
        *((strips,) if plain else ()),
        reuse,
    )


#: for functions, and for halves of pullbacks; nothing is differentiated afterwards
LOWER, LOWER_HALVES = lowering(True), lowering(False)


def simplify(func: Func, passes: tuple[Pass, ...] = SIMPLIFY) -> Func:
    """Run passes in order."""
    for one in passes:
        func = checked(one(func))
    return func
