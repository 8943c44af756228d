"""The orders in which passes run, and the stages whose IR is kept."""

from __future__ import annotations

import os
from collections.abc import Callable

from symgrad.ir.core import Func
from symgrad.ir.verify import verify
from symgrad.passes.borrow import borrow
from symgrad.passes.cancel import cancel
from symgrad.passes.cells import cells
from symgrad.passes.cse import cse
from symgrad.passes.dce import dce
from symgrad.passes.first_writes import first_writes
from symgrad.passes.fold import fold
from symgrad.passes.forwarding import forwarding
from symgrad.passes.hoist import hoist
from symgrad.passes.joined import joined
from symgrad.passes.kept import kept
from symgrad.passes.masks import masks
from symgrad.passes.outer import outer
from symgrad.passes.refilled import refilled
from symgrad.passes.reuse import reuse
from symgrad.passes.scatter import scatter
from symgrad.passes.strips import strips
from symgrad.passes.turned import turned
from symgrad.passes.unbox import unbox, unbox_plainly
from symgrad.passes.zeroing import zeroing

Pass = Callable[[Func], Func]
#: before and after differentiating
SIMPLIFY: tuple[Pass, ...] = (fold, cse, dce, cancel)
OPTIMISE: tuple[Pass, ...] = (fold, cse, dce, joined, hoist, fold, cse, dce)


def lowering(plain: bool) -> tuple[Pass, ...]:
    """What makes NumPy code faster and its text farther from the user's: is there a ``plain`` form to fall back on?"""
    return (
        refilled,
        forwarding,
        dce,
        kept,
        masks,
        scatter,
        outer,
        zeroing,
        first_writes,
        dce,
        turned,
        borrow,
        unbox if plain else unbox_plainly,
        cells,
        dce,
        *((strips,) if plain else ()),
        reuse,
    )


#: for functions, and for halves of pullbacks; nothing is differentiated afterwards
LOWER, LOWER_HALVES = lowering(True), lowering(False)
#: the stages whose IR is kept, in order, each with what the function is then
STAGES: dict[str, str] = {
    "lowered": "the function as the frontend has read it",
    "simplified": "what is differentiated",
    "adjoint": "both halves as they are made",
    "optimized": "what is emitted",
    "forward": "of a pullback: the half that gives the result and what is kept",
    "backward": "of a pullback: the half that gives the gradients",
}


def simplify(func: Func, passes: tuple[Pass, ...] = SIMPLIFY) -> Func:
    """Run passes in order."""
    for one in passes:
        func = checked(one(func))
    return func


def checked(func: Func) -> Func:
    """Hold a function to the IR's rules, where ``SYMGRAD_CHECK`` is set (as in our tests)."""
    if os.environ.get("SYMGRAD_CHECK"):
        verify(func)
    return func
