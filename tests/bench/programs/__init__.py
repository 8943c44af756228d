"""The programs that ``python -m tests.bench`` times, by kind."""

from __future__ import annotations

from tests.bench.case import Case
from tests.bench.programs import arrays, scalars, sequences, stores

CASES: tuple[Case, ...] = (*scalars.CASES, *arrays.CASES, *sequences.CASES, *stores.CASES)

__all__ = ["CASES"]
