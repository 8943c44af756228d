"""``python -m tests.bench [--out FILE] [names]``: the time of programs, of their gradients, and of adjoints written by hand.

All three take turns in one process; quoted are medians over the rounds of the ratio to the primal of
the same round. Ends with 1 if a gradient is wrong.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import symgrad
from tests.bench.programs import CASES, Case

ROUNDS = 7
TOLERANCE = 1e-9


def main() -> int:
    """Time the programs and print a line for each."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__.partition(":")[2] if __doc__ else "")
    parser.add_argument("names", nargs="*", help="programs to run (all if none)")
    parser.add_argument("--out", type=Path, help="where the figures are kept, as JSON")
    asked = parser.parse_args()
    chosen = [case for case in CASES if not asked.names or case.name in asked.names]
    results = {case.name: measured(case) for case in chosen}
    print(f"{'program':18s}{'primal':>12s}{'gradient':>10s}{'by hand':>10s}{'ratio':>8s}{'first call':>12s}{'error':>10s}")
    for name, found in results.items():
        print(f"{name:18s}{found['primal'] * 1e6:9.1f} us{found['gradient']:9.2f}x{found['adjoint']:9.2f}x{found['ratio']:8.2f}"
              f"{found['first'] * 1e3:9.0f} ms{found['error']:10.1e}")  # fmt: skip
    print(f"geometric mean of gradient / by hand: {math.exp(statistics.fmean(math.log(f['ratio']) for f in results.values())):.3f}")
    if asked.out is not None:
        asked.out.write_text(json.dumps(results, indent=1) + "\n")
    return int(any(not found["error"] <= TOLERANCE for found in results.values()))


def measured(case: Case) -> dict[str, float]:
    """Times of one program: the primal in seconds, the others relative to it."""
    arguments = case.make()
    gradient = symgrad.value_and_grad(case.function, wrt=case.wrt)
    start = time.perf_counter()
    made = gradient(*arguments)
    first = time.perf_counter() - start
    runs: dict[str, Callable[..., Any]] = {"primal": case.function, "gradient": gradient, "adjoint": case.adjoint}
    times = interleaved(runs, arguments)
    ratios = {name: statistics.median(t / p for t, p in zip(times[name], times["primal"], strict=True)) for name in runs}
    direct = statistics.median(g / a for g, a in zip(times["gradient"], times["adjoint"], strict=True))
    return {
        "primal": min(times["primal"]), "gradient": ratios["gradient"], "adjoint": ratios["adjoint"], "ratio": direct,
        "first": first, "error": error(made, case.adjoint(*arguments)),
    }  # fmt: skip


def interleaved(runs: dict[str, Callable[..., Any]], arguments: tuple[Any, ...]) -> dict[str, list[float]]:
    """Seconds a call of each, in every round."""
    often = {}
    for name, run in runs.items():
        start = time.perf_counter()
        run(*arguments)
        often[name] = max(1, int(0.02 / max(time.perf_counter() - start, 1e-7)))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(ROUNDS):
        for name, run in runs.items():
            start = time.process_time()
            for _ in range(often[name]):
                run(*arguments)
            times[name].append((time.process_time() - start) / often[name])
    return times


def error(made: Any, wanted: Any) -> float:
    """The largest difference of value and gradients, relative to the largest entry."""
    pairs = zip((made[0], *made[1]), (wanted[0], *wanted[1]), strict=True)
    return max(float(np.max(np.abs(np.subtract(a, b))) / (np.max(np.abs(b)) + 1e-300)) for a, b in pairs)


if __name__ == "__main__":
    raise SystemExit(main())
