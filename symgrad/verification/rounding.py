"""Whether rounding alone may explain a difference: evaluates the function with its arguments moved by a few ulps.

Where the function's own result moves as much, a comparison is meaningless: cancelling sums, choices decided by
a last digit, chaotic recurrences, nondeterministic functions. Evaluated only where results differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from symgrad.verification.agreement import EPSILON, Allowed, Gap, OtherForm, gaps

#: by how many units in the last place arguments are moved
MOVES = (0, 4, 4, 64, 64, 1024, 1024, 16384, 16384)
#: how much farther than the function's own results two programs may be apart
FACTOR = 16.0

Run = Callable[[Callable[[Any], Any]], Any]  #: the function's result, for arguments of which each number is changed


def explains(run: Run, differences: list[Gap], allowed: Allowed, width: int) -> bool:
    """Is each of these gaps no larger than the amount by which the function's own result changes?

    Results for copies of the arguments are compared with each other: a function that asks which object it was given answers the same
    for all of them.
    """
    left = {gap.path: gap for gap in differences}
    spread = dict.fromkeys(left, 0.0)
    runs = results(run, width)
    unmoved = next(runs)
    if isinstance(unmoved, Exception):
        return False  # the arguments decide, not rounding
    for result in runs:
        if isinstance(result, Exception):
            return True  # of a function that raises just beside this point nothing can be said
        try:
            moved = list(gaps(result, unmoved))
        except OtherForm:
            return True
        for gap in moved:
            if gap.path in left:
                spread[gap.path] = max(spread[gap.path], math.inf if not math.isfinite(left[gap.path].size) else gap.size)
        left = {path: gap for path, gap in left.items() if not covered(gap, spread[path], allowed)}
        if not left:
            return True
    return False


def covered(gap: Gap, spread: float, allowed: Allowed) -> bool:
    """Does the spread of the function's own results explain a gap?"""
    if math.isinf(gap.size):
        return math.isinf(spread)
    return gap.size <= FACTOR * spread + allowed.relative * gap.scale + allowed.absolute


def results(run: Run, width: int) -> Iterator[Any]:
    """What the function gives, or raises, near its arguments."""
    random = np.random.default_rng(20261123)
    for move in MOVES:
        change = moved_by(move * EPSILON[width], random)
        try:
            yield run(change)
        except Exception as error:
            yield error


def moved_by(relative: float, random: np.random.Generator) -> Callable[[Any], Any]:
    """A change of numbers and arrays by a part of themselves, up or down; zeros, integers and bools stay."""

    def change(leaf: Any) -> Any:
        if not relative or np.asarray(leaf).dtype.kind not in "fc":
            return leaf
        factor = 1.0 + relative * random.choice((-1.0, 1.0), np.shape(leaf))
        if isinstance(leaf, np.ndarray):
            with np.errstate(all="ignore"):
                leaf[...] = leaf * factor
            return leaf
        return type(leaf)(leaf * factor)

    return change


__all__ = ["Run", "explains", "results"]
