"""How cost grows: the exponent of the gradient's time in each size of a program, and of generating in the length of one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from tests.bench.case import Case
from tests.bench.columns import COLUMNS
from tests.bench.measure import Figures, interleaved
from tests.test_growth import arrays, branches, loops, numbers, seconds, stores

FACTORS = (0.5, 1.0, 2.0, 4.0)
LENGTHS = (125, 250, 500)
#: an exponent may be so much above that of the work that is asked for
MARGIN = 0.15
KINDS = {"numbers": numbers, "arrays": arrays, "stores": stores, "branches": branches, "loops": loops}


def exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope of a line through the logarithms, by least squares.

    >>> round(exponent([1, 2, 4], [3, 12, 48]), 6)
    2.0
    """
    x, y = [math.log(s) for s in sizes], [math.log(c) for c in costs]
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)


def grown(case: Case, budget: float, columns: Sequence[str] = ("numpy", "numba")) -> dict[str, Figures]:
    """For each size that may grow: the exponents of the function and of the columns, and whether one is too large."""
    made: dict[str, Figures] = {}
    for axis, work in case.work.items():
        sizes = [max(2, int(case.sizes[axis] * factor)) for factor in FACTORS]
        runs: dict[str, Any] = {"function": case.function}
        for name in columns:
            if COLUMNS[name].available:
                try:
                    run = COLUMNS[name].build(case)
                except Exception:  # said in the first table
                    continue
                if run is not None:
                    runs[name] = run
        costs: dict[str, list[float]] = {name: [] for name in runs}
        for size in sizes:
            times = interleaved(runs, case.arguments(**{axis: size}), budget / len(sizes), 3)
            for name in runs:
                costs[name].append(min(times[name]))
        found = {name: exponent(sizes, costs[name]) for name in runs}
        large = [name for name in found if name != "function" and found[name] > max(work, found["function"]) + MARGIN]
        made[axis] = {"sizes": sizes, "work": work, "exponents": found, "large": large}
    return made


def generating(lengths: Sequence[int] = LENGTHS) -> dict[str, Figures]:
    """For each kind of statement: seconds to generate for programs of some lengths, and their exponent."""
    made: dict[str, Figures] = {}
    for name, program in KINDS.items():
        seconds(program, lengths[0])
        costs = [seconds(program, length, 2) for length in lengths]
        found = exponent(lengths, costs)
        made[name] = {"lengths": list(lengths), "seconds": costs, "exponent": found, "large": found > 1 + MARGIN}
    return made
