"""The representation of a list that is passed between Python and a kernel, which takes and returns arrays."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Crossing:
    """The arrays for a list of numbers of this dtype: one; with ``depth`` 2, for a list of such lists, the lengths and all numbers.

    >>> Crossing("f64", 2).dtypes, Crossing("f64", 2).names("rows")
    (('i64', 'f64'), ('rows_lengths', 'rows_numbers'))
    """

    dtype: str
    depth: int = 1

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtype of each array."""
        return (self.dtype,) if self.depth == 1 else ("i64", self.dtype)

    def names(self, stem: str | None) -> tuple[str | None, ...]:
        """A name for each array of a list named ``stem``."""
        return (stem,) if self.depth == 1 else (f"{stem or 'rows'}_lengths", f"{stem or 'rows'}_numbers")


__all__ = ["Crossing"]
