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

#: the moves of the arguments, in ulps
MOVES = (0, 4, 4, 64, 64, 1024, 1024, 16384, 16384)
#: the allowed ratio of a gap to the spread of the function's own results
FACTOR = 16.0

Run = Callable[[Callable[[Any], Any]], Any]  #: evaluates the function on arguments whose numbers are each changed


def explains(run: Run, differences: list[Gap], allowed: Allowed, width: int) -> bool:
    """Whether each of these gaps is no larger than the spread of the function's own results.

    Results for copies of the arguments are compared with each other, so that a function that tests object
    identity treats them alike.
    """
    left = {gap.path: gap for gap in differences}
    spread = dict.fromkeys(left, 0.0)
    runs = results(run, width)
    unmoved = next(runs)
    if isinstance(unmoved, Exception):
        return False  # the arguments decide, not rounding
    for result in runs:
        if isinstance(result, Exception):
            return True  # a function that raises at a neighbouring point cannot be judged
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
    """Whether the spread of the function's own results explains a gap."""
    if math.isinf(gap.size):
        return math.isinf(spread)
    return gap.size <= FACTOR * spread + allowed.relative * gap.scale + allowed.absolute


def results(run: Run, width: int) -> Iterator[Any]:
    """The results, or exceptions, of the function near its arguments."""
    random = np.random.default_rng(20261123)
    for move in MOVES:
        change = moved_by(move * EPSILON[width], random)
        try:
            yield run(change)
        except Exception as error:
            yield error


def moved_by(relative: float, random: np.random.Generator) -> Callable[[Any], Any]:
    """A relative change of numbers and arrays, up or down; zeros, integers and bools stay."""

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
