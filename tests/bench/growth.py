"""How cost grows: the exponent of the gradient's time in each size of a program, and of generating in the length of one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

import symgrad
from tests.bench.case import Case
from tests.bench.columns import COLUMNS, without_cache
from tests.bench.measure import Figures, interleaved, peak
from tests.test_growth import arrays, branches, function_of, loops, numbers, seconds, stores

FACTORS = (0.5, 1.0, 2.0, 4.0)
LENGTHS = (125, 250, 500)
COMPILED_LENGTHS = (10, 20, 40)
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
    figures: dict[str, Figures] = {}
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
        held: list[int] = []
        for size in sizes:
            args = case.arguments(**{axis: size})
            times = interleaved(runs, args, budget / len(sizes), 3)
            if "numpy" in runs:
                held.append(peak(runs["numpy"], args))
            for name in runs:
                costs[name].append(min(times[name]))
        exponents = {name: exponent(sizes, costs[name]) for name in runs}
        large = [name for name in exponents if name != "function" and exponents[name] > max(work, exponents["function"]) + MARGIN]
        figures[axis] = {"sizes": sizes, "work": work, "exponents": exponents, "large": large, "seconds": costs, "memory": held}
        if held:
            figures[axis]["memory_exponent"] = steep = exponent(sizes, held)
            large += ["memory"] if steep > max(work, 1.0) + MARGIN else []
    return figures


def generating(lengths: Sequence[int] = LENGTHS) -> dict[str, Figures]:
    """For each kind of statement: seconds to generate for programs of some lengths, and their exponent."""
    return {name: by_length(partial(seconds, program, rounds=2), lengths) for name, program in KINDS.items()}


def compiling(lengths: Sequence[int] = COMPILED_LENGTHS) -> dict[str, Figures]:
    """For each kind of statement: seconds of the first call with ``jit`` for programs of some lengths, and their exponent."""
    return {name: by_length(partial(first_call, program), lengths) for name, program in KINDS.items()}


def first_call(program: Callable[[int], str], length: int) -> float:
    """The processor's time from a function never seen to its first gradient, compiled."""
    function = function_of(program(length))
    with without_cache():
        start = time.process_time()
        symgrad.grad(function, wrt=(0, 1), jit=True)(np.ones(4), 0.5)
        return time.process_time() - start


def by_length(cost: Callable[[int], float], lengths: Sequence[int]) -> Figures:
    """The cost at each length, and its exponent; a call before them pays for what is made once."""
    cost(lengths[0])
    costs = [cost(length) for length in lengths]
    power = exponent(lengths, costs)
    return {"lengths": list(lengths), "seconds": costs, "exponent": power, "large": power > 1 + MARGIN}
