"""``python -m tests.bench [options] [programs]``: how fast gradients are; see docs/bench.md.

Every figure comes from a process of its own with one thread; once with the allocator as it is, once with memory that is
not given back between calls. Ends with 1 if a gradient is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

THREADS = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
THREADS["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
#: how memory is had: the C library's settings (others may not know them)
ALLOCATORS = {
    "default": {},
    "kept": {"MALLOC_TRIM_THRESHOLD_": "4294967296", "MALLOC_MMAP_THRESHOLD_": "33554432", "MALLOC_TOP_PAD_": "268435456"},
}
WORK = "--work"  #: the inner process


def main(argv: Sequence[str] | None = None) -> int:
    """Measure in processes of their own, print, keep, compare."""
    options = parser().parse_args(argv)
    if options.work:
        from tests.bench.work import work  # NumPy is imported only where the threads are set

        options.work.write_text(json.dumps(work(options.programs, options.columns, options.budget, options.growth)))
        return 0
    from tests.bench.columns import COLUMNS
    from tests.bench.programs import CASES
    from tests.bench.report import TOLERANCE, compared, growth_table, table

    unknown = {*options.programs} - {case.name for case in CASES} | {*options.columns} - {*COLUMNS}
    if unknown:
        print(f"not known: {', '.join(sorted(unknown))}\nprograms: {', '.join(c.name for c in CASES)}\ncolumns: {', '.join(COLUMNS)}")
        return 2
    before = None if options.compare is None else json.loads(options.compare.read_text())
    results: dict[str, Any] = {"python": platform.python_version(), "machine": platform.machine(), "programs": {}}
    for allocator in options.allocators:
        result = inner(options, allocator, growth=options.growth and allocator == options.allocators[-1])
        results["programs"][allocator] = result["programs"]
        results |= {key: result[key] for key in ("versions", "growth", "lengths")}
        print(f"\nmemory: {allocator}")
        print("\n".join(table(result["programs"], options.columns)), flush=True)
        keep(results, options.save)
    if results["growth"] or results["lengths"]:
        print("\n" + "\n".join(growth_table(results["growth"], results["lengths"])))
    if before is not None:
        print("\n" + "\n".join(compared(before, results)))
    print(f"\nkept in {options.save}")
    errors = [e for programs in results["programs"].values() for f in programs.values() for e in f["errors"].values()]
    return int(not all(e <= TOLERANCE for e in errors))


def inner(options: argparse.Namespace, allocator: str, growth: bool) -> dict[str, Any]:
    """The figures of another process."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figures.json"
        command = [sys.executable, "-m", "tests.bench", *options.programs, WORK, str(path), "--budget", str(options.budget)]
        command += ["--columns", ",".join(options.columns), *([] if growth else ["--no-growth"])]
        # what numba compiles is compiled anew, so that the time of a first call is that of a first call
        place = {**os.environ, **THREADS, **ALLOCATORS[allocator], "SYMGRAD_CACHE_DIR": str(Path(folder) / "cache")}
        ran = subprocess.run(command, env=place)
        if ran.returncode:
            raise SystemExit(ran.returncode)
        results: dict[str, Any] = json.loads(path.read_text())
        return results


def keep(results: dict[str, Any], path: Path) -> None:
    """Write what there is so far."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(results, indent=1) + "\n")


def kept_at() -> Path:
    """Where figures are kept if nothing else is said."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if os.path.isabs(base) else Path.home() / ".cache") / "symgrad" / "bench.json"


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def parser() -> argparse.ArgumentParser:
    """The command line."""
    command = argparse.ArgumentParser(prog="python -m tests.bench", description=(__doc__ or "").partition(":")[2])
    command.add_argument("programs", nargs="*", help="programs to run (all if none)")
    command.add_argument("--columns", type=words, default="numpy,hand,numba,hand_numba,autograd,jax,torch", help="what is timed, by commas")
    command.add_argument("--allocators", type=words, default=",".join(ALLOCATORS), help="'default', 'kept', or both by a comma")
    command.add_argument("--budget", type=float, default=1.5, help="seconds for the rounds of a program, and for each size that grows")
    command.add_argument("--growth", action=argparse.BooleanOptionalAction, default=True, help="measure how cost grows, too")
    command.add_argument("--save", type=Path, default=kept_at(), metavar="FILE", help="where the figures are kept, as JSON")
    command.add_argument(
        "--compare", type=Path, nargs="?", const=kept_at(), metavar="FILE", help="say what got slower since these figures (the last kept)"
    )
    command.add_argument(WORK, type=Path, help=argparse.SUPPRESS)
    return command


if __name__ == "__main__":
    raise SystemExit(main())
