"""Merges loop nests that stand beside one another. Works in place, on what ``Writer`` wrote."""

from __future__ import annotations

from symgrad.ir.core import Block
from symgrad.loops.writer import Writer


def merge(block: Block, writer: Writer) -> None:
    """Merge what may be merged."""
