"""The inner process of ``python -m tests.bench``: measures, with threads and allocator as they were set before NumPy was imported."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Sequence
from typing import Any

from tests.bench.columns import COLUMNS
from tests.bench.growth import compiling, generating, grown
from tests.bench.measure import measured
from tests.bench.programs import CASES

PACKAGES = ("numpy", "numba", "autograd", "jax", "torch")


def work(names: Sequence[str], columns: Sequence[str], budget: float, growth: bool) -> dict[str, Any]:
    """All figures, as data that JSON can hold."""
    chosen = [case for case in CASES if not names or case.name in names]
    results: dict[str, Any] = {"versions": versions(), "programs": {}, "growth": {}, "lengths": {}}
    for case in chosen:
        tell(case.name)
        results["programs"][case.name] = measured(case, columns, budget)
    for case in chosen if growth else ():
        tell(f"{case.name}, growing")
        results["growth"][case.name] = grown(case, budget, [c for c in ("numpy", "numba") if c in columns])
    if growth and not names:
        tell("length of programs")
        results["lengths"]["generate"] = generating()
        if "numba" in columns and COLUMNS["numba"].available:
            results["lengths"]["compile"] = compiling()
    tell("")
    return results


def tell(what: str) -> None:
    """Say what is being measured, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r{what:60s}\r", end="", file=sys.stderr, flush=True)


def versions() -> dict[str, str]:
    """The versions of the packages that matter, where they are installed."""
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return packages
