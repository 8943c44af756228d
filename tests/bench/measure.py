"""Times and memory of one program: all columns take turns, and what counts is the ratio to the program itself in the same round."""

from __future__ import annotations

import ctypes
import gc
import statistics
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.case import Case, Function
from tests.bench.columns import COLUMNS, Refused, seconds_to_compile, seconds_to_compile_by_hand, seconds_to_generate

ROUNDS = 9  #: at most
Figures = dict[str, Any]


def measured(case: Case, columns: Sequence[str], budget: float) -> Figures:
    """All figures of one program; ``budget`` is the time that its rounds may take, in seconds.

    ``times``: seconds of the function itself; ``ratios``: of each column to that, ``direct`` to the adjoint by hand; ``smallest``:
    seconds of both targets for the smallest arguments that make sense.
    """
    args = case.arguments()
    expected = case.adjoint(*args)
    runs: dict[str, Function] = {"function": case.function}
    refused: dict[str, str] = {}
    errors: dict[str, float] = {}
    for name in columns:
        try:
            run = COLUMNS[name].build(case) if COLUMNS[name].available else None
            if run is not None:
                errors[name] = error(run(*args), expected)
                runs[name] = run
        except Refused as reason:
            refused[name] = str(reason)
        except Exception as fault:  # a column of another library must not end the run
            refused[name] = f"{type(fault).__name__}: {fault}".splitlines()[0][:120]
    times = interleaved(runs, args, budget)
    figures: Figures = {
        "time": min(times["function"]),
        "ratios": {name: ratio(times[name], times["function"]) for name in runs if name != "function"},
        "errors": errors,
        "refused": refused,
        "generation": seconds_to_generate(case),
        "memory": memory(runs, args),
    }
    if "hand" in runs and "numpy" in runs:
        figures["direct"] = ratio(times["numpy"], times["hand"])
    if "hand_numba" in runs and "numba" in runs:
        figures["direct_numba"] = ratio(times["numba"], times["hand_numba"])
    if "numba" in runs and "numpy" in runs:
        small = {name: runs[name] for name in ("numpy", "numba")}
        figures["smallest"] = {name: min(t) for name, t in interleaved(small, case.small(), budget / 3).items()}
    if "numba" in runs:
        figures["compilation"] = seconds_to_compile(case)
        figures["compilation_by_hand"] = seconds_to_compile_by_hand(case)
    return figures


def ratio(above: Sequence[float], below: Sequence[float]) -> float:
    """The median over rounds of the ratio within a round."""
    return statistics.median(a / b for a, b in zip(above, below, strict=True))


def interleaved(runs: Mapping[str, Function], args: tuple[Any, ...], budget: float, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """Processor seconds a call of each, in every round; at least three rounds."""
    share = budget / (rounds * len(runs))
    often = {name: repeats(run, args, share) for name, run in runs.items()}
    times: dict[str, list[float]] = {name: [] for name in runs}
    end = time.perf_counter() + budget
    for number in range(rounds):
        if number >= 3 and time.perf_counter() > end:
            break
        for name, run in runs.items():
            count = range(often[name])
            gc.collect()
            gc.disable()
            start = time.process_time()
            for _ in count:
                run(*args)
            times[name].append((time.process_time() - start) / often[name])
            gc.enable()
    return times


def repeats(run: Function, args: tuple[Any, ...], seconds: float) -> int:
    """How often a call fits into some seconds, once at least."""
    run(*args)
    count, taken = 1, 0.0
    while taken < seconds / 20 and count < 1_000_000:
        start = time.perf_counter()
        for _ in range(count):
            run(*args)
        taken = time.perf_counter() - start
        count *= 2
    return max(1, int(count / 2 * seconds / max(taken, 1e-9)))


def memory(runs: Mapping[str, Function], args: tuple[Any, ...]) -> dict[str, int]:
    """The most memory that a call of each holds, where it can be measured."""
    peaks = {name: peak(runs[name], args) for name in ("function", "numpy", "hand") if name in runs}
    compiled = {name: resident(runs[name], args) for name in ("numba", "hand_numba") if name in runs}
    return peaks | {name: size for name, size in compiled.items() if size is not None}


def resident(run: Function, args: tuple[Any, ...]) -> int | None:
    """The most memory that one call holds at a time, in bytes, as the system counts it, in pages; None where Linux does not tell.

    For compiled code, whose arrays Python's own count does not see.
    """
    status, forget = Path("/proc/self/status"), Path("/proc/self/clear_refs")
    if not forget.exists():
        return None

    def told(word: str) -> int:
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if line.startswith(word))

    run(*args)
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is None:
        return None
    trim(0)
    forget.write_text("5")  # the peak counts from here
    before = told("VmRSS")
    run(*args)
    return max(0, told("VmHWM") - before)


def peak(run: Function, args: tuple[Any, ...]) -> int:
    """The most memory that one call holds at a time beside its arguments, in bytes; what numba allocates is not seen."""
    run(*args)
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        run(*args)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def error(actual: Any, expected: Any) -> float:
    """The largest difference of value and gradients, relative to the largest entry."""
    pairs = zip((actual[0], *actual[1]), (expected[0], *expected[1]), strict=True)
    return max(float(np.max(np.abs(np.subtract(np.asarray(a), b))) / (np.max(np.abs(b)) + 1e-300)) for a, b in pairs)
