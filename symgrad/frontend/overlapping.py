"""Copies from one part of an array to another part of it: where NumPy's result is not that of a copy made before.

NumPy copies a vector to one with steps of the same sign element by element, forwards where the source begins at the target or behind
it, else backwards (``raw_array_assign_array`` in its source). With two sizes of steps it may read what it has written.
"""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.frontend.bindings import Ref, Step
from symgrad.ir.core import Const, Operand


@dataclass(frozen=True, slots=True)
class Walk:
    """The elements of a vector in an array: the indices before the last axis, where it begins on that axis, and its step."""

    rows: tuple[Operand, ...]
    start: int | None  #: None where it is not known
    step: int | None


def walk_of(path: tuple[Step, ...]) -> Walk | None:
    """How a path of slices goes through an array; None of any other path."""
    made = Walk((), 0, 1)
    for place, step in enumerate(path):
        if step.spec == "e":
            continue
        letters, operands = step.spec, step.operands
        rows = len(letters) - 1
        if letters != "i" * rows + "s" or place and rows:
            return None
        made = sliced(Walk((*made.rows, *operands[:rows]), made.start, made.step), *operands[rows:])
    return made


def sliced(walk: Walk, first: Operand, _: Operand, step: Operand) -> Walk:
    """The walk through a slice of a vector."""
    size = (1 if step.value is None else step.value) if isinstance(step, Const) else None
    begins = (0 if first.value is None else first.value) if isinstance(first, Const) else None
    known = isinstance(size, int) and isinstance(begins, int) and walk.start is not None and walk.step is not None
    start = walk.start + walk.step * begins if known and min(size, begins, walk.step) >= 0 else None  # type: ignore[operator,type-var]
    return Walk(walk.rows, start, None if walk.step is None or not isinstance(size, int) else walk.step * size)


def order_matters(target: Ref, last: Step, source: Ref) -> bool:
    """May NumPy read what it has written, where one vector of an array is copied to another one?"""
    to, of = walk_of((*target.path, last)), walk_of(source.path)
    if to is None or of is None or to.rows != of.rows:
        return False
    if to.step is None or of.step is None:
        return True
    if to.step == of.step or to.step * of.step < 0:  # where the signs differ, NumPy makes a copy
        return False
    if to.start is None or of.start is None or to.step < 0:
        return True
    return of.step < to.step if of.start >= to.start else of.step > to.step


__all__ = ["order_matters"]
