"""A gradient as array statements -> loops over numbers, which numba compiles to kernels: the stages, with the walk between them."""

from __future__ import annotations

from symgrad.ir.core import Func, clone
from symgrad.loops.lower import Lowering, lowered_function, walked
from symgrad.loops.reach import NoPlaces
from symgrad.loops.splitting import Parted, parted
from symgrad.loops.transforms.definedness import doubtful_values
from symgrad.loops.writer import Writer
from symgrad.pipeline.registry import ARRAYS, GROWING, LOOPS, NUMBERS, OPTIMISE
from symgrad.pipeline.runner import PassContext, run, timed


def to_loops(func: Func) -> Func:
    """A new function that computes the same with loops over numbers only.

    Raises OutOfReach where there is none. The function may leave early (by an exception) for any arguments, but
    never returns a different result.
    """
    lowering = lowered(run(ARRAYS, clone(func)))
    return run(OPTIMISE, improved(lowered_function(lowering), lowering.writer))


def to_halves(func: Func) -> Parted:
    """The same for a pullback, with ``seeds`` between the halves."""
    lowering = lowered(run(ARRAYS.without("half_fusion"), clone(func)))
    halves = parted(lowering, lowering.results, improved)
    return Parted(run(OPTIMISE, halves.forward), run(OPTIMISE, halves.backward), halves.copies)


def lowered(func: Func) -> Lowering:
    """The walk over a function, with all names bound."""
    try:
        return walked_over_numbers(clone(func))
    except NoPlaces:  # the iterations of an inner loop are not bounded: its tape grows
        return walked_over_numbers(run(GROWING, clone(func)))


def walked_over_numbers(func: Func) -> Lowering:
    """The walk over a function, which is changed in place."""
    context = PassContext(unsure=doubtful_values(func))
    func = run(NUMBERS, func, context)
    with timed(func.notes, "walk", "walk"):
        return walked(func, context.unsure)


def improved(func: Func, writer: Writer) -> Func:
    """Optimise the walk's output: fewer and smaller loops and arrays, and SSA form; in place and without remarks."""
    func.notes = None if func.notes is None else func.notes.silent()
    return run(LOOPS, func, PassContext(writer=writer))


__all__ = ["to_halves", "to_loops"]
