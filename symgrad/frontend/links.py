"""Arrays inside lists of any length: a store to such an array also updates the content of the list."""

from __future__ import annotations

from dataclasses import dataclass

from symgrad.frontend.bindings import Location
from symgrad.ir.core import Operand


@dataclass(slots=True)
class Link:
    """The place of an array in a list of pairwise distinct arrays: the list, and the index.

    ``versions`` are the contents of the list in which the array is at that index.
    """

    owner: Location
    index: Operand
    versions: set[Operand]


__all__ = ["Link"]
