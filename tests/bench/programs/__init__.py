"""The programs that ``python -m tests.bench`` times, by kind."""

from __future__ import annotations

from tests.bench.case import Case
from tests.bench.programs import arrays, products, scalars, sequences, stores

CASES: tuple[Case, ...] = (*scalars.CASES, *arrays.CASES, *sequences.CASES, *stores.CASES, *products.CASES)

__all__ = ["CASES"]
