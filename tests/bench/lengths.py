"""``python -m tests.bench.lengths``: what a gradient costs as its data gets longer: seconds to the first one, a call, lines, memory.

Each figure comes from a process of its own.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

LENGTHS = (10, 100, 1000)
HERE = Path(__file__).parent.parent


def measure(name: str, length: int) -> dict[str, Any]:
    """One program at one length."""
    sys.path.insert(0, str(HERE))
    import numpy as np
    from of_any_length import LONG

    import symgrad

    function, data = next((f, d) for f, d in LONG if f.__name__ == name)
    given = data(np.random.default_rng(0), length)
    derived = symgrad.grad(function, (0, 1), jit=False)
    start = time.perf_counter()
    derived(*given)
    first = time.perf_counter() - start
    calls = 3
    start = time.perf_counter()
    for _ in range(calls):
        derived(*given)
    call = (time.perf_counter() - start) / calls
    start = time.perf_counter()
    function(*given)
    plain = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"first": first, "call": call, "plain": plain, "lines": derived.source(*given).count("\n"), "peak": peak}


def main() -> None:
    """Measure all programs at all lengths, and print a table."""
    sys.path.insert(0, str(HERE))
    from of_any_length import LONG

    print(f"{'program':<10} {'length':>6} {'first s':>8} {'call ms':>8} {'function ms':>11} {'lines':>6} {'peak MiB':>8}")
    for function, _ in LONG:
        for length in LENGTHS:
            command = [sys.executable, "-m", "tests.bench.lengths", function.__name__, str(length)]
            made = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            print(f"{function.__name__:<10} {length:>6} {made['first']:>8.2f} {1e3 * made['call']:>8.2f} {1e3 * made['plain']:>11.2f} "
                  f"{made['lines']:>6} {made['peak']:>8.0f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    if len(sys.argv) == 3:
        print(json.dumps(measure(sys.argv[1], int(sys.argv[2]))))
    else:
        main()
