"""``python -m tests.bench.lengths [--jit] [names]``: what a gradient costs as its data gets longer.

For each program of ``tests/of_any_length.py`` and each length: seconds to the first gradient, a call beside the function's own, the
lines of text, whether the text is that of the length before, whether the gradient agrees with differences, and the peak of memory.
Each figure comes from a process of its own, which is stopped after two minutes.
"""

from __future__ import annotations

import copy
import hashlib
import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

LENGTHS = (10, 100, 1000)
HERE = Path(__file__).parent.parent
LIMIT = 120  #: seconds for one program at one length
COLUMNS = (
    f"{'program':<19} {'length':>6} {'first s':>8} {'call ms':>8} {'own ms':>8} {'lines':>6} {'peak MiB':>8}  {'text':<7} {'slope':<6} told"
)


def programs() -> dict[str, tuple[Any, Any]]:
    """The programs by name, each with what makes data of a length."""
    sys.path.insert(0, str(HERE))
    from of_any_length import LONG, TYPICAL

    return {function.__name__: (function, data) for function, data in [*LONG, *TYPICAL]}


def measure(name: str, length: int, jit: bool) -> dict[str, Any]:
    """One program at one length."""
    import numpy as np

    import symgrad
    from symgrad.verification.directions import dot, moved, random_like

    function, data = programs()[name]
    arguments = data(np.random.default_rng(0), length)
    if jit:  # numba is not what is measured
        symgrad.grad(lambda x: x * x, jit=True)(1.0)
    derived = symgrad.grad(function, (0, 1), jit=jit)
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            ours = derived(*copy.deepcopy(arguments))
    except symgrad.SymgradError as error:
        return {"refused": str(error).splitlines()[0], "first": time.perf_counter() - start}
    first = time.perf_counter() - start
    calls = 3
    repeated = [copy.deepcopy(arguments) for _ in range(2 * calls)]
    start = time.perf_counter()
    for args in repeated[:calls]:
        derived(*args)
    call = (time.perf_counter() - start) / calls
    start = time.perf_counter()
    for args in repeated[calls:]:
        function(*args)
    plain = (time.perf_counter() - start) / calls
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    directions = random_like(arguments, np.random.default_rng(1))
    ends = [function(*moved(copy.deepcopy(arguments), directions, step)) for step in (1e-6, -1e-6)]
    difference = (ends[0] - ends[1]) / 2e-6
    agrees = bool(np.isclose(dot(ours, directions), difference, rtol=1e-4, atol=1e-6))
    text = derived.source(*arguments)
    return {"first": first, "call": call, "plain": plain, "lines": text.count("\n"), "peak": peak, "agrees": agrees,
            "text": hashlib.sha256(text.encode()).hexdigest(), "told": [str(t.message) for t in told]}  # fmt: skip


def run(name: str, length: int, jit: bool) -> dict[str, Any]:
    """What a process of its own measures."""
    command = [sys.executable, "-m", "tests.bench.lengths", "--one", name, str(length), *["--jit"] * jit]
    try:
        return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True, timeout=LIMIT).stdout))
    except subprocess.TimeoutExpired:
        return {"refused": f"no gradient in {LIMIT} s", "first": float(LIMIT)}
    except subprocess.CalledProcessError as error:
        return {"refused": error.stderr.strip().splitlines()[-1], "first": 0.0}


def main(jit: bool, chosen: list[str]) -> None:
    """Measure the programs at all lengths, and print a table."""
    print(COLUMNS)
    for name in chosen or programs():
        before = None
        for length in LENGTHS:
            times = run(name, length, jit)
            if "refused" in times:
                print(f"{name:<19} {length:>6} {times['first']:>8.2f} {times['refused']}", flush=True)
                continue
            text = "" if before is None else "same" if before == times["text"] else "another"
            before = times["text"]
            print(f"{name:<19} {length:>6} {times['first']:>8.2f} {1e3 * times['call']:>8.2f} {1e3 * times['plain']:>8.2f} "
                  f"{times['lines']:>6} {times['peak']:>8.0f}  {text:<7} {'right' if times['agrees'] else 'WRONG':<6} "
                  f"{'NumPy code' if any('runs as NumPy code' in told for told in times['told']) else ''}", flush=True)  # fmt: skip


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    if "--one" in sys.argv:
        print(json.dumps(measure(words[0], int(words[1]), "--jit" in sys.argv)))
    else:
        main("--jit" in sys.argv, words)
