"""``python -m tests.bench.second [NAME ...]``: what the first call of a compiled derivative costs when an earlier process has made it.

Each program is called in fresh processes with a directory of its own: the first one makes texts and machine code, the others find
them. numba has started and symgrad is imported before the clock starts; what counts is the best of the others.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.bench.columns import CACHE
from tests.bench.programs import CASES

#: packages that nothing need import whose texts are found
STAGES = ("symgrad.adjoint.", "symgrad.loops.", "symgrad.passes.")
#: what a call consists of, by the function that does it
PARTS = {
    "reading": ("symgrad.compile", "lowered_for"),
    "looking": ("symgrad.compile", "shelf_of"),
    "loading": ("symgrad.jit", "load_kernels"),
}
Figures = dict[str, float]


def called(name: str) -> Figures:
    """Seconds of the first call in this process: as a whole and of its parts; how many modules of stages were imported."""
    import numba

    import symgrad

    numba.njit(lambda x: x)(1.0)
    case = next(case for case in CASES if case.name == name)
    arguments = case.small()
    figures: Figures = dict.fromkeys(PARTS, 0.0)
    derive = symgrad.value_and_grad
    for part, (module, function) in PARTS.items():
        setattr(sys.modules[module], function, timed(getattr(sys.modules[module], function), part, figures))
    start = time.process_time()
    derive(case.function, wrt=case.wrt, jit=True)(*arguments)
    figures["call"] = time.process_time() - start
    figures["stages"] = sum(name.startswith(STAGES) and name != "symgrad.loops.reach" for name in sys.modules)
    return figures


def timed(function: Callable[..., Any], part: str, figures: Figures) -> Callable[..., Any]:
    """The function, which adds what it takes to a figure."""

    def run(*args: Any, **kwargs: Any) -> Any:
        start = time.process_time()
        try:
            return function(*args, **kwargs)
        finally:
            figures[part] += time.process_time() - start

    return run


def measured(name: str, times: int) -> tuple[Figures, Figures]:
    """The figures of the first process, and of the best of the others."""
    with tempfile.TemporaryDirectory() as folder:
        place = {**os.environ, CACHE: str(Path(folder) / "cache"), "OPENBLAS_NUM_THREADS": "1"}
        place.pop("SYMGRAD_CHECK", None)
        runs = []
        for _ in range(times + 1):
            ran = subprocess.run(
                [sys.executable, "-m", __spec__.name, "--call", name], env=place, capture_output=True, text=True, check=True
            )
            runs.append(json.loads(ran.stdout.splitlines()[-1]))
        return runs[0], min(runs[1:], key=lambda run: run["call"])


def main(names: list[str], times: int = 3) -> None:
    """Print a table, milliseconds."""
    print(f"{'program':16}{'first':>10}{'second':>10}{'reading':>10}{'looking':>10}{'loading':>10}   modules of stages")
    for case in CASES:
        if not names or case.name in names:
            first, second = measured(case.name, times)
            figures = "".join(f"{1000 * second[part]:10.1f}" for part in ("call", *PARTS))
            print(f"{case.name:16}{1000 * first['call']:10.0f}{figures}   {second['stages']:.0f}", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--call"]:
        print(json.dumps(called(sys.argv[2])))
    else:
        main(sys.argv[1:])
